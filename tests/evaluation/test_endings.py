"""Any exception of one embedding leaves the others unchanged; a user interrupt stops."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from asyncio import CancelledError
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dreval
from dreval.errors import DrevalError, MethodFailed

X = np.random.default_rng(0).normal(size=(40, 4))
Y = X[:, :2] + 0.1


class Panic(BaseException):
    """Represent a panic of Rust code, which PyO3 raises and which is not an ``Exception``."""


RAISED: dict[str, Callable[[], BaseException]] = {
    "SystemExit": lambda: SystemExit(1),
    "SystemExit without a code": SystemExit,
    "GeneratorExit": GeneratorExit,
    "ZeroDivisionError": lambda: ZeroDivisionError("division"),
    "StopIteration": StopIteration,
    "a group with SystemExit": lambda: BaseExceptionGroup("several", [SystemExit(2), ValueError("x")]),
    "a panic of another language": lambda: Panic("no value"),
    "CancelledError": CancelledError,
    "a group with a panic": lambda: BaseExceptionGroup("several", [Panic("no value"), ValueError("x")]),
    "a group of errors": lambda: ExceptionGroup("several", [ValueError("x")]),
}


class Value:
    """An array that raises when it is read."""

    shape, dtype = (40, 2), np.dtype(float)

    def __init__(self, make: Callable[[], BaseException]) -> None:
        self.make = make

    def __len__(self) -> int:
        return 40

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self.make()


class Tool:
    """An estimator that raises in one of its parts."""

    def __init__(self, make: Callable[[], BaseException] = ValueError, place: str = "fit") -> None:
        self.make, self.place = make, place

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"make": self.make, "place": self.place}

    def set_params(self, **values: Any) -> Tool:
        vars(self).update(values)
        return self

    def __deepcopy__(self, memo: Any) -> Tool:
        if self.place == "copy":
            raise self.make()
        return Tool(self.make, self.place)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        if self.place == "fit":
            raise self.make()
        return Value(self.make)


def ways(make: Callable[[], BaseException]) -> dict[str, Any]:
    """Embeddings that raise in a function, in each part of an estimator, and when their array is read."""

    def function(*_: Any) -> Any:
        raise make()

    return {
        "function": function,
        "fit": Tool(make),
        "copy": Tool(make, "copy"),
        "result": Tool(make, "result"),
        "array": Value(make),
    }


@pytest.mark.parametrize("kind", RAISED)
def test_others_are_evaluated(kind: str, tmp_path: Path) -> None:
    """An evaluation with and without a journal has the others; the failure has the text of the exception."""
    for store in (None, tmp_path / "a.journal"):
        ev = dreval.Evaluation(X, {"good": Y, **ways(RAISED[kind]), "pca": "pca"}, n_neighbors=5, random_state=0)
        results = ev.run("trustworthiness", None, None, journal=store)
        values = results.table.set_index("embedding")["value"]
        assert values.notna().to_dict() == {"good": True, "pca": True, **dict.fromkeys(ways(RAISED[kind]), False)}
        assert values["good"] == dreval.trustworthiness(X, Y, n_neighbors=5)
        notes = {note.scope: str(note) for note in results.failures()}
        assert notes.keys() == set(ways(RAISED[kind]))
        name = type(RAISED[kind]()).__name__
        assert name in notes["function"]
        assert all(name in text or "numeric array" in text for text in notes.values()), notes
        assert len(results.summary().as_text()) > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["SystemExit", "GeneratorExit", "a group with SystemExit", "a panic of another language"]
)
def test_other_entries(kind: str, tmp_path: Path) -> None:
    """``embed``, re-runs, null data, and a study in one process and in two: an error, or a failed cell."""
    make = RAISED[kind]
    tool = ways(make)["function"]
    for call in (
        lambda: dreval.embed(X, tool),
        lambda: dreval.embed(X, Tool(make)),
        lambda: dreval.stability(X, tool, n_replicates=3, random_state=0),
        lambda: dreval.noise_test(X, tool, n_replicates=3, random_state=0),
        lambda: dreval.noise_test(X, "pca", null=tool, n_replicates=3, random_state=0),
    ):
        with pytest.raises(DrevalError):
            call()
    for jobs in (1, 2):
        path = tmp_path / f"{jobs}.journal"
        methods = {"t": Tool(make), "pca": "pca"}
        study = dreval.Study(path, {"x": X, "y": X**3}, methods, "trustworthiness", n_neighbors=5)
        values = study.run(n_jobs=jobs, progress=False).table().set_index(["embedding", "dataset"])["value"]
        assert values.notna().groupby("embedding").sum().to_dict() == {"pca": 2, "t": 0}


def interrupt(*_: Any) -> Any:
    raise KeyboardInterrupt


def end(*_: Any) -> None:
    raise SystemExit(143)


def out_of_time(*_: Any) -> None:
    raise Panic("time is over")


def terminated(*_: Any) -> Any:
    """A process gets the signal to end while a method runs."""
    os.kill(os.getpid(), signal.SIGTERM)
    for _i in range(10**6):
        np.zeros(1)
    return Y


POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.mark.parametrize(
    ("source", "exception"),
    [
        (interrupt, KeyboardInterrupt),
        pytest.param(terminated, SystemExit, marks=POSIX),
        pytest.param(terminated, Panic, marks=POSIX),
        (lambda *_: (_ for _ in ()).throw(BaseExceptionGroup("g", [KeyboardInterrupt()])), BaseExceptionGroup),
    ],
)
def test_a_user_interrupt_stops(source: Any, exception: type[BaseException], tmp_path: Path) -> None:
    """Ctrl-C stops, and so does SIGTERM whatever its handler raises; finished runs are in the journal."""
    before = signal.signal(signal.SIGTERM, out_of_time if exception is Panic else end)
    try:
        ev = dreval.Evaluation(X, {"first": "pca", "stopped": source, "never": "isomap"}, n_neighbors=5, random_state=0)
        with pytest.raises(exception):
            ev.run("trustworthiness", None, None, journal=tmp_path / "a.journal")
        with pytest.raises(exception):
            dreval.embed(X, source)
    finally:
        signal.signal(signal.SIGTERM, before)
    with closing(sqlite3.connect(tmp_path / "a.journal")) as db:
        assert db.execute("SELECT count(*) FROM cells WHERE cell = 'embedding'").fetchone() == (1,)


CLOSED = """
import sys, tempfile, warnings
import numpy as np
{close}
import dreval
X = np.random.default_rng(0).normal(size=(40, 4))
def bad(X, n): raise ValueError
def noisy(X, n):
    if sys.stderr is not None:
        print("text", file=sys.stderr)
    warnings.warn("text")
    return X[:, :2]
