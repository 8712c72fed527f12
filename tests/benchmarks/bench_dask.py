"""A dask array on a cluster, and the same data in memory: processor and elapsed seconds, largest difference.

``python tests/benchmarks/bench_dask.py`` prints one row per way; a number as argument is n. The cluster is local: two
processes with one thread each read their chunks from a file. In the third row one of them is killed during a pass and
restarted by its nanny. CPU seconds of a cluster are those of the evaluating process and of the workers, without a
killed one. The run is a default run of two embeddings with labels and 2000 anchors.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench_scale import CORES, P, cloud

N, CHUNK = 1_000_000, 20_000


class Reader:
    """Callable that reads rows of a file on a worker."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, block_info: Any = None) -> Any:
        import numpy as np

        start, stop = block_info[None]["array-location"][0]
        return np.array(np.load(self.path, mmap_mode="r")[start:stop])


def evaluate(X: Any, embeddings: Any, labels: Any) -> tuple[Any, float, float]:
    """Return the table, elapsed and processor seconds."""
    import dreval

    start, worked = time.perf_counter(), time.process_time()
    ev = dreval.Evaluation(X, embeddings, labels=labels, anchors=min(2000, len(labels)), random_state=0, n_jobs=CORES)
    table = ev.run(progress=False).table
    return table, time.perf_counter() - start, time.process_time() - worked


def largest_difference(table: Any, reference: Any) -> float:
    """Return the largest difference of all numbers except the seconds."""
    numbers = table.select_dtypes("number").columns.drop("seconds")
    return float((table[numbers] - reference[numbers]).abs().max().max())


def rows(n: int = N) -> list[dict[str, Any]]:
    """Return one row per way."""
    case = f"default run, n={n}, p={P}, two embeddings, labels; {CORES} processes of one thread"
    if not find_spec("distributed"):
        return [{"case": case, "tool": "dask (not installed)"}]
    import dask.array as da
    import numpy as np
    from distributed import Client, LocalCluster

    X, Y = cloud(n)
    rng = np.random.default_rng(1)
    embeddings = {"Y": Y, "blurred": Y + rng.normal(size=Y.shape)}
    labels = (Y[:, 0] > np.median(Y[:, 0])).astype(np.int8)
    small = {name: Z[:60_000] for name, Z in embeddings.items()}
    evaluate(X[:60_000].copy(), small, labels[:60_000])  # compiles
    reference, seconds, cpu = evaluate(X, embeddings, labels)
    table = [{"case": case, "tool": "in memory", "seconds": seconds, "CPU seconds": cpu}]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "x.npy"
        np.save(path, X)
        lazy = da.map_blocks(Reader(path), chunks=((*[CHUNK] * (n // CHUNK), n % CHUNK), (P,)), dtype=float, meta=X[:0])
        options = {"n_workers": CORES, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        options["silence_logs"] = logging.CRITICAL
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            sample = lazy[:60_000]
            evaluate(sample, small, labels[:60_000])
            for tool in ("cluster", "cluster, a worker killed"):
                before = client.run(time.process_time)
                if "killed" in tool:
                    pid = next(iter(client.run(os.getpid).values()))
                    threading.Timer(0.4 * seconds, os.kill, (pid, signal.SIGKILL)).start()
                result, seconds, cpu = evaluate(lazy, embeddings, labels)
                client.wait_for_workers(CORES)
                after = client.run(time.process_time)
                cpu += sum(spent - before.get(worker, 0.0) for worker, spent in after.items())
                table.append(
                    {
                        "case": case,
                        "tool": tool,
                        "seconds": seconds,
                        "CPU seconds": cpu,
                        "CPU over memory": cpu / table[0]["CPU seconds"],
                        "killed": len(before.keys() - after.keys()),
                        "largest difference": f"{largest_difference(reference, result):.1e}",
                    }
                )
    return table


if __name__ == "__main__":
    from run import show

    show(rows(*map(int, sys.argv[1:])))
