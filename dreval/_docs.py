"""Write docstrings: entries that several of them share, and the sections that follow from the card of a measure.

A line ``%(name)s`` of a docstring is replaced by the entry of that name: one of ``ENTRIES``, or one that the caller
passes, such as the reference of a card. The docstring of a measure has its formula, See Also and Examples only;
``measure_docstring`` adds Parameters, Returns, Raises, Warnings, Notes and References.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Collection
from typing import Any

from dreval.glossary import DATA_METRICS, DIRECTIONS, METRICS, POINT_METRICS, TABLE_METRICS

ENTRY_WIDTH = 112  # characters of a line of an entry, which is indented in the docstring
SECTION_WIDTH = 110  # characters of a line of a section of a measure


def fill_docstring(docstring: str | None, **texts: str) -> str | None:
    r"""Return a docstring with each line ``%(name)s`` replaced by the entry of that name, indented like the line.

    ``texts`` are further entries. The substitutions of scipy and matplotlib are private.

    Examples
    --------
    >>> fill_docstring("Parameters:\n    %(seed)s", seed="seed : int\n    Read once.")
    'Parameters:\n    seed : int\n        Read once.'
    """
    if docstring is None:  # python -OO
        return None
    entries = {**ENTRIES, **texts}
    return re.sub(
        r"^([ ]*)%\((\w+)\)s$",
        lambda match: textwrap.indent(entries[match[2]], match[1]),
        docstring,
        flags=re.MULTILINE,
    )


def wrap_entry(text: str) -> str:
    """Return a paragraph wrapped to the width of an entry."""
    return _fill(text, ENTRY_WIDTH)


def _fill(text: str, width: int = SECTION_WIDTH) -> str:
    """Return a paragraph wrapped at spaces only: on the site a word that is broken at its hyphen would have a space."""
    return textwrap.fill(text, width, break_on_hyphens=False)


def parameter_entries(section: str) -> dict[str, str]:
    r"""Return the entries of a section of parameters by name; an entry for several names is that of each.

    Examples
    --------
    >>> parameter_entries("low, high : float\n    The ends.\nlevel : float\n    The level.")["high"]
    'low, high : float\n    The ends.'
    """
    entries = re.split(r"\n(?=\S)", section.strip("\n"))
    return {name.strip(" *"): entry for entry in entries for name in entry.partition(" :")[0].split(",")}


# The docstring of a measure, from its card.

MEASURE_PARAMETERS = parameter_entries("""
X : (n, p) array, DataFrame, sparse matrix or path
    The data; rows are points.
Y : (n, d) array, DataFrame or path
    The embedding of the same points. Frames and files with equal row names are matched
    by these, all others by row number. The name of a bundled method, an estimator or a callable is run on X first.
labels : (n,) array of text, booleans or integers, column of X by name, or path
    Class of each point. Where some are missing the value is that of the labeled points by themselves,
    with a warning.
latent : (n, q) array, DataFrame or path
    True latent variables of the points.
batch : (n,) array of text, booleans or integers, column of X by name, or path
    Batch of each point; none may be missing.
target : (n,) array of numbers, column of X by name, or path
    Number of each point. Where some are missing the value is that of the points at which it is known.
perplexity : int, default {default}
    Effective number of neighbors, at least 2; the whole part of
    n / 3 where that is less.
share : float, default {default}
    Share of the points, nearest first, above 0 and at most 1.
size : int, default {default}
    Points of a neighborhood, with the point itself; at least 2, well below n (of labels: below their points).
alpha : float, default {default}
    Level of the tests, below 1.
min_points : int, default {default}
    Points below which a label is left out, at least 3.
embedding_distance : {"cosine", "euclidean"}, default "{default}"
    Distances in the embedding: 1 - cos of the angle at the origin, or Euclidean.
n_neighbors : int or list of int, default {default}
    Number k of neighbors, 1 <= k < n. The default is n - 1 where n is too small for it.
n_splits : int, default {default}
    Number of folds of a cross-validation, at least 2; None: leave-one-out.
n_triplets : int, default {default}
    Triplets drawn for each point that has more, at least 2.
n_clusters : int, default {default}
    Number of clusters, at least 2; None: as many as there are classes.
n_init : int, default {default}
    Runs of the search for clusters, each with other random numbers, at least 2; the best one is used.
n_walks : int, default {default}
    Number of random clusters, at least 2.
sigma : float, default {default}
    Width of the kernel, in squares of the largest distance; at least 1e-12.
kind : {"normalized", "kruskal", "raw"}, default "{default}"
    Which of the forms above.
