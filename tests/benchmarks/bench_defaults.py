"""Quality of all bundled methods and of other programs, all with their defaults, on nine data sets.

``python tests/benchmarks/bench_defaults.py [--methods pca,tsne] [--peers none] [--journal FILE] [data set ...]`` prints
a row for each method, data set and peer: trustworthiness (k = 15, higher is better), local Procrustes R_C (k = 15,
lower is better) and processor seconds, ours | the peer's | difference. Then follow failures and timeouts with their
reasons, and the rows where ours is behind by more than 0.02. With a journal, finished rows are stored in that file and
not re-run.

Two components and ``random_state=0`` (in R, ``set.seed(0)``); nothing else is set, with two exceptions: scikit-learn's
kernel PCA, whose default is linear, and its Hessian LLE, which rejects its own default of 5 neighbors and has 6.
Supervised methods get the labels, or the latent coordinates if there are none; scikit-learn's CCA gets labels as
indicator columns. Seconds are processor seconds in one thread, after a warm-up on 100 points, since the machine may be
shared. A run of more than 60 of them, or ``$BENCH_CAP``, is stopped. Peers in R are compared where ``Rscript`` and
their packages (MASS, uwot, Rtsne, kernlab, fastICA) are installed. The mammoth is in ``$DREVAL_DATA`` or
``../shared/data``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

from bench_ranks import THREADS

CAP = int(os.environ.get("BENCH_CAP", "60"))  # processor seconds
BEHIND = 0.02
SETS = ("swiss_roll", "digits", "iris", "wdbc", "s1", "s2", "s3", "s4", "mammoth")
ROWS = {"swiss_roll": 500, "digits": 500, "mammoth": 1500}
ONE_COLUMN = ("gsave", "mave", "save", "sir")  # methods that get the first latent coordinate only
Result = dict[str, Any]  # trustworthiness, R_C, seconds; or the reason of the failure

R_PEERS = {
    "pca": {"R prcomp": "prcomp(X)$x[, 1:2]"},
    "classical_mds": {"R cmdscale": "cmdscale(dist(X))"},
    "cca": {"R cancor": "f <- cancor(X, Y); X %*% f$xcoef[, seq_len(min(2, length(f$cor)))]"},
    "fast_ica": {"R fastICA": "fastICA::fastICA(X, 2)$S"},
    "kernel_pca": {"R kernlab": "kernlab::rotated(kernlab::kpca(X, features = 2))"},
    "sammon": {"R MASS": "MASS::sammon(dist(X), trace = FALSE)$points"},
    "tsne": {"R Rtsne": "Rtsne::Rtsne(X, num_threads = 1)$Y"},
    "umap": {"R uwot": "uwot::umap(X, n_threads = 1, n_sgd_threads = 1)"},
}
SCRIPT = """
X <- as.matrix(read.csv("X.csv", header = FALSE))
Y <- as.matrix(read.csv("Y.csv", header = FALSE))
dimnames(X) <- NULL
set.seed(0)
run <- function(X, Y) { %s }
try(run(X[1:100, ], Y[1:100, , drop = FALSE]), silent = TRUE)
set.seed(0)
used <- system.time(out <- run(X, Y))
write.table(out, "out.csv", sep = ",", row.names = FALSE, col.names = FALSE)
cat("\\nseconds", used[["user.self"]] + used[["sys.self"]], "\\n")
"""


def sklearn_peers() -> dict[str, dict[str, Callable[[], Any]]]:
    """Return makers of the counterparts in Python, by method."""
    import openTSNE
    import umap
    from sklearn import cross_decomposition, decomposition, manifold

    def lle(kind: str, **options: Any) -> Any:
        return manifold.LocallyLinearEmbedding(n_components=2, method=kind, random_state=0, **options)

    class OpenTSNE:
        """openTSNE with the interface of scikit-learn."""

        def fit_transform(self, X: Any) -> Any:
            import numpy as np

            return np.asarray(openTSNE.TSNE(random_state=0).fit(X))

    return {
        "pca": {"scikit-learn": lambda: decomposition.PCA(2, random_state=0)},
        "probabilistic_pca": {"scikit-learn": lambda: decomposition.PCA(2, random_state=0)},
        "kernel_pca": {"scikit-learn": lambda: decomposition.KernelPCA(2, kernel="rbf", random_state=0)},
        "fast_ica": {"scikit-learn": lambda: decomposition.FastICA(2, random_state=0)},
        "cca": {"scikit-learn": lambda: cross_decomposition.CCA(2)},
        "classical_mds": {"scikit-learn": lambda: manifold.ClassicalMDS(2)},
        "metric_mds": {"scikit-learn": lambda: manifold.MDS(2, random_state=0)},
        "isomap": {"scikit-learn": lambda: manifold.Isomap(n_components=2)},
        "laplacian_eigenmaps": {"scikit-learn": lambda: manifold.SpectralEmbedding(2, random_state=0)},
        "lle": {"scikit-learn": lambda: lle("standard")},
        "modified_lle": {"scikit-learn": lambda: lle("modified")},
        "hessian_lle": {"scikit-learn": lambda: lle("hessian", n_neighbors=6)},
        "ltsa": {"scikit-learn": lambda: lle("ltsa")},
        "tsne": {"scikit-learn": lambda: manifold.TSNE(2, random_state=0), "openTSNE": OpenTSNE},
        "umap": {"umap-learn": lambda: umap.UMAP(n_components=2, random_state=0)},
    }


def data(name: str) -> tuple[Any, Any]:
    """Return points, and labels or latent coordinates."""
    import numpy as np

    import dreval

    rng = np.random.default_rng(0)
    if name == "iris":
        from sklearn.datasets import load_iris

        return load_iris(return_X_y=True)
    if name == "mammoth":
        folder = os.environ.get("DREVAL_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
        with np.load(Path(folder) / "mammoth_10k.npz") as file:
            rows = np.sort(rng.choice(len(file["X"]), ROWS[name], replace=False))
            return file["X"][rows].astype(np.float64), file["y"][rows]
    if name in ("digits", "wdbc"):
        dataset = dreval.load_dataset(name)
        X = np.asarray(dataset.data, np.float64)
        if name == "wdbc":
            return (X - X.mean(axis=0)) / X.std(axis=0), dataset.labels
        rows = np.sort(rng.choice(len(X), ROWS[name], replace=False))
        return X[rows], dataset.labels[rows]
    dataset = dreval.simulate(name, random_state=0, **({"n": ROWS[name]} if name in ROWS else {}))
    return dataset.data, dataset.latent if dataset.labels is None else dataset.labels


def indicators(labels: Any) -> Any:
    """Return a column of 0 and 1 for each class."""
    import numpy as np

    return (labels[:, None] == np.unique(labels)).astype(np.float64)


@cache
def tools(method: str) -> dict[str, Callable[[Any, Any], Any]]:
    """Return functions of points and response by tool, with ours first."""
    import numpy as np

    import dreval

    card = dreval.card(method, kind="method")
    ours = getattr(dreval.methods, card.class_name)

    def peer(make: Callable[[], Any]) -> Callable[[Any, Any], Any]:
        if not card.supervised:
            return lambda X, _: make().fit_transform(X)
        return lambda X, y: make().fit(X, indicators(y) if np.ndim(y) == 1 else y).transform(X)

    functions: dict[str, Any] = {"dreval": lambda X, y: ours(random_state=0).fit_transform(X, y)}
    return functions | {name: peer(make) for name, make in sklearn_peers().get(method, {}).items()}


def quality(X: Any, Y: Any) -> Result:
    """Return trustworthiness and R_C."""
    import numpy as np

    import dreval

    Y = np.asarray(Y, np.float64)
    return {
        "T": float(dreval.trustworthiness(X, Y, n_neighbors=15, n_jobs=1)),
        "R_C": float(dreval.procrustes_rc(X, Y, n_neighbors=15, n_jobs=1)),
    }


def worker() -> None:
    """Read one task per line, and write its result as a line; a task over the cap ends the process."""
    import resource

    import numpy as np

    warnings.simplefilter("ignore")
    warm = set()
    for line in sys.stdin:
        name, method, tool = json.loads(line)
        X, y = data(name)
        y = y[:, 0] if method in ONE_COLUMN and np.ndim(y) == 2 else y
        run = tools(method)[tool]
        if (method, tool) not in warm:
            warm.add((method, tool))
            sample = np.random.default_rng(0).choice(len(X), 100, replace=False)
            try:
                run(X[sample], y[sample])
            except Exception as reason:  # noqa: BLE001 - the run below reports it
                sys.stderr.write(f"warm-up of {method} by {tool} on {name}: {reason}\n")
        spent = resource.getrusage(resource.RUSAGE_SELF)
        used, (_, most) = spent.ru_utime + spent.ru_stime, resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + CAP + 1, most))
        start = process_time()
        try:
            Y = run(X, y)
            result = {"seconds": process_time() - start}
        except Exception as reason:  # noqa: BLE001 - the reason is the result
            result = {"reason": f"{type(reason).__name__}: {reason}"}
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        if "seconds" in result:
            result |= quality(X, Y)
        print(json.dumps(result), flush=True)


class Worker:
    """A process for tasks, restarted after a task that ended it."""

    process: subprocess.Popen[str] | None = None

    def __call__(self, *task: str) -> Result:
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, __file__, "--worker"]
            environment = os.environ | dict.fromkeys(THREADS, "1")
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("{"):
                return dict(json.loads(line))
        self.process.wait()
        return {"reason": f"stopped after {CAP} processor seconds"}


def in_r(name: str, expression: str) -> Result:
    """Return the result of a counterpart in R."""
    import numpy as np

    X, y = data(name)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        np.savetxt(place / "X.csv", X, delimiter=",", fmt="%.17g")
        response = indicators(y)[:, :-1] if np.ndim(y) == 1 else y  # the last column depends on the others
        np.savetxt(place / "Y.csv", response, delimiter=",", fmt="%.17g")
        (place / "run.R").write_text(SCRIPT % expression)
        environment = os.environ | dict.fromkeys(THREADS, "1")
        try:
            done = subprocess.run(
                ["Rscript", "run.R"], cwd=folder, capture_output=True, text=True, env=environment, timeout=10 * CAP
            )
        except subprocess.TimeoutExpired:
            return {"reason": f"stopped after {10 * CAP} seconds"}
        if done.returncode:
            return {"reason": " ".join(done.stderr.split("Error")[-1].split())}
        Y = np.loadtxt(place / "out.csv", delimiter=",", ndmin=2)
    return quality(X, Y) | {"seconds": float(done.stdout.split("seconds")[-1])}


def results(names: Any, methods: Any, with_peers: bool, journal: Path | None) -> Iterator[tuple[str, str, str, Result]]:
    """Yield data set, method, tool and result."""
    finished: dict[tuple[str, str, str], Result] = {}
    if journal is not None and journal.exists():
        for line in journal.read_text("utf-8").splitlines():
            *key, result = json.loads(line)
            finished[tuple(key)] = result
    run = Worker()
    for name in names:
        for method in methods:
            peers = [*tools(method)][1:] if with_peers else []
            r = R_PEERS.get(method, {}) if with_peers and shutil.which("Rscript") else {}
            for tool in ("dreval", *peers, *r):
                key = (name, method, tool)
                if key not in finished:
                    finished[key] = in_r(name, r[tool]) if tool in r else run(*key)
                    sys.stderr.write(f"{key} {finished[key]}\n")
                    if journal is not None:
                        with journal.open("a", encoding="utf-8") as file:
                            file.write(json.dumps([*key, finished[key]]) + "\n")
                yield (*key, finished[key])


def pair(name: str, method: str, tool: str, ours: Result, peer: Result) -> Result:
    """Return a row: ours | the peer's | difference."""
    row: Result = {"method": method, "data": name, "peer": tool}
    for value in ("T", "R_C", "seconds"):
        own_value, peer_value = ours.get(value, float("nan")), peer.get(value, float("nan"))
        row |= {value: own_value, f"{value}, peer": peer_value, f"{value}, diff": own_value - peer_value}
    return row


