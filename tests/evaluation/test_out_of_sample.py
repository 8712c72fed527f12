"""New points on a map: every value against brute force from scipy's distances, intervals and flags against formulas."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from records.test_forged_files import forge
from scipy import sparse, stats
from scipy.spatial.distance import cdist
from statsmodels.stats.multitest import multipletests

import dreval
from dreval.errors import DrevalError, InputError, UnknownName
from dreval.geometry import streaming
from dreval.geometry.view import query_views
from dreval.glossary import TABLE_METRICS
from dreval.inference.conformal import conformal_p, conformal_rank, least_flagged

MEASURES = ("trustworthiness", "continuity", "neighborhood_overlap", "r_nx", "mrre_false", "mrre_missing")
METRIC_NAMES = [name for name in TABLE_METRICS if name != "precomputed"]


# The naive twin: sorted distances of one query at a time, and the formulas of the measures as they are written.


def order_of(distances):
    """Reference points by distance, those that are equal up to rounding by row number."""
    order = np.argsort(distances, kind="stable")
    runs, last = [], -np.inf
    for i in order:
        if distances[i] - last > 1e-9 * distances[i] and distances[i] - last > 1e-13:
            runs.append([])
        runs[-1].append(int(i))
        last = distances[i]
    return [i for run in runs for i in sorted(run)]


def scores_of_query(in_data, on_map, k):
    """All measures of one query from its distances to the n reference points."""
    by_data, by_map = order_of(in_data), order_of(on_map)
    n, near, mapped = len(in_data), by_data[:k], by_map[:k]
    r, s = ({point: t for t, point in enumerate(order, 1)} for order in (by_data, by_map))
    largest = k * (2 * n - 3 * k + 1) / 2 if k < n / 2 else (n - k) * (n - k + 1) / 2
    c = sum(abs(n - 2 * t + 2) / t for t in range(1, k + 1))
    overlap = len(set(near) & set(mapped)) / k
    return {
        "trustworthiness": 1 - sum(r[i] - k for i in set(mapped) - set(near)) / largest,
        "continuity": 1 - sum(s[i] - k for i in set(near) - set(mapped)) / largest,
        "neighborhood_overlap": overlap,
        "r_nx": (n * overlap - k) / (n - k),
        "mrre_false": sum(abs(r[i] - s[i]) / s[i] for i in mapped) / c,
        "mrre_missing": sum(abs(r[i] - s[i]) / r[i] for i in near) / c,
    }


def chance_of(n, k):
    """The chance levels, as the measures of n + 1 points have them."""
    t_and_c = 1 - (n - k) * (n - k + 1) / (n * (2 * n - 3 * k + 1)) if k < n / 2 else 1 - k / n
    c = sum(abs(n - 2 * t + 2) / t for t in range(1, k + 1))
    error = sum(sum(abs(r - t) for r in range(1, n + 1)) / n / t for t in range(1, k + 1)) / c
    return dict(zip(MEASURES, (t_and_c, t_and_c, k / n, 0.0, error, error), strict=True))


def assert_brute_force(record, in_data, on_map, k):
    """Every value of a record is that of the naive twin, to 1e-12."""
    naive = pd.DataFrame([scores_of_query(*pair, k) for pair in zip(in_data, on_map, strict=True)])
    assert_allclose(record.augment()[list(MEASURES)], naive[list(MEASURES)], rtol=0, atol=1e-12)
    table = record.tidy().set_index("measure")
    assert_allclose(table["value"], naive[list(MEASURES)].mean(), rtol=0, atol=1e-12)
    assert_allclose(table["chance"], [chance_of(in_data.shape[1], k)[name] for name in table.index], atol=1e-12)


@st.composite
def maps_with_queries(draw):
    """Reference points with a map, queries with coordinates, a number of neighbors and a metric; often with ties."""
    n, m, p, d = (draw(st.integers(low, high)) for low, high in ((4, 40), (1, 12), (2, 20), (1, 3)))
    rng, tied = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.booleans())
    shapes = ((n, p), (n, d), (m, p), (m, d))
    if tied:  # odd numbers and columns that differ: no row is zero or constant
        X, Y, X_new, Y_new = (2.0 * rng.integers(0, 3, shape) + 1 for shape in shapes)
        X[:, 0], X_new[:, 0] = 8.0, 8.0
        X[0, 1], Y[0] = 9.0, 9.0
    else:
        X, Y, X_new, Y_new = (rng.normal(size=shape) for shape in shapes)
    if draw(st.booleans()):
        shared = rng.integers(0, n, m)
        X_new[: m // 2] = X[shared[: m // 2]]  # queries that are reference points
    return X, Y, X_new, Y_new, draw(st.integers(1, n - 1)), draw(st.sampled_from(METRIC_NAMES))


@given(maps_with_queries())
def test_every_value_is_that_of_brute_force(case):
    """Also with ties, k >= n / 2, one query, and every metric."""
    X, Y, X_new, Y_new, k, metric = case
    in_data = cdist(X_new, X, {"manhattan": "cityblock"}.get(metric, metric))
    if metric in ("cosine", "correlation"):
        in_data = np.where(np.abs(in_data) < 1e-14, 0.0, in_data)
    record = dreval.out_of_sample(X, Y, X_new, Y_new, n_neighbors=k, metric=metric)
    assert_brute_force(record, in_data, cdist(Y_new, Y), k)


@given(maps_with_queries())
def test_distances_give_the_same(case):
    """The same distances, precomputed; and the population of a view counts the query."""
    X, Y, X_new, Y_new, k, _ = case
    D = cdist(X, X)
    record = dreval.out_of_sample(D, Y, cdist(X_new, X), Y_new, n_neighbors=k, metric="precomputed")
    assert_brute_force(record, cdist(X_new, X), cdist(Y_new, Y), k)
    assert query_views(X, {"": Y}, X_new, {"": Y_new}, k)[""].n == len(X) + 1


def example(n=120, m=30, c=0, p=5, seed=0):
    """A Gaussian cloud with its first columns as a map: reference, new points, and calibration."""
    X = np.random.default_rng(seed).normal(size=(n + m + c, p))
    Y = X[:, :2] + 0.1
    parts = [(X[start:stop], Y[start:stop]) for start, stop in ((0, n), (n, n + m), (n + m, n + m + c))]
    return parts if c else parts[:2]


def test_the_reference_points_have_the_values_of_an_evaluation():
    """In-sample values are those of the measures of the map, and the gap is their difference."""
    (X, Y), (X_new, Y_new) = example()
    table = dreval.out_of_sample(X, Y, X_new, Y_new, n_neighbors=9).tidy().set_index("measure")
    for name in MEASURES:
        value = dreval.r_nx(X, Y).loc[9] if name == "r_nx" else getattr(dreval, name)(X, Y, 9)
        assert_allclose(table.loc[name, "in_sample"], value, rtol=0, atol=1e-12)
    assert_allclose(table["gap"], table["in_sample"] - table["value"], rtol=0, atol=0)
    assert table.loc["mrre_false", "direction"] == "lower"


@pytest.mark.parametrize("metric", METRIC_NAMES)
def test_a_single_new_point_has_a_score(metric):
    """Whatever the metric, and also at the place of a reference point."""
    (X, Y), (X_new, Y_new) = example()
    for pair in ((X_new[:1], Y_new[:1]), (X[3:4], Y[3:4])):
        record = dreval.out_of_sample(X, Y, *pair, n_neighbors=7, metric=metric)
        in_data = cdist(pair[0], X, {"manhattan": "cityblock"}.get(metric, metric))
        assert_brute_force(record, np.where(np.abs(in_data) < 1e-14, 0.0, in_data), cdist(pair[1], Y), 7)


def test_one_pass_serves_several_maps_and_small_blocks_change_nothing(monkeypatch):
    """Views of two maps are those of each alone, from blocks of 16 rows and tiles of 8 queries, in float32 too."""
    (X, Y), (X_new, Y_new) = example(n=90)
    X, X_new = np.round(4 * X).astype(np.float32), np.round(4 * X_new).astype(np.float32)
    maps, new = {"a": Y, "b": -Y[:, :1]}, {"a": Y_new, "b": -Y_new[:, :1]}
    whole = query_views(X, maps, X_new, new, 12)

    def small_blocks(table, part=None):
        start, stop = (0, table.shape[0]) if part is None else (part.start, part.stop)
        return [slice(at, min(at + 16, stop)) for at in range(start, stop, 16)]

    monkeypatch.setattr(streaming, "TILE", 16)
    monkeypatch.setattr(streaming, "row_blocks", small_blocks)
    for name, map_view in query_views(X, maps, X_new, new, 12, n_jobs=2).items():
        alone = query_views(X.astype(float), {name: maps[name]}, X_new.astype(float), {name: new[name]}, 12)[name]
        for field in ("nearest_data", "nearest_embedding", "data_rank", "embedding_rank", "has_ties"):
            assert_array_equal(getattr(map_view, field), getattr(whole[name], field))
            assert_array_equal(getattr(map_view, field), getattr(alone, field))


def test_chained_ties_are_sorted_with_all_points_at_once():
    """Distances that differ by less than the tolerance, one after the other, are one run, in the order of rows."""
    steps = 1.0 + 2e-13 * np.arange(12)
    X = np.append(np.random.default_rng(0).permutation(steps), [3.0, 4.0, 5.0])[:, None]
    Y = np.arange(15.0)[:, None]
    view = query_views(X, {"": Y}, np.zeros((1, 1)), {"": np.array([[-1.0]])}, 5)[""]
    assert view.nearest_data[0].tolist() == [0, 1, 2, 3, 4]
    assert view.data_rank[0].tolist() == [1, 2, 3, 4, 5]
    assert view.has_ties[0]


def test_sparse_rows_and_frames_give_the_same():
    """A sparse matrix, and a frame whose new points have their columns in another order and their rows by name."""
    rng = np.random.default_rng(0)
    X, X_new = (rng.poisson(0.5, size) + np.eye(*size) for size in ((60, 40), (20, 40)))
    Y, Y_new = rng.normal(size=(60, 2)), rng.normal(size=(20, 2))
    expected = dreval.out_of_sample(X, Y, X_new, Y_new).augment()
    of_sparse = dreval.out_of_sample(sparse.csr_matrix(X), Y, sparse.csr_matrix(X_new), Y_new).augment()
    pd.testing.assert_frame_equal(of_sparse, expected)
    names, ids = [f"gene {j}" for j in range(40)], [f"cell {i}" for i in range(20)]
    frame = pd.DataFrame(X_new, index=ids, columns=names)[names[::-1]]
    shuffled = pd.DataFrame(Y_new, index=ids).iloc[::-1]
    of_frames = dreval.out_of_sample(pd.DataFrame(X, columns=names), Y, frame, shuffled).augment()
    assert of_frames["id"].tolist() == ids
    pd.testing.assert_frame_equal(of_frames.drop(columns="id"), expected.drop(columns="id"))


# Inference: intervals, bounds, p-values and flags.


def test_intervals_are_those_of_the_formulas():
    """Student's interval of the mean, and with groups the variance of sums over groups and G_eff - 1 degrees."""
    (X, Y), (X_new, Y_new) = example(m=60)
    groups = np.repeat([f"donor {g}" for g in range(8)], [3, 4, 5, 6, 8, 9, 11, 14])
    plain, grouped = (
        dreval.out_of_sample(X, Y, X_new, Y_new, groups=value, conf_level=0.9) for value in (None, groups)
    )
    for name in MEASURES:
        s, row, of_groups = plain.augment()[name], plain.of(name), grouped.of(name)
        expected = stats.t.interval(0.9, 59, s.mean(), s.std(ddof=1) / np.sqrt(60))
        assert_allclose([row["conf_low"], row["conf_high"]], expected, rtol=1e-12)
        sums = pd.Series(s - s.mean()).groupby(groups).sum()
        se = np.sqrt(8 / 7 * (sums**2).sum()) / 60
        freedom = 60**2 / sum(size**2 for size in (3, 4, 5, 6, 8, 9, 11, 14)) - 1
        expected = stats.t.interval(0.9, freedom, s.mean(), se)
        assert_allclose([of_groups["conf_low"], of_groups["conf_high"]], expected, rtol=1e-12)
        assert np.isnan(of_groups["bound"])
    assert grouped.augment()["group"].tolist() == groups.tolist()
    assert {note.code for note in grouped.notes} >= {"groups.few", "new.groups"}


