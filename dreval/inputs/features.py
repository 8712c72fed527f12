"""Bring a matrix of numbers or distances into normal form, and report invalid or notable content."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, IntArray, describe, read_limit
from dreval._check_arrays import (
    ROWS_FROM_ZERO,
    check_exact,
    check_magnitude,
    check_unmasked,
    describe_vectors,
    not_finite_error,
    vectors,
)
from dreval.errors import Hint, InputError
from dreval.inputs.kinds import is_sparse as is_sparse
from dreval.records.notes import Note, note

# The matrix of features or distances: columns as float64, sparse normal form, notable properties, the metric.

_VECTOR = re.compile(r"\s*[\[(]\s*[-+.\de]+([\s,]+[-+.\de]+)+,?\s*[\])]\s*", re.I)  # how a list or an array is printed
COLUMN_SOURCE = "dreval.column"  # the key of ``DataFrame.attrs`` that holds the expression for a column of the input
ROW_NAMES = "dreval.row_names"  # the key of ``DataFrame.attrs`` that says that the first column has the row names
_MINUS = "\u2212"
_OTHER_NOTATION = re.compile(  # with a decimal comma, marks between thousands, a percent sign or a typographic minus
    rf"\s*[<>~]?\s*[+\-{_MINUS}]?\s*((\d{{1,3}}([\s,.']\d{{3}})+|\d+)([.,]\d*)?|[.,]\d+)(e[+\-{_MINUS}]?\d+)?\s*%?\s*",
    re.I,
)
OTHER_NOTATION_HINT = (
    "Read it with pandas and pass the frame: pandas.read_csv has the options decimal and thousands; remove other signs "
    "by column.str.replace."
)


def frame_table(frame: pd.DataFrame, argument: str, hint: str, *fields: str) -> npt.NDArray[np.floating[Any]]:
    """Return the cells of a frame as a C-ordered array of floats: a view of memory where possible, else a copy.

    Cells of single precision stay so. A view is read-only.
    """
    types = set(frame.dtypes)
    if types <= {np.dtype(np.float32)} or types <= {np.dtype(np.float64)}:
        values = frame.to_numpy(copy=False)
        if values.flags.c_contiguous:
            values = values.view()
            values.flags.writeable = False
            return values
        if types <= {np.dtype(np.float32)}:
            return np.array(values, order="C")
    return frame_numbers(frame, argument, hint, *fields)


def frame_numbers(frame: pd.DataFrame, argument: str, hint: str, *fields: str) -> npt.NDArray[np.float64]:
    """Return the cells of a frame as a C-ordered (n, p) float64 copy; missing cells become NaN.

    ``hint`` says what to do with a column of text. Its field ``{ids}`` is the argument ``ids`` of ``fields``, set to
    the column, and ``{metric}`` that of mixed columns.
    """
    out = np.empty(frame.shape, dtype=np.float64)
    if frame.shape[1] and all(isinstance(t, np.dtype) and t.kind in "biuf" for t in frame.dtypes):
        for kind in {t for t in frame.dtypes if t.kind in "iu"}:
            check_exact(frame.loc[:, (frame.dtypes == kind).to_numpy()].to_numpy(), argument)
        with np.errstate(over="ignore"):
            out[:] = frame.to_numpy()
        return out
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if not is_numeric(column):
            check_unmasked(column.to_list(), argument)
            raise _not_numeric(frame, j, argument, hint, fields)
        try:
            out[:, j] = _values(column)
        except OverflowError:
            received = f"an integer of more than 308 digits in column {str(frame.columns[j])!r}"
            repair = "Repair that cell; write missing values as NA, and drop or impute them."
            raise InputError(argument, "must hold numbers that a float can hold", received, repair) from None
    return out


def _values(column: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """Return the numbers of one column; missing values are NaN."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        with np.errstate(over="ignore"):
            return np.asarray(column.to_numpy().astype(np.float64))
    if isinstance(column.dtype, np.dtype):
        column = column.astype(object).where(column.notna(), np.nan)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def native(values: Any) -> Any:
    """Return an array, Series or Index in the machine's byte order: pandas does not detect numbers in another order."""
    dtype = values.dtype
    return values if not isinstance(dtype, np.dtype) or dtype.isnative else values.astype(dtype.newbyteorder("="))


