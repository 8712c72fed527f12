"""Read tables from text files: infer the layout, and parse with pandas; ragged rows raise an error.

The layout (separator, row names) is inferred here from the first rows. csv.Sniffer, which pandas uses with sep=None,
takes a letter for the separator of a single column and guesses headers by the lengths of cells. ``_header``
decides whether the first row has the names of the columns.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from dreval.errors import Hint, InputError, InputWarning, warn
from dreval.inputs._header import (
    AUTO,
    COMMA_NUMBER,
    GROUPED_NUMBER,
    MAX_ROWS_COMPARED,
    NUMBER,
    FirstRow,
    HeaderOptions,
    TextTable,
    first_row,
    shown_row,
)
from dreval.inputs.features import ROW_NAMES
from dreval.inputs.sizes import read_lines
from dreval.records.notes import Note, Notes, note

_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d*(e[+-]?\d+)?", re.I)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.I)
_SURELY_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*|\.\d{3})")  # the points cannot be decimal points
_SPLIT_NUMBER = re.compile(r"[+-]?\d+(e[+-]?\d+)?", re.I)
# Newer pandas reads numbers to the last bit by default and warns about the option.
_EXACT: dict[str, Any] = {} if _PANDAS >= (3, 1) else {"float_precision": "round_trip"}
_SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces"}
_COMMENT = re.compile(rb"[ \t]*#([ \t][^\r\n]*)?(\r\n|\n|\r)")
MARK = b"\xef\xbb\xbf"  # the byte-order mark of UTF-8
GZIP = b"\x1f\x8b"  # the first bytes of a .gz file
_LAYOUT_ROWS = 20  # rows from which the layout is inferred
_MAX_LAYOUT_BYTES = 2**20  # bytes in which these rows are searched
_ESCAPED_QUOTE = re.compile(rb'\\"[^,;\t \r\n"]')  # how R writes a quote within quotes
_QUOTED = r'"(?:[^"]|"")*"'
# Cells that R writes without quotes.
_BARE = r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf)|NA|TRUE|FALSE"
_ROW_OF_R = re.compile(rf"(?:{_QUOTED}|{_BARE})(?: +(?:{_QUOTED}|{_BARE}))+", re.I)


@dataclass(frozen=True)
class _Layout:
    """Layout of a text file."""

    separator: str
    header: tuple[str, ...] | None
    width: int
    notes: list[Note]


def read_text(
    path: Path, suffix: str, argument: str, reading: HeaderOptions = AUTO
) -> tuple[pd.DataFrame, bool, Notes]:
    """Read a .csv or .tsv file (also .gz): return the table, whether it has a header, and notes on how it was read."""
    raw = _load(path, suffix, argument)
    raw = raw.replace(b'\\"', b'""') if _ESCAPED_QUOTE.search(raw) else raw
    marks = raw.count(MARK, len(MARK))  # invisible, of joined files: "a" with a mark would be another class
    raw = raw[: len(MARK)] + raw[len(MARK) :].replace(MARK, b"") if marks else raw
    try:
        usual = "\t" if suffix.startswith(".tsv") else ","
        raw, comments = _without_comments(raw, usual)
        separator = _separator(raw, usual)
        raw = _strip_line_ends(raw) if separator == " " else raw
        _check_quotes(raw, separator, path, argument)
        layout = _sniff(raw, separator, usual, path, argument, reading)
        layout.notes.extend([note("file.comments", file=path.name, lines=comments)] if comments else [])
        layout.notes.extend([note("file.marks", file=path.name, marks=marks)] if marks else [])
        frame = _parse(raw, layout, path, argument)
    except UnicodeDecodeError as error:
        raise _garbage(path, argument, f"{str(path)!r}, which is not UTF-8 at byte {error.start}") from error
    except csv.Error as error:
        raise _garbage(path, argument, f"{str(path)!r} ({error})") from error
    if layout.width > 1 and frame.iloc[:, -1].isna().any():
        _check_ragged(raw, layout, path, argument)
    if layout.separator in ";\t ":
        layout.notes.extend(_decimal_commas(frame, raw, layout, path, argument))
    if layout.header is not None:
        frame = _with_names(frame, layout.header)
    if len(frame) == 0:
        raise InputError(
            argument, "must have rows", f"{str(path)!r} with a header only", "Write the file again with its rows."
        )
    frame.attrs["separator"] = layout.separator  # for the hint on numbers with commas
    frame.attrs[ROW_NAMES] = layout.header is None and layout.width > 1 and _has_quoted_names(raw, separator)
    return frame, layout.header is not None, tuple(layout.notes)


def _parse(raw: bytes, layout: _Layout, path: Path, argument: str, **settings: Any) -> pd.DataFrame:
    """Parse the table with pandas, with every bit of each number."""
    try:
        frame: pd.DataFrame = pd.read_csv(
            io.BytesIO(raw),
            sep=layout.separator,
            header=None if layout.header is None else 0,
            names=range(layout.width),
            skipinitialspace=True,
            encoding="utf-8-sig",
            low_memory=False,
            **_EXACT,
            **settings,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, OverflowError) as error:
        _check_ragged(raw, layout, path, argument)
        raise _garbage(path, argument, f"{str(path)!r} ({error})") from error
    return frame


def _decimal_commas(frame: pd.DataFrame, raw: bytes, layout: _Layout, path: Path, argument: str) -> Notes:
    """Convert columns of numbers with decimal commas to floats, in place, and return notes.

    Points may separate thousands. Columns are converted only if no other meaning is possible. Without points: some
    number does not have three digits after its comma, so that commas do not separate thousands. With points: some
    number has a comma or a second point behind them, and all numbers with points have three digits after each.
    """
    texts = {j: frame.iloc[:, j] for j in range(frame.shape[1]) if frame.iloc[:, j].dtype.kind not in "biuf"}
    cells = {j: column.dropna().astype(str).str.strip() for j, column in texts.items()}
    comma_columns = [j for j, column in cells.items() if len(column) and _all_commas(column)]
    grouped = any(cells[j].str.fullmatch(_SURELY_GROUPED).any() for j in comma_columns)
    if not grouped and not any(
        (~cells[j].str.fullmatch(_THOUSANDS) & cells[j].str.contains(",")).any() for j in comma_columns
    ):
        return ()
    points = (cell.strip() for _, row in _rows(raw, layout.separator) for cell in row if "." in cell)
    if any(_POINT_NUMBER.fullmatch(cell) and not (grouped and GROUPED_NUMBER.fullmatch(cell)) for cell in points):
        return ()
    if grouped:  # pandas read 1.234 as a fraction
        as_text = _parse(raw, layout, path, argument, dtype=str)
        texts = {j: as_text.iloc[:, j] for j in range(as_text.shape[1])}
        cells = {j: column.dropna().astype(str).str.strip() for j, column in texts.items()}
        comma_columns = [
            j
            for j, column_cells in cells.items()
            if column_cells.str.contains(r"[.,]").any() and _all_commas(column_cells)
        ]
    for j in comma_columns:
        plain_cells = [str(cell).replace(".", "").replace(",", ".") if pd.notna(cell) else "nan" for cell in texts[j]]
        frame.isetitem(j, [float(cell) for cell in plain_cells])
    return (note("file.grouped" if grouped else "file.commas", columns=len(comma_columns), file=path.name),)


def _all_commas(cells: pd.Series[Any]) -> bool:
    """Check whether all cells are numbers that may have a decimal comma, and points between thousands."""
    return bool((cells.str.fullmatch(COMMA_NUMBER) | cells.str.fullmatch(GROUPED_NUMBER)).all())


def _load(path: Path, suffix: str, argument: str) -> bytes:
    """Return the bytes of the file, decompressed; web pages, binary files and UTF-16 raise an error."""
    compressed = suffix.endswith(".gz")
    try:
        raw = read_lines(path, compressed, argument)
    except (OSError, EOFError, zlib.error) as error:
        received = f"{str(path)!r} ({getattr(error, 'strerror', None) or error})"
        if isinstance(error, OSError) and error.errno is not None:
            raise InputError(argument, "must be a file that can be read", received, "Check its permissions.") from error
        requirement, hint = "must be a complete .gz file", "Copy or compress it again: it was truncated or changed."
        with path.open("rb") as file:
            if file.read(2) != GZIP:
                requirement, hint = "must be a .gz file", f"Name it {path.name[:-3]!r}: it is not compressed."
        raise InputError(argument, requirement, received, hint) from error
    start = raw[:1024].removeprefix(MARK).lstrip().lower()
    if not raw.replace(MARK, b"").strip():
        raise InputError(argument, "must not be empty", f"{str(path)!r} without any text", "Write the file again.")
    if start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        hint = "Download the raw file; a browser or a login page was saved in its place."
        raise InputError(argument, "must be a text table", f"{str(path)!r}, which is a web page (HTML)", hint)
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _garbage(path, argument, f"{str(path)!r} in UTF-16")
    if raw.startswith(GZIP):
        hint = f"Name it {path.name + '.gz'!r}, or unpack it."
        raise InputError(argument, "must be a text table", f"{str(path)!r}, which is compressed by gzip", hint)
    if b"\0" in raw or raw.startswith(b"PK\x03\x04"):
        raise _garbage(path, argument, f"{str(path)!r} with binary content")
    return raw


def _garbage(path: Path, argument: str, received: str) -> InputError:
    """Return the error for content that is not a table in UTF-8."""
    return InputError(
        argument, "must be a text table in UTF-8", received, f"Save {path.name!r} again as a CSV file in UTF-8."
    )


def _rows(raw: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields of the rows that are not blank."""
    with io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
        yield from ((reader.line_num, row) for row in reader if row and (len(row) > 1 or row[0].strip()))


