"""Seeds: every random number is drawn from a named stream, so that other draws and workers do not change it."""

from __future__ import annotations

import hashlib

import numpy as np

from dreval._check import check_random_state

__all__ = ["root_seed", "stream", "stream_seed"]


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
