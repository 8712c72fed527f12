"""One compare: the same keywords on one data set and across data sets, and a baseline instead of all pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError, UnknownName

X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 2, 1, 1]
SOURCES = {"front": X[:, :2], "side": X[:, 1:3], "back": X[:, 2:]}


@pytest.fixture(scope="module")
def results() -> dreval.Results:
    return dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).run(["trustworthiness", "continuity"])


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    cells = [(f"d{i}", name) for i in range(9) for name in ("umap", "pca", "tsne")]
    table = pd.DataFrame(cells, columns=["dataset", "embedding"])
    return table.assign(value=rng.normal(size=len(cells)) + 3 * (table["embedding"] == "pca"), measure="score")


def test_one_result_is_compared_by_its_points(results: dreval.Results, tmp_path: Path) -> None:
    """``dreval.compare`` of one result, of a list of one, and of its saved file is ``Results.compare``."""
    expected = results.compare(["front", "back"], measure="continuity", margin=0.1, alpha=0.1)
    saved = results.save(tmp_path / "one.dreval")
    for source in (results, [results], saved, [str(saved)]):
        comparison = dreval.compare(source, names=["front", "back"], measure="continuity", margin=0.1, alpha=0.1)
        pd.testing.assert_frame_equal(comparison.tidy(), expected.pairs)
    assert expected.recipe["kind"] == "points"


def test_a_baseline_is_compared_with_all_others(results: dreval.Results) -> None:
    """The rows are those of all pairs, with the baseline second; p is adjusted over them only."""
    all_pairs, comparison = results.compare().tidy(), results.compare(baseline="side").tidy()

    assert (
        list(zip(comparison["first"], comparison["second"], strict=True)) == [("front", "side"), ("back", "side")] * 2
    )
    keys = ["measure", "first", "second"]
    merged = comparison.merge(all_pairs, on=keys, suffixes=("", "_all"))
    assert len(merged) == 2
    np.testing.assert_array_equal(merged["p_value"], merged["p_value_all"])
    turned = comparison.merge(
        all_pairs.rename(columns={"first": "second", "second": "first"}), on=keys, suffixes=("", "_all")
    )
    assert len(turned) == 2
    np.testing.assert_array_equal(turned["difference"], -turned["difference_all"])
    assert comparison["p_adjusted"].min() == pytest.approx(4 * comparison["p_value"].min())
    assert (results.compare(baseline="side").glance()["letters"] == "").all()
    for text in (results.compare(baseline="side").summary(), results.compare(baseline="side").paragraph()):
        assert "side" in str(text)
    assert "baseline='side'" in results.compare(baseline="side").recipe["call"]


def test_a_baseline_across_data_sets(scores: pd.DataFrame) -> None:
    """The rows of Wilcoxon's test are those of all pairs; Holm counts the pairs with the baseline."""
    all_pairs = dreval.compare(scores, direction="higher").tidy().query("test == 'wilcoxon'")
    comparison = dreval.compare(scores, direction="higher", baseline="pca", rope=0.1)
    against_pca = comparison.tidy().query("test == 'wilcoxon'")

    assert list(zip(against_pca["first"], against_pca["second"], strict=True)) == [("umap", "pca"), ("tsne", "pca")]
    assert set(comparison.tidy()["second"]) == {"pca"}
    p = all_pairs[(all_pairs["first"] == "umap") & (all_pairs["second"] == "pca")]["p_value"].iloc[0]
    assert against_pca["p_value"].iloc[0] == p
    assert against_pca["p_adjusted"].iloc[0] == pytest.approx(min(1, 2 * p))
    assert "pca" in str(comparison.summary())
    assert comparison.paragraph()
    for kind in ("critical_difference", "forest", "wins"):
        assert comparison.plot(kind).axes


def test_some_embeddings_across_data_sets(scores: pd.DataFrame) -> None:
    """``names`` leaves out the other embeddings, as if they were not in the table."""
    selected = dreval.compare(scores, names=["umap", "pca"], direction="higher").tidy()
    two_embeddings = dreval.compare(scores[scores["embedding"] != "tsne"], direction="higher").tidy()
    pd.testing.assert_frame_equal(selected, two_embeddings)