def is_numeric(column: pd.Series[Any]) -> bool:
    """Check whether a column holds only real numbers or booleans."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return False
    if kind.kind == "O" and isinstance(kind, np.dtype):
        inferred = pd.api.types.infer_dtype(column, skipna=True)
        return inferred in ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
    if pd.api.types.is_complex_dtype(kind):
        return False
    return bool(pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind))


def _not_numeric(frame: pd.DataFrame, j: int, argument: str, default_hint: str, fields: Iterable[str]) -> InputError:
    """Return the error for one column that is not numeric."""
    column, name = frame.iloc[:, j], str(frame.columns[j])
    n_further = sum(not is_numeric(frame.iloc[:, i]) for i in range(frame.shape[1])) - 1
    further = f", and {n_further} more such column{'s' if n_further > 1 else ''}" if n_further else ""
    requirement = "must hold numbers in every column"
    if pd.api.types.is_complex_dtype(column.dtype):
        split = "Pass the real and imaginary parts as separate columns."
        return InputError(argument, requirement, f"complex numbers in column {name!r}{further}", split)
    for position in [j, *(i for i in range(frame.shape[1]) if i != j and not is_numeric(frame.iloc[:, i]))]:
        if (description := _describe_vectors(frame, position)) is not None:
            return InputError(argument, requirement, f"{description[0]}{further}", description[1])
    if (strays := _stray_cells(column, name, further)) is not None:
        return InputError(argument, requirement, *strays)
    named = {field: Hint(field, name) for field in fields}
    named["metric"] = Hint("metric", "gower", shell="dreval evaluate --metric gower")
    return InputError(argument, requirement, f"{_kind(column)} in column {name!r}{further}", default_hint, **named)


def _stray_cells(column: pd.Series[Any], name: str, further: str = "") -> tuple[str, str] | None:
    """Describe the cells of text in a column of numbers, or numbers in another notation, with a hint; else None."""
    cells = column.dropna().astype(str)
    stray_rows = np.flatnonzero(pd.to_numeric(column.astype(object), errors="coerce").isna() & column.notna())
    in_other_notation = cells.str.fullmatch(_OTHER_NOTATION)
    mostly_numbers = 0 < len(stray_rows) < 0.5 * len(column) or (
        in_other_notation.any() and in_other_notation.mean() >= 0.9
    )
    if isinstance(column.dtype, pd.CategoricalDtype) or not len(stray_rows) or not mostly_numbers:
        return None
    cell = str(column.iloc[stray_rows[0]])
    what, hint = "", "Repair these cells; write missing values as NA, and drop or impute them."
    if _OTHER_NOTATION.fullmatch(cell):
        what, hint = ", a number in another notation", OTHER_NOTATION_HINT
    total = f"{len(stray_rows)} such cell{'s' * (len(stray_rows) > 1)} in all"
    return f"{cell!r} in row {stray_rows[0]} of column {name!r}{what}, {total}{further}{ROWS_FROM_ZERO}", hint


def check_mostly_text(frame: pd.DataFrame, j: int, argument: str) -> None:
    """Check that a column whose texts are used as classes holds neither vectors nor numbers with a few stray cells."""
    problem = _describe_vectors(frame, j) or _stray_cells(frame.iloc[:, j], str(frame.columns[j]))
    if problem is not None:
        raise InputError(argument, "must hold numbers or classes in every column", *problem)


def _describe_vectors(frame: pd.DataFrame, j: int) -> tuple[str, str] | None:
    """Describe a column of vectors, also of vectors written as text, with a hint; None for other columns."""
    column, label = frame.iloc[:, j], frame.columns[j]
    label = label.item() if isinstance(label, np.generic) else label
    values = frame.attrs.get(COLUMN_SOURCE, "frame[{column}]").replace("{column}", repr(label))
    if not isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.kind == "O":
        present = column[column.notna()]
        shapes = vectors(present)
        if shapes is not None:
            missing = len(column) - len(present)
            return describe_vectors(shapes, len(column), f"{values}.to_list()", missing, f" of column {str(label)!r}")
        if len(present) and all(isinstance(cell, dict) for cell in present):
            fields = ", ".join(repr(str(field)) for field in [*present.iloc[0]][:3])
            received = f"a mapping with the fields {fields} in each cell of column {str(label)!r}"
            return received, f"Make each field a column: pandas.DataFrame({values}.to_list())."
    texts = column.dropna().astype(str)
    if len(texts) and texts.str.fullmatch(_VECTOR).all():
        rows = f"[cell.strip('[]()').replace(',', ' ').split() for cell in {values}]"
        received = f"vectors written as text in column {str(label)!r} ({texts.iloc[0]!r})"
        return received, f"Convert the text: numpy.array({rows}, float)."
    return None


def _kind(column: pd.Series[Any]) -> str:
    """Describe the kind of a column, with up to three of its values."""
    values = ", ".join(repr(str(value)) for value in column.dropna().astype(str).unique()[:3])
    if isinstance(column.dtype, pd.CategoricalDtype):
        return f"categories ({values})"
    if column.dtype.kind in "mM":
        return f"dates or times ({values})"
    if not values:
        return f"no value at all (dtype {column.dtype})"
    other = next((value for value in column.dropna() if not isinstance(value, str)), None)
    return f"text ({values})" if other is None else f"objects such as {describe(other)}"


DENSE_LIMIT = 8 * 2**30  # bytes


def memory_limit() -> float:
    """Return the bytes that a whole table may take in memory: 8 GiB, or DREVAL_READ_LIMIT if that is more."""
    return max(DENSE_LIMIT, read_limit() or 0)


def check_places(matrix: Any, argument: str) -> None:
    """Check that the entries of a sparse matrix are within its shape.

    Compiled code does not check this, and writes to the address that an index gives: an index beyond the shape would
    end the process.
    """
    if len(matrix.shape) != 2:
        hint = "Pass rows and columns: matrix.reshape(-1, 1) is one column."
        raise InputError(argument, "must be a table of rows and columns", describe(matrix), hint)
    fault = _fault_in_parts(matrix)
    if fault is not None:
        requirement = "must be a sparse matrix with all entries within its shape"
        hint = "Build it again, for instance by coo_array((values, (rows, columns)), shape)."
        raise InputError(argument, requirement, f"{describe(matrix)} with {fault}", hint)


def _fault_in_parts(matrix: Any) -> str | None:
    """Describe the fault in the parts of a sparse matrix; None for a valid one."""
    form = getattr(matrix, "format", "")
    if form == "coo":
        if len({len(matrix.data), *map(len, matrix.coords)}) > 1:
            return f"{len(matrix.data)} values at {' and '.join(str(len(axis)) for axis in matrix.coords)} places"
        pairs = zip(matrix.coords, matrix.shape, strict=True)
        wrong = any(len(positions) and (positions.min() < 0 or positions.max() >= size) for positions, size in pairs)
        return "places outside of its shape" if wrong else None
    if form in ("dia", "dok", "lil"):
        try:
            return _fault_in_parts(matrix.tocoo())
        except (ValueError, IndexError) as error:
            return f"places that are none ({' '.join(str(error).split())[:80]})"
    if form not in ("csr", "csc", "bsr"):  # a matrix of another library, which checks its parts
        return None
    indptr, indices, along = matrix.indptr, matrix.indices, int(form == "csc")
    block = matrix.blocksize if form == "bsr" else (1, 1)
    major, minor = matrix.shape[along] // block[along], matrix.shape[1 - along] // block[1 - along]
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in (indptr, indices)):
        return "an indptr or indices that are not vectors of integers"
    if len(indptr) != major + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return f"an indptr that does not ascend from 0 in {major + 1} steps"
    if indptr[-1] > min(len(indices), len(matrix.data)):
        return f"an indptr up to {indptr[-1]} for {len(indices)} indices and {len(matrix.data)} values"
    used = indices[: indptr[-1]]
    if len(used) and (used.min() < 0 or used.max() >= minor):
        return f"indices from {used.min()} to {used.max()} for {minor} {'columns' if along == 0 else 'rows'}"
    return None


def densify(matrix: Any, argument: str) -> tuple[npt.NDArray[Any], Note]:
    """Return a sparse matrix as a dense array, with a note; more than 8 GiB, or DREVAL_READ_LIMIT, raises an error."""
    check_places(matrix, argument)
    rows, columns = matrix.shape
    needed = rows * columns * 8
    size = f"{needed / 2**30:.1f} GiB" if needed >= 2**30 else f"{max(needed / 2**20, 0.1):.1f} MiB"
    limit = memory_limit()
    if needed > limit:
        raise InputError(
            argument,
            f"must take at most {limit / 2**30:.3g} GiB when made dense",
            f"a sparse matrix of {rows} x {columns} that needs {size}",
            "Select columns or reduce the data first, for instance to 50 principal components; with enough memory, "
            f"set the environment variable DREVAL_READ_LIMIT={2.0 * needed:.2g}.",
        )
    return np.asarray(matrix.toarray()), note("data.dense", rows=rows, columns=columns)


def check_real(matrix: Any, argument: str) -> None:
    """Check that a sparse matrix holds real numbers."""
    if matrix.dtype.kind not in "biuf":
        raise InputError(argument, "must hold real numbers", describe(matrix), "Convert it with .astype(float).")


def as_csr(matrix: Any, argument: str) -> Any:
    """Return a float64 ``csr_array`` with sorted columns, without duplicates and stored zeros.

    The parts are shared if the matrix is in this form already; else they are a copy.
    """
    from scipy.sparse import csr_array

    check_real(matrix, argument)
    check_places(matrix, argument)
    check_exact(np.asarray(matrix.data if hasattr(matrix, "indptr") else matrix.tocoo().data), argument)
    is_normal = getattr(matrix, "format", "") == "csr" and matrix.dtype == np.float64 and matrix.has_canonical_format
    if is_normal and matrix.data.all():  # in normal form: share the caller's arrays
        return csr_array((matrix.data, matrix.indices, matrix.indptr), matrix.shape)
    copied = csr_array(matrix, dtype=np.float64, copy=True)
    check_places(copied, argument)
    copied.sum_duplicates()
    copied.eliminate_zeros()
    copied.sort_indices()
    return copied


MAX_NAMED_COLUMNS = 3  # columns that a note on features names at most
ID_NAMES = frozenset(  # names of row ids in the form that ``is_id_name`` compares; "" is the form of "id"
    (
        *("", "index", "row", "record", "observation", "cell", "barcode", "sample", "specimen"),
        *("patient", "subject", "participant", "individual", "person", "donor"),
    )
)


def hash_weights(p: int) -> npt.NDArray[np.uint64]:
    """Return odd weights of the columns for a 64-bit hash of a row.

    Among 10^6 rows two collide with probability 3e-8.
    """
    return np.random.default_rng(0).integers(2**63, size=p, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def property_notes(
    names: Sequence[str], constant: Any, shares: FloatArray, like_ids: Sequence[str], repeated: int
) -> list[Note]:
    """Return the notes on columns and rows, for dense and sparse features."""
    notes, top = list[Note](), int(np.argmax(shares))
    if len(constant):
        named = [*(repr(names[j]) for j in constant[:3]), *(["..."] if len(constant) > 3 else [])]
        notes.append(note("data.constant", constant=len(constant), columns=len(names), named=named))
    if len(names) > 2 and shares[top] > 0.5 + 1e-9:  # one of two always has half
        notes.append(note("data.one_column", column=names[top], percent=100 * shares[top]))
    notes += [note("data.ids_used", column=name) for name in like_ids]
    return [*notes, *([note("data.repeated", rows=repeated)] if repeated else [])]


def describe_distances(D: FloatArray) -> list[Note]:
    """Return a note on pairs of points at distance 0, after ``check_distances``."""
    pairs = (np.count_nonzero(D == 0) - len(D)) // 2
    return [note("distances.zero", pairs=pairs, share=ZERO_TOLERANCE)] if pairs else []


def is_id_name(name: object) -> bool:
    """Check for a name of row ids: one of ``ID_NAMES``, alone or with "id", "ids", "no" or "nr" behind.

    Case, spaces, underscores, hyphens and points do not count.

    Examples
    --------
    >>> [is_id_name(name) for name in ("PatientID", "sample nr", "ID", "cell", "acid", "age")]
    [True, True, True, True, False, False]
    """
    plain = re.sub(r"[\s_.-]", "", str(name).lower())
    return bool(plain) and re.sub(r"(ids?|no|nr)$", "", plain) in ID_NAMES


def looks_like_ids(name: object, values: FloatArray) -> bool:
    """Check whether a column has a name of row ids and a different integer in each row."""
    named = is_id_name(name)
    return named and bool((np.mod(values, 1) == 0).all()) and len(np.unique(values)) == len(values)


ZERO_TOLERANCE = 1e-12  # relative to the largest distance; smaller entries are rounding errors of 0, e.g. of 1 - cos
ZERO_TOLERANCE_SINGLE = 1e-6  # for the diagonal and signs of a matrix computed in single precision
MAX_TRIANGLE_GAP = 0.5  # relative to the largest distance; rows that differ by more are not copies of a point
MAX_ZEROS_COMPARED = 8  # points at distance 0 with which each point is compared
MAX_ROUNDED_DIAGONAL = 0.01  # relative to the largest entry; a larger diagonal is not rounding: similarities
MAX_ASYMMETRY = 1e-8  # relative difference of entries (i, j) and (j, i): rounding of single precision


def check_signs(D: FloatArray, argument: str, requirement: str, hint: str) -> None:
    """Check that a matrix of distances has no negative entry and a diagonal of 0, both up to rounding.

    The advice of the error begins with ``hint`` and depends on the diagonal. A diagonal of up to
    ``MAX_ROUNDED_DIAGONAL`` of the largest entry may be set to 0. A larger diagonal belongs to similarities, which must
    be converted to distances.

    Rounding is up to 1e-12 of the largest entry, and up to 1e-6 where all entries are numbers of single precision. The
    caller sets such entries to 0.
    """
    diagonal = np.abs(np.diagonal(D))
    lowest, largest = float(D.min(initial=0.0)), float(D.max(initial=0.0))
    if lowest == 0.0 and not diagonal.any():
        return
    with np.errstate(over="ignore"):
        single = bool((D.astype(np.float32) == D).all())
    limit = (ZERO_TOLERANCE_SINGLE if single else ZERO_TOLERANCE) * largest
    row = int(np.argmax(diagonal))
    if diagonal[row] > MAX_ROUNDED_DIAGONAL * largest:
        hint = (
            f"{hint}, not similarities: turn a kernel or correlations K into distances first, with k = numpy.diag(K), "
            "by numpy.sqrt(numpy.maximum(k[:, None] + k - 2 * K, 0))."
        )
    elif diagonal[row] > limit:
        hint = f"{hint}, with a diagonal of 0, as set by numpy.fill_diagonal(D, 0)."
    else:
        hint = f"{hint}, none of which is negative."
    if lowest < -limit:
        raise InputError(argument, requirement, f"a negative entry ({lowest:.3g})", hint)
    if diagonal[row] > limit:
        received = (
            f"{D[row, row]:.3g} on the diagonal, in row {row}, where the largest entry is {largest:.3g}{ROWS_FROM_ZERO}"
        )
        raise InputError(argument, requirement, received, hint)


def check_distances(D: FloatArray, argument: str, keyword: str = "metric") -> FloatArray:
    """Return a matrix of distances, checked and made exactly symmetric, with a diagonal of exactly 0.

    ``keyword`` is the argument that says that they are distances.

    Entries below 1e-12 of the largest become 0: distances computed as 1 - cos or from products are not more exact, and
    such entries would dominate relative errors. Negative entries and entries on the diagonal become 0 too, if they are
    rounding errors by the rule of ``check_signs``.
    """
    requirement = "must be a symmetric matrix of distances with a zero diagonal"
    hint = "Pass all pairwise distances (n, n)"
    points = (1 + math.isqrt(1 + 8 * len(D))) // 2
    if D.shape[1] == 1 and points * (points - 1) // 2 == len(D):
        square_hint = "Make it square: scipy.spatial.distance.squareform(data)"
        raise InputError(
            argument, requirement, f"a vector of {len(D)}, as of all pairs of {points} points", f"{square_hint}."
        )
    if D.shape[0] != D.shape[1]:
        raise InputError(argument, requirement, f"shape {D.shape}", f'{hint}, or {keyword}="euclidean" for points.')
    check_signs(D, argument, requirement, hint)
    if np.abs(D - D.T).max() > MAX_ASYMMETRY * D.max():
        raise InputError(
            argument, requirement, "entries (i, j) and (j, i) that differ", f"{hint}, for example (D + D.T) / 2."
        )
    both = np.ascontiguousarray(0.5 * D + 0.5 * D.T)
    np.fill_diagonal(both, 0.0)
    both[both < ZERO_TOLERANCE * both.max(initial=0.0)] = 0.0
    _check_zeros(both, argument)
    return both


def _check_zeros(D: FloatArray, argument: str) -> None:
    """Raise if points at distance 0 differ in their distances to a third one by over half of the largest distance.

    Copies of a point have equal distances to all others, and points at 0 by rounding nearly equal ones. Entries of 0
    may also mean pairs without an edge, as in the dense form of a graph of neighbors: such points differ in their
    distances. O(n^2) time: each point is compared with at most ``MAX_ZEROS_COMPARED`` of the points at distance 0.
    """
    limit = MAX_TRIANGLE_GAP * float(D.max(initial=0.0))
    for i, row in enumerate(D):
        neighbors = np.flatnonzero(row[:i] == 0)
        neighbors = neighbors[:: max(1, -(-len(neighbors) // MAX_ZEROS_COMPARED))]
        differs = np.abs(D[neighbors] - row) > limit
        if differs.any():
            j = int(neighbors[np.argmax(differs.any(axis=1))])
            k = int(np.argmax(np.abs(D[j] - row)))
            distances = f"{D[j, k]:.3g} and {D[i, k]:.3g}{ROWS_FROM_ZERO}"
            received = f"0 between rows {j} and {i}, whose distances to row {k} are {distances}"
            hint = "Pass all pairwise distances. If 0 means a pair without an edge, pass the distances of the points"
            hint += ", or shortest paths by scipy.sparse.csgraph.shortest_path(graph, directed=False)."
            raise InputError(argument, "must have a distance for every pair of different points", received, hint)


def symmetric_kind(X: Any) -> str | None:
    """Return the code of the note on a square matrix that looks like distances or like similarities, or None.

    Both are symmetric, with an entry off the diagonal. Distances have a diagonal of zeros and no negative entry; all
    others, such as correlations, kernels and products of all pairs of rows, are similarities.

    O(n) time for most square data, whose first row is not their first column, else O(n^2), or linear in the entries of
    sparse data.
    """
    if X.shape[0] != X.shape[1]:
        return None
    top_row, column = (part.toarray() if is_sparse(part) else part for part in (X[[0]], X[:, [0]]))
    largest = float(max(X.max(), -X.min()))
    if largest == 0 or np.abs(top_row.ravel() - column.ravel()).max() > MAX_ASYMMETRY * largest:
        return None
    if abs(X - X.T).max() > MAX_ASYMMETRY * largest:
        return None
    diagonal = X.diagonal()
    entries = X.count_nonzero() if is_sparse(X) else np.count_nonzero(X)
    if entries == np.count_nonzero(diagonal):
        return None
    return "data.like_similarities" if diagonal.any() or X.min() < 0 else "data.like_distances"


MIN_GRAPH_ENTRIES = 20  # entries that a pattern needs to be evidence
MAX_GRAPH_SHARE = 0.5  # share of the pairs with an entry in a graph; a matrix of distances has nearly all
MIN_COMMON_COUNT = 5  # entries of a row from which rows of nearly as many entries are lists of neighbors, too
MIN_SHARE_OF_EQUAL_COUNTS = 0.9  # smallest share of rows with the largest number of entries, for nearest neighbors


def check_no_graph(rows: Any, n: int, argument: str) -> None:
    """Raise an error for a graph of the points: the first m rows of a square matrix (n, n), dense or sparse.

    In a graph no entry is negative, at least ``MIN_GRAPH_ENTRIES`` entries are not 0, and at most the share
    ``MAX_GRAPH_SHARE`` of all entries. One of these conditions must also hold:

    - the diagonal is 0 and the matrix symmetric: an adjacency, such as ``obsp["connectivities"]``;
    - the diagonal is 0 and the share ``MIN_SHARE_OF_EQUAL_COUNTS`` of the rows has k entries, k at least 2, and no row
      more, or, from ``MIN_COMMON_COUNT`` on, k give or take a tenth and one: nearest neighbors, such as
      ``obsp["distances"]``, where copies of a point have entries of 0;
    - the diagonal and all entries are 1 and each row has k entries, k at least 2: neighbors that include the point.

    Square tables of counts hardly ever fulfill the first two. O(entries) time; O(n) for most other square data, whose
    diagonal differs.
    """
    m = rows.shape[0]
    diagonal = rows.diagonal() if is_sparse(rows) else np.diagonal(rows)
    has_loops = bool((diagonal == 1).all())
    if not has_loops and diagonal.any():
        return
    values = rows.data if is_sparse(rows) else rows
    counts = np.diff(rows.indptr) if is_sparse(rows) else np.count_nonzero(rows, axis=1)
    entries, max_count = int(counts.sum()), int(counts.max())
    if not MIN_GRAPH_ENTRIES <= entries <= MAX_GRAPH_SHARE * m * n or (values < 0).any():
        return
    common = int(np.median(counts))
    tolerance = 1 + common // 10 if common >= MIN_COMMON_COUNT and not has_loops else 0
    is_common = np.abs(counts - common) <= tolerance if tolerance else counts == max_count
    if max_count >= 2 and is_common.mean() >= (1.0 if has_loops else MIN_SHARE_OF_EQUAL_COUNTS):
        if has_loops and bool((values[values != 0] != 1).any()):
            return
        each = f"{common} entries in each" if counts.min() == max_count else f"about {common} entries in nearly each"
        what = f"a {n} x {n} matrix with {each} row"
    elif has_loops:
        return
    else:
        corner = rows[:, :m]
        n_entries = corner.count_nonzero() if is_sparse(corner) else np.count_nonzero(corner)
        if n_entries < MIN_GRAPH_ENTRIES or np.abs(corner - corner.T).max() > MAX_ASYMMETRY * values.max():
            return
        what = f"a symmetric {n} x {n} matrix with entries at {100 * entries / (m * n):.2g} % of the pairs"
    sparse = "" if is_sparse(rows) else ", as a sparse matrix"
    hint = "Pass the points, X or an obsm array, or dense distances with metric='precomputed'. To evaluate by the "
    hint += f"graph itself{sparse}: metric='neighbors' for the lists of neighbors in its rows, metric='geodesic' for "
    hint += "the shortest paths along its edges."
    exception_hint = "If the rows are features, append a column of zeros."
    raise InputError(
        argument,
        "must hold features, not a graph",
        f"{what} and {int(has_loops)} on its diagonal",
        f"{hint} {exception_hint}",
    )


def check_defined(X: FloatArray, metric: str, argument: str, keyword: str = "metric") -> None:
    """Raise an error for an array with rows for which a metric, passed as ``keyword``, is not defined."""
    constant = (X == X[:, :1]).all(axis=1)
    check_rows_for(metric, np.flatnonzero(constant & (X[:, 0] == 0)), np.flatnonzero(constant), argument, keyword)


def check_rows_for(metric: str, empty: IntArray, constant: IntArray, argument: str, keyword: str = "metric") -> None:
    """Raise an error for rows for which a metric is not defined: rows of zeros, or constant rows."""
    undefined = {"cosine": empty, "correlation": constant}.get(metric, empty[:0])
    if len(undefined):
        what = "row of zeros" if metric == "cosine" else "constant row"
        n_more = len(undefined) - 1
        further = f", and {n_more} more such row{'s' if n_more > 1 else ''}" if n_more else ""
        requirement, received = f"must have no {what} with {keyword}={metric!r}", f"row {int(undefined[0])}{further}"
        raise InputError(argument, requirement, received, f"Drop such rows, or use {keyword}='euclidean'.")


# One pass over a table of numbers by blocks of rows: errors, notes, and the hash of its cells.

BLOCK_BYTES = 4_000_000  # size of a block of rows of numbers of 8 bytes
N_ROWS_SCANNED = 1024  # first rows of a block; most columns of integers repeat a number in them
MAX_EXACT_INTEGER = 2.0**53  # float64 holds every integer up to it; all larger numbers are whole
MIN_ROWS_FOR_IDS = 10  # with fewer rows, counts or sizes often differ by coincidence


def row_blocks(table: Any, part: slice | None = None) -> list[slice]:
    """Return the blocks of rows in which a table, or some consecutive rows of it, are read."""
    n, p = table.shape
    size = int(np.clip(BLOCK_BYTES // (8 * max(p, 1)), 1024, 1 << 16))
    start, stop = (0, n) if part is None else (part.start, part.stop)
    return [slice(at, min(at + size, stop)) for at in range(start, stop, size)]


def rows_of(table: Any, index: slice | npt.NDArray[np.int64]) -> Any:
    """Return rows of a table as an array of float64 or a sparse matrix."""
    rows = table[index]
    return rows if is_sparse(rows) else np.asarray(rows, np.float64)


@dataclass(frozen=True)
class AllRows:
    """Row numbers 0 to n - 1 that are not stored, sliced like an array."""

    n: int

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return np.arange(*index.indices(self.n))
        index = np.asarray(index)
        return np.flatnonzero(index) if index.dtype == np.bool_ else np.where(index < 0, index + self.n, index)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.arange(self.n, dtype=dtype)


@dataclass(frozen=True)
class PermutedRows:
    """A table of rows of another table in any order, without a copy.

    ``order`` has an entry for each row, and gives the rows of the other table for an array of positions.
    """

    table: Any
    order: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.order), int(self.table.shape[1])

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: slice | npt.NDArray[np.int64]) -> Any:
        requested = self.order[AllRows(len(self))[index]]
        rows, inverse = np.unique(requested, return_inverse=True)
        return rows_of(self.table, rows)[inverse.reshape(requested.shape)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self[:], dtype)


@dataclass(frozen=True)
class DistanceTable:
    """The distances between all points of an embedding; a selection of points selects rows and columns alike.

    ``order`` holds the points, as positions in ``values``; no selection makes a copy.
    """

    values: FloatArray
    order: Any

    @classmethod
    def of(cls, values: Any) -> DistanceTable:
        """Return the table of a square array."""
        return cls(np.asarray(values, np.float64), AllRows(len(values)))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points, twice."""
        return len(self.order), len(self.order)

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, points: Any) -> DistanceTable:
        return DistanceTable(self.values, self.order[points])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if isinstance(self.order, AllRows):
            return np.asarray(self.values, dtype)
        return np.asarray(self.values[np.ix_(self.order, self.order)], dtype)


