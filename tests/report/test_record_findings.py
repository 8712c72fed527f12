"""Sentences on records: each number in them is recomputed from the record, and each claim from its numbers."""

from __future__ import annotations

import functools
import math
import re
import string
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dreval
from dreval._text import significant
from dreval.inference.permutation import clopper_pearson
from dreval.records.base import Record
from dreval.records.bound import GeneralizationBound
from dreval.records.class_distances import ClassDistances
from dreval.records.estimates import CostEstimate, IntrinsicDimension, MeasureRecord, PerplexityCurve, Stability
from dreval.records.frames import coordinates_frame
from dreval.records.held_out import ClusterTest, HeldOutFidelity, held_out_frame
from dreval.records.importance import ColumnImportance
from dreval.records.misplaced import MisplacedPoints
from dreval.records.notes import note
from dreval.records.out_of_sample import OutOfSample
from dreval.records.points import LocalDistortion, PerturbationScore, SingularityScore
from dreval.records.recall import GraphRecall
from dreval.records.similarity import RepresentationSimilarity, similarity_table
from dreval.records.sweep import Sweep, sweep_frame
from dreval.records.tests import Certificate, IndependenceTest, NoiseTest, ResidualTest, Sensitivity
from dreval.report.documents import classes_and_points as classes
from dreval.report.documents import held_out as held
from dreval.report.documents import out_of_sample, similarity, small, study, sweep, tests
from dreval.report.documents.tests import noise_finding
from dreval.report.findings import Finding, findings_text, phrases
from dreval.report.render.markup import sentence

X = np.random.default_rng(0).normal(size=(40, 4)) * [4, 3, 1, 1]
NUMBER = re.compile(r"(?<![\w.])<?[\N{MINUS SIGN}-]?(?:\d[\d,]*\.\d+|\.\d+|\d[\d,]*)(?!\w)")


def text_of(findings: Iterable[Finding]) -> str:
    """Return the findings as plain text."""
    return sentence(findings_text(findings))


def independence(p: float, count: int = 99, test: str = "hsic", **options: Any) -> IndependenceTest:
    """Return a test with this p and number of permutations."""
    reached = round(p * (count + 1)) - 1
    interval = clopper_pearson(reached, count) if count else (math.nan, math.nan)
    null = np.linspace(0, 1, count)
    return IndependenceTest(test, test.upper(), 0.5, p, null, 0.321, "CKA", interval, **options)


def noise(p: float, null: str = "columns", count: int = 99, **options: Any) -> NoiseTest:
    """Return a noise test with this p."""
    fields = vars(independence(p, count, "noise"))
    extra = {"null": null, "alpha": 0.05, "measure": "overlap", "n_seeds": 1}
    return NoiseTest(**{**fields, "n_replicates": count, "extra": extra, "recipe": {"source": "tsne"}, **options})


def gate_table(*verdicts: str) -> pd.DataFrame:
    """Return a row of trustworthiness at k = 1, 2, ... for each verdict of a gate."""
    parameters = [f"n_neighbors={k}" for k in range(1, len(verdicts) + 1)]
    return pd.DataFrame({"measure": "trustworthiness", "parameters": parameters, "verdict": verdicts})


def noise_points(q: tuple[float, ...], family: tuple[float, ...]) -> pd.DataFrame:
    """Return the points of a noise test."""
    return pd.DataFrame({"score": 0.5, "p_family_wise": family, "q": q, "like_noise": [value > 0.05 for value in q]})


def noise_of_map(
    p: float, null: str = "columns", adjusted: float = math.nan, count: int = 99, codes: Sequence[str] = ()
) -> Finding:
    """Return the finding on one map, of which two of three scored points are like noise, with notes of these codes."""
    row = {"embedding": "m", "variable": null, "p_value": p, "p_adjusted": adjusted, "test": "noise"}
    flags = pd.Series([True, True, False, None], dtype="boolean")
    notes = pd.DataFrame({"embedding": "m", "test": "noise", "variable": null, "code": list(codes)})
    results: Any = types.SimpleNamespace(_reliability={"m": {"like_noise": flags}}, notes=notes)
    return noise_finding({**row, "n_resamples": count}, results, "m")


def certificate(p: float, held_out: float, count: int = 99) -> Certificate:
    """Return a certificate with one test."""
    residual_test = ResidualTest("hsic", "CKA", 0.123, 0.045, 0.01, p, np.zeros(count))
    return Certificate("map", 0.1, held_out, 0.02, (residual_test,), np.zeros((9, 2)), count, {"n": 9})


def sensitivity(*ps: float) -> Sensitivity:
    """Return a test at 0.01, 0.02, ... with these p."""
    rows = {"kappa": [0.01 * (i + 1) for i in range(len(ps))], "statistic": 0.5, "chance": 0.1, "null_95": 0.2}
    return Sensitivity(pd.DataFrame({**rows, "effect_size": 0.3, "p_value": ps}), "kappa", "kcca", 0.02, 40, 99)


def measure(name: str, value: float, chance: float = math.nan, parts: Any = None, **options: Any) -> MeasureRecord:
    """Return a measure of a method."""
    recipe = {"source": "isomap", "parameters": {"over": "halves"}, **options}
    record = Stability if name == "stability" else MeasureRecord
    direction = "higher" if name == "stability" else "lower"
    return record(name, "Title", "u", value, parts or {}, chance, n_runs=8, recipe=recipe, direction=direction)


def swept(means: tuple[float, ...], ps: tuple[float, ...], count: int = 5, measure: str = "r_nx_auc") -> Sweep:
    """Return a sweep of the sizes 1, 2, ...; a NaN as p is a setting that failed."""
    settings = [{"size": i + 1} for i in range(len(means))]
    rows = [
        {
            "measure": measure,
            "parameters": "",
            "mean": mean,
            "se": 0.01,
            "conf_low": mean - 0.05,
            "conf_high": mean + 0.05,
            "conf_level": 0.95,
            "n_replicates": count,
            "in_best_set": pd.NA if p != p else p > 0.05,
            "p_value": p,
            "note": "",
        }
        for mean, p in zip(means, ps, strict=True)
    ]
    recipe = {"parameters": {"n_replicates": count}, "source": "m", "n": 40, "p": 4, "random_state": 0, "call": "f()"}
    return Sweep(tuple(settings), sweep_frame(rows, settings), pd.DataFrame(), "seeds", 0.05, recipe)


