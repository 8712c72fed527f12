# Runs @TOOL@ on every task without output:   Rscript @FILE@
# Needs the package @TOOL@@MORE@ (Debian: apt-get install r-cran-@LOWER@).
arguments <- commandArgs(FALSE)
setwd(dirname(normalizePath(sub("--file=", "", arguments[grep("--file=", arguments)]))))
suppressPackageStartupMessages(library(@TOOL@))

@EMBED@
tasks <- read.csv("tasks.csv", stringsAsFactors = FALSE)
dir.create("@RETURNED@", showWarnings = FALSE)
@NEW@for (t in seq_len(nrow(tasks))) {
  task <- tasks[t, ]
  if (file.exists(task$output)) next
@READ@
  set.seed(task$seed)
  Y <- tryCatch(embed(as.matrix(input[-1]), task$n_components), error = function(e) {
    message("failed: ", task$task, ": ", conditionMessage(e))
    NULL
  })
  if (is.null(Y)) next
  part <- file.path("@RETURNED@", paste0(".unfinished-", basename(task$output)))
@WRITE@
  file.rename(part, task$output)
}
