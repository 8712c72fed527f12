"""Studies that are killed: a script whose methods log every call, and what their tests share.

``python tests/study_runs.py FILE FOLDER DATASETS METHODS REPLICATES SECONDS WAIT_FOR`` runs a study. Every call of a
method appends a line to ``FOLDER/log``: the method, its seed (which names the cell) and the process. A process begins
when ``WAIT_FOR`` of them are ready, so that several are at work at the same time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dreval
from dreval._random import stream_seed
from dreval.storage import store
from dreval.storage.study_file import Cell, StudyFile
from dreval.study.study import cell_seed

SEED = 7
PATIENCE = 600.0  # seconds; a machine may be busy with other things


def logged(name: str, X: np.ndarray, seed: int) -> np.random.Generator:
    """Log a call in one write, wait, and give the generator of the method."""
    line = os.open(os.environ["STUDY_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(line, f"{name} {seed} {os.getpid()}\n".encode())
    os.close(line)
    time.sleep(float(os.environ["STUDY_SECONDS"]))
    return np.random.default_rng(seed)


def jitter(X, n_components, random_state):
    return X[:, :n_components] + logged("jitter", X, random_state).normal(size=(len(X), n_components))


def project(X, n_components, random_state):
    return X @ logged("project", X, random_state).normal(size=(X.shape[1], n_components))


def shuffle(X, n_components, random_state):
    return logged("shuffle", X, random_state).permuted(X[:, :n_components], axis=0)


def cube(X, n_components, random_state):
    return X[:, :n_components] ** 3 + 0.1 * logged("cube", X, random_state).normal(size=(len(X), n_components))


def fail(X, n_components, random_state):
    if logged("fail", X, random_state).random() < 0.5:
        raise RuntimeError("half of the runs fail")
    return X[:, -n_components:]


FUNCTIONS = (jitter, project, fail, shuffle, cube)


def make_study(path: str | Path, datasets: int, methods: int, replicates: int) -> dreval.Study:
    """A small study; it is the same in every process."""
    data = {f"d{i}": np.random.default_rng(i).normal(size=(16 + i, 3)) for i in range(datasets)}
    functions = {function.__name__: function for function in FUNCTIONS[:methods]}
    measures = ["trustworthiness", "procrustes_disparity"]
    return dreval.Study(path, data, functions, measures, replicates, n_neighbors=3, random_state=SEED)


class Runs:
    """Processes that run one study in a folder."""

    def __init__(self, folder: Path, datasets: int, methods: int, replicates: int, seconds: float) -> None:
        folder.mkdir(parents=True)
        self.folder, self.path, self.log = folder, folder / "study.journal", folder / "log"
        self.size, self.seconds = (datasets, methods, replicates), seconds
        self.cells = datasets * methods * replicates
        self.log.touch()

    def start(self, together: int = 1) -> subprocess.Popen[str]:
        """Start a process; numba compiles nothing and reads no cache, so that a kill cannot damage the cache."""
        for old in self.folder.glob("ready-*"):
            if together == 1:
                old.unlink()
        environment = {**os.environ, "STUDY_LOG": str(self.log), "STUDY_SECONDS": str(self.seconds)}
        environment |= {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(dreval.__file__).parent.parent)}
        command = [sys.executable, __file__, str(self.path), str(self.folder), *map(str, self.size), str(together)]
        return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)

    def calls(self) -> list[tuple[str, int, int]]:
        """Method, seed and process of every call so far."""
        lines = (line.split() for line in self.log.read_text().splitlines())
        return [(name, int(seed), int(pid)) for name, seed, pid in lines]

    def wait_for_calls(self, count: int, process: subprocess.Popen[str]) -> None:
        """Wait until that many calls were made, or the process has ended."""
        until = time.monotonic() + PATIENCE
        while len(self.calls()) < count and process.poll() is None:
            assert time.monotonic() < until, f"{len(self.calls())} calls of {count}"
            time.sleep(0.002)

    def stored(self) -> set[Cell]:
        """Cells that are in the file."""
        if not self.path.exists():
            return set()
        with StudyFile(self.path) as file:
            return set(file.results())

    def table(self) -> pd.DataFrame:
        """Return the table without measured times."""
        return dreval.Study.open(self.path).table().drop(columns="seconds")


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for a process that is to end well."""
    _, text = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, text


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL, and see that it died of it (or had ended well before)."""
    process.kill()
    _, text = process.communicate(timeout=PATIENCE)
    assert process.returncode in (-9, 0), text


def call_of(cell: Cell) -> tuple[str, int]:
    """Return the identity of a call of a cell's method: the method and its seed."""
    return cell.method, stream_seed(cell_seed(SEED, cell), "embedding", cell.method)


def calls_of(calls: list[tuple[str, int, int]]) -> Iterator[tuple[str, int]]:
    """Calls without their processes."""
    return ((name, seed) for name, seed, _ in calls)


def _main(path: str, folder: str, *arguments: Any) -> None:
    datasets, methods, replicates, together = map(int, arguments)
    study = make_study(path, datasets, methods, replicates)
    store.LEASE_SECONDS, store.RENEWAL_SECONDS = 5.0, 0.5  # a killed process is replaced sooner
    Path(folder, f"ready-{os.getpid()}").touch()
    until = time.monotonic() + PATIENCE
    while len(list(Path(folder).glob("ready-*"))) < together and time.monotonic() < until:
        time.sleep(0.005)
    study.run(progress=False)


if __name__ == "__main__":
    _main(*sys.argv[1:])
