"""Permutation p-values: the engine knows a callable only, which turns rows of permutations into statistics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dreval._check import check_int
from dreval._random import stream
from dreval.geometry.workers import n_threads, run_blocks

__all__ = ["PermutationNull", "clopper_pearson", "draw_permutations", "permutation_null"]

FloatArray = npt.NDArray[np.float64]
Permutations = npt.NDArray[np.uint32]

CHUNK = 32  # permutations handed to the statistic at once
RELATIVE_TIE = 1e-12  # statistics this close to the observed one count as reaching it


@dataclass(frozen=True)
class PermutationNull:
    """An observed statistic among its values under permutation.

    Attributes
    ----------
    observed : float
        The statistic of the identity permutation.
    null : ndarray (m,)
        Statistics of the permutations, in the order of their numbers.
    p_value : float
        ``(b + 1) / (m + 1)`` for sampled permutations, ``b / m`` for an enumeration (which holds the identity).
    p_interval : (float, float)
        95 % Clopper-Pearson interval for the p-value that infinitely many permutations would give; both ends are the
        p-value itself when all permutations were enumerated.
    exact : bool
        Whether all permutations were enumerated.
    """

    observed: float
    null: FloatArray
    p_value: float
    p_interval: tuple[float, float]
    exact: bool


def permutation_null(
    statistic: Callable[[Permutations], FloatArray],
    n: int,
    n_resamples: int,
    root: int,
    *names: object,
    resolution: float = 0.0,
    n_jobs: int | None = None,
) -> PermutationNull:
    """The observed statistic, its values under permutation of n rows, and the p-value (large values are extreme).

    Permutation b depends on ``root``, ``names`` and b only: a longer run begins with the same values as a shorter one,
    and ``n_jobs`` changes nothing. When n! is at most ``n_resamples``, all n! permutations are enumerated instead and
    p is the share of them, the identity among them, that reach the statistic.

    Parameters
    ----------
    statistic : callable
        Takes an (m, n) array of permutations, gives m statistics; each must depend on its own row only, to the last
        bit (a matrix product over all rows at once does not promise that). Called from several threads.
    n : int
        Number of rows permuted.
    n_resamples : int
        Number of sampled permutations, at least 1.
    root : int
        Root seed.
    *names : object
        Names of the stream under the root seed, so that two tests of one run draw differently.
    resolution : float
        Differences up to this size are rounding: the observed statistic minus ``max(1e-12 |observed|, resolution)``
        is the bound that a permuted one has to reach.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Returns
    -------
    PermutationNull

    Notes
    -----
    ``(b + 1) / (m + 1)`` makes P(p <= a) <= a under the null hypothesis for every m (Phipson & Smyth 2010). Memory:
    32 n permutation entries per thread at a time, and the m statistics.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 5.0])
    >>> found = permutation_null(lambda p: (y[p] * x).sum(axis=1), n=4, n_resamples=99, root=0)
    >>> found.exact, len(found.null), round(found.p_value, 6)     # the identity is the best of 4! = 24
    (True, 24, 0.041667)
    """
    check_int(n_resamples, "n_resamples", low=1)
    n_threads(n_jobs)  # refused here, also where no thread is started
    observed = float(statistic(np.arange(n, dtype=np.uint32)[None, :])[0])
    bound = observed - max(RELATIVE_TIE * abs(observed), resolution)
    exact = n <= 20 and math.factorial(n) <= n_resamples
    if exact:
        null = statistic(np.array(list(itertools.permutations(range(n))), dtype=np.uint32))
        p = int(np.count_nonzero(null >= bound)) / len(null)
        return PermutationNull(observed, null, p, (p, p), exact)
    null = _sampled(statistic, n, n_resamples, _key(root, names), n_jobs)
    reached = int(np.count_nonzero(null >= bound))
    p = (reached + 1) / (n_resamples + 1)
    return PermutationNull(observed, null, p, clopper_pearson(reached, n_resamples), exact)


def _sampled(
    statistic: Callable[[Permutations], FloatArray], n: int, n_resamples: int, key: np.uint64, n_jobs: int | None
) -> FloatArray:
    """Statistics of sampled permutations 0, 1, ..., n_resamples - 1."""
    from dreval.geometry._loops.permutations import draw_permutations as draw

    null = np.empty(n_resamples)

    def one(start: int) -> None:
        stop = min(start + CHUNK, n_resamples)
        null[start:stop] = statistic(draw(key, start, stop, n))

    run_blocks(one, range(0, n_resamples, CHUNK), n_jobs)
    return null


def draw_permutations(n: int, n_resamples: int, root: int, *names: object) -> Permutations:
    """The sampled permutations that ``permutation_null`` uses, as rows.

    Parameters
    ----------
    n : int
        Number of rows permuted.
    n_resamples : int
        Number of permutations.
    root : int
        Root seed.
    *names : object
        Names of the stream.

    Returns
    -------
    ndarray (n_resamples, n) of uint32

    Examples
    --------
    >>> draw_permutations(5, 3, 0).shape
    (3, 5)
    """
    from dreval.geometry._loops.permutations import draw_permutations as draw

    rows: Permutations = draw(_key(root, names), 0, n_resamples, n)
    return rows


def _key(root: int, names: tuple[object, ...]) -> np.uint64:
    """The 64-bit key of a stream of permutations."""
    return stream(root, "permutation", *names).integers(2**64, dtype=np.uint64)


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Exact binomial interval for a proportion.

    Parameters
    ----------
    successes, trials : int
        How many of how many.
    level : float
        Confidence level.

    Returns
    -------
    (float, float)
        ``Beta(alpha/2; s, t - s + 1)`` and ``Beta(1 - alpha/2; s + 1, t - s)`` quantiles; 0 for s = 0, 1 for s = t.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> low, high = clopper_pearson(5, 100)
    >>> round(low, 4), round(high, 4)
    (0.0164, 0.1128)
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - tail)) if successes < trials else 1.0
    return low, high
