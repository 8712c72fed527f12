"""Numbers and behavior do not depend on the machine: threads, caches, other processes, interrupts, many runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import dreval

pytestmark = pytest.mark.calibration  # each compiles, or runs for a minute
RUN = """
import json, sys
import numpy as np
import dreval

X = np.random.default_rng(0).normal(size=(300, 8))
Y = X[:, :2] + 0.3 * np.random.default_rng(1).normal(size=(300, 2))
ev = dreval.Evaluation(X, {"e": Y} | MORE, labels=X[:, 0] > 0, n_neighbors=10, random_state=0)
table = ev.run(MEASURES, TESTS, n_resamples=99).table
columns = ["value", "se", "conf_low", "conf_high", "chance", "effect_size", "p_value"]
print(json.dumps(table[columns].fillna(-9.0).to_numpy(dtype=float).tolist()))
"""
JOBS = """
import numpy as np
import dreval

X = np.random.default_rng(0).normal(size=(300, 5))
print("begun", flush=True)
ev = dreval.Evaluation(X, {"t": "tsne", "i": "isomap"}, n_neighbors=5, random_state=0, n_jobs=2)
ev.run(["trustability", "tractable_consistency"], None, "replicates")
"""


def script(**values: object) -> str:
    """Return the results of these measures, tests and embeddings, with one embedding of coordinates."""
    return "".join(f"{name.upper()} = {value!r}\n" for name, value in values.items()) + RUN


def begin(code: str, **environment: str) -> subprocess.Popen[str]:
    """A fresh Python that runs the code."""
    expected = {**os.environ, "PYTHONPATH": str(Path(dreval.__path__[0]).parent), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=expected
    )


def numbers(process: subprocess.Popen[str]) -> np.ndarray:
    """The table that it prints."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return np.array(json.loads(out))


def test_threads_of_blas_change_rounding_only() -> None:
    """All measures and two tests with one and two threads of the linear algebra: equal to 1e-12."""
    code = script(measures="all", tests=["hsic", "dcov"], more={"isomap": "isomap"})
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    single, parallel = (numbers(begin(code, **dict.fromkeys(names, threads))) for threads in "12")
    assert_allclose(single, parallel, rtol=1e-12, atol=1e-14)


def test_caches_of_compiled_loops_may_be_shared_or_missing(tmp_path: Path) -> None:
    """Two processes that compile at once into an empty cache, one that reads it, one that can write none: all equal."""
    code = script(measures=["trustworthiness", "spearman_distance"], tests=None, more={})
    shared, nowhere = {"NUMBA_CACHE_DIR": str(tmp_path)}, {"NUMBA_CACHE_DIR": "/proc/nowhere"}
    at_once = [begin(code, **shared), begin(code, **shared)]
    tables = [*map(numbers, at_once), numbers(begin(code, **shared)), numbers(begin(code, **nowhere))]
    for table in tables[1:]:
        np.testing.assert_array_equal(table, tables[0])


@pytest.mark.parametrize("seconds", [1, 5])
def test_an_interrupt_with_several_jobs_leaves_no_resources(seconds: int) -> None:
    """Ctrl-C ends the process at once, without a warning of semaphores or shared memory."""
    process = begin(JOBS)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - start < 20
    assert err.splitlines()[-1] == "KeyboardInterrupt"
    assert "leaked" not in err
    assert "resource_tracker" not in err


def test_many_runs_hold_no_memory_and_no_handles(tmp_path: Path, n_simulations: Callable[[int], int]) -> None:
    """Memory and handles do not grow after the first fifth of 200 evaluations with reports and files."""
    X = np.random.default_rng(0).normal(size=(80, 5))
    used, runs = [], n_simulations(200)
    for i in range(runs + 1):
        ev = dreval.Evaluation(X, {"e": X[:, :2], "pca": "pca"}, labels=X[:, 0] > 0, n_neighbors=5, random_state=0)
        results = ev.run(["trustworthiness", "knn_accuracy", "trustability"], ["hsic"], n_resamples=19)
        results.summary()
        if i % 10 == 0:
            results.save(tmp_path / "r.dreval")
            dreval.load_results(tmp_path / "r.dreval").report(tmp_path / "r.html")
        if i % (runs // 5) == 0:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            used.append((pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(os.listdir("/proc/self/fd"))))
    assert used[-1][0] - used[1][0] < 8
    assert used[-1][1] == used[1][1]
