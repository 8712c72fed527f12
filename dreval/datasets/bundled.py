"""Return the data sets that come with the package."""

from __future__ import annotations

from dreval.datasets._dataset import Draw, dataset, read_bundled


@dataset(
    origin="bundled",
    title="Handwritten digits, 8 x 8 pixels",
    n=1797,
    p=64,
    source="scikit-learn, sklearn.datasets.load_digits; UCI Optical Recognition of Handwritten Digits, test part",
    license="BSD-3-Clause",
    reference="@kaynak1995.",
)
def digits() -> Draw:
    """Return images of 1797 handwritten digits, 8 x 8 gray values from 0 to 16, row by row.

    Three pixels are 0 in every image: constant columns. Gray values are integers, so that many distances are tied.

    Returns
    -------
    Draw
        ``data`` (1797, 64); ``labels`` (1797,) integers 0 to 9; ``feature_names`` pixel_<row>_<column>.

    See Also
    --------
    dreval.datasets.files.usps_file : larger images of digits.
    dreval.datasets.files.idx_file : MNIST.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> digits = dreval.load_dataset("digits")
    >>> digits.data.shape, int(digits.data.max()), digits.labels[:4].tolist()
    ((1797, 64), 16, [0, 1, 2, 3])
    """
    return read_bundled("digits")


@dataset(
    origin="bundled",
    title="Breast Cancer Wisconsin (Diagnostic)",
    n=569,
    p=30,
    source="scikit-learn, sklearn.datasets.load_breast_cancer; UCI Machine Learning Repository",
    license="BSD-3-Clause",
    reference="@street1993.",
)
def wdbc() -> Draw:
    """Return thirty measurements of cell nuclei in 569 breast masses, 212 malignant and 357 benign.

    The columns are on scales that differ by five orders of magnitude: without scaling, Euclidean distance is
    essentially the difference of areas. Labels are text, since two opposite numeric codings are in use.

    Returns
    -------
    Draw
        ``data`` (569, 30); ``labels`` (569,) "malignant" or "benign"; ``feature_names``.

    See Also
    --------
    dreval.datasets.files.wdbc_file : the file of the repository.

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
