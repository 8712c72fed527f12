"""Texts kept word for word, in one file of blocks; ``DREVAL_UPDATE_SNAPSHOTS=1`` writes it anew."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from dreval.errors import DrevalError

RULE = "=" * 8 + " "


class Snapshots:
    """The stored texts of some cases, in a file beside their tests."""

    def __init__(self, path: Path, cases: Iterable[str]) -> None:
        self.path, self.cases = path, list(cases)

    def stored(self) -> dict[str, str]:
        """Text by case."""
        if not self.path.exists():
            return {}
        blocks = ("\n" + self.path.read_text(encoding="utf-8")).split("\n" + RULE)[1:]
        return {case: text.removeprefix("\n").rstrip("\n") for case, _, text in (b.partition("\n") for b in blocks)}

    def check(self, case: str, text: str) -> None:
        """The text is the stored one; where snapshots are being updated it becomes the stored one."""
        text = text.rstrip("\n")
        if os.environ.get("DREVAL_UPDATE_SNAPSHOTS") == "1":
            kept = {**self.stored(), case: text}
            blocks = [f"{RULE}{c}\n{kept[c]}\n" for c in self.cases if c in kept]
            self.path.write_text("\n".join(blocks), encoding="utf-8")
        assert self.stored().get(case) == text

    def check_four_parts(self, without: tuple[str, ...], rules: tuple[str, ...] = (" must ",)) -> None:
        """Each wording of ours names the argument in backticks, the rule, what was got, and ends with the cure.

        Lines that begin as one of ``without`` are argparse's.
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


def refusal(case: Callable[[], object], capfd: pytest.CaptureFixture[str]) -> str:
    """Class and wording of what was raised, or what the command line printed and its code."""
    try:
        code = case()
    except (DrevalError, RowNote) as error:
        return f"{type(error).__name__}: {error}"
    except SystemExit as stop:
        code = stop.code
    out, err = capfd.readouterr()
    assert out == ""
    return f"code {code}\n{err.splitlines()[-1]}"  # without argparse's usage
