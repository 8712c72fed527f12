"""Numbers and texts as they are printed."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

WIDE_MARK = "\x00"  # follows a character that takes two columns of a terminal, so that lengths are widths
# wcwidth would be a dependency only for emoji sequences and marks that do not compose.
BLANKED = ("Cc", "Cs", "Zl", "Zp")  # categories of characters that are replaced by spaces
DIRECTION_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# Invisible characters, with which two different names look equal: soft hyphens, zero-width spaces, byte-order marks,
# signs of formulas, annotations and tags. Joiners are not among them, since scripts and emoji need them.
UNSEEN = "\u00ad\u034f\u180e\u200b\u2060\u2061\u2062\u2063\u2064\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
UNSEEN += "\ufff9\ufffa\ufffb" + "".join(map(chr, range(0xE0000, 0xE0080)))
ROUNDING = 1e-12  # differences of values near 1 that are nothing but rounding
MAX_DECIMALS = 4  # of a number with some significant digits
MAX_P_PLACES = 12  # of a p-value that is close to the level


def printable(value: Any, keep: str = "") -> str:
    r"""Return a value as text that can be printed and encoded safely.

    Control characters (escapes, line ends), surrogates and non-characters become spaces; direction marks and invisible
    characters are removed. Characters in ``keep`` stay.

    Examples
    --------
    >>> printable("a\x1b[31m\ufeffb\u202ec\n")
    'a [31mbc '
    """
    text = str(value)
    if text.isascii() and text.isprintable():
        return text
    spaces = {c for c in set(text) - set(keep) if unicodedata.category(c) in BLANKED or ord(c) & 0xFFFE == 0xFFFE}
    removed = DIRECTION_MARKS + UNSEEN
    return text.translate({**dict.fromkeys(map(ord, spaces), " "), **dict.fromkeys(map(ord, removed), "")})


def pad_wide_characters(text: str) -> str:
    """Return a text with as many characters as columns: a mark follows each wide letter, accents are composed."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    return "".join(c + WIDE_MARK if unicodedata.east_asian_width(c) in "WF" else c for c in text)


def terminal_width(text: str) -> int:
    """Return the number of columns of a terminal that a text takes."""
    return len(pad_wide_characters(text))


# Numbers: a column has one number of decimals, and no value is rounded to 0 or 1.


def true_minus(number: str) -> str:
    """Return a printed number with a minus sign in place of a hyphen."""
    return number.replace("-", "\N{MINUS SIGN}")


def format_number(value: Any, digits: int = 4) -> str:
    """Return a number with ``digits`` places after the point, in scientific notation only if necessary."""
    if value is None or value != value:
        return ""
    if isinstance(value, int):
        return true_minus(f"{value:,}")
    size = abs(value)
    if size != 0 and (size >= 1e6 or size < 10.0**-digits):
        return true_minus(f"{value:.{max(digits - 1, 1)}e}")
    return true_minus(f"{round(value, digits) + 0.0:.{digits}f}")


def format_p(p: float, alpha: float = 0.05) -> str:
    """Return a p-value with three places, as a bound if it is small.

    A p-value that rounds to the level of the test, but differs from it, has as many places as show the difference.

    Examples
    --------
    >>> format_p(0.0312), format_p(0.00012), format_p(0.05012), format_p(0.05), format_p(0.0005, alpha=0.0001)
    ('.031', '<.001', '.0501', '.050', '.0005')
    """
    if p != p:
        return ""
    bound = min(0.001, alpha)
    if p < bound:
        return f"<{bound:.6f}".rstrip("0").replace("0.", ".", 1)
    places = 3 if p >= 0.001 else -math.floor(math.log10(p))
    while places < MAX_P_PLACES and p != alpha and f"{p:.{places}f}" == f"{alpha:.{places}f}":
        places += 1
    return f"{p:.{places}f}".removeprefix("0")


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
