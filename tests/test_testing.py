"""``dreval.testing``: assertions of test suites on the values of a method over its seeds."""

from __future__ import annotations

import math
import subprocess
import sys
from contextlib import nullcontext
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_matrix
from sklearn.neighbors import kneighbors_graph

import dreval
from dreval import testing
from dreval.errors import DrevalError, InputError, MethodFailed, UndefinedMeasure
from dreval.geometry import graphs as graphs_module
from dreval.methods import UMAP
from dreval.methods import umap as umap_module
from dreval.testing import assert_not_worse, replicate_values

X = np.random.default_rng(0).normal(size=(60, 6)) * [3, 3, 2, 1, 1, 1]
REFERENCE = np.random.default_rng(1).normal(0.9, 0.01, size=60)


class Drawn:
    """A method whose trustworthiness depends on its seed: the data with noise of the seed."""

    def __init__(self, noise: float) -> None:
        self.noise = noise

    def __call__(self, X: Any, n_components: int, random_state: int) -> Any:
        noise = np.random.default_rng(random_state).normal(size=(len(X), n_components))
        return X[:, :n_components] + self.noise * noise


def p_value(values: Any, reference: Any) -> float:
    """Return the p-value of the test."""
    return testing._one_sided_p(np.asarray(values, float), np.asarray(reference, float), 0)


def test_p_is_that_of_scipy() -> None:
    """Exact p-values of the mean difference, of equal and unequal numbers of runs, with and without equal values."""
    rng = np.random.default_rng(2)
    for r, m in ((4, 4), (5, 5), (3, 6)):
        for values, reference in (
            (rng.normal(size=r), rng.normal(size=m)),
            (rng.integers(0, 3, r) / 10, rng.integers(0, 4, m) / 10),
        ):
            expected = stats.permutation_test(
                (values, reference), lambda a, b: a.mean() - b.mean(), alternative="less", n_resamples=np.inf
            )
            assert p_value(values, reference) == pytest.approx(expected.pvalue, abs=1e-15)


@pytest.mark.slow
def test_p_of_ten_runs_counts_all_splits() -> None:
    """Of 10 + 10 runs 184,756 splits; only the observed one is as extreme where all values are lower."""
    rng = np.random.default_rng(3)
    assert p_value(rng.uniform(size=10), 2 + rng.uniform(size=10)) == 1 / math.comb(20, 10)
    values, reference = rng.normal(size=10), rng.normal(size=10)
    sums = [sum(split) for split in combinations([*values, *reference], 10)]
    assert p_value(values, reference) == np.mean(np.array(sums) <= values.sum() + 1e-12)


@pytest.mark.slow
def test_p_of_stored_values_is_sampled() -> None:
    """10 + 50 runs have 7.5e10 splits: (b + 1) / (m + 1) of random ones, near Student's p."""
    rng = np.random.default_rng(4)
    values, reference = rng.normal(-0.5, 1, size=10), rng.normal(size=50)
    student = stats.ttest_ind(values, reference, alternative="less").pvalue
    assert p_value(values, reference) == pytest.approx(student, rel=0.1)
    assert p_value(values - 10, reference) == 1 / 200_000


def test_values_that_do_not_vary_are_compared_directly() -> None:
    """The lower of two constants is worse; equal ones, up to rounding, are not."""
    five = np.full(5, 0.3)
    assert p_value(five - 1e-3, five) == 0
    assert p_value(five + 1e-3, five) == 1
    assert p_value(five + 1e-16, five) == p_value(five - 1e-16, five) == 1
    increasing = five + np.linspace(0, 1e-3, 5)
    assert p_value(five, increasing) == 6 / math.comb(10, 5)  # any five of six equal values are the smallest


def test_a_method_is_not_worse_than_itself_and_noise_is() -> None:
    """The margin decides: a loss of about .05 fails for a margin of .01, and passes for .1."""
    assert_not_worse(Drawn(0.3), Drawn(0.3), X, n_replicates=5, margin=0.0)
    loss = np.mean(replicate_values(Drawn(0.3), X)) - np.mean(replicate_values(Drawn(1.5), X))
    assert 0.02 < loss < 0.09
    with pytest.raises(AssertionError):
        assert_not_worse(Drawn(1.5), Drawn(0.3), X, n_replicates=5, margin=0.01)
    assert_not_worse(Drawn(1.5), Drawn(0.3), X, n_replicates=5, margin=0.1)
    assert_not_worse(Drawn(0.3), Drawn(1.5), X, n_replicates=5, margin=0.0)


