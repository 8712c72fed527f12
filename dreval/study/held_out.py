"""Held-out fidelity: embed one part of the measurements, and evaluate the embedding on the other part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_float, check_int, keywords_checked, keywords_of_anndata
from dreval._random import root_seed, stream
from dreval.errors import DrevalError
from dreval.evaluation.plan import MeasureTask
from dreval.evaluation.rows import views_for
from dreval.evaluation.uncertainty import task_values
from dreval.geometry.blocks import View
from dreval.inference.best_set import best_set
from dreval.inference.intervals import beyond_rounding, jackknife_covariance
from dreval.inference.permutation import permutation_null
from dreval.inference.rerun_input import CALLER_NAMES, RerunInput, check_can_rerun, open_case
from dreval.inference.reruns import Runner
from dreval.inference.splitting import NEEDED, MeasurementSplit, MeasurementSplits, plain_split, read_split
from dreval.inputs.data import Data, as_data
from dreval.inputs.variables import warn_of_guesses
from dreval.measures.core import chance_value
from dreval.measures.methods import make_record, method_measure
from dreval.records.held_out import HeldOutFidelity, best_setting, held_out_frame, values_of_best
from dreval.records.notes import Note, note
from dreval.records.provenance import reproducing_call
from dreval.registry import METHODS
from dreval.study.sweep import (
    MAX_ALL_POINTS,
    D,
    EmbeddedSettings,
    MethodSetting,
    compared_settings,
    embed_settings,
    method_options,
    plan_tasks,
    read_grid,
    read_settings,
    setting_rows,
    views_of_maps,
    with_table,
)

MIN_SPLITS = 3
MAX_PERMUTED_POINTS = 300  # points of the test against chance
PARTS = ("train", "held_out")


def split_measurements(
    X: Any,
    kind: str = "columns",
    *,
    fraction: float = 0.5,
    sigma: Any = None,
    dispersion: Any = None,
    size: Any = None,
    second: Any = None,
    split: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> MeasurementSplit:
    r"""Split the measurements of every point into two parts that are independent, given the signal.

    With the share e = ``fraction`` of the information in the first part :math:`X_1`, and :math:`X_2 = X - X_1`:

    - "poisson": :math:`X_1 \sim \text{Binomial}(X, e)`.
    - "negative_binomial", with the variance :math:`\mu + \phi \mu^2` and :math:`b = 1 / \phi`:
      :math:`X_1 \sim \text{BetaBinomial}(X, e b, (1 - e) b)`.
    - "binomial", X successes of N trials: :math:`X_1` are the successes in e N of the trials (hypergeometric).
    - "gaussian", with noise of standard deviation :math:`\sigma`:
      :math:`X_1 = e X + \sqrt{e (1 - e)} \sigma Z`, Z from N(0, 1).
    - "replicate": X and the ``second`` measurement of the same points.
    - "columns": random halves of the columns. Near-duplicates (correlation of .95 or more, directly or through others)
      stay in one half, since they may share their noise.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The measurements; rows are points. Counts must be raw counts.
    kind : {"columns", "poisson", "negative_binomial", "binomial", "gaussian", "replicate"}, default "columns"
        How they are split.
    fraction : float, default 0.5
        Share e of the information (of "columns": of the columns) in the first part.
    sigma : float, (p,) array or (p, p) array
        Of "gaussian": the standard deviation of the noise, for all or for each column, or its covariance matrix.
    dispersion : float or (p,) array
        Of "negative_binomial": :math:`\phi`, as DESeq2 and edgeR have it; scvi-tools and R's ``MASS`` have
        :math:`\theta = 1 / \phi`.
    size : int or (p,) array
        Of "binomial": the number N of trials; e N must be an integer.
    second : (n, p) array
        Of "replicate": the second measurement.
    split : int, default 0
        Number of the split: others are drawn independently.
    random_state : int, Generator or None, default None
        Seed. A split depends on it and on its number only.

    Returns
    -------
    MeasurementSplit
        ``first``, ``second``, ``first_columns``, ``second_columns``. The parts sum to X, and have means e and 1 - e
        times its mean; divide by e and 1 - e for its scale. Parts of "columns" and "replicate" are measurements as
        they are.

    Raises
    ------
    InputError
        If X does not hold what the kind needs, or a parameter is missing, invalid, or belongs to another kind.

    See Also
    --------
    held_out_fidelity : embeds the first part and evaluates the embedding on the second one.

    Notes
    -----
    The parts are independent if the noise is of the kind that is passed. If counts are negative binomial and divided as
    Poisson counts, the parts have the covariance :math:`e (1 - e) \phi \mu^2`; if sigma is too small or too large, they
    have the covariance :math:`e (1 - e) (\sigma_0^2 - \sigma^2)`, with the true :math:`\sigma_0`. Normalization before
    the split makes the parts dependent. Cost: O(n p) time and memory; of "columns" O(min(n, 2000) p^2) time for the
    correlations.

    References
    ----------
    Neufeld, Dharamshi, Gao and Witten (2024), Data thinning for convolution-closed distributions, *JMLR* 25.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> counts = np.random.default_rng(0).poisson(8.0, size=(5, 4))
    >>> parts = dreval.split_measurements(counts, "poisson", random_state=0)
    >>> bool((parts.first + parts.second == counts).all())
    True
    """
    try:
        data = as_data(X)
    except DrevalError as error:
        raise error.named(CALLER_NAMES) from error.__cause__
    warn_of_guesses(data.notes, CALLER_NAMES)
    parameters = {"sigma": sigma, "dispersion": dispersion, "size": size, "second": second}
    splits = MeasurementSplits.of(data.dense(), kind, fraction, parameters, root_seed(random_state))
    return splits.parts(check_int(split, "split", low=0))


@method_measure(
    symbol="H",
    title="Held-out fidelity",
    question="How faithful is the embedding to measurements that it has not seen?",
    warning="The embedding shows nothing that new measurements confirm",
    share="of the distance from chance level to a perfect embedding of the held-out measurements",
    goals=("method",),
    needs=("method", "features"),
    direction="higher",
    bounds=(-1.0, 1.0),
    best_is_attainable=False,
    chance="that of the measure, for the area under R_NX 0",
    parameters={"kind": "columns", "measures": "r_nx_auc", "fraction": 0.5, "n_splits": 10, "n_components": None},
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution="The held-out part is noisy, too: its value is below the fidelity to the signal, and is for comparisons. "
    "An optimism says that a part of the fidelity is fit to noise, never that the usual order of embeddings is wrong.",
    cost="For H settings and R splits 2 H R runs of the method, and 2 R + 1 passes over the data, O(n^2 p) time each.",
    reference="@neufeld2024, @lin2024.",
)
@partial(keywords_checked, elsewhere=keywords_of_anndata("held_out_fidelity", "umap.UMAP()"))
def held_out_fidelity(
    X: Any,
    source: Any,
    kind: str = "columns",
    *,
    measures: str | Sequence[str] = "r_nx_auc",
    fraction: float = 0.5,
    n_splits: int = 10,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
    prepare: Any = None,
    sigma: Any = None,
    dispersion: Any = None,
    size: Any = None,
    second: Any = None,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    n_resamples: int = 99,
    alpha: float = 0.05,
    metric: str = "euclidean",
    labels: Any = None,
    ids: Any = None,
    header: bool | Literal["auto"] = "auto",
    journal: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> HeldOutFidelity:
    r"""Measure how faithful an embedding is to measurements that it has not seen, and how much was fit to noise.

    The usual measures compare an embedding with the same noisy numbers that it was made from. Here the measurements of
    every point are split into two parts that are independent given the signal (``split_measurements``). The method
    embeds the first part :math:`X_1`; the measure compares this embedding :math:`Y_1` with both parts:

    .. math:: \text{held out} = m(X_2, Y_1), \qquad \text{optimism} = m(X_1, Y_1) - m(X_2, Y_1),

    each a mean over R random splits. An embedding of noise alone has a held-out value at chance level.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The measurements; rows are points. For kinds of counts the raw counts.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        The method; coordinates cannot be re-run.
    kind : {"columns", "poisson", "negative_binomial", "binomial", "gaussian", "replicate"}, default "columns"
        How measurements are split; see ``split_measurements``. "columns" needs no knowledge of the noise, and asks
        whether *other* columns agree.
    measures : str or list of str, default "r_nx_auc"
        Measures that say which value is better. The first one decides.
    fraction : float, default 0.5
        Share of the information in the first part. There is an optimism at 0.5 only, where both parts are equally
        noisy.
    n_splits : int, default 10
        Number R of splits, at least 3.
    param_grid : dict of option to list, or list of such dicts, optional
        Settings of the method, which are compared on the same splits.
    prepare : callable or transformer, optional
        What is done with a part before it is embedded or compared (logarithm, scaling, PCA), fitted on the first part
        alone: an object with ``fit`` and ``transform``; a function of the first part that returns the function for
        both; or a function of one table, which gets each part alone. Parts are passed on the scale of X (divided by e
        and 1 - e).
    sigma : float, (p,) array or (p, p) array
        Of "gaussian": the standard deviation of the noise, or its covariance matrix.
    dispersion : float or (p,) array
        Of "negative_binomial": the dispersion phi.
    size : int or (p,) array
        Of "binomial": the number of trials.
    second : (n, p) array
        Of "replicate": the second measurement.
    n_components : int, optional
        Number of dimensions; by default that of the source, else 2.
    n_neighbors : int, list of int or "auto"
        Neighbors of the measures that have them.
    n_resamples : int, default 99
        Permutations of the rows of the second part, for the test against chance; 0 for none.
    alpha : float, default 0.05
        One minus the level of the best sets and intervals.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming"}
        Distance in the data, for the measures.
    labels : (n,) array, column of X by name, or path
        Class of each point, for measures of labels and supervised methods.
    ids : (n,) array or column of X by name, optional
        Names of the points; not used as a feature.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``.
    journal : path, optional
        A file that stores each embedding as soon as it is finished; a killed run continues from it.
    random_state : int, Generator or None, default None
        Seed: split r and its seed of the method depend on it and on r only.
    n_jobs : int, optional
        Processes (joblib); one by default, or those of an active ``joblib.parallel_config``. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    HeldOutFidelity
        ``float()`` of it is the held-out value, of a grid that of the best setting. ``tidy()`` has a row for each
        measure and setting, ``test_clusters(rule)`` tests clusters of the map, ``plot()`` draws the settings.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be re-run, or the data are distances.
    InputError
        If an argument is invalid, a parameter of the kind is missing, or the totals of counts differ without
        ``prepare``: differences of depth would be found as signal.
    MethodFailed
        If every run fails; the first reason is given.

    Warnings
    --------
    The held-out part is noisy, too: its value is below the fidelity to the signal, and is for comparisons. An optimism
    says that a part of the fidelity is fit to noise, never that the usual order of embeddings is wrong.

    See Also
    --------
    split_measurements : the parts themselves.
    sweep : ``over="split_measurements"`` has the best set of held-out values alone.
    noise_test : is there more than noise?
    out_of_sample : fidelity to new points, in place of new measurements of the same points.

    Notes
    -----
    *Two standard errors.* ``se`` is that over splits, :math:`s / \sqrt R`: it and the best set with R - 1 degrees of
    freedom are for *these data*, since all splits divide the same numbers. ``se_points`` is for the *population* of
    points: the delete-one jackknife over points of the mean over splits, with the embeddings held fixed. In 200
    simulated data sets (80 points, 20 columns, fixed linear maps, 10 splits) a t interval over splits covered the
    population's held-out value, difference of two maps and optimism in .42, .455 and .885, the jackknife over points in
    .965, .965 and .99.

    *Chance.* The rows of the second part are permuted in the first split: :math:`p = (b + 1) / (m + 1)`. It uses 300
    random points if there are more, and is not adjusted over settings.

    *Usual.* The method also embeds the whole data with R seeds (once where seeds change nothing), and the measure
    compares these embeddings with the data that they show. ``in_usual_set`` is the best set by these values: over
    seeds for these data, or over points where seeds change nothing.

    Cost: 2 H R runs of the method for H settings (H R + H where seeds change nothing) and 2 R + 1 passes over the
    data, O(n^2 p) time each; of more than 20,000 points embeddings are evaluated at 2000 of them. Ten splits of t-SNE
    cost 1.4 times twenty embeddings at 400 points and 1.1 times at 1000 (first parts are noisier, and take longer).
    Memory: H R embeddings, with their neighbors where a measure reads them.

    Range: that of the measure, for the area under R_NX -1 to 1; higher is better.

    References
    ----------
    Neufeld, Dharamshi, Gao and Witten (2024), Data thinning for convolution-closed distributions, *JMLR* 25. Lin and
    Fukuyama (2024), Calibrating dimension reduction hyperparameters in the presence of noise, *PLoS Computational
    Biology* 20.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 30)) + rng.normal(size=(80, 30))
    >>> result = dreval.held_out_fidelity(X, "pca", "gaussian", sigma=1.0, random_state=0)
    >>> result.tidy()[["held_out", "train", "optimism", "p_value"]].round(2)
       held_out  train  optimism  p_value
    0      0.31   0.46      0.15     0.01
    """
    grid = read_grid(param_grid, n_components)
    case = open_case(
        X, source, labels, ids, random_state, metric=metric, header=header, options=method_options(grid[0]), noted=True
    )
    check_can_rerun(case)
    split = {"kind": kind, "fraction": fraction, "prepare": prepare, "sigma": sigma, "dispersion": dispersion}
    split |= {"size": size, "second": second}
    splits = read_split(case.data, split, case.root)
    settings = _settings(case, source, grid, n_components)
    R = check_int(n_splits, "n_splits", low=MIN_SPLITS)
    B = check_int(n_resamples, "n_resamples", low=0)
    level = 1 - check_float(alpha, "alpha", low=1e-6, high=0.5)
    tasks = plan_tasks(measures, n_neighbors, case.data.n, case.data)
    with Runner(journal, n_jobs, progress) as runner:
        held = embed_settings(case, settings, "split_measurements", R, runner, splits)
        fixed = all(setting.source.reseed_reason is not None for setting in settings.values())
        is_recorded = case.source.recording is not None  # by its run on the data, with one seed
        usual = embed_settings(
            case, settings, "data" if is_recorded else "seeds", 1 if fixed or is_recorded else R, runner, splits
        )
    comparison = _Comparison(case, splits, tasks, held, usual, level, B, n_jobs)
    input_notes = () if isinstance(X, Data) else (*case.data.notes, *case.source.notes)  # an evaluation has them
    rows, values = comparison.rows()
    options = [setting.options for setting in settings.values()]
    table = held_out_frame(rows, options * len(tasks))
    first = values_of_best(table.iloc[: len(settings)])
    arguments: dict[str, Any] = {"kind": splits.kind, "measures": measures, "fraction": splits.fraction, "n_splits": R}
    arguments |= {"param_grid": param_grid, "n_components": n_components, "n_neighbors": n_neighbors}
    arguments |= {"n_resamples": B, "alpha": alpha, "metric": metric, "header": header}
    passed = plain_split({name: split[name] for name in ("prepare", *NEEDED.values()) if split[name] is not None})
    record: HeldOutFidelity = make_record(
        held_out_fidelity,
        case,
        first["value"],
        {**arguments, **passed},
        kind=HeldOutFidelity,
        parts=first["parts"],
        chance=first["chance"],
        table=table,
        n_runs=R,
        notes=(*input_notes, *comparison.notes()),
        settings=tuple(options),
        values=pd.DataFrame(values),
        maps={str(h): tuple(Ys) for h, Ys in enumerate(held.embeddings.values())},
        left_out=comparison.evaluated["held_out"].left_out[0, best_setting(table.iloc[: len(settings)])],
        _call=_call(case, arguments, passed, split),
        _splits=splits,
    )
    return record


def _settings(
    case: RerunInput, source: Any, grid: Sequence[dict[str, Any]], n_components: int | None
) -> dict[str, MethodSetting]:
    """Return the settings of the grid by key, or the single setting of a method."""
    if len(grid) > 1 or grid[0]:
        return read_settings(case, source, grid, n_components)
    d = check_int(n_components or case.source.default_components or 2, D, low=1)
    setting = MethodSetting({}, case.source, d)
    return {setting.key: setting}


def _call(case: RerunInput, arguments: Mapping[str, Any], passed: Mapping[str, Any], split: Mapping[str, Any]) -> str:
    """Return the call that repeats the analysis; tables and functions stand there by their names."""
    what = case.source.what
    variables = ["data", repr(what) if what in METHODS else what if what.isidentifier() else "source"]
    variables += [f"{name}={name}" for name, value in passed.items() if value is not split[name]]
    keywords = {**arguments, **{name: value for name, value in passed.items() if value is split[name]}}
    return reproducing_call(
        "dreval.held_out_fidelity", variables, {**keywords, "random_state": case.root}, held_out_fidelity
    )


@dataclass(frozen=True, eq=False)
class _Values:
    """Values of T measures at H settings in R runs, and the values without each point of their means over runs.

    ``values`` is (T, H, R), NaN where there is none; ``left_out`` is (T, H, n), NaN where a measure has no such values.
    """

    values: FloatArray
    left_out: FloatArray
    failures: dict[tuple[int, int], list[Note]]

    @classmethod
    def empty(cls, tasks: int, settings: int, runs: int, n: int, *, has_groups: bool) -> _Values:
        """Return values to be filled; there are none without each point where points come in groups."""
        left_out = np.full((tasks, settings, n), np.nan if has_groups else 0.0)
        return cls(np.full((tasks, settings, runs), np.nan), left_out, {})

    def fill(self, r: int, tasks: Sequence[MeasureTask], views: Mapping[int, View], weight: float) -> None:
        """Set the values of one run from the views of the settings; ``weight`` is that of its values without points."""
        for h, view in views.items():
            left_out = [_without_each(task, view) if weight else 0.0 for task in tasks]  # their pass gives the values
            for t, value in enumerate(task_values(view, tasks)):
                if isinstance(value, Note):
                    self.failures.setdefault((t, h), []).append(value)
                    continue
                self.values[t, h, r] = value
                self.left_out[t, h] += weight * left_out[t]

    def average_left_out(self) -> None:
        """Divide the sums of values without each point by the number of runs that have a value."""
        counts = np.isfinite(self.values).sum(axis=2)[:, :, None]
        with np.errstate(invalid="ignore"):
            np.divide(self.left_out, counts, out=self.left_out)


def _without_each(task: MeasureTask, view: View) -> Any:
    """Return the values without each point; NaN where the measure has none of all points."""
    if task.card.without is None or not task.card.smooth or len(view.rows) < view.n or "labels" in task.card.needs:
        return math.nan
    try:
        return task.card.without(view, **task.parameters)
    except DrevalError:
        return math.nan


@dataclass(frozen=True, eq=False)
class _Comparison:
    """The values of embeddings on the part that they show, on the other part, and on the whole data."""

    case: RerunInput
    splits: MeasurementSplits
    tasks: Sequence[MeasureTask]
    held: EmbeddedSettings
    usual: EmbeddedSettings
    level: float
    n_resamples: int
    n_jobs: int | None

    @cached_property
    def settings(self) -> list[str]:
        """Keys of the settings."""
        return list(self.held.embeddings)

    @cached_property
    def evaluated(self) -> dict[str, _Values]:
        """The values on the first part ("train"), on the second part ("held_out"), and of the whole data ("usual")."""
        n, runs = self.case.data.n, len(next(iter(self.held.embeddings.values())))
        shape, has_groups = (len(self.tasks), len(self.settings)), self.case.data.groups is not None
        evaluated = {name: _Values.empty(*shape, runs, n, has_groups=has_groups) for name in PARTS}
        for r in range(runs):
            maps = self._maps(self.held, r)
            for name, table in zip(PARTS, self.splits.prepared(r), strict=True):
                evaluated[name].fill(r, self.tasks, self._views(table, maps, r), 1.0)
        for name in PARTS:
            evaluated[name].average_left_out()
        n_usual, H = len(next(iter(self.usual.embeddings.values()))), len(self.settings)
        evaluated["usual"] = _Values.empty(*shape, n_usual, n, has_groups=has_groups)
        maps = {str(r * H + int(h)): Y for r in range(n_usual) for h, Y in self._maps(self.usual, r).items()}
        views = self._views(self.splits.prepared_table(), maps, 0)  # of all runs, in one pass over the data
        for r in range(n_usual):
            weight = 1.0 * (r == 0 and self._has_equal_usual)
            evaluated["usual"].fill(
                r, self.tasks, {h: views[r * H + h] for h in range(H) if r * H + h in views}, weight
            )
        return evaluated

    @property
    def _has_equal_usual(self) -> bool:
        """Whether all runs on the whole data give the same embeddings, so that these are compared over points."""
        return len(next(iter(self.usual.embeddings.values()))) == 1 or self.usual.equal_seeds

    def _maps(self, embedded: EmbeddedSettings, r: int) -> dict[str, FloatArray]:
        """Return the embeddings of one run by the number of the setting, without failed ones."""
        maps = {str(h): Ys[r] for h, Ys in enumerate(embedded.embeddings.values())}
        return {h: Y for h, Y in maps.items() if Y is not None}

    def _views(self, table: FloatArray, maps: Mapping[str, FloatArray], r: int) -> dict[int, View]:
        """Return the views of the settings for the comparison with a table."""
        leave_one = [task.k for task in self.tasks if task.card.without is not None and task.reads_neighbors]
        views = views_of_maps(self.case, self.tasks, with_table(self.case.data, table), maps, r, self.n_jobs, leave_one)
        return {int(h): view for h, view in views.items()}

    def rows(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return a row for each measure and setting, and a row for each of their splits."""
        rows, value_rows = [], []
        train, held, usual = (self.evaluated[name] for name in (*PARTS, "usual"))
        failed = list(self.held.failures.values())
        runs = held.values.shape[2]
        for t, task in enumerate(self.tasks):
            failures = [[*failed[h], *held.failures.get((t, h), [])] for h in range(len(self.settings))]
            over_splits = setting_rows(task, held.values[t], 1 / runs, self.level, failures)
            population, in_usual = self._population_set(t, held), self._usual_set(t, usual)
            chances, p_values = self._against_chance(t)
            for h, row in enumerate(over_splits):
                columns = {"measure": task.name, "parameters": task.parameters_text}
                columns |= {"held_out": row["mean"], "se": beyond_rounding(row["se"], row["mean"])}
                columns |= {key: row[key] for key in ("conf_low", "conf_high", "conf_level")}
                columns |= {"se_points": _error_over_points(held.left_out[t, h])}
                columns |= self._optimism(task, train.values[t, h], held.values[t, h])
                columns["optimism_se_points"] = math.nan
                is_paired = np.array_equal(np.isnan(train.values[t, h]), np.isnan(held.values[t, h]))
                if is_paired and not math.isnan(columns["optimism"]):
                    sign = 1.0 if task.card.direction == "higher" else -1.0
                    difference = sign * (train.left_out[t, h] - held.left_out[t, h])
                    columns["optimism_se_points"] = _error_over_points(difference)
                present = usual.values[t, h][np.isfinite(usual.values[t, h])]
                columns["usual"] = float(present.mean()) if len(present) else math.nan
                columns |= {"chance": chances[h], "p_value": p_values[h], "in_best_set": row["in_best_set"]}
                columns |= {"p_best": row["p_value"], "in_population_set": population[h], "in_usual_set": in_usual[h]}
                reason = row["note"] if failures[h] or len(self.settings) > 1 else ""
                rows.append({**columns, "n_splits": row["n_replicates"], "note": reason})
                both = zip(train.values[t, h], held.values[t, h], strict=True)
                keys = {"measure": task.name, "parameters": task.parameters_text, "setting": h}
                value_rows += [{**keys, "split": r, "train": a, "held_out": b} for r, (a, b) in enumerate(both)]
        return rows, value_rows

    def _optimism(self, task: MeasureTask, train: FloatArray, held: FloatArray) -> dict[str, float]:
        """Return the mean value on the first part, and the optimism with its standard error over splits."""
        is_complete = np.isfinite(train) & np.isfinite(held)
        row = {"train": float(train[is_complete].mean()) if is_complete.any() else math.nan}
        if self.splits.fraction != 0.5 or not is_complete.any():
            return row | {"optimism": math.nan, "optimism_se": math.nan}
        sign = 1.0 if task.card.direction == "higher" else -1.0
        gaps = sign * (train - held)[is_complete]
        se = float(gaps.std(ddof=1)) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
        return row | {"optimism": float(gaps.mean()), "optimism_se": beyond_rounding(se, train[is_complete])}

    def _population_set(self, t: int, part: _Values) -> list[Any]:
        """Return which settings are in the best set for the population of points, by the jackknife over points."""
        members: list[Any] = [pd.NA] * len(self.settings)
        compared = compared_settings(part.values[t], ())
        compared = [h for h in compared if np.isfinite(part.left_out[t, h]).all()]
        if len(compared) < 2:
            return members
        sign = 1.0 if self.tasks[t].card.direction == "higher" else -1.0
        covariance = jackknife_covariance(part.left_out[t, compared].T)
        means = sign * part.values[t, compared].mean(axis=1)
        result = best_set(means, covariance, self.case.data.n - 1, 1 - self.level, None)
        for h, in_set, untested in zip(compared, result.in_set, result.untested, strict=True):
            members[h] = pd.NA if untested and in_set else bool(in_set)
        return members

    def _usual_set(self, t: int, usual: _Values) -> list[Any]:
        """Return which settings are in the usual best set: over seeds, or over points where seeds change nothing."""
        if self._has_equal_usual:
            return self._population_set(t, usual)
        runs = usual.values.shape[2]
        rows = setting_rows(self.tasks[t], usual.values[t], 1 / runs, self.level, [[] for _ in self.settings])
        return [row["in_best_set"] for row in rows]

    def _against_chance(self, t: int) -> tuple[list[float], list[float]]:
        """Return the chance level of each setting on the second part of the first split, and p-values against it."""
        task, root, n = self.tasks[t], self.case.root, self.case.data.n
        chances, p_values = ([math.nan] * len(self.settings) for _ in range(2))
        table = self.splits.prepared(0)[1]
        views = self._views(table, self._maps(self.held, 0), 0)
        for h, view in views.items():
            if math.isnan(self.evaluated["held_out"].values[t, h, 0]):
                continue
            chances[h] = chance_value(task.function, view, task.parameters, root).value
            if not self.n_resamples:
                continue
            rows = np.arange(n)
            if n > MAX_PERMUTED_POINTS:
                rows = np.sort(stream(root, "points against chance").choice(n, self._permuted_points, replace=False))
            p_values[h] = self._permutation_p(task, table, view.Y, rows, h)
        return chances, p_values

    @property
    def _permuted_points(self) -> int:
        """Number of points of the test against chance: 300, or four neighborhoods if that is more."""
        return min(self.case.data.n, max(MAX_PERMUTED_POINTS, 4 * max(task.k for task in self.tasks)))

    def _permutation_p(self, task: MeasureTask, table: FloatArray, Y: Any, rows: Any, h: int) -> float:
        """Return the p-value of one setting: of the value on the second part with its rows permuted."""
        data, sign = with_table(self.case.data, table), 1.0 if task.card.direction == "higher" else -1.0
        coordinates = np.asarray(Y)[rows]

        def statistic(orders: Any) -> FloatArray:
            maps = {str(b): coordinates[order] for b, order in enumerate(orders)}
            views = views_for([task], data, maps, part=rows, seed=self.case.root, n_jobs=self.n_jobs)
            values = [task_values(views[str(b)], [task])[0] for b in range(len(orders))]
            return np.array([-math.inf if isinstance(value, Note) else sign * value for value in values])

        null = permutation_null(statistic, len(rows), self.n_resamples, self.case.root, "held out", h, n_jobs=1)
        return float(null.p_value)

    def notes(self) -> tuple[Note, ...]:
        """Return the notes on the split, on what the values mean, and on the runs."""
        data, held = self.case.data, self.evaluated["held_out"].values
        notes: list[Note] = [*self.splits.notes(), note("held_out.noisy")]
        if self.splits.fraction != 0.5:
            notes.append(note("held_out.fraction", fraction=self.splits.fraction))
        if np.isfinite(held).any() and not (np.ptp(held, axis=2) > 0).any():
            notes.append(note("held_out.same"))
        reason = "groups" if data.groups is not None else "anchors" if data.n > MAX_ALL_POINTS else "without"
        for t, task in enumerate(self.tasks):
            if np.isnan(self.evaluated["held_out"].left_out[t]).all():
                notes.append(note(f"held_out.{reason}", task.name * (len(self.tasks) > 1)))
        if len(self.settings) > 1:
            notes.append(note("held_out.usual", runs=self.evaluated["usual"].values.shape[2]))
        if self.n_resamples and data.n > self._permuted_points:
            notes.append(note("held_out.drawn", drawn=self._permuted_points, n=data.n))
        notes += [item.with_scope(task.name) for task in self.tasks for item in task.card.metric_notes(data.metric)]
        return tuple(notes)


def _error_over_points(left_out: FloatArray) -> float:
    """Return the standard error over points by the delete-one jackknife; NaN without values without each point."""
    if not np.isfinite(left_out).all():
        return math.nan
    return math.sqrt((len(left_out) - 1) * float(left_out.var()))
