#!/bin/sh
# Trustability and tractable consistency of R's uwot (UMAP) and Rtsne (t-SNE), from end to end.
#
#   apt-get install r-cran-uwot r-cran-rtsne       # Debian and Ubuntu; elsewhere install.packages(c("uwot", "Rtsne"))
#   sh protocol-uwot.sh [FOLDER]                   # leaves data and exchanged files in FOLDER (protocol-uwot)
#
# 120 points and 6 transformations take some seconds; use 50 transformations or more for a real evaluation.
set -eu
dreval=${DREVAL:-dreval}     # the name of the command
python=${PYTHON:-python3}
folder=${1:-protocol-uwot}
mkdir -p "$folder"
cd "$folder"

# The data: 120 points near a Swiss roll, with names.
$python - <<'PY'
import pandas as pd

import dreval

roll = dreval.simulate("s4", n=120, random_state=0)
frame = pd.DataFrame(roll.data, columns=["x", "y", "z"])
frame.insert(0, "cell", [f"c{i:03d}" for i in range(len(frame))])
frame.to_csv("roll.csv", index=False)
PY

for tool in uwot rtsne; do
    # Round 1: the data, the full dimension, other seeds.
    $dreval protocol export roll.csv $tool --ids cell --n-transformations 6 --n-replicates 2 --random-state 0
    Rscript $tool/run_$tool.R
    # Round 2: data transformed by the embeddings of round 1; the settings are kept in the folder.
    $dreval protocol export roll.csv $tool --ids cell
    Rscript $tool/run_$tool.R
    $dreval protocol status $tool
    $dreval protocol collect $tool
done
