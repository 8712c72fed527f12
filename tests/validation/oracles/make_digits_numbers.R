# Makes digits_r.json: values of R programs for the embeddings of digits, k = 15.
# Run: Rscript make_digits_numbers.R digits.csv, from this folder; digits.csv has the 300 rows of data (64 columns, a header):
#   python -c "import digits_numbers as d, pandas as p; p.DataFrame(d.pictured()['PCA'].X).to_csv('digits.csv', index=False)"
# Made with R 4.2.2, energy 1.7-11 and dimRed 0.2.6 (Debian r-cran-energy, r-cran-dimred), and coRanking built from its
# public source (github.com/gdkrmr/coRanking: r_nx.R at 1db65b5, coranking.R at 311440c, coranking.cpp at 057ba47).
suppressMessages({library(dimRed); library(energy)})
k <- 15
X <- as.matrix(read.csv(commandArgs(TRUE)[1]))
storage.mode(X) <- "double"
frame <- read.csv("digits_embeddings.csv", check.names = FALSE)

json <- function(values) paste(sprintf('   "%s": %.17g', names(values), unlist(values)), collapse = ",\n")

coranking_values <- function(X, Y) {
  Q <- coRanking::coranking(X, Y)
  c(Q_NX = coRanking::Q_NX(Q)[k], R_NX = coRanking::R_NX(Q)[k], LCMC = coRanking::LCMC(Q, k),
    AUC_ln_K = coRanking::AUC_ln_K(coRanking::R_NX(Q)),
    B_NX = coRanking:::cm.B_NX(Q, k), W_nu = coRanking:::cm.W_nu(Q, k))
}

dimred_values <- function(X, Y) {
  found <- new("dimRedResult", data = new("dimRedData", data = Y, meta = data.frame()), org.data = X,
               has.org.data = TRUE, method = "given", pars = list())
  ask <- function(name) as.numeric(quality(found, name))
  sapply(c("Q_local", "Q_global", "mean_R_NX", "AUC_lnK_R_NX", "cophenetic_correlation", "distance_correlation"), ask)
}

energy_values <- function(X, Y) c(dcor = dcor(X, Y), bcdcor = unname(bcdcor(X, Y)))

programs <- list(coRanking = coranking_values, dimRed = dimred_values, energy = energy_values)
told <- sapply(names(programs), function(program) {
  each <- sapply(c("PCA", "t-SNE", "UMAP"), function(name) {
    Y <- as.matrix(frame[, paste(name, 1:2)])
    sprintf('  "%s": {\n%s\n  }', name, json(programs[[program]](X, Y)))
  })
  twice <- rep(1:150, each = 2)  # the copies: see digits_numbers.py
  Y <- as.matrix(frame[twice, paste("PCA", 1:2)]) + cbind(rep(c(1, -1), 150), 0)
  each <- c(each, sprintf('  "copies": {\n%s\n  }', json(programs[[program]](X[twice, ], Y))))
  sprintf(' "%s": {\n%s\n }', program, paste(each, collapse = ",\n"))
})
versions <- c(sprintf("R %s", getRversion()), sprintf("energy %s", packageVersion("energy")),
              sprintf("dimRed %s", packageVersion("dimRed")), "coRanking, source 1db65b5")
versions <- sprintf(' "versions": [\n%s\n ]', paste(sprintf('  "%s"', versions), collapse = ",\n"))
writeLines(paste0("{\n", paste(c(versions, told), collapse = ",\n"), "\n}"), "digits_r.json")
