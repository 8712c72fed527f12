"""Goldberg & Ritov, Local Procrustes for manifold embedding, Section 6: seconds of greedy Procrustes (GP).

``python tests/validation/published/local_procrustes_speed.py`` prints processor seconds of one thread on Swiss rolls of
1000 to 100,000 points (k = 12), and the exponent of n between neighboring sizes; with ``--write FOLDER`` it draws them.
The paper says that GP "is very fast (O(n))" and "can work on very large input sets (even 100,000 in less than an
hour)".

The rules, set before the computation: the time is O(n) if the exponent over all sizes is below 1.2, and in part if it
is below 1.5; the second sentence holds if 100,000 points take less than 3600 seconds. The neighbor search of this
package compares all pairs, so its time grows with the square of n: it is in a column of its own.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tables import COMPARISON, Tables, claim, collect, comparison, main, timed

import dreval
from dreval.geometry.distances import nearest
from dreval.methods import GreedyProcrustes

SIZES = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
K = 12


def cell(points: int, repeat: int = 0) -> dict[str, float]:
    """Return seconds of the method and of its neighbor search, and R_C up to 10,000 points."""
    X = dreval.simulate("swiss_roll", n=points, random_state=repeat).data
    search = timed(lambda: nearest(X, K, n_jobs=1))[1]
    Y, seconds = timed(lambda: GreedyProcrustes(2, n_neighbors=K).fit_transform(X))
    fidelity = dreval.procrustes_rc(X, Y, n_neighbors=K) if points <= 10_000 else np.nan
    return {"seconds": seconds, "neighbor search": search, "R_C": float(fidelity)}


def exponent(sizes: Any, seconds: Any) -> float:
    """Return the power of n with which the seconds grow, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def rows_of(mean: pd.DataFrame) -> list[list[Any]]:
    """Return which sentences of the text hold."""
    total = exponent(mean.index, mean["seconds"])
    alone = exponent(mean.index, mean["seconds"] - mean["neighbor search"])
    largest, at_most = int(mean.index.max()), float(mean["seconds"].iloc[-1])
    text = f"seconds grow as n^{total:.2f}, without the neighbor search as n^{alone:.2f}"
    rows = [
        claim("Section 6", "GP takes O(n)", text, "yes" if total < 1.2 else "in part" if alone < 1.2 else "no"),
    ]
    if largest >= 100_000:
        rows.append(claim("Section 6", "100,000 points in less than an hour", f"{at_most:.0f} seconds", at_most < 3600))
    return rows


def draw(folder: Path, mean: pd.DataFrame) -> None:
    """Draw the seconds as ``local_procrustes_speed.png``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 3), layout="constrained")
    ax = figure.subplots()
    for column, style in (("seconds", "o-"), ("neighbor search", "s--")):
        ax.loglog(mean.index, mean[column], style, label={"seconds": "GP, whole"}.get(column, "its neighbor search"))
    ax.set(xlabel="points", ylabel="processor seconds, one thread")
    ax.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "local_procrustes_speed.png", dpi=110)


def tables(options: argparse.Namespace) -> Tables:
    """Return the seconds by the number of points."""
    GreedyProcrustes(2, n_neighbors=K).fit(dreval.simulate("swiss_roll", n=300, random_state=0).data)  # compiles
    sizes = SIZES[:3] if options.small else SIZES
    cells = [{"points": n, "repeat": r} for n in sizes for r in range(3 if n <= 10_000 else 1)]
    mean = collect("local_procrustes_speed", cells, cell, options).groupby("points").mean().drop(columns="repeat")
    if options.write:
        draw(options.write, mean)
    return {COMPARISON: comparison(rows_of(mean)), "Processor seconds of GP, one thread, by points": mean}


if __name__ == "__main__":
    main(__file__, __doc__, tables)
