"""The folder next to a text: its figures and, for LaTeX, its tables."""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from dreval.errors import InputError
from dreval.records.base import whole_file, write_atomic
from dreval.report._style import figure_style
from dreval.report.document import FigureFile, Report
from dreval.report.render.latex import latex_report
from dreval.report.render.markdown import markdown_report


def folder_next_to(target: Path) -> Path:
    """Return the folder next to a text: the stem of its name in plain letters, with ``-figures``."""
    folder = target.with_name(f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', target.stem)}-figures")
    if folder.exists() and not folder.is_dir():
        raise InputError("path", "must leave a folder for figures", f"the file {folder}", "Choose another name.")
    return folder


class FigureFolder:
    """The folder next to a text, created with the first file in it."""

    def __init__(self, target: Path) -> None:
        self.target, self.folder = target, folder_next_to(target)
        self.tex = target.suffix.lower() == ".tex"
        self.taken: set[str] = set()

    def _place(self, name: str, suffix: str) -> Path:
        """Return the path of a new file of the folder."""
        self.folder.mkdir(exist_ok=True)
        plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "figure"
        number = next(i for i in range(1, len(self.taken) + 2) if f"{plain}-{i}" not in self.taken)
        self.taken.add(f"{plain}-{number}")
        return self.folder / f"{plain}{f'-{number}' if number > 1 else ''}{suffix}"

    def figure(self, figure: Figure, name: str, caption: str) -> FigureFile:
        """Save a figure, as PDF for LaTeX and otherwise as SVG, without a date."""
        path = self._place(name, ".pdf" if self.tex else ".svg")
        date = {"CreationDate": None} if self.tex else {"Date": None}
        with figure_style(), rc_context({"svg.hashsalt": path.name, "pdf.fonttype": 42}), whole_file(path) as file:
            figure.savefig(file, format=path.suffix[1:], metadata=date, dpi=200)
        return FigureFile(f"{self.folder.name}/{path.name}", caption, float(figure.get_figwidth()))

    def write(self, report: Report) -> Path:
        """Write the text; for LaTeX its tables are files of the folder."""

        def place(name: str) -> str:
            return f"{self.folder.name}/{self._place(name, '.tex').name}"

        def save(path: str, text: str) -> None:
            write_atomic(self.folder.parent / path, text)

        text = latex_report(report, place, save) if self.tex else markdown_report(report)
        return write_atomic(self.target, text)
