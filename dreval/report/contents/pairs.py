"""Pairs and standings as reports print them: differences, posterior probabilities, mean ranks and letters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dreval.comparison.within import compare_pairs
from dreval.errors import DrevalError
from dreval.records.comparison import Comparison
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._numbers import ADJUSTMENTS, counted, decimals_for, fixed, probability
from dreval.report.contents.comparison import PAIR_TITLES
from dreval.report.reading import BESIDE, Reading, parameter_words

ABSENT = "—"
POSTERIOR = ("p_first", "p_rope", "p_second")
OPEN = "open"
EQUAL = "equal in practice"


@dataclass(frozen=True)
class Paired:
    """The paired differences and what is said of them; empty where nothing was compared."""

    said: str = ""
    rows: Sequence[Mapping[str, Any]] = ()
    found: Comparison | None = None
    more: int = 0  # rows that the comparison has besides


def paired_differences(results: Results, reading: Reading) -> Paired:
    """Every pair of embeddings by every measure, where the result has what this takes."""
    if len(reading.computed) < 2 or not (len(results.groups) or results.left_out):
        return Paired()
    try:
        found = compare_pairs(results)
    except DrevalError:  # intervals of kinds that are not compared: the cards then go by the intervals
        return Paired()
    known = found.pairs[found.pairs["p_value"].notna()]
    if not len(known):
        return Paired()
    rows = pair_rows(found)
    return Paired(_said(known, found), rows, found, len(found.pairs) - len(rows))


def pair_rows(found: Comparison) -> list[dict[str, Any]]:
    """The rows of the table of pairs that have a p-value, or might have one, in their order.

    Of many embeddings they are those with the best one by each measure, unless a baseline has chosen the pairs.
    """
    pairs = found.pairs[found.pairs["test"] != "bayes"]
    adjusted = bool(pairs["p_adjusted"].notna().any())
    level, places = interval_words(found), _places(pairs)
    if found.standing["embedding"].nunique() > BESIDE and "baseline" not in found.recipe:
        keys = ["measure", "parameters"]
        best = found.standing.drop_duplicates(keys).set_index(keys)["embedding"].to_dict()
        leaders = [best[key] for key in zip(pairs["measure"], pairs["parameters"], strict=True)]
        pairs = pairs[(pairs["first"] == leaders) | (pairs["second"] == leaders)]
    return [_pair_row(row, places[(row["measure"], row["test"])], adjusted, level) for row in pairs.to_dict("records")]


def posterior_rows(found: Comparison) -> list[dict[str, Any]]:
    """The rows of the table of pairs with posterior probabilities, in their order."""
    pairs = found.pairs[found.pairs["test"] == "bayes"]
    places = _places(pairs)
    return [
        {
            **_named_pair(row, places[(row["measure"], row["test"])]),
            "chances": [ABSENT if math.isnan(row[key]) else fixed(row[key], 3) for key in POSTERIOR],
            "open": row["note"] or (EQUAL if row["p_rope"] > 1 - found.recipe["alpha"] else OPEN),
        }
        for row in pairs.to_dict("records")
    ]


def _places(pairs: pd.DataFrame) -> dict[Any, int]:
    """Decimals of the advantages of each measure and test."""
    return {key: decimals_for(part["advantage"].dropna(), ()) for key, part in pairs.groupby(["measure", "test"])}


def interval_words(found: Comparison) -> str:
    """What intervals of a comparison are called."""
    return f"{100 * (1 - found.recipe['alpha']):g} % interval"


def _pair_row(row: Mapping[str, Any], places: int, adjusted: bool, level: str) -> dict[str, Any]:
    """One pair by one measure."""
    p = row["p_adjusted"] if adjusted else row["p_value"]
    return {
        **_named_pair(row, places),
        "interval": _ends(row["conf_low"], row["conf_high"], places),
        "level": level,
        "effect": _signed(row["effect_size"], 2),
        "effect_sort": _sort(row["effect_size"]),
        "p": probability(row["p_value"]),
        "p_sort": _sort(row["p_value"]),
        "adjusted": probability(row["p_adjusted"]) if adjusted else None,
        "adjusted_sort": _sort(row["p_adjusted"]),
        "open": "" if row["better"] else OPEN if not math.isnan(p) else row["note"] or "not tested",
    }


def _named_pair(row: Mapping[str, Any], places: int) -> dict[str, Any]:
    """Who is compared, by what, and by how much the first is ahead."""
    title = MEASURES.card(row["measure"]).title if row["measure"] in MEASURES else row["measure"]
    parameters = parameter_words(row["parameters"])
    return {
        "measure": f"{title}, {parameters}" if parameters else title,
        "first": row["first"],
        "second": row["second"],
        "test": PAIR_TITLES[row["test"]],
        "advantage": _signed(row["advantage"], places),
        "sort": _sort(row["advantage"]),
        "better": row["better"],
        "note": row["note"],
    }


def _signed(value: float, places: int) -> str:
    """A difference with its sign; a dash where there is none."""
    return ABSENT if math.isnan(value) else ("+" if value > 0 else "") + fixed(value, places)


def _ends(low: float, high: float, places: int) -> str:
    return ABSENT if math.isnan(low) else f"{fixed(low, places)} to {fixed(high, places)}"


def _sort(value: float) -> str:
    """What a column is sorted by; empty where there is no value."""
    return "" if math.isnan(value) else repr(float(value))


def _said(known: pd.DataFrame, found: Comparison) -> str:
    """How many pairs differ, and how that was found."""
    few = int((known["better"] != "").sum())
    adjust = found.recipe["adjust"]
    by = f"adjusted p ({ADJUSTMENTS.get(adjust, adjust)})" if adjust != "nothing" else "p"
    return (
        "Each pair is judged at the same points; a positive advantage says that the first is better, whichever way the "
        f"measure points. {counted(few, 'difference')} of {len(known)} with {by} ≤ {found.recipe['alpha']:g}; "
        "the others are open. These tests are adjusted over all pairs and measures; the best sets above ask only, "
        "measure by measure, who is worse than the best, and may tell embeddings apart that are open here."
    )


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heat map as it is printed; ``shade`` runs from 0, the worst, to 1."""

    text: str = ABSENT
    sd: str = ""
    letters: str = ""
    best: bool = False
    shade: float = 0.0
    note: str = ""