def status(**states: int) -> Any:
    """Return the status of a study with so many cells in each state, each with its own data set."""
    names = [state for state, count in states.items() for _ in range(count)]
    notes = [(dreval.records.notes.note("noise.equal"),) if state == "failed" else () for state in names]
    rows = {"dataset": [f"set {i}" for i in range(len(names))], "embedding": "pca", "n_components": 2, "replicate": 0}
    cells = pd.DataFrame({**rows, "state": names, "seconds": 1.0, "reason": "a reason", "warnings": "", "notes": notes})
    return dreval.study.study.StudyStatus("s.journal", cells, ("pca",))


def cloud_scores(record: type, **fields: Any) -> Any:
    """Return scores of ten points of a map."""
    values = np.arange(1.0, 11.0)
    return record(coordinates=np.c_[values, values], **{key: field(values) for key, field in fields.items()})


def new_points(m: int = 40, p: list[float] | None = None, bound: float = 0.75) -> OutOfSample:
    """Return m new points on a map of 90, with these adjusted p-values of the first of them."""
    numbers = {"n_neighbors": 15, "value": 0.62, "se": 0.01, "conf_low": 0.58, "conf_high": 0.66, "chance": 0.1}
    numbers |= {"in_sample": 0.7, "gap": 0.08, "bound": bound, "direction": "higher"}
    numbers |= {} if m > 1 else {"conf_low": math.nan, "conf_high": math.nan}
    names = ("trustworthiness", "neighborhood_overlap")
    points = coordinates_frame(np.arange(2.0 * m).reshape(m, 2)).assign(id=range(m), trustworthiness=0.9)
    recipe: dict[str, Any] = {"n": 90, "p": 4, "n_new": m, "n_calibration": 0, "n_needed": None, "groups": None}
    if p is not None:
        adjusted = np.append(p, np.ones(m - len(p)))
        points = points.assign(p_value=adjusted, p_adjusted=adjusted, flagged=adjusted <= 0.2)
        recipe |= {"n_calibration": 19, "n_needed": 10}
    recipe |= {"parameters": {"n_neighbors": 15, "metric": "euclidean", "conf_level": 0.9, "alpha": 0.2}}
    recipe |= {"random_state": 7, "call": ""}
    table = pd.DataFrame([{"measure": name, **numbers} for name in names])
    return OutOfSample(table, points, np.zeros((90, 2)), recipe)


def class_pairs(
    *rows: tuple[float, float, float, str], requested: tuple[str, ...] = ("A", "B"), apart: str = "data map"
) -> ClassDistances:
    """Return the distances of pairs of classes: ratio, ends of the interval and reading of each."""
    table = pd.DataFrame(rows, columns=["ratio", "conf_low", "conf_high", "reading"])
    table = table.assign(embedding="map", class_a="A", class_b=list("BC")[: len(rows)], order_kept=0.25)
    table = table.assign(n_kept=4, n_reversed=2, n_open=1)
    table = table.assign(apart_in_data="data" in apart, apart_on_map="map" in apart)
    return ClassDistances(table, {"parameters": {"conf_level": 0.95}, "asked": requested}, (), table)


def wrong_places(points: int, new: int = 0, alpha: float | None = None) -> MisplacedPoints:
    """Return the list of this number of points of the data, of 40, and of flagged new points, of 9."""
    table = pd.DataFrame({"kind": ["data"] * points + ["new"] * new})
    parameters = {"name": "map", "measure": "trustworthiness", "cutoff": "poor"}
    recipe = {"n_scored": 40, "limit": 0.77, "direction": "higher", "n_new": 9, "alpha": alpha}
    return MisplacedPoints(table, {**recipe, "parameters": parameters})


def distortion(broken: int) -> LocalDistortion:
    """Return a distortion of ten points with this number of broken edges at the first two points."""
    values = np.arange(1.0, 11.0)
    counts = np.where(np.arange(10) < 2, broken, 0)
    edges = np.tile([0, 1], (broken, 1))
    arrays = {"anisotropy": values, "outside": values, "r2": values, "log_area_se": values}
    points = {"coordinates": np.c_[values, values], "matrices": np.zeros((10, 2, 2)), "n_broken": counts}
    return LocalDistortion(area=values, log_anisotropy_se=values, broken=edges, median_area=1.0, **arrays, **points)


def perplexities(*values: float, half: float = 0.5) -> PerplexityCurve:
    """Return a curve with these values at 10, 20, ..."""
    rows = {"perplexity": [10.0 * (i + 1) for i in range(len(values))], "score": "top 5 %", "value": values}
    table = pd.DataFrame({**rows, "conf_low": np.subtract(values, half), "conf_high": np.add(values, half)})
    table = table.assign(n_used=3, n_refused=0)
    return PerplexityCurve(table, pd.DataFrame(), 0.95, {"n": 40, "p": 4, "parameters": {}})


def bound(value: float, sharper: float, needed: int, sharper_needed: int) -> GeneralizationBound:
    parts = {"fitted_error": 0.1, "points_needed": needed, "sharper_bound": sharper}
    parts["sharper_points_needed"] = sharper_needed
    recipe = {"n": 100, "p": 5, "parameters": {"n_components": 2, "conf_level": 0.95}}
    return GeneralizationBound("generalization_bound", "Generalization bound", "E", value, parts, recipe=recipe)


def recall(used: int) -> GraphRecall:
    """Return a recall of a graph of 40 points, from some of them."""
    points = pd.DataFrame({"id": [0, 1], "recall": [0.5, 1.0]})
    return GraphRecall(0.75, 5, used, points, 0.125, 0.02, 0.7, 0.8, 0.95, recipe={"n": 40, "p": 3})


