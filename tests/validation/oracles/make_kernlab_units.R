# Makes kernlab_units.csv: the whole variance tr S_YY / n of kernel PCA by R kernlab with its defaults (rbfdot, sigma = 0.1)
# and as many features as columns. Run: Rscript make_kernlab_units.R [sonar.all-data] (from this folder). WBCD is the bundled
# file, unscaled; Sonar is the file of the UCI repository, which is not part of the project.
library(kernlab)
whole_variance <- function(X) {
  Y <- rotated(kpca(as.matrix(X), features = ncol(X)))
  c(nrow(X), ncol(X), sum(apply(Y, 2, function(y) mean((y - mean(y))^2))))
}
wdbc <- read.csv(gzfile("../../../data/wdbc.csv.gz"))
found <- list(WBCD = whole_variance(wdbc[, vapply(wdbc, is.numeric, TRUE)][, 1:30]))
path <- commandArgs(trailingOnly = TRUE)
if (length(path)) found$Sonar <- whole_variance(read.csv(path[1], header = FALSE)[, 1:60])
con <- file("kernlab_units.csv", "w")
writeLines(paste0("# ", R.version.string, ", kernlab ", packageVersion("kernlab"), ", kpca with its defaults"), con)
writeLines("data,n,p,variance", con)
for (name in names(found)) writeLines(paste(c(name, signif(found[[name]], 15)), collapse = ","), con)
close(con)
