"""What a file says it unpacks to, read from its headers and checked before anything is allocated."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dreval._check import check_unpacked, read_limit, unpack_limit
from dreval.errors import InputError

NUMBER = 8  # bytes
WIDEST, PER_FIELD = 2**20, 64  # fields in a line of text, and bytes in a field of it on average
LINE_ENDS, SEPARATORS = (b"\n", b"\r"), (b",", b";", b"\t")


def check_npy(file: BinaryIO, size: int) -> bool:
    """Whether an open .npy file of ``size`` bytes holds objects; ValueError where it is shorter than it says."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize > size - file.tell():
        raise ValueError(f"it says that it has shape {shape}, and is too short for that")
    return bool(dtype.hasobject)


def check_npz(path: Path, argument: str, names: set[str]) -> bool:
    """Whether one of these arrays of a .npz file holds objects; all of them are checked."""
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.removesuffix(".npy") in names]
        check_unpacked(sum(info.file_size for info in members), path, argument)
        objects = False
        for info in members:
            with archive.open(info) as file:
                objects |= check_npy(file, info.file_size)  # type: ignore[arg-type]
    return objects


def check_sparse(matrix: Any, path: Path, argument: str) -> Any:
    """A sparse matrix whose places lie within its shape, and whose rows and columns can be counted in memory."""
    check_unpacked(NUMBER * (matrix.shape[0] + matrix.shape[1]), path, argument)
    if hasattr(matrix, "check_format"):  # csr, csc, bsr: their readers trust the places
        matrix.check_format(full_check=True)
    elif matrix.format == "coo" and matrix.nnz:
        for places, length in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            if places.min() < 0 or places.max() >= length:
                raise ValueError(f"an entry lies outside of the shape {matrix.shape}")
    return matrix


def check_mtx(path: Path, argument: str) -> None:
    """Check what the second line of a .mtx file declares."""
    from scipy.io import mminfo

    rows, columns, entries, kind, *_ = mminfo(path)
    cells = rows * columns if kind == "array" else entries + rows + columns
    check_unpacked(NUMBER * cells, path, argument)


def check_parquet(file: Any, path: Path, argument: str) -> int:
    """Check what the footer of an open .parquet file declares; the bytes are returned."""
    about = file.metadata
    groups = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    size = max(groups, NUMBER * about.num_rows * about.num_columns)
    check_unpacked(size, path, argument)
    return int(size)


def check_zarr(path: Path, argument: str) -> None:
    """Check the shapes that the arrays of a .zarr folder declare, and that none of them is read by unpickling."""
    sizes = []
    for folder, _, files in os.walk(path):
        for name in {".zarray", "zarr.json", ".zmetadata"}.intersection(files):
            about = json.loads(Path(folder, name).read_bytes())
            if "pickle" in _codecs(about):
                cure = "Save plain numbers: zarr.save_array(path, array.astype(float))."
                got = f"{str(path)!r} with pickled objects, which are never loaded"
                raise InputError(argument, "must hold plain numbers", got, cure)
            if "shape" in about:
                kind = about.get("dtype", about.get("data_type"))
                item = np.dtype(kind).itemsize if isinstance(kind, str) and kind not in ("string", "bytes") else NUMBER
                sizes.append(math.prod(about["shape"]) * max(item, 1))
    check_unpacked(sum(sizes), path, argument)


def _codecs(about: Any) -> set[str]:
    """The names of all codecs in the description of an array of zarr, without the library before them."""
    if isinstance(about, list):
        return set().union(*map(_codecs, about))
    if not isinstance(about, dict):
        return set()
    own = {str(about[key]).lower().rpartition(".")[2] for key in ("id", "name") if key in about}
    return own.union(*map(_codecs, about.values()))


def check_hdf5(path: Path, argument: str) -> int:
    """Check the shapes that the arrays of a .h5ad file declare; the bytes are returned.

    Parts that were never written take no room in the file.
    """
    h5py = importlib.import_module("h5py")

    sizes: list[int] = []

    def add(_: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            sizes.append(math.prod(item.shape or ()) * max(item.dtype.itemsize, 1))
        elif "shape" in item.attrs and "indptr" in item:
            sizes.append(NUMBER * int(np.sum(item.attrs["shape"])))

    with h5py.File(path, "r") as file:
        file.visititems(add)
    check_unpacked(sum(sizes), path, argument)
    return sum(sizes)


def read_lines(path: Path, compressed: bool, argument: str) -> bytes:
    """The bytes of a text file, of a .gz file read no further than the limit; no line is longer than a table needs."""
    fields = max(WIDEST, (read_limit() or 0) / PER_FIELD)
    raw, line, total, cells = io.BytesIO(), 0, 0, 0
    with gzip.open(path) if compressed else path.open("rb") as file:
        while part := file.read(WIDEST):
            raw.write(part)
            total += len(part)
            cells += max(map(part.count, SEPARATORS))
            if compressed:
                check_unpacked(max(total, NUMBER * cells), path, argument)
            ends = [part.rfind(end) for end in LINE_ENDS]
            line = line + len(part) if max(ends) < 0 else len(part) - 1 - max(ends)
            if line > PER_FIELD * fields:
                raise _too_wide(f"a line of {line:,} bytes or more", fields, PER_FIELD * fields, path, argument)
    text = raw.getvalue()
    start = 0
    while start < len(text) - WIDEST:  # a shorter line has fewer fields
        end = max(text.rfind(end, start, start + WIDEST) for end in LINE_ENDS)
        if end < 0:
            ends = [found for end in LINE_ENDS if (found := text.find(end, start)) >= 0]
            end = min(ends, default=len(text))
            found = 1 + max(text.count(separator, start, end) for separator in SEPARATORS)
            if found > fields:
                raise _too_wide(f"a line of {found:,} fields", fields, found * PER_FIELD, path, argument)
        start = end + 1
    return text


def _too_wide(got: str, fields: float, needed: float, path: Path, argument: str) -> InputError:
    """The error for a line that no table needs, of which each field takes memory."""
    more = 2.0 * max(needed, unpack_limit(path))
    return InputError(
        argument,
        f"must have at most {fields:,.0f} fields in a line, of {PER_FIELD} bytes on average",
        f"{got} in {str(path)!r}",
        f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={more:.2g}.",
    )
