"""AnnData in and out: the selected matrix in memory or in a file, and values that are written next to the cells."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import call
from scipy import sparse

import dreval
from dreval.errors import InputError, UnknownName
from dreval.inputs import files
from dreval.inputs.data import as_data
from dreval.inputs.source import as_source
from dreval.records.results import Results

pytestmark = pytest.mark.doors

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(2.0, size=(24, 5)).astype(np.float32)
PCA, UMAP = RNG.normal(size=(24, 3)), RNG.normal(size=(24, 2))
CELLS = [f"cell{i}" for i in range(24)]
GENES = [f"gene{j}" for j in range(5)]


@pytest.fixture
def ad() -> ModuleType:
    import anndata

    return anndata


def example(ad: ModuleType, X: Any = COUNTS) -> Any:
    """Return cells with everything that can be selected."""
    obs = pd.DataFrame({"kind": pd.Categorical(list("abc") * 8), "depth": np.arange(24.0)}, index=CELLS)
    adata = ad.AnnData(X.copy(), obs=obs, var=pd.DataFrame(index=GENES))
    adata.obsm["X_pca"], adata.obsm["X_umap"] = PCA.copy(), UMAP.copy()
    adata.layers["counts"] = X.copy()
    adata.raw = adata.copy()
    adata.X = X * 2
    return adata


@pytest.fixture(params=["dense", "csr", "csc"])
def adata(request: pytest.FixtureRequest, ad: ModuleType) -> Any:
    forms = {"dense": np.asarray, "csr": sparse.csr_matrix, "csc": sparse.csc_array}
    return example(ad, forms[request.param](COUNTS))


@pytest.mark.parametrize("form", ["object", "h5ad", "zarr", "backed"])
def test_a_pca_next_to_x_is_noted(ad: ModuleType, form: str, tmp_path: Path) -> None:
    """It is noted where X is used, in memory and in files, and not where a matrix is selected."""
    adata, path = example(ad), tmp_path / f"a.{form}"
    if form == "zarr":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on the format of later versions
            adata.write_zarr(path)
    elif form in ("h5ad", "backed"):
        path = tmp_path / "a.h5ad"
        adata.write_h5ad(path)
    data = {"object": adata, "backed": ad.read_h5ad(path, backed="r") if form == "backed" else None}.get(form, path)
    for options, expected in (({}, 1), ({"layer": "counts"}, 0), ({"use_rep": "X_pca"}, 0)):
        assert [note.code for note in as_data(data, **options).notes].count("data.pca_unused") == expected


@pytest.mark.parametrize("key", ["distances", "connectivities"])
@pytest.mark.parametrize("form", ["matrix", "layer", "file"])
def test_graphs_of_cells_are_not_features(ad: ModuleType, key: str, form: str, tmp_path: Path) -> None:
    """Graphs that tools store in obsp raise an error."""
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(PCA, 7, mode="distance")
    graph = graph if key == "distances" else graph.maximum(graph.T)
    adata = ad.AnnData(np.zeros((24, 24)))
    adata.layers["graph"] = graph
    adata.write_h5ad(tmp_path / "a.h5ad")
    data, options = {
        "matrix": (graph, {}),
        "layer": (adata, {"layer": "graph"}),
        "file": (f"{tmp_path / 'a.h5ad'}:graph", {}),
    }[form]
    with pytest.raises(InputError, match="not a graph"):
        as_data(data, **options)


LAYERS = [(None, COUNTS * 2), ("counts", COUNTS), ("raw", COUNTS), ("X_pca", PCA)]


def keyword_of(name: str | None) -> dict[str, str | None]:
    """The keyword that chooses a matrix."""
    return {"use_rep": name} if name == "X_pca" else {"layer": name}


@pytest.mark.parametrize(("layer", "expected"), LAYERS)
def test_the_selected_matrix(adata: Any, tmp_path: Path, layer: str | None, expected: np.ndarray) -> None:
    """X, a layer, raw counts and an array of obsm: in memory, of a view, read from a file, and left in the file."""
    import anndata

    adata.write(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    rows = np.r_[3, 1, 20:24, 7]
    for value, chosen in (
        (adata, slice(None)),
        (adata[rows], rows),
        (adata[rows].copy(), rows),
        (tmp_path / "cells.h5ad", slice(None)),
        (backed, slice(None)),
        (backed[10:], slice(10, None)),
    ):
        data = as_data(value, **keyword_of(layer), labels="kind", covariates="depth")
        assert np.array_equal(data.dense(), expected[chosen])
        assert list(data.ids) == list(np.array(CELLS)[chosen])
        assert data.columns == (None if layer == "X_pca" else tuple(GENES))
        assert data.labels.values.tolist() == list(np.array(list("abc") * 8)[chosen])
        assert np.array_equal(data.covariates["depth"], np.arange(24.0)[chosen])
        assert data.sparse == (layer != "X_pca" and not isinstance(adata.X, np.ndarray))
    backed.file.close()
    if layer is not None:
        member = f"obsm:{layer}" if layer == "X_pca" else layer
        assert np.array_equal(as_data(f"{tmp_path / 'cells.h5ad'}:{member}").dense(), expected)


def test_frames_in_obsm(ad: ModuleType) -> None:
    """An array of obsm may be a frame with its own names; without X there must be a layer."""
    adata = example(ad)
    adata.obsm["X_pca"] = pd.DataFrame(PCA, index=CELLS, columns=["PC1", "PC2", "PC3"])
    assert as_data(adata, use_rep="X_pca").columns == ("PC1", "PC2", "PC3")
    bare = ad.AnnData(obs=adata.obs.copy(), obsm={"X_pca": PCA})
    with pytest.raises(InputError, match="Name one: use_rep='X_pca'"):
        as_data(bare)
    assert np.array_equal(as_data(bare, use_rep="X_pca").X, PCA)
    assert np.array_equal(dreval.embed(bare, "pca", use_rep="X_pca"), dreval.embed(PCA, "pca"))
    with pytest.raises(UnknownName, match="Did you mean use_rep='X_pca'"):
        as_data(adata, layer="X_pca")


@pytest.mark.filterwarnings("ignore")  # on the format of later versions of zarr
@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("suffix", ["h5ad", "zarr"])
@pytest.mark.parametrize("kind", ["frame", "csr", "csc", "nothing", "arrays"])
def test_groups_in_obsm(
    kind: str, suffix: str, blocks: bool, ad: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames and sparse matrices are read, whole and by blocks; groups of arrays raise the same error."""
    import h5py
    import zarr

    monkeypatch.setattr(files, "MIN_BLOCKWISE_BYTES", 0 if blocks else files.MIN_BLOCKWISE_BYTES)
    adata, path = example(ad), tmp_path / f"a.{suffix}"
    forms = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
    if kind == "frame":
        adata.obsm["more"] = pd.DataFrame(PCA, index=CELLS, columns=list("abc"))
    elif kind in forms:
        adata.obsm["more"] = forms[kind](PCA)
    getattr(adata, f"write_{suffix}")(path)
    if kind in ("nothing", "arrays"):
        file = h5py.File(path, "r+") if suffix == "h5ad" else zarr.open_group(str(path), mode="r+")
        group = file["obsm"].create_group("more")
        if kind == "arrays":
            group.attrs.update({"encoding-type": "dict", "encoding-version": "0.1.0"})
            group.create_group("a")
        if suffix == "h5ad":
            file.close()
        held = {"nothing": "nothing", "arrays": "'a'"}[kind]
        for call in (
            lambda: as_data(path),
            lambda: as_data(path, use_rep="more"),
            lambda: dreval.trustworthiness(PCA, f"{path}:obsm:more"),
        ):
            with pytest.raises(
                InputError, match=f"'obsm/more' is a group with {held}.* leave it out: del .*'obsm/more'"
            ):
                call()
        return
    assert np.array_equal(np.asarray(as_data(path, use_rep="more").dense()), PCA)
    assert dreval.trustworthiness(PCA, f"{path}:obsm:more") == 1


