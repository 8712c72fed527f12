"""Bring a matrix of numbers or distances into normal form, and state what is refused or notable."""

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

from dreval._check import (
    FROM_ZERO,
    FloatArray,
    IntArray,
    check_exact,
    check_unmasked,
    describe,
    described_vectors,
    not_finite,
    read_limit,
    vectors,
)
from dreval.errors import Hint, InputError
from dreval.records.notes import Note, note

# The matrix of features or distances: columns as float64, sparse normal form, notable properties, the metric.

_COMMA = re.compile(r"\s*[+-]?\d+,\d+(e[+-]?\d+)?\s*", re.I)
_GROUPED = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*")
_POINTS = re.compile(r"\s*[+-]?\d{1,3}(\.\d{3})+(,\d*|\.\d{3})\s*")
_NO_POINT = re.compile(r"\s*[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d*)?\s*")
_WHOLE = re.compile(r"\s*[+-]?\d+(\.\d*)?\s*")
_VECTOR = re.compile(r"\s*[\[(]\s*[-+.\de]+([\s,]+[-+.\de]+)+,?\s*[\])]\s*", re.I)  # as a list or an array is printed
COLUMN_SOURCE = "dreval.column"  # the key of ``DataFrame.attrs`` that holds the expression for a column of the input
ROW_NAMES = "dreval.row_names"  # the key of ``DataFrame.attrs`` that says that the first column has the row names
_MINUS = "\u2212"
_MARKED = re.compile(  # numbers as people write them: with a typographic minus, a percent sign, marks between thousands
    rf"\s*[<>~]?\s*[+\-{_MINUS}]?\s*((\d{{1,3}}([\s,']\d{{3}})+|\d+)([.,]\d*)?|[.,]\d+)(e[+\-{_MINUS}]?\d+)?\s*%?\s*",
    re.I,
)


def frame_table(frame: pd.DataFrame, argument: str, cure: str, *others: str) -> npt.NDArray[np.floating[Any]]:
    """The cells of a frame as a C-ordered array of floats: as they lie in memory where they are such, else a copy.

    Cells of single precision stay so. What is not copied cannot be written to through the result.
    """
    kinds = set(frame.dtypes)
    if kinds <= {np.dtype(np.float32)} or kinds <= {np.dtype(np.float64)}:
        values = frame.to_numpy(copy=False)
        if values.flags.c_contiguous:
            values = values.view()
            values.flags.writeable = False
            return values
        if kinds <= {np.dtype(np.float32)}:
            return np.array(values, order="C")
    return frame_numbers(frame, argument, cure, *others)


def frame_numbers(frame: pd.DataFrame, argument: str, cure: str, *others: str) -> npt.NDArray[np.float64]:
    """The cells of a frame as a C-ordered (n, p) float64 copy; missing cells become NaN.

    ``cure`` is what to do with a column of text; ``{ids}`` in it is the argument ``ids`` of ``others``, set to the
    column.
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
            raise _refusal(frame, j, argument, cure, others)
        try:
            out[:, j] = _values(column)
        except OverflowError as error:
            got = f"an integer of more than 308 digits in column {str(frame.columns[j])!r}"
            how = "Repair that cell; write missing values as NA, and drop or impute them."
            raise InputError(argument, "must hold numbers that a float can hold", got, how) from error
    return out


def _values(column: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """The numbers of one column; missing values are NaN."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        with np.errstate(over="ignore"):
            return np.asarray(column.to_numpy().astype(np.float64))
    if isinstance(column.dtype, np.dtype):
        column = column.astype(object).where(column.notna(), np.nan)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def native(values: Any) -> Any:
    """Return an array, Series or Index in the machine's order of bytes: pandas looks for no numbers in another one."""
    dtype = values.dtype
    return values if not isinstance(dtype, np.dtype) or dtype.isnative else values.astype(dtype.newbyteorder("="))


def is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column holds only real numbers or booleans."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return False
    if kind.kind == "O" and isinstance(kind, np.dtype):
        inferred = pd.api.types.infer_dtype(column, skipna=True)
        return inferred in ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
    if pd.api.types.is_complex_dtype(kind):
        return False
    return bool(pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind))


