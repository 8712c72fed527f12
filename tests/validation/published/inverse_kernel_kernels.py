"""Li & Wu, Inverse Kernel Decomposition, Figures 2, 5 and 6, in small: kernels, difficulties, and the wrong kernel.

``python tests/validation/published/inverse_kernel_kernels.py`` prints mean R^2 of three latent variables over ten
repeats, 100 points, 100 to 2000 columns that are noise-free draws of Gaussian processes with each of four kernels
(length scale .5, shapes alpha = gamma = 1, nu = 1.5 as in Figure 5), embedded with the right kernel and with each wrong
one, and by PCA. The paper has up to 10,000 columns and 50 repeats, and says: with the squared exponential kernel
inverse kernel decomposition (IKD) is "always the best"; under another kernel it is above a Gaussian process latent
variable model (GPLVM) "in most cases". The paper draws the latent shapes and does not say how many points they have;
both are those of the authors' program (JerrySoybean/ikd at 74e303e, ``ikd/datasets.py``).

GPLVM is fitted with the squared exponential kernel only here, and compared only with IKD by the same kernel, on the
same draws: on data of this kernel (Figure 2), and on data of the three others (3 of the 12 panels of Figure 6 with a
wrong kernel). In the authors' program the kernels of GPLVM are those of GPy, and where IKD has the rational quadratic
kernel GPLVM has the exponential one, and the reverse.

Rules, set before the computation, on means over the repeats. "Always the best": *yes* if IKD is above PCA and GPLVM in
all cells, *in part* if in more than half. "In most cases": *yes* if in more than half, *in part* if in any.

"default" is the geodesic solution above the threshold .4, which is ours; "low" and "blocks" are the geodesic and the
blockwise solution above the threshold that the program of the authors computes from the number N of columns, .7 - .2
log10(N) between .1 and .3. The text describes the geodesic solution for more than 1000 points; the program for these
figures takes the blockwise one, and refers to Isomap where blocks fit badly, which ours does not. Both have their rows.

Results: for the squared exponential kernel IKD is above PCA and GPLVM in 9 of 9 cells (blockwise 5); for data of the
others above GPLVM in 3 of 9 (2). With more columns it tends to 1 (.95 to .99 at 2000; blockwise .85 to 1.00); with the
threshold .4 less (.80 to .98), since paths then unroll curved shapes.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from inverse_kernel_maps import authors_threshold
from tables import COMPARISON, Tables, claim, collect, comparison, main, timed

import dreval
from dreval.geometry.distances import pairwise_squared
from dreval.methods import GPLVM, IKD, PCA
from dreval.methods.ikd import matern

LENGTH_SCALE = 0.5
KERNELS = {
    "gaussian": lambda d: np.exp(-d / 2),
    "rational_quadratic": lambda d: 1 / (1 + d / 2),
    "gamma_exponential": lambda d: np.exp(-np.sqrt(d)),
    "matern": lambda d: matern(np.maximum(d, 1e-12), 1.5),
}
WIDTHS, REPEATS = (100, 500, 2000), 10
FORMS = ("low", "blocks")
HOW = ("default", *FORMS, "PCA", "GPLVM")
POINTS = 100
STORED = {  # means over 50 trials in the authors' repository: test/GPLVM/outputs, test/kernel_mismatch/outputs
    "Figure 2": "the authors' stored means: the best in 21 of 21 cells",
    "Figure 6": "the authors' stored means: 15 of 21 by this kernel, 63 of 84 in all",
}


def hard(rng: np.random.Generator) -> np.ndarray:
    """Return four turns about an axis along which the points go forth and back, with noise, in an order with jumps."""
    turn = np.linspace(-4 * np.pi, 4 * np.pi, POINTS)
    height = np.concatenate([np.linspace(-2, 1.95, 50), np.linspace(2, -2, 50)]) / 4
    radius = 0.5 * (height**3 + 1)
    x, y = radius * np.sin(turn), radius * np.cos(turn)
    noise = 0.05 * rng.normal(size=(2, POINTS))
    order = np.r_[0:25, 74:49:-1, 25:50, 99:74:-1]
    return 2 * np.column_stack([x + noise[0], y + noise[1], height])[order]


def medium(rng: np.random.Generator) -> np.ndarray:
    """Return a curve that winds about an axis while it rises evenly; without noise."""
    turn, height = np.linspace(-4 * np.pi, 4 * np.pi, POINTS), np.linspace(-0.5, 0.5, POINTS)
    return np.column_stack([(height**2 + 1) * np.sin(1.3 * turn), (height**2 + 1) * np.cos(turn), height])


def easy(rng: np.random.Generator) -> np.ndarray:
    """Return a grid on a wavy surface, in random order."""
    x, y = (part.ravel() for part in np.meshgrid(np.linspace(-0.5, 0.5, 10), np.linspace(-0.5, 0.5, 10)))
    height = np.sin(2 * np.pi * x) + np.cos(3 * np.pi * y) / 2
    return rng.permutation(np.column_stack([x, y, height]))


SHAPES = {"hard": hard, "medium": medium, "easy": easy}


@lru_cache(maxsize=1)
def sample(shape: str, kernel: str, columns: int, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Return latent places and data; the places are the same for all kernels and numbers of columns."""
    rng = np.random.default_rng([list(SHAPES).index(shape), repeat])
    Z = SHAPES[shape](rng)
    values, vectors = np.linalg.eigh(KERNELS[kernel](pairwise_squared(Z / LENGTH_SCALE)))
    return Z, (vectors * np.sqrt(np.maximum(values, 0.0))) @ rng.normal(size=(POINTS, columns))


