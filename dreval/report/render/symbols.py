"""Symbols of the cards, such as ``rho_D`` and ``R_N,opt``, as every kind of text writes them: said here once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from dreval.registry import MEASURES

__all__ = ["html_symbols", "latex_symbols", "math_symbols", "plain_symbols"]

_GREEK = {"rho": "ρ", "tau": "τ"}
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_HIGH = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_PARTS = re.compile(r"([A-Za-z]+)(?:_([\w,]+)|\^?(\d+))?")  # letters, what stands low, what stands high


@cache
def _pattern() -> re.Pattern[str]:
    """Every symbol of a measure that is more than letters, the longer first; names of users are none of them."""
    known = sorted({card.symbol for card in MEASURES.cards() if not card.symbol.isalpha()}, key=lambda s: (-len(s), s))
    written = [re.escape(symbol) for symbol in known if _PARTS.fullmatch(symbol)]
    return re.compile(rf"(?<![\w$.])({'|'.join(written)}|[A-Z]\^\d)(?![\w=(])")


def _rewritten(text: str, write: Callable[[str, str, str], str]) -> str:
    """The text with each symbol written anew from its letters, what stands low and what stands high."""

    def one(found: re.Match[str]) -> str:
        parts = _PARTS.fullmatch(found.group(1))
        return write(*(part or "" for part in parts.groups())) if parts else found.group(1)

    return _pattern().sub(one, text) if "_" in text or "2" in text else text


def plain_symbols(text: str) -> str:
    """Text for a terminal: Greek letters, digits set low or high; letters that cannot stand low keep their mark.

    Examples
    --------
    >>> plain_symbols("Spearman correlation (rho_D), R_NX, S_0 and R^2")
    'Spearman correlation (ρ_D), R_NX, S₀ and R²'
    """

    def write(letters: str, low: str, high: str) -> str:
        base = _GREEK.get(letters, letters)
        return base + (low.translate(_LOW) if low.isdigit() else f"_{low}" if low else "") + high.translate(_HIGH)

    return _rewritten(text, write)


def html_symbols(text: str) -> str:
    """Escaped text for a page.

    Examples
    --------
    >>> html_symbols("rho_D, R2")
    'ρ<sub>D</sub>, R<sup>2</sup>'
    """

    def write(letters: str, low: str, high: str) -> str:
        base = _GREEK.get(letters, letters)
        return base + (f"<sub>{low}</sub>" if low else "") + (f"<sup>{high}</sup>" if high else "")

    return _rewritten(text, write)


def latex_symbols(text: str) -> str:
    r"""Text for LaTeX.

    Examples
    --------
    >>> latex_symbols("rho_D and R_N,opt")
    '$\\rho_{\\mathrm{D}}$ and $R_{\\mathrm{N,opt}}$'
    """

    def write(letters: str, low: str, high: str) -> str:
        base = f"\\{letters}" if letters in _GREEK else letters
        return f"${base}" + (f"_{{\\mathrm{{{low}}}}}" if low else "") + (f"^{{{high}}}" if high else "") + "$"

    return _rewritten(text, write)


def math_symbols(text: str) -> str:
    """Text for a figure whose text is parsed for mathematics; the letters keep the font of the words."""

    def write(letters: str, low: str, high: str) -> str:
        base = _GREEK.get(letters, letters)
        return base + (f"$_{{\\mathregular{{{low}}}}}$" if low else "") + (f"$^{{{high}}}$" if high else "")

    return _rewritten(text, write)
