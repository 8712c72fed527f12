"""Define measures: their card, public function, docstring, chance level, and the measures for a goal."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import (
    DEFAULT_NEIGHBORS,
    check_int,
    check_k,
    check_one_of,
    check_random_state,
    describe,
    did_you_mean,
)
from dreval._check import FloatArray as FloatArray
from dreval._docs import RANDOM_PARTS, chance_text, fill_docstring, measure_docstring, value_range
from dreval._random import root_seed, stream
from dreval.cards import Card, defaults, register
from dreval.errors import ApproximationWarning, DrevalError, InputError, InputWarning, UndefinedMeasure, warn
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import VARIABLES, View, per_view
from dreval.geometry.distances import take
from dreval.geometry.geodesics import with_geodesics
from dreval.geometry.pairs import Estimate, n_pairs
from dreval.geometry.ranks import curve_numbers, tied_ranks
from dreval.geometry.view import make_view
from dreval.glossary import DIRECTIONS, METRICS, TABLE_METRICS, Described
from dreval.inputs.data import Data, as_data
from dreval.inputs.kinds import Kind, kind_of, split_member
from dreval.inputs.source import as_source, warn_of_columns, width_notes
from dreval.inputs.source_kinds import check_columns, check_metric_of_embedding, for_views
from dreval.inputs.variables import warn_of_guesses
from dreval.records.base import read_only
from dreval.records.notes import Notes, note
from dreval.registry import MEASURES

# The signature of a measure's public function, and its card as printed, both built from the card.


def signature(card: Any) -> inspect.Signature:
    """Return (X, Y, n_neighbors, *, variables of the points, other parameters, then keywords that its needs require).

    A measure that does not read the data has no X, and one without neighbors no ``n_neighbors``.
    """
    plain, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, plain) for name in (("X", "Y") if card.reads_data else ("Y",))]
    defaults = dict(card.parameters)
    if "n_neighbors" in defaults:
        parameters.append(inspect.Parameter("n_neighbors", plain, default=defaults.pop("n_neighbors")))
    parameters += [inspect.Parameter(name, keyword) for name in card.variables]
    options = {name: value for name, value in defaults.items() if name not in card.variables}
    parameters += [inspect.Parameter(name, keyword, default=value) for name, value in options.items()]
    if card.uses_metric:
        parameters.append(inspect.Parameter("metric", keyword, default="euclidean"))
        if "features" not in card.needs:
            parameters.append(inspect.Parameter("graph_neighbors", keyword, default="auto"))
    if card.uses_embedding_metric:
        parameters.append(inspect.Parameter("embedding_metric", keyword, default="euclidean"))
    if "pairs" in card.needs or not RANDOM_PARTS.keys().isdisjoint(card.parameters):
        parameters.append(inspect.Parameter("random_state", keyword, default=None))
    if card.ties is not None:
        parameters.append(inspect.Parameter("ties", keyword, default="index"))
    if card.uses_metric or card.variables:
        parameters.append(inspect.Parameter("n_jobs", keyword, default=None))
    return inspect.Signature(parameters)


# The card of a measure, and its public function.

LISTS_HINT = "Pass the points, or all distances, with another metric."
VARIABLE_HINTS = {  # variables of the points that a measure may need, and how to pass them
    "labels": "Pass labels=, the class of each point.",
    "latent": "Pass latent=, the true latent variables, one row per point.",
    "batch": "Pass batch=, the batch of each point.",
    "target": "Pass target=, the number of each point.",
}
ChanceLevel = float | Callable[[int, int], float] | str | None
TieBounds = Callable[..., tuple[FloatArray, FloatArray] | None]


@read_only
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeasureCard(Card):
    """The declared properties of a measure, besides those of every ``Card``.

    Attributes
    ----------
    symbol : str
        Symbol in formulas.
    level : {"point", "global", "pair", "algorithm"}
        "point": the value is the mean of contributions of the points. "global": it is a value of the whole embedding.
        "pair": it is a statistic of pairs of points; of anchors, the pairs that they are in. "algorithm": it is a value
        of the method that computed the embedding (``measures/methods.py``).
    needs : tuple of {"neighbors", "ranks", "full_ranks", "coordinates", "features", "labels", "latent", "pairs", ...}
        The input: neighbors in the data; neighbors and cross ranks in both spaces; all ranks; coordinates of the
        embedding; coordinates of the data, which precomputed distances do not have; classes; true latent variables;
        a "batch" of each point; a number of each point, the "target"; distances of pairs; a "method" that can be
        re-run; a "reconstruction" of the data.
    direction : {"higher", "lower", "zero", "none"}
        Whether higher or lower values are better; "zero": a curve that is better the nearer it is to 0; "none": it
        describes, and embeddings are not ranked by it.
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
    term : str
        The term of the literature, printed small next to a title in plain words.
    noun : str
        A short title, with which a sentence names the measure and quotes its value.
    variant : str
        Of measures of one question that differ in one respect: this respect, after the name of the question in the
        title. A sentence says "with" it, where it says "by" the title of another measure.
    bar : bool
        Whether it stands for its question: sentences quote its value, and the bar of a card shows it.
    warning : str
        What an embedding with a poor value must not be used for, as a sentence without a full stop; ``{lost}`` is the
        complement of the value in percent.
    warns_first : bool
        Whether this is what readers of maps most often do wrong, so that reports warn of it before all else.
    share : str
        Of a value that is a share: the text after "59 %"; it may hold names of parameters.
    goals : tuple of str
        Goals of ``dreval.recommend`` that it serves; reports list it under the first one.
    default : int or None
        Position among the default measures, None for those computed on request.
    ties : function or None
        Worst and best contributions (of a curve: values) over all ways of breaking ties, of the view and the
        parameters; it may return None where no order matters.
    choices : dict
        The valid values of a parameter that is text.
    curve : bool
        Whether it has a value for every K = 1, 2, ... and no single value.
    area_of : str
        The curve whose area this is; an evaluation stores it with the value.
    ceiling : function of (n, k) or None
        Value of a perfect copy where it is not the better end of ``bounds`` (without a direction, the lower end).
    expected : function of the view and the parameters, or None
        The mean over all permutations of rows in closed form, which replaces random permutations and a less exact
        ``chance``.
    lists : {"", "neighbors", "ranks"}
        What it reads of data that are lists of neighbors: "neighbors": those of its ``n_neighbors``, of a curve all
        that are listed; "ranks": also the ranks of other points, so that it has a value where these are listed; "":
        distances or coordinates, so that it has none.
    list_bounds : function or None
        Worst and best contributions over all data with these lists, of the view and the parameters.
    without : function or None
        Values (n,) without each point, of a view with a row for each point and the parameters: the coordinates of the
        other points are held fixed; NaN where there is no value without a point. It raises UndefinedMeasure where no
        point can be left out, as where k > n - 2. Of a curve: values (n, len(ks)) of the view and some numbers of
        neighbors.
    by_row : function or None
        Of a curve: the contributions of the rows (m, len(ks)), of the view and some numbers of neighbors; the value is
        their mean.
    crossed : bool
        Whether its intervals and paired tests are those of the cross jackknife, from ``without`` on two thirds of the
        points, where ``ci="points"``: of a measure of neighbors, whose delete-one variance is much too large.
    log_interval : bool
        Whether the interval of the cross jackknife is one of the logarithm of the value.
    without_class : function or None
        Values (c,) without each class, of a view and the parameters, for a jackknife over classes in place of points.
    counted : {"all", "first", "edge"}
        Which ranks in the embedding the value depends on, however rows are paired: all, those of the first k neighbors,
        or only the set of the first k. Other ties do not change the chance level in closed form.
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
    interval_from : function of the parameters, or None
        Number of points below which it has no interval.
    max_perfect : float
        Share of the points with the best contribution from which it has no interval of points: the few other points
        decide, and a sample shows too little of their spread.
    best_is_attainable : bool
        Whether a perfect embedding has the best value. False where noise keeps every embedding far below it: then no
        value is called closer to chance than to perfect.
    min_carriers : float
        The number of points that carry the variance of the values without each point, (sum d^2)^2 / sum d^4, below
        which a note says that the interval is too short.
    reach : function of n and the parameters, or None
        Of a measure that searches neighbors itself: how many it reads from the lists of anchors among many points.
    contributions : (float, float), function of n, or None
        Range of the contribution of one point, where it is not that of the value (``bounds``).
    exponent : float
        Power of n with which the time grows, chance level included, but not the pass for the neighbors; of a measure
        of pairs, of the number of points whose pairs are used.
    """

    kind: ClassVar[str] = "measure"
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "symbol", "question", "cost", "reference")
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {
        "level": ("point", "global", "pair", "algorithm"),
        "direction": ("higher", "lower", "zero", "none"),
        "needs": (
            *("batch", "coordinates", "features", "full_ranks", "labels", "latent", "method", "neighbors", "pairs"),
            *("ranks", "reconstruction", "target"),
        ),
        "invariances": ("translation", "rotation", "scale", "monotone"),
        "lists": ("", "neighbors", "ranks"),
        "counted": ("all", "first", "edge"),
    }

    symbol: str
    level: str
    needs: tuple[str, ...]
    direction: str
    bounds: tuple[float, float]
    chance: ChanceLevel
    invariances: frozenset[str]
    term: str = ""
    noun: str = ""
    variant: str = ""
    bar: bool = False
    warning: str = ""
    warns_first: bool = False
    share: str = ""
    goals: tuple[str, ...] = ()
    default: int | None = None
    ties: TieBounds | None = None
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    chance_formula: str = ""
    curve: bool = False
    area_of: str = ""
    ceiling: Callable[[int, int], float] | None = None
    lists: str = ""
    list_bounds: TieBounds | None = None
    expected: Callable[..., float] | None = None
    without: Callable[..., FloatArray] | None = None
    crossed: bool = False
    log_interval: bool = False
    without_class: Callable[..., FloatArray] | None = None
    by_row: Callable[..., FloatArray] | None = None
    counted: str = "all"
    quadratic: bool = False
    smooth: bool = True
    whole: bool = False
    growth: int = 0
    jumps: str = "the value moves in jumps"
    interval_from: Callable[..., int] | None = None
    max_perfect: float = math.inf
    best_is_attainable: bool = True
    min_carriers: float = 0.0
    reach: Callable[..., int] | None = None
    contributions: tuple[float, float] | Callable[[int], tuple[float, float]] | None = None
    exponent: float = 2.0

    def heading(self) -> str:
        """Return the first printed line."""
        return f"{self.title} ({self.symbol})"

    def lines(self) -> dict[str, str]:
        """Return the printed fields."""
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return {
            "name": self.name,
            "term": self.term,
            "question": self.question,
            "goals": ", ".join(self.goals),
            "direction": DIRECTIONS[self.direction],
            "range": value_range(self),
            "chance level": chance_text(self),
            "caution": self.caution,
            "level": self.level + (", a value at every K" if self.curve else ""),
            "needs": ", ".join(self.needs),
            "parameters": parameters or "none",
            "choices": "; ".join(f"{name}: {', '.join(options)}" for name, options in self.choices.items()),
            "unchanged by": ", ".join(sorted(self.invariances)) or "nothing",
            "ties": "worst and best value over all ways of breaking them" if self.ties is not None else "",
            "default": "" if self.default is None else "yes",
            "cost": self.cost,
            "reference": self.reference,
        }

    @property
    def shares_neighbors(self) -> bool:
        """Whether its number of neighbors is that of the evaluation; a measure with another default keeps it."""
        return self.level != "algorithm" and self.parameters.get("n_neighbors") == "auto"

    @property
    def has_closed_chance(self) -> bool:
        """Whether its chance level has a closed form, which may not hold where there are ties."""
        return self.chance is not None and (self.expected is not None or self.chance != "permutation")

    @property
    def orders_ties(self) -> bool:
        """Whether its value depends on how ties in the embedding are broken.

        Measures of ranks and of targets do, but not statistics of pairs, which use distances or mid ranks, and no other
        measure without bounds over ties.
        """
        uses_ranks = self.level != "pair" and not {"ranks", "full_ranks", "target"}.isdisjoint(self.needs)
        return uses_ranks or self.ties is not None

    @property
    def variables(self) -> tuple[str, ...]:
        """Variables of the points that it needs: labels, latent variables, batches."""
        return tuple(name for name in VARIABLES if name in self.needs)

    @property
    def reads_data(self) -> bool:
        """Whether it reads the data; other measures compare the embedding with variables of the points only."""
        return not {"coordinates", "labels", "latent", "batch", "target"}.issuperset(self.needs)

    @property
    def uses_metric(self) -> bool:
        """Whether it depends on distances in the data, and so on their metric."""
        return not {"neighbors", "ranks", "full_ranks", "pairs"}.isdisjoint(self.needs)

    @property
    def uses_embedding_metric(self) -> bool:
        """Whether it reads only distances of the embedding, so that these may be of any metric."""
        return self.uses_metric and {"coordinates", "features"}.isdisjoint(self.needs)

    def limits(self, n: int) -> tuple[float, float]:
        """Return the range of the contribution of one of n points; infinite where there is no bound."""
        if self.contributions is None:
            return self.bounds
        return self.contributions(n) if callable(self.contributions) else self.contributions

    def range_of(self, n: int) -> tuple[float, float]:
        """Return the range of the value of n points, to which intervals are cut: a mean is within its contributions."""
        limits = self.limits(n)
        return max(self.bounds[0], limits[0]), min(self.bounds[1], limits[1])

    def worst(self, n: int) -> float:
        """Return the worst contribution of one of n points; the worse end of the value's range if it has no bound."""
        end = self.direction == "lower"
        return self.limits(n)[end] if math.isfinite(self.limits(n)[end]) else self.bounds[end]

    def check_metric(self, metric: str) -> None:
        """Raise an error where the measure needs more of the data than the metric leaves: coordinates, or distances."""
        if metric == "neighbors" and self.reads_data and not self.lists:
            requirement = "must not be 'neighbors' for measures that need distances or coordinates of the data"
            raise UndefinedMeasure("metric", requirement, "lists of neighbors only", LISTS_HINT)
        if metric in ("precomputed", "geodesic", "gower") and "features" in self.needs:
            requirement = f"must not be {metric!r} for {self.name}, which needs the coordinates of the data"
            raise UndefinedMeasure(
                "metric", requirement, "distances only", "Pass the data themselves, with a metric by name."
            )

    def check_lists(self, view: View, parameters: Mapping[str, Any]) -> None:
        """Raise an error where the data are lists of neighbors, and the measure needs more than they hold."""
        self.check_metric(view.metric)
        length = view.list_length
        if length is None or not self.reads_data:
            return
        k = parameters.get("n_neighbors")
        if k is not None and k > length:
            requirement = "must be at most the length of the shortest list of neighbors"
            raise UndefinedMeasure("n_neighbors", requirement, f"{k} with {length}", f"Choose at most {length}.")
        if self.lists == "neighbors" or (k is not None and not view.unlisted(k).any()):
            return
        requirement = "must not be 'neighbors' for measures that need ranks of points that are in no list"
        hint = f"{self.name}(..., ties='bounds') returns bounds. " * (self.list_bounds is not None) + LISTS_HINT
        raise UndefinedMeasure("metric", requirement, f"lists of {length} or more of {view.n - 1} neighbors", hint)

    def check_margin(self, margin: float, argument: str) -> None:
        """Raise an error for a margin that no difference of two values of the measure can exceed."""
        low, high = self.bounds
        if margin >= high - low:
            requirement = f"must be below {high - low:g}: {self.name} is from {low:g} to {high:g}"
            hint = "Pass a smaller difference, in the unit of the measure."
            raise InputError(argument, requirement, f"{margin:g}", hint)

    def metric_notes(self, metric: str) -> Notes:
        """Return notes on the parts of the computation that another metric than the Euclidean one does not change."""
        if metric == "euclidean" or "features" not in self.needs:
            return ()
        return (note("metric.neighbors" if self.uses_metric else "metric.coordinates", metric=metric),)


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


