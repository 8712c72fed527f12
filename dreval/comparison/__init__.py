"""Layer 7: embeddings and methods compared, on one data set by their points and over many by ranks and models."""
