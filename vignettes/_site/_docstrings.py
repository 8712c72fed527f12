"""Docstrings as they are written for a terminal, kept from being read as markup where they do not mean it.

A formula such as ``|N_k(i) & M_k(i)| / k`` in a sentence, or the name of a fitted attribute such as ``mean_``, is plain
text in ``help()``. To reStructuredText the bars would be a substitution and the trailing underscore a link.
"""

from __future__ import annotations

import re
from typing import Any

_CODE = re.compile(r"(``.*?``|:[a-z]+:`[^`]*`|`[^`]*`_*)")
_UNDERSCORE = re.compile(r"(?<=\w)_(?=$|[\s.,;:)\]'])")
_VERBATIM = re.compile(r"^(\s*)(>>>|\.\. )")


def keep_plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape what is no markup, in all lines that are prose."""
    block: int | None = None
    for place, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if block is not None and (not line.strip() or indent > block):
            continue
        block = None
        if _VERBATIM.match(line):
            block = indent
        else:
            lines[place] = "".join(part if _CODE.fullmatch(part) else _escaped(part) for part in _CODE.split(line))
        if line.rstrip().endswith("::"):
            block = indent


def _escaped(text: str) -> str:
    return _UNDERSCORE.sub(r"\\_", text.replace("|", "\\|"))
