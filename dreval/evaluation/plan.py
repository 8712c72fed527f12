"""What an evaluation will compute: measures at their settings, tests of their variables, intervals of what kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_bool, check_int, check_k, check_one_of, check_width, describe, function_name
from dreval.errors import InputError, UndefinedMeasure
from dreval.inference.intervals import CI_WORDS, unseen_share
from dreval.inputs.source import Source
from dreval.records.notes import Note, Notes, note, refusal
from dreval.registry import MEASURES, TESTS
from dreval.significance.base import in_rows_of

TARGETS = ("labels", "data", "residual")  # of tests, beside the covariates
DEFAULT_TESTS = ("hsic", "kcca")  # those of them that are registered

Options = Mapping[str, Mapping[str, Any]]
OVER = ("default", "seeds", "subsamples")
RUNS = 10  # runs of a method with other seeds, or splits into two halves on which it is run
PARTITIONS = 8  # random partitions into groups, where no value without a single point can be had
GROUPS = 20  # groups of one random partition
SPLITS = 20  # splits into two halves with the embedding held fixed
CI_OPTIONS: dict[str, dict[str, Any]] = {
    "replicates": {"n_replicates": RUNS, "over": "default"},
    "subsampling": {"n_splits": SPLITS},
    "points": {"n_partitions": PARTITIONS},
}


@dataclass(frozen=True)
class MeasureTask:
    """One measure at one setting of its parameters; ``all_k``: a curve is kept at every K."""

    name: str
    thing: Callable[..., Any]
    parameters: dict[str, Any]
    all_k: bool = False

    @property
    def card(self) -> Any:
        """The card of the measure."""
        return self.thing.card  # type: ignore[attr-defined]

    @property
    def words(self) -> str:
        """The parameters as the table shows them."""
        return ", ".join(f"{k}={v}" for k, v in self.parameters.items() if k in self.card.parameters and v is not None)

    @property
    def k(self) -> int:
        """Number of neighbors it reads from the sweep."""
        return int(self.parameters.get("n_neighbors", 1)) if self.sweeps else 0

    def reach(self, n: int) -> int:
        """Number of neighbors that it reads where anchors see so many points that it cannot search for itself."""
        rule = self.card.reach
        return self.k if rule is None else int(rule(n, **self.parameters))

    @property
    def sweeps(self) -> bool:
        """Whether it reads neighbors or ranks."""
        return "ranks" in self.card.needs or "neighbors" in self.card.needs


@dataclass(frozen=True)
class TestTask:
    """One test of the embeddings against one variable; ``argument`` is how the user passed the variable.

    ``kind``: the variable is a "variable" (n rows), or the ``Data``, of which the "data" or the "residual" are tested,
    or on which the "method" is run again.
    ``given`` are the names of the options that the user gave; ``known`` says at which points the variable is known,
    where it is not at all; ``notes`` say how options with a value for each point were matched to the data.
    """

    __test__: ClassVar[bool] = False  # the name begins with Test, yet pytest has nothing to collect here

    name: str
    target: str
    argument: str
    variable: Any
    options: dict[str, Any]
    kind: str = "variable"
    given: tuple[str, ...] = ()
    known: npt.NDArray[np.bool_] | None = None
    notes: Notes = ()

    @property
    def family(self) -> str:
        """The family that its p-value is adjusted with; none against the data, of which an embedding is made."""
        return {"data": "", "method": self.name}.get(self.kind, "tests")


def listed(names: Any) -> Any:
    """Names in an array, set or other collection as a list; what is no collection stays as it is."""
    return list(names) if isinstance(names, Iterable) and not isinstance(names, str) else names


def _names(wanted: Any, argument: str, registry: Any, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The names asked for, each once: one name or several; "default", "all" and "none" stand for theirs."""
    if wanted is None:
        return []
    if not isinstance(wanted, str | list):
        cure = "Pass a name, a list of names, 'default', 'all' or None."
        raise InputError(argument, "must be names", describe(wanted), cure)
    groups = {**groups, "none": []}
    names: list[str] = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        name = check_one_of(name, [*registry.names(), *groups], argument, registry.listing, aliases=True)
        names += groups.get(name, [name])
    return list(dict.fromkeys(names))


