"""Layer 4: analysis of the number of dimensions of data, before any embedding."""
