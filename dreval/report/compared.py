"""The report of a comparison: its words, figures and tables, as a page or as a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.report._beside import Beside
from dreval.report._compared_page import comparison_page
from dreval.report._numbers import in_words
from dreval.report.contents.comparison import SHORT, heading
from dreval.report.page import is_page, page_target, write_page
from dreval.report.render.snippets import markdown_tables
from dreval.report.render.summary import Summary

__all__ = ["write_comparison"]

FIGURES = {  # kinds of figures with their words, in the order of a report
    "critical_difference": "Mean ranks; a bar joins embeddings that do not differ",
    "wins": "On how many data sets the embedding of the row is better than that of the column",
    "forest": "Advantage of the first embedding of each pair, with its interval",
    "difference_map": "Where one embedding is better than the other",
}
DECIDED = ("critical_difference", "forest")  # figures by the one test that decides
SHARED = ("forest",)  # one figure for all measures
MAX_MEASURES = 12  # that have figures of their own


def write_comparison(comparison: Comparison, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What ``dreval.compare``, ``Results.compare`` or ``Study.compare`` gave.
    path : str or Path
        Where to write: ``.html`` for one self-contained page; ``.md`` and ``.tex`` for a text with a folder beside it.
    title : str, optional
        The heading; "Comparison of three embeddings" or the like by default.

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
    The file names no time and is the same for the same comparison, byte by byte.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> found = ev.run("continuity").compare()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_comparison(found, f"{folder}/ab.md").read_text("utf-8").splitlines()[0])
    # Comparison of two embeddings of data
    """
    target = page_target(path)
    summary = comparison.summary()
    settings = [(name.rstrip(":"), value) for name, value in summary.header if value]
    page = {
        "title": title if title is not None else _title(comparison),
        "meta": ", ".join(f"{name} {value}" for name, value in settings),
        "paragraphs": comparison.paragraph(_voice(target)).split("\n\n"),
        "notes": summary.notes,
        "call": summary.call,
        "cautions": list(_cautions(comparison)),
        "settings": settings,
        "versions": _versions(comparison),
        **(comparison_page(comparison) if is_page(target) else _with_figures(comparison, summary, target)),
    }
    return write_page(target, "comparison", page)


def _title(comparison: Comparison) -> str:
    """The heading, such as "Comparison of three embeddings of wdbc"."""
    count = comparison.standing["embedding"].nunique()
    data = str(comparison.recipe.get("dataset") or "")
    over = max((len(family.cells) for family in comparison.families.values()), default=0)
    where = f" on {in_words(over)} data sets" if over else f" of {data}" if data else ""
    return f"Comparison of {in_words(count)} embeddings{where}"


def _voice(target: Path) -> str:
    return {".md": "markdown", ".tex": "latex"}.get(target.suffix.lower(), "text")


def _versions(comparison: Comparison) -> list[tuple[str, str]]:
    """The versions of the result that was compared, or of this package."""
    from dreval import __version__

    known = comparison.results.recipe.get("versions") if comparison.results is not None else None
    return [(str(name), str(version)) for name, version in dict(known or {"dreval": __version__}).items()]


def _cautions(comparison: Comparison) -> Iterator[str]:
    """What does not follow."""
    if comparison.families:
        yield "The data sets are the sample. The tests speak of further data sets like these, not of any one of them."
    else:
        yield "Pairs were judged on one data set: the tests speak of other points for the same embeddings, not of others."
    yield "A difference that is not significant is no proof that two embeddings are alike."
    yield "Measures ask different things; what is best by one may be last by another."


def _with_figures(comparison: Comparison, summary: Summary, target: Path) -> dict[str, Any]:
    """Figures beside a text, and tables in its form."""
    beside = Beside(target)
    figures = [beside.figure(figure, name, words) for name, words, figure in _figures(comparison)]
    tables = "\n\n".join(beside.summary(summary, ())) if beside.tex else markdown_tables(summary)
    return {"figures": figures, "tables": Markup(tables)}


def _figures(comparison: Comparison) -> Iterator[tuple[str, str, Any]]:
    """Name, words and drawing of every figure that the comparison has."""
    for kind, words in FIGURES.items():
        for measure in [None] if kind in SHARED else comparison.measures[:MAX_MEASURES]:
            try:
                figure = comparison.plot(kind, **({} if measure is None else {"measure": measure}))
            except InputError:
                continue
            by = f" by {SHORT[comparison.recipe['decided_by']]}" if kind in DECIDED and comparison.families else ""
            about = f"{by}: {heading(comparison, measure)}" if measure else by
            yield f"{kind}-{measure}" if measure else kind, f"{words}{about}", figure
