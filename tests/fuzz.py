"""Every measure, test and method over every form of numbers: the right number, or a clear error.

``python tests/fuzz.py`` runs the whole matrix and prints its counts; ``tests/contract/test_fuzz.py`` runs a part of it
in every test run. A *subject* is a function of one or more arrays, a *form* makes an array in some dress together with
the plain float64 array of the same numbers (None where it holds none). The result for the form is compared with the
result for the plain array:

number   equal results, to 1e-12 (sparse matrices: 1e-9, their sums have another order)
error    an error, since no number can be meant
either   an error, or the right number

An error is clear if it is a ``DrevalError`` with all four parts. Any other exception, and any warning that is not a
warning of dreval, is a failure, and so are numbers that are not finite and numbers for a form without numbers.
"""

from __future__ import annotations

import inspect
import itertools
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from measure_calls import call_measure
from scipy import sparse

import dreval
from dreval.errors import DrevalError, DrevalWarning
from dreval.registry import MEASURES, METHODS, TESTS

N, POWERS = 26, (-250, -190, -60, 60, 190, 250)
WIDTHS = {"X": 3, "Y": 2, "x": 3, "y": 3, "new": 3}
TWO_SETS = ("cca", "gsir", "kernel_cca")  # supervised methods that take a response of several columns
DEGREES = {"procrustes_r", "procrustes_rpca"}  # doubling both spaces multiplies them by four
SCRATCH = tempfile.TemporaryDirectory()


