"""Features ranked by their dependence with a variable: maximum relevance, minimum redundancy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_int, check_points, keywords_checked
from dreval.errors import InputError
from dreval.geometry.kernels import center, gram_matrix
from dreval.inputs.variables import warn_of_guesses
from dreval.significance.base import integer_notes, matched_rows, per_variable, refuse_path


@keywords_checked
def dependence_ranking(
    X: Any, y: Any, *, n_features: int | None = None, kernel: str | tuple[str, str] = "gaussian"
) -> pd.DataFrame:
    r"""Rank the columns of X by their dependence with y, penalized by the dependence among them.

    The score of a set S of features is their mean relevance minus their redundancy,

    .. math:: J(S) = \frac{1}{|S|} \sum_{i \in S} I(x^i, y) - \frac{1}{|S|^2} \sum_{i \ne j \in S} I(x^i, x^j),

    where I is HSIC normalized to [0, 1] (the centered kernel alignment), so that features of any scale are comparable.
    The first feature is the most relevant one, and its relevance is its score; each further one maximizes J. A feature
    is not redundant with itself: Peng et al. (2005) add these terms, 1/|S| in all, which changes the score of all sets
    of one size alike, and so not the order. A score below 0 says that the features of the set depend more on each other
    than on y. The weight of redundancy grows with the size of the set, so compare only sets of equal size.

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
    and above 0 for independent variables: the order is no test, and ``hsic_test`` tells whether a relevance is more
    than chance.
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
    wanted = p if n_features is None else check_int(n_features, "n_features", low=1, high=p)
    own, other = per_variable(kernel, ("X", "y"), "kernel")
    target = _unit(gram_matrix(y, "y", other).matrix)
    relevance = np.array([float(np.vdot(_column(points, j, own), target)) for j in range(p)])
    redundancy, chosen, rows = np.zeros(p), list[int](), []
    inside = 0.0  # sum of I over all ordered pairs of different chosen features
    for size in range(1, wanted + 1):
        gained = relevance[chosen].sum() + relevance
        scores = gained / size - (inside + 2 * redundancy) / size**2
        scores[chosen] = -np.inf
        best = int(np.argmax(scores))
        before = redundancy[best] / len(chosen) if chosen else 0.0
        rows.append((names[best] if names else best, relevance[best], before, scores[best]))
        inside += 2 * redundancy[best]
        chosen.append(best)
        if size < wanted:
            matrix = _column(points, best, own)
            left = [j for j in range(p) if j not in chosen]
            redundancy[left] += [float(np.vdot(_column(points, j, own), matrix)) for j in left]
    return pd.DataFrame(rows, columns=["feature", "relevance", "redundancy", "score"])


def _column(points: FloatArray, j: int, kernel: str) -> FloatArray:
    """The centered kernel of one feature, of norm 1."""
    return _unit(gram_matrix(points[:, j], f"X[:, {j}]", kernel).matrix)


def _unit(matrix: FloatArray) -> FloatArray:
    centered = center(matrix)
    centered /= np.linalg.norm(centered)
    return centered
