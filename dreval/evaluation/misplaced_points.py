"""List the points that a map misplaces: at or below the chance level of a measure, and flagged new points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, check_float, check_int, check_one_of
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.distances import nearest
from dreval.records.frames import parameters_of
from dreval.records.misplaced import MisplacedPoints
from dreval.records.notes import Note, note
from dreval.records.provenance import provenance, reproducing_call
from dreval.records.results import Results
from dreval.registry import MEASURES

CUTOFFS = ("poor", "chance")  # closer to chance than to perfect, as in reports; at chance or worse
PREFERRED = ("trustworthiness", "neighborhood_overlap", "continuity")  # in this order, where none is named


def misplaced_points(
    results: Results,
    name: str,
    measure: str | None = None,
    *,
    n_neighbors: int | None = None,
    cutoff: float | str = "poor",
) -> MisplacedPoints:
    """Compute ``Results.misplaced_points``, which documents it."""
    results._check_computed(name)
    row = _row(results, name, measure, n_neighbors)
    column = next(key for key, value in _keys(results).items() if value == (row["measure"], row["parameters"]))
    scores = results.of_all_points(name)[column].to_numpy(np.float64)
    limit = _limit(row, cutoff)
    higher = row["direction"] == "higher"
    is_misplaced = scores <= limit if higher else scores >= limit
    rows = np.flatnonzero(is_misplaced)
    rows = rows[np.argsort(scores[rows] if higher else -scores[rows], kind="stable")]
    like_noise = results._like_noise(name)
    k = int(parameters_of(row["parameters"]).get("n_neighbors", 0)) or None
    table = pd.DataFrame({"point": rows, "id": rows if results.ids is None else results.ids[rows], "kind": "data"})
    table = table.assign(score=scores[rows], p_value=np.nan, p_adjusted=np.nan)
    if like_noise is not None:
        table["like_noise"] = like_noise[rows]
    table = table.assign(**_classes_of_neighbors(results, name, rows, k))
    new, notes = _new_points(results, name)
    if len(new):
        table = pd.concat([table, new], ignore_index=True)
    parameters = {"name": name, "measure": row["measure"], "n_neighbors": k, "cutoff": cutoff}
    facts: dict[str, Any] = {"n": len(scores), "n_scored": int(np.isfinite(scores).sum()), "limit": limit}
    facts |= {"chance": float(row["chance"]), "direction": row["direction"]}
    out = results._out_of_sample.get(name)
    facts |= {"n_new": 0 if out is None else len(out), "alpha": None if out is None else _alpha(out)}
    recipe = provenance(parameters, **facts, random_state=results.recipe.get("random_state"))
    options = {key: value for key, value in parameters.items() if key != "name"}
    call = reproducing_call("results.misplaced_points", [repr(name)], options, misplaced_points)
    notes = [note("misplaced.no_guarantee"), *notes]
    return MisplacedPoints(table, {**recipe, "call": call}, tuple(notes), results.embeddings[name])


def _limit(row: dict[str, Any], cutoff: float | str) -> float:
    """Return the score from which a point is misplaced."""
    if not isinstance(cutoff, str):
        return check_float(cutoff, "cutoff", low=-math.inf, high=math.inf)
    kind = check_one_of(cutoff, CUTOFFS, "cutoff", aliases=True)
    chance = float(row["chance"])
    perfect = MEASURES.card(row["measure"]).bounds[row["direction"] == "higher"]
    limit = chance if kind == "chance" else (chance + perfect) / 2
    if not math.isfinite(limit):
        requirement = f"must be a number for {row['measure']}, which has no chance level or no best value"
        raise InputError("cutoff", requirement, repr(cutoff), "Pass the score from which a point is misplaced.")
    return limit


def _keys(results: Results) -> dict[str, tuple[str, str]]:
    """Return measure and parameters of the columns of points."""
    from dreval.records.frames import setting_names

    return {column: key for key, column in setting_names(results.table).items()}


def _row(results: Results, name: str, measure: str | None, n_neighbors: int | None) -> dict[str, Any]:
    """Return the row of the measure whose contributions decide."""
    keys, columns = _keys(results), set(results.points[name].columns)
    of_points = {keys[column] for column in columns if column in keys}
    table = results.table[(results.table["embedding"] == name) & (results.table["test"] == "")]
    table = table[(table["replicate"] == 0) & table["direction"].isin(["higher", "lower"])]
    all_rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    rows = [row for row in all_rows if (row["measure"], row["parameters"]) in of_points]
    names = list(dict.fromkeys(row["measure"] for row in rows))
    if not rows:
        hint = 'Run Evaluation.run("trustworthiness").'
        raise UndefinedMeasure("measure", "must be a measure of points that was run", "none of this embedding", hint)
    if measure is None:
        measure = next((preferred for preferred in PREFERRED if preferred in names), names[0])
    elif measure in MEASURES and measure not in names:
        hint = f"Measures with a value for each point: {', '.join(names)}."
        raise InputError("measure", "must be a measure of points that was run", repr(measure), hint)
    rows = [row for row in rows if row["measure"] == check_one_of(measure, names, "measure")]
    sizes: dict[int, dict[str, Any]] = {
        int(parameters_of(row["parameters"]).get("n_neighbors", 0)): row for row in reversed(rows)
    }
    if n_neighbors is None:
        return rows[0]
    if check_int(n_neighbors, "n_neighbors", low=1) not in sizes:
        received = f"{n_neighbors}, with values for {', '.join(map(str, sorted(sizes)))}"
        raise InputError("n_neighbors", "must be a number of neighbors that was run", received, "Choose one of them.")
    return sizes[n_neighbors]


def _classes_of_neighbors(
    results: Results, name: str, rows: npt.NDArray[np.int64], k: int | None
) -> dict[str, list[str]]:
    """Return the class of each point, and the most frequent classes of its neighbors in the data and on the map."""
    labels = results.labels
    if labels is None:
        return {}
    columns = {"label": ["" if labels[row] is None else str(labels[row]) for row in rows]}
    lists, Y = results._data_neighbors, results.embeddings[name]
    is_coordinates = results.recipe.get("embedding_metric", "euclidean") == "euclidean" and Y.shape[1] > 0
    if lists is None or k is None or k > lists.shape[1] or not is_coordinates:
        return columns
    points: FloatArray = np.asarray(Y, np.float64)
    near = np.empty((0, k), np.int64)
    if len(rows):
        near = nearest(points, min(k + 1, len(points)), points[rows])[0]
    of_map = [[j for j in line if j != row][:k] for row, line in zip(rows, near.tolist(), strict=True)]
    return columns | {
        "class_in_data": [_majority(labels[lists[row, :k]]) for row in rows],
        "class_on_map": [_majority(labels[line]) for line in of_map],
    }


def _majority(labels: npt.NDArray[Any]) -> str:
    """Return the most frequent label, of equally frequent ones the first by the alphabet; "" without labels."""
    names = [str(label) for label in labels if label is not None]
    return min(set(names), key=lambda label: (-names.count(label), label)) if names else ""


def _alpha(record: Any) -> float | None:
    """Return the level at which new points are flagged; None without p-values."""
    return float(record.recipe["parameters"]["alpha"]) if record.has_conformal else None


def _new_points(results: Results, name: str) -> tuple[pd.DataFrame, list[Note]]:
    """Return the flagged new points, whose false-discovery rate is controlled, and a note on it."""
    record = results._out_of_sample.get(name)
    if record is None or not record.has_conformal:
        return pd.DataFrame(), []
    flagged = record.points[record.flagged].sort_values("p_value", kind="stable")
    frame = pd.DataFrame({"point": -1, "id": flagged["id"].to_numpy(), "kind": "new"})
    frame = frame.assign(**{key: flagged[key].to_numpy() for key in ("p_value", "p_adjusted")})
    return frame, [note("misplaced.new", alpha=_alpha(record))]
