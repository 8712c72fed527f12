"""Common parts of the tests of independence: card, variables, kernels, permutations, and record."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, ParamSpec

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, IntArray, check_int, check_one_of, check_rows, resolve_alias
from dreval._check_arrays import check_classes, check_unmasked, numbers_from_objects
from dreval._docs import fill_docstring
from dreval._parallel import n_threads
from dreval._random import root_seed
from dreval.cards import Card, register, with_caller_names
from dreval.errors import InputError
from dreval.geometry.kernels import KERNELS, MEDIAN_ROWS, TRACE_TOLERANCE, LowRank, low_rank_kernel, some_rows
from dreval.glossary import METRICS
from dreval.inference.permutation import (
    SCHEMES,
    PermutationNull,
    Scheme,
    make_scheme,
    permutation_null,
    pooled_null,
    split_scheme,
)
from dreval.inference.rerun_input import caller_names
from dreval.inputs.files import as_numpy, counting, row_names
from dreval.inputs.variables import HasRows, Rows, align, count_codes, row_id_notes
from dreval.records.base import read_only
from dreval.records.notes import Note, Notes, note
from dreval.records.provenance import provenance
from dreval.records.tests import IndependenceTest
from dreval.registry import TESTS

# Kernels of several tests: as matrices or low-rank factors, and their inner product under permutations.

Statistic = Callable[[Any], FloatArray]
POOL = "pool"  # the bandwidth that stands for several multiples of that of the median rule
EXACT_ROWS = 2000  # rows up to which matrices are used
MAX_EXACT_ROWS = 10_000  # rows up to which they are used if no small factor is accurate enough


def chosen_factors(
    values: Sequence[Any],
    names: Sequence[str],
    kernels: Sequence[Any],
    bandwidths: Sequence[Any],
    method: str,
    *,
    tolerance: float = TRACE_TOLERANCE,
    exact_rows: int = EXACT_ROWS,
    max_rank: int | None = None,
) -> list[LowRank] | None:
    """Return low-rank factors of all variables, or None if matrices are to be used.

    "auto" uses factors of at most ``max_rank`` columns, by default those whose product costs less than a pass over the
    matrix: rank up to 8 sqrt(n).
    """
    n = len(values[0])
    if method == "lowrank" and "precomputed" in kernels:
        hint = "Use method='exact': the matrix is in memory already."
        raise InputError("method", "must be 'auto' or 'exact' where a kernel is precomputed", "'lowrank'", hint)
    if method == "exact" or (method == "auto" and (n <= exact_rows or "precomputed" in kernels)):
        return None
    max_rank = (max_rank or small_rank(n)) if method == "auto" else None
    factors = []
    for value, name, kernel, bandwidth in zip(values, names, kernels, bandwidths, strict=True):
        factor = low_rank_kernel(value, name, kernel, bandwidth, tolerance=tolerance, most=max_rank)
        if method == "auto" and n <= MAX_EXACT_ROWS and factor.left > tolerance * factor.trace:
            return None
        factors.append(factor)
    return factors


def is_pooled(bandwidth: Any) -> bool:
    """Return whether a bandwidth, or one of a pair, stands for several multiples of that of the median rule."""
    if isinstance(bandwidth, tuple | list):
        return any(map(is_pooled, bandwidth))
    return isinstance(bandwidth, str) and bandwidth == POOL


def small_rank(n: int) -> int:
    """Return the largest rank at which a product of factors costs less than a pass over the matrix."""
    return int(8 * n**0.5)


def factors_suffice(
    values: Sequence[Any],
    names: Sequence[str],
    kernels: Sequence[Any],
    bandwidths: Sequence[Any],
    tolerance: float,
) -> bool:
    """Return whether factors of few columns are accurate enough for the kernels, from ``MEDIAN_ROWS`` random rows.

    The rank that a kernel needs grows slowly with n, and the rank that it may have as its root. They are not for pooled
    bandwidths, of which the smallest need many columns.
    """
    if any(map(is_pooled, bandwidths)):
        return False
    rows = some_rows(len(values[0]))
    max_rank = small_rank(MEDIAN_ROWS)
    for value, name, kernel, bandwidth in zip(values, names, kernels, bandwidths, strict=True):
        factor = low_rank_kernel(value[rows], name, kernel, bandwidth, tolerance=tolerance, most=max_rank)
        if factor.left > tolerance * factor.trace:
            return False
    return True


@dataclass(frozen=True)
class Side:
    """Diagonal and sum of squares of a centered kernel matrix."""

    diagonal: FloatArray
    square: float


@dataclass(frozen=True)
class Pair:
    """Two centered kernels; ``inner`` returns <A, B[p, p]> for rows of permutations p.

    ``first`` is A itself, or with ``factored`` a factor F (n, r) of A = FF'; None where no matrix is in memory.
    """

    inner: Statistic
    sides: tuple[Side, Side]
    first: FloatArray | None = None
    factored: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.sides[0].diagonal)

    @property
    def size(self) -> float:
        """Largest possible value of HSIC, by Cauchy and Schwarz."""
        return float(np.sqrt(self.sides[0].square) * np.sqrt(self.sides[1].square)) / self.n**2

    def hsic(self, permutations: Any) -> FloatArray:
        """Return the V-statistic under permutations."""
        return self.inner(permutations) / self.n**2

    @property
    def observed(self) -> float:
        """The V-statistic of the rows in their order, 0 where rounding makes it negative."""
        return max(float(self.hsic(np.arange(self.n, dtype=np.uint32)[None])[0]), 0.0)


def permuted_product(
    fixed: FloatArray, moved: FloatArray, codes: IntArray | None
) -> Callable[[npt.NDArray[Any]], FloatArray]:
    """Return a function that computes F' G[p] for a permutation p.

    Where the rows of G are those of classes (``codes``), it uses the sums of F over each class.
    """
    from dreval.geometry._loops.permutations import class_sums

    left = np.ascontiguousarray(fixed.T)
    if codes is None:
        return lambda p: np.asarray(left @ moved[p])
    classes, first_rows, codes = np.unique(codes, return_index=True, return_inverse=True)
    rows, count, places = moved[first_rows], len(classes), codes.astype(np.int32)
    return lambda p: np.asarray(class_sums(fixed, places, p, count).T @ rows)


def exact_pair(a: FloatArray, b: FloatArray) -> Pair:
    """Return the pair of two centered kernel matrices."""
    from dreval.geometry._loops.permutations import permuted_inner_products

    sides = [Side(np.diagonal(m).copy(), float(np.linalg.norm(m)) ** 2) for m in (a, b)]
    return Pair(lambda permutations: permuted_inner_products(a, b, permutations), (sides[0], sides[1]), a)


# The variables of a test: arrays, frames and series in normal form, with their rows (and columns) in one order.

FRAME_TYPES = (pd.DataFrame, pd.Series)


@dataclass(frozen=True)
class Variables:
    """Variables with the same rows in the same order.

    ``names`` are those of the arguments, ``labels`` the printed names of the variables (the name of a series),
    ``kinds`` the kernel or metric of each.
    """

    values: tuple[Any, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...]
    kinds: tuple[Any, ...]
    n: int
    notes: Notes


def gather(x: Any, y: Any, *others: Any, kind: Any = None, argument: str = "kernel") -> Variables:
    """Return all variables in the order of the rows of ``x``; their numbers of rows are checked first.

    ``kind`` is the kernel or the metric, one for all or one each; "precomputed" matrices are matched by both axes.
    """
    names = ("x", "y", *(f"others[{i}]" for i in range(len(others))))
    arrays = [as_numpy(value, name) for value, name in zip((x, y, *others), names, strict=True)]
    n = check_same_rows(arrays, names)
    kinds = tuple(resolve_alias(setting, (*KERNELS, *METRICS)) for setting in per_variable(kind, names, argument))
    squares = [isinstance(setting, str) and setting == "precomputed" for setting in kinds]
    values, notes = list[Any](), list[Note]()
    for value, name, kernel in zip(arrays, names, kinds, strict=True):
        if kernel not in ("delta", "precomputed"):
            notes += integer_notes(value, name)
    for value, name, square in zip(arrays, names, squares, strict=True):
        variable = in_own_order(value, name) if square else value
        matched, row_notes = matched_rows(x, variable, name, square=square) if values else (variable, ())
        values.append(matched)
        notes += row_notes
    labels = [_label(value, name, i + 1) for i, (value, name) in enumerate(zip(arrays, names, strict=True))]
    unique_labels = labels if len(set(labels)) == len(labels) else names
    return Variables(tuple(values), names, tuple(unique_labels), kinds, n, tuple(notes))


def _label(value: Any, name: str, place: int) -> str:
    """Return the printed name of a variable: the name of a series, or that of its argument."""
    series_name = getattr(value, "name", None) if getattr(value, "ndim", 0) == 1 else None
    if isinstance(series_name, str) and series_name:
        return series_name
    return name if place < 3 else f"variable {place}"


def check_same_rows(values: Sequence[Any], names: Sequence[str]) -> int:
    """Return the common number of rows of the variables, read from their shapes; raise if they differ."""
    for value, argument in zip(values, names, strict=True):
        check_rows(count_rows(value, argument), len(values[0]), argument)
    return len(values[0])


def count_rows(value: Any, argument: str) -> int:
    """Return the number of rows of a variable; raise for paths, sparse and masked matrices, and values without rows."""
    refuse_path(value, argument)
    if hasattr(value, "tocsr"):
        hint = f"Pass {argument}.toarray(), or a few columns or components of it."
        raise InputError(argument, "must be dense", f"a sparse matrix of shape {tuple(value.shape)}", hint)
    check_unmasked(value, argument)
    try:
        shape = () if isinstance(value, type) else np.shape(value)
    except ValueError:
        raise InputError(argument, "must have rows of one length", "ragged rows", "Pass an (n, p) array.") from None
    if shape == ():
        raise InputError(argument, "must have rows", type(value).__name__, "Pass an (n,) or (n, p) array.")
    return int(shape[0])


def per_variable(value: Any, names: Sequence[str], argument: str) -> tuple[Any, ...]:
    """Return one setting per variable: those of a tuple, list or array, or any other value for all."""
    if not isinstance(value, tuple | list | np.ndarray):
        return (value,) * len(names)
    if len(value) != len(names):
        requirement = "must be one value or a pair" if len(names) == 2 else "must be one value or one for each variable"
        raise InputError(argument, requirement, f"{len(value)} values", f"Give one each for {', '.join(names)}.")
    return tuple(value)


def refuse_path(value: Any, argument: str) -> None:
    """Raise if a value is a path: the tests read no files."""
    if isinstance(value, str | os.PathLike):
        hint = "Read it first: pandas.read_csv(path, index_col=0), whose row names are then matched."
        raise InputError(argument, "must be an array, a frame or a series", f"the text {os.fspath(value)!r}", hint)


def rows_of(x: Any, name: str = "x") -> Rows:
    """Return the number of rows of a variable, and the names of those of a frame or series."""
    if isinstance(x, FRAME_TYPES):
        return Rows(len(x), row_names(x.index), reserve=counting(x.index))
    return Rows(count_rows(x, name), None)


def matched_rows(x: Any, y: Any, name: str = "y", *, of: str = "x", square: bool = False) -> tuple[Any, Notes]:
    """Return a frame or series ``y`` in the order of the rows of ``x`` by their names, with notes.

    Other values are returned unchanged. If only ``x`` has names, a note says so. Row names that match only in part
    raise an error, and so do row numbers in another order where ``x``, which the caller calls ``of``, has no names. The
    columns of a ``square`` frame are ordered as its rows.
    """
    if y is None or not (isinstance(x, FRAME_TYPES) or isinstance(y, FRAME_TYPES)):
        return y, ()
    y, notes = in_rows_of(rows_of(x, of), y, name, square=square)
    return y, tuple(row_note.with_values(data=f"`{of}`") for row_note in notes)


def in_rows_of(rows: HasRows, y: Any, name: str, *, square: bool = False) -> tuple[Any, Notes]:
    """Return a variable in the order of the rows of data, as ``matched_rows``; its number of rows must be theirs."""
    if not isinstance(y, FRAME_TYPES):
        n = count_rows(y, name)
        check_rows(n, rows.n, name)
        return y, align(n, None, rows, name)[1]
    order, notes = align(len(y), row_names(y.index), rows, name, reserve=counting(y.index))
    if order is not None:
        y = y.iloc[order, order] if square else y.iloc[order]
    return y, notes


def in_own_order(matrix: Any, name: str) -> Any:
    """Return a square frame with its columns in the order of its rows, by name; other values are returned unchanged."""
    if not isinstance(matrix, pd.DataFrame) or matrix.shape[0] != matrix.shape[1]:
        return matrix
    rows, columns = ([str(key) for key in index] for index in (matrix.index, matrix.columns))
    if rows == columns:
        return matrix
    if len(set(rows)) == len(rows) and sorted(rows) == sorted(columns):
        return matrix.iloc[:, pd.Index(columns).get_indexer(pd.Index(rows))]
    if row_names(matrix.index) is None or row_names(matrix.columns) is None:
        return matrix
    unmatched = sorted(set(rows).symmetric_difference(columns)) or ["a name that occurs twice"]
    hint = "Name rows and columns alike, or pass a plain array."
    raise InputError(
        name, "must have the same names in rows and columns", f"{unmatched[0]!r} in one of them only", hint
    )


def matched_columns(x: Any, y: Any) -> Any:
    """Return the frame ``y`` with its columns in the order of those of ``x``, by name; other values unchanged."""
    if not (isinstance(x, pd.DataFrame) and isinstance(y, pd.DataFrame)) or x.shape[1] != y.shape[1]:
        return y
    unnamed = [row_names(frame.columns) is None for frame in (x, y)]
    if list(x.columns) == list(y.columns) or (
        any(unnamed) and isinstance((x, y)[unnamed.index(True)].columns, pd.RangeIndex)
    ):
        return y
    if x.columns.is_unique and set(x.columns) == set(y.columns):
        return y[list(x.columns)]
    unmatched = [str(key) for key in y.columns if key not in set(x.columns)] or ["a column twice"]
    hint = "Name the columns of both samples alike, or pass plain arrays."
    raise InputError("y", "must have the columns of {x}", f"{unmatched[0]!r}, which {{x}} does not have", hint, x="x")


def integer_notes(value: Any, argument: str) -> Notes:
    """Return notes on integers of a variable: codes of classes in its only column, and columns that name the rows."""
    array = np.asarray(value)
    is_table = array.dtype.names is not None  # records
    if array.ndim not in (1, 2) or is_table or str(getattr(value, "dtype", "")) == "category":
        return ()
    frame = value if isinstance(value, pd.DataFrame) else pd.DataFrame(array)
    has_names = isinstance(value, pd.DataFrame)
    count = count_codes(frame.iloc[:, 0]) if frame.shape[1] == 1 else 0
    codes = (note("variable.integers", argument=argument, count=count),) if count else ()
    return (*codes, *row_id_notes(frame, argument, named=has_names))


def class_notes(value: Any, argument: str) -> Notes:
    """Return a note if codes of classes are floats."""
    array = numbers_from_objects(np.asarray(value))
    return (note("labels.floats", argument=argument),) if array.dtype.kind == "f" else ()


# The card of an independence test, its resampling and its record.

P = ParamSpec("P")

HYPOTHESES = {
    "variable": "the variables are independent",
    "number": "the number is independent of the position",
    "groups": "both samples have one distribution",
    "method": "the method shows no more of the data than of null data",
}
SCHEME_HYPOTHESES = {  # the null hypothesis that the permutations of a scheme test
    "free": "{}",
    "within": "{} within blocks",
    "blocks": "{}, where whole blocks of rows are exchangeable",
    "cyclic": "{}, where each is a stationary series",
    "groups": "{}: y does not depend on the points of a group, nor on their number",
    "within_groups": "{} within groups",
}


@read_only
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TestCard(Card):
    """The declared properties of a test of independence, besides those of every ``Card``.

    The function is ``<name>_test``. Tests of variables share one question, their hypothesis; their cost follows from
    ``memory``.

    Attributes
    ----------
    variables : {"2", "many"}
        How many variables it tests.
    null : tuple of str
        Methods of computing a p-value, the default first.
    statistic, effect_size : str
        Symbols, as printed.
    effect_is_biased : bool
        Whether the effect size is above 0 without dependence, the more the fewer the rows.
    needs : tuple of {"kernel", "distances", "coordinates", "method"}
        The representation of a variable that is computed; "kernel": of numbers, of classes, or precomputed. "method":
        a method that can be re-run.
    second : {"variable", "number", "groups", "method"}
        The second argument of the function: a variable, one column of numbers, the groups into which the rows of ``x``
        are split, or the method that is re-run on null data.
    nulls : tuple of str
        The kinds of null data, of a test of a method.
    memory : {"matrices", "factors", "columns"}
        Memory for n rows: n x n matrices, low-rank factors if the kernels have them, or the variables.
    without_matrices : callable or None
        Whether a test that holds matrices needs none for these variables: a function of a pair of variables and the
        options of the test.
    tolerance : float or None
        Share of a kernel's trace that its factors may leave.
    """

    __test__: ClassVar[bool] = False  # the name begins with Test, yet pytest has nothing to collect here
    kind: ClassVar[str] = "test"
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "statistic", "effect_size", "reference")
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {
        "variables": ("2", "many"),
        "null": ("permutation", "bootstrap", "parametric_bootstrap", "asymptotic", "chi2", "gamma"),
        "needs": ("kernel", "distances", "coordinates", "method"),
        "second": tuple(HYPOTHESES),
        "nulls": ("columns", "gaussian"),
        "memory": ("matrices", "factors", "columns"),
    }

    variables: str
    null: tuple[str, ...]
    statistic: str
    effect_size: str
    needs: tuple[str, ...]
    second: str = "variable"
    effect_is_biased: bool = False
    nulls: tuple[str, ...] = ()
    memory: str = "matrices"
    without_matrices: Callable[[Sequence[Any], Mapping[str, Any]], bool] | None = None
    tolerance: float | None = None

    def lines(self) -> dict[str, str]:
        """Return the printed fields."""
        return {
            "name": self.name,
            "question": self.question,
            "hypothesis": HYPOTHESES[self.second],
            "variables": self.variables,
            "null data": ", ".join(self.nulls),
            "p-value by": ", ".join(self.null).replace("_", " "),
            "statistic": self.statistic,
            "effect size": self.effect_size,
            "needs": ", ".join(self.needs),
            "cost": self.cost,
            "reference": self.reference,
        }


def _public(function: Callable[P, IndependenceTest], card: TestCard) -> Callable[P, IndependenceTest]:
    """Return the function that users call, with its docstring; errors of a test of a method name their arguments."""
    function.__doc__ = fill_docstring(function.__doc__)
    if card.second != "method":
        return function
    return with_caller_names(function, lambda *args, **kwargs: caller_names(*args[:2], **kwargs))


test = register(TestCard, TESTS.name_of, _public)  # the name on the card is that of the function, without ``_test``
vars(test)["__test__"] = False  # nor here


@dataclass(frozen=True)
class Resampling:
    """How permutations are drawn: the arguments of the public functions, checked."""

    n_resamples: int
    permutation: str
    blocks: Any
    stop_after: int | None
    root: int
    n_jobs: int | None
    notes: Notes = ()
    groups: IntArray | None = None

    @classmethod
    def of(
        cls,
        n_resamples: Any,
        permutation: Any = "free",
        blocks: Any = None,
        stop_after: Any = None,
        random_state: Any = None,
        n_jobs: Any = None,
        rows: Any = None,
        groups: Any = None,
    ) -> Resampling:
        """Check the arguments before any costly work; blocks and groups are matched to the row names of ``rows``.

        Groups of one row each change nothing, and are left out.
        """
        check_int(n_resamples, "n_resamples", low=1)
        if stop_after is not None:
            check_int(stop_after, "stop_after", low=1)
        n_threads(n_jobs)
        permutation = check_one_of(permutation, SCHEMES, "permutation", aliases=True)
        refuse_path(blocks, "blocks")
        blocks, notes = matched_rows(rows, blocks, "blocks")
        notes = notes if blocks is None else (*notes, *class_notes(blocks, "blocks"))
        codes, group_notes = _group_codes(groups, rows, permutation, blocks)
        arguments = n_resamples, permutation, blocks, stop_after, root_seed(random_state), n_jobs
        return cls(*arguments, (*notes, *group_notes), codes)

    def refuse_without_permutations(self, method: str) -> None:
        """Raise if an argument restricts or stops permutations where the method draws none."""
        passed = [f"permutation={self.permutation!r}"] if self.permutation != "free" else []
        passed += ["blocks"] if self.blocks is not None else []
        passed += ["groups"] if self.groups is not None else []
        passed += [f"stop_after={self.stop_after}"] if self.stop_after is not None else []
        if passed:
            hint = "Leave them out, or use a method that draws permutations."
            requirement = "must draw permutations where `permutation`, `blocks`, `groups` or `stop_after` is given"
            raise InputError("method", requirement, f"{method!r} and {', '.join(passed)}", hint)

    def scheme(self, n: int, variables: Sequence[Any], names: Sequence[str]) -> Scheme:
        """Return the permutations that may occur; raise if a variable is the same under all of them."""
        scheme = make_scheme(self.permutation, self.blocks, n)
        alike = scheme.invariant_rows()
        for value, name in zip(variables, names, strict=True) if alike is not None else ():
            rows = np.asarray(value)
            if bool(np.all(rows == rows[alike])):
                received = {"within": "rows that are equal within every block", "blocks": "blocks that are equal"}
                hint = "Choose other blocks, or permutation='free' where its assumption holds."
                requirement = "must not look the same under every permutation of its rows"
                if self.groups is not None:
                    hint = "Pass the variable that is constant within groups as the second one."
                raise InputError(name, requirement, received[scheme.kind], hint)
        return scheme

    def run(
        self,
        statistic: Callable[[Any], Any],
        scheme: Scheme,
        name: str,
        resolution: float = 0.0,
        factors: int = 1,
        split: Any = None,
        floor: float = -np.inf,
    ) -> PermutationNull:
        """Compute the null distribution of a statistic; with ``split`` it depends only on the rows at these places.

        Values below ``floor``, or within the resolution below 0, are rounding and are replaced by 0.
        """
        if split is not None:
            scheme = split_scheme(scheme, split)
        result = permutation_null(
            statistic,
            scheme.n,
            self.n_resamples,
            self.root,
            name,
            resolution=resolution,
            n_jobs=self.n_jobs,
            scheme=scheme,
            factors=factors,
            stop_after=self.stop_after,
        )
        null = _without_rounding(result.null, resolution, floor)
        observed = _without_rounding(np.array(result.observed), resolution, floor)
        return replace(result, null=null, observed=float(observed))

    def run_pooled(
        self, statistics: Statistic, scheme: Scheme, name: str, split: Any = None
    ) -> tuple[PermutationNull, FloatArray]:
        """Compute the null distribution of the largest z of several statistics, and the z of each; see ``run``."""
        scheme = scheme if split is None else split_scheme(scheme, split)
        return pooled_null(statistics, scheme.n, self.n_resamples, self.root, name, n_jobs=self.n_jobs, scheme=scheme)

    @property
    def scheme_name(self) -> str:
        """The name of the null hypothesis of the permutations."""
        return "within_groups" if self.groups is not None and self.permutation == "within" else self.permutation

    def parameters(self) -> dict[str, Any]:
        """Return the settings that, with the seed, reproduce the permutations."""
        scheme = {"permutation": self.permutation, "blocks": self.blocks, "stop_after": self.stop_after}
        if self.groups is not None:
            scheme |= {"permutation": "free", "blocks": None, "groups": self.groups}
        return {"n_resamples": self.n_resamples, **scheme}


def _group_codes(groups: Any, rows: Any, permutation: str, blocks: Any) -> tuple[IntArray | None, Notes]:
    """Return the codes of the groups of rows, None for groups of one row each, and notes."""
    if groups is None:
        return None, ()
    refuse_path(groups, "groups")
    if permutation != "free" or blocks is not None:
        requirement = "must be left out where `permutation` or `blocks` is given"
        raise InputError("groups", requirement, "both", "Pass groups alone: they say which rows move together.")
    groups, notes = matched_rows(rows, groups, "groups")
    codes, names = check_classes(groups, count_rows(rows, "x"), "groups", "Write the number of a group as an integer.")
    if len(names) < 2:
        raise InputError("groups", "must be two or more", "one group", "Leave it out, or name the group of each row.")
    return None if len(names) == len(codes) else codes, (*notes, *class_notes(groups, "groups"))


def _without_rounding(values: Any, resolution: float, floor: float) -> Any:
    """Return the values with 0 in place of those that are negative by rounding."""
    return np.where((values < 0) & ((values >= -resolution) | (values < floor)), 0.0, values) + 0.0


def null_hypothesis(hypothesis: str, permutation: str) -> str:
    """Return the null hypothesis that permutations of this scheme test.

    Examples
    --------
    >>> null_hypothesis("the variables are independent", "within")
    'the variables are independent within blocks'
    """
    return SCHEME_HYPOTHESES[permutation].format(hypothesis)


def entries_by_variable(key: str, values: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """Return entries of ``extra`` with a value for each variable."""
    return {f"{key}_{name}": value for name, value in zip(names, values, strict=True)}


def make_record(
    card: TestCard,
    result: PermutationNull,
    *,
    n: int,
    resampling: Resampling,
    effect_size: float,
    extra: dict[str, Any],
    parameters: dict[str, Any],
    notes: Notes = (),
    names: tuple[str, ...] = ("x", "y"),
    labels: tuple[str, ...] | None = None,
    effect_size_name: str | None = None,
    alternative: str = "",
) -> IndependenceTest:
    """Return the record of a test; the ``parameters`` and the seed in its recipe reproduce its numbers.

    ``alternative`` follows the null hypothesis where the test has power against some dependence only.
    """
    is_cyclic = resampling.permutation == "cyclic"  # no shift of a series is exact
    return IndependenceTest(
        test=card.name,
        title=card.title,
        statistic=result.observed,
        p_value=result.p_value,
        null_distribution=result.null,
        effect_size=effect_size,
        effect_size_name=effect_size_name or card.effect_size,
        p_interval=result.p_interval,
        extra=extra,
        recipe=provenance(
            {**parameters, **resampling.parameters()},
            test=card.name,
            n=n,
            variables=names,
            labels=labels or names,
            random_state=resampling.root,
            hypothesis=null_hypothesis(HYPOTHESES[card.second], resampling.scheme_name) + alternative,
        ),
        notes=(*notes, *resampling.notes, *_permutation_notes(card, result, resampling)),
        p_kind="permutation" if is_cyclic else result.p_kind,
    )


def _permutation_notes(card: TestCard, result: PermutationNull, resampling: Resampling) -> list[Note]:
    """Return notes on permutations that were enumerated, stopped early or restricted."""
    m, notes, is_cyclic = len(result.null), list[Note](), resampling.permutation == "cyclic"
    if result.exact:
        what = "shifts" if is_cyclic else "splits" if card.second == "groups" else "permutations"
        notes.append(note("permutation.all", count=m, what=what, exact=not is_cyclic))
    if result.stopped:
        notes.append(note("permutation.stopped", count=m, reached=resampling.stop_after))
    if m and resampling.permutation not in ("free", "groups"):  # of groups with the smallest p
        notes.append(note(f"permutation.{resampling.scheme_name}"))
    return notes
