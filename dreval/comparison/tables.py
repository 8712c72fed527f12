"""The tables of a comparison: rows of pairs and of overall tests, the test that decides, and letters."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from dreval.comparison.ranks import nemenyi
from dreval.glossary import OVERALL_COLUMNS, PAIR_COLUMNS
from dreval.inference.adjustment import adjusted_p_values
from dreval.records.comparison import Comparison, Family
from dreval.records.frames import full_name
from dreval.records.notes import join_notes

PAIR_TEXT_COLUMNS = (
    "measure",
    "parameters",
    "first",
    "second",
    "test",
    "conf_method",
    "family",
    "p_kind",
    "equivalence",
    "better",
    "note",
)


def pair_frame(rows: list[dict[str, Any]], alpha: float, family: str | None = None) -> pd.DataFrame:
    """Return rows of pairs as a table with fixed columns; p-values are of one family, or of one for each test."""
    table = pd.DataFrame(_with_note_text(rows), columns=list(PAIR_COLUMNS))
    for name in PAIR_COLUMNS:
        if name in PAIR_TEXT_COLUMNS:
            table[name] = table[name].astype("object").where(table[name].notna(), "")
        else:
            table[name] = pd.to_numeric(table[name]).astype("float64")
    table["conf_level"] = np.where(table["conf_low"].notna(), 1 - alpha, np.nan)
    families = table["test"] if family is None else pd.Series(family, table.index)
    table["family"] = families.where(table["p_value"].notna(), "")
    return table.astype({"n": "int64"})


def overall_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows of overall tests as a table with fixed columns."""
    table = pd.DataFrame(_with_note_text(rows), columns=list(OVERALL_COLUMNS))
    text_columns = ["p_kind", "note"]
    table[text_columns] = table[text_columns].astype("object").where(table[text_columns].notna(), "")
    return table


