"""Every source has the same interface, and running it does not change objects of the user."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import clouds

import dreval
from dreval.errors import DrevalError, MethodFailed, UndefinedMeasure, UnknownName
from dreval.inputs import source as source_module
from dreval.inputs.data import as_data
from dreval.inputs.source import Source, as_source, embed
from dreval.records.points import Embedding

X = np.random.default_rng(1).normal(size=(12, 4)) * [4, 3, 2, 1]
DATA = as_data(X, labels=[0, 1, 2] * 4)


class Recorder:
    """An estimator that records all arguments, and writes into its data."""

    def __init__(self, n_components: int = 2, random_state: int | None = None) -> None:
        self.n_components, self.random_state, self.fitted = n_components, random_state, False

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"n_components": self.n_components, "random_state": self.random_state}

    def set_params(self, **params: Any) -> Recorder:
        vars(self).update(params)
        return self

    def fit_transform(self, X: np.ndarray, y: Any = None) -> np.ndarray:
        self.fitted = True
        X[:] = X * 0 + 1.0
        if y is not None:
            return np.asarray(y, dtype=float)[:, None]
        return np.full((len(X), self.n_components), float(self.random_state or 0)) + np.arange(len(X))[:, None]


class Method:
    """A stand-in for a bundled method."""

    card = SimpleNamespace(name="noise", deterministic=False, supervised=False)

    def __init__(self, n_components: int = 2, *, spread: float = 1.0, random_state: int | None = None) -> None:
        self.n_components, self.spread, self.random_state = n_components, spread, random_state

    def fit_transform(self, X: np.ndarray, y: Any = None) -> np.ndarray:
        if y is not None:
            return np.asarray(y, dtype=float)
        return np.random.default_rng(self.random_state).normal(scale=self.spread, size=(len(X), self.n_components))


class Supervised(Method):
    """A stand-in for a bundled method that uses labels."""

    card = SimpleNamespace(name="guided", deterministic=True, supervised=True)


class Shelf(dict):
    """A stand-in for the registry."""

    listing = ("dreval.list_methods()",)

    def names(self) -> list[str]:
        return sorted(self)

    def get(self, name: str, argument: str | None = None) -> Any:
        return self[name]


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the bundled methods by two stand-ins."""
    monkeypatch.setattr(source_module, "METHODS", Shelf(noise=Method, guided=Supervised))


@given(cloud=clouds())
def test_coordinates_of_every_form_are_the_same(cloud: np.ndarray) -> None:
    """Arrays, frames, lists, sparse matrices and records of coordinates hold the same numbers; nothing is written."""
    data = as_data(cloud)
    before = cloud.copy()
    Z = cloud[:, : len(cloud)]
    for value in (Z, pd.DataFrame(Z), Z.tolist(), sparse.csc_array(Z), np.asfortranarray(Z), Embedding(Z, "e")):
        source = as_source(value, "e", data)
        assert (source.kind, source.can_embed, source.n_components) == ("coordinates", False, Z.shape[1])
        received = source.coordinates(data)
        assert np.array_equal(received, Z)
        received[:] = 0
        assert np.array_equal(source.coordinates(data), Z)
    assert np.array_equal(cloud, before)


def test_coordinates_cannot_be_run() -> None:
    """The error for embedding other data has the reason and a hint."""
    source = as_source(X[:, :2], "e", DATA)
    assert source.reason == source.reseed_reason == "coordinates only, which cannot be recomputed on other data"
    with pytest.raises(UndefinedMeasure, match="must be able to embed other data"):
        source.embed(X, 2, 0)
    with pytest.raises(UndefinedMeasure, match="must have 3 columns"):
        source.coordinates(DATA, n_components=3)


