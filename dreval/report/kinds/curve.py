"""An index against the number of neighbors."""

from __future__ import annotations

from matplotlib.figure import Figure

from dreval._check import check_one_of
from dreval.errors import InputError
from dreval.report._lines import draw_curves
from dreval.report._reading import Reading
from dreval.report._scales import draw_scales, scale_curves
from dreval.report.kinds._kind import figure
from dreval.results.table import Results

__all__ = ["draw"]


@figure("an index against the number of neighbors, one line for each embedding, with intervals and chance")
def draw(results: Results, reading: Reading, names: list[str], *, index: str | None = None) -> Figure:
    """One index against the number of neighbors."""
    places = {name: reading.names.index(name) for name in names}
    families = {family[0].index: family for family in reading.curves}
    whole = scale_curves(results, reading)
    if index in whole or (index is None and whole and not families):
        return draw_scales(whole[index] if index is not None else next(iter(whole.values())), places)
    if index is not None:
        check_one_of(index, {column.index for column in reading.columns} | set(whole), "index")
    if not families or (index is not None and index not in families):
        have = f" Those that have: {', '.join(sorted({*families, *whole}))}." if families or whole else ""
        raise InputError(
            "index",
            "must have been run at several numbers of neighbors",
            repr(index) if index is not None else "one number of neighbors for every index",
            f"Pass n_neighbors=[5, 15, 50] to Evaluation.{have}",
        )
    family = families[index] if index is not None else next(iter(families.values()))
    return draw_curves(family, places)
