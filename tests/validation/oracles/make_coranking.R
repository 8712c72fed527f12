# Makes coranking.json and dimred.json: two R packages on the two clouds, curves at k = 7. Run: Rscript make_coranking.R
# Made with R 4.2.2, dimRed 0.2.6 (Debian r-cran-dimred) and coRanking built from its public source
# (github.com/gdkrmr/coRanking: r_nx.R at 1db65b5, coranking.R at 311440c, coranking.cpp at 057ba47).
# cm.M_T and cm.M_C call mm.G_K, cm.W_n reads val; neither exists, so they end with an error and are not here.
suppressMessages({library(dimRed)})
k <- 7

coranking_values <- function(X, Y) {
  Q <- coRanking::coranking(X, Y)
  list(Q_NX = coRanking::Q_NX(Q)[k], R_NX = coRanking::R_NX(Q)[k], LCMC = coRanking::LCMC(Q, k),
       AUC_ln_K = coRanking::AUC_ln_K(coRanking::R_NX(Q)), cm.B_NX = coRanking:::cm.B_NX(Q, k),
       cm.W_nu = coRanking:::cm.W_nu(Q, k), cm.K_max = coRanking:::cm.K_max(Q)$K_max)
}

dimred_values <- function(X, Y) {
  found <- new("dimRedResult", data = new("dimRedData", data = Y, meta = data.frame()), org.data = X,
               has.org.data = TRUE, method = "given", pars = list())
  names <- c("Q_local", "Q_global", "mean_R_NX", "AUC_lnK_R_NX", "cophenetic_correlation", "distance_correlation")
  curves <- list(Q_NX = Q_NX(found)[k], R_NX = R_NX(found)[k], LCMC = LCMC(found)[k])
  c(curves, sapply(names, function(name) as.numeric(quality(found, name)), simplify = FALSE))
}

store <- function(file, values, versions) {
  each <- sapply(c("a", "b"), function(name) {
    frame <- read.csv(sprintf("two_clouds_%s.csv", name))
    X <- as.matrix(frame[, startsWith(names(frame), "x")])
    Y <- as.matrix(frame[, startsWith(names(frame), "y")])
    found <- values(X, Y)
    sprintf(' "%s": {\n%s\n }', name, paste(sprintf('  "%s": %.17g', names(found), unlist(found)), collapse = ",\n"))
  })
  versions <- sprintf(' "versions": [\n%s\n ]', paste(sprintf('  "%s"', c(sprintf("R %s", getRversion()), versions)), collapse = ",\n"))
  writeLines(paste0("{\n", paste(c(versions, each), collapse = ",\n"), "\n}"), file)
}
store("coranking.json", coranking_values, "coRanking, source 1db65b5")
store("dimred.json", dimred_values, sprintf("dimRed %s", packageVersion("dimRed")))
