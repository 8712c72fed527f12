"""What is missing: masked cells, under which lies no value, and objects that are None, NaN or pandas' NA."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.errors import InputError

__all__ = ["IMPUTE", "check_unmasked", "refuse_missing"]

IMPUTE = "Drop or impute these cells before evaluating; dreval does not guess values."


def check_unmasked(value: Any, argument: str) -> Any:
    """The data of a masked array in which nothing is masked; what has masked cells is refused, all else stays as it is.

    Lists of masked rows or cells are no better: numpy reads the values under their masks.
    """
    listed = isinstance(value, list | tuple)
    if not listed and not isinstance(value, np.ma.MaskedArray):
        return value
    counts = [_masked_cells(row) for row in (value if listed else [value])]
    if not any(counts):
        return value if listed else value.data
    place = [next(row for row, count in enumerate(counts) if count)] if listed else np.argwhere(value.mask)[0]
    first = ", column ".join(map(str, place))
    got = f"{sum(counts)} masked cell{'' if sum(counts) == 1 else 's'}, the first in row {first}"
    cure = "Drop such rows, or fill them with values of your own (numpy.ma.filled): what lies under a mask is no value."
    raise InputError(argument, "must have no masked cells", got, cure)


def _masked_cells(row: Any) -> int:
    """How many cells are masked in an array (of numbers or objects) or in a list of cells."""
    if isinstance(row, np.ma.MaskedArray):
        return 0 if row.dtype.names else int(np.count_nonzero(np.ma.getmaskarray(row)))
    return sum(cell is np.ma.masked for cell in row) if isinstance(row, list | tuple) else 0


def refuse_missing(array: npt.NDArray[Any], argument: str) -> None:
    """Refuse objects of which some are missing (None, NaN, pandas' NA); all other objects pass."""
    import pandas as pd

    missing = np.argwhere(pd.isna(array))
    if 0 < len(missing) < array.size:
        first = ", column ".join(map(str, missing[0]))
        got = f"{len(missing)} missing value{'' if len(missing) == 1 else 's'}, the first in row {first}"
        raise InputError(argument, "must be complete", got, IMPUTE)
