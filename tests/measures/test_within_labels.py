"""Measures of batches within labels and of the variance they explain: other programs, plain twins, hand counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass
from dreval.registry import MEASURES

ORACLES = Path(__file__).parents[1] / "validation" / "oracles"
CASES = json.loads((ORACLES / "scib_metrics_cells.json").read_text("utf-8"))["cases"]
CI_LISI = json.loads((ORACLES / "ci_lisi.json").read_text("utf-8"))
UNTIED_CASE = pytest.mark.parametrize("number", [0, 1])
NAMES = ["bras", "cilisi", "kbet_per_label", "pcr", "pcr_comparison"]


def _cells(case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates, labels and batches of a stored case."""
    return np.array(case["Y"]), np.array(case["labels"]), np.array(case["batch"])


def _wide(Y: np.ndarray, batch: np.ndarray) -> np.ndarray:
    """Return the data that make_scib_metrics.py has for these points."""
    return np.c_[Y + 6.0 * np.c_[batch == 0, batch == 1], np.sin(Y)]


def points(seed: int = 0, n: int = 72) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates away from the origin, three labels and three batches, two of which the last label has."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    batch = np.where(labels == 2, 1 + np.arange(n) // 3 % 2, np.arange(n) // 3 % 3)
    return rng.normal(size=(n, 2)) + 4.0 + labels[:, None] + np.c_[batch == 0, batch == 1], labels, batch


@pytest.mark.parametrize("number", [0, 1, 2])
def test_values_are_those_of_scib_metrics(number: int) -> None:
    """BRAS and shares of the variance are those of scib-metrics 0.6.1, with many ties in the third case."""
    Y, labels, batch = _cells(CASES[number])
    variables = {"labels": labels, "batch": batch}
    values = {
        "bras_euclidean": dreval.bras(Y, **variables, embedding_distance="euclidean"),
        "utils.principal_component_regression": dreval.pcr(Y, batch=batch),
        "pcr_comparison": dreval.pcr_comparison(_wide(Y, batch), Y, batch=batch),
    }
    values |= {"bras": dreval.bras(Y, **variables)} if number < 2 else {}  # the third has a point at the origin
    for name, value in values.items():
        assert value == pytest.approx(CASES[number][name], abs=1e-13), name


def test_scib_metrics_drops_distances_to_the_batch_of_a_point_at_the_origin() -> None:
    """Its value there is that of widths 0 in this batch and label, and of sums without the distances to it."""
    Y, labels, batch = _cells(CASES[2])
    label, hidden = (codes[~Y.any(axis=1)].item() for codes in (labels, batch))
    means = [dreval.bras(Y[labels == c], labels=labels[labels == c], batch=batch[labels == c]) for c in (1, 2)]
    Z, codes = Y[labels == label], batch[labels == label]
    Z, codes = np.r_[Z[codes != hidden], Z[codes == hidden]], np.r_[codes[codes != hidden], codes[codes == hidden]]
    outside = int((codes != hidden).sum())
    D, size = cdist(Z[:outside], Z[:outside], "cosine"), np.bincount(codes)[codes[:outside]]
    same = codes[:outside, None] == codes[:outside]
    a, b = (D * same).sum(axis=1) / (size - 1), (D * ~same).sum(axis=1) / (len(Z) - size)
    mixed = (1 - np.abs(b - a) / np.maximum(a, b)).sum() + len(Z) - outside
    assert np.mean([mixed / len(Z), *means]) == pytest.approx(CASES[2]["bras"], abs=1e-12)


def test_a_point_at_the_origin_has_no_direction() -> None:
    """BRAS with cosine distances has no value there; with Euclidean distances it has."""
    Y, labels, batch = _cells(CASES[2])
    Y[0] = 0.0
    with pytest.raises(UndefinedMeasure, match="must not have a point at the origin, which has no direction"):
        dreval.bras(Y, labels=labels, batch=batch)
    assert 0.0 < dreval.bras(Y, labels=labels, batch=batch, embedding_distance="euclidean") < 1.0


