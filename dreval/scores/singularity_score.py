"""The singularity score of t-SNE: where a map tears."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval._check import check_bool
from dreval._parallel import open_progress
from dreval.errors import UndefinedMeasure
from dreval.geometry.tsne_loss import STEPS, loss_parts, nearest_image, polished
from dreval.inputs.analysis import made_by, score
from dreval.records.point_scores import SingularityScore
from dreval.scores._tsne import check_minimum, data_and_map, joint_affinities


@score(
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
        If the map is no local minimum of the loss: where an eigenvalue is not positive, or where a point's own Newton
        step :math:`|H_{ii}^{-1} G_i|` is more than 0.001 of the median distance in the map to the nearest point. If
        the affinities are in parts that none joins: the loss then has no minimum.
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

    Warnings
    --------
    A low score is not evidence that distances or clusters are right: it says that the place of the point is stable,
    given the affinities and all other points of this map. Maps with other perplexities minimize other losses.

    Notes
    -----
    Most maps of a program stop before the minimum and are refused without ``polish``. Polishing follows the loss, which
    is nearly flat where whole clusters move together: these may move far while neighborhoods stay. It ends without a
    minimum where the map grows to twice its width: for a small perplexity the loss may fall for as long as the map
    expands.

    Student's t with other degrees of freedom than one is not
    supported, nor is UMAP, which does not minimize the loss that it states.

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
    P, words = joint_affinities(data, perplexity, affinities, metric, n_jobs)
    near, given, before = nearest_image(Y), Y, None
    if near == 0.0:
        raise UndefinedMeasure("Y", "must have different points", "all points in one place", "Pass the map.")
    if polish:
        before = loss_parts(P, Y).value
        with open_progress(progress) as bar:
            bar.set_description("Newton steps")
            bar.reset(total=STEPS)
            Y, parts, steps, ended = polished(P, Y, bar.update)
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
        moved=np.linalg.norm(Y - given, axis=1),
        coordinates=Y,
        loss=parts.value,
        nearest_distance=near,
        loss_decrease=0.0 if before is None else before - parts.value,
        n_steps=steps,
        recipe=made_by(data, {**words, "polish": polish}),
    )
