"""The printed summary: it fits a terminal, has every number, and is safe in HTML, LaTeX and Markdown."""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import simulated_results

import dreval
from dreval._text import format_number, format_p, terminal_width
from dreval.errors import InputError
from dreval.glossary import TARGETS
from dreval.report.document import Document, Table, record_document, same_digits, significance_stars
from dreval.report.format import distinct_short_names
from dreval.report.result_view import independent_unit, interval_assumptions

X = np.random.default_rng(0).normal(size=(40, 4))
Y = X[:, :2] + 0.1
LABELS = np.array(["a", "b"] * 20)
LONG = "an embedding whose name is a sentence, made by a tool with forty-two parameters"
ODD = ["<script>alert(1)</script>", r"a_b & 50% $x$ #1 {y} \end{tabular} ~^", "pipe | and `tick`", "größe 嵌入"]


# fewer random walks and starts than by default, since they are most of the time and change no layout
FAST = {name: {"n_walks": 5} for name in ("steadiness", "cohesiveness")}
FAST |= {name: {"n_init": 2} for name in ("kmeans_ami", "kmeans_ari", "kmeans_nmi")}


def evaluate(names: Sequence[str], measures: str = "default", **settings: Any) -> dreval.Results:
    """Run measures and tests on some embeddings and one that fails."""
    embeddings = {name: np.round(Y + i, i % 3) for i, name in enumerate(names)}
    defaults = {"labels": LABELS, "covariates": {"a covariate with a rather long name": X[:, 0]}, "random_state": 0}
    ev = dreval.Evaluation(X, embeddings, **{**defaults, "n_neighbors": [2, 5, 9], **settings})
    options = {"points": {"n_partitions": 2}, **(FAST if measures == "all" else {})}
    return ev.with_embedding("bad", Y[:5]).run(measures, n_resamples=19, options=options)


@functools.cache
def everything() -> tuple[dreval.Results, Document]:
    """Return all measures of two embeddings, and everything that is printed of them; tests change neither."""
    results = evaluate(["e", "f"], "all")
    return results, results.summary(full=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "setting"),
    [
        (["e", LONG, f"{LONG} 2"], {"random_state": 2**63 - 1, "n_neighbors": 39}),
        (["e", LONG, f"{LONG} 2"], {"anchors": 15}),
        (ODD, {"n_neighbors": [1, 7, 20, 39]}),
        (ODD, {"labels": None, "covariates": None, "n_neighbors": 5}),
    ],
)
def test_lines_fit_a_terminal(names: list[str], setting: dict[str, Any]) -> None:
    """No line is wider than 80 characters, for any names, numbers of k, ties, tests and failures."""
    results = evaluate(names, **setting)

    for text in (str(results.summary()), str(results.summary(full=True))):
        assert max(map(terminal_width, text.splitlines())) <= 80
        assert not any(line != line.rstrip() for line in text.splitlines())


def test_long_names_are_shortened_in_the_middle() -> None:
    """A long name keeps its beginning and end, so that names with different ends stay distinct."""
    text = str(simulated_results((LONG, f"{LONG} 2")).summary(full=True))

    assert re.search(r"^  an em\S*.*….*eters  ", text, re.M)
    assert re.search(r"^  an em\S*.*….*ers 2  ", text, re.M)


@given(st.text(min_size=1, max_size=90), st.text(max_size=60))
def test_any_name_fits(name: str, value: str) -> None:
    """Blocks and headers of any text fit the width."""
    table = Table("Title", ["", "value", "interval"], [[name, "0.1234", "[0.1234, 0.5678]"], ["e", "1", ""]])
    summary = record_document("Title", [("Data", value), ("n", "3")], [table], [name])

    assert max(map(len, summary.as_text().split("\n"))) <= 80
    assert len(summary.as_text().split("\n\n")[1].split("\n")) == 5


@given(st.text(min_size=1, max_size=90).filter(str.isprintable), st.text(max_size=200).filter(str.isprintable))
def test_any_setting_fits(name: str, setting: str) -> None:
    """A second text column is shortened too, and numbers are never shortened."""
    block = Table("Title", ["", "", "value"], [[name, setting, "0.12345678901234"], ["e", "a=1", ""]])
    text = record_document("Title", [], [block]).as_text()

    assert max(map(len, text.split("\n"))) <= 80
    assert "0.12345678901234" in text