def test_groups_are_a_column_of_the_new_points():
    """Its name, or its values, with distances too."""
    (X, Y), (X_new, Y_new) = example()
    donors = [f"d{i % 7}" for i in range(30)]
    frame = pd.DataFrame(X_new, columns=list("abcde")).assign(donor=donors)
    by_name = dreval.out_of_sample(pd.DataFrame(X, columns=list("abcde")), Y, frame, Y_new, groups="donor")
    by_value = dreval.out_of_sample(X, Y, X_new, Y_new, groups=donors)
    D = dreval.out_of_sample(cdist(X, X), Y, cdist(X_new, X), Y_new, groups=donors, metric="precomputed")
    pd.testing.assert_frame_equal(by_name.tidy(), by_value.tidy())
    pd.testing.assert_frame_equal(D.tidy(), by_value.tidy())
    assert by_name.recipe["groups"] == {
        "name": "donor",
        "count": 7,
        "effective": 900 / sum(n**2 for n in (5, 5, 4, 4, 4, 4, 4)),
    }


def test_distances_are_matched_by_name():
    """The columns of a frame of distances are in the order of the reference points."""
    (X, Y), (X_new, Y_new) = example()
    names = [f"p{i}" for i in range(120)]
    D = pd.DataFrame(cdist(X, X), index=names, columns=names)
    D_new = pd.DataFrame(cdist(X_new, X), columns=names)[names[::-1]]
    record = dreval.out_of_sample(D, Y, D_new, Y_new, metric="precomputed")
    pd.testing.assert_frame_equal(record.augment(), dreval.out_of_sample(X, Y, X_new, Y_new).augment())


