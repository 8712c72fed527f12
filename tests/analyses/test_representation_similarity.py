"""Similarity of representations against definitions, scipy, DADApy and calibrated-similarity; its record and errors."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from figure_reading import cut_off, overlapping
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

import dreval
from dreval.errors import DrevalError, InputError, MissingFile, UnknownName
from dreval.geometry._loops.similarity import common_counts, plain_common_counts
from dreval.geometry.similarity import SIMILARITIES, Pair, Representation, moved_items
from dreval.inference.permutation import JointNull, draw_permutations, upper_threshold

ORACLES = Path(__file__).resolve().parent.parent / "validation" / "oracles"
sys.path.insert(0, str(ORACLES))
from make_similarity import ALPHA, orders, representations  # noqa: E402 - lies beside the script that ran elsewhere

K = 5
METRICS = [
    ("euclidean", "euclidean"),
    ("cosine", "correlation"),
    ("precomputed", "euclidean"),
    ("cosine", "precomputed"),
    ("precomputed", "precomputed"),
]


def two_tables(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A table and another one that shares most of it."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 8))
    return A, np.c_[A[:, :5] + 0.5 * rng.normal(size=(n, 5)), rng.normal(size=(n, 3))]


def distances(X: np.ndarray, metric: str) -> np.ndarray:
    return squareform(pdist(X, "euclidean" if metric == "precomputed" else metric))


def unit(X: np.ndarray, metric: str) -> np.ndarray:
    """The rows that a metric compares."""
    X = X - X.mean(axis=1, keepdims=True) if metric == "correlation" else X
    return X / np.linalg.norm(X, axis=1, keepdims=True) if metric in ("cosine", "correlation") else X


def hsic_1(A: np.ndarray, B: np.ndarray) -> float:
    """The unbiased statistic of Song et al. (2012), Equation 5, times n (n - 3)."""
    n, A, B = len(A), A - np.diag(np.diag(A)), B - np.diag(np.diag(B))
    return (A * B).sum() + A.sum() * B.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (A @ B).sum()


def by_definition(A, B, metrics=("euclidean", "euclidean"), k=K, anchors=None):
    """Every statistic of two tables by its definition, larger for more similar ones."""
    (left, right), n = (distances(X, metric) for X, metric in zip((A, B), metrics, strict=True)), len(A)
    order_a, order_b = (np.argsort(D + np.diag(np.full(n, np.inf)), axis=1) for D in (left, right))
    rank_a, rank_b = np.argsort(order_a, axis=1) + 1, np.argsort(order_b, axis=1) + 1
    anchors = np.arange(n) if anchors is None else anchors
    part, upper = np.ix_(anchors, anchors), np.triu_indices(len(anchors), 1)
    P, Q = unit(A, metrics[0]), unit(B, metrics[1])
    kernels = P @ P.T, Q @ Q.T
    widest = max(P.shape[1], Q.shape[1])
    padded = [np.pad(X, ((0, 0), (0, widest - X.shape[1]))) for X in (P, Q)]
    sizes = [hsic_1(kernel, kernel) for kernel in kernels]
    return {
        "overlap": np.mean([len({*order_a[i, :k]} & {*order_b[i, :k]}) / k for i in range(n)]),
        "cka": hsic_1(*kernels) / math.sqrt(sizes[0] * sizes[1]),
        "rsa": spearmanr(left[part][upper], right[part][upper])[0],
        "procrustes": np.nan if "precomputed" in metrics else 1 - procrustes(*padded)[2],
        "to": 1 - 2 / n * np.mean([rank_b[i, order_a[i, 0]] for i in anchors]),
        "back": 1 - 2 / n * np.mean([rank_a[i, order_b[i, 0]] for i in anchors]),
    }


def table_of(X: np.ndarray, metric: str) -> np.ndarray:
    return distances(X, metric) if metric == "precomputed" else X


def pair_of(A, B, metrics=("euclidean", "euclidean"), k=K, anchors=None, width=12) -> Pair:
    anchors = np.arange(len(A)) if anchors is None else anchors
    sides = [Representation.of(table_of(X, m), m, anchors, width) for X, m in zip((A, B), metrics, strict=True)]
    return Pair(*sides, k)


@pytest.mark.parametrize("metrics", METRICS)
def test_every_statistic_is_its_definition(metrics: tuple[str, str]) -> None:
    """For each pair of metrics, for items as they are and permuted: brute force, scipy's Spearman and Procrustes."""
    A, B = two_tables(40)
    pair = pair_of(A, B, metrics)
    for order in (np.arange(40), np.random.default_rng(1).permutation(40)):
        expected = by_definition(A, B[order], metrics)
        assert_allclose(pair.statistics(order), [expected[name] for name in pair.columns], atol=1e-12)


def test_more_columns_than_items_change_nothing() -> None:
    """The triangular factor of wide tables has the same inner products."""
    A, B = np.random.default_rng(0).normal(size=(2, 20, 50))
    B[:, :30] = A[:, :30]
    pair, expected = pair_of(A, B), by_definition(A, B)
    assert pair.first.features.shape == (20, 20)
    assert_allclose(pair.statistics(), [expected[name] for name in pair.columns], atol=1e-12)