def _measure_groups(variables: Mapping[str, Any]) -> dict[str, list[str]]:
    """The measures that can be answered: the default ones in the order of their cards, and all, with those first."""
    unknown = {name for name, known in variables.items() if known is None}
    cards = [card for card in MEASURES.cards() if unknown.isdisjoint(card.needs)]
    default = sorted((card for card in cards if card.default is not None), key=lambda card: card.default)
    names = [card.name for card in default]
    return {"default": names, "all": list(dict.fromkeys([*names, *(card.name for card in cards)]))}


def plan_measures(
    wanted: Any,
    n_neighbors: Any,
    n: int,
    variables: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
) -> list[MeasureTask]:
    """Every measure at every setting, in the order of the table; ``variables`` are those of the data."""
    n_labeled = n if variables["labels"] is None else int(np.count_nonzero(variables["labels"] >= 0))

    def planned(name: str) -> list[MeasureTask]:
        thing = MEASURES.get(name)
        few = min(n, n_labeled) if "labels" in thing.card.needs else n
        return _plan_measure(name, thing, options.get(name, {}), n_neighbors, n, few)

    for name in options:  # those of measures that are not asked for are checked too
        if name in MEASURES:
            planned(name)
    names = _names(wanted, "measures", MEASURES, _measure_groups(variables))
    curves = [curve for name in names if (curve := MEASURES.card(name).area_of)]  # what an area is of is kept with it
    return [task for name in dict.fromkeys([*names, *curves]) for task in planned(name)]


def _plan_measure(
    name: str, thing: Callable[..., Any], given: Mapping[str, Any], n_neighbors: Any, n: int, seen: int
) -> list[MeasureTask]:
    """One measure at every setting; an option that it does not have, or cannot have that value, is refused.

    ``seen`` of the n points are those it is of.
    """
    card: Any = thing.card  # type: ignore[attr-defined]
    if card.level == "algorithm":
        return [_plan_algorithm(name, thing, given)]
    if card.curve:
        return [_plan_curve(name, thing, given)]
    for key in given:
        check_one_of(key, card.parameters, f"options[{name!r}]")
    parameters = {**card.parameters, **given}
    if "n_neighbors" in parameters and "n_neighbors" not in given:
        own = n_neighbors if card.shares_neighbors else min(parameters["n_neighbors"], max(1, seen - 1))
        parameters["n_neighbors"] = own  # a default never refuses small data
    for key, value in parameters.items():
        if key in card.choices:
            parameters[key] = check_one_of(value, card.choices[key], key, aliases=True)
        elif isinstance(card.parameters[key], float):
            check_width(value, key)
        elif key != "n_neighbors" and (key in given or value is not None):
            check_int(value, key, low=2, high=seen if key == "n_folds" and key in given else None)
    if "n_neighbors" not in parameters:
        return [MeasureTask(name, thing, parameters)]
    return [
        MeasureTask(name, thing, {**parameters, "n_neighbors": k}) for k in check_k(parameters["n_neighbors"], n)[0]
    ]


def _plan_algorithm(name: str, thing: Any, given: Mapping[str, Any]) -> MeasureTask:
    """A measure of a method takes the keywords of its function; labels, seed and threads are the evaluation's."""
    own = ("labels", "random_state", "progress")
    for key in given:
        check_one_of(key, [k for k in list(signature(thing).parameters)[2:] if k not in own], f"options[{name!r}]")
    chosen = thing.card.choices
    given = {key: check_one_of(v, chosen[key], key, aliases=True) if key in chosen else v for key, v in given.items()}
    usual = {key: value for key, value in thing.card.parameters.items() if key != "n_components"}
    return MeasureTask(name, thing, {**usual, **given})  # the number of components is each embedding's own


