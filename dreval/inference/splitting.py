"""Split measurements: two parts of the numbers of a table that are independent of each other, given the signal.

``MeasurementSplits`` checks how a table is split and draws split r, which depends on the seed and r only. Counts are
thinned, Gaussian numbers fissioned (Neufeld et al. 2024), columns divided into two halves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dreval._check import FloatArray, IntArray, check_float, check_one_of, describe, function_name
from dreval._random import stream, stream_seed
from dreval.errors import InputError, UndefinedMeasure, UserCode
from dreval.inference.reruns import Over
from dreval.inputs.data import Data
from dreval.records.notes import Note, note

KINDS = ("columns", "poisson", "negative_binomial", "binomial", "gaussian", "replicate")
NEEDED = {"negative_binomial": "dispersion", "binomial": "size", "gaussian": "sigma", "replicate": "second"}
COUNTS = ("poisson", "negative_binomial", "binomial")  # kinds whose numbers are counts
MAX_COUNT = 10**9  # that the hypergeometric distribution of numpy takes
MIN_DUPLICATE_CORRELATION = 0.95  # of columns that stay in one half, since they may share their noise
MAX_CORRELATED_ROWS = 2000  # rows from which the correlations of columns are computed
COLUMN_BLOCK = 1000  # columns that are correlated with all at one time
FEW_COLUMNS = 10  # in a half, below which a note says so
MAX_DEPTH_P = 1e-6  # p of the spread of row totals below which they are unequal, or more even than those of counts

Prepare = Callable[[FloatArray], Any]


class MeasurementSplit(NamedTuple):
    """The two parts of the measurements of a table, and the columns of it that each part has.

    Attributes
    ----------
    first, second : ndarray (n, q)
        The parts, independent given the signal. Their sum is the table, except for "columns", where each has some of
        the columns, and for "replicate".
    first_columns, second_columns : ndarray (q,)
        Positions of the columns of each part in the table.
    """

    first: FloatArray
    second: FloatArray
    first_columns: IntArray
    second_columns: IntArray


@dataclass(frozen=True, eq=False)
class MeasurementSplits:
    """The splits of a table: ``parts(r)`` are those of split r, ``prepared(r)`` on the scale of the table.

    Attributes
    ----------
    X : ndarray (n, p)
        The table.
    kind : str
        One of ``KINDS``.
    fraction : float
        Share of the information in the first part.
    parameter : ndarray or None
        What the kind needs: standard deviations (p,) or a covariance (p, p), dispersions (p,), sizes (p,), or the
        second measurement (n, p).
    prepare : callable or transformer, optional
        What is done with each part before it is embedded or compared; fitted on the first part.
    root : int
        Root seed.
    """

    X: FloatArray
    kind: str
    fraction: float
    parameter: FloatArray | None
    prepare: Any
    root: int
    _latest: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, X: FloatArray, kind: Any, fraction: Any, parameters: Mapping[str, Any], root: int, prepare: Any = None
    ) -> MeasurementSplits:
        """Check how a table is split.

        ``parameters`` holds ``sigma``, ``dispersion``, ``size`` and ``second``; the one that the kind needs must be
        given, and no other.
        """
        kind = check_one_of(kind, KINDS, "kind", aliases=True)
        needed = NEEDED.get(kind)
        for name, value in parameters.items():
            if name == needed and value is None:
                raise InputError(name, f"must be given for kind={kind!r}", "none", f"{_HINTS[name]} {_NO_SIGMA}")
            if name != needed and value is not None:
                user = next(user for user, its in NEEDED.items() if its == name)
                hint = f"Leave {name} out, or pass kind={user!r}."
                raise InputError(name, f"must be left out for kind={kind!r}", describe(value), hint)
        e = check_float(fraction, "fraction", low=0.01, high=0.99)
        if kind == "replicate" and e != 0.5:
            hint = "Leave fraction out: the first part is X, the second part is `second`."
            raise InputError("fraction", "must be left out for kind='replicate'", describe(fraction), hint)
        if kind in COUNTS:
            _check_counts(X, kind)
        parameter = None if needed is None else _PARAMETERS[needed](parameters[needed], X, e)
        splits = cls(X, kind, e, parameter, prepare, root)
        if kind == "columns":
            splits._check_columns()
        return splits

    def parts(self, r: int) -> MeasurementSplit:
        """Return the two parts of split r."""
        rng, X, e = stream(self.root, "split measurements", r), self.X, self.fraction
        columns = np.arange(X.shape[1])
        if self.kind == "columns":
            in_first = _halves_of_groups(self.column_groups, e, rng)
            left, right = np.flatnonzero(in_first), np.flatnonzero(~in_first)
            return MeasurementSplit(X[:, left], X[:, right], left, right)
        if self.kind == "replicate" and self.parameter is not None:
            return MeasurementSplit(X, self.parameter, columns, columns)
        first = _DRAWS[self.kind](X, e, self.parameter, rng)
        return MeasurementSplit(first, X - first, columns, columns)

    def prepared(self, r: int) -> tuple[FloatArray, FloatArray]:
        """Return both parts of split r on the scale of the table, prepared; those of the latest split are stored."""
        if r not in self._latest:
            parts = self.parts(r)
            first, second = parts.first, parts.second
            if self.kind not in ("columns", "replicate"):
                first, second = first / self.fraction, second / (1 - self.fraction)
            if self.prepare is not None:
                first, second = prepare_parts(self.prepare, first, second, same_columns=self.kind != "columns")
            self._latest.clear()
            self._latest[r] = first, second
        return self._latest[r]

    def prepared_table(self) -> FloatArray:
        """Return the whole table, prepared by a function that is fitted on it."""
        return self.X if self.prepare is None else prepare_parts(self.prepare, self.X, self.X)[0]

    @cached_property
    def column_groups(self) -> IntArray:
        """The group of each column: near-duplicates are in one group (correlation of .95 or more, directly or not)."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        rows = np.arange(len(self.X))
        if len(rows) > MAX_CORRELATED_ROWS:
            rows = np.sort(stream(self.root, "correlated rows").choice(rows, MAX_CORRELATED_ROWS, replace=False))
        Z = self.X[rows] - self.X[rows].mean(axis=0)
        norms = np.linalg.norm(Z, axis=0)
        Z = np.divide(Z, norms, out=np.zeros_like(Z), where=norms > 0)
        left, right = [], []
        for start in range(0, Z.shape[1], COLUMN_BLOCK):
            correlation = np.abs(Z[:, start : start + COLUMN_BLOCK].T @ Z)
            i, j = np.nonzero(correlation >= MIN_DUPLICATE_CORRELATION)
            left.append(i + start)
            right.append(j)
        edges = np.concatenate(left), np.concatenate(right)
        graph = coo_array((np.ones(len(edges[0]), np.int8), edges), shape=(Z.shape[1],) * 2)
        return np.asarray(connected_components(graph, directed=False)[1], np.int64)

    def _check_columns(self) -> None:
        """Raise if the columns cannot be divided into two halves."""
        p = self.X.shape[1]
        if p < 2 or len(np.unique(self.column_groups)) < 2:
            received = "one" if p < 2 else f"{p} columns that are nearly the same"
            hint = "Split the numbers themselves: kind='poisson', 'binomial', 'negative_binomial' or 'gaussian'."
            raise InputError("X", "must have two different columns or more for kind='columns'", received, hint)

    def _depth_statistic(self) -> float:
        """Return the chi-square statistic of equal expected row totals; NaN where the kind is not of such counts."""
        means = self.X.mean(axis=0)
        expected = float((means + (0.0 if self.parameter is None else self.parameter) * means**2).sum())
        if self.kind not in ("poisson", "negative_binomial") or not expected:
            return math.nan
        totals = self.X.sum(axis=1)
        return float(np.square(totals - totals.mean()).sum()) / expected

    def check_depths(self) -> None:
        """Raise if counts have unequal row totals and are not prepared: differences of depth are then found, too.

        The variance of the totals is compared with that of rows with equal expected totals, by the chi-square test.
        """
        from scipy.special import chdtrc

        if self.prepare is None and chdtrc(len(self.X) - 1, self._depth_statistic()) < MAX_DEPTH_P:
            totals = self.X.sum(axis=1)
            received = f"totals from {totals.min():,.0f} to {totals.max():,.0f}"
            hint = (
                "In Python pass prepare=, such as lambda counts: np.log1p(counts / counts.sum(axis=1, keepdims=True));"
            )
            hint += " or prepare=lambda counts: counts where the totals are part of the signal."
            raise InputError("X", "must have rows of equal totals for counts without `prepare`", received, hint)

    def notes(self) -> list[Note]:
        """Return the notes on how the measurements are split."""
        if self.kind == "replicate":
            return [note("split.replicate")]
        if self.kind != "columns":
            from scipy.special import chdtr

            is_even = chdtr(len(self.X) - 1, self._depth_statistic()) < MAX_DEPTH_P
            return [note(f"split.{self.kind}"), *([note("split.even_totals")] if is_even else [])]
        notes = [note("split.columns")]
        sizes = np.bincount(self.column_groups)
        if (sizes > 1).any():
            notes.append(note("split.duplicates", columns=int(sizes[sizes > 1].sum()), groups=int((sizes > 1).sum())))
        if is_count_table(self.X):
            notes.append(note("split.counts"))
        smallest = min(len(self.parts(0).first_columns), len(self.parts(0).second_columns))
        return notes + ([note("split.few_columns", columns=smallest)] if smallest < FEW_COLUMNS else [])