def _sniff(raw: bytes, separator: str, usual: str, path: Path, argument: str, reading: HeaderOptions) -> _Layout:
    """Return the layout, inferred from the first rows."""
    rows = list(islice(_rows(raw, separator), 1 + MAX_ROWS_COMPARED)) or [(0, [""])]
    table = TextTable(rows[0][1], [row for _, row in rows[1:]], separator, _is_quoted_header(raw, separator))
    n_names = len(table.top_row)
    if reading.header is not False and _is_short_header(table, reading.header is True):
        table = _lengthened(table)
    else:
        _check_preamble(raw, separator, path, argument)
    notes: list[Note] = []
    if separator != usual:
        notes.append(note("file.separator", file=path.name, separator=_SEPARATOR_NAMES[separator]))
    decision = _decide(table, raw, path, reading)
    notes += _notes_on_first_row(decision, table, path, reading)
    if not decision.header:
        return _Layout(separator, None, len(table.top_row), notes)
    header = [re.sub(r"^#+\s*", "", table.top_row[0]), *table.top_row[1:]]
    line, second_row = rows[1] if len(rows) > 1 else (0, [])
    below = [len(row) for row in table.below[1 : 1 + _LAYOUT_ROWS]]
    if len(second_row) == len(header) + 1 and not (below and set(below) == {len(header)}):
        trailing = not second_row[-1].strip()
        header = [*header, ""] if trailing else ["", *header]
    elif second_row and len(second_row) != len(header):
        raise _ragged(path, argument, line, len(second_row), n_names)
    names = tuple(name.strip() or f"Unnamed: {j}" for j, name in enumerate(header))
    return _Layout(separator, names, len(header), notes)


