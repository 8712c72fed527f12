"""New points and reconstructions of every bundled method, of records, and of embeddings of other programs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from each import each
from numpy.testing import assert_allclose

import dreval
from dreval.errors import InputError
from dreval.geometry.kernels import embedding_map, reconstruction_map
from dreval.records.points import Embedding
from dreval.registry import METHODS


def cloud(n=60):
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, size=(n, 2))
    return np.c_[2 * t, t[:, 0] ** 2, t[:, 1] ** 2]


@pytest.mark.filterwarnings(
    "ignore::dreval.errors.ApproximationWarning"
)  # warnings of methods for a cloud of 60 points
@each("name", METHODS, items=2)
def test_every_method_embeds_new_points_and_reconstructs(name):
    """The maps are those of the kernel extension on the fitted data, even if the method has a transform."""
    X = cloud()
    method = METHODS.get(name)(n_components=2).fit(X, np.arange(60) % 3)
    new = X[:3] + 0.01
    assert_allclose(method.kernel_transform(new), embedding_map(X, method.embedding_)(new))
    places = method.embedding_[:4]
    assert_allclose(method.kernel_inverse_transform(places), reconstruction_map(method.embedding_, X)(places))
    with pytest.raises(InputError, match="must be fitted first"):
        METHODS.get(name)().kernel_inverse_transform(places)
    with pytest.raises(InputError, match="is expecting 4 features"):
        method.kernel_transform(X[:, :2])


def test_records_and_external_embeddings_have_them_too():
    """``dreval.embed`` and results of any source give the same maps; options are passed on, and maps are cached."""
    X = cloud()
    record = dreval.embed(X, "isomap")
    results = dreval.Evaluation(X, {"mine": record.coordinates}, n_neighbors=5).run("procrustes_disparity", ci=None)
    new = X[:3] * 1.01
    assert_allclose(results.transform("mine", new), record.transform(new))
    assert_allclose(record.transform(X), record.coordinates - 1e-6 * record.embedding_map().weights, atol=1e-9)
    assert_allclose(
        results.inverse_transform("mine", record.coordinates[:2]), record.inverse_transform(record.coordinates[:2])
    )
    assert record.embedding_map() is record.embedding_map()
    by_theorem = record.inverse_transform(record.coordinates, rule="theorem3")
    assert np.abs(by_theorem - record.inverse_transform(record.coordinates)).max() > 0.01


def test_ridge_bandwidth_and_conditioning_are_reported():
    """The maps print their settings."""
    record = dreval.embed(cloud(), "pca")
    for fitted in (record.embedding_map(), record.reconstruction_map()):
        text = str(fitted.summary(full=True))
        assert all(part in text for part in ("Ridge", "Bandwidth", "Condition", "Relative error"))
        assert fitted.condition >= 1


@pytest.mark.parametrize("bandwidth", [-1, 0, float("nan"), "a"])
def test_impossible_bandwidths_raise_an_error(bandwidth):
    """A length-scale is a positive number, also where all points coincide."""
    record = dreval.embed(cloud(), "pca")
    for method in (record.transform, record.inverse_transform):
        with pytest.raises(InputError, match="`bandwidth` must be"):
            method(record.data[:2, : 4 if method == record.transform else 2], bandwidth=bandwidth)
    with pytest.raises(InputError, match="`bandwidth` must be"):
        reconstruction_map(np.zeros((60, 2)), cloud(), bandwidth=bandwidth)


def test_without_data_there_is_no_map():
    """A record created by hand and a loaded result raise an error that asks for the data."""
    with pytest.raises(InputError, match="`data` must be known"):
        Embedding(np.eye(5)[:, :2], "mine").transform(np.eye(5))


def test_failed_embeddings_have_none():
    """The error contains the reason of the failure."""
    X = cloud()
    results = dreval.Evaluation(X, {"ok": X, "bad": X[:5]}, n_neighbors=5).run("procrustes_disparity", ci=None)
    with pytest.raises(InputError, match="It failed"):
        results.transform("bad", X)


def named_frame(columns="abcd", X=None):
    return pd.DataFrame(cloud() if X is None else X, columns=list(columns))


@pytest.mark.parametrize("kind", ["result", "loaded result", "record", "map", "method", "transform"])
def test_columns_of_a_frame_are_found_by_name(kind, tmp_path):
    """Their order is free if both sides have names; other names, fewer and more raise; arrays go by position."""
    frame = named_frame() * [1.0, 2.0, 3.0, 4.0]
    record = dreval.embed(frame, "pca")
    results = dreval.Evaluation(frame, {"mine": record.coordinates}, n_neighbors=5).run("procrustes_disparity", ci=None)
    results.save(tmp_path / "r.dreval")
    loaded = dreval.load_results(tmp_path / "r.dreval")
    new = {
        "result": lambda points: results.transform("mine", points),
        "loaded result": lambda points: loaded.transform("mine", points, data=frame),
        "record": record.transform,
        "map": embedding_map(frame, record.coordinates),
        "method": dreval.methods.PCA(2).fit(frame).transform,
        "transform": dreval.methods.PCA(2).fit(frame).transform,
    }[kind]
    expected = new(frame.to_numpy()[:5])
    assert_allclose(expected, record.coordinates[:5], atol=1e-2)
    assert np.array_equal(new(frame[:5]), expected)
    assert np.array_equal(new(frame[["d", "b", "a", "c"]][:5]), expected)
    assert np.array_equal(new(pd.DataFrame(frame.to_numpy()[:5])), expected)
    with pytest.raises(InputError, match="no column 'd', and 'e', which the data do not have"):
        new(frame.rename(columns={"d": "e"}))
    with pytest.raises(InputError, match="no column 'a', 'b'"):
        new(frame[["c", "d"]])
    with pytest.raises(InputError, match="'e', which the data do not have"):
        new(frame.assign(e=1.0))
    with pytest.raises(InputError, match="repeated names: a, b, c, d, a"):
        new(pd.concat([frame, frame[["a"]]], axis=1))


def test_methods_have_the_names_of_the_last_fit():
    """As in scikit-learn, there is no such attribute after a fit to an array."""
    method = dreval.methods.PCA(2).fit(named_frame())
    assert method.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert not hasattr(method.fit(cloud()), "feature_names_in_")
    assert method.transform(named_frame("dcba")).shape == (60, 2)


def test_loaded_results_need_their_data(tmp_path):
    """Maps of a loaded result need the data, the same by their hash; the message names the argument."""
    X = cloud()
    results = dreval.Evaluation(X, {"mine": X[:, :2]}, n_neighbors=5).run("procrustes_disparity", ci=None)
    results.save(tmp_path / "r.dreval")
    loaded = dreval.load_results(tmp_path / "r.dreval")
    assert np.array_equal(loaded.transform("mine", X[:3], data=X), results.transform("mine", X[:3]))
    places = X[:3, :2]
    options = {"rule": "theorem3"}
    assert np.array_equal(
        loaded.inverse_transform("mine", places, data=X, **options),
        results.inverse_transform("mine", places, **options),
    )
    for call, points in ((loaded.transform, X), (loaded.inverse_transform, places)):
        with pytest.raises(InputError, match="Pass data="):
            call("mine", points)
        with pytest.raises(InputError, match="data with another hash"):
            call("mine", points, data=X + 1)