def test_statistics_of_anchors_are_their_definitions() -> None:
    """Ranks among all items from the anchors, distances between them, also where anchors are mapped to anchors."""
    A, B = two_tables(60)
    rng = np.random.default_rng(3)
    anchors = np.sort(rng.choice(60, 25, replace=False))
    pair, order = pair_of(A, B, anchors=anchors), np.arange(60)
    order[anchors] = rng.permutation(anchors)
    others = np.setdiff1d(order, anchors)
    order[others] = rng.permutation(others)
    assert pair.first.ranks.shape == (25, 60)
    for moved in (np.arange(60), order):
        expected = by_definition(A, B[moved], anchors=anchors)
        assert_allclose(pair.statistics(moved), [expected[name] for name in pair.columns], atol=1e-12)


@pytest.mark.parametrize("metrics", METRICS)
def test_values_without_each_item_are_recomputed_ones(metrics: tuple[str, str]) -> None:
    """All are exact, of Procrustes in few columns; to first order its values are near them."""
    A, B = two_tables(40)
    pair = pair_of(A, B, metrics)
    without = pair.without()
    missing = {"rsa", "procrustes"} if metrics[0] == metrics[1] == "precomputed" else set()
    missing |= {"procrustes"} if "precomputed" in metrics else set()
    assert set(without) == set(pair.columns) - missing
    for i in (0, 7, 39):
        stay = np.delete(np.arange(40), i)
        expected = by_definition(A[stay], B[stay], metrics)
        for name in without:
            assert_allclose(without[name][i], expected[name], atol=1e-12, err_msg=name)


def test_without_each_item_from_anchors() -> None:
    """Imbalance without an anchor, without another item, and without an item that is nearest to an anchor."""
    A, B = two_tables(40)
    anchors = np.arange(0, 40, 3)
    without = pair_of(A, B, anchors=anchors).without()
    for i in range(40):
        stay = np.delete(np.arange(40), i)
        kept_anchors = np.flatnonzero(np.isin(stay, anchors))
        expected = by_definition(A[stay], B[stay], anchors=kept_anchors)
        for name in ("to", "back"):
            assert_allclose(without[name][i], expected[name], atol=1e-12)