def _plan_curve(name: str, thing: Callable[..., Any], given: Mapping[str, Any]) -> MeasureTask:
    """A curve over K; its one option is to keep it at every K."""
    for key in given:
        check_one_of(key, ("all_k",), f"options[{name!r}]")
    return MeasureTask(name, thing, {}, check_bool(given.get("all_k", False), "all_k"))


def plan_tests(wanted: Any, data: Any, n_resamples: int, options: Mapping[str, Mapping[str, Any]]) -> list[TestTask]:
    """Every test against labels and covariates, or against the one that its name ends in (``"hsic:age"``)."""
    variables = _variables(data)
    for name in options:  # those of tests that are not asked for are checked too
        if name in TESTS:
            _test_options(name, "gaussian", n_resamples, options[name])
    options, notes = _of_points(options, data)
    every = [name for name in TESTS if TESTS.card(name).second != "method"]  # others run methods many times
    groups = {"default": [name for name in DEFAULT_TESTS if name in TESTS], "all": every}
    asked = [*wanted] if isinstance(wanted, list) else [wanted]
    tasks: list[TestTask] = []
    for item in asked:
        word, colon, target = item.partition(":") if isinstance(item, str) else (item, "", "")
        names = _names(word, "tests", TESTS, groups)
        if names and TESTS.card(names[0]).second == "method":
            given = {"null": target} if colon else {}
            tasks += [_method_task(name, data, {**options.get(name, {}), **given}) for name in names]
            continue
        if colon:
            chosen = [variables[check_one_of(target, variables, "tests")]]
        else:
            chosen = [variable for variable in variables.values() if variable.kind == "variable"]
        if names and wanted != "default" and not chosen:
            cure = "Pass labels or covariates."
            raise InputError("tests", "must have a variable to test against", "no labels and no covariates", cure)
        tasks += [
            replace(_test_task(name, variable, n_resamples, options), notes=notes.get(name, ()))
            for name in names
            for variable in chosen
            if word not in groups or _fits(name, variable)
        ]
    return list({(task.name, task.target): task for task in tasks}.values())


def _of_points(
    options: Mapping[str, Mapping[str, Any]], data: Any
) -> tuple[dict[str, Mapping[str, Any]], dict[str, Notes]]:
    """Options with the blocks of tests in the order of the data, and notes on that by the name of the test."""
    ordered, notes = dict(options), dict[str, Notes]()
    for name, given in options.items():
        if name in TESTS and given.get("blocks") is not None:
            argument = f"options[{name!r}]['blocks']"
            blocks, notes[name] = in_rows_of(data, given["blocks"], argument)
            ordered[name] = {**given, "blocks": np.asarray(blocks)}
    return ordered, notes


def _method_task(name: str, data: Any, given: Mapping[str, Any]) -> TestTask:
    """One test that runs methods again; its target is the null."""
    options = _test_options(name, "gaussian", 0, given)
    null = options.get("null", "auto")
    if not callable(null):
        null = check_one_of(null, ("auto", *TESTS.card(name).nulls), "tests", aliases=True)
    if null == "auto":  # as the test decides
        null = "gaussian" if data.labels is not None or options.get("n_clusters") is not None else "columns"
    target = null if isinstance(null, str) else function_name(null, "null data")
    return TestTask(name, target, "data", data, options, "method", tuple(given))


@dataclass(frozen=True)
class _Variable:
    """What embeddings are tested against; ``kernel`` says whether it holds numbers or classes."""

    target: str
    argument: str
    values: Any
    kernel: str
    kind: str = "variable"
    known: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, target: str, argument: str, values: Any, kernel: str) -> _Variable:
        """A variable with its values at the points where it is known."""
        known = ~np.asarray(pd.isna(values), np.bool_)
        if known.all():
            return cls(target, argument, values, kernel)
        return cls(target, argument, np.asarray(values[known].tolist()), kernel, known=known)


