"""Code of users and other packages: what it raises becomes an error of its argument."""

from __future__ import annotations

import signal
import traceback
from types import TracebackType

from dreval.errors import DrevalError, MethodFailed, message_of, usable_stderr

ALONE = "Run it alone on the same data to see where."


def ends_everything(error: BaseException) -> bool:
    """Whether what other code raised is a wish to stop: an interrupt, or raised by a handler of a signal.

    A handler of SIGTERM usually raises SystemExit, at whatever line the process is. ``sys.exit`` of a method is no such
    wish: it ends the method. Nor is another exception that no ``except Exception`` catches, as a panic of code in Rust.
    """
    if isinstance(error, BaseExceptionGroup):
        return any(map(ends_everything, error.exceptions))
    if isinstance(error, Exception | KeyboardInterrupt):
        return isinstance(error, KeyboardInterrupt)
    handlers = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()} - {None}
    return any(frame.f_code in handlers for frame, _ in traceback.walk_tb(error.__traceback__))


class Foreign:
    """A block that runs code of users or other packages: its exceptions become ``MethodFailed`` with their cause.

    So does what is no ``Exception``, as ``SystemExit``. Errors of dreval itself and wishes to stop are not changed.
    Where stderr is closed, the code can still print to it, and warn.
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
        got = f"{type(error).__name__}: {message}" if message else type(error).__name__
        raise MethodFailed(self.argument, f"must {self.task}, but {self.what} raised", got, ALONE) from error
