"""A matplotlib figure as inline SVG of a page: with the colors of the page, and with its text as text."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree as ET

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from dreval._text import printable
from dreval.report._style import PIXELS_PER_INCH, css_variables, figure_style

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_POINT_STROKE = re.compile(r"M ?(\S+) (\S+) ?L ?(\S+) \2(?= |$)")
_URL = re.compile(r"url\(#([^)]+)\)")
_DATA_ID = re.compile(r"^(class|embedding)-(\d+)(?:-\d+)?$")


def inline_svg(figure: Figure, prefix: str, label: str) -> str:
    """Return the figure as one ``<svg>`` element.

    Parameters
    ----------
    figure : Figure
        A figure in the light colors of ``_style``.
    prefix : str
        Letters and digits that no other figure of the page has; all ids begin with it.
    label : str
        A description of the figure, for screen readers.

    Returns
    -------
    str
        No declaration, no style sheet, no date, no name of a font; the same figure gives the same text.
    """
    root = ET.fromstring(_matplotlib_svg(figure, prefix))
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style", f"{{{SVG}}}title"):
                parent.remove(child)
    for text in root.iter(f"{{{SVG}}}text"):
        _join_glyphs(text)
    names = _short_ids(root, prefix)
    colors = css_variables()
    for element in root.iter():
        _clean(element, names, colors)
    _prune(root)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("style", f"--w:{PIXELS_PER_INCH * figure.get_figwidth():.0f}px")  # its width on paper
    root.set("role", "img")
    root.set("aria-label", printable(label))
    ET.register_namespace("", SVG)
    return ET.tostring(root, encoding="unicode").replace("\n", "")


def _matplotlib_svg(figure: Figure, prefix: str) -> bytes:
    """Return the SVG of matplotlib. Missing glyphs do not matter, since the page has its own fonts."""
    buffer = io.BytesIO()
    with figure_style(), rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        figure.patch.set_visible(False)
        FigureCanvasSVG(figure).print_figure(buffer, format="svg", dpi=200, metadata={"Date": None})
    return buffer.getvalue()


def _join_glyphs(text: ET.Element) -> None:
    """Join text with mathematics, which comes glyph by glyph at fixed places, into runs that any font can set.

    Runs are in reading order; subscripts and superscripts are shifted from the run before.
    """
    glyphs = []
    for span in list(text):
        places = zip(span.get("x", "").split(), span.text or "", strict=False)
        y, style = float(span.get("y", "0")), span.get("style", "")
        glyphs += [(float(x), y, style, glyph.replace("\xa0", " ")) for x, glyph in places]
        text.remove(span)
    line, run = 0.0, None
    for place, (_, y, style, glyph) in enumerate(sorted(glyphs, key=lambda glyph_place: glyph_place[0])):
        if run is None or y != line or run.get("style") != style:
            run = ET.SubElement(text, f"{{{SVG}}}tspan", style=style)
            run.text = ""
            if place:
                run.set("dy", _NUMBER.sub(_short_number, f"{y - line:.6f}"))
            line = y
        run.text = f"{run.text or ''}{glyph}"
    if glyphs:
        text.text = None


def _short_ids(root: ET.Element, prefix: str) -> dict[str, str]:
    """Return new names of the ids that are referred to, in the order of the drawing."""
    used = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            used.update(_URL.findall(value))
            if key.endswith("href") and value.startswith("#"):
                used.add(value[1:])
    ordered = [element.attrib["id"] for element in root.iter() if element.attrib.get("id") in used]
    return {name: f"{prefix}-{i}" for i, name in enumerate(dict.fromkeys(ordered))}


def _clean(element: ET.Element, names: dict[str, str], colors: dict[str, str]) -> None:
    """Rename ids, shorten numbers, use the colors and font of the page; ids of classes become data attributes."""
    is_text_element = element.tag in (f"{{{SVG}}}text", f"{{{SVG}}}tspan")
    if not is_text_element:
        element.text = None
    element.tail = None
    old = element.attrib.pop("id", None)
    data_id = _DATA_ID.match(old or "")
    if data_id:
        element.set(f"data-{data_id.group(1)}", data_id.group(2))
    elif old in names:
        element.set("id", names[old])
    for key in list(element.attrib):
        value = element.attrib.pop(key)
        if key == f"{{{XLINK}}}href":
            key, value = "href", f"#{names[value[1:]]}" if value.startswith("#") else value.replace("\n", "")
        elif key == "d":
            value = _path(value)
        elif key == "style":
            value = _style(value, is_text_element)
        elif key in ("transform", "x", "y", "points"):
            value = _NUMBER.sub(_short_number, value)
        value = _URL.sub(lambda match: f"url(#{names[match.group(1)]})", value)
        if key != "href":
            for color, variable in colors.items():
                value = value.replace(color, variable)
        if value:
            # var() works in style, not in presentation attributes
            if value.startswith("var("):
                element.set("style", f"{key}: {value}; {element.attrib.get('style', '')}".rstrip("; "))
            else:
                element.set(key, value)


def _short_number(match: re.Match[str]) -> str:
    """Return a number with two decimals."""
    text = f"{float(match.group()):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _path(commands: str) -> str:
    """Return a path with short numbers; strokes of length zero have their short form."""
    text = " ".join(_NUMBER.sub(_short_number, commands).split())
    return _POINT_STROKE.sub(_shorten_point, text)


def _shorten_point(match: re.Match[str]) -> str:
    x, y, end = match.groups()
    return f"M{x} {y}h0" if abs(float(x) - float(end)) <= 0.02 else match.group()


def _style(style: str, text: bool) -> str:
    """Return a style without the names of fonts: text has the font of the page."""
    parts = [part.strip() for part in style.split(";") if part.strip()]
    if not text:
        return ";".join(parts)
    properties = []
    for part in parts:
        key, _, value = part.partition(":")
        if key == "font":
            weight = "bold" if re.search(r"\b(bold|700)\b", value.split("px")[0]) else ""
            size = re.search(r"([\d.]+)px", value)
            properties += [f"font-size:{size.group(1)}px"] if size else []
            properties += [f"font-weight:{weight}"] if weight else []
        elif key not in ("font-family", "font-style"):
            properties.append(f"{key}:{value.strip()}")
    return ";".join(properties)


def _prune(parent: ET.Element) -> None:
    """Remove groups and definitions that are empty, from the leaves up."""
    for child in list(parent):
        _prune(child)
        if child.tag in (f"{{{SVG}}}g", f"{{{SVG}}}defs") and len(child) == 0:
            parent.remove(child)
