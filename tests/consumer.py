"""A user's script for type checkers: return types of public functions are known, and none is ``Any`` by accident."""

from pathlib import Path
from typing import Any, assert_type

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import dreval
from dreval.analyses._analysis import AnalysisCard
from dreval.cards import Card
from dreval.datasets._dataset import Dataset
from dreval.geometry.kernels import KernelMap
from dreval.measures.core import MeasureCard
from dreval.methods._method import MethodCard
from dreval.records.comparison import Comparison
from dreval.records.estimates import MeasureRecord, ParallelAnalysis, PerplexityCurve, Stability
from dreval.records.evaluated import EvaluatedEmbedding
from dreval.records.held_out import HeldOutFidelity
from dreval.records.out_of_sample import OutOfSample
from dreval.records.points import Embedding
from dreval.records.similarity import RepresentationSimilarity
from dreval.records.sweep import Sweep
from dreval.records.tests import Certificate, NoiseTest

FloatArray = npt.NDArray[np.float64]
X: FloatArray = np.random.default_rng(0).normal(size=(60, 4))
Y: FloatArray = X[:, :2]
labels = ["a", "b"] * 30

# Values of measures.
assert_type(dreval.score(X, Y, "trustworthiness"), float)
assert_type(dreval.score(X, Y), dreval.Scores)
assert_type(dreval.score(X, Y, ["stress", "continuity"])["stress"], float)
assert_type(dreval.score(X, Y).get("stress"), float | None)
assert_type(dreval.score(X, Y).table, pd.DataFrame)
assert_type(dreval.trustworthiness(X, Y), float)
assert_type(dreval.trustworthiness(X, Y, 10), float)
assert_type(dreval.trustworthiness(X, Y, n_neighbors=np.int64(5)).is_integer(), bool)
assert_type(dreval.trustworthiness(X, Y, [5, 10]).index, "pd.Index[Any]")
assert_type(dreval.trustworthiness(X, Y, np.arange(3, 6)), "pd.Series[float]")
assert_type(dreval.trustworthiness(X, Y, 5, ties="bounds"), "pd.Series[float]")
assert_type(dreval.trustworthiness(X, Y, [5, 10], ties="bounds").columns, "pd.Index[str]")
assert_type(dreval.r_nx(X, Y), "pd.Series[float]")
assert_type(dreval.r_nx(X, Y, ties="bounds"), pd.DataFrame)
assert_type(dreval.r_nx_auc(X, Y, ties="bounds"), "pd.Series[float]")
assert_type(dreval.measures.silhouette(Y, labels=labels), float)
assert_type(dreval.stability(X, "pca", n_replicates=3), Stability)
assert_type(dreval.trustability(X, "pca"), MeasureRecord)
assert_type(dreval.stability(X, "pca").tidy(), pd.DataFrame)

# An evaluation.
evaluation = dreval.Evaluation(X, {"mine": Y, "pca": "pca"}, n_neighbors=5, random_state=0)
results = evaluation.run(["trustworthiness", "continuity"], tests=None)
assert_type(evaluation, dreval.Evaluation)
assert_type(results, dreval.Results)
assert_type(results.tidy(), pd.DataFrame)
assert_type(results.glance(), pd.DataFrame)
assert_type(results.augment("mine"), pd.DataFrame)
assert_type(results.ranking(), pd.DataFrame)
assert_type(results.names, list[str])
assert_type(results.plot(), Figure)
assert_type(results.plot("map", measure="continuity"), Figure)
assert_type(results.plot("map", ax=plt.subplots()[1]), Axes)
assert_type(results.certificate("mine"), Certificate)
assert_type(results.certificate("mine").verdict, str)
assert_type(results.save("a.dreval"), Path)
assert_type(results.report("a.html"), Path)
text: str = str(results.summary())

# One embedding of it.
assert_type(results["mine"], EvaluatedEmbedding)
assert_type(results["mine"].scores, pd.DataFrame)
assert_type(results["mine"].transform(X), FloatArray)
assert_type(results["mine"].coordinates, FloatArray)
assert_type(results["mine"].augment(), pd.DataFrame)
assert_type(results["mine"].plot(), Figure)
assert_type(results["mine"].certificate(), Certificate)

