"""What is written beside the tables of a protocol: how to go on, and drivers that run a tool on what is missing."""

from __future__ import annotations

from pathlib import Path

from dreval.protocol.folder import RETURNED, Manifest

__all__ = ["write_texts"]

README = """# A protocol of dreval: run your tool on these files

The trustability measure and the tractable consistency measure ask how a *method* behaves on other data. This folder
carries the data to a tool outside Python and its embeddings back. Data: {name}, {n} points. Round {round} of 2.

## What to run

Each row of `tasks.csv` is one run: read `input`, embed it into `n_components` dimensions with the seed `seed` and with
the same parameters in every run, write `output`. Drivers skip what has come back, so that they can be stopped and
started again:

{drivers}
A driver with parameters of your own: edit the line that calls the tool.

## What must come back

Under `{returned}/`, by the names in `tasks.csv`: one row for each point; the column `{id}` (any order of rows) or none
(then in the order of the input); and `n_components` columns of finite numbers, with all their digits. In the task
`full` fewer columns than asked for may come back; they are padded with zeros. Change no file under `input/`.

Round 1 is the data (`data`), as many dimensions as the data have (`full`), and other seeds (`reseed`, not needed
for a tool without a seed: export with n_reseeds=0). Round 2 is transformed data, made from the embedding that came back
as `{returned}/data.{format}`; it must not change after that.

## How to go on

In this folder's parent, from a shell:

    dreval protocol status {folder}
    dreval protocol export ...  # the same command as before, when `{returned}/data.{format}` is there: writes round 2
    dreval protocol collect {folder}

or in Python: `dreval.Protocol(data).export("{folder}")` and `dreval.Protocol.collect("{folder}")`. The settings of the
first export are kept: {settings}, random_state={seed}.
"""

SHELL = """#!/bin/sh
# Runs a command of yours on every task that has not come back:   sh run.sh COMMAND [ARGUMENT ...]
# The command is called as   COMMAND [ARGUMENT ...] INPUT OUTPUT N_COMPONENTS SEED   in the folder where you are.
# INPUT and OUTPUT are full paths.
[ "$#" -gt 0 ] || { echo "usage: sh run.sh COMMAND [ARGUMENT ...]" >&2; exit 2; }
folder=$(CDPATH= cd "$(dirname "$0")" && pwd) || exit 2
mkdir -p "$folder/@RETURNED@"
failed=0
while IFS=, read -r task round input output n_components seed; do
    if [ "$task" = task ] || [ -e "$folder/$output" ]; then continue; fi
    part="$folder/@RETURNED@/.unfinished-${output##*/}"  # an interrupted run leaves no half file under the right name
    if "$@" "$folder/$input" "$part" "$n_components" "$seed" < /dev/null && [ -e "$part" ]; then
        mv "$part" "$folder/$output"
    else
        echo "failed: $task" >&2
        failed=1
    fi
done < "$folder/tasks.csv"
exit $failed
"""

R_DRIVER = """# Runs @TOOL@ on every task that has not come back:   Rscript @FILE@
# Needs the package @TOOL@@MORE@ (Debian: apt-get install r-cran-@LOWER@).
arguments <- commandArgs(FALSE)
setwd(dirname(normalizePath(sub("--file=", "", arguments[grep("--file=", arguments)]))))
suppressPackageStartupMessages(library(@TOOL@))

@EMBED@
tasks <- read.csv("tasks.csv", stringsAsFactors = FALSE)
dir.create("@RETURNED@", showWarnings = FALSE)
for (t in seq_len(nrow(tasks))) {
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
"""
CSV_READ = """  input <- read.csv(task$input, check.names = FALSE, colClasses = c("@ID@" = "character"))"""
CSV_WRITE = """  digits <- apply(Y, 2, function(column) sprintf("%.17g", column))  # every digit
  colnames(digits) <- paste0("y", seq_len(ncol(Y)))
  write.csv(data.frame("@ID@" = input[[1]], digits, check.names = FALSE), part, row.names = FALSE, quote = 1)"""
PARQUET_READ = """  input <- as.data.frame(arrow::read_parquet(task$input))"""
PARQUET_WRITE = """  colnames(Y) <- paste0("y", seq_len(ncol(Y)))
  arrow::write_parquet(data.frame("@ID@" = input[[1]], Y, check.names = FALSE), part)"""

UWOT = """# One thread, so that a seed gives the same embedding again.
embed <- function(X, d) {
  umap(X, n_neighbors = min(15, nrow(X) - 1), n_components = d, n_threads = 1, n_sgd_threads = 0)
}
"""
RTSNE = """# Rtsne gives at most 3 dimensions; fewer columns than asked for are allowed in the task `full` only.
embed <- function(X, d) {
  perplexity <- min(30, floor((nrow(X) - 1) / 3))
  Rtsne(X, dims = min(d, 3), perplexity = perplexity, check_duplicates = FALSE, num_threads = 1)$Y
}
"""
TOOLS = {"run_uwot.R": ("uwot", UWOT), "run_rtsne.R": ("Rtsne", RTSNE)}


def write_texts(folder: Path, manifest: Manifest) -> None:
    """README.md and the drivers; drivers that are there (and may have been edited) stay."""
    drivers = {file: _r_driver(file, tool, embed, manifest) for file, (tool, embed) in TOOLS.items()}
    drivers["run.sh"] = SHELL.replace("@RETURNED@", RETURNED)
    for file, text in drivers.items():
        if not (folder / file).exists():
            (folder / file).write_bytes(text.encode())
    (folder / "README.md").write_bytes(_readme(folder, manifest).encode())


def _r_driver(file: str, tool: str, embed: str, manifest: Manifest) -> str:
    csv = manifest.format == "csv"
    text = R_DRIVER.replace("@READ@", CSV_READ if csv else PARQUET_READ)
    text = text.replace("@WRITE@", CSV_WRITE if csv else PARQUET_WRITE).replace("@EMBED@", embed)
    words = {"TOOL": tool, "FILE": file, "LOWER": tool.lower(), "RETURNED": RETURNED, "ID": manifest.id_column}
    words["MORE"] = "" if csv else " and arrow"
    for key, word in words.items():
        text = text.replace(f"@{key}@", word)
    return text


def _readme(folder: Path, manifest: Manifest) -> str:
    lines = ["    Rscript run_uwot.R                # R's uwot (UMAP)"]
    lines += ["    Rscript run_rtsne.R               # R's Rtsne (t-SNE)"]
    lines += ["    sh run.sh COMMAND [ARGUMENT ...]  # anything: called with INPUT OUTPUT N_COMPONENTS SEED"]
    settings = ", ".join(f"{name}={value!r}" for name, value in manifest.settings.items())
    return README.format(
        name=manifest.name,
        n=len(manifest.ids),
        round=manifest.round,
        drivers="\n".join(lines) + "\n",
        returned=RETURNED,
        id=manifest.id_column,
        format=manifest.format,
        folder=folder.name or "FOLDER",
        settings=settings,
        seed=manifest.random_state,
    )
