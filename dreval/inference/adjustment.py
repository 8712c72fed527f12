"""Adjustment of p-values for multiple testing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, check_one_of

ADJUSTMENTS = ("holm", "benjamini_hochberg")


def check_adjustment(adjust: str | None) -> str | None:
    """Return the checked name of an adjustment, or None for "none" and None."""
    name = "none" if adjust is None else check_one_of(adjust, [*ADJUSTMENTS, "none"], "adjust", aliases=True)
    return None if name == "none" else name


def adjusted_p_values(table: Any, adjust: str | None, at_once: Sequence[str] = ()) -> Any:
    """Return the p-values of a table, adjusted over each ``family``: a column, NaN for rows without a family.

    A p-value that is small by construction (an embedding against its own data) belongs to no family: it would only make
    other p-values larger. The p-values of the families ``at_once`` (Nemenyi's) are simultaneous over all pairs of a
    measure, so they are adjusted over the measures only.
    """
    p_adjusted = table["p_value"] * np.nan
    if adjust is None:
        return p_adjusted
    rows = table["p_value"].notna() & (table["family"] != "")
    for family, part in table[rows].groupby("family", sort=False):
        p = part["p_value"].to_numpy()
        if family in at_once:
            blocks = part.groupby(["measure", "parameters"], sort=False).ngroup().to_numpy()
            p_adjusted[part.index] = over_blocks(p, blocks, adjust)
        else:
            p_adjusted[part.index] = adjusted(p, adjust)
    return p_adjusted


def smallest_p(table: Any, adjust: str | None) -> float:
    """Return the smallest p-value, adjusted if requested, that the tests of a table can reach with their resamples.

    It is 0 if a test of a family does not resample.
    """
    table = table[table["p_value"].notna() & (table["family"] != "")]
    sampled = table[table["n_resamples"] > 0].copy()
    if sampled.empty or len(sampled) < len(table):
        return 0.0
    sampled["p_value"] = 1.0 / (sampled["n_resamples"] + (sampled["p_kind"] != "exact"))
    return float((sampled["p_value"] if adjust is None else adjusted_p_values(sampled, adjust)).min())


def adjusted(p: FloatArray, adjust: str) -> FloatArray:
    """Return the adjusted p-values of one family.

    Holm's adjustment does not use ``multipletests`` of statsmodels, which runs Python's garbage collection at every
    call: in a long session that takes longer than an evaluation.
    """
    if adjust == "holm":
        return over_blocks(p, np.arange(len(p)), adjust)
    from statsmodels.stats.multitest import fdrcorrection

    return np.asarray(fdrcorrection(p)[1])


def over_blocks(p: FloatArray, blocks: npt.NDArray[np.int64], adjust: str) -> FloatArray:
    """Return p-values adjusted over m blocks, where those of one block are already simultaneous (single-step).

    Holm: in ascending order, p times the number of blocks with a remaining row; the running maximum. It is the closed
    test by Bonferroni over blocks: a block counts until its last row is rejected. Benjamini-Hochberg, with q_(s) the
    ascending minima of the blocks: min over s of m max(q_(s), p) / s (Benjamini and Bogomolov 2014, J. R. Stat. Soc. B
    76, 297-318). With blocks of one row both are the usual methods; with one block p does not change. Time
    O(rows log rows) for Holm, else O(rows x blocks).

    Examples
    --------
    >>> over_blocks(np.array([0.01, 0.5, 0.02, 0.03]), np.array([0, 0, 1, 1]), "holm")
    array([0.02, 0.5 , 0.04, 0.06])
    """
    m = len(np.unique(blocks))
    if adjust == "benjamini_hochberg":
        block_minima = np.sort([p[blocks == block].min() for block in np.unique(blocks)])
        q = np.min(m * np.maximum(block_minima, p[:, None]) / np.arange(1, m + 1), axis=1)
        return np.asarray(np.minimum(q, 1.0))
    order = np.argsort(p, kind="stable")
    last_ranks = {int(block): rank for rank, block in enumerate(blocks[order])}
    n_remaining = m - np.searchsorted(np.sort([*last_ranks.values()]), np.arange(len(p)))
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(n_remaining * p[order], 1.0))
    return adjusted
