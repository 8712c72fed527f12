"""Power of the independence tests on 20 shapes of dependence, beside hyppo and dcor, all by permutation, in one run.

``make bench ARGS=power`` takes 50 samples of each shape; ``python tests/benchmarks/bench_power.py 500 1,10`` takes 500,
in 1 and 10 dimensions. The shapes are the 20 of ``hyppo.tools.indep_sim`` (linear, exponential, cubic, joint normal,
step, quadratic, W, spiral, Bernoulli, logarithm, fourth root, sines, square, two parabolas, circle, ellipse, diamond,
multiplicative noise, independence), so that they are not of our making. Every tool sees the same samples. A rate is the
share of samples with p <= 5 %; its standard error is at most 0.5 / sqrt(samples). hyppo's Hsic is a normalised
statistic with one bandwidth for both variables, which it takes from the first.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

N, PERMUTATIONS, LEVEL = 100, 99, 0.05
Test = Callable[[Any, Any, int], float]


def tools() -> dict[str, Test]:
    """P-value of every test; what is not installed is left out."""
    import dreval

    def own(test: Callable[..., Any]) -> Test:
        return lambda x, y, b: test(x, y, n_resamples=PERMUTATIONS, random_state=b, n_jobs=1).p_value

    found = {name: own(getattr(dreval, f"{name}_test")) for name in ("hsic", "dcov", "kcca", "cca")}
    try:
        from hyppo.independence import Dcorr, Hsic

        for name, make in (("hyppo Hsic", Hsic), ("hyppo Dcorr", Dcorr)):
            found[name] = lambda x, y, b, make=make: make().test(
                x, y, reps=PERMUTATIONS, workers=1, auto=False, random_state=b
            )[1]
    except ImportError:
        print("hyppo is not installed")
    try:
        from dcor.independence import distance_covariance_test

        found["dcor"] = lambda x, y, b: (
            distance_covariance_test(x, y, num_resamples=PERMUTATIONS, random_state=np.random.RandomState(b)).pvalue
        )
    except ImportError:
        print("dcor is not installed")
    return found


def shapes() -> list[str]:
    """Names of hyppo's simulations."""
    from hyppo.tools import SIMULATIONS

    return list(SIMULATIONS)


def sample(shape: str, p: int) -> tuple[Any, Any]:
    """One sample of N pairs; hyppo draws from numpy's global generator, which the caller seeds."""
    from hyppo.tools import SIMULATIONS

    noise = {} if shape in ("multiplicative_noise", "multimodal_independence") else {"noise": True}
    return SIMULATIONS[shape](n=N, p=p, **noise)


def rows(samples: int = 50, dimensions: tuple[int, ...] = (1,)) -> list[dict[str, Any]]:
    """Power of every test on every shape, and the means."""
    warnings.simplefilter("ignore")
    tests, out = tools(), []
    spent = dict.fromkeys(tests, 0.0)
    for p in dimensions:
        case = f"power at {LEVEL:.0%}, n = {N}, p = {p}, {samples} samples, {PERMUTATIONS} permutations"
        means = {name: [] for name in tests}
        for shape in shapes():
            rejected = dict.fromkeys(tests, 0)
            for b in range(samples):
                np.random.seed(b)
                x, y = sample(shape, p)
                for name, test in tests.items():
                    start = perf_counter()
                    rejected[name] += test(x, y, b) <= LEVEL + 1e-12
                    spent[name] += perf_counter() - start
            rates = {name: f"{count / samples:.2f}" for name, count in rejected.items()}
            for name, count in rejected.items():
                means[name].append(count / samples)
            out.append({"case": case, "shape": shape, **rates})
        out.append({"case": case, "shape": "mean", **{name: f"{np.mean(v):.3f}" for name, v in means.items()}})
    runs = samples * len(dimensions) * len(shapes())
    out.append({"case": case, "shape": "ms a test", **{name: f"{1e3 * v / runs:.1f}" for name, v in spent.items()}})
    return out


if __name__ == "__main__":
    from run import show

    asked = tuple(int(p) for p in sys.argv[2].split(",")) if len(sys.argv) > 2 else (1,)
    show(rows(int(sys.argv[1]) if len(sys.argv) > 1 else 50, asked))
