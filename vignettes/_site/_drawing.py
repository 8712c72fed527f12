"""Small drawings of points and curves as SVG in the colors of a page, a kilobyte or two each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.colors import to_hex

from dreval.report._style import CLASS_COLORS
from dreval.report.figures._panels import Scale

FloatArray = npt.NDArray[np.float64]
SIDE, EDGE = 100.0, 4.0
ALONG = tuple(to_hex(colormaps["viridis"](share)) for share in np.linspace(0.02, 0.92, 24))  # along a latent variable
VIEW = np.array([[0.88, 0.48, 0.0], [-0.21, 0.38, 0.90]])  # from where three columns are seen

__all__ = ["along", "by_class", "curve", "figure", "from_chance_to_perfect", "scatter"]


def along(values: npt.ArrayLike) -> list[str]:
    """Return colors of points by the place of their values, lowest to highest."""
    order = np.argsort(np.argsort(np.asarray(values), kind="stable"), kind="stable")
    return [ALONG[int(place * len(ALONG) / len(order))] for place in order]


def by_class(labels: Sequence[object]) -> list[str]:
    """Return colors of points by class."""
    kinds = sorted({str(label) for label in labels})
    return [CLASS_COLORS[kinds.index(str(label)) % len(CLASS_COLORS)] for label in labels]


def from_chance_to_perfect(values: FloatArray, chance: float, perfect: float) -> list[str]:
    """Return colors of points by how good their values are, on the scale of the package's own maps."""
    levels = Scale(chance, perfect).levels(np.nan_to_num(values))
    colors = [f"var(--q{level})" for level in levels]
    return ["var(--pst-color-border)" if np.isnan(v) else c for v, c in zip(values, colors, strict=True)]


def _flat(points: FloatArray) -> FloatArray:
    """Return two coordinates of points: a line as a strip, three columns seen from the side."""
    if points.shape[1] == 1:
        return np.column_stack([points[:, 0], np.zeros(len(points))])
    return points @ VIEW.T if points.shape[1] == 3 else points[:, :2]


def _placed(points: FloatArray) -> FloatArray:
    """Return points within the drawing, with one unit for both axes, upwards being up."""
    low, high = points.min(axis=0), points.max(axis=0)
    unit = (SIDE - 2 * EDGE) / max(float((high - low).max()), 1e-300)
    middle = SIDE / 2
    return middle + (points - (low + high) / 2) * unit * np.array([1.0, -1.0])


def scatter(points: FloatArray, colors: Sequence[str], label: str, size: float = 3.4) -> str:
    """Draw points in their colors; ``label`` describes the drawing to readers who cannot see it."""
    places = _placed(_flat(np.asarray(points, dtype=np.float64)))
    strokes: dict[str, list[str]] = {}
    for (x, y), color in zip(places, colors, strict=True):
        strokes.setdefault(color, []).append(f"M{x:.1f} {y:.1f}h0")
    paths = "".join(f'<path stroke="{color}" d="{"".join(marks)}"/>' for color, marks in strokes.items())
    return _svg(f'<g fill="none" stroke-linecap="round" stroke-width="{size}">{paths}</g>', label)


def curve(values: FloatArray, bounds: tuple[float, float], level: float | None, label: str) -> str:
    """Draw a curve over K = 1, 2, ... with K on a log scale; ``level`` is a dashed line."""
    low, high = bounds
    x = EDGE + np.log(np.arange(1, len(values) + 1)) / np.log(len(values)) * (SIDE - 2 * EDGE)
    inside = np.isfinite(values)
    height = 56.0

    def at(value: FloatArray | float) -> FloatArray | float:
        return 2 + (high - value) / (high - low) * (height - 4)

    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[inside], np.asarray(at(values[inside])), strict=True))
    dashed = "" if level is None else f'<path class="level" d="M{EDGE} {at(level):.1f}H{SIDE - EDGE}"/>'
    return _svg(f'{dashed}<polyline class="curve" points="{points}"/>', label, height)


def _svg(inside: str, label: str, height: float = SIDE) -> str:
    return f'<svg viewBox="0 0 {SIDE:g} {height:g}" role="img" aria-label="{escape(label, quote=True)}">{inside}</svg>'


def figure(svg: str, caption: str, small: str = "") -> str:
    """Return a drawing with its caption, as HTML."""
    below = f"<small>{small}</small>" if small else ""
    return f"<figure>{svg}<figcaption>{caption}{below}</figcaption></figure>"
