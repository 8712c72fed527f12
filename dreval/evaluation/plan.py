"""Plan an evaluation: the measures at each setting, the tests of each variable, and the kinds of intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_bool, check_int, check_k, check_one_of, check_width, describe, function_name
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.ranks import LISTED
from dreval.geometry.view import Reads
from dreval.inference.cross_jackknife import CROSSED_PARTITIONS
from dreval.inference.groups import GroupDesign
from dreval.inference.intervals import CI_WORDS, unseen_share
from dreval.inference.permutation import Scheme
from dreval.inference.reruns import choose_over
from dreval.inputs.source import Source
from dreval.records.frames import parameters_text
from dreval.records.notes import Note, Notes, note, note_from_error
from dreval.registry import MEASURES, TESTS
from dreval.significance.base import in_rows_of

TARGETS = ("labels", "data", "residual")  # targets of tests, in addition to the covariates
DEFAULT_TESTS = ("hsic", "kcca")

Options = Mapping[str, Mapping[str, Any]]
OVER = {"default": "auto", "seeds": "seeds", "subsamples": "halves"}  # name in the options: kind of replicates
DEFAULT_REPLICATES = 10  # runs of a method with other seeds, or splits into two halves on which it is run
DEFAULT_PARTITIONS = 8  # random partitions into groups, for measures without leave-one-out values
MIN_ARRANGEMENTS = 20  # of the values of groups, with which p can be .05
MAX_GROUPS = 20  # groups of one random partition
DEFAULT_SPLITS = 20  # splits into two halves with the embedding held fixed
CI_OPTIONS: dict[str, dict[str, Any]] = {
    "replicates": {"n_replicates": DEFAULT_REPLICATES, "over": "default"},
    "subsampling": {"n_splits": DEFAULT_SPLITS},
    "points": {"n_partitions": None},  # 2 of thirds, 8 of groups
}


@dataclass(frozen=True)
class MeasureTask:
    """One measure at one setting of its parameters; with ``all_k`` a curve is stored at every K."""

    name: str
    function: Callable[..., Any]
    parameters: dict[str, Any]
    all_k: bool = False

    @property
    def card(self) -> Any:
        """Card of the measure."""
        return self.function.card  # type: ignore[attr-defined]

    @property
    def card_parameters(self) -> dict[str, Any]:
        """Parameters on the card, which the table shows."""
        return {name: value for name, value in self.parameters.items() if name in self.card.parameters}

    @property
    def parameters_text(self) -> str:
        """Text of the parameters, as the table shows them."""
        return parameters_text(self.card_parameters)

    @property
    def key(self) -> tuple[str, str]:
        """Measure and text of the parameters, as of its row."""
        return self.name, self.parameters_text

    def interval_obstacle(self, n: int) -> Note | None:
        """Return why the measure has no interval for the population of n points, where this is known beforehand."""
        if not self.card.smooth:
            return note("interval.jumps", reason=self.card.jumps)
        fewest = 0 if self.card.interval_from is None else self.card.interval_from(**self.parameters)
        return note("interval.too_few", n=n, least=fewest) if n < fewest else None

    def with_neighbors(self, k: int) -> MeasureTask:
        """Return the task with k neighbors."""
        return replace(self, parameters={**self.parameters, "n_neighbors": k})

    @property
    def needs_groups(self) -> bool:
        """Whether an interval for the population is computed from groups of points that are left out."""
        card = self.card
        return card.level != "algorithm" and card.without is None and card.without_class is None

    @property
    def crosses(self) -> bool:
        """Whether its interval is that of the cross jackknife, if the points are enough: no folds are drawn."""
        return bool(self.card.crossed) and self.parameters.get("n_splits") is None

    @property
    def k(self) -> int:
        """Number of neighbors that the measure reads from the pass."""
        return int(self.parameters.get("n_neighbors", 1)) if self.reads_neighbors else 0

    def reach(self, n: int) -> int:
        """Return the number of neighbors that the measure reads where anchors are compared with very many points."""
        neighbors_of = self.card.reach
        return self.k if neighbors_of is None else int(neighbors_of(n, **self.parameters))

    @property
    def reads_neighbors(self) -> bool:
        """Whether the measure reads neighbors or ranks."""
        return "ranks" in self.card.needs or "neighbors" in self.card.needs


def tasks_needing_neighbors(tasks: Sequence[MeasureTask]) -> list[MeasureTask]:
    """Return the tasks that read neighbors or ranks; the others need no pass."""
    return [task for task in tasks if task.reads_neighbors]


def reads_of(tasks: Sequence[MeasureTask], n: int) -> Reads:
    """Return the neighbors and ranks of n points that the measures of a plan read from a view."""
    neighbor_tasks = tasks_needing_neighbors(tasks)
    ranks = any("ranks" in task.card.needs for task in neighbor_tasks)
    full_ranks = any("full_ranks" in task.card.needs for task in tasks)
    return Reads(
        k=max((task.k for task in neighbor_tasks), default=0),
        ranks=ranks,
        full_ranks=full_ranks,
        streamed_k=max([LISTED * full_ranks, *(task.reach(n) for task in tasks)]),
        streamed_ranks=ranks or full_ranks or any(task.card.reach is not None for task in tasks),
    )


@dataclass(frozen=True)
class TestTask:
    """One test of the embeddings against one variable.

    ``argument`` is how the user passed the variable. ``kind`` is "variable" (values of n rows), "data" or "residual"
    (the variable is the ``Data``) or "method" (the method is re-run on the ``Data``). ``option_names`` are the names of
    the options that the user passed. ``known_rows`` marks the points with a value that are tested; it is None where all
    are, and ``known_code`` is the note on them. ``notes`` say how options with a value for each point were matched to
    the data.
    """

    __test__: ClassVar[bool] = False  # the name begins with Test, yet pytest has nothing to collect here

    name: str
    target: str
    argument: str
    variable: Any
    options: dict[str, Any]
    kind: str = "variable"
    option_names: tuple[str, ...] = ()
    known_rows: npt.NDArray[np.bool_] | None = None
    notes: Notes = ()
    known_code: str = "test.known"

    @property
    def family(self) -> str:
        """Family in which the p-value is adjusted; "" for tests against the data, of which an embedding is made."""
        return {"data": "", "method": self.name}.get(self.kind, "tests")


def as_list(names: Any) -> Any:
    """Return the names of an array, set or other collection as a list; return any other value unchanged."""
    return list(names) if isinstance(names, Iterable) and not isinstance(names, str) else names


def _requested_names(requested: Any, argument: str, registry: Any, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the requested names without repeats; the name of a group, as "default", stands for its members."""
    if requested is None:
        return []
    if not isinstance(requested, str | list):
        hint = "Pass a name, a list of names, 'default', 'all' or None."
        raise InputError(argument, "must be names", describe(requested), hint)
    groups = {**groups, "none": []}
    names: list[str] = []
    for name in [requested] if isinstance(requested, str) else requested:
        name = check_one_of(name, [*registry.names(), *groups], argument, registry.listing, aliases=True)
        names += groups.get(name, [name])
    return list(dict.fromkeys(names))


