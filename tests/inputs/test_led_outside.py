"""Only the named file is read: links, virtual data sets, external storage and pipes raise errors."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import led_outside
import numpy as np
import pytest

import dreval
from dreval.errors import InputError
from dreval.inputs import files
from dreval.inputs.data import as_data

pytestmark = [
    pytest.mark.doors,
    pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX"),
    pytest.mark.filterwarnings("ignore"),  # of the libraries that write the files
]
REQUIREMENT = "must (hold all of its data itself|refer to its own objects only|be a readable|be a .zarr folder)"


@contextmanager
def ends() -> Iterator[None]:
    """Reading a pipe would not end."""

    def raised(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, raised)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("name", led_outside.ATTACKS)
def test_references_outside_raise_an_error(
    name: str, blocks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both for files that are read whole, and for those that are read by blocks."""
    write, file = led_outside.ATTACKS[name]
    inner, outside = tmp_path / "inner", tmp_path / "other"
    inner.mkdir()
    outside.mkdir()
    write(inner, outside)
    if blocks:
        monkeypatch.setattr(files, "MIN_BLOCKWISE_BYTES", 0)

    if name == "zarr: metadata of all parts that name another folder":  # each part has separate metadata
        assert as_data(inner / file).X.shape == (led_outside.N, led_outside.P)
        return
    X = np.random.default_rng(0).normal(size=(led_outside.N, 3))
    with ends():
        with pytest.raises(InputError, match=REQUIREMENT):
            as_data(inner / file)
        for call in (
            ()
            if file == "x.zarr"
            else (
                lambda: as_data(inner / file, layer="counts"),
                lambda: dreval.Evaluation(inner / file, {"u": "X_pca"}, labels="kind"),
                lambda: dreval.trustworthiness(X, f"{inner / file}:obsm:X_pca"),
            )
        ):
            with pytest.raises(InputError, match=REQUIREMENT):
                call()


def test_labels_and_coordinates_in_zarr(tmp_path: Path) -> None:
    """A folder with one array, for each argument that takes a path."""
    import zarr

    (tmp_path / "secret").write_bytes(np.arange(30.0).tobytes())
    for name, shape in (("column", (30,)), ("table", (30, 2))):
        folder = tmp_path / f"{name}.zarr"
        zarr.open_array(str(folder), mode="w", shape=shape, chunks=shape, dtype="f8", zarr_format=2, compressor=None)
        (folder / ("0" if len(shape) == 1 else "0.0")).symlink_to(tmp_path / "secret")
    X, column, table = np.random.default_rng(0).normal(size=(30, 3)), tmp_path / "column.zarr", tmp_path / "table.zarr"
    for call in (
        lambda: as_data(table),
        lambda: as_data(X, labels=column),
        lambda: as_data(X, batch=column),
        lambda: as_data(X, latent=table),
        lambda: as_data(X, covariates={"a": column}),
        lambda: dreval.trustworthiness(X, table),
    ):
        with pytest.raises(InputError, match="must hold all of its data itself"):
            call()
    results = dreval.Evaluation(X, {"good": X[:, :2], "bad": table}, n_neighbors=5).run("trustworthiness", None, None)
    assert results.table.set_index("embedding")["value"].isna().to_dict() == {"good": False, "bad": True}


def opened(kind: str, folder: Path, shape: tuple[int, ...]) -> Any:
    """An array of HDF5 that the caller has opened."""
    import h5py

    outside = folder / "other"
    outside.mkdir()
    with h5py.File(folder / "x.h5", "w") as file:
        file["group/x"] = np.zeros(shape)
        old = file["group/x"]
        del file["group/x"]
        led_outside.KINDS[kind](file["group"], "x", old, outside)
    return h5py.File(folder / "x.h5", "r")


