"""A measure against the number of neighbors."""

from __future__ import annotations

from matplotlib.figure import Figure

from dreval._check import check_one_of
from dreval.errors import InputError
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import draw_curve_difference, draw_curves, draw_scales, scale_curves
from dreval.report.reading import Reading


@figure("a measure against the number of neighbors, one line for each embedding, with intervals and chance")
def draw_curve(
    results: Results,
    reading: Reading,
    names: list[str],
    *,
    measure: str | None = None,
    band: str | None = None,
    difference: tuple[str, str] | None = None,
) -> Figure:
    """One measure against the number of neighbors, or the difference of two embeddings."""
    band = None if band is None else check_one_of(band, ("simultaneous", "pointwise"), "band", aliases=True)
    families = {family[0].measure: family for family in reading.curves}
    whole = scale_curves(results, reading)
    asked = band == "simultaneous" or difference is not None  # what only curves over all K have
    if measure in whole or (measure is None and whole and (asked or not families)):
        curve = whole[measure] if measure is not None else next(iter(whole.values()))
        if difference is not None:
            return draw_curve_difference(results, reading, curve, difference)
        if band == "simultaneous" and not curve.simultaneous:
            cure = "Run with ci='points', or with 100 anchors or more of which 30 differ; or use band='pointwise'."
            raise InputError("band", "must be one that the curve has", "'simultaneous', and there is none", cure)
        return draw_scales(reading, curve, names, band=band)
    if asked:
        argument, got = ("band", repr(band)) if difference is None else ("difference", repr(difference))
        cure = "Run r_nx, or another curve with a value at every K, and name it as `measure`."
        raise InputError(argument, "must be of a measure with a value at every K", got, cure)
    if measure is not None:
        MEASURES.check_run(measure, {column.measure for column in reading.columns} | set(whole), "measure", curves=True)
    if not families or (measure is not None and measure not in families):
        if measure in MEASURES and "n_neighbors" not in MEASURES.card(measure).parameters:
            rule = "must depend on the number of neighbors"
            listed = ", ".join(sorted({*families, *whole})) or "none"
            raise InputError("measure", rule, repr(measure), f"Name one that was run at several: {listed}.")
        have = f" Those that have: {', '.join(sorted({*families, *whole}))}." if families or whole else ""
        raise InputError(
            "measure",
            "must have been run at several numbers of neighbors",
            repr(measure) if measure is not None else "one number of neighbors for every measure",
            f"Pass n_neighbors=[5, 15, 50] to Evaluation.{have}",
        )
    family = families[measure] if measure is not None else next(iter(families.values()))
    return draw_curves(reading, family, names)
