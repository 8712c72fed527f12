"""The printed summary and the page of the similarity of representations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from dreval._text import format_number, format_p, significant
from dreval.geometry.similarity import LOWER_IS_BETTER
from dreval.records.similarity import RepresentationSimilarity
from dreval.registry import ANALYSES
from dreval.report._style import figure_style
from dreval.report._svg import inline_svg
from dreval.report.document import (
    MISSING_VALUE,
    Answers,
    Column,
    Document,
    Group,
    PageFigure,
    Paragraph,
    Part,
    Section,
    Table,
    TermEntry,
    WideFigure,
    visible_rows,
)
from dreval.report.documents.closing import closing_sections
from dreval.report.documents.small import record_summary
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures.similarity import draw_similarity
from dreval.report.findings import Finding, findings_text, record_finding
from dreval.report.format import count_noun, join_and, text_breadth
from dreval.report.result_view import title_in_sentence

MEASURE_TITLES = {
    "overlap": "Common neighbors",
    "cka": "CKA, unbiased",
    "rsa": "RSA",
    "procrustes": "Procrustes",
    "imbalance": "Imbalance",
}
MEANINGS = {
    "overlap": "Mean share of common neighbors of an item; 1 where all stay.",
    "cka": "Alignment of the centered inner products of all items, without bias at few items; 1 where they agree.",
    "rsa": "Spearman correlation of the distances of all pairs of items; 1 where their order agrees.",
    "procrustes": "Variance that remains after the best translation, rotation and scaling; 0 where shapes agree.",
    "imbalance": "Rank in the second of the nearest neighbor in the first, over n / 2; 1 for unrelated "
    "representations, 2/n where nearest neighbors stay nearest. The calibrated score of equal ones is below 1, too.",
}
MAX_NAMED_ITEMS = 5  # items that a sentence names
MAX_PRINTED_ITEMS = 5  # items of the printed table
MAX_PAGE_ITEMS = 200
MAX_LIST_LETTERS = 20  # letters of a list of neighbors in a table
MAX_PRINTED_PAIRS = 10
MAX_DIRECTION_LETTERS = 12  # of the names of both representations in the direction of an imbalance


def similarity_summary(record: RepresentationSimilarity, full: bool, *, shell: bool = False) -> Document:
    """Return how similar the representations are, which items moved, and the value of each measure."""
    is_single = len(record.pairs) == 1
    parameters = record.recipe["parameters"]
    settings = [("Items", format_number(record.n)), ("Neighbors k", record.k), ("Metric", parameters["metric"])]
    settings += [("Permutations", parameters["n_resamples"]), ("Anchors", format_number(parameters["anchors"]))]
    settings += [("Level", f"{record.alpha:g}"), ("Seed", record.recipe["random_state"])]
    tables = [_values_table(record)] if is_single else [_pairs_table(record, full)]
    if not is_single and not full and len(record.measures) > 1:
        tables.append(_further_measures_table(record))
    if is_single and _has_moved(record):
        tables.append(_items_table(record, MAX_PRINTED_ITEMS))
    details = [] if is_single else [_values_table(record)]
    caution = [ANALYSES.card("representation_similarity").caution] if full else []
    return record_summary(
        "Similarity of representations",
        similarity_findings(record),
        tables,
        [*record.notes, *caution],
        full=full,
        settings=settings,
        details=details,
        call=record.call,
        shell=shell,
    )


def similarity_findings(record: RepresentationSimilarity) -> list[Finding]:
    """Return whether and how far the representations agree, and which items moved."""
    return _pair_findings(record) if len(record.pairs) == 1 else _pairs_findings(record)


def _pair_findings(record: RepresentationSimilarity) -> list[Finding]:
    """Return the findings on two representations."""
    (a, b), measure = record.pairs[0], record.measures[0]
    row = record.of(measure, a, b)
    numbers = {"first": a, "second": b, "k": record.k, "p": float(row["p_value"])}
    numbers |= {"value": float(row["value"]), "chance": float(row["chance"]), "title": MEASURE_TITLES[measure]}
    if math.isnan(row["value"]):
        return [record_finding("similarity.undefined", title=MEASURE_TITLES[measure], reason=row["note"])]
    is_more = row["p_value"] <= record.alpha
    kind = f"{'overlap' if measure == 'overlap' else 'value'}_{'more' if is_more else 'chance'}"
    findings = [record_finding(f"similarity.{kind}", **numbers)]
    items = record.augment()
    gone = items[items["n_changed"] == record.k]
    if is_more and len(gone):
        named = [str(name) for name in gone["id"].head(MAX_NAMED_ITEMS)]
        further = len(gone) - len(named)
        names = ", ".join(named) + f" and {further:,} more" if further else join_and(named)
        findings.append(record_finding("similarity.gone", count=len(gone), n=record.n, names=names))
    elif is_more:
        count = int((items["n_changed"] == 0).sum())
        most = int(items["n_changed"].iloc[0])
        if most:
            findings.append(record_finding("similarity.stay", count=count, n=record.n, most=most, k=record.k))
        else:
            findings.append(record_finding("similarity.same", n=record.n, k=record.k))
    return findings


def _pairs_findings(record: RepresentationSimilarity) -> list[Finding]:
    """Return the findings on three representations or more, by the first measure."""
    measure = record.measures[0]
    rows = record.table[record.table["measure"] == measure].dropna(subset="value")
    if rows.empty:
        reason = str(record.table["note"].iloc[0])
        return [record_finding("similarity.undefined", title=MEASURE_TITLES[measure], reason=reason)]
    is_more = rows["p_adjusted"] <= record.alpha
    ordered = _most_alike_first(rows)
    best, worst = ordered.iloc[0], ordered.iloc[-1]
    top = record.maxima[record.maxima["measure"] == measure].iloc[0]
    by = MEASURE_TITLES[measure] if measure in ("cka", "rsa") else MEASURE_TITLES[measure].lower()
    by += f", k = {record.k}" if measure == "overlap" else ""
    findings = [record_finding("similarity.pairs", count=int(is_more.sum()), pairs=len(rows), by=by)]
    numbers = {"first": best["first"], "second": best["second"], "value": float(best["value"])}
    numbers |= {"calibrated": float(top["calibrated"]), "p": float(top["p_value"])}
    findings.append(record_finding("similarity.most", **numbers))
    ends = {"first": worst["first"], "second": worst["second"], "value": float(worst["value"])}
    return [*findings, record_finding("similarity.least", **ends)]


def _values_table(record: RepresentationSimilarity) -> Table:
    """Return the value of each measure of each pair."""
    is_single = len(record.pairs) == 1
    rows = []
    for row in record.table.to_dict("records"):
        title = MEASURE_TITLES[row["measure"]]
        title += f", k = {record.k}" if row["measure"] == "overlap" else ""
        if row["measure"] == "imbalance" and is_single:
            ends = (row["first"], row["second"])
            if len(" ".join(ends)) > MAX_DIRECTION_LETTERS:
                ends = ("first", "second") if ends == record.pairs[0] else ("second", "first")
            title += f", {ends[0]} to {ends[1]}"
        names = [] if is_single else [str(row["first"]), str(row["second"])]
        rows.append([*names, title, *_value_cells(row)])
    level = f"{100 * record.recipe['parameters']['conf_level']:g} %"
    heads = ["value", "chance", level, "p", "calibrated"]
    names = ["Measure"] if is_single else ["First", "second", "measure"]
    foot = "Calibrated: 0 where not significantly more than chance, else 1 where equal"
    foot += " (imbalance: less, its best value is 2/n)." if "imbalance" in record.measures else "."
    lower = [title_in_sentence(MEASURE_TITLES[name]) for name in record.measures if name in LOWER_IS_BETTER]
    foot += f" Lower is better for {join_and(lower)}." if lower else ""
    if len(record.pairs) > 1:
        foot += " p is adjusted for all pairs."
    return Table("", [*names, *heads], rows, names=len(names), foot=foot)


def _value_cells(row: dict[str, Any]) -> list[str]:
    """Return value, chance level, interval, p and calibrated score of a row as texts."""
    value, chance, low, high, score = (
        "" if math.isnan(row[key]) else significant(row[key], 3)
        for key in ("value", "chance", "conf_low", "conf_high", "calibrated")
    )
    if not value:
        return [MISSING_VALUE, "", "", "", ""]
    return [value, chance, f"{low} to {high}" if low else "", format_p(row["p_adjusted"]), score]


def _pairs_table(record: RepresentationSimilarity, full: bool) -> Table:
    """Return the matrix of the first measure, or for many representations the most similar pairs."""
    measure = record.measures[0]
    values = record.matrix(measure)
    title = MEASURE_TITLES[measure] + (f", k = {record.k}" if measure == "overlap" else "")
    if len(values.columns) <= MAX_PRINTED_PAIRS - 2:
        rows = [
            [str(a), *("" if a == b else significant(float(values.loc[a, b]), 2) for b in values.columns)]
            for a in values.index
        ]
        return Table(title, ["", *map(str, values.columns)], rows)
    ordered = _most_alike_first(record.table[record.table["measure"] == measure])
    ordered = ordered if full else ordered.head(MAX_PRINTED_PAIRS)
    rows = [[str(row["first"]), str(row["second"]), *_value_cells(row)] for row in ordered.to_dict("records")]
    heads = ["First", "second", "value", "chance", "interval", "p", "calibrated"]
    return Table(f"{title}: the most similar pairs", heads, rows, names=2)


def _most_alike_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one measure, the most similar pair first."""
    return rows.sort_values("value", ascending=(rows["direction"] == "lower").all(), kind="stable")