def _apply(function: Callable[..., Any], view: View, **parameters: Any) -> Any:
    """Return the result of a measure's function; an exception that is a defect of the function names the measure."""
    try:
        function.card.check_lists(view, parameters)  # type: ignore[attr-defined]
        return function.rule(view, **parameters)  # type: ignore[attr-defined]
    except DrevalError:
        raise
    except Exception as defect:
        defect.add_note(f"Raised by the measure {function.card.name!r}.")  # type: ignore[attr-defined]
        raise


def answer(function: Callable[..., Any], view: View, parameters: dict[str, Any]) -> Answer:
    """Apply a measure to a view."""
    result = _apply(function, view, **parameters)
    if isinstance(result, Estimate):
        _check_squarable(result.value)
        return Answer(
            result.value, None, result.notes, result.left_out, result.carriers, result.sampling_se, result.n_used
        )
    value, notes = result if isinstance(result, tuple) else (result, ())
    mean = float(np.mean(value))
    _check_squarable(mean)
    return Answer(mean, value if isinstance(value, np.ndarray) else None, notes)


MAX_VALUE = 1e150  # the square of a value, of which standard errors are made, is a number


def _check_squarable(value: float) -> None:
    """Check that the square of a value is a number: data and embedding may have very different units."""
    if abs(value) > MAX_VALUE:
        requirement = f"must have units in which the value of this measure is at most {MAX_VALUE:g}"
        hint = "Multiply the embedding by a number, or use a measure that does not depend on its unit."
        raise UndefinedMeasure("data", requirement, f"{value:.3g}", hint)


