"""The written report: well-formed, self-contained, escaped, reproducible and complete."""

from __future__ import annotations

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
from dreval.errors import InputError
from dreval.registry import MEASURES
from dreval.report.documents.evaluation_page import _formula_and_reference, embedding_cards, embedding_labels
from dreval.report.findings import shared_sentences
from dreval.report.render.html import html_sentence
from dreval.report.render.page import _formula
from dreval.report.result_view import read_results
from dreval.report.write import write_report

VOID = {"wbr", "meta", "br", "hr", "img", "input", "link"}
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
    """Each SVG is XML with a role and a description, and refers only to its own ids."""
    drawings = re.findall(r"<svg.*?</svg>", reports[case][1], re.S)
    results = reports[case][0]

    assert len(drawings) >= len(results.embeddings)
    for drawing in drawings:
        root = ET.fromstring(drawing)
        ids = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
        assert root.attrib["role"] == "img"
        assert len(root.attrib["aria-label"]) > 10
        assert set(re.findall(r"url\(#([^)]+)\)", drawing)) <= ids


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
    """Markup, templates and quotes in names are text; marks of the text direction are removed."""
    _, text, _ = reports["awkward names"]
    page = TagParser(text)

    assert all(name.replace("\u202e", "") in page.text for name in AWKWARD)
    assert "\u202e" not in page.text
    scripts = [attrs.get("type") for tag, attrs in page.tags if tag == "script"]
    assert scripts == ["application/json", None]
    assert "49" not in re.sub(r"<svg.*?</svg>", "", text, flags=re.S).split("{{ 7*7 }}")[1][:5]
    rows = [attrs for tag, attrs in page.tags if tag == "th" and attrs.get("scope") == "row"]
    assert rows[1]["title"] == 'a "quoted" & name'


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
        assert f"{value:.3f}" in text
    assert "no <b>value</b>" in page_text
    assert "no &lt;b&gt;value&lt;/b&gt;" in text
    assert "a class of one point" in page_text
    assert page_text.count("the reason <it> failed & more") == 2
    assert any(attrs.get("title") == "no <b>value</b>" for tag, attrs in TagParser(page).tags if tag == "abbr")


def test_the_best_is_marked_by_shape_and_weight(reports):
    """The cells with the mark have the best value of their column."""
    results, page, _ = reports["four"]
    marked_values = re.findall(r'<td class="best"[^>]*data-sort="([^"]+)"', page)
    best = [
        part["value"].max() if part["direction"].iloc[0] == "higher" else part["value"].min()
        for _, part in results.table[results.table["test"] == ""].groupby("measure", sort=False)
    ]

    assert [float(v) for v in marked_values] == pytest.approx(best)
    assert 'td.best b::before{content:"●"' in page
    assert "td.best b{font-weight:700" in page


def test_missing_parts_are_left_out(reports):
    """There are no headings without content, such as curves at one k or tests that were not run."""
    assert "At which scale" not in reports["four"][1]
    assert "At which scale" in reports["several k"][1]
    assert "Does the embedding depend" not in reports["no tests"][1]
    assert "Where each embedding" not in reports["only failures"][1]
    assert "How well" not in reports["nothing asked"][1]
    assert 'class="legend"' not in reports["unlabeled"][1]
    assert "±" not in reports["no intervals"][1]


def test_the_report_ends_with_reproduction_and_glossary(reports):
    """The report has the call, the settings, the versions, the cautions and a definition of every measure."""
    _, page, text = reports["four"]
    page_text = TagParser(page).text
    for report_text in (page_text, text.replace("\\", "")):
        assert "dreval.Evaluation(simulated, {...}, random_state=0).run()" in report_text
        assert "What may not be concluded" in report_text
        assert "numpy 2.4" in report_text
        for title in ("Trustworthiness", "Procrustes disparity", "k-NN accuracy"):
            assert title in report_text.split("What the words mean")[1]
    assert (
        page_text.index("What may not be concluded")
        < page_text.index("Make it again")
        < page_text.index("What the words mean")
    )


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
    assert "# Evaluation of four embeddings of simulated" in text


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


