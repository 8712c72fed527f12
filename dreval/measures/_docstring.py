"""The signature and the page of a measure's public function, made from its card."""

from __future__ import annotations

import inspect
import math
from typing import Any

from dreval.glossary import DIRECTIONS, METRICS, block

__all__ = ["described", "docstring", "signature"]


def signature(card: Any) -> inspect.Signature:
    """(X, Y, *, parameters of the measure, then what its needs ask for)."""
    plain, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, plain) for name in ("X", "Y")]
    if "labels" in card.needs:
        parameters.append(inspect.Parameter("labels", named))
    if "latent" in card.needs:
        parameters.append(inspect.Parameter("latent", named))
    parameters += [inspect.Parameter(name, named, default=value) for name, value in card.parameters.items()]
    if card.measures:
        parameters.append(inspect.Parameter("metric", named, default="euclidean"))
    if "n_folds" in card.parameters or "pairs" in card.needs:
        parameters.append(inspect.Parameter("random_state", named, default=None))
    if card.ties is not None:
        parameters.append(inspect.Parameter("ties", named, default="index"))
    if card.measures or "labels" in card.needs or "latent" in card.needs:
        parameters.append(inspect.Parameter("n_jobs", named, default=None))
    return inspect.Signature(parameters)


_PARAMETER_DOCS = {
    "X": "X : (n, p) array, DataFrame, sparse matrix or path\n    The data; rows are points.",
    "Y": (
        "Y : (n, d) array, DataFrame or path\n    The embedding of the same points; frames and files with equal "
        "row names are matched, all\n    else goes by row."
    ),
    "labels": (
        "labels : (n,) array of text, booleans or integers, column of X by name, or path\n"
        "    Class of each point. Where some are missing the value is that of the labeled points by themselves,\n"
        "    with a warning."
    ),
    "latent": "latent : (n, q) array, DataFrame or path\n    True latent variables of the points.",
    "n_neighbors": "n_neighbors : int or list of int, default {default}\n    Number k of neighbors, below n.{auto}",
    "n_folds": "n_folds : int, default {default}\n    Number of folds of the cross-validation.",
    "n_triplets": "n_triplets : int, default {default}\n    Triplets drawn for each point that has too many.",
    "sigma": (
        "sigma : float, default {default}\n    Width of the kernel, in squares of the largest distance; at least 1e-12."
    ),
    "kind": 'kind : {"normalized", "kruskal", "raw"}, default "{default}"\n    Which of the forms above.',
    "random_state": (
        "random_state : int, Generator or None, default None\n    Seed of what is drawn: folds, or pairs where "
        "there are too many."
    ),
    "ties": (
        'ties : {"index", "bounds"}, default "index"\n    Equal distances are ordered by index; "bounds" also gives '
        "the worst and the best value\n    over all orders of distances that are equal up to rounding."
    ),
    "n_jobs": "n_jobs : int, optional\n    Threads; all cores by default. The value does not depend on it.",
}


def docstring(card: Any, text: str) -> str:
    """A numpydoc docstring: the rule's own text, and everything the card knows."""
    body, _, examples = text.partition("Examples\n--------\n")
    defaults = {**card.parameters}
    pages = {**_PARAMETER_DOCS, "metric": _metric_words(card)}
    if card.shares_neighbors:
        auto = ' "auto" is 15, or the largest below n / 2\n    (at least 1) where that is less.'
        pages["n_neighbors"] = pages["n_neighbors"].replace("int or list of int", 'int, list of int or "auto"')
        pages["n_neighbors"] = pages["n_neighbors"].replace("{auto}", auto).replace("{default}", '"auto"')
    pages["n_neighbors"] = pages["n_neighbors"].replace("{auto}", " Where n is smaller the default is n - 1.")
    documented = [pages[name].replace("{default}", str(defaults.get(name))) for name in signature(card).parameters]
    returns = "float\n    The value."
    if card.curve:
        returns = "Series\n    The values, by K."
    elif "n_neighbors" in card.parameters:
        returns = "float or Series\n    The value; for a list of k a Series over k."
    if card.ties is not None:
        returns += ' With ``ties="bounds"`` worst, value and best: a Series, or a\n    DataFrame over k or K.'
    scale = f"Range {_span(card)}; {DIRECTIONS[card.direction]}. By chance: {_chance_words(card)}."
    sections = [
        ("Parameters", "\n".join(documented)),
        ("Returns", returns),
        ("Raises", "DrevalError\n    If an argument is not what it must be; the message names the rule and the cure."),
        ("Notes", f"{scale}\n\n{_order_words(card, body)}{card.cost}"),
        ("References", card.reference),
        ("Examples", examples.rstrip()),
    ]
    return (
        "\n\n".join([body.rstrip(), *(f"{title}\n{'-' * len(title)}\n{content}" for title, content in sections)]) + "\n"
    )


