"""Processes that are killed while they write, and full disks: the state of the files afterwards, as a table.

.venv/bin/python tests/kills.py [KILLS]     kill -9 at so many random moments of each kind of writing (100); as root
                                            also on a small disk that is full
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

import dreval  # noqa: E402
from dreval.errors import DrevalError  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5))
OTHER_DATA = RNG.normal(size=(150, 5))
TOOLS = {f"isomap {k}": dreval.methods.Isomap(n_neighbors=k) for k in (8, 9, 10, 11, 12, 13)}


def _results(data: np.ndarray) -> dreval.Results:
    embeddings = {"first": data[:, :2], "second": data[:, 1:3]}
    return dreval.Evaluation(data, embeddings, n_neighbors=5, random_state=0).run(["trustworthiness"], None)


def _numbers(results: dreval.Results) -> str:
    return results.table.drop(columns="seconds").to_json(double_precision=15)


OLD, NEW = _results(X), _results(OTHER_DATA)


class Saved:
    """A result that overwrites another one."""

    name = "result"

    def begin(self, folder: Path) -> None:
        """Prepare the folder."""
        OLD.save(folder / "r.dreval")

    def write(self, folder: Path) -> None:
        """Run the operation that is killed."""
        NEW.save(folder / "r.dreval")

    def state(self, folder: Path) -> str:
        """Return whether the old or the new file is left, complete; anything else is an error."""
        result = _numbers(dreval.load_results(folder / "r.dreval"))
        return {_numbers(OLD): "old", _numbers(NEW): "new"}[result]


class Reported:
    """A report that overwrites another one."""

    name = "report"

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as place:
            for results, word in ((OLD, "old"), (NEW, "new")):
                results.report(Path(place, word + ".html"))
            self.whole = {Path(place, word + ".html").read_bytes(): word for word in ("old", "new")}

    def begin(self, folder: Path) -> None:
        """Prepare the folder."""
        OLD.report(folder / "r.html")

    def write(self, folder: Path) -> None:
        """Run the operation that is killed."""
        NEW.report(folder / "r.html")

    def state(self, folder: Path) -> str:
        """Return which of the two files remains, byte for byte."""
        return self.whole[(folder / "r.html").read_bytes()]


class Stored:
    """A run with a journal."""

    name = "run with journal="

    def __init__(self) -> None:
        self.plain = _numbers(self._run(None))

    def _run(self, store: Path | None) -> dreval.Results:
        return dreval.Evaluation(X, TOOLS, n_neighbors=5, random_state=0).run(["trustworthiness"], None, journal=store)

    def begin(self, folder: Path) -> None:
        """Prepare an empty folder."""

    def write(self, folder: Path) -> None:
        """Run the operation that is killed."""
        self._run(folder / "s.journal")

    def state(self, folder: Path) -> str:
        """Continue the run, which must have the numbers of an uninterrupted run."""
        before = (folder / "s.journal").exists()
        if _numbers(self._run(folder / "s.journal")) != self.plain:
            raise ValueError("the resumed run has other numbers")
        return "resumed" if before else "not begun"


class Exported:
    """A protocol's folder of two rounds."""

    name = "protocol export"

    def __init__(self) -> None:
        self.protocol = dreval.Protocol(X[:40], n_transformations=5, n_replicates=2, random_state=0)
        with tempfile.TemporaryDirectory() as place:
            self.write(Path(place))
            self.plain = self._files(Path(place))

    @staticmethod
    def _files(folder: Path) -> dict[str, bytes]:
        files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".part")
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    def begin(self, folder: Path) -> None:
        """Prepare an empty folder."""

    def write(self, folder: Path) -> None:
        """Run the operation that is killed."""
        self.protocol.export(folder / "tool", embedding=X[:40, :2])

    def state(self, folder: Path) -> str:
        """Complete the export, which must have the files of an uninterrupted export."""
        before = len(self._files(folder))
        self.write(folder)
        files = self._files(folder)
        if files != self.plain:
            names = sorted(name for name in files | self.plain if files.get(name) != self.plain.get(name))
            raise ValueError(f"the completed folder has other files: {names}")
        return "resumed" if before else "not begun"


def killed(case: Any, folder: Path, delay: float) -> None:
    """Write in a child and kill it."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        case.write(folder)
        time.sleep(60)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@contextmanager
def small_disk(size: int) -> Iterator[Path]:
    """Mount a file system of this many KiB; only root can."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", place], check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", place], check=True)


def full(case: Any, limit: int) -> tuple[str, str]:
    """Write on a disk with this many free bytes; return the error and the state of the files."""
    with small_disk(4096) as folder:
        case.begin(folder)
        (folder / "ballast").write_bytes(bytes(max(shutil.disk_usage(folder).free - limit, 0)))
        try:
            case.write(folder)
            text = "written"
        except (OSError, DrevalError) as error:
            text = f"{type(error).__name__}: {error}".replace(str(folder), "")
        remaining = sorted(path.name for path in folder.rglob("*.part"))
        if remaining:
            raise ValueError(f"left behind: {remaining}")
        (folder / "ballast").unlink()
        return text, case.state(folder)


def main(kills: int) -> None:
    """Print the tables."""
    cases = [Saved(), Reported(), Stored(), Exported()]
    draws = np.random.default_rng(1)
    print(f"{'kill -9 while writing':<22} {'kills':>6}  {'.part files':>11}  left")
    for case in cases:
        counts: dict[str, int] = {}
        parts = 0
        with tempfile.TemporaryDirectory() as place:
            case.begin(Path(place))
            start = time.perf_counter()
            case.write(Path(place))
            takes = time.perf_counter() - start
        for _ in range(kills):
            with tempfile.TemporaryDirectory() as place:
                case.begin(Path(place))
                killed(case, Path(place), draws.uniform(0, 1.2 * takes))
                parts += len(list(Path(place).rglob("*.part")))
                left = case.state(Path(place))
            counts[left] = counts.get(left, 0) + 1
        result = ", ".join(f"{word} {n}" for word, n in sorted(counts.items()))
        print(f"{case.name:<22} {kills:>6}  {parts:>11}  {result}", flush=True)
    if os.geteuid() == 0:
        print(f"\n{'disk full':<22} {'bytes':>7}  left       error")
        for case in cases:
            for limit in (0, 4096, 40960):
                text, left = full(case, limit)
                print(f"{case.name:<22} {limit:>7}  {left:<9}  {text}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
