"""Results of chosen values for the tests of reports: any values, any names, without an evaluation."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from dreval.records.frames import curves_frame, full_name, notes_frame, setting_names
from dreval.records.notes import ASSUMPTION, FAILURE, Code, codes, note
from dreval.records.points import Shepard
from dreval.records.results import Results, tidy_frame
from dreval.registry import MEASURES
from dreval.report.result_view import read_results

# measure, parameters, chance
DEFAULT = (
    ("trustworthiness", "n_neighbors=15", 0.5),
    ("continuity", "n_neighbors=15", 0.5),
    ("neighborhood_overlap", "n_neighbors=15", 0.01),
    ("procrustes_rc", "n_neighbors=15", 0.9),
    ("procrustes_disparity", "", 0.99),
    ("knn_accuracy", "n_neighbors=10", 0.1),
)

FULL = (
    *DEFAULT,
    ("r_nx_auc", "", 0.0),
    ("procrustes_rn_opt", "n_neighbors=15", 0.9),
    ("spearman_distance", "", 0.0),
    ("triplet_accuracy", "n_triplets=200", 0.5),
    ("ilisi", "perplexity=30", 0.9),
    ("kbet", "size=50, alpha=0.05", 0.94),
)

codes().update({"cases.note": Code("{text}", ASSUMPTION), "cases.failure": Code("{text}", FAILURE)})
HAND_NOTE = functools.partial(note, "cases.note")  # notes of these results
HAND_FAILURE = functools.partial(note, "cases.failure")


def measure_row(
    name: str, measure: str, parameters: str, value: float, chance: float, **columns: Any
) -> dict[str, Any]:
    """Return one row of a measure."""
    card = MEASURES.card(measure) if measure in MEASURES else None
    row = {"embedding": name, "measure": measure, "parameters": parameters, "value": value, "chance": chance, "n": 0}
    if card is not None:
        row.update(direction=card.direction, lower=card.bounds[0], upper=card.bounds[1])
    return {**row, **columns}


def row_of_test(name: str, p: float, adjusted: float, variable: str = "labels", note: str = "") -> dict[str, Any]:
    """Return one row of a test."""
    row = {
        "embedding": name,
        "test": "hsic",
        "variable": variable,
        "statistic": 0.0312,
        "p_value": p,
        "p_adjusted": adjusted,
    }
    return {**row, "effect_size": 0.53, "n_resamples": 999, "note": note}


def make_results(
    rows: list[dict[str, Any]],
    embeddings: Mapping[str, np.ndarray],
    labels: np.ndarray | None = None,
    failed: Mapping[str, str] | None = None,
    points: Mapping[str, pd.DataFrame] | None = None,
    curves: list[dict[str, Any]] | None = None,
    shepard: Mapping[str, Shepard] | None = None,
    **recipe: Any,
) -> Results:
    """Return a result of these rows."""
    n = len(next(iter(embeddings.values()))) if embeddings else 100
    rows = [*rows, *({"embedding": name, "note": reason} for name, reason in (failed or {}).items())]
    rows = [{**row, "notes": (HAND_NOTE(text=row["note"]),) if row.get("note") else ()} for row in rows]
    table = tidy_frame([{**row, "n": n, "dataset": "simulated"} for row in rows])
    failures = [HAND_FAILURE(text=reason).with_scope(name) for name, reason in (failed or {}).items()]
    noted_rows = [row for row in rows if row.get("measure") or row.get("test")]
    notes = notes_frame([{"notes": (HAND_NOTE(text="A note on the data."), *failures)}, *noted_rows])
    settings = {
        "dataset": "simulated",
        "n": n,
        "p": 10,
        "metric": "euclidean",
        "random_state": 0,
        "anchors": None,
        "n_neighbors": [15],
        "versions": {"dreval": "0.1.0", "numpy": "2.4"},
        "adjust": "holm",
        "call": "dreval.Evaluation(simulated, {...}, random_state=0).run()",
        "seconds": 98765.4375,
        "data_sha256": "0" * 64,
        **recipe,
    }
    empty = {name: pd.DataFrame(index=range(len(Y))) for name, Y in embeddings.items()}
    parts: dict[str, Any] = {
        "recipe": settings,
        "notes": notes,
        "curves": curves_frame(curves or []),
        "_shepard": dict(shepard or {}),
    }
    groups = pd.DataFrame(columns=["embedding", "measure", "parameters", "partition", "group", "value"])
    return Results(table, {**empty, **(points or {})}, groups, dict(embeddings), labels, **parts)


def simulated_shepard(seed: int, cells: int = 12) -> Shepard:
    """Return a Shepard table of ``cells`` cells a side, from a fixed seed."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(5.0 * np.eye(cells) + 0.3)
    steps = np.sort(rng.random(5)) * (2.0 + seed)
    edges = np.linspace(0.0, 10.0, cells + 1), np.linspace(0.0, 2.0 + seed, cells + 1)
    return Shepard(*edges, counts, np.linspace(0.5, 10.0, 6), steps, int(counts.sum()), int(counts.sum()))


