"""Read tables from text files: separator, quotes, header, names of rows, and decimal commas next to semicolons.

Everything else raises an error that says how to read the file with pandas: comments, rows of other lengths, points
between thousands, decimal commas next to tabs or spaces.

The layout is inferred here from the first rows, and pandas parses the cells. csv.Sniffer, which pandas uses with
sep=None, takes a letter for the separator of a single column and guesses headers by the lengths of cells. ``first_row``
states and applies the rule by which the first row has the names of the columns.
"""

from __future__ import annotations

import csv
import enum
import gzip
import io
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_bool, check_unpacked, describe, max_unpacked_bytes, read_limit
from dreval.errors import Hint, InputError, InputWarning, warn
from dreval.inputs.features import ROW_NAMES, is_id_name
from dreval.records.notes import Note, Notes, note

# Whether the first row has the names of the columns.

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)|NA", re.I)
# With a decimal comma, or points between thousands.
COMMA_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d*)?(e[+-]?\d+)?", re.I)

MAX_ROWS_COMPARED = 200  # rows below the first one that it is compared with
MIN_ROWS_COMPARED = 4  # fewer rows do not show what is usual
MIN_COLUMNS_FOR_HEADER = 4  # numbers in a row; a row of fewer numbers alone is never a header by comparison
MIN_COLUMNS_FOR_EVEN_HEADER = 6  # numbers in equal steps that are a header without another reason
MAX_SHARE_OF_SORTED_ROWS = 0.1  # of the rows below; where more are sorted, a sorted first row is no reason
MAX_DOUBTFUL_ORDER_PROBABILITY = (
    0.01  # largest probability of a sorted row of data at which the order alone is a reason
)
MAX_CERTAIN_ORDER_PROBABILITY = (
    0.002  # largest probability of a sorted row of data at which the order alone makes a header
)
MIN_MAGNITUDE_RATIO = 10.0  # ratio of the mean absolute values of the first row and any row below, or its inverse
MAX_DECIMALS_RATIO = 0.5  # ratio of the most decimals in the first row and in any row below
STEP_TOLERANCE = 1e-6  # relative difference up to which steps are equal
MAX_FACTORIAL = 100  # 100! is a float
MAX_SHOWN_VALUES = 3  # values of a row in a note
MAX_SHOWN_CHARACTERS = 20  # characters of each such value


class Reason(enum.Enum):
    """A property of a first row, compared with the rows below, that suggests a header: the code of a note."""

    EVEN = "row.even"
    SORTED = "row.sorted"
    COUNTING = "row.counting"
    MAGNITUDE = "row.magnitude"
    DECIMALS = "row.decimals"
    EMPTY = "row.empty"
    TEXT_BELOW = "row.text_below"
    NAME = "row.name"
    WHOLE = "row.whole"


Header = bool | Literal["auto"]


@dataclass(frozen=True)
class TextTable:
    """The cells of the first rows of a text file.

    Attributes
    ----------
    top_row : list of str
        Cells of the first row.
    below : list of list of str
        Cells of up to ``MAX_ROWS_COMPARED`` rows below it.
    separator : str
        The separator of the cells.
    quoted : bool
        Whether each cell of the first row is in quotes, and a number below is not.
    short : bool
        Whether the first row has one cell less than the rows below, and an empty one was put before it.
    """

    top_row: list[str]
    below: list[list[str]]
    separator: str
    quoted: bool = False
    short: bool = False

    @property
    def numeric(self) -> list[int]:
        """Positions of the numbers in the first row."""
        return [j for j, cell in enumerate(self.top_row) if self.is_number(cell)]

    def column(self, j: int) -> list[str]:
        """Return the cells below the first row in one column."""
        return [row[j] for row in self.below]

    def is_number(self, cell: str) -> bool:
        """Check whether a cell is a number; a decimal comma needs another separator than a comma."""
        if NUMBER.fullmatch(cell):
            return True
        return self.separator != "," and bool(COMMA_NUMBER.fullmatch(cell))

    def number(self, cell: str) -> float:
        """Return the number in a cell, NaN for text."""
        if not self.is_number(cell) or cell.upper() == "NA":
            return math.nan
        return float(cell if NUMBER.fullmatch(cell) else cell.replace(".", "").replace(",", "."))

    def decimals(self, cell: str) -> float:
        """Return the number of digits behind the decimal point of a cell, NaN unless it is a finite number."""
        if not math.isfinite(self.number(cell)):
            return math.nan
        mantissa, _, exponent = cell.lower().partition("e")
        point = "." if NUMBER.fullmatch(cell) else ","
        return float(max(0, len(mantissa.strip().partition(point)[2]) - int(exponent or 0)))