def _with_note_text(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with the text of their notes."""
    return [{**row, "note": join_notes(row.get("notes", ()))} for row in rows]


def keep_significant(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return the pairs with ``better`` only where the test finds a difference, by adjusted p or posterior."""
    p = table["p_adjusted"].where(table["p_adjusted"].notna(), table["p_value"])
    significant = (p <= alpha) | (table[["p_first", "p_second"]].max(axis=1) > 1 - alpha)
    return table.assign(better=table["better"].where(significant, ""))


SIMULTANEOUS_TESTS = ("nemenyi",)  # tests whose p-values hold simultaneously for all pairs of a measure
DECISION_ORDER = ("wilcoxon", "nemenyi", "mixed")


def decisive_test(
    pairs: pd.DataFrame, families: Mapping[str, Family], alpha: float, adjust: str | None
) -> dict[str, Any]:
    """Choose the test behind letters, diagrams and sentences of a comparison, with the smallest p it can have.

    The test that can be significant on the most measures decides, by ``attainable_p``. If several are equal, it is the
    signed-rank test, which does not depend on the other embeddings, then Nemenyi's, then the mixed model. The choice
    does not depend on observed values. Returns ``decided_by`` (empty if no test has letters) and ``attainable``, the
    smallest adjusted p by measure.
    """
    smallest = attainable_p(pairs, families, adjust)
    tests = smallest.index.get_level_values("test")
    available = [test for test in DECISION_ORDER if test in tests]
    if not available:
        return {"decided_by": "", "attainable": {}}
    test = max(available, key=lambda test: int((smallest[test] <= alpha).sum()))
    return {"decided_by": test, "attainable": {name: float(p) for name, p in smallest[test].items()}}


def attainable_p(
    pairs: pd.DataFrame, families: Mapping[str, Family], adjust: str | None, n_datasets: int | None = None
) -> pd.Series:
    """Return the smallest adjusted p that each test can have on each measure, by ``test`` and ``name``.

    Every p-value is replaced by the smallest that the design allows (``smallest_p``), and these are adjusted in the
    same way; with ``n_datasets`` as if every pair had so many data sets.
    """
    table = pairs[pairs["test"].isin(DECISION_ORDER) & pairs["p_value"].notna()].copy()
    table["name"] = [full_name(*key) for key in zip(table["measure"], table["parameters"], strict=True)]
    table["p_value"] = [
        smallest_p(test, n_datasets or n, len(families[name].names))
        for test, n, name in zip(table["test"], table["n"], table["name"], strict=True)
    ]
    table["smallest"] = adjusted_p_values(table, adjust, SIMULTANEOUS_TESTS).fillna(table["p_value"])
    smallest: pd.Series = table.groupby(["test", "name"], sort=False)["smallest"].min()
    return smallest


@cache
def smallest_p(test: str, n: int, k: int) -> float:
    """Return the smallest p-value of a pair that the test can have on n data sets with k embeddings.

    Signed ranks: 2 / 2^n. Nemenyi: that of mean ranks 1 and k. The mixed model: 0.

    Examples
    --------
    >>> smallest_p("wilcoxon", 6, 4), round(smallest_p("nemenyi", 6, 4), 5)
    (0.03125, 0.00033)
    """
    if test == "wilcoxon":
        return float(2.0 ** (1 - n))
    return float(nemenyi(np.array([1.0, k]), n, k)[0, 1]) if test == "nemenyi" else 0.0


def critical_level(comparison: Comparison) -> float:
    """Return the level of Nemenyi's critical difference in a comparison; NaN if Nemenyi's test does not decide.

    With Holm's adjustment over m measures it is alpha / m, beyond which every pair differs.
    """
    recipe = comparison.recipe
    blocks = len(recipe.get("attainable", {}))
    if recipe.get("decided_by") != "nemenyi" or (recipe["adjust"] == "benjamini_hochberg" and blocks > 1):
        return math.nan
    return float(recipe["alpha"] / (blocks if recipe["adjust"] == "holm" else 1))


def letters_of(order: list[str], rows: pd.DataFrame, alpha: float) -> dict[str, str]:
    """Return letters of embeddings, the best first, by the adjusted p-values of one test; none if a pair has no p."""
    rows = rows[rows["first"].isin(order) & rows["second"].isin(order)]
    p = rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"])
    if p.isna().any() or len(p) != len(order) * (len(order) - 1) // 2:
        return {}
    position = {name: i for i, name in enumerate(order)}
    differing = [
        (position[first], position[second])
        for first, second, value in zip(rows["first"], rows["second"], p, strict=True)
        if value <= alpha
    ]
    return dict(zip(order, letter_display(len(order), differing), strict=True))


def letter_display(count: int, differing: Iterable[tuple[int, int]]) -> list[str]:
    """Return the letters of ``count`` items, ordered from the best; ``differing`` holds the pairs that differ.

    Insert and absorb (Piepho 2004, J. Comput. Graph. Stat. 13, 456-466): every column of letters begins with all
    items; for each pair that differs, a column that holds both is split into one without the first and one without the
    second, and columns within other columns are dropped. Two items share a letter exactly if the pair does not differ.
    O(pairs x columns x count).

    Examples
    --------
    >>> letter_display(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    columns = [frozenset(range(count))]
    for pair in differing:
        split: list[frozenset[int]] = []
        for column in columns:
            split += [column - {member} for member in pair] if column.issuperset(pair) else [column]
        columns = [
            candidate
            for i, candidate in enumerate(split)
            if not any(candidate < other or (candidate == other and i > j) for j, other in enumerate(split))
        ]
    columns.sort(key=sorted)
    return ["".join(_letter(i) for i, column in enumerate(columns) if item in column) for item in range(count)]


def _letter(position: int) -> str:
    """Return the letter of a position: a to z, then A to Z, then numbers in brackets."""
    return string.ascii_letters[position] if position < len(string.ascii_letters) else f"({position + 1})"


def single_letters(letters: str) -> list[str]:
    """Split the letters of one item.

    Examples
    --------
    >>> single_letters("ab(53)")
    ['a', 'b', '(53)']
    """
    return re.findall(r"\(\d+\)|[A-Za-z]", letters)
