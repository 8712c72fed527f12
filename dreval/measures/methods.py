"""Measure a method by re-running it: reconstruction error, stability, tractable consistency, trustability."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import wraps
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray as FloatArray
from dreval._check import IntArray, check_int, check_k, check_one_of, keywords_checked
from dreval._random import stream, stream_seed
from dreval.errors import DrevalError, InputError, MethodFailed, UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.kernels import (
    MAX_FITTED_POINTS,
    RADIAL_KERNELS,
    RULES,
    HeldOut,
    fitted_rows,
    held_out,
    reconstruction_map,
)
from dreval.geometry.procrustes import (
    MIN_REPLICATES,
    TRANSFORMATIONS,
    Agreement,
    Replicate,
    Transformations,
    align,
    count_coincident,
    disparity,
    log_variation,
    make_transformations,
    neighbor_agreement,
    transform_count,
    variance_score,
)
from dreval.inference.reruns import CALLER_NAMES as CALLED
from dreval.inference.reruns import (
    VALUES,
    RerunInput,
    Reruns,
    RunResult,
    RunSpec,
    caller_names,
    check_can_rerun,
    check_max_columns,
    failed_runs,
    open_case,
    recorded_options,
)
from dreval.inputs.source import equal_maps
from dreval.inputs.source_kinds import Source
from dreval.measures.core import MeasureCard
from dreval.records.answers import MeasureRecord, Stability
from dreval.records.notes import ASSUMPTION, LIMIT, Note, Notes, define, note

# What the measures of methods share: the decorator with their card, quantities of embeddings, and their record.

NOT_ON_CARD = ("labels", "ids", "store", "random_state", "n_jobs", "progress")  # no parameters of the measure
ROUNDING = 1e-14  # two embeddings with a smaller disparity are equal


def method_measure(**fields: Any) -> Callable[[Callable[..., MeasureRecord]], Callable[..., MeasureRecord]]:
    """Attach the card of a measure of a method to its public function ``(X, source, *, ...)``."""

    def attach(function: Callable[..., MeasureRecord]) -> Callable[..., MeasureRecord]:
        keywords = list(inspect.signature(function).parameters.values())[2:]
        parameters = {p.name: p.default for p in keywords if p.name not in NOT_ON_CARD}
        card = MeasureCard(name=function.__name__, level="algorithm", parameters=parameters, smooth=False, **fields)
        checked = keywords_checked(function)

        @wraps(function)
        def call(X: Any, source: Any, **options: Any) -> MeasureRecord:
            try:
                return checked(X, source, **_as_recorded(card, source, options))
            except DrevalError as error:
                raise error.named(caller_names(X, source)) from error

        public: Any = call
        public.card = card
        return call

    return attach


def _as_recorded(card: MeasureCard, source: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, with those of the recording for a source whose runs are recorded."""
    return recorded_options(card.name, card.parameters, source, options) if isinstance(source, Source) else options


def narrow_note(columns: int, d: int) -> Notes:
    """Return the note on fewer columns than requested."""
    return () if columns >= d else (note("columns.fewer", given=columns, asked=d),)


def embedding_disparity(X: FloatArray, Y: FloatArray) -> float:
    """Return the Procrustes disparity, 0 where it is rounding."""
    u = disparity(X, Y)
    return u if u > ROUNDING else 0.0


def total_square(Y: FloatArray) -> float:
    """Return tr S_YY."""
    centered = Y - Y.mean(axis=0)
    return float(np.vdot(centered, centered))


def is_constant(Y: FloatArray) -> bool:
    """Return whether all points coincide."""
    return bool((Y == Y[0]).all())


def chance_disparity(X: FloatArray, Y: FloatArray, root: int, draws: int) -> FloatArray:
    """Return the Procrustes disparities of X and Y with permuted rows, for each of the draws."""
    orders = (stream(root, "chance", b).permutation(len(X)) for b in range(draws))
    return np.array([disparity(X, Y[order]) for order in orders])


def make_record(
    function: Any,
    case: RerunInput,
    value: float,
    parameters: dict[str, Any],
    notes: Notes = (),
    kind: type[MeasureRecord] = MeasureRecord,
    **fields: Any,
) -> Any:
    """Return the record of a measure, with its provenance; its notes are distinct and name the caller's arguments."""
    from dreval import __version__

    card = function.card
    recipe = {
        "source": case.source.what if case.source.can_embed else case.source.name,
        "n": case.data.n,
        "p": case.data.p,
        "random_state": case.root,
        "parameters": parameters,
        "versions": {"dreval": __version__, "numpy": np.__version__},
    }
    distinct = dict.fromkeys(item.named({"Y": case.source.argument}).named(CALLED) for item in notes)
    fields |= {"recipe": recipe, "notes": tuple(distinct), "direction": card.direction}
    return kind(card.name, card.title, card.symbol, value, **fields)


RECONSTRUCTION_DRAWN = define("reconstruction_error.drawn", LIMIT, "Fitted on {drawn} points drawn at random.")
TRIVIAL_RECONSTRUCTION = define(
    "reconstruction_error.trivial",
    ASSUMPTION,
    "linear_bound, {bound:.3g}, is above 1, the error of the mean: with {n} points the bound says nothing.",
    "Use more points.",
)


