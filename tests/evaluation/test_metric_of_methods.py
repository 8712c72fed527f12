"""The metric is passed to methods that accept one; for all others the header and a note report that it is not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import decomposition, manifold
from sklearn.manifold import TSNE, Isomap
from sklearn.manifold import trustworthiness as oracle
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dreval
from dreval.errors import DrevalWarning, InputError
from dreval.inputs.source import identity
from dreval.methods import LSDR, PCA, ClassicalMDS

METRICS = ["cosine", "correlation", "manhattan", "hamming"]


def rescaled_points(n=60):
    """Return three clusters in which every row has a different length."""
    g = np.random.default_rng(0)
    X = g.normal(size=(n, 4)).round(3) + np.repeat([0, 1, 2], n // 3)[:, None]
    return X * g.gamma(1, 1, (n, 1))


def counts():
    """Whole numbers with ties, for hamming."""
    return np.random.default_rng(1).poisson(1.0, (40, 12)).astype(float) + np.eye(40, 12)


def data_for(metric):
    """Return data for which the metric is defined and not trivial."""
    return counts() if metric == "hamming" else rescaled_points()


def codes(results, name):
    """Codes of the notes on the source of an embedding."""
    frame = results.notes
    part = frame[(frame["scope"] == name) & frame["code"].str.startswith("source.metric")]
    return part["code"].tolist()


@pytest.mark.parametrize("metric", METRICS)
def test_classical_scaling_reads_any_metric(metric):
    """Its coordinates are those of scikit-learn's or scipy's distances; the fitted rows are placed where they are."""
    X = data_for(metric)
    D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    H = np.eye(len(X)) - 1 / len(X)
    values, vectors = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    expected = vectors[:, :-3:-1] * np.sqrt(values[:-3:-1])
    method = ClassicalMDS(metric=metric).fit(X)
    np.testing.assert_allclose(cdist(method.embedding_, method.embedding_), cdist(expected, expected), atol=1e-8)
    np.testing.assert_allclose(method.transform(X[3:7]), method.embedding_[3:7], atol=1e-8)


@pytest.mark.parametrize("metric", METRICS)
def test_lsdr_reads_any_metric(metric):
    """The same coordinates as from the matrix of distances."""
    X = data_for(metric)
    D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DrevalWarning)  # every point is on the boundary
        method, precomputed = LSDR(metric=metric).fit(X), LSDR(metric="precomputed").fit(D)
        np.testing.assert_allclose(method.embedding_, precomputed.embedding_, atol=1e-6)
        np.testing.assert_allclose(method.transform(X[3:7]), method.embedding_[3:7], atol=1e-6)


def test_methods_raise_an_error_for_rows_without_a_direction():
    """A row of zeros has no cosine, a constant one no correlation, in a fit and for new points."""
    X = rescaled_points()
    for metric, row in (("cosine", 0.0), ("correlation", 2.0)):
        for method in (ClassicalMDS(metric=metric), LSDR(metric=metric)):
            bad = X.copy()
            bad[5] = row
            with pytest.raises(InputError, match="row 5"):
                method.fit(bad)
    with pytest.raises(InputError, match="row 0"):
        ClassicalMDS(metric="cosine").fit(X).transform(np.zeros((1, 4)))


@pytest.mark.parametrize("metric", METRICS)
def test_the_metric_reaches_a_method_that_has_one(metric):
    """Trustworthiness equals that of scikit-learn for the coordinates of the class with that metric, which the record
    names.
    """
    X = data_for(metric)
    results = dreval.Evaluation(X, {"m": "classical_mds"}, metric=metric, n_neighbors=7, random_state=0).run(
        "trustworthiness", None, None
    )
    Y = ClassicalMDS(metric=metric).fit_transform(X)
    np.testing.assert_array_equal(results.embeddings["m"], Y)
    if metric != "hamming":  # which has ties
        assert results.table["value"].item() == pytest.approx(oracle(X, Y, n_neighbors=7, metric=metric), abs=1e-12)
    assert results.recipe["sources"]["m"]["parameters"]["metric"] == repr(metric)
    assert codes(results, "m") == []
    assert "not passed" not in str(results.summary())


def test_the_metric_that_does_not_reach_a_method_is_reported():
    """In the header and in a note on each embedding: bundled methods, estimators, pipelines and callables."""
    X, Y = rescaled_points(), rescaled_points()[:, :2]
    sources = {
        "isomap": "isomap",
        "instance": PCA(),
        "own": ClassicalMDS(),
        "function": lambda X, n_components: X[:, :n_components],
        "sklearn": Isomap(),
        "steps": make_pipeline(StandardScaler(), Isomap(metric="l1")),
        "linear": decomposition.PCA(n_components=2),
        "right": Isomap(metric="cosine"),
        "rightly": ClassicalMDS(metric="cosine"),
        "Y": Y,
    }
    ev = dreval.Evaluation(X, sources, metric="cosine", n_neighbors=7, random_state=0)
    ev = ev.with_embedding("option", "classical_mds", metric="euclidean")
    results = ev.run("trustworthiness", None, None)
    assert {name: codes(results, name) for name in results.names} == {
        "isomap": ["source.metric_none"],
        "instance": ["source.metric_none"],
        "own": ["source.metric_kept"],
        "function": ["source.metric_unknown"],
        "sklearn": ["source.metric_kept"],
        "steps": ["source.metric_kept"],
        "linear": ["source.metric_unknown"],
        "right": [],
        "rightly": [],
        "Y": [],
        "option": ["source.metric_kept"],
    }
    messages = " ".join(str(results.summary()).split())
    assert "cosine (not passed to the methods of isomap, instance, own and 5 more)" in messages
    assert "cosine (not of 8 methods)" in str(results.summary(full=True))
    assert "was run with isomap__metric='l1'" in " ".join(map(str, results.notes["text"]))
    value = results.table.set_index("embedding")["value"]
    euclidean = np.asarray(dreval.embed(X, "classical_mds"))
    assert value["option"] == value["own"] == pytest.approx(oracle(X, euclidean, n_neighbors=7, metric="cosine"))


def test_euclidean_evaluations_say_so_of_another_metric():
    """UMAP with cosine is evaluated by Euclidean distances, with a note; Euclidean settings have none."""
    X = rescaled_points()
    sources = {
        "cosine": TSNE(metric="cosine", perplexity=5, init="random"),
        "plain": TSNE(perplexity=5),
        "mds": manifold.MDS(n_init=1),
        "isomap": Isomap(),
        "pca": "pca",
        "f": lambda X, n_components: X[:, :n_components],
    }
    ev = dreval.Evaluation(X, sources, random_state=0)
    assert {name: [n.code for n in ev[name].notes if n.code.startswith("source.metric")] for name in ev} == {
        "cosine": ["source.metric_kept"],
        "plain": [],
        "mds": [],
        "isomap": [],
        "pca": [],
        "f": [],
    }


def test_a_journal_does_not_reuse_runs_of_another_metric(tmp_path):
    """The metric is part of the key of a method that reads it."""
    X, path = rescaled_points(), tmp_path / "runs.journal"

    def embedding(metric):
        ev = dreval.Evaluation(X, {"m": "classical_mds"}, metric=metric, n_neighbors=7, random_state=0)
        return ev, ev.run("trustworthiness", None, None, journal=path).embeddings["m"]

    runs = {metric: embedding(metric) for metric in ("cosine", "euclidean", "manhattan", "cosine")}
    for metric, (_, Y) in runs.items():
        np.testing.assert_array_equal(Y, ClassicalMDS(metric=metric).fit_transform(X))
    assert len({str(identity(ev["m"])) for ev, _ in runs.values()}) == 3


def test_the_call_of_a_result_reproduces_it(tmp_path):
    """The call of the result, also of a saved one, contains the metric once and gives the same values."""
    X = rescaled_points()
    ev = dreval.Evaluation(X, {"m": "classical_mds", "p": "pca"}, metric="cosine", n_neighbors=7, random_state=0)
    results = ev.with_embedding("o", "classical_mds", metric="euclidean").run("trustworthiness", None, None)
    results.save(tmp_path / "r.dreval")
    loaded = dreval.load_results(tmp_path / "r.dreval")
    assert loaded.recipe["sources"]["p"]["metric_passed"] is False
    assert "not passed to the methods of p and o" in " ".join(str(loaded.summary()).split())
    assert loaded.recipe["call"].count("metric=") == 2
    output = eval(loaded.recipe["call"], {"dreval": dreval, "data": X})
    assert output.table["value"].tolist() == results.table["value"].tolist()


def test_sweep_noise_test_and_study_pass_the_metric(tmp_path):
    """One mechanism for all that run methods on data with a metric."""
    X = rescaled_points()
    result = dreval.sweep(X, "pca", {"n_components": [1, 2]}, metric="cosine", n_replicates=3, random_state=0)
    assert "source.metric_none" in [note.code for note in result.notes]
    result = dreval.sweep(
        X, "classical_mds", {"metric": ["cosine", "euclidean"]}, metric="cosine", n_replicates=3, random_state=0
    )
    assert result.settings == ({"metric": "cosine"}, {"metric": "euclidean"})
    test = dreval.noise_test(X, "pca", metric="cosine", n_replicates=2, random_state=0)
    assert "source.metric_none" in [note.code for note in test.notes]
    test = dreval.noise_test(X, "classical_mds", metric="cosine", n_replicates=2, random_state=0)
    assert not [note for note in test.notes if note.code.startswith("source.metric")]
    study = dreval.Study(
        tmp_path / "s.journal",
        {"x": X},
        ["classical_mds", "pca"],
        metric="cosine",
        measures="trustworthiness",
        n_neighbors=7,
    )
    study.run(progress=False)
    value = study.table().set_index("embedding")["value"]
    Y = ClassicalMDS(metric="cosine").fit_transform(X)
    assert value["classical_mds"] == pytest.approx(oracle(X, Y, n_neighbors=7, metric="cosine"), abs=1e-12)
    assert study.recipe()["methods"]["pca"]["metric_passed"] is False
    assert "metric_passed" not in study.recipe()["methods"]["classical_mds"]