def test_paths_and_obsm_keys(tmp_path: Path) -> None:
    """Files and arrays that came with the data are coordinates."""
    np.save(tmp_path / "e.npy", X[:, :2].astype(np.float32))
    assert np.array_equal(as_source(tmp_path / "e.npy", "e", DATA).coordinates(DATA), X[:, :2].astype(np.float32))
    names = pd.Index([str(i) for i in range(12)])
    adata = SimpleNamespace(X=X, obs=pd.DataFrame(index=names), obsm={"X_umap": X[:, 1:3]}, obs_names=names)
    data = as_data(adata)
    assert np.array_equal(as_source("X_umap", "u", data).coordinates(data), X[:, 1:3])
    with pytest.raises(UnknownName, match="Did you mean the obsm key 'X_umap'"):
        as_source("X_umpa", "u", data)


def test_estimators_are_copied_and_set() -> None:
    """An estimator is never refitted in place, nor its parameters or the data touched; the copy gets both settings."""
    estimator = Recorder(n_components=5)
    source = as_source(estimator, "e", DATA)
    before = DATA.X.copy()
    Z = source.embed(DATA.X, 3, 7)
    assert np.array_equal(Z, np.full((12, 3), 7.0) + np.arange(12)[:, None])
    assert source.coordinates(DATA).shape == (12, 5)
    estimator.n_components = 1
    assert source.coordinates(DATA).shape == (12, 5)
    assert not estimator.fitted
    assert estimator.random_state is None
    assert np.array_equal(DATA.X, before)
    assert (source.kind, source.can_embed, source.reseed_reason) == ("estimator", True, None)


def test_estimators_of_scikit_learn_give_their_numbers() -> None:
    """The numbers are those of the estimator alone, with and without a seed, in pipelines too."""
    assert np.array_equal(as_source(PCA(3), "p", DATA).coordinates(DATA), PCA(3).fit_transform(X))
    expected = TruncatedSVD(2, random_state=3).fit_transform(X)
    assert np.array_equal(as_source(TruncatedSVD(), "t", DATA).embed(X, 2, 3), expected)
    pipeline = make_pipeline(StandardScaler(), TruncatedSVD())
    source = as_source(pipeline, "s", DATA)
    expected = make_pipeline(StandardScaler(), TruncatedSVD(3, random_state=4)).fit_transform(X)
    assert np.array_equal(source.embed(X, 3, 4), expected)
    assert source.n_components == 2
    tsne = as_source(TSNE(init="random"), "t", DATA, perplexity=3, max_iter=250)
    assert np.array_equal(tsne.embed(X, 2, 1), tsne.embed(X, 2, 1))
    assert not np.array_equal(tsne.embed(X, 2, 1), tsne.embed(X, 2, 2))


def test_labels_reach_supervised_sources_only() -> None:
    """Labels are passed where ``fit`` requires them, or where the user requests it; an optional y stays unused."""
    lda = as_source(LinearDiscriminantAnalysis(), "lda", DATA)
    assert lda.supervised
    expected = LinearDiscriminantAnalysis(n_components=1).fit_transform(X, [0, 1, 2] * 4)
    assert np.array_equal(lda.embed(X, 1, 0, DATA.labels), expected)
    assert not as_source(Recorder(), "r", DATA).supervised
    supervised = as_source(Recorder(), "r", DATA, supervised=True)
    assert supervised.coordinates(DATA)[:, 0].tolist() == [0, 1, 2] * 4
    with pytest.raises(ValueError, match="must be passed, because 'lda' is supervised"):
        lda.embed(X, 1, 0)


