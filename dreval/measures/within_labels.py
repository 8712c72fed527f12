"""Measure how well batches mix within each label."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dreval._check import FloatArray, IntArray, check_float, check_int
from dreval._parallel import run_blocks
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.geometry.distances import Space
from dreval.measures.batches import (
    LISI,
    MIN_EXPECTED,
    MIXING_CAUTION,
    MIXING_CHANCE,
    can_reject,
    lisi,
    lisi_without,
    mixing,
    neighborhood_tests,
)
from dreval.measures.classes import TINY_SQUARE, Members, members, row_blocks, silhouette_widths
from dreval.measures.core import measure
from dreval.records.notes import Notes, note

MAX_MAP_COLUMNS = 3  # of an embedding that is a map, whose origin is arbitrary
MIN_POINTS_OF_LABEL = 10  # below which a label is left out, as in scib-metrics and scIntegrationMetrics


class Part(NamedTuple):
    """A label with several batches: the view of its points, their positions among all points, and their batches."""

    view: View
    places: IntArray
    batches: Members


def parts_of_labels(view: View, least: int = 1) -> tuple[list[Part], int]:
    """Return the labels with several batches and ``least`` points, and the number of the other labels.

    A label in which each point is a batch of its own is among the others. It is an error if all are.
    """
    classes, batches = (members(view, least=1, of=of, alone=True) for of in ("labels", "batch"))
    parts = []
    for places in np.split(np.argsort(classes.codes, kind="stable"), np.cumsum(classes.sizes)[:-1]):
        codes, sizes = np.unique(batches.codes[places], return_inverse=True, return_counts=True)[1:]
        if 1 < len(sizes) < len(places) and len(places) >= least:
            points = view.population[places]
            empty: dict[str, Any] = {"_cache": {}, "_data_cache": {}, "_embedding_cache": {}}
            within = replace(view, population=points, rows=points, **empty)
            parts.append(Part(within, places, Members(codes, sizes, np.arange(len(places)))))
    if not parts:
        enough = "more points" if least == 1 else f"at least {least} points"
        hint = "Pass batches that share labels; ilisi needs no labels."
        raise UndefinedMeasure("batch", f"must have a label of several batches and {enough}", "none", hint)
    return parts, len(classes.sizes) - len(parts)


# Mean distances to the own batch and to the others: silhouettes.

NEAREST_CAUTION = (
    "It compares each point with the nearest other batch only, and is high where batches overlap in pairs that lie "
    "apart: do not order integrations by it alone (Rautenstrauch & Ohler 2025); bras compares with all other batches."
)
SILHOUETTES: dict[str, Any] = {
    "warning": "Within labels, batches are separate",
    "goals": ("batches",),
    "level": "global",
    "needs": ("coordinates", "labels", "batch"),
    "direction": "higher",
    "bounds": (0.0, 1.0),
    "chance": "permutation",
    "chance_formula": MIXING_CHANCE,
    "quadratic": True,
}


@measure(
    **SILHOUETTES,
    symbol="ASW_B",
    title="Silhouette of the batches",
    question="Within each label, do the batches overlap?",
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution=f"{MIXING_CAUTION} {NEAREST_CAUTION}",
    cost="O(sum of n_c^2 d) time for labels of n_c points; O(n) memory plus one block of rows.",
    reference="@luecken2022. @rautenstrauch2025 (why it misleads).",
)
def silhouette_batch(view: View) -> tuple[float, Notes]:
    r"""Average 1 - |s| over the labels, with s the silhouette widths of its points with the batches as clusters.

    .. math:: \mathrm{ASW}_B = \frac{1}{C} \sum_{c=1}^C \frac{1}{n_c} \sum_{i: c_i = c} (1 - |s_i|),

    with :math:`s_i` the silhouette width (``silhouette``) of point i among the points of its label, with their batches
    as clusters. 1: the batches of each label overlap; 0: they are separate. Labels that have one batch, or as
    many batches as points, are left out, with a note. The data are not used.

    A silhouette compares with the nearest other batch: where two batches overlap, and two others lie together far from
    them, no batch effect is seen. It also assumes compact, round clusters. Rautenstrauch and Ohler (2025) advise
    against it for both reasons; ``bras`` compares with all other batches.

    See Also
    --------
    bras : compares with all other batches, not with the nearest one.
    silhouette : of the labels.
    cilisi, ilisi, kbet : the batches among neighbors.
    isolated_labels : labels that few batches have.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> labels, batch = np.repeat(list("ab"), 100), np.arange(200) % 2
    >>> round(dreval.silhouette_batch(Y, labels=labels, batch=batch), 3)
    0.912
    >>> round(dreval.silhouette_batch(Y + 9.0 * batch[:, None], labels=labels, batch=batch), 3)
    0.139
    """
    parts, left_out = parts_of_labels(view)
    means = []
    for part in parts:
        widths = silhouette_widths(view.Y[part.view.population], part.batches, view.n_jobs)
        means.append(float(np.mean(1.0 - np.abs(widths))))
    return float(np.mean(means)), (note("silhouette_batch.left", count=left_out),) if left_out else ()


def _mean_distances(points: FloatArray, batches: Members, distance: str, n_jobs: int | None) -> tuple[Any, Any]:
    """Return the mean distances of the points to the others of their batch and to all points of other batches.

    Of unit vectors the cosine distance is half the squared distance, whose means over points follow from sums, O(n d).
    """
    n, codes = len(points), batches.codes
    size, order = batches.sizes[codes], np.argsort(codes, kind="stable")
    starts = np.r_[0, np.cumsum(batches.sizes)[:-1]]
    if distance == "cosine":
        lengths = np.sqrt(np.square(points).sum(axis=1, keepdims=True))
        if not lengths.all():
            requirement = "must not have a point at the origin, which has no direction"
            received = f"{int((lengths == 0).sum())} such points"
            raise UndefinedMeasure("embedding", requirement, received, "Pass embedding_distance='euclidean'.")
        vectors = points / lengths
        vectors = vectors - vectors.mean(axis=0)
        squares = np.square(vectors).sum(axis=1)
        sums = np.add.reduceat(vectors[order], starts, axis=0)
        square_sums = np.add.reduceat(squares[order], starts)
        total, total_squares = sums.sum(axis=0), square_sums.sum()
        inside = (size * squares - 2.0 * (vectors * sums[codes]).sum(axis=1) + square_sums[codes]) / 2.0
        outside = (n - size) * squares - 2.0 * (vectors * (total - sums[codes])).sum(axis=1)
        outside = (outside + total_squares - square_sums[codes]) / 2.0
    else:
        inside, outside, space = np.empty(n), np.empty(n), Space.of(points)

        def add_block(part: slice) -> None:
            by_batch = np.add.reduceat(np.sqrt(space.direct_block(np.arange(n)[part]))[:, order], starts, axis=1)
            inside[part] = by_batch[np.arange(len(by_batch)), codes[part]]
            by_batch[np.arange(len(by_batch)), codes[part]] = 0.0
            outside[part] = by_batch.sum(axis=1)

        run_blocks(add_block, row_blocks(n, n), n_jobs)
    return inside / np.maximum(size - 1, 1), outside / (n - size)


@measure(
    **SILHOUETTES,
    symbol="BRAS",
    title="Silhouette of the batches against all others",
    term="BRAS",
    question="Within each label, is each point as near to all other batches as to its own?",
    invariances=frozenset({"rotation", "scale"}),
    choices={"embedding_distance": ("cosine", "euclidean")},
    caution=(
        f"{MIXING_CAUTION} Cosine distances depend on the origin: of a map in the plane they see the direction from it "
        "alone, so pass embedding_distance='euclidean' there."
    ),
    cost="O(n d) time and memory; with Euclidean distances O(sum of n_c^2 d) time for labels of n_c points.",
    reference="@rautenstrauch2025, as in scib-metrics.",
)
def bras(view: View, embedding_distance: str = "cosine") -> tuple[float, Notes]:
    r"""Average 1 - |s| over the labels, with s the silhouette widths of batches, taken against all other batches.

    .. math:: \mathrm{BRAS} = \frac{1}{C} \sum_{c=1}^C \frac{1}{n_c} \sum_{i: c_i = c} (1 - |s_i|), \qquad
              s_i = \frac{b_i - a_i}{\max(a_i, b_i)},

    among the :math:`n_c` points of label c, with :math:`a_i` the mean distance of point i to the other points of its
    batch, and :math:`b_i` its mean distance to all points of other batches. The only point of a batch in its label has
    :math:`s_i = 0`. 1: the batches of each label overlap; 0: they are separate. Labels that have one batch, or as many
    batches as points, are left out, with a note. The data are not used.

    ``silhouette_batch`` has the nearest other batch in place of all: where batches overlap in pairs that lie apart, it
    sees nothing. Distances are those of the cosine, 1 - cos of the angle at the origin, or Euclidean. A point at the
    origin has no direction, so that there is no value (scib-metrics counts the points of its batch in its label as
    mixed, and the others as if their distances to this batch were 0).

    See Also
    --------
    silhouette_batch : the nearest other batch in place of all.
    cilisi, kbet_per_label : the batches among neighbors, within labels.
    ilisi : without labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> labels, batch = np.repeat(list("ab"), 100), np.arange(200) % 2
    >>> round(dreval.bras(Y, labels=labels, batch=batch), 3)
    0.922
    >>> round(dreval.bras(Y + 9.0 * batch[:, None], labels=labels, batch=batch, embedding_distance="euclidean"), 3)
    0.139
    """
    parts, left_out = parts_of_labels(view)
    means = []
    for part in parts:
        inside, outside = _mean_distances(view.Y[part.view.population], part.batches, embedding_distance, view.n_jobs)
        larger = np.maximum(inside, outside)
        has_width = (part.batches.sizes[part.batches.codes] > 1) & (
            larger > TINY_SQUARE * (embedding_distance == "cosine")
        )
        widths = np.where(has_width, (outside - inside) / np.where(has_width, larger, 1.0), 0.0)
        means.append(float(np.mean(1.0 - np.abs(widths))))
    notes = (note("silhouette_batch.left", count=left_out),) if left_out else ()
    if embedding_distance == "cosine" and view.Y.shape[1] <= MAX_MAP_COLUMNS:
        notes += (note("bras.cosine", count=view.Y.shape[1]),)
    return float(np.mean(means)), notes


# The batches among the nearest points of the same label.


def _cilisi_without(view: View, perplexity: int, min_points: int) -> FloatArray:
    """Return the values without each point, which changes those of its label; no label is left out for it."""
    parts, _ = parts_of_labels(view, check_int(min_points, "min_points", low=3))
    sums = np.array([lisi(part.view, perplexity, "batch", mixing)[0].sum() for part in parts])
    count = sum(len(part.places) for part in parts)
    values = np.full(view.n, sums.sum() / count)
    for part, of_label in zip(parts, sums, strict=True):
        without = lisi_without(part.view, perplexity, of="batch", scale=mixing)
        values[part.places] = (sums.sum() - of_label + (len(part.places) - 1) * without) / (count - 1)
    return values


@measure(
    **{key: value for key, value in LISI.items() if key not in ("level", "reference")},
    symbol="CiLISI",
    title="Mixing of batches within labels",
    term="CiLISI",
    question="Within each label, are the batches mixed among the neighbors of a point?",
    warning="Within labels, batches are not mixed",
    goals=("batches",),
    level="global",
    needs=("coordinates", "labels", "batch"),
    chance_formula=MIXING_CHANCE,
    without=_cilisi_without,
    caution=MIXING_CAUTION,
    exponent=1.0,
    reference="@andreatta2024. @korsunsky2019 (LISI).",
)
def cilisi(view: View, perplexity: int = 30, min_points: int = MIN_POINTS_OF_LABEL) -> tuple[float, Notes]:
    r"""Average the effective number of batches among the neighbors with the label of the point, scaled to [0, 1].

    .. math:: \mathrm{CiLISI} = \frac{1}{N} \sum_{c} \sum_{i: c_i = c} \frac{L_i^c - 1}{B_c - 1},

    with :math:`L_i^c` the local inverse Simpson index of the batches (``ilisi``) among the points of label c alone, and
    :math:`B_c` the number of batches of the label. The sums are over the N points of labels with several batches, fewer
    batches than points, and at least ``min_points`` points; the others are left out, with a note. The data are not
    used.

    ``ilisi`` is low where the kinds of points differ between batches, however well these are mixed; this measure is
    not, and an embedding in which labels overlap does not raise it. Weights are those of ``ilisi``: of the 3 p - 1
    nearest points for the perplexity p. scIntegrationMetrics takes p neighbors, whose perplexity p gives all of them
    the same weight. In a label of fewer than 3 p points the perplexity is a third of its points, with a note.

    See Also
    --------
    ilisi : among all points.
    kbet_per_label : tests the shares of the batches in each neighborhood of a label.
    silhouette_batch, bras : mean distances within labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> labels, batch = np.repeat(list("ab"), 100), np.arange(200) % 2
    >>> round(dreval.cilisi(Y, labels=labels, batch=batch), 3)
    0.933
    >>> round(dreval.cilisi(Y + 9.0 * batch[:, None], labels=labels, batch=batch), 3)
    0.0
    """
    parts, left_out = parts_of_labels(view, check_int(min_points, "min_points", low=3))
    results = [lisi(part.view, perplexity, "batch", mixing) for part in parts]
    notes = [note("labels.left", count=left_out, least=min_points)] if left_out else []
    reduced = [part.view.n for part, (_, reasons) in zip(parts, results, strict=True) if reasons]
    if reduced:
        notes.append(note("cilisi.perplexity", count=len(reduced), used=max(min(reduced) // 3, 1), n=min(reduced)))
    return float(np.mean(np.concatenate([values for values, _ in results]))), tuple(notes)


MIN_NEIGHBORS = 10  # of a neighborhood of ``kbet_per_label``, and the most of them
MAX_NEIGHBORS = 70


@measure(
    symbol="kBET_C",
    title="Neighborhoods with mixed batches within labels",
    term="kBET per label",
    question="Within each label, in how many neighborhoods do the batches have the shares that they have in the label?",
    warning="Within labels, batches are not mixed",
    goals=("batches",),
    level="global",
    needs=("coordinates", "labels", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=MIXING_CHANCE,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    smooth=False,
    jumps="a label holds few neighborhoods that do not overlap, and these show little of the spread",
    caution=MIXING_CAUTION,
    cost="O(n log n) time for d <= 8, O(sum of n_c^2 d) beyond, for labels of n_c points; O(n k) memory.",
    exponent=1.0,
    reference="@buettner2019. @luecken2022 (by labels), with neighborhoods in the embedding.",
)
def kbet_per_label(
    view: View, size: int | None = None, alpha: float = 0.05, min_points: int = MIN_POINTS_OF_LABEL
) -> tuple[float, Notes]:
    r"""Average over the labels the share of their points whose neighborhood within the label has the batches' shares.

    .. math:: \mathrm{kBET}_C = \frac{1}{C} \sum_{c=1}^C \frac{1}{n_c} \sum_{i: c_i = c}
              \Big[\sum_b \frac{(o_{ib} - k_c f_{cb})^2}{k_c f_{cb}} \le \chi^2_{B_c - 1, 1 - \alpha}\Big],

    ``kbet`` among the points of each label alone: :math:`o_{ib}` counts batch b among the :math:`k_c` points of the
    label that are nearest to point i, with the point itself, and :math:`f_{cb}` is the share of the batch in the label.
    By default :math:`k_c` - 1 is a quarter of the mean size of a batch in the label, at least 10 and at most 70;
    ``size`` is one :math:`k_c` for all labels. Labels with one batch, fewer than ``min_points`` points, or too few for
    a test that can reject are left out, with a note. The data are not used.

    scib-metrics has the same rule for :math:`k_c` and the same test, but searches neighbors approximately, in diffusion
    maps of a graph of neighbors, and counts a label whose graph falls into small pieces as rejected. Here they are the
    nearest points of the label in the embedding.

    Neighborhoods overlap, and a label holds few that do not, so that there is no interval.

    See Also
    --------
    kbet : among all points.
    cilisi : the effective number of batches within labels, without a test, and with an interval.
    silhouette_batch, bras : mean distances within labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(400, 2))
    >>> labels, batch = np.repeat(list("ab"), 200), np.arange(400) % 2
    >>> round(dreval.kbet_per_label(Y, labels=labels, batch=batch), 3)
    0.97
    >>> round(dreval.kbet_per_label(Y + 9.0 * batch[:, None], labels=labels, batch=batch), 3)
    0.0
    """
    if check_float(alpha, "alpha", high=1.0, above=0.0) == 1.0:
        raise UndefinedMeasure("alpha", "must be less than 1", "1", "Choose a level such as 0.05.")
    if size is not None:
        check_int(size, "size", low=2)
    parts, left_out = parts_of_labels(view, check_int(min_points, "min_points", low=3))
    shares, fewest = [], MIN_EXPECTED
    for part in parts:
        sizes = part.batches.sizes
        quarter = len(part.places) // (4 * len(sizes))
        k = min(max(quarter, MIN_NEIGHBORS), MAX_NEIGHBORS) + 1 if size is None else size
        if not can_reject(tuple(sizes.tolist()), k, alpha):
            left_out += 1
            continue
        p, expected = neighborhood_tests(part.view, members(part.view, of="batch"), k)
        shares.append(float((p >= alpha).mean()))
        fewest = min(fewest, expected)
    if not shares:
        requirement = "must leave out enough points of a label for a test that can reject"
        raise UndefinedMeasure("size", requirement, "no such label", "Choose a smaller size, or a larger alpha.")
    notes = [note("kbet_per_label.left", count=left_out, least=min_points)] if left_out else []
    notes += [note("kbet.few", least=fewest)] if fewest < MIN_EXPECTED else []
    return float(np.mean(shares)), tuple(notes)
