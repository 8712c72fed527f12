"""Compute how the singularity of t-SNE maps depends on the perplexity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_bool, check_float, check_int, describe
from dreval._parallel import open_progress
from dreval._random import stream_seed
from dreval.analyses._analysis import analysis
from dreval.analyses.tsne_scores import singularity_score
from dreval.errors import InputError, UndefinedMeasure
from dreval.inference.intervals import student_interval
from dreval.inference.rerun_input import open_case
from dreval.inference.reruns import Over, Replicates, Runner, failed_error
from dreval.records.estimates import PerplexityCurve
from dreval.records.notes import Note, join_notes, note
from dreval.records.provenance import provenance

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
    n_replicates: int = 5,
    n_components: int = 2,
    polish: bool = True,
    conf_level: float = 0.95,
    journal: str | Path | None = None,
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
    n_replicates : int, default 5
        Number S of seeds, the same at all perplexities; at least 3.
    n_components : int, default 2
        Number of dimensions of the maps.
    polish : bool, default True
        Whether Newton steps move each map to a minimum; without, most maps are refused.
    conf_level : float, default 0.95
        Level of each interval.
    journal : path, optional
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

    Warnings
    --------
    Maps with different perplexities minimize different losses: a lower score is not evidence that a map is closer to
    the data. Intervals are over seeds, for these data and this start; where runs are refused they are for the other
    runs only. A perplexity chosen on the curve has no error rate.

    See Also
    --------
    singularity_score : the score of the points of one map.
    sweep : settings that are not distinguishable from the best by a measure.

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
    >>> curve = dreval.perplexity_curve(X, [15, 25], n_replicates=3, random_state=0)
    >>> curve.tidy()[["perplexity", "score", "n_refused"]]
       perplexity    score  n_refused
    0        15.0  top 5 %          0
    1        15.0   median          0
    2        25.0  top 5 %          0
    3        25.0   median          0
    """
    seeds, d = check_int(n_replicates, "n_replicates", low=MIN_SEEDS), check_int(n_components, "n_components", low=1)
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
            with Runner(journal, n_jobs, bar=bar) as runner:
                results = Replicates(case, other_seeds, seeds, d, recipe, runner).run(compare)
            refused = results.failures
            failures += refused
            run_notes = []
            if refused:
                run_notes = [note("maps.refused", refused=len(refused), runs=seeds, first=refused[0])]
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
    parameters = {"perplexities": sorted_perplexities, "n_replicates": seeds, "n_components": d, "polish": polish}
    parameters |= {"conf_level": level, **options}
    recipe = provenance(parameters, n=data.n, p=data.p, random_state=root)
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
    result = singularity_score(
        X, Y, perplexity=perplexity, affinities="neighbors", polish=polish, n_jobs=1, progress=False
    )
    largest = np.sort(result.per_n)[-math.ceil(TOP_SHARE * len(Y)) :]
    return {"top": float(largest.mean()), "median": float(np.median(result.per_n))}


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
