"""Class angular distortion."""

from __future__ import annotations

import math

import numpy as np

from dreval._check import check_int
from dreval._parallel import run_blocks
from dreval._random import stream
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.geometry.pair_statistics import EVERY
from dreval.measures._classes import members, unit
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import LIMIT, Notes, define

DRAWN = define("class_angular_distortion.drawn", LIMIT, "{triplets} random triplets a point")


@measure(
    symbol="CADI",
    title="Class angular distortion",
    question="Do the members of a class span the same angles as in the data, seen from the points of other classes?",
    goals=("classes", "arrangement"),
    level="point",
    needs=("coordinates", "features", "labels"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    quadratic=True,
    contributions=(0.0, math.inf),
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n t (p + d)) time for t triplets a point, at most 20,000 where all are used; O(n (p + d)) memory.",
    reference=(
        "Gunaratne, Kobourov & Miller (2026), Class Angular Distortion Index for dimensionality reduction, EuroVis\n"
        "2026 (arXiv:2605.00637), weighted as in ZADU 0.5.4; with all triplets of small data in place of 10 n random\n"
        "ones."
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
    check_int(n_triplets, "n_triplets", low=2)
    from dreval.geometry._loops import angles as loops

    classes = members(view, least=2)
    several = classes.sizes >= 2
    if not several.any():
        rule = "must have a class with at least 2 points"
        raise UndefinedMeasure("labels", rule, f"{len(several)} classes of one point", "Pass labels that repeat.")
    X, Y = np.zeros((len(view.Y), view.X.shape[1])), np.zeros(view.Y.shape)
    X[view.population], Y[view.population] = unit(view.features()), unit(view.Y[view.population])
    stay = np.zeros(len(Y), np.bool_)
    stay[view.population] = True
    codes, every = np.unique(np.asarray(view.labels), return_inverse=True)[1], np.bincount(np.asarray(view.labels))
    order, starts = np.argsort(codes, kind="stable"), np.r_[0, np.cumsum(every[every > 0])]
    counts, own = np.zeros(len(view.rows)), classes.codes[classes.rows]
    drawn = int(np.sum(every * (every - 1) // 2)) > max(n_triplets, EVERY)
    key = stream(view.seed, "angles").integers(2**64, dtype=np.uint64)

    def one(part: slice) -> None:
        if drawn:
            loops.drawn_angles(X, Y, view.rows[part], codes, order, starts, stay, key, n_triplets, counts[part])
        else:
            loops.every_angle(X, Y, view.rows[part], codes, order, starts, stay, counts[part])

    run_blocks(one, [slice(at, at + 64) for at in range(0, len(view.rows), 64)], view.n_jobs)
    c, v = len(several), int(several.sum())
    weights = view.n * (v - several) / (v * (c - 1) * classes.sizes)
    return weights[own] * counts, (DRAWN(triplets=n_triplets),) if drawn else ()
