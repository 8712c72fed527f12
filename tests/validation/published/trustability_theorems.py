"""Roy, Trustworthy Dimensionality Reduction, Theorems 1, 4 and 5 by simulation, and the angle of Figure 11.

``python tests/validation/published/trustability_theorems.py`` prints four tables. The rules on the theorems were set
before the run, those on Figure 11 after a look at three draws.

1. Theorem 1: two reconstructions f(y) and g(y) with errors of mean 0 that are independent of y are equal. Kernel ridge
   regression and the mean of the nearest sqrt(n) embedding points both estimate such an f. x = (t, sin 2t, t^2) plus
   errors, y = t. *Yes* if their mean squared difference at new places, over the variance of the curve, falls with n and
   is below .02 for 1000 points. The control: a linear and a quadratic function of t that both leave *uncorrelated*
   errors of x = t + t^2 stay apart, so that the theorem needs more than that.
2. Theorem 4: an invertible map T of the manifold with the same errors does not change the least loss if the functions
   are closed under T and its inverse. The loss is the squared distance of phi(x) from numbers. *Yes* if the least
   losses differ by less than 1e-8 of their size for affine and for quadratic functions and affine T. Controls: affine
   functions and a cubic T, which they are not closed under; and errors that change.
3. Theorem 5: if S(T) is convex, its maximum over convex combinations of the n p kernel functions is at one of these.
   S is computed for the identity (d = p), for PCA and for a method that returns one column, for 2000 combinations: is
   it convex on the segments between kernel functions, and is any combination above all of them? *Yes* for the sentence
   if none is above. The kernel functions themselves have values on a line and are not invertible, as the work demands
   of T: the maximum over its set is a supremum.
4. Figure 11: |correlation| of LSDR with the angle in place of the arc length; and in twentieths along the spiral, with
   the slope of the embedding over that of the median twentieth: "there is a kernel effect at the tail, where the
   correlation weakens severely". Without noise all points are skeletal, so that no kernel is used: the second row has
   noise of .1. *Yes* if the median correlation is below .5 at an end and above .9 between, *in part* if lower.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from tables import COMPARISON, Tables, claim, collect, comparison, main, product, quiet

import dreval
from dreval.geometry.kernels import reconstruction_map
from dreval.methods import LSDR, PCA

SIZES = (100, 300, 1000)
SAME = 0.02  # largest difference of two reconstructions, over the variance
APART = 0.1  # least difference of the control


def curve(t: np.ndarray) -> np.ndarray:
    """Return the points of the curve without errors."""
    return np.column_stack([t, np.sin(2 * t), t**2])


def two_reconstructions(points: int, draw: int) -> dict[str, float]:
    """Return the mean squared difference of two reconstructions and their errors, over the variance of the curve."""
    rng = np.random.default_rng([1, points, draw])
    t, new = rng.uniform(-2, 2, points), rng.uniform(-1.9, 1.9, 1000)
    X = curve(t) + np.column_stack([np.zeros(points), 0.3 * rng.normal(size=(points, 2))])
    ridge = quiet(lambda: reconstruction_map(t[:, None], X)(new[:, None]))
    near = cKDTree(t[:, None]).query(new[:, None], int(np.sqrt(points)))[1]
    mean = X[near].mean(axis=1)
    truth, variance = curve(new), curve(new).var(axis=0).sum()
    squares = {"difference": (ridge, mean), "ridge": (ridge, truth), "neighbors": (mean, truth)}
    x = t + t**2 + 0.3 * rng.normal(size=points)  # the control: uncorrelated errors do not determine a function
    line, square = (np.polyval(np.polyfit(t, x, degree), new) for degree in (1, 2))
    values = {name: float(((a - b) ** 2).sum(axis=1).mean() / variance) for name, (a, b) in squares.items()}
    return {**values, "uncorrelated": float(((line - square) ** 2).mean() / x.var())}


def least_loss(X: np.ndarray, targets: np.ndarray, degree: int) -> float:
    """Return the least squared distance of a polynomial of the coordinates from the targets."""
    columns = [np.ones(len(X)), *X.T]
    columns += [X[:, i] * X[:, j] for i in range(X.shape[1]) for j in range(i + 1)] if degree > 1 else []
    design = np.column_stack(columns)
    fitted = design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    return float(np.mean((targets - fitted) ** 2))


def transformed_losses(case: str, draw: int) -> dict[str, float]:
    """Return the least loss, and its relative change when the manifold is transformed."""
    rng = np.random.default_rng([4, draw])
    manifold, errors = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    targets = np.sin(errors[:, 0]) + manifold[:, 0] * manifold[:, 1]  # of the sample, and fixed
    A, b = rng.normal(size=(2, 2)) + 2 * np.eye(2), rng.normal(size=2)
    changes = {
        "affine functions, affine T": (1, manifold @ A + b, errors),
        "quadratic functions, affine T": (2, manifold @ A + b, errors),
        "affine functions, cubic T": (1, manifold + 0.3 * manifold**3, errors),
        "affine functions, affine T, errors changed": (1, manifold @ A + b, errors * [2.0, 1.0]),
    }
    degree, other, other_errors = changes[case]

    def loss(places: np.ndarray, e: np.ndarray) -> float:
        return least_loss(places, targets - np.sin(errors[:, 0]) + np.sin(e[:, 0]), degree)

    before, after = loss(manifold, errors), loss(other, other_errors)
    return {"loss": before, "change": abs(after - before) / before}


UNCHANGED = 1e-8  # relative change of a loss that is rounding
CASES = {  # whether both conditions of Theorem 4 hold
    "affine functions, affine T": True,
    "quadratic functions, affine T": True,
    "affine functions, cubic T": False,
    "affine functions, affine T, errors changed": False,
}
ALGORITHMS = {
    "identity, d = 2": lambda X: X - X.mean(axis=0),
    "PCA, d = 1": lambda X: PCA(1).fit_transform(X),
    "first column, d = 1": lambda X: X[:, :1] - X[:, :1].mean(),
}


def residual(Y: np.ndarray, reference: np.ndarray) -> float:
    """Return S: the residual of Y after the best rotation, scale and shift of the reference."""
    Y, reference = Y - Y.mean(axis=0), reference - reference.mean(axis=0)
    nuclear = np.linalg.svd(Y.T @ reference, compute_uv=False).sum()
    return float(np.sum(Y**2) - nuclear**2 / np.sum(reference**2))


def combinations_of_kernels(algorithm: str, draw: int, points: int = 30, count: int = 2000) -> dict[str, float]:
    """Return the largest S of kernel functions and of combinations, and the share of midpoints above their ends."""
    rng, method = np.random.default_rng([5, draw]), ALGORITHMS[algorithm]
    X = np.column_stack([rng.normal(size=points), 0.4 * rng.normal(size=points)])
    Y = method(X)
    base = quiet(lambda: reconstruction_map(Y, X, rule="theorem3")(Y))
    squared = ((base[:, None] - base) ** 2).sum(axis=2)
    K = np.exp(-0.5 * squared / np.median(squared[np.triu_indices(points, 1)]))

    def s_of(B: np.ndarray) -> float:
        return residual(method(K @ B + X - base), Y)

    ends = np.array([s_of(unit.reshape(points, 2)) for unit in np.eye(2 * points)])
    above, largest = 0, 0.0
    for _ in range(count):
        i, j = rng.integers(0, 2 * points, 2)
        middle = np.zeros(2 * points)
        middle[i] += 0.5
        middle[j] += 0.5
        above += s_of(middle.reshape(points, 2)) > 0.5 * (ends[i] + ends[j]) * (1 + 1e-9)
        weights = rng.dirichlet(np.full(2 * points, rng.choice([0.02, 0.1, 1.0])))
        largest = max(largest, s_of(weights.reshape(points, 2)))
    return {"kernels": float(ends.max()), "combinations": largest, "midpoints above": float(above / count)}


def angle_at(arc: np.ndarray, turns: float = 3.0) -> np.ndarray:
    """Return the angle t at which the spiral (t cos t, t sin t) has a length."""
    t = np.linspace(0, 2 * np.pi * turns, 20_001)
    return np.interp(arc, 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t)), t)


def spiral(noise: float, draw: int, points: int = 300) -> dict[str, float]:
    """Return correlations of LSDR with angle and arc length, at both ends and between, and slopes of the ends."""
    data = dreval.simulate("spiral", n=points, noise=noise, random_state=draw)
    method, arc = LSDR(1), data.latent[:, 0]
    angle, y = angle_at(arc), quiet(lambda: method.fit_transform(data.data))[:, 0]
    parts = np.array_split(np.argsort(angle), 20)
    within = np.array([abs(np.corrcoef(y[part], angle[part])[0, 1]) for part in parts])
    slopes = np.array([abs(np.polyfit(arc[part], y[part], 1)[0]) for part in parts])
    values = {"angle": abs(np.corrcoef(y, angle)[0, 1]), "arc length": abs(np.corrcoef(y, arc)[0, 1])}
    values |= {"inner end": within[0], "between": np.median(within[1:-1]), "outer end": within[-1]}
    values |= {f"slope, {name}": slopes[i] / np.median(slopes) for name, i in (("inner end", 0), ("outer end", -1))}
    return {**{name: float(value) for name, value in values.items()}, "skeletal": len(method.skeletal_) / points}


def theorem_1(results: pd.DataFrame) -> list[list[Any]]:
    """Return whether two reconstructions become one, and whether uncorrelated errors suffice."""
    mean = results.groupby("points")[["difference", "uncorrelated"]].mean()
    falls = bool((np.diff(mean["difference"]) < 0).all() and mean["difference"].iloc[-1] < SAME)
    text = ", ".join(f"{value:.3f}" for value in mean["difference"])
    apart = mean["uncorrelated"].iloc[-1]
    return [
        claim("Theorem 1", "two reconstructions of one reduction are equal", f"difference {text}", falls),
        claim(
            "Theorem 1",
            "(control) uncorrelated errors are not enough",
            f"a line and a square differ by {apart:.2f} of the variance",
            bool(apart > APART),
            "the errors must have mean 0 at each place, as under independence",
        ),
    ]


def theorem_4(results: pd.DataFrame) -> list[list[Any]]:
    """Return whether the least loss is the same, for closed classes and without one of the conditions."""
    largest = results.groupby("case", sort=False)["change"].agg(["min", "max"])
    return [
        claim(
            "Theorem 4",
            "the least loss is the same" if CASES[case] else "(control) each condition is needed",
            f"{case}: change at most {row['max']:.1e}" if CASES[case] else f"{case}: change at least {row['min']:.1e}",
            bool(row["max"] < UNCHANGED if CASES[case] else row["min"] > UNCHANGED),
        )
        for case, row in largest.iterrows()
    ]


def theorem_5(results: pd.DataFrame) -> list[list[Any]]:
    """Return for each method whether the maximum is at a kernel function, and whether S is convex."""
    rows = []
    for name, group in results.groupby("algorithm", sort=False):
        ratio, midpoints = (group["combinations"] / group["kernels"]).max(), group["midpoints above"].max()
        convex = (
            "S is convex on all segments" if midpoints == 0 else f"S is not convex on up to {midpoints:.0%} of them"
        )
        ours = f"{name}: largest S of combinations {ratio:.2f} of that of kernel functions"
        rows.append(claim("Theorem 5", "the maximum of S is at a kernel function", ours, bool(ratio <= 1), convex))
    return rows


def figure_11(results: pd.DataFrame) -> list[list[Any]]:
    """Return the correlation with the angle, and whether it weakens at the ends where a kernel is used."""
    clean, noisy = (results[(results["noise"] > 0) == is_noisy].median() for is_noisy in (False, True))
    ends = [noisy["inner end"], noisy["outer end"]]
    severe, weaker = min(ends) < 0.5 and noisy["between"] > 0.9, min(ends) < noisy["between"]
    slopes = noisy["slope, inner end"], noisy["slope, outer end"]
    return [
        claim(
            "Figure 11",
            "LSDR is extremely well correlated with the angle",
            f"median {clean['angle']:.3f} with the angle, {clean['arc length']:.3f} with the arc length",
            "yes" if clean["angle"] > 0.99 else "in part" if clean["angle"] > 0.95 else "no",
            "the distances that it keeps are lengths of arc, which grow with the square of the angle",
        ),
        claim(
            "Figure 11",
            "at the tail the correlation weakens severely (kernel effect)",
            f"with noise of .1: {ends[0]:.2f} and {ends[1]:.2f} in the twentieths at the ends, {noisy['between']:.2f} "
            f"between; slopes there {slopes[0]:.2f} and {slopes[1]:.2f} of the median",
            "yes" if severe else "in part" if weaker else "no",
            f"the kernel needs points that are not skeletal: {1 - noisy['skeletal']:.0%}, without noise none",
        ),
    ]


def tables(options: argparse.Namespace) -> Tables:
    """Return the four simulations."""
    few = options.small
    draws = range(3 if few else 20)
    first = collect("theorem 1", product(points=SIZES[:2] if few else SIZES, draw=draws), two_reconstructions, options)
    fourth = collect("theorem 4", product(case=CASES, draw=draws), transformed_losses, options)
    size = {"count": (100,)} if few else {}
    cells = product(algorithm=ALGORITHMS, draw=range(2 if few else 5), **size)
    fifth = collect("theorem 5", cells, combinations_of_kernels, options)
    spirals = collect("angles", product(noise=(0.0, 0.1), draw=draws), spiral, options)
    rows = [*theorem_1(first), *theorem_4(fourth), *theorem_5(fifth), *figure_11(spirals)]
    return {
        COMPARISON: comparison(rows),
        "Theorem 1: squared differences over the variance, means over draws": first.groupby("points")
        .mean()
        .drop(columns="draw"),
        "Theorem 4: relative change of the least loss": fourth.groupby("case", sort=False)["change"].agg(
            ["min", "max"]
        ),
        "Theorem 5: largest S, means over draws": fifth.groupby("algorithm", sort=False)
        .mean(numeric_only=True)
        .drop(columns=["draw", *size]),
        "Figure 11: |correlation| of LSDR, medians over draws, by noise": spirals.groupby("noise")
        .median()
        .drop(columns="draw"),
    }


if __name__ == "__main__":
    main(__file__, __doc__, tables)
