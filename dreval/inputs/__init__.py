"""Data and embeddings of the user, checked once and converted to normal form."""
