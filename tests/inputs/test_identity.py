"""The identity of a source changes if and only if the code or values it runs change, in any process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA

from dreval.inputs.data import as_data
from dreval.inputs.source import as_source, digest, identity

DATA = as_data(np.random.default_rng(0).normal(size=(10, 3)))


def of(value: Any, **options: Any) -> dict[str, str]:
    return identity(as_source(value, "e", DATA, **options))


def maker(power: Any) -> Callable[..., Any]:
    return lambda X, n_components: X[:, :n_components] ** power


def power_method(X: Any, n_components: int, power: Any = 2) -> Any:
    return X[:, :n_components] ** power


class Estimator:
    """An estimator outside packages, without parameters."""

    def __init__(self, power: int = 2) -> None:
        self.power = power

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return X[:, :2] ** self.power


class OtherEstimator(Estimator):
    """The same with another rule."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return X[:, :2] ** self.power + 1


class Callee:
    """An object that is called."""

    def __init__(self, power: int = 2) -> None:
        self.power = power

    def __call__(self, X: Any, n_components: int) -> Any:
        return X[:, :n_components] ** self.power

    def run(self, X: Any, n_components: int) -> Any:
        return X[:, :n_components] ** self.power


class Slotted:
    """An object without a dictionary, with slots of a base class, one of them private."""

    __slots__ = ("__hidden", "power")

    def __init__(self, power: Any = 2, hidden: Any = 0, unset: Any = None) -> None:
        self.power, self.__hidden = power, hidden

    def __call__(self, X: Any, n_components: int) -> Any:
        return X[:, :n_components] ** self.power + self.__hidden

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self(X, 2)


class SlottedCallee:
    """One slot, named by a text; called, it raises to a power."""

    __slots__ = "power"

    def __init__(self, power: int) -> None:
        self.power = power

    def __call__(self, X: Any, n_components: int) -> Any:
        return X[:, :n_components] ** self.power


class SlottedMore(SlottedCallee):
    """An object with the slots of its base, an optional slot, and a dictionary."""

    __slots__ = ("__dict__", "empty")

    def __init__(self, power: int, **options: Any) -> None:
        super().__init__(power)
        vars(self).update(options)


@dataclass(slots=True, repr=False)
class Settings:
    """Settings without a printed form."""

    power: int = 2
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class LongSettings:
    """Settings that print only the ends of a long array."""

    shift: Any


class Number(float):
    """A number of a user class."""


class Parameters(Slotted):
    """An estimator with parameters, and an attribute that is none of them."""

    __slots__ = ("offset",)

    def __init__(self, power: int = 2, offset: int = 0) -> None:
        super().__init__(power)
        self.offset = offset

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"power": self.power}


def array_of(change: float) -> Any:
    """Return a long array whose middle differs."""
    return np.arange(5000.0) + change * (np.arange(5000) == 2000)


def reads(**variables: Any) -> Callable[..., Any]:
    """Return the same function of a module outside packages, with these global variables."""
    body = "def run(X, n_components):\n    return helper(X[:, :n_components]) * POWER['a'] + SHIFT + tools.K\n"
    body += "def helper(X):\n    return deeper(X)\ndef deeper(X):\n    return X ** LAST if X.ndim else helper(X)\n"
    module = ModuleType("mine")
    tools = ModuleType("tools")
    tools.K = variables.pop("K", 1)  # type: ignore[attr-defined]
    vars(module).update(POWER={"a": 2}, SHIFT=np.arange(3.0), LAST=2, unread=0, tools=tools)
    exec(body, vars(module))
    vars(module).update(variables)
    return vars(module)["run"]  # type: ignore[no-any-return]


class Shifted(Callee):
    """A class with a number."""

    SHIFT = 1


class ShiftedMore(Callee):
    """The same with another number."""

    SHIFT = 2


ShiftedMore.__qualname__ = Shifted.__qualname__

PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "methods": (lambda: "pca", lambda: "isomap"),
    "parameters": (lambda: PCA(2), lambda: PCA(3)),
    "what is closed over": (lambda: maker(2), lambda: maker(3)),
    "arrays closed over": (
        lambda: maker(np.arange(2000.0)),
        lambda: maker(np.arange(2000.0) + (np.arange(2000) == 999)),
    ),
    "bodies": (lambda: lambda X, d: X[:, :d] + 1, lambda: lambda X, d: X[:, :d] + 2),
    "bound arguments": (lambda: partial(power_method, power=2), lambda: partial(power_method, power=3)),
    "bound functions": (lambda: partial(power_method, power=2), lambda: partial(maker(2))),
    "state of an object": (lambda: Callee(2), lambda: Callee(3)),
    "state of a bound method": (lambda: Callee(2).run, lambda: Callee(3).run),
    "state of an estimator": (lambda: Estimator(2), lambda: Estimator(3)),
    "a global value": (lambda: reads(), lambda: reads(POWER={"a": 3})),
    "a global array": (lambda: reads(), lambda: reads(SHIFT=np.array([0.0, 1.0, 2.5]))),
    "a helper": (lambda: reads(), lambda: reads(helper=lambda X: X + 1)),
    "what a helper's helper reads": (lambda: reads(), lambda: reads(LAST=3)),
    "a module of no package": (lambda: reads(), lambda: reads(K=2)),
    "numbers of a class": (lambda: Shifted(), lambda: ShiftedMore()),
    "slots of an estimator": (lambda: Slotted(2), lambda: Slotted(3)),
    "hidden slots of an estimator": (lambda: Slotted(2, 0), lambda: Slotted(2, 1)),
    "slots of an object": (lambda: SlottedCallee(2), lambda: SlottedCallee(3)),
    "slots of a base": (lambda: SlottedMore(2), lambda: SlottedMore(3)),
    "slots and a dictionary": (lambda: SlottedMore(2, shift=1), lambda: SlottedMore(2, shift=2)),
    "a global object with slots": (lambda: reads(LAST=Settings(2)), lambda: reads(LAST=Settings(3))),
    "slots that print in part": (
        lambda: reads(LAST=LongSettings(array_of(0.0))),
        lambda: reads(LAST=LongSettings(array_of(1.0))),
    ),
    "a slotted object closed over": (lambda: maker(Settings(2)), lambda: maker(Settings(2, ("a",)))),
    "numbers of another class": (lambda: maker(Number(2)), lambda: maker(Number(3))),
    "what is no parameter": (lambda: Parameters(2, 0), lambda: Parameters(2, 1)),
    "rule of an estimator": (lambda: Estimator(2), lambda: OtherEstimator(2)),
}


@pytest.mark.parametrize("case", PAIRS)
def test_differences_are_detected(case: str) -> None:
    """Equal objects have the same identity; changed ones have another."""
    left, right = PAIRS[case]
    assert of(left()) == of(left()) != of(right())


@pytest.mark.slow
def test_an_identity_has_no_addresses_and_is_the_same_in_another_process() -> None:
    """The identity does not depend on addresses in memory."""
    code = (
        "import sys; sys.path[:0] = ['tests/inputs', 'tests']\n"
        "import test_identity as t\n"
        "print(t.of(t.maker(2)), t.of(t.Estimator(2)), t.of(t.Callee(2).run), t.of(t.PCA(2)))"
    )
    root = Path(__file__).resolve().parents[2]
    result = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root).stdout}
    result.add(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root).stdout
    )
    assert len(result) == 1
    assert "0x" not in result.pop()


def test_unread_values_change_no_identity() -> None:
    """Unused variables, the order of a set and the address of an object do not change the identity."""
    assert of(reads()) == of(reads(unread=1))
    assert of(reads(LAST={"a", "b", "c"})) == of(reads(LAST={"c", "b", "a"}))
    assert of(reads(LAST=object())) == of(reads(LAST=object()))


def test_digests_see_every_bit_type_and_shape() -> None:
    """One bit, another type or another shape is another digest; text works too."""
    X = np.arange(6.0)
    variants = [np.nextafter(X, 1), X.astype(np.float32), X.reshape(2, 3), X.astype(str), X.astype(object)]
    assert len({digest(Z) for Z in [X, *variants]}) == 6
    assert digest(X) == digest(X.copy())