def test_embeddings_are_matched_by_name(ad: ModuleType, tmp_path: Path) -> None:
    """A key of obsm belongs to its cells; other objects and files are matched by obs_names, never by position."""
    adata = example(ad)
    shuffled = example(ad)[RNG.permutation(24)].copy()
    shuffled.write(tmp_path / "other.h5ad")
    data = as_data(adata, use_rep="X_pca")
    for source in (
        as_source("X_umap", "u", data),
        as_source(shuffled, "u", data, use_rep="X_umap"),
        as_source(f"{tmp_path / 'other.h5ad'}:obsm:X_umap", "u", data),
        as_source(pd.DataFrame(UMAP, index=CELLS).iloc[::-1], "u", data),
    ):
        assert np.array_equal(source.coordinates(data), UMAP)
    kinds = adata.obs["kind"].sample(frac=1, random_state=0)
    assert as_data(adata, labels=kinds).labels.values.tolist() == adata.obs["kind"].tolist()
    with pytest.raises(InputError, match="must name one array of an AnnData object"):
        as_source(shuffled, "u", data)
    with pytest.raises(InputError, match="must have the same ids as the data"):
        as_source(shuffled[:10].copy(), "u", data, use_rep="X_umap")


def test_a_name_is_looked_up_in_obsm_first(ad: ModuleType, tmp_path: Path) -> None:
    """ "umap" is the stored map, with and without X_ before it, in memory and from a file; "method:umap" is the method.

    The repr, the notes, the recipe and the call text state the source of the names.
    """
    cells = example(ad)
    cells.obsm["X_isomap"] = PCA[:, :2].copy()
    cells.write_h5ad(tmp_path / "cells.h5ad")
    for data in (cells, tmp_path / "cells.h5ad"):
        ev = dreval.Evaluation(data, {"isomap": "isomap", "key": "X_isomap"}, n_neighbors=4, random_state=0)
        ev = ev.with_embedding("run", "method:isomap", n_neighbors=6)
        results = ev.run("trustworthiness", None, None)

        for name in ("isomap", "key"):
            np.testing.assert_array_equal(results.embeddings[name], PCA[:, :2])
            assert results.recipe["sources"][name]["what"] == "obsm['X_isomap']"
        expected = dreval.methods.Isomap(2, n_neighbors=6).fit_transform(cells.X)
        np.testing.assert_allclose(np.abs(results.embeddings["run"]), np.abs(expected), rtol=1e-6)
        labeled = "coordinates stored in obsm['X_isomap']"
        assert f"isomap: {labeled}; the bundled method is 'method:isomap'." in set(results.notes["text"])
        assert f"key: {labeled}." in set(results.notes["text"])
        rows = [" ".join(line.split()) for line in repr(ev).splitlines()]
        assert {"isomap coordinates obsm['X_isomap']", "run method isomap"} <= set(rows)
        assert "'isomap': 'X_isomap'" in results.recipe["call"]
        assert "'run', 'method:isomap', n_neighbors=6" in results.recipe["call"]
        assert labeled in " ".join(str(results.summary(full=True)).split())
        assert "X_isomap" in ev._repr_html_()
    assert dreval.embed(cells, "isomap", n_neighbors=6).method == "isomap"
    row = ev.with_embedding("e", "isomap", n_neighbors=5).run("stress", None, None).table.iloc[-1]
    assert "takes no options for coordinates stored in obsm['X_isomap']; the bundled method is" in row["note"]


