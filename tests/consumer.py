"""A user's script for type checkers: return types of public functions are known, and none is ``Any`` by accident."""

from typing import assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd

import dreval

X = np.random.default_rng(0).normal(size=(60, 4))
Y = X[:, :2]

record = dreval.trustworthiness(X, Y, n_neighbors=5)
evaluation = dreval.Evaluation(X, {"mine": Y, "pca": "pca"}, n_neighbors=5, random_state=0)
results = evaluation.run(["trustworthiness", "continuity"], tests=None)
assert_type(evaluation, dreval.Evaluation)
assert_type(results, dreval.Results)
assert_type(results.tidy(), pd.DataFrame)
assert_type(results["mine"].scores, pd.DataFrame)
assert_type(results["mine"].transform(X), npt.NDArray[np.float64])
assert_type(results.glance(), pd.DataFrame)
assert_type(results.augment("mine"), pd.DataFrame)
assert_type(results.ranking(), pd.DataFrame)
assert_type(results.names, list[str])
assert_type(dreval.hsic_test(X, Y, n_resamples=9, random_state=0), dreval.IndependenceTest)
assert_type(dreval.list_measures(), list[str])
size = float(record)
text: str = str(results.summary())
estimator = dreval.methods.Isomap(n_components=2, n_neighbors=5)
embedded = estimator.fit_transform(X)