def test_callables_receive_the_arguments_they_accept() -> None:
    """n_components by name or by place, random_state and labels only where they are parameters, options as keywords."""
    recorded: dict[str, Any] = {}

    def full(X: np.ndarray, n_components: int, random_state: int | None = None, scale: float = 1.0) -> np.ndarray:
        recorded.update(d=n_components, seed=random_state, scale=scale)
        return X[:, :n_components] * scale

    source = as_source(full, "f", DATA, scale=2.0, n_components=3)
    assert np.array_equal(source.coordinates(DATA), X[:, :3] * 2)
    assert recorded == {"d": 3, "seed": None, "scale": 2.0}
    source.embed(X, 1, np.random.default_rng(0))
    assert isinstance(recorded["seed"], int)
    assert source.reseed_reason is None
    embedding = as_source(lambda points, d: points[:, :d], "g", DATA)
    assert embedding.embed(X, 2, 0).shape == (12, 2)
    assert embedding.reseed_reason == "<lambda> does not accept random_state"
    keyword = as_source(lambda X, **settings: X[:, : settings["n_components"]], "h", DATA)
    assert keyword.embed(X, 1, 0).shape == (12, 1)
    labeled = as_source(lambda *_, labels: np.asarray(labels, dtype=float), "l", DATA)
    assert labeled.supervised
    assert labeled.coordinates(DATA)[:, 0].tolist() == [0, 1, 2] * 4


def test_foreign_code_does_not_change_the_data() -> None:
    """A callable that writes into its data writes into a copy."""
    before = DATA.X.copy()

    def spoil(X: np.ndarray, n_components: int) -> np.ndarray:
        X[:] = 0
        return np.arange(len(X))

    assert as_source(spoil, "s", DATA).coordinates(DATA).shape == (12, 1)
    assert np.array_equal(DATA.X, before)


@pytest.mark.usefixtures("shelf")
def test_bundled_methods_by_name() -> None:
    """A name becomes a source with its parameters; the seed reaches it; the card says whether it is supervised."""
    source = as_source("noise", "n", DATA, spread=2.0)
    expected = np.random.default_rng(5).normal(scale=2.0, size=(12, 3))
    assert np.array_equal(source.embed(X, 3, 5), expected)
    assert (source.kind, source.n_components, source.reseed_reason) == ("method", 2, None)
    assert as_source("noise", "n", DATA, n_components=1).coordinates(DATA).shape == (12, 1)
    guided = as_source("guided", "g", DATA)
    assert guided.reseed_reason == "guided is deterministic"
    assert guided.coordinates(DATA)[:, 0].tolist() == [0, 1, 2] * 4
    with pytest.raises(UnknownName, match="Did you mean 'spread'"):
        as_source("noise", "n", DATA, spraed=1)


def test_real_methods_agree_with_their_class() -> None:
    """A name gives the numbers of the class."""
    bundled = dreval.methods.PCA

    assert np.array_equal(as_source("pca", "p", DATA).embed(X, 3, 0), bundled(3).fit_transform(X))
    assert np.array_equal(as_source(bundled(3), "p", DATA).coordinates(DATA), bundled(3).fit_transform(X))


def test_failures_keep_their_cause() -> None:
    """Any exception of a source is raised as MethodFailed with the cause; an interruption is not suppressed."""

    class OddError(Exception):
        """An exception that derives directly from Exception."""

    def fail(X: np.ndarray, n_components: int) -> np.ndarray:
        raise OddError("no luck today")

    with pytest.raises(MethodFailed, match="OddError: no luck today") as error:
        as_source(fail, "f", DATA).coordinates(DATA)
    assert isinstance(error.value.__cause__, OddError)

    def stop(X: np.ndarray, n_components: int) -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        as_source(stop, "s", DATA).coordinates(DATA)


@pytest.mark.parametrize(
    "result",
    [
        np.full((12, 2), np.nan),
        X[:5],
        np.zeros((12, 13)),
        X * 1j,
        X.astype(str),
        None,
        (X, "model"),
        np.zeros((12, 2, 2)),
    ],
)
def test_results_that_are_not_embeddings_raise_an_error(result: Any) -> None:
    """NaN, other rows, more columns than rows, complex, text, None, tuples and cubes are MethodFailed."""
    with pytest.raises(MethodFailed):
        as_source(lambda *_: result, "f", DATA).coordinates(DATA)


