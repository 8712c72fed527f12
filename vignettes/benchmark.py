"""The public table: twelve methods on six data sets, by the default measures, with what held-out measurements say.

``make benchmark`` (``python vignettes/benchmark.py [--fresh] [FOLDER]``) writes ``benchmark.csv`` next to this file, or
into FOLDER: a row for each data set, method and measure. A journal for each data set, in ``_build/benchmark`` or in
FOLDER, stores every embedding as soon as it is finished, and a run that was stopped continues from there; ``--fresh``
deletes these journals first.

The rules were fixed before the first run:

- Data are bundled or simulated, 500 points each. Every simulated set is a signal plus normal noise of a known standard
  deviation, and ``noise`` has no signal.
- Methods run with their defaults, two components and one seed. Nothing is tuned, and no method is run again if the
  result looks bad.
- Measures are those of ``Evaluation.run`` by default, with k = 15, and for the Swiss roll also ``latent_r2``, which
  compares with the truth. Intervals are of 95 % over points; ``in_best_set`` is that of ``Results.ranking``.
- The held-out value is the mean over three splits by ``held_out_fidelity``: "gaussian" where the standard deviation of
  the noise is known, else "columns".
- A failure has a row for each measure, with the reason in ``note``.

All columns but those of seconds are the same in every run with the same versions on the same machine. Numbers have six
digits. Seconds are those of the processor, in one thread: ``seconds_method`` of one embedding, ``seconds_measures`` of
its measures (the mean over the methods of the data set, which share a pass), ``seconds_held_out`` of all runs and
measures of ``held_out_fidelity``, without the embeddings that a journal had. Those of the measures of the first data
set include loading the compiled loops.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import dreval

FILE = Path(__file__).with_suffix(".csv")
JOURNALS = Path(__file__).resolve().parents[1] / "_build" / "benchmark"
N, K, SEED, SPLITS = 500, 15, 0, 3
SECONDS = ["seconds_method", "seconds_measures", "seconds_held_out"]
COLUMNS = ["dataset", "method", "measure", "direction", "value", "conf_low", "conf_high", "chance", "in_best_set"]
COLUMNS += ["held_out", "held_out_se", "held_out_se_points", "held_out_chance", "optimism", "note", *SECONDS]
MEASURES = ("trustworthiness", "continuity", "neighborhood_overlap", "r_nx_auc", "procrustes_rc", "procrustes_rn_opt")
MEASURES += ("procrustes_disparity", "spearman_distance", "triplet_accuracy")

METHODS = {
    "pca": "PCA",
    "kernel_pca": "kernel PCA",
    "metric_mds": "metric MDS",
    "sammon": "Sammon",
    "isomap": "Isomap",
    "lle": "LLE",
    "hessian_lle": "Hessian LLE",
    "laplacian_eigenmaps": "Laplacian eigenmaps",
    "diffusion_maps": "diffusion maps",
    "ikd": "IKD",
    "tsne": "t-SNE",
    "umap": "UMAP",
}


class Sample(NamedTuple):
    """Points, classes, true coordinates, how measurements are split, and what the data are, in a phrase."""

    X: Any
    labels: Any
    latent: Any
    split: dict[str, Any]
    what: str


def _bundled(name: str, what: str) -> Sample:
    """Return 500 random points of a bundled data set, with columns of standard deviation 1 where units differ."""
    data = dreval.load_dataset(name)
    rows = np.sort(np.random.default_rng(SEED).choice(len(data.data), N, replace=False))
    X = data.data[rows]
    X = (X - X.mean(axis=0)) / X.std(axis=0) if name == "wdbc" else X
    return Sample(X, data.labels[rows], None, {"kind": "columns"}, what)


def _simulated(name: str, noise: float, what: str) -> Sample:
    """Return a simulated data set with normal noise of this standard deviation."""
    options = {} if name == "s1" else {"noise": noise}  # clusters of standard deviation 1
    data = dreval.simulate(name, n=N, random_state=SEED, **options)
    latent = data.latent if name == "swiss_roll" else None
    return Sample(data.data, data.labels, latent, {"kind": "gaussian", "sigma": noise}, what)


def sample(name: str) -> Sample:
    """Return a data set of the table."""
    if name == "digits":
        return _bundled("digits", "images of ten digits, 64 pixels")
    if name == "wdbc":
        return _bundled("wdbc", "cell nuclei, 30 columns, two classes")
    if name == "swiss_roll":
        return _simulated("swiss_roll", 0.25, "a rolled rectangle in space, with noise")
    if name == "sphere":
        return _simulated("sphere", 0.05, "a closed surface in space, with noise")
    if name == "clusters":
        return _simulated("s1", 1.0, "three normal clusters in ten dimensions")
    X = np.random.default_rng(SEED).standard_normal((N, 10))
    return Sample(X, None, None, {"kind": "gaussian", "sigma": 1.0}, "normal noise in ten dimensions, no signal")


DATA = ("digits", "wdbc", "swiss_roll", "sphere", "clusters", "noise")


def measures_of(data: Sample) -> list[str]:
    """Return the measures of a data set."""
    return [*MEASURES, *["knn_accuracy"] * (data.labels is not None), *["latent_r2"] * (data.latent is not None)]


def table_of(name: str, methods: Sequence[str], journal: Path | None = None) -> pd.DataFrame:
    """Return the rows of one data set."""
    data = sample(name)
    measures = measures_of(data)
    evaluation = dreval.Evaluation(
        data.X,
        {method: method for method in methods},
        labels=data.labels,
        latent=data.latent,
        n_neighbors=K,
        random_state=SEED,
        n_jobs=1,
    )
    options = {"tests": None, "journal": journal, "progress": False}
    evaluation.run("trustworthiness", ci=None, **options)  # embeds
    start = process_time()
    results = evaluation.run(measures, ci="points", **options)
    rows = results.tidy(full=True).rename(columns={"embedding": "method"}).assign(dataset=name)
    rows["seconds_measures"] = (process_time() - start) / len(methods)
    best = results.ranking().set_index(["measure", "embedding"])["in_best_set"]
    rows["in_best_set"] = [best.get(key) for key in zip(rows["measure"], rows["method"], strict=True)]
    rows["seconds_method"] = rows["method"].map({method: seconds_of(data.X, method) for method in methods})
    held_out = pd.concat([held_out_values(data, method, measures, journal) for method in methods])
    rows = rows.merge(held_out, how="left", on=["method", "measure"], validate="1:1")
    notes = zip(rows["note"], rows.pop("why").fillna(""), strict=True)
    rows["note"] = [". Held out: ".join(filter(None, pair)) for pair in notes]
    return rows[COLUMNS]


def seconds_of(X: Any, method: str) -> float:
    """Return the seconds of one run of a method; none where it fails."""
    try:
        dreval.embed(X[::5], method, random_state=SEED)  # compiles loops
        start = process_time()
        dreval.embed(X, method, random_state=SEED)
    except dreval.errors.DrevalError:
        return np.nan
    return process_time() - start


def held_out_values(data: Sample, method: str, measures: Sequence[str], journal: Path | None) -> pd.DataFrame:
    """Return the held-out values of a method by each measure; the reason where it fails on the parts."""
    start = process_time()
    options = {"n_splits": SPLITS, "n_resamples": 0, "n_neighbors": K, "random_state": SEED, "n_jobs": 1}
    chosen = [measure for measure in measures if measure != "latent_r2"]  # held out or not, the truth is the same
    try:
        table = dreval.held_out_fidelity(
            data.X, method, **data.split, measures=chosen, labels=data.labels, journal=journal, **options
        ).tidy()
    except dreval.errors.DrevalError as error:
        table = pd.DataFrame({"measure": chosen, "note": str(error)})
    names = {"se": "held_out_se", "se_points": "held_out_se_points", "chance": "held_out_chance", "note": "why"}
    columns = ["method", "measure", "held_out", *names.values(), "optimism", "seconds_held_out"]
    seconds = process_time() - start
    return table.rename(columns=names).assign(method=method, seconds_held_out=seconds).reindex(columns=columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table of all data sets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where benchmark.csv and the journals are written")
    parser.add_argument("--fresh", action="store_true", help="delete the journals of earlier runs first")
    options = parser.parse_args(arguments)
    folder = options.folder or JOURNALS
    folder.mkdir(parents=True, exist_ok=True)
    tables = []
    for name in DATA:
        start, journal = process_time(), folder / f"{name}.journal"
        if options.fresh:
            journal.unlink(missing_ok=True)
        with threadpool_limits(limits=1):
            tables.append(table_of(name, [*METHODS], journal))
        print(f"{name}: {process_time() - start:.0f} s", file=sys.stderr)
    table = pd.concat(tables).round(dict.fromkeys(SECONDS, 3))
    path = FILE if options.folder is None else folder / FILE.name
    table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    print(f"{path}: {len(table)} rows, {table['value'].isna().sum()} without a value")
    return 0


if __name__ == "__main__":
    sys.exit(main())
