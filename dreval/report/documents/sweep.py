"""The printed summary and the page of a sweep."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dreval.glossary import format_number, format_p
from dreval.records.sweep import Sweep
from dreval.registry import MEASURES
from dreval.report._style import figure_style
from dreval.report._svg import inline_svg
from dreval.report.document import (
    MISSING_VALUE,
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
    record_document,
    same_digits,
)
from dreval.report.documents.evaluation_page import closing_sections, measure_entry, visible_rows
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures.curves import draw_sweep
from dreval.report.format import (
    count_noun,
    join_and,
    number_word,
    setting_text,
    value_text,
)
from dreval.report.result_view import (
    make_column,
    measure_text,
)

# Sweeps: the settings that are not distinguishable from the best, in a sentence, then their values.

MAX_SETTINGS = 30
MAX_NAMED_SETTINGS = 6  # settings in a sentence
VERDICTS = {True: "best set", False: "worse"}


def sweep_summary(sweep: Sweep) -> Document:
    """Return the answer of each measure in a sentence, a table for each, and why settings are not judged."""
    recipe = sweep.recipe
    replicates = f"{recipe['parameters']['n_replicates']} {sweep.over}"
    header = [("Source", str(recipe["source"])), ("Points n", format_number(recipe["n"]))]
    header += [("Columns p", format_number(recipe["p"])), ("Settings", format_number(len(sweep.settings)))]
    header += [("Replicates", replicates), ("Level", f"{1 - sweep.alpha:g}"), ("Seed", str(recipe["random_state"]))]
    tables = [_sweep_table(sweep, name) for name in sweep.measures]
    first_rows = sweep.of()
    unjudged = [
        f"{setting_text(setting)}: {text.rstrip('.')}."
        for setting, text in zip(sweep.settings, first_rows["note"], strict=True)
        if text
    ]
    caution = "A setting in the best set is not shown to be good, or equal to the best: it is not shown to be worse."
    answers = [sweep_answer(sweep, name) for name in sweep.measures]
    return record_document("Sweep", header, tables, [*unjudged, *sweep.notes, caution], recipe["call"], answers)


def sweep_answer(sweep: Sweep, measure: str | None = None) -> str:
    """Return which settings are not distinguishable from the best by a measure, are worse, or are not judged.

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", 120, random_state=0)
    >>> found = dreval.sweep(roll.data, "isomap", {"n_neighbors": [4, 20, 40]}, random_state=0)
    >>> sweep_answer(found).split(" (")[0]
    'n_neighbors = 40 has the best mean'
    """
    rows, order = sweep.of(measure), sweep.order(measure)
    in_best_set = rows["in_best_set"]
    best_set, worse, unjudged = (
        [sweep.settings[h] for h in order if mask[h]]
        for mask in (in_best_set.fillna(False), ~in_best_set.fillna(True), in_best_set.isna())
    )
    by = measure_text(rows)
    if not best_set:
        return f"No setting can be judged ({by}): see the notes."
    best, *others = best_set
    if worse and not others:
        text = f"{_setting_list([best])} is the best ({by}); {_worse_text(worse, bool(unjudged), best_set)}"
    else:
        text = f"{_setting_list([best])} has the best mean ({by})"
        others_text = (
            f"{_setting_list(others, [best])} {'is' if len(others) == 1 else 'are'} not distinguishable from it"
        )
        if not worse and not unjudged:
            others_text = f"none of the {len(others):,} other settings is distinguishable from it"
            others_text = "the other setting is not distinguishable from it" if len(others) == 1 else others_text
        text += f"; {others_text}" if others else ""
        text += f"; {_worse_text(worse, bool(unjudged), best_set)}" if worse else ""
        text += _crossed_text(sweep, rows, order)
    if unjudged:
        text += (
            f"; {_setting_list(unjudged, best_set)} {'is' if len(unjudged) == 1 else 'are'} not judged, see the notes"
        )
    return f"{text}."


def _crossed_text(sweep: Sweep, rows: Any, order: Sequence[int]) -> str:
    """Return that settings are worse than the best although their mean is better than that of one in the best set.

    With few replicates standard errors differ much: the differences of the setting in the set vary more.
    """
    in_best_set = rows["in_best_set"]
    best_rows = [h for h in order if in_best_set.fillna(False)[h]]
    places = [place for place, h in enumerate(order) if not in_best_set.fillna(True)[h]]
    before = [sweep.settings[order[place]] for place in places if place < order.index(best_rows[-1])]
    if not before:
        return ""
    last, means = sweep.settings[best_rows[-1]], "mean" if len(before) == 1 else "means"
    start = f"the {means} of {_setting_list(before, [last])} {'is' if len(before) == 1 else 'are'} better than that of"
    return f"; {start} {_setting_list([last], before)}, whose differences from better settings vary more"


def _worse_text(worse: Sequence[Mapping[str, Any]], has_unjudged: bool, best_set: Sequence[Mapping[str, Any]]) -> str:
    """Return which settings are worse: a few by name, else their number."""
    verb = "is" if len(worse) == 1 else "are"
    one_option = len({name for setting in (*worse, *best_set) for name in setting}) == 1
    if len(worse) == 1 or (one_option and len(worse) <= MAX_NAMED_SETTINGS):
        return f"{_setting_list(worse, best_set)} {verb} worse"
    return f"the {len(worse):,} other settings {'that are judged ' if has_unjudged else ''}{verb} worse"


def _setting_list(settings: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return settings in a sentence; a single option is named once, and not repeated after other settings."""
    names = {name for setting in (*settings, *after) for name in setting}
    listed = settings if len(settings) <= MAX_NAMED_SETTINGS else settings[: MAX_NAMED_SETTINGS - 1]
    remaining = [f"{len(settings) - len(listed):,} more"] if len(listed) < len(settings) else []
    if len(names) == 1:
        (name,) = names
        text = join_and([*(value_text(setting[name]) for setting in listed), *remaining])
        return text if after else f"{name} = {text}"
    return join_and([*(f"({setting_text(setting)})" for setting in listed), *remaining])


