"""Errors and warnings of dreval: one small tree of classes.

Every error has four parts, in this order: the argument in backticks, the requirement, the value received, and a hint.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import cache, partial
from types import TracebackType
from typing import Any, NamedTuple, Self

from dreval._text import printable

__all__ = [
    "ApproximationWarning",
    "DegenerateDataWarning",
    "DrevalError",
    "DrevalWarning",
    "EmbeddingFailed",
    "Hint",
    "InputError",
    "InputWarning",
    "MethodFailed",
    "MissingFile",
    "NotFitted",
    "ProtocolError",
    "UndefinedMeasure",
    "UnknownKeyword",
    "UnknownName",
]


THE_DATA = "the data"  # a field of an error: the data of an evaluation, or the argument that ``named`` puts there
MAX_PART_LENGTH = 5000  # characters of each of the four parts of an error


class Hint(NamedTuple):
    """An argument with its value, a call, or advice, in the text of an error.

    It is written as Python, or as on the command line if the name is a ``--flag``. ``shell`` is the advice of the
    command line, where frames and arrays are files.

    Examples
    --------
    >>> hint = Hint("direction", {"stress": "lower"})
    >>> str(hint), str(hint._replace(name="--direction"))
    ("direction={'stress': 'lower'}", '--direction stress=lower')
    """

    name: str
    value: Any = ...  # without a value: the name alone
    shell: str = ""

    def __str__(self) -> str:
        if self.value is ...:
            return self.name
        if not self.name.startswith("--"):
            return f"{self.name}={self.value!r}"
        pairs = self.value.items() if isinstance(self.value, Mapping) else ()
        return f"{self.name} {shlex.quote(','.join(f'{key}={item}' for key, item in pairs) or str(self.value))}"


class DrevalError(ValueError):
    """Base class of all errors of dreval.

    Parameters
    ----------
    argument : str
        Name of the argument as the user wrote it.
    requirement : str
        What the argument must satisfy, beginning with "must".
    received : str
        Description of the value received.
    hint : str
        A sentence that says what to do.
    **fields : str or Hint
        Other arguments named in these four texts: ``{y}`` in a text becomes the value of the field ``y``, which is a
        name of an argument, or an argument with its value.

    Examples
    --------
    >>> error = InputError("y", "must have as many rows as {x}", "4 rows for 5", "Drop the others.", x="x")
    >>> str(error.named({"x": "umap", "y": "labels"}))
    '`labels` must have as many rows as `umap`: got 4 rows for 5. Drop the others.'
    """

    def __init__(self, argument: str, requirement: str, received: str, hint: str, **fields: str | Hint) -> None:
        self._texts = requirement, received, hint
        self._fields = dict[str, Any](fields)
        self._argument_template = argument
        texts: tuple[str, ...] = self._texts
        for field, value in fields.items():
            argument = argument.replace(f"{{{field}}}", str(value))
            text = str(value) if isinstance(value, Hint) or value == THE_DATA else f"`{value}`"
            texts = tuple(part.replace(f"{{{field}}}", text) for part in texts)
        self.argument, self.requirement, self.received, self.hint = map(_bounded, (argument, *texts))
        super().__init__(f"`{self.argument}` {self.requirement}: got {self.received}. {self.hint}")

    def named(self, names: Mapping[str, str], *, shell: bool = False) -> Self:
        """Return the same error with arguments renamed: each name in ``names`` becomes its value.

        ``shell`` also replaces advice by that of the command line.
        """
        fields: dict[str, Any] = {}
        for field, value in self._fields.items():
            if not isinstance(value, Hint):
                fields[field] = names.get(value, value)
            elif shell and value.shell:
                fields[field] = Hint(value.shell)
            else:
                fields[field] = value._replace(name=names.get(value.name, value.name))
        return type(self)(names.get(self._argument_template, self._argument_template), *self._texts, **fields)

    def altered(self, kind: type[DrevalError] | None = None, **parts: str) -> DrevalError:
        """Return the same error with other parts (argument, requirement, received, hint), or of another class."""
        names = ("argument", "requirement", "received", "hint")
        current = dict(zip(names, (self._argument_template, *self._texts), strict=True))
        return (kind or type(self))(**current | parts, **self._fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self._argument_template, *self._texts, **self._fields), ()


def _bounded(text: str) -> str:
    """Return a part of an error without control characters, shortened in the middle if it is very long."""
    half = MAX_PART_LENGTH // 2
    return printable(text if len(text) <= MAX_PART_LENGTH else f"{text[:half]} ... {text[-half:]}")


class InputError(DrevalError):
    """An argument or a file does not meet its requirement."""


class NotFitted(InputError, AttributeError):
    """A method is used before it is fitted; also a ``NotFittedError`` of scikit-learn if that is imported."""

    def __reduce__(self) -> tuple[Any, ...]:
        kind = NotFitted if type(self) is NotFitted else not_fitted
        return partial(kind, self._argument_template, *self._texts, **self._fields), ()


@cache
def _not_fitted_of_both(base: type[Exception]) -> type[NotFitted]:
    """Return the class that is both ``NotFitted`` and scikit-learn's ``NotFittedError``."""
    return type("NotFitted", (NotFitted, base), {"__module__": __name__})


