"""The tables of the README, computed from the registries and the vignettes: ``python tests/readme_tables.py``."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dreval.registry import DATASETS, DIMENSIONS, MEASURES, METHODS, SCORES, TESTS

README = Path(__file__).resolve().parent.parent / "README.md"
VIGNETTES = README.parent / "vignettes"
LEVELS = {  # of measures: what they are computed from
    "point": "measures with a value for every point, and a map",
    "pair": "measures of distances of pairs",
    "global": "measures of the embedding as a whole, and curves over all k",
    "algorithm": "measures of the method, which is re-run or inverted",
}


def _markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _contents() -> str:
    """The number and names of measures, tests, methods and data sets, by kind."""
    cards = MEASURES.cards()
    kinds = {words: [c.name for c in cards if c.level == level] for level, words in LEVELS.items()}
    kinds["tests of independence, and of a method against noise"] = TESTS.public_names()
    kinds["scores of the points of one embedding"] = SCORES.names()
    kinds["number of dimensions of data"] = DIMENSIONS.names()
    kinds["methods, as baselines"] = METHODS.names()
    data: dict[str, list[str]] = {}
    for card in DATASETS.cards():
        data.setdefault(card.kind, []).append(card.name)
    kinds |= {f"data sets, {kind}": names for kind, names in sorted(data.items())}
    rows = ((words, str(len(names)), ", ".join(f"`{name}`" for name in names)) for words, names in kinds.items())
    return _markdown(["kind", "number", "names"], rows)


def _questions() -> str:
    """The titles of the vignettes, in the order of the site."""
    vignettes = site_module("_vignettes")
    texts = (text for section in vignettes.SECTIONS for text in vignettes.vignettes(VIGNETTES, section))
    return "\n".join(f"- [{text.title}](vignettes/{text.name}.md)" for text in texts)


def site_module(module: str) -> Any:
    """A module of the site's own code, which lies beside the vignettes."""
    from importlib import import_module

    if str(VIGNETTES) not in sys.path:
        sys.path.insert(0, str(VIGNETTES))
    return import_module(f"_site.{module}")


def other_tools() -> Iterator[tuple[str, list[list[str]]]]:
    """Each tool of the page of other tools, with the cells of its rows."""
    text = (VIGNETTES / "other-tools.md").read_text("utf-8")
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        lines = re.findall(r"^\| (`.*) \|$", part, flags=re.MULTILINE)
        if lines:
            yield part.split("\n", 1)[0], [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]


def _beside() -> str:
    """For each tool, the number of its measures that have the same value here."""
    rows = []
    for tool, lines in other_tools():
        found = Counter(cells[2].split()[0] for cells in lines)
        named = (found["equal"], found["different"], found["not"], found["—"])
        counts = (len(lines), *named[:2], len(lines) - sum(named), *named[2:])
        rows.append((tool, *(str(count) if count else "" for count in counts)))
    columns = [
        "tool",
        "measures",
        "equal here",
        "different here",
        "up to draws, starts, medians",
        "not compared",
        "not offered",
    ]
    return _markdown(columns, rows)


MARKERS: dict[str, Callable[[], str]] = {"questions": _questions, "contents": _contents, "beside": _beside}


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
