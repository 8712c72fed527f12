"""Inverse kernel decomposition: exact kernels give exact places; paths by Floyd-Warshall; the paper's three maps."""

from __future__ import annotations

import signal
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import ApproximationWarning, DegenerateDataWarning, InputError, UnknownName
from dreval.methods import IKD
from dreval.methods.ikd import inverse_kernel, matern

FORMULAS = {
    "gaussian": lambda d: np.exp(-d / 2),
    "rational_quadratic": lambda d: (1 + d / (2 * 0.7)) ** -0.7,
    "gamma_exponential": lambda d: np.exp(-(d**0.6)),
    "matern": lambda d: (1 + np.sqrt(3 * d)) * np.exp(-np.sqrt(3 * d)),
}
SHAPES = {"alpha": 0.7, "gamma": 1.2, "nu": 1.5}


def _data_with(K, rng):
    """Return rows whose centered covariance is K exactly: columns are orthonormal and orthogonal to 1."""
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    frame = np.linalg.qr(np.c_[np.ones(n + 5), rng.normal(size=(n + 5, n))])[0][:, 1:]
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ frame.T


@pytest.mark.parametrize("kernel", FORMULAS)
def test_an_exact_kernel_gives_exact_places(kernel):
    """All distances in the embedding are those of the latent, for any variance and means of the rows."""
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1, 1, size=(40, 2))
    X = _data_with(FORMULAS[kernel](cdist(Z, Z) ** 2), rng)
    X = X * rng.uniform(1, 3, size=(40, 1)) + rng.normal(size=(40, 1))
    ikd = IKD(2, kernel=kernel, min_correlation=0.0, **SHAPES).fit(X)
    assert_allclose(cdist(ikd.embedding_, ikd.embedding_), cdist(Z, Z), atol=1e-5)
    r = int(np.argmin(cdist(Z, Z).max(axis=1)))
    assert ikd.reference_point_ == r
    assert_allclose(ikd.embedding_[r], 0.0, atol=1e-6)


def test_the_mean_as_reference_is_classical_scaling():
    """The places are exact, and their mean is 0; g is -H D H / 2 (Gower)."""
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1, 1, size=(40, 2))
    X = _data_with(FORMULAS["gaussian"](cdist(Z, Z) ** 2), rng)
    ikd = IKD(2, min_correlation=0.0, reference="mean").fit(X)
    assert_allclose(cdist(ikd.embedding_, ikd.embedding_), cdist(Z, Z), atol=1e-5)
    assert_allclose(ikd.embedding_.mean(axis=0), 0.0, atol=1e-9)
    assert ikd.reference_point_ == -1
    H = np.eye(40) - 1 / 40
    top = np.linalg.eigvalsh(-0.5 * H @ ikd.squared_distances_ @ H)[:-3:-1]
    assert_allclose(ikd.eigenvalues_, top)


@given(st.integers(0, 10**6), st.integers(1, 24))
def test_neighbors_are_the_most_correlated(seed, k):
    """Distances of pairs outside the k best of both are derived by paths; with k = n - 1 nothing changes."""
    data = dreval.simulate("sine_map", n=25, n_features=40, random_state=seed % 50)
    rho = np.corrcoef(data.data) - 2 * np.eye(25)
    best = [set(np.argsort(-row)[:k].tolist()) for row in rho]
    steps = np.full((25, 25), np.inf)
    for i in range(25):
        for j in range(25):
            if i != j and rho[i, j] > 0.4 and (j in best[i] or i in best[j]):
                steps[i, j] = np.sqrt(-2 * np.log(rho[i, j]))
    np.fill_diagonal(steps, 0.0)
    paths = steps.copy()
    for m in range(25):
        paths = np.minimum(paths, paths[:, [m]] + paths[[m]])
    paths[np.isfinite(steps)] = steps[np.isfinite(steps)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        result = IKD(1, n_neighbors=k).fit(data.data).squared_distances_
        complete = IKD(1).fit(data.data).squared_distances_
    joined = np.isfinite(paths)
    assert_allclose(result[joined], paths[joined] ** 2, atol=1e-7)
    if k == 24:
        assert_array_equal(result, complete)


@pytest.mark.parametrize("kernel", FORMULAS)
def test_cliques_with_an_exact_kernel_give_exact_places(kernel):
    """Points along an arc, most pairs below the threshold: the cliques fit together exactly."""
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(0, 3, size=80))
    Z = 2 * np.c_[np.cos(t), np.sin(t)] + rng.uniform(-0.3, 0.3, size=(80, 2))
    X = _data_with(FORMULAS[kernel](cdist(Z, Z) ** 2), rng)
    ikd = IKD(2, kernel=kernel, solution="blockwise", **SHAPES).fit(X)
    assert_allclose(cdist(ikd.embedding_, ikd.embedding_), cdist(Z, Z), atol=1e-4)
    joined = ikd.correlations_ > 0.4
    assert not joined.all()
    for clique in ikd.cliques_:
        assert joined[np.ix_(clique, clique)].all()
        assert joined[clique].all(axis=0).sum() == len(clique)  # maximal: no other point is joined to all of it
    assert_array_equal(np.unique(np.concatenate(ikd.cliques_)), np.arange(80))