def check_targets(data: Any) -> None:
    """Refuse covariates whose names are those of other targets of tests."""
    for name in data.covariates:
        if name in TARGETS:
            rule, got = "must have a name that no other target of tests has", f"a covariate called {name!r}"
            cure = f"Rename it, for instance covariates={{'my_{name}': ...}}."
            raise InputError("covariates", rule, got, cure)


def _variables(data: Any) -> dict[str, _Variable]:
    """Labels, covariates, and on request only the data themselves and what a reconstruction leaves of them."""
    known = [_Variable("data", "data", data, "gaussian", "data")]
    known.append(_Variable("residual", "data", data, "gaussian", "residual"))
    if data.labels is not None:
        codes = data.labels.codes if data.labels.known.all() else np.where(data.labels.known, data.labels.codes, None)
        known.append(_Variable.of("labels", "labels", codes, "delta"))
    for name, values in data.covariates.items():
        kernel = "gaussian" if values.dtype.kind == "f" else "delta"
        known.append(_Variable.of(name, f"covariates[{name!r}]", values, kernel))
    return {variable.target: variable for variable in known}


def _fits(name: str, variable: _Variable) -> bool:
    """Whether a test can answer for a variable: a test of groups needs two classes."""
    if TESTS.card(name).second != "groups":
        return True
    return variable.kernel == "delta" and len(set(variable.values.tolist())) == 2


def _test_task(name: str, variable: _Variable, n_resamples: int, options: Mapping[str, Mapping[str, Any]]) -> TestTask:
    """One test; classes are given as text to tests that have no kernel, so that codes are not taken for numbers."""
    keywords = _test_options(name, variable.kernel, n_resamples, options.get(name, {}))
    values = variable.values
    if variable.kernel == "delta" and "kernel" not in signature(TESTS.get(name)).parameters:
        values = values.astype(str)
    given = tuple(options.get(name, {}))
    known = variable.known
    fixed = (name, variable.target, variable.argument, values, keywords, variable.kind)
    return TestTask(*fixed, given, known)


