"""Pages of the public functions and classes, of the records they give, of errors, columns and data."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import dreval
from _site import _drawing as draw
from _site._docstrings import keep_plain
from _site._text import page, plain, raw, table, title, write
from dreval import errors, glossary
from dreval.registry import DATASETS, MEASURES, TESTS

# Where the records that functions give back are defined; users never make them by hand.
RECORDS = (
    "dreval.comparison.record.Comparison",
    "dreval.records.certificate.Certificate",
    "dreval.records.measure_record.MeasureRecord",
    "dreval.records.embedding.Embedding",
    "dreval.datasets._dataset.Dataset",
)


def public_names() -> list[str]:
    """What ``dreval`` offers beside measures, tests and folders."""
    own = {*MEASURES.names(), *TESTS.public_names()}
    return [name for name in dir(dreval) if not name.startswith("_") and name not in own and not _is_folder(name)]


def _is_folder(name: str) -> bool:
    return inspect.ismodule(getattr(dreval, name))


def write_classes(folder: Path) -> list[str]:
    """Write all pages; the names below the folder."""
    for name in public_names():
        thing = getattr(dreval, name)
        write(folder / "names" / f"{name}.rst", _page(f"dreval.{name}", name, thing))
    for name, place, thing in _records():
        write(folder / "records" / f"{name}.rst", _page(place, name, thing))
    write(folder / "errors.rst", _errors())
    write(folder / "columns.rst", _columns())
    write(folder / "datasets.rst", _datasets())
    return ["errors", "columns", "datasets"]


def _page(place: str, name: str, thing: Any) -> str:
    directive = "autoclass" if inspect.isclass(thing) else "autofunction"
    return page(title(name), f".. {directive}:: {place}")


def first_sentence(thing: Any) -> str:
    """The first paragraph of a documentation."""
    lines = (inspect.getdoc(thing) or "").split("\n\n")[0].splitlines()
    keep_plain(lines)
    return " ".join(lines)


def records() -> list[tuple[str, str]]:
    """Names of the records, and what they are."""
    return [(name, first_sentence(thing)) for name, _, thing in _records()]


def _records() -> Iterator[tuple[str, str, Any]]:
    """Name, place and class of each record."""
    for place in RECORDS:
        module, _, name = place.rpartition(".")
        yield name, place, getattr(importlib.import_module(module), name)


def _errors() -> str:
    names = [name for name in errors.__all__ if inspect.isclass(getattr(errors, name))]
    return page(
        title("Errors and warnings"),
        "An error has four parts: the argument, the rule it must meet, what was got, and the cure. Where an answer "
        "rests on an assumption there is a warning that states it. What is harmless becomes a note of the result.",
        *(f".. autoexception:: dreval.errors.{name}" for name in names),
    )


def _columns() -> str:
    parts = {
        "Results.tidy()": ("one row for each embedding, measure and parameter", glossary.COLUMNS),
        "Comparison.tidy()": ("one row for each pair of embeddings, measure and test", glossary.PAIR_COLUMNS),
        "Comparison.overall": ("one row for each measure and test of all embeddings", glossary.OVERALL_COLUMNS),
        "Comparison.standing": ("one row for each embedding and measure", glossary.STANDING_COLUMNS),
    }
    pieces = [title("Columns of the tables"), "A closed list: no table has a column that is not here."]
    for name, (words, columns) in parts.items():
        rows = ((f"``{column}``", plain(said)) for column, said in columns.items())
        pieces += [title(name, "-"), words.capitalize() + ".", table(["column", "what it is"], rows, "22 78")]
    return page(*pieces)


def _datasets() -> str:
    cards = DATASETS.cards()
    kinds = {"bundled": "Bundled", "simulated": "Simulated", "loader": "Read from a file of yours"}
    how = {
        "bundled": "``dreval.load_dataset(name)`` gives them; they come with the package.",
        "simulated": "``dreval.simulate(name, n=..., random_state=...)`` draws them, with these parameters.",
        "loader": "``dreval.read_raw(path)`` reads the authors' files, which may not be given away with the package.",
    }
    pieces = [title("Data")]
    for kind, words in kinds.items():
        found = [card for card in cards if card.kind == kind]
        pieces += [title(words, "-"), how[kind], raw(_panels(found)) if kind == "simulated" else ""]
        rows = ((f"``{c.name}``", _described(c), f"{c.n} x {c.p}", plain(c.reference)) for c in found)
        pieces.append(table(["name", "what it is", "n x p", "reference"], rows, "18 34 12 36"))
    return page(*pieces)


def _described(card: Any) -> str:
    """Title of a data set, with the parameters of a simulation."""
    return ", ".join([plain(card.title), *(f"``{name}={value!r}``" for name, value in card.parameters.items())])


def _panels(cards: list[Any]) -> str:
    figures = []
    for card in cards:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.DrevalWarning)
            made = dreval.simulate(card.name, random_state=0)
        label = f"Simulated data: {card.title}"
        figures.append(draw.figure(draw.scatter(_seen(made.data), _colors(made), label), escape(card.name)))
    return f'<div class="maps many">{"".join(figures)}</div>'


def _seen(X: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Up to three columns as they are; of more the two leading principal components."""
    if X.shape[1] <= 3:
        return X
    centered = X - X.mean(axis=0)
    return centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T


def _colors(made: Any) -> list[str]:
    if made.labels is not None:
        return draw.by_class(made.labels)
    return draw.along(made.data[:, 0] if made.latent is None else made.latent[:, 0])
