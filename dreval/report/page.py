"""Reports: a result as one self-contained page, or as a text with its figures in a folder beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from latex2mathml import exceptions
from latex2mathml.converter import convert
from markupsafe import Markup, escape

from dreval.errors import InputError
from dreval.glossary import REPORT_FORMS
from dreval.records.results import Results
from dreval.records.whole_file import write_whole
from dreval.report._beside import Beside, check_folder
from dreval.report._style import (
    DARK,
    EMBEDDINGS_DARK,
    EMBEDDINGS_LIGHT,
    LIGHT,
    RAMP,
    css_variables,
    embedding_color,
)
from dreval.report.contents.page import content
from dreval.report.contents.text import results_text
from dreval.report.figures._nulls import add_nulls
from dreval.report.figures._points import point_figures
from dreval.report.figures.forest import forest_words, forests
from dreval.report.reading import read_results
from dreval.report.render.html import html_sentence
from dreval.report.render.markup import html_symbols, printable

_NO_FORMULA = (*(one for one in vars(exceptions).values() if isinstance(one, type)), LookupError, ValueError)
_BREAK = re.compile(r"(?<=[\w$])([_\-/])(?=\w)")


def write_report(results: Results, path: str | Path, title: str | None = None) -> Path:
    r"""Write a report.

    Parameters
    ----------
    results : Results
        What ``Evaluation.run`` gave.
    path : str or Path
        Where to write: ``.html`` for one self-contained page; ``.md`` and ``.tex`` for a text, whose figures (and, for
        LaTeX, tables to ``\input``) lie in a folder beside it, ``report-figures`` for ``report.tex``.
    title : str, optional
        The heading; "Evaluation of four embeddings of digits" or the like by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the suffix is none of these, the folder does not exist, or the path is a folder.

    Notes
    -----
    The file loads nothing from elsewhere, names no time, and is the same for the same result, byte by byte, as are the
    files beside it. Sentences about an embedding follow from its numbers by rules (``report.statements``). A document
    for LaTeX needs nothing but booktabs, graphicx and longtable; pdfLaTeX shows letters that it does not know as code
    points, XeLaTeX and LuaLaTeX set them. O(n) time and memory for each embedding.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> res = dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=10, random_state=0).run(ci=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_report(res, f"{folder}/pca.md").read_text("utf-8").splitlines()[0])
    # Evaluation of one embedding of data
    """
    target = page_target(path)
    reading = read_results(results)
    page = content(results, reading, title)
    if not is_page(target):
        beside = Beside(target)
        return beside.write(results_text(results, reading, page, beside))
    page.update(point_figures(results, reading))
    found = page["paired"].found
    page["forests"] = [] if found is None else forests(found, reading)
    page["marks"] = forest_words(found, page["forests"][0]["wide"]) if found and page["forests"] else ""
    colors = css_variables()
    page["colors"] = {name: colors[embedding_color(reading.named, name)] for name in reading.names}
    add_nulls(page["test_groups"], results, reading)
    return write_page(target, "page", page)


def is_page(target: Path) -> bool:
    """Whether a page is written there, with figures in it; else a text with figures beside it."""
    return target.suffix.lower() == ".html"


def write_page(target: Path, name: str, page: dict[str, Any]) -> Path:
    """Write a page by the template of that name; the same content gives the same file."""
    page["variables"] = {"light": _variables(LIGHT, EMBEDDINGS_LIGHT), "dark": _variables(DARK, EMBEDDINGS_DARK)}
    text = _environment().get_template(f"{name}.html.j2").render(page)
    return write_whole(target, text.rstrip("\n") + "\n")


def page_target(path: str | Path) -> Path:
    """The path, where a report can be written there."""
    target = Path(path)
    if target.suffix.lower() not in REPORT_FORMS:
        *others, last = REPORT_FORMS
        cure = f"Choose {', '.join(f'{form} for {what}' for form, what in REPORT_FORMS.items())}."
        raise InputError("path", f"must end in {', '.join(others)} or {last}", repr(str(path)), cure)
    if not target.parent.is_dir():
        raise InputError(
            "path", "must lie in an existing folder", str(target.parent), "Create the folder first, or write elsewhere."
        )
    if target.is_dir():
        raise InputError("path", "must be a file", f"the folder {target}", "Add a file name to it.")
    if not is_page(target):
        check_folder(target)
    return target


def _environment() -> Environment:
    """Templates of this folder; everything that is put into a page is escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "render", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        symbol=_symbol,
        said=_said,
        formula=_formula,
        nobreak=_nobreak,
        breaks=_breaks,
        lines=_lines,
    )
    return environment


def _finalize(value: Any) -> Any:
    """What is printed holds no control characters."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


def _variables(colors: Mapping[str, str], embeddings: tuple[str, ...]) -> Markup:
    """Declarations of the colors of a page."""
    pairs = [*colors.items(), *((f"s{i}", value) for i, value in enumerate(embeddings)), ("worse", RAMP[0])]
    return Markup(";".join(f"--{name}:{value}" for name, value in pairs))


def _symbol(text: str) -> Markup:
    """Text in which symbols such as ``R_N,opt`` have their measure set low."""
    return Markup(html_symbols(str(escape(printable(text)))))


def _said(text: str) -> Markup:
    """A sentence of ours with its names."""
    return Markup(html_sentence(text))


def _formula(text: str) -> Markup:
    """A formula of a docstring, which browsers set."""
    try:
        return Markup(convert(text.rstrip(".,;"), display="block"))
    except _NO_FORMULA:  # of a measure of somebody else: it is shown as it is
        return escape(printable(text))


def _nobreak(text: str) -> str:
    """Text whose first space does not break, as in "k = 15"."""
    return text.replace(" = ", "\u00a0=\u00a0")


def _breaks(text: str) -> Markup:
    """A name that may break behind its underscores and hyphens."""
    return Markup("<wbr>").join(escape(part) for part in _BREAK.sub("\\1\0", printable(text)).split("\0"))


def _lines(value: Any) -> Markup:
    """Code with its line breaks."""
    return Markup("\n").join(escape(printable(line)) for line in str(value).splitlines())
