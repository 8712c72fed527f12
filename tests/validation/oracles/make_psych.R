# Horn's parallel analysis by psych (R) for the RNG-free points of tests/validation/oracles/intrinsic_points.py ("wide"
# and a copy with three factors), and the eigenvalues of R's cor() of all points. Run:
#   Rscript tests/validation/oracles/make_psych.R > tests/validation/oracles/psych.json
suppressMessages(library(psych))
digits <- function(values) paste0("[", paste(sprintf("%.17g", values), collapse = ", "), "]")
t <- 0:149
wide <- sin(outer(t + 1, sqrt(2:13)) * 7)
factors <- wide
for (j in 1:9) factors[, j + 3] <- wide[, (j - 1) %/% 3 + 1] + 0.8 * wide[, j + 3]
set.seed(0)
cat("{\n")
cat(sprintf(" \"versions\": [\"%s\", \"psych %s\"],\n", R.version.string, packageVersion("psych")))
for (name in c("wide", "factors")) {
  X <- get(name)
  sink(nullfile())
  pdf(NULL)
  found <- fa.parallel(X, fa = "pc", n.iter = 999, sim = FALSE, quant = 0.95, plot = FALSE)
  sink()
  drawn <- grep("^C", colnames(found$values))
  null <- found$values[, seq_len(ncol(X)), drop = FALSE]
  cat(sprintf(" \"%s\": {\n", name))
  cat("  \"eigenvalues\":", digits(found$pc.values), ",\n")
  cat("  \"cor\":", digits(eigen(cor(X))$values), ",\n")
  cat("  \"null quantile\":", digits(apply(null, 2, quantile, 0.95)), ",\n")
  cat("  \"null mean\":", digits(colMeans(null)), ",\n")
  cat("  \"components\":", found$ncomp, "\n")
  cat(if (name == "wide") " },\n" else " }\n")
}
cat("}\n")