def _measure_groups(variables: Mapping[str, Any], decimal_labels: bool) -> dict[str, list[str]]:
    """Return the measures whose variables the data have: "default" in the order of the cards, and "all"."""
    missing = {name for name, values in variables.items() if values is None}
    cards = [card for card in MEASURES.cards() if missing.isdisjoint(card.needs)]
    default = [card for card in cards if card.default is not None and (decimal_labels or "target" not in card.needs)]
    default = sorted(default, key=lambda card: card.default)
    names = [card.name for card in default]
    return {"default": names, "all": list(dict.fromkeys([*names, *(card.name for card in cards)]))}


def plan_measures(
    requested: Any,
    n_neighbors: Any,
    n: int,
    variables: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    *,
    decimal_labels: bool = False,
) -> list[MeasureTask]:
    """Return a task for every requested measure at every setting, in the order of the table.

    ``variables`` are those of the data; only decimal labels make measures of a target default ones. The options of
    measures that are not requested are checked as well.
    """
    n_labeled = n if variables["labels"] is None else int(np.count_nonzero(variables["labels"] >= 0))
    targets = () if variables["target"] is None else variables["target"].dtype.names

    def tasks_of(name: str) -> list[MeasureTask]:
        function = MEASURES.get(name)
        n_used = min(n, n_labeled) if "labels" in function.card.needs else n
        tasks = _plan_measure(name, function, options.get(name, {}), n_neighbors, n, n_used)
        return _for_targets(tasks, targets, name) if "target" in function.card.needs else tasks

    for name in options:
        if name in MEASURES:
            tasks_of(name)
    names = _requested_names(requested, "measures", MEASURES, _measure_groups(variables, decimal_labels))
    curves = [curve for name in names if (curve := MEASURES.card(name).area_of)]  # an area brings its curve with it
    return [task for name in dict.fromkeys([*names, *curves]) for task in tasks_of(name)]


