"""Labels that are all different, or all equal: a measure has a value only where embeddings can differ in it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from measure_calls import call_measure
from sklearn.metrics import silhouette_score

import dreval
from dreval.errors import UndefinedMeasure
from dreval.registry import MEASURES

RNG = np.random.default_rng(0)
N = 40
X = RNG.normal(size=(N, 4))
EMBEDDINGS = [X[:, :2], X[:, 2:], RNG.normal(size=(N, 2))]
CARDS = {name: MEASURES.card(name) for name in MEASURES}
NAMES = [name for name, card in CARDS.items() if "labels" in card.needs and card.level != "algorithm"]
BATCHED = [name for name, card in CARDS.items() if "batch" in card.needs]
TWO_CLASSES = np.arange(N) % 2
DIFFERENT = {"centroid_triplet_accuracy", "class_aware_trustworthiness"}  # measures with a value where all differ
WITHIN_LABELS = {"silhouette_batch", "bras", "cilisi", "kbet_per_label"}  # need batches within a class
VALID_FOR_ONE_CLASS = {"graph_connectivity", "class_aware_continuity"} | WITHIN_LABELS  # with a value for one class


def values(name: str, labels: Any, batch: Any = TWO_CLASSES) -> list[float]:
    """The values of three embeddings."""
    function = getattr(dreval, name)
    options = {"labels": labels} | ({"batch": batch} if "batch" in MEASURES.card(name).needs else {})
    options |= {"random_state": 0} if "random_state" in inspect.signature(function).parameters else {}
    options |= {"n_neighbors": 2} if "n_neighbors" in inspect.signature(function).parameters else {}
    options |= {"size": 4} if name == "kbet_per_label" else {}  # rejects where all four are of one batch
    if "labels" not in MEASURES.card(name).needs:
        del options["labels"]
    return [call_measure(name, X, Y, **options) for Y in EMBEDDINGS]


@pytest.mark.parametrize("labels", [np.arange(N), [f"c{i}" for i in range(N)], np.arange(N) + 0.0])
def test_labels_that_are_all_different(labels: Any) -> None:
    """Every measure of labels raises an error, except those whose value still differs between embeddings."""
    for name in NAMES:
        if name in DIFFERENT:
            assert len(set(values(name, labels))) == 3
            continue
        with pytest.raises(UndefinedMeasure) as error:
            values(name, labels)
        assert name in WITHIN_LABELS or "each point is a class of its own" in str(error.value)


def test_labels_of_one_class() -> None:
    """The same for a single class."""
    for name in NAMES:
        if name in VALID_FOR_ONE_CLASS:
            assert len(set(values(name, np.zeros(N, int)))) > 1
            continue
        with pytest.raises(UndefinedMeasure, match=r"at least [23] classes"):
            values(name, np.zeros(N, int))


def test_silhouette_has_the_range_of_scikit_learn() -> None:
    """A value for 2 to n - 1 classes, equal to that of scikit-learn, and none elsewhere."""
    Y = EMBEDDINGS[0]
    for classes in (1, 2, 3, N - 1, N):
        labels = np.minimum(np.arange(N), classes - 1)
        if 2 <= classes <= N - 1:
            assert dreval.silhouette(Y, labels=labels) == pytest.approx(silhouette_score(Y, labels))
            continue
        with pytest.raises(ValueError, match="Number of labels is"):
            silhouette_score(Y, labels)
        with pytest.raises(UndefinedMeasure):
            dreval.silhouette(Y, labels=labels)


def test_batches_of_one_point() -> None:
    """Measures of batches raise an error where each point is a batch."""
    for name in BATCHED:
        with pytest.raises(UndefinedMeasure, match="batch"):
            values(name, np.arange(N) % 3, np.arange(N))


def test_an_evaluation_has_the_reason_in_its_rows() -> None:
    """Values are missing, with the reason; other measures have theirs."""
    names = ["silhouette", "neighborhood_hit", "graph_connectivity", "class_aware_continuity", "trustworthiness"]
    table = dreval.Evaluation(X, {"e": EMBEDDINGS[0]}, labels=np.arange(N), random_state=0).run(names, None).table
    table = table.set_index("measure")
    assert table.loc[names[:-1], "value"].isna().all()
    assert table.loc[names[:-1], "note"].str.contains("each point is a class of its own").all()
    assert np.isfinite(table.loc["trustworthiness", "value"])


@pytest.mark.parametrize("ci", ["points", "subsampling"])
def test_one_pair_of_points_in_a_class(ci: str) -> None:
    """Where leaving out points leaves classes of one point the value stays, and the interval has its reason."""
    labels = np.maximum(np.arange(N) - 1, 0)
    names = ["silhouette", "neighborhood_hit", "distance_consistency", "label_retrieval_auc"]
    table = dreval.Evaluation(X, {"e": EMBEDDINGS[0]}, labels=labels, random_state=0).run(names, None, ci).table
    assert table["value"].notna().all()
    assert table.set_index("measure").loc["silhouette", "value"] == pytest.approx(
        silhouette_score(EMBEDDINGS[0], labels)
    )
