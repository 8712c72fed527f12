"""What stands over a panel, and the rows of words below the panels of a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dreval.records.comparison import Comparison
from dreval.records.results import point_column
from dreval.report._names import breadth, short_names
from dreval.report._reading import Reading, read_results
from dreval.report._style import LIGHT, embedding_color, grid_columns, math_words
from dreval.report.contents.comparison import direction_of, heading

__all__ = [
    "ACROSS",
    "SOFT",
    "WORDS",
    "foot_lines",
    "main_measures",
    "name_panel",
    "setting_words",
    "title_inches",
    "write_foot",
    "write_title",
]

SOFT = {"fontsize": 8, "color": LIGHT["soft"]}
WORDS = 0.15  # inches of a line of words
ACROSS = 0.066  # inches that a letter of them takes on average
LETTER = 0.073  # of a title
MARGIN = 0.12  # inches left of a title


def name_panel(ax: Axes, reading: Reading, name: str, aside: str = "", room: int = 24, pad: float = 5.0) -> None:
    """Name of an embedding in its color, and at the right what is to be said of it; ``room`` is for both."""
    color = embedding_color(reading.names.index(name))
    short = short_names(reading.computed, room)[name]
    ax.set_title(short, loc="left", fontsize=10, fontweight="bold", color=color, pad=pad)
    if aside:
        said = math_words(aside, True)
        ax.set_title(said.pop("label"), loc="right", pad=pad, **SOFT, **said)


def foot_lines(words: str, count: int, panel: float) -> list[str]:
    """Words in lines that fit under ``count`` panels of that many inches."""
    return textwrap.wrap(words, int(max(grid_columns(count) * panel, 2.4) / ACROSS))


def write_foot(figure: Figure, left: float, lines: Sequence[str], bottom: float = 0.08) -> None:
    """Lines of words at the foot of a figure, the last one so many inches above its end."""
    look: dict[str, Any] = {"ha": "left", "va": "bottom", **SOFT}
    for place, line in enumerate(reversed(lines)):
        figure.text(left, (bottom + WORDS * place) / figure.get_figheight(), line, **look)


def title_inches(lines: Sequence[str]) -> float:
    """Width of a figure that the lines of its title need."""
    return 2 * MARGIN + LETTER * max(map(breadth, lines), default=0.0)


def write_title(figure: Figure, lines: Sequence[str]) -> None:
    """The title of a figure in lines at its upper left, whatever stands below; symbols have their measure set low."""
    width, height = figure.get_size_inches()
    for place, line in enumerate(lines):
        said = math_words(line, True)
        look: dict[str, Any] = {"va": "top", "fontsize": 9, "color": LIGHT["ink" if place == 0 else "soft"]}
        figure.text(MARGIN / width, 1 - (0.08 + 0.17 * place) / height, said.pop("label"), **look, **said)


def setting_words(comparison: Comparison, name: str) -> str:
    """A measure with its setting, without which way is better; what belongs together stays on one line."""
    words = heading(comparison, name).replace(f", {direction_of(comparison, name)} is better", "")
    return words.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def main_measures(comparison: Comparison) -> list[str]:
    """The measures of a comparison, of a result each at one number of neighbors only, as in its first table."""
    if comparison.results is None:
        return comparison.measures
    main = [point_column(column.measure, column.parameters) for column in read_results(comparison.results).main]
    return [name for name in comparison.measures if name in main]