random_state : int, Generator or None, default None
    Seed of {random_parts}.
ties : {"index", "bounds"}, default "index"
    "index": ties are broken by row number, the lower first. "bounds": also return the worst and the best
    value over all ways of breaking ties (see Notes).
n_jobs : int, optional
    Threads; all cores by default. The value does not depend on it.
graph_neighbors : int or "auto", default "auto"
    With ``metric="geodesic"`` and points: number of neighbors of each point in the graph over
    which paths go; "auto" is 15, or fewer for few points. Too many take shortcuts between parts
    that are near in space only: see ``Evaluation``.
""")
AUTO_NEIGHBORS = """\
n_neighbors : int, list of int or "auto", default "auto"
    Number k of neighbors, 1 <= k < n. "auto": 15, or the largest number below n / 2
    (at least 1) where that is smaller."""

COORDINATES_ONLY = """\
Y : (n, d) array, DataFrame or path
    The embedding; rows are points. The measure does not read the data."""

TIES_NOTE = """\
Ties: two successive distances from a point, in ascending order, are tied if they differ by at most
{rounding:g} of the larger one (Euclidean distances: if their squares do). Several of which each is tied with
the next are one tie."""

# The random parts that the seed of a measure determines, by its parameter.
RANDOM_PARTS = {
    "n_splits": "the folds; without them nothing is drawn",
    "n_init": "the runs of the search for clusters",
    "n_triplets": "the triplets, of points that have more than 20,000; else nothing is drawn",
    "n_walks": "the walks, and the points that are drawn of more than 5000",
    "": "the pairs or points that are drawn of more than 5000 points (see Cost); of fewer nothing is drawn",
}


def measure_docstring(card: Any, names: Collection[str], text: str, rounding: float) -> str:
    """Return the numpydoc docstring of a measure: its text, See Also and Examples, and the sections from the card.

    ``names`` are the parameters of its public function; distances that differ by ``rounding`` or less are tied.
    """
    body, _, examples = text.partition("Examples\n--------\n")
    body, _, related = body.partition("See Also\n--------\n")
    sections = {
        "Parameters": "\n".join(_measure_parameter(card, name) for name in names),
        "Returns": _measure_returns(card),
        "Raises": _measure_raises(card),
        "Warnings": _fill(card.caution),
        "See Also": related.rstrip(),
        "Notes": "\n\n".join(_measure_notes(card, rounding)),
        "References": _fill(card.reference),
        "Examples": examples.rstrip(),
    }
    texts = [f"{title}\n{'-' * len(title)}\n{content}" for title, content in sections.items() if content]
    return "\n\n".join([body.rstrip(), *texts]) + "\n"


def _measure_parameter(card: Any, name: str) -> str:
    """Return the entry of one parameter of a measure."""
    if name == "embedding_metric":
        return EMBEDDING_METRIC
    if name == "metric":
        return _metric_entry(has_features="features" in card.needs, has_lists=bool(card.lists))
    if name == "n_neighbors" and card.shares_neighbors:
        return AUTO_NEIGHBORS
    random_part = next((part for part in RANDOM_PARTS if part in card.parameters), "")
    if name == "Y" and not card.reads_data:
        return COORDINATES_ONLY
    entry = MEASURE_PARAMETERS[name].replace("{default}", str(card.parameters.get(name)))
    entry = entry if card.reads_data else entry.replace("column of X", "column of Y")
    return entry.replace("{random_parts}", RANDOM_PARTS[random_part])


EMBEDDING_METRIC = """\
embedding_metric : {metrics}, default "euclidean"
    Distance in the embedding. "precomputed": Y is the symmetric (n, n) matrix of distances.""".replace(
    "{metrics}", "{" + ", ".join(f'"{name}"' for name in TABLE_METRICS) + "}"
)


def _metric_entry(*, has_features: bool, has_lists: bool) -> str:
    """Return the entry of the metric; a measure that reads the features has no precomputed distances.

    Some measures also have values from lists of neighbors.
    """
    names = POINT_METRICS if has_features else METRICS if has_lists else (*DATA_METRICS, "geodesic")
    metrics = ", ".join(f'"{name}"' for name in names)
    details = """\
"precomputed": X is the symmetric (n, n) matrix of distances, which count as 0 where they are
below 1e-12 of the largest. "geodesic": shortest paths over the graph of the ``graph_neighbors`` nearest
neighbors of points X, or over a network X, a square sparse matrix of the lengths of edges. "gower": X
has columns of numbers, ordered categories and classes, with missing cells, as in ``Evaluation``."""
    if has_lists:
        details += """ "neighbors": X are lists of the nearest neighbors of each point, as in
