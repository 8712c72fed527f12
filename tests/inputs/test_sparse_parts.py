"""Sparse matrices with entries outside of their shape raise an error before compiled code uses them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dreval
from dreval.errors import DrevalError, InputError
from dreval.inputs.data import as_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))


def with_parts(form: str, **parts: Any) -> Any:
    """Return a valid sparse matrix whose parts are then replaced, so that its constructor does not check them."""
    matrix = sp.random_array((30, 4), density=0.5, format=form, rng=0)
    for name, value in parts.items():
        setattr(matrix, name, value)
    return matrix


def with_large_index(matrix: Any) -> Any:
    """An index far beyond the shape."""
    matrix.indices[1] = 10**7
    return matrix


def pointers(matrix: Any, at: int, value: int) -> Any:
    """Another entry of indptr."""
    matrix.indptr[at] = value
    return matrix


def coordinate(at: int, value: int) -> Any:
    """A place outside of the shape."""
    matrix = with_parts("coo")
    matrix.coords[at][0] = value
    return matrix


def rows_of_lists() -> Any:
    matrix = with_parts("lil")
    matrix.rows[0], matrix.data[0] = [10**7], [1.0]
    return matrix


BAD: dict[str, Callable[[], Any]] = {
    "csr: an index beyond": lambda: with_large_index(with_parts("csr")),
    "csc: an index beyond": lambda: with_large_index(with_parts("csc")),
    "bsr: an index beyond": lambda: with_large_index(
        sp.bsr_array(np.kron(np.eye(15, 2), np.ones((2, 2))), blocksize=(2, 2)).copy()
    ),
    "csr: a negative index": lambda: with_parts("csr", indices=with_parts("csr").indices - 4),
    "csr: indptr descends": lambda: pointers(with_parts("csr"), 5, 0),
    "csr: indptr goes beyond": lambda: pointers(with_parts("csr"), -1, 10**7),
    "csr: indptr begins late": lambda: pointers(with_parts("csr"), 0, 3),
    "csr: indptr is short": lambda: with_parts("csr", indptr=np.array([0, 1, 2], np.int32)),
    "csr: indptr of two dimensions": lambda: with_parts("csr", indptr=np.zeros((31, 1), np.int32)),
    "csr: fewer values": lambda: with_parts("csr", data=np.ones(3)),
    "csr: indices are floats": lambda: with_parts("csr", indices=with_parts("csr").indices * 1.5),
    "coo: a row beyond": lambda: coordinate(0, 10**7),
    "coo: a negative column": lambda: coordinate(1, -3),
    "coo: fewer values": lambda: with_parts("coo", data=np.ones(3)),
    "lil: a column beyond": rows_of_lists,
}

CALL = """
import sys
sys.path.insert(0, {folder!r})
import test_sparse_parts as module
for name, entry_point in (("csr: an index beyond", "data"), ("csc: an index beyond", "coordinates of a function")):
    matrix = module.BAD[name]()
    try:
        module.ENTRY_POINTS[entry_point](matrix)
    except module.DrevalError as error:
        print(type(error).__name__, error)
"""
ENTRY_POINTS: dict[str, Callable[[Any], Any]] = {
    "data": as_data,
    "embedding": lambda matrix: dreval.trustworthiness(X, matrix),
    "coordinates of a function": lambda matrix: dreval.embed(X, lambda *_: matrix),
    "correlation": lambda matrix: as_data(matrix, metric="correlation"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parts_raise_an_error(name: str) -> None:
    """There is one clear error, for each conversion that makes them dense or sums their entries."""
    for entry_point, call in ENTRY_POINTS.items():
        if name.startswith("bsr") and entry_point == "embedding":
            continue
        with pytest.raises(DrevalError, match=r"entries within its shape: got .* with") as error:
            call(BAD[name]())
        assert len(str(error.value)) < 400, entry_point


def test_in_a_separate_process(tmp_path: Path) -> None:
    """The process does not crash."""
    text = CALL.format(folder=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("entries within its shape") == 2


def test_one_dimension() -> None:
    """A sparse vector is not a table; the hint gives one column."""
    vector = sp.coo_array(np.arange(30.0))
    for call in (as_data, lambda value: dreval.trustworthiness(X, value)):
        with pytest.raises(InputError, match=r"must be a table of rows and columns.*reshape"):
            call(vector)
    assert np.array_equal(as_data(vector.reshape(-1, 1)).dense()[:, 0], np.arange(30.0))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_valid_ones_are_read(form: str, kind: Any) -> None:
    """Duplicates, unsorted columns, explicit zeros and spare capacity are valid in every format."""
    dense = np.where(RNG.random((30, 4)) < 0.5, RNG.normal(size=(30, 4)), 0)
    assert np.array_equal(np.asarray(as_data(kind(dense).asformat(form)).dense()), dense)
    roomy = kind(dense)
    roomy.data, roomy.indices = np.r_[roomy.data, 9.0], np.r_[roomy.indices, np.int32(99)]  # behind the last row
    assert np.array_equal(np.asarray(as_data(roomy).dense()), dense)


@pytest.mark.doors
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("part", ["indptr", "indices", "data", "shape", "encoding-type"])
def test_parts_in_a_file(part: str, blocks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In .h5ad and .zarr, for X and a layer, read whole and by blocks."""
    import anndata
    import h5py
    import zarr

    matrix = sp.random(40, 5, 0.5, "csr", random_state=0)
    result = anndata.AnnData(matrix, layers={"counts": matrix.copy()})
    result.write_h5ad(tmp_path / "cells.h5ad")
    result.write_zarr(tmp_path / "cells.zarr")

    def change(group: Any) -> None:
        if part == "shape":
            group.attrs["shape"] = [40, 2]
        elif part == "encoding-type":
            group.attrs["encoding-type"] = "a_matrix_of_the_future"
        else:
            values = group[part][:]
            values[3] = {"indptr": 10**6, "indices": 10**6, "data": np.nan}[part]
            group[part][:] = values

    with h5py.File(tmp_path / "cells.h5ad", "r+") as file:
        change(file["X"])
        change(file["layers/counts"])
    folder = zarr.open_group(str(tmp_path / "cells.zarr"), mode="r+", use_consolidated=False)
    change(folder["X"])
    change(folder["layers/counts"])
    if blocks:
        monkeypatch.setattr("dreval.inputs.files.MIN_BLOCKWISE_BYTES", 0)
    for name in ("cells.h5ad", "cells.zarr"):
        for layer in (None, "counts"):
            with pytest.raises(InputError, match=r"`data` must .*: got .*\. "):
                as_data(tmp_path / name, layer=layer)
