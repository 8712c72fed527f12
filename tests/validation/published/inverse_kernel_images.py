"""Li & Wu, Inverse Kernel Decomposition, Figures 4 and 7 to 9: are clusters of real data more separate by IKD?

``python tests/validation/published/inverse_kernel_images.py`` prints the silhouette of the true classes in two
coordinates; with ``--write FOLDER`` it draws the embeddings. The paper shows digits, single cells (PCR), COIL-20 and
Fashion-MNIST without numbers, and says of all four that "qualitatively, we can see": inverse kernel decomposition (IKD)
"consistently finds more separate clusters compared with all other eigen-decomposition-based methods and two
optimization-based methods (GPLVM and VAE)".

The question: on how many of the data sets is the silhouette of IKD above that of PCA, kernel PCA (the best of its four
kernels), Laplacian eigenmaps, Isomap, GPLVM and the variational autoencoder (VAE)? The sentence holds if on all, and in
part if on any; set before the computation. The silhouette is our choice; the paper has no measure of this. Ours are 400
rows of each (all 437 cells), since GPLVM takes minutes on more. VAE takes three minutes on COIL-20, and is left out
there. The table also has COIL-20 at 32 x 32 (the means of 4 x 4 pixels) by all methods, which the sentence is not
judged by, and t-SNE and UMAP, which the paper puts above IKD. Settings are those of ``inverse_kernel_labels.py``; GPLVM
and VAE are those of this package, and the paper states no settings of either.

Results: no. VAE has a silhouette of .21, .24 and .04 on digits, cells and Fashion-MNIST, IKD by neighbors .28, .32 and
-.02; on COIL-20 Laplacian eigenmaps have .22, IKD by neighbors .13. At 32 x 32 IKD by neighbors has .25, more than
Laplacian eigenmaps (.23) and VAE (.20).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from inverse_kernel_labels import DATA, FORMS, REDUCED, SEARCHING, points
from inverse_kernel_labels import METHODS as BY_EIGENVECTORS
from tables import COMPARISON, Tables, claim, collect, comparison, main, timed

import dreval
from dreval.errors import DrevalError
from dreval.methods import GPLVM, VAE

FIGURES = dict(zip(DATA, ("Figure 4", "Figure 7", "Figure 8", "Figure 9"), strict=True))
ROWS, SMALL = 400, 150
LATENT = {
    "GPLVM": lambda d, _: GPLVM(d, max_iter=100, random_state=0),
    "VAE": lambda d, _: VAE(d, random_state=0),
}
TOO_SLOW = ("COIL-20", "VAE")
METHODS = {**BY_EIGENVECTORS, **LATENT, **SEARCHING}
PANEL_METHODS = (
    "PCA", "KPCA cosine", "Laplacian eigenmaps", "Isomap", "IKD by neighbors", "GPLVM", "VAE", "tSNE", "UMAP"
)  # fmt: skip


def cell(data: str, method: str, rows: int = ROWS) -> dict[str, Any]:
    """Return the silhouette of the classes in an embedding, and the embedding; else the reason of the failure."""
    X, y = points(data, None if data == "Guo" and rows == ROWS else rows, None)
    try:
        Y, seconds = timed(lambda: METHODS[method](2, X).fit_transform(X))
    except DrevalError as error:
        return {"silhouette": np.nan, "seconds": np.nan, "embedding": [], "why not": str(error).splitlines()[0]}
    silhouette = float(dreval.silhouette(Y, labels=y))
    return {"silhouette": silhouette, "seconds": seconds, "embedding": np.round(Y, 5).tolist()}


def rows_of(table: pd.DataFrame) -> list[list[Any]]:
    """Return for each form of IKD on which data sets its classes are more separate."""
    kinds = ("PCA", "KPCA", "Laplacian", "Isomap", "GPLVM", "VAE")
    rivals = [name for name in table.columns if name.startswith(kinds)]
    rows = []
    for form in FORMS:
        ahead = table[form] > table[rivals].max(axis=1)
        best = [
            f"{name} {row[form]:.2f} ({row[rivals].idxmax()} {row[rivals].max():.2f})" for name, row in table.iterrows()
        ]
        holds = "yes" if ahead.all() else "in part" if ahead.any() else "no"
        sentence = "IKD finds more separate clusters than all methods by eigenvectors, GPLVM and VAE"
        note = f"the best rival in brackets; ahead on {int(ahead.sum())} of {len(ahead)}"
        rows.append(claim("Figures 4, 7 to 9", sentence, f"silhouette of {form}: {', '.join(best)}", holds, note))
    return rows


def draw(folder: Path, results: pd.DataFrame, rows: int) -> None:
    """Draw the embeddings as ``inverse_kernel_images.png``, a row of panels per data set."""
    from matplotlib.figure import Figure

    embeddings = results.set_index(["data", "method"])["embedding"]
    names = list(embeddings.index.get_level_values("data").unique())
    figure = Figure(figsize=(12, 1.6 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), len(PANEL_METHODS), squeeze=False)
    for line, name in zip(panels, names, strict=True):
        _, labels = points(name, None if name == "Guo" and rows == ROWS else rows, None)
        color = np.unique(labels, return_inverse=True)[1]
        line[0].set_ylabel(f"{FIGURES[name]}\n{name}", fontsize=8)
        for ax, method in zip(line, PANEL_METHODS, strict=True):
            if (name, method) != TOO_SLOW:
                ax.scatter(*np.array(embeddings[name, method]).T, c=color, cmap="tab20", s=2, linewidths=0)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_color("0.85")
            if name == names[0]:
                ax.set_title(method, fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "inverse_kernel_images.png", dpi=110)


def tables(options: argparse.Namespace) -> Tables:
    """Return silhouettes and seconds."""
    rows = SMALL if options.small else ROWS
    size = {"rows": rows} if options.small else {}
    cells = [
        {"data": data, "method": name, **size}
        for data in (["digits"] if options.small else (*DATA, REDUCED))
        for name in METHODS
        if (data, name) != TOO_SLOW
    ]
    results = collect("inverse_kernel_images", cells, cell, options)
    if options.write:
        draw(options.write, results[results["data"] != REDUCED], rows)
    order: dict[str, Any] = {"index": "data", "columns": "method", "sort": False}
    table = results.pivot_table(values="silhouette", **order)
    return {
        COMPARISON: comparison(rows_of(table.drop(index=REDUCED, errors="ignore"))),
        "Silhouette of the classes in two coordinates": table.T,
        "Seconds of one processor, two coordinates": results.pivot_table(values="seconds", **order).T,
    }


if __name__ == "__main__":
    main(__file__, __doc__, tables)
