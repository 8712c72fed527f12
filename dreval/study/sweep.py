"""The sweep: settings of one method over replicates, and those that are not distinguishable from the best."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
)
from dreval._random import stream, stream_seed
from dreval.errors import DrevalError, InputError, MethodFailed, UndefinedMeasure
from dreval.evaluation.plan import MeasureTask, plan_measures
from dreval.evaluation.rows import make_views, seen_by
from dreval.geometry.distances import take
from dreval.geometry.same_map import data_among
from dreval.inference.best_set import best_set
from dreval.inference.intervals import student_interval
from dreval.inference.reruns import VALUES, Found, Job, Reruns, failed_runs, open_case, runnable, with_settings
from dreval.inputs.analysis import analysis
from dreval.inputs.data import Data
from dreval.inputs.source import digest, equal_maps, identity
from dreval.inputs.source_kinds import Source
from dreval.journal.study import cell_key
from dreval.measures.core import answer
from dreval.measures.methods import CALLED
from dreval.records.answers import written_again
from dreval.records.notes import Note, joined, note, refusal
from dreval.records.sweep import Sweep, sweep_frame
from dreval.registry import METHODS

OVER = ("auto", "seeds", "halves")
LEAST = 3  # replicates
SMALLEST = 12  # points of which halves are taken
WIDE_CRITICAL = 2.0  # times the critical value of many replicates, beyond which replicates are few
MANY = 20_000  # points beyond which embeddings are evaluated at some of them
SCORED = 2000
D = "n_components"


@dataclass(frozen=True)
class _Setting:
    """One setting: its options as the grid has them, the source with them, and the number of components."""

    options: Mapping[str, Any]
    source: Source
    d: int

    @property
    def key(self) -> str:
        """What names its runs in a journal."""
        return cell_key({"source": identity(self.source), D: self.d})


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
def sweep(
    X: Any,
    source: Any,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    *,
    measures: str | Sequence[str] = "r_nx_auc",
    over: str = "auto",
    n_replicates: int = 5,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    alpha: float = 0.05,
    metric: str = "euclidean",
    labels: Any = None,
    ids: Any = None,
    header: bool | Literal["auto"] = "auto",
    store: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Sweep:
    r"""Settings of a method that are not distinguishable from the best: a set, not one winner.

    The method is run at each of H settings on each of R replicates, the same ones at all settings. With
    :math:`\theta_{hr}` the value of a measure at setting h and replicate r, higher being better,
    :math:`\bar\theta_h` its mean and :math:`s_{lh}` the standard deviation of :math:`\theta_{lr} - \theta_{hr}` over r,
    setting h is in the best set unless another is significantly better,

    .. math:: \max_l \frac{\bar\theta_l - \bar\theta_h}{c\, s_{lh}} > t_{R - 1,\, 1 - \alpha / (H - 1)},

    with :math:`c^2 = 1 / R` for seeds and :math:`1 + 1 / R` for halves. The best setting is in the set with
    probability at least :math:`1 - \alpha`.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components, ...), or name of a bundled method
        The method, which is run with the options of the grid.
    param_grid : dict of option to list, or list of such dicts
        The settings: every combination of a dict. ``n_components`` may be one of the options.
    measures : str or list of str
        Measures of the embeddings that have a better end; the first decides. By default the area under R_NX, which
        has no number of neighbors to be chosen.
    over : {"auto", "seeds", "halves"}
        The replicates. "seeds": all points, other seeds; the set is for these data. "halves": random halves of the
        points, each with a seed of its own; the set is for the population, at n / 2 points. "auto": seeds where they
        matter, else halves.
    n_replicates : int
        Number R of replicates, at least 3. With more seeds the set is smaller; with more halves only a little.
    n_components : int, optional
        Number of dimensions; by default that of the source, else 2.
    n_neighbors : int, list of int or "auto"
        Neighbors of the measures that have them, the same at all settings; not an option of the method.
    alpha : float
        One minus the level of the sets and intervals.
    metric : str
        Distance in the data, for the measures; methods get it as in ``Evaluation``.
    labels : (n,) array, column of X by name, or path
        Class of each point, for measures of labels and supervised methods.
    ids : (n,) array or column of X by name, optional
        Names of the points; not used as a feature.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``.
    store : path, optional
        A file in which each embedding is kept as soon as it is finished: a killed sweep goes on where it stopped, and
        one with more settings, replicates or other measures runs only what is missing.
    random_state : int, Generator or None, default None
        Seed: replicate r depends on it and on r only.
    n_jobs : int, optional
        Processes (joblib); one by default, or what an active ``joblib.parallel_config`` says. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    Sweep
        ``summary()`` begins with the answer; ``best_set()`` gives the settings; ``tidy()`` has one row per measure and
        setting: mean, interval, ``in_best_set``, ``p_value``. A setting of which a run fails is not judged; its reason
        stands in ``note``, and the others lose nothing.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run again, or ``over="seeds"`` and seeds change nothing.
    UnknownName
        An unknown option or measure; the nearest is named.
    InputError
        If an argument breaks its rule, or the grid has fewer than two settings.
    MethodFailed
        If every run fails; the first reason is given.

    Warnings
    --------
    A setting in the set is not shown to be good, nor to be equal to the best: it is not shown to be worse, by this
    measure. The value of the best setting is too optimistic, since it was chosen for its size: report it on other
    points.

    See Also
    --------
    Results.ranking : the same set among embeddings that are there already.
    noise_test : is there more than noise, at any setting?
    Study : methods on several data sets.

    Notes
    -----
    Each setting is compared with all others, not with the observed best, which is chosen from the same values (Hsu
    1981). The critical value is Student's, by Bonferroni over the H - 1 others: the quantile of the normal distribution
    keeps the best of two equal settings in .91 instead of .95 at five seeds, and draws from one covariance that is
    estimated from few replicates keep the best of many too rarely.

    Halves of the same points vary about the value of these points about as much as that value varies about the
    population's; so their spread is not divided by R. The mean of R of them adds 1 / R.

    Cost: H R runs of the method (halves cost less each), and R passes over the data, each with H embeddings. Above
    20,000 points embeddings are evaluated at 2000 of them. Memory: that of one run in each process, H R embeddings.

    References
    ----------
    Hsu (1981), Simultaneous confidence intervals for all distances from the "best", Ann. Stat. 9, 1026-1034.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
    >>> found = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
    >>> found.best_set()
    [{'n_neighbors': 12}, {'n_neighbors': 8}]
    """
    grid = [{key: _plain(value) for key, value in one.items()} for one in with_settings(param_grid)]
    if n_components is not None and any(D in one for one in grid):
        cure = f"Leave out {D}=, or the option of the grid."
        raise InputError(D, "must be set once", "an argument and an option of param_grid", cure)
    options = [{key: value for key, value in one.items() if key != D} for one in grid]
    if isinstance(source, Source) and source.recording is not None:
        rule = "must be able to run with other settings"
        cure = (
            "Collect a folder for each setting, and pass all to Evaluation as embeddings: ranking() has the best set."
        )
        raise UndefinedMeasure("source", rule, "runs that are recorded with one", cure)
    case = open_case(X, source, labels, ids, random_state, metric=metric, header=header, options=options[0], noted=True)
    runnable(case)
    data, root, n = case.data, case.root, case.data.n
    if data.metric == "precomputed":
        cure = "Pass the data themselves, with a metric by name."
        raise UndefinedMeasure("metric", "must not be 'precomputed' for a sweep", "distances only", cure)
    settings: dict[str, _Setting] = {}
    for own, given in zip(grid, options, strict=True):
        made = open_case(data, source, None, None, root, options=given, noted=True).source
        d = check_int(own.get(D, n_components or made.default_components or 2), D, low=1)
        one = _Setting(own, made, d)
        settings.setdefault(one.key, one)
    if len(settings) < 2:
        got, cure = f"{len(settings)}", "Name several values of an option, as {'n_neighbors': [5, 15, 50]}."
        raise InputError("param_grid", "must hold at least two settings", got, cure)
    R, level = check_int(n_replicates, "n_replicates", low=LEAST), 1 - check_float(alpha, "alpha", low=1e-6, high=0.5)
    asked = over = check_one_of(over, OVER, "over", aliases=True)
    seeded = any(one.source.reseed_reason is None for one in settings.values())
    if over == "auto":
        over = "seeds" if seeded else "halves"
    elif over == "seeds" and not seeded:
        rule, cure = "must not be 'seeds' where seeds change nothing", "Use over='halves'."
        raise UndefinedMeasure("over", rule, str(case.source.reseed_reason), cure)
    if over == "halves" and n < SMALLEST:
        cure = "Use more points, or over='seeds' if the method has a seed."
        raise InputError("X", f"must have at least {SMALLEST} points for halves", f"{n} points", cure)
    size = n if over == "seeds" else n // 2
    tasks = _tasks(measures, n_neighbors, size, data)

    rows = [
        None if over == "seeds" else np.sort(stream(root, "half", r).choice(n, size, replace=False)) for r in range(R)
    ]
    cells = {f"{key}, replicate {r}": (one, r) for r in range(R) for key, one in settings.items()}

    def job(name: str) -> Job:
        one, r = cells[name]
        part = rows[r]
        return Job(data.X if part is None else data.X[part], stream_seed(root, "sweep", r), part, one.source, one.d)

    recipe = {"study": "sweep", "over": over, "source": [case.source.kind, case.source.what], D: None}
    with Reruns(case, 2, recipe, _itself, store, n_jobs, progress) as runs:
        found = dict(zip(cells, runs.all("settings", list(cells), job), strict=True))
    lost: dict[str, list[Note]] = {key: [] for key in settings}  # why runs failed
    for name, one in found.items():
        if one["reason"] is not None:
            lost[name.split(",")[0]].append(one["reason"].named(CALLED))
    reasons = [reason for some in lost.values() for reason in some]
    if len(reasons) == len(found):
        got, cure = failed_runs(reasons, "Run the method alone with one of the settings to see where.")
        raise MethodFailed(case.source.argument, "must give an embedding", got, cure).named(CALLED)

    every = [[found[f"{key}, replicate {r}"].get(VALUES) for r in range(R)] for key in settings]
    fixed = over == "seeds" and all(Y is not None and equal_maps(Y, maps[0]) for maps in every for Y in maps)
    if fixed and asked == "auto" and n >= SMALLEST:  # it takes a seed and has no use for it
        given = {"measures": measures, "n_replicates": R, "n_components": n_components, "n_neighbors": n_neighbors}
        given |= {
            "labels": labels,
            "ids": ids,
            "alpha": alpha,
            "metric": metric,
            "header": header,
            "store": store,
            "random_state": root,
        }
        found_halves: Sweep = sweep(X, source, param_grid, over="halves", n_jobs=n_jobs, progress=progress, **given)
        return found_halves

    values = np.full((len(tasks), len(settings), R), np.nan)
    undefined: dict[tuple[int, int], list[Note]] = {}
    reference, parts = set(settings), [_some(data, part) for part in rows]
    for r, part in enumerate(parts):
        embedded = {key: found[f"{key}, replicate {r}"].get(VALUES) for key in settings}
        embedded = {key: Y for key, Y in embedded.items() if Y is not None}
        reference -= {*embedded} - {*data_among(part, embedded)}
        anchors = np.sort(stream(root, "anchors", r).choice(size, SCORED, replace=False)) if size > MANY else None
        views = make_views(part, embedded, tasks, seed=root, n_jobs=n_jobs, rows=anchors) if embedded else {}
        for h, key in enumerate(settings):
            for t, task in enumerate(tasks) if key in views else ():
                try:
                    values[t, h, r] = answer(task.thing, seen_by(task, views[key]), task.parameters).value
                except DrevalError as error:
                    undefined.setdefault((t, h), []).append(refusal(error))
                if math.isnan(values[t, h, r]) and (t, h) not in undefined:
                    undefined[t, h] = [note("best.no_value")]

    table, long = [], []
    data_at = [h for h, key in enumerate(settings) if key in reference and len(lost[key]) < R]
    for t, task in enumerate(tasks):
        failures = [[*lost[key], *undefined.get((t, h), [])] for h, key in enumerate(settings)]
        rows_of = _judged(task, values[t], 1 / R if over == "seeds" else 1 + 1 / R, level, failures, data_at)
        for h, row in enumerate(rows_of):
            table.append({"measure": task.name, "parameters": task.words, **row})
            long += [
                {"measure": task.name, "parameters": task.words, "setting": h, "replicate": r, "value": values[t, h, r]}
                for r in range(R)
            ]
    notes: list[Note] = [*data.notes, *case.source.notes]
    notes += [note("sweep.same_seeds")] if fixed else []
    notes += [note("sweep.seeds") if over == "seeds" else note("sweep.halves", half=size)]
    judged: dict[int, list[str]] = {}  # the measures by which so many settings are judged
    for t, task in enumerate(tasks):
        judged.setdefault(len(_judged_places(values[t], data_at)), []).append(task.name)
    for count, measured in judged.items():
        notes += [one.within(", ".join(measured) * (len(judged) > 1)) for one in _few_replicates(R, count, 1 - level)]
    notes += [note("sweep.each", measures=len(tasks), level=level)] if len(tasks) > 1 else []
    alike = Counter(tuple(map(digest, maps)) for maps in every if all(Y is not None for Y in maps))
    notes += (
        [note("sweep.equal", equal=sum(alike.values()), made=len(alike))] if len(alike) < sum(alike.values()) else []
    )
    notes += [note("sweep.components")] if len({one.d for one in settings.values()}) > 1 else []
    notes += [note("sweep.drawn", drawn=SCORED, n=size)] if size > MANY else []
    notes += [one.within(task.name) for task in tasks for one in task.card.metric_notes(data.metric)]
    called = {"measures": measures, "over": over, "n_replicates": R, "n_components": n_components}
    called |= {"n_neighbors": n_neighbors, "alpha": alpha, "metric": metric}
    from dreval import __version__

    what = case.source.what
    words = ["data", repr(what) if what in METHODS else what if what.isidentifier() else "source", repr(param_grid)]
    return Sweep(
        settings=tuple(one.options for one in settings.values()),
        table=sweep_frame(table, [one.options for one in settings.values()] * len(tasks)),
        values=pd.DataFrame(long),
        over=over,
        alpha=1 - level,
        recipe={
            "n": n,
            "p": data.p,
            "source": what,
            "random_state": root,
            "parameters": {"param_grid": param_grid, **called},
            "call": written_again("dreval.sweep", words, {**called, "header": header, "random_state": root}, sweep),
            "versions": {"dreval": __version__, "numpy": np.__version__},
        },
        notes=tuple(dict.fromkeys(one.named(CALLED) for one in notes)),
    )


def _few_replicates(R: int, settings: int, alpha: float) -> list[Note]:
    """Return the note that replicates are few: the critical value is more than twice that of many replicates.

    By Student's t with R - 1 degrees of freedom against the normal distribution, both by Bonferroni over the settings.
    """
    from scipy.special import ndtri, stdtrit

    if settings < 2:
        return []
    share = 1 - alpha / (settings - 1)
    limit = float(ndtri(share))
    if stdtrit(R - 1, share) <= WIDE_CRITICAL * limit:
        return []
    needed = next(r for r in itertools.count(R) if stdtrit(r - 1, share) <= WIDE_CRITICAL * limit)
    critical, reached = (float(stdtrit(r - 1, share)) for r in (R, needed))
    values = {"critical": critical, "reached": reached, "limit": limit}
    return [note("sweep.few", replicates=R, settings=settings, needed=needed, **values)]


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python, so that settings print and compare as they were meant."""
    return value.item() if isinstance(value, np.generic) else value