def _decide(table: TextTable, raw: bytes, path: Path, reading: HeaderOptions) -> FirstRow:
    """Decide whether the first row is the header.

    The caller decides by ``header``; else the first row is compared with the rows below, with the names of points and
    with their number.
    """
    if reading.header is False:
        _check_names_as_data(table, path)
    if isinstance(reading.header, bool):
        return FirstRow(reading.header)
    decision = first_row(table)
    if decision.header and reading.is_named_row(table):
        return FirstRow(False, is_value=True)
    if reading.n is None or not decision.reasons:
        return decision
    count = sum(1 for _ in _rows(raw, table.separator))
    return FirstRow(count > reading.n, count > reading.n) if count in (reading.n, reading.n + 1) else decision


def _check_names_as_data(table: TextTable, path: Path) -> None:
    """Raise an error for ``header=False`` where the first row has text above a column of numbers."""
    for j, cell in enumerate(table.top_row):
        column = [row[j].strip() for row in table.below if j < len(row)]
        text = re.search(r"[^\W\d_]", cell) and not table.is_number(cell.strip())
        if text and column and all(map(table.is_number, column)):
            raise InputError(
                "header",
                "must not be False where the first row has the names of the columns",
                f"{cell.strip()!r} above numbers in {str(path)!r}",
                "Leave it out, pass {yes}, or write all files of this call in the same form.",
                yes=Hint("header", True),
            )


