"""Define what a measure is: its card, the function made from it, its docstring, its chance level, its use."""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import AUTO, check_int, check_k, check_one_of, check_parameters, check_random_state, keywords_checked
from dreval._check import FloatArray as FloatArray
from dreval._random import root_seed, stream
from dreval.errors import ApproximationWarning, DrevalError, InputError, InputWarning, UndefinedMeasure, warn
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import VARIABLES, View, per_view, sweep
from dreval.geometry.distances import Space, take
from dreval.geometry.pairs import Estimate, n_pairs
from dreval.geometry.ranks import curve_numbers, tied_ranks
from dreval.glossary import DIRECTIONS, METRICS, block, filled
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import as_source, warn_of_columns
from dreval.inputs.variables import warn_of_guesses
from dreval.records.base import read_only
from dreval.records.notes import Notes, note
from dreval.references import Cites
from dreval.registry import MEASURES

# The signature and the docstring of a measure's public function, and its card as printed: all made from the card.


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


# The card of a measure, and the public function that is made from it.

OF_POINTS = {
    "labels": "Pass labels=, the class of each point.",
    "latent": "Pass latent=, the true latent variables, one row per point.",
    "batch": "Pass batch=, the batch of each point.",
}  # what a measure may need beside data and embedding, and how to give it
ChanceRule = float | Callable[[int, int], float] | str | None
TieRule = Callable[..., tuple[FloatArray, FloatArray] | None]


