"""The figures of tests on a page: paired differences as forests, and statistics beside their null distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from dreval.records.comparison import Comparison
from dreval.records.results import Results, point_column
from dreval.report._nulls import EDGE, Bars, draw_panel, kept_null
from dreval.report._numbers import decisive_p
from dreval.report._reading import Reading, parameter_words
from dreval.report._style import drawing, embedding_color, one_axes
from dreval.report._svg import inline_svg
from dreval.report.plot import draw_comparison
from dreval.report.render.markup import printable

__all__ = ["add_nulls", "forests"]

FORESTS = ("trustworthiness", "continuity")  # drawn where they were run, else the first two; all stand in the table
MOST_NULLS = 24
WIDTH, HEIGHT = 2.3, 1.3  # inches of a histogram


def forests(found: Comparison | None, reading: Reading) -> list[dict[str, str]]:
    """The forests of the paired differences of two measures."""
    if found is None:
        return []
    rows = found.pairs[found.pairs["conf_low"].notna()]
    having = {point_column(i, p) for i, p in zip(rows["measure"], rows["parameters"], strict=True)}
    columns = [c for c in reading.main if point_column(c.measure, c.parameters) in having]
    chosen = [c for name in FORESTS for c in columns if c.measure == name] or columns[:2]
    made = []
    for number, column in enumerate(chosen):
        key = point_column(column.measure, column.parameters)
        figure = draw_comparison(found, "forest", measure=key, titled=False, explained=False)
        label = f"Paired differences in {column.named}: advantage of the first of each pair, with its interval"
        aside = parameter_words(column.parameters)
        made.append({"title": column.title, "aside": aside, "drawing": inline_svg(figure, f"f{number}", label)})
    return made


def add_nulls(groups: Sequence[dict[str, Any]], results: Results, reading: Reading) -> None:
    """Give each group of tests the histograms of its null distributions, where the result holds them."""
    number = 0
    for group in groups:
        group["nulls"] = []
        for row in sorted(group["tests"], key=lambda one: (str(one["target"]), str(one["test"]))):
            null = kept_null(results, row)
            if not len(null.counts) or number >= MOST_NULLS:
                continue
            place = reading.names.index(row["embedding"])
            with drawing():
                figure = _histogram(null, row, embedding_color(place))
            name, test = printable(row["embedding"]), str(row["test"]).upper()
            about = f"{test} of {name} and {printable(row['target'])}: observed {row['statistic']:.4g}, by chance "
            about += f"{row['chance']:.4g} on average, {decisive_p(row)}"
            drawn = inline_svg(figure, f"h{number}", about)
            aside = f"{test}, {printable(row['target'])}: by chance {row['chance']:.3g}; "
            aside += decisive_p(row).replace(" ", "\N{NO-BREAK SPACE}")
            group["nulls"].append({"title": name, "aside": aside, "drawing": drawn})
            number += 1


def _histogram(null: Bars, row: Mapping[str, Any], color: str) -> Figure:
    """The null distribution and the observed statistic."""
    figure, ax = one_axes(WIDTH, HEIGHT, EDGE, EDGE, 0.3, 0.3)
    draw_panel(ax, null, float(row["statistic"]), color)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    return figure