``Evaluation``."""
    if has_features:
        details = "It selects the neighbors; the coordinates of the neighborhoods are compared as they are."
    text = "Distance in the data, as scipy.spatial.distance defines it"
    text += "; in the embedding it is Euclidean.\n" if has_features else ".\n"
    return f'metric : {{{metrics}}}, default "euclidean"\n' + textwrap.indent(text + details, "    ")


def _measure_returns(card: Any) -> str:
    """Return the entry of the return value of a measure."""
    entry = "float\n    The value."
    if card.curve:
        entry = "Series\n    The values, by K."
    elif "n_neighbors" in card.parameters:
        entry = "float or Series\n    The value; for a list of k a Series by k."
    if card.ties is None:
        return entry
    bounds = 'With ``ties="bounds"`` the worst value, the value and the best value: a Series,\n    or a DataFrame'
    return f"{entry} {bounds} by k or K."


def _measure_raises(card: Any) -> str:
    """Return the entries of the errors of a measure."""
    k = "k outside 1, ..., n - 1, " if "n_neighbors" in card.parameters else ""
    entry = f"""\
InputError
    If an argument is not valid: rows that do not match, values that are missing or infinite,
    {k}an unknown option. The message says what is required and what to do."""
    if {"features", "labels", "latent", "batch", "target"}.isdisjoint(card.needs) and not card.choices:
        return entry
    return f"{entry}\nUndefinedMeasure\n    If the measure has no value for this input; the message says why."


def _measure_notes(card: Any, rounding: float) -> list[str]:
    """Return the paragraphs of the notes of a measure: range, chance level, ties, intervals and cost."""
    notes = [f"Range: {value_range(card)}; {DIRECTIONS[card.direction]}."]
    chance = card.chance_formula
    if not chance or callable(card.chance):
        chance = ", ".join(filter(None, [card.chance_formula, chance_text(card)]))
    notes += [_fill(f"Chance level: {chance}.")]
    uses_neighbors = not {"neighbors", "ranks", "full_ranks"}.isdisjoint(card.needs)
    if uses_neighbors or card.ties is not None:
        notes.append(
            TIES_NOTE.format(rounding=rounding) + (" Ties are broken by row number." if card.ties is None else "")
        )
    if card.crossed:
        notes.append('The interval of ``ci="points"`` is that of the cross jackknife (``Evaluation``).')
    elif card.smooth and (uses_neighbors or "n_neighbors" in card.parameters):
        interval = 'The interval of ``ci="points"`` is conservative'
        notes.append(f"{interval}, as for all measures of neighbors without the cross jackknife (``Evaluation``).")
    return [*notes, f"Cost: {card.cost}"]


def value_range(card: Any) -> str:
    """Return the range of the values of a measure."""
    low, high = card.bounds
    return f"{f'[{low:g}' if math.isfinite(low) else '(-inf'}, {f'{high:g}]' if math.isfinite(high) else 'inf)'}"


def chance_text(card: Any) -> str:
    """Return the chance level of a card: a number, an example, or how it is computed."""
    if card.chance is None:
        return "none, the value does not depend on which row of the embedding belongs to which point"
    if card.chance == "permutation":
        if card.expected is not None:
            ties = "; where ties in the embedding change it, of 20 random ones" if card.orders_ties else ""
            return f"mean over all permutations of the embedding's rows, in closed form{ties}"
        fewer = " (fewer for large n)" * (card.level == "pair")
        rows = ", each seen from 100 of the points or more" * (card.quadratic and card.level != "pair")
        return f"mean over 20 random permutations of the embedding's rows (4 if anchors see over 50,000){fewer}{rows}"
    if isinstance(card.chance, str):
        return str(card.chance)
    ties = "; where ties in the embedding change it, mean over 20 random permutations of its rows"
    value = f"{card.chance(1000, 15):.3g} at n = 1000 and k = 15" if callable(card.chance) else f"{card.chance:g}"
    return value + ties * card.orders_ties


# Entries that several docstrings of methods, tests and records share: the line ``%(name)s`` is replaced by the entry.

ENTRIES: dict[str, str] = {
    "affinities": """\
n_affinities : int, optional
    Number of neighbors that have affinities, at least the perplexity; by default three times it, rounded up. n - 1 uses
    all; so does a larger number, with a warning.""",
    "bandwidth": """\
bandwidth : float, optional
    Length-scale sigma of the kernel, a length in the unit of the data, not a squared one; by default the median
    rule.""",
    "disconnected": """\