@read_only
@dataclass(frozen=True, repr=False)
class MeasureCard(Cites):
    """Everything the package knows about a measure; lists, contract tests, tables, report and command line read it.

    Attributes
    ----------
    name, symbol, title : str
        Name in the package, symbol in formulas, name in text.
    question : str
        One sentence: the question that a value answers.
    level : {"point", "global", "pair", "algorithm"}
        "point": the value is the mean of contributions of the points. "global": it is a value of the whole embedding.
        "pair": it is a statistic of pairs of points; anchors see the pairs that they are in. "algorithm": it is a value
        of the method that made the embedding (``measures/methods.py``).
    needs : tuple of {"neighbors", "ranks", "full_ranks", "coordinates", "features", "labels", "latent", "pairs", ...}
        The input: neighbors in the data; neighbors and cross ranks in both spaces; all ranks; coordinates of the
        embedding; coordinates of the data, which precomputed distances do not have; classes; known latent variables;
        a "batch" of each point; distances of pairs; a "method" that can be re-run; a "reconstruction" of the data.
    direction : {"higher", "lower", "zero", "none"}
        Which way is better; "zero": a curve that is better the nearer it is to 0; "none": it describes, and embeddings
        are not ranked by it.
    bounds : (float, float)
        Range; ``inf`` where there is no bound.
    chance : float, function of (n, k), "permutation", text or None
        Expected value for an embedding unrelated to the data. "permutation": the mean over random permutations of the
        embedding's rows, which also replaces a number or function where ties change it. Other text: how a measure of
        methods computes it. None: the measure does not depend on how rows are paired.
    chance_formula : str
        The chance level as a formula (reStructuredText with :math:), for the docstring; with an example where
        ``chance`` is not a function of (n, k).
    invariances : frozenset
        Changes of the embedding that do not change the value: translation, rotation (with reflection), scale, and
        "monotone": any change that keeps the order of the distances between its points.
    says : tuple of str
        What a good and what a poor value says of the embedding, as sentences without a full stop: where the value holds
        and where it fails, by ``grades``; of three the middle one stands for what lies between. Measures that say the
        same have the same sentence. Without any, the value is said to be near its best or near chance.
    grades : (float, float)
        The way from chance (0) to perfect (1) below which a value fails, and from which on it holds. Conventions of
        this package where the docstring names no source.
    share : str
        Of a value that is a share: what it is the share of, read behind "59 %"; it may hold names of parameters.
    goals : tuple of str
        What it is computed for, of the goals of ``dreval.recommend``; beside measures of the first one it stands.
    parameters : dict
        Parameters and their defaults.
    default : int or None
        Position among the default measures, None for those computed on request.
    ties : function or None
        Worst and best contributions (of a curve: values) over all ways of breaking ties, of the view and the
        parameters; it may return None where no order matters.
    choices : dict
        The legal values of a parameter that is text.
    curve : bool
        Whether it has a value for every K = 1, 2, ... and no single one.
    area_of : str
        The curve whose area this is; an evaluation keeps it with the value.
    ceiling : function of (n, k) or None
        Value of a perfect copy where it is not the better end of ``bounds`` (without a direction, the lower end).
    expected : function of the view and the parameters, or None
        The mean over all permutations of rows in closed form, which replaces random permutations and a less exact
        ``chance``.
    without : function or None
        Values (n,) without each point, of a view that all points see and the parameters: the coordinates of the others
        are held fixed; NaN where there is no value without a point. It raises UndefinedMeasure where no point can be
        left out, as where k > n - 2. Of a curve: values (n, len(ks)) of the view and some numbers of neighbors.
    by_row : function or None
        Of a curve: what each row contributes (m, len(ks)), of the view and some numbers of neighbors; the value is the
        mean.
    without_class : function or None
        Values (c,) without each class, of a view and the parameters, for a jackknife over classes in place of points.
    counted : {"all", "first", "edge"}
        Which ranks in the embedding the value depends on, however rows are paired: all, those of the first k neighbors,
        or only the set of the first k. Ties elsewhere leave the chance level in closed form.
    quadratic : bool
        Whether one more value costs O(n^2), so that few permutations are drawn.
    smooth : bool
        Whether its value changes smoothly when points are left out; no interval is computed where it does not.
    whole : bool
        Whether its values are whole numbers, and are printed as such.
    growth : int
        Power of n with which the value grows, by which values of halves of the points are rescaled.
    jumps : str
        Why it has no interval, where it is not smooth.
    reach : function of n and the parameters, or None
        Of a measure that searches neighbors for itself: how many it reads from the lists of anchors among many points.
    contributions : (float, float), function of n, or None
        Range of the contribution of one point, where it is not that of the value (``bounds``).
    caution : str
        What a good value does not say, in sentences; the card and the docstring repeat it.
    cost : str
        Time and memory in n.
    operations : function of the sizes and the parameters, or None
        Nanoseconds of one value on a usual processor, where what it shares with other measures is there; or a pair:
        those of the value, and of one more for the chance level. By its ``needs`` where nothing is said
        (``evaluation/cost.py``). The sizes have the attributes n, m (rows), p, d, ``pairs`` and ``streamed``.
    reference : str
        Source and equation; ``@key`` cites a work of ``dreval.references``, and ``works`` has the keys.
    """

    name: str
    symbol: str
    title: str
    question: str
    level: str
    needs: tuple[str, ...]
    direction: str
    bounds: tuple[float, float]
    chance: ChanceRule
    invariances: frozenset[str]
    reference: str
    cost: str
    says: tuple[str, ...] = ()
    grades: tuple[float, float] = (0.5, 0.9)
    share: str = ""
    goals: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    default: int | None = None
    ties: TieRule | None = None
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    chance_formula: str = ""
    curve: bool = False
    area_of: str = ""
    ceiling: Callable[[int, int], float] | None = None
    expected: Callable[..., float] | None = None
    without: Callable[..., FloatArray] | None = None
    without_class: Callable[..., FloatArray] | None = None
    by_row: Callable[..., FloatArray] | None = None
    counted: str = "all"
    quadratic: bool = False
    smooth: bool = True
    whole: bool = False
    growth: int = 0
    jumps: str = "the value moves in jumps"
    reach: Callable[..., int] | None = None
    contributions: tuple[float, float] | Callable[[int], tuple[float, float]] | None = None
    operations: Callable[..., float | tuple[float, float]] | None = None
    caution: str = ""

    def __repr__(self) -> str:
        return described(self)

    @property
    def shares_neighbors(self) -> bool:
        """Whether its number of neighbors is that of the evaluation (one with a default of its own keeps it)."""
        return self.level != "algorithm" and self.parameters.get("n_neighbors") == "auto"

    @property
    def has_closed_chance(self) -> bool:
        """Whether its chance level has a closed form, which may not hold where there are ties."""
        return self.chance is not None and (self.expected is not None or self.chance != "permutation")

    @property
    def orders_ties(self) -> bool:
        """Whether its value depends on how ties in the embedding are broken.

        Measures of ranks do, but not statistics of pairs, which use distances or mid ranks; nor do others without
        bounds over ties.
        """
        reads = self.level != "pair" and not {"ranks", "full_ranks"}.isdisjoint(self.needs)
        return reads or self.ties is not None

    @property
    def measures(self) -> bool:
        """Whether it depends on distances in the data, and so on their metric."""
        return not {"neighbors", "ranks", "full_ranks", "pairs"}.isdisjoint(self.needs)

    def limits(self, n: int) -> tuple[float, float]:
        """Range of the contribution of one of n points; infinite where there is no bound."""
        own = self.contributions
        return self.bounds if own is None else own(n) if callable(own) else own

    def worst(self, n: int) -> float:
        """The worst contribution of one of n points; the worse end of the value's range where that has no bound."""
        at = self.direction == "lower"
        return self.limits(n)[at] if math.isfinite(self.limits(n)[at]) else self.bounds[at]

    def check_metric(self, metric: str) -> None:
        """Raise an error where the measure needs coordinates of the data and has only distances."""
        if metric == "precomputed" and "features" in self.needs:
            rule = f"must not be 'precomputed' for {self.name}, which needs the coordinates of the data"
            raise UndefinedMeasure("metric", rule, "distances only", "Pass the data themselves, with a metric by name.")

    def metric_notes(self, metric: str) -> Notes:
        """Notes on the parts of the computation that a metric other than the Euclidean one does not change."""
        if metric == "euclidean" or "features" not in self.needs:
            return ()
        return (note("metric.neighbors" if self.measures else "metric.coordinates", metric=metric),)


