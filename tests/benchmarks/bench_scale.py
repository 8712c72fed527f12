"""Large data: time, memory and values of trustworthiness, continuity, overlap and R_C, and of the full R_NX curve.

``python tests/benchmarks/bench_scale.py`` (``make bench ARGS=scale``) prints one row per part; a factor as argument
(``bench_scale.py 0.1``) multiplies every n. Each part runs once, in its own process with two threads. CPU seconds are
those of all its threads, for use on a shared machine. MiB is the peak above the process after imports and compilation,
including the data and the embedding.

For parts that read files (memory maps of single precision, or an AnnData object in zarr whose matrix stays in its file)
MiB is the peak of anonymous memory of the whole process, including imports but not mapped files; the processor time of
the largest part is also printed as a multiple of that of a tenth of its points.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from bench_ranks import THREADS, reset_peak, resident

K, P, CORES = 15, 50, 2
MEASURES = ["trustworthiness", "continuity", "neighborhood_overlap", "procrustes_rc"]
SYMBOLS = ["T", "C", "Q", "R_C"]


def cloud(n: int) -> tuple[Any, Any]:
    """Return twenty Gaussian clusters with noise in 50 dimensions, and their noisy principal components."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, P))
    centers, clusters = 3 * rng.normal(size=(20, P)), rng.integers(0, 20, size=n)
    for at in range(0, n, 100_000):  # in blocks, to limit the memory for making the data
        X[at : at + 100_000] += centers[clusters[at : at + 100_000]]
    mean = X.mean(axis=0)
    axes = np.linalg.eigh(X.T @ X / n - np.outer(mean, mean))[1][:, ::-1][:, :2]
    return X, X @ axes - mean @ axes + 0.1 * rng.normal(size=(n, 2))


def evaluation(X: Any, Y: Any, anchors: int | None, ci: str | None) -> str:
    """Return the values, with standard errors if there are any."""
    import dreval

    ev = dreval.Evaluation(X, {"Y": Y}, n_neighbors=K, anchors=anchors, random_state=0, n_jobs=CORES)
    table = ev.run(MEASURES, tests=None, ci=ci, progress=False).table.set_index("measure")
    rows = zip(SYMBOLS, MEASURES, strict=True)
    return " ".join(
        f"{symbol}={table.loc[name, 'value']:.4f}"
        + (f" ({table.loc[name, 'se']:.1g})" if table["se"].notna().loc[name] else "")
        for symbol, name in rows
    )


def default_run(X: Any, Y: Any) -> str:
    """Make a default run of two embeddings with labels: all default measures, intervals and tests."""
    import numpy as np

    import dreval

    rng = np.random.default_rng(1)
    labels = (Y[:, 0] > np.median(Y[:, 0])).astype(np.int8)
    embeddings = {"Y": Y, "blurred": Y + rng.normal(size=Y.shape)}
    table = dreval.Evaluation(X, embeddings, labels=labels, random_state=0, n_jobs=CORES).run(progress=False).table
    values = table[table["embedding"] == "Y"].set_index("measure")["value"]
    return " ".join(f"{symbol}={values[name]:.4f}" for symbol, name in zip(SYMBOLS, MEASURES, strict=True))


