"""Seconds and compiled loops of a first run, with no machine code stored, and of the next: the README, a default run.

Outermost loops are those that Python calls; each compiles the loops that it calls.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parents[2] / "README.md"
DEFAULT_RUN = """
import dreval
wdbc = dreval.load_dataset("wdbc")
X = (wdbc.data - wdbc.data.mean(axis=0)) / wdbc.data.std(axis=0)
evaluation = dreval.Evaluation(X, {"PCA": "pca", "Isomap": "isomap"}, labels=wdbc.labels, random_state=0)
print(evaluation.run().summary())
"""
COUNT = """
import json, sys, time
start = time.perf_counter()
from numba.core import event

class Count(event.Listener):
    depth = loops = outermost = 0
    def on_start(self, compiled):
        self.loops += 1
        self.outermost += self.depth == 0
        self.depth += 1
    def on_end(self, compiled):
        self.depth -= 1

count = Count()
event.register("numba:compile", count)
exec(sys.argv[1], {"__name__": "__first_run__"})
seconds = {"seconds": time.perf_counter() - start, "processor": time.process_time()}
print("\\n" + json.dumps(seconds | {"loops": count.loops, "outermost": count.outermost}))
"""


def run(code: str, folder: str) -> dict[str, Any]:
    """Return what one process took whose machine code is stored in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "DREVAL_NOTICES": "0"}
    command = [sys.executable, "-c", COUNT, code]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    numbers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return numbers


def rows() -> list[dict[str, Any]]:
    """Return two rows for each case: the first run and the second."""
    example = re.search(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    results = []
    for case, code in {"example of the README": example[1] if example else "", "default run": DEFAULT_RUN}.items():
        with tempfile.TemporaryDirectory() as folder:
            results += [{"case": case, "tool": kind, **run(code, folder)} for kind in ("first run", "second run")]
    return results


if __name__ == "__main__":
    from run import show

    show(rows())
