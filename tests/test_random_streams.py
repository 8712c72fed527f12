"""Named streams: a draw depends only on the seed and the name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from dreval._random import Permutation, root_seed, stream, stream_seed
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
    draws = np.array([stream(0, "resample", b).random() for b in range(4000)])
    counts = np.histogram(draws, bins=10, range=(0, 1))[0]

    assert ((counts - 400) ** 2 / 400).sum() < 33.7  # chi-square with 9 degrees of freedom


def test_streams_are_stable() -> None:
    """The numbers of a stream, which are part of every stored result, are those of numpy's PCG64 with this key."""
    import hashlib

    key = np.frombuffer(hashlib.sha256(b"test\x1fumap\x1fhsic").digest()[:16], np.uint32).tolist()
    expected = np.random.Generator(np.random.PCG64(np.random.SeedSequence([7, *key])))

    assert stream(7, "test", "umap", "hsic").random(5).tolist() == expected.random(5).tolist()


@given(st.integers(0, 2**100))
def test_an_integer_is_returned_as_the_seed(seed: int) -> None:
    """Integers of any size are returned unchanged."""
    assert root_seed(seed) == seed


def test_generators_and_none_become_integers() -> None:
    """A Generator makes one draw and advances; None gives a new number each time."""
    rng = np.random.default_rng(0)

    assert root_seed(rng) == int(np.random.default_rng(0).integers(2**31))
    assert root_seed(rng) != root_seed(np.random.default_rng(0))
    assert len({root_seed(None) for _ in range(20)}) == 20
    assert all(0 <= root_seed(None) < 2**31 for _ in range(20))
    assert root_seed(np.int64(5)) == 5


@pytest.mark.parametrize("wrong", [-1, 0.5, "0", True, np.random.RandomState(0)])
def test_other_values_are_not_seeds(wrong: object) -> None:
    """A negative or fractional number, text, a truth value and a RandomState raise an error."""
    with pytest.raises(InputError, match="must be a non-negative integer"):
        root_seed(wrong)  # type: ignore[arg-type]


@given(n=st.integers(1, 3000), seed=st.integers(0, 2**32 - 1))
def test_an_unstored_permutation_is_a_permutation(n: int, seed: int) -> None:
    """Each index occurs once; the inverse restores it; any part, of any shape, is a part of the whole."""
    order = Permutation(n, np.random.default_rng(seed))
    permuted = order[np.arange(n)]

    assert permuted.dtype == np.int64
    assert_array_equal(np.sort(permuted), np.arange(n))
    assert_array_equal(order.inverse(permuted), np.arange(n))
    assert_array_equal(order[order.inverse(np.arange(n))], np.arange(n))
    positions = np.random.default_rng(0).integers(0, n, size=(3, 4))
    assert_array_equal(order[positions], permuted[positions])
    assert_array_equal(Permutation(n, np.random.default_rng(seed))[positions], permuted[positions])


@pytest.mark.parametrize("n", [2**20 - 1, 2**20, 2**20 + 1, 10**12])
def test_permutations_of_many_places(n: int) -> None:
    """The same holds next to a power of two, and for more indices than an array could store."""
    order, positions = Permutation(n, np.random.default_rng(0)), np.random.default_rng(1).integers(0, n, 5000)
    result = order[np.unique(positions)]

    assert len(np.unique(result)) == len(result)
    assert result.min() >= 0
    assert result.max() < n
    assert_array_equal(order.inverse(result), np.unique(positions))


def test_permutations_are_uniform() -> None:
    """All 24 permutations of four are equally frequent: the chi-square of 6000 is below its 99.99 % point."""
    result = np.array([Permutation(4, np.random.default_rng(seed))[np.arange(4)] for seed in range(6000)])
    _, counts = np.unique(result @ [1, 10, 100, 1000], return_counts=True)

    assert len(counts) == 24
    assert ((counts - 250) ** 2 / 250).sum() < 58.0  # chi-square with 23 degrees of freedom


@pytest.mark.parametrize("n", [37, 100])
def test_moments_of_permutations_are_those_of_random_ones(n: int) -> None:
    """Images, number of fixed points and products of two images are within 4.5 standard errors of their means."""
    size = 3000
    result = np.array([Permutation(n, np.random.default_rng(seed))[np.arange(n)] for seed in range(size)])
    spread = np.sqrt((n * n - 1) / 12)
    standard = (result - (n - 1) / 2) / spread

    assert (np.abs(standard.mean(axis=0)) < 4.5 / np.sqrt(size)).all()
    assert abs((result == np.arange(n)).sum(axis=1).mean() - 1) < 4.5 / np.sqrt(size)
    for step in (1, 2, n // 2):  # correlation of two places, -1/(n-1)
        product = standard[:, step:] * standard[:, :-step]
        assert abs(product.mean() + 1 / (n - 1)) < 4.5 / np.sqrt(product.size)
    assert abs((np.diff(result, axis=1) > 0).sum(axis=1).mean() - (n - 1) / 2) < 4.5 * np.sqrt((n + 1) / 12 / size)
