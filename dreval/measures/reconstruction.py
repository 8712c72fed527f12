"""Reconstruction error: how much of the data can be computed from the embedding, for points held out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_int, check_one_of
from dreval.geometry.kernels import MAX_FITTED_POINTS, RULES, HeldOut, fitted_rows, held_out, reconstruction_map
from dreval.inference.rerun_input import open_case
from dreval.measures.methods import make_record, method_measure
from dreval.records.estimates import MeasureRecord
from dreval.records.notes import note


@method_measure(
    symbol="E",
    title="Reconstruction error",
    question="How much of the data cannot be reconstructed from the embedding, for points held out from the fit?",
    warning="Much of the data cannot be computed from the embedding",
    goals=("reconstruction",),
    needs=("reconstruction", "features"),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance=1.0,
    invariances=frozenset({"translation", "rotation", "scale"}),
    choices={"rule": RULES},
    cost="O(n^3) time for each fold, O(n^2) memory, on at most 1000 points.",
    reference="@hammer2010, Section 4.",
)
def reconstruction_error(
    X: Any,
    source: Any,
    *,
    rule: str = "ridge",
    n_splits: int = 5,
    labels: Any = None,
    ids: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> MeasureRecord:
    r"""Compute the squared error of reconstructing held-out points from the embedding, over the variance of the data.

    A function f from the embedding to the data is fitted to the points of all folds but one and applied to that one:

    .. math:: E = \frac{\sum_i |x_i - f_{-i}(y_i)|^2}{\sum_i |x_i - \bar x_{-i}|^2},

    where :math:`f_{-i}` and the mean :math:`\bar x_{-i}` are those of the points outside the fold of i. 0: the
    embedding determines the data; 1: it predicts them no better than their mean; above 1: worse than the mean. The
    embedding is that of all points; only f is fitted to a part of them.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : coordinates, estimator, callable or name of a bundled method
        The embedding, or the method that computes it.
    rule : {"ridge", "theorem3", "theorem3_printed"}, default "ridge"
        How f is fitted: "ridge", kernel ridge regression with the ridge of least leave-one-out error; "theorem3", the
        closed form of Roy (2021), Theorem 3, with a missing factor 1 / n restored; "theorem3_printed", the printed
        formula, whose values collapse to the mean.
    n_splits : int, default 5
        Number of folds, 2 <= n_splits <= n.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points, by which the rows of a table of coordinates are matched; not used as a feature.
    random_state : int, Generator or None, default None
        Seed of the folds, and of the method where it is run. For a source collected by ``dreval.Protocol`` the
        embedding is the recorded one, and the default seed of the folds is that of the recording.

    Returns
    -------
    MeasureRecord
        ``float()`` of it is the held-out error. ``parts``: ``train`` (the error of f on the points it is fitted to,
        all of them), ``held_out``, ``left_out`` (by the leave-one-out identity, on the same scale; rule "ridge" only)
        and, for comparison, ``linear_train``, the least error of any linear map to as many dimensions, with
        ``linear_bound``, an upper bound of its error on new data, with 95 % confidence and for every linear map
        simultaneously (trivial where it is above 1). ``table``: one row for each fold.

    Raises
    ------
    InputError
        If an argument is not valid.
    MethodFailed
        If the source is run and fails.

    See Also
    --------
    energy_ratio : the variance that linear maps can hold.
    generalization_bound : the bound of linear maps with its parts.
    latent_r2 : the same question for known latent variables, by an affine map.

    Notes
    -----
    Range: [0, inf); lower is better.

    Chance level: 1, up to sampling error.

    The kernel on the embedding is Gaussian, :math:`k(a, b) = \exp(-|a - b|^2 / (2 \sigma^2))`, with :math:`\sigma^2`
    the median of the squared distances of all pairs of points.

    ``linear_bound`` is trivial where it is above 1, since the mean alone has the error 1; a note says so. It falls
    slowly, as 1 / sqrt(n): on standard normal data in three dimensions it is 2.34 for n = 400 and d = 2, where
    ``linear_train`` is .31, and 1.56 for the 1000 points that represent larger data.

    Cost: O(n^3) time for each fold and once more, O(n^2) memory; more than 1000 points are represented by a random
    sample of 1000, with a note.

    References
    ----------
    Hammer, Bunte & Biehl (2010), Some steps towards a general principle for dimensionality reduction mappings,
    Section 4.
    Roy (2021), Trustworthy Dimensionality Reduction, Theorem 3.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> record = dreval.reconstruction_error(X, X[:, :2], random_state=0)
    >>> round(float(record), 2), round(record.parts["linear_train"], 2)
    (0.35, 0.3)
    """
    rule = check_one_of(rule, RULES, "rule", aliases=True)
    case = open_case(X, source, labels, ids, random_state, reruns=False)
    folds = min(check_int(n_splits, "n_splits", low=2), case.data.n)
    Y = case.source.coordinates(case.data, n_components=case.source.default_components, random_state=case.seed)
    rows = fitted_rows(case.data.n, case.root)
    notes = (note("reconstruction_error.drawn", drawn=MAX_FITTED_POINTS),) if len(rows) < case.data.n else ()
    notes += (note("folds.fewer", points=folds, folds=n_splits),) if n_splits > folds else ()
    points, Y = case.data.X[rows], Y[rows]
    fit = reconstruction_map(Y, points, rule=rule)
    cross_validation = held_out(points, Y, rule, folds, case.root)
    parts = {"train": fit.error, "held_out": cross_validation.error}
    parts |= {"left_out": fit.left_out_error} if rule == "ridge" else {}
    parts["linear_train"], parts["linear_bound"] = linear_bound(points, Y.shape[1])
    if parts["linear_bound"] > 1.0:
        notes += (note("reconstruction_error.trivial", bound=parts["linear_bound"], n=len(rows)),)
    parameters = {"rule": rule, "n_splits": n_splits}
    return make_record(
        reconstruction_error,
        case,
        cross_validation.error,
        parameters,
        parts=parts,
        chance=1.0,
        table=_fold_table(cross_validation),
        n_runs=folds,
        notes=(*notes, *fit.notes),
    )


def _fold_table(held: HeldOut) -> pd.DataFrame:
    """Return the points, the squared error over squared deviation, and the ridge of each fold."""
    squares = [np.einsum("ij,ij->i", part, part) for part in (held.residuals, held.deviations)]
    table = pd.DataFrame({"fold": held.fold, "points": 1, "error": squares[0], "spread": squares[1]})
    table = table.groupby("fold", as_index=False).sum()
    table["error"] /= table.pop("spread")
    return table.assign(ridge=held.ridges)


def linear_bound(X: FloatArray, d: int, confidence: float = 0.95) -> tuple[float, float]:
    r"""Return the error of the best projection on d dimensions and its bound for new data, over the data's variance.

    For every linear map simultaneously, with probability at least ``confidence`` :math:`= 1 - \delta`,

    .. math:: E \le E_n + R_n + B^2 \sqrt{8 \ln(2 / \delta) / n},

    with B the largest norm. The losses are :math:`x'x - x'Px` with P a projection of rank d, so that the Rademacher
    complexity :math:`R_n = E \sup |\frac{2}{n} \sum_i s_i\, \mathrm{loss}_i|` is at most
    :math:`\frac{2}{\sqrt n} B^2 \min(1 + \sqrt d, \sqrt{p - d})`, because
    :math:`|\mathrm{tr} PM| \le |P|_F |M|_F` and :math:`E |\sum_i s_i x_i x_i'|_F \le \sqrt n B^2`.

    The mean and B are treated as constants, though they are computed from the data.

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
    _, complexity, deviation = bound_terms(squares, n, p, d, confidence)
    return train, train + (complexity + deviation) * width * n / total


def bound_terms(squares: FloatArray, n: int, p: int, d: int, confidence: float) -> tuple[float, float, float]:
    """Return the three terms of the bound of ``linear_bound`` in a ball of radius 1.

    They are the least mean loss of the n points in p columns, from their squared singular values, the bound of the
    complexity, and the deviation.
    """
    complexity = 2.0 / math.sqrt(n) * min(1.0 + math.sqrt(d), math.sqrt(max(p - d, 0)))
    return float(squares[d:].sum()) / n, complexity, math.sqrt(8.0 * math.log(2.0 / (1.0 - confidence)) / n)
