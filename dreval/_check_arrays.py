"""Checks of arrays: real and finite numbers, points, names of columns, missing texts, and classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, check_rows, describe
from dreval._inside import check_opened
from dreval.errors import InputError, message_of

__all__ = [
    "check_classes",
    "check_exact",
    "check_finite",
    "check_magnitude",
    "check_numeric",
    "check_points",
    "check_single_values",
    "check_spread",
    "check_unmasked",
    "column_names",
    "describe_vectors",
    "not_finite_error",
    "reorder_columns",
    "vectors",
]

ROWS_FROM_ZERO = " (rows count from 0)"
IMPUTE_HINT = "Drop or impute these cells before evaluating; dreval does not guess values."
MIN_POINTS = 4
EXACT_INTEGERS = 2**53  # beyond, a float does not hold every integer
SMALLEST_MAGNITUDE = 1e-60  # of the largest absolute value: fourth powers of distances do not underflow
LARGEST_MAGNITUDE = 1e60  # of the largest absolute value: sums of fourth powers of distances do not overflow
SMALLEST_DIFFERENCE = 2.0**-500  # of rows that count as different: its square is a number
EXACT_MAGNITUDE = 2.0**-450  # different numbers of this size differ by more than SMALLEST_DIFFERENCE, and so do rows
MISSING_TEXTS = frozenset(
    {
        "",
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
    }
)  # texts for a missing value, those of pandas.read_csv, in files and in all other inputs
CHUNK_OF_CLASSES = 1 << 16  # integers of classes that are coded at a time


def check_numeric(value: Any, argument: str) -> npt.NDArray[Any]:
    """Return an array of real numbers of any dtype.

    Masked cells, text, complex numbers, dates and objects raise an error; objects that are numbers become numbers.
    """
    check_opened(value, argument)
    value = check_unmasked(value, argument)
    try:
        array = _nullable(value) if hasattr(value, "iloc") else np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        received = f"{describe(value)} ({message_of(error)[:100]})"
        hint = "Every row needs the same number of numbers."
        raise InputError(argument, "must become a numeric array", received, hint) from error
    if array.dtype.kind == "c":
        hint = "Complex data not supported: pass the real and imaginary parts as separate columns."
        raise InputError(argument, "must be real", "complex numbers", hint)
    if hasattr(value, "toarray"):
        raise InputError(argument, "must be dense, not sparse", describe(value), f"Use {argument}.toarray().")
    if array.dtype.kind == "O":
        shapes = vectors(array.ravel()) if array.ndim and array.size == len(array) else None
        if shapes is not None:
            received, hint = describe_vectors(shapes, len(array), _cells_text(value))
            raise InputError(argument, "must hold numbers", received, hint)
        check_not_missing(array, argument)
        array = numbers_from_objects(array)
    if array.dtype.kind not in "biuf":
        hint = "Convert it to a numeric array, and leave out columns of text."
        raise InputError(argument, "must hold numbers", describe(array), hint)
    return array


def _cells_text(value: Any) -> str:
    """Return the Python expression for the cells of a frame of one column, a series or an array."""
    if hasattr(value, "columns"):
        return f"frame[{value.columns[0]!r}].to_list()"
    return "series.to_list()" if hasattr(value, "iloc") else "array.ravel()"


def _nullable(table: Any) -> npt.NDArray[Any]:
    """Return a pandas frame or series as a numpy array; nullable columns of one kind become floats or integers."""
    kinds = {getattr(kind, "kind", "O") for kind in np.atleast_1d(np.asarray(table.dtypes, dtype=object))}
    array = np.asarray(table)
    if array.dtype.kind != "O":
        return array
    if kinds <= {"b", "f"}:
        return np.asarray(table.to_numpy(dtype=np.float64, na_value=np.nan))
    is_complete = kinds <= {"b", "i"} and not table.isna().to_numpy().any()
    return np.asarray(table.to_numpy(dtype=np.int64)) if is_complete else array


def check_exact(array: npt.NDArray[Any], argument: str) -> None:
    """Check that no integer is too large for a float to hold exactly."""
    if array.dtype.kind not in "iu" or array.size == 0:
        return
    largest = max(int(array.max()), -int(array.min()))
    if largest > EXACT_INTEGERS:
        hint = "Subtract a common offset, or pass floats where the last digits do not matter."
        raise InputError(argument, "must hold integers up to 2**53", f"one of size {largest}", hint)


def check_finite(array: Any, argument: str, columns: Sequence[object] | None = None) -> None:
    """Check that an array or sparse matrix has no NaN and no infinity; the error names the first such cells."""
    stored = array.data if hasattr(array, "indptr") else array
    bad = ~np.isfinite(stored)
    if not bad.any():
        return
    cells = np.argwhere(bad) if stored is array else np.stack(array.tocoo().coords, axis=1)[bad]
    raise not_finite_error(stored[bad][:3], cells[:3], len(cells), argument, columns)


def not_finite_error(
    values: npt.NDArray[Any],
    cells: npt.NDArray[Any],
    count: int,
    argument: str,
    columns: Sequence[object] | None = None,
) -> InputError:
    """Return the error for ``count`` cells that are NaN or infinite; it names the cells passed, the first of them."""
    examples = ", ".join(_cell(value, cell, columns) for value, cell in zip(values, cells, strict=True))
    remainder = f" and {count - len(values)} more" if count > len(values) else ""
    base = "" if cells.shape[1] == 1 else ROWS_FROM_ZERO
    return InputError(argument, "must be finite", f"{examples}{remainder}{base}", IMPUTE_HINT)


def _cell(value: float, cell: npt.NDArray[Any], columns: Sequence[object] | None) -> str:
    kind = "NaN" if np.isnan(value) else "infinity"
    if len(cell) == 1:
        return f"{kind} at position {cell[0]}"
    column = cell[1] if columns is None else repr(columns[cell[1]])
    return f"{kind} in row {cell[0]}, column {column}"


def check_points(
    value: Any,
    argument: str,
    *,
    columns: Sequence[object] | None = None,
    min_rows: int = MIN_POINTS,
    copy: bool = False,
    part: bool = False,
) -> FloatArray:
    """Return a finite (n, p) float64 C-ordered array with at least ``min_rows`` rows; a vector becomes one column.

    With ``copy`` the result shares no memory with ``value``; otherwise it may be the caller's array itself. The
    numbers of a ``part``, new rows next to a table that was checked, may be as small as they are.
    """
    array = check_numeric(value, argument)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        received = describe(array)
        if array.ndim == 2:
            received = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required"
        hint = "Pass an (n, p) array, rows are points."
        raise InputError(argument, "must be a table of rows and columns", received, hint)
    if array.shape[0] < min_rows:
        received = "1 sample" if len(array) == 1 else f"{len(array)} rows"
        hint = "Rows are points; transpose the array if columns are."
        raise InputError(argument, f"must have at least {min_rows} rows", received, hint)
    check_exact(array, argument)
    with np.errstate(over="ignore"):
        points = np.array(array, dtype=np.float64, order="C", copy=True if copy else None)
    check_finite(points, argument, columns)
    check_magnitude(max(float(points.max(initial=0.0)), -float(points.min(initial=0.0))), argument, part)
    return points


def check_magnitude(largest: float, argument: str, part: bool = False) -> None:
    """Check that the largest absolute value of a table is 0 or a size whose fourth power is a number.

    Computations then need no scaling: squares of distances, and products of such squares, neither overflow nor
    underflow. The values of a ``part`` of a table may be as small as they are.
    """
    if largest == 0 or ((part or largest >= SMALLEST_MAGNITUDE) and largest <= LARGEST_MAGNITUDE):
        return
    requirement = f"must have magnitudes between {SMALLEST_MAGNITUDE:g} and {LARGEST_MAGNITUDE:g}"
    received = f"a largest absolute value of {largest:.3g}"
    hint = f"Divide it by {10.0 ** math.floor(math.log10(largest)):.0e}, which moves all points alike."
    raise InputError(argument, requirement, received, hint)


def check_spread(points: Any, argument: str) -> None:
    """Check the magnitude of a table, and that rows that differ have a distance above 0.

    The squares of differences up to 2 ** -500 underflow, so that such rows would count as equal points.
    """
    sparse = hasattr(points, "indptr")
    size = np.abs(points.data if sparse else points)
    check_magnitude(float(size.max(initial=0.0)), argument)
    if float(size.min(initial=np.inf, where=size > 0)) > EXACT_MAGNITUDE:
        return
    coarse = points.copy()
    (coarse.data if sparse else coarse)[size <= SMALLEST_DIFFERENCE] = 0.0
    count = _count_distinct_rows(points) - _count_distinct_rows(coarse)
    if count > 0:
        requirement = f"must have rows that differ by more than {SMALLEST_DIFFERENCE:.0e}, or not at all"
        received = f"{count} rows that differ by less"
        raise InputError(argument, requirement, received, "Multiply small columns by a number, or round them to 0.")


def _count_distinct_rows(points: Any) -> int:
    """Return the number of rows that differ from each other."""
    if not hasattr(points, "indptr"):
        return len({row.tobytes() for row in points + 0.0})  # -0.0 becomes 0.0
    points.eliminate_zeros()
    cuts = points.indptr[1:-1]
    parts = zip(np.split(points.indices, cuts), np.split(points.data, cuts), strict=True)
    return len({(columns.tobytes(), values.tobytes()) for columns, values in parts})


def column_names(table: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame; None for an array and for a frame with numbered columns."""
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns) or type(columns).__name__ == "RangeIndex":
        return None
    return tuple(str(name) for name in columns)


