r"""A printed result as LaTeX: tables that a document takes in by ``\input``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dreval.errors import InputError
from dreval.report.document import (
    Best,
    Block,
    Code,
    Content,
    Drawing,
    Items,
    Paragraph,
    Part,
    Report,
    Section,
    Small,
    Table,
    Terms,
    Words,
    in_text,
)
from dreval.report.format import in_short
from dreval.report.render.markup import known_letters, latex_symbols, latex_text, sentence

LINE = 320.0  # points of a line of the usual text, and some to spare
SIZES = (("small", 5.1), ("footnotesize", 4.7), ("scriptsize", 4.3))  # points of a letter, where the text has 11
GAP = 8.0  # points between columns
ROWS = 40  # of a table with more rows the rest goes on another page
HEADED = 0.9  # part of a line that is counted on where words are wider than the numbers below them
NAME = 30  # letters of a name


@dataclass(frozen=True)
class Fitted:
    """A table as it fits a line: the size of its letters, how many a line has, and what its short forms stand for."""

    block: Block
    size: str
    room: int
    short: Mapping[str, str]


def latex(summary: Content, label: str | None = None) -> str:
    """A table for each block, the header in the caption of the first, and the call and the notes below the last."""
    prefix = re.sub(r"[^a-z0-9]+", "-", summary.title.lower()).strip("-") if label is None else _checked(label)
    pairs = [f"{latex_text(a)}: {latex_text(b, breaks=True)}" for a, b in summary.header if b]
    about = "; ".join([*(latex_text(text, breaks=True) for text in summary.about), *pairs])
    parts = [f"% {' '.join(summary.title.split())}; needs \\usepackage{{booktabs,longtable}}"]
    parts += (f"{{\\raggedright\\noindent {latex_sentence(text)}\\par}}" for text in summary.said)
    for number, (block, fitted) in enumerate(zip(summary.blocks, in_line(summary.blocks), strict=True), 1):
        caption = latex_title(block.title).rstrip(".")
        lead = [] if summary.about else [latex_title(summary.title)]
        caption = ". ".join(filter(None, [*lead, about, caption]) if number == 1 else [caption])
        parts.append(latex_table(fitted, f"{caption}.", f"tab:{prefix}-{number}"))
    if not summary.blocks:
        parts.append(f"\\noindent {latex_title(summary.title)}. {about}.\\par")
    return "\n\n".join([*parts, *_below(summary)]) + "\n"


def _checked(label: str) -> str:
    """A label that LaTeX takes as it is."""
    if not isinstance(label, str) or not re.fullmatch(r"[A-Za-z0-9.:-]+", label):
        raise InputError("label", "must be letters, digits and . : -", repr(label), "Write it as in label='wdbc'.")
    return label


def latex_title(text: str, breaks: bool = False) -> str:
    r"""Words of ours with their symbols as formulas.

    Examples
    --------
    >>> print(latex_title("Area under R_NX, 95 % interval"))
    Area under $R_{\mathrm{NX}}$, 95 \% interval
    """
    pieces = latex_symbols(text).split("$") if "$" not in text else [text]
    return "$".join(piece if place % 2 else _words(piece, breaks) for place, piece in enumerate(pieces))


def latex_sentence(text: str) -> str:
    """A sentence of ours: names are emphasized, symbols are formulas."""

    def words(part: str) -> str:
        return latex_title(part, breaks=True)

    return sentence(text, lambda name: rf"\emph{{{latex_text(name, breaks=True)}}}", words)


def _words(piece: str, breaks: bool) -> str:
    """Text beside formulas: the blanks at its ends stay."""
    before, after = piece.startswith(" ") and piece.strip(), piece.endswith(" ")
    return f"{' ' if before else ''}{latex_text(piece, breaks)}{' ' if after else ''}"


def _below(summary: Content) -> Iterator[str]:
    """What is said after the tables, the call and the numbered notes."""
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


def in_line(blocks: Sequence[Block], line: float = LINE) -> list[Fitted]:
    """Tables of one document as they fit a line of so many points, a long name with the same short form in all."""
    shown = [_shown(block) for block in blocks]
    sized = [_sized(block, line) for block in shown]
    short_blocks, short = in_short(shown, [names for _, _, names in sized])
    made = []
    for whole, block, (size, room, _) in zip(shown, short_blocks, sized, strict=True):
        cells = {} if block is whole else {row[i] for row in block.cells for i in block.free}
        made.append(Fitted(block, size, room, {form: name for form, name in short.items() if form in cells}))
    return made


def latex_table(fitted: Fitted, caption: str, label: str) -> str:
    """One table with booktabs: small enough for its line, over several pages where it is long."""
    block = fitted.block
    parts = list(block.pieces(fitted.room))
    key = " ".join(f"{latex_text(form)}: {latex_text(name, breaks=True)}." for form, name in fitted.short.items())
    foot = " ".join(filter(None, [latex_title(block.below(), breaks=True), key]))
    begin = f"\\{fitted.size}\\setlength{{\\tabcolsep}}{{{GAP / 2:g}pt}}"
    named = f"\\caption{{{caption}}}\\label{{{label}}}"
    if len(parts) * (len(block.rows) + 3) > ROWS:
        tables = "\n".join(_long_table(part, "" if i else named) for i, part in enumerate(parts))
        below = f"\n{{\\footnotesize\\raggedright\\noindent {foot}\\par}}" if foot else ""
        return f"{{{begin}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n{tables}}}{below}"
    tables = "\n\\par\\medskip\n".join(map(_tabular, parts))
    below = f"\n\\par\\smallskip{{\\footnotesize\\raggedright {foot}\\par}}" if foot else ""
    return f"\\begin{{table}}[htbp]\n\\centering\n{named}\\par\\smallskip\n{begin}\n{tables}{below}\n\\end{{table}}"


def _tabular(block: Block) -> str:
    """The rows and rules of a table."""
    body = "\n".join(_rows(block))
    return f"\\begin{{tabular}}{{{_sides(block)}}}\n\\toprule\n{_heads(block)}{body}\n\\bottomrule\n\\end{{tabular}}"


def _long_table(block: Block, caption: str) -> str:
    """A table that goes on over pages, with its headings on each."""
    head, body = _heads(block), "\n".join(_rows(block))
    head = f"\\toprule\n{head}\\endfirsthead\n\\toprule\n{head}\\endhead\n\\bottomrule\n\\endfoot"
    begin = f"\\begin{{longtable}}{{{_sides(block)}}}" + (f"\n{caption}\\\\" if caption else "")
    return f"{begin}\n{head}\n{body}\n\\end{{longtable}}"


def _sides(block: Block) -> str:
    return f"@{{}}{''.join('l' if block.is_left(i) else 'r' for i in range(len(block.columns)))}@{{}}"


def _heads(block: Block) -> str:
    """The row of headings and the rule below it; nothing where no column has one."""
    row = " & ".join(map(latex_title, block.columns))
    return f"{row} \\\\\n\\midrule\n" if any(block.columns) else ""


def _rows(block: Block) -> Iterator[str]:
    """The rows; those below headings are indented."""
    for place, (row, below) in enumerate(zip(block.rows, [*block.rows[1:], ()], strict=True)):
        if len(row) < len(block.columns):
            space = "\\addlinespace\n" if place else ""
            room = f"\\multicolumn{{{len(block.columns)}}}{{@{{}}l@{{}}}}"
            yield f"{space}{room}{{\\itshape {latex_title(row[0])}}} \\\\*"
        else:
            first = "\\quad " if block.sectioned else ""
            together = "*" if any(isinstance(cell, Small) for cell in below) else ""  # small print stays below
            yield f"{first}{' & '.join(map(_latex_cell, row))} \\\\{together}"


def _latex_cell(cell: str) -> str:
    """One cell; a minus is one, and a bracket at the beginning of a row is no option of what ends the row before."""
    made = latex_title(cell) if isinstance(cell, Words) else latex_text(cell)
    if isinstance(cell, Best | Small):
        return f"\\textbf{{{made}}}" if isinstance(cell, Best) else f"{{\\scriptsize {made}}}"
    power = re.fullmatch(r"(-?)(\d\.\d+)e([-+]\d+)", cell.replace("\N{MINUS SIGN}", "-"))
    if power:
        return f"${power[1]}{power[2]}\\cdot 10^{{{int(power[3])}}}$"
    return f"{{{made}}}" if made.startswith(("[", "*")) else made


def _shown(block: Block) -> Block:
    """The table with code points for letters that only some programs can set."""
    rows = [[cell if cell.isascii() else type(cell)(known_letters(cell)) for cell in row] for row in block.rows]
    return replace(block, columns=[known_letters(name) for name in block.columns], rows=rows)


def _sized(block: Block, line: float) -> tuple[str, int, int]:
    """The size of letters in which the table fits a line, how many of them a line has, and how many each name."""
    heads = [len(name) for name in block.columns[block.names :]]
    cells = [max(map(len, column), default=0) for column in list(zip(*block.cells, strict=True))[block.names :]]
    line *= HEADED if any(head > cell for head, cell in zip(heads, cells, strict=False)) else 1.0
    for names in (2 * NAME, NAME):
        for size, letter in SIZES:
            room = int(line / letter) - 2 * block.sectioned
            if block.width(names) <= room and (names == NAME or size != "scriptsize"):
                return size, room, min(names, block.longest)
    return size, room, min(NAME, block.room(room))


SHELL = r"""
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
PAGE = 6.3  # inches of a line of the document
IN_DOCUMENT = 420.0  # the same in points, and some to spare for broad letters
LEVELS = ("section", "subsection", "subsubsection")


