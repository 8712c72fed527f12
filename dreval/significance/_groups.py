"""Permute a variable that is constant within groups of rows (donors, patients) over the groups.

The values of the groups are exchangeable if the variable is independent of the points of a group and of their number,
whatever the sizes are and however the rows of a group depend on each other. Every statistic is a function of sums of
the other variable over groups, of the sizes, and of the values in each group, so that a permutation costs G^2 for G
groups. Everything that depends on the permuted variable is computed again for each permutation, its bandwidth included:
p is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._check_arrays import check_classes
from dreval.errors import InputError
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import RADIAL_KERNELS, is_classes, radial_values
from dreval.inference.permutation import RELATIVE_TIE, PermutationNull, Scheme
from dreval.records.notes import Notes, note
from dreval.significance.base import Pair, Resampling, Statistic, Variables

Kernel = Callable[[IntArray], FloatArray]  # order of the groups -> the kernel matrix (G, G) of their permuted values


@dataclass(frozen=True, eq=False)
class Nested:
    """A variable of n rows that is constant within G groups, and how its permutations are drawn.

    Attributes
    ----------
    codes : ndarray (n,)
        The group of each row.
    sizes : ndarray (G,)
        Number of rows of each group.
    rows : ndarray (G,)
        The first row of each group.
    values : ndarray (G,)
        Codes of the values of the variable, equal for groups with equal values.
    resampling : Resampling
        The arguments of the test, with permutation "groups".
    """

    codes: IntArray
    sizes: IntArray
    rows: IntArray
    values: IntArray
    resampling: Resampling

    def sums(self, table: FloatArray) -> FloatArray:
        """Return the sums (G, ...) of the rows of a table over each group."""
        order = np.argsort(self.codes, kind="stable")
        return np.asarray(np.add.reduceat(table[order], np.r_[0, np.cumsum(self.sizes)[:-1]], axis=0))

    def block_sums(self, matrix: FloatArray) -> FloatArray:
        """Return the sums (G, G) of a symmetric matrix (n, n) over pairs of groups."""
        return self.sums(np.ascontiguousarray(self.sums(matrix).T))

    def kernel(self, value: Any, argument: str, kernel: str, bandwidth: Any) -> Kernel:
        """Return the kernel of the variable under orders of the groups; the median rule weighs pairs of rows."""
        if is_classes(value) or kernel == "delta":
            fixed = (self.values[:, None] == self.values).astype(np.float64)
            return lambda order: fixed[np.ix_(order, order)]
        points = np.asarray(value, np.float64).reshape(len(self.codes), -1)[self.rows]
        if kernel == "linear":
            deviations = points - points.mean(axis=0)
            fixed = deviations @ deviations.T
            return lambda order: fixed[np.ix_(order, order)]
        if kernel not in RADIAL_KERNELS:
            requirement = f"must be 'linear', 'delta' or one of {', '.join(RADIAL_KERNELS)} where values of groups move"
            raise InputError("kernel", requirement, f"{kernel!r} for {argument}", "Use the default, 'gaussian'.")
        squared, fixed_scale = pairwise_squared(points), None if bandwidth in (None, "median") else float(bandwidth)
        scale = _WeightedMedian(squared, self.sizes)

        def of_order(order: IntArray) -> FloatArray:
            sigma = scale.of(order) if fixed_scale is None else fixed_scale
            return radial_values(squared[np.ix_(order, order)], kernel, sigma)

        return of_order

    def pair_sums(self, pair: Pair) -> FloatArray:
        """Return the sums (G, G) of the first centered kernel of a pair over pairs of groups."""
        if not pair.factored:
            return self.block_sums(pair.first)
        sums = self.sums(pair.first)
        return np.asarray(sums @ sums.T)

    def run(
        self, statistic: Statistic, name: str, resolution: float = 0.0, floor: float = -np.inf
    ) -> tuple[PermutationNull, Notes]:
        """Compute the null distribution of a statistic of orders (m, G) of the groups, and the note on it.

        The note has the smallest p-value that the permutations can give.
        """
        scheme = Scheme("free", len(self.sizes), values=self.values)
        result = self.resampling.run(statistic, scheme, name, resolution, floor=floor)
        largest = float(result.null.max())
        smallest = max(1 / scheme.count(), 1 / (len(result.null) + 1))
        if result.exact:
            smallest = float(np.mean(result.null >= largest - max(RELATIVE_TIE * abs(largest), resolution)))
        return result, (note("permutation.groups", groups=len(self.sizes), smallest=smallest),)


class _WeightedMedian:
    """The median rule over pairs of rows of groups, whose values are permuted: each pair of groups has a weight."""

    def __init__(self, squared: FloatArray, sizes: IntArray) -> None:
        left, right = np.triu_indices(len(sizes), 1)
        order = np.argsort(squared[left, right], kind="stable")
        self.left, self.right, self.sizes = left[order], right[order], sizes
        self.distances = squared[self.left, self.right]
        self.n_within = int((sizes * (sizes - 1) // 2).sum())  # pairs of rows of one group, at distance 0

    def of(self, order: IntArray) -> float:
        """Return the bandwidth where group g has the value of group ``order[g]``."""
        moved = np.empty_like(self.sizes)
        moved[order] = self.sizes  # the number of rows that have each value
        counts = self.n_within + np.cumsum(moved[self.left] * moved[self.right])
        total = int(counts[-1])
        middle = [self._at(rank, counts) for rank in ((total - 1) // 2, total // 2)]
        median = sum(middle) / 2
        return float(np.sqrt(median if median > 0 else self.distances[self.distances > 0].min()))

    def _at(self, rank: int, counts: IntArray) -> float:
        """Return the squared distance of a rank, from 0, among all pairs of rows."""
        return 0.0 if rank < self.n_within else float(self.distances[np.searchsorted(counts, rank, side="right")])


def constant_within(value: Any, codes: IntArray) -> npt.NDArray[np.bool_]:
    """Return whether each column of a variable is constant within each group; groups are coded from 0."""
    table, rows = np.asarray(value).reshape(len(codes), -1), np.unique(codes, return_index=True)[1]
    return np.asarray((table == table[rows[codes]]).all(axis=0))


def nested(resampling: Resampling, variables: Variables) -> tuple[Resampling, Nested | None]:
    """Return how permutations respect the groups: over them where the second variable is constant within each.

    A variable that varies within some groups is permuted within groups; the columns of one variable may not differ.
    Without groups the resampling is returned unchanged.
    """
    codes = resampling.groups
    if codes is None:
        return resampling, None
    if len(variables.values) > 2:
        requirement = "must be left out for three or more variables"
        raise InputError("groups", requirement, f"{len(variables.values)} variables", "Test pairs of variables.")
    if "precomputed" in variables.kinds:
        requirement = "must be left out where a kernel or a metric is 'precomputed'"
        raise InputError("groups", requirement, "groups with a matrix", "Pass the coordinates of both variables.")
    (_, value), (_, name) = variables.values, variables.names
    sizes, rows = np.bincount(codes), np.unique(codes, return_index=True)[1]
    table, constant = np.asarray(value).reshape(len(codes), -1), constant_within(value, codes)
    if constant.all():
        distinct = table[rows].astype(str) if table.dtype.kind == "O" else table[rows]
        values = np.unique(distinct, axis=0, return_inverse=True)[1].ravel()
        _refuse_same_values(values, name, is_classes(value) or variables.kinds[1] == "delta", "groups")
        resampling = replace(resampling, permutation="groups")
        return resampling, Nested(codes, sizes, rows, values, resampling)
    if constant.any() and bool((table[:, constant] != table[:1, constant]).any()):
        requirement = "must have columns that are all constant within groups, or all vary within them"
        hint = "Test the two kinds of columns apart, and adjust both p-values: no joint permutation is exact."
        raise InputError(name, requirement, f"{int(constant.sum())} of {len(constant)} columns constant", hint)
    return replace(resampling, permutation="within", blocks=codes), None


def _refuse_same_values(values: IntArray, argument: str, are_classes: bool, units: str) -> None:
    """Raise if a variable looks the same under every permutation over groups or blocks: no test of it has any power.

    Of classes tests use only which groups have equal ones, and of two groups only how far apart their values are.
    """
    count, n_values = len(values), len(np.unique(values))
    if n_values < 2 or not (count == 2 or (are_classes and n_values == count)):
        return
    requirement = f"must not look the same under every permutation over {units}"
    received = f"two {units}" if count == 2 else f"another class in each of the {count} {units}"
    hint = "Pass a variable with fewer classes than groups." if count > 2 else f"Pass three {units} or more."
    if units == "groups":
        hint = f"{hint.removesuffix('.')}; without `groups` all rows count as independent."
    raise InputError(argument, requirement, received, hint)


def whole_blocks(resampling: Resampling, samples: IntArray, argument: str) -> Nested:
    """Return how whole blocks change samples; raise if a block has rows of both samples, or there is one block."""
    blocks = resampling.blocks
    if blocks is None:
        hint = "Pass the block of each row, as an (n,) array of classes."
        raise InputError("blocks", "must be given where permutation is 'blocks'", "None", hint)
    codes = check_classes(blocks, len(samples), "blocks", "Write the number of a block as an integer.")[0]
    sizes, rows = np.bincount(codes), np.unique(codes, return_index=True)[1]
    split = np.unique(codes[samples != samples[rows][codes]])
    if len(split):
        received, hint = f"{len(split)} of {len(sizes)} blocks with rows of both", "Use permutation='within'."
        if argument == "y":
            hint = f"{hint[:-1]}, or pass the blocks of the rows of x, then those of y."
        raise InputError(argument, "must have each block in one sample where permutation is 'blocks'", received, hint)
    _refuse_same_values(samples[rows], argument, True, "blocks")
    return Nested(codes, sizes, rows, samples[rows], resampling)


def kernel_statistic(fixed: FloatArray, kernel: Kernel, n: int) -> Statistic:
    """Return HSIC, as a function of orders of the groups.

    ``fixed`` are the sums over pairs of groups of the centered kernel of the other variable; its rows add up to 0, so
    that centering the permuted kernel changes nothing.
    """
    return lambda orders: np.array([float(np.vdot(fixed, kernel(order))) for order in orders]) / n**2


def split_statistic(fixed: FloatArray, sizes: IntArray, first: IntArray) -> Statistic:
    """Return MMD^2 of two samples of whole groups, as a function of orders; ``first`` is 1 in groups of the first."""
    n = int(sizes.sum())

    def statistic(orders: Any) -> FloatArray:
        members = first[np.asarray(orders)].astype(np.float64)
        counts = members @ sizes
        return np.einsum("mg,gh,mh->m", members, fixed, members) * (n / (counts * (n - counts))) ** 2

    return statistic


def linear_product(group: Nested, fixed: FloatArray, points: FloatArray) -> Callable[[IntArray], FloatArray]:
    """Return Q_x'Q_y as a function of an order of the groups; Q_y is a basis of the permuted, centered columns.

    ``fixed`` is Q_x (n, p), and ``points`` are the values (G, q) of the groups.
    """
    sums, weights = group.sums(fixed), np.sqrt(group.sizes)

    def product(order: IntArray) -> FloatArray:
        moved = points[order]
        moved = (moved - np.average(moved, axis=0, weights=group.sizes)) * weights[:, None]
        sizes = np.linalg.norm(moved, axis=0)
        moved = moved[:, sizes > 1e-14 * sizes.max()] / sizes[sizes > 1e-14 * sizes.max()]
        vectors, singular, _ = np.linalg.svd(moved, full_matrices=False)
        return np.asarray(sums.T @ (vectors[:, singular > 1e-10 * singular[0]] / weights[:, None]))

    return product


def kernel_product(group: Nested, fixed: FloatArray, kernel: Kernel, ridge: float) -> Callable[[IntArray], FloatArray]:
    """Return F_x'F_y of ``kcca_test`` as a function of an order of the groups; ``fixed`` is F_x (n, r)."""
    sums, weights, shares = group.sums(fixed), np.sqrt(group.sizes), group.sizes / group.sizes.sum()

    def product(order: IntArray) -> FloatArray:
        matrix = kernel(order)
        means = matrix @ shares
        matrix = matrix - means - means[:, None] + shares @ means
        values, vectors = np.linalg.eigh(matrix * weights * weights[:, None])
        values = np.maximum(values, 0.0)
        return np.asarray(sums.T @ (vectors * (values / (values + ridge)) / weights[:, None]))

    return product
