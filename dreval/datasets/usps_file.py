"""The raw files of the USPS digits."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._raw import RawFile, pixel_names

ROWS = {"train": 7291, "test": 2007}


@dataset(
    kind="loader",
    title="USPS digits: zip.train.gz or zip.test.gz",
    n=7291,
    p=256,
    source="The Elements of Statistical Learning, ZIP code data; AT&T Bell Laboratories",
    license="none stated; not part of this package",
    reference="@lecun1990.",
    files=("zip.train*", "zip.test*"),
)
def usps_file(file: RawFile) -> Draw:
    r"""Handwritten digits from envelopes, 16 x 16 gray values from -1 (background) to 1, deslanted.

    The label comes first, as 6.0000 in the training file and as 6 in the test file; lines may end in a blank.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` makes it from the path.

    Returns
    -------
    Draw
        ``data`` (7291, 256) or (2007, 256), row by row; ``labels`` (n,) 0 to 9; ``feature_names`` pixel_<row>_<column>.

    Raises
    ------
    InputError
        If there are not 257 fields in every line, labels 0 to 9, values in [-1, 1], and 7291 or 2007 rows.

    See Also
    --------
    dreval.datasets.digits.digits : smaller images, bundled.
    dreval.datasets.idx_file.idx_file : MNIST.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import pathlib, tempfile, dreval
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "zip.test")
    ...     _ = file.write_text(("3.0000" + " -1" * 256 + " \n") * 2007)
    ...     dreval.load_dataset("usps_file", file)
    <Dataset usps_file: 2007 points in 256 dimensions, 1 classes>
    """
    file.without_labels()
    values = file.numbers(file.fields(" ", 257))
    labels, data = values[:, 0], np.ascontiguousarray(values[:, 1:])
    if not np.isin(labels, np.arange(10)).all():
        wrong = labels[~np.isin(labels, np.arange(10))][0]
        raise file.refuse("must have a digit first in every line", f"{wrong:g}", "Pass zip.train or zip.test.")
    if np.abs(data).max() > 1.0:
        cure = "Pass zip.train or zip.test; usps_all has other rows and another scale."
        raise file.refuse("must hold gray values from -1 to 1", f"{np.abs(data).max():g}", cure)
    if len(data) not in ROWS.values():
        cure = "Download the file again; it is cut short."
        raise file.refuse("must have 7291 (train) or 2007 (test) rows", f"{len(data)} rows", cure)
    return Draw(data, labels=labels.astype(np.int64), feature_names=pixel_names(16, 16))
