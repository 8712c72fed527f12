"""Score the points of a t-SNE map by its loss: singularity and perturbation scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse

from dreval._check import FloatArray, IntArray, check_bool, check_float, check_one_of, describe
from dreval._check_arrays import check_finite
from dreval._parallel import open_progress
from dreval.analyses._analysis import analysis
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.distances import nearest
from dreval.geometry.graphs import connected_parts
from dreval.geometry.tsne import (
    MAX_RELATIVE_STEP,
    MAX_RELATIVE_WIDTH,
    STEPS,
    Affinities,
    EndReason,
    ListedAffinities,
    LossParts,
    NeighborAffinities,
    PairAffinities,
    allowed_perplexity,
    loss_parts,
    move_to_minimum,
    nearest_image,
    perturbed_distances,
)
from dreval.glossary import DATA_METRICS
from dreval.inputs.data import Data, as_data
from dreval.inputs.features import densify, is_sparse
from dreval.inputs.source import as_source, warn_of_columns
from dreval.inputs.variables import warn_of_guesses
from dreval.records.points import PerturbationScore, SingularityScore
from dreval.records.provenance import provenance

MAX_ASYMMETRY = 1e-5  # of p_ij and p_ji, relative to the largest: tools compute them in single precision


GRADIENT_ENDED: dict[EndReason, tuple[str, str]] = {  # why polishing ended without a minimum, and a hint
    "wide": (
        f"the map had grown to {MAX_RELATIVE_WIDTH:g} times its width",
        (
            "Use `local_distortion`, which needs no minimum: between clusters far apart, or at a small perplexity, the "
            "loss may fall for as long as the map expands."
        ),
    ),
    "steps": (
        f"no more than {STEPS} are made",
        "Run the program that made the map longer, so that it ends nearer to a minimum.",
    ),
    "flat": (
        "no shorter step decreased the loss either",
        (
            "Run the program that made the map longer, or from another start: this one ends at a saddle, or where the "
            "loss has no digits left."
        ),
    ),
}


def check_minimum(parts: LossParts, near: float, ended: EndReason | None = None, steps: int = 0) -> None:
    """Raise if a map is not a local minimum of the loss for each point; ``ended`` says why polishing ended."""
    saddle = int((parts.spectra[0][:, 0] <= 0).sum())
    farthest = float(parts.own_steps[np.isfinite(parts.own_steps)].max(initial=0.0)) / near
    if not saddle and farthest <= MAX_RELATIVE_STEP:
        return
    n = len(parts.own_steps)
    allowed = f"{MAX_RELATIVE_STEP:g} is allowed"
    received = f"Newton steps of up to {farthest:.2g} of the distance to the nearest point, where {allowed}"
    if saddle:
        received = f"{saddle} of {n} points at which the loss has no minimum, and {received}"
    if ended in GRADIENT_ENDED:
        reason, hint = GRADIENT_ENDED[ended]
        received = f"{received}, after {steps} Newton steps of all points: {reason}"
    else:
        hint = (
            "Pass the perplexity and the {affinities} that the map was made with, in the unit in which it was made, or "
            "the coordinates of `singularity_score(..., polish=True)`, which moves the map to a minimum."
        )
    requirement = "must be a local minimum of the loss of t-SNE for each point"
    raise UndefinedMeasure("Y", requirement, received, hint, affinities="affinities")


def data_and_map(X: Any, Y: Any, metric: str) -> tuple[Data, FloatArray]:
    """Return data and map in normal form."""
    data = as_data(X, metric=check_one_of(metric, DATA_METRICS, "metric", aliases=True))
    source = as_source(Y, "Y", data)
    warn_of_columns(source.notes, {source.argument: "Y"})
    warn_of_guesses((*data.notes, *source.notes), {source.argument: "Y", "data": "X"})
    return data, np.ascontiguousarray(source.coordinates(data), np.float64)


def joint_affinities(
    data: Data, perplexity: float, affinities: Any, metric: str, n_jobs: int | None
) -> tuple[Affinities, dict[str, Any]]:
    """Return the affinities, and their parameters for the recipe."""
    if affinities is None or isinstance(affinities, str):
        if affinities is not None:
            check_one_of(affinities, ("neighbors",), "affinities", aliases=True)
        perplexity = allowed_perplexity(perplexity, data.n)
        parameters: dict[str, Any] = {"perplexity": perplexity, "affinities": affinities, "metric": metric}
        if affinities is None:
            return PairAffinities(data.X, perplexity, metric, n_jobs), parameters
        if metric != "euclidean":
            hint = "Leave affinities out, or pass the matrix of the program."
            raise InputError("metric", "must be 'euclidean' with {a}", repr(metric), hint, a="affinities")
        points = densify(data.X, "X")[0] if is_sparse(data.X) else data.X
        return _connected(NeighborAffinities(points, perplexity, n_jobs)), parameters
    shape = getattr(affinities, "shape", None)
    if not (issparse(affinities) or isinstance(affinities, np.ndarray)) or shape != (data.n, data.n):
        hint = f"Pass None, 'neighbors' or a sparse matrix of shape ({data.n}, {data.n})."
        raise InputError("affinities", "must be a square matrix with a row per point", describe(affinities), hint)
    P = csr_array(affinities, dtype=np.float64, copy=True)
    P.sum_duplicates()
    check_finite(P, "affinities")
    largest, is_negative = float(P.data.max(initial=0.0)), P.data.min(initial=0.0) < 0
    if is_negative or largest == 0 or P.diagonal().any():
        requirement = "must have entries >= 0, some above 0, and a diagonal of zeros"
        received = "a negative entry" if is_negative else "zeros only" if largest == 0 else "another diagonal"
        raise InputError("affinities", requirement, received, "Pass the joint P.")
    asymmetry = float(np.abs((P - P.T).data).max(initial=0.0)) / largest
    if asymmetry > MAX_ASYMMETRY:
        received = f"a matrix whose entries differ from their mirror images by up to {asymmetry:.2g} of the largest"
        raise InputError("affinities", "must be symmetric", received, "For conditional probabilities pass P + P.T.")
    P = csr_array((P + P.T) / (2.0 * P.sum()))
    P.sort_indices()
    return _connected(ListedAffinities(P, n_jobs)), {"affinities": f"matrix with {P.nnz} entries"}


def _connected(P: ListedAffinities) -> ListedAffinities:
    """Return the affinities if they join all points; otherwise raise, since parts repel each other at any distance."""
    edges = csr_matrix(P.matrix, copy=True)
    edges.eliminate_zeros()
    count, parts = connected_parts(edges)
    if count == 1:
        return P
    sizes = np.sort(np.bincount(parts))[::-1]
    size_text = ", ".join(f"{size:,}" for size in sizes[:5]) + (", ..." if count > 5 else "")
    requirement = "must join all points, else the loss falls for as long as parts move apart, and no map is its minimum"
    hint = "Choose a larger perplexity, or score the map with the affinities of all pairs, which join the parts."
    raise UndefinedMeasure("affinities", requirement, f"{count} parts of {size_text} points", hint)


PERTURBATION_DIRECTIONS = 3  # principal components, along which points are moved


@analysis(
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
    r"""Measure how far each point of a t-SNE map moves when it is moved a little in the data.

    One point at a time is moved along each of the first three principal components of the data, both ways. With the
    affinities P of the moved point its new place minimizes

    .. math:: L_i(y) = 2 \sum_j P_{ij} \log(1 + |y - y_j|^2) + \log Z(y)

    while all other points keep theirs. The moved point has a new bandwidth, the others keep theirs, and their
    conditional affinities are divided by the new sums. With ``affinities="neighbors"`` all have their nearest neighbors
    after the move: the moved point enters those of another point in place of the last, or leaves them to the next. The
    score is the largest distance over the directions,

    .. math:: p_i = \max_{v \in \{\pm PC_1, \pm PC_2, \pm PC_3\}} |\hat y(x_i + \lambda v) - y_i| .

    Searches begin at the place of the point and at those of the two points with most affinity to it, by Newton steps;
    the lowest minimum counts. A large score means that the map has a gap where the data have none.

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
        If the map is not a local minimum of the loss, or there is none; see ``singularity_score``.
    InputError
        If an argument is invalid.

    Warns
    -----
    ApproximationWarning
        If the perplexity is more than a third of the number of other points, which is then used.

    Warnings
    --------
    A low score is not evidence that distances or clusters are right: it says that the point stays, given the places of
    all other points of this map.

    See Also
    --------
    singularity_score : how flat the loss is around each point; a hundred times as fast.
    local_distortion : how every neighborhood is stretched, for embeddings of any method.

    Notes
    -----
    The score is computed without random numbers. The authors' program ignores its argument ``length``; this function
    uses it.

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
    rows = _chosen_points(points, data.n)
    if not (affinities is None or isinstance(affinities, str)):
        hint = "Leave it out, or pass 'neighbors': both are computed again for the moved point, from X and perplexity."
        raise InputError("affinities", "must be None or 'neighbors'", describe(affinities), hint)
    P, parameters = joint_affinities(data, perplexity, affinities, "euclidean", n_jobs)
    parts, near = loss_parts(P, Y), nearest_image(Y)
    check_minimum(parts, near)
    dense = densify(data.X, "X")[0] if is_sparse(data.X) else data.X
    centered = dense - dense.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:PERTURBATION_DIRECTIONS].T
    unit = float(np.sqrt(nearest(dense, 1, n_jobs=n_jobs)[1]).mean())
    if not isinstance(P, PairAffinities | NeighborAffinities):
        raise TypeError("affinities that can be computed again are needed")
    distances = perturbed_distances(P, Y, parts, centered @ axes, length * unit, rows, progress)
    values, direction = np.full(data.n, np.nan), np.full(data.n, "", dtype="U4")
    names = np.array([f"{sign}PC{c + 1}" for c in range(axes.shape[1]) for sign in "+-"])
    values[rows], direction[rows] = distances.max(axis=1), names[distances.argmax(axis=1)]
    settings = {"perplexity": parameters["perplexity"], "affinities": affinities, "length": length}
    recipe = provenance(settings, n=data.n, p=data.p)
    return PerturbationScore(values, direction, Y, length, unit, recipe=recipe)


