"""Scores from the loss of t-SNE: the maps that have them, and changes without an effect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import dreval
import dreval.geometry.tsne as tsne_loss
from dreval.errors import ApproximationWarning, InputError, UndefinedMeasure, UnknownName
from dreval.geometry.tsne import NeighborAffinities, PairAffinities, conditional_affinities, loss_parts
from dreval.records.points import SingularityScore

X = np.random.default_rng(0).normal(size=(70, 5)) + 3 * (np.arange(70) % 2)[:, None]
CLOUD = np.random.default_rng(0).normal(size=(90, 4))
PERPLEXITY = 15.0


@pytest.fixture(scope="module")
def raw() -> np.ndarray:
    """A map by the bundled method, with affinities of all pairs."""
    return dreval.methods.TSNE(perplexity=PERPLEXITY, n_affinities=69, random_state=0).fit_transform(X)


@pytest.fixture(scope="module")
def score(raw: np.ndarray) -> SingularityScore:
    """Its score after Newton steps."""
    return dreval.singularity_score(X, raw, perplexity=PERPLEXITY, polish=True)


def test_a_map_that_is_not_a_minimum_raises_an_error(raw: np.ndarray) -> None:
    """The error names the map, the requirement, the deviation, and the hint."""
    with pytest.raises(UndefinedMeasure, match="Newton steps of up to") as error:
        dreval.singularity_score(X, raw, perplexity=PERPLEXITY)
    assert error.value.argument == "Y"
    assert "local minimum" in error.value.requirement
    assert "polish=True" in error.value.hint
    with pytest.raises(UndefinedMeasure, match=r"\d+ of 70 points at which the loss has no minimum"):
        dreval.singularity_score(X, X[:, :2], perplexity=PERPLEXITY)
    with pytest.raises(UndefinedMeasure, match="all points in one place"):
        dreval.singularity_score(X, np.zeros((70, 2)), perplexity=PERPLEXITY, polish=True)


def test_the_reason_why_polishing_ended_without_a_minimum_is_reported(
    raw: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The map grew, steps ran out, or no step decreased the loss: each has a separate reason and hint."""
    rng = np.random.default_rng(0)
    apart = np.where(np.kron(np.eye(2), np.ones((10, 10))) > 0, 1.0, 1e-12) - np.eye(20)  # hardly joined
    with pytest.raises(UndefinedMeasure, match="the map had grown to 2 times its width") as error:
        dreval.singularity_score(X[:20], rng.normal(size=(20, 2)), affinities=apart, polish=True)
    assert "local_distortion" in error.value.hint
    monkeypatch.setattr(tsne_loss, "STEPS", 1)
    with pytest.raises(UndefinedMeasure, match="after 1 Newton steps of all points: no more than") as error:
        dreval.singularity_score(X, raw, perplexity=PERPLEXITY, polish=True)
    assert "longer, so that it ends nearer" in error.value.hint
    monkeypatch.setattr(tsne_loss, "HALVINGS", 0)
    with pytest.raises(UndefinedMeasure, match="after 0 Newton steps of all points: no shorter step") as error:
        dreval.singularity_score(X, raw, perplexity=PERPLEXITY, polish=True)
    assert "saddle" in error.value.hint


def test_a_progress_bar_is_displayed_on_request(score: SingularityScore, capsys: pytest.CaptureFixture[str]) -> None:
    """There is a bar of Newton steps and of points; none by default where there is no terminal."""
    dreval.perturbation_score(X, score.coordinates, perplexity=PERPLEXITY, points=[0])
    assert capsys.readouterr().err == ""
    dreval.perturbation_score(X, score.coordinates, perplexity=PERPLEXITY, points=[0], progress=True)
    assert "Perturbed points" in capsys.readouterr().err
    dreval.singularity_score(X, score.coordinates, perplexity=PERPLEXITY, polish=True, progress=True)
    assert "Newton steps" in capsys.readouterr().err


def test_the_published_example_is_not_a_minimum() -> None:
    """The first point of the map without random numbers has a negative eigenvalue, which raises an error."""
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
    repeated = dreval.singularity_score(X, score.coordinates, perplexity=PERPLEXITY)
    assert_array_equal(repeated.values, score.values)
    assert not repeated.moved.any()
    assert repeated.n_steps == 0
    blocks = loss_parts(PairAffinities(X, PERPLEXITY), score.coordinates).blocks
    assert_allclose(score.lambda_min, np.linalg.eigvalsh(blocks).min(axis=1), rtol=1e-10)
    assert_allclose(score.values, 1 / score.lambda_min)
    assert_allclose(score.per_n, score.values / 70)


