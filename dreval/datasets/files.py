"""Data sets in files of their authors, which are not part of this package.

``load_dataset`` opens and unpacks the file and rejects web pages; each format has a function that reads it.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, describe, nearest_name
from dreval.datasets._dataset import Dataset, Draw, complete, dataset, wrong_origin
from dreval.errors import InputError, MissingFile, message_of
from dreval.registry import DATASETS

WEB_PAGE = (b"<!doctype", b"<html", b"<head", b"<?xml")
SEPARATORS = {",": "commas", "\t": "tabs", " ": "spaces"}


@dataclass(frozen=True)
class RawFile:
    """A file in memory, unpacked; ``argument`` is the argument with which its path was passed."""

    path: Path
    content: bytes
    argument: str = "path"
    labels: RawFile | None = None

    def error(self, requirement: str, received: str, hint: str) -> InputError:
        """Return the error for this file; its name is part of the description of what was received."""
        return InputError(self.argument, requirement, f"{self.path.name!r} with {received}", hint)

    def lines(self) -> list[str]:
        """Return the lines of a text file that are not empty."""
        if b"\0" in self.content[:4096]:
            raise self.error("must be a text file", "binary content", "Pass the file as it was published.")
        return [line for line in self.content.decode("latin-1").splitlines() if line.strip()]

    def fields(self, separator: str, width: int, alternatives: dict[int, str] | None = None) -> list[list[str]]:
        """Return rows of ``width`` fields; the error for another width names the file of ``alternatives`` with it."""
        rows = [line.strip(" \r").split(separator) for line in self.lines()]
        for number, row in enumerate(rows, 1):
            if len(row) == width:
                continue
            requirement = f"must have {width} fields in every line, separated by {SEPARATORS[separator]}"
            other = (alternatives or {}).get(len(row)) if number == 1 else None
            hint = f"This looks like {other}." if other else "Download the file again; it is another file or cut short."
            raise self.error(requirement, f"{len(row)} in line {number}", hint)
        return rows

    def numbers(self, rows: list[list[str]]) -> FloatArray:
        """Return the fields as finite numbers; the error names the first field that is not a number."""
        try:
            values = np.array(rows, dtype=object).astype(np.float64)
        except ValueError:
            values = np.array([[_number(cell) for cell in row] for row in rows])
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            i, j = (int(index) for index in bad[0])
            hint = "Pass the file as it was published, without a header."
            raise self.error("must hold numbers", f"{rows[i][j]!r} in line {i + 1}", hint)
        return values

    def check_no_labels(self) -> None:
        """Check that no file of labels was passed, since this file holds its labels or has none."""
        if self.labels is not None:
            raise InputError("labels", f"must be left out for {self.path.name!r}", "a path", "Leave it out.")


def _number(cell: str) -> float:
    """Return a number, or NaN for any other text."""
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def check_counts(file: RawFile, noun: str, expected: dict[str, int], actual: dict[str, int]) -> None:
    """Check that a file has the published numbers of rows or classes."""
    if expected == actual:
        return
    texts = [", ".join(f"{count} {name}" for name, count in counts.items()) for counts in (expected, actual)]
    hint = "Download the file again; it is cut short, or another version."
    raise file.error(f"must have the {noun} of the published file ({texts[0]})", texts[1] or "none", hint)


def pixel_names(rows: int, columns: int) -> tuple[str, ...]:
    """Return the names pixel_<row>_<column> of the pixels of an image, row by row."""
    return tuple(f"pixel_{i}_{j}" for i in range(rows) for j in range(columns))


def open_raw(path: Any, argument: str = "path") -> RawFile:
    """Read a file into memory, unpacking gzip; web pages, folders, empty and broken files raise an error."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(argument, "must be a path", describe(path), "Pass the path of a file as text.")
    file = Path(path).expanduser()
    if not file.exists():
        nearest = nearest_name(file.name, os.listdir(file.parent) if file.parent.is_dir() else [])
        hint = f"Did you mean {nearest!r}?" if nearest else "Download it first and pass the path of the copy."
        raise MissingFile(argument, "must be an existing file", repr(str(path)), hint)
    if file.is_dir():
        raise InputError(argument, "must be a file", f"the folder {str(path)!r}", "Name a file within it.")
    content = file.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            received = f"{file.name!r}, which cannot be unpacked ({error})"
            hint = "Download the file again; it is cut short."
            raise InputError(argument, "must be a complete gzip file", received, hint) from error
    if content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(WEB_PAGE):
        hint = "Download the raw file; a browser or a login page was saved in its place."
        raise InputError(argument, "must be a data file", f"{file.name!r}, which is a web page (HTML)", hint)
    if not content.strip():
        raise InputError(argument, "must not be empty", f"{file.name!r} of 0 bytes", "Download the file again.")
    return RawFile(file, content, argument)


