"""Format numbers and names for every form of a report."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from dreval._check import function_name
from dreval.glossary import WIDE_MARK, format_p, pad_wide_characters, printable, terminal_width, true_minus
from dreval.registry import TESTS

# Numbers of a report: a column has one number of decimals, and no value is rounded to 0 or 1.

ADJUSTMENTS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}
MAX_NAME_BREADTH = 24  # letters of average width of a name on a page; longer ones are shortened in the middle
ROUNDING = 1e-12  # differences of values near 1 that are nothing but rounding
MAX_DECIMALS = 4  # of a number with some significant digits
MAX_ABBREVIATION = 4  # letters of a test's name that is an abbreviation
_NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def test_name(name: str) -> str:
    """Return the name of a test as it is printed: short names are abbreviations, and a test of a number has a title."""
    if name in TESTS and TESTS.card(name).second == "number":
        return str(TESTS.card(name).title)
    return name.upper() if len(name) <= MAX_ABBREVIATION else name


def decimals_for(values: Iterable[float], bounds: Sequence[float] = (0.0, 1.0)) -> int:
    """Return the decimals of a column: three to five significant ones, and enough not to round onto a bound.

    A value that differs from a bound by floating-point rounding counts as the bound.
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
    return abs(value - bound) > ROUNDING and format_fixed(value, places) == format_fixed(bound, places)


def format_fixed(value: float, places: int) -> str:
    """Return a number with these decimals, with a true minus sign; very large and small numbers have a power of ten."""
    if not math.isfinite(value):
        return "" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(value)
    text = (
        f"{value:.2e}"
        if size >= 1e7 or (places >= 8 and 0 < size < 10.0**-8)
        else f"{_round_half_up(value, places):,.{places}f}"
    )
    return true_minus(text)


def _round_half_up(value: float, places: int) -> Decimal:
    """Return a rounded number, never a negative zero; half a unit is rounded away from zero, as a reader does."""
    return Decimal(f"{value:.14g}").quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) + 0


