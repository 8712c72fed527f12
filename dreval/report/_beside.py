"""What lies beside a text: its figures, and for LaTeX its tables, in a folder named after it."""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from dreval.errors import InputError
from dreval.records.base import whole_file, write_whole
from dreval.report._style import drawing
from dreval.report.document import Drawing, Report
from dreval.report.render.latex import latex_report
from dreval.report.render.markdown import markdown_report


def check_folder(target: Path) -> Path:
    """The folder beside a text: the stem of its name in plain letters, with ``-figures``."""
    folder = target.with_name(f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', target.stem)}-figures")
    if folder.exists() and not folder.is_dir():
        raise InputError("path", "must leave a folder for figures", f"the file {folder}", "Choose another name.")
    return folder


class Beside:
    """The folder beside a text, made when the first thing is put there."""

    def __init__(self, target: Path) -> None:
        self.target, self.folder = target, check_folder(target)
        self.tex = target.suffix.lower() == ".tex"
        self.taken: set[str] = set()

    def _place(self, name: str, suffix: str) -> Path:
        """A new file of the folder."""
        self.folder.mkdir(exist_ok=True)
        plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "figure"
        number = next(i for i in range(1, len(self.taken) + 2) if f"{plain}-{i}" not in self.taken)
        self.taken.add(f"{plain}-{number}")
        return self.folder / f"{plain}{f'-{number}' if number > 1 else ''}{suffix}"

    def figure(self, figure: Figure, name: str, words: str) -> Drawing:
        """Save a figure, as PDF for LaTeX and as SVG else, with no date in it."""
        path = self._place(name, ".pdf" if self.tex else ".svg")
        date = {"CreationDate": None} if self.tex else {"Date": None}
        with drawing(), rc_context({"svg.hashsalt": path.name, "pdf.fonttype": 42}), whole_file(path) as file:
            figure.savefig(file, format=path.suffix[1:], metadata=date, dpi=200)
        return Drawing(f"{self.folder.name}/{path.name}", words, float(figure.get_figwidth()))

    def write(self, report: Report) -> Path:
        """Write the text; its tables lie beside it for LaTeX."""

        def place(name: str) -> str:
            return f"{self.folder.name}/{self._place(name, '.tex').name}"

        def save(path: str, text: str) -> None:
            write_whole(self.folder.parent / path, text)

        text = latex_report(report, place, save) if self.tex else markdown_report(report)
        return write_whole(self.target, text)