def rank_lines(found: Comparison, names: Sequence[str], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Mean ranks over data sets: a line for each method, the best first, with a cell for each measure."""
    lines = []
    for method in methods:
        ranks = [_mean_rank(found, name, method) for name in names]
        known = [rank for rank in ranks if not math.isnan(rank)]
        cells = [_rank_cell(found, name, method, rank) for name, rank in zip(names, ranks, strict=True)]
        lines.append({"method": method, "cells": cells, "mean": sum(known) / len(known) if known else math.inf})
    lines.sort(key=lambda line: line["mean"])
    return lines


def _mean_rank(found: Comparison, name: str, method: str) -> float:
    """The mean rank of one method by one measure; NaN where there is none."""
    standing = found.of(found.standing, name)
    mine = standing.loc[standing["embedding"] == method, "mean_rank"]
    return float(mine.iloc[0]) if len(mine) else math.nan


def _rank_cell(found: Comparison, name: str, method: str, rank: float) -> HeatCell:
    """The mean rank as it is printed, with the letters of the method."""
    if math.isnan(rank):
        return HeatCell()
    standing = found.of(found.standing, name)
    k, letters = len(standing), standing.loc[standing["embedding"] == method, "letters"].iloc[0]
    shade = round((k - rank) / (k - 1), 3) if k > 1 else 0.0
    return HeatCell(f"{rank:.2f}", letters=str(letters), best=rank == standing["mean_rank"].min(), shade=shade)
