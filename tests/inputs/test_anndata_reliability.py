"""Reliability of maps of single cells: AnnData gives the same numbers as its matrices."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval

pytestmark = pytest.mark.doors

N = 90
MAPS = {"pca": {}, "tsne": {"perplexity": 25}, "umap": {"n_neighbors": 10}}


@pytest.fixture(scope="module")
def cells() -> Any:
    """Return counts of 20 genes in cells between two types, with three maps."""
    import anndata

    rng = np.random.default_rng(0)
    share = rng.uniform(size=(N, 1))
    means = np.exp(rng.normal(size=(2, 20)))
    counts = rng.poisson(2 * (1 - share) * means[0] + 2 * share * means[1])
    names = [f"cell{i}" for i in range(N)]
    adata = anndata.AnnData(np.log1p(counts), obs=pd.DataFrame({"share": share[:, 0]}, index=names))
    for name, options in MAPS.items():
        adata.obsm[f"X_{name}"] = dreval.embed(adata.X, name, random_state=0, **options).coordinates
    adata.obsm["X_tsne"] = dreval.singularity_score(
        adata.X, adata.obsm["X_tsne"], perplexity=25, affinities="neighbors", polish=True
    ).coordinates
    return adata


def test_methods_are_run_on_the_matrix_of_cells(cells: Any) -> None:
    """Noise test, stability and sweep of methods by name: the numbers of the plain matrix, and more than noise."""
    tested = [dreval.noise_test(X, "pca", n_replicates=19, random_state=0) for X in (cells, cells.X)]
    assert tested[0].p_value == tested[1].p_value == 0.05
    pd.testing.assert_frame_equal(tested[0].points, tested[1].points)
    stable = [dreval.stability(X, "umap", n_replicates=3, random_state=0) for X in (cells, cells.X)]
    assert stable[0].recipe["parameters"]["over"] == "seeds"
    pd.testing.assert_frame_equal(stable[0].points, stable[1].points)
    swept = [
        dreval.sweep(X, "isomap", {"n_neighbors": [8, 15]}, n_replicates=3, random_state=0) for X in (cells, cells.X)
    ]
    pd.testing.assert_frame_equal(swept[0].table, swept[1].table)


@pytest.mark.parametrize("name", list(MAPS))
def test_stored_maps_are_scored_by_their_names(cells: Any, name: str) -> None:
    """Local distortion of each map in obsm; the scores of the loss of the t-SNE map."""
    Y = cells.obsm[f"X_{name}"]
    plain = dreval.local_distortion(cells.X, Y)
    for key in (name, f"X_{name}"):
        warned = pytest.warns(dreval.errors.InputWarning, match="stored in obsm") if key == name else nullcontext()
        with warned:  # of the name of a bundled method
            scored = dreval.local_distortion(cells, key)
        pd.testing.assert_frame_equal(scored.augment(), plain.augment())
        np.testing.assert_array_equal(scored.broken, plain.broken)
    if name == "tsne":
        passed = {"perplexity": 25, "affinities": "neighbors"}
        soft = [dreval.singularity_score(X, embedding, **passed) for X, embedding in ((cells, "X_tsne"), (cells.X, Y))]
        np.testing.assert_array_equal(soft[0].values, soft[1].values)
        distances = [
            dreval.perturbation_score(X, embedding, points=[0, 1, 65], **passed)
            for X, embedding in ((cells, "X_tsne"), (cells.X, Y))
        ]
        np.testing.assert_array_equal(distances[0].values, distances[1].values)


def test_dimensions_are_those_of_the_matrix(cells: Any) -> None:
    """Intrinsic dimension and parallel analysis of AnnData."""
    for of in (dreval.intrinsic_dimension, dreval.parallel_analysis):
        pd.testing.assert_frame_equal(of(cells, random_state=0).tidy(), of(cells.X, random_state=0).tidy())
