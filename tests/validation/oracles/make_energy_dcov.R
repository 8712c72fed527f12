# Distance covariance of energy (R) for the points of tests/significance/test_dcov.py.
# Rscript tests/validation/oracles/make_energy_dcov.R > tests/validation/oracles/energy_dcov.json
suppressMessages(library(energy))
i <- 1:30
x <- cbind(sin(i), cos(2 * i))
y <- cbind(sin(i)^2 + 0.1 * cos(7 * i), cos(3 * i), i / 30)
digits <- function(value) sprintf("%.17g", value)
cat("{\n")
cat(sprintf("  \"made with\": \"%s, energy %s\",\n", R.version.string, packageVersion("energy")))
cat("  \"dcov\":", digits(dcov(x, y)), ",\n")
cat("  \"dcor\":", digits(dcor(x, y)), ",\n")
cat("  \"bcdcor\":", digits(bcdcor(x, y)), ",\n")
cat("  \"dcovU\":", digits(dcovU_stats(as.matrix(dist(x)), as.matrix(dist(y)))[["dCovU"]]), ",\n")
cat("  \"dcov of exponent 0.5\":", digits(dcov(x, y, index = 0.5)), ",\n")
cat("  \"test statistic\":", digits(unname(dcov.test(x, y, R = 1)$statistic)), "\n")
cat("}\n")
