"""Protocol: inputs for tools outside Python, written to a folder, and the embeddings read back from it."""
