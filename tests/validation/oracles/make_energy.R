# Makes energy.json: distance correlation of the R package energy on the two clouds. Run: Rscript make_energy.R
# Made with R 4.2.2 and energy 1.7-11 (Debian r-cran-energy). dcor is the root of the V-statistic ratio; bcdcor, printed
# for comparison, its bias-corrected square.
library(energy)

value <- function(name) {
  frame <- read.csv(sprintf("two_clouds_%s.csv", name))
  X <- as.matrix(frame[, startsWith(names(frame), "x")])
  Y <- as.matrix(frame[, startsWith(names(frame), "y")])
  sprintf(' "%s": {\n  "dcor": %.17g,\n  "bcdcor": %.17g\n }', name, dcor(X, Y), bcdcor(X, Y))
}

versions <- sprintf(' "versions": [\n  "R %s",\n  "energy %s"\n ]', getRversion(), packageVersion("energy"))
writeLines(paste0("{\n", versions, ",\n", value("a"), ",\n", value("b"), "\n}"), "energy.json")
