"""Conformal Isomap: Isomap on edges measured in units of the local distances."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.geometry.distances import nearest
from dreval.geometry.graphs import geodesics
from dreval.methods._local import GraphMethod
from dreval.methods._method import FloatArray, method
from dreval.methods._spectral import principal_coordinates


@method(
    title="Conformal Isomap",
    family="geodesic distances",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n^2 (k + log n + d)) time, O(n^2) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@desilva2003, Section 3.",
)
class ConformalIsomap(GraphMethod):
    r"""Conformal Isomap: classical scaling of path lengths in units of the local spacing of the points.

    The edge between i and j has the length :math:`|x_i - x_j| / \sqrt{M_i M_j}`, where :math:`M_i` is the mean distance
    of point i to its k nearest neighbors. Where points are drawn uniformly and then stretched by a smooth factor that
    varies from place to place, the spacing varies with it, so that the embedding before the stretching is recovered.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    n_neighbors : int
        Number k of neighbors; with fewer points all others are taken, with a warning.
    %(disconnected)s
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, centered; in units of the local spacing. In each column the entry of largest size is positive.
    eigenvalues_ : ndarray (d,)
        The d largest eigenvalues of the centered matrix, descending; they may be negative.
    geodesics_ : ndarray (n, n)
        Lengths of the shortest paths, in that unit.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s
    DegenerateDataWarning
        If one of the d leading eigenvalues is negative; its column is 0.

    See Also
    --------
    dreval.methods.Isomap : the same with edges in the unit of the data.
    dreval.methods.ConformalEigenmaps : keeps angles, from local weights.

    Notes
    -----
    %(cost)s

    There is no ``radius``: the mean distance within a ball follows the radius, not the local spacing, so that balls
    would not correct the stretching. The embedding does not depend on the scale of the data. A point all of whose
    neighbors are its copies gets the smallest positive mean distance of the others. Cost as for Isomap.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=400, random_state=0).data
    >>> dreval.methods.ConformalIsomap(n_components=2, n_neighbors=7).fit_transform(X).shape
    (400, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int = 7
    disconnected: str = "connect"
    random_state: int | np.random.Generator | None = None

    def _fit_connected(self, X: FloatArray, graph: Any, _: Any) -> None:
        spacing = np.sqrt(nearest(X, int(self._near.k or 0))[1]).mean(axis=1)
        spacing[spacing == 0] = spacing[spacing > 0].min() if spacing.any() else 1.0
        graph = graph.copy()
        rows = np.repeat(np.arange(len(X)), np.diff(graph.indptr))
        graph.data /= np.sqrt(spacing[rows]) * np.sqrt(spacing[graph.indices])
        self.geodesics_ = geodesics(graph)
        self.embedding_, self.eigenvalues_, _means = principal_coordinates(
            self.geodesics_**2, self.n_components, type(self).__name__
        )
