"""Makes ``digits_embeddings.csv``: three embeddings of the first 300 digits, to 4 decimals.

Run: python make_digits_embeddings.py, with dreval (digits, PCA), scikit-learn 1.9.1 (t-SNE) and umap-learn
0.5.12. The embedding by t-SNE or UMAP depends on the machine; all programs get the stored coordinates.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from sklearn.manifold import TSNE
from umap import UMAP

import dreval

X = dreval.load_dataset("digits").data[:300]
embeddings = {
    "PCA": dreval.embed(X, "pca", n_components=2).coordinates,
    "t-SNE": TSNE(random_state=0).fit_transform(X),
    "UMAP": UMAP(random_state=0, n_jobs=1).fit_transform(X),
}
columns = {f"{name} {j + 1}": Y[:, j] for name, Y in embeddings.items() for j in (0, 1)}
pd.DataFrame(columns).round(4).to_csv(Path(__file__).parent / "digits_embeddings.csv", index=False)