SPLIT_OPTIONS = ("kind", "fraction", "prepare", *NEEDED.values())


def read_split(data: Data, options: Mapping[str, Any] | None, root: int) -> MeasurementSplits:
    """Return the splits of the measurements of data by options; raise if one is invalid."""
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise InputError("split", "must be a dict of options", describe(options), "Pass {'kind': 'poisson'}.")
    options = {check_one_of(name, SPLIT_OPTIONS, "split", aliases=True): value for name, value in options.items()}
    if data.distances_only or data.metric == "geodesic":
        hint = "Pass the measurements themselves, with a metric by name."
        received = "distances only" if data.distances_only else "paths over a graph"
        raise UndefinedMeasure("metric", f"must not be {data.metric!r} for split measurements", received, hint)
    parameters = {name: options.get(name) for name in NEEDED.values()}
    kind, fraction = options.get("kind", "columns"), options.get("fraction", 0.5)
    splits = MeasurementSplits.of(data.dense(), kind, fraction, parameters, root, options.get("prepare"))
    splits.check_depths()
    return splits


def plain_split(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a split for a recipe: tables and functions by their names."""
    is_plain = {name: value is None or isinstance(value, str | int | float) for name, value in options.items()}
    return {name: value if is_plain[name] else name for name, value in options.items()}


def number_options(options: Any) -> dict[str, Any]:
    """Return the options of a split that are numbers or text, which a file can hold; raise if a name is unknown."""
    if not isinstance(options, Mapping):
        raise InputError("split", "must be a dict of options", describe(options), "Pass {'kind': 'poisson'}.")
    plain = {name: value for name, value in options.items() if isinstance(value, str | int | float)}
    return {check_one_of(name, SPLIT_OPTIONS, "split", aliases=True): value for name, value in plain.items()}


def split_replicates(splits: MeasurementSplits) -> Over:
    """Return the replicates that embed the first parts of the splits, each with another seed."""
    return Over(
        "split measurements",
        seed=lambda root, r, _: stream_seed(root, "split measurements", r),
        data=lambda r: splits.prepared(r)[0],
    )


def is_count_table(X: FloatArray) -> bool:
    """Return whether all numbers are integers that are not negative."""
    return bool((X >= 0).all() and (X == np.floor(X)).all())


def prepare_parts(
    prepare: Any, first: FloatArray, second: FloatArray, *, same_columns: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return both parts, prepared; all that is fitted is fitted on the first part.

    ``prepare`` is a transformer with ``fit`` and ``transform``; a function that takes the first part and returns the
    function that prepares both; or a function of one table, which is called with each part alone.
    """
    name = function_name(prepare, type(prepare).__name__)
    is_transformer = hasattr(prepare, "fit") and hasattr(prepare, "transform")
    if not is_transformer and not callable(prepare):
        hint = "Pass a function of a table, such as np.log1p, or an object with fit and transform."
        raise InputError("prepare", "must be a function or a transformer", describe(prepare), hint)
    with UserCode("prepare", name, "prepare a part of the measurements"):
        transform = deepcopy(prepare).fit(first.copy()).transform if is_transformer else prepare(first.copy())
        is_fitted = callable(transform)
        if is_fitted and not same_columns:
            hint = "Pass a function of one table, which is called with each half of the columns alone."
            requirement = "must not be fitted for kind='columns', whose halves have different columns"
            raise InputError("prepare", requirement, name, hint)
        left = transform(first.copy()) if is_fitted else transform
        right = transform(second.copy()) if is_fitted else prepare(second.copy())
    results = [_prepared_table(part, len(first)) for part in (left, right)]
    if same_columns and results[0].shape != results[1].shape:
        received = f"{results[0].shape[1]} and {results[1].shape[1]} columns"
        hint = "Choose the columns by the first part: return a function from `prepare`, which is called with both."
        raise InputError("prepare", "must return as many columns for both parts", received, hint)
    return results[0], results[1]


def _prepared_table(values: Any, n: int) -> FloatArray:
    """Return a prepared part as an array (n, q) of finite numbers; otherwise raise."""
    requirement = f"must return a table of {n} rows of finite numbers"
    hint = "Return the prepared table; a row without counts has no logarithm of shares."
    try:
        table = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("prepare", requirement, describe(values), hint) from error
    if table.ndim != 2 or len(table) != n or not table.shape[1] or not np.isfinite(table).all():
        received = describe(values) if table.ndim != 2 or len(table) != n else "numbers that are not finite"
        raise InputError("prepare", requirement, received, hint)
    return np.ascontiguousarray(table)


# The parts of each kind: X is a sum of two independent parts, given its mean.


def _thin_poisson(X: FloatArray, e: float, _: Any, rng: np.random.Generator) -> FloatArray:
    """Return Binomial(X, e) counts: Poisson counts are the sum of two independent Poisson counts."""
    return rng.binomial(X.astype(np.int64), e).astype(np.float64)


def _thin_negative_binomial(X: FloatArray, e: float, dispersion: Any, rng: np.random.Generator) -> FloatArray:
    """Return BetaBinomial(X, e b, (1 - e) b) counts with b = 1 / dispersion."""
    b = 1.0 / dispersion
    return rng.binomial(X.astype(np.int64), rng.beta(e * b, (1 - e) * b, X.shape)).astype(np.float64)


def _thin_binomial(X: FloatArray, e: float, size: Any, rng: np.random.Generator) -> FloatArray:
    """Return hypergeometric counts: the successes among e N of the N trials."""
    X_int, N = X.astype(np.int64), np.broadcast_to(size, X.shape).astype(np.int64)
    return rng.hypergeometric(X_int, N - X_int, np.round(e * N).astype(np.int64)).astype(np.float64)


def _fission_gaussian(X: FloatArray, e: float, sigma: Any, rng: np.random.Generator) -> FloatArray:
    """Return e X + sqrt(e (1 - e)) sigma Z, with Z from N(0, 1), or of covariance sigma for a matrix."""
    Z = rng.standard_normal(X.shape)
    if sigma.ndim == 2:
        values, vectors = np.linalg.eigh(sigma)
        Z = (Z * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    else:
        Z *= sigma
    return np.asarray(e * X + np.sqrt(e * (1 - e)) * Z)


def _halves_of_groups(groups: IntArray, e: float, rng: np.random.Generator) -> Any:
    """Return which columns are in the first part: groups in random order, the largest first, to where most is missing.

    Columns that are no near-duplicates are divided at random.
    """
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    missing = np.array([e, 1 - e]) * len(groups)
    in_first = np.zeros(len(sizes), np.bool_)
    for group in order:
        part = int(missing[1] > missing[0]) if missing[0] != missing[1] else int(rng.integers(2))
        in_first[group] = part == 0
        missing[part] -= sizes[group]
    if in_first.all() or not in_first.any():  # an extreme share: each part has a group
        in_first[order[-1]] = not in_first[order[-1]]
    return in_first[groups]


_DRAWS = {
    "poisson": _thin_poisson,
    "negative_binomial": _thin_negative_binomial,
    "binomial": _thin_binomial,
    "gaussian": _fission_gaussian,
}


# Checks of what a kind needs.

_NO_SIGMA = "Without it: kind='columns', which asks whether other columns agree."
_HINTS = {
    "sigma": "Pass the standard deviation of the noise, a number or one for each column, or its covariance (p, p).",
    "dispersion": "Pass phi of the variance mu + phi mu^2, a number or one for each column.",
    "size": "Pass the number N of trials, or one for each column.",
    "second": "Pass a second measurement of the same rows and columns.",
}


def _check_counts(X: FloatArray, kind: str) -> None:
    """Raise if a table does not hold counts."""
    if not is_count_table(X) or X.max(initial=0) > MAX_COUNT:
        wrong = X[(X < 0) | (np.floor(X) != X) | (X > MAX_COUNT)]
        received = f"numbers such as {wrong.flat[0]:g}"
        hint = "Pass raw counts; prepare= of held_out_fidelity transforms them. For other numbers: kind='columns'."
        raise InputError("X", f"must hold counts (integers from 0 on) for kind={kind!r}", received, hint)


def _per_column(value: Any, name: str, p: int) -> FloatArray:
    """Return a positive number for each column."""
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(name, "must be a number or one for each column", describe(value), _HINTS[name]) from error
    if values.shape not in ((), (p,)) or not (np.isfinite(values) & (values > 0)).all():
        received = describe(value) if values.shape not in ((), (p,)) else "numbers that are not positive"
        raise InputError(name, f"must be a positive number or {p} of them", received, _HINTS[name])
    return np.broadcast_to(values, (p,))


def _check_sigma(value: Any, X: FloatArray, _: float) -> FloatArray:
    """Return standard deviations, or a covariance matrix."""
    p = X.shape[1]
    if np.ndim(value) != 2:
        return _per_column(value, "sigma", p)
    covariance = np.asarray(value, dtype=np.float64)
    requirement = f"must be a symmetric, positive semidefinite matrix of {p} rows"
    if covariance.shape != (p, p) or not np.allclose(covariance, covariance.T):
        raise InputError("sigma", requirement, describe(value), _HINTS["sigma"])
    if np.linalg.eigvalsh(covariance).min() < -1e-8 * np.abs(covariance).max():
        raise InputError("sigma", requirement, "a matrix with a negative eigenvalue", _HINTS["sigma"])
    return covariance


def _check_dispersion(value: Any, X: FloatArray, _: float) -> FloatArray:
    """Return dispersions."""
    return _per_column(value, "dispersion", X.shape[1])


def _check_size(value: Any, X: FloatArray, e: float) -> FloatArray:
    """Return numbers of trials: integers at least as large as the counts, of which the first part gets an integer."""
    size = _per_column(value, "size", X.shape[1])
    if (size != np.floor(size)).any() or (X > size).any():
        received = f"{size.flat[0]:g} with counts up to {X.max():g}"
        raise InputError("size", "must be integers, at least as large as the counts", received, _HINTS["size"])
    if (np.abs(e * size - np.round(e * size)) > 1e-9 * size).any():
        hint = "Choose a fraction for which fraction x size is an integer, as 0.5 for an even size."
        raise InputError("fraction", "must give an integer when multiplied by size", f"{e:g} with {size[0]:g}", hint)
    return size


def _check_second(value: Any, X: FloatArray, _: float) -> FloatArray:
    """Return the second measurement."""
    try:
        second = np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("second", "must be a table of numbers", describe(value), _HINTS["second"]) from error
    if second.shape != X.shape or not np.isfinite(second).all():
        received = describe(value) if second.shape != X.shape else "numbers that are not finite"
        requirement = f"must be a second measurement of shape {X.shape}, without missing numbers"
        raise InputError("second", requirement, received, _HINTS["second"])
    return np.ascontiguousarray(second)


_PARAMETERS: dict[str, Callable[[Any, FloatArray, float], FloatArray]] = {
    "sigma": _check_sigma,
    "dispersion": _check_dispersion,
    "size": _check_size,
    "second": _check_second,
}
