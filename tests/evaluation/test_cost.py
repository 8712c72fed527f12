"""The steps of a run, on its bar and in its estimate; an estimate has no effect."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import DrevalError, EmbeddingFailed, InputError, UnknownName
from dreval.evaluation import evaluation, progress
from dreval.evaluation.cost import extrapolated, sample_sizes
from dreval.evaluation.progress import HALVES, MEASURE, METHOD, PASS, RUNS, TEST, Progress, Step

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
LABELS = np.array(["a", "b", "c"])[np.arange(60) % 3]
GROUPS = np.arange(len(X)) // 10
GAPPED_LABELS = np.where(np.arange(60) % 7 == 0, None, LABELS)
SOURCES = {"a": X[:, :2], "b": X[:, 1:4] ** 3}


class Bar:
    """A bar that keeps its numbers and texts."""

    def __init__(self) -> None:
        self.total, self.n, self.texts, self.before_close = 0, 0, list[str](), 0

    def reset(self, total: int) -> None:
        """Begin."""
        self.total, self.n = total, 0

    def update(self, count: int) -> None:
        """Go on."""
        self.n += count

    def set_description(self, text: str) -> None:
        """Keep the text."""
        self.texts.append(text)


def watched(patch: pytest.MonkeyPatch) -> tuple[Bar, list[Step]]:
    """A bar for the next runs, and the steps that begin."""
    bar, begun = Bar(), list[Step]()

    class Watched(Progress):
        def advance(self, step: Step) -> None:
            super().advance(step)
            begun.append(step)
            bar.before_close = bar.n + 1

    patch.setattr(evaluation, "open_progress", lambda *_, **__: nullcontext(bar))
    patch.setattr(evaluation, "Progress", Watched)
    return bar, begun


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [
        ({}, {}),
        ({"labels": LABELS}, {}),
        ({"labels": LABELS}, {"ci": None, "tests": "all"}),
        pytest.param(
            {"labels": GAPPED_LABELS, "batch": LABELS},
            {"measures": "all", "tests": ["hsic", "hsic:residual"], "n_resamples": 9},
            marks=pytest.mark.slow,
        ),
        (
            {"labels": GAPPED_LABELS, "batch": LABELS},
            {"measures": "ilisi", "tests": ["hsic", "hsic:residual"], "n_resamples": 9},
        ),
        ({"labels": LABELS, "anchors": 30}, {}),
        ({"labels": LABELS}, {"ci": "subsampling", "options": {"subsampling": {"n_splits": 2}}}),
        ({"n_neighbors": [3, 7]}, {"measures": ["trustworthiness", "mrre_false", "stress"]}),
        ({}, {"measures": "silhouette"}),
        ({"labels": LABELS}, {"measures": None, "tests": "hsic"}),
        ({"labels": LABELS, "groups": GROUPS}, {"measures": ["trustworthiness", "r_nx_auc", "knn_accuracy"]}),
    ],
    ids=str,
)
def test_the_bar_counts_the_steps_of_the_run(settings: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many steps begin as were announced, each with its name."""
    bar, begun = watched(monkeypatch)
    ev = dreval.Evaluation(X, SOURCES, random_state=0, n_jobs=1, **settings)
    with pytest.warns() if arguments.get("measures") in ("silhouette",) else nullcontext():
        table = ev.run(**arguments).table
    assert bar.n == bar.total == bar.before_close == len(begun)
    assert bar.texts == [step.text for step in begun]
    rows = table[(table["measure"].fillna("") != "") & table["replicate"].isna()]
    items = {(step.embedding, step.item.split(" ")[0]) for step in begun if step.name == MEASURE}
    assert {*zip(rows["embedding"], rows["measure"], strict=True)} <= items
    tests = table[table["test"].fillna("") != ""]
    named = zip(tests["embedding"], tests["test"] + ":" + tests["variable"], strict=True)
    assert {*named} == {(step.embedding, step.item) for step in begun if step.name == TEST}


