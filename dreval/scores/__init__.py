"""Layer 5: one file is one score of the points of an embedding."""
