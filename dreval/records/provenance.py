"""Where the numbers of a record come from: the settings that reproduce them, versions, and their form in JSON."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any

NUMERICAL_PACKAGES = ("numpy", "scipy", "numba")  # packages on whose versions computed values depend


def provenance(parameters: Mapping[str, Any], **facts: Any) -> dict[str, Any]:
    """Return the recipe of a record: facts on the data, the source and the seed, the parameters, and versions.

    Examples
    --------
    >>> list(provenance({"n_neighbors": 5}, n=40, p=4, random_state=0))
    ['n', 'p', 'random_state', 'parameters', 'versions']
    """
    return {**facts, "parameters": parameters, "versions": versions()}


def reproducing_call(
    name: str, positional: Sequence[str], arguments: Mapping[str, Any], function: Callable[..., Any]
) -> str:
    """Return a call in Python: the names in ``positional``, then the arguments that differ from the defaults.

    Examples
    --------
    >>> def test(x, y, *, n_resamples=999, random_state=None): ...
    >>> reproducing_call("dreval.test", ["x", "y"], {"n_resamples": 999, "random_state": 0}, test)
    'dreval.test(x, y, random_state=0)'
    """
    defaults = {key: parameter.default for key, parameter in signature(function).parameters.items()}
    parts = [
        f"{key}={value!r}" for key, value in arguments.items() if key in defaults and not _same(value, defaults[key])
    ]
    return f"{name}({', '.join([*positional, *parts])})"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of dreval and of packages, or "python"; by default those on which values depend.

    Examples
    --------
    >>> list(versions()), list(versions("python", "pandas"))
    (['dreval', 'numpy', 'scipy', 'numba'], ['dreval', 'python', 'pandas'])
    """
    from dreval import __version__

    return {"dreval": __version__, **{name: _version(name) for name in packages or NUMERICAL_PACKAGES}}


@cache
def _version(name: str) -> str:
    """Return the version of a package; it is cached, since it is read from a file."""
    from importlib.metadata import version

    return platform.python_version() if name == "python" else version(name)


def to_plain(value: Any, *, strict: bool = False) -> Any:
    """Return a value in types that JSON can store; a frame becomes a list of rows, other objects become text.

    Numbers keep every digit. With ``strict``, missing and infinite numbers become None, as in strict JSON.

    Examples
    --------
    >>> import numpy as np
    >>> to_plain({"a": np.arange(2), 1: (np.float64(0.5), math.inf)}, strict=True)
    {'a': [0, 1], '1': [0.5, None]}
    """
    if isinstance(value, float) and strict and not math.isfinite(value):
        return None
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_plain(item, strict=strict) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item, strict=strict) for item in value]
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return to_plain(value.to_dict("records"), strict=strict)
    if callable(plain := getattr(value, "plain", None)):  # a note, a Shepard table
        return to_plain(plain(), strict=strict)
    if hasattr(value, "tolist"):  # numbers and arrays of numpy, columns of pandas
        return to_plain(value.tolist(), strict=strict)
    return value if isinstance(value, str | int | float) else str(value)
