"""Size of every permutation test of independence: rejection rates where the null hypothesis is true; power of HSIC.

The seeds were fixed before the first run. This command prints the whole table; with the arguments
``"dcov heavy tails" 5000 2`` it prints one case (or several, separated by commas), with 5000 simulations and the third
stage of its seeds: ``python tests/validation/calibration/test_independence_size.py``.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import dreval

N, SIMULATIONS, RESAMPLES = 100, 1000, 199
LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
PRINTED_LEVELS = (0.01, 0.05, 0.1, 0.5)


def normal(rng, p):
    return rng.normal(size=(N, p))


def heavy(rng, p):
    return rng.standard_cauchy(size=(N, p))


def ties(rng, p):
    return rng.integers(0, 3, size=(N, p)).astype(float)


def duplicates(rng, p):
    return rng.normal(size=(N // 2, p))[rng.integers(0, N // 2, size=N)]


def classes(rng, p):
    return rng.choice(list("abc"), N)


LAWS = {"normal": normal, "heavy tails": heavy, "ties": ties, "duplicates": duplicates, "classes": classes}
TIED = ("ties", "duplicates", "classes")
TESTS = {
    "hsic": (dreval.hsic_test, (3, 2)),
    "kcca": (dreval.kcca_test, (3, 2)),
    "cca": (dreval.cca_test, (3, 2)),
    "dcov": (dreval.dcov_test, (3, 2)),
    "mmd": (dreval.mmd_test, (2, 2)),
    "hsic of three": (dreval.hsic_test, (1, 2, 1)),
    "kcca of three": (dreval.kcca_test, (1, 2, 1)),
}
SEEDS = {(test, law): 100 * i + j for i, test in enumerate(TESTS) for j, law in enumerate(LAWS)}
CASES = [case for case in SEEDS if case != ("mmd", "classes")]  # MMD compares samples of numbers


def p_values(test: str, law: str, simulations: int, stage: int = 0) -> np.ndarray:
    """Return p-values for independent variables (for MMD: for two samples of the same law)."""
    function, columns = TESTS[test]
    rng = np.random.default_rng([SEEDS[test, law], stage] if stage else SEEDS[test, law])
    values = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dreval.errors.DegenerateDataWarning)
        for b in range(simulations):
            variables = two_samples(law, rng) if test == "mmd" else independent(law, rng, columns)
            seed = stage * 10**6 + b
            values.append(function(*variables, n_resamples=RESAMPLES, random_state=seed, n_jobs=1).p_value)
    return np.array(values)


def independent(law, rng, columns):
    """Return independent variables of one law; with classes, the first variable has heavy tails."""
    first_law = heavy if law == "classes" else LAWS[law]
    return [first_law(rng, columns[0]), *(LAWS[law](rng, p) for p in columns[1:])]


def two_samples(law, rng):
    """Return two samples of one law; duplicates repeat the same 50 points in both."""
    if law != "duplicates":
        return [LAWS[law](rng, 2) for _ in range(2)]
    points = rng.normal(size=(N // 2, 2))
    return [points[rng.integers(0, N // 2, size=N)] for _ in range(2)]


def rates(p: np.ndarray) -> dict[float, float]:
    """Return the share of p-values up to each level; each level is a multiple of 1 / (RESAMPLES + 1)."""
    return {level: float(np.mean(p <= level + 1e-12)) for level in LEVELS}


def error(level: float, simulations: int) -> float:
    """Return the binomial standard error of a rejection rate."""
    return float(np.sqrt(level * (1 - level) / simulations))


def outside(p: np.ndarray, law: str) -> dict[float, float]:
    """Return rates more than three standard errors above a level; without ties, at 1 % and 5 % also those below."""
    wrong = {}
    for level, rate in rates(p).items():
        bound = 3 * error(level, len(p))
        below = law not in TIED and level in (0.01, 0.05) and rate < level - bound
        if rate > level + bound or below:
            wrong[level] = rate
    return wrong


def assert_size(test: str, law: str, simulations: int) -> None:
    """Check that the size is nominal within three standard errors.

    This file has 34 cases at two levels, so that one in six runs would show a rate outside by chance. Such a case gets
    four times as many further simulations with other seeds, and all its simulations count.
    """
    p = p_values(test, law, simulations)
    if outside(p, law):
        p = np.concatenate([p, p_values(test, law, 4 * simulations, stage=1)])
    assert outside(p, law) == {}


@pytest.mark.parametrize("test", ["cca", "dcov", "hsic", "mmd"])
def test_size_in_few_simulations(test):
    """200 simulations: rejection rates under the null hypothesis are nominal within three standard errors."""
    assert_size(test, "normal", 200)


@pytest.mark.calibration
@pytest.mark.parametrize(("test", "law"), CASES)
def test_size(test, law, n_simulations):
    """1000 simulations, n = 100: rejection at 1 % and 5 % is nominal within three standard errors, p super-uniform."""
    assert_size(test, law, n_simulations(SIMULATIONS))


@pytest.mark.calibration
def test_power_grows_with_n(n_simulations):
    """HSIC of y = x^2 + standard normal noise: the power at 5 % rises from n = 20 over 40 to 80, there above 90 %."""
    rng = np.random.default_rng(4)
    powers = []
    for n in (20, 40, 80):
        xs = rng.normal(size=(n_simulations(500), n))
        ys = xs**2 + rng.normal(size=xs.shape)
        p = [
            dreval.hsic_test(x, y, n_resamples=RESAMPLES, random_state=b, n_jobs=1).p_value
            for b, (x, y) in enumerate(zip(xs, ys, strict=True))
        ]
        powers.append(np.mean(np.array(p) <= 0.05))
    assert powers[0] < powers[1] < powers[2]
    assert powers[2] > 0.9


@pytest.mark.calibration
@pytest.mark.parametrize("permutation", ["within", "blocks", "cyclic"])
def test_size_of_restricted_permutation(permutation, n_simulations):
    """With rows that depend on their block or their time only, restricted permutation has size 5 %.

    Free permutation rejects too often.
    """
    rng, rejected, free = np.random.default_rng(900), [], []
    simulations = n_simulations(SIMULATIONS)
    block = np.repeat(np.arange(20), 5)
    for b in range(simulations):
        x, y, blocks = dependent_rows(permutation, rng, block)
        options = {"n_resamples": 99, "random_state": b, "n_jobs": 1}
        rejected.append(dreval.hsic_test(x, y, permutation=permutation, blocks=blocks, **options).p_value <= 0.05)
        free.append(dreval.hsic_test(x, y, **options).p_value <= 0.05)
    bound = 3 * error(0.05, simulations)
    assert np.mean(rejected) <= 0.05 + bound
    assert np.mean(free) > 0.05 + bound


def dependent_rows(permutation, rng, block):
    """Return variables that are independent given the restriction, but whose rows are dependent."""
    if permutation == "within":
        shared = rng.normal(size=20)[block]
        return shared + rng.normal(size=N), shared + rng.normal(size=N), block
    if permutation == "blocks":
        x, y = (rng.normal(size=20)[block] + 0.3 * rng.normal(size=N) for _ in range(2))
        return x, y, block
    weights = 0.8 ** np.arange(N)  # a stationary series on a circle: shifts do not change its law
    x, y = (np.fft.irfft(np.fft.rfft(rng.normal(size=N)) * np.fft.rfft(weights), N) for _ in range(2))
    return x, y, None


def table(cases, simulations: int, stage: int = 0) -> None:
    """Print the rejection rates of cases, and mark those outside three standard errors."""
    print(f"n = {N}, {simulations} simulations, {RESAMPLES} permutations, stage {stage} of the seeds")
    print("rates in %, with 3 standard errors of nominal; * above; at 1 % and 5 % also below, where there are no ties")
    print(f"{'test':<15}{'law':<13}{'1 %':>7}{'5 %':>7}{'10 %':>7}{'50 %':>7}")
    for test, law in cases:
        p = p_values(test, law, simulations, stage)
        wrong, shares = outside(p, law), rates(p)
        cells = "".join(f"{100 * shares[level]:>7.2f}" + "*" * (level in wrong) for level in PRINTED_LEVELS)
        print(f"{test:<15}{law:<13}{cells}", flush=True)
    bounds = "".join(f"{300 * error(level, simulations):>7.2f}" for level in PRINTED_LEVELS)
    print(f"{'3 SE':<28}{bounds}")


if __name__ == "__main__":
    chosen = [case for case in CASES if len(sys.argv) < 2 or " ".join(case) in sys.argv[1].split(",")]
    table(chosen, *(int(number) for number in sys.argv[2:] or [SIMULATIONS]))


@pytest.mark.calibration
@pytest.mark.parametrize("n", [30, 100])
def test_the_gamma_law_is_approximate_for_normal_variables(n, n_simulations):
    """1000 pairs of independent normal variables: at 1 % and 5 % at most the level and three standard errors."""
    rng, size = np.random.default_rng([17, n]), n_simulations(1000)
    p = np.array([dreval.hsic_test(*rng.normal(size=(2, n)), method="gamma", n_jobs=1).p_value for _ in range(size)])
    for level in (0.01, 0.05):
        assert np.mean(p <= level) <= level + 3 * np.sqrt(level * (1 - level) / size)