@pytest.mark.parametrize("result", [X[:, 0], pd.DataFrame(X), sparse.csr_array(X), np.ma.MaskedArray(X), X.astype(int)])
def test_results_that_are_embeddings_are_accepted(result: Any) -> None:
    """Vectors, frames, sparse and masked arrays and integers are coordinates."""
    assert as_source(lambda *_: result, "f", DATA).coordinates(DATA).dtype == np.float64


def test_the_data_themselves_and_constants_are_embeddings() -> None:
    """The data may be an embedding of themselves; a constant one is valid and noted."""
    assert np.array_equal(as_source(DATA.X, "same", DATA).coordinates(DATA), X)
    assert tuple(map(str, as_source(np.ones((12, 2)), "c", DATA).notes)) == (
        "`embeddings['c']` puts all points in one place.",
    )


def test_sources_are_renamed_and_pickled() -> None:
    """A source can be passed under another name, and sent to another process."""
    source = as_source(PCA(2), "p", DATA)
    renamed = as_source(source, "q", DATA)
    assert (source.name, renamed.name) == ("p", "q")
    copy: Source = pickle.loads(pickle.dumps(source))
    assert np.array_equal(copy.coordinates(DATA), source.coordinates(DATA))


@pytest.mark.usefixtures("shelf")
def test_embed_returns_a_record_that_can_be_re_run() -> None:
    """The record holds the seed that was drawn; with it the coordinates are the same."""
    left = embed(pd.DataFrame(X, index=list("abcdefghijkl")), "noise", 3, spread=0.5)
    renamed = embed(X, "noise", 3, random_state=left.random_state, spread=0.5)
    assert np.array_equal(left, renamed)
    assert left.parameters == {"n_components": 3, "spread": 0.5}
    assert left.to_frame().index.tolist() == list("abcdefghijkl")
    assert left.shape == (12, 3)
    assert left.data_shape == (12, 4)
    assert embed(X, "guided", 1, labels=[0, 1] * 6).random_state is None
    assert embed(X, Recorder(), 2, random_state=3).random_state == 3


def test_the_errors_for_an_invalid_response_name_it() -> None:
    """The errors for unmatched rows and unknown columns name ``response``, and no other argument."""
    for invalid, message in (
        (np.arange(5.0), "`response` must have one row per point"),
        ("zz", "`response` must be a vect"),
    ):
        with pytest.raises(DrevalError, match=message) as refusal:
            embed(X, "sir", 1, response=invalid)
        assert "covariate" not in str(refusal.value)


def test_embed_at_the_top_prints_itself() -> None:
    """``dreval.embed`` is this function; its summary has no clock and can be read."""
    record = dreval.embed(X, "pca", random_state=0)
    text = str(record.summary())
    assert repr(record) == text
    assert text.startswith("pca embedded 12 points")
    assert "component" in str(record.summary(full=True))
    assert "seconds" not in text
    assert np.array_equal(np.asarray(record, dtype=np.float32), record.coordinates.astype(np.float32))
    assert len(record) == 12


@pytest.mark.parametrize("kind", ["method", "estimator", "pipeline", "callable"])
def test_a_source_takes_another_number_of_components(kind):
    """The embedding has that many columns; the source itself does not change."""
    data = as_data(np.random.default_rng(0).normal(size=(20, 5)))
    value = {
        "method": "pca",
        "estimator": PCA(n_components=1),
        "pipeline": make_pipeline(StandardScaler(), PCA(n_components=1)),
        "callable": lambda X, n_components: X[:, :n_components],
    }[kind]
    source = as_source(value, "a", data)
    wider = source.with_components(3)

    assert wider.coordinates(data).shape == (20, 3)
    assert source.coordinates(data).shape[1] == (2 if kind in ("method", "callable") else 1)


def test_coordinates_stay_as_they_are():
    """Coordinates keep their number of columns."""
    data = as_data(np.random.default_rng(0).normal(size=(20, 5)))
    source = as_source(data.X[:, :2], "a", data)

    assert source.with_components(3) is source


