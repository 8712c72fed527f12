"""Columns of the tables with their descriptions, terms, and how a described entry is printed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from dreval._text import (
    WIDE_MARK,
    format_number,
    format_p,
    pad_wide_characters,
    printable,
    terminal_width,
    true_minus,
)

__all__ = [
    "ARGUMENTS",
    "COLUMNS",
    "DATA_METRICS",
    "DIRECTIONS",
    "METRICS",
    "NUMERIC_COLUMNS",
    "OVERALL_COLUMNS",
    "PAIR_COLUMNS",
    "PAPER_PARTS",
    "POINT_METRICS",
    "SIMILARITY_FIGURES",
    "STANDING_COLUMNS",
    "TABLE_METRICS",
    "TARGETS",
    "TERMS",
    "TEXT_COLUMNS",
    "TEXT_FORMS",
    "TIDY_COLUMNS",
    "WIDE_MARK",
    "block",
    "format_number",
    "format_p",
    "pad_wide_characters",
    "part_texts",
    "printable",
    "terminal_width",
    "true_minus",
]

ARGUMENTS = {"target": "covariates"}  # the argument of an evaluation for a variable that has another name there
METRICS = (  # distances in the data space
    "euclidean",
    "cosine",
    "correlation",
    "manhattan",
    "hamming",
    "precomputed",
    "geodesic",
    "neighbors",
    "gower",
)
POINT_METRICS = METRICS[:5]  # of the coordinates of two points alone
TABLE_METRICS = METRICS[:6]  # of the rows of a table of numbers, without a graph of the points
DATA_METRICS = (*TABLE_METRICS, "gower")  # of the rows of a table of any columns

TERMINAL_WIDTH = 80


# Parts and formats of ``paragraph``.
PAPER_PARTS = ("results", "methods")
TEXT_FORMS = ("text", "markdown", "latex")

SIMILARITY_FIGURES = ("matrix", "items", "curve")  # kinds of figures of ``representation_similarity``
IMPORTANCE_FIGURES = ("bars", "map")  # kinds of figures of ``column_importance``

COLUMNS: dict[str, str] = {
    "dataset": "name of the data set",
    "embedding": "name of the embedding",
    "replicate": "number of the replicate (a re-run of the method); 0 for given coordinates",
    "measure": "name of the measure; empty in rows of tests, which have `test`",
    "parameters": "parameters of the measure, as name=value; empty in rows of tests",
    "n": "number of points of the data",
    "n_components": "number of columns of the embedding",
    "value": "the value of the measure",
    "se": "standard error of the value, for the target named in `target`; if a method was run with several seeds, "
    "the standard error of the mean over the runs, the same in the row of each run",
    "conf_low": "lower end of the interval at the level `conf_level`; if a method was run with several seeds, the "
    "interval is for the mean over the runs, the same in the row of each run, and may exclude the value of that run",
    "conf_high": "upper end of the interval",
    "conf_method": "method of the interval",
    "conf_level": "level of the interval, 0.95 for 95 %; empty without one",
    "statistic": "the test's statistic",
    "p_value": "the test's p-value; (b + 1) / (m + 1) for m sampled permutations",
    "p_adjusted": "p-value adjusted over all tests of this table that have the same `family`; none without a family",
    "family": "the family of tests with which the row is adjusted; empty for tests against the data themselves",
    "p_kind": "kind of the p-value: permutation, exact (all permutations counted), asymptotic, approximate (a "
    "fitted distribution), bound (valid for every population), bootstrap or parametric_bootstrap; empty without one",
    "n_used": "number of points (for measures of pairs: of pairs) that the value or test was computed from, if not "
    "all: those with a label or a value of the variable, or a random sample",
    "n_groups": "number of groups of points from which the standard error is computed: those that the jackknife leaves "
    "out (single points, or the groups of all partitions), anchors, splits into halves, or runs; 0 without an interval",
    "n_resamples": "number of permutations of a test, or of runs of the method behind the value; 0 without them",
    "direction": "better direction: higher, lower, or none (a description without a better direction)",
    "lower": "smallest value the measure can take (empty if there is none)",
    "upper": "largest value the measure can take (empty if there is none)",
    "chance": "chance level, the expected value for an embedding unrelated to the data: the mean over permutations of "
    "its rows, in closed form or over 20 random ones; for a test, the null mean of its statistic",
    "effect_size": "size of the effect, on the scale named by `effect_size` of the test's card",
    "target": "what the interval refers to: anchors (all points of this embedding), points (the population of the "
    "points, coordinates treated as fixed), groups (samples of as many groups of these sizes), replicates (other "
    "runs of the method); empty without one",
    "test": "name of the test; empty in rows of measures",
    "variable": "variable that the embedding is tested against: labels, the name of a covariate, data or residual",
    "worst": "value if all ties are broken to its disadvantage (empty if ties do not matter); of a missing value "
    "a bound",
    "best": "value if all ties are broken to its advantage (empty if ties do not matter); of a missing value a bound",
    "note": "information for the interpretation of the row: a reason, an assumption, an approximation",
    "seconds": "seconds of computation for all rows of one embedding; for the first embedding they include the "
    "compilation of the loops, if these are not compiled yet (several seconds)",
}

# The columns of ``Results.tidy()``; with ``full=True`` it has all of COLUMNS.
TIDY_COLUMNS = (
    "dataset", "embedding", "measure", "parameters", "value", "conf_low", "conf_high", "chance", "p_value",
    "p_adjusted", "test", "variable", "n", "note",
)  # fmt: skip

# The target of an interval by the value of the column `target` and by the kind of the replicates.
TARGETS: dict[str, str] = {
    "anchors": "all points of this embedding",
    "points": "the population the points came from",
    "classes": "the population the classes came from",
    "groups": "samples of as many groups of these sizes",
    "replicates": "other runs of the method",
    "seeds": "the mean over all seeds of the method, points held fixed",
    "subsamples": "the population the points came from, method re-run",
}

# The terms of results and reports that are neither measures nor columns of a table, with their meaning.
TERMS: dict[str, str] = {
    "Adjusted p": "A p-value that accounts for the number of tests that belong together, by Holm's method or another.",
    "Anchors": "Points of a large data set whose neighbors are computed, among all points; values have an interval.",
    "Best set": "The best value and every value that is not significantly worse, by paired tests on the same points at "
    "5 %, one measure at a time, adjusted over the embeddings.",
    "Borderline": "Significant for one measure alone, not after adjustment for all pairs and measures.",
    "Caution": "A value that is closer to chance than to perfect, or whose interval reaches the chance level.",
    "Chance": "The expected value for a map that has nothing to do with the data.",
    "CKA": "Centered kernel alignment: HSIC of data and map, over the root of the product of their HSIC with "
    "themselves. 1: equal up to scale and position; above 0 for unrelated tables, too, the more the fewer the rows.",
    "Co-ranking matrix": "How many pairs of points have the rank r in the data (row) and s in the map (column). "
    "Measures of neighbors such as trustworthiness and the overlap are sums over a part of it.",
    "e-value": "Evidence of a point against noise, 0 or larger. If the data are noise, e-values are 1 on average, so "
    "that many large ones are rare.",
    "Effect size": "How strong a dependence is, on the scale of its test.",
    "Embedding, map": "The data in few dimensions, a row for each point. A map is one that is drawn.",
    "Family-wise p": "A p of each point that counts all points: if the data are noise, any of them has p up to .05 in "
    "at most 5 of 100 data sets.",
    "Gap": "The value of fitted points minus that of new points: the loss from one to the other.",
    "Groups": "Points that belong together, such as the cells of a donor; they take the place of single points in "
    "intervals and tests.",
    "Held out": "Measurements, or points, that the map was not made from.",
    "Hollow points": "Points that a noise test does not distinguish from noise (like_noise). R null data sets can "
    "distinguish about R + 1 points, so that most points may be hollow because the null data sets are few.",
    "HSIC": "Hilbert-Schmidt independence criterion: a measure of dependence that compares the similarities of all "
    "pairs in both spaces, 0 for independent ones; it has a test.",
    "Interval": "A range that holds the value of its target in about 95 of 100 samples (or at the level given), one "
    "value at a time.",
    "J": "Agreement between the neighborhoods of replicates, by stability(): 1 if all maps have the same ones, 0 for "
    "unrelated maps.",
    "k": "Number of nearest neighbors that make a neighborhood.",
    "Kept, lost, false": "Kept: among the k nearest in the data and on the map. Lost: only in the data. False: only on "
    "the map.",
    "Local variation, global variation": "How much the distances of a point vary over replicates: the variance of "
    "their logarithms, to its nearest points in the data (local) and to 50 points that are the same for all (global). "
    "0: equal maps, up to scale.",
    "Margin": "The largest difference that does not matter to you, chosen in advance, for a test of equivalence.",
    "Note": "What you need to know to interpret a row: a reason, an assumption, an approximation.",
    "Null data": "Data without the structure in question, such as columns permuted one by one, of which the method "
    "makes maps for the test against noise.",
    "Optimism": "The part of the fidelity that is fit to noise: the value on the measurements that a map shows, minus "
    "that on held-out ones.",
    "Perfect": "The value of a copy of the data.",
    "Permutation test": "A test that compares a statistic with its values after the rows of one side are permuted at "
    "random: p = (b + 1) / (m + 1) if b of m are as large.",
    "Point's value": "What a point contributes to a measure; a measure is the mean over points where its card says so.",
    "Rank": "Of j from i: 1 if j is the nearest point of i, 2 if the second nearest, and so on.",
    "Replicate": "A re-run of the method, with another seed, on other points or on null data.",
    "Resample": "A permutation of the rows, or a refit of a model, for a test.",
    "Same half": "J of two maps of one half of the points, with different seeds: the effect of the seed alone.",
    "Seed share": "How much of the disagreement between halves is due to the seed alone: 1 - J of the same half, over "
    "1 - J of halves.",
    "Source": "What an embedding comes from: an array, a file, an estimator, a function, or a method by name.",
    "Target of an interval": "What the interval refers to: further points, groups, or runs of the method.",
    "Ties": "Equal distances can be ordered in several ways; worst and best are over all of them.",
}

# The printed direction of a measure by the value on its card.
DIRECTIONS: dict[str, str] = {
    "higher": "higher is better",
    "lower": "lower is better",
    "zero": "closer to 0 is better",
    "none": "no direction",
}

TEXT_COLUMNS = (
    "dataset",
    "embedding",
    "measure",
    "parameters",
    "conf_method",
    "direction",
    "target",
    "test",
    "variable",
    "family",
    "p_kind",
    "note",
)
NUMERIC_COLUMNS = tuple(name for name in COLUMNS if name not in TEXT_COLUMNS)

PAIR_COLUMNS: dict[str, str] = {
    "measure": "name of the measure",
    "parameters": "parameters of the measure, as name=value",
    "first": "name of one embedding",
    "second": "name of the other",
    "test": "on one data set jackknife, group_jackknife, anchors, subsampling, seeds or subsamples, as the intervals; "
    "nemenyi, wilcoxon, mixed or bayes over several",
    "n": "number of points, or of data sets, that the pair was compared on",
    "difference": "how much better the first is than the second, positive if it is better, for any direction of the "
    "measure: difference of values or of means over runs (on one data set), Hodges-Lehmann estimate (wilcoxon, bayes), "
    "difference of model means (mixed), difference of mean ranks (nemenyi)",
    "n_used": "number of anchors, or of data sets with a difference (wilcoxon), that the test used, if not all",
    "se": "standard error of the difference",
    "conf_low": "lower end of its interval at the level `conf_level`: by Walsh averages (wilcoxon), for all pairs of "
    "a measure at once (nemenyi)",
    "conf_high": "upper end of its interval",
    "conf_level": "level of the interval, 1 - alpha; empty without one",
    "conf_method": "method of the standard error, on one data set",
    "statistic": "the test's statistic",
    "p_value": "two-sided p-value of no difference",
    "p_adjusted": "p-value adjusted over all pairs and measures of this table that have the same `family`; nemenyi, "
    "whose p_value holds for all pairs of a measure, over the measures only",
    "family": "the family of tests with which the row is adjusted; empty without a p-value",
    "p_kind": "kind of the p-value: exact or asymptotic; empty without one",
    "p_low": "smallest p-value over other random partitions of the points, into thirds (cross jackknife) or groups; "
    "empty if none were drawn",
    "p_high": "largest such p-value",
    "margin": "margin of equivalence, or the tolerated loss of `dreval check`, in the unit of the measure; empty if "
    "none was passed",
    "p_equivalence": "p-value of the two one-sided tests: small if the two differ by less than the margin",
    "p_equivalence_adjusted": "p_equivalence adjusted over all pairs and measures of this table",
    "equivalence": "verdict on the margin: equivalent (p_equivalence, adjusted if it is, up to alpha), better or worse "
    "(the first is better or worse than the second by more than the margin, by the two-sided test against the margin, "
    "adjusted alike) or not shown; of `dreval check` by the interval: not worse, worse or undecided; empty if nothing "
    "was tested against a margin",
    "effect_size": "difference over the standard deviation of the differences of points, or of the runs (seeds), or "
    "matched-pairs rank-biserial correlation (wilcoxon)",
    "superiority": "share of points, of pairs of runs (seeds) or of data sets on which the first is better, ties "
    "counted half",
    "better": "name of the better embedding if the difference is significant: (adjusted) p up to alpha, for bayes a "
    "probability above 1 - alpha; else empty, and difference has the sign",
    "p_first": "posterior probability that the first is practically better",
    "p_rope": "posterior probability that they are practically equivalent",
    "p_second": "posterior probability that the second is practically better",
    "note": "information for the interpretation of the row",
}

OVERALL_COLUMNS: dict[str, str] = {
    "measure": "name of the measure",
    "parameters": "parameters of the measure, as name=value",
    "test": "friedman, iman_davenport, friedman_exact (by arrangements of the ranks), skillings_mack or mixed",
    "n": "number of data sets",
    "k": "number of embeddings",
    "statistic": "the test's statistic",
    "df": "degrees of freedom",
    "df_denominator": "degrees of freedom of the denominator, for an F statistic",
    "p_value": "p-value of no difference between the embeddings; not adjusted",
    "p_kind": "kind of the p-value: exact, permutation or asymptotic; empty without one",
    "note": "information for the interpretation of the row",
}

STANDING_COLUMNS: dict[str, str] = {
    "measure": "name of the measure",
    "parameters": "parameters of the measure, as name=value",
    "embedding": "name of the embedding",
    "n": "number of points, or of data sets with a value",
    "value": "value of the measure, or its mean over data sets",
    "sd": "standard deviation over data sets",
    "mean_rank": "mean rank over the data sets that have a value of every embedding; 1 is the best",
    "letters": "embeddings that share a letter do not differ significantly; empty if a pair was not tested",
}


PARTS = {
    "ti": "TI", "ti_per_n": "TI / n", "s_per_n": "S / n", "max_of_all": "max u of all n p",
    "conf_low": "95 % interval from", "conf_high": "to",
    "train": "value on the part that it shows", "optimism_se": "standard error of the optimism over splits",
    "se": "standard error over splits", "se_points": "standard error over points",
    "usual": "usual value, all measurements", "p_chance": "p against chance",
}  # fmt: skip


def part_texts(parts: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return the parts of the value of a measure as titles with formatted values."""
    return {
        PARTS.get(key, key.replace("_", " ")): format_number(value) if isinstance(value, int | float) else str(value)
        for key, value in parts
    }


