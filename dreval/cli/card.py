"""The command ``dreval card``, with the names of ``dreval.card``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import add_arguments
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, add_answer, json_text

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

EPILOG = f"""examples:
  dreval card trustworthiness
  dreval card umap --json
  dreval card cca --kind method

dreval list prints what has a card.

{exit_codes()}"""


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("card", _card, "Print what a measure, test or method computes, and its source.", EPILOG)
    parser.add_argument("name", help="of a measure, test, method, data set, figure or analysis")
    add_arguments(parser, "dreval.registry:card", ("kind",))
    add_answer(parser, "kind, and the fields of the card")


def _card(options: Any, say: Printer) -> int:
    """Print a card."""
    from dreval.registry import card

    entry = card(options.name, options.kind)
    values = {field.name: getattr(entry, field.name) for field in fields(entry)}
    say(json_text({"kind": entry.kind, **values}) if options.json else str(entry))
    return ExitCode.OK
