"""A record that is a number: it behaves as the float that it holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Number:
    """Comparison, arithmetic and formats of the attribute ``value``; the results are plain floats.

    Examples
    --------
    >>> class Example(Number):
    ...     value = 0.25
    >>> Example() < 0.3, 1 - Example(), f"{Example():.1%}", max(Example(), 0.1)
    (True, 0.75, '25.0%', Example(0.25))
    """

    value: float

    def __float__(self) -> float:
        return float(self.value)

    def __hash__(self) -> int:
        return hash(float(self))

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(float(self), dtype=dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({float(self):.6g})"

    def __eq__(self, other: object) -> bool:
        return float(self) == (float(other) if isinstance(other, Number) else other)

    def __lt__(self, other: float | Number) -> bool:
        return float(self) < float(other)

    def __le__(self, other: float | Number) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: float | Number) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: float | Number) -> bool:
        return float(self) >= float(other)

    def __add__(self, other: Any) -> Any:
        return float(self) + other

    def __radd__(self, other: Any) -> Any:
        return other + float(self)

    def __sub__(self, other: Any) -> Any:
        return float(self) - other

    def __rsub__(self, other: Any) -> Any:
        return other - float(self)

    def __mul__(self, other: Any) -> Any:
        return float(self) * other

    def __rmul__(self, other: Any) -> Any:
        return other * float(self)

    def __truediv__(self, other: Any) -> Any:
        return float(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / float(self)

    def __pow__(self, other: Any) -> Any:
        return float(self) ** other

    def __rpow__(self, other: Any) -> Any:
        return other ** float(self)

    def __neg__(self) -> float:
        return -float(self)

    def __abs__(self) -> float:
        return abs(float(self))

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)
