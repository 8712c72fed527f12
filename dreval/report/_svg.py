"""A matplotlib figure as SVG that lives inside a page: with the page's colors, and its text as text."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree as ET

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from dreval.glossary import printable
from dreval.report._style import PIXELS_PER_INCH, css_variables, drawing

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_DOT = re.compile(r"M ?(\S+) (\S+) ?L ?(\S+) \2(?= |$)")
_URL = re.compile(r"url\(#([^)]+)\)")
_MARK = re.compile(r"^(class|embedding)-(\d+)(?:-\d+)?$")


def inline_svg(figure: Figure, prefix: str, label: str) -> str:
    """The figure as one ``<svg>`` element.

    Parameters
    ----------
    figure : Figure
        Drawn in the colors of ``_style.LIGHT`` and ``EMBEDDINGS_LIGHT``.
    prefix : str
        Letters and digits that no other figure of the page has; all ids begin with it.
    label : str
        What the figure shows, for those who do not see it.

    Returns
    -------
    str
        No declaration, no style sheet, no date, no name of a font; the same figure gives the same text.
    """
    root = ET.fromstring(_written(figure, prefix))
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style", f"{{{SVG}}}title"):
                parent.remove(child)
    for text in root.iter(f"{{{SVG}}}text"):
        _join_glyphs(text)
    names = _names(root, prefix)
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


def _written(figure: Figure, prefix: str) -> bytes:
    """What matplotlib writes. Glyphs are the page's business: that a font here lacks one does not matter."""
    buffer = io.BytesIO()
    with drawing(), rc_context({"svg.fonttype": "none", "svg.hashsalt": prefix}):
        figure.patch.set_visible(False)
        FigureCanvasSVG(figure).print_figure(buffer, format="svg", dpi=200, metadata={"Date": None})
    return buffer.getvalue()


def _join_glyphs(text: ET.Element) -> None:
    """Words with mathematics, which come glyph by glyph at fixed places, as runs that any font can set.

    Runs stand in the order of reading; what stands low or high is shifted from the run before.
    """
    glyphs = []
    for span in list(text):
        places = zip(span.get("x", "").split(), span.text or "", strict=False)
        y, style = float(span.get("y", "0")), span.get("style", "")
        glyphs += [(float(x), y, style, glyph.replace("\xa0", " ")) for x, glyph in places]
        text.remove(span)
    line, run = 0.0, None
    for place, (_, y, style, glyph) in enumerate(sorted(glyphs, key=lambda one: one[0])):
        if run is None or y != line or run.get("style") != style:
            run = ET.SubElement(text, f"{{{SVG}}}tspan", style=style)
            run.text = ""
            if place:
                run.set("dy", _NUMBER.sub(_short, f"{y - line:.6f}"))
            line = y
        run.text = f"{run.text or ''}{glyph}"
    if glyphs:
        text.text = None


def _names(root: ET.Element, prefix: str) -> dict[str, str]:
    """New names of the ids that something refers to, in the order of the drawing."""
    used = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            used.update(_URL.findall(value))
            if key.endswith("href") and value.startswith("#"):
                used.add(value[1:])
    ordered = [element.attrib["id"] for element in root.iter() if element.attrib.get("id") in used]
    return {name: f"{prefix}-{i}" for i, name in enumerate(dict.fromkeys(ordered))}


def _clean(element: ET.Element, names: dict[str, str], colors: dict[str, str]) -> None:
    """Rename ids, shorten numbers, take the page's colors and font; marks of classes become data attributes."""
    spoken = element.tag in (f"{{{SVG}}}text", f"{{{SVG}}}tspan")
    if not spoken:
        element.text = None
    element.tail = None
    old = element.attrib.pop("id", None)
    mark = _MARK.match(old or "")
    if mark:
        element.set(f"data-{mark.group(1)}", mark.group(2))
    elif old in names:
        element.set("id", names[old])
    for key in list(element.attrib):
        value = element.attrib.pop(key)
        if key == f"{{{XLINK}}}href":
            key, value = "href", f"#{names[value[1:]]}" if value.startswith("#") else value.replace("\n", "")
        elif key == "d":
            value = _path(value)
        elif key == "style":
            value = _style(value, spoken)
        elif key in ("transform", "x", "y", "points"):
            value = _NUMBER.sub(_short, value)
        value = _URL.sub(lambda found: f"url(#{names[found.group(1)]})", value)
        if key != "href":
            for color, variable in colors.items():
                value = value.replace(color, variable)
        if value:
            # var() works in style, not in presentation attributes
            if value.startswith("var("):
                element.set("style", f"{key}: {value}; {element.attrib.get('style', '')}".rstrip("; "))
            else:
                element.set(key, value)


def _short(found: re.Match[str]) -> str:
    """A number with two places behind the point."""
    text = f"{float(found.group()):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _path(commands: str) -> str:
    """A path with short numbers; strokes without length are written as such."""
    text = " ".join(_NUMBER.sub(_short, commands).split())
    return _DOT.sub(_dot, text)


def _dot(found: re.Match[str]) -> str:
    x, y, end = found.groups()
    return f"M{x} {y}h0" if abs(float(x) - float(end)) <= 0.02 else found.group()


def _style(style: str, text: bool) -> str:
    """A style without the names of fonts: text is set in the page's."""
    parts = [part.strip() for part in style.split(";") if part.strip()]
    if not text:
        return ";".join(parts)
    kept = []
    for part in parts:
        key, _, value = part.partition(":")
        if key == "font":
            weight = "bold" if re.search(r"\b(bold|700)\b", value.split("px")[0]) else ""
            size = re.search(r"([\d.]+)px", value)
            kept += [f"font-size:{size.group(1)}px"] if size else []
            kept += [f"font-weight:{weight}"] if weight else []
        elif key not in ("font-family", "font-style"):
            kept.append(f"{key}:{value.strip()}")
    return ";".join(kept)


def _prune(parent: ET.Element) -> None:
    """Remove groups and definitions that hold nothing, from the leaves up."""
    for child in list(parent):
        _prune(child)
        if child.tag in (f"{{{SVG}}}g", f"{{{SVG}}}defs") and len(child) == 0:
            parent.remove(child)
