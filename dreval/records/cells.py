"""Write values of points into AnnData: columns of ``obs`` with the values of each cell, and one entry of ``uns``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dreval._check import check_bool, describe
from dreval.errors import InputError
from dreval.records.frames import setting_names
from dreval.records.provenance import to_plain

if TYPE_CHECKING:
    import pandas as pd

Cells = TypeVar("Cells")  # an AnnData object


def write_to_anndata(results: Any, adata: Cells, key_added: str = "dreval", *, copy: bool = False) -> Cells:
    """Write the values of points into ``obs`` and the tables into ``uns``; see ``Results.to_anndata``."""
    import pandas as pd

    columns, values = _columns(results, key_added), {}
    for column, name, part in columns.itertuples(index=False):
        frame = results.of_all_points(name)
        values[column] = frame[part] if part in frame else results._reliability[name][part]
    table, recipe = results.table, json.dumps(to_plain(results.recipe), ensure_ascii=False)
    stored = {"table": table, "columns": columns, "recipe": recipe}
    points = pd.DataFrame(values, index=range(int(results.recipe["n"])))
    return write_columns(adata, key_added, points, results.ids, stored, copy=copy)


def write_scores(
    scores: pd.DataFrame, recipe: Mapping[str, Any], adata: Cells, key_added: str, *, copy: bool = False
) -> Cells:
    """Write scores of points, which have no names, into columns of ``obs`` that begin with ``key_added``."""
    import pandas as pd

    named = scores.rename(columns=lambda name: f"{key_added}_{name}")
    columns = pd.DataFrame({"column": list(named), "values": list(scores)})
    stored = {"columns": columns, "recipe": json.dumps(to_plain(recipe), ensure_ascii=False)}
    return write_columns(adata, key_added, named, None, stored, copy=copy)


def write_columns(
    adata: Cells, key: str, points: pd.DataFrame, ids: Any, stored: Mapping[str, Any], *, copy: bool
) -> Cells:
    """Write columns of values of points into ``obs``, matched by ``ids``, and what describes them into ``uns[key]``.

    Columns that ``uns[key]["columns"]`` lists, of an earlier call, are removed.
    """
    _check_object(adata, copy)
    if not isinstance(key, str) or not key or "/" in key:
        hint = "Choose a name such as 'dreval'."
        raise InputError("key_added", "must be text without '/'", describe(key), hint)
    order = _rows_of_points(ids, len(points), adata)
    target: Any = adata
    if check_bool(copy, "copy"):
        target = target.copy()
    earlier = target.uns.get(key)
    earlier_columns = earlier.get("columns") if hasattr(earlier, "get") else None
    for column in [] if earlier_columns is None else earlier_columns["column"]:
        if column in target.obs:
            del target.obs[column]
    for column in points:
        values = np.full(target.n_obs, np.nan)
        values[order] = points[column].to_numpy(np.float64)
        target.obs[column] = values
    target.uns[key] = dict(stored)
    return cast("Cells", target)


def _check_object(adata: Any, copy: bool) -> None:
    """Raise unless the object is an AnnData object that can be written into."""
    if not all(hasattr(adata, name) for name in ("obs", "uns", "obs_names", "n_obs")):
        raise InputError("adata", "must be an AnnData object", describe(adata), "Pass the object with the cells.")
    if getattr(adata, "is_view", False) and not copy:
        hint = "Pass copy=True, or adata.copy()."
        raise InputError("adata", "must not be a view", "a view of another object", hint)
    if getattr(adata, "isbacked", False) and copy:
        hint = "Leave copy out, or pass adata.to_memory()."
        raise InputError("copy", "must be False for an object stored in a file", "True", hint)


def _rows_of_points(ids: Any, n: int, adata: Any) -> npt.NDArray[np.int64]:
    """Return the row of each of n points among the cells, by their names; without names they have the same order."""
    import pandas as pd

    if ids is None:
        if adata.n_obs != n:
            hint = "Evaluate the AnnData object itself, so that its cells are matched by name."
            raise InputError("adata", "must have a cell for each point", f"{adata.n_obs} cells for {n} points", hint)
        return np.arange(n)
    names = pd.Index([str(name) for name in adata.obs_names])
    if not names.is_unique:
        duplicate = str(names[names.duplicated()][0])
        hint = "Call adata.obs_names_make_unique() before the evaluation."
        raise InputError("adata", "must have different obs_names", f"{duplicate!r} twice", hint)
    order = names.get_indexer(pd.Index([str(name) for name in ids]))
    if (order < 0).any():
        received = f"{int((order < 0).sum())} of {n} points not among obs_names ({str(ids[np.argmin(order)])!r})"
        raise InputError(
            "adata", "must have the cells that were evaluated", received, "Pass the object that was evaluated."
        )
    return np.asarray(order, np.int64)


def _columns(results: Any, key: str) -> pd.DataFrame:
    """Return for each column of obs its name, the embedding, and the column of the points' table."""
    import pandas as pd

    rows, keys = [], {column: key for key, column in setting_names(results.table).items()}
    for name, points in results.points.items():
        measures = [keys[str(column)][0] for column in points]
        labels = [
            measure if measures.count(measure) == 1 else str(column)
            for column, measure in zip(points, measures, strict=True)
        ]
        of_runs = list(results._reliability[name]) if name in results._reliability else []
        for label, column in zip([*labels, *of_runs], [*points, *of_runs], strict=True):
            rows.append((f"{key}_{label}_{name}".replace("/", "_"), name, str(column)))
    columns = pd.DataFrame(rows, columns=["column", "embedding", "values"])
    duplicates = columns["column"][columns["column"].duplicated()]
    if len(duplicates):
        hint = "Evaluate them under names that differ in more than '/'."
        raise InputError("adata", "must have a column for each embedding", f"{duplicates.iloc[0]!r} for two", hint)
    return columns