def load_dataset(name: str, path: str | os.PathLike[str] | None = None, *, labels: Any = None) -> Dataset:
    """Load a data set of the package, or a well-known data file in its published form.

    Each of these files has a loader for its layout and its traps: where the labels are, which column is an id, which
    axis holds the points. Any other file raises an error with the reason.

    Parameters
    ----------
    name : str
        Without ``path`` a bundled set, "digits" or "wdbc"; with ``path`` a loader, such as "sonar_file" (or "sonar").
        ``list_datasets()`` lists both with the simulated sets; the names of loaders end in ``_file``.
    path : str or path-like, optional
        The file, which may be packed by gzip.
    labels : str or path-like, optional
        File of the labels, if they are in another file (idx, and ``tictgts2000.txt`` of ``ticeval2000.txt``).

    Returns
    -------
    Dataset
        ``data`` (n, p) float64, nothing scaled; ``labels`` (n,) if there are classes; ``feature_names``; the
        ``card`` with source and license. ``latent`` is None, since it is unknown. ``recipe`` holds the path.

    Raises
    ------
    UnknownName
        If there is no data set of that name, or no such file; the error suggests the nearest name.
    InputError
        If the data set is simulated, or a loader without a ``path``; if the file is a web page or another file of the
        same name, has another number of columns or rows, or is cut short.

    See Also
    --------
    simulate : data drawn from a known distribution.
    list_datasets : all names.

    Notes
    -----
    O(size of the file) time and memory; each call reads the file. Nothing is downloaded.

    Examples
    --------
    >>> import dreval
    >>> wdbc = dreval.load_dataset("wdbc")
    >>> wdbc
    wdbc: 569 points in 30 columns, 2 classes. ...
    >>> wdbc.feature_names[0], wdbc.labels[0].item(), wdbc.card.license
    ('mean radius', 'malignant', 'BSD-3-Clause')

    A file of yours, which is written first in this example:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "images-idx3-ubyte")
    ...     _ = file.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2]) + bytes(range(10)))
    ...     images = dreval.load_dataset("idx", file)
    >>> images
    idx_file: 5 points in 2 columns. ...
    """
    if path is not None and isinstance(name, str) and f"{name}_file" in DATASETS:
        name = f"{name}_file"
    make = DATASETS.get(name, "name")
    origin = make.card.origin
    if origin == "simulated":
        raise wrong_origin(name, origin, "bundled")
    if origin == "bundled":
        for argument, value in (("path", path), ("labels", labels)):
            if value is not None:
                loaders = ", ".join(loader for loader in DATASETS if loader.endswith("_file"))
                raise InputError(argument, "must be left out", f"{name!r} with a file", f"Loaders of files: {loaders}.")
        return complete(make(), make.card, {})
    if path is None:
        raise InputError("path", "must be given", f"{name!r} alone", f"Pass the file: load_dataset({name!r}, path).")
    file = open_raw(path)
    if labels is not None:
        file = RawFile(file.path, file.content, "path", open_raw(labels, "labels"))
    return complete(make(file), make.card, {"path": str(file.path)})


COIL2000_TRAINING = (5822, 348)  # rows, and owners of a caravan policy among them
COIL2000_EVALUATION = (4000, 238)


