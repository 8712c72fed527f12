"""``dreval.score``: the values of an evaluation without chance levels, intervals and tests."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from numpy.testing import assert_array_equal

import dreval
from dreval.errors import InputError, InputWarning, UndefinedMeasure, UnknownKeyword, UnknownName
from dreval.registry import MEASURES

N = 60
X = np.random.default_rng(0).normal(size=(N, 4)) + 2.0 * np.arange(N)[:, None] % 3
Y = X[:, :2]
LABELS, BATCH = np.array(list("abc"))[np.arange(N) % 3], np.arange(N) % 2
PARTLY = np.where(np.arange(N) < 10, None, LABELS)
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "variables": {"labels": LABELS, "batch": BATCH},
    "some labels": {"labels": PARTLY},
    "settings": {"n_neighbors": 5, "metric": "cosine", "random_state": 3},
    "distances": {"metric": "precomputed"},
}
SINGLE_VALUES = [name for name in MEASURES if not MEASURES.card(name).curve]


def data_for(options: dict[str, Any]) -> np.ndarray:
    """Return the data, or their distances."""
    precomputed = options.get("metric") == "precomputed"
    return np.linalg.norm(X[:, None] - X[None], axis=2) if precomputed else X


@each("case", list(CASES))
def test_the_values_are_those_of_an_evaluation(case: str) -> None:
    """All measures with one value are exactly those of ``run`` without intervals; missing values have its reason."""
    options = {"random_state": 0} | CASES[case]
    names = [name for name in SINGLE_VALUES if MEASURES.card(name).level != "algorithm"]
    data = data_for(options)
    scores = dreval.score(data, Y, names, **options)
    with pytest.warns(InputWarning) if case != "variables" else pytest.warns(InputWarning, match="latent|numbers"):
        expected = dreval.Evaluation(data, Y, **options).run(names, None, None).tidy()

    assert list(scores) == expected["measure"].tolist()
    assert_array_equal(list(scores.values()), expected["value"])
    missing = scores.tidy()["value"].isna()
    for reason, text in zip(scores.tidy()["note"][missing], expected["note"][missing], strict=True):
        assert text.replace("`data`", "`X`").startswith(reason.rstrip("."))


def test_default_and_all_are_those_of_an_evaluation() -> None:
    """Curves are left out, and measures of methods have their value for a method."""
    for group in ("default", "all"):
        scores = dreval.score(X, "pca", group, labels=LABELS)
        expected = dreval.Evaluation(X, "pca", labels=LABELS, random_state=0).run(group, None, None).tidy()
        assert list(scores) == expected["measure"].tolist()
        assert_array_equal(list(scores.values()), expected["value"])


def test_one_name_gives_a_float() -> None:
    """It is the value in the record, and that of the plain function."""
    value = dreval.score(X, Y, "trustworthiness", n_neighbors=7)

    assert type(value) is float
    assert value == dreval.score(X, Y, ["trustworthiness"], n_neighbors=7)["trustworthiness"]
    assert value == pytest.approx(dreval.trustworthiness(X, Y, 7), abs=1e-12)
    assert dreval.score(X, Y, "silhouette", labels=LABELS) == dreval.silhouette(Y, labels=LABELS)


def test_one_name_without_a_value_raises_the_reason() -> None:
    """The error has the reason of the row."""
    with pytest.raises(UndefinedMeasure, match=r"silhouette.*needs labels"):
        dreval.score(X, Y, "silhouette")
    assert math.isnan(dreval.score(X, Y, ["silhouette"]).silhouette)


def test_one_name_warns_of_labels_that_are_missing() -> None:
    """A number has no notes, so that a warning says what it rests on."""
    with pytest.warns(InputWarning, match="50 labeled points of 60"):
        dreval.score(X, Y, "silhouette", labels=PARTLY)


def test_the_record_is_a_frozen_mapping() -> None:
    """Names, attributes and items give floats; it prints, is copied and is compared like a dict."""
    scores = dreval.score(X, Y, ["trustworthiness", "stress"])

    assert scores.stress == scores["stress"] == dict(scores)["stress"]
    assert scores == dict(scores) == pickle.loads(pickle.dumps(scores))
    assert "stress" in dir(scores)
    assert "stress" in scores
    assert "continuity" not in scores
    assert str(scores).startswith("60 points, k = 15: trustworthiness .")
    assert "lower is better" in repr(scores)
    assert "parameters" in str(scores.summary(full=True))
    assert "<table" in scores._repr_html_()
    assert scores.to_frame().loc["stress", "value"] == scores.stress
    with pytest.raises(AttributeError):
        scores.n = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="Did you mean 'stress'"):
        scores.stres  # noqa: B018 - the access raises
    with pytest.raises(UnknownName, match="Did you mean 'stress'"):
        scores["stres"]


REFUSED: dict[str, tuple[Any, str]] = {
    "curve": (
        lambda: dreval.score(X, Y, "r_nx"),
        r"must have one value: got 'r_nx', a curve. Call dreval\.r_nx\(X, Y\)",
    ),
    "two": (lambda: dreval.score(X, {"a": Y, "b": Y}), r"`Y` must be one embedding: got 2 embeddings"),
    "neighbors": (lambda: dreval.score(X, Y, n_neighbors=[5, 9]), "must be one number"),
    "labels": (lambda: dreval.score(X, LABELS), "`Y` must be coordinates, not a single column, which may be labels"),
    "rows": (lambda: dreval.score(X, Y[:9]), "`Y` must have one row per point"),
    "data": (lambda: dreval.score(X * np.nan, Y), "`X` must be finite|`X`"),
    "nothing": (lambda: dreval.score(X, Y, []), "must name something to compute"),
    "keyword": (lambda: dreval.score(X, Y, k=3), "Did you mean 'n_neighbors'"),
    "keyword of scikit-learn": (lambda: dreval.score(X, Y, y=LABELS), r"Call dreval.score\(X, Y, labels=y\)"),
    "keyword of Evaluation": (lambda: dreval.score(X, Y, use_rep="X_pca"), r"Call dreval.score\(adata.obsm"),
    "keyword of stability": (
        lambda: dreval.stability(X, "pca", use_rep="X_pca"),
        r"Call dreval.stability\(adata.obsm",
    ),
    "keyword of noise_test": (
        lambda: dreval.noise_test(X, "pca", layer="counts"),
        r"Call dreval.noise_test\(adata.layers",
    ),
    "keyword of sweep": (
        lambda: dreval.sweep(X, "tsne", {"perplexity": [5]}, use_rep="X_pca"),
        r"Call dreval.sweep\(adata.obsm\[\"X_pca\"\], umap.UMAP\(\), grid\)",
    ),
    "keyword of held_out_fidelity": (
        lambda: dreval.held_out_fidelity(X, "pca", layer="counts"),
        r"Call dreval.held_out_fidelity\(adata.layers",
    ),
    "keyword of scanpy": (lambda: dreval.Evaluation(X, basis="X_umap"), r'Call Evaluation\(adata, "X_umap"\)'),
}


@each("case", list(REFUSED))
def test_invalid_arguments_are_named(case: str) -> None:
    """Errors name X, Y and the arguments of ``score``; keywords of other packages have what is meant."""
    call, text = REFUSED[case]
    with pytest.raises((InputError, UnknownKeyword), match=text):
        call()


def test_rows_are_matched_by_name() -> None:
    """A shuffled frame with the row names of the data gives the same value."""
    names, order = [f"p{i}" for i in range(N)], np.random.default_rng(1).permutation(N)
    frame = pd.DataFrame(Y, names)
    value = dreval.score(pd.DataFrame(X, names), frame, "trustworthiness")

    assert dreval.score(pd.DataFrame(X, names), frame.iloc[order], "trustworthiness") == value


@pytest.mark.filterwarnings("always::UserWarning")
def test_data_and_embedding_that_are_exchanged_warn() -> None:
    """An embedding with more columns than the data was not reduced; the value is that of the arguments as passed."""
    rng = np.random.default_rng(5)
    table = rng.normal(size=(40, 5))
    Y = table[:, :2]
    calls = (lambda: dreval.trustworthiness(Y, table), lambda: dreval.score(Y, table, "trustworthiness"))
    for call in calls:
        with pytest.warns(InputWarning, match=r"^Y has as many columns as the data \(2\) or more"):
            call()
    assert "data.not_reduced" in {item.code for item in dreval.score(Y, table).notes}
    assert "data.not_reduced" not in {item.code for item in dreval.score(table, Y).notes}


def test_a_shuffled_frame_warns_that_rows_were_matched_by_name() -> None:
    """Row numbers of a new frame are matched to those of a shuffled one; arrays are matched by position."""
    table = pd.DataFrame(np.random.default_rng(6).normal(size=(40, 5))).sample(frac=1, random_state=0)
    fresh = pd.DataFrame(table.to_numpy()[:, :2])
    for call in (dreval.trustworthiness, lambda *tables: dreval.score(*tables, "trustworthiness")):
        with pytest.warns(InputWarning, match=r"Rows of `Y` .* its row names only count the rows"):
            value = call(table, fresh)
        assert value == dreval.trustworthiness(table.to_numpy(), fresh.to_numpy()[table.index])
        assert value < dreval.trustworthiness(table.to_numpy(), fresh.to_numpy()) - 0.1