@dataclass(frozen=True)
class HeaderOptions:
    """Options for reading a text file.

    Attributes
    ----------
    header : "auto", bool or None
        Whether the first row has the names of the columns. None is "auto" where the caller offers no ``header``.
    n : int or None
        Number of rows that a table of all points has.
    names : iterable or None
        Names of the points.
    """

    header: Header | None = None
    n: int | None = None
    names: Iterable[Any] | None = field(default=None, compare=False)

    def is_named_row(self, table: TextTable) -> bool:
        """Check whether a first row has the name of a point, above the names of other points.

        The name is text, and the texts below it are all different; most of them are names of points.
        """
        cells = [cell.strip() for cell in table.top_row]
        texts = [j for j, cell in enumerate(cells) if cell and not table.is_number(cell)]
        if self.names is None or not texts:
            return False
        names = set(map(str, self.names))
        for j in texts:
            below = [row[j].strip() for row in table.below if j < len(row)]
            different = len({cells[j], *below}) == 1 + len(below)
            if cells[j] in names and different and 2 * len(names.intersection(below)) > len(below) > 0:
                return True
        return False

    def remedy(self, header: bool, table: TextTable) -> str:
        """Return the advice for reading the first row in the other way."""
        if self.header is not None:
            return f"pass {Hint('header', header)}"
        options = ["path"] + ([] if table.separator == "," else [f"sep={table.separator!r}"])
        commas = any(table.is_number(cell) and not NUMBER.fullmatch(cell) for row in table.below for cell in row)
        options += ["decimal=','"] if commas else []
        options += [] if header else ["header=None"]
        names = [row[0] for row in table.below if row]
        if names and not any(map(table.is_number, names)) and len(set(names)) == len(names):
            options.append("index_col=0")
        return f"read it with pandas.read_csv({', '.join(options)}) and pass the frame"


AUTO = HeaderOptions()


@dataclass(frozen=True)
class FirstRow:
    """The decision about a first row.

    Attributes
    ----------
    header : bool
        Whether it has the names of the columns.
    numbers : bool
        Whether numbers are among these names.
    doubtful : bool
        Whether the other reading is likely enough for a warning.
    reasons : tuple of Reason
        The results of the comparison with the rows below.
    is_value : bool
        Whether it is data because text of it occurs below, or names a point, where its numbers would not have made it
        data.
    """

    header: bool
    numbers: bool = False
    doubtful: bool = False
    reasons: tuple[Reason, ...] = ()
    is_value: bool = False


def check_header(value: object) -> Header:
    """Check the argument ``header``."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    if isinstance(value, bool | np.bool_):
        return check_bool(value, "header")
    raise InputError(
        "header",
        "must be 'auto', True or False",
        describe(value),
        "Pass {yes} if the first row of each text file has the names of its columns, {no} if it is a row of data.",
        yes=Hint("header", True),
        no=Hint("header", False),
    )


def shown_row(cells: Sequence[str]) -> str:
    """Return the cells of a row that are not empty as text; of many cells the first ones and their number."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    shortened = [text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..." for text in texts]
    if len(shortened) <= MAX_SHOWN_VALUES:
        return ", ".join(shortened)
    return f"{', '.join(shortened[:MAX_SHOWN_VALUES])}, ... ({len(shortened)} values)"


