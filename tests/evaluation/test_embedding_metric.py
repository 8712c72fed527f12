"""The metric of the embeddings: scikit-learn, exchanged spaces, precomputed distances, and what is missing with it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness as their_trustworthiness
from strategies import neighbor_counts, tie_free_pairs

import dreval
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.streaming import anchored_pass
from dreval.geometry.view import Reads, make_views
from dreval.inputs.features import DistanceTable
from dreval.registry import MEASURES

SCIPY_NAMES = {"cosine": "cosine", "correlation": "correlation", "manhattan": "cityblock"}
CARDS = [MEASURES.card(name) for name in MEASURES]
DISTANCES_ONLY = [card.name for card in CARDS if card.uses_embedding_metric]
VALUES = ["value", "chance", "se", "conf_low", "conf_high"]


def _vectors(seed=0, n=60):
    """Data, a representation of them with several columns, and three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, X[:, :4] + 0.3 * rng.normal(size=(n, 4)), np.arange(n) % 3


def _ranks(D):
    """Return the rank of every point from every point, 0 for the point itself."""
    np.fill_diagonal(D, -1.0)
    return np.argsort(np.argsort(D, axis=1, kind="stable"), axis=1, kind="stable")


@given(seed=st.integers(0, 999), metric=st.sampled_from(sorted(SCIPY_NAMES)), k=st.integers(1, 12))
def test_continuity_is_that_of_scikit_learn_from_distances(seed, metric, k):
    """Trustworthiness from distances of the embedding, with the spaces exchanged: by name or as a matrix."""
    X, Y, _ = _vectors(seed, 30)
    D = cdist(Y, Y, SCIPY_NAMES[metric])
    expected = their_trustworthiness(D, X, n_neighbors=k, metric="precomputed")

    assert dreval.continuity(X, Y, k, embedding_metric=metric) == pytest.approx(expected, abs=1e-12)
    assert dreval.continuity(X, D, k, embedding_metric="precomputed") == pytest.approx(expected, abs=1e-12)


@given(seed=st.integers(0, 999), metric=st.sampled_from(sorted(SCIPY_NAMES)), k=st.integers(1, 14))
def test_rank_measures_follow_their_formulas(seed, metric, k):
    """Overlap, trustworthiness and information imbalance from naive ranks of both spaces, each with its metric."""
    X, Y, _ = _vectors(seed, 30)
    r, s = _ranks(cdist(X, X, SCIPY_NAMES[metric])), _ranks(cdist(Y, Y, "cosine"))
    n, metrics = len(X), {"metric": metric, "embedding_metric": "cosine"}
    in_data, on_map = (ranks <= k for ranks in (r, s))
    itself = np.eye(n, dtype=bool)
    penalty = np.where(on_map & ~itself, np.maximum(r - k, 0), 0).sum()

    assert dreval.neighborhood_overlap(X, Y, k, **metrics) == pytest.approx(
        (in_data & on_map & ~itself).sum() / (n * k), abs=1e-12
    )
    assert dreval.trustworthiness(X, Y, k, **metrics) == pytest.approx(
        1 - penalty * 2 / (n * k * (2 * n - 3 * k - 1)), abs=1e-12
    )
    assert dreval.information_imbalance_missing(X, Y, **metrics) == pytest.approx(2 / n * s[r == 1].mean(), abs=1e-12)


