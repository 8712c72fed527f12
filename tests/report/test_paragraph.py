"""The paragraphs for a paper: limited in length, with the numbers of the tables, and every work in BibTeX."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pybtex.database import parse_string
from report_cases import make_results, measure_row

import dreval
from dreval._text import format_p, p_text
from dreval.errors import DrevalError
from dreval.references import reference
from dreval.report.documents.evaluation import answer_lines, answers_of_tests
from dreval.report.documents.methods import MARKUPS, methods
from dreval.report.documents.paragraph import MAX_METHODS_WORDS, MAX_WORDS, measure_paragraph
from dreval.report.render.text import wrap
from dreval.report.result_findings import verdict
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
    limits = {"results": MAX_WORDS, "methods": MAX_METHODS_WORDS}
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
            len(measure_paragraph(comparison, measure, form).split()) <= MAX_WORDS
            for measure in comparison.measures
            for form in FORMATS
        )


def test_paragraphs_on_many_embeddings_with_long_names_fit() -> None:
    """For sixteen embeddings with long names, sets are counted, and every question is named or counted."""
    rng = np.random.default_rng(0)
    embeddings = {
        f"run {i} of many with a long name": X[:30, :2] + 0.05 * i * rng.normal(size=(30, 2)) for i in range(16)
    }
    measures = ["trustworthiness", "spearman_distance"]
    results = dreval.Evaluation(X[:30], embeddings, n_neighbors=5, random_state=0).run(measures, None)
    text, text_of_comparison = results.paragraph(), results.compare().paragraph()

    assert max(len(text.split()), len(text_of_comparison.split())) <= MAX_WORDS
    assert text.startswith("16 embeddings were evaluated on 30 points (k = 5). For neighbors, ")
    assert "For global distances, " in text or "1 further question is in the table." in text
    assert text_of_comparison.startswith("16 embeddings were evaluated on 30 points. For ")


@given(
    seed=st.integers(0, 10**6),
    noise=st.lists(st.sampled_from([0.0, 0.02, 0.1, 0.3, 1.0, 4.0]), min_size=2, max_size=5),
    measures=st.sampled_from([["trustworthiness"], ["trustworthiness", "continuity", "procrustes_rc", "knn_accuracy"]]),
)
@settings(max_examples=10)
def test_every_number_of_a_paragraph_is_in_the_tables(seed: int, noise: list[float], measures: list[str]) -> None:
    """Values, differences, intervals, chance levels and p equal the rows; all embeddings are named."""
    rng = np.random.default_rng(seed)
    embeddings = {f"m{i}": X[:, :2] + size * rng.normal(size=(60, 2)) for i, size in enumerate(noise)}
    results = evaluation(**embeddings).run(measures, None)
    text, table, ranks = results.paragraph(), results.table, results.ranking()
    pairs = results.compare().pairs

    for numbers in re.findall(r"(\S+) \[(\S+), (\S+)\]", text):
        difference = np.abs(table[["value", "conf_low", "conf_high"]] - list(map(parse_number, numbers)))
        assert (difference < 0.00051).all(axis=1).any(), numbers
    turned = (pairs["better"] == pairs["second"]).map({True: -1.0, False: 1.0})
    ends = np.sort(pairs[["conf_low", "conf_high"]].mul(turned, axis=0), axis=1)
    differences = np.column_stack([pairs["difference"] * turned, ends])
    for numbers in re.findall(r"(\S+) \[(\S+), (\S+)\]", results.compare().paragraph()):
        assert (np.abs(differences - list(map(parse_number, numbers))) < 0.00051).all(axis=1).any(), numbers
    p_values = pd.concat([ranks["p_adjusted"], pairs["p_adjusted"], pairs["p_value"]]).dropna()
    for sign, p in re.findall(r"p ([=<≤≥]) (\d?\.\d+|1)", text):
        expected = p_values < float(p) if sign == "<" else (p_values - float(p)).abs() < 0.00051
        assert expected.any(), (sign, p)
    for chance in re.findall(r"chance ≈?(\S+?)[;)]", text):
        assert (table["chance"] - parse_number(chance)).abs().min() < 0.0051
    assert all(re.search(rf"\b{name}\b", text) for name in embeddings)
    for _, part in ranks[ranks["in_best_set"].fillna(False)].groupby("measure"):
        assert len(part) > 1 or f"{part['embedding'].iloc[0]} is best" in text


def parse_number(text: str) -> float:
    """Return a printed number."""
    return float(text.replace("−", "-").replace(",", ""))


def test_the_findings_are_those_of_the_verdict(full_results: dreval.Results) -> None:
    """Each finding of the verdict is in the paragraph, and the test of independence with its largest p."""
    text, view = full_results.paragraph(), read_results(full_results)

    for answer in verdict(view):
        assert answer.question == "Caution" or f"For {answer.question.lower()}, " in text
        for finding in answer.findings:
            if finding.kind in ("result.best", "result.best_map", "result.best_set"):
                assert f"{finding.subject[0]}" in text.partition(f"For {answer.question.lower()}, ")[2]
    rows = full_results.table
    rows = rows[rows["test"] == "hsic"]
    below = rows.loc[rows["p_adjusted"] <= 0.05, "p_adjusted"]
    assert f"HSIC rejects independence of labels for pca and mds (largest adjusted p = {format_p(below.max())})" in text
    assert text.endswith(
        "Brackets: 95 % intervals; best: 5 % level for each measure, not adjusted over measures; "
        "pairwise p: Holm over 2 paired tests."
    )


def test_one_embedding_is_compared_with_chance() -> None:
    """The text has the values, and the measures by which one embedding is not significantly better than chance."""
    noise = np.random.default_rng(0).normal(size=(60, 2))
    results = evaluation(
        pc=X[:, :2],
    ).run(["trustworthiness"], None)
    assert results.paragraph().startswith(
        "One embedding was evaluated on 60 points (k = 5): pc. For neighbors, trustworthiness ."
    )
    text = evaluation(noise=noise).run(["trustworthiness", "procrustes_rc"], None).paragraph()
    assert "For neighbors, not significantly better than chance (" in text


def test_without_intervals_nothing_is_called_distinguishable() -> None:
    """The text names the best value and that no difference is tested."""
    text = evaluation(a=X[:, :2], b=X[:, 2:4]).run("trustworthiness", None, None).paragraph()

    assert "For neighbors, a has the best value: trustworthiness ." in text
    assert "Without intervals no difference is tested." in text
    assert "p =" not in text
    assert "Brackets" not in text


def test_equal_maps_are_named_once() -> None:
    """Two copies are the same map, in the paragraph on results and in that on a comparison."""
    results = evaluation(a=X[:, :2], copy=X[:, :2].copy(), c=X[:, 2:4]).run(["trustworthiness", "stress"], None)

    assert results.paragraph().count("the same map") == 1
    assert results.compare().paragraph().count("the same map") == 1
    assert "a and copy, the same map, are best" in results.paragraph()


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
    """A small number has no power of ten; negative numbers have a true minus sign, which LaTeX knows."""
    noise = np.random.default_rng(2).normal(size=(60, 2))
    results = evaluation(a=X[:, 3:], b=noise).run(["silhouette", "kendall_distance"], "kcca", None, n_resamples=19)
    text, printed_text = results.paragraph(), f"{results}\n{results.summary(full=True)}"

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


def test_the_findings_of_a_comparison_are_those_of_its_tables(full_results: dreval.Results) -> None:
    """Every significant pair is named by each measure, with the largest p and the range of the differences."""
    comparison = full_results.compare()
    text, pairs = comparison.paragraph(), comparison.pairs
    significant = pairs[pairs["better"] != ""]

    assert len(significant) > 0
    assert text.startswith("Three embeddings were evaluated on 60 points: pca, mds and noise. pca and mds are the same")
    assert text.endswith("Pairwise p: jackknife standard errors, Holm over 6 paired tests.") or "Brackets: 95 %" in text
    for measure, rows in significant.groupby("measure"):
        topic = next(c.topic for c in read_results(full_results).columns if c.measure == measure)
        part = text.partition(f"For {topic.lower()}, ")[2].partition("For ")[0]
        assert "are better than noise" in part
        low, high = (f"{rows['difference'].abs().agg(end):.3f}".removeprefix("0") for end in ("min", "max"))
        assert f"{low} [" in part
        assert high in part


def test_the_findings_across_data_sets_are_those_of_the_tables(across: dreval.Comparison) -> None:
    """The text has the overall test with its p, and all mean ranks."""
    text = across.paragraph()

    for measure in ("trustworthiness", "stress"):
        rows = across.of(across.standing, measure).set_index("embedding")["mean_rank"]
        *first, last = (f"{name} {rank:.2f}" for name, rank in rows.items())
        assert f"mean ranks {', '.join(first)} and {last}" in text
        exact_test = across.of(across.overall, measure).set_index("test").loc["friedman_exact"]
        p = "< .001" if exact_test["p_value"] < 0.001 else f"= {exact_test['p_value']:.3f}".replace("0.", ".")
        assert f"{exact_test['p_kind']} p {p}" in text


def test_the_methods_have_the_settings_of_the_recipe(full_results: dreval.Results) -> None:
    """The text has numbers of embeddings, points and permutations, k, metric, seed, level, adjustment and version."""
    text = full_results.paragraph("methods")
    table, recipe = full_results.table, full_results.recipe

    for part in (
        f"Three embeddings (pca, mds and noise) of {recipe['n']} points in {recipe['p']} dimensions",
        f"dreval {recipe['versions']['dreval']}",
        "Principal component analysis (Jolliffe, 2002) and Classical multidimensional scaling (Torgerson, 1952)",
        "Measures: trustworthiness (Venna and Kaski, 2001), local shape, free scale (local Procrustes R_C) (",
        f"k = {recipe['n_neighbors'][0]}, Euclidean distances in the data, random seed {recipe['random_state']}",
        f" ({100 * recipe['conf_level']:g} %): ",
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
    assert "Best embeddings" not in text_with_anchors


def test_the_methods_of_a_comparison_name_its_tests(full_results: dreval.Results, across: dreval.Comparison) -> None:
    """The text has standard error, level and adjustment; across data sets every test, the deciding one and the rope."""
    within = full_results.compare(alpha=0.1, adjust="benjamini_hochberg", margin={"trustworthiness": 0.25})
    text, text_across = within.paragraph("methods"), across.paragraph("methods")

    assumptions = "(independent points, coordinates treated as fixed)"
    assert f"jackknife standard errors (Efron, 1982; Jaeckel, 1972) {assumptions}, at 10 %" in text
    assert "Benjamini and Hochberg's adjustment (Benjamini and Hochberg, 1995)" in text
    assert "two one-sided tests (Schuirmann, 1987), with margin 0.25" in text
    assert "Three embeddings on 10 data sets" in text_across
    assert "Wilcoxon signed-rank tests (Wilcoxon, 1945; Hodges and Lehmann, 1963)" in text_across
    assert "Significance of a difference: by Wilcoxon signed-rank tests." in text_across
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


def test_up_to_twelve_measures_are_named() -> None:
    """Measures beyond twelve are counted."""
    names = dreval.list_measures()
    selected = [name for name in names if not {"method", "latent", "batch"} & {*dreval.card(name).needs}][:14]
    results = evaluation(a=X[:, :2]).run(selected, None, None)
    text = " ".join(methods(results, MARKUPS["text"], 12, read_results(results)))
    measure_names = [*dict.fromkeys(results.table["measure"]), *dict.fromkeys(results.curves["measure"])]

    assert len(measure_names) == 14
    assert "2 further measures" in text
    assert [dreval.card(name).title[1:] in text for name in measure_names] == [True] * 12 + [False] * 2


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
    expected |= {"dreval", "efron1981", "efron1982", "jaeckel1972", "hsu1981", "holm1979", "phipson2010"}
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
    assert "Methods of dreval" not in results.paragraph("methods")


def test_names_are_escaped() -> None:
    """Names with special characters of LaTeX and Markdown are escaped in both paragraphs."""
    results = evaluation(**{"50%_a&b": X[:, :2], "*c*": X[:, 1:3]}).run("trustworthiness", None)

    for part in PARTS:
        assert r"50\%\_a\&b" in results.paragraph(part, "latex")
        assert r"50%\_a&amp;b" in results.paragraph(part, "markdown")
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
    p = results.table.set_index("embedding")["p_adjusted"]
    below = p[p <= 0.05]
    assert sorted(below.index) == ["also", "near"]
    text = f"HSIC rejects independence of age for near and also (largest adjusted p = {format_p(below.max())})"
    assert text in results.paragraph()
    noise = dreval.Evaluation(
        X, {"far": embeddings["far"], "off": RNG.permutation(X[:, :2])}, covariates={"age": age}, random_state=0
    ).run(None, "hsic", None)
    p = noise.table["p_adjusted"]
    assert p.min() > 0.05
    sentence = "No significant dependence of any embedding on age was found"
    assert f"{sentence} (HSIC: smallest adjusted {p_text(p.min())})" in noise.paragraph()


def test_the_only_embedding_that_can_be_judged_is_named_with_its_measure() -> None:
    """Next to a map in one place, each value has its measure and its embedding."""
    text = evaluation(flat=np.zeros((60, 2)), first=X[:, :2]).run(["trustworthiness", "continuity"]).paragraph()

    assert re.search(r"For neighbors, on first, (trustworthiness|continuity) \.\d+", text)


def test_a_measure_without_a_value_is_named() -> None:
    """The paragraph says which embeddings have no value of which measures."""
    rows = [measure_row(name, "continuity", "n_neighbors=15", 0.8, 0.5) for name in "ab"]
    rows += [measure_row("a", "knn_accuracy", "", 0.9, 0.1), measure_row("b", "knn_accuracy", "", math.nan, math.nan)]
    text = make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, 1:3]}).paragraph()

    assert "b has no value of class accuracy." in text


def test_the_smallest_p_is_named_where_no_test_could_reject() -> None:
    """With nine permutations no p is below .1, whatever the data; the paragraph says so."""
    labels = (X[:, 0] > 0).astype(int)
    evaluation_with_labels = dreval.Evaluation(X, {"a": X[:, :2]}, labels=labels, n_neighbors=8, random_state=0)
    text = evaluation_with_labels.run("continuity", ["hsic"], n_resamples=9).paragraph()

    assert "9 permutations are too few for 1 test of independence: no adjusted p can be below .100." in text


def test_groups_are_in_the_first_sentence_and_in_the_key():
    """A paper says how many independent units there are, and what the brackets refer to."""
    X, groups = np.random.default_rng(0).normal(size=(48, 4)), pd.Series(np.repeat(range(8), 6), name="donor")
    ev = dreval.Evaluation(X, {"a": X[:, :2]}, groups=groups, n_neighbors=5, random_state=0)
    text = ev.run("trustworthiness", tests=None).paragraph()
    assert "evaluated on 48 points in 8 groups (donor)" in text
    assert "rackets: 95 % intervals over groups (donor)" in text


def test_a_passed_covariate_has_its_answer_where_answers_of_tests_are_left_out():
    """The answer on labels may be left out; the settings of the first line stay together."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    ev = dreval.Evaluation(
        X, {"a": X[:, :2]}, labels=["u", "v"] * 20, covariates={"age": X[:, 3]}, n_neighbors=5, random_state=0
    )
    view = read_results(ev.run("trustworthiness", tests="hsic", ci=None, n_resamples=19))
    texts = [text for topic, text in answer_lines(view, ["tests"]).lines if topic == "Tests"]
    assert len(texts) == 1
    assert "on age" in texts[0]
    assert len(answers_of_tests(view)) == 2
    assert any("(k = 15, seed 0)" in line for line in wrap(f"{'a ' * 34}(k = 15, seed 0)"))