def _notes_on_first_row(decision: FirstRow, table: TextTable, path: Path, reading: HeaderOptions) -> Notes:
    """Return notes on a decision that the cells do not settle; also warn if the caller may not show notes.

    Such callers have no argument ``header``.
    """
    row = shown_row(table.top_row)
    if decision.is_value:
        return (note("file.first_value", row=row, file=path.name),)
    reasons = tuple(note(reason.value) for reason in decision.reasons)
    if not decision.numbers and not decision.doubtful:
        return ()
    remedy = reading.remedy(not decision.header, table)
    facts = {"file": path.name, "row": row, "remedy": remedy, "header": not decision.header}
    code = "file.row" if not decision.header else "file.header_compared" if reasons else "file.header"
    notes = (note(code, **facts, **({"reasons": reasons} if reasons else {})),)
    if reading.header is None:
        warn_of_first_rows(notes)
    return notes


def warn_of_first_rows(notes: Notes) -> None:
    """Warn of first rows that were compared with the rows below, for callers that do not show notes."""
    for item in notes:
        if item.code in ("file.header_compared", "file.row"):
            warn(InputWarning(item))


def _is_quoted_header(raw: bytes, separator: str) -> bool:
    """Check whether all cells of the first line are in quotes, and a number in the second is not."""
    lines = [line.decode("utf-8-sig", "replace").strip() for line in islice(_lines(raw), 2)]
    if len(lines) < 2:
        return False
    delimiter = re.escape(separator) if separator != " " else " +"
    quoted = re.fullmatch(rf"{_QUOTED}(?: *{delimiter} *{_QUOTED})*", lines[0])
    unquoted = re.split(delimiter, re.sub(_QUOTED, '""', lines[1]))
    return bool(quoted) and any(
        NUMBER.fullmatch(cell) or re.fullmatch(_BARE, cell, re.I) for cell in map(str.strip, unquoted)
    )


def _has_quoted_names(raw: bytes, separator: str) -> bool:
    """Check whether the first cell of each of the first lines is a count in quotes, and no other cell is in quotes.

    R writes the names of rows without names in this way, next to numbers, without a header.
    """
    lines = [line.decode("utf-8-sig", "replace").strip() for line in islice(_lines(raw), MAX_ROWS_COMPARED)]
    names = [re.fullmatch(rf'"(\d+)" *{re.escape(separator)}[^"]*', line) for line in lines]
    return [name and name.group(1) for name in names] == [str(i + 1) for i in range(len(lines))]


def _lines(raw: bytes) -> Iterator[bytes]:
    """Yield the lines that are not blank."""
    return (line for line in io.BytesIO(raw.replace(b"\r", b"\n")) if line.strip())


def _is_short_header(table: TextTable, certain: bool) -> bool:
    """Check whether the first row has a name for each column except the first, which has the row names, as R writes it.

    All rows below have one cell more. Numbers are names if their comparison with the rows below says so, or with
    ``certain``. Text is names if there are numbers below, or if the second row is a row of data: one of its texts,
    which are next to row names, repeats below.
    """
    below = table.below[:_LAYOUT_ROWS]
    if not below or {len(row) for row in below} != {len(table.top_row) + 1} or not below[0][-1].strip():
        return False
    table = replace(table, below=below)
    if certain:
        return True
    names, n_numeric = table.column(0), len(table.numeric)
    if n_numeric == len(table.top_row):
        return table.quoted or (n_numeric > 2 and first_row(_lengthened(table)).header)
    if n_numeric or any(map(table.is_number, table.below[0])):
        return not n_numeric
    repeats = any(cell in table.column(j)[1:] for j, cell in enumerate(table.below[0]) if j)
    return repeats and len(set(names)) == len(names)


def _lengthened(table: TextTable) -> TextTable:
    """Return the table with an empty cell before the first row, above the names of the rows."""
    return replace(table, top_row=["", *table.top_row], short=True)


