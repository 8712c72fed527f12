"""Finished embeddings are stored: an interrupted run continues, with the numbers of a complete run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError

X = np.random.default_rng(0).normal(size=(60, 4))
MEASURES = ["trustworthiness", "spearman_distance"]


class CountedMethod:
    """Count runs in the environment, which is not a part of the identity of a function, and stop at one of them if
    requested.
    """

    @staticmethod
    def begin(stop_at: int = -1) -> None:
        """Count from 0."""
        os.environ.update(DREVAL_TEST_CALLS="0", DREVAL_TEST_STOP=str(stop_at))

    @staticmethod
    def calls() -> int:
        """Runs so far."""
        return int(os.environ["DREVAL_TEST_CALLS"])


def first_columns(points: np.ndarray, n_components: int, random_state: int | None = None) -> np.ndarray:
    """A method with random numbers."""
    os.environ["DREVAL_TEST_CALLS"] = str(int(os.environ["DREVAL_TEST_CALLS"]) + 1)
    if os.environ["DREVAL_TEST_CALLS"] == os.environ["DREVAL_TEST_STOP"]:
        raise KeyboardInterrupt
    noise = np.random.default_rng(random_state).normal(size=(len(points), n_components))
    return points[:, :n_components] + 0.1 * noise


def second(points: np.ndarray, n_components: int, random_state: int | None = None) -> np.ndarray:
    """Another one."""
    return first_columns(points, n_components, random_state)[:, ::-1] * 2


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the environment afterwards."""
    monkeypatch.setenv("DREVAL_TEST_CALLS", "0")
    monkeypatch.setenv("DREVAL_TEST_STOP", "-1")


def evaluation(random_state: Any = 0, data: np.ndarray = X, **arguments: Any) -> dreval.Evaluation:
    """An evaluation of two functions and of coordinates."""
    sources = {"first": first_columns, "second": second, "given": X[:, 2:], **arguments}
    return dreval.Evaluation(data, sources, n_neighbors=5, random_state=random_state)


def numbers(results: dreval.Results) -> pd.DataFrame:
    """The table without the time it took."""
    return results.table.drop(columns="seconds")


@pytest.mark.parametrize("ci", ["points", "replicates"])
@pytest.mark.parametrize("over", ["seeds", "subsamples"])
def test_a_second_run_computes_no_embedding_and_is_equal(tmp_path: Path, ci: str, over: str) -> None:
    """The results equal those without a store; runs of replicates are stored as well."""
    options = {"replicates": {"n_replicates": 3, "over": over}}
    settings = {"options": options} if ci == "replicates" else {}
    expected = numbers(evaluation().run(MEASURES, None, ci, **settings))
    CountedMethod.begin()
    single = evaluation().run(MEASURES, None, ci, journal=tmp_path / "s.journal", **settings)
    output = CountedMethod.calls()
    results = evaluation().run(MEASURES, None, ci, journal=tmp_path / "s.journal", **settings)
    assert CountedMethod.calls() == output >= 2
    for result in (single, results):
        pd.testing.assert_frame_equal(numbers(result), expected, check_exact=True)
    assert single.table["seconds"].min() > 0


def test_an_interrupted_run_continues_where_it_stopped(tmp_path: Path) -> None:
    """Embeddings that were finished before the interrupt are not recomputed."""
    store = tmp_path / "s.journal"
    options = {"replicates": {"n_replicates": 4, "over": "seeds"}}
    CountedMethod.begin()
    expected = numbers(evaluation().run(MEASURES, None, "replicates", options=options))
    total = CountedMethod.calls()
    assert total == 8
    for stop in (1, 2, 5):
        CountedMethod.begin(stop)
        with pytest.raises(KeyboardInterrupt):
            evaluation().run(MEASURES, None, "replicates", options=options, journal=store)
    CountedMethod.begin()
    result = numbers(evaluation().run(MEASURES, None, "replicates", options=options, journal=store))
    assert CountedMethod.calls() == total - (0 + 1 + 4)
    pd.testing.assert_frame_equal(result, expected, check_exact=True)


def test_a_store_is_of_one_data_set(tmp_path: Path) -> None:
    """Other data raise an error, by their hash; other seeds, parameters and code are computed."""
    store = tmp_path / "s.journal"
    evaluation().run(MEASURES, None, None, journal=store)
    with pytest.raises(InputError, match=r"`journal` must be of the data that are evaluated: got '.*s\.journal'"):
        evaluation(data=X + 1).run(MEASURES, None, None, journal=store)
    CountedMethod.begin()
    evaluation(1).run(MEASURES, None, None, journal=store)
    assert CountedMethod.calls() == 2
    wide = dreval.Evaluation(X, n_neighbors=5, random_state=0).with_embedding("first", first_columns, n_components=3)
    assert wide.run(MEASURES, None, None, journal=store).embeddings["first"].shape == (60, 3)
    factor = 3.0
    sources = {"pca": "pca", "changed": lambda points, n_components: points[:, :n_components] * factor}
    stored = (
        dreval.Evaluation(X, sources, random_state=0).run(MEASURES, None, None, journal=store).embeddings["changed"]
    )
    factor = 4.0
    recomputed = (
        dreval.Evaluation(X, sources, random_state=0).run(MEASURES, None, None, journal=store).embeddings["changed"]
    )
    np.testing.assert_allclose(recomputed, stored * 4 / 3)


