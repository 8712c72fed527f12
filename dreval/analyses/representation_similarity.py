"""Compare representations of the same items: how similar they are, whether that is chance, and which items moved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, IntArray, check_float, check_int, check_k, check_one_of, describe
from dreval._parallel import n_threads, open_progress
from dreval._random import root_seed, stream
from dreval.analyses._analysis import analysis
from dreval.errors import THE_DATA, DrevalError, InputError
from dreval.geometry.distances import take
from dreval.geometry.ranks import nearest_rank_limits
from dreval.geometry.similarity import LOWER_IS_BETTER, SIMILARITIES, Pair, Representation
from dreval.inference.intervals import jackknife_interval
from dreval.inference.permutation import (
    CHUNK,
    RELATIVE_TIE,
    JointNull,
    PermutationNull,
    Scheme,
    joint_null,
    make_scheme,
    upper_threshold,
)
from dreval.inputs.data import Data, as_data
from dreval.inputs.files import unpack
from dreval.inputs.kinds import distinct_names, is_path
from dreval.inputs.variables import align
from dreval.records.notes import Note, Notes, join_notes, note
from dreval.records.provenance import provenance, reproducing_call
from dreval.records.similarity import RepresentationSimilarity, similarity_table

METRICS = ("euclidean", "cosine", "correlation", "precomputed")
SIDES = ("A", "B")
MAX_ITEMS_WITHOUT_ANCHORS = 3000  # up to which "auto" takes all items
ANCHORS = 2000  # that "auto" takes of more items
CURVE = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)  # numbers of neighbors of the curve
BOUNDS = {"overlap": (0.0, 1.0), "cka": (-1.0, 1.0), "rsa": (-1.0, 1.0), "procrustes": (0.0, 1.0)}
CLOSED_CHANCE = {"cka": 0.0, "rsa": 0.0, "imbalance": 1.0}  # expected values of permuted items
OF_ANCHORS = ("rsa", "imbalance")


@analysis(
    title="Representation similarity",
    question="How similar are two representations of the same items, is it more than chance, and which items moved?",
    caution="A similarity that is not chance can be low, and a high one does not say that a task works as well as "
    "before. Intervals refer to other items of the same population, one value at a time; p-values are not adjusted "
    "over measures. Measures answer different questions: only overlap and imbalance read neighbors alone.",
    cost="O(n^2 p) time for the neighbors of each representation, O(m n (p + log n)) for m anchors, and for each pair "
    "and permutation O(n p q) for CKA and Procrustes, O(m^2) for RSA; O(n (p + K) + m n + m^2) memory for each "
    "representation, K = 101.",
    reference="@groger2026 (calibration), @huh2024 (overlap), @kornblith2019 and @song2012 (unbiased CKA), "
    "@kriegeskorte2008 (RSA), @glielmo2022 (information imbalance).",
)
def representation_similarity(
    A: Any,
    B: Any = None,
    *,
    measures: str | Sequence[str] = "all",
    n_neighbors: int | str = "auto",
    metric: Any = "euclidean",
    ids: Any = None,
    groups: Any = None,
    anchors: int | str | None = "auto",
    n_resamples: int = 199,
    alpha: float = 0.05,
    conf_level: float = 0.95,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> RepresentationSimilarity:
    r"""Compare two or more representations of the same items, such as two versions of a model or its layers.

    ``overlap``, with the k nearest neighbors :math:`N_i` and :math:`M_i` of item i in both:

    .. math:: \frac{1}{n} \sum_i \frac{|N_i \cap M_i|}{k}.

    ``cka``, with the unbiased :math:`\mathrm{HSIC}_1` of linear kernels (``hsic_test`` has its formula):
    :math:`\mathrm{HSIC}_1(K, L) / \sqrt{\mathrm{HSIC}_1(K, K) \, \mathrm{HSIC}_1(L, L)}`; it can be negative.
    ``rsa``: Spearman's correlation of the distances of all pairs of items. ``procrustes``: the share of variance that
    remains after the best translation, rotation and scaling. ``imbalance``, from the first to the second and back, with
    the rank :math:`r_i` in the second of the nearest neighbor of i in the first:

    .. math:: \Delta = \frac{2}{n} \cdot \frac{1}{n} \sum_i r_i.

    Parameters
    ----------
    A, B : (n, p) and (n, q) array, DataFrame, sparse matrix or path, or dict of these by name
        Representations of the same items, with any numbers of columns. Row names or ``ids`` on both sides match the
        items; without them the order counts. Two paths are named after their files. With a dict as A alone all pairs
        are compared; with dicts on both sides each representation of A with each of B (the layers of two models). With
        n x n distances use ``metric="precomputed"``.
    measures : "all" or list of str, default "all"
        Of "overlap", "cka", "rsa", "procrustes", "imbalance".
    n_neighbors : int or "auto", default "auto"
        Number k of neighbors; "auto" is 15, or fewer for few items.
    metric : str, pair of str or dict of str, default "euclidean"
        "euclidean", "cosine", "correlation" or "precomputed": for all, for A and B, or for each name. Kernels are inner
        products of the rows that the metric compares: for "cosine" of rows of norm 1, for "correlation" of centered
        ones, for "precomputed" minus half the squared distances. Procrustes compares the same rows; it has no value
        where a side is "precomputed".
    ids : array-like or str, optional
        Names of the items in the order of all representations, or the name of the column that has them in each. A
        table whose row names are the same ids in another order is matched by them, with a note; for A that is an error.
    groups : (n,) array, column of A by name, or path, optional
        Items that belong together (documents, speakers): items are permuted within groups only. There are then no
        intervals, which take the items as independent. A named column is a coordinate of no representation.
    anchors : int, "auto" or None, default "auto"
        Number m of random items whose distances and ranks among all items are used by RSA and imbalance. "auto": all
        of up to 3000 items, 2000 of more; None: all, with n^2 memory.
    n_resamples : int, default 199
        Permutations of the items; the same ones for all measures and pairs.
    alpha : float, default 0.05
        Level of the thresholds and calibrated scores.
    conf_level : float, default 0.95
        Level of the intervals.
    random_state : int, Generator or None, default None
        Seed of the permutations and anchors.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    RepresentationSimilarity
        ``tidy()`` has the values with p-values, calibrated scores and intervals, ``matrix()`` those of many,
        ``augment()`` the items, those that moved most first; ``plot()``, ``report()``, ``save()``.

    Raises
    ------
    InputError
        If the items do not match, a representation has missing or infinite numbers or rows without the metric, or an
        argument is out of range.

    Warnings
    --------
    A similarity that is not chance can be low, and a high one does not say that a task works as well as before.
    Intervals refer to other items of the same population, one value at a time; p-values are not adjusted over measures.
    Measures answer different questions: only overlap and imbalance read neighbors alone.

    See Also
    --------
    hsic_test, dcov_test : other tests of whether two sets of columns are independent.
    Evaluation : the same measures of neighbors between data and their embedding, with reports.
    stability : whether repeated runs of a method agree.

    Notes
    -----
    *p and calibration.* The items of one side are permuted against the other;
    :math:`p = (b + 1) / (m + 1)` for b of m permutations with a similarity that is at least as large. With the
    similarity s (1 minus the value where lower is better) and the :math:`\lceil (1 - \alpha)(m + 1) \rceil`-th smallest
    :math:`\tau` of s and its permuted values, the calibrated score is :math:`\max(0, (s - \tau) / (1 - \tau))`:
    positive if and only if :math:`p \le \alpha`. Then it is 1 for equal representations, but for imbalance, whose best
    value is 2/n, :math:`(1 - 2/n - \tau) / (1 - \tau)`: about .6 for 8 items and .96 for 60. It is 0 for equal ones
    where permutations change nothing (k = n - 1), or are too few for the level (4 items). Of several pairs ``maxima``
    has the same for the largest similarity, whose null distribution is that of the maximum over the pairs, and
    ``p_adjusted`` compares each pair with it. With A and B the same permutation applies to all pairs; within a dict
    each representation has its own permutation, so that the maximum has its level if all representations are
    independent of each other. With anchors, permutations map anchors to anchors: p stays exact.

    *Intervals* are those of the jackknife over items, or over anchors. Values without each item are exact for overlap,
    CKA and imbalance, and of first order for RSA of more than 200 items and Procrustes of many columns. Variances of
    measures of neighbors are too large rather than too small (Efron and Stein 1981): in 400 simulations of 80 items
    95 % intervals of CKA, RSA and Procrustes held the mean value in .94 to .98, of overlap and imbalance in .99, with
    standard errors 1.4 to 1.7 times those of the simulations.

    *Ties* in distance (equal up to rounding) are broken by row number in the neighbors and ranks of both sides, with a
    note. Overlap, imbalance and moved items then depend on the order of the items; RSA uses mid-ranks.

    *Ranges.* Overlap 0 to 1, chance k / (n - 1). CKA and RSA -1 to 1, chance 0. Procrustes 0 (equal) to 1, imbalance
    2/n (nearest neighbors stay nearest) to 2 - 2/n, chance 1.

    References
    ----------
    Gröger et al. (2026), calibrated similarity. Huh et al. (2024), *ICML*. Kornblith et al. (2019), *ICML*. Song et al.
    (2012), *JMLR* 13. Kriegeskorte et al. (2008), *Front. Syst. Neurosci.* 2:4. Glielmo et al. (2022), *PNAS Nexus* 1.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> old = rng.normal(size=(100, 8))
    >>> new = old @ rng.normal(size=(8, 12)) + 0.3 * rng.normal(size=(100, 12))
    >>> result = dreval.representation_similarity(old, new, random_state=0)
    >>> result.tidy()[["measure", "value", "p_value", "calibrated"]].round(3)
          measure  value  p_value  calibrated
    0     overlap  0.576    0.005       0.490
    1         cka  0.756    0.005       0.749
    2         rsa  0.742    0.005       0.722
    3  procrustes  0.220    0.005       0.764
    4   imbalance  0.106    0.005       0.879
    5   imbalance  0.100    0.005       0.887
    """
    n_threads(n_jobs)
    settings = _Settings.of(measures, n_resamples, alpha, conf_level, root_seed(random_state), n_jobs)
    sides, notes, codes = _read_sides(A, B, metric, ids, groups)
    tables = {name: data for side in sides for name, data in side.items()}
    first = next(iter(tables.values()))
    k = _single_k(n_neighbors, first.n)
    chosen = _choose_anchors(anchors, first.n, settings)
    if len(chosen) < first.n:
        notes.append(note("similarity.anchors", anchors=len(chosen), n=first.n))
    rows, columns = tuple(sides[0]), tuple(sides[-1])
    names = [(a, b) for i, a in enumerate(rows) for b in (columns[i + 1 :] if len(sides) == 1 else columns)]
    with open_progress(progress) as bar:
        prepared = {}
        bar.set_description("representations")
        bar.reset(total=len(tables))
        for name, data in tables.items():
            size = min(first.n - 1, max(*CURVE, k + 1))
            prepared[name] = Representation.of(data.X, data.metric, chosen, size, n_jobs, settings.measures)
            bar.update(1)
        pairs = {(a, b): Pair(prepared[a], prepared[b], k, settings.measures) for a, b in names}
        bar.set_description("permutations")
        bar.reset(total=-(settings.n_resamples // -CHUNK))
        joint = _permute(pairs, sides, settings, codes, chosen, bar.update)
    if any(side.has_ties for side in prepared.values()):
        notes.append(note("ties.index"))
    if codes is not None:
        notes.append(note("similarity.groups", count=int(codes.max()) + 1))
    comparison = _Comparison(pairs, joint, settings, has_groups=codes is not None)
    parameters = {**settings.parameters(), "n_neighbors": k, "anchors": len(chosen)}
    parameters["metric"] = ", ".join(dict.fromkeys(data.metric for data in tables.values()))
    arguments: dict[str, Any] = {"measures": measures, "n_neighbors": n_neighbors, "metric": metric, "anchors": anchors}
    arguments |= {"n_resamples": n_resamples, "alpha": alpha, "conf_level": conf_level, "random_state": settings.root}
    passed = [*SIDES[: len(sides)]]
    passed += [f"{name}={name}" for name, value in (("ids", ids), ("groups", groups)) if value is not None]
    call = reproducing_call("dreval.representation_similarity", passed, arguments, representation_similarity)
    return RepresentationSimilarity(
        table=comparison.table(),
        maxima=comparison.maxima(),
        curve=comparison.curve(),
        rows=rows,
        columns=columns,
        neighbors={name: np.array(side.neighbors[:, :k]) for name, side in prepared.items()},
        ids=None if first.ids is None else np.asarray(first.ids),
        recipe=provenance(parameters, n=first.n, random_state=settings.root, call=call),
        notes=tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True)
class _Settings:
    """The checked settings of a comparison."""

    measures: tuple[str, ...]
    n_resamples: int
    alpha: float
    conf_level: float
    root: int
    n_jobs: int | None

    @classmethod
    def of(
        cls, measures: Any, n_resamples: Any, alpha: Any, conf_level: Any, root: int, n_jobs: int | None
    ) -> _Settings:
        """Check the settings; raise if no p-value can be at most alpha."""
        requested = list(SIMILARITIES) if isinstance(measures, str) and measures == "all" else measures
        requested = [requested] if isinstance(requested, str) else requested
        if not isinstance(requested, list | tuple) or not requested:
            hint = f"Pass 'all', or a list of {', '.join(SIMILARITIES)}."
            raise InputError("measures", "must be names of measures", describe(measures), hint)
        chosen = {check_one_of(name, SIMILARITIES, "measures", aliases=True) for name in requested}
        count, alpha = check_int(n_resamples, "n_resamples", low=1), check_float(alpha, "alpha", high=0.5, above=0.0)
        least = math.ceil(1 / alpha - 1e-9) - 1
        if count < least:
            hint = f"Pass n_resamples={least} or more: no p-value is below 1 / (n_resamples + 1)."
            raise InputError("n_resamples", f"must be at least {least} for alpha={alpha:g}", str(count), hint)
        level = check_float(conf_level, "conf_level", low=0.5, high=1 - 1e-6)
        return cls(tuple(name for name in SIMILARITIES if name in chosen), count, alpha, level, root, n_jobs)

    def parameters(self) -> dict[str, Any]:
        """Return the settings that a record stores."""
        parameters: dict[str, Any] = {"measures": list(self.measures), "n_resamples": self.n_resamples}
        return parameters | {"alpha": self.alpha, "conf_level": self.conf_level}


# Reading: representations with their items in the same order.


def _read_sides(
    A: Any, B: Any, metric: Any, ids: Any, groups: Any
) -> tuple[list[dict[str, Data]], list[Note], IntArray | None]:
    """Return the representations of one or two sides by name, notes on them, and the group of each item."""
    sides = [_named(A, "A", B)] + ([] if B is None else [_named(B, "B", A)])
    if B is None and len(sides[0]) < 2:
        received = "one representation" if sides[0] else "none"
        hint = "Pass two arrays, A and B, or a dict of two representations or more."
        raise InputError("B", "must be given where A is one representation", received, hint)
    if B is not None and (common := [name for name in sides[0] if name in sides[1]]):
        raise InputError("B", "must have other names than A", repr(common[0]), "Give each representation one name.")
    metrics = _metrics(metric, sides)
    read: list[dict[str, Data]] = []
    notes: list[Note] = []
    first: Data | None = None
    first_argument = ""
    reference: _Reference | None = None
    for label, side in zip(SIDES, sides, strict=False):
        read.append({})
        for name, value in side.items():
            argument = label if value is (A, B)[label == "B"] else f"{label}[{name!r}]"
            try:
                data, reference, row_notes = _read(value, ids, groups, metrics[name], reference, argument)
            except DrevalError as error:
                raise error.named(
                    {"data": argument, "labels": "groups", THE_DATA: first_argument or argument}
                ) from error.__cause__
            first_argument = first_argument or argument
            notes += [*(item.named({"data": argument}) for item in data.notes), *row_notes]
            read[-1][name] = data
            first = data if first is None else first
    vector = None if first is None or first.groups is None else first.groups.codes
    return read, notes, vector


def _named(value: Any, label: str, other: Any) -> dict[str, Any]:
    """Return representations by name: those of a dict; of a single one the name of its file, or A or B."""
    if isinstance(value, Mapping):
        if not value or not all(isinstance(name, str) and name for name in value):
            hint = "Name each representation by a text."
            raise InputError(label, "must be representations by name", describe(value), hint)
        return dict(value)
    if not is_path(value):
        return {label: value}
    names = distinct_names([value, other] if is_path(other) else [value])
    return {names[0] if len({*names}) == len(names) else label: value}


def _metrics(metric: Any, sides: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the metric of each representation: one for all, one for each side, or one for each name."""
    names = [name for side in sides for name in side]
    if isinstance(metric, Mapping):
        if missing := [name for name in names if name not in metric]:
            hint = "Pass one metric for all, or one for each name."
            raise InputError("metric", "must have each representation", f"none for {missing[0]!r}", hint)
        by_name = {name: metric[name] for name in names}
    elif isinstance(metric, list | tuple):
        if len(metric) != 2 or len(sides) != 2:
            hint = "Pass one metric for all, a pair for A and B, or a dict of metrics by name."
            raise InputError("metric", "must be one, or one for each of A and B", describe(metric), hint)
        by_name = {name: chosen for side, chosen in zip(sides, metric, strict=True) for name in side}
    else:
        by_name = dict.fromkeys(names, metric)
    return {name: check_one_of(chosen, METRICS, "metric", aliases=True) for name, chosen in by_name.items()}


