"""The data among the embeddings: listed for reference, excluded from ranks and comparisons unless named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

import dreval
from dreval.errors import InputError, InputWarning, UnknownName
from dreval.inputs.data import as_data
from dreval.report.documents.evaluation import printed_table
from dreval.report.render.markup import sentence
from dreval.report.result_findings import standing, verdict
from dreval.report.result_view import read_results

MEASURES = ["trustworthiness", "continuity", "procrustes_rc", "spearman_distance", "procrustes_disparity"]


def cloud(seed=0, n=60):
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, 4)) + np.repeat([0, 1, 2], n // 3)[:, None]
    a = X[:, :2] + 0.2 * g.normal(size=(n, 2))
    return X, a, a + g.normal(size=(n, 2))


def evaluated(X, sources, measures=MEASURES, **options):
    return dreval.Evaluation(X, sources, random_state=0, **options).run(measures, None)


@pytest.fixture(scope="module")
def evaluations():
    """The same two embeddings without the data and with them, in front, in the middle and last."""
    X, a, b = cloud()
    sources = [{"a": a, "b": b}, {"data": X, "a": a, "b": b}, {"a": a, "b": b, "data": X}]
    return [evaluated(X, embeddings) for embeddings in sources]


def turn(X, n_components):
    """Return all columns, rotated, whatever number is requested."""
    return rotated(X) if n_components else X


def rotated(X):
    return X @ np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X,
        lambda X: X.copy(),
        lambda X: X.astype(np.float32),
        lambda X: pd.DataFrame(X),
        lambda X: 7 - 2 * rotated(X),
        lambda _: PCA(4),
        lambda _: turn,
    ],
)
def test_any_source_that_returns_the_data_is_the_reference(change):
    """The array itself, a copy, float32, a frame, a rotation, PCA to all columns, and a callable are the reference."""
    X, a, b = cloud()
    results = evaluated(X, {"data": change(X), "a": a, "b": b}, ["trustworthiness"])

    assert results.reference == ("data",)
    rows = results.ranking().set_index("embedding")
    assert rows.index.tolist() == ["a", "b", "data"]
    assert rows.loc["data", ["rank", "in_best_set", "p_adjusted", "difference"]].isna().all()
    assert rows.loc["data", "note"] == "the data: shown for reference, not ranked"
    assert rows.loc["a", "rank"] == 1


def test_a_stored_embedding_that_is_the_data_is_the_reference():
    """The key of obsm that the data were read from."""
    X, a, _ = cloud()
    cells = replace(as_data(X), obsm={"X_pca": X.copy(), "X_umap": a})

    assert evaluated(cells, {"p": "X_pca", "u": "X_umap"}, ["trustworthiness"]).reference == ("p",)


@pytest.mark.parametrize(
    "change", [lambda X: X**3, lambda X: X * [1, 1, 1, 3], lambda X: np.c_[X, X[:, 0]], lambda X: X[:, :2]]
)
def test_the_number_of_columns_alone_makes_no_reference(change):
    """Another map of four columns stays in every verdict."""
    X, a, _ = cloud()
    results = evaluated(X, {"wide": change(X), "a": a}, ["trustworthiness"])

    assert results.reference == ()
    assert results.ranking()["rank"].notna().all()


def test_other_directions_are_not_the_data():
    """A translation changes the cosine of two rows: moved data are an embedding like others, unless Euclidean."""
    X, a, _ = cloud()

    assert evaluated(X, {"moved": X - 3, "a": a}, ["trustworthiness"]).reference == ("moved",)
    assert evaluated(X, {"moved": X - 3, "a": a}, ["trustworthiness"], metric="cosine").reference == ()


def test_the_data_change_nothing_else(evaluations):
    """Ranks, best sets, p-values, differences and pairs of the other embeddings are those without the data."""
    without_data = evaluations[0]
    for results in evaluations[1:]:
        assert results.reference == ("data",)
        ranks = results.ranking()
        ranks = ranks[ranks["embedding"] != "data"].reset_index(drop=True)
        pd.testing.assert_frame_equal(ranks, without_data.ranking())
        pd.testing.assert_frame_equal(results.compare().tidy(), without_data.compare().tidy())
        pd.testing.assert_frame_equal(results.compare().glance(), without_data.compare().glance())
        texts = [sentence(answer.text) for answer in verdict(read_results(results))]
        expected = [sentence(answer.text) for answer in verdict(read_results(without_data))]
        cautions, others = expected[-1].rsplit(". ", 1)
        assert others.endswith("more: summary(full=True).")
        assert texts == [*expected[:-1], f"{cautions}. data is the data, shown for reference only. {others}"]


def test_no_star_color_or_bold_marks_the_data(evaluations):
    """In the printed table, LaTeX, Markdown, cards and shades; its values are listed."""
    results = evaluations[1]
    view = read_results(results)
    table = printed_table(view)
    place = [column.title for column in table.columns].index("data")
    for row in table.rows:
        assert row[place].emphasis != "best"
        assert row[place].text.startswith(("1.00", ".000"))
    assert all(column.shade("data") == 0 for column in view.columns)
    assert all("data" not in column.leaders for column in view.columns)
    assert "**1.000" not in results.to_markdown()
    assert r"\textbf{1.000" not in results.to_latex()
    assert standing(view, "data").predicate == "The data, shown for reference only."
    assert "data is the data, shown for reference only." in results.paragraph()


def test_the_data_are_compared_where_they_are_requested(evaluations):
    """By names or as the baseline: the pairs, and the smallest family of p-values that holds them."""
    results = evaluations[1]
    for comparison, pairs in (
        (results.compare(["data", "a"]), {("data", "a")}),
        (results.compare(baseline="data"), {("a", "data"), ("b", "data")}),
        (dreval.compare(results, names=["a", "b", "data"]), {("a", "b"), ("a", "data"), ("b", "data")}),
    ):
        rows = comparison.tidy()
        assert {*zip(rows["first"], rows["second"], strict=True)} == pairs
        assert rows["p_value"].notna().all()
        assert "left out" not in "".join(comparison.notes["text"])
    assert "data is the data, and was left out; name it to compare it" in set(results.compare().notes["text"])
    results.plot("forest", pair=("data", "a"))
    results.plot("forest")


def test_data_and_one_embedding_leave_nothing_to_compare():
    """One embedding has no best set; ``compare`` has a hint how to compare the data, and the hint works."""
    X, a, _ = cloud()
    results = evaluated(X, {"data": X, "a": a}, ["trustworthiness"])
    sentences = [sentence(answer.text) for answer in verdict(read_results(results))]

    assert not any("best" in text for text in sentences)
    assert sentences[-1].endswith("data is the data, shown for reference only.")
    with pytest.raises(InputError, match=r"a; data is the data.*names=\['data', 'a'\]"):
        results.compare()
    assert len(results.compare(names=["data", "a"]).tidy()) == 1
    str(results.summary())
    results.paragraph()
    single = evaluated(X, {"data": X}, ["trustworthiness"])
    assert [sentence(answer.text) for answer in verdict(read_results(single))] == [
        "data is the data, shown for reference only."
    ]


def test_a_note_names_the_embeddings_that_are_the_data_and_small_data_warn():
    """A code with names; two columns to which PCA gives two are the data, with a warning as before."""
    X, a, _ = cloud()
    notes = evaluated(X, {"data": X, "turned": rotated(X), "a": a}, ["trustworthiness"]).notes
    (values,) = notes.loc[notes["code"] == "data.reference", "values"]
    assert dict(values)["names"] in (("data", "turned"), ["data", "turned"])
    assert "data.not_reduced" not in set(notes["code"])
    with pytest.warns(InputWarning, match="pca is the data"):
        evaluated(X[:, :2], {"pca": "pca", "a": a}, ["trustworthiness"])


def test_a_loaded_result_keeps_its_reference(evaluations, tmp_path):
    """The fact is saved with the result."""
    loaded = dreval.load_results(evaluations[1].save(tmp_path / "a.dreval"))

    assert loaded.reference == ("data",)
    pd.testing.assert_frame_equal(loaded.ranking(), evaluations[1].ranking())


def test_across_data_sets_the_data_have_no_rank(tmp_path):
    """In results and in studies the cells are left out with a note; naming the embedding includes them."""
    runs = []
    for seed in range(3):
        X, a, b = cloud(seed)
        runs.append(evaluated(X, {"data": X, "a": a, "b": b}, ["trustworthiness"]))
    comparison = dreval.compare(runs)
    assert set(comparison.glance()["embedding"]) == {"a", "b"}
    assert (comparison.notes["code"] == "datasets.reference").sum() == 3
    by_name = dreval.compare(runs, names=["data", "a"])
    assert by_name.glance()["embedding"].iloc[0] == "data"
    assert set(dreval.compare(runs, baseline="data").tidy()["second"]) == {"data"}

    data = {f"set {seed}": cloud(seed)[0] for seed in range(3)}
    methods = {"whole": turn, "pca": "pca", "mds": "classical_mds"}
    study = dreval.Study(tmp_path / "s.journal", data, methods, "trustworthiness", n_neighbors=5, random_state=0)
    study.run(progress=False)
    assert set(study.compare().glance()["embedding"]) == {"pca", "mds"}
    assert study.compare(names=["whole", "pca"]).glance()["embedding"].iloc[0] == "whole"
    page = study.report(tmp_path / "s.md").read_text("utf-8")
    assert "**1.000" not in page


def test_a_sweep_has_no_verdict_on_the_data():
    """For any method, as many components as columns are the data: no setting is worse because of them."""
    X = cloud()[0]
    comparison = dreval.sweep(X, "pca", {"n_components": [1, 2, 3, 4]}, random_state=0)
    without = dreval.sweep(X, "pca", {"n_components": [1, 2, 3]}, random_state=0)
    rows = comparison.tidy().set_index("n_components")

    assert rows["in_best_set"].isna().tolist() == [False, False, False, True]
    assert rows.loc[4, "note"] == "the data: shown for reference, not ranked"
    assert_allclose(rows["p_value"].iloc[:3], without.table["p_value"])
    assert comparison.best_set() == without.best_set()


@pytest.fixture(scope="module")
def two_results():
    X, a, b = cloud()
    return [evaluated(X, {"a": a, "b": b}, ["trustworthiness"]), evaluated(X, {"a": b, "b": a}, ["trustworthiness"])]


def second_arguments(first_result, second_result):
    """Return values that are not names, and whose elements may be."""
    ev = dreval.Evaluation(cloud()[0], {"a": cloud()[1]})
    yield from (
        second_result,
        ev,
        second_result.compare(),
        second_result.table,
        second_result["a"],
        second_result.embeddings,
        {"a": 1, "b": 2},
        [second_result],
    )
    yield from (3, ["a", 1], [0, 1], np.zeros((2, 2)))


@pytest.mark.slow
def test_a_second_result_is_not_a_list_of_names(two_results):
    """Every argument for names rejects a result, with a hint how to compare two; names are still accepted."""
    result, second = two_results
    for value in second_arguments(result, second):
        for call in (
            lambda second_result: dreval.compare(result, names=second_result),
            lambda second_result: result.compare(second_result),
            lambda second_result: dreval.compare([result, second.table.assign(dataset="other")], names=second_result),
            lambda second_result: result.ranking(second_result),
            lambda second_result: result.plot("scatter", names=second_result),
            lambda second_result: result.plot("forest", names=second_result),
            lambda second_result: result.to_markdown(second_result),
            lambda second_result: result.to_latex(second_result),
        ):
            with pytest.raises((InputError, UnknownName)) as error:
                call(value)
            assert error.value.argument in ("names", "measure", "measures")
            assert error.value.received
    with pytest.raises(InputError, match=r"dreval\.compare\(first, second\)") as error:
        result.compare(second)
    assert error.value.argument == "names"
    with pytest.raises(UnknownName):
        result.plot(second)

    for names in (["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Index(["a", "b"]), pd.Series(["a", "b"]),
                  {"a": 0, "b": 0}.keys(), iter(["a", "b"]), (name for name in "ab")):  # fmt: skip
        assert len(result.compare(names).tidy()) == 1


def test_the_hint_of_the_error_for_a_second_result_works(two_results):
    """Two results on the same data are compared by their points, others across data sets."""
    assert dreval.compare(*two_results).recipe["kind"] == "points"
    second = [
        evaluated(cloud(seed)[0], {"a": cloud(seed)[1], "b": cloud(seed)[2]}, ["trustworthiness"]) for seed in (0, 1)
    ]
    assert len(dreval.compare(*second).tidy()) == 1


def test_equal_maps_are_noted_once_and_are_best_together():
    """PCA and classical MDS; a scaled copy; the exact copy has a separate sentence."""
    X, _, b = cloud()
    results = evaluated(X, {"pca": "pca", "mds": "classical_mds", "b": b}, ["trustworthiness", "continuity"])
    sentences = [sentence(answer.text) for answer in verdict(read_results(results))]

    assert results.recipe["equal_maps"] == [["pca", "mds"]]
    assert sentences[0].startswith("pca and mds, the same map, are best by both measures: ")
    assert sum(text.count("same map") for text in sentences) == 1
    copies = evaluated(X, {"b": b, "copy": b.copy(), "far": 3 + 2 * b}, ["trustworthiness"])
    assert copies.recipe["equal_maps"] == [["b", "copy", "far"]]
