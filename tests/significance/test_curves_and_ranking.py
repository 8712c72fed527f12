"""Sensitivity to kappa and bandwidth, and the ranking of features, against the single tests and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dreval
from dreval.errors import InputError


def sample(n=40):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return x, x**2 + rng.normal(size=n)


def test_kappa_curve_is_the_test_at_every_kappa():
    """Each row equals ``kcca_test`` at that kappa, with the same permutations."""
    x, y = sample()
    curve = dreval.kappa_curve(x, y, kappas=[0.5, 0.02], n_resamples=19, random_state=3)
    table = curve.tidy()
    assert table["kappa"].tolist() == [0.02, 0.5]
    for row in table.itertuples():
        result = dreval.kcca_test(x, y, kappa=row.kappa, n_resamples=19, random_state=3)
        assert (row.statistic, row.p_value, row.chance) == (
            result.statistic,
            result.p_value,
            result.null_distribution.mean(),
        )
    assert "kappa" in str(curve.summary())
    assert max(map(len, str(curve.summary()).splitlines())) <= 80
    assert repr(curve) == str(curve)


def test_bandwidth_curve_is_the_test_at_every_bandwidth():
    """At multiple 1 the rows are those of the median rule; classes keep their kernel."""
    x, y = sample()
    table = dreval.bandwidth_curve(x, y, multiples=[0.5, 1], n_resamples=19, random_state=3).tidy()
    default = dreval.hsic_test(x, y, n_resamples=19, random_state=3)
    assert table["statistic"][1] == pytest.approx(default.statistic)
    assert table["bandwidth_x"].tolist() == pytest.approx(
        [default.extra["bandwidth_x"] / 2, default.extra["bandwidth_x"]]
    )
    labels = np.where(y > 1, "high", "low")
    classes = dreval.bandwidth_curve(x, labels, multiples=[1, 2], test="kcca", n_resamples=19, random_state=3)
    assert classes.tidy()["bandwidth_y"].isna().all()


def test_the_figure_has_statistic_and_null():
    """The plot has a log scale, the statistic, and the permuted mean."""
    curve = dreval.kappa_curve(*sample(), kappas=[0.01, 0.1, 1], n_resamples=19, random_state=0)
    (ax,) = curve.plot().axes
    assert ax.get_xscale() == "log"
    sampled = [line.get_ydata() for line in ax.get_lines()]
    assert any(np.array_equal(line, curve.table["statistic"]) for line in sampled if len(line) == 3)
    assert any(np.array_equal(line, curve.table["chance"]) for line in sampled if len(line) == 3)
    assert curve.plot(ax=ax) is ax


def cka(a, b):
    return dreval.hsic_test(a, b, n_resamples=1, random_state=0).effect_size


def test_ranking_is_the_greedy_search_by_hand():
    """Scores are those of the formula on all pairs, each next feature the best of those left."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 4))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=50)
    y = X[:, 0] + X[:, 2] ** 2 + 0.1 * rng.normal(size=50)
    relevance = [cka(X[:, j], y) for j in range(4)]
    pair = {(i, j): cka(X[:, i], X[:, j]) for i, j in itertools.product(range(4), repeat=2)}

    def score(chosen):
        redundancy = sum(pair[i, j] for i in chosen for j in chosen if i != j) / len(chosen) ** 2
        return sum(relevance[i] for i in chosen) / len(chosen) - redundancy

    chosen = []
    for row in dreval.dependence_ranking(X, y).itertuples():
        best = max((j for j in range(4) if j not in chosen), key=lambda j: score([*chosen, j]))
        redundancies = [pair[best, j] for j in chosen]
        chosen.append(best)
        assert row.feature == best
        assert row.score == pytest.approx(score(chosen))
        assert row.relevance == pytest.approx(relevance[best])
        assert row.redundancy == pytest.approx(np.mean(redundancies) if redundancies else 0.0)


def naive_alignment(x, y):
    """Centered kernel alignment of two columns by the formulas: Gaussian kernels, median of squared distances."""
    matrices = []
    for values in (x, y):
        squared = np.subtract.outer(values, values) ** 2
        kernel = np.exp(-squared / (2 * np.median(squared[np.triu_indices(len(values), 1)])))
        H = np.eye(len(values)) - 1 / len(values)
        matrices.append(H @ kernel @ H)
    K, L = matrices
    return (K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum())


