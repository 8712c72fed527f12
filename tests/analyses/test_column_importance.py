"""Importance of columns: a naive twin, groups of columns and rows, anchors, mixed tables, and refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import skew

import dreval
from dreval._random import stream
from dreval.analyses import column_importance as module
from dreval.errors import InputError, UndefinedMeasure, UnknownName
from dreval.inference.cross_jackknife import random_thirds
from dreval.inference.permutation import draw_permutations

N = 60
OPTIONS = {"n_neighbors": 6, "n_resamples": 19, "random_state": 0, "n_jobs": 1}


def sample(n: int = N, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return four columns, of which the first two are on the map."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    return X, X[["a", "b"]].to_numpy() + 0.2 * rng.normal(size=(n, 2))


def lists(table: np.ndarray, k: int) -> list[set[int]]:
    """Return the k nearest other points of each point."""
    D = cdist(table, table)
    np.fill_diagonal(D, np.inf)
    return [set(row.tolist()) for row in np.argsort(D, axis=1, kind="stable")[:, :k]]


def overlaps(left: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
    """Return the share of common neighbors of each point."""
    pairs = zip(lists(left, k), lists(right, k), strict=True)
    return np.array([len(first & second) / k for first, second in pairs])


def test_numbers_are_those_of_a_naive_twin() -> None:
    """Drops of points, weights and p-values from lists of neighbors, permutation by permutation."""
    X, Y = sample()
    result = dreval.column_importance(X, Y, **OPTIONS)
    table, k = result.table.set_index("column"), 6
    observed = overlaps(X.to_numpy(), Y, k)
    assert result.overlap == pytest.approx(observed.mean(), abs=1e-12)
    for place, column in enumerate(result.table["column"]):
        common, replaced = [], []
        for permutation in draw_permutations(N, 19, 0, module.STREAM, column):
            permuted = X.copy()
            permuted[column] = X[column].to_numpy()[permutation]
            common.append(overlaps(permuted.to_numpy(), Y, k))
            replaced.append(1.0 - overlaps(permuted.to_numpy(), X.to_numpy(), k).mean())
        np.testing.assert_allclose(result.contributions[:, place], observed - np.mean(common, axis=0), atol=1e-12)
        row = table.loc[column]
        assert row["drop"] == pytest.approx(observed.mean() - np.mean(common), abs=1e-12)
        assert row["weight"] == pytest.approx(np.mean(replaced), abs=1e-12)
        assert row["share"] == pytest.approx(row["drop"] / row["weight"])
        reached = sum(np.mean(shares) >= observed.mean() - 1e-12 for shares in common)
        assert row["p_value"] == (reached + 1) / 20


def losses_without(X: np.ndarray, Y: np.ndarray, k: int, n_resamples: int, *part: int) -> tuple[np.ndarray, float]:
    """Return the drop of column a without each point, by hand, and the variance of the overlap over permutations.

    Each point is left out as a row, and as the origin of the cell of another row.
    """
    n = len(X)

    def without(table: np.ndarray) -> np.ndarray:
        rows = [np.delete(np.arange(n), i) for i in range(n)]
        return np.array([overlaps(table[stay], Y[stay], k).mean() for stay in rows])

    left_out, null = [], []
    for permutation in draw_permutations(n, n_resamples, 0, module.STREAM, "a", *part).astype(int):
        permuted = X.copy()
        permuted[:, 0] = X[permutation, 0]
        null.append(overlaps(permuted, Y, k).mean())
        as_row = without(permuted)
        host = np.array([int(np.flatnonzero(permutation == i)[0]) for i in range(n)])
        left_out.append(as_row + as_row[host] - null[-1])
    return without(X) - np.mean(left_out, axis=0), float(np.var(null, ddof=1))


def test_standard_errors_are_those_of_the_cross_jackknife() -> None:
    """Influences on two thirds of the points by hand: 3/4 of their covariance and 1/4 of the delete-one variance."""
    X, Y = sample(30, seed=3)
    values, n = X.to_numpy(), 30
    result = dreval.column_importance(X, Y, columns=["a"], **{**OPTIONS, "n_resamples": 9})
    drops, null_variance = losses_without(values, Y, 6, 9)
    phi = []
    for partition in range(2):
        thirds, influences = random_thirds(stream(0, "thirds", partition), n), np.zeros((3, n))
        for third in range(3):
            stay = thirds != third
            of_part = losses_without(values[stay], Y[stay], 4, 9, partition, third)[0]
            influences[third, stay] = (stay.sum() - 1) * (of_part.mean() - of_part)
        pairs = [np.cov(influences[[other for other in range(3) if other != third]][:, thirds == third])[0, 1]
                 for third in range(3)]  # fmt: skip
        phi.append(sum(pairs[third] * (thirds == third).sum() for third in range(3)) / n**2)
    delete_one = (n - 1) / n * ((drops - drops.mean()) ** 2).sum()
    variance = 0.75 * max(np.mean(phi), 0.0) + 0.25 * delete_one
    variance = max(variance, delete_one) if abs(skew(drops)) > 1 else variance
    assert result.table["se"][0] == pytest.approx(np.sqrt(variance + null_variance / 9), rel=1e-9)


def test_few_points_have_the_delete_one_jackknife() -> None:
    """Where two thirds of the points are too few for k: leaving out each point by hand, and a note."""
    X, Y = sample(16, seed=3)
    result = dreval.column_importance(X, Y, columns=["a"], **{**OPTIONS, "n_neighbors": 13})
    drops, null_variance = losses_without(X.to_numpy(), Y, 13, 19)
    variance = 15 / 16 * ((drops - drops.mean()) ** 2).sum() + null_variance / 19
    assert result.table["se"][0] == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert "importance.few" in {item.code for item in result.notes}


def test_known_columns_are_found() -> None:
    """Relevant columns lose a quarter of the neighbors or more, others next to nothing; points have a leader."""
    X, _ = sample(200, seed=1)
    X[["a", "b"]] *= 3.0
    Y = X[["a", "b"]].to_numpy()
    result = dreval.column_importance(X, Y, random_state=0, n_resamples=39)
    assert set(result.visible) == {"a", "b"}
    assert set(result.hidden) == {"c", "d"}
    table = result.table.set_index("column")
    assert table.loc[["a", "b"], "drop"].min() > 0.24
    assert table.loc[["c", "d"], "drop"].abs().max() < 0.02
    points = result.augment()
    assert set(points["leading"]) <= {"a", "b", ""}
    led = points[points["leading"] != ""]
    assert (led["leading_drop"] == led[["a", "b"]].max(axis=1)).all()
    assert "The map shows 2 of 4 columns" in str(result)
    assert result.glance()["n_visible"][0] == 2


def test_copies_share_their_importance() -> None:
    """A column and its copy, each alone, lose less than both jointly, which is the default, with a note."""
    X, Y = sample()
    X["copy"] = -X["a"] + 1e-3 * np.arange(N)
    alone = dreval.column_importance(X, Y, max_correlation=None, **OPTIONS).table.set_index("column")
    joint = dreval.column_importance(X, Y, **OPTIONS)
    assert joint.table["members"].tolist()[0] == "a, copy"
    assert "importance.joint" in {item.code for item in joint.notes}
    drops = joint.table.set_index("column")["drop"]
    assert drops["a + copy"] > alone["drop"][["a", "copy"]].max() + 0.05
    chosen = dreval.column_importance(X, Y, columns={"both": ["a", 4], "c": "c"}, **OPTIONS).table
    assert chosen.set_index("column")["members"].to_dict() == {"both": "a, copy", "c": "c"}


def test_anchors_have_the_variance_of_a_sample() -> None:
    """se^2 = (1 - m / n) s^2 / m + sd_b^2 / B, from the points and the permuted overlaps; p is that of the anchors."""
    X, Y = sample(120)
    result = dreval.column_importance(X, Y, anchors=40, columns=["a"], **OPTIONS)
    rows, permutations = result.rows, draw_permutations(120, 19, 0, module.STREAM, "a").astype(int)
    null = []
    for permutation in permutations:
        permuted = X.to_numpy().copy()
        permuted[:, 0] = permuted[permutation, 0]
        null.append(overlaps(permuted, Y, 6)[rows].mean())
    variance = (1 - 40 / 120) * result.contributions[:, 0].var(ddof=1) / 40 + np.var(null, ddof=1) / 19
    assert result.table["se"][0] == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert len(result.augment()) == 40
    assert "importance.anchors" in {item.code for item in result.notes}


def test_rows_of_groups_are_permuted_within_groups() -> None:
    """A column that is constant within groups has no value; there are no intervals, and a note says so."""
    X, Y = sample()
    groups = np.repeat(["u", "v", "w"], N // 3)
    X["d"] = np.repeat([0.0, 1.0, 5.0], N // 3)
    few = dreval.column_importance(X, Y, groups=groups, **OPTIONS)
    assert not few.visible  # three columns and 19 permutations: adjusted p is at least .15
    assert str(few).startswith("Too few permutations to decide")
    result = dreval.column_importance(X, Y, groups=groups, **{**OPTIONS, "n_resamples": 99})
    table = result.table.set_index("column")
    assert table["conf_low"].isna().all()
    assert np.isnan(table["drop"]["d"])
    assert not table["visible"]["d"]
    codes = {item.code for item in result.notes}
    assert {"importance.groups", "importance.constant"} <= codes
    assert set(result.visible) == {"a", "b"}


def test_columns_of_mixed_tables() -> None:
    """Classes and missing cells are permuted as they are; the class on the map is found."""
    X, Y = sample(100)
    X["kind"] = np.where(X["a"] > 0, "high", "low")
    X.loc[::9, "c"] = np.nan
    result = dreval.column_importance(X.drop(columns="a"), Y, metric="gower", **OPTIONS)
    assert set(result.visible) == {"kind", "b"}


def test_results_do_not_depend_on_threads() -> None:
    """The same numbers with one and with three threads, and for the same seed."""
    X, Y = sample()
    first, second = (dreval.column_importance(X, Y, **{**OPTIONS, "n_jobs": jobs}) for jobs in (1, 3))
    pd.testing.assert_frame_equal(first.table, second.table)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "precomputed"}, UndefinedMeasure, "must be of rows with columns"),
        ({"metric": "cosin"}, UnknownName, "cosine"),
        ({"columns": ["e"]}, UnknownName, "must name columns of X"),
        ({"columns": []}, InputError, "must name each column once"),
        ({"columns": ["a", 0]}, InputError, "a column twice"),
        ({"n_neighbors": [5, 10]}, InputError, "must be one number"),
        ({"n_neighbors": N - 1}, InputError, "minus 2"),
        ({"groups": np.arange(N)}, InputError, "must have two points in some group"),
        ({"max_correlation": 1.5}, InputError, "max_correlation"),
    ],
)
def test_refusals(options, error, message) -> None:
    """Errors name the argument and what to pass."""
    X, Y = sample()
    with pytest.raises(error, match=message):
        dreval.column_importance(X, Y, **{**OPTIONS, **options})


def test_figures() -> None:
    """Bars have a row for each column, the map a point for each row."""
    X, Y = sample()
    result = dreval.column_importance(X, Y, **OPTIONS)
    axes = result.plot().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == result.table["column"].tolist()
    assert result.plot("map").axes
    with pytest.raises(UnknownName):
        result.plot("pie")
