"""The table of counts on the page of other tools, from the pages of the tools: ``python tests/page_tables.py``."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parent.parent / "README.md"
VIGNETTES = README.parent / "vignettes"
OTHER_TOOLS = VIGNETTES / "other-tools.md"
TOOL_PAGES = [VIGNETTES / f"from-{name}.md" for name in ("scikit-learn", "scib", "zadu", "r")]
BEGIN, END = "<!-- beside: begin -->\n", "\n<!-- beside: end -->"


def site_module(module: str) -> Any:
    """Return a module of the code of the site, which is next to the vignettes."""
    from importlib import import_module

    if str(VIGNETTES) not in sys.path:
        sys.path.insert(0, str(VIGNETTES))
    return import_module(f"_site.{module}")


def tool_sections() -> Iterator[str]:
    """Yield the sections of the pages of other tools, without the mark of their headings."""
    for page in TOOL_PAGES:
        yield from re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE)[1:]


def other_tools() -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each tool of the pages of other tools, with the cells of its rows."""
    for part in tool_sections():
        lines = re.findall(r"^\| (`.*) \|$", part, flags=re.MULTILINE)
        if lines:
            yield part.split("\n", 1)[0], [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]


def comparison_table() -> str:
    """Return the table with the number of measures of each tool that have the same value here."""
    columns = ["tool", "measures", "equal here", "different here", "up to draws, starts, medians", "not compared"]
    rows = [[*columns, "not offered"], ["---"] * (len(columns) + 1)]
    for tool, lines in other_tools():
        counter = Counter(cells[2].split()[0] for cells in lines)
        n_by_outcome = (counter["equal"], counter["different"], counter["not"], counter["—"])
        counts = (len(lines), *n_by_outcome[:2], len(lines) - sum(n_by_outcome), *n_by_outcome[2:])
        rows.append([tool, *(str(count) if count else "" for count in counts)])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


if __name__ == "__main__":
    text = OTHER_TOOLS.read_text("utf-8")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    OTHER_TOOLS.write_text(f"{head}{BEGIN}{comparison_table()}{END}{tail}", "utf-8")
