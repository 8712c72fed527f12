"""What the site adds to sphinx: pages from the registries, lists of vignettes, formulas as MathML, links from code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from _site._docstrings import keep_plain
from _site._formulas import Formulas
from _site._links import CodeLinks
from _site._listing import VignetteList
from _site._mathml import add_renderer
from _site._tables import PaperTables


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build."""
    add_renderer(app)
    app.add_directive("vignettes", VignetteList)
    app.add_directive("paper-tables", PaperTables)
    app.add_post_transform(CodeLinks)
    app.add_post_transform(Formulas)
    app.connect("builder-inited", _write_reference)
    app.connect("autodoc-process-docstring", keep_plain, priority=900)  # behind numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_reference(app: Sphinx) -> None:
    from _site._reference import write_reference

    write_reference(Path(app.srcdir) / "reference")