def _further_measures_table(record: RepresentationSimilarity) -> Table:
    """Return the most and the least similar pair by each measure but the first."""
    rows = []
    for measure in record.measures[1:]:
        title = MEASURE_TITLES[measure]
        ordered = _most_alike_first(record.table[record.table["measure"] == measure].dropna(subset="value"))
        if ordered.empty:
            rows.append([title, "", "", "", MISSING_VALUE])
            continue
        for end, text, name in ((0, "most alike", title), (-1, "least alike", "")):
            row = ordered.iloc[end]
            rows.append([name, text, str(row["first"]), str(row["second"]), significant(float(row["value"]), 3)])
    heads = [Column("", "name"), Column(""), Column("first", "name"), Column("second", "name"), Column("value")]
    foot = "Imbalance: from the first to the second." if "imbalance" in record.measures[1:] else ""
    return Table("The other measures", heads, rows, foot=foot)


def _has_moved(record: RepresentationSimilarity) -> bool:
    """Return whether any item of the first pair has another neighbor."""
    return bool((record.augment()["n_changed"] > 0).any())


def _items_table(record: RepresentationSimilarity, count: int, pair: tuple[str, str] | None = None) -> Table:
    """Return the items that moved most, with the neighbors that they lost and gained."""
    items = record.augment(*(pair or record.pair())).head(count)
    rows = [
        [str(row["id"]), f"{row['n_changed']} of {record.k}", _first_names(row["left"]), _first_names(row["joined"])]
        for row in items.to_dict("records")
    ]
    heads = [Column("Item", "name"), Column("changed"), Column("no longer near", "name"), Column("now near", "name")]
    return Table("Items that moved most", heads, rows)


