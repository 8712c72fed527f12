"""Malicious files: small files with a large uncompressed size, and files with false metadata.

.venv/bin/python tests/hostile.py     the error and the peak of memory of each, as a table
"""

from __future__ import annotations

import gzip
import io
import json
import resource
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

N_NUMBERS = 40_000_000  # numbers: 320 MB, beyond the limit of unpacking for a small file
FILES: dict[str, Callable[[Path], None]] = {}


def hostile(name: str, package: str = "numpy") -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """A function that writes the file of this name, where the package that reads it is installed."""

    def cached_file(write: Callable[[Path], None]) -> Callable[[Path], None]:
        if find_spec(package):
            FILES[name] = write
        return write

    return cached_file


def header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    """The header of a .npy file."""
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": descr, "fortran_order": False, "shape": shape})
    return text.getvalue()


def zipped(path: Path, members: dict[str, Any]) -> None:
    """Write a .npz file of these arrays; a member of bytes is written unchanged, a number as so many zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, value in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                if isinstance(value, int):
                    member.write(header((value // 10, 10)))
                    for _ in range(value * 8 // 2**20 + 1):
                        member.write(bytes(2**20))
                elif isinstance(value, bytes):
                    member.write(value)
                else:
                    np.save(member, value)


def sparse(path: Path, **changes: Any) -> None:
    """A .npz file of scipy.sparse with some parts exchanged."""
    parts = {
        "indices": np.array([0, 1, 2], np.int32),
        "indptr": np.array([0, 1, 2, 3], np.int32),
        "format": np.array(b"csr"),
        "shape": np.array([3, 3]),
        "data": np.ones(3),
    }
    np.savez(path, **(parts | changes))


@hostile("bomb.npz")
def _bomb(path: Path) -> None:
    zipped(path, {"X": N_NUMBERS})


@hostile("wide.csv.gz")
def _wide(path: Path) -> None:
    path.write_bytes(gzip.compress(b"," * 100_000_000, 1))


@hostile("many_columns.csv.gz")
def _many_columns(path: Path) -> None:
    path.write_bytes(gzip.compress(b"," * 2_000_000, 1))


@hostile("one_line.csv.gz")
def _one_line(path: Path) -> None:
    path.write_bytes(gzip.compress(b"a,b\n" + b"1" * 200_000_000, 1))


@hostile("many_rows.csv.gz")
def _many_rows(path: Path) -> None:
    path.write_bytes(gzip.compress(b"1\n" * 20_000_000, 1))


@hostile("short.npy")
def _truncated(path: Path) -> None:
    path.write_bytes(header((10**9, 10**3)) + bytes(80))


@hostile("negative.npy")
def _negative(path: Path) -> None:
    path.write_bytes(header((-(10**9), -1000)) + bytes(80))


@hostile("short_member.npz")
def _short_member(path: Path) -> None:
    zipped(path, {"X": header((10**9, 10**3)) + bytes(80)})


@hostile("objects.npy")
def _objects(path: Path) -> None:
    np.save(path, np.array([[{}, 1], [2, 3]], dtype=object), allow_pickle=True)


@hostile("objects.npz")
def _object_member(path: Path) -> None:
    np.savez(path, X=np.array([[{}, 1], [2, 3]], dtype=object))


@hostile("places.npz")
def _places(path: Path) -> None:
    sparse(path, indices=np.array([0, 1, 10**6], np.int32))


@hostile("places_below.npz")
def _places_below(path: Path) -> None:
    sparse(path, indices=np.array([0, -5, 2], np.int32))


@hostile("pointers.npz")
def _pointers(path: Path) -> None:
    sparse(path, indptr=np.array([0, 3, 1, 3], np.int32))


@hostile("pointers_beyond.npz")
def _pointers_beyond(path: Path) -> None:
    sparse(path, indptr=np.array([0, 1, 2, 10**6], np.int32))


@hostile("coo.npz")
def _coo(path: Path) -> None:
    parts = {"row": np.array([0, 10**6]), "col": np.array([0, 1]), "format": np.array(b"coo"), "data": np.ones(2)}
    np.savez(path, shape=np.array([3, 3]), **parts)


@hostile("wide_coo.npz")
def _wide_coo(path: Path) -> None:
    parts = {"row": np.array([0, 1]), "col": np.array([0, 1]), "format": np.array(b"coo"), "data": np.ones(2)}
    np.savez(path, shape=np.array([10**9, 10**9]), **parts)


@hostile("sparse_objects.npz")
def _sparse_objects(path: Path) -> None:
    sparse(path, data=np.array([{}, 1, 2], dtype=object))


@hostile("wide.mtx")
def _wide(path: Path) -> None:
    path.write_text("%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 1\n1 1 1.5\n")


@hostile("long.mtx")
def _long(path: Path) -> None:
    path.write_text("%%MatrixMarket matrix coordinate real general\n16000000 16000000 1\n1 1 1.5\n")


@hostile("symmetric.mtx")
def _symmetric(path: Path) -> None:
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n900000 4 1\n1 1 1.5\n")


@hostile("long_coo.npz")
def _long_coo(path: Path) -> None:
    parts = {"row": np.array([0, 1]), "col": np.array([0, 1]), "format": np.array(b"coo"), "data": np.ones(2)}
    np.savez(path, shape=np.array([16 * 10**6, 16 * 10**6]), **parts)


@hostile("long_csr.npz")
def _long_csr(path: Path) -> None:
    sparse(path, indptr=np.minimum(np.arange(16 * 10**6 + 1), 3), shape=np.array([16 * 10**6, 3]))
    with np.load(path) as parts:
        np.savez_compressed(path, **dict(parts))


@hostile("full.mtx")
def _full(path: Path) -> None:
    path.write_text("%%MatrixMarket matrix array real general\n1000000 1000000\n1.5\n")


@hostile("outside.mtx")
def _outside(path: Path) -> None:
    path.write_text("%%MatrixMarket matrix coordinate real general\n4 4 2\n1 1 1.5\n9 9 1.5\n")


@hostile("bomb.csv.gz")
def _text(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(70):
            file.write(b"0,0\n" * 2**20)


@hostile("bomb.parquet", "pyarrow")
def _parquet(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": np.zeros(N_NUMBERS, np.int8)}), path)


@hostile("texts.parquet", "pyarrow")
def _texts(path: Path) -> None:
    """One text of a megabyte that a column repeats: the file has it once in each group of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema({"x": pa.float64(), "text": pa.string()})
    table = pa.table({"x": np.arange(300.0), "text": pa.array(["a" * 10**6] * 300)})
    with parquet.ParquetWriter(path, schema, compression="zstd", dictionary_pagesize_limit=10**8) as file:
        file.write_table(table)
        file.write_table(table)


