"""Tractable consistency measure (Roy 2021)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_int
from dreval.errors import MethodFailed
from dreval.geometry.distances import power_of_two
from dreval.geometry.kernels import RADIAL_KERNELS
from dreval.geometry.transformations import TRANSFORMATIONS, Transformations, make_transformations, transform_count
from dreval.inference.reruns import Found, Reruns, failed_runs, open_case, runnable
from dreval.measures._method_measure import (
    CALLED,
    FloatArray,
    chance_disparity,
    embedding_disparity,
    is_constant,
    make_record,
    method_measure,
    narrow_note,
    total_square,
)
from dreval.records.measure_record import MeasureRecord
from dreval.records.notes import ASSUMPTION, LIMIT, Note, define, note

CHANCE_DRAWS = 200
BATCH_BYTES = 8_000_000  # covariance matrices that the exact path of PCA holds at once
EXACT_ALL = 20_000  # up to here PCA tries all n p transformations as well

TRIED = define(
    "tractable_consistency.tried",
    ASSUMPTION,
    "{tried} of {all} transformations were tried, spread evenly over the columns.",
)
FAILED = define(
    "tractable_consistency.failed",
    LIMIT,
    "{failed} of {tried} runs failed; the first: {first}",
    "See the first reason.",
)
LOST = define(
    "tractable_consistency.lost",
    LIMIT,
    "{failed} of {tried} runs with other seeds failed; the first: {first}",
    "See the first reason.",
)
NO_RESEEDS = define("tractable_consistency.no_reseeds", LIMIT, "No reseed baseline: {reason}.")
DRIFTS = define(
    "tractable_consistency.drifts",
    LIMIT,
    "The embedding of {what} differs from run to run by u = {u:.3g} on the same data; give it a random_state argument.",
    "Give the method a random_state argument.",
)
CONSTANT = define(
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
    r"""The largest change of the embedding over a finite set of smooth changes of the data, as a share of its variance.

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
        Which set of transformations.
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
        A journal (SQLite file): each finished run is written at once, and runs that are in it are not repeated. It
        belongs to these data, the method, its parameters, versions and seed; a larger ``n_transformations`` continues
        it. Pass ``random_state`` too, since another seed is another run. A function of yours is identified by its code
        and by the variables, functions and classes that it reads, but not by files, the environment, or modules that
        it imports when called: begin another journal when those change.
    random_state : int, Generator or None, default None
        Seed of the method and of the choice of transformations.
    n_jobs : int, optional
        Processes (joblib); one by default, or what an active ``joblib.parallel_config`` says. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    MeasureRecord
        ``float()`` of it is the largest u. ``parts``: ``median``, ``s_per_n`` (the largest residual S over n, in
        squares of the embedding's unit: the published TCI / n), ``tried``, ``failed``, ``reseed_median``,
        ``reseed_max`` (missing, with a note that says why, where there is no other seed or every seed gives the same
        embedding), ``run_to_run`` (u of a second run on the same data, for a method that takes no seed and returns
        another embedding), ``amplitude`` (the one used; perturbation only); for PCA also ``max_of_all``, over all n p
        transformations (up to 20,000 of them). ``table``: one row for each transformation. ``chance``: the largest u
        over as many random permutations of the embedding's rows, at most 200.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data.
    InputError
        If an argument breaks its rule, or a bundled method cannot return ``n_components`` columns or needs labels.
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
    >>> found = dreval.tractable_consistency(X, "pca", n_transformations="all", random_state=0)
    >>> round(float(found), 3), found.parts["tried"], len(found.table)
    (0.005, 180, 180)
    >>> constant = dreval.tractable_consistency(X, lambda X, n_components: X[:, :2] * 0, n_transformations=3)
    >>> float(constant)
    0.0
    """
    case = open_case(X, source, labels, ids, random_state)
    runnable(case)
    d = check_int(n_components, "n_components", low=1)
    check_int(n_replicates, "n_replicates", low=0)
    n_jobs = n_jobs if n_jobs in (None, -1) else check_int(n_jobs, "n_jobs", low=1)
    n, p, card, seedless = case.data.n, case.data.p, case.source.card, case.source.reseed_reason
    count = transform_count(n_transformations, n, p)
    recipe = {"transformation": transformation, "amplitude": amplitude, "kernel": kernel}
    with Reruns(case, d, {"measure": "tractable_consistency", **recipe}, _movement, store, n_jobs, progress) as runs:
        base = runs.base()
        made = make_transformations(case.data.X, base, transformation, amplitude, kernel)
        pairs = made.choose(count, case.root)
        reseeds = [] if seedless else runs.reseeds(base, n_replicates)
        drift = math.nan  # of a method that takes no seed and may still draw random numbers
        if n_replicates and seedless and case.source.recording is None and not getattr(card, "deterministic", False):
            drift = runs.repeated(base).get("u", math.nan)
        exact = getattr(card, "name", "") == "pca" and p <= n and not is_constant(base)
        if exact:
            u, sizes = pca_disparities(made, pairs, d)
            found = [
                {"u": a, "s_per_n": b, "seconds": 0.0, "reason": None} for a, b in zip(u, u * sizes / n, strict=True)
            ]
        else:
            places = {f"{i},{j}": (int(i), int(j)) for i, j in pairs}
            found = runs.altered("transformations", list(places), lambda name: made.data(*places[name]), base)

    names = case.data.columns or tuple(range(p))
    table = pd.DataFrame({"point": pairs[:, 0], "column": [names[j] for j in pairs[:, 1]]})
    for name in ("u", "s_per_n", "seconds"):
        table[name] = np.array([row.get(name, math.nan) for row in found], dtype=np.float64)
    failures = [row["reason"].named(CALLED) for row in found if row["reason"] is not None]
    reasons = iter(map(str, failures))
    table["note"] = ["" if row["reason"] is None else next(reasons) for row in found]
    u = table["u"].to_numpy()
    if len(failures) == len(found):
        if case.source.recording is not None:
            got, cure = (
                f"none of {len(found)} runs has been returned",
                "Run the tool on the rest of the folder's tasks.",
            )
            raise MethodFailed(case.source.argument, "must have been run on transformed data", got, cure)
        cure = "Run the method alone on the data with a small bump added to one column to see where."
        got, cure = failed_runs(failures, cure)
        raise MethodFailed(case.source.argument, "must embed transformed data", got, cure)

    came = [row for row in reseeds if row["reason"] is None]
    indifferent = bool(came) and all(row["same"] for row in came)  # every other seed gave the same embedding
    other = np.array([] if indifferent else [row["u"] for row in came])
    parts = {
        "median": float(np.nanmedian(u)),
        "s_per_n": float(np.nanmax(table["s_per_n"].to_numpy())),
        "tried": len(found),
        "failed": len(failures),
        "reseed_median": float(np.median(other)) if len(other) else math.nan,
        "reseed_max": float(other.max()) if len(other) else math.nan,
    }
    parts |= {"run_to_run": drift} if drift > 0 else {}
    parts |= {"amplitude": made.amplitude} if made.kind == "perturbation" else {}
    if exact and n * p <= EXACT_ALL:
        every = np.stack(np.meshgrid(np.arange(n), np.arange(p), indexing="ij"), axis=-1).reshape(-1, 2)
        parts["max_of_all"] = float((u if len(found) == n * p else pca_disparities(made, every, d)[0]).max())

    notes: list[Note] = [note("columns.more", asked=d, columns=p)] if d > p else []
    notes += [*narrow_note(base.shape[1], d), *made.notes]
    if len(found) < n * p:
        notes.append(TRIED(tried=len(found), all=n * p))
    if failures:
        notes.append(FAILED(failed=len(failures), tried=len(found), first=failures[0]))
    lost = [row["reason"].named(CALLED) for row in reseeds if row["reason"] is not None]
    if lost:
        notes.append(LOST(failed=len(lost), tried=len(reseeds), first=lost[0]))
    if seedless:
        notes.append(NO_RESEEDS(reason=seedless))
        notes += [DRIFTS(what=case.source.what, u=drift)] if drift > 0 else []
    elif indifferent:
        notes.append(NO_RESEEDS(reason=f"{case.source.what} gives the same embedding for every seed"))
    elif not reseeds:
        notes.append(NO_RESEEDS(reason="none was asked for"))
    if is_constant(base):
        notes.append(CONSTANT())

    asked = {key: value for key, value in recipe.items() if key != "amplitude" or made.kind == "perturbation"}
    asked["n_transformations"] = n_transformations if n_transformations == "all" else count
    asked["n_replicates"] = len(reseeds)
    chance = 1.0 if is_constant(base) else chance_disparity(base, base, case.root, min(count, CHANCE_DRAWS)).max()
    return make_record(
        tractable_consistency,
        case,
        float(np.nanmax(u)),
        {"n_components": d, **asked},
        parts=parts,
        chance=float(chance),
        table=table,
        n_resamples=count,
        notes=tuple(notes),
    )


def _movement(base: FloatArray, Y: FloatArray) -> Found:
    """Disparity u of an embedding against ``base``, its residual S / n, and whether it is ``base`` to the last bit."""
    u = 0.0 if is_constant(Y) and is_constant(base) else embedding_disparity(base, Y)
    return {"u": u, "s_per_n": u * total_square(Y) / len(Y) if u else 0.0, "same": np.array_equal(base, Y)}


def pca_disparities(made: Transformations, pairs: npt.NDArray[np.int64], d: int) -> tuple[FloatArray, FloatArray]:
    """Disparity u and size tr S_Y~Y~ of the principal components of every transformed data set, without running PCA.

    A transformation adds a bump to one column, X~ = B + k e_j', so that its covariance is that of B plus a matrix of
    rank 2, S~ = B'B + (B'k) e_j' + e_j (B'k)' + (k'k) e_j e_j', and the product with the first embedding Y = XV is
    Y'Y~ = V'(X'B + (X'k) e_j') V~. All of it is p x p, whatever the number of points is; O(p^3) time for each.
    """
    from threadpoolctl import threadpool_limits

    X, base = (points - points.mean(axis=0) for points in (made.X, made.base))
    unit = power_of_two(X)  # no product of them overflows or vanishes
    X, base = X * unit, base * unit
    products = {}
    for i in np.unique(pairs[:, 0]):
        bump = made.bump(int(i)) * unit
        bump = bump - bump.mean()
        products[int(i)] = X.T @ bump, base.T @ bump, float(bump @ bump)
    cross, own = X.T @ base, base.T @ base
    values, axes = np.linalg.eigh(X.T @ X)
    V, size = axes[:, -d:], float(values[-d:].sum())
    step = max(1, BATCH_BYTES // (8 * own.size))
    with threadpool_limits(limits=1):  # threads on matrices this small wait for each other: 28 times the time, measured
        parts = [_batch(pairs[at : at + step], products, cross, own, V, size) for at in range(0, len(pairs), step)]
    with np.errstate(over="ignore", under="ignore"):  # a size is in squares of the data's unit, which may have none
        return np.concatenate([u for u, _ in parts]), np.concatenate([s for _, s in parts]) / unit / unit


def _batch(
    pairs: npt.NDArray[np.int64],
    products: dict[int, tuple[FloatArray, FloatArray, float]],
    cross: FloatArray,
    own: FloatArray,
    V: FloatArray,
    size: float,
) -> tuple[FloatArray, FloatArray]:
    """Disparities and sizes of some transformations at once."""
    m, every = len(pairs), np.arange(len(pairs))
    mixed, inner, squares = (np.array(part) for part in zip(*(products[int(i)] for i in pairs[:, 0]), strict=True))
    column = pairs[:, 1]
    covariance = np.repeat(own[None], m, axis=0)
    covariance[every, :, column] += inner
    covariance[every, column, :] += inner
    covariance[every, column, column] += squares
    values, axes = np.linalg.eigh(covariance)
    W, sizes = axes[:, :, -V.shape[1] :], np.maximum(values[:, -V.shape[1] :], 0.0).sum(axis=1)
    together = V.T @ cross @ W + (mixed @ V)[:, :, None] * W[every, column][:, None, :]
    nuclear = np.linalg.svd(together, compute_uv=False).sum(axis=1)
    return np.clip(1.0 - nuclear**2 / (size * sizes), 0.0, 1.0), sizes