def plain_numbers(values: Sequence[float]) -> list[str]:
    """Return evenly spaced numbers with the same decimals, as few as make them distinct; zero is 0.

    Very small and very large numbers have a power of ten each, so that the axis has no common power.

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
    """Return an interval for use after its value: ``± half`` where it is symmetric in print, else both ends."""
    below, above = value - low, high - value
    unit = 10.0**-places
    if min(below, above) >= 0 and abs(below - above) < unit / 2:
        width = (below + above) / 2
        if width >= unit / 2:
            return f"± {without_zero(format_fixed(width, places))}"
        return "± 0" if width == 0 else f"± <{without_zero(format_fixed(unit, places))}"
    return f"{format_fixed(low, places)} to {format_fixed(high, places)}"


def keep_equations(text: str, blank: str = "\u00a0") -> str:
    """Return text whose equations and percentages, as "k = 15" and "63 %", have another blank, where no line breaks.

    Examples
    --------
    >>> keep_equations("best (p = .03, k = 10), a <b>, 63 %", "~")
    'best (p~=~.03, k~=~10), a <b>, 63~%'
    """
    text = re.sub(r"(?<=\d) %", f"{blank}%", text)
    return re.sub(r"(?<=\w) ([=<≤≥]) (?=\S)", rf"{blank}\1{blank}", text)


def without_zero(number: str) -> str:
    """Return a number below one without the zero before the point, to be short.

    Examples
    --------
    >>> without_zero("0.25"), without_zero("−0.02"), without_zero("10.5"), without_zero("0")
    ('.25', '−.02', '10.5', '0')
    """
    return re.sub(r"(?<![\d.])0(?=\.\d)", "", number)


def percent(share: float, extra_decimals: int = 0) -> str:
    """Return a share in percent, with extra decimals; shares that are not 0 or 1 are not rounded onto them.

    Examples
    --------
    >>> percent(0.634), percent(0.634, 1), percent(0.9999), percent(0.00025), percent(1e-9)
    ('63', '63.4', 'more than 99', '0.03', 'less than 0.001')
    """
    value = 100 * share
    if 0 < value <= 0.5:
        return f"{value:.{1 + extra_decimals}g}" if value >= 0.001 else "less than 0.001"
    text = f"{_round_half_up(value, extra_decimals):f}"
    return "more than 99" if share < 1 and float(text) == 100 else text


def significant(value: float, digits: int) -> str:
    """Return a number with some significant digits, at most four decimals, and no zero before the point.

    Examples
    --------
    >>> significant(0.12345, 2), significant(12.345, 3), significant(1.0, 2), significant(0.00001, 2)
    ('.12', '12.3', '1.0', '<.0001')
    >>> significant(0.99999, 3), significant(1.0, 3)
    ('1.00', '1.00')
    """
    size = abs(value)
    if value != value or size >= 1e6:
        return true_minus(f"{value:.{digits - 1}e}")
    if 0 < size < 0.5 * 10**-MAX_DECIMALS:
        return f"<{without_zero(f'{10**-MAX_DECIMALS:.{MAX_DECIMALS}f}')}" if value > 0 else "0"
    rounded = float(f"{size:.{digits - 1}e}")  # .9999 with two digits is 1.0
    power = math.floor(math.log10(rounded)) if size else digits - 1
    places = min(max(digits - 1 - power, 0), MAX_DECIMALS)
    return without_zero(true_minus(f"{value:,.{places}f}"))


def probability(p: float, alpha: float = 0.05) -> str:
    """Return a p-value for a table, as ``format_p`` writes it for this level; 1 without decimals."""
    if math.isnan(p):
        return "—"
    return format_p(p, alpha) if p < 1 else "1"


def p_text(p: float, alpha: float = 0.05, *, at_most: bool = False) -> str:
    """Return a p-value within a sentence, or (``at_most``) the largest of several."""
    text = probability(p, alpha)
    return f"p < {text[1:].strip()}" if text.startswith("<") else f"p {'≤' if at_most else '='} {text}"


def decisive_p(row: Mapping[str, Any]) -> str:
    """Return the p of a test that decides, within a sentence: the adjusted one where there is one."""
    adjusted = float(row["p_adjusted"])
    return p_text(float(row["p_value"])) if math.isnan(adjusted) else f"adjusted {p_text(adjusted)}"


def adjusted_by(adjust: str | None) -> str:
    """Return the adjustment of p-values, for use after "p"; ``adjust`` is the entry of the recipe."""
    return f"adjusted by {ADJUSTMENTS[adjust]}" if adjust in ADJUSTMENTS else "not adjusted"


def number_word(count: int) -> str:
    """Return a small number as a word."""
    return _NUMBER_WORDS[count] if 0 <= count < len(_NUMBER_WORDS) else f"{count:,}"


def count_noun(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def join_and(items: Sequence[str]) -> str:
    """Return items as a list in a sentence: "a, b and c"."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1] if items else ""


# Short forms of long names: different names keep different ones, in tables and in figures.

MAX_NAME_LETTERS = 60  # letters of a name on a page, but in its first table


def shorten_middle(text: str, max_columns: int) -> str:
    """Return the text without its middle, where it takes more than ``max_columns`` columns of a terminal."""
    text = pad_wide_characters(text)
    tail = (max_columns - 1) // 2
    short = (
        text
        if len(text) <= max_columns
        else f"{text[: max_columns - 1 - tail]}…{text[len(text) - tail :].lstrip(WIDE_MARK)}"
    )
    return short.replace(WIDE_MARK, "")


def _abbreviate_words(texts: Iterable[str], max_size: int, size: Callable[[str], float]) -> dict[str, str] | None:
    """Return all texts with the words of long ones cut to as many letters as fit; None where none fit."""
    texts = list(texts)
    for letters, mark in ((7, "."), (6, "."), (5, "."), (4, "."), (3, "."), (3, "")):
        short = {text: text if size(text) <= max_size else _cut_words(text, letters, mark) for text in texts}
        if len(set(short.values())) == len(short) and all(size(form) <= max_size for form in short.values()):
            return short
    return None


def _cut_words(text: str, letters: int, mark: str) -> str:
    return re.sub(rf"[^\W\d_]{{{letters + 1 + len(mark)},}}", lambda word: f"{word[0][:letters]}{mark}", text)


