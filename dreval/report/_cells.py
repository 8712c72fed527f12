"""Pictures of cells in one color that is the denser the more a cell holds, and the bar that says how much."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dreval.report._style import PLAIN

__all__ = ["shade_bar", "shaded"]

FloatArray = npt.NDArray[np.float64]
FAINT = 0.10  # opacity of the emptiest cell that is drawn at all


def shaded(share: FloatArray, there: npt.NDArray[np.bool_]) -> FloatArray:
    """An image (rows, columns, 4): opacity rises with the share from 0 to 1, and cells without anything are clear."""
    image = np.empty((*share.shape, 4))
    image[..., :3] = to_rgb(PLAIN)
    image[..., 3] = np.where(there, FAINT + (1 - FAINT) * share, 0.0)
    return image


def shade_bar(figure: Figure, ax: Axes, width: float, bottom: float) -> Axes:
    """The shades from 0 to 1 as a bar below a panel, that many inches long and above the end of the figure."""
    across, height = figure.get_size_inches()
    bar = figure.add_axes((ax.get_position().x0, bottom / height, width / across, 0.1 / height))
    share = np.linspace(0.0, 1.0, 64)[None]
    look: dict[str, Any] = {"aspect": "auto", "extent": (0, 1, 0, 1), "interpolation": "nearest"}
    bar.imshow(shaded(share, np.ones_like(share, bool)), **look)
    bar.set(yticks=[], xticks=[])
    bar.spines["bottom"].set_visible(False)
    return bar