def _plan_measure(
    name: str, function: Callable[..., Any], options: Mapping[str, Any], n_neighbors: Any, n: int, n_used: int
) -> list[MeasureTask]:
    """Return a task for every setting of one measure; raise if an option is unknown or has an invalid value.

    ``n_used`` is how many of the n points the measure uses.
    """
    card: Any = function.card  # type: ignore[attr-defined]
    if card.level == "algorithm":
        return [_plan_algorithm(name, function, options)]
    if card.curve:
        for key in options:
            check_one_of(key, ("all_k",), f"options[{name!r}]")
        return [MeasureTask(name, function, {}, check_bool(options.get("all_k", False), "all_k"))]
    for key in options:
        check_one_of(key, card.parameters, f"options[{name!r}]")
    parameters = {**card.parameters, **options}
    if "n_neighbors" in parameters and "n_neighbors" not in options:
        if card.shares_neighbors:
            parameters["n_neighbors"] = n_neighbors
        else:  # a default is valid for small data too
            parameters["n_neighbors"] = min(parameters["n_neighbors"], max(1, n_used - 1))
    for key, value in parameters.items():
        if key in card.choices:
            parameters[key] = check_one_of(value, card.choices[key], key, aliases=True)
        elif isinstance(card.parameters[key], float):
            check_width(value, key)
        elif key in card.needs:  # the name of a target
            continue
        elif key != "n_neighbors" and not (value is None and card.parameters[key] is None):
            check_int(value, key, low=2, high=n_used if key == "n_splits" else None)
    if "n_neighbors" not in parameters:
        return [MeasureTask(name, function, parameters)]
    sizes = check_k(parameters["n_neighbors"], n)[0]
    return [MeasureTask(name, function, {**parameters, "n_neighbors": k}) for k in sizes]


def _for_targets(tasks: Sequence[MeasureTask], targets: Sequence[str], name: str) -> list[MeasureTask]:
    """Return the tasks of each target, or of the one that the options name; without a target they stay as they are."""
    if not targets:
        return list(tasks)
    option = tasks[0].parameters["target"]
    names = targets if option is None else [check_one_of(option, targets, f"options[{name!r}]['target']")]
    return [replace(task, parameters={**task.parameters, "target": target}) for target in names for task in tasks]


def _plan_algorithm(name: str, function: Any, options: Mapping[str, Any]) -> MeasureTask:
    """Return the task of a measure of methods, whose options are the keywords of its function.

    Labels, seed and progress bar come from the evaluation, the number of components from each embedding.
    """
    reserved = ("labels", "random_state", "progress")
    for key in options:
        keywords = [parameter for parameter in list(signature(function).parameters)[2:] if parameter not in reserved]
        check_one_of(key, keywords, f"options[{name!r}]")
    choices = function.card.choices
    options = {
        key: check_one_of(value, choices[key], key, aliases=True) if key in choices else value
        for key, value in options.items()
    }
    defaults = {key: value for key, value in function.card.parameters.items() if key != "n_components"}
    return MeasureTask(name, function, {**defaults, **options})


