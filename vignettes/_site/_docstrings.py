"""Docstrings as they are written for a terminal, kept from being read as markup where they do not mean it.

A formula such as ``|N_k(i) & M_k(i)| / k`` in a sentence, or the name of a fitted attribute such as ``mean_``, is plain
text in ``help()``. To reStructuredText the bars would be a substitution and the trailing underscore a link.
"""

from __future__ import annotations

import re
from typing import Any

_CODE = re.compile(r"(``.*?``|:[a-z]+:`[^`]*`|`[^`]*`_*)")
_UNDERSCORE = re.compile(r"(?<=\w)_(?=$|[\s.,;:)\]'])")


def keep_plain(*event: Any) -> None:
    """Escape what is no markup in all lines that are prose.

    That is not in examples, which end at an empty line, nor in what is set in under a directive or a double colon.
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
