"""Draw null distributions with the observed statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

from dreval._check import FloatArray, check_one_of
from dreval._text import p_text, plain_numbers, true_minus
from dreval.errors import InputError
from dreval.records.results import Results
from dreval.records.tests import HypothesisTest
from dreval.registry import TESTS
from dreval.report._style import LIGHT, draw_for_reader, one_axes
from dreval.report.figures._grid import PanelGrid, Reading, figure_names, name_panel
from dreval.report.figures._kind import figure
from dreval.report.format import adjusted_by, decisive_p, short_name, test_name
from dreval.report.resamples import NULL_DATA_NAMES, resample_noun
from dreval.report.result_view import ResultView

# The statistic of a test with its null distribution: a histogram of permutations, or a density.

DIGIT_INCHES = 0.079  # inches of a digit of a tick
EDGE_INCHES = 0.2  # inches left and right of the axis of every panel
FAR_RANGES = 5.0  # lengths of the null range from which the statistic is beyond the axis, and an arrow points to it


@dataclass(frozen=True)
class Histogram:
    """A histogram: the ends of its cells, and the number of values in each."""

    low: FloatArray
    high: FloatArray
    counts: npt.NDArray[Any]

    def ends(self) -> tuple[float, float]:
        """Return the ends of the cells that hold values."""
        has_values = self.counts > 0
        return float(self.low[has_values].min()), float(self.high[has_values].max())


def _make_histogram(values: FloatArray) -> Histogram:
    """Return the histogram of values, as results store it."""
    if not len(values):
        return Histogram(values, values, values)
    counts, edges = np.histogram(values, bins=min(40, max(5, int(len(values) ** 0.5))))
    return Histogram(edges[:-1], edges[1:], counts)


def stored_null(results: Results, row: Any) -> Histogram:
    """Return the histogram of the permutations behind one row of a test."""
    nulls = results._nulls
    of_test = (nulls["embedding"] == row["embedding"]) & (nulls["test"] == row["test"])
    cells = nulls[of_test & (nulls["variable"] == row["variable"])]
    return Histogram(cells["low"].to_numpy(), cells["high"].to_numpy(), cells["count"].to_numpy())


def null_histogram(test: HypothesisTest, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the null distribution of a test as a histogram, and the observed statistic as a line.

    See ``IndependenceTest.plot``.

    Notes
    -----
    If the statistic is so far beyond all permutations that these would be one line, it is not drawn to scale: an arrow
    points to it, with its value. For a test without resampling the gamma or chi-square density is drawn. O(m) time
    and memory for m resamples.

    Examples
    --------
    >>> import numpy as np
    >>> from dreval.records.tests import IndependenceTest
    >>> null = np.array([0.1, 0.3, 0.2])
    >>> test = IndependenceTest("hsic", "HSIC", 0.4, 0.25, null, 0.5, "CKA", (0.0, 0.71))
    >>> null_histogram(test).axes[0].get_xlabel()
    'statistic of 3 permutations'
    """

    def draw() -> Figure:
        figure, ax = one_axes(4.6, 2.5, 0.55, 0.3, 0.5, 0.6)
        null = np.asarray(test.null_distribution, dtype=np.float64)
        density = () if len(null) else _null_density(test)
        text = draw_panel(ax, _make_histogram(null), test.statistic, density)
        resamples_text = f"{resample_noun({'test': test.test, 'variable': ''})}s"
        ax.set_ylabel(resamples_text if len(null) else "null density" if len(density) else "")
        ax.set_xlabel(f"statistic of {len(null):,} {resamples_text}" if len(null) else "statistic")
        name_panel(ax, short_name(test.title, 60), f"{text}, {p_text(test.p_value)}")
        return figure

    return draw_for_reader(draw, ax, figsize)


def draw_panel(ax: Axes, null: Histogram, statistic: float, density: tuple[Any, ...] = ()) -> str:
    """Draw the values under permutation in gray and the statistic in ink; return the statistic in words."""
    style: dict[str, Any] = {"color": LIGHT["soft"], "alpha": 0.55, "linewidth": 0}
    if len(null.counts):
        ax.bar(null.low, null.counts, null.high - null.low, align="edge", **style)
    elif len(density):
        ax.fill_between(density[0], density[1], **style)
        ax.set_ylim(0, 1.05 * float(density[1].max()))
    low, high = (
        null.ends() if len(null.counts) else (density[0][0], density[0][-1]) if len(density) else (statistic, statistic)
    )
    is_far = statistic - high > FAR_RANGES * (high - low) > 0
    if is_far:
        high += 0.5 * (high - low)
    low, high = min(low, statistic), high if is_far else max(high, statistic)
    pad = 0.04 * (high - low) or abs(high) or 1.0
    ax.set_xlim(low - pad, high + pad)
    if is_far:
        end, span = ax.get_xlim()[1], ax.get_xlim()[1] - ax.get_xlim()[0]
        coordinates = {"xycoords": ("data", "axes fraction"), "textcoords": ("data", "axes fraction")}
        arrow = {"arrowstyle": "-|>", "color": LIGHT["ink"], "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (end, 0.5), (end - 0.22 * span, 0.5), arrowprops=arrow, **coordinates)  # type: ignore[arg-type]
    else:
        ax.axvline(statistic, color=LIGHT["ink"], linewidth=1.6)
    inches = ax.get_position().width * ax.figure.get_figwidth()  # type: ignore[union-attr]
    bottom, top = ax.get_xlim()
    for count in (3, 2, 1):
        at = [x for x in MaxNLocator(count).tick_values(bottom, top) if bottom <= x <= top]
        labels = plain_numbers(at)
        widest = DIGIT_INCHES * max(map(len, labels), default=0)
        if (widest + DIGIT_INCHES) * len(labels) <= inches:
            break
    margin = (widest / 2 - EDGE_INCHES) * (top - bottom) / inches
    ticks = [tick for tick in zip(at, labels, strict=True) if bottom + margin <= tick[0] <= top - margin]
    ax.xaxis.set_major_locator(FixedLocator([x for x, _ in ticks]))
    ax.xaxis.set_major_formatter(FixedFormatter([label for _, label in ticks]))
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=bool(len(null.counts))))
    return true_minus(f"observed {statistic:.4g}") + (", far beyond" if is_far else "")


