"""Power of the independence tests and those of hyppo and dcor on 20 shapes of dependence, all by permutation.

``make bench ARGS=power`` takes 50 samples of each shape in one dimension;
``python tests/benchmarks/bench_power.py 200 1,10 power.jsonl`` takes 200 in 1 and 10 dimensions, 25 of every shape at a
time, and stores them in the file, from which a stopped run resumes; with 0 samples it prints the file.

The shapes are the 20 of ``hyppo.tools.indep_sim``, an independent choice. All tools get the same samples and number of
permutations; a rate is the share of samples with p <= 5 %. Differences of rates are printed with their number of paired
standard errors, and marked beyond three.

hyppo takes nearly all of the time. With ``fast`` after the file its statistics are permuted by dreval's loop instead:
on every sample the statistic must equal hyppo's to 1e-9, and only the permutations differ.

The compared tests: hyppo's Hsic is normalized and takes one bandwidth for both variables, the median distance of the
first; "hsic, sigma of x" is ours with that bandwidth. hyppo's Dcorr is bias-corrected, dcor's test has the statistic of
ours. hyppo's default is a chi-square approximation; here it permutes (``auto=False``). Its Hsic ignores
``random_state`` and draws from numpy's global generator, which is seeded before each sample.

Where ours was below hyppo by more than three standard errors in 200 samples: HSIC on the fourth root in one dimension
and on the step in ten, where the bandwidth of x suits y better than the bandwidth of y, and gives ours the same rate;
distance covariance on the circle and the diamond in one dimension, where the bias-corrected statistic has more power.
It has less power for multiplicative noise.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

N, PERMUTATIONS, LEVEL = 100, 99, 0.05
PART = 25  # samples of one shape in a row
PAIRS = (("hsic", "hyppo Hsic"), ("hsic, sigma of x", "hyppo Hsic"), ("dcov", "hyppo Dcorr"), ("dcov", "dcor"))
Test = Callable[[Any, Any, int], float]


def tools(quick: bool = False) -> dict[str, Test]:
    """Return the p-value function of every installed test."""
    import dreval

    def dreval_test(test: Callable[..., Any]) -> Test:
        return lambda x, y, b: test(x, y, n_resamples=PERMUTATIONS, random_state=b, n_jobs=1).p_value

    def one_bandwidth(x: Any, y: Any, b: int) -> float:
        sigma = float(np.sqrt(np.median(pdist(x, "sqeuclidean"))))
        settings = {"n_resamples": PERMUTATIONS, "random_state": b, "n_jobs": 1}
        return dreval.hsic_test(x, y, bandwidth=(sigma, sigma), **settings).p_value

    from scipy.spatial.distance import pdist

    tests = {name: dreval_test(getattr(dreval, f"{name}_test")) for name in ("hsic", "dcov")}
    return {**tests, "hsic, sigma of x": one_bandwidth, **(fast() if quick else peer_tests())}


def fast() -> dict[str, Test]:
    """Return the statistics of hyppo's tests under permutations of dreval's engine."""
    from hyppo.independence import Dcorr, Hsic
    from hyppo.tools import compute_dist, compute_kern

    def permuted(matrices: Any, statistic: float, b: int, name: str) -> float:
        a, c = (u_centered(matrix) for matrix in matrices)
        size = float(np.sqrt(np.vdot(a, a) * np.vdot(c, c)))
        assert abs(float(np.vdot(a, c)) / size - statistic) < 1e-9
        pair = exact_pair(a, c)
        return permutation_null(pair.inner, N, PERMUTATIONS, b, name, n_jobs=1).p_value

    from dreval.inference.permutation import permutation_null
    from dreval.significance.base import exact_pair

    return {
        "hyppo Hsic": lambda x, y, b: permuted([1 - K for K in compute_kern(x, y)], Hsic().statistic(x, y), b, "Hsic"),
        "hyppo Dcorr": lambda x, y, b: permuted(compute_dist(x, y), Dcorr().statistic(x, y), b, "Dcorr"),
    }


def u_centered(matrix: Any) -> Any:
    """Return a symmetric matrix with diagonal 0 and row sums 0 of the other entries."""
    n = len(matrix)
    rows = matrix.sum(axis=0) / (n - 2)
    centered = matrix - rows - rows[:, None] + matrix.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centered, 0.0)
    return centered


def peer_tests() -> dict[str, Test]:
    """Return the tests of hyppo and dcor, if they are installed."""
    tests: dict[str, Test] = {}
    try:
        from hyppo.independence import Dcorr, Hsic

        for name, make in (("hyppo Hsic", Hsic), ("hyppo Dcorr", Dcorr)):
            tests[name] = lambda x, y, b, make=make: make().test(
                x, y, reps=PERMUTATIONS, workers=1, auto=False, random_state=b
            )[1]
    except ImportError:
        print("hyppo is not installed")
    try:
        from dcor.independence import distance_covariance_test

        tests["dcor"] = lambda x, y, b: (
            distance_covariance_test(x, y, num_resamples=PERMUTATIONS, random_state=np.random.RandomState(b)).pvalue
        )
    except ImportError:
        print("dcor is not installed")
    return tests


def shapes() -> list[str]:
    """Return the names of hyppo's simulations."""
    from hyppo.tools import SIMULATIONS

    return list(SIMULATIONS)


