"""Numbers in the sentences of a page: ``number("t", 0.951)`` lets its text say {glue:text}`t`, and shows .95."""

from __future__ import annotations


def text_of(value: float, digits: int = 2) -> str:
    """Return a number as the summaries print it: without the zero before the point, and with a true minus."""
    text = f"{value:.{digits}f}".replace("-", "\u2212")
    return text.replace("0.", ".", 1) if text.lstrip("\u2212").startswith("0.") else text


def number(name: str, value: float, digits: int = 2) -> None:
    """Give a number a name on the page; without the site's packages there is no text to fill."""
    try:
        from myst_nb import glue
    except ImportError:
        return
    glue(name, text_of(value, digits), display=False)
