"""Principal covariates regression by scikit-matter, into pcovr.json: ``python make_pcovr.py`` where it is installed.

Made with skmatter 0.4.1, numpy 2.4.6 and scikit-learn 1.8.0. X and Y are centered and scaled to a sum of squares of 1,
so that the mixing parameter weighs two shares; ``loss`` is its own loss of the fitted scores T:
mixing |X - T P|^2 + (1 - mixing) |Y - T Q|^2, with P and Q the least squares fits.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression
from skmatter.decomposition import PCovR

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 6)) * 2.0 ** -np.arange(6)
Y = np.column_stack([X[:, 4] + 0.05 * rng.normal(size=40), 3 * X[:, 5] - X[:, 3]])
X, Y = X.round(4), Y.round(4)
x, y = ((Z - Z.mean(axis=0)) / np.linalg.norm(Z - Z.mean(axis=0)) for Z in (X, Y))
cases = []
for mixing in (0.9, 0.5, 0.2):
    fit = PCovR(mixing=mixing, n_components=2, regressor=LinearRegression(), svd_solver="full", space="feature")
    T = fit.fit(x, y).transform(x)
    P, Q = (np.linalg.lstsq(T, Z, rcond=None)[0] for Z in (x, y))
    loss = mixing * np.sum((x - T @ P) ** 2) + (1 - mixing) * np.sum((y - T @ Q) ** 2)
    cases.append({"mixing": mixing, "loss": loss, "T": T.tolist()})
text = json.dumps({"X": X.tolist(), "Y": Y.tolist(), "cases": cases})
Path(__file__).with_name("pcovr.json").write_text(text + "\n", "utf-8")