def test_groups_of_one_point_have_the_interval_of_points():
    """To the last digits."""
    (X, Y), (X_new, Y_new) = example()
    columns = ["se", "conf_low", "conf_high"]
    plain, grouped = (dreval.out_of_sample(X, Y, X_new, Y_new, groups=g).tidy() for g in (None, np.arange(30)))
    assert_allclose(grouped[columns], plain[columns], rtol=1e-12)


def test_conformal_numbers_are_those_of_their_definitions():
    """The bound is the l-th smallest calibration score, p counts calibration scores, flags are Benjamini-Hochberg's."""
    (X, Y), (X_new, Y_new), (X_cal, Y_cal) = example(c=79, m=40)
    Y_new = np.vstack([Y_new[:12][::-1] * -2, Y_new[12:]])
    record = dreval.out_of_sample(
        X, Y, X_new, Y_new, n_neighbors=10, calibration=(X_cal, Y_cal), alpha=0.2, random_state=5
    )
    held_out = dreval.out_of_sample(X, Y, X_cal, Y_cal, n_neighbors=10).augment()
    points, rank = record.augment(), int(0.2 * 80)
    for name in MEASURES:
        ordered = np.sort(held_out[name])[:: -1 if record.of(name)["direction"] == "lower" else 1]
        assert record.of(name)["bound"] == ordered[rank - 1]
    t, cal = (table[["trustworthiness", "continuity"]].min(axis=1).to_numpy() for table in (points, held_out))
    low = (1 + (cal < t[:, None]).sum(axis=1)) / 80
    high = (1 + (cal <= t[:, None]).sum(axis=1)) / 80
    assert ((low <= points["p_value"]) & (points["p_value"] <= high)).all()
    assert_array_equal(points["flagged"], multipletests(points["p_value"], 0.2, "fdr_bh")[0])
    assert_array_equal(points["flagged"], record.flagged)
    assert record.flagged.any()
    assert record.n_needed == -(-40 // 16) == 3
    assert f"{record.flagged.sum()} of 40 new points" in str(record)


@given(st.integers(1, 400), st.integers(1, 400), st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.3]))
def test_the_printed_number_is_the_least_that_is_flagged(m, c, alpha):
    """r smallest p-values are rejected with r = that number and not with one fewer; l / (c + 1) is at most alpha."""
    least, smallest = least_flagged(m, c, alpha), 1 / (c + 1)
    for r in (least, least - 1):
        if 1 <= r <= m:
            p = np.append(np.full(r, smallest), np.ones(m - r))
            assert (smallest <= alpha * r / m * (1 + 1e-9)) == (r == least)
            rejected = multipletests(p, alpha * (1 + 1e-9), "fdr_bh")[0]
            assert rejected[:r].all() == (r == least)
    rank = conformal_rank(c, alpha)
    assert rank <= alpha * (c + 1) * (1 + 1e-9) < rank + 1