@given(pair=tie_free_pairs(min_n=8), data=st.data())
def test_the_metric_of_one_side_is_that_of_the_other(pair, data):
    """With the spaces exchanged, the metric of the embedding is the metric of the data."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    for ours, exchanged in {
        "trustworthiness": "continuity", "mrre_false": "mrre_missing", "jaccard": "jaccard"
    }.items():  # fmt: skip
        value = getattr(dreval, ours)(X, Y, k, embedding_metric="manhattan")
        assert value == pytest.approx(getattr(dreval, exchanged)(Y, X, k, metric="manhattan"), abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("ci", ["points", "jackknife", "subsampling"])
def test_distances_give_the_values_of_the_coordinates(ci):
    """Of every measure of distances: value, chance level and interval; all other measures say why they are missing."""
    X, Y, labels = _vectors()
    settings = {"labels": labels, "random_state": 0, "n_neighbors": 7}
    few = {"points": {"n_partitions": 2}, "subsampling": {"n_splits": 3}}
    plain, precomputed = (
        dreval.Evaluation(X, {"y": Z}, embedding_metric=metric, **settings)
        .run("all", None, ci, options=few)
        .table.set_index(["measure", "parameters"])
        for Z, metric in ((Y, "euclidean"), (cdist(Y, Y), "precomputed"))
    )
    measures = plain.index.get_level_values("measure")
    defined = measures.isin(DISTANCES_ONLY)
    for column in VALUES:
        assert_allclose(precomputed[column][defined], plain[column][defined], rtol=1e-9, atol=1e-12, err_msg=column)
    missing = precomputed[~defined]
    assert missing["value"].isna().all()
    assert missing["note"].str.contains("`embedding_metric` must be 'euclidean'|needs|re-run|coordinates").all()
    assert {"trustworthiness", "r_nx_auc", "stress", "steadiness", "topographic_product"} <= set(measures[defined])


@pytest.mark.parametrize("precomputed", [False, True])
def test_anchors_have_the_contributions_of_all_points(precomputed):
    """Few rows of a view, from blocks in memory and from a stream of rows, are those rows of the view of all points."""
    X, Y, _ = _vectors(n=80)
    rows, metric = np.arange(3, 80, 7), "precomputed" if precomputed else "cosine"
    Z = DistanceTable.of(cdist(Y, Y, "cosine")) if precomputed else Y
    whole = neighbor_pass(X, {"": Z}, k=6, embedding_metric=metric)[""]
    for part in (
        neighbor_pass(X, {"": Z}, k=6, rows=rows, embedding_metric=metric)[""],
        anchored_pass(X, {"": Z}, rows, k=6, embedding_metric=metric)[""],
    ):
        for name in ("nearest_data", "nearest_embedding", "data_rank", "embedding_rank"):
            np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[rows])


def test_a_part_of_a_table_of_distances_is_the_table_of_the_part():
    """Rows and columns are selected alike, again and by a mask; permuted views have permuted distances."""
    X, Y, _ = _vectors(n=40)
    D = cdist(Y, Y)
    table, part = DistanceTable.of(D), np.array([5, 1, 30, 7, 22])
    np.testing.assert_array_equal(table[part], D[np.ix_(part, part)])
    np.testing.assert_array_equal(table[part][[2, 0]], D[np.ix_([30, 5], [30, 5])])
    np.testing.assert_array_equal(table[D[0] > 1], D[np.ix_(D[0] > 1, D[0] > 1)])
    views = [
        make_views(X, {"": Z}, Reads(5), embedding_metric=metric)[""].shuffled(np.random.default_rng(1))
        for Z, metric in ((table, "precomputed"), (Y, "euclidean"))
    ]
    np.testing.assert_array_equal(views[0].Y, cdist(views[1].Y, views[1].Y))


@pytest.mark.slow
def test_groups_and_missing_labels_use_the_distances_of_the_points_that_stay():
    """Intervals over groups, and class-aware measures of the labeled points, are those of the coordinates."""
    X, Y, labels = _vectors(n=60)
    partly = np.where(np.arange(60) % 5 == 0, None, labels.astype(object))
    settings = {"labels": partly, "groups": np.arange(60) // 6, "random_state": 0, "n_neighbors": 5}
    names = ["trustworthiness", "class_aware_continuity", "spearman_distance"]
    tables = [
        dreval.Evaluation(X, {"y": Z}, embedding_metric=metric, **settings).run(names, None).table
        for Z, metric in ((Y, "euclidean"), (cdist(Y, Y), "precomputed"))
    ]
    for column in VALUES:
        assert tables[0][column].notna().any()
        assert_allclose(tables[1][column], tables[0][column], rtol=1e-9, err_msg=column)


def test_rows_and_columns_of_distances_are_matched_by_name():
    """A frame of distances in another order of rows and columns has the value of that in the order of the data."""
    X, Y, _ = _vectors()
    names = [f"p{i}" for i in range(60)]
    D = pd.DataFrame(cdist(Y, Y), index=names, columns=names)
    order = np.random.default_rng(3).permutation(60)
    shuffled = D.iloc[order, order[::-1]]
    data = pd.DataFrame(X, index=names)
    expected = dreval.trustworthiness(X, Y, 5)

    assert dreval.trustworthiness(data, shuffled, 5, embedding_metric="precomputed") == pytest.approx(
        expected, abs=1e-12
    )


def test_score_and_functions_have_the_values_of_an_evaluation():
    """One number in three ways."""
    X, Y, _ = _vectors()
    ev = dreval.Evaluation(X, Y, embedding_metric="cosine", n_neighbors=5, random_state=0)
    value = ev.run("continuity", None, None).table["value"].iloc[0]

    assert dreval.score(X, Y, "continuity", n_neighbors=5, embedding_metric="cosine") == value
    assert dreval.continuity(X, Y, 5, embedding_metric="cosine") == value
    assert value != dreval.continuity(X, Y, 5)
    scores = dreval.score(X, Y, ["continuity", "procrustes_rc"], embedding_metric="cosine")
    assert np.isnan(scores["procrustes_rc"])
    assert scores.recipe["embedding_metric"] == "cosine"


def test_the_result_names_the_metric_of_the_embeddings(tmp_path):
    """In its heading, its call, its file and its page; a plain result is as it was."""
    X, Y, _ = _vectors()
    ev = dreval.Evaluation(X, {"y": Y}, embedding_metric="cosine", n_neighbors=5, random_state=0)
    res = ev.run(["trustworthiness"], None)
    plain = dreval.Evaluation(X, {"y": Y}, n_neighbors=5, random_state=0).run(["trustworthiness"], None)

    assert "embeddings: cosine" in str(res)
    assert "embeddings:" not in str(plain)
    assert "embedding_metric" not in plain.recipe
    assert "embedding_metric='cosine'" in res.recipe["call"]
    loaded = dreval.load_results(res.save(tmp_path / "a.dreval"))
    assert str(loaded) == str(res)
    assert "embeddings: cosine" in res.report(tmp_path / "a.html").read_text("utf-8")
    with pytest.raises(InputError, match="must have the same `embedding_metric`"):
        dreval.compare(res, plain)


def test_what_reads_coordinates_is_missing_with_that_reason():
    """Procrustes, classes and tests of an embedding with another metric; the plain functions have no such argument."""
    X, Y, labels = _vectors()
    ev = dreval.Evaluation(X, {"y": Y}, labels=labels, embedding_metric="cosine", n_neighbors=5, random_state=0)
    table = ev.run(["procrustes_rc", "knn_accuracy", "trustworthiness"], ["hsic"], None, n_resamples=19).table

    assert table["value"].isna().tolist() == [True, True, False, True]
    reasons = table["note"][table["value"].isna()]
    assert reasons.str.contains("not defined under embedding_metric 'cosine'").all()
    with pytest.raises(TypeError, match="embedding_metric"):
        dreval.procrustes_rc(X, Y, embedding_metric="cosine")
    with pytest.raises(UndefinedMeasure):
        dreval.score(X, Y, "procrustes_rc", embedding_metric="cosine")


@pytest.mark.parametrize(
    ("Y", "metric", "message"),
    [
        ("pca", "precomputed", "must be a matrix of distances with embedding_metric='precomputed'"),
        (
            np.zeros((60, 2)) + [[0.0, 1.0]] * np.r_[0, np.ones(59)][:, None],
            "cosine",
            "no row of zeros with embedding_",
        ),
        (np.ones((60, 3)) * np.arange(60)[:, None], "correlation", "no constant row with embedding_metric"),
        (np.random.default_rng(0).normal(size=(60, 3)), "precomputed", 'or embedding_metric="euclidean" for points'),
        (np.random.default_rng(0).normal(size=(60, 60)), "precomputed", "symmetric matrix of distances"),
        (np.where(np.eye(60) > 0, 0, np.nan), "precomputed", "finite|missing|NaN"),
    ],
)
def test_embeddings_for_which_the_metric_is_not_defined_are_refused(Y, metric, message):
    """One error each: a method, rows without a direction, no distances, not symmetric ones, missing cells."""
    X, _, _ = _vectors()
    with pytest.raises(InputError, match=message):
        dreval.trustworthiness(X, Y, 5, embedding_metric=metric)
    with pytest.raises(InputError, match=message):
        dreval.Evaluation(X, {"y": Y}, embedding_metric=metric, n_neighbors=5, random_state=0).run("continuity", None)


def test_a_default_run_states_once_why_values_are_missing():
    """All measures that read coordinates have one reason, which blames no argument of the user."""
    X, Y, labels = _vectors()
    ev = dreval.Evaluation(X, {"y": Y}, labels=labels, embedding_metric="cosine", n_neighbors=5, random_state=0)
    res = ev.run(tests=None, ci=None)
    text = " ".join(str(res).split())

    missing = res.table[res.table["value"].isna()]
    assert {"procrustes_rc", "knn_accuracy"} <= set(missing["measure"])
    assert missing["note"].nunique() == 1
    assert text.count("not defined under embedding_metric 'cosine'") == 1
    assert "Leave it out" not in text
    reason = text[text.index("[1]") : text.index("not defined under")]
    assert all(name in reason for name in ("local shape, free scale", "class accuracy"))


def test_vectors_may_have_more_columns_than_there_are_points(tmp_path):
    """60 vectors of 128 numbers: allowed by cosine, with the value of the function; by Euclidean the cure is named."""
    X, _, _ = _vectors()
    wide = np.random.default_rng(4).normal(size=(len(X), 128))
    ev = dreval.Evaluation(X, {"y": wide}, embedding_metric="cosine", n_neighbors=5, random_state=0)
    res = ev.run("trustworthiness", None)
    unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    expected = dreval.trustworthiness(X, cdist(unit, unit, "sqeuclidean"), 5, embedding_metric="precomputed")

    assert res.table["value"].iloc[0] == pytest.approx(expected, abs=1e-12)
    assert dreval.trustworthiness(X, wide, 5, embedding_metric="cosine") == pytest.approx(expected, abs=1e-12)
    assert dreval.load_results(res.save(tmp_path / "a.dreval")).embeddings["y"].shape == wide.shape
    with pytest.raises(InputError, match=r"must not have more columns than rows.*embedding_metric, such as 'cosine'"):
        dreval.trustworthiness(X, wide, 5)


def test_distances_are_not_called_unreduced_and_no_map_is_advised():
    """The columns of distances are points; figures of coordinates raise, and so do files of places."""
    X, Y, _ = _vectors()
    ev = dreval.Evaluation(X, {"y": cdist(Y, Y)}, embedding_metric="precomputed", n_neighbors=5, random_state=0)
    res = ev.run("trustworthiness", None)
    points = dreval.Evaluation(X, {"y": X + 1}, n_neighbors=5, random_state=0).run("trustworthiness", None, None)

    assert "data.not_reduced" not in set(res.notes["code"])
    assert '.plot("map")' not in str(res)
    assert '.plot("map")' in str(points)
    with pytest.raises(InputError, match="`embedding` must have coordinates: got 'y', of which only distances"):
        res.to_atlas("map.parquet")


@pytest.mark.slow
def test_results_of_distances_are_printed_drawn_and_saved_without_maps(tmp_path):
    """Figures of coordinates raise an error that says so; the page, the files and the frames have no coordinates."""
    X, Y, labels = _vectors()
    D, E = cdist(Y, Y), cdist(Y[:, :2], Y[:, :2])
    ev = dreval.Evaluation(X, {"y": D, "z": E}, labels=labels, embedding_metric="precomputed", random_state=0)
    res = ev.run(["trustworthiness", "spearman_distance"], None)

    page = res.report(tmp_path / "page.html").read_text("utf-8")
    assert page.count('class="bars"') == 2
    assert 'class="map thumb"' not in page
    assert "Points: trustworthiness" not in page
    assert "embeddings: precomputed" in res.report(tmp_path / "text.md").read_text("utf-8")
    assert dreval.compare(res).report(tmp_path / "compare.html").exists()
    assert list(res.augment("y"))[:3] == ["id", "label", "trustworthiness"]
    for kind in ("scatter", "map", "coranking"):
        with pytest.raises(InputError, match="must need no coordinates where embeddings are distances"):
            res.plot(kind)
    res.plot("shepard")
    loaded = dreval.load_results(res.save(tmp_path / "a.dreval"))
    assert str(loaded) == str(res)
    assert loaded.embeddings["y"].shape == (60, 0)
    assert ev.estimate_cost("trustworthiness", None).seconds > 0
