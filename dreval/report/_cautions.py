"""What may not be concluded from a result, and what its words mean."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from dreval.glossary import COLUMNS
from dreval.registry import MEASURES
from dreval.report._column import Column
from dreval.report._judges import HOLDS, MOST, MOSTLY, WHOLE_FAILS, WHOLE_HOLDS
from dreval.report._numbers import counted, ordered
from dreval.report._reading import Reading

__all__ = ["Word", "cautions", "definitions", "glossary", "head_line", "measure_words_of"]

_MARKUP = re.compile(r":math:|\*|`|\.\. math::")


@dataclass(frozen=True)
class Word:
    """A word of the report: what it means and, of a measure, its formula and where it is from."""

    term: str
    meaning: str
    formula: str = ""
    reference: str = ""


def cautions(reading: Reading, dimensions: dict[str, int], paired: bool = False) -> list[str]:
    """Sentences on what does not follow; each stands only where it applies."""
    cells = [cell for column in reading.main for cell in column.cells.values() if not cell.missing]
    several = len(reading.computed) > 1
    rules = [
        (
            several,
            "“Best” means the best value in this table"
            + (
                "; “clearly” that paired tests tell it from all others; where they do not, the order is open."
                if paired
                else ". Nothing here tests whether two embeddings differ."
            ),
        ),
        (
            paired,
            "Paired tests speak of other points for the same embeddings, not of other runs of the methods or other data.",
        ),
        (several and len(set(dimensions.values())) > 1, _columns_caution(dimensions)),
        (
            bool(cells) and len(reading.scales) == 1,
            f"Neighborhoods are those of k = {reading.k}."
            + (" At another scale the order of the embeddings may be another." if several else ""),
        ),
        *(_interval_cautions(reading, [c.has_interval for c in cells]) if cells else ()),
        (
            bool(reading.recipe.get("anchors")),
            "Neighborhoods were seen from a random part of the points only; maps show those points.",
        ),
        (
            bool(reading.computed),
            (
                "Each embedding was judged as it came, once. A method that starts at random may give another embedding "
                "on another run."
            ),
        ),
        (
            any(d > 2 for d in dimensions.values()),
            "Embeddings of more than two columns are judged in all of them; embeddings show the first two.",
        ),
        (
            any(c.measure == "knn_accuracy" and c.values for c in reading.main),
            (
                "Classes that lie apart in an embedding are no proof that the embedding keeps the data: k-NN accuracy "
                "judges labels, not distances."
            ),
        ),
        *_test_cautions(reading),
        (
            bool(cells),
            "Better than chance is a low bar: chance means an embedding that has nothing to do with the data.",
        ),
    ]
    return [sentence for applies, sentence in rules if applies]


def _columns_caution(dimensions: dict[str, int]) -> str:
    """What it means that embeddings have different numbers of columns."""
    shown = ordered([str(d) for d in sorted(set(dimensions.values()))])
    more = "More columns can keep more of the data, so the order is not one of the methods alone."
    return f"The embeddings have {shown} columns. {more}"


def _interval_cautions(reading: Reading, having: list[bool]) -> list[tuple[bool, str]]:
    """What intervals do not say, or what their absence means."""
    some, every = any(having), all(having)
    difference = " They are no intervals for the difference of two embeddings, which share their points."
    targets = ordered(sorted({row["target"] for row in reading.rows if row["conf_method"] and row["target"]}))
    return [
        (not some, "Values have no intervals: nothing here says how much they would change with other points."),
        (
            some,
            f"Intervals speak of {targets or 'their target'}, one value at a time."
            + (difference if len(reading.computed) > 1 else ""),
        ),
        (some and not every, "Values without an interval are not more certain than those with one."),
    ]


def _test_cautions(reading: Reading) -> list[tuple[bool, str]]:
    """What tests do not say."""
    return [
        (
            bool(reading.tests),
            (
                "A small p says that embedding and variable depend on each other, not how much (the effect size does) "
                "and not why. A large p is no proof of independence."
            ),
        )
    ]


def glossary(reading: Reading) -> list[Word]:
    """The words of ``definitions``; measures with formula and reference, as their cards and pages say them."""
    measures = {_term(column): column for column in reading.main}
    words = definitions(reading)
    return [measure_words_of(measures[term]) if term in measures else Word(term, meaning) for term, meaning in words]


def measure_words_of(column: Column) -> Word:
    """What a measure means, its formula and its reference, as its card and its page say them."""
    return Word(_term(column), _meaning(column), *_source(column.measure if column.measure in MEASURES else ""))


def _source(measure: str) -> tuple[str, str]:
    """The formula that the page of a measure states, and its reference."""
    if not measure:
        return "", ""
    page = (MEASURES.get(measure).__doc__ or "").partition("\n\n")[2].partition("Parameters\n")[0]
    parts = [" ".join(part.split()) for part in page.split("\n\n")]
    formulas = [part for part in parts if " = " in part]
    said = _MARKUP.sub("", formulas[0]).strip() if formulas else ""
    return said, " ".join(MEASURES.card(measure).reference.split())


def definitions(reading: Reading) -> list[tuple[str, str]]:
    """Every word that the report uses, with its meaning: measures first, then the words of tables, then the verdicts."""
    words = [(_term(column), _meaning(column)) for column in reading.main]
    words.append(("by chance", _sentence(COLUMNS["chance"])))
    if reading.scales:
        words.append(("k", "Number of nearest neighbors that make a neighborhood."))
    if any(row["conf_method"] for row in reading.rows):
        words.append(("95 % interval", _interval_words(reading)))
    if any(not math.isnan(row["worst"]) for row in reading.rows):
        ties = "Equal distances can be ordered in several ways; worst and best are over all of them."
        words.append(("ties", f"{ties} A verdict stands only where it holds for both."))
    if reading.tests:
        words += [
            ("p", _sentence(COLUMNS["p_value"])),
            ("adjusted p", _sentence(f"{COLUMNS['p_adjusted']}, by {reading.recipe.get('adjust') or 'nothing'}")),
            ("effect size", _sentence(COLUMNS["effect_size"])),
        ]
    return [*words, *_verdict_words(reading)]


def _term(column: Column) -> str:
    return column.title if column.title.endswith(column.symbol) else f"{column.title} {column.symbol}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _meaning(column: Column) -> str:
    """Question, direction, range and chance of a measure."""
    low, high = column.bounds
    if math.isfinite(low) and math.isfinite(high):
        span = f"from {low:g} to {high:g}"
    else:
        span = f"from {low:g} up" if math.isfinite(low) else "without bounds"
    chance = f"; {column.chance} by chance" if column.chance else ""
    return f"{column.question} {column.better_words.capitalize()}, {span}{chance}.".strip()


def _interval_words(reading: Reading) -> str:
    methods = ordered(sorted({row["conf_method"] for row in reading.rows if row["conf_method"]}))
    return f"Interval for the value, by {methods}."


def _verdict_words(reading: Reading) -> list[tuple[str, str]]:
    """The rules behind the words of the verdicts."""
    words = [
        ("most, about half", f"More than {100 * MOST:.0f} of 100, and between {100 * (1 - MOST):.0f} and that."),
        (
            "way from chance to a perfect copy",
            "0 % is the value by chance and 100 % that of a perfect copy; negative values are worse than chance.",
        ),
        (
            "close, mostly close, may be far",
            (
                f"The value covers {100 * HOLDS:.0f} % or more of the way from chance to perfect, {100 * MOSTLY:.0f} % "
                "or more, less."
            ),
        ),
        (
            "trust, distrust",
            (
                "What holds or mostly holds by these rules, and what fails or cannot be told from chance (“chance”); "
                "what lies between is left to the full text."
            ),
        ),
        (
            "keeps its shape, do not read",
            (
                f"{100 * WHOLE_HOLDS:.0f} % or more of the way from chance to perfect, and less than "
                f"{100 * WHOLE_FAILS:.0f} %."
            ),
        ),
        (
            "cannot be told from chance",
            (
                "The value is no better than chance, or its interval reaches chance. Where chance is perfect as well "
                "nothing is said."
            ),
        ),
    ]
    if len(reading.computed) > 1:
        words.append(("best, last, shares", "By the values as they are printed; equal in print is equal."))
        words.append(
            (
                "clearly, beats",
                (
                    "Paired tests tell it from every other embedding, or from the one named (adjusted p ≤ .05), and "
                    "where distances are equal no order of these lets another one reach it. Where no such tests were "
                    "run “clearly” says that no interval and no order of ties reaches another one."
                ),
            )
        )
    return words


def head_line(reading: Reading, dimensions: dict[str, int]) -> str:
    """What was evaluated, in one line."""
    recipe = reading.recipe
    shown = ordered([str(d) for d in sorted(set(dimensions.values()))])
    size = counted(int(recipe.get("n") or 0), "point") + f" in {counted(int(recipe.get('p') or 0), 'dimension')}"
    parts = [size + (f", shown in {shown}" if shown else "")]
    if reading.k is not None:
        more = f" (and {len(reading.scales) - 1} more)" if len(reading.scales) > 1 else ""
        parts.append(f"k = {reading.k}{more}")
    parts.append(str(recipe.get("metric") or ""))
    if recipe.get("anchors"):
        parts.append(f"seen from {counted(int(recipe['anchors']), 'anchor')}")
    some = any(row["conf_method"] for row in reading.rows)
    parts.append("95 % intervals" if some else "no intervals")
    seed = recipe.get("random_state")
    parts.append("" if seed is None else f"seed {seed}")
    return " · ".join(part for part in parts if part)
