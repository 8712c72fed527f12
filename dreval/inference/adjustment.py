"""Adjustment of p-values for their number, by statsmodels."""

from __future__ import annotations

from typing import Any

from dreval._check import check_one_of

__all__ = ["ADJUSTMENTS", "adjust_p_values", "check_adjustment"]

ADJUSTMENTS = {"holm": "holm", "benjamini_hochberg": "fdr_bh"}


def check_adjustment(adjust: str | None) -> str | None:
    """The name of an adjustment; "none" and None are none."""
    return None if adjust in (None, "none") else check_one_of(adjust, [*ADJUSTMENTS, "none"], "adjust")


def adjust_p_values(table: Any, adjust: str | None) -> Any:
    """Fill ``p_adjusted`` over each ``family`` of the table; rows without a family are in no adjustment.

    A p-value that must be small (an embedding against its own data) asks nothing, and as a member of a family it would
    make the others larger.
    """
    rows = table["p_value"].notna() & (table["family"] != "")
    if adjust is None or not rows.any():
        return table
    from statsmodels.stats.multitest import multipletests

    for _, p in table.loc[rows, "p_value"].groupby(table["family"], sort=False):
        table.loc[p.index, "p_adjusted"] = multipletests(p, method=ADJUSTMENTS[adjust])[1]
    return table