def _refusal(frame: pd.DataFrame, j: int, argument: str, cure: str, others: Iterable[str]) -> InputError:
    """The error for one column that is not numeric."""
    column, name = frame.iloc[:, j], str(frame.columns[j])
    rest = sum(not is_numeric(frame.iloc[:, i]) for i in range(frame.shape[1])) - 1
    more = f", and {rest} more such column{'s' if rest > 1 else ''}" if rest else ""
    rule = "must hold numbers in every column"
    if pd.api.types.is_complex_dtype(column.dtype):
        split = "Pass the real and imaginary parts as separate columns."
        return InputError(argument, rule, f"complex numbers in column {name!r}{more}", split)
    for place in [j, *(i for i in range(frame.shape[1]) if i != j and not is_numeric(frame.iloc[:, i]))]:
        if (described := _of_vectors(frame, place)) is not None:
            return InputError(argument, rule, f"{described[0]}{more}", described[1])
    cells = column.dropna().astype(str)
    if (commas := _commas(cells, frame.attrs.get("separator"))) is not None:
        cell, what, how = commas
        return InputError(argument, rule, f"numbers with {what} in column {name!r} ({cell!r}){more}", how)
    stray = np.flatnonzero(pd.to_numeric(column.astype(object), errors="coerce").isna() & column.notna())
    marked = cells.str.fullmatch(_MARKED)
    nearly = 0 < len(stray) < 0.5 * len(column) or (marked.any() and marked.mean() >= 0.9)
    if not isinstance(column.dtype, pd.CategoricalDtype) and len(stray) and nearly:
        cell = str(column.iloc[stray[0]])
        what, how = "", "Repair these cells; write missing values as NA, and drop or impute them."
        if _MARKED.fullmatch(cell) and _MINUS in cell:
            what = ", whose minus sign is the character U+2212"
            how = f"Write it as '-': column.str.replace({_MINUS!a}, '-').astype(float)."
        elif _MARKED.fullmatch(cell) and "%" in cell:
            what, how = ", with a percent sign", "Remove it: column.str.rstrip('% ').astype(float)."
        got = f"{cell!r} in row {stray[0]} of column {name!r}{what}, {len(stray)} such in all{more}{FROM_ZERO}"
        return InputError(argument, rule, got, how)
    named = {other: Hint(other, name) for other in others}
    return InputError(argument, rule, f"{_kind(column)} in column {name!r}{more}", cure, **named)


def _of_vectors(frame: pd.DataFrame, j: int) -> tuple[str, str] | None:
    """What is received in a column of vectors, also those written as text, and what to do; None for other columns."""
    column, label = frame.iloc[:, j], frame.columns[j]
    label = label.item() if isinstance(label, np.generic) else label
    values = frame.attrs.get(COLUMN_SOURCE, "frame[{column}]").replace("{column}", repr(label))
    if not isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.kind == "O":
        present = column[column.notna()]
        shapes = vectors(present)
        if shapes is not None:
            missing = len(column) - len(present)
            return described_vectors(shapes, len(column), f"{values}.to_list()", missing, f" of column {str(label)!r}")
        if len(present) and all(isinstance(cell, dict) for cell in present):
            fields = ", ".join(repr(str(field)) for field in [*present.iloc[0]][:3])
            got = f"a mapping with the fields {fields} in each cell of column {str(label)!r}"
            return got, f"Make each field a column: pandas.DataFrame({values}.to_list())."
    written = column.dropna().astype(str)
    if len(written) and written.str.fullmatch(_VECTOR).all():
        rows = f"[cell.strip('[]()').replace(',', ' ').split() for cell in {values}]"
        got = f"vectors written as text in column {str(label)!r} ({written.iloc[0]!r})"
        return got, f"Convert the text: numpy.array({rows}, float)."
    return None


def _commas(cells: pd.Series[Any], separator: str | None) -> tuple[str, str, str] | None:
    """The first number with a comma, what the commas are, and how to read the file; None where others are there.

    ``separator`` is that of the file, where it is known.
    """
    options = "decimal=','" if separator == "," else f"sep={separator or ';'!r}, decimal=','"
    decimal = f"pandas.read_csv(path, {options})"
    other = "thousands=','" if separator in (None, ",") else f"sep={separator!r}, thousands=','"
    grouped = f"pandas.read_csv(path, {other})"
    both = (
        f"Read the file with {grouped} where the commas group digits, or with {decimal} where they are decimal commas."
    )
    one = f"Write them with decimal points, or read the file with {decimal}."
    groups = f"Read the file with {decimal[:-1]}, thousands='.')."
    known = [(_GROUPED, _WHOLE, "commas", both), (_COMMA, _WHOLE, "decimal commas", one)]
    for form, others, what, how in [*known, (_POINTS, _NO_POINT, "points between thousands", groups)]:
        found = cells.str.fullmatch(form)
        if found.any() and cells[~found].str.fullmatch(others).all():
            return str(cells[found].iloc[0]), what, how
    return None


def _kind(column: pd.Series[Any]) -> str:
    """The kind of a column, with up to three of its values."""
    values = ", ".join(repr(str(value)) for value in column.dropna().astype(str).unique()[:3])
    if isinstance(column.dtype, pd.CategoricalDtype):
        return f"categories ({values})"
    if column.dtype.kind in "mM":
        return f"dates or times ({values})"
    if not values:
        return f"no value at all (dtype {column.dtype})"
    other = next((value for value in column.dropna() if not isinstance(value, str)), None)
    return f"text ({values})" if other is None else f"objects such as {describe(other)}"


DENSE_LIMIT = 8 * 2**30


def is_sparse(value: Any) -> bool:
    """Whether a value is a scipy sparse matrix or array, or has the same methods."""
    return hasattr(value, "tocsr") and hasattr(value, "toarray")


