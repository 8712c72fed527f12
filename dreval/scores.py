"""Score each point of an embedding: local distortion, and the t-SNE scores with their perplexity curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix, issparse

from dreval._check import (
    FloatArray,
    IntArray,
    check_bool,
    check_finite,
    check_float,
    check_int,
    check_k,
    check_one_of,
    describe,
)
from dreval._parallel import open_progress
from dreval._random import stream_seed
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.distances import nearest
from dreval.geometry.graphs import connected_parts
from dreval.geometry.procrustes import (
    broken_edges,
    jackknife_errors,
    local_stretch,
    log_anisotropies,
    log_areas,
    spanned_note,
    usual_stretch,
)
from dreval.geometry.tsne import (
    MAX_RELATIVE_STEP,
    MAX_RELATIVE_WIDTH,
    STEPS,
    Affinities,
    EndReason,
    ListedAffinities,
    LossParts,
    NeighborAffinities,
    PairAffinities,
    allowed_perplexity,
    loss_parts,
    move_to_minimum,
    nearest_image,
    perturbed_distances,
)
from dreval.glossary import METRICS
from dreval.inference.intervals import student_interval
from dreval.inference.rerun_input import open_case
from dreval.inference.reruns import Over, Replicates, Runner, failed_error
from dreval.inputs.analysis import analysis, recipe_of, score
from dreval.inputs.data import Data, as_data
from dreval.inputs.features import densify, is_sparse
from dreval.inputs.source import as_source, warn_of_columns
from dreval.inputs.variables import warn_of_guesses
from dreval.measures.core import named_view
from dreval.measures.procrustes import local_area_spread
from dreval.records.answers import LocalDistortion, PerplexityCurve, PerturbationScore, SingularityScore
from dreval.records.notes import Note, join_notes, note
from dreval.registry import SCORES

# The perplexity curve: how the singularity of t-SNE maps depends on the perplexity.

TOP_SHARE = 0.05  # share of the points with the largest scores
MIN_SEEDS = 3
MIN_PERPLEXITY = 5.0  # smallest perplexity by default
MAX_PERPLEXITY = 100.0  # largest perplexity by default
PERPLEXITY_COUNT = 6  # number of perplexities by default


@analysis(
    title="Perplexity curve",
    question="From which perplexity on do t-SNE maps of these data no longer tear more than at larger ones?",
    direction="lower is more stable; look for the perplexity from which the curve is flat",
    caution="Maps with different perplexities minimize different losses: a lower score is not evidence that a map is "
    "closer to the data. Intervals are over seeds, for these data and this start; where runs are refused they are "
    "for the other runs only. A perplexity chosen on the curve has no error rate.",
    cost="S runs of t-SNE and of singularity_score(polish=True) for each of H perplexities.",
    reference="@liu2025.",
)
def perplexity_curve(
    X: Any,
    perplexities: Sequence[float] | None = None,
    *,
    n_seeds: int = 5,
    n_components: int = 2,
    polish: bool = True,
    conf_level: float = 0.95,
    store: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> PerplexityCurve:
    r"""Compute the singularity of t-SNE maps as a function of the perplexity, with intervals over seeds.

    At each perplexity t-SNE is run with S seeds, and each map has the mean :math:`m` of the largest 5 % of
    :math:`s_i / n` (``singularity_score``), and their median. The value is the geometric mean over seeds; its interval
    is Student's for the mean of :math:`\log m`, with S - 1 degrees of freedom. Liu, Ma and Zhong choose the perplexity
    from which the curve of the 5 % is flat.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points. Distances are Euclidean.
    perplexities : list of float, optional
        Different perplexities, each at most a third of the number of other points; by default six from 5 to 100, evenly
        spaced on a log scale.
    n_seeds : int, default 5
        Number S of seeds, the same at all perplexities; at least 3.
    n_components : int, default 2
        Number of dimensions of the maps.
    polish : bool, default True
        Whether Newton steps move each map to a minimum; without, most maps are refused.
    conf_level : float, default 0.95
        Level of each interval.
    store : path, optional
        A file that stores the scores of each run, so that a killed call continues where it stopped.
    random_state : int, Generator or None, default None
        Seed: run r depends on it, on the perplexity and on r only.
    n_jobs : int, optional
        Processes (joblib); one by default, or those of an active ``joblib.parallel_config``. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.
    **options
        Of ``dreval.methods.TSNE``, as ``init="random"``; affinities are those of the neighbors, as by default.

    Returns
    -------
    PerplexityCurve
        ``tidy()`` has two rows for each perplexity; ``values`` the numbers of each run; ``plot()``.

    Raises
    ------
    UndefinedMeasure
        If every run is refused; the first reason is given.
    InputError
        If an argument is invalid.

    See Also
    --------
    singularity_score : the score of the points of one map.
    sweep : settings that are not distinguishable from the best by a measure.

    Warnings
    --------
    Maps with different perplexities minimize different losses: a lower score is not evidence that a map is closer to
    the data. Intervals are over seeds, for these data and this start; where runs are refused they are for the other
    runs only. A perplexity chosen on the curve has no error rate.

    Notes
    -----
    Runs whose map has no minimum (the loss of small perplexities falls for as long as the map expands) are counted in
    ``n_refused``. Intervals of several perplexities are not adjusted for each other. On 90 normal points in four
    columns, perplexities 15 and 25, starts at principal components and at random, 95 % intervals of five seeds held the
    geometric mean of up to 150 seeds in 93 to 96 %.

    Cost: S runs of t-SNE and of ``singularity_score`` for each perplexity. Polishing dominates: about 20 processor
    seconds for a map of 1000 points.

    References
    ----------
    Liu, Z., Ma, R., & Zhong, Y. (2025). Assessing and improving reliability of neighbor embedding methods: a
    map-continuity perspective. *Nature Communications* 16, 5037.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> curve = dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0)
    >>> curve.tidy()[["perplexity", "score", "n_refused"]]
       perplexity    score  n_refused
    0        15.0  top 5 %          0
    1        15.0   median          0
    2        25.0  top 5 %          0
    3        25.0   median          0
    """
    seeds, d = check_int(n_seeds, "n_seeds", low=MIN_SEEDS), check_int(n_components, "n_components", low=1)
    level = check_float(conf_level, "conf_level", low=0.5, high=1 - 1e-6)
    check_bool(polish, "polish")
    for name in {"perplexity", "random_state", "n_affinities", "dof"} & set(options):
        hint = "Leave it out: perplexities= and random_state= are arguments, and the score is of t-SNE as by default."
        raise InputError("options", f"must not hold {name!r}", repr(options[name]), hint)
    case = open_case(X, "tsne", None, None, random_state)
    data, root = case.data, case.root
    sorted_perplexities = _perplexities(perplexities, data.n)
    rows, value_rows = [], []
    failures: list[Note] = []
    notes: list[Note] = []
    cases = [
        open_case(data, "tsne", None, None, root, options={**options, "perplexity": perplexity})
        for perplexity in sorted_perplexities
    ]
    other_seeds = Over("seeds", seed=lambda root, r, _: stream_seed(root, "perplexity", r))
    with open_progress(progress) as bar:
        bar.set_description(f"maps at {len(sorted_perplexities)} perplexities")
        bar.reset(total=len(sorted_perplexities) * seeds)
        for perplexity, case in zip(sorted_perplexities, cases, strict=True):
            compare = partial(_seed_scores, perplexity=perplexity, polish=polish)
            recipe = {"score": "perplexity_curve", "polish": polish}
            with Runner(store, n_jobs, bar=bar) as runner:
                results = Replicates(case, other_seeds, seeds, d, recipe, runner).run(compare)
            refused = results.failures
            failures += refused
            run_notes = _refused_runs(refused, seeds)
            notes += [run_note.with_scope(f"perplexity {perplexity:.3g}") for run_note in run_notes]
            for key, score in (("top", "top 5 %"), ("median", "median")):
                values = results.number(key)
                columns = {"perplexity": perplexity, "score": score}
                interval = _seed_interval(values, level)
                rows.append({**columns, **interval, "n_refused": len(refused), "note": join_notes(run_notes)})
                value_rows += [{**columns, "seed": r, "value": value} for r, value in enumerate(values)]
    table = pd.DataFrame(rows)
    if not table["n_used"].any():
        hint = "Choose larger ones." if polish else "Leave polish=False out: it moves each map to a minimum."
        error = failed_error(failures, "perplexities", "must give maps that have scores", hint, "refused runs")
        raise error.altered(UndefinedMeasure, hint=hint)
    parameters = {"perplexities": sorted_perplexities, "n_seeds": seeds, "n_components": d, "polish": polish}
    recipe = recipe_of(data, {**parameters, "conf_level": level, **options}, root)
    return PerplexityCurve(table, pd.DataFrame(value_rows), level, recipe=recipe, notes=tuple(notes))


def _perplexities(perplexities: Any, n: int) -> list[float]:
    """Return the perplexities, sorted; by default six on a log scale."""
    largest = (n - 1) / 3.0
    if perplexities is None:
        low, high = min(MIN_PERPLEXITY, largest), min(MAX_PERPLEXITY, largest)
        values = np.unique(np.round(np.geomspace(low, high, PERPLEXITY_COUNT), 1))
        return [float(value) for value in np.minimum(values, largest)]
    hint = "Pass a list such as [10, 20, 40, 80]."
    if isinstance(perplexities, str) or not isinstance(perplexities, Sequence | np.ndarray) or not len(perplexities):
        raise InputError("perplexities", "must be a list of numbers", describe(perplexities), hint)
    values = sorted(check_float(value, "perplexities", low=1.5, high=largest) for value in perplexities)
    if len(set(values)) < len(values):
        raise InputError("perplexities", "must be different", describe(perplexities), hint)
    return values


def _seed_scores(X: FloatArray, Y: FloatArray, perplexity: float, polish: bool) -> dict[str, float]:
    """Return the mean of the largest 5 % and the median of s / n, of one map."""
    result = SCORES.get("singularity_score")(
        X, Y, perplexity=perplexity, affinities="neighbors", polish=polish, n_jobs=1, progress=False
    )
    largest = np.sort(result.per_n)[-math.ceil(TOP_SHARE * len(Y)) :]
    return {"top": float(largest.mean()), "median": float(np.median(result.per_n))}


def _refused_runs(refused: list[Note], runs: int) -> list[Note]:
    """Return a note on the maps that have no score, if there are any."""
    return [note("maps.refused", refused=len(refused), runs=runs, first=refused[0])] if refused else []


def _seed_interval(values: FloatArray, level: float) -> dict[str, Any]:
    """Return the geometric mean of the runs that have a value, and its interval."""
    logs = np.log(values[np.isfinite(values)])
    S = len(logs)
    row = {"value": math.nan, "se_log": math.nan, "conf_low": math.nan, "conf_high": math.nan, "conf_level": level}
    if S:
        row["value"] = math.exp(float(logs.mean()))
    if S >= MIN_SEEDS:
        row["se_log"] = float(logs.std(ddof=1)) / math.sqrt(S)
        ends = student_interval(float(logs.mean()), row["se_log"], S - 1, (-math.inf, math.inf), level)
        row["conf_low"], row["conf_high"] = map(math.exp, ends)
    return {**row, "n_used": S}


# Common parts of the scores of the t-SNE loss: data and map, affinities, and the check that a map is a minimum.

MAX_ASYMMETRY = 1e-5  # of p_ij and p_ji, relative to the largest: tools compute them in single precision


GRADIENT_ENDED: dict[EndReason, tuple[str, str]] = {  # why polishing ended without a minimum, and a hint
    "wide": (
        f"the map had grown to {MAX_RELATIVE_WIDTH:g} times its width",
        (
            "Use `local_distortion`, which needs no minimum: between clusters far apart, or at a small perplexity, the "
            "loss may fall for as long as the map expands."
        ),
    ),
    "steps": (
        f"no more than {STEPS} are made",
        "Run the program that made the map longer, so that it ends nearer to a minimum.",
    ),
    "flat": (
        "no shorter step decreased the loss either",
        (
            "Run the program that made the map longer, or from another start: this one ends at a saddle, or where the "
            "loss has no digits left."
        ),
    ),
}


def check_minimum(parts: LossParts, near: float, ended: EndReason | None = None, steps: int = 0) -> None:
    """Raise if a map is not a local minimum of the loss for each point; ``ended`` says why polishing ended."""
    saddle = int((parts.spectra[0][:, 0] <= 0).sum())
    farthest = float(parts.own_steps[np.isfinite(parts.own_steps)].max(initial=0.0)) / near
    if not saddle and farthest <= MAX_RELATIVE_STEP:
        return
    n = len(parts.own_steps)
    allowed = f"{MAX_RELATIVE_STEP:g} is allowed"
    received = f"Newton steps of up to {farthest:.2g} of the distance to the nearest point, where {allowed}"
    if saddle:
        received = f"{saddle} of {n} points at which the loss has no minimum, and {received}"
    if ended in GRADIENT_ENDED:
        reason, hint = GRADIENT_ENDED[ended]
        received = f"{received}, after {steps} Newton steps of all points: {reason}"
    else:
        hint = (
            "Pass the perplexity and the {affinities} that the map was made with, in the unit in which it was made, or "
            "the coordinates of `singularity_score(..., polish=True)`, which moves the map to a minimum."
        )
    requirement = "must be a local minimum of the loss of t-SNE for each point"
    raise UndefinedMeasure("Y", requirement, received, hint, affinities="affinities")


def data_and_map(X: Any, Y: Any, metric: str) -> tuple[Data, FloatArray]:
    """Return data and map in normal form."""
    data = as_data(X, metric=check_one_of(metric, METRICS, "metric", aliases=True))
    source = as_source(Y, "Y", data)
    warn_of_columns(source.notes, {source.argument: "Y"})
    warn_of_guesses((*data.notes, *source.notes), {source.argument: "Y", "data": "X"})
    return data, np.ascontiguousarray(source.coordinates(data), np.float64)


def joint_affinities(
    data: Data, perplexity: float, affinities: Any, metric: str, n_jobs: int | None
) -> tuple[Affinities, dict[str, Any]]:
    """Return the affinities, and their parameters for the recipe."""
    if affinities is None or isinstance(affinities, str):
        if affinities is not None:
            check_one_of(affinities, ("neighbors",), "affinities", aliases=True)
        perplexity = allowed_perplexity(perplexity, data.n)
        parameters: dict[str, Any] = {"perplexity": perplexity, "affinities": affinities, "metric": metric}
        if affinities is None:
            return PairAffinities(data.X, perplexity, metric, n_jobs), parameters
        if metric != "euclidean":
            hint = "Leave affinities out, or pass the matrix of the program."
            raise InputError("metric", "must be 'euclidean' with {a}", repr(metric), hint, a="affinities")
        points = densify(data.X, "X")[0] if is_sparse(data.X) else data.X
        return _connected(NeighborAffinities(points, perplexity, n_jobs)), parameters
    shape = getattr(affinities, "shape", None)
    if not (issparse(affinities) or isinstance(affinities, np.ndarray)) or shape != (data.n, data.n):
        hint = f"Pass None, 'neighbors' or a sparse matrix of shape ({data.n}, {data.n})."
        raise InputError("affinities", "must be a square matrix with a row per point", describe(affinities), hint)
    P = csr_array(affinities, dtype=np.float64, copy=True)
    P.sum_duplicates()
    check_finite(P, "affinities")
    largest, is_negative = float(P.data.max(initial=0.0)), P.data.min(initial=0.0) < 0
    if is_negative or largest == 0 or P.diagonal().any():
        requirement = "must have entries >= 0, some above 0, and a diagonal of zeros"
        received = "a negative entry" if is_negative else "zeros only" if largest == 0 else "another diagonal"
        raise InputError("affinities", requirement, received, "Pass the joint P.")
    asymmetry = float(np.abs((P - P.T).data).max(initial=0.0)) / largest
    if asymmetry > MAX_ASYMMETRY:
        received = f"a matrix whose entries differ from their mirror images by up to {asymmetry:.2g} of the largest"
        raise InputError("affinities", "must be symmetric", received, "For conditional probabilities pass P + P.T.")
    P = csr_array((P + P.T) / (2.0 * P.sum()))
    P.sort_indices()
    return _connected(ListedAffinities(P, n_jobs)), {"affinities": f"matrix with {P.nnz} entries"}


def _connected(P: ListedAffinities) -> ListedAffinities:
    """Return the affinities if they join all points; otherwise raise, since parts repel each other at any distance."""
    edges = csr_matrix(P.matrix, copy=True)
    edges.eliminate_zeros()
    count, parts = connected_parts(edges)
    if count == 1:
        return P
    sizes = np.sort(np.bincount(parts))[::-1]
    size_text = ", ".join(f"{size:,}" for size in sizes[:5]) + (", ..." if count > 5 else "")
    requirement = "must join all points, else the loss falls for as long as parts move apart, and no map is its minimum"
    hint = "Choose a larger perplexity, or score the map with the affinities of all pairs, which join the parts."
    raise UndefinedMeasure("affinities", requirement, f"{count} parts of {size_text} points", hint)


@score(
    title="Local distortion",
    question="How is the neighborhood of each point stretched: its area, its shape, and which of its edges are broken?",
    direction="none: area and anisotropy 1 are those of the data up to one factor, smaller and larger areas are wrong "
    "alike",
    caution="Ellipses say little where R^2 is low (no linear map fits the neighborhood) or much variance is outside "
    "the tangent; standard errors are those of the local regression, not of the embedding.",
    cost="O(n^2 p) time for the neighbors and O(n k^3 min(k, p)) for the rest, O(n k) memory; without a re-run.",
    reference="@perraultjoncas2013, with local regression in place of the graph Laplacian.",
)
def local_distortion(
    X: Any, Y: Any, *, n_neighbors: int | str = "auto", metric: str = "euclidean", n_jobs: int | None = None
) -> LocalDistortion:
    r"""Compute how every neighborhood is stretched: area, anisotropy and ellipse of each point of an embedding.

    For each point the centered neighborhoods of k + 1 points are A in the data and B in the embedding. With
    :math:`A = U S V'` the tangent has the coordinates :math:`T = U_d S_d` of the d leading directions, and
    :math:`J = \arg\min |T J - B|` is the linear map of the tangent to the embedding. The matrix :math:`H = J'J`, with
    eigenvalues :math:`s_1 \ge \dots \ge s_d`, describes the ellipse onto which J maps the unit circle: its area is
    :math:`\sqrt{\det H}` and its anisotropy :math:`\sqrt{s_1 / s_d}`. Both are exact for affine maps.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    Y : (n, d) array, DataFrame or path
        The embedding of the same points.
    n_neighbors : int or "auto", default "auto"
        Number of neighbors, at least d; "auto" is 15, or fewer for few points.
    metric : str, default "euclidean"
        Distance in the data, by which neighbors are chosen.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.

    Returns
    -------
    LocalDistortion
        For each point area (over the median), anisotropy, their jackknife standard errors on the log scale, the share
        of variance outside the tangent, and R^2; the matrices of the ellipses, and the broken edges.

    Raises
    ------
    InputError
        If the rows do not match, values are missing or infinite, or there are fewer neighbors than dimensions.
    UndefinedMeasure
        If the data are distances only.

    See Also
    --------
    local_area_spread, local_anisotropy : one number each, with an interval and a chance level.
    singularity_score, perturbation_score : scores of each point from the loss of t-SNE.

    Warnings
    --------
    Ellipses say little where R^2 is low (no linear map fits the neighborhood) or much variance is outside the tangent;
    standard errors are those of the local regression, not of the embedding.

    Notes
    -----
    Standard errors leave out each neighbor in turn (the point itself stays). They are of the local regression, not of
    the embedding: where they are large, use more neighbors. Where R^2 is low the map of the neighborhood is not linear,
    as at a tear, and where much variance is outside the tangent d dimensions do not hold the data.

    An edge of the neighbor graph is broken if it is stretched more than twice as much as the median edge, and the
    logarithm of its stretch is more than three robust standard deviations (1.48 median absolute deviations) above the
    median. Directions that a neighborhood does not have are left out of area and anisotropy; both are NaN where its
    points coincide.

    Cost: :math:`O(n^2 p)` time for the neighbors and :math:`O(n k^3 \min(k, p))` for the rest, O(n k) memory.
    ``results.plot("ellipses")`` draws the ellipses.

    References
    ----------
    Perrault-Joncas, D., & Meila, M. (2013). Non-linear dimensionality reduction: Riemannian metric estimation and the
    problem of geometric discovery. *arXiv* 1305.7255.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> result = dreval.local_distortion(X, X * [2.0, 0.5])
    >>> np.linalg.eigvalsh(result.matrices[0]).round(12), result.anisotropy[0].round(12)
    (array([0.25, 4.  ]), np.float64(4.0))
    """
    arguments = {"X": X, "Y": Y, "n_neighbors": n_neighbors, "metric": metric, "n_jobs": n_jobs}
    if not isinstance(n_neighbors, int | str | np.integer):
        check_k(n_neighbors, 2**62)
        raise InputError("n_neighbors", "must be one number", repr(n_neighbors), "Call it for each number.")
    view = named_view(local_area_spread.card, arguments)
    (n, d), (k, *_) = view.Y.shape, check_k(n_neighbors, view.n)[0]
    if k < d:
        hint = f"Pass n_neighbors={d} or more, better {3 * d}."
        raise InputError("n_neighbors", "must be at least the number of dimensions", f"{k} for d = {d}", hint)
    stretch = local_stretch(view, k)
    maps = np.ldexp(stretch.maps, stretch.power)
    unit = usual_stretch(stretch.sizes)
    areas, ratios = log_areas(stretch.sizes, unit), log_anisotropies(stretch.sizes)
    median_area = float(np.nanmedian(areas)) if np.isfinite(areas).any() else 0.0
    errors, broken = jackknife_errors(view, k), broken_edges(view, k)
    dimensions = np.isfinite(stretch.sizes).sum(axis=1)
    absolute_areas = areas + dimensions * (math.log(unit) + stretch.power * math.log(2.0))
    return LocalDistortion(
        area=np.exp(areas - median_area),
        anisotropy=np.exp(ratios),
        outside=stretch.outside,
        r2=stretch.r2,
        log_area_se=errors[0],
        log_anisotropy_se=errors[1],
        n_broken=np.bincount(broken.ravel(), minlength=n),
        coordinates=view.Y,
        matrices=maps.transpose(0, 2, 1) @ maps,
        broken=broken,
        median_area=math.exp(float(np.nanmedian(absolute_areas))) if np.isfinite(absolute_areas).any() else math.nan,
        recipe={"n": n, "p": view.X.shape[1], "parameters": {"n_neighbors": k, "metric": metric}},
        notes=spanned_note(stretch.sizes),
    )


PERTURBATION_DIRECTIONS = 3  # principal components, along which points are moved


@score(
    title="Perturbation score",
    question="Which points of this t-SNE map would go far if they were moved a little in the data?",
    direction="higher is less stable: the distance that the point goes in the map",
    caution="A low score is not evidence that distances or clusters are right: it says that the point stays, given the "
    "places of all other points of this map.",
    cost="O(300 n m) time with a large factor for m points, about 15 processor seconds for n = m = 1000; O(n) memory; "
    "without a re-run.",
    reference="@liu2025.",
)
def perturbation_score(
    X: Any,
    Y: Any,
    *,
    perplexity: float = 30.0,
    affinities: str | None = None,
    length: float = 1.0,
    points: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> PerturbationScore:
    r"""Measure how far each point of a t-SNE map moves when it is moved a little in the data.

    One point at a time is moved along each of the first three principal components of the data, both ways. With the
    affinities P of the moved point its new place minimizes

    .. math:: L_i(y) = 2 \sum_j P_{ij} \log(1 + |y - y_j|^2) + \log Z(y)

    while all other points keep theirs. The moved point has a new bandwidth, the others keep theirs, and their
    conditional affinities are divided by the new sums. With ``affinities="neighbors"`` all have their nearest neighbors
    after the move: the moved point enters those of another point in place of the last, or leaves them to the next. The
    score is the largest distance over the directions,

    .. math:: p_i = \max_{v \in \{\pm PC_1, \pm PC_2, \pm PC_3\}} |\hat y(x_i + \lambda v) - y_i| .

    Searches begin at the place of the point and at those of the two points with most affinity to it, by Newton steps;
    the lowest minimum counts. A large score means that the map has a gap where the data have none.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data from which the map was made; rows are points. Distances are Euclidean.
    Y : (n, d) array, DataFrame or path
        The map, in the unit in which t-SNE made it; a minimum of the loss, as the ``coordinates`` of
        ``singularity_score(X, Y, polish=True)`` are.
    perplexity : float, default 30.0
        The perplexity with which the map was made.
    affinities : None or "neighbors"
        None: of all pairs, as in exact t-SNE. "neighbors": those of the nearest neighbors, three times the perplexity,
        as ``dreval.methods.TSNE`` and programs by Barnes-Hut or interpolation take. The matrix of a program cannot be
        computed for a moved point.
    length : float, default 1.0
        :math:`\lambda` in units of the mean distance to the nearest neighbor in the data.
    points : array of int, optional
        The points to move; all by default.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool, optional
        Progress bar on stderr, of the points; by default after two seconds, on a terminal.

    Returns
    -------
    PerturbationScore
        ``values`` (n,), and the direction that gave each. ``augment()`` is a table of the points.

    Raises
    ------
    UndefinedMeasure
        If the map is not a local minimum of the loss, or there is none; see ``singularity_score``.
    InputError
        If an argument is invalid.

    Warns
    -----
    ApproximationWarning
        If the perplexity is more than a third of the number of other points, which is then used.

    See Also
    --------
    singularity_score : how flat the loss is around each point; a hundred times as fast.
    local_distortion : how every neighborhood is stretched, for embeddings of any method.

    Warnings
    --------
    A low score is not evidence that distances or clusters are right: it says that the point stays, given the places of
    all other points of this map.

    Notes
    -----
    The score is computed without random numbers. The authors' program ignores its argument ``length``; this function
    uses it.

    Cost: about 300 evaluations of the loss of a point, each O(n), for each point: about fifteen processor seconds for
    all of 1000 points, and a hundred times as much for 10,000; O(n) memory, with k neighbors O(n k).

    References
    ----------
    Liu, Z., Ma, R., & Zhong, Y. (2025). Assessing and improving reliability of neighbor embedding methods: a
    map-continuity perspective. *Nature Communications* 16, 5037.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> Y = dreval.methods.TSNE(perplexity=20, random_state=0).fit_transform(X)
    >>> Y = dreval.singularity_score(X, Y, perplexity=20, polish=True).coordinates
    >>> score = dreval.perturbation_score(X, Y, perplexity=20)
    >>> score.values.shape, bool((score.values > 0).all())
    ((90,), True)
    """
    length = check_float(length, "length", low=0.0)
    data, Y = data_and_map(X, Y, "euclidean")
    rows = _chosen_points(points, data.n)
    if not (affinities is None or isinstance(affinities, str)):
        hint = "Leave it out, or pass 'neighbors': both are computed again for the moved point, from X and perplexity."
        raise InputError("affinities", "must be None or 'neighbors'", describe(affinities), hint)
    P, parameters = joint_affinities(data, perplexity, affinities, "euclidean", n_jobs)
    parts, near = loss_parts(P, Y), nearest_image(Y)
    check_minimum(parts, near)
    dense = densify(data.X, "X")[0] if is_sparse(data.X) else data.X
    centered = dense - dense.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:PERTURBATION_DIRECTIONS].T
    unit = float(np.sqrt(nearest(dense, 1, n_jobs=n_jobs)[1]).mean())
    if not isinstance(P, PairAffinities | NeighborAffinities):
        raise TypeError("affinities that can be computed again are needed")
    distances = perturbed_distances(P, Y, parts, centered @ axes, length * unit, rows, progress)
    values, direction = np.full(data.n, np.nan), np.full(data.n, "", dtype="U4")
    names = np.array([f"{sign}PC{c + 1}" for c in range(axes.shape[1]) for sign in "+-"])
    values[rows], direction[rows] = distances.max(axis=1), names[distances.argmax(axis=1)]
    settings = {"perplexity": parameters["perplexity"], "affinities": affinities, "length": length}
    return PerturbationScore(values, direction, Y, length, unit, recipe=recipe_of(data, settings))


def _chosen_points(points: Any, n: int) -> IntArray:
    """Return the points to move: all, or those of a list."""
    if points is None:
        return np.arange(n)
    rows = np.asarray(points)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not rows.size:
        raise InputError("points", "must be a list of point numbers", describe(points), "Pass integers.")
    if rows.min() < 0 or rows.max() >= n or len(np.unique(rows)) < len(rows):
        received = f"numbers from {rows.min()} to {rows.max()}, {len(np.unique(rows))} of {len(rows)} different"
        raise InputError("points", f"must be different and from 0 to {n - 1}", received, "Leave out what does not fit.")
    return rows.astype(np.int64)


@score(
    title="Singularity score",
    question="Where does this t-SNE map tear: which points could almost as well lie elsewhere?",
    direction="higher is less stable: 1 over the smallest second derivative of the loss in the place of the point",
    caution="A low score is not evidence that distances or clusters are right: it says that the place of the point is "
    "stable, given the affinities and all other points of this map. Maps with other perplexities minimize other "
    "losses.",
    cost="O(n^2 (p + d^2)) time and O(n) memory, without a re-run; with polish=True hundreds to thousands of times "
    "O(n^2 d) more.",
    reference="@liu2025.",
)
def singularity_score(
    X: Any,
    Y: Any,
    *,
    perplexity: float = 30.0,
    affinities: Any = None,
    polish: bool = False,
    metric: str = "euclidean",
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> SingularityScore:
    r"""Measure where a t-SNE map tears: how flat the loss is around each point.

    With affinities P of sum 1, :math:`d_{ij} = y_i - y_j`, :math:`q_{ij} = 1 / (1 + |d_{ij}|^2)` and Z their sum, the
    loss of t-SNE is :math:`L = -\sum P_{ij} \log q_{ij} + \log Z` up to a constant. In the place of one point it has
    the gradient and the second derivatives

    .. math:: G_i &= 4 \sum_j P_{ij} q_{ij} d_{ij} - \frac{4}{Z} g_i, \qquad g_i = \sum_j q_{ij}^2 d_{ij}, \\
              H_{ii} &= \sum_j \Bigl[4 P_{ij} q_{ij} - \frac{4}{Z} q_{ij}^2\Bigr] I
              - \sum_j \Bigl[8 P_{ij} q_{ij}^2 - \frac{16}{Z} q_{ij}^3\Bigr] d_{ij} d_{ij}'
              - \frac{16}{Z^2} g_i g_i' .

    The score is :math:`s_i = 1 / \lambda_{\min}(H_{ii})`. It is large where a small change of the data lets the point
    jump: points between clusters that the map separates although the data are connected there.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data from which the map was made; rows are points.
    Y : (n, d) array, DataFrame or path
        The map, in the unit in which t-SNE made it: a rescaled map is not a minimum of the loss. Usually d = 2.
    perplexity : float, default 30.0
        The perplexity with which the map was made.
    affinities : None, "neighbors" or (n, n) sparse matrix
        None: of all pairs, as in exact t-SNE. "neighbors": those of the nearest neighbors, three times the perplexity,
        as ``dreval.methods.TSNE`` and programs by Barnes-Hut or interpolation take. Or the P of the program, symmetric,
        of any positive sum; the perplexity is then not used.
    polish : bool, default False
        Whether Newton steps move the map to the local minimum near it before it is scored; at most 100 steps, each of
        which decreases the loss. The record holds how far each point was moved.
    metric : str, default "euclidean"
        Distance in the data space; the affinities depend on its squares.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool, optional
        Progress bar on stderr of Newton steps, of which there are 100 at most; by default after two seconds, on a
        terminal.

    Returns
    -------
    SingularityScore
        ``values`` (n,) and ``per_n``, which compares across numbers of points; the smallest eigenvalue, the remaining
        Newton step, and how far each point was moved. ``augment()`` is a table of the points.

    Raises
    ------
    UndefinedMeasure
        If the map is not a local minimum of the loss: where an eigenvalue is not positive, or where the Newton step of
        a point, :math:`|H_{ii}^{-1} G_i|`, is more than 0.001 of the median distance in the map to the nearest point.
        If the affinities are in parts that no affinity joins: the loss then has no minimum.
    InputError
        If an argument is invalid.

    Warns
    -----
    ApproximationWarning
        If the perplexity is more than a third of the number of other points, which is then used.

    See Also
    --------
    perturbation_score : how far a point moves in the map when it is moved a little in the data.
    local_distortion : how every neighborhood is stretched, for embeddings of any method.

    Warnings
    --------
    A low score is not evidence that distances or clusters are right: it says that the place of the point is stable,
    given the affinities and all other points of this map. Maps with other perplexities minimize other losses.

    Notes
    -----
    Most maps of a program stop before the minimum and raise an error without ``polish``. Polishing follows the loss,
    which is nearly flat where whole clusters move together: these may move far while neighborhoods stay. It ends
    without a minimum where the map grows to twice its width: for a small perplexity the loss may fall for as long as
    the map expands.

    Student's t with other degrees of freedom than one is not supported, nor is UMAP, which does not minimize the loss
    that it states.

    Cost: of all pairs :math:`O(n^2 (p + d^2))` time, about ten processor seconds for n = 10,000 and p = 50, and O(n)
    memory; of k neighbors about two seconds, and O(n k) memory. Polishing takes hundreds to thousands of products with
    the whole Hessian (30,000 at most), each :math:`O(n^2 d)`. For a map of 1000 points without clusters by the bundled
    method it took 2100 of them and 17 processor seconds with neighbors, 2800 and 38 seconds with all pairs. For
    n = 10,000 one product takes 80 times as long with neighbors, 0.6 seconds, and 2.5 seconds with all pairs. Separate
    clusters take most: of 2500 points in ten of them, 2400 products and three processor minutes did not reach the
    minimum.

    References
    ----------
    Liu, Z., Ma, R., & Zhong, Y. (2025). Assessing and improving reliability of neighbor embedding methods: a
    map-continuity perspective. *Nature Communications* 16, 5037.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> Y = dreval.methods.TSNE(perplexity=15, random_state=0).fit_transform(X)
    >>> score = dreval.singularity_score(X, Y, perplexity=15, affinities="neighbors", polish=True)
    >>> score.values.shape, bool((score.lambda_min > 0).all()), bool(score.step_ratio.max() <= 1e-3)
    ((90,), True, True)
    """
    check_bool(polish, "polish")
    data, Y = data_and_map(X, Y, metric)
    P, parameters = joint_affinities(data, perplexity, affinities, metric, n_jobs)
    near, Y_passed, loss_before = nearest_image(Y), Y, None
    if near == 0.0:
        raise UndefinedMeasure("Y", "must have different points", "all points in one place", "Pass the map.")
    if polish:
        loss_before = loss_parts(P, Y).value
        with open_progress(progress) as bar:
            bar.set_description("Newton steps")
            bar.reset(total=STEPS)
            Y, parts, steps, ended = move_to_minimum(P, Y, bar.update)
        near = nearest_image(Y)
        check_minimum(parts, near, ended, steps)
    else:
        parts, steps = loss_parts(P, Y), 0
        check_minimum(parts, near)
    lowest = parts.spectra[0][:, 0]
    return SingularityScore(
        values=1.0 / lowest,
        lambda_min=lowest,
        step_ratio=parts.own_steps / near,
        moved=np.linalg.norm(Y - Y_passed, axis=1),
        coordinates=Y,
        loss=parts.value,
        nearest_distance=near,
        loss_decrease=0.0 if loss_before is None else loss_before - parts.value,
        n_steps=steps,
        recipe=recipe_of(data, {**parameters, "polish": polish}),
    )