def test_maps_of_scikit_learn_are_polished() -> None:
    """Exact t-SNE of another program ends near a minimum; Newton steps move it to the minimum."""
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
    for passed in (csr_array(7 * P), P):
        result = dreval.singularity_score(X, score.coordinates, affinities=passed)
        assert_allclose(result.values, score.values, rtol=1e-9)


def test_neighbors_are_those_of_the_bundled_method() -> None:
    """Three times the perplexity: the same scores as from its matrix, and others than with all pairs."""
    Y = dreval.methods.TSNE(perplexity=PERPLEXITY, random_state=0).fit_transform(X)
    result = dreval.singularity_score(X, Y, perplexity=PERPLEXITY, affinities="neighbors", polish=True)
    conditional = conditional_affinities(X, PERPLEXITY)
    result_with_matrix = dreval.singularity_score(X, result.coordinates, affinities=conditional + conditional.T)

    assert_allclose(result_with_matrix.values, result.values, rtol=1e-9)
    with pytest.raises(UndefinedMeasure):
        dreval.singularity_score(X, result.coordinates, perplexity=PERPLEXITY)


@pytest.mark.parametrize("d", [1, 3])
def test_maps_of_one_and_three_dimensions_have_scores(d: int) -> None:
    """Maps of other dimensions than two are treated the same."""
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
    """One row per point, one per score, and one for the map; printed form in 80 columns."""
    points = score.augment()
    assert list(points) == ["id", "y1", "y2", "values", "per_n", "lambda_min", "step_ratio", "moved"]
    assert_array_equal(points["values"], score.values)
    assert score.tidy()["score"].tolist() == ["values", "per_n", "lambda_min", "step_ratio", "moved"]
    assert_allclose(score.tidy().loc[0, "median"], np.median(score.values))
    assert score.glance().loc[0, "n"] == 70
    assert score.glance().loc[0, "perplexity"] == PERPLEXITY
    assert repr(score) == str(score)
    assert max(map(len, str(score).splitlines())) <= 80
    with pytest.raises(ValueError, match="read-only"):
        score.values[0] = 1.0


def test_bad_arguments_raise_an_error(score: SingularityScore) -> None:
    """Each error names the argument."""
    Y, P = score.coordinates, PairAffinities(X, PERPLEXITY).rows(np.arange(70))
    lopsided, negative, diagonal = P.copy(), P.copy(), P.copy()
    lopsided[np.unravel_index(P.argmax(), P.shape)] *= 1.1
    negative[0, 1] = negative[1, 0] = -1e-3
    diagonal[0, 0] = 0.1
    for passed, kind, text in (
        (lopsided, InputError, "must be symmetric"),
        (negative, InputError, "a negative entry"),
        (diagonal, InputError, "another diagonal"),
        (0 * P, InputError, "zeros only"),
        (P[:5, :5], InputError, "a row per point"),
        ("neighbours", UnknownName, "neighbors"),
    ):
        with pytest.raises(kind, match=text) as error:
            dreval.singularity_score(X, Y, affinities=passed)
        assert error.value.argument == "affinities"
    with pytest.raises(InputError, match="`Y` must have"):
        dreval.singularity_score(X, Y[:5], perplexity=PERPLEXITY)
    with pytest.raises(InputError, match="`metric` must be 'euclidean'"):
        dreval.singularity_score(X, Y, perplexity=5, affinities="neighbors", metric="cosine")
    with pytest.warns(ApproximationWarning, match="perplexity of 30"), pytest.raises(UndefinedMeasure):
        dreval.singularity_score(X, Y)


def moved_affinities(X, i: int, place: np.ndarray, k: int, perplexity: float = PERPLEXITY) -> np.ndarray:
    """All of P after point i moved in the data, each with its k nearest neighbors: from the definition."""
    n = len(X)
    after = X.copy()
    after[i] = place
    old, new = cdist(X, X, "sqeuclidean"), cdist(after, after, "sqeuclidean")
    conditional = np.zeros((n, n))
    for j in range(n):
        other_points = np.flatnonzero(np.arange(n) != j)
        calibrated_on = np.sort((new if j == i else old)[j, other_points])[
            :k
        ]  # the others have theirs from before the move
        near = other_points[np.argsort(new[j, other_points])[:k]]
        conditional[j, near] = np.exp(-_rate(calibrated_on, perplexity) * (new[j, near] - new[j, near].min()))
        conditional[j] /= conditional[j].sum()
    return (conditional + conditional.T) / (2 * n)