@given(st.sampled_from([0.5, 1.5, 2.5]), st.floats(-5, 2))
def test_matern_of_half_orders_has_closed_forms(nu, exponent):
    """nu = 1/2, 3/2 and 5/2 are polynomials times an exponential."""
    d = np.array([10.0**exponent])
    t = np.sqrt(2 * nu * d)
    factor = {0.5: 1.0, 1.5: 1 + t, 2.5: 1 + t + t**2 / 3}[nu]
    assert_allclose(matern(d, nu), factor * np.exp(-t), rtol=1e-9)


@given(st.floats(0.05, 50), st.floats(1e-6, 0.9999))
def test_matern_is_inverted(nu, rho):
    """f of its inverse is the input, for any order."""
    d = inverse_kernel("matern", 1.0, 1.0, nu)(np.array([rho, 1.0]))
    assert d[1] < 1e-9
    assert_allclose(matern(d[:1], nu), rho, rtol=1e-8)


@pytest.mark.parametrize("nu", [0.05, 0.0625, 0.07, 0.1])
def test_matern_of_small_orders_is_inverted(nu):
    """The inverse holds below the table of the Bessel function, where a power law is off by up to 2 %."""
    rho = np.array([0.999999, 0.9999, 0.99, 0.9, 0.75, 0.5, 0.1])
    assert_allclose(matern(inverse_kernel("matern", 1.0, 1.0, nu)(rho), nu), rho, rtol=1e-9)


@given(st.sampled_from(sorted(FORMULAS)), st.floats(0.01, 1.0))
def test_table_1_is_inverted(kernel, rho):
    """Each kernel of the table at the distance derived from rho equals rho."""
    d = inverse_kernel(kernel, *SHAPES.values())(np.array([rho]))
    assert d[0] >= 0
    assert_allclose(FORMULAS[kernel](d), rho, rtol=1e-8)


@given(st.integers(0, 10**6), st.sampled_from(["geodesic", "max_product"]))
def test_paths_equal_a_naive_twin(seed, solution):
    """Floyd-Warshall over sums of distances, or products of correlations; pairs above the threshold do not change."""
    data = dreval.simulate("gp_map", n=25, n_features=40, random_state=seed % 50)
    rho = np.corrcoef(data.data)
    above_threshold = rho > 0.4
    np.fill_diagonal(rho, 1.0)
    steps = np.where(above_threshold, np.sqrt(-2 * np.log(np.clip(rho, 1e-9, 1))), np.inf)
    steps = steps if solution == "geodesic" else steps**2
    paths = steps.copy()
    for m in range(25):
        paths = np.minimum(paths, paths[:, [m]] + paths[[m]])
    squared = np.where(above_threshold, steps, paths)
    squared = squared**2 if solution == "geodesic" else squared
    ikd = IKD(2, solution=solution)
    if np.isfinite(squared).all():
        ikd.fit(data.data)
    else:
        squared[~np.isfinite(squared)] = squared[np.isfinite(squared)].max()
        with pytest.warns(ApproximationWarning, match="are not joined by correlations above the threshold"):
            ikd.fit(data.data)
    assert_allclose(ikd.squared_distances_, squared, atol=1e-7)


@pytest.mark.filterwarnings("ignore::dreval.errors.ApproximationWarning")
@pytest.mark.parametrize(("data", "d", "least"), [("gp_map", 3, 0.98), ("sine_map", 1, 0.98), ("bump_map", 2, 0.9)])
def test_the_maps_of_the_paper(data, d, least):
    """500 points in 500 columns: R^2 of the latent variables, and that of the printed paths, which is far smaller."""
    sample = dreval.simulate(data, n=500, n_features=500, random_state=0)
    result = {
        name: dreval.latent_r2(IKD(d, **settings).fit_transform(sample.data), latent=sample.latent)
        for name, settings in {
            "default": {},
            "blockwise": {"solution": "blockwise"},
            "printed": {"solution": "max_product", "variance": "mean"},
        }.items()
    }
    assert result["default"] > least
    assert result["blockwise"] > 0.9
    assert result["printed"] < 0.6