def test_the_file_of_a_study_is_not_a_store(tmp_path: Path) -> None:
    """The file raises an error and is not changed."""
    dreval.Study(tmp_path / "study.journal", {"a": X, "b": X**2}, ["pca"], "stress", random_state=0).run()
    content = (tmp_path / "study.journal").read_bytes()
    with pytest.raises(InputError, match=r"`journal` must be the journal of an evaluation: got .* the file of a study"):
        dreval.Evaluation(X, {"p": "pca"}, random_state=0).run("stress", None, None, journal=tmp_path / "study.journal")
    assert (tmp_path / "study.journal").read_bytes() == content


def test_without_a_seed_the_store_has_it(tmp_path: Path) -> None:
    """A run without a seed continues with the seed of the first run; a run with a seed uses that."""
    store = tmp_path / "s.journal"
    CountedMethod.begin()
    single = evaluation(None).run(MEASURES, None, "points", journal=store)
    results = evaluation(None).run(MEASURES, None, "points", journal=store)
    assert CountedMethod.calls() == 2
    assert single.recipe["random_state"] == results.recipe["random_state"]
    pd.testing.assert_frame_equal(numbers(single), numbers(results), check_exact=True)
    assert evaluation(7).run(MEASURES, None, None, journal=store).recipe["random_state"] == 7


def test_a_measure_that_re_runs_a_method_keeps_its_runs(tmp_path: Path) -> None:
    """tractable_consistency reads its runs from the same file."""
    options = {"tractable_consistency": {"n_transformations": 4, "n_replicates": 1}}
    ev = dreval.Evaluation(X, {"first": first_columns}, n_neighbors=5, random_state=0, n_jobs=1)
    expected = numbers(ev.run("tractable_consistency", None, None, options=options))
    single = numbers(ev.run("tractable_consistency", None, None, options=options, journal=tmp_path / "s.journal"))
    CountedMethod.begin()
    stored_numbers = numbers(
        ev.run("tractable_consistency", None, None, options=options, journal=tmp_path / "s.journal")
    )
    assert CountedMethod.calls() == 0
    for result in (single, stored_numbers):
        pd.testing.assert_frame_equal(result, expected, check_exact=True)


def test_failures_are_repeated_and_other_files_raise_an_error(tmp_path: Path) -> None:
    """An embedding that failed is not stored; a study, a text and a folder are not accepted as stores."""
    store = tmp_path / "s.journal"
    attempts = []

    def shaky(points: np.ndarray, n_components: int) -> np.ndarray:
        attempts.append(0)
        if len(attempts) == 1:
            raise RuntimeError("no memory")
        return points[:, :n_components]

    ev = dreval.Evaluation(X, {"shaky": shaky}, n_neighbors=5, random_state=0)
    with pytest.raises(dreval.errors.MethodFailed, match="no memory"):
        ev.run(MEASURES, None, None, journal=store)
    (tmp_path / "text").write_text("text" * 1000)
    for path in (tmp_path / "text", tmp_path, tmp_path / "none" / "s.journal", 3):
        with pytest.raises(InputError, match="`journal` must"):
            evaluation().run(MEASURES, None, None, journal=path)


KILLED = """
import sys, time
import numpy as np
import dreval
X = np.random.default_rng(0).normal(size=(60, 4))
def slow(factor):
    def run(points, n_components, random_state=None):
        print("run", flush=True)
        time.sleep(0.05)
        return points[:, :n_components] * factor + 0.1 * np.random.default_rng(random_state).normal(size=(60, 2))
    return run
ev = dreval.Evaluation(X, {f"m{i}": slow(float(i + 1)) for i in range(6)}, n_neighbors=5, random_state=0)
res = ev.run(["trustworthiness"], None, "points", journal=sys.argv[1])
res.save(sys.argv[2])
"""


@pytest.mark.slow
def test_a_killed_process_loses_no_finished_embedding(tmp_path: Path) -> None:
    """After a kill in the third of six runs, two are not repeated, and the numbers are those of one run."""
    command = [sys.executable, "-c", KILLED, tmp_path / "s.journal", tmp_path / "r"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert run.stdout is not None
    for _ in range(3):
        run.stdout.readline()
    run.send_signal(signal.SIGKILL)
    run.communicate()
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout.count(b"run") == 4
    namespace: dict[str, Any] = {"sys": SimpleNamespace(argv=["", tmp_path / "o.journal", tmp_path / "o"])}
    exec(KILLED.replace("import sys, time", "import time"), namespace)
    pd.testing.assert_frame_equal(
        numbers(dreval.load_results(tmp_path / "r")), numbers(dreval.load_results(tmp_path / "o")), check_exact=True
    )