def _itself(_: FloatArray, Y: FloatArray) -> Found:
    """The embedding of a run as its result: measures are computed afterwards, in one pass for all settings."""
    return {VALUES: Y}


def _tasks(measures: Any, n_neighbors: Any, size: int, data: Data) -> list[MeasureTask]:
    """The measures at each number of neighbors, in the order in which they were asked for; each has a better end."""
    wanted = measures if isinstance(measures, str) else list(measures) if isinstance(measures, Sequence) else measures
    known = data.variables()
    planned = plan_measures(wanted, check_k(n_neighbors, size)[0], size, known, {})
    areas = {task.card.area_of for task in planned}
    tasks = [task for task in planned if not (task.card.curve and task.name in areas)]
    for task in tasks:
        got = f"{task.name!r}, which {'is a curve' if task.card.curve else 'is a measure of the method'}"
        if task.card.curve or task.card.level == "algorithm":
            raise InputError("measures", "must have one value for an embedding", got, "Name another measure.")
        if task.card.direction not in ("higher", "lower"):
            rule, got = "must have a better end", f"{task.name!r}, which only describes"
            raise InputError("measures", rule, got, "Name another measure.")
        task.card.check_metric(data.metric)
        for word in (word for word, values in known.items() if word in task.card.needs and values is None):
            cure = "Pass labels=." if word == "labels" else "Name another measure."
            raise InputError("measures", f"must not need {word} where there are none", repr(task.name), cure)
    if not tasks:
        raise InputError("measures", "must name at least one measure", describe(measures), "Pass 'r_nx_auc'.")
    return tasks


