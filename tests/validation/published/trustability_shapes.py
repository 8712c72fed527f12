"""Roy, Trustworthy Dimensionality Reduction, Appendix C (Figures 14 to 24): six shapes by t-SNE, UMAP and LSDR.

``python tests/validation/published/trustability_shapes.py`` prints trustworthiness, continuity and the rank correlation
of distances of each embedding for the parameters that the captions name (perplexities, numbers of neighbors, and for
LSDR k and bandwidth), and what holds of the text. The paper shows embeddings only; shapes, sizes and parameters are
ours. The embeddings are drawn in ``vignettes/papers-trustability.md``.

Numbers can test three of its sentences. The first coordinate of LSDR separates the two long clusters, those of t-SNE
and UMAP need not: share of 5-nearest neighbors of the same class along it (1 is apart, .5 is chance). t-SNE and UMAP
turn linked circles into unlinked ones, LSDR does not: the same share in the plane (1 is unlinked) and the overlap of
the circles' hulls. t-SNE and UMAP draw the trefoil knot as one large circle: crossings of the closed curve in the plane
(0 for a circle, 3 for a knot seen from above; those of near parts are left out).
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
from tables import COMPARISON, Tables, claim, collect, comparison, main, product, timed

import dreval
from dreval.methods import LSDR, TSNE, UMAP

SHAPES = {
    "grid": "Figure 14",
    "two_lines": "Figure 16",
    "linked_circles": "Figure 18",
    "unlinked_circles": "Figure 20",
    "circular_clusters": "Figure 22",
    "trefoil": "Figure 24",
}
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "tSNE": ({"perplexity": 5}, {"perplexity": 30}, {"perplexity": 50}),
    "UMAP": ({"n_neighbors": 5}, {"n_neighbors": 15}, {"n_neighbors": 50}),
    "LSDR": ({"n_neighbors": 3}, {"n_neighbors": 5}, {"n_neighbors": 3, "bandwidth": 2.0}),
}
CLASSES = {"tSNE": TSNE, "UMAP": UMAP, "LSDR": LSDR}
RANDOM = ("tSNE", "UMAP")


def crossings(Y: np.ndarray, angle: np.ndarray) -> int:
    """Count the crossings of the closed polygon through the points between parts at least a twelfth of it apart."""
    P = Y[np.argsort(angle)]
    Q = np.roll(P, -1, axis=0)
    n = len(P)

    def side(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
        first, second = B - A, C - A
        return np.sign(first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0])

    a, b, c, d = P[:, None], Q[:, None], P[None], Q[None]
    crossed = (side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0)
    i, j = np.triu_indices(n)
    far = np.minimum(j - i, n - j + i) > n // 12
    return int(crossed[i, j][far].sum())


def embedding(shape: str, method: str, setting: int, draw: int = 0, points: int = 200) -> tuple[Any, np.ndarray, float]:
    """Return data, embedding and seconds."""
    data = dreval.simulate(shape, n=points, random_state=draw)
    seed = {"random_state": draw} if method in RANDOM else {}
    model = CLASSES[method](2, **SETTINGS[method][setting], **seed)
    Y, seconds = timed(lambda: model.fit_transform(data.data))
    return data, Y, seconds


def cell(shape: str, method: str, setting: int, draw: int, points: int = 200) -> dict[str, Any]:
    """Return measures of an embedding, and the numbers that the text of the paper is compared with."""
    data, Y, seconds = embedding(shape, method, setting, draw, points)
    names = ("trustworthiness", "continuity", "spearman_distance")
    scores = {name: float(getattr(dreval, name)(data.data, Y)) for name in names}
    hit = dreval.neighborhood_hit
    if shape == "two_lines":
        scores["apart"] = float(hit(Y[:, :1], labels=data.labels, n_neighbors=5))
    if shape == "linked_circles":
        from matplotlib.path import Path as Outline
        from scipy.spatial import ConvexHull

        left, right = Y[data.labels == 0], Y[data.labels == 1]
        scores["apart"] = float(hit(Y, labels=data.labels, n_neighbors=5))
        scores["inside the other"] = float(Outline(left[ConvexHull(left).vertices]).contains_points(right).mean())
    if shape == "trefoil":
        scores["crossings"] = crossings(Y, np.arctan2(data.latent[:, 1], data.latent[:, 0]))
    return {
        **scores,
        "parameters": ", ".join(f"{k}={v}" for k, v in SETTINGS[method][setting].items()),
        "seconds": seconds,
    }


def rows_of(results: pd.DataFrame) -> list[list[Any]]:
    """Return which sentences of the text hold."""
    means = results.groupby(["shape", "method"])

    def of(shape: str, column: str) -> pd.Series:
        return means[column].mean().loc[shape]

    def listing(values: pd.Series, digits: int = 2) -> str:
        return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())

    lines, linked = of("two_lines", "apart"), of("linked_circles", "inside the other")
    knots, rivals = of("trefoil", "crossings"), ["tSNE", "UMAP"]
    measures = means[["trustworthiness", "continuity"]].mean()
    lsdr, tsne, umap = (measures.xs(name, level="method") for name in ("LSDR", *rivals))
    behind = (lsdr < np.minimum(tsne, umap) - 0.02).any(axis=1)
    below = int((lsdr < tsne).to_numpy().sum())
    by_method = measures.groupby("method").mean()
    return [
        claim(
            "Figure 16",
            "the first coordinate of LSDR tells the clusters apart, those of tSNE and UMAP not necessarily",
            f"neighbors of the same class: {listing(lines)}",
            bool(lines["LSDR"] > 0.9),
            "metric scaling puts the longest direction first, and that is along the clusters",
        ),
        claim(
            "Figure 18",
            "tSNE and UMAP draw two unlinked circles, LSDR does not",
            f"share of a circle inside the other: {listing(linked)}",
            bool(linked["LSDR"] > 0.1 and linked[rivals].max() < 0.05),
        ),
        claim(
            "Figure 24",
            "tSNE and UMAP draw the knot as one circle, LSDR does not",
            f"crossings of the curve: {listing(knots, 1)}",
            "yes" if knots["LSDR"] >= 2 and knots[rivals].max() < 1 else "in part" if knots["LSDR"] >= 2 else "no",
        ),
        claim(
            "Figures 14 to 24",
            "LSDR achieves a similar level of performance",
            f"mean trustworthiness: {listing(by_method['trustworthiness'], 3)}; "
            f"continuity: {listing(by_method['continuity'], 3)}",
            "no" if behind.mean() > 0.5 else "in part" if behind.any() else "yes",
            f"below tSNE in {below} of {lsdr.size} means of a shape, by more than .02 below both rivals for "
            f"{', '.join(behind.index[behind]) or 'no shape'}; and LSDR breaks the circles, unseen by these measures",
        ),
    ]


def tables(options: argparse.Namespace) -> Tables:
    """Return means over draws."""
    draws = range(1 if options.small else 5)
    size = {"points": 100} if options.small else {}
    settings = range(1, 2) if options.small else range(3)
    keys = product(shape=SHAPES, method=SETTINGS, setting=settings, draw=draws)
    results = collect("shapes", [{**cell, **size} for cell in keys], cell, options)
    values = ["trustworthiness", "continuity", "spearman_distance", "seconds"]
    columns = [name for name in ("apart", "inside the other", "crossings") if name in results]
    grouped = results.groupby(["shape", "method", "parameters"], sort=False)
    return {
        COMPARISON: comparison(rows_of(results)),
        f"Means over {len(draws)} draws": grouped[values].mean(),
        "What the text asks": grouped[columns].mean().dropna(how="all"),
    }


if __name__ == "__main__":
    main(__file__, __doc__, tables)
