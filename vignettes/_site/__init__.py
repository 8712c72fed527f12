"""The site's extension of sphinx: pages from the registries, lists of vignettes, MathML, links from code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


_LINES = re.compile(r"<dl>\s*((?:<dd>.*?</dd>\s*)+)</dl>(?=\s*<span class=\"sig-paren\")", re.DOTALL)
DARK_PAGE = 'html[data-theme="dark"]'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with sphinx. Modules that need sphinx are imported here; the tests use the others without it."""
    from _site._extension import CodeLinks, Formulas, PaperTables, VignetteList, describe_outputs, render_formulas
    from _site._text import keep_plain

    render_formulas(app)
    app.add_directive("vignettes", VignetteList)
    app.add_directive("paper-tables", PaperTables)
    app.add_post_transform(CodeLinks)
    app.add_post_transform(Formulas)
    app.connect("builder-inited", _execute_and_write)
    app.connect("doctree-resolved", describe_outputs)
    app.connect("doctree-resolved", _add_search_words)
    app.connect("html-page-context", _add_colors)
    app.connect("html-page-context", _mend)
    app.connect("autodoc-process-docstring", keep_plain, priority=900)  # behind numpydoc
    app.connect("build-finished", _write_list_of_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add_colors(*event: Any) -> None:
    """Give every page the colors of the package's figures under their names, on light and on dark paper."""
    from dreval.report._style import CLASS_COLORS, DARK, LIGHT, SCALE_DARK, SCALE_LIGHT

    context = event[3]
    for selector, colors, scale in ((":root", LIGHT, SCALE_LIGHT), (DARK_PAGE, DARK, SCALE_DARK)):
        named = colors | {f"q{place}": color for place, color in enumerate(scale)}
        named |= {f"k{place}": color for place, color in enumerate(CLASS_COLORS)}
        named["panel"] = named["paper"] = "var(--pst-color-surface)"  # figures lie on panels of the theme
        body = ";".join(f"--{name}:{color}" for name, color in named.items())
        context["metatags"] = context.get("metatags", "") + f"<style>{selector}{{{body}}}</style>"


def _mend(*event: Any) -> None:
    """Give to those who listen what others see.

    The lines of a long signature are a list; sphinx makes a list of definitions that define nothing. Folded code is
    announced by its own words.
    """
    context = event[3]
    context["body"] = _LINES.sub(
        lambda lines: (
            '<span class="sig-lines" role="list">'
            + lines[1].replace("<dd>", '<span role="listitem">').replace("</dd>", "</span>")
            + "</span>"
        ),
        context.get("body", "").replace('<summary aria-label="Toggle hidden content">', "<summary>"),
    )


def _execute_and_write(app: Sphinx) -> None:
    """Execute the cells of all pages, in processes of their own; write the pages of the reference meanwhile."""
    from _site._execute import start_pages
    from _site._reference import write_reference

    finish = start_pages(app)
    write_reference(Path(app.srcdir) / "reference")
    finish()


def _add_search_words(*event: Any) -> None:
    """Give a page the further words by which its readers search; sphinx takes keywords into the index."""
    from docutils import nodes

    from _site._search import search_words

    document, name = event[1:]
    words = search_words(name)
    if words:
        document.insert(0, nodes.meta("", name="keywords", content=", ".join(words)))


def _write_list_of_pages(app: Sphinx, exception: Exception | None) -> None:
    from _site._search import llms_text

    if exception is None and app.builder.format == "html":
        Path(app.outdir, "llms.txt").write_text(llms_text(Path(app.srcdir)), "utf-8")