def _without_comments(raw: bytes, usual: str) -> tuple[bytes, int]:
    """Return the text with its leading comments as blank lines, and the number of those that are not the header.

    Comments are lines that begin with "# ", as ``numpy.savetxt`` writes a header. The last comment is the header if it
    has a name for each column, none of them a number, or one name less where the first column is text, as R writes it.
    Its names may be separated by commas where numbers are separated by spaces. All other comments are dropped, with a
    note.
    """
    mark = b"\xef\xbb\xbf"
    start = len(mark) if raw.startswith(mark) else 0
    end, lines = start, list[bytes]()
    while (match := _COMMENT.match(raw, end)) is not None:
        lines.append(match.group())
        end = match.end()
    body = raw[end:]
    if not lines or not body.strip():
        return raw, 0
    separator = _separator(body, usual)
    body = _strip_line_ends(body) if separator == " " else body
    width = len(next(_rows(body, separator))[1])
    has_row_names = not NUMBER.fullmatch(next(_rows(body, separator))[1][0].strip())
    last_comment = lines[-1].decode("utf-8-sig").strip().removeprefix("#").strip()
    for name_separator in (separator, ",") if separator == " " else (separator,):
        names = [
            name.strip()
            for name in next(csv.reader([last_comment], delimiter=name_separator, skipinitialspace=True), [])
        ]
        if names and not any(map(NUMBER.fullmatch, names)) and len(names) in (width, width - has_row_names):
            buffer = io.StringIO()
            csv.writer(buffer, delimiter=separator, lineterminator="\n").writerow(names)
            blank = b"\n" * (len(lines) - 1)
            return raw[:start] + blank + buffer.getvalue().encode() + body, len(lines) - 1
    return raw[:start] + b"\n" * len(lines) + body, len(lines)


def _separator(raw: bytes, usual: str) -> str:
    """Return the separator of the suffix, unless the first row clearly has another one."""
    line = next((row for row in raw.splitlines() if row.strip()), b"").decode("utf-8-sig")
    line = re.sub(r'"[^"]*"', '""', line)
    fields = line.split(";")
    if len(fields) > 1 and ("," not in line or all(COMMA_NUMBER.fullmatch(cell) for cell in fields if cell.strip())):
        return ";"
    alternatives = [separator for separator in (",", "\t") if separator != usual and separator in line]
    if usual not in line and alternatives:
        return alternatives[0]
    return " " if usual not in line and _is_spaced(raw, usual) else usual