def plan_tests(requested: Any, data: Any, n_resamples: int, options: Mapping[str, Mapping[str, Any]]) -> list[TestTask]:
    """Return a task for every requested test and variable.

    The variables are labels and covariates, or the one that follows a colon in the name (``"hsic:age"``). The options
    of tests that are not requested are checked as well.
    """
    variables = _variables(data)
    for name in options:
        if name in TESTS:
            _test_options(name, "gaussian", n_resamples, options[name])
    options, notes = _align_blocks(options, data)
    names_of_all = [name for name in TESTS if TESTS.card(name).second != "method"]  # the others re-run methods
    groups = {"default": [name for name in DEFAULT_TESTS if name in TESTS], "all": names_of_all}
    items = [*requested] if isinstance(requested, list) else [requested]
    tasks: list[TestTask] = []
    for item in items:
        request, colon, target = item.partition(":") if isinstance(item, str) else (item, "", "")
        names = _requested_names(request, "tests", TESTS, groups)
        if names and TESTS.card(names[0]).second == "method":
            null = {"null": target} if colon else {}
            tasks += [_method_task(name, data, {**options.get(name, {}), **null}) for name in names]
            continue
        if colon:
            targets = [variables[check_one_of(target, variables, "tests")]]
        else:
            targets = [variable for variable in variables.values() if variable.kind == "variable"]
        if names and requested != "default" and not targets:
            hint = "Pass labels or covariates."
            raise InputError("tests", "must have a variable to test against", "no labels and no covariates", hint)
        tasks += [
            replace(_test_task(name, variable, n_resamples, options), notes=notes.get(name, ()))
            for name in names
            for variable in targets
            if request not in groups or _fits(name, variable)
        ]
    tasks = [part for task in tasks for part in over_groups(task, data.groups)]
    return list({(task.name, task.target): task for task in tasks}.values())


def over_groups(task: TestTask, groups: Any) -> list[TestTask]:
    """Return the task with permutations that respect the groups of the points, or its parts.

    A variable that is constant within groups is permuted over them, any other within them. One that is constant within
    some groups and varies within others has no joint exact test: it is tested over the former and within the latter, if
    the former have enough arrangements for p = .05. Permutations that the user chose are not changed.
    """
    chosen = {"permutation", "blocks"} & set(task.option_names)
    if groups is None or len(groups.classes) == len(groups) or task.kind in ("method", "residual") or chosen:
        return [task]
    within = {"permutation": "within", "blocks": groups.codes}
    if task.kind == "data":
        return [replace(task, options={**task.options, **within})]
    is_known = np.ones(len(groups), np.bool_) if task.known_rows is None else task.known_rows
    codes, values = np.unique(groups.codes[is_known], return_inverse=True)[1], np.asarray(task.variable)
    first = np.unique(codes, return_index=True)[1]
    varies = np.zeros(len(first), np.bool_)
    varies[codes[values != values[first][codes]]] = True
    constant_values = np.unique(values[first][~varies].astype(str), return_inverse=True)[1]
    is_sample = TESTS.card(task.name).second == "groups"
    if is_sample:
        options = {**task.options, **within, "permutation": "within" if varies.any() else "blocks"}
    else:
        options = {**task.options, "groups": groups.codes}
    scheme = Scheme("free", len(constant_values), values=constant_values)
    if is_sample or not varies.any() or scheme.count() < MIN_ARRANGEMENTS:
        return [replace(task, options=options)]
    parts = []
    of_groups, of_points = ("between groups", "test.between_groups"), ("within groups", "test.within_groups")
    for (where, code), inside in ((of_groups, ~varies[codes]), (of_points, varies[codes])):
        rows = is_known.copy()
        rows[is_known] = inside
        part = replace(task, variable=values[inside], known_rows=rows, known_code=code)
        parts.append(replace(part, target=f"{task.target} ({where})", options=options))
    return parts


def _align_blocks(
    options: Mapping[str, Mapping[str, Any]], data: Any
) -> tuple[dict[str, Mapping[str, Any]], dict[str, Notes]]:
    """Return the options with the blocks of tests in the order of the data, and the notes on that by test."""
    aligned, notes = dict(options), dict[str, Notes]()
    for name, settings in options.items():
        if name in TESTS and settings.get("blocks") is not None:
            argument = f"options[{name!r}]['blocks']"
            blocks, notes[name] = in_rows_of(data, settings["blocks"], argument)
            aligned[name] = {**settings, "blocks": np.asarray(blocks)}
    return aligned, notes


def _method_task(name: str, data: Any, settings: Mapping[str, Any]) -> TestTask:
    """Return the task of a test that re-runs methods; its target is the null."""
    options = _test_options(name, "gaussian", 0, settings)
    null = options.get("null", "auto")
    if not callable(null):
        null = check_one_of(null, ("auto", *TESTS.card(name).nulls), "tests", aliases=True)
    if null == "auto":  # the same rule as in the test
        null = "gaussian" if data.labels is not None or options.get("n_clusters") is not None else "columns"
    target = null if isinstance(null, str) else function_name(null, "null data")
    return TestTask(name, target, "data", data, options, "method", tuple(settings))


