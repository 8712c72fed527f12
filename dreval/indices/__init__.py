"""Layer 4: one file is one index, with its card. The decorator is in ``_index``; public functions are ``dreval.<name>``."""
