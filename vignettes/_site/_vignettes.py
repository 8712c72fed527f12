"""The vignettes by section; the front matter of each file states its section.

A line ``dreval: {section: evaluate, order: 3}`` in the front matter of a vignette puts it third in that section.
Without such a line a vignette is among those of ``evaluate``; in the folder ``papers``, a paper's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SECTIONS = {
    "start": "Learn",
    "coming": "Coming from another tool",
    "evaluate": "Evaluate and compare",
    "reliability": "Reliability",
    "tests": "Tests of independence",
    "data": "Data and other tools",
    "methods": "Methods and your own measures",
    "papers": "The papers",
}
LAST = 1000
SENTENCES = 2  # of the first paragraph that a list shows
_HEAD = re.compile(r"\A---\n(.*?)\n---\n", flags=re.DOTALL)
_PLACE = re.compile(r"^dreval: \{section: (?P<section>\w+)(?:, order: (?P<order>\d+))?\}$", flags=re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z])")
_TITLE = re.compile(r"^# (.+)$", flags=re.MULTILINE)
_FENCED = re.compile(r"^(`{3,}|:{3,}).*?^\1$", flags=re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Vignette:
    """One vignette: document name, section, order, title, first sentences."""

    name: str
    section: str
    order: int
    title: str
    opening: str


def read_vignette(path: Path, root: Path) -> Vignette:
    """Return section, order, title and first sentences of a vignette; an unknown section is an error."""
    text = path.read_text("utf-8")
    head = _HEAD.match(text)
    place = _PLACE.search(head[1]) if head else None
    name = path.relative_to(root).with_suffix("").as_posix()
    section = place["section"] if place else "papers" if name.startswith("papers") else "evaluate"
    if section not in SECTIONS:
        raise ValueError(f"{path.name}: `section` must be one of {', '.join(SECTIONS)}: got {section!r}.")
    body = _FENCED.sub("", text[head.end() :] if head else text)
    heading = _TITLE.search(body)
    if heading is None:
        raise ValueError(f"{path.name}: must have a title, a line that begins with '# '.")
    paragraphs = [part for part in re.split(r"\n\s*\n", body[heading.end() :]) if part.strip()]
    opening = next((part for part in paragraphs if part[0] not in "#|-(" and not part.startswith("    ")), "")
    first = " ".join(_SENTENCE.split(" ".join(opening.split()))[:SENTENCES])
    return Vignette(name, section, int(place["order"]) if place and place["order"] else LAST, heading[1], first)


def vignettes(root: Path, section: str) -> list[Vignette]:
    """Return the vignettes of one section, in order: notebooks, and other pages with a place."""
    paths = [
        path for path in texts_below(root) if path.read_text("utf-8").startswith(("---\njupytext:", "---\ndreval:"))
    ]
    texts = [read_vignette(path, root) for path in paths]
    return sorted((text for text in texts if text.section == section), key=lambda text: (text.order, text.name))


def texts_below(root: Path) -> list[Path]:
    """Return the files of all pages in Markdown."""
    paths = {path: path.relative_to(root).parts for path in sorted(root.rglob("*.md"))}
    return [path for path, parts in paths.items() if not any(part.startswith(("_", ".")) for part in parts)]
