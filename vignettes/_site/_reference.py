"""The reference, written from the registries: adding an index, a test or a method adds its page."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from sphinx.util import logging

from _site._indices import write_indices
from _site._methods import write_methods
from _site._text import page, title, toctree, write

PARTS = (write_indices, write_methods)


def write_reference(folder: Path) -> None:
    """Write every page of the reference, and say how long each part took."""
    for part in PARTS:
        start = perf_counter()
        part(folder)
        logging.getLogger(__name__).info("%s: %.1f s", part.__name__, perf_counter() - start)
    write(folder / "index.rst", page(title("Reference"), toctree(["methods/index"], "maxdepth: 1")))