def _some(data: Data, rows: IntArray | None) -> Data:
    """The data of some points, with what is known of them."""
    if rows is None:
        return data
    labels, batch = (None if one is None else replace(one, codes=one.codes[rows]) for one in (data.labels, data.batch))
    latent = None if data.latent is None else data.latent[rows]
    return replace(data, table=take(data.X, rows, data.metric), labels=labels, batch=batch, latent=latent, ids=None)


def _judged_places(values: FloatArray, reference: Sequence[int]) -> list[int]:
    """Return the settings that are compared: with a value in every replicate, and embeddings that are not the data."""
    return [h for h in range(len(values)) if np.isfinite(values[h]).all() and h not in reference]


def _judged(
    task: MeasureTask,
    values: FloatArray,
    share: float,
    level: float,
    failures: list[list[Note]],
    reference: Sequence[int] = (),
) -> list[dict[str, Any]]:
    """The rows of one measure, from its values (settings, replicates) and why some of them are missing.

    ``share`` of the variance over replicates is the variance of their mean. Settings in ``reference``, whose embeddings
    are the data, are not judged.
    """
    R = values.shape[1]
    sign = 1.0 if task.card.direction == "higher" else -1.0
    judged = _judged_places(values, reference)
    rows: list[dict[str, Any]] = []
    for h, (own, missing) in enumerate(zip(values, failures, strict=True)):
        known = own[np.isfinite(own)]
        row: dict[str, Any] = {"mean": float(known.mean()) if len(known) else math.nan, "se": math.nan}
        row |= {"conf_low": math.nan, "conf_high": math.nan, "conf_level": level, "n_replicates": len(known)}
        if len(known) == R:
            row["se"] = math.sqrt(float(known.var(ddof=1)) * share)
            ends = student_interval(row["mean"], row["se"], R - 1, task.card.bounds, level)
            row["conf_low"], row["conf_high"] = ends
        notes = [note("best.reference")] if h in reference else []
        notes += [note("sweep.failed", failed=R - len(known), runs=R, first=missing[0])] if missing else []
        rows.append(row | {"in_best_set": pd.NA, "p_value": math.nan, "note": joined(notes)})
    if len(judged) == 1:
        rows[judged[0]]["note"] = joined([note("sweep.alone")])
    if len(judged) < 2:
        return rows
    covariance = np.cov(values[judged]) * share
    got = best_set(sign * values[judged].mean(axis=1), covariance, R - 1, 1 - level, None)
    for h, p, kept, untested in zip(judged, got.p_value, got.kept, got.untested, strict=True):
        if kept and untested:
            rows[h]["note"] = joined([note("sweep.no_spread")])
        else:
            rows[h] |= {"p_value": float(p), "in_best_set": bool(kept)}
    tested = [h for h in judged if rows[h]["in_best_set"] is not pd.NA]
    if len(tested) == 1 and rows[tested[0]]["in_best_set"]:  # beside nothing that could be tested
        rows[tested[0]] |= {"p_value": math.nan, "in_best_set": pd.NA, "note": joined([note("sweep.alone")])}
    return rows