def test_methods_that_are_re_run_are_on_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each further run is a step."""
    bar, begun = watched(monkeypatch)
    ev = dreval.Evaluation(X, {"pca": "pca", "som": "som"}, random_state=0, n_jobs=1)
    ev.run(["trustworthiness"], ci="replicates", options={"replicates": {"n_replicates": 2}})
    assert {step.embedding for step in begun if step.name == RUNS} == {"pca", "som"}
    assert bar.n == bar.total == bar.before_close
    assert "further runs of som" in bar.texts


def test_steps_of_an_embedding_that_fails_count_as_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar ends at its total."""
    bar, begun = watched(monkeypatch)

    def fails(points: Any, n_components: int) -> Any:
        raise ValueError("no")

    with pytest.warns(EmbeddingFailed):
        dreval.Evaluation(X, {"a": X[:, :2], "bad": fails}, random_state=0).run("trustworthiness", None, None)
    assert {step.embedding for step in begun if step.name != METHOD} == {"", "a"}
    assert bar.n == bar.total == bar.before_close + 1


def test_the_seconds_of_a_step_are_those_until_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of one name are added up."""
    times = iter([0.0, 1.0, 3.0, 3.0, 10.0, 10.0, 11.0])
    monkeypatch.setattr(progress, "clock", lambda: next(times))
    steps = Progress()
    for step in (Step(PASS), Step(HALVES), Step(PASS)):
        steps.advance(step)
    steps.close()
    assert steps.seconds == {Step(PASS): 3.0, Step(HALVES): 7.0}


def test_seconds_are_extrapolated_from_two_works() -> None:
    """The constant and the slope are those of both; a slope is at least half of that without a constant."""
    assert extrapolated((2.0, 5.0), (1.0, 4.0), 100.0) == pytest.approx(101.0)
    assert extrapolated((5.0, 2.0), (1.0, 4.0), 100.0) == pytest.approx(26.0)
    assert extrapolated((0.0, 8.0), (1.0, 4.0), 100.0) == pytest.approx(200.0)
    assert extrapolated((3.0, 3.0), (4.0, 4.0), 4.0) == 3.0


def test_samples_have_enough_points_for_the_neighbors() -> None:
    """At most an eighth and a quarter of the points, unless there are few points or many neighbors."""
    assert [sample_sizes(n, 15) for n in (20, 200, 2000, 6400, 10**6)] == [
        (17, 20),
        (100, 200),
        (250, 500),
        (500, 1000),
        (500, 1000),
    ]
    assert sample_sizes(10**6, 500) == (2000, 4000)


def test_every_row_of_the_result_has_its_step() -> None:
    """Each measure and each test of an embedding is a step of the estimate."""
    ev = dreval.Evaluation(X, SOURCES, labels=LABELS, random_state=0, n_jobs=1)
    steps, table = ev.estimate_cost().table, ev.run().table
    of_tests = table[table["test"].fillna("") != ""]
    assert (steps["step"] == TEST).sum() == len(of_tests)
    measured = steps[steps["step"] == MEASURE]
    names = {*zip(measured["embedding"], measured["item"].str.split(" ").str[0], strict=True)}
    of_measures = table[table["measure"].fillna("") != ""]
    assert {*zip(of_measures["embedding"], of_measures["measure"], strict=True)} <= names


@pytest.mark.slow
@pytest.mark.parametrize("anchors", [None, 20])
def test_an_estimate_has_no_effect_on_a_run(anchors: int | None) -> None:
    """A run after it gives the numbers of a run without it."""
    before, second = (
        dreval.Evaluation(X, SOURCES, labels=LABELS, anchors=anchors, random_state=0, n_jobs=1) for _ in range(2)
    )
    second.estimate_cost("all")
    left, right = (ev.run(n_resamples=19).table.drop(columns="seconds") for ev in (before, second))
    assert_frame_equal(left, right)


@pytest.mark.parametrize("kind", ["sparse", "precomputed", "file", "anchors", "manhattan", "partly labeled", "few"])
def test_kinds_of_data(kind: str, tmp_path: Any) -> None:
    """Everything that can be run has an estimate."""
    passed: dict[str, Any] = {"labels": LABELS, "n_jobs": 1, "random_state": 0}
    data: Any = X
    if kind == "sparse":
        data = csr_array(np.where(X > 0.5, X, 0) + np.eye(60, 5))
    elif kind == "precomputed":
        data, passed["metric"] = cdist(X, X), "precomputed"
    elif kind == "file":
        np.save(tmp_path / "X.npy", X)
        data = np.load(tmp_path / "X.npy", mmap_mode="r")
    elif kind == "anchors":
        passed["anchors"] = 20
    elif kind == "manhattan":
        passed["metric"] = "manhattan"
    elif kind == "partly labeled":
        passed["labels"] = GAPPED_LABELS
    else:
        data, passed["labels"] = X[:8], LABELS[:8]
    ev = dreval.Evaluation(data, {"a": np.asarray(X[: len(passed["labels"]), :2])}, **passed)
    result = ev.estimate_cost()
    assert 0 < result.seconds < 600
    assert 0 < result.mebibytes < 10_000
    assert result.not_included == ()
    assert PASS in set(result.table["step"])
    assert not result.table.isna().any(axis=None)


def test_the_bar_of_an_estimate_counts_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run on a sample is a step with the number of its points; the keyword is that of ``run``."""
    bar, passed = Bar(), []
    monkeypatch.setattr(evaluation, "open_progress", lambda enabled: passed.append(enabled) or nullcontext(bar))
    ev = dreval.Evaluation(
        np.tile(X, (50, 1)) + RNG.normal(size=(3000, 5)), {"a": RNG.normal(size=(3000, 2))}, random_state=0
    )
    ev.estimate_cost("stress", ci=None, progress=False)
    assert (passed, bar.total, bar.n) == ([False], 3, 3)
    sizes = sample_sizes(3000, 1)
    assert bar.texts == [f"estimate from {size} points" for size in (*sizes[1:], *sizes)]


