"""Bring a table of mixed columns into the form from which Gower's distances are computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray
from dreval._check_arrays import ROWS_FROM_ZERO, check_finite, check_magnitude
from dreval.errors import InputError
from dreval.inputs.features import (
    MAX_NAMED_COLUMNS,
    check_mostly_text,
    digest_of,
    frame_numbers,
    is_numeric,
    native,
    property_notes,
)
from dreval.inputs.stored import LazyTable
from dreval.inputs.variables import codes_of_classes, count_codes, names_rows, without_missing_texts, without_spaces
from dreval.records.notes import Note, Notes, note

# Gower's distance of two rows is the mean, over the columns in which both have a cell, of |x - y| / range for numbers
# and ordered categories (by their position among the categories), and of 0 (equal) or 1 for classes. The table below
# holds numbers in units of their range, and codes 0, 1, 2, ... of classes; the loop counts a difference above 1 as 1
# (``MIXED`` in ``geometry/_loops/rows.py``), so that it needs no types. Missing cells are NaN.
#
# This is ``daisy(x, metric = "gower")`` of R's package cluster (Kaufman and Rousseeuw 1990, chapter 1), with logical
# columns as factors: a pair that is FALSE twice agrees.

NUMBER = "gower.numbers"  # codes of the notes that name the columns of each kind
ORDERED = "gower.ordered"
CLASS = "gower.classes"
KINDS = (NUMBER, ORDERED, CLASS)
MAX_LISTED_COLUMNS = 20  # that a note on their kind names
PAIR_BLOCK = 1024  # rows that are compared with all others at one time


def mixed_table(cells: Any, columns: Any, argument: str) -> tuple[FloatArray, str, list[Note]]:
    """Return the coded table (n, p) of a frame or an array, its hash, and notes on what each column was taken for.

    Numbers are numbers, integers too; ordered categories are ordered; other categories, text and booleans are classes.

    Raises
    ------
    InputError
        A sparse matrix; dates, objects, or numbers with stray text in a column; a column without a value, or of
        classes that differ in all rows; a row without a value, or two rows without a common column; infinity.
    """
    if isinstance(cells, LazyTable) and not cells.sparse:
        cells = cells.whole
    if not isinstance(cells, np.ndarray | pd.DataFrame):
        hint = "Pass a dense table, with NaN or None where a value is missing; zeros are values."
        raise InputError(argument, "must be a table of cells with metric='gower'", "a sparse matrix", hint)
    frame = cells if isinstance(cells, pd.DataFrame) else pd.DataFrame(cells, columns=columns)
    table, kinds, notes = np.empty(frame.shape), dict[int, str](), list[Note]()
    for j in range(frame.shape[1]):
        table[:, j], kinds[j], column_notes = _coded(frame, j, argument)
        notes += column_notes
    check_pairs(table, argument)
    return table, digest_of(table), [*_notes(frame, table, kinds), *notes]


def _coded(frame: pd.DataFrame, j: int, argument: str) -> tuple[FloatArray, str, Notes]:
    """Return the cells of a column in the form of the table, its kind, and notes on texts."""
    series, name = frame.iloc[:, j], str(frame.columns[j])
    label = f"{argument}[{name!r}]"
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
        positions = series.cat.codes.to_numpy().astype(np.float64)
        return _in_range(np.where(positions >= 0, positions, np.nan), name, argument), ORDERED, ()
    present = series.dropna().infer_objects() if series.dtype == object else series.dropna()
    if present.dtype.kind in "mM":
        hint = "Turn them into numbers, such as days since the first one, or into classes, such as the year as text."
        received = f"dates or times in column {name!r}"
        raise InputError(argument, "must hold numbers or classes in every column", received, hint)
    if is_numeric(present) and not pd.api.types.is_bool_dtype(present.dtype) and len(present):
        numbers = frame_numbers(series.to_frame(name), argument, "")[:, 0]
        if np.isinf(numbers).any():
            check_finite(np.where(np.isnan(numbers), 0.0, numbers), label)
        check_magnitude(float(np.nanmax(np.abs(numbers))), label)
        return _in_range(numbers, name, argument), NUMBER, ()
    check_mostly_text(frame, j, argument)
    series, notes = without_missing_texts(*without_spaces(series, label), label)
    if series.isna().all():
        raise _no_value(name, argument)
    codes, classes = codes_of_classes(series, label)
    count = int(np.count_nonzero(codes >= 0))
    if len(classes) == count > 1:
        hint = f"Pass ids={name!r} if it names the rows, or drop it: it adds the same to all distances."
        received = f"{count} different values in {count} rows of column {name!r}"
        raise InputError(argument, "must have classes that repeat", received, hint)
    return np.where(codes >= 0, codes, np.nan), CLASS, notes


def _in_range(numbers: FloatArray, name: str, argument: str) -> FloatArray:
    """Return numbers minus the smallest, in units of their range; all 0 where they are equal."""
    has_value = ~np.isnan(numbers)
    if not has_value.any():
        raise _no_value(name, argument)
    low = numbers[has_value].min()
    spread = numbers[has_value].max() - low
    return np.asarray((numbers - low) / (spread if spread > 0 else 1.0))


def _no_value(name: str, argument: str) -> InputError:
    """Return the error for a column whose cells are all missing."""
    received = f"no value in column {name!r}"
    return InputError(argument, "must have a value in every column", received, "Drop it, or check how it was read.")


def check_pairs(table: FloatArray, argument: str) -> None:
    """Raise if two rows have no column in common in which both have a value: they have no distance."""
    has_value = ~np.isnan(table)
    if has_value.all(axis=0).any():
        return
    requirement = "must have a value of both rows in some column, for each pair of rows"
    hint = "Drop such rows, or add a column that all rows have."
    if not has_value.any(axis=1).all():
        empty = np.flatnonzero(~has_value.any(axis=1))
        received = f"row {empty[0]} without a value{f', and {len(empty) - 1} more' * (len(empty) > 1)}{ROWS_FROM_ZERO}"
        raise InputError(argument, requirement, received, hint)
    cells, count, first = has_value.astype(np.float32), 0, (0, 0)
    for start in range(0, len(cells), PAIR_BLOCK):
        apart = np.argwhere(cells[start : start + PAIR_BLOCK] @ cells.T == 0)
        first = (start + int(apart[0, 0]), int(apart[0, 1])) if len(apart) and not count else first
        count += len(apart)
    if count:
        further = f", and {count // 2 - 1} more pairs" * (count > 2)
        received = f"rows {first[0]} and {first[1]} without a common one{further}{ROWS_FROM_ZERO}"
        raise InputError(argument, requirement, received, hint)


def _notes(frame: pd.DataFrame, table: FloatArray, kinds: Mapping[int, str]) -> list[Note]:
    """Return the notes on the kinds of the columns, on missing cells, and on columns that may be something else."""
    names = [str(name) for name in frame.columns]
    by_kind = {kind: [names[j] for j in kinds if kinds[j] == kind] for kind in KINDS}
    notes = [
        note(kind, columns=_listed(columns, MAX_LISTED_COLUMNS), count=len(columns))
        for kind, columns in by_kind.items()
        if columns
    ]
    numbers = [j for j in kinds if kinds[j] == NUMBER]
    codes = [names[j] for j in numbers if count_codes(frame.iloc[:, j])]
    ids = [names[j] for j in numbers if names_rows(native(frame.iloc[:, j]))]
    if codes:
        notes.append(note("gower.integers", columns=_listed(codes, MAX_LISTED_COLUMNS), count=len(codes)))
    if ids and len(ids) < len(numbers):
        notes.append(note("data.names_rows", columns=_listed(ids, MAX_NAMED_COLUMNS), count=len(ids)))
    missing = np.isnan(table)
    if missing.any():
        notes.append(note("gower.missing", cells=int(missing.sum()), rows=int(missing.any(axis=1).sum())))
    constant = np.flatnonzero(np.nanmin(table, axis=0) == np.nanmax(table, axis=0))
    repeated = int(pd.DataFrame(table).duplicated().sum())
    return notes + property_notes(names, constant, np.zeros(len(names)), (), repeated)


def _listed(names: list[str], limit: int) -> tuple[str, ...]:
    """Return names in quotes, at most ``limit`` of them."""
    return (*map(repr, names[:limit]), *(["..."] if len(names) > limit else []))
