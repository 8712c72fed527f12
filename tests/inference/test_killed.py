"""Calls that re-run a method continue after kill -9, with the numbers of an undisturbed call; bars count all runs."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval._parallel import open_progress

BEGIN = """
import sys
import numpy as np
import dreval
from method_runs import printing
X = np.random.default_rng(0).normal(size=(60, 4)) * [3, 2, 1, 1]
Z = np.random.default_rng(0).normal(size=(90, 4))
fit = dreval.methods.TSNE._fit

def told(self, X):
    print("run", flush=True)
    return fit(self, X)

dreval.methods.TSNE._fit = told
store = sys.argv[1]
GRID = {'size': [0.1, 2.0]}
"""
CALLS = {  # the call, the runs that it makes, and after which of them it is killed
    "noise_test": ("dreval.noise_test(X, printing, n_replicates=19, random_state=0, journal=store).points", 20, 8),
    "noise_test of settings": (
        "dreval.noise_test(X, printing, param_grid=GRID, n_replicates=9, random_state=0, journal=store).settings",
        20,
        14,
    ),
    "stability": (
        "dreval.stability(X, printing, over='both', n_replicates=4, random_state=0, journal=store).points",
        12,
        7,
    ),
    "sweep": (
        "dreval.sweep(X, printing, {'size': [0.1, 0.5, 2.0]}, n_replicates=4, random_state=0, journal=store).values",
        12,
        5,
    ),
    "perplexity_curve": (
        "dreval.perplexity_curve(Z, [15, 25], n_replicates=3, random_state=0, journal=store).values",
        6,
        3,
    ),
}


# all calls share one engine of re-runs: one of them is in every run of the tests
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "sweep")) for name in CALLS])
def test_a_killed_call_continues(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill, written runs are not repeated, and every number is the same.

    The total of the bar is the number of runs, all settings and the data themselves included, and the bar ends there.
    """
    call, count, stop = CALLS[name]
    program = f"{BEGIN}\nfound = {call}\n"
    command, places = [sys.executable, "-c", program, tmp_path / "killed"], os.pathsep.join(sys.path)
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": places}) as run:
        assert run.stdout is not None
        for _ in range(stop):
            assert run.stdout.readline() == b"run\n"
        run.send_signal(signal.SIGKILL)
        run.stdout.read()
    assert run.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(tmp_path / "killed")) as db:
        n_cells = int(db.execute("SELECT count(*) FROM cells").fetchone()[0])
    assert stop - 2 <= n_cells < count

    fit = dreval.methods.TSNE._fit
    for module in ("dreval.inference.reruns", "dreval.significance.noise", "dreval.analyses.perplexity_curve"):
        monkeypatch.setattr(f"{module}.open_progress", lambda _: Bar())
    monkeypatch.setattr("dreval.analyses.tsne_scores.open_progress", silent)
    tables = {}
    for store, runs in (("killed", count - n_cells), ("other", count)):
        Bar.counts.clear()
        monkeypatch.setattr(dreval.methods.TSNE, "_fit", fit)  # the program replaces it
        namespace = {"sys": SimpleNamespace(argv=["", str(tmp_path / store)])}
        exec(program.replace("import sys", ""), namespace)
        assert capsys.readouterr().out.count("run\n") == runs
        assert Bar.counts == [count, count]
        tables[store] = namespace["found"]
    assert np.isfinite(tables["other"].select_dtypes("number").to_numpy(float)).any()
    pd.testing.assert_frame_equal(tables["killed"], tables["other"], check_exact=True)


class Bar:
    """A progress bar that keeps its total, and where it ends."""

    counts: ClassVar[list[int]] = []

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.counts.append(self.n)

    def set_description(self, text: str) -> None:
        """Check that there is a description."""
        assert text

    def reset(self, total: int) -> None:
        """Start with this total."""
        self.counts.append(total)
        self.n = 0

    def update(self, steps: int) -> None:
        """Count steps."""
        self.n += steps


def silent(requested: bool | None) -> Any:
    """Return the bar of a score inside a run, which must be silent."""
    assert requested is False
    return open_progress(requested)
