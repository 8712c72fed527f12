"""Results beside the cells they speak of: columns of ``obs`` and one entry of ``uns`` of an AnnData object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from dreval._check import check_bool, describe
from dreval.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from dreval.records.results import Results


def annotate(results: Results, adata: Any, key_added: str = "dreval", *, copy: bool = False) -> Any:
    """Write the values of points into ``obs`` and the tables into ``uns``.

    ``obs[f"{key_added}_{measure}_{embedding}"]`` holds the value of each cell, as in ``Results.augment``; a measure
    that was run with several settings has them behind the name, and a ``/`` in a name becomes ``_``. ``uns[key_added]``
    holds the tidy table (``"table"``), what each column of obs is (``"columns"``) and the recipe as JSON
    (``"recipe"``): all of it can be written to a ``.h5ad`` file. What an earlier call wrote under the same key is
    replaced.

    Parameters
    ----------
    results : Results
        What ``Evaluation.run`` gave.
    adata : AnnData
        Cells are found by ``obs_names``; those that were not evaluated are missing. Results of data without names go by
        position, and need as many cells.
    key_added : str
        Beginning of the columns, and key of ``uns``.
    copy : bool
        Whether to write into a copy.

    Returns
    -------
    AnnData
        The object itself, changed in place; or its copy.

    Raises
    ------
    InputError
        What is no AnnData object, a view of one, cells that are not there, and names of columns that would be equal.

    Notes
    -----
    O(n) time and memory for each column. A backed object is changed in memory; its ``write`` puts that into the file.
    """
    _check_object(adata, copy)
    key = key_added
    if not isinstance(key, str) or not key or "/" in key:
        cure = "Choose a word, for instance 'dreval'."
        raise InputError("key_added", "must be text without '/'", describe(key), cure)
    order = _places(results, adata)
    columns = _columns(results, key)
    target = adata.copy() if check_bool(copy, "copy") else adata
    _forget(target, key)
    for column, name, part in columns.itertuples(index=False):
        values = np.full(target.n_obs, np.nan)
        values[order] = results.of_all_points(name)[part].to_numpy(np.float64)
        target.obs[column] = values
    target.uns[key] = {"table": results.tidy(), "columns": columns, "recipe": _recipe(results)}
    return target


def _check_object(adata: Any, copy: bool) -> None:
    """An AnnData object that can be written into."""
    if not all(hasattr(adata, name) for name in ("obs", "uns", "obs_names", "n_obs")):
        raise InputError("adata", "must be an AnnData object", describe(adata), "Pass the object with the cells.")
    if getattr(adata, "is_view", False) and not copy:
        cure = "Pass copy=True, or adata.copy()."
        raise InputError("adata", "must hold its own values", "a view of another object", cure)
    if getattr(adata, "isbacked", False) and copy:
        cure = "Leave copy out, or pass adata.to_memory()."
        raise InputError("copy", "must be False for an object that lies in a file", "True", cure)


def _places(results: Results, adata: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The row of each evaluated point among the cells."""
    import pandas as pd

    n = int(results.recipe["n"])
    if results.ids is None:
        if adata.n_obs != n:
            cure = "Evaluate the AnnData object itself, so that its cells are known by name."
            raise InputError("adata", "must have a cell for each point", f"{adata.n_obs} cells for {n} points", cure)
        return np.arange(n)
    names = pd.Index([str(name) for name in adata.obs_names])
    if not names.is_unique:
        twice = str(names[names.duplicated()][0])
        cure = "Call adata.obs_names_make_unique() before the evaluation."
        raise InputError("adata", "must have different obs_names", f"{twice!r} twice", cure)
    order = names.get_indexer(pd.Index([str(name) for name in results.ids]))
    if (order < 0).any():
        lost = f"{int((order < 0).sum())} of {n} points not among obs_names ({str(results.ids[np.argmin(order)])!r})"
        raise InputError(
            "adata", "must have the cells that were evaluated", lost, "Pass the object that was evaluated."
        )
    return np.asarray(order, np.int64)


def _columns(results: Results, key: str) -> pd.DataFrame:
    """What each column of obs holds: its name, the embedding, and the column of the points' table."""
    import pandas as pd

    rows = []
    for name, points in results.points.items():
        measures = [str(part).partition("(")[0] for part in points]
        for part, measure in zip(points, measures, strict=True):
            said = measure if measures.count(measure) == 1 else str(part)
            rows.append((f"{key}_{said}_{name}".replace("/", "_"), name, str(part)))
    made = pd.DataFrame(rows, columns=["column", "embedding", "values"])
    twice = made["column"][made["column"].duplicated()]
    if len(twice):
        cure = "Evaluate them under names that differ in more than '/'."
        raise InputError("adata", "must have a column for each embedding", f"{twice.iloc[0]!r} for two", cure)
    return made


def _forget(adata: Any, key: str) -> None:
    """Take away what an earlier call wrote."""
    earlier = adata.uns.get(key)
    columns = earlier.get("columns") if hasattr(earlier, "get") else None
    for column in [] if columns is None else columns["column"]:
        if column in adata.obs:
            del adata.obs[column]


def _recipe(results: Results) -> str:
    """The recipe as one JSON text."""
    return json.dumps(dict(results.recipe), ensure_ascii=False, default=str)
