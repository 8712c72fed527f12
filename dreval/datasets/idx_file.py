"""Raw files in the IDX format: MNIST and its relatives."""

from __future__ import annotations

import math
import struct

import numpy as np
import numpy.typing as npt

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._raw import RawFile, pixel_names

UNSIGNED_BYTE = 8
FORMAT = "http://yann.lecun.com/exdb/mnist"


@dataset(
    kind="loader",
    title="Images in the IDX format (MNIST, Fashion-MNIST): train-images-idx3-ubyte.gz, labels-idx1-ubyte.gz",
    n=10000,
    p=784,
    source=f"{FORMAT}; Zalando Research (Fashion-MNIST)",
    license="that of the file; not part of this package",
    reference="@lecun1998; @xiao2017.",
    files=("*images-idx3-ubyte*", "*images.idx3-ubyte*", "*-idx3-ubyte*"),
)
def idx_file(file: RawFile) -> Draw:
    """Images as bytes, one after the other, with their size at the head of the file.

    The head is four bytes (0, 0, type, number of axes) and the length of each axis as a big-endian integer. Labels are
    in a file of their own with one axis: pass its path as ``labels``.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` makes it from the path.

    Returns
    -------
    Draw
        ``data`` (n, rows x columns), gray values 0 to 255, row by row; ``labels`` (n,) integers, or None without a file
        of labels; ``feature_names`` pixel_<row>_<column>.

    Raises
    ------
    InputError
        If the head is another one, the file is shorter or longer than its head says, or the labels are not as many.

    See Also
    --------
    dreval.datasets.digits.digits : smaller images, bundled.
    dreval.datasets.usps_file.usps_file : digits of the US Postal Service.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import pathlib, struct, tempfile, dreval
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     images, labels = pathlib.Path(folder, "t10k-images-idx3-ubyte"), pathlib.Path(folder, "labels")
    ...     _ = images.write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, 4, 2, 2) + bytes(range(16)))
    ...     _ = labels.write_bytes(struct.pack(">4BI", 0, 0, 8, 1, 4) + bytes([7, 7, 1, 0]))
    ...     digits = dreval.load_dataset("idx_file", images, labels=labels)
    >>> digits.data[1].tolist(), digits.labels.tolist()
    ([4.0, 5.0, 6.0, 7.0], [7, 7, 1, 0])
    """
    images = _array(file, 3, "images")
    labels = None if file.labels is None else _array(file.labels, 1, "labels").astype(np.int64)
    if labels is not None and file.labels is not None and len(labels) != len(images):
        cure = "Pass the labels of the same part: train with train, t10k with t10k."
        rule = f"must have one label for each of the {len(images)} images"
        raise file.labels.refuse(rule, f"{len(labels)} labels", cure)
    n, rows, columns = images.shape
    return Draw(images.reshape(n, -1).astype(np.float64), labels=labels, feature_names=pixel_names(rows, columns))


def _array(file: RawFile, axes: int, what: str) -> npt.NDArray[np.uint8]:
    """The array of a file with that many axes, of unsigned bytes."""
    head = file.content[:4]
    if len(head) < 4 or head[:2] != b"\0\0":
        got, cure = f"the bytes {head.hex(' ')} at its start", "Pass the file as its publisher has it."
        raise file.refuse("must be an IDX file, which begins with two zero bytes", got, cure)
    if (head[2], head[3]) != (UNSIGNED_BYTE, axes):
        number = struct.unpack(">I", head)[0]
        other = "the images" if head[3] == 3 else "labels"
        cure = f"These are {other}: images are `path`, labels `labels`." if head[3] in (1, 3) else "Pass another file."
        rule = f"must be an IDX file of {what} (magic number {UNSIGNED_BYTE * 256 + axes})"
        raise file.refuse(rule, f"the magic number {number}", cure)
    start = 4 + 4 * axes
    if len(file.content) < start:
        raise file.refuse("must be whole", "a head that is cut short", "Download the file again.")
    shape = struct.unpack(f">{axes}I", file.content[4:start])
    size, found = math.prod(shape), len(file.content) - start
    if size != found or size == 0:
        got = f"{found} bytes for {' x '.join(map(str, shape))}"
        raise file.refuse("must be as long as its head says", got, "Download the file again; it is cut short.")
    return np.frombuffer(file.content, np.uint8, offset=start).reshape(shape)