@pytest.mark.parametrize("kind", led_outside.KINDS)
def test_arrays_of_hdf5_that_were_opened(kind: str, tmp_path: Path) -> None:
    """A group must hold all of its data, and an array its own numbers.

    Links before an array were followed by h5py. The error for an array of dask refers to other files.
    """
    import dask.array

    file = opened(kind, tmp_path, (30, 2))
    X = np.random.default_rng(0).normal(size=(30, 3))
    calls: list[Callable[[Any], Any]] = [
        as_data,
        lambda value: dreval.trustworthiness(X, value),
        lambda value: as_data(X, latent=value),
        lambda value: as_data(X, labels=value[:, 0] if isinstance(value, np.ndarray) else value),
        lambda value: as_data(X, ids=value),
        lambda value: dreval.methods.PCA().fit_transform(value),
    ]
    linked = "link" in kind
    for value in [file, file["group"], *([] if linked else [file["group/x"]])]:
        for call in calls[:2] if value is not file.get("group/x") and not hasattr(value, "dtype") else calls:
            with pytest.raises(InputError, match=r"must hold all of its data itself: got .*dask"):
                call(value)
    meant = dask.array.from_array(file["group/x"])
    for value in (meant, file["group/x"][:]):
        assert np.array_equal(np.asarray(as_data(value).dense()), led_outside.secret((30, 2)))


def test_a_zarr_array_that_was_opened(tmp_path: Path) -> None:
    import zarr

    result = zarr.open_array(str(tmp_path / "x.zarr"), mode="w", shape=(30, 2), chunks=(10, 2), dtype="f8")
    result[:] = np.random.default_rng(0).normal(size=(30, 2))
    assert as_data(result).n == 30
    chunk = next(path for path in sorted((tmp_path / "x.zarr").rglob("*")) if path.is_file() and path.suffix != ".json")
    chunk.rename(tmp_path / "chunk")
    chunk.symlink_to(tmp_path / "chunk")
    for call in (as_data, lambda value: dreval.trustworthiness(np.eye(30), value)):
        with pytest.raises(InputError, match="must hold all of its data itself"):
            call(result)


def test_links_within_a_file_are_followed(tmp_path: Path) -> None:
    """Soft links, hard links, a group within itself, and virtual data sets of the same file are valid."""
    import h5py

    path = tmp_path / "cells.h5ad"
    result = led_outside.cells()
    result.write_h5ad(path)
    read_data = as_data(path, labels="kind")
    with h5py.File(path, "r+") as file:
        file["uns/store"] = file["X"]
        about = dict(file["X"].attrs)
        del file["X"]
        file["X"] = h5py.SoftLink("/uns/store")
        layout = h5py.VirtualLayout((30, 2), np.float64)
        file["uns/other"] = file["obsm/X_pca"][:]
        layout[:] = h5py.VirtualSource(file["uns/other"])
        del file["obsm/X_pca"]
        file["obsm"].create_virtual_dataset("X_pca", layout).attrs.update(about)
    for size in (0, files.MIN_BLOCKWISE_BYTES):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "MIN_BLOCKWISE_BYTES", size)
            data = as_data(path, labels="kind")
            assert np.array_equal(np.asarray(data.dense()), read_data.X)
            assert np.array_equal(np.asarray(data.obsm["X_pca"]), result.obsm["X_pca"])
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = np.random.default_rng(0).normal(size=(30, 2))
        layout = h5py.VirtualLayout((30, 2), np.float64)
        layout[:] = h5py.VirtualSource(file["x"])
        file.create_group("g").create_virtual_dataset("v", layout)
        file["g/again"] = file["g"]
    with h5py.File(tmp_path / "x.h5") as file:
        assert np.array_equal(np.asarray(as_data(file["g/v"]).dense()), file["x"][:])


def test_references_within_a_file_are_followed(tmp_path: Path) -> None:
    """Categories of old AnnData, and scales of dimensions, of all kinds that HDF5 has; null ones lead nowhere."""
    import h5py

    path, result = tmp_path / "cells.h5ad", led_outside.cells()
    result.write_h5ad(path)
    with h5py.File(path, "r+") as file:
        codes, names = file["obs/kind/codes"][:], file["obs/kind/categories"][:]
        del file["obs/kind"]
        file["obs/kind"], file["obs/__categories/kind"] = codes, names
        file["obs/kind"].attrs["categories"] = file["obs/__categories/kind"].ref
        file["obs"].attrs["encoding-version"] = "0.1.0"
        file["uns/scale"] = np.arange(2.0)
        file["uns/scale"].make_scale("part")
        file["obsm/X_pca"].dims[1].attach_scale(file["uns/scale"])
        file["uns"].attrs.create("none", h5py.Reference(), dtype=h5py.ref_dtype)
        file["uns"].attrs["part"] = file["X"].regionref[:3]
    for size in (0, files.MIN_BLOCKWISE_BYTES):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "MIN_BLOCKWISE_BYTES", size)
            labels = as_data(path, labels="kind").labels
            assert labels is not None
            assert labels.values.tolist() == list("abc") * 10
    with h5py.File(path) as file:
        assert np.array_equal(np.asarray(as_data(file["obsm"]).dense()), result.obsm["X_pca"])
    with h5py.File(path, "r+") as file:
        file["uns/away"] = h5py.ExternalLink("other.h5", "x")
    with (
        h5py.File(path) as file,
        pytest.raises(InputError, match="'uns/away' is an external link"),  # where references lead is visited
    ):
        as_data(file["obsm"])