def rows(names: Any = SETS, methods: Any = None, with_peers: bool = True, journal: Any = None) -> list[Result]:
    """Return all rows; then the failures with their reasons; then the rows where ours is behind."""
    import dreval

    available = []
    for name in names:
        try:
            data(name)
            available.append(name)
        except FileNotFoundError as reason:
            sys.stderr.write(f"without {name}: {reason}\n")
    by_tool = {
        (name, method, tool): result
        for name, method, tool, result in results(available, methods or dreval.list_methods(), with_peers, journal)
    }
    table, ours = [], {key[:2]: result for key, result in by_tool.items() if key[2] == "dreval"}
    for name, method in ours:
        peers = {key[2]: result for key, result in by_tool.items() if key[:2] == (name, method) and key[2] != "dreval"}
        for tool, result in (peers or {"": {}}).items():
            table.append(pair(name, method, tool, ours[name, method], result))
    table.sort(key=lambda row: row["method"])
    missing = [
        {"method": method, "data": name, "tool": tool, "reason": result["reason"]}
        for (name, method, tool), result in by_tool.items()
        if "reason" in result
    ]
    behind = [row for row in table if row["T, diff"] < -BEHIND or row["R_C, diff"] > BEHIND]
    cases = {
        "defaults: trustworthiness (T), R_C (lower is better), processor seconds; one thread": table,
        "no result": missing,
        f"ours behind by more than {BEHIND}": behind,
    }
    return [{"case": case, **row} for case, lines in cases.items() for row in lines or [{"": "none"}]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=SETS)
    parser.add_argument("--methods", type=lambda text: text.split(","))
    parser.add_argument("--peers", choices=("all", "none"), default="all")
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        worker()
        raise SystemExit
    from run import show

    show(rows(options.names, options.methods, options.peers == "all", options.journal))