@dataset(
    origin="loader",
    title="CoIL 2000, insurance company: ticdata2000.txt, or ticeval2000.txt with tictgts2000.txt",
    n=5822,
    p=85,
    source="UCI Machine Learning Repository, Insurance Company Benchmark (COIL 2000)",
    license="Sentient Machine Research 2000, non commercial research and education only; not part of this package",
    reference="@vanderputten2000.",
    files=("ticdata2000*", "ticeval2000*", "tictgts2000*"),
)
def coil2000_file(file: RawFile) -> Draw:
    r"""Read eighty-five counts and codes of 5822 customers of an insurer, 348 of whom own a caravan policy.

    ``ticdata2000.txt`` has 86 columns separated by tabs, the target last; ``ticeval2000.txt`` (4000 customers) has 85,
    and its targets are in ``tictgts2000.txt``: pass that path as ``labels``. Columns 1 and 5 are nominal codes, not
    quantities; 651 rows of the first file repeat an earlier one.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` reads it from the path.

    Returns
    -------
    Draw
        ``data`` (5822, 85) or (4000, 85); ``labels`` (n,) 0 and 1, or None without a file of targets.

    Raises
    ------
    InputError
        If the numbers of columns, rows or owners differ from the published files, or the file holds targets only.

    See Also
    --------
    dreval.datasets.bundled.wdbc : bundled data with two classes.

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
    coil2000_file: 4,000 points in 85 columns. ...
    """
    width = len(file.lines()[0].split("\t"))
    if width == 1:
        hint = "Pass ticeval2000.txt as `path` and this file as `labels`."
        raise file.error("must hold the 85 features", "one column of targets", hint)
    is_training = width != 85
    rows, positive = COIL2000_TRAINING if is_training else COIL2000_EVALUATION
    values = file.numbers(file.fields("\t", 86 if is_training else 85))
    check_counts(file, "rows", {"rows": rows}, {"rows": len(values)})
    if not is_training:
        if file.labels is None:
            return Draw(values)
        targets = file.labels.numbers(file.labels.fields("\t", 1))
        check_counts(file.labels, "rows", {"rows": rows}, {"rows": len(targets)})
        return Draw(values, labels=_check_coil2000(file.labels, targets[:, 0], positive))
    file.check_no_labels()
    return Draw(np.ascontiguousarray(values[:, :-1]), labels=_check_coil2000(file, values[:, -1], positive))


def _check_coil2000(file: RawFile, target: npt.NDArray[np.float64], positive: int) -> npt.NDArray[np.int64]:
    """Return the targets 0 and 1 after a check of their numbers."""
    counts = {"0": int((target == 0).sum()), "1": int((target == 1).sum())}
    check_counts(file, "targets", {"0": len(target) - positive, "1": positive}, counts)
    return target.astype(np.int64)


FREY_SIZE = (28, 20)
BROKEN_MATLAB = (ValueError, TypeError, LookupError, OSError, EOFError, AttributeError, zlib.error, MemoryError)


@dataset(
    origin="loader",
    title="Frey faces: frey_rawface.mat",
    n=1965,
    p=560,
    source="Brendan Frey and Sam Roweis",
    license="none stated; not part of this package",
    reference="@roweis2000.",
    files=("frey_rawface*.mat",),
)
def frey_faces_file(file: RawFile) -> Draw:
    """Read images of one face, 1965 successive frames of a film, 28 x 20 gray values.

    The MATLAB matrix ``ff`` has one image per column; ``data`` has one per row. Frames follow each other in time, so
    that neighbors in the data are mostly neighbors in the file.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` reads it from the path.

    Returns
    -------
    Draw
        ``data`` (1965, 560), row by row; ``feature_names`` pixel_<row>_<column>. There are no labels.

    Raises
    ------
    InputError
        If the file is not a MATLAB 5 file, or has no matrix ``ff`` of 560 x 1965.

    See Also
    --------
    dreval.datasets.files.idx_file : images in the IDX format.

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
    frey_faces_file: 1,965 points in 560 columns. ...
    """
    file.check_no_labels()
    if not file.content.startswith(b"MATLAB 5.0"):
        raise file.error("must be a MATLAB 5 file", f"{file.content[:10]!r} at its start", "Download the file again.")
    from scipy.io import loadmat

    try:
        contents = loadmat(io.BytesIO(file.content))
    except BROKEN_MATLAB as error:
        received = f"a broken matrix ({message_of(error)[:80]})"
        raise file.error("must be a complete MATLAB 5 file", received, "Download it again.") from error
    keys = ", ".join(sorted(key for key in contents if not key.startswith("__"))) or "nothing"
    matrix = contents.get("ff")
    if matrix is None:
        raise file.error("must hold the matrix `ff`", keys, "Pass frey_rawface.mat as its authors published it.")
    if np.shape(matrix) != (FREY_SIZE[0] * FREY_SIZE[1], 1965):
        received = f"one of {' x '.join(map(str, np.shape(matrix)))}"
        raise file.error("must hold `ff` of 560 x 1965", received, "Pass frey_rawface.mat as its authors published it.")
    return Draw(np.ascontiguousarray(matrix.T, dtype=np.float64), feature_names=pixel_names(*FREY_SIZE))


