"""Colors, type and paper of all figures and pages: every color is said here once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from io import BytesIO
from typing import Any

from matplotlib import rc_context, rcParams
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from dreval._check import check_float, describe
from dreval.errors import InputError
from dreval.glossary import printable
from dreval.report.render.markup import math_symbols

# What a page calls its colors, in light and dark. Figures are drawn in the light ones; where a figure enters a page
# each of them becomes the variable of its name, so all values of LIGHT differ.
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#59636e",
    "rule": "#d8dee4",
    "panel": "#f6f8fa",
    "accent": "#2f6f4f",
    "other": "#6b7480",
}
DARK = {
    "paper": "#14181d",
    "ink": "#e6e9ed",
    "soft": "#9aa4af",
    "rule": "#2d343c",
    "panel": "#1b2027",
    "accent": "#4fae86",
    "other": "#8b95a0",
}
# A color means one thing on a page: green is better, dark colors (light ones on dark paper) are embeddings, those of
# middle lightness are classes, grays are the rest. Chosen together by simulated annealing for the largest smallest
# CIELAB (1976) distance as seen by all, by protanopes and by deuteranopes: 20 between two embeddings, 13 between two
# classes, 12 between an embedding and a class, 11 between an embedding and the scale from worse to better.
# Contrast of embeddings with the paper is at least 4.5, since names are written in them.
EMBEDDINGS_LIGHT = (
    "#0078c8",
    "#aa0a00",
    "#640082",
    "#dc1e82",
    "#005050",
    "#461400",
    "#1e1e46",
    "#0064fa",
)
EMBEDDINGS_DARK = (
    "#64aaf0",
    "#fa7882",
    "#826efa",
    "#e646be",
    "#46e6f0",
    "#e66e00",
    "#fadcbe",
    "#fac864",
)
# Classes of points; the same on light and dark paper, because dense figures are pixels. Any first few are as far apart
# as can be. The last one also is "other".
CLASS_COLORS = (
    "#008c8c",
    "#fabe28",
    "#828cfa",
    "#be6428",
    "#f0be82",
    "#3cd2fa",
    "#96bea0",
    "#5082b4",
    "#00965a",
    "#f0465a",
    "#a0b43c",
    "#b4b9bf",
)
PLAIN = "#66788c"
# From the worst to the best of a map: lightness falls steadily, also under simulated color blindness.
RAMP = (
    "#d9b13b",
    "#cdae3f",
    "#c2ab42",
    "#b6a846",
    "#aaa549",
    "#9ea24c",
    "#929f4e",
    "#859c51",
    "#799652",
    "#6d8e51",
    "#618750",
    "#547f4f",
    "#48774e",
    "#3a704d",
    "#2b684b",
    "#17614a",
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
# Fonts with the letters of East Asia, the more usual ones first, and with pictograms; those that are installed are used
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
DPI = 150
GAP, SIDES = 0.16, 0.18  # inches between two panels, and beside them all
WIDEST = 6.9  # inches of panels side by side: on a line of 6.3, of a report, letters of 8 points still have 7
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
    "figure.dpi": DPI,
    "figure.facecolor": LIGHT["paper"],
    "path.simplify": False,
}
# What the reader's rcParams decide in figures that they draw, where these differ from the defaults of matplotlib.
_FAMILIES = frozenset(
    ("font.family", "font.sans-serif", "font.serif", "font.monospace", "font.cursive", "font.fantasy")
)
_READER = _FAMILIES | {"figure.dpi"}
_PANEL: ContextVar[_Inside | None] = ContextVar("panel", default=None)


@contextmanager
def drawing() -> Iterator[None]:
    """The style of all figures, for the time of drawing only; the settings of matplotlib are not used or changed."""
    with rc_context({**_defaults(), **_RC, "font.family": list(_families())}), _quiet():
        yield


def draw_for_reader(draw: Callable[[], Any], ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw with the reader's fonts and resolution; into ``ax``, which is then returned, or with that size in inches.

    Where ``rcParams`` differ from the defaults of matplotlib in the family or size of fonts or in ``figure.dpi``, they
    are used; the size of every text changes in the ratio in which ``font.size`` was changed.
    """
    if ax is not None and not isinstance(ax, Axes):
        raise InputError("ax", "must be matplotlib Axes", describe(ax), "Pass one of plt.subplots(), or leave it out.")
    if figsize is not None:
        if ax is not None:
            cure = "The size is that of the figure of ax."
            raise InputError("figsize", "must be left out with ax", describe(figsize), cure)
        if not isinstance(figsize, list | tuple) or len(figsize) != 2:
            raise InputError("figsize", "must be (width, height) in inches", describe(figsize), "Pass (6, 4).")
        figsize = tuple(check_float(length, "figsize", low=0.5) for length in figsize)
    usual = _defaults()
    changed = {key: rcParams[key] for key in _READER if rcParams[key] != usual[key]}
    changed["font.family"] = [*(rcParams["font.family"] if changed.keys() & _FAMILIES else ()), *_families()]
    ratio = float(rcParams["font.size"]) / float(usual["font.size"])
    token = _PANEL.set(None if ax is None else _Inside(ax))
    try:
        with rc_context({**usual, **_RC, **changed}), _quiet():
            made = draw()
            made = made if ax is None else ax
            if figsize is not None:
                made.set_size_inches(figsize)
            if ratio != 1.0:
                _enlarge(made, ratio)
    finally:
        _PANEL.reset(token)
    return made