def curve_values(function: Callable[..., Any], view: View) -> tuple[FloatArray, Notes]:
    """Return the values of a curve measure for K = 1, 2, ..., and notes."""
    values, notes = _apply(function, view)
    return values, notes


def tie_values(function: Callable[..., Any], view: View, parameters: dict[str, Any]) -> tuple[float, float] | None:
    """Return worst and best value over all ways of breaking ties; None where ties cannot matter or have no bounds."""
    ties = function.card.ties  # type: ignore[attr-defined]
    bounds = None if ties is None or view.streamed else ties(view, *parameters.values())
    return None if bounds is None else (float(np.mean(bounds[0])), float(np.mean(bounds[1])))


def list_bounds(function: Callable[..., Any], view: View, parameters: dict[str, Any]) -> tuple[float, float] | None:
    """Return worst and best value over all data with these lists of neighbors; None where there are no bounds."""
    card: MeasureCard = function.card  # type: ignore[attr-defined]
    if card.list_bounds is None or view.list_length is None or parameters["n_neighbors"] > view.list_length:
        return None
    worst, best = card.list_bounds(view, *parameters.values())
    return float(np.mean(worst)), float(np.mean(best))


def _public(function: Callable[..., Any], card: MeasureCard) -> Callable[..., Any]:
    """Return the function that users call with data and an embedding."""
    import pandas as pd

    multiple = "n_neighbors" in card.parameters

    def call(*positional: Any, **options: Any) -> Any:
        signature = public.__signature__
        variables: dict[str, Any] = dict.fromkeys(card.variables)
        if len(positional) > 1 and not card.reads_data and (not multiple or np.ndim(positional[1]) > 1):
            raise TypeError(f"{card.name}() does not read the data: call {card.name}(Y, {card.variables[0]}=...)")
        try:
            bound = signature.bind(*positional, **{**variables, **options})
        except TypeError as error:
            unknown = [name for name in options if name not in signature.parameters]
            hint = did_you_mean(unknown[0], signature.parameters) if unknown else ""
            raise TypeError(f"{card.name}() {error}{'. ' * bool(hint)}{hint}".rstrip()) from None
        is_default = "n_neighbors" not in bound.arguments
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        if multiple and is_default and not card.shares_neighbors:
            del arguments["n_neighbors"]  # its own default, which is reduced for small data
        view = named_view(card, arguments)
        bounds = check_one_of(arguments.get("ties", "index"), ("index", "bounds"), "ties", aliases=True) == "bounds"
        if card.curve:
            return _curve(public, view, bounds)
        if options.get("n_splits") is not None:
            check_int(options["n_splits"], "n_splits", low=2, high=view.n)
        parameters = {name: None if name in variables else arguments[name] for name in card.parameters}
        for name, choices in card.choices.items():
            parameters[name] = check_one_of(arguments[name], choices, name, aliases=True)
        if not multiple:
            result = answer(public, view, parameters)
            if result.sampling_se is not None:
                for sampling_note in result.notes:
                    warn(ApproximationWarning(sampling_note.with_scope(card.name)))
            return pd.Series(_row(public, view, parameters, True), name=card.name) if bounds else result.value
        ks, single = check_k(arguments["n_neighbors"], view.n, length=view.list_length)
        rows = {k: _row(public, view, {**parameters, "n_neighbors": k}, bounds) for k in ks}
        table = pd.DataFrame(rows).T.rename_axis("n_neighbors")
        if bounds:
            return table.loc[ks[0]].rename(card.name) if single else table
        return float(table["value"].iloc[0]) if single else table["value"].rename(card.name)

    public: Any = call
    public.rule = function
    public.__name__ = public.__qualname__ = card.name
    public.__module__ = function.__module__
    public.__signature__ = signature(card)
    public.__doc__ = measure_docstring(card, public.__signature__.parameters, inspect.getdoc(function) or "", ROUNDING)
    return call


