"""What the site adds to sphinx: two directives, formulas, links from code to pages, and descriptions of figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from _site._text import figure_words, formula_pieces
from _site._vignettes import SECTIONS, vignettes

TABLES = "papers/_tables"
ABSENT = "The tables at full size are not part of this build; `make papers` makes them."
TYPES = ("class", "exception")
TABLE_WIDTH = 100  # characters; printed tables have 80, data frames without HTML at most 100
_NAME = re.compile(r"^(?:dreval\.)?([A-Za-z_][\w.]*)(\(.*\))?$")
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


class VignetteList(SphinxDirective):
    """``{vignettes} evaluate``: a link to each vignette of the section, with its first sentences."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return links with the first sentences, and a hidden table of contents."""
        self.env.note_reread()
        section = self.arguments[0]
        section_vignettes = vignettes(Path(self.env.srcdir), section)
        head = ["```{toctree}", ":hidden:", f":caption: {SECTIONS[section]}", ""]
        lines = [*head, *(f"/{text.name}" for text in section_vignettes), "```", ""]
        for text in section_vignettes:
            lines += [f"[{text.title}](/{text.name}.md)", f": {text.opening}", ""]
        return self.parse_text_to_nodes("\n".join(lines))


class PaperTables(SphinxDirective):
    """``{paper-tables} NAME ...``: tables at full size; an absent one is no error."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the tables, or the line."""
        self.env.note_reread()
        return self.parse_text_to_nodes(written(Path(self.env.srcdir), self.arguments[0].split()))


def written(root: Path, names: list[str]) -> str:
    """Return the tables and figures of these names as Markdown; without any, a line that says how to make them."""
    parts = []
    for name in names:
        text, image = root / TABLES / f"{name}.md", root / TABLES / f"{name}.png"
        if image.exists():
            parts.append(f"![{name.replace('_', ' ')}](/{TABLES}/{image.name})\n")
        if text.exists():
            parts.append(text.read_text("utf-8"))
    return "\n".join(parts) or ABSENT


class Formulas(SphinxPostTransform):
    """Set formulas in the prose of the reference; what is code stays as it is."""

    default_priority = 901

    def run(self, **_: Any) -> None:
        """Go through the text of the page."""
        if not self.env.docname.startswith("reference/"):
            return
        for node in list(self.document.findall(nodes.Text)):
            pieces = typeset(node.astext())
            if len(pieces) > 1 and not _in_code(node):
                node.parent.replace(node, pieces)


def _in_code(node: nodes.Node) -> bool:
    above = node.parent
    while above is not None:
        if isinstance(above, _CODE):
            return True
        above = above.parent
    return False


def typeset(text: str) -> list[nodes.Node]:
    """Return text as nodes, with low measures and high powers."""
    node_types = {"low": nodes.subscript, "high": nodes.superscript}
    return [
        node_types[kind](piece, piece) if kind in node_types else nodes.Text(piece)
        for kind, piece in formula_pieces(text)
    ]


class CodeLinks(SphinxPostTransform):
    """Make a link of every piece of inline code that is a documented name, save on the page that documents it."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        """Go through all inline code that is not in a link or a heading yet."""
        pieces = [(node, _NAME.match(node.astext())) for node in self.document.findall(nodes.literal)]
        targets = documented(self.env.domains.python_domain.objects)
        for node, name in pieces:
            target = targets.get(name[1]) if name else None
            if target is None or target.docname == self.env.docname or _linked(node):
                continue
            link = make_refnode(self.app.builder, self.env.docname, target.docname, target.node_id, node.deepcopy())
            node.replace_self(link)


def documented(objects: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is documented, by the names that texts use.

    That is all that lies behind ``dreval.``, and of classes, wherever they are defined, their own name with and without
    that of a method.
    """
    by_short_name = {}
    for name, entry in objects.items():
        if entry.objtype in TYPES:
            by_short_name[name.rpartition(".")[2]] = entry
        elif entry.objtype in ("method", "property"):
            by_short_name[".".join(name.split(".")[-2:])] = entry
    return by_short_name | {name.removeprefix("dreval."): entry for name, entry in objects.items()}


def _linked(node: nodes.Node) -> bool:
    """Return whether the node stands in a link, a heading or a signature."""
    above = node.parent
    while above is not None:
        if isinstance(above, (nodes.reference, nodes.title)) or above.tagname.startswith("desc_sig"):
            return True
        above = above.parent
    return False


def describe_outputs(*event: Any) -> None:
    """Describe every figure of an executed cell by its option ``:alt:``, or by its code; not by the name of a file.

    Tables of a cell can be reached, and scrolled, by the keyboard; their empty corners head nothing. Printed text with
    longer lines than any printed table is wrapped: it is a paragraph.
    """
    document: nodes.Node = event[1]
    for cell in document.findall(lambda node: isinstance(node, nodes.container) and "cell" in node.get("classes", [])):
        code = "\n".join(block.astext() for block in cell.findall(nodes.literal_block) if _is_input(block))
        for image in cell.findall(nodes.image):
            image["alt"] = cell["cell_metadata"].get("alt") or figure_words(code)
        for block in cell.findall(nodes.literal_block):
            if not _is_input(block) and max(map(len, block.astext().splitlines()), default=0) > TABLE_WIDTH:
                block["classes"].append("wrapped")
        for table in cell.findall(lambda node: isinstance(node, nodes.raw) and "<table" in node.astext()):
            html = re.sub(r"<th([^>]*)>(?:\s|&nbsp;)*</th>", r"<td\1></td>", table.astext())
            table.children = [nodes.Text(html.replace("<table", '<table tabindex="0"'))]


def _is_input(block: Any) -> bool:
    """Return whether a block is input, not output."""
    return "cell_input" in block.parent.get("classes", [])


def _html(formula: str, display: str) -> str:
    return convert(formula, display=display)


def _inline(translator: Any, node: nodes.Node) -> None:
    translator.body.append(_html(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.Node) -> None:
    translator.body.append(f'<div class="formula" tabindex="0">{_html(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def render_formulas(app: Sphinx) -> None:
    """Let the builder set formulas so (``html_math_renderer = "mathml"``)."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
