"""Text in every form: escapes, and the symbols of the cards."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import chain, groupby
from typing import Any

from dreval._text import printable
from dreval.registry import MEASURES

ISOLATED_NAME = re.compile("\u2068(.*?)\u2069")  # a name of the user within a sentence, between marks of its direction
_MARKDOWN = str.maketrans({**{mark: f"\\{mark}" for mark in "\\`*_[]#|~$"}, "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_BLOCK = re.compile(r"^(?=[-+] )|(?<=^\d)(?=[.)] )")  # what begins a list
_COMMANDS = {mark: f"\\{mark}" for mark in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\string" + '"',  # babel may have made it a command
    "\u00a0": "~",
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "≠": r"\ensuremath{\neq}",
    "≈": r"\ensuremath{\approx}",
    "∞": r"\ensuremath{\infty}",
    "●": r"\ensuremath{\bullet}",
}
_LIGATURES = "-',"  # two of these are set as one
_LATEX_RANGES = (  # what LaTeX knows of itself, in its first font encoding and in T1
    (0x20, 0x7E), (0xA1, 0xAA), (0xAC, 0xBA), (0xBC, 0xCF), (0xD1, 0xDD), (0xDF, 0xEF), (0xF1, 0xFD), (0xFF, 0x103),
    (0x106, 0x10F), (0x112, 0x117), (0x11A, 0x125), (0x128, 0x12D), (0x130, 0x137), (0x139, 0x13E), (0x141, 0x148),
    (0x14C, 0x165), (0x168, 0x171), (0x174, 0x17E), (0x218, 0x21B), (0x2010, 0x2015), (0x2018, 0x2019),
    (0x201C, 0x201D), (0x2020, 0x2022), (0x2026, 0x2026), (0x2030, 0x2030), (0x20AC, 0x20AC), (0x2122, 0x2122),
    (0x2190, 0x2193),
)  # fmt: skip
_LATEX_LETTERS = frozenset(map(chr, chain.from_iterable(range(low, high + 1) for low, high in _LATEX_RANGES)))
_UPRIGHT_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΧο"  # Greek letters that mathematics writes as Latin ones
BREAK_AFTER_LETTERS = 10  # letters after which a long word may break at a mark, and twice as many after which anywhere


def isolate_name(name: Any) -> str:
    """Return a name of the user between direction marks, by which ``sentence`` recognizes it."""
    return f"\u2068{printable(name)}\u2069"


def sentence(text: str, name: Callable[[str], str] = str, text_part: Callable[[str], str] = str) -> str:
    """Return a sentence with its names written by one function and its other text by another.

    Examples
    --------
    >>> sentence(f"{isolate_name('R_N')} by R_N", text_part=plain_symbols, name=str.upper)
    'R_N by R_N'
    >>> sentence(f"{isolate_name('a')}.")
    'a.'
    """
    return "".join(name(part) if i % 2 else text_part(part) for i, part in enumerate(ISOLATED_NAME.split(text)))


def markdown_text(value: Any) -> str:
    r"""Return text in one line that Markdown shows unchanged.

    Examples
    --------
    >>> print(markdown_text("a_b | <c> & *d*"))
    a\_b \| &lt;c&gt; &amp; \*d\*
    """
    return _BLOCK.sub(r"\\", " ".join(printable(value).split()).translate(_MARKDOWN))


def latex_text(value: Any, breaks: bool = False, code: bool = False) -> str:
    r"""Return text in one line that LaTeX shows unchanged; its long words may break with ``breaks``.

    Letters that pdfLaTeX does not know by itself are left to XeLaTeX and LuaLaTeX; pdfLaTeX shows their code points.
    In ``code`` quotation marks stay straight.

    Examples
    --------
    >>> print(latex_text("a_b & 50 % of ρ"))
    a\_b \& 50 \% of \ensuremath{\rho}
    >>> print(latex_text("嵌入"))
    \ifdefined\pdftexversion\texttt{U+5D4C U+5165}\else 嵌入\fi{}
    """
    text = " ".join(filter(None, re.split(r"[^\S\u00a0]+", unicodedata.normalize("NFC", printable(value)))))
    pieces, run, unknown_run = [], 0, ""
    for place, letter in enumerate(text):
        piece = _latex_letter(letter, text[place + 1 : place + 2], code)
        if piece is None:
            unknown_run += letter
            continue
        pieces += [_unknown_letters(unknown_run)] if unknown_run else []
        unknown_run, run = "", 0 if letter == " " else run + 1
        pieces.append(piece)
        if breaks and (run >= 2 * BREAK_AFTER_LETTERS or (run >= BREAK_AFTER_LETTERS and not letter.isalnum())):
            pieces.append(r"\allowbreak{}")
            run = 0
    return "".join(pieces) + (_unknown_letters(unknown_run) if unknown_run else "")


def _latex_letter(letter: str, following: str, code: bool) -> str | None:
    """Return one letter for LaTeX; None where LaTeX does not know it."""
    if code and letter == "'":
        return r"\textquotesingle{}"
    if letter in _LIGATURES and letter == following:
        return letter + "{}"
    if letter in _COMMANDS:
        return _COMMANDS[letter]
    return letter if letter in _LATEX_LETTERS else _math_letter(letter)


def _math_letter(letter: str) -> str | None:
    """Return a Greek letter, or a subscript or superscript digit, for LaTeX."""
    name = unicodedata.name(letter, "").split()
    if name[:1] == ["GREEK"] and name[2:3] == ["LETTER"] and len(name) == 4 and letter not in _UPRIGHT_GREEK:
        word = {"LAMDA": "lambda"}.get(name[3], name[3].lower())
        return rf"\ensuremath{{\{word if name[1] == 'SMALL' else word.capitalize()}}}" if word != "omicron" else None
    kind, _, digit = unicodedata.decomposition(letter).partition(" ")
    if kind in ("<sub>", "<super>") and chr(int(digit.split()[0], 16)).isdigit():
        return rf"\text{kind[1:-1]}script{{{chr(int(digit, 16))}}}"
    return None


def _unknown_letters(letters: str) -> str:
    """Return letters that pdfLaTeX does not know, with their code points for it."""
    return rf"\ifdefined\pdftexversion\texttt{{{_code_points(letters)}}}\else {letters}\fi{{}}"


def _code_points(letters: str) -> str:
    return " ".join(f"U+{ord(letter):04X}" for letter in letters)


def with_code_points(text: str) -> str:
    """Return the text with code points for letters that pdfLaTeX does not know, for computing its width.

    Examples
    --------
    >>> with_code_points("größe 嵌入")
    'größe U+5D4C U+5165'
    """
    parts = groupby(unicodedata.normalize("NFC", text), lambda letter: _latex_letter(letter, "", False) is None)
    return "".join(_code_points("".join(part)) if unknown else "".join(part) for unknown, part in parts)


_GREEK = {"rho": "ρ", "tau": "τ"}
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_HIGH = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SYMBOL_PARTS = re.compile(r"([A-Za-z]+)(?:_([\w,]+)|\^?(\d+))?")  # letters, subscript, superscript


@cache
def _symbol_pattern() -> re.Pattern[str]:
    """Return the pattern of all symbols of measures that are more than letters, the longer first."""
    symbols = sorted(
        {card.symbol for card in MEASURES.cards() if not card.symbol.isalpha()}, key=lambda s: (-len(s), s)
    )
    patterns = [re.escape(symbol) for symbol in symbols if _SYMBOL_PARTS.fullmatch(symbol)]
    return re.compile(rf"(?<![\w$.])({'|'.join(patterns)}|[A-Z]\^\d)(?![\w=(])")


def _rewrite_symbols(text: str, write: Callable[[str, str, str], str]) -> str:
    """Return the text with each symbol rewritten from its letters, its subscript and its superscript."""

    def rewrite(match: re.Match[str]) -> str:
        parts = _SYMBOL_PARTS.fullmatch(match.group(1))
        return write(*(part or "" for part in parts.groups())) if parts else match.group(1)

    return _symbol_pattern().sub(rewrite, text) if "_" in text or "2" in text else text


def plain_symbols(text: str) -> str:
    """Return text for a terminal: Greek letters, and digits as subscripts or superscripts; other subscripts keep "_".

    Examples
    --------
    >>> plain_symbols("Spearman correlation (rho_D), R_NX, S_0 and R^2")
    'Spearman correlation (ρ_D), R_NX, S₀ and R²'
    """

    def write(letters: str, low: str, high: str) -> str:
        base = _GREEK.get(letters, letters)
        return base + (low.translate(_LOW) if low.isdigit() else f"_{low}" if low else "") + high.translate(_HIGH)

    return _rewrite_symbols(text, write)


def html_symbols(text: str) -> str:
    """Return escaped text for a page, with subscripts and superscripts.

    Examples
    --------
    >>> html_symbols("rho_D, R2")
    'ρ<sub>D</sub>, R<sup>2</sup>'
    """

    def write(letters: str, low: str, high: str) -> str:
        base = _GREEK.get(letters, letters)
        return base + (f"<sub>{low}</sub>" if low else "") + (f"<sup>{high}</sup>" if high else "")

    return _rewrite_symbols(text, write)


def latex_symbols(text: str) -> str:
    r"""Return text for LaTeX, with symbols as formulas.

    Examples
    --------
    >>> latex_symbols("rho_D and R_N,opt")
    '$\\rho_{\\mathrm{D}}$ and $R_{\\mathrm{N,opt}}$'
    """

    def write(letters: str, low: str, high: str) -> str:
        base = f"\\{letters}" if letters in _GREEK else letters
        return f"${base}" + (f"_{{\\mathrm{{{low}}}}}" if low else "") + (f"^{{{high}}}" if high else "") + "$"

    return _rewrite_symbols(text, write)


def math_symbols(text: str) -> str:
    """Return text for a figure whose text is parsed for mathematics; the letters keep the font of the text."""

    def write(letters: str, low: str, high: str) -> str:
        base = _GREEK.get(letters, letters)
        return base + (f"$_{{\\mathregular{{{low}}}}}$" if low else "") + (f"$^{{{high}}}$" if high else "")

    return _rewrite_symbols(text, write)
