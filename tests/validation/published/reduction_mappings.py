"""Hammer, Bunte & Biehl, Some steps towards a general principle for dimensionality reduction mappings, Figure 1.

``python tests/validation/published/reduction_mappings.py`` prints, for a linear map by the cost of t-SNE (DiReduct) and
for PCA of three stacked Gaussians, accuracy of 10 neighbors, and Q and B (intrusions less extrusions) over K. The paper
shows an embedding and two curves without numbers, and states neither sizes nor spreads; ours are ``stacked_gaussians``
(300 points, an axis across the stack that holds 9 % of the variance). The figure is drawn in
``vignettes/cost-mapping.md``.
"""

from __future__ import annotations

import argparse
from typing import Any

import pandas as pd
from tables import COMPARISON, Tables, claim, collect, comparison, main, product, quiet

import dreval
from dreval.methods import PCA, LinearTSNE

METHODS = {"PCA": lambda _: PCA(2), "DiReduct": lambda seed: LinearTSNE(2, random_state=seed)}
KS = (3, 5, 10, 15, 30, 50, 100, 150, 200)


def cell(method: str, draw: int, points: int = 300) -> dict[str, float]:
    """Return accuracy, Q and B of one embedding."""
    stack = dreval.simulate("stacked_gaussians", n=points, random_state=draw)
    Y = quiet(lambda: METHODS[method](draw).fit_transform(stack.data))
    q, b = dreval.q_nx(stack.data, Y), dreval.b_nx(stack.data, Y)
    scores = {"accuracy": float(dreval.knn_accuracy(Y, labels=stack.labels, n_splits=5, random_state=0))}
    for k in KS:
        near = min(q.index, key=lambda at, k=k: abs(at - k))
        scores |= {f"Q({k})": float(q[near]), f"B({k})": float(b[near])}
    return scores


def rows_of(results: pd.DataFrame) -> list[list[Any]]:
    """Return which sentences of the text hold."""
    mean = results.drop(columns="draw").groupby("method", sort=False).mean(numeric_only=True)
    ours, pca = mean.loc["DiReduct"], mean.loc["PCA"]
    near, far, middle = (3, 5, 10, 15), (150, 200), (15, 30, 50, 100)
    small = (3, 5, 10)

    def of(name: str, ks: tuple[int, ...]) -> tuple[float, float]:
        columns = [f"{name}({k})" for k in ks]
        return float(ours[columns].mean()), float(pca[columns].mean())

    (q_ours, q_pca), (q_ours_far, q_pca_far) = of("Q", near), of("Q", far)
    (b_ours, b_pca), (b_ours_near, b_pca_near) = of("B", middle), of("B", small)
    is_above = all(ours[f"Q({k})"] > pca[f"Q({k})"] for k in near)
    return [
        claim(
            "Figure 1",
            "PCA projects the clusters onto each other, DiReduct separates them",
            f"accuracy: PCA {pca['accuracy']:.2f} (chance .33), DiReduct {ours['accuracy']:.2f}",
            bool(pca["accuracy"] < 0.5 and ours["accuracy"] > 0.85),
        ),
        claim(
            "Figure 1, Q",
            "DiReduct shows a superior quality, in particular for small neighborhoods",
            f"mean Q, K 3 to 15: {q_ours:.2f}, PCA {q_pca:.2f}; K 150, 200: {q_ours_far:.2f}, PCA {q_pca_far:.2f}",
            "yes" if is_above and q_ours_far > q_pca_far else "in part" if is_above else "no",
            "for large neighborhoods PCA is the better: it keeps the large distances",
        ),
        claim("Figure 1, B", "PCA tends to intrusions", f"mean B, K 15 to 100: {b_pca:.3f}", bool(b_pca > 0)),
        claim(
            "Figure 1, B",
            "DiReduct is rather neutral, mildly extrusive at medium K",
            f"mean B, K 3 to 10: {b_ours_near:.2f}, PCA {b_pca_near:.2f}; K 15 to 100: {b_ours:.3f}, PCA {b_pca:.3f}",
            "yes" if abs(b_ours) < 0.02 else "in part" if b_ours < b_pca else "no",
            "less than PCA only at small K; spreads are not stated",
        ),
    ]


def tables(options: argparse.Namespace) -> Tables:
    """Return means over draws."""
    draws = range(1 if options.small else 10)
    results = collect("figure 1", product(draw=draws, method=METHODS), cell, options)
    mean = results.drop(columns="draw").groupby("method", sort=False).mean(numeric_only=True)
    curves = {(name, method): [mean.loc[method, f"{name}({k})"] for k in KS] for name in "QB" for method in METHODS}
    return {
        COMPARISON: comparison(rows_of(results)),
        f"Q and B over K, means over {len(draws)} draws": pd.DataFrame(curves, index=pd.Index(KS, name="K")),
    }


if __name__ == "__main__":
    main(__file__, __doc__, tables)
