"""Processor time of analyses that re-run a method, and of the same number of plain runs of the method."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

import dreval

RUNS = 20
METHOD = "tsne"


def processor_seconds(work: Callable[[], Any]) -> float:
    """Return processor seconds."""
    start = process_time()
    work()
    return process_time() - start


def rows() -> list[dict[str, Any]]:
    """Return one row per question; the first of each pair is the reference."""
    X = dreval.load_dataset("digits").data[:1000]
    halves = [np.random.default_rng(r).permutation(len(X))[: len(X) // 2] for r in range(RUNS)]

    def plain(sets: list[np.ndarray]) -> Callable[[], Any]:
        return lambda: [dreval.embed(Z, METHOD, random_state=r) for r, Z in enumerate(sets)]

    dreval.stability(X[:60], METHOD, over="halves", n_replicates=3, random_state=0)  # compiled before the clock starts
    dreval.noise_test(X[:60], METHOD, n_replicates=1, random_state=0)
    nulls = [X, *(np.random.default_rng(r).permuted(X, axis=0) for r in range(1, RUNS))]
    pairs: dict[str, tuple[str, Callable[[], Any], str, Callable[[], Any]]] = {
        "halves": (
            f"{RUNS} embeddings of halves",
            plain([X[half] for half in halves]),
            f"stability over {RUNS} halves",
            lambda: dreval.stability(X, METHOD, over="halves", n_replicates=RUNS, random_state=0, progress=False),
        ),
        "null data": (
            f"{RUNS} embeddings of data and null data",
            plain(nulls),
            f"noise_test with {RUNS - 1} null data sets",
            lambda: dreval.noise_test(X, METHOD, n_replicates=RUNS - 1, random_state=0, progress=False),
        ),
    }
    table = []
    for case, (reference, plain_work, tool, work) in pairs.items():
        base, seconds = processor_seconds(plain_work), processor_seconds(work)
        title = f"{METHOD} of 1000 digits again: {case}"
        table += [
            {"case": title, "tool": reference, "seconds": base, "ratio": 1.0},
            {"case": title, "tool": tool, "seconds": seconds, "ratio": seconds / base},
        ]
    return table


if __name__ == "__main__":
    from run import show

    show(rows())