def reorder_columns(table: Any, names: Sequence[str] | None, argument: str) -> Any:
    """Return a table with its columns in the order of ``names`` if both have names, else the table unchanged."""
    columns = column_names(table)
    if names is None or columns is None or columns == tuple(names):
        return table
    if len(set(columns)) < len(columns) or set(columns) != set(names):
        hint = (
            f"Pass rows with these columns, in any order: {_first_names(names)}; or a plain array, to go by position."
        )
        raise InputError(argument, "must have the columns of the data", _difference(columns, names), hint)
    return np.asarray(table)[:, [columns.index(name) for name in names]]


def _difference(columns: Sequence[str], names: Sequence[str]) -> str:
    """Return a phrase on how the columns of a table differ from the required names."""
    missing = [name for name in names if name not in columns]
    extra = [name for name in columns if name not in names]
    parts = [f"no column {_first_names(missing, repr)}"] if missing else []
    parts += [f"{_first_names(extra, repr)}, which the data do not have"] if extra else []
    return ", and ".join(parts) or f"repeated names: {_first_names(columns)}"


def _first_names(names: Sequence[str], write: Callable[[str], str] = str) -> str:
    """Return the first six names, and the number of the remaining ones."""
    return ", ".join(map(write, names[:6])) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def is_missing_text(values: Any) -> npt.NDArray[np.bool_]:
    """Return which of n texts or categories are in ``MISSING_TEXTS`` (n,); all False for arrays of other types.

    Spaces at the ends of a text are ignored; a text of spaces only is missing.

    Examples
    --------
    >>> is_missing_text(np.array(["a", "nan", "None"]))
    array([False,  True,  True])
    """
    import pandas as pd

    series = pd.Series(values)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind not in "OUS":
        return np.zeros(len(series), np.bool_)
    if isinstance(series.dtype, pd.CategoricalDtype):
        missing = [code for code, name in enumerate(series.cat.categories) if _is_missing_text(name)]
        return np.asarray(series.cat.codes.isin(missing), np.bool_)
    if not (series.dtype == object or pd.api.types.is_string_dtype(series.dtype)):
        return np.zeros(len(series), np.bool_)
    return np.fromiter((_is_missing_text(cell) for cell in series), np.bool_, len(series))


