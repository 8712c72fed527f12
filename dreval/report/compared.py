"""The report of a comparison: standings, overall tests, pairs, and the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.report._beside import Beside
from dreval.report._numbers import adjusted_by, counted, fixed, in_words, probability
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import (
    OVERALL_TITLES,
    SHORT,
    column_of,
    comparison_summary,
    heading,
    letter_words,
    outcomes,
)
from dreval.report.contents.page import measure_words_of
from dreval.report.contents.pairs import ABSENT, HeatCell, pair_rows, posterior_rows, rank_lines
from dreval.report.contents.paragraph import measure_paragraph
from dreval.report.contents.text import comparison_text
from dreval.report.figures.critical_difference import rank_words
from dreval.report.figures.forest import forest_words, pair_forests
from dreval.report.page import is_page, page_target, write_page
from dreval.report.plot import draw_comparison, plot_comparison
from dreval.report.reading import BESIDE, Cell, Column, parameter_words

IN_FILES = {  # kinds of figures with their words, in the order of a report
    "critical_difference": "Mean ranks; a bar joins embeddings that do not differ",
    "wins": "On how many data sets the embedding of the row is better than that of the column",
    "forest": "Advantage of the first embedding of each pair, with its interval",
    "difference_map": "Where one embedding is better than the other",
}
DECIDED = ("critical_difference", "forest")  # figures by the one test that decides
SHARED = ("forest",)  # one figure for all measures
MAX_MEASURES = 12  # that have figures of their own


def write_comparison(comparison: Comparison, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What ``dreval.compare``, ``Results.compare`` or ``Study.compare`` gave.
    path : str or Path
        Where to write: ``.html`` for one self-contained page; ``.md`` and ``.tex`` for a text with a folder beside it.
    title : str, optional
        The heading; "Comparison of three embeddings" or the like by default.

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
    The file names no time and is the same for the same comparison, byte by byte.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> found = ev.run("continuity").compare()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_comparison(found, f"{folder}/ab.md").read_text("utf-8").splitlines()[0])
    # Comparison of two embeddings of data
    """
    target = page_target(path)
    summary = comparison_summary(comparison)
    settings = [(name.rstrip(":"), value) for name, value in summary.header if value]
    page = {
        "title": title if title is not None else _title(comparison),
        "meta": ", ".join(f"{name} {value}" for name, value in settings),
        "outcomes": list(outcomes(comparison)),
        "paragraphs": [measure_paragraph(comparison, name, _voice(target)) for name in comparison.measures],
        "notes": summary.notes,
        "call": summary.call,
        "cautions": list(_cautions(comparison)),
        "settings": settings,
        "versions": _versions(comparison),
    }
    if is_page(target):
        return write_page(target, "comparison", {**page, **comparison_page(comparison)})
    beside = Beside(target)
    drawn = [beside.figure(figure, name, words) for name, words, figure in _figures(comparison)]
    return beside.write(comparison_text(page, summary.blocks, summary.title, drawn))


def _title(comparison: Comparison) -> str:
    """The heading, such as "Comparison of three embeddings of wdbc"."""
    count = comparison.standing["embedding"].nunique()
    data = str(comparison.recipe.get("dataset") or "")
    over = max((len(family.cells) for family in comparison.families.values()), default=0)
    where = f" on {in_words(over)} data sets" if over else f" of {data}" if data else ""
    return f"Comparison of {in_words(count)} embeddings{where}"


def _voice(target: Path) -> str:
    return {".md": "markdown", ".tex": "latex"}.get(target.suffix.lower(), "text")


def _versions(comparison: Comparison) -> list[tuple[str, str]]:
    """The versions of the result that was compared, or of this package."""
    from dreval import __version__

    known = comparison.results.recipe.get("versions") if comparison.results is not None else None
    return [(str(name), str(version)) for name, version in dict(known or {"dreval": __version__}).items()]


def _cautions(comparison: Comparison) -> Iterator[str]:
    """What does not follow."""
    if comparison.families:
        yield "The data sets are the sample. The tests speak of further data sets like these, not of any one of them."
    else:
        yield "Pairs were compared on one data set: the tests refer to other points for the same embeddings."
    yield "A difference that is not significant is no proof that two embeddings are alike."
    yield "Measures ask different things; what is best by one may be last by another."


def _figures(comparison: Comparison) -> Iterator[tuple[str, str, Any]]:
    """Name, words and drawing of every figure that the comparison has."""
    for kind, words in IN_FILES.items():
        for measure in [None] if kind in SHARED else comparison.measures[:MAX_MEASURES]:
            try:
                figure = plot_comparison(comparison, kind, **({} if measure is None else {"measure": measure}))
            except InputError:
                continue
            by = f" by {SHORT[comparison.recipe['decided_by']]}" if kind in DECIDED and comparison.families else ""
            about = f"{by}: {heading(comparison, measure)}" if measure else by
            yield f"{kind}-{measure}" if measure else kind, f"{words}{about}", figure


FIGURES: dict[bool, tuple[str, str, dict[str, bool]]] = {
    True: ("critical_difference", "Mean ranks", {}),
    False: ("forest", "Advantages of all pairs", {"explained": False}),
}
MAX_FIGURES = 12


