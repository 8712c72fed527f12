"""The perturbation score of t-SNE: where a map pulls apart what belongs together."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval._check import IntArray, check_float, describe
from dreval.errors import InputError
from dreval.geometry.neighbors import nearest
from dreval.geometry.tsne_loss import NeighborAffinities, PairAffinities, loss_parts, nearest_image, perturbed_distances
from dreval.inputs.analysis import made_by, score
from dreval.inputs.features import densify, is_sparse
from dreval.records.point_scores import PerturbationScore
from dreval.scores._tsne import check_minimum, data_and_map, joint_affinities

DIRECTIONS = 3  # principal components, along which points are moved


@score(
    title="Perturbation score",
    question="Which points of this t-SNE map would go far if they were moved a little in the data?",
    direction="higher is less stable: the distance that the point goes in the map",
    caution="A low score is not evidence that distances or clusters are right: it says that the point stays, given the "
    "places of all other points of this map.",
    cost="O(300 n m) time with a large factor for m points, about 15 processor seconds for n = m = 1000; O(n) memory; "
    "without a re-run.",
    reference="@liu2025.",
)
def perturbation_score(
    X: Any,
    Y: Any,
    *,
    perplexity: float = 30.0,
    affinities: str | None = None,
    length: float = 1.0,
    points: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> PerturbationScore:
    r"""Where a t-SNE map pulls apart what belongs together: how far a point goes when it is moved a little in the data.

    One point at a time is moved along each of the first three principal components of the data, both ways. With the
    affinities P of the moved point its new place minimizes

    .. math:: L_i(y) = 2 \sum_j P_{ij} \log(1 + |y - y_j|^2) + \log Z(y)

    while all other points keep theirs. The moved point has a new bandwidth, the others keep theirs, and their
    conditional affinities are divided by the new sums. With ``affinities="neighbors"`` all have their nearest neighbors
    after the move: the moved point enters those of another point in place of the last, or leaves them to the next. The
    score is the largest distance over the directions,

    .. math:: p_i = \max_{v \in \{\pm PC_1, \pm PC_2, \pm PC_3\}} |\hat y(x_i + \lambda v) - y_i| .

    Searches begin at the point's own place and at those of the two points with most affinity to it, by Newton steps;
    the lowest minimum counts. A large score says that the map puts a gap where the data have none.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data from which the map was made; rows are points. Distances are Euclidean.
    Y : (n, d) array, DataFrame or path
        The map, in the unit in which t-SNE made it; a minimum of the loss, as the ``coordinates`` of
        ``singularity_score(X, Y, polish=True)`` are.
    perplexity : float, default 30.0
        The perplexity with which the map was made.
    affinities : None or "neighbors"
        None: of all pairs, as in exact t-SNE. "neighbors": those of the nearest neighbors, three times the perplexity,
        as ``dreval.methods.TSNE`` and programs by Barnes-Hut or interpolation take. The matrix of a program cannot be
        computed for a moved point.
    length : float, default 1.0
        :math:`\lambda` in units of the mean distance to the nearest neighbor in the data.
    points : array of int, optional
        The points to move; all by default.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool, optional
        Progress bar on stderr, of the points; by default after two seconds, on a terminal.

    Returns
    -------
    PerturbationScore
        ``values`` (n,), and the direction that gave each. ``augment()`` is a table of the points.

    Raises
    ------
    UndefinedMeasure
        If the map is no local minimum of the loss, or there is none; see ``singularity_score``.
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

    Warnings
    --------
    A low score is not evidence that distances or clusters are right: it says that the point stays, given the places of
    all other points of this map.

    Notes
    -----
    The score is computed without random numbers. The authors' program ignores its argument ``length``; here it
    acts.

    Cost: about 300 evaluations of the loss of a point, each O(n), for each point: about fifteen processor seconds for
    all of 1000 points, and a hundred times as much for 10,000; O(n) memory, with k neighbors O(n k).

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
    data, Y = data_and_map(X, Y, "euclidean")
    rows = _chosen(points, data.n)
    if not (affinities is None or isinstance(affinities, str)):
        cure = "Leave it out, or pass 'neighbors': both are computed again for the moved point, from X and perplexity."
        raise InputError("affinities", "must be None or 'neighbors'", describe(affinities), cure)
    P, words = joint_affinities(data, perplexity, affinities, "euclidean", n_jobs)
    parts, near = loss_parts(P, Y), nearest_image(Y)
    check_minimum(parts, near)
    dense = densify(data.X, "X")[0] if is_sparse(data.X) else data.X
    centered = dense - dense.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:DIRECTIONS].T
    unit = float(np.sqrt(nearest(dense, 1, n_jobs=n_jobs)[1]).mean())
    if not isinstance(P, PairAffinities | NeighborAffinities):
        raise TypeError("affinities that can be computed again are needed")
    found = perturbed_distances(P, Y, parts, centered @ axes, length * unit, rows, progress)
    values, direction = np.full(data.n, np.nan), np.full(data.n, "", dtype="U4")
    names = np.array([f"{sign}PC{c + 1}" for c in range(axes.shape[1]) for sign in "+-"])
    values[rows], direction[rows] = found.max(axis=1), names[found.argmax(axis=1)]
    given = {"perplexity": words["perplexity"], "affinities": affinities, "length": length}
    return PerturbationScore(values, direction, Y, length, unit, recipe=made_by(data, given))


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
