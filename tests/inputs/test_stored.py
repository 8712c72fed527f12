"""Tables that are not in memory: the same numbers, notes and hashes as of arrays, read by blocks of rows."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import dreval
from dreval.errors import InputError, UnknownName
from dreval.geometry import blocks, streaming
from dreval.geometry.streaming import anchored_pass
from dreval.inputs import coordinates, features, files, source_kinds, stored
from dreval.inputs.data import as_data
from dreval.inputs.features import digest_of
from dreval.inputs.kinds import NOT_IN_MEMORY, kind_of
from dreval.inputs.source import as_source
from dreval.inputs.stored import LazyTable, as_stored
from dreval.inputs.variables import as_ids

RNG = np.random.default_rng(0)


def mapped(folder: Path, X: np.ndarray) -> Any:
    np.save(folder / "x.npy", np.asfortranarray(X))
    return np.load(folder / "x.npy", mmap_mode="r")


def parquet(folder: Path, X: np.ndarray) -> Any:
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    frame.to_parquet(folder / "x.parquet", row_group_size=max(1, len(X) // 3))
    return stored.open_parquet(folder / "x.parquet", "data")[0]


def hdf5(folder: Path, X: np.ndarray) -> Any:
    import h5py

    file = h5py.File(folder / "x.h5", "w")
    return file.create_dataset("x", data=X, chunks=(max(1, len(X) // 4), X.shape[1]))


def contiguous_hdf5(folder: Path, X: np.ndarray) -> Any:
    import h5py

    return h5py.File(folder / "x.h5", "w").create_dataset("x", data=X)


def in_zarr(folder: Path, X: np.ndarray) -> Any:
    import zarr

    array = zarr.open(str(folder / "x.zarr"), mode="w", shape=X.shape, chunks=(max(1, len(X) // 5), 2), dtype=X.dtype)
    array[:] = X
    return array


def in_dask(_: Path, X: np.ndarray) -> Any:
    import dask.array

    return dask.array.from_array(X, chunks=(max(1, len(X) // 3), 2))


def sparse_rows(folder: Path, X: np.ndarray, lazy: bool = False) -> Any:
    import anndata

    anndata.AnnData(sparse.csr_matrix(X)).write_h5ad(folder / "x.h5ad")
    if lazy:
        return anndata.experimental.read_lazy(folder / "x.h5ad").X
    return anndata.read_h5ad(folder / "x.h5ad", backed="r").X


def sparse_dask(folder: Path, X: np.ndarray) -> Any:
    return sparse_rows(folder, X, lazy=True)


doors = pytest.mark.doors
DENSE = [mapped, parquet, *(pytest.param(kind, marks=doors) for kind in (hdf5, contiguous_hdf5, in_zarr, in_dask))]
SPARSE = [pytest.param(kind, marks=doors) for kind in (sparse_rows, sparse_dask)]
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck))
FLOATS = [np.float32, np.float64]


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    """Return blocks of that many rows for all tables."""

    def split(table: Any, part: slice | None = None) -> list[slice]:
        start, stop = (0, table.shape[0]) if part is None else (part.start, part.stop)
        return [slice(at, min(at + size, stop)) for at in range(start, stop, size)]

    with pytest.MonkeyPatch.context() as patch:
        for module in (features, stored, streaming):
            patch.setattr(module, "row_blocks", split)
        yield


@contextmanager
def every_file_is_large(size: int = 0) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "MIN_BLOCKWISE_BYTES", size)
        yield


def table(seed: int, n: int, p: int, dtype: Any, zeros: float = 0.0) -> np.ndarray:
    """Numbers with ties, repeated rows and a constant column."""
    rng = np.random.default_rng(seed)
    X = np.round(3 * rng.normal(size=(n, p)), 1)
    X[rng.uniform(size=X.shape) < zeros] = 0.0
    X[n // 2], X[:, p - 1], X[0, 0] = X[1], 2.0, 40.0
    return X.astype(dtype)


def check_same(table: Any, X: Any, size: int, metric: str = "euclidean") -> None:
    """Check that the record, the summary, single rows, and anchored passes equal those of the array in memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = as_data(X, metric=metric)
        with blocks_of(size):
            data = as_data(table, metric=metric)
            assert isinstance(data.table, LazyTable)
            assert data.sha256 == expected.sha256 == digest_of(data.table)
            assert [note.code for note in data.notes] == [note.code for note in expected.notes]
            data.check_unchanged()
            dense = expected.dense()
            np.testing.assert_array_equal(data.dense(), dense)
            chosen_rows = np.sort(RNG.choice(data.n, min(7, data.n), replace=False))
            for positions in (
                chosen_rows,
                chosen_rows[::-1],
                slice(1, 3),
                slice(2, None, 2),
                np.isin(np.arange(data.n), chosen_rows),
            ):
                rows = data.table[positions]
                rows = rows.toarray() if data.sparse else rows
                np.testing.assert_array_equal(rows, dense[positions])
            np.testing.assert_array_equal(data.table[:, 1], dense[:, 1])
            Y = dense[:, :2] ** 2
            received = anchored_pass(data.table, {"y": Y}, chosen_rows, k=3, metric=metric)["y"]
        recorded = anchored_pass(expected.X, {"y": Y}, chosen_rows, k=3, metric=metric)["y"]
    for name in ("nearest_data", "nearest_embedding", "data_rank", "embedding_rank", "has_ties"):
        np.testing.assert_array_equal(getattr(received, name), getattr(recorded, name))


