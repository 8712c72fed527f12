"""Local distortions: exact on affine maps, equal to naive twins, with standard errors and broken edges."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import InputError, UndefinedMeasure
from dreval.records.points import LocalDistortion

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = np.column_stack([np.sin(X[:, 0]) + 0.1 * X[:, 2], X[:, 1] * np.exp(0.3 * X[:, 0])])
K = 8


@pytest.fixture(scope="module")
def distortions() -> LocalDistortion:
    """The distortions of a curved map."""
    return dreval.local_distortion(X, Y, n_neighbors=K)


def members(points: np.ndarray, k: int) -> np.ndarray:
    """Each point and its k neighbors."""
    D = cdist(points, points)
    np.fill_diagonal(D, -1.0)
    return np.argsort(D, axis=1, kind="stable")[:, : k + 1]


def naive(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, float, float]:
    """H, the share outside the tangent and R^2 of one neighborhood, by least squares."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    U, S, _ = np.linalg.svd(A, full_matrices=False)
    T = U[:, : B.shape[1]] * S[: B.shape[1]]
    J = np.linalg.lstsq(T, B, rcond=None)[0]
    residual = B - T @ J
    return J.T @ J, 1 - (S[: B.shape[1]] ** 2).sum() / (S**2).sum(), 1 - (residual**2).sum() / (B**2).sum()


def log_parts(H: np.ndarray) -> tuple[float, float]:
    """Log area and log anisotropy of a matrix of two dimensions."""
    values = np.linalg.eigvalsh(H)
    return 0.5 * float(np.log(values).sum()), 0.5 * float(np.log(values[-1] / values[0]))


def test_values_are_those_of_least_squares(distortions: LocalDistortion) -> None:
    """Point by point: the matrix, the share outside the tangent, R^2, area over its median, and anisotropy."""
    parts = [naive(X[near], Y[near]) for near in members(X, K)]
    logs = np.array([log_parts(H) for H, _, _ in parts])

    assert_allclose(distortions.matrices, [H for H, _, _ in parts], rtol=1e-10, atol=1e-12)
    assert_allclose(distortions.outside, [outside for _, outside, _ in parts], rtol=1e-10)
    assert_allclose(distortions.r2, [r2 for _, _, r2 in parts], rtol=1e-10)
    assert_allclose(distortions.area, np.exp(logs[:, 0] - np.median(logs[:, 0])), rtol=1e-10)
    assert_allclose(distortions.anisotropy, np.exp(logs[:, 1]), rtol=1e-10)
    assert_allclose(distortions.median_area, np.exp(np.median(logs[:, 0])), rtol=1e-10)
    assert_allclose(dreval.local_area_spread(X, Y, n_neighbors=K), logs[:, 0].std(ddof=1), rtol=1e-10)
    assert_allclose(dreval.local_anisotropy(X, Y, n_neighbors=K), np.median(logs[:, 1]), rtol=1e-10)


def test_standard_errors_are_the_jackknife_over_neighbors(distortions: LocalDistortion) -> None:
    """Each neighbor is left out in turn, but not the point itself."""
    for i, near in enumerate(members(X, K)):
        values = []
        for t in range(1, K + 1):
            stay = np.delete(near, t)
            values.append(log_parts(naive(X[stay], Y[stay])[0]))
        errors = np.sqrt((K - 1) / K * ((np.array(values) - np.mean(values, axis=0)) ** 2).sum(axis=0))
        assert_allclose([distortions.log_area_se[i], distortions.log_anisotropy_se[i]], errors, rtol=1e-8)


def test_affine_maps_are_exact() -> None:
    """Diag(2, 1/2) has the eigenvalues 4 and 1/4 at every point, with no error and no broken edge."""
    flat = RNG.normal(size=(80, 2))
    result = dreval.local_distortion(flat, flat * [2.0, 0.5] + 7.0)

    assert_allclose(np.linalg.eigvalsh(result.matrices), [[0.25, 4.0]] * 80, rtol=0, atol=1e-12)
    assert_allclose(result.area, 1.0, atol=1e-12)
    assert_allclose(result.anisotropy, 4.0, atol=1e-12)
    assert_allclose(result.r2, 1.0)
    assert_allclose([result.log_area_se, result.log_anisotropy_se], 0.0, atol=1e-12)
    assert_allclose(result.median_area, 1.0)
    assert not len(result.broken)