class Answer(NamedTuple):
    """The value of a measure on a view, the contributions of the rows (None for a global measure), and notes.

    For a statistic of pairs computed with anchors, ``left_out`` computes its values without each group of anchors, and
    ``carriers`` the expected number of anchors among the points that carry the error; where pairs were sampled,
    ``sampling_se`` is the standard error of the sample.
    """

    value: float
    points: FloatArray | None
    notes: Notes = ()
    left_out: Callable[[], FloatArray] | None = None
    carriers: Callable[[], float] | None = None
    sampling_se: float | None = None
    n_used: int | None = None


def measure(**fields: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a measure of a function ``(view, **parameters)``.

    The function returns the contributions of the points or a float, or a pair of one of these and notes, or the
    Estimate of a statistic of pairs.
    """

    def attach(rule: Callable[..., Any]) -> Callable[..., Any]:
        parameters = {p.name: p.default for p in list(inspect.signature(rule).parameters.values())[1:]}
        if parameters.get("n_neighbors") == AUTO:
            parameters["n_neighbors"] = "auto"
        card = MeasureCard(name=rule.__name__, parameters=parameters, **fields)
        return _public(card, rule)

    return attach


def _ruled(thing: Callable[..., Any], view: View, **parameters: Any) -> Any:
    """The result of a measure's rule; an exception that is a defect of the rule names the measure."""
    try:
        return thing.rule(view, **parameters)  # type: ignore[attr-defined]
    except DrevalError:
        raise
    except Exception as defect:
        defect.add_note(f"Raised by the measure {thing.card.name!r}.")  # type: ignore[attr-defined]
        raise


def answer(thing: Callable[..., Any], view: View, parameters: dict[str, Any]) -> Answer:
    """Apply a measure to a view."""
    got = _ruled(thing, view, **parameters)
    if isinstance(got, Estimate):
        return Answer(got.value, None, got.notes, got.left_out, got.carriers, got.sampling_se, got.n_used)
    got, notes = got if isinstance(got, tuple) else (got, ())
    if isinstance(got, np.ndarray):
        return Answer(float(np.mean(got)), got, notes)
    return Answer(float(got), None, notes)


def curve_values(thing: Callable[..., Any], view: View) -> tuple[FloatArray, Notes]:
    """The values of a curve measure for K = 1, 2, ..., and notes."""
    values, notes = _ruled(thing, view)
    return values, notes


def tie_values(thing: Callable[..., Any], view: View, parameters: dict[str, Any]) -> tuple[float, float] | None:
    """Worst and best value over all ways of breaking ties; None where ties cannot matter or have no exact bounds."""
    rule = thing.card.ties  # type: ignore[attr-defined]
    found = None if rule is None or view.streamed else rule(view, *parameters.values())
    return None if found is None else (float(np.mean(found[0])), float(np.mean(found[1])))


def _public(card: MeasureCard, rule: Callable[..., Any]) -> Callable[..., Any]:
    """The function that users call with data and an embedding."""
    import pandas as pd

    multiple = "n_neighbors" in card.parameters

    def call(X: Any, Y: Any, **options: Any) -> Any:
        own = public.__signature__  # type: ignore[attr-defined]
        check_parameters(options, list(own.parameters)[2:], card.name)
        of_points = {name: None for name in OF_POINTS if name in card.needs}
        bound = own.bind(X, Y, **{**of_points, **options})
        bound.apply_defaults()
        given = dict(bound.arguments)
        if multiple and "n_neighbors" not in options and not card.shares_neighbors:
            del given["n_neighbors"]  # its own default, which is reduced for small data
        view = named_view(card, given)
        bounds = check_one_of(given.get("ties", "index"), ("index", "bounds"), "ties", aliases=True) == "bounds"
        if card.curve:
            return _curve(public, view, bounds)
        if "n_folds" in options:
            check_int(options["n_folds"], "n_folds", low=2, high=view.n)
        parameters = {name: given[name] for name in card.parameters}
        for name, words in card.choices.items():
            parameters[name] = check_one_of(given[name], words, name, aliases=True)
        if not multiple:
            got = answer(public, view, parameters)
            if got.sampling_se is not None:
                for one in got.notes:
                    warn(ApproximationWarning(one.within(card.name)))
            return pd.Series(_row(public, view, parameters, True), name=card.name) if bounds else got.value
        ks, single = check_k(given["n_neighbors"], view.n)
        rows = {k: _row(public, view, {**parameters, "n_neighbors": k}, bounds) for k in ks}
        table = pd.DataFrame(rows).T.rename_axis("n_neighbors")
        if bounds:
            return table.loc[ks[0]].rename(card.name) if single else table
        return float(table["value"].iloc[0]) if single else table["value"].rename(card.name)

    public: Any = call
    public.card, public.rule = card, rule
    public.__name__ = public.__qualname__ = card.name
    public.__module__ = rule.__module__
    public.__signature__ = signature(card)
    public.__doc__ = docstring(card, inspect.getdoc(rule) or "")
    return call


def _row(thing: Callable[..., Any], view: View, parameters: dict[str, Any], bounds: bool) -> dict[str, float]:
    """Value at one k, with its bounds over ties if requested."""
    value = answer(thing, view, parameters).value
    if not bounds:
        return {"value": value}
    worst, best = tie_values(thing, view, parameters) or (value, value)
    return {"worst": worst, "value": value, "best": best}


def _curve(thing: Callable[..., Any], view: View, bounds: bool) -> Any:
    """A curve by K, with its bounds over ties if requested."""
    import pandas as pd

    values, _ = curve_values(thing, view)
    name, ks = thing.card.name, pd.RangeIndex(1, len(values) + 1, name="K")  # type: ignore[attr-defined]
    if not bounds:
        return pd.Series(values, ks, name=name)
    worst, best = thing.card.ties(view)  # type: ignore[attr-defined]
    return pd.DataFrame({"worst": worst, "value": values, "best": best}, ks)


def named_view(card: MeasureCard, given: dict[str, Any]) -> View:
    """The view of one embedding; errors name the arguments X and Y."""
    try:
        return _view(card, given)
    except DrevalError as error:
        raise error.named({"data": "X", "embeddings['Y']": "Y"}) from error


def _view(card: MeasureCard, given: dict[str, Any]) -> View:
    """The view of one embedding that the measure needs; frames with equal row names are aligned."""
    metric = check_one_of(given.get("metric", "euclidean"), METRICS, "metric", aliases=True)
    card.check_metric(metric)
    data = as_data(given["X"], **{name: given.get(name) for name in OF_POINTS}, metric=metric)
    for name, cure in OF_POINTS.items():
        if name in card.needs and getattr(data, name) is None:
            raise InputError(name, f"must be given to {card.name}", "none", cure)
    source = as_source(given["Y"], "Y", data)
    Y, notes = source.noted_coordinates(data)
    of_embedding = (*source.notes, *notes)
    warn_of_columns(of_embedding, {source.argument: "Y"})
    warn_of_guesses((*data.notes, *of_embedding), {source.argument: "Y", "data": "X"})
    if "labels" in card.needs and data.labels is not None and not data.labels.known.all():
        data, Y = _labeled(card, data, Y)
    if "n_neighbors" in card.parameters and "n_neighbors" not in given:
        given["n_neighbors"] = min(card.parameters["n_neighbors"], max(1, data.n - 1))
    n_jobs = given.get("n_jobs")
    reads = "ranks" in card.needs or "neighbors" in card.needs
    k = check_k(given["n_neighbors"], data.n)[0][-1] if "n_neighbors" in card.parameters else 1
    every = np.arange(data.n)
    rows = every if reads else every[:0]  # coordinates alone need no pass
    reading = {"ranks": "ranks" in card.needs, "rows": rows, "n_jobs": n_jobs, "metric": metric}
    view = sweep(data.X, {"Y": Y}, k=k, **reading)["Y"]
    changes: dict[str, Any] = {"rows": every}
    changes |= {name: one for name, one in data.variables().items() if name in card.needs}
    if "random_state" in given:
        changes["seed"] = root_seed(check_random_state(given["random_state"]))
    return replace(view, **changes)


def _labeled(card: MeasureCard, data: Data, Y: FloatArray) -> tuple[Data, FloatArray]:
    """The labeled points alone, with a warning."""
    labels = data.labels
    if labels is None:
        raise RuntimeError("data without labels have no labeled points")
    stay = np.flatnonzero(labels.known)
    part = note("labels.partly", card.name, labeled=len(stay), n=data.n)
    warn(InputWarning(part))
    known = replace(labels, codes=labels.codes[stay])
    batch = None if data.batch is None else replace(data.batch, codes=data.batch.codes[stay])
    return replace(data, table=take(data.X, stay, data.metric), labels=known, batch=batch), Y[stay]


# The chance level of a measure: its mean over permutations of the embedding's rows, in closed form or sampled.

DRAWS, POINTS, PAIRS = 20, 200_000, 12_500_000
FEW_DRAWS = 4  # where anchors see so many points that each draw is a mean over thousands of unrelated rows
ROWS = 100  # rows from which ranks are seen in one draw, or n / 20, so that all draws cost no more than a pass
TIE_ROWS = 200  # rows in which ties are looked for; ties that so many rows do not meet cannot move a mean over rows


class Chance(NamedTuple):
    """Expected value of an embedding unrelated to the data, the standard error of its draws, and their number.

    In closed form there are none. A single draw has an unknown error.
    """

    value: float
    se: float = 0.0
    draws: int = 0


def chance_value(thing: Callable[..., Any], view: View, parameters: dict[str, Any], root: int) -> Chance:
    """Expected value of an embedding unrelated to the data; NaN where that has no meaning.

    It is the mean over all permutations of the embedding's rows, in closed form where there is one and ties do not
    change it. Otherwise it is the mean of 20 random permutations, each evaluated on a part of the rows; of 4 where
    anchors see more than 50,000 points, and of fewer for statistics of pairs at large n, where one permutation is
    already a mean over many pairs. The permutations depend on ``root`` only, so equal embeddings have equal values.
    """
    card: MeasureCard = thing.card  # type: ignore[attr-defined]
    if card.chance is None:
        return Chance(math.nan)
    if is_stated(card, view, parameters):
        if card.expected is not None:
            return Chance(card.expected(view, *parameters.values()))
        known: Any = card.chance
        return Chance(float(known(view.n, parameters["n_neighbors"]) if callable(known) else known))
    draws = []
    for seen in _permuted_views(card, view, parameters, root):
        with suppress(UndefinedMeasure):  # as where permuted classes of few distinct points have the same centroid
            draws.append(answer(thing, seen, parameters).value)
    if not draws:
        return Chance(math.nan)
    se = float(np.std(draws, ddof=1)) / math.sqrt(len(draws)) if len(draws) > 1 else math.nan
    return Chance(float(np.mean(draws)), se, len(draws))


def chance_curve(thing: Callable[..., Any], view: View, root: int) -> FloatArray:
    """The chance value of a curve at every K, by the rule of ``chance_value`` and from the same draws."""
    card: MeasureCard = thing.card  # type: ignore[attr-defined]
    if not is_stated(card, view, {}):
        return np.mean([curve_values(thing, seen)[0] for seen in _permuted_views(card, view, {}, root)], axis=0)
    known, count = card.chance, len(curve_values(thing, view)[0])
    ks = curve_numbers(view.n)[:count] if view.streamed else np.arange(1, count + 1)
    return np.array([known(view.n, k) for k in ks]) if callable(known) else np.full(len(ks), known, np.float64)


def is_stated(card: MeasureCard, view: View, parameters: dict[str, Any], tie_rows: int = TIE_ROWS) -> bool:
    """Whether the closed form of the card is the mean over all permutations of the rows of this view.

    Ties, which change that, are looked for in ``tie_rows`` rows.
    """
    if not card.has_closed_chance or not card.orders_ties or view.streamed:
        return card.has_closed_chance
    k = int(parameters.get("n_neighbors", 0))
    counted = {"all": slice(None), "first": slice(k), "edge": slice(k - 1, k)}[card.counted]
    return not ties_of(view, tie_rows)[counted].any()


def _permuted_views(card: MeasureCard, view: View, parameters: dict[str, Any], root: int) -> list[View]:
    """The views whose mean is the chance value, each from so many rows that all together cost about one pass."""
    pairs = n_pairs(view) if card.level == "pair" else 0
    draws, rows, ranked = draws_of(card, view.n, pairs, view.streamed)
    k = 0
    if ranked:
        k = view.nearest_embedding.shape[1] if "n_neighbors" in parameters else 1  # the same for all of an evaluation
    return [permuted(view, root, b, k, rows) for b in range(draws)]


def draws_of(card: MeasureCard, n: int, pairs: int, streamed: bool) -> tuple[int, int, bool]:
    """How many permutations are drawn, from how many rows each is seen, and whether their ranks are computed."""
    draws = FEW_DRAWS if streamed else DRAWS
    if card.level == "pair":
        return max(1, min(draws, PAIRS // max(pairs, 1))), n, False
    if card.quadratic:
        own_scale = 2 * PAIRS // DRAWS // n if card.level == "global" and not card.curve else 0  # of the rows seen
        return draws, max(ROWS, n // DRAWS, own_scale), False
    if "ranks" in card.needs:
        return draws, max(ROWS, n // DRAWS), True
    return draws, POINTS // DRAWS, False


def permuted(view: View, root: int, b: int, k: int = 0, rows: int | None = None) -> View:
    """The view with the b-th permutation of its rows, the same for all measures; with ranks up to k if k > 0.

    It is restricted to ``rows`` random rows, other ones for every b, so that draws are independent; to all by default.
    """
    made: View = view.once(("permuted", root, b), lambda: view.shuffled(stream(root, "chance", b)))
    if rows is not None and rows < len(view.rows):
        made = _restricted(made, rows, b)
    return _with_ranks(made, k) if k else made


@per_view
def ties_of(view: View, count: int = TIE_ROWS) -> npt.NDArray[np.bool_]:
    """Whether the r-th and the next nearest point of the embedding are ever equally far, for r = 1, ..., n - 2.

    Computed at ``count`` random points, or at all of fewer. If there are no ties, the ranks of permuted rows are a
    uniform draw whatever the ties in the data, and the closed form of a chance level is exact. It depends on the
    embedding alone, not on how its points are paired.
    """
    rows = np.arange(view.n)
    if view.n > count:
        rows = np.sort(stream(view.seed, "rows for ties").choice(view.n, count, replace=False))
    return tied_ranks(Space.of(view.Y[view.population]), rows)


@per_view
def _restricted(view: View, count: int, b: int) -> View:
    """The view from some of its rows, at random."""
    chosen = np.sort(stream(view.seed, "rows for chance", b).choice(len(view.rows), count, replace=False))
    near = view.nearest_data[chosen] if len(view.nearest_data) else view.nearest_data  # there may have been no pass
    return replace(
        view, rows=view.rows[chosen], nearest_data=near, ambiguous=view.ambiguous[chosen], _kept={}, _of_data={}
    )


@per_view
def _with_ranks(view: View, k: int) -> View:
    """A pass over the population from the rows of the view; O(m n (p + d)) time for m rows."""
    stay = view.population
    places = np.searchsorted(stay, view.rows)
    X = take(view.X, stay, view.metric)
    ranked = sweep(X, {"": view.Y[stay]}, k=k, rows=places, metric=view.metric, n_jobs=view.n_jobs)[""]
    return replace(ranked, **view.variables(stay), seed=view.seed)


# Which measures for which goal: the closed list of goals, and what an experiment with known defects says of each.

SEES, PREFERS = 0.8, 0.5  # shares of the draws in which an embedding is found worse, or better
MOST, LEAST_GAIN = 3, 0.02  # measures of a recommendation; what the next one must add
GRADES = 4


class Goal(NamedTuple):
    """What somebody wants to read off an embedding, and the defects that would mislead them.

    ``title`` heads the measures of the goal in reports, and ``keeps`` is what a good embedding does, in the plural.
    Where ``at_chance`` the chance level is what a good embedding reaches, as of batches that are spread at random.
    """

    question: str
    title: str
    keeps: str
    defects: tuple[str, ...] = ()
    at_chance: bool = False


GOALS = {
    "neighbors": Goal(
        "Are points that lie near each other neighbors in the data?", "Neighborhoods", "keep neighbors",
        (
            "tear", "fold", "merged classes", "split class", "swapped places", "local noise", "global noise",
            "wrong rows", "exaggerated classes",
        ),
    ),
    "neighborhoods": Goal(
        "Are small neighborhoods shown in their shape, or also their size?", "Local geometry", "keep local shapes",
        ("local noise", "global noise", "flattened density", "stretched axis", "duplicated points"),
    ),
    "density": Goal(
        "Are dense regions of the data dense in the embedding?", "Density", "keep densities",
        ("flattened density", "duplicated points"),
    ),
    "distances": Goal(
        "Are distances, and the global structure, those of the data?", "Global structure", "keep distances",
        (
            "tear", "fold", "merged classes", "split class", "swapped places", "rearranged classes", "global noise",
            "flattened density", "stretched axis", "outliers pulled in", "exaggerated classes",
        ),
    ),
    "arrangement": Goal(
        "Which clusters lie near which?", "Clusters", "keep the arrangement of clusters",
        ("fold", "merged classes", "swapped places", "rearranged classes"),
    ),
    "latent": Goal(
        "Are known latent variables recovered?", "Latent variables", "show the latent variables",
        ("tear", "fold", "swapped places", "rearranged classes", "global noise", "wrong rows"),
    ),
    "classes": Goal(
        "Are the classes as far apart as they are in the data?", "Classes", "show the classes apart",
        ("merged classes", "split class", "swapped places", "global noise", "wrong rows", "exaggerated classes"),
    ),
    "prediction": Goal(
        "Can the class of a point be predicted from its position?", "Prediction", "tell the classes",
        ("merged classes", "global noise", "wrong rows"),
    ),
    "batches": Goal(
        "Are the batches mixed, and the labels still apart?", "Batches", "blend the batches", at_chance=True
    ),
    "method": Goal("Would the method do the same with other data?", "Method", "hold up as methods"),
    "reconstruction": Goal("Can the data be computed from the embedding?", "Reconstruction", "return the data"),
}  # fmt: skip


@cache
def detections() -> pd.DataFrame:
    """What the experiment of ``vignettes/defects.py`` found: one row for each data set, measure, change and grade.

    ``worse`` and ``better`` count the draws, of ``draws``, in which the changed embedding is found worse or better than
    the good one at 5 %; where the measure never has a test (``tested`` is False), those in which its value is. A draw
    in which a measure that else has a test has none counts as not found. Grade 0 is a harmless change.
    """
    with files("dreval.measures").joinpath("detections.csv.gz").open("rb") as file:
        found = pd.read_csv(file, compression="gzip", keep_default_na=False, na_values={"size": ""})
    letters = found["found"]  # one a draw; capitals where there was no test
    differ = [letters.str.count(pair).groupby(found["measure"]).sum() for pair in ("[wb]", "[WB]")]
    tested = found["measure"].map((differ[0] > 0) | (differ[1] == 0))
    small = letters.where(tested, letters.str.lower())
    counts = {side: small.str.count(letter) for side, letter in (("worse", "w"), ("better", "b"))}
    return found.assign(draws=letters.str.len(), **counts, tested=tested)


def shares(found: pd.DataFrame) -> pd.DataFrame:
    """Shares of the draws of all data sets in which a change is found worse and better, by measure, change, grade."""
    sums = found.groupby(["measure", "change", "grade"])[["draws", "worse", "better"]].sum()
    made = sums[["worse", "better"]].div(sums["draws"], axis=0)
    return made.assign(draws=sums["draws"], tested=found.groupby(["measure", "change", "grade"])["tested"].all())


def first_seen(found: pd.DataFrame) -> pd.DataFrame:
    """The lowest grade from which on every grade of a defect is seen, measures x defects; 0 where the highest is not.

    Negative where the embedding with the defect is preferred at some grade: minus the first such grade.
    """
    grades = shares(found[found["grade"] > 0])
    worse, better = (grades[side].unstack("grade") for side in ("worse", "better"))
    seen = (worse >= SEES).iloc[:, ::-1].cumprod(axis=1).sum(axis=1)
    preferred = better >= PREFERS
    first = (GRADES + 1 - seen).where(seen > 0, 0).where(~preferred.any(axis=1), -(preferred.idxmax(axis=1)))
    return first.astype(int).unstack("change")


def false_alarms(found: pd.DataFrame) -> pd.Series:
    """The largest share of draws in which a harmless change that the card declares is found worse or better."""
    harmless = shares(found[found["grade"] == 0])
    return (harmless["worse"] + harmless["better"]).groupby("measure").max()


@read_only
@dataclass(frozen=True, repr=False)
class Recommendation:
    """The measures for a goal, with the reasons; made by ``recommend``.

    Attributes
    ----------
    goal, question : str
        The goal and what it asks.
    measures : tuple of str
        The recommended measures, as ``Evaluation.run(measures=...)`` takes them; the most important one first.
    table : DataFrame
        All measures whose cards name the goal, the recommended ones first: ``measure``, ``recommended``, ``detected``
        (share of the draws and grades of the goal's defects in which a paired test finds the defect; NaN without a
        test), ``preferred`` (the defects that it finds better), ``needs`` and ``question``.
    evidence : DataFrame
        Measures x defects of the goal: the first of four grades of severity from which on a defect is seen (found in
        80 % of the draws), 0 where it is not seen; negative where the embedding with the defect is preferred. Empty
        where no defect of the experiment concerns the goal.
    """

    goal: str
    question: str
    measures: tuple[str, ...]
    table: pd.DataFrame
    evidence: pd.DataFrame

    def __repr__(self) -> str:
        said = {name: self._reason(name) for name in self.measures}
        others = [name for name in self.table["measure"] if name not in self.measures]
        said |= {"also for this goal": ", ".join(others)}
        if not self.evidence.empty:
            said["in brackets"] = "the mildest of four grades from which on it is seen, in maps of 120 points"
        return block(f"{self.goal}: {self.question}", said)

    def _reason(self, name: str) -> str:
        """The question of a measure, what it sees and what it does not."""
        row = self.table.set_index("measure").loc[name]
        words = [row["question"]]
        if name in self.evidence.index:
            first = self.evidence.loc[name]
            parts = {
                "Sees": [
                    f"{defect} ({grade})" for defect, grade in first[first > 0].sort_values(kind="stable").items()
                ],
                "Does not see": list(first[first == 0].index),
                "Prefers": list(first[first < 0].index),
            }
            words += [f"{verb} {', '.join(defects)}." for verb, defects in parts.items() if defects]
            words += [f"Detects {row['detected']:.0%} of them in all."] if row["detected"] >= 0 else []
        needs = [need for need in ("labels", "latent", "batch", "method") if need in row["needs"].split(", ")]
        return " ".join([*words, *([f"Needs {', '.join(needs)}."] if needs else [])])


@keywords_checked
def recommend(goal: str) -> Recommendation:
    """Recommend measures for what you want to read off an embedding.

    Good embeddings of six data sets were damaged by 14 defects at four grades of severity, and every measure was asked
    by ``Results.compare`` whether the damaged embedding is worse (the vignette "Which measure sees which defect?").
    Recommended is the measure with a test that detects most of the defects which concern the goal, and then, up to
    three, the one that adds most to those before it (at least .02); only measures that see a defect of the goal, find
    none of them better, and no difference where their card says that there is none. Where no defect concerns the goal
    all of its measures are recommended that depend on how the rows of embedding and data are paired.

    Parameters
    ----------
    %(goals)s

    Returns
    -------
    Recommendation
        It prints the measures with the reasons. ``measures`` goes into ``Evaluation.run``, ``table`` has all measures
        for the goal, ``evidence`` what each sees.

    Raises
    ------
    UnknownName
        If there is no such goal; the nearest right one is given.

    See Also
    --------
    list_measures : the names of all measures.
    card : what is known of one measure.

    Notes
    -----
    The experiment has 120 points in the plane a data set and k = 10 neighbors: an order of measures, not a power
    calculation for other data. With more points every measure sees more. Damaged embeddings were compared with a good
    one; beside an embedding that is wrong already a defect may repair what a measure looks at. Grades 1 to 4 are given
    in the vignette, from the mildest on; measures without a test (``detected`` is NaN) were judged by their values.
    What a measure detects alone is not adjusted for the others.

    Examples
    --------
    >>> import dreval
    >>> "ilisi" in dreval.recommend("batches").measures
    True
    """
    wanted = GOALS[check_one_of(goal, GOALS, "goal", aliases=True)]
    cards = {card.name: card for card in MEASURES.cards() if goal in card.goals}
    found = detections()
    found = found[found["measure"].isin(cards)]
    alarms = false_alarms(found)
    found = found[found["change"].isin(wanted.defects)]
    evidence = first_seen(found)[[*wanted.defects]] if wanted.defects else pd.DataFrame()
    grades = shares(found)
    rates = grades["worse"].where(grades["tested"]).unstack("measure")
    preferred = {name: [*evidence.columns[evidence.loc[name] < 0]] for name in evidence.index}
    sees = (evidence > 0).any(axis=1) if wanted.defects else {}
    chosen = _cover(rates[[n for n in rates if sees[n] and not preferred[n] and not alarms.get(n, 0.0)]])
    if not wanted.defects:
        chosen = sorted(name for name in cards if cards[name].chance is not None)
    detected = rates.mean(skipna=False)
    detected = detected.reindex([*cards])  # NaN without a test: those come last
    rest = sorted(
        set(cards) - set(chosen), key=lambda name: (np.isnan(detected[name]), -np.nan_to_num(detected[name]), name)
    )
    rows = [
        {
            "measure": name,
            "recommended": name in chosen,
            "detected": float(detected[name]),
            "preferred": ", ".join(preferred.get(name, ())),
            "needs": ", ".join(cards[name].needs),
            "question": cards[name].question,
        }
        for name in [*chosen, *rest]
    ]
    order = [row["measure"] for row in rows if row["measure"] in evidence.index]
    return Recommendation(goal, wanted.question, tuple(chosen), pd.DataFrame(rows), evidence.loc[order])


_LISTED = [f"goal : {{{', '.join(map(repr, GOALS))}}}", *(f"    - {one!r}: {GOALS[one].question}" for one in GOALS)]
recommend.__doc__ = filled(recommend.__doc__, {"goals": "\n".join(_LISTED)})


def _cover(rates: pd.DataFrame) -> list[str]:
    """The measure (column) with the largest mean rate, and then those that add most to the best of each row."""
    rates = rates.dropna(axis=1)
    chosen: list[str] = []
    best: Any = 0.0
    while len(chosen) < MOST and not rates.empty:
        gains = rates.clip(lower=best, axis=0).mean() - (best.mean() if chosen else 0.0)
        if chosen and gains.max() < LEAST_GAIN:
            break
        chosen.append(str(gains.idxmax()))
        best = rates[chosen].max(axis=1)
    return chosen