def test_p_values_of_tied_scores_are_uniform_and_reproduced():
    """With scores of three values each rank is as likely, the same seed gives the same p, and no order is favored."""
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, (4000, 5)).astype(float)
    p = np.array([conformal_p(row[4:], row[:4], rng)[0] for row in scores])
    counts = np.unique(p, return_counts=True)
    assert_allclose(counts[0], [0.2, 0.4, 0.6, 0.8, 1.0])
    assert stats.chisquare(counts[1]).pvalue > 1e-3
    (X, Y), new, cal = example(c=40, m=40)
    first, second, other = (
        dreval.out_of_sample(X, Y, *new, n_neighbors=1, calibration=cal, random_state=seed).augment()["p_value"]
        for seed in (1, 1, 2)
    )
    assert_array_equal(first, second)
    assert (first != other).any()


# What is missing says why; what cannot be read is refused.


def codes(record):
    """The codes of the notes of a record."""
    return {note.code for note in record.notes}


def test_what_is_missing_says_why():
    """No calibration, too few, nothing to flag, one point, equal scores, few groups, few points for "auto"."""
    (X, Y), new, cal = example(c=60)
    record = dreval.out_of_sample(X, Y, *new)
    assert "new.no_calibration" in codes(record)
    assert not {"p_value", "p_adjusted", "flagged"} & {*record.augment()}
    assert record.tidy()["bound"].isna().all()
    assert record.n_needed is None
    assert not record.flagged.any()
    few = dreval.out_of_sample(X, Y, *new, calibration=(cal[0][:8], cal[1][:8]))
    assert {"new.few_calibration", "new.no_flags"} <= codes(few)
    assert few.tidy()["bound"].isna().all()
    text = " ".join(str(few).split())
    assert "No new point can be flagged (false discovery rate 10 %): 8 calibration points are too few." in text
    assert "are flagged if at least" not in text
    assert not few.flagged.any()
    assert codes(dreval.out_of_sample(X, Y, *new, calibration=cal)) == {"new.few_carriers"}
    single = dreval.out_of_sample(X, Y, new[0][:1], new[1][:1])
    assert "new.single" in codes(single)
    assert single.tidy()["conf_low"].isna().all()
    same = dreval.out_of_sample(X, X, new[0], new[0])
    assert "new.equal" in codes(same)
    assert not any(name in str(note) for note in same.notes for name in MEASURES[2:])  # titles, not identifiers
    assert "out_of_sample(" in type(same).tidy.__doc__
    assert same.of("trustworthiness")["value"] == 1.0
    assert np.isnan(same.of("trustworthiness")["conf_low"])
    four = dreval.out_of_sample(X, Y, *new, groups=np.arange(30) % 4, calibration=cal)
    assert {"interval.few_groups", "new.groups", "new.unused_calibration"} <= codes(four)
    assert "There is no interval: the new points are of 4 groups, and at least 5" in " ".join(str(four).split())
    assert four.tidy()["conf_low"].isna().all()
    assert not four.has_conformal
    small = dreval.out_of_sample(X[:20], Y[:20], *new, n_neighbors="auto")
    assert "neighbors.auto" in codes(small)
    assert "neighbors.half" in codes(dreval.out_of_sample(X[:20], Y[:20], *new, n_neighbors=10))