def lowest_place(X, Y, i: int, place: np.ndarray, k: int | None = None, perplexity: float = PERPLEXITY) -> np.ndarray:
    """Where the loss of point i alone is least after it moved in the data: from the definition, by scipy."""
    n = len(X)
    is_other = np.arange(n) != i
    P = moved_affinities(X, i, place, n - 1 if k is None else k, perplexity)[i, is_other]
    remaining = Y[is_other]
    fixed_sum = (1 / (1 + cdist(remaining, remaining, "sqeuclidean"))).sum() - (n - 1)

    def loss(y: np.ndarray) -> float:
        w = 1 / (1 + ((y - remaining) ** 2).sum(axis=1))
        return float(-2 * (P * np.log(w)).sum() + np.log(fixed_sum + 2 * w.sum()))

    starts = [Y[i], *remaining[np.argsort(-P)[:2]]]
    results = [minimize(loss, start, method="BFGS", options={"gtol": 1e-9}) for start in starts]
    return min(results, key=lambda result: result.fun).x


def _rate(squared: np.ndarray, perplexity: float) -> float:
    """Return the rate whose weights have the perplexity."""

    def beyond(log_rate: float) -> float:
        p = np.exp(-np.exp(log_rate) * (squared - squared.min()))
        p /= p.sum()
        return float(-(p * np.log(np.where(p > 0, p, 1.0))).sum() - np.log(perplexity))

    return float(np.exp(brentq(beyond, -15, 15, xtol=1e-14)))


def test_perturbations_are_the_minima_of_the_definition(score: SingularityScore) -> None:
    """For some points, all six directions: where scipy finds the least loss of the moved point."""
    Y, points = score.coordinates, [0, 3, 21, 50]
    result = dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=0.3, points=points)
    centered = X - X.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:3]
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    unit = D.min(axis=1).mean()

    assert_allclose(result.unit, unit)
    assert np.isnan(result.values).sum() == 66
    for i in points:
        distances = []
        for axis in axes:
            distances += [np.linalg.norm(lowest_place(X, Y, i, X[i] + s * 0.3 * unit * axis) - Y[i]) for s in (1, -1)]
        assert_allclose(result.values[i], max(distances), rtol=1e-4)
        assert result.direction[i][1:] == f"PC{np.argmax(distances) // 2 + 1}"


@pytest.fixture(scope="module")
def polished_score() -> SingularityScore:
    """Return the minimum of a map whose affinities are those of 45 neighbors."""
    Y = dreval.methods.TSNE(perplexity=15, random_state=0).fit_transform(CLOUD)
    return dreval.singularity_score(CLOUD, Y, perplexity=15, affinities="neighbors", polish=True)


def test_affinities_of_neighbors_are_recomputed_for_a_moved_point() -> None:
    """Affinities use the neighbors after the move and the old bandwidths; many points enter and leave lists."""
    from dreval.geometry._loops import tsne_loss as loops

    result, rng, n_changed = NeighborAffinities(X, 6.0), np.random.default_rng(2), 0
    p = np.empty(70)
    for i in range(0, 70, 6):
        to = X[i] + rng.normal(size=5)
        squared_distances = cdist(to[None], X, "sqeuclidean")[0]
        passed = result.n_neighbors, np.log(6.0), 18, *result.bandwidths, result.limits, p
        loops.moved_row(
            i, result.squared(np.array([i]))[0], result.inside(np.array([i]))[0], squared_distances, *passed
        )
        P = moved_affinities(X, i, to, 18, 6.0)
        assert_allclose(p, P[i], rtol=1e-7, atol=1e-18)
        n_changed += int(((P[i] > 0) != (result.matrix.toarray()[i] > 0)).sum())
    assert n_changed > 40


def test_perturbations_with_neighbors_are_the_minima_of_the_definition(polished_score: SingularityScore) -> None:
    """For some points, all six directions: where scipy finds the least loss, with P from the definition."""
    Y, points = polished_score.coordinates, [0, 3, 21]
    result = dreval.perturbation_score(CLOUD, Y, perplexity=15, affinities="neighbors", points=points)
    axes = np.linalg.svd(CLOUD - CLOUD.mean(axis=0), full_matrices=False)[2][:3]

    for i in points:
        places = [
            lowest_place(CLOUD, Y, i, CLOUD[i] + s * result.unit * axis, 45, 15.0) for axis in axes for s in (1, -1)
        ]
        assert_allclose(result.values[i], max(np.linalg.norm(place - Y[i]) for place in places), rtol=1e-4)
    stays = dreval.perturbation_score(CLOUD, Y, perplexity=15, affinities="neighbors", length=0.0)
    assert np.median(stays.values) <= 2e-3 * polished_score.nearest_distance
    with pytest.raises(UndefinedMeasure, match="local minimum"):
        dreval.perturbation_score(CLOUD, Y, perplexity=15)


