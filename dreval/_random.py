"""Seeds: every random number is drawn from a named stream, so that other draws and workers do not change it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_random_state

__all__ = ["Permutation", "root_seed", "stream", "stream_seed"]


def root_seed(random_state: int | np.random.Generator | None) -> int:
    """A non-negative integer that stands for ``random_state``.

    An integer is returned unchanged; a Generator yields one draw; None draws fresh entropy. The number is stored with
    a result, so that a run without a seed can be reproduced.
    """
    checked = check_random_state(random_state)
    if isinstance(checked, np.random.Generator):
        return int(checked.integers(2**31))
    if checked is None:
        return int(np.random.SeedSequence().generate_state(1)[0] >> 1)
    return checked


def _sequence(root: int, names: tuple[object, ...]) -> np.random.SeedSequence:
    digest = hashlib.sha256("\x1f".join(map(str, names)).encode()).digest()
    words = np.frombuffer(digest, dtype=np.uint32)
    return np.random.SeedSequence([root, *(int(w) for w in words[:4])])


def stream(root: int, *names: object) -> np.random.Generator:
    """The generator of the stream called ``names`` (embedding, measure, resample number, ...) under one root seed."""
    return np.random.Generator(np.random.PCG64(_sequence(root, names)))


def stream_seed(root: int, *names: object) -> int:
    """A 31-bit integer seed of the named stream, for estimators and callables that take an integer."""
    return int(_sequence(root, names).generate_state(1, np.uint32)[0] >> 1)


ROUNDS = 6  # of a Feistel network; four already pass for a random permutation (Luby and Rackoff 1988)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # multipliers of splitmix64


class Permutation:
    """A random permutation of the places 0, ..., n - 1 that is not held: any part of it is computed when asked for.

    A Feistel network permutes the numbers below a power of four; one that falls beyond n - 1 is permuted again.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n, self._half = n, max(1, -(-(n - 1).bit_length() // 2))
        self._keys = rng.integers(2**64, size=ROUNDS, dtype=np.uint64)

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return self._walked(places, self._keys, forward=True)

    def inverse(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The places whose images are given."""
        return self._walked(places, self._keys[::-1], forward=False)

    def _walked(self, places: Any, keys: Any, *, forward: bool) -> npt.NDArray[np.int64]:
        """Places permuted until they lie below n again."""
        found = np.asarray(places).astype(np.uint64)
        beyond = np.ones(found.shape, np.bool_)
        while beyond.any():
            found[beyond] = self._network(found[beyond], keys, forward)
            beyond = found >= self.n
        return found.astype(np.int64)

    def _network(self, places: Any, keys: Any, forward: bool) -> Any:
        """All rounds: one half is changed by the other, and they change sides; backwards in the other order."""
        half, mask = np.uint64(self._half), np.uint64((1 << self._half) - 1)
        left, right = (places >> half, places & mask) if forward else (places & mask, places >> half)
        for key in keys:
            mixed = right ^ key
            mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[0]
            mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
            left, right = right, left ^ ((mixed ^ (mixed >> np.uint64(31))) & mask)
        return (left << half) | right if forward else (right << half) | left
