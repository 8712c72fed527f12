"""Functions that return a number without notes warn of the guesses that an evaluation reports as notes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.analyses.tsne_scores import data_and_map
from dreval.errors import InputWarning

N = 60
RNG = np.random.default_rng(0)
X = np.cumsum(RNG.normal(size=(N, 5)), axis=0) * 3
Y = X[:, :2]
ORDER = RNG.permutation(N)
FRAME = pd.DataFrame(X, columns=list("abcde"))
NAMED_FRAME = pd.DataFrame(X, [f"s{i}" for i in range(N)])
LABELS = np.array(list("ABC"))[np.arange(N) // 20]


def warnings_of(function: Any, *args: Any, **options: Any) -> list[str]:
    """Return the warnings of a function."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        function(*args, **options)
    return [str(record.message) for record in records if issubclass(record.category, InputWarning)]


FUNCTIONS = {
    "measure": lambda data: dreval.trustworthiness(data, Y),
    "map of t-SNE": lambda data: data_and_map(data, Y, "euclidean"),
    "runs": lambda data: dreval.stability(data, "pca", n_replicates=3, random_state=0),
    "test": lambda data: dreval.noise_test(data, "pca", n_replicates=19, random_state=0),
    "intrinsic dimension": lambda data: dreval.intrinsic_dimension(data, random_state=0),
    "graph recall": lambda data: dreval.graph_recall([[(i + 1) % N, (i + 2) % N] for i in range(N)], data),
    "generalization bound": lambda data: dreval.generalization_bound(data, 1),
    "columns": lambda data: dreval.column_importance(data, Y, n_neighbors=2, n_resamples=5, random_state=0),
    "parallel analysis": lambda data: dreval.parallel_analysis(data, n_resamples=19, random_state=0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (FRAME.assign(patient=ORDER), "Column 'patient' looks like row ids"),
        (np.column_stack([ORDER, X]), "Column '0' holds a different integer in every row"),
        (np.column_stack([np.arange(N), X]), "Column '0' counts the rows"),
        (FRAME.assign(sick=X[:, 0] > 0), "'sick' holds True and False"),
    ],
)
def test_columns_of_the_data_that_may_not_be_features(name: str, data: Any, message: str) -> None:
    """They change the number, with or without a record."""
    assert [text[: len(message)] for text in warnings_of(FUNCTIONS[name], data)] == [message]


def test_a_metric_that_does_not_reach_the_method() -> None:
    """The method ran on Euclidean distances."""
    (message,) = warnings_of(dreval.trustworthiness, X, "isomap", metric="cosine")
    assert message.startswith("isomap has no parameter `metric`")


def test_labels_that_become_one() -> None:
    """Values that differ in spaces, and a text for a missing value."""
    padded = np.where(np.arange(N) < 10, "A ", LABELS)
    (message,) = warnings_of(dreval.silhouette, Y, labels=padded)
    assert "differs from another only in spaces" in message
    left, second = warnings_of(dreval.silhouette, Y, labels=np.where(LABELS == "C", "NA", LABELS))
    assert "the text 'NA' stands for a missing value" in left
    assert "40 labeled points of 60" in second


@pytest.mark.parametrize("argument", ["Y", "labels"])
def test_names_of_the_data_alone(argument: str) -> None:
    """An array has no names, so that its rows can only go by position: no warning; tables with names are matched."""
    frame, named_embedding = NAMED_FRAME.iloc[ORDER], pd.DataFrame(Y, NAMED_FRAME.index)
    passed = {"Y": (Y, pd.Series(LABELS, NAMED_FRAME.index)), "labels": (named_embedding, LABELS)}[argument]
    assert warnings_of(dreval.label_trustworthiness, frame, passed[0], labels=passed[1]) == []
    labels = pd.Series(LABELS, NAMED_FRAME.index)
    expected = dreval.silhouette(named_embedding, labels=labels)
    assert dreval.silhouette(named_embedding.iloc[ORDER], labels=labels) == pytest.approx(expected)


def test_notes_without_an_effect_on_numbers_issue_no_warning() -> None:
    """Constant columns, repeated rows, a dominating column, and rows matched by names cause no warning."""
    data = pd.DataFrame(np.vstack([X[:-1], X[0]]), NAMED_FRAME.index).assign(
        none=0.5, most=100 * X[[*range(N - 1), 0], 0]
    )
    data.columns = data.columns.map(str)
    codes = {note.code for note in dreval.Evaluation(data, {}).data.notes}
    assert codes == {"data.constant", "data.one_column", "data.repeated"}
    assert warnings_of(dreval.trustworthiness, data, pd.DataFrame(Y, NAMED_FRAME.index).iloc[ORDER]) == []