def cell(shape: str, kernel: str, columns: int, repeat: int, how: str, read_as: str) -> dict[str, float]:
    """Return R^2 of one embedding."""
    Z, X = sample(shape, kernel, columns, repeat)
    low = authors_threshold(columns)
    settings = {
        "default": {},
        "low": {"min_correlation": low},
        "blocks": {"min_correlation": low, "solution": "blockwise"},
    }
    kernels = {"alpha": 1.0, "gamma": 1.0, "nu": 1.5}
    peers = {"PCA": PCA(3), "GPLVM": GPLVM(3, random_state=0)}
    method = peers[how] if how in peers else IKD(3, kernel=read_as, **kernels, **settings[how])
    Y, seconds = timed(lambda: method.fit_transform(X))
    return {"r2": float(dreval.latent_r2(Y, latent=Z)), "seconds": seconds}


def kernels_of(shape: str, kernel: str, how: str) -> list[str]:
    """Return the kernels of the fits: the right one, on the medium shape also the wrong ones; GPLVM has one."""
    if how == "GPLVM":
        return ["gaussian"] if shape == "medium" or kernel == "gaussian" else []
    return list(KERNELS) if shape == "medium" and how in FORMS else [kernel]


def table_cells(small: bool) -> list[dict[str, Any]]:
    """Return the cells: all shapes with the right kernel, and the medium shape also with each wrong one."""
    return [
        {"shape": shape, "kernel": kernel, "columns": columns, "repeat": repeat, "how": how, "read_as": name}
        for repeat in range(1 if small else REPEATS)
        for shape in SHAPES
        for kernel in KERNELS
        for columns in (WIDTHS[1:2] if small else WIDTHS)
        for how in HOW
        for name in kernels_of(shape, kernel, how)
    ]


def alike(results: pd.DataFrame) -> pd.DataFrame:
    """Return mean R^2 by the squared exponential kernel and by PCA, on the same draws: a column per method."""
    same = results[(results["read_as"] == "gaussian") | (results["how"] == "PCA")]
    table = same.pivot_table(index=["kernel", "shape", "columns"], columns="how", values="r2", sort=False)
    return table[table["GPLVM"].notna()]