def _is_missing_text(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip() in MISSING_TEXTS


def strip_texts(values: Any) -> npt.NDArray[Any]:
    """Return an array of classes (n,) without spaces at the ends of texts, as texts read from files have none.

    Examples
    --------
    >>> strip_texts(np.array(["a", " a ", "b c"]))
    array(['a', 'a', 'b c'], dtype='<U3')
    """
    array = np.asarray(values)
    if array.dtype.kind in "US":
        return np.asarray(np.strings.strip(array))
    if array.dtype.kind != "O" or not any(isinstance(cell, str) and cell != cell.strip() for cell in array):
        return array
    cells = np.empty(len(array), object)
    cells[:] = [cell.strip() if isinstance(cell, str) else cell for cell in array]
    return cells


def are_whole(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.bool_]:
    """Return which floats are whole numbers, small enough for a float to be exact."""
    with np.errstate(over="ignore"):  # longer floats may become infinite, which is not whole
        floats = values.astype(np.float64)
    whole: npt.NDArray[np.bool_] = (np.rint(floats) == floats) & (np.abs(floats) < EXACT_INTEGERS)
    return whole


def has_whole_numbers(values: Any) -> bool:
    """Return whether a float array holds only whole numbers, all small enough for a float to be exact."""
    array = np.asarray(values)
    return array.dtype.kind == "f" and array.size > 0 and bool(are_whole(array).all())


def check_classes(
    value: Any, n: int, argument: str = "labels", hint: str | None = None
) -> tuple[IntArray, npt.NDArray[Any]]:
    """Return the class codes 0..c-1 (n,) and the sorted classes.

    Text, booleans and integers are classes, and so are floats that are whole numbers; other floats raise an error with
    the hint ``hint``. Missing values and texts for a missing value raise an error. Spaces at the ends of texts are
    ignored.
    """
    noun = "batches" if argument == "batch" else "classes"
    array = np.asarray(check_unmasked(value, argument))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(argument, "must be one value per point", describe(array), f"Pass a vector of {noun}.")
    check_rows(len(array), n, argument)
    if array.dtype.kind == "O":
        check_single_values(array, argument)
        check_not_missing(array, argument)
        array = numbers_from_objects(array)
    array = array.astype(np.int64) if has_whole_numbers(array) else array
    if array.dtype.kind in "fc":
        received = f"dtype {array.dtype}"
        if array.dtype.kind == "f" and len(array):
            row = int(np.argmin([has_whole_numbers(array[[row]]) for row in range(len(array))]))
            received = f"{array[row].item()!r} in row {row}{ROWS_FROM_ZERO}"
        hint = hint or (
            "Pass numbers as {covariates} of an evaluation, or as {response} of `embed`; write codes of "
            f"{noun} as whole numbers."
        )
        requirement = f"must be {noun} (text, booleans or integers)"
        raise InputError(argument, requirement, received, hint, covariates="covariates", response="response")
    if array.dtype.kind in "OUS" and (missing := is_missing_text(array)).any():
        row = int(np.argmax(missing))
        received = f"the text {str(array[row])!r}, which stands for a missing value, in row {row}{ROWS_FROM_ZERO}"
        received += f" and {int(missing.sum()) - 1} more such rows" if missing.sum() > 1 else ""
        hint = f"Drop these rows, or write another word where it is the name of one of the {noun}."
        raise InputError(argument, "must be complete", received, hint)
    if array.dtype.kind not in "biuUSO":
        raise InputError(argument, f"must be {noun}", describe(array), "Pass text, booleans or integers.")
    array = strip_texts(array)
    if array.dtype.kind == "O":
        try:
            array = array.astype(str)
        except Exception as error:  # raised by a foreign class
            received = f"objects that cannot become text ({type(error).__name__})"
            raise InputError(argument, f"must be {noun}", received, "Pass text, booleans or integers.") from error
    if array.dtype.kind not in "biu":
        classes, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64), classes
    starts = range(0, len(array), CHUNK_OF_CLASSES)
    parts = [slice(start, start + CHUNK_OF_CLASSES) for start in starts]
    classes, codes = np.unique(np.concatenate([np.unique(array[part]) for part in parts])), np.empty(n, np.int64)
    for part in parts:  # only the codes need memory for all points
        codes[part] = np.searchsorted(classes, array[part])
    return codes, classes


