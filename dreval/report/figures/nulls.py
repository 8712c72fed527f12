"""Draw null distributions with the observed statistic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

from dreval._check import FloatArray, check_one_of
from dreval.errors import InputError
from dreval.glossary import printable, true_minus
from dreval.records.answers import IndependenceTest
from dreval.records.results import Results
from dreval.registry import TESTS
from dreval.report._style import LIGHT, draw_for_reader, drawing, embedding_color, grid, one_axes
from dreval.report._svg import inline_svg
from dreval.report.document import Figure as Drawn
from dreval.report.figures._kind import figure
from dreval.report.figures._panels import WORDS, foot_lines, name_panel, write_foot
from dreval.report.format import adjusted_by, counted, decisive_p, p_words, plain_numbers, short_name
from dreval.report.reading import Reading
from dreval.report.statements import NULL_WORDS, is_smallest, resampled

# The statistic of a test with its null distribution: a histogram of permutations, or a density.

DIGIT = 0.079  # inches of a digit of a tick
EDGE = 0.2  # inches beside the axis that any panel has
FAR = 5.0  # lengths of the null range from which the statistic is beyond the axis, and an arrow points to it


@dataclass(frozen=True)
class Bars:
    """A histogram: the ends of its cells, and how many values lie in each."""

    low: FloatArray
    high: FloatArray
    counts: npt.NDArray[Any]

    def ends(self) -> tuple[float, float]:
        """The ends of the cells that hold values."""
        there = self.counts > 0
        return float(self.low[there].min()), float(self.high[there].max())


def _bars(values: FloatArray) -> Bars:
    """The histogram of values, as results keep it."""
    if not len(values):
        return Bars(values, values, values)
    counts, edges = np.histogram(values, bins=min(40, max(5, int(len(values) ** 0.5))))
    return Bars(edges[:-1], edges[1:], counts)


def kept_null(results: Results, row: Any) -> Bars:
    """The histogram of the permutations behind one row of a test."""
    nulls = results.nulls
    mine = (nulls["embedding"] == row["embedding"]) & (nulls["test"] == row["test"])
    cells = nulls[mine & (nulls["variable"] == row["variable"])]
    return Bars(cells["low"].to_numpy(), cells["high"].to_numpy(), cells["count"].to_numpy())


def null_histogram(test: IndependenceTest, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the null distribution of a test as a histogram, and the observed statistic as a line.

    Parameters
    ----------
    test : IndependenceTest
        What a test gave.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    figsize : (float, float), optional
        Width and height of a new figure, in inches.

    Returns
    -------
    matplotlib Figure, or ``ax`` where it is given

    Notes
    -----
    A statistic so far beyond all permutations that these would be one line is not drawn to scale: an arrow points to
    it, with its value. Of a test without resampling the gamma or chi-square density is drawn. O(m) time
    and memory for m resamples.

    Examples
    --------
    >>> import numpy as np
    >>> null = np.array([0.1, 0.3, 0.2])
    >>> test = IndependenceTest("hsic", "HSIC", 0.4, 0.25, null, 3, 0.5, "CKA", (0.0, 0.71))
    >>> null_histogram(test).axes[0].get_xlabel()
    'statistic of 3 permutations'
    """

    def draw() -> Figure:
        figure, ax = one_axes(4.6, 2.5, 0.55, 0.3, 0.5, 0.6)
        null = np.asarray(test.null_distribution, dtype=np.float64)
        density = () if len(null) else _null_density(test)
        draw_panel(ax, _bars(null), test.statistic, LIGHT["ink"], p_words(test.p_value), density)
        drawn = f"{resampled({'test': test.test, 'variable': ''})}s"
        ax.set_ylabel(drawn if len(null) else "null density" if len(density) else "")
        ax.set_xlabel(f"statistic of {len(null):,} {drawn}" if len(null) else "statistic")
        ax.set_title(short_name(test.title, 60), loc="left", fontsize=9, fontweight="bold", pad=18)
        return figure

    return draw_for_reader(draw, ax, figsize)


