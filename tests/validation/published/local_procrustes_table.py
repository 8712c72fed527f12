"""Goldberg & Ritov, Local Procrustes for manifold embedding, Table 2: three surfaces, faces and handwritten twos.

``python tests/validation/published/local_procrustes_table.py`` prints the least R_N and the least R_C over k = 6, 9,
12, 15 and 18 neighbors, the same k in method and measure, and the printed ones (surfaces: mean of three samples); R
before and after the refinement of Section 4.4 at k = 12, and how many of its rounds raised R. The paper takes LLE and
LTSA from the programs of their authors and does not state their scale; ours is inferred from those programs and from
the printed R_N (covariance I; columns of length 1). PSA is aligned by spectral synchronization, not by simulated
annealing; ``local_procrustes_figures.py`` has both for the cylinder.

The paper does not state the sampling of the surfaces, the radius of the hemisphere, and radius and height of the
cylinder (ours: 1, and 1 and 2). R_N of LLE and LTSA depends on the radius, and is not compared for these surfaces; R_N
of the others does not. The faces are the 1965 of the paper, as bytes. The paper has 638 USPS twos without further
description; ours are all 929 of the files ``zip.train`` and ``zip.test``, in [-1, 1].

Our neighborhoods are a point and its k neighbors. The lower bound depends on the data only. On the faces it is .158,
where the paper prints .11; with k points in all it is .116, and .110 with k neighbors but without the point. So the
paper's neighborhoods have k points. The notes give our measures at k points too.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from tables import COMPARISON, Tables, claim, collect, comparison, main, number, product, real, some_rows, timed

import dreval
from dreval.errors import DrevalError
from dreval.methods import (
    LLE,
    LTSA,
    GreedyProcrustes,
    Isomap,
    LaplacianEigenmaps,
    ProcrustesRefinement,
    ProcrustesSubspacesAlignment,
)

KS = (6, 9, 12, 15, 18)
SURFACES = {"swiss_roll": 1600, "hemisphere": 2500, "cylinder": 800}
IMAGES = {"faces": ("frey", 3), "twos": ("usps_twos", 10)}
DATA = (*SURFACES, *IMAGES)
JOIN: dict[str, Any] = {"disconnected": "connect"}
METHODS = {
    "GP": lambda k, d: GreedyProcrustes(d, n_neighbors=k, **JOIN),
    "PSA": lambda k, d: ProcrustesSubspacesAlignment(d, n_neighbors=k, **JOIN),
    "LLE": lambda k, d: LLE(d, n_neighbors=k, normalize="sqrt_n", **JOIN),
    "Isomap": lambda k, d: Isomap(d, n_neighbors=k, **JOIN),
    "LTSA": lambda k, d: LTSA(d, n_neighbors=k, normalize="unit", **JOIN),
}
PRINTED = {  # R_N and R_C, in the order of DATA
    "GP": ((0.00, 0.00), (0.02, 0.01), (0.13, 0.01), (0.45, 0.36), (0.00, 0.00)),
    "PSA": ((0.00, 0.00), (0.03, 0.01), (0.02, 0.01), (0.35, 0.30), (0.00, 0.00)),
    "LLE": ((0.81, 0.23), (0.60, 0.00), (0.73, 0.13), (0.99, 0.79), (0.82, 0.23)),
    "Isomap": ((0.01, 0.01), (0.03, 0.02), (0.34, 0.25), (0.50, 0.38), (0.02, 0.01)),
    "LTSA": ((0.99, 0.22), (0.93, 0.04), (0.59, 0.48), (0.99, 0.53), (0.98, 0.37)),
}
BOUNDS = (0.00, 0.00, 0.00, 0.11, 0.00)
OTHER_TWOS = "929 twos, not their 638"
TOLERANCE = 0.03
FEWER = "r_n, k points"  # the point and k - 1 neighbors
STARTS = {
    "Isomap": lambda X, k: Isomap(2, n_neighbors=k).fit_transform(X),
    "LLE": lambda X, k: LLE(2, n_neighbors=k, normalize="sqrt_n").fit_transform(X),
    "LTSA": lambda X, k: LTSA(2, n_neighbors=k).fit_transform(X),
    "Laplacian eigenmaps": lambda X, k: LaplacianEigenmaps(2, n_neighbors=k).fit_transform(X),
    "GP without": lambda X, k: GreedyProcrustes(2, n_neighbors=k, max_iter=0).fit_transform(X),
    "noise": lambda X, _: np.random.default_rng(0).normal(size=(len(X), 2)),
}


@lru_cache(maxsize=1)
def draw(data: str, seed: int, points: int | None) -> np.ndarray:
    """Return the data without scaling."""
    if data in SURFACES:
        return dreval.simulate(data, n=points or SURFACES[data], random_state=seed).data
    source = real(IMAGES[data][0])
    X = np.asarray(source["X"], float) * source.get("scale", 1.0)
    return X[some_rows(len(X), points)]


def cell(data: str, seed: int, method: str, k: int, points: int | None = None) -> dict[str, Any]:
    """Return R_N and R_C of one embedding; else the reason of the failure."""
    X = draw(data, seed, points)
    d = IMAGES[data][1] if data in IMAGES else 2
    if method == "lower bound":
        bounds = [float(dreval.procrustes_lower_bound(X, X[:, :d], n_neighbors=size)) for size in (k, k - 1)]
        return {"r_n": bounds[0], "r_c": np.nan, FEWER: bounds[1], "seconds": 0.0}
    try:
        Y, seconds = timed(lambda: METHODS[method](k, d).fit_transform(X))
    except DrevalError as error:
        return {"r_n": np.nan, "r_c": np.nan, FEWER: np.nan, "seconds": np.nan, "why not": str(error).splitlines()[0]}
    measures = {"r_n": dreval.procrustes_rn, "r_c": dreval.procrustes_rc}
    scores = {name: float(measure(X, Y, n_neighbors=k)) for name, measure in measures.items()}
    return {**scores, FEWER: float(dreval.procrustes_rn(X, Y, n_neighbors=k - 1)), "seconds": seconds}


def refined(seed: int, start: str, k: int = 12, points: int | None = None) -> dict[str, float]:
    """Return R and R_N before and after the rounds of refinement, and how many rounds raised R."""
    X = draw("swiss_roll", seed, points)
    Y, _ = timed(lambda: STARTS[start](X, k))
    method, seconds = timed(lambda: ProcrustesRefinement(2, init=Y, n_neighbors=k).fit(X))
    path = np.asarray(method.path_)
    measures = {"R_N before": Y, "R_N after": method.embedding_}
    return {
        "R before": float(path[0]),
        "R after": float(path[-1]),
        "rounds": len(path) - 1,
        "rounds that raised R": int((np.diff(path) > 0).sum()),
        **{name: float(dreval.procrustes_rn(X, embedding, n_neighbors=k)) for name, embedding in measures.items()},
        "seconds": seconds,
    }


def least(results: pd.DataFrame) -> pd.DataFrame:
    """Return the least R_N and R_C over k, means and ranges over samples, and the best k of the first sample."""
    per_seed = results.groupby(["data", "method", "seed"], sort=False)
    values = per_seed[["r_n", "r_c", FEWER]].min()
    table = values.groupby(level=["data", "method"], sort=False).mean()
    spread = values.groupby(level=["data", "method"], sort=False).agg(np.ptp).add_prefix("range of ")
    first_sample = results[(results["seed"] == 0) & results["r_n"].notna()]
    at = first_sample.loc[first_sample.groupby(["data", "method"], sort=False)["r_n"].idxmin()].set_index(
        ["data", "method"]
    )["k"]
    return table.join(spread).join(at).join(results.groupby(["data", "method"], sort=False)["seconds"].mean())


def rows_of(table: pd.DataFrame, refinement: pd.DataFrame) -> list[list[Any]]:
    """Return each printed number next to ours."""
    rows = []
    for data, method in table.index:
        row, at = table.loc[(data, method)], DATA.index(data)
        if method == "lower bound":
            note = f"neighborhoods of k points: {row[FEWER]:.3f}"
            tolerance, note = (None, f"{OTHER_TWOS}; {note}") if data == "twos" else (TOLERANCE, note)
            rows.append(number(f"Table 2, {data}, lower bound", BOUNDS[at], row["r_n"], tolerance, note))
            continue
        free = data in ("hemisphere", "cylinder") and method in ("LLE", "LTSA")
        note = {"cylinder": "height over radius not stated", "twos": OTHER_TWOS}.get(data, "")
        for column, name, paper in zip(("r_n", "r_c"), ("R_N", "R_C"), PRINTED[method][at], strict=True):
            tolerance = None if data == "twos" or (free and column == "r_n") else TOLERANCE
            fewer = f"neighborhoods of k points: {row[FEWER]:.3f}" if column == "r_n" and data in IMAGES else ""
            unit = "depends on the radius, not stated" if free and column == "r_n" else ""
            text = "; ".join(filter(None, (note, unit, fewer)))
            rows.append(number(f"Table 2, {data}, {method}, {name}", paper, row[column], tolerance, text))
    raised = int(refinement["rounds that raised R"].sum())
    sentence = "the iteration of Section 4.4 lowers R"
    rows.append(claim("Section 4.4", sentence, f"rounds that raised R: {raised}, of six starts", raised == 0))
    return rows


def tables(options: argparse.Namespace) -> Tables:
    """Return Table 2 and the refinement."""
    data = ("swiss_roll", "cylinder") if options.small else DATA
    cells = [
        keys
        for keys in product(data=data, seed=range(3), method=(*METHODS, "lower bound"), k=KS)
        if keys["seed"] == 0 or (keys["data"] in SURFACES and not options.small)
    ]
    results = collect("table 2", cells, cell, options)
    refinement = collect("refinement", [{"seed": 0, "start": s} for s in STARTS], refined, options)
    table = least(results)
    why = results[results["r_n"].isna()] if "why not" in results else results.iloc[:0]
    return {
        COMPARISON: comparison(rows_of(table, refinement)),
        "Least measures over k": table,
        "Refinement of embeddings of the Swiss roll, k = 12 (starts are scaled to their best R first)": (
            refinement.set_index("start").drop(columns="seed")
        ),
        "Not possible": why.set_index(["data", "method", "k"])[["why not"]] if len(why) else pd.DataFrame(),
    }


if __name__ == "__main__":
    main(__file__, __doc__, tables)