disconnected : {"connect", "error", "largest", "separate"}
    How to handle a graph of neighbors that is not connected. "connect": join each part to the 5 nearest by the shortest
    links, which joins up to 6 parts all with all. "error": raise MethodFailed. "largest": embed the largest part and
    place every other point at the nearest point of it, new points too where their nearest fitted point was left out.
    "separate": embed each part by itself and place the parts side by side. All but "error" warn. With "largest" and
    "separate", ``embedding_`` and ``part_`` (n,), the part of each point (-1: left out), refer to all points; the other
    attributes below exist on ``parts_``, the copies fitted to the parts, largest first (None for a part too small).""",
    "descent": """\
max_iter : int
    Iterations of L-BFGS in each stage.
tol : float
    Ends when an iteration lowers the cost by less than ``tol`` times the larger of its size and 1.""",
    "far_points": """\
far_penalty : float
    Weight, at least 0, of the penalty P on points that are far along the data and embedded close: after the rounds a
    search lowers R(X, Y) + ``far_penalty`` P, with P the sum over such pairs, divided by n, of the squared amounts by
    which they are nearer than the larger of the distances of the two to the farthest of their neighbors in the data.
far_steps : int
    From how many edges of the graph on two points are far, at least 2.""",
    "figure": """\
ax : matplotlib Axes, optional
    Where to draw; a new figure by default.
figsize : (float, float), optional
    Width and height of a new figure, in inches.

Returns
-------
matplotlib.figure.Figure or matplotlib.axes.Axes
    ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.""",
    "report": """\
Parameters
----------
path : str or Path
    Where to write: ``.html`` for one self-contained page, which loads nothing; ``.md`` for a text with a folder of
    figures next to it, ``report-figures`` for ``report.md``.
title : str, optional
    The heading; by default it names what is reported.

Returns
-------
Path
    The file. It contains no time: the same result gives the same file, byte by byte.

Raises
------
InputError
    If the suffix is neither, the folder does not exist, or the path is a folder.""",
    "graph_raises": """\
InputError
    If a parameter is out of its range.
MethodFailed
    If the graph is not connected and ``disconnected="error"``.
UnknownName
    If an option is not one of those listed.""",
    "graph_warns": """\
ApproximationWarning
    If the graph is not connected (the warning says how its parts are handled); if there are fewer other points than
    neighbors; if with more than 7 neighbors the graph has likely short cuts between parts of the data that are far from
    each other along the data (see ``dreval.geometry.graphs.short_cuts``).""",
    "include_self": """\
include_self : bool
    Whether the point itself belongs to its neighborhood. Without it, as in scikit-learn, a point that is no other
    point's neighbor is unconstrained, and each such point adds an eigenvector with eigenvalue 0 that is constant at all
    other points.""",
    "init": """\
init : {"pca", "random"} or ndarray (n, d)
    Start: leading principal scores or noise, with standard deviation 1e-4 in the first coordinate (and 1 % of noise
    added with "pca"); or an embedding, which is not changed.""",
    "kernel": """\
kernel : {"gaussian", "laplace", "rational_quadratic", "linear", "precomputed"}
    Kernel of the data, see ``dreval.geometry.kernels.gram_matrix``. With "precomputed" X is the (n, n) matrix. "rbf" is
    accepted for "gaussian".""",
    "n_neighbors": """\
n_neighbors : int or None
    Number k of neighbors, not counting the point itself. With fewer points all others are taken, with a warning.""",
    "n_slices": """\
n_slices : int, optional
    Number H of slices of a numeric response, 2 to n / 2; by default 10, or n / 2 where that is less. The points are
    sorted by the response and cut into H runs of nearly equal size; equal responses stay in one slice, so that with
    ties there may be fewer. Not used for classes, each of which is a slice.""",
    "normalize": """\