class ClosedEstimator:
    """An estimator without parameters: three columns of noise, seeded by an attribute."""

    n_components = 3

    def __init__(self) -> None:
        self.random_state: int | None = None

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        return np.random.default_rng(self.random_state).normal(size=(len(X), self.n_components))


class Closed:
    """The same, but no parameter can be set."""

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        return np.random.default_rng().normal(size=(len(X), 3))


def notes_of(**sources: Any) -> list[str]:
    notes = dreval.Evaluation(X, sources, n_neighbors=3).run("trustworthiness", ci=None).notes["text"]
    return [note for note in notes if note.split(": ")[0] in sources]


def test_attributes_are_set_of_estimators_without_set_params() -> None:
    """Seed and number of columns reach the copy, by the source, by options, and in a study; the estimator stays."""
    estimator = ClosedEstimator()
    source = as_source(estimator, "e", DATA)
    expected = np.random.default_rng(7).normal(size=(12, 2))
    assert np.array_equal(source.embed(X, 2, 7), expected)
    assert np.array_equal(source.with_components(2).coordinates(DATA, random_state=7), expected)
    assert np.array_equal(as_source(estimator, "e", DATA, n_components=2).coordinates(DATA, random_state=7), expected)
    assert (source.n_components, source.reseed_reason, source.notes) == (3, None, ())
    assert (vars(estimator), estimator.n_components) == ({"random_state": None}, 3)
    with pytest.raises(UnknownName, match="Did you mean 'n_components'"):
        as_source(estimator, "e", DATA, n_component=2)


def test_parameters_that_cannot_be_set_are_noted() -> None:
    """Another width than requested raises an error; a note names the parameters that cannot be set."""
    source = as_source(Closed(), "c", DATA)
    assert source.reseed_reason == "Closed has no set_params and no attribute random_state"
    assert (source.n_components, source.default_components, source.coordinates(DATA).shape) == (None, None, (12, 3))
    assert source.embed(X, 3).shape == (12, 3)
    with pytest.raises(MethodFailed, match="got 3 from Closed, whose n_components cannot be set"):
        source.embed(X, 2)
    assert notes_of(c=Closed()) == [
        "c: Closed has no set_params and no attribute n_components or random_state: they keep their values."
    ]


def test_the_seed_of_an_estimator_is_the_default() -> None:
    """It is the default; a passed seed takes precedence; an evaluation uses other seeds, with a note."""
    for estimator in (TruncatedSVD(random_state=7), make_pipeline(StandardScaler(), TruncatedSVD(random_state=7))):
        assert as_source(estimator, "t", DATA).own_seed == 7
        assert embed(X, estimator).random_state == 7
        assert np.array_equal(embed(X, estimator), embed(X, estimator, random_state=7))
        assert embed(X, estimator, random_state=3).random_state == 3
    assert as_source("tsne", "t", DATA, random_state=7).own_seed == 7
    mixed = make_pipeline(TruncatedSVD(3, random_state=7), TruncatedSVD())
    assert as_source(mixed, "t", DATA).own_seed is None
    record = dreval.trustability(X, TruncatedSVD(random_state=7))
    assert record.recipe["random_state"] == 7
    assert dreval.trustability(X, TruncatedSVD(random_state=7), random_state=2).recipe["random_state"] == 2
    message = "Its random_state is not used: the seed of each run comes from the seed of the evaluation."
    assert notes_of(t=TruncatedSVD(random_state=7), u=mixed) == [f"t: {message}", f"u: {message}"]
    assert notes_of(t=TruncatedSVD(), p=dreval.methods.PCA(2)) == []


def test_a_function_with_its_seed_among_the_options_keeps_it() -> None:
    """The reason without other seeds is true."""
    source = as_source(lambda X, d, random_state: X[:, :d] * random_state, "f", DATA, random_state=3)
    assert np.array_equal(source.embed(X, 2, 7), X[:, :2] * 3)
    assert source.reseed_reason == "<lambda> already has a random_state"
