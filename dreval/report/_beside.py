"""What lies beside a text: its figures, and for LaTeX its tables, in a folder named after it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure

from dreval.errors import DrevalWarning, InputError
from dreval.records.results import Results
from dreval.records.whole_file import whole_file, write_whole
from dreval.report._style import drawing
from dreval.report.contents.evaluation import summarize
from dreval.report.contents.page import table_parts
from dreval.report.document import Best, Block, Small
from dreval.report.names import distinct_short_names
from dreval.report.plot import plot
from dreval.report.reading import Reading, parameter_words
from dreval.report.render.latex import in_line, latex_table, latex_title
from dreval.report.render.markup import known_letters
from dreval.report.render.summary import Summary

LINE = 6.3  # inches of a line of the document
WIDE = 420.0  # the same in points, and some to spare for broad letters
MAX_CURVES = 6
ACROSS = 6  # embeddings that stand beside each other
HEADING = 16  # letters of a name over a column
WORDS = {
    "embedding": "The points of each embedding, colored by class where there are classes",
    "map": "The quality of a measure where the points lie, from worse (orange) to better (blue)",
    "curve": "{} against the number of neighbors",
    "shepard": "Distances in each embedding against those in the data",
}


def check_folder(target: Path) -> Path:
    """The folder beside a text: the stem of its name in plain letters, with ``-figures``."""
    folder = target.with_name(f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', target.stem)}-figures")
    if folder.exists() and not folder.is_dir():
        raise InputError("path", "must leave a folder for figures", f"the file {folder}", "Choose another name.")
    return folder


class Beside:
    """The folder beside a text, made when the first thing is put there."""

    def __init__(self, target: Path) -> None:
        self.folder = check_folder(target)
        self.tex = target.suffix.lower() == ".tex"
        self.taken: set[str] = set()

    def _place(self, name: str, suffix: str) -> Path:
        """A new file of the folder."""
        self.folder.mkdir(exist_ok=True)
        plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "figure"
        number = next(i for i in range(1, len(self.taken) + 2) if f"{plain}-{i}" not in self.taken)
        self.taken.add(f"{plain}-{number}")
        return self.folder / f"{plain}{f'-{number}' if number > 1 else ''}{suffix}"

    def figure(self, figure: Figure, name: str, words: str) -> dict[str, Any]:
        """Save a figure, as PDF for LaTeX and as SVG else, with no date in it."""
        path = self._place(name, ".pdf" if self.tex else ".svg")
        date = {"CreationDate": None} if self.tex else {"Date": None}
        with drawing(), rc_context({"svg.hashsalt": path.name, "pdf.fonttype": 42}), whole_file(path) as file:
            figure.savefig(file, format=path.suffix[1:], metadata=date, dpi=200)
        width = float(figure.get_figwidth())
        return {
            "path": Markup(f"{self.folder.name}/{path.name}"),
            "words": words,
            "width": Markup(r"\linewidth" if width > LINE else f"{width:.2f}in"),
            "label": Markup(f"fig:{path.stem}"),
        }

    def table(self, block: Block, name: str, caption: str) -> Markup:
        r"""Save a table, and give the ``\input`` of it; nothing where the text is no LaTeX."""
        return self.tables([block], [name], [caption])[0]

    def tables(self, blocks: Sequence[Block], names: Sequence[str], captions: Sequence[str]) -> list[Markup]:
        """Save tables under these names; a long name of theirs has the same short form in all."""
        if not self.tex:
            return [Markup("")] * len(blocks)
        made = []
        for fitted, name, caption in zip(in_line(blocks, WIDE), names, captions, strict=True):
            path = self._place(name, ".tex")
            text = latex_table(fitted, latex_title(caption), f"tab:{path.stem}")
            write_whole(path, f"{text}\n")
            made.append(Markup(rf"\input{{{self.folder.name}/{path.stem}}}"))
        return made

    def summary(self, summary: Summary, names: Sequence[str]) -> list[Markup]:
        """Save the tables of a summary under these names."""
        blocks = summary.blocks
        taken = [*names, *["table"] * len(blocks)][: len(blocks)]
        return self.tables(blocks, taken, [block.title or summary.title for block in blocks])


def beside_results(results: Results, reading: Reading, page: Mapping[str, Any], target: Path) -> dict[str, Any]:
    """Figures and tables beside the text of a result; nothing for a page, which holds its own."""
    if target.suffix.lower() == ".html":
        return {}
    beside = Beside(target)
    with warnings.catch_warnings():
        if not beside.tex:  # letters are the reader's business in a text of today; LaTeX gets boxes, which is said
            warnings.simplefilter("ignore", DrevalWarning)
        drawn = {kind: list(draw) for kind, draw in _drawings(results, reading, beside).items()}
    made: dict[str, Any] = {"figures": drawn, "values": "", "every": ""}
    if not beside.tex:
        return made
    summary = summarize(results)
    if page["rows"] and page["heads"]:
        block = _values_below(page, reading) if len(page["rows"]) > ACROSS else _values_across(page)
        made["values"] = beside.table(block, "values", "How well each embedding keeps the data")
    if reading.computed:
        titles = [block.title or "All values" for block in summary.blocks]
        made["every"] = beside.tables(summary.blocks, titles, titles)
    return made


def _drawings(results: Results, reading: Reading, beside: Beside) -> dict[str, Iterator[dict[str, Any]]]:
    """The figures of a result by what they show."""
    curves = [*results.curves["measure"].unique(), *(family[0].measure for family in reading.curves[:MAX_CURVES])]
    titles = {column.measure: column.title for column in reading.columns}
    shown: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "points": [("embedding", {})] if reading.computed else [],
        "maps": [("map", {})] if reading.computed else [],
        "curves": [("curve", {"measure": measure}) for measure in dict.fromkeys(curves)] if reading.computed else [],
        "distances": [("shepard", {})] if results.shepard and reading.computed else [],
    }
    return {
        part: (made for kind, options in which if (made := _drawn(results, kind, options, titles, beside)))
        for part, which in shown.items()
    }


def _drawn(
    results: Results, kind: str, options: dict[str, Any], titles: Mapping[str, str], beside: Beside
) -> dict[str, Any] | None:
    """One figure; none where the result has nothing of the kind."""
    measure = str(options.get("measure", ""))
    try:
        figure = plot(results, kind, **options)
    except InputError:
        return None
    return beside.figure(
        figure, f"{kind}-{measure}" if measure else kind, WORDS[kind].format(titles.get(measure, measure))
    )


def _values_below(page: Mapping[str, Any], reading: Reading) -> Block:
    """The first table of many embeddings: embeddings down, symbols of measures across, and what they are below."""
    rows: list[list[str]] = []
    for row in page["rows"]:
        size = f" (d = {row['d']})" if row["d"] else ""
        cells = row["cells"] or [None] * len(page["heads"])
        rows.append([f"{row['name']}{size}", *map(_value, cells)])
        small = [cell.interval or cell.ends if cell else "" for cell in cells]
        rows += [["", *map(Small, small)]] if any(small) else []
    rows.append(["chance level", *(chance["text"] for chance in page["chances"])])
    columns = reading.by_subject
    words = [", ".join(filter(None, [c.title, parameter_words(c.parameters), c.better_words])) for c in columns]
    foot = " ".join(f"{c.symbol or c.measure}: {said}." for c, said in zip(columns, words, strict=True))
    return Block("", ["", *(column.symbol or column.measure for column in columns)], rows, foot=foot)


def _values_across(page: Mapping[str, Any]) -> Block:
    """The first table: measures down, embeddings across, the interval below each value."""
    parts = table_parts(page["heads"], page["rows"], page["chances"], page["subjects"])
    rows: list[list[str]] = []
    for part in parts:
        rows += [[part["subject"]]] if part["subject"] else []
        for line in part["lines"]:
            head, cells = line["head"], line["cells"]
            rows.append([head["title"], *map(_value, cells), line["chance"]["text"]])
            small = [head["below"], *(cell.interval or cell.ends if cell else "" for cell in cells), ""]
            rows += [[Small(text) for text in small]] if any(small) else []
    short = distinct_short_names([known_letters(row["name"]) for row in page["rows"]], HEADING)
    long = [f"{form}: {name}." for name, form in short.items() if form != name]
    sizes = [f" (d = {row['d']})" if row["d"] else "" for row in page["rows"]]
    return Block(
        "", ["", *map("".join, zip(short.values(), sizes, strict=True)), "chance level"], rows, foot=" ".join(long)
    )


def _value(cell: Any) -> str:
    """A value of the first table as a cell."""
    if cell is None:
        return "failed"
    text = f"{cell.text} ({cell.mark})" if cell.mark else cell.text
    return Best(text) if cell.best else text
