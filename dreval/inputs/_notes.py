"""What a reader of results should know of the data: constant columns, one that rules the distances, repeated rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["describe_columns", "describe_distances"]

FloatArray = npt.NDArray[np.float64]
_ID_NAMES = frozenset({"id", "ids", "index", "cell", "cell_id", "row", "rowid", "sample", "sample_id"})


def describe_columns(X: FloatArray, columns: tuple[str, ...] | None) -> list[str]:
    """Notes on constant columns, columns that carry most of the variance or look like ids, and repeated rows."""
    names = columns or tuple(str(j) for j in range(X.shape[1]))
    notes = []
    constant = np.flatnonzero((X == X[0]).all(axis=0))
    if len(constant):
        shown = ", ".join(repr(names[j]) for j in constant[:3]) + (", ..." if len(constant) > 3 else "")
        notes.append(f"{len(constant)} of {len(names)} columns are constant ({shown}).")
    share = _variance_shares(X)
    top = int(np.argmax(share))
    if len(names) > 2 and share[top] > 0.5 + 1e-9:  # one of two always has half
        percent = f"{100 * share[top]:.1f} %"
        notes.append(f"Column {names[top]!r} carries {percent} of the total variance; data are never scaled.")
    notes += [
        f"Column {name!r} looks like row ids and is used as a feature; name it as ids={name!r}."
        for name, x in zip(names, X.T, strict=True)
        if looks_like_ids(name, x)
    ]
    repeated = len(X) - _distinct_rows(X)
    if repeated:
        notes.append(f"{repeated} row{'s repeat' if repeated > 1 else ' repeats'} an earlier one.")
    return notes


def describe_distances(D: FloatArray) -> list[str]:
    """A note on points that coincide by their distances; columns mean nothing here."""
    pairs = (np.count_nonzero(D == 0) - len(D)) // 2
    if not pairs:
        return []
    return [f"{pairs} pair{'s' if pairs > 1 else ''} of points {'are' if pairs > 1 else 'is'} at distance 0."]


def looks_like_ids(name: object, values: FloatArray) -> bool:
    """Whether a column is called like row ids and holds a different whole number in each row."""
    named = str(name).lower() in _ID_NAMES
    return named and bool((np.mod(values, 1) == 0).all()) and len(np.unique(values)) == len(values)


def _variance_shares(X: FloatArray) -> FloatArray:
    """The part of the total variance in each column, safe for numbers of any size."""
    scaled = X / np.abs(X).max()
    spread = scaled - scaled.mean(axis=0)
    largest = np.abs(spread).max()
    if largest == 0:
        return np.zeros(X.shape[1])
    spread /= largest
    variance = np.einsum("ij,ij->j", spread, spread)
    return np.asarray(variance / variance.sum())


def _distinct_rows(X: FloatArray) -> int:
    """Number of different rows, by a 64-bit hash of each: two different rows in 10^6 share one with odds of 3e-8."""
    weights = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.empty(len(X), np.uint64)
    for at in range(0, len(X), 2**14):
        part = X[at : at + 2**14] + 0.0  # no negative zeros
        hashed = pd.util.hash_array(part.ravel()).reshape(part.shape)
        keys[at : at + 2**14] = (hashed * weights).sum(axis=1)
    return len(np.unique(keys))
