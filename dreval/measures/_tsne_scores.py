"""Scores of points from the loss of t-SNE: where a map tears, and where it pulls apart what belongs together.

They are not among the measures of an evaluation: only a map that is a local minimum of this loss has them, so that
every other embedding of a table would have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from dreval._check import (
    FloatArray,
    IntArray,
    check_bool,
    check_finite,
    check_float,
    check_one_of,
    describe,
    keywords_checked,
)
from dreval.errors import DrevalError, InputError, UndefinedMeasure
from dreval.geometry.affinities import allowed_perplexity
from dreval.geometry.neighbors import nearest
from dreval.geometry.tsne_loss import (
    ALLOWED,
    Affinities,
    ListedAffinities,
    LossParts,
    PairAffinities,
    loss_parts,
    nearest_image,
    perturbed_distances,
    polished,
)
from dreval.glossary import METRICS
from dreval.inputs.data import Data, as_data
from dreval.inputs.features import densify, is_sparse
from dreval.inputs.source import as_source
from dreval.records.point_scores import PerturbationScore, SingularityScore

DIRECTIONS = 3  # principal components, along which points are moved
SYMMETRY = 1e-5  # difference of p_ij and p_ji, relative to the largest: tools compute them in single precision


@keywords_checked
def singularity_score(
    X: Any,
    Y: Any,
    *,
    perplexity: float = 30.0,
    affinities: Any = None,
    polish: bool = False,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> SingularityScore:
    r"""Where a t-SNE map tears: how soft the loss is about the place of each point.

    With affinities P of sum 1, :math:`d_{ij} = y_i - y_j`, :math:`q_{ij} = 1 / (1 + |d_{ij}|^2)` and Z their sum, the
    loss of t-SNE is :math:`L = -\sum P_{ij} \log q_{ij} + \log Z` up to a constant. In the place of one point it has
    the gradient and the second derivatives

    .. math:: G_i &= 4 \sum_j P_{ij} q_{ij} d_{ij} - \frac{4}{Z} g_i, \qquad g_i = \sum_j q_{ij}^2 d_{ij}, \\
              H_{ii} &= \sum_j \Bigl[4 P_{ij} q_{ij} - \frac{4}{Z} q_{ij}^2\Bigr] I
              - \sum_j \Bigl[8 P_{ij} q_{ij}^2 - \frac{16}{Z} q_{ij}^3\Bigr] d_{ij} d_{ij}'
              - \frac{16}{Z^2} g_i g_i' .

    The score is :math:`s_i = 1 / \lambda_{\min}(H_{ii})`. It is large where a small change of the data lets the point
    jump: points between clusters that the map separates although the data are connected there.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data from which the map was made; rows are points.
    Y : (n, d) array, DataFrame or path
        The map, in the unit in which t-SNE made it: a rescaled map is no minimum of the loss. Usually d = 2.
    perplexity : float, default 30.0
        The perplexity with which the map was made.
    affinities : None, "neighbors" or (n, n) sparse matrix
        None: of all pairs, as in exact t-SNE. "neighbors": those of the nearest neighbors, three times the perplexity,
        as ``dreval.methods.TSNE`` and programs by Barnes-Hut or interpolation take. Or the P of the program, symmetric,
        of any positive sum; the perplexity is then not used.
    polish : bool, default False
        Whether Newton steps first move the map to the local minimum near it; at most 100 of them, each of which
        decreases the loss. The record says how far each point was moved.
    metric : str, default "euclidean"
        Distance in the data space, whose squares the affinities are made of.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.

    Returns
    -------
    SingularityScore
        ``values`` (n,) and ``per_n``, which compares across numbers of points; the smallest eigenvalue, the remaining
        Newton step, and how far each point was moved. ``augment()`` is a table of the points.

    Raises
    ------
    UndefinedMeasure
        If the map is no local minimum of the loss: where an eigenvalue is not positive, or where a point's own Newton
        step :math:`|H_{ii}^{-1} G_i|` is more than 0.001 of the median distance in the map to the nearest point.
    InputError
        If an argument breaks its rule.

    Warns
    -----
    ApproximationWarning
        If the perplexity is more than a third of the number of other points, which is then used.

    See Also
    --------
    perturbation_score : where the map pulls apart what belongs together.
    local_distortion : how every neighborhood is stretched, for embeddings of any method.

    Notes
    -----
    Most maps of a program stop before the minimum and are refused without ``polish``. Polishing follows the loss, which
    is nearly flat where whole clusters move together: these may move far while neighborhoods stay. It ends without a
    minimum where the map grows to twice its width: for a small perplexity, or parts of the data that no affinities
    connect, the loss falls for as long as the map expands.

    A score says where this map is unstable under small changes of the data, given its own affinities. A low score is
    not evidence that distances or clusters are right. Student's t with other degrees of freedom than one is not
    supported, nor is UMAP, which does not minimize the loss that it states.

    Cost: :math:`O(n^2 (p + d^2))` time, about ten processor seconds for n = 10,000 and p = 50, and O(n) memory.
    Polishing takes hundreds to thousands of products with the whole Hessian, each :math:`O(n^2 d)`: seconds for
    n = 1000, and a hundred times as much for n = 10,000.

    References
    ----------
    Liu, Z., Ma, R., & Zhong, Y. (2025). Assessing and improving reliability of neighbor embedding methods: a
    map-continuity perspective. *Nature Communications* 16, 5037.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> Y = dreval.methods.TSNE(perplexity=15, random_state=0).fit_transform(X)
    >>> score = dreval.singularity_score(X, Y, perplexity=15, affinities="neighbors", polish=True)
    >>> score.values.shape, bool((score.lambda_min > 0).all()), bool(score.step_ratio.max() <= 1e-3)
    ((90,), True, True)
    """
    check_bool(polish, "polish")
    data, Y = _points(X, Y, metric)
    P, words = _affinities(data, perplexity, affinities, metric, n_jobs)
    near, given, before = nearest_image(Y), Y, None
    if near == 0.0:
        raise UndefinedMeasure("Y", "must have different points", "all points in one place", "Pass the map.")
    if polish:
        before = loss_parts(P, Y).value
        Y, parts, steps = polished(P, Y, near)
        near = nearest_image(Y)
    else:
        parts, steps = loss_parts(P, Y), 0
    check_minimum(parts, near, polish)
    lowest = parts.spectra[0][:, 0]
    return SingularityScore(
        values=1.0 / lowest,
        lambda_min=lowest,
        step_ratio=parts.own_steps / near,
        moved=np.linalg.norm(Y - given, axis=1),
        coordinates=Y,
        loss=parts.value,
        nearest_distance=near,
        loss_decrease=0.0 if before is None else before - parts.value,
        n_steps=steps,
        recipe=_recipe(data, {**words, "polish": polish}),
    )


@keywords_checked
def perturbation_score(
    X: Any,
    Y: Any,
    *,
    perplexity: float = 30.0,
    length: float = 1.0,
    points: Any = None,
    n_jobs: int | None = None,
) -> PerturbationScore:
    r"""Where a t-SNE map pulls apart what belongs together: how far a point goes when it is moved a little in the data.

    One point at a time is moved along each of the first three principal components of the data, both ways. With the
    affinities P of the moved point, where the other points keep their bandwidths, its new place minimizes

    .. math:: L_i(y) = 2 \sum_j P_{ij} \log(1 + |y - y_j|^2) + \log Z(y)

    while all other points keep theirs. The score is the largest distance over the directions,

    .. math:: p_i = \max_{v \in \{\pm PC_1, \pm PC_2, \pm PC_3\}} |\hat y(x_i + \lambda v) - y_i| .

    Searches begin at the point's own place and at those of the two points with most affinity to it, by Newton steps;
    the lowest minimum counts. A large score says that the map puts a gap where the data have none.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data from which the map was made; rows are points. Distances are Euclidean.
    Y : (n, d) array, DataFrame or path
        The map, in the unit in which t-SNE made it; a minimum of the loss with affinities of all pairs, as
        ``singularity_score(X, Y, polish=True).coordinates`` is.
    perplexity : float, default 30.0
        The perplexity with which the map was made.
    length : float, default 1.0
        :math:`\lambda` in units of the mean distance to the nearest neighbor in the data.
    points : array of int, optional
        The points to move; all by default.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.

    Returns
    -------
    PerturbationScore
        ``values`` (n,), and the direction that gave each. ``augment()`` is a table of the points.

    Raises
    ------
    UndefinedMeasure
        If the map is no local minimum of the loss; see ``singularity_score``.
    InputError
        If an argument breaks its rule.

    Warns
    -----
    ApproximationWarning
        If the perplexity is more than a third of the number of other points, which is then used.

    See Also
    --------
    singularity_score : how soft the loss is about the place of each point; a hundred times as fast.
    local_distortion : how every neighborhood is stretched, for embeddings of any method.

    Notes
    -----
    The score is computed without random numbers. The authors' program ignores its argument ``length``; here it acts. A
    low score is not evidence that distances or clusters are right.

    Cost: about 300 evaluations of the loss of a point, each O(n), for each point: about fifteen processor seconds for
    all of 1000 points, and a hundred times as much for 10,000; O(n) memory.

    References
    ----------
    Liu, Z., Ma, R., & Zhong, Y. (2025). Assessing and improving reliability of neighbor embedding methods: a
    map-continuity perspective. *Nature Communications* 16, 5037.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> Y = dreval.methods.TSNE(perplexity=20, random_state=0).fit_transform(X)
    >>> Y = dreval.singularity_score(X, Y, perplexity=20, polish=True).coordinates
    >>> score = dreval.perturbation_score(X, Y, perplexity=20)
    >>> score.values.shape, bool((score.values > 0).all())
    ((90,), True)
    """
    length = check_float(length, "length", low=0.0)
    data, Y = _points(X, Y, "euclidean")
    rows = _chosen(points, data.n)
    P, words = _affinities(data, perplexity, None, "euclidean", n_jobs)
    parts, near = loss_parts(P, Y), nearest_image(Y)
    check_minimum(parts, near, False)
    dense = densify(data.X, "X")[0] if is_sparse(data.X) else data.X
    centered = dense - dense.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:DIRECTIONS].T
    unit = float(np.sqrt(nearest(dense, 1, n_jobs=n_jobs)[1]).mean())
    if not isinstance(P, PairAffinities):
        raise TypeError("affinities of all pairs are needed")
    found = perturbed_distances(P, Y, parts, centered @ axes, length * unit, rows)
    values, direction = np.full(data.n, np.nan), np.full(data.n, "", dtype="U4")
    names = np.array([f"{sign}PC{c + 1}" for c in range(axes.shape[1]) for sign in "+-"])
    values[rows], direction[rows] = found.max(axis=1), names[found.argmax(axis=1)]
    given = {"perplexity": words["perplexity"], "length": length}
    return PerturbationScore(values, direction, Y, length, unit, recipe=_recipe(data, given))


def _chosen(points: Any, n: int) -> IntArray:
    """The points to move: all, or those of a list."""
    if points is None:
        return np.arange(n)
    rows = np.asarray(points)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not rows.size:
        raise InputError("points", "must be a list of point numbers", describe(points), "Pass integers.")
    if rows.min() < 0 or rows.max() >= n or len(np.unique(rows)) < len(rows):
        got = f"numbers from {rows.min()} to {rows.max()}, {len(np.unique(rows))} of {len(rows)} different"
        raise InputError("points", f"must be different and from 0 to {n - 1}", got, "Leave out what does not fit.")
    return rows.astype(np.int64)


def check_minimum(parts: LossParts, near: float, moved: bool) -> None:
    """Refuse a map that is no local minimum of the loss in the place of each point."""
    saddle = int((parts.spectra[0][:, 0] <= 0).sum())
    farthest = float(parts.own_steps[np.isfinite(parts.own_steps)].max(initial=0.0)) / near
    if not saddle and farthest <= ALLOWED:
        return
    n = len(parts.own_steps)
    got = f"Newton steps of up to {farthest:.2g} of the distance to the nearest point, where {ALLOWED:g} is allowed"
    got = f"{saddle} of {n} points at which the loss has no minimum, and {got}" if saddle else got
    if moved:
        cure = (
            "Run the program that made the map longer, or choose a larger perplexity: for a small one, and for "
            "parts of the data that no affinities connect, the loss falls for as long as the map expands."
        )
    else:
        cure = (
            "Pass the perplexity and the {affinities} that the map was made with, in the unit in which it was made, or "
            "the coordinates of `singularity_score(..., polish=True)`, which moves the map to a minimum."
        )
    raise UndefinedMeasure(
        "Y", "must be a local minimum of the loss of t-SNE for each point", got, cure, affinities="affinities"
    )


def _points(X: Any, Y: Any, metric: str) -> tuple[Data, FloatArray]:
    """Data and map in normal form; errors name the arguments."""
    try:
        data = as_data(X, metric=check_one_of(metric, METRICS, "metric", aliases=True))
        source = as_source(Y, "Y", data)
        return data, np.ascontiguousarray(source.coordinates(data), np.float64)
    except DrevalError as error:
        raise error.named({"data": "X", "embeddings['Y']": "Y"}) from error


def _recipe(data: Data, parameters: dict[str, Any]) -> dict[str, Any]:
    """What makes a record again."""
    from dreval import __version__

    versions = {"dreval": __version__, "numpy": np.__version__}
    return {"n": data.n, "p": data.p, "parameters": parameters, "versions": versions}


def _affinities(
    data: Data, perplexity: float, affinities: Any, metric: str, n_jobs: int | None
) -> tuple[Affinities, dict[str, Any]]:
    """The affinities, and the parameters that they stand for in the recipe."""
    if affinities is None or isinstance(affinities, str):
        if affinities is not None:
            check_one_of(affinities, ("neighbors",), "affinities", aliases=True)
        perplexity = allowed_perplexity(perplexity, data.n)
        words: dict[str, Any] = {"perplexity": perplexity, "affinities": affinities, "metric": metric}
        if affinities is None:
            return PairAffinities(data.X, perplexity, metric, n_jobs), words
        if metric != "euclidean":
            cure = "Leave affinities out, or pass the matrix of the program."
            raise InputError("metric", "must be 'euclidean' with {a}", repr(metric), cure, a="affinities")
        points = densify(data.X, "X")[0] if is_sparse(data.X) else data.X
        return ListedAffinities.of_neighbors(points, perplexity, n_jobs), words
    shape = getattr(affinities, "shape", None)
    if not (issparse(affinities) or isinstance(affinities, np.ndarray)) or shape != (data.n, data.n):
        cure = f"Pass None, 'neighbors' or a sparse matrix of shape ({data.n}, {data.n})."
        raise InputError("affinities", "must be a square matrix with a row per point", describe(affinities), cure)
    P = csr_array(affinities, dtype=np.float64, copy=True)
    P.sum_duplicates()
    check_finite(P, "affinities")
    largest = float(P.data.max(initial=0.0))
    if P.data.min(initial=0.0) < 0 or largest == 0 or P.diagonal().any():
        got = (
            "a negative entry" if P.data.min(initial=0.0) < 0 else "zeros only" if largest == 0 else "another diagonal"
        )
        raise InputError(
            "affinities", "must have entries >= 0, some above 0, and a diagonal of zeros", got, "Pass the joint P."
        )
    apart = float(np.abs((P - P.T).data).max(initial=0.0)) / largest
    if apart > SYMMETRY:
        got = f"a matrix whose entries differ from their mirror images by up to {apart:.2g} of the largest"
        raise InputError("affinities", "must be symmetric", got, "For conditional probabilities pass P + P.T.")
    P = csr_array((P + P.T) / (2.0 * P.sum()))
    P.sort_indices()
    return ListedAffinities(P, n_jobs), {"affinities": f"matrix with {P.nnz} entries"}