@pytest.mark.parametrize("metric", ["cosine", "correlation", "geodesic"])
def test_the_metric_is_that_of_the_data(metric: str) -> None:
    """The values are those of ``score`` with this metric; the embeddings are compared by Euclidean distances."""
    noisy = Drawn(0.0)
    values = replicate_values(noisy, X, n_replicates=2, metric=metric)
    assert values == pytest.approx(dreval.score(X, X[:, :2], "trustworthiness", metric=metric), abs=1e-12)
    assert_not_worse(noisy, noisy, X, n_replicates=5, metric=metric, margin=0.0)
    with pytest.raises(AssertionError):
        assert_not_worse(Drawn(3.0), noisy, X, n_replicates=5, metric=metric, margin=0.01)


def test_methods_of_a_network_or_of_lists_are_refused() -> None:
    """No method can be run on them: the error names the method or the metric."""
    graph = kneighbors_graph(X, 12, mode="distance")
    with pytest.raises(UndefinedMeasure, match="`method` must be coordinates where the data are a network"):
        replicate_values("pca", graph.maximum(graph.T), n_replicates=2, metric="geodesic")
    with pytest.raises(DrevalError, match="neighbors"):
        replicate_values("pca", graph, n_replicates=2, metric="neighbors", n_neighbors=5)


def test_a_margin_that_no_loss_exceeds_is_refused() -> None:
    """The range of the measure is named, before a method is run."""
    with pytest.raises(InputError, match="`margin` must be below 1: trustworthiness is from 0 to 1"):
        assert_not_worse("pca", "pca", X, margin=1.5)
    assert_not_worse("pca", "pca", X, margin=0.99)


def test_lower_is_better_where_the_measure_says_so() -> None:
    """Stress: the noisy method is worse, although its values are higher."""
    with pytest.raises(AssertionError, match="stress"):
        assert_not_worse(Drawn(1.5), Drawn(0.3), X, measure="stress", n_replicates=5, margin=0.001)
    assert_not_worse(Drawn(0.3), Drawn(1.5), X, measure="stress", n_replicates=5, margin=0.001)


def test_the_message_has_the_numbers_and_what_to_do() -> None:
    """Both means, the difference, the margin and p; the seed of the worst run gives its value."""
    with pytest.raises(AssertionError) as failure:
        assert_not_worse(Drawn(1.5), Drawn(0.3), X, n_replicates=5, margin=0.01, n_neighbors=10)
    lines = str(failure.value).splitlines()
    new, old = (
        testing._run_values(
            testing._open_case(X, "trustworthiness", None, 10, "euclidean", None, 0), method, role, 5, testing.Runner()
        ).values
        for method, role in ((Drawn(1.5), "method"), (Drawn(0.3), "reference"))
    )
    numbers = [f"{part.mean():.4f}   sd {part.std(ddof=1):.4f} over 5 runs of Drawn" for part in (new, old)]
    assert lines[0] == "Drawn is worse than the reference by more than the margin (trustworthiness, k = 10)."
    assert lines[1].split(maxsplit=1) == ["method", numbers[0]]
    assert lines[2].split(maxsplit=1) == ["reference", numbers[1]]
    assert float(lines[3].split()[1]) == round(new.mean() - old.mean(), 4)
    assert lines[4].split()[:2] == ["margin", "0.0100"]
    assert lines[5].startswith("p = 0.004 (one-sided permutation test by all 252 splits of the runs)")
    seed, value = int(lines[6].partition("random_state=")[2].partition(":")[0]), lines[6].split()[-1]
    Y = Drawn(1.5)(X, 2, seed)
    assert value == f"{dreval.trustworthiness(X, Y, n_neighbors=10):.4f}."
    assert lines[7].startswith("If the loss is intended")
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize("values", [REFERENCE, REFERENCE.tolist(), pd.Series(REFERENCE)])
def test_values_in_place_of_the_method_are_refused(values: Any) -> None:
    """Also where there are as many values as points, which could be coordinates."""
    with pytest.raises(InputError, match=r"`method` must be a method.*the second argument, `reference`"):
        assert_not_worse(values, "pca", X, margin=0.01)