def columns(*visible: bool) -> ColumnImportance:
    """Return the importance of columns a, b, ..., of which some are shown."""
    count = len(visible)
    table = pd.DataFrame({"column": list("abcd")[:count], "drop": [0.3, 0.2, 0.01, 0.0][:count], "visible": visible})
    table = table.assign(weight=[0.8, 0.7, 0.6, 0.5][:count], conf_low=0.0)
    recipe = {"n": 40, "parameters": {"n_neighbors": 15, "conf_level": 0.95}}
    return ColumnImportance(table, np.zeros((40, count)), np.arange(40), np.zeros((40, 2)), 0.6, 0.05, recipe=recipe)


def undecided_columns() -> ColumnImportance:
    """Return the importance of two columns without intervals, of too few permutations for their p-values."""
    record = columns(False, False)
    notes = (note("importance.resamples", smallest=0.2, needed=1999),)
    return replace(record, table=record.table.assign(conf_low=math.nan), notes=notes)


def alike(measure: str, *values: float, p: float = 0.01, changed: int = 1) -> RepresentationSimilarity:
    """Return representations of 12 items with these values of their pairs; item 0 has some of 3 neighbors changed."""
    names = ("A", "B", "C")[: 2 + (len(values) == 3)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    shared: dict[str, Any] = {"measure": measure, "p_value": p, "p_adjusted": p, "direction": "higher", "n_used": 12}
    shared |= dict.fromkeys(("parameters", "p_kind"), "") | {"chance": 0.25, "threshold": 0.3, "calibrated": 0.456}
    note = "is not defined" if math.isnan(values[0]) else ""
    rows = [
        {**shared, "first": a, "second": b, "value": value, "note": note}
        for (a, b), value in zip(pairs, values, strict=True)
    ]
    lists = (np.arange(12)[:, None] + np.arange(1, 4)).astype(np.int32) % 12
    moved = lists.copy()
    moved[0, :changed] = [5, 6, 7][:changed]
    maxima = pd.DataFrame([{"measure": measure, "calibrated": 0.456, "p_value": p}])
    curve = pd.DataFrame({"first": "A", "second": "B", "n_neighbors": [3], "overlap": 0.5, "chance": 0.25})
    parameters = {
        "n_neighbors": 3,
        "alpha": 0.05,
        "conf_level": 0.95,
        "metric": "cosine",
        "n_resamples": 99,
        "anchors": 12,
    }
    recipe = {"n": 12, "random_state": 0, "parameters": parameters, "call": ""}
    neighbors = {name: moved if name == "B" else lists for name in names}
    return RepresentationSimilarity(similarity_table(rows), maxima, curve, names, names, neighbors, recipe=recipe)


def held_out(
    *means: float, se: float = 0.02, p: float = 0.01, optimism: float = 0.1, kind: str = "gaussian"
) -> HeldOutFidelity:
    """Return settings with these held-out values, of which those within .05 of the best are in its best set.

    The first two settings are in the usual best set; each optimism has the standard error .03.
    """
    settings = [{"size": i + 1} for i in range(len(means))] if len(means) > 1 else [{}]
    rows = []
    for i, mean in enumerate(means):
        row = {"measure": "r_nx_auc", "parameters": "", "held_out": mean, "se": se, "conf_low": mean - 0.05}
        row |= {"conf_high": mean + 0.05, "conf_level": 0.95, "se_points": 0.04, "train": mean + optimism}
        row |= {"optimism": optimism, "optimism_se": 0.03, "optimism_se_points": 0.03, "usual": 0.6, "chance": 0.04}
        row |= {"p_value": p, "in_best_set": mean >= max(means) - 0.05, "p_best": 0.5, "in_population_set": True}
        rows.append(row | {"in_usual_set": i < 2, "n_splits": 7, "note": ""})
    parameters = {"alpha": 0.05, "kind": kind, "fraction": 0.5, "n_splits": 7, "n_resamples": 99}
    recipe = {"source": "m", "n": 40, "p": 4, "parameters": parameters, "random_state": 0}
    fields = {"table": held_out_frame(rows, settings), "settings": tuple(settings), "recipe": recipe}
    return HeldOutFidelity("held_out_fidelity", "Held-out fidelity", "H", means[0], **fields)


def clustered(*pairs: tuple[float, float]) -> ClusterTest:
    """Return a test of clusters with these p-values of a difference and of a gap; 3 of 5 columns differ."""
    row = {"n_first": 20, "n_second": 20, "column": 1, "statistic": 3.0, "n_columns": 3, "dip": 0.1, "n_dip": 40}
    rows = [
        {
            **row,
            "first": "0",
            "second": str(i + 1),
            "p_value": p,
            "p_adjusted": p,
            "dip_p_value": d,
            "dip_p_adjusted": d,
        }
        for i, (p, d) in enumerate(pairs)
    ]
    columns = pd.DataFrame({"first": ["0"] * 5, "second": ["1"] * 5, "column": range(5)})
    return ClusterTest(pd.DataFrame(rows), columns, np.zeros(40, np.int64), X[:, :2], 0.05)


def dimension(se: float) -> IntrinsicDimension:
    """Return an estimate of 2.345 with this standard error."""
    recipe = {"n": 40, "p": 4, "parameters": {}, "random_state": 0}
    return IntrinsicDimension("twonn", 2.345, 40, pd.DataFrame(), se, 2.1, 2.6, 0.95, recipe=recipe)


@functools.cache
def evaluation(*names: str) -> dreval.Evaluation:
    return dreval.Evaluation(X, dict.fromkeys(names, "pca"), random_state=0)


@functools.cache
def small_records() -> dict[str, Any]:
    """Return records that are cheap to compute."""
    embedding = dreval.embed(X, "pca")
    return {
        "embedding": embedding,
        "map": embedding.embedding_map(),
        "data": dreval.simulate("swiss_roll", 40, random_state=0),
        "components": dreval.parallel_analysis(X @ np.ones((4, 6)) + np.random.default_rng(1).normal(size=(40, 6))),
        "noise": dreval.parallel_analysis(np.random.default_rng(0).normal(size=(40, 3)), random_state=0),
    }


def cost(*names: str) -> CostEstimate:
    table = pd.DataFrame({"step": ["measure", "test"], "embedding": "", "item": "", "seconds": [100.0, 200.0]})
    return CostEstimate(table, 12.0, 40, 2, names)


def protocol() -> Any:
    table = pd.DataFrame({"round": 1, "output": ["a", "b", "c"], "state": ["returned", "wrong", "missing"], "note": ""})
    return dreval.protocol.protocol.ProtocolStatus("folder", 1, table, ())


Case = tuple[Callable[[], Iterable[Finding]], list[float]]  # findings, and the numbers recomputed by hand
HALVES = {"conf_low": 0.6, "conf_high": 0.8}
ENDS = list(clopper_pearson(4, 99))
CASES: dict[str, Case] = {
    "dependent": (lambda: tests.test_findings(independence(0.001, 0)), [0.001, 0.321, 0]),
    "dependent, unbiased": (lambda: tests.test_findings(independence(0.001, 0, "dcov")), [0.001, 0.321, 0]),
    "smallest p": (lambda: tests.test_findings(independence(0.01)), [0.01, 0.321, 99]),
    "borderline": (lambda: tests.test_findings(independence(0.05)), [0.05, 0.321, *ENDS]),
    "not mutual": (
        lambda: tests.test_findings(independence(0.001, 0, recipe={"labels": ("a", "b", "c")})),
        [0.001, 0.321, 0],
    ),
    "independent": (lambda: tests.test_findings(independence(0.5)), [0.5, 0.321]),
    "too few": (lambda: tests.test_findings(independence(0.1, 9)), [0.1, 0.321, 9, 1 / 10]),
    "different": (lambda: tests.test_findings(independence(0.001, 0, "mmd")), [0.001, 0.321, 0]),
    "not different": (lambda: tests.test_findings(independence(0.5, 0, "mmd")), [0.5, 0.321]),
    "all settings": (lambda: tests.sensitivity_findings(sensitivity(0.01, 0.02)), [2, 0.02]),
    "some settings": (lambda: tests.sensitivity_findings(sensitivity(0.01, 0.03, 0.2)), [2, 3, 0.02, 0.03]),
    "no setting": (lambda: tests.sensitivity_findings(sensitivity(0.3, 0.2)), [2, 0.2]),
    "rejected": (lambda: tests.certificate_findings(certificate(0.01, 0.3)), [0.123, 0.045, 0.01, 30]),
    "rejected, empty": (lambda: tests.certificate_findings(certificate(0.01, 0.97)), [0.123, 0.045, 0.01, 0.97]),
    "not rejected": (lambda: tests.certificate_findings(certificate(0.4, 0.3)), [0.4, 30]),
    "empty": (lambda: tests.certificate_findings(certificate(0.4, 0.97, 9)), [0.4, 0.97, 9, 1 / 10]),
    "noise, columns": (
        lambda: tests.noise_findings(noise(0.01, points=noise_points((0.01, 0.2, 0.3), (0.01, 0.2, 0.3)))),
        [0.01, 99, 2, 3, 0.05, 1],
    ),
    "noise, at most": (
        lambda: tests.noise_findings(noise(0.05, count=19, points=noise_points((0.01,) * 20 + (0.2,), (0.01,) * 21))),
        [0.05, 0.0, 1 - 0.025 ** (1 / 19), 19, 20, 21, 1],
    ),
    "noise, Gaussian": (lambda: tests.noise_findings(noise(0.05, "gaussian")), [0.05, *ENDS]),
    "noise, other": (lambda: tests.noise_findings(noise(0.02, "mine", 999)), [0.02]),
    "no noise": (
        lambda: tests.noise_findings(noise(0.5, points=noise_points((math.nan,) * 3, (1.0, 1.0, 1.0)))),
        [0.5],
    ),
    "noise, blind": (
        lambda: tests.noise_findings(noise(0.5, notes=(dreval.records.notes.note("noise.blind"),))),
        [0.5],
    ),
    "noise, unasked": (
        lambda: tests.noise_findings(noise(0.5, notes=(dreval.records.notes.note("noise.unasked", clusters=3),))),
        [0.5, 3],
    ),
    "noise, too few": (lambda: tests.noise_findings(noise(0.1, count=9)), [0.1, 9, 1 / 10, 0.05]),
    "noise, settings": (
        lambda: tests.noise_findings(
            noise(0.5, settings=pd.DataFrame({"k": [5, 9], "z": [1.0, 2.34], "p_value": 0.5}))
        ),
        [0.5, 2.34, 9, 2],
    ),
    "noise of a map": (lambda: [noise_of_map(0.01)], [0.01, 99, 2, 3]),
    "noise of a map, Gaussian": (lambda: [noise_of_map(0.02, "gaussian", 0.04, 199)], [0.04, 2, 3]),
    "noise of a map, other": (lambda: [noise_of_map(0.02, "mine", math.nan, 199)], [0.02, 2, 3]),
    "noise of a map, none": (lambda: [noise_of_map(0.3, count=9)], [0.3, 0.1, 9]),
    "noise of a map, blind": (lambda: [noise_of_map(0.3, codes=["noise.blind"])], [0.3]),
    "noise of a map, not tested": (lambda: [noise_of_map(math.nan)], []),
    "trustability": (
        lambda: small.measure_findings(measure("trustability", 0.1, 0.98, {"n_components": 4})),
        [4, 0.1, 0.98, 0],
    ),
    "consistency": (
        lambda: small.measure_findings(measure("tractable_consistency", 0.9, 0.98, {"tried": 20})),
        [20, 0.9, 0.98, 0],
    ),
    "error": (lambda: small.measure_findings(measure("reconstruction_error", 0.25, 1.0)), [75, 0.25, 1, 0]),
    "large error": (lambda: small.measure_findings(measure("reconstruction_error", 1.25, 1.0)), [1.25, 1, 0]),
    "stability": (lambda: small.measure_findings(measure("stability", 0.7, 0.0, HALVES)), [8, 0.7, 0.6, 0.8, 1, 0]),
    "stability over few groups": (
        lambda: small.measure_findings(
            measure("stability", 0.7, 0.0, {**HALVES, "conf_low": math.nan, "conf_high": math.nan})
        ),
        [8, 0.7, 1, 0],
    ),
    "other measure": (lambda: small.measure_findings(measure("mine", 0.25)), [0.25]),
    "distortion": (lambda: small.scores_findings(distortion(0)), [5.5, 10, 9.55 / 1.45]),
    "torn": (lambda: small.scores_findings(distortion(3)), [5.5, 10, 9.55 / 1.45, 3, 2]),
    "singularity": (
        lambda: small.scores_findings(
            cloud_scores(
                SingularityScore,
                values=lambda v: v,
                lambda_min=lambda v: 1 / v,
                step_ratio=lambda v: v,
                moved=lambda v: v,
                loss=lambda _: 1.0,
                nearest_distance=lambda _: 1.0,
            )
        ),
        [9, 1.0, 0.55],
    ),
    "perturbation": (
        lambda: small.scores_findings(
            cloud_scores(
                PerturbationScore,
                values=lambda v: v / 100,
                direction=lambda v: v.astype(str),
                length=lambda _: 0.5,
                unit=lambda _: 1.0,
            )
        ),
        [0.5, 10, 100 * 0.055 / 9, 9, 100 * 0.1 / 9],
    ),
    "new points": (lambda: out_of_sample.out_of_sample_findings(new_points()), [40, 62, 15, 90, 58, 66, 10, 70]),
    "one new point": (lambda: out_of_sample.out_of_sample_findings(new_points(1)), [1, 62, 15, 10, 70]),
    "flagged": (
        lambda: out_of_sample.out_of_sample_findings(new_points(p=[0.1, 0.2, 0.3])),
        [40, 62, 15, 90, 58, 66, 10, 70, 2, 20, 0.05, 10, 80, 0.75],
    ),
    "none flagged": (
        lambda: out_of_sample.out_of_sample_findings(new_points(p=[], bound=math.nan)),
        [40, 62, 15, 90, 58, 66, 10, 70, 20, 0.05, 10],
    ),
    "none can be flagged": (
        lambda: out_of_sample.out_of_sample_findings(new_points(m=9, p=[], bound=math.nan)),
        [9, 62, 15, 90, 58, 66, 10, 70, 20, 19],
    ),
    "new points of a further fit": (
        lambda: out_of_sample.out_of_sample_findings(
            replace(new_points(), notes=(note("new.refit", share=0.25, out=30, rows=120, n=90),))
        ),
        [40, 62, 15, 90, 58, 66, 10, 70, 25],
    ),
    "new points of two maps": (
        lambda: out_of_sample.new_points_findings(
            {
                "pca": replace(new_points(p=[0.1, 0.2, 0.3]), notes=()),
                "umap": replace(new_points(p=[0.1]), notes=(note("new.refit", share=0.25, out=30, rows=120, n=90),)),
            },
            {"neighborhood_overlap"},
            shell=False,
        ),
        [15, 40, 62, 70, 25, 90, 2, 1],
    ),
    "new points in a shell": (
        lambda: out_of_sample.new_points_findings({"pca": new_points(p=[0.1, 0.2])}, {"stress"}, shell=True),
        [15, 40, 62, 70, 2],
    ),
    "new points by trustworthiness": (
        lambda: out_of_sample.new_points_findings({"pca": new_points(p=[])}, {"trustworthiness"}, shell=False),
        [15, 40, 0.62, 0.7],
    ),
    "new points without a calibration": (
        lambda: out_of_sample.new_points_findings(
            {"pca": replace(new_points(m=1), notes=(note("new.no_calibration", way="new=share", argument="new"),))},
            {"neighborhood_overlap"},
            shell=False,
        ),
        [15, 1, 62, 70],
    ),
    "new points of few groups": (
        lambda: out_of_sample.out_of_sample_findings(
            replace(new_points(), notes=(note("interval.few_groups", of="interval", groups=3, extent="", least=5),))
        ),
        [40, 62, 15, 90, 58, 66, 10, 70, 3, 5],
    ),
    "dimension": (lambda: small.intrinsic_dimension_findings(dimension(0.1)), [2.345, 2.1, 2.6, 4]),
    "dimension alone": (lambda: small.intrinsic_dimension_findings(dimension(math.nan)), [2.345, 4]),
    "bound": (lambda: small.bound_findings(bound(0.6, 0.4, 90, 40)), [2, 0.6, 95, 100, 0.1, 0.4]),
    "no bound": (lambda: small.bound_findings(bound(1.6, 0.4, 900, 40)), [2, 1.6, 100, 0.1, 900, 0.4]),
    "no bounds": (lambda: small.bound_findings(bound(1.6, 1.4, 900, 400)), [2, 1.6, 100, 0.1, 900, 1.4, 400]),
    "recall": (lambda: small.graph_recall_findings(recall(2)), [75, 5, 70, 80, 2, 40, 12.5, 50]),
    "recall of all": (lambda: small.graph_recall_findings(recall(40)), [75, 5, 40, 12.5, 50]),
    "columns": (lambda: small.importance_findings(columns(True, True, False)), [2, 3, 0.2, 0.3, 15, 0.6, 0.05, 0.6]),
    "one column": (lambda: small.importance_findings(columns(True)), [1, 1, 0.3, 15, 0.6, 0.05]),
    "no column": (lambda: small.importance_findings(columns(False, False)), [0.6, 15, 0.05, 0.7, 0.8]),
    "too few permutations": (lambda: small.importance_findings(undecided_columns()), [1999, 0.6, 15, 0.05, 0.7, 0.8]),
    "perplexity": (lambda: small.perplexity_findings(perplexities(3.0, 2.0)), [20, 2.0, 1.5, 2.5, 10, 3.0]),
    "perplexity alone": (lambda: small.perplexity_findings(perplexities(3.0, 2.0, half=math.nan)), [20, 2.0]),
    "no perplexity": (lambda: small.perplexity_findings(perplexities(math.nan, math.nan)), []),
    "alike": (
        lambda: similarity.similarity_findings(alike("overlap", 0.62)), [3, 62, 25, 0.01, 11, 12, 1],
    ),
    "alike, one item gone": (
        lambda: similarity.similarity_findings(alike("overlap", 0.62, changed=3)), [3, 62, 25, 0.01, 1, 12, 0],
    ),
    "equal": (lambda: similarity.similarity_findings(alike("overlap", 1.0, changed=0)), [3, 100, 25, 0.01, 12]),
    "not alike": (lambda: similarity.similarity_findings(alike("overlap", 0.27, p=0.4)), [3, 27, 25, 0.4]),
    "alike by CKA": (lambda: similarity.similarity_findings(alike("cka", 0.62)), [0.62, 0.01, 11, 12, 1, 3]),
    "not alike by CKA": (lambda: similarity.similarity_findings(alike("cka", 0.12, p=0.4)), [0.12, 0.4]),
    "not comparable": (lambda: similarity.similarity_findings(alike("cka", math.nan)), []),
    "layers": (
        lambda: similarity.similarity_findings(alike("overlap", 0.62, 0.31, 0.44)), [3, 0.62, 0.456, 0.01, 0.31],
    ),
    "runs": (lambda: study.study_findings(status(done=3, failed=1, waiting=2)), [4, 6, 3, 1, 2]),
    "complete": (lambda: study.study_findings(status(done=3, failed=1)), [4, 3, 1]),
    "new": (lambda: study.study_findings(status(waiting=2)), [2]),
    "no cells": (lambda: study.study_findings(status()), []),
    "failures": (lambda: study.failure_findings(status(done=3, failed=2)), [2, 0, 3, 4]),
    "continue": (lambda: study.next_steps(status(done=1, waiting=1)), []),
    "retry": (lambda: study.next_steps(status(done=1, failed=1)), []),
    "best alone": (
        lambda: sweep.sweep_findings(swept((0.9, 0.5, 0.6), (1.0, 0.01, 0.02))),
        [1, 0.9, 0.85, 0.95, 3, 0.6, 0.02],
    ),
    "best set": (lambda: sweep.sweep_findings(swept((0.9, 0.8), (1.0, 0.5))), [1, 0.9, 0.85, 0.95]),
    "crossed": (
        lambda: sweep.sweep_findings(swept((0.9, 0.8, 0.85), (1.0, 0.5, 0.01))),
        [1, 0.9, 0.85, 0.95, 2, 3, 0.85, 0.01],
    ),
    "only setting": (lambda: sweep.sweep_findings(swept((0.9, math.nan), (1.0, math.nan))), [1, 0.9, 2]),
    "no settings": (lambda: sweep.sweep_findings(swept((math.nan, math.nan), (math.nan, math.nan))), []),
    "gate": (lambda: small.gate_findings(gate_table("worse", "missing", "undecided", "not worse")), [1, 2, 3, 4]),
    "gate, one measure": (lambda: small.gate_findings(gate_table("worse")), []),
    "drawn too far": (
        lambda: classes.class_distances_findings(class_pairs((1.62, 1.31, 1.98, "too far"))),
        [1.62, 1.31, 1.98, 7, 4, 2, 1],
    ),
    "drawn too near": (
        lambda: classes.class_distances_findings(class_pairs((0.62, 0.51, 0.73, "too near"))),
        [0.62, 0.51, 0.73, 7, 4, 2, 1],
    ),
    "no distortion": (
        lambda: classes.class_distances_findings(class_pairs((1.05, 0.91, 1.23, "open"))),
        [1.05, 0.91, 1.23, 7, 4, 2, 1],
    ),
    "distance without interval": (
        lambda: classes.class_distances_findings(class_pairs((1.05, math.nan, math.nan, ""))), [1.05],
    ),
    "no distance": (
        lambda: classes.class_distances_findings(class_pairs((math.nan, math.nan, math.nan, ""), apart="")), [],
    ),
    "drawn on one place": (
        lambda: classes.class_distances_findings(class_pairs((0.0, 0.0, 0.4, "too near"), apart="data")),
        [0.4],
    ),
    "perhaps on one place": (
        lambda: classes.class_distances_findings(class_pairs((0.2, 0.0, 1.4, "open"), apart="data")),
        [1.4],
    ),
    "drawn apart alone": (
        lambda: classes.class_distances_findings(class_pairs((math.nan, 2.5, math.nan, "too far"), apart="map")),
        [2.5],
    ),
    "perhaps drawn apart alone": (
        lambda: classes.class_distances_findings(class_pairs((math.nan, 0.5, math.nan, "open"), apart="map")),
        [0.5],
    ),
    "on one place without an interval": (
        lambda: classes.class_distances_findings(class_pairs((0.2, math.nan, math.nan, ""), apart="data")), [],
    ),
    "apart alone without an interval": (
        lambda: classes.class_distances_findings(class_pairs((math.nan, math.nan, math.nan, ""), apart="map")), [],
    ),
    "all on one place": (
        lambda: classes.class_distances_findings(
            class_pairs((0.2, math.nan, math.nan, ""), requested=(), apart="data")
        ),
        [1, 25],
    ),
    "all distances without intervals": (
        lambda: classes.class_distances_findings(class_pairs((1.62, math.nan, math.nan, ""), requested=())), [1, 25],
    ),
    "worst on one place": (
        lambda: classes.class_distances_findings(class_pairs((0.0, 0.0, 0.4, "too near"), requested=(), apart="data")),
        [0, 1, 25],
    ),
    "worst apart alone": (
        lambda: classes.class_distances_findings(
            class_pairs((math.nan, 2.5, math.nan, "too far"), requested=(), apart="map")
        ),
        [1, 0, 25],
    ),
    "all distances": (
        lambda: classes.class_distances_findings(
            class_pairs((1.62, 1.31, 1.98, "too far"), (0.62, 0.51, 0.73, "too near"), requested=())
        ),
        [1, 2, 25, 1.62],
    ),
    "wrong places": (lambda: classes.misplaced_findings(wrong_places(3, 2, 0.2)), [3, 40, 0.77, 2, 9, 0.2]),
    "no wrong place": (lambda: classes.misplaced_findings(wrong_places(0)), [40, 0.77]),
    "held out": (lambda: held.held_out_findings(held_out(0.31)), [0.31, 0.02, 7, 0.41, 0.1, 0.03, 0.04, 0.01]),
    "held out, one value": (
        lambda: held.held_out_findings(held_out(0.31, se=0.0, optimism=0.02)), [0.31, 0.33, 0.02, 0.04, 0.01],
    ),
    "held out, chance": (
        lambda: held.held_out_findings(held_out(0.31, p=0.4)), [0.31, 0.02, 7, 0.41, 0.1, 0.03, 0.04, 0.4],
    ),
    "held out, settings": (
        lambda: held.held_out_findings(held_out(0.2, 0.31, 0.29)),
        [2, 3, 0.31, 1, 0.02, 7, 0.41, 0.1, 0.03, 0.04, 0.01],
    ),
    "held out, the same set": (
        lambda: held.held_out_findings(held_out(0.31, 0.29, 0.2)), [1, 2, 0.31, 0.02, 7, 0.41, 0.1, 0.03, 0.04, 0.01],
    ),
    "halves of columns": (
        lambda: held.held_out_findings(held_out(0.31, kind="columns")), [0.31, 0.02, 7, 0.41, 0.1, 0.03, 0.04, 0.01],
    ),
    "equal halves of columns": (
        lambda: held.held_out_findings(held_out(0.31, optimism=0.02, kind="columns")),
        [0.31, 0.02, 7, 0.33, 0.02, 0.04, 0.01],
    ),
    "nothing held out": (lambda: held.held_out_findings(held_out(math.nan)), []),
    "clusters": (lambda: held.cluster_findings(clustered((0.01, 0.02))), [0, 1, 0.01, 3, 5, 0.02]),
    "clusters without a gap": (lambda: held.cluster_findings(clustered((0.01, 0.4))), [0, 1, 0.01, 3, 5, 0.4]),
    "no clusters": (lambda: held.cluster_findings(clustered((0.3, 0.01))), [0, 1, 0.3]),
    "clusters without a test": (lambda: held.cluster_findings(clustered((0.01, math.nan))), [0, 1, 0.01, 3, 5]),
    "pairs of clusters": (
        lambda: held.cluster_findings(clustered((0.01, 0.02), (0.03, 0.3), (0.2, math.nan))), [2, 3, 1],
    ),
    "few replicates": (lambda: sweep.sweep_limits(swept((0.9, 0.8), (1.0, 0.5), 3)), [3, 5]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_number_is_that_of_the_record(case: str) -> None:
    """Each number of a sentence is one of those recomputed by hand, to the printed digits; all of them appear."""
    make, facts = CASES[case]
    findings = list(make())
    fixed = {
        float(number)
        for finding in findings
        for literal, *_ in string.Formatter().parse(phrases()[finding.kind])
        for number in re.findall(r"\d+", literal)
    }
    unused = set(facts)
    for token in NUMBER.findall(text_of(findings)):
        places = len(token.partition(".")[2])
        value = float(token.lstrip("<").replace("\N{MINUS SIGN}", "-").replace(",", ""))
        matches = {fact for fact in facts if abs(fact - value) <= 0.5000001 * 10.0**-places}
        assert matches or value in fixed | {95.0}, (token, text_of(findings))
        unused -= matches
    assert unused <= {0}, text_of(findings)


def test_the_cases_have_every_kind() -> None:
    """Each phrase is the sentence of a finding of a case, or of a record that is computed."""
    records = small_records()
    status_with_seeds = replace(status(done=2), cells=status(done=2).cells.assign(replicate=[0, 1]))
    kinds = {finding.kind for make, _ in CASES.values() for finding in make()}
    summaries = [
        small.embedding_summary(records["embedding"], False),
        small.map_summary(records["map"], False),
        small.dataset_summary(records["data"], False),
        small.evaluation_preview(evaluation()),
        small.evaluation_preview(evaluation("a", "b")),
        small.cost_summary(cost("pca"), False),
        small.method_summary(dreval.methods.PCA()),
        small.method_summary(dreval.methods.PCA().fit(X)),
        small.protocol_summary(protocol(), False),
        small.parallel_analysis_summary(records["components"], False),
        small.parallel_analysis_summary(records["noise"], False),
    ]
    texts = " ".join(sentence(summary.parts[0].text) for summary in summaries)
    assert "Seeds change nothing in pca: " in sentence(" ".join(study.study_notes(status_with_seeds, full=False)))
    remaining = (
        {kind for kind in phrases() if not kind.startswith(("result.", "comparison."))}
        - kinds
        - {"study.deterministic", *("new.map_keeps", "new.map_value", "new.map_values", "new.map_flags")}  # in others
    )
    assert {kind.split(".")[0] for kind in remaining} <= {
        "embedding", "map", "dataset", "evaluation", "cost", "method", "protocol", "components", "evaluated", "scores"
    }  # fmt: skip
    remaining = {kind for kind in remaining if kind.split(".")[0] not in ("evaluated", "scores")}  # in tests of both
    for kind in remaining:
        longest = max((text for text, *_ in string.Formatter().parse(phrases()[kind])), key=len)
        assert longest.strip() in texts.replace("{{", "{"), kind


def test_computed_records_print_their_sizes() -> None:
    """The sentences on embeddings, data, maps and components have the sizes of their arrays."""
    records = small_records()
    embedding, roll, components = records["embedding"], records["data"], records["components"]
    share = components.table["share"].head(components.n_components).sum()

    assert str(embedding).startswith("pca embedded 40 points in 2 dimensions, from 4 columns.")
    assert str(roll).startswith("swiss_roll: 40 points in 3 columns, with 2 latent variables.")
    assert f"leaves {100 * records['map'].error:.0f} %" in str(records["map"]) or "less than" in str(records["map"])
    assert f"{components.n_components} of 6 components " in str(components)
    assert f"hold{'s' * (components.n_components == 1)} {100 * share:.0f} %" in str(components)
    assert "(2 columns)" not in str(evaluation("a"))
    assert str(evaluation("a", "b")).startswith("2 embeddings of data (40 points, 4 columns) are ready")
    assert str(cost()).startswith("run() takes about 5 minutes and 12 MiB for 40 points on 2 threads")
    assert str(protocol()).startswith("Round 1 of 2: 1 of 3 files is returned, 1 cannot be used.")


@given(st.integers(0, 1999), st.sampled_from([9, 19, 99, 199, 999, 1999]), st.sampled_from(["hsic", "mmd"]))
def test_a_test_claims_what_its_p_says(reached: int, count: int, name: str) -> None:
    """Dependence from p at most .05; borderline where the interval of p has .05; a large p claims nothing."""
    p = (min(reached, count) + 1) / (count + 1)
    result = independence(p, count, name)
    findings = tests.test_findings(result)
    text, kinds = text_of(findings), {finding.kind.partition(".")[2] for finding in findings}
    low, high = result.p_interval

    assert ("are dependent" in text or "have different distributions: " in text) == (p <= 0.05)
    assert text.startswith("No evidence ") == (p > 0.05)
    assert ("This does not show" in text) == (p > 0.05)
    assert ("too_few" in kinds) == (1 / (count + 1) > 0.05)
    assert ("borderline" in kinds) == (1 / (count + 1) <= 0.05 and low <= 0.05 <= high)
    assert "smallest" not in kinds or p == 1 / (count + 1)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.0001, 1)), min_size=2, max_size=8))