def test_options_of_the_other_comparison_raise_an_error(results: dreval.Results, scores: pd.DataFrame) -> None:
    """Options of the other kind of comparison, and unknown names, raise errors with a hint."""
    with pytest.raises(InputError, match=r"`rope` must be used across data sets only.*`margin`"):
        results.compare(rope=0.1)
    with pytest.raises(InputError, match="`direction` must be used across data sets only"):
        dreval.compare(results, direction="higher")
    with pytest.raises(InputError, match=r"`margin` must be used on one data set only.*`rope`"):
        dreval.compare(scores, direction="higher", margin=0.1)
    with pytest.raises(UnknownName, match=r"`baseline`.*Did you mean 'front'"):
        results.compare(baseline="fornt")
    with pytest.raises(UnknownName, match=r"`baseline`.*Did you mean 'pca'"):
        dreval.compare(scores, direction="higher", baseline="pc")


MEASURES = ["trustworthiness", "continuity", "procrustes_rc", "stress"]
NUMBERS = [
    "difference",
    "se",
    "statistic",
    "p_value",
    "p_adjusted",
    "conf_low",
    "conf_high",
    "effect_size",
    "superiority",
]


def evaluated(sources: dict[str, np.ndarray], seed: int = 0, ci: str = "default", **options: object) -> dreval.Results:
    return dreval.Evaluation(X, sources, n_neighbors=6, random_state=seed, **options).run(MEASURES, None, ci)


@pytest.fixture(scope="module")
def parts() -> tuple[dreval.Results, dreval.Results]:
    return evaluated({"front": SOURCES["front"]}), evaluated({"side": SOURCES["side"], "back": SOURCES["back"]})


def test_results_on_the_same_data_are_compared_as_one_evaluation(
    parts: tuple[dreval.Results, dreval.Results], tmp_path: Path
) -> None:
    """The pairs of two results, of a list and of their files are those of an evaluation of all embeddings."""
    expected = evaluated(SOURCES).compare()
    files = [part.save(tmp_path / f"v{i}.dreval") for i, part in enumerate(parts)]

    for comparison in (dreval.compare(*parts), dreval.compare(list(parts)), dreval.compare(*files)):
        pd.testing.assert_frame_equal(comparison.pairs, expected.pairs, check_exact=True)
        pd.testing.assert_frame_equal(comparison.standing, expected.standing)
        assert comparison.recipe["kind"] == "points"
        assert comparison.recipe["call"] == "dreval.compare(*results)"
        assert comparison.notes["code"].tolist() == expected.notes["code"].tolist()
        assert str(comparison.summary())
    pd.testing.assert_frame_equal(
        dreval.compare(*parts).results.ranking(), evaluated(SOURCES).ranking(), check_exact=True
    )
    assert dreval.compare(*parts).plot("difference_map").axes
    chosen = dreval.compare(*parts, names=["back", "front"], measure="stress", baseline="front")
    assert (
        chosen.recipe["call"] == "dreval.compare(*results, names=['back', 'front'], measure='stress', baseline='front')"
    )


def test_equal_names_get_the_file_or_the_position(tmp_path: Path) -> None:
    """A name that two results have is told apart by the file, or the position, with a note."""
    new = evaluated({"front": SOURCES["back"], "side": SOURCES["side"]})
    old = evaluated({"front": SOURCES["front"]})
    expected = evaluated({"front": SOURCES["front"], "new": SOURCES["back"]}).compare().pairs

    comparison = dreval.compare(old, new, names=["1: front", "2: front"])
    saved = dreval.compare(old.save(tmp_path / "v1.dreval"), new.save(tmp_path / "v2.dreval"))

    np.testing.assert_array_equal(comparison.pairs[NUMBERS], expected[NUMBERS])
    assert saved.results.names == ["v1: front", "v2: front", "side"]
    note = saved.notes.query("code == 'combined.renamed'")["text"].item()
    assert note == "several results have embeddings called front; they are called v1: front and v2: front here"


