"""Ambiguous data: graphs as features, transposed tables, X next to a PCA in an AnnData."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness as oracle
from sklearn.neighbors import kneighbors_graph

import dreval
from dreval.errors import DrevalError, InputError, InputWarning
from dreval.inputs import data as module
from dreval.inputs.data import as_data
from dreval.inputs.files import unpack
from dreval.inputs.kinds import NOT_IN_MEMORY, kind_of
from dreval.inputs.source import as_source

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) + np.repeat([0, 1, 2], 20)[:, None]
Y = X[:, :2] + 0.2 * RNG.normal(size=(60, 2))
IDS = [f"c{i}-1" for i in range(60)]


def with_copies():
    """Distances to neighbors among which copies of points have a stored 0."""
    return kneighbors_graph(np.concatenate([X[:-3], X[:3]]), 10, mode="distance")


def fuzzy():
    """A symmetric graph with weights and different numbers of neighbors, as scanpy's connectivities."""
    graph = kneighbors_graph(X, 10, mode="distance")
    graph.data = np.exp(-graph.data)
    return graph + graph.T - graph.multiply(graph.T)


GRAPHS = {
    "distances": lambda: kneighbors_graph(X, 10, mode="distance"),
    "connectivity": lambda: kneighbors_graph(X, 10),
    "self": lambda: kneighbors_graph(X, 10, include_self=True),
    "self distances": lambda: kneighbors_graph(X, 10, mode="distance", include_self=True),
    "integers": lambda: kneighbors_graph(X, 10).astype(np.int8),
    "symmetric": lambda: kneighbors_graph(X, 5).maximum(kneighbors_graph(X, 5).T),
    "fuzzy": fuzzy,
    "copies": with_copies,
    "two": lambda: kneighbors_graph(X, 2, mode="distance"),
}
FORMS = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "dense": lambda graph: graph.toarray(),
    "float32": lambda graph: graph.toarray().astype(np.float32),
    "frame": lambda graph: pd.DataFrame(graph.toarray(), index=IDS, columns=IDS),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_graph_is_not_features(graph, form):
    """It is not for any weights and any form."""
    with pytest.raises(InputError, match="not a graph") as error:
        as_data(FORMS[form](GRAPHS[graph]()))
    assert "metric='precomputed'" in error.value.hint
    assert "metric='neighbors' for the lists" in error.value.hint
    assert "metric='geodesic' for the shortest paths" in error.value.hint
    assert ("as a sparse matrix" in error.value.hint) == (form in ("dense", "float32", "frame"))


def test_rows_of_nearly_as_many_neighbors_are_a_graph():
    """Lists of 8 to 11 neighbors, as after a limit on distances, also with a tenth of other rows."""
    rng = np.random.default_rng(0)
    counts = rng.integers(9, 11, len(X)) + rng.integers(0, 2, len(X))
    counts[:2] = 2, 15
    order = np.argsort(cdist(X, X), axis=1)[:, 1:]
    D = np.zeros((len(X), len(X)))
    for i, count in enumerate(counts):
        D[i, order[i, :count]] = 1.0 + rng.random(count)
    for graph in (sparse.csr_array(D), D):
        with pytest.raises(InputError, match="about 10 entries in nearly each row"):
            as_data(graph)
    D[:8, :30] += 1.0 - np.eye(8, 30)  # with eight full rows the counts are not those of lists
    assert as_data(sparse.csr_array(D)).p == len(X)


@pytest.mark.parametrize("ending", ["npz", "mtx", "csv", "npy"])
def test_a_graph_in_a_file_is_not_features(ending, tmp_path, monkeypatch):
    """In memory, or read by blocks of rows."""
    graph, path = kneighbors_graph(X, 10, mode="distance"), tmp_path / f"g.{ending}"
    if ending == "npz":
        sparse.save_npz(path, graph)
    elif ending == "mtx":
        mmwrite(path, graph)
    elif ending == "csv":
        pd.DataFrame(graph.toarray()).to_csv(path, index=False)
    else:
        np.save(path, graph.toarray())
    with pytest.raises(InputError, match="not a graph"):
        dreval.Evaluation(path, {"Y": Y})
    with pytest.raises(InputError, match="not a graph"):
        dreval.trustworthiness(path, Y)


@pytest.mark.parametrize("graph", ["distances", "fuzzy", "self"])
def test_a_graph_that_is_not_in_memory(graph, tmp_path, monkeypatch):
    """Only the first rows of a memory map are checked."""
    monkeypatch.setattr(module, "N_ROWS_CHECKED", 30)
    np.save(tmp_path / "g.npy", np.asfortranarray(GRAPHS[graph]().toarray()))
    table = np.load(tmp_path / "g.npy", mmap_mode="r")
    assert kind_of(table) in NOT_IN_MEMORY
    with pytest.raises(InputError, match="not a graph"):
        as_data(table)


