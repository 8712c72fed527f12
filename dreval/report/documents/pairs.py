"""Pairs of embeddings on a page: forests of differences, tables of pairs and probabilities, and mean ranks."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dreval._text import decimals_for, format_fixed, plain_numbers, probability, without_zero
from dreval.records.comparison import Comparison
from dreval.registry import MEASURES
from dreval.report.comparison_findings import verdict_heading
from dreval.report.comparison_view import (
    PAIR_TITLES,
    against_lead,
    decisive_pairs,
    embedding_order,
    equal_maps,
    measures_by_question,
    pair_test_count,
    setting_suffix,
)
from dreval.report.document import (
    MISSING_VALUE,
    Cell,
    Column,
    Details,
    Forest,
    ForestRow,
    Forests,
    Marks,
    Paragraph,
    Part,
    Section,
    Table,
)
from dreval.report.figures.page import nice_ticks
from dreval.report.format import ADJUSTMENTS, MAX_NAME_LETTERS, count_noun, join_and, short_names
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import MAX_SIDE_BY_SIDE, parameter_text
from dreval.report.result_view import Column as MeasureColumn

POSTERIOR = ("p_first", "p_rope", "p_second")
UNDECIDED = "open"
PRACTICALLY_EQUAL = "equal in practice"
SIGNIFICANT = "sig"
BORDERLINE = "half"
NOT_SIGNIFICANT = "ns"
EQUAL = "same"
MAX_FOREST_ROWS = 12
MAX_OPEN_ROWS = 15  # rows of a table of pairs that is not folded
MAX_IN_FULL = 6  # embeddings; of more only the best is compared with the others in forests
FOREST_DECIMALS = 3


Lead = tuple[str, frozenset[str]]  # a measure with its parameters, and two embeddings


def difference_parts(
    comparison: Comparison,
    columns: Mapping[str, MeasureColumn],
    short: Mapping[str, str],
    leads: Collection[Lead] = (),
    level_note: str = "",
) -> Iterator[Part]:
    """Yield which embeddings differ: a forest of one measure a question, borderline pairs, and all pairs folded.

    ``columns`` are by the full names of the measures; ``leads`` as in ``difference_rows``; ``level_note`` is what else
    the page has at another level of error.
    """
    rows = difference_rows(comparison, leads)
    if not rows:
        return
    yield Paragraph(difference_text(comparison, rows), "lead")
    yield Marks(mark_texts(comparison, rows), " ".join(filter(None, [_forest_note(comparison), level_note])))
    questions = measures_by_question(columns).values()
    measures = [next((name for name in part if columns[name].bar), part[0]) for part in questions]
    forests = [_forest(comparison, columns[name], name, rows, short) for name in measures]
    drawn = [forest for forest in forests if forest is not None]
    yield from [Forests(drawn)] if drawn else []
    listed, count = rows, comparison.standing["embedding"].nunique()
    best = {name: against_lead(comparison, name)[0] for name in comparison.measures}
    if count > MAX_SIDE_BY_SIDE:
        listed = [row for row in rows if best[row["name"]] in (row["first"], row["second"])]
    of = "" if len(listed) == len(rows) else " from the best by each measure"
    borderline = [row for row in listed if row["mark"] == BORDERLINE]
    if borderline:
        table = pair_table(comparison, columns, borderline, short, "Borderline")
        few = len(borderline) <= MAX_OPEN_ROWS
        yield Section("Borderline", [table]) if few else Details(f"{len(borderline):,} borderline{of}", [table])
    title = f"{len(listed):,} differences{of}; all {len(rows):,} in tidy()" if of else f"All {len(rows):,} differences"
    yield Details(title, [pair_table(comparison, columns, listed, short, "All differences")], screen=True)
    if of:
        yield Details("All significant pairs, by letters", [letter_table(comparison, columns, short)], screen=True)


def difference_rows(comparison: Comparison, leads: Collection[Lead] = ()) -> list[dict[str, Any]]:
    """Return the tested pairs of the test that decides, the better embedding first, each with its mark.

    ``leads`` are the pairs of an evaluation that differ by the one-sided test of its best sets.
    """
    alpha, groups = comparison.recipe["alpha"], equal_maps(comparison)
    rows = []
    for name in comparison.measures:
        for row in decisive_pairs(comparison, name).to_dict("records"):
            flipped = row["difference"] < 0
            p, adjusted = row["p_value"], row["p_adjusted"]
            decisive = p if math.isnan(adjusted) else adjusted
            is_lead = (name, frozenset((row["first"], row["second"]))) in leads
            is_borderline = p <= alpha or is_lead
            mark = SIGNIFICANT if decisive <= alpha else BORDERLINE if is_borderline else NOT_SIGNIFICANT
            if mark == NOT_SIGNIFICANT and any({row["first"], row["second"]} <= group for group in groups):
                mark = EQUAL
            ends = (-row["conf_high"], -row["conf_low"]) if flipped else (row["conf_low"], row["conf_high"])
            first, second = (row["second"], row["first"]) if flipped else (row["first"], row["second"])
            by_lead = is_lead and p > alpha
            changed = {
                "by_lead": by_lead,
                "first": first,
                "second": second,
                "difference": abs(row["difference"]),
                "name": name,
            }
            rows.append({**row, **changed, "conf_low": ends[0], "conf_high": ends[1], "mark": mark, "p": decisive})
    return rows


def difference_text(comparison: Comparison, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many pairs differ significantly."""
    words = {SIGNIFICANT: "significant", BORDERLINE: "borderline", NOT_SIGNIFICANT: "not significant"}
    counts = {mark: sum(row["mark"] == mark for row in rows) for mark in words}
    texts = [f"{count:,} {words[mark]}" for mark, count in counts.items() if count or mark == SIGNIFICANT]
    n_same = sum(row["mark"] == EQUAL for row in rows)
    if n_same:
        order = embedding_order(comparison)
        groups = [[name for name in order if name in group] for group in equal_maps(comparison)]
        names = [join_and(list(map(isolate_name, group))) for group in groups]
        texts.append(f"{n_same:,} between equal maps ({'; '.join(names[:3])})")
    return f"Of {count_noun(len(rows), 'difference')}: {', '.join(texts)}."


