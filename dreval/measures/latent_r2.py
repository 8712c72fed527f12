"""R^2 of known latent variables."""

from __future__ import annotations

import numpy as np

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import ASSUMPTION, Notes, define

LISTED = 10  # latents whose own R^2 the note names


def _chance_level(view: View) -> float:
    """The rank of the centered embedding over n - 1: the mean of R^2 over all permutations of rows."""
    return _basis(_unit(view.Y[view.population])).shape[1] / (view.n - 1)


EACH = define("latent_r2.each", ASSUMPTION, "R^2 of each latent variable: {values:.3f}")


@measure(
    symbol="R2",
    title="R^2 of the latent variables",
    question="Can the true latent variables be recovered from the embedding by an affine map?",
    says=("The latent variables can be read off", "Do not read off the latent variables"),
    goals=("latent",),
    level="global",
    needs=("coordinates", "latent"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=r":math:`\mathrm{rank}(Y) / (n - 1)`, as 0.0202 for a centered embedding of rank 2 and n = 100",
    expected=_chance_level,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n d (d + q)) time with q latent variables, O(n (d + q)) memory.",
    reference="@li2022, Section 3.1: affine alignment, mean R^2 of the latents.",
)
def latent_r2(view: View) -> tuple[float, Notes]:
    r"""Mean over the latent variables of R^2 after the best affine map of the embedding onto them.

    .. math:: R^2 = \frac{1}{q} \sum_{m=1}^q \left(1 - \frac{|z_m - (Y A + 1 b')_m|^2}{|z_m - \bar z_m|^2}\right),

    with :math:`z_m` the q latent variables and A and b from least squares. The note in a table of results holds R^2 of
    each latent variable. The map is fitted to the points on which it is evaluated, so the chance level is not 0, and it
    is 1 for d >= n - 1. Latent variables on a circle (angles) are not affine images of useful coordinates; pass their
    sine and cosine.

    See Also
    --------
    procrustes_disparity : compares with the data, up to rotation and scale.
    reconstruction_error : how much of the data the embedding determines.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Z = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = Z @ [[2.0, 1.0], [0.0, 3.0]] + 5.0
    >>> round(dreval.latent_r2(Y, Y, latent=Z), 12)
    1.0
    >>> round(dreval.latent_r2(Y, Y[:, :1], latent=Z), 3)
    0.51
    """
    if view.latent is None:
        raise RuntimeError("this view was made without latent variables")
    Y, Z = view.Y[view.population], view.latent[view.population]
    still = np.flatnonzero((Z == Z[0]).all(axis=0))
    if len(still):
        cure = "Drop the columns that do not vary."
        raise UndefinedMeasure("latent", "must vary in every column", f"column {still[0]} with one value", cure)
    Y, Z = _unit(Y), _unit(Z)
    basis = _basis(Y)
    residual = Z - basis @ (basis.T @ Z)
    each = np.asarray(np.clip(1.0 - (residual**2).sum(axis=0) / (Z**2).sum(axis=0), 0.0, 1.0))
    listed = [*each[:LISTED].tolist(), *(["..."] if len(each) > LISTED else [])]
    return float(np.mean(each)), (EACH(values=listed),) if len(each) > 1 else ()


def _basis(Y: FloatArray) -> FloatArray:
    """Orthonormal columns that span those of Y; none for a constant embedding."""
    basis, size, _ = np.linalg.svd(Y, full_matrices=False)
    return np.asarray(basis[:, size > size[0] * max(Y.shape) * np.finfo(np.float64).eps])


def _unit(columns: FloatArray) -> FloatArray:
    """Columns centered and of unit length; what varies by rounding only becomes 0."""
    scaled = np.ldexp(columns, -np.frexp(np.abs(columns).max(axis=0))[1])
    scaled -= scaled[0].copy()  # before the mean, so that columns far from 0 keep their digits
    centered = scaled - scaled.mean(axis=0)
    length = np.sqrt((centered**2).sum(axis=0))
    return np.asarray(centered / np.where(length > 0, length, 1.0))
