"""Permutation p-values, and the groups of permutations from which they are drawn.

The statistic is a callable that maps rows of permutations to values. A ``Scheme`` is the group of admissible
permutations: all of them, or those that respect blocks or the order of time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, check_int, check_one_of
from dreval._check_arrays import check_classes
from dreval._parallel import n_threads, run_blocks
from dreval._random import stream
from dreval.errors import InputError

Permutations = npt.NDArray[np.uint32]
Positions = npt.NDArray[np.int64]

SCHEMES = ("free", "within", "blocks", "cyclic")
CHUNK = 32  # permutations passed to the statistic at once
WAVE = 8 * CHUNK  # permutations between two checks of the stopping rule
RELATIVE_TIE = 1e-12  # relative difference up to which a statistic counts as equal to the observed one
POOLED_TIE = 1e-9  # the same for the largest z of several statistics, absolute below 1
MIN_RELATIVE_SD = 1e-10  # in units of the largest magnitude of a statistic, below which its variation is rounding


def _no_rows() -> Positions:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Scheme:
    """A group of permutations of n rows: it counts them, enumerates them and draws uniformly.

    Attributes
    ----------
    kind : str
        ``free`` all n!; ``within`` those within blocks; ``blocks`` those of entire blocks; ``cyclic`` the n shifts.
    n : int
        Number of rows.
    members : ndarray (n,)
        Rows sorted by block.
    ends : ndarray (number of blocks,)
        End of each block in ``members``.
    group : ndarray
        Rows of the first group, if the statistic depends only on the set of rows that replaces them.
    values : ndarray (n,)
        Codes of the permuted values of a free scheme, if some are equal: arrangements of equal values are one.
    """

    kind: str
    n: int
    members: Positions = field(default_factory=_no_rows)
    ends: Positions = field(default_factory=_no_rows)
    group: Positions = field(default_factory=_no_rows)
    values: Positions = field(default_factory=_no_rows)

    def count(self) -> float:
        """Return the number of different permutations; infinite if there are too many to enumerate."""
        if self.kind == "cyclic":
            return self.n
        if len(self.group):
            return math.prod(_choose(len(part), len(members)) for part, members in self._parts())
        if self.kind == "within":
            return math.prod(_factorial(int(size)) for size in np.diff(self.ends, prepend=0))
        if len(self.values):
            return _arrangement_count(self.values)
        return _factorial(len(self.ends) if self.kind == "blocks" else self.n)

    def enumerate_all(self) -> Permutations:
        """Return all permutations as rows, the identity first."""
        if self.kind == "cyclic":
            return self._shifted(np.arange(self.n))
        if len(self.group):
            return self._splits()
        if self.kind == "within":
            parts = np.split(self.members, self.ends[:-1])
            orders = itertools.product(*(itertools.permutations(part) for part in parts))
            moved = _rows(np.concatenate(order) for order in orders)
            return self._by_member(moved)
        if self.kind == "blocks":
            return self._moved_blocks(_rows(itertools.permutations(range(len(self.ends)))))
        if len(self.values):
            return _rows(_arrangements(self.values))
        return _rows(itertools.permutations(range(self.n)))

    def draw(self, key: np.uint64, start: int, stop: int) -> Permutations:
        """Return permutations ``start`` to ``stop - 1`` of a stream; each depends only on ``key`` and its number."""
        from dreval.geometry._loops import permutations as loops

        rows: Permutations
        if self.kind == "within":
            rows = loops.draw_within(key, start, stop, self.members, self.ends)
            return rows
        if self.kind == "blocks":
            return self._moved_blocks(loops.draw_permutations(key, start, stop, len(self.ends)))
        rows = loops.draw_permutations(key, start, stop, self.n)
        return self._shifted(rows[:, 0].astype(np.int64)) if self.kind == "cyclic" else rows

    def invariant_rows(self) -> Positions | None:
        """Return for each row the row it must equal for permutations to have no effect; None if all must be equal."""
        if self.kind not in ("within", "blocks"):
            return None
        out = np.empty(self.n, np.int64)
        if self.kind == "blocks":
            out[self.members] = np.tile(self.members[: self.ends[0]], len(self.ends))
            return out
        starts = np.r_[0, self.ends[:-1]]
        out[self.members] = np.repeat(self.members[starts], np.diff(self.ends, prepend=0))
        return out

    def _parts(self) -> list[tuple[Positions, Positions]]:
        """Return the exchangeable rows, all or those of each block, and the rows of the group among them."""
        parts = np.split(self.members, self.ends[:-1]) if self.kind == "within" else [np.arange(self.n)]
        return [(part, part[np.isin(part, self.group)]) for part in parts]

    def _splits(self) -> Permutations:
        """Return one permutation for each set of rows that can replace the group, the identity first."""
        choices, places = [], []
        for part, members in self._parts():
            order = np.r_[members, np.setdiff1d(part, members)]  # the first combination is the group itself
            flat = itertools.chain.from_iterable(itertools.combinations(range(len(part)), len(members)))
            is_chosen = np.zeros((math.comb(len(part), len(members)), len(part)), np.bool_)
            np.put_along_axis(is_chosen, np.fromiter(flat, np.int64).reshape(len(is_chosen), -1), values=True, axis=1)
            rank = np.argsort(order)  # so that the rows of a set, and the others, are ascending
            chosen, others = (np.nonzero(mask[:, rank])[1].reshape(len(mask), -1) for mask in (is_chosen, ~is_chosen))
            choices.append(np.sort(order)[np.hstack([chosen, others])].astype(np.uint32))
            places.append(np.r_[np.sort(members), np.setdiff1d(part, members)])
        numbers = np.indices([len(rows) for rows in choices]).reshape(len(choices), -1)
        permutations = np.empty((numbers.shape[1], self.n), np.uint32)
        for rows, place, number in zip(choices, places, numbers, strict=True):
            permutations[:, place] = rows[number]
        return permutations

    def _shifted(self, shifts: Positions) -> Permutations:
        """Return the rows shifted by each number, the last ones moved to the front."""
        return ((np.arange(self.n) + shifts[:, None]) % self.n).astype(np.uint32)

    def _by_member(self, moved: Permutations) -> Permutations:
        """Return permutations of ``members`` as permutations of rows."""
        out = np.empty_like(moved)
        out[:, self.members] = moved
        return out

    def _moved_blocks(self, orders: Permutations) -> Permutations:
        """Return orders of blocks as orders of rows."""
        table = self.members.reshape(len(self.ends), -1).astype(np.uint32)
        return self._by_member(table[orders].reshape(len(orders), self.n))


def make_scheme(kind: Any, blocks: Any, n: int) -> Scheme:
    """Return the scheme of a name with its blocks; raise an error if the identity is its only permutation."""
    kind = check_one_of(kind, SCHEMES, "permutation", aliases=True)
    if kind in ("free", "cyclic"):
        if blocks is not None:
            hint = "Leave `blocks` out, or pass permutation='within' or 'blocks'."
            raise InputError("blocks", f"must be None where permutation is {kind!r}", "blocks", hint)
        return Scheme(kind, n)
    if blocks is None:
        hint = "Pass the block of each row, as an (n,) array of classes."
        raise InputError("blocks", f"must be given where permutation is {kind!r}", "None", hint)
    hint = "Write codes of blocks as whole numbers; cut a continuous variable into classes first."
    codes = check_classes(blocks, n, "blocks", hint)[0]
    sizes = np.bincount(codes)
    members = np.argsort(codes, kind="stable")
    if kind == "blocks" and (len(sizes) < 2 or sizes.min() != sizes.max()):
        received = f"{len(sizes)} blocks of {sizes.min()} to {sizes.max()} rows"
        raise InputError(
            "blocks", "must be two or more of equal size", received, "Drop rows, or use permutation='within'."
        )
    if kind == "within" and sizes.max() < 2:
        raise InputError("blocks", "must have two rows in some block", "one row in each", "Make the blocks larger.")
    return Scheme(kind, n, members, np.cumsum(sizes))


def split_scheme(scheme: Scheme, group: Positions) -> Scheme:
    """Return a scheme, free or within blocks, for a statistic of the set of rows that replaces a group."""
    return replace(scheme, group=np.sort(group))


def _factorial(n: int) -> float:
    """Return n!, infinite beyond 20."""
    return math.factorial(n) if n <= 20 else math.inf


def _choose(n: int, k: int) -> float:
    """Return the number of subsets, infinite if there are too many to enumerate."""
    return math.comb(n, k) if n <= 40 else math.inf


def _arrangement_count(values: Positions) -> float:
    """Return the number of different arrangements of values, some of which are equal; infinite if there are too many.

    Examples
    --------
    >>> _arrangement_count(np.array([0, 0, 1, 1]))
    6
    """
    counts = np.bincount(values).tolist()
    return math.prod(_choose(sum(counts[: i + 1]), count) for i, count in enumerate(counts))


def _arrangements(values: Positions) -> Iterable[Positions]:
    """Yield one permutation for each arrangement of values of which some are equal, the identity first.

    Examples
    --------
    >>> [order.tolist() for order in _arrangements(np.array([1, 0, 1]))]
    [[0, 1, 2], [1, 0, 2], [0, 2, 1]]
    """
    items = [np.flatnonzero(values == code) for code in np.unique(values)]

    def fill(places: list[int], left: list[Positions]) -> Iterator[dict[int, int]]:
        if not left:
            yield {}
            return
        first = [place for place in places if place in left[0]]  # the first combination is the identity
        order = first + [place for place in places if place not in left[0]]
        for chosen in itertools.combinations(order, len(left[0])):
            assigned = dict(zip(sorted(chosen), left[0].tolist(), strict=True))
            for others in fill([place for place in places if place not in assigned], left[1:]):
                yield {**assigned, **others}

    for arrangement in fill(list(range(len(values))), items):
        yield np.array([arrangement[place] for place in range(len(values))])


def _rows(orders: Iterable[Any]) -> Permutations:
    return np.array(list(orders), dtype=np.uint32)


@dataclass(frozen=True)
class PermutationNull:
    """Observed statistic and its values under permutation.

    Attributes
    ----------
    observed : float
        The statistic of the identity permutation.
    null : ndarray (m,)
        Statistics of the permutations, in the order of their numbers.
    p_value : float
        ``(b + 1) / (m + 1)`` for m sampled permutations if b of them reach the statistic; ``b / m`` for an enumeration
        (which includes the identity) and where sampling stopped at the b-th that reached it.
    p_interval : (float, float)
        95 % Clopper-Pearson interval for the p-value that infinitely many permutations would give (of the negative
        binomial distribution where sampling stopped); both ends are the p-value itself when all permutations were
        enumerated.
    p_kind : str
        "permutation"; "exact" where all permutations were enumerated; "asymptotic" or "approximate" where a
        distribution replaces them.
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
    """Compute the statistic, its values under permutation of n rows, and the p-value (large values are extreme).

    Permutation b depends on ``root``, ``names`` and b only: a longer run begins with the same values as a shorter one,
    and ``n_jobs`` changes nothing. When there are at most ``n_resamples`` different permutations, all of them are
    enumerated instead and p is the share of them, including the identity, that reach the statistic.

    Parameters
    ----------
    statistic : callable
        Takes an (m, n) array of permutations, gives m statistics; each must depend on its own row only, to the last
        bit (a matrix product over all rows at once does not promise that). Called from several threads.
    n : int
        Number of rows permuted.
    n_resamples : int
        Number of sampled permutations, at least 1; with ``stop_after`` the largest number.
    root : int
        Root seed.
    *names : object
        Names of the stream under the root seed, so that two tests of one run draw differently.
    resolution : float
        Differences up to this size are rounding: a permuted statistic counts from the observed one minus
        ``max(1e-12 |observed|, resolution)`` on.
    n_jobs : int, optional
        Number of threads; all cores by default.
    scheme : Scheme, optional
        Which permutations may occur; all by default.
    factors : int
        Number of variables, each permuted separately; with more than one the statistic
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
    >>> result = permutation_null(lambda p: (y[p] * x).sum(axis=1), n=4, n_resamples=99, root=0)
    >>> result.exact, len(result.null), round(result.p_value, 6)     # the identity has the largest of 4! = 24 values
    (True, 24, 0.041667)
    """
    n_threads(n_jobs)  # checks the argument, also where no thread is started
    limit = n_resamples if stop_after is None else check_int(stop_after, "stop_after", low=1)
    draw, count, is_exact = _permutations(scheme or Scheme("free", n), n_resamples, root, names, factors)
    observed = float(statistic(_identity(n, factors))[0])
    bound, null = observed - max(RELATIVE_TIE * abs(observed), resolution), np.empty(count)
    if stop_after is None or is_exact:
        _fill(null, 0, count, statistic, draw, n_jobs)
        return _null(observed, null, bound, is_exact)
    done, reached = 0, 0
    while done < count:
        stop = min(done + WAVE, count)
        _fill(null, done, stop, statistic, draw, n_jobs)
        hits = np.flatnonzero(null[done:stop] >= bound)
        if reached + len(hits) >= limit:
            m = done + int(hits[limit - reached - 1]) + 1
            interval = (clopper_pearson(limit, m)[0], clopper_pearson(limit - 1, m - 1)[1] if m > 1 else 1.0)
            return PermutationNull(observed, null[:m].copy(), limit / m, interval, stopped=True)
        done, reached = stop, reached + len(hits)
    return _null(observed, null, bound, is_exact)