@dataclass(frozen=True)
class _Variable:
    """Variable that embeddings are tested against; ``kernel`` is "gaussian" for numbers and "delta" for classes."""

    target: str
    argument: str
    values: Any
    kernel: str
    kind: str = "variable"
    known_rows: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, target: str, argument: str, values: Any, kernel: str) -> _Variable:
        """Return a variable with its values at the points where they are known."""
        known_rows = ~np.asarray(pd.isna(values), np.bool_)
        if known_rows.all():
            return cls(target, argument, values, kernel)
        return cls(target, argument, np.asarray(values[known_rows].tolist()), kernel, known_rows=known_rows)


def check_targets(data: Any) -> None:
    """Raise if a covariate has the name of another target of tests."""
    for name in (*data.covariates, *data.target):
        if name in TARGETS and not (name == "labels" and name in data.target):
            argument, noun = ("covariates", "a covariate") if name in data.covariates else ("labels", "a column")
            requirement = "must have a name that no other target of tests has"
            hint = f"Rename it, for instance covariates={{'my_{name}': ...}}."
            raise InputError(argument, requirement, f"{noun} called {name!r}", hint)


def _variables(data: Any) -> dict[str, _Variable]:
    """Return the variables by target: the data and their residual (only tested on request), labels and covariates."""
    variables = [_Variable("data", "data", data, "gaussian", "data")]
    variables.append(_Variable("residual", "data", data, "gaussian", "residual"))
    if data.labels is not None:
        codes = (
            data.labels.codes
            if data.labels.has_label.all()
            else np.where(data.labels.has_label, data.labels.codes, None)
        )
        variables.append(_Variable.of("labels", "labels", codes, "delta"))
    for name, values in data.target.items():  # labels that are decimal numbers
        variables.append(_Variable.of(name, "labels", values, "gaussian"))
    for name, values in data.covariates.items():
        kernel = "gaussian" if values.dtype.kind == "f" else "delta"
        variables.append(_Variable.of(name, f"covariates[{name!r}]", values, kernel))
    return {variable.target: variable for variable in variables}


def _fits(name: str, variable: _Variable) -> bool:
    """Return whether a test applies to a variable: a test of groups needs exactly two classes, others numbers."""
    second = TESTS.card(name).second
    if second != "groups":
        return second != "number" or variable.kernel == "gaussian"
    return variable.kernel == "delta" and len(set(variable.values.tolist())) == 2


def _test_task(name: str, variable: _Variable, n_resamples: int, options: Mapping[str, Mapping[str, Any]]) -> TestTask:
    """Return the task of one test; a test without kernels gets classes as text, since it reads codes as numbers."""
    settings = options.get(name, {})
    values = variable.values
    if variable.kernel == "delta" and "kernel" not in signature(TESTS.get(name)).parameters:
        values = values.astype(str)
    return TestTask(
        name,
        variable.target,
        variable.argument,
        values,
        _test_options(name, variable.kernel, n_resamples, settings),
        variable.kind,
        tuple(settings),
        variable.known_rows,
    )


