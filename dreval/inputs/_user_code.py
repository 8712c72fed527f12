"""Run code of users and other packages; its exceptions become errors of the argument."""

from __future__ import annotations

import signal
import traceback
from types import TracebackType

from dreval.errors import DrevalError, MethodFailed, message_of, usable_stderr

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
