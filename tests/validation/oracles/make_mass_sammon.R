# Makes mass_sammon.csv: Sammon's mapping of R's MASS on fixed data. Run: Rscript make_mass_sammon.R (from this folder).
# Made with the versions that the first line of the file states, from classical scaling, with the stress it ends at.
library(MASS)
i <- 1:120
X <- round(cbind(sin(1.3 * i) * 3, cos(0.7 * i^1.1) * 2, sin(0.31 * i) + 0.02 * i, cos(2.1 * i), sin(i^1.3)), 6)
d <- dist(X)
fit <- sammon(d, y = cmdscale(d, 2), k = 2, niter = 10000, trace = FALSE, tol = 1e-12)
out <- cbind(X, fit$points)
colnames(out) <- c(paste0("x", 1:5), "y1", "y2")
con <- file("mass_sammon.csv", "w")
writeLines(paste0("# ", R.version.string, ", MASS ", packageVersion("MASS"), "; stress: ", format(fit$stress, digits = 15)), con)
write.csv(format(out, digits = 15), con, row.names = FALSE, quote = FALSE)
close(con)
