"""Assertions for test suites: a method is not worse than a reference, over the seeds of both.

``assert_not_worse`` is one test of one measure. ``replicate_values`` returns the values of the runs of a method, which
a test suite can store as the reference of later versions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dreval._check import FloatArray, check_float, check_int, check_k, check_random_state, describe
from dreval._check_arrays import check_finite, check_numeric
from dreval._random import root_seed, stream, stream_seed
from dreval.errors import DrevalError, InputError, UndefinedMeasure
from dreval.evaluation.score import score
from dreval.geometry.geodesics import with_geodesics
from dreval.inference.intervals import ROUNDING
from dreval.inference.permutation import Scheme, permutation_null, split_scheme
from dreval.inference.rerun_input import check_can_rerun, open_case
from dreval.inference.reruns import Over, Replicates, Runner, failed_error
from dreval.inputs.data import Data, as_data
from dreval.inputs.variables import warn_of_guesses
from dreval.registry import MEASURES

__all__ = ["assert_not_worse", "replicate_values"]

TWO_MAPS_HINT = (
    'Two maps are compared by their points: Evaluation(X, {"old": Y, "new": Z}).run().compare(), or `dreval check` in '
    "a shell."
)
N_RESAMPLES = 199_999  # splits of the runs: all of them if there are not more (10 + 10 runs), else as many random ones
SMALLEST_ALPHA = 1e-5  # above the smallest p-value of 10 + 10 runs
MIN_STORED_VALUES = 50  # of a reference: with fewer, one unlucky draw of them decides every later test
MIN_PLACES = 4  # decimals of printed values; more if the standard deviation is smaller
MAX_PLACES = 10


def assert_not_worse(
    method: Any,
    reference: Any,
    X: Any,
    *,
    measure: str = "trustworthiness",
    margin: float,
    n_replicates: int = 10,
    alpha: float = 0.01,
    random_state: int | np.random.Generator | None = 0,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    metric: str = "euclidean",
    labels: Any = None,
    n_jobs: int | None = None,
) -> None:
    r"""Raise an AssertionError if a method is worse than a reference by more than a margin, over the seeds of both.

    Both are run with seeds of their own, and each embedding is scored by one measure. The test permutes which values
    belong to the method, after the margin was added to them, and compares the means (one-sided). A method that is
    worse by exactly the margin, or by less, fails with probability ``alpha`` at most.

    Parameters
    ----------
    method : estimator, callable (X, n_components, random_state), or name of a bundled method
        The method under test.
    reference : estimator, callable, name of a bundled method, or array of at least 50 values
        The method that it is compared with, or the stored values of its runs (``replicate_values``) on the same data
        with the same settings.
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    measure : str, default "trustworthiness"
        A measure with a better direction (``dreval.list_measures()``).
    margin : float
        The tolerated loss, in the unit of the measure, at least 0.
    n_replicates : int, default 10
        Number r of runs of the method, and of the reference unless that is stored.
    alpha : float, default 0.01
        The false-alarm rate: the largest probability that a method that is not worse by more than the margin fails.
    random_state : int, Generator or None, default 0
        Seed of all runs. With a fixed seed the outcome changes only if the code, its dependencies or the data do.
    n_components : int, optional
        Number of dimensions; by default that of the method, else 2.
    n_neighbors : int or "auto", default "auto"
        Number k of neighbors of the measure.
    metric : str, default "euclidean"
        Distance in the data, as in ``Evaluation``, and of the methods that have one. Embeddings are compared by
        Euclidean distances, whatever it is.
    labels : (n,) array, column of X by name, or path, optional
        Class of each point, for measures of labels and supervised methods.
    n_jobs : int, optional
        Processes (joblib); by default 1. No number depends on it.

    Raises
    ------
    AssertionError
        If the method is significantly worse; the message has both means, the difference, p, and what to do.
    InputError
        If an argument is not valid, or ``alpha`` is below the smallest p-value of so many runs.
    UndefinedMeasure
        If a source cannot be run, or the measure has no value for these data.
    MethodFailed
        If a run fails.

    See Also
    --------
    replicate_values : the values of a reference to store.
    dreval.stability : whether other seeds give the same neighborhoods.
    Evaluation.run : ``ci="replicates"`` for intervals of the same means.

    Notes
    -----
    The p-value is exact if there are at most 199,999 splits of the values, :math:`\binom{2r}{r}` = 184,756 for r = 10;
    otherwise it is (b + 1) / (m + 1) of m = 199,999 random splits. Its smallest value, 5.4e-6 for r = 10, must not be
    above ``alpha``. If neither the method nor the reference varies, as deterministic methods, the two values are
    compared without a test; such a bundled method is run once.

    The level is exact for a method that is worse by the margin and otherwise the same: its values, plus the margin,
    have the distribution of those of the reference. If the spread differs it is close to ``alpha`` for equally many
    runs (.013 and .017 of 2000 simulated tests failed at .01 where the method had twice or half the standard
    deviation). With stored values it is not: .04 and .06 failed with 1.5 and 2 times the standard deviation of 50
    stored values. Pass ``n_replicates=50`` for such a method.

    Power at r = 10 and ``alpha=1e-4`` for a method that is 2, 2.5 or 3 standard deviations (of its seeds) below the
    margin: .42, .74 and .93 (normal values).

    All tests against the same stored values share the error of their mean. Ten of them that happen to be high would
    raise a level of 1e-4 to 1.4e-2 for every later test, so that at least 50 are required.

    Cost: the runs, and O(n^2 p) time for each of them to score it.

    References
    ----------
    Phipson and Smyth (2010), Permutation p-values should never be zero, for (b + 1) / (m + 1).

    Examples
    --------
    >>> import dreval, dreval.testing
    >>> X = dreval.simulate("three_clusters", n=60, random_state=0).data
    >>> umap = dreval.methods.UMAP(n_neighbors=10, n_epochs=50)
    >>> dreval.testing.assert_not_worse(umap, umap, X, margin=0.01, n_replicates=5)
    >>> stopped = dreval.methods.UMAP(n_neighbors=10, n_epochs=1, init="random")
    >>> dreval.testing.assert_not_worse(stopped, umap, X, margin=0.01, n_replicates=5)
    Traceback (most recent call last):
        ...
    AssertionError: UMAP is worse than the reference by more than the margin (trustworthiness, k = 15).
    ...
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    margin = check_float(margin, "margin", low=0.0)
    r = check_int(n_replicates, "n_replicates", low=2)
    if np.ndim(method) == 1 and _is_list(method):
        hint = "Stored values are the second argument, `reference`; the method comes first."
        raise InputError("method", "must be a method, which is run here", describe(method), hint)
    stored = _stored_values(reference)
    alpha = _check_alpha(alpha, r, r if stored is None else len(stored.values))
    case = _open_case(X, measure, n_components, n_neighbors, metric, labels, random_state, margin)
    with Runner(n_jobs=n_jobs) as runner:
        runs = _run_values(case, method, "method", r, runner)
        reference_runs = stored or _run_values(case, reference, "reference", r, runner)
    sign = -1.0 if MEASURES.card(case.measure).direction == "lower" else 1.0
    p = _one_sided_p(sign * runs.values + margin, sign * reference_runs.values, case.root)
    if p <= alpha:
        difference = sign * float(runs.values.mean() - reference_runs.values.mean())
        raise AssertionError(_message(case, (runs, reference_runs), difference, margin, p, alpha))


