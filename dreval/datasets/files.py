"""Read data sets from the files of their authors, which are not part of this package.

``load_dataset`` opens the file, checks its size and refuses web pages; one function for each format does the rest.
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

from dreval._check import FloatArray, describe, keywords_checked, nearest_name
from dreval.datasets._dataset import Dataset, Draw, dataset, finish, other_verb
from dreval.errors import InputError, MissingFile, message_of
from dreval.registry import DATASETS

# Files as their publishers have them: ``load_dataset``, and what the loaders of single files share.

WEB_PAGE = (b"<!doctype", b"<html", b"<head", b"<?xml")
SEPARATORS = {",": "commas", "\t": "tabs", " ": "spaces"}


@dataclass(frozen=True)
class RawFile:
    """A file in memory, unpacked where it was packed; ``argument`` is how the user passed its path."""

    path: Path
    content: bytes
    argument: str = "path"
    labels: RawFile | None = None

    def refuse(self, rule: str, got: str, cure: str) -> InputError:
        """The error for this file; its name is part of what was got."""
        return InputError(self.argument, rule, f"{self.path.name!r} with {got}", cure)

    def lines(self) -> list[str]:
        """Lines of a text file without empty ones."""
        if b"\0" in self.content[:4096]:
            raise self.refuse("must be a text file", "binary content", "Pass the file as its publisher has it.")
        return [line for line in self.content.decode("latin-1").splitlines() if line.strip()]

    def fields(self, separator: str, width: int, known: dict[int, str] | None = None) -> list[list[str]]:
        """Rows of ``width`` fields; another width raises an error, which names a known file of that width."""
        rows = [line.strip(" \r").split(separator) for line in self.lines()]
        for number, row in enumerate(rows, 1):
            if len(row) == width:
                continue
            rule = f"must have {width} fields in every line, separated by {SEPARATORS[separator]}"
            other = (known or {}).get(len(row)) if number == 1 else None
            cure = f"This looks like {other}." if other else "Download the file again; it is another file or cut short."
            raise self.refuse(rule, f"{len(row)} in line {number}", cure)
        return rows

    def numbers(self, rows: list[list[str]]) -> FloatArray:
        """Fields as finite numbers; the first that is none is named."""
        try:
            values = np.array(rows, dtype=object).astype(np.float64)
        except ValueError:
            values = np.array([[_number(cell) for cell in row] for row in rows])
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            i, j = (int(place) for place in bad[0])
            cure = "Pass the file as its publisher has it, without a header."
            raise self.refuse("must hold numbers", f"{rows[i][j]!r} in line {i + 1}", cure)
        return values

    def without_labels(self) -> None:
        """Refuse a file of labels where the file itself holds them, or there are none."""
        if self.labels is not None:
            raise InputError("labels", f"must be left out for {self.path.name!r}", "a path", "Leave it out.")


def _number(cell: str) -> float:
    """A number, or NaN for what is none."""
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def same_count(file: RawFile, what: str, wanted: dict[str, int], found: dict[str, int]) -> None:
    """Refuse a file that has not the known numbers of rows or classes."""
    if wanted == found:
        return
    words = [", ".join(f"{count} {name}" for name, count in counts.items()) for counts in (wanted, found)]
    cure = "Download the file again; it is cut short, or another version."
    raise file.refuse(f"must have the {what} of the published file ({words[0]})", words[1] or "none", cure)


def pixel_names(rows: int, columns: int) -> tuple[str, ...]:
    """Names pixel_<row>_<column> of the pixels of an image, row by row."""
    return tuple(f"pixel_{i}_{j}" for i in range(rows) for j in range(columns))


def open_raw(path: Any, argument: str = "path") -> RawFile:
    """Read a file into memory, unpacking gzip; web pages, folders, empty and broken files raise an error."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(argument, "must be a path", describe(path), "Pass the path of a file as text.")
    place = Path(path).expanduser()
    if not place.exists():
        near = nearest_name(place.name, os.listdir(place.parent) if place.parent.is_dir() else [])
        cure = f"Did you mean {near!r}?" if near else "Download it first and pass the path of the copy."
        raise MissingFile(argument, "must be an existing file", repr(str(path)), cure)
    if place.is_dir():
        raise InputError(argument, "must be a file", f"the folder {str(path)!r}", "Name a file within it.")
    content = place.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            got, cure = (
                f"{place.name!r}, whose packing is broken ({error})",
                "Download the file again; it is cut short.",
            )
            raise InputError(argument, "must be a whole gzip file", got, cure) from error
    if content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(WEB_PAGE):
        cure = "Download the raw file; a browser or a login page was saved in its place."
        raise InputError(argument, "must be a data file", f"{place.name!r}, which is a web page (HTML)", cure)
    if not content.strip():
        raise InputError(argument, "must not be empty", f"{place.name!r} of 0 bytes", "Download the file again.")
    return RawFile(place, content, argument)