@dataclass(frozen=True)
class JointNull:
    """Several statistics and their values under the same permutations.

    Attributes
    ----------
    observed : ndarray (g,)
        The statistics of the identity permutation; NaN for one that is undefined.
    null : ndarray (m, g)
        Their values under each permutation, in the order of the numbers of the permutations.
    exact : bool
        Whether all permutations were enumerated, the identity among them.
    """

    observed: FloatArray
    null: FloatArray
    exact: bool

    def largest(self, columns: Any) -> PermutationNull:
        """Return the null distribution of the largest of some statistics; undefined ones are left out.

        If all are undefined the p-value is NaN.

        Examples
        --------
        >>> joint = JointNull(np.array([2.0, 1.0]), np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 0.0]]), exact=False)
        >>> joint.largest([0]).p_value, joint.largest([0, 1]).null
        (0.5, array([1., 1., 3.]))
        """
        used = [column for column in columns if math.isfinite(self.observed[column])]
        if not used:
            return PermutationNull(math.nan, np.zeros(0), math.nan, (math.nan, math.nan))
        observed, null = float(self.observed[used].max()), self.null[:, used].max(axis=1)
        return _null(observed, null, observed - RELATIVE_TIE * abs(observed), self.exact)


def joint_null(
    statistics: Callable[[Permutations], FloatArray],
    n: int,
    n_resamples: int,
    root: int,
    *names: object,
    n_jobs: int | None = None,
    scheme: Scheme | None = None,
    factors: int = 1,
    advance: Callable[[int], Any] | None = None,
) -> JointNull:
    """Compute several statistics and their values under the same permutations.

    Parameters as in ``permutation_null``; ``statistics`` maps rows of permutations to (m, g) values, and ``advance`` is
    called with the number of finished blocks of ``CHUNK`` permutations. Memory: the (m, g) values.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 5.0])
    >>> both = lambda p: np.stack([(y[p] * x).sum(axis=1), -(y[p] * x).sum(axis=1)], axis=1)
    >>> joint = joint_null(both, n=4, n_resamples=99, root=0)
    >>> round(joint.largest([0]).p_value, 6), joint.largest([1]).p_value
    (0.041667, 1.0)
    """
    draw, count, is_exact = _permutations(scheme or Scheme("free", n), n_resamples, root, names, factors)
    observed = statistics(_identity(n, factors))
    null = np.empty((count, observed.shape[1]))
    _fill(null, 0, count, statistics, draw, n_jobs, advance)
    return JointNull(observed[0], null, is_exact)


