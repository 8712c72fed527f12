"""Compiled loops, one file per family; imported only when first needed."""

ROUNDING = 1e-12  # squared distances that differ by less, relatively, may be equal but for rounding
