"""Colors, fonts and sizes of all figures and pages. Every color is defined here once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
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
from dreval._text import printable
from dreval.errors import InputError
from dreval.report.render.markup import math_symbols

# Names of the colors of a page, in light and dark. Figures are drawn in the light ones; where a figure enters a page
# each of them becomes the variable of its name, so all values of LIGHT differ.
LIGHT = {
    "paper": "#ffffff",
    "ink": "#16191d",
    "soft": "#59626c",
    "rule": "#dfe3e7",
    "panel": "#f5f7f9",
    "other": "#6b7480",
}
DARK = {
    "paper": "#12161b",
    "ink": "#eceff2",
    "soft": "#9ca7b2",
    "rule": "#2b333c",
    "panel": "#1a2027",
    "other": "#8b95a0",
}
# Colors of pages only: tracks of bars, leading sentences, lines and bands that are not in ink.
PAGE_LIGHT = {"track": "#e3e7eb", "lead": "#39414a", "line": "#c3cad1", "band": "#16191d22"}
PAGE_DARK = {"track": "#2c343d", "lead": "#c6cdd5", "line": "#46505b", "band": "#eceff22b"}
# From chance (orange) to perfect (blue): the one scale of a page, for points, bars and marks.
SCALE_LIGHT = ("#e67e00", "#d4862a", "#bf8b50", "#a38f72", "#7d8f98", "#4d82b3", "#2a6db0", "#0a549e")
SCALE_DARK = ("#ffae42", "#f1b262", "#dab382", "#c0b29f", "#a2aeb6", "#82a9cf", "#5f9fe0", "#3d92ec")
# Classes of points, the same on light and dark paper, because dense figures are pixels. Any first few are as far apart
# as can be: chosen by simulated annealing for the largest smallest CIELAB (1976) distance, 13, as seen by all, by
# protanopes and by deuteranopes. The last one also is "other".
CLASS_COLORS = (
    "#008c8c", "#fabe28", "#828cfa", "#be6428", "#f0be82", "#3cd2fa",
    "#96bea0", "#5082b4", "#00965a", "#f0465a", "#a0b43c", "#b4b9bf",
)  # fmt: skip
PLAIN_COLOR = "#66788c"
# The ends of maps of differences, which say who is better and nothing of chance; their middle is a neutral gray.
SECOND_BETTER_COLOR = "#7b3294"
FIRST_BETTER_COLOR = "#00773a"
# Numbers that are neither good nor bad, low to high: viridis (van der Walt & Smith), less its palest end.
NUMBER_RAMP = (
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
FALLBACK_FONTS = (
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
PIXELS_PER_INCH = 96  # of a page, by the definition of CSS

_RC = {
    "text.usetex": False,
    "text.parse_math": False,  # names are shown unchanged, including `$` and `_`
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
_FONT_FAMILY_KEYS = frozenset(
    ("font.family", "font.sans-serif", "font.serif", "font.monospace", "font.cursive", "font.fantasy")
)
_READER_KEYS = _FONT_FAMILY_KEYS | {"figure.dpi"}
_PANEL: ContextVar[_ReaderAxes | None] = ContextVar("panel", default=None)


@contextmanager
def figure_style() -> Iterator[None]:
    """Apply the style of all figures within a block; the settings of matplotlib are neither used nor changed."""
    with rc_context({**_defaults(), **_RC, "font.family": list(_font_families())}), _without_glyph_warnings():
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
            hint = "The size is that of the figure of ax."
            raise InputError("figsize", "must be left out with ax", describe(figsize), hint)
        if not isinstance(figsize, list | tuple) or len(figsize) != 2:
            raise InputError("figsize", "must be (width, height) in inches", describe(figsize), "Pass (6, 4).")
        figsize = tuple(check_float(length, "figsize", low=0.5) for length in figsize)
    usual = _defaults()
    changed = {key: rcParams[key] for key in _READER_KEYS if rcParams[key] != usual[key]}
    changed["font.family"] = [
        *(rcParams["font.family"] if changed.keys() & _FONT_FAMILY_KEYS else ()),
        *_font_families(),
    ]
    ratio = float(rcParams["font.size"]) / float(usual["font.size"])
    token = _PANEL.set(None if ax is None else _ReaderAxes(ax))
    try:
        with rc_context({**usual, **_RC, **changed}), _without_glyph_warnings():
            drawing = draw()
            drawing = drawing if ax is None else ax
            if figsize is not None:
                drawing.set_size_inches(figsize)
            if ratio != 1.0:
                _scale_texts(drawing, ratio)
    finally:
        _PANEL.reset(token)
    return drawing


def _scale_texts(drawing: Figure | Axes, ratio: float) -> None:
    """Multiply the sizes of all texts; those of ticks are set by their axis, which recreates them."""
    axes = drawing.axes if isinstance(drawing, Figure) else [drawing, *drawing.child_axes]
    ticks = set()
    for axis in (axis for panel in axes for axis in (panel.xaxis, panel.yaxis)):
        labels = axis.get_ticklabels()
        ticks |= {id(text) for text in axis.findobj(Text) if text is not axis.label}
        if labels:
            axis.set_tick_params(labelsize=ratio * labels[0].get_fontsize())
    for text in drawing.findobj(Text):
        if id(text) not in ticks:
            text.set_fontsize(ratio * text.get_fontsize())


class _ReaderAxes:
    """The figure of an Axes that the reader gave: its one panel is that Axes."""

    def __init__(self, ax: Axes) -> None:
        self.ax, self.used = ax, False

    def add_axes(self, _box: Any) -> Axes:
        """Return the panel of the figure, which may have one only."""
        if self.used:
            raise single_panel_error("several")
        self.used = True
        self.ax.spines[["left", "right", "top"]].set_visible(False)
        return self.ax

    def text(self, *_place: Any, **_options: Any) -> None:
        """Ignore the text below a figure."""

    def legend(self, handles: Any, labels: Any, **options: Any) -> Any:
        """Draw the legend below the panel."""
        return self.ax.legend(handles, labels, **{**options, "loc": "upper left", "bbox_to_anchor": (0.0, -0.02)})

    def get_size_inches(self) -> tuple[float, float]:
        """Return width and height of the panel."""
        box, dpi = self.ax.get_window_extent(), self.ax.figure.dpi
        return box.width / dpi, box.height / dpi

    def get_figheight(self) -> float:
        """Return the height of the panel."""
        return self.get_size_inches()[1]


def single_panel_error(count: object) -> InputError:
    """Return the error for an Axes where a figure has several panels."""
    hint = "Draw one embedding (embedding='umap') or one measure (measure=...), or take plot(...).axes of the figure."
    return InputError("ax", "must be left out where a figure has several panels", f"ax with {count} panels", hint)


@cache
def _defaults() -> dict[str, Any]:
    """Return the default settings of matplotlib."""
    from matplotlib import rcParamsDefault

    return {key: rcParamsDefault[key] for key in rcParamsDefault if not key.startswith(("backend", "interactive"))}


@contextmanager
def _without_glyph_warnings() -> Iterator[None]:
    """Suppress the warning for each letter without a glyph; ``letters_without_glyph`` finds them for one note."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        yield