def test_variance_of_procrustes_to_first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The jackknife variance from values to first order is near that from recomputed ones, nearer for more items."""
    from dreval.inference.intervals import jackknife_variance

    errors = []
    for n in (200, 800):
        pair = pair_of(*two_tables(n))
        exact = jackknife_variance(pair.without()["procrustes"])
        with monkeypatch.context() as patch:
            patch.setattr("dreval.geometry.similarity.MAX_EXACT_SHAPES", 0)
            errors.append(abs(jackknife_variance(pair.without()["procrustes"]) / exact - 1))
    assert errors[0] < 0.06
    assert errors[1] < 0.4 * errors[0]


def test_values_are_those_of_the_measures_of_the_package() -> None:
    """Overlap, disparity, Spearman and imbalance as measures; CKA from the unbiased statistics of hsic_test."""
    A, B = two_tables(50)
    result = dreval.representation_similarity(A, B, random_state=0, n_neighbors=K)
    value = {name: result.of(name, "A", "B")["value"] for name in SIMILARITIES}
    assert value["overlap"] == pytest.approx(dreval.measures.neighborhood_overlap(A, B, K), abs=1e-12)
    assert value["procrustes"] == pytest.approx(dreval.measures.procrustes_disparity(A, B), abs=1e-12)
    assert value["rsa"] == pytest.approx(dreval.measures.spearman_distance(A, B), abs=1e-12)
    table = result.tidy().query("measure == 'imbalance'")
    expected = [dreval.measures.information_imbalance_missing(A, B), dreval.measures.information_imbalance_false(A, B)]
    assert_allclose(table["value"], expected, atol=1e-12)
    unbiased = [
        dreval.hsic_test(x, y, kernel="linear", method="exact", n_resamples=1, random_state=0).extra["unbiased"]
        for x, y in ((A, B), (A, A), (B, B))
    ]
    assert value["cka"] == pytest.approx(unbiased[0] / math.sqrt(unbiased[1] * unbiased[2]), abs=1e-12)


def test_imbalance_is_that_of_dadapy() -> None:
    """Both directions, with the ranks of all items."""
    stored = np.load(ORACLES / "information_imbalance.npz")
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(150, 6)) * np.linspace(2, 0.5, 6), 6)
    for key, Y in {"projection": X[:, :2], "square": X[:, :3] ** 2}.items():
        result = dreval.representation_similarity(X, Y, measures="imbalance", n_resamples=19, random_state=0)
        assert_allclose(result.tidy()["value"], stored[key], atol=1e-12)


@pytest.mark.parametrize("measure", ["overlap", "cka"])
def test_calibration_is_that_of_calibrated_similarity(measure: str) -> None:
    """Score, p-value and threshold of the same permutations, of single pairs and of the maximum over layers."""
    stored = json.loads((ORACLES / "similarity.json").read_text())["score, p, threshold"]
    tables = representations()
    columns = ["overlap", "cka"].index(measure)

    def null_of(other: str) -> JointNull:
        pair = pair_of(tables["first"], tables[other])
        null = np.array([pair.statistics(order) for order in orders()])
        return JointNull(pair.statistics()[[columns]], null[:, [columns]], False)

    nulls = {other: null_of(other) for other in ("second", "weak", "other")}
    layers = [nulls["weak"], nulls["other"]]
    nulls["layers"] = JointNull(
        np.concatenate([part.observed for part in layers]), np.hstack([part.null for part in layers]), False
    )
    for name, joint in nulls.items():
        result = joint.largest(range(len(joint.observed)))
        tau = upper_threshold(result, ALPHA)
        score = max(0.0, (result.observed - tau) / (1 - tau))
        assert_allclose([score, result.p_value, tau], stored[f"{measure} {name}"], atol=1e-6)


def test_p_values_and_scores_follow_from_the_permutations() -> None:
    """(b + 1) / (m + 1), the order statistic of observed and permuted values, and a score above 0 where p <= alpha."""
    A, B = two_tables(30)
    B = B + 2.5 * np.random.default_rng(5).normal(size=B.shape)
    result = dreval.representation_similarity(A, B, n_neighbors=K, n_resamples=39, alpha=0.1, random_state=4)
    drawn = draw_permutations(30, 39, 4, "representation similarity")
    null = pd.DataFrame([by_definition(A, B[order]) for order in drawn])
    observed = by_definition(A, B)
    for column, row in zip(observed, result.tidy().to_dict("records"), strict=True):
        values = np.sort(np.append(null[column], observed[column]))
        p, tau = (1 + (null[column] >= observed[column] - 1e-12).sum()) / 40, values[35]
        is_lower = row["direction"] == "lower"
        assert row["p_value"] == pytest.approx(p)
        assert row["threshold"] == pytest.approx(1 - tau if is_lower else tau, abs=1e-12)
        expected = (observed[column] - tau) / (1 - tau) if p <= 0.1 else 0.0
        assert row["calibrated"] == pytest.approx(expected, abs=1e-12)
        assert (row["calibrated"] > 0) == (p <= 0.1)
    assert 0 < (result.tidy()["calibrated"] > 0).sum() < 6


def test_layers_of_two_models_share_one_permutation() -> None:
    """The maximum over all pairs, with its null distribution, and p-values that are adjusted by it."""
    A, B = two_tables(30)
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(2, 30, 4))
    first, second = {"a1": A, "a2": noise[0]}, {"b1": B + 3 * rng.normal(size=B.shape), "b2": noise[1]}
    result = dreval.representation_similarity(
        first, second, measures=["cka"], n_resamples=59, random_state=7, n_neighbors=K
    )
    drawn = draw_permutations(30, 59, 7, "representation similarity")
    pairs = [(a, b) for a in first for b in second]
    null = np.array([[by_definition(first[a], second[b][order])["cka"] for a, b in pairs] for order in drawn])
    observed = np.array([by_definition(first[a], second[b])["cka"] for a, b in pairs])
    assert result.pairs == pairs
    assert_allclose(result.tidy()["value"], observed, atol=1e-12)
    largest = null.max(axis=1)
    assert_allclose(result.tidy()["p_adjusted"], [(1 + (largest >= value).sum()) / 60 for value in observed])
    assert_allclose(result.tidy()["p_value"], (1 + (null >= observed).sum(axis=0)) / 60)
    top = result.maxima.iloc[0]
    assert (top["first"], top["second"]) == pairs[int(observed.argmax())]
    assert top["p_value"] == pytest.approx((1 + (largest >= observed.max()).sum()) / 60)
    assert top["threshold"] == pytest.approx(np.sort(np.append(largest, observed.max()))[56])


def test_representations_of_one_dict_have_their_own_permutations() -> None:
    """The permutation of a pair is composed of both: with two representations it is one, with three two."""
    A, B = two_tables(30)
    C = np.random.default_rng(9).normal(size=(30, 3))
    options = {"measures": ["cka"], "n_resamples": 39, "random_state": 1, "n_neighbors": K}
    two = dreval.representation_similarity({"A": A, "B": B}, **options)
    assert_array_equal(two.tidy()["p_value"], dreval.representation_similarity(A, B, **options).tidy()["p_value"])
    three = dreval.representation_similarity({"A": A, "B": B, "C": C}, **options)
    from dreval.inference.permutation import Scheme, _permutation_source

    drawn = _permutation_source(Scheme("free", 30), 1, ("representation similarity",), 2)(0, 39)
    null = np.array([by_definition(B[left], C[right])["cka"] for left, right in drawn])
    row = three.of("cka", "B", "C")
    assert row["p_value"] == pytest.approx((1 + (null >= row["value"]).sum()) / 40)


def test_all_permutations_of_few_items_are_enumerated() -> None:
    """With 4! = 24 permutations p is a share of them, and the threshold an order statistic of all."""
    A = np.random.default_rng(0).normal(size=(4, 2))
    result = dreval.representation_similarity(A, A, measures="procrustes", n_neighbors=1, random_state=0).tidy()
    assert result["p_kind"].tolist() == ["exact"]
    assert result["p_value"].tolist() == [1 / 24]


def test_permutations_stay_within_groups_and_among_anchors() -> None:
    """Statistics that differ between groups alone are not significant; the chance level is that of permuted items."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 20)
    centers = 6 * rng.normal(size=(6, 4))
    A, B = (centers[groups] + rng.normal(size=(120, 4)) for _ in range(2))
    free = dreval.representation_similarity(A, B, random_state=0, n_resamples=99)
    within = dreval.representation_similarity(A, B, random_state=0, n_resamples=99, groups=groups)
    assert (free.tidy()["p_value"] <= 0.01).all()
    assert (within.tidy()["p_value"] > 0.01).all()
    assert within.tidy()["conf_low"].isna().all()
    assert "within 6 groups" in str(within.summary(full=True))
    assert within.of("overlap", "A", "B")["chance"] > 3 * free.of("overlap", "A", "B")["chance"]
    anchored = dreval.representation_similarity(A, B, random_state=0, n_resamples=99, groups=groups, anchors=60)
    assert anchored.tidy()["n_used"].tolist() == [120, 120, 60, 120, 60, 60]
    assert (anchored.tidy()["p_value"] > 0.01).all()
    assert "60 of 120 items" in str(anchored)