def _metric_words(card: Any) -> str:
    """The entry of the metric: its names, and what it does not reach."""
    legal = [name for name in METRICS if name != "precomputed" or "features" not in card.needs]
    words = "{" + ", ".join(f'"{name}"' for name in legal) + "}"
    what = "Distance in the data, as scipy.spatial.distance defines it; in the embedding it is Euclidean."
    if "features" in card.needs:
        what += "\n    It chooses the neighbors; what is measured on them are their coordinates."
    else:
        what += '\n    "precomputed": X is the symmetric (n, n) matrix of distances, which count as 0 where they are'
        what += "\n    below 1e-12 of the largest."
    return f'metric : {words}, default "euclidean"\n    {what}'


def described(card: Any) -> str:
    """The card of a measure as it is printed: a line for each thing that is known of it."""
    listed = ", ".join(f"{name}={value!r}" for name, value in card.parameters.items())
    words = {
        "name": card.name,
        "question": card.question,
        "direction": DIRECTIONS[card.direction],
        "range": _span(card),
        "by chance": _chance_words(card),
        "level": card.level + (", a value at every K" if card.curve else ""),
        "needs": ", ".join(card.needs),
        "parameters": listed or "none",
        "choices": "; ".join(f"{name}: {', '.join(options)}" for name, options in card.choices.items()),
        "unchanged by": ", ".join(sorted(card.invariances)) or "nothing",
        "ties": "worst and best over all orders are known" if card.ties is not None else "",
        "default": "" if card.default is None else "yes",
        "cost": card.cost,
        "reference": card.reference,
    }
    return block(f"{card.title} ({card.symbol})", words)


def _span(card: Any) -> str:
    """The range of the values."""
    low, high = card.bounds
    return f"[{low:g}, {high:g}]" if math.isfinite(high) else f"[{low:g}, inf)"


def _order_words(card: Any, body: str) -> str:
    """What becomes of equal distances, where the measure reads their order, has no bounds and does not say it."""
    reads = not {"neighbors", "ranks", "full_ranks"}.isdisjoint(card.needs)
    if not reads or card.ties is not None or "ordered by index" in body:
        return ""
    return "Distances that are equal up to rounding are ordered by index.\n\n"


def _chance_words(card: Any) -> str:
    """The card's chance value in words."""
    if card.chance is None:
        return "not defined, the measure does not depend on how points are paired"
    if card.chance == "permutation":
        if card.expected is not None:
            drawn = ", of 20 where equal distances in it move that" if card.orders_ties else ""
            return f"the mean over all exchanges of the embedding's points, in closed form{drawn}"
        fewer = " (fewer for large n)" if card.level == "pair" else ""
        return f"the mean of 20 draws{fewer} in which the embedding's points are exchanged at random"
    if isinstance(card.chance, str):
        return str(card.chance)
    drawn = ", where equal distances in the embedding move it the mean of 20 exchanges" if card.orders_ties else ""
    if callable(card.chance):
        return f"{card.chance(1000, 15):.3g} at n = 1000 and k = 15, computed for every n and k{drawn}"
    return f"{card.chance:g}{drawn}"