def test_settings_that_differ_are_in_the_rows() -> None:
    """If the settings of a method measure differ, each row has its setting as it was run, within 80 columns.

    40 points of 4 columns have 160 transformations, not 200.
    """
    options = {"tractable_consistency": {"n_transformations": 200}, "reconstruction_error": {"n_splits": 50}}
    results = dreval.Evaluation(X, {"few": "pca", "all": "pca"}, random_state=0).run(
        list(options), ci=None, options=options
    )
    row_of_few = (results.table["embedding"] == "few") & (results.table["n_resamples"] == 160)
    table = results.table
    table.loc[row_of_few, "n_resamples"] = 5
    table.loc[row_of_few, "parameters"] = table.loc[row_of_few, "parameters"].str.replace("=200", "=5")
    results = replace(results, table=table)
    text = str(results.summary(full=True))

    assert str(results.summary())
    assert row_of_few.sum() == 1
    assert re.search(r"^  few +n_transformations=5 +0\.", text, re.M)
    assert re.search(r"^  all +n_transformations=160 +0\.", text, re.M)
    assert "amplitude=" not in text
    assert max(map(len, text.splitlines())) <= 80


def numbers(text: str) -> set[str]:
    """Return all decimal numbers in a text."""
    return set(re.findall(r"\d\.\d{4,6}", text))


@pytest.mark.slow
def test_every_format_has_every_number() -> None:
    """Text, HTML, LaTeX and Markdown have the values, intervals, chances, ties and p-values of the table."""
    results, summary = everything()
    table = results.table
    columns = ["value", "conf_low", "conf_high", "chance", "worst", "best", "effect_size", "statistic"]
    expected = set()
    # ties that no printed digit shows
    equal_when_printed = table["worst"].map(format_number) == table["best"].map(format_number)
    table.loc[equal_when_printed, ["worst", "best"]] = np.nan
    for column in columns:
        scale = (table["measure"] == "k_max") & (column == "value")  # printed whole
        for value, test in table.loc[table[column].notna() & ~scale, [column, "test"]].to_numpy():
            expected |= numbers(format_number(value)) if not test else set()
    for _, rows in table[table["test"] != ""].groupby("test"):
        digits = same_digits([*rows["statistic"], *rows["chance"]])
        expected |= numbers(" ".join([*digits, *map(format_number, rows["effect_size"])]))
    for text in (summary.as_text(), summary.as_html(), summary.as_latex(), summary.as_markdown()):
        assert expected <= numbers(text)
        for title in ("Trustworthiness", "Tests of independence", "jackknife"):
            assert title in text