def latex_report(report: Report, place: Callable[[str], str], save: Callable[[str, str], None]) -> str:
    r"""A text of sections as a document.

    ``place`` gives the path of a new file for a table of a name, and ``save`` writes it; the document takes it in by
    ``\input``.
    """
    sections = list(in_text(report.sections))
    tables = [table for section in sections for table in _tables(section)]
    inputs = []
    for table, fitted in zip(tables, in_line([table.block for table in tables], IN_DOCUMENT), strict=True):
        path = place(table.name)
        label = f"tab:{path.rpartition('/')[2].removesuffix('.tex')}"
        save(path, f"{latex_table(fitted, latex_title(table.caption), label)}\n")
        inputs.append(rf"\input{{{path.removesuffix('.tex')}}}")
    title = rf"{{\LARGE\bfseries\raggedright {latex_text(report.title, breaks=True)}\par}}"
    lines = [title, latex_text(report.meta, breaks=True)]
    waiting = iter(inputs)
    for section in sections:
        lines += _latex_section(section, 0, waiting)
    return SHELL.lstrip().replace("<<body>>", "\n\n".join(filter(None, lines)))


def _tables(section: Section) -> Iterator[Table]:
    """The tables of a section in their order."""
    for part in section.parts:
        if isinstance(part, Section):
            yield from _tables(part)
        elif isinstance(part, Table):
            yield part