def _test_options(name: str, kernel: str, n_resamples: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a test: defaults, replaced by the settings of the user; raise if one is unknown."""
    second = TESTS.card(name).second
    parameters = list(signature(TESTS.get(name)).parameters)[2:]
    reserved = {"random_state", "n_jobs", "others", "groups", "labels", "ids", "metric", "n_components"}
    reserved |= {"journal", "progress"}
    keywords = [key for key in parameters if key not in reserved or (key == "metric" and second != "method")]
    for key in settings:
        check_one_of(key, keywords, f"options[{name!r}]")
    if second == "method":
        return dict(settings)
    check_int(settings.get("n_resamples", n_resamples), f"options[{name!r}]['n_resamples']", low=1)
    defaults: dict[str, Any] = {"n_resamples": n_resamples}
    if second == "variable":
        defaults["kernel"] = ("gaussian", kernel)
    return {**{key: value for key, value in defaults.items() if key in keywords}, **settings}


@dataclass(frozen=True)
class Intervals:
    """Kind of interval of each embedding (a key of ``inference.intervals.METHODS``), or the reason why it has none.

    ``counts`` holds the number of resamples by kind, where that is an option.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, Note] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def notes(self, sources: Mapping[str, Source]) -> list[Note]:
        """Return the notes on what the intervals do not cover, one for all embeddings of a kind."""
        methods = [name for name, source in sources.items() if source.can_embed]
        fixed = [name for name in methods if self.kinds.get(name) in ("points", "groups", "subsampling")]
        coordinates = [name for name in fixed if sources[name].recording is None]
        recorded = [name for name in fixed if sources[name].recording is not None]
        reseeded = [name for name in methods if self.kinds.get(name) == "seeds"]
        notes: list[Note] = []
        if coordinates:
            notes.append(note("interval.coordinates", ", ".join(coordinates), way="ci='replicates'"))
        if recorded:
            notes.append(note("interval.recorded", ", ".join(recorded)))
        if reseeded:
            runs = self.counts["seeds"]
            notes.append(note("interval.runs", ", ".join(reseeded), runs=runs, least=100 * unseen_share(runs)))
        return notes

    @property
    def option_keys(self) -> set[str]:
        """Keys of ``CI_OPTIONS`` whose options are used."""
        return {"replicates" if kind in ("seeds", "subsamples") else kind for kind in self.kinds.values()}

    def names_of_kind(self, kind: str) -> list[str]:
        """Return the names of the embeddings that get this kind of interval."""
        return [name for name, embedding_kind in self.kinds.items() if embedding_kind == kind]


def plan_intervals(
    ci: Any, sources: Mapping[str, Source], anchors: int | None, options: Options, data: Any
) -> Intervals:
    """Return the kind of interval of every embedding; raise if ``ci`` suits none of them.

    Groups of points are left out in place of points. Groups of one point each are points, by the delete-one jackknife.
    """
    requested = "none" if ci is None else check_one_of(ci, CI_WORDS, "ci", aliases=True)
    splits = _interval_options("subsampling", options)["n_splits"]
    replicates = _interval_options("replicates", options)
    partitions = _interval_options("points", options)["n_partitions"]
    counts = {"subsampling": splits, "partitions": partitions or DEFAULT_PARTITIONS}
    counts["crossed"] = 0 if requested == "jackknife" else partitions or CROSSED_PARTITIONS
    counts |= dict.fromkeys(("seeds", "subsamples"), replicates["n_replicates"])
    if requested == "none":
        return Intervals()
    if requested != "default" and (requested == "anchors") != (anchors is not None):
        hint = "Use ci='anchors', or pass anchors=None to Evaluation for all points."
        if requested == "anchors":
            hint = "Pass anchors=m to Evaluation."
        raise InputError("ci", "must fit the rows that are used", f"{ci!r} with anchors={anchors}", hint)
    grouped = data.groups is not None and len(data.groups.classes) < data.n
    if data.groups is not None and not grouped:
        counts["crossed"] = 0
    if grouped and requested not in ("anchors", "replicates", "subsampling") and "replicates" not in options:
        design = GroupDesign.of(data.groups.codes)
        counts["groups"] = 0 if design.few else design.count
        return Intervals(dict.fromkeys(sources, "groups"), counts=counts)
    if anchors is not None:
        return Intervals(dict.fromkeys(sources, "anchors"))
    if grouped and requested == "subsampling":
        raise _no_halves_of_groups(requested)
    if requested in ("points", "jackknife", "subsampling") or (requested == "default" and "replicates" not in options):
        kind = "subsampling" if requested == "subsampling" else "points"
        return Intervals(dict.fromkeys(sources, kind), counts=counts)
    kinds, reasons = _replicate_kinds(sources, replicates["over"])
    if grouped and "subsamples" in kinds.values():
        raise _no_halves_of_groups("replicates")
    if requested == "default":
        fixed = "groups" if grouped else "points"
        return Intervals({name: kinds.get(name, fixed) for name in sources}, counts=counts)
    if not kinds:
        received = "; ".join(dict.fromkeys(reasons.values()))
        hint = "Pass an estimator, a callable or the name of a bundled method, or use ci='points'."
        raise InputError("ci", "must be 'replicates' only where an embedding can be re-run", received, hint)
    return Intervals(kinds, {name: _no_rerun_note(sources[name], reason) for name, reason in reasons.items()}, counts)