def _chosen_points(points: Any, n: int) -> IntArray:
    """Return the points to move: all, or those of a list."""
    if points is None:
        return np.arange(n)
    rows = np.asarray(points)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not rows.size:
        raise InputError("points", "must be a list of point numbers", describe(points), "Pass integers.")
    if rows.min() < 0 or rows.max() >= n or len(np.unique(rows)) < len(rows):
        received = f"numbers from {rows.min()} to {rows.max()}, {len(np.unique(rows))} of {len(rows)} different"
        raise InputError("points", f"must be different and from 0 to {n - 1}", received, "Leave out what does not fit.")
    return rows.astype(np.int64)


@analysis(
    title="Singularity score",
    question="Where does this t-SNE map tear: which points could almost as well lie elsewhere?",
    direction="higher is less stable: 1 over the smallest second derivative of the loss in the place of the point",
    caution="A low score is not evidence that distances or clusters are right: it says that the place of the point is "
    "stable, given the affinities and all other points of this map. Maps with other perplexities minimize other "
    "losses.",
    cost="O(n^2 (p + d^2)) time and O(n) memory, without a re-run; with polish=True hundreds to thousands of times "
    "O(n^2 d) more.",
    reference="@liu2025.",
)
def singularity_score(
    X: Any,
    Y: Any,
    *,
    perplexity: float = 30.0,
    affinities: Any = None,
    polish: bool = False,
    metric: str = "euclidean",
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> SingularityScore:
    r"""Measure where a t-SNE map tears: how flat the loss is around each point.

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
        The map, in the unit in which t-SNE made it: a rescaled map is not a minimum of the loss. Usually d = 2.
    perplexity : float, default 30.0
        The perplexity with which the map was made.
    affinities : None, "neighbors" or (n, n) sparse matrix
        None: of all pairs, as in exact t-SNE. "neighbors": those of the nearest neighbors, three times the perplexity,
        as ``dreval.methods.TSNE`` and programs by Barnes-Hut or interpolation take. Or the P of the program, symmetric,
        of any positive sum; the perplexity is then not used.
    polish : bool, default False
        Whether Newton steps move the map to the local minimum near it before it is scored; at most 100 steps, each of
        which decreases the loss. The record holds how far each point was moved.
    metric : str, default "euclidean"
        Distance in the data space; the affinities depend on its squares.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool, optional
        Progress bar on stderr of Newton steps, of which there are 100 at most; by default after two seconds, on a
        terminal.

    Returns
    -------
    SingularityScore
        ``values`` (n,) and ``per_n``, which compares across numbers of points; the smallest eigenvalue, the remaining
        Newton step, and how far each point was moved. ``augment()`` is a table of the points.

    Raises
    ------
    UndefinedMeasure
        If the map is not a local minimum of the loss: where an eigenvalue is not positive, or where the Newton step of
        a point, :math:`|H_{ii}^{-1} G_i|`, is more than 0.001 of the median distance in the map to the nearest point.
        If the affinities are in parts that no affinity joins: the loss then has no minimum.
    InputError
        If an argument is invalid.

    Warns
    -----
    ApproximationWarning
        If the perplexity is more than a third of the number of other points, which is then used.

    Warnings
    --------
    A low score is not evidence that distances or clusters are right: it says that the place of the point is stable,
    given the affinities and all other points of this map. Maps with other perplexities minimize other losses.

    See Also
    --------
    perturbation_score : how far a point moves in the map when it is moved a little in the data.
    local_distortion : how every neighborhood is stretched, for embeddings of any method.

    Notes
    -----
    Most maps of a program stop before the minimum and raise an error without ``polish``. Polishing follows the loss,
    which is nearly flat where whole clusters move together: these may move far while neighborhoods stay. It ends
    without a minimum where the map grows to twice its width: for a small perplexity the loss may fall for as long as
    the map expands.

    Student's t with other degrees of freedom than one is not supported, nor is UMAP, which does not minimize the loss
    that it states.

    Cost: of all pairs :math:`O(n^2 (p + d^2))` time, about ten processor seconds for n = 10,000 and p = 50, and O(n)
    memory; of k neighbors about two seconds, and O(n k) memory. Polishing takes hundreds to thousands of products with
    the whole Hessian (30,000 at most), each :math:`O(n^2 d)`. For a map of 1000 points without clusters by the bundled
    method it took 2100 of them and 17 processor seconds with neighbors, 2800 and 38 seconds with all pairs. For
    n = 10,000 one product takes 80 times as long with neighbors, 0.6 seconds, and 2.5 seconds with all pairs. Separate
    clusters take most: of 2500 points in ten of them, 2400 products and three processor minutes did not reach the
    minimum.

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
    data, Y = data_and_map(X, Y, metric)
    P, parameters = joint_affinities(data, perplexity, affinities, metric, n_jobs)
    near, Y_passed, loss_before = nearest_image(Y), Y, None
    if near == 0.0:
        raise UndefinedMeasure("Y", "must have different points", "all points in one place", "Pass the map.")
    if polish:
        loss_before = loss_parts(P, Y).value
        with open_progress(progress) as bar:
            bar.set_description("Newton steps")
            bar.reset(total=STEPS)
            Y, parts, steps, ended = move_to_minimum(P, Y, bar.update)
        near = nearest_image(Y)
        check_minimum(parts, near, ended, steps)
    else:
        parts, steps = loss_parts(P, Y), 0
        check_minimum(parts, near)
    lowest = parts.spectra[0][:, 0]
    return SingularityScore(
        values=1.0 / lowest,
        lambda_min=lowest,
        step_ratio=parts.own_steps / near,
        moved=np.linalg.norm(Y - Y_passed, axis=1),
        coordinates=Y,
        loss=parts.value,
        nearest_distance=near,
        loss_decrease=0.0 if loss_before is None else loss_before - parts.value,
        n_steps=steps,
        recipe=provenance({**parameters, "polish": polish}, n=data.n, p=data.p),
    )
