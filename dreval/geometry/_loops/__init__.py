"""Compiled loops, one file per family; imported only when first needed."""
