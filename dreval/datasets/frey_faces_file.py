"""The raw file of the Frey faces."""

from __future__ import annotations

import io
import zlib

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._raw import RawFile, pixel_names
from dreval.errors import message_of

SIZE = (28, 20)
BROKEN = (ValueError, TypeError, LookupError, OSError, EOFError, AttributeError, zlib.error, MemoryError)


@dataset(
    kind="loader",
    title="Frey faces: frey_rawface.mat",
    n=1965,
    p=560,
    source="Brendan Frey and Sam Roweis",
    license="none stated; not part of this package",
    reference="@roweis2000.",
    files=("frey_rawface*.mat",),
)
def frey_faces_file(file: RawFile) -> Draw:
    """Images of one face, 1965 successive frames of a film, 28 x 20 gray values.

    The MATLAB matrix ``ff`` has one image per column; here it has one per row. Frames follow each other in time, so
    neighbors in the data are mostly neighbors in the file.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` makes it from the path.

    Returns
    -------
    Draw
        ``data`` (1965, 560), row by row; ``feature_names`` pixel_<row>_<column>. There are no labels.

    Raises
    ------
    InputError
        If the file is no MATLAB 5 file, or holds no matrix ``ff`` of 560 x 1965.

    See Also
    --------
    dreval.datasets.idx_file.idx_file : images in the IDX format.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import pathlib, tempfile, dreval, numpy, scipy.io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "frey_rawface.mat")
    ...     scipy.io.savemat(file, {"ff": numpy.zeros((560, 1965), "uint8")})
    ...     dreval.load_dataset("frey_faces_file", file)
    <Dataset frey_faces_file: 1965 points in 560 dimensions>
    """
    file.without_labels()
    if not file.content.startswith(b"MATLAB 5.0"):
        raise file.refuse("must be a MATLAB 5 file", f"{file.content[:10]!r} at its start", "Download the file again.")
    from scipy.io import loadmat

    try:
        found = loadmat(io.BytesIO(file.content))
    except BROKEN as error:
        why = message_of(error)[:80]
        raise file.refuse("must be a whole MATLAB 5 file", f"a broken matrix ({why})", "Download it again.") from error
    keys = ", ".join(sorted(key for key in found if not key.startswith("__"))) or "nothing"
    matrix = found.get("ff")
    if matrix is None:
        raise file.refuse("must hold the matrix `ff`", keys, "Pass frey_rawface.mat as its authors have it.")
    if np.shape(matrix) != (SIZE[0] * SIZE[1], 1965):
        got = f"one of {' x '.join(map(str, np.shape(matrix)))}"
        raise file.refuse("must hold `ff` of 560 x 1965", got, "Pass frey_rawface.mat as its authors have it.")
    return Draw(np.ascontiguousarray(matrix.T, dtype=np.float64), feature_names=pixel_names(*SIZE))
