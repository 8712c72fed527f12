"""The written report: well-formed, self-contained, escaped, reproducible and complete."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from report_cases import make_results, measure_row, row_of_test, simulated_results

import dreval
from dreval._text import without_zero
from dreval.errors import InputError
from dreval.registry import MEASURES
from dreval.report.best_sets import normalized_score
from dreval.report.documents.closing import _formula_and_reference
from dreval.report.format import short_names
from dreval.report.render.html import html_sentence
from dreval.report.render.page import _formula
from dreval.report.result_findings import cautions, standing, verdict
from dreval.report.result_view import read_results
from dreval.report.write import write_report

VOID = {"wbr", "col", "meta", "br", "hr", "img", "input", "link"}
AWKWARD = (
    "<script>alert('1')</script>",
    'a "quoted" & name',
    "$x_1$ {{ 7*7 }} {% raw %}",
    "λ 数 \u202e|*_`",
    "x" * 200,
)


class TagParser(HTMLParser):
    """A strict parser of a page: tags must close in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.headings, self.texts, self.urls = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Open a tag."""
        if tag == "wbr":
            self.texts.append("\0")
        self.tags.append((tag, dict(attrs)))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.urls += [v for k, v in attrs if k in ("href", "src", "xlink:href", "action", "data") and v]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Process a tag without content."""
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        """Close the last tag that was opened."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Store text outside of style and script."""
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self):
        """Return all visible text."""
        return " ".join(" ".join(self.texts).replace(" \0 ", "").split())


def with_folder_of_a(text):
    """Return the text with its figures in the folder of ``a.md``."""
    return re.sub(r"\(\d+-figures/", "(a-figures/", text)


def full_case(**options):
    """Return a result with several k, ties, missing tests and failures."""
    results = simulated_results(
        ("pca", "umap"),
        ks=(5, 15, 60),
        failed={"broken": "the reason <it> failed & more", "too": "the reason"},
        **options,
    )
    extra = [row_of_test("pca", math.nan, math.nan, "batch", note="a class of one point")]
    table = results.table
    rows = [
        *table.to_dict("records"),
        *extra,
        measure_row("pca", "procrustes_rn", "n_neighbors=15", math.nan, math.nan, note="no <b>value</b>"),
    ]
    return make_results(
        [r for r in rows if r["embedding"] not in results.failed],
        results.embeddings,
        results.labels,
        results.failed,
        results.points,
        n_neighbors=[5, 15, 60],
    )


CASES = {
    "four": lambda: simulated_results(),
    "one": lambda: simulated_results(("only",)),
    "ten": lambda: simulated_results(tuple(f"method {i}" for i in range(10)), n=60),
    "unlabeled": lambda: simulated_results(classes=0),
    "no intervals": lambda: simulated_results(intervals=False),
    "no tests": lambda: simulated_results(tests=False),
    "many classes": lambda: simulated_results(classes=40, n=300),
    "several k": lambda: simulated_results(ks=(5, 15, 60, 200)),
    "one column": lambda: simulated_results(d=1),
    "five columns": lambda: simulated_results(d=5),
    "anchors": lambda: simulated_results(anchors=40),
    "everything": full_case,
    "awkward names": lambda: simulated_results(AWKWARD, ks=(5, 15)),
    "only failures": lambda: make_results([], {}, failed={"a": "no memory", "b": "no time"}),
    "nothing asked": lambda: make_results([row_of_test("a", 0.5, 0.5)], {"a": np.eye(6)[:, :2]}),
    "large": lambda: simulated_results(("a", "b"), n=5000, tests=False),
    "bare recipe": lambda: _without_recipe(simulated_results()),
}


