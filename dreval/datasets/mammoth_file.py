"""The raw file of the woolly mammoth."""

from __future__ import annotations

import json

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._raw import RawFile, same_count


@dataset(
    kind="loader",
    title="Woolly mammoth, 10,000 points of its skeleton: mammoth_3d.json",
    n=10000,
    p=3,
    source="PAIR-code/understanding-umap, raw_data/mammoth_3d.json; scan of the Smithsonian Institution",
    license="repository Apache-2.0, terms of the scan not known; not part of this package",
    reference="@coenen2019.",
    files=("mammoth_3d*.json",),
)
def mammoth_file(file: RawFile) -> Draw:
    """Ten thousand points on the skeleton of a mammoth, sorted by parts whose labels are not in the file.

    The file is a list of triples in the order (y, z, x); here the columns are x, y and z. Files of embeddings from the
    same folder have another order of points and must not be paired with it.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` makes it from the path.

    Returns
    -------
    Draw
        ``data`` (10000, 3), columns x, y, z. There are no labels.

    Raises
    ------
    InputError
        If the file is no JSON list of 10,000 triples of numbers.

    See Also
    --------
    dreval.datasets.swiss_roll.swiss_roll : a surface with known coordinates.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import json, pathlib, tempfile, dreval
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "mammoth_3d.json")
    ...     _ = file.write_text(json.dumps([[2, 3, 1]] * 10000))
    ...     dreval.load_dataset("mammoth_file", file).data[0].tolist()
    [1.0, 2.0, 3.0]
    """
    file.without_labels()
    try:
        points = json.loads(file.content)
    except ValueError as error:
        raise file.refuse("must be whole JSON", f"an error in it ({error})", "Download the file again.") from error
    kinds = {type(point).__name__ for point in points} if isinstance(points, list) else {type(points).__name__}
    if kinds != {"list"}:
        cure = "Pass mammoth_3d.json, a list of triples."
        raise file.refuse("must be a list of triples", f"a list of {', '.join(sorted(kinds))}", cure)
    lengths = sorted({len(point) for point in points})
    if lengths != [3]:
        cure = "Pass mammoth_3d.json; files with 2 numbers a point are embeddings."
        raise file.refuse("must have 3 numbers for each point", f"{', '.join(map(str, lengths))}", cure)
    same_count(file, "points", {"points": 10000}, {"points": len(points)})
    values = file.numbers([[str(value) for value in point] for point in points])
    return Draw(np.ascontiguousarray(values[:, [2, 0, 1]]), feature_names=("x", "y", "z"))
