"""The directive that lists the vignettes of a section."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from _site._vignettes import vignettes


class VignetteList(SphinxDirective):
    """``{vignettes} task``: a door to each vignette of the section, with the question that it begins from."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Links with the first sentences, and a hidden table of contents."""
        self.env.note_reread()
        found = vignettes(Path(self.env.srcdir), self.arguments[0])
        lines = ["```{toctree}", ":hidden:", "", *(f"/{text.name}" for text in found), "```", ""]
        for text in found:
            lines += [f"[{text.title}](/{text.name}.md)", f": {text.opening}", ""]
        return self.parse_text_to_nodes("\n".join(lines))
