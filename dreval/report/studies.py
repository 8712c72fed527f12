"""The report of a study: who is ahead over all data sets, every value as a heat map, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from dreval.comparison.across import compare
from dreval.errors import DrevalError, InputError
from dreval.journal.study_file import STATES, read_study_table
from dreval.records.comparison import Comparison
from dreval.report._beside import Beside
from dreval.report._cautions import measure_words_of
from dreval.report._standing import leading, measure_words, rank_lines
from dreval.report._study_reading import Family, StudyReading, read_study
from dreval.report._study_tables import study_tables
from dreval.report._study_words import (
    dataset_row,
    failures,
    method_row,
    states,
    study_cautions,
    study_meta,
    study_settings,
    study_title,
)
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import SHORT, letter_words
from dreval.report.page import is_page, page_target, write_page
from dreval.report.plot import draw_comparison

__all__ = ["write_study"]


def write_study(study: Any, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a study.

    Parameters
    ----------
    study : Study
        The study; whatever of it is done is reported.
    path : str or Path
        Where to write: ``.html`` for one self-contained page with figures, ``.md`` for its tables and words.
    title : str, optional
        The heading; "Five methods on four data sets" or the like by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the suffix is neither, the folder does not exist, or the path is a folder.

    Notes
    -----
    The file loads nothing. O(cells) time and memory, and one figure for each measure.
    """
    target = page_target(path)
    beside = None if is_page(target) else Beside(target)
    status, recipe, table = study.status(), study.recipe(), read_study_table(study.path)
    reading = read_study(table, recipe)
    found, refused = _compared(table)
    page = {
        "title": title if title is not None else study_title(recipe),
        "meta": study_meta(status, recipe),
        "standing": _standing(reading, found),
        "refused": refused,
        "glossary": [measure_words_of(family.column) for family in reading.families],
        "parts": list(_parts(reading, found, beside)),
        "several": any(row["sd"] for family in reading.families for row in family.rows),
        "states": states(status),
        "state_names": STATES,
        "counts": [f"{status.count(state):,} {state}" for state in STATES],
        "complete": status.complete,
        "failures": failures(status),
        "cautions": list(study_cautions(status, recipe, found)),
        "settings": study_settings(recipe),
        "datasets": [dataset_row(name, about) for name, about in recipe["datasets"].items()],
        "methods": [method_row(name, about) for name, about in recipe["methods"].items()],
        "versions": list(recipe["versions"].items()),
    }
    page["call"] = f"dreval.Study.open({study.path.name!r}).report({target.name!r})"
    page["tables"] = study_tables(page, beside) if beside is not None and beside.tex else {}
    return write_page(target, "study", page)


def _compared(table: pd.DataFrame) -> tuple[Comparison | None, str]:
    """The comparison across data sets, or the reason why there is none."""
    try:
        return compare(table), ""
    except DrevalError as error:
        return None, f"a comparison {error.rule}; here are {error.got}"


def _standing(reading: StudyReading, found: Comparison | None) -> dict[str, Any] | None:
    """Mean ranks: a row for each method, a column for each measure that was compared."""
    if found is None:
        return None
    heads = [family for family in reading.families if family.key in found.measures]
    lines = rank_lines(found, [family.key for family in heads], reading.methods)
    made = [{"title": one.column.title, "below": one.below} for one in heads]
    said = leading(lines, [one.column.named for one in heads])
    return {"heads": made, "lines": lines, "said": said, "letters": letter_words(found, "Methods")}


def _parts(reading: StudyReading, found: Comparison | None, beside: Beside | None) -> Iterator[dict[str, Any]]:
    """One part for each measure: its values, its words, and its figure."""
    for number, family in enumerate(reading.families):
        compared = found is not None and family.key in found.measures
        yield {
            "title": family.column.title,
            "below": family.below,
            "question": family.column.question,
            "methods": reading.methods,
            "lines": family.rows,
            "words": measure_words(found, family.key) if found is not None and compared else "",
            "figure": _figure(found, family, number, beside) if found is not None and compared else "",
        }


def _figure(found: Comparison, family: Family, number: int, beside: Beside | None) -> Any:
    """The critical differences of one measure; nothing where no data set has all methods."""
    try:
        figure = draw_comparison(found, "critical_difference", measure=family.key, titled=False)
    except InputError:
        return ""
    words = f"Mean ranks of the methods by {family.column.named}; a bar joins those that do not differ by "
    words += SHORT[found.recipe["decided_by"]]
    if beside is None:
        return inline_svg(figure, f"c{number}", words)
    return beside.figure(figure, f"ranks-{family.column.measure}", words)
