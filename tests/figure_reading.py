"""Reading figures: their texts, and texts that are cut off or overlap."""

from __future__ import annotations

import itertools
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text


def texts(figure: Figure) -> list[str]:
    """Return every visible text of a figure, including titles on both sides."""
    figure.draw_without_rendering()
    return [text.get_text().strip() for text in _visible_texts(figure)]


def _visible_texts(figure: Figure) -> list[Text]:
    visible = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    ticks = [text for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for text in _idle_ticks(axis)]
    return [text for text in visible if not any(text is tick for tick in ticks)]


def _idle_ticks(axis: Any) -> list[Text]:
    """Return the labels of ticks beyond the ends of an axis, which matplotlib does not draw."""
    low, high = sorted(axis.get_view_interval())
    pad = 1e-9 * (high - low)
    idle = [tick for tick in axis.get_major_ticks() if not low - pad <= tick.get_loc() <= high + pad]
    return [label for tick in idle for label in (tick.label1, tick.label2)]


def cut_off(figure: Figure, slack: float = 1.0) -> list[str]:
    """Return texts that leave the paper by more than ``slack`` pixels."""
    figure.draw_without_rendering()
    paper, texts_outside = figure.bbox, []
    for text in _visible_texts(figure):
        box = text.get_window_extent()
        is_inside = paper.x0 - slack <= box.x0 and box.x1 <= paper.x1 + slack
        if not (is_inside and paper.y0 - slack <= box.y0 and box.y1 <= paper.y1 + slack):
            texts_outside.append(text.get_text())
    return texts_outside


def overlapping(figure: Figure, slack: float = 2.0) -> list[tuple[str, str]]:
    """Return pairs of texts whose boxes overlap, after each box is reduced by ``slack`` pixels on every side."""
    figure.draw_without_rendering()
    unrotated = [text for text in _visible_texts(figure) if text.get_rotation() in (0.0, 90.0)]
    boxes = [(text.get_text(), text.get_window_extent().padded(-slack)) for text in unrotated]
    nonempty = [(text, box) for text, box in boxes if box.width > 0 and box.height > 0]
    pairs = itertools.combinations(nonempty, 2)
    return [(a, b) for (a, left), (b, right) in pairs if left.overlaps(right)]
