"""Words as reStructuredText: titles, tables, raw pieces of a page, and files that change only when their text does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from dreval.glossary import COLUMNS
from dreval.registry import MEASURES, METHODS, TESTS

_MARKUP = re.compile(r"([\\*`|_])")
_PIECE = re.compile(
    r"(?<![\w\\])(?P<base>[A-Za-z]|sum|prod|max|min|AUC|log)_"
    r"(?P<low>\{[^}]*\}|[A-Za-z0-9]{1,3}(?:,opt)?|class)(?![A-Za-z0-9_])"
    r"|(?P<power>(?<=[\w)\]|}])\^(?P<high>\{[^}]*\}|-?[\w']+))"
    r"|(?P<sign>>=|<=|!=|\bsum(?= ))"
)
_INSIDE = {"<=": "≤", ">=": "≥", "!=": "≠", " in ": " ∈ "}
_SIGNS = {">=": "≥", "<=": "≤", "!=": "≠", "sum": "∑", "prod": "∏"}


def plain(text: str) -> str:
    """Text of a card on one line, no letter of which is read as markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Text as it is typed."""
    return f"``{text}``"


def symbol_html(symbol: str) -> str:
    """A symbol such as R_N,opt with its measure set low."""
    head, low, measure = symbol.partition("_")
    return f"<i>{head}</i><sub>{measure}</sub>" if low else f"<i>{head}</i>"


def card_fields(card: object, *left_out: str) -> dict[str, str]:
    """What a card says of a thing, name by name, read off the lines that it prints."""
    entries: dict[str, str] = {}
    name = ""
    for line in repr(card).splitlines()[1:]:
        if line.startswith("      "):
            entries[name] += f" {line.strip()}"
        else:
            name, _, words = line.strip().partition(": ")
            entries[name] = words
    return {name: plain(words) for name, words in entries.items() if name not in left_out}


def title(text: str, mark: str = "=") -> str:
    """A heading; ``mark`` underlines it."""
    return f"{text}\n{mark * max(len(text), 4)}\n"


def fields(entries: Mapping[str, str]) -> str:
    """A list of names and what they are; empty ones are left out."""
    return "\n".join(f":{name}: {text}" for name, text in entries.items() if text) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], widths: str = "auto") -> str:
    """A table of cells that are markup already."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in (columns, *rows):
        lines += [f"   {'*' if place == 0 else ' '} - {cell}" for place, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def raw(html: str) -> str:
    """A piece of a page that is HTML already."""
    return ".. raw:: html\n\n" + "\n".join(f"   {line}" for line in html.splitlines()) + "\n"


def toctree(pages: Iterable[str], option: str) -> str:
    """The pages below one page; the option is ``hidden:`` or ``maxdepth: 1``."""
    return "\n".join([".. toctree::", f"   :{option}", "", *(f"   {page}" for page in pages)]) + "\n"


def page(*pieces: str) -> str:
    """Pieces with an empty line between."""
    return "\n\n".join(piece.strip("\n") for piece in pieces if piece) + "\n"


def write(path: Path, text: str) -> Path:
    """Write a page unless it says the same already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
    return path


@cache
def _names() -> frozenset[str]:
    """What looks like a formula and is a name, as ``r_nx`` or ``k_max``."""
    return frozenset((*MEASURES, *METHODS, *TESTS, *COLUMNS))


def _inside(low: str) -> str:
    """What stands low, with its own signs."""
    return re.sub("|".join(_INSIDE), lambda sign: _INSIDE[sign[0]], low.strip("{}"))


def formula_pieces(text: str) -> list[tuple[str, str]]:
    """Plain text in pieces: ``("low", ...)`` for a measure, ``("high", ...)`` for a power, and ``("", ...)``.

    Examples
    --------
    >>> formula_pieces("a r_ij^2 >= 0")
    [('', 'a '), ('', 'r'), ('low', 'ij'), ('high', '2'), ('', ' '), ('', '≥'), ('', ' 0')]
    """
    found: list[tuple[str, str]] = []
    end = 0
    for piece in _PIECE.finditer(text):
        if piece[0] in _names():
            continue
        found.append(("", text[end : piece.start()]))
        if piece["sign"]:
            found.append(("", _SIGNS[piece["sign"]]))
        elif piece["power"]:
            found.append(("high", piece["high"].strip("{}")))
        else:
            found += [("", _SIGNS.get(piece["base"], piece["base"])), ("low", _inside(piece["low"]))]
        end = piece.end()
    return [(kind, part) for kind, part in [*found, ("", text[end:])] if part]