def _without_recipe(results):
    """Return the same result without any recipe."""
    return type(results)(results.table, results.points, results.groups, results.embeddings, results.labels)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Each case as page and as text, written on request."""
    folder = tmp_path_factory.mktemp("reports")

    class Reports(dict):
        def __missing__(self, name):
            results, file = CASES[name](), folder / f"{list(CASES).index(name)}"
            page, text = (write_report(results, file.with_suffix(suffix)) for suffix in (".html", ".md"))
            self[name] = (results, page.read_text("utf-8"), text.read_text("utf-8"))
            return self[name]

    return Reports()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_pages_are_well_formed(reports, case):
    """Tags close in order, ids are unique, headings descend by one, and the page has a language and a title."""
    page = TagParser(reports[case][1])
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]

    assert len(ids) == len(set(ids))
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(b <= max(a + 1, 2) + (a == 1) for a, b in zip(page.headings, page.headings[1:], strict=False))
    assert ("html", {"lang": "en"}) in page.tags
    assert any(tag == "title" for tag, _ in page.tags)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_drawings_are_well_formed_and_described(reports, case):
    """Each SVG is XML with a role and a description, or hidden from screen readers; none refers to another element."""
    drawings = re.findall(r"<svg.*?</svg>", reports[case][1], re.S)
    results = reports[case][0]

    assert len(drawings) >= len(results.embeddings)
    for drawing in drawings:
        root = ET.fromstring(drawing)
        assert root.attrib.get("aria-hidden") == "true" or root.attrib["role"] == "img"
        assert root.attrib.get("aria-hidden") == "true" or len(root.attrib["aria-label"]) > 10
        assert "url(" not in drawing


@pytest.mark.parametrize("case", CASES)
def test_pages_load_no_external_file(reports, case):
    """All addresses are inside the page or embedded images; there is no import, font or external script."""
    text = reports[case][1]
    page = TagParser(text)

    assert all(url.startswith(("#", "data:image/png;base64,")) for url in page.urls)
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    assert not re.search(r"@import|@font-face|url\((?!#)", text)
    assert not any(tag in ("link", "iframe", "object", "embed", "base") for tag, _ in page.tags)
    assert "default-src 'none'" in text


@pytest.mark.slow
@pytest.mark.parametrize("case", ["four", "everything", "awkward names", "large"])
def test_the_same_result_gives_the_same_file(reports, case, tmp_path):
    """Reports of results that are computed twice have the same bytes; no time is in them."""
    results = CASES[case]()

    assert write_report(results, tmp_path / "a.html").read_text("utf-8") == reports[case][1]
    assert write_report(results, tmp_path / "a.md").read_text("utf-8") == with_folder_of_a(reports[case][2])
    assert "98765" not in reports[case][1]


def test_pages_stay_small(reports):
    """Small results give small pages; ten embeddings stay under 600 kB, five thousand points under 3 MB."""
    sizes = {name: len(reports[name][1].encode()) for name in ("one", "ten", "large")}

    assert sizes["one"] < 100_000
    assert sizes["ten"] < 600_000
    assert max(sizes.values()) < 3_000_000


def test_awkward_names_are_shown_literally(reports):
    """Markup, templates and quotes in names are text; marks of the text direction are removed, and long names cut."""
    results, text, _ = reports["awkward names"]
    page = TagParser(text)
    titles = {attrs["title"] for tag, attrs in page.tags if tag == "h3" and "title" in attrs}

    assert {name.replace("\u202e", "") for name in AWKWARD} == titles
    assert all(form in page.text for form in short_names(results.names, 24).values())
    assert "\u202e" not in page.text
    scripts = [attrs.get("type") for tag, attrs in page.tags if tag == "script"]
    assert scripts == ["application/json", None]
    assert "49" not in re.sub(r"<svg.*?</svg>", "", text, flags=re.S).split("{{ 7*7 }}")[1][:5]


@pytest.mark.slow
def test_control_characters_do_not_break_a_report(tmp_path):
    """Characters that XML or UTF-8 cannot represent become spaces."""
    results = simulated_results(("a\x00b", "e\ufffef", "two\nlines"), ks=(5, 15))
    for suffix in ("html", "md"):
        text = write_report(results, tmp_path / f"r.{suffix}", title="c\ud800d").read_text("utf-8")
        assert "a b" in text
        assert "c d" in text
        assert not set("\x00\ufffe") & set(text)


def test_every_value_is_in_the_report(reports):
    """Each value of the table is in page and text as printed; a missing one is a dash with its reason."""
    results, page, text = reports["everything"]
    page_text = TagParser(page).text
    for value in results.table["value"].dropna():
        assert f"{value:.3f}" in page_text
        assert without_zero(f"{value:.3f}") in text
    assert "no <b>value</b>" in page_text
    assert "no &lt;b&gt;value&lt;/b&gt;" in text
    assert "a class of one point" in page_text
    assert "the reason <it> failed & more" in page_text
    assert any(attrs.get("title") == "no <b>value</b>" for tag, attrs in TagParser(page).tags if tag == "td")


def test_the_best_is_marked_by_shape_and_weight(reports):
    """The cells with the mark have the best value of their row."""
    results, page, _ = reports["four"]
    marked_values = re.findall(r'<td class="best" data-sort="([^"]+)"', page)
    best = [
        part["value"].max() if part["direction"].iloc[0] == "higher" else part["value"].min()
        for _, part in results.table[results.table["test"] == ""].groupby("measure", sort=False)
    ]

    assert sorted(map(float, marked_values)) == pytest.approx(sorted(best))
    assert ".scores td.best b{font-weight:700}" in page
    assert 'td.best b::before{content:"●' in page


def test_missing_parts_are_left_out(reports):
    """There are no headings without content, such as curves at one k or tests that were not run."""
    assert "At which neighborhood size" not in reports["four"][1]
    assert "At which neighborhood size" in reports["several k"][1]
    assert "Do the maps depend" not in reports["no tests"][1]
    assert "Where can each map" not in reports["only failures"][1]
    assert "All measures</h2>" not in reports["nothing asked"][1]
    assert '<ul class="classkey"' not in reports["unlabeled"][1]
    assert "±" not in reports["no intervals"][1]


def test_the_report_ends_with_reproduction_and_glossary(reports):
    """The report has the call, the settings, the versions, the limits and a definition of every measure."""
    _, page, text = reports["four"]
    for report_text in (TagParser(page).text, text.replace("\\", "")):
        assert "dreval.Evaluation(simulated, {...}, random_state=0).run()" in report_text
        assert "numpy 2.4" in report_text
        places = [report_text.rindex(title) for title in ("Conclusions that do not follow", "Reproduce", "Glossary")]
        assert places == sorted(places)
        for name in ("trustworthiness", "procrustes_disparity", "knn_accuracy"):
            assert MEASURES.card(name).title in report_text[places[-1] :]


@pytest.mark.parametrize("case", CASES)
def test_rows_of_markdown_tables_have_equal_numbers_of_cells(reports, case):
    """In every table of every text each row has all cells, whatever the names."""
    blocks = re.findall(r"(?:^\|.*\n)+", reports[case][2], re.M)
    for block in blocks:
        counts = {len(re.split(r"(?<!\\)\|", row)) for row in block.splitlines()}
        assert len(counts) == 1, block
        assert re.fullmatch(r"(\| :?--:? )+\|", block.splitlines()[1])


def test_a_title_is_used_and_escaped(tmp_path):
    """The title is the heading and the title of the window; the default names the data."""
    page = write_report(simulated_results(), tmp_path / "a.html", title="<i>Mine</i>").read_text("utf-8")

    assert page.count("&lt;i&gt;Mine&lt;/i&gt;") == 2
    text = write_report(simulated_results(), tmp_path / "a.md").read_text("utf-8")
    assert "# Four embeddings of simulated" in text


def test_paths_that_are_not_writable_raise_an_error(tmp_path):
    """A wrong suffix, a missing folder, and a folder as a file raise an error with a hint."""
    results = simulated_results()
    with pytest.raises(InputError, match=r"must end in \.html or \.md"):
        write_report(results, tmp_path / "report.pdf")
    with pytest.raises(InputError, match=r"must lie in an existing folder.*missing"):
        write_report(results, tmp_path / "missing" / "report.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match="must be a file"):
        write_report(results, tmp_path / "folder.html")


def test_a_report_is_written_through_the_result(tmp_path):
    """``Results.report`` and ``Results.plot`` write and draw."""
    results = simulated_results()

    assert results.report(str(tmp_path / "r.HTML")) == Path(tmp_path / "r.HTML")
    assert results.plot("map", measure="continuity").axes


def test_points_without_a_value_are_gray(tmp_path):
    """If a table of points lacks one, as with anchors, the map draws it in gray."""
    results = simulated_results(("a",))
    short_points = {"a": pd.DataFrame({c: v[:-1] for c, v in results.points["a"].items()})}
    broken = type(results)(
        results.table, short_points, results.groups, results.embeddings, results.labels, recipe=results.recipe
    )

    page = write_report(broken, tmp_path / "r.html").read_text("utf-8")
    assert len(re.findall(r'<path class="qn" d="M\d+ \d+h0"/>', page)) == 2  # thumbnail and map


def results_with_chance_levels():
    """Return two embeddings with separate chance levels, one interval, one note, and ties."""
    shapes = {"a": np.eye(6)[:, :2], "b": np.eye(6)[:, :3]}
    rows = []
    for name, chance, note in (("a", 64.73, "every point contributes the same"), ("b", 708.65, "")):
        columns = (
            {"note": note}
            if note
            else {"conf_low": 250.0, "conf_high": 270.0, "conf_method": "jackknife", "target": "points"}
        )
        rows.append(measure_row(name, "procrustes_r", "n_neighbors=15", 256.97, chance, **columns))
        rows.append(measure_row(name, "procrustes_rc", "n_neighbors=15", 0.5, 0.87 + len(note) / 3200))
        rows.append(measure_row(name, "trustworthiness", "n_neighbors=15", 0.8, 0.5, worst=0.7, best=0.9))
    return make_results(rows, shapes, call="dreval evaluate x.csv \\\n  --embedding a=a.csv")


def test_pages_and_texts_agree_on_chance_ties_columns_and_calls(tmp_path):
    """Wide ranges of chance levels are not averaged; ties, notes, columns and the call are in both."""
    page = write_report(results_with_chance_levels(), tmp_path / "r.html").read_text("utf-8")
    text = write_report(results_with_chance_levels(), tmp_path / "r.md").read_text("utf-8")
    page_text = TagParser(page).text

    assert "386" not in page_text + text
    for report_text in (page_text, text):
        for part in ("64.7", "708", "every point contributes the same"):
            assert part in report_text, part
    assert 'title="0.870 to 0.880"' in page
    assert "≈ .88" in page_text
    assert "differs" in page_text
    assert "ties 0.700 to 0.900" in page_text
    assert re.search(r"\[0\.7000, 0\.9000\]", text.replace("\\", ""))
    assert "columns 1 and 2 of 3" in page_text
    assert "(d = 3)" in text
    assert "(250.0 to 270.0)" in text
    assert "```sh\ndreval evaluate x.csv \\\n  --embedding a=a.csv\n```" in text
    assert '<pre tabindex="0">dreval evaluate x.csv \\\n  --embedding' in page
    assert "over all orders of equal distances: 0.700 to 0.900" in page


def test_a_reason_of_a_failure_is_not_repeated(tmp_path):
    """The reason of a failure is in its card; a result of failures has no empty table."""
    rows = [measure_row("b", "trustworthiness", "n_neighbors=15", 0.9, 0.5)]
    rows += [measure_row("a", i, "", math.nan, math.nan, note="no memory") for i in ("trustworthiness", "continuity")]
    rows.append(row_of_test("a", math.nan, math.nan, note="no memory"))
    partial_results = make_results(rows, {"b": np.eye(6)[:, :2]}, failed={"a": "no memory"})
    failed_results = make_results(rows[1:], {}, failed={"a": "no memory"})

    page = write_report(partial_results, tmp_path / "s.html").read_text("utf-8")
    assert '<p class="caut why">no memory</p>' in page
    assert "no memory" in write_report(partial_results, tmp_path / "s.md").read_text("utf-8")
    page = write_report(failed_results, tmp_path / "e.html").read_text("utf-8")
    assert '<p class="caut why">no memory</p>' in page
    assert "<table" not in page


def test_measures_are_grouped_by_question(tmp_path):
    """Questions head their measures, in their order, with the term beside a title; k is named once below."""
    page = write_report(simulated_results(), tmp_path / "a.html").read_text("utf-8")
    questions = re.findall(r'<tr class="group"><th scope="rowgroup" colspan="6">([^<]*) <span>', page)

    assert questions == ["Neighbors", "Local shape", "Global distances", "Classes"]
    assert "Neighborhoods of k\u00a0=\u00a015." in page
    for name in ("procrustes_rc", "procrustes_disparity"):
        assert MEASURES.card(name).term.split("_")[0] in page


def test_names_break_at_underscores(tmp_path):
    """Long names may break at marks, everywhere on the page."""
    page = write_report(simulated_results(("a_b-c", "d"), ks=(5, 15)), tmp_path / "r.html").read_text("utf-8")

    assert '<h3 title="a_b-c"><bdi>a_<wbr>b-<wbr>c</bdi></h3>' in page
    assert '<b title="a_b-c"><bdi>a_<wbr>b-<wbr>c</bdi></b>' in page


def many_measures():
    """Return three embeddings, one of them failed, with every measure that has a single value."""
    cards = [card for card in MEASURES.cards() if not card.curve and card.level != "algorithm"]
    rows = [measure_row(n, c.name, "", v, 0.1) for c in cards for n, v in (("a", 0.25), ("b", 0.75))]
    rows += [measure_row("bad", c.name, "", math.nan, math.nan, note="why") for c in cards]
    return make_results(rows, {n: np.eye(5)[:, :2] for n in "ab"}, failed={"bad": "why"}), cards


def test_many_measures_are_rows(tmp_path):
    """Every measure is a row of page and text, below its question; the best of a row is marked."""
    results, cards = many_measures()
    text = results.report(tmp_path / "a.md").read_text("utf-8")
    page = results.report(tmp_path / "a.html").read_text("utf-8")
    table = page.partition('<table class="scores')[2].partition("</table>")[0]

    ranked = sum(card.direction in ("higher", "lower") for card in cards)
    assert table.count('<th scope="row"') == len(cards)
    assert table.count('<td class="best"') == ranked
    lines = text.partition("## How well")[2].partition("\n## ")[0].splitlines()
    assert sum(line.startswith("| ") for line in lines) == 2 + len(cards)
    assert sum("**" in line for line in lines if line.startswith("| ")) == ranked


@pytest.mark.parametrize("case", ["four", "unlabeled", "no intervals", "everything", "anchors"])
def test_cards_say_where_an_embedding_is_best_and_warn(reports, case):
    """Each card has the standing of its embedding, its first caution, and a bar for each question."""
    results, page, _ = reports[case]
    view = read_results(results)
    cards = dict(re.findall(r'<article class="card">\n<h3 title="([^"]*)">(.*?)</article>', page, re.S))

    assert [*cards] == [*view.ranked, *view.failed]
    topics = {column.topic for column in view.main_columns if column.ranks and column.values and column.topic}
    for name in view.ranked:
        warnings_of = cautions(view, name)
        assert str(html_sentence(standing(view, name).predicate)) in cards[name]
        assert str(html_sentence(warnings_of[0].predicate if warnings_of else "")) in cards[name]
        assert cards[name].count('<span class="track"') == len(topics)


def test_the_first_screen_has_the_answers(reports):
    """Each question has a line with its sentences, in the order of the verdict."""
    results, page, _ = reports["four"]
    lines = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", page.partition('<div class="key"')[0])

    assert lines == [(answer.question, str(html_sentence(answer.text))) for answer in verdict(read_results(results))]


def test_bars_run_from_chance_to_perfect(reports):
    """The width of each bar of the table is the place of its value from chance to perfect."""
    results, page, _ = reports["four"]
    view = read_results(results)
    table = page.partition('<table class="scores')[2].partition("</table>")[0]
    widths = [float(text) for text in re.findall(r'<i class="fill" style="width:([\d.]+)%', table)]
    shares = [
        min(max(normalized_score(column, column.values[name], column.cells[name].chance), 0.0), 1.0)
        for column in view.by_goal
        for name in view.ranked
    ]

    assert widths == pytest.approx([100 * share for share in shares if share > 0], abs=0.06)


@pytest.mark.slow
def test_a_page_of_many_embeddings_draws_the_first_ones(tmp_path):
    """The maps of more than eight show the first in the order of the page, with a note; cards and table have all."""
    names = tuple(f"m{i}" for i in range(12))
    results = simulated_results(names, ks=(5, 15))
    page = write_report(results, tmp_path / "r.html").read_text("utf-8")

    assert re.findall(r'<svg class="map big" viewBox="[^"]*" role="img" aria-label="Map (m\d+),', page) == [
        *read_results(results).ranked[:8]
    ]
    points = json.loads(page.partition('id="point-data">')[2].partition("</script>")[0])
    assert "The first 8 of 12 embeddings." in page
    assert [other["name"] for other in points["others"]] == [*read_results(results).ranked[8:]]
    assert all(len(other["levels"]) == len(results.embeddings["m0"]) for other in points["others"])
    assert page.count('<article class="card">') == 12
    assert "<summary>2 more embeddings</summary>" in page


def test_measures_have_the_same_names_everywhere(tmp_path):
    """Print, page, Markdown, LaTeX, the table for a page, and their comparison name measures by the same titles."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    evaluation = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, labels=np.arange(60) % 3, random_state=0)
    results = evaluation.run(tests=None)
    comparison = results.compare()
    titles = [column.title for column in read_results(results).by_goal]
    texts = {
        "print": str(results),
        "full print": str(results.summary(full=True)),
        "LaTeX": results.to_latex(),
        "Markdown": results.to_markdown(),
        "HTML": results.to_html(),
        "comparison": str(comparison),
        "LaTeX of the comparison": comparison.to_latex(),
        "text of the comparison": comparison.report(tmp_path / "c.md").read_text("utf-8"),
        "page of the comparison": comparison.report(tmp_path / "c.html").read_text("utf-8"),
        "text": results.report(tmp_path / "r.md").read_text("utf-8"),
        "page": results.report(tmp_path / "r.html").read_text("utf-8"),
    }

    assert len(titles) > 8
    in_full = {kind: text for kind, text in texts.items() if kind != "print"}
    missing = {(kind, title) for kind, text in in_full.items() for title in titles if title not in text}
    assert missing == set()
    symbols = [column.symbol for column in read_results(results).by_goal if len(column.symbol) > 1]
    printed = [texts[kind] for kind in ("print", "LaTeX", "Markdown", "HTML", "comparison")]
    assert [symbol for symbol in symbols for text in printed if symbol in text] == []


