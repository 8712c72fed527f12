"""Adjustment of p-values for their number, by statsmodels."""

from __future__ import annotations

from typing import Any

from dreval._check import check_one_of
from dreval.glossary import DATA_CAVEAT

__all__ = ["ADJUSTMENTS", "adjust_p_values", "check_adjustment"]

ADJUSTMENTS = {"holm": "holm", "benjamini_hochberg": "fdr_bh"}


def check_adjustment(adjust: str | None) -> str | None:
    """The name of an adjustment; "none" and None are none."""
    return None if adjust in (None, "none") else check_one_of(adjust, [*ADJUSTMENTS, "none"], "adjust")


def adjust_p_values(table: Any, adjust: str | None) -> Any:
    """Adjust the p-values over all tests of the table, without those whose dependence is certain (``DATA_CAVEAT``).

    A p-value that must be small asks nothing, and as a member of the family it would make the others larger.
    """
    rows = table["p_value"].notna() & ~table["note"].str.startswith(DATA_CAVEAT)
    if adjust is None or not rows.any():
        return table
    from statsmodels.stats.multitest import multipletests

    table.loc[rows, "p_adjusted"] = multipletests(table.loc[rows, "p_value"], method=ADJUSTMENTS[adjust])[1]
    return table
