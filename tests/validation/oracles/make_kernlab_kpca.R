# Makes kernlab_kpca.csv: kernel PCA of R kernlab on fixed data. Run: Rscript make_kernlab_kpca.R (from this folder).
# Made with R's kernlab in the version that the first line of the file states. kernlab divides the centered kernel matrix
# by n before its eigenvalues are taken, so that its scores are sqrt(n) times the usual ones; they are stored as they are.
library(kernlab)
i <- 1:40
X <- round(cbind(sin(1.3 * i) * 3, cos(0.7 * i^1.1), sin(0.31 * i) + 0.02 * i), 6)
fit <- kpca(X, kernel = "rbfdot", kpar = list(sigma = 0.25), features = 3)
out <- cbind(X, rotated(fit))
colnames(out) <- c("x1", "x2", "x3", "score1", "score2", "score3")
con <- file("kernlab_kpca.csv", "w")
writeLines(paste0("# ", R.version.string, ", kernlab ", packageVersion("kernlab"), ", rbfdot sigma 0.25; eigenvalues / n: ",
                  paste(format(eig(fit), digits = 15), collapse = " ")), con)
write.csv(format(out, digits = 15), con, row.names = FALSE, quote = FALSE)
close(con)
