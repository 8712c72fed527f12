"""The page that says how to cite, from ``CITATION.cff``."""

from __future__ import annotations

from pathlib import Path

import yaml

from _site._text import page, plain, title, write

SOURCE = Path(__file__).resolve().parents[2] / "CITATION.cff"


def write_citation(folder: Path) -> list[str]:
    """Write the page; its name below the folder."""
    said = yaml.safe_load(SOURCE.read_text("utf-8"))
    entry = {
        "title": f"{{{said['title']}}}",
        "author": f"{{{' and '.join(author['name'] for author in said['authors'])}}}",
        "version": f"{{{said['version']}}}",
        "license": f"{{{said['license']}}}",
    }
    lines = ["@software{dreval,", *(f"  {name} = {value}," for name, value in entry.items()), "}"]
    words = (
        "Please cite the package, and the paper of every measure and method that you report: the last line of their "
        "cards, as in ``dreval.card(name).reference``, and the section References of their pages."
    )
    block = ".. code-block:: bibtex\n\n" + "\n".join(f"   {line}" for line in lines)
    write(folder / "citation.rst", page(title("How to cite"), words, block, plain(said["abstract"])))
    return ["citation"]