class Described:
    """What is printed as a title with named texts, and in a notebook as a table of them."""

    def heading(self) -> str:
        """Return the first printed line."""
        raise NotImplementedError

    def lines(self) -> dict[str, str]:
        """Return the printed texts by their names; empty ones are left out."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return block(self.heading(), self.lines())

    def _repr_html_(self) -> str:
        cell, rows = 'style="text-align:left"', {name: text for name, text in self.lines().items() if text}
        parts = [f"<tr><th {cell}>{escape(name)}</th><td {cell}>{escape(rows[name])}</td></tr>" for name in rows]
        return f"<table><caption {cell}>{escape(self.heading())}</caption>{''.join(parts)}</table>"


def block(title: str, entries: Mapping[str, str]) -> str:
    """Return a title and lines ``name: text`` wrapped to the width of a terminal; entries without text are left out.

    Examples
    --------
    >>> print(block("Trustworthiness (T)", {"name": "trustworthiness", "range": "0 to 1", "ties": ""}))
    Trustworthiness (T)
      name: trustworthiness
      range: 0 to 1
    """
    lines = textwrap.wrap(title, TERMINAL_WIDTH)
    for name, text in entries.items():
        line = f"{name}: {' '.join(text.split())}"
        lines += textwrap.wrap(line, TERMINAL_WIDTH, initial_indent="  ", subsequent_indent="      ") if text else []
    return "\n".join(lines)
