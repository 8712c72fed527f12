"""Energy ratio of the principal components."""

from __future__ import annotations

import numpy as np

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import ASSUMPTION, Notes, define

SHARES = (0.8, 0.9)
HELD = define(
    "energy_ratio.held",
    ASSUMPTION,
    f"{{low}} dimensions hold {SHARES[0]:.0%} and {{high}} dimensions hold {SHARES[1]:.0%} of the variance",
)


@measure(
    symbol="R(d)",
    title="Energy ratio of the data",
    question="How much of the variance of the data can a linear embedding of this dimension hold?",
    goals=("distances", "reconstruction"),
    level="global",
    needs=("coordinates", "features"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n p min(n, p)) time, O(n p + min(n, p)^2) memory.",
    reference="@szabo2019, energy preserved using d components; @jolliffe2002, Section 6.1.1.",
)
def energy_ratio(view: View) -> tuple[float, Notes]:
    r"""Share of the variance of the data in their first d principal components, for an embedding with d columns.

    .. math:: R(d) = \frac{\sum_{i \le d} \lambda_i}{\sum_i \lambda_i},

    with :math:`\lambda_1 \ge \lambda_2 \ge \dots` the eigenvalues of the covariance of the unscaled data. It is a
    property of the data and of the number d alone, a reference value for linear embeddings. The note in a table of
    results holds the smallest numbers of dimensions with R >= 0.8 and R >= 0.9. Scale the data first where their
    columns have different units.

    See Also
    --------
    procrustes_lower_bound : the same within neighborhoods.
    reconstruction_error : how much of the data the embedding itself determines.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.array([[3.0, 0, 0], [-3, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 1], [0, 0, -1]])
    >>> [round(dreval.energy_ratio(X, X[:, :d]), 4) for d in (1, 2, 3)]
    [0.6429, 0.9286, 1.0]
    """
    ratio = _ratios(view.features())
    value = float(ratio[min(view.Y.shape[1], len(ratio)) - 1])
    found = [int(np.searchsorted(ratio, share * (1.0 - 1e-12))) + 1 for share in SHARES]
    return value, (HELD(low=found[0], high=found[1]),)


def _ratios(X: FloatArray) -> FloatArray:
    """Cumulative shares of the variance, ending in exactly 1."""
    scaled = X / (np.abs(X).max() or 1.0)
    centered = scaled - scaled.mean(axis=0)
    spread = float(np.abs(centered).max())
    if spread == 0.0 or bool((X == X[0]).all()):
        raise UndefinedMeasure("X", "must vary", f"{len(X)} rows that are all equal", "Check how the data were read.")
    centered /= spread
    wide = X.shape[1] > len(X)
    values = np.linalg.eigvalsh(centered @ centered.T if wide else centered.T @ centered)
    total = np.cumsum(np.maximum(values[::-1], 0.0))
    return np.asarray(total / total[-1])
