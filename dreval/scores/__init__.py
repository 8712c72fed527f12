"""Layer 5: scores of the points of an embedding, each a function with a card."""