@dataclass(frozen=True)
class _Reference:
    """The items of the first representation, by which the others are matched, and whether its column has the groups."""

    data: Data
    rows: Data  # with the names that other row names are compared with
    has_groups: bool


def _read(
    value: Any, ids: Any, groups: Any, metric: str, first: _Reference | None, argument: str
) -> tuple[Data, _Reference, Notes]:
    """Return a representation with its items in the order of the first, the reference of the next, and notes.

    A vector of ids names the items in this order. Row names of a table are names of the items, too: they are compared
    with the ids, or with the row names of the first if those are no ids.
    """
    is_vector = ids is not None and not isinstance(ids, str | int)
    is_name = isinstance(groups, str | int)
    raw = unpack(value, "data", sparse=True) if is_vector or is_name else None
    names = raw.index if is_vector and raw is not None else None
    tables = () if raw is None or not is_name else (raw, raw.extra)
    has_column = str(groups) in {str(column) for table in tables if table is not None for column in table.columns}
    if first is None:
        data = as_data(value, ids=ids, groups=groups, metric=metric)
        rows = data
        if names is not None and data.ids is not None:
            if not names.map(str).isin(data.ids.map(str)).any():
                rows = replace(data, ids=names, ids_given=False)
            elif align(data.n, names, data, argument)[0] is not None:
                requirement, hint = "must be in the order of the rows", "Leave `ids` out, or pass the row names of `A`."
                raise InputError("ids", requirement, "the row names of `A` in another order", hint)
        return data, _Reference(data, rows, has_column), ()
    column = groups if has_column and first.has_groups else None
    data = as_data(value, ids=ids if names is None else None, groups=column, metric=metric)
    rows = first.data if names is None else first.rows
    order, notes = align(data.n, data.ids, rows, argument, ids_given=data.ids_given, reserve=data.reserve)
    order = np.arange(data.n) if order is None else order
    if data.groups is not None and first.data.groups is not None:
        groups_here, groups_first = data.groups.values[order], first.data.groups.values
        if len(differing := np.flatnonzero(groups_here.astype(str) != groups_first.astype(str))):
            row = int(differing[0])
            received = f"{groups_first[row]!s} in `A` and {groups_here[row]!s} in `{argument}` in row {row} of `A`"
            raise InputError("groups", "must be the same in all tables", received, "Remove one of the columns.")
    notes = tuple(item.with_values(data="`A`") for item in notes)
    if (order == np.arange(data.n)).all():
        return data, first, notes
    return replace(data, table=take(data.X, order, data.metric)), first, notes