def first_row(table: TextTable) -> FirstRow:
    """Decide whether the first row of a table has the names of the columns.

    A first row without numbers is a header. Whatever is below, these rows are headers too:

    - the row 0, 1, 2, ... that pandas writes for unnamed columns, above fractions or of four or more numbers;
    - a row that begins with "#", or whose cells are in quotes while numbers below are not;
    - a row of different numbers next to "id", "sample" or a similar name, or behind an empty first cell above text or
      above 0, 1, 2, ... or 1, 2, 3, ...

    A row in which a number repeats is data, since names rarely repeat; it is doubtful if both its magnitude and its
    decimals differ from those below. Rows of different numbers are compared with up to ``MAX_ROWS_COMPARED`` rows
    below. These are reasons for a header:

    - order: the numbers have equal steps, and no row below has equal steps; or they are sorted, and at most
      ``MAX_SHARE_OF_SORTED_ROWS`` of the rows below are, in the same direction. Two or three numbers must count, as
      0, 1 or 1, 2, 3; one number must be 0;
    - magnitude: the mean absolute value is more than ``MIN_MAGNITUDE_RATIO`` times that of every row below, or every
      row below has more than ``MIN_MAGNITUDE_RATIO`` times the mean absolute value of the first row;
    - decimals: the most decimals in the row are at most ``MAX_DECIMALS_RATIO`` times those in every row below, or the
      fewest in the row are at least 1 / ``MAX_DECIMALS_RATIO`` times the most below;
    - an empty cell: it is above a column without empty cells;
    - text: a number is above a column of text, or text in the row is above numbers, above text that repeats or above
      text that has one form, a different one.

    A row of ``MIN_COLUMNS_FOR_HEADER`` numbers or more is a header if two of the first three hold, if equal steps hold
    for ``MIN_COLUMNS_FOR_EVEN_HEADER`` numbers, or if the numbers are sorted and the probability of that in a row of
    data is at most ``MAX_CERTAIN_ORDER_PROBABILITY``. This probability is the larger of 2 / p! and s t^(p - 2). Here p
    is the number of numbers, s the share of the steps below that have this direction, and t the share of the steps
    after such a step that have it. Without a trend s is 1/2 and t is 1/3: 8 sorted numbers are a header. An order with
    a probability above ``MAX_DOUBTFUL_ORDER_PROBABILITY``, such as the order of 5 numbers, is not a reason by itself,
    unless the steps are equal.

    A row of numbers for which one reason holds is data, and doubtful. One, two or three numbers are always data, and
    doubtful if a reason holds. An empty cell and another reason, or a number above a column of text, make every row a
    header.

    Names in no order that have the magnitude and the decimals of the values below cannot be distinguished from data:
    for instance numbers of genes above integers of thousands. They are read as data, and not marked as doubtful, like
    the first row of a plain table.

    A row of numbers and text is data if a text of it occurs below in the same column. With fractions it is a header
    if two reasons hold, and doubtful data if one holds. Without fractions it is a header, unless its text has the form
    of the text below ("s0" above "s1" and "s2") and fewer than two reasons hold, which is doubtful.

    Parameters
    ----------
    table : TextTable
        The first rows.

    Returns
    -------
    FirstRow
        The decision and its reasons.

    Examples
    --------
    >>> rows = [["0.12", "0.15", "0.11", "0.19"], ["0.22", "0.21", "0.25", "0.20"]] * 4
    >>> first_row(TextTable(["400", "410", "420", "430"], rows, ",")).header
    True
    >>> first_row(TextTable(["0.13", "0.17", "0.16", "0.12"], rows, ",")).header
    False
    """
    cells = [cell.strip() for cell in table.top_row]
    below = [[cell.strip() for cell in row] for row in table.below if len(row) == len(cells)]
    table = replace(table, top_row=cells, below=below)
    numeric = table.numeric
    if not numeric:
        return FirstRow(True)
    text_columns = [j for j, cell in enumerate(cells) if cell and j not in numeric]
    numeric_cells = [cells[j] for j in numeric]
    different = len(set(numeric_cells)) == len(numeric_cells)
    if table.quoted or cells[0].startswith("#") or _is_count(table, numeric):
        return FirstRow(True, numbers=True)
    fractions = any(table.decimals(cell) > 0 for cell in numeric_cells)
    if any(cells[j] in table.column(j) for j in text_columns):
        return FirstRow(False, is_value=not fractions)
    if different and _is_next_to_row_names(table, numeric, text_columns):
        return FirstRow(True, numbers=True)
    reasons, chance = _evidence(table, numeric) if different or not text_columns else ((), 1.0)
    if not text_columns and not different:
        unlike = (Reason.MAGNITUDE, Reason.DECIMALS)
        reasons = unlike if set(unlike) <= set(reasons) else ()
        return FirstRow(False, doubtful=bool(reasons), reasons=reasons)
    if not text_columns:
        return _decide_numbers(len(numeric), reasons, chance)
    same_form = any(_has_form_of(cells[j], table.column(j)) for j in text_columns)
    if not same_form and any(_is_name(table, j) for j in text_columns):
        reasons = (*reasons, Reason.NAME)
    if fractions:
        header = len(reasons) > 1 or Reason.TEXT_BELOW in reasons
        return FirstRow(header, header, bool(reasons) and not header, reasons)
    if same_form and len(reasons) < 2:
        return FirstRow(False, doubtful=True, reasons=(*reasons, Reason.WHOLE))
    return FirstRow(True, True, reasons=reasons)


def _decide_numbers(p: int, reasons: tuple[Reason, ...], chance: float) -> FirstRow:
    """Decide about a row of p numbers, next to which cells may be empty."""
    header = Reason.TEXT_BELOW in reasons or (Reason.EMPTY in reasons and len(reasons) > 1)
    if p >= MIN_COLUMNS_FOR_HEADER:
        header |= len(reasons) > 1 or (
            chance <= MAX_CERTAIN_ORDER_PROBABILITY and bool({Reason.EVEN, Reason.SORTED} & {*reasons})
        )
        header |= Reason.EVEN in reasons and p >= MIN_COLUMNS_FOR_EVEN_HEADER
        if reasons == (Reason.SORTED,) and chance > MAX_DOUBTFUL_ORDER_PROBABILITY:
            reasons = ()
    return FirstRow(header, header, bool(reasons) and not header, reasons)


def _is_count(table: TextTable, numeric: list[int]) -> bool:
    """Check for 0, 1, 2, ...; of two or three such numbers the row below must have a fraction."""
    cells = [table.top_row[j] for j in numeric]
    if cells != [str(i) for i in range(len(numeric))]:
        return False
    second = [table.below[0][j] for j in numeric] if table.below else cells
    return len(numeric) >= 4 or not all(re.fullmatch(r"[+-]?\d+", cell) for cell in second)


def _is_next_to_row_names(table: TextTable, numeric: list[int], texts: list[int]) -> bool:
    """Check for an empty first cell above names or counts of rows, and numbers else; or names of ids among numbers."""
    empty = [j for j, cell in enumerate(table.top_row) if not cell]
    if texts:
        return not empty and all(is_id_name(table.top_row[j]) for j in texts)
    if empty != [0] or not table.below:
        return False
    names = table.column(0)
    if not all(names):
        return False
    if not any(map(table.is_number, names)):
        return True
    if any(names == [str(i) for i in range(start, start + len(names))] for start in (0, 1)):
        return True
    whole = all(re.fullmatch(r"\d+", name) for name in names) and len(set(names)) == len(names)
    return whole and bool(_evidence(table, numeric)[0])