class Tags(HTMLParser):
    """A parser that stores tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open += [tag] * (tag != "wbr")
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_arguments_at_the_beginning_of_a_note_are_code() -> None:
    """HTML formats the argument of a note as code; backticks in a name are unchanged."""
    page = record_document("t", [], [], ["`y` holds classes.", "pca of `y` & more"]).as_html()

    assert "<li><code>y</code> holds classes.</li><li>pca of `y` &amp; more</li>" in page


def test_names_are_escaped() -> None:
    """A name that looks like a tag, a command or a table cell is shown literally."""
    results = simulated_results(tuple(ODD), ks=(5, 15), failed={"<i>bad</i> & co": "a reason_1"})
    summary = replace(results, recipe={**results.recipe, "call": "f('<b>')"}).summary(full=True)
    tags = Tags()
    tags.feed(summary.as_html())
    assert tags.open == []
    assert tags.tags == {
        *("div", "style", "h3", "p", "bdi", "pre", "table", "caption", "thead", "tbody", "tr", "th", "td"),
        *("strong", "ol", "li", "sub", "b", "span", "wbr", "dl", "dt", "dd"),
    }
    for name in ODD:
        assert name in "".join(tags.text)

    cells = "\n".join(line for line in summary.as_latex().splitlines() if not line.startswith("%"))
    for kind in ("tabular", "longtable", "table"):
        assert cells.count(rf"\begin{{{kind}}}") == cells.count(rf"\end{{{kind}}}")
    assert cells.count(r"\label{") == len(summary.tables)  # a table that is broken has one, too
    assert not re.search(r"(?<!\\)[%#]", cells)
    assert r"\textbackslash{}end\{tabular\}" in cells

    for block in summary.as_markdown().split("### ")[1:]:
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert "<script" not in re.sub(r"^```.*?^```", "", summary.as_markdown(), flags=re.DOTALL | re.MULTILINE)


def test_rows_of_tests_mark_missing_results() -> None:
    """A failed test is missing in its row, with the reason in a note; stars use p if there is no adjustment."""
    ev = dreval.Evaluation(X, {"e": Y, "spot": Y * 0}, labels=LABELS, covariates={"x": X[:, 0]}, random_state=0)
    text = str(ev.run(None, "hsic", n_resamples=999, adjust=None).summary(full=True))

    assert re.search(r"spot +labels +missing\n", text)
    assert "spot ~ labels, x (hsic): `embeddings['spot']` must vary" in text
    assert re.search(r"e +x .*\.001 +\*\*\*\n", text)
    assert "p not adjusted;" in text


@pytest.mark.slow
def test_shared_notes_are_printed_once() -> None:
    """A note that many rows share is one note with the names it concerns, and ends with one full stop."""
    text = everything()[1].as_text()
    notes = re.sub(r"\s+", " ", text.split("\nNotes\n")[1])

    assert notes.count("not its method as trustability does") == 1
    assert "global shape of e, f:" in notes
    assert ".." not in notes.replace("[...]", "")
    assert re.findall(r"\[(\d+)\]", notes) == [str(i + 1) for i in range(len(re.findall(r"\[(\d+)\]", notes)))]


def test_no_time_is_printed() -> None:
    """Two runs print the same text."""
    assert str(evaluate(["e"]).summary(full=True)) == str(evaluate(["e"]).summary(full=True))


@given(st.floats(allow_nan=False))
def test_numbers_are_read_back(value: float) -> None:
    """A printed number equals the number to four decimals, or to four digits if it is very small or large."""
    text = format_number(value)

    assert len(text) <= 13
    if math.isfinite(value):
        assert float(text.replace("−", "-")) == pytest.approx(value, rel=6e-4, abs=6e-5)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.12345, 4, "0.1235"), (0.0, 4, "0.0000"), (1e-5, 4, "1.000e−05"), (1234567.0, 4, "1.235e+06"),
        (None, 4, ""), (math.nan, 4, ""), (569, 4, "569"), (12345, 4, "12,345"), (0.000123, 6, "0.000123"),
        (math.inf, 4, "inf"), (-0.5, 2, "−0.50"), (-1e-300, 2, "−1.0e−300"), (-0.0, 2, "0.00"),
    ],
)  # fmt: skip
def test_numbers_as_printed(value: Any, digits: int, text: str) -> None:
    """Decimals are fixed, notation is scientific only if necessary, and a missing value is empty."""
    assert format_number(value, digits) == text


def test_p_values_are_never_zero() -> None:
    """Small p-values are bounds; significance codes are those of R."""
    assert [format_p(p) for p in (1e-9, 0.001, 0.0456, 1.0, math.nan)] == ["<.001", ".001", ".046", "1.000", ""]
    assert [significance_stars(p) for p in (0.001, 0.01, 0.05, 0.1, 0.11, math.nan)] == ["***", "**", "*", ".", "", ""]


def test_a_scale_is_printed_whole_and_without_direction() -> None:
    """K_max is a number of neighbors without a better direction."""
    text = str(dreval.Evaluation(X, {"one": Y}, random_state=0).run(["k_max"], ci=None).summary(full=True))

    assert "Scale of the best agreement (K_max), no direction" in text
    assert re.search(rf"^  one +{dreval.k_max(X, Y):.0f} +\d", text, re.MULTILINE)


def test_notes_on_several_kinds_of_intervals_name_their_measures() -> None:
    """If notes on intervals differ, each names its measures."""
    evaluation = dreval.Evaluation(X, {"one": Y}, anchors=20, n_neighbors=5, random_state=0)
    notes = " ".join(map(str, evaluation.run(["continuity", "procrustes_disparity"]).summary(full=True).notes))

    assert "95 % intervals of continuity: anchors drawn without replacement, betting" in notes
    assert "95 % intervals of global shape: computed from all points" in notes
    assert "95 % intervals: " in " ".join(map(str, evaluation.run(["continuity"]).summary(full=True).notes))


@pytest.mark.parametrize("name", ["嵌入法", "ｆｕｌｌ", "한국어 이름", "e\u0301te\u0301"])
def test_wide_characters_keep_the_columns(name: str) -> None:
    """A character that takes two columns of a terminal counts as two, so that numbers are aligned."""
    block = Table("t", ["", "value"], [[name, "0.5"], ["pca", "0.25"]])
    text = record_document("title", [("Data", name), ("n", "3")], [block], [f"{name} " * 40]).as_text()
    lines = text.split("\n")
    ends = {terminal_width(line) for line in lines if line.endswith(("0.5", "0.25"))}

    assert len(ends) == 1
    assert max(map(terminal_width, lines)) <= 80
    assert "\x00" not in text
    assert next(line for line in lines if line.startswith("Data:")).split()[1:] == [*name_words(name), "n:", "3"]


def name_words(name: str) -> list[str]:
    """Return the words of a name as they are printed."""
    return unicodedata.normalize("NFC", name).split()


@given(st.lists(st.text("ab=_", min_size=1, max_size=60), min_size=1, max_size=12), st.integers(8, 30))
def test_short_forms_are_distinct(names: list[str], width: int) -> None:
    """No two names have one short form, and each form fits the width."""
    short_names = distinct_short_names(names, width)

    assert len(set(short_names.values())) == len(set(names))
    assert max(map(len, short_names.values())) <= width
    assert all(short_names[name] == name for name in names if len(name) <= width and len(set(names)) == 1)


SEEDS = [f"pbmc_umap_min_dist_0.{i}_seed_{j}" for i in (1, 5) for j in (0, 1)]


def pairs_summary(names: list[str]) -> Document:
    """Return a summary of a table of names that has space for them, and one of pairs that has not."""
    numbers = ["−0.0015", "−0.05", "0.961", "1.000", "−0.015", "0.487"]
    pairs = [[a, b, *numbers] for i, a in enumerate(names) for b in names[i + 1 :]]
    headings = ["first", "second", "difference", "t", "p", "p adj.", "effect", "P sup."]
    values = Table("Values", ["", "value"], [[name, "0.5"] for name in names])
    return record_document("Title", [], [values, Table("Pairs", headings, pairs, 2)])


def test_a_short_name_is_the_same_in_every_column() -> None:
    """Both columns of pairs have the same short forms in text and LaTeX, and a key expands each form."""
    summary = pairs_summary(SEEDS)
    text, latex = summary.as_text(), summary.as_latex().replace(r"\_", "_").replace(r"\allowbreak{}", "")
    key = dict(re.findall(r"^  (\S+): (\S+)$", text.partition("\nNames\n")[2], re.M))
    pairs = re.findall(r"^(\S+)  (\S+) +−0\.0015", text, re.M)
    tex_key = dict(re.findall(r"(\S+…\S*): (\S+)\.(?= |\\par)", latex))
    tex_pairs = re.findall(r"^(\S+) & (\S+) & \\ensuremath\{-\}0\.0015", latex, re.M)
    expected = [(a, b) for i, a in enumerate(SEEDS) for b in SEEDS[i + 1 :]]

    assert sorted(key.values()) == sorted(tex_key.values()) == sorted(SEEDS)
    assert [(key[a], key[b]) for a, b in pairs] == expected
    assert [(tex_key[a], tex_key[b]) for a, b in tex_pairs] == expected
    assert all(re.search(rf"^{name} +0\.5$", text, re.M) for name in SEEDS)


def test_several_tables_share_one_short_form_of_a_name() -> None:
    """The narrowest table sets the short form for all tables."""
    headings = [f"c{i:09d}" for i in range(4)]
    blocks = [Table("", ["", *headings[:n]], [[name + "x" * 30, *["0.1"] * n] for name in SEEDS]) for n in (3, 4)]
    text = record_document("t", [], blocks).as_text().partition("\nNames\n")
    forms = re.findall(r"^(\S+) +0\.1", text[0], re.M)

    assert forms[:4] == forms[4:]
    assert len(set(forms)) == 4
    assert "Names" not in pairs_summary(["umap", "tsne"]).as_text()


def test_names_are_not_shortened_if_the_row_fits() -> None:
    """The table of pairs has space for names of fourteen letters in 80 columns."""
    names = ["umap_n15_seed1", "umap_n15_seed2", "umap_n50_seed1"]
    text = pairs_summary(names).as_text()

    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_labels_of_two_summaries_differ() -> None:
    """A label precedes the number of each table; a label that LaTeX cannot process raises an error."""
    summary = pairs_summary(["umap", "tsne"])

    assert re.findall(r"\\label\{(.*?)\}", summary.as_latex()) == ["tab:title-1", "tab:title-2"]
    assert re.findall(r"\\label\{(.*?)\}", summary.as_latex(label="tab:wdbc")) == ["tab:wdbc", "tab:wdbc-2"]
    for bad in ("a b", "", "x_{", 3):
        with pytest.raises(InputError, match="`label` must be letters"):
            summary.as_latex(label=bad)  # type: ignore[arg-type]


def test_a_table_that_is_too_wide_is_split() -> None:
    """Blocks of columns follow each other, each with the names, and every number is complete."""
    row = [f"{i}.{i}23456789012345" for i in range(9)]
    block = Table("", ["", *(f"c{i}" for i in range(8)), ""], [["a name", *row[:8], "***"]])
    text = record_document("t", [], [block]).as_text()

    assert max(map(len, text.splitlines())) <= 80
    assert all(text.count(number) == 1 for number in row[:8])
    assert len(re.findall(r"^a name", text, re.M)) == 3
    assert re.search(rf"{row[7]}  \*\*\*$", text, re.M)


def test_the_best_values_are_marked() -> None:
    """The best values of each measure and setting are marked; a measure without direction has no mark."""
    table = {"low": X[::-1, :2], "high": X[:, :2] + 1e-9, "same": X[:, :2]}
    ev = dreval.Evaluation(X, table, n_neighbors=[3, 5], random_state=0)
    block = ev.run(["trustworthiness", "k_max"], ci=None).summary(full=True).tables[0]
    best = [(row[0].text, row[1].text, row[2].text) for row in block.cells if (row[2].emphasis == "best")]

    assert {row[:2] for row in best} == {(name, k) for name in ("high", "same") for k in ("k = 3", "k = 5")}


def test_a_summary_has_call_and_components() -> None:
    """Different numbers of components are all listed, and a long call omits its middle."""
    two_results = dreval.Evaluation(X, {"two": Y, "three": X[:, :3]}, n_neighbors=5, random_state=0).run(
        "stress", ci=None
    )
    many_results = dreval.Evaluation(X, {f"embedding {i}": Y for i in range(40)}, n_neighbors=5).run("stress", ci=None)

    assert "\nCall:\n  dreval.Evaluation(data, {'two': two_coordinates" in str(two_results.summary(full=True))
    assert re.search(r"Components d: +2, 3$", str(two_results.summary(full=True)), re.M)
    assert str(many_results.summary(full=True)).partition("Call:\n")[2].partition("\n\n")[0].count("\n") <= 5
    assert "'embedding 39'" in many_results.summary(full=True).call


def test_equal_failures_share_one_note() -> None:
    """Failed embeddings have no rows; their reason is in one note, and the header counts them."""
    ev = dreval.Evaluation(X, {"e": Y, "short": Y[:5], "brief": Y[:5]}, n_neighbors=5, random_state=0)
    summary = ev.run("stress", ci=None).summary(full=True)

    assert ("Embeddings", "1 of 3 (2 failed)") in summary.header
    assert [row[0].text for row in summary.tables[0].cells] == ["e"]
    assert [note for note in summary.notes if "failed" in note] == [
        note for note in summary.notes if note.startswith("short, brief failed: `embeddings[...]` must have one row")
    ]
    assert sum("failed" in note for note in summary.notes) == 1


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("points", "independent donors, coordinates treated as fixed"),
        ("classes", "independent classes, coordinates treated as fixed"),
        ("anchors", "anchors drawn at random, coordinates treated as fixed"),
        ("seeds", "independent seeds, points treated as fixed"),
        ("replicates", "independent runs of the method, points treated as fixed"),
        ("subsamples", "independent donors, method re-run on halves of them"),
    ],
)
def test_each_kind_of_interval_says_what_is_independent_and_what_is_fixed(method: str, text: str) -> None:
    """The unit is in the words of intervals over points, and every target has words."""
    assert interval_assumptions("donors", method) == text
    assert method in TARGETS


def test_groups_are_the_independent_unit() -> None:
    """Without groups points are independent; groups are named if they have a name."""
    assert independent_unit({}) == independent_unit({"groups": None}) == "points"
    assert independent_unit({"groups": {"count": 8, "name": "donor"}}) == "groups (donor)"
    assert independent_unit({"groups": {"count": 8, "name": ""}}) == "groups"


def test_outputs_begin_with_what_intervals_refer_to(tmp_path: Path) -> None:
    """Print, page and methods paragraph say it, of intervals over points, over seeds and of tests of pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))

    def project(X: Any, n_components: int, random_state: int) -> Any:
        return X @ np.random.default_rng(random_state).normal(size=(4, n_components))

    ev = dreval.Evaluation(X, {"a": X[:, :2], "b": project}, n_neighbors=8, random_state=0)
    fixed = "independent points, coordinates treated as fixed"
    results = ev.run("trustworthiness", None, "points")
    assert str(results).splitlines()[1] == f"Intervals: {fixed}"
    assert f"({fixed})" in results.paragraph("methods")
    comparison = results.compare()
    assert str(comparison).splitlines()[1] == f"Tests: {fixed}"
    assert f"({fixed}), at 5 %" in comparison.paragraph("methods")
    for record in (results, comparison):
        record.report(tmp_path / "page.html")
        head = (tmp_path / "page.html").read_text("utf-8").partition("<main")[0]
        assert head.count(fixed) == 1
    runs = ev.run("trustworthiness", None, "replicates", options={"replicates": {"n_replicates": 3}})
    assert "independent seeds, points treated as fixed" in str(runs).replace("\n", " ")
    without = ev.run("trustworthiness", None, None)
    assert "independent" not in str(without) + without.paragraph("methods")


