"""Statistics of pairs of points without each point: sums over all pairs less those over the pairs of the point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import Groups, View
from dreval.geometry.correlations import correlation, rank_products, rank_products_without
from dreval.geometry.leave_one import check_left_one
from dreval.geometry.pairs import FloatArray, Pairs, pairs_of

__all__ = ["counted_without", "point_sums", "really_without", "spearman_without", "thin"]

Statistic = Callable[[Pairs], tuple[float, str]]
EXACT_RANKS = 200  # points up to which ranks are counted anew without each of them
THIN = 1e-3  # what is left of a sum, below which it is summed again so that nothing cancels


def point_sums(view: View, loop: Callable[..., None], width: int, *arguments: float) -> tuple[FloatArray, FloatArray]:
    """What a loop over the pairs adds up: in all (width,), and without the pairs of each point (n, width)."""
    table, sums = pairs_of(view), np.zeros((view.n, width))
    check_left_one(view.n, 1)
    loop(table.x, table.y, table.first, table.second, _places(view), *arguments, sums)
    total = sums.sum(axis=0) / 2
    return total, np.asarray(total - sums)


def counted_without(view: View) -> npt.NDArray[np.int64]:
    """Number of pairs without those of each point, (n,)."""
    table, places = pairs_of(view), _places(view)
    own = sum(np.bincount(places[side], minlength=view.n) for side in (table.first, table.second))
    return np.asarray(len(table.x) - own)


def thin(total: float, left: FloatArray) -> npt.NDArray[np.bool_]:
    """Points without which so little is left of a sum of squares that it must be summed again."""
    return np.asarray((total > 0) & (left <= THIN * total))


def really_without(view: View, statistic: Statistic, doubtful: npt.NDArray[np.bool_], found: FloatArray) -> FloatArray:
    """The values, where doubtful replaced by the statistic of the other points' pairs; NaN where it is undefined."""
    table = pairs_of(view)
    for h in np.flatnonzero(doubtful):
        point, rest = view.population[h], np.delete(view.population, h)
        try:
            found[h] = statistic(table.only((table.first != point) & (table.second != point), rest, rest))[0]
        except UndefinedMeasure:
            found[h] = np.nan
    return found


def spearman_without(view: View) -> FloatArray:
    """Spearman correlation of the distances without each point, (n,).

    Up to 200 points the ranks of the others are counted anew. Beyond, they follow from the derivative by the weight of
    the point, whose pairs weigh the product of two weights: theta - D N / (N - m) with m of the N pairs, which is exact
    for a mean over pairs. O(N) after the sort.
    """
    from dreval.geometry._loops import pair_points as loops

    check_left_one(view.n, 1)
    table, places = pairs_of(view), _places(view)
    products = rank_products(table.x, table.y_id, table.n_ids)
    value, _ = correlation(table, *products)
    flat = products[0] == 0 or products[1] == 0
    if view.n <= EXACT_RANKS:
        return _counted_anew(view, table, places)
    if flat or any(table.constant()):
        return np.full(view.n, value)
    slopes, some = np.zeros(view.n), counted_without(view)
    loops.rank_influences(table.x, table.y_id, table.n_ids, table.first, table.second, places, slopes)
    return np.asarray(value - slopes * (len(table.x) / np.maximum(some, 1)))


def _counted_anew(view: View, table: Pairs, places: npt.NDArray[np.int64]) -> FloatArray:
    """The correlation from ranks among the pairs of the others; where these do not vary the statistic decides."""
    xx, yy, xy = rank_products_without(table, Groups(places, view.n), view.n_jobs).T
    some = (xx > 0) & (yy > 0)
    size = np.sqrt(xx) * np.sqrt(yy)
    found = np.clip(np.divide(xy, size, out=np.zeros(view.n), where=some), -1.0, 1.0)

    def ranked(pairs: Pairs) -> tuple[float, str]:
        return correlation(pairs, *rank_products(pairs.x, pairs.y_id, pairs.n_ids))

    return really_without(view, ranked, ~some, found)


def _places(view: View) -> npt.NDArray[np.int64]:
    """Place of every point among those that count; -1 for the others."""
    places = np.full(len(view.Y), -1, np.int64)
    places[view.population] = np.arange(view.n)
    return places
