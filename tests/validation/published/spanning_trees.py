"""Roy, Trustworthy Dimensionality Reduction, Theorem 6: the minimum spanning tree has one edge between two classes.

``python tests/validation/published/spanning_trees.py`` prints one table.

Two classes of m = n points each are centers plus independent errors. The theorem: if points of one class can be
arbitrarily close, the probability that the Euclidean minimum spanning tree has two edges or more between the classes
tends to 0 as m, n grow. Remark 2: errors with a continuous distribution whose support contains 0 suffice, and with more
classes there is at most one edge between any two. Neither assumes that the classes are separate. The designs have
supports that are apart (uniform on discs, on balls in ten dimensions, on three discs), that touch, and that overlap
(normal errors, centers 2 and 6 standard deviations apart); n = 10 to 1000 points a class, 40 draws.

The rule, set before the first run, for each design: *yes* if at most 5 % of the draws with the most points have two
edges or more between classes, and no larger share than with the fewest; *no* if half of the draws or more have them;
else *in part*.

Results: yes for all four designs with supports apart; no for discs that touch (.82 of the draws with 1000 points a
class) and for normal errors, which Remark 2 admits (.88 at 6 standard deviations, all draws at 2). The theorem needs a
gap between the supports: that points of a class can be arbitrarily close is not enough.

If the classes had one distribution, a tree would have 2 m n / (m + n) edges between them on average (Friedman and
Rafsky, 1979): the count is checked against that in the tests.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from tables import COMPARISON, Tables, claim, collect, comparison, main, product

from dreval.geometry.distances import Space
from dreval.geometry.graphs import spanning_tree

SIDE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])  # corners at distance 1
DESIGNS = {  # number of classes, columns, distance of the centers, errors
    "discs, .5 apart": (2, 2, 2.5, "ball"),
    "discs, .1 apart": (2, 2, 2.1, "ball"),
    "three discs, .1 apart": (3, 2, 2.1, "ball"),
    "balls in 10 dimensions, .5 apart": (2, 10, 2.5, "ball"),
    "discs that touch": (2, 2, 2.0, "ball"),
    "normal, 6 standard deviations apart": (2, 2, 6.0, "normal"),
    "normal, 2 standard deviations apart": (2, 2, 2.0, "normal"),
}
APART = list(DESIGNS)[:4]
SIZES = (10, 30, 100, 300, 1000)
FEW, MANY = 0.05, 0.5


def sample(design: str, points: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return points (classes x points, columns), and the class of each."""
    classes, columns, distance, errors = DESIGNS[design]
    labels = np.repeat(np.arange(classes), points)
    noise = rng.standard_normal((len(labels), columns))
    if errors == "ball":  # uniform: a direction, and a radius whose power is uniform
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        noise *= rng.uniform(size=(len(labels), 1)) ** (1 / columns)
    centers = np.zeros((classes, columns))
    centers[:, :2] = distance * SIDE[:classes]
    return centers[labels] + noise, labels


def between(X: Any, labels: Any) -> dict[tuple[int, int], int]:
    """Count the edges of the minimum spanning tree between any two classes."""
    ends = np.sort(labels[spanning_tree(Space.of(X))[0]], axis=1)
    return {(a, b): int(np.sum((ends == [a, b]).all(axis=1))) for a, b in combinations(np.unique(labels).tolist(), 2)}


def trees(design: str, points: int, draws: int) -> dict[str, float]:
    """Return the share of draws with two edges or more between classes, and the mean between the first two."""
    seed = list(DESIGNS).index(design)
    counts_by_draw = [
        between(*sample(design, points, np.random.default_rng([seed, points, draw]))) for draw in range(draws)
    ]
    return {
        "share": float(np.mean([max(counts.values()) >= 2 for counts in counts_by_draw])),
        "edges": float(np.mean([counts[0, 1] for counts in counts_by_draw])),
    }


def verdict(shares: pd.Series) -> str:
    """Apply the rule of this page to shares by number of points, from the fewest points."""
    first, last = float(shares.iloc[0]), float(shares.iloc[-1])
    return "yes" if last <= FEW and last <= first else "no" if last >= MANY else "in part"


def rows_of(results: pd.DataFrame) -> list[list[Any]]:
    """Return one row for each design."""
    rows = []
    for design, group in results.groupby("design", sort=False):
        shares = group.set_index("points")["share"]
        share_text = ", ".join(f"{share:.2f}" for share in shares)
        edges = group["edges"].iloc[-1]
        rows.append(
            claim(
                "Remark 2" if design.startswith(("three", "normal")) else "Theorem 6",
                f"two edges or more between classes become improbable ({design})",
                f"share of draws {share_text} with n = {', '.join(map(str, shares.index))}; "
                f"{edges:.1f} edges at the last",
                verdict(shares),
                "supports apart" if design in APART else "supports not apart, which the theorem does not exclude",
            )
        )
    return rows


def tables(options: argparse.Namespace) -> Tables:
    """Return all designs by number of points."""
    sizes, draws = (SIZES[:3], 20) if options.small else (SIZES, 40)
    results = collect("trees", product(design=DESIGNS, points=sizes, draws=(draws,)), trees, options)
    shares = results.pivot_table(index="design", columns="points", values="share", sort=False)
    return {
        COMPARISON: comparison(rows_of(results)),
        f"Share of {draws} draws with two edges or more between classes, by points a class": shares,
        "Mean number of edges between the first two classes": results.pivot_table(
            index="design", columns="points", values="edges", sort=False
        ),
    }


if __name__ == "__main__":
    main(__file__, __doc__, tables)