def test_a_page_has_one_row_of_tests_for_each_embedding(tmp_path):
    """The rows have the order of the page; each test has its effect and its adjusted p, without constant columns."""
    rows = [measure_row(n, "continuity", "n_neighbors=5", v, 0.5) for n, v in (("a", 0.7), ("b", 0.9))]
    tests = [{**row_of_test(n, 0.01, p), "test": t} for t in ("hsic", "kcca") for n, p in (("a", 0.04), ("b", 0.02))]
    Y = {name: np.random.default_rng(0).normal(size=(30, 2)) for name in "ab"}
    results = make_results([*rows, *tests], Y, labels=np.arange(30) % 2)
    page = write_report(results, tmp_path / "r.html").read_text("utf-8")
    table = page.partition('aria-label="Table of these tests: Tests"')[2].partition("</table>")[0]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    text = [[re.sub("<[^>]*>", "", cell) for cell in row] for row in cells]

    assert text == [["b", ".530", ".020", ".530", ".020"], ["a", ".530", ".040", ".530", ".040"]]
    assert re.findall(r'<span class="label">([^<]*)</span>', table) == [
        *("Embedding", "HSIC", "Adjusted p", "KCCA", "Adjusted p"),
    ]


def test_sizes_at_which_an_embedding_is_better_are_one_sentence(tmp_path):
    """Each embedding is named once, with every K at which its bands of differences from all others exclude 0."""
    rng = np.random.default_rng(0)
    X = np.column_stack([3 * rng.normal(size=(150, 2)), rng.normal(size=(150, 3))])
    embeddings = {"first": X[:, :2], "noisy": X[:, :2] + rng.normal(size=(150, 2)), "last": X[:, 3:]}
    results = dreval.Evaluation(X, embeddings, n_neighbors=10, random_state=0).run("r_nx", tests=None)
    page = write_report(results, tmp_path / "r.html").read_text("utf-8")
    text = page.partition('id="sizes"')[2].partition('class="lead">')[2].partition("</p>")[0]
    lead, _, parts = re.sub("<[^>]*>", "", text).replace("\u00a0", " ").rstrip(".").partition(": ")

    better = {name: [] for name in embeddings}
    table = results.curve_differences
    for name in embeddings:
        low = []
        for _, part in table[table["first"] == name].groupby("second"):
            low.append(part.set_index("K")["band_low"])
        for _, part in table[table["second"] == name].groupby("first"):
            low.append(-part.set_index("K")["band_high"])
        by_k = pd.concat(low, axis=1)
        better[name] = [int(k) for k in by_k.index[(by_k > 0).all(axis=1)]]
    assert lead == "Significantly better than all other maps"
    expected = {name: ks for name, ks in better.items() if ks}
    claimed = {}
    for part in parts.split("; "):
        name, _, places = part.partition(" at K = ")
        ends = [[int(k) for k in place.split(" to ")] for place in re.split(", | and ", places)]
        claimed[name] = [
            k for first, *last in ends for k in range(first, (last or [first])[0] + 1) if k in set(table["K"])
        ]
    assert claimed == expected
    assert expected


