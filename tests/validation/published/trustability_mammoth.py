"""Roy, Trustworthy Dimensionality Reduction, Figure 10: the woolly mammoth by t-SNE, UMAP and LSDR.

``python tests/validation/published/trustability_mammoth.py`` prints measures of the three embeddings, and also draws
them with ``--write FOLDER``. The data set has 10,000 points; the paper does not say how many it took. It shows
embeddings without numbers, and says that t-SNE and UMAP keep the local structure "extremely well" but tear the surface,
and that LSDR "seems to outperform" them by continuity. Ours are 4000 of the points, since LSDR holds all pairs of them
(640 MB). Continuity is low where neighbors of the data are torn apart.

Results: LSDR has the highest continuity of the three, .9974 (UMAP .9963), and the lowest trustworthiness, .979 (.999):
it keeps neighbors of the data together, and overlays them with other parts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from tables import COMPARISON, Tables, claim, collect, comparison, main, real, some_rows, timed

import dreval
from dreval.methods import LSDR, PCA, TSNE, UMAP

METHODS = {
    "tSNE": lambda: TSNE(2, random_state=0),
    "UMAP": lambda: UMAP(2, random_state=0),
    "LSDR": lambda: LSDR(2),
    "PCA": lambda: PCA(2),
}
POINTS, SMALL = 4000, 300
MEASURES = ("trustworthiness", "continuity", "spearman_distance", "procrustes_rc", "procrustes_disparity")


def points(most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places and color groups."""
    file = real("mammoth_10k")
    rows = some_rows(len(file["X"]), most)
    return np.asarray(file["X"], float)[rows], file["y"][rows]


def cell(method: str, most: int) -> dict[str, Any]:
    """Return measures of an embedding, and the embedding."""
    X, _ = points(most)
    Y, seconds = timed(lambda: METHODS[method]().fit_transform(X))
    scores = {name: float(getattr(dreval, name)(X, Y)) for name in MEASURES}
    return {**scores, "seconds": seconds, "embedding": Y.round(4).tolist()}


def draw(folder: Path, embeddings: dict[str, Any], most: int) -> None:
    """Draw the figure as ``trustability_mammoth.png``."""
    from matplotlib.figure import Figure

    X, color = points(most)
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    panels = figure.subplots(1, len(embeddings) + 1)
    maps = {"data, from the side": X[:, [0, 2]], **{name: np.array(Y) for name, Y in embeddings.items()}}
    for ax, (name, Y) in zip(panels, maps.items(), strict=True):
        ax.scatter(*Y.T, c=color, cmap="turbo", s=3, linewidths=0)
        ax.set_title(name, fontsize=9)
        ax.set_aspect("equal", "datalim")
        ax.set_axis_off()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "trustability_mammoth.png", dpi=110)


def tables(options: argparse.Namespace) -> Tables:
    """Return measures, and which sentences of the text hold."""
    most = SMALL if options.small else POINTS
    results = collect("mammoth", [{"method": name, "most": most} for name in METHODS], cell, options)
    if results.empty:
        row = claim("Figure 10", "LSDR outperforms tSNE and UMAP", "", "not compared", "the data are not here")
        return {COMPARISON: comparison([row])}
    table = results.set_index("method")
    if options.write:
        draw(options.write, table["embedding"].drop("PCA").to_dict(), most)
    t, c, rho = (table[name] for name in ("trustworthiness", "continuity", "spearman_distance"))
    text = ", ".join(f"{name} {t[name]:.3f} / {c[name]:.3f}" for name in table.index)
    spread = ", ".join(f"{name} {value:.2f}" for name, value in rho.items())
    rows = [
        claim(
            "Figure 10",
            "tSNE and UMAP keep the local structure extremely well",
            f"trustworthiness / continuity: {text}",
            bool(min(t["tSNE"], t["UMAP"]) > 0.95),
        ),
        claim(
            "Figure 10",
            "LSDR outperforms them by keeping continuity",
            f"continuity: LSDR {c['LSDR']:.3f}, tSNE {c['tSNE']:.3f}, UMAP {c['UMAP']:.3f}",
            "in part" if c["LSDR"] > max(c["tSNE"], c["UMAP"]) else "no",
            f"by {c['LSDR'] - max(c['tSNE'], c['UMAP']):.4f} in one run of each; PCA has {c['PCA']:.3f}",
        ),
        claim(
            "Figure 10",
            "LSDR gives the more relevant whole",
            f"rank correlation of distances: {spread}",
            bool(rho["LSDR"] > max(rho["tSNE"], rho["UMAP"])),
            f"our reading; by this measure PCA is {'ahead of' if rho['PCA'] > rho['LSDR'] else 'behind'} it",
        ),
    ]
    return {COMPARISON: comparison(rows), f"Measures, {most} points": table.drop(columns=["embedding", "most"])}


if __name__ == "__main__":
    main(__file__, __doc__, tables)