@pytest.mark.filterwarnings("ignore")  # on the format of later versions of zarr
@pytest.mark.parametrize("form", ["object", "view", "backed", "h5ad", "blocks", "zarr"])
def test_columns_of_obs_color_the_points(
    ad: ModuleType, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns of obs and genes by name; classes have the colors of uns, wherever the cells come from."""
    adata = example(ad, sparse.csr_matrix(COUNTS))
    adata.obs["number"], adata.uns["kind_colors"] = np.arange(24), np.array(["#ff0000", "#00ff00", "#0000ff"])
    adata.uns["depth_colors"] = np.array(["#123456"])  # of no classes
    monkeypatch.setattr(files, "MIN_BLOCKWISE_BYTES", 0 if form == "blocks" else files.MIN_BLOCKWISE_BYTES)
    data = {"object": adata, "view": adata[:, :4]}.get(form)
    if data is None:
        path = tmp_path / f"a.{'zarr' if form == 'zarr' else 'h5ad'}"
        getattr(adata, f"write_{path.suffix[1:]}")(path)
        data = ad.read_h5ad(path, backed="r") if form == "backed" else path
    ev = dreval.Evaluation(data, {"umap": "X_umap"}, labels="kind", n_neighbors=4, random_state=0)
    results = ev.run("stress", None, None)
    assert results._palettes["kind"] == {"a": "#ff0000", "b": "#00ff00", "c": "#0000ff"}
    assert results._palettes.keys() == {"kind", "labels"}
    for figure in (results.plot(), results.plot(color="kind")):
        assert {"#ff0000", "#00ff00", "#0000ff"} <= colors_of(figure)
    assert not {"#ff0000", "#00ff00"} & colors_of(results.plot(color=list("abc") * 8))
    for name, values in (("depth", np.arange(24.0)), ("number", np.arange(24)), ("gene2", 2.0 * COUNTS[:, 2])):
        assert colors_of(results.plot(color=name)) == colors_of(results.plot(color=pd.Series(values, name=name)))
    with pytest.raises(UnknownName, match=r"Did you mean 'depth'\? Variables: kind, depth, number\."):
        results.plot(color="dept")


@pytest.mark.parametrize("form", ["object", "h5ad", "blocks"])
def test_colors_that_are_no_list_are_left_out(
    ad: ModuleType, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other programs may store a dict under the key of the colors; the cells are read all the same."""
    adata, path = example(ad), tmp_path / "a.h5ad"
    adata.uns["kind_colors"] = {"a": "#ff0000", "b": "#00ff00", "c": "#0000ff"}
    adata.write_h5ad(path)
    monkeypatch.setattr(files, "MIN_BLOCKWISE_BYTES", 0 if form == "blocks" else files.MIN_BLOCKWISE_BYTES)
    data = as_data(adata if form == "object" else path, labels="kind")
    assert data.palettes == {}
    assert data.labels is not None


def colors_of(figure: Any) -> set[str]:
    """Return the colors of the points of a figure."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import PathPatch

    return {to_hex(patch.get_edgecolor()) for patch in figure.findobj(PathPatch)}


def test_no_other_library_warns(ad: ModuleType) -> None:
    """A session with cells warns of nothing, also under pandas and anndata that warn of what will change."""
    adata = example(ad, sparse.csr_matrix(COUNTS))
    adata.obs["batch"] = ["x", "y"] * 12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cells in (adata, adata[adata.obs["kind"] != "c"]):
            ev = dreval.Evaluation(
                cells, labels="kind", batch="batch", covariates="depth", n_neighbors=4, random_state=0
            )
            results = ev.run(ci=None, n_resamples=19)
            for record in (ev, results, results["X_umap"], results["X_umap"].scores):
                assert record._repr_html_()
            results.plot(color="batch")
            results.plot("map")
            results.to_anndata(cells, copy=True)
        dreval.trustworthiness(adata, adata.obsm["X_umap"], n_neighbors=4)


def old_file(path: Path, matrix: Any) -> None:
    """A file as anndata 0.6 wrote it: compound obs and var, categories in uns, one compound array for all of obsm."""
    import h5py

    obs = np.zeros(24, dtype=[("index", "S6"), ("kind", "i1"), ("depth", "f4")])
    obs["index"], obs["kind"], obs["depth"] = np.array(CELLS, "S6"), [0, 1, 2] * 8, np.arange(24)
    obsm = np.zeros(24, dtype=[("X_pca", "f8", (3,)), ("X_umap", "f8", (2,))])
    obsm["X_pca"], obsm["X_umap"] = PCA, UMAP
    with h5py.File(path, "w") as file:
        file["obs"], file["obsm"] = obs, obsm
        file["var"] = np.array([(name.encode(),) for name in GENES], dtype=[("index", "S5")])
        file["uns/kind_categories"] = np.array([b"a", b"b", b"c"])
        if isinstance(matrix, np.ndarray):
            file["X"] = matrix
            return
        group = file.create_group("X")
        group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = "csr", matrix.shape
        group["data"], group["indices"], group["indptr"] = matrix.data, matrix.indices, matrix.indptr


@pytest.mark.parametrize("matrix", [COUNTS, sparse.csr_matrix(COUNTS)], ids=["dense", "sparse"])
def test_old_files(tmp_path: Path, matrix: Any) -> None:
    """A file of the old layout gives the same, one note in place of anndata's warnings, and can be named from."""
    old_file(tmp_path / "old.h5ad", matrix)
    data = as_data(tmp_path / "old.h5ad", labels="kind", covariates="depth")
    assert np.array_equal(data.dense(), COUNTS)
    assert (data.columns, list(data.ids)) == (tuple(GENES), CELLS)
    assert data.labels.values.tolist() == list("abc") * 8
    assert np.array_equal(as_source("X_umap", "u", data).coordinates(data), UMAP)
    assert str(data.notes[0]).startswith("'old.h5ad' has the layout of an old AnnData")


def test_invalid_h5ad_files_raise_an_error(tmp_path: Path, ad: ModuleType) -> None:
    """Broken files, and HDF5 files of another kind, raise an error."""
    import h5py

    (tmp_path / "broken.h5ad").write_bytes(b"\x89HDF\r\n\x1a\nnonsense")
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["points"] = COUNTS
    example(ad).write(tmp_path / "whole.h5ad")
    half = (tmp_path / "whole.h5ad").read_bytes()
    (tmp_path / "half.h5ad").write_bytes(half[: len(half) // 2])
    for name in ("broken", "other", "half"):
        with pytest.raises(InputError):
            as_data(tmp_path / f"{name}.h5ad")


# back into the object


def results(adata: Any, **options: Any) -> Results:
    embeddings = {"umap": "X_umap", "b/c": PCA[: len(adata)]}
    evaluation = dreval.Evaluation(adata, embeddings, labels="kind", random_state=0, **options)
    return evaluation.run(["trustworthiness", "knn_accuracy", "r_nx_auc"], None)


def test_values_are_written_next_to_their_cells(ad: ModuleType, tmp_path: Path) -> None:
    """Columns of obs are matched by name in any order, tables are in uns; all survives a file and a second read."""
    adata = example(ad)
    result = results(adata, n_neighbors=4)
    turned = adata[RNG.permutation(24)].copy()
    assert result.to_anndata(turned) is turned
    expected = result.augment("umap").set_index("id")["trustworthiness"]
    assert turned.obs["dreval_trustworthiness_umap"].to_dict() == expected.to_dict()
    assert "dreval_trustworthiness_b_c" in turned.obs
    turned.write(tmp_path / "out.h5ad")
    loaded = ad.read_h5ad(tmp_path / "out.h5ad")
    assert np.array_equal(loaded.obs["dreval_r_nx_auc_umap"], turned.obs["dreval_r_nx_auc_umap"])
    stored = loaded.uns["dreval"]
    assert np.array_equal(stored["table"]["value"], result.table["value"])
    assert stored["table"]["measure"].tolist() == result.table["measure"].tolist()
    assert set(stored["columns"]["column"]) == {name for name in loaded.obs if name.startswith("dreval_")}
    assert json.loads(stored["recipe"])["data_sha256"] == result.recipe["data_sha256"]
    repeated = dreval.Evaluation(loaded[CELLS], {"umap": "X_umap"}, labels="kind", n_neighbors=4, random_state=0)
    assert repeated.run("trustworthiness", None, None).table["value"][0] == result.table["value"][0]


def test_values_of_runs_and_scores_of_points_are_written(ad: ModuleType, tmp_path: Path) -> None:
    """Stability of an evaluated method, and the records of points, which have the order of the cells."""
    adata = example(ad)

    def noisy(table: Any, n_components: int, random_state: int) -> Any:
        noise = np.random.default_rng(random_state).normal(size=(len(table), n_components))
        return np.asarray(table)[:, :n_components] + 0.3 * noise

    evaluation = dreval.Evaluation(adata, {"pca": noisy}, n_neighbors=4, random_state=0)
    result = evaluation.run(["trustworthiness", "stability"], None, None, options={"stability": {"over": "seeds"}})
    turned = adata[RNG.permutation(24)].copy()
    result.to_anndata(turned)
    columns = [name for name in turned.obs if name.startswith("dreval_stability_")]
    assert "dreval_stability_agreement_pca" in columns
    wide = result.augment("pca").set_index("id")
    for name in columns:
        values = wide[name.removeprefix("dreval_").removesuffix("_pca")]
        assert np.array_equal(turned.obs[name], values.loc[turned.obs_names], equal_nan=True)
    assert set(turned.uns["dreval"]["columns"]["column"]) == {*columns, "dreval_trustworthiness_pca"}
    record = dreval.stability(COUNTS, noisy, over="seeds", n_replicates=4, n_neighbors=4, random_state=0)
    scores = dreval.local_distortion(PCA, UMAP, n_neighbors=8)
    for thing, column, expected in (
        (record, "dreval_stability_agreement", record.points["agreement"]),
        (scores, "dreval_anisotropy", scores.anisotropy),
    ):
        assert thing.to_anndata(adata) is adata
        assert np.array_equal(adata.obs[column], expected, equal_nan=True)
        with pytest.raises(InputError, match="10 cells for 24 points"):
            thing.to_anndata(adata[:10].copy())
    adata.write(tmp_path / "out.h5ad")
    loaded = ad.read_h5ad(tmp_path / "out.h5ad")
    assert np.array_equal(loaded.obs["dreval_anisotropy"], scores.anisotropy, equal_nan=True)
    assert json.loads(loaded.uns["dreval_stability"]["recipe"])["n"] == 24


def test_earlier_columns_are_replaced(ad: ModuleType) -> None:
    """A second call removes all columns of the first; another key is added; a copy does not change the object."""
    adata = example(ad)
    results(adata, n_neighbors=[3, 4]).to_anndata(adata)
    assert "dreval_trustworthiness(n_neighbors=3)_umap" in adata.obs
    columns = list(adata.obs)
    copied = results(adata, n_neighbors=4).to_anndata(adata, copy=True)
    assert list(adata.obs) == columns
    assert [name for name in copied.obs if "n_neighbors" in name] == []
    results(adata, n_neighbors=4).to_anndata(copied, "second")
    assert {"dreval_knn_accuracy_umap", "second_knn_accuracy_umap"} <= set(copied.obs)
    assert {"dreval", "second"} <= set(copied.uns)


def test_parts_views_and_files(ad: ModuleType, tmp_path: Path) -> None:
    """Results of some cells leave the others missing; views are copied; a backed object is changed and written."""
    adata = example(ad)
    part = results(adata[4:].copy(), n_neighbors=4)
    part.to_anndata(adata)
    assert adata.obs["dreval_trustworthiness_umap"].isna().tolist() == [True] * 4 + [False] * 20
    with pytest.raises(InputError, match="a view of another object"):
        part.to_anndata(adata[:, :2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert part.to_anndata(adata[:, :2], copy=True).shape == (24, 2)
    example_data = example(ad)
    example_data.raw = None
    example_data.write(tmp_path / "cells.h5ad")
    backed = ad.read_h5ad(tmp_path / "cells.h5ad", backed="r+")
    with pytest.raises(InputError, match=r"stored in a file.*to_memory"):
        part.to_anndata(backed, copy=True)
    part.to_anndata(backed)
    backed.write()
    backed.file.close()
    assert "dreval_trustworthiness_umap" in ad.read_h5ad(tmp_path / "cells.h5ad").obs


def test_writing_invalid_results_raises_an_error(ad: ModuleType) -> None:
    """Other cells, repeated names, equal names of columns, and other objects than AnnData raise errors."""
    adata = example(ad)
    result = results(adata, n_neighbors=4)
    with pytest.raises(InputError, match=r"14 of 24 points not among obs_names \('cell10'\)"):
        result.to_anndata(adata[:10].copy())
    with pytest.raises(InputError, match="must be an AnnData object"):
        result.to_anndata(COUNTS)
    with pytest.raises(InputError, match="must be text without '/'"):
        result.to_anndata(adata, "a/b")
    copied = adata.copy()
    copied.obs_names = ["x", "x", *CELLS[2:]]
    with pytest.raises(InputError, match="'x' twice"):
        result.to_anndata(copied)
    keys = {"a/b": "X_umap", "a_b": "X_umap"}
    pair = dreval.Evaluation(adata, keys, n_neighbors=4).run("trustworthiness", None, None)
    with pytest.raises(InputError, match="'dreval_trustworthiness_a_b' for two"):
        pair.to_anndata(adata)
    nameless = dreval.Evaluation(COUNTS, {"a": UMAP}, n_neighbors=4).run("trustworthiness", None, None)
    assert nameless.to_anndata(adata).obs["dreval_trustworthiness_a"].notna().all()
    with pytest.raises(InputError, match="10 cells for 24 points"):
        nameless.to_anndata(adata[:10].copy())


def test_the_command_line_on_a_file(
    ad: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The example of the help; a saved result goes into the object as well."""
    monkeypatch.chdir(tmp_path)
    adata = example(ad)
    adata.write("cells.h5ad")
    arguments = ("evaluate", "cells.h5ad", "--use-rep", "X_pca", "-e", "X_umap", "--labels", "kind", "-k", "4")
    code, out, err = call(capfd, *arguments, "--save", "r.dreval", "--random-state", "0")
    assert (code, err) == (0, "")
    expected = {"labels": "kind", "use_rep": "X_pca", "n_neighbors": 4, "random_state": 0}
    expected_result = dreval.Evaluation("cells.h5ad", {"X_umap": "X_umap"}, **expected)
    text = str(expected_result.run().summary()).replace("summary(full=True)", "--full")
    assert out.rpartition("Next: ")[0].split() == text.rpartition("Next: ")[0].split()
    assert out.endswith("Next: --full  --report page.html\n\nresult written to r.dreval\n")
    dreval.load_results("r.dreval").to_anndata(adata)
    assert adata.obs["dreval_trustworthiness_X_umap"].notna().all()
    code, out, _ = call(capfd, "evaluate", "cells.h5ad", "-k", "4", "--ci", "none", "--json")  # all maps in obsm
    assert code == 0
    assert list(json.loads(out)["recipe"]["sources"]) == ["X_pca", "X_umap"]
    code, _, err = call(capfd, "evaluate", "cells.h5ad", "--layer", "X_pca", "-e", "X_umap")
    assert (code, "`--layer` must be a layer" in err) == (2, True)
    assert call(capfd, "embed", "cells.h5ad", "pca", "pca.csv", "--layer", "counts", "--quiet") == (0, "", "")
    sweep = ("-m", "pca", "--grid", "n_components=1,2", "--labels", "kind", "--random-state", "0", "--json")
    by_option = call(capfd, "sweep", "cells.h5ad", "--use-rep", "X_pca", *sweep)
    assert by_option == call(capfd, "sweep", "cells.h5ad:obsm:X_pca", *sweep)
    mean = json.loads(by_option[1])["table"][0]["mean"]
    of_pca = dreval.sweep(adata.obsm["X_pca"], "pca", {"n_components": [1, 2]}, random_state=0)
    assert mean == of_pca.tidy()["mean"].iloc[0]
    code, out, _ = call(capfd, "sweep", "cells.h5ad", "--layer", "counts", *sweep)
    assert (code, json.loads(out)["table"][0]["mean"] != mean) == (0, True)
    assert pd.read_csv("pca.csv", index_col=0).index.tolist() == CELLS


def test_an_unknown_label_lists_the_columns_of_obs(ad: ModuleType) -> None:
    """The error does not list the thousands of genes."""
    adata = example(ad)
    with pytest.raises(UnknownName) as error:
        dreval.Evaluation(adata, labels="leiden")
    columns = str(error.value).partition("Columns of obs: ")[2]
    assert columns.rstrip(".").split(", ") == sorted(adata.obs.columns)
    with pytest.raises(UnknownName, match="`ids` must name a column of obs"):
        dreval.Evaluation(adata, ids="nme")


def test_use_rep_and_layer_are_two_things(ad: ModuleType) -> None:
    """An array of obsm is not a layer, both together raise an error, and an unknown key gets a suggestion."""
    adata = example(ad)
    with pytest.raises(InputError, match=r"`layer` must be a layer or 'raw'.*use_rep='X_pca'"):
        dreval.Evaluation(adata, layer="obsm:X_pca")
    with pytest.raises(InputError, match="`use_rep` must be left out with `layer`"):
        dreval.Evaluation(adata, layer="counts", use_rep="X_pca")
    with pytest.raises(
        UnknownName, match=r"`use_rep` must be a key of obsm: got 'X_pac'\. Did you mean use_rep='X_pca'"
    ):
        dreval.Evaluation(adata, use_rep="X_pac")
    with pytest.raises(InputError, match="`key_added` must be text"):
        results(adata, n_neighbors=4).to_anndata(adata, key_added="a/b")


def test_a_result_names_the_matrix_of_its_data(ad: ModuleType, tmp_path: Path) -> None:
    """The call repeats the run; what is printed, a saved result and the methods paragraph name the matrix, if not X."""
    adata = example(ad)
    for name, options in (("counts", {"layer": "counts"}), ("X_pca", {"use_rep": "X_pca"}), ("", {})):
        evaluation = dreval.Evaluation(adata, {"map": PCA[:, :2]}, n_neighbors=5, random_state=0, **options)
        results = evaluation.run("trustworthiness", tests=None, ci=None)
        passed = {"dreval": dreval, "data": adata, "map_coordinates": PCA[:, :2]}
        repeated = eval(results.recipe["call"], passed)
        assert repeated.table["value"].equals(results.table["value"])
        assert repeated.recipe.get("matrix") == results.recipe.get("matrix") == (options or None)
        results.save(tmp_path / "r.dreval")
        for part in (results, dreval.load_results(tmp_path / "r.dreval")):
            assert (f"of data ({name}): 24 points" in str(part)) == bool(name)
            assert (f"{name} as the data" in part.paragraph("methods")) == bool(name)