def not_fitted(argument: str, requirement: str, received: str, hint: str, **fields: str | Hint) -> NotFitted:
    """Return the error of a method that is not fitted, also of scikit-learn's class if scikit-learn is imported.

    Examples
    --------
    >>> error = not_fitted("PCA", "must be fitted first", "a method without a fit", "Call PCA(...).fit(X) before.")
    >>> isinstance(error, InputError), isinstance(error, ValueError), isinstance(error, AttributeError)
    (True, True, True)
    """
    base = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
    kind = NotFitted if base is None else _not_fitted_of_both(base)
    return kind(argument, requirement, received, hint, **fields)


class UnknownName(DrevalError):
    """A name of no measure, test, method, data set or file."""


class UnknownKeyword(UnknownName, TypeError):
    """A keyword that the function does not accept, or an argument that it accepts by keyword only."""


class MissingFile(UnknownName, InputError, FileNotFoundError):
    """A path without a file."""


class UndefinedMeasure(DrevalError):
    """A measure has no value for this input, for a stated reason."""


class MethodFailed(DrevalError):
    """A method, estimator or callable raised an error, or did not return an embedding."""


class ProtocolError(DrevalError):
    """A folder exchanged with a tool outside Python was changed or is incomplete."""


class DrevalWarning(UserWarning):
    """Base class of all warnings of dreval; ``note`` is the note with this message, or None for a plain text."""

    def __init__(self, message: Any) -> None:
        self.note = None if isinstance(message, str) else message
        super().__init__(printable(message))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0] if self.note is None else self.note,)


class DegenerateDataWarning(DrevalWarning):
    """The data are degenerate (duplicates, constant columns); the message states the assumption."""


class EmbeddingFailed(DrevalWarning):
    """Some embeddings of an evaluation could not be computed; their rows hold the reason.

    ``errors`` holds the errors by name of embedding; ``count`` is the number of all embeddings.
    """

    def __init__(self, errors: Mapping[str, DrevalError], count: int) -> None:
        self.errors, self.count = dict(errors), count
        reasons = "; ".join(f"{name}: {str(error).rstrip('.')}" for name, error in errors.items())
        super().__init__(f"{len(errors)} of {count} embeddings failed. {reasons}.")

    def named(self, names: Mapping[str, str], *, shell: bool = False) -> Self:
        """Return the same warning with the arguments of its errors renamed."""
        return type(self)({name: error.named(names, shell=shell) for name, error in self.errors.items()}, self.count)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.errors, self.count)


class AllFailed(InputError):
    """None of several embeddings could be computed; ``errors`` holds the errors by name of embedding."""

    errors: Mapping[str, DrevalError]


def all_failed(errors: Mapping[str, DrevalError]) -> DrevalError:
    """Return the error of an evaluation that could compute none of its embeddings: that of the only one, or of all."""
    if len(errors) == 1:
        return next(iter(errors.values()))
    reasons = " ".join(f"{name}: {str(error).rstrip('.')}." for name, error in errors.items())
    error = AllFailed("embeddings", "must have one that can be computed", f"{len(errors)} that failed", reasons)
    error.errors = dict(errors)
    return error