# A comparison.
comparison = results.compare()
assert_type(comparison, Comparison)
assert_type(dreval.compare(results, results), Comparison)
assert_type(comparison.tidy(), pd.DataFrame)
assert_type(comparison.pairs, pd.DataFrame)
assert_type(comparison.plot(), Figure)
assert_type(comparison.plot(ax=plt.gca()), Axes)
assert_type(comparison.report("c.html", title="Maps"), Path)
assert_type(comparison.plot("forest", figsize=(6, 4)).axes, list[Axes])

# What was saved.
saved = dreval.load_results("a.dreval")
assert_type(saved, dreval.Results | Comparison | Sweep | OutOfSample | RepresentationSimilarity | HeldOutFidelity)
assert_type(saved.tidy(), pd.DataFrame)
if isinstance(saved, dreval.Results):
    assert_type(saved.compare(), Comparison)

# New points.
new_points = dreval.out_of_sample(X, X[:, :2], X[:5], X[:5, :2], calibration=(X, X[:, :2]), random_state=0)
assert_type(new_points, OutOfSample)
assert_type(new_points.tidy(), pd.DataFrame)
assert_type(new_points.augment(), pd.DataFrame)
assert_type(new_points.plot("continuity"), Figure)
assert_type(new_points.plot(ax=plt.gca()), Axes)

# Cards.
assert_type(dreval.card("trustworthiness"), MeasureCard)
assert_type(dreval.card("trustworthiness").direction, str)
assert_type(dreval.card("isomap"), MethodCard)
assert_type(dreval.card("cca", "method").class_name, str)
assert_type(dreval.card("sweep"), AnalysisCard)
assert_type(dreval.card(text), Card)

# Methods and data.
isomap = dreval.methods.Isomap(n_components=2, n_neighbors=5)
assert_type(isomap.fit(X), dreval.methods.Isomap)
assert_type(isomap.fit_transform(X), FloatArray)
assert_type(isomap.transform(X), FloatArray)
assert_type(isomap.n_neighbors, int | None)
assert_type(isomap.embedding_, FloatArray)
assert_type(isomap.get_params(), dict[str, Any])
assert_type(isomap.set_params(n_neighbors=6).fit(X).n_features_in_, int)
assert_type(dreval.embed(X, "pca"), Embedding)
assert_type(dreval.embed(X, "pca").coordinates, FloatArray)
assert_type(dreval.embed(X, "pca").embedding_map(), KernelMap)
assert_type(dreval.datasets.digits(), Dataset)
assert_type(dreval.load_dataset("digits").data, FloatArray)
assert_type(dreval.methods.CCA().fit(X, y=labels).transform(X), FloatArray)
assert_type(dreval.methods.CCA().fit(X, Y).transform(X, Y), tuple[FloatArray, FloatArray])

# Tests and analyses.
assert_type(dreval.hsic_test(X, Y, n_resamples=9, random_state=0), dreval.IndependenceTest)
assert_type(dreval.hsic_test(X, Y).p_value, float)
assert_type(dreval.hsic_test(X, Y).plot(), Figure)
assert_type(dreval.noise_test(X, "pca"), NoiseTest)
assert_type(dreval.noise_test(X, "pca").plot("map"), Figure)
assert_type(dreval.sweep(X, "isomap", {"n_neighbors": [5, 10]}), Sweep)
assert_type(dreval.sweep(X, "isomap", {"n_neighbors": [5, 10]}).best_set(), list[dict[str, Any]])
assert_type(dreval.parallel_analysis(X), ParallelAnalysis)
assert_type(dreval.perplexity_curve(X).plot(), Figure)
assert_type(dreval.perplexity_curve(X), PerplexityCurve)
assert_type(dreval.list_measures(), list[str])
assert_type(dreval.list_analyses(), list[str])
study = dreval.Study("s.journal", {"x": X}, ["pca"])
assert_type(study.compare(), Comparison)
assert_type(study.plot(), Figure)
