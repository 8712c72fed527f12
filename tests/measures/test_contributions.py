"""The range of the contribution of one point to a mean over points, on which intervals of anchors rest."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given

import dreval
from dreval.geometry.blocks import neighbor_pass
from dreval.measures.core import answer
from dreval.registry import MEASURES

POINTS = [name for name in MEASURES.names() if MEASURES.card(name).level == "point"]
VARIABLES = {"labels", "latent", "batch", "target"}
WITHOUT_VARIABLES = [name for name in POINTS if VARIABLES.isdisjoint(MEASURES.card(name).needs)]


@given(strategies.pairs(min_n=8, max_n=30, scales=False))
def test_contributions_are_within_their_range(pair: tuple[np.ndarray, np.ndarray]) -> None:
    """Each contribution of each measure that is a mean over points is between its limits, on any pair of clouds."""
    X, Y = pair
    view = neighbor_pass(X, {"e": Y}, k=5)["e"]
    for name in WITHOUT_VARIABLES:
        card = MEASURES.card(name)
        low, high = card.limits(len(X))
        for k in (1, 5):
            options = {"n_neighbors": k} if "n_neighbors" in card.parameters else {}
            contributions = answer(MEASURES.get(name), view, {**card.parameters, **options}).points
            assert contributions is not None
            assert low - 1e-9 <= contributions.min() <= contributions.max() <= high + 1e-9, name


@pytest.mark.parametrize("n", [5, 12, 101])
def test_the_worst_contribution_is_attained(n: int) -> None:
    """The first of points in reverse order contributes the least to T, C, overlap and AUC."""
    X = np.arange(float(n))
    Y = np.r_[0.0, n - X[1:]]
    k = (n - 1) // 2
    ev = dreval.Evaluation(X[:, None], {"e": Y[:, None]}, n_neighbors=k)
    names = ["trustworthiness", "continuity", "neighborhood_overlap", "r_nx_auc"]
    row = ev.run(names, None, None).augment("e").iloc[0]
    for name in names:
        column = next(c for c in row.index if str(c).startswith(name))
        assert row[column] == pytest.approx(MEASURES.card(name).worst(n), abs=1e-12)


def test_a_range_may_depend_on_the_measure() -> None:
    """Contributions to R_N,opt have no bound, so that the worst is that of the value; labels change no range."""
    card = MEASURES.card("procrustes_rn_opt")
    assert (card.limits(50), card.worst(50)) == ((0.0, np.inf), 1.0)
    assert MEASURES.card("knn_accuracy").limits(50) == (0.0, 1.0)
    assert -1 < MEASURES.card("r_nx_auc").limits(2000)[0] == pytest.approx(-1 / np.log(2000), abs=0.02)
