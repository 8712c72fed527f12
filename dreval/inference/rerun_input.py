"""Data and a source in normal form, ready for re-runs, and the checks of settings that all re-runs share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dreval._check import FloatArray, check_random_state, describe
from dreval._random import root_seed
from dreval.errors import InputError, MethodFailed, UndefinedMeasure
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import as_source, bundled_first
from dreval.inputs.source_kinds import Source, seed_of
from dreval.inputs.text_tables import Header
from dreval.inputs.variables import warn_of_guesses

CANNOT_EMBED_HINT = (
    "Pass the estimator, a function (X, n_components) or the name of a bundled method in place of coordinates; for a "
    "tool outside Python exchange files with dreval.Protocol."
)
OTHER_RUNS_HINT = "For other runs export a protocol with that seed."
CALLER_NAMES = {"data": "X", "embeddings['source']": "source"}  # internal argument name: name in the caller's function


def caller_names(X: Any = None, source: Any = None, **_: Any) -> Mapping[str, str]:
    """Return the names that the caller's function has for data and source.

    A source that an evaluation has made already has its argument name there, which is mapped too.
    """
    from_evaluation = isinstance(source, Source) and not isinstance(X, Data)
    return {**CALLER_NAMES, source.argument: "source"} if from_evaluation else CALLER_NAMES


class RerunInput(NamedTuple):
    """Data and source in normal form, with the root seed and the seed of the method."""

    data: Data
    source: Source
    root: int
    seed: int | None


def open_case(
    X: Any,
    source: Any,
    labels: Any,
    ids: Any,
    random_state: Any,
    *,
    reruns: bool = True,
    metric: str = "euclidean",
    header: Header | None = None,
    options: Mapping[str, Any] | None = None,
    noted: bool = False,
    groups: Any = None,
) -> RerunInput:
    """Return data and source in normal form, the source with other ``options``.

    Users or an evaluation pass data and source. Warn of guesses that change numbers, as of rows matched by position,
    unless the caller's record has the notes of data and source (``noted``).

    If runs are recorded, the seed is the recorded one, and a different ``random_state`` raises an error (but not the
    seed of an evaluation, which also serves other embeddings). A measure that re-runs nothing (``reruns=False``) uses
    the recorded seed only if none is passed.
    """
    data = X if isinstance(X, Data) else as_data(X, labels=labels, groups=groups, ids=ids, metric=metric, header=header)
    if data.metric == "geodesic" and data is not X:
        hint = "Pass the points with another metric, or an Evaluation(..., metric='geodesic')."
        raise UndefinedMeasure("metric", "must be of the rows of the data, without a graph", "'geodesic'", hint)
    data = replace(data, table=data.dense()) if data.sparse else data
    opened = source if isinstance(source, Source) else as_source(bundled_first(source), "source", data)
    if options:
        _check_runs(opened)  # before options that coordinates do not take
        opened = as_source(bundled_first(source), "source", data, **options)
    if not noted:  # an evaluation has the notes of its data and sources
        warn_of_guesses((() if data is X else data.notes) + (() if opened is source else opened.notes), CALLER_NAMES)
    source_seed = opened.own_seed if opened.recording is None else None
    checked = check_random_state(source_seed if random_state is None else random_state)
    recording = opened.recording if reruns or random_state is None else None
    if recording is not None and random_state is not None and data is not X and checked != recording.root:
        requirement, hint = f"must be that of the recorded runs, {recording.root}", "Leave random_state out."
        raise UndefinedMeasure("random_state", requirement, describe(random_state), f"{hint} {OTHER_RUNS_HINT}")
    root = root_seed(checked) if recording is None else recording.root
    return RerunInput(data, opened, root, seed_of(root))


def recorded_options(
    requester: str, parameters: Iterable[str], source: Source, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the options of a measure or test, completed from its recorded runs; conflicting options raise an error.

    Without recorded runs the options are returned unchanged. Numbers of runs may be smaller than those recorded.
    """
    recording = source.recording
    if recording is None:
        return options
    if requester in recording.unexported:
        raise UndefinedMeasure(source.argument, "must have been run for this measure", *recording.unexported[requester])
    over = options.get("over") if requester == "stability" else None
    recorded_kinds = [name for name in ("seeds", "halves") if recording.settings[name]]
    if isinstance(over, str) and over.lower() in {"seeds", "halves", "both"} - set(recorded_kinds):
        usable_kinds = [name for name in recorded_kinds if name == "halves" or recording.reseed_reason is None]
        alternatives = " and, in another call, ".join(f"over={name!r}" for name in usable_kinds)
        both = over.lower() == "both"
        missing_kind = "halves" if both else over.lower()
        export = "" if both and usable_kinds else f"export a new folder with {export_setting(missing_kind, 10)}"
        advice = ", or ".join(filter(None, [alternatives and f"use {alternatives}", export]))
        requirement = f"must have been run with over={over.lower()!r}"
        received = (
            f"runs of {' and '.join(recorded_kinds)}{', each half with one seed' if len(recorded_kinds) > 1 else ''}"
        )
        raise UndefinedMeasure(source.argument, requirement, received, f"{advice[0].upper()}{advice[1:]}.")
    recorded = {name: value for name, value in recording.settings_of(requester, options).items() if name in parameters}
    for name, value in options.items():
        is_count = name.startswith("n_") and name != "n_components" and isinstance(value, int)
        if name in recorded and value not in (recorded[name], "auto", None):
            if is_count and (recorded[name] == "all" or value <= recorded[name]):
                continue
            setting = (
                {"noise": "noise", "stability": recorded.get("over", name)}.get(requester, name) if is_count else name
            )
            hint = f"Leave {name} out, or export a new folder with {export_setting(setting, value)}."
            hint = f"Leave {name} out: each data set is run once." if name == "n_seeds" else hint
            requirement = f"must have been run with {name}={value!r}"
            raise UndefinedMeasure(source.argument, requirement, repr(recorded[name]), hint)
    return {**options, **{name: value for name, value in recorded.items() if options.get(name) in (None, "auto")}}