@pytest.mark.parametrize("version", [2, 3])
def test_a_folder_that_is_itself_a_link_is_read(version: int, tmp_path: Path) -> None:
    """The caller named it; in either format of zarr."""
    import anndata

    anndata.settings.zarr_write_format = version
    led_outside.cells().write_zarr(tmp_path / "cells.zarr")
    (tmp_path / "link.zarr").symlink_to(tmp_path / "cells.zarr")
    data = as_data(tmp_path / "link.zarr", labels="kind")
    assert np.array_equal(np.asarray(data.dense()), led_outside.cells().X)
    assert data.labels is not None
    assert data.labels.values.tolist() == list("abc") * 10


def test_a_copy_of_hard_links_is_read(tmp_path: Path) -> None:
    """A backup, as by ``cp -al``, is read, also after the original was deleted."""
    led_outside.cells().write_zarr(tmp_path / "cells.zarr")
    shutil.copytree(tmp_path / "cells.zarr", tmp_path / "copy.zarr", copy_function=os.link)
    for _ in range(2):
        data = as_data(tmp_path / "copy.zarr", labels="kind")
        assert np.array_equal(np.asarray(data.dense()), led_outside.cells().X)
        shutil.rmtree(tmp_path / "cells.zarr", ignore_errors=True)


@pytest.mark.parametrize("value", ["../../secret/", "x", "/../"])
def test_chunks_are_in_their_folder(value: str, tmp_path: Path) -> None:
    """The separator of the numbers is a part of the names of chunks."""
    about = {"zarr_format": 2, "shape": [9, 2], "chunks": [9, 2], "dtype": "<f8", "compressor": None, "fill_value": 0}
    (tmp_path / "x.zarr").mkdir()
    text = json.dumps(about | {"order": "C", "filters": None, "dimension_separator": value})
    (tmp_path / "x.zarr" / ".zarray").write_text(text)
    with pytest.raises(InputError, match=r"must be a readable \.zarr"):
        as_data(tmp_path / "x.zarr")


def test_too_many_links_or_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import h5py

    led_outside.cells().write_h5ad(tmp_path / "cells.h5ad")
    with h5py.File(tmp_path / "cells.h5ad", "r+") as file:
        file.create_group("uns/" + "g/" * 120)
    with pytest.raises(InputError, match="groups within each other"):
        as_data(tmp_path / "cells.h5ad")
    monkeypatch.setattr("dreval._inside.MAX_LINKS", 3)
    with pytest.raises(InputError, match="must have at most 3 links"):
        as_data(tmp_path / "cells.h5ad")


def test_anndata_in_a_file_that_leads_outside(tmp_path: Path) -> None:
    """AnnData that the caller opened, whose matrix is still in the file, is checked."""
    import anndata
    import h5py
    import scipy.sparse

    result = anndata.AnnData(scipy.sparse.random(30, 5, 0.5, "csr", random_state=0))
    result.write_h5ad(tmp_path / "cells.h5ad")
    (tmp_path / "other").mkdir()
    with h5py.File(tmp_path / "cells.h5ad", "r+") as file:
        old = file["X/data"]
        del file["X/data"]
        led_outside.storage(file["X"], "data", old, tmp_path / "other")
    cells = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for value in (cells, cells.X):
        with pytest.raises(InputError, match=r"must hold all of its data itself: got .*adata\.X\.to_memory"):
            as_data(value)
    for value in (cells.to_memory(), cells.X.to_memory()):
        dense = np.asarray(as_data(value).dense())
        assert np.array_equal(dense[dense != 0], led_outside.secret((result.X.nnz,)))
