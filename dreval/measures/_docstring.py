"""The signature and the docstring of a measure's public function, and its card as printed: all made from the card."""

from __future__ import annotations

import inspect
import math
import textwrap
from typing import Any

from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import VARIABLES
from dreval.glossary import DIRECTIONS, METRICS, block


def signature(card: Any) -> inspect.Signature:
    """(X, Y, *, parameters of the measure, then what its needs ask for)."""
    plain, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, plain) for name in ("X", "Y")]
    of_points = [name for name in VARIABLES if name in card.needs]
    parameters += [inspect.Parameter(name, named) for name in of_points]
    parameters += [inspect.Parameter(name, named, default=value) for name, value in card.parameters.items()]
    if card.measures:
        parameters.append(inspect.Parameter("metric", named, default="euclidean"))
    if "pairs" in card.needs or not DRAWN.keys().isdisjoint(card.parameters):
        parameters.append(inspect.Parameter("random_state", named, default=None))
    if card.ties is not None:
        parameters.append(inspect.Parameter("ties", named, default="index"))
    if card.measures or of_points:
        parameters.append(inspect.Parameter("n_jobs", named, default=None))
    return inspect.Signature(parameters)


_PARAMETER_DOCS = {
    "X": "X : (n, p) array, DataFrame, sparse matrix or path\n    The data; rows are points.",
    "Y": (
        "Y : (n, d) array, DataFrame or path\n    The embedding of the same points. Frames and files with equal row "
        "names are matched\n    by these, all others by row number. The name of a bundled method, an estimator or a "
        "callable is run on X first."
    ),
    "labels": (
        "labels : (n,) array of text, booleans or integers, column of X by name, or path\n"
        "    Class of each point. Where some are missing the value is that of the labeled points by themselves,\n"
        "    with a warning."
    ),
    "latent": "latent : (n, q) array, DataFrame or path\n    True latent variables of the points.",
    "batch": (
        "batch : (n,) array of text, booleans or integers, column of X by name, or path\n"
        "    Batch of each point; none may be missing."
    ),
    "perplexity": (
        "perplexity : int, default {default}\n    Effective number of neighbors, at least 2; the whole part of\n"
        "    n / 3 where that is less."
    ),
    "share": "share : float, default {default}\n    Share of the points, nearest first, above 0 and at most 1.",
    "size": (
        "size : int, default {default}\n    Points of a neighborhood, with the point itself; at least 2, well below n."
    ),
    "alpha": "alpha : float, default {default}\n    Level of the tests, below 1.",
    "n_neighbors": "n_neighbors : int or list of int, default {default}\n    Number k of neighbors, 1 <= k < n.{auto}",
    "n_folds": "n_folds : int, default {default}\n    Number of folds of the cross-validation, at least 2.",
    "n_triplets": "n_triplets : int, default {default}\n    Triplets drawn for each point that has more, at least 2.",
    "n_clusters": (
        "n_clusters : int, default {default}\n    Number of clusters, at least 2; None: as many as there are classes."
    ),
    "n_init": "n_init : int, default {default}\n    Runs of k-means, each from other starting points, at least 2.",
    "n_walks": "n_walks : int, default {default}\n    Number of random clusters, at least 2.",
    "sigma": (
        "sigma : float, default {default}\n    Width of the kernel, in squares of the largest distance; at least 1e-12."
    ),
    "kind": 'kind : {"normalized", "kruskal", "raw"}, default "{default}"\n    Which of the forms above.',
    "random_state": "random_state : int, Generator or None, default None\n    Seed of {drawn}.",
    "ties": (
        'ties : {"index", "bounds"}, default "index"\n    "index": ties are broken by row number, the lower first. '
        '"bounds": also return the worst and the best\n    value over all ways of breaking ties (see Notes).'
    ),
    "n_jobs": "n_jobs : int, optional\n    Threads; all cores by default. The value does not depend on it.",
}


# What counts as a tie wherever neighbors are found or points are ranked.
TIES = (
    "Ties: two successive distances from a point, in ascending order, are tied if they differ by at most\n"
    f"{ROUNDING:g} of the larger one (Euclidean distances: if their squares do). Several of which each is tied with\n"
    "the next are one tie."
)

# What the seed of a measure draws, by the parameter that it goes with.
DRAWN = {
    "n_folds": "the folds",
    "n_init": "the starting points",
    "n_triplets": "the triplets, of points that have more than 20,000; else nothing is drawn",
    "n_walks": "the walks, and the points that are drawn of more than 5000",
    "": "the pairs or points that are drawn of more than 5000 points (see Cost); of fewer nothing is drawn",
}


