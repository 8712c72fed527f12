# One thread, so that a seed reproduces the embedding.
embed <- function(X, d) {
  umap(X, n_neighbors = min(15, nrow(X) - 1), n_components = d, n_threads = 1, n_sgd_threads = 0)
}
