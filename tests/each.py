"""One test for all entries of a registry: a cheap claim about many values is one item, which names all failures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

LONGEST = 300  # characters of a value in the note of its failure
REQUESTED: set[str] = set()  # the names in `pytest --name`; empty: all


@functools.cache
def _all_names() -> frozenset[str]:
    from dreval.registry import ANALYSES, DATASETS, FIGURES, MEASURES, METHODS, TESTS

    return frozenset(name for registry in (DATASETS, FIGURES, MEASURES, METHODS, TESTS, ANALYSES) for name in registry)


def is_not_requested(values: Iterable[Any]) -> bool:
    """Return whether parameters of a test name registered entries, but none that is requested by `pytest --name`."""
    parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    names = {part for part in parts if isinstance(part, str)}
    return bool(REQUESTED and names & _all_names() and not names & REQUESTED)


def each(names: str, values: Iterable[Any], items: int = 1) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test with every value, as ``pytest.mark.parametrize`` does, but in one item with one set of fixtures.

    With ``items`` the values are distributed over so many items, so that none takes long.

    All values are tried, and one group of exceptions names those that failed. Use it for claims that take milliseconds,
    since collecting, scheduling and reporting an item takes longer. Below ``given`` all values get the same examples; a
    value that does not suit an example returns, since ``assume`` would end the loop for all values.
    """
    keys, cases = [name.strip() for name in names.split(",")], list(values)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        parameters = inspect.signature(test).parameters

        @functools.wraps(test)
        def loop(index: int = 0, **fixtures: Any) -> None:
            failed: list[BaseException] = []
            for value in cases[index::items]:
                if is_not_requested([value]):
                    continue
                try:
                    test(**fixtures, **dict(zip(keys, value if len(keys) > 1 else (value,), strict=True)))
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001
                    error.add_note(f"{names}: {str(value)[:LONGEST]}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases[index::items])} failed", failed)

        del loop.__wrapped__  # pytest would read its signature
        arguments = [p.replace(kind=p.KEYWORD_ONLY) for key, p in parameters.items() if key not in keys]
        if items == 1:
            loop.__signature__ = inspect.Signature(arguments)
            return loop
        loop.__signature__ = inspect.Signature([*arguments, inspect.Parameter("index", inspect.Parameter.KEYWORD_ONLY)])
        return pytest.mark.parametrize("index", range(items))(loop)

    if not cases:
        raise ValueError(f"no {names} to test")
    return decorate