def test_items_are_matched_by_names() -> None:
    """Frames and distances with the same row names in another order give the values of ordered arrays."""
    A, B = two_tables(30)
    names = [f"item {i}" for i in range(30)]
    order = np.random.default_rng(0).permutation(30)
    frames = pd.DataFrame(A, names), pd.DataFrame(B, names).iloc[order]
    options = {"random_state": 0, "n_resamples": 19, "n_neighbors": K}
    plain, named = (dreval.representation_similarity(*tables, **options) for tables in ((A, B), frames))
    pd.testing.assert_frame_equal(plain.tidy(), named.tidy())
    assert named.augment()["id"].tolist() == [names[i] for i in plain.augment()["id"]]
    assert_array_equal(named.neighbors["B"], plain.neighbors["B"])
    square = [pd.DataFrame(distances(X, "euclidean"), names, names) for X in (A, B)]
    square[1] = square[1].iloc[order, order]
    matched = dreval.representation_similarity(*square, metric="precomputed", **options)
    assert_allclose(matched.of("cka", "A", "B")["value"], plain.of("cka", "A", "B")["value"], atol=1e-12)


def test_sparse_and_single_precision_tables() -> None:
    """A sparse table has the values of its dense one; float32 those of the same numbers as float64."""
    A, B = two_tables(40)
    A[np.abs(A) < 0.5] = 0
    options = {"random_state": 0, "n_resamples": 19, "metric": "cosine"}
    dense, thin = (dreval.representation_similarity(X, B, **options) for X in (A, sparse.csr_array(A)))
    assert_allclose(dense.tidy()["value"], thin.tidy()["value"], atol=1e-10)
    low, high = A.astype(np.float32), B.astype(np.float32)
    single = dreval.representation_similarity(low, high, **options).tidy()["value"]
    double = dreval.representation_similarity(low.astype(float), high.astype(float), **options).tidy()["value"]
    assert_array_equal(single, double)


def test_threads_change_nothing() -> None:
    """The table is equal to the last bit whatever the number of threads."""
    A, B = two_tables(60)
    results = [dreval.representation_similarity(A, B, random_state=0, n_resamples=99, n_jobs=jobs) for jobs in (1, 3)]
    pd.testing.assert_frame_equal(results[0].tidy(), results[1].tidy(), check_exact=True)


def test_equal_representations_have_perfect_values() -> None:
    """Value and calibrated score are perfect, and no interval is claimed where no item changes the value."""
    A, _ = two_tables(40)
    table = dreval.representation_similarity(A, 2 * A, random_state=0).tidy()
    assert_allclose(table["value"], [1, 1, 1, 0, 2 / 40, 2 / 40], atol=1e-12)
    assert_allclose(table["calibrated"][:4], 1, atol=1e-9)
    assert table["conf_low"][0] != table["conf_low"][0]


def test_measures_without_a_value_say_why() -> None:
    """Procrustes of distances; RSA and CKA of items that are all equally far from each other."""
    A, _ = two_tables(20)
    equal = np.ones((20, 20)) - np.eye(20)
    table = dreval.representation_similarity(A, equal, metric=("euclidean", "precomputed"), random_state=0).tidy()
    missing = table.set_index("measure")["value"].isna()
    assert missing[["cka", "rsa", "procrustes"]].all()
    assert not missing[["overlap", "imbalance"]].any()
    notes = table.set_index("measure")["note"]
    assert "coordinates on both sides" in notes["procrustes"]
    assert "equally far" in notes["rsa"]
    result = dreval.representation_similarity(A, equal, metric=("euclidean", "precomputed"), measures="rsa")
    assert "RSA is not defined" in str(result)
    assert result.maxima["value"].isna().all()


