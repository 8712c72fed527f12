"""Evaluate three embeddings of a bundled data set from beginning to end: ``make demo``.

The Wisconsin breast cancer data (569 tumors, 30 measurements) are standardized here, in plain sight, because dreval
never scales data by itself: unscaled, two columns of area would decide every distance.
"""

from __future__ import annotations

import sys
from pathlib import Path

import dreval

METHODS = ("pca", "isomap", "laplacian_eigenmaps")


def main(folder: str = ".") -> Path:
    """Run the demo; the report is written to ``folder`` and its path returned."""
    wdbc = dreval.load_dataset("wdbc")
    standardized = (wdbc.data - wdbc.data.mean(axis=0)) / wdbc.data.std(axis=0)

    evaluation = dreval.Evaluation(
        standardized,
        {name: name for name in METHODS},
        labels=wdbc.labels,
        n_neighbors=15,
        random_state=0,
    )
    results = evaluation.run()

    print(results.summary())
    path = Path(folder, "demo-report.html").resolve()
    results.report(path)
    print(f"\nThe report with figures is in {path}")
    return path


if __name__ == "__main__":
    main(*sys.argv[1:])