def test_columns_of_maps_are_matched_by_name():
    """In another order they are reordered, other names go by position with a note, and a mixture is refused."""
    (X, Y), (X_new, Y_new), (X_cal, Y_cal) = example(c=60)
    expected = dreval.out_of_sample(X, Y, X_new, Y_new, calibration=(X_cal, Y_cal), random_state=0)
    frame = pd.DataFrame(Y, columns=["u", "v"])

    def record(*names, order=slice(None)):
        new, cal = (pd.DataFrame(part[:, order], columns=names) for part in (Y_new, Y_cal))
        return dreval.out_of_sample(X, frame, X_new, new, calibration=(X_cal, cal), random_state=0)

    swapped = record("v", "u", order=[1, 0])
    pd.testing.assert_frame_equal(swapped.augment(), expected.augment())
    pd.testing.assert_frame_equal(swapped.tidy(), expected.tidy())
    assert "new.map_columns" not in codes(swapped)
    others = record("x", "y")
    pd.testing.assert_frame_equal(others.tidy(), expected.tidy())
    texts = [str(note) for note in others.notes if note.code == "new.map_columns"]
    assert texts[0].startswith("Columns of `Y_new` ('x', 'y') were matched to those of the map ('u', 'v') by position")
    with pytest.raises(InputError, match=r"`Y_new` must have the columns of the map, 'u', 'v': got 'v', 'w'"):
        record("v", "w")


