"""What all cells of a study have in common, checked before anything is computed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dreval._check import check_float, check_int, check_k, check_one_of, describe
from dreval._evaluation_parts import check_options
from dreval._evaluation_plan import listed, plan_indices
from dreval.errors import DrevalError, InputError
from dreval.inputs.data import Data
from dreval.registry import INDICES

__all__ = ["Settings", "check_fit", "make_settings", "seen_points"]

MANY = 2**31  # what no data set has as many points as


@dataclass(frozen=True)
class Settings:
    """The settings of every cell."""

    indices: Any
    n_neighbors: list[int]
    metric: str
    anchors: int | None
    ci: str | None
    options: dict[str, dict[str, Any]]
    subsample: float | None
    random_state: int


def make_settings(
    indices: Any, n_neighbors: Any, metric: str, *, anchors: Any, ci: Any, options: Any, subsample: Any, root: int
) -> Settings:
    """The settings in normal form."""
    return Settings(
        indices=_index_names(listed(indices)),
        n_neighbors=check_k(n_neighbors, MANY)[0],
        metric=metric,
        anchors=None if anchors is None else check_int(anchors, "anchors", low=2),
        ci=_interval_kind(ci, anchors),
        options=_plain_options(options),
        subsample=None if subsample is None else check_float(subsample, "subsample", low=0.0, high=1.0),
        random_state=root,
    )


def seen_points(settings: Settings, n: int) -> int:
    """How many points of a data set each replicate sees."""
    return n if settings.subsample is None else round(settings.subsample * n)


def check_fit(settings: Settings, name: str, data: Data) -> None:
    """Refuse settings that a data set cannot have: too many neighbors or anchors, an option of no index."""
    n = seen_points(settings, data.n)
    try:
        check_k(settings.n_neighbors, n)
        check_int(settings.anchors or 2, "anchors", low=2, high=n)
        known = {"n_labeled": data.n_labeled, "latent": data.latent is not None}
        plan = plan_indices(settings.indices, settings.n_neighbors, n, options=settings.options, **known)
    except DrevalError as error:
        raise type(error)(error.argument, error.rule, f"{error.got} (data set {name!r})", error.cure) from error
    if not [task for task in plan if not task.card.curve]:
        cure = 'Pass indices="default", or names from dreval.list_indices().'
        raise InputError("indices", "must name something to compute", repr(settings.indices), cure)


def _index_names(wanted: Any) -> Any:
    """The names as a list of indices that have one value each; "default" and "all" stay."""
    names = [wanted] if isinstance(wanted, str) and wanted not in ("default", "all") else wanted
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str) and name in INDICES and INDICES.card(name).curve:
            cure = "Use r_nx_auc, q_local, q_global or k_max in place of a curve."
            raise InputError("indices", "must have one value for each embedding", f"the curve {name!r}", cure)
    return names


def _interval_kind(ci: Any, anchors: Any) -> str | None:
    """Intervals within a cell, or none."""
    if ci in (None, "none"):
        return None
    check_one_of(ci, ("default", "points", "anchors", "none"), "ci")
    if ci != "default" and (ci == "anchors") != (anchors is not None):
        cure = "Pass anchors=m as well." if ci == "anchors" else "Use ci='anchors', or leave anchors out."
        raise InputError("ci", "must fit the rows that are used", f"{ci!r} with anchors={anchors}", cure)
    return str(ci)


def _plain_options(options: Any) -> dict[str, dict[str, Any]]:
    """Options that can be written down, so that a file can be compared with them."""
    checked = check_options(options)
    try:
        json.dumps(checked, allow_nan=False)
    except (TypeError, ValueError) as error:
        cure = "Pass numbers, words, lists and dicts, which the file can keep."
        raise InputError("options", "must be plain values", f"{describe(options)} ({error})", cure) from error
    return checked
