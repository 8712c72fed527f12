"""The raw file of Breast Cancer Wisconsin (Diagnostic)."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._raw import RawFile, same_count

CLASSES = {"B": "benign", "M": "malignant"}
COUNTS = {"B": 357, "M": 212}
MEASURES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)
NAMES = tuple(form.format(measure) for form in ("mean {}", "{} error", "worst {}") for measure in MEASURES)
OTHERS = {
    11: "breast-cancer-wisconsin.data, the original Wisconsin data (699 rows, 9 features coded 1 to 10)",
    35: "wpbc.data, the prognostic Wisconsin data (198 rows, N or R)",
    31: "a copy without ids or with scikit-learn's header; scikit-learn codes malignant as 0",
    33: "a copy with a header and an empty last column (data.csv)",
}


@dataset(
    kind="loader",
    title="Breast Cancer Wisconsin (Diagnostic): wdbc.data",
    n=569,
    p=30,
    source="UCI Machine Learning Repository, Breast Cancer Wisconsin (Diagnostic)",
    license="see the repository; the bundled copy is `wdbc`",
    reference="@street1993.",
    files=("wdbc.data*", "wdbc.csv"),
)
def wdbc_file(file: RawFile) -> Draw:
    r"""Thirty measurements of cell nuclei in 569 breast masses, as the repository has them.

    The file has no header; the id comes first, then the diagnosis M or B, then the numbers. The two other Wisconsin
    files of the same name raise an error.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` makes it from the path.

    Returns
    -------
    Draw
        ``data`` (569, 30); ``labels`` (569,) "malignant" or "benign"; ``feature_names`` as those of the bundled copy.

    Raises
    ------
    InputError
        If there are not 32 fields in every line, and 357 B and 212 M in the second place.

    See Also
    --------
    dreval.datasets.wdbc.wdbc : the bundled copy.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import pathlib, tempfile, dreval
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "wdbc.data")
    ...     _ = file.write_text("1000025,5,1,1,1,2,1,3,1,1,2\n")
    ...     dreval.load_dataset("wdbc_file", file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dreval.errors.InputError: `path` must have 32 fields in every line...This looks like breast-cancer-wisconsin.data...
    """
    file.without_labels()
    rows = file.fields(",", 32, OTHERS)
    labels = [row[1].strip() for row in rows]
    wrong = [label for label in labels if label not in CLASSES]
    if wrong:
        cure = "Pass the file of the repository, without a header."
        raise file.refuse("must have M or B in the second place of every line", f"{wrong[0]!r}", cure)
    data = file.numbers([row[2:] for row in rows])
    same_count(file, "classes", COUNTS, {label: labels.count(label) for label in COUNTS})
    return Draw(data, labels=np.array([CLASSES[label] for label in labels]), feature_names=NAMES)
