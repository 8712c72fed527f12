"""What is printed of the number of dimensions of data: an intrinsic dimension, and a parallel analysis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dreval.glossary import format_number, format_p
from dreval.records.intrinsic_dimension import IntrinsicDimension
from dreval.records.parallel_analysis import ParallelAnalysis
from dreval.registry import DIMENSIONS
from dreval.report._numbers import counted, of_hundred, p_words
from dreval.report.document import Block
from dreval.report.render.summary import Summary

NAMES = {"twonn": "TwoNN", "mle": "Levina-Bickel"}
FITS = {"line": "line through the origin", "ml": "maximum likelihood"}
MOST_ROWS = 12  # components that are printed beyond those that are kept


def intrinsic_dimension_summary(record: IntrinsicDimension) -> Summary:
    """The estimate with its interval in a sentence, then how it was made."""
    recipe = record.recipe
    parameters = recipe["parameters"]
    header = [("Method", NAMES[record.method]), *_of_data(recipe)]
    header += [("Fit", FITS[parameters["fit"]])] if "fit" in parameters else []
    header += [("Left out", f"{of_hundred(parameters['discard'])} %")] if parameters.get("discard") else []
    header += [("Neighbors k", str(parameters["n_neighbors"]))] if "n_neighbors" in parameters else []
    header += [("Groups left out", format_number(record.n_groups)) if record.n_groups else ("", "")]
    ends = [format_number(end, 3) for end in (record.se, record.conf_low, record.conf_high)]
    level = "interval" if math.isnan(record.conf_level) else f"{100 * record.conf_level:g} % interval"
    rows = [["dimension", format_number(record.value, 3), ends[0], f"{ends[1]} to {ends[2]}" if ends[1] else "none"]]
    blocks = [Block("Estimate", ["", "value", "se", level], rows)]
    if record.method == "mle":
        local = record.points["local_dimension"].to_numpy()
        cuts = [format_number(float(cut), 2) for cut in np.quantile(local, [0.05, 0.25, 0.5, 0.75, 0.95])]
        columns = ["", "5 %", "25 %", "median", "75 %", "95 %"]
        blocks.append(Block("Local dimensions of the points", columns, [["dimension", *cuts]]))
    notes = [*record.notes, DIMENSIONS.card("intrinsic_dimension").caution]
    answer = [intrinsic_dimension_answer(record)]
    return Summary("Intrinsic dimension", [h for h in header if h[0]], blocks, notes, record.call, answer)


def intrinsic_dimension_answer(record: IntrinsicDimension) -> str:
    """The estimate and its interval in one sentence."""
    said = f"The intrinsic dimension of these points is estimated as {format_number(record.value, 2)}"
    if not math.isnan(record.se):
        low, high = (format_number(end, 2) for end in (record.conf_low, record.conf_high))
        said += f" ({100 * record.conf_level:g} % interval {low} to {high})"
    return f"{said}, in {counted(record.recipe['p'], 'column')}."


def parallel_analysis_summary(record: ParallelAnalysis) -> Summary:
    """How many components are kept in a sentence, then eigenvalues and p-values."""
    header = [*_of_data(record.recipe), ("Permutations", format_number(record.n_resamples))]
    header += [("Level", f"{record.alpha:g}")]
    table, shown = record.table, record.n_components + MOST_ROWS
    rows = [
        [
            str(row["component"]),
            *(format_number(row[key], 3) for key in ("eigenvalue", "null_mean", "null_quantile")),
            f"{100 * row['share']:.1f} %",
            format_p(row["p_value"]),
            "kept" if row["kept"] else "",
        ]
        for row in table.head(shown).to_dict("records")
    ]
    quantile = f"null {100 * (1 - record.alpha):g} %"
    columns = ["component", "eigenvalue", "null mean", quantile, "variance", "p", "verdict"]
    rest = len(table) - len(rows)
    foot = f"{counted(rest, 'further component')} {'is' if rest == 1 else 'are'} in tidy()." if rest else ""
    blocks = [Block("Eigenvalues of the correlation matrix", columns, rows, foot=foot)]
    notes = [*record.notes, DIMENSIONS.card("parallel_analysis").caution]
    answer = [parallel_analysis_answer(record)]
    return Summary("Parallel analysis", header, blocks, notes, record.call, answer)


def parallel_analysis_answer(record: ParallelAnalysis) -> str:
    """The number of components that are kept, and their share of the variance, in one sentence."""
    kept, table = record.n_components, record.table
    if not kept:
        p = p_words(float(table["p_value"].iloc[0]))
        return f"No component has a larger eigenvalue than independent columns would give ({p} for the first)."
    share = float(table["share"].head(kept).sum())
    verb = "has a larger eigenvalue" if kept == 1 else "have larger eigenvalues"
    return (
        f"{kept:,} of {counted(len(table), 'component')} {verb} than independent columns would give; "
        f"{'it holds' if kept == 1 else 'they hold'} {of_hundred(share)} % of the variance of the standardized columns."
    )


def _of_data(recipe: Any) -> list[tuple[str, str]]:
    """Size of the data, and the seed."""
    sizes = [("Points n", format_number(recipe["n"])), ("Columns p", format_number(recipe["p"]))]
    return [*sizes, ("Seed", str(recipe["random_state"]))]