def comparison_page(found: Comparison) -> dict[str, Any]:
    """The parts of the page that a text does not have, by the names of its template."""
    columns = {name: column_of(found, name) for name in found.measures}
    names = list(dict.fromkeys(found.standing["embedding"]))
    posterior = posterior_rows(found)
    across, forests = bool(found.families), pair_forests(found)
    lines = rank_lines(found, found.measures, names) if across else _value_lines(found, columns, names)
    parts = list(_parts(found, columns, drawn=not forests))
    return {
        "meta": _meta(found),
        "across": across,
        "standing": {
            "heads": [{"title": column.title, "below": _below(column)} for column in columns.values()],
            "lines": lines,
            "said": list(outcomes(found)),
            "letters": letter_words(found),
        },
        "parts": parts,
        "overall": _overall(found, columns),
        "pairs": (rows := pair_rows(found)),
        "more_pairs": len(found.pairs) - len(rows) - len(posterior),
        "posterior": posterior,
        "rope": f"{found.recipe['rope'] or 0:g}",
        "forests": forests,
        "marks": _marks(found, forests) if forests or any(part["figure"] for part in parts) else "",
        "glossary": [measure_words_of(column) for column in columns.values()],
    }


def _marks(found: Comparison, forests: Sequence[Any]) -> str:
    """What the marks and colors of the figures mean, once for all of them."""
    marks = rank_words(found) if found.families else forest_words(found, bool(forests))
    many = found.standing["embedding"].nunique() > BESIDE
    return f"{marks} {'In color: the first eight by mean rank; the others are gray.' if many else ''}".rstrip()


def _meta(found: Comparison) -> str:
    """What was compared, in one line."""
    recipe = found.recipe
    n = max((len(family.cells) for family in found.families.values()), default=0)
    size = counted(n, "data set") if n else counted(int(recipe.get("n") or 0), "point")
    return " · ".join([size, f"level {recipe['alpha']:g}", f"p {adjusted_by(recipe['adjust'])}"])


def _below(column: Column) -> str:
    """What stands under the title of a measure."""
    return ", ".join(filter(None, [parameter_words(column.parameters), "" if column.higher else column.better_words]))


def _value_lines(found: Comparison, columns: dict[str, Column], names: Sequence[str]) -> list[dict[str, Any]]:
    """Values on one data set: a line for each embedding, with a cell and its letters for each measure."""
    letters = {name: found.of(found.standing, name).set_index("embedding")["letters"] for name in columns}
    return [
        {"method": one, "cells": [_value_cell(c, one, letters[name].get(one, "")) for name, c in columns.items()]}
        for one in names
    ]


def _value_cell(column: Column, name: str, letters: str) -> HeatCell:
    """One value as it is printed."""
    if name not in column.values:
        return HeatCell()
    text, shade = column.shown(column.values[name]), round(column.shade(name), 3)
    return HeatCell(text, letters=str(letters), best=name in column.leaders, shade=shade)


def _parts(found: Comparison, columns: dict[str, Column], drawn: bool) -> Iterator[dict[str, Any]]:
    """One part for each measure: its words, its figure and, over data sets, its values."""
    for number, (name, column) in enumerate(columns.items()):
        family = found.families.get(name)
        yield {
            "title": column.title,
            "below": _below(column),
            "question": column.question,
            "words": measure_paragraph(found, name),
            "figure": _figure(found, name, column, number) if drawn and number < MAX_FIGURES else "",
            "methods": family.names if family is not None else [],
            "lines": _dataset_lines(column, family.cells) if family is not None else [],
        }


def _figure(found: Comparison, name: str, column: Column, number: int) -> str:
    """Mean ranks over data sets, or the forest of one; nothing where the comparison has not what it takes."""
    kind, words, options = FIGURES[bool(found.families)]
    try:
        figure = draw_comparison(found, kind, measure=name, titled=False, **options)
    except InputError:
        return ""
    return inline_svg(figure, f"c{number}", f"{words} by {column.named}")


def _dataset_lines(column: Column, cells: pd.DataFrame) -> list[dict[str, Any]]:
    """One line for each data set, shaded from its worst to its best."""
    lines = []
    for dataset, values in cells.iterrows():
        own = replace(column, cells={str(name): Cell(float(value)) for name, value in values.items()})
        made = [_value_cell(own, str(name), "") for name in cells.columns]
        lines.append({"dataset": dataset, "cells": made})
    return lines


def _overall(found: Comparison, columns: dict[str, Column]) -> list[dict[str, str]]:
    """Tests of any difference, one row for each measure and test."""
    rows = []
    for name, column in columns.items():
        for row in found.of(found.overall, name).to_dict("records"):
            degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
            value = float(row["statistic"])
            rows.append(
                {
                    "measure": ", ".join(filter(None, [column.title, parameter_words(column.parameters)])),
                    "test": OVERALL_TITLES[row["test"]],
                    "n": f"{int(row['n'])}",
                    "value": ABSENT if math.isnan(value) else fixed(value, 2),
                    "df": degrees,
                    "p": probability(float(row["p_value"])),
                    "p_sort": "" if math.isnan(row["p_value"]) else repr(float(row["p_value"])),
                    "note": row["note"],
                }
            )
    return rows