def _null_density(test: HypothesisTest) -> tuple[Any, ...]:
    """Return the gamma density with the mean and standard deviation of a test: values and density; else empty."""
    from scipy.stats import gamma

    mean, sd = test.extra.get("chance", np.nan), test.extra.get("null_sd", np.nan)
    if not (mean > 0 and sd > 0):
        return ()
    null = gamma((mean / sd) ** 2, scale=sd**2 / mean)
    at = np.linspace(null.ppf(1e-3), null.ppf(0.9995), 300)
    top = np.inf if mean > sd else null.pdf(null.ppf(0.1))  # the density has a pole at 0
    return at, np.minimum(null.pdf(at), top)


PANEL_LEFT_INCHES = 0.34  # for the numbers of counts
PANEL_BELOW_INCHES = 0.4  # for the numbers of the statistic
PANEL_HEIGHT_INCHES = 1.3


@figure(
    "the statistic of a test of independence against its values under permutation",
    question="Is it more than chance?",
    reading="A statistic far right of the gray values is more than chance.",
)
def draw_null(
    results: Results, view: ResultView, names: list[str], *, test: str | None = None, variable: str | None = None
) -> Figure:
    """Draw one test: a histogram for each embedding, and a line at the observed statistic."""
    tests = _requested_tests(results, view, names, test, variable)
    short, full_names = figure_names([row["embedding"] for row in tests])
    reading = Reading(_null_text(results, tests))
    options = {"left": PANEL_LEFT_INCHES, "below": PANEL_BELOW_INCHES, "height": PANEL_HEIGHT_INCHES}
    grid = PanelGrid(len(tests), reading, full_names, head_lines=2, **options)
    for place, row in enumerate(tests):
        ax = grid.axes[place]
        text = draw_panel(ax, stored_null(results, row), row["statistic"])
        ax.tick_params(labelsize=8, pad=2)
        ax.set_xlabel("statistic", fontsize=8, labelpad=1)
        ax.set_ylabel(f"{resample_noun(row)}s", fontsize=8, labelpad=2)
        grid.name(place, short[row["embedding"]], f"{text}\n{decisive_p(row)}")
    return grid.finish()


def _null_text(results: Results, chosen: list[Any]) -> str:
    """Return the test, and the adjustment of p."""
    test, adjust = chosen[0], results.recipe.get("adjust")
    has_adjusted = any(row["p_adjusted"] == row["p_adjusted"] for row in chosen)
    resamples_text = f"{resample_noun(test)}s"
    card, variable = TESTS.card(test["test"]), test["variable"]
    null = f"{card.title} against {NULL_DATA_NAMES.get(variable, variable)}"
    against = null if card.second == "method" else f"{test_name(card.name)} against {variable}"
    text = f"{against}. Gray: {test['n_resamples']:,} {resamples_text} of each embedding; line: the observed statistic."
    return f"{text} P {adjusted_by(adjust)}." if has_adjusted and adjust != "nothing" else text


def _requested_tests(
    results: Results, view: ResultView, names: list[str], test: str | None, variable: str | None
) -> list[Any]:
    """Return the rows of one test against one variable, of the embeddings that have permutations."""
    tests = (*view.tests, *view.method_tests)
    if not tests:
        hint = "Pass labels or covariates to Evaluation, and run(tests='hsic')."
        raise InputError("results", "must hold a test of independence", "none", hint)
    rows = [row for row in tests if row["embedding"] in names]
    if test is not None:
        TESTS.check_run(test, {row["test"] for row in tests}, "test")
        rows = [row for row in rows if row["test"] == test]
    if variable is not None:
        check_one_of(variable, {row["variable"] for row in rows}, "variable")
        rows = [row for row in rows if row["variable"] == variable]
    rows = [row for row in rows if len(stored_null(results, row).counts)]
    if not rows:
        hint = "Run the evaluation again with a test that permutes; an older file has not kept its permutations."
        raise InputError("results", "must hold statistics under permutation", "none of this test", hint)
    return [row for row in rows if (row["test"], row["variable"]) == (rows[0]["test"], rows[0]["variable"])]