def _first_names(names: str) -> str:
    """Return the first names of a list, as many as fit in a column."""
    separator = ", " if ", " in names else " "
    parts = names.split(separator)
    count = 1
    while count < len(parts) and text_breadth(separator.join(parts[: count + 1])) <= MAX_LIST_LETTERS:
        count += 1
    return separator.join(parts[:count]) + (" ..." if len(parts) > count else "")


# The page.


def similarity_report(record: RepresentationSimilarity, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report, in order: of a page, or of a text with figures in a ``folder``."""
    summary = similarity_summary(record, full=True)
    is_single = len(record.pairs) == 1
    versions = [(str(name), str(version)) for name, version in record.recipe["versions"].items()]
    figures = [_figure(record, kind, folder) for kind in (("items",) if is_single else ("matrix",))]
    curve = _figure(record, "curve", folder)
    table = _values_table(record)
    values = replace(table, caption="The value of each measure", visible_rows=visible_rows(len(table.rows)), foot="")
    sections = [
        Section("Answers", [Answers([("Similarity", findings_text(similarity_findings(record)))])], "answers"),
        Section(
            "Measures",
            [Group([*figures, Group([values, Paragraph(table.foot, "note")])], "beside")],
            "measures",
            "Measures",
        ),
        Section("Neighborhood size", [curve], "sizes", "Sizes"),
    ]
    if is_single and _has_moved(record):
        moved = _items_table(record, MAX_PAGE_ITEMS)
        moved = replace(moved, caption="A row for each item", visible_rows=visible_rows(len(moved.rows)))
        sections.append(Section("Items that moved most", [moved], "items", "Items"))
    settings = [TermEntry(name, value) for name, value in summary.header]
    entries = [TermEntry(MEASURE_TITLES[name], MEANINGS[name]) for name in record.measures]
    sections += closing_sections(list(_cautions()), summary.notes, summary.call, settings, versions, entries)
    about = [
        count_noun(record.n, "item"),
        count_noun(record.k, "neighbor"),
        f"metric {record.recipe['parameters']['metric']}",
    ]
    heading = f"{record.pairs[0][1]} against {record.pairs[0][0]}" if is_single else join_and(list(record.names[:4]))
    heading += f" and {len(record.names) - 4} more" if len(record.names) > 4 and not is_single else ""
    return Document(
        f"Similarity of representations: {heading}" if title is None else title,
        [section for section in sections if section.parts],
        [", ".join([*about, f"seed {record.recipe['random_state']}"])],
        dict(versions)["dreval"],
    )


def _figure(record: RepresentationSimilarity, kind: str, folder: FigureFolder | None) -> Part:
    """Return a figure of a page, or of a text with a folder."""
    captions = {"items": "Items by how far they moved", "matrix": "Similarity of all pairs"}
    caption = captions.get(kind, "Common neighbors by neighborhood size")
    with figure_style():
        figure: Any = draw_similarity(record, kind, record.measures[0], record.pair())
    if folder is not None:
        return folder.figure(figure, f"similarity-{kind}", caption)
    return WideFigure(PageFigure(inline_svg(figure, f"r{kind}", caption)), caption, "cd")


def _cautions() -> Iterator[TermEntry]:
    """Yield conclusions that do not follow, each with the reason."""
    reason = "It says whether items are matched at all; even a low similarity can be significant. Read the value."
    yield TermEntry("“p is small, so little has changed.”", reason)
    reason = "A task may depend on few items, or on what neighbors do not show: evaluate the task itself."
    yield TermEntry("“The similarity is high, so the new model works as well.”", reason)
    reason = "An item moves relative to its neighbors; they may have moved instead."
    yield TermEntry("“The items that moved most are wrong in the new model.”", reason)