def export_setting(name: str, value: Any) -> str:
    """Return a setting of the export of a protocol, in Python and as an option of the command line."""
    return f"dreval.Protocol(..., {name}={value!r}) (on the command line --{name.replace('_', '-')} {value})"


def expand_grid(param_grid: Any) -> list[dict[str, Any]]:
    """Return every combination of the options of a grid, or of a list of grids in turn; one empty setting for None."""
    if param_grid is None:
        return [{}]
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    hint = "Pass a dict such as {'n_neighbors': [5, 15, 50]}, or a list of such dicts."
    if (
        not isinstance(grids, Sequence)
        or isinstance(grids, str)
        or not all(isinstance(grid, Mapping) for grid in grids)
    ):
        raise InputError(
            "param_grid", "must be a dict of option to list, or a list of such", describe(param_grid), hint
        )
    combinations = []
    for grid in grids:
        if not grid:
            raise InputError("param_grid", "must hold at least one option", "an empty dict", hint)
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or not len(values):
                requirement = f"must have a list of values for {name!r}"
                raise InputError("param_grid", requirement, describe(values), hint)
        combinations += [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if not combinations:
        raise InputError("param_grid", "must hold at least one setting", "an empty list", hint)
    return combinations


def check_can_rerun(case: RerunInput) -> None:
    """Check that the source can run on other data, or has recorded runs on these data."""
    recording = case.source.recording
    if recording is not None and not recording.of_input(case.data.X):
        raise recording.other_data(case.source.argument)
    _check_runs(case.source)


def _check_runs(source: Source) -> None:
    """Raise if a source cannot be run."""
    if not source.can_embed:
        raise UndefinedMeasure(
            source.argument, "must be able to embed other data", str(source.reason), CANNOT_EMBED_HINT
        )


def check_max_columns(case: RerunInput, Y: FloatArray, d: int) -> FloatArray:
    """Return an embedding; raise if it has more than d columns."""
    if Y.shape[1] > d:
        requirement = f"must return at most {d} column{'s' * (d > 1)}, its n_components"
        hint = "Return n_components columns: a function is called with their number, (X, n_components)."
        raise MethodFailed(case.source.argument, requirement, f"{Y.shape[1]} columns", hint)
    return Y