def check_unmasked(value: Any, argument: str) -> Any:
    """Return the data of a masked array without masked cells, and other values unchanged; raise for masked cells.

    Lists of masked rows or cells raise, too, since numpy reads the values under their masks.
    """
    is_list = isinstance(value, list | tuple)
    if not is_list and not isinstance(value, np.ma.MaskedArray):
        return value
    counts = [_masked_cells(row) for row in (value if is_list else [value])]
    if not any(counts):
        return value if is_list else value.data
    indices = [next(row for row, count in enumerate(counts) if count)] if is_list else np.argwhere(value.mask)[0]
    place = ", column ".join(map(str, indices))
    received = f"{sum(counts)} masked cell{'' if sum(counts) == 1 else 's'}, the first in row {place}"
    hint = "Drop such rows, or fill them with your own values (numpy.ma.filled): the data under a mask are not values."
    raise InputError(argument, "must have no masked cells", received, hint)


def _masked_cells(row: Any) -> int:
    """Return the number of masked cells in an array (of numbers or objects) or in a list of cells."""
    if isinstance(row, np.ma.MaskedArray):
        return 0 if row.dtype.names else int(np.count_nonzero(np.ma.getmaskarray(row)))
    return sum(cell is np.ma.masked for cell in row) if isinstance(row, list | tuple) else 0