def _is_name(table: TextTable, j: int) -> bool:
    """Check whether a text of the first row differs from the cells below: numbers, repeats, or texts of one form."""
    below = table.column(j)
    if len(below) < MIN_ROWS_COMPARED or not all(below):
        return False
    forms = set(map(_form, below))
    repeats = 2 * len(set(below)) <= len(below)
    return all(map(table.is_number, below)) or repeats or (len(forms) == 1 and _form(table.top_row[j]) not in forms)


def _has_form_of(cell: str, below: list[str]) -> bool:
    """Check whether text with digits has the form of each cell below: "s0" has the form of "s1" and "s23"."""
    return bool(re.search(r"\d", cell)) and set(map(_form, below)) == {_form(cell)}


def _form(cell: str) -> str:
    """Return the form of a text: one letter for each run of capitals, other letters and digits."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_A-Z]+", "a", re.sub(r"[A-Z]+", "A", cell)))


def _evidence(table: TextTable, numeric: list[int]) -> tuple[tuple[Reason, ...], float]:
    """Return the reasons for a header of numbers, and the probability that a row of data is sorted in the same way."""
    if len(table.below) < MIN_ROWS_COMPARED:
        return (), 1.0
    reasons = []
    values = np.array([[table.number(row[j]) for j in numeric] for row in table.below])
    above_text = [np.isnan(values[:, i]).all() and all(table.column(j)) for i, j in enumerate(numeric)]
    if any(above_text) and not any(cell.upper() in ("NA", "NAN") for j in numeric for cell in table.column(j)):
        reasons.append(Reason.TEXT_BELOW)
    if not table.short and any(not cell and all(table.column(j)) for j, cell in enumerate(table.top_row)):
        reasons.append(Reason.EMPTY)
    columns = [i for i, full in enumerate(np.isfinite(values).all(axis=0)) if full]
    top_values = np.array([table.number(table.top_row[numeric[i]]) for i in columns])
    if len(columns) < 2 or not np.isfinite(top_values).all():
        return (*reasons, *([Reason.COUNTING] if len(numeric) == 1 and top_values.tolist() == [0] else [])), 1.0
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest float
        order, chance = _order(top_values, values[:, columns])
        mean_size, mean_sizes = np.abs(top_values).mean(), np.abs(values[:, columns]).mean(axis=1)
        larger = 0 < mean_sizes.max() * MIN_MAGNITUDE_RATIO < mean_size
        smaller = 0 < mean_size * MIN_MAGNITUDE_RATIO < mean_sizes.min()
    reasons += order
    if larger or smaller:
        reasons.append(Reason.MAGNITUDE)
    decimals = np.array([table.decimals(table.top_row[numeric[i]]) for i in columns])
    decimals_below = np.array([[table.decimals(row[numeric[i]]) for i in columns] for row in table.below])
    most_decimals = decimals_below.max(axis=1)
    has_fewer = most_decimals.min() > 0 and decimals.max() <= MAX_DECIMALS_RATIO * most_decimals.min()
    if has_fewer or (decimals.min() > 0 and decimals.min() * MAX_DECIMALS_RATIO >= most_decimals.max()):
        reasons.append(Reason.DECIMALS)
    return tuple(reasons), chance


def _order(values: FloatArray, below: FloatArray) -> tuple[list[Reason], float]:
    """Return the reason in the order of a row, if any, and the probability that a row of data is sorted in that way."""
    p = len(values)
    if p < MIN_COLUMNS_FOR_HEADER:
        counts = any(np.array_equal(values, np.arange(p) + start) for start in (0, 1))
        return ([Reason.COUNTING] if counts else []), 1.0
    steps, steps_below = np.diff(values), np.diff(below, axis=1)
    direction = np.sign(steps[0])
    if direction == 0 or not (np.sign(steps) == direction).all():
        return [], 1.0
    same = np.sign(steps_below) == direction
    is_sorted = float(same.all(axis=1).mean()) <= MAX_SHARE_OF_SORTED_ROWS
    pairs = np.count_nonzero(same[:, 1:] & same[:, :-1])
    repeats = (1 + pairs) / (1 + np.count_nonzero(same[:, :-1]))
    by_steps = float(same.mean() * repeats ** (p - 2))
    chance = max(2 / math.factorial(min(p, MAX_FACTORIAL)), by_steps) if is_sorted else 1.0
    if _even(steps) and not any(_even(row) for row in steps_below):
        return [Reason.EVEN], chance
    return ([Reason.SORTED] if is_sorted else []), chance


def _even(steps: FloatArray) -> bool:
    """Check whether the steps of a row are equal, and not 0."""
    return bool(steps[0] != 0 and np.abs(steps - steps[0]).max() <= STEP_TOLERANCE * abs(steps[0]))


# Layout and cells of a text file.

MARK = b"\xef\xbb\xbf"  # the byte-order mark of UTF-8
GZIP = b"\x1f\x8b"  # the first bytes of a .gz file
N_LAYOUT_ROWS = 20  # rows from which the layout is inferred
MAX_LAYOUT_BYTES = 2**20  # bytes in which these rows are searched
MAX_LINE_FIELDS = 2**20  # fields in a line
FIELD_BYTES = 64  # bytes of a field, on average
NUMBER_BYTES = 8
LINE_BYTES = 100  # about the memory of a line while it is read, in addition to its numbers
LINE_ENDS = (b"\n", b"\r")
SEPARATORS = (b",", b";", b"\t")
SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces"}
# Newer pandas reads numbers to the last bit by default and warns about the option.
EXACT: dict[str, Any] = (
    {} if tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1) else {"float_precision": "round_trip"}
)
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?(e[+-]?\d+)?", re.I)  # or a whole number
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.I)  # or three digits behind a decimal comma
COMMENT = re.compile(rb"[ \t]*#([ \t][^\r\n]*)?(\r\n|\n|\r)")
ESCAPED_QUOTE = re.compile(rb'\\"[^,;\t \r\n"]')  # how R writes a quote within quotes
QUOTED = r'"(?:[^"]|"")*"'
# Cells that R writes without quotes.
BARE = r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf)|NA|TRUE|FALSE"
ROW_OF_R = re.compile(rf"(?:{QUOTED}|{BARE})(?: +(?:{QUOTED}|{BARE}))+", re.I)
PANDAS_HINT = "Read it with pandas and pass the frame"


@dataclass(frozen=True)
class TextFile:
    """The bytes of a text file whose marks and spaces at the ends of lines were removed, and their separator.

    ``is_marked`` says whether the first line had a "#" before the names of the columns.
    """

    path: Path
    argument: str
    raw: bytes
    separator: str
    usual_separator: str
    is_marked: bool

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line numbers and fields of the rows that are not blank."""
        return rows_of_text(self.raw, self.separator)

    def lines(self, count: int) -> list[str]:
        """Return the first lines that are not blank, without spaces around them."""
        return [line.decode("utf-8-sig", "replace").strip() for line in islice(_lines(self.raw), count)]

    def error(self, requirement: str, received: str, hint: str = f"{PANDAS_HINT}.", **fields: Hint) -> InputError:
        """Return the error for a file that is not a plain table; ``received`` may name the file as ``{file}``."""
        return InputError(self.argument, requirement, received.replace("{file}", repr(str(self.path))), hint, **fields)


