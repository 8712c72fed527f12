"""The page of figures: every kind that a result can draw, drawn from the same evaluation."""

from __future__ import annotations

from pathlib import Path

from _site._family import evaluated
from _site._text import page, raw, title, write
from dreval.report._svg import inline_svg
from dreval.report.figures import KINDS

SHOWN = ("unrolled", "PCA", "torn")
CURVES = {"curve": {"index": "r_nx"}}


def write_figures(folder: Path) -> list[str]:
    """Write the page; its name below the folder."""
    pieces = [
        title("Figures"),
        "``Results.plot(kind)`` gives a matplotlib figure, which knows no global list: save it with ``savefig``.",
    ]
    for kind in KINDS:
        figure = evaluated().plot(kind, names=list(SHOWN), **CURVES.get(kind, {}))
        drawn = inline_svg(figure, f"kind{kind}", f"A figure of the kind {kind}")
        pieces += [title(f'"{kind}"', "-"), raw(f'<div class="drawn">{drawn}</div>')]
    pieces += [
        title("Reference", "-"),
        ".. autofunction:: dreval.report.figures.plot",
        ".. autofunction:: dreval.report.comparisons.plot_comparison",
    ]
    write(folder / "figures.rst", page(*pieces))
    return ["figures"]
