"""The printed comparison: standings, overall tests and pairs of each index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dreval.results.base import Block, Summary, format_number, format_p, significance_stars
from dreval.results.printing import index_title, short_parameters

if TYPE_CHECKING:
    import pandas as pd

    from dreval.comparison.record import Comparison

__all__ = ["OVERALL_TITLES", "direction_of", "heading", "summarise"]

OVERALL_TITLES = {
    "friedman": "Friedman chi-square",
    "iman_davenport": "Iman-Davenport F",
    "friedman_exact": "Friedman, by arrangements",
    "skillings_mack": "Skillings-Mack chi-square",
    "mixed": "Mixed model, Wald chi-square",
}
PAIR_TITLES = {
    "jackknife": "paired differences",
    "anchors": "paired differences at anchors",
    "subsampling": "paired differences of halves",
    "seeds": "runs with other seeds",
    "subsamples": "paired differences of runs on halves, rescaled",
    "draws": "paired differences of runs on halves, not rescaled",
    "nemenyi": "Nemenyi",
    "wilcoxon": "Wilcoxon signed-rank",
    "mixed": "mixed model",
    "bayes": "Bayesian signed-rank",
    "": "not tested",
}
TESTED = (("advantage", "advantage"), ("statistic", "t"), ("p_value", "p"), ("p_adjusted", "p adj."))
PAIRED = (*TESTED, ("effect_size", "effect"), ("superiority", "superior"))
PAIR_COLUMNS = {
    **dict.fromkeys(("jackknife", "anchors", "subsampling", "seeds", "subsamples", "draws", ""), PAIRED),
    "nemenyi": (("advantage", "ranks"), ("p_adjusted", "p")),
    "wilcoxon": (
        ("n", "n"), ("advantage", "median"), ("statistic", "W"), ("p_value", "p"), ("p_adjusted", "p adj."),
        ("effect_size", "r"),
    ),
    "mixed": (("advantage", "advantage"), ("se", "se"), ("statistic", "z"), ("p_value", "p"), ("p_adjusted", "p adj.")),
    "bayes": (("advantage", "median"), ("p_first", "P first"), ("p_rope", "P equal"), ("p_second", "P second")),
}  # fmt: skip


def summarise(comparison: Comparison) -> Summary:
    """Header, then for each index its standing, overall tests and pairs, and numbered notes."""
    blocks = []
    for name in comparison.indices:
        blocks += list(_blocks(comparison, name))
    title = "Comparison of embeddings" + (" across data sets" if comparison.families else "")
    return Summary(title, _header(comparison), blocks, list(_notes(comparison)))


def heading(comparison: Comparison, name: str) -> str:
    """One index in words: title, which way is better, and its setting."""
    row = comparison.of(comparison.standing, name).iloc[0]
    short, title = short_parameters(row["parameters"]), index_title(row["index"])
    named, _, symbol = title.removesuffix(")").rpartition(" (")
    title = named if named.endswith(f" {symbol}") else title  # "Local Procrustes R_C" says its symbol already
    return f"{title}, {direction_of(comparison, name)} is better" + (f", {short}" if short else "")


def direction_of(comparison: Comparison, name: str) -> str:
    """Which way is better."""
    if comparison.families:
        return "higher" if comparison.families[name].higher else "lower"
    row = comparison.of(comparison.standing, name).iloc[0]
    table = comparison.results.table if comparison.results is not None else comparison.standing
    return str(table.loc[table["index"] == row["index"], "direction"].iloc[0])


def _header(comparison: Comparison) -> list[tuple[str, str]]:
    recipe = comparison.recipe
    adjust = recipe["adjust"]
    head = [("Embeddings:", format_number(comparison.standing["embedding"].nunique()))]
    if comparison.families:
        data = {name for family in comparison.families.values() for name in family.cells.index}
        head.insert(0, ("Data sets:", format_number(len(data))))
    else:
        head = [("Data:", str(recipe.get("dataset") or "")), ("Points n:", format_number(recipe.get("n"))), *head]
    rope = [] if recipe["rope"] is None else [("Practically equal below:", f"{recipe['rope']:g}")]
    return [*head, ("Level:", f"{recipe['alpha']:g}"), ("Adjusted by:", str(adjust)), *rope]


def _blocks(comparison: Comparison, name: str) -> Iterator[Block]:
    """Tables of one index."""
    standing = comparison.of(comparison.standing, name)
    columns = [("mean_rank", "mean rank"), ("value", "value"), ("sd", "sd"), ("n", "n"), ("letters", "letters")]
    shown = [(key, title) for key, title in columns if (standing[key].notna() & (standing[key] != "")).any()]
    shown = shown if comparison.families else [pair for pair in shown if pair[0] != "n"]
    rows = [[row["embedding"], *(_cell(key, row[key]) for key, _ in shown)] for row in standing.to_dict("records")]
    yield Block(heading(comparison, name), ["", *(title for _, title in shown)], rows)
    overall = comparison.of(comparison.overall, name)
    if len(overall):
        yield _overall(overall)
    pairs = comparison.of(comparison.pairs, name)
    for test, part in pairs.groupby("test", sort=False):
        block = _pairs(str(test), part)
        if block is not None:
            yield block


def _overall(rows: pd.DataFrame) -> Block:
    """Tests of any difference."""
    lines = []
    for row in rows.to_dict("records"):
        degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
        value = format_number(float(row["statistic"])) or "missing"
        lines.append([OVERALL_TITLES[row["test"]], value, degrees, format_p(row["p_value"]), _stars(row["p_value"])])
    return Block("Any difference", ["", "value", "df", "p", ""], lines)


def _pairs(test: str, rows: pd.DataFrame) -> Block | None:
    """All pairs by one test; None where it has no number for any, which a note explains."""
    shown = [(key, title) for key, title in PAIR_COLUMNS[test] if rows[key].notna().any()]
    if all(key == "n" for key, _ in shown):
        return None
    lines = []
    for row in rows.to_dict("records"):
        p = row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"]
        cells = [_cell(key, row[key]) or "missing" for key, _ in shown]
        lines.append([f"{row['first']} - {row['second']}", *cells, *([] if test == "bayes" else [_stars(p)])])
    return Block(f"Pairs: {PAIR_TITLES[test]}", ["", *(t for _, t in shown), *([] if test == "bayes" else [""])], lines)


def _cell(key: str, value: Any) -> str:
    """One cell of a table."""
    if key in ("p_value", "p_adjusted"):
        return format_p(value)
    if key == "letters":
        return str(value)
    if key == "n":
        return format_number(int(value))
    if key in ("p_first", "p_rope", "p_second"):
        return f"{value:.4f}"
    return format_number(float(value), {"mean_rank": 2, "superiority": 3, "effect_size": 3}.get(key, 4))


def _stars(p: float) -> str:
    return significance_stars(p) if p == p else ""


def _notes(comparison: Comparison) -> Iterator[str]:
    """Notes of the comparison, of rows, and how to read."""
    yield from comparison.notes
    tables = (comparison.overall, comparison.pairs) if comparison.families else ()
    said = [pair for table in tables for pair in zip(table["test"], table["note"], strict=True) if pair[1]]
    yield from (f"{test}: {note.rstrip('.')}." for test, note in dict.fromkeys(said))
    yield "Advantage of the first: positive when it is better, whichever way the index points."
    yield from _letter_notes(comparison)
    adjust = comparison.recipe["adjust"]
    how = "not adjusted" if adjust == "nothing" else f"adjusted by {adjust} within this table and test"
    yield f"p of pairs {how}; codes: 0 *** .001 ** .01 * .05 . .1"


def _letter_notes(comparison: Comparison) -> Iterator[str]:
    """How letters are read, and where there are none because a pair that they need has no test."""
    if (comparison.standing["letters"] != "").any():
        yield "Embeddings that share a letter do not differ significantly."
    tested = [name for name in comparison.indices if (comparison.of(comparison.pairs, name)["test"] != "bayes").any()]
    without = [name for name in tested if (comparison.of(comparison.standing, name)["letters"] == "").all()]
    if without:
        yield f"{', '.join(without)}: no letters, since not every pair was tested."
