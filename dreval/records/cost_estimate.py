"""The record of what a run is estimated to cost."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dreval.glossary import printable
from dreval.records._verbs import Record
from dreval.records.read_only import read_only

TEXTS = ("step", "embedding", "measure", "parameters", "test", "variable")  # the columns that say what a row is of


@read_only
@dataclass(frozen=True, eq=False)
class CostEstimate(Record):
    """Estimated time and memory of ``Evaluation.run``, from a probe of 200 points.

    The times are those of a machine with its cores to itself, with all code loaded and compiled; expect them to be
    right within a factor of two where measures and tests are those computed by default, and rougher ones for others.

    Attributes
    ----------
    table : DataFrame
        One row for each step: ``step``, ``embedding``, ``measure``, ``parameters``, ``test``, ``variable`` (empty where
        a step is not of one), ``seconds`` (elapsed, with the threads of the evaluation), ``processor_seconds`` (of all
        threads), ``mebibytes`` (at most at once, in addition to data and embeddings). What several measures share is in
        the row of the first of them.
    n : int
        Number of points.
    n_threads : int
        Number of threads.
    not_included : tuple of str
        Embeddings whose method must be run first. They are not run for an estimate, and the time and memory of their
        runs is unknown; that of their measures and tests is included.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2]}, random_state=0)
    >>> cost = ev.estimate_cost(["trustworthiness", "procrustes_rc"], tests=None)
    >>> cost.tidy()[["step", "embedding", "measure"]].head(4)
                      step embedding          measure
    0    checks and tables
    1  neighbors and ranks
    2                value         a  trustworthiness
    3         chance level         a  trustworthiness
    >>> 0 < cost.seconds < 60
    True
    """

    table: pd.DataFrame
    n: int
    n_threads: int
    not_included: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Elapsed seconds of all steps whose time is known."""
        return float(self.table["seconds"].sum())

    @property
    def processor_seconds(self) -> float:
        """Seconds of all threads together."""
        return float(self.table["processor_seconds"].sum())

    @property
    def mebibytes(self) -> float:
        """The most memory that is held at once, in addition to data and embeddings: that of the largest step."""
        return float(self.table["mebibytes"].max())

    def tidy(self) -> pd.DataFrame:
        """A copy of the table."""
        return self.table.copy()

    def __repr__(self) -> str:
        missing = f", without the runs of {printable(', '.join(self.not_included))}" if self.not_included else ""
        return f"CostEstimate({self.seconds:.2g} seconds, {self.mebibytes:.2g} MiB{missing})"
