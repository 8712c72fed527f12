"""Hints of errors on the command line advise what a file can be, in place of frames and arrays of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from each import each

DATA = "id,a,b,c\n" + "".join(f"p{i},{i}.5,{i * i}.25,{(7 * i) % 5}.5\n" for i in range(9))
CASES = {
    "missing rows": (
        ("-e", "map.csv"),
        '"",y1,y2\n' + "".join(f"p{i},{i},{i % 3}\n" for i in range(8)),
        "write files without row names",
    ),
    "decimal commas": (
        ("-e", "map.csv"),
        "y1\ty2\n" + "".join(f"{i},5\t{i % 3},25\n" for i in range(9)),
        "decimal points",
    ),
    "two columns": (
        ("-e", "pca", "--labels", "map.csv"),
        "one,two\n" + "a,b\nb,a\na,a\n" * 3,
        "write that column into a file of its own",
    ),
}


@each("case", CASES)
def test_hints_are_for_files(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """The hint has the advice for a shell, and neither frames nor arrays."""
    arguments, text, advice = CASES[case]
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(DATA)
    Path("map.csv").write_text(text)

    code, out, err = run("evaluate", "data.csv", "--ids", "id", *arguments, "--measures", "continuity")

    assert (code, out, advice in err) == (2, "", True), err
    assert not any(word in err for word in ("frame", "array", "reset_index"))
