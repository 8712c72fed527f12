"""The cost of a run: every step of a run is in its estimate and on its bar, and an estimate has no effect."""

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
from dreval.evaluation import cost, evaluation
from dreval.evaluation.cost import CHANCE, CHECKS, INTERVAL, METHOD, PASS, TEST, VALUE, Progress, Step

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
LABELS = np.array(["a", "b", "c"])[np.arange(60) % 3]
GAPPED_LABELS = np.where(np.arange(60) % 7 == 0, None, LABELS)
SOURCES = {"a": X[:, :2], "b": X[:, 1:4] ** 3}


class Bar:
    """A bar that keeps its numbers."""

    disable = False

    def __init__(self) -> None:
        self.total, self.n, self.steps = 0, 0, 0

    def reset(self, total: int) -> None:
        """Begin."""
        self.total, self.n = total, 0

    def update(self, units: int) -> None:
        """Go on."""
        self.n, self.steps = self.n + units, self.steps + 1

    def set_description(self, text: str) -> None:
        """Do nothing."""


def watched(patch: pytest.MonkeyPatch) -> tuple[Bar, list[Any], list[Any]]:
    """A bar for the next runs, the keys of the steps that are announced, and of those that are finished."""
    bar, announced, finished = Bar(), [], []

    class Watched(Progress):
        def start(self, steps: Any, threads: int) -> None:
            super().start(steps, threads)
            announced.extend(self.remaining)

        def part(self, *key: Any) -> Any:
            finished.append((*key, "", cost.NONE)[:3] if len(key) == 1 else (*key, cost.NONE)[:3])
            return super().part(*key)

        def finish(self, *key: Any) -> None:
            finished.append((*key, "", cost.NONE)[:3] if len(key) == 1 else (*key, cost.NONE)[:3])
            super().finish(*key)

        def close(self) -> None:
            assert {key for key in self.remaining if key not in finished} == set()
            super().close()

    patch.setattr(evaluation, "open_progress", lambda *_, **__: nullcontext(bar))
    patch.setattr(evaluation, "Progress", Watched)
    return bar, announced, finished


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
    ],
    ids=str,
)
def test_the_bar_counts_the_steps_of_the_run(settings: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every announced step is finished exactly once, no other step is, and the total is met exactly."""
    bar, announced, finished = watched(monkeypatch)
    ev = dreval.Evaluation(X, SOURCES, random_state=0, n_jobs=1, **settings)
    with pytest.warns() if arguments.get("measures") in ("silhouette",) else nullcontext():
        ev.run(**arguments)
    assert set(announced) <= set(finished)
    expected = {VALUE, TEST}
    assert {key for key in finished if key[0] in expected} <= set(announced)
    assert bar.n == bar.total > 0
    assert bar.steps >= len([key for key in announced if key[0] in expected]) / 2


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("test", "fewest"), [("dcov:labels", 10), ("hsic:residual", 100), ("cca", 1)])
def test_the_bar_advances_within_a_test(test: str, fewest: int, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It advances by blocks of permutations and by resamples of residuals; at once for a test without draws."""
    bar, announced, _ = watched(monkeypatch)
    ev = dreval.Evaluation(X, {"a": X[:, :2]}, labels=LABELS, random_state=0, n_jobs=jobs)
    ev.run(None, test, None, n_resamples=319)
    assert [key[0] for key in announced] == [TEST]
    assert bar.steps >= fewest
    assert bar.n == bar.total > 0


def test_methods_that_are_re_run_are_on_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each further run counts as long as the first one took, with its pass and its measures."""
    bar, announced, _ = watched(monkeypatch)
    ev = dreval.Evaluation(X, {"pca": "pca", "som": "som"}, random_state=0, n_jobs=1)
    ev.run(["trustworthiness"], ci="replicates", options={"replicates": {"n_replicates": 2}})
    assert {key[1] for key in announced if key[0] == cost.RUNS} == {"pca", "som"}
    assert bar.n == bar.total


def test_an_embedding_that_fails_is_not_on_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """The total is that of the other embeddings."""
    bar, announced, _ = watched(monkeypatch)

    def fails(points: Any, n_components: int) -> Any:
        raise ValueError("no")

    with pytest.warns(EmbeddingFailed):
        dreval.Evaluation(X, {"a": X[:, :2], "bad": fails}, random_state=0).run("trustworthiness", None, None)
    assert {key[1] for key in announced} == {"", "a"}
    assert bar.n == bar.total > 0


def test_a_hidden_bar_has_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are not counted for it."""
    monkeypatch.setattr(evaluation, "plan_steps", lambda *_: pytest.fail("a plan"))
    dreval.Evaluation(X, SOURCES, random_state=0).run("trustworthiness", None, None, progress=False)


def test_shares_add_up_to_the_weight_of_their_step() -> None:
    """Parts of a step are rounded to units; no unit is missing or counted twice."""
    bar = Bar()
    progress = Progress(bar)
    progress.start([Step(PASS, "", cost.NONE, "pass", 1e-5), Step(VALUE, "a", ("m", ""), "points", 2e-5)], 1)
    assert bar.total == 30
    advance = progress.part(PASS)
    observed = []
    for _ in range(3):
        advance(1 / 3)
        observed.append(bar.n)
    assert observed == [3, 7, 10]
    progress.finish(PASS)
    assert bar.n == 10
    progress.finish(VALUE, "a", ("m", ""))
    progress.finish(VALUE, "a", ("m", ""))
    assert bar.n == 30
    progress.close()
    assert bar.n == 30


def test_threads_divide_the_share_that_they_can() -> None:
    """The elapsed seconds of a step with a shared half are computed."""
    step = Step(PASS, "", cost.NONE, "pass", 8.0, shared=0.5)
    assert [step.elapsed(threads) for threads in (1, 2, 4)] == [8.0, 6.0, 5.0]


def test_every_row_of_the_result_has_its_steps() -> None:
    """Value and chance level of each measure, interval of each that has one, and each test."""
    ev = dreval.Evaluation(X, SOURCES, labels=LABELS, random_state=0, n_jobs=1)
    steps, table = ev.estimate_cost().tidy(), ev.run().tidy()
    measures = table[table["measure"].notna() & (table["measure"] != "")]
    key = ["embedding", "measure", "parameters"]
    expected = {tuple(row) for row in measures[key].fillna("").to_numpy()}
    for name in (VALUE, CHANCE):
        of = {tuple(row) for row in steps.loc[steps["step"] == name, key].to_numpy()}
        assert expected <= of
        assert {step[1] for step in of - expected} <= {"r_nx"}  # a curve has no row
    result = measures[measures["conf_low"].notna()]
    assert {tuple(row) for row in result[key].fillna("").to_numpy()} <= {
        tuple(row) for row in steps.loc[steps["step"] == INTERVAL, key].to_numpy()
    }
    key = ["embedding", "test", "variable"]
    tests = table[table["test"].notna() & (table["test"] != "")]
    assert {tuple(row) for row in tests[key].to_numpy()} == {
        tuple(row) for row in steps.loc[steps["step"] == TEST, key].to_numpy()
    }


@pytest.mark.parametrize("anchors", [None, 20])
def test_an_estimate_has_no_effect_on_a_run(anchors: int | None) -> None:
    """A run after it gives the numbers of a run without it."""
    before, second = (
        dreval.Evaluation(X, SOURCES, labels=LABELS, anchors=anchors, random_state=0, n_jobs=1) for _ in range(2)
    )
    second.estimate_cost("all")
    left, right = (ev.run(n_resamples=19).tidy().drop(columns="seconds") for ev in (before, second))
    assert_frame_equal(left, right)


def test_a_machine_of_half_the_speed_takes_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the probe scales the kind of work that it timed; nothing else is timed."""
    ev = dreval.Evaluation(X, SOURCES, labels=LABELS, random_state=0, n_jobs=1)
    results = []
    for tick in (0.1, 0.2):
        now = [0.0]

        def clock(now: list[float] = now, tick: float = tick) -> float:
            now[0] += tick
            return now[0]

        monkeypatch.setattr(cost, "clock", clock)
        monkeypatch.setattr(cost, "NOISE_SECONDS", 0.0)
        monkeypatch.setattr(cost, "MAX_SPEED", 1e9)
        results.append(ev.estimate_cost().tidy())
    slow, fast = results[1]["processor_seconds"], results[0]["processor_seconds"]
    assert np.allclose(slow, 2 * fast)
    assert (fast > 0).mean() > 0.8


def test_more_work_costs_more() -> None:
    """The cost grows with permutations, splits, embeddings, and anchors."""
    ev = dreval.Evaluation(X, SOURCES, labels=LABELS, random_state=0, n_jobs=1)

    def nominal(ev: Any, **settings: Any) -> float:
        plan = ev._plan("default", "default", settings.pop("ci", "default"), settings.pop("n", 999), settings)
        embedded = {name: np.asarray(ev[name].values) for name in ev}
        return sum(step.seconds for step in ev._steps(embedded, *plan, {}, 20))

    assert nominal(ev, n=9999) > nominal(ev) > nominal(ev, ci=None)
    few, many = ({"subsampling": {"n_splits": count}} for count in (5, 50))
    assert nominal(ev, ci="subsampling", **many) > nominal(ev, ci="subsampling", **few)
    assert nominal(ev.with_embedding("c", X[:, 2:])) > nominal(ev)
    Z = np.random.default_rng(1).normal(size=(3000, 5))
    all_rows, labeled_rows = (
        dreval.Evaluation(Z, {"a": Z[:, :2]}, labels=Z[:, 0] > 0, anchors=m, n_jobs=1) for m in (None, 300)
    )
    assert nominal(all_rows) > nominal(labeled_rows)


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
    assert PASS in set(result.tidy()["step"])
    assert not result.tidy().isna().any(axis=None)


def test_a_table_that_is_read_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its first block is read, and the time of reading counts for each pass over the table."""
    n = 60_000
    points = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    ev = dreval.Evaluation(points, {"a": points[:, :2]}, anchors=20, random_state=0, n_jobs=1)
    bare = ev.estimate_cost(["trustworthiness", "r_nx_auc"], ci=None)
    monkeypatch.setattr(cost, "seconds_of_reading", lambda _: 1000.0)
    slow = ev.estimate_cost(["trustworthiness", "r_nx_auc"], ci=None)
    assert bare.seconds < 1000
    assert set(slow.tidy().loc[slow.tidy()["seconds"] >= 1000, "step"]) == {CHECKS, PASS}


def test_an_estimate_runs_no_methods() -> None:
    """Methods, estimators and callables are named; the other steps for their embeddings are included."""

    def never(points: Any, n_components: int) -> Any:
        pytest.fail("it was run")

    ev = dreval.Evaluation(X, {"a": X[:, :2], "own": never, "pca": "pca"}, labels=LABELS, random_state=0, n_jobs=1)
    result = ev.estimate_cost()
    assert result.not_included == ("own", "pca")
    table = result.tidy()
    runs = table[table["step"] == METHOD]
    assert runs["embedding"].tolist() == ["own", "pca"]
    assert runs["seconds"].isna().all()
    assert np.isfinite(result.seconds)
    assert set(table.loc[table["step"] == VALUE, "embedding"]) == {"a", "own", "pca"}
    assert "own, pca" in " ".join(str(result).split())
    assert "without the runs of own, pca)" in repr(result)


def test_an_embedding_that_cannot_be_read_has_no_cost() -> None:
    """The others are estimated; without others there is nothing to estimate."""
    ev = dreval.Evaluation(X, {"bad": X[:10, :2]}, random_state=0, n_jobs=1)
    assert ev.estimate_cost("trustworthiness").tidy().empty
    assert ev.estimate_cost("trustworthiness").seconds == 0
    result = ev.with_embedding("a", X[:, :2]).estimate_cost("trustworthiness", ci=None).tidy()
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
    """It prints within 80 columns, ends with the total, and returns copies."""
    ev = dreval.Evaluation(X, {"a": X[:, :2], "pca": "pca"}, labels=LABELS, random_state=0, n_jobs=1)
    result = ev.estimate_cost()
    lines = str(result).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 30
    assert sum(line.startswith("total") for line in lines) == 1
    copy = result.tidy()
    copy["seconds"] = 0.0
    assert result.seconds > 0
    assert result.processor_seconds >= result.seconds
    assert result.mebibytes == result.tidy()["mebibytes"].max()
    with pytest.raises(AttributeError):
        result.n = 3  # type: ignore[misc]
    assert "<table" in result._repr_html_()


def test_ties_cost_a_full_sort():
    """Integers have a step for worst and best orders, and chance levels by permutation; other numbers have none."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    measures, result = ["trustworthiness", "continuity", "r_nx_auc"], {}
    for name, points in (("none", X), ("ties", np.rint(X))):
        ev = dreval.Evaluation(points, {"Y": points[:, :2].copy()}, n_neighbors=5, random_state=0)
        result[name] = ev.estimate_cost(measures, tests=None, ci=None).table.groupby("step")["processor_seconds"].sum()
    assert cost.TIES not in result["none"].index
    assert result["ties"][cost.TIES] > 0
    assert result["ties"][cost.CHANCE] > result["none"][cost.CHANCE]
