# Rtsne returns at most 3 dimensions; fewer columns are allowed in the task `full` only.
embed <- function(X, d) {
  perplexity <- min(30, floor((nrow(X) - 1) / 3))
  Rtsne(X, dims = min(d, 3), perplexity = perplexity, check_duplicates = FALSE, num_threads = 1)$Y
}