def _enlarge(made: Figure | Axes, ratio: float) -> None:
    """Multiply the sizes of all texts; those of ticks are set by their axis, which recreates them."""
    axes = made.axes if isinstance(made, Figure) else [made, *made.child_axes]
    ticks = set()
    for axis in (axis for one in axes for axis in (one.xaxis, one.yaxis)):
        labels = axis.get_ticklabels()
        ticks |= {id(text) for text in axis.findobj(Text) if text is not axis.label}
        if labels:
            axis.set_tick_params(labelsize=ratio * labels[0].get_fontsize())
    for text in made.findobj(Text):
        if id(text) not in ticks:
            text.set_fontsize(ratio * text.get_fontsize())


class _Inside:
    """Stands for the figure where the reader gave an Axes: its one panel is that Axes."""

    def __init__(self, ax: Axes) -> None:
        self.ax, self.used = ax, False

    def add_axes(self, _box: Any) -> Axes:
        """The panel of the figure, which may have one only."""
        if self.used:
            raise one_panel("several")
        self.used = True
        self.ax.spines[["left", "right", "top"]].set_visible(False)
        return self.ax

    def text(self, *_place: Any, **_look: Any) -> None:
        """Words below a figure are left out."""

    def legend(self, handles: Any, labels: Any, **options: Any) -> Any:
        """The legend below the panel."""
        return self.ax.legend(handles, labels, **{**options, "loc": "upper left", "bbox_to_anchor": (0.0, -0.02)})

    def get_size_inches(self) -> tuple[float, float]:
        """Width and height of the panel."""
        box, dpi = self.ax.get_window_extent(), self.ax.figure.dpi
        return box.width / dpi, box.height / dpi

    def get_figheight(self) -> float:
        """Height of the panel."""
        return self.get_size_inches()[1]


def one_panel(count: object) -> InputError:
    """The error for an Axes where a figure has several panels."""
    cure = "Draw one embedding (embedding='umap') or one measure (measure=...), or take plot(...).axes of the figure."
    return InputError("ax", "must be left out where a figure has several panels", f"ax with {count} panels", cure)


def bar_axes(figure: Figure, ax: Axes, width: float, bottom: float) -> Axes:
    """Axes for a bar below a panel, that many inches long and above the end of the figure."""
    if isinstance(figure, _Inside):
        return ax.inset_axes((0.0, -0.18, min(1.0, 0.8), 0.04))
    across, height = figure.get_size_inches()
    return figure.add_axes((ax.get_position().x0, bottom / height, width / across, 0.1 / height))


@cache
def _defaults() -> dict[str, Any]:
    """The settings of matplotlib as it comes."""
    from matplotlib import rcParamsDefault

    return {key: rcParamsDefault[key] for key in rcParamsDefault if not key.startswith(("backend", "interactive"))}


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
        """What a notebook shows, where pyplot has not taught it figures: the image, and its width there."""
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
    """A figure of that many inches which no global list of figures knows; or what stands for the reader's Axes."""
    if (inside := _PANEL.get()) is not None:
        return inside  # type: ignore[return-value]
    figure = _Quiet(figsize=(width, height), dpi=rcParams["figure.dpi"])
    FigureCanvasAgg(figure)
    return figure


def one_axes(width: float, height: float, left: float, right: float, bottom: float, top: float) -> tuple[Figure, Axes]:
    """A figure with one pair of axes and margins in inches."""
    figure = new_figure(width, height)
    box = (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
    return figure, figure.add_axes(box)


def grid_columns(count: int, panel: float) -> int:
    """How many of ``count`` panels of that many inches stand in a row, so that rows are nearly full."""
    most = int((WIDEST - 2 * SIDES + GAP) / (panel + GAP))
    return -(-count // -(-count // most))


def grid_width(count: int, panel: float) -> float:
    """Inches within the margins of a figure of ``count`` panels of that many inches."""
    columns = grid_columns(count, panel)
    return max(columns * panel + (columns - 1) * GAP, 2.6)


def grid(
    count: int, panel: float, head: float, foot: float, beside: float = 0.0, below: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` square panels of that many inches, as many a row as paper has room for, and two margins.

    ``beside`` and ``below`` are the room left of and under each panel for the numbers of its axes.
    """
    if count > 1 and _PANEL.get() is not None:
        raise one_panel(count)
    columns = grid_columns(count, panel + beside)
    rows = -(-count // columns)
    gap, title, edge = GAP, 0.3, SIDES
    width = grid_width(count, panel + beside) + 2 * edge
    height = rows * (panel + title + below) + (rows - 1) * gap + edge + head + foot
    figure = new_figure(width, height)
    axes = []
    for place in range(count):
        row, column = divmod(place, columns)
        x = edge + beside + column * (panel + beside + gap)
        y = height - head - edge / 2 - (row + 1) * (panel + title) - row * (gap + below)
        axes.append(figure.add_axes((x / width, y / height, panel / width, panel / height)))
    return figure, axes


def embedding_color(named: Sequence[str], name: str) -> str:
    """Color of an embedding: its own if it is one of the named (``Reading.named``), else the gray of all others."""
    return EMBEDDINGS_LIGHT[named.index(name)] if name in named else LIGHT["other"]


def css_variables() -> dict[str, str]:
    """What each color that a figure is drawn in is called in a page."""
    names = {value: f"var(--{name})" for name, value in LIGHT.items()}
    return names | {value: f"var(--s{i})" for i, value in enumerate(EMBEDDINGS_LIGHT)}


def math_words(words: str, ours: bool) -> dict[str, Any]:
    """Keywords of a text whose symbols have their measure set low, where the words are ours; any other as it stands."""
    made = words if "$" in words or not ours else math_symbols(words)
    return {"label": made} if made == words else {"label": made, "parse_math": True}
