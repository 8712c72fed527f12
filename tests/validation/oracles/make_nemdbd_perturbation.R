# Perturbation scores of a map by neMDBD (github.com/zhexuandliu/neMDBD, version 0.1.0, MIT license), bandwidths kept:
#   Rscript make_nemdbd_perturbation.R neMDBD/R/neMDBD.R      writes nemdbd_perturbation.csv next to this script.
# The map is a minimum of the loss with affinities of get_P_tsne, by optim. Column "published" is what the program
# gives: its argument `length` is not used, points move by 1, and its searches (BFGS) end where the loss changes by less
# than 1e-8 of itself. Column "exact" has searches that end later. `normalize_input`, which would rescale the data for
# each moved point, does nothing here.
arguments <- commandArgs(FALSE)
here <- dirname(normalizePath(sub("--file=", "", arguments[grep("--file=", arguments)])))
Dist <- function(X, square = FALSE) { D <- as.matrix(dist(X)); if (square) D^2 else D }  # in place of those of Rfast
rowsums <- rowSums
colsums <- colSums
normalize_input <- function(X) X
source(commandArgs(TRUE)[1])
i <- 1:60
X <- cbind(3 * cos(1.1 * i), 2 * sin(0.7 * i), 4 * (i %% 2), cos(i^2))
X <- prcomp(X)$x
P <- get_P_tsne(X, 15)$P
loss <- function(y) {
  W <- 1 / (1 + Dist(matrix(y, ncol = 2))^2)
  diag(W) <- 0
  away <- P > 0
  -sum(P[away] * log(W[away])) + log(sum(W))
}
slope <- function(y) c(matrix(gradient_compute(matrix(y, ncol = 2), P), ncol = 2, byrow = TRUE))
y <- c(X[, 1:2])
for (again in 1:5) y <- optim(y, loss, slope, method = "BFGS", control = list(maxit = 5000, reltol = 1e-16))$par
Y <- matrix(y, ncol = 2)
published <- perturbation_score_compute(X, Y, 15, 0.3, 2)
optim <- function(..., control) stats::optim(..., control = list(maxit = 5000, reltol = 1e-16))
exact <- perturbation_score_compute(X, Y, 15, 0.3, 2)
found <- cbind(X, Y, published, exact)
colnames(found)[1:6] <- c(paste0("x", 1:4), "y1", "y2")
write.csv(apply(found, 2, function(column) sprintf("%.17g", column)), file.path(here, "nemdbd_perturbation.csv"), row.names = FALSE, quote = FALSE)
