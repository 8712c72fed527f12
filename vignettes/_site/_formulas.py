"""Formulas that docstrings write in plain text, as R_N or sum_{j in M_k(i)} r_ij^2, with their indices set low."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

_PIECE = re.compile(
    r"(?<![\w\\])(?P<base>[A-Za-z]|sum|prod|max|min|AUC|log)_"
    r"(?P<low>\{[^}]*\}|[A-Za-z0-9]{1,3}(?:,opt)?|class)(?![A-Za-z0-9_])"
    r"|(?P<power>(?<=[\w)\]|}])\^(?P<high>\{[^}]*\}|-?[\w']+))"
    r"|(?P<sign>>=|<=|!=|\bsum(?= ))"
)
_SIGNS = {">=": "≥", "<=": "≤", "!=": "≠", "sum": "∑", "prod": "∏"}
_CODE = (
    nodes.literal,
    nodes.literal_block,
    nodes.doctest_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.strong,
    nodes.title,
    nodes.comment,
    addnodes.desc_signature,
)


class Formulas(SphinxPostTransform):
    """Set formulas in the prose of the reference; what is code stays as it is."""

    default_priority = 901

    def run(self, **_: Any) -> None:
        """Go through the text of the page."""
        if not self.env.docname.startswith("reference/"):
            return
        for node in list(self.document.findall(nodes.Text)):
            if _PIECE.search(node.astext()) and not _in_code(node):
                node.parent.replace(node, typeset(node.astext()))


def _in_code(node: nodes.Node) -> bool:
    above = node.parent
    while above is not None:
        if isinstance(above, _CODE):
            return True
        above = above.parent
    return False


def typeset(text: str) -> list[nodes.Node]:
    """Text as nodes, with low indices, high powers and the signs of inequalities.

    Examples
    --------
    >>> [type(node).__name__ for node in typeset("a r_ij^2 >= 0")]
    ['Text', 'Text', 'subscript', 'superscript', 'Text', 'Text', 'Text']
    """
    found: list[nodes.Node] = []
    end = 0
    for piece in _PIECE.finditer(text):
        if piece.start() > end:
            found.append(nodes.Text(text[end : piece.start()]))
        found += _set(piece)
        end = piece.end()
    return [*found, nodes.Text(text[end:])] if end < len(text) else found


def _set(piece: re.Match[str]) -> list[nodes.Node]:
    if piece["sign"]:
        return [nodes.Text(_SIGNS[piece["sign"]])]
    if piece["power"]:
        high = piece["high"].strip("{}")
        return [nodes.superscript(high, high)]
    low = piece["low"].strip("{}")
    return [nodes.Text(_SIGNS.get(piece["base"], piece["base"])), nodes.subscript(low, low)]
