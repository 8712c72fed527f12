"""The raw files of the Insurance Company Benchmark (CoIL 2000)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._raw import RawFile, same_count

TRAINING, EVALUATION = (5822, 348), (4000, 238)  # rows, and owners of a caravan policy among them


@dataset(
    kind="loader",
    title="CoIL 2000, insurance company: ticdata2000.txt, or ticeval2000.txt with tictgts2000.txt",
    n=5822,
    p=85,
    source="UCI Machine Learning Repository, Insurance Company Benchmark (COIL 2000)",
    license="Sentient Machine Research 2000, non commercial research and education only; not part of this package",
    reference="@vanderputten2000.",
    files=("ticdata2000*", "ticeval2000*", "tictgts2000*"),
)
def coil2000_file(file: RawFile) -> Draw:
    r"""Eighty-five counts and codes of 5822 customers of an insurer, 348 of whom own a caravan policy.

    ``ticdata2000.txt`` has 86 columns separated by tabs, the target last; ``ticeval2000.txt`` (4000 customers) has 85,
    and its targets are in ``tictgts2000.txt``: pass that path as ``labels``. Columns 1 and 5 are nominal codes, not
    quantities; 651 rows of the first file repeat an earlier one.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` makes it from the path.

    Returns
    -------
    Draw
        ``data`` (5822, 85) or (4000, 85); ``labels`` (n,) 0 and 1, or None without a file of targets.

    Raises
    ------
    InputError
        If the number of columns, rows or owners is not that of the published files, or the file holds targets only.

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
    ...     file = pathlib.Path(folder, "ticeval2000.txt")
    ...     _ = file.write_text(4000 * ("\t".join(["1"] * 85) + "\r\n"))
    ...     dreval.load_dataset("coil2000_file", file)
    <Dataset coil2000_file: 4000 points in 85 dimensions>
    """
    first = file.lines()[0].split("\t")
    if len(first) == 1:
        cure = "Pass ticeval2000.txt as `path` and this file as `labels`."
        raise file.refuse("must hold the 85 features", "one column of targets", cure)
    training = len(first) != 85
    rows, positive = TRAINING if training else EVALUATION
    values = file.numbers(file.fields("\t", 86 if training else 85))
    same_count(file, "rows", {"rows": rows}, {"rows": len(values)})
    if not training:
        if file.labels is None:
            return Draw(values)
        targets = file.labels.numbers(file.labels.fields("\t", 1))
        same_count(file.labels, "rows", {"rows": rows}, {"rows": len(targets)})
        return Draw(values, labels=_checked(file.labels, targets[:, 0], positive))
    file.without_labels()
    return Draw(np.ascontiguousarray(values[:, :-1]), labels=_checked(file, values[:, -1], positive))


def _checked(file: RawFile, target: npt.NDArray[np.float64], positive: int) -> npt.NDArray[np.int64]:
    """The targets 0 and 1, as many 1 as there should be."""
    found = {"0": int((target == 0).sum()), "1": int((target == 1).sum())}
    same_count(file, "targets", {"0": len(target) - positive, "1": positive}, found)
    return target.astype(np.int64)
