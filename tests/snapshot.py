"""Texts kept word for word, in one file of blocks; ``DREVAL_UPDATE_SNAPSHOTS=1`` writes it anew."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

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