def read_blocks(table: Any) -> Iterator[tuple[slice, Any]]:
    """Yield the blocks of a table with their slices, as C-ordered float64 or sparse matrices."""
    for part in row_blocks(table):
        block = table[part]
        yield part, block if is_sparse(block) else np.ascontiguousarray(block, np.float64)


def digest_of(table: Any) -> str:
    """Return the SHA-256 of the cells as float64, row by row; of sparse rows of their positions and numbers."""
    digest = _Digest()
    for _, block in read_blocks(table):
        digest.add(block)
    return digest.hexdigest()


class _Digest:
    """Hash of the rows that are added, in blocks of any size."""

    def __init__(self) -> None:
        self.parts = [hashlib.sha256() for _ in range(3)]  # of sparse rows: counts, places and numbers
        self.sparse = False

    def add(self, block: Any) -> None:
        """Add a block of rows."""
        self.sparse = is_sparse(block)
        if not self.sparse:
            self.parts[0].update(block.data)
            return
        counts = np.diff(block.indptr).astype(np.int64)
        for part, array in zip(self.parts, (counts, block.indices.astype(np.int64), block.data), strict=True):
            part.update(np.ascontiguousarray(array).data)

    def hexdigest(self) -> str:
        """Return the hash of all rows."""
        digests = [part.digest() for part in self.parts]
        return hashlib.sha256(b"".join(digests)).hexdigest() if self.sparse else digests[0].hex()