def sample(shape: str, p: int, b: int) -> tuple[Any, Any]:
    """Return sample b of N pairs; hyppo draws from numpy's global generator."""
    from hyppo.tools import SIMULATIONS

    np.random.seed(100_000 * p + 1000 * shapes().index(shape) + b)
    noise = {} if shape in ("multiplicative_noise", "multimodal_independence") else {"noise": True}
    return SIMULATIONS[shape](n=N, p=p, **noise)


def rejections(shape: str, p: int, start: int, stop: int, tests: dict[str, Test]) -> dict[str, Any]:
    """Return for every test which samples from start to stop it rejects, and its seconds."""
    rejected: dict[str, list[int]] = {name: [] for name in tests}
    seconds = dict.fromkeys(tests, 0.0)
    for b in range(start, stop):
        x, y = sample(shape, p, b)
        for name, test in tests.items():
            began = perf_counter()
            rejected[name].append(int(test(x, y, b) <= LEVEL + 1e-12))
            seconds[name] += perf_counter() - began
    return {"p": p, "shape": shape, "start": start, "stop": stop, "rejected": rejected, "seconds": seconds}


def study(
    samples: int, dimensions: Sequence[int], file: Path | None = None, quick: bool = False
) -> list[dict[str, Any]]:
    """Return the rejections in parts of every shape; parts in the file are not computed again."""
    warnings.simplefilter("ignore")
    records = [json.loads(line) for line in file.read_text().splitlines()] if file and file.exists() else []
    done = {(record["p"], record["shape"], record["start"], record["stop"]): record for record in records}
    tests = tools(quick)
    for start in range(0, samples, PART):
        stop = min(start + PART, samples)
        for key in [(p, shape, start, stop) for p in dimensions for shape in shapes()]:
            if key not in done:
                done[key] = rejections(key[1], key[0], start, stop, tests)
                if file:
                    with file.open("a") as lines:
                        lines.write(json.dumps(done[key]) + "\n")
    return whole_parts(list(done.values()), dimensions)


