"""A source whose runs were made by a tool outside Python and recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dreval._random import stream
from dreval.errors import ProtocolError, UndefinedMeasure
from dreval.inputs.data import Data
from dreval.inputs.identity import digest, equal_maps
from dreval.inputs.source_kinds import FloatArray, Seed, Source, seed_of
from dreval.inputs.variables import HasRows
from dreval.records.notes import Notes

SKETCHES = 4
NEAR = 1e-6  # of the size of a transformation: far above rounding, far below the difference of two of them
CURE = "Use the data and the settings that were exported, or export a protocol for these."


def sketch(X: FloatArray, first: FloatArray) -> FloatArray:
    """A few numbers that identify ``X`` up to rounding: a'(X - first) b for random a and b."""
    rng = stream(0, "sketch", *X.shape)
    left, right = rng.standard_normal((SKETCHES, len(X))), rng.standard_normal((SKETCHES, X.shape[1]))
    return np.asarray(np.einsum("ln,np,lp->l", left, X - first, right, optimize=True))


@dataclass(frozen=True, eq=False)
class Run:
    """One recorded run: hash and sketch of the input, number of columns, seed, and the returned embedding.

    ``values`` is None if nothing was returned; ``file`` is the path of the output.
    """

    file: str
    digest: str
    sketch: FloatArray
    n_components: int
    seed: int
    values: FloatArray | None


@dataclass(frozen=True, eq=False)
class Recording:
    """The runs that a tool was to make, and the embeddings it returned.

    Attributes
    ----------
    data : Data
        The data.
    runs : tuple of Run
        The runs; the first is that of the data themselves.
    settings : mapping
        Parameters of measures that the runs were made for; the defaults of a measure of this source.
    root : int
        Seed of all draws.
    n_components : int
        Columns of the embedding.
    unexported : mapping
        What was got, and the cure, by name of the measures for which no run was exported yet.
    """

    data: Data
    runs: tuple[Run, ...]
    settings: Mapping[str, Any]
    root: int
    n_components: int
    unexported: Mapping[str, tuple[str, str]]

    @cached_property
    def reseed_reason(self) -> str | None:
        """Why there is no baseline of other seeds."""
        key, own = self.runs[0].digest, self.runs[0]
        other = [run for run in self.runs[1:] if run.digest == key and run.seed != own.seed]
        back = [run.values for run in other if run.values is not None]
        if not back:
            return f"none of {len(other)} runs with other seeds has been returned" if other else "none was exported"
        if own.values is not None and all(equal_maps(values, own.values) for values in back):
            return "the tool gives the same embedding for every seed"
        return None

    def settings_of(self, asker: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that the runs were made with, by the names of the arguments of a measure or of the noise test.

        Of stability there are those of the replicates that are ``given`` as ``over``, where these were made.
        """
        own = ("noise", "null", "seeds", "halves")
        made = {name: value for name, value in self.settings.items() if name not in own}
        if asker == "noise":
            return {**made, "n_replicates": self.settings["noise"], "null": self.settings["null"], "n_seeds": 1}
        if asker == "stability":
            wanted = given.get("over")
            seeds = self.settings["seeds"] and not (self.reseed_reason and self.settings["halves"])
            over = wanted if wanted in ("seeds", "halves") else "seeds" if seeds else "halves"
            return {**made, "over": over, "n_replicates": self.settings[over]}
        return made

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all tasks and returned embeddings."""
        parts = [
            (run.digest, run.n_components, run.seed, "" if run.values is None else digest(run.values))
            for run in self.runs
        ]
        return hashlib.sha256(repr((sorted(self.settings.items()), self.root, parts)).encode()).hexdigest()

    def other_data(self, argument: str) -> UndefinedMeasure:
        """The refusal of data that were not exported."""
        rule, got = "must have been run on these data", "data that were not exported"
        return UndefinedMeasure(argument, rule, got, CURE)

    def of_input(self, X: FloatArray) -> list[Run]:
        """The runs on these data: the same to the last bit, else the same up to rounding."""
        key = digest(X)
        same = [run for run in self.runs if run.digest == key]
        if same or X.shape != self.data.X.shape:
            return same
        own = sketch(X, self.data.X)
        runs = [run for run in self.runs if run.sketch.shape == own.shape]  # runs on some of the points have none
        gaps = np.array([np.abs(run.sketch - own).max() for run in runs])
        near = gaps.min(initial=np.inf)
        changed = float(np.linalg.norm(X - self.data.X))
        return [run for run, gap in zip(runs, gaps, strict=True) if gap == near <= NEAR * changed]


@dataclass(frozen=True, eq=False, repr=False)
class RecordedSource(Source):
    """Runs of a tool outside Python, collected by ``dreval.Protocol``."""

    recorded: Recording
    kind: ClassVar[str] = "recorded"

    def __repr__(self) -> str:
        runs, (n, p) = self.recorded.runs, self.recorded.data.X.shape
        back = sum(run.values is not None for run in runs)
        return f"RecordedSource({self.name!r}: {back} of {len(runs)} runs on {n} points, {p} columns)"

    @property
    def recording(self) -> Recording:
        """What was recorded."""
        return self.recorded

    @property
    def data(self) -> Data:
        """The data that were exported."""
        return self.recorded.data

    @property
    def what(self) -> str:
        """Name of the tool."""
        return self.name

    @property
    def n_components(self) -> int | None:
        """Columns of the embedding."""
        return self.recorded.n_components

    @property
    def reseed_reason(self) -> str | None:
        """Why there is no baseline of other seeds."""
        return self.recorded.reseed_reason

    @property
    def own_seed(self) -> int | None:
        """The seed of the recorded embedding."""
        return self.recorded.runs[0].seed

    def coordinates(self, data: Data, *, n_components: int | None = None, random_state: Seed = None) -> FloatArray:
        """The embedding of the data that were exported; a new array. The seed is that of the recording."""
        return self.embed(data.X, n_components, self.recorded.runs[0].seed)

    def noted_coordinates(self, data: Data, **settings: Any) -> tuple[FloatArray, Notes]:
        """Return the recorded embedding; rows were matched when it was collected."""
        return self.coordinates(data, **settings), ()

    def noted_embed(
        self,
        X: FloatArray,
        n_components: int | None,
        random_state: Seed = None,
        labels: Any = None,
        rows: HasRows | None = None,
    ) -> tuple[FloatArray, Notes]:
        """Return the recorded embedding of data ``X`` (n, p); a new array."""
        runs = self.recorded.of_input(np.asarray(X))
        if not runs:
            raise self.recorded.other_data(self.argument)
        d = self.n_components if n_components is None else n_components
        seed = self.recorded.runs[0].seed if random_state is None else seed_of(random_state)
        found = next((run for run in runs if (run.n_components, run.seed) == (d, seed)), None)
        if found is None:
            had = ", ".join(f"({run.n_components}, {run.seed})" for run in runs)
            rule = f"must have been run with n_components={d} and random_state={seed}"
            raise UndefinedMeasure(self.argument, rule, f"runs with {had}", CURE)
        if found.values is None:
            raise ProtocolError(found.file, "must have been returned", "no such file", "Run the tool on its input.")
        return found.values.copy(), ()
