"""The reference tables of the README, computed from the cards: ``python tests/readme_tables.py`` writes them anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dreval.registry import DATASETS, INDICES, METHODS, TESTS

README = Path(__file__).resolve().parent.parent / "README.md"


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _paper(reference: str) -> str:
    """Who and when: the reference up to its year."""
    found = re.match(r"(.*?\(?\d{4}\)?)", reference, flags=re.DOTALL)
    return " ".join((found.group(1) if found else reference).split())


def _indices() -> str:
    rows = [(f"`{c.name}`", c.question, c.direction, c.level, _paper(c.reference)) for c in INDICES.cards()]
    return _markdown(["index", "what it says", "better", "level", "from"], rows)


def _tests() -> str:
    rows = [
        (f"`dreval.{public}`", c.title, " or ".join(map(str, _listed(c.null))), _paper(c.reference))
        for public, c in zip(TESTS.public_names(), TESTS.cards(), strict=True)
    ]
    return _markdown(["test", "what it is", "null distribution", "from"], rows)


def _listed(value: Any) -> Sequence[Any]:
    return (value,) if isinstance(value, str) else tuple(value)


def _methods() -> str:
    rows = [
        (f"`{c.name}`", f"`dreval.methods.{c.class_name}`", c.family, c.complexity, _paper(c.reference))
        for c in METHODS.cards()
    ]
    return _markdown(["method", "class", "family", "cost", "from"], rows)


def _datasets() -> str:
    rows = [(f"`{c.name}`", c.kind, c.title, f"{c.n} x {c.p}", _paper(c.reference)) for c in DATASETS.cards()]
    return _markdown(["data set", "kind", "what it is", "n x p", "from"], rows)


MARKERS: dict[str, Callable[[], str]] = {
    "indices": _indices,
    "tests": _tests,
    "methods": _methods,
    "datasets": _datasets,
}


def replace_tables(text: str) -> str:
    """The text with every table between its markers as the registries have it now."""
    for kind, table in MARKERS.items():
        begin, end = f"<!-- {kind}: begin -->", f"<!-- {kind}: end -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = f"{head}{begin}\n{table()}\n{end}{tail}"
    return text


if __name__ == "__main__":
    README.write_text(replace_tables(README.read_text("utf-8")), "utf-8")
