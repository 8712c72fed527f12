"""The report of a comparison: who is ahead, every index in words and as a figure, and all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dreval.comparison.record import Comparison
from dreval.report._compared_page import comparison_page
from dreval.report._numbers import in_words
from dreval.report.page import is_page, page_target, write_page

__all__ = ["write_comparison"]


def write_comparison(comparison: Comparison, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What ``dreval.compare``, ``Results.compare`` or ``Study.compare`` gave.
    path : str or Path
        Where to write: ``.html`` for one self-contained page with figures, ``.md`` for its tables and words.
    title : str, optional
        The heading; "Comparison of three embeddings of wdbc" or the like by default.

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
    The file loads nothing, names no time, and is the same for the same comparison, byte by byte. O(pairs) time and
    memory, and one figure for each index.

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
    page: dict[str, Any] = {
        "title": title if title is not None else _title(comparison),
        "meta": ", ".join(f"{name} {value}" for name, value in settings),
        "notes": list(summary.notes),
        "cautions": list(_cautions(comparison)),
        "settings": settings,
        "versions": _versions(comparison),
        "call": _call(comparison),
    }
    if is_page(target):
        page.update(comparison_page(comparison))
    else:
        page["tables"] = Markup(summary.as_markdown())
        page["paragraphs"] = [Markup(text) for text in comparison.paragraph("markdown").split("\n\n")]
    return write_page(target, "comparison", page)


def _title(comparison: Comparison) -> str:
    """The heading, such as "Comparison of three embeddings of wdbc"."""
    count = comparison.standing["embedding"].nunique()
    data = str(comparison.recipe.get("dataset") or "")
    over = max((len(family.cells) for family in comparison.families.values()), default=0)
    where = f" on {in_words(over)} data sets" if over else f" of {data}" if data else ""
    return f"Comparison of {in_words(count)} embeddings{where}"


def _cautions(comparison: Comparison) -> Iterator[str]:
    """Sentences on what does not follow."""
    if comparison.families:
        yield "The data sets are the sample. The tests speak of further data sets like these, not of any one of them."
    else:
        yield "Pairs were judged on one data set: the tests speak of other points for the same pictures, not of others."
    yield "A difference that is not significant is no proof that two embeddings are alike."
    yield "Indices ask different things; an embedding that is best by one may be last by another."


def _versions(comparison: Comparison) -> list[tuple[str, str]]:
    """The versions that the result was made with, or that of this package."""
    from dreval import __version__

    known = comparison.results.recipe.get("versions") if comparison.results is not None else None
    return [(str(name), str(version)) for name, version in dict(known or {"dreval": __version__}).items()]


def _call(comparison: Comparison) -> str:
    """How the result and this comparison of it are made again."""
    recipe, results = comparison.recipe, comparison.results
    adjust = None if recipe["adjust"] == "nothing" else recipe["adjust"]
    made = f".compare(alpha={recipe['alpha']:g}, adjust={adjust!r})"
    return f"{results.recipe.get('call') or 'results'}{made}" if results is not None else ""
