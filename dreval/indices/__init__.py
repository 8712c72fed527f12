"""Layer 4: one file is one index, with its card; the function is ``dreval.<name>``."""