def test_a_curved_sheet_is_flat_where_it_is_unrolled() -> None:
    """A sheet in a space of many dimensions, unrolled: the areas are equal, and nothing is outside the tangent."""
    sheet = RNG.uniform(size=(90, 2))
    wide = sheet @ np.linalg.qr(RNG.normal(size=(20, 2)))[0].T
    result = dreval.local_distortion(wide, 3 * sheet, n_neighbors=6)

    assert_allclose(result.outside, 0.0, atol=1e-12)
    assert_allclose(result.anisotropy, 1.0, rtol=1e-12)
    assert_allclose(result.median_area, 9.0, rtol=1e-12)


def test_rotations_units_and_order_do_not_change_the_stretch(distortions: LocalDistortion) -> None:
    """Rotated data and embedding, other units, points in another order: the same areas, anisotropies and edges."""
    Q = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    order = RNG.permutation(60)
    for data, embedding, at in (
        (X @ Q + 3.0, Y @ turn - 5.0, np.arange(60)),
        (1e-9 * X, 1e6 * Y, np.arange(60)),
        (X[order], Y[order], order),
    ):
        second = dreval.local_distortion(data, embedding, n_neighbors=K)
        for name in ("area", "anisotropy", "outside", "r2", "log_area_se", "log_anisotropy_se"):
            assert_allclose(getattr(second, name), getattr(distortions, name)[at], rtol=1e-7, atol=1e-12)
        assert_array_equal(second.n_broken, distortions.n_broken[at])
    turned = dreval.local_distortion(X, Y @ turn, n_neighbors=K)
    assert_allclose(turned.matrices, turn.T @ distortions.matrices @ turn, rtol=1e-8, atol=1e-10)


def test_broken_edges_are_those_across_a_cut() -> None:
    """The halves of a sheet are moved apart: exactly the edges across the cut are broken."""
    sheet = RNG.uniform(size=(150, 2))
    right_half = sheet[:, 0] > 0.5
    apart = sheet + 5.0 * right_half[:, None] * [1.0, 0.0]
    apart += 0.001 * RNG.normal(size=apart.shape)
    result = dreval.local_distortion(sheet, apart, n_neighbors=6)
    near = members(sheet, 6)
    edges = {(min(i, j), max(i, j)) for i in range(150) for j in near[i, 1:]}
    crossing = {edge for edge in edges if right_half[edge[0]] != right_half[edge[1]]}

    length = {edge: np.linalg.norm(np.subtract(*apart[list(edge)])) for edge in edges}
    stretch = {edge: np.log(length[edge] / np.linalg.norm(np.subtract(*sheet[list(edge)]))) for edge in edges}
    values = np.array(list(stretch.values()))
    assert crossing
    assert {tuple(edge) for edge in result.broken.tolist()} == crossing
    assert result.n_broken.sum() == 2 * len(result.broken) == 2 * result.n_broken_edges

    spread = 3 * 1.482602218505602 * np.median(np.abs(values - np.median(values)))
    assert sum(stretch[edge] > np.median(values) + spread for edge in edges) > len(crossing), "twice, not only unusual"


def test_broken_edges_are_unusual_too() -> None:
    """Where stretches vary much, edges of more than three robust standard deviations, and not all stretched twice."""
    sheet = RNG.uniform(size=(150, 2))
    rough = sheet + 0.1 * RNG.normal(size=(150, 2))
    rough[:3] += 20.0
    near = members(sheet, 6)
    starts, second = np.transpose(sorted({(min(i, j), max(i, j)) for i in range(150) for j in near[i, 1:]}))
    stretch = np.log(np.linalg.norm(rough[starts] - rough[second], axis=1))
    stretch -= np.log(np.linalg.norm(sheet[starts] - sheet[second], axis=1))
    excess = stretch - np.median(stretch)
    limit = 3 * 1.482602218505602 * np.median(np.abs(excess))

    result = dreval.local_distortion(sheet, rough, n_neighbors=6)
    assert limit > np.log(2)
    assert (excess > np.log(2)).sum() > (excess > limit).sum() > 0
    assert_array_equal(result.broken, np.column_stack([starts, second])[excess > limit])