found = []
for progress in (None, True, False):
    embeddings = {{"u": X[:, :2], "pca": "pca", "noisy": noisy, "bad": bad}}
    ev = dreval.Evaluation(X, embeddings, n_neighbors=5, random_state=0)
    found.append(int(ev.run("trustworthiness", progress=progress).table.value.notna().sum()))
path = tempfile.mkdtemp() + "/s.journal"
study = dreval.Study(path, {{"x": X, "y": X**3}}, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5)
found.append(len(study.run(n_jobs=2, progress=True).table()))
found.append(dreval.noise_test(X, "pca", n_replicates=3, random_state=0, progress=True).p_value > 0)
try:
    found.append(len(dreval.embed(X, noisy)))
except dreval.errors.DrevalError as error:
    found.append(str(error))
print(found, sys.stderr is None)
sys.stderr = sys.__stderr__
"""


SCRIPT = """
class Broken:
    def write(self, text): raise OSError(32, 'broken')
    def flush(self): raise OSError(32, 'broken')
    def isatty(self): return True
sys.stderr = Broken()
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["none", "descriptor", "closed", "no flush", "broken", "full"])
def test_without_stderr(mode: str) -> None:
    """A missing, closed or full stderr changes no result, and stderr is restored afterwards."""
    close = {
        "none": "sys.stderr = None",
        "closed": "sys.stderr.close()",
        "no flush": "sys.stderr = type('W', (), {'write': len})()",
        "broken": SCRIPT,
    }
    text = CLOSED.format(close=close.get(mode, ""))
    if mode == "full":  # a print here fails as well
        text = text.replace('print("text", file=sys.stderr)', "pass")
    if mode == "full" and not os.path.exists("/dev/full"):
        pytest.skip("a device of Linux")
    if mode == "descriptor" and os.name != "posix":
        pytest.skip("a shell of POSIX")
    command = [sys.executable, "-c", text]
    shell = {"descriptor": 'exec "$@" 2>&-', "full": 'exec "$@" 2>/dev/full'}
    done = subprocess.run(
        ["sh", "-c", shell[mode], "sh", *command] if mode in shell else command,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.split("\n")[0] == f"[3, 3, 3, 4, True, 40] {mode in ('none', 'descriptor')}"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_the_command_line_without_stderr(tmp_path: Path) -> None:
    """Its messages are missing; its output and exit code are not affected."""
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c,d", comments="")
    for arguments, code in (
        (["evaluate", str(tmp_path / "x.csv"), "-e", "pca", "-e", "isomap", "--measures", "trustworthiness"], 0),
        (["evaluate", str(tmp_path / "nothing.csv"), "-e", "pca"], 2),
        (["evaluate", "--nothing"], 2),
    ):
        for place in ("&-", "/dev/full") if os.path.exists("/dev/full") else ("&-",):
            command = ["sh", "-c", f'exec "$@" 2>{place}', "sh", sys.executable, "-m", "dreval", *arguments]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            assert done.returncode == code
            assert ("isomap" in done.stdout) == (code == 0)
            assert "must" not in done.stdout


def test_the_error_names_the_exception() -> None:
    with pytest.raises(
        MethodFailed, match=r"must embed the data, but function raised: got SystemExit: 1\. Run it alone"
    ):
        dreval.embed(X, ways(RAISED["SystemExit"])["function"])


def raises(*_: Any, **__: Any) -> Any:
    raise RuntimeError("of a user")


class Nameless:
    """A callable that has no name that can be read."""

    __name__ = property(raises)  # type: ignore[assignment]

    def __call__(self, X: Any, n_components: int = 2) -> Any:
        return X[:, :n_components]


class Unwrapped(Nameless):
    __name__ = "unwrapped"  # type: ignore[assignment]
    __wrapped__ = property(raises)


class Unshown(Nameless):
    __name__ = "unshown"  # type: ignore[assignment]
    __repr__ = __str__ = raises  # type: ignore[assignment]


class Unread:
    __getattr__ = raises


class Unpath:
    __fspath__ = raises


class Silent(Exception):
    """An exception that has no text."""

    __str__ = __repr__ = raises  # type: ignore[assignment]


@pytest.mark.parametrize("kind", [Nameless, Unwrapped, Unshown], ids=["name", "wrapped", "text"])
def test_functions_without_a_name_or_a_text(kind: Any) -> None:
    """They embed as any other function; if they are not a value of an argument, the error names their type."""
    assert np.array_equal(np.asarray(dreval.embed(X, kind())), X[:, :2])
    results = dreval.Evaluation(X, {"u": kind()}, n_neighbors=5, random_state=0).run("trustworthiness", None, None)
    assert results.table["value"][0] == dreval.trustworthiness(X, X[:, :2], n_neighbors=5)
    assert dreval.noise_test(X, kind(), n_replicates=3, random_state=0).p_value > 0
    for call in (
        lambda: dreval.Evaluation(kind()),
        lambda: dreval.Evaluation(X, metric=kind()),
        lambda: dreval.Evaluation(X, n_neighbors=kind()),
        lambda: dreval.Evaluation(X, labels=kind()),
        lambda: dreval.Evaluation(X, ids=kind()),
        lambda: dreval.Evaluation(X, {"u": Y}).run(kind()),
        lambda: dreval.noise_test(X, "pca", null=Unread(), n_replicates=3, random_state=0),
    ):
        with pytest.raises(DrevalError, match="must "):
            call()


LOOKED_AT: dict[str, Callable[[], Any]] = {
    "attributes": Unread,
    "path": Unpath,
    **{f"{name}, without a text": lambda name=name: ways(Silent)[name] for name in ways(Silent)},  # type: ignore[misc]
}


@pytest.mark.parametrize("kind", LOOKED_AT)
def test_values_that_raise_when_they_are_looked_at(kind: str) -> None:
    """And exceptions without a text: the embedding fails, the others do not."""
    value = LOOKED_AT[kind]()
    ev = dreval.Evaluation(X, {"good": Y, "bad": value}, n_neighbors=5, random_state=0)
    results = ev.run("trustworthiness", None, None)
    assert results.table.set_index("embedding")["value"].notna().to_dict() == {"good": True, "bad": False}
    assert [note.scope for note in results.failures()] == ["bad"]
    assert len(results.summary().as_text()) > 100
    with pytest.raises(MethodFailed, match="must"):
        dreval.trustworthiness(X, value)


def test_labels_and_ids_that_raise() -> None:
    for call in (
        lambda: dreval.Evaluation(X, labels=[Value(ValueError)] * 40),
        lambda: dreval.Evaluation(X, labels=[Unshown()] * 40),
        lambda: dreval.Evaluation(X, ids=object()),
        lambda: dreval.Evaluation(X, ids=5.5),
    ):
        with pytest.raises(DrevalError, match="must"):
            call()
