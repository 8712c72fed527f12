"""Test on other measurements whether clusters of a map differ by more than noise, and whether there is a gap."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dreval._check import FloatArray, IntArray, check_float, check_int, describe, function_name
from dreval._random import stream
from dreval.errors import DrevalError, InputError, UndefinedMeasure, UserCode
from dreval.inference.adjustment import over_blocks
from dreval.inference.permutation import draw_permutations
from dreval.records.held_out import ClusterTest, HeldOutFidelity
from dreval.records.notes import Notes, note

MIN_CLUSTER = 2  # points
MIN_DIP_POINTS = 10
RELATIVE_TIE = 1e-12
PERMUTATIONS_AT_ONCE = 64
SPREADS = 2.0  # root mean squares around the line through two centers, within which points are tested for a gap


def cluster_test(
    record: HeldOutFidelity, rule: Any, split: Any, setting: Any, n_resamples: Any, alpha: Any
) -> ClusterTest:
    """Test the clusters of a map on the second part of the measurements; see ``HeldOutFidelity.test_clusters``."""
    if record._splits is None:
        hint = "Test the record that held_out_fidelity returned; with journal= it runs no method twice."
        raise UndefinedMeasure("test_clusters", "must be called before a record is saved", "a loaded record", hint)
    maps = record.maps[str(check_int(setting, "setting", low=0, high=len(record.settings) - 1))]
    Y = maps[check_int(split, "split", low=0, high=len(maps) - 1)]
    B, level = check_int(n_resamples, "n_resamples", low=1), check_float(alpha, "alpha", high=0.5, above=0.0)
    if Y is None:
        raise InputError("split", "must be one whose run did not fail", str(split), "Pass the number of another split.")
    root = int(record.recipe["random_state"])
    codes, names, is_fixed = _clusters(rule, Y, root)
    first, second = record._splits.prepared(split)
    parts = record._splits.parts(split)
    labels = parts.second_columns if second.shape[1] == len(parts.second_columns) else np.arange(second.shape[1])
    if record._splits.kind == "columns":
        first = None  # another space: the direction is found in half of the points
    rows, columns = [], []
    for a, b in combinations(range(len(names)), 2):
        test = _max_t(second, codes, a, b, B, root)
        gap = _dip_test(first, second, codes, a, b, B, root)
        largest = int(np.argmax(np.abs(test.statistics)))
        pair = {"first": names[a], "second": names[b]}
        rows.append(
            {
                **pair,
                "n_first": int((codes == a).sum()),
                "n_second": int((codes == b).sum()),
                "column": int(labels[largest]),
                "statistic": float(test.statistics[largest]),
                "p_value": float(test.p_values.min()),
                **gap._asdict(),
            }
        )
        columns += [
            {**pair, "column": int(label), "difference": d, "statistic": t, "p_adjusted": p}
            for label, d, t, p in zip(labels, test.differences, test.statistics, test.p_values, strict=True)
        ]
    return ClusterTest(
        *_adjusted(pd.DataFrame(rows), pd.DataFrame(columns), level),
        clusters=codes,
        map=Y,
        alpha=level,
        recipe={
            "random_state": root,
            "parameters": {"split": split, "setting": setting, "n_resamples": B, "alpha": level},
        },
        notes=_notes(record, is_fixed),
    )


def _is_fixed(rule: Any, Y: FloatArray, values: Any) -> bool:
    """Return whether a rule gives the same clusters for a map whose points have changed places."""
    order = np.roll(np.arange(len(Y)), len(Y) // 2)
    try:
        with UserCode("rule", function_name(rule, "rule"), "return a cluster for each point"):
            moved = np.asarray(rule(Y[order]))
    except DrevalError:  # it reads the map
        return False
    values = np.asarray(values)
    return np.array_equal(moved, values) and not np.array_equal(moved, values[order])


def _clusters(rule: Any, Y: FloatArray, root: int) -> tuple[IntArray, list[str], bool]:
    """Return the cluster of each point, -1 for none, the names of the clusters, and whether they ignore the map."""
    hint = "Pass a number of clusters, or a function of the map that returns a cluster for each point."
    if callable(rule):
        name = function_name(rule, "rule")
        with UserCode("rule", name, "return a cluster for each point"):
            values = rule(Y.copy())
        if np.ndim(values) != 1 or len(values) != len(Y):
            raise InputError("rule", f"must return one cluster for each of {len(Y)} points", describe(values), hint)
        is_fixed = _is_fixed(rule, Y, values)
        series = pd.Series(np.asarray(values)).convert_dtypes()  # -1.0 is -1
        texts = series.astype(str).to_numpy(dtype=object)
        present = ~series.isna().to_numpy() & ~np.isin(texts, ("-1", "-1.0"))
    else:
        from scipy.cluster.vq import kmeans2

        if not isinstance(rule, int | np.integer):
            raise InputError("rule", "must be a number of clusters or a function of the map", describe(rule), hint)
        is_fixed = False
        count = check_int(rule, "rule", low=2, high=len(Y) // MIN_CLUSTER)
        runs = [kmeans2(Y, count, minit="++", rng=stream(root, "k-means", b)) for b in range(10)]
        centers, assigned = min(runs, key=lambda run: float(np.square(Y - run[0][run[1]]).sum()))
        order = np.argsort(np.argsort(centers[:, 0], kind="stable"), kind="stable")
        texts, present = order[assigned].astype(str).astype(object), np.ones(len(Y), np.bool_)
    names = sorted(set(texts[present]), key=lambda text: (len(text), text))
    codes = np.full(len(Y), -1)
    for code, text in enumerate(names):
        codes[present & (texts == text)] = code
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    if len(names) < 2 or sizes.min(initial=len(Y)) < MIN_CLUSTER:
        received = f"{len(names)} of sizes {', '.join(map(str, sizes[:10]))}"
        raise InputError("rule", f"must give at least two clusters of {MIN_CLUSTER} points or more", received, hint)
    return codes, names, is_fixed


class _MaxT(NamedTuple):
    """Differences of means, t statistics, and p-values adjusted over the columns by the largest statistic."""

    differences: FloatArray
    statistics: FloatArray
    p_values: FloatArray


def _max_t(second: FloatArray, codes: IntArray, a: int, b: int, B: int, root: int) -> _MaxT:
    """Return the tests of two clusters in all columns: points of both are permuted, the same way in all columns."""
    rows = np.flatnonzero((codes == a) | (codes == b))
    in_first = codes[rows] == a
    n, n_first = len(rows), int(in_first.sum())
    Z = second[rows] - second[rows].mean(axis=0)
    total = np.square(Z).sum(axis=0)
    rounding = np.square(1e-12 * np.abs(second[rows]).max(axis=0)) * n

    def statistics(members: FloatArray) -> tuple[FloatArray, FloatArray]:
        means = members @ Z / n_first
        difference = means * n / (n - n_first)  # the columns are centered
        between = means * difference * n_first
        within = np.maximum(total - between, rounding + 1e-14 * total)
        scale = np.sqrt(within / max(n - 2, 1) * (1 / n_first + 1 / (n - n_first)))
        return difference, np.divide(difference, scale, out=np.zeros_like(difference), where=scale > 0)

    differences, observed = (part[0] for part in statistics(in_first[None].astype(np.float64)))
    size, reached = np.abs(observed), np.zeros(second.shape[1], np.int64)
    orders = draw_permutations(n, B, root, "clusters", a, b)
    for start in range(0, B, PERMUTATIONS_AT_ONCE):
        members = in_first[orders[start : start + PERMUTATIONS_AT_ONCE]].astype(np.float64)
        largest = np.abs(statistics(members)[1]).max(axis=1)
        reached += (largest[:, None] >= size * (1 - RELATIVE_TIE)).sum(axis=0)
    return _MaxT(differences, observed, (reached + 1) / (B + 1))


class _Gap(NamedTuple):
    """The dip of the second part along the line between two clusters, its p-value, and the number of points."""

    dip: float = math.nan
    dip_p_value: float = math.nan
    n_dip: int = 0


def _dip_test(first: FloatArray | None, second: FloatArray, codes: IntArray, a: int, b: int, B: int, root: int) -> _Gap:
    """Test for a gap between two clusters: for two modes of the second part along the line between their centers.

    The line is that through the means of the first part. Where the parts have different columns, it is that of the
    second part at a random half of the points, and the other half is tested. Of several clusters, the points near the
    segment between the two centers are tested, whatever their cluster: cutting a single cloud into pieces makes gaps
    between pieces that are not neighbors, but none in a convex part of it.
    """
    from dreval.geometry._loops.dip import dip, dips

    tested, base = codes >= 0, second if first is None else first
    if first is None:
        is_tested = stream(root, "half for the dip", a, b).permutation(len(codes)) % 2 == 0
        fitted, tested = tested & ~is_tested, tested & is_tested
    else:
        fitted = tested
    if min(int((codes[fitted] == code).sum()) for code in (a, b)) < 1:
        return _Gap()
    centers = np.array([base[fitted & (codes == c)].mean(axis=0) for c in np.unique(codes[fitted])])
    present = np.unique(codes[fitted]).tolist()
    start, end = centers[present.index(a)], centers[present.index(b)]
    line = end - start
    length = float(np.linalg.norm(line))
    if length == 0:
        return _Gap()
    if len(present) > 2:
        tested = tested & _near_segment(base, centers, start, line / length, length, fitted & np.isin(codes, (a, b)))
    if int(tested.sum()) < MIN_DIP_POINTS:
        return _Gap()
    projection = np.sort(second[tested] @ (line / length))
    value, n = float(dip(projection)), len(projection)
    rng = stream(root, "uniform samples", n)
    null = dips(np.sort(rng.random((B, n)), axis=1))
    return _Gap(value, float((np.count_nonzero(null >= value) + 1) / (B + 1)), n)


def _near_segment(
    base: FloatArray, centers: FloatArray, start: FloatArray, direction: FloatArray, length: float, members: Any
) -> Any:
    """Return which points are near the segment from one center to another, in the space of all centers.

    That is a cylinder around the line, two root mean squares of the clusters wide and long beyond the centers: convex.
    """
    offsets = centers - start
    _, sizes, axes = np.linalg.svd(offsets - np.outer(offsets @ direction, direction), full_matrices=False)
    axes = axes[sizes > 1e-10 * max(float(sizes.max(initial=0.0)), length)]
    along = (base - start) @ direction
    across = np.sqrt(np.square((base - start) @ axes.T).sum(axis=1)) if len(axes) else np.zeros(len(base))
    nearest_end = np.minimum(np.abs(along), np.abs(along - length))[members]
    radius = SPREADS * math.sqrt(float(np.square(across[members]).mean()))
    beyond = SPREADS * math.sqrt(float(np.square(nearest_end).mean()))
    return (across <= radius) & (along >= -beyond) & (along <= length + beyond)


def _adjusted(rows: pd.DataFrame, columns: pd.DataFrame, alpha: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables with p-values adjusted by Holm over pairs; those of columns stay simultaneous within a pair."""
    pairs = np.arange(len(rows))
    rows["p_adjusted"] = over_blocks(rows["p_value"].to_numpy(), pairs, "holm")
    codes = columns.groupby(["first", "second"], sort=False).ngroup().to_numpy()
    columns["p_adjusted"] = over_blocks(columns["p_adjusted"].to_numpy(), codes, "holm")
    rows["n_columns"] = np.bincount(codes, columns["p_adjusted"] <= alpha, minlength=len(rows)).astype(int)
    is_tested = rows["dip_p_value"].notna().to_numpy()
    rows["dip_p_adjusted"] = math.nan
    dip_p = rows["dip_p_value"].to_numpy()[is_tested]
    rows.loc[is_tested, "dip_p_adjusted"] = over_blocks(dip_p, np.arange(len(dip_p)), "holm")
    order = ["first", "second", "n_first", "n_second", "column", "statistic", "p_value", "p_adjusted", "n_columns"]
    return rows[[*order, "dip", "dip_p_value", "dip_p_adjusted", "n_dip"]], columns


def _notes(record: HeldOutFidelity, is_fixed: bool) -> Notes:
    """Return what the tests do not say."""
    notes = [*([note("clusters.fixed")] if is_fixed else []), note("clusters.gradient"), note("clusters.gap")]
    if record._splits.kind == "columns":
        notes.append(note("clusters.halves"))
    return (*notes, *record._splits.notes())