def _sweep_table(sweep: Sweep, measure: str) -> Table:
    """Return the settings with means, intervals, p-values and verdicts by one measure; of many the best."""
    rows = sweep.of(measure)
    if len(rows) > MAX_SETTINGS:
        higher = MEASURES.card(rows["measure"].iloc[0]).direction == "higher"
        rows = rows.sort_values("mean", ascending=not higher, kind="stable", na_position="last").head(MAX_SETTINGS)
    means, lows, highs = (same_digits(rows[key].tolist()) for key in ("mean", "conf_low", "conf_high"))
    lines = []
    for (at, row), mean, low, high in zip(rows.iterrows(), means, lows, highs, strict=True):
        is_judged = not np.isnan(row["p_value"])
        is_best = is_judged and bool(row["in_best_set"])
        lines.append(
            [
                *(value_text(sweep.settings[at].get(name, "")) for name in sweep.options),
                Cell(mean, emphasis="best") if is_best else mean,
                f"{low} to {high}" if low else "",
                str(row["n_replicates"]),
                format_p(row["p_value"], sweep.alpha),
                VERDICTS[is_best] if is_judged else "not judged",
            ]
        )
    level = f"{100 * (1 - sweep.alpha):g} %"
    columns = [*sweep.options, "mean", f"{level} interval", "runs", "p", "verdict"]
    n_further = len(sweep.settings) - len(lines)
    foot = f"the best {len(lines)}, {count_noun(n_further, 'further setting')} in tidy()." if n_further else ""
    title = measure_text(rows)
    best = "not distinguishable from the best" if rows["in_best_set"].any() else ""
    return Table(title[:1].upper() + title[1:], columns, lines, names=len(sweep.options), foot=foot, best=best)


# The report of a sweep: the answer, a figure and a table for each measure, and what does not follow.

MAX_SWEEP_FIGURES = 12  # measures that have a figure


