"""Snapshots of texts in one file of blocks; ``DREVAL_UPDATE_SNAPSHOTS=1`` updates it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from dreval.errors import DrevalError

RULE = "=" * 8 + " "


class Snapshots:
    """The stored texts of cases, in a file next to their tests."""

    def __init__(self, path: Path, cases: Iterable[str]) -> None:
        self.path, self.cases = path, list(cases)

    def stored(self) -> dict[str, str]:
        """Return the texts by case."""
        if not self.path.exists():
            return {}
        blocks = ("\n" + self.path.read_text(encoding="utf-8")).split("\n" + RULE)[1:]
        return {case: text.removeprefix("\n").rstrip("\n") for case, _, text in (b.partition("\n") for b in blocks)}

    def check(self, case: str, text: str) -> None:
        """Check that the text equals the stored text, or store it if snapshots are updated."""
        text = text.rstrip("\n")
        if os.environ.get("DREVAL_UPDATE_SNAPSHOTS") == "1":
            texts = {**self.stored(), case: text}
            blocks = [f"{RULE}{name}\n{texts[name]}\n" for name in self.cases if name in texts]
            self.path.write_text("\n".join(blocks), encoding="utf-8")
        assert self.stored().get(case) == text

    def check_four_parts(self, without: tuple[str, ...], verbs: tuple[str, ...] = (" must ",)) -> None:
        """Check that each message has the argument in backticks, the requirement, the value received, and a hint.

        Lines that begin as one of ``without`` are messages of argparse.
        """
        for case, text in self.stored().items():
            line = text.partition("\n")[2] if text.startswith("code") else text
            if line.startswith(without):
                continue
            assert ": `" in line, case
            assert any(verb in line for verb in verbs), case
            assert ": got " in line, case
            assert line.endswith((".", "?")), case


class RowNote(Exception):
    """A reason in the note of a row."""


def refusal(case: Callable[[], object], capfd: pytest.CaptureFixture[str]) -> str:
    """Return class and message of the error, or the exit code and the message of the command line."""
    try:
        code = case()
    except (DrevalError, RowNote) as error:
        return f"{type(error).__name__}: {error}"
    except SystemExit as stop:
        code = stop.code
    out, err = capfd.readouterr()
    assert out == ""
    return f"code {code}\n{err.splitlines()[-1]}"  # without argparse's usage
