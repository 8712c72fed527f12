"""The printed summary and the page of a sweep."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dreval._text import decimals_for, format_fixed, format_number, format_p, without_zero
from dreval.records.notes import Note
from dreval.records.sweep import Sweep
from dreval.registry import MEASURES
from dreval.report._style import figure_style
from dreval.report._svg import inline_svg
from dreval.report.document import (
    MISSING_VALUE,
    Answers,
    Cell,
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
from dreval.report.documents.closing import BEST_LIMIT, closing_sections, measure_entry
from dreval.report.documents.small import record_summary
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures.curves import draw_sweep
from dreval.report.findings import Finding, findings_text, record_finding
from dreval.report.format import count_noun, join_and, number_word, setting_text, value_text
from dreval.report.result_view import make_column, measure_text

# Sweeps: the settings that are not significantly worse than the best, in sentences, then their values.

MAX_SETTINGS = 30  # rows of a full table
MAX_SHORT_SETTINGS = 10  # rows of a short table
MAX_NAMED_SETTINGS = 6  # settings in a sentence
RELIABLE_REPLICATES = 5  # replicates from which on intervals and tests are reliable
FEW_CODE = "sweep.few"  # the note on few replicates, which a finding repeats in short
VERDICTS = {True: "best set", False: "worse"}


def sweep_summary(sweep: Sweep, full: bool, *, shell: bool = False) -> Document:
    """Return the answer of each measure, its settings from the best on, and why settings were not evaluated."""
    settings = [("Source", sweep.recipe["source"]), ("Points n", format_number(sweep.recipe["n"]))]
    settings += [("Columns p", format_number(sweep.recipe["p"])), ("Settings", format_number(len(sweep.settings)))]
    settings += [("Replicates", replicates_text(sweep)), ("Level", f"{1 - sweep.alpha:g}")]
    settings += [("Seed", sweep.recipe["random_state"])]
    first, *others = sweep_answers(sweep)
    return record_summary(
        "Sweep",
        first,
        [_sweep_table(sweep, name, MAX_SETTINGS if full else MAX_SHORT_SETTINGS) for name in sweep.measures],
        sweep_notes(sweep, full),
        full=full,
        settings=settings,
        call=sweep.recipe["call"],
        answers=[Paragraph(findings_text(findings), "finding") for findings in others],
        shell=shell,
    )


def sweep_answers(sweep: Sweep) -> list[list[Finding]]:
    """Return the findings of each measure, and the limits of all."""
    return [*(sweep_findings(sweep, name) for name in sweep.measures), sweep_limits(sweep)]


def replicates_text(sweep: Sweep) -> str:
    """Return the number of replicates, as "5 halves"."""
    return f"{sweep.recipe['parameters']['n_replicates']} {sweep.replicates}"


def sweep_notes(sweep: Sweep, full: bool) -> list[Note | str]:
    """Return why settings were not evaluated, and the notes on the sweep; in full also on few replicates."""
    unevaluated = [
        f"{setting_text(setting)}: {text.rstrip('.')}."
        for setting, text in zip(sweep.settings, sweep.of()["note"], strict=True)
        if text
    ]
    return [*unevaluated, *(note for note in sweep.notes if full or note.code != FEW_CODE)]


def sweep_limits(sweep: Sweep) -> list[Finding]:
    """Return the warning of few replicates, and what the best set does not show."""
    count = sweep.recipe["parameters"]["n_replicates"]
    needed = [RELIABLE_REPLICATES, *(dict(note.values)["needed"] for note in sweep.notes if note.code == FEW_CODE)]
    few = [record_finding("sweep.few", replicates=count, needed=max(needed))] if count < max(needed) else []
    return [*few, record_finding("sweep.caution")]


def sweep_findings(sweep: Sweep, measure: str | None = None) -> list[Finding]:
    """Return which setting is best by a measure, which are not significantly worse, and the nearest one that is.

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", 120, random_state=0)
    >>> sweep = dreval.sweep(roll.data, "isomap", {"n_neighbors": [4, 20, 40]}, random_state=0)
    >>> sweep_findings(sweep)[0].kind
    'sweep.best'
    """
    rows, order = sweep.of(measure), sweep.order(measure)
    in_best_set = rows["in_best_set"]
    best_set, worse, failed = (
        [place for place in order if mask[place]]
        for mask in (in_best_set.fillna(False), ~in_best_set.fillna(True), in_best_set.isna())
    )
    text = measure_text(rows)
    if not best_set:
        return [record_finding("sweep.none", measure=text)]
    best, *others = best_set
    numbers = {
        "source": str(sweep.recipe["source"]),
        "best": _setting_list(sweep, [best]),
        "measure": text,
        "mean": float(rows["mean"][best]),
    }
    numbers |= {"low": float(rows["conf_low"][best]), "high": float(rows["conf_high"][best])}
    numbers["level"] = f"{100 * (1 - sweep.alpha):g} %"
    if others:
        numbers["others"] = _others_text(sweep, others, best, all_others=not worse and not failed)
    findings = [record_finding(f"sweep.{'best' if others else 'single' if worse else 'only'}", **numbers)]
    if worse:
        nearest = {"setting": _setting_list(sweep, worse[:1]), "mean": float(rows["mean"][worse[0]])}
        findings.append(record_finding("sweep.outside", p=float(rows["p_value"][worse[0]]), **nearest))
        if order.index(worse[0]) < order.index(best_set[-1]):
            findings.append(record_finding("sweep.crossed", last=_setting_list(sweep, best_set[-1:])))
    if failed:
        findings.append(record_finding("sweep.failed", settings=_setting_list(sweep, failed)))
    return findings


def _others_text(sweep: Sweep, others: Sequence[int], best: int, *, all_others: bool) -> str:
    """Return the other settings of the best set with their verb: all of them, or a few by name."""
    verb = "is" if len(others) == 1 else "are"
    if all_others:
        return f"the other setting {verb}" if len(others) == 1 else f"the {len(others):,} other settings {verb}"
    return f"{_setting_list(sweep, others, [best])} {verb}"


def _setting_list(sweep: Sweep, places: Sequence[int], after: Sequence[int] = ()) -> str:
    """Return settings in a sentence; a single option is named once, and not repeated after other settings."""
    settings = [sweep.settings[place] for place in places]
    listed = settings if len(settings) <= MAX_NAMED_SETTINGS else settings[: MAX_NAMED_SETTINGS - 1]
    remaining = [f"{len(settings) - len(listed):,} more"] if len(listed) < len(settings) else []
    names = {name for place in (*places, *after) for name in sweep.settings[place]}
    if len(names) == 1:
        (name,) = names
        text = join_and([*(value_text(setting[name]) for setting in listed), *remaining])
        return text if after else f"{name} = {text}"
    if len(settings) == 1 and not after:
        return setting_text(settings[0])
    return join_and([*(f"({setting_text(setting)})" for setting in listed), *remaining])


def table_order(sweep: Sweep, measure: str) -> list[int]:
    """Return the settings of a table: the best set by value, then the others by value."""
    in_best_set = sweep.of(measure)["in_best_set"].fillna(False)
    return sorted(sweep.order(measure), key=lambda place: not in_best_set[place])


def _sweep_table(sweep: Sweep, measure: str, max_rows: int) -> Table:
    """Return the settings with means, intervals, p-values and verdicts by one measure, the best first."""
    rows = sweep.of(measure)
    lines = [
        [
            *row.options,
            Cell(row.mean, emphasis="best" if row.is_best else ""),
            row.interval,
            row.runs,
            row.p,
            row.verdict,
        ]
        for row in setting_rows(sweep, measure)[:max_rows]
    ]
    columns = [*sweep.options, "mean", f"{100 * (1 - sweep.alpha):g} % interval", "runs", "p", ""]
    n_further = len(sweep.settings) - len(lines)
    foot = f"{count_noun(n_further, 'further setting')} in tidy()." if n_further else ""
    title = measure_text(rows)
    best = "best, or not significantly worse than the best" if rows["in_best_set"].any() else ""
    heading = _sentence_case(title) if len(sweep.measures) > 1 else ""
    return Table(heading, columns, lines, names=len(sweep.options), foot=foot, best=best)


@dataclass(frozen=True)
class SettingRow:
    """The texts of one setting in a table, and its mean."""

    options: tuple[str, ...]
    value: float
    mean: str
    interval: str
    runs: str
    p: str
    is_best: bool
    verdict: str
    note: str


def setting_rows(sweep: Sweep, measure: str) -> list[SettingRow]:
    """Return the settings of a table of one measure: the best set by value, then the others by value."""
    rows = sweep.of(measure)
    places = decimals_for(rows["mean"])
    means, lows, highs = (
        ["" if math.isnan(value) else without_zero(format_fixed(value, places)) for value in rows[key]]
        for key in ("mean", "conf_low", "conf_high")
    )
    setting_texts = []
    for place in table_order(sweep, measure):
        row = rows.loc[place]
        is_evaluated = not math.isnan(row["p_value"])
        is_best = is_evaluated and bool(row["in_best_set"])
        setting_texts.append(
            SettingRow(
                options=tuple(value_text(sweep.settings[place].get(name, "")) for name in sweep.options),
                value=float(row["mean"]),
                mean=means[place],
                interval=f"{lows[place]} to {highs[place]}" if lows[place] else "",
                runs=str(row["n_replicates"]),
                p=format_p(row["p_value"], sweep.alpha),
                is_best=is_best,
                verdict=VERDICTS[is_best] if is_evaluated else "not evaluated",
                note=str(row["note"]),
            )
        )
    return setting_texts


# The report of a sweep: the answer, a figure and a table for each measure, and what does not follow.

MAX_SWEEP_FIGURES = 12  # measures that have a figure


def sweep_report(sweep: Sweep, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report of a sweep, in order: of a page, or of a text with figures in a ``folder``."""
    summary = sweep_summary(sweep, full=True)
    titles = [*(_sentence_case(measure_text(sweep.of(name))) for name in sweep.measures), "Caution"]
    answers = list(zip(titles, map(findings_text, sweep_answers(sweep)), strict=True))
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
        Section("Answers", [Answers(answers)], "answers"),
        Section("Measure by measure", measure_sections, "measures", "Measures"),
        *closing_sections(list(_sweep_cautions(sweep)), summary.notes, summary.call, settings, versions, entries),
    ]
    level, recipe = f"{100 * (1 - sweep.alpha):g} %", sweep.recipe
    meta = [count_noun(recipe["n"], "point"), replicates_text(sweep), f"level {level}"]
    heading = f"Sweep of {number_word(len(sweep.settings))} settings of {recipe['source']}"
    return Document(
        heading if title is None else title,
        [part for part in sections if part.parts],
        [", ".join([*meta, f"seed {recipe['random_state']}"])],
        dict(versions)["dreval"],
    )