def draw_panel(
    ax: Axes, null: Bars, statistic: float, color: str, aside: str = "", density: tuple[Any, ...] = ()
) -> None:
    """The values under permutation in gray and the statistic in a color, with its value and what else is to be said.

    What is to be said stands behind the value, or below it where it begins with a new line.
    """
    look: dict[str, Any] = {"color": LIGHT["soft"], "alpha": 0.55, "linewidth": 0}
    if len(null.counts):
        ax.bar(null.low, null.counts, null.high - null.low, align="edge", **look)
    elif len(density):
        ax.fill_between(density[0], density[1], **look)
        ax.set_ylim(0, 1.05 * float(density[1].max()))
    low, high = (
        null.ends() if len(null.counts) else (density[0][0], density[0][-1]) if len(density) else (statistic, statistic)
    )
    far = statistic - high > FAR * (high - low) > 0
    if far:
        high += 0.5 * (high - low)
    low, high = min(low, statistic), high if far else max(high, statistic)
    pad = 0.04 * (high - low) or abs(high) or 1.0
    ax.set_xlim(low - pad, high + pad)
    words = true_minus(f"observed {statistic:.4g}") + (", far beyond" if far else "")
    _mark(ax, statistic, far, color, words + (aside if aside.startswith("\n") or not aside else f", {aside}"))
    inches = ax.get_position().width * ax.figure.get_figwidth()  # type: ignore[union-attr]
    bottom, top = ax.get_xlim()
    for count in (3, 2, 1):
        at = [x for x in MaxNLocator(count).tick_values(bottom, top) if bottom <= x <= top]
        labels = plain_numbers(at)
        widest = DIGIT * max(map(len, labels), default=0)
        if (widest + DIGIT) * len(labels) <= inches:
            break
    reach = (widest / 2 - EDGE) * (top - bottom) / inches
    shown = [one for one in zip(at, labels, strict=True) if bottom + reach <= one[0] <= top - reach]
    ax.xaxis.set_major_locator(FixedLocator([x for x, _ in shown]))
    ax.xaxis.set_major_formatter(FixedFormatter([label for _, label in shown]))
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=bool(len(null.counts))))


def _mark(ax: Axes, statistic: float, far: bool, color: str, words: str) -> None:
    """A line at the statistic, or an arrow towards one that is too far away, and its words above on its side."""
    low, high = ax.get_xlim()
    right = far or statistic > (low + high) / 2
    if far:
        inside = {"xycoords": ("data", "axes fraction"), "textcoords": ("data", "axes fraction")}
        arrow = {"arrowstyle": "-|>", "color": color, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (high, 0.5), (high - 0.22 * (high - low), 0.5), arrowprops=arrow, **inside)
    else:
        ax.axvline(statistic, color=color, linewidth=1.6)
    ax.annotate(
        words,
        (float(right), 1.0),
        xycoords="axes fraction",
        xytext=(0, 4),
        textcoords="offset points",
        ha="right" if right else "left",
        va="bottom",
        fontsize=8.5,
        color=color,
    )


def _null_density(test: IndependenceTest) -> tuple[Any, ...]:
    """The gamma density with the mean and standard deviation of a test: values and density; else nothing."""
    from scipy.stats import gamma

    mean, sd = test.extra.get("null_mean", np.nan), test.extra.get("null_sd", np.nan)
    if not (mean > 0 and sd > 0):
        return ()
    null = gamma((mean / sd) ** 2, scale=sd**2 / mean)
    at = np.linspace(null.ppf(1e-3), null.ppf(0.9995), 300)
    top = np.inf if mean > sd else null.pdf(null.ppf(0.1))  # the density has a pole at 0
    return at, np.minimum(null.pdf(at), top)


MOST_NULLS = 24
ALIKE = 3  # histograms; fewer are shown even where they say the same
WIDTH, HEIGHT = 2.3, 1.3  # inches of a histogram


@dataclass(frozen=True)
class Nulls:
    """Histograms of the null distributions of tests, how many there are, and what all of them say."""

    figures: Sequence[Drawn]
    drawn: int
    alike: str


