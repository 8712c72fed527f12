"""The printed forms of the distances between classes, and of the points that a map misplaces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from dreval._text import format_fixed, without_zero
from dreval.records.class_distances import ClassDistances
from dreval.records.misplaced import MisplacedPoints
from dreval.report.document import MISSING_VALUE, Column, Document, Table
from dreval.report.documents.small import record_summary
from dreval.report.findings import Finding, record_finding
from dreval.report.result_view import measure_phrase

MAX_PRINTED_ROWS = 12  # pairs of classes, or points, of the short form
MAX_ALL_ROWS = 200


def class_distances_summary(record: ClassDistances, full: bool, *, shell: bool = False) -> Document:
    """Return which distances between classes may be trusted, and the table of the pairs."""
    recipe = record.recipe
    level = f"{100 * recipe['parameters']['conf_level']:g} %"
    settings = [("Points", f"{recipe['n']:,}"), ("Classes", recipe["n_classes"]), ("Groups", recipe["groups"])]
    settings.append(("Joint level", level))
    count = MAX_ALL_ROWS if full else MAX_PRINTED_ROWS
    tables = [_pairs_table(record, name, count) for name in record.names]
    options: dict[str, Any] = {"settings": settings, "call": record.call, "shell": shell}
    findings = class_distances_findings(record)
    return record_summary("Distances between classes", findings, tables, record.notes, full=full, **options)


def class_distances_findings(record: ClassDistances) -> list[Finding]:
    """Return what holds for a pair of classes that was asked for, or for all pairs on each map."""
    level = f"{100 * record.recipe['parameters']['conf_level']:g} %"
    if len(record.recipe["asked"]) == 2:
        return [finding for row in record.table.to_dict("records") for finding in _pair_findings(row, level)]
    findings = []
    for name, rows in record.table.groupby("embedding", sort=False):
        share = float(rows["order_kept"].mean()) if rows["order_kept"].notna().any() else math.nan
        numbers = {"embedding": name, "pairs": len(rows), "level": level, "share": share}
        numbers |= {
            "far": int((rows["reading"] == "too far").sum()),
            "near": int((rows["reading"] == "too near").sum()),
        }
        is_tested = bool(rows["conf_low"].notna().any())
        findings.append(record_finding(f"class_distances.{'table' if is_tested else 'untested'}", **numbers))
        merged = int((rows["apart_in_data"] & ~rows["apart_on_map"]).sum())
        if merged and not is_tested:
            findings.append(record_finding("class_distances.merged_pairs", merged=merged))
        distorted = rows[rows["reading"].isin(["too far", "too near"])]
        if len(distorted):
            worst = distorted.loc[_distortion(distorted).idxmax()]
            named = {"a": worst["class_a"], "b": worst["class_b"], "ratio": float(worst["ratio"])}
            kind = "_".join(filter(None, ("worst", _one_sided(worst))))
            findings.append(record_finding(f"class_distances.{kind}", **named))
    return findings


def _distortion(rows: pd.DataFrame) -> pd.Series[float]:
    """Return how distorted each pair is, in logarithms; infinite where it is apart in the data or on the map alone."""
    is_one_sided = rows["apart_in_data"] != rows["apart_on_map"]
    return np.log(rows["ratio"].mask(is_one_sided)).abs().mask(is_one_sided, math.inf)


def _one_sided(row: Any) -> str:
    """Return how a pair is named that is apart in the data alone, or on the map alone; else nothing."""
    if row["apart_in_data"] == row["apart_on_map"]:
        return ""
    return "merged" if row["apart_in_data"] else "split"


def _pair_findings(row: dict[str, Any], level: str) -> list[Finding]:
    """Return how far apart a pair of classes is drawn, and its order among the other pairs."""
    numbers = {"embedding": row["embedding"], "a": row["class_a"], "b": row["class_b"], "level": level}
    numbers |= {"ratio": float(row["ratio"]), "low": float(row["conf_low"]), "high": float(row["conf_high"])}
    if not row["apart_in_data"] and not row["apart_on_map"]:
        return [record_finding("class_distances.coincide", **numbers)]
    if side := _one_sided(row):
        kind = side + {"too far": "", "too near": "", "open": "_open", "": "_untested"}[row["reading"]]
    else:
        kind = {"too far": "far", "too near": "near", "open": "open", "": "no_interval"}[row["reading"]]
    order = {"kept": int(row["n_kept"]), "turned": int(row["n_reversed"]), "undecided": int(row["n_open"])}
    findings = [record_finding(f"class_distances.{kind}", **numbers)]
    if kind in ("far", "near", "open"):
        findings.append(record_finding("class_distances.order", others=sum(order.values()), **order))
    return findings


def _pairs_table(record: ClassDistances, name: str, count: int) -> Table:
    """Return the pairs of classes of one embedding, the most distorted first."""
    rows = record.table[record.table["embedding"] == name]
    order = _distortion(rows).sort_values(ascending=False, na_position="last", kind="stable").index
    cells = [
        [
            f"{row['class_a']} – {row['class_b']}",
            _number(row["data"]),
            _number(row["map"]),
            _number(row["ratio"]),
            _interval_text(row),
            row["reading"],
            f"{row['rank_data']}, {row['rank_map']}",
        ]
        for row in rows.loc[order[:count]].to_dict("records")
    ]
    heads = [Column("Classes", "name"), Column("data"), Column("map"), Column("ratio"), Column("interval")]
    heads += [Column("drawn", "text"), Column("ranks")]
    left = len(rows) - len(cells)
    foot = "data, map: distances over their geometric means, of pairs that are apart in both; ranks in the data and on "
    foot += "the map, 1: the nearest pair."
    further = f" {left:,} further pairs: .summary(full=True) or .tidy()." if left else ""
    title = name if len(record.names) > 1 else ""
    return Table(title, heads, cells, foot=foot + further)


def _interval_text(row: dict[str, Any]) -> str:
    """Return the interval of a ratio, or its limit."""
    if math.isnan(row["conf_low"]):
        return ""
    if math.isnan(row["conf_high"]):
        return f"at least {_number(row['conf_low'])}"
    return f"{_number(row['conf_low'])} to {_number(row['conf_high'])}"


def _number(value: float) -> str:
    """Return a ratio with two decimals; a dash where there is none."""
    return MISSING_VALUE if math.isnan(value) else without_zero(format_fixed(value, 2))


def misplaced_summary(record: MisplacedPoints, full: bool, *, shell: bool = False) -> Document:
    """Return how many points are misplaced, what is guaranteed of the list, and the worst of them by name."""
    recipe, parameters = record.recipe, record.recipe["parameters"]
    settings = [("Points", f"{recipe['n']:,}"), ("With a score", f"{recipe['n_scored']:,}")]
    settings += [("Measure", measure_phrase(parameters["measure"])), ("Neighbors k", parameters["n_neighbors"])]
    settings.append(("Cut-off", f"{recipe['limit']:.4g}"))
    tables = [_points_table(record, MAX_ALL_ROWS if full else MAX_PRINTED_ROWS)] if len(record) else []
    options: dict[str, Any] = {"settings": settings, "call": record.call, "shell": shell}
    return record_summary("Misplaced points", misplaced_findings(record), tables, record.notes, full=full, **options)


def misplaced_findings(record: MisplacedPoints) -> list[Finding]:
    """Return the number of misplaced points, and whether a false-discovery rate is controlled."""
    recipe, parameters, table = record.recipe, record.recipe["parameters"], record.table
    count = int((table["kind"] == "data").sum())
    numbers = {"embedding": parameters["name"], "count": count, "n": recipe["n_scored"], "limit": recipe["limit"]}
    side = "below" if recipe["direction"] == "higher" else "above"
    numbers |= {"title": measure_phrase(parameters["measure"]), "side": side}
    meaning = {"poor": " (closer to chance than to perfect)", "chance": " (chance level)"}
    numbers["chance"] = meaning.get(str(parameters["cutoff"]), "")
    findings = [record_finding("misplaced.some" if count else "misplaced.none", **numbers)]
    if count:
        findings.append(record_finding("misplaced.rule"))
    if recipe["alpha"] is not None:
        new = {"count": int((table["kind"] == "new").sum()), "m": recipe["n_new"], "alpha": recipe["alpha"]}
        findings.append(record_finding("misplaced.new", **new))
    return findings


def _points_table(record: MisplacedPoints, count: int) -> Table:
    """Return the worst points by name."""
    table = record.table
    columns = {"id": "Point", "score": "score", "p_value": "p, new point", "label": "class"}
    columns |= {"class_in_data": "near in data", "class_on_map": "near on map"}
    used = [name for name in columns if name in table and (name != "p_value" or (table["kind"] == "new").any())]
    numbers = ("score", "p_value")
    heads = [Column(columns[name], "number" if name in numbers else "name") for name in used]

    def cell(name: str, value: Any) -> str:
        if pd.isna(value):
            return MISSING_VALUE if name in numbers else ""
        return without_zero(format_fixed(value, 3)) if name in numbers else str(value)

    rows = [[cell(name, row[name]) for name in used] for row in table.head(count).to_dict("records")]
    left = len(table) - len(rows)
    return Table("", heads, rows, foot=f"{left:,} further points: .tidy()." if left else "")