def _normal(n: int, p: int, seed: int = 0) -> np.ndarray:
    """Return numbers in general position; the variants of others are made from the same numbers."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, 8)) * np.linspace(2.0, 0.5, 8)
    return np.ascontiguousarray(base[:, :p])


def _integers(n: int, p: int, low: int, high: int) -> np.ndarray:
    return np.random.default_rng(5).integers(low, high, size=(n, p))


# ---------------------------------------------------------------------------------------------------------------- forms


@dataclass(frozen=True)
class Form:
    """A form of numbers; ``make(n, p)`` returns them in this form and as plain float64."""

    name: str
    make: Callable[[int, int], tuple[Any, np.ndarray | None]]
    must: str = "number"
    rtol: float = 1e-12


def _forms() -> Iterator[Form]:
    yield from _dtypes()
    yield from _containers()
    yield from _strides()
    yield from _masks()
    yield from _holes()


def _as(dtype: Any, low: int | None = None, high: int = 0) -> Callable[[int, int], tuple[Any, np.ndarray]]:
    def make(n: int, p: int) -> tuple[Any, np.ndarray]:
        value = (_normal(n, p) if low is None else _integers(n, p, low, high)).astype(dtype)
        return value, value.astype(np.float64)

    return make


def _dressed(dress: Callable[[np.ndarray], Any]) -> Callable[[int, int], tuple[Any, np.ndarray]]:
    return lambda n, p: (dress(_normal(n, p)), _normal(n, p))


def _no_numbers(dress: Callable[[np.ndarray], Any]) -> Callable[[int, int], tuple[Any, None]]:
    return lambda n, p: (dress(_normal(n, p)), None)


def _dtypes() -> Iterator[Form]:
    for dtype in ("float64", "float32", "float16", "longdouble", ">f8", ">f4"):
        yield Form(f"dtype {dtype}", _as(dtype))
    for dtype in ("int8", "int16", "int32", "int64", ">i4"):
        yield Form(f"dtype {dtype}", _as(dtype, -50, 50))
    for dtype in ("uint8", "uint16", "uint32", "uint64"):
        yield Form(f"dtype {dtype}", _as(dtype, 0, 100))
    yield Form("dtype bool", _as("bool", 0, 2))
    objects = {"float": float, "Fraction": Fraction, "Decimal": Decimal, "numpy": np.float64}
    for name, kind in objects.items():
        yield Form(
            f"object of {name}",
            _dressed(lambda X, kind=kind: np.array([[kind(v) for v in row] for row in X], object)),
            "either",
        )
    yield Form("int beyond 2**53", _no_numbers(lambda X: (X * 2.0**55).astype(np.int64)), "error")
    yield Form("complex", _no_numbers(lambda X: X + 1j), "error")
    yield Form("complex without imaginary part", _no_numbers(lambda X: X.astype(complex)), "error")
    yield Form("text", _no_numbers(lambda X: X.astype(str)), "error")
    yield Form("bytes", _no_numbers(lambda X: X.astype("S8")), "error")
    yield Form("dates", _no_numbers(lambda X: (1e9 * X).astype("datetime64[s]")), "error")
    yield Form("times", _no_numbers(lambda X: (1e9 * X).astype("timedelta64[s]")), "error")
    yield Form(
        "records",
        _no_numbers(lambda X: np.array([tuple(row) for row in X], [(f"f{j}", float) for j in range(X.shape[1])])),
        "error",
    )
    yield Form(
        "objects that are none", _no_numbers(lambda X: np.array([[object() for _ in row] for row in X])), "error"
    )
    yield Form("objects, one of them None", _no_numbers(lambda X: _with(X.astype(object), None)), "error")


def _with(array: np.ndarray, value: Any) -> np.ndarray:
    """An array with one other cell."""
    array = array.copy()
    array[3 % len(array), 0] = value
    return array


def _memmap(X: np.ndarray) -> np.ndarray:
    path = Path(SCRATCH.name) / f"{X.shape[0]}x{X.shape[1]}.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def _containers() -> Iterator[Form]:
    dresses: dict[str, Callable[[np.ndarray], Any]] = {
        "list of lists": lambda X: X.tolist(),
        "tuple of tuples": lambda X: tuple(map(tuple, X.tolist())),
        "list of arrays": list,
        "DataFrame": pd.DataFrame,
        "DataFrame with names": lambda X: pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])]),
        "DataFrame of Float64": lambda X: pd.DataFrame(X).astype("Float64"),
        "DataFrame of objects": lambda X: pd.DataFrame(X).astype(object),
        "memory map": _memmap,
        "matrix": lambda X: X.view(np.matrix),
        "subclass": lambda X: X.view(type("Own", (np.ndarray,), {})),
    }
    for name, dress in dresses.items():
        yield Form(name, _dressed(dress), "either" if "objects" in name else "number")
    libraries: dict[str, Callable[[np.ndarray], Any]] = {
        "polars": lambda X: pl.DataFrame(X, schema=[f"v{j}" for j in range(X.shape[1])]),
        "arrow": lambda X: pa.table({f"v{j}": X[:, j] for j in range(X.shape[1])}),
        "array_api_strict": array_api_strict.asarray,
        "memoryview": memoryview,
        "DataFrame of decimals": lambda X: pd.DataFrame(X).map(Decimal),
    }
    for name, dress in libraries.items():
        yield Form(name, _dressed(dress), "either")
    for name in ("csr_array", "csc_array", "coo_array", "csr_matrix", "bsr_array", "lil_array"):
        yield Form(f"sparse {name}", _dressed(getattr(sparse, name)), "either", 1e-9)
    empty: dict[str, Callable[[np.ndarray], Any]] = {
        "None": lambda _: None,
        "a number": lambda _: 3.0,
        "a word": lambda _: "trustworthines",
        "a dict": lambda X: {"a": X[:, 0]},
        "a set": lambda X: set(X[:, 0].tolist()),
        "a generator": lambda X: (row for row in X),
        "ragged rows": lambda X: [*X.tolist()[1:], [1.0]],
        "three dimensions": lambda X: X[:, :, None, None] + np.zeros((2, 2)),
        "no columns": lambda X: X[:, :0],
        "no rows": lambda X: X[:0],
        "a class": lambda _: np.ndarray,
        "a frame with text": lambda X: pd.DataFrame(X).assign(text="abc"),
        "a frame with dates": lambda X: pd.DataFrame(X).assign(when=pd.Timestamp("2020-01-01")),
    }
    for name, dress in empty.items():
        yield Form(name, _no_numbers(dress), "error")


def _strides() -> Iterator[Form]:
    dresses: dict[str, Callable[[np.ndarray], Any]] = {
        "Fortran order": np.asfortranarray,
        "rows backwards": lambda X: X[::-1].copy()[::-1],
        "columns backwards": lambda X: X[:, ::-1].copy()[:, ::-1],
        "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
        "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        "transposed": lambda X: X.T.copy().T,
        "part of a larger one": lambda X: np.pad(X, 3)[3:-3, 3:-3],
        "read-only": _read_only,
        "not aligned": _not_aligned,
    }
    for name, dress in dresses.items():
        yield Form(name, _dressed(dress))

    def broadcast(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
        value = np.broadcast_to(_normal(n, 1), (n, p))
        return value, np.array(value)

    yield Form("broadcast view", broadcast)
    yield Form(
        "float32 Fortran order",
        lambda n, p: (np.asfortranarray(_normal(n, p).astype("f4")), _normal(n, p).astype("f4").astype(float)),
    )


def _read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


def _not_aligned(X: np.ndarray) -> np.ndarray:
    view = np.frombuffer(bytearray(X.nbytes + 1), np.float64, X.size, 1).reshape(X.shape)
    view[:] = X
    return view


def _masks() -> Iterator[Form]:
    yield Form("nothing masked", _dressed(lambda X: np.ma.masked_array(X)))
    yield Form("a mask that hides nothing", _dressed(lambda X: np.ma.masked_array(X, np.zeros(X.shape, bool))))
    yield Form(
        "nothing masked, float32",
        lambda n, p: (np.ma.masked_array(_normal(n, p).astype("f4")), _normal(n, p).astype("f4").astype(float)),
    )
    yield Form(
        "one cell masked", _no_numbers(lambda X: np.ma.masked_array(X, _with(np.zeros(X.shape, bool), True))), "error"
    )
    yield Form(
        "one row masked", _no_numbers(lambda X: np.ma.masked_array(X, np.arange(len(X))[:, None] + 0 * X == 1)), "error"
    )
    yield Form(
        "one integer masked",
        _no_numbers(lambda X: np.ma.masked_array((9 * X).astype(int), _with(np.zeros(X.shape, bool), True))),
        "error",
    )
    yield Form("all masked", _no_numbers(lambda X: np.ma.masked_all(X.shape)), "error")
    yield Form(
        "list of masked rows",
        _no_numbers(lambda X: list(np.ma.masked_array(X, _with(np.zeros(X.shape, bool), True)))),
        "error",
    )
    yield Form(
        "pd.NA in a frame",
        _no_numbers(lambda X: pd.DataFrame(X).astype("Float64").mask(_with(np.zeros(X.shape, bool), True))),
        "error",
    )


def _holes() -> Iterator[Form]:
    for name, hole in {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}.items():
        yield Form(f"one {name}", _no_numbers(lambda X, hole=hole: _with(X, hole)), "error")
        yield Form(f"one {name} in float16", _no_numbers(lambda X, hole=hole: _with(X, hole).astype("f2")), "error")
    yield Form(
        "longdouble beyond float64", _no_numbers(lambda X: X.astype(np.longdouble) * np.longdouble(2) ** 2000), "error"
    )
    yield Form("one nan in a frame", _no_numbers(lambda X: pd.DataFrame(_with(X, np.nan))), "error")
    yield Form("one nan in a list", _no_numbers(lambda X: _with(X, np.nan).tolist()), "error")
    yield Form("one None in a list", _no_numbers(lambda X: _with(X.astype(object), None).tolist()), "error")


FORMS = list(_forms())


# ------------------------------------------------------------------------------------------------------------- subjects


@dataclass(frozen=True)
class Subject:
    """A function of arrays by name; ``expects(powers)`` is how its numbers change with the units, or None."""

    name: str
    slots: tuple[str, ...]
    call: Callable[[Mapping[str, Any], int], np.ndarray]
    invariant: Callable[[Mapping[str, int]], bool] = field(default=lambda _: True)
    rtol: float = 1e-12
    cheap: bool = True
    least: int = 4


def _measure(name: str) -> Subject:
    """A measure of an embedding; of a curve all its values."""
    card = MEASURES.card(name)

    def call(values: Mapping[str, Any], n: int) -> np.ndarray:
        options: dict[str, Any] = {"n_neighbors": max(1, min(5, n - 1))} if "n_neighbors" in card.parameters else {}
        options |= {"labels": np.arange(n) % 3} if "labels" in card.needs else {}
        options |= {"latent": _normal(n, 1)} if "latent" in card.needs else {}
        options |= {"batch": np.arange(n) // 3 % 2} if "batch" in card.needs else {}
        options |= {"target": _normal(n, 1)[:, 0]} if "target" in card.needs else {}
        options |= {"random_state": 0} if "random_state" in inspect.signature(getattr(dreval, name)).parameters else {}
        return np.atleast_1d(np.asarray(call_measure(name, values.get("X"), values["Y"], **options), float))

    def invariant(powers: Mapping[str, int]) -> bool:
        has_one_unit = not card.reads_data or powers["X"] == powers["Y"]
        return "scale" in card.invariances or (has_one_unit and name not in DEGREES)

    return Subject(name, ("X", "Y") if card.reads_data else ("Y",), call, invariant)


def _algorithm(name: str) -> Subject:
    """A measure of a method, here of principal components."""
    small_settings = {
        "tractable_consistency": {"n_transformations": 3, "n_replicates": 0, "n_jobs": 1, "progress": False}
    }

    def call(values: Mapping[str, Any], n: int) -> np.ndarray:
        result = getattr(dreval, name)(values["X"], "pca", random_state=0, **small_settings.get(name, {}))
        return np.atleast_1d(float(result.value))

    return Subject(name, ("X",), call, rtol=1e-6)


def _noise_test(name: str) -> Subject:
    """A test that re-runs a method: p-value and effect size."""
    test = TESTS.get(name)

    def call(values: Mapping[str, Any], _: int) -> np.ndarray:
        result = test(values["X"], "pca", n_replicates=9, random_state=0, n_jobs=1)
        return np.array([result.p_value, result.effect_size])

    return Subject(name, ("X",), call, rtol=1e-9)


def _test(name: str) -> Subject:
    """A test of independence: p-value, statistic and effect size; the units move only the statistic."""
    test = TESTS.get(name)

    def call(values: Mapping[str, Any], n: int) -> np.ndarray:
        y = values["y"]
        result = test(values["x"], y, n_resamples=9, random_state=0, n_jobs=1)
        return np.array([result.p_value, result.effect_size])

    return Subject(
        name,
        ("x", "y"),
        call,
        lambda powers: test.card.second != "groups" or powers["x"] == powers["y"],
        1e-9,
        least=2 if name == "mmd" else 4,
    )


def _make(name: str, n: int) -> Any:
    """Return a method with few iterations and the largest possible number of neighbors."""
    parameters = inspect.signature(METHODS.get(name)).parameters
    defaults = {"random_state": 0, "max_iter": 30, "n_epochs": 20, "disconnected": "connect", "n_init": 1}
    settings = {key: value for key, value in defaults.items() if key in parameters}
    if "n_neighbors" in parameters and parameters["n_neighbors"].default is not None:
        settings["n_neighbors"] = max(1, min(8, n - 1))
    return METHODS.get(name)(2 if n > 5 else 1, **settings)


def _response(name: str, n: int) -> np.ndarray | None:
    y = _normal(n, 3) @ [[1.0, 0.0, 0.3], [0.5, 1.0, 0.0], [0.0, -1.0, 1.0]] + 0.1 * _normal(n, 3, seed=1)
    return None if not METHODS.card(name).supervised else y if name in TWO_SETS else y[:, 0]


def _method(name: str) -> Subject:
    """The embedding at size 1, since some follow the unit of the data and others do not."""

    def call(values: Mapping[str, Any], n: int) -> np.ndarray:
        Y = _make(name, n).fit_transform(values["X"], _response(name, n))
        return Y / (np.abs(Y).max() or 1.0)

    return Subject(f"methods.{name}", ("X",), call, rtol=1e-4, cheap=False)


@cache
def _fitted(name: str) -> Any:
    return _make(name, N).fit(_normal(N, 3), _response(name, N))


def _transform(name: str) -> Subject:
    """Places of new rows by a method that was fitted once."""

    def call(values: Mapping[str, Any], _: int) -> np.ndarray:
        return np.asarray(_fitted(name).transform(values["new"]))

    return Subject(f"methods.{name}.transform", ("new",), call, lambda _: False)


def _subjects() -> Iterator[Subject]:
    for name in MEASURES:
        yield (_algorithm if MEASURES.card(name).level == "algorithm" else _measure)(name)
    yield from ((_noise_test if TESTS.card(name).second == "method" else _test)(name) for name in TESTS)
    yield from map(_method, METHODS.names())
    yield from (_transform(name) for name in METHODS.names() if METHODS.card(name).out_of_sample)


SUBJECTS = list(_subjects())


# ---------------------------------------------------------------------------------------------------------------- judge


@dataclass
class Report:
    """Number of calls, and their outcomes."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, kind: str, where: str, verdict: str) -> None:
        self.counts[f"{kind}: {verdict if verdict in ('number', 'error') else 'FAILURE'}"] += 1
        self.counts["calls"] += 1
        if verdict not in ("number", "error"):
            self.failures.append(f"{where}: {verdict}")

    def __str__(self) -> str:
        lines = [f"{self.counts['calls']} calls"]
        lines += [f"  {name}: {count}" for name, count in sorted(self.counts.items()) if name != "calls"]
        return "\n".join([*lines, f"{len(self.failures)} failures", *self.failures])


