"""The folder of figures next to a text."""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from dreval.errors import InputError
from dreval.records.base import whole_file, write_atomic
from dreval.report._style import figure_style
from dreval.report.document import Document, FigureFile
from dreval.report.render.markdown import markdown


class FigureFolder:
    """The folder next to a text, created with its first figure: the plain letters of its stem and "-figures"."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', target.stem)}-figures")
        self.taken: set[str] = set()
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(
                "path", "must leave a folder for figures", f"the file {self.folder}", "Choose another name."
            )

    def _place(self, name: str) -> Path:
        """Return the path of a new file of the folder."""
        self.folder.mkdir(exist_ok=True)
        plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "figure"
        number = next(i for i in range(1, len(self.taken) + 2) if f"{plain}-{i}" not in self.taken)
        self.taken.add(f"{plain}-{number}")
        return self.folder / f"{plain}{f'-{number}' if number > 1 else ''}.svg"

    def figure(self, figure: Figure, name: str, caption: str) -> FigureFile:
        """Save a figure as SVG, without a date."""
        path = self._place(name)
        with figure_style(), rc_context({"svg.hashsalt": path.name}), whole_file(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None}, dpi=200)
        return FigureFile(f"{self.folder.name}/{path.name}", caption)

    def write(self, document: Document) -> Path:
        """Write the text."""
        return write_atomic(self.target, markdown(document))
