"""Breast Cancer Wisconsin (Diagnostic)."""

from __future__ import annotations

from dreval.datasets._dataset import Draw, dataset, read_bundled


@dataset(
    kind="bundled",
    title="Breast Cancer Wisconsin (Diagnostic)",
    n=569,
    p=30,
    source="scikit-learn, sklearn.datasets.load_breast_cancer; UCI Machine Learning Repository",
    license="BSD-3-Clause",
    reference="@street1993.",
)
def wdbc() -> Draw:
    """Thirty measurements of cell nuclei in 569 breast masses, 212 malignant and 357 benign.

    The columns are on scales that differ by five orders of magnitude: without scaling, Euclidean distance is
    essentially the difference of areas. Labels are text, since two opposite numeric codings are in use.

    Returns
    -------
    Draw
        ``data`` (569, 30); ``labels`` (569,) "malignant" or "benign"; ``feature_names``.

    See Also
    --------
    dreval.datasets.wdbc_file.wdbc_file : the file of the repository.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> wdbc = dreval.load_dataset("wdbc")
    >>> wdbc.data.shape, int((wdbc.labels == "malignant").sum())
    ((569, 30), 212)
    """
    return read_bundled("wdbc")
