"""Layer 5: one file is one independence test (geometry + inference)."""