def upper_threshold(result: PermutationNull, alpha: float) -> float:
    """Return the ceil((1 - alpha)(m + 1))-th smallest of the observed statistic and its m permuted values.

    The observed statistic is larger if and only if its p-value is at most ``alpha``. Of an enumeration, which has the
    identity, it is the order statistic of all values; NaN if there are none.

    Examples
    --------
    >>> result = PermutationNull(3.0, np.arange(19) / 10, 0.05, (0.0, 0.2))
    >>> upper_threshold(result, 0.05), upper_threshold(result, 0.1)
    (1.8, 1.7)
    """
    values = result.null if result.exact else np.append(result.null, result.observed)
    if not len(result.null):
        return math.nan
    rank = math.ceil((1 - alpha) * len(values) - 1e-9)
    return float(np.sort(values)[min(max(rank, 1), len(values)) - 1])


def pooled_null(
    statistics: Callable[[Permutations], FloatArray],
    n: int,
    n_resamples: int,
    root: int,
    *names: object,
    n_jobs: int | None = None,
    scheme: Scheme | None = None,
) -> tuple[PermutationNull, FloatArray]:
    """Compute the p-value of the largest of several statistics, each standardized over all of its permutations.

    The statistic of a permutation is the largest of its z = (S - mean) / sd, with the mean and the standard deviation
    of S over all permutations, the identity included. They do not depend on which of them is the identity, so that p is
    exact although the scale of the largest z is selected. A statistic whose sd is at most 1e-10 of its largest
    magnitude is dropped. Parameters as in ``permutation_null``; ``statistics`` maps rows of permutations to (m, g)
    values.

    Returns
    -------
    (PermutationNull, ndarray (g,))
        The null distribution of the largest z, and the z of each observed statistic by mean and standard deviation of
        the permutations other than the identity; NaN if it was dropped.

    Notes
    -----
    Cost: that of the statistics, which are never stopped early. Memory: their (m, g) values.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 5.0])
    >>> both = lambda p: np.stack([(y[p] * x).sum(axis=1), (y[p] * x**2).sum(axis=1)], axis=1)
    >>> result, z = pooled_null(both, n=4, n_resamples=99, root=0)
    >>> round(result.p_value, 6), z.round(2)
    (0.041667, array([1.86, 1.89]))
    """
    draw, count, is_exact = _permutations(scheme or Scheme("free", n), n_resamples, root, names, 1)
    observed = statistics(_identity(n, 1))
    values = np.empty((count, observed.shape[1]))
    _fill(values, 0, count, statistics, draw, n_jobs)
    values = values if is_exact else np.concatenate([observed, values])  # the identity first
    sd = values.std(axis=0)
    used = sd > MIN_RELATIVE_SD * np.abs(values).max(axis=0)
    largest = np.max((values - values.mean(axis=0)) / np.where(used, sd, np.inf), axis=1, initial=-np.inf, where=used)
    largest = largest if used.any() else np.zeros(len(values))
    bound = float(largest[0]) - POOLED_TIE * max(1.0, abs(float(largest[0])))
    sd_of_others = values[1:].std(axis=0)
    z = (values[0] - values[1:].mean(axis=0)) / np.where(sd_of_others > 0, sd_of_others, np.inf)
    null = largest if is_exact else largest[1:]
    return _null(float(largest[0]), null, bound, is_exact), np.where(used, z, np.nan)


