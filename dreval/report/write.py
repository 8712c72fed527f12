"""Write the report of a record as one self-contained page, or as a text with its figures in a folder next to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dreval.errors import InputError
from dreval.records.base import write_atomic
from dreval.records.comparison import Comparison
from dreval.records.held_out import HeldOutFidelity
from dreval.records.out_of_sample import OutOfSample
from dreval.records.results import Results
from dreval.records.similarity import RepresentationSimilarity
from dreval.records.sweep import Sweep
from dreval.report.document import Document
from dreval.report.documents.comparison_page import comparison_report
from dreval.report.documents.evaluation_page import results_report
from dreval.report.documents.held_out import held_out_report
from dreval.report.documents.out_of_sample import out_of_sample_report
from dreval.report.documents.similarity import similarity_report
from dreval.report.documents.study import study_report
from dreval.report.documents.sweep import sweep_report
from dreval.report.figure_folder import FigureFolder
from dreval.report.render.page import html_page
from dreval.report.result_view import read_results


def write_report(results: Results, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a result; see ``Results.report``.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> res = dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=10, random_state=0).run(ci=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_report(res, f"{folder}/pca.md").read_text("utf-8").splitlines()[0])
    # One embedding of data
    """
    target, folder = page_target(path)
    return write_document(target, results_report(results, read_results(results), title, folder), folder)


def write_comparison(comparison: Comparison, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a comparison; see ``Comparison.report``.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> found = ev.run("continuity").compare()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_comparison(found, f"{folder}/ab.md").read_text("utf-8").splitlines()[0])
    # b against a on data
    """
    target, folder = page_target(path)
    return write_document(target, comparison_report(comparison, title, folder), folder)


def write_study(study: Any, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a study; see ``Study.report``."""
    target, folder = page_target(path)
    return write_document(target, study_report(study, target.name, title, folder), folder)


def write_sweep(sweep: Sweep, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a sweep; see ``Sweep.report``.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
    >>> found = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_sweep(found, f"{folder}/isomap.md").read_text("utf-8").splitlines()[0])
    # Sweep of three settings of isomap
    """
    target, folder = page_target(path)
    return write_document(target, sweep_report(sweep, title, folder), folder)


def write_out_of_sample(record: OutOfSample, path: str | Path, title: str | None = None) -> Path:
    """Write the report of new points on a map; see ``OutOfSample.report``."""
    target, folder = page_target(path)
    return write_document(target, out_of_sample_report(record, title, folder), folder)


def write_held_out(record: HeldOutFidelity, path: str | Path, title: str | None = None) -> Path:
    """Write the report of held-out fidelity; see ``HeldOutFidelity.report``."""
    target, folder = page_target(path)
    return write_document(target, held_out_report(record, title, folder), folder)


def write_similarity(record: RepresentationSimilarity, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a similarity of representations; see ``RepresentationSimilarity.report``."""
    target, folder = page_target(path)
    return write_document(target, similarity_report(record, title, folder), folder)


def write_document(target: Path, document: Document, folder: FigureFolder | None) -> Path:
    """Write a document as a page, or as a text with its figures in a folder."""
    return write_atomic(target, html_page(document)) if folder is None else folder.write(document)


def page_target(path: str | Path) -> tuple[Path, FigureFolder | None]:
    """Return the path, after checking that a report can be written there, and the folder next to a text."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".md"):
        hint = "Choose .html for a page, .md for a text; to_latex() and summary().as_latex() give tables for LaTeX."
        raise InputError("path", "must end in .html or .md", repr(str(path)), hint)
    if not target.parent.is_dir():
        raise InputError(
            "path", "must lie in an existing folder", str(target.parent), "Create the folder first, or write elsewhere."
        )
    if target.is_dir():
        raise InputError("path", "must be a file", f"the folder {target}", "Add a file name to it.")
    return target, None if target.suffix.lower() == ".html" else FigureFolder(target)