@pytest.mark.parametrize("seed", range(3))
def test_loops_are_their_definitions(seed: int) -> None:
    """The counts of common neighbors equal those of plain Python, for permuted items."""
    rng = np.random.default_rng(seed)
    lists = [np.argsort(rng.random((12, 12)), axis=1)[:, :5].astype(np.int32) for _ in range(2)]
    forward = rng.permutation(12)
    fast, plain = np.zeros((2, 5), np.int64)
    common_counts(*lists, forward, np.argsort(forward), fast)
    plain_common_counts(*lists, forward, np.argsort(forward), plain)
    assert_array_equal(fast, plain)


def test_moved_items_by_hand() -> None:
    """Item 2 exchanges its second neighbor, item 3 its first: the one whose nearest neighbor changed moved more."""
    first = np.array([[1, 2, 3], [0, 2, 3], [3, 1, 0], [2, 1, 4], [3, 2, 1]])
    second = np.array([[1, 2, 3], [2, 0, 3], [3, 4, 0], [0, 2, 1], [3, 2, 1]])
    moved = moved_items({"a": first, "b": second}, ("a", "b"), np.array(list("abcde")))
    assert moved["id"].tolist() == ["d", "c", "b", "a", "e"]
    assert moved["n_changed"].tolist() == [1, 1, 0, 0, 0]
    assert moved["left"].tolist() == ["e", "b", "", "", ""]
    assert moved["joined"].tolist() == ["a", "e", "", "", ""]
    assert_allclose(moved["moved_order"], [1 - (0 + 1 / 2 + 2 / 3) / 3, 1 - (1 + 1 / 2 + 2 / 3) / 3, 1 / 3, 0, 0])


def test_exchanged_items_moved_most() -> None:
    """Two items that were exchanged in the new representation are first, and the others keep most neighbors."""
    A, _ = two_tables(100)
    B = A + 0.05 * np.random.default_rng(1).normal(size=A.shape)
    far = [int(distances(A, "euclidean")[0].argmax()), 0]
    B[far] = B[far[::-1]]
    result = dreval.representation_similarity(A, B, random_state=0)
    assert {*result.augment().index[:2]} == {*far}
    assert (result.augment()["moved"].iloc[:2] > 0.8).all()
    assert result.augment("B", "A")["n_changed"].max() == result.augment()["n_changed"].max()


def test_a_saved_similarity_is_read_again(tmp_path: Path) -> None:
    """All tables, neighbors, names and notes are equal to the last bit, and so is the print."""
    A, B = two_tables(30)
    named = pd.DataFrame(A, [f"n{i}" for i in range(30)])
    for tables in ((named, B), ({"a": A, "b": B, "c": A[:, :2]},), ({"a": A}, {"b": B, "c": A[:, :2]})):
        result = dreval.representation_similarity(*tables, random_state=0, n_resamples=19)
        loaded = dreval.load_results(result.save(tmp_path / "s.dreval"))
        assert isinstance(loaded, dreval.records.similarity.RepresentationSimilarity)
        for name in ("table", "maxima", "curve"):
            pd.testing.assert_frame_equal(getattr(loaded, name), getattr(result, name), check_exact=True)
        pd.testing.assert_frame_equal(loaded.augment(), result.augment())
        assert str(loaded.summary(full=True)) == str(result.summary(full=True))
        assert (loaded.pairs, loaded.notes, loaded.call) == (result.pairs, result.notes, result.call)


@pytest.mark.parametrize("kind", ["matrix", "items", "curve"])
def test_figures_have_no_cut_or_overlapping_text(kind: str) -> None:
    """Each figure of two and of many representations."""
    A, B = two_tables(40)
    many = {f"layer {i}": A[:, : 8 - i] for i in range(5)} | {"a representation with a long name": B}
    for tables in ((A, B), (many,)):
        figure = dreval.representation_similarity(*tables, random_state=0, n_resamples=19).plot(kind)
        assert isinstance(figure, Figure)
        assert not cut_off(figure)
        assert not overlapping(figure)


def test_print_and_report_fit(tmp_path: Path) -> None:
    """The print has 80 columns, the answer first; the page and the text have the same answer."""
    A, B = two_tables(40)
    result = dreval.representation_similarity({f"layer {i}": A[:, : 8 - i] for i in range(5)}, random_state=0)
    for record in (result, dreval.representation_similarity(A, B, random_state=0)):
        for text in (str(record), str(record.summary(full=True))):
            assert max(map(len, text.splitlines())) <= 80
        page = record.report(tmp_path / "r.html").read_text("utf-8")
        text = record.report(tmp_path / "r.md").read_text("utf-8")
        assert "Conclusions that do not follow" in page
        assert "Conclusions that do not follow" in text
    assert str(result).startswith("10 of 10 pairs are more alike than chance")
    assert result.matrix().shape == (5, 5)
    assert result.glance()["n_pairs"].tolist() == [10]


