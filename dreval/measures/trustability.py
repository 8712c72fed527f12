"""Trustability measure (Roy 2021)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval.errors import MethodFailed
from dreval.inference.reruns import Case, at_most, open_case, runnable
from dreval.measures._method_measure import (
    FloatArray,
    chance_disparity,
    embedding_disparity,
    is_constant,
    make_record,
    method_measure,
    narrow_note,
    total_square,
)
from dreval.records.measure_record import MeasureRecord
from dreval.records.notes import ASSUMPTION, LIMIT, define

CHANCE_DRAWS = 20
CONSTANT = define(
    "trustability.constant",
    LIMIT,
    "The method puts all points in one place: u = 1 (TI is 0 there).",
    "See what the method returns.",
)
FEWER = define("trustability.fewer", ASSUMPTION, "Run at d = {d}, not at p = {p}: {why}.")


@method_measure(
    symbol="u",
    title="Trustability measure",
    question="Does the method return the data, up to scale, when it may use as many dimensions as they have?",
    says=(
        "With as many dimensions as the data, the method returns them",
        "The method changes the data even with as many dimensions",
    ),
    goals=("method",),
    needs=("method", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="mean u over 20 random permutations of the embedding's rows",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="One run of the method at d = p, and O(n p^2) time.",
    reference="@roy2021, Definition 3, divided by tr S_YY.",
)
def trustability(
    X: Any,
    source: Any,
    *,
    labels: Any = None,
    ids: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> MeasureRecord:
    r"""Share of the embedding's variance that no translated, rotated and scaled copy of the data explains, at d = p.

    The method is run at d = p, where the data themselves are the best embedding. With the centered cross-products
    :math:`S_{XX} = X' H X`, :math:`S_{XY}` and :math:`S_{YY}` and the nuclear norm :math:`\|\cdot\|_*` the published
    measure and the value are

    .. math:: \mathrm{TI} = \mathrm{tr} S_{YY} - \frac{\|S_{XY}\|_*^2}{\mathrm{tr} S_{XX}}, \qquad
              u = \frac{\mathrm{TI}}{\mathrm{tr} S_{YY}}.

    TI depends on the unit of Y; u is scipy's Procrustes disparity. A method with a constant embedding has u = 1 (its TI
    is 0, as for the best method). It is a property of the method; for coordinates alone use ``procrustes_disparity``.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        The method; coordinates cannot be re-run. For tools outside Python ``dreval.Protocol.collect`` gives a Source,
        whose settings and seed apply.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points, by which the rows of a table of coordinates are matched; not used as a feature.
    random_state : int, Generator or None, default None
        Seed of the method.

    Returns
    -------
    MeasureRecord
        ``float()`` of it is u; ``parts`` hold ``ti``, ``ti_per_n`` and ``n_components``; ``chance`` is the mean u
        over 20 random permutations of the embedding's rows.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data.
    InputError
        If an argument breaks its rule, or a bundled method needs labels.
    MethodFailed
        If the method cannot return p dimensions, or returns more; the cause is chained. Some methods need another
        setting for many dimensions, as scikit-learn's ``TSNE(method="exact")``.

    See Also
    --------
    procrustes_disparity : the same for given coordinates.
    tractable_consistency : the other measure of a method by Roy.

    Notes
    -----
    Range: [0, 1]; lower is better.

    Chance level: the mean u over 20 random permutations of the embedding's rows, :math:`1 - (8 / 3\pi)^2 p / n`
    approximately for p uncorrelated columns of equal variance, as 0.98 for p = 3 and n = 100.

    Embeddings with fewer than p columns are padded with zeros. Where p >= n the data lie in n - 1 dimensions, and that
    many are requested; so is the largest number that a bundled method supports where it is below p. A note says so. A
    value of 0 does not mean that the embedding in two dimensions is good: PCA has 0 on all data.

    Cost: one run of the method at d = p, O(n p^2) time and O(n p) memory.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Definition 3 and Example 6.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> float(dreval.trustability(X, "pca")) < 1e-12
    True
    >>> float(dreval.trustability(X, lambda X, n_components: X * 0))
    1.0
    """
    case = open_case(X, source, labels, ids, random_state)
    runnable(case)
    n, p = case.data.n, case.data.p
    most = full_components(n, p)
    why = f"{n} points span {n - 1} dimensions"
    card, parameters = case.source.card, dict(getattr(case.source, "parameters", {}))
    if card is not None and hasattr(case.source, "method"):
        able = card.max_components(n, p, {**case.source.method().get_params(), **parameters})
        most, why = (able, f"{card.name} gives at most {able}") if able < most else (most, why)
    points, d, notes = case.data.X, most, (FEWER(d=most, p=p, why=why),) if most < p else ()
    Y = _embedding(case, d)
    if is_constant(Y):
        u, size, notes = 1.0, 0.0, (*notes, CONSTANT())
    else:
        u, size = embedding_disparity(points, Y), total_square(Y)
        notes += narrow_note(Y.shape[1], d)
    parts = {"ti": u * size, "ti_per_n": u * size / len(Y), "n_components": d}
    chance = 1.0 if is_constant(Y) else float(np.mean(chance_disparity(points, Y, case.root, CHANCE_DRAWS)))
    return make_record(trustability, case, u, {}, parts=parts, chance=chance, n_resamples=1, notes=notes)


def _embedding(case: Case, d: int) -> FloatArray:
    """The run at d = p; the error of a method that fails at it says why so many dimensions were requested."""
    try:
        Y = case.source.embed(case.data.X, d, case.seed, case.data.labels, case.data)
    except MethodFailed as error:
        asked = f"This measure asks for n_components={d}, as many as the data have columns."
        cure = f'{asked} {error.cure} Some methods need another setting for so many, such as TSNE(method="exact").'
        raise error.altered(cure=cure) from error
    return at_most(case, Y, d)


def full_components(n: int, p: int) -> int:
    """The number of dimensions at which a method is run: p, or n - 1 where n points span no more."""
    return n - 1 if p >= n else p
