"""Hammer, Bunte and Biehl (2010), Figure 1: three stacked Gaussians by PCA and by linear t-SNE (DiReduct).

The paper prints an embedding, but no numbers of the clusters or of the curves; ours are apart along an axis that holds
9 % of the variance (``stacked_gaussians``). The tests check the statements of its text:

- PCA projects the clusters onto each other, linear t-SNE separates them: reproduced.
- Q is higher for DiReduct, "in particular for small neighborhood ranges": reproduced at small K; for large ones PCA is
  better, since it keeps the large distances.
- PCA tends to intrusions (B above 0): reproduced. DiReduct is "rather neutral", "mildly extrusive" at medium K: ours is
  less intrusive than PCA at small K, but intrusive all the same. The paper's scale and spreads are unknown.
"""

from __future__ import annotations

import numpy as np
import pytest

import dreval
from dreval.methods import PCA, LinearTSNE


@pytest.fixture(scope="module", params=[0, 1])
def figure(request):
    """Return data and the two embeddings."""
    stack = dreval.simulate("stacked_gaussians", random_state=request.param)
    return stack, PCA(2).fit_transform(stack.data), LinearTSNE(2, random_state=0).fit_transform(stack.data)


def test_only_linear_tsne_separates(figure):
    """Labels of neighbors in the embedding: little above chance (1/3) by PCA, most of them right by linear t-SNE."""
    stack, pca, direduct = figure
    shares = [dreval.knn_accuracy(Y, labels=stack.labels, n_splits=5, random_state=0) for Y in (pca, direduct)]

    assert shares[0] < 0.5
    assert shares[1] > 0.85


def test_q_is_higher_for_small_neighborhoods(figure):
    """Q_NX of linear t-SNE is above that of PCA for every K up to 15, and below it at half of the points."""
    stack, pca, direduct = figure
    direduct_curve, pca_curve = (dreval.q_nx(stack.data, Y) for Y in (direduct, pca))
    ks = [k for k in direduct_curve.index if 3 <= k <= 15]

    assert (direduct_curve[ks] > pca_curve[ks]).all()
    assert direduct_curve.loc[150] < pca_curve.loc[150]


def test_pca_intrudes_and_linear_tsne_does_so_less(figure):
    """B_NX is above 0 for PCA, and smaller for linear t-SNE over small neighborhoods."""
    stack, pca, direduct = figure
    direduct_curve, pca_curve = (dreval.b_nx(stack.data, Y) for Y in (direduct, pca))
    ks = [k for k in direduct_curve.index if 5 <= k <= 50]

    assert (pca_curve[ks] > 0).all()
    assert np.mean(direduct_curve[ks]) < np.mean(pca_curve[ks])