@pytest.mark.parametrize("kind", DENSE)
@given(data=st.data())
@QUICK
def test_dense_tables_are_as_arrays(kind: Callable[..., Any], data: Any) -> None:
    n, p = data.draw(st.integers(8, 40)), data.draw(st.integers(3, 5))
    dtype = data.draw(st.sampled_from([*FLOATS, np.float16, np.int32, np.uint8] if kind is not parquet else FLOATS))
    X = np.abs(table(data.draw(st.integers(0, 99)), n, p, np.float64)).astype(dtype)
    metric = data.draw(st.sampled_from(["euclidean", "cosine", "manhattan"]))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        result = kind(Path(folder), X)
        assert kind_of(result) in NOT_IN_MEMORY
        check_same(result, X if dtype in FLOATS else X.astype(np.float64), data.draw(st.integers(1, n)), metric)


@pytest.mark.parametrize("kind", SPARSE)
@given(data=st.data())
@settings(QUICK, max_examples=5)
def test_sparse_tables_are_as_matrices(kind: Callable[..., Any], data: Any) -> None:
    n, p = data.draw(st.integers(8, 40)), data.draw(st.integers(3, 5))
    X = table(data.draw(st.integers(0, 99)), n, p, data.draw(st.sampled_from(FLOATS)), zeros=0.5)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        result = kind(Path(folder), X)
        check_same(result, sparse.csr_matrix(X), data.draw(st.integers(1, n)))
        assert as_data(result, metric="correlation").table.shape == X.shape if (np.ptp(X, axis=1) > 0).all() else True


def test_the_hash_of_sparse_rows_does_not_depend_on_blocks() -> None:
    """Neither blocks nor the type of the indices change it; another position does."""
    X = sparse.csr_array(table(0, 30, 4, np.float64, zeros=0.6))
    wide = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), X.shape)
    result = {digest_of(X), digest_of(wide)}
    with blocks_of(3):
        result.add(digest_of(wide))
    assert len(result) == 1
    assert digest_of(X[:, ::-1].tocsr()) not in result


