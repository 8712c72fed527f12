"""Decide whether the first row of a text table has the names of the columns.

``first_row`` states and applies the rule.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dreval._check import FloatArray, check_bool, describe
from dreval.errors import Hint, InputError
from dreval.inputs.features import is_id_name

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)|NA", re.I)
COMMA_NUMBER = re.compile(r"\s*[+-]?\d+(,\d+)?(e[+-]?\d+)?\s*", re.I)
GROUPED_NUMBER = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")  # points between thousands

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
        return self.separator != "," and bool(COMMA_NUMBER.fullmatch(cell) or GROUPED_NUMBER.fullmatch(cell))

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