def _no_halves_of_groups(ci: str) -> InputError:
    """Return the error for intervals from halves of the points where points come in groups."""
    received = f"{ci!r}, from halves of the points, with groups"
    return InputError("ci", "must leave out groups, or re-run methods with other seeds", received, "Use ci='points'.")


def _interval_options(key: str, options: Options) -> dict[str, Any]:
    """Return the options of one key of ``CI_OPTIONS``, with defaults for those that the user did not pass."""
    defaults, passed = CI_OPTIONS[key], options.get(key, {})
    for name in passed:
        check_one_of(name, defaults, f"options[{key!r}]")
    settings = {**defaults, **passed}
    for name in settings.keys() - {"over"}:
        if settings[name] is not None:
            check_int(settings[name], f"options[{key!r}][{name!r}]", low=2)
    if "over" in settings:
        settings["over"] = check_one_of(settings["over"], OVER, f"options[{key!r}]['over']", aliases=True)
    return settings


def _replicate_kinds(sources: Mapping[str, Source], over: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return what changes when each source is re-run ("seeds" or "subsamples"), and why the others are not."""
    kinds, reasons = {}, {}
    for name, source in sources.items():
        if source.recording is not None:
            reasons[name] = "recorded runs, which cannot be re-run"
        elif source.reason is not None:
            reasons[name] = source.reason
        else:
            try:
                kind = choose_over(OVER[over], source.reseed_reason)
                kinds[name] = "subsamples" if kind == "halves" else "seeds"
            except UndefinedMeasure as error:
                reasons[name] = f"{error.received}, so that there are no other seeds"
    return kinds, reasons


def _no_rerun_note(source: Source, reason: str) -> Note:
    """Return the note of an embedding that has no interval while others have."""
    requirement = "must be a method that can be re-run for ci='replicates'"
    error = UndefinedMeasure(source.argument, requirement, reason, "Use ci='points'.")
    return note("interval.refused", reason=note_from_error(error))


def half_neighbors(k: int, n: int) -> int:
    """Return the number of neighbors that is to half of n points what k is to all of them; at least 1."""
    half = n // 2
    return min(max(1, round(k * half / n)), half - 1)


class Plan(NamedTuple):
    """The measures, tests and intervals of a run."""

    measures: list[MeasureTask]
    tests: list[TestTask]
    intervals: Intervals


def plan_run(
    data: Any,
    sources: Mapping[str, Source],
    n_neighbors: Sequence[int],
    anchors: int | None,
    *,
    measures: Any,
    tests: Any,
    ci: str | None,
    n_resamples: int,
    options: Options,
) -> Plan:
    """Return the measures, tests and intervals to compute; raise if there are none, or if the data have changed."""
    if not sources:
        raise InputError(
            "embeddings", "must hold at least one embedding", "none", 'Use with_embedding("umap", Y) first.'
        )
    data.check_unchanged()
    settings: dict[str, Any] = {"decimal_labels": bool(data.target)}
    measure_tasks = plan_measures(measures, n_neighbors, data.n, data.variables(), options, **settings)
    test_tasks = plan_tests(tests, data, check_int(n_resamples, "n_resamples", low=1), options)
    if not measure_tasks and not test_tasks:
        hint = 'Pass measures="default", or tests with labels or covariates.'
        raise InputError("measures", "must name something to compute", f"{measures!r} with tests={tests!r}", hint)
    return Plan(measure_tasks, test_tasks, plan_intervals(ci, sources, anchors, options, data))


def check_options(options: Any) -> dict[str, dict[str, Any]]:
    """Return the options by name of a measure, a test or a kind of interval; raise if a name is unknown."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        hint = 'Pass {"knn_accuracy": {"n_neighbors": 10}}.'
        raise InputError("options", "must be a dict of names to dicts", describe(options), hint)
    names = [*MEASURES.names(), *TESTS.names(), *CI_OPTIONS]
    for name, value in options.items():
        check_one_of(name, names, "options", (*MEASURES.listing, *TESTS.listing))
        if not isinstance(value, Mapping):
            raise InputError(f"options[{name!r}]", "must be a dict", describe(value), 'Pass {"n_neighbors": 10}.')
    return {name: dict(value) for name, value in options.items()}