def check_places(matrix: Any, argument: str) -> None:
    """Check that the entries of a sparse matrix lie within its shape, as code that trusts them would not.

    Compiled code writes where the indices say: those beyond the shape end the process.
    """
    if len(matrix.shape) != 2:
        cure = "Pass rows and columns: matrix.reshape(-1, 1) is one column."
        raise InputError(argument, "must be a table of rows and columns", describe(matrix), cure)
    fault = _fault(matrix)
    if fault is not None:
        rule = "must be a sparse matrix with all entries within its shape"
        cure = "Build it again, for instance by coo_array((values, (rows, columns)), shape)."
        raise InputError(argument, rule, f"{describe(matrix)} with {fault}", cure)


def _fault(matrix: Any) -> str | None:
    """What is wrong with the parts of a sparse matrix; None for a valid one."""
    form = getattr(matrix, "format", "")
    if form == "coo":
        if len({len(matrix.data), *map(len, matrix.coords)}) > 1:
            return f"{len(matrix.data)} values at {' and '.join(str(len(one)) for one in matrix.coords)} places"
        pairs = zip(matrix.coords, matrix.shape, strict=True)
        wrong = any(len(places) and (places.min() < 0 or places.max() >= size) for places, size in pairs)
        return "places outside of its shape" if wrong else None
    if form in ("dia", "dok", "lil"):
        try:
            return _fault(matrix.tocoo())
        except (ValueError, IndexError) as error:
            return f"places that are none ({' '.join(str(error).split())[:80]})"
    if form not in ("csr", "csc", "bsr"):  # of another library, which checks its own
        return None
    indptr, indices, along = matrix.indptr, matrix.indices, int(form == "csc")
    block = matrix.blocksize if form == "bsr" else (1, 1)
    major, minor = matrix.shape[along] // block[along], matrix.shape[1 - along] // block[1 - along]
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in (indptr, indices)):
        return "an indptr or indices that are no vectors of integers"
    if len(indptr) != major + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return f"an indptr that does not ascend from 0 in {major + 1} steps"
    if indptr[-1] > min(len(indices), len(matrix.data)):
        return f"an indptr up to {indptr[-1]} for {len(indices)} indices and {len(matrix.data)} values"
    used = indices[: indptr[-1]]
    if len(used) and (used.min() < 0 or used.max() >= minor):
        return f"indices from {used.min()} to {used.max()} for {minor} {'columns' if along == 0 else 'rows'}"
    return None


def densify(matrix: Any, argument: str) -> tuple[npt.NDArray[Any], Note]:
    """A sparse matrix as a dense array, with a note; more than 8 GiB, or DREVAL_READ_LIMIT, raises an error."""
    check_places(matrix, argument)
    rows, columns = matrix.shape
    needed = rows * columns * 8
    size = f"{needed / 2**30:.1f} GiB" if needed >= 2**30 else f"{max(needed / 2**20, 0.1):.1f} MiB"
    limit = max(DENSE_LIMIT, read_limit() or 0)
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
    """A float64 ``csr_array`` with sorted columns, without duplicates and stored zeros; a copy unless it is such."""
    from scipy.sparse import csr_array

    check_real(matrix, argument)
    check_places(matrix, argument)
    check_exact(np.asarray(matrix.data if hasattr(matrix, "indptr") else matrix.tocoo().data), argument)
    plain = getattr(matrix, "format", "") == "csr" and matrix.dtype == np.float64 and matrix.has_canonical_format
    if plain and matrix.data.all():  # as it should be: the caller's own arrays
        return csr_array((matrix.data, matrix.indices, matrix.indptr), matrix.shape)
    own = csr_array(matrix, dtype=np.float64, copy=True)
    check_places(own, argument)
    own.sum_duplicates()
    own.eliminate_zeros()
    own.sort_indices()
    return own


MAX_NAMED = 3  # columns that a note on features names
ID_NAMES = frozenset(  # of columns of row ids, as ``is_id_name`` compares them; "" is what it leaves of "id"
    (
        *("", "index", "row", "record", "observation", "cell", "barcode", "sample", "specimen"),
        *("patient", "subject", "participant", "individual", "person", "donor"),
    )
)