Outcome = np.ndarray | Exception


def outcome(subject: Subject, values: Mapping[str, Any], n: int) -> Outcome:
    """Return the result of a call, or its exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DrevalWarning)
        try:
            return subject.call(values, n)
        except Exception as error:  # noqa: BLE001 - every exception is judged
            return error


def _flaw_of_error(error: Exception) -> str:
    """Describe the flaw of an exception; an empty text for a clear error."""
    if not isinstance(error, DrevalError):
        return f"foreign {type(error).__name__}: {' '.join(str(error).split())[:160]}"
    parts = (error.argument, error.requirement, error.received, error.hint)
    return "" if all(isinstance(part, str) and part.strip() for part in parts) else f"error without a part: {parts}"


def _is_close(left: np.ndarray, right: np.ndarray, rtol: float) -> bool:
    size = float(np.abs(right).max(initial=0.0))
    return left.shape == right.shape and bool(np.allclose(left, right, rtol=rtol, atol=rtol * size))


def judge(answer: Outcome, must: str, reference: Outcome | None, rtol: float) -> str:
    """Return "number" or "error" for a correct answer, else the flaw."""
    if isinstance(answer, Exception):
        flaw = _flaw_of_error(answer)
        if flaw or must != "number" or reference is None or isinstance(reference, Exception):
            return flaw or "error"
        return f"refused: {answer}"
    if must == "error":
        return "answered, though no number can be meant"
    if not np.isfinite(answer).all():
        return f"not finite: {answer.ravel()[:3]}"
    if isinstance(reference, Exception):
        return f"answered, but the plain array is refused: {reference}"
    if reference is not None and not _is_close(answer, reference, rtol):
        return f"another number: {answer.ravel()[:2]} for {reference.ravel()[:2]}"
    return "number"


# ---------------------------------------------------------------------------------------------------------------- cases


def _plain_input(subject: Subject, n: int = N) -> dict[str, Any]:
    return {
        slot: _normal(n, WIDTHS[slot]) + (0.2 * _normal(n, WIDTHS[slot], 7) if slot in "Yy" else 0)
        for slot in subject.slots
    }


def _try_forms(subject: Subject, forms: list[Form], report: Report) -> None:
    """Each form in each place, the other places plain."""
    for form, slot in itertools.product(forms, subject.slots):
        value, expected = form.make(N, WIDTHS[slot])
        reference = None if expected is None else outcome(subject, _plain_input(subject) | {slot: expected}, N)
        original = np.array(value, copy=True) if isinstance(value, np.ndarray) else None
        result = outcome(subject, _plain_input(subject) | {slot: value}, N)
        verdict = judge(result, form.must, reference, form.rtol)
        if original is not None and original.dtype.kind != "O" and original.tobytes() != np.asarray(value).tobytes():
            verdict = "the caller's array was written to"
        report.add("form", f"{subject.name}, {form.name} as {slot}", verdict)


def _try_units(subject: Subject, report: Report) -> None:
    """Each place, and all of them, in other units."""
    reference = outcome(subject, _plain_input(subject), N)
    groups = {subject.slots, *((slot,) for slot in subject.slots)}
    for power, group in itertools.product(POWERS, sorted(groups)):
        arguments = _plain_input(subject)
        powers = {slot: power if slot in group else 0 for slot in subject.slots}
        result = outcome(subject, {slot: arguments[slot] * 2.0 ** powers[slot] for slot in subject.slots}, N)
        expected = reference if subject.invariant(powers) else None
        report.add("unit", f"{subject.name}, 2**{power} of {group}", judge(result, "either", expected, subject.rtol))


def _try_shapes(subject: Subject, report: Report) -> None:
    """Few rows; more columns in the embedding than in the data; columns and rows that repeat."""
    sizes = range(1, 6) if subject.slots != ("new",) else range(N, N + 1)
    cases: dict[str, tuple[int, Callable[[str, np.ndarray], np.ndarray], str]] = {
        f"n = {n}": (n, lambda _, a: a, "error" if n < subject.least else "either") for n in sizes
    }
    cases["d > p"] = (
        N,
        lambda slot, a: np.tile(a, 2) * np.linspace(1, 2, 2 * a.shape[1]) if slot in "Yy" else a[:, :1],
        "either",
    )
    cases["p > n"] = (8, lambda slot, a: np.tile(a, 5) if slot in "Xx" else a, "either")
    cases["constant columns"] = (N, lambda _, a: np.c_[a, np.full(len(a), 3.0)], "either")
    cases["one column"] = (N, lambda _, a: a[:, :1], "either")
    cases["a vector"] = (N, lambda _, a: a[:, 0], "either")
    cases["duplicates"] = (N, lambda _, a: a[np.arange(len(a)) // 2], "either")
    cases["duplicates in the data"] = (N, lambda slot, a: a[np.arange(len(a)) // 5] if slot in "Xx" else a, "either")
    cases["all rows equal"] = (N, lambda _, a: np.tile(a[:1], (len(a), 1)), "either")
    cases["a constant embedding"] = (N, lambda slot, a: np.tile(a[:1], (len(a), 1)) if slot in "Yy" else a, "either")
    cases["rows of unlike number"] = (N, lambda slot, a: a[:-1] if slot in "Yy" else a, "either")
    cases["integers with ties"] = (N, lambda _, a: np.round(a), "either")
    cases["denormal"] = (N, lambda _, a: a * 2.0**-1060, "either")
    cases["one huge entry"] = (N, lambda _, a: _with(a, 2.0**400), "either")
    cases["the largest numbers"] = (N, lambda _, a: a / np.abs(a).max() * np.finfo(float).max, "either")
    cases["far from zero"] = (N, lambda _, a: a + 2.0**45, "either")
    for name, (n, change, must) in cases.items():
        values = {slot: change(slot, array) for slot, array in _plain_input(subject, n).items()}
        report.add("shape", f"{subject.name}, {name}", judge(outcome(subject, values, n), must, None, 0.0))


def run(stride: int = 1) -> Report:
    """The matrix, or of its forms every so-manieth, each time another one; methods have fewer still."""
    report = Report()
    for at, subject in enumerate(SUBJECTS):
        step = stride if subject.cheap else 3 * stride - 2
        _try_forms(subject, [form for j, form in enumerate(FORMS) if (at + j) % step == 0], report)
        if at % step == 0 or stride == 1:
            _try_units(subject, report)
            _try_shapes(subject, report)
    return report


if __name__ == "__main__":
    print(run())
