"""Seeds and named random streams: a draw does not depend on draws from other streams or on the workers."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_random_state

__all__ = ["Permutation", "root_seed", "stream", "stream_seed"]


def root_seed(random_state: int | np.random.Generator | None) -> int:
    """Return a non-negative integer seed for ``random_state``.

    An integer is returned unchanged; a Generator makes one draw; None draws fresh entropy. The number is stored with
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
    integers = np.frombuffer(digest, dtype=np.uint32)
    return np.random.SeedSequence([root, *(int(integer) for integer in integers[:4])])


def stream(root: int, *names: object) -> np.random.Generator:
    """Return the generator of the stream ``names`` (embedding, measure, resample number, ...) of a root seed."""
    return np.random.Generator(np.random.PCG64(_sequence(root, names)))


def stream_seed(root: int, *names: object) -> int:
    """Return a 31-bit integer seed of the named stream, for estimators and callables that take an integer."""
    return int(_sequence(root, names).generate_state(1, np.uint32)[0] >> 1)


ROUNDS = 6  # of a Feistel network; four already pass for a random permutation (Luby and Rackoff 1988)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # multipliers of splitmix64


class Permutation:
    """A random permutation of 0, ..., n - 1 that is not stored: any part of it is computed on request.

    A Feistel network permutes the numbers below a power of four; a result above n - 1 is permuted until it is below n.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n, self._half = n, max(1, -(-(n - 1).bit_length() // 2))
        self._keys = rng.integers(2**64, size=ROUNDS, dtype=np.uint64)

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return self._permute(places, self._keys, forward=True)

    def inverse(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the indices whose images are ``places``."""
        return self._permute(places, self._keys[::-1], forward=False)

    def _permute(self, places: Any, keys: Any, *, forward: bool) -> npt.NDArray[np.int64]:
        """Permute indices until all are below n."""
        values = np.asarray(places).astype(np.uint64)
        pending = np.ones(values.shape, np.bool_)
        while pending.any():
            values[pending] = self._network(values[pending], keys, forward)
            pending = values >= self.n
        return values.astype(np.int64)

    def _network(self, places: Any, keys: Any, forward: bool) -> Any:
        """Apply all rounds: one half is changed by the other, and they swap; for the inverse in the opposite order."""
        half, mask = np.uint64(self._half), np.uint64((1 << self._half) - 1)
        left, right = (places >> half, places & mask) if forward else (places & mask, places >> half)
        for key in keys:
            mixed = right ^ key
            mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[0]
            mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
            left, right = right, left ^ ((mixed ^ (mixed >> np.uint64(31))) & mask)
        return (left << half) | right if forward else (right << half) | left
