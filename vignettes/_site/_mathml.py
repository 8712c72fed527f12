"""Formulas as MathML, which browsers set themselves: the site needs no script and no network for them."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

_PRIME = re.compile(r"(?<!\\)'")


def _html(formula: str, display: str) -> str:
    return convert(formula, display=display)


def _inline(translator: Any, node: nodes.Node) -> None:
    translator.body.append(_html(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.Node) -> None:
    translator.body.append(f'<div class="formula">{_html(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def add_renderer(app: Sphinx) -> None:
    """Let the builder set formulas so (``html_math_renderer = "mathml"``)."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