def _single_k(n_neighbors: Any, n: int) -> int:
    """Return the number of neighbors; raise for several."""
    ks, is_single = check_k(n_neighbors, n)
    if not is_single:
        raise InputError("n_neighbors", "must be one number", describe(n_neighbors), "The curve has further numbers.")
    return ks[0]


def _choose_anchors(anchors: Any, n: int, settings: _Settings) -> IntArray:
    """Return the items whose ranks and distances are used, ascending."""
    if isinstance(anchors, str) and anchors in ("auto", "none"):
        anchors = ANCHORS if anchors == "auto" and n > MAX_ITEMS_WITHOUT_ANCHORS else None
    count = n if anchors is None else check_int(anchors, "anchors", low=4, high=n)
    if count == n or not {*OF_ANCHORS} & {*settings.measures}:
        return np.arange(n)
    return np.sort(stream(settings.root, "anchors of similarity").choice(n, count, replace=False))


# The permutations, and what they say of each pair.


def _permute(
    pairs: Mapping[tuple[str, str], Pair],
    sides: Sequence[Mapping[str, Data]],
    settings: _Settings,
    codes: IntArray | None,
    anchors: IntArray,
    advance: Any,
) -> JointNull:
    """Return the statistics of all pairs under the same permutations, within groups and among anchors.

    With two sides one permutation moves all representations of the second. Within one side each but the first has a
    permutation of its own, and those of a pair are composed.
    """
    n = next(iter(pairs.values())).first.n
    parts = np.zeros(n, np.int64) if codes is None else 2 * codes.astype(np.int64)
    parts[anchors] += len(anchors) < n
    classes = np.unique(parts, return_inverse=True)[1]
    if classes.max() == n - 1:
        among = " with anchors" if len(anchors) < n else ""
        hint = "Pass groups that items share, or leave `groups` out; there is nothing to permute within them."
        raise InputError("groups", f"must have two items in some group{among}", "one item in each", hint)
    scheme = make_scheme("within", classes, n) if classes.any() else Scheme("free", n)
    names = list(sides[0])
    factors = len(names) - 1 if len(sides) == 1 else 1
    identity = np.arange(n)

    def of_pair(names_of_pair: tuple[str, str], permutation: Any) -> IntArray:
        if len(sides) == 2:
            return np.asarray(permutation[0], np.int64)
        left, right = (
            identity if place == 0 else permutation[place - 1].astype(np.int64)
            for place in map(names.index, names_of_pair)
        )
        forward = np.empty(n, np.int64)
        forward[left] = right
        return forward

    def statistics(permutations: Any) -> FloatArray:
        rows = permutations[:, None] if factors == 1 else permutations
        return np.array(
            [np.concatenate([pair.statistics(of_pair(key, row)) for key, pair in pairs.items()]) for row in rows]
        )

    stream_name = "representation similarity"
    options: dict[str, Any] = {"n_jobs": settings.n_jobs, "scheme": scheme, "factors": factors, "advance": advance}
    return joint_null(statistics, n, settings.n_resamples, settings.root, stream_name, **options)


