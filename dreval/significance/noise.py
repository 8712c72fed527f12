"""Noise test: whether a method shows more of the data than of null data, and at which points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import unwrap
from typing import Any

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
    function_name,
    keywords_checked,
    keywords_of_anndata,
    resolve_alias,
)
from dreval._check_arrays import check_finite
from dreval._parallel import limit_threads, open_progress
from dreval._random import stream, stream_seed
from dreval.errors import DrevalError, InputError, UndefinedMeasure, UserCode
from dreval.geometry.view import make_view
from dreval.inference.adjustment import adjusted
from dreval.inference.permutation import clopper_pearson
from dreval.inference.rerun_input import (
    CALLER_NAMES,
    RerunInput,
    check_can_rerun,
    expand_grid,
    open_case,
    recorded_options,
)
from dreval.inference.reruns import Over, Replicates, Runner, failed_error, failed_note
from dreval.inputs.data import Data
from dreval.inputs.source import code_of, digest
from dreval.inputs.variables import warn_of_guesses
from dreval.measures.classes import members, silhouette_widths
from dreval.measures.clusters import clusters
from dreval.measures.core import answer
from dreval.records.notes import Note, note, note_from_error
from dreval.records.provenance import provenance
from dreval.records.tests import NoiseTest
from dreval.registry import MEASURES
from dreval.significance.base import test

NULLS = ("columns", "gaussian")
SILHOUETTE = "silhouette"
POINT_VARIABLES = frozenset({"labels", "latent", "batch", "target"})  # variables of points, which null data do not have
MAX_ALL_POINTS = 20_000  # of more points SCORED_POINTS are scored
SCORED_POINTS = 2000
KMEANS_STARTS = 10
EQUAL = 1e-12  # relative difference of scores that is rounding
MAX_CORRELATION = 1e-5  # of columns that count as uncorrelated: rounding, also of float32

HYPOTHESES = {
    "columns": "the columns of the data are independent",
    "gaussian": "the data are one Gaussian cloud",
}


@test(
    title="Noise test",
    variables="2",
    null=("permutation", "parametric_bootstrap"),
    nulls=NULLS,
    statistic="mean score",
    effect_size="z",
    needs=("method",),
    second="method",
    memory="columns",
    question="Is there more than noise: does the method show more of the data than of null data, and at which points?",
    cost="(R + 1) n_seeds runs of the method for each setting, and O(n^2 (p + d)) time for the score of each.",
    reference="@phipson2010 for p; null embeddings after @johnson2022 and @xia2024, clusters after @grabski2023.",
)
@partial(keywords_checked, elsewhere=keywords_of_anndata("noise_test", "umap.UMAP()"))
def noise_test(
    X: Any,
    source: Any,
    *,
    null: Any = "auto",
    measure: Any = "auto",
    n_clusters: int | None = None,
    n_replicates: int = 99,
    n_seeds: int = 1,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
    alpha: float = 0.05,
    metric: str = "euclidean",
    labels: Any = None,
    ids: Any = None,
    journal: Any = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> NoiseTest:
    r"""Test whether a method shows more of the data than it shows of null data, and at which points.

    The method is re-run, with the same settings and a new seed, on each of R null data sets. With
    :math:`s_{0i}` the score of point i in the embedding of the data, :math:`s_{ri}` in that of null data set r and
    :math:`\bar s` means over points,

    .. math:: p = \frac{1 + \#\{r : \bar s_r \ge \bar s_0\}}{R + 1}, \qquad
              p_i = \frac{1 + \#\{r : \max_j s_{rj} \ge s_{0i}\}}{R + 1}.

    The second, family-wise, is valid for all points at once if the data are noise. Which points are *distinguished from
    noise* is decided by compound e-values. With t the (R + 1)-th largest of all (R + 1) n scores of the data and the
    null data, and N the number of scores that reach t (R + 1 without ties),

    .. math:: e_i = \frac{(R + 1)\, n}{N} [s_{0i} \ge t],

    and the points with :math:`s_{0i} \ge t` are distinguished if there are at least :math:`N / ((R + 1) \alpha)` of
    them (:math:`1 / \alpha` without ties), and if :math:`p \le \alpha`; all other points are *not distinguished from
    noise*. Without ties at most R + 1 points are distinguished. If the data are noise, and data and null data are
    exchangeable, as with permuted columns, the e-values have the mean 1, and the probability that any point is
    distinguished is at most :math:`\alpha`; for other nulls nothing is guaranteed. Where :math:`p \le \alpha` points
    also have q: the pooled p-value :math:`(1 + \#\{(r, j) : s_{rj} \ge s_{0i}\}) / (1 + R n)`, adjusted by Benjamini
    and Hochberg, a plug-in estimate without a guarantee. A point that is distinguished from noise is not necessarily
    trustworthy.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        The method; coordinates cannot be re-run. Fix its settings before, not by looking at this test; for tools
        outside Python ``dreval.Protocol.collect`` gives a Source.
    null : {"auto", "columns", "gaussian"} or callable
        The null data. "columns": every column is permuted by itself; the hypothesis is that the columns are
        independent, and p is exact. "gaussian": drawn from one normal distribution with the mean and covariance of the
        data; the hypothesis is one *Gaussian* cloud, and p is approximate. A cloud with heavier tails is not Gaussian:
        one of t with 3 degrees of freedom is rejected in half of the samples. A function ``(X, rng)`` returns null
        data. "auto": "gaussian" where there is a number of clusters, otherwise "columns".
    measure : {"auto", "silhouette"}, name of a measure, or callable
        The score. "silhouette": silhouette widths of ``n_clusters`` clusters that k-means finds in each embedding, null
        ones included. A measure with a contribution of each point and without labels, such as "neighborhood_overlap";
        where lower is better its sign is changed. A function ``(X, Y)`` of data and embedding returns a number for each
        point, or one number; large ones are evidence against noise. "auto": "silhouette" where there is a number of
        clusters and ``null="columns"`` is not passed, otherwise "neighborhood_overlap".
    n_clusters : int, optional
        Number of clusters; by default that of the classes in ``labels``, if there are any.
    n_replicates : int
        Number R of null data sets; :math:`(R + 1) \alpha` should be a whole number.
    n_seeds : int
        Number of seeds with which each data set, null or not, is embedded; scores are means over them.
    n_components : int, optional
        Number of dimensions; by default that of the source, else 2.
    n_neighbors : int or "auto"
        Number of neighbors of a measure that has one.
    param_grid : dict of option to list, or list of such dicts, optional
        Settings of the method to compare: every combination is run on the same null data. The statistic is then the
        largest z over settings (mean and standard deviation over all R + 1 data sets), and p counts the choice. A
        setting at which the method fails on the data has no p; the others are not affected.
    alpha : float
        Level of the flags ``like_noise``; at least 1 / alpha points can be distinguished, or none.
    metric : str
        Distance in the data of a measure that has one, and of methods, as in ``Evaluation``.
    labels : (n,) array, column of X by name, or path, optional
        Classes; null data have none, so that only their number is used.
    ids : (n,) array or column of X by name, optional
        Names of the points; not used as a feature.
    journal : path, optional
        A file that stores each finished run, so that a killed test continues where it stopped.
    random_state : int, Generator or None, default None
        Seed of null data and of the method: null data set r and its seeds depend on it and on r only.
    n_jobs : int, optional
        Processes (joblib); one by default, or those of an active ``joblib.parallel_config``. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    NoiseTest
        ``p_value``, ``statistic`` (the mean score; of several settings the largest z), ``null_distribution``, and
        ``points``: score, family-wise p, e-value, q and the flag ``like_noise`` of each point, where a single setting
        has a score of points. ``plot("map")`` draws points that are not distinguished from noise hollow.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data, or needs labels.
    InputError
        If an argument is invalid, or ``null`` does not return data of the same shape.
    UnknownName
        An unknown measure.
    MethodFailed
        If the method fails on the data themselves (at all settings), or on all null data.

    Warnings
    --------
    The statistic must fit the question. One Gaussian cloud with correlated columns has p near 1 / (R + 1) against
    independent columns, by construction: that is structure, but no clusters. Neighborhood overlap is blind to clusters
    under the Gaussian null; the silhouette is blind to a curve.

    See Also
    --------
    stability : how much the embedding varies between re-runs.
    Evaluation.run : ``tests=["noise"]`` for each embedding that can be re-run.

    Notes
    -----
    The family-wise p has weak control only: it is valid for the claim that some point stands out, under the hypothesis
    that all points are noise. Of a coarse score, as the overlap of few neighbors, the largest value is often the same
    in all data sets, and this p is never small. The data are embedded again with a seed of the same stream as the null
    data, since an embedding chosen among many would not be exchangeable with theirs.

    Of the points with q <= alpha more than a share alpha may be noise: of 100 points, a fifth in one tight cluster and
    the others around the origin, .01 with the overlap and .77 with silhouette widths of two clusters, since the noise
    next to the cluster is then a cluster too (100 simulations each).

    Cost: (R + 1) ``n_seeds`` runs of the method for each setting, and of the score O(n^2 (p + d)) time for each; above
    20,000 points a measure is computed at 2000 of them. Memory: O(R n), and that of one run in each process.

    References
    ----------
    Johnson et al. (2022), EMBEDR; Xia et al. (2024), scDEED; Grabski et al. (2023), sc-SHC, ask the same of single
    methods. Phipson and Smyth (2010), Permutation p-values should never be zero. Wang and Ramdas (2022), False
    discovery rate control with e-values, J. R. Stat. Soc. B 84, 822-852.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(60, 8))
    >>> dreval.noise_test(noise, "pca", random_state=0).p_value > 0.05
    True
    >>> two = noise + 3 * (np.arange(60) % 2)[:, None]
    >>> result = dreval.noise_test(two, "pca", n_clusters=2, n_replicates=39, random_state=0)
    >>> result.extra["null"], round(result.p_value, 3), int(result.like_noise.sum())
    ('gaussian', 0.025, 20)
    """
    settings = expand_grid(param_grid)
    case = open_case(X, source, labels, ids, random_state, metric=metric, options=settings[0], noted=True)
    warn_of_guesses(() if case.data is X else case.data.notes, CALLER_NAMES)  # the record has those of the source
    other_cases = [
        open_case(case.data, source, None, None, case.root, options=options, noted=True) for options in settings[1:]
    ]
    arguments = {
        "null": null,
        "measure": measure,
        "n_clusters": n_clusters,
        "n_replicates": n_replicates,
        "n_seeds": n_seeds,
        "n_components": n_components,
        "n_neighbors": n_neighbors,
        "param_grid": param_grid,
        "alpha": alpha,
        "metric": metric,
    }
    design = _design(case, arguments)
    with open_progress(progress) as bar:
        bar.set_description(f"data and null data of {case.source.name}")
        bar.reset(total=len(settings) * (design.n_replicates + 1) * design.n_seeds)
        scores = _score_settings((case, *other_cases), design, lambda: Runner(journal, n_jobs, bar=bar))
    result = _statistics(scores, settings, design.level, design.score.rows)
    notes = [*case.source.notes]
    if labels is not None and design.uses_clusters:
        notes.append(note("noise.labels", classes=design.n_clusters))
    notes += _notes(case.data, design, scores, result, len(settings))
    return _record(case, design, scores, result, notes)


# The plan: the arguments, checked.


@dataclass(frozen=True, eq=False)
class _Design:
    """The null data, the score and the numbers of runs of a test; ``parameters`` are those that repeat it."""

    null: str
    draw: Callable[[int], FloatArray]
    score: _Score
    n_clusters: int | None
    uses_clusters: bool
    n_replicates: int
    n_seeds: int
    n_components: int
    level: float
    parameters: Mapping[str, Any]


def _design(case: RerunInput, arguments: Mapping[str, Any]) -> _Design:
    """Return the checked arguments of the test; recorded runs have their null data and numbers of runs."""
    check_can_rerun(case)
    if case.data.distances_only or case.data.metric == "geodesic":
        hint = "Pass the data themselves, with a metric by name."
        received = "distances only" if case.data.distances_only else "paths over a graph"
        raise UndefinedMeasure("metric", f"must not be {case.data.metric!r} for a noise test", received, hint)
    if case.source.supervised:
        requirement, hint = "must not need labels: null data have none", "Test a method that takes no labels."
        raise UndefinedMeasure(case.source.argument, requirement, case.source.what, hint)
    data, null_is_passed = case.data, arguments["null"] != "auto"  # by the caller, not by the export of recorded runs
    defaults = unwrap(noise_test).__kwdefaults__  # type: ignore[arg-type]
    recorded = {name: arguments[name] for name in ("null", "n_replicates", "n_seeds", "n_components")}
    passed = {name: value for name, value in recorded.items() if value != defaults[name]}
    used = {**arguments, **recorded_options("noise", recorded, case.source, passed)}
    check_int(used["n_replicates"], "n_replicates", low=1)
    check_int(used["n_seeds"], "n_seeds", low=1)
    level = check_float(used["alpha"], "alpha", low=1e-6, high=0.5)
    d = case.source.default_components
    if used["n_components"] is not None:
        d = check_int(used["n_components"], "n_components", low=1)
    if used["n_clusters"] is None and data.labels is not None:
        used["n_clusters"] = len(data.labels.classes)
    has_clusters = used["n_clusters"] is not None
    if has_clusters:
        check_int(used["n_clusters"], "n_clusters", low=2, high=data.n - 1)
    kind, draw = null_data("gaussian" if has_clusters else "columns", used["null"], data.X, case.root)
    if kind == "columns" and data.p == 1:
        also = "" if d == 1 else ", both with n_components=1"
        hint = f"Use null='gaussian' with n_clusters=, or a function{also}."
        raise InputError("X", "must have two columns or more for null='columns'", "one, whose rows are permuted", hint)
    uses_clusters = has_clusters and (kind != "columns" or not null_is_passed)
    default_score = SILHOUETTE if uses_clusters else "neighborhood_overlap"
    score = _score(used["measure"], default_score, used["n_clusters"], used["n_neighbors"], data, case.root)
    parameters = {**used, "null": used["null"] if null_is_passed else "auto", "alpha": level}
    counts = used["n_replicates"], used["n_seeds"], d or 2
    return _Design(kind, draw, score, used["n_clusters"], uses_clusters, *counts, level, parameters)


# The record of the test.


def _notes(data: Data, design: _Design, scores: _Scores, result: _Statistics, n_settings: int) -> list[Note]:
    """Return the notes on null data, scored points, resolution of p, failed runs and the meaning of p."""
    kind, n_replicates, level, score = design.null, design.n_replicates, design.level, design.score
    notes = [note(f"noise.{kind}")] if kind in NULLS else []
    if kind == "columns" and _are_uncorrelated(data.X):
        notes.append(note("noise.uncorrelated"))
    if kind == "gaussian" and data.p >= data.n:
        notes.append(note("noise.wide", n=data.n, p=data.p))
    if score.rows is not None:
        notes.append(note("noise.drawn", drawn=SCORED_POINTS, n=data.n))
    reached = (n_replicates + 1) * level
    if abs(reached - round(reached)) > 1e-9 or reached < 1:
        notes.append(note("noise.resolution", replicates=n_replicates, least=1 / (n_replicates + 1), alpha=level))
    notes += failed_note("noise.failed", scores.failures, scores.tried)
    if failed := scores.failed_settings:
        notes.append(note("noise.unrun", failed=len(failed), settings=n_settings, first=failed[0]))
    if result.points is not None:
        notes.append(note("noise.plug_in"))
        if kind != "columns":
            notes.append(note("noise.points"))
    if result.equal_scores:
        notes.append(note("noise.equal"))
    elif result.p_value > level and score.function is None and score.name != SILHOUETTE:
        clusters = design.n_clusters
        notes.append(note("noise.blind") if clusters is None else note("noise.unasked", clusters=clusters))
    return notes


def _record(
    case: RerunInput, design: _Design, scores: _Scores, result: _Statistics, notes: Sequence[Note]
) -> NoiseTest:
    """Return the record of the test."""
    reached = round(result.p_value * (design.n_replicates + 1)) - 1
    recipe = provenance(
        design.parameters,
        test="noise",
        n=case.data.n,
        p=case.data.p,
        source=case.source.what,
        variables=("data", "source"),
        random_state=case.root,
        hypothesis=HYPOTHESES.get(design.null, f"the data come from {design.null}"),
    )
    return NoiseTest(
        test="noise",
        title="Noise test",
        statistic=result.observed,
        p_value=result.p_value,
        null_distribution=result.null_means,
        n_replicates=design.n_replicates,
        effect_size=result.effect,
        effect_size_name="z",
        p_interval=clopper_pearson(reached, design.n_replicates),
        extra={
            "null": design.null,
            "measure": design.score.title,
            "n_seeds": design.n_seeds,
            "n_failed": len(scores.failures),
            "alpha": design.level,
        },
        recipe=recipe,
        notes=tuple(dict.fromkeys(note.named(CALLER_NAMES) for note in notes)),
        p_kind="permutation" if design.null == "columns" else "parametric_bootstrap",
        points=result.points,
        settings=result.table,
        embedding=scores.first_map,
    )


# The runs: the data and the null data at each setting.


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores of the data (m,) and of the null data (R, m) at each setting, and what failed.

    ``failures`` are the failed runs among the ``tried`` ones on null data; ``failed_settings`` those on the data.
    """

    data: list[FloatArray]
    null: list[FloatArray]
    failures: list[Note]
    failed_settings: list[Note]
    tried: int
    first_map: FloatArray


def _score_settings(
    cases: Sequence[RerunInput],
    design: _Design,
    new_runner: Callable[[], Runner],
) -> _Scores:
    """Embed the data and the null data at each setting, and return the scores of all points.

    A failed run on null data reaches any score, but none if the method fails on the data as well.
    """
    score, d, n_replicates, n_seeds = design.score, design.n_components, design.n_replicates, design.n_seeds
    of_data, null, failures, maps, failed_settings = [], [], [], [], []
    recipe = {"test": "noise", "null": [design.null, digest(design.draw(1))], "score": score.key}
    original, nulls = replace(ORIGINAL_OF_NULL, n_seeds=n_seeds), null_replicates(design.draw, n_replicates, n_seeds)
    for case in cases:
        with new_runner() as runner:
            setting_maps = []
            try:
                setting_maps = Replicates(case, original, 1, d, recipe, runner).required()
            except DrevalError as error:
                if len(cases) == 1:
                    raise
                failed_settings.append(note_from_error(error).named(CALLER_NAMES))
            runner.bar.update(n_seeds)
            results = Replicates(case, nulls, n_replicates, d, recipe, runner).run(score)
        maps += setting_maps[:1]
        if setting_maps:
            failures += results.failures
            of_data.append(np.mean([score(case.data.X, Y) for Y in setting_maps], axis=0))
            missing = np.full(len(of_data[-1]), np.inf)
        else:
            missing = np.full(max(map(len, results.values.values()), default=1), -np.inf)
            of_data.append(missing)
        values = [missing if result.values is None else result.values for result in results]
        null.append(np.reshape(values, (n_replicates, n_seeds, -1)).mean(axis=1))
    if len(failed_settings) == len(cases):
        hint = "Run the method alone with one of the settings to see where."
        raise failed_error(failed_settings, "source", "must embed the data", hint)
    tried = n_replicates * n_seeds * (len(cases) - len(failed_settings))
    if len(failures) == tried:
        hint = "Run the method alone on data with permuted columns to see where."
        raise failed_error(failures, "source", "must embed null data", hint)
    return _Scores(of_data, null, failures, failed_settings, tried, maps[0])


def noise_seed(root: int, r: int, s: int) -> int:
    """Return the seed of the method on null data set r (0: the data themselves), for the s-th of the averaged runs."""
    return stream_seed(root, "noise seed", r, s)


ORIGINAL_OF_NULL = Over("the data", seed=noise_seed)  # with a seed of the stream of null data


def null_replicates(draw: Callable[[int], FloatArray], count: int, n_seeds: int = 1) -> Over:
    """Return the replicates on null data 1, 2, ..., each with ``n_seeds`` seeds; the data have number 0."""
    return Over("null data", seed=noise_seed, data=draw, n_seeds=n_seeds, indices=range(1, count + 1))


# The statistic and its null distribution.


@dataclass(frozen=True, eq=False)
class _Statistics:
    """The statistic, its null distribution (failed runs only count in p), p and z, and the tables of the record."""

    observed: float
    null_means: FloatArray
    p_value: float
    effect: float
    equal_scores: bool
    points: pd.DataFrame | None
    table: pd.DataFrame | None


def _statistics(
    scores: _Scores, settings: Sequence[Mapping[str, Any]], level: float, rows: IntArray | None
) -> _Statistics:
    """Return the mean score of a single setting with the table of its points, or the largest z over settings."""
    means = np.array(
        [[of_data.mean(), *of_null.mean(axis=1)] for of_data, of_null in zip(scores.data, scores.null, strict=True)]
    )
    z = standardized(means)
    setting_p_values = p_largest(z)
    points, table = None, None
    if len(settings) == 1:
        observed, null_means, p_value, effect = means[0, 0], means[0, 1:], setting_p_values[0], z[0, 0]
        if len(scores.data[0]) > 1:
            points = _points(scores.data[0], scores.null[0], p_value, level, rows)
    else:
        largest = z.max(axis=0)
        observed = effect = largest[0]
        null_means, p_value = largest[1:], setting_p_values.min()
        finite_means = [row[np.isfinite(row)] for row in means[:, 1:]]  # of the runs that did not fail
        table = pd.DataFrame(settings).assign(
            statistic=means[:, 0],
            chance=[float(row.mean()) if len(row) else np.nan for row in finite_means],
            z=z[:, 0],
            p_value=setting_p_values,
        )
        table.loc[np.isneginf(means[:, 0]), ["statistic", "z", "p_value"]] = np.nan
    equal_scores = np.isfinite(means).all() and np.ptp(means, axis=1).max() <= EQUAL * np.abs(means).max()
    null_means = null_means[np.isfinite(null_means)]
    numbers = float(observed), null_means, float(p_value), float(effect)
    return _Statistics(*numbers, bool(equal_scores), points, table)


def _check_returned(values: FloatArray, argument: str, name: str) -> None:
    """Raise if a function of the user returned values that are not finite."""
    try:
        check_finite(values, argument)
    except InputError as error:
        raise error.altered(InputError, hint=f"See what {name} returns.") from error.__cause__


def null_data(default: str, null: Any, X: FloatArray, root: int) -> tuple[str, Callable[[int], FloatArray]]:
    """Return the name of the null, and a function for the r-th null data set, which depends on the seed and r only."""
    if callable(null):
        name = function_name(null, type(null).__name__)

        def from_function(r: int) -> FloatArray:
            with UserCode("null", name, "return null data"):
                returned = null(X.copy(), stream(root, "null", r))
                values = np.asarray(returned, dtype=np.float64)
            requirement = f"must return data of shape {X.shape}"
            if returned is None:
                raise InputError("null", requirement, "None", f"See whether {name} ends with return.")
            if values.shape != X.shape:
                raise InputError("null", requirement, describe(values), "Return null data (n, p).")
            _check_returned(values, "null", name)
            return values

        return name, from_function
    kind = default if null == "auto" else check_one_of(null, NULLS, "null", aliases=True)
    if kind == "columns":
        return kind, lambda r: stream(root, "null", r).permuted(X, axis=0)
    mean = X.mean(axis=0)
    with limit_threads():  # the last digits depend on the number of threads
        _, values, axes = np.linalg.svd(X - mean, full_matrices=False)
    root_of_cov = values[:, None] * axes / np.sqrt(len(X) - 1)

    def cloud(r: int) -> FloatArray:
        with limit_threads():
            return np.asarray(mean + stream(root, "null", r).standard_normal((len(X), len(values))) @ root_of_cov)

    return kind, cloud


def _are_uncorrelated(X: FloatArray) -> bool:
    """Return whether no two columns of the data are correlated, as in principal components."""
    if not 1 < X.shape[1] < len(X):
        return False
    centered = X - X.mean(axis=0)
    products = centered.T @ centered
    scale = np.sqrt(np.diag(products))
    return bool(np.all(np.abs(np.triu(products, 1)) <= MAX_CORRELATION * np.outer(scale, scale)))


@dataclass(frozen=True)
class _Score:
    """Score of a data set and its embedding: a number for each scored point, or one for all.

    ``name`` is that of a measure or "silhouette"; otherwise ``function`` is a function of the user.
    """

    name: str
    parameters: Mapping[str, Any]
    rows: IntArray | None = None
    function: Callable[[FloatArray, FloatArray], Any] | None = None
    metric: str = "euclidean"

    @property
    def key(self) -> dict[str, Any]:
        """Key of the score in a journal."""
        code = {} if self.function is None else code_of(self.function)
        rows = None if self.rows is None else digest(self.rows)
        return {"name": self.name, "parameters": dict(self.parameters), "rows": rows, "metric": self.metric, **code}

    @property
    def title(self) -> str:
        """Name of the score with its settings."""
        settings = ", ".join(f"{key}={value}" for key, value in self.parameters.items() if value is not None)
        lower = self.function is None and self.name in MEASURES and MEASURES.card(self.name).direction == "lower"
        return "minus " * lower + (f"{self.name}({settings})" if settings else self.name)

    def __call__(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the score of each scored point, large where the point is unlike noise; or one value."""
        if self.function is not None:
            return self._function_values(X, Y)
        points = np.arange(len(X))
        if self.name == SILHOUETTE:
            view = make_view(Y, Y, 0, n_jobs=1)
            clustering = clusters(view, self.parameters["n_clusters"], KMEANS_STARTS)
            codes = clustering.codes[clustering.best].astype(np.int64)
            if codes.max() == 0:  # a single cluster has no silhouette
                return np.zeros(len(X))
            view = replace(view, labels=codes)
            return silhouette_widths(Y, members(view), 1)
        measure = MEASURES.get(self.name)
        k = int(self.parameters.get("n_neighbors", 1))
        reads_neighbors = not {"ranks", "neighbors"}.isdisjoint(measure.card.needs)
        rows = points if self.rows is None else self.rows
        settings: dict[str, Any] = {"rows": rows, "n_jobs": 1, "metric": self.metric}
        view = make_view(X, Y, k if reads_neighbors else 0, "ranks" in measure.card.needs, **settings)
        values = answer(measure, view, dict(self.parameters)).points
        if values is None:
            raise RuntimeError(f"{self.name} gave no value for each point")
        return values if measure.card.direction == "higher" else -values

    def _function_values(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the scores of a function of the user; raise if it returns anything else."""
        if self.function is None:
            raise RuntimeError("this score has no function")
        with UserCode("measure", self.name, "return scores"):
            returned = self.function(X, Y)
            values = np.atleast_1d(np.asarray(returned, dtype=np.float64))
        requirement = f"must return {len(X)} numbers, or one"
        if returned is None:
            raise InputError("measure", requirement, "None", f"See whether {self.name} ends with return.")
        if values.shape not in ((len(X),), (1,)):
            hint = "Return an array (n,) of scores of the points, or one number."
            raise InputError("measure", requirement, describe(values), hint)
        _check_returned(values, "measure", self.name)
        return values


def _score(measure: Any, default: str, n_clusters: int | None, n_neighbors: Any, data: Any, root: int) -> _Score:
    """Return the requested score; raise if one of its arguments is invalid."""
    if callable(measure):
        name = getattr(measure, "__name__", type(measure).__name__)
        return _Score(name, {}, function=measure)
    cards = (card for card in MEASURES.cards() if card.level == "point" and not card.curve)
    names = [SILHOUETTE, *(card.name for card in cards if POINT_VARIABLES.isdisjoint(card.needs))]
    if isinstance(measure, str) and resolve_alias(measure, MEASURES.names()) in set(MEASURES) - set(names):
        requirement = "must be a measure with a value for each point, and without labels"
        raise InputError("measure", requirement, repr(measure), f"Known: {', '.join(names)}.")
    if measure == "auto":
        name = default
    else:
        name = check_one_of(measure, names, "measure", MEASURES.listing, aliases=True)
    if name == SILHOUETTE:
        if n_clusters is None:
            hint = "Pass n_clusters=, or labels."
            raise InputError("n_clusters", "must be given for measure='silhouette'", "None", hint)
        return _Score(name, {"n_clusters": n_clusters})
    card = MEASURES.card(name)
    parameters = dict(card.parameters)
    if "n_neighbors" in parameters:
        ks, is_single = check_k(n_neighbors, data.n)
        if not is_single:
            raise InputError("n_neighbors", "must be one number", describe(n_neighbors), "Pass one number.")
        parameters["n_neighbors"] = ks[0]
    rows = None
    if data.n > MAX_ALL_POINTS:
        rows = np.sort(stream(root, "scored points").choice(data.n, SCORED_POINTS, replace=False))
    return _Score(name, parameters, rows, metric=data.metric)


def standardized(means: FloatArray) -> FloatArray:
    """Return the statistics of settings (h, R + 1) minus their mean, over their standard deviation.

    The data are in the first column. Mean and standard deviation are over the data *and* all null data sets: only then
    are the columns exchangeable under the null hypothesis, even after the largest of several settings is taken. Failed
    runs are infinite, and stay so.
    """
    z = means.copy()
    for h, row in enumerate(means):
        finite = np.isfinite(row)
        if finite.sum() > 1:
            sd = row[finite].std(ddof=1)
            has_spread = sd > EQUAL * np.abs(row[finite]).max()
            z[h, finite] = (row[finite] - row[finite].mean()) / sd if has_spread else 0.0
        else:
            z[h, finite] = 0.0
    return z


def p_largest(z: FloatArray) -> FloatArray:
    """Return p-values (h,) of the data in column 0 against the largest of every other column, (b + 1) / (R + 1)."""
    largest = z[:, 1:].max(axis=0)
    return np.asarray((1 + (largest >= z[:, :1] - EQUAL).sum(axis=1)) / z.shape[1])


def _points(scores: FloatArray, null: FloatArray, p_value: float, alpha: float, rows: IntArray | None) -> pd.DataFrame:
    """Return scores, family-wise p-values, e-values, and q and flags where the global p-value allows them.

    The flags are those of the e-BH procedure: of equal e-values e all k above 0 are selected if k e >= n / alpha.
    """
    slack = EQUAL * max(1.0, float(np.abs(scores).max()))
    largest, pooled = np.sort(null.max(axis=1)), np.sort(null, axis=None)
    reached_largest, reached_pooled = (
        len(null_scores) - np.searchsorted(null_scores, scores - slack) for null_scores in (largest, pooled)
    )
    q = np.full(len(scores), np.nan)
    if p_value <= alpha:
        q = adjusted((1 + reached_pooled) / (1 + len(pooled)), "benjamini_hochberg")
    family_wise = (1 + reached_largest) / (len(largest) + 1)
    e_values = _compound_e_values(scores, null, slack)
    distinguished = (p_value <= alpha) & (e_values > 0) & (e_values.sum() >= len(scores) / alpha)
    columns = {"score": scores, "p_family_wise": family_wise, "e_value": e_values, "q": q, "like_noise": ~distinguished}
    return pd.DataFrame(columns, index=rows)


def _compound_e_values(scores: FloatArray, null: FloatArray, slack: float) -> FloatArray:
    """Return compound e-values (n,) of the scores (n,) against those of R null data sets (R, n).

    With t the (R + 1)-th largest of all (R + 1) n scores, and N of them at least t, e_i = (R + 1) n [s_i >= t] / N. If
    the R + 1 data sets are exchangeable, the expected number of scores of the data that reach t is N / (R + 1), so that
    the e-values have the mean 1. Scores that differ by ``slack`` or less are equal.
    """
    n_sets, together = len(null) + 1, np.append(null, scores)
    threshold = np.partition(together, -n_sets)[-n_sets] - slack
    return np.asarray(n_sets * len(scores) / np.count_nonzero(together >= threshold) * (scores >= threshold))
