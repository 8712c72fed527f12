"""Held-out fidelity: its printed summary and its page; the summary of the test of clusters on held-out measurements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import starmap
from typing import Any

from dreval._text import decimals_for, format_fixed, format_p, without_zero
from dreval.comparison.compare import comparable
from dreval.comparison.ranking import ranking
from dreval.records.frames import notes_of_table
from dreval.records.held_out import ClusterTest, HeldOutFidelity, best_setting
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._style import figure_style
from dreval.report._svg import inline_svg
from dreval.report.document import (
    MISSING_VALUE,
    Answers,
    Cell,
    Column,
    Document,
    PageFigure,
    Paragraph,
    Part,
    Section,
    Table,
    TermEntry,
    WideFigure,
    visible_rows,
)
from dreval.report.documents.closing import closing_sections, measure_entry
from dreval.report.documents.small import record_summary
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures.held_out import draw_held_out
from dreval.report.findings import Finding, findings_text, record_finding
from dreval.report.format import count_noun, join_and, setting_text, value_text
from dreval.report.result_view import make_column, measure_phrase, measure_text

MEASURE = "held_out_fidelity"
MAX_SETTINGS = 10  # rows of the short table
NOISY_CODE = "held_out.noisy"
MAX_PAIRS = 10  # rows of the short table of pairs
SIGNIFICANT_SE = 2.0  # standard errors over splits from which on an optimism is called one


def held_out_summary(record: HeldOutFidelity, full: bool, *, shell: bool = False) -> Document:
    """Return the held-out value with its optimism, or the settings with both best sets, and a row for each setting."""
    recipe, parameters = record.recipe, record.recipe["parameters"]
    settings = [("Source", recipe["source"]), ("Points n", recipe["n"]), ("Columns p", recipe["p"])]
    settings += [("Split", parameters["kind"]), ("Fraction", f"{parameters['fraction']:g}")]
    settings += [("Splits", parameters["n_splits"]), ("Permutations", parameters["n_resamples"])]
    settings += [("Level", f"{1 - parameters['alpha']:g}"), ("Seed", recipe["random_state"])]
    caution = [MEASURES.card(MEASURE).caution] if full else []  # which has the content of the note on noise
    notes = [note for note in record.notes if not full or note.code != NOISY_CODE]
    tables = [held_out_table(record, name, full) for name in record.measures]
    findings = held_out_findings(record)
    return record_summary(
        record.title,
        findings,
        tables,
        [*notes, *caution],
        full=full,
        settings=settings,
        call=record.call,
        shell=shell,
    )


def held_out_findings(record: HeldOutFidelity) -> list[Finding]:
    """Return the held-out value, the optimism and the test against chance of the best setting, and both best sets."""
    rows = record.of()
    source = str(record.recipe["source"])
    if rows["held_out"].isna().all():
        return [record_finding("held_out.none", source=source)]
    best = best_setting(rows)
    row, findings = rows.loc[best], []
    if len(rows) > 1:
        findings += _settings_findings(record, best)
        source += f" with {_setting_list(record, [best])}"
    numbers = {"source": source, "held": float(row["held_out"]), "train": float(row["train"])}
    numbers |= {"measure": measure_text(rows), "splits": int(row["n_splits"]), "se": float(row["se"])}
    has_se = row["se"] > 0
    findings.append(record_finding("held_out.value" if has_se else "held_out.value_no_se", **numbers))
    if not math.isnan(row["optimism"]):
        is_clear = row["optimism"] > SIGNIFICANT_SE * row["optimism_se"]
        gap = {"optimism": float(row["optimism"]), "se": float(row["optimism_se"])}
        kind = "optimism" if is_clear else "no_optimism"
        is_halves = record.recipe["parameters"]["kind"] == "columns"
        findings.append(record_finding(f"held_out.{kind}{'_columns' if is_halves else ''}", **gap))
    if not math.isnan(row["p_value"]):
        is_more = row["p_value"] <= record.recipe["parameters"]["alpha"]
        level = {"chance": float(row["chance"]), "p": float(row["p_value"])}
        findings.append(record_finding(f"held_out.{'more' if is_more else 'chance'}", **level))
    return findings


def _settings_findings(record: HeldOutFidelity, best: int) -> list[Finding]:
    """Return the best setting by its held-out value, and the usual best set next to the held-out one."""
    rows = record.of()
    sets = {}
    for name in ("in_best_set", "in_usual_set"):
        members = rows[name].fillna(False)
        sets[name] = [h for h in rows.index if members[h]]
    numbers = {"best": _setting_list(record, [best]), "held": float(rows["held_out"][best])}
    others = [h for h in sets["in_best_set"] if h != best]
    verb = "is" if len(others) == 1 else "are"
    numbers["others"] = f"; {_setting_list(record, others)} {verb} not significantly worse" if others else ""
    findings = [record_finding("held_out.settings", **numbers)]
    if all(sets.values()):
        texts = {"best": _setting_list(record, sets["in_best_set"])}
        texts["usual"] = _setting_list(record, sets["in_usual_set"])
        is_same = sets["in_best_set"] == sets["in_usual_set"]
        findings.append(record_finding("held_out.same_set" if is_same else "held_out.usual", **texts))
    return findings


def _setting_list(record: HeldOutFidelity, places: list[int]) -> str:
    """Return settings in a sentence; a single option is named once."""
    settings = [record.settings[place] for place in places]
    names = list(dict.fromkeys(name for setting in settings for name in setting))
    if len(names) == 1:
        return f"{names[0]} = {join_and([value_text(setting[names[0]]) for setting in settings])}"
    return join_and([f"({setting_text(setting)})" for setting in settings])


def held_out_table(record: HeldOutFidelity, measure: str, full: bool) -> Table:
    """Return a row for each setting: held out, train, optimism and usual value, with the membership in best sets."""
    rows = record.of(measure)
    rows = rows if full else rows.head(MAX_SETTINGS)
    values = rows[["held_out", "train", "usual"]].to_numpy().ravel()
    places = decimals_for(values)

    def number(value: float) -> str:
        return MISSING_VALUE if math.isnan(value) else without_zero(format_fixed(value, places))

    has_settings = len(record.settings) > 1
    lines = []
    for h, row in rows.iterrows():
        options = [setting_text(record.settings[int(str(h))])] if has_settings else []
        is_best = has_settings and bool(rows["in_best_set"].fillna(False)[h])
        is_usual = has_settings and bool(rows["in_usual_set"].fillna(False)[h])
        cells: list[Any] = [Cell(number(row["held_out"]), emphasis="best" if is_best else "")]
        cells += [number(row[name]) for name in ("se", "se_points", "train", "optimism")]
        cells += [Cell(number(row["usual"]), emphasis="best" if is_usual else ""), format_p(row["p_value"])]
        lines.append([*options, *cells])
    heads = ["held out", "se", "se points", "shown", "optimism", "usual", "p"]
    foot = "se: over splits, for these data; se points: for their population."
    hidden = len(record.settings) - len(lines)
    foot += f" {count_noun(hidden, 'further setting')} in tidy()." if hidden else ""
    title = measure_text(rows)
    best = "in the best set of its column" if has_settings else ""
    heading = f"{title[:1].upper()}{title[1:]}" if len(record.measures) > 1 else ""
    columns = ["Setting", *heads] if has_settings else heads
    return Table(heading, columns, lines, names=int(has_settings), foot=foot, best=best)


# The page of the record.

MAX_FIGURES = 12  # measures that have a figure
ORDER_REASON = (
    "An optimism says that a part of the fidelity is fit to noise; the order may be the same. The held-out set is for "
    "data with the noise of one part, which favors smoother maps."
)
VALUE_REASON = (
    "The second part is noisy, too: the value is below the fidelity to the signal. Compare values of one table."
)
POINTS_REASON = "All splits divide the measurements of the same points: it refers to these."
READINGS = (
    ("“The usual order of the settings is wrong.”", ORDER_REASON),
    ("“The held-out value is the true fidelity.”", VALUE_REASON),
    ("“Other points have the same best set.”", POINTS_REASON),
    ("“p is small, so that the map is good.”", "The map is only more faithful to the second part than a random map."),
)
COLUMNS_READING = (
    "“The optimism is measurement noise.”",
    "With halves of the columns it is what the other columns do not share, which may be a signal of a few columns.",
)


def held_out_report(record: HeldOutFidelity, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report, in order: of a page, or of a text with figures in a ``folder``."""
    summary, recipe = held_out_summary(record, full=True), record.recipe
    sections = [
        Section("Answers", [Answers([("Held out", findings_text(held_out_findings(record)))])], "answers"),
        Section(
            "Measure by measure",
            [_measure_section(record, name, number, folder) for number, name in enumerate(record.measures)],
            "measures",
            "Measures",
        ),
    ]
    readings = [*READINGS, *([COLUMNS_READING] if recipe["parameters"]["kind"] == "columns" else [])]
    settings = [TermEntry(name, value) for name, value in summary.header]
    versions = [(str(name), str(version)) for name, version in recipe["versions"].items()]
    tables = map(record.of, record.measures)
    entries = [measure_entry(make_column(rows["measure"].iloc[0], rows["parameters"].iloc[0], [])) for rows in tables]
    limits = list(starmap(TermEntry, readings))
    sections += closing_sections(limits, summary.notes, summary.call, settings, versions, entries)
    about = [count_noun(recipe["n"], "point"), f"{recipe['parameters']['n_splits']} splits of kind "]
    about[-1] += f"“{recipe['parameters']['kind']}”"
    return Document(
        f"Held-out fidelity of {recipe['source']}" if title is None else title,
        [section for section in sections if section.parts],
        [", ".join([*about, f"seed {recipe['random_state']}"])],
        dict(versions)["dreval"],
    )