def test_results_with_other_seeds(parts: tuple[dreval.Results, dreval.Results]) -> None:
    """Tests of single points need no common seed; those of random groups of points are left out, with a note.

    Measures of neighbors have the delete-one jackknife then, which needs no partitions of the points.
    """
    first, _ = parts
    expected = evaluated(SOURCES, ci="jackknife").compare(["front", "back"]).pairs
    comparison = dreval.compare(first, evaluated({"back": SOURCES["back"]}, seed=5))
    columns = ["measure", "difference", "se", "p_value"]
    pd.testing.assert_frame_equal(comparison.pairs[columns], expected[columns])

    halves = [
        dreval.Evaluation(X, {name: SOURCES[name]}, n_neighbors=6, random_state=seed).run(
            "continuity", None, "subsampling"
        )
        for seed, name in enumerate(("front", "back"))
    ]
    other = dreval.compare(*halves)
    assert other.pairs["p_value"].isna().all()
    for result in (comparison, other):
        assert "combined.seeds" in set(result.notes["code"])
    assert "different seeds" in " ".join(str(other.summary(full=True)).split())


def test_results_with_other_settings(parts: tuple[dreval.Results, dreval.Results]) -> None:
    """Measures of one embedding are left out with a note; other metrics, anchors and labels raise an error."""
    first, _ = parts
    lone = dreval.compare(first, dreval.Evaluation(X, {"b": X[:, 2:]}, n_neighbors=6, random_state=0).run("continuity"))
    assert set(lone.pairs["measure"]) == {"continuity"}
    assert "combined.alone" in set(lone.notes["code"])
    for setting, value in (("metric", "manhattan"), ("anchors", 40)):
        with pytest.raises(InputError, match=f"`results` must have the same `{setting}`"):
            dreval.compare(first, evaluated({"back": SOURCES["back"]}, **{setting: value}))
    labeled = [
        dreval.Evaluation(X, {f"b{i}": X[:, 2:]}, labels=X[:, i] > 0, random_state=0).run("continuity", None)
        for i in (0, 1)
    ]
    with pytest.raises(InputError, match="must have the same labels"):
        dreval.compare(*labeled)


def test_anchors_of_results_are_the_same(parts: tuple[dreval.Results, dreval.Results]) -> None:
    """With anchors, the differences are at the same anchors, or there is an error."""
    runs = [evaluated({name: SOURCES[name]}, anchors=40) for name in ("front", "side")]
    both = evaluated({name: SOURCES[name] for name in ("front", "side")}, anchors=40).compare()

    pd.testing.assert_frame_equal(dreval.compare(*runs).pairs, both.pairs, check_exact=True)
    with pytest.raises(InputError, match="must have the same anchors"):
        dreval.compare(runs[0], evaluated({"side": SOURCES["side"]}, seed=1, anchors=40))


def test_results_with_groups_and_without(parts: tuple[dreval.Results, dreval.Results]) -> None:
    """The error has the numbers of groups."""
    groups = np.repeat(np.arange(12), 5)
    grouped = [evaluated({"g": X[:, :2]}, groups=np.roll(groups, shift)) for shift in (0, 2)]
    with pytest.raises(InputError, match="got none and 12 groups"):
        dreval.compare(parts[0], grouped[0])
    if grouped[0].recipe["groups"] != grouped[1].recipe["groups"]:
        with pytest.raises(InputError, match="got 12 groups that differ"):
            dreval.compare(*grouped)


def test_data_sets_that_share_no_embedding_are_not_compared() -> None:
    """Without an embedding on two data sets there is an error, not a sentence that nothing differs."""
    cells = [("one", "a"), ("one", "b"), ("two", "c"), ("two", "d")]
    table = pd.DataFrame(cells, columns=["dataset", "embedding"]).assign(value=[1.0, 2, 3, 4], measure="score")
    with pytest.raises(InputError, match="no embedding has values on two data sets"):
        dreval.compare(table, direction="higher")