LARGE_N = 200


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few points count as many."""
    monkeypatch.setattr(blocks, "ALL_RANKS", 100)
    monkeypatch.setattr(coordinates, "MAX_COPIED_ROWS", 100)


NAMES = [
    "trustworthiness",
    "neighborhood_overlap",
    "procrustes_rc",
    "pearson_distance",
    "spearman_distance",
    "silhouette",
    "procrustes_disparity",
]


def numbers(X: Any, Y: Any, labels: Any, **settings: Any) -> tuple[np.ndarray, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ev = dreval.Evaluation(X, {"y": Y}, labels=labels, anchors=40, n_neighbors=4, random_state=1, **settings)
        results = ev.run(NAMES, "hsic", n_resamples=9)
    return results.table[["value", "conf_low", "conf_high", "p_value"]].to_numpy(float), results


@pytest.mark.parametrize("kind", DENSE)
def test_an_evaluation_reads_blocks(kind: Callable[..., Any], tmp_path: Path, small_limits: None) -> None:
    """Data and coordinates are not copied, and every number equals that of arrays."""
    X = table(0, LARGE_N, 5, np.float32)
    Y = (X[:, :2] + RNG.normal(size=(LARGE_N, 2))).astype(np.float32)
    labels = np.arange(LARGE_N) % 3
    (tmp_path / "y").mkdir()
    expected, _ = numbers(X, Y.astype(float), labels)
    with blocks_of(37):
        coordinates = mapped(tmp_path / "y", Y) if kind is parquet else kind(tmp_path / "y", Y)
        result, results = numbers(kind(tmp_path, X), coordinates, labels)
        assert type(vars(results)["embeddings"]._values["y"]) is np.ndarray  # not the later content of the file
        assert results.embeddings["y"].dtype == np.float32
        assert isinstance(results.data, LazyTable)
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    assert "y" in str(results)
    assert len(results.augment("y")) == LARGE_N
    results.save(tmp_path / "r.dreval")
    np.testing.assert_array_equal(dreval.load_results(tmp_path / "r.dreval").embeddings["y"], Y)


def test_coordinates_of_many_points_are_not_copied(small_limits: None, tmp_path: Path) -> None:
    """They are the caller's table, protected from writing through the results, and a change raises an error."""
    X, Y = table(0, LARGE_N, 5, np.float64), RNG.normal(size=(LARGE_N, 2)).astype(np.float32)
    np.save(tmp_path / "y.npy", Y)
    for separate in (Y, np.load(tmp_path / "y.npy", mmap_mode="r+")):
        ev = dreval.Evaluation(X, {"y": separate}, anchors=40, n_neighbors=4, random_state=0)
        values = ev["y"].values
        assert np.shares_memory(values, separate)
        assert not values.flags.writeable
        assert ev.run("trustworthiness", None, None).embeddings["y"].dtype == np.float32
        separate[3] += 1
        with pytest.raises(InputError, match="must stay as they were when they were passed"):
            ev.run("trustworthiness", None, None)
    small = dreval.Evaluation(X[:50], {"y": Y[:50]}, random_state=0)
    assert not np.shares_memory(small["y"].values, Y)


