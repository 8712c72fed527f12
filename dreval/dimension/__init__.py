"""Layer 4: one file is one analysis of the number of dimensions of data, before any embedding."""
