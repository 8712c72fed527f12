"""Evaluation of embeddings: plan, one pass over the data, rows, resampling, tests, records."""