@UNTIED_CASE
def test_kbet_of_labels_is_a_test_of_scipy(number: int) -> None:
    """Neighborhoods within a label, of a quarter of the mean batch (10 to 70) and the point, by scipy's test."""
    Y, labels, batch = _cells(CASES[number])
    shares = []
    for label in range(3):
        Z, codes = Y[labels == label], np.unique(batch[labels == label], return_inverse=True)[1]
        counts = np.bincount(codes)
        size = min(70, max(10, int(counts.mean() // 4))) + 1
        near = np.argsort(cdist(Z, Z), axis=1)[:, :size]
        expected = size * counts / len(Z)
        observed = [np.bincount(codes[row], minlength=len(counts)) for row in near]
        shares.append(np.mean([stats.chisquare(row, expected).pvalue >= 0.05 for row in observed]))
    assert dreval.kbet_per_label(Y, labels=labels, batch=batch) == pytest.approx(np.mean(shares), abs=1e-12)


@UNTIED_CASE
def test_cilisi_is_that_of_r(number: int) -> None:
    """scIntegrationMetrics gives the same of 3 p - 1 neighbors, to its tolerance; its p neighbors weigh the same."""
    Y, labels, batch = _cells(CASES[number])
    ours = dreval.cilisi(Y, labels=labels, batch=batch, perplexity=CI_LISI["perplexity"])
    assert ours == pytest.approx(CI_LISI["three_times"][number], abs=2e-5)
    values = []
    for label in range(3):
        Z, codes = Y[labels == label], batch[labels == label]
        near = np.argsort(cdist(Z, Z), axis=1)[:, 1 : CI_LISI["perplexity"] + 1]
        shares = np.stack([(codes[near] == b).mean(axis=1) for b in np.unique(codes)])
        values.append((1 / np.square(shares).sum(axis=0) - 1) / (len(shares) - 1))
    assert np.concatenate(values).mean() == pytest.approx(CI_LISI["its_own"][number], abs=5e-3)
    assert abs(ours - CI_LISI["its_own"][number]) > 0.01


@given(seed=st.integers(0, 60), n=st.integers(45, 75))
def test_plain_twins(seed: int, n: int) -> None:
    """Values are those of loops over points, of kBET and LISI of each label, and of a regression of components."""
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression

    Y, labels, batch = points(seed, n)
    variables = {"labels": labels, "batch": batch}
    for distance in ("cosine", "euclidean"):
        means = []
        for label in range(3):
            D, codes = cdist(*[Y[labels == label]] * 2, distance), batch[labels == label]
            widths = []
            for i in range(len(D)):
                same = (codes == codes[i]) & (np.arange(len(D)) != i)
                a, b = D[i, same].mean(), D[i, codes != codes[i]].mean()
                widths.append((b - a) / max(a, b))
            means.append(1 - np.abs(widths).mean())
        assert dreval.bras(Y, **variables, embedding_distance=distance) == pytest.approx(np.mean(means), abs=1e-10)

    parts = [(Y[labels == label], batch[labels == label]) for label in range(3)]
    shares = [dreval.kbet(Z, batch=codes, size=8, alpha=0.2) for Z, codes in parts]
    assert dreval.kbet_per_label(Y, **variables, size=8, alpha=0.2) == pytest.approx(np.mean(shares), abs=1e-12)
    lisi = [len(Z) * dreval.ilisi(Z, batch=codes, perplexity=4) for Z, codes in parts]
    assert dreval.cilisi(Y, **variables, perplexity=4) == pytest.approx(np.sum(lisi) / n, abs=1e-12)

    scores, indicators = PCA().fit(Y), np.eye(3)[batch]
    components = scores.transform(Y)
    explained = [LinearRegression().fit(indicators, column).score(indicators, column) for column in components.T]
    share = np.average(explained, weights=scores.explained_variance_)
    assert dreval.pcr(Y, batch=batch) == pytest.approx(share, abs=1e-10)
    assert dreval.pcr_comparison(Y, Y[:, :1], batch=batch) == pytest.approx(
        max(0.0, 1 - dreval.pcr(Y[:, :1], batch=batch) / share), abs=1e-10
    )


def test_batches_in_pairs_are_seen_by_bras_alone() -> None:
    """Four batches overlap in two pairs that lie apart: the nearest other batch hides it, all others show it."""
    rng = np.random.default_rng(0)
    batch, labels = np.arange(200) % 4, np.zeros(200, int)
    Y = rng.normal(size=(200, 2)) + np.array([[40.0, 0.0], [0.0, 40.0]])[batch // 2]
    variables = {"labels": labels, "batch": batch}
    assert dreval.silhouette_batch(Y, **variables) > 0.85
    assert dreval.bras(Y, **variables, embedding_distance="euclidean") < 0.4
    assert dreval.bras(Y, **variables) < 0.4


def test_hand_counts() -> None:
    """Four points on a line; the only point of a batch has width 0; a quarter turn has the cosine distance 1."""
    Y, labels = np.array([[1.0], [2.0], [4.0], [5.0]]), np.zeros(4, int)
    # batches a a b b: own 1, 1, 1, 1; others 3.5, 2.5, 2.5, 3.5
    expected = np.mean([1 / 3.5, 1 / 2.5, 1 / 2.5, 1 / 3.5])
    assert dreval.bras(Y, labels=labels, batch=list("aabb"), embedding_distance="euclidean") == pytest.approx(
        expected, abs=1e-12
    )
    # batches a a a b: own 2, 1.5, 2.5; others 4, 3, 1
    expected = np.mean([2 / 4, 1.5 / 3, 1 - 1.5 / 2.5, 1.0])
    assert dreval.bras(Y, labels=labels, batch=list("aaab"), embedding_distance="euclidean") == pytest.approx(
        expected, abs=1e-12
    )
    turned = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 1.0]])
    assert dreval.bras(turned, labels=labels, batch=list("aabb")) == pytest.approx(0.0, abs=1e-12)
    assert dreval.bras(turned, labels=labels, batch=list("abab")) == pytest.approx(0.5, abs=1e-12)  # own 1, others 1/2
    assert dreval.bras(Y, labels=labels, batch=list("abab")) == 1.0  # one direction: all distances are 0
    assert dreval.pcr(Y, batch=list("aabb")) == pytest.approx(9 / 10, abs=1e-12)
    assert dreval.pcr(Y, batch=list("abba")) == 0.0


@pytest.mark.parametrize("name", ["cilisi", "pcr", "pcr_comparison"])
def test_values_without_each_point(name: str) -> None:
    """Values without a point are those of the other points; NaN without the last point of the second batch."""
    Y, labels, batch = points(1, 45)
    X = _wide(Y, batch)
    if name != "cilisi":
        batch = np.where(np.arange(45) == 7, 1, 0)
    parameters = {"perplexity": 4, "min_points": 10} if name == "cilisi" else {}
    view = replace(neighbor_pass(X, {"Y": Y}, k=5)["Y"], labels=labels, batch=batch)
    for points_of_view in [view] if name != "pcr" else [view, view.shuffled(np.random.default_rng(0))]:
        without = MEASURES.card(name).without(points_of_view, *parameters.values())
        for i in range(45):
            stay = np.arange(45) != i
            options = {"batch": batch[stay]} | ({"labels": labels[stay]} if name == "cilisi" else {})
            tables = [X[stay]] if name == "pcr_comparison" else []
            if len(set(batch[stay])) == 1:
                assert np.isnan(without[i])
            else:
                value = getattr(dreval, name)(*tables, points_of_view.Y[stay], **options, **parameters)
                assert without[i] == pytest.approx(value, abs=1e-10)


def test_notes_and_refusals() -> None:
    """Labels that are left out are counted; nothing remains: an error. Shares of the variance are in the note."""
    Y, labels, batch = points(0, 72)
    rare = np.where(np.arange(72) < 3, 7, labels)
    ev = dreval.Evaluation(_wide(Y, batch), {"e": Y}, labels=rare, batch=batch, random_state=0)
    table = ev.run(NAMES, None, None).table.set_index("measure")
    assert "fewer than 10 points are left out: 1" in table.loc["cilisi", "note"]
    assert "3 labels have too few points for this perplexity: down to 7 in 23 points" in table.loc["cilisi", "note"]
    assert "or with too few for a test that can reject are left out: 1" in table.loc["kbet_per_label", "note"]
    assert "the batches explain 0." in table.loc["pcr_comparison", "note"]
    single = {"labels": batch, "batch": batch}
    for name in ("bras", "cilisi", "kbet_per_label"):
        with pytest.raises(UndefinedMeasure, match="`batch` must have a label of several batches and"):
            getattr(dreval, name)(Y, **single)
    with pytest.raises(UndefinedMeasure, match="`size` must leave out enough points of a label"):
        dreval.kbet_per_label(Y, labels=labels, batch=batch, size=24)
    with pytest.raises(UndefinedMeasure, match="`alpha` must be less than 1"):
        dreval.kbet_per_label(Y, labels=labels, batch=batch, alpha=1.0)
    with pytest.raises(InputError, match="`min_points` must be an integer >= 3"):
        dreval.cilisi(Y, labels=labels, batch=batch, min_points=2)
    with pytest.raises(UndefinedMeasure, match="must not have all points at one place"):
        dreval.pcr(np.ones((6, 2)), batch=list("aaabbb"))
    with pytest.raises(UndefinedMeasure, match="must have batches with different means"):
        dreval.pcr_comparison(np.array([[0.0], [1.0], [1.0], [0.0]]), Y[:4], batch=list("aabb"))


def test_intervals_and_groups() -> None:
    """Intervals hold their value; donors are left out as a whole; what has no interval has its reason."""
    Y, labels, batch = points(3, 144)
    donors = np.arange(144) // 3 % 12
    noise = np.random.default_rng(4).normal(size=Y.shape)
    ev = dreval.Evaluation(_wide(Y, batch), {"Y": Y, "noise": noise}, labels=labels, batch=batch, random_state=0)
    nested = dreval.Evaluation(
        _wide(Y, batch), {"Y": Y}, labels=labels, batch=batch, groups=donors, random_state=0
    ).run(NAMES, None, "points")
    table = ev.run(NAMES, None, "points").table.set_index(["embedding", "measure"])
    of_groups = nested.table.set_index("measure")
    for name in NAMES:
        row = table.loc[("Y", name)]
        if name == "kbet_per_label":
            assert np.isnan(row["conf_low"])
            assert "few neighborhoods that do not overlap" in row["note"]
            assert np.isnan(of_groups.loc[name, "conf_low"])
            continue
        assert row["conf_low"] < row["value"] < row["conf_high"]
        assert of_groups.loc[name, "value"] == row["value"]
        assert of_groups.loc[name, "conf_low"] < row["value"] < of_groups.loc[name, "conf_high"]
    cut = table.loc[("Y", "pcr")]
    assert cut["chance"] == pytest.approx(2 / 143, abs=1e-15)
    noisy = table.loc[("noise", "pcr")]
    assert noisy["value"] < 0.06
    assert table.loc[("noise", "bras"), "value"] > table.loc[("Y", "bras"), "value"]


def test_a_comparison_that_is_cut_off_has_no_interval() -> None:
    """Where the batches explain more than in the data the value is 0, without an interval, with the reason."""
    Y, _, batch = points(0, 60)
    shifted = Y + 5.0 * batch[:, None]
    row = dreval.Evaluation(Y, {"e": shifted}, batch=batch, random_state=0).run("pcr_comparison", None, "points").table
    row = row.iloc[0]
    assert row["value"] == 0.0
    assert np.isnan(row["conf_low"])
    assert "must leave the batches less of the variance than the data" in row["note"]


def test_values_do_not_depend_on_threads() -> None:
    """One and three threads give the same bits."""
    Y, labels, batch = points(2, 150)
    for distance in ("cosine", "euclidean"):
        options = {"labels": labels, "batch": batch, "embedding_distance": distance}
        assert dreval.bras(Y, **options, n_jobs=1) == dreval.bras(Y, **options, n_jobs=3)
    assert_allclose(dreval.bras(1e3 * Y, **options), dreval.bras(Y, **options), rtol=1e-12)
