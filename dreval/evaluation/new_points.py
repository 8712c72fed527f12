"""New points of an evaluation: who embeds them, fits that leave out rows, and their record for each embedding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dreval._check import DEFAULT_NEIGHBORS, FloatArray, IntArray, auto_neighbors, check_k, nearest_name
from dreval._random import stream, stream_seed
from dreval.errors import DrevalError, Hint, InputError, InputWarning, UnknownName, UserCode, warn
from dreval.evaluation.out_of_sample import compare_new_points, new_points_record
from dreval.geometry.blocks import View
from dreval.geometry.view import Reads, make_views
from dreval.inputs.coordinates import Coordinates
from dreval.inputs.data import Data
from dreval.inputs.features import rows_of
from dreval.inputs.new_points import NewPointsInput, check_new_columns, matched_columns, new_coordinates
from dreval.inputs.source import digest
from dreval.inputs.source_kinds import (
    CoordinateSource,
    EstimatorSource,
    FittedEmbedding,
    Source,
    is_map,
    read_returned,
)
from dreval.inputs.variables import Rows
from dreval.records.notes import Note, Notes, note, note_from_error
from dreval.records.out_of_sample import OutOfSample
from dreval.storage.embeddings import EmbeddingCache

MIN_FITTED = 4  # points that a fit needs at least
PASSED = "passed"  # origins of the coordinates of new points: from the user,
STORED = "stored"  # from obsm of the new cells, under the key of the embedding,
TRANSFORM = "transform"  # or from the fit of the run


class Comparison(NamedTuple):
    """The coordinates of new points in one embedding, of the points they are compared with, and of the calibration.

    ``rows`` are the points of the data that were fitted; None for all.
    """

    reference: FloatArray
    new: FloatArray
    rows: IntArray | None = None
    calibration: FloatArray | None = None
    notes: Notes = ()


def origin(points: NewPointsInput, source: Source) -> str | None:
    """Return where the coordinates of new points in an embedding come from; None where there are none."""
    if points.share is not None:
        return None if obstacle(points, source) else TRANSFORM
    if source.name in points.coordinates:
        return PASSED
    if isinstance(source, CoordinateSource):
        stored = points.data is not None and source.stored in points.data.obsm
        return STORED if source.stored and stored else None
    return None if source.transform_reason else TRANSFORM


def obstacle(points: NewPointsInput, source: Source) -> str | None:
    """Return the reason why an embedding has no coordinates of new points; None if it can have them."""
    if points.share is None:
        return source.transform_reason if origin(points, source) is None else None
    if isinstance(source, EstimatorSource) and is_map(source.estimator):
        return f"{source.what} is not fitted by the run, so that no rows can be left out of its fit"
    if source.recording is not None:
        return "its runs are recorded, and none of them leaves out these rows"
    return source.transform_reason


def fitted_by_run(points: NewPointsInput, source: Source) -> bool:
    """Return whether the fit of the data by the run also embeds the new rows."""
    return points.share is None and origin(points, source) == TRANSFORM


def check_new_points(
    points: NewPointsInput, sources: Mapping[str, Source], data: Data, n_neighbors: list[int] | None, seed: int
) -> None:
    """Check, before anything is computed, that new points belong to embeddings that can have them.

    Raises
    ------
    UnknownName
        Coordinates for a name of no embedding.
    InputError
        Coordinates in an embedding that the run fits itself, coordinates with another number of columns, no embedding
        that can have new points, or a share that leaves fewer rows than neighbors (None: chosen by their number).
    """
    if points.share is not None and n_neighbors is not None:
        n, k = data.n - len(left_out_rows(data, points.share, seed)), number_of_neighbors(n_neighbors)
        if k >= n:
            hint = "Leave out fewer rows, or use fewer neighbors."
            raise InputError("new", f"must leave more than {k} rows to a fit, as many as neighbors", str(n), hint)
    for name, coordinates in points.coordinates.items():
        if name not in sources:
            near = nearest_name(name, sources)
            hint = f"{f'Did you mean {near!r}? ' if near else ''}Embeddings: {', '.join(sources) or 'none'}."
            raise UnknownName("new", "must name embeddings of the evaluation", repr(name), hint)
        source = sources[name]
        if _is_fitted(source):
            requirement = f"must have no coordinates for {name!r}, which the run fits: they are of another fit"
            hint = "Leave them out: its transform embeds the new rows."
            if source.transform_reason:
                hint = f"Pass its coordinates of the data, too, as the embedding {name!r}."
            raise InputError("new", requirement, f"coordinates, and {source.what} as the embedding", hint)
        if isinstance(coordinates, Coordinates) and isinstance(source, CoordinateSource):
            matched_columns(coordinates, source.columns, source.values.shape[1], f"new[{name!r}]")
    reasons = {name: obstacle(points, source) for name, source in sources.items()}
    if reasons and all(reasons.values()):
        listed = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        methods = [
            source.method for source in sources.values() if isinstance(source, CoordinateSource) and source.method
        ]
        hint = f"Pass {methods[0]!r}." if methods else "Add a method, or an estimator with transform."
        fields = {}
        if points.share is None:
            hint = f"Pass coordinates of the new rows, {{new}}{f'; or {methods[0]!r}' if methods else ''}."
            fields = {"new": Hint("new", {next(iter(sources)): "new.csv"})}
        argument = "new_data" if points.share is None else "new"
        raise InputError(argument, "must come with an embedding of new points", listed, hint, **fields)


def _is_fitted(source: Source) -> bool:
    """Return whether a run fits a source, so that coordinates of new rows from outside are those of another fit."""
    is_fixed_map = isinstance(source, EstimatorSource) and is_map(source.estimator)
    return source.can_embed and source.recording is None and not is_fixed_map


def left_out_rows(data: Data, share: float, seed: int) -> IntArray:
    """Return the rows of the data that are left out of a fit, ascending: a random share, of groups whole groups."""
    rng = stream(seed, "new points")
    if data.groups is None:
        count = min(max(round(share * data.n), 1), data.n - MIN_FITTED)
        return np.sort(rng.choice(data.n, count, replace=False))
    groups = len(data.groups.classes)
    left_out = rng.choice(groups, min(max(round(share * groups), 1), groups - 1), replace=False)
    return np.flatnonzero(np.isin(data.groups.codes, left_out))


def fit_with_new(
    source: Source, data: Data, new: Data | None, left_out: IntArray | None, seed: int, cache: EmbeddingCache
) -> tuple[FittedEmbedding, float]:
    """Return the embedding of the data and of new points by one fit, and its seconds.

    Rows that are ``left_out`` of the fit are new points, before the rows of ``new``.
    """
    reference, points, key, labels = data, [], {}, data.labels
    names: Any = data
    if left_out is not None:
        rows = np.setdiff1d(np.arange(data.n), left_out)
        points, key = [rows_of_data(data, left_out, rows).dense()], {"left_out": digest(left_out)}
        reference, names = rows_of_data(data, rows, rows), Rows.of(data, rows)
        labels = None if labels is None else replace(labels, codes=labels.codes[rows])
        new = None if new is None else rows_of_data(new, np.arange(new.n), rows)
    if new is not None:
        points, key = [*points, new.dense()], {**key, "new": digest(new.dense())}
    X, X_new = reference.dense(), np.concatenate(points)
    fit = partial(source.embed_with_new, X, X_new, source.default_components, seed, labels, names)
    return cache.embedding_with_new(source, seed, (len(X), len(X_new)), key, fit)


class NewPointsOutcome(NamedTuple):
    """The record of new points by name of the embedding, and notes on embeddings that have none."""

    records: dict[str, OutOfSample]
    notes: list[Note]


def evaluate_new_points(
    ev: Any,
    views: Mapping[str, View],
    new: Mapping[str, FloatArray | DrevalError],
    cache: EmbeddingCache,
    **settings: Any,
) -> NewPointsOutcome:
    """Return the record of new points of each embedding of an evaluation, or a note with the reason why it has none.

    ``views`` are those of the data and the embeddings, ``new`` the coordinates of new points by the same fits, or their
    errors, and ``settings`` further ones of ``new_points_record``.
    """
    outcome = NewPointsOutcome({}, [])
    points: NewPointsInput | None = ev.new
    if points is None:
        return outcome
    outcome.notes.extend(() if points.data is None else points.data.notes)
    comparisons: dict[str, Comparison] = {}
    for name, view in views.items():
        source, reason = ev.sources[name], obstacle(points, ev.sources[name])
        if reason is not None:
            outcome.notes.append(_note_on_obstacle(points, source, reason))
            continue
        try:
            comparisons[name] = _compared(ev, source, view.Y, new.get(name), cache)
        except DrevalError as error:
            failed = replace(note_from_error(error, name), code="new.failed")
            outcome.notes.append(failed)
            warn(InputWarning(failed))
            continue
        outcome.notes.extend(item.with_scope(name) for item in comparisons[name].notes)
    try:
        outcome.records.update(_records(ev, views, comparisons, settings) if comparisons else {})
    except DrevalError as error:  # for all embeddings alike
        outcome.notes.extend(replace(note_from_error(error, name), code="new.failed") for name in comparisons)
        warn(InputWarning(outcome.notes[-1]))
    return outcome


def _note_on_obstacle(points: NewPointsInput, source: Source, reason: str) -> Note:
    """Return the note on an embedding without new points, which says how it gets their coordinates."""
    if points.share is not None:
        return note("new.not_left_out", source.name, reason=reason)
    new = f"new={{{source.name!r}: Y_new}}"
    if not source.can_embed or source.recording is not None:
        return note("new.coordinates", source.name, reason=reason, way=new)
    return note("new.no_transform", source.name, reason=reason, embedding=f"{{{source.name!r}: Y}}", way=new)


def _records(
    ev: Any, views: Mapping[str, View], comparisons: Mapping[str, Comparison], settings: Mapping[str, Any]
) -> dict[str, OutOfSample]:
    """Return the records of embeddings whose new points have coordinates, from one pass over the reference points."""
    points, data, held_out = ev.new, ev.data, None
    left_out = None if points.share is None else left_out_rows(data, points.share, ev.seed)
    maps = {name: compared.reference for name, compared in comparisons.items()}
    if left_out is None:
        reference, new, k = data, points.data, number_of_neighbors(ev.n_neighbors)
    else:
        rows = np.setdiff1d(np.arange(data.n), left_out)
        reference, held_out = rows_of_data(data, rows, rows), rows_of_data(data, left_out, rows)
        new = held_out if points.data is None else rows_of_data(points.data, np.arange(points.data.n), rows)
        held_out = None if points.data is None else held_out
        k = auto_neighbors(reference.n) if ev.auto_neighbors else number_of_neighbors(ev.n_neighbors)
    check_k(k, reference.n)
    notes: Notes = ()
    if left_out is not None:
        facts = {"share": len(left_out) / data.n, "out": len(left_out), "rows": data.n, "n": reference.n}
        notes = (note("new.refit", **facts),)
    if len(ev.n_neighbors) > 1:
        notes = (*notes, note("new.one_number", k=k, numbers=tuple(map(str, sorted(ev.n_neighbors)))))
    if k != number_of_neighbors(ev.n_neighbors):
        least = 2 * DEFAULT_NEIGHBORS + 1
        notes = (*notes, note("neighbors.auto", k=k, n=reference.n, usual=DEFAULT_NEIGHBORS, least=least))
    coordinates = {name: compared.new for name, compared in comparisons.items()}
    compared_points = compare_new_points(reference, maps, new, coordinates, k, groups=new.groups, n_jobs=ev.n_jobs)
    calibration: dict[str, Any] = {}
    if held_out is not None:
        coordinates = {name: part.calibration for name, part in comparisons.items() if part.calibration is not None}
        calibration = {**compare_new_points(reference, maps, held_out, coordinates, k, n_jobs=ev.n_jobs)}
    reference_views = dict(views) if left_out is None else {}
    unread = [name for name in maps if not _has_ranks(reference_views.get(name), k)]
    if unread:
        anchors = None
        if ev.anchors is not None and ev.anchors < reference.n:
            anchors = np.sort(stream(ev.seed, "anchors").choice(reference.n, ev.anchors, replace=False))
        options: dict[str, Any] = {"rows": anchors, "metric": data.metric, "seed": ev.seed, "n_jobs": ev.n_jobs}
        maps_without = {name: maps[name] for name in unread}
        reference_views |= make_views(
            reference.table, maps_without, Reads(k, streamed_k=k, streamed_ranks=True), **options
        )
    records = {}
    for name in maps:
        options = {**settings, "calibration": calibration.get(name), "seed": ev.seed, "notes": notes}
        record = new_points_record(reference_views[name], compared_points[name], k, **options)
        values = {"way": "calibration=(X_cal, Y_cal) to dreval.out_of_sample", "argument": "calibration"}
        source = ev.sources[name]
        if _is_fitted(source) and origin(points, source) == TRANSFORM:
            remedies = {"new": "new=0.2", "new_data": "new_data=X_new"}
            values["argument"] = "new" if points.share is None else "new_data"
            values["way"] = remedies[values["argument"]]
        no_calibration = "new.no_calibration"
        record_notes = [item.with_values(**values) if item.code == no_calibration else item for item in record.notes]
        records[name] = replace(record, notes=tuple(record_notes))
    return records


def with_calls(records: Mapping[str, OutOfSample], call: str) -> dict[str, OutOfSample]:
    """Return the records with the call that reproduces each: that of the evaluation, and the name of the embedding."""
    return {
        name: replace(record, recipe={**record.recipe, "call": f"{call}[{name!r}].out_of_sample"})
        for name, record in records.items()
    }


def _has_ranks(view: View | None, k: int) -> bool:
    """Return whether a view has k neighbors in data and embedding, with their ranks."""
    return view is not None and min(view.data_rank.shape[-1], view.embedding_rank.shape[-1]) >= k


def number_of_neighbors(n_neighbors: list[int]) -> int:
    """Return the number of neighbors for new points: 15, or the middle one, as the first table of a result."""
    numbers = sorted(n_neighbors)
    return DEFAULT_NEIGHBORS if DEFAULT_NEIGHBORS in numbers else numbers[len(numbers) // 2]


def rows_of_data(data: Data, rows: IntArray, reference: IntArray) -> Data:
    """Return some rows, named by ids or numbers, with their groups; of distances, those to ``reference`` points."""
    ids, groups = pd.Index(rows) if data.ids is None else data.ids[rows], None
    table = rows_of(data.table, rows)
    table = table[:, reference] if data.metric == "precomputed" else table
    if data.groups is not None:
        used, codes = np.unique(data.groups.codes[rows], return_inverse=True)
        groups = replace(data.groups, codes=codes, classes=data.groups.classes[used])
    return Data(table, columns=data.columns, ids=ids, metric=data.metric, groups=groups)


def _compared(ev: Any, source: Any, Y: FloatArray, new: Any, cache: EmbeddingCache) -> Comparison:
    """Return the coordinates of the new points of an embedding, and of what they are compared with.

    ``Y`` are its coordinates, and ``new`` those of the new rows by the same fit, or the error of its transform.
    """
    points, data, argument = ev.new, ev.data, f"new[{source.name!r}]"
    if points.share is None:
        match origin(points, source):
            case "transform" if isinstance(new, DrevalError):
                raise new
            case "transform":
                return Comparison(Y, new)
            case "stored":
                stored = new_coordinates(source.stored, argument, points.data)
                notes = (note("new.stored", argument=points.data.name, key=source.stored), *stored.notes)
                return _passed(replace(stored, notes=notes), source, Y, points.data)
        return _passed(points.coordinates[source.name], source, Y, points.data)
    left_out = left_out_rows(data, points.share, ev.seed)
    rows, count = np.setdiff1d(np.arange(data.n), left_out), len(left_out)
    seed = stream_seed(ev.seed, "embedding", source.name)
    fitted, _ = fit_with_new(source, data, points.data, left_out, seed, cache)
    if isinstance(fitted.new, DrevalError):
        raise fitted.new
    notes = tuple(note("new.fit", note=item) for item in fitted.notes)
    if points.data is None:
        return Comparison(fitted.Y, fitted.new, rows, notes=notes)
    return Comparison(fitted.Y, fitted.new[count:], rows, fitted.new[:count], notes)


def _passed(coordinates: Any, source: Source, Y: FloatArray, rows: Data) -> Comparison:
    """Return the coordinates that a user passed for the new rows, or that a function of these rows returns."""
    argument = f"new[{source.name!r}]"
    if isinstance(coordinates, Coordinates):
        columns = source.columns if isinstance(source, CoordinateSource) else None
        matched = matched_columns(coordinates, columns, Y.shape[1], argument)
        values, notes = matched.values, matched.notes
    else:
        X_new = np.array(rows.dense(), order="C")
        with UserCode(argument, "the function"):
            value = coordinates(X_new)
        values, notes = read_returned(value, rows, argument, "the function", "function(X)", may_be_wide=True)
    return Comparison(Y, check_new_columns(values, Y.shape[1], argument), notes=notes)
