# Gradient, diagonal blocks of the Hessian and singularity scores of a map by neMDBD (github.com/zhexuandliu/neMDBD,
# version 0.1.0, MIT license), which build 2n x 2n matrices:
#   Rscript make_nemdbd.R neMDBD/R/neMDBD.R      writes nemdbd.csv next to this script, a row for each point.
# The data and the map are those of tests/geometry/test_tsne_loss.py; its affinities come from get_P_tsne.
arguments <- commandArgs(FALSE)
here <- dirname(normalizePath(sub("--file=", "", arguments[grep("--file=", arguments)])))
Dist <- function(X) as.matrix(dist(X))  # in place of that of Rfast
source(commandArgs(TRUE)[1])
i <- 1:30
X <- cbind(3 * cos(1.1 * i), 2 * sin(0.7 * i), i %% 5, cos(i^2))
Y <- cbind(4 * cos(0.9 * i) + 0.1 * i, 3 * sin(0.6 * i))
P <- get_P_tsne(X, 6)$P
H <- hessian_compute(Y, P)
G <- matrix(gradient_compute(c(t(Y)), P), ncol = 2, byrow = TRUE)
block <- t(sapply(i, function(k) c(H[2 * k - 1, 2 * k - 1], H[2 * k - 1, 2 * k], H[2 * k, 2 * k])))
found <- cbind(X, Y, G, block, singularity_score_compute(Y, P), P)
colnames(found) <- c(paste0("x", 1:4), "y1", "y2", "g1", "g2", "h11", "h12", "h22", "s", paste0("p", i))
write.csv(apply(found, 2, function(column) sprintf("%.17g", column)), file.path(here, "nemdbd.csv"), row.names = FALSE, quote = FALSE)
