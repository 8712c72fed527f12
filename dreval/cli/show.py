"""The command ``dreval show``: print what is saved, and draw its figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import (
    RESULT_TABLE,
    Printer,
    add_files,
    add_formats,
    check_files,
    load_saved,
    print_record,
    write_files,
)

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

EPILOG = f"""examples:
  dreval show out.dreval
  dreval show out.dreval --full
  dreval show out.dreval --plot map=map.png --table values.csv
  dreval show study.journal --json

{exit_codes()}"""


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("show", _show, "Print a saved result, comparison, sweep or study.", EPILOG)
    parser.add_argument("saved", help="file of --save (.dreval), or the journal of a study")
    add_files(parser, table=f"{RESULT_TABLE} (of a result)")
    add_formats(parser, "as of the command that saved it")


def _show(options: Any, say: Printer) -> int:
    """Print what is saved, and write the requested files."""
    record = load_saved(options.saved)
    of = {"Results": "results", "Comparison": "comparison", "Study": "comparison"}.get(type(record).__name__)
    check_files(options, [options.saved], of)
    print_record(record, options, say)
    write_files(record, options, say, "record")
    return ExitCode.OK