def whole_parts(records: list[dict[str, Any]], dimensions: Sequence[int]) -> list[dict[str, Any]]:
    """Return one record a shape, of the parts that all shapes have."""
    cells = {(p, shape) for p in dimensions for shape in shapes()}
    parts = {(record["start"], record["stop"]) for record in records}
    parts = {k for k in parts if cells <= {(o["p"], o["shape"]) for o in records if (o["start"], o["stop"]) == k}}
    out = []
    for p, shape in sorted(cells, key=lambda key: (key[0], shapes().index(key[1]))):
        parts_of_shape = [o for o in records if (o["p"], o["shape"]) == (p, shape) and (o["start"], o["stop"]) in parts]
        parts_of_shape.sort(key=lambda record: record["start"])
        names = list(parts_of_shape[0]["rejected"])
        rejected = {name: [record for part in parts_of_shape for record in part["rejected"][name]] for name in names}
        seconds = {name: sum(record["seconds"][name] for record in parts_of_shape) for name in names}
        out.append({"p": p, "shape": shape, "rejected": rejected, "seconds": seconds})
    return out


def difference(left: Any, right: Any) -> str:
    """Return the difference of two rates in units and in paired standard errors; beyond three it is marked."""
    gaps = np.asarray(left, dtype=float) - np.asarray(right, dtype=float)
    error = gaps.std(axis=-1, ddof=1) / np.sqrt(gaps.shape[-1])
    return format_difference(float(gaps.mean()), float(np.sqrt(np.mean(error**2) / error.size)))


def format_difference(gap: float, error: float) -> str:
    """Return a difference and its number of standard errors."""
    ratio = gap / error if error > 0 else np.sign(gap) * np.inf if gap else 0.0
    return f"{gap:+.3f} ({ratio:+.1f}){'*' if abs(ratio) > 3 else ' '}"


def table(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the power of every test on every shape, means, milliseconds and differences."""
    powers, differences = [], []
    for p in dict.fromkeys(record["p"] for record in records):
        shapes_of_p = [record for record in records if record["p"] == p]
        samples = len(next(iter(shapes_of_p[0]["rejected"].values())))
        case = f"power at {LEVEL:.0%}, n = {N}, p = {p}, {samples} samples, {PERMUTATIONS} permutations"
        names = list(shapes_of_p[0]["rejected"])
        rejections_of = {name: np.array([record["rejected"][name] for record in shapes_of_p]) for name in names}
        seconds_of = {name: sum(record["seconds"][name] for record in shapes_of_p) for name in names}
        for i, record in enumerate(shapes_of_p):
            cells = {name: f"{rejections_of[name][i].mean():.2f}" for name in names}
            powers.append({"case": case, "shape": record["shape"], **cells})
        powers.append({"case": case, "shape": "mean", **{name: f"{rejections_of[name].mean():.3f}" for name in names}})
        runs = samples * len(shapes_of_p)
        powers.append(
            {"case": case, "shape": "ms a test", **{name: f"{1e3 * seconds_of[name] / runs:.1f}" for name in names}}
        )
        pairs = [pair for pair in PAIRS if set(pair) <= set(names)]
        title = f"difference of power (in standard errors; * beyond 3), p = {p}"
        for i, record in enumerate(shapes_of_p):
            cells = {f"{a} - {b}": difference(rejections_of[a][i], rejections_of[b][i]) for a, b in pairs}
            differences.append({"case": title, "shape": record["shape"], **cells})
        cells = {f"{a} - {b}": difference(rejections_of[a], rejections_of[b]) for a, b in pairs}
        differences.append({"case": title, "shape": "mean", **cells})
    return powers + differences


def rows(
    samples: int = 50, dimensions: Sequence[int] = (1,), file: Path | None = None, quick: bool = False
) -> list[dict[str, Any]]:
    """Return the whole study as rows of one table."""
    return table(study(samples, dimensions, file, quick))


if __name__ == "__main__":
    from run import show, versions

    arguments = dict(enumerate(sys.argv[1:]))
    dimensions = tuple(int(p) for p in arguments.get(1, "1").split(","))
    print(versions())
    show(
        rows(
            int(arguments.get(0, 50)),
            dimensions,
            Path(arguments[2]) if 2 in arguments else None,
            arguments.get(3) == "fast",
        )
    )