def _parameters_of_view(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a function of a view; the default number of neighbors is that of the evaluation."""
    parameters = defaults(function)
    if parameters.get("n_neighbors") == DEFAULT_NEIGHBORS:
        parameters["n_neighbors"] = "auto"
    return parameters


# Turns a function ``(view, **parameters)`` into a measure. The function returns the contributions of the points or a
# float, or a pair of one of these and notes, or the Estimate of a statistic of pairs.
measure: Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]] = register(
    MeasureCard, MEASURES.name_of, _public, _parameters_of_view
)


def _row(function: Callable[..., Any], view: View, parameters: dict[str, Any], bounds: bool) -> dict[str, float]:
    """Return the value at one k, with its bounds over ties if requested."""
    if bounds and view.list_length is not None and (limits := list_bounds(function, view, parameters)) is not None:
        return {"worst": limits[0], "value": math.nan if limits[0] < limits[1] else limits[0], "best": limits[1]}
    value = answer(function, view, parameters).value
    if not bounds:
        return {"value": value}
    worst, best = tie_values(function, view, parameters) or (value, value)
    return {"worst": worst, "value": value, "best": best}


def _curve(function: Callable[..., Any], view: View, bounds: bool) -> Any:
    """Return a curve by K, with its bounds over ties if requested."""
    import pandas as pd

    values, _ = curve_values(function, view)
    name, ks = function.card.name, pd.RangeIndex(1, len(values) + 1, name="K")  # type: ignore[attr-defined]
    if not bounds:
        return pd.Series(values, ks, name=name)
    worst, best = function.card.ties(view)  # type: ignore[attr-defined]
    return pd.DataFrame({"worst": worst, "value": values, "best": best}, ks)


def named_view(card: MeasureCard, arguments: dict[str, Any]) -> View:
    """Return the view of one embedding; errors name the arguments X and Y."""
    names = {"data": "X" if card.reads_data else "Y", "embeddings['Y']": "Y"}
    try:
        return _view(card, arguments)
    except DrevalError as error:
        raise error.named(names) from error.__cause__


def _view(card: MeasureCard, arguments: dict[str, Any]) -> View:
    """Return the view of one embedding that the measure needs; frames with equal row names are aligned.

    A default ``n_neighbors`` is added to ``arguments``.
    """
    metric = check_one_of(arguments.get("metric", "euclidean"), METRICS, "metric", aliases=True)
    card.check_metric(metric)
    embedding_metric = check_one_of(
        arguments.get("embedding_metric", "euclidean"), TABLE_METRICS, "embedding_metric", aliases=True
    )
    table = arguments["X"] if card.reads_data else _coordinates_only(arguments["Y"])
    variables = {name: arguments.get(name) for name in VARIABLE_HINTS}
    data = as_data(table, **variables, metric=metric, may_coincide=not card.reads_data)
    data = with_geodesics(data, arguments.get("graph_neighbors", "auto"), arguments.get("n_jobs"))
    data = replace(data, embedding_metric=embedding_metric)
    values = data.variables()
    for name in card.variables:
        if values[name] is None:
            raise InputError(name, f"must be given to {card.name}", "none", VARIABLE_HINTS[name])
    if card.reads_data:
        source = as_source(arguments["Y"], "Y", data)
        Y, notes = source.noted_coordinates(data)
        check_metric_of_embedding(Y, embedding_metric, source.argument)
        notes = (*source.notes, *notes)
        warn_of_columns(notes, {source.argument: "Y"})
        warn_of_guesses((*data.notes, *notes, *width_notes(data, Y)), {source.argument: "Y", "data": "X"})
    else:
        Y = data.dense()
        check_columns(Y, "data")
        warn_of_guesses(data.notes, {"data": "Y"})
    if "labels" in card.needs and data.labels is not None and not data.labels.has_label.all():
        data, Y = _labeled(card, data, Y)
    if "n_neighbors" in card.parameters and "n_neighbors" not in arguments:
        arguments["n_neighbors"] = min(card.parameters["n_neighbors"], max(1, data.n - 1))
    k = 1
    if "n_neighbors" in card.parameters:
        k = check_k(arguments["n_neighbors"], data.n, length=data.list_length)[0][-1]
    needs_pass = "ranks" in card.needs or "neighbors" in card.needs
    variables = {name: variable for name, variable in data.variables().items() if name in card.needs}
    options: dict[str, Any] = {"variables": variables, "metric": metric, "n_jobs": arguments.get("n_jobs")}
    options["embedding_metric"] = embedding_metric
    Y = for_views({"": Y}, embedding_metric)[""]
    if "random_state" in arguments:
        options["seed"] = root_seed(check_random_state(arguments["random_state"]))
    return make_view(data.space, Y, k if needs_pass else 0, "ranks" in card.needs, **options)


def _coordinates_only(Y: Any) -> Any:
    """Return coordinates that are passed without data; names of methods and whole AnnData objects raise an error."""
    kind = kind_of(Y)
    is_file = kind is Kind.ANNDATA_FILE and split_member(os.fspath(Y))[1] is None
    if kind is Kind.ANNDATA or is_file:
        hint = 'Pass adata.obsm["X_umap"], or a path "file.h5ad:obsm:X_umap".'
        raise InputError("Y", "must be the coordinates", "an AnnData object as a whole", hint)
    if kind in (Kind.TEXT, Kind.ESTIMATOR, Kind.FUNCTION, Kind.CLASS, Kind.MODEL, Kind.SOURCE):
        hint = 'Compute them: Y = dreval.embed(X, "pca").'
        raise InputError("Y", "must be the coordinates, since this measure does not read the data", describe(Y), hint)
    return Y


def _labeled(card: MeasureCard, data: Data, Y: FloatArray) -> tuple[Data, FloatArray]:
    """Return the labeled points only, with a warning."""
    labels = data.labels
    if labels is None:
        raise RuntimeError("data without labels have no labeled points")
    stay = np.flatnonzero(labels.has_label)
    warn(InputWarning(note("labels.partly", card.name, labeled=len(stay), n=data.n)))
    labels = replace(labels, codes=labels.codes[stay])
    batch = None if data.batch is None else replace(data.batch, codes=data.batch.codes[stay])
    Y = take(Y, stay, data.embedding_metric)
    return replace(data.at(stay), labels=labels, batch=batch), Y


# The chance level of a measure: its mean over permutations of the embedding's rows, in closed form or sampled.

DRAWS = 20  # permutations
N_STREAMED_PERMUTATIONS = 4  # with anchors among many points, where each permutation is a mean over thousands of rows
POINTS = 200_000  # rows of all permutations together
MAX_PAIRS = 12_500_000  # pairs of all permutations together
MIN_RANKED_ROWS = 100  # rows with ranks in one permutation, or n / 20, so that all together cost no more than a pass
MAX_TIED_SHARE = 1e-5  # of neighboring ranks that may be tied where a closed form is used
MAX_TIE_ROWS = 200  # rows that are searched for ties; ties outside so many rows cannot move a mean over rows


class Chance(NamedTuple):
    """Expected value of an embedding unrelated to the data, the standard error over permutations, and their number.

    The closed form has no permutations. A single permutation has an unknown error.
    """

    value: float
    se: float = 0.0
    draws: int = 0


def chance_value(function: Callable[..., Any], view: View, parameters: dict[str, Any], root: int) -> Chance:
    """Return the expected value of an embedding unrelated to the data; NaN where that has no meaning.

    It is the mean over all permutations of the embedding's rows, in closed form where there is one and ties do not
    change it. Otherwise it is the mean of 20 random permutations, each evaluated on a part of the rows; of 4 with
    anchors among more than 50,000 points, and of fewer for statistics of pairs at large n, where one permutation is
    already a mean over many pairs. The permutations depend on ``root`` only, so equal embeddings have equal values.
    """
    card: MeasureCard = function.card  # type: ignore[attr-defined]
    if card.chance is None:
        return Chance(math.nan)
    if has_valid_closed_form(card, view, parameters):
        if card.expected is not None:
            return Chance(card.expected(view, *parameters.values()))
        level: Any = card.chance
        return Chance(float(level(view.n, parameters["n_neighbors"]) if callable(level) else level))
    values = []
    for permuted_view in _permuted_views(card, view, parameters, root):
        with suppress(UndefinedMeasure):  # as where permuted classes of few distinct points have the same centroid
            values.append(answer(function, permuted_view, parameters).value)
    if not values:
        return Chance(math.nan)
    se = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Chance(float(np.mean(values)), se, len(values))


def chance_curve(function: Callable[..., Any], view: View, root: int) -> FloatArray:
    """Return the chance level of a curve at every K, as ``chance_value`` does and from the same permutations."""
    card: MeasureCard = function.card  # type: ignore[attr-defined]
    if not has_valid_closed_form(card, view, {}):
        permuted_views = _permuted_views(card, view, {}, root)
        return np.mean([curve_values(function, permuted_view)[0] for permuted_view in permuted_views], axis=0)
    level, count = card.chance, len(curve_values(function, view)[0])
    ks = curve_numbers(view.n)[:count] if view.has_sample else np.arange(1, count + 1)
    return np.array([level(view.n, k) for k in ks]) if callable(level) else np.full(len(ks), level, np.float64)


def has_valid_closed_form(
    card: MeasureCard, view: View, parameters: dict[str, Any], tie_rows: int = MAX_TIE_ROWS
) -> bool:
    """Return whether the closed form of the card is the mean over all permutations of the rows of this view.

    Ties, which change that, are searched in ``tie_rows`` rows. Of many distances a few are equal by accident: up to a
    share of ``MAX_TIED_SHARE`` of the ranks the closed form is used (a share of .017 moves T and the area by < .001).
    """
    if not card.has_closed_chance or not card.orders_ties or view.streamed:
        return card.has_closed_chance
    k = int(parameters.get("n_neighbors", 1))
    counted = {"all": slice(None), "first": slice(k), "edge": slice(k - 1, k)}[card.counted]
    tied = ties_of(view, tie_rows)[counted]
    return bool(tied.sum() <= MAX_TIED_SHARE * tied.size * min(view.n, tie_rows))


def _permuted_views(card: MeasureCard, view: View, parameters: dict[str, Any], root: int) -> list[View]:
    """Return the views whose mean is the chance level, each of so many rows that all together cost about one pass."""
    pairs = n_pairs(view) if card.level == "pair" else 0
    count, rows, ranked = permutation_plan(card, view.n, pairs, view.streamed)
    k = 0
    if ranked:
        k = view.nearest_embedding.shape[1] if "n_neighbors" in parameters else 1  # the same for all of an evaluation
    return [permuted(view, root, b, k, rows) for b in range(count)]


def permutation_plan(card: MeasureCard, n: int, pairs: int, streamed: bool) -> tuple[int, int, bool]:
    """Return the number of permutations, the number of rows of each, and whether their ranks are computed."""
    count = N_STREAMED_PERMUTATIONS if streamed else DRAWS
    if card.level == "pair":
        return max(1, min(count, MAX_PAIRS // max(pairs, 1))), n, False
    ranked_rows = max(MIN_RANKED_ROWS, n // DRAWS)
    if card.quadratic:
        if card.level == "global" and not card.curve:  # its value may depend on the number of rows
            ranked_rows = max(ranked_rows, 2 * MAX_PAIRS // DRAWS // n)
        return count, ranked_rows, False
    if "ranks" in card.needs:
        return count, ranked_rows, True
    return count, POINTS // DRAWS, False


def permuted(view: View, root: int, b: int, k: int = 0, rows: int | None = None) -> View:
    """Return the view with the b-th permutation of its rows, the same for all measures; with ranks up to k if k > 0.

    It is restricted to ``rows`` random rows, different for every b, so that permutations are independent; by default it
    has all rows.
    """
    shuffled: View = view.cached(("permuted", root, b), lambda: view.shuffled(stream(root, "chance", b)))
    if rows is not None and rows < len(view.rows):
        shuffled = _restricted(shuffled, rows, b)
    return _with_ranks(shuffled, k) if k else shuffled


@per_view
def ties_of(view: View, count: int = MAX_TIE_ROWS) -> npt.NDArray[np.int64]:
    """Return how often the r-th and the next nearest point of the embedding are equally far, for r = 1, ..., n - 2.

    Computed at ``count`` random points, or at all of fewer. Without ties the ranks of permuted rows are uniform for all
    ties in the data, and the closed form of a chance level is exact. It depends on the embedding alone, not on how its
    points are paired.
    """
    rows = np.arange(view.n)
    if view.n > count:
        rows = np.sort(stream(view.seed, "rows for ties").choice(view.n, count, replace=False))
    return tied_ranks(view.embedding_space(view.population), rows)


@per_view
def _restricted(view: View, count: int, b: int) -> View:
    """Restrict the view to some of its rows, at random."""
    chosen = np.sort(stream(view.seed, "rows for chance", b).choice(len(view.rows), count, replace=False))
    near = view.nearest_data[chosen] if len(view.nearest_data) else view.nearest_data  # there may have been no pass
    return replace(
        view, rows=view.rows[chosen], nearest_data=near, has_ties=view.has_ties[chosen], _cache={}, _data_cache={}
    )


@per_view
def _with_ranks(view: View, k: int) -> View:
    """Compute ranks of the population from the rows of the view; O(m n (p + d)) time for m rows."""
    points = view.population
    options: dict[str, Any] = {"metric": view.metric, "embedding_metric": view.embedding_metric}
    options |= {"n_jobs": view.n_jobs, "seed": view.seed}
    options |= {"rows": np.searchsorted(points, view.rows), "part": points, "variables": view.variables(points)}
    return make_view(view.X, view.Y[points], k, **options)


# The measures for a goal: the list of goals, and the results of an experiment with known defects.

MIN_SHARE_WORSE = 0.8  # of the draws in which an embedding is significantly worse, for a defect to count as detected
MIN_SHARE_BETTER = 0.5  # of the draws in which it is significantly better, for a defect to count as preferred
MAX_RECOMMENDED = 3  # measures
MIN_GAIN = 0.02  # in the mean rate of detection, by each further recommended measure
N_GRADES = 4


class Goal(NamedTuple):
    """A purpose of an embedding, and the defects that would mislead its users.

    ``title`` names the question in reports, which may be that of several goals, and ``short`` in a terminal. Where
    ``at_chance`` a good embedding reaches the chance level, as with batches that are spread at random.
    """

    question: str
    title: str
    defects: tuple[str, ...] = ()
    at_chance: bool = False
    short: str = ""


GOALS = {
    "neighbors": Goal(
        "Are points near each other in the embedding neighbors in the data?", "Neighbors",
        (
            "tear", "fold", "merged classes", "split class", "swapped places", "local noise", "global noise",
            "wrong rows", "exaggerated classes",
        ),
    ),
    "neighborhoods": Goal(
        "Do small neighborhoods keep their shape, or also their size?", "Local shape",
        ("local noise", "global noise", "flattened density", "stretched axis", "duplicated points"),
    ),
    "density": Goal(
        "Are dense regions of the data dense in the embedding?", "Density",
        ("flattened density", "duplicated points"),
    ),
    "distances": Goal(
        "Are distances, and the global structure, those of the data?", "Global distances",
        (
            "tear", "fold", "merged classes", "split class", "swapped places", "rearranged classes", "global noise",
            "flattened density", "stretched axis", "outliers pulled in", "exaggerated classes",
        ),
        short="Distances",
    ),
    "arrangement": Goal(
        "Which clusters are near each other?", "Clusters",
        ("fold", "merged classes", "swapped places", "rearranged classes"),
    ),
    "latent": Goal(
        "Are known latent variables recovered?", "Latent variables",
        ("tear", "fold", "swapped places", "rearranged classes", "global noise", "wrong rows"),
    ),
    "classes": Goal(
        "Are the classes as far apart as they are in the data?", "Classes",
        ("merged classes", "split class", "swapped places", "global noise", "wrong rows", "exaggerated classes"),
    ),
    "prediction": Goal(
        "Can the class of a point be predicted from its position?", "Classes",
        ("merged classes", "global noise", "wrong rows"),
    ),
    "targets": Goal(
        "Can a number of each point (its age, say) be read off?", "Targets",
        ("merged classes", "swapped places", "global noise", "wrong rows"),
    ),
    "batches": Goal(
        "Are the batches mixed, and the labels still separate?", "Batches", at_chance=True
    ),
    "method": Goal("Does the method give the same for other data?", "Method"),
    "reconstruction": Goal("Can the data be computed from the embedding?", "Reconstruction"),
}  # fmt: skip


@cache
def detections() -> pd.DataFrame:
    """Return the results of the experiment of ``vignettes/defects.py``, by data set, measure, change and grade.

    ``worse`` and ``better`` count the draws, of ``draws``, in which the changed embedding is significantly worse or
    better than the good one at 5 %; where the measure never has a test (``tested`` is False), those in which its value
    is. A draw without a test of a measure that has tests in other draws counts as neither. Grade 0 is a harmless
    change.
    """
    with files("dreval.measures").joinpath("detections.csv.gz").open("rb") as file:
        rows = pd.read_csv(file, compression="gzip", keep_default_na=False, na_values={"size": ""})
    letters = rows["found"]  # a letter for each draw; capitals where there was no test
    differ = [letters.str.count(pair).groupby(rows["measure"]).sum() for pair in ("[wb]", "[WB]")]
    tested = rows["measure"].map((differ[0] > 0) | (differ[1] == 0))
    counted = letters.where(tested, letters.str.lower())
    counts = {side: counted.str.count(letter) for side, letter in (("worse", "w"), ("better", "b"))}
    return rows.assign(draws=letters.str.len(), **counts, tested=tested)


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the shares of draws of all data sets with a worse and a better value, by measure, change and grade."""
    groups = rows.groupby(["measure", "change", "grade"])
    sums = groups[["draws", "worse", "better"]].sum()
    table = sums[["worse", "better"]].div(sums["draws"], axis=0)
    return table.assign(draws=sums["draws"], tested=groups["tested"].all())


def first_seen(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the lowest grade from which on all grades of a defect are detected, measures x defects.

    It is 0 where the highest is not detected, and negative where the embedding with the defect is preferred at some
    grade: minus the first such grade.
    """
    grades = shares(rows[rows["grade"] > 0])
    worse, better = (grades[side].unstack("grade") for side in ("worse", "better"))
    detected = (worse >= MIN_SHARE_WORSE).iloc[:, ::-1].cumprod(axis=1).sum(axis=1)
    preferred = better >= MIN_SHARE_BETTER
    lowest = (N_GRADES + 1 - detected).where(detected > 0, 0)
    lowest = lowest.where(~preferred.any(axis=1), -(preferred.idxmax(axis=1)))
    return lowest.astype(int).unstack("change")


def false_alarms(rows: pd.DataFrame) -> pd.Series:
    """Return the largest share of draws in which a harmless change of the card is significantly worse or better."""
    harmless = shares(rows[rows["grade"] == 0])
    return (harmless["worse"] + harmless["better"]).groupby("measure").max()


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Recommendation(Described):
    """The measures for a goal, with the reasons, as returned by ``recommend``.

    Attributes
    ----------
    goal, question : str
        The goal and its question.
    measures : tuple of str
        The recommended measures, as ``Evaluation.run(measures=...)`` takes them; the most important one first.
    table : DataFrame
        All measures whose cards name the goal, the recommended ones first: ``measure``, ``recommended``, ``detected``
        (share of the draws and grades of the goal's defects in which a paired test detects the defect; NaN without a
        test), ``preferred`` (the defects that improve its value), ``needs`` and ``question``.
    evidence : DataFrame
        Measures x defects of the goal: the first of four grades of severity from which on a defect is detected (in 80 %
        of the draws), 0 where it is not detected; negative where the embedding with the defect is preferred. Empty
        where no defect of the experiment concerns the goal.
    """

    goal: str
    question: str
    measures: tuple[str, ...]
    table: pd.DataFrame
    evidence: pd.DataFrame

    def heading(self) -> str:
        """Return the goal and its measures."""
        return f"For {self.goal} use {', '.join(self.measures)}."

    def lines(self) -> dict[str, str]:
        """Return the question, the reasons for each measure, and the other measures."""
        lines = {"question": self.question, **{name: self._reason(name) for name in self.measures}}
        not_recommended = [name for name in self.table["measure"] if name not in self.measures]
        lines |= {"also for this goal": ", ".join(not_recommended)}
        if not self.evidence.empty:
            lines["in brackets"] = "the mildest of four grades from which on it is seen, in maps of 120 points"
        return lines

    def _reason(self, name: str) -> str:
        """Return the question of a measure, and the defects that it detects, misses and prefers."""
        row = self.table.set_index("measure").loc[name]
        sentences = [row["question"]]
        if name in self.evidence.index:
            grades = self.evidence.loc[name]
            detected = grades[grades > 0].sort_values(kind="stable")
            parts = {
                "Sees": [f"{defect} ({grade})" for defect, grade in detected.items()],
                "Does not see": list(grades[grades == 0].index),
                "Prefers": list(grades[grades < 0].index),
            }
            sentences += [f"{phrase} {', '.join(defects)}." for phrase, defects in parts.items() if defects]
            sentences += [f"Detects {row['detected']:.0%} of them in all."] if row["detected"] >= 0 else []
        needs = [need for need in ("labels", "latent", "batch", "target", "method") if need in row["needs"].split(", ")]
        return " ".join([*sentences, *([f"Needs {', '.join(needs)}."] if needs else [])])


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Goals(Described):
    """The goals that ``recommend`` knows, as returned by ``recommend()``.

    Attributes
    ----------
    table : DataFrame
        One row for each goal: ``goal`` and its ``question``.
    """

    table: pd.DataFrame

    def heading(self) -> str:
        """Return how to use the goals."""
        return "Pass one of these goals, as recommend('neighbors')."

    def lines(self) -> dict[str, str]:
        """Return the question of each goal."""
        return dict(zip(self.table["goal"], self.table["question"], strict=True))

    def tidy(self) -> pd.DataFrame:
        """Return the table, a row for each goal.

        Examples
        --------
        >>> import dreval
        >>> dreval.recommend().tidy()["goal"].tolist()[:3]
        ['neighbors', 'neighborhoods', 'density']
        """
        return self.table


@overload
def recommend(goal: str) -> Recommendation: ...
@overload
def recommend(goal: None = None) -> Goals: ...
def recommend(goal: str | None = None) -> Recommendation | Goals:
    """Recommend measures for a goal: what you want to read off an embedding. Without a goal list the goals.

    Good embeddings of six data sets were damaged by 14 defects at four grades of severity, and ``Results.compare``
    tested with every measure whether the damaged embedding is worse (the vignette "Which measure sees which defect?").
    The first recommended measure is the one with a test that detects most of the defects which concern the goal; up to
    three in all, each further one adds most to those before it (at least .02). Recommended measures detect a defect of
    the goal, prefer none of them, and show no difference where their card declares that there is none. Where no defect
    concerns the goal all of its measures are recommended that depend on how the rows of embedding and data are paired.

    Parameters
    ----------
    %(goals)s

    Returns
    -------
    Recommendation or Goals
        It prints the measures with the reasons. Pass ``measures`` to ``Evaluation.run``; ``table`` has all measures for
        the goal, ``evidence`` the defects that each detects. Without a goal the record lists the goals.

    Raises
    ------
    UnknownName
        If there is no such goal; the nearest right one is given.

    See Also
    --------
    list_measures : the names of all measures.
    card : the declared properties of one measure.

    Notes
    -----
    The experiment has 120 points in the plane a data set and k = 10 neighbors: an order of measures, not a power
    calculation for other data. With more points every measure detects more. Damaged embeddings were compared with a
    good one; in an embedding that is already wrong a defect may repair the property that a measure evaluates. The
    vignette defines grades 1 to 4, from the mildest on; measures without a test (``detected`` is NaN) were compared by
    their values. Detection by one measure is not adjusted for the other measures.

    Examples
    --------
    >>> import dreval
    >>> "ilisi" in dreval.recommend("batches").measures
    True
    """
    if goal is None:
        rows = [{"goal": name, "question": item.question} for name, item in GOALS.items()]
        return Goals(pd.DataFrame(rows))
    purpose = GOALS[check_one_of(goal, GOALS, "goal", aliases=True)]
    cards = {card.name: card for card in MEASURES.cards() if goal in card.goals}
    results = detections()
    results = results[results["measure"].isin(cards)]
    alarms = false_alarms(results)
    results = results[results["change"].isin(purpose.defects)]
    evidence = first_seen(results)[[*purpose.defects]] if purpose.defects else pd.DataFrame()
    grades = shares(results)
    rates = grades["worse"].where(grades["tested"]).unstack("measure")
    preferred = {name: [*evidence.columns[evidence.loc[name] < 0]] for name in evidence.index}
    detects = (evidence > 0).any(axis=1) if purpose.defects else {}
    chosen = _cover(rates[[n for n in rates if detects[n] and not preferred[n] and not alarms.get(n, 0.0)]])
    if not purpose.defects:
        chosen = sorted(name for name in cards if cards[name].chance is not None)
    detected = rates.mean(skipna=False)
    detected = detected.reindex([*cards])  # NaN without a test: those come last
    not_chosen = sorted(
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
        for name in [*chosen, *not_chosen]
    ]
    order = [row["measure"] for row in rows if row["measure"] in evidence.index]
    return Recommendation(goal, purpose.question, tuple(chosen), pd.DataFrame(rows), evidence.loc[order])


_GOAL_LINES = [
    f"goal : {{{', '.join(map(repr, GOALS))}}}, optional",
    *(f"    - {name!r}: {GOALS[name].question}" for name in GOALS),
]
recommend.__doc__ = fill_docstring(recommend.__doc__, goals="\n".join(_GOAL_LINES))


def _cover(rates: pd.DataFrame) -> list[str]:
    """Choose the measure (column) with the largest mean rate, and then those that add most to the best of each row."""
    rates = rates.dropna(axis=1)
    chosen: list[str] = []
    best: Any = 0.0
    while len(chosen) < MAX_RECOMMENDED and not rates.empty:
        gains = rates.clip(lower=best, axis=0).mean() - (best.mean() if chosen else 0.0)
        if chosen and gains.max() < MIN_GAIN:
            break
        chosen.append(str(gains.idxmax()))
        best = rates[chosen].max(axis=1)
    return chosen