def curve(X: Any, Y: Any) -> str:
    """Return R_NX at three of all its K."""
    import dreval

    r_nx = dreval.r_nx(X, Y, n_jobs=CORES)
    return " ".join(f"R_NX({k})={r_nx[k]:.4f}" for k in (K, len(X) // 10, len(X) - 2))


PARTS: dict[str, tuple[int, Callable[[Any, Any], str]]] = {
    "exact, ci=None": (100_000, lambda X, Y: evaluation(X, Y, None, None)),
    "exact, ci='points'": (100_000, lambda X, Y: evaluation(X, Y, None, "points")),
    "2000 anchors of 100,000": (100_000, lambda X, Y: evaluation(X, Y, min(2000, len(X)), "anchors")),
    "2000 anchors": (1_000_000, lambda X, Y: evaluation(X, Y, min(2000, len(X)), "anchors")),
    "default run of two embeddings": (1_000_000, default_run),
    "R_NX at all K": (10_000, curve),
}


def write_points(folder: Path, n: int, kind: str) -> None:
    """Write twenty clusters, two of their columns without and with noise, and the labels, block by block."""
    import numpy as np

    rng = np.random.default_rng(0)
    centers, labels = 3 * rng.normal(size=(20, P)), rng.integers(0, 20, size=n).astype(np.int8)
    np.save(folder / "labels.npy", labels)
    create = np.lib.format.open_memmap
    X = create(folder / "X.npy", "w+", np.float32, (n, P))
    Y, blurred = (create(folder / f"{name}.npy", "w+", np.float32, (n, 2)) for name in ("Y", "blurred"))
    for at in range(0, n, 100_000):
        rows = slice(at, min(at + 100_000, n))
        X[rows] = centers[labels[rows]] + rng.normal(size=(rows.stop - at, P))
        Y[rows] = X[rows, :2]
        blurred[rows] = X[rows, :2] + rng.normal(size=(rows.stop - at, 2))
    if kind == "zarr":
        import anndata
        import pandas as pd

        obs = pd.DataFrame({"cluster": pd.Categorical(labels.astype(str))}, index=np.arange(n).astype(str))
        cells = anndata.AnnData(np.asarray(X), obs=obs, obsm={"Y": np.asarray(Y), "blurred": np.asarray(blurred)})
        cells.write_zarr(folder / "cells.zarr")


def from_files(folder: Path, kind: str) -> str:
    """Make a default run of two embeddings with labels, all of them in files."""
    import numpy as np

    import dreval

    if kind == "zarr":
        parts: Any = str(folder / "cells.zarr"), "Y", "blurred", "cluster"
    else:
        parts = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("X", "Y", "blurred", "labels"))
    data, Y, blurred, labels = parts
    ev = dreval.Evaluation(data, {"Y": Y, "blurred": blurred}, labels=labels, random_state=0, n_jobs=CORES)
    table = ev.run(progress=False).table
    values = table[table["embedding"] == "Y"].set_index("measure")["value"]
    return " ".join(f"{symbol}={values[name]:.4f}" for symbol, name in zip(SYMBOLS, MEASURES, strict=True))


FILES: dict[str, tuple[int, str]] = {
    "default run from memory maps": (1_000_000, "maps"),
    "default run from memory maps, ten times the points": (10_000_000, "maps"),
    "default run of AnnData in zarr": (1_000_000, "zarr"),
}


def measure_files(part: str, folder: Path) -> dict[str, Any]:
    """Return seconds, peak of anonymous MiB, and values of a part that reads files; called inside its process."""
    from_files(folder / "few", FILES[part][1])
    peak, done = [resident("RssAnon")], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            peak[0] = max(peak[0], resident("RssAnon"))

    watching = threading.Thread(target=watch)
    watching.start()
    start, worked = perf_counter(), process_time()
    values = from_files(folder, FILES[part][1])
    seconds, cpu = perf_counter() - start, process_time() - worked
    done.set()
    watching.join()
    return {"seconds": seconds, "cpu": cpu, "mib": peak[0], "values": values}


def measure(part: str, factor: float) -> dict[str, Any]:
    """Return seconds, MiB above the process, and values of one part; called inside its process."""
    n, call = PARTS[part]
    call(*cloud(200 if "default" not in part else 60_000))
    reset_peak()
    before = resident("VmRSS")
    X, Y = cloud(round(n * factor))
    start, worked = perf_counter(), process_time()
    values = call(X, Y)
    seconds, cpu = perf_counter() - start, process_time() - worked
    return {"seconds": seconds, "cpu": cpu, "mib": resident("VmHWM") - before, "values": values}


def in_own_process(*arguments: str) -> dict[str, Any]:
    """Measure one part in a fresh process."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(CORES))}
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def rows(factor: float = 1.0) -> list[dict[str, Any]]:
    """Return one row per part: seconds, MiB and values."""
    table = []
    for part, (n, _) in PARTS.items():
        result = in_own_process(part, str(factor))
        case = f"k={K}, p={P}, {CORES} threads; T, C, Q, R_C with standard errors in brackets"
        name = f"{part}, n={round(n * factor)}"
        figures = {"seconds": result["seconds"], "CPU seconds": result["cpu"], "MiB": result["mib"]}
        table.append({"case": case, "tool": name, **figures, "value": result["values"]})
    return table + rows_of_files(factor)


def rows_of_files(factor: float) -> list[dict[str, Any]]:
    """Return one row per part that reads files, which another process writes to a temporary folder."""
    table: list[dict[str, Any]] = []
    for part, (n, kind) in FILES.items():
        if kind == "zarr" and not (find_spec("anndata") and find_spec("zarr")):
            continue
        n = round(n * factor)
        with tempfile.TemporaryDirectory() as folder:
            few = Path(folder, "few")
            few.mkdir()
            for place, count in ((folder, n), (str(few), 60_000)):
                subprocess.run([sys.executable, __file__, "write", place, str(count), kind], check=True)
            result = in_own_process("read", part, folder)
        case = f"from files, p={P}, {CORES} threads; MiB of anonymous memory, imports included; T, C, Q, R_C"
        row = {"case": case, "tool": f"{part}, n={n}", "seconds": result["seconds"], "CPU seconds": result["cpu"]}
        ratio = result["cpu"] / table[0]["CPU seconds"] if table and kind == "maps" else ""
        table.append({**row, "ratio of CPU": ratio, "MiB": result["mib"], "value": result["values"]})
    return table


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "write":
        write_points(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    elif len(sys.argv) == 4 and sys.argv[1] == "read":
        print(json.dumps(measure_files(sys.argv[2], Path(sys.argv[3]))))
    elif len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], float(sys.argv[2]))))
    else:
        from run import show

        show(rows(*map(float, sys.argv[1:])))
