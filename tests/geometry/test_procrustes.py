"""Local and global Procrustes, against a singular value decomposition per neighborhood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.spatial import procrustes as their_procrustes
from strategies import KINDS, neighbor_counts, pairs
from validation.oracles import twins

from dreval.geometry._loops.local import nuclear_norm
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.procrustes import (
    best_scale,
    coincident_note,
    conformal,
    disparity,
    local_parts,
    local_spectra,
    relative,
    residual,
)
from dreval.inputs import stored

ANY_WIDTH = st.one_of(pairs(max_d=4), pairs(min_p=13, max_p=40, max_d=6))
LINES = pairs(kinds=["collinear", "almost_collinear", "constant_columns", "duplicates"], max_d=3)


def _measures(X, Y, k):
    view = neighbor_pass(X, {"Y": Y}, k=k, ranks=False)["Y"]
    parts, spectra = local_parts(view, k), local_spectra(view, k)
    return parts, {
        "procrustes_r": residual(parts),
        "procrustes_rn": relative(residual(parts), parts.x2),
        "procrustes_rc": conformal(parts),
        "procrustes_rn_opt": best_scale(parts),
        "procrustes_rpca": np.maximum(spectra.within + parts.y2 - 2 * spectra.nuclear, 0),
        "procrustes_lower_bound": relative(spectra.beyond, parts.x2),
    }


def _compare(X, Y, k):
    """The values agree to 1e-10 of the largest term of each sum."""
    parts, measures = _measures(X, Y, k)
    expected = twins.local_procrustes(X, Y, k)
    assert_array_equal(parts.x2 == 0, expected["x2"] == 0)
    sizes = parts.x2 + parts.y2
    units = {"procrustes_r": sizes, "procrustes_rpca": sizes, "procrustes_rn": 1 + relative(parts.y2, parts.x2)}
    for name, values in measures.items():
        error = np.abs(values - np.maximum(expected[name], 0)) / np.maximum(units.get(name, 1.0), 1e-300)
        assert error.max() <= 1e-10, name
    return measures


@given(pair=ANY_WIDTH, data=st.data())
def test_measures_are_those_of_the_twin(pair, data):
    """R, R_N, R_C, R_N,opt, R_PCA and the lower bound of every point, for any k, p and d (also d > p)."""
    X, Y = pair
    _compare(X, Y, data.draw(neighbor_counts(len(X))))


@given(pair=LINES, k=st.integers(1, 3))
def test_thin_and_empty_neighborhoods(pair, k):
    """Collinear, nearly collinear and coinciding neighborhoods keep ten digits."""
    _compare(*pair, k)


@given(pair=ANY_WIDTH, data=st.data())
def test_order_of_the_measures(pair, data):
    """lower bound <= R_C <= R_N,opt in the mean, R_N,opt <= R_N and <= 1; R_C <= R_N at every point."""
    X, Y = pair
    _, values = _measures(X, Y, data.draw(neighbor_counts(len(X))))
    mean = {name: contributions.mean() for name, contributions in values.items()}
    assert mean["procrustes_lower_bound"] <= mean["procrustes_rc"] + 1e-12
    assert mean["procrustes_rc"] <= mean["procrustes_rn_opt"] + 1e-12
    assert mean["procrustes_rn_opt"] <= min(mean["procrustes_rn"], 1.0) * (1 + 1e-12) + 1e-12
    assert (values["procrustes_lower_bound"] <= values["procrustes_rc"] + 1e-12).all()
    assert (values["procrustes_rc"] <= values["procrustes_rn"] * (1 + 1e-12) + 1e-12).all()
    assert ((values["procrustes_rc"] >= 0) & (values["procrustes_rc"] <= 1)).all()


@given(pair=ANY_WIDTH, seed=st.integers(0, 99), power=st.integers(-3, 3), data=st.data())
def test_invariances(pair, seed, power, data):
    """Turning, reflecting, moving Y changes nothing; scaling it changes neither R_C nor R_N,opt."""
    X, Y = pair
    k, rng = data.draw(neighbor_counts(len(X))), np.random.default_rng(seed)
    Q, size = np.linalg.qr(rng.normal(size=(Y.shape[1], Y.shape[1])))[0], np.ptp(Y)
    parts, values = _measures(X, Y, k)
    turned_parts, turned = _measures(X, Y @ Q + size * rng.normal(size=Y.shape[1]), k)
    tiny = (
        1e-13 * (np.abs(Y).max() + size) ** 2 * (k + 1)
    )  # the largest effect of rounding the moved coordinates on |HY|^2
    assert_allclose(turned_parts.y2, parts.y2, rtol=1e-9, atol=tiny)
    clear = parts.y2 > 1e6 * tiny
    assert_allclose(turned["procrustes_rc"][clear], values["procrustes_rc"][clear], atol=1e-5)
    scale = 10.0**power * 1.7
    _, scaled = _measures(X, scale * Y, k)
    for name in ("procrustes_rc", "procrustes_rn_opt"):
        assert_allclose(scaled[name], values[name], atol=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_residual_is_the_minimum_over_rotations(d):
    """|HX_i - HY_i Q|^2 at scipy's best orthogonal Q is G; no other Q of many, and no other scale, does better."""
    rng = np.random.default_rng(d)
    X, Y, k = rng.normal(size=(30, d)), rng.normal(size=(30, d)), 6
    _, values = _measures(X, Y, k)
    for i, (A, B) in enumerate(twins.neighborhoods(X, Y, k)):
        Q = orthogonal_procrustes(B, A)[0]
        assert values["procrustes_r"][i] == pytest.approx(((A - B @ Q) ** 2).sum(), abs=1e-12)
        rotations = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(50)]
        assert min(((A - B @ turn) ** 2).sum() for turn in rotations) >= values["procrustes_r"][i] - 1e-12
        best_scale = minimize_scalar(lambda c, A=A, B=B, Q=Q: ((A - c * B @ Q) ** 2).sum() / (A**2).sum())
        assert values["procrustes_rc"][i] == pytest.approx(best_scale.fun, abs=1e-10)


