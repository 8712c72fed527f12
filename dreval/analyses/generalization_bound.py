"""Bound the error of linear maps on new data by their error on the fitted points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dreval._check import FloatArray, check_float, check_int, describe
from dreval._check_arrays import check_numeric
from dreval._parallel import one_blas_thread
from dreval._random import root_seed, stream
from dreval.analyses._analysis import CALLER_NAMES, analysis
from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.variables import warn_of_guesses
from dreval.measures.reconstruction import bound_terms
from dreval.records.bound import GeneralizationBound
from dreval.records.notes import note
from dreval.records.provenance import provenance

MAX_RADIUS = 1e6  # of the ball, in standard deviations of the points; beyond it rounding reaches the fitted error


@analysis(
    title="Generalization bound",
    question="How large can the reconstruction error of a linear map be on new data, given its error on these?",
    direction="lower is better; from 1 on, the error of the mean alone, the bound says nothing",
    caution="The bound holds for independent points of one distribution within the ball. It is an upper bound, not an "
    "estimate: the error on new data is nearly always far below it.",
    cost="O(m (n r^2 + r^3)) time for m draws, r = min(n, p), O(n p) memory",
    reference="@hammer2010, Section 4. @bartlett2002, Theorem 8.",
)
def generalization_bound(
    X: Any,
    n_components: int = 2,
    *,
    center: Any = None,
    radius: float | None = None,
    conf_level: float = 0.95,
    n_resamples: int = 100,
    random_state: int | np.random.Generator | None = 0,
) -> GeneralizationBound:
    r"""Bound the reconstruction error of every linear map to d dimensions on new data, with its parts.

    Points lie in a ball of radius B about c. The loss of a linear map with the best linear inverse is
    :math:`|x - c|^2 - (x - c)' P (x - c)`, with P a projection of rank d, in [0, B^2]. For all of these maps together,
    also the one that was fitted, with probability at least :math:`1 - \delta`

    .. math:: E \le \hat E_n + R_n + B^2 \sqrt{8 \ln(2 / \delta) / n}, \quad
        R_n \le \frac{2 B^2}{\sqrt n} \min(1 + \sqrt d, \sqrt{p - d}) .

    All numbers are divided by the variance of the points, the mean of :math:`|x_i - \bar x|^2`: their mean alone has
    the error 1, and from there on the bound is vacuous.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        Points in rows, as for ``Evaluation``.
    n_components : int, default 2
        Number d of dimensions, from 1 to p - 1; so X needs two columns.
    center : array (p,), optional
        The center c of the ball, known before the data; the mean of the points by default.
    radius : float, optional
        The radius B of the ball in the unit of the data, known before them, as from the range of a sensor; at least
        the largest distance of a point from c, which is the default.
    conf_level : float, default 0.95
        Confidence :math:`1 - \delta`.
    n_resamples : int, default 100
        Number m of draws of random signs for the sharper bound. Its complexity varies with the seed: on the digits
        (d = 2, 10 and 30) the standard deviation over 20 seeds is 9, 5 and 4 % of it with 100 draws.
    random_state : int, Generator or None, default 0
        Seed of the signs.

    Returns
    -------
    GeneralizationBound
        ``float()`` of it is the bound; ``is_vacuous`` says whether it is 1 or more. ``parts``: ``fitted_error``
        :math:`\hat E_n`, that of principal components about c; ``complexity`` and ``deviation``, the two terms that the
        bound adds to it; ``points_needed``, the n from which the bound would be below 1 with the same fitted error,
        radius and variance; the same of the bound in the Notes: ``sharper_bound``, ``sharper_complexity``,
        ``sharper_deviation``, ``sharper_points_needed``.

    Raises
    ------
    InputError
        If an argument is not valid, a point lies outside the ball, or its radius is above 1e6 standard deviations of
        the points (the root of their variance).

    Warnings
    --------
    The bound holds for independent points of one distribution within the ball. It is an upper bound, not an estimate:
    the error on new data is nearly always far below it.

    See Also
    --------
    reconstruction_error : the error of points held out, from any embedding.
    dreval.methods.CostMapping : its ``generalization_curve`` has the errors of any map on fitted and on other points.

    Notes
    -----
    Range: from the fitted error upwards; lower is better.

    The maps are linear in x - c: principal components about the mean are one of them only if c is the mean.

    The paper says that such bounds exist for linear maps, and derives none. The complexity is bounded by
    :math:`|\mathrm{tr}\, P M| \le |P|_F |M|_F` with :math:`E |\sum_i s_i x_i x_i'|_F \le \sqrt n B^2` for random signs
    s. The sharper bound draws the signs: the largest :math:`\frac{2}{n} \sum_i s_i\, \mathrm{loss}_i` over all P is
    2 / n times the sum of the p - d largest eigenvalues of :math:`\sum_i s_i (x_i - c)(x_i - c)'`. With :math:`\hat R`
    its mean over m draws, McDiarmid's inequality for the error, for the sample and for the draws gives

    .. math:: E \le \hat E_n + \hat R + B^2 (3 + 4 / \sqrt m) \sqrt{\ln(3 / \delta) / (2 n)} .

    Without ``center`` and ``radius`` both bounds take those of the sample as if they had been known; a note says so.
    Both differences to the fitted error fall as 1 / sqrt(n). The printed bound is vacuous for most tables: on the
    digits (n = 1797, p = 64), with pixels from 0 to 16 known (center 8, radius 64), it is 1.67, 1.39 and 1.42 at d = 2,
    10 and 30, and the sharper one 1.32, .82 and .59. With half of them fitted, the errors of the other digits are .85,
    .29 and .05, and those of principal components about the mean .72, .27 and .04.

    Cost: O(m (n r^2 + r^3)) time for m draws, r = min(n, p), O(n p) memory.

    References
    ----------
    Hammer, Bunte & Biehl (2010), Some steps towards a general principle for dimensionality reduction mappings,
    Section 4.
    Bartlett & Mendelson (2002), Rademacher and Gaussian complexities: risk bounds and structural results, JMLR 3,
    463-482, Theorem 8.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(500, 4))
    >>> bound = dreval.generalization_bound(X, 2, center=[0.5] * 4, radius=1)
    >>> round(float(bound), 2), bound.is_vacuous, bound.parts["points_needed"]
    (1.56, True, 2101)
    """
    level = check_float(conf_level, "conf_level", high=1 - 1e-9, above=0.0)
    count, root = check_int(n_resamples, "n_resamples", low=1), root_seed(random_state)
    data = as_data(X)
    warn_of_guesses(data.notes, CALLER_NAMES)
    points = np.asarray(data.dense(), np.float64)
    n, p = points.shape
    if p == 1:
        hint = "Pass more columns; a map of one column to one dimension has no error."
        raise InputError("X", "must have two columns or more", "1 column", hint)
    d = check_int(n_components, "n_components", low=1, high=p - 1)
    mean = points.mean(axis=0)
    middle = mean if center is None else check_numeric(center, "center").astype(np.float64)
    if middle.shape != (p,) or not np.isfinite(middle).all():
        requirement = f"must be {p} finite numbers, one for each column"
        raise InputError("center", requirement, describe(center), "Pass the middle of the range of each column.")
    centered = points - middle
    with np.errstate(over="ignore"):
        farthest = float(np.linalg.norm(centered, axis=1).max())
    ball = farthest if radius is None else check_float(radius, "radius", above=0.0)
    if ball < farthest * (1 - 1e-12):
        hint = "Pass a radius that is known to hold all points, or leave it out."
        raise InputError("radius", f"must be at least {farthest:.6g}, the largest distance from c", f"{ball:g}", hint)
    spread = math.sqrt(float(np.sum((points - mean) ** 2)) / n)
    if ball > MAX_RADIUS * spread:
        requirement = f"must leave a ball with a radius of at most {MAX_RADIUS:g} standard deviations of the points"
        received, hint = f"a radius of {ball / spread:.2g} of them", "Pass a ball that is nearer to the points."
        raise InputError("center" if radius is None else "radius", requirement, received, hint)
    squares = np.linalg.svd(centered / ball, compute_uv=False) ** 2
    variance = (spread / ball) ** 2
    train, complexity, deviation = (term / variance for term in bound_terms(squares, n, p, d, level))
    with one_blas_thread():
        sharper = _drawn_complexity(centered / ball, d, count, root) / variance
    sharper_deviation = (3 + 4 / math.sqrt(count)) * math.sqrt(math.log(3 / (1 - level)) / (2 * n)) / variance
    parts = {"fitted_error": train, "complexity": complexity, "deviation": deviation}
    parts["points_needed"] = _points_needed(complexity + deviation, train, n)
    parts |= {"sharper_bound": train + sharper + sharper_deviation, "sharper_complexity": sharper}
    parts |= {"sharper_deviation": sharper_deviation}
    parts["sharper_points_needed"] = _points_needed(sharper + sharper_deviation, train, n)
    parameters = {"n_components": d, "center": None if center is None else middle.tolist(), "radius": radius}
    parameters |= {"conf_level": level, "n_resamples": count}
    is_fixed = center is not None and radius is not None
    notes = (*data.dense_notes(), *(() if is_fixed else (note("generalization_bound.ball", radius=ball),)))
    return GeneralizationBound(
        "generalization_bound",
        "Generalization bound",
        "E",
        train + complexity + deviation,
        parts,
        chance=1.0,
        recipe=provenance(parameters, n=n, p=p, random_state=root),
        notes=tuple(item.named(CALLER_NAMES) for item in notes),
        direction="lower",
    )


def _drawn_complexity(points: FloatArray, d: int, count: int, root: int) -> float:
    """Return the mean over draws of signs s of the largest (2 / n) sum of s_i loss_i, over projections of rank d."""
    n, p = points.shape
    reduced = points if p <= n else np.linalg.qr(points.T, mode="r").T  # with the inner products of the rows
    zeros = np.zeros(p - reduced.shape[1])
    largest = np.empty(count)
    for b in range(count):
        signs = stream(root, "signs", b).choice([-1.0, 1.0], n)
        eigenvalues = np.sort(np.r_[np.linalg.eigvalsh((reduced * signs[:, None]).T @ reduced), zeros])
        largest[b] = eigenvalues[d:].sum()
    return 2.0 / n * float(largest.mean())


def _points_needed(added: float, train: float, n: int) -> int:
    """Return the number of points from which ``train`` plus a term that falls as 1 / sqrt(n) is below 1.

    A map of one dimension or more can run through the mean, so that ``train`` is at most 1 about any center.
    """
    return math.floor(n * (added / max(1.0 - train, 1e-9)) ** 2) + 1