def sweep_report(sweep: Sweep, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report of a sweep, in order: of a page, or of a text with figures in a ``folder``."""
    summary = sweep_summary(sweep)
    answers = [Paragraph(sweep_answer(sweep, name), "finding") for name in sweep.measures]
    measure_sections = [
        _sweep_measure_section(sweep, name, number, folder) for number, name in enumerate(sweep.measures)
    ]
    settings = [TermEntry(name, value) for name, value in summary.header]
    entries = [
        measure_entry(make_column(rows["measure"].iloc[0], rows["parameters"].iloc[0], []))
        for rows in map(sweep.of, sweep.measures)
    ]
    versions = [(str(name), str(version)) for name, version in sweep.recipe["versions"].items()]
    sections = [
        Section("Which settings?", answers, "best", "Best set"),
        Section("Measure by measure", measure_sections, "measures", "Measures"),
        *closing_sections(list(_sweep_cautions(sweep)), summary.notes[:-1], summary.call, settings, versions, entries),
    ]
    level, recipe = f"{100 * (1 - sweep.alpha):g} %", sweep.recipe
    meta = [count_noun(recipe["n"], "point"), f"{recipe['parameters']['n_replicates']} {sweep.over}", f"level {level}"]
    heading = f"Sweep of {number_word(len(sweep.settings))} settings of {recipe['source']}"
    return Document(
        heading if title is None else title,
        [part for part in sections if part.parts],
        [", ".join([*meta, f"seed {recipe['random_state']}"])],
        dict(versions)["dreval"],
    )


def _sweep_measure_section(sweep: Sweep, name: str, number: int, folder: FigureFolder | None) -> Section:
    """Return the section of one measure: its question, its figure, and a row for each setting."""
    rows = sweep.of(name)
    title = measure_text(rows)
    title = title[:1].upper() + title[1:]
    parts: list[Part] = [Paragraph(MEASURES.card(rows["measure"].iloc[0]).question, "note")]
    if number < MAX_SWEEP_FIGURES and rows["mean"].notna().any():
        caption = f"Means of the settings with their intervals: {title}"
        with figure_style():
            figure: Any = draw_sweep(sweep, name)
        if folder is None:
            parts.append(WideFigure(PageFigure(inline_svg(figure, f"s{number}", caption)), f"Figure of {title}", "cd"))
        else:
            parts.append(folder.figure(figure, f"sweep-{rows['measure'].iloc[0]}", caption))
    level = f"{100 * (1 - sweep.alpha):g} %"
    heads = [Column(option, "" if at else "text", is_name=True) for at, option in enumerate(sweep.options)]
    heads += [Column("mean"), Column(f"{level} interval"), Column("runs"), Column("p"), Column("verdict", "text")]
    means, lows, highs = (same_digits(rows[key].tolist()) for key in ("mean", "conf_low", "conf_high"))
    lines = []
    for (at, row), mean, low, high in zip(rows.iterrows(), means, lows, highs, strict=True):
        options = [value_text(sweep.settings[at].get(option, "")) or MISSING_VALUE for option in sweep.options]
        is_judged = not math.isnan(row["p_value"])
        is_best = is_judged and bool(row["in_best_set"])
        verdict = VERDICTS[is_best] if is_judged else "not judged"
        lines.append(
            [
                *(Cell(text, "name") for place, text in enumerate(options)),
                Cell(mean or MISSING_VALUE, "number", "best" if is_best else "", repr(float(row["mean"]))),
                Cell(f"{low} to {high}" if low else MISSING_VALUE, "number"),
                Cell(format_number(row["n_replicates"]), "number"),
                Cell(format_p(row["p_value"], sweep.alpha) or MISSING_VALUE, "number"),
                Cell(verdict, "text", note=str(row["note"])),
            ]
        )
    note = "Best set: not distinguishable from the best. p is that of the test that a setting is the best, adjusted for"
    note += f" the choice among {count_noun(len(lines), 'setting')}."
    caption, n_visible = "A row for each setting", visible_rows(len(lines))
    table = Table(f"Settings by {title}", heads, lines, caption=caption, visible_rows=n_visible)
    return Section(title, [*parts, table, Paragraph(note, "note")])


def _sweep_cautions(sweep: Sweep) -> Iterator[str]:
    """Yield conclusions that do not follow."""
    yield "A setting in the best set is not shown to be good, or equal to the best: it is not shown to be worse."
    yield "The best value is too optimistic, since it was chosen for its size: report that of other points."
    if sweep.over == "seeds":
        yield "Only seeds differed: the sets are for these points, and with other points they may be others."
    else:
        yield "The sets are for n / 2 points, as halves have them; with more points the best setting may be another."
    yield "Another measure asks another question, and may have another set."