def hash_weights(p: int) -> npt.NDArray[np.uint64]:
    """Odd weights of the columns in a 64-bit hash of a row; among 10^6 rows two collide with probability 3e-8."""
    return np.random.default_rng(0).integers(2**63, size=p, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def described(
    names: Sequence[str], constant: Any, shares: FloatArray, like_ids: Sequence[str], repeated: int
) -> list[Note]:
    """The notes on columns and rows, of dense and of sparse features."""
    notes, top = list[Note](), int(np.argmax(shares))
    if len(constant):
        named = [*(repr(names[j]) for j in constant[:3]), *(["..."] if len(constant) > 3 else [])]
        notes.append(note("data.constant", constant=len(constant), columns=len(names), named=named))
    if len(names) > 2 and shares[top] > 0.5 + 1e-9:  # one of two always has half
        notes.append(note("data.one_column", column=names[top], percent=100 * shares[top]))
    notes += [note("data.ids_used", column=name) for name in like_ids]
    return [*notes, *([note("data.repeated", rows=repeated)] if repeated else [])]


def describe_distances(D: FloatArray) -> list[Note]:
    """A note on pairs of points at distance 0, as ``check_distances`` leaves them."""
    pairs = (np.count_nonzero(D == 0) - len(D)) // 2
    return [note("distances.zero", pairs=pairs, share=NOTHING)] if pairs else []


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
    """Whether a column has a name of row ids and a different integer in each row."""
    named = is_id_name(name)
    return named and bool((np.mod(values, 1) == 0).all()) and len(np.unique(values)) == len(values)


NOTHING = 1e-12  # of the largest distance: smaller entries are rounding errors of 0, as in 1 - cos of equal rows
NOTHING_SINGLE = 1e-6  # the same of a matrix that was computed in single precision, for its diagonal and its signs
UNEQUAL_ROWS = 0.5  # of the largest distance: rows that differ by more are not of one point
ZEROS_COMPARED = 8  # points at distance 0 that each point is compared with
ROUNDED_DIAGONAL = 0.01  # of the largest distance: larger entries on a diagonal are no rounding, as of similarities
SYMMETRY = 1e-8  # entries (i, j) and (j, i) may differ by rounding of single precision at most


def check_signs(D: FloatArray, argument: str, rule: str, cure: str) -> None:
    """Check that a matrix of distances has no negative entry and a diagonal of 0, both up to rounding.

    The error begins with ``cure``, and continues with what the diagonal shows: up to ``ROUNDED_DIAGONAL`` of the
    largest entry it may be set to 0; a larger one is that of similarities, which must become distances.

    Rounding is up to 1e-12 of the largest entry, and up to 1e-6 where all entries are numbers of single precision. The
    caller sets such entries to 0.
    """
    diagonal = np.abs(np.diagonal(D))
    lowest, largest = float(D.min(initial=0.0)), float(D.max(initial=0.0))
    if lowest == 0.0 and not diagonal.any():
        return
    with np.errstate(over="ignore"):
        single = bool((D.astype(np.float32) == D).all())
    limit = (NOTHING_SINGLE if single else NOTHING) * largest
    row = int(np.argmax(diagonal))
    if diagonal[row] > ROUNDED_DIAGONAL * largest:
        cure = (
            f"{cure}, not similarities: turn a kernel or correlations K into distances first, with k = numpy.diag(K), "
            "by numpy.sqrt(numpy.maximum(k[:, None] + k - 2 * K, 0))."
        )
    elif diagonal[row] > limit:
        cure = f"{cure}, with a diagonal of 0, as set by numpy.fill_diagonal(D, 0)."
    else:
        cure = f"{cure}, none of which is negative."
    if lowest < -limit:
        raise InputError(argument, rule, f"a negative entry ({lowest:.3g})", cure)
    if diagonal[row] > limit:
        got = f"{D[row, row]:.3g} on the diagonal, in row {row}, where the largest entry is {largest:.3g}{FROM_ZERO}"
        raise InputError(argument, rule, got, cure)


def check_distances(D: FloatArray, argument: str) -> FloatArray:
    """A matrix of distances, checked and made exactly symmetric, with a diagonal of exactly 0.

    Entries below 1e-12 of the largest become 0: distances computed as 1 - cos or from products are not more exact, and
    such entries would dominate relative errors. ``check_signs`` says which entries are negative or on the diagonal by
    rounding alone; they become 0 too.
    """
    rule, cure = "must be a symmetric matrix of distances with a zero diagonal", "Pass all pairwise distances (n, n)"
    points = (1 + math.isqrt(1 + 8 * len(D))) // 2
    if D.shape[1] == 1 and points * (points - 1) // 2 == len(D):
        how = "Make it square: scipy.spatial.distance.squareform(data)"
        raise InputError(argument, rule, f"a vector of {len(D)}, as of all pairs of {points} points", f"{how}.")
    if D.shape[0] != D.shape[1]:
        raise InputError(argument, rule, f"shape {D.shape}", f'{cure}, or metric="euclidean" for points.')
    check_signs(D, argument, rule, cure)
    if np.abs(D - D.T).max() > SYMMETRY * D.max():
        raise InputError(argument, rule, "entries (i, j) and (j, i) that differ", f"{cure}, for example (D + D.T) / 2.")
    both = np.ascontiguousarray(0.5 * D + 0.5 * D.T)
    np.fill_diagonal(both, 0.0)
    both[both < NOTHING * both.max(initial=0.0)] = 0.0
    _check_zeros(both, argument)
    return both


def _check_zeros(D: FloatArray, argument: str) -> None:
    """Refuse distances of 0 between points whose distances to a third one differ by more than half of the largest.

    Copies of a point have equal distances to all others, and points at 0 by rounding nearly equal ones. Entries of 0
    that stand for pairs without an edge, as in the dense form of a graph of neighbors, join points that do not.
    O(n^2) time: each point is compared with at most ``ZEROS_COMPARED`` of those at distance 0.
    """
    limit = UNEQUAL_ROWS * float(D.max(initial=0.0))
    for i, row in enumerate(D):
        others = np.flatnonzero(row[:i] == 0)
        others = others[:: max(1, -(-len(others) // ZEROS_COMPARED))]
        far = np.abs(D[others] - row) > limit
        if far.any():
            j = int(others[np.argmax(far.any(axis=1))])
            k = int(np.argmax(np.abs(D[j] - row)))
            got = (
                f"0 between rows {j} and {i}, whose distances to row {k} are {D[j, k]:.3g} and {D[i, k]:.3g}{FROM_ZERO}"
            )
            how = "Pass all pairwise distances: where 0 stands for a pair without an edge, those of the points"
            how += ", or shortest paths by scipy.sparse.csgraph.shortest_path(graph, directed=False)."
            raise InputError(argument, "must have a distance for every pair of different points", got, how)


def symmetric_kind(X: Any) -> str | None:
    """Return the code of the note on a square matrix that looks like distances or like similarities, or None.

    Both are symmetric, with an entry off the diagonal. Distances have a diagonal of zeros and no negative entry; all
    others, such as correlations, kernels and products of all pairs of rows, are similarities.

    O(n) time for most square data, whose first row is not their first column, else O(n^2), or linear in the entries of
    sparse data.
    """
    if X.shape[0] != X.shape[1]:
        return None
    first, column = (part.toarray() if is_sparse(part) else part for part in (X[[0]], X[:, [0]]))
    largest = float(max(X.max(), -X.min()))
    if largest == 0 or np.abs(first.ravel() - column.ravel()).max() > SYMMETRY * largest:
        return None
    if abs(X - X.T).max() > SYMMETRY * largest:
        return None
    diagonal = X.diagonal()
    entries = X.count_nonzero() if is_sparse(X) else np.count_nonzero(X)
    if entries == np.count_nonzero(diagonal):
        return None
    return "data.like_similarities" if diagonal.any() or X.min() < 0 else "data.like_distances"


GRAPH_ENTRIES = 20  # entries from which on a pattern is evidence
GRAPH_SHARE = 0.5  # of the pairs at most have an entry in a graph; a matrix of distances has nearly all
EQUAL_COUNTS = 0.9  # of the rows at least have the largest number of entries in a graph of nearest neighbors


def check_no_graph(rows: Any, n: int, argument: str) -> None:
    """Refuse a graph of the points: the first m rows of a square matrix (n, n), dense or sparse.

    No entry is negative, at least ``GRAPH_ENTRIES`` are not 0, at most ``GRAPH_SHARE`` of all. It is a graph if

    - the diagonal is 0 and the matrix symmetric: an adjacency, such as ``obsp["connectivities"]``;
    - the diagonal is 0 and ``EQUAL_COUNTS`` of the rows have k entries, no row more, k at least 2: nearest neighbors,
      such as ``obsp["distances"]``, where copies of a point have entries of 0;
    - the diagonal and all entries are 1 and each row has k entries, k at least 2: neighbors that include the point.

    Square tables of counts hardly ever have the first two. O(entries) time; of most
    other square data, whose diagonal differs, O(n).
    """
    m = rows.shape[0]
    diagonal = rows.diagonal() if is_sparse(rows) else np.diagonal(rows)
    own = bool((diagonal == 1).all())
    if not own and diagonal.any():
        return
    values = rows.data if is_sparse(rows) else rows
    counts = np.diff(rows.indptr) if is_sparse(rows) else np.count_nonzero(rows, axis=1)
    entries, most = int(counts.sum()), int(counts.max())
    if not GRAPH_ENTRIES <= entries <= GRAPH_SHARE * m * n or (values < 0).any():
        return
    if most >= 2 and (counts == most).mean() >= (1.0 if own else EQUAL_COUNTS):
        if own and bool((values[values != 0] != 1).any()):
            return
        what = f"a {n} x {n} matrix with {most} entries in {'each' if (counts == most).all() else 'nearly each'} row"
    elif own:
        return
    else:
        corner = rows[:, :m]
        held = corner.count_nonzero() if is_sparse(corner) else np.count_nonzero(corner)
        if held < GRAPH_ENTRIES or np.abs(corner - corner.T).max() > SYMMETRY * values.max():
            return
        what = f"a symmetric {n} x {n} matrix with entries at {100 * entries / (m * n):.2g} % of the pairs"
    how = "Pass the points, X or an obsm array, or dense distances with metric='precomputed'."
    more = "If the rows are features indeed, append a column of zeros."
    raise InputError(
        argument, "must hold features, not a graph", f"{what} and {int(own)} on its diagonal", f"{how} {more}"
    )


def check_defined(X: FloatArray, metric: str, argument: str) -> None:
    """Refuse an array with rows for which a metric is not defined."""
    constant = (X == X[:, :1]).all(axis=1)
    check_rows_for(metric, np.flatnonzero(constant & (X[:, 0] == 0)), np.flatnonzero(constant), argument)


def check_rows_for(metric: str, empty: IntArray, constant: IntArray, argument: str) -> None:
    """Refuse rows for which a metric is not defined: those of zeros, or constant ones."""
    bad = {"cosine": empty, "correlation": constant}.get(metric, empty[:0])
    if len(bad):
        what = "row of zeros" if metric == "cosine" else "constant row"
        more = f", and {len(bad) - 1} more such row{'s' if len(bad) > 2 else ''}" if len(bad) > 1 else ""
        rule = f"must have no {what} with metric={metric!r}"
        raise InputError(argument, rule, f"row {int(bad[0])}{more}", "Drop such rows, or use metric='euclidean'.")


# One pass over a table of numbers by blocks of rows: what is refused, what is noted, and the hash of its cells.

BLOCK_BYTES = 4_000_000  # of a block of rows as numbers of 8 bytes
FIRST_ROWS = 1024  # of a block, among which most columns of integers repeat one: only the others are read again
EXACT = 2.0**53  # up to which float64 holds every integer: all larger numbers are whole
MIN_IDS = 10  # rows from which different integers are doubtful: fewer counts or sizes often differ by themselves


def row_blocks(table: Any, part: slice | None = None) -> list[slice]:
    """The blocks of rows in which a table, or some consecutive rows of it, are read."""
    n, p = table.shape
    size = int(np.clip(BLOCK_BYTES // (8 * max(p, 1)), 1024, 1 << 16))
    start, stop = (0, n) if part is None else (part.start, part.stop)
    return [slice(at, min(at + size, stop)) for at in range(start, stop, size)]


def rows_of(table: Any, places: slice | npt.NDArray[np.int64]) -> Any:
    """Some rows of a table as an array of float64 or a sparse matrix."""
    found = table[places]
    return found if is_sparse(found) else np.asarray(found, np.float64)


@dataclass(frozen=True)
class Every:
    """The places 0, ..., n - 1 of all points, which are not held: of many points few are looked at at once."""

    n: int

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, places: Any) -> Any:
        if isinstance(places, slice):
            return np.arange(*places.indices(self.n))
        places = np.asarray(places)
        return np.flatnonzero(places) if places.dtype == np.bool_ else np.where(places < 0, places + self.n, places)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.arange(self.n, dtype=dtype)


@dataclass(frozen=True)
class Reordered:
    """A table of some rows of another one in some order, which is not copied.

    ``order`` has as many places as there are rows, and gives the rows of the other table for an array of places.
    """

    table: Any
    order: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.order), int(self.table.shape[1])

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, places: slice | npt.NDArray[np.int64]) -> Any:
        wanted = self.order[Every(len(self))[places]]
        rows, at = np.unique(wanted, return_inverse=True)
        return rows_of(self.table, rows)[at.reshape(wanted.shape)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self[:], dtype)


def read_blocks(table: Any) -> Iterator[tuple[slice, Any]]:
    """The blocks of a table, as C-ordered float64 or sparse matrices."""
    for part in row_blocks(table):
        block = table[part]
        yield part, block if is_sparse(block) else np.ascontiguousarray(block, np.float64)


def digest_of(table: Any) -> str:
    """SHA-256 of the cells as float64, row by row; of sparse rows of their places and numbers."""
    made = _Digest()
    for _, block in read_blocks(table):
        made.add(block)
    return made.hexdigest()


class _Digest:
    """A hash of the rows that are added, in blocks of any size."""

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
        for made, one in zip(self.parts, (counts, block.indices.astype(np.int64), block.data), strict=True):
            made.update(np.ascontiguousarray(one).data)

    def hexdigest(self) -> str:
        """The hash of all rows."""
        digests = [made.digest() for made in self.parts]
        return hashlib.sha256(b"".join(digests)).hexdigest() if self.sparse else digests[0].hex()


def check_all_finite(table: Any, argument: str, columns: Sequence[object] | None) -> None:
    """Refuse NaN and infinity; the error names the first such cells of all blocks."""
    values, cells, count = [], [], 0
    for part, block in read_blocks(table):
        stored = block.data if is_sparse(block) else block
        bad = ~np.isfinite(stored)
        if bad.any():
            found = np.stack(block.tocoo().coords, axis=1)[bad] if is_sparse(block) else np.argwhere(bad)
            count += len(found)
            values.append(stored[bad][:3])
            cells.append(found[:3] + np.array([part.start, 0]))
    if count:
        raise not_finite(np.concatenate(values)[:3], np.concatenate(cells)[:3], count, argument, columns)


@dataclass
class Survey:
    """What one pass over the rows of a table has found; what is not finite is refused.

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
    described : bool
        Whether there may be ``notes``, for which a hash of every row is kept until then.
    """

    table: Any
    columns: tuple[str, ...] | None
    argument: str = "data"
    described: bool = True
    sha256: str = ""
    largest: float = 0.0
    smallest: float = np.inf
    low: FloatArray = field(default_factory=lambda: np.empty(0))
    high: FloatArray = field(default_factory=lambda: np.empty(0))
    empty_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    constant_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __post_init__(self) -> None:
        n, p = self.table.shape
        made, self.low, self.high = _Digest(), np.full(p, np.inf), np.full(p, -np.inf)
        self._keys, weights = np.empty(n if self.described else 0, np.uint64), hash_weights(p)
        self._spread, self._few, self._integers = _Spread(p), _TwoValues(p), _Integers(p)
        none = np.empty(0, np.int64)
        empty, constant = [none], [none]
        for part, block in read_blocks(self.table):
            if not np.isfinite(block).all():
                check_all_finite(self.table, self.argument, self.columns)
            made.add(block)
            size = np.abs(block)
            self.largest = max(self.largest, float(size.max()))
            self.smallest = min(self.smallest, float(size.min(initial=np.inf, where=size > 0)))
            self.low, self.high = np.minimum(self.low, block.min(axis=0)), np.maximum(self.high, block.max(axis=0))
            same = (block == block[:, :1]).all(axis=1)
            constant.append(part.start + np.flatnonzero(same))
            empty.append(part.start + np.flatnonzero(same & (block[:, 0] == 0)))
            self._spread.add(block)
            if not self.described:
                continue
            self._few.add(block)
            self._integers.add(block)
            hashed = pd.util.hash_array((block + 0.0).ravel()).reshape(block.shape)  # no negative zeros
            self._keys[part] = (hashed * weights).sum(axis=1)
        self.sha256 = made.hexdigest()
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
        """Notes on constant columns, columns that carry most of the variance, like ids or labels, and repeated rows."""
        p = self.table.shape[1]
        names = self.columns or tuple(str(j) for j in range(p))
        counting = self._counting_columns()
        like_ids = [
            name
            for j, name in enumerate(names)
            if is_id_name(name) and looks_like_ids(name, np.asarray(self.table[:, j], np.float64))
        ]
        self._keys.sort()  # in place: they are of all rows
        repeated = int(np.count_nonzero(self._keys[1:] == self._keys[:-1]))
        notes = described(names, np.flatnonzero(self.low == self.high), self._spread.shares(), like_ids, repeated)
        notes += [
            note("data.counts_rows", column=names[j], first=int(self.low[j]), second=int(self.low[j]) + 1)
            for j in counting
            if names[j] not in like_ids
        ]
        naming = [repr(names[j]) for j in self._naming_columns() if j not in counting and names[j] not in like_ids]
        if naming:
            listed = naming if len(naming) <= MAX_NAMED else [*naming[:MAX_NAMED], "..."]
            notes.append(note("data.names_rows", columns=listed, count=len(naming)))
        two = self._few.two & (self.low < self.high)
        if self.columns is None and p > 2 and two[-1] and not two[:-1].any():
            notes.append(note("data.binary_last", values=[float(self.low[-1]), float(self.high[-1])]))
        return notes

    def _counting_columns(self) -> list[int]:
        """Return the columns, of several, that hold 0, 1, 2, ... or 1, 2, 3, ... in the order of the rows."""
        n, p = self.table.shape
        likely = np.flatnonzero(np.isin(self.low, (0, 1)) & (self.high == self.low + n - 1) & (p > 1)).tolist()
        return [j for j in likely if np.array_equal(self.table[:, j], np.arange(n) + self.low[j])]

    def _naming_columns(self) -> list[int]:
        """Return the columns that hold a different integer in every row, where another column has decimals."""
        n = self.table.shape[0]
        if n < MIN_IDS or self._integers.whole.all():
            return []
        exact = np.maximum(np.abs(self.low), np.abs(self.high)) <= EXACT
        likely = np.flatnonzero(
            self._integers.different & exact & (self.high / 2 - self.low / 2 >= (n - 1) / 2)
        ).tolist()
        return [j for j in likely if len(np.unique(np.asarray(self.table[:, j], np.float64))) == n]


class SparseSurvey:
    """What one pass over sparse rows has found, as ``Survey``; O(entries + columns)."""

    def __init__(self, table: Any, columns: tuple[str, ...] | None) -> None:
        n, p = table.shape
        made, self.columns, self.shape = _Digest(), columns, (n, p)
        self.largest, self.smallest = 0.0, np.inf
        self._counts, self._spread = np.zeros(p, np.int64), _Spread(p)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)
        self._keys, weights, empty = np.empty(n, np.uint64), hash_weights(p), []
        for part, block in read_blocks(table):
            if not np.isfinite(block.data).all():
                check_all_finite(table, "data", columns)
            made.add(block)
            size = np.abs(block.data)
            self.largest = max(self.largest, float(size.max(initial=0.0)))
            self.smallest = min(self.smallest, float(size.min(initial=np.inf)))
            self._counts += np.bincount(block.indices, minlength=p)
            np.minimum.at(self.low, block.indices, block.data)
            np.maximum.at(self.high, block.indices, block.data)
            empty.append(part.start + np.flatnonzero(np.diff(block.indptr) == 0))
            self._spread.add_sparse(block)
            terms = pd.util.hash_array(block.data) * weights[block.indices]
            sums = np.r_[np.uint64(0), np.cumsum(terms, dtype=np.uint64)]
            self._keys[part] = sums[block.indptr[1:]] - sums[block.indptr[:-1]]
        self.sha256, self.empty_rows = made.hexdigest(), np.concatenate([np.empty(0, np.int64), *empty])
        self.constant_rows = np.empty(0, np.int64)  # asked of dense rows only

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
        """Notes on constant columns, a column that carries most of the variance, and repeated rows."""
        p = self.shape[1]
        names = self.columns or tuple(str(j) for j in range(p))
        self._keys.sort()  # in place: they are of all rows
        repeated = int(np.count_nonzero(self._keys[1:] == self._keys[:-1]))
        return described(names, np.flatnonzero(self._constant), self._spread.shares(), (), repeated)


class _Spread:
    """The squared differences of columns from their means, added up over blocks in a unit that fits the largest."""

    def __init__(self, p: int) -> None:
        self.count, self.unit = 0, -2000  # rows, and the exponent of the unit
        self.mean, self.squares = np.zeros(p), np.zeros(p)
        self.first = np.zeros(p)

    def add(self, block: FloatArray) -> None:
        """Add a block: its squares about its own means, and those of the steps between the means."""
        if self.count == 0:
            self.first = 0.25 * block[0]
        moved = 0.25 * block - self.first  # a quarter, so that no difference overflows
        self._fit(float(np.abs(moved).max()))
        moved = np.ldexp(moved, -self.unit)
        mean = moved.mean(axis=0)
        moved -= mean
        self._join(mean, np.einsum("ij,ij->j", moved, moved), len(block))

    def add_sparse(self, block: Any) -> None:
        """Add a block of sparse rows."""
        (m, p), places = block.shape, block.indices
        values = 0.25 * block.data
        self._fit(float(np.abs(values).max(initial=0.0)))
        values = np.ldexp(values, -self.unit)
        mean, empty = np.bincount(places, values, p) / m, m - np.bincount(places, minlength=p)
        self._join(mean, np.bincount(places, (values - mean[places]) ** 2, p) + empty * mean**2, m)

    def _fit(self, largest: float) -> None:
        """Raise the unit to that of the largest number."""
        unit = max(self.unit, int(np.frexp(largest)[1])) if largest > 0 else self.unit
        self.mean = np.ldexp(self.mean, self.unit - unit)
        self.squares = np.ldexp(self.squares, 2 * (self.unit - unit))
        self.unit = unit

    def _join(self, mean: FloatArray, squares: FloatArray, m: int) -> None:
        """Add the means of a block and its squares about them."""
        step, total = mean - self.mean, self.count + m
        self.squares += squares + step**2 * (self.count * m / total)
        self.mean += step * (m / total)
        self.count = total

    def deviations(self) -> FloatArray:
        """Return the standard deviation of each column."""
        return np.ldexp(4.0 * np.sqrt(self.squares / max(self.count, 1)), self.unit)  # of quarters of the numbers

    def shares(self) -> FloatArray:
        """The fraction of the total variance in each column."""
        total = self.squares.sum()
        return self.squares / total if total > 0 else self.squares


class _Integers:
    """Which columns hold integers alone, and which of them repeat none among the first rows of a block."""

    def __init__(self, p: int) -> None:
        self.whole, self.different = np.ones(p, np.bool_), np.ones(p, np.bool_)

    def add(self, block: FloatArray) -> None:
        """Look at a block."""
        if self.whole.any():
            self.whole &= (np.rint(block) == block).all(axis=0)
            self.different &= self.whole
        places = np.flatnonzero(self.different)
        if len(places):
            first = np.sort(block[:FIRST_ROWS, places], axis=0)
            self.different[places] = (first[1:] != first[:-1]).all(axis=0)


class _TwoValues:
    """Whether each column holds at most two different values."""

    def __init__(self, p: int) -> None:
        self.two = np.ones(p, np.bool_)
        self.values: list[FloatArray] = []

    def add(self, block: FloatArray) -> None:
        """Look at a block."""
        if not self.values:
            self.values = [block[0].copy(), block[0].copy()]
        first, second = self.values
        new = (second == first) & self.two
        other = block != first
        for j in np.flatnonzero(new & other.any(axis=0)):
            second[j] = block[np.argmax(other[:, j]), j]
        if self.two.any():
            self.two &= ~(other & (block != second)).any(axis=0)