@pytest.mark.parametrize(("count", "folded"), [(7, 0), (15, 0), (16, 1), (30, 15)])
def test_a_long_first_table_is_folded(count, folded, tmp_path):
    """Of more than six embeddings they are the rows; a script hides those after the fifteenth, and a button counts."""
    results = simulated_results(tuple(f"m{i}" for i in range(count)), n=40)
    page = write_report(results, tmp_path / "r.html").read_text("utf-8")
    table = page.partition('<table class="scores')[2].partition("</table>")[0]

    assert table.count('<th scope="row"') == count + 1
    assert table.count('<tr class="more"') == folded
    assert f"{folded} more: show all {count}" in page or not folded


def test_formulas_become_mathml():
    """The formula of every measure becomes MathML without commands; text that is not a formula is unchanged."""
    for card in MEASURES.cards():
        formula = _formula_and_reference(card.name)[0]
        mathml = str(_formula(formula)) if formula else "<math"
        assert mathml.startswith("<math"), card.name
        assert "\\" not in mathml, card.name
    assert _formula(r"a < \frac") == r"a &lt; \frac"


@pytest.mark.slow
def test_a_text_has_the_pairs_of_few_embeddings(tmp_path):
    """A text has the paired differences of few embeddings, with one heading per measure, and none of many."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [4, 3, 1, 1]
    for count in (3, 9):
        embeddings = {f"e{i}": X[:, :2] + 0.3 * i * rng.normal(size=(60, 2)) for i in range(count)}
        results = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0).run(["continuity", "r_nx_auc"], None)
        text = results.report(tmp_path / f"{count}.md").read_text("utf-8")
        part = text.partition("## Is one better than another?")[2].partition("\n## ")[0]
        assert part.count("| e0 | e1 |") == (2 if count == 3 else 0)
        assert "r_nx against" not in text
