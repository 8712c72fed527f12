"""How far the reconstruction error of linear maps on new data can exceed that on the data at hand."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["linear_bound"]

FloatArray = npt.NDArray[np.float64]


def linear_bound(X: FloatArray, d: int, confidence: float = 0.95) -> tuple[float, float]:
    """Error of the best projection on d dimensions, and its bound for new data, both over the variance of the data.

    For every linear map at once, with probability at least ``confidence``,
    E <= E_n + R_n + B^2 sqrt(8 ln(2 / delta) / n), delta = 1 - confidence, B the largest norm. The losses are
    x'x - x'Px with P a projection of rank d, so that the Rademacher complexity E sup |2/n sum_i s_i loss_i| is at most
    (2 / sqrt(n)) B^2 min(1 + sqrt(d), sqrt(p - d)): |tr PM| <= |P|_F |M|_F and E|sum_i s_i x_i x_i'|_F <= sqrt(n) B^2.

    The mean and B are taken as known, though they are read from the data.

    References
    ----------
    Hammer, Bunte & Biehl (2010), Some steps towards a general principle for dimensionality reduction mappings,
    Section 4; Bartlett & Mendelson (2002), Rademacher and Gaussian complexities, JMLR 3, 463-482, Theorem 8.

    Examples
    --------
    >>> import numpy as np
    >>> train, bound = linear_bound(np.random.default_rng(0).normal(size=(1000, 3)), 2)
    >>> bool(0.25 < train < 0.34 and train < bound)
    True
    """
    centered = X - X.mean(axis=0)
    centered = centered / (np.abs(centered).max() or 1.0)
    n, p = centered.shape
    squares = np.linalg.svd(centered, compute_uv=False) ** 2
    total = float(squares.sum())
    train = float(squares[d:].sum()) / total
    width = float(np.max(np.einsum("ij,ij->i", centered, centered)))
    complexity = 2.0 / math.sqrt(n) * min(1.0 + math.sqrt(d), math.sqrt(max(p - d, 0)))
    deviation = math.sqrt(8.0 * math.log(2.0 / (1.0 - confidence)) / n)
    return train, train + (complexity + deviation) * width * n / total
