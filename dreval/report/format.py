"""Words and names for every form of a report: counts, lists, and short forms of long names."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dreval._check import function_name
from dreval._text import WIDE_MARK, p_text, pad_wide_characters, printable, terminal_width
from dreval.registry import TESTS

ADJUSTMENTS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}
MAX_NAME_BREADTH = 24  # letters of average width of a name on a page; longer ones are shortened in the middle
MAX_ABBREVIATION = 4  # letters of a test's name that is an abbreviation
_NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def test_name(name: str) -> str:
    """Return the name of a test as it is printed: short names are abbreviations, and a test of a number has a title."""
    if name in TESTS and TESTS.card(name).second == "number":
        return str(TESTS.card(name).title)
    return name.upper() if len(name) <= MAX_ABBREVIATION else name


def keep_equations(text: str, blank: str = "\u00a0") -> str:
    """Return text whose equations and percentages, as "k = 15" and "63 %", have another blank, where no line breaks.

    Examples
    --------
    >>> keep_equations("best (p = .03, k = 10), a <b>, 63 %", "~")
    'best (p~=~.03, k~=~10), a <b>, 63~%'
    """
    text = re.sub(r"(?<=\d) %", f"{blank}%", text)
    return re.sub(r"(?<=\w) ([=<≤≥]) (?=\S)", rf"{blank}\1{blank}", text)


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
