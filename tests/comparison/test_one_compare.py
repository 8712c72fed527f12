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
        comparison = dreval.compare(source, ["front", "back"], measure="continuity", margin=0.1, alpha=0.1)
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
    np.testing.assert_array_equal(turned["advantage"], -turned["advantage_all"])
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
    selected = dreval.compare(scores, ["umap", "pca"], direction="higher").tidy()
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
