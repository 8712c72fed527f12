"""Tables in text files, parsed by pandas once the layout is known; ragged rows raise an error.

The layout (separator, header, row names) is inferred here from the first two rows, because csv.Sniffer, which pandas
uses with sep=None, takes a letter for the separator of a single column and guesses headers by the lengths of cells.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from dreval.errors import InputError
from dreval.inputs._sizes import read_lines
from dreval.records.notes import Note, Notes, note

_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)|NA", re.I)
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d+(,\d+)?(e[+-]?\d+)?\s*", re.I)
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d*(e[+-]?\d+)?", re.I)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.I)
_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")  # thousands parted by points
_SURELY_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*|\.\d{3})")  # no decimal point can be meant
_SPLIT_NUMBER = re.compile(r"[+-]?\d+(e[+-]?\d+)?", re.I)
# Newer pandas reads numbers to the last bit by default and warns about the option.
_EXACT: dict[str, Any] = {} if _PANDAS >= (3, 1) else {"float_precision": "round_trip"}
_SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces"}
_COMMENT = re.compile(rb"[ \t]*#([ \t][^\r\n]*)?(\r\n|\n|\r)")
GZIP = b"\x1f\x8b"  # the first bytes of a .gz file
_LOOKED_AT = 20  # rows from which the layout is inferred
_BYTES_LOOKED_AT = 2**20


@dataclass(frozen=True)
class _Layout:
    """The layout of a text file."""

    separator: str
    header: tuple[str, ...] | None
    width: int
    notes: list[Note]


def read_text(path: Path, suffix: str, argument: str) -> tuple[pd.DataFrame, bool, Notes]:
    """The table in a .csv or .tsv file (also .gz), whether it had a header, and notes on how it was read."""
    raw = _load(path, suffix, argument)
    try:
        usual = "\t" if suffix.startswith(".tsv") else ","
        raw, comments = _without_comments(raw, usual)
        separator = _separator(raw, usual)
        raw = _at_ends(raw) if separator == " " else raw
        _refuse_open_quote(raw, separator, path, argument)
        layout = _sniff(raw, separator, usual, path, argument)
        layout.notes.extend([note("file.comments", file=path.name, lines=comments)] if comments else [])
        frame = _parse(raw, layout, path, argument)
    except UnicodeDecodeError as error:
        raise _garbage(path, argument, f"{str(path)!r}, which is not UTF-8 at byte {error.start}") from error
    except csv.Error as error:
        raise _garbage(path, argument, f"{str(path)!r} ({error})") from error
    if layout.width > 1 and frame.iloc[:, -1].isna().any():
        _refuse_ragged(raw, layout, path, argument)
    if layout.separator in ";\t":
        layout.notes.extend(_decimal_commas(frame, raw, layout, path, argument))
    if layout.header is not None:
        frame = _name(frame, layout.header)
    if len(frame) == 0:
        raise InputError(
            argument, "must have rows", f"{str(path)!r} with a header only", "Write the file again with its rows."
        )
    frame.attrs["separator"] = layout.separator  # for the cure of numbers with commas
    return frame, layout.header is not None, tuple(layout.notes)


def _parse(raw: bytes, layout: _Layout, path: Path, argument: str, **settings: Any) -> pd.DataFrame:
    """The table by pandas, with every bit of each number."""
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
        _refuse_ragged(raw, layout, path, argument)
        raise _garbage(path, argument, f"{str(path)!r} ({error})") from error
    return frame


def _decimal_commas(frame: pd.DataFrame, raw: bytes, layout: _Layout, path: Path, argument: str) -> Notes:
    """Convert columns of numbers with decimal commas to floats, in place, with notes; points may part thousands.

    Only if nothing else is possible. Without points: some number does not have three digits after its comma, so that
    commas do not separate thousands. With points: some number has a comma or a second point behind them, and all
    numbers with points have three digits after each.
    """
    texts = {j: frame.iloc[:, j] for j in range(frame.shape[1]) if frame.iloc[:, j].dtype.kind not in "biuf"}
    cells = {j: column.dropna().astype(str).str.strip() for j, column in texts.items()}
    meant = [j for j, column in cells.items() if len(column) and _all_commas(column)]
    grouped = any(cells[j].str.fullmatch(_SURELY_GROUPED).any() for j in meant)
    if not grouped and not any((~cells[j].str.fullmatch(_THOUSANDS) & cells[j].str.contains(",")).any() for j in meant):
        return ()
    points = (cell.strip() for _, row in _rows(raw, layout.separator) for cell in row if "." in cell)
    if any(_POINT_NUMBER.fullmatch(cell) and not (grouped and _GROUPED.fullmatch(cell)) for cell in points):
        return ()
    if grouped:  # pandas read 1.234 as a fraction
        written = _parse(raw, layout, path, argument, dtype=str)
        texts = {j: written.iloc[:, j] for j in range(written.shape[1])}
        cells = {j: column.dropna().astype(str).str.strip() for j, column in texts.items()}
        meant = [j for j, own in cells.items() if own.str.contains(r"[.,]").any() and _all_commas(own)]
    for j in meant:
        plain = [str(cell).replace(".", "").replace(",", ".") if pd.notna(cell) else "nan" for cell in texts[j]]
        frame.isetitem(j, [float(cell) for cell in plain])
    return (note("file.grouped" if grouped else "file.commas", columns=len(meant), file=path.name),)


def _all_commas(cells: pd.Series[Any]) -> bool:
    """Whether all are numbers that may have a decimal comma, and points between thousands."""
    return bool((cells.str.fullmatch(_COMMA_NUMBER) | cells.str.fullmatch(_GROUPED)).all())


def _load(path: Path, suffix: str, argument: str) -> bytes:
    """The bytes of the file, decompressed; web pages, binary files and UTF-16 raise an error."""
    compressed = suffix.endswith(".gz")
    try:
        raw = read_lines(path, compressed, argument)
    except (OSError, EOFError, zlib.error) as error:
        got = f"{str(path)!r} ({getattr(error, 'strerror', None) or error})"
        if isinstance(error, OSError) and error.errno is not None:
            raise InputError(argument, "must be a file that can be read", got, "Check its permissions.") from error
        rule, cure = "must be a whole .gz file", "Copy or compress it again: it was cut short or altered."
        with path.open("rb") as file:
            if file.read(2) != GZIP:
                rule, cure = "must be a .gz file", f"Name it {path.name[:-3]!r}: it is not compressed."
        raise InputError(argument, rule, got, cure) from error
    start = raw[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if not raw.removeprefix(b"\xef\xbb\xbf").strip():
        raise InputError(argument, "must not be empty", f"{str(path)!r} without any text", "Write the file again.")
    if start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        cure = "Download the raw file; a browser or a login page was saved in its place."
        raise InputError(argument, "must be a text table", f"{str(path)!r}, which is a web page (HTML)", cure)
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _garbage(path, argument, f"{str(path)!r} in UTF-16")
    if raw.startswith(GZIP):
        cure = f"Name it {path.name + '.gz'!r}, or unpack it."
        raise InputError(argument, "must be a text table", f"{str(path)!r}, which is compressed by gzip", cure)
    if b"\0" in raw or raw.startswith(b"PK\x03\x04"):
        raise _garbage(path, argument, f"{str(path)!r} with binary content")
    return raw


def _garbage(path: Path, argument: str, got: str) -> InputError:
    """The error for content that is not a table in UTF-8."""
    return InputError(
        argument, "must be a text table in UTF-8", got, f"Save {path.name!r} again as a CSV file in UTF-8."
    )


def _rows(raw: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields of the rows that are not blank."""
    with io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
        yield from ((reader.line_num, row) for row in reader if row and (len(row) > 1 or row[0].strip()))


