"""Scores that are read off the loss of t-SNE: which maps have them, and what does not change them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import ApproximationWarning, InputError, UndefinedMeasure, UnknownName
from dreval.geometry.affinities import conditional_affinities
from dreval.geometry.tsne_loss import PairAffinities
from dreval.records.point_scores import SingularityScore

X = np.random.default_rng(0).normal(size=(70, 5)) + 3 * (np.arange(70) % 2)[:, None]
PERPLEXITY = 15.0


@pytest.fixture(scope="module")
def raw() -> np.ndarray:
    """A map by the bundled method, with affinities of all pairs."""
    return dreval.methods.TSNE(perplexity=PERPLEXITY, n_affinities=69, random_state=0).fit_transform(X)


@pytest.fixture(scope="module")
def score(raw: np.ndarray) -> SingularityScore:
    """Its score after Newton steps."""
    return dreval.singularity_score(X, raw, perplexity=PERPLEXITY, polish=True)


def test_a_map_that_is_no_minimum_is_refused(raw: np.ndarray) -> None:
    """The error names the map, the rule, how far it is off, and the cure."""
    with pytest.raises(UndefinedMeasure, match="Newton steps of up to") as caught:
        dreval.singularity_score(X, raw, perplexity=PERPLEXITY)
    assert caught.value.argument == "Y"
    assert "local minimum" in caught.value.rule
    assert "polish=True" in caught.value.cure
    with pytest.raises(UndefinedMeasure, match=r"\d+ of 70 points at which the loss has no minimum"):
        dreval.singularity_score(X, X[:, :2], perplexity=PERPLEXITY)
    with pytest.raises(UndefinedMeasure, match="all points in one place"):
        dreval.singularity_score(X, np.zeros((70, 2)), perplexity=PERPLEXITY, polish=True)


def test_the_published_example_is_no_minimum() -> None:
    """The first point of the map without random numbers has a negative eigenvalue: it is refused."""
    line = np.arange(1, 9.0)
    Y = np.column_stack([3 * np.cos(1.3 * line) + 0.2 * line, 2 * np.sin(0.7 * line) - 0.1 * line])
    P = np.exp(-((line[:, None] - line) ** 2) / 6)
    np.fill_diagonal(P, 0.0)
    with pytest.raises(UndefinedMeasure, match="points at which the loss has no minimum"):
        dreval.singularity_score(line[:, None], Y, affinities=csr_array(P))


def test_newton_steps_lead_to_a_map_that_has_scores(score: SingularityScore, raw: np.ndarray) -> None:
    """The polished map passes without polishing, with the same scores; the record says how far it moved."""
    assert (score.lambda_min > 0).all()
    assert score.step_ratio.max() <= 1e-3
    assert score.loss_decrease > 0
    assert score.n_steps > 0
    assert_allclose(score.moved, np.linalg.norm(score.coordinates - raw, axis=1))
    again = dreval.singularity_score(X, score.coordinates, perplexity=PERPLEXITY)
    assert_array_equal(again.values, score.values)
    assert not again.moved.any()
    assert again.n_steps == 0
    assert_allclose(score.values, 1 / score.lambda_min)
    assert_allclose(score.per_n, score.values / 70)


def test_maps_of_scikit_learn_are_polished() -> None:
    """Exact t-SNE of another program ends near a minimum; Newton steps move it there."""
    TSNE = pytest.importorskip("sklearn.manifold").TSNE
    Y = TSNE(perplexity=PERPLEXITY, method="exact", init="pca", random_state=0).fit_transform(X)
    score = dreval.singularity_score(X, Y, perplexity=PERPLEXITY, polish=True)

    assert score.step_ratio.max() <= 1e-3
    assert dreval.trustworthiness(Y, score.coordinates, n_neighbors=10) > 0.97


def test_order_and_rigid_motions_do_not_change_the_scores(score: SingularityScore) -> None:
    """Points in another order have their scores; so has a map that is rotated, reflected and moved."""
    Y, order = score.coordinates, np.random.default_rng(1).permutation(70)
    turned = Y @ np.array([[0.6, 0.8], [0.8, -0.6]]) + 5.0

    permuted = dreval.singularity_score(X[order], Y[order], perplexity=PERPLEXITY)
    assert_allclose(permuted.values, score.values[order], rtol=1e-9)
    assert_allclose(dreval.singularity_score(X, turned, perplexity=PERPLEXITY).values, score.values, rtol=1e-9)
    with pytest.raises(UndefinedMeasure):
        dreval.singularity_score(X, 1.1 * Y, perplexity=PERPLEXITY)


def test_affinities_as_a_matrix_give_the_same_scores(score: SingularityScore) -> None:
    """The whole P, of any scale, sparse or an array, is as good as the perplexity."""
    P = PairAffinities(X, PERPLEXITY).rows(np.arange(70))
    for given in (csr_array(7 * P), P):
        found = dreval.singularity_score(X, score.coordinates, affinities=given)
        assert_allclose(found.values, score.values, rtol=1e-9)


def test_neighbors_are_those_of_the_bundled_method() -> None:
    """Three times the perplexity: the same scores as from its matrix, and others than with all pairs."""
    Y = dreval.methods.TSNE(perplexity=PERPLEXITY, random_state=0).fit_transform(X)
    found = dreval.singularity_score(X, Y, perplexity=PERPLEXITY, affinities="neighbors", polish=True)
    conditional = conditional_affinities(X, PERPLEXITY)
    same = dreval.singularity_score(X, found.coordinates, affinities=conditional + conditional.T)

    assert_allclose(same.values, found.values, rtol=1e-9)
    with pytest.raises(UndefinedMeasure):
        dreval.singularity_score(X, found.coordinates, perplexity=PERPLEXITY)


@pytest.mark.parametrize("d", [1, 3])
def test_maps_of_one_and_three_dimensions_have_scores(d: int) -> None:
    """Nothing is special about two dimensions."""
    Y = dreval.methods.TSNE(d, perplexity=21, random_state=0).fit_transform(X)
    score = dreval.singularity_score(X, Y, perplexity=21, polish=True)

    assert score.coordinates.shape == (70, d)
    assert (score.values > 0).all()


def test_a_point_between_two_clusters_is_the_softest() -> None:
    """Two clusters and one point in the middle: the score of that point is far above the median."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(61, 3)) + 12 * (np.arange(61) % 2)[:, None] * [1, 0, 0]
    points[-1] = [6, 0, 0]
    Y = dreval.methods.TSNE(perplexity=20, random_state=0).fit_transform(points)
    score = dreval.singularity_score(points, Y, perplexity=20, polish=True)

    assert score.values[-1] > np.quantile(score.values, 0.9)


