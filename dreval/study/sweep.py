"""Sweep over the settings of one method: the best set, which holds the settings that may be the best."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from dreval._check import (
    FloatArray,
    IntArray,
    check_float,
    check_int,
    check_k,
    check_one_of,
    describe,
    keywords_checked,
    keywords_of_anndata,
)
from dreval._random import stream, stream_seed
from dreval.analyses._analysis import analysis
from dreval.errors import InputError, UndefinedMeasure
from dreval.evaluation.plan import MeasureTask, plan_measures
from dreval.evaluation.rows import views_for
from dreval.evaluation.uncertainty import task_values
from dreval.geometry.blocks import View
from dreval.geometry.distances import take
from dreval.geometry.same_map import data_among
from dreval.inference.best_set import best_set
from dreval.inference.groups import MIN_HALVED_GROUPS, half_of_groups, smallest_half
from dreval.inference.intervals import student_interval
from dreval.inference.rerun_input import CALLER_NAMES, RerunInput, check_can_rerun, expand_grid, open_case
from dreval.inference.reruns import (
    ORIGINAL,
    Over,
    ReplicateKey,
    Replicates,
    Runner,
    Setting,
    choose_over,
    failed_error,
)
from dreval.inference.splitting import MeasurementSplits, plain_split, read_split, split_replicates
from dreval.inputs.data import Data
from dreval.inputs.source import all_equal_maps, digest
from dreval.inputs.source_kinds import Source
from dreval.measures.replicates import groups_parameter
from dreval.records.notes import Note, Notes, join_notes, note
from dreval.records.provenance import provenance, reproducing_call
from dreval.records.sweep import Sweep, sweep_frame
from dreval.registry import METHODS
from dreval.storage.keys import source_key
from dreval.storage.store import key_hash

OVER = ("auto", "seeds", "halves", "split_measurements")
MIN_REPLICATES = 3
MIN_POINTS_FOR_HALVES = 12
MAX_CRITICAL_RATIO = 2.0  # a larger ratio to the critical value of many replicates means too few replicates
MAX_ALL_POINTS = 20_000  # of more points the embeddings are evaluated at SCORED_POINTS
SCORED_POINTS = 2000
D = "n_components"


@dataclass(frozen=True)
class MethodSetting:
    """One setting: its options in the grid, the source with these options, and the number of components."""

    options: Mapping[str, Any]
    source: Source
    d: int

    @property
    def key(self) -> str:
        """Key of the runs of this setting in a journal."""
        return key_hash({"source": source_key(self.source), D: self.d})


@analysis(
    title="Sweep of settings",
    question="Which settings of the method are not distinguishable from the best?",
    direction="that of the measure; settings in the best set are not shown to be worse than the best",
    caution="A setting in the set is not shown to be good, nor to be equal to the best: it is not shown to be worse, "
    "by this measure. The value of the best setting is too optimistic, since it was chosen for its size: report it on "
    "other points.",
    cost="H R runs of the method for H settings and R replicates, and R passes over the data, O(n^2 p) time each.",
    reference="@hsu1981 for the set.",
)
@partial(keywords_checked, elsewhere=keywords_of_anndata("sweep", "umap.UMAP(), grid"))
def sweep(
    X: Any,
    source: Any,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    *,
    measures: str | Sequence[str] = "r_nx_auc",
    over: str = "auto",
    split: Mapping[str, Any] | None = None,
    n_replicates: int = 5,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    alpha: float = 0.05,
    metric: str = "euclidean",
    labels: Any = None,
    groups: Any = None,
    ids: Any = None,
    header: bool | Literal["auto"] = "auto",
    journal: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Sweep:
    r"""Find the settings of a method that are not distinguishable from the best: a set, not one winner.

    The method is run at each of H settings on each of R replicates, the same ones at all settings. With
    :math:`\theta_{hr}` the value of a measure at setting h and replicate r, higher being better,
    :math:`\bar\theta_h` its mean and :math:`s_{lh}` the standard deviation of :math:`\theta_{lr} - \theta_{hr}` over r,
    setting h is in the best set unless another is significantly better,

    .. math:: \max_l \frac{\bar\theta_l - \bar\theta_h}{c\, s_{lh}} > t_{R - 1,\, 1 - \alpha / (H - 1)},

    with :math:`c^2 = 1 / R` for seeds and split measurements and :math:`1 + 1 / R` for halves. The best setting is in
    the set with probability at least :math:`1 - \alpha`.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components, ...), or name of a bundled method
        The method, which is run with the options of the grid.
    param_grid : dict of option to list, or list of such dicts
        The settings: every combination of a dict. ``n_components`` may be one of the options.
    measures : str or list of str
        Measures of the embeddings that say which value is better; the first one decides. By default the area under
        R_NX, which has no number of neighbors to choose.
    over : {"auto", "seeds", "halves", "split_measurements"}
        The replicates. "seeds": all points, other seeds; the set is for these data. "halves": random halves of the
        points, each with its own seed; the set is for the population, at n / 2 points. "split_measurements": the method
        embeds one part of the measurements and the measures read the other part, so that a setting cannot win by
        showing noise (``held_out_fidelity`` has more numbers on it); the set is for these data. "auto": seeds where
        they change the embedding, otherwise halves.
    split : dict, optional
        How measurements are split: options of ``split_measurements`` and ``prepare`` of ``held_out_fidelity``, as
        ``{"kind": "poisson"}``; random halves of the columns by default.
    n_replicates : int
        Number R of replicates, at least 3. With more seeds the set is smaller; with more halves only a little.
    n_components : int, optional
        Number of dimensions; by default that of the source, else 2.
    n_neighbors : int, list of int or "auto"
        Neighbors of the measures that have them, the same at all settings; not an option of the method.
    alpha : float
        One minus the level of the sets and intervals.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed"}
        Distance in the data, for the measures; methods get it as in ``Evaluation``.
    labels : (n,) array, column of X by name, or path
        Class of each point, for measures of labels and supervised methods.
    groups : (n,) array, column of X by name, or path, optional
        The group of each point, where points belong together (donor, patient, document): halves are then random halves
        of the groups, and the set is for samples of groups. Over other replicates runs do not use them.
    ids : (n,) array or column of X by name, optional
        Names of the points; not used as a feature.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``.
    journal : path, optional
        A file that stores each embedding as soon as it is finished: a killed sweep continues where it stopped, and a
        sweep with more settings, more replicates or other measures only computes what is missing.
    random_state : int, Generator or None, default None
        Seed: replicate r depends on it and on r only.
    n_jobs : int, optional
        Processes (joblib); one by default, or those of an active ``joblib.parallel_config``. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    Sweep
        ``summary()`` begins with the answer; ``best_set()`` gives the settings; ``tidy()`` has one row per measure and
        setting: mean, interval, ``in_best_set``, ``p_value``. A setting with a failed run is not compared; its reason
        is in ``note``, and the other settings are not affected.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be re-run, or ``over="seeds"`` and seeds change nothing.
    UnknownName
        An unknown option or measure; the nearest is named.
    InputError
        If an argument is invalid, or the grid has fewer than two settings.
    MethodFailed
        If every run fails; the first reason is given.

    Warnings
    --------
    A setting in the set is not shown to be good, nor to be equal to the best: it is not shown to be worse, by this
    measure. The value of the best setting is too optimistic, since it was chosen for its size: report it on other
    points.

    See Also
    --------
    Results.ranking : the same set among embeddings that are already computed.
    noise_test : is there more than noise, at any setting?
    Study : methods on several data sets.

    Notes
    -----
    Each setting is compared with all others, not with the observed best, which is chosen from the same values (Hsu
    1981). The critical value is Student's, by Bonferroni over the H - 1 others. The quantile of the normal distribution
    would keep the best of two equal settings in .91 instead of .95 at five seeds, and draws from one covariance that is
    estimated from few replicates would keep the best of many settings too rarely.

    The values at halves vary about the value at all points about as much as that value varies about the population
    value. Their variance is therefore not divided by R; the mean of R halves adds 1 / R.

    Cost: H R runs of the method (halves cost less each), and R passes over the data, each with H embeddings. Above
    20,000 points embeddings are evaluated at 2000 of them. Memory: that of one run in each process, H R embeddings.

    References
    ----------
    Hsu (1981), Simultaneous confidence intervals for all distances from the "best", Ann. Stat. 9, 1026-1034.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
    >>> result = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
    >>> result.best_set()
    [{'n_neighbors': 12}, {'n_neighbors': 8}]
    """
    grid = read_grid(param_grid, n_components)
    _check_not_recorded(source)
    first = method_options(grid[0])
    settings_of_data: dict[str, Any] = {"metric": metric, "header": header, "groups": groups}
    case = open_case(X, source, labels, ids, random_state, **settings_of_data, options=first, noted=True)
    check_can_rerun(case)
    data, n = case.data, case.data.n
    requested = check_one_of(over, OVER, "over", aliases=True)
    splits = read_split(data, split, case.root) if requested == "split_measurements" else None
    if splits is None and split is not None:
        hint = "Pass over='split_measurements', or leave split out."
        raise InputError("split", "must come with over='split_measurements'", f"over={over!r}", hint)
    if data.distances_only:
        hint = "Pass the data themselves, with a metric by name."
        raise UndefinedMeasure("metric", f"must not be {data.metric!r} for a sweep", "distances only", hint)
    settings = read_settings(case, source, grid, n_components)
    R = check_int(n_replicates, "n_replicates", low=MIN_REPLICATES)
    level = 1 - check_float(alpha, "alpha", low=1e-6, high=0.5)
    has_seeds = any(setting.source.reseed_reason is None for setting in settings.values())
    kind = choose_over(requested, None if has_seeds else str(case.source.reseed_reason))
    if kind == "halves" and n < MIN_POINTS_FOR_HALVES:
        hint = "Use more points, or over='seeds' if the method has a seed."
        raise InputError("X", f"must have at least {MIN_POINTS_FOR_HALVES} points for halves", f"{n} points", hint)
    _check_groups(data, kind)
    tasks = plan_tasks(measures, n_neighbors, _size(kind, data), data)
    with Runner(journal, n_jobs, progress) as runner:
        embedded = embed_settings(case, settings, kind, R, runner, splits)
        if embedded.equal_seeds and requested == "auto" and n >= MIN_POINTS_FOR_HALVES:
            kind = "halves"
            _check_groups(data, kind)
            tasks = plan_tasks(measures, n_neighbors, _size(kind, data), data)
            embedded = embed_settings(case, settings, kind, R, runner)
    values, undefined, reference = _values(case, embedded, tasks, n_jobs)
    data_at = [h for h, key in enumerate(settings) if key in reference and len(embedded.failures[key]) < R]
    rows, value_rows = _rows(embedded, tasks, values, undefined, data_at, level)
    arguments = {"measures": measures, "over": kind, "n_replicates": R, "n_components": n_components}
    arguments |= {} if split is None else {"split": plain_split(split)}
    arguments |= {"n_neighbors": n_neighbors, "alpha": alpha, "metric": metric, **groups_parameter(data)}
    return Sweep(
        settings=tuple(setting.options for setting in settings.values()),
        table=sweep_frame(rows, [setting.options for setting in settings.values()] * len(tasks)),
        values=pd.DataFrame(value_rows),
        over=kind,
        alpha=1 - level,
        recipe=_recipe(case, param_grid, arguments, header),
        notes=_notes(case, embedded, tasks, values, data_at, level),
    )


def read_grid(param_grid: Any, n_components: int | None) -> list[dict[str, Any]]:
    """Return the options of each setting; raise if the number of components is set twice."""
    grid = [
        {key: value.item() if isinstance(value, np.generic) else value for key, value in options.items()}
        for options in expand_grid(param_grid)
    ]  # numbers of Python, which are printed and compared as numbers
    if n_components is not None and any(D in options for options in grid):
        hint = f"Leave out {D}=, or the option of the grid."
        raise InputError(D, "must be set once", "an argument and an option of param_grid", hint)
    return grid


def method_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a setting without the number of components, which is no option of the method."""
    return {key: value for key, value in options.items() if key != D}


