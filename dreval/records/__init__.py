"""Layer 1: frozen records of what was computed, and the tidy table."""