def test_bad_input_has_one_clear_error(tmp_path: Path) -> None:
    """Each error names the argument; nothing is computed."""
    A, B = two_tables(30)
    gap = B.copy()
    gap[4, 1] = np.nan
    zeros = B.copy()
    zeros[2] = 0
    frame = pd.DataFrame(A, [f"n{i}" for i in range(30)])
    other_names = pd.DataFrame(B, [f"n{i}" for i in range(5, 35)])
    similarity = dreval.representation_similarity
    cases = [
        (lambda: similarity(A, B[:20]), "B"),
        (lambda: similarity(A, gap), "B"),
        (lambda: similarity(gap, A), "A"),
        (lambda: similarity(A, zeros, metric="cosine"), "B"),
        (lambda: similarity(frame, other_names), "B"),
        (lambda: similarity({"x": A, "y": gap}), "A['y']"),
        (lambda: similarity(A), "B"),
        (lambda: similarity({"x": A}), "B"),
        (lambda: similarity({"x": A}, {"x": B}), "B"),
        (lambda: similarity(A, B, metric=("cosine", "euclidean", "cosine")), "metric"),
        (lambda: similarity(A, B, metric={"A": "cosine"}), "metric"),
        (lambda: similarity(A, B, metric="manhattan"), "metric"),
        (lambda: similarity(A, B, metric=("euclidean", "precomputed")), "B"),
        (lambda: similarity(A, B, measures=["cca"]), "measures"),
        (lambda: similarity(A, B, measures=[]), "measures"),
        (lambda: similarity(A, B, n_neighbors=30), "n_neighbors"),
        (lambda: similarity(A, B, n_neighbors=[5, 10]), "n_neighbors"),
        (lambda: similarity(A, B, anchors=31), "anchors"),
        (lambda: similarity(A, B, n_resamples=10), "n_resamples"),
        (lambda: similarity(A, B, groups=np.zeros(30)), "groups"),
        (lambda: similarity(A, B, groups=np.arange(20)), "groups"),
        (lambda: similarity(A, str(tmp_path / "missing.npy")), "B"),
    ]
    for call, argument in cases:
        with pytest.raises(DrevalError) as caught:
            call()
        assert caught.value.argument == argument, str(caught.value)
        assert isinstance(caught.value, InputError | UnknownName | MissingFile)


def test_requests_of_a_record_are_checked() -> None:
    """Unknown measures, representations and kinds of figures are refused by name."""
    A, B = two_tables(30)
    result = dreval.representation_similarity(A, B, measures=["cka"], random_state=0, n_resamples=19)
    for call in (
        lambda: result.matrix("overlap"),
        lambda: result.augment("A", "C"),
        lambda: result.augment("A", "A"),
        lambda: result.plot("map"),
        lambda: result.of("cka", "A", "C"),
    ):
        with pytest.raises(DrevalError):
            call()


FEW = {"n_resamples": 19, "random_state": 0}


def test_a_named_column_of_groups_is_a_coordinate_of_no_table() -> None:
    """Whether B has the column of groups of A or not, values are equal; another group of an item is an error."""
    A, B = two_tables(60)
    kinds = np.random.default_rng(0).integers(5, size=60) * 10
    frames = [pd.DataFrame(X).add_prefix("v") for X in (A, B)]
    first, other = frames[0].assign(g=kinds), frames[1].assign(g=kinds)
    plain = dreval.representation_similarity(frames[0], frames[1], groups=kinds, **FEW)
    for pair in ((first, frames[1]), (first, other), ({"a": first, "b": other},)):
        result = dreval.representation_similarity(*pair, groups="g", **FEW)
        assert_array_equal(result.tidy()["value"], plain.tidy()["value"])
        assert_array_equal(result.tidy()["p_value"], plain.tidy()["p_value"])
    other.loc[3, "g"] += 10
    with pytest.raises(InputError, match="in row 3 of `A`") as caught:
        dreval.representation_similarity(first, other, groups="g", **FEW)
    assert caught.value.argument == "groups"


def test_ids_and_row_names_that_disagree_are_never_silent() -> None:
    """B is matched by its row names, with a note; A in another order, and names that match in part, are errors."""
    A, B = two_tables(60)
    ids = [f"t{i}" for i in range(60)]
    frames = pd.DataFrame(A, ids), pd.DataFrame(B, ids)
    similarity = dreval.representation_similarity
    plain = similarity(*frames, **FEW)
    assert not plain.notes
    same = similarity(*frames, ids=ids, **FEW)
    assert not same.notes
    for first in (frames[0], A):
        matched = similarity(first, frames[1].iloc[::-1], ids=ids, **FEW)
        pd.testing.assert_frame_equal(matched.tidy(), plain.tidy())
        assert [item.code for item in matched.notes] == ["rows.matched"]
    other_names = [frame.set_axis([f"row {i}" for i in range(60)]) for frame in frames]
    renamed = similarity(other_names[0], other_names[1].iloc[::-1], ids=ids, **FEW)
    pd.testing.assert_frame_equal(renamed.tidy(), plain.tidy())
    assert sorted(renamed.augment()["id"]) == sorted(ids)
    cases = [
        (lambda: similarity(frames[0].iloc[::-1], frames[1], ids=ids, **FEW), "ids"),
        (lambda: similarity(frames[0], frames[1].rename(index={"t3": "x"}), ids=ids, **FEW), "B"),
        (lambda: similarity(A, other_names[1], ids=ids, **FEW), "B"),
    ]
    for call, argument in cases:
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.argument == argument


