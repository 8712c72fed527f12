"""Use an installed dreval once: load data, evaluate two embeddings, write a report and a file, and read the file.

Run ``python smoke.py SOURCE`` in an empty folder: it fails if dreval is imported from the folder SOURCE. The files
``data.csv``, ``embedding.csv`` and ``embedding.npy`` stay there for the command line.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dreval


def main(source: Path) -> None:
    """Evaluate and write everything once; stop with an error at the first result that is missing."""
    if Path(dreval.__file__).resolve().is_relative_to(source.resolve()):
        raise SystemExit(f"dreval is imported from its source: {dreval.__file__}")
    for name in ("wdbc", "digits"):
        dreval.load_dataset(name)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    X[60:, 0] += 6
    Y = X[:, :2] + 0.1 * rng.normal(size=(120, 2))
    np.savetxt("data.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
    np.savetxt("embedding.csv", Y, delimiter=",", header="x,y", comments="")
    np.save("embedding.npy", Y)
    labels = ["a"] * 60 + ["b"] * 60
    results = dreval.Evaluation(X, {"noisy": Y, "pca": "pca"}, labels=labels, random_state=0).run(n_resamples=99)
    results.report("report.html")
    results.save("results.dreval")
    if str(dreval.load_results("results.dreval").summary()) != str(results.summary()):
        raise SystemExit("The summary of the file differs from that of the results.")
    if Path("report.html").stat().st_size < 10_000:
        raise SystemExit("The report is almost empty.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
