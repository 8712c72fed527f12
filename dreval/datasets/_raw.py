"""Files as their publishers have them: ``load_dataset``, and what the loaders of single files share."""

from __future__ import annotations

import gzip
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dreval._check import FloatArray, describe, keywords_checked, nearest_name
from dreval.datasets._dataset import Dataset, finish, other_verb
from dreval.errors import InputError, MissingFile
from dreval.registry import DATASETS

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
