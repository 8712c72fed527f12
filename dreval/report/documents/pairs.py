"""Tables of pairs and of mean ranks: differences, posterior probabilities, ranks and letters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dreval.inference.ties import is_tie, order_by_mean_rank
from dreval.records.comparison import Comparison
from dreval.registry import MEASURES
from dreval.report.comparison_view import PAIR_TITLES
from dreval.report.document import MISSING_VALUE, Cell, Column, Table
from dreval.report.format import (
    ADJUSTMENTS,
    MAX_NAME_LETTERS,
    count_noun,
    decimals_for,
    format_fixed,
    join_and,
    probability,
    short_names,
)
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import MAX_SIDE_BY_SIDE, ResultView, parameter_text

POSTERIOR = ("p_first", "p_rope", "p_second")
UNDECIDED = "open"
PRACTICALLY_EQUAL = "equal in practice"
MAX_NAMED_PAIRS = 3  # pairs that differ and are named above their table


@dataclass(frozen=True)
class PairedDifferences:
    """The paired differences and their text; empty where nothing was compared."""

    text: str = ""
    table: Table | None = None
    comparison: Comparison | None = None

    @property
    def n_more(self) -> int:
        """Number of rows of the comparison that the table does not have."""
        return len(self.comparison.pairs) - len(self.table.rows) if self.comparison and self.table else 0


def paired_differences(view: ResultView) -> PairedDifferences:
    """Return every pair of embeddings by every measure, where the result allows a comparison."""
    comparison = view.comparison
    tested = comparison.pairs[comparison.pairs["p_value"].notna()] if comparison is not None else pd.DataFrame()
    if comparison is None or not len(tested):
        return PairedDifferences()
    return PairedDifferences(
        _differences_text(tested, comparison),
        pair_page_table(comparison, "One row for each measure and pair of embeddings"),
        comparison,
    )


def pair_page_table(comparison: Comparison, caption: str) -> Table | None:
    """Return the pairs that have a p-value, or might have one, in their order.

    Of many embeddings only the pairs with the best one by each measure are included, unless there is a baseline.
    """
    pairs = comparison.pairs[comparison.pairs["test"] != "bayes"]
    adjusted, places = bool(pairs["p_adjusted"].notna().any()), _advantage_decimals(pairs)
    tests, alpha = bool(comparison.families), comparison.recipe["alpha"]
    if comparison.standing["embedding"].nunique() > MAX_SIDE_BY_SIDE and "baseline" not in comparison.recipe:
        keys = ["measure", "parameters"]
        best = comparison.standing.drop_duplicates(keys).set_index(keys)["embedding"].to_dict()
        leaders = [best[key] for key in zip(pairs["measure"], pairs["parameters"], strict=True)]
        pairs = pairs[(pairs["first"] == leaders) | (pairs["second"] == leaders)]
    rows = []
    for row in pairs.to_dict("records"):
        decimals, p = places[(row["measure"], row["test"])], row["p_adjusted"] if adjusted else row["p_value"]
        undecided_text = UNDECIDED if not math.isnan(p) else row["note"] or "not tested"
        measure_cell, *other_cells = _pair_cells(row, decimals)
        rows.append(
            [
                measure_cell,
                other_cells[0],
                *[Cell(_test_text(row), "text")] * tests,
                other_cells[1],
                Cell(_interval_ends(row["conf_low"], row["conf_high"], decimals), "number"),
                Cell(_signed_number(row["effect_size"], 2), "number", sort=_sort_key(row["effect_size"])),
                Cell(probability(row["p_value"], alpha), "number", sort=_sort_key(row["p_value"])),
                *[Cell(probability(row["p_adjusted"], alpha), "number", sort=_sort_key(row["p_adjusted"]))] * adjusted,
                _better_cell(row["better"], undecided_text),
            ]
        )
    numbers = ["Advantage", interval_heading(comparison), "Effect size", "p", *["Adjusted p"] * adjusted]
    text_headings = ["Measure", "Pair", *["Test"] * tests]
    heads = [
        *(Column(heading, "text") for heading in text_headings),
        *map(Column, numbers),
        Column("Better", "text"),
    ]
    title, header = "Pairs" if tests else "Paired differences", text_headings.index("Pair")
    return Table(title, heads, rows, header=header, caption=caption) if rows else None


def _test_text(row: Mapping[str, Any]) -> str:
    """Return the test of a pair, and the number of data sets that differ where some have equal values."""
    scope = f", over the {row['n_used']:.0f} of {row['n']} data sets that differ" if row["n_used"] < row["n"] else ""
    return f"{PAIR_TITLES[row['test']]}{scope}"


def posterior_page_table(comparison: Comparison, caption: str) -> Table | None:
    """Return the pairs with posterior probabilities, in their order."""
    pairs = comparison.pairs[comparison.pairs["test"] == "bayes"]
    places, rows = _advantage_decimals(pairs), []
    for row in pairs.to_dict("records"):
        chances = [MISSING_VALUE if math.isnan(row[key]) else format_fixed(row[key], 3) for key in POSTERIOR]
        undecided_text = row["note"] or (
            PRACTICALLY_EQUAL if row["p_rope"] > 1 - comparison.recipe["alpha"] else UNDECIDED
        )
        cells = [Cell(text, "number") for text in chances]
        rows.append(
            [
                *_pair_cells(row, places[(row["measure"], row["test"])]),
                *cells,
                _better_cell(row["better"], undecided_text),
            ]
        )
    text_headings, numbers = (
        ("Measure", "Pair"),
        ("Median advantage", "First better", "Equal in practice", "Second better"),
    )
    heads = [
        *(Column(heading, "text") for heading in text_headings),
        *map(Column, numbers),
        Column("Better", "text"),
    ]
    header = text_headings.index("Pair")
    return Table("Posterior probabilities", heads, rows, header=header, caption=caption) if rows else None


def _pair_cells(row: Mapping[str, Any], places: int) -> tuple[Cell, Cell, Cell]:
    """Return the measure, the pair, and the advantage of the first."""
    first_name, second_name = short_names([row["first"], row["second"]], MAX_NAME_LETTERS).values()
    title = MEASURES.card(row["measure"]).title if row["measure"] in MEASURES else row["measure"]
    parameters = parameter_text(row["parameters"])
    return (
        Cell(f"{title}, {parameters}" if parameters else title, "text"),
        Cell(first_name, "pair", note=f"{row['first']} − {row['second']}", second=second_name),
        Cell(_signed_number(row["advantage"], places), "value", sort=_sort_key(row["advantage"])),
    )


def _better_cell(name: str, undecided_text: str) -> Cell:
    """Return the better one of a pair, or the reason why there is none."""
    return Cell(name, "name") if name else Cell(undecided_text, "text", "soft")


def _advantage_decimals(pairs: pd.DataFrame) -> dict[Any, int]:
    """Return the decimals of the advantages of each measure and test."""
    return {key: decimals_for(part["advantage"].dropna(), ()) for key, part in pairs.groupby(["measure", "test"])}


def interval_heading(comparison: Comparison) -> str:
    """Return the heading of the intervals of a comparison."""
    return f"{100 * (1 - comparison.recipe['alpha']):g} % interval"


def _signed_number(value: float, places: int) -> str:
    """Return a difference with its sign; a dash where there is none."""
    return MISSING_VALUE if math.isnan(value) else ("+" if value > 0 else "") + format_fixed(value, places)


def _interval_ends(low: float, high: float, places: int) -> str:
    return MISSING_VALUE if math.isnan(low) else f"{format_fixed(low, places)} to {format_fixed(high, places)}"


def _sort_key(value: float) -> str:
    """Return the sort key of a value; empty where there is no value."""
    return "" if math.isnan(value) else repr(float(value))


def _differences_text(tested: pd.DataFrame, comparison: Comparison) -> str:
    """Return how many pairs differ, and by which tests."""
    n_decided = int((tested["better"] != "").sum())
    names = _differing_pairs(tested)
    adjust = comparison.recipe["adjust"]
    by = f"adjusted p ({ADJUSTMENTS.get(adjust, adjust)})" if adjust != "nothing" else "p"
    n_undecided = len(tested) - n_decided
    undecided_text = f"; the other{'s are' if n_undecided > 1 else ' is'} open" if n_undecided else ""
    return (
        "Each pair is judged at the same points; a positive advantage says that the first is better, whichever way the "
        f"measure points. {n_decided:,} of {count_noun(len(tested), 'difference')} "
        f"{'has' if n_decided == 1 else 'have'} {by} ≤ {comparison.recipe['alpha']:g}"
        f"{f' ({names})' if names else ''}{undecided_text}. "
        "These tests are adjusted over all pairs and measures; the best sets above ask only, "
        "measure by measure, who is worse than the best, and may tell embeddings apart that are open here."
    )


def _differing_pairs(tested: pd.DataFrame) -> str:
    """Return the pairs that differ, the better one first, with their measures; empty where they are many."""
    measures: dict[tuple[str, str], list[str]] = {}
    for row in tested[tested["better"] != ""].to_dict("records"):
        worse = row["second"] if row["better"] == row["first"] else row["first"]
        title = MEASURES.card(row["measure"]).title if row["measure"] in MEASURES else row["measure"]
        measures.setdefault((row["better"], worse), []).append(title)
    if len(measures) > MAX_NAMED_PAIRS:
        return ""
    pairs = [
        f"{isolate_name(better)} over {isolate_name(worse)} by {join_and(list(dict.fromkeys(titles)))}"
        for (better, worse), titles in measures.items()
    ]
    return "; ".join(pairs)


def rank_rows(
    comparison: Comparison, names: Sequence[str], methods: Sequence[str], has_letters: bool = True
) -> list[list[Cell]]:
    """Return mean ranks over data sets: a row for each method, the best first, and a cell for each measure."""
    short = short_names(methods, MAX_NAME_LETTERS)
    ranks = {method: [_mean_rank(comparison, name, method) for name in names] for method in methods}
    lines = []
    for method in order_by_mean_rank(ranks):
        method_ranks = zip(names, ranks[method], strict=True)
        cells = [_rank_cell(comparison, name, method, rank, has_letters) for name, rank in method_ranks]
        lines.append([Cell(short[method], "name", note=method), *cells])
    return lines


def _mean_rank(comparison: Comparison, name: str, method: str) -> float:
    """Return the mean rank of one method by one measure; NaN where there is none."""
    standing = comparison.of(comparison.standing, name)
    ranks = standing.loc[standing["embedding"] == method, "mean_rank"]
    return float(ranks.iloc[0]) if len(ranks) else math.nan


def _rank_cell(comparison: Comparison, name: str, method: str, rank: float, has_letters: bool) -> Cell:
    """Return the mean rank as a cell, with the letters of the method where methods are ``lettered``."""
    if math.isnan(rank):
        return Cell(MISSING_VALUE)
    standing = comparison.of(comparison.standing, name)
    k, letters = len(standing), standing.loc[standing["embedding"] == method, "letters"].iloc[0]
    shade = round((k - rank) / (k - 1), 3) if k > 1 else 0.0
    best = is_tie(rank, float(standing["mean_rank"].min()))
    return Cell(f"{rank:.2f}", "value", "best" if best else "", small=[str(letters)] * has_letters, shade=shade)
