"""Which row of a table is which point of the data: by ids, by row names, or by position - and said so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_rows
from dreval.errors import InputError
from dreval.inputs._forms import Raw, take_column

__all__ = ["HasRows", "align", "as_ids", "check_unique", "own_ids"]

IntArray = npt.NDArray[np.int64]


class HasRows(Protocol):
    """What alignment needs of the data: rows, ids, whether ids were asked for, and names that only count the rows."""

    @property
    def n(self) -> int: ...
    @property
    def ids(self) -> pd.Index[Any] | None: ...
    @property
    def ids_given(self) -> bool: ...
    @property
    def reserve(self) -> pd.Index[Any] | None: ...


@dataclass(frozen=True)
class Rows:
    """How many rows a table has and what they are called."""

    n: int
    ids: pd.Index[Any] | None
    ids_given: bool = False
    reserve: pd.Index[Any] | None = None


def as_ids(value: Any, argument: str) -> pd.Index[Any]:
    """A vector of row names; missing and repeated ones are refused."""
    index = value if isinstance(value, pd.Index) else pd.Index(value)
    if index.hasnans:
        row = int(np.flatnonzero(index.isna())[0])
        raise InputError(argument, "must be complete", f"a missing id in row {row}", "Give every row an id.")
    check_unique(index, argument)
    return index


def check_unique(index: pd.Index[Any], argument: str) -> None:
    """Refuse row names that occur twice, naming one of them and its rows."""
    if index.is_unique:
        return
    twice = index[index.duplicated()]
    first = np.flatnonzero(index == twice[0])
    more = f" ({len(set(twice))} such ids)" if len(set(twice)) > 1 else ""
    raise InputError(
        argument,
        "must be different in every row",
        f"{_show(twice[0])} in rows {first[0]} and {first[1]}{more}",
        "Remove the repeated rows, or name a column of ids that tells them apart.",
    )


def own_ids(raw: Raw, ids: Any, data: HasRows, argument: str) -> tuple[pd.DataFrame, pd.Index[Any] | None, bool]:
    """The columns of a table without its ids, the ids, and whether they were asked for (or are only row names).

    Of a table with one column that is meant, that column: only here, since another one may hold the ids.
    """
    frame, index, given = _found_ids(raw, ids, data, argument)
    return replace(raw, frame=frame).meant(argument).frame, index, given


def _found_ids(raw: Raw, ids: Any, data: HasRows, argument: str) -> tuple[pd.DataFrame, pd.Index[Any] | None, bool]:
    """The ids: a vector, a column by its name (also that of the data's own ids), or the row names."""
    frame = raw.frame
    if ids is not None and not isinstance(ids, str | int):
        index = as_ids(ids, f"ids of {argument}")
        if len(index) != len(frame):
            got = f"{len(index)} ids for {len(frame)} rows"
            raise InputError(f"ids of {argument}", "must be one per row", got, "Pass one id per row.")
        return frame, index, True
    if ids is None and data.ids is not None and data.ids_given and data.ids.name is not None and raw.named:
        ids = data.ids.name if list(map(str, frame.columns)).count(str(data.ids.name)) == 1 else None
    if ids is None:
        return frame, raw.index, False
    column, frame = take_column(frame, ids, f"ids of {argument}", "a column of the table")
    return frame, as_ids(pd.Index(column), f"ids of {argument}"), True


def align(
    n: int,
    ids: pd.Index[Any] | None,
    data: HasRows,
    argument: str,
    *,
    given: bool = False,
    reserve: pd.Index[Any] | None = None,
) -> tuple[IntArray | None, str | None]:
    """The order in which rows of a table follow the rows of the data, and a note on how that was found.

    Rows are matched by ids where both sides have them: in full when they were asked for (``given``), else when the two
    sets of row names are equal. Row names that match only in part are refused. All else goes by position, and the
    numbers of rows must agree. None as order means: as they are.

    An index that only counts its rows (``reserve``, ``data.reserve``) is none beside another such index or an array.
    Beside names that are numbers too it is one, since rows that were put into another order, or dropped, on one side
    would meet the wrong ones. Ids that were asked for of the data are names of another kind, to which no count belongs;
    those of a table, where the data only count, are used if they are all of the counts.
    """
    known = data.ids
    if ids is not None and known is not None:
        return _by_name(_keys(ids), _keys(known), ids, data, argument, given)
    if ids is not None and data.reserve is not None:
        left, right, counts = _keys(ids), _keys(data.reserve), "the data"
    elif known is not None and reserve is not None and not data.ids_given:
        left, right, counts = _keys(reserve), _keys(known), f"`{argument}`"
    else:
        check_rows(n, data.n, argument)
        return None, _one_sided(ids, given, data, argument)
    if left.equals(right):
        return None, None
    names, what = left if counts == "the data" else right, "ids" if given else "row names"
    matches, same = int(right.isin(left).sum()), len(left) == len(right)
    if matches == 0 or (same and (_in_order(names) or (given and set(left) != set(right)))):
        check_rows(n, data.n, argument)
        return None, _one_sided(ids, given, data, argument)
    if not same or matches < len(right) or not names.is_unique:
        raise _partial(left, right, matches, argument, given)
    whose = f"{'the row names' if given else 'those'} of {counts}"
    note = f"Rows of `{argument}` were matched to the data by {what}; {whose} only count the rows."
    return left.get_indexer(right).astype(np.int64), note


def _in_order(names: pd.Index[Any]) -> bool:
    """Whether names, as text, only count the rows from 0, as those of AnnData may: a first row was not dropped."""
    return names.equals(_keys(pd.RangeIndex(len(names))))


def _by_name(
    left: pd.Index[Any], right: pd.Index[Any], ids: pd.Index[Any], data: HasRows, argument: str, given: bool
) -> tuple[IntArray | None, str | None]:
    """The order and the note where both sides have names."""
    if left.equals(right):
        return None, None
    matches = int(right.isin(left).sum())
    if matches == 0 and not (given and data.ids_given):
        check_rows(len(left), data.n, argument)
        return None, f"Row names of `{argument}` and of the data have nothing in common: rows were matched by position."
    check_unique(left, argument if given else f"row names of {argument}")
    check_unique(right, "ids" if data.ids_given else "row names of the data")
    if matches < len(right) or len(left) != len(right):
        raise _partial(left, right, matches, argument, given or data.ids_given)
    what = f"the ids in {ids.name!r}" if given and ids.name is not None else "ids" if given else "row names"
    return left.get_indexer(right).astype(np.int64), f"Rows of `{argument}` were matched to the data by {what}."


def _renumbers(index: pd.Index[Any]) -> bool:
    """Whether row names are 0 .. n-1 in another order."""
    return index.dtype.kind in "iu" and bool(np.array_equal(np.sort(index.to_numpy()), np.arange(len(index))))


def _one_sided(ids: pd.Index[Any] | None, given: bool, data: HasRows, argument: str) -> str | None:
    """The note when only the data have names, or only a table has ids that were asked for or rows in another order."""
    if ids is not None and given:
        return f"`{argument}` has ids and the data have none: rows were matched by position."
    if ids is not None and _renumbers(ids):
        what = "has the row numbers 0, 1, 2, ... in another order, and the data have no row names"
        return f"`{argument}` {what}: rows were matched by position."
    if ids is not None:
        return f"Row names of `{argument}` were not used, since the data have none: rows were matched by position."
    if data.ids is not None:
        what = "ids" if data.ids_given else "row names"
        return f"The data have {what} and `{argument}` has none: rows were matched by position."
    return None


def _keys(index: pd.Index[Any]) -> pd.Index[Any]:
    """Row names as text, so that 7, 7.0 and "7" are the same name."""
    if index.dtype.kind == "f" and bool(np.all(np.mod(index.to_numpy(), 1) == 0)):
        index = index.astype(np.int64)
    return pd.Index([str(value) for value in index], dtype=object)


def _partial(left: pd.Index[Any], right: pd.Index[Any], matches: int, argument: str, given: bool) -> InputError:
    """The error for row names that match only in part."""
    by_position = "pass plain arrays"
    if not given:
        by_position = (
            "call reset_index(drop=True) on both frames (write files without row names), or pass plain arrays,"
        )
    lost, extra = right[~right.isin(left)], left[~left.isin(right)]
    parts = [f"{matches} of {len(right)} ids of the data found"]
    parts += [f"{_show(lost[0])} only in the data"] if len(lost) else []
    parts += [f"{_show(extra[0])} only in `{argument}`"] if len(extra) else []
    return InputError(
        argument,
        "must have the same ids as the data, in any order",
        ", ".join(parts),
        f"Keep the common rows on both sides, or {by_position} to match by position.",
    )


def _show(value: object) -> str:
    """A row name in quotes, without the dress of numpy's scalars."""
    return repr(str(value))
