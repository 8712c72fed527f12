"""The raw file of the single-cell expression data of Guo et al."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._raw import RawFile, same_count


@dataset(
    kind="loader",
    title="Single cells of the early mouse embryo: guo_qpcr.csv",
    n=437,
    p=48,
    source="Sheffield ODS, guo_qpcr.csv",
    license="Elsevier terms; not part of this package",
    reference="@guo2010.",
    files=("guo_qpcr*.csv", "singlecell.csv"),
)
def guo_qpcr_file(file: RawFile) -> Draw:
    r"""Expression of 48 genes in 437 cells of mouse embryos from one cell to 64 cells.

    The first column holds the stage and, from 32 cells on, the type of the cell: classes, no row names. The genes are
    standardized already (mean 0, variance 1).

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` makes it from the path.

    Returns
    -------
    Draw
        ``data`` (437, 48); ``labels`` (437,), text such as "8" and "32 TE"; ``feature_names``, the genes as the file
        spells them.

    Raises
    ------
    InputError
        If the header is not an empty cell and 48 genes, beginning with Actb, or there are not 437 rows below it.

    See Also
    --------
    dreval.datasets.wdbc.wdbc : bundled measurements of cells.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import pathlib, tempfile, dreval
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "guo_qpcr.csv")
    ...     _ = file.write_text(",Actb" + ",g" * 47 + "\n" + ("16" + ",0.5" * 48 + "\n") * 437)
    ...     dreval.load_dataset("guo_qpcr_file", file)
    <Dataset guo_qpcr_file: 437 points in 48 dimensions, 1 classes>
    """
    file.without_labels()
    head, *rows = file.fields(",", 49)
    head = [cell.strip().strip('"') for cell in head]
    if head[:2] != ["", "Actb"]:
        cure = "Pass guo_qpcr.csv with its header; other versions of the data have other cells and scales."
        raise file.refuse("must begin with a header of an empty cell and Actb", f"{head[0]!r}, {head[1]!r}", cure)
    same_count(file, "rows", {"rows": 437}, {"rows": len(rows)})
    labels = np.array([row[0].strip().strip('"') for row in rows])
    return Draw(file.numbers([row[1:] for row in rows]), labels=labels, feature_names=tuple(head[1:]))
