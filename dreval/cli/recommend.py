"""The command ``dreval recommend``, with the goals of ``dreval.recommend``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, add_answer, json_text

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

EPILOG = f"""examples:
  dreval recommend
  dreval recommend neighbors
  dreval recommend batches --json

{exit_codes()}"""


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("recommend", _recommend, "Print the measures for a goal, with the reasons.", EPILOG)
    parser.add_argument("goal", nargs="?", help="what to read off the embedding; without it all goals are listed")
    add_answer(parser, "goals; or goal, question, measures, table, evidence")


def _recommend(options: Any, say: Printer) -> int:
    """Print the goals, or the measures for one."""
    from dreval.glossary import block
    from dreval.measures.core import GOALS, recommend

    if options.goal is None:
        questions = {name: goal.question for name, goal in GOALS.items()}
        rows = [{"goal": name, "question": question} for name, question in questions.items()]
        title = "dreval recommend GOAL prints the measures for one of these goals."
        say(json_text({"goals": rows}) if options.json else block(title, questions))
        return ExitCode.OK
    answer = recommend(options.goal)
    tables = {"table": answer.table, "evidence": answer.evidence.rename_axis("measure").reset_index()}
    document = {"goal": answer.goal, "question": answer.question, "measures": answer.measures, **tables}
    say(json_text(document) if options.json else str(answer))
    return ExitCode.OK
