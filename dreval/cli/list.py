"""The command ``dreval list``: names of measures, methods, tests, data sets, figures, analyses; measures for goals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import one_of
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, add_answer, json_text
from dreval.registry import ANALYSES, DATASETS, FIGURES, MEASURES, METHODS, TESTS

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

REGISTRIES = {registry.plural: registry for registry in (MEASURES, METHODS, TESTS, DATASETS, FIGURES, ANALYSES)}
GOALS = "goals"
KINDS = {  # what can be listed, with an example
    "analyses": "of data or of one embedding, in Python, as intrinsic_dimension",
    "datasets": "bundled data, readers and simulations, as wdbc",
    "figures": "kinds of figures, as map",
    GOALS: "what to read off an embedding, with its measures, as neighbors",
    "measures": "of one embedding or of a method, as trustworthiness",
    "methods": "bundled methods, as umap",
    "tests": "of independence, or against noise, as hsic",
}
EPILOG = f"""examples:
  dreval list
  dreval list methods
  dreval list measures --markdown
  dreval list tests --json

dreval card NAME prints all on one of them, dreval recommend the goals.

{exit_codes()}"""


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("list", _list, "List measures, methods, tests, data sets, figures and goals.", EPILOG)
    parser.add_argument(
        "kind", nargs="?", metavar="KIND", **one_of(list(KINDS)), help=f"{', '.join(KINDS)}; without it, these kinds"
    )
    parser.add_argument("--markdown", action="store_true", help="as a Markdown table")
    add_answer(parser, "kind, items (name, what)")


def _list(options: Any, say: Printer) -> int:
    """Print a line for each entry: its name and its question or title."""
    from dreval.measures import core

    if options.kind is None:
        counts = {name: len(registry.names()) for name, registry in REGISTRIES.items()} | {GOALS: len(core.GOALS)}
        items = {kind: f"{counts[kind]:>2} {what}" for kind, what in KINDS.items()}
    elif options.kind == GOALS:
        items = {
            goal: f"{purpose.question} {', '.join(core.recommend(goal).measures)}"
            for goal, purpose in core.GOALS.items()
        }
    else:
        items = {card.name: card.question or card.title for card in REGISTRIES[options.kind].cards()}
    if options.json:
        rows = [{"name": name, "what": what} for name, what in items.items()]
        say(json_text({"kind": options.kind, "items": rows}))
    elif options.markdown:
        say("| name | what |\n| --- | --- |")
        say("\n".join(f"| `{name}` | {what} |" for name, what in items.items()))
    else:
        width = max(map(len, items))
        say("\n".join(f"{name:<{width}}  {what}" for name, what in items.items()))
    return ExitCode.OK