def test_residual_is_the_minimum_over_angles():
    """In the plane: a fine grid of angles with and without reflection attains G and never less."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 2)), rng.normal(size=(12, 2))
    _, values = _measures(X, Y, 5)
    angles = np.linspace(0, 2 * np.pi, 20_001)
    c, s = np.cos(angles), np.sin(angles)
    turns = np.moveaxis(np.array([[c, -s], [s, c]]), 2, 0)
    for i, (A, B) in enumerate(twins.neighborhoods(X, Y, 5)):
        least = min(((A - B @ turns @ F) ** 2).sum(axis=(1, 2)).min() for F in (np.eye(2), np.diag([1, -1])))
        assert values["procrustes_r"][i] <= least + 1e-12
        assert values["procrustes_r"][i] == pytest.approx(least, abs=1e-5)


def test_the_global_scale_is_the_best():
    """R_N,opt is the minimum of R_N over one scale, as a search finds it."""
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    _, values = _measures(X, Y, 7)
    search = minimize_scalar(lambda c: _measures(X, c * Y, 7)[1]["procrustes_rn"].mean(), bracket=(0.1, 1.0))
    assert values["procrustes_rn_opt"].mean() == pytest.approx(search.fun, abs=1e-9)


def test_a_plane_at_seven_tenths():
    """Y = 0.7 X in the plane: R_N = (1 - 0.7)^2 = 0.09 at every point, R_C = R_N,opt = 0."""
    X = np.random.default_rng(0).uniform(size=(60, 2))
    _, values = _measures(X, 0.7 * X, 8)
    assert_allclose(values["procrustes_rn"], 0.09, atol=1e-14)
    assert_allclose(values["procrustes_rc"], 0, atol=1e-14)
    assert_allclose(values["procrustes_rn_opt"], 0, atol=1e-14)


@pytest.mark.parametrize("p", [1, 2, 20])
def test_one_spot_and_coinciding_points(p):
    """A constant embedding scores exactly 1; neighborhoods of coinciding data contribute exactly 0 and are counted."""
    X = np.vstack([np.full((5, p), 0.1), np.random.default_rng(p).normal(size=(25, p))])
    parts, values = _measures(X, np.full((30, 2), 0.3), 4)
    assert_array_equal(values["procrustes_rc"], [0.0] * 5 + [1.0] * 25)
    assert_array_equal(values["procrustes_rn_opt"], [0.0] * 5 + [1.0] * 25)
    assert_array_equal(values["procrustes_lower_bound"][:5], 0)
    assert [(note.code, note.values) for note in coincident_note(parts.x2)] == [
        ("procrustes.coincident", (("count", 5),))
    ]
    assert coincident_note(parts.x2[5:]) == ()


def test_far_from_the_origin():
    """An offset of a million costs no digit that the coordinates still have."""
    rng = np.random.default_rng(0)
    X, Y = np.round(rng.normal(size=(50, 3)), 6), np.round(rng.normal(size=(50, 2)), 6)
    X, Y = np.round(X * 2**20) / 2**20, np.round(Y * 2**20) / 2**20  # exact after adding an integer below 2**32
    _, values = _measures(X, Y, 6)
    _, moved_values = _measures(X + 2.0**20, Y - 2.0**20, 6)
    for name in values:
        assert_allclose(moved_values[name], values[name], rtol=1e-11, atol=1e-13)


@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 8)),
    thin=st.sampled_from([0.0, 1e-14, 1e-9, 1e-4, 1.0]),
    exponent=st.sampled_from([-60, 0, 60]),
    seed=st.integers(0, 2**32 - 1),
)
def test_nuclear_norm_is_the_sum_of_singular_values(shape, thin, exponent, seed):
    """To 1e-13 of their sum, for blocks from full rank to nearly collinear; zero blocks give 0."""
    rng = np.random.default_rng(seed)
    (a, b), scale = shape, 10.0**exponent
    M = scale * (np.outer(rng.normal(size=a), rng.normal(size=b)) + thin * rng.normal(size=(a, b)))
    M[:, rng.integers(b)] *= rng.choice([0.0, 1e-8, 1.0])
    expected = np.linalg.svd(M, compute_uv=False).sum()
    assert nuclear_norm(M.copy()) == pytest.approx(expected, rel=1e-13 * max(a, b), abs=0)


def test_small_singular_values_keep_their_digits():
    """Columns of very different length: the small one does not vanish in the square of the large one."""
    M = np.array([[1.0, 1.0], [0.0, 1e-9], [0.0, 0.0]])
    s = np.linalg.svd(M, compute_uv=False)
    assert nuclear_norm(M.copy()) - s[0] == pytest.approx(s[1], rel=1e-6)


@given(pair=ANY_WIDTH)
def test_disparity_is_that_of_scipy(pair):
    """The narrower of the two is padded with zeros; an embedding in one place, which scipy rejects, has 1."""
    X, Y = pair
    if (Y == Y[0]).all():
        assert disparity(X, Y) == pytest.approx(1.0, abs=1e-15)
        return
    width = max(X.shape[1], Y.shape[1])
    padded = [np.pad(Z - Z[0], ((0, 0), (0, width - Z.shape[1]))) for Z in (X, Y)]
    assert disparity(X, Y) == pytest.approx(their_procrustes(*padded)[2], abs=1e-9)


@given(pair=ANY_WIDTH, size=st.integers(1, 9), drop=st.floats(0, 1), seed=st.integers(0, 99))
def test_disparity_of_any_blocks_and_of_sparse_rows(pair, size, drop, seed):
    """Test any blocks of a table with zeros, with some columns that have none, dense or sparse."""
    X, Y = pair
    rng = np.random.default_rng(seed)
    X = np.where((rng.random(X.shape) < drop) & (rng.random(X.shape[1]) < 0.7), 0.0, X)
    if (X == X[0]).all() or (Y == Y[0]).all():
        return
    expected = disparity(X, Y)
    with pytest.MonkeyPatch.context() as patch:
        parts = [slice(at, min(at + size, len(X))) for at in range(0, len(X), size)]
        patch.setattr(stored, "row_blocks", lambda _: parts)
        assert disparity(X, Y) == pytest.approx(expected, abs=1e-12)
        assert disparity(csr_array(X), Y) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_disparity_of_a_turned_and_scaled_copy_is_zero(kind):
    """The disparity is zero for any cloud."""
    rng = np.random.default_rng(3)
    X = KINDS[kind](rng, 40, 3)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert disparity(X, 7 * X @ Q + 2) == pytest.approx(0.0, abs=1e-9)
    assert 0 <= disparity(X, rng.normal(size=(40, 2))) <= 1
