"""Parts of the points with one class, or with all classes different: no interval and a note, never an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

import dreval

N = 24
X = np.random.default_rng(0).normal(size=(N, 4))
MEASURES = ["silhouette", "calinski_harabasz", "clisi", "knn_accuracy"]
LABELS = {
    "one point of another class": np.r_[["b"], ["a"] * (N - 1)],
    "one pair of a class": np.array([*(f"k{i}" for i in range(N - 1)), "k0"]),
}
NO_INTERVAL = {"interval.undefined", "interval.group", "interval.half"}


def results_of(labels: Any, ci: str) -> Any:
    """Return the results of two embeddings; with replicates the methods are re-run on halves."""
    embeddings = {"u": "pca", "v": dreval.methods.PCA(1)} if ci == "replicates" else {"u": X[:, :2], "v": X[:, 1:3]}
    options = {"replicates": {"n_replicates": 3, "over": "subsamples"}} if ci == "replicates" else None
    ev = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=3, random_state=0)
    return ev.run(MEASURES, None, ci, options=options)


@pytest.mark.parametrize("ci", ["points", "subsampling", "replicates"])
@pytest.mark.parametrize("case", LABELS)
def test_a_part_without_classes_costs_the_interval_alone(case: str, ci: str) -> None:
    """The values are those of all points, and every pair of embeddings has its row."""
    labels = LABELS[case]
    results = results_of(labels, ci)
    table = results.table.set_index(["measure", "embedding"])
    assert np.isfinite(table["value"]).all()
    if ci != "replicates":
        expected = silhouette_score(X[:, :2], labels)
        assert table.loc[("silhouette", "u"), "value"] == pytest.approx(expected, abs=1e-12)
    codes = set(results.notes.query("measure == 'silhouette'")["code"])
    assert codes & NO_INTERVAL, codes
    assert np.isnan(table.loc["silhouette", ["conf_low", "conf_high"]].to_numpy(float)).all()
    compared = results.compare().tidy()
    assert set(compared["measure"]) == set(MEASURES)


@pytest.mark.parametrize("case", LABELS)
def test_a_sweep_over_halves_continues(case: str) -> None:
    """A measure without a value in any half has the reason; the others have values."""
    measures = ["silhouette", "trustworthiness"]
    settings = {"n_components": [1, 2]}
    result = dreval.sweep(
        X,
        "pca",
        settings,
        measures=measures,
        labels=LABELS[case],
        over="halves",
        n_replicates=3,
        n_neighbors=3,
        random_state=0,
    )
    table = result.table.set_index("measure")
    assert table.loc["silhouette", "note"].str.contains("runs failed; the first: `labels` must have").all()
    assert np.isfinite(result.values.query("measure == 'trustworthiness'")["value"]).all()
