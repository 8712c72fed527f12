"""Pairs and standings as reports print them: differences, posterior probabilities, mean ranks and letters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dreval.inference.ties import is_tie, order_by_mean_rank
from dreval.records.comparison import Comparison
from dreval.registry import MEASURES
from dreval.report.contents.comparison import PAIR_TITLES
from dreval.report.document import ABSENT, Cell, Head, Sheet
from dreval.report.format import ADJUSTMENTS, ROOM, counted, decimals_for, fixed, ordered, probability, short_names
from dreval.report.reading import BESIDE, Reading, parameter_words
from dreval.report.render.markup import marked

POSTERIOR = ("p_first", "p_rope", "p_second")
OPEN = "open"
EQUAL = "equal in practice"
MAX_NAMED_PAIRS = 3  # pairs that differ which the words over their table name


@dataclass(frozen=True)
class Paired:
    """The paired differences and what is said of them; empty where nothing was compared."""

    said: str = ""
    sheet: Sheet | None = None
    found: Comparison | None = None

    @property
    def more(self) -> int:
        """Rows that the comparison has besides those of the table."""
        return len(self.found.pairs) - len(self.sheet.rows) if self.found and self.sheet else 0


def paired_differences(reading: Reading) -> Paired:
    """Return every pair of embeddings by every measure, where the result has what this takes."""
    found = reading.comparison
    known = found.pairs[found.pairs["p_value"].notna()] if found is not None else pd.DataFrame()
    if found is None or not len(known):
        return Paired()
    return Paired(_said(known, found), pairs_sheet(found, "One row for each measure and pair of embeddings"), found)


def pairs_sheet(found: Comparison, caption: str) -> Sheet | None:
    """The pairs that have a p-value, or might have one, in their order.

    Of many embeddings they are those with the best one by each measure, unless a baseline has chosen the pairs.
    """
    pairs = found.pairs[found.pairs["test"] != "bayes"]
    adjusted, places = bool(pairs["p_adjusted"].notna().any()), _places(pairs)
    tests, alpha = bool(found.families), found.recipe["alpha"]
    if found.standing["embedding"].nunique() > BESIDE and "baseline" not in found.recipe:
        keys = ["measure", "parameters"]
        best = found.standing.drop_duplicates(keys).set_index(keys)["embedding"].to_dict()
        leaders = [best[key] for key in zip(pairs["measure"], pairs["parameters"], strict=True)]
        pairs = pairs[(pairs["first"] == leaders) | (pairs["second"] == leaders)]
    rows = []
    for row in pairs.to_dict("records"):
        decimals, p = places[(row["measure"], row["test"])], row["p_adjusted"] if adjusted else row["p_value"]
        open_words = OPEN if not math.isnan(p) else row["note"] or "not tested"
        first, *more = _named_pair(row, decimals)
        rows.append(
            [
                first,
                more[0],
                *[Cell(_test_words(row), "words")] * tests,
                more[1],
                Cell(_ends(row["conf_low"], row["conf_high"], decimals), "number"),
                Cell(_signed(row["effect_size"], 2), "number", sort=_sort(row["effect_size"])),
                Cell(probability(row["p_value"], alpha), "number", sort=_sort(row["p_value"])),
                *[Cell(probability(row["p_adjusted"], alpha), "number", sort=_sort(row["p_adjusted"]))] * adjusted,
                _better(row["better"], open_words),
            ]
        )
    numbers = ["Advantage", interval_words(found), "Effect size", "p", *["Adjusted p"] * adjusted]
    words = ["Measure", "Pair", *["Test"] * tests]
    heads = [*(Head(word, words=True) for word in words), *map(Head, numbers), Head("Better", words=True)]
    return Sheet(caption, heads, rows, "Pairs" if tests else "Paired differences") if rows else None


def _test_words(row: Mapping[str, Any]) -> str:
    """The test of a pair, and over how many of the data sets it and its advantage are, where some have equal values."""
    some = f", over the {row['n_used']:.0f} of {row['n']} data sets that differ" if row["n_used"] < row["n"] else ""
    return f"{PAIR_TITLES[row['test']]}{some}"


def posterior_sheet(found: Comparison, caption: str) -> Sheet | None:
    """The pairs with posterior probabilities, in their order."""
    pairs = found.pairs[found.pairs["test"] == "bayes"]
    places, rows = _places(pairs), []
    for row in pairs.to_dict("records"):
        chances = [ABSENT if math.isnan(row[key]) else fixed(row[key], 3) for key in POSTERIOR]
        open_words = row["note"] or (EQUAL if row["p_rope"] > 1 - found.recipe["alpha"] else OPEN)
        cells = [Cell(text, "number") for text in chances]
        rows.append(
            [*_named_pair(row, places[(row["measure"], row["test"])]), *cells, _better(row["better"], open_words)]
        )
    words, numbers = ("Measure", "Pair"), ("Median advantage", "First better", "Equal in practice", "Second better")
    heads = [*(Head(word, words=True) for word in words), *map(Head, numbers), Head("Better", words=True)]
    return Sheet(caption, heads, rows, "Posterior probabilities") if rows else None


def _named_pair(row: Mapping[str, Any], places: int) -> tuple[Cell, Cell, Cell]:
    """By what a pair is compared, who is compared, and by how much the first is ahead."""
    first, second = short_names([row["first"], row["second"]], ROOM).values()
    title = MEASURES.card(row["measure"]).title if row["measure"] in MEASURES else row["measure"]
    parameters = parameter_words(row["parameters"])
    return (
        Cell(f"{title}, {parameters}" if parameters else title, "words"),
        Cell(first, "pair", title=f"{row['first']} − {row['second']}", second=second, heads=True),
        Cell(_signed(row["advantage"], places), sort=_sort(row["advantage"])),
    )


def _better(name: str, open_words: str) -> Cell:
    """Who of a pair is better; else why that is not said."""
    return Cell(name, "name") if name else Cell(open_words, "state")


def _places(pairs: pd.DataFrame) -> dict[Any, int]:
    """Decimals of the advantages of each measure and test."""
    return {key: decimals_for(part["advantage"].dropna(), ()) for key, part in pairs.groupby(["measure", "test"])}


def interval_words(found: Comparison) -> str:
    """What intervals of a comparison are called."""
    return f"{100 * (1 - found.recipe['alpha']):g} % interval"


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
    named = _differing(known)
    adjust = found.recipe["adjust"]
    by = f"adjusted p ({ADJUSTMENTS.get(adjust, adjust)})" if adjust != "nothing" else "p"
    others = len(known) - few
    rest = f"; the other{'s are' if others > 1 else ' is'} open" if others else ""
    return (
        "Each pair is judged at the same points; a positive advantage says that the first is better, whichever way the "
        f"measure points. {few:,} of {counted(len(known), 'difference')} {'has' if few == 1 else 'have'} {by} ≤ "
        f"{found.recipe['alpha']:g}{f' ({named})' if named else ''}{rest}. "
        "These tests are adjusted over all pairs and measures; the best sets above ask only, "
        "measure by measure, who is worse than the best, and may tell embeddings apart that are open here."
    )


def _differing(known: pd.DataFrame) -> str:
    """Return the pairs that differ, the better one first, with their measures; empty where they are many."""
    measures: dict[tuple[str, str], list[str]] = {}
    for row in known[known["better"] != ""].to_dict("records"):
        worse = row["second"] if row["better"] == row["first"] else row["first"]
        title = MEASURES.card(row["measure"]).title if row["measure"] in MEASURES else row["measure"]
        measures.setdefault((row["better"], worse), []).append(title)
    if len(measures) > MAX_NAMED_PAIRS:
        return ""
    pairs = [
        f"{marked(better)} over {marked(worse)} by {ordered(list(dict.fromkeys(titles)))}"
        for (better, worse), titles in measures.items()
    ]
    return "; ".join(pairs)


def rank_rows(
    found: Comparison, names: Sequence[str], methods: Sequence[str], lettered: bool = True
) -> list[list[Cell]]:
    """Mean ranks over data sets: a row for each method, the best first, with a cell for each measure and letters."""
    short = short_names(methods, ROOM)
    ranks = {method: [_mean_rank(found, name, method) for name in names] for method in methods}
    lines = []
    for method in order_by_mean_rank(ranks):
        each = zip(names, ranks[method], strict=True)
        cells = [_rank_cell(found, name, method, rank, lettered) for name, rank in each]
        lines.append([Cell(short[method], "name", title=method, heads=True), *cells])
    return lines


def _mean_rank(found: Comparison, name: str, method: str) -> float:
    """The mean rank of one method by one measure; NaN where there is none."""
    standing = found.of(found.standing, name)
    mine = standing.loc[standing["embedding"] == method, "mean_rank"]
    return float(mine.iloc[0]) if len(mine) else math.nan


def _rank_cell(found: Comparison, name: str, method: str, rank: float, lettered: bool) -> Cell:
    """The mean rank as it is printed, with the letters of the method where methods are ``lettered``."""
    if math.isnan(rank):
        return Cell()
    standing = found.of(found.standing, name)
    k, letters = len(standing), standing.loc[standing["embedding"] == method, "letters"].iloc[0]
    shade = round((k - rank) / (k - 1), 3) if k > 1 else 0.0
    best = is_tie(rank, float(standing["mean_rank"].min()))
    return Cell(f"{rank:.2f}", small=[str(letters)] * lettered, best=best, shade=shade)
