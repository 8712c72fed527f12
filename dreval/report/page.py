"""Reports: a result as one self-contained page, or as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from dreval.errors import InputError
from dreval.report._content import content
from dreval.report._pictures import pictures
from dreval.report._reading import read_results
from dreval.report._style import DARK, EMBEDDINGS_DARK, EMBEDDINGS_LIGHT, LIGHT, printable
from dreval.report._test_pictures import add_nulls, forests
from dreval.results.symbols import html_symbols, plain_symbols
from dreval.results.table import Results

__all__ = ["is_page", "page_target", "write_page", "write_report"]

_FORMS = (".html", ".md")
_BREAK = re.compile(r"(?<=[\w$])([_\-/])(?=\w)")
_MARKDOWN = "\\`*_[]<>#|~$"


def write_report(results: Results, path: str | Path, title: str | None = None) -> Path:
    """Write a report.

    Parameters
    ----------
    results : Results
        What ``Evaluation.run`` gave.
    path : str or Path
        Where to write: ``.html`` for one self-contained page with figures, ``.md`` for its tables and words.
    title : str, optional
        The heading; "Four embeddings of digits" or the like by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the suffix is neither, the folder does not exist, or the path is a folder.

    Notes
    -----
    The file loads nothing, names no time, and is the same for the same result, byte by byte. Words about an embedding
    come from its numbers by the rules in ``dreval.report.words``. O(n) time and memory for each embedding.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> res = dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=10, random_state=0).run(ci=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_report(res, f"{folder}/pca.md").read_text("utf-8").splitlines()[0])
    # One embedding of data
    """
    target = page_target(path)
    reading = read_results(results)
    page = content(results, reading, title)
    if is_page(target):
        page.update(pictures(results, reading))
        page["forests"] = forests(page["paired"].found, reading)
        add_nulls(page["test_groups"], results, reading)
    return write_page(target, "page", page)


def is_page(target: Path) -> bool:
    """Whether a page is written there, with figures; else a text."""
    return target.suffix.lower() == ".html"


def write_page(target: Path, name: str, page: dict[str, Any]) -> Path:
    """Write what a page or text says by the template of that name; the same content gives the same file."""
    if is_page(target):
        page["variables"] = {"light": _variables(LIGHT, EMBEDDINGS_LIGHT), "dark": _variables(DARK, EMBEDDINGS_DARK)}
    text = _environment(is_page(target)).get_template(f"{name}{target.suffix.lower()}.j2").render(page)
    target.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")
    return target


def page_target(path: str | Path) -> Path:
    """The path, where a report can be written there."""
    target = Path(path)
    if target.suffix.lower() not in _FORMS:
        raise InputError(
            "path", "must end in .html or .md", repr(str(path)), "Choose .html for a page, .md for tables and words."
        )
    if not target.parent.is_dir():
        raise InputError(
            "path", "must lie in an existing folder", str(target.parent), "Create the folder first, or write elsewhere."
        )
    if target.is_dir():
        raise InputError("path", "must be a file", f"the folder {target}", "Add a file name to it.")
    return target


def _environment(html: bool) -> Environment:
    """Templates of this folder; everything that is put into a page is escaped, and into a text as well."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        symbol=_symbol, plain=plain_symbols, md=_markdown, code=_code, nobreak=_nobreak, breaks=_breaks, lines=_lines
    )
    return environment


def _finalize(value: Any) -> Any:
    """What is printed holds no control characters."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


def _variables(colours: Mapping[str, str], embeddings: tuple[str, ...]) -> Markup:
    """Declarations of the colours of a page."""
    pairs = [*colours.items(), *((f"s{i}", value) for i, value in enumerate(embeddings))]
    return Markup(";".join(f"--{name}:{value}" for name, value in pairs))


def _symbol(text: str) -> Markup:
    """Text in which symbols such as ``R_N,opt`` have their index set low."""
    return Markup(html_symbols(str(escape(printable(text)))))


def _nobreak(text: str) -> str:
    """Text whose first space does not break, as in "k = 15"."""
    return text.replace(" = ", "\u00a0=\u00a0")


def _markdown(value: Any) -> str:
    """Text that Markdown shows as it is."""
    text = " ".join(printable(value).split())
    return "".join(f"\\{c}" if c in _MARKDOWN else "&amp;" if c == "&" else c for c in text)


def _breaks(text: str) -> Markup:
    """A name that may break behind its underscores and hyphens."""
    return Markup("<wbr>").join(escape(part) for part in _BREAK.sub("\\1\0", printable(text)).split("\0"))


def _lines(value: Any) -> Markup:
    """Code with its line breaks."""
    return Markup("\n").join(escape(printable(line)) for line in str(value).splitlines())


def _code(value: Any, language: str) -> Markup:
    """A block of code that its content cannot end."""
    text = "\n".join(printable(line) for line in str(value).splitlines())
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * max(3, longest + 1)
    return Markup(f"{fence}{language}\n{text}\n{fence}")
