"""Layer 4: one file is one measure, with its card; the function is ``dreval.<name>``."""