def null_figures(tests: Sequence[Mapping[str, Any]], results: Results, reading: Reading, before: int = 0) -> Nulls:
    """The histograms of tests whose null distributions the result holds; ``before`` stand on the page already.

    Where every statistic lies beyond its null distribution the histograms say nothing but that, and so does a sentence.
    """
    kept = [(row, null) for row in tests if len((null := kept_null(results, row)).counts)]
    alike = len(kept) >= ALIKE and all(is_smallest(row) for row, _ in kept)
    several = f"all {counted(len(kept), 'test')}"
    said = f"In {several} the observed statistic is above every {resampled(kept[0][0])}." if alike else ""
    made = []
    kept.sort(key=lambda one: (str(one[0]["variable"]), str(one[0]["test"])))
    for number, (row, null) in enumerate(kept[: max(MOST_NULLS - before, 0)], before):
        with drawing():
            figure = _histogram(null, row, embedding_color(reading.named, row["embedding"]))
        name, test = printable(row["embedding"]), str(row["test"]).upper()
        about = f"{test} of {name} and {printable(row['variable'])}: "
        about += true_minus(f"observed {row['statistic']:.4g}, null mean {row['chance']:.4g}, {decisive_p(row)}")
        aside = f"{test}, {printable(row['variable'])}: null mean {true_minus(format(row['chance'], '.3g'))}; "
        aside += decisive_p(row).replace(" ", "\N{NO-BREAK SPACE}")
        made.append(Drawn(inline_svg(figure, f"h{number}", about), name, aside))
    return Nulls(made, len(kept), said)


def _histogram(null: Bars, row: Mapping[str, Any], color: str) -> Figure:
    """The null distribution and the observed statistic."""
    figure, ax = one_axes(WIDTH, HEIGHT, EDGE, EDGE, 0.3, 0.3)
    draw_panel(ax, null, float(row["statistic"]), color)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    return figure


SIDE, BESIDE, BELOW = 2.3, 0.34, 0.26
HEAD = 0.32  # for the two lines of words over a line


@figure("the statistic of a test of independence against its values under permutation")
def draw_null(
    results: Results, reading: Reading, names: list[str], *, test: str | None = None, variable: str | None = None
) -> Figure:
    """Small multiples of one test: a histogram for each embedding, and a line at the observed statistic."""
    chosen = _chosen(results, reading, names, test, variable)
    lines = foot_lines(_words(results, chosen), len(chosen), SIDE + BESIDE)
    foot = 0.12 + WORDS * len(lines) - HEAD  # below the last row nothing stands over a line
    made, axes = grid(len(chosen), SIDE, HEAD, foot, beside=BESIDE, below=BELOW + HEAD)
    for ax, row in zip(axes, chosen, strict=True):
        name = row["embedding"]
        p = f"\n{decisive_p(row)}"
        draw_panel(ax, kept_null(results, row), row["statistic"], embedding_color(reading.named, name), p)
        name_panel(ax, reading, name, pad=30.0)
    write_foot(made, axes[0].get_position().x0, lines)
    return made


def _words(results: Results, chosen: list[Any]) -> str:
    """Which test it is, and how p was adjusted."""
    first, adjust = chosen[0], results.recipe.get("adjust")
    held = any(row["p_adjusted"] == row["p_adjusted"] for row in chosen)
    drawn = f"{resampled(first)}s"
    card, variable = TESTS.card(first["test"]), first["variable"]
    null = f"{card.title} against {NULL_WORDS.get(variable, variable)}"
    against = null if card.second == "method" else f"{card.name.upper()} against {variable}"
    words = f"{against}, {first['n_resamples']:,} {drawn} of each"
    return f"{words}; p {adjusted_by(adjust)}." if held and adjust != "nothing" else f"{words}."


def _chosen(results: Results, reading: Reading, names: list[str], test: str | None, variable: str | None) -> list[Any]:
    """The rows of one test against one variable, of the embeddings that have permutations."""
    tests = (*reading.tests, *reading.of_methods)
    if not tests:
        cure = "Pass labels or covariates to Evaluation, and run(tests='hsic')."
        raise InputError("results", "must hold a test of independence", "none", cure)
    rows = [row for row in tests if row["embedding"] in names]
    if test is not None:
        TESTS.check_run(test, {row["test"] for row in tests}, "test")
        rows = [row for row in rows if row["test"] == test]
    if variable is not None:
        check_one_of(variable, {row["variable"] for row in rows}, "variable")
        rows = [row for row in rows if row["variable"] == variable]
    rows = [row for row in rows if len(kept_null(results, row).counts)]
    if not rows:
        cure = "Run the evaluation again with a test that permutes; an older file has not kept its permutations."
        raise InputError("results", "must hold statistics under permutation", "none of this test", cure)
    return [row for row in rows if (row["test"], row["variable"]) == (rows[0]["test"], rows[0]["variable"])]
