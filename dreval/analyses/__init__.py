"""Analyses of data, and scores of the points of an embedding: each function has a card."""