@pytest.mark.parametrize("kind", ["array", "map", "stored"])
@pytest.mark.parametrize("owned", [1 << 20, 0])
def test_results_do_not_change_with_the_coordinates(
    kind: str, owned: int, small_limits: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They store a copy, also of a deleted file; of very large ones none, and raise an error for changed ones."""
    monkeypatch.setattr(source_kinds, "MAX_COPIED_BYTES", owned)
    X, path = table(0, LARGE_N, 5, np.float64), tmp_path / "y.npy"
    Y = RNG.normal(size=(LARGE_N, 2)).astype(np.float32)
    np.save(path, Y)
    separate = Y.copy() if kind == "array" else np.load(path, mmap_mode="r+")
    passed = as_stored(np.asfortranarray(separate), "y") if kind == "stored" else separate
    if kind == "stored":
        separate = passed.reader.source
    results = dreval.Evaluation(X, {"y": passed}, anchors=40, n_neighbors=4, random_state=0).run(
        "continuity", None, None
    )
    np.testing.assert_array_equal(results.embeddings["y"], Y)
    assert results.embeddings["y"].shape == (LARGE_N, 2)
    separate[3] += 1
    if owned:
        path.unlink()
        np.testing.assert_array_equal(results.embeddings["y"], Y)
        assert results.embeddings["y"].dtype == np.float32
    else:
        with pytest.raises(InputError, match=r"embeddings\['y'\].*coordinates that have changed since"):
            results.embeddings["y"]
        separate[3] = Y[3]
    assert len(results.augment("y")) == LARGE_N


def test_all_points_are_read_into_memory_below_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few points, methods and precomputed distances need the whole table; above the limit this raises an error."""
    X = table(0, 60, 5, np.float32)
    result = mapped(tmp_path, X)
    ev = dreval.Evaluation(result, {"pca": "pca", "y": X[:, :2]}, random_state=0)
    expected = dreval.Evaluation(X, {"pca": "pca", "y": X[:, :2]}, random_state=0)
    pd.testing.assert_frame_equal(
        ev.run(ci=None).table.drop(columns="seconds"), expected.run(ci=None).table.drop(columns="seconds")
    )
    D = np.abs(X[:, :1] - X[:, :1].T)
    distances = as_stored(np.load(_saved(tmp_path / "d.npy", D.T), mmap_mode="r"), "data")
    assert np.array_equal(as_data(distances, metric="precomputed").X, D)
    monkeypatch.setattr(features, "DENSE_LIMIT", 1000)
    monkeypatch.setenv("DREVAL_READ_LIMIT", "1000")
    with pytest.raises(InputError, match=r"must take at most .* where all of it is needed at once: got a numpy array"):
        np.asarray(as_data(result).X)


def _saved(path: Path, X: np.ndarray) -> Path:
    np.save(path, np.asfortranarray(X))
    return path


def test_a_mapped_array_of_floats_is_used_as_it_is(tmp_path: Path) -> None:
    """In C order its rows are read directly; a large .npy file is mapped, a small one read."""
    X = table(0, 30, 3, np.float32)
    np.save(tmp_path / "x.npy", X)
    separate = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(as_data(separate).table, separate)
    with every_file_is_large():
        data = as_data(tmp_path / "x.npy")
    base = data.table
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    np.save(tmp_path / "o.npy", np.array([[1, "a"]] * 9, dtype=object), allow_pickle=True)
    with every_file_is_large(), pytest.raises(InputError, match="pickled objects, which are never loaded"):
        as_data(tmp_path / "o.npy")


def test_names_are_held_once() -> None:
    """Names that are found to be different leave no table of them behind."""
    names = pd.Index([f"cell{j}" for j in range(50_000)])
    tracemalloc.start()
    as_ids(names, "ids")
    lasting = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert lasting < 8 * len(names) / 4


@pytest.mark.doors
@pytest.mark.parametrize(("chunk", "usual", "most"), [((2**20, 1), 10, 1), ((2**17, 1), 10, 4), ((2**17, 1), 3, 3)])
def test_few_chunks_of_zarr_are_read_at_once(
    chunk: tuple[int, int], usual: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as fit into 2 MiB, and at most the user's limit; the setting is restored, also after errors."""
    import zarr

    if not hasattr(zarr, "config"):
        pytest.skip("zarr 2 reads one chunk after another")
    result = zarr.open(str(tmp_path / "x.zarr"), mode="w", shape=(2**20, 12), chunks=chunk, dtype="f4", fill_value=1)
    recorded: list[int] = []

    class Watched:
        shape, chunks, dtype = result.shape, result.chunks, result.dtype

        def __getitem__(self, rows: slice) -> Any:
            recorded.append(zarr.config.get("async.concurrency"))
            if rows.start:
                raise OSError("gone")
            return result[rows]

    Watched.__module__, Watched.__name__ = "zarr", "Array"
    with zarr.config.set({"async.concurrency": usual}):
        table = as_stored(Watched(), "data")
        monkeypatch.setattr(stored, "MAX_CACHED_PART_BYTES", 0)
        assert (table[:100] == 1).all()
        with pytest.raises(InputError, match="gone"):
            table[100:200]
        assert zarr.config.get("async.concurrency") == usual
    assert recorded == [most, most]


@pytest.mark.doors
def test_threads_that_read_zarr_leave_its_setting(tmp_path: Path) -> None:
    """Two tables that are read in turn in two threads: the last one to finish restores the user's setting."""
    import zarr

    if not hasattr(zarr, "config"):
        pytest.skip("zarr 2 has no such setting")
    tables = []
    for name in "ab":
        (tmp_path / name).mkdir()
        tables.append(as_stored(in_zarr(tmp_path / name, RNG.normal(size=(400, 6))), "data"))
    before = zarr.config.get("async.concurrency")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda k: tables[k % 2][k : k + 150], range(60)))
    assert zarr.config.get("async.concurrency") == before