@dataset(
    origin="loader",
    title="Single cells of the early mouse embryo: guo_qpcr.csv",
    n=437,
    p=48,
    source="Sheffield ODS, guo_qpcr.csv",
    license="Elsevier terms; not part of this package",
    reference="@guo2010.",
    files=("guo_qpcr*.csv", "singlecell.csv"),
)
def guo_qpcr_file(file: RawFile) -> Draw:
    r"""Read expression of 48 genes in 437 cells of mouse embryos from one cell to 64 cells.

    The first column holds the stage and, from 32 cells on, the type of the cell: classes, not row names. The genes are
    already standardized (mean 0, variance 1).

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` reads it from the path.

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
    dreval.datasets.bundled.wdbc : bundled measurements of cells.

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
    guo_qpcr_file: 437 points in 48 columns, 1 class. ...
    """
    file.check_no_labels()
    header, *rows = file.fields(",", 49)
    header = [cell.strip().strip('"') for cell in header]
    if header[:2] != ["", "Actb"]:
        hint = "Pass guo_qpcr.csv with its header; other versions of the data have other cells and scales."
        raise file.error("must begin with a header of an empty cell and Actb", f"{header[0]!r}, {header[1]!r}", hint)
    check_counts(file, "rows", {"rows": 437}, {"rows": len(rows)})
    labels = np.array([row[0].strip().strip('"') for row in rows])
    return Draw(file.numbers([row[1:] for row in rows]), labels=labels, feature_names=tuple(header[1:]))


UNSIGNED_BYTE = 8
IDX_SOURCE = "http://yann.lecun.com/exdb/mnist"


