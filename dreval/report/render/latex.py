r"""A printed result as LaTeX: tables that a document takes in by ``\input``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dreval.errors import InputError
from dreval.report.document import (
    BestCell,
    CaptionedTable,
    Code,
    DocumentParts,
    FigureFile,
    Items,
    Paragraph,
    Part,
    Report,
    Section,
    SmallCell,
    Table,
    Terms,
    TextCell,
    text_parts,
)
from dreval.report.format import shorten_table_names
from dreval.report.render.markup import latex_symbols, latex_text, sentence, with_code_points

LINE_POINTS = 320.0  # points of a line of a standard text, with a margin
LETTER_SIZES = (("small", 5.1), ("footnotesize", 4.7), ("scriptsize", 4.3))  # points of a letter, where the text has 11
COLUMN_GAP_POINTS = 8.0  # points between columns
MAX_PAGE_ROWS = 40  # a table with more rows continues on another page
WIDE_HEADING_SHARE = 0.9  # usable part of a line where headings are wider than the numbers below them
NAME_LETTERS = 30  # letters of a name


@dataclass(frozen=True)
class FittedTable:
    """A table fitted to a line: the size of its letters, their number per line, and its short forms."""

    table: Table
    size: str
    width: int
    short: Mapping[str, str]


def latex(summary: DocumentParts, label: str | None = None) -> str:
    """Return a table for each block, the header in the caption of the first, and call and notes below the last."""
    prefix = re.sub(r"[^a-z0-9]+", "-", summary.title.lower()).strip("-") if label is None else _check_label(label)
    pairs = [f"{latex_text(a)}: {latex_text(b, breaks=True)}" for a, b in summary.header if b]
    header = "; ".join([*(latex_text(text, breaks=True) for text in summary.about), *pairs])
    parts = [f"% {' '.join(summary.title.split())}; needs \\usepackage{{booktabs,longtable}}"]
    parts += (f"{{\\raggedright\\noindent {latex_sentence(text)}\\par}}" for text in summary.findings)
    for number, (table, fitted) in enumerate(zip(summary.tables, fit_tables(summary.tables), strict=True), 1):
        caption = latex_title(table.title).rstrip(".")
        lead = [] if summary.about else [latex_title(summary.title)]
        caption = ". ".join(filter(None, [*lead, header, caption]) if number == 1 else [caption])
        parts.append(latex_table(fitted, f"{caption}.", f"tab:{prefix}-{number}"))
    if not summary.tables:
        parts.append(f"\\noindent {latex_title(summary.title)}. {header}.\\par")
    return "\n\n".join([*parts, *_text_below(summary)]) + "\n"


def _check_label(label: str) -> str:
    """Return a label, after checking that LaTeX accepts it unchanged."""
    if not isinstance(label, str) or not re.fullmatch(r"[A-Za-z0-9.:-]+", label):
        raise InputError("label", "must be letters, digits and . : -", repr(label), "Write it as in label='wdbc'.")
    return label


def latex_title(text: str, breaks: bool = False) -> str:
    r"""Return a text of this package with its symbols as formulas.

    Examples
    --------
    >>> print(latex_title("Area under R_NX, 95 % interval"))
    Area under $R_{\mathrm{NX}}$, 95 \% interval
    """
    pieces = latex_symbols(text).split("$") if "$" not in text else [text]
    return "$".join(piece if place % 2 else _latex_piece(piece, breaks) for place, piece in enumerate(pieces))


def latex_sentence(text: str) -> str:
    """Return a sentence of this package: names are emphasized, symbols are formulas."""

    def text_part(part: str) -> str:
        return latex_title(part, breaks=True)

    return sentence(text, lambda name: rf"\emph{{{latex_text(name, breaks=True)}}}", text_part)


def _latex_piece(piece: str, breaks: bool) -> str:
    """Return text next to formulas: blanks at its ends stay."""
    before, after = piece.startswith(" ") and piece.strip(), piece.endswith(" ")
    return f"{' ' if before else ''}{latex_text(piece, breaks)}{' ' if after else ''}"


def _text_below(summary: DocumentParts) -> Iterator[str]:
    """Yield the text after the tables, the call and the numbered notes."""
    yield from (f"{{\\raggedright\\noindent {latex_text(text, breaks=True)}\\par}}" for text in summary.after)
    if summary.call:
        lines = [latex_text(line, breaks=True, code=True) for line in summary.call.splitlines()]
        code = "\\\\\n".join(lines)
        yield f"{{\\footnotesize\\raggedright\\noindent Call: \\texttt{{{code}}}\\par}}"
    if summary.notes:
        notes = "\n".join(
            f"\\hangindent1.8em\\noindent\\makebox[1.8em][l]{{[{i}]}}{latex_text(note, breaks=True)}\\par"
            for i, note in enumerate(summary.notes, 1)
        )
        yield f"{{\\footnotesize\\raggedright\n{notes}\n}}"


def fit_tables(tables: Sequence[Table], line: float = LINE_POINTS) -> list[FittedTable]:
    """Return tables of one document fitted to a line of ``line`` points, with the same short form of a name in all."""
    encoded = [_with_code_points(table) for table in tables]
    sizes = [_fit_table(table, line) for table in encoded]
    short_blocks, short = shorten_table_names(encoded, [names for _, _, names in sizes])
    fitted = []
    for original, table, (size, line_letters, _) in zip(encoded, short_blocks, sizes, strict=True):
        cells = {} if table is original else {row[i] for row in table.cells for i in table.free}
        fitted.append(
            FittedTable(table, size, line_letters, {form: name for form, name in short.items() if form in cells})
        )
    return fitted


def latex_table(fitted: FittedTable, caption: str, label: str) -> str:
    """Return one table with booktabs: small enough for its line, over several pages where it is long."""
    table = fitted.table
    parts = list(table.pieces(fitted.width))
    key = " ".join(f"{latex_text(form)}: {latex_text(name, breaks=True)}." for form, name in fitted.short.items())
    foot = " ".join(filter(None, [latex_title(table.below(), breaks=True), key]))
    begin = f"\\{fitted.size}\\setlength{{\\tabcolsep}}{{{COLUMN_GAP_POINTS / 2:g}pt}}"
    named = f"\\caption{{{caption}}}\\label{{{label}}}"
    if len(parts) * (len(table.rows) + 3) > MAX_PAGE_ROWS:
        tables = "\n".join(_long_table(part, "" if i else named) for i, part in enumerate(parts))
        below = f"\n{{\\footnotesize\\raggedright\\noindent {foot}\\par}}" if foot else ""
        return f"{{{begin}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n{tables}}}{below}"
    tables = "\n\\par\\medskip\n".join(map(_tabular, parts))
    below = f"\n\\par\\smallskip{{\\footnotesize\\raggedright {foot}\\par}}" if foot else ""
    return f"\\begin{{table}}[htbp]\n\\centering\n{named}\\par\\smallskip\n{begin}\n{tables}{below}\n\\end{{table}}"


def _tabular(table: Table) -> str:
    """Return the rows and rules of a table."""
    body = _heading_row(table) + "\n".join(_rows(table))
    return f"\\begin{{tabular}}{{{_column_sides(table)}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}"


def _long_table(table: Table, caption: str) -> str:
    """Return a table over several pages, with its headings on each."""
    head, body = _heading_row(table), "\n".join(_rows(table))
    head = f"\\toprule\n{head}\\endfirsthead\n\\toprule\n{head}\\endhead\n\\bottomrule\n\\endfoot"
    begin = f"\\begin{{longtable}}{{{_column_sides(table)}}}" + (f"\n{caption}\\\\" if caption else "")
    return f"{begin}\n{head}\n{body}\n\\end{{longtable}}"


def _column_sides(table: Table) -> str:
    return f"@{{}}{''.join('l' if table.is_left(i) else 'r' for i in range(len(table.columns)))}@{{}}"


def _heading_row(table: Table) -> str:
    """Return the row of headings and the rule below it; empty where no column has a heading."""
    row = " & ".join(map(latex_title, table.columns))
    return f"{row} \\\\\n\\midrule\n" if any(table.columns) else ""


def _rows(table: Table) -> Iterator[str]:
    """Yield the rows; those below headings are indented."""
    for place, (row, below) in enumerate(zip(table.rows, [*table.rows[1:], ()], strict=True)):
        if len(row) < len(table.columns):
            space = "\\addlinespace\n" if place else ""
            span = f"\\multicolumn{{{len(table.columns)}}}{{@{{}}l@{{}}}}"
            yield f"{space}{span}{{\\itshape {latex_title(row[0])}}} \\\\*"
        else:
            indent = "\\quad " if table.sectioned else ""
            keep = "*" if any(isinstance(cell, SmallCell) for cell in below) else ""  # small print stays below
            yield f"{indent}{' & '.join(map(_latex_cell, row))} \\\\{keep}"


def _latex_cell(cell: str) -> str:
    """Return one cell; a minus is a minus sign, and a bracket at the beginning of a row is not an option of LaTeX."""
    text = latex_title(cell) if isinstance(cell, TextCell) else latex_text(cell)
    if isinstance(cell, BestCell | SmallCell):
        return f"\\textbf{{{text}}}" if isinstance(cell, BestCell) else f"{{\\scriptsize {text}}}"
    power = re.fullmatch(r"(-?)(\d\.\d+)e([-+]\d+)", cell.replace("\N{MINUS SIGN}", "-"))
    if power:
        return f"${power[1]}{power[2]}\\cdot 10^{{{int(power[3])}}}$"
    return f"{{{text}}}" if text.startswith(("[", "*")) else text


def _with_code_points(table: Table) -> Table:
    """Return the table with code points for letters that only some programs can set."""
    rows = [[cell if cell.isascii() else type(cell)(with_code_points(cell)) for cell in row] for row in table.rows]
    return replace(table, columns=[with_code_points(name) for name in table.columns], rows=rows)


def _fit_table(table: Table, line: float) -> tuple[str, int, int]:
    """Return the size of letters in which the table fits a line, their number per line, and the length of names."""
    heads = [len(name) for name in table.columns[table.names :]]
    cells = [max(map(len, column), default=0) for column in list(zip(*table.cells, strict=True))[table.names :]]
    line *= WIDE_HEADING_SHARE if any(head > cell for head, cell in zip(heads, cells, strict=False)) else 1.0
    for names in (2 * NAME_LETTERS, NAME_LETTERS):
        for size, letter in LETTER_SIZES:
            line_letters = int(line / letter) - 2 * table.sectioned
            if table.width(names) <= line_letters and (names == NAME_LETTERS or size != "scriptsize"):
                return size, line_letters, min(names, table.longest)
    return size, line_letters, min(NAME_LETTERS, table.name_width(line_letters))


DOCUMENT_TEMPLATE = r"""
% Written by dreval. Needs booktabs, graphicx, longtable; the folder beside it holds its figures and tables.
\documentclass[11pt]{article}
\ifdefined\pdftexversion
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\fi
\usepackage[a4paper,margin=25mm]{geometry}
\usepackage{booktabs,graphicx,longtable}
\setlength{\parindent}{0pt}
\setlength{\parskip}{.5em}
\setlength{\emergencystretch}{.5\textwidth}
\makeatletter % figures and tables stay where they stand
\newenvironment{stay}[1]{\par\medskip\begin{minipage}{\linewidth}\centering\def\@captype{#1}}{\end{minipage}\par\medskip}
\newenvironment{here}{\stay{figure}}{\endstay}
\renewenvironment{table}[1][]{\stay{table}}{\endstay}
\makeatother
\setcounter{secnumdepth}{0}
\begin{document}
<<body>>
\end{document}
"""
PAGE_INCHES = 6.3  # inches of a line of the document
DOCUMENT_LINE_POINTS = 420.0  # the same in points, with a margin for broad letters
HEADING_COMMANDS = ("section", "subsection", "subsubsection")


def latex_report(report: Report, place: Callable[[str], str], save: Callable[[str, str], None]) -> str:
    r"""Return a text of sections as a document.

    ``place`` returns the path of a new file for a table of a name, and ``save`` writes it; the document includes it by
    ``\input``.
    """
    sections = list(text_parts(report.sections))
    tables = [table for section in sections for table in _tables(section)]
    inputs = []
    for table, fitted in zip(tables, fit_tables([table.table for table in tables], DOCUMENT_LINE_POINTS), strict=True):
        path = place(table.name)
        label = f"tab:{path.rpartition('/')[2].removesuffix('.tex')}"
        save(path, f"{latex_table(fitted, latex_title(table.caption), label)}\n")
        inputs.append(rf"\input{{{path.removesuffix('.tex')}}}")
    title = rf"{{\LARGE\bfseries\raggedright {latex_text(report.title, breaks=True)}\par}}"
    lines = [title, latex_text(report.meta, breaks=True)]
    waiting = iter(inputs)
    for section in sections:
        lines += _latex_section(section, 0, waiting)
    return DOCUMENT_TEMPLATE.lstrip().replace("<<body>>", "\n\n".join(filter(None, lines)))


def _tables(section: Section) -> Iterator[CaptionedTable]:
    """Yield the tables of a section in their order."""
    for part in section.parts:
        if isinstance(part, Section):
            yield from _tables(part)
        elif isinstance(part, CaptionedTable):
            yield part


def _latex_section(section: Section, level: int, inputs: Iterator[str]) -> Iterator[str]:
    if section.title and (section.short or not section.id):
        title = sentence(section.title, partial(latex_text, breaks=True), latex_title)
        yield rf"\{HEADING_COMMANDS[level]}{{{title}}}"
    for part in section.parts:
        if isinstance(part, Section):
            yield from _latex_section(part, level + 1, inputs)
        else:
            yield next(inputs) if isinstance(part, CaptionedTable) else _latex_part(part)


def _latex_part(part: Part) -> str:
    match part:
        case Paragraph():
            return part.text if part.written else latex_sentence(part.text)
        case Items():
            kind = "enumerate" if part.numbered else "itemize"
            items = "\n".join(rf"\item {latex_sentence(item)}" for item in part.items)
            return f"\\begin{{{kind}}}\n{items}\n\\end{{{kind}}}"
        case Terms():
            terms = [(latex_text if word.is_name else latex_title)(word.term, breaks=True) for word in part.entries]
            pairs = zip(terms, part.entries, strict=True)
            items = "\n".join(rf"\item[{{{term}}}] {latex_title(word.meaning, breaks=True)}" for term, word in pairs)
            return f"\\begin{{description}}\n{items}\n\\end{{description}}"
        case Code():
            lines = "\\\\\n".join(latex_text(line, breaks=True, code=True) for line in part.text.splitlines())
            return rf"{{\small\raggedright\ttfamily {lines}\par}}"
        case FigureFile():
            width = r"\linewidth" if part.width > PAGE_INCHES else f"{part.width:.2f}in"
            size = rf"width={width},height=.8\textheight,keepaspectratio"
            label = part.path.rpartition("/")[2].rpartition(".")[0]
            return (
                f"\\begin{{here}}\n\\includegraphics[{size}]{{{part.path}}}\n"
                f"\\caption{{{latex_title(part.caption, breaks=True)}.}}\\label{{fig:{label}}}\n\\end{{here}}"
            )
    raise TypeError(f"no part of a text: {part!r}")