def docstring(card: Any, text: str) -> str:
    """A numpydoc docstring: the rule's own text, its See Also and Examples, and everything the card says."""
    body, _, examples = text.partition("Examples\n--------\n")
    body, _, related = body.partition("See Also\n--------\n")
    legal = [name for name in METRICS if name != "precomputed" or "features" not in card.needs]
    words = "{" + ", ".join(f'"{name}"' for name in legal) + "}"
    what = "Distance in the data, as scipy.spatial.distance defines it; in the embedding it is Euclidean."
    if "features" in card.needs:
        what += "\n    It selects the neighbors; the coordinates of the neighborhoods are compared as they are."
    else:
        what += '\n    "precomputed": X is the symmetric (n, n) matrix of distances, which count as 0 where they are'
        what += "\n    below 1e-12 of the largest."
    pages = {**_PARAMETER_DOCS, "metric": f'metric : {words}, default "euclidean"\n    {what}'}
    entry = pages["n_neighbors"]
    if card.shares_neighbors:
        auto = ' "auto": 15, or the largest number below n / 2\n    (at least 1) where that is smaller.'
        entry = entry.replace("int or list of int", 'int, list of int or "auto"').replace("{default}", '"auto"')
        entry = entry.replace("{auto}", auto)
    kind = next((name for name in DRAWN if name in card.parameters), "")
    pages["random_state"] = pages["random_state"].replace("{drawn}", DRAWN[kind])
    pages["n_neighbors"] = entry.replace("{auto}", " The default is n - 1 where n is too small for it.")
    named = signature(card).parameters
    documented = [pages[name].replace("{default}", str(card.parameters.get(name))) for name in named]
    returns = "float\n    The value."
    if card.curve:
        returns = "Series\n    The values, by K."
    elif "n_neighbors" in card.parameters:
        returns = "float or Series\n    The value; for a list of k a Series by k."
    if card.ties is not None:
        returns += (
            ' With ``ties="bounds"`` the worst value, the value and the best value: a Series,\n    or a DataFrame'
        )
        returns += " by k or K."
    raises = (
        "InputError\n    If an argument breaks its rule: rows that do not match, values that are missing or infinite,\n"
    )
    raises += "    " + "k outside 1, ..., n - 1, " * ("n_neighbors" in card.parameters)
    raises += "an unknown option. The message names the rule and the cure."
    if not {"features", *VARIABLES}.isdisjoint(card.needs) or card.choices:
        raises += "\nUndefinedMeasure\n    If the measure has no value for this input; the message says why."
    notes = [
        f"Range: {_span(card)}; {DIRECTIONS[card.direction]}.",
        textwrap.fill(f"Chance level: {_chance_level(card)}.", 110),
    ]
    near = not {"neighbors", "ranks", "full_ranks"}.isdisjoint(card.needs)
    if near or card.ties is not None:
        notes.append(TIES + " Ties are broken by row number." * (card.ties is None))
    if card.smooth and (near or "n_neighbors" in card.parameters):
        notes.append(
            'The interval of ``ci="points"`` is conservative, as for all measures of neighbors (``Evaluation``).'
        )
    notes.append(f"Cost: {card.cost}")
    sections = {
        "Parameters": "\n".join(documented),
        "Returns": returns,
        "Raises": raises,
        "Warnings": textwrap.fill(card.caution, 110),
        "See Also": related.rstrip(),
        "Notes": "\n\n".join(notes),
        "References": textwrap.fill(card.reference, 110),
        "Examples": examples.rstrip(),
    }
    written = [f"{title}\n{'-' * len(title)}\n{content}" for title, content in sections.items() if content]
    return "\n\n".join([body.rstrip(), *written]) + "\n"


def described(card: Any) -> str:
    """The card of a measure as it is printed: a line for each field."""
    listed = ", ".join(f"{name}={value!r}" for name, value in card.parameters.items())
    words = {
        "name": card.name,
        "question": card.question,
        "goals": ", ".join(card.goals),
        "direction": DIRECTIONS[card.direction],
        "range": _span(card),
        "chance level": _chance_text(card),
        "caution": card.caution,
        "level": card.level + (", a value at every K" if card.curve else ""),
        "needs": ", ".join(card.needs),
        "parameters": listed or "none",
        "choices": "; ".join(f"{name}: {', '.join(options)}" for name, options in card.choices.items()),
        "unchanged by": ", ".join(sorted(card.invariances)) or "nothing",
        "ties": "worst and best value over all ways of breaking them" if card.ties is not None else "",
        "default": "" if card.default is None else "yes",
        "cost": card.cost,
        "reference": card.reference,
    }
    return block(f"{card.title} ({card.symbol})", words)


def _span(card: Any) -> str:
    """The range of the values."""
    low, high = card.bounds
    return f"[{low:g}, {high:g}]" if math.isfinite(high) else f"[{low:g}, inf)"


def _chance_level(card: Any) -> str:
    """The chance level on the page of the function: its formula, then what the card says of it."""
    if card.chance_formula and not callable(card.chance):
        return str(card.chance_formula)
    return ", ".join(filter(None, [card.chance_formula, _chance_text(card)]))


def _chance_text(card: Any) -> str:
    """The chance level of a card: a number, an example, or how it is computed."""
    if card.chance is None:
        return "none, the value does not depend on which row of the embedding belongs to which point"
    if card.chance == "permutation":
        if card.expected is not None:
            drawn = "; where ties in the embedding change it, of 20 random ones" if card.orders_ties else ""
            return f"mean over all permutations of the embedding's rows, in closed form{drawn}"
        fewer = " (fewer for large n)" * (card.level == "pair")
        seen = ", each seen from 100 of the points or more" * (card.quadratic and card.level != "pair")
        return f"mean over 20 random permutations of the embedding's rows (4 if anchors see over 50,000){fewer}{seen}"
    if isinstance(card.chance, str):
        return str(card.chance)
    drawn = "; where ties in the embedding change it, mean over 20 random permutations of its rows"
    value = f"{card.chance(1000, 15):.3g} at n = 1000 and k = 15" if callable(card.chance) else f"{card.chance:g}"
    return value + drawn * card.orders_ties