def _measure_section(record: HeldOutFidelity, name: str, number: int, folder: FigureFolder | None) -> Section:
    """Return the section of one measure: its question, its figure, and a row for each setting."""
    rows, table = record.of(name), held_out_table(record, name, full=True)
    title = measure_text(rows)
    title = f"{title[:1].upper()}{title[1:]}"
    figures: list[Part] = []
    if number < MAX_FIGURES and rows["held_out"].notna().any():
        caption = f"Held-out, train and usual values of each setting: {title}"
        with figure_style():
            figure: Any = draw_held_out(record, name)
        if folder is None:
            svg = inline_svg(figure, f"h{number}", caption)
            figures.append(WideFigure(PageFigure(svg), f"Figure of {title}", "cd"))
        else:
            figures.append(folder.figure(figure, f"held-out-{name}", caption))
    n_visible = visible_rows(len(table.rows))
    table, foot = (
        replace(table, title="", caption="A row for each setting", visible_rows=n_visible, foot=""),
        table.foot,
    )
    question = Paragraph(MEASURES.card(rows["measure"].iloc[0]).question, "note")
    return Section(title, [question, *figures, table, Paragraph(foot, "note")])


# The section of an evaluation's page.

LEAD = (
    "Each method embedded one part of the measurements of every point, and its embedding was compared with both parts. "
    "The optimism is by how much it agrees better with the part that it shows: that much is fit to noise or, with "
    "halves of the columns, to what other columns do not share. It does not show that the usual order of embeddings is "
    "wrong."
)


