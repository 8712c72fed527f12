"""Format numbers and names for every form of a report."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dreval.glossary import MARK, format_p, printable, spread, terminal_width, true_minus
from dreval.report.document import Block

# Numbers as the report prints them: one number of places for a column, and never a rounded 0 or 1 that is none.

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


# Short forms of long names: different names keep different ones, in tables and in figures.

ROOM = 60  # letters of a name on a page, but in its first table


def in_short(blocks: Sequence[Block], rooms: Sequence[int]) -> tuple[list[Block], dict[str, str]]:
    """The tables with names that fit, and what each short form in them stands for.

    The forms are made once, of all names of all tables and for the tightest of them, so that a form is one name
    wherever it stands; a table that has room for its names keeps them whole.
    """
    pairs = list(zip(blocks, rooms, strict=True))
    tight = [block for block, room in pairs if room < block.longest]
    if not tight:
        return list(blocks), {}
    short = distinct_short_names(
        [cell for block in blocks for cell in block.shortened],
        min(room for block, room in pairs if room < block.longest),
    )
    shown = [block.renamed(short) if room < block.longest else block for block, room in pairs]
    seen = dict.fromkeys(cell for block in tight for cell in block.shortened)
    return shown, {short[whole]: whole for whole in seen if short[whole] != whole}


def shortened(text: str, room: int) -> str:
    """The text without its middle, where it takes more columns of a terminal than there is room."""
    text = spread(text)
    tail = (room - 1) // 2
    made = text if len(text) <= room else f"{text[: room - 1 - tail]}…{text[len(text) - tail :].lstrip(MARK)}"
    return made.replace(MARK, "")


def _abbreviated(texts: Iterable[str], room: int, size: Callable[[str], float]) -> dict[str, str] | None:
    """All texts with the words of the long ones cut to as many letters as fit, numbers whole; None where none fit."""
    texts = list(texts)
    for letters, mark in ((7, "."), (6, "."), (5, "."), (4, "."), (3, "."), (3, "")):
        short = {text: text if size(text) <= room else _cut_words(text, letters, mark) for text in texts}
        if len(set(short.values())) == len(short) and all(size(made) <= room for made in short.values()):
            return short
    return None


def _cut_words(text: str, letters: int, mark: str) -> str:
    return re.sub(rf"[^\W\d_]{{{letters + 1 + len(mark)},}}", lambda word: f"{word[0][:letters]}{mark}", text)


def distinct_short_names(texts: Sequence[str], room: int) -> dict[str, str]:
    """Short forms of all texts, no two the same: with words cut, without what they have in common, or with a number.

    Examples
    --------
    >>> list(distinct_short_names(["perplexity=30, seed=0, exact", "perplexity=50, seed=0, exact"], 24).values())
    ['perpl.=30, seed=0, exact', 'perpl.=50, seed=0, exact']
    >>> distinct_short_names(["perplexity=30, seed=0, exact", "perplexity=50, seed=0, exact"], 12)
    {'perplexity=30, seed=0, exact': '…30, s…exact', 'perplexity=50, seed=0, exact': '…50, s…exact'}
    """
    if abbreviated := _abbreviated(texts, room, terminal_width):
        return abbreviated
    short = {text: shortened(text, room) for text in texts}
    for form in _repeated(short):
        group = [text for text in short if short[text] == form]
        letters = enumerate(zip(*group, strict=False))
        begin = next((i for i, some in letters if len(set(some)) > 1), min(map(len, group)))
        short |= {text: shortened(f"…{text[begin:]}", room) for text in group}
    again = _repeated(short)
    for place, text in enumerate(short, 1):
        if short[text] in again:
            short[text] = f"{place}: {shortened(text, room - len(str(place)) - 2)}"
    return short


def _repeated(short: dict[str, str]) -> list[str]:
    """Forms that more than one text has."""
    return [form for form, count in Counter(short.values()).items() if count > 1]


_BROAD = frozenset("MWmw@%—…")


def breadth(text: str) -> float:
    """How much room a text takes, in letters of average width."""
    wide = sum(0.7 for c in text if unicodedata.east_asian_width(c) in "WF")
    return len(text) + wide + sum(0.4 for c in text if c in _BROAD or c.isupper())


def short_name(name: Any, room: int = 22) -> str:
    """A name that takes the room of ``room`` letters of average width at most; its middle is left out."""
    text = printable(name)
    made = text
    for length in range(min(terminal_width(text), room), 4, -1):
        made = shortened(text, length)
        if breadth(made) <= room:
            break
    return made


def short_names(names: Iterable[str], room: int = 22) -> dict[str, str]:
    """Short forms of all names, no two the same: with words cut, or where only middles differ, with these."""
    names = list(names)
    whole = {name: printable(name) for name in names}
    if len(set(whole.values())) == len(whole) and (abbreviated := _abbreviated(whole.values(), room, breadth)):
        return {name: abbreviated[text] for name, text in whole.items()}
    short = {name: short_name(name, room) for name in names}
    for form in _repeated(short):
        group = [name for name in short if short[name] == form]
        whole = {name: printable(name) for name in group}
        start = _alike(list(whole.values()), 1)
        end = min(_alike([text[::-1] for text in whole.values()], -1), min(map(len, whole.values())) - start)
        head = min(room // 4, start)
        for name, text in whole.items():
            middle = short_name(text[start : len(text) - end], room - head - 2)
            before = f"{text[:head]}…" if start > head else text[:start]
            short[name] = f"{before}{middle}{'…' if end and middle else ''}"
    for text in _repeated(short):
        for place, name in enumerate(short):
            if short[name] == text:
                short[name] = f"{place + 1}: {short_name(name, room - 4)}"
    return short


def _alike(texts: list[str], step: int) -> int:
    """How many letters all texts begin with alike, up to the end of a word; of texts turned round with step -1."""
    columns = enumerate(zip(*texts, strict=False))
    count = next((i for i, letters in columns if len(set(letters)) > 1), min(map(len, texts)))
    word = max(texts[0].rfind(mark, 0, count) for mark in "_- /") + 1
    return max(word - (step < 0), 0) if count - word <= 12 else count
