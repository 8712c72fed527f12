"""What the site adds to sphinx: pages from the registries, lists of vignettes, formulas as MathML, links from code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


DARK_PAGE = 'html[data-theme="dark"]'


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build. What needs sphinx is imported here, so that the tests can read the rest without it."""
    from _site._alternatives import describe_figures
    from _site._docstrings import keep_plain
    from _site._formulas import Formulas
    from _site._links import CodeLinks
    from _site._listing import VignetteList
    from _site._mathml import add_renderer
    from _site._tables import PaperTables

    add_renderer(app)
    app.add_directive("vignettes", VignetteList)
    app.add_directive("paper-tables", PaperTables)
    app.add_post_transform(CodeLinks)
    app.add_post_transform(Formulas)
    app.connect("builder-inited", _write_reference)
    app.connect("doctree-resolved", describe_figures)
    app.connect("html-page-context", _add_colors)
    app.connect("autodoc-process-docstring", keep_plain, priority=900)  # behind numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add_colors(*event: Any) -> None:
    """Give every page the colors of the package's figures under their names, on light and on dark paper."""
    from dreval.report._style import DARK, EMBEDDINGS_DARK, EMBEDDINGS_LIGHT, LIGHT

    context = event[3]
    for selector, colors, embeddings in ((":root", LIGHT, EMBEDDINGS_LIGHT), (DARK_PAGE, DARK, EMBEDDINGS_DARK)):
        named = colors | {f"s{place}": color for place, color in enumerate(embeddings)}
        named["panel"] = named["paper"] = "var(--pst-color-surface)"  # figures lie on panels of the theme
        body = ";".join(f"--{name}:{color}" for name, color in named.items())
        context["metatags"] = context.get("metatags", "") + f"<style>{selector}{{{body}}}</style>"


def _write_reference(app: Sphinx) -> None:
    from _site._reference import write_reference

    write_reference(Path(app.srcdir) / "reference")