def check_all_finite(table: Any, argument: str, columns: Sequence[object] | None) -> None:
    """Raise an error for NaN and infinity that names the first such cells of all blocks."""
    values, cells, count = [], [], 0
    for part, block in read_blocks(table):
        stored = block.data if is_sparse(block) else block
        invalid = ~np.isfinite(stored)
        if invalid.any():
            sparse = is_sparse(block)
            positions = np.stack(block.tocoo().coords, axis=1)[invalid] if sparse else np.argwhere(invalid)
            count += len(positions)
            values.append(stored[invalid][:3])
            cells.append(positions[:3] + np.array([part.start, 0]))
    if count:
        raise not_finite_error(np.concatenate(values)[:3], np.concatenate(cells)[:3], count, argument, columns)


@dataclass
class TableSummary:
    """Properties of a table from one pass over its rows; values that are not finite raise an error.

    Attributes
    ----------
    sha256 : str
        SHA-256 of the cells as float64.
    largest, smallest : float
        Largest absolute value, and the smallest that is not 0.
    low, high : ndarray (p,)
        Range of each column.
    empty_rows, constant_rows : ndarray of int
        Rows of zeros, and rows whose cells are all equal.
    with_notes : bool
        Whether ``notes`` will be called; the hashes of all rows are stored until then.
    """

    table: Any
    columns: tuple[str, ...] | None
    argument: str = "data"
    with_notes: bool = True
    sha256: str = ""
    largest: float = 0.0
    smallest: float = np.inf
    low: FloatArray = field(default_factory=lambda: np.empty(0))
    high: FloatArray = field(default_factory=lambda: np.empty(0))
    empty_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    constant_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __post_init__(self) -> None:
        n, p = self.table.shape
        digest, self.low, self.high = _Digest(), np.full(p, np.inf), np.full(p, -np.inf)
        self._keys, weights = np.empty(n if self.with_notes else 0, np.uint64), hash_weights(p)
        self._spread, self._two_values, self._integers = _Spread(p), _TwoValues(p), _Integers(p)
        no_rows = np.empty(0, np.int64)
        empty, constant = [no_rows], [no_rows]
        for part, block in read_blocks(self.table):
            if not np.isfinite(block).all():
                check_all_finite(self.table, self.argument, self.columns)
            digest.add(block)
            absolute = np.abs(block)
            self.largest = max(self.largest, float(absolute.max()))
            check_magnitude(self.largest, self.argument, part=True)
            self.smallest = min(self.smallest, float(absolute.min(initial=np.inf, where=absolute > 0)))
            self.low, self.high = np.minimum(self.low, block.min(axis=0)), np.maximum(self.high, block.max(axis=0))
            is_constant = (block == block[:, :1]).all(axis=1)
            constant.append(part.start + np.flatnonzero(is_constant))
            empty.append(part.start + np.flatnonzero(is_constant & (block[:, 0] == 0)))
            self._spread.add(block)
            if not self.with_notes:
                continue
            self._two_values.add(block)
            self._integers.add(block)
            hashed = pd.util.hash_array((block + 0.0).ravel()).reshape(block.shape)  # no negative zeros
            self._keys[part] = (hashed * weights).sum(axis=1)
        self.sha256 = digest.hexdigest()
        self.empty_rows, self.constant_rows = np.concatenate(empty), np.concatenate(constant)

    @property
    def all_equal(self) -> bool:
        """Whether all rows are equal."""
        return bool((self.low == self.high).all())

    @property
    def spread(self) -> FloatArray:
        """The standard deviation of each column."""
        return self._spread.deviations()

    def notes(self) -> list[Note]:
        """Return notes on columns (constant, dominating the variance, like ids or labels) and on repeated rows."""
        n, p = self.table.shape
        names = self.columns or tuple(str(j) for j in range(p))
        # 0, 1, 2, ... or 1, 2, 3, ...
        may_count = np.isin(self.low, (0, 1)) & (self.high == self.low + n - 1) & (p > 1)
        count_columns = [
            j
            for j in np.flatnonzero(may_count).tolist()
            if np.array_equal(self.table[:, j], np.arange(n) + self.low[j])
        ]
        id_columns = [
            name
            for j, name in enumerate(names)
            if is_id_name(name) and looks_like_ids(name, np.asarray(self.table[:, j], np.float64))
        ]
        self._keys.sort()  # in place, since there is one per row
        repeated = int(np.count_nonzero(self._keys[1:] == self._keys[:-1]))
        notes = property_notes(
            names, np.flatnonzero(self.low == self.high), self._spread.shares(), id_columns, repeated
        )
        notes += [
            note("data.counts_rows", column=names[j], first=int(self.low[j]), second=int(self.low[j]) + 1)
            for j in count_columns
            if names[j] not in id_columns
        ]
        other_columns = [j for j in self._naming_columns() if j not in count_columns and names[j] not in id_columns]
        if other_columns:
            listed = [repr(names[j]) for j in other_columns[:MAX_NAMED_COLUMNS]]
            listed += ["..."] if len(other_columns) > MAX_NAMED_COLUMNS else []
            notes.append(note("data.names_rows", columns=listed, count=len(other_columns)))
        binary = self._two_values.two & (self.low < self.high)
        if self.columns is None and p > 2 and binary[-1] and not binary[:-1].any():
            notes.append(note("data.binary_last", values=[float(self.low[-1]), float(self.high[-1])]))
        return notes

    def _naming_columns(self) -> list[int]:
        """Return the columns that hold a different integer in every row, where another column has decimals."""
        n = self.table.shape[0]
        if n < MIN_ROWS_FOR_IDS or self._integers.whole.all():
            return []
        exact = np.maximum(np.abs(self.low), np.abs(self.high)) <= MAX_EXACT_INTEGER
        candidates = np.flatnonzero(
            self._integers.different & exact & (self.high / 2 - self.low / 2 >= (n - 1) / 2)
        ).tolist()
        return [j for j in candidates if len(np.unique(np.asarray(self.table[:, j], np.float64))) == n]


