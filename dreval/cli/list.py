"""The command ``dreval list``: names of measures, methods, tests, data sets, figures, analyses; measures for goals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dreval.cli._arguments import one_of
from dreval.cli._main import DONE, CommandParser, Printer, add_answer, json_text
from dreval.registry import ANALYSES, DATASETS, FIGURES, MEASURES, METHODS, TESTS

REGISTRIES = {registry.plural: registry for registry in (MEASURES, METHODS, TESTS, DATASETS, FIGURES, ANALYSES)}
EPILOG = """examples:
  dreval list methods
  dreval list measures --markdown
  dreval list tests --json
  dreval list goals

In Python, dreval.card(name) returns the card of each, and
dreval.recommend(goal) the reasons.

exit codes: 0 done, 2 invalid input"""


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("list", _list, "List measures, methods, tests, data sets, figures, analyses or goals.", EPILOG)
    kinds = one_of(sorted([*REGISTRIES, "goals"]))
    parser.add_argument("kind", **kinds, help="what to list; goals come with the measures recommended for each")
    parser.add_argument("--markdown", action="store_true", help="as a Markdown table")
    add_answer(parser, "kind, items (name, what)")


def _list(options: Any, say: Printer) -> int:
    """Print one line for each entry: its name and its question or title."""
    if options.kind == "goals":
        from dreval.measures.core import GOALS, recommend

        items = {goal: f"{GOALS[goal].question} {', '.join(recommend(goal).measures)}" for goal in GOALS}
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
    return DONE