@pytest.mark.parametrize("n", [8, 20, 60])
def test_calibrated_imbalance_of_equal_tables_is_said_to_be_below_1(n: int, tmp_path: Path) -> None:
    """It is (1 - 2/n - tau) / (1 - tau), which legend, page, record and docstring state."""
    A, _ = two_tables(n)
    result = dreval.representation_similarity(A, A, n_resamples=99, random_state=0)
    rows = result.tidy().set_index("measure").loc["imbalance"]
    tau = 1 - rows["threshold"]
    assert_allclose(rows["calibrated"], (1 - 2 / n - tau) / (1 - tau), atol=1e-12)
    assert (rows["calibrated"] < 1 - 1 / n).all()
    for text in (str(result), result.report(tmp_path / "r.md").read_text("utf-8")):
        assert "(imbalance: less, its best value is 2/n)" in " ".join(text.split())
    layers = dreval.representation_similarity({"a": A, "b": A}, measures=["imbalance", "cka"], **FEW)
    assert np.isnan(np.diag(layers.matrix("imbalance", calibrated=True))).all()
    assert (np.diag(layers.matrix("cka", calibrated=True)) == 1).all()
    without = dreval.representation_similarity(A, A, measures="cka", **FEW)
    assert "0 where not significantly more than chance, else 1 where equal.\n" in str(without)


def test_the_call_runs_as_printed() -> None:
    """Of two tables, of a dict, and with ids and groups: the result is the same."""
    A, B = two_tables(30)
    ids, groups = [f"n{i}" for i in range(30)], np.arange(30) % 3
    layers = {"a": A, "b": B}
    calls = [((A, B), {}), ((layers,), {}), ((layers, {"c": A}), {"measures": ["cka"]})]
    calls += [((A, B), {"ids": ids, "groups": groups, "metric": ("cosine", "euclidean"), "n_neighbors": 3})]
    for tables, options in calls:
        result = dreval.representation_similarity(*tables, **options, **FEW)
        names = dict(zip("AB", tables, strict=False)) | {"ids": ids, "groups": groups, "dreval": dreval}
        repeated = eval(result.call, names)
        pd.testing.assert_frame_equal(repeated.tidy(), result.tidy())
        assert repeated.call == result.call


def test_the_matrix_has_the_first_measure_by_default() -> None:
    """Overlap, or the first of those that were computed."""
    A, B = two_tables(30)
    result = dreval.representation_similarity({"a": A, "b": B}, measures=["rsa", "cka"], **FEW)
    pd.testing.assert_frame_equal(result.matrix(), result.matrix("cka"))
    result = dreval.representation_similarity({"a": A, "b": B}, **FEW)
    pd.testing.assert_frame_equal(result.matrix(), result.matrix("overlap"))


@pytest.mark.parametrize("anchors", [None, 20])
def test_ties_have_a_note(anchors: int | None) -> None:
    """Repeated rows and grids are tied on one side at least; random numbers are not."""
    A, B = two_tables(40)
    repeated = np.repeat(B[:20], 2, axis=0)
    for tables in ((A, repeated), (repeated, A), (np.round(A), B)):
        codes = [item.code for item in dreval.representation_similarity(*tables, anchors=anchors, **FEW).notes]
        assert "ties.index" in codes
    codes = [item.code for item in dreval.representation_similarity(A, B, anchors=anchors, **FEW).notes]
    assert "ties.index" not in codes


def test_groups_of_one_item_are_named() -> None:
    """The error names the argument of the caller."""
    A, B = two_tables(30)
    with pytest.raises(InputError) as caught:
        dreval.representation_similarity(A, B, groups=np.arange(30))
    assert caught.value.argument == "groups"
    assert "block" not in str(caught.value)


def test_intervals_of_imbalance_are_within_its_range() -> None:
    """From 2/n to 2 - 2/n, here and in Evaluation, whose intervals would go below."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 4))
    B = A + 0.05 * rng.normal(size=(40, 4))
    rows = dreval.representation_similarity(A, B, measures="imbalance", **FEW).tidy()
    assert (rows["conf_low"] == 2 / 40).any()
    assert (rows["conf_low"].dropna() >= 2 / 40).all()
    names = ["information_imbalance_false", "information_imbalance_missing"]
    for intervals in ("points", "jackknife", "subsampling"):
        table = dreval.Evaluation(A, {"B": B}, random_state=0).run(names, None, ci=intervals).tidy(full=True)
        assert table["conf_low"].min() == 2 / 40


def test_equal_tables_have_no_moved_items(tmp_path: Path) -> None:
    """Neither print nor page lists them; one neighbor is singular."""
    A, B = two_tables(40)
    result = dreval.representation_similarity(A, A, **FEW)
    page = result.report(tmp_path / "r.md").read_text("utf-8")
    assert "Items that moved most" not in str(result)
    assert "Items that moved most" not in page
    assert "All 40 items keep all 15 nearest neighbors." in " ".join(str(result).split())
    assert "Items that moved most" in str(dreval.representation_similarity(A, B, **FEW))
    single = dreval.representation_similarity(A, B, n_neighbors=1, **FEW)
    assert " ".join(str(single).split()).startswith("Of the single nearest neighbors of items in A, ")
    assert "1 neighbors" not in single.report(tmp_path / "k.md").read_text("utf-8")


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Two paths with equal stems are named below their common folder; the same path twice is A and B."""
    for folder, X in zip(("v1", "v2"), two_tables(30), strict=True):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "emb.npy", X)
    paths = [str(tmp_path / folder / "emb.npy") for folder in ("v1", "v2")]
    assert dreval.representation_similarity(*paths, **FEW).names == ("v1/emb.npy", "v2/emb.npy")
    assert dreval.representation_similarity(paths[0], paths[0], **FEW).names == ("A", "B")