def test_correlations_are_those_of_the_rows():
    """numpy's corrcoef; with the mean variance, covariances over one number."""
    X = np.random.default_rng(0).normal(size=(30, 50)) * np.linspace(1, 2, 30)[:, None] + 5
    assert_allclose(IKD(2, min_correlation=0.0).fit(X).correlations_, np.corrcoef(X), atol=1e-12)
    S = np.cov(X)
    expected = np.minimum(S / np.trace(S) * 30, 1.0)
    np.fill_diagonal(expected, 1.0)
    assert_allclose(IKD(2, min_correlation=0.0, variance="mean").fit(X).correlations_, expected, atol=1e-12)


def test_parts_cause_a_warning():
    """Two groups without a correlation: the largest distance between them, or side by side by cliques."""
    rng = np.random.default_rng(0)
    Z = rng.uniform(-0.5, 0.5, size=(30, 1))
    K = np.kron(np.eye(2), np.exp(-(cdist(Z, Z) ** 2) / 2)[:15, :15])
    X = _data_with(K, rng)
    with pytest.warns(ApproximationWarning, match="225 of 435 pairs are not joined"):
        ikd = IKD(1).fit(X)
    assert_allclose(ikd.squared_distances_[:15, 15:], ikd.squared_distances_[:15, :15].max())
    with pytest.warns(ApproximationWarning, match="leave 2 parts that share no point"):
        Y = IKD(1, solution="blockwise").fit_transform(X)
    gap = max(Y[:15].min() - Y[15:].max(), Y[15:].min() - Y[:15].max())
    assert gap == pytest.approx(1.0)


