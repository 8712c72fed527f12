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
from dreval.geometry.kernels import RADIAL_KERNELS
from dreval.geometry.rkhs import TRANSFORMATIONS, Transformations, make_transformations, transform_count
from dreval.measures._of_methods import (
    Case,
    FloatArray,
    chance_disparity,
    is_constant,
    make_record,
    method_measure,
    narrow_note,
    open_case,
    runnable,
)
from dreval.measures._pca_path import pca_disparities
from dreval.measures._reruns import Found, Reruns
from dreval.records.measure_record import MeasureRecord
from dreval.report.render.summary import format_number

CHANCE_DRAWS = 200
EXACT_ALL = 20_000  # transformations that the exact path tries besides those that were asked for


@method_measure(
    symbol="max u",
    title="Tractable consistency measure",
    question="How far can a small smooth change of what the embedding shows of the data change the embedding?",
    needs=("method", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="the largest u of as many exchanges of the embedding's points as there are transformations, at most 200",
    invariances=frozenset({"translation", "rotation", "scale"}),
    choices={"transformation": TRANSFORMATIONS, "kernel": RADIAL_KERNELS},
    cost="One run of the method for each transformation and reseed; for PCA O(p^3) for each. O(n^2) memory.",
    reference="Roy (2021), Trustworthy Dimensionality Reduction, Definitions 4 and 5, divided by tr S_Y~Y~.",
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
    n_reseeds: int = 5,
    labels: Any = None,
    ids: Any = None,
    store: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> MeasureRecord:
    r"""The largest change of the embedding over a finite set of smooth changes of the data, as a share of its variance.

    The data are reconstructed from the method's own embedding (X_A, Theorem 3, corrected), and each transformation adds
    a bump to one column, at one point, seen through the reconstruction:

    .. math:: \tilde X = X + a \sqrt{\mathrm{tr} S_{XX} / (n p)} \, k(X_A, x_i) e_j'.

    The method is run on each with the same seed, and u is the Procrustes disparity of the embedding of :math:`\tilde X`
    against that of X. The value is the largest u. Read it beside the *reseed baseline*, the same data under other
    seeds: a method that moves as much by itself is not inconsistent, it is random.

    ``transformation="definition"`` is Definition 5 as printed, :math:`k(X_A, x_i) e_j' + (X - X_A)`; it replaces all
    that the embedding knows, so that u is about 1 for nearly every method, and it depends on the unit of the data.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        What is run; coordinates cannot be. For tools outside Python ``dreval.Protocol.collect`` gives a Source, whose
        settings and seed hold.
    n_components : int, default 2
        Number d of dimensions of the embedding.
    transformation : {"perturbation", "definition"}, default "perturbation"
        Which set of transformations.
    amplitude : float, default 0.5
        The factor a. Where the change would fold the data (its steepest slope reaches 1, as with points far out) a
        smaller one is used, and a note says so. Not used by "definition".
    n_transformations : int or "all", default 200
        How many of the n p transformations are tried, spread evenly over the columns. The largest u of some is below
        that of all, so compare methods at equal numbers.
    kernel : {"gaussian", "laplace", "rational_quadratic"}, default "gaussian"
        k on the data at distance r: exp(-r^2 / (2 sigma^2)), exp(-r / sigma), 1 / (1 + r^2 / (2 sigma^2)), with sigma
        by the median rule, sqrt(median of the squared distances of all pairs of points).
    n_reseeds : int, default 5
        Runs of the same data under other seeds; none where seeds do not matter.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points, by which the rows of a table of coordinates are matched; no feature.
    store : path, optional
        A journal (SQLite file): each finished run is written at once, and what is there is not run again. It belongs to
        this data, method, its parameters, versions and seed; a larger ``n_transformations`` continues it. Pass
        ``random_state`` too, since another seed is another run. Of a function of yours its code and the variables,
        functions and classes that it reads belong to it; not so files, the environment, and modules that are imported
        within it: begin another journal when those change.
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
        embedding), ``run_to_run`` (u of a second run on the same data, where a method that takes no seed draws another
        embedding), ``amplitude`` (what was used; of the perturbation only); for PCA also ``max_of_all``, over all n p
        transformations (up to 20,000 of them). ``table``: one row for each transformation.
        ``chance``: the largest u of as many exchanges of the embedding's points, at most 200.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data.
    InputError
        If an argument is not what it must be, or a bundled method cannot give ``n_components`` or needs labels.
    MethodFailed
        If the method fails on the data themselves or on every transformation, or returns more columns than asked for.

    Notes
    -----
    Range [0, 1]; lower is better. PCA is not run: the covariance of transformed data differs by a matrix of rank 2, and
    its eigenvectors give u exactly. Runs that put all points in one place, like the first embedding, have u = 0.
    A method that draws the same embedding of all data has u = 0 too: consistent is not right.

    Cost: ``n_transformations + n_reseeds + 1`` runs of the method, one in place of the reseeds where it takes no seed
    (of PCA one in all, and O(p^3) for each transformation), O(n^2) memory for the kernel, and that of one run in each
    process.

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
    check_int(n_reseeds, "n_reseeds", low=0)
    n_jobs = n_jobs if n_jobs in (None, -1) else check_int(n_jobs, "n_jobs", low=1)
    count = transform_count(n_transformations, case.data.n, case.data.p)
    recipe = {"transformation": transformation, "amplitude": amplitude, "kernel": kernel}
    with Reruns(case, d, {"measure": "tractable_consistency", **recipe}, store, n_jobs, progress) as runs:
        base = runs.base()
        made = make_transformations(case.data.X, base, transformation, amplitude, kernel)
        pairs = made.choose(count, case.root)
        reseeds = [] if case.source.reseed_reason else runs.reseeds(base, n_reseeds)
        drift = runs.again(base)["u"] if n_reseeds and _may_drift(case) else math.nan
        exact = _is_pca(case) and not is_constant(base)
        found = _exact(made, pairs, d) if exact else runs.transformed(base, made, pairs)
    table = _table(case, pairs, found)
    u = table["u"].to_numpy()
    if np.isnan(u).all():
        raise _none_came(case, table)
    parts = {**_parts(table), **_baseline([] if _indifferent(reseeds) else reseeds)}
    parts |= {"run_to_run": drift} if drift > 0 else {}
    parts |= {"amplitude": made.amplitude} if made.kind == "perturbation" else {}
    parts |= _max_of_all(made, pairs, u, d) if exact and case.data.X.size <= EXACT_ALL else {}
    asked = {key: value for key, value in recipe.items() if key != "amplitude" or made.kind == "perturbation"}
    asked["n_transformations"] = n_transformations if n_transformations == "all" else count
    asked["n_reseeds"] = len(reseeds)
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
        notes=(*_width_notes(base, d, case.data.p), *_notes(case, made, base, table, reseeds, drift)),
    )


def _none_came(case: Case, table: pd.DataFrame) -> MethodFailed:
    """The error where no transformed data have an embedding."""
    if case.source.recording is not None:
        got, cure = f"none of {len(table)} runs has come back", "Run the tool on the rest of the folder's tasks."
        return MethodFailed(case.source.argument, "must have been run on transformed data", got, cure)
    cure = "Run the method alone on the data with a small bump added to one column to see where."
    got = f"{len(table)} failures, the first: {table['note'][0].rstrip('.')}"
    return MethodFailed(case.source.argument, "must embed transformed data", got, cure)


def _is_pca(case: Case) -> bool:
    """Whether the source is the bundled PCA, on data whose covariance is smaller than they are."""
    return getattr(case.source.card, "name", "") == "pca" and case.data.p <= case.data.n


def _exact(made: Transformations, pairs: npt.NDArray[np.int64], d: int) -> list[Found]:
    """The answers of PCA without running it."""
    u, sizes = pca_disparities(made, pairs, d)
    rows = zip(u, u * sizes / len(made.X), strict=True)
    return [{"u": float(a), "s_per_n": float(b), "seconds": 0.0, "reason": ""} for a, b in rows]


def _max_of_all(made: Transformations, pairs: npt.NDArray[np.int64], u: FloatArray, d: int) -> dict[str, float]:
    """The largest u over all n p transformations."""
    n, p = made.X.shape
    if len(pairs) == n * p:
        return {"max_of_all": float(u.max())}
    every = np.stack(np.meshgrid(np.arange(n), np.arange(p), indexing="ij"), axis=-1).reshape(-1, 2)
    return {"max_of_all": float(pca_disparities(made, every, d)[0].max())}


def _table(case: Case, pairs: npt.NDArray[np.int64], found: list[Found]) -> pd.DataFrame:
    """One row per transformation: its center and column, u, S / n, seconds, and why it failed."""
    names = case.data.columns or tuple(range(case.data.p))
    table = pd.DataFrame({"point": pairs[:, 0], "column": [names[j] for j in pairs[:, 1]]})
    for name in ("u", "s_per_n", "seconds"):
        table[name] = np.array([row[name] for row in found], dtype=np.float64)
    table["note"] = [row["reason"] for row in found]
    return table


def _parts(table: pd.DataFrame) -> dict[str, Any]:
    u = table["u"].to_numpy()
    return {
        "median": float(np.nanmedian(u)),
        "s_per_n": float(np.nanmax(table["s_per_n"].to_numpy())),
        "tried": len(u),
        "failed": int(np.isnan(u).sum()),
    }


def _baseline(reseeds: list[Found]) -> dict[str, float]:
    """Median and largest u of the runs with other seeds."""
    u = np.array([row["u"] for row in reseeds], dtype=np.float64)
    known: FloatArray = u[~np.isnan(u)]
    return {
        "reseed_median": float(np.median(known)) if len(known) else math.nan,
        "reseed_max": float(known.max()) if len(known) else math.nan,
    }


def _width_notes(base: FloatArray, d: int, p: int) -> tuple[str, ...]:
    """What must be known of the number of columns."""
    wide = (f"More dimensions were asked for ({d}) than the data have columns ({p}).",) if d > p else ()
    return (*wide, *narrow_note(base.shape[1], d))


def _may_drift(case: Case) -> bool:
    """Whether a method that takes no seed could still draw numbers of its own."""
    known = case.source.recording is not None or getattr(case.source.card, "deterministic", False)
    return case.source.reseed_reason is not None and not known


def _drift_note(case: Case, drift: float) -> str:
    """What is said of a method that takes no seed and is random."""
    what = f"The embedding of {case.source.what} differs from run to run by u = {format_number(drift)} on the same data"
    return f"{what}; give it a random_state argument."


def _indifferent(reseeds: list[Found]) -> bool:
    """Whether every other seed gave the same embedding, to the last bit."""
    came = [row for row in reseeds if not row["reason"]]
    return bool(came) and all(row.get("same", False) for row in came)


def _notes(
    case: Case, made: Transformations, base: FloatArray, table: pd.DataFrame, reseeds: list[Found], drift: float
) -> tuple[str, ...]:
    """What must be known to read the value."""
    n_all, tried, failed = case.data.X.size, len(table), table[table["note"] != ""]
    constant = is_constant(base)
    notes = [note for note in made.notes if not (constant and "one place" in note)]  # said below
    if tried < n_all:
        notes.append(f"{tried} of {n_all} transformations were tried, spread evenly over the columns.")
    if len(failed):
        notes.append(f"{len(failed)} of {tried} runs failed; the first: {failed['note'].iloc[0]}")
    lost = [row["reason"] for row in reseeds if row["reason"]]
    if lost:
        notes.append(f"{len(lost)} of {len(reseeds)} runs with other seeds failed; the first: {lost[0]}")
    if case.source.reseed_reason:
        notes.append(f"No reseed baseline: {case.source.reseed_reason}.")
        notes += [_drift_note(case, drift)] if drift > 0 else []
    elif _indifferent(reseeds):
        notes.append(f"No reseed baseline: {case.source.what} gives the same embedding for every seed.")
    elif not reseeds:
        notes.append("No reseed baseline: none was asked for.")
    if constant:
        notes.append("The method puts all points in one place; where it does so again u is 0.")
    return tuple(notes)
