"""Whether what a reconstruction leaves of the data depends on the embedding: a residual bootstrap with refit.

The residuals are those of fitted points, so that permuting them would be no valid test. Certificate and evaluation ask
the same question with the same draws; it lies here, below both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dreval._parallel import run_blocks
from dreval._random import stream
from dreval.errors import UndefinedMeasure
from dreval.geometry._refit import POINTS, Refit, fitted_rows
from dreval.geometry.metrics import power_of_two
from dreval.records.certificate import ResidualTest
from dreval.registry import TESTS

__all__ = ["RULE", "Shown", "fitted", "residual_tests", "shown"]

FloatArray = npt.NDArray[np.float64]
PERMUTATIONS = 99  # of the observed residual, for effects that are measured from a permuted mean
RULE = "ridge"  # how the reconstruction is learned where nothing else is said


@dataclass(frozen=True, eq=False)
class Shown:
    """Data ``X`` and embedding ``Y`` of the points that are fitted, times ``unit`` and ``unit_y``, powers of two."""

    X: FloatArray
    Y: FloatArray
    unit: float
    unit_y: float
    notes: tuple[str, ...]


def shown(X: FloatArray, Y: FloatArray, root: int) -> Shown:
    """All points, or some drawn at random, in units in which no square overflows or vanishes."""
    if (Y == Y[0]).all():
        raise UndefinedMeasure("embedding", "must vary", "all points in one place", "See what the method returned.")
    notes: tuple[str, ...] = ()
    if len(X) > POINTS:
        rows = fitted_rows(len(X), root)
        X, Y, notes = X[rows], Y[rows], (f"Judged on {POINTS} points drawn at random.",)
    unit, unit_y = power_of_two(X), power_of_two(Y)
    return Shown(X * unit, Y * unit_y, unit, unit_y, notes)


def fitted(points: Shown, rule: str) -> Refit:
    """The reconstruction with its residuals, which must be more than rounding."""
    refit = Refit(points.Y, points.X, rule)
    if refit.exact:
        cure = "The embedding holds the data whole: nothing is left over to be tested."
        raise UndefinedMeasure("embedding", "must leave a residual", "residuals that are rounding", cure)
    return refit


def residual_tests(
    refit: Refit, Y: FloatArray, names: Sequence[str], n_resamples: int, root: int, n_jobs: int | None
) -> tuple[ResidualTest, ...]:
    """Residual against embedding by the named tests: p = (b + 1) / (m + 1) over residuals that were learned again.

    Resample b depends on ``root`` and b only.
    """
    observed = [_measure(name, refit.residuals, Y, PERMUTATIONS) for name in names]
    null = np.empty((n_resamples, len(names), 2))

    def one(b: int) -> None:
        residuals = refit.resampled(stream(root, "residual bootstrap", b))
        null[b] = [_measure(name, residuals, Y) for name in names]

    run_blocks(one, range(n_resamples), n_jobs)
    return tuple(_test(name, observed[m], null[:, m]) for m, name in enumerate(names))


def _measure(name: str, residuals: FloatArray, Y: FloatArray, permutations: int = 1) -> tuple[float, float]:
    """Statistic and effect size of one test; its own permutations only say what some effects are measured from."""
    found = TESTS.get(name)(residuals, Y, n_resamples=permutations, random_state=0, n_jobs=1)
    return found.statistic, found.effect_size


def _test(name: str, observed: tuple[float, float], null: FloatArray) -> ResidualTest:
    """The record of one test."""
    statistic, effect = observed
    reached = int(np.count_nonzero(null[:, 0] >= statistic * (1 - 1e-12)))
    card = TESTS.card(name)
    p_value = (reached + 1) / (len(null) + 1)
    return ResidualTest(name, card.effect_size, effect, float(null[:, 1].mean()), statistic, p_value, null[:, 0].copy())
