"""Formulas that docstrings write in plain text, as R_N or sum_{j in M_k(i)} r_ij^2, with their measures set low."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from _site._text import formula_pieces

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
            made = typeset(node.astext())
            if len(made) > 1 and not _in_code(node):
                node.parent.replace(node, made)


def _in_code(node: nodes.Node) -> bool:
    above = node.parent
    while above is not None:
        if isinstance(above, _CODE):
            return True
        above = above.parent
    return False


def typeset(text: str) -> list[nodes.Node]:
    """Text as nodes, with low measures and high powers."""
    made = {"low": nodes.subscript, "high": nodes.superscript}
    return [made[kind](piece, piece) if kind in made else nodes.Text(piece) for kind, piece in formula_pieces(text)]
