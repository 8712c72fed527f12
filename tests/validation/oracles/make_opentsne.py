"""Makes ``opentsne.npz``: openTSNE's embedding of the digits. Run: python make_opentsne.py (a minute).

Made with openTSNE 1.0.4, numpy 2.4.6 (the versions are stored in the file): its defaults (perplexity 30, exaggeration
12 for 250 iterations, then 500), from principal scores with standard deviation 1e-4 in the first, random_state 0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openTSNE
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

X = load_digits().data
start = PCA(2, svd_solver="full").fit_transform(X)
start *= 1e-4 / start[:, 0].std()
Y = openTSNE.TSNE(random_state=0, n_jobs=1, initialization=start.copy()).fit(X)
np.savez(
    Path(__file__).parent / "opentsne.npz",
    start=start,
    digits=np.asarray(Y, np.float32),
    divergence=Y.kl_divergence,
    versions=[f"openTSNE {openTSNE.__version__}", f"numpy {np.__version__}"],
)
