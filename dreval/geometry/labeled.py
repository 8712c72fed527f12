"""The view among the points that have a label, where some have none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.geometry.blocks import Groups, View, sweep
from dreval.geometry.metrics import take

__all__ = ["labeled"]

IntArray = npt.NDArray[np.int64]


def labeled(view: View) -> View:
    """The view among the points that have a label (a code that is not -1): what these points give by themselves.

    ``view`` itself where all have one. Data, embedding and lists are those of these points alone, in their order, with
    as many neighbors a row as ``view`` has, or as there are points. It costs one more pass, once.
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
    if view.groups is not None:  # dealt out again, so that none is empty
        groups = Groups(np.empty(len(stay), np.int64), min(view.groups.count, len(stay)))
        groups.codes[np.argsort(view.groups.codes[stay], kind="stable")] = np.arange(len(stay)) % groups.count
    made = sweep(
        take(view.X, stay, view.metric),
        {"": view.Y[stay]},
        k=k,
        ranks=view.data_rank.size > 0,
        rows=rows if k else rows[:0],
        groups=groups,
        leave_one=list(view.farther),
        n_jobs=view.n_jobs,
        metric=view.metric,
    )[""]
    changes: dict[str, Any] = {} if k else {"rows": rows, "ambiguous": np.zeros(len(rows), np.bool_)}
    latent = None if view.latent is None else view.latent[stay]
    return replace(made, labels=codes[stay], latent=latent, seed=view.seed, **changes)