def held_out_parts(results: Results) -> Iterator[Part]:
    """Yield the explanation and the table of held-out fidelity: a row for each embedding that has it."""
    table = results.table
    rows = table[(table["measure"] == MEASURE) & table["value"].notna() & (table["replicate"] == 0)]
    if rows.empty:
        return
    notes = results.notes
    parts = {}
    for name in rows["embedding"]:
        is_row = (notes["measure"] == MEASURE) & (notes["embedding"] == name) & (notes["code"] == "parts")
        parts[name] = dict(dict(notes_of_table(notes[is_row])[0].values)["parts"])
    usual_measure = str(next(iter(parts.values()))["measure"])
    usual_rows = table[(table["measure"] == usual_measure) & (table["replicate"] == 0)]
    is_single = not usual_rows["embedding"].duplicated().any()  # one setting of its parameters
    usual = dict(zip(usual_rows["embedding"], usual_rows["value"], strict=True)) if is_single else {}
    best, usual_best = (_best_names(results, measure) for measure in (MEASURE, usual_measure))
    lines = []
    for row in rows.to_dict("records"):
        name = str(row["embedding"])
        numbers = parts[name]
        optimism, error = (float(numbers.get(key, math.nan)) for key in ("optimism", "optimism_se"))
        text = MISSING_VALUE if math.isnan(optimism) else f"{_number(optimism)} ± {_number(error)}"
        value = float(usual.get(name, math.nan))
        interval = MISSING_VALUE
        if not math.isnan(row["conf_low"]):
            interval = f"{_number(row['conf_low'])} to {_number(row['conf_high'])}"
        lines.append(
            [
                Cell(name, "name"),
                Cell(_number(row["value"]), "value", "best" if name in best else "", repr(row["value"])),
                Cell(interval, "number"),
                Cell(_number(float(numbers["train"])), "number"),
                Cell(text, "number"),
                Cell(_number(value), "value", "best" if name in usual_best else ""),
                Cell(format_p(float(numbers.get("p_chance", math.nan))) or MISSING_VALUE, "number"),
            ]
        )
    heads = [Column("Embedding", "name", is_name=True), Column("Held out"), Column("Interval"), Column("Shown part")]
    heads += [Column("Optimism ± se"), Column("Usual value"), Column("p")]
    title = measure_phrase(usual_measure)
    yield Paragraph(LEAD, "lead")
    yield Table(f"Held-out fidelity by {title}", heads, lines, caption="One row for each method that was run again")
    note = "Bold: the best set of the column, for the population of points. Intervals are over points, with the "
    note += "embeddings held fixed; the standard error of the optimism is over splits, for these data. p: held-out "
    note += "value against chance."
    yield Paragraph(note, "note")


