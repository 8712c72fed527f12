"""The raw file of Sonar, Mines vs Rocks."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._raw import RawFile, same_count

CLASSES = {"R": "rock", "M": "mine"}
COUNTS = {"R": 97, "M": 111}


@dataset(
    kind="loader",
    title="Sonar, mines vs rocks: sonar.all-data",
    n=208,
    p=60,
    source="UCI Machine Learning Repository, Connectionist Bench (Sonar, Mines vs. Rocks)",
    license="see the repository; not part of this package",
    reference="@gorman1988.",
    files=("sonar.all-data*", "sonar.data", "sonar.csv"),
)
def sonar_file(file: RawFile) -> Draw:
    r"""Energy in 60 frequency bands of 208 sonar echoes, 97 from rocks and 111 from mines.

    The file has no header; the label R or M comes last. Rows are sorted by class, so that the first rows are not a
    random sample.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` makes it from the path.

    Returns
    -------
    Draw
        ``data`` (208, 60) in [0, 1]; ``labels`` (208,) "rock" or "mine".

    Raises
    ------
    InputError
        If there are not 61 fields in every line and 97 R and 111 M at their ends.

    See Also
    --------
    dreval.datasets.wdbc.wdbc : bundled data with two classes.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import pathlib, tempfile, dreval
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "sonar.all-data")
    ...     _ = file.write_text("".join(",".join(["0.5"] * 60 + [c]) + "\n" for c in 97 * "R" + 111 * "M"))
    ...     dreval.load_dataset("sonar_file", file)
    <Dataset sonar_file: 208 points in 60 dimensions, 2 classes>
    """
    file.without_labels()
    rows = file.fields(",", 61, {1: "a file with a line of counts at its head, or with another separator"})
    labels = [row[-1].strip() for row in rows]
    wrong = [label for label in labels if label not in CLASSES]
    if wrong:
        cure = "Pass the file of the repository; copies with a header or with -1 and 1 are in circulation."
        raise file.refuse("must have R or M at the end of every line", f"{wrong[0]!r}", cure)
    data = file.numbers([row[:-1] for row in rows])
    same_count(file, "classes", COUNTS, {label: labels.count(label) for label in COUNTS})
    return Draw(data, labels=np.array([CLASSES[label] for label in labels]))