def _is_spaced(raw: bytes, usual: str) -> bool:
    """Check whether spaces separate two or more columns.

    This is certain if each row consists of quoted text and of numbers, TRUE, FALSE and NA without quotes, with at least
    one cell in quotes, as R writes it. Without quotes, at least two columns must hold numbers. The columns behind the
    first, which may have names, must hold numbers or, below a row of names, text. Or the rows are counted, 1, 2, 3,
    ..., below a row that has one name less. "sample 1" is one label.
    """
    head = raw if len(raw) <= _MAX_LAYOUT_BYTES else raw[:_MAX_LAYOUT_BYTES].rpartition(b"\n")[0]
    lines = [line.decode("utf-8-sig").strip() for line in islice(_lines(head), _LAYOUT_ROWS)]
    rows = [row for _, row in islice(_rows(_strip_line_ends(head), " "), _LAYOUT_ROWS)]
    widths = {len(row) for row in rows[1:]} or {len(row) for row in rows}
    below = lines[1:] or lines
    if len(widths) == 1 and all('"' in line and _ROW_OF_R.fullmatch(line) for line in below):
        return True
    if any(len(row) != 1 for _, row in islice(_rows(head, usual), _LAYOUT_ROWS)):
        return False
    second_half = [[cell.strip() for cell in row] for row in rows[len(rows) // 2 :]]
    width = len(second_half[0]) if second_half else 0
    if width < 2 or any(len(row) != width for row in second_half):
        return False
    numeric = [{bool(NUMBER.fullmatch(row[j])) for row in second_half} for j in range(width)]
    has_names = not any(map(NUMBER.fullmatch, rows[0])) and len(rows[0]) in (width, width - 1)
    if sum(kinds == {True} for kinds in numeric) >= 2 and all(
        len(kinds) == 1 if has_names else kinds == {True} for kinds in numeric[1:]
    ):
        return True
    counts = [str(i) for i in range(1, len(rows))]
    return len(rows) > 2 and widths == {len(rows[0]) + 1} and [row[0] for row in rows[1:]] == counts


def _strip_line_ends(raw: bytes) -> bytes:
    """Return the text without the spaces at the ends of its lines, which would be empty fields."""
    return re.sub(rb" +(?=\r?\n|$)", b"", raw)


def _check_preamble(raw: bytes, separator: str, path: Path, argument: str) -> None:
    """Raise an error if lines on top (a title, a count, a comment) have fewer fields than all lines below."""
    rows = list(islice(_rows(raw, separator), _LAYOUT_ROWS)) or [(0, [""])]
    top_row, width = rows[0][1], len(rows[-1][1])
    n_names, widths = len(top_row), [len(row) for _, row in rows[1:]]
    all_whole = all(_SPLIT_NUMBER.fullmatch(cell.strip()) for _, row in rows[1:] for cell in row)
    if n_names > 1 and widths and n_names + 1 < max(widths) <= 2 * n_names and min(widths) >= n_names and all_whole:
        raise InputError(
            argument,
            "must have as many fields as names",
            f"{n_names} names and {width} whole numbers in line {rows[-1][0]} of {str(path)!r}, as numbers with decimal"
            " commas give where commas separate them too",
            "Write the file again with decimal points, or with semicolons between its columns.",
        )
    short_lines = [line for line, row in rows if len(row) != width]
    below = rows[len(short_lines) :]
    if not short_lines or len(below) < 2 or any(len(row) != width for _, row in below) or len(top_row) > width:
        return
    numbers = [any(map(NUMBER.fullmatch, row)) for row in (top_row, below[0][1])]
    if len(short_lines) == 1 and len(top_row) == width - 1 and numbers == [False, True]:
        return  # the rows end with a separator
    lines = f"line {short_lines[0]}" if len(short_lines) == 1 else f"lines {short_lines[0]} to {short_lines[-1]}"
    raise InputError(
        argument,
        "must have the same number of fields in every row",
        f"{len(top_row)} in line {short_lines[0]} of {str(path)!r}, {width} from line {below[0][0]} on",
        f"Remove {lines}: a title, a count or a comment does not belong to the table.",
    )


def _check_quotes(raw: bytes, separator: str, path: Path, argument: str) -> None:
    """Raise an error that names the line with a quote that is never closed."""
    if raw.count(b'"') % 2 == 0:
        return
    start, line, rows = 0, 0, _rows(raw, separator)
    try:
        for number, _ in rows:
            start, line = line, number
    except csv.Error:  # a field that is too long, as all that follows the quote may be
        start = line
    below = raw.splitlines()[start:]
    quote_lines = [number for number, text in enumerate(below, start + 1) if b'"' in text]
    if quote_lines and sum(text.count(b'"') for text in below) % 2:
        raise InputError(
            argument,
            "must close each quote",
            f"a quote in line {quote_lines[0]} of {str(path)!r} that is never closed",
            "Repair that line: remove the quote, or close it behind its field.",
        )


def _with_names(frame: pd.DataFrame, header: tuple[str, ...]) -> pd.DataFrame:
    """Return the table with its column names, without the empty last column of lines that end with a separator."""
    frame.columns = pd.Index(header)
    last = len(header) - 1
    empty = last > 0 and header[last] == f"Unnamed: {last}" and frame.iloc[:, last].isna().all()
    return frame.iloc[:, :last] if empty else frame


def _check_ragged(raw: bytes, layout: _Layout, path: Path, argument: str) -> None:
    """Raise an error for the first row with another number of fields."""
    rows = _rows(raw, layout.separator)
    if layout.header is not None:
        next(rows, None)
    for line, row in rows:
        if len(row) != layout.width:
            raise _ragged(path, argument, line, len(row), layout.width)


def _ragged(path: Path, argument: str, line: int, fields: int, width: int) -> InputError:
    """Return the error for a row of another length."""
    return InputError(
        argument,
        "must have the same number of fields in every row",
        f"{fields} in line {line} of {str(path)!r}, {width} before",
        "Repair that line. The usual reason is an unquoted separator in a text field, or a truncated file.",
    )