def mark_texts(comparison: Comparison, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the marks of differences with their meaning."""
    adjust = comparison.recipe["adjust"]
    n_tests = pair_test_count(comparison)
    adjusted = adjust != "nothing" and n_tests > 1
    once = "; equal maps count once" * bool(equal_maps(comparison))
    method = f"{ADJUSTMENTS.get(adjust, adjust)}{once}"
    over = f", adjusted over all {count_noun(n_tests, 'test')} ({method})" if adjusted else ""
    marks = [(SIGNIFICANT, f"significant{over}")]
    borderline = [row for row in rows if row["mark"] == BORDERLINE]
    if borderline:
        one_sided = ", or one-sided against the best" * any(row["by_lead"] for row in borderline)
        marks.append((BORDERLINE, f"borderline: significant alone{one_sided}; not adjusted"))
    return [*marks, (NOT_SIGNIFICANT, "not significant")]


def _forest_note(comparison: Comparison) -> str:
    """Return how to read the forests."""
    text = f"Line: {interval_heading(comparison)}. The better embedding stands first."
    text += " Embeddings that are the same map share a row." if equal_maps(comparison) else ""
    many = comparison.standing["embedding"].nunique() > MAX_IN_FULL and "baseline" not in comparison.recipe
    return text + " Only the best embedding is compared with the others here." * many


def _forest(
    comparison: Comparison,
    column: MeasureColumn,
    name: str,
    rows: Sequence[Mapping[str, Any]],
    short: Mapping[str, str],
) -> Forest | None:
    """Return the differences by one measure, the largest first; equal maps share a row."""
    order = embedding_order(comparison)
    groups = {embedding: (embedding,) for embedding in order}
    for group in equal_maps(comparison):
        members = tuple(embedding for embedding in order if embedding in group)
        groups.update(dict.fromkeys(members, members))
    has_interval = [row for row in rows if row["name"] == name and row["conf_low"] == row["conf_low"]]
    drawn = [row for row in has_interval if row["mark"] != EQUAL]
    lead = against_lead(comparison, name)[0] if len(order) > MAX_IN_FULL else ""
    drawn = [row for row in drawn if lead in (row["first"], row["second"])] if lead else drawn
    merged: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in sorted(drawn, key=lambda row: -row["difference"]):
        merged.setdefault((groups[row["first"]][0], groups[row["second"]][0]), row)
    if not merged:
        return None
    chosen = list(merged.items())[-MAX_FOREST_ROWS:]  # the nearest are the ones to look at
    low = min(0.0, min(row["conf_low"] for _, row in chosen))
    high = max(0.0, max(row["conf_high"] for _, row in chosen))
    ticks = nice_ticks(low, high)
    low, high = min(low, *ticks), max(high, *ticks)

    def place(value: float) -> float:
        return round((value - low) / ((high - low) or 1.0), 4)

    places = min(column.decimals, FOREST_DECIMALS)
    titled = {better for better, _ in merged if lead in groups[better]}  # the better one is in the title
    forest_rows = [
        ForestRow(
            "" if better in titled else ", ".join(short[embedding] for embedding in groups[better]),
            ", ".join(short[embedding] for embedding in groups[other]),
            "" if better in titled else "over" if row["difference"] else "and",
            place(row["difference"]),
            place(row["conf_low"]),
            place(row["conf_high"]),
            row["mark"],
            "+" * bool(row["difference"]) + without_zero(format_fixed(row["difference"], places)),
            probability(row["p"], comparison.recipe["alpha"]),
        )
        for (better, other), row in chosen
    ]
    marks = list(zip(map(place, ticks), map(without_zero, plain_numbers(ticks)), strict=True))
    adjusted = any(not math.isnan(row["p_adjusted"]) for row in drawn)
    n_more = len(merged) - len(chosen)
    more_text = f"{count_noun(n_more, 'larger difference')} in the table below." if n_more else ""
    title = f"{column.title}{setting_suffix(comparison, name)}"
    question = f"{', '.join(short[embedding] for embedding in groups[lead])} over …" if lead else column.topic
    return Forest(title, question, forest_rows, place(0.0), marks, "adj. p" if adjusted else "p", more_text)


def pair_table(
    comparison: Comparison,
    columns: Mapping[str, MeasureColumn],
    rows: Sequence[Mapping[str, Any]],
    short: Mapping[str, str],
    caption: str,
) -> Table:
    """Return pairs as a table, the better embedding first, with the verdict on the margin where there is one."""
    alpha, adjusted = comparison.recipe["alpha"], any(not math.isnan(row["p_adjusted"]) for row in rows)
    has_margins, has_verdicts = any(row["equivalence"] for row in rows), len({row["mark"] for row in rows}) > 1
    has_intervals = any(row["conf_low"] == row["conf_low"] for row in rows)
    sizes = {} if "verdict" in comparison.recipe else dict.fromkeys(("better", "worse"), "larger")
    cells = []
    for row in rows:
        column, has_interval = columns[row["name"]], row["conf_low"] == row["conf_low"]
        places = min(column.decimals, FOREST_DECIMALS)
        ends = f"{format_fixed(row['conf_low'], places)} to {format_fixed(row['conf_high'], places)}"
        small = [column.setting_text]
        p_cells = [("p_value", row["p_value"]), *([("p_adjusted", row["p_adjusted"])] if adjusted else [])]
        cells.append(
            [
                Cell(column.title, "text", small=[text for text in small if text]),
                Cell(short[row["first"]], "name", note=row["first"]),
                Cell(short[row["second"]], "name", note=row["second"]),
                Cell(
                    without_zero(_signed_number(row["difference"], places)), "number", sort=_sort_key(row["difference"])
                ),
                *[
                    Cell(
                        without_zero(ends) if has_interval else MISSING_VALUE, "number", sort=_sort_key(row["conf_low"])
                    )
                ]
                * has_intervals,
                *(Cell(probability(p, alpha), "number", sort=_sort_key(p)) for _, p in p_cells),
                *[
                    Cell(
                        {SIGNIFICANT: "yes", BORDERLINE: "borderline", EQUAL: "same map"}.get(row["mark"], "no"), "text"
                    )
                ]
                * has_verdicts,
                *[Cell(sizes.get(row["equivalence"], row["equivalence"]), "text")] * has_margins,
            ]
        )
    numbers = ["Difference", *[interval_heading(comparison).capitalize()] * has_intervals]
    numbers += ["p alone" if adjusted else "p", *["Adjusted p"] * adjusted]
    heads = [Column("Measure", "text"), Column("Better", "name"), Column("Other", "name")]
    heads += [*(Column(text, "number", below="two-sided" * (text == "p alone")) for text in numbers)]
    heads += [*[Column("Different?", "text")] * has_verdicts]
    heads += [Column(verdict_heading(comparison).capitalize(), "text")] * has_margins
    return Table("", heads, cells, header=1, caption=caption, wide=False)


def letter_table(comparison: Comparison, columns: Mapping[str, MeasureColumn], short: Mapping[str, str]) -> Table:
    """Return the letters of all embeddings by each measure: those without a common letter differ significantly."""
    letters = {
        name: comparison.of(comparison.standing, name).set_index("embedding")["letters"] for name in comparison.measures
    }
    rows = [
        [Cell(short[name], "name", note=name), *(Cell(str(letters[key].get(name, "")), "text") for key in letters)]
        for name in embedding_order(comparison)
    ]
    heads = [Column(f"{columns[key].title}{setting_suffix(comparison, key)}", "text") for key in letters]
    caption = "Letters: embeddings without a common letter differ significantly"
    return Table("", [Column("Embedding", "name"), *heads], rows, caption=caption)


def interval_heading(comparison: Comparison) -> str:
    """Return the name of the intervals of a comparison."""
    return f"{100 * (1 - comparison.recipe['alpha']):g} % interval"


def every_test_table(comparison: Comparison, caption: str) -> Table | None:
    """Return every pair by every test over data sets, also by those that do not decide."""
    pairs = comparison.pairs[comparison.pairs["test"] != "bayes"]
    places, alpha, rows = _difference_decimals(pairs), comparison.recipe["alpha"], []
    adjusted = bool(pairs["p_adjusted"].notna().any())
    for row in pairs.to_dict("records"):
        decimals, p = places[row["measure"], row["test"]], row["p_adjusted"] if adjusted else row["p_value"]
        undecided_text = UNDECIDED if not math.isnan(p) else row["note"] or "not tested"
        measure_cell, pair_cell, difference_cell = _pair_cells(row, decimals)
        p_cells = [row["p_value"], *([row["p_adjusted"]] if adjusted else [])]
        rows.append(
            [
                measure_cell,
                pair_cell,
                Cell(_test_text(row), "text"),
                difference_cell,
                Cell(_interval_ends(row["conf_low"], row["conf_high"], decimals), "number"),
                *(Cell(probability(value, alpha), "number", sort=_sort_key(value)) for value in p_cells),
                _better_cell(row["better"], undecided_text),
            ]
        )
    heads = [Column("Measure", "text"), Column("Pair", "text"), Column("Test", "text"), Column("Difference")]
    heads += [Column(interval_heading(comparison)), Column("p"), *[Column("Adjusted p")] * adjusted]
    heads += [Column("Better", "text")]
    return Table("Pairs", heads, rows, header=1, caption=caption) if rows else None


def _test_text(row: Mapping[str, Any]) -> str:
    """Return the test of a pair, and the number of data sets that differ where some have equal values."""
    scope = f", over the {row['n_used']:.0f} of {row['n']} data sets that differ" if row["n_used"] < row["n"] else ""
    return f"{PAIR_TITLES[row['test']]}{scope}"


def posterior_table(comparison: Comparison, caption: str) -> Table | None:
    """Return the pairs with posterior probabilities, in their order."""
    pairs = comparison.pairs[comparison.pairs["test"] == "bayes"]
    places, rows = _difference_decimals(pairs), []
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
        ("Median difference", "First better", "Equal in practice", "Second better"),
    )
    heads = [
        *(Column(heading, "text") for heading in text_headings),
        *map(Column, numbers),
        Column("Better", "text"),
    ]
    header = text_headings.index("Pair")
    return Table("Posterior probabilities", heads, rows, header=header, caption=caption) if rows else None


def _pair_cells(row: Mapping[str, Any], places: int) -> tuple[Cell, Cell, Cell]:
    """Return the measure, the pair, and the difference, positive where the first is better."""
    first_name, second_name = short_names([row["first"], row["second"]], MAX_NAME_LETTERS).values()
    title = MEASURES.card(row["measure"]).title if row["measure"] in MEASURES else row["measure"]
    parameters = parameter_text(row["parameters"])
    return (
        Cell(f"{title}, {parameters}" if parameters else title, "text"),
        Cell(first_name, "pair", note=f"{row['first']} − {row['second']}", second=second_name),
        Cell(_signed_number(row["difference"], places), "value", sort=_sort_key(row["difference"])),
    )


def _better_cell(name: str, undecided_text: str) -> Cell:
    """Return the better one of a pair, or the reason why there is none."""
    return Cell(name, "name") if name else Cell(undecided_text, "text", "soft")


def _difference_decimals(pairs: pd.DataFrame) -> dict[Any, int]:
    """Return the decimals of the advantages of each measure and test."""
    return {key: decimals_for(part["difference"].dropna(), ()) for key, part in pairs.groupby(["measure", "test"])}


def _signed_number(value: float, places: int) -> str:
    """Return a difference with its sign, 0 for none; a dash where it is missing."""
    if math.isnan(value):
        return MISSING_VALUE
    return ("+" if value > 0 else "") + format_fixed(value, places if value else 0)


def _interval_ends(low: float, high: float, places: int) -> str:
    return MISSING_VALUE if math.isnan(low) else f"{format_fixed(low, places)} to {format_fixed(high, places)}"


def _sort_key(value: float) -> str:
    """Return the sort key of a value; empty where there is no value."""
    return "" if math.isnan(value) else repr(float(value))