def _identity(n: int, factors: int) -> Permutations:
    """Return the identity as the only permutation, of every factor."""
    identity = np.tile(np.arange(n, dtype=np.uint32), (1, factors, 1))
    return identity if factors > 1 else identity[:, 0]


def _permutations(
    scheme: Scheme, n_resamples: int, root: int, names: tuple[object, ...], factors: int
) -> tuple[Callable[[int, int], Permutations], int, bool]:
    """Return a function that maps a range of numbers to permutations, their number, and whether these are all."""
    check_int(n_resamples, "n_resamples", low=1)
    if scheme.count() ** factors > n_resamples:
        return _permutation_source(scheme, root, names, factors), n_resamples, False
    rows = scheme.enumerate_all()
    rows = rows if factors == 1 else np.array(list(itertools.product(rows, repeat=factors)))
    return lambda start, stop: rows[start:stop], len(rows), True


def _null(observed: float, null: FloatArray, bound: float, is_exact: bool) -> PermutationNull:
    """Return the p-value of an enumeration or of a sample, by the number of values from the bound on."""
    reached = int(np.count_nonzero(null >= bound))
    if is_exact:
        p = reached / len(null)
        return PermutationNull(observed, null, p, (p, p), "exact")
    p = (reached + 1) / (len(null) + 1)
    return PermutationNull(observed, null, p, clopper_pearson(reached, len(null)))


