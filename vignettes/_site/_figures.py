"""The page of figures: every kind that a result or a comparison can draw, each drawn from a small evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import dreval
from _site._family import evaluated, pictures, sheet
from _site._text import page, raw, title, write
from dreval.report._svg import inline_svg
from dreval.report.comparisons import COMPARISON_KINDS
from dreval.report.figures import KINDS

SHOWN = ("unrolled", "PCA", "torn")
OPTIONS = {"curve": {"index": "r_nx"}}
SETS = ("swiss_roll", "cylinder", "hemisphere", "sphere", "s3", "s4", "trefoil")
METHODS = ("pca", "isomap", "classical_mds", "laplacian_eigenmaps")


def write_figures(folder: Path) -> list[str]:
    """Write the page; its name below the folder."""
    pieces = [
        title("Figures"),
        "``Results.plot(kind)`` and ``Comparison.plot(kind)`` give a matplotlib figure: save it with ``savefig``.",
        *_drawn("Results.plot", ((kind, _of_results(kind)) for kind in KINDS)),
        *_drawn("Comparison.plot", ((kind, _of_comparison(kind)) for kind in COMPARISON_KINDS)),
        title("Reference", "-"),
        ".. autofunction:: dreval.report.figures.plot",
        ".. autofunction:: dreval.report.comparisons.plot_comparison",
    ]
    write(folder / "figures.rst", page(*pieces))
    return ["figures"]


def _drawn(verb: str, figures: Iterator[tuple[str, Any]]) -> Iterator[str]:
    for kind, figure in figures:
        prefix = kind.replace("_", "")
        yield title(f'{verb}("{kind}")', "-")
        yield raw(f'<div class="drawn">{inline_svg(figure, prefix, f"A figure of the kind {kind}")}</div>')


def _of_results(kind: str) -> Any:
    return evaluated().plot(kind, names=list(SHOWN), **OPTIONS.get(kind, {}))


def _of_comparison(kind: str) -> Any:
    return (_within() if kind in ("forest", "difference_map") else _across()).plot(kind)


def _within() -> Any:
    """The shown pictures compared at their points."""
    shown = {name: pictures()[name] for name in SHOWN}
    evaluation = dreval.Evaluation(sheet()[0], shown, random_state=0)
    return evaluation.run(["trustworthiness", "continuity"], tests=None).compare()


def _across() -> Any:
    """Methods compared over simulated data sets."""
    tables = []
    for name in SETS:
        data = dreval.simulate(name, n=150, random_state=0).data
        evaluation = dreval.Evaluation(data, {method: method for method in METHODS}, random_state=0)
        tables.append(evaluation.run(["trustworthiness"], tests=None, ci=None).tidy().assign(dataset=name))
    return dreval.compare(pd.concat(tables))