def test_the_print_explains_what_it_shows_and_nothing_else() -> None:
    """Of CKA alone the legend has no other measure, and the sentence on items names their neighbors."""
    A, B = two_tables(40)
    text = " ".join(str(dreval.representation_similarity(A, B, measures=["cka"], **FEW)).split())
    assert "Procrustes" not in text
    assert "imbalance" not in text
    assert re.search(r"\d+ of 40 items keep all 15 nearest neighbors; the one that moved most loses \d+ of 15\.", text)
    text = " ".join(str(dreval.representation_similarity(A, B, measures=["cka", "procrustes"], **FEW)).split())
    assert "Lower is better for Procrustes." in text


def test_the_print_of_a_dict_has_every_measure() -> None:
    """Below the matrix of the first measure: the most and the least similar pair by each of the others."""
    A, B = two_tables(40)
    tables = {"red": A, "green": B, "blue": np.random.default_rng(9).normal(size=(40, 3))}
    result = dreval.representation_similarity(tables, **FEW)
    lines = str(result).splitlines()
    for measure in ("cka", "rsa", "procrustes", "imbalance"):
        rows = result.tidy().query("measure == @measure").sort_values("value", ascending=False)
        rows = rows[::-1] if measure in ("procrustes", "imbalance") else rows
        title = {"cka": "CKA, unbiased"}.get(measure, measure)
        (place,) = [i for i, line in enumerate(lines) if line.upper().startswith(f"{title.upper()}  ")]
        for line, row, text in zip(
            lines[place : place + 2], (rows.iloc[0], rows.iloc[-1]), ("most", "least"), strict=True
        ):
            *_, end, first, second, value = re.split(r"\s{2,}", line.replace("\N{MINUS SIGN}", "-"))
            assert (end, first, second) == (f"{text} alike", row["first"], row["second"])
            assert float(value) == pytest.approx(row["value"], abs=5e-3)
    assert max(map(len, lines)) <= 80
    assert "The other measures" not in str(dreval.representation_similarity(tables, measures="overlap", **FEW))
    flat = {"red": np.eye(8), "green": np.eye(8), "blue": np.eye(8)}
    assert re.search(r"RSA +—", str(dreval.representation_similarity(flat, measures=["overlap", "rsa"], **FEW)))


def test_equal_tables_have_equal_texts() -> None:
    """1 up to rounding is written as 1, in the value, the interval and the calibrated score; it is 0 for few items."""
    A, _ = two_tables(40)
    rotated = A @ np.linalg.qr(np.random.default_rng(0).normal(size=(A.shape[1],) * 2))[0]
    text = str(dreval.representation_similarity(A, rotated, measures=["cka", "rsa"], **FEW))
    assert "1.000" not in text
    assert text.count("1.00") >= 4
    few = dreval.representation_similarity(A[:4], A[:4], measures="cka", **FEW).tidy().iloc[0]
    assert (few["value"], few["calibrated"]) == (pytest.approx(1), 0)
    assert few["p_value"] > 0.05
    full = dreval.representation_similarity(A, A, measures="overlap", n_neighbors=39, **FEW).tidy().iloc[0]
    assert (full["value"], full["calibrated"], full["p_value"]) == (1, 0, 1)


def test_errors_on_items_name_the_first_representation() -> None:
    """There are no data: B and the layers of a dict are compared with A, and only arguments that exist are named."""
    A, B = two_tables(40)
    left, right = (pd.DataFrame(X).add_prefix("c") for X in (A, B))
    renamed = right.set_axis([f"i{i + 3}" for i in range(40)])
    cases = [
        (
            (left.set_axis([f"i{i}" for i in range(40)]), renamed),
            "`B` must have the same ids as `A`, in any order: got",
        ),
        ((A, B[:-1]), "`B` must have one row per point of `A`: got 39 rows for 40 points"),
        (({"x": A, "y": B[:-1]},), "`A['y']` must have one row per point of `A['x']`"),
        ((left.assign(id=[f"d{i}" for i in range(40)]), B), "Name it as groups='id' or ids='id', or drop it; "),
    ]
    for tables, message in cases:
        with pytest.raises(InputError) as caught:
            dreval.representation_similarity(*tables, **FEW)
        assert message in str(caught.value)
        assert "the data" not in str(caught.value)
        assert "labels" not in str(caught.value)
