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

__all__ = ["full_components", "trustability"]

CHANCE_DRAWS = 20


@method_measure(
    symbol="u",
    title="Trustability measure",
    question="Asked for as many dimensions as the data have, does the method give the data back, up to its unit?",
    needs=("method", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="the mean u of 20 exchanges of the embedding's points",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="One run of the method at d = p, and O(n p^2) time.",
    reference="Roy (2021), Trustworthy Dimensionality Reduction, Definition 3, divided by tr S_YY.",
)
def trustability(
    X: Any,
    source: Any,
    *,
    labels: Any = None,
    ids: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> MeasureRecord:
    """Share of the embedding's variance that no moved, turned and scaled copy of the data explains, at d = p.

    The method is run at d = p, where the data themselves are the best embedding. With raw centered cross-products the
    published measure is TI = tr S_YY - nuc(S_XY)^2 / tr S_XX. It depends on the unit of Y, so the value here is
    u = TI / tr S_YY, which is the Procrustes disparity of scipy; TI and TI / n stand beside it. A method that puts all
    points in one place has u = 1 (its TI is 0, as for the best method). It is a property of the method: coordinates
    alone have ``procrustes_disparity``.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        What is run; coordinates cannot be. For tools outside Python ``dreval.Protocol.collect`` gives a Source, whose
        settings and seed hold.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points, by which the rows of a table of coordinates are matched; no feature.
    random_state : int, Generator or None, default None
        Seed of the method.

    Returns
    -------
    MeasureRecord
        ``float()`` of it is u; ``parts`` hold ``ti``, ``ti_per_n`` and ``n_components``; ``chance`` is the mean u of 20
        exchanges of the embedding's points.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data.
    InputError
        If an argument is not what it must be, or a bundled method needs labels.
    MethodFailed
        If the method cannot give p dimensions, or gives more; the cause is chained. Some methods need another setting
        for many dimensions, as scikit-learn's ``TSNE(method="exact")``.

    Notes
    -----
    Range [0, 1]; lower is better. Fewer than p columns count as padded with zeros. Where p >= n the data lie in n - 1
    dimensions, and where a bundled method gives fewer than p that many are asked for; a note says so. One run of the
    method at d = p and O(n p^2) time, O(n p) memory. A value of 0 does not say that the embedding in two dimensions is
    good: PCA has it on all data.

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
    points, d, notes = case.data.X, *_dimensions(case)
    Y = _embedding(case, d)
    if is_constant(Y):
        u, size, notes = 1.0, 0.0, (*notes, "The method puts all points in one place: u = 1 (TI is 0 there).")
    else:
        u, size = embedding_disparity(points, Y), total_square(Y)
        notes += narrow_note(Y.shape[1], d)
    parts = {"ti": u * size, "ti_per_n": u * size / len(Y), "n_components": d}
    chance = 1.0 if is_constant(Y) else float(np.mean(chance_disparity(points, Y, case.root, CHANCE_DRAWS)))
    return make_record(trustability, case, u, {}, parts=parts, chance=chance, n_resamples=1, notes=notes)


def _embedding(case: Case, d: int) -> FloatArray:
    """The run at d = p; a method that cannot do that is told who asked for so many dimensions."""
    try:
        Y = case.source.embed(case.data.X, d, case.seed, case.data.labels)
    except MethodFailed as error:
        asked = f"This measure asks for n_components={d}, as many as the data have columns."
        cure = f'{asked} {error.cure} Some methods need another setting for so many, such as TSNE(method="exact").'
        raise MethodFailed(error.argument, error.rule, error.got, cure) from error
    return at_most(case, Y, d)


def full_components(n: int, p: int) -> int:
    """The number d of columns at which a method is asked for the data: p, or n - 1 where n points span no more."""
    return n - 1 if p >= n else p


def _dimensions(case: Case) -> tuple[int, tuple[str, ...]]:
    """p, or fewer where p are not to be had, with the reason."""
    n, p = case.data.n, case.data.p
    most = full_components(n, p)
    why = f"{n} points span {n - 1} dimensions"
    card, parameters = case.source.card, dict(getattr(case.source, "parameters", {}))
    if card is not None and hasattr(case.source, "method"):
        able = card.max_components(n, p, {**case.source.method().get_params(), **parameters})
        most, why = (able, f"{card.name} gives at most {able}") if able < most else (most, why)
    return most, (f"Run at d = {most}, not at p = {p}: {why}.",) if most < p else ()
