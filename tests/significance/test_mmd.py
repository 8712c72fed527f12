"""Maximum mean discrepancy against plain sums, HSIC and analysis of variance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import clouds

import dreval
from dreval.errors import InputError
from dreval.geometry.kernels import gram_matrix

pytestmark = pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")


def quick(*samples, **options):
    return dreval.mmd_test(*samples, n_resamples=1, random_state=0, **options)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "linear", "binomial"])
@given(X=clouds(min_n=8, kinds=("normal", "curve", "duplicates"), scales=False), n_first=st.integers(2, 6))
def test_statistics_are_their_sums(kernel, X, n_first):
    """V- and U-statistic are the means of kernel values within and between the samples."""
    K = gram_matrix(X, "x", kernel).matrix
    within_x, second, between = K[:n_first, :n_first], K[n_first:, n_first:], K[:n_first, n_first:]
    result = quick(X[:n_first], X[n_first:], kernel=kernel)
    scale = float(np.abs(K).max())
    expected = float(within_x.mean() + second.mean() - 2 * between.mean())
    assert result.statistic == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)
    means = [(B.sum() - np.trace(B)) / (len(B) * (len(B) - 1)) for B in (within_x, second)]
    assert result.extra["unbiased"] == pytest.approx(float(sum(means) - 2 * between.mean()), abs=1e-11 * scale)


def test_linear_kernel_gives_the_distance_of_means():
    """With the linear kernel MMD^2 is the squared distance of the means, and eta^2 that of analysis of variance."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 1)), rng.normal(size=(20, 1)) + 1
    result = quick(x, y, kernel="linear")
    joined = np.concatenate([x, y])
    within = ((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()
    assert result.statistic == pytest.approx(float((x.mean() - y.mean()) ** 2))
    assert result.effect_size == pytest.approx(1 - within / float(((joined - joined.mean()) ** 2).sum()))


def test_it_is_hsic_with_the_groups():
    """MMD^2 is n^4 / (2 m1^2 m2^2) HSIC of the rows with their groups, and p the same on the same permutations."""
    rng = np.random.default_rng(1)
    X, groups = rng.normal(size=(40, 2)), np.repeat(["a", "b"], [15, 25])
    hsic = dreval.hsic_test(X, groups, random_state=0)
    result = dreval.mmd_test(X, groups=groups, random_state=0)
    assert result.statistic == pytest.approx(hsic.statistic * 40**4 / (2 * 15**2 * 25**2))
    assert abs(result.p_value - hsic.p_value) < 0.05


def test_samples_groups_and_precomputed_kernels_agree():
    """Two samples, one sample with groups in any order, and its kernel matrix give the same statistics."""
    rng = np.random.default_rng(2)
    X, groups = rng.normal(size=(30, 2)), np.arange(30) % 3 == 0
    left = quick(X[groups], X[~groups])
    K = gram_matrix(X, "x").matrix
    for right in (quick(X, groups=groups), quick(K, groups=groups, kernel="precomputed")):
        assert right.statistic == pytest.approx(left.statistic)
        assert right.effect_size == pytest.approx(left.effect_size)
        assert right.extra["unbiased"] == pytest.approx(left.extra["unbiased"])


def test_classes_are_compared_by_their_shares():
    """Of classes MMD^2 with the delta kernel is the sum of squared differences of their shares."""
    x, y = list("aabbb"), list("abcc")
    shares = np.array([2 / 5 - 1 / 4, 3 / 5 - 1 / 4, -2 / 4])
    assert quick(x, y).statistic == pytest.approx(float((shares**2).sum()))


def test_exchange_within_blocks():
    """Blocks keep the order of the rows they came in: rows of one block exchange groups, others never."""
    rng = np.random.default_rng(3)
    block = np.repeat([0, 1], 10)
    X = 10.0 * block[:, None] + rng.normal(size=(20, 1))
    groups = np.r_[np.ones(8), np.zeros(2), np.ones(2), np.zeros(8)].astype(int)  # differ between blocks only
    free = dreval.mmd_test(X, groups=groups, random_state=0)
    within = dreval.mmd_test(X, groups=groups, permutation="within", blocks=block, random_state=0)
    assert free.p_value < 0.05 < within.p_value


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        ((np.arange(5),), {}, "`y` must be the second sample"),
        ((np.arange(5), np.arange(5)), {"groups": [0, 0, 1, 1, 1]}, "`y` must be the second sample"),
        ((np.ones((5, 2)), np.ones((5, 3))), {}, "`y` must have the columns of `x`: got 2 and 3 columns"),
        ((np.arange(6),), {"groups": list("abcabc")}, "`groups` must be two classes"),
        ((np.arange(6),), {"groups": list("aaaaab")}, "`groups` must be two classes"),
        ((np.ones(5), np.ones(5)), {}, "`x` must vary"),
        ((np.arange(5), np.arange(4)), {"permutation": "cyclic"}, "`permutation` must not be 'cyclic'"),
    ],
)
def test_errors(samples, options, message):
    """Inputs that are not two samples raise an error with their name and a hint."""
    with pytest.raises(InputError) as error:
        dreval.mmd_test(*samples, **options)
    assert message in str(error.value)


def test_splits_are_counted_not_permutations():
    """Two of four in one block, one of three in the other: 6 x 3 splits, and p is their share by hand."""
    x, groups = np.array([0.1, 2.0, 3.5, 9.0, 1.0, 4.0, 8.0]), np.array([1, 1, 0, 0, 1, 0, 0])
    blocks = np.array([0, 0, 0, 0, 1, 1, 1])
    result = dreval.mmd_test(x, groups=groups, permutation="within", blocks=blocks, n_resamples=18)
    assert result.n_resamples == 18
    assert "All 18 splits were enumerated" in str(result.notes[0])
    values = []
    for pair in itertools.combinations(range(4), 2):
        for n in range(4, 7):
            chosen = np.isin(np.arange(7), [*pair, n])
            values.append(quick(x, groups=chosen.astype(int)).statistic)
    assert sorted(result.null_distribution) == pytest.approx(sorted(values))
    assert result.p_value == np.mean(np.array(values) >= result.statistic * (1 - 1e-9))
    sampled = dreval.mmd_test(x, groups=groups, permutation="within", blocks=blocks, n_resamples=17)
    assert sampled.n_resamples == 17
    assert not any("enumerated" in str(note) for note in sampled.notes)
