"""Which permutations may occur: all of them, or those that respect blocks or the order of time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_classes, check_one_of
from dreval.errors import InputError

__all__ = ["SCHEMES", "Permutations", "Scheme", "make_scheme", "split_scheme"]

Permutations = npt.NDArray[np.uint32]
Positions = npt.NDArray[np.int64]

SCHEMES = ("free", "within", "blocks", "cyclic")


def _nothing() -> Positions:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Scheme:
    """A group of permutations of n rows, that can be counted, listed and drawn from with equal chances.

    Attributes
    ----------
    kind : str
        ``free`` all n!; ``within`` those that move rows within their block only; ``blocks`` those that move whole
        blocks; ``cyclic`` the n shifts; ``split`` all, of which only the set of rows matters that takes the places of
        the first ``size`` of ``members``.
    n : int
        Number of rows.
    members : ndarray (n,)
        Rows sorted by block, or by group of a split.
    ends : ndarray (number of blocks,)
        Where each block ends in ``members``.
    size : int
        Number of rows of the first group of a split.
    """

    kind: str
    n: int
    members: Positions = field(default_factory=_nothing)
    ends: Positions = field(default_factory=_nothing)
    size: int = 0

    def count(self) -> float:
        """Number of different permutations; infinite where nobody would enumerate them."""
        if self.kind == "cyclic":
            return self.n
        if self.kind == "split":
            return math.comb(self.n, self.size) if self.n <= 40 else math.inf
        if self.kind == "within":
            return math.prod(_factorial(int(size)) for size in np.diff(self.ends, prepend=0))
        return _factorial(len(self.ends) if self.kind == "blocks" else self.n)

    def every(self) -> Permutations:
        """All of them as rows, the identity first."""
        if self.kind == "cyclic":
            return self._shifted(np.arange(self.n))
        if self.kind == "within":
            parts = np.split(self.members, self.ends[:-1])
            orders = itertools.product(*(itertools.permutations(part) for part in parts))
            moved = _rows(np.concatenate(order) for order in orders)
            return self._by_member(moved)
        if self.kind == "blocks":
            return self._moved_blocks(_rows(itertools.permutations(range(len(self.ends)))))
        if self.kind == "split":
            everyone = set(range(self.n))
            splits = itertools.combinations(range(self.n), self.size)
            first = tuple(self.members[: self.size].tolist())
            rows = {chosen: (*chosen, *sorted(everyone.difference(chosen))) for chosen in splits}
            return self._by_member(_rows([rows.pop(tuple(sorted(first))), *rows.values()]))
        return _rows(itertools.permutations(range(self.n)))

    def draw(self, key: np.uint64, start: int, stop: int) -> Permutations:
        """Permutations ``start`` to ``stop - 1`` of a stream; each depends on ``key`` and its number only."""
        from dreval.geometry._loops import permutations as loops

        rows: Permutations
        if self.kind == "within":
            rows = loops.draw_within(key, start, stop, self.members, self.ends)
            return rows
        if self.kind == "blocks":
            return self._moved_blocks(loops.draw_permutations(key, start, stop, len(self.ends)))
        rows = loops.draw_permutations(key, start, stop, self.n)
        return self._shifted(rows[:, 0].astype(np.int64)) if self.kind == "cyclic" else rows

    def _shifted(self, shifts: Positions) -> Permutations:
        """Rows moved on by each shift, the last ones to the front."""
        return ((np.arange(self.n) + shifts[:, None]) % self.n).astype(np.uint32)

    def _by_member(self, moved: Permutations) -> Permutations:
        """Rows of new members, put at the places of ``members``."""
        out = np.empty_like(moved)
        out[:, self.members] = moved
        return out

    def _moved_blocks(self, orders: Permutations) -> Permutations:
        """Orders of blocks as orders of rows."""
        table = self.members.reshape(len(self.ends), -1).astype(np.uint32)
        return self._by_member(table[orders].reshape(len(orders), self.n))


def make_scheme(kind: Any, blocks: Any, n: int) -> Scheme:
    """The scheme of a name, with its blocks; a scheme that cannot move anything is refused."""
    check_one_of(kind, SCHEMES, "permutation")
    if kind in ("free", "cyclic"):
        if blocks is not None:
            cure = "Leave `blocks` out, or pass permutation='within' or 'blocks'."
            raise InputError("blocks", f"must be None where permutation is {kind!r}", "blocks", cure)
        return Scheme(kind, n)
    if blocks is None:
        cure = "Pass the block of each row, as an (n,) array of classes."
        raise InputError("blocks", f"must be given where permutation is {kind!r}", "None", cure)
    codes = check_classes(blocks, n, "blocks")[0]
    sizes = np.bincount(codes)
    members = np.argsort(codes, kind="stable")
    if kind == "blocks" and (len(sizes) < 2 or sizes.min() != sizes.max()):
        got = f"{len(sizes)} blocks of {sizes.min()} to {sizes.max()} rows"
        raise InputError("blocks", "must be two or more of equal size", got, "Drop rows, or use permutation='within'.")
    if kind == "within" and sizes.max() < 2:
        raise InputError("blocks", "must have two rows in some block", "one row in each", "Make the blocks larger.")
    return Scheme(kind, n, members, np.cumsum(sizes))


def split_scheme(n: int, group: Positions) -> Scheme:
    """All permutations of n rows, of which only the set matters that takes the places of a group."""
    others = np.setdiff1d(np.arange(n), group)
    return Scheme("split", n, np.concatenate([np.sort(group), others]), size=len(group))


def _factorial(n: int) -> float:
    """n!, infinite beyond 20."""
    return math.factorial(n) if n <= 20 else math.inf


def _rows(orders: Iterable[Any]) -> Permutations:
    return np.array(list(orders), dtype=np.uint32)