def distinct_short_names(texts: Sequence[str], max_columns: int) -> dict[str, str]:
    """Return distinct short forms of all texts: with words cut, without a common start, or with a number.

    Examples
    --------
    >>> list(distinct_short_names(["perplexity=30, seed=0, exact", "perplexity=50, seed=0, exact"], 24).values())
    ['perpl.=30, seed=0, exact', 'perpl.=50, seed=0, exact']
    >>> distinct_short_names(["perplexity=30, seed=0, exact", "perplexity=50, seed=0, exact"], 12)
    {'perplexity=30, seed=0, exact': '…30, s…exact', 'perplexity=50, seed=0, exact': '…50, s…exact'}
    """
    if abbreviated := _abbreviate_words(texts, max_columns, terminal_width):
        return abbreviated
    short = {text: shorten_middle(text, max_columns) for text in texts}
    for form in _repeated_forms(short):
        group = [text for text in short if short[text] == form]
        letters = enumerate(zip(*group, strict=False))
        begin = next((i for i, letters_at in letters if len(set(letters_at)) > 1), min(map(len, group)))
        short |= {text: shorten_middle(f"…{text[begin:]}", max_columns) for text in group}
    repeated = _repeated_forms(short)
    for place, text in enumerate(short, 1):
        if short[text] in repeated:
            short[text] = f"{place}: {shorten_middle(text, max_columns - len(str(place)) - 2)}"
    return short


def _repeated_forms(short: dict[str, str]) -> list[str]:
    """Return forms that more than one text has."""
    return [form for form, count in Counter(short.values()).items() if count > 1]


_BROAD_LETTERS = frozenset("MWmw@%—…")


def text_breadth(text: str) -> float:
    """Return the breadth of a text, in letters of average width."""
    wide = sum(0.7 for c in text if unicodedata.east_asian_width(c) in "WF")
    return len(text) + wide + sum(0.4 for c in text if c in _BROAD_LETTERS or c.isupper())


def short_name(name: Any, max_breadth: int = 22) -> str:
    """Return a name of at most ``max_breadth`` letters of average width; its middle is left out."""
    text = printable(name)
    short = text
    for length in range(min(terminal_width(text), max_breadth), 4, -1):
        short = shorten_middle(text, length)
        if text_breadth(short) <= max_breadth:
            break
    return short


def short_names(names: Iterable[str], max_breadth: int = 22) -> dict[str, str]:
    """Return distinct short forms of all names: with words cut, or where only middles differ, with these."""
    names = list(names)
    full = {name: printable(name) for name in names}
    if len(set(full.values())) == len(full) and (
        abbreviated := _abbreviate_words(full.values(), max_breadth, text_breadth)
    ):
        return {name: abbreviated[text] for name, text in full.items()}
    short = {name: short_name(name, max_breadth) for name in names}
    for form in _repeated_forms(short):
        group = [name for name in short if short[name] == form]
        full = {name: printable(name) for name in group}
        start = _common_start(list(full.values()), 1)
        end = min(_common_start([text[::-1] for text in full.values()], -1), min(map(len, full.values())) - start)
        head = min(max_breadth // 4, start)
        for name, text in full.items():
            middle = short_name(text[start : len(text) - end], max_breadth - head - 2)
            before = f"{text[:head]}…" if start > head else text[:start]
            short[name] = f"{before}{middle}{'…' if end and middle else ''}"
    for text in _repeated_forms(short):
        for place, name in enumerate(short):
            if short[name] == text:
                short[name] = f"{place + 1}: {short_name(name, max_breadth - 4)}"
    return short


def _common_start(texts: list[str], step: int) -> int:
    """Return the length of the common start, up to the end of a word; of reversed texts with step -1."""
    columns = enumerate(zip(*texts, strict=False))
    count = next((i for i, letters in columns if len(set(letters)) > 1), min(map(len, texts)))
    word = max(texts[0].rfind(separator, 0, count) for separator in "_- /") + 1
    return max(word - (step < 0), 0) if count - word <= 12 else count


def setting_text(setting: Mapping[str, Any]) -> str:
    """Return one setting: "n_neighbors = 10, min_dist = 0.1"."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in setting.items()) or "defaults"


def value_text(value: Any) -> str:
    """Return a value of an option, short."""
    text = function_name(value, "") or (value if isinstance(value, str) else repr(value))
    text = f"{value:.6g}" if isinstance(value, float) and len(text) > 8 else text
    return text if len(text) <= 24 else f"{text[:23]}…"
