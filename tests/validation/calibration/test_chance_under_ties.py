"""The chance level under ties, compared with the mean over independent permutations of the points."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass
from dreval.measures.core import answer, chance_curve, chance_value, curve_values
from dreval.registry import MEASURES

CARDS = {name: MEASURES.card(name) for name in MEASURES if MEASURES.card(name).level != "algorithm"}
WITH_CHANCE = [name for name, card in CARDS.items() if card.chance is not None]
CURVES = [name for name in WITH_CHANCE if CARDS[name].curve]
ROOTS = 4  # seeds whose standard errors are pooled: the standard error of 20 draws has heavy tails
TOGETHER = 20  # permuted embeddings in one pass
NEAREST = [0, 1, 4, 14, 39]  # tested places of a curve: K = 1, 2, 5, 15, 40


def _binary(rng, n):
    """Return sorted binary rows, so that the order depends on the position, and an embedding of whole numbers."""
    X = rng.integers(0, 2, size=(n, 3)).astype(float)
    return X[np.lexsort(X.T)], np.round(rng.normal(size=(n, 2)))


def _rounded(rng, n):
    """Return a curve in the order of its points; both spaces are rounded."""
    t = np.linspace(0, 5, n)
    return np.round(np.c_[t, np.cos(t), np.sin(t)], 1), np.round(np.c_[t, np.cos(2 * t)])


def _integers(rng, n):
    """Return sorted counts, and two of their columns with noise: only the data have ties."""
    X = rng.poisson(3, size=(n, 4)).astype(float)
    X = X[np.lexsort(X.T)]
    return X, X[:, :2] + rng.normal(size=(n, 2))


def _mixed(rng, n):
    """Return sorted rows of a category, a count and a number; the embedding puts the first third at one place."""
    X = np.c_[np.sort(rng.integers(0, 3, n)), rng.poisson(2, n), rng.normal(size=n)]
    Y = X[:, :2] + rng.normal(size=(n, 2))
    Y[: n // 3] = 0.0
    return X, Y


def _duplicates(rng, n):
    """Return rows in three adjacent copies, and their first two columns."""
    X = np.repeat(rng.normal(size=(-(-n // 3), 3)), 3, axis=0)[:n]
    return X, X[:, :2]


DATA = {"binary": _binary, "rounded": _rounded, "integers": _integers, "mixed": _mixed, "duplicates": _duplicates}
CASES = [(kind, n, k) for kind in DATA for n, k in ((60, 5), (80, 10), (200, 15))]


def _views(X, embeddings, k, labels):
    """Return the views of embeddings with classes, batches and latent variables."""
    views = neighbor_pass(X, dict(enumerate(embeddings)), k=k, n_jobs=1)
    variables = {
        "labels": labels,
        "latent": X[:, :2] + np.arange(len(X))[:, None] / 7,
        "batch": np.arange(len(X)) // 3 % 2,
        "target": np.array([(value,) for value in X[:, 0] + np.arange(len(X)) / 7], [("age", float)]),
    }
    return [replace(views[i], **variables) for i in views]


def _values(name, view, k):
    """Return the value of a measure, or of a curve at the tested K; NaN for a permutation without a value."""
    if name in CURVES:
        return curve_values(MEASURES.get(name), view)[0][NEAREST]
    try:
        return np.array([answer(MEASURES.get(name), view, _parameters(name, k)).value])
    except UndefinedMeasure:  # two classes have the same centroid
        return np.array([math.nan])


def _parameters(name, k):
    """Return the parameters of a measure with k neighbors."""
    parameters = dict(CARDS[name].parameters)
    parameters |= {"size": 20} if "size" in parameters else {}
    parameters |= {"embedding_distance": "euclidean"} if name == "bras" else {}  # some points are at the origin
    return parameters | ({"n_neighbors": k} if "n_neighbors" in parameters else {})


def _chance_level(name, view, k, root):
    """Return the chance level, its standard error and its number of draws; a curve has neither of these two."""
    if name in CURVES:
        return chance_curve(MEASURES.get(name), view, root)[NEAREST], 0.0, 0
    chance = chance_value(MEASURES.get(name), view, _parameters(name, k), root)
    return np.array([chance.value]), chance.se, chance.draws


def _standard_scores(kind, n, k, size):
    """Return for each measure the distance of the chance level from the mean over permutations, in standard errors."""
    rng = np.random.default_rng(1000 * [*DATA].index(kind) + n)
    X, Y = DATA[kind](rng, n)
    labels = np.repeat([0, 1, 2], [n // 6, n // 3, n - n // 6 - n // 3])  # sorted and of unequal sizes
    view = _views(X, [Y], k, labels)[0]
    values = {name: [] for name in WITH_CHANCE}
    for _ in range(size // TOGETHER):
        for exchanged_view in _views(X, [Y[rng.permutation(n)] for _ in range(TOGETHER)], k, labels):
            for name in WITH_CHANCE:
                values[name].append(_values(name, exchanged_view, k))
    scores = {}
    for name in WITH_CHANCE:
        draws = [_chance_level(name, view, k, root) for root in range(ROOTS)]
        defined = np.array([value for value in values[name] if not np.isnan(value).any()])
        assert len(defined) > 0.5 * size, name
        mean, spread = defined.mean(axis=0), defined.std(axis=0)
        chance_error = math.sqrt(np.mean([se**2 for _, se, _ in draws]))
        if name in CURVES:
            chance_error = np.std([value for value, _, _ in draws], axis=0, ddof=1)
        is_random = draws[0][2] > 0 or np.asarray(chance_error) > 0
        chance_error = np.maximum(
            chance_error, spread / math.sqrt(20) * is_random
        )  # near a bound all 20 draws may be equal
        error = np.hypot(spread / math.sqrt(len(defined)), chance_error)
        far = np.abs(draws[0][0] - mean)
        scores[name] = float(np.max(np.where(far < 1e-10, 0.0, far / np.maximum(error, 1e-300))))
    return scores


@pytest.mark.calibration
@pytest.mark.parametrize(("kind", "n", "k"), CASES)
def test_stated_chance_is_the_mean_over_exchanges(kind, n, k, n_simulations):
    """2000 permutations: the chance level of each measure is within 4 standard errors of their mean."""
    scores = _standard_scores(kind, n, k, n_simulations(2000))
    worst = max(scores, key=lambda name: scores[name])
    print(f"{kind:10} n {n:3} k {k:2}: {len(scores)} measures, farthest {worst} at {scores[worst]:.2f} standard errors")
    assert {name: far for name, far in scores.items() if far > 4} == {}