def test_a_large_parquet_file(tmp_path: Path) -> None:
    """Its columns can be labels, covariates and ids; text among the features has the error of small files."""
    X = table(0, 50, 3, np.float32)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"r{i}" for i in range(50)])
    frame["kind"], frame["age"] = pd.Categorical(list("xyxyy") * 10), np.arange(50.0)
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, row_group_size=7)
    small = as_data(path, labels="kind", covariates="age")
    with every_file_is_large(), blocks_of(4):
        data = as_data(path, labels="kind", covariates="age")
        assert isinstance(data.table, LazyTable)
        assert (data.sha256, data.columns, list(data.ids)) == (small.sha256, ("a", "b", "c"), list(small.ids))
        assert data.labels.values.tolist() == list(frame["kind"])
        np.testing.assert_array_equal(data.covariates["age"], frame["age"])
        with pytest.raises(InputError) as large:
            as_data(path, covariates="age")
        coordinates = as_source(path, "y", data)
    with pytest.raises(InputError) as expected:
        as_data(path, covariates="age")
    assert str(large.value) == str(expected.value)
    np.testing.assert_array_equal(coordinates.coordinates(data), X)
    frame.loc["r31", "b"] = np.nan
    frame.drop(columns=["kind", "age"]).to_parquet(path, row_group_size=7)
    with every_file_is_large(), blocks_of(4), pytest.raises(InputError, match="NaN in row 31, column 'b'"):
        as_data(path)


@doors
def test_anndata_in_files(tmp_path: Path) -> None:
    """X, layers and obsm of large .h5ad files and .zarr folders, of backed and lazy objects; obs gives the labels."""
    import anndata

    X = table(0, 40, 5, np.float32, zeros=0.5)
    for form in (np.asarray, sparse.csr_matrix):
        obs = pd.DataFrame({"kind": pd.Categorical(list("abcd") * 10)}, index=[f"c{i}" for i in range(40)])
        cells = anndata.AnnData(form(X), obs=obs)
        cells.obsm["X_umap"], cells.layers["counts"] = X[:, :2].astype(float), form(X * 2)
        cells.raw = cells.copy()
        cells.write_h5ad(tmp_path / f"{form.__name__}.h5ad")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cells.write_zarr(tmp_path / f"{form.__name__}.zarr")
        with every_file_is_large():
            for value in (
                tmp_path / f"{form.__name__}.h5ad",
                tmp_path / f"{form.__name__}.zarr",
                anndata.read_h5ad(tmp_path / f"{form.__name__}.h5ad", backed="r"),
                anndata.experimental.read_lazy(tmp_path / f"{form.__name__}.h5ad"),
            ):
                data = as_data(value, labels="kind")
                assert isinstance(data.table, LazyTable)
                assert data.sparse == (form is not np.asarray)
                assert data.sha256 == as_data(cells).sha256
                assert list(data.ids) == list(obs.index)
                assert data.labels.values.tolist() == obs["kind"].tolist()
                counts = as_data(value, layer="counts")
                np.testing.assert_array_equal(counts.dense(), 2 * X)
                np.testing.assert_array_equal(as_source("umap", "u", data).coordinates(data), X[:, :2])
        assert np.array_equal(as_data(f"{tmp_path / form.__name__}.zarr:raw").dense(), X)
        assert np.array_equal(as_data(f"{tmp_path / form.__name__}.zarr:obsm:X_umap").dense(), X[:, :2])
        with every_file_is_large():
            reversed_source = as_source(
                f"{tmp_path / form.__name__}.zarr:obsm:X_umap", "u", as_data(cells[::-1].copy())
            )
        np.testing.assert_array_equal(np.asarray(reversed_source.coordinates(as_data(cells[::-1].copy()))), X[::-1, :2])
    with pytest.raises(UnknownName, match="counts"):
        as_data(tmp_path / f"{form.__name__}.zarr", layer="count")
    by_columns = anndata.AnnData(sparse.csc_matrix(X))
    by_columns.write_h5ad(tmp_path / "columns.h5ad")
    assert not isinstance(as_data(anndata.read_h5ad(tmp_path / "columns.h5ad", backed="r")).table, LazyTable)