def read_text(
    path: Path, suffix: str, argument: str, reading: HeaderOptions = AUTO
) -> tuple[pd.DataFrame, bool, Notes]:
    """Read a .csv or .tsv file (also .gz): return the table, whether it has a header, and notes on how it was read."""
    raw = _load(path, suffix, argument)
    raw = raw.replace(b'\\"', b'""') if ESCAPED_QUOTE.search(raw) else raw
    marks = raw.count(MARK, len(MARK))  # invisible, of joined files: "a" with a mark would be another class
    raw = raw[: len(MARK)] + raw[len(MARK) :].replace(MARK, b"") if marks else raw
    notes: Notes = (note("file.marks", file=path.name, marks=marks),) if marks else ()
    usual = "\t" if suffix.startswith(".tsv") else ","
    try:
        raw, is_marked = _without_comment_mark(raw)
        separator = _separator(raw, usual)
        raw = _strip_line_ends(raw) if separator == " " else raw
        file = TextFile(path, argument, raw, separator, usual, is_marked)
        _check_quotes(file)
        header, width, layout_notes = _layout(file, reading)
        frame = _parse(file, header, width)
        notes = (*layout_notes, *notes, *_decimal_commas(frame, file))
    except UnicodeDecodeError as error:
        raise _garbage(path, argument, f"{str(path)!r}, which is not UTF-8 at byte {error.start}") from error
    except csv.Error as error:
        raise _garbage(path, argument, f"{str(path)!r} ({error})") from error
    if header is not None:
        frame.columns = pd.Index(header)
    if len(frame) == 0:
        raise file.error("must have rows", "{file} with a header only", "Write the file again with its rows.")
    frame.attrs["separator"] = separator  # for the expression that reads the file
    frame.attrs[ROW_NAMES] = header is None and width > 1 and _has_quoted_names(file)
    return frame, header is not None, notes


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


