"""The work of a study: claim a cell, compute it, write it, until no cell is left that nobody else is at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from dreval.errors import MethodFailed
from dreval.journal.claims import Claims
from dreval.journal.study_file import Cell, StudyFile
from dreval.study.cells import Job, answer_cell

__all__ = ["Round"]


@dataclass
class Round:
    """One call of ``run``.

    Attributes
    ----------
    file : StudyFile
        The open file.
    claims : Claims
        Those of this process.
    cells : list of Cell
        The cells in the order in which they are begun.
    job : callable
        Makes the job of a cell.
    over : dict of str to str
        Answers, as written, that may be computed again.
    limit : int or None
        How many cells to compute at most.
    n_jobs : int or None
        How many at once.
    """

    file: StudyFile
    claims: Claims
    cells: Sequence[Cell]
    job: Callable[[Cell], Job]
    over: Mapping[str, str]
    limit: int | None
    n_jobs: int | None
    begun: int = 0
    at_work: dict[Cell, None] = field(default_factory=dict)

    def work(self, bar: Any) -> None:
        """Pass over the cells until a pass finds none: one that another process gave up may be found by the next."""
        bar.reset(total=len(self.cells))
        bar.update(len(self.cells) - len(self._left()))
        while self._pass(bar):
            continue

    def _left(self) -> list[Cell]:
        """The cells without an answer, or with one that may be computed again."""
        known = self.file.texts()
        return [cell for cell in self.cells if known.get(cell.name) == self.over.get(cell.name)]

    def _pass(self, bar: Any) -> bool:
        """Compute what can be claimed; whether there was anything."""
        from joblib import Parallel, delayed

        before = self.begun
        calls = (delayed(answer_cell)(job) for job in self._claimed(bar))
        # one cell at a time: what is claimed is at work, and what is done is written at once
        workers = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        try:
            for cell, value, array in workers(calls):
                self.claims.finish(cell.name, value, array)
                self.at_work.pop(cell, None)
                bar.update(1)
        except BrokenProcessPool as error:
            raise self._ended() from error
        return self.begun > before

    def _ended(self) -> MethodFailed:
        """What is said of a method that took its process with it, as compiled code may."""
        places = ", ".join(f"{cell.method!r} on {cell.dataset!r}" for cell in self.at_work)
        cure = "What is done is kept; run() in one process ends at the method that does this, which may be left out."
        return MethodFailed("methods", "must leave their process alive", f"one that ended, at work on {places}", cure)

    def _claimed(self, bar: Any) -> Iterator[Job]:
        """Jobs of cells that were just claimed, as workers ask for them."""
        for cell in self._left():
            if self.limit is not None and self.begun >= self.limit:
                return
            if self.claims.claim(cell.name, self.over.get(cell.name)):
                self.begun += 1
                self.at_work[cell] = None
                bar.set_description(f"{cell.method} on {cell.dataset}, {cell.replicate}")
                yield self.job(cell)