def test_a_sweep_names_the_best_and_the_nearest_outside(rows: list[tuple[float, float]]) -> None:
    """The first setting has the best mean; that outside is the best of those that are worse; the set is sorted."""
    means, ps = map(list, zip(*rows, strict=True))
    ps[int(np.argmax(means))] = 1.0
    record = swept(tuple(means), tuple(ps))
    worse = [place for place in record.order() if ps[place] <= 0.05]
    text = text_of(sweep.sweep_findings(record))

    assert text.startswith(f"m: size = {int(np.argmax(means)) + 1} ")
    assert ("The nearest setting outside" in text) == bool(worse)
    if worse:
        assert f"outside the best set is size = {worse[0] + 1} (" in text
    numbers = [place + 1 for place in sweep.table_order(record, "r_nx_auc")]
    inside = [setting["size"] for setting in record.best_set()]
    assert numbers[: len(inside)] == inside


@given(st.floats(-1e7, 1e7, allow_nan=False), st.integers(2, 4))
def test_significant_digits_are_those_of_the_number(value: float, digits: int) -> None:
    """A printed number is the number to its digits, or the bound that it is below."""
    text = significant(value, digits)
    if text.startswith("<"):
        assert 0 < value < float(text[1:])
        return
    printed = float(text.replace("\N{MINUS SIGN}", "-").replace(",", ""))
    assert abs(printed - value) <= max(0.5 * 10.0 ** (1 - digits) * abs(value), 0.5e-4) * (1 + 1e-9)


