"""Rank features by their dependence with a variable: maximum relevance, minimum redundancy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_int
from dreval._check_arrays import check_points
from dreval.errors import InputError
from dreval.geometry.kernels import center, gram_matrix
from dreval.inputs.variables import warn_of_guesses
from dreval.significance.base import integer_notes, matched_rows, per_variable, refuse_path


def dependence_ranking(
    X: Any, y: Any, *, n_features: int | None = None, kernel: str | tuple[str, str] = "gaussian"
) -> pd.DataFrame:
    r"""Rank the columns of X by their dependence with y, penalized by the dependence among them.

    The score of a set S of features is their mean relevance minus their redundancy,

    .. math:: J(S) = \frac{1}{|S|} \sum_{i \in S} I(x^i, y) - \frac{1}{|S|^2} \sum_{i \ne j \in S} I(x^i, x^j),

    where I is HSIC normalized to [0, 1] (the centered kernel alignment), so that features of any scale are comparable.
    The first feature is the most relevant one, and its relevance is its score; each further one maximizes J. A feature
    is not redundant with itself: Peng et al. (2005) add these terms, 1/|S| in all, which changes the score of all sets
    of one size alike, and therefore does not change the order. A score below 0 means that the features of the set
    depend more on each other than on y. The weight of redundancy grows with the size of the set, so compare only sets
    of equal size.

    Parameters
    ----------
    X : (n, p) array or DataFrame
        Features in columns; no column is constant.
    y : array, DataFrame or Series
        (n,) or (n, q) numbers, or (n,) classes; frames with equal row names are matched.
    n_features : int, optional
        How many features to rank; all by default.
    kernel : str or pair of str
        Kernel, or one of the features and one of ``y`` (as in ``hsic_test``), with bandwidths by the median rule.

    Returns
    -------
    DataFrame
        One row for each selected feature, in the order of selection: ``feature``, ``relevance`` I(x, y), ``redundancy``
        (mean I with the features before it), ``score`` J of the set up to it, which is the relevance of the first.

    Raises
    ------
    InputError
        As ``hsic_test``; if a column is constant.

    See Also
    --------
    hsic_test : the test that belongs to I.

    Notes
    -----
    The search is greedy: the first m features are not always the best m. All values of I are biased upward at small n,
    and above 0 for independent variables. The order is not a test; ``hsic_test`` tests whether a relevance is above
    chance level.
    Cost: k p n^2 for k ranked features; memory three n x n matrices.

    References
    ----------
    Peng, Long & Ding (2005), Feature selection based on mutual information: criteria of max-dependency,
    max-relevance, and min-redundancy, IEEE TPAMI 27, 1226-1238.
    Song, Smola, Gretton, Bedo & Borgwardt (2012), Feature selection via dependence maximization, JMLR 13, 1393-1434.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 100))
    >>> X = np.column_stack([a, a + 0.01 * rng.normal(size=100), b])     # the second column repeats the first
    >>> dreval.dependence_ranking(X, a + b)["feature"].tolist()
    [0, 2, 1]
    >>> dreval.dependence_ranking(X, a + b).round(3)["score"].tolist()
    [0.437, 0.388, 0.179]
    """
    refuse_path(X, "X")
    refuse_path(y, "y")
    y, notes = matched_rows(X, y, of="X")
    warn_of_guesses((*notes, *integer_notes(X, "X"), *integer_notes(y, "y")))
    names = list(X.columns) if isinstance(X, pd.DataFrame) else None
    points = check_points(X, "X", columns=names)
    if len(y) != len(points):
        raise InputError("y", "must have one row per row of `X`", f"{len(y)} rows for {len(points)}", "Align them.")
    p = points.shape[1]
    count = p if n_features is None else check_int(n_features, "n_features", low=1, high=p)
    x_kernel, y_kernel = per_variable(kernel, ("X", "y"), "kernel")
    target = _unit(gram_matrix(y, "y", y_kernel).matrix)
    relevance = np.array([float(np.vdot(_column(points, j, x_kernel), target)) for j in range(p)])
    redundancy, selected, rows = np.zeros(p), list[int](), []
    total_redundancy = 0.0  # sum of I over all ordered pairs of different selected features
    for size in range(1, count + 1):
        total_relevance = relevance[selected].sum() + relevance
        scores = total_relevance / size - (total_redundancy + 2 * redundancy) / size**2
        scores[selected] = -np.inf
        best = int(np.argmax(scores))
        mean_redundancy = redundancy[best] / len(selected) if selected else 0.0
        rows.append((names[best] if names else best, relevance[best], mean_redundancy, scores[best]))
        total_redundancy += 2 * redundancy[best]
        selected.append(best)
        if size < count:
            matrix = _column(points, best, x_kernel)
            remaining = [j for j in range(p) if j not in selected]
            redundancy[remaining] += [float(np.vdot(_column(points, j, x_kernel), matrix)) for j in remaining]
    return pd.DataFrame(rows, columns=["feature", "relevance", "redundancy", "score"])


def _column(points: FloatArray, j: int, kernel: str) -> FloatArray:
    """Return the centered kernel of one feature, scaled to norm 1."""
    return _unit(gram_matrix(points[:, j], f"X[:, {j}]", kernel).matrix)


def _unit(matrix: FloatArray) -> FloatArray:
    centered = center(matrix)
    centered /= np.linalg.norm(centered)
    return centered