@hostile("lists.parquet", "pyarrow")
def _lists(path: Path) -> None:
    """Lists of the same number in few rows."""
    import pyarrow as pa
    from pyarrow import parquet

    values = pa.ListArray.from_arrays(np.arange(11) * (N_NUMBERS // 10), np.zeros(N_NUMBERS, np.int8))
    parquet.write_table(pa.table({"x": np.arange(10.0), "list": values}), path, compression="zstd")


def _repeated(path: Path, make: Callable[[int], Any]) -> None:
    """A column of eight million rows that are the same."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({"a": make(10**6)})
    with parquet.ParquetWriter(path, table.schema, compression="zstd") as file:
        for _ in range(8):
            file.write_table(table)


@hostile("structs.parquet", "pyarrow")
def _structs(path: Path) -> None:
    import pyarrow as pa

    _repeated(path, lambda n: pa.StructArray.from_arrays([pa.array(np.zeros(n))], ["x"]))


@hostile("empty_lists.parquet", "pyarrow")
def _empty_lists(path: Path) -> None:
    import pyarrow as pa

    _repeated(path, lambda n: pa.ListArray.from_arrays(np.zeros(n + 1, np.int32), np.zeros(0)))


@hostile("lists_of_lists.parquet", "pyarrow")
def _lists_of_lists(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    inner = pa.ListArray.from_arrays(np.zeros(8 * 10**6 + 1, np.int32), np.zeros(0))
    outer = pa.ListArray.from_arrays(np.arange(11, dtype=np.int32) * 800_000, inner)
    parquet.write_table(pa.table({"a": outer}), path, compression="zstd")


@hostile("decimals.parquet", "pyarrow")
def _decimals(path: Path) -> None:
    import pyarrow as pa

    _repeated(path, lambda n: pa.array(np.zeros(n, np.int64)).cast(pa.decimal128(19, 0)))


@hostile("times.parquet", "pyarrow")
def _times(path: Path) -> None:
    import pyarrow as pa

    _repeated(path, lambda n: pa.array(np.zeros(n, np.int64)).cast(pa.time64("us")))


@hostile("wide_values.parquet", "pyarrow")
def _wide_values(path: Path) -> None:
    """Values of one length, of a megabyte each: the file has each different one once."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({"a": pa.array([bytes(10**6)] * 20, pa.binary(10**6))})
    options = {"compression": "zstd", "store_schema": False, "dictionary_pagesize_limit": 4 * 10**6}
    with parquet.ParquetWriter(path, table.schema, data_page_size=1 << 30, **options) as file:
        for _ in range(20):
            file.write_table(table)


@hostile("empty.h5ad", "h5py")
def _hdf5(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        result = file.create_dataset("X", (10**5, 10**5), dtype="f4", chunks=(1000, 1000))
        result.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


@hostile("short_chunk.h5ad", "h5py")
def _short_chunk(path: Path) -> None:
    """A chunk of 200 MB that unpacks to 16 bytes: HDF5 reads on behind them, and the process ends."""
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        result = file.create_dataset("X", (600, 43690), "f8", chunks=(600, 43690), compression="gzip")
        result.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        result.id.write_direct_chunk((0, 0), zlib.compress(bytes(16)))


@hostile("negative.h5ad", "h5py")
def _negative_sparse(path: Path) -> None:
    """Write a sparse matrix with a negative number of rows next to a large array."""
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        sparse = file.create_group("A")
        sparse["indptr"], sparse.attrs["shape"] = [0], [-(10**15), 0]
        result = file.create_dataset("X", (10**4, 10**4), dtype="f8", chunks=(100, 10))
        result.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


MEASURED = """
import json, resource, sys
import numpy as np
import dreval, pandas, scipy.sparse, scipy.io
from dreval.inputs.data import as_data
as_data(np.random.default_rng(0).normal(size=(50, 3)))
for package in ("pyarrow.parquet", "anndata"):
    try:
        __import__(package)
    except ImportError:
        continue
for path in sys.argv[1:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        as_data(path)
        said = ["", ""]
    except Exception as error:
        said = [type(error).__name__, str(error)]
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps([path, *said, more / 1024]), flush=True)
"""


def measure(folder: Path) -> list[tuple[str, str, str, float]]:
    """Name, kind of the error, its text, and the growth of the peak of memory in MiB, of every file, in one process."""
    paths = [folder / name for name in FILES]
    for path in paths:
        FILES[path.name](path)
    command = [sys.executable, "-c", MEASURED, *map(str, paths)]
    limits = (resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, preexec_fn=lambda: resource.setrlimit(*limits)
    )
    return [
        (Path(name).name, kind, text, memory) for name, kind, text, memory in map(json.loads, done.stdout.splitlines())
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as location:
        print(f"{'file':<20} {'bytes':>9} {'more MiB':>8}  error")
        for name, kind, text, memory in measure(Path(location)):
            size = (Path(location) / name).stat().st_size
            print(f"{name:<20} {size:>9,} {memory:>8.1f}  {kind}: {text.replace(location + '/', '')}")