@keywords_checked
def load_dataset(name: str, path: str | os.PathLike[str] | None = None, *, labels: Any = None) -> Dataset:
    """A data set that comes with the package, or a well-known data file in the form its publisher gives it.

    Each known file has a loader that knows its layout and its traps: where the labels are, what is an id, which axis
    holds the points. A file that is something else raises an error with the reason.

    Parameters
    ----------
    name : str
        Without ``path`` one of the bundled sets, "digits" or "wdbc"; with it a loader, as "sonar_file" ("sonar" will
        do). ``list_datasets()`` lists both with the simulated sets; the names of loaders end in ``_file``.
    path : str or path-like, optional
        The file; packed by gzip or not.
    labels : str or path-like, optional
        File of the labels where they are in a file of their own (idx, and ``tictgts2000.txt`` of ``ticeval2000.txt``).

    Returns
    -------
    Dataset
        ``data`` (n, p) float64, nothing scaled; ``labels`` (n,) where there are classes; ``feature_names``; the
        ``card`` with source and license. ``latent`` is None: it is not known. ``recipe`` holds the path.

    Raises
    ------
    UnknownName
        If there is no data set of that name, or no such file; the nearest right name is given.
    InputError
        If the data set is simulated, or a loader and no ``path`` is given; if the file is a web page, another file of
        the same name, has another number of columns or rows, or is cut short.

    See Also
    --------
    simulate : data drawn from a known distribution.
    list_datasets : all names.

    Notes
    -----
    O(size of the file) time and memory; the file is read by each call. Nothing is downloaded.

    Examples
    --------
    >>> import dreval
    >>> wdbc = dreval.load_dataset("wdbc")
    >>> wdbc
    <Dataset wdbc: 569 points in 30 dimensions, 2 classes>
    >>> wdbc.feature_names[0], wdbc.labels[0].item(), wdbc.card.license
    ('mean radius', 'malignant', 'BSD-3-Clause')

    A file of your own, here one that is written first:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "images-idx3-ubyte")
    ...     _ = file.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2]) + bytes(range(10)))
    ...     images = dreval.load_dataset("idx", file)
    >>> images
    <Dataset idx_file: 5 points in 2 dimensions>
    """
    if path is not None and isinstance(name, str) and f"{name}_file" in DATASETS:
        name = f"{name}_file"
    make = DATASETS.get(name, "name")
    kind = make.card.kind
    if kind == "simulated":
        raise other_verb(name, kind, "bundled")
    if kind == "bundled":
        for argument, value in (("path", path), ("labels", labels)):
            if value is not None:
                loaders = ", ".join(one for one in DATASETS if one.endswith("_file"))
                raise InputError(argument, "must be left out", f"{name!r} with a file", f"Loaders of files: {loaders}.")
        return finish(make(), make.card, {})
    if path is None:
        raise InputError("path", "must be given", f"{name!r} alone", f"Pass the file: load_dataset({name!r}, path).")
    file = open_raw(path)
    if labels is not None:
        file = RawFile(file.path, file.content, "path", open_raw(labels, "labels"))
    return finish(make(file), make.card, {"path": str(file.path)})