def test_tests_in_blocks_name_their_null_hypothesis() -> None:
    """The restriction of the permutations follows the variable in print and paragraphs, and only where there is one."""
    rng = np.random.default_rng(0)
    X, blocks = rng.normal(size=(60, 4)), np.arange(60) // 10
    ev = dreval.Evaluation(X, {"a": X[:, :2]}, covariates={"age": rng.normal(size=60)}, random_state=0)
    options = {"hsic": {"permutation": "within", "blocks": blocks}}
    within = ev.run(None, ["hsic", "dcov"], n_resamples=99, options=options)
    free = ev.run(None, "hsic", n_resamples=99)
    only = ev.run(None, "hsic", n_resamples=99, options=options)
    assert "dependence on age within blocks (HSIC" in str(only).replace("\n", " ")
    assert "dependence on age (HSIC within blocks) (" in " ".join(str(within).split())
    assert "within blocks" not in str(free)
    assert "within blocks" in only.paragraph("methods")
    assert "dependence of the embedding on age within blocks" in only.paragraph()
    assert "within blocks" not in free.paragraph("methods") + free.paragraph()


def test_verdicts_over_measures_say_once_that_they_are_not_adjusted(tmp_path: Path) -> None:
    """Print, page, paragraph and methods paragraph each say it once; with a single measure none does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=8, random_state=0)
    results = ev.run(["trustworthiness", "continuity"], None)
    assert " ".join(str(results).split()).count("5 % a measure") == 1
    for text in (results.paragraph(), results.paragraph("methods")):
        assert text.count("not adjusted over measures") == 1
    results.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8").count("not over the measures") == 1
    assert "a measure" not in str(ev.run("trustworthiness", None))


def test_the_interval_of_stability_names_its_target() -> None:
    """The interval is that of infinitely many replicates of these points, not of other samples."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    text = " ".join(str(dreval.stability(X, "pca", over="halves", n_replicates=4, random_state=0)).split())
    assert re.search(r"95 % interval \S+ to \S+ for infinitely many replicates of these points", text)