def test_tables_of_the_record(score: SingularityScore) -> None:
    """One row per point, one per score, and one for the map; short repr, printed form in 80 columns."""
    points = score.augment()
    assert list(points) == ["id", "y1", "y2", "values", "per_n", "lambda_min", "step_ratio", "moved"]
    assert_array_equal(points["values"], score.values)
    assert score.tidy()["score"].tolist() == ["values", "per_n", "lambda_min", "step_ratio", "moved"]
    assert_allclose(score.tidy().loc[0, "median"], np.median(score.values))
    assert score.glance().loc[0, "n"] == 70
    assert score.glance().loc[0, "perplexity"] == PERPLEXITY
    assert len(repr(score)) <= 80
    assert max(map(len, str(score).splitlines())) <= 80
    with pytest.raises(ValueError, match="read-only"):
        score.values[0] = 1.0


def test_bad_arguments_are_refused(score: SingularityScore) -> None:
    """Each refusal names the argument."""
    Y, P = score.coordinates, PairAffinities(X, PERPLEXITY).rows(np.arange(70))
    lopsided, negative, diagonal = P.copy(), P.copy(), P.copy()
    lopsided[np.unravel_index(P.argmax(), P.shape)] *= 1.1
    negative[0, 1] = negative[1, 0] = -1e-3
    diagonal[0, 0] = 0.1
    for given, kind, words in (
        (lopsided, InputError, "must be symmetric"),
        (negative, InputError, "a negative entry"),
        (diagonal, InputError, "another diagonal"),
        (0 * P, InputError, "zeros only"),
        (P[:5, :5], InputError, "a row per point"),
        ("neighbours", UnknownName, "neighbors"),
    ):
        with pytest.raises(kind, match=words) as caught:
            dreval.singularity_score(X, Y, affinities=given)
        assert caught.value.argument == "affinities"
    with pytest.raises(InputError, match="`Y` must have"):
        dreval.singularity_score(X, Y[:5], perplexity=PERPLEXITY)
    with pytest.raises(InputError, match="`metric` must be 'euclidean'"):
        dreval.singularity_score(X, Y, perplexity=5, affinities="neighbors", metric="cosine")
    with pytest.warns(ApproximationWarning, match="perplexity of 30"), pytest.raises(UndefinedMeasure):
        dreval.singularity_score(X, Y)


