"""Numbers as the report prints them: one number of places for a column, and never a rounded 0 or 1 that is none."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dreval.glossary import format_p, true_minus

ADJUSTMENTS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}
ROUNDING = 1e-12  # differences of values near 1 that are nothing but rounding
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def decimals_for(values: Iterable[float], bounds: Sequence[float] = (0.0, 1.0)) -> int:
    """Places behind the point for a column: three to five significant ones, and enough not to round onto a bound.

    What differs from a bound by the rounding of a computer is the bound.
    """
    finite = [abs(v) for v in values if math.isfinite(v)]
    largest = max(finite, default=1.0)
    power = math.floor(math.log10(largest)) if largest > ROUNDING else 0
    if power >= 1:
        return max(3 - power, 0)
    places = 3 if power >= -1 else min(2 - power, 8)
    ends = [b for b in bounds if math.isfinite(b)]
    while places < 5 and any(_rounds_onto(v, abs(b), places) for v in finite for b in ends):
        places += 1
    return places


def _rounds_onto(value: float, bound: float, places: int) -> bool:
    return abs(value - bound) > ROUNDING and fixed(value, places) == fixed(bound, places)


def fixed(value: float, places: int) -> str:
    """A number with that many places; a true minus sign, never minus zero; very large and small ones with a power."""
    if not math.isfinite(value):
        return "" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(value)
    text = (
        f"{value:.2e}"
        if size >= 1e7 or (places >= 8 and 0 < size < 10.0**-8)
        else f"{round(value, places) + 0.0:,.{places}f}"
    )
    return true_minus(text)


def plain_numbers(values: Sequence[float]) -> list[str]:
    """Evenly spaced numbers with the same places, as few as make them distinct; zero is 0.

    Very small and very large ones have a power of ten each, so that no power stands apart from them.

    Examples
    --------
    >>> plain_numbers([0.0, 0.0004, 0.0008]), plain_numbers([0.0, 2e-7])
    (['0', '0.0004', '0.0008'], ['0', '2e−7'])
    """
    largest = max(map(abs, values), default=0.0)
    if largest and not 1e-4 <= largest < 1e5:
        texts = [re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.3g}") if value else "0" for value in values]
    else:
        places = next((d for d in range(8) if all(abs(v - round(v, d)) < 1e-6 * largest for v in values)), 8)
        texts = [f"{value:,.{places}f}" if value else "0" for value in values]
    return [true_minus(text) for text in texts]


def half_width(value: float, low: float, high: float, places: int) -> str:
    """An interval beside its value: ``± half`` where it is symmetric in print, else both ends."""
    below, above = value - low, high - value
    unit = 10.0**-places
    if min(below, above) >= 0 and abs(below - above) < unit / 2:
        width = (below + above) / 2
        if width >= unit / 2:
            return f"± {without_zero(fixed(width, places))}"
        return "± 0" if width == 0 else f"± <{without_zero(fixed(unit, places))}"
    return f"{fixed(low, places)} to {fixed(high, places)}"


def without_zero(number: str) -> str:
    """A number below one without the zero before the point, to be short.

    Examples
    --------
    >>> without_zero("0.25"), without_zero("−0.02"), without_zero("10.5"), without_zero("0")
    ('.25', '−.02', '10.5', '0')
    """
    return re.sub(r"(?<![\d.])0(?=\.\d)", "", number)


def of_hundred(share: float, more: int = 0) -> str:
    """A share in percent, with some more places; shares that are not 0 or 1 are not rounded onto them.

    Examples
    --------
    >>> of_hundred(0.634), of_hundred(0.634, 1), of_hundred(0.9999), of_hundred(0.00025), of_hundred(1e-9)
    ('63', '63.4', 'more than 99', '0.03', 'less than 0.001')
    """
    percent = 100 * share
    if 0 < percent <= 0.5:
        return f"{percent:.{1 + more}g}" if percent >= 0.001 else "less than 0.001"
    return "more than 99" if share < 1 and round(percent, more) == 100 else f"{percent:.{more}f}"


def probability(p: float, alpha: float = 0.05) -> str:
    """A p-value in a table, as ``format_p`` writes it beside its level; 1 without places."""
    if math.isnan(p):
        return "—"
    return format_p(p, alpha) if p < 1 else "1"


def p_words(p: float, alpha: float = 0.05) -> str:
    """A p-value in a sentence."""
    text = probability(p, alpha)
    return f"p < {text[1:].strip()}" if text.startswith("<") else f"p = {text}"


def decisive_p(row: Mapping[str, Any]) -> str:
    """The p of a test that decides, in a sentence: the adjusted one where there is one, and which it is."""
    adjusted = float(row["p_adjusted"])
    return p_words(float(row["p_value"])) if math.isnan(adjusted) else f"adjusted {p_words(adjusted)}"


def adjusted_by(adjust: str | None) -> str:
    """How p-values were adjusted, behind "p"; ``adjust`` is what the recipe says."""
    return f"adjusted by {ADJUSTMENTS[adjust]}" if adjust in ADJUSTMENTS else "not adjusted"


def in_words(count: int) -> str:
    """A small number as a word."""
    return _WORDS[count] if 0 <= count < len(_WORDS) else f"{count:,}"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def ordered(words: Sequence[str]) -> str:
    """Words as a list in a sentence: "a, b and c"."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else ""
