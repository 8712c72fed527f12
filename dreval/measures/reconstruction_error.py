"""Reconstruction error, of the points that were fitted and of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_int, check_one_of
from dreval.geometry.distances import power_of_two
from dreval.geometry.rkhs import POINTS, RULES, HeldOut, fitted_rows, held_out, reconstruction_map
from dreval.inference.reruns import open_case
from dreval.measures._method_measure import FloatArray, make_record, method_measure
from dreval.records.measure_record import MeasureRecord


@method_measure(
    symbol="E",
    title="Reconstruction error",
    question="How much of the data cannot be read back from the embedding, for points that were not used to learn how?",
    needs=("reconstruction", "features"),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance=1.0,
    invariances=frozenset({"translation", "rotation", "scale"}),
    choices={"rule": RULES},
    cost="O(n^3) time for each fold, O(n^2) memory, on at most 1000 points.",
    reference=(
        "Hammer, Bunte & Biehl (2010), Some steps towards a general principle for dimensionality reduction mappings,\n"
        "Section 4."
    ),
)
def reconstruction_error(
    X: Any,
    source: Any,
    *,
    rule: str = "ridge",
    n_folds: int = 5,
    labels: Any = None,
    ids: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> MeasureRecord:
    """Squared error of reconstructing held-out points from the embedding, over the variance of the data.

    A function f from the embedding to the data is learned on some folds of the points and applied to the others:
    E = sum_i |x_i - f(y_i)|^2 / sum_i |x_i - mean|^2, with the mean of the points that were learned from. 0: nothing is
    lost; 1: the embedding says no more than the mean; above 1: what was learned misleads. The embedding is that of all
    points; only f is learned on a part of them.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : coordinates, estimator, callable or name of a bundled method
        The embedding, or what makes it.
    rule : {"ridge", "theorem3", "theorem3_printed"}, default "ridge"
        How f is learned: kernel ridge regression whose ridge has the least leave-one-out error, or Theorem 3 of Roy
        (2021), corrected or as printed.
    n_folds : int, default 5
        Number of folds, at most n.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points, by which the rows of a table of coordinates are matched; no feature.
    random_state : int, Generator or None, default None
        Seed of the folds, and of the method where it is run. Of a source collected by ``dreval.Protocol`` the embedding
        is the recorded one, and without a seed the folds have that of the recording.

    Returns
    -------
    MeasureRecord
        ``float()`` of it is the held-out error. ``parts``: ``train`` (the error of f on the points it was learned
        from, all of them), ``held_out``, ``left_out`` (by the leave-one-out identity, on the same scale; rule "ridge"
        only) and, as a yardstick, ``linear_train``, the least error of any linear map to as many dimensions, with
        ``linear_bound``, what it is on new data at most, with 95 % confidence and for every linear map at once.
        ``table``: one row for each fold.

    Raises
    ------
    InputError
        If an argument is not what it must be.
    MethodFailed
        If the source is run and fails.

    Notes
    -----
    Range [0, inf); lower is better. By chance: 1, up to noise. Gaussian kernel k(a, b) = exp(-|a - b|^2 / (2 sigma^2))
    on the embedding, sigma by the median rule: sqrt(median of the squared distances of all pairs of points). O(n^3)
    time for each fold and once more, O(n^2) memory; more than 1000 points are represented by 1000 drawn at random, with
    a note. The bound is often above 1: that
    is what the theory gives at this n.

    References
    ----------
    Hammer, Bunte & Biehl (2010), Some steps towards a general principle for dimensionality reduction mappings,
    Section 4.
    Roy (2021), Trustworthy Dimensionality Reduction, Theorem 3.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = dreval.reconstruction_error(X, X[:, :2], random_state=0)
    >>> round(float(found), 2), round(found.parts["linear_train"], 2)
    (0.35, 0.3)
    """
    check_one_of(rule, RULES, "rule")
    case = open_case(X, source, labels, ids, random_state, reruns=False)
    folds = min(check_int(n_folds, "n_folds", low=2), case.data.n)
    Y = case.source.coordinates(case.data, n_components=case.source.default_components, random_state=case.seed)
    rows = fitted_rows(case.data.n, case.root)
    notes = (f"Fitted on {POINTS} points drawn at random.",) if len(rows) < case.data.n else ()
    notes += (f"{folds} points have no {n_folds} folds: each is one of its own.",) if n_folds > folds else ()
    points, Y = (whole[rows] * power_of_two(whole) for whole in (case.data.X, Y))
    whole = reconstruction_map(Y, points, rule=rule)
    others = held_out(points, Y, rule, folds, case.root)
    parts = {"train": whole.error, "held_out": others.error}
    parts |= {"left_out": whole.left_out_error} if rule == "ridge" else {}
    parts["linear_train"], parts["linear_bound"] = linear_bound(points, Y.shape[1])
    parameters = {"rule": rule, "n_folds": n_folds}
    return make_record(
        reconstruction_error,
        case,
        others.error,
        parameters,
        parts=parts,
        chance=1.0,
        table=_table(others),
        n_resamples=folds,
        notes=(*notes, *whole.notes),
    )


def _table(found: HeldOut) -> pd.DataFrame:
    """Points, squared error over squared deviation, and ridge of each fold."""
    squares = [np.einsum("ij,ij->i", part, part) for part in (found.residuals, found.deviations)]
    table = pd.DataFrame({"fold": found.fold, "points": 1, "error": squares[0], "spread": squares[1]})
    table = table.groupby("fold", as_index=False).sum()
    table["error"] /= table.pop("spread")
    return table.assign(ridge=found.ridges)


def linear_bound(X: FloatArray, d: int, confidence: float = 0.95) -> tuple[float, float]:
    """Error of the best projection on d dimensions, and its bound for new data, both over the variance of the data.

    For every linear map at once, with probability at least ``confidence``,
    E <= E_n + R_n + B^2 sqrt(8 ln(2 / delta) / n), delta = 1 - confidence, B the largest norm. The losses are
    x'x - x'Px with P a projection of rank d, so that the Rademacher complexity E sup |2/n sum_i s_i loss_i| is at most
    (2 / sqrt(n)) B^2 min(1 + sqrt(d), sqrt(p - d)): |tr PM| <= |P|_F |M|_F and E|sum_i s_i x_i x_i'|_F <= sqrt(n) B^2.

    The mean and B are taken as known, though they are read from the data.

    References
    ----------
    Hammer, Bunte & Biehl (2010), Some steps towards a general principle for dimensionality reduction mappings,
    Section 4; Bartlett & Mendelson (2002), Rademacher and Gaussian complexities, JMLR 3, 463-482, Theorem 8.

    Examples
    --------
    >>> import numpy as np
    >>> train, bound = linear_bound(np.random.default_rng(0).normal(size=(1000, 3)), 2)
    >>> bool(0.25 < train < 0.34 and train < bound)
    True
    """
    centered = X - X.mean(axis=0)
    centered = centered / (np.abs(centered).max() or 1.0)
    n, p = centered.shape
    squares = np.linalg.svd(centered, compute_uv=False) ** 2
    total = float(squares.sum())
    train = float(squares[d:].sum()) / total
    width = float(np.max(np.einsum("ij,ij->i", centered, centered)))
    complexity = 2.0 / math.sqrt(n) * min(1.0 + math.sqrt(d), math.sqrt(max(p - d, 0)))
    deviation = math.sqrt(8.0 * math.log(2.0 / (1.0 - confidence)) / n)
    return train, train + (complexity + deviation) * width * n / total