def test_the_hints_of_the_error_work():
    """The points; all distances; a column of zeros where the rows are features, whose distances do not change."""
    graph = kneighbors_graph(X, 10, mode="distance")
    assert dreval.trustworthiness(X, Y, n_neighbors=7) == pytest.approx(oracle(X, Y, n_neighbors=7))
    D = cdist(X, X)
    assert dreval.trustworthiness(D, Y, n_neighbors=7, metric="precomputed") == pytest.approx(
        oracle(X, Y, n_neighbors=7)
    )
    wide = sparse.hstack([graph, sparse.csr_array((60, 1))])
    expected = oracle(graph.toarray(), Y, n_neighbors=7)
    assert dreval.trustworthiness(wide, Y, n_neighbors=7) == pytest.approx(expected, abs=1e-12)


@given(seed=st.integers(0, 10**6), n=st.integers(5, 80), density=st.sampled_from([0.02, 0.05, 0.1, 0.3, 0.9]))
def test_square_tables_of_counts_are_features(seed, n, density):
    """Also with a diagonal of zeros, to which few entries are equal by chance."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((n, n)) < density, rng.poisson(3.0, (n, n)) + 1.0, 0.0)
    np.fill_diagonal(table, 0.0)
    table[0, 1] = 1.0
    assert as_data(table).n == as_data(sparse.csr_array(table)).n == n


def test_other_square_data_are_features():
    """A matrix of ones and zeros for classes, negative weights, a full matrix of distances (with its warning)."""
    assert as_data(np.eye(30)).n == 30
    assert as_data(np.eye(30)[np.roll(np.arange(30), 1)]).n == 30
    signed = kneighbors_graph(X, 10, mode="distance")
    signed.data = -signed.data
    assert as_data(signed).n == 60
    with pytest.warns(InputWarning, match="symmetric matrix"):
        assert "data.like_distances" in [note.code for note in as_data(cdist(X, X)).notes]
    ring = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)
    with pytest.warns(InputWarning, match="symmetric matrix"):  # too few entries to be sure
        assert as_data(ring).n == 8


def failure(data, embedding, **options):
    """The reason why an embedding has no value."""
    with pytest.raises(DrevalError) as error:
        dreval.Evaluation(data, {"e": embedding}, **options).run("trustworthiness", None, None)
    return str(error.value)


TABLES = {
    "array": lambda: X.T,
    "frame": lambda: pd.DataFrame(X.T, columns=IDS),
    "genes": lambda: pd.DataFrame(X.T, columns=IDS, index=list("abcd")),
    "sparse": lambda: sparse.csr_array(X.T),
    "with annotation": lambda: pd.DataFrame(X.T, columns=IDS).assign(length=1.0),
}


@pytest.mark.parametrize(
    ("table", "has_names"), [*((table, True) for table in TABLES), *((table, False) for table in [*TABLES][:-1])]
)
def test_transposed_data_raise_an_error_with_a_hint(table, has_names):
    """The number of columns decides, or their names among other names; the advice works."""
    embedding = pd.DataFrame(Y, index=IDS) if has_names else Y
    data = TABLES[table]()
    assert "a point in each row" in failure(data, embedding)
    with pytest.raises(InputError, match=r"a point in each row, not in each column.*Pass data\.T"):
        dreval.trustworthiness(data, embedding)
    expected = oracle(X, Y, n_neighbors=15)
    unnamed = has_names and table in ("array", "sparse")
    with pytest.warns(InputWarning, match="matched by position") if unnamed else nullcontext():
        if table != "with annotation":
            assert dreval.trustworthiness(data.T, embedding, n_neighbors=15) == pytest.approx(expected, abs=1e-12)


def test_transposed_files(tmp_path):
    """Genes in rows, cells in columns, as many tools write them."""
    pd.DataFrame(X.T, columns=IDS, index=list("abcd")).to_csv(tmp_path / "x.csv")
    pd.DataFrame(Y, index=IDS).to_csv(tmp_path / "y.csv")
    assert "pandas.read_csv(path, index_col=0).T" in failure(tmp_path / "x.csv", tmp_path / "y.csv")
    data = pd.read_csv(tmp_path / "x.csv", index_col=0).T
    result = dreval.trustworthiness(data, tmp_path / "y.csv", n_neighbors=15)
    assert result == pytest.approx(oracle(X, Y, n_neighbors=15), abs=1e-12)


def test_square_tables_are_transposed_by_their_names_only():
    """As many columns as rows are no evidence; columns with the names of the points are."""
    Z, at = RNG.normal(size=(60, 60)), pd.DataFrame(Y, index=IDS)
    genes = [f"g{i}" for i in range(60)]
    assert dreval.trustworthiness(Z, Y, n_neighbors=7) == pytest.approx(oracle(Z, Y, n_neighbors=7), abs=1e-12)
    with pytest.raises(InputError, match="by their names the rows of the embedding"):
        dreval.trustworthiness(pd.DataFrame(Z, index=genes, columns=IDS), at)
    with pytest.raises(InputError, match="by their names the rows of the embedding"):
        dreval.trustworthiness(pd.DataFrame(Z, columns=IDS), at)
    expected = oracle(Z, Y, n_neighbors=7)
    for columns in (genes, IDS):
        result = dreval.trustworthiness(pd.DataFrame(Z, index=IDS, columns=columns), at, n_neighbors=7)
        assert result == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("argument", ["labels", "batch", "ids", "latent"])
def test_variables_show_transposed_data(argument):
    """As many values as the data have columns, in any container."""
    values = IDS if argument == "ids" else np.arange(60.0) if argument == "latent" else np.repeat(list("abc"), 20)
    for value in (values, list(values), pd.Series(values)):
        with pytest.raises(InputError, match="a point in each row"):
            as_data(X.T, **{argument: value})


def test_named_labels_of_more_points_do_not_indicate_transposed_data():
    """As many labels as columns, with names of rows, are matched by name or raise an error."""
    small = pd.DataFrame(np.c_[X, X @ RNG.normal(size=(4, 56))][:30], index=IDS[:30])
    message = ""
    try:
        as_data(small, labels=pd.Series(np.repeat(list("abc"), 20), index=IDS))
    except InputError as error:
        message = str(error)
    assert "a point in each row" not in message


def test_transposed_coordinates_raise_an_error_with_a_hint():
    """The components are in rows."""
    assert "Transpose it" in failure(X, Y.T)
    with pytest.raises(InputError, match="Transpose it"):
        dreval.trustworthiness(X, pd.DataFrame(Y.T, columns=IDS))
    with pytest.raises(InputError, match="Align them"):
        dreval.trustworthiness(X, Y[:40])


def adata(keys):
    """The parts of an AnnData object that are read."""
    obs = pd.DataFrame(index=IDS)
    names = {"obs_names": pd.Index(IDS), "var_names": pd.Index(list("abcd")), "n_obs": 60}
    result = SimpleNamespace(X=X, obs=obs, obsm=dict.fromkeys(keys, Y), layers={"raw counts": X + 1}, raw=None, **names)
    result.var = pd.DataFrame(index=list("abcd"))
    return result


def test_a_pca_next_to_x_is_noted():
    """It is noted where X is used, not where a matrix is selected, and not for an embedding."""

    def codes(**options):
        return [note.code for note in as_data(adata(["X_pca", "X_umap"]), **options).notes]

    assert "data.pca_unused" in codes()
    assert "data.pca_unused" not in codes(use_rep="X_pca")
    assert "data.pca_unused" not in codes(layer="raw counts")
    assert "data.pca_unused" not in [note.code for note in as_data(adata(["X_umap"])).notes]
    assert "data.pca_unused" not in [note.code for note in unpack(adata(["X_pca"]), "embeddings['e']").notes]
    data = as_data(adata(["X_pca", "X_umap"]))
    assert [note.code for note in as_source("X_umap", "u", data).notes] == ["source.stored"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = dreval.Evaluation(adata(["X_pca", "X_umap"]), {"u": "X_umap"}).run("trustworthiness", None, None)
    assert "use_rep='X_pca'" in " ".join(results.notes["text"])


def test_a_covariate_of_a_dict_may_be_the_name_of_a_column():
    """The column has the new name, and is not a feature; an unknown name raises the error of a list of names."""
    cells = adata(["X_pca"])
    cells.obs["lab"] = np.tile(["a", "b"], 30)
    depth = np.arange(60.0)
    data = as_data(cells, covariates={"batch": "lab", "depth": depth})
    assert data.covariates["batch"].tolist() == cells.obs["lab"].tolist()
    assert data.covariates["depth"].tolist() == depth.tolist()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(lab=cells.obs["lab"].to_numpy())
    assert as_data(frame, covariates={"batch": "lab"}).X.shape == (60, 4)
    with pytest.raises(DrevalError, match="lib"):
        as_data(cells, covariates={"batch": "lib"})
