# Called by make_cluster_order.py: Rscript make_cluster_order.R DATA.csv OUT.csv. Centers of the three clusters in embeddings
# by R's uwot, with its defaults but for the start, for every seed of the data.
library(uwot)
files <- commandArgs(trailingOnly = TRUE)
data <- read.csv(files[1])
rows <- list()
for (start in c("spectral", "pca", "rand")) {
  for (seed in unique(data$seed)) {
    here <- data[data$seed == seed, ]
    set.seed(seed)
    Y <- umap(here[, c("x1", "x2")], init = start, n_threads = 1, n_sgd_threads = 1)
    for (label in 0:2) {
      center <- colMeans(Y[here$label == label, ])
      rows[[length(rows) + 1]] <- data.frame(start = start, seed = seed, label = label, y1 = center[1], y2 = center[2])
    }
  }
}
write.csv(do.call(rbind, rows), files[2], row.names = FALSE)
cat(R.version.string, "\n", "uwot ", as.character(packageVersion("uwot")), "\n", sep = "")