def test_stored_values_are_those_of_the_reference() -> None:
    """The first values of ``replicate_values`` are the reference of the assertion, with other seeds than its method."""
    case = testing._open_case(X, "trustworthiness", None, "auto", "euclidean", None, 0)
    stored = replicate_values(Drawn(0.3), X)
    reference = testing._run_values(case, Drawn(0.3), "reference", 10, testing.Runner()).values
    method = testing._run_values(case, Drawn(0.3), "method", 10, testing.Runner()).values
    assert len(stored) == 50
    assert np.array_equal(stored[:10], reference)
    assert not set(method) & set(stored)
    with pytest.raises(AssertionError, match="over 50 stored runs"):
        assert_not_worse(Drawn(1.5), stored, X, margin=0.01, n_replicates=5, alpha=1e-4)
    assert_not_worse(Drawn(0.3), list(stored), X, margin=0.01, n_replicates=5)


def test_a_deterministic_method_is_run_once() -> None:
    """PCA and classical MDS have equal maps; PCA against its worse components is compared without a test."""
    assert_not_worse("pca", "classical_mds", X, margin=0.0)
    with patch.object(dreval.methods.PCA, "_fit", autospec=True, side_effect=dreval.methods.PCA._fit) as fit:
        assert np.ptp(replicate_values("pca", X, n_replicates=4)) == 0
    assert fit.call_count == 1
    with pytest.raises(AssertionError, match="Neither of them varies") as failure:
        assert_not_worse(lambda X, d: X[:, -d:], "pca", X, margin=0.01)
    assert "random_state" not in str(failure.value)


@pytest.mark.slow
def test_nothing_depends_on_the_number_of_processes() -> None:
    """Two processes give the values of one."""
    umap = UMAP(n_epochs=20)
    assert np.array_equal(*(replicate_values(umap, X, n_replicates=4, n_jobs=jobs) for jobs in (1, 2)))


def test_labels_serve_their_measures() -> None:
    """A measure of labels reads them, also as a column of the data, which is then no feature."""
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=np.where(X[:, 0] > 0, "high", "low"))
    values = replicate_values("pca", frame, measure="knn_accuracy", labels="kind", n_replicates=1)
    Y = dreval.embed(X, "pca").coordinates
    assert values.tolist() == [dreval.score(X, Y, "knn_accuracy", labels=frame["kind"])]


def broken(_: Any, n_components: int) -> Any:
    """Raise an error of other code."""
    return n_components / 0


ERRORS: list[tuple[type[DrevalError], str, dict[str, Any]]] = [
    (InputError, "`alpha` must be at least 0.05, .* n_replicates=5 or more", {"n_replicates": 3}),
    (InputError, "`alpha` must be at least 5.4e-06, .* alpha=1e-05 or above", {"alpha": 1e-6}),
    (InputError, "`margin` must be a finite number >= 0", {"margin": -0.1}),
    (InputError, "`reference` must be at least 50 values, .*10 values", {"reference": REFERENCE[:10]}),
    (InputError, "`reference` must be a method, or the values", {"reference": X[:, :2]}),
    (InputError, "`reference` must be finite", {"reference": np.where(REFERENCE > 0.9, np.nan, REFERENCE)}),
    (UndefinedMeasure, "`method` must be able to .* compared by their points", {"method": X[:, :2]}),
    (InputError, "`measure` must have one value", {"measure": "r_nx"}),
    (InputError, "`measure` must have a value for each embedding", {"measure": "stability"}),
    (InputError, "`measure` must have a better direction", {"measure": "topographic_product"}),
    (InputError, "`labels` must be given for knn_accuracy", {"measure": "knn_accuracy"}),
    (InputError, "`n_neighbors` must be one number", {"n_neighbors": [5, 10]}),
    (MethodFailed, "`method` must embed the data with each of 10 seeds: got 10 failures", {"method": broken}),
    (MethodFailed, "`reference` must embed the data", {"reference": broken}),
]


@pytest.mark.parametrize(("error", "message", "changes"), ERRORS)
def test_bad_input_is_refused(error: type[DrevalError], message: str, changes: dict[str, Any]) -> None:
    """Each error names the argument of the call; none is an AssertionError."""
    arguments = {"method": "pca", "reference": "pca", "X": X, "margin": 0.01} | changes
    with pytest.raises(error, match=message):
        assert_not_worse(**arguments)


def test_the_margin_is_required() -> None:
    """There is no default margin."""
    with pytest.raises(TypeError, match="margin"):
        assert_not_worse("pca", "pca", X)  # type: ignore[call-arg]


# Wrong formulas of the bundled UMAP. With three of them every trustworthiness is above .95, so that a fixed threshold
# there, as in the test suites of other packages, would detect none of these.

