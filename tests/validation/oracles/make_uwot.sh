#!/bin/sh
# Makes tests/validation/oracles/uwot: a folder of the protocol with the output of R's uwot.
# Made with R 4.2.2 and uwot 0.1.14 (Debian 12: r-cran-uwot) from arc.csv, 24 noisy points on a helix.
set -eu
cd "$(dirname "$0")/uwot"
work=$(mktemp -d)
export_again() {
    python3 -m dreval protocol export arc.csv "$work/uwot" --ids cell \
        --n-transformations 3 --n-replicates 1 --random-state 0
}
export_again
Rscript "$work/uwot/run_uwot.R"
export_again
Rscript "$work/uwot/run_uwot.R"
rm -rf input returned
cp -r "$work/uwot/manifest.json" "$work/uwot/tasks.csv" "$work/uwot/input" "$work/uwot/returned" .
rm -rf "$work"