@pytest.mark.parametrize("noise", [0.0, 1.0, 30.0])
def test_the_score_of_the_first_column_is_its_relevance(noise):
    """A column is not redundant with itself; Peng's criterion, which counts that as 1, has the same order."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    X[:, 3] = X[:, 0] + 0.2 * rng.normal(size=60)
    y = X[:, 0] + 0.3 * X[:, 1] + noise * rng.normal(size=60)
    relevance = [naive_alignment(X[:, j], y) for j in range(4)]
    ranking = dreval.dependence_ranking(X, y)
    assert ranking["score"][0] == ranking["relevance"][0] == pytest.approx(max(relevance))
    assert ranking["feature"][0] == int(np.argmax(relevance))
    chosen = ranking["feature"].tolist()
    pair = np.array([[naive_alignment(X[:, i], X[:, j]) for j in range(4)] for i in range(4)])
    for size in (1, 2, 3, 4):
        peng = [
            np.mean([relevance[i] for i in [*chosen[: size - 1], j]]) - pair[np.ix_(s, s)].mean()
            for j in range(4)
            if j not in chosen[: size - 1]
            for s in [[*chosen[: size - 1], j]]
        ]
        assert ranking["score"][size - 1] - 1 / size == pytest.approx(max(peng))


def test_ranking_keeps_the_names_of_a_frame():
    """Columns of a frame keep their names, y may be classes, and fewer features can be requested."""
    data = dreval.load_dataset("wdbc")
    frame = pd.DataFrame(data.data[:, :6], columns=data.feature_names[:6])
    ranking = dreval.dependence_ranking(frame, np.asarray(data.labels).astype(str), n_features=2)
    assert len(ranking) == 2
    assert set(ranking["feature"]) <= set(frame.columns)
    assert ranking["relevance"][0] == ranking["relevance"].max()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, y: dreval.kappa_curve(x, y, kappas=[]), "`kappas` must be positive numbers"),
        (lambda x, y: dreval.kappa_curve(x, y, kappas=[0.0, 1]), "`kappas` must be positive numbers"),
        (lambda x, y: dreval.bandwidth_curve(x, y, test="cca"), "`test` must be a known name"),
        (lambda x, y: dreval.bandwidth_curve(x > 0, y > 0), "`x` or `y` must have a bandwidth"),
        (lambda x, y: dreval.kappa_curve(x, y, kappa=0.1), "`kappa` must be left out: the curve varies it"),
        (lambda x, y: dreval.bandwidth_curve(x, y, bandwidth=1.0), "`bandwidth` must be left out"),
        (lambda x, y: dreval.bandwidth_curve(x, y, method="gamma"), "`method` must draw permutations"),
        (lambda x, y: dreval.dependence_ranking(x, y[:9]), "`y` must have one row per row of `X`"),
        (lambda _, y: dreval.dependence_ranking(np.ones(40), y), "`X[:, 0]` must vary"),
        (lambda x, y: dreval.dependence_ranking(x, y, n_features=2), "`n_features` must be an integer"),
    ],
)
def test_errors(call, message):
    """Invalid settings raise an error with their name."""
    with pytest.raises((InputError, dreval.errors.UnknownName)) as error:
        call(*sample())
    assert message in str(error.value)


def test_the_figure_marks_plain_numbers_and_names_its_lines():
    """Ticks are powers of two as fractions, or powers of ten; the legend above the axes names each line."""
    for curve, expected in (
        (dreval.bandwidth_curve(*sample(), n_resamples=9), ["1/8", "1/4", "1/2", "1", "2", "4", "8"]),
        (dreval.kappa_curve(*sample(), kappas=[0.001, 0.01, 3], n_resamples=9), ["0.001", "0.01", "0.1", "1"]),
    ):
        (ax,) = curve.plot().axes
        ax.figure.draw_without_rendering()
        assert [tick.get_text() for tick in ax.get_xticklabels()] == expected
        legend = ax.get_legend()
        assert [text.get_text() for text in legend.get_texts()] == ["observed", "permuted, mean to 95 %", "default"]
        assert legend.get_window_extent().y0 >= ax.get_window_extent().y1
        assert legend.get_window_extent().x1 <= ax.figure.bbox.x1


@pytest.mark.parametrize("method", ["gamma", "chi2"])
def test_the_figure_of_a_distribution_is_its_density(method):
    """A test without permutations draws the distribution that gave p: the area beyond the statistic is p."""
    x, y = sample()
    result = dreval.hsic_test(x, y, method=method) if method == "gamma" else dreval.cca_test(x, y, method=method)
    mean, sd = result.extra["chance"], result.extra["null_sd"]
    law = stats.gamma((mean / sd) ** 2, scale=sd**2 / mean)
    assert law.sf(result.statistic) == pytest.approx(result.p_value)
    (ax,) = result.plot().axes
    assert f"none ({'gamma' if method == 'gamma' else 'chi-square'})" in str(result.summary(full=True))
    assert ax.get_ylabel() == "null density"
    at, height = ax.collections[0].get_paths()[0].vertices.T
    inside = (at > law.ppf(0.2)) & (height > 0)
    np.testing.assert_allclose(height[inside], law.pdf(at[inside]), rtol=1e-9)


def test_series_are_called_by_their_names_in_print():
    """Variables are named as the series are; without a name as the arguments."""
    x, y = sample()
    text = str(dreval.hsic_test(pd.Series(x, name="age"), y, n_resamples=9).summary(full=True))
    assert "\nage" in text
    assert "\ny  " in text
