"""Which permutations may occur: all of them, or those that respect blocks or the order of time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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
        blocks; ``cyclic`` the n shifts.
    n : int
        Number of rows.
    members : ndarray (n,)
        Rows sorted by block.
    ends : ndarray (number of blocks,)
        Where each block ends in ``members``.
    group : ndarray
        Rows of the first group, where only the set of rows matters that takes their places.
    """

    kind: str
    n: int
    members: Positions = field(default_factory=_nothing)
    ends: Positions = field(default_factory=_nothing)
    group: Positions = field(default_factory=_nothing)

    def count(self) -> float:
        """Number of different permutations; infinite where nobody would enumerate them."""
        if self.kind == "cyclic":
            return self.n
        if len(self.group):
            return math.prod(_choose(len(part), len(taken)) for part, taken in self._parts())
        if self.kind == "within":
            return math.prod(_factorial(int(size)) for size in np.diff(self.ends, prepend=0))
        return _factorial(len(self.ends) if self.kind == "blocks" else self.n)

    def every(self) -> Permutations:
        """All of them as rows, the identity first."""
        if self.kind == "cyclic":
            return self._shifted(np.arange(self.n))
        if len(self.group):
            return _rows(self._splits())
        if self.kind == "within":
            parts = np.split(self.members, self.ends[:-1])
            orders = itertools.product(*(itertools.permutations(part) for part in parts))
            moved = _rows(np.concatenate(order) for order in orders)
            return self._by_member(moved)
        if self.kind == "blocks":
            return self._moved_blocks(_rows(itertools.permutations(range(len(self.ends)))))
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

    def alike(self) -> Positions | None:
        """For each row the row that it must equal if no permutation is to change anything; None where all must."""
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
        """Rows that may change places, all or those of each block, and those of the group among them."""
        parts = np.split(self.members, self.ends[:-1]) if self.kind == "within" else [np.arange(self.n)]
        return [(part, part[np.isin(part, self.group)]) for part in parts]

    def _splits(self) -> Iterable[Positions]:
        """One permutation for each set of rows that can take the places of the group, the identity first."""
        choices = []
        for part, taken in self._parts():
            order = np.r_[taken, part[~np.isin(part, taken)]]  # the first combination is the group itself
            sets = itertools.combinations(order.tolist(), len(taken))
            choices.append([np.r_[np.sort(chosen), np.sort(order[~np.isin(order, chosen)])] for chosen in sets])
        places = np.concatenate(
            [np.r_[np.sort(taken), np.sort(np.setdiff1d(part, taken))] for part, taken in self._parts()]
        )
        for rows in itertools.product(*choices):
            out = np.empty(self.n, np.int64)
            out[places] = np.concatenate(rows)
            yield out

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
    if np.asarray(blocks).dtype.kind == "f":
        cure = "Convert block numbers with blocks.astype(int); cut a continuous variable into classes first."
        got = f"dtype {np.asarray(blocks).dtype}"
        raise InputError("blocks", "must be classes (text, booleans or integers)", got, cure)
    codes = check_classes(blocks, n, "blocks")[0]
    sizes = np.bincount(codes)
    members = np.argsort(codes, kind="stable")
    if kind == "blocks" and (len(sizes) < 2 or sizes.min() != sizes.max()):
        got = f"{len(sizes)} blocks of {sizes.min()} to {sizes.max()} rows"
        raise InputError("blocks", "must be two or more of equal size", got, "Drop rows, or use permutation='within'.")
    if kind == "within" and sizes.max() < 2:
        raise InputError("blocks", "must have two rows in some block", "one row in each", "Make the blocks larger.")
    return Scheme(kind, n, members, np.cumsum(sizes))


def split_scheme(scheme: Scheme, group: Positions) -> Scheme:
    """A scheme, free or within blocks, of which only the set of rows matters that takes the places of a group."""
    return replace(scheme, group=np.sort(group))


def _factorial(n: int) -> float:
    """n!, infinite beyond 20."""
    return math.factorial(n) if n <= 20 else math.inf


def _choose(n: int, k: int) -> float:
    """Number of subsets, infinite where nobody would enumerate them."""
    return math.comb(n, k) if n <= 40 else math.inf


def _rows(orders: Iterable[Any]) -> Permutations:
    return np.array(list(orders), dtype=np.uint32)
