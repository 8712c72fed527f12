"""The length-scale of a kernel by the median rule."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from dreval.errors import DegenerateDataWarning, caller_level

__all__ = ["median_bandwidth", "median_rule"]

FloatArray = npt.NDArray[np.float64]


def median_bandwidth(squared_distances: FloatArray, argument: str) -> tuple[float, tuple[str, ...]]:
    """The length-scale sigma of the median rule, and notes.

    Parameters
    ----------
    squared_distances : ndarray (n (n - 1) / 2,)
        Squared Euclidean distances of the pairs i < j, not all of them 0.
    argument : str
        What the variable is called in the warning.

    Returns
    -------
    (float, tuple of str)
        ``sigma = sqrt(median)``, so that gamma = 1 / (2 sigma^2) = 1 / (2 median); when the median is 0, the smallest
        positive value replaces it, with a ``DegenerateDataWarning``.

    References
    ----------
    Gretton et al. (2008), A kernel statistical test of independence, NIPS 20, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> median_bandwidth(np.array([1.0, 4.0, 9.0]), "x")
    (2.0, ())
    """
    sigma, notes = median_rule(squared_distances, argument)
    for note in notes:
        warnings.warn(note, DegenerateDataWarning, stacklevel=caller_level())
    return sigma, notes


def median_rule(squared_distances: FloatArray, argument: str) -> tuple[float, tuple[str, ...]]:
    """The same without a warning, for records that hold the note themselves."""
    squared = float(np.median(squared_distances))
    if squared > 0:
        return float(np.sqrt(squared)), ()
    squared = float(squared_distances[squared_distances > 0].min())
    note = (
        f"More than half of the pairs of rows of `{argument}` coincide: its bandwidth is the smallest positive "
        "distance, not the median."
    )
    return float(np.sqrt(squared)), (note,)