def test_intervals_stay_within_the_range_of_overlap():
    """Two sets of 15 of 20 points share 10: no interval of overlap and R_NX goes below."""
    rng, cut = np.random.default_rng(0), 0
    for _ in range(20):
        X, Y, X_new, Y_new = (rng.normal(size=shape) for shape in ((20, 3), (20, 2), (2, 3), (2, 2)))
        record = dreval.out_of_sample(X, Y, X_new, Y_new, n_neighbors=15)
        for name, least in (("neighborhood_overlap", 10 / 15), ("r_nx", (20 * 10 / 15 - 15) / 5)):
            row, scores = record.of(name), record.augment()[name]
            assert scores.min() >= least - 1e-12
            if np.isnan(row["conf_low"]):
                continue
            low = stats.t.interval(0.95, 1, scores.mean(), scores.std(ddof=1) / np.sqrt(2))[0]
            assert row["conf_low"] == pytest.approx(max(low, least), abs=1e-12)
            cut += low < least
    assert cut > 0


def test_a_key_that_new_points_lack_is_an_error_that_lists_theirs():
    """Not one on data sets and files alone."""
    frame = pd.DataFrame(X1)
    query = SimpleNamespace(
        X=X1, obs=pd.DataFrame(index=frame.index.map(str)), obsm={"X_umap": Y1}, obs_names=frame.index.map(str),
        var_names=frame.columns.map(str), layers={}, raw=None,
    )  # fmt: skip
    assert len(dreval.out_of_sample(X0, Y0, query, "X_umap")) == 10
    message = r"or a key of obsm of `X_new`: got 'X_umpa'. Did you mean 'X_umap'\? Keys of obsm: X_umap\."
    with pytest.raises(UnknownName, match=message):
        dreval.out_of_sample(X0, Y0, query, "X_umpa")


def test_ties_are_distances_within_the_documented_tolerance():
    """The tolerance is in the notes of the function: of two points that differ by less the first row is nearer."""
    assert "1e-12" in dreval.out_of_sample.__doc__
    X, Y = np.array([[1.0 + 1e-13], [1.0], [5.0], [6.0]]), np.array([[1.0], [2.0], [3.0], [4.0]])
    scores = dreval.out_of_sample(X, Y, [[0.0]], [[0.0]], n_neighbors=1).augment()
    assert scores["neighborhood_overlap"].tolist() == [1.0]
    X[0] = 1.0 + 1e-11
    assert dreval.out_of_sample(X, Y, [[0.0]], [[0.0]], n_neighbors=1).augment()["neighborhood_overlap"][0] == 0.0


def test_points_that_were_used_to_fit_are_noted():
    """Calibration or new points that lie on reference points in the data and on the map."""
    (X, Y), (_, Y_new) = example()
    record = dreval.out_of_sample(X, Y, X[:7], Y[:7], calibration=(X[:50], Y[:50]))
    texts = [str(note) for note in record.notes]
    assert any(text.startswith("7 of 7 new points are on a reference point") for text in texts)
    assert any(text.startswith("50 of 50 calibration points are on a reference point") for text in texts)
    assert "new.on_reference" not in codes(dreval.out_of_sample(X, Y, X[:7], Y_new[:7]))


def test_in_sample_values_of_many_points_are_those_of_drawn_ones(monkeypatch):
    """Above the limit the reference is sampled, which a note says; values of new points do not change."""
    (X, Y), new = example(n=200)
    expected = dreval.out_of_sample(X, Y, *new)
    monkeypatch.setattr("dreval._check.MAX_POINTS_WITHOUT_ANCHORS", 100)
    monkeypatch.setattr("dreval._check.DEFAULT_ANCHORS", 80)
    record = dreval.out_of_sample(X, Y, *new, random_state=3)
    pd.testing.assert_frame_equal(record.augment(), expected.augment())
    assert "new.anchors" in codes(record)
    difference = record.tidy()["in_sample"] - expected.tidy()["in_sample"]
    assert 0 < difference.abs().max() < 0.1