class SparseTableSummary:
    """Properties of a sparse table from one pass over its rows, like ``TableSummary``; O(entries + columns)."""

    def __init__(self, table: Any, columns: tuple[str, ...] | None) -> None:
        n, p = table.shape
        digest, self.columns, self.shape = _Digest(), columns, (n, p)
        self.largest, self.smallest = 0.0, np.inf
        self._counts, self._spread = np.zeros(p, np.int64), _Spread(p)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)
        self._keys, weights, empty = np.empty(n, np.uint64), hash_weights(p), []
        for part, block in read_blocks(table):
            if not np.isfinite(block.data).all():
                check_all_finite(table, "data", columns)
            digest.add(block)
            absolute = np.abs(block.data)
            self.largest = max(self.largest, float(absolute.max(initial=0.0)))
            check_magnitude(self.largest, "data", part=True)
            self.smallest = min(self.smallest, float(absolute.min(initial=np.inf)))
            self._counts += np.bincount(block.indices, minlength=p)
            np.minimum.at(self.low, block.indices, block.data)
            np.maximum.at(self.high, block.indices, block.data)
            empty.append(part.start + np.flatnonzero(np.diff(block.indptr) == 0))
            self._spread.add_sparse(block)
            terms = pd.util.hash_array(block.data) * weights[block.indices]
            sums = np.r_[np.uint64(0), np.cumsum(terms, dtype=np.uint64)]
            self._keys[part] = sums[block.indptr[1:]] - sums[block.indptr[:-1]]
        self.sha256, self.empty_rows = digest.hexdigest(), np.concatenate([np.empty(0, np.int64), *empty])
        self.constant_rows = np.empty(0, np.int64)  # computed for dense rows only

    @property
    def _constant(self) -> npt.NDArray[np.bool_]:
        """Whether each column is constant."""
        full = self._counts == self.shape[0]
        return np.asarray((full & (self.low == self.high)) | (self._counts == 0))

    @property
    def all_equal(self) -> bool:
        """Whether all rows are equal."""
        return bool(self._constant.all())

    def notes(self) -> list[Note]:
        """Return notes on constant columns, a column that carries most of the variance, and repeated rows."""
        p = self.shape[1]
        names = self.columns or tuple(str(j) for j in range(p))
        self._keys.sort()  # in place, since there is one per row
        repeated = int(np.count_nonzero(self._keys[1:] == self._keys[:-1]))
        return property_notes(names, np.flatnonzero(self._constant), self._spread.shares(), (), repeated)


