"""Makes ``digits_python.json``: values of Python programs for the embeddings of digits, k = 15.

Run: python make_digits_numbers.py, with scikit-learn 1.9.1, scipy 1.17.1, ZADU 0.5.4, pyDRMetrics 0.0.8 and dreval for
the digits. The curves of pyDRMetrics are read at place k - 1, which is k = 15 for QNN and LCMC.
"""

from __future__ import annotations

import json
from importlib.metadata import version

import matplotlib as mpl
import numpy as np
from digits_numbers import FOLDER, N_NEIGHBORS, oracle_cases
from pyDRMetrics.pyDRMetrics import DRMetrics
from scipy.spatial.distance import pdist
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_score
from zadu import ZADU

mpl.use("Agg")
RANKS = ("tnc", "mrre", "lcmc", "nh", "ca_tnc", "proc")
WITHOUT_K = ("l_tnc", "dtm", "kl_div", "dsc", "pr", "srho", "stress", "sn_stress", "nm_stress")


def scikit_learn(X: np.ndarray, Y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return values of scikit-learn and scipy."""
    dx, dy = pdist(X), pdist(Y)
    return {
        "trustworthiness": trustworthiness(X, Y, n_neighbors=N_NEIGHBORS),
        "trustworthiness, spaces exchanged": trustworthiness(Y, X, n_neighbors=N_NEIGHBORS),
        "silhouette_score": silhouette_score(Y, labels),
        "pearsonr of distances": pearsonr(dx, dy)[0],
        "spearmanr of distances": spearmanr(dx, dy)[0],
        "kendalltau of distances": kendalltau(dx, dy)[0],
    }


def zadu(X: np.ndarray, Y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return values of ZADU, with two seeds for random measures."""
    specs = [{"id": name, "params": {"k": N_NEIGHBORS}} for name in RANKS]
    specs += [{"id": name, "params": {}} for name in WITHOUT_K]
    values: dict[str, float] = {}
    for spec in specs:
        for key, value in ZADU([spec], X).measure(Y, labels)[0].items():
            values[f"{spec['id']}: {key}"] = value
    for seed in (0, 1):
        spec = {"id": "snc", "params": {"k": N_NEIGHBORS, "random_state": seed}}
        for key, value in ZADU([spec], X).measure(Y, labels)[0].items():
            values[f"snc: {key}, seed {seed}"] = value
    return values


def pydrmetrics(X: np.ndarray, Y: np.ndarray, _: np.ndarray) -> dict[str, float]:
    """Return values of pyDRMetrics."""
    criteria = DRMetrics(X, Y)
    curves = {key: getattr(criteria, key)[N_NEIGHBORS - 1] for key in ("T", "C", "QNN", "LCMC")}
    names = ("Vr", "Vrs", "AUC", "AUC_T", "AUC_C", "kmax", "Qlocal", "Qglobal")
    return curves | {key: getattr(criteria, key) for key in names}


if __name__ == "__main__":
    programs = {"scikit-learn": scikit_learn, "ZADU": zadu, "pyDRMetrics": pydrmetrics}
    tools = ("scikit-learn", "scipy", "zadu", "pyDRMetrics", "numpy")
    stored = {"versions": [f"{tool} {version(tool)}" for tool in tools]}
    for program, ask in programs.items():
        stored[program] = {
            name: {key: float(value) for key, value in ask(*case).items()} for name, case in oracle_cases().items()
        }
    (FOLDER / "digits_python.json").write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