def replicate_values(
    method: Any,
    X: Any,
    *,
    measure: str = "trustworthiness",
    n_replicates: int = 50,
    random_state: int | np.random.Generator | None = 0,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    metric: str = "euclidean",
    labels: Any = None,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the values of a measure over runs of a method with other seeds, to store them as a reference.

    Parameters
    ----------
    method : estimator, callable (X, n_components, random_state), or name of a bundled method
        The method; each run has another seed.
    X, measure, random_state, n_components, n_neighbors, metric, labels, n_jobs
        As in ``assert_not_worse``, which needs the same ones.
    n_replicates : int, default 50
        Number of runs; a stored reference must have at least 50.

    Returns
    -------
    ndarray (n_replicates,)
        The value of each run. With the same ``random_state``, they are those of the reference of
        ``assert_not_worse``, and independent of those of its method.

    Raises
    ------
    InputError
        If an argument is not valid.
    UndefinedMeasure
        If the source cannot be run, or the measure has no value for these data.
    MethodFailed
        If a run fails.

    See Also
    --------
    assert_not_worse : compare a method with these values.

    Notes
    -----
    Store them as text, with ``numpy.savetxt(path, values)``, which keeps all digits.

    Cost: the runs, and O(n^2 p) time for each of them to score it.

    Examples
    --------
    >>> import dreval, dreval.testing
    >>> X = dreval.simulate("three_clusters", n=60, random_state=0).data
    >>> umap = dreval.methods.UMAP(n_neighbors=10, n_epochs=50)
    >>> values = dreval.testing.replicate_values(umap, X, n_replicates=3)
    >>> values.shape, bool(values.min() > 0.9)
    ((3,), True)
    """
    r = check_int(n_replicates, "n_replicates", low=1)
    case = _open_case(X, measure, n_components, n_neighbors, metric, labels, random_state)
    with Runner(n_jobs=n_jobs) as runner:
        return _run_values(case, method, "reference", r, runner, argument="method").values


class _Case(NamedTuple):
    """Data and settings that the method and the reference share."""

    data: Data
    measure: str
    n_components: int | None
    k: int
    root: int


class _Values(NamedTuple):
    """The values of the runs of a method, its role in the test, its name, and the number of runs as text."""

    role: str
    name: str
    values: FloatArray
    runs: str


def _open_case(
    X: Any,
    measure: Any,
    n_components: Any,
    n_neighbors: Any,
    metric: str,
    labels: Any,
    random_state: Any,
    margin: float = 0.0,
) -> _Case:
    """Check the data and the settings, before any method is run, and return them."""
    with _renamed({"data": "X"}):
        data = as_data(X, labels=labels, metric=metric)
    warn_of_guesses(data.notes, {"data": "X"})
    data = replace(with_geodesics(data), notes=())
    ks, is_single = check_k(n_neighbors, data.n)
    if not is_single:
        raise InputError("n_neighbors", "must be one number", describe(n_neighbors), "Pass one number.")
    d = None if n_components is None else check_int(n_components, "n_components", low=1)
    root = root_seed(check_random_state(random_state))
    with _renamed({"measures": "measure"}):
        card = MEASURES.card(measure)
        hint = "Name another measure, such as 'trustworthiness'."
        if card.direction not in ("higher", "lower"):
            raise InputError("measure", "must have a better direction", f"{card.name!r}, which is descriptive", hint)
        if card.level == "algorithm":
            received = f"{card.name!r}, which runs the method itself"
            raise InputError("measure", "must have a value for each embedding", received, hint)
        if "labels" in card.needs and data.labels is None:
            raise InputError("labels", f"must be given for {card.name}", "none", "Pass the class of each point.")
        card.check_margin(margin, "margin")
        trial = stream(root, "trial of the measure").normal(size=(data.n, d or 2))
        score(data, trial, card.name, n_neighbors=ks[0], metric=data.metric)
    return _Case(data, card.name, d, ks[0], root)


@contextmanager
def _renamed(names: dict[str, str]) -> Iterator[None]:
    """Rename the arguments in errors of a block."""
    try:
        yield
    except DrevalError as error:
        raise error.named(names) from error.__cause__


def _is_list(value: Any) -> bool:
    """Check whether a value is a list or an array, not a method."""
    return isinstance(value, list | tuple) or type(value).__module__.startswith(("numpy", "pandas"))


def _stored_values(reference: Any) -> _Values | None:
    """Return the values of a stored reference; None if the reference is a method."""
    if not _is_list(reference) or np.ndim(reference) == 0:
        return None
    hint = "Store those of dreval.testing.replicate_values(method, X), or pass the method itself."
    if np.ndim(reference) != 1:
        hint = f"{hint} {TWO_MAPS_HINT}"
        raise InputError("reference", "must be a method, or the values of its runs", describe(reference), hint)
    values = np.asarray(check_numeric(reference, "reference"), dtype=np.float64)
    check_finite(values, "reference")
    if len(values) < MIN_STORED_VALUES:
        requirement = f"must be at least {MIN_STORED_VALUES} values, which all later tests share"
        raise InputError("reference", requirement, f"{len(values)} values", hint)
    return _Values("reference", "stored values", values, f"{len(values)} stored runs")


def _check_alpha(alpha: Any, r: int, n_reference: int) -> float:
    """Return the level; raise if no p-value of so many runs can be as small."""
    alpha = check_float(alpha, "alpha", low=0.0, high=0.5)
    smallest = _smallest_p(r, n_reference)
    if alpha < smallest:
        enough = next((m for m in range(r + 1, 11) if _smallest_p(m, max(m, n_reference)) <= alpha), None)
        hint = f"Choose n_replicates={enough} or more." if enough else f"Choose alpha={SMALLEST_ALPHA:g} or above."
        requirement = f"must be at least {smallest:.2g}, the smallest p-value of {r} and {n_reference} runs"
        raise InputError("alpha", requirement, describe(alpha), hint)
    return alpha


def _smallest_p(r: int, n_reference: int) -> float:
    """Return the smallest p-value of a test: one of all splits of the runs, or of the random ones."""
    return 1 / min(math.comb(r + n_reference, r), N_RESAMPLES + 1)


def _splits(r: int, n_reference: int) -> Scheme:
    """Return the splits of the pooled runs, of which the first r are those of the method."""
    return split_scheme(Scheme("free", r + n_reference), np.arange(r))


def _score(data: Data, measure: str, k: int, _: FloatArray, Y: FloatArray) -> dict[str, float]:
    """Return the value of one run."""
    return {"value": score(data, Y, measure, n_neighbors=k, metric=data.metric)}


def _run_values(case: _Case, source: Any, role: str, r: int, runner: Runner, argument: str = "") -> _Values:
    """Return the values of r runs; a bundled method that is deterministic is run once.

    ``role`` names the seeds, "method" or "reference"; ``argument`` is the argument with the source, by default the
    role.
    """
    argument = argument or role
    names = dict.fromkeys(("source", "embeddings['source']"), argument)
    with _renamed(names):
        opened = open_case(case.data, source, None, None, case.root)
        if not opened.source.can_embed:
            requirement, received = "must be able to embed other data", str(opened.source.reason)
            raise UndefinedMeasure(opened.source.argument, requirement, received, TWO_MAPS_HINT)
        check_can_rerun(opened)
    over = Over(f"seeds of the {role}", seed=lambda root, i, _: _seed_of_run(root, role, i))
    n = 1 if getattr(opened.source.card, "deterministic", False) else r
    d = case.n_components or opened.source.default_components or 2
    results = Replicates(opened, over, n, d, runner=runner).run(partial(_score, case.data, case.measure, case.k))
    failures = [result.failure.named(names) for result in results if result.failure is not None]
    if failures:
        hint = "Run the method alone with such a seed."
        raise failed_error(failures, argument, f"must embed the data with each of {n} seeds", hint)
    name = opened.source.what
    runs = f"{r} runs of {name}" if n == r else f"one run of {name}, which is deterministic"
    return _Values(role, name, np.resize(results.number("value"), r), runs)


def _seed_of_run(root: int, role: str, i: int) -> int:
    """Return the seed of run i of the method or of the reference."""
    return stream_seed(root, "assert_not_worse", f"{role} {i}")


def _one_sided_p(values: FloatArray, reference: FloatArray, root: int) -> float:
    """Return the p-value of a smaller mean of the values than of the reference, from the splits of both.

    It is 0 or 1 if neither of them varies, up to rounding.
    """
    r, pooled = len(values), np.concatenate([values, reference])
    tolerance = ROUNDING * float(np.abs(pooled).max())
    if max(np.ptp(values), np.ptp(reference)) <= tolerance:
        return float(reference.mean() - values.mean() <= tolerance)

    def shortfall(permutations: Any) -> FloatArray:
        return np.asarray(-pooled[permutations[:, :r]].mean(axis=1))

    options: Any = {"resolution": tolerance, "scheme": _splits(r, len(reference))}
    return permutation_null(shortfall, len(pooled), N_RESAMPLES, root, "assert_not_worse", **options).p_value


def _message(
    case: _Case, runs: tuple[_Values, _Values], difference: float, margin: float, p: float, alpha: float
) -> str:
    """Return the message of a failed assertion: the verdict, the numbers, and what to do."""
    spreads = [float(np.std(part.values, ddof=1)) for part in runs]
    has_test = p > 0
    smallest = max(spreads) if has_test else abs(difference) - margin
    places = min(max(MIN_PLACES, 1 - math.floor(math.log10(smallest))), MAX_PLACES)
    card = MEASURES.card(case.measure)
    k = f", k = {case.k}" if "n_neighbors" in card.parameters else ""
    width = max(len(f"{part.values.mean():.{places}f}") for part in runs) + 1
    rows = [
        f"  {part.role:<10} {part.values.mean():>{width}.{places}f}   sd {spread:.{places}f} over {part.runs}"
        for part, spread in zip(runs, spreads, strict=True)
    ]
    rows += [f"  {'difference':<10} {difference:>+{width}.{places}f}   positive: the method is better"]
    rows += [f"  {'margin':<10} {margin:>{width}.{places}f}   tolerated loss"]
    count = _splits(*(len(part.values) for part in runs)).count()
    splits = f"all {count:,.0f}" if count <= N_RESAMPLES else f"{N_RESAMPLES:,} random"
    if has_test:
        rows += [f"p = {p:.2g} (one-sided permutation test by {splits} splits of the runs), alpha = {alpha:g}."]
        worst = int((runs[0].values if card.direction == "higher" else -runs[0].values).argmin())
        seed = _seed_of_run(case.root, runs[0].role, worst)
        value = f"{runs[0].values[worst]:.{places}f}"
        rows += [f"The worst run of the method has random_state={seed}: {card.title.lower()} {value}."]
    else:
        rows += ["Neither of them varies with the seed, so that the two values are compared directly."]
    advice = "If the loss is intended, store new reference values or pass a larger margin."
    heading = f"{runs[0].name} is worse than the reference by more than the margin ({case.measure}{k})."
    return "\n".join([heading, *rows, advice])