@dataclass(frozen=True)
class _Comparison:
    """All pairs with their statistics under permutations, and the tables that follow."""

    pairs: Mapping[tuple[str, str], Pair]
    joint: JointNull
    settings: _Settings
    has_groups: bool

    def _columns(self, measure: str) -> list[int]:
        """Return the columns of the null distribution that are a measure of any pair."""
        return [place for place, (_, _, name) in enumerate(self._listed()) if name == measure]

    def _listed(self) -> list[tuple[str, str, str]]:
        """Return first, second and measure of each column; the first predicts the second."""
        listed = []
        for (a, b), pair in self.pairs.items():
            for column in pair.columns:
                measure = "imbalance" if column in ("to", "back") else column
                listed.append((b, a, measure) if column == "back" else (a, b, measure))
        return listed

    def table(self) -> pd.DataFrame:
        """Return one row for each pair and measure."""
        largest = {measure: self.joint.largest(self._columns(measure)) for measure in self.settings.measures}
        rows, listed, place = [], self._listed(), 0
        for pair in self.pairs.values():
            without = {} if self.has_groups else pair.without()
            for column in pair.columns:
                first, second, measure = listed[place]
                row = {"first": first, "second": second, "measure": measure}
                row |= self._cells(pair, measure, self.joint.largest([place]), largest[measure])
                rows.append(row | self._interval(measure, row["value"], pair.first.n, without.get(column)))
                place += 1
        return similarity_table(rows)

    def _cells(self, pair: Pair, measure: str, null: PermutationNull, largest: PermutationNull) -> dict[str, Any]:
        """Return the value of a measure with its chance level, p-values, threshold and calibrated score."""
        is_lower = measure in LOWER_IS_BETTER
        n, k = pair.first.n, pair.k
        chance = {**CLOSED_CHANCE, "overlap": k / (n - 1)}.get(measure, math.nan)
        if len(null.null) and (self.has_groups or math.isnan(chance)):
            chance = _value(float(null.null.mean()), is_lower)
        row: dict[str, Any] = {"parameters": f"n_neighbors={k}" if measure == "overlap" else "", "note": ""}
        row |= {"n_used": len(pair.first.anchors) if measure in OF_ANCHORS else n}
        row |= {"value": _value(null.observed, is_lower), "direction": "lower" if is_lower else "higher"}
        row |= {"chance": chance, "p_value": null.p_value, "p_kind": null.p_kind if len(null.null) else ""}
        reached = largest.null >= null.observed - RELATIVE_TIE * abs(null.observed)
        count = int(np.count_nonzero(reached))
        adjusted = count / max(len(reached), 1) if largest.exact else (count + 1) / (len(reached) + 1)
        row["p_adjusted"] = adjusted if len(null.null) else math.nan
        row |= self._calibration(null, is_lower)
        if math.isnan(null.observed):
            code = "similarity.no_shape" if measure == "procrustes" else "similarity.flat"
            row["note"] = join_notes((note(code),))
        return row

    def _calibration(self, null: PermutationNull, is_lower: bool) -> dict[str, float]:
        """Return the threshold in units of the measure, and the calibrated score."""
        tau = upper_threshold(null, self.settings.alpha)
        calibrated = math.nan if math.isnan(null.p_value) else 0.0
        if null.p_value <= self.settings.alpha and tau < 1:
            calibrated = min(max(0.0, (null.observed - tau) / (1 - tau)), 1.0)
        return {"threshold": _value(tau, is_lower), "calibrated": calibrated}

    def _interval(self, measure: str, value: float, n: int, without: FloatArray | None) -> dict[str, float]:
        """Return the jackknife interval; nothing without values, or where no item changes the value."""
        if without is None:
            return {}
        left_out = _value(without, measure in LOWER_IS_BETTER)
        bounds = BOUNDS.get(measure, nearest_rank_limits(n))
        interval = jackknife_interval(value, left_out, bounds, level=self.settings.conf_level)
        if not interval.se > 0:
            return {}
        ends = {"conf_low": interval.low, "conf_high": interval.high, "conf_level": self.settings.conf_level}
        return {"se": interval.se, **ends}

    def maxima(self) -> pd.DataFrame:
        """Return the most similar pair by each measure, calibrated as the maximum over all pairs."""
        rows, listed = [], self._listed()
        for measure in self.settings.measures:
            places = [place for place in self._columns(measure) if math.isfinite(self.joint.observed[place])]
            null, is_lower = self.joint.largest(places), measure in LOWER_IS_BETTER
            best = max(places, key=lambda place: self.joint.observed[place], default=None)
            first, second = ("", "") if best is None else listed[best][:2]
            row = {"measure": measure, "first": first, "second": second, "n_pairs": len(self.pairs)}
            row |= {"value": _value(null.observed, is_lower), "p_value": null.p_value}
            rows.append(row | self._calibration(null, is_lower))
        return pd.DataFrame(rows)

    def curve(self) -> pd.DataFrame:
        """Return the overlap of each pair by the number of neighbors."""
        rows = []
        for (a, b), pair in self.pairs.items():
            n, width = pair.first.n, pair.first.neighbors.shape[1]
            overlap = pair.overlap_curve(width)
            for k in sorted({*(k for k in CURVE if k <= width), pair.k}):
                chance = math.nan if self.has_groups else k / (n - 1)
                rows.append({"first": a, "second": b, "n_neighbors": k, "overlap": overlap[k - 1], "chance": chance})
        return pd.DataFrame(rows)


def _value(statistic: Any, is_lower: bool) -> Any:
    """Return the value of a measure from its statistic, which is larger for more similar representations."""
    return 1.0 - statistic if is_lower else statistic
