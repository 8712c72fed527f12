"""Permutation p-values: the engine knows a callable only, which turns rows of permutations into statistics."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dreval._check import check_int
from dreval._parallel import n_threads, run_blocks
from dreval._random import stream
from dreval.inference._schemes import Permutations, Scheme

__all__ = ["PermutationNull", "clopper_pearson", "draw_permutations", "permutation_null"]

FloatArray = npt.NDArray[np.float64]

CHUNK = 32  # permutations handed to the statistic at once
WAVE = 8 * CHUNK  # permutations between two looks at whether enough have reached the statistic
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
        ``(b + 1) / (m + 1)`` for sampled permutations, b of which reach the statistic; ``b / m`` for an enumeration
        (which holds the identity) and where sampling stopped at the b-th that reached it.
    p_interval : (float, float)
        95 % Clopper-Pearson interval for the p-value that infinitely many permutations would give (of the negative
        binomial law where sampling stopped); both ends are the p-value itself when all permutations were enumerated.
    p_kind : str
        "permutation"; "exact" where all permutations were enumerated; "asymptotic" or "approximate" where a law stands
        for them.
    stopped : bool
        Whether sampling stopped before ``n_resamples``.
    """

    observed: float
    null: FloatArray
    p_value: float
    p_interval: tuple[float, float]
    p_kind: str = "permutation"
    stopped: bool = False

    @property
    def exact(self) -> bool:
        """Whether all permutations were enumerated."""
        return self.p_kind == "exact"


def permutation_null(
    statistic: Callable[[Permutations], FloatArray],
    n: int,
    n_resamples: int,
    root: int,
    *names: object,
    resolution: float = 0.0,
    n_jobs: int | None = None,
    scheme: Scheme | None = None,
    factors: int = 1,
    stop_after: int | None = None,
) -> PermutationNull:
    """The observed statistic, its values under permutation of n rows, and the p-value (large values are extreme).

    Permutation b depends on ``root``, ``names`` and b only: a longer run begins with the same values as a shorter one,
    and ``n_jobs`` changes nothing. When there are at most ``n_resamples`` different permutations, all of them are
    enumerated instead and p is the share of them, the identity among them, that reach the statistic.

    Parameters
    ----------
    statistic : callable
        Takes an (m, n) array of permutations, gives m statistics; each must depend on its own row only, to the last
        bit (a matrix product over all rows at once does not promise that). Called from several threads.
    n : int
        Number of rows permuted.
    n_resamples : int
        Number of sampled permutations, at least 1; the largest number where ``stop_after`` is given.
    root : int
        Root seed.
    *names : object
        Names of the stream under the root seed, so that two tests of one run draw differently.
    resolution : float
        Differences up to this size are rounding: the observed statistic minus ``max(1e-12 |observed|, resolution)``
        is the bound that a permuted one has to reach.
    n_jobs : int, optional
        Number of threads; all cores by default.
    scheme : Scheme, optional
        Which permutations may occur; all by default.
    factors : int
        Number of variables that are permuted, each by a permutation of its own; with more than one the statistic
        takes an (m, factors, n) array.
    stop_after : int, optional
        Sequential sampling of Besag & Clifford: stop as soon as this many permuted statistics have reached the
        observed one.

    Returns
    -------
    PermutationNull

    Notes
    -----
    ``(b + 1) / (m + 1)`` makes P(p <= a) <= a under the null hypothesis for every m (Phipson & Smyth 2010), and so
    does ``b / m`` where sampling stops at the b-th success (Besag & Clifford 1991). Memory: 32 n permutation entries
    per thread at a time, and the m statistics.

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
    limit = n_resamples if stop_after is None else check_int(stop_after, "stop_after", low=1)
    scheme = scheme or Scheme("free", n)
    identity = np.tile(np.arange(n, dtype=np.uint32), (1, factors, 1))
    observed = float(statistic(identity if factors > 1 else identity[:, 0])[0])
    bound = observed - max(RELATIVE_TIE * abs(observed), resolution)
    if scheme.count() ** factors <= n_resamples:
        null = statistic(_every(scheme, factors))
        p = int(np.count_nonzero(null >= bound)) / len(null)
        return PermutationNull(observed, null, p, (p, p), "exact")
    draw = _drawer(scheme, root, names, factors)
    if stop_after is not None:
        return _sequential(statistic, draw, n_resamples, limit, observed, bound, n_jobs)
    null = np.empty(n_resamples)
    _fill(null, 0, statistic, draw, n_jobs)
    reached = int(np.count_nonzero(null >= bound))
    p = (reached + 1) / (n_resamples + 1)
    return PermutationNull(observed, null, p, clopper_pearson(reached, n_resamples))


def _every(scheme: Scheme, factors: int) -> Permutations:
    """All permutations; of several factors all combinations."""
    rows = scheme.every()
    return rows if factors == 1 else np.array(list(itertools.product(rows, repeat=factors)))


def _drawer(scheme: Scheme, root: int, names: tuple[object, ...], factors: int) -> Callable[[int, int], Permutations]:
    """A function that gives permutations by their numbers; each factor has a stream of its own."""
    keys = [_key(root, names if factor == 0 else (*names, f"factor {factor}")) for factor in range(factors)]
    if factors == 1:
        return lambda start, stop: scheme.draw(keys[0], start, stop)
    return lambda start, stop: np.stack([scheme.draw(key, start, stop) for key in keys], axis=1)


def _fill(
    null: FloatArray,
    begin: int,
    statistic: Callable[[Permutations], FloatArray],
    draw: Callable[[int, int], Permutations],
    n_jobs: int | None,
) -> None:
    """Statistics of sampled permutations begin, begin + 1, ..., len(null) - 1."""

    def one(start: int) -> None:
        stop = min(start + CHUNK, len(null))
        null[start:stop] = statistic(draw(start, stop))

    run_blocks(one, range(begin, len(null), CHUNK), n_jobs)


def _sequential(
    statistic: Callable[[Permutations], FloatArray],
    draw: Callable[[int, int], Permutations],
    most: int,
    wanted: int,
    observed: float,
    bound: float,
    n_jobs: int | None,
) -> PermutationNull:
    """Sampling that ends with the permutation at which ``wanted`` of them have reached the statistic."""
    null = np.empty(most)
    done, reached = 0, 0
    while done < most:
        stop = min(done + WAVE, most)
        _fill(null[:stop], done, statistic, draw, n_jobs)
        hits = np.flatnonzero(null[done:stop] >= bound)
        if reached + len(hits) >= wanted:
            m = done + int(hits[wanted - reached - 1]) + 1
            interval = (clopper_pearson(wanted, m)[0], clopper_pearson(wanted - 1, m - 1)[1] if m > 1 else 1.0)
            return PermutationNull(observed, null[:m].copy(), wanted / m, interval, stopped=True)
        done, reached = stop, reached + len(hits)
    return PermutationNull(observed, null, (reached + 1) / (most + 1), clopper_pearson(reached, most))


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
