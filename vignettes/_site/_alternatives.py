"""What a reader who cannot see a figure is told: the call that drew it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils.nodes import Node

ABOVE = "Figure drawn by the code above"


def figure_words(code: str) -> str:
    """Words for the figure of a cell: the call on its last line, or the one that made what the last line names.

    >>> figure_words("figure = results.plot('map')\\nfigure.savefig('map.pdf')\\nfigure")
    "Figure drawn by results.plot('map')"
    """
    try:
        lines = ast.parse(code).body
    except SyntaxError:
        return ABOVE
    shown: ast.AST | None = lines[-1].value if lines and isinstance(lines[-1], ast.Expr) else None
    if isinstance(shown, ast.Name):
        made = [line for line in lines if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == shown.id]
        shown = made[-1].value if made else None
    return f"Figure drawn by {ast.unparse(shown)}" if isinstance(shown, ast.Call) else ABOVE


def describe_figures(*event: Any) -> None:
    """Give every figure of an executed cell its words; sphinx has nothing to say but the name of the file."""
    from docutils import nodes

    document: Node = event[1]
    for cell in document.findall(lambda node: isinstance(node, nodes.container) and "cell" in node.get("classes", [])):
        code = "\n".join(block.astext() for block in cell.findall(nodes.literal_block) if _is_input(block))
        for image in cell.findall(nodes.image):
            image["alt"] = figure_words(code)


def _is_input(block: Any) -> bool:
    """Whether a block is what is run, not what is printed."""
    return "cell_input" in block.parent.get("classes", [])
