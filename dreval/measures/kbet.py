"""kBET: the share of neighborhoods in which the batches have the shares that they have among all points."""

from __future__ import annotations

from itertools import product

import numpy as np

from dreval._check import FloatArray, IntArray, check_float, check_int
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.measures._batches import MIXED, NOISE, near_points
from dreval.measures._classes import members, row_blocks
from dreval.measures._measure import measure
from dreval.records.notes import LIMIT, Notes, define

FEW_BATCHES = 10  # of which all subsets are tried
APART = 10  # times that the points hold a neighborhood, below which an interval may be too short
LEAST = 5.0  # expected points of each batch below which the chi-squared test is a rough one
FEW = define(
    "kbet.few",
    LIMIT,
    "a neighborhood is expected to hold {least:.2g} points of the smallest batch: a rough test",
    "Choose a larger size.",
)
OVERLAP = define(
    "kbet.overlap",
    LIMIT,
    "only about {count:.0f} neighborhoods are independent: an interval may be too short",
    "Choose a smaller size.",
)


@measure(
    symbol="kBET",
    title="kBET, neighborhoods with mixed batches",
    question="In how many neighborhoods do the batches have the shares that they have among all points?",
    says=("Batches are mixed", "Batches are not mixed"),
    share="of the neighborhoods have the batches of the whole",
    goals=("batches",),
    level="point",
    needs=("coordinates", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=MIXED,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    caution=f"{NOISE} Near 1 its interval is too short unless n is many times the parameter size.",
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    operations=lambda s, **_: 9000 * s.n,
    reference="@buettner2019; without its adaptation of k, and at all points, as in scib-metrics.",
)
def kbet(view: View, size: int = 50, alpha: float = 0.05) -> tuple[FloatArray, Notes]:
    r"""Share of the points whose neighborhood a chi-squared test does not reject as a sample of all batches.

    .. math:: \mathrm{kBET} = \frac{1}{n} \sum_{i=1}^n \Big[\sum_{b=1}^B \frac{(o_{ib} - k f_b)^2}{k f_b}
              \le \chi^2_{B - 1, 1 - \alpha}\Big],

    with :math:`o_{ib}` the points of batch b among the k = ``size`` points of the neighborhood of i in the embedding
    (the point itself and its nearest neighbors), and :math:`f_b` the share of batch b among all points. The data are
    not used.

    Points as far as the last of a neighborhood count by their shares, so that no order of ties matters. No value is
    given where so many of all points are in a neighborhood that no test could reject. The value falls as n grows, since
    a neighborhood of k points then shows a smaller place: compare data sets of one size only.

    Neighborhoods are tested as if they were drawn at random, each at the level :math:`\alpha`: also batches that are
    mixed completely are rejected in some, and the chance level is the share that is accepted then. A batch whose kinds
    of points differ from those of the others is rejected however well it is placed; ``silhouette_batch`` looks within
    labels.

    Neighborhoods overlap: only about n / ``size`` are independent. Where these are few, a sample in which none or few
    neighborhoods are rejected shows little of the spread, and its interval is too short. Of two batches that were mixed
    at random in two dimensions, it held the mean of the values of all samples in 98 % of 150 samples of 300 points at
    ``size=25`` and in 89 % of 200 at ``size=50``; of 100 points in 79 % of 174 at ``size=25`` and 92 % of 86 at
    ``size=50`` (the other samples, of 200 each, had the value 1 whatever was left out, and so no interval). Those that
    missed it lay above it.

    See Also
    --------
    ilisi : the effective number of batches, without a test.
    silhouette_batch : mean distances within labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(400, 2))
    >>> round(dreval.kbet(Y, Y, batch=np.arange(400) % 2), 3)
    0.948
    >>> round(dreval.kbet(Y, Y, batch=Y[:, 0] > 0), 3)
    0.113
    """
    from scipy.special import chdtrc

    if check_float(alpha, "alpha", high=1.0, above=0.0) == 1.0:
        raise UndefinedMeasure("alpha", "must be less than 1", "1", "Choose a level such as 0.05.")
    batches, size = members(view, of="batch"), check_int(size, "size", low=2)
    expected, c = size * batches.sizes / view.n, len(batches.sizes)
    if chdtrc(c - 1, _most_uneven(batches.sizes, size)) >= alpha:
        rule, cure = "must leave out enough points for a test that can reject", "Choose a smaller size."
        raise UndefinedMeasure("size", rule, f"{size} of {view.n} points", cure)
    near = near_points(view, size - 1)
    p = np.empty(len(near.rows))
    for part in row_blocks(len(near.rows), c):
        counts = near.part(part).shares(np.ones(near.found[part].shape), batches, view.n_jobs)
        counts[np.arange(len(counts)), batches.codes[batches.rows[part]]] += 1.0  # the point itself
        p[part] = chdtrc(c - 1, ((counts - expected) ** 2 / expected).sum(axis=1))
    notes = (FEW(least=float(expected.min())),) if expected.min() < LEAST else ()
    notes += (OVERLAP(count=view.n / size),) if view.n < APART * size else ()
    return (p >= alpha).astype(np.float64), notes


def _most_uneven(sizes: IntArray, k: int) -> float:
    """The largest statistic that k points can have: whole batches, and a part of one; of many batches a bound."""
    n = int(sizes.sum())
    if len(sizes) > FEW_BATCHES:
        return float(n - k)
    largest = 0.0
    for b, size in enumerate(sizes):
        others = np.delete(sizes, b)
        for chosen in product((0, 1), repeat=len(others)):
            whole = int(others @ chosen)
            if 0 <= k - whole <= size:
                largest = max(largest, n / k * (whole + (k - whole) ** 2 / size) - k)
    return largest
