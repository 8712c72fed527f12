"""Order of the distances between the centroids of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, keywords_checked
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import pairwise_squared
from dreval.inputs.data import as_data
from dreval.measures._classes import as_near, centroids, members, unit
from dreval.measures._measure import measure, named_view


@per_view
def _distances(view: View) -> tuple[FloatArray, FloatArray]:
    """Squared distances (c, c) between the centroids of the classes, in the data and in the embedding."""
    classes = members(view, least=3, alone=True)
    centers = (centroids(unit(points), classes) for points in (view.features(), view.Y[view.population]))
    data, embedding = (pairwise_squared(one, one) for one in centers)
    return data, embedding


def _same_order(data: FloatArray, embedding: FloatArray) -> float:
    """Share of the pairs of distances with the same order; 1 where the data order none."""
    from dreval.geometry._loops.pairs import kendall_counts

    pairs = np.triu_indices(len(data), 1)
    x, y = (_levels(one[pairs]) for one in (data, embedding))
    order = np.lexsort((y, x))
    every, tied_x, tied_y, tied_both, discordant = kendall_counts(x[order], y[order], len(y))
    ordered, half = every - tied_x, tied_y - tied_both
    return float((ordered - discordant - half / 2) / ordered) if ordered else 1.0


def _levels(squares: FloatArray) -> np.ndarray:
    """Rank of each squared distance, the same for those that are equal up to rounding."""
    order = np.argsort(squares, kind="stable")
    near = squares[order]
    level = np.empty(len(near), np.int64)
    level[order] = np.cumsum(np.r_[False, ~as_near(near[:-1], near[1:])])
    return level


def _without_class(view: View) -> FloatArray:
    """Values (c,) without each class."""
    data, embedding = _distances(view)
    c = len(data)
    if c < 4:
        cure = "Use ci='subsampling', whose interval is for other points of the same classes."
        raise UndefinedMeasure("labels", "must have at least 4 classes for a jackknife over classes", f"{c}", cure)
    stay = [np.delete(np.arange(c), one) for one in range(c)]
    return np.array([_same_order(data[np.ix_(at, at)], embedding[np.ix_(at, at)]) for at in stay])


@measure(
    symbol="A_C",
    title="Centroid triplet accuracy",
    question="Are classes that are nearer to each other in the embedding nearer in the data, too?",
    says=("Of two classes the nearer one is shown nearer", "Do not read which classes are near each other"),
    share="of triplets of classes keep their order",
    goals=("arrangement",),
    level="global",
    needs=("coordinates", "features", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula="about 1/2, and 1/2 for classes of equal size; mean over 20 random permutations of the rows",
    invariances=frozenset({"translation", "rotation", "scale"}),
    without_class=_without_class,
    cost="O(n (p + d) + c^2 (p + d + c log c)) time with c classes, O(n p + c^2) memory.",
    reference="@wang2021 (centroid triplet accuracy of the authors' program). @kendall1938 (tau).",
)
def centroid_triplet_accuracy(view: View) -> float:
    r"""Share of the pairs of distances between class centroids that have the same order in both spaces.

    .. math:: A_C = \frac{\tau + 1}{2} = \frac{1}{|P|} \sum_{(s, t) \in P}
              [\mathrm{sign}(x_s - x_t) = \mathrm{sign}(y_s - y_t)],

    where s and t are two pairs of classes, :math:`x_s` and :math:`y_s` the distance between the two centroids in the
    data and in the embedding, and P all such (s, t) whose distances in the data differ. Equal distances in the
    embedding count one half. (The authors' program also counts equal distances in the data, as in the same order if the
    embedding has the first one not larger; without ties both are the same number.) Where all distances in the data are
    equal the value is 1. At least three classes are required. ``centroid_triplets`` lists the triples of classes.

    The centroid of a class is a good summary of a compact class only. An embedding may order the centroids rightly and
    tear every class; a class that is bent around another has its centroid within that one. With few classes the value
    has few steps: three classes give 0, 1/3, 2/3 or 1.

    The interval of ``ci="points"`` leaves out one class at a time: it refers to other classes of the same kind, of
    which those at hand are taken as a sample. It needs four classes, and is rough for fewer than about ten.

    See Also
    --------
    triplet_accuracy : triplets of points.
    label_trustworthiness : whether classes that are separated in the data stay separated.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.repeat([[0.0], [1.0], [3.0]], 2, axis=0)
    >>> dreval.centroid_triplet_accuracy(X, X, labels=list("aabbcc"))
    1.0
    >>> Y = np.repeat([[0.0], [4.0], [3.0]], 2, axis=0)
    >>> round(dreval.centroid_triplet_accuracy(X, Y, labels=list("aabbcc")), 3)
    0.333
    """
    return _same_order(*_distances(view))


@keywords_checked
def centroid_triplets(X: Any, Y: Any, *, labels: Any) -> pd.DataFrame:
    """Table of the triples of classes: which of two classes is nearer to a third, in the embedding and in the data.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    Y : (n, d) array, DataFrame or path
        The embedding of the same points, as in ``centroid_triplet_accuracy``.
    labels : (n,) array of text, booleans or integers, column of X by name, or path
        Class of each point, at least three classes; points without label are left out, with a warning.

    Returns
    -------
    DataFrame
        A row for each class and each pair of other classes, c (c - 1) (c - 2) / 2 of c classes: ``class`` (A),
        ``nearer`` (B) and ``farther`` (C) by the distance of the centroids in the embedding; ``embedding_ratio`` and
        ``data_ratio``, the distance from A to B over that from A to C in each space; and ``same``: 1.0 where the data
        have the same order (``data_ratio`` below 1), 0.0 where they have the opposite one, 0.5 where the distances are
        equal in the embedding, NaN where they are in the data. The rows that mislead most (the largest ``data_ratio``)
        come first. A ratio is infinite where C has the centroid of A in the data.

    Raises
    ------
    InputError
        If the rows do not match, or values are missing or infinite.
    UndefinedMeasure
        If there are fewer than three classes.

    See Also
    --------
    centroid_triplet_accuracy : one number, with an interval and a chance level, also of pairs that share no class.

    Notes
    -----
    O(n (p + d) + c^3) time and O(n p + c^3) memory. ``results.plot("centroid_triplets")`` draws the table.

    References
    ----------
    Wang, Huang, Rudin & Shaposhnik (2021), Understanding how dimension reduction tools work, JMLR 22(201), 1-73.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X, Y = (np.repeat(line, 2)[:, None] for line in ([0.0, 1.0, 3.0], [0.0, 4.0, 3.0]))
    >>> dreval.centroid_triplets(X, Y, labels=list("aabbcc")).round(2)
      class nearer farther  embedding_ratio  data_ratio  same
    0     a      c       b             0.75        3.00   0.0
    1     b      c       a             0.25        2.00   0.0
    2     c      b       a             0.33        0.67   1.0
    """
    view = named_view(centroid_triplet_accuracy.card, {"X": X, "Y": Y, "labels": labels})
    known = as_data(X, labels=labels).labels
    return triplets_of(view, known.classes[np.unique(view.labels)])


def triplets_of(view: View, names: Any) -> pd.DataFrame:
    """The table of ``centroid_triplets`` of a view, with the names of its classes in the order of their codes."""
    x, y = _distances(view)
    c = len(x)
    b, f = np.triu_indices(c, 1)
    a = np.repeat(np.arange(c), len(b))
    b, f = np.tile(b, c), np.tile(f, c)
    apart = (a != b) & (a != f)
    a, b, f = a[apart], b[apart], f[apart]
    turned = y[a, b] > y[a, f] * (1 + ROUNDING)
    b, f = np.where(turned, f, b), np.where(turned, b, f)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [np.where(as_near(z[a, b], z[a, f]), 1.0, np.sqrt(z[a, b] / z[a, f])) for z in (y, x)]
    same = np.where(ratios[0] == 1, 0.5, np.where(ratios[1] < 1, 1.0, 0.0))
    same[ratios[1] == 1] = np.nan
    columns = {"class": names[a], "nearer": names[b], "farther": names[f]}
    table = pd.DataFrame({**columns, "embedding_ratio": ratios[0], "data_ratio": ratios[1], "same": same})
    return table.sort_values("data_ratio", ascending=False, kind="stable", ignore_index=True)