class InputWarning(DrevalWarning):
    """An argument is incomplete or looks like another kind of input; the message states what was done."""


class ApproximationWarning(DrevalWarning):
    """An approximation was used; the message states it and its error."""


def message_of(error: BaseException) -> str:
    """Return the message of an exception on one line; empty without a message, or if ``str()`` of it raises."""
    with suppress(Exception):  # of a class of other code
        return " ".join(str(error).split())
    return ""


def caller_stacklevel() -> int:
    """Return the ``stacklevel`` that makes a warning of the calling function refer to a line outside dreval."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("dreval."):
        frame, level = frame.f_back, level + 1
    return level


_NOTES: ContextVar[list[Any] | None] = ContextVar("notes", default=None)


@contextmanager
def collect_notes() -> Iterator[list[Any]]:
    """Collect the notes of all warnings of dreval in a block, also of those that filters hide.

    Yield the list to which they are added. Warnings and their filters are unchanged. Notes of an inner block are also
    added to the list of the outer block.
    """
    notes: list[Any] = []
    outer = _NOTES.get()
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)
        if outer is not None:
            outer += notes


def warn(message: Warning | str, category: type[Warning] | None = None) -> None:
    """Issue a warning that refers to the first line outside the package; if stderr is closed, no error is raised."""
    note, notes = getattr(message, "note", None), _NOTES.get()
    if note is not None and notes is not None:
        notes.append(note)
    with usable_stderr() if getattr(sys.stderr, "closed", False) else nullcontext():
        warnings.warn(message, category, stacklevel=caller_stacklevel())


@contextmanager
def usable_stderr() -> Iterator[bool]:
    """Replace stderr by the null device if it cannot be used, and yield whether it could be used.

    Services and ``2>&-`` start a process without stderr, and a closed stream raises errors. Worker processes of joblib
    do not start if it cannot be flushed.
    """
    stream = sys.stderr
    usable = hasattr(stream, "flush") and not getattr(stream, "closed", False)
    if usable:
        try:
            stream.flush()
        except (OSError, ValueError):
            usable = False
    if usable:
        yield True
        return
    with open(os.devnull, "w", encoding="utf-8") as null_device:
        sys.stderr = null_device
        try:
            yield False
        finally:
            sys.stderr = stream


# Code of users and other packages, whose exceptions become errors of an argument.

RUN_ALONE_HINT = "Run it alone on the same data to see where."


def ends_everything(error: BaseException) -> bool:
    """Check whether an exception of other code asks to stop: an interrupt, or one raised by a signal handler.

    A handler of SIGTERM usually raises SystemExit, at whatever line the process is. ``sys.exit`` in a method ends the
    method only. So do other exceptions that ``except Exception`` does not catch, such as a panic of code in Rust.
    """
    if isinstance(error, BaseExceptionGroup):
        return any(map(ends_everything, error.exceptions))
    if isinstance(error, Exception | KeyboardInterrupt):
        return isinstance(error, KeyboardInterrupt)
    handlers = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()} - {None}
    return any(frame.f_code in handlers for frame, _ in traceback.walk_tb(error.__traceback__))


class UserCode:
    """A block that runs code of users or other packages, and raises its exceptions as ``MethodFailed``.

    The exception is the cause of the error. This includes exceptions that are not an ``Exception``, such as
    ``SystemExit``. Errors of dreval itself and requests to stop are not changed. Where stderr is closed, the code can
    still print to it, and warn.
    """

    def __init__(self, argument: str, what: str, task: str = "embed the data") -> None:
        self.argument, self.what, self.task, self.stderr = argument, what, task, usable_stderr()

    def __enter__(self) -> None:
        self.stderr.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stderr.__exit__(None, None, None)
        if error is None or isinstance(error, DrevalError) or ends_everything(error):
            return
        message = message_of(error)
        received = f"{type(error).__name__}: {message}" if message else type(error).__name__
        raise MethodFailed(
            self.argument, f"must {self.task}, but {self.what} raised", received, RUN_ALONE_HINT
        ) from error
