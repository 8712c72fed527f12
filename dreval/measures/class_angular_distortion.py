"""Class angular distortion."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dreval._check import check_int
from dreval._parallel import sum_over_rows
from dreval._random import stream
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import power_of_two
from dreval.geometry.pair_statistics import EVERY
from dreval.measures._classes import Members, members
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import ASSUMPTION, Notes, define


def _without(view: View, n_triplets: int) -> FloatArray:
    """Means of the other rows from what they see without the point, weighted by the classes that are left.

    NaN where these are fewer than two, or all of one point.
    """
    found = _angles(view, check_int(n_triplets, "n_triplets", low=2))
    sizes, own = found.classes.sizes, found.classes.codes
    several, size = sizes >= 2, sizes[own].astype(np.float64)
    sums = np.bincount(own, found.means) / sizes
    c, v = len(sizes) - (size == 1), several.sum() - (size == 2)
    total = (v - (size > 2)) * (size * sums[own] - found.means) / np.maximum(size - 1, 1)  # the rows of its class
    for kind in (0, 1):  # those of other classes of one point, and of more
        others = sums[several == kind].sum() - np.where(several[own] == kind, sums[own], 0.0)
        total += (v - kind) * (others + found.changes[kind])
    return np.divide(total, v * (c - 1), out=np.full(view.n, np.nan), where=(c > 1) & (v > 0))


DRAWN = define("class_angular_distortion.drawn", ASSUMPTION, "{triplets} random triplets a point")


@measure(
    symbol="CADI",
    title="Class angular distortion",
    question="Do the members of a class span the same angles as in the data, seen from the points of other classes?",
    says=("Classes lie at the angles of the data", "Do not read how classes lie relative to each other"),
    goals=("arrangement",),
    level="point",
    needs=("coordinates", "features", "labels"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    caution=(
        "Classes that overlap in the embedding appear too wide, and shrinking them can bring the angles nearer to "
        "those of the data: a better value is not better separation."
    ),
    quadratic=True,
    contributions=(0.0, math.inf),
    without=_without,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n t (p + d)) time for t triplets a point, at most 20,000 where all are used; O(n (p + d)) memory.",
    operations=lambda s, **_: 90_000 * s.m,
    reference=(
        "@gunaratne2026, weighted as in ZADU 0.5.4; with all triplets of small data in place of 10 n random ones."
    ),
)
def class_angular_distortion(view: View, n_triplets: int = 200) -> tuple[FloatArray, Notes]:
    r"""Mean squared change of the cosine of the angle at a point between two members of another class, over 4.

    .. math:: \mathrm{CADI} = \frac{1}{v (c - 1)} \sum_{A \ne B} \frac{1}{n_A} \sum_{i \in A}
              \frac{2}{n_B (n_B - 1)} \sum_{\{j, l\} \subset B}
              \frac{(\cos \angle^X_{j i l} - \cos \angle^Y_{j i l})^2}{4},

    over the c classes A and the v classes B with two members or more; :math:`\angle^X_{jil}` is the angle at i between
    j and l in the data. Every ordered pair of classes has the same weight, whatever its sizes, so the contribution of a
    point is its own mean times :math:`n` over the size of its class (and times the share of such B): contributions
    average to the value, and may exceed 1. An angle at a point that coincides with j or l has the cosine 0, as in ZADU.

    All triplets are used where a point has at most 20,000 (or ``n_triplets``) of them, else ``n_triplets`` random ones
    for each point, the same for every embedding. ZADU draws 10 n triplets in all.

    It compares how wide classes appear and how they are arranged, so distances and separation do not count: a class
    that is moved farther away appears narrower, but classes that overlap in both spaces cost nothing. The cosine moves
    little at angles near 0, so narrow classes that are far apart have values near 0 for almost any embedding, and for
    many columns angles of unrelated points are near 90 degrees: compare with the chance level.

    See Also
    --------
    label_trustworthiness, label_continuity : separation of pairs of classes.
    triplet_accuracy : the order of the distances in triplets, without classes.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 4.0]])
    >>> labels = list("aabb")
    >>> dreval.class_angular_distortion(X, 2 * X, labels=labels)
    0.0
    >>> round(dreval.class_angular_distortion(X, X[:, :1], labels=labels), 4)
    0.014
    """
    found = _angles(view, check_int(n_triplets, "n_triplets", low=2))
    sizes = found.classes.sizes
    several = sizes >= 2
    c, v = len(sizes), int(several.sum())
    weights = view.n * (v - several) / (v * (c - 1) * sizes)
    own = found.classes.codes[found.classes.rows]
    return weights[own] * found.means, (DRAWN(triplets=n_triplets),) if found.drawn else ()


class _Angles(NamedTuple):
    """The mean of each row, the changes of their sums without each point, whether triplets were drawn, and classes."""

    means: FloatArray
    changes: FloatArray
    drawn: bool
    classes: Members


@per_view
def _angles(view: View, n_triplets: int) -> _Angles:
    """What the rows see of the other classes, and without each point: see ``every_angle``."""
    from dreval.geometry._loops import angles as loops

    classes = members(view)
    X, Y = np.zeros((len(view.Y), view.X.shape[1])), np.zeros(view.Y.shape)
    for points, known in ((X, view.features()), (Y, view.Y[view.population])):
        points[view.population] = known * power_of_two(known)  # so that no difference overflows, and none is rounded
    stay = np.zeros(len(Y), np.bool_)
    stay[view.population] = True
    codes, every = np.unique(np.asarray(view.labels), return_inverse=True)[1], np.bincount(np.asarray(view.labels))
    order, starts = np.argsort(codes, kind="stable"), np.r_[0, np.cumsum(every[every > 0])]
    means = np.zeros(len(view.rows))
    drawn = int(np.sum(every * (every - 1) // 2)) > max(n_triplets, EVERY)
    key = stream(view.seed, "angles").integers(2**64, dtype=np.uint64)

    def one(part: slice, changes: FloatArray) -> None:
        if drawn:
            rule = (key, n_triplets, means[part], changes)
            loops.drawn_angles(X, Y, view.rows[part], codes, order, starts, stay, *rule)
        else:
            loops.every_angle(X, Y, view.rows[part], codes, order, starts, stay, means[part], changes)

    changes = sum_over_rows(one, len(view.rows), np.zeros((2, len(Y))), view.n_jobs)
    return _Angles(means, changes[:, view.population], drawn, classes)