@dataset(
    origin="loader",
    title="Images in the IDX format (MNIST, Fashion-MNIST): train-images-idx3-ubyte.gz, labels-idx1-ubyte.gz",
    n=10000,
    p=784,
    source=f"{IDX_SOURCE}; Zalando Research (Fashion-MNIST)",
    license="that of the file; not part of this package",
    reference="@lecun1998; @xiao2017.",
    files=("*images-idx3-ubyte*", "*images.idx3-ubyte*", "*-idx3-ubyte*"),
)
def idx_file(file: RawFile) -> Draw:
    """Read images as bytes, one after the other, with their size in the header of the file.

    The header is four bytes (0, 0, type, number of axes) and the length of each axis as a big-endian integer. Labels
    are in another file with one axis: pass its path as ``labels``.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` reads it from the path.

    Returns
    -------
    Draw
        ``data`` (n, rows x columns), gray values 0 to 255, row by row; ``labels`` (n,) integers, or None without a file
        of labels; ``feature_names`` pixel_<row>_<column>.

    Raises
    ------
    InputError
        If the header is invalid, the file is shorter or longer than the header states, or the number of labels differs.

    See Also
    --------
    dreval.datasets.bundled.digits : smaller images, bundled.
    dreval.datasets.files.usps_file : digits of the US Postal Service.

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
    images = _idx_array(file, 3, "images")
    labels = None if file.labels is None else _idx_array(file.labels, 1, "labels").astype(np.int64)
    if labels is not None and file.labels is not None and len(labels) != len(images):
        hint = "Pass the labels of the same part: train with train, t10k with t10k."
        requirement = f"must have one label for each of the {len(images)} images"
        raise file.labels.error(requirement, f"{len(labels)} labels", hint)
    n, rows, columns = images.shape
    return Draw(images.reshape(n, -1).astype(np.float64), labels=labels, feature_names=pixel_names(rows, columns))


def _idx_array(file: RawFile, axes: int, noun: str) -> npt.NDArray[np.uint8]:
    """Return the array of unsigned bytes in a file with this number of axes."""
    magic = file.content[:4]
    if len(magic) < 4 or magic[:2] != b"\0\0":
        received, hint = f"the bytes {magic.hex(' ')} at its start", "Pass the file as it was published."
        raise file.error("must be an IDX file, which begins with two zero bytes", received, hint)
    if (magic[2], magic[3]) != (UNSIGNED_BYTE, axes):
        number = struct.unpack(">I", magic)[0]
        content = "the images" if magic[3] == 3 else "labels"
        hint = (
            f"These are {content}: images are `path`, labels `labels`." if magic[3] in (1, 3) else "Pass another file."
        )
        requirement = f"must be an IDX file of {noun} (magic number {UNSIGNED_BYTE * 256 + axes})"
        raise file.error(requirement, f"the magic number {number}", hint)
    start = 4 + 4 * axes
    if len(file.content) < start:
        raise file.error("must be complete", "a header that is cut short", "Download the file again.")
    shape = struct.unpack(f">{axes}I", file.content[4:start])
    expected_size, size = math.prod(shape), len(file.content) - start
    if expected_size != size or expected_size == 0:
        received = f"{size} bytes for {' x '.join(map(str, shape))}"
        raise file.error("must be as long as its header states", received, "Download the file again; it is cut short.")
    return np.frombuffer(file.content, np.uint8, offset=start).reshape(shape)


@dataset(
    origin="loader",
    title="Woolly mammoth, 10,000 points of its skeleton: mammoth_3d.json",
    n=10000,
    p=3,
    source="PAIR-code/understanding-umap, raw_data/mammoth_3d.json; scan of the Smithsonian Institution",
    license="repository Apache-2.0, terms of the scan not known; not part of this package",
    reference="@coenen2019.",
    files=("mammoth_3d*.json",),
)
def mammoth_file(file: RawFile) -> Draw:
    """Read ten thousand points on the skeleton of a mammoth, sorted by parts whose labels are not in the file.

    The file is a list of triples in the order (y, z, x); the columns of ``data`` are x, y and z. Embeddings in the same
    folder have another order of points and must not be paired with it.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` reads it from the path.

    Returns
    -------
    Draw
        ``data`` (10000, 3), columns x, y, z. There are no labels.

    Raises
    ------
    InputError
        If the file is not a JSON list of 10,000 triples of numbers.

    See Also
    --------
    dreval.datasets.simulated.swiss_roll : a surface with known coordinates.

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
    file.check_no_labels()
    try:
        points = json.loads(file.content)
    except ValueError as error:
        raise file.error("must be complete JSON", f"an error in it ({error})", "Download the file again.") from error
    kinds = {type(point).__name__ for point in points} if isinstance(points, list) else {type(points).__name__}
    if kinds != {"list"}:
        hint = "Pass mammoth_3d.json, a list of triples."
        raise file.error("must be a list of triples", f"a list of {', '.join(sorted(kinds))}", hint)
    lengths = sorted({len(point) for point in points})
    if lengths != [3]:
        hint = "Pass mammoth_3d.json; files with 2 numbers a point are embeddings."
        raise file.error("must have 3 numbers for each point", f"{', '.join(map(str, lengths))}", hint)
    check_counts(file, "points", {"points": 10000}, {"points": len(points)})
    values = file.numbers([[str(value) for value in point] for point in points])
    return Draw(np.ascontiguousarray(values[:, [2, 0, 1]]), feature_names=("x", "y", "z"))


SONAR_CLASSES = {"R": "rock", "M": "mine"}
SONAR_COUNTS = {"R": 97, "M": 111}


@dataset(
    origin="loader",
    title="Sonar, mines vs rocks: sonar.all-data",
    n=208,
    p=60,
    source="UCI Machine Learning Repository, Connectionist Bench (Sonar, Mines vs. Rocks)",
    license="see the repository; not part of this package",
    reference="@gorman1988.",
    files=("sonar.all-data*", "sonar.data", "sonar.csv"),
)
def sonar_file(file: RawFile) -> Draw:
    r"""Read energy in 60 frequency bands of 208 sonar echoes, 97 from rocks and 111 from mines.

    The file has no header; the label R or M comes last. Rows are sorted by class, so that the first rows are not a
    random sample.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` reads it from the path.

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
    dreval.datasets.bundled.wdbc : bundled data with two classes.

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
    sonar_file: 208 points in 60 columns, 2 classes. ...
    """
    file.check_no_labels()
    rows = file.fields(",", 61, {1: "a file with a line of counts at its beginning, or with another separator"})
    labels = [row[-1].strip() for row in rows]
    invalid = [label for label in labels if label not in SONAR_CLASSES]
    if invalid:
        hint = "Pass the file of the repository; copies with a header or with -1 and 1 are in circulation."
        raise file.error("must have R or M at the end of every line", f"{invalid[0]!r}", hint)
    data = file.numbers([row[:-1] for row in rows])
    check_counts(file, "classes", SONAR_COUNTS, {label: labels.count(label) for label in SONAR_COUNTS})
    return Draw(data, labels=np.array([SONAR_CLASSES[label] for label in labels]))


USPS_ROWS = {"train": 7291, "test": 2007}


@dataset(
    origin="loader",
    title="USPS digits: zip.train.gz or zip.test.gz",
    n=7291,
    p=256,
    source="The Elements of Statistical Learning, ZIP code data; AT&T Bell Laboratories",
    license="none stated; not part of this package",
    reference="@lecun1990.",
    files=("zip.train*", "zip.test*"),
)
def usps_file(file: RawFile) -> Draw:
    r"""Read handwritten digits from envelopes, 16 x 16 gray values from -1 (background) to 1, deslanted.

    The label comes first, as 6.0000 in the training file and as 6 in the test file; lines may end in a blank.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` reads it from the path.

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
    dreval.datasets.bundled.digits : smaller images, bundled.
    dreval.datasets.files.idx_file : MNIST.

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
    usps_file: 2,007 points in 256 columns, 1 class. ...
    """
    file.check_no_labels()
    values = file.numbers(file.fields(" ", 257))
    labels, data = values[:, 0], np.ascontiguousarray(values[:, 1:])
    if not np.isin(labels, np.arange(10)).all():
        invalid = labels[~np.isin(labels, np.arange(10))][0]
        raise file.error("must have a digit first in every line", f"{invalid:g}", "Pass zip.train or zip.test.")
    if np.abs(data).max() > 1.0:
        hint = "Pass zip.train or zip.test; usps_all has other rows and another scale."
        raise file.error("must hold gray values from -1 to 1", f"{np.abs(data).max():g}", hint)
    if len(data) not in USPS_ROWS.values():
        hint = "Download the file again; it is cut short."
        raise file.error("must have 7291 (train) or 2007 (test) rows", f"{len(data)} rows", hint)
    return Draw(data, labels=labels.astype(np.int64), feature_names=pixel_names(16, 16))


WDBC_CLASSES = {"B": "benign", "M": "malignant"}
WDBC_COUNTS = {"B": 357, "M": 212}
WDBC_MEASURES = (
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
WDBC_NAMES = tuple(form.format(measure) for form in ("mean {}", "{} error", "worst {}") for measure in WDBC_MEASURES)
WDBC_ALTERNATIVES = {
    11: "breast-cancer-wisconsin.data, the original Wisconsin data (699 rows, 9 features coded 1 to 10)",
    35: "wpbc.data, the prognostic Wisconsin data (198 rows, N or R)",
    31: "a copy without ids or with scikit-learn's header; scikit-learn codes malignant as 0",
    33: "a copy with a header and an empty last column (data.csv)",
}


@dataset(
    origin="loader",
    title="Breast Cancer Wisconsin (Diagnostic): wdbc.data",
    n=569,
    p=30,
    source="UCI Machine Learning Repository, Breast Cancer Wisconsin (Diagnostic)",
    license="see the repository; the bundled copy is `wdbc`",
    reference="@street1993.",
    files=("wdbc.data*", "wdbc.csv"),
)
def wdbc_file(file: RawFile) -> Draw:
    r"""Read thirty measurements of cell nuclei in 569 breast masses, in the file of the repository.

    The file has no header; the id comes first, then the diagnosis M or B, then the numbers. The two other Wisconsin
    files of the same name raise an error.

    Parameters
    ----------
    file : RawFile
        ``load_dataset`` reads it from the path.

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
    dreval.datasets.bundled.wdbc : the bundled copy.

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
    file.check_no_labels()
    rows = file.fields(",", 32, WDBC_ALTERNATIVES)
    labels = [row[1].strip() for row in rows]
    invalid = [label for label in labels if label not in WDBC_CLASSES]
    if invalid:
        hint = "Pass the file of the repository, without a header."
        raise file.error("must have M or B in the second place of every line", f"{invalid[0]!r}", hint)
    data = file.numbers([row[2:] for row in rows])
    check_counts(file, "classes", WDBC_COUNTS, {label: labels.count(label) for label in WDBC_COUNTS})
    return Draw(data, labels=np.array([WDBC_CLASSES[label] for label in labels]), feature_names=WDBC_NAMES)
