"""The part of a view that has labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dreval._check import IntArray
from dreval.geometry.anchors import seen_from
from dreval.geometry.blocks import Groups, View, streamed, sweep
from dreval.geometry.distances import take
from dreval.inputs.survey import Reordered, rows_of


def labeled(view: View) -> View:
    """The view of the labeled points only (codes that are not -1); ``view`` itself if all points are labeled.

    Data, embedding and lists are those of these points, in their order, with as many neighbors a row as ``view`` has,
    or as there are points. It costs one more pass, once.
    """
    if view.labels is None or bool((view.labels >= 0).all()):
        return view
    codes = view.labels
    made: View = view.once("labeled", lambda: _of_labeled(view, codes))
    return made


def _of_labeled(view: View, codes: IntArray) -> View:
    """The view that ``labeled`` gives."""
    stay = view.population[codes[view.population] >= 0]
    rows = np.searchsorted(stay, view.rows[codes[view.rows] >= 0])
    k = min(view.nearest_data.shape[1], len(stay) - 1)
    groups = None
    if view.groups is not None:  # reassigned, so that none is empty
        groups = Groups(np.empty(len(stay), np.int64), min(view.groups.count, len(stay)))
        groups.codes[np.argsort(view.groups.codes[stay], kind="stable")] = np.arange(len(stay)) % groups.count
    wanted: dict[str, Any] = {"k": k, "ranks": view.data_rank.size > 0, "n_jobs": view.n_jobs, "metric": view.metric}
    if streamed(len(stay), len(rows)) and view.metric != "precomputed":
        made = seen_from(Reordered(view.X, stay), {"": Reordered(view.Y, stay)}, rows, **wanted)[""]
    else:
        tables = take(view.X, stay, view.metric), {"": rows_of(view.Y, stay)}
        own = rows if k else rows[:0]
        made = sweep(*tables, rows=own, groups=groups, leave_one=list(view.farther), **wanted)[""]
    changes: dict[str, Any] = {} if k else {"rows": rows, "ambiguous": np.zeros(len(rows), np.bool_)}
    return replace(made, **{**view.variables(stay), "labels": codes[stay]}, seed=view.seed, **changes)