GROUP_ROWS = np.random.default_rng(5).normal(size=(90, 4))
GROUP_KINDS = np.tile(["left", "right"], 45)


def in_groups(count: int, tests: Any, **covariates: Any) -> dreval.Results:
    """Return a result of two embeddings of points in groups of equal size."""
    ev = dreval.Evaluation(
        GROUP_ROWS,
        {"a": GROUP_ROWS[:, :2], "b": GROUP_ROWS[:, 1:3]},
        labels=GROUP_KINDS,
        groups=np.repeat(np.arange(count), 90 // count).astype(str),
        covariates=covariates,
        n_neighbors=5,
        random_state=0,
    )
    return ev.run(["trustworthiness", "knn_accuracy"], tests, n_resamples=99)


def test_the_methods_name_no_test_of_differences_that_groups_are_too_few_for() -> None:
    """With three groups nothing is tested, and no work of such a test is cited; with ten everything is."""
    few, enough = in_groups(3, None), in_groups(10, None)
    for record in (few, few.compare()):
        text = record.paragraph("methods")
        assert "Paired differences" not in text
        assert "MacKinnon" not in text
        assert "No intervals and no tests of differences: 3 groups, and at least five are needed." in text
        assert "mackinnon" not in record.bibtex().lower()
    for record in (enough, enough.compare()):
        text = record.paragraph("methods")
        assert "Paired differences were tested" in text
        assert "No intervals" not in text
        assert "mackinnon" in record.bibtex().lower()
    assert "Tests:" not in str(few.compare())
    assert "Tests: independent groups" in str(enough.compare())


def test_the_paragraphs_name_restricted_permutations_and_neighbors_of_other_groups() -> None:
    """A variable that varies within groups is permuted within them, one that does not between them."""
    age = np.repeat(np.arange(10.0), 9)
    alone, both = in_groups(10, "hsic"), in_groups(10, "hsic", age=age)
    few = in_groups(3, "hsic", age=np.repeat(np.arange(3.0), 30))
    cited = "groups (Phipson and Smyth, 2010)"
    assert f"with 99 permutations within {cited} and Holm" in alone.paragraph("methods")
    halves = f"with 99 permutations within {cited} for labels and 99 permutations between groups for age and Holm"
    assert halves in both.paragraph("methods")
    assert f"within {cited} for labels and all 6 permutations between" in few.paragraph("methods")
    assert "on labels within groups" in alone.paragraph()
    assert "on age between groups" in both.paragraph()
    assert "Neighbors from other groups: for class accuracy." in alone.paragraph("methods")
    free = dreval.Evaluation(GROUP_ROWS, {"a": GROUP_ROWS[:, :2]}, labels=GROUP_KINDS, random_state=0)
    text = free.run(["knn_accuracy"], "hsic", n_resamples=99).paragraph("methods")
    assert "within" not in text
    assert "other groups" not in text