def curve_rows(measure: str, names: tuple[str, ...], n: int, intervals: bool = True) -> list[dict[str, Any]]:
    """Return a curve of each embedding over K = 1, 2, 4, ... and n - 2, with intervals up to half of the points."""
    ks = [*(2**power for power in range(20) if 2**power < n - 2), n - 2]
    rows = []
    for index, name in enumerate(names):
        for k in ks:
            value = (0.9 - 0.1 * index) * k / (k + 20)
            low, high = (value - 0.05, value + 0.05) if intervals and k <= n // 2 else (math.nan, math.nan)
            chance_level = MEASURES.card(measure).chance
            chance = chance_level(n, k) if callable(chance_level) else chance_level
            row = {"embedding": name, "measure": measure, "K": k, "value": value}
            rows.append({**row, "conf_low": low, "conf_high": high, "chance": chance})
    return rows


def _simulate(
    names: tuple[str, ...] = ("tsne", "umap", "isomap", "pca"),
    n: int = 120,
    d: int = 2,
    classes: int = 4,
    intervals: bool = True,
    ks: tuple[int, ...] = (15,),
    tests: bool = True,
    failed: Mapping[str, str] | None = None,
    curves: list[dict[str, Any]] | None = None,
    **recipe: Any,
) -> Results:
    """Return the result of ``simulated_results``."""
    rng = np.random.default_rng(len(names) + n)
    labels = rng.integers(0, classes, n) if classes else None
    centers = 4 * rng.normal(size=(max(classes, 1), d))
    rows, embeddings, points = [], {}, {}
    for index, name in enumerate(names):
        embeddings[name] = rng.normal(size=(n, d)) + (centers[labels] if labels is not None else 0)
        columns = {}
        for measure, parameters, chance in DEFAULT:
            if measure == "knn_accuracy" and labels is None:
                reason = "needs labels; pass labels= to Evaluation"
                rows.append(measure_row(name, measure, parameters, math.nan, math.nan, note=reason))
                continue
            for k in ks if "n_neighbors=15" in parameters else (0,):
                setting = parameters.replace("15", str(k)) if k else parameters
                lower = measure.startswith("procrustes")
                value = (0.2 + 0.08 * index if lower else 0.98 - 0.1 * index) * (1 - 0.0002 * k)
                interval = {}
                if intervals:
                    interval = {
                        "conf_low": value - 0.012,
                        "conf_high": value + 0.012,
                        "conf_method": "jackknife",
                        "target": "points",
                    }
                if measure == "trustworthiness" and index == 1:
                    interval |= {"worst": value - 0.01, "best": value + 0.01, "note": "equal distances"}
                rows.append(measure_row(name, measure, setting, value, chance, **interval))
                if MEASURES.card(measure).level == "point":
                    columns[full_name(measure, setting)] = np.clip(rng.normal(value, 0.1, n), 0, 1)
        points[name] = pd.DataFrame(columns)
        if tests and labels is not None:
            rows.append(row_of_test(name, 0.001, 0.004))
    short_columns = {full_name(*key): column for key, column in setting_names(tidy_frame(rows)).items()}
    points = {name: frame.rename(columns=short_columns) for name, frame in points.items()}
    shepard = {name: simulated_shepard(index) for index, name in enumerate(names)}
    return make_results(rows, embeddings, labels, failed, points, curves, shepard, n_neighbors=list(ks), **recipe)