def test_point_values_of_a_wrong_length_have_no_map(tmp_path):
    """If a table of points does not fit its embedding, the page has no map."""
    results = simulated_results(("a",))
    short_points = {"a": pd.DataFrame({c: v[:-1] for c, v in results.points["a"].items()})}
    broken = type(results)(
        results.table, short_points, results.groups, results.embeddings, results.labels, recipe=results.recipe
    )

    assert "Below:" not in write_report(broken, tmp_path / "r.html").read_text("utf-8")


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
    """No chance level is averaged; ties, notes, numbers of columns and the language of the call are in both."""
    page = write_report(results_with_chance_levels(), tmp_path / "r.html").read_text("utf-8")
    text = write_report(results_with_chance_levels(), tmp_path / "r.md").read_text("utf-8")
    page_text = TagParser(page).text

    assert "386" not in page_text + text
    for report_text in (page_text, text):
        for part in (
            "0.870 to 0.880",
            "64.7",
            "708",
            "every point contributes the same",
        ):
            assert part in report_text, part
    assert "differs" in page_text
    assert "ties 0.700 to 0.900" in page_text
    assert re.search(r"\[0\.7000, 0\.9000\]", text.replace("\\", ""))
    assert "d = 3" in page_text.replace("\u00a0", " ")
    assert "(d = 3)" in text
    assert "(250.0 to 270.0)" in text
    assert "```sh\ndreval evaluate x.csv \\\n  --embedding a=a.csv\n```" in text
    assert '<pre tabindex="0">dreval evaluate x.csv \\\n  --embedding' in page
    assert 'title="over all orders of equal distances: 0.700 to 0.900"' in page
    assert "Darker" not in page


def test_a_reason_of_a_failure_is_not_repeated(tmp_path):
    """The reason is once in the card and once in the merged cell; a result of failures has no empty table."""
    rows = [measure_row("b", "trustworthiness", "n_neighbors=15", 0.9, 0.5)]
    rows += [measure_row("a", i, "", math.nan, math.nan, note="no memory") for i in ("trustworthiness", "continuity")]
    rows.append(row_of_test("a", math.nan, math.nan, note="no memory"))
    partial_results = make_results(rows, {"b": np.eye(6)[:, :2]}, failed={"a": "no memory"})
    failed_results = make_results(rows[1:], {}, failed={"a": "no memory"})

    assert write_report(partial_results, tmp_path / "s.html").read_text("utf-8").count("no memory") == 2
    assert write_report(partial_results, tmp_path / "s.md").read_text("utf-8").count("no memory") == 1
    page = write_report(failed_results, tmp_path / "e.html").read_text("utf-8")
    assert page.count("no memory") == 1
    assert "Click a heading" not in page
    assert "<table" not in page


def test_the_first_table_is_grouped_by_subject(tmp_path):
    """Subjects span their columns, in their order; k is named once above; a single subject is not named."""
    page = write_report(simulated_results(), tmp_path / "a.html").read_text("utf-8")
    subjects = re.findall(r'<th scope="colgroup" colspan="(\d)">([^<]*)</th>', page)
    rows = [measure_row("a", name, "n_neighbors=15", 0.9, 0.5) for name in ("continuity", "trustworthiness")]
    page_of_one_subject = write_report(make_results(rows, {"a": np.eye(9)[:, :2]}), tmp_path / "b.html").read_text(
        "utf-8"
    )

    assert subjects == [("3", "Neighborhoods"), ("1", "Local geometry"), ("1", "Global structure"), ("1", "Prediction")]
    assert "<small>T</small>" in page
    assert "Neighborhoods at k\u00a0=\u00a015." in page
    assert 'scope="colgroup"' not in page_of_one_subject


def test_names_break_at_underscores_and_curves_have_real_subscripts(reports, tmp_path):
    """Long names may break at marks; symbols over curves have subscripts in pages and figures."""
    results = simulated_results(("a_b-c", "d"), ks=(5, 15))
    page = write_report(results, tmp_path / "r.html").read_text("utf-8")
    title = results.plot("curve", measure="procrustes_rc").axes[0].get_title(loc="left")

    assert '<h3 title="a_b-c"><bdi>a_<wbr>b-<wbr>c</bdi></h3>' in page
    assert "<figcaption>Local Procrustes R<sub>C</sub>, lower is better" in page
    assert title.startswith(r"Local Procrustes R$_{\mathregular{C}}$, lower is better")


def many_measures():
    """Return three embeddings, one of them failed, with every measure that has a single value."""
    cards = [card for card in MEASURES.cards() if not card.curve and card.level != "algorithm"]
    rows = [measure_row(n, c.name, "", v, 0.1) for c in cards for n, v in (("a", 0.25), ("b", 0.75))]
    rows += [measure_row("bad", c.name, "", math.nan, math.nan, note="why") for c in cards]
    return make_results(rows, {n: np.eye(5)[:, :2] for n in "ab"}, failed={"bad": "why"}), cards


