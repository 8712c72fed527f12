"""Hypothesis strategies of all property tests: data and embeddings as they occur in practice.

A new kind of input joins ``KINDS`` (or ``IMAGES``) here and thereby meets every property that is tested anywhere.

``clouds``            (n, p) data: ties, duplicates, collinear, constant columns, separate clusters, outliers, any scale
``tie_free_clouds``   (n, p) data in which all distances from a point differ clearly, so that ranks have one meaning
``pairs``             (X, Y): a cloud and an embedding of it in 1 to 3 dimensions
``tie_free_pairs``    (X, Y), both tie free
``neighbor_counts``   a number of neighbors that is legal for n points

Arrays are float64, C-ordered, finite, and not written to later by the strategy; no cloud is constant as a whole, since
constant data raise an error. Random numbers come from a drawn seed: a failing case is printed and replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import assume
from hypothesis import strategies as st

Array = npt.NDArray[np.float64]
Rng = np.random.Generator

EXPONENTS = (0, -8, -3, 3, 8)


def _normal(rng: Rng, n: int, p: int) -> Array:
    """Draw a Gaussian cloud, without structure."""
    return rng.normal(size=(n, p))


def _grid(rng: Rng, n: int, p: int) -> Array:
    """Draw small integers: many equal distances, and some equal points."""
    return rng.integers(0, 4, size=(n, p)).astype(float)


def _duplicates(rng: Rng, n: int, p: int) -> Array:
    """Draw points that occur about twice, in random order."""
    distinct = rng.normal(size=(max(2, n // 2), p))
    return distinct[rng.integers(0, len(distinct), size=n)]


def _collinear(rng: Rng, n: int, p: int) -> Array:
    """Draw points on one line in p dimensions: rank one."""
    return np.outer(rng.normal(size=n), rng.normal(size=p)) + rng.normal(size=p)


def _almost_collinear(rng: Rng, n: int, p: int) -> Array:
    """Draw a line with noise of a billionth of its length, which squares lose."""
    return _collinear(rng, n, p) + 1e-9 * rng.normal(size=(n, p))


def _constant_columns(rng: Rng, n: int, p: int) -> Array:
    """Draw data in which all columns but one are constant, and not zero."""
    X = np.tile(rng.normal(size=p), (n, 1))
    X[:, rng.integers(p)] = rng.normal(size=n)
    return X


def _clusters(rng: Rng, n: int, p: int) -> Array:
    """Draw two or three tight, distant clusters: the neighbor graph is not connected."""
    centers = 1e3 * np.arange(3)[:, None] * np.ones(p)
    return centers[rng.integers(0, 3, size=n)] + rng.normal(size=(n, p))


def _outlier(rng: Rng, n: int, p: int) -> Array:
    """Draw a Gaussian cloud and one point a million standard deviations away."""
    X = rng.normal(size=(n, p))
    X[rng.integers(n)] += 1e6
    return X


def _far_from_origin(rng: Rng, n: int, p: int) -> Array:
    """Draw a cloud a million standard deviations from the origin: products of raw coordinates cancel."""
    return rng.normal(size=(n, p)) + 1e6


def _curve(rng: Rng, n: int, p: int) -> Array:
    """Draw a smooth curve in p dimensions: one latent variable."""
    t = np.sort(rng.uniform(0, 2 * np.pi, size=n))
    return np.column_stack([np.sin((j + 1) * t + j) for j in range(p)])


KINDS: dict[str, Callable[[Rng, int, int], Array]] = {
    "normal": _normal,
    "grid": _grid,
    "duplicates": _duplicates,
    "collinear": _collinear,
    "almost_collinear": _almost_collinear,
    "constant_columns": _constant_columns,
    "clusters": _clusters,
    "outlier": _outlier,
    "far_from_origin": _far_from_origin,
    "curve": _curve,
}


def _independent(rng: Rng, X: Array, d: int) -> Array:
    """Draw an embedding that is independent of the data."""
    return rng.normal(size=(len(X), d))


def _linear_image(rng: Rng, X: Array, d: int) -> Array:
    """Return a random linear map of the data, without noise."""
    return _standardized(X) @ rng.normal(size=(X.shape[1], d))


def _noisy_image(rng: Rng, X: Array, d: int) -> Array:
    """Return a random linear map of the data with noise of a tenth of a standard deviation."""
    return _linear_image(rng, X, d) + 0.1 * rng.normal(size=(len(X), d))


def _first_columns(rng: Rng, X: Array, d: int) -> Array:
    """Return the first columns of the data, padded with zeros: equal distances stay equal."""
    return np.pad(X, ((0, 0), (0, d)))[:, :d]


def _grid_image(rng: Rng, X: Array, d: int) -> Array:
    """Return coordinates rounded to a coarse grid: ties and duplicates in the embedding."""
    return np.round(2 * _linear_image(rng, X, d))


def _constant_image(rng: Rng, X: Array, d: int) -> Array:
    """Return equal points: the collapse of a failed method."""
    return np.tile(rng.normal(size=d), (len(X), 1))


IMAGES: dict[str, Callable[[Rng, Array, int], Array]] = {
    "independent": _independent,
    "linear": _linear_image,
    "noisy": _noisy_image,
    "first_columns": _first_columns,
    "grid": _grid_image,
    "constant": _constant_image,
}


def _standardized(X: Array) -> Array:
    """Return centered columns divided by the largest absolute entry."""
    centered = X - X.mean(axis=0)
    return centered / (np.abs(centered).max() or 1.0)


def _exponents(scales: bool) -> st.SearchStrategy[int]:
    return st.sampled_from(EXPONENTS if scales else (0,))


_SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def clouds(
    draw: st.DrawFn,
    min_n: int = 4,
    max_n: int = 40,
    min_p: int = 1,
    max_p: int = 5,
    kinds: Collection[str] = tuple(KINDS),
    scales: bool = True,
) -> Array:
    """Draw a cloud (n, p) of one of ``kinds``; with ``scales`` multiplied by a power of ten from 1e-8 to 1e8."""
    n, p = draw(st.integers(min_n, max_n), label="n"), draw(st.integers(min_p, max_p), label="p")
    kind, seed = draw(st.sampled_from(sorted(kinds)), label="kind"), draw(_SEEDS, label="seed")
    X = KINDS[kind](np.random.default_rng(seed), n, p)
    if (X == X[0]).all():
        X[0] += 1.0
    return np.ascontiguousarray(X * 10.0 ** draw(_exponents(scales), label="exponent"))


@st.composite
def pairs(
    draw: st.DrawFn,
    min_n: int = 4,
    max_n: int = 40,
    min_p: int = 1,
    max_p: int = 5,
    max_d: int = 3,
    kinds: Collection[str] = tuple(KINDS),
    images: Collection[str] = tuple(IMAGES),
    scales: bool = True,
) -> tuple[Array, Array]:
    """Draw a cloud X (n, p) and an embedding Y (n, d), 1 <= d <= ``max_d``, of one of ``images``; d may exceed p."""
    X = draw(clouds(min_n, max_n, min_p, max_p, kinds, scales))
    d, seed = draw(st.integers(1, max_d), label="d"), draw(_SEEDS, label="seed of Y")
    image = draw(st.sampled_from(sorted(images)), label="image")
    Y = IMAGES[image](np.random.default_rng(seed), X, d)
    return X, np.ascontiguousarray(Y * 10.0 ** draw(_exponents(scales), label="exponent of Y"))


@st.composite
def tie_free_clouds(draw: st.DrawFn, min_n: int = 4, max_n: int = 40, min_p: int = 1, max_p: int = 5) -> Array:
    """Draw a Gaussian cloud (n, p) whose distances from each point differ by more than a billionth of their size."""
    X = draw(clouds(min_n, max_n, min_p, max_p, kinds=("normal",)))
    assume(is_tie_free(X))
    return X


@st.composite
def tie_free_pairs(
    draw: st.DrawFn, min_n: int = 4, max_n: int = 40, min_p: int = 1, max_p: int = 5, max_d: int = 3
) -> tuple[Array, Array]:
    """Draw a cloud and an embedding without ties, unrelated or a noisy image."""
    X, Y = draw(pairs(min_n, max_n, min_p, max_p, max_d, kinds=("normal",), images=("independent", "noisy")))
    assume(is_tie_free(X) and is_tie_free(Y))
    return X, Y


def is_tie_free(X: npt.NDArray[Any]) -> bool:
    """Return whether all distances from each point differ by more than a billionth of their size."""
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))
    D.sort(axis=1)
    return bool((np.diff(D[:, 1:], axis=1) > 1e-9 * D[:, 2:]).all() and (D[:, 1] > 0).all())


def neighbor_counts(n: int, below: float = 1.0) -> st.SearchStrategy[int]:
    """Draw k with 1 <= k < ``below`` x n and k < n; ``below=0.5`` for measures that need k < n/2."""
    return st.integers(1, max(1, min(n - 1, int(np.ceil(below * n)) - 1)))