@functools.cache
def _default_results() -> Results:
    """Return the result of the default arguments, which many tests read and none changes."""
    return _simulate()


def simulated_results(*arguments: Any, **options: Any) -> Results:
    """Return a result like that of a small evaluation, from a fixed seed; arguments are those of ``_simulate``."""
    return _simulate(*arguments, **options) if arguments or options else _default_results()


VALUES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.5004, 0.5006, 0.9999, 1.0, math.nan]))


@st.composite
def result_views(draw, intervals=None):
    """Return the view of one to five embeddings with any values, some missing, with intervals or without."""
    names = [f"e{i}" for i in range(draw(st.integers(1, 5)))]
    has_intervals = draw(st.booleans()) if intervals is None else intervals
    rows = []
    for name in names:
        for measure, parameters, chance in DEFAULT:
            value = draw(VALUES)
            columns = {"note": "a reason"} if math.isnan(value) else {}
            if has_intervals and not math.isnan(value):
                half = draw(st.floats(0, 0.3))
                columns |= {
                    "conf_low": value - half,
                    "conf_high": value + half,
                    "conf_method": "jackknife",
                    "target": "points",
                }
            rows.append(measure_row(name, measure, parameters, value, chance, **columns))
    return read_results(make_results(rows, {name: np.eye(5)[:, :2] for name in names}))


N_POINTS = 24  # points of the results below


@st.composite
def ranked_results(draw, measures=DEFAULT, prefix="e"):
    """Return any values with the leave-one-out values behind intervals, so that best sets and pairs have tests.

    Values may be tied, missing or those of a copy; embeddings may have failed, be in one place, the same map, or the
    data; intervals may be missing, and values may depend on the order of ties.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [f"{prefix}{i}" for i in range(draw(st.sampled_from([1, 2, 2, 3, 5, 8])))]
    noise = rng.normal(size=(len(measures), N_POINTS))
    embeddings = {name: rng.normal(size=(N_POINTS, 2)) for name in names}
    has_intervals = draw(st.integers(0, 5)) > 0
    rows, left_out = [], {name: {} for name in names}
    for place, (measure, parameters, chance) in enumerate(measures):
        base, spread, step = draw(VALUES), draw(st.sampled_from([0.0, 0.002, 0.02, 0.2])), draw(st.floats(0, 0.1))
        for order, name in enumerate(names):
            value = draw(st.sampled_from([base, base - order * step, draw(VALUES)]))
            value = max(value, 0.0)
            columns = {"note": "a reason"} if math.isnan(value) else {}
            values = value + (noise[place] + rng.normal(size=N_POINTS)) * spread / N_POINTS
            if has_intervals and not math.isnan(value) and draw(st.integers(0, 24)):
                left_out[name][measure] = values
                se = float(np.sqrt((N_POINTS - 1) / N_POINTS * ((values - values.mean()) ** 2).sum()))
                columns = {"conf_low": value - 2 * se, "conf_high": value + 2 * se, "conf_method": "jackknife"}
                columns |= {"target": "points", "se": se, "conf_level": 0.95}
            if not math.isnan(value) and not draw(st.integers(0, 24)):
                columns |= {"worst": value - 0.1, "best": value + 0.05}
            rows.append(measure_row(name, measure, parameters, value, chance, **columns))
    if len(names) > 1 and draw(st.booleans()):  # the last embedding is a copy of the first
        copied = [row for row in rows if row["embedding"] == names[0]]
        rows = [row for row in rows if row["embedding"] != names[-1]]
        rows += [{**row, "embedding": names[-1]} for row in copied]
        embeddings[names[-1]], left_out[names[-1]] = embeddings[names[0]].copy(), left_out[names[0]]
    if draw(st.integers(0, 3)) == 0:
        embeddings[names[-1]] = np.ones((N_POINTS, 2))
    reference = (names[0],) if draw(st.integers(0, 3)) == 0 else ()
    failed = {"broken": "no memory"} if draw(st.integers(0, 3)) == 0 else {}
    recipe = {"intervals": dict.fromkeys(names, "points" * has_intervals), "reference": reference}
    results = make_results(rows, embeddings, None, failed, **recipe)
    frames = {name: pd.DataFrame(columns) for name, columns in left_out.items()}
    return dataclasses.replace(results, _left_out=frames)
