"""The command ``dreval report``: write the report of what is saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, add_answer, check_report, json_text, load_saved, option

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

EPILOG = f"""examples:
  dreval report out.dreval out.html
  dreval report out.dreval out.md --title "Two maps of the cells"
  dreval report study.journal study.html

{exit_codes()}"""


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("report", _report, "Write the report of a saved result, comparison, sweep or study.", EPILOG)
    parser.add_argument("saved", help="file of --save (.dreval), or the journal of a study")
    parser.add_argument("report", type=Path, help="path of the report: .html, one page; .md, with a folder of figures")
    parser.add_argument("--title", help="heading of the report")
    add_answer(parser, "report")


def _report(options: Any, say: Printer) -> int:
    """Write the report, and print its path."""
    check_report(options.report, "report", [options.saved])
    record = load_saved(options.saved)
    with option("report"):
        path = record.report(options.report, title=options.title)
    say(json_text({"report": str(path)}) if options.json else f"report written to {path}")
    return ExitCode.OK