def _number(value: float) -> str:
    """Return a value with three decimals."""
    return MISSING_VALUE if math.isnan(value) else without_zero(format_fixed(value, 3))


def _best_names(results: Results, measure: str) -> set[str]:
    """Return the names in the best set of a measure; none where it cannot be ranked."""
    if not comparable(results) or measure not in set(results.table["measure"]):
        return set()
    rows = ranking(results, measure)
    return set(rows.loc[rows["in_best_set"].fillna(False), "embedding"])


# The test of clusters.


def cluster_test_summary(record: ClusterTest, full: bool) -> Document:
    """Return whether clusters differ by more than noise and whether there is a gap, and a row for each pair."""
    table = record.table if full else record.table.head(MAX_PAIRS)
    rows = []
    for row in table.to_dict("records"):
        n_columns = int((record.columns["first"].eq(row["first"]) & record.columns["second"].eq(row["second"])).sum())
        sizes = f"{row['n_first']:,} and {row['n_second']:,}"
        columns = f"{row['n_columns']:,} of {n_columns:,}"
        gap = MISSING_VALUE if math.isnan(row["dip_p_adjusted"]) else format_p(row["dip_p_adjusted"])
        rows.append([f"{row['first']}, {row['second']}", sizes, format_p(row["p_adjusted"]), columns, gap])
    heads = ["Clusters", "points", "p (differ)", "columns", "p (gap)"]
    foot = f"p is adjusted by Holm over {count_noun(len(record.table), 'pair')}." if len(record.table) > 1 else ""
    settings = [("Points", len(record.clusters)), *record.recipe["parameters"].items()]
    settings.append(("Seed", record.recipe["random_state"]))
    tables = [Table("", heads, rows, foot=foot)]
    return record_summary(
        "Clusters on held-out measurements",
        cluster_findings(record),
        tables,
        record.notes,
        full=full,
        settings=settings,
    )


def cluster_findings(record: ClusterTest) -> list[Finding]:
    """Return the answers to both questions for one pair, or how many pairs differ and have a gap."""
    table, alpha = record.table, record.alpha
    if len(table) > 1:
        differs = table["p_adjusted"] <= alpha
        differing, gaps = int(differs.sum()), int((differs & (table["dip_p_adjusted"] <= alpha)).sum())
        return [record_finding("clusters.pairs", pairs=len(table), differing=differing, gaps=gaps)]
    row = table.iloc[0]
    numbers: dict[str, Any] = {"first": f"Cluster {row['first']}", "second": f"cluster {row['second']}"}
    numbers |= {"p": float(row["p_adjusted"]), "columns": int(row["n_columns"]), "q": len(record.columns)}
    kind = "differ" if row["p_adjusted"] <= alpha else "same"
    findings = [record_finding(f"clusters.{kind}", **numbers)]
    p = float(row["dip_p_adjusted"])
    if kind == "same":  # a gap along their line is not one between them
        return findings
    if math.isnan(p):
        return [*findings, record_finding("clusters.no_dip")]
    return [*findings, record_finding(f"clusters.{'gap' if p <= alpha else 'no_gap'}", p=p)]
