"""Many runs of one method on altered data: in parallel, with a bar, each kept in the journal as soon as it is done."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._parallel import open_progress
from dreval._random import stream_seed
from dreval.errors import DrevalError
from dreval.geometry.rkhs import Transformations
from dreval.inputs.identity import digest, identity
from dreval.journal.store import Store
from dreval.measures._of_methods import Case, embed_case, embedding_disparity, is_constant, total_square

__all__ = ["Reruns", "reseed"]

FloatArray = npt.NDArray[np.float64]
Found = dict[str, Any]


def reseed(root: int, r: int) -> int:
    """Seed of the method in run r of the reseed baseline."""
    return stream_seed(root, "reseed", r)


@dataclass
class Reruns:
    """The runs of one method on one data set; what is already in the journal is read, not run.

    ``recipe`` says what the runs depend on besides data and method.
    """

    case: Case
    n_components: int
    recipe: dict[str, Any]
    store: Any = None
    n_jobs: int | None = None
    progress: bool | None = None

    def __enter__(self) -> Reruns:
        self._stack = ExitStack()
        self._db = None if self.store is None else self._stack.enter_context(Store(self.store))
        self._run = "" if self._db is None else self._db.open_run(self._key())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _key(self) -> dict[str, Any]:
        from dreval import __version__

        labels = self.case.data.labels if self.case.source.supervised else None
        return {
            **self.recipe,
            "data": digest(self.case.data.X),
            "labels": None if labels is None else digest(labels.codes),
            "source": identity(self.case.source),
            "n_components": self.n_components,
            "seed": self.case.root,
            "versions": {"dreval": __version__, "numpy": np.__version__},
        }

    def base(self) -> FloatArray:
        """The embedding of the data themselves."""
        kept = self._db.get(self._run, "base") if self._db else None
        if kept is not None and kept[1] is not None:
            return np.asarray(kept[1])
        Y = _embed(self.case, self.case.data.X, self.n_components, self.case.seed)
        if self._db:
            self._db.put(self._run, "base", array=Y)
        return Y

    def reseeds(self, base: FloatArray, count: int) -> list[Found]:
        """The same data with other seeds, against ``base``."""
        seeds = {f"reseed {r}": reseed(self.case.root, r) for r in range(count)}
        X = self.case.data.X
        return self._all("other seeds", list(seeds), lambda name: (X, seeds[name]), base)

    def again(self, base: FloatArray) -> Found:
        """The same data with the same seed once more, against ``base``: what a method draws by itself."""
        return self._all("a second run", ["again"], lambda _: (self.case.data.X, self.case.seed), base)[0]

    def transformed(self, base: FloatArray, made: Transformations, pairs: npt.NDArray[np.int64]) -> list[Found]:
        """Every transformed data set with the same seed, against ``base``."""
        places = {f"{i},{j}": (int(i), int(j)) for i, j in pairs}
        return self._all("transformations", list(places), lambda n: (made.data(*places[n]), self.case.seed), base)

    def _all(
        self, what: str, names: list[str], task: Callable[[str], tuple[FloatArray, int | None]], base: FloatArray
    ) -> list[Found]:
        """The answers in the order of their names; failures have a reason and are not kept."""
        known = self._db.cells(self._run) if self._db else {}
        found = {name: known[name][0] for name in names if name in known}
        rest = [name for name in names if name not in found]
        with open_progress(self.progress) as bar:
            bar.set_description(f"{what} of {self.case.source.name}")
            bar.reset(total=len(names))
            bar.update(len(found))
            for name, answer in self._run_all(rest, task, base):
                found[name] = answer
                if self._db and not answer["reason"]:
                    self._db.put(self._run, name, answer)
                bar.update(1)
        return [found[name] for name in names]

    def _run_all(
        self, names: list[str], task: Callable[[str], tuple[FloatArray, int | None]], base: FloatArray
    ) -> Iterator[tuple[str, Found]]:
        """Names and answers as they are done."""
        from joblib import Parallel, delayed

        arguments = (self.case, self.n_components, base)
        calls = (delayed(_answer)(name, *arguments, *task(name)) for name in names)
        yield from Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")(calls)


def _embed(case: Case, X: FloatArray, d: int, seed: int | None) -> FloatArray:
    """One run in one thread, so that no number depends on how many run at once."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return embed_case(case, X, d, seed)


def _answer(name: str, case: Case, d: int, base: FloatArray, X: FloatArray, seed: int | None) -> tuple[str, Found]:
    """Disparity u of one run against ``base``, its residual S / n, seconds; or the reason why there is none.

    ``same`` says that the embedding is ``base`` to the last bit.
    """
    began = time.perf_counter()
    try:
        Y = _embed(case, X, d, seed)
    except DrevalError as error:
        return name, {"u": math.nan, "s_per_n": math.nan, "seconds": time.perf_counter() - began, "reason": str(error)}
    u = 0.0 if is_constant(Y) and is_constant(base) else embedding_disparity(base, Y)
    found = {"u": u, "s_per_n": u * total_square(Y) / len(Y) if u else 0.0, "same": np.array_equal(base, Y)}
    return name, {**found, "seconds": time.perf_counter() - began, "reason": ""}