def test_all_other_points_as_neighbors_are_all_pairs(score: SingularityScore) -> None:
    """With the largest perplexity the neighbors are all other points: the two kinds of affinities are one."""
    Y = dreval.singularity_score(X, score.coordinates, perplexity=23, polish=True).coordinates
    pairs = dreval.perturbation_score(X, Y, perplexity=23, length=0.5)
    from_lists = dreval.perturbation_score(X, Y, perplexity=23, length=0.5, affinities="neighbors")

    assert_allclose(from_lists.values, pairs.values, rtol=1e-6)
    assert_array_equal(from_lists.direction, pairs.direction)


def test_perturbations_are_those_of_the_authors() -> None:
    """neMDBD, run in R with searches that continue; the original ends early, within 1 % of the width of the map."""
    expected = pd.read_csv(Path(__file__).parents[1] / "validation" / "oracles" / "nemdbd_perturbation.csv")
    data, Y = expected.filter(regex="^x").to_numpy(), expected[["y1", "y2"]].to_numpy()
    D = cdist(data, data)
    np.fill_diagonal(D, np.inf)
    result = dreval.perturbation_score(data, Y, perplexity=15, length=1 / D.min(axis=1).mean())

    assert_allclose(result.values, expected["exact"], rtol=0, atol=1e-6 * np.ptp(Y, axis=0).max())
    assert_allclose(result.values, expected["published"], rtol=0, atol=0.01 * np.ptp(Y, axis=0).max())


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
    default = dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=0.3, n_jobs=1)

    parallel = dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=0.3, n_jobs=2)
    assert_array_equal(parallel.values, default.values)
    permuted = dreval.perturbation_score(X[order], Y[order], perplexity=PERPLEXITY, length=0.3)
    assert_allclose(permuted.values, default.values[order], rtol=1e-5, atol=1e-6)
    turned_result = dreval.perturbation_score(X, turned, perplexity=PERPLEXITY, length=0.3)
    assert_allclose(turned_result.values, default.values, rtol=1e-5, atol=1e-6)
    selected = dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=0.3, points=[9, 2])
    assert_array_equal(selected.values[[9, 2]], default.values[[9, 2]])
    assert (selected.direction[[0, 1]] == "").all()


def test_bad_perturbations_raise_an_error(score: SingularityScore, raw: np.ndarray) -> None:
    """A map that is not a minimum, invalid points, and a negative length."""
    Y = score.coordinates
    with pytest.raises(UndefinedMeasure, match="local minimum"):
        dreval.perturbation_score(X, raw, perplexity=PERPLEXITY)
    for passed in ([0, 0], [70], [-1], [0.5], [], "all"):
        with pytest.raises(InputError, match="`points` must be"):
            dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, points=passed)
    with pytest.raises(InputError, match="both are computed again for the moved point"):
        dreval.perturbation_score(X, Y, affinities=PairAffinities(X, PERPLEXITY).rows(np.arange(70)))
    with pytest.raises(UnknownName, match="neighbors"):
        dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, affinities="neighbours")
    with pytest.raises(InputError, match="`length`"):
        dreval.perturbation_score(X, Y, perplexity=PERPLEXITY, length=-1)


def test_tables_of_perturbations(score: SingularityScore) -> None:
    """The table has a direction for each score; points left out have none."""
    result = dreval.perturbation_score(X, score.coordinates, perplexity=PERPLEXITY, points=[4, 5])
    assert list(result.augment()) == ["id", "y1", "y2", "values", "per_width", "direction"]
    assert result.tidy()["n_used"].tolist() == [2, 2]
    assert result.glance().loc[0, ["length", "perplexity"]].tolist() == [1.0, PERPLEXITY]
    assert max(map(len, str(result).splitlines())) <= 80


def test_affinities_in_parts_have_no_minimum():
    """Two clusters without neighbors in the other move apart without limit, and no map has scores."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 4)), rng.normal(size=(40, 4)) + 12 * np.eye(4)[0]])
    Y = dreval.methods.TSNE(perplexity=5, random_state=0).fit_transform(X)
    for score in (dreval.singularity_score, dreval.perturbation_score):
        with pytest.raises(UndefinedMeasure, match="2 parts of 40, 40 points"):
            score(X, Y, perplexity=5, affinities="neighbors")
    within = np.kron(np.eye(2), np.ones((40, 40))) - np.eye(80)
    with pytest.raises(UndefinedMeasure, match="2 parts of 40, 40 points"):
        dreval.singularity_score(X, Y, affinities=csr_array(within), polish=True)