def read_lines(path: Path, compressed: bool, argument: str) -> bytes:
    """Return the bytes of a text file; raise an error above the limits for .gz files and for the length of lines."""
    fields = max(MAX_LINE_FIELDS, (read_limit() or 0) / FIELD_BYTES)
    raw, line, total, parsed = io.BytesIO(), 0, 0, 0
    with gzip.open(path) if compressed else path.open("rb") as file:
        while part := file.read(MAX_LINE_FIELDS):
            raw.write(part)
            total += len(part)
            parsed += NUMBER_BYTES * max(map(part.count, SEPARATORS)) + LINE_BYTES * max(map(part.count, LINE_ENDS))
            if compressed:
                check_unpacked(max(total, parsed), path, argument)
            ends = [part.rfind(end) for end in LINE_ENDS]
            line = line + len(part) if max(ends) < 0 else len(part) - 1 - max(ends)
            if line > FIELD_BYTES * fields:
                raise _too_wide(f"a line of {line:,} bytes or more", fields, FIELD_BYTES * fields, path, argument)
    text = raw.getvalue()
    start = 0
    while start < len(text) - MAX_LINE_FIELDS:  # a shorter line has fewer fields
        end = max(text.rfind(end, start, start + MAX_LINE_FIELDS) for end in LINE_ENDS)
        if end < 0:
            ends = [position for end in LINE_ENDS if (position := text.find(end, start)) >= 0]
            end = min(ends, default=len(text))
            n_fields = 1 + max(text.count(separator, start, end) for separator in SEPARATORS)
            if n_fields > fields:
                raise _too_wide(f"a line of {n_fields:,} fields", fields, n_fields * FIELD_BYTES, path, argument)
        start = end + 1
    return text


def _too_wide(received: str, fields: float, needed: float, path: Path, argument: str) -> InputError:
    """Return the error for a line that is too long for a table: each field takes memory."""
    new_limit = 2.0 * max(needed, max_unpacked_bytes(path))
    return InputError(
        argument,
        f"must have at most {fields:,.0f} fields in a line, of {FIELD_BYTES} bytes on average",
        f"{received} in {str(path)!r}",
        f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={new_limit:.2g}.",
    )


def _garbage(path: Path, argument: str, received: str) -> InputError:
    """Return the error for content that is not a table in UTF-8."""
    return InputError(
        argument, "must be a text table in UTF-8", received, f"Save {path.name!r} again as a CSV file in UTF-8."
    )


