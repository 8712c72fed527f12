"""The tables that ``make papers`` writes, on the pages of the papers; where none lie, a line that says how."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

TABLES = "papers/_tables"
ABSENT = "The tables at full size are not part of this build; `make papers` makes them."


def written(root: Path, names: list[str]) -> str:
    """The tables and pictures of these names as Markdown; where none lies, how they are made."""
    parts = []
    for name in names:
        text, picture = root / TABLES / f"{name}.md", root / TABLES / f"{name}.png"
        if picture.exists():
            parts.append(f"![{name.replace('_', ' ')}](/{TABLES}/{picture.name})\n")
        if text.exists():
            parts.append(text.read_text("utf-8"))
    return "\n".join(parts) or ABSENT


class PaperTables(SphinxDirective):
    """``{paper-tables} NAME ...``: tables at full size; an absent one is no error."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """What was written, or the line."""
        self.env.note_reread()
        return self.parse_text_to_nodes(written(Path(self.env.srcdir), self.arguments[0].split()))