(X0, Y0), (X1, Y1) = example(n=40, m=10)
NAMED = pd.DataFrame(X0, columns=list("abcde"))
REFUSED = {
    "fewer columns": ({"X_new": X1[:, :3]}, "X_new"),
    "other names": (
        {"X": pd.DataFrame(X0, columns=list("abcde")), "X_new": pd.DataFrame(X1, columns=list("abcdf"))},
        "X_new",
    ),
    "missing value": ({"X_new": np.where(X1 == X1[0, 0], np.nan, X1)}, "X_new"),
    "missing coordinate": ({"Y_new": np.where(Y1 == Y1[0, 0], np.nan, Y1)}, "Y_new"),
    "unequal lengths": ({"Y_new": Y1[:9]}, "Y_new"),
    "another map": ({"Y_new": Y1[:, :1]}, "Y_new"),
    "no points": ({"X_new": X1[:0], "Y_new": Y1[:0]}, "X_new"),
    "coordinates of the reference": ({"Y": Y0[:30]}, "Y"),
    "a method": ({"Y": "pca"}, "Y"),
    "k too large": ({"n_neighbors": 40}, "n_neighbors"),
    "several k": ({"n_neighbors": [5, 10]}, "n_neighbors"),
    "lists of neighbors": ({"metric": "sokal"}, "metric"),
    "missing group": ({"groups": [None, *"abababab", "c"]}, "groups"),
    "one group": ({"groups": ["a"] * 10}, "groups"),
    "groups of others": ({"groups": ["a", "b"] * 6}, "groups"),
    "calibration without coordinates": ({"calibration": X1}, "calibration"),
    "calibration of another length": ({"calibration": (X1, Y1[:5])}, "calibration[1]"),
    "calibration of other columns": ({"calibration": (X1[:, :3], Y1)}, "calibration[0]"),
    "calibration on another map": ({"calibration": (X1, Y1[:, :1])}, "calibration[1]"),
    "neither file nor key": ({"Y_new": "X_umpa"}, "Y_new"),
    "alpha as a percentage": ({"alpha": 10}, "alpha"),
    "level": ({"conf_level": 95}, "conf_level"),
    "square distances": ({"X": cdist(X0, X0), "X_new": X1, "metric": "precomputed"}, "X_new"),
    "negative distances": ({"X": cdist(X0, X0), "X_new": -cdist(X1, X0), "metric": "precomputed"}, "X_new"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_by_the_name_of_its_argument(name):
    """One error that names the argument, with what to do."""
    changes, argument = REFUSED[name]
    with pytest.raises(DrevalError) as caught:
        dreval.out_of_sample(**{"X": X0, "Y": Y0, "X_new": X1, "Y_new": Y1, **changes})
    assert caught.value.argument == argument
    assert caught.value.hint


def test_coordinates_without_names_are_matched_by_position_with_a_note():
    """As in an evaluation: data of new points, or of a calibration, with row names, and coordinates without."""
    (X, Y), (X_new, Y_new), (X_cal, Y_cal) = example(60, 30, 30)
    named = pd.DataFrame(X_new, index=[f"q{i}" for i in range(30)])
    named_cal = pd.DataFrame(X_cal, index=[f"c{i}" for i in range(30)])
    record = dreval.out_of_sample(X, Y, named, Y_new, calibration=(named_cal, Y_cal), random_state=0)
    sentence = "`{}` has row names and `{}` has none: rows were matched by position."
    listed = [str(note) for note in record.notes if note.code == "rows.data_alone"]
    assert listed == [sentence.format("X_new", "Y_new"), sentence.format("calibration[0]", "calibration[1]")]
    evaluation = dreval.Evaluation(X, {"e": Y}, new_data=named, new={"e": Y_new}, random_state=0)
    notes = evaluation.run("continuity", None, None).notes["text"].tolist()
    assert "e: " + sentence.format("new_data", "new['e']") in notes


def test_other_ids_are_refused():
    """New points whose coordinates have other names than their data."""
    data = pd.DataFrame(X1, index=[f"q{i}" for i in range(10)])
    with pytest.raises(InputError, match="Y_new"):
        dreval.out_of_sample(X0, Y0, data, pd.DataFrame(Y1, index=[f"r{i}" for i in range(10)]))


# The record: prints, tables, figures and files.


@pytest.mark.parametrize("kind", ["plain", "calibration", "groups"])
def test_a_saved_record_is_the_same(kind, tmp_path: Path):
    """Tables with their types, notes, sentences and the figure; a second save gives the same bytes."""
    (X, Y), (X_new, Y_new), cal = example(c=60)
    options = {"calibration": {"calibration": cal, "random_state": 0}, "groups": {"groups": np.arange(30) % 9}}.get(
        kind, {}
    )
    ids = [f"cell {i}" for i in range(30)]
    record = dreval.out_of_sample(X, Y, pd.DataFrame(X_new, index=ids), Y_new, **options)
    path = record.save(tmp_path / "a.dreval")
    loaded = dreval.load_results(path)
    pd.testing.assert_frame_equal(loaded.tidy(), record.tidy(), check_exact=True)
    pd.testing.assert_frame_equal(loaded.augment(), record.augment(), check_exact=True)
    assert loaded.reference.tobytes() == record.reference.tobytes()
    assert (dict(loaded.recipe), loaded.notes) == (dict(record.recipe), record.notes)
    assert str(loaded.summary(full=True)) == str(record.summary(full=True))
    assert loaded.save(tmp_path / "again.dreval").read_bytes() == path.read_bytes()
    loaded.plot()


def without_column(name):
    """A change that drops a column of the table of points."""

    def change(_, members):
        columns = [column for column in json.loads(members["points.json"]) if column[0] != name]
        members["points.json"] = json.dumps(columns).encode()

    return change


FORGED = {
    "fewer points": lambda body, _: body["recipe"].update(n_new=29),
    "no seed": lambda body, _: body["recipe"].pop("random_state"),
    "no level": lambda body, _: body["recipe"]["parameters"].pop("alpha"),
    "a text as level": lambda body, _: body["recipe"]["parameters"].update(alpha="x"),
    "no flags": without_column("flagged"),
    "no coordinates": without_column("y1"),
    "another map": lambda _, members: members.update({"reference.npy": members["reference.npy"][:-8]}),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_file_that_does_not_fit_is_refused(name, tmp_path: Path):
    """A file with valid checksums and other content is one clear error."""
    (X, Y), new, cal = example(c=60)
    saved = dreval.out_of_sample(X, Y, *new, calibration=cal, random_state=0).save(tmp_path / "a.dreval")
    with pytest.raises(InputError, match="Save the result again"):
        dreval.load_results(forge(saved, tmp_path / "b.dreval", FORGED[name]))


def test_the_answer_comes_first_in_eighty_columns():
    """What is kept of the neighbors, then the table; every line fits."""
    (X, Y), new, cal = example(c=60)
    record = dreval.out_of_sample(X, Y, *new, calibration=cal, random_state=0)
    text = repr(record)
    share = f"{100 * record.of('neighborhood_overlap')['value']:.0f} %"
    assert text.startswith(f"For 30 new points the map keeps {share} of the 15 nearest reference points")
    assert max(map(len, text.splitlines())) <= 80
    assert f"at least {record.n_needed} of 30" in " ".join(text.split())
    assert len(record) == 30
    assert re.search(r"\d\.\d{3}|\de[-−+]?\d", text) is None  # neither 0.123 nor 4.25e-04
    assert "gap: in-sample minus new, positive for a loss, and for MRRE, where lower is better, negative" in " ".join(
        text.split()
    )
    assert eval(record.call, {"dreval": dreval, "X": X, "Y": Y, "X_new": new[0], "Y_new": new[1],
                              "X_cal": cal[0], "Y_cal": cal[1]}).augment().equals(record.augment())  # fmt: skip


def test_the_figure_marks_what_is_not_represented():
    """Gray reference points, new points above them, and marked ones only with a calibration."""
    (X, Y), (X_new, Y_new), cal = example(c=200, p=3)
    Y_new = np.vstack([-3 * Y_new[:8][::-1], Y_new[8:]])
    record = dreval.out_of_sample(X, Y, X_new, Y_new, calibration=cal, random_state=0)
    count = int(record.flagged.sum())
    assert count
    drawn = {text.get_text() for figure in [record.plot()] for legend in figure.legends for text in legend.get_texts()}
    texts = drawn | {text.get_text() for text in record.plot().findobj(match=lambda item: hasattr(item, "get_text"))}
    assert {"reference points (120)", f"new points ({30 - count})", f"not represented ({count})"} <= texts
    plain = dreval.out_of_sample(X, Y, X_new, Y_new).plot()
    texts = {text.get_text() for text in plain.findobj(match=lambda item: hasattr(item, "get_text"))}
    assert not any("not represented" in text for text in texts)


@pytest.mark.slow
def test_many_points_take_blocks_only():
    """20,000 reference points and 2,000 new ones in float32: far less memory than their distances."""
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(20_000, 20)).astype(np.float32), rng.normal(size=(2000, 20)).astype(np.float32)
    tracemalloc.start()
    query_views(X, {"": X[:, :2]}, X_new, {"": X_new[:, :2]}, 15)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6 < 8 * 20_000 * 2000 / 5
