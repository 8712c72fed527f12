"""Cosine and correlation of rows that point in nearly one direction, against decimals of 60 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.manifold import trustworthiness as oracle

import dreval
from dreval.errors import InputError
from dreval.geometry import blocks
from dreval.geometry.distances import Space
from dreval.inputs.data import as_data
from dreval.inputs.directions import direction_cells, has_near_rows, has_rows_near, precise_units

each_scale = pytest.mark.parametrize("scale", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 3e-15])
each_angular = pytest.mark.parametrize("metric", ["cosine", "correlation"])


def decimal_distances(X, metric):
    """Half the squared differences of rows of norm 1, of the floats without rounding."""
    with localcontext() as context:
        context.prec = 60
        units = []
        for row in X:
            row = [Decimal(float(value)) for value in row]
            if metric == "correlation":
                mean = sum(row) / len(row)
                row = [value - mean for value in row]
            norm = sum(value * value for value in row).sqrt()
            units.append([value / norm for value in row])
        D = np.zeros((len(X), len(X)))
        for i, left in enumerate(units):
            for j, second in enumerate(units[:i]):
                squares = sum((a - b) ** 2 for a, b in zip(left, second, strict=True))
                D[i, j] = D[j, i] = float(squares / 2)
    return D


def bundle(scale, n=40, p=4, seed=0):
    """Return rows that differ by ``scale`` from one row, and their differences; the embedding is the first columns."""
    rng = np.random.default_rng(seed)
    w, B = rng.normal(size=p) + 1.0, rng.normal(size=(n, p))
    return w + scale * B, B[:, :2]


def at_rows(D, Y, rows, k):
    """Trustworthiness of some rows by its definition."""
    penalty = 0
    for i in rows:
        distances = np.linalg.norm(Y - Y[i], axis=1)
        distances[i] = np.inf
        order = np.argsort(np.where(np.arange(len(D)) == i, -1.0, D[i]), kind="stable")
        rank = np.empty(len(D), int)
        rank[order] = np.arange(len(D))
        penalty += np.maximum(rank[np.argsort(distances)[:k]] - k, 0).sum()
    n = len(D)
    return 1 - penalty * 2 / (len(rows) * k * (2 * n - 3 * k - 1))


@each_scale
@each_angular
@pytest.mark.parametrize("p", [4, 20])
def test_nearly_parallel_rows_keep_their_digits(metric, scale, p):
    """Distances of pairs and trustworthiness are those of the exact numbers, with few columns and with many."""
    X, Y = bundle(scale, p=p)
    D = decimal_distances(X, metric)
    D[D <= 2.0**-101] = 0.0  # differences of 2 ** -50, which the rounding of the numbers alone can make
    pairs = np.triu_indices(len(X), 1)
    assert_allclose(Space.of(X, metric).listed(*pairs), D[pairs], rtol=1e-7 if scale > 1e-5 else 1e-12)
    ours = dreval.trustworthiness(X, Y, metric=metric, n_neighbors=7)
    assert ours == pytest.approx(at_rows(D, Y, range(40), 7), abs=1e-12)
    if D[pairs].all():
        assert ours == pytest.approx(oracle(D, Y, n_neighbors=7, metric="precomputed"), abs=1e-12)


@pytest.mark.parametrize("form", ["array", "float32", "frame", "multiples", "sparse", "negative"])
def test_nearly_parallel_rows_in_other_forms(form):
    """Every entry point and container; rows times factors are as parallel."""
    X, Y = bundle(1e-3 if form == "float32" else 1e-12)
    X = X.astype(np.float32) if form == "float32" else X
    X = X * np.random.default_rng(1).gamma(2, size=(40, 1)) if form == "multiples" else X
    X = -X if form == "negative" else X
    D = decimal_distances(X, "cosine")
    table = {"sparse": sparse.csr_array, "frame": pd.DataFrame}.get(form, np.asarray)(X)
    expected = oracle(D, Y, n_neighbors=7, metric="precomputed")
    assert dreval.trustworthiness(table, Y, metric="cosine", n_neighbors=7) == pytest.approx(expected, abs=1e-12)
    results = dreval.Evaluation(table, {"Y": Y}, metric="cosine", n_neighbors=7).run("trustworthiness", None, None)
    assert results.table["value"].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("p", [5, 30])
def test_bundles_in_different_directions_keep_their_digits(p):
    """Rows differ by 1e-14 about each of three directions: no common direction could be subtracted."""
    rng = np.random.default_rng(3)
    B, group = rng.normal(size=(45, p)), np.repeat(np.arange(3), 15)
    X = (rng.normal(size=(3, p)) * 3)[group] + 1e-14 * B
    Y = 100 * np.eye(3)[group][:, :2] + B[:, :2]
    D = decimal_distances(X, "cosine")
    expected = oracle(D, Y, n_neighbors=7, metric="precomputed")
    for data in (X, sparse.csr_array(X)):
        assert dreval.trustworthiness(data, Y, metric="cosine", n_neighbors=7) == pytest.approx(expected, abs=1e-12)


def test_sparse_rows_with_different_columns():
    """Nearly parallel rows, some of them with an entry in another column, are compared column by column."""
    X, _ = bundle(1e-13, p=6)
    X[:, 3] = np.where(np.arange(40) % 2, 1e-13 * X[:, 3], 0.0)
    D, S, pairs = decimal_distances(X, "cosine"), sparse.csr_array(X), np.triu_indices(40, 1)
    assert_allclose(Space.of(S, "cosine").listed(*pairs), D[pairs], rtol=1e-12)
    assert_array_equal(Space.of(S, "cosine").listed(*pairs), Space.of(X, "cosine").listed(*pairs))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("p", [4, 20])
def test_anchors_among_many_points_keep_the_digits(form, p, monkeypatch):
    """Rows are read in blocks, and no two anchors need be near each other."""
    monkeypatch.setattr(blocks, "ALL_RANKS", 10)
    X, Y = bundle(1e-13, n=60, p=p)
    expected = decimal_distances(X, "cosine")
    ev = dreval.Evaluation(form(X), {"Y": Y}, metric="cosine", anchors=20, n_neighbors=7, random_state=0)
    results = ev.run("trustworthiness", None, None)
    rows = results.points["Y"].index.to_numpy()
    assert len(rows) == 20
    assert results.table["value"].item() == pytest.approx(at_rows(expected, Y, rows, 7), abs=1e-12)


def test_a_near_row_of_an_anchor_is_found_in_its_block():
    """Each pair of near rows has only one anchor."""
    rng = np.random.default_rng(0)
    U = rng.normal(size=(30, 5))
    units = U / np.linalg.norm(U, axis=1, keepdims=True)
    perturbed = units + 1e-12 * rng.normal(size=units.shape)
    assert not has_near_rows(units)
    assert not has_near_rows(np.concatenate([units, units]))  # repeated rows need no more digits
    assert has_near_rows(np.concatenate([units, perturbed]))
    assert has_rows_near(perturbed, units, direction_cells(units))
    assert not has_rows_near(units[::-1], units, direction_cells(units))
    assert has_near_rows(sparse.csr_array(np.concatenate([units, perturbed])))


@each_angular
def test_ordinary_rows_are_not_computed_twice(metric):
    """Without near rows, or with repeated ones and multiples only, values are those of rows in double precision."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    X[40:45], X[45:] = X[:5], 3.0 * X[5:10]
    assert Space.of(X, metric).points.rows.shape == (50, 6)
    zero = Space.of(X, metric).listed(np.r_[0:10], np.r_[40:50])
    assert_array_equal(zero, 0.0)


