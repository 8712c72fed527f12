r"""The tables of a document as LaTeX, for ``\input``, with the sentences around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dreval.errors import InputError
from dreval.report.document import Answers, Cell, Code, Column, Document, Items, Paragraph, Part, Table, all_parts
from dreval.report.render.markup import latex_symbols, latex_text, sentence, with_code_points
from dreval.report.render.text import (
    cell_text,
    heading_text,
    longest_name,
    name_width,
    names_of,
    shorten_names,
    table_pieces,
    table_width,
)

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


def latex(document: Document, label: str | None = None) -> str:
    """Return each table and the sentences around it; settings are in the caption of the first table.

    The call and the notes are at the end, in small print.
    """
    if label is None:
        title = re.sub(r"[^a-z0-9]+", "-", document.title.lower()).strip("-")
        first_label, label = f"tab:{title}-1", f"tab:{title}"
    else:
        first_label = _check_label(label)
    pairs = [f"{latex_text(name)}: {latex_text(value, breaks=True)}" for name, value in document.header]
    header = "; ".join([*(latex_text(text, breaks=True) for text in document.about), *pairs])
    lead = [] if document.about else [latex_title(document.title)]
    title = ". ".join(filter(None, [*lead, header]))
    tables = []
    for number, fitted in enumerate(fit_tables(document.tables), 1):
        caption = latex_title(fitted.table.title).rstrip(".")
        caption = ". ".join(filter(None, [title, caption] if number == 1 else [caption]))
        tables.append(latex_table(fitted, f"{caption}.", first_label if number == 1 else f"{label}-{number}"))
    parts = sorted(all_parts(document.parts), key=lambda part: isinstance(part, Code | Items))
    has_table, waiting = bool(tables), iter(tables)
    texts = [next(waiting) if isinstance(part, Table) else _latex_part(part) for part in parts]
    title_alone = [] if has_table else [f"\\noindent {latex_title(document.title)}. {header}.\\par"]
    comment = f"% {' '.join(document.title.split())}; needs \\usepackage{{booktabs,longtable}}"
    return "\n\n".join(filter(None, [comment, *title_alone, *texts])) + "\n"


def _latex_part(part: Part) -> str:
    """Return sentences, a call or notes; empty for what only pages have."""
    match part:
        case Paragraph() if part.style != "further":
            written = latex_text(part.text, breaks=True) if part.is_plain else latex_sentence(part.text)
            return f"{{\\raggedright\\noindent {written}\\par}}"
        case Answers():
            lines = [rf"\textbf{{{latex_text(question)}:}} {latex_sentence(text)}" for question, text in part.lines]
            return "{\\raggedright\\noindent " + "\\\\\n".join(lines) + "\\par}"
        case Code():
            code = "\\\\\n".join(latex_text(line, breaks=True, code=True) for line in part.text.splitlines())
            return f"{{\\footnotesize\\raggedright\\noindent Call: \\texttt{{{code}}}\\par}}"
        case Items():
            notes = "\n".join(
                f"\\hangindent1.8em\\noindent\\makebox[1.8em][l]{{[{i}]}}{latex_text(note, breaks=True)}\\par"
                for i, note in enumerate(part.items, 1)
            )
            return f"{{\\footnotesize\\raggedright\n{notes}\n}}"
    return ""


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


def fit_tables(tables: Sequence[Table], line: float = LINE_POINTS) -> list[FittedTable]:
    """Return tables of one document fitted to a line of ``line`` points, with the same short form of a name in all."""
    encoded = [_with_code_points(table) for table in tables]
    sizes = [_fit_table(table, line) for table in encoded]
    short_tables, short = shorten_names(encoded, [names for _, _, names in sizes])
    fitted = []
    for original, table, (size, line_letters, _) in zip(encoded, short_tables, sizes, strict=True):
        names = set() if table is original else {*names_of(table), *(column.title for column in table.columns)}
        key = {form: name for form, name in short.items() if form in names}
        fitted.append(FittedTable(table, size, line_letters, key))
    return fitted


def latex_table(fitted: FittedTable, caption: str, label: str) -> str:
    """Return one table with booktabs: small enough for its line, over several pages where it is long."""
    table = fitted.table
    parts = list(table_pieces(table, fitted.width))
    key = " ".join(f"{latex_text(form)}: {latex_text(name, breaks=True)}." for form, name in fitted.short.items())
    notes = [f"({footnote.letter}) {footnote.text}" for footnote in table.footnotes]
    foot = " ".join(filter(None, [latex_title(" ".join([table.text_below(), *notes]), breaks=True), key]))
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
    row = " & ".join(map(_latex_heading, table.columns))
    return f"{row} \\\\\n\\midrule\n" if any(column.title for column in table.columns) else ""


def _latex_heading(column: Column) -> str:
    return latex_text(column.title) if column.is_name else latex_title(column.title)


def _rows(table: Table) -> Iterator[str]:
    """Yield the rows; those below headings are indented."""
    indent = "\\quad " if table.has_headings else ""
    for number, (heading, rows) in enumerate(table.sections):
        if heading:
            span = f"\\multicolumn{{{len(table.columns)}}}{{@{{}}l@{{}}}}"
            space = "\\addlinespace\n" if number else ""
            yield f"{space}{span}{{\\itshape {_latex_cell(heading)}}} \\\\*"
        yield from (f"{indent}{' & '.join(map(_latex_cell, row))} \\\\" for row in rows)
    if table.foot_row:
        yield f"\\midrule\n{' & '.join(map(_latex_cell, table.foot_row))} \\\\"


def _latex_cell(cell: Cell) -> str:
    """Return one cell; a minus is a minus sign, and a bracket at the beginning of a row is not an option of LaTeX."""
    write = latex_title if cell.kind == "text" else latex_text
    text, small = write(cell.main_text), write(cell.small_print)
    power = re.fullmatch(r"(-?)(\d\.\d+)e([-+]\d+)", cell.text.replace("\N{MINUS SIGN}", "-"))
    if power:
        text = f"${power[1]}{power[2]}\\cdot 10^{{{int(power[3])}}}$"
    elif cell.emphasis in ("best", "small"):
        text = f"\\textbf{{{text}}}" if cell.emphasis == "best" else f"{{\\scriptsize {text}}}"
    elif text.startswith(("[", "*")):
        text = f"{{{text}}}"
    return f"{text} {small}" if small else text


def _with_code_points(table: Table) -> Table:
    """Return the table with code points for letters that only some programs can set."""
    rows = [[c if c.text.isascii() else replace(c, text=with_code_points(c.text)) for c in row] for row in table.rows]
    return replace(table, columns=[replace(c, title=with_code_points(c.title)) for c in table.columns], rows=rows)


def _fit_table(table: Table, line: float) -> tuple[str, int, int]:
    """Return the size of letters in which the table fits a line, their number per line, and the length of names."""
    heads = [len(heading_text(column)) for column in table.columns[table.names :]]
    cells = [max(map(len, map(cell_text, column)), default=0) for column in zip(*table.cells, strict=False)]
    has_wide_heading = any(head > cell for head, cell in zip(heads, cells[table.names :], strict=False))
    line *= WIDE_HEADING_SHARE if has_wide_heading else 1.0
    for names in (2 * NAME_LETTERS, NAME_LETTERS):
        for size, letter in LETTER_SIZES:
            line_letters = int(line / letter) - 2 * table.has_headings
            if table_width(table, names) <= line_letters and (names == NAME_LETTERS or size != "scriptsize"):
                return size, line_letters, min(names, longest_name(table))
    return size, line_letters, min(NAME_LETTERS, name_width(table, line_letters))
