"""The Bayesian signed-rank test with a region of practical equivalence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["DRAWS", "PRIOR", "bayesian_signed_rank", "region_shares"]

FloatArray = npt.NDArray[np.float64]
DRAWS = 50_000
PRIOR = 0.5  # weight of the pseudo-observation at zero


def bayesian_signed_rank(advantage: FloatArray, rope: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Probabilities that the first is practically better, that both are equivalent, that the second is better.

    ``advantage`` (N,) holds the differences over data sets, ``rope`` the one below which none counts, in the same unit
    (one of exactly ``rope`` counts half, as in baycomp). The differences have a Dirichlet-process prior with a
    pseudo-observation at zero of weight 0.5; of 50,000 posterior draws each is given to the region that holds most of
    its pairwise means (shared where two hold the same).
    Benavoli, Corani, Demsar and Zaffalon (2017), J. Mach. Learn. Res. 18(77), section 4.2. O(draws N^2).

    Examples
    --------
    >>> bayesian_signed_rank(np.full(6, 0.001), 0.01, np.random.default_rng(0))
    (0.0, 1.0, 0.0)
    """
    weights = rng.dirichlet([PRIOR, *np.ones(len(advantage))], DRAWS)
    shares = region_shares(advantage, rope, weights)
    most = shares == shares.max(axis=1, keepdims=True)
    first, between, second = (most / most.sum(axis=1, keepdims=True)).mean(axis=0)
    return float(first), float(between), float(second)


def region_shares(advantage: FloatArray, rope: float, weights: FloatArray) -> FloatArray:
    """Weight of the pairwise means above, within and below the region, (m, 3), for draws of weights (m, N + 1).

    The first weight is that of the pseudo-observation; a mean on the edge of the region counts half to each side.
    """
    z = np.concatenate([[0.0], advantage])
    sums = z[:, None] + z[None]
    above, below = (np.einsum("si,si->s", weights @ _side(side * sums, 2 * rope), weights) for side in (1.0, -1.0))
    within = np.maximum(1.0 - above - below, 0.0) if rope > 0 else np.zeros(len(weights))
    return np.stack([above, within, below], axis=1)


def _side(sums: FloatArray, edge: float) -> FloatArray:
    """1 beyond the edge, 0.5 on it up to rounding, else 0."""
    beyond = sums - edge
    beyond[np.abs(beyond) <= 1e-12 * max(edge, float(np.abs(sums).max()))] = 0.0
    return np.heaviside(beyond, 0.5)
