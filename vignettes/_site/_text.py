"""Text of the reference pages: reStructuredText, docstrings kept from being read as markup, figures described."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dreval.glossary import COLUMNS
from dreval.registry import FIGURES, MEASURES, METHODS, TESTS
from dreval.report.render.markup import html_symbols

_MARKUP = re.compile(r"([\\*`|_])")
_PIECE = re.compile(
    r"(?<![\w\\])(?P<base>[A-Za-z]|sum|prod|max|min|AUC|log)_"
    r"(?P<low>\{[^}]*\}|[A-Za-z0-9]{1,3}(?:,opt)?|class)(?![A-Za-z0-9_])"
    r"|(?P<power>(?<=[\w)\]|}])\^(?P<high>\{[^}]*\}|-?[\w']+))"
    r"|(?P<sign>>=|<=|!=)"
)
_INSIDE = {"<=": "≤", ">=": "≥", "!=": "≠", " in ": " ∈ "}
_CODE = re.compile(r"(``.*?``|:[a-z]+:`[^`]*`|`[^`]*`_*)")
_UNDERSCORE = re.compile(r"(?<=\w)_(?=$|[\s.,;:)\]'])")
_SIGNS = {">=": "≥", "<=": "≤", "!=": "≠", "sum": "∑", "prod": "∏"}


def plain(text: str) -> str:
    """Return text of a card on one line, with its markup characters escaped."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Return text as inline code."""
    return f"``{text}``"


def symbols(text: str) -> str:
    """Return text of a card with the subscripts of its symbols set low, as markup."""
    escaped = _MARKUP.sub(r"\\\1", html_symbols(" ".join(text.split())))
    return re.sub(r"<(su[bp])>(.*?)</\1>", r"\\ :\1:`\2`\\ ", escaped)


def card_fields(card: object, *left_out: str) -> dict[str, str]:
    """Return the fields of a card, by name, from the lines that it prints."""
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
    """Return a heading; ``mark`` underlines it."""
    return f"{text}\n{mark * max(len(text), 4)}\n"


def fields(entries: Mapping[str, str]) -> str:
    """Return a field list; empty fields are left out."""
    return "\n".join(f":{name}: {text}" for name, text in entries.items() if text) + "\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], widths: str = "auto") -> str:
    """Return a table whose cells are markup already."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in (columns, *rows):
        lines += [f"   {'*' if place == 0 else ' '} - {cell}" for place, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def raw(html: str) -> str:
    """Return a part of a page that is HTML already."""
    return ".. raw:: html\n\n" + "\n".join(f"   {line}" for line in html.splitlines()) + "\n"


def toctree(pages: Iterable[str], *options: str) -> str:
    """List the pages below one page; options are ``hidden:``, ``maxdepth: 1`` and ``caption: ...``."""
    return (
        "\n".join([".. toctree::", *(f"   :{option}" for option in options), "", *(f"   {page}" for page in pages)])
        + "\n"
    )


def page(*pieces: str) -> str:
    """Join parts of a page, with an empty line between."""
    return "\n\n".join(piece.strip("\n") for piece in pieces if piece) + "\n"


def write(path: Path, text: str) -> Path:
    """Write a page unless the file holds the same text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
    return path


@cache
def _names() -> frozenset[str]:
    """Return names that look like formulas, such as ``r_nx`` or ``k_max``."""
    return frozenset((*MEASURES, *METHODS, *TESTS, *COLUMNS))


def _inside(low: str) -> str:
    """Return the text of a subscript, with mathematical signs."""
    return re.sub("|".join(_INSIDE), lambda sign: _INSIDE[sign[0]], low.strip("{}"))


def formula_pieces(text: str) -> list[tuple[str, str]]:
    """Return plain text in pieces: ``("low", ...)`` is a subscript, ``("high", ...)`` a power, ``("", ...)`` neither.

    A sum is set as a sign only with a subscript, ``sum_i``: without one it is a word.

    Examples
    --------
    >>> formula_pieces("a r_ij^2 >= 0")
    [('', 'a '), ('', 'r'), ('low', 'ij'), ('high', '2'), ('', ' '), ('', '≥'), ('', ' 0')]
    """
    pieces: list[tuple[str, str]] = []
    end = 0
    for piece in _PIECE.finditer(text):
        if piece[0] in _names():
            continue
        pieces.append(("", text[end : piece.start()]))
        if piece["sign"]:
            pieces.append(("", _SIGNS[piece["sign"]]))
        elif piece["power"]:
            pieces.append(("high", piece["high"].strip("{}")))
        else:
            pieces += [("", _SIGNS.get(piece["base"], piece["base"])), ("low", _inside(piece["low"]))]
        end = piece.end()
    return [(kind, part) for kind, part in [*pieces, ("", text[end:])] if part]


def keep_plain(*event: Any) -> None:
    """Escape what is not markup in every line of prose of a docstring, which is written for a terminal.

    A formula such as ``|N_k(i) & M_k(i)| / k``, or the name of a fitted attribute such as ``mean_``, is plain text in
    ``help()``; in reStructuredText the bars would be a substitution and the underscore a link. Examples, which end at
    an empty line, and blocks under a directive or a double colon stay as they are.
    """
    lines: list[str] = event[-1]
    example, block = False, None
    for place, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if example or (block is not None and (not line.strip() or indent > block)):
            continue
        directive = line.lstrip().startswith(".. ")
        block = indent if directive or line.rstrip().endswith("::") else None
        if not directive:
            lines[place] = "".join(part if _CODE.fullmatch(part) else _escaped(part) for part in _CODE.split(line))


def _escaped(text: str) -> str:
    return _UNDERSCORE.sub(r"\\_", text.replace("|", "\\|"))


def figure_words(code: str) -> str:
    """Return alternative text of a cell's figure: its kind, in the words of its card, and the call that drew it.

    The call is on the last line, or made what the last line names. Any other figure has no text of its own: its cell
    states it as ``:alt:``.

    >>> figure_words("figure = results.plot('map')\\nfigure.savefig('map.pdf')\\nfigure")
    "Figure drawn by results.plot('map'): the quality of a measure at each point, from the chance level (orange) to..."
    """
    try:
        lines = ast.parse(code).body
    except SyntaxError:
        return ""
    expression: ast.AST | None = lines[-1].value if lines and isinstance(lines[-1], ast.Expr) else None
    if isinstance(expression, ast.Name):
        assignments = [
            line for line in lines if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == expression.id
        ]
        expression = assignments[-1].value if assignments else None
    if not isinstance(expression, ast.Call) or not ast.unparse(expression.func).endswith(".plot"):
        return ""
    kinds = [argument.value for argument in expression.args[:1] if isinstance(argument, ast.Constant)]
    if not kinds or kinds[0] not in FIGURES:
        return ""
    return f"Figure drawn by {ast.unparse(expression)}: {FIGURES.card(kinds[0]).title.replace('`', '')}"