def test_rows_that_differ_by_rounding_count_as_equal():
    """Multiples of a row differ by rounding, also where near rows demand twice the digits."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 5)), 1.0 + 1e-9 * rng.normal(size=(20, 5))])
    X = np.concatenate([X, X * rng.gamma(2, size=(40, 1))])
    space = Space.of(X, "cosine")
    assert space.points.rows.shape == (80, 10)
    assert_array_equal(space.listed(np.r_[0:40], np.r_[40:80]), 0.0)


@each_angular
def test_rows_of_norm_one_have_twice_the_digits(metric):
    """Against decimals, at any size."""
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(5, 7)) + 10.0) * np.array([1e-100, 1e-3, 1.0, 1e5, 1e100])[:, None]
    high, low = precise_units(X, metric == "correlation")
    with localcontext() as context:
        context.prec = 60
        for row, leading, remainder in zip(X, high, low, strict=True):
            exact = [Decimal(float(value)) for value in row]
            mean = sum(exact) / len(exact) if metric == "correlation" else 0
            exact = [value - mean for value in exact]
            norm = sum(value * value for value in exact).sqrt()
            for value, a, b in zip(exact, leading, remainder, strict=True):
                assert abs(value / norm - Decimal(float(a)) - Decimal(float(b))) < Decimal("1e-30")


@each_angular
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_few_remaining_digits_are_noted(metric, form):
    """Rows that differ by 1e-14 are reported; by 1e-10 they are not; by rounding alone they raise an error."""
    codes = [[n.code for n in as_data(form(bundle(scale)[0]), metric=metric).notes] for scale in (1e-14, 1e-10, 1.0)]
    assert ["data.parallel" in names for names in codes] == [True, False, False]
    with pytest.raises(InputError, match="rows of different directions"):
        as_data(form(bundle(2e-16)[0]), metric=metric)
    X = bundle(0.0)[0] * np.arange(1, 41)[:, None]
    with pytest.raises(InputError, match="40 rows of one direction"):
        as_data(form(X), metric=metric)
    assert as_data(X - X.mean(axis=0), metric=metric).n == 40  # the hint of the error
    assert not [n for n in as_data(form(bundle(1e-14)[0])).notes if n.code == "data.parallel"]