def _sniff(raw: bytes, separator: str, usual: str, path: Path, argument: str) -> _Layout:
    """The layout, from the first rows."""
    _refuse_preamble(raw, separator, path, argument)
    rows = _rows(raw, separator)
    (_, first), (line, second) = next(rows, (0, [""])), next(rows, (0, []))
    notes: list[Note] = []
    if separator != usual:
        notes.append(note("file.separator", file=path.name, separator=_SEPARATOR_NAMES[separator]))
    if not _is_header(first, second or first):
        return _Layout(separator, None, len(first), notes)
    if any(_NUMBER.fullmatch(cell.strip()) for cell in first):
        notes.append(note("file.header", file=path.name))
    header = [re.sub(r"^#+\s*", "", first[0]), *first[1:]]
    below = [len(row) for _, row in islice(rows, _LOOKED_AT)]
    if len(second) == len(header) + 1 and not (below and set(below) == {len(header)}):
        trailing = not second[-1].strip()
        header = [*header, ""] if trailing else ["", *header]
    elif second and len(second) != len(header):
        raise _ragged(path, argument, line, len(second), len(header))
    names = tuple(name.strip() or f"Unnamed: {j}" for j, name in enumerate(header))
    return _Layout(separator, names, len(header), notes)


def _without_comments(raw: bytes, usual: str) -> tuple[bytes, int]:
    """Return the text with its leading comments as blank lines, and how many of them are not the header.

    Comments are lines that begin with "# ", as ``numpy.savetxt`` writes a header. The last one is the header where it
    has a name for each column, none of them a number, or one less where the first column is text, as R writes it; its
    names may be separated by commas where numbers are separated by spaces. All others are left out, with a note.
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
    body = _at_ends(body) if separator == " " else body
    width = len(next(_rows(body, separator))[1])
    texts = not _NUMBER.fullmatch(next(_rows(body, separator))[1][0].strip())
    last = lines[-1].decode("utf-8-sig").strip().removeprefix("#").strip()
    for mark_of_names in (separator, ",") if separator == " " else (separator,):
        names = [name.strip() for name in next(csv.reader([last], delimiter=mark_of_names, skipinitialspace=True), [])]
        if names and not any(map(_NUMBER.fullmatch, names)) and len(names) in (width, width - texts):
            written = io.StringIO()
            csv.writer(written, delimiter=separator, lineterminator="\n").writerow(names)
            blank = b"\n" * (len(lines) - 1)
            return raw[:start] + blank + written.getvalue().encode() + body, len(lines) - 1
    return raw[:start] + b"\n" * len(lines) + body, len(lines)


def _separator(raw: bytes, usual: str) -> str:
    """The separator of the suffix, unless the first row clearly uses another one."""
    line = next((row for row in raw.splitlines() if row.strip()), b"").decode("utf-8-sig")
    line = re.sub(r'"[^"]*"', '""', line)
    fields = line.split(";")
    if len(fields) > 1 and ("," not in line or all(_COMMA_NUMBER.fullmatch(cell) for cell in fields if cell.strip())):
        return ";"
    others = [other for other in (",", "\t") if other != usual and other in line]
    if usual not in line and others:
        return others[0]
    return " " if usual not in line and _is_spaced(raw, usual) else usual


def _is_spaced(raw: bytes, usual: str) -> bool:
    """Whether rows of numbers stand in one column of the usual separator and in two or more that spaces separate.

    The numbers may have a name or label in front of them if there are two or more; "sample 1" is one label.
    """
    head = raw if len(raw) <= _BYTES_LOOKED_AT else raw[:_BYTES_LOOKED_AT].rpartition(b"\n")[0]
    rows = [[cell.strip() for cell in row] for _, row in islice(_rows(_at_ends(head), " "), _LOOKED_AT)]
    last = rows[len(rows) // 2 :]
    if not last:
        return False
    start = 0 if all(_NUMBER.fullmatch(row[0]) for row in last) else 1
    return (
        len({len(row) for row in last}) == 1
        and len(last[0]) >= 2 + start
        and all(_NUMBER.fullmatch(cell) for row in last for cell in row[start:])
        and all(len(row) == 1 for _, row in islice(_rows(head, usual), _LOOKED_AT))
    )


def _at_ends(raw: bytes) -> bytes:
    """The text without the spaces at the ends of its lines, which would be empty fields."""
    return re.sub(rb" +(?=\r?\n|$)", b"", raw)


def _refuse_preamble(raw: bytes, separator: str, path: Path, argument: str) -> None:
    """Raise an error for lines on top that have fewer fields than all that follow: a title, a count, a comment."""
    rows = list(islice(_rows(raw, separator), _LOOKED_AT))
    first, width = rows[0][1], len(rows[-1][1])
    named, widths = len(first), [len(row) for _, row in rows[1:]]
    halves = all(_SPLIT_NUMBER.fullmatch(cell.strip()) for _, row in rows[1:] for cell in row)
    if named > 1 and widths and named + 1 < max(widths) <= 2 * named and min(widths) >= named and halves:
        raise InputError(
            argument,
            "must have as many fields as names",
            f"{named} names and {width} whole numbers in line {rows[-1][0]} of {str(path)!r}, as numbers with decimal "
            "commas give where commas separate them too",
            "Write the file again with decimal points, or with semicolons between its columns.",
        )
    top = [line for line, row in rows if len(row) != width]
    below = rows[len(top) :]
    if not top or len(below) < 2 or any(len(row) != width for _, row in below) or len(first) > width:
        return
    numbers = [any(map(_NUMBER.fullmatch, row)) for row in (first, below[0][1])]
    if len(top) == 1 and len(first) == width - 1 and numbers == [False, True]:
        return  # the header of R, which has no name for the row names
    lines = f"line {top[0]}" if len(top) == 1 else f"lines {top[0]} to {top[-1]}"
    raise InputError(
        argument,
        "must have the same number of fields in every row",
        f"{len(first)} in line {top[0]} of {str(path)!r}, {width} from line {below[0][0]} on",
        f"Remove {lines}: a title, a count or a comment does not belong to the table.",
    )


def _refuse_open_quote(raw: bytes, separator: str, path: Path, argument: str) -> None:
    """Raise an error that names the line in which a quote opens that is never closed."""
    if raw.count(b'"') % 2 == 0:
        return
    last, line, rows = 0, 0, _rows(raw, separator)
    try:
        for number, _ in rows:
            last, line = line, number
    except csv.Error:  # a field that is too long, as all that follows the quote may be
        last = line
    below = raw.splitlines()[last:]
    opened = [number for number, text in enumerate(below, last + 1) if b'"' in text]
    if opened and sum(text.count(b'"') for text in below) % 2:
        raise InputError(
            argument,
            "must close each quote",
            f"a quote in line {opened[0]} of {str(path)!r} that is never closed",
            "Repair that line: remove the quote, or close it behind its field.",
        )


def _is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first row names the columns.

    A row of numbers is data, except for the header 0, 1, 2, ... that pandas writes for unnamed columns. A row that
    mixes text with decimal fractions is data if the second row has numbers in the same places.
    """
    cells = [cell.strip() for cell in first]
    numeric = [j for j, cell in enumerate(cells) if _NUMBER.fullmatch(cell)]
    if not numeric:
        return True
    below = [second[j].strip() if j < len(second) else "" for j in numeric]
    counted = [int(cells[j]) if cells[j].isdecimal() else -1 for j in numeric]
    if cells[0] == "" and second[0].strip() and counted == list(range(1, len(cells))):
        return True  # the header that R writes for a matrix with row names
    if counted == list(range(len(numeric))) and all(cells[j] == str(i) for i, j in enumerate(numeric)):
        whole = all(re.fullmatch(r"[+-]?\d+", cell) for cell in below)
        if not whole or len(numeric) >= 4 or (cells[0] == "" and second[0].strip() != ""):
            return True
    if all(j in numeric or cell == "" for j, cell in enumerate(cells)):
        return False
    return not (any("." in cells[j] for j in numeric) and all(_NUMBER.fullmatch(cell) for cell in below))


def _name(frame: pd.DataFrame, header: tuple[str, ...]) -> pd.DataFrame:
    """The table with its column names, without the empty last column of lines that end with a separator."""
    frame.columns = pd.Index(header)
    last = len(header) - 1
    empty = last > 0 and header[last] == f"Unnamed: {last}" and frame.iloc[:, last].isna().all()
    return frame.iloc[:, :last] if empty else frame


def _refuse_ragged(raw: bytes, layout: _Layout, path: Path, argument: str) -> None:
    """Raise an error for the first row whose number of fields differs from the others."""
    rows = _rows(raw, layout.separator)
    if layout.header is not None:
        next(rows, None)
    for line, row in rows:
        if len(row) != layout.width:
            raise _ragged(path, argument, line, len(row), layout.width)


def _ragged(path: Path, argument: str, line: int, fields: int, width: int) -> InputError:
    """The error for a row of another length."""
    return InputError(
        argument,
        "must have the same number of fields in every row",
        f"{fields} in line {line} of {str(path)!r}, {width} before",
        "Repair that line: an unquoted separator in a text field, or a file cut short, is the usual reason.",
    )