def test_many_measures_are_the_rows_of_the_first_table(tmp_path):
    """If there are many measures, embeddings are the columns, in page and text; the best of a row is marked."""
    results, cards = many_measures()
    text = results.report(tmp_path / "a.md").read_text("utf-8")
    lines = text.partition("## How well")[2].partition("## Where each")[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    page = results.report(tmp_path / "a.html").read_text("utf-8")
    first_table = page.partition('<table class="main turned')[2].partition("</table>")[0]

    ranked = sum(card.direction in ("higher", "lower") for card in cards)
    assert table[0] == "|  | a | b | chance |"
    assert len(table) == 2 + len(cards)
    assert {line.count("|") for line in table} == {5}
    assert sum("**" in line for line in table) == ranked
    assert "bold: best value, not tested; ↑ higher is better" in text
    assert first_table.count('<th scope="row"') == len(cards)
    assert first_table.count('scope="rowgroup"') == len({card.goals[0] for card in cards})
    assert first_table.count('class="best"') == ranked
    assert first_table.count("failed") == 1
    assert "Click a heading" not in page


def cards_by_name(results):
    """Return the cards of the embeddings by their names."""
    view = read_results(results)
    return {card.label.name: card for card in embedding_cards(view, embedding_labels(view))}


def test_cards_show_the_first_findings_and_fold_the_others(tmp_path):
    """The page has every finding of many measures; three of a kind are open, and the others are counted."""
    results, _ = many_measures()
    page = results.report(tmp_path / "a.html").read_text("utf-8")
    cards = cards_by_name(results)
    assert {*cards} == {"a", "b", "bad"}
    for name, card in cards.items():
        part = page.split(f'<h3 title="{name}"')[1].split("</ul>\n</li>")[0]
        visible, _, folded = part.partition("<details>")
        for card_findings in (card.good, card.poor):
            for index, finding in enumerate(card_findings):
                text = str(html_sentence(finding))
                assert text in (visible if index < 3 else folded), text
        n_folded = max(len(card.good) - 3, 0) + max(len(card.poor) - 3, 0)
        assert (f"<summary>{n_folded} more<" in folded) == (n_folded > 0)


def test_a_card_has_its_findings_without_the_shared_ones():
    """Sentences equal those of the example; shared findings are on no card."""
    results = simulated_results(("tsne", "umap", "pca"), intervals=False)
    cards, shared = cards_by_name(results), [finding.text for finding in shared_sentences(read_results(results))]

    assert cards["tsne"].standing == "Best value by all six measures."
    assert list(cards["tsne"].good[:2]) == [
        "Neighbors in the embedding are close in the data (T\u00a00.977).",
        "Neighbors in the data stay close in the embedding (C\u00a00.977).",
    ]
    assert cards["pca"].standing == "Best value by no measure."
    assert "Neighbors in the embedding may be far apart in the data (T\u00a00.778)." in cards["pca"].poor
    assert not any(finding in card.good for card in cards.values() for finding in shared)


@pytest.mark.slow
def test_a_page_of_many_embeddings_draws_the_first_ones(tmp_path):
    """The panels of more than eight show the first by mean rank, with a note; the table has all."""
    names = tuple(f"m{i}" for i in range(12))
    results = simulated_results(names, ks=(5, 15))
    page = write_report(results, tmp_path / "r.html").read_text("utf-8")

    assert page.count('<div class="pts"') == 8
    assert page.count("The first 8 of 12 embeddings by mean rank; results.plot(names=[…]) draws others.") == 2
    assert "gray: 4 other embeddings" in page
    assert len(set(re.findall(r'class="dot" style="background:(var\(--s\d\))"', page))) == 8
    assert 'class="dot" style="background:var(--other)"' in page


@pytest.mark.parametrize(("count", "folded"), [(15, 0), (16, 4), (30, 18)])
def test_a_long_first_table_is_folded(count, folded, tmp_path):
    """If there are more than fifteen rows, a script hides those after the twelfth, and a button counts them."""
    results = simulated_results(tuple(f"m{i}" for i in range(count)), n=40)
    page = write_report(results, tmp_path / "r.html").read_text("utf-8")

    assert page.count('<tr class="more" data-embedding') == folded
    assert page.count('class="all-rows"') == (folded > 0)
    assert f"... {folded} more: show all {count}" in page or not folded


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
