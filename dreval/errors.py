"""What dreval refuses and what it warns of: one small tree.

Every error has four parts, in this order: the argument in backticks, the rule it broke, what was got, and what to do.
"""

from __future__ import annotations

import sys

__all__ = [
    "ApproximationWarning",
    "DegenerateDataWarning",
    "DrevalError",
    "DrevalWarning",
    "InputError",
    "InputWarning",
    "MethodFailed",
    "ProtocolError",
    "UndefinedMeasure",
    "UnknownName",
]


class DrevalError(ValueError):
    """The root of everything dreval refuses.

    Parameters
    ----------
    argument : str
        Name of the argument as the user wrote it.
    rule : str
        What must hold, beginning with a verb ("must be ...").
    got : str
        What was found instead.
    cure : str
        A sentence that says what to do.
    """

    def __init__(self, argument: str, rule: str, got: str, cure: str) -> None:
        self.argument, self.rule, self.got, self.cure = argument, rule, got, cure
        super().__init__(f"`{argument}` {rule}: got {got}. {cure}")

    def __reduce__(self) -> tuple[type[DrevalError], tuple[str, str, str, str]]:
        return type(self), (self.argument, self.rule, self.got, self.cure)


class InputError(DrevalError):
    """An argument or a file is not what it must be."""


class UnknownName(DrevalError):
    """A name that no measure, test, method, data set or file has."""


class UndefinedMeasure(DrevalError):
    """A measure has no value here, and the reason is known."""


class MethodFailed(DrevalError):
    """A method, estimator or callable raised, or returned something that is no embedding."""


class ProtocolError(DrevalError):
    """A folder exchanged with a tool outside Python was altered or is incomplete."""


class DrevalWarning(UserWarning):
    """The root of everything dreval warns of."""


class DegenerateDataWarning(DrevalWarning):
    """The data are degenerate (duplicates, constant columns); an assumption was made and is stated."""


class InputWarning(DrevalWarning):
    """An argument is incomplete, or looks like something else than what it was passed as; what was done is stated."""


class ApproximationWarning(DrevalWarning):
    """An approximation was used; it is stated together with its error."""


def caller_level() -> int:
    """The ``stacklevel`` at which a warning of the calling function points at the first line outside the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("dreval."):
        frame, level = frame.f_back, level + 1
    return level
