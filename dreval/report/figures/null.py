"""The statistics of tests of independence under permutation."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from dreval._check import check_one_of
from dreval.errors import InputError
from dreval.records.results import Results
from dreval.registry import TESTS
from dreval.report._numbers import adjusted_by, decisive_p
from dreval.report._style import embedding_color, grid
from dreval.report.figures._kind import figure
from dreval.report.figures._nulls import draw_panel, kept_null
from dreval.report.figures._panels import WORDS, foot_lines, name_panel, write_foot
from dreval.report.reading import Reading
from dreval.report.statements import NULL_WORDS, resampled

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
