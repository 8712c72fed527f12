"""Results that several modules of this folder read and do not change; each is computed once for all tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.records.comparison import Comparison

NASTY = "<b>&\"' long $name_of$ an embedding"


@pytest.fixture(scope="session")
def within() -> Comparison:
    """Three embeddings of one data set; the name of one is markup."""
    X = np.random.default_rng(0).normal(size=(80, 4)) * [3, 2, 1, 1]
    embeddings = {"first": X[:, :2], NASTY: X[:, 1:3], "last": X[:, 2:]}
    evaluation = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0)
    return evaluation.run(["trustworthiness", "procrustes_rc"]).compare()


@pytest.fixture(scope="session")
def across() -> Comparison:
    """Three embeddings over seven data sets by two measures; lower values are better by one of the measures."""
    rng = np.random.default_rng(0)
    rows = [
        {
            "dataset": f"set {i}",
            "embedding": name,
            "measure": measure,
            "value": sign * index / 10 + 0.5 + rng.random() / 20,
        }
        for i in range(7)
        for index, name in enumerate(("first", NASTY, "last"))
        for measure, sign in (("trustworthiness", -1), ("procrustes_rc", 1))
    ]
    table = pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"])
    return dreval.compare(table, random_state=0)