def _latex_section(section: Section, level: int, inputs: Iterator[str]) -> Iterator[str]:
    if section.title and (section.short or not section.id):
        title = sentence(section.title, partial(latex_text, breaks=True), latex_title)
        yield rf"\{LEVELS[level]}{{{title}}}"
    for part in section.parts:
        if isinstance(part, Section):
            yield from _latex_section(part, level + 1, inputs)
        else:
            yield next(inputs) if isinstance(part, Table) else _latex_part(part)


def _latex_part(part: Part) -> str:
    match part:
        case Paragraph():
            return part.text if part.written else latex_sentence(part.text)
        case Items():
            kind = "enumerate" if part.numbered else "itemize"
            items = "\n".join(rf"\item {latex_sentence(item)}" for item in part.items)
            return f"\\begin{{{kind}}}\n{items}\n\\end{{{kind}}}"
        case Terms():
            terms = [(latex_text if word.is_name else latex_title)(word.term, breaks=True) for word in part.words]
            pairs = zip(terms, part.words, strict=True)
            items = "\n".join(rf"\item[{{{term}}}] {latex_title(word.meaning, breaks=True)}" for term, word in pairs)
            return f"\\begin{{description}}\n{items}\n\\end{{description}}"
        case Code():
            lines = "\\\\\n".join(latex_text(line, breaks=True, code=True) for line in part.text.splitlines())
            return rf"{{\small\raggedright\ttfamily {lines}\par}}"
        case Drawing():
            width = r"\linewidth" if part.width > PAGE else f"{part.width:.2f}in"
            size = rf"width={width},height=.8\textheight,keepaspectratio"
            label = part.path.rpartition("/")[2].rpartition(".")[0]
            return (
                f"\\begin{{here}}\n\\includegraphics[{size}]{{{part.path}}}\n"
                f"\\caption{{{latex_title(part.words, breaks=True)}.}}\\label{{fig:{label}}}\n\\end{{here}}"
            )
    raise TypeError(f"no part of a text: {part!r}")
