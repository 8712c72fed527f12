"""The call that made a result, written again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any


def written_again(name: str, words: Sequence[str], given: Mapping[str, Any], function: Callable[..., Any]) -> str:
    """A call in Python: ``words`` stand for data, then what differs from the defaults of the function.

    Examples
    --------
    >>> def test(x, y, *, n_resamples=999, random_state=None): ...
    >>> written_again("dreval.test", ["x", "y"], {"n_resamples": 999, "random_state": 0}, test)
    'dreval.test(x, y, random_state=0)'
    """
    usual = {key: parameter.default for key, parameter in signature(function).parameters.items()}
    said = [f"{key}={value!r}" for key, value in given.items() if key in usual and not _same(value, usual[key])]
    return f"{name}({', '.join([*words, *said])})"


def _same(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and bool(value == usual)
