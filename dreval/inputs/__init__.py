"""Layer 2: what the user has, checked once, in normal form."""
