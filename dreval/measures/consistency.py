"""Tractable consistency and trustability: the response of a method to changed data, and its embedding at d = p."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, check_int
from dreval._parallel import limit_threads
from dreval._random import stream_seed
from dreval.errors import MethodFailed
from dreval.geometry.kernels import RADIAL_KERNELS
from dreval.geometry.procrustes import TRANSFORMATIONS, Transformations, make_transformations, transform_count
from dreval.inference.rerun_input import RerunInput, check_can_rerun, open_case
from dreval.inference.reruns import (
    ORIGINAL,
    REPEATED,
    Over,
    ReplicateResult,
    ReplicateResults,
    Replicates,
    Runner,
    failed_error,
    failed_note,
)
from dreval.inputs.source import equal_maps
from dreval.measures.methods import (
    chance_disparity,
    embedding_disparity,
    is_constant,
    make_record,
    method_measure,
    narrow_note,
    total_square,
)
from dreval.records.estimates import MeasureRecord
from dreval.records.notes import Note, Notes, note

CONSISTENCY_CHANCE_DRAWS = 200
BATCH_BYTES = 8_000_000  # covariance matrices that the exact path of PCA holds at once
MAX_EXACT_TRANSFORMATIONS = 20_000  # up to which PCA computes all n p transformations as well


@method_measure(
    symbol="max u",
    title="Tractable consistency measure",
    question="How far can a small smooth change of the reconstructed data change the embedding?",
    warning="Small changes of the data may change the embedding much",
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
    journal: str | Path | None = None,
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
    journal : path, optional
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
    count = transform_count(n_transformations, case.data.n, case.data.p)
    settings = {"transformation": transformation, "amplitude": amplitude, "kernel": kernel}
    recipe = {"measure": "tractable_consistency", **settings}
    with Runner(journal, n_jobs, progress) as runner:
        base = Replicates(case, ORIGINAL, 1, d, recipe, runner).required()[0]
        transformations = make_transformations(case.data.X, base, transformation, amplitude, kernel)
        runs = _run_method(case, base, transformations, count, n_replicates, (d, recipe, runner))
    table = _table(case, runs)
    parameters = {"n_components": d, **settings}
    if transformations.kind != "perturbation":
        del parameters["amplitude"]
    parameters["n_transformations"] = n_transformations if n_transformations == "all" else count
    parameters["n_replicates"] = len(runs.reseeds)
    chance = 1.0
    if not is_constant(base):
        chance = chance_disparity(base, base, case.root, min(count, CONSISTENCY_CHANCE_DRAWS)).max()
    return make_record(
        tractable_consistency,
        case,
        float(np.nanmax(table["u"].to_numpy())),
        parameters,
        parts=_parts(case, runs, table, d),
        chance=float(chance),
        table=table,
        n_runs=count,
        notes=_notes(case, runs, d),
    )


# The runs of the method: on transformed data, on the data with other seeds, and a second time.

RESEEDS = Over("other seeds", seed=lambda root, r, _: stream_seed(root, "reseed", r))


def transformed_data(transformations: Transformations, pairs: npt.NDArray[np.int64]) -> Over:
    """Return the replicates of transformed data, one for each pair of point i and column j; their number is i p + j."""
    p = transformations.X.shape[1]
    numbers = [i * p + j for i, j in pairs.tolist()]
    return Over("transformations", data=lambda number: transformations.data(*divmod(number, p)), indices=numbers)


@dataclass(frozen=True, eq=False)
class _Runs:
    """The runs of a method: on the data, on transformed data, and with other seeds.

    ``drift`` is u of a second run on the same data, of a method that takes no seed and may still draw random numbers.
    """

    base: FloatArray
    transformations: Transformations
    pairs: npt.NDArray[np.int64]
    transformed: ReplicateResults
    reseeds: ReplicateResults
    drift: float

    @property
    def seeds_change_nothing(self) -> bool:
        """Whether every other seed gave the embedding of the data."""
        succeeded = self.reseeds.succeeded
        return bool(succeeded) and all(result.numbers["same"] for result in succeeded)


def _run_method(
    case: RerunInput,
    base: FloatArray,
    transformations: Transformations,
    count: int,
    n_replicates: int,
    options: tuple[int, dict[str, Any], Runner],
) -> _Runs:
    """Run the method with other seeds, a second time, and on transformed data; raise if the last fail all."""
    seedless, pairs = case.source.reseed_reason, transformations.choose(count, case.root)
    reseeds = Replicates(case, RESEEDS, 0 if seedless else n_replicates, *options).run(_movement, base)
    drift = math.nan
    deterministic = getattr(case.source.card, "deterministic", False)
    if n_replicates and seedless and case.source.recording is None and not deterministic:
        drift = float(Replicates(case, REPEATED, 1, *options).run(_movement, base).number("u")[0])
    over = transformed_data(transformations, pairs)
    if _is_exact(case, base):
        u, sizes = pca_disparities(transformations, pairs, options[0])
        columns = zip(over.keys(count), u, u * sizes / case.data.n, strict=True)
        results = (ReplicateResult(key, {"u": a, "s_per_n": b}, None, 0.0) for key, a, b in columns)
        transformed = ReplicateResults(tuple(results))
    else:
        transformed = Replicates(case, over, count, *options).run(_movement, base)
    failures = transformed.failures
    if len(failures) == len(transformed):
        requirement, hint = "must embed transformed data", "Run the tool on the rest of the folder's tasks."
        if case.source.recording is not None:
            received = f"none of {len(transformed)} runs has been returned"
            raise MethodFailed(case.source.argument, "must have been run on transformed data", received, hint)
        hint = "Run the method alone on the data with a small bump added to one column to see where."
        raise failed_error(failures, case.source.argument, requirement, hint)
    return _Runs(base, transformations, pairs, transformed, reseeds, drift)


def _is_exact(case: RerunInput, base: FloatArray) -> bool:
    """Return whether the embeddings of transformed data follow from that of the data: those of PCA."""
    return getattr(case.source.card, "name", "") == "pca" and case.data.p <= case.data.n and not is_constant(base)


def _movement(base: FloatArray, Y: FloatArray) -> dict[str, Any]:
    """Return the disparity u of an embedding and ``base``, its residual S / n, and whether both are the same map."""
    u = 0.0 if is_constant(Y) and is_constant(base) else embedding_disparity(base, Y)
    return {"u": u, "s_per_n": u * total_square(Y) / len(Y) if u else 0.0, "same": equal_maps(Y, base)}


# The table, the parts and the notes of the record.


def _table(case: RerunInput, runs: _Runs) -> pd.DataFrame:
    """Return the table of the transformations."""
    names = case.data.columns or tuple(range(case.data.p))
    table = pd.DataFrame({"point": runs.pairs[:, 0], "column": [names[j] for j in runs.pairs[:, 1]]})
    for name in ("u", "s_per_n"):
        table[name] = runs.transformed.number(name)
    table["seconds"] = np.array([result.seconds for result in runs.transformed], dtype=np.float64)
    reasons = iter(map(str, runs.transformed.failures))
    table["note"] = ["" if result.failure is None else next(reasons) for result in runs.transformed]
    return table


def _parts(case: RerunInput, runs: _Runs, table: pd.DataFrame, d: int) -> dict[str, Any]:
    """Return the parts of the record."""
    n, p, u = case.data.n, case.data.p, table["u"].to_numpy()
    reseed_u = np.array([])
    if not runs.seeds_change_nothing:
        reseed_u = np.array([result.numbers["u"] for result in runs.reseeds.succeeded])
    parts = {
        "median": float(np.nanmedian(u)),
        "s_per_n": float(np.nanmax(table["s_per_n"].to_numpy())),
        "tried": len(runs.transformed),
        "failed": len(runs.transformed.failures),
        "reseed_median": float(np.median(reseed_u)) if len(reseed_u) else math.nan,
        "reseed_max": float(reseed_u.max()) if len(reseed_u) else math.nan,
    }
    parts |= {"run_to_run": runs.drift} if runs.drift > 0 else {}
    transformations = runs.transformations
    parts |= {"amplitude": transformations.amplitude} if transformations.kind == "perturbation" else {}
    if _is_exact(case, runs.base) and n * p <= MAX_EXACT_TRANSFORMATIONS:
        all_pairs = np.stack(np.meshgrid(np.arange(n), np.arange(p), indexing="ij"), axis=-1).reshape(-1, 2)
        all_u = u if len(runs.transformed) == n * p else pca_disparities(transformations, all_pairs, d)[0]
        parts["max_of_all"] = float(all_u.max())
    return parts


def _notes(case: RerunInput, runs: _Runs, d: int) -> Notes:
    """Return the notes on the transformations and on the runs."""
    n, p, seedless, tried = case.data.n, case.data.p, case.source.reseed_reason, len(runs.transformed)
    notes: list[Note] = [note("columns.more", asked=d, columns=p)] if d > p else []
    notes += [*narrow_note(runs.base.shape[1], d), *runs.transformations.notes]
    notes += [note("tractable_consistency.tried", tried=tried, all=n * p)] if tried < n * p else []
    notes += failed_note("tractable_consistency.failed", runs.transformed.failures, tried)
    notes += failed_note("tractable_consistency.lost", runs.reseeds.failures, len(runs.reseeds))
    if seedless:
        notes.append(note("tractable_consistency.no_reseeds", reason=seedless))
        notes += [note("tractable_consistency.drifts", what=case.source.what, u=runs.drift)] if runs.drift > 0 else []
    elif runs.seeds_change_nothing:
        reason = f"{case.source.what} gives the same embedding for every seed"
        notes.append(note("tractable_consistency.no_reseeds", reason=reason))
    elif not len(runs.reseeds):
        notes.append(note("tractable_consistency.no_reseeds", reason="n_replicates is 0"))
    if is_constant(runs.base):
        notes.append(note("tractable_consistency.constant"))
    return tuple(notes)


def pca_disparities(
    transformations: Transformations, pairs: npt.NDArray[np.int64], d: int
) -> tuple[FloatArray, FloatArray]:
    """Return disparity u and size tr S_Y~Y~ of the principal components of transformed data, without running PCA.

    A transformation adds a bump to one column, X~ = B + k e_j', so that its covariance is that of B plus a matrix of
    rank 2, S~ = B'B + (B'k) e_j' + e_j (B'k)' + (k'k) e_j e_j', and the product with the first embedding Y = XV is
    Y'Y~ = V'(X'B + (X'k) e_j') V~. All matrices are p x p for any number of points; O(p^3) time for each.
    """
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
    with limit_threads():  # threads on matrices this small wait for each other: 28 times the time, measured
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


@method_measure(
    symbol="u",
    title="Trustability measure",
    question="Does the method return the data, up to scale, when it may use as many dimensions as they have?",
    warning="The method changes the data even with as many dimensions",
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
    points, notes = case.data.X, (note("trustability.fewer", d=d, p=p, why=reason),) if d < p else ()
    Y = _full_embedding(case, d)
    if is_constant(Y):
        u, size, notes = 1.0, 0.0, (*notes, note("trustability.constant"))
    else:
        u, size = embedding_disparity(points, Y), total_square(Y)
        notes += narrow_note(Y.shape[1], d)
    parts = {"ti": u * size, "ti_per_n": u * size / len(Y), "n_components": d}
    chance = 1.0
    if not is_constant(Y):
        chance = float(np.mean(chance_disparity(points, Y, case.root, TRUSTABILITY_CHANCE_DRAWS)))
    return make_record(trustability, case, u, {}, parts=parts, chance=chance, n_runs=1, notes=notes)


def _full_embedding(case: RerunInput, d: int) -> FloatArray:
    """Run the method at d = p; the error of a method that fails explains why so many dimensions are requested."""
    try:
        return Replicates(case, ORIGINAL, 1, d).required()[0]
    except MethodFailed as error:
        request = f"This measure requests n_components={d}, as many as the data have columns."
        hint = f'{request} {error.hint} Some methods need another setting for so many, such as TSNE(method="exact").'
        raise error.altered(hint=hint) from error.__cause__


def full_components(n: int, p: int) -> int:
    """Return the number of dimensions at which a method is run: p, or n - 1 where n points span no more."""
    return n - 1 if p >= n else p
