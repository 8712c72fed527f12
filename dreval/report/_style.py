"""Colors, type and paper of all figures and pages: every color is said here once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dreval.report.render.markup import math_symbols, printable

__all__ = [
    "CLASS_COLORS",
    "DARK",
    "EMBEDDINGS_DARK",
    "EMBEDDINGS_LIGHT",
    "LIGHT",
    "PLAIN",
    "RAMP",
    "SEQUENCE",
    "css_variables",
    "drawing",
    "embedding_color",
    "embedding_dashes",
    "grid",
    "grid_columns",
    "grid_width",
    "math_words",
    "new_figure",
    "one_axes",
    "printable",
    "unknown_letters",
]

# What a page calls its colors, in light and dark. Figures are drawn in the light ones; where a figure enters a page
# each of them becomes the variable of its name, so all values of LIGHT differ.
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#59636e",
    "rule": "#d8dee4",
    "panel": "#f6f8fa",
    "accent": "#2f6f4f",
}
DARK = {
    "paper": "#14181d",
    "ink": "#e6e9ed",
    "soft": "#9aa4af",
    "rule": "#2d343c",
    "panel": "#1b2027",
    "accent": "#4fae86",
}
# One color per embedding. Under simulated protanopia and deuteranopia no two are closer than 15 (CIE 1976); contrast
# with the paper is at least 4.5, since names are written in them.
EMBEDDINGS_LIGHT = (
    "#0b62a4",
    "#c2410c",
    "#2f7d4f",
    "#8b3fd0",
    "#42273f",
    "#6e1305",
    "#407789",
    "#0e2385",
    "#1b2d61",
    "#5a332f",
)
EMBEDDINGS_DARK = (
    "#6cb2f0",
    "#f59a62",
    "#6fce95",
    "#a786ff",
    "#fcef44",
    "#b8f6fd",
    "#508b8c",
    "#ee7807",
    "#b27154",
    "#b3fdab",
)
# Classes of points; the same on light and dark paper, because dense figures are pixels. Chosen among Tol's and Okabe
# and Ito's colors for the largest smallest distance (13) under the same simulations. The last one also is "other".
CLASS_COLORS = (
    "#4477aa",
    "#ee6677",
    "#ccbb44",
    "#117733",
    "#88ccee",
    "#aa3377",
    "#009e73",
    "#5b5fc7",
    "#999933",
    "#cc79a7",
    "#b58ad6",
    "#bbbbbb",
)
PLAIN = "#5b7fa6"
# From the worst to the best of a map: lightness falls steadily, also under simulated color blindness.
RAMP = (
    "#ec9140",
    "#e48c4a",
    "#db8853",
    "#d2845a",
    "#c98061",
    "#bf7c67",
    "#b4786d",
    "#a97572",
    "#9e7277",
    "#916f7c",
    "#846c80",
    "#766984",
    "#676787",
    "#55648a",
    "#3f618d",
    "#1d5f8f",
)
# Numbers that are neither good nor bad, low to high: viridis (van der Walt & Smith), less its palest end.
SEQUENCE = (
    "#440154",
    "#481769",
    "#472a7a",
    "#433d84",
    "#3d4e8a",
    "#355e8d",
    "#2e6d8e",
    "#297b8e",
    "#23898e",
    "#1f978b",
    "#21a585",
    "#2eb37c",
    "#46c06f",
    "#65cb5e",
    "#89d548",
    "#b0dd2f",
)

FONT = "DejaVu Sans"  # comes with matplotlib
# Fonts with the letters of East Asia, the more usual ones first, and with pictures; those that are installed are used
# where FONT has none.
FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "SimHei",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Emoji",
    "Symbola",
)
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)))
GAP = 0.16  # inches between two panels
PIXELS_PER_INCH = 96  # of a page, by the definition of CSS

_RC = {
    "text.usetex": False,
    "text.parse_math": False,  # names are shown as they are, `$` and `_` included
    "text.color": LIGHT["ink"],
    "font.size": 9.0,
    "axes.edgecolor": LIGHT["soft"],
    "axes.facecolor": "none",
    "axes.labelcolor": LIGHT["soft"],
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.8,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": True,
    "axes.axisbelow": True,
    "xtick.color": LIGHT["soft"],
    "ytick.color": LIGHT["soft"],
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "ytick.major.size": 0.0,
    "xtick.major.size": 3.0,
    "xtick.minor.size": 0.0,
    "figure.facecolor": LIGHT["paper"],
    "path.simplify": False,
}


@contextmanager
def drawing() -> Iterator[None]:
    """The manner of all figures, for the time of drawing only; nobody else's settings are touched or used."""
    from matplotlib import rcParamsDefault

    base = {key: rcParamsDefault[key] for key in rcParamsDefault if not key.startswith(("backend", "interactive"))}
    with rc_context({**base, **_RC, "font.family": list(_families())}), _quiet():
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Without a warning for each letter that no font has: ``unknown_letters`` finds them for one note."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        yield