class _Spread:
    """Squared differences of columns from their means, summed over blocks."""

    def __init__(self, p: int) -> None:
        self.count = 0
        self.mean, self.squares = np.zeros(p), np.zeros(p)
        self.origin = np.zeros(p)

    def add(self, block: FloatArray) -> None:
        """Add a block: its squares about the means of the block, and the squares of the steps between the means."""
        if self.count == 0:
            self.origin = block[0].astype(np.float64)
        shifted = block - self.origin
        mean = shifted.mean(axis=0)
        shifted -= mean
        self._merge(mean, np.einsum("ij,ij->j", shifted, shifted), len(block))

    def add_sparse(self, block: Any) -> None:
        """Add a block of sparse rows."""
        (m, p), columns = block.shape, block.indices
        values = block.data
        mean, empty = np.bincount(columns, values, p) / m, m - np.bincount(columns, minlength=p)
        self._merge(mean, np.bincount(columns, (values - mean[columns]) ** 2, p) + empty * mean**2, m)

    def _merge(self, mean: FloatArray, squares: FloatArray, m: int) -> None:
        """Add the means of a block and its squares about them."""
        step, total = mean - self.mean, self.count + m
        self.squares += squares + step**2 * (self.count * m / total)
        self.mean += step * (m / total)
        self.count = total

    def deviations(self) -> FloatArray:
        """Return the standard deviation of each column."""
        return np.sqrt(self.squares / max(self.count, 1))

    def shares(self) -> FloatArray:
        """Return the fraction of the total variance in each column."""
        total = self.squares.sum()
        return self.squares / total if total > 0 else self.squares