@method_measure(
    symbol="E",
    title="Reconstruction error",
    question="How much of the data cannot be reconstructed from the embedding, for points held out from the fit?",
    says=("The data can be computed from the embedding", "Much of the data cannot be computed from the embedding"),
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
    n_folds: int = 5,
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
    n_folds : int, default 5
        Number of folds, 2 <= n_folds <= n.
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
    folds = min(check_int(n_folds, "n_folds", low=2), case.data.n)
    Y = case.source.coordinates(case.data, n_components=case.source.default_components, random_state=case.seed)
    rows = fitted_rows(case.data.n, case.root)
    notes = (RECONSTRUCTION_DRAWN(drawn=MAX_FITTED_POINTS),) if len(rows) < case.data.n else ()
    notes += (note("folds.fewer", points=folds, folds=n_folds),) if n_folds > folds else ()
    points, Y = case.data.X[rows], Y[rows]
    fit = reconstruction_map(Y, points, rule=rule)
    cross_validation = held_out(points, Y, rule, folds, case.root)
    parts = {"train": fit.error, "held_out": cross_validation.error}
    parts |= {"left_out": fit.left_out_error} if rule == "ridge" else {}
    parts["linear_train"], parts["linear_bound"] = linear_bound(points, Y.shape[1])
    notes += (TRIVIAL_RECONSTRUCTION(bound=parts["linear_bound"], n=len(rows)),) if parts["linear_bound"] > 1.0 else ()
    parameters = {"rule": rule, "n_folds": n_folds}
    return make_record(
        reconstruction_error,
        case,
        cross_validation.error,
        parameters,
        parts=parts,
        chance=1.0,
        table=_fold_table(cross_validation),
        n_resamples=folds,
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
    complexity = 2.0 / math.sqrt(n) * min(1.0 + math.sqrt(d), math.sqrt(max(p - d, 0)))
    deviation = math.sqrt(8.0 * math.log(2.0 / (1.0 - confidence)) / n)
    return train, train + (complexity + deviation) * width * n / total


OVER = ("auto", "seeds", "halves", "both")
N_FIXED_POINTS = 50  # points to which distances are compared for the global variation
CONF_LEVEL = 0.95
MIN_HALVED_POINTS = 40  # for halves
SHARE_OF_SMALL_OVERLAPS = 0.001  # of the pairs of halves: those with fewer common points than k is chosen for
SAME_SEEDS = define(
    "stability.same_seeds",
    LIMIT,
    "Every seed gives the same embedding: the value 1 does not refer to other samples of points.",
    "Use over='halves'.",
)
HALVED = define(
    "stability.halved",
    ASSUMPTION,
    "Halves refer to embeddings of n / 2 points, any two of which share a quarter of all points; the settings of the "
    "method are those for all points.",
)
STABILITY_FEWER = define(
    "stability.fewer",
    ASSUMPTION,
    "{k} neighbors are compared in place of {asked}: at most half of the points that two replicates share, as few as "
    "{shared}.",
    "Pass n_neighbors={k} to other data to compare.",
)
STABILITY_FAILED = define(
    "stability.failed",
    LIMIT,
    "{failed} of {tried} runs failed; the first: {first}",
    "See the first reason.",
)
COINCIDENT = define(
    "stability.coincident",
    LIMIT,
    "{count} pairs of near points coincide in a replicate; their distance counts as a millionth of its radius.",
)
FEW_POINTS = define(
    "stability.few_points",
    LIMIT,
    "local_variation is the median of {known} of {n} points: the other points share fewer than three "
    "replicates with each neighbor.",
    "Take more replicates.",
)
ABOVE_ONE = define(
    "stability.above_one",
    LIMIT,
    "seed_share is a ratio of two estimates; above 1 it shows no variation by sampling in addition to the seeds.",
    "Take more replicates.",
)
STABILITY_CONSTANT = define(
    "stability.constant",
    LIMIT,
    "{count} of {runs} runs put all points in one place, and agree with no other run.",
    "Check the coordinates that the method returns.",
)


@method_measure(
    symbol="J",
    title="Stability",
    question="Is the embedding reproducible with other seeds, or from half of the points?",
    says=(
        "Neighborhoods are reproducible",
        "Most neighborhoods are reproducible",
        "Many neighborhoods are not reproducible",
    ),
    share="of the distance from chance level to equal neighborhoods",
    goals=("method",),
    needs=("method", "features"),
    direction="higher",
    bounds=(-0.5, 1.0),
    chance="0, the agreement of random neighborhoods, which is subtracted",
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution="A reproducible embedding may be wrong: a method that always tears the data in the same place is stable.",
    cost="``n_replicates`` runs of the method (with over='both' three times as many), and O(R^2 n log n) time.",
    reference="None for the value; log distances after @sun2023, whose variance score is reported with it.",
)
def stability(
    X: Any,
    source: Any,
    *,
    over: str = "auto",
    n_replicates: int = 10,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    labels: Any = None,
    ids: Any = None,
    store: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Stability:
    r"""Measure the agreement of neighborhoods in embeddings with other seeds, or of random halves of the points.

    For two replicates r and s and a point i of both, with :math:`N_r(i)` its k nearest neighbors in r among the points
    that both have,

    .. math:: J_{irs} = \frac{|N_r(i) \cap N_s(i)| / |N_r(i) \cup N_s(i)| - c}{1 - c}, \qquad
              J = \operatorname{mean}_i \operatorname{mean}_{r < s} J_{irs},

    where c is the expected value for random neighborhoods. Equal maps have 1, whatever their rotation, reflection and
    scale, and unrelated ones 0.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        The method; coordinates cannot be re-run. For tools outside Python ``dreval.Protocol.collect`` gives a Source.
    over : {"auto", "seeds", "halves", "both"}
        The change between replicates. "seeds": all points, other seeds: the noise of the method. "halves": random
        halves of the points, each with another seed: the noise of sampling, and of the method. "both": both, and each
        half with two seeds, so that the share of the method is computed at one number of points. "auto": seeds, or
        halves where every seed gives the same embedding.
    n_replicates : int
        Number R of replicates of each kind, at least 3.
    n_components : int, optional
        Number of dimensions; by default that of the source, else 2.
    n_neighbors : int or "auto"
        Number k of neighbors, in the embeddings and in the data; at most half of the points that two halves share (all
        but one pair of halves in a thousand), a number that depends on n alone; a note says where it is reduced.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points; not used as a feature.
    store : path, optional
        A file that stores each embedding as soon as it is finished; a killed run continues from it.
    random_state : int, Generator or None, default None
        Seed of the halves and of the seeds: replicate r depends on it and on r only.
    n_jobs : int, optional
        Processes (joblib); by default 1, or as an active ``joblib.parallel_config`` says. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    Stability
        ``float()`` of it is J: of "both" that of the halves. ``parts``: ``conf_low`` and ``conf_high`` (for the value
        of infinitely many replicates: jackknife over replicates, Student's t, 95 %), ``local_variation``,
        ``global_variation`` (medians over points), ``failed``; of "both" also ``seeds`` (J over seeds, all points),
        ``same_half`` (J of two seeds of one half, on the points that it shares with another half) and ``seed_share``,
        :math:`(1 - J_\text{same half}) / (1 - J)` with J as a mean over pairs of halves; a ratio of estimates,
        which may exceed 1.
        ``points``, one row each: ``agreement`` (J of the point); ``local_variation`` and ``global_variation``, the
        variance over replicates of log distances to its k nearest points in the data, and to 50 points that are the
        same for all; ``radius``, the spread of its images in aligned replicates, over the radius of the map;
        ``variance_score`` (Sun et al.: the mean of the variances over replicates of its distances to the k nearest in
        the data, over the squared mean of all such distances; it depends on the scale of the replicates);
        ``n_replicates``, how many have the point.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data, or ``over="seeds"`` and seeds change nothing; of a collected source,
        if the data, ``over`` or ``random_state`` are not those that were exported.
    InputError
        If an argument is not valid, or there are too few points for halves.
    MethodFailed
        If fewer than three runs succeed; the message has the first reason.

    Warnings
    --------
    A reproducible embedding may be wrong: a method that always tears the data in the same place is stable.

    See Also
    --------
    noise_test : whether the embedding shows more than noise.
    trustability, tractable_consistency : other properties of a method.
    Evaluation.run : ``measures=["stability"]`` for each embedding that can be re-run.

    Notes
    -----
    Range: [-0.5, 1]; higher is better.

    Chance level: 0, since the expected agreement of random neighborhoods is subtracted; it is .0844 for k = 15 of 99
    other points.

    In ``local_variation`` the scale of each replicate is fitted on the same pairs: :math:`\log d_{ijr} = a_{ij} + b_r`
    by least squares over all pairs and replicates, so that halves, which lack points, are not mistaken for changes of
    scale; the variance is divided by the degrees of freedom that the scales leave. A pair needs three replicates. Maps
    that are equal up to similarity have 0.

    A pair of halves that shares fewer points than k was chosen for compares fewer neighbors. The medians of
    ``local_variation`` and ``global_variation`` are of skewed estimates, and grow a little with R: compare them at
    one R. The interval is too short where few replicates are drawn of a method that fails for some seeds: where one
    seed in three gives another map, it held the value in .48, .78 and .90 of 60 simulations with 3, 5 and 10
    replicates.

    Halves differ from seeds in n: their difference is not a share of variance. ``seed_share`` compares at n / 2.

    Cost: R runs of the method (of "both" 3 R); O(R^2 n log n) time for the neighborhoods, O(R n k) time and O(R n d)
    memory, and the data neighbors, O(n^2 p). 20 halves cost what 20 embeddings of half the points cost.

    References
    ----------
    Sun, Ma and Zou (2023), Dynamic visualization of high-dimensional data, for the variance score.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 5)) * [6, 5, 1, 1, 1]
    >>> record = dreval.stability(X, "pca", random_state=0)  # seeds do not matter: halves
    >>> record.recipe["parameters"]["over"], round(float(record), 2)
    ('halves', 0.98)
    """
    from scipy.stats import hypergeom
    from scipy.stats import t as student

    case = open_case(X, source, labels, ids, random_state)
    check_can_rerun(case)
    data, root, n = case.data, case.root, case.data.n
    requested = over = check_one_of(over, OVER, "over", aliases=True)
    if over == "auto":
        over = "seeds" if case.source.reseed_reason is None else "halves"
    elif over in ("seeds", "both") and case.source.reseed_reason is not None:
        requirement, hint = f"must not be {over!r} where seeds change nothing", "Use over='halves'."
        if case.source.recording is not None and not case.source.recording.settings["halves"]:
            hint = "Export a new folder with dreval.Protocol(..., halves=10), and run the tool there."
        raise UndefinedMeasure("over", requirement, str(case.source.reseed_reason), hint)
    R = check_int(n_replicates, "n_replicates", low=MIN_REPLICATES)
    ks, single = check_k(n_neighbors, n)
    if not single:
        raise InputError("n_neighbors", "must be one number", str(n_neighbors), "Pass one number.")
    if over != "seeds" and n < MIN_HALVED_POINTS:
        requirement = f"must have at least {MIN_HALVED_POINTS} points for halves, of which two share a quarter"
        hint = "Use over='seeds'." if case.source.reseed_reason is None else "Take more points."
        raise InputError("X", requirement, f"{n} points", hint)
    d = case.source.default_components if n_components is None else check_int(n_components, "n_components", low=1)

    all_points = np.arange(n)
    seeds, halves = replicate_names(over, R)
    rows = {name: replicate_rows(name, n, root) for name in halves} | dict.fromkeys(seeds, all_points)

    def job(name: str) -> RunSpec:
        if name in seeds:
            return RunSpec(data.X, replicate_seed(name, root))
        return RunSpec(data.X[rows[name]], replicate_seed(name, root), rows[name])

    names = [*seeds, *halves]
    with Reruns(case, d or 2, {"measure": "stability"}, _itself_repeated, store, n_jobs, progress) as runs:
        results = dict(zip(names, runs.all("replicates", names, job), strict=True))
    failures = [result["reason"].named(CALLED) for result in results.values() if result["reason"] is not None]
    replicates = {
        name: Replicate(rows[name], result[VALUES]) for name, result in results.items() if result["reason"] is None
    }
    first_seeds = [name for name in halves if name.endswith("seed 0")]
    main = [replicates[name] for name in (first_seeds or seeds) if name in replicates]
    if len(main) < MIN_REPLICATES:
        part = "on half of the points " if halves else ""
        received, hint = failed_runs(failures, f"Run the method alone {part}with the same settings to see where.")
        raise MethodFailed(case.source.argument, f"must give at least {MIN_REPLICATES} embeddings", received, hint)

    alike = over == "seeds" and all(equal_maps(replicate.Y, main[0].Y) for replicate in main[1:])
    if requested == "auto" and alike and n >= MIN_HALVED_POINTS and not is_constant(main[0].Y):
        # the method takes a seed and does not use it
        options = {"n_components": n_components, "n_neighbors": n_neighbors, "labels": labels, "ids": ids}
        options |= {"store": store, "n_replicates": R, "random_state": root, "n_jobs": n_jobs, "progress": progress}
        of_halves: Stability = stability(X, source, over="halves", **options)
        return of_halves
    fixed = np.sort(stream(root, "fixed points").choice(n, min(N_FIXED_POINTS, n), replace=False))
    shared = n if over == "seeds" else int(hypergeom(n, n // 2, n // 2).ppf(SHARE_OF_SMALL_OVERLAPS))
    k = min(ks[0], (shared - 1) // 2)  # one number for all pairs of replicates and all columns
    near = neighbor_pass(data.X, {"": np.zeros((n, 1))}, k=k, ranks=False, metric=data.metric)[""].nearest_data
    agreement = _replicate_agreement(main, n, k)
    pose = align(main, n)
    points = pd.DataFrame(
        {
            "agreement": agreement.points,
            "local_variation": log_variation(main, near, n),
            "global_variation": log_variation(main, np.broadcast_to(fixed, (n, len(fixed))), n),
            "radius": pose.radius(),
            "variance_score": variance_score(main, near, n),
            "n_replicates": sum(np.isin(all_points, part.rows, assume_unique=True).astype(np.int64) for part in main),
        }
    )
    value = float(np.nanmean(agreement.points))
    n_main, without = len(main), agreement.without
    se = float(np.sqrt((n_main - 1) / n_main * np.square(without - without.mean()).sum()))
    half = se * float(student.ppf((1 + CONF_LEVEL) / 2, len(main) - 1))
    low, high = stability.card.bounds  # type: ignore[attr-defined]
    parts: dict[str, Any] = {"conf_low": max(value - half, low), "conf_high": min(value + half, high)}
    if over == "both":
        whole = [replicates[name] for name in seeds if name in replicates]
        seconds = {name: f"{name[:-1]}1" for name in first_seeds}
        twins = [(replicates[a], replicates[b]) for a, b in seconds.items() if a in replicates and b in replicates]
        same = _same_halves(twins, n, k)
        parts["seeds"] = float(np.nanmean(_replicate_agreement(whole, n, k).points)) if len(whole) > 1 else math.nan
        parts["same_half"] = same
        apart = 1 - float(np.nanmean(agreement.pairs))
        parts["seed_share"] = (1 - same) / apart if apart > 0 else math.nan
    for name in ("local_variation", "global_variation"):
        values = points[name].dropna()
        parts[name] = float(values.median()) if len(values) else math.nan
    parts["failed"] = len(failures)

    constant = sum(is_constant(replicate.Y) for replicate in replicates.values())
    together = count_coincident(main, near, n)
    notes: list[Note] = [SAME_SEEDS()] if alike and not constant else []
    notes += [HALVED()] if halves else []
    notes += [STABILITY_FEWER(k=k, asked=ks[0], shared=shared)] if k < ks[0] else []
    notes += [STABILITY_FAILED(failed=len(failures), tried=len(names), first=failures[0])] if failures else []
    notes += [STABILITY_CONSTANT(count=constant, runs=len(replicates))] if constant else []
    count = int(points["local_variation"].notna().sum())
    notes += [FEW_POINTS(known=count, n=n)] if 2 * count < n and not constant else []
    notes += [COINCIDENT(count=together)] if together and not constant else []
    notes += [ABOVE_ONE()] if parts.get("seed_share", 0.0) > 1 else []
    settings = {"over": over, "n_replicates": R, "n_components": d, "n_neighbors": k}
    record: Stability = make_record(
        stability,
        case,
        value,
        settings,
        kind=Stability,
        parts=parts,
        chance=0.0,
        n_resamples=len(names),
        notes=tuple(notes),
        points=points,
        replicates=pose.maps,
        mean=pose.mean,
    )
    return record


def replicate_names(over: str, R: int) -> tuple[list[str], list[str]]:
    """Return the names of R replicates over seeds, and over halves: of "both" with two seeds each."""
    seeds = [f"seed {r}" for r in range(R)] if over in ("seeds", "both") else []
    twice = range(2 if over == "both" else 1)
    return seeds, [] if over == "seeds" else [f"half {r}, seed {s}" for r, s in product(range(R), twice)]


def replicate_rows(name: str, n: int, root: int) -> IntArray:
    """Return the points of a half, ascending."""
    half = name.partition(",")[0]
    return np.sort(stream(root, half).choice(n, n // 2, replace=False))


def replicate_seed(name: str, root: int) -> int:
    """Return the seed of the method for a replicate."""
    return stream_seed(root, "stability", name)


def _replicate_agreement(replicates: list[Replicate], n: int, k: int) -> Agreement:
    """Return the agreement over all pairs of replicates."""
    return neighbor_agreement(replicates, list(combinations(range(len(replicates)), 2)), n, k)


def _same_halves(twins: list[tuple[Replicate, Replicate]], n: int, k: int) -> float:
    """Return the agreement of two seeds of the same half, on the points that it shares with each other half."""
    values = []
    for pair in combinations(twins, 2):
        common = np.intersect1d(pair[0][0].rows, pair[1][0].rows, assume_unique=True)
        if not len(common):
            continue
        parts = [Replicate(common, part.Y[np.searchsorted(part.rows, common)]) for half in pair for part in half]
        values += list(neighbor_agreement(parts, [(0, 1), (2, 3)], n, k).pairs)
    return float(np.nanmean(values)) if values else math.nan


def _itself_repeated(_: FloatArray, Y: FloatArray) -> RunResult:
    """Return the embedding of a run as its result."""
    return {VALUES: Y}


CONSISTENCY_CHANCE_DRAWS = 200
BATCH_BYTES = 8_000_000  # covariance matrices that the exact path of PCA holds at once
MAX_EXACT_TRANSFORMATIONS = 20_000  # up to which PCA computes all n p transformations as well

SUBSET_TRIED = define(
    "tractable_consistency.tried",
    ASSUMPTION,
    "{tried} of {all} transformations were tried, spread evenly over the columns.",
)
CONSISTENCY_FAILED = define(
    "tractable_consistency.failed",
    LIMIT,
    "{failed} of {tried} runs failed; the first: {first}",
    "See the first reason.",
)
RESEEDS_FAILED = define(
    "tractable_consistency.lost",
    LIMIT,
    "{failed} of {tried} runs with other seeds failed; the first: {first}",
    "See the first reason.",
)
NO_RESEEDS = define("tractable_consistency.no_reseeds", LIMIT, "No reseed baseline: {reason}.")
NOT_REPRODUCIBLE = define(
    "tractable_consistency.drifts",
    LIMIT,
    "The embedding of {what} differs from run to run by u = {u:.3g} on the same data; give it a random_state argument.",
    "Give the method a random_state argument.",
)
CONSISTENCY_CONSTANT = define(
    "tractable_consistency.constant",
    LIMIT,
    "Transformed data whose embedding is constant as well have u = 0.",
)


@method_measure(
    symbol="max u",
    title="Tractable consistency measure",
    question="How far can a small smooth change of the reconstructed data change the embedding?",
    says=(
        "Small changes of the data change the embedding little",
        "Small changes of the data may change the embedding much",
    ),
    goals=("method",),
    needs=("method", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="largest u over as many permutations of the embedding's rows as there are transformations, at most 200",
    invariances=frozenset({"translation", "rotation", "scale"}),
    choices={"transformation": TRANSFORMATIONS, "kernel": RADIAL_KERNELS},
    cost="One run of the method for each transformation and reseed; for PCA O(p^3) for each. O(n^2) memory.",
    reference="@roy2021, Definitions 4 and 5, divided by tr S_Y~Y~.",
)
def tractable_consistency(
    X: Any,
    source: Any,
    *,
    n_components: int = 2,
    transformation: str = "perturbation",
    amplitude: float = 0.5,
    n_transformations: int | str = 200,
    kernel: str = "gaussian",
    n_replicates: int = 5,
    labels: Any = None,
    ids: Any = None,
    store: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> MeasureRecord:
    r"""Return the largest change of the embedding over a set of smooth changes of the data, as a share of its variance.

    The data are reconstructed from the method's own embedding (:math:`X_A`, Theorem 3, corrected), and each
    transformation adds a bump to column j, centered at point i in the reconstructed data:

    .. math:: \tilde X = X + a \sqrt{\mathrm{tr} S_{XX} / (n p)} \, k(X_A, x_i) e_j'.

    The method is run on each with the same seed, u is the Procrustes disparity of the embedding of :math:`\tilde X`
    against that of X, and the value is the largest u. Compare it with the *reseed baseline*, the same data under other
    seeds: where that is as large, the value measures randomness of the method, not inconsistency.

    ``transformation="definition"`` is Definition 5 as printed, :math:`k(X_A, x_i) e_j' + (X - X_A)`; it removes the
    reconstructed data, so that u is about 1 for nearly every method, and it depends on the unit of the data.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        The method; coordinates cannot be re-run. For tools outside Python ``dreval.Protocol.collect`` gives a Source,
        whose settings and seed apply.
    n_components : int, default 2
        Number d of dimensions of the embedding.
    transformation : {"perturbation", "definition"}, default "perturbation"
        The set of transformations.
    amplitude : float, default 0.5
        The factor a > 0. Where the transformation would not be invertible (its steepest slope reaches 1, as with
        outliers) a smaller one is used, and a note says so. Not used by "definition".
    n_transformations : int or "all", default 200
        Number of transformations, of the n p possible ones, spread evenly over the columns. The largest u of a sample
        is at most that of all, so compare methods at equal numbers.
    kernel : {"gaussian", "laplace", "rational_quadratic"}, default "gaussian"
        k on the data at distance r: :math:`\exp(-r^2 / (2 \sigma^2))`, :math:`\exp(-r / \sigma)`,
        :math:`1 / (1 + r^2 / (2 \sigma^2))`, with :math:`\sigma^2` the median of the squared distances of all pairs.
    n_replicates : int, default 5
        Runs on the same data under other seeds, at least 0; none for methods without a seed.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points, by which the rows of a table of coordinates are matched; not used as a feature.
    store : path, optional
        A journal (SQLite file): each finished run is written at once, and stored runs are not repeated. It belongs to
        these data, the method, its parameters, versions and seed; a larger ``n_transformations`` continues it. Pass
        ``random_state`` too, since another seed is another run. A function of yours is identified by its code and by
        the variables, functions and classes that it reads, but not by files, the environment, or modules that it
        imports when called: begin another journal when those change.
    random_state : int, Generator or None, default None
        Seed of the method and of the choice of transformations.
    n_jobs : int, optional
        Processes (joblib); by default 1, or as an active ``joblib.parallel_config`` says. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    MeasureRecord
        ``float()`` of it is the largest u. ``parts``: ``median``, ``s_per_n`` (the largest residual S over n, in
        squares of the embedding's unit: the published TCI / n), ``tried``, ``failed``, ``reseed_median``,
        ``reseed_max`` (missing, with a note on the reason, where there is no other seed or every seed gives the same
        embedding), ``run_to_run`` (u of a second run on the same data, for a method that takes no seed and returns
        another embedding), ``amplitude`` (as used; perturbation only); for PCA also ``max_of_all``, over all n p
        transformations (up to 20,000 of them). ``table``: one row for each transformation. ``chance``: the largest u
        over as many random permutations of the embedding's rows, at most 200.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data.
    InputError
        If an argument is not valid, or a bundled method cannot return ``n_components`` columns or needs labels.
    MethodFailed
        If the method fails on the data themselves or on every transformation, or returns more than ``n_components``
        columns.

    See Also
    --------
    trustability : the other measure of a method by Roy.
    reconstruction_error : how far the embedding determines the data.

    Notes
    -----
    Range: [0, 1]; lower is better.

    Chance level: the largest u over random permutations of the embedding's rows, as many as there are transformations
    and at most 200. It is close to 1 where d is much smaller than n, as 0.999 in the first example.

    PCA is not re-run: the covariance of transformed data differs by a matrix of rank 2, and its eigenvectors give u
    exactly. If the embeddings of the data and of transformed data are both constant, u = 0. A method that returns the
    same embedding for all data has u = 0 as well: a small value does not mean that the embedding is good.

    Cost: ``n_transformations + n_replicates + 1`` runs of the method, one in place of the replicates where it takes no
    seed (for PCA one run, and O(p^3) for each transformation), O(n^2) memory for the kernel, and the memory of one run
    in each process.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Definitions 4 and 5, Theorem 5.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) * [3, 2, 1]
    >>> record = dreval.tractable_consistency(X, "pca", n_transformations="all", random_state=0)
    >>> round(float(record), 3), record.parts["tried"], len(record.table)
    (0.005, 180, 180)
    >>> constant = dreval.tractable_consistency(X, lambda X, n_components: X[:, :2] * 0, n_transformations=3)
    >>> float(constant)
    0.0
    """
    case = open_case(X, source, labels, ids, random_state)
    check_can_rerun(case)
    d = check_int(n_components, "n_components", low=1)
    check_int(n_replicates, "n_replicates", low=0)
    n_jobs = n_jobs if n_jobs in (None, -1) else check_int(n_jobs, "n_jobs", low=1)
    n, p, card, seedless = case.data.n, case.data.p, case.source.card, case.source.reseed_reason
    count = transform_count(n_transformations, n, p)
    settings = {"transformation": transformation, "amplitude": amplitude, "kernel": kernel}
    with Reruns(case, d, {"measure": "tractable_consistency", **settings}, _movement, store, n_jobs, progress) as runs:
        base = runs.base()
        transformations = make_transformations(case.data.X, base, transformation, amplitude, kernel)
        pairs = transformations.choose(count, case.root)
        reseeds = [] if seedless else runs.reseeds(base, n_replicates)
        drift = math.nan  # of a method that takes no seed and may still draw random numbers
        if n_replicates and seedless and case.source.recording is None and not getattr(card, "deterministic", False):
            drift = runs.repeated(base).get("u", math.nan)
        exact = getattr(card, "name", "") == "pca" and p <= n and not is_constant(base)
        if exact:
            u, sizes = pca_disparities(transformations, pairs, d)
            results = [
                {"u": a, "s_per_n": b, "seconds": 0.0, "reason": None} for a, b in zip(u, u * sizes / n, strict=True)
            ]
        else:
            places = {f"{i},{j}": (int(i), int(j)) for i, j in pairs}
            results = runs.altered(
                "transformations", list(places), lambda name: transformations.data(*places[name]), base
            )

    names = case.data.columns or tuple(range(p))
    table = pd.DataFrame({"point": pairs[:, 0], "column": [names[j] for j in pairs[:, 1]]})
    for name in ("u", "s_per_n", "seconds"):
        table[name] = np.array([row.get(name, math.nan) for row in results], dtype=np.float64)
    failures = [row["reason"].named(CALLED) for row in results if row["reason"] is not None]
    reasons = iter(map(str, failures))
    table["note"] = ["" if row["reason"] is None else next(reasons) for row in results]
    u = table["u"].to_numpy()
    if len(failures) == len(results):
        if case.source.recording is not None:
            received = f"none of {len(results)} runs has been returned"
            hint = "Run the tool on the rest of the folder's tasks."
            raise MethodFailed(case.source.argument, "must have been run on transformed data", received, hint)
        hint = "Run the method alone on the data with a small bump added to one column to see where."
        received, hint = failed_runs(failures, hint)
        raise MethodFailed(case.source.argument, "must embed transformed data", received, hint)

    succeeded = [row for row in reseeds if row["reason"] is None]
    seed_ignored = bool(succeeded) and all(row["same"] for row in succeeded)  # each gave the same embedding
    reseed_u = np.array([] if seed_ignored else [row["u"] for row in succeeded])
    parts = {
        "median": float(np.nanmedian(u)),
        "s_per_n": float(np.nanmax(table["s_per_n"].to_numpy())),
        "tried": len(results),
        "failed": len(failures),
        "reseed_median": float(np.median(reseed_u)) if len(reseed_u) else math.nan,
        "reseed_max": float(reseed_u.max()) if len(reseed_u) else math.nan,
    }
    parts |= {"run_to_run": drift} if drift > 0 else {}
    parts |= {"amplitude": transformations.amplitude} if transformations.kind == "perturbation" else {}
    if exact and n * p <= MAX_EXACT_TRANSFORMATIONS:
        all_pairs = np.stack(np.meshgrid(np.arange(n), np.arange(p), indexing="ij"), axis=-1).reshape(-1, 2)
        all_u = u if len(results) == n * p else pca_disparities(transformations, all_pairs, d)[0]
        parts["max_of_all"] = float(all_u.max())

    notes: list[Note] = [note("columns.more", asked=d, columns=p)] if d > p else []
    notes += [*narrow_note(base.shape[1], d), *transformations.notes]
    if len(results) < n * p:
        notes.append(SUBSET_TRIED(tried=len(results), all=n * p))
    if failures:
        notes.append(CONSISTENCY_FAILED(failed=len(failures), tried=len(results), first=failures[0]))
    reseed_failures = [row["reason"].named(CALLED) for row in reseeds if row["reason"] is not None]
    if reseed_failures:
        notes.append(RESEEDS_FAILED(failed=len(reseed_failures), tried=len(reseeds), first=reseed_failures[0]))
    if seedless:
        notes.append(NO_RESEEDS(reason=seedless))
        notes += [NOT_REPRODUCIBLE(what=case.source.what, u=drift)] if drift > 0 else []
    elif seed_ignored:
        notes.append(NO_RESEEDS(reason=f"{case.source.what} gives the same embedding for every seed"))
    elif not reseeds:
        notes.append(NO_RESEEDS(reason="n_replicates is 0"))
    if is_constant(base):
        notes.append(CONSISTENCY_CONSTANT())

    parameters = {"n_components": d, **settings}
    if transformations.kind != "perturbation":
        del parameters["amplitude"]
    parameters["n_transformations"] = n_transformations if n_transformations == "all" else count
    parameters["n_replicates"] = len(reseeds)
    chance = 1.0
    if not is_constant(base):
        chance = chance_disparity(base, base, case.root, min(count, CONSISTENCY_CHANCE_DRAWS)).max()
    return make_record(
        tractable_consistency,
        case,
        float(np.nanmax(u)),
        parameters,
        parts=parts,
        chance=float(chance),
        table=table,
        n_resamples=count,
        notes=tuple(notes),
    )


def _movement(base: FloatArray, Y: FloatArray) -> RunResult:
    """Return the disparity u of an embedding and ``base``, its residual S / n, and whether both are the same bits."""
    u = 0.0 if is_constant(Y) and is_constant(base) else embedding_disparity(base, Y)
    return {"u": u, "s_per_n": u * total_square(Y) / len(Y) if u else 0.0, "same": np.array_equal(base, Y)}


def pca_disparities(
    transformations: Transformations, pairs: npt.NDArray[np.int64], d: int
) -> tuple[FloatArray, FloatArray]:
    """Return disparity u and size tr S_Y~Y~ of the principal components of transformed data, without running PCA.

    A transformation adds a bump to one column, X~ = B + k e_j', so that its covariance is that of B plus a matrix of
    rank 2, S~ = B'B + (B'k) e_j' + e_j (B'k)' + (k'k) e_j e_j', and the product with the first embedding Y = XV is
    Y'Y~ = V'(X'B + (X'k) e_j') V~. All matrices are p x p for any number of points; O(p^3) time for each.
    """
    from threadpoolctl import threadpool_limits

    X, base = (points - points.mean(axis=0) for points in (transformations.X, transformations.base))
    products = {}
    for i in np.unique(pairs[:, 0]):
        bump = transformations.bump(int(i))
        bump = bump - bump.mean()
        products[int(i)] = X.T @ bump, base.T @ bump, float(bump @ bump)
    cross, inner = X.T @ base, base.T @ base
    values, axes = np.linalg.eigh(X.T @ X)
    V, size = axes[:, -d:], float(values[-d:].sum())
    step = max(1, BATCH_BYTES // (8 * inner.size))
    with threadpool_limits(limits=1):  # threads on matrices this small wait for each other: 28 times the time, measured
        parts = [_batch(pairs[at : at + step], products, cross, inner, V, size) for at in range(0, len(pairs), step)]
    return np.concatenate([u for u, _ in parts]), np.concatenate([s for _, s in parts])


def _batch(
    pairs: npt.NDArray[np.int64],
    products: dict[int, tuple[FloatArray, FloatArray, float]],
    cross: FloatArray,
    inner: FloatArray,
    V: FloatArray,
    size: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the disparities and sizes of some transformations at once."""
    m, index = len(pairs), np.arange(len(pairs))
    mixed, added, squares = (np.array(part) for part in zip(*(products[int(i)] for i in pairs[:, 0]), strict=True))
    column = pairs[:, 1]
    covariance = np.repeat(inner[None], m, axis=0)
    covariance[index, :, column] += added
    covariance[index, column, :] += added
    covariance[index, column, column] += squares
    values, axes = np.linalg.eigh(covariance)
    W, sizes = axes[:, :, -V.shape[1] :], np.maximum(values[:, -V.shape[1] :], 0.0).sum(axis=1)
    product_with_base = V.T @ cross @ W + (mixed @ V)[:, :, None] * W[index, column][:, None, :]
    nuclear = np.linalg.svd(product_with_base, compute_uv=False).sum(axis=1)
    return np.clip(1.0 - nuclear**2 / (size * sizes), 0.0, 1.0), sizes


TRUSTABILITY_CHANCE_DRAWS = 20
TRUSTABILITY_CONSTANT = define(
    "trustability.constant",
    LIMIT,
    "The method puts all points in one place: u = 1 (TI is 0 there).",
    "Check the coordinates that the method returns.",
)
TRUSTABILITY_FEWER = define("trustability.fewer", ASSUMPTION, "Run at d = {d}, not at p = {p}: {why}.")


@method_measure(
    symbol="u",
    title="Trustability measure",
    question="Does the method return the data, up to scale, when it may use as many dimensions as they have?",
    says=(
        "With as many dimensions as the data, the method returns them",
        "The method changes the data even with as many dimensions",
    ),
    goals=("method",),
    needs=("method", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="mean u over 20 random permutations of the embedding's rows",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="One run of the method at d = p, and O(n p^2) time.",
    reference="@roy2021, Definition 3, divided by tr S_YY.",
)
def trustability(
    X: Any,
    source: Any,
    *,
    labels: Any = None,
    ids: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> MeasureRecord:
    r"""Return the share of the embedding's variance that no similarity transformation of the data explains, at d = p.

    The method is run at d = p, where the data themselves are the best embedding. With the centered cross-products
    :math:`S_{XX} = X' H X`, :math:`S_{XY}` and :math:`S_{YY}` and the nuclear norm :math:`\|\cdot\|_*` the published
    measure and the value are

    .. math:: \mathrm{TI} = \mathrm{tr} S_{YY} - \frac{\|S_{XY}\|_*^2}{\mathrm{tr} S_{XX}}, \qquad
              u = \frac{\mathrm{TI}}{\mathrm{tr} S_{YY}}.

    TI depends on the unit of Y; u is scipy's Procrustes disparity. A method with a constant embedding has u = 1 (its TI
    is 0, as for the best method). It is a property of the method; for coordinates alone use ``procrustes_disparity``.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        The method; coordinates cannot be re-run. For tools outside Python ``dreval.Protocol.collect`` gives a Source,
        whose settings and seed apply.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points, by which the rows of a table of coordinates are matched; not used as a feature.
    random_state : int, Generator or None, default None
        Seed of the method.

    Returns
    -------
    MeasureRecord
        ``float()`` of it is u; ``parts`` hold ``ti``, ``ti_per_n`` and ``n_components``; ``chance`` is the mean u
        over 20 random permutations of the embedding's rows.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data.
    InputError
        If an argument is not valid, or a bundled method needs labels.
    MethodFailed
        If the method cannot return p dimensions, or returns more; the cause is chained. Some methods need another
        setting for many dimensions, as scikit-learn's ``TSNE(method="exact")``.

    See Also
    --------
    procrustes_disparity : the same for coordinates.
    tractable_consistency : the other measure of a method by Roy.

    Notes
    -----
    Range: [0, 1]; lower is better.

    Chance level: the mean u over 20 random permutations of the embedding's rows, :math:`1 - (8 / 3\pi)^2 p / n`
    approximately for p uncorrelated columns of equal variance, as 0.98 for p = 3 and n = 100.

    Embeddings with fewer than p columns are padded with zeros. Where p >= n the data lie in n - 1 dimensions, and that
    many are requested; so is the largest number that a bundled method supports where it is below p. A note says so. A
    value of 0 does not mean that the embedding in two dimensions is good: PCA has 0 on all data.

    Cost: one run of the method at d = p, O(n p^2) time and O(n p) memory.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Definition 3 and Example 6.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> float(dreval.trustability(X, "pca")) < 1e-12
    True
    >>> float(dreval.trustability(X, lambda X, n_components: X * 0))
    1.0
    """
    case = open_case(X, source, labels, ids, random_state)
    check_can_rerun(case)
    n, p = case.data.n, case.data.p
    d, reason = full_components(n, p), f"{n} points span {n - 1} dimensions"
    card, parameters = case.source.card, dict(getattr(case.source, "parameters", {}))
    if card is not None and hasattr(case.source, "method"):
        limit = card.max_components(n, p, {**case.source.method().get_params(), **parameters})
        d, reason = (limit, f"{card.name} gives at most {limit}") if limit < d else (d, reason)
    points, notes = case.data.X, (TRUSTABILITY_FEWER(d=d, p=p, why=reason),) if d < p else ()
    Y = _full_embedding(case, d)
    if is_constant(Y):
        u, size, notes = 1.0, 0.0, (*notes, TRUSTABILITY_CONSTANT())
    else:
        u, size = embedding_disparity(points, Y), total_square(Y)
        notes += narrow_note(Y.shape[1], d)
    parts = {"ti": u * size, "ti_per_n": u * size / len(Y), "n_components": d}
    chance = 1.0
    if not is_constant(Y):
        chance = float(np.mean(chance_disparity(points, Y, case.root, TRUSTABILITY_CHANCE_DRAWS)))
    return make_record(trustability, case, u, {}, parts=parts, chance=chance, n_resamples=1, notes=notes)


def _full_embedding(case: RerunInput, d: int) -> FloatArray:
    """Run the method at d = p; the error of a method that fails explains why so many dimensions are requested."""
    try:
        Y = case.source.embed(case.data.X, d, case.seed, case.data.labels, case.data)
    except MethodFailed as error:
        request = f"This measure requests n_components={d}, as many as the data have columns."
        hint = f'{request} {error.hint} Some methods need another setting for so many, such as TSNE(method="exact").'
        raise error.altered(hint=hint) from error
    return check_max_columns(case, Y, d)


def full_components(n: int, p: int) -> int:
    """Return the number of dimensions at which a method is run: p, or n - 1 where n points span no more."""
    return n - 1 if p >= n else p
