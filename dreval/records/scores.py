"""The record that ``dreval.score`` returns: the value of each measure of one embedding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, overload

from dreval._check import attribute_error, check_one_of
from dreval.records.base import Record, Summary, read_only
from dreval.records.notes import Notes

if TYPE_CHECKING:
    import pandas as pd

Default = TypeVar("Default")


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Scores(Mapping[str, float], Record):
    """Values of measures of one embedding by name: ``scores["trustworthiness"]`` or ``scores.trustworthiness``.

    It is a mapping of floats, which equals a dict with the same items.

    Attributes
    ----------
    table : DataFrame
        One row for each measure: ``measure``, ``parameters``, ``value`` (NaN where a measure has none), ``direction``,
        ``lower``, ``upper`` (the range), ``n_used`` (where not all points are used) and ``note``, the reason of a
        missing value.
    n : int
        Number of points.
    n_neighbors : int
        Number k of neighbors of the measures without their own number.
    notes : tuple of Note
        Assumptions on the data and the embedding.
    recipe : dict
        The settings: ``metric`` and ``random_state``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> scores = dreval.score(X, X[:, :2], ["trustworthiness", "continuity"])
    >>> round(scores.trustworthiness, 2), round(scores["continuity"], 2), list(scores)
    (0.77, 0.86, ['trustworthiness', 'continuity'])
    """

    table: pd.DataFrame
    n: int
    n_neighbors: int
    notes: Notes = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        return self._by_name()[check_one_of(name, self._by_name(), "measure")]

    @overload
    def get(self, name: str, default: None = None) -> float | None: ...
    @overload
    def get(self, name: str, default: Default) -> float | Default: ...
    def get(self, name: str, default: Default | None = None) -> float | Default | None:
        """Return the value of a measure, or ``default`` if it was not computed.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> dreval.score(X, X[:, :2], ["trustworthiness"]).get("stress", 1.0)
        1.0
        """
        return self._by_name().get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name())

    def __len__(self) -> int:
        return len(self._by_name())

    def __contains__(self, name: object) -> bool:
        return name in self._by_name()

    __hash__ = None  # type: ignore[assignment]  # it is compared by its items, like a dict

    def _by_name(self) -> dict[str, float]:
        table = vars(self)["table"]
        return dict(zip(table["measure"], map(float, table["value"]), strict=True))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if "table" in vars(self) and name in self._by_name():
                return self._by_name()[name]
            raise attribute_error(self, name)

    else:

        def __getattr__(self, name: str) -> float:
            """Return the value of a measure."""
            raise NotImplementedError

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})

    def tidy(self) -> pd.DataFrame:
        """Return the table, a row for each measure.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> dreval.score(X, X[:, :2], ["trustworthiness", "stress"]).tidy()[["measure", "value", "direction"]].round(2)
                   measure  value direction
        0  trustworthiness   0.77    higher
        1           stress   0.47     lower
        """
        return self.table

    def to_frame(self) -> pd.DataFrame:
        """Return the values as one column, with the names of the measures as row names.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> dreval.score(X, X[:, :2], ["trustworthiness", "stress"]).to_frame().loc["stress"].round(2).to_dict()
        {'value': 0.47}
        """
        return self.table.set_index("measure")[["value"]]

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the values that stand for their questions, then all."""
        from dreval.report.documents.small import values_summary

        return values_summary(self, full)
