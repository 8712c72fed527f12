"""Texts stored word for word, in one file of blocks; ``DREVAL_UPDATE_SNAPSHOTS=1`` rewrites it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from dreval.errors import DrevalError

RULE = "=" * 8 + " "


class Snapshots:
    """The stored texts of some cases, in a file next to their tests."""

    def __init__(self, path: Path, cases: Iterable[str]) -> None:
        self.path, self.cases = path, list(cases)

    def stored(self) -> dict[str, str]:
        """Return the text by case."""
        if not self.path.exists():
            return {}
        blocks = ("\n" + self.path.read_text(encoding="utf-8")).split("\n" + RULE)[1:]
        return {case: text.removeprefix("\n").rstrip("\n") for case, _, text in (b.partition("\n") for b in blocks)}

    def check(self, case: str, text: str) -> None:
        """Check that the text is the stored one; while snapshots are updated, store it."""
        text = text.rstrip("\n")
        if os.environ.get("DREVAL_UPDATE_SNAPSHOTS") == "1":
            texts = {**self.stored(), case: text}
            blocks = [f"{RULE}{case}\n{texts[case]}\n" for case in self.cases if case in texts]
            self.path.write_text("\n".join(blocks), encoding="utf-8")
        assert self.stored().get(case) == text

    def check_four_parts(self, without: tuple[str, ...], rules: tuple[str, ...] = (" must ",)) -> None:
        """Check that each text names the argument in backticks, the requirement and the input, and ends with a hint.

        Lines that begin like one of ``without`` are texts of argparse.
        """
        for case, text in self.stored().items():
            line = text.partition("\n")[2] if text.startswith("code") else text
            if line.startswith(without):
                continue
            assert ": `" in line, case
            assert any(rule in line for rule in rules), case
            assert ": got " in line, case
            assert line.endswith((".", "?")), case


class RowNote(Exception):
    """A reason that is a note in a row."""


def error_text(case: Callable[[], object], capfd: pytest.CaptureFixture[str]) -> str:
    """Return class and text of the error, or the output of the command line and its code."""
    try:
        code = case()
    except (DrevalError, RowNote) as error:
        return f"{type(error).__name__}: {error}"
    except SystemExit as stop:
        code = stop.code
    out, err = capfd.readouterr()
    assert out == ""
    return f"code {code}\n{err.splitlines()[-1]}"  # without argparse's usage