def rows_of_text(raw: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields of the rows that are not blank."""
    with io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
        yield from ((reader.line_num, row) for row in reader if row and (len(row) > 1 or row[0].strip()))


def _lines(raw: bytes) -> Iterator[bytes]:
    """Yield the lines that are not blank."""
    return (line for line in io.BytesIO(raw.replace(b"\r", b"\n")) if line.strip())


def _strip_line_ends(raw: bytes) -> bytes:
    """Return the text without the spaces at the ends of its lines, which would be empty fields."""
    return re.sub(rb" +(?=\r?\n|$)", b"", raw)


def _without_comment_mark(raw: bytes) -> tuple[bytes, bool]:
    """Return the text without "#" and spaces at its start, and whether there were any.

    ``numpy.savetxt`` writes the names of columns in this way.
    """
    start = len(MARK) if raw.startswith(MARK) else 0
    match = COMMENT.match(raw, start)
    if match is None:
        return raw, False
    return raw[:start] + raw[start:].lstrip(b" \t").removeprefix(b"#").lstrip(b" \t"), True


def _separator(raw: bytes, usual: str) -> str:
    """Return the separator of the suffix, unless the first row clearly has another one."""
    line = next((row for row in raw.splitlines() if row.strip()), b"").decode("utf-8-sig")
    line = re.sub(r'"[^"]*"', '""', line)
    fields = [cell.strip() for cell in line.split(";")]
    if len(fields) > 1 and ("," not in line or all(map(COMMA_NUMBER.fullmatch, filter(None, fields)))):
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
    head = raw if len(raw) <= MAX_LAYOUT_BYTES else raw[:MAX_LAYOUT_BYTES].rpartition(b"\n")[0]
    lines = [line.decode("utf-8-sig").strip() for line in islice(_lines(head), N_LAYOUT_ROWS)]
    rows = [row for _, row in islice(rows_of_text(_strip_line_ends(head), " "), N_LAYOUT_ROWS)]
    widths = {len(row) for row in rows[1:]} or {len(row) for row in rows}
    below = lines[1:] or lines
    if len(widths) == 1 and all('"' in line and ROW_OF_R.fullmatch(line) for line in below):
        return True
    if any(len(row) != 1 for _, row in islice(rows_of_text(head, usual), N_LAYOUT_ROWS)):
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


def _check_quotes(file: TextFile) -> None:
    """Raise an error that names the line with a quote that is never closed."""
    if file.raw.count(b'"') % 2 == 0:
        return
    start, line, rows = 0, 0, file.rows()
    try:
        for number, _ in rows:
            start, line = line, number
    except csv.Error:  # a field that is too long, as all that follows the quote may be
        start = line
    below = file.raw.splitlines()[start:]
    quote_lines = [number for number, text in enumerate(below, start + 1) if b'"' in text]
    if quote_lines and sum(text.count(b'"') for text in below) % 2:
        received = f"a quote in line {quote_lines[0]} of {{file}} that is never closed"
        hint = "Repair that line: remove the quote, or close it behind its field."
        raise file.error("must close each quote", received, hint)


def _layout(file: TextFile, reading: HeaderOptions) -> tuple[tuple[str, ...] | None, int, Notes]:
    """Return the names of the columns (None without a header), their number, and notes, inferred from the first rows.

    Rows of other lengths, and comments, raise an error.
    """
    rows = list(islice(file.rows(), 1 + MAX_ROWS_COMPARED)) or [(0, [""])]
    table = TextTable(rows[0][1], [row for _, row in rows[1:]], file.separator, _is_quoted_header(file))
    is_short = _is_short_header(table, reading.header is True)
    if file.is_marked and _is_comment(table, is_short):
        received = f"a line that begins with '#' in line {rows[0][0]} of {{file}}, without a name for each column"
        raise file.error("must not have comments", received, f"{PANDAS_HINT}: pandas.read_csv(path, comment='#').")
    if reading.header is not False and is_short:
        table = _lengthened(table)
    width = len(table.top_row)
    _check_first_rows(file, [(rows[0][0], table.top_row), *rows[1:]])
    notes: list[Note] = []
    if file.separator != file.usual_separator:
        notes.append(note("file.separator", file=file.path.name, separator=SEPARATOR_NAMES[file.separator]))
    decision = _decide(table, file, reading)
    notes += _notes_on_first_row(decision, table, file.path, reading)
    if not decision.header:
        return None, width, tuple(notes)
    header = [re.sub(r"^#+\s*", "", table.top_row[0]), *table.top_row[1:]]
    return tuple(name.strip() or f"Unnamed: {j}" for j, name in enumerate(header)), width, tuple(notes)


def _check_first_rows(file: TextFile, rows: list[tuple[int, list[str]]]) -> None:
    """Raise an error if the first rows do not have the same number of fields, or all end with a separator."""
    widths = [len(row) for _, row in rows]
    top_row, width = rows[0][1], widths[-1]
    has_no_name = widths[0] == width - 1 or not top_row[-1].strip()
    if len(rows) > 1 and width > 1 and has_no_name and not any(row[-1].strip() for _, row in rows[1:]):
        requirement, received = "must not have a separator at the end of its rows", "{file}, whose last column is empty"
        raise file.error(requirement, received, f"{PANDAS_HINT}: pandas.read_csv(path, index_col=False).")
    n_above = widths.index(width)
    if 0 < n_above < len(rows) - 1 and set(widths[n_above:]) == {width} and widths[0] < width:
        received = f"{widths[0]} in line {rows[0][0]} of {{file}}, {width} from line {rows[n_above][0]} on"
        last = rows[n_above - 1][0]
        lines = f"line {last}" if n_above == 1 else f"lines {rows[0][0]} to {last}"
        hint = (
            f"Remove {lines}: a title, a count or a comment does not belong to the table. Or read it with pandas and "
            f"pass the frame: pandas.read_csv(path, skiprows={last})."
        )
        raise file.error("must have the same number of fields in every row", received, hint)
    for line, row in rows[1:]:
        if len(row) != widths[0]:
            raise _ragged(file, line, len(row), widths[0])


def _is_comment(table: TextTable, is_short: bool) -> bool:
    """Check whether a first row behind "#" is not a row with a name for each column, or for all but the row names."""
    if any(not cell.strip() or table.is_number(cell.strip()) for cell in table.top_row):
        return True
    if not table.below:
        return False
    if is_short:
        return any(map(table.is_number, table.column(0)))
    second_row = table.below[0]
    return len(second_row) != len(table.top_row) or second_row[0].startswith("# ")


def _check_all_rows(file: TextFile, header: tuple[str, ...] | None, width: int) -> None:
    """Raise an error for the first row below the header with another number of fields."""
    for line, row in islice(file.rows(), header is not None, None):
        if len(row) != width:
            raise _ragged(file, line, len(row), width)


def _ragged(file: TextFile, line: int, fields: int, width: int) -> InputError:
    """Return the error for a row of another length."""
    return file.error(
        "must have the same number of fields in every row",
        f"{fields} in line {line} of {{file}}, {width} before",
        "Repair that line. The usual reason is an unquoted separator in a text field, a decimal comma where commas "
        "separate columns, or a truncated file.",
    )


def _parse(file: TextFile, header: tuple[str, ...] | None, width: int) -> pd.DataFrame:
    """Parse the table with pandas, with every bit of each number."""
    try:
        frame: pd.DataFrame = pd.read_csv(
            io.BytesIO(file.raw),
            sep=file.separator,
            header=None if header is None else 0,
            names=range(width),
            skipinitialspace=True,
            encoding="utf-8-sig",
            low_memory=False,
            **EXACT,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, OverflowError) as error:
        _check_all_rows(file, header, width)
        raise _garbage(file.path, file.argument, f"{str(file.path)!r} ({error})") from error
    if width > 1 and frame.iloc[:, -1].isna().any():
        _check_all_rows(file, header, width)
    return frame


def _decimal_commas(frame: pd.DataFrame, file: TextFile) -> Notes:
    """Convert columns of numbers with decimal commas next to semicolons to floats, in place, and return a note.

    Columns are converted only if no other meaning is possible: some number does not have three digits after its comma,
    so that commas do not separate thousands, and no number of the file has a point. Other columns of numbers with
    commas, or with points between thousands, raise an error: as text they could become classes.
    """
    texts = {j: frame.iloc[:, j] for j in range(frame.shape[1]) if frame.iloc[:, j].dtype.kind not in "biuf"}
    cells = {j: column.dropna().astype(str).str.strip() for j, column in texts.items()}
    columns = [j for j, column in cells.items() if len(column) and _are_comma_numbers(column)]
    if not columns:
        return ()
    is_plain = all(cells[j].str.fullmatch(DECIMAL_COMMA).all() for j in columns)
    is_certain = any((cells[j].str.contains(",") & ~cells[j].str.fullmatch(THOUSANDS)).any() for j in columns)
    numbers = (cell for _, row in file.rows() for cell in row if "." in cell and NUMBER.fullmatch(cell.strip()))
    if file.separator != ";" or not is_plain or not is_certain or any(numbers):
        raise _comma_error(file, [cell for j in columns for cell in cells[j] if not NUMBER.fullmatch(cell)])
    for j in columns:
        frame.isetitem(j, [float(str(cell).replace(",", ".")) if pd.notna(cell) else math.nan for cell in texts[j]])
    return (note("file.commas", columns=len(columns), file=file.path.name),)


def _are_comma_numbers(cells: pd.Series[Any]) -> bool:
    """Check whether all cells are numbers, and some have a decimal comma or points between thousands."""
    is_plain = cells.str.fullmatch(NUMBER)
    return bool((is_plain | cells.str.fullmatch(COMMA_NUMBER)).all() and not is_plain.all())


def _comma_error(file: TextFile, cells: list[str]) -> InputError:
    """Return the error for numbers with commas, or with points between thousands, that are not read.

    It shows the first number with points, else the first one whose comma is a decimal comma, else the first one.
    """
    cell = max(cells, key=lambda cell: ("." in cell, not THOUSANDS.fullmatch(cell)))
    options = "" if file.separator == "," else f", sep={file.separator!r}"
    thousands = ", thousands='.'" if "." in cell else ""
    hint = f"{{reading}}{options}, decimal=','{thousands})"
    if THOUSANDS.fullmatch(cell):
        hint += ", or thousands=',' in place of decimal where the commas group digits"
    in_shell = "Write it with decimal points (in R by write.csv), or read it in Python: pandas.read_csv(path"
    reading = Hint(f"{PANDAS_HINT}: pandas.read_csv(path", shell=in_shell)
    requirement = "must have decimal points, or decimal commas next to semicolons"
    return file.error(requirement, f"the number {cell!r} in {{file}}", f"{hint}.", reading=reading)


def _decide(table: TextTable, file: TextFile, reading: HeaderOptions) -> FirstRow:
    """Decide whether the first row is the header.

    The caller decides by ``header``; else the first row is compared with the rows below, with the names of points and
    with their number. The first row of a single column of as many rows is a value if it occurs below.
    """
    if reading.header is False:
        _check_names_as_data(table, file.path)
    if isinstance(reading.header, bool):
        return FirstRow(reading.header)
    decision = first_row(table)
    if decision.header and reading.is_named_row(table):
        return FirstRow(False, is_value=True)
    if reading.n is None:
        return decision
    if decision.header and len(table.top_row) == 1:
        values = [row[0].strip() for _, row in file.rows()]
        if len(values) == reading.n and values[0] in values[1:]:
            return FirstRow(False, is_value=True)
    if not decision.reasons:
        return decision
    count = sum(1 for _ in file.rows())
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


def _is_quoted_header(file: TextFile) -> bool:
    """Check whether all cells of the first line are in quotes, and a number in the second is not."""
    lines = file.lines(2)
    if len(lines) < 2:
        return False
    delimiter = re.escape(file.separator) if file.separator != " " else " +"
    quoted = re.fullmatch(rf"{QUOTED}(?: *{delimiter} *{QUOTED})*", lines[0])
    unquoted = re.split(delimiter, re.sub(QUOTED, '""', lines[1]))
    return bool(quoted) and any(
        NUMBER.fullmatch(cell) or re.fullmatch(BARE, cell, re.I) for cell in map(str.strip, unquoted)
    )


def _has_quoted_names(file: TextFile) -> bool:
    """Check whether the first cell of each of the first lines is a count in quotes, and no other cell is in quotes.

    R writes the names of rows without names in this way, next to numbers, without a header.
    """
    lines = file.lines(MAX_ROWS_COMPARED)
    names = [re.fullmatch(rf'"(\d+)" *{re.escape(file.separator)}[^"]*', line) for line in lines]
    return [name and name.group(1) for name in names] == [str(i + 1) for i in range(len(lines))]


def _is_short_header(table: TextTable, certain: bool) -> bool:
    """Check whether the first row has a name for each column except the first, which has the row names, as R writes it.

    All rows below have one cell more. Numbers are names if their comparison with the rows below says so, or with
    ``certain``. Text is names if there are numbers below, or if the second row is a row of data: one of its texts,
    which are next to row names, repeats below.
    """
    below = table.below[:N_LAYOUT_ROWS]
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
