"""The report of a sweep: the answer, a figure and a table for each measure, and what does not follow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dreval.glossary import format_number, format_p
from dreval.records.sweep import Sweep
from dreval.registry import MEASURES
from dreval.report._beside import Beside
from dreval.report._numbers import counted, in_words
from dreval.report._style import drawing
from dreval.report._svg import inline_svg
from dreval.report.contents.page import ending, measure_words_of, rows_shown
from dreval.report.contents.sweep import VERDICTS, measure_words, sweep_answer, sweep_summary, value_words
from dreval.report.document import (
    ABSENT,
    Cell,
    Head,
    Paragraph,
    Part,
    Report,
    Scroll,
    Section,
    Sheet,
    Word,
    same_digits,
)
from dreval.report.document import Figure as Drawn
from dreval.report.figures._sweep import draw_sweep
from dreval.report.page import page_target, write
from dreval.report.reading import make_column

MOST_FIGURES = 12  # measures that have a figure


def write_sweep(found: Sweep, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a sweep.

    Parameters
    ----------
    found : Sweep
        What ``dreval.sweep`` gave.
    path : str or Path
        Where to write: ``.html`` for one self-contained page; ``.md`` and ``.tex`` for a text with a folder beside it.
    title : str, optional
        The heading; "Sweep of three settings of isomap" or the like by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the suffix is none of these, the folder does not exist, or the path is a folder.

    Notes
    -----
    The file loads nothing, names no time and is the same for the same sweep, byte by byte.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
    >>> found = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_sweep(found, f"{folder}/isomap.md").read_text("utf-8").splitlines()[0])
    # Sweep of three settings of isomap
    """
    target, beside = page_target(path)
    return write(target, sweep_report(found, title, beside), beside)


def sweep_report(found: Sweep, title: str | None, beside: Beside | None) -> Report:
    """Everything that a report says of a sweep, in its order: on a page, or in a text with figures ``beside``."""
    summary = sweep_summary(found)
    answers = [Paragraph(sweep_answer(found, name), "finding") for name in found.measures]
    each = [_measure(found, name, number, beside) for number, name in enumerate(found.measures)]
    settings = [Word(name, value) for name, value in summary.header]
    words = [
        measure_words_of(make_column(rows["measure"].iloc[0], rows["parameters"].iloc[0], []))
        for rows in map(found.of, found.measures)
    ]
    versions = [(str(name), str(version)) for name, version in found.recipe["versions"].items()]
    sections = [
        Section("Which settings?", answers, "best", "Best set"),
        Section("Measure by measure", each, "measures", "Measures"),
        *ending(list(_cautions(found)), summary.notes[:-1], summary.call, settings, versions, words),
    ]
    level, recipe = f"{100 * (1 - found.alpha):g} %", found.recipe
    meta = [counted(recipe["n"], "point"), f"{recipe['parameters']['n_replicates']} {found.over}", f"level {level}"]
    made = f"Sweep of {in_words(len(found.settings))} settings of {recipe['source']}"
    return Report(
        made if title is None else title,
        ", ".join([*meta, f"seed {recipe['random_state']}"]),
        [part for part in sections if part.parts],
        dict(versions)["dreval"],
    )


def _measure(found: Sweep, name: str, number: int, beside: Beside | None) -> Section:
    """One measure: its question, its figure, and a row for each setting."""
    rows = found.of(name)
    title = measure_words(rows)
    title = title[:1].upper() + title[1:]
    parts: list[Part] = [Paragraph(MEASURES.card(rows["measure"].iloc[0]).question, "note")]
    if number < MOST_FIGURES and rows["mean"].notna().any():
        words = f"Means of the settings with their intervals: {title}"
        with drawing():
            figure: Any = draw_sweep(found, name)
        if beside is None:
            parts.append(Scroll(Drawn(inline_svg(figure, f"s{number}", words)), f"Figure of {title}", "cd"))
        else:
            parts.append(beside.figure(figure, f"sweep-{rows['measure'].iloc[0]}", words))
    level = f"{100 * (1 - found.alpha):g} %"
    heads = [Head(option, words=not at, is_name=True) for at, option in enumerate(found.options)]
    heads += [Head("mean"), Head(f"{level} interval"), Head("runs"), Head("p"), Head("verdict", words=True)]
    means, lows, highs = (same_digits(rows[key].tolist()) for key in ("mean", "conf_low", "conf_high"))
    lines = []
    for (at, row), mean, low, high in zip(rows.iterrows(), means, lows, highs, strict=True):
        options = [value_words(found.settings[at].get(option, "")) or ABSENT for option in found.options]
        judged = not math.isnan(row["p_value"])
        inside = judged and bool(row["in_best_set"])
        verdict = VERDICTS[inside] if judged else "not judged"
        lines.append(
            [
                *(Cell(text, "name", heads=not place) for place, text in enumerate(options)),
                Cell(mean or ABSENT, "number", best=inside, sort=repr(float(row["mean"]))),
                Cell(f"{low} to {high}" if low else ABSENT, "number"),
                Cell(format_number(row["n_replicates"]), "number"),
                Cell(format_p(row["p_value"], found.alpha) or ABSENT, "number"),
                Cell(verdict, "words", title=str(row["note"])),
            ]
        )
    read = "Best set: not distinguishable from the best. p is that of the test that a setting is the best, adjusted for"
    read += f" the choice among {counted(len(lines), 'setting')}."
    sheet = Sheet("A row for each setting", heads, lines, f"Settings by {title}", shown=rows_shown(len(lines)))
    return Section(title, [*parts, sheet, Paragraph(read, "note")])


def _cautions(found: Sweep) -> Iterator[str]:
    """What does not follow."""
    yield "A setting in the best set is not shown to be good, or equal to the best: it is not shown to be worse."
    yield "The best value is too optimistic, since it was chosen for its size: report that of other points."
    if found.over == "seeds":
        yield "Only seeds differed: the sets are for these points, and with other points they may be others."
    else:
        yield "The sets are for n / 2 points, as halves have them; with more points the best setting may be another."
    yield "Another measure asks another question, and may have another set."
