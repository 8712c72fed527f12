# Makes ci_lisi.json: CiLISI of the first two cases of scib_metrics_cells.json by scIntegrationMetrics 1.2.0
# (github.com/carmonalab/scIntegrationMetrics, commit 8d6b436). Run: Rscript make_ci_lisi.R FOLDER, from this folder, with
# the sources of the package in FOLDER and -I of the headers of RcppArmadillo in the variable ARMADILLO.
# Made with R 4.2.2, Rcpp and RcppArmadillo 15.2.4. Its nn2 (RANN, exact there) is a search of all pairs here.
# its_own: p neighbors for the perplexity p, as it has them; three_times: its compute_simpson_index of 3 p - 1 neighbors.

arguments <- commandArgs(TRUE)
library(Rcpp)
library(jsonlite)
source(file.path(arguments[1], "R", "utils.R"))
Sys.setenv(PKG_CXXFLAGS = paste("-O1", Sys.getenv("ARMADILLO")))
code <- readLines(file.path(arguments[1], "src", "utils.cpp"))
sourceCpp(code = paste(code[!grepl("Rcpp::depends", code)], collapse = "\n"))
nn2 <- function(X, k, eps) {
  D <- as.matrix(dist(X))
  diag(D) <- -1
  index <- t(apply(D, 1, order))[, 1:k]
  diag(D) <- 0
  list(nn.idx = index, nn.dists = matrix(D[cbind(c(row(index)), c(index))], nrow(index)))
}
perplexity <- 20
stored <- fromJSON("scib_metrics_cells.json")$cases
values <- list(versions = "scIntegrationMetrics 1.2.0", perplexity = perplexity)
for (case in 1:2) {
  X <- stored$Y[[case]]
  meta <- data.frame(label = paste0("l", stored$labels[[case]]), batch = stored$batch[[case]])
  parts <- compute_lisi_splitBy(X, meta, "batch", "label", perplexity = perplexity)
  three <- c()
  for (label in unique(meta$label)) {
    here <- meta$label == label
    size <- min(perplexity, sum(here) %/% 3)
    near <- nn2(X[here, ], 3 * size, 0)
    batch <- as.integer(factor(meta$batch[here])) - 1
    simpson <- compute_simpson_index(t(near$nn.dists[, -1]), t(near$nn.idx[, -1]) - 1, batch, max(batch) + 1, size)
    three <- c(three, (1 / simpson - 1) / max(batch))
  }
  values$its_own[case] <- mean(unlist(parts))
  values$three_times[case] <- mean(three)
}
writeLines(toJSON(values, auto_unbox = TRUE, digits = 17, pretty = 1), "ci_lisi.json")