def test_missing_dimensions_of_duplicates_and_lines_are_noted() -> None:
    """Neighborhoods at one place have no value, those on a line have one direction; a note counts them."""
    copies = np.repeat(RNG.normal(size=(6, 2)), 5, axis=0)
    result = dreval.local_distortion(copies, copies, n_neighbors=3)
    assert np.isnan(result.area).all()
    assert [note.code for note in result.notes] == ["stretch.flat"]
    assert dreval.local_anisotropy(copies, copies, n_neighbors=3) == 0.0

    line = np.outer(np.arange(20.0) ** 1.5, [1.0, 2.0])
    result = dreval.local_distortion(line, 4 * line, n_neighbors=4)
    assert_allclose(result.area, 1.0)
    assert_allclose(result.median_area, 4.0)
    assert_allclose(result.anisotropy, 1.0)
    assert "20 of 20 neighborhoods" in str(result.notes[0])


def test_a_collapsed_embedding_has_the_largest_anisotropy() -> None:
    """An embedding on a line or at one place has anisotropy 1e8, and no spread where all areas are 0."""
    flat = RNG.normal(size=(40, 2))
    assert_allclose(dreval.local_anisotropy(flat, flat * [1.0, 0.0]), np.log(1e8))
    assert_allclose(dreval.local_anisotropy(flat, np.zeros((40, 2))), np.log(1e8))
    assert dreval.local_area_spread(flat, np.zeros((40, 2))) == 0.0


def test_one_and_three_dimensions() -> None:
    """Areas are lengths or volumes."""
    cube = RNG.normal(size=(50, 3))
    result = dreval.local_distortion(cube, cube * [1.0, 2.0, 3.0])
    assert_allclose(result.median_area, 6.0)
    assert_allclose(result.anisotropy, 3.0)
    line = dreval.local_distortion(cube[:, :1], 5 * cube[:, :1])
    assert_allclose(line.median_area, 5.0)
    assert_allclose(line.anisotropy, 1.0)


def test_bad_arguments_raise_an_error() -> None:
    """Too few neighbors, several numbers and precomputed distances raise errors."""
    with pytest.raises(InputError, match="`n_neighbors` must be at least the number of dimensions: got 1 for d = 2"):
        dreval.local_distortion(X, Y, n_neighbors=1)
    with pytest.raises(InputError, match="`n_neighbors` must be one number"):
        dreval.local_distortion(X, Y, n_neighbors=[5, 6])
    with pytest.raises(InputError, match="`Y` must have"):
        dreval.local_distortion(X, Y[:5])
    with pytest.raises(UndefinedMeasure, match="precomputed"):
        dreval.local_distortion(cdist(X, X), Y, metric="precomputed")


def test_tables_of_the_record(distortions: LocalDistortion) -> None:
    """One row per point, one per score, and one for the embedding; printed in 80 columns."""
    assert list(distortions.augment())[:5] == ["id", "y1", "y2", "area", "anisotropy"]
    assert distortions.tidy()["score"].tolist()[0] == "area"
    assert distortions.glance().loc[0, "n_neighbors"] == K
    assert repr(distortions) == str(distortions)
    assert max(map(len, str(distortions).splitlines())) <= 80


def test_anchors_see_the_stretch_of_all() -> None:
    """With anchors the value is an estimate with a standard error, near that of all points."""
    sheet = RNG.uniform(size=(400, 2))
    bent = np.column_stack([sheet[:, 0] ** 2, sheet[:, 1]])
    names = ["local_area_spread", "local_anisotropy"]
    sampled = dreval.Evaluation(sheet, {"a": bent}, anchors=150, random_state=0).run(names, tests=None).table
    table = dreval.Evaluation(sheet, {"a": bent}, random_state=0).run(names, tests=None, ci=None).table

    assert (sampled["se"] > 0).all()
    assert (np.abs(sampled["value"] - table["value"]) < 4 * sampled["se"]).all()