@doors
@pytest.mark.parametrize(
    ("suffix", "lazy", "form"), [("h5ad", False, "dense"), ("zarr", False, "sparse"), ("h5ad", True, "sparse")]
)
def test_memory_is_that_of_blocks(tmp_path: Path, small_limits: None, suffix: str, lazy: bool, form: str) -> None:
    """Intake and evaluation of a lazy object allocate less than the matrix takes."""
    import anndata

    def write_tables(n: int) -> tuple[Path, int]:
        X = sparse.random(n, 1000, 0.04, format="csr", dtype=np.float32, random_state=0)
        X = RNG.normal(size=(n, 200)).astype(np.float32) if form == "dense" else X
        cells, path = anndata.AnnData(X, obsm={"X_umap": RNG.normal(size=(n, 2))}), tmp_path / f"c{n}.{suffix}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cells.write_h5ad(path) if suffix == "h5ad" else cells.write_zarr(path)
        return path, X.nbytes if form == "dense" else X.data.nbytes + X.indices.nbytes

    def evaluated(path: Path) -> Any:
        with every_file_is_large(), blocks_of(1000):
            value = anndata.experimental.read_lazy(path) if lazy else path
            ev = dreval.Evaluation(value, {"u": "umap"}, anchors=20, n_neighbors=4, random_state=0)
            return ev.run("trustworthiness", None, None)

    evaluated(write_tables(2000)[0])  # so that neither compilation nor imports count
    path, size = write_tables(40_000)
    tracemalloc.start()
    try:
        results = evaluated(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0 < results.table["value"][0] < 1
    assert peak < 0.8 * size


class Rows:
    """A reader of rows of a file on a worker that kills the worker once if a marker file exists."""

    def __init__(self, path: Path) -> None:
        self.path, self.order = path, path.with_suffix(".kill")

    def __call__(self, block_info: Any = None) -> Any:
        start, stop = block_info[None]["array-location"][0]
        if start >= LARGE_N // 2 and self.order.exists():
            self.order.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.load(self.path)[start:stop]


@doors
def test_dask_sends_the_passes_to_workers(small_limits: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two processes the numbers are those of arrays, also where one of them is killed in a pass."""
    import cloudpickle
    import dask.array
    from distributed import Client, LocalCluster

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    X = table(0, LARGE_N, 5, np.float32)
    Y = (X[:, :2] + RNG.normal(size=(LARGE_N, 2))).astype(np.float32)
    labels, names = np.arange(LARGE_N) % 3, ["trustworthiness", "procrustes_disparity", "triplet_accuracy"]
    np.save(tmp_path / "x.npy", X)
    cuts = tuple(min(60, LARGE_N - at) for at in range(0, LARGE_N, 60))
    rows = Rows(tmp_path / "x.npy")
    lazy = dask.array.map_blocks(rows, chunks=(cuts, (5,)), dtype=np.float32, meta=X[:0])
    passed = {"labels": labels, "anchors": 40, "n_neighbors": 4, "random_state": 1}
    expected = dreval.Evaluation(X, {"y": Y.astype(float)}, **passed).run(names, None).table
    monkeypatch.setattr(stored, "MAX_TASK_BYTES", 60 * 40)  # a task for every chunk
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            before = set(client.run(os.getpid).values())
            calls: list[str] = []
            original = stored.on_workers
            monkeypatch.setattr(
                streaming, "on_workers", lambda *args, **keywords: calls.append(args[2]) or original(*args, **keywords)
            )
            for chunks in (60, 250):
                ev = dreval.Evaluation(lazy.rechunk((chunks, 5)), {"y": Y}, **passed)
                rows.order.touch()
                result = ev.run(names, None).table
                assert not rows.order.exists()
                for column in ("value", "conf_low", "conf_high", "chance"):
                    np.testing.assert_allclose(result[column], expected[column], rtol=1e-12)
            client.wait_for_workers(2)
            assert len(before - set(client.run(os.getpid).values())) > 0
    assert {streaming._chunk_state, streaming._values_in_chunk} == set(calls)


@doors
@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_dask_without_a_cluster(scheduler: str, small_limits: None) -> None:
    """The submitted functions give the same with any scheduler: chunks of any shape, more than one column block, sparse
    rows.
    """
    import dask
    import dask.array
    from scipy.sparse import csr_matrix

    X = np.where(RNG.random((LARGE_N, 5)) < 0.4, 0, table(0, LARGE_N, 5, np.float64))
    Y = X[:, :2] + RNG.normal(size=(LARGE_N, 2))
    labels = np.arange(LARGE_N) % 3
    expected, _ = numbers(X, Y, labels)
    lazy = dask.array.from_array(X, chunks=(37, 2)), dask.array.from_array(Y, chunks=(110, 1))
    sparse = dask.array.from_array(X, chunks=(90, 5)).map_blocks(csr_matrix)
    with dask.config.set(scheduler=scheduler), pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "has_workers", lambda: True)
        patch.setattr(stored, "MAX_LEG_BYTES", 8 * 5 * 100)
        patch.setattr(stored, "MAX_TASK_BYTES", 8 * 5 * 50)
        for data, embedding in ((lazy[0], lazy[1]), (lazy[0], Y), (X, lazy[1]), (sparse, Y)):
            result, _ = numbers(data, embedding, labels)
            np.testing.assert_allclose(result, expected, rtol=1e-12)


@doors
def test_invalid_tables_raise_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that are not tables of real numbers, cannot be read, run code or fill the memory raise errors."""
    import dask.array
    import h5py
    import zarr

    X = table(0, 30, 3, np.float64)
    file = h5py.File(tmp_path / "x.h5", "w")
    file["x"], file["y"] = X, X
    with pytest.raises(InputError, match=r"got a group with x, y\. Name one of them: group\['x'\]"):
        as_data(file)
    file.create_dataset("text", data=np.array([[b"a"]] * 9, dtype=object), dtype=h5py.string_dtype())
    for value, requirement in (
        (file["text"], "must hold numbers"),
        (dask.array.from_array(X + 1j), "must be real"),
        (dask.array.from_array(X[None]), "must be a table of rows and columns"),
        (dask.array.from_array(X)[dask.array.from_array(X[:, 0] > 0)], "must have a known number of rows"),
        (dask.array.from_array(np.full((9, 2), 2**60)), "must hold integers up to 2\\*\\*53"),
        (dask.array.from_array(X[:3]), "must have at least 4 rows"),
        (dask.array.from_array(np.ones((9, 2))), "must vary"),
        (dask.array.from_array(np.ma.masked_less(X, 0)), "must have no masked cells"),
        (dask.array.from_array(X).map_blocks(lambda block: block / "a", dtype=float), "must be readable"),
    ):
        with pytest.raises(InputError, match=requirement):
            as_data(value)
    bad = X.copy()
    bad[[3, 17, 20, 25], 1] = np.nan
    for value in (bad, dask.array.from_array(bad, chunks=(4, 2))):
        with pytest.raises(InputError, match=r"NaN in row 3, column 1, NaN in row 17, column 1, .* and 1 more"):
            as_data(value)
    data = as_data(file["x"])
    file["x"][0, 0] += 1
    with pytest.raises(InputError, match="must stay as they were"):
        data.check_unchanged()
    file.close()
    with pytest.raises(InputError, match="must be readable: got an h5py array"):
        data.check_unchanged()
    old = {"zarr_format": 2} if int(zarr.__version__[0]) > 2 else {}
    array = zarr.open(str(tmp_path / "x.zarr"), mode="w", shape=X.shape, chunks=(5, 3), dtype=float, **old)
    array[:] = X
    assert np.array_equal(as_data(tmp_path / "x.zarr").X, X)
    about = json.loads((tmp_path / "x.zarr/.zarray").read_text())
    (tmp_path / "x.zarr/.zarray").write_text(json.dumps({**about, "filters": [{"id": "pickle", "protocol": 5}]}))
    with pytest.raises(InputError, match="pickled objects, which are never loaded"):
        as_data(tmp_path / "x.zarr")
    (tmp_path / "x.zarr/.zarray").write_text(json.dumps({**about, "shape": [2**40, 3]}))
    with pytest.raises(InputError, match="must unpack to at most"):
        as_data(tmp_path / "x.zarr")
    (tmp_path / "x.zarr/.zarray").write_text("{")
    with pytest.raises(InputError, match=r"must be a readable \.zarr"):
        as_data(tmp_path / "x.zarr")
    monkeypatch.setattr(features, "DENSE_LIMIT", 500)
    with pytest.raises(InputError, match="must have chunks of at most"):
        as_data(h5py.File(tmp_path / "big.h5", "w").create_dataset("x", (100, 3), "f8", chunks=(100, 3)))
    with pytest.raises(UnknownName, match="must be an existing file"):
        as_data(tmp_path / "none.zarr")