normalize : {"unit", "sqrt_n"}
    Length of each column of the embedding: 1 (Y'Y is the identity) or sqrt(n) (as covariance).""",
    "null_space": """\
embedding_ : ndarray (n, d)
    Coordinates: orthogonal columns of mean 0; in each the entry of largest size is positive.
eigenvalues_ : ndarray (d,)
    Eigenvalues of the matrix above, ascending, without the one of the constant.""",
    "null_space_warns": """\
Also if more than d eigenvalues besides the constant's are 0 up to rounding (at most q eps |M|_1, with q entries in the
fullest row of M), as where a part of the data shares too few points with the rest: the embedding is then an arbitrary
choice of d directions among more, and may show none of the directions of the data.""",
    "perplexity": """\
perplexity : float
    Effective number of neighbors, at least 1. A value above (n - 1) / 3 is replaced by (n - 1) / 3, with a warning.""",
    "perplexity_warns": """\
ApproximationWarning
    If the perplexity is too large for the number of points.""",
    "embedding": """\
embedding_ : ndarray (n, d)
    Coordinates: centered, along their principal axes, the entry of largest size in each column positive; without
    this normalization if ``init`` is an array.""",
    "radius": """\
radius : float, optional
    In place of the k nearest, neighbors are all points within this distance, in the unit of the data (``numpy.inf``:
    all points); pass ``n_neighbors=None`` with it. A point without another in its ball is a part of its own.""",
    "response_raises": """\
InputError
    If a parameter is out of its range, or the response ``y`` is missing, constant, or has more classes than n / 2.
    Text, booleans and integers are classes, floats are numbers, also as objects: pass integers that count or measure
    as ``y.astype(float)``.""",
    "response_warns": """\
DegenerateDataWarning
    If ``y`` holds more than 20 integers, and more than n / 10, which are taken as classes; if columns of the embedding
    are 0, since data and response determine fewer directions.""",
    "response_scores": """\
embedding_ : ndarray (n, d)
    Scores, uncorrelated with variance 1 (divisor n); in each column the entry of largest size is positive. Columns
    beyond the rank of the centered data are 0.""",
    "rigid_neighborhoods": """\
n_neighbors : int or None
    Number k of neighbors; a neighborhood is the point and its neighbors. With fewer points all others are taken, with a
    warning.""",
    "rigid_embedding": """\
embedding_ : ndarray (n, d)
    Coordinates on the scale of the data, centered, on their principal axes; in each column the entry of largest size
    is positive.""",
    "rounds": """\
max_iter : int
    Largest number of rounds of refinement, at least 0.
tol : float
    Rounds end when R falls by no more than this share of its start.""",
    "settled": """\
n_iter_ : int
    Iterations of all stages together.
converged_ : bool
    Whether the last stage met ``tol``, or could not lower the cost any more, before its iterations were used up.""",
    "settled_of_starts": """\
n_iter_ : int
    Iterations of the best start, of all stages together.
converged_ : bool
    Whether its last stage met ``tol``, or could not lower the cost any more, before its iterations were used up.""",
    "settled_warns": """\
ApproximationWarning
    If the iterations were used up while the cost still fell.""",
    "unsettled": """\
``converged_`` says whether the search met ``tol``. There is no warning when the iterations are used up, since the cost
of t-SNE may have no minimum and often decreases slowly for long.""",
    "training": """\
hidden : tuple of int
    Widths of the hidden layers of the encoder; those of the decoder are the same backwards.
n_epochs : int, optional
    Rounds over the rows; by default as many as make 3000 steps, but 100 to 600.
batch_size : int
    Largest number of rows of one step.
learning_rate : float
    Length of the first steps, above 0.""",
    "unused_seed": """\
random_state : int, Generator or None
    Not used: the method is deterministic.""",
    "coinciding_rows": """\
DegenerateDataWarning
    More than half of the pairs of rows coincide, so that the median of the distances is 0.""",
    "permutations": """\
permutation : {"free", "within", "blocks", "cyclic"}
    Which permutations of rows are drawn: all; those within blocks; those of whole ``blocks`` of equal size; or cyclic
    shifts, for a stationary time series. It states which rows are exchangeable under the null hypothesis, which is
    then that of independence within blocks for "within": differences between blocks do not count.
blocks : (n,) array of classes, optional
    The block of each row, for ``permutation="within"`` and ``"blocks"``; a series or frame follows the row names of
    ``x``.
groups : (n,) array of classes, optional
    The group of each row (donor, patient, document), where rows of a group depend on each other. A variable ``y`` that
    is constant within groups is permuted over groups: p is exact at any sizes, under the null hypothesis that ``y``
    does not depend on the points of a group, nor on their number; a note has the smallest p that so many groups can
    give. One that varies within groups is permuted within them: differences between groups are then not tested.
n_resamples : int
    Number B of permutations, at least 1. When there are at most B different ones (n! <= B), all of them are
    enumerated and p is exact.""",
    "draws": """\
stop_after : int, optional
    Stop as soon as so many permuted statistics have reached the observed one (Besag & Clifford 1991): p remains
    valid, with fewer permutations where it is large.
random_state : int, numpy Generator or None
    Seed; permutation b depends on the seed and b only. In ``Evaluation`` the seed of a test also depends on the
    names of embedding, test and variable, so that ``run(tests=...)`` draws other permutations than this function.
n_jobs : int, optional
    Number of threads, all cores by default; the numbers do not depend on it.""",
}