COIL2000_TRAINING, COIL2000_EVALUATION = (5822, 348), (4000, 238)  # rows, and owners of a caravan policy among them


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
    <Dataset coil2000_file: 4000 points in 85 dimensions>
    """
    first = file.lines()[0].split("\t")
    if len(first) == 1:
        cure = "Pass ticeval2000.txt as `path` and this file as `labels`."
        raise file.refuse("must hold the 85 features", "one column of targets", cure)
    training = len(first) != 85
    rows, positive = COIL2000_TRAINING if training else COIL2000_EVALUATION
    values = file.numbers(file.fields("\t", 86 if training else 85))
    same_count(file, "rows", {"rows": rows}, {"rows": len(values)})
    if not training:
        if file.labels is None:
            return Draw(values)
        targets = file.labels.numbers(file.labels.fields("\t", 1))
        same_count(file.labels, "rows", {"rows": rows}, {"rows": len(targets)})
        return Draw(values, labels=_check_coil2000(file.labels, targets[:, 0], positive))
    file.without_labels()
    return Draw(np.ascontiguousarray(values[:, :-1]), labels=_check_coil2000(file, values[:, -1], positive))


def _check_coil2000(file: RawFile, target: npt.NDArray[np.float64], positive: int) -> npt.NDArray[np.int64]:
    """The targets 0 and 1, as many 1 as there should be."""
    found = {"0": int((target == 0).sum()), "1": int((target == 1).sum())}
    same_count(file, "targets", {"0": len(target) - positive, "1": positive}, found)
    return target.astype(np.int64)


FREY_SIZE = (28, 20)
BROKEN_MATLAB = (ValueError, TypeError, LookupError, OSError, EOFError, AttributeError, zlib.error, MemoryError)


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
    <Dataset frey_faces_file: 1965 points in 560 dimensions>
    """
    file.without_labels()
    if not file.content.startswith(b"MATLAB 5.0"):
        raise file.refuse("must be a MATLAB 5 file", f"{file.content[:10]!r} at its start", "Download the file again.")
    from scipy.io import loadmat

    try:
        found = loadmat(io.BytesIO(file.content))
    except BROKEN_MATLAB as error:
        why = message_of(error)[:80]
        raise file.refuse("must be a whole MATLAB 5 file", f"a broken matrix ({why})", "Download it again.") from error
    keys = ", ".join(sorted(key for key in found if not key.startswith("__"))) or "nothing"
    matrix = found.get("ff")
    if matrix is None:
        raise file.refuse("must hold the matrix `ff`", keys, "Pass frey_rawface.mat as its authors have it.")
    if np.shape(matrix) != (FREY_SIZE[0] * FREY_SIZE[1], 1965):
        got = f"one of {' x '.join(map(str, np.shape(matrix)))}"
        raise file.refuse("must hold `ff` of 560 x 1965", got, "Pass frey_rawface.mat as its authors have it.")
    return Draw(np.ascontiguousarray(matrix.T, dtype=np.float64), feature_names=pixel_names(*FREY_SIZE))


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


UNSIGNED_BYTE = 8
IDX_SOURCE = "http://yann.lecun.com/exdb/mnist"


@dataset(
    kind="loader",
    title="Images in the IDX format (MNIST, Fashion-MNIST): train-images-idx3-ubyte.gz, labels-idx1-ubyte.gz",
    n=10000,
    p=784,
    source=f"{IDX_SOURCE}; Zalando Research (Fashion-MNIST)",
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
        cure = "Pass the labels of the same part: train with train, t10k with t10k."
        rule = f"must have one label for each of the {len(images)} images"
        raise file.labels.refuse(rule, f"{len(labels)} labels", cure)
    n, rows, columns = images.shape
    return Draw(images.reshape(n, -1).astype(np.float64), labels=labels, feature_names=pixel_names(rows, columns))


def _idx_array(file: RawFile, axes: int, what: str) -> npt.NDArray[np.uint8]:
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


SONAR_CLASSES = {"R": "rock", "M": "mine"}
SONAR_COUNTS = {"R": 97, "M": 111}


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
    <Dataset sonar_file: 208 points in 60 dimensions, 2 classes>
    """
    file.without_labels()
    rows = file.fields(",", 61, {1: "a file with a line of counts at its head, or with another separator"})
    labels = [row[-1].strip() for row in rows]
    wrong = [label for label in labels if label not in SONAR_CLASSES]
    if wrong:
        cure = "Pass the file of the repository; copies with a header or with -1 and 1 are in circulation."
        raise file.refuse("must have R or M at the end of every line", f"{wrong[0]!r}", cure)
    data = file.numbers([row[:-1] for row in rows])
    same_count(file, "classes", SONAR_COUNTS, {label: labels.count(label) for label in SONAR_COUNTS})
    return Draw(data, labels=np.array([SONAR_CLASSES[label] for label in labels]))


USPS_ROWS = {"train": 7291, "test": 2007}


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
    if len(data) not in USPS_ROWS.values():
        cure = "Download the file again; it is cut short."
        raise file.refuse("must have 7291 (train) or 2007 (test) rows", f"{len(data)} rows", cure)
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
WDBC_OTHERS = {
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
    file.without_labels()
    rows = file.fields(",", 32, WDBC_OTHERS)
    labels = [row[1].strip() for row in rows]
    wrong = [label for label in labels if label not in WDBC_CLASSES]
    if wrong:
        cure = "Pass the file of the repository, without a header."
        raise file.refuse("must have M or B in the second place of every line", f"{wrong[0]!r}", cure)
    data = file.numbers([row[2:] for row in rows])
    same_count(file, "classes", WDBC_COUNTS, {label: labels.count(label) for label in WDBC_COUNTS})
    return Draw(data, labels=np.array([WDBC_CLASSES[label] for label in labels]), feature_names=WDBC_NAMES)