class _Quiet(Figure):
    """A figure that warns of no letters when it is drawn, and shows itself in a notebook.

    Notebooks show the figures of pyplot, once it has been imported; these are none of its.
    """

    def draw(self, renderer: Any) -> None:
        with _quiet():
            super().draw(renderer)

    def get_tightbbox(self, *args: Any, **options: Any) -> Any:
        with _quiet():
            return super().get_tightbbox(*args, **options)

    def __repr__(self) -> str:
        return super().__repr__().replace("_Quiet", "Figure", 1)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """What a notebook shows, where pyplot has not taught it figures: the picture, and its width there."""
        target = BytesIO()
        self.savefig(target, format="png")
        return target.getvalue(), {"width": round(PIXELS_PER_INCH * self.get_figwidth())}


@cache
def _families() -> tuple[str, ...]:
    """The font of figures, and those installed here that have the letters it lacks."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return (FONT, *(name for name in FALLBACKS if name in known))


@cache
def _letters() -> frozenset[int]:
    """Codes of all letters that figures can show."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    files = (findfont(FontProperties(family=[name])) for name in _families())
    return frozenset().union(*(get_font(file).get_charmap() for file in files))


def unknown_letters(texts: Iterable[str]) -> str:
    """The letters of texts that no font here has, in their order."""
    found = (c for text in texts for c in printable(text) if not c.isspace() and ord(c) not in _letters())
    return "".join(dict.fromkeys(found))


def new_figure(width: float, height: float) -> Figure:
    """A figure of that many inches which no global list of figures knows."""
    figure = _Quiet(figsize=(width, height), dpi=150)
    FigureCanvasAgg(figure)
    return figure


def one_axes(width: float, height: float, left: float, right: float, bottom: float, top: float) -> tuple[Figure, Axes]:
    """A figure with one pair of axes and margins in inches."""
    figure = new_figure(width, height)
    box = (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
    return figure, figure.add_axes(box)


def grid_columns(count: int) -> int:
    """How many of ``count`` panels stand in a row."""
    return count if count <= 4 else {5: 3, 6: 3, 9: 5, 10: 5}.get(count, 4)


def grid_width(count: int, panel: float, beside: float = 0.0) -> float:
    """Inches within the margins of a figure of ``count`` panels."""
    columns = grid_columns(count)
    return max(columns * (panel + beside) + (columns - 1) * GAP, 2.6)


def grid(
    count: int, panel: float, head: float, foot: float, beside: float = 0.0, below: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` square panels of that many inches, at most five a row, and margins above and below.

    ``beside`` and ``below`` are the room left of and under each panel for the numbers of its axes.
    """
    columns = grid_columns(count)
    rows = -(-count // columns)
    gap, title, edge = GAP, 0.3, 0.18
    width = grid_width(count, panel, beside) + 2 * edge
    height = rows * (panel + title + below) + (rows - 1) * gap + edge + head + foot
    figure = new_figure(width, height)
    axes = []
    for place in range(count):
        row, column = divmod(place, columns)
        x = edge + beside + column * (panel + beside + gap)
        y = height - head - edge / 2 - (row + 1) * (panel + title) - row * (gap + below)
        axes.append(figure.add_axes((x / width, y / height, panel / width, panel / height)))
    return figure, axes


def embedding_color(place: int) -> str:
    """Color of the embedding that was added at that place."""
    return EMBEDDINGS_LIGHT[place % len(EMBEDDINGS_LIGHT)]


def embedding_dashes(place: int) -> Any:
    """Dashes of the line of the embedding that was added at that place: another kind for each round of colors."""
    return DASHES[place // len(EMBEDDINGS_LIGHT) % len(DASHES)]


def css_variables() -> dict[str, str]:
    """What each color that a figure is drawn in is called in a page."""
    names = {value: f"var(--{name})" for name, value in LIGHT.items()}
    return names | {value: f"var(--s{i})" for i, value in enumerate(EMBEDDINGS_LIGHT)}


def math_words(words: str, ours: bool) -> dict[str, Any]:
    """Keywords of a text whose symbols have their measure set low, where the words are ours; any other as it stands."""
    made = words if "$" in words or not ours else math_symbols(words)
    return {"label": made} if made == words else {"label": made, "parse_math": True}