def _test_options(name: str, kernel: str, n_resamples: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a test, those that were given first; seed and threads are the evaluation's own."""
    parameters = list(signature(TESTS.get(name)).parameters)[2:]
    own = ("random_state", "n_jobs", "others", "groups", "labels", "ids", "metric", "n_components", "store", "progress")
    known = [key for key in parameters if key not in own or (key == "metric" and TESTS.card(name).second != "method")]
    for key in given:
        check_one_of(key, known, f"options[{name!r}]")
    if TESTS.card(name).second == "method":
        return dict(given)
    check_int(given.get("n_resamples", n_resamples), f"options[{name!r}]['n_resamples']", low=1)
    usual: dict[str, Any] = {"n_resamples": n_resamples}
    if TESTS.card(name).second == "variable":
        usual["kernel"] = ("gaussian", kernel)
    return {**{key: value for key, value in usual.items() if key in known}, **given}


@dataclass(frozen=True)
class Intervals:
    """The kind of interval by embedding, a key of ``inference.intervals.METHODS``, or the reason why it has none.

    ``counts`` holds the number of resamples by kind, where that is an option.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, Note] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def notes(self, sources: Mapping[str, Source]) -> list[Note]:
        """What the intervals do not cover, once for all embeddings of a kind."""
        still = [name for name, source in sources.items() if source.can_embed]
        fixed = [name for name in still if self.kinds.get(name) in ("points", "subsampling")]
        drawn, found = [name for name in still if self.kinds.get(name) == "seeds"], list[Note]()
        own = [name for name in fixed if sources[name].recording is None]
        recorded = [name for name in fixed if sources[name].recording is not None]
        found += [note("interval.coordinates", ", ".join(own), way="ci='replicates'")] if own else []
        found += [note("interval.recorded", ", ".join(recorded))] if recorded else []
        if drawn:
            runs = self.counts["seeds"]
            found.append(note("interval.runs", ", ".join(drawn), runs=runs, least=100 * unseen_share(runs)))
        return found

    @property
    def words(self) -> set[str]:
        """The words of ``CI_OPTIONS`` whose options are used."""
        return {"replicates" if kind in ("seeds", "subsamples") else kind for kind in self.kinds.values()}

    def named(self, kind: str) -> list[str]:
        """The embeddings that get this kind."""
        return [name for name, own in self.kinds.items() if own == kind]


def plan_intervals(ci: Any, sources: Mapping[str, Source], anchors: int | None, options: Options) -> Intervals:
    """The kind of every embedding; refused where the word fits none of them."""
    word = "none" if ci is None else check_one_of(ci, CI_WORDS, "ci", aliases=True)
    splits = _settings("subsampling", options)["n_splits"]
    runs = _settings("replicates", options)
    partitions = _settings("points", options)["n_partitions"]
    drawn = dict.fromkeys(("seeds", "subsamples"), runs["n_replicates"])
    counts = {"subsampling": splits, "partitions": partitions} | drawn
    if word == "none":
        return Intervals()
    if word != "default" and (word == "anchors") != (anchors is not None):
        every = "Use ci='anchors', or pass anchors=None to Evaluation for all points."
        cure = "Pass anchors=m to Evaluation." if word == "anchors" else every
        raise InputError("ci", "must fit the rows that are used", f"{ci!r} with anchors={anchors}", cure)
    if anchors is not None:
        return Intervals(dict.fromkeys(sources, "anchors"))
    if word in ("points", "subsampling") or (word == "default" and "replicates" not in options):
        return Intervals(dict.fromkeys(sources, "points" if word == "default" else word), counts=counts)
    kinds, reasons = _replicates(sources, runs["over"])
    if word == "default":
        return Intervals({name: kinds.get(name, "points") for name in sources}, counts=counts)
    if not kinds:
        _refuse(reasons)
    return Intervals(kinds, {name: _no_interval(sources[name], reason) for name, reason in reasons.items()}, counts)


def _settings(name: str, options: Options) -> dict[str, Any]:
    """The options of one word, the usual ones where nothing is said."""
    usual, given = CI_OPTIONS[name], options.get(name, {})
    for key in given:
        check_one_of(key, usual, f"options[{name!r}]")
    made = {**usual, **given}
    for key in made.keys() - {"over"}:
        check_int(made[key], f"options[{name!r}][{key!r}]", low=2)
    if "over" in made:
        made["over"] = check_one_of(made["over"], OVER, f"options[{name!r}]['over']", aliases=True)
    return made


def _replicates(sources: Mapping[str, Source], over: str) -> tuple[dict[str, str], dict[str, str]]:
    """What is altered when each source is re-run, and why others are not."""
    kinds, reasons = {}, {}
    for name, source in sources.items():
        if source.recording is not None:
            reasons[name] = "recorded runs, which are not made again"
        elif source.reason is not None:
            reasons[name] = source.reason
        elif over == "seeds" and source.reseed_reason is not None:
            reasons[name] = f"{source.reseed_reason}, so that there are no other seeds"
        else:
            kinds[name] = "subsamples" if source.reseed_reason is not None or over == "subsamples" else "seeds"
    return kinds, reasons


def _refuse(reasons: Mapping[str, str]) -> None:
    """Refuse replicates where nothing can be re-run."""
    said = "; ".join(dict.fromkeys(reasons.values()))
    cure = "Pass an estimator, a callable or the name of a bundled method, or use ci='points'."
    raise InputError("ci", "must be 'replicates' only where an embedding can be re-run", said, cure)


def _no_interval(source: Source, reason: str) -> Note:
    """Why one embedding has no interval beside others that have."""
    rule = "must be a method that can be re-run for ci='replicates'"
    return note("interval.refused", reason=refusal(UndefinedMeasure(source.argument, rule, reason, "Use ci='points'.")))


def half_neighbors(k: int, n: int) -> int:
    """Number of neighbors that is to half of n points what k is to all of them; at least one."""
    half = n // 2
    return min(max(1, round(k * half / n)), half - 1)
