"""Test the spatial autocorrelation of a number over the nearest neighbors of points: Moran's I."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dreval._check import DEFAULT_NEIGHBORS, FloatArray, check_int
from dreval.errors import InputError
from dreval.geometry.autocorrelation import moran, moran_moments, scaled_values
from dreval.geometry.distances import nearest
from dreval.geometry.kernels import is_classes, varying_points
from dreval.inference.permutation import PermutationNull
from dreval.records.notes import Notes
from dreval.records.tests import IndependenceTest
from dreval.significance._groups import nested
from dreval.significance.base import Resampling, gather, make_record, test


@test(
    title="Moran's I",
    variables="2",
    null=("permutation",),
    statistic="I",
    effect_size="I",
    needs=("coordinates",),
    second="number",
    memory="columns",
    reference="@moran1950; moments of @cliff1981.",
)
def moran_test(
    x: Any,
    y: Any,
    *,
    n_neighbors: int | str = "auto",
    permutation: str = "free",
    blocks: Any = None,
    groups: Any = None,
    n_resamples: int = 999,
    stop_after: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> IndependenceTest:
    r"""Test whether a number of each point is alike among neighbors, more than if it were independent of the position.

    The statistic is Moran's I over the k nearest neighbors :math:`M_k(i)` of each point i,

    .. math:: I = \frac{\sum_i (y_i - \bar y) \frac{1}{k} \sum_{j \in M_k(i)} (y_j - \bar y)}{\sum_i (y_i - \bar y)^2},

    and so is the effect size: about 1 where neighbors have equal numbers, with mean -1 / (n - 1) under independence.
    The test is one-sided: p is small where neighbors are more alike than random points. Being a neighbor is directed,
    and the weights are not made symmetric.

    Parameters
    ----------
    x : (n, p) array or DataFrame
        Positions: the map, or the spatial coordinates of spots or cells of a tissue. Distances are Euclidean.
    y : (n,) array or Series of numbers
        The number of each point, as a gene or the age; frames with equal row names are matched.
    n_neighbors : int or "auto", default "auto"
        Number k of neighbors, below n. "auto" is 15, or n - 1 where n is too small for it.
    %(permutations)s
    %(draws)s

    Returns
    -------
    IndependenceTest
        ``statistic`` and ``effect_size`` I; ``extra``: ``n_neighbors``, ``expected`` (-1 / (n - 1)), ``variance`` and
        ``z``, those of all permutations (randomization), whatever the permutations are restricted to.

    Raises
    ------
    InputError
        If the variables differ in their number of rows, hold NaN, or are constant; if ``y`` holds classes or several
        columns; if a variable is equal under every permitted permutation.

    See Also
    --------
    morans_i : the same value as a measure of an embedding.
    hsic_test, dcov_test : dependence of any form, also of classes.
    mmd_test : two classes.

    Notes
    -----
    Null mean (chance level): -1 / (n - 1), as -0.0101 for n = 100. Permutations move the numbers over fixed positions.
    Where points at equal distances are tied for the last place among the neighbors, as on a grid of spots, the lower
    row number is the neighbor. With ``groups`` neighbors may be of one group (a slide, a donor).

    Cost: the neighbors, O(n log n) for up to 8 columns, then O(n k) for each permutation; memory O(n k). Invariant to
    translation, rotation and scale of ``x``, and to linear maps of ``y``. esda returns the same value with the weights
    ``libpysal.weights.KNN`` (up to ties), which are row-standardized.

    References
    ----------
    Moran (1950), Notes on continuous stochastic phenomena, Biometrika 37, 17-23.
    Cliff & Ord (1981), Spatial processes: models and applications, Pion.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> result = dreval.moran_test(x, x[:, 0], random_state=0)
    >>> round(result.statistic, 3), result.p_value
    (0.702, 0.001)
    """
    resampling = Resampling.of(n_resamples, permutation, blocks, stop_after, random_state, n_jobs, x, groups)
    variables = gather(x, y)
    n = variables.n
    if is_classes(variables.values[1]):
        raise InputError("y", "must be numbers", "classes", "Use hsic_test, which takes classes too.")
    points, column = (varying_points(*side) for side in zip(variables.values, variables.names, strict=True))
    if column.shape[1] > 1:
        hint = "Test one column at a time, or use hsic_test."
        raise InputError("y", "must be one number per row", f"{column.shape[1]} columns", hint)
    is_auto = isinstance(n_neighbors, str) and n_neighbors.lower() == "auto"
    k = min(DEFAULT_NEIGHBORS, n - 1) if is_auto else check_int(n_neighbors, "n_neighbors", low=1, high=n - 1)
    neighbors, values = nearest(points, k, n_jobs=n_jobs)[0], scaled_values(column[:, 0])
    resampling, group = nested(resampling, variables)
    expected, variance = moran_moments(values, neighbors)
    group_notes: Notes = ()
    result: PermutationNull
    if group is None:
        scheme = resampling.scheme(n, variables.values, variables.names)
        result = resampling.run(lambda orders: moran(values[orders], neighbors), scheme, "moran", 1e-12)
    else:
        result, group_notes = group.run(_over_groups(values, group.rows, group.codes, neighbors), "moran", 1e-12)
    spread = math.sqrt(variance) if variance > 0 else math.nan
    moments = {"expected": expected, "variance": variance, "z": (result.observed - expected) / spread}
    return make_record(
        moran_test.card,
        result,
        n=n,
        resampling=resampling,
        effect_size=result.observed,
        extra={"n_neighbors": k, **moments},
        parameters={"n_neighbors": k},
        notes=(*variables.notes, *group_notes),
        labels=variables.labels,
        alternative=" (against neighbors that are alike)",
    )


def _over_groups(values: FloatArray, rows: Any, codes: Any, neighbors: Any) -> Any:
    """Return Moran's I as a function of orders of the groups, whose values move as wholes."""
    of_groups = values[rows]
    return lambda orders: moran(of_groups[np.asarray(orders)][:, codes], neighbors)