def test_constant_rows_cause_a_warning():
    """Rows without variance have one place; with a single column all rows are such."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[3], X[7] = 1.0, 2.0
    with pytest.warns(DegenerateDataWarning, match="2 of 20 rows are constant"), pytest.warns(ApproximationWarning):
        ikd = IKD(2).fit(X)
    assert_allclose(ikd.embedding_[3], ikd.embedding_[7])
    with pytest.warns(DegenerateDataWarning, match="20 of 20 rows are constant"):
        assert not IKD(2).fit_transform(X[:, :1]).any()


def test_illegal_options_and_ranges_raise_an_error():
    """The error has the requirement of the parameter."""
    X = np.random.default_rng(0).normal(size=(20, 30))
    for invalid in ({"kernel": "matern32"}, {"solution": "geodesics"}, {"variance": "all"}, {"reference": "center"}):
        with pytest.raises(UnknownName):
            IKD(2, **invalid).fit(X)
    with pytest.raises(InputError, match="`n_neighbors`"):
        IKD(2, n_neighbors=20).fit(X)
    with pytest.raises(InputError, match="`min_correlation` must be below 1"):
        IKD(2, min_correlation=1.0).fit(X)
    for kernel, shape in (("rational_quadratic", "alpha"), ("gamma_exponential", "gamma"), ("matern", "nu")):
        for used in (kernel, "gaussian"):
            with pytest.raises(InputError, match=rf"`{shape}` must be at least 0.05"):
                IKD(2, kernel=used, **{shape: 0.01}).fit(X)
            for invalid in ("x", np.nan):
                with pytest.raises(InputError, match=rf"`{shape}` must be"):
                    IKD(2, kernel=used, **{shape: invalid}).fit(X)


def test_two_columns_that_lapack_cannot_split_are_embedded():
    """Centered rows of two columns all have correlation 1 or -1; scipy's MRRR gives up on their spectrum."""
    X = np.random.default_rng(1800).normal(size=(16, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = IKD(15, random_state=0).fit_transform(X)
    assert np.isfinite(Y).all()


@pytest.mark.filterwarnings("ignore::dreval.errors.ApproximationWarning")
@pytest.mark.parametrize(
    "shared", [pytest.param(0.0, id="few_pairs", marks=pytest.mark.slow), pytest.param(2.0, id="nearly_all_pairs")]
)
def test_1500_points_can_be_interrupted(shared):
    """A signal every fiftieth of a second is handled many times, since no step takes long."""
    data = dreval.simulate("bump_map", n=1500, n_features=200, random_state=0).data
    data = data + shared * data.std() * np.random.default_rng(0).normal(size=200)  # a part that all rows have in common
    IKD(2).fit(data[:100])  # compiles the loops
    served = []
    before = signal.signal(signal.SIGVTALRM, lambda *_: served.append(1))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.02, 0.02)
    try:
        ikd = IKD(2).fit(data)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
    share = (ikd.correlations_ > 0.4).mean()
    assert (share > 0.5) == (shared > 0)
    assert len(served) > 3


def test_inverse_kernels_take_values_one_by_one(monkeypatch):
    """Pieces of three values give the same distances as all at once, for every kernel."""
    data = dreval.simulate("sine_map", n=25, n_features=200, random_state=0).data
    for kernel in FORMULAS:
        full = IKD(1, kernel=kernel, min_correlation=0.0, solution="max_product").fit(data).squared_distances_
        with monkeypatch.context() as patch:
            patch.setattr("dreval.methods.ikd.CHUNK_VALUES", 3)
            pieces = IKD(1, kernel=kernel, min_correlation=0.0, solution="max_product").fit(data).squared_distances_
        assert_array_equal(pieces, full)


def signs_are_fixed(Y):
    """Whether the entry of largest size is positive in each column."""
    return bool((Y[np.abs(Y).argmax(axis=0), np.arange(Y.shape[1])] > 0).all())


def test_length_scales_are_those_of_independent_variables():
    """Exact kernel with length scales .8 and 2.4: the spreads of the latent variables over them, from the distances.

    The two latent variables are uncorrelated with variances 1 and 4, so that those of variance 1 have the length scales
    .8 and 1.2; in their units each coordinate is one of the variables, up to sign.
    """
    rng = np.random.default_rng(0)
    Z = np.linalg.qr(rng.normal(size=(40, 2)) - 0.0)[0]
    Z = np.linalg.qr(Z - Z.mean(axis=0))[0] * np.sqrt(40) * [1.0, 2.0]
    Z -= Z.mean(axis=0)
    K = np.exp(-0.5 * cdist(Z / [0.8, 2.4], Z / [0.8, 2.4], "sqeuclidean"))
    ikd = IKD(2, min_correlation=0.0, scale="variance").fit(_data_with(K, rng))
    plain = IKD(2, min_correlation=0.0).fit(_data_with(K, rng))
    variables = Z / Z.std(axis=0)

    assert_allclose(ikd.length_scales_, [0.8, 1.2], rtol=1e-5)
    assert_allclose(plain.length_scales_, ikd.length_scales_, rtol=1e-5)
    assert_allclose(ikd.embedding_.std(axis=0), 1.0)
    assert signs_are_fixed(ikd.embedding_)
    assert_allclose(np.abs(ikd.embedding_), np.abs(variables), atol=1e-4)
    assert_allclose(
        cdist(ikd.embedding_ / [0.8, 1.2], ikd.embedding_ / [0.8, 1.2]), cdist(*[plain.embedding_] * 2), atol=1e-4
    )


def test_length_scales_of_draws_of_a_process():
    """2000 columns, 150 points: within 15 % of .6 and 1.5, and each coordinate is one latent variable."""
    rng = np.random.default_rng(1)
    Z = rng.uniform(-1, 1, size=(150, 2)) * np.sqrt(3)
    Z = np.linalg.qr(np.c_[np.ones(150), Z])[0][:, 1:] * np.sqrt(150)
    L = np.linalg.cholesky(np.exp(-0.5 * cdist(Z / [0.6, 1.5], Z / [0.6, 1.5], "sqeuclidean")) + 1e-8 * np.eye(150))
    ikd = IKD(2, scale="variance").fit(L @ rng.normal(size=(150, 2000)))
    correlations = np.abs(np.corrcoef(ikd.embedding_.T, Z.T)[:2, 2:])

    assert_allclose(ikd.length_scales_, [0.6, 1.5], rtol=0.15)
    assert np.diag(correlations).min() > 0.98
    assert signs_are_fixed(ikd.embedding_)


@pytest.mark.parametrize("solution", ["geodesic", "blockwise"])
def test_a_unit_for_each_coordinate_changes_no_embedding_by_default(solution):
    """By default the coordinates are those before; in the other unit they are centered, with variance 1."""
    data = dreval.simulate("sine_map", n=40, n_features=300, random_state=0).data
    plain, scaled = (IKD(2, solution=solution, scale=scale).fit(data) for scale in ("length", "variance"))
    spread = np.linalg.svd(plain.embedding_ - plain.embedding_.mean(axis=0), compute_uv=False) / np.sqrt(40)
    assert_allclose(plain.length_scales_, 1 / spread)
    assert_allclose(scaled.embedding_.mean(axis=0), 0.0, atol=1e-10)
    assert_allclose(scaled.embedding_.std(axis=0), 1.0)
    assert signs_are_fixed(scaled.embedding_)
    with pytest.raises(UnknownName, match="`scale`"):
        IKD(2, scale="ard").fit(data)


def test_length_scales_of_rounding_are_infinite():
    """Two rows, ten times each, that no correlation joins: all distances are rounding, and no coordinate is scaled."""
    data = np.repeat(np.random.default_rng(0).normal(size=(2, 50)), 10, axis=0)
    with pytest.warns(ApproximationWarning, match="not joined"):
        ikd = IKD(2, scale="variance").fit(data)
    assert np.isinf(ikd.length_scales_).all()
    assert_array_equal(ikd.embedding_, 0.0)
