"""The reference, written from the registries: adding a measure, a test or a method adds its page."""

from __future__ import annotations

import inspect
from pathlib import Path
from time import perf_counter

from sphinx.util import logging

import dreval
from _site._citation import write_citation
from _site._classes import first_sentence, public_names, records, write_classes
from _site._commands import write_commands
from _site._figures import write_figures
from _site._measures import write_measures
from _site._methods import write_methods
from _site._tests import write_tests
from _site._text import page, table, title, toctree, write

PARTS = (write_citation, write_classes, write_commands, write_figures, write_measures, write_methods, write_tests)


def write_reference(folder: Path) -> None:
    """Write every page of the reference, and say how long each part took."""
    for part in PARTS:
        start = perf_counter()
        part(folder)
        logging.getLogger(__name__).info("%s: %.1f s", part.__name__, perf_counter() - start)
    write(folder / "index.rst", _overview())


def _overview() -> str:
    names = public_names()
    classes = [name for name in names if inspect.isclass(getattr(dreval, name))]
    functions = [name for name in names if name not in classes]
    return page(
        title("Reference"),
        "Every page below is written from the code: from the cards of measures, tests and methods, and from what the "
        "functions say of themselves.",
        title("By kind", "-"),
        table(
            ["what", "where"],
            [
                ("Measures of quality, each on the same six embeddings", ":doc:`gallery`"),
                ("Tests of independence, with their error rates", ":doc:`tests/index`"),
                ("Methods of dimensionality reduction, on a rolled sheet", ":doc:`methods/index`"),
                ("Data, bundled and simulated", ":doc:`datasets`"),
                ("Figures of results", ":doc:`figures`"),
                ("Columns of the tables", ":doc:`columns`"),
                ("Errors and warnings", ":doc:`errors`"),
                ("Command line", ":doc:`commands`"),
                ("How to cite", ":doc:`citation`"),
            ],
        ),
        title("Classes", "-"),
        table(["class", "what it is"], _listed(classes)),
        title("What they give back", "-"),
        table(["record", "what it is"], [(f":doc:`records/{name}`", words) for name, words in records()]),
        title("Functions", "-"),
        table(["function", "what it does"], _listed(functions)),
        toctree(
            [
                *("tests/index", "methods/index", "datasets", "figures", "columns", "errors", "commands", "citation"),
                *(f"names/{name}" for name in (*classes, *functions)),
                *(f"records/{name}" for name, _ in records()),
            ],
            "hidden:",
        ),
    )  # fmt: skip


def _listed(names: list[str]) -> list[tuple[str, str]]:
    return [(f":doc:`names/{name}`", first_sentence(getattr(dreval, name))) for name in names]
