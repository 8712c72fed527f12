"""All papers at full size: ``python tests/validation/published/run.py [--small] [--only NAME] [--into FOLDER]``.

Each script of ``PIECES`` runs in its own process, with one thread, and ``--jobs`` of them run in parallel. A journal
per piece stores the results, so that a stopped run resumes, and a finished one only prints. ``--fresh`` deletes the
journal, which identifies versions and sizes but not changes of the code. The run writes into
``vignettes/papers/_tables`` (or FOLDER): ``NAME.md`` with the tables of a piece, ``NAME.txt`` with its output, and
``summary.md``: what reproduces, to what tolerance, and what does not, and why. ``--small`` writes into a subfolder
``small``, since its numbers are not results.

The exit status is 0 if all tables were made, 3 if real data were missing and their cells are left out, 1 if a piece
failed.

These parts are smaller than in the papers, to save time: Roy's Table 2, whose measure is the largest of n p runs of a
method (ours: 200 of them, 100 of methods that search), and the mammoth (4000 of 10,000 points); Li and Wu's 50 repeats
(ours: 3 to 10), their images where they are drawn (ours: 400), Goldberg and Ritov's drawn faces (ours: 700), N up to
10,000 columns (ours: 1000 and 2000), GPLVM and VAE on real data (ours: 400 rows; VAE on COIL-20 at 32 x 32 pixels), and
t-SNE in more than 2 coordinates, which is left out. All else has the paper's number of points where it states one. The
whole took some three hours of processor time on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import pandas as pd
from tables import LEFT_OUT, as_markdown, versions_text

SCRIPTS = Path(__file__).resolve().parent
FOLDER = SCRIPTS.parents[2] / "vignettes" / "papers" / "_tables"
PIECES = {
    "trustability_tables": "Roy, Tables 1 and 2",
    "trustability_figures": "Roy, Figures 1 to 9",
    "trustability_mammoth": "Roy, Figure 10",
    "trustability_theorems": "Roy, Theorems 1, 4 and 5",
    "spanning_trees": "Roy, Theorem 6",
    "skeletons": "Roy, Figures 11 and 12",
    "trustability_shapes": "Roy, Appendix C (Figures 14 to 24)",
    "inverse_kernel_maps": "Li and Wu, Figure 1",
    "inverse_kernel_kernels": "Li and Wu, Figures 2, 5 and 6",
    "inverse_kernel_labels": "Li and Wu, Figure 3",
    "inverse_kernel_images": "Li and Wu, Figures 4 and 7 to 9",
    "local_procrustes_table": "Goldberg and Ritov, Table 2",
    "local_procrustes_figures": "Goldberg and Ritov, Figures 1 to 3, 5 and 6",
    "local_procrustes_faces": "Goldberg and Ritov, Figure 4",
    "local_procrustes_speed": "Goldberg and Ritov, Section 6",
    "reduction_mappings": "Hammer, Bunte and Biehl, Figure 1",
}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class PieceResult(NamedTuple):
    """Exit status and seconds of a piece."""

    name: str
    status: int
    seconds: float

    def __str__(self) -> str:
        """Return the line of progress of the piece."""
        text = {0: "made", LEFT_OUT: "made, but for data that are not here"}.get(self.status, "failed")
        return f"{self.name}: {text}, {self.seconds:.0f} s ({PIECES[self.name]})"


def run(name: str, folder: Path, small: bool, fresh: bool = False) -> PieceResult:
    """Run one piece in its own process, and store all its output in ``NAME.txt``."""
    journal = folder / "_store" / f"{name}.journal"
    journal.parent.mkdir(parents=True, exist_ok=True)
    if fresh:
        journal.unlink(missing_ok=True)
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), "--write", str(folder), "--store", str(journal)]
    start = perf_counter()
    with (folder / f"{name}.txt").open("w", encoding="utf-8") as printed:
        done = subprocess.run(
            command + ["--small"] * small,
            stdout=printed,
            stderr=subprocess.STDOUT,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
            check=False,
        )
    result = PieceResult(name, done.returncode, perf_counter() - start)
    print(result, flush=True)
    return result


def summary(folder: Path, results: list[PieceResult], small: bool) -> str:
    """Return the table of what reproduces, counts, seconds and versions, as Markdown."""
    frames = {
        piece.name: pd.read_csv(folder / f"{piece.name}.csv", dtype=str, keep_default_na=False)
        for piece in results
        if piece.status in (0, LEFT_OUT)
    }
    seconds = pd.Series({PIECES[name]: frame.pop("seconds").iloc[0] for name, frame in frames.items()}, dtype=object)
    rows = [frame.assign(of=PIECES[name].split(",")[0] + ", " + frame["of"]) for name, frame in frames.items()]
    parts = [f"{versions_text()}.{' Small sizes: no results.' if small else ''}\n"]
    if rows:
        table = pd.concat(rows, ignore_index=True)
        counts = pd.DataFrame(
            {PIECES[name]: frame["reproduces"].value_counts() for name, frame in frames.items()}, dtype="Int64"
        ).T.fillna(0)
        count_table = counts.assign(**{"processor seconds": seconds}).rename_axis("of")
        parts += [as_markdown(count_table), as_markdown(table)]
    for piece in results:
        if piece.status == LEFT_OUT:
            parts.append(f"{PIECES[piece.name]}: real data are not here, and their cells are left out.\n")
        elif piece.status:
            parts.append(f"{PIECES[piece.name]}: failed; see {piece.name}.txt.\n")
    return "\n".join(parts)


def main(arguments: list[str] | None = None) -> int:
    """Run the pieces in order, and write the summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small sizes, in a few minutes")
    parser.add_argument("--only", action="append", choices=PIECES, metavar="NAME", help="this piece (may be repeated)")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--into", type=Path, default=FOLDER, metavar="FOLDER", help="where tables are written")
    parser.add_argument("--jobs", type=int, default=2, metavar="J", help="pieces side by side (default 2)")
    options = parser.parse_args(arguments)
    folder = options.into.resolve() / "small" if options.small else options.into.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        results = list(pool.map(lambda name: run(name, folder, options.small, options.fresh), options.only or PIECES))
    (folder / "summary.md").write_text(summary(folder, results, options.small), "utf-8")
    print(f"{folder / 'summary.md'}: what reproduces, and what does not")
    statuses = {piece.status for piece in results}
    return 1 if statuses - {0, LEFT_OUT} else LEFT_OUT if LEFT_OUT in statuses else 0


if __name__ == "__main__":
    sys.exit(main())
