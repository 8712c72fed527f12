"""The paragraphs for a paper: limited in length, with the numbers of the tables, and every work in BibTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import parse_string

import dreval
from dreval.errors import DrevalError
from dreval.glossary import format_p
from dreval.references import reference
from dreval.report.documents.methods import MARKUPS, methods
from dreval.report.documents.paragraph import measure_paragraph
from dreval.report.findings import best_set_text
from dreval.report.render.markup import sentence
from dreval.report.result_view import read_results

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * [3, 2, 1, 1, 1]
KINDS = np.array(["left", "right"])[(X[:, 0] > 0).astype(int)]
FORMATS = ("text", "markdown", "latex")
PARTS = ("results", "methods")


def evaluation(**embeddings: Any) -> dreval.Evaluation:
    """Return an evaluation of the data above."""
    return dreval.Evaluation(X, embeddings, labels=KINDS, n_neighbors=5, random_state=0)


@pytest.fixture(scope="module")
def full_results() -> dreval.Results:
    """Three embeddings, two of them by bundled methods, with intervals and a test."""
    ev = evaluation(pca="pca", mds=dreval.methods.ClassicalMDS(), noise=RNG.normal(size=(60, 2)))
    return ev.run(["trustworthiness", "procrustes_rc", "q_nx"], "hsic", n_resamples=99)


@pytest.fixture(scope="module")
def across() -> dreval.Comparison:
    """Three embeddings on ten data sets by two measures, by all tests."""
    rows = [
        {"dataset": f"d{i}", "embedding": name, "measure": measure, "value": RNG.normal() + 2 * j}
        for measure in ("trustworthiness", "stress")
        for i in range(10)
        for j, name in enumerate(["umap", "t_sne", "pca"])
    ]
    return dreval.compare(pd.DataFrame(rows), tests="all", rope=0.1)


def words_above_limit(record: Any) -> dict[tuple[str, str], int]:
    """Return the number of words above the limit, for every paragraph."""
    limits = {"results": 150, "methods": 250}
    return {
        (part, form): len(record.paragraph(part, form).split()) - limits[part] for part in PARTS for form in FORMATS
    }


NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=120)


@pytest.mark.slow
@given(
    names=st.lists(NAMES.filter(lambda name: name.strip() and name.isprintable()), min_size=1, max_size=6, unique=True),
    measures=st.lists(st.sampled_from(["trustworthiness", "continuity", "stress", "jaccard"]), min_size=1, unique=True),
    ci=st.sampled_from(["points", None]),
)
def test_no_paragraph_exceeds_the_limit_of_words(names: list[str], measures: list[str], ci: str | None) -> None:
    """The limit holds for any names of embeddings, in every format, and for comparisons, also on each measure."""
    rng = np.random.default_rng(len(names))
    embeddings = {name: X[:, :2] + 0.5 * i * rng.normal(size=(60, 2)) for i, name in enumerate(names)}
    results = dreval.Evaluation(X, embeddings, n_neighbors=5, random_state=0).run(measures, None, ci)

    assert max(words_above_limit(results).values()) <= 0
    if ci is not None and len(names) > 1:
        comparison = results.compare()
        assert max(words_above_limit(comparison).values()) <= 0
        assert all(
            len(measure_paragraph(comparison, measure, form).split()) <= 150
            for measure in comparison.measures
            for form in FORMATS
        )


@pytest.mark.slow
def test_many_embeddings_and_all_measures_fit() -> None:
    """For forty embeddings, ten measures and two tests, items beyond the limit are counted."""
    embeddings = {
        f"run {i} of forty with a long name": X[:, :2] + 0.05 * i * RNG.normal(size=(60, 2)) for i in range(40)
    }
    results = evaluation(**embeddings).run(n_resamples=99)
    count = results.ranking()["measure"].nunique()
    text, comparison = results.paragraph(), results.compare()

    assert max([*words_above_limit(results).values(), *words_above_limit(comparison).values()]) <= 0
    omitted_match = re.search(r"(\d+) (further )?measures are left out", text)
    assert omitted_match is not None
    assert text.count("chance ") - text.count("chance level") == count - int(omitted_match[1])
    n_significant = int((comparison.pairs["p_adjusted"] <= 0.05).sum())
    assert f"{n_significant:,} of {len(comparison.pairs):,} differences are significant" in comparison.paragraph()
    comparison_by_trustworthiness = results.compare(measure="trustworthiness")
    n_named = comparison_by_trustworthiness.paragraph().count(" is better than ")
    further_match = re.search(r"(\d+) more pairs? differ", comparison_by_trustworthiness.paragraph())
    assert further_match is not None
    assert n_named + int(further_match[1]) == int((comparison_by_trustworthiness.pairs["p_adjusted"] <= 0.05).sum())


def test_the_findings_are_those_of_the_ranking(full_results: dreval.Results) -> None:
    """Counts of best values, sizes of the best sets, values, intervals, chance levels and tests equal the tables."""
    text, ranks, table = full_results.paragraph(), full_results.ranking(), full_results.tidy()
    best = ranks[ranks["rank"] == 1]
    sizes = ranks.groupby("measure")["in_best_set"].sum()

    for name, count in best["embedding"].value_counts().items():
        assert re.search(rf"{name} by {count}\b|{name}( and \w+)? ha(s|ve) the best value by (both|all)", text)
    best_sets = ranks[ranks["in_best_set"].fillna(False)].groupby("measure")["embedding"].agg(set)
    is_clear = best_sets.map(lambda names: len(names) == 1 or names == {"pca", "mds"})  # which are the same map
    assert f"distinguishable from all others by {is_clear.sum()} of {len(sizes)} measures" in text
    for row in best.to_dict("records"):
        rows = table[(table["measure"] == row["measure"]) & (table["embedding"] == row["embedding"])]
        part = text.partition(dreval.card(row["measure"]).title)[2]
        numbers = [float(number) for number in re.findall(r"\d+\.\d+|\b0\b", part)[:4]]
        expected = [row["value"], row["conf_low"], row["conf_high"], float(rows["chance"].iloc[0])]
        assert numbers == pytest.approx(expected, abs=0.006 * max(map(abs, expected)))
    test_rows = table[table["test"] == "hsic"]
    assert f"HSIC rejects independence of labels for {(test_rows['p_adjusted'] <= 0.05).sum()} of 3 embeddings" in text
    below = test_rows.loc[test_rows["p_adjusted"] <= 0.05, "p_adjusted"].max()
    assert f"(largest adjusted p {below:.3f} of these)".replace("0.", "= .") in text
    assert text.endswith("Pairs: compare().tidy().")


def test_one_embedding_is_compared_with_chance() -> None:
    """The text counts the measures whose interval excludes the chance level on the better side."""
    results = evaluation(noise=RNG.normal(size=(60, 2))).run(["trustworthiness", "continuity", "procrustes_rc"], None)
    rows = results.tidy().to_dict("records")
    n_better = sum(
        row["conf_low"] > row["chance"] if row["direction"] == "higher" else row["conf_high"] < row["chance"]
        for row in rows
    )

    assert results.paragraph().startswith(
        f"noise, an embedding of 60 points, is better than chance by {n_better} of 3 measures with intervals at 95 %."
    )


def test_without_intervals_nothing_is_called_distinguishable() -> None:
    """The text names the best value as not tested."""
    text = evaluation(a=X[:, :2], b=X[:, 2:4]).run("trustworthiness", None, None).paragraph()

    assert "a has the best value, not tested, by Trustworthiness (T):" in text
    assert "distinguishable" not in text
    assert "interval" not in text


def test_all_embeddings_with_the_best_value_are_named() -> None:
    """Two copies are both named, in the first sentence and by each measure, and in a comparison."""
    results = evaluation(a=X[:, :2], copy=X[:, :2].copy(), c=X[:, 2:4]).run(["trustworthiness", "stress"], None)
    text, text_of_comparison = results.paragraph(), results.compare().paragraph()

    for paragraph in (text, text_of_comparison):
        assert paragraph.startswith("a and copy have the best value by both measures, of 3 embeddings of 60 points.")
    assert "a and copy are best, by Trustworthiness (T): 0." in text
    split = evaluation(a=X[:, :2], copy=X[:, :2].copy(), c=X[:, [0, 4]]).run(["trustworthiness", "stress"], None)
    assert "a by " in split.paragraph() or split.paragraph().startswith("a and copy have")


def test_the_best_has_the_same_sentence_as_in_the_report(full_results: dreval.Results) -> None:
    """The measures begin with ``best_set_text`` of the findings."""
    text, view = full_results.paragraph(), read_results(full_results)

    for column in view.columns:
        if column.ranks:
            assert sentence(best_set_text(view, column)) + ", by " in text
    assert "is best, not distinguishable" not in text


def test_measures_without_tests_are_not_counted_among_those_with_tests() -> None:
    """The count of clear best embeddings is among tested measures; the others are named as not tested."""
    results = evaluation(a=X[:, :2], b=X[:, 2:4]).run(["trustworthiness", "average_local_error"], None)
    text = results.paragraph()

    assert re.search(r"distinguishable from all others by 1 of 1 measure with tests\.", text)
    assert "a has the best value, not tested, by Average local error (ALE): " in text


def test_the_text_names_too_few_permutations() -> None:
    """If no adjusted p can be .05, the text does not say that tests reject for none of the embeddings."""
    results = evaluation(a=X[:, :2], b=X[:, 2:4]).run("trustworthiness", ["hsic", "kcca"], None, n_resamples=19)
    text = results.paragraph()

    assert "19 permutations are too few for 4 tests of independence: no adjusted p can be below .200." in text
    assert "reject" not in text
    text_of_more_permutations = (
        evaluation(a=X[:, :2], b=X[:, 2:4]).run("trustworthiness", "hsic", None, n_resamples=99).paragraph()
    )
    assert "HSIC rejects independence of labels for" in text_of_more_permutations


def test_numbers_have_the_format_of_the_table() -> None:
    """A small chance level has no power of ten; negative numbers have a true minus sign, which LaTeX knows."""
    noise = np.random.default_rng(2).normal(size=(60, 2))
    results = evaluation(a=X[:, 3:], b=noise).run(["silhouette", "kendall_distance"], "kcca", None, n_resamples=19)
    text, printed_text = results.paragraph(), f"{results}\n{results.summary(full=True)}"
    chances = [float(chance) for chance in re.findall(r"chance (?:about )?(\S+?)[;)]", text.replace("−", "-"))]

    assert len(chances) == 2
    assert all(any(abs(chance - level) < 0.0006 for level in results.table["chance"]) for chance in chances)
    assert not re.search(r"\de[-−]\d", text)
    assert (results.table["value"] < 0).any()
    assert re.search(r"−\.?\d", printed_text)
    assert not re.search(r"(?<![\w.])-\.?\d", text + printed_text)
    rows = [
        {"dataset": f"d{i}", "embedding": name, "measure": "stress", "value": value + 0.01 * i}
        for i in range(6)
        for name, value in (("a", -0.1), ("b", -0.5), ("c", 0.7))
    ]
    comparison = dreval.compare(pd.DataFrame(rows), direction={"stress": "lower"}, rope=0.01)
    assert not re.search(r" -\d", str(comparison.summary()) + comparison.paragraph())
    assert "−" not in comparison.paragraph(format="latex")


def test_all_failed() -> None:
    """The paragraph says that no embedding could be computed."""
    results = dreval.Evaluation(X, {"short": X[:5]}).run("trustworthiness", None)

    assert results.paragraph() == "No embedding could be computed."
    assert "0 embeddings of 60 points" in results.paragraph("methods")
    assert "@software{dreval," in results.bibtex()


def test_the_findings_of_a_comparison_are_those_of_its_tables(full_results: dreval.Results) -> None:
    """The text has the number of pairs that differ, and the largest difference of each measure with interval and p."""
    comparison = full_results.compare()
    text, pairs = comparison.paragraph(), comparison.pairs
    significant = pairs[pairs["p_adjusted"] <= 0.05]

    assert f"{len(significant)} of {len(pairs)} differences are significant at 5 % after Holm's adjustment" in text
    for measure, rows in significant.groupby("measure"):
        row = rows.loc[rows["advantage"].abs().idxmax()]
        part = text.partition(f". {dreval.card(str(measure)).title}")[2].partition("). ")[0]
        names = [row["first"], row["second"]] if row["better"] == row["first"] else [row["second"], row["first"]]
        match = re.search(rf"{names[0]} over {names[1]} by ([\d.]+) \(([\d.]+) to ([\d.]+)", part)
        assert match is not None
        ends = sorted([abs(row["conf_low"]), abs(row["conf_high"])])
        assert [float(number) for number in match.groups()] == pytest.approx([abs(row["advantage"]), *ends], abs=0.006)


def test_the_findings_across_data_sets_are_those_of_the_tables(across: dreval.Comparison) -> None:
    """The text has the overall test with its p, the best and the worst mean rank, and the number of decided pairs."""
    text = across.paragraph()
    deciding_pairs = across.pairs[across.pairs["test"] == across.recipe["decided_by"]]

    assert (
        f"{(deciding_pairs['p_adjusted'] <= 0.05).sum()} of {len(deciding_pairs)} differences are significant" in text
    )
    for measure in ("trustworthiness", "stress"):
        rows = across.of(across.standing, measure)
        ends = [f"{rows['embedding'].iloc[i]} {rows['mean_rank'].iloc[i]:.2f}" for i in (0, -1)]
        assert f"mean ranks {ends[0]} to {ends[1]}" in text
        exact_test = across.of(across.overall, measure).set_index("test").loc["friedman_exact"]
        p = "< .001" if exact_test["p_value"] < 0.001 else f"= {exact_test['p_value']:.3f}".replace("0.", ".")
        assert f"Friedman test {exact_test['p_kind']} p {p}" in text


def test_the_methods_have_the_settings_of_the_recipe(full_results: dreval.Results) -> None:
    """The text has numbers of embeddings, points and permutations, k, metric, seed, level, adjustment and version."""
    text = full_results.paragraph("methods")
    table, recipe = full_results.tidy(), full_results.recipe

    for part in (
        f"3 embeddings (pca, mds and noise) of {recipe['n']} points in {recipe['p']} dimensions",
        f"dreval {recipe['versions']['dreval']}",
        "Principal component analysis (Jolliffe, 2002) and Classical multidimensional scaling (Torgerson, 1952)",
        "Trustworthiness (Venna and Kaski, 2001)",
        f"k = {recipe['n_neighbors'][0]}, Euclidean distances in the data, random seed {recipe['random_state']}",
        f"Intervals ({100 * recipe['conf_level']:g} %)",
        f"{table['n_resamples'].max()} permutations (Phipson and Smyth, 2010) and Holm's adjustment (Holm, 1979)",
        "multiple comparisons with the best (Hsu, 1981)",
    ):
        assert part in text, part
    anchored_results = dreval.Evaluation(X, {"a": X[:, :2]}, anchors=30, random_state=7, metric="cosine").run(
        "stress", None
    )
    text_with_anchors = anchored_results.paragraph("methods")
    assert "cosine distances in the data, 30 anchors drawn at random, random seed 7" in text_with_anchors
    assert "permutations" not in text_with_anchors
    assert "Best sets" not in text_with_anchors


def test_the_methods_of_a_comparison_name_its_tests(full_results: dreval.Results, across: dreval.Comparison) -> None:
    """The text has standard error, level and adjustment; across data sets every test, the deciding one and the rope."""
    within = full_results.compare(alpha=0.1, adjust="benjamini_hochberg", margin={"trustworthiness": 0.25})
    text, text_across = within.paragraph("methods"), across.paragraph("methods")

    assert "jackknife standard errors (Efron, 1982; Jaeckel, 1972), at 10 %" in text
    assert "Benjamini and Hochberg's adjustment (Benjamini and Hochberg, 1995)" in text
    assert "two one-sided tests (Schuirmann, 1987), with margin 0.25" in text
    assert "3 embeddings on 10 data sets" in text_across
    assert "Wilcoxon signed-rank tests (Wilcoxon, 1945; Hodges and Lehmann, 1963)" in text_across
    assert "Differences are called by Wilcoxon signed-rank tests." in text_across
    assert "Differences below 0.1 count as none." in text_across


def test_the_methods_across_data_sets_name_k_and_the_metric(tmp_path: Path) -> None:
    """A study and results have the numbers of neighbors of the measures, and the metric that all share."""
    data = {f"d{i}": np.random.default_rng(i).normal(size=(30, 3)) for i in range(3)}
    study = dreval.Study(tmp_path / "s.journal", data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=[4, 6])
    text = study.run().compare().paragraph("methods")
    assert "Settings: k = 4 and 6, Euclidean distances in the data." in text

    def run(i: int, metric: str) -> dreval.Results:
        embeddings = {"a": data[f"d{i}"][:, :2], "b": data[f"d{i}"][:, 1:]}
        return dreval.Evaluation(data[f"d{i}"], embeddings, n_neighbors=5, metric=metric).run(
            "trustworthiness", None, None
        )

    text_of_one_metric = dreval.compare([run(i, "manhattan") for i in range(3)]).paragraph("methods")
    text_of_two_metrics = dreval.compare([run(0, "manhattan"), run(1, "euclidean")]).paragraph("methods")
    assert "Settings: k = 5, manhattan distances in the data." in text_of_one_metric
    assert "Settings: k = 5." in text_of_two_metrics


def test_up_to_ten_measures_are_named() -> None:
    """Measures beyond ten are counted."""
    names = dreval.list_measures()
    selected = [name for name in names if not {"method", "latent", "batch"} & {*dreval.card(name).needs}][:14]
    results = evaluation(a=X[:, :2]).run(selected, None, None)
    text = " ".join(methods(results, MARKUPS["text"], 12))
    measure_names = [*dict.fromkeys(results.tidy()["measure"]), *dict.fromkeys(results.curves["measure"])]

    assert len(measure_names) == 14
    assert "4 further measures" in text
    assert [dreval.card(name).title.split(",")[0] in text for name in measure_names] == [True] * 10 + [False] * 4


@pytest.mark.parametrize("kind", ["results", "within", "across"])
def test_every_work_that_is_cited_is_listed(
    kind: str, full_results: dreval.Results, across: dreval.Comparison, request: pytest.FixtureRequest
) -> None:
    """Keys of the LaTeX paragraph are entries of BibTeX, which pybtex reads; the text has names and years."""
    record: Any = {"results": full_results, "within": full_results.compare(), "across": across}[kind]
    entries = parse_string(record.bibtex(), "bibtex").entries
    latex, text = record.paragraph("methods", "latex"), record.paragraph("methods")
    keys = {key for group in re.findall(r"\\cite\{([^}]+)\}", latex) for key in group.split(",")}

    assert keys <= set(entries.keys())
    assert len(keys) > 4
    assert list(entries.keys()) == sorted(entries.keys())
    assert record.bibtex().count("\n@") + 1 == len(entries)
    assert all(f"{reference(key).names}, {reference(key).year}" in text for key in keys - {"dreval"})
    assert dreval.__version__ in entries["dreval"].fields["note"]


def test_bibtex_has_exactly_the_works_that_were_used(full_results: dreval.Results) -> None:
    """The entries are works of measures, curves, tests, intervals, adjustment, best set and bundled methods."""
    cards = [dreval.card(name) for name in ("trustworthiness", "procrustes_rc", "q_nx", "hsic")]
    cards += [dreval.card("pca"), dreval.card("classical_mds")]
    expected = {key for card in cards for key in card.works}
    expected |= {"dreval", "efron1982", "jaeckel1972", "hsu1981", "holm1979", "phipson2010"}
    stress_results = evaluation(a=X[:, :2]).run("stress", None, None)

    assert set(re.findall(r"^@\w+\{(\w+),", full_results.bibtex(), re.M)) == expected
    assert set(re.findall(r"^@\w+\{(\w+),", stress_results.bibtex(), re.M)) == {"dreval", "kruskal1964", "espadoto2021"}


def test_a_foreign_class_with_a_known_name_is_not_cited() -> None:
    """A class counts as that of the package only if its parameters agree, too."""

    class PCA:
        def __init__(self, n_components: int = 2, whiten: bool = False) -> None:
            self.n_components, self.whiten = n_components, whiten

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {"n_components": self.n_components, "whiten": self.whiten}

        def fit_transform(self, X: Any, y: Any = None) -> Any:
            return np.asarray(X)[:, : self.n_components]

    results = evaluation(other=PCA()).run("stress", None, None)

    assert "jolliffe2002" not in results.bibtex()
    assert "Embeddings were made" not in results.paragraph("methods")


def test_names_are_escaped() -> None:
    """Names with special characters of LaTeX and Markdown are escaped in both paragraphs."""
    results = evaluation(**{"50%_a&b": X[:, :2], "*c*": X[:, 1:3]}).run("trustworthiness", None)

    for part in PARTS:
        assert r"50\%\_a\&b" in results.paragraph(part, "latex")
        assert r"50%\_a&amp;b" in results.paragraph(part, "markdown")
    assert r"\texttt{compare().tidy()}" in results.paragraph(format="latex")
    assert "*k* = 5" in results.paragraph("methods", "markdown")


def test_an_unknown_part_raises_an_error_with_the_parts(full_results: dreval.Results) -> None:
    """The error lists the parts."""
    with pytest.raises(DrevalError, match="results"):
        full_results.paragraph("result")
    with pytest.raises(DrevalError, match="methods"):
        full_results.compare().paragraph("latex")


@pytest.mark.debian
def test_latex_and_bibtex_compile_the_paragraphs(
    full_results: dreval.Results, across: dreval.Comparison, tmp_path: Path
) -> None:
    """A document with all paragraphs and their works compiles without error or undefined citation."""
    records = (full_results, full_results.compare(), across)
    body = "\n\n".join(record.paragraph(part, "latex") for record in records for part in PARTS)
    entries = {block for record in records for block in record.bibtex().strip().split("\n\n")}
    (tmp_path / "works.bib").write_text("\n\n".join(sorted(entries)), encoding="utf-8")
    head = r"\documentclass{article}\begin{document}\sloppy"
    (tmp_path / "a.tex").write_text(
        f"{head}\n{body}\n\\bibliographystyle{{plain}}\\bibliography{{works}}\\end{{document}}\n", encoding="utf-8"
    )
    latex = [shutil.which("pdflatex") or "pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a"]
    for command in (latex, ["bibtex", "a"], latex, latex):
        process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
        assert process.returncode == 0, process.stdout[-2000:]

    assert "undefined" not in (tmp_path / "a.log").read_text("utf-8", errors="replace")
    assert (tmp_path / "a.bbl").read_text("utf-8").count(r"\bibitem") >= 15


def test_the_p_of_independence_is_the_largest_that_rejects() -> None:
    """The text has the largest p of the rejected, or the smallest p if no test rejects."""
    age = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=60)
    embeddings = {"near": X[:, :2], "far": np.random.default_rng(2).normal(size=(60, 2)), "also": X[:, :3]}
    results = dreval.Evaluation(X, embeddings, covariates={"age": age}, random_state=0).run(None, "hsic", None)
    p = results.tidy().set_index("embedding")["p_adjusted"]
    below = p[p <= 0.05]
    assert sorted(below.index) == ["also", "near"]
    text = f"HSIC rejects independence of age for 2 of 3 embeddings (largest adjusted p = {format_p(below.max())}"
    assert f"{text} of these)" in results.paragraph()
    noise = dreval.Evaluation(
        X, {"far": embeddings["far"], "off": RNG.permutation(X[:, :2])}, covariates={"age": age}, random_state=0
    ).run(None, "hsic", None)
    p = noise.tidy()["p_adjusted"]
    assert p.min() > 0.05
    assert f"for 0 of 2 embeddings (smallest adjusted p = {format_p(p.min())})" in noise.paragraph()
