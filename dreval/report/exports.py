"""Hand results over to other programs: experiment trackers, MultiQC and Embedding Atlas."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray, check_bool, check_path, describe
from dreval.errors import DrevalError, InputError
from dreval.geometry.view import make_view
from dreval.records.base import whole_file, write_atomic
from dreval.records.frames import setting_names
from dreval.records.results import Results, over_replicates
from dreval.records.similarity import RepresentationSimilarity
from dreval.registry import MEASURES

# Experiment trackers: one flat mapping.

NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9_.-]+")
P_COLUMNS = ("p_value", "p_adjusted")
ENDS = ("conf_low", "conf_high")  # columns of an interval


def flat_values(results: Results, intervals: bool) -> dict[str, float]:
    """Return the values by keys that trackers accept; see ``Results.to_dict``."""
    check_bool(intervals, "intervals")
    names = setting_names(results.table)
    values: list[tuple[tuple[str, ...], Any]] = []
    for row in over_replicates(results.table).to_dict("records"):
        if row["test"]:
            key, columns = f"{row['test']}.{row['variable']}", {name: f".{name}" for name in P_COLUMNS}
        else:
            setting = row["parameters"] if names[row["measure"], row["parameters"]] != row["measure"] else ""
            key = ".".join([row["measure"], *(part.strip().replace("=", "-") for part in setting.split(",") if part)])
            columns = {"value": "", **({name: f".{name}" for name in ENDS} if intervals else {})}
        values += [((row["embedding"], f"{key}{end}"), row[column]) for column, end in columns.items()]
    return _by_flat_key(values, "results", "Evaluate the embeddings")


def flat_similarities(similarity: RepresentationSimilarity, intervals: bool) -> dict[str, float]:
    """Return the values by keys that trackers accept; see ``RepresentationSimilarity.to_dict``."""
    columns = ("calibrated", *P_COLUMNS, *(ENDS if check_bool(intervals, "intervals") else ()))
    values: list[tuple[tuple[str, ...], Any]] = []
    for row in similarity.table.to_dict("records"):
        cells = {"": row["value"], **{f".{column}": row[column] for column in columns}}
        values += [((row["first"], row["second"], f"{row['measure']}{end}"), cell) for end, cell in cells.items()]
    return _by_flat_key(values, "representations", "Compare the representations")


def _by_flat_key(values: Iterable[tuple[tuple[str, ...], Any]], argument: str, action: str) -> dict[str, float]:
    """Return the finite values as floats by the parts of their keys, joined; equal keys raise an error."""
    flat: dict[str, float] = {}
    for parts, value in values:
        key = "/".join(NOT_IN_KEYS.sub("_", part) for part in parts)
        if value is None or not math.isfinite(value):
            continue
        if key in flat:
            hint = f"{action} under names that differ in letters or digits."
            raise InputError(argument, "must have a different key for each value", f"{key!r} twice", hint)
        flat[key] = float(value)
    return flat


# MultiQC: custom content in JSON.

MULTIQC_SUFFIX = "_mqc.json"
ATLAS_SUFFIX = ".parquet"
SCALES = {"higher": "RdYlGn", "lower": "RdYlGn-rev"}  # of colors, from the worse to the better end


def write_multiqc(results: Results, path: Any) -> Path:
    """Write a table of custom content; see ``Results.to_multiqc``."""
    path = check_path(path, "path")
    if not path.name.endswith(MULTIQC_SUFFIX):
        hint = f"Name it results{MULTIQC_SUFFIX}: MultiQC finds files by this ending."
        raise InputError("path", f"must end in {MULTIQC_SUFFIX}", repr(path.name), hint)
    table = over_replicates(results.table[results.table["test"] == ""])
    names, dataset = setting_names(results.table), str(results.recipe.get("dataset") or "")
    prefix = "" if dataset in ("", "data") else f"{dataset} | "
    samples = {name: f"{prefix}{name}".replace("/", "_") for name in results.names}  # MultiQC cuts at a slash
    if len({*samples.values()}) < len(samples):
        hint = "Evaluate them under names that differ in more than '/'."
        raise InputError("results", "must have a different row for each embedding", describe(list(samples)), hint)
    headers, data = {}, {sample: {} for name, sample in samples.items() if name not in results.failed}
    for row in table.to_dict("records"):
        column = names[row["measure"], row["parameters"]]
        if math.isfinite(row["value"]):
            setting = f" ({row['parameters']})" if column != row["measure"] else ""
            headers.setdefault(column, _multiqc_header(row["measure"], setting))
            data[samples[row["embedding"]]][column] = row["value"]
    content = {
        "id": "dreval",
        "section_name": "Quality of embeddings",
        "description": "Measures of dimensionality reduction, by dreval.",
        "plot_type": "table",
        "pconfig": {"id": "dreval_table", "title": "Quality of embeddings", "col1_header": "Embedding"},
        "headers": headers,
        "data": data,
    }
    return write_atomic(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))


def _multiqc_header(measure: str, setting: str) -> dict[str, Any]:
    """Return the title, the question, the range and the color scale of a column."""
    card = MEASURES.card(measure) if measure in MEASURES else None
    if card is None:  # saved by a version with other measures
        return {"title": f"{measure}{setting}", "format": "{:,.3f}"}
    header = {"title": f"{card.title}{setting}", "description": card.question}
    header |= {"format": "{:,.0f}" if card.whole else "{:,.3f}", "scale": SCALES.get(card.direction, False)}
    ends = zip(("min", "max"), card.bounds, strict=True)
    return header | {key: end for key, end in ends if math.isfinite(end)}


# Embedding Atlas: places, values of points, and neighbors in the data, as a Parquet file.


def write_atlas(results: Results, path: Any, embedding: str | None, data: Any) -> Path:
    """Write one embedding with its points; see ``Results.to_atlas``."""
    from importlib.util import find_spec

    path = check_path(path, "path")
    if path.suffix != ATLAS_SUFFIX:
        hint = f"Name it map{ATLAS_SUFFIX}."
        raise InputError("path", f"must end in {ATLAS_SUFFIX}", repr(path.name), hint)
    if find_spec("pyarrow") is None:
        hint = 'Run: pip install "dreval[parquet]"'
        raise InputError("path", "needs pyarrow to write a .parquet file", f"{path.name!r} without pyarrow", hint)
    import pyarrow as pa
    import pyarrow.parquet as parquet

    name = _single_name(results, embedding)
    wide = results.augment(name)
    d = results.embeddings[name].shape[1]
    if d == 0:
        hint = "Evaluate the coordinates: Embedding Atlas draws points in the plane."
        raise InputError("embedding", "must have coordinates", f"{name!r}, of which only distances are known", hint)
    if d < 2:
        hint = "Embedding Atlas draws points in the plane."
        raise InputError("embedding", "must have two columns", f"{name!r} with {d}", hint)
    scores = wide.drop(columns=["id", *(f"y{j + 1}" for j in range(d))])
    frame = wide[["id"]] if results.ids is not None else wide[[]]
    frame = frame.assign(x=wide["y1"], y=wide["y2"], **{str(column): scores[column] for column in scores})
    indices, distances = _neighbors_with_point(results, data)
    neighbors = pa.StructArray.from_arrays(
        [pa.array(indices.tolist(), pa.list_(pa.int64())), pa.array(distances.tolist(), pa.list_(pa.float64()))],
        names=["ids", "distances"],
    )
    table = pa.Table.from_pandas(frame, preserve_index=False).append_column("neighbors", neighbors)
    with whole_file(path) as file:
        parquet.write_table(table, file)
    return path


def _neighbors_with_point(results: Results, data: Any) -> tuple[IntArray, FloatArray]:
    """Return each point and its nearest points in the data, (n, k + 1), and the distances to them."""
    if data is None and results.data is None:
        hint = "Pass data=, as results.to_atlas(path, data=X): the data of the evaluation are never saved."
        raise InputError("data", "must be given to a loaded result", "none", hint)
    table = results._checked_data(results.data if data is None else data).table
    n, k = table.shape[0], int(results.recipe["n_neighbors"][0])
    view = make_view(table, np.zeros((n, 1)), k, False, metric=str(results.recipe.get("metric", "euclidean")))
    points = np.arange(n)
    indices = np.column_stack([points, view.nearest_data[:, :k]])
    distances = view.data_space().listed(np.repeat(points, k + 1), indices.reshape(-1).astype(np.int64))
    return indices, distances.reshape(n, k + 1)


def _single_name(results: Results, embedding: str | None) -> str:
    """Return the name of the embedding that was chosen, or of the only one that was computed."""
    computed = [name for name in results.names if name not in results.failed]
    if embedding is None and len(computed) != 1:
        hint = f"Pass embedding={computed[0]!r}." if computed else "All failed."
        raise InputError("embedding", "must name one of several", f"none of {len(computed)}", hint)
    name = computed[0] if embedding is None else embedding
    try:
        results._check_computed(name)
    except DrevalError as error:
        raise error.named({"name": "embedding"}) from error.__cause__
    return name
