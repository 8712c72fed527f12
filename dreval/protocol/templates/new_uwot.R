# The new points, @INPUT@, are placed on the map of the task `data` by the same fit. One thread, so that a seed
# reproduces them.
place <- function(X, d, X_new) {
  model <- umap(X, n_neighbors = min(15, nrow(X) - 1), n_components = d, n_threads = 1, n_sgd_threads = 0,
                ret_model = TRUE)
  list(Y = model$embedding, new = umap_transform(X_new, model, n_threads = 1, n_sgd_threads = 0))
}
task <- tasks[tasks$task == "data", ]
if (file.exists(task$output) && !file.exists("@OUTPUT@")) {
  message("no new points: delete ", task$output, " to embed the data and the new points by one fit")
}
if (!file.exists(task$output)) {
@READ@
  data <- input
  task$input <- "@INPUT@"
@READ@
  set.seed(task$seed)
  both <- place(as.matrix(data[-1]), task$n_components, as.matrix(input[-1]))
  Y <- both$new
  part <- file.path("@RETURNED@", ".unfinished-new")
@WRITE@
  file.rename(part, "@OUTPUT@")
  Y <- both$Y
  input <- data
  part <- file.path("@RETURNED@", paste0(".unfinished-", basename(task$output)))
@WRITE@
  file.rename(part, task$output)
}
