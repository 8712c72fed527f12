"""Checks of figures: their texts, and whether a text is cut off or overlaps another."""

from __future__ import annotations

import itertools
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text


def texts(figure: Figure) -> list[str]:
    """Return all texts of a figure, including the titles on both sides."""
    figure.draw_without_rendering()
    return [text.get_text().strip() for text in _shown(figure)]


def _shown(figure: Figure) -> list[Text]:
    result = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    ticks = [text for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for text in _idle_ticks(axis)]
    return [text for text in result if not any(text is item for item in ticks)]


def _idle_ticks(axis: Any) -> list[Text]:
    """Return the tick labels beyond the ends of an axis, which are never drawn."""
    low, high = sorted(axis.get_view_interval())
    pad = 1e-9 * (high - low)
    beyond = [tick for tick in axis.get_major_ticks() if not low - pad <= tick.get_loc() <= high + pad]
    return [label for tick in beyond for label in (tick.label1, tick.label2)]


def cut_off(figure: Figure, slack: float = 1.0) -> list[str]:
    """Return the texts that exceed the figure by more than this many pixels."""
    figure.draw_without_rendering()
    paper, result = figure.bbox, []
    for text in _shown(figure):
        box = text.get_window_extent()
        inside = paper.x0 - slack <= box.x0 and box.x1 <= paper.x1 + slack
        if not (inside and paper.y0 - slack <= box.y0 and box.y1 <= paper.y1 + slack):
            result.append(text.get_text())
    return result


def overlapping(figure: Figure, slack: float = 2.0) -> list[tuple[str, str]]:
    """Return the pairs of texts whose boxes, each smaller by this many pixels on every side, overlap."""
    figure.draw_without_rendering()
    straight = [text for text in _shown(figure) if text.get_rotation() in (0.0, 90.0)]
    boxes = [(text.get_text(), text.get_window_extent().padded(-slack)) for text in straight]
    level = [(words, box) for words, box in boxes if box.width > 0 and box.height > 0]
    return [(a, b) for (a, item), (b, other) in itertools.combinations(level, 2) if item.overlaps(other)]
