"""The card of a measure, and the public function that is made from it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dreval._check import AUTO, check_int, check_k, check_one_of, check_parameters, check_random_state
from dreval._check import FloatArray as FloatArray
from dreval._random import root_seed
from dreval.errors import ApproximationWarning, DrevalError, InputError, InputWarning, UndefinedMeasure, warn
from dreval.geometry.blocks import View, sweep
from dreval.geometry.distances import take
from dreval.geometry.pairs import Estimate
from dreval.glossary import METRICS
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import as_source, warn_of_columns
from dreval.inputs.variables import warn_of_guesses
from dreval.measures._docstring import described, docstring, signature
from dreval.records.notes import Notes, note
from dreval.records.read_only import read_only
from dreval.references import Cites

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
        of the method that made the embedding (``_method_measure.py``).
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
