"""One test over a whole registry: cheap claims about many things are one item, and every failure is named."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

LONGEST = 300  # characters of a value in the note of its failure
ASKED: set[str] = set()  # the names given by `pytest --name`; empty: all


@functools.cache
def _everything() -> frozenset[str]:
    from dreval.registry import DATASETS, FIGURES, MEASURES, METHODS, SCORES, TESTS

    return frozenset(name for registry in (DATASETS, FIGURES, MEASURES, METHODS, SCORES, TESTS) for name in registry)


def is_of_others(values: Iterable[Any]) -> bool:
    """Whether values of a test's parameters name registered things, but none that was asked for by `pytest --name`."""
    parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    words = {part for part in parts if isinstance(part, str)}
    return bool(ASKED and words & _everything() and not words & ASKED)


def each(names: str, values: Iterable[Any], items: int = 1) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test with every value, as ``pytest.mark.parametrize`` does, but in one item with one set of fixtures.

    With ``items`` the values are dealt out to so many of them, none of which then takes long.

    All values are tried; those that failed are named in one group of exceptions. For claims that cost milliseconds:
    collecting, scheduling and reporting an item costs more than they do. Below ``given`` every value meets the same
    drawn examples, which are drawn once; a value that an example does not suit returns, since ``assume`` would end the
    loop for the others.
    """
    keys, kept = [name.strip() for name in names.split(",")], list(values)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        parameters = inspect.signature(test).parameters

        @functools.wraps(test)
        def loop(item: int = 0, **fixtures: Any) -> None:
            failed: list[BaseException] = []
            for value in kept[item::items]:
                if is_of_others([value]):
                    continue
                try:
                    test(**fixtures, **dict(zip(keys, value if len(keys) > 1 else (value,), strict=True)))
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001
                    error.add_note(f"{names}: {str(value)[:LONGEST]}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(kept[item::items])} failed", failed)

        del loop.__wrapped__  # pytest would read its signature
        arguments = [p.replace(kind=p.KEYWORD_ONLY) for key, p in parameters.items() if key not in keys]
        if items == 1:
            loop.__signature__ = inspect.Signature(arguments)
            return loop
        loop.__signature__ = inspect.Signature([*arguments, inspect.Parameter("item", inspect.Parameter.KEYWORD_ONLY)])
        return pytest.mark.parametrize("item", range(items))(loop)

    if not kept:
        raise ValueError(f"no {names} to test")
    return decorate