def read_settings(
    case: RerunInput, source: Any, grid: Sequence[dict[str, Any]], n_components: int | None
) -> dict[str, MethodSetting]:
    """Return the different settings of the grid by key; raise if there is only one."""
    settings: dict[str, MethodSetting] = {}
    for grid_options in grid:
        options = method_options(grid_options)
        setting_source = open_case(case.data, source, None, None, case.root, options=options, noted=True).source
        default_d = n_components or setting_source.default_components or 2
        d = check_int(grid_options.get(D, default_d), D, low=1)
        setting = MethodSetting(grid_options, setting_source, d)
        settings.setdefault(setting.key, setting)
    if len(settings) < 2:
        hint = "Name several values of an option, as {'n_neighbors': [5, 15, 50]}."
        raise InputError("param_grid", "must hold at least two settings", f"{len(settings)}", hint)
    return settings


def _rows(
    embedded: EmbeddedSettings,
    tasks: Sequence[MeasureTask],
    values: FloatArray,
    undefined: Mapping[tuple[int, int], list[Note]],
    reference: Sequence[int],
    level: float,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of the settings at each measure, and the rows of the values of each replicate."""
    rows, value_rows, R = [], [], values.shape[2]
    share = 1 + 1 / R if embedded.kind == "halves" else 1 / R
    for t, task in enumerate(tasks):
        failures = [[*failed, *undefined.get((t, h), [])] for h, failed in enumerate(embedded.failures.values())]
        columns = {"measure": task.name, "parameters": task.parameters_text}
        for h, row in enumerate(setting_rows(task, values[t], share, level, failures, reference)):
            rows.append({**columns, **row})
            value_rows += [{**columns, "setting": h, "replicate": r, "value": values[t, h, r]} for r in range(R)]
    return rows, value_rows


def _recipe(case: RerunInput, param_grid: Any, arguments: dict[str, Any], header: Any) -> dict[str, Any]:
    """Return the provenance of a sweep, with the call that repeats it."""
    what = case.source.what
    variables = ["data", repr(what) if what in METHODS else what if what.isidentifier() else "source", repr(param_grid)]
    keywords = {**arguments, "header": header, "random_state": case.root}
    variables += ["groups=groups"] if keywords.pop("groups", None) else []
    return provenance(
        {"param_grid": param_grid, **arguments},
        n=case.data.n,
        p=case.data.p,
        source=what,
        random_state=case.root,
        call=reproducing_call("dreval.sweep", variables, keywords, sweep),
    )


def _check_not_recorded(source: Any) -> None:
    """Raise for recorded runs, which have one setting."""
    if isinstance(source, Source) and source.recording is not None:
        requirement = "must be able to run with other settings"
        hint = (
            "Collect a folder for each setting, and pass all to Evaluation as embeddings: ranking() has the best set."
        )
        raise UndefinedMeasure("source", requirement, "runs that are recorded with one", hint)


# The replicates: all points with other seeds, or random halves of the points, the same ones at all settings.


def _size(kind: str, data: Data) -> int:
    """Return the number of points of each replicate; of halves of groups the smallest one."""
    if kind != "halves":
        return data.n
    return data.n // 2 if data.groups is None else smallest_half(data.groups.codes)


def _check_groups(data: Data, kind: str) -> None:
    """Raise if there are too few groups of points for halves."""
    if kind == "halves" and data.groups is not None and len(data.groups.classes) < MIN_HALVED_GROUPS:
        received, hint = f"{len(data.groups.classes)} groups", "Use over='seeds' if the method has a seed."
        raise InputError("groups", f"must be at least {MIN_HALVED_GROUPS} for halves", received, hint)


def half_points(root: int, n: int, r: int) -> IntArray:
    """Return the points of a half, ascending."""
    return np.sort(stream(root, "half", r).choice(n, n // 2, replace=False))


def replicate_seed(root: int, r: int, _: int) -> int:
    """Return the seed of the method for a replicate."""
    return stream_seed(root, "sweep", r)


KINDS = {
    "seeds": Over("seeds", seed=replicate_seed),
    "halves": Over("halves", seed=replicate_seed, rows=half_points),
    "data": ORIGINAL,
}


def with_table(data: Data, table: FloatArray) -> Data:
    """Return the data with other measurements of the same points."""
    return replace(data, table=table, columns=None)


@dataclass(frozen=True, eq=False)
class EmbeddedSettings:
    """The replicates at all settings.

    ``failures`` has the reasons of failed runs by setting, ``embeddings`` those of each setting, None for failed runs.
    """

    kind: str
    over: Over
    failures: dict[str, list[Note]]
    embeddings: dict[str, list[FloatArray | None]]
    splits: MeasurementSplits | None = None

    def data_of(self, case: RerunInput, key: ReplicateKey) -> Data:
        """Return the data with which the embeddings of a replicate are compared."""
        if self.splits is not None:
            return with_table(case.data, self.splits.prepared(key.index)[1])
        return _data_at(case.data, self.over.points(case.root, case.data.n, key))

    @property
    def equal_seeds(self) -> bool:
        """Whether all seeds gave the same embedding, at every setting."""
        if self.kind != "seeds" or any(self.failures.values()):
            return False
        return all(all_equal_maps([Y for Y in maps if Y is not None]) for maps in self.embeddings.values())


def embed_settings(
    case: RerunInput,
    settings: Mapping[str, MethodSetting],
    kind: str,
    R: int,
    runner: Runner,
    splits: MeasurementSplits | None = None,
) -> EmbeddedSettings:
    """Embed the replicates at all settings; raise if no run succeeds.

    With ``splits`` replicates are first parts of the measurements, or other seeds on the prepared table.
    """
    is_split = kind == "split_measurements" and splits is not None
    over = split_replicates(splits) if is_split and splits is not None else KINDS[kind]
    over = replace(over, settings={key: Setting(s.source, s.d) for key, s in settings.items()})
    recipe = {"study": "sweep", "over": kind, "source": [case.source.kind, case.source.what], D: None}
    if is_split and splits is not None:
        recipe["split"] = digest(splits.prepared(0)[0])
    elif kind != "data" and splits is not None and splits.prepare is not None:
        table = splits.prepared_table()
        over, recipe["prepared"] = replace(over, data=lambda _: table), digest(table)
    if kind == "halves" and case.data.groups is not None:
        codes = case.data.groups.codes
        over = replace(over, rows=lambda root, _, r: half_of_groups(codes, stream(root, "half of the groups", r)))
        recipe["groups"] = digest(codes)
    results = Replicates(case, over, R, 2, recipe, runner).run()
    if not results.succeeded:
        hint = "Run the method alone with one of the settings to see where."
        raise failed_error(results.failures, case.source.argument, "must give an embedding", hint).named(CALLER_NAMES)
    failures: dict[str, list[Note]] = {key: [] for key in settings}
    embeddings: dict[str, list[FloatArray | None]] = {key: [] for key in settings}
    for result in results:
        embeddings[result.key.setting].append(result.values)
        if result.failure is not None:
            failures[result.key.setting].append(result.failure.named(CALLER_NAMES))
    return EmbeddedSettings(kind, over, failures, embeddings, splits if is_split else None)


def views_of_maps(
    case: RerunInput,
    tasks: Sequence[MeasureTask],
    data: Data,
    maps: Mapping[str, FloatArray],
    r: int,
    n_jobs: int | None,
    leave_one: Sequence[int] = (),
) -> dict[str, View]:
    """Return the view of each embedding of replicate r, at anchors where there are very many points."""
    anchors = None
    if data.n > MAX_ALL_POINTS:
        anchors = np.sort(stream(case.root, "anchors", r).choice(data.n, SCORED_POINTS, replace=False))
        leave_one = ()
    settings: dict[str, Any] = {"seed": case.root, "n_jobs": n_jobs, "rows": anchors, "leave_one": leave_one}
    return views_for(tasks, data, maps, **settings) if maps else {}


def _values(
    case: RerunInput, embedded: EmbeddedSettings, tasks: Sequence[MeasureTask], n_jobs: int | None
) -> tuple[FloatArray, dict[tuple[int, int], list[Note]], set[str]]:
    """Return the values (measures, settings, replicates), why values are missing, and the settings that are the data.

    The reasons are by the numbers of the measure and the setting.
    """
    settings, R = list(embedded.embeddings), len(next(iter(embedded.embeddings.values())))
    values = np.full((len(tasks), len(settings), R), np.nan)
    undefined: dict[tuple[int, int], list[Note]] = {}
    reference = set(settings)
    for r, replicate in enumerate(replace(embedded.over, settings={}).keys(R)):
        part_data = embedded.data_of(case, replicate)
        maps = {key: Ys[r] for key, Ys in embedded.embeddings.items()}
        maps = {key: Y for key, Y in maps.items() if Y is not None}
        reference -= {*maps} - {*data_among(part_data, maps)}
        views = views_of_maps(case, tasks, part_data, maps, r, n_jobs)
        for h, name in enumerate(settings):
            for t, value in enumerate(task_values(views[name], tasks) if name in views else ()):
                if isinstance(value, Note):
                    undefined.setdefault((t, h), []).append(value)
                elif math.isnan(value):
                    undefined.setdefault((t, h), [note("inference.no_value", embeddings=())])
                else:
                    values[t, h, r] = value
    return values, undefined, reference


def _notes(
    case: RerunInput,
    embedded: EmbeddedSettings,
    tasks: Sequence[MeasureTask],
    values: FloatArray,
    data_at: Sequence[int],
    level: float,
) -> Notes:
    """Return the notes on the data, the replicates, the settings and the measures."""
    data, R, size = case.data, values.shape[2], _size(embedded.kind, case.data)
    notes: list[Note] = [*data.notes, *case.source.notes]
    notes += [note("sweep.same_seeds")] if embedded.equal_seeds else []
    if embedded.kind != "halves" and data.groups is not None:
        over = "seeds" if embedded.splits is None else "split measurements"
        groups = groups_parameter(data)["groups"]
        notes.append(note("groups.unused", groups=groups, over=over, others="halves"))
    if embedded.splits is not None:
        notes += [note("sweep.splits"), *embedded.splits.notes()]
    elif embedded.kind == "halves" and data.groups is not None:
        notes.append(note("sweep.halved_groups", groups=groups_parameter(data)["groups"]))
    else:
        notes.append(note("sweep.seeds") if embedded.kind == "seeds" else note("sweep.halves", half=size))
    measures_by_count: dict[int, list[str]] = {}  # number of compared settings -> measures
    for t, task in enumerate(tasks):
        measures_by_count.setdefault(len(compared_settings(values[t], data_at)), []).append(task.name)
    for count, names in measures_by_count.items():
        scope = ", ".join(names) * (len(measures_by_count) > 1)
        notes += [note.with_scope(scope) for note in _few_replicates(R, count, 1 - level)]
    notes += [note("sweep.each", measures=len(tasks), level=level)] if len(tasks) > 1 else []
    complete = [maps for maps in embedded.embeddings.values() if all(Y is not None for Y in maps)]
    equal = Counter(tuple(map(digest, maps)) for maps in complete)
    if len(equal) < sum(equal.values()):
        notes.append(note("sweep.equal", equal=sum(equal.values()), made=len(equal)))
    dimensions = {setting.n_components for setting in embedded.over.settings.values()}
    notes += [note("sweep.components")] if len(dimensions) > 1 else []
    notes += [note("sweep.drawn", drawn=SCORED_POINTS, n=size)] if size > MAX_ALL_POINTS else []
    notes += [note.with_scope(task.name) for task in tasks for note in task.card.metric_notes(data.metric)]
    return tuple(dict.fromkeys(note.named(CALLER_NAMES) for note in notes))


def _few_replicates(R: int, settings: int, alpha: float) -> list[Note]:
    """Return the note that replicates are few: the critical value is more than twice that of many replicates.

    By Student's t with R - 1 degrees of freedom against the normal distribution, both by Bonferroni over the settings.
    """
    from scipy.special import ndtri, stdtrit

    if settings < 2:
        return []
    share = 1 - alpha / (settings - 1)
    limit = float(ndtri(share))
    if stdtrit(R - 1, share) <= MAX_CRITICAL_RATIO * limit:
        return []
    needed = next(r for r in itertools.count(R) if stdtrit(r - 1, share) <= MAX_CRITICAL_RATIO * limit)
    critical, reached = (float(stdtrit(r - 1, share)) for r in (R, needed))
    values = {"critical": critical, "reached": reached, "limit": limit}
    return [note("sweep.few", replicates=R, settings=settings, needed=needed, **values)]


def plan_tasks(measures: Any, n_neighbors: Any, size: int, data: Data) -> list[MeasureTask]:
    """Return the requested measures at each number of neighbors; raise if one does not say which value is better."""
    requested = measures
    if not isinstance(measures, str) and isinstance(measures, Sequence):
        requested = list(measures)
    variables = data.variables()
    plan = plan_measures(requested, check_k(n_neighbors, size)[0], size, variables, {})
    areas = {task.card.area_of for task in plan}
    tasks = [task for task in plan if not (task.card.curve and task.name in areas)]
    for task in tasks:
        if task.card.curve or task.card.level == "algorithm":
            received = f"{task.name!r}, which {'is a curve' if task.card.curve else 'is a measure of the method'}"
            raise InputError("measures", "must have one value for an embedding", received, "Name another measure.")
        if task.card.direction not in ("higher", "lower"):
            received = f"{task.name!r}, which only describes"
            raise InputError("measures", "must have a better end", received, "Name another measure.")
        task.card.check_metric(data.metric)
        for variable, values in variables.items():
            if variable in task.card.needs and values is None:
                hint = "Pass labels=." if variable == "labels" else "Name another measure."
                raise InputError("measures", f"must not need {variable} where there are none", repr(task.name), hint)
    if not tasks:
        raise InputError("measures", "must name at least one measure", describe(measures), "Pass 'r_nx_auc'.")
    return tasks


def _data_at(data: Data, rows: IntArray | None) -> Data:
    """Return the data at some points, with their labels, batches and latent variables."""
    if rows is None:
        return data
    vectors = {
        name: None if vector is None else replace(vector, codes=vector.codes[rows])
        for name, vector in (("labels", data.labels), ("batch", data.batch), ("groups", data.groups))
    }
    latent = None if data.latent is None else data.latent[rows]
    return replace(data, table=take(data.X, rows, data.metric), latent=latent, ids=None, **vectors)


def compared_settings(values: FloatArray, reference: Sequence[int]) -> list[int]:
    """Return the settings that are compared: with a value in every replicate, and embeddings that are not the data."""
    return [h for h in range(len(values)) if np.isfinite(values[h]).all() and h not in reference]


def setting_rows(
    task: MeasureTask,
    values: FloatArray,
    share: float,
    level: float,
    failures: list[list[Note]],
    reference: Sequence[int] = (),
) -> list[dict[str, Any]]:
    """Return the rows of one measure: mean and interval of each setting, and whether it is in the best set.

    Parameters
    ----------
    task : the measure
    values : (H, R) values of settings and replicates; NaN where a run failed
    share : variance of the mean over replicates, as a share of the variance over replicates
    level : confidence level
    failures : for each setting, the reasons why values are missing
    reference : settings whose embeddings are the data; they are not compared
    """
    R = values.shape[1]
    sign = 1.0 if task.card.direction == "higher" else -1.0
    compared = compared_settings(values, reference)
    rows: list[dict[str, Any]] = []
    for h, (setting_values, reasons) in enumerate(zip(values, failures, strict=True)):
        finite = setting_values[np.isfinite(setting_values)]
        row: dict[str, Any] = {"mean": float(finite.mean()) if len(finite) else math.nan, "se": math.nan}
        row |= {"conf_low": math.nan, "conf_high": math.nan, "conf_level": level, "n_replicates": len(finite)}
        if len(finite) == R:
            row["se"] = math.sqrt(float(finite.var(ddof=1)) * share)
            ends = student_interval(row["mean"], row["se"], R - 1, task.card.bounds, level)
            row["conf_low"], row["conf_high"] = ends
        notes = [note("best.reference")] if h in reference else []
        notes += [note("sweep.failed", failed=R - len(finite), runs=R, first=reasons[0])] if reasons else []
        rows.append(row | {"in_best_set": pd.NA, "p_value": math.nan, "note": join_notes(notes)})
    if len(compared) == 1:
        rows[compared[0]]["note"] = join_notes([note("sweep.alone")])
    if len(compared) < 2:
        return rows
    covariance = np.cov(values[compared]) * share
    best = best_set(sign * values[compared].mean(axis=1), covariance, R - 1, 1 - level, None)
    for h, p, in_set, untested in zip(compared, best.p_value, best.in_set, best.untested, strict=True):
        if in_set and untested:
            rows[h]["note"] = join_notes([note("sweep.no_spread")])
        else:
            rows[h] |= {"p_value": float(p), "in_best_set": bool(in_set)}
    tested = [h for h in compared if rows[h]["in_best_set"] is not pd.NA]
    if len(tested) == 1 and rows[tested[0]]["in_best_set"]:  # there is no other tested setting
        rows[tested[0]] |= {"p_value": math.nan, "in_best_set": pd.NA, "note": join_notes([note("sweep.alone")])}
    return rows
