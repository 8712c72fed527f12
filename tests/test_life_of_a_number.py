"""The files that one value passes from ``run()`` to the printed line are those on the page on the architecture.

A file passes the value if one of its functions returns it to a function that returns it in turn, and so on up to
``run`` or to the printed text. The value may be returned as a number, as contributions of the points whose mean it is,
as its printed digits, or within an object that holds any of these.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval

PACKAGE = str(Path(dreval.__file__).parent)
PAGE = Path(__file__).parent.parent / "vignettes" / "architecture.md"
MAX_FILES = 10
WRAPPERS = {"_check.py", "records/base.py"}  # they act on the keywords of every call, and on every record
BUILDERS = ("__init__", "__post_init__")  # what they return is their object


@dataclass
class Call:
    """A call of a function of the package: its file, the call around it, and whether it returns the value."""

    file: str
    outer: Call | None
    returns: bool = False

    @property
    def passes(self) -> bool:
        """Whether the value gets from this call to the outermost one."""
        return self.returns and (self.outer is None or self.outer.passes)


class Trace:
    """Calls of functions of the package, with those that return a value or its printed ``digits``."""

    def __init__(self, value: float, digits: str) -> None:
        self.value = value
        self.digits = digits
        self.calls: dict[FrameType, Call] = {}

    def __call__(self, frame: FrameType, event: str, result: Any) -> None:
        """Record a call or its end; a generator ends with each item."""
        file = frame.f_code.co_filename
        if event not in ("call", "return") or not file.startswith(PACKAGE):
            return
        if frame not in self.calls:
            outer = frame.f_back
            while outer is not None and outer not in self.calls:
                outer = outer.f_back
            self.calls[frame] = Call(
                Path(file).relative_to(PACKAGE).as_posix(), None if outer is None else self.calls[outer]
            )
        if event == "return":
            result = next(iter(frame.f_locals.values())) if frame.f_code.co_name in BUILDERS else result
            self.calls[frame].returns |= self.is_in(result, set())

    def is_in(self, part: Any, visited: set[int]) -> bool:
        """Return whether the value, its contributions or its digits are in an object."""
        if isinstance(part, str):
            return self.digits in part
        if isinstance(part, float):
            return part == self.value
        if id(part) in visited:
            return False
        visited.add(id(part))
        if isinstance(part, np.ndarray) and part.dtype.kind == "f":
            return bool((part == self.value).any()) or (part.ndim == 1 and part.size > 0 and part.mean() == self.value)
        return any(self.is_in(item, visited) for item in parts_of(part))

    def files(self) -> set[str]:
        """Return the files that pass the value."""
        return {call.file for call in self.calls.values() if call.passes}


def parts_of(part: Any) -> Iterable[Any]:
    """Return what a container or an object of the package holds."""
    if isinstance(part, dict | MappingProxyType):
        return list(part.values())
    if isinstance(part, list | tuple | set | frozenset):
        return part
    if isinstance(part, pd.DataFrame):
        return [part[name].to_numpy() for name in part]
    if isinstance(part, pd.Series | np.ndarray):
        return list(part)
    return list(getattr(part, "__dict__", {}).values()) if type(part).__module__.startswith("dreval") else ()


def files_on_page() -> list[str]:
    """Return the files of the numbered list."""
    section = PAGE.read_text("utf-8").partition("## The life of one number\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", section, re.MULTILINE)


@pytest.fixture(scope="module")
def files() -> set[str]:
    """Return the files that trustworthiness passes in a default run of one measure."""
    X = np.random.default_rng(0).normal(size=(60, 5))

    def printed() -> tuple[float, str]:
        results = dreval.Evaluation(X, {"a": X[:, :2].copy()}, random_state=0).run(["trustworthiness"], tests=None)
        return float(results.tidy()["value"].iloc[0]), str(results.summary())

    value, text = printed()  # the first run loads and compiles code
    trace = Trace(value, f"{value:.3f}".removeprefix("0"))
    assert text.count(trace.digits) == 1, "the digits are in one line, that of the table"
    sys.setprofile(trace)
    try:
        printed()
    finally:
        sys.setprofile(None)
    return trace.files()


def test_the_page_lists_the_files_that_the_value_passes(files):
    """The list is complete and has no other file, each once."""
    assert sorted(files_on_page()) == sorted(files - WRAPPERS)


def test_a_value_passes_few_files(files):
    """From ``run`` to the printed line there are at most ten, without the two wrappers of every call and record."""
    assert len(files - WRAPPERS) <= MAX_FILES
    assert {"evaluation/evaluation.py", "measures/ranks.py", "report/render/text.py"} <= files