def lowest_place(X, Y, i: int, moved: np.ndarray) -> np.ndarray:
    """Where the loss of point i alone is least after it moved in the data: from the definition, by scipy."""
    n = len(X)
    old, new = cdist(X, X, "sqeuclidean"), cdist(moved[None], X, "sqeuclidean")[0]
    others = np.arange(n) != i
    conditional = np.zeros((n, n))
    for j in range(n):
        row = new if j == i else old[j]
        away = np.arange(n) != j
        rate = _rate((new if j == i else old[j])[away])
        if j != i:
            row = row.copy()
            row[i] = new[j]  # the bandwidth is that before the move
        conditional[j, away] = np.exp(-rate * (row[away] - row[away].min()))
        conditional[j] /= conditional[j].sum()
    P = (conditional + conditional.T)[i, others] / (2 * n)
    rest = Y[others]
    fixed = (1 / (1 + cdist(rest, rest, "sqeuclidean"))).sum() - (n - 1)

    def loss(y: np.ndarray) -> float:
        w = 1 / (1 + ((y - rest) ** 2).sum(axis=1))
        return float(-2 * (P * np.log(w)).sum() + np.log(fixed + 2 * w.sum()))

    starts = [Y[i], *rest[np.argsort(-P)[:2]]]
    found = [minimize(loss, start, method="BFGS", options={"gtol": 1e-9}) for start in starts]
    return min(found, key=lambda one: one.fun).x


def _rate(squared: np.ndarray) -> float:
    """The rate whose weights have the perplexity."""

    def beyond(log_rate: float) -> float:
        p = np.exp(-np.exp(log_rate) * (squared - squared.min()))
        p /= p.sum()
        return float(-(p * np.log(np.where(p > 0, p, 1.0))).sum() - np.log(PERPLEXITY))

    return float(np.exp(brentq(beyond, -15, 15, xtol=1e-14)))


def test_perturbations_are_the_minima_of_the_definition(score: SingularityScore) -> None:
    """For some points, all six directions: where scipy finds the least loss of the moved point."""
    Y, points = score.coordinates, [0, 3, 21, 50]
    found = dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=0.3, points=points)
    centered = X - X.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:3]
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    unit = D.min(axis=1).mean()

    assert_allclose(found.unit, unit)
    assert np.isnan(found.values).sum() == 66
    for i in points:
        far = []
        for axis in axes:
            far += [np.linalg.norm(lowest_place(X, Y, i, X[i] + s * 0.3 * unit * axis) - Y[i]) for s in (1, -1)]
        assert_allclose(found.values[i], max(far), rtol=1e-4)
        assert found.direction[i][1:] == f"PC{np.argmax(far) // 2 + 1}"


def test_points_that_do_not_move_stay(score: SingularityScore) -> None:
    """At length 0 most points stay where they are, since the map is a minimum; longer ways go farther."""
    Y = score.coordinates
    medians = [
        np.median(dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=length).values)
        for length in (0.0, 0.05, 0.5)
    ]

    assert medians[0] <= 2e-3 * score.nearest_distance
    assert medians[0] < medians[1] < medians[2]


def test_perturbations_do_not_depend_on_order_motion_or_threads(score: SingularityScore) -> None:
    """Points in another order, a rotated map, one thread or two, and some of the points: the same scores."""
    Y, order = score.coordinates, np.random.default_rng(1).permutation(70)
    turned = Y @ np.array([[0.6, 0.8], [0.8, -0.6]]) + 5.0
    usual = dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=0.3, n_jobs=1)

    two = dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=0.3, n_jobs=2)
    assert_array_equal(two.values, usual.values)
    permuted = dreval.perturbation_score(X[order], Y[order], perplexity=PERPLEXITY, length=0.3)
    assert_allclose(permuted.values, usual.values[order], rtol=1e-5, atol=1e-6)
    moved = dreval.perturbation_score(X, turned, perplexity=PERPLEXITY, length=0.3)
    assert_allclose(moved.values, usual.values, rtol=1e-5, atol=1e-6)
    some = dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=0.3, points=[9, 2])
    assert_array_equal(some.values[[9, 2]], usual.values[[9, 2]])
    assert (some.direction[[0, 1]] == "").all()


def test_bad_perturbations_are_refused(score: SingularityScore, raw: np.ndarray) -> None:
    """A map that is no minimum, points that are none, and a negative length."""
    Y = score.coordinates
    with pytest.raises(UndefinedMeasure, match="local minimum"):
        dreval.perturbation_score(X, raw, perplexity=PERPLEXITY)
    for given in ([0, 0], [70], [-1], [0.5], [], "all"):
        with pytest.raises(InputError, match="`points` must be"):
            dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, points=given)
    with pytest.raises(InputError, match="`length`"):
        dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=-1)


def test_tables_of_perturbations(score: SingularityScore) -> None:
    """Directions stand beside the scores; points left out have none."""
    found = dreval.perturbation_score(X, score.coordinates, perplexity=PERPLEXITY, points=[4, 5])
    assert list(found.augment()) == ["id", "y1", "y2", "values", "per_width", "direction"]
    assert found.tidy()["n_used"].tolist() == [2, 2]
    assert found.glance().loc[0, ["length", "perplexity"]].tolist() == [1.0, PERPLEXITY]
    assert max(map(len, [repr(found), *str(found).splitlines()])) <= 80