def rows_against_gplvm(table: pd.DataFrame) -> list[list[Any]]:
    """Return whether IKD is the best by the squared exponential kernel, and above GPLVM on data of the others."""
    rows = []
    right, wrong = table.xs("gaussian", level="kernel"), table.drop(index="gaussian", level="kernel")
    for form in FORMS:
        best = right[form] > right[["PCA", "GPLVM"]].max(axis=1)
        at = right.xs(500, level="columns")
        numbers = "; ".join(f"{shape} {row[form]:.2f}, {row['GPLVM']:.2f}" for shape, row in at.iterrows())
        rows.append(
            claim(
                "Figure 2 (b)",
                "squared exponential kernel: IKD is always the best",
                f"{form}: above PCA and GPLVM in {best.sum()} of {len(best)} cells; IKD, GPLVM at N = 500: {numbers}",
                "yes" if best.all() else "in part" if best.mean() > 0.5 else "no",
                STORED["Figure 2"],
            )
        )
    for form in FORMS:
        above = wrong[form] > wrong["GPLVM"]
        at = wrong.xs(500, level="columns")
        numbers = "; ".join(f"{kernel} {row[form]:.2f}, {row['GPLVM']:.2f}" for (kernel, _), row in at.iterrows())
        rows.append(
            claim(
                "Figure 6",
                "with the wrong kernel IKD is above GPLVM in most cases",
                f"{form}: both by the squared exponential, above in {above.sum()} of {len(above)} cells; IKD, GPLVM "
                f"at N = 500 by kernel of the data: {numbers}",
                "yes" if above.mean() > 0.5 else "in part" if above.any() else "no",
                STORED["Figure 6"],
            )
        )
    return rows


def rows_of(results: pd.DataFrame) -> list[list[Any]]:
    """Return which sentences of the text hold."""
    right = results[(results["kernel"] == results["read_as"]) & (results["how"] != "GPLVM")]
    mean = right.pivot_table(index=["shape", "kernel", "columns"], columns="how", values="r2")
    widest = int(results["columns"].max())
    at_widest = mean.xs("gaussian", level="kernel").xs(widest, level="columns")
    levels = "; ".join(f"{how} {at_widest[how].min():.2f} to {at_widest[how].max():.2f}" for how in HOW[:3])
    most = mean.xs(widest, level="columns")
    above = {how: int((most[how] > most["PCA"]).sum()) for how in HOW[:3]}
    return [
        *rows_against_gplvm(alike(results)),
        claim(
            "Figure 2 (b)",
            "squared exponential kernel: R^2 of IKD is very close to 1 when N is large",
            f"at N = {widest}: {levels}",
            "yes" if at_widest[list(FORMS)].min().min() > 0.95 else "in part",
            "yes: above .95 in both forms; the paper goes to N = 10,000",
        ),
        claim(
            "Figure 2 (b)",
            "compared with PCA IKD is highly effective when N is large",
            f"at N = {widest}, of {len(most)} cells: " + ", ".join(f"{how} in {count}" for how, count in above.items()),
            "yes" if min(above[how] for how in FORMS) == len(most) else "in part",
            "yes: above PCA in all cells, whose kernels are all four; the paper goes to N = 10,000",
        ),
    ]


def tables(options: argparse.Namespace) -> Tables:
    """Return the tables for the right kernel and for the others."""
    results = collect("inverse_kernel_kernels", table_cells(options.small), cell, options)
    right = results[(results["kernel"] == results["read_as"]) & (results["how"] != "GPLVM")]
    order: dict[str, Any] = {"values": "r2", "sort": False}
    mixed = results[(results["shape"] == "medium") & results["how"].isin(FORMS)]
    return {
        COMPARISON: comparison(rows_of(results)),
        "Mean R^2 by the squared exponential kernel, on the same draws (Figures 2 and 6)": alike(results).drop(
            columns="default"
        ),
        "Mean R^2 with the right kernel (Figure 2)": right.pivot_table(
            index=["shape", "kernel"], columns=["columns", "how"], **order
        ),
        "Mean R^2 of the medium shape (Figure 6): rows made the data, columns are how they are read": (
            mixed.pivot_table(index=["how", "columns", "kernel"], columns="read_as", **order)
        ),
        "Mean seconds (Figure 2 d)": results.pivot_table(index="columns", columns="how", values="seconds"),
    }


if __name__ == "__main__":
    main(__file__, __doc__, tables)