class _QuietFigure(Figure):
    """A figure that does not warn of letters without a glyph, and that a notebook displays.

    Notebooks show figures of pyplot, once it has been imported; these figures are not registered with pyplot.
    """

    def draw(self, renderer: Any) -> None:
        with _without_glyph_warnings():
            super().draw(renderer)

    def get_tightbbox(self, *args: Any, **options: Any) -> Any:
        with _without_glyph_warnings():
            return super().get_tightbbox(*args, **options)

    def __repr__(self) -> str:
        return super().__repr__().replace("_QuietFigure", "Figure", 1)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the image for a notebook, and its width there, where pyplot has not registered a display."""
        target = BytesIO()
        self.savefig(target, format="png")
        return target.getvalue(), {"width": round(PIXELS_PER_INCH * self.get_figwidth())}


@cache
def _font_families() -> tuple[str, ...]:
    """Return the font of figures, and the installed fonts with the letters that it lacks."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return (FONT, *(name for name in FALLBACK_FONTS if name in installed))


@cache
def _drawable_letters() -> frozenset[int]:
    """Return the codes of all letters that figures can show."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    files = (findfont(FontProperties(family=[name])) for name in _font_families())
    return frozenset().union(*(get_font(file).get_charmap() for file in files))


def letters_without_glyph(texts: Iterable[str]) -> str:
    """Return the letters of texts that no installed font has, in their order."""
    missing = (c for text in texts for c in printable(text) if not c.isspace() and ord(c) not in _drawable_letters())
    return "".join(dict.fromkeys(missing))


def new_figure(width: float, height: float) -> Figure:
    """Return a figure of these inches that pyplot does not register, or the stand-in for the reader's Axes."""
    if (reader_axes := _PANEL.get()) is not None:
        return reader_axes  # type: ignore[return-value]
    figure = _QuietFigure(figsize=(width, height), dpi=rcParams["figure.dpi"])
    FigureCanvasAgg(figure)
    return figure


def one_axes(width: float, height: float, left: float, right: float, bottom: float, top: float) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes and margins in inches."""
    figure = new_figure(width, height)
    box = (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
    return figure, figure.add_axes(box)


def css_variables() -> dict[str, str]:
    """Return the CSS variable of a page for each color of figures."""
    names = {value: f"var(--{name})" for name, value in LIGHT.items()}
    names |= {value: f"var(--q{i})" for i, value in enumerate(SCALE_LIGHT)}
    return names | {value: f"var(--k{i})" for i, value in enumerate(CLASS_COLORS)}


def math_text(text: str, is_own_text: bool) -> dict[str, Any]:
    """Return keywords of a text, with subscripts in its symbols if it is a text of this package."""
    markup = text if "$" in text or not is_own_text else math_symbols(text)
    return {"label": markup} if markup == text else {"label": markup, "parse_math": True}