def all_records() -> list[type]:
    """Return all classes of records."""
    classes, queue = [], [Record]
    while queue:
        queue += queue.pop().__subclasses__()
        classes = [*classes, *(cls for cls in queue if cls not in classes)]
    return classes


PRINTED: dict[str, Callable[[], Any]] = {
    "test": lambda: independence(0.01, recipe={"n": 40}),
    "noise": lambda: noise(0.5),
    "certificate": lambda: certificate(0.01, 0.97),
    "sensitivity": lambda: sensitivity(*np.linspace(0.01, 0.5, 13)),
    "stability": lambda: measure("stability", 0.7, 0.0, HALVES),
    "distortion": lambda: distortion(3),
    "perplexity": lambda: perplexities(3.0, 2.0),
    "dimension": lambda: dimension(0.1),
    "cost": lambda: cost("pca"),
    "new points": lambda: new_points(p=[0.1, 0.2, 0.3]),
    "similarity": lambda: alike("overlap", 0.62),
    "layers": lambda: alike("overlap", 0.62, 0.31, 0.44),
    "sweep": lambda: swept(tuple(np.linspace(0, 1, 40)), tuple(np.linspace(0.01, 1, 40))),
    "study": lambda: status(done=3, failed=1),
    "protocol": protocol,
    **{name: lambda name=name: small_records()[name] for name in ("embedding", "map", "data", "components")},
}


@pytest.mark.parametrize("name", PRINTED)
def test_a_record_is_short_in_print_and_in_a_bare_expression(name: str) -> None:
    """At most 25 lines of 80 columns and three notes; no setting, no class name and no call comes first."""
    record = PRINTED[name]()
    lines = str(record).splitlines()

    assert repr(record) == str(record) == str(record.summary())
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert re.match(r"[A-Za-z0-9]", lines[0])
    assert sum(line.startswith("[") for line in lines) <= 3
    assert "object at 0x" not in repr(record)
    assert not re.match(r"\w+\(", lines[0]) or lines[0].startswith("run()")
    assert len(str(record.summary(full=True))) >= len(str(record)) - len("Settings: .summary(full=True).")
    assert record._repr_html_().startswith('<div class="dreval">')


def test_no_record_has_its_own_mechanism() -> None:
    """All records print by ``summary``; only results and comparisons add parameters of their own."""
    for cls in all_records():
        assert "__str__" not in vars(cls) or cls is Record, cls
        assert cls.__repr__ is Record.__repr__ or cls.__name__ in ("Results", "Comparison"), cls
