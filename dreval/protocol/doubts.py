"""What looks odd in a protocol's folder and yet may be right: it is noted, not refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dreval.inputs.recording import Run

__all__ = ["copied_note", "placed_note", "rounded_note", "wide_note"]

FloatArray = npt.NDArray[np.float64]
DIGITS = 3  # digits of the largest coordinate up to which an embedding looks rounded


def rounded_note(runs: Sequence[Run]) -> str:
    """Embeddings that look rounded: all numbers are multiples of a power of ten near the spread; empty for none."""
    found = [run.file for run in runs if run.values is not None and _rounded(run.values)]
    if not found:
        return ""
    verb = "looks" if len(found) == 1 else "look"
    return (
        f"{len(found)} of {len(runs)} embeddings {verb} rounded to a few digits, {found[0]} the first: write them all."
    )


def _rounded(Y: FloatArray) -> bool:
    spread = float(np.abs(Y - Y.mean(axis=0)).max())
    if not np.isfinite(spread) or spread == 0.0:
        return False
    places = int(np.floor(DIGITS - 1 - np.log10(spread)))
    return abs(places) < 300 and bool(np.allclose(np.round(Y, places), Y, rtol=1e-13, atol=0.0))


def copied_note(runs: Sequence[Run]) -> str:
    """Embeddings of transformed data that are the embedding of the data to the last bit; empty for none."""
    first, base = runs[0], runs[0].values
    others = [run for run in runs if run.digest != first.digest and run.values is not None]
    found = [run.file for run in others if base is not None and np.array_equal(run.values, base)]  # type: ignore[arg-type]
    if not found or placed_note(base):
        return ""
    what = f"{len(found)} of {len(others)} embeddings of transformed data {'is' if len(found) == 1 else 'are'} equal"
    return f"{what} to that of the data ({first.file}), {found[0]} the first: was a file copied?"


def placed_note(Y: FloatArray | None) -> str:
    """An embedding in one place; empty for others."""
    one_place = Y is not None and bool((Y == Y[0]).all())
    return "The embedding of the data puts all points in one place." if one_place else ""


def wide_note(d: int, full: int) -> str:
    """More dimensions than the data have; empty for fewer."""
    return f"More dimensions are asked for ({d}) than the data have ({full})." if d > full else ""
