"""The grid of panels: three in a row, and what explains them in the rest of the last row or in a row of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dreval._text import printable
from dreval.report._style import LIGHT, math_text, new_figure, single_panel_error
from dreval.report.format import short_name, short_names, text_breadth

MAX_COLUMNS = 3
CELL_INCHES = 2.06  # width of a panel with the numbers of its axis
GAP_INCHES = 0.16  # between two panels
EDGE_INCHES = 0.18  # around all panels
HEAD_INCHES = 0.3  # above a panel, for its name
HEAD_LINE_INCHES = 0.17  # of a further line above a panel
MAX_FIGURE_INCHES = MAX_COLUMNS * (CELL_INCHES + GAP_INCHES) - GAP_INCHES + 2 * EDGE_INCHES
SOFT_TEXT = {"fontsize": 8, "color": LIGHT["soft"]}
LETTER_INCHES = 0.078  # width of a letter of 9 points, at most, on average
FOOT_LETTER_INCHES = 0.066  # width of a letter of 8 points, on average
FOOT_LINE_INCHES = 0.15  # height of a line of 8 points
LEGEND_LINE_INCHES = 0.2
LEGEND_DOT_INCHES = 0.32  # width of a dot of a legend with its gaps
MAX_LEGEND_COLUMNS = 13
BAR_INCHES = 0.1  # height of a bar of colors
NAME_LETTER_INCHES = 0.095  # width of a bold letter of a name
MAX_NAME_LETTERS = 24  # of a name in a figure; the middle of longer ones is left out
MAX_FULL_NAMES = 8  # shortened names whose full names are listed
TITLE_LETTER_INCHES = 0.073  # width of a letter of a title
TITLE_MARGIN_INCHES = 0.12  # left of a title


@dataclass(frozen=True)
class Bar:
    """A scale of colors: its colors, its title, and texts below it at shares of its width."""

    colors: Sequence[Any]
    title: str
    texts: Sequence[tuple[float, str]]
    is_own_text: bool = True

    @property
    def lines_below(self) -> int:
        """Number of lines of the texts below the bar."""
        return max(text.count("\n") for _, text in self.texts) + 1

    def title_lines(self, width: float) -> list[str]:
        """Return the title in lines that fit."""
        return textwrap.wrap(self.title, int(width / LETTER_INCHES))

    def height(self, width: float) -> float:
        """Return the height of the bar with its texts, in inches."""
        return 0.16 * len(self.title_lines(width)) + 0.06 + BAR_INCHES + FOOT_LINE_INCHES * self.lines_below + 0.08

    def draw(self, ax: Axes, title_lines: Sequence[str]) -> None:
        """Draw the bar so that it fills an Axes, with its texts outside."""
        image = [[to_rgba(color) for color in self.colors]]
        ax.imshow(image, aspect="auto", extent=(0, 1, 0, 1), interpolation="nearest")
        ax.set(yticks=[], xticks=[])
        ax.spines["bottom"].set_visible(False)
        for share, text in self.texts:
            side = "left" if share < 0.02 else "right" if share > 0.95 else "center"
            ax.text(share, -0.5, text, ha=side, va="top", transform=ax.transAxes, linespacing=1.15, **SOFT_TEXT)
        for place, line in enumerate(reversed(title_lines)):
            label = math_text(line, self.is_own_text)
            y = 1.5 + 1.6 * place
            ax.text(0, y, label.pop("label"), va="bottom", fontsize=8.5, transform=ax.transAxes, **label)


@dataclass(frozen=True)
class Reading:
    """What explains a figure: classes with their colors, a scale of colors, and sentences; each may be missing."""

    text: str = ""
    legend: Sequence[tuple[str, str]] = ()
    bar: Bar | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to explain."""
        return not self.text and not self.legend and self.bar is None

    @cached_property
    def class_names(self) -> list[str]:
        """The names of the classes as the legend has them."""
        return list(short_names([name for name, _ in self.legend], MAX_NAME_LETTERS).values())

    def legend_columns(self, width: float) -> int:
        """Return the number of columns of class names, each as wide as its widest name, that fit."""
        inches = [LEGEND_DOT_INCHES + LETTER_INCHES * text_breadth(name) for name in self.class_names]
        for columns in range(min(len(inches), MAX_LEGEND_COLUMNS), 1, -1):
            rows = -(-len(inches) // columns)
            if sum(max(inches[at : at + rows]) for at in range(0, len(inches), rows)) <= width:
                return -(-len(inches) // rows)
        return 1

    def lines(self, width: float) -> list[str]:
        """Return the sentences in lines that fit."""
        paragraphs = self.text.split("\n") if self.text else []
        return [line for text in paragraphs for line in textwrap.wrap(text, int(width / FOOT_LETTER_INCHES))]

    def height(self, width: float) -> float:
        """Return the height of everything in inches."""
        legend = LEGEND_LINE_INCHES * -(-len(self.legend) // self.legend_columns(width)) if self.legend else 0.0
        bar = self.bar.height(min(width, CELL_INCHES)) if self.bar else 0.0
        return legend + bar + FOOT_LINE_INCHES * len(self.lines(width)) + 0.06

    def draw(self, figure: Figure, left: float, top: float, width: float) -> None:
        """Draw everything below ``top``, both in inches from the lower left of the figure."""
        across, high = figure.get_size_inches()
        if self.legend:
            write_legend(figure, self, (left / across, top / high), self.legend_columns(width))
            top -= LEGEND_LINE_INCHES * -(-len(self.legend) // self.legend_columns(width)) + 0.04
        if self.bar:
            bar_width = min(width, CELL_INCHES)
            title_lines = self.bar.title_lines(bar_width)
            bottom = top - 0.16 * len(title_lines) - 0.06 - BAR_INCHES
            box = (left / across, bottom / high, bar_width / across, BAR_INCHES / high)
            self.bar.draw(figure.add_axes(box), title_lines)
            top -= self.bar.height(bar_width)
        for place, line in enumerate(self.lines(width)):
            y = (top - FOOT_LINE_INCHES * place) / high
            figure.text(left / across, y, line, ha="left", va="top", **SOFT_TEXT)


def write_legend(figure: Figure, reading: Reading, place: tuple[float, float], columns: int) -> None:
    """Write the names of the classes with their colors, below a place of the figure."""
    style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 5, "markeredgewidth": 0}
    figure.legend(
        [Line2D([], [], color=color, **style) for _, color in reading.legend],
        reading.class_names,
        loc="upper left",
        bbox_to_anchor=place,
        ncols=columns,
        frameon=False,
        handlelength=1.0,
        handletextpad=0.1,
        columnspacing=1.2,
        labelspacing=0.5,
        borderpad=0.0,
        borderaxespad=0.0,
    )


class PanelGrid:
    """A figure of panels, at most three in a row, and the reading panel that explains them.

    Parameters
    ----------
    count : number of panels
    reading : what explains them; it fills the rest of the last row if it fits, else it has a row of its own
    foot : lines below everything
    left, below : inches left of and below each panel for the numbers of its axes
    height : inches of a panel; as high as wide by default
    head_lines : lines between the name of a panel and the panel
    """

    def __init__(
        self,
        count: int,
        reading: Reading = Reading(),
        foot: str = "",
        *,
        left: float = 0.0,
        below: float = 0.0,
        height: float | None = None,
        head_lines: int = 0,
        cell: float = CELL_INCHES,
    ) -> None:
        self.reading, self._foot, self._title = reading, Reading(foot), ("", "")
        height = cell - left if height is None else height
        self.head_lines, self.left = head_lines, left
        head = HEAD_INCHES + HEAD_LINE_INCHES * head_lines
        row = head + height + below + GAP_INCHES
        step = cell + GAP_INCHES
        has_names_only = not reading.text and reading.bar is None
        is_low = count == 1 and has_names_only and reading.height(cell) <= row / 3  # beside it half would be empty
        columns = min(MAX_COLUMNS, count + (not reading.is_empty and not is_low))
        free_places = -count % columns
        is_beside = (
            bool(free_places)
            and not reading.is_empty
            and reading.height(free_places * step - GAP_INCHES) <= row - HEAD_INCHES
        )
        if not is_beside:
            columns = min(MAX_COLUMNS, count)
        rows = -(-count // columns)
        width = columns * step - GAP_INCHES + 2 * EDGE_INCHES
        if not is_beside and not reading.is_empty and not is_low:
            width = max(width, CELL_INCHES * 1.3 + 2 * EDGE_INCHES)
        across = width - 2 * EDGE_INCHES
        below_all = self._foot.height(across) if foot else 0.0
        own_row = 0.0 if is_beside or reading.is_empty else reading.height(across)
        below_panels = below_all + own_row + (GAP_INCHES if below_all or own_row else 0.0)
        total = rows * row - GAP_INCHES + EDGE_INCHES + below_panels
        self.figure = new_figure(width, total)
        if count > 1 and not isinstance(self.figure, Figure):
            raise single_panel_error(count)
        top = total - EDGE_INCHES / 2
        self.axes: list[Axes] = []
        for place in range(count):
            line, column = divmod(place, columns)
            x, y = EDGE_INCHES + left + column * step, top - line * row - head - height
            self.axes.append(self.figure.add_axes((x / width, y / total, (cell - left) / width, height / total)))
        column = count % columns
        self._foot_place = (EDGE_INCHES, below_all + EDGE_INCHES / 4, across)
        self._place = (EDGE_INCHES, own_row + below_all + EDGE_INCHES / 4, across)
        if is_beside:
            self._place = (
                EDGE_INCHES + column * step,
                top - (rows - 1) * row - HEAD_INCHES,
                free_places * step - GAP_INCHES,
            )

    def name(self, place: int, name: str, aside: str = "") -> None:
        """Write the name of a panel, and a text below it; on the reader's Axes as much of both as fits."""
        if isinstance(self.figure, Figure):
            name_panel(self.axes[place], name, aside, self.left)
        else:
            self._title = name, aside

    def finish(self) -> Figure:
        """Draw the reading panel, and return the figure; on the reader's Axes only what fits there."""
        if isinstance(self.figure, Figure):
            self.reading.draw(self.figure, *self._place)
            self._foot.draw(self.figure, *self._foot_place)
            return self.figure
        if self.reading.bar and not self.left:
            _bar_within(self.axes[0], self.reading.bar)
        inches, (name, aside) = panel_inches(self.axes[0]), self._title
        while aside and len(aside) * FOOT_LETTER_INCHES > inches:
            aside = aside.rpartition(", ")[0]
        name_panel(self.axes[0], short_name(name, int(inches / NAME_LETTER_INCHES)), aside)
        if self.reading.legend:
            columns = self.reading.legend_columns(panel_inches(self.axes[0]))
            write_legend(self.figure, self.reading, (0.0, -0.02), columns)
        return self.figure


def _bar_within(ax: Axes, bar: Bar) -> None:
    """Draw a bar below the points within the reader's Axes, with the text for which there is space."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    below = FOOT_LINE_INCHES * bar.lines_below + 0.08
    inches = below + BAR_INCHES + 0.22
    high = min(box.height, box.width + inches * dpi) / dpi
    share = min(inches / high, 0.6)
    low, top = ax.get_ylim()
    ax.set_ylim(top - (top - low) / (1 - share), top)
    width = panel_inches(ax)
    lines = title_lines if len(title_lines := bar.title_lines(width)) == 1 else []
    if FOOT_LETTER_INCHES * sum(max(map(len, text.split("\n"))) + 2 for _, text in bar.texts) > width:
        bar = replace(bar, texts=[(at, text.partition("\n")[0]) for at, text in bar.texts if at in (0, 1)])
    bar.draw(ax.inset_axes((0.0, share * below / inches, 1.0, share * BAR_INCHES / inches)), lines)


def panel_inches(ax: Axes) -> float:
    """Return the side of the square of the points of a panel, in inches."""
    box, (low, top) = ax.get_window_extent(), ax.get_ylim()
    return float(min(box.width, box.height * 2 / abs(top - low)) / ax.figure.dpi)


def name_panel(ax: Axes, name: str, aside: str = "", left: float = 0.0) -> None:
    """Write a name above a panel, ``left`` inches from its axis, and a text on a line of its own between both."""
    style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom", "ha": "left"}
    lines = aside.split("\n") if aside else []
    for place, line in enumerate(reversed(lines)):
        label = math_text(line, True)
        offset = (-72 * left, 5 + 72 * HEAD_LINE_INCHES * place)
        ax.annotate(label.pop("label"), (0, 1), xytext=offset, **style, **SOFT_TEXT, **label)
    pad = 5.0 + 72 * HEAD_LINE_INCHES * len(lines)
    title = ax.set_title(name, loc="left", fontsize=9, fontweight="bold", color=LIGHT["ink"], pad=pad)
    title.set_x(-left / (ax.get_position().width * ax.figure.get_figwidth()))  # type: ignore[union-attr]


def figure_names(names: Iterable[str]) -> tuple[dict[str, str], str]:
    """Return the names as figures have them, and the full names of those that are shortened."""
    short = short_names(names, MAX_NAME_LETTERS)
    full = [f"{form}: {printable(name)}" for name, form in short.items() if form != printable(name)]
    more_names = [f"{len(full) - MAX_FULL_NAMES} more names are shortened."] if len(full) > MAX_FULL_NAMES else []
    return short, "\n".join([*full[:MAX_FULL_NAMES], *more_names])


def head_lines(text: str) -> list[str]:
    """Return a text above a panel in lines that fit."""
    return textwrap.wrap(text, int(CELL_INCHES / FOOT_LETTER_INCHES))


def foot_lines(text: str, width: float) -> list[str]:
    """Return a text in lines that fit in ``width`` inches."""
    return Reading(text).lines(width)


def write_foot(figure: Figure, left: float, lines: Sequence[str], bottom: float = 0.08) -> None:
    """Write lines of text at the foot of a figure, the last one ``bottom`` inches above its end."""
    style: dict[str, Any] = {"ha": "left", "va": "bottom", **SOFT_TEXT}
    for place, line in enumerate(lines, 1):
        y = bottom + FOOT_LINE_INCHES * (len(lines) - place)
        figure.text(left, y / figure.get_figheight(), line, **style)


def title_inches(lines: Sequence[str]) -> float:
    """Return the width of a figure that the lines of its title need."""
    return 2 * TITLE_MARGIN_INCHES + TITLE_LETTER_INCHES * max(map(text_breadth, lines), default=0.0)


def write_title(figure: Figure, lines: Sequence[str]) -> None:
    """Write the title of a figure in lines at its upper left, with subscripts in symbols."""
    if lines and not isinstance(figure, Figure):  # the reader's Axes
        figure.ax.set_title("\n".join(lines), loc="left", fontsize=9, color=LIGHT["ink"])
        return
    width, height = figure.get_size_inches()
    for place, line in enumerate(lines):
        label = math_text(line, True)
        style: dict[str, Any] = {"va": "top", "fontsize": 9, "color": LIGHT["ink" if place == 0 else "soft"]}
        figure.text(
            TITLE_MARGIN_INCHES / width, 1 - (0.08 + 0.17 * place) / height, label.pop("label"), **style, **label
        )