class _Integers:
    """Flags of the columns that hold only integers, and of those that repeat none among the first rows of a block."""

    def __init__(self, p: int) -> None:
        self.whole, self.different = np.ones(p, np.bool_), np.ones(p, np.bool_)

    def add(self, block: FloatArray) -> None:
        """Update the flags by a block."""
        if self.whole.any():
            self.whole &= (np.rint(block) == block).all(axis=0)
            self.different &= self.whole
        columns = np.flatnonzero(self.different)
        if len(columns):
            values = np.sort(block[:N_ROWS_SCANNED, columns], axis=0)
            self.different[columns] = (values[1:] != values[:-1]).all(axis=0)


class _TwoValues:
    """Flags of the columns that hold at most two different values."""

    def __init__(self, p: int) -> None:
        self.two = np.ones(p, np.bool_)
        self.values: list[FloatArray] = []

    def add(self, block: FloatArray) -> None:
        """Update the flags by a block."""
        if not self.values:
            self.values = [block[0].copy(), block[0].copy()]
        first_values, second_values = self.values
        has_one_value = (second_values == first_values) & self.two
        differs = block != first_values
        for j in np.flatnonzero(has_one_value & differs.any(axis=0)):
            second_values[j] = block[np.argmax(differs[:, j]), j]
        if self.two.any():
            self.two &= ~(differs & (block != second_values)).any(axis=0)
