"""What all cells of a study have in common, checked before anything is computed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dreval._check import check_float, check_int, check_k, check_one_of, describe
from dreval.errors import DrevalError, InputError
from dreval.evaluation.plan import listed, plan_measures
from dreval.evaluation.recipe import check_options
from dreval.inputs.data import Data
from dreval.registry import MEASURES

__all__ = ["Settings", "check_fit", "make_settings", "seen_points"]

MANY = 2**31  # what no data set has as many points as


@dataclass(frozen=True)
class Settings:
    """The settings of every cell."""

    measures: Any
    n_neighbors: list[int]
    metric: str
    anchors: int | None
    ci: str | None
    options: dict[str, dict[str, Any]]
    subsample: float | None
    random_state: int


def make_settings(
    measures: Any, n_neighbors: Any, metric: str, *, anchors: Any, ci: Any, options: Any, subsample: Any, root: int
) -> Settings:
    """The settings in normal form."""
    return Settings(
        measures=_measure_names(listed(measures)),
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
    """Refuse settings that a data set cannot have: too many neighbors or anchors, an option of no measure."""
    n = seen_points(settings, data.n)
    try:
        check_k(settings.n_neighbors, n)
        check_int(settings.anchors or 2, "anchors", low=2, high=n)
        known = {"n_labeled": data.n_labeled, "latent": data.latent is not None}
        plan = plan_measures(settings.measures, settings.n_neighbors, n, options=settings.options, **known)
    except DrevalError as error:
        raise type(error)(error.argument, error.rule, f"{error.got} (data set {name!r})", error.cure) from error
    if not [task for task in plan if not task.card.curve]:
        cure = 'Pass measures="default", or names from dreval.list_measures().'
        raise InputError("measures", "must name something to compute", repr(settings.measures), cure)


def _measure_names(wanted: Any) -> Any:
    """The names as a list of measures that have one value each; "default" and "all" stay."""
    names = [wanted] if isinstance(wanted, str) and wanted not in ("default", "all") else wanted
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str) and name in MEASURES and MEASURES.card(name).curve:
            cure = "Use r_nx_auc, q_local, q_global or k_max in place of a curve."
            raise InputError("measures", "must have one value for each embedding", f"the curve {name!r}", cure)
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