def vectors(cells: Iterable[Any]) -> set[tuple[int, ...]] | None:
    """Return the shapes of cells that are all vectors or arrays of numbers or missing; None for other cells."""
    shapes = set()
    for cell in cells:
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            continue
        if not isinstance(cell, list | tuple | np.ndarray):
            return None
        try:
            array = np.asarray(cell)
        except ValueError:  # ragged
            return None
        if array.dtype.kind not in "biuf" or array.ndim == 0:
            return None
        shapes.add(array.shape)
    return shapes or None


def describe_vectors(
    shapes: set[tuple[int, ...]], n: int, values: str, missing: int = 0, where: str = ""
) -> tuple[str, str]:
    """Return the description and the hint of an error, for n cells that each hold a vector.

    ``values`` is the Python expression for the cells, a list or an array; ``where`` names their column.
    """
    if missing:
        received = f"a vector in each cell{where} but {missing}"
        return received, f"Drop the rows without a vector, also from the other inputs, then pass numpy.stack({values})."
    if len(shapes) > 1:
        sizes = sorted(math.prod(shape) for shape in shapes)
        received = f"vectors of {sizes[0]} to {sizes[-1]} numbers in the cells{where}"
        return received, "Give the same number of numbers in each row, then pass numpy.stack of the vectors."
    if len(shape := next(iter(shapes))) > 1:
        rows = f"numpy.stack({values}).reshape({n}, -1)"
        return f"an array of shape {shape} in each cell{where}", f"Make each array a row: {rows}."
    count = f"{shape[0]} number{'s' if shape[0] != 1 else ''}"
    return f"a vector of {count} in each cell{where}", f"Make each vector a row: numpy.stack({values})."


def check_single_values(values: npt.NDArray[Any], argument: str) -> None:
    """Check that no cell of objects is a list, an array or a mapping, which is neither a class nor a row name."""
    rows = [row for row, cell in enumerate(values) if isinstance(cell, list | np.ndarray | dict)]
    if rows:
        received = f"{describe(values[rows[0]])} in row {rows[0]}{ROWS_FROM_ZERO}"
        hint = (
            "Pass a number or a text for each point. Data, embeddings, latent variables and variables of a test of "
            "independence may have several numbers for each: numpy.stack(list(values))."
        )
        raise InputError(argument, "must be one value per point", received, hint)


def numbers_from_objects(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return objects that are all numbers as an array of floats (if any is a float or decimal), integers or booleans.

    All other arrays are returned unchanged, also objects of several kinds and numbers too large for numpy.
    """
    import pandas as pd

    if values.dtype.kind != "O":
        return values
    kind = pd.api.types.infer_dtype(values.ravel(), skipna=False)
    if kind in ("floating", "mixed-integer-float", "decimal"):
        try:
            return np.asarray(values.astype(np.float64))
        except (OverflowError, ValueError):
            return values
    array = np.asarray(values.tolist()) if kind in ("integer", "boolean") else values
    return array if array.dtype.kind in "biu" else values


def check_not_missing(array: npt.NDArray[Any], argument: str) -> None:
    """Raise an error if some objects are missing (None, NaN, pandas' NA), unless all are."""
    import pandas as pd

    missing = np.argwhere(pd.isna(array))
    if 0 < len(missing) < array.size:
        place = ", column ".join(map(str, missing[0]))
        received = f"{len(missing)} missing value{'' if len(missing) == 1 else 's'}, the first in row {place}"
        raise InputError(argument, "must be complete", received, IMPUTE_HINT)
