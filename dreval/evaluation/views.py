"""The views that measures read, of all points of an evaluation or of some of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.evaluation.plan import MeasureTask
from dreval.geometry.blocks import Groups, View, sweep
from dreval.geometry.metrics import take
from dreval.inputs.data import Data

__all__ = ["make_views", "reading"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def reading(tasks: Sequence[MeasureTask]) -> list[MeasureTask]:
    """The tasks that read neighbors or ranks, for which there is a pass; coordinates alone need none."""
    return [task for task in tasks if task.sweeps]


def make_views(
    data: Data,
    embedded: Mapping[str, FloatArray],
    tasks: Sequence[MeasureTask],
    *,
    seed: int,
    n_jobs: int | None,
    part: IntArray | None = None,
    rows: IntArray | None = None,
    groups: Groups | None = None,
    leave_one: Sequence[int] = (),
    advance: Callable[[int], Any] | None = None,
) -> dict[str, View]:
    """One pass over the data, or over the points of ``part``, and all embeddings of the same points."""
    X = data.X if part is None else take(data.X, part, data.metric)
    reads, seen = reading(tasks), np.arange(X.shape[0]) if rows is None else rows
    views = sweep(
        X,
        embedded,
        k=max((task.k for task in reads), default=1),
        ranks=any("ranks" in task.card.needs for task in reads),
        rows=seen if reads else seen[:0],
        groups=groups,
        leave_one=leave_one,
        n_jobs=n_jobs,
        advance=advance,
        metric=data.metric,
    )
    labels = None if data.labels is None else data.labels.codes
    more: dict[str, Any] = {"labels": labels, "latent": data.latent}
    if part is not None:
        more = {name: None if known is None else known[part] for name, known in more.items()}
    more |= {} if reads else {"rows": seen, "ambiguous": np.zeros(len(seen), np.bool_)}
    return {name: replace(view, seed=seed, **more) for name, view in views.items()}
