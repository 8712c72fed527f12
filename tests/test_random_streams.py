"""Named streams: a draw depends on the seed and its own name, on nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreval._random import root_seed, stream, stream_seed
from dreval.errors import InputError

ROOTS = st.integers(0, 2**70)
NAMES = st.lists(st.text(max_size=8) | st.integers(0, 99), min_size=1, max_size=3).map(tuple)


@given(ROOTS, NAMES)
def test_a_stream_is_its_name(root: int, names: tuple[object, ...]) -> None:
    """The same seed and name give the same draws; seeds for other tools fit into 31 bits."""
    assert (stream(root, *names).integers(2**62, size=3) == stream(root, *names).integers(2**62, size=3)).all()
    assert 0 <= stream_seed(root, *names) == stream_seed(root, *names) < 2**31


@given(ROOTS, st.lists(NAMES, min_size=2, max_size=6, unique_by=lambda names: "\x1f".join(map(str, names))))
def test_other_names_are_other_streams(root: int, names: list[tuple[object, ...]]) -> None:
    """Different names, and different seeds, give different draws."""
    draws = {int(stream(root, *name).integers(2**62)) for name in names}

    assert len(draws) == len(names)
    assert int(stream(root + 1, *names[0]).integers(2**62)) not in draws


def test_streams_are_uniform_over_names() -> None:
    """First draws of 4000 streams are uniform: the chi-square of ten cells is below its 99.99 % point."""
    first = np.array([stream(0, "resample", b).random() for b in range(4000)])
    counts = np.histogram(first, bins=10, range=(0, 1))[0]

    assert ((counts - 400) ** 2 / 400).sum() < 33.7  # chi-square with 9 degrees of freedom


def test_streams_stay_what_they_were() -> None:
    """The numbers of a stream are part of every stored result: they are those of numpy's PCG64 under this key."""
    import hashlib

    words = np.frombuffer(hashlib.sha256(b"test\x1fumap\x1fhsic").digest()[:16], np.uint32).tolist()
    expected = np.random.Generator(np.random.PCG64(np.random.SeedSequence([7, *words])))

    assert stream(7, "test", "umap", "hsic").random(5).tolist() == expected.random(5).tolist()


@given(st.integers(0, 2**100))
def test_an_integer_is_its_own_seed(seed: int) -> None:
    """Integers of any size stay as they are."""
    assert root_seed(seed) == seed


def test_generators_and_nothing_become_integers() -> None:
    """A Generator gives one draw and moves on; None gives a fresh number each time."""
    rng = np.random.default_rng(0)

    assert root_seed(rng) == int(np.random.default_rng(0).integers(2**31))
    assert root_seed(rng) != root_seed(np.random.default_rng(0))
    assert len({root_seed(None) for _ in range(20)}) == 20
    assert all(0 <= root_seed(None) < 2**31 for _ in range(20))
    assert root_seed(np.int64(5)) == 5


@pytest.mark.parametrize("wrong", [-1, 0.5, "0", True, np.random.RandomState(0)])
def test_anything_else_is_no_seed(wrong: object) -> None:
    """A negative or fractional number, a word, a truth value and the old generator are refused."""
    with pytest.raises(InputError, match="must be a non-negative integer"):
        root_seed(wrong)  # type: ignore[arg-type]
