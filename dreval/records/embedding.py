"""The record of one embedding: coordinates, and what is needed to make them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_parameters
from dreval.errors import InputError
from dreval.glossary import printable
from dreval.records._verbs import Record, call
from dreval.records.notes import Notes
from dreval.records.read_only import read_only


@read_only
@dataclass(frozen=True, eq=False)
class Embedding(Record):
    """Coordinates with their recipe; numpy takes the record as the array of its coordinates.

    Attributes
    ----------
    coordinates : ndarray (n, d)
        One row per point; read-only, as the maps of the record are made of them (``np.array(record)`` is a copy).
    method : str
        Name of the method.
    parameters : dict
        Parameters of the method, ``n_components`` among them.
    random_state : int or None
        The seed that was used; with the parameters it gives the same coordinates again.
    ids : pandas.Index or None
        Names of the rows, where the data have them.
    data_shape : (int, int)
        Rows and columns of the data.
    seconds : float
        Wall time of the fit. It is never printed.
    notes : tuple of Note
        Assumptions that were made.
    data : ndarray (n, p) or None
        The data, in memory only; the maps between data and embedding are made of them.
    columns : tuple of str or None
        Names of the columns of the data, where they have names.

    Examples
    --------
    >>> import numpy as np
    >>> from dreval.records.embedding import Embedding
    >>> record = Embedding(np.eye(4)[:, :2], "example", {"n_components": 2})
    >>> np.asarray(record).shape
    (4, 2)
    >>> list(record.to_frame())
    ['example_1', 'example_2']
    """

    coordinates: npt.NDArray[np.float64]
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    random_state: int | None = None
    ids: pd.Index[Any] | None = None
    data_shape: tuple[int, int] | None = None
    seconds: float = float("nan")
    notes: Notes = ()
    data: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    columns: tuple[str, ...] | None = None
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.coordinates, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of components."""
        n, d = self.coordinates.shape
        return n, d

    def to_frame(self) -> pd.DataFrame:
        """The coordinates as a table, with the row names of the data; a copy.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.to_frame().head(2).round(3)
           pca_1  pca_2
        0 -0.319  0.734
        1 -1.568  0.487
        """
        names = [f"{self.method}_{j + 1}" for j in range(self.shape[1])]
        return pd.DataFrame(self.coordinates.copy(), index=self.ids, columns=names)

    def embedding_map(self, *, reg: float = 1e-6, bandwidth: float | None = None) -> Any:
        """The embedding as a function of the data (Roy, 2021, Theorem 2), with its ridge, bandwidth and conditioning.

        See ``dreval.geometry.rkhs.embedding_map``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.embedding_map().rule
        'theorem2'
        """
        options = {"reg": reg, "bandwidth": bandwidth}
        return self._map("embedding_map", self.known_data(), self.coordinates, self.columns, **options)

    def reconstruction_map(
        self, *, rule: str = "ridge", reg: float | None = None, bandwidth: float | None = None
    ) -> Any:
        """The data as a function of the embedding by kernel ridge or Theorem 3 of Roy (2021), and how it was found.

        See ``dreval.geometry.rkhs.reconstruction_map``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.reconstruction_map().rule
        'ridge'
        """
        options = {"rule": rule, "reg": reg, "bandwidth": bandwidth}
        return self._map("reconstruction_map", self.coordinates, self.known_data(), None, **options)

    def transform(self, points: Any, **options: Any) -> npt.NDArray[np.float64]:
        """Coordinates (m, d) of new points (m, p), by ``embedding_map(**options)``; the embedding itself stays.

        The columns of a frame are found by name, where the data have names: other names are refused, their order is
        free. Those of an array go by position.
        Of the known points it gives the coordinates up to the ridge. O(n^3) time for the first call.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.transform(X[:3]).shape
        (3, 2)
        """
        check_parameters(options, ("reg", "bandwidth"), "transform")
        return np.asarray(self.embedding_map(**options)(points))

    def inverse_transform(self, points: Any, **options: Any) -> npt.NDArray[np.float64]:
        """Data (m, p) at places (m, d) of the embedding, by ``reconstruction_map(**options)``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.inverse_transform([[0.0, 0.0]]).shape
        (1, 4)
        """
        check_parameters(options, ("rule", "reg", "bandwidth"), "inverse_transform")
        return np.asarray(self.reconstruction_map(**options)(points))

    def known_data(self) -> npt.NDArray[np.float64]:
        """The data, refused where they are not known.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.known_data().shape
        (40, 4)
        """
        if self.data is None:
            cure = "Embed with dreval.embed, or give the record its data: dataclasses.replace(embedding, data=X)."
            raise InputError("data", "must be known to map between data and embedding", "none", cure)
        return self.data

    def _map(self, name: str, first: Any, second: Any, columns: Any, **options: Any) -> Any:
        """A map of the geometry; made once."""
        key = (name, *sorted(options.items()))
        if key not in self._kept:
            made = call(f"Embedding.{name}", first, second, **options)
            self._kept[key] = replace(made, columns=columns)
        return self._kept[key]

    def __repr__(self) -> str:
        return f"Embedding({printable(self.method)}: {self.shape[0]} points, {self.shape[1]} components)"