def _sweep_measure_section(sweep: Sweep, name: str, number: int, folder: FigureFolder | None) -> Section:
    """Return the section of one measure: its question, its figure, and a row for each setting, the best first."""
    rows = sweep.of(name)
    title = _sentence_case(measure_text(rows))
    figures: list[Part] = []
    question = [Paragraph(MEASURES.card(rows["measure"].iloc[0]).question, "note")]
    if number < MAX_SWEEP_FIGURES and rows["mean"].notna().any():
        caption = f"Means of the settings with their intervals: {title}"
        with figure_style():
            figure: Any = draw_sweep(sweep, name)
        if folder is None:
            figures.append(
                WideFigure(PageFigure(inline_svg(figure, f"s{number}", caption)), f"Figure of {title}", "cd")
            )
        else:
            figures.append(folder.figure(figure, f"sweep-{rows['measure'].iloc[0]}", caption))
    heads = [Column(option, "name", is_name=True) for option in sweep.options]
    heads += [Column("mean"), Column(f"{100 * (1 - sweep.alpha):g} % interval"), Column("runs"), Column("p")]
    heads.append(Column("verdict", "text"))
    lines = [
        [
            *(Cell(text or MISSING_VALUE, "name") for text in row.options),
            Cell(row.mean or MISSING_VALUE, "number", "best" if row.is_best else "", repr(row.value)),
            Cell(row.interval or MISSING_VALUE, "number"),
            Cell(row.runs, "number"),
            Cell(row.p or MISSING_VALUE, "number"),
            Cell(row.verdict, "text", note=row.note),
        ]
        for row in setting_rows(sweep, name)
    ]
    note = "Best set: the best, and the settings that are not significantly worse. p is that of the test that a setting"
    note += f" is the best, adjusted for the choice among {count_noun(len(lines), 'setting')}."
    caption, n_visible = "A row for each setting", visible_rows(len(lines))
    table = Table(f"Settings by {title}", heads, lines, caption=caption, visible_rows=n_visible)
    return Section(title, [*question, Group([*figures, Group([table, Paragraph(note, "note")])], "beside")])


def _sentence_case(text: str) -> str:
    """Return text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def _sweep_cautions(sweep: Sweep) -> Iterator[TermEntry]:
    """Yield conclusions that do not follow, each with the reason."""
    yield TermEntry("“The settings of the best set are good.”", "They are only not shown to be worse than the best.")
    reason = "It was chosen for its size and is too optimistic: report its value on other points."
    yield TermEntry("“The best setting has this value.”", reason)
    if sweep.over == "seeds":
        yield TermEntry("“Other points have the same best set.”", "Only seeds differed: it refers to these points.")
    elif sweep.over == "split_measurements":
        reason = "All splits divide the measurements of the same points: it refers to these."
        yield TermEntry("“Other points have the same best set.”", reason)
    else:
        reason = "The best sets refer to n / 2 points, as in the halves; with more points another setting may be best."
        yield TermEntry("“The best setting is best for all points.”", reason)
    yield TermEntry(*BEST_LIMIT)