DIGITS = dreval.load_dataset("digits").data[:150]
WEIGHTS, CURVE, PERIODS = umap_module.fuzzy_weights, umap_module.curve_parameters, umap_module.edge_periods


def without_rho(distances: Any, local: bool) -> Any:
    """Return weights exp(-d / sigma), from which the distance of the nearest neighbor is not subtracted."""
    _, rho, sigma = WEIGHTS(distances, local)
    return np.exp(-distances / sigma[:, None]), rho, sigma


def intersection(X: Any, k: int) -> Any:
    """Return the graph v v', of the edges that hold from both sides, in place of their union."""
    neighbors, squared = umap_module.nearest(X, k)
    weights, rho, sigma = WEIGHTS(np.sqrt(squared), local=True)
    indptr = np.arange(0, len(X) * k + 1, k)
    outgoing = csr_matrix((weights.ravel(), neighbors.ravel(), indptr), shape=(len(X), len(X)))
    graph = outgoing.multiply(outgoing.T).tocsr()
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph, rho, sigma


def half_exponent(min_dist: float, spread: float) -> Any:
    """Return a and b / 2: the curve 1 / (1 + a d^b)."""
    a, b = CURVE(min_dist, spread)
    return a, b / 2


def weak_edges_first(weights: Any, n_epochs: int) -> Any:
    """Return periods that make weak edges pull most often."""
    return PERIODS(weights.max() + weights.min() - weights, n_epochs)


class Patched:
    """UMAP with one function of its module replaced; the maps of a seed are computed once."""

    def __init__(self, name: str = "", wrong: Any = None) -> None:
        self.name, self.wrong, self.maps = name, wrong, {}

    def __call__(self, X: Any, n_components: int, random_state: int) -> Any:
        if random_state not in self.maps:
            module = graphs_module if self.name == "fuzzy_weights" else umap_module
            with patch.object(module, self.name, self.wrong) if self.name else nullcontext():
                umap = UMAP(n_components, n_neighbors=10, n_epochs=200, random_state=random_state)
                self.maps[random_state] = umap.fit_transform(X)
        return self.maps[random_state]


@pytest.fixture(scope="module")
def true_umap() -> Patched:
    """Return the bundled UMAP, whose reference runs are computed once."""
    return Patched()


MUTANTS = {
    "no rho": ("fuzzy_weights", without_rho),
    "intersection": ("fuzzy_graph", intersection),
    "half exponent": ("curve_parameters", half_exponent),
    "weak edges first": ("edge_periods", weak_edges_first),
}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_formula_of_umap_is_detected(mutant: str, true_umap: Patched) -> None:
    """Each fails with a margin of .001 at a false-alarm rate of 1e-3."""
    wrong = Patched(*MUTANTS[mutant])
    with pytest.raises(AssertionError, match="Patched is worse"):
        assert_not_worse(wrong, true_umap, DIGITS, margin=0.001, alpha=1e-3, n_neighbors=10)
    values = [dreval.trustworthiness(DIGITS, Y, n_neighbors=10) for Y in wrong.maps.values()]
    assert min(values) > (0.9 if mutant == "no rho" else 0.95)


@pytest.mark.slow
def test_the_true_umap_passes(true_umap: Patched) -> None:
    """Other seeds of the same code."""
    assert_not_worse(UMAP(n_neighbors=10, n_epochs=200), true_umap, DIGITS, margin=0.001, alpha=1e-3, n_neighbors=10)


SUITE = """
import numpy as np
import dreval.testing

X = np.random.default_rng(0).normal(size=(60, 6)) * [3, 3, 2, 1, 1, 1]

def worse(X, n_components, random_state):
    return np.random.default_rng(random_state).normal(size=(len(X), n_components))

def test_passes():
    dreval.testing.assert_not_worse("pca", worse, X, margin=0.0, n_replicates=5)

def test_fails():
    dreval.testing.assert_not_worse(worse, "pca", X, margin=0.0, n_replicates=5)
"""


@pytest.mark.slow
def test_pytest_shows_the_line_of_the_test(tmp_path: Path) -> None:
    """In a suite of another project: one test passes, and the traceback of the other one is that of its line."""
    (tmp_path / "test_maps.py").write_text(SUITE, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_maps.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert '>       dreval.testing.assert_not_worse(worse, "pca", X, margin=0.0, n_replicates=5)' in run.stdout
    assert "worse is worse than the reference by more than the margin" in run.stdout
    assert "raise AssertionError" not in run.stdout