def test_an_estimate_runs_no_methods() -> None:
    """Methods, estimators and callables are named; the other steps for their embeddings are included."""

    def never(points: Any, n_components: int) -> Any:
        pytest.fail("it was run")

    ev = dreval.Evaluation(X, {"a": X[:, :2], "own": never, "pca": "pca"}, labels=LABELS, random_state=0, n_jobs=1)
    result = ev.estimate_cost()
    assert result.not_included == ("own", "pca")
    table = result.table
    runs = table[table["step"] == METHOD]
    assert runs["embedding"].tolist() == ["own", "pca"]
    assert runs["seconds"].isna().all()
    assert np.isfinite(result.seconds)
    assert set(table.loc[table["step"] == MEASURE, "embedding"]) == {"a", "own", "pca"}
    assert "methods are not run for an estimate: own and pca." in " ".join(str(result).split())


def test_an_embedding_that_cannot_be_read_has_no_cost() -> None:
    """The others are estimated; without others there is nothing to estimate."""
    ev = dreval.Evaluation(X, {"bad": X[:10, :2]}, random_state=0, n_jobs=1)
    assert ev.estimate_cost("trustworthiness").table.empty
    assert ev.estimate_cost("trustworthiness").seconds == 0
    result = ev.with_embedding("a", X[:, :2]).estimate_cost("trustworthiness", ci=None).table
    assert set(result["embedding"]) == {"", "a"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"measures": "trustworthines"},
        {"tests": "hsicc"},
        {"ci": "point"},
        {"ci": "anchors"},
        {"n_resamples": 0},
        {"options": {"knn_accuracy": {"k": 5}}},
        {"measures": None, "tests": None},
        {"tests": "hsic"},
    ],
    ids=str,
)
def test_an_estimate_raises_the_errors_of_a_run(arguments: dict[str, Any]) -> None:
    """The texts of the errors are the same."""
    ev = dreval.Evaluation(X, SOURCES, random_state=0)
    with pytest.raises(DrevalError) as error:
        ev.run(**arguments)
    with pytest.raises(type(error.value), match=re.escape(str(error.value))):
        ev.estimate_cost(**arguments)
    with pytest.raises(UnknownName):
        ev.estimate_cost(conf_level=0.9)
    with pytest.raises(InputError, match="at least one embedding"):
        dreval.Evaluation(X).estimate_cost()


def test_the_record_is_small_and_fixed() -> None:
    """Its table is a copy, its seconds are their sum, and its printed form has the steps."""
    ev = dreval.Evaluation(X, SOURCES, labels=LABELS, random_state=0, n_jobs=1)
    result = ev.estimate_cost()
    table = result.table
    table["seconds"] = 0.0
    assert result.seconds == result.table["seconds"].sum() > 0
    assert result.table.columns.tolist() == ["step", "embedding", "item", "seconds"]
    assert {PASS, MEASURE, TEST} <= {line.split("  ")[0] for line in str(result).splitlines()}


def test_a_table_that_is_read_by_blocks() -> None:
    """Its first rows are the samples."""
    points = np.random.default_rng(0).normal(size=(60_000, 3)).astype(np.float32)
    ev = dreval.Evaluation(points, {"a": points[:, :2]}, anchors=20, random_state=0, n_jobs=1)
    result = ev.estimate_cost(["trustworthiness", "r_nx_auc"], ci=None)
    assert 0 < result.seconds < 600
    assert result.n == 60_000