def _permutation_source(
    scheme: Scheme, root: int, names: tuple[object, ...], factors: int
) -> Callable[[int, int], Permutations]:
    """Return a function that maps a range of numbers to permutations; each factor has a separate stream."""
    keys = [_key(root, names if factor == 0 else (*names, f"factor {factor}")) for factor in range(factors)]
    if factors == 1:
        return lambda start, stop: scheme.draw(keys[0], start, stop)
    return lambda start, stop: np.stack([scheme.draw(key, start, stop) for key in keys], axis=1)


def _fill(
    null: FloatArray,
    begin: int,
    end: int,
    statistic: Callable[[Permutations], FloatArray],
    draw: Callable[[int, int], Permutations],
    n_jobs: int | None,
    advance: Callable[[int], Any] | None = None,
) -> None:
    """Fill in the statistics of permutations begin to end - 1, in blocks."""

    def fill_block(start: int) -> None:
        stop = min(start + CHUNK, end)
        null[start:stop] = statistic(draw(start, stop))

    run_blocks(fill_block, range(begin, end, CHUNK), n_jobs, advance)


def draw_permutations(n: int, n_resamples: int, root: int, *names: object) -> Permutations:
    """Return the sampled permutations that ``permutation_null`` uses, as rows.

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
    """Return the 64-bit key of a stream of permutations."""
    return stream(root, "permutation", *names).integers(2**64, dtype=np.uint64)


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact binomial interval for a proportion.

    Parameters
    ----------
    successes, trials : int
        Number of successes and number of trials.
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
