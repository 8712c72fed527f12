"""Methods that do small algebra in a loop do it in one thread: several would wait for each other."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dreval._parallel import MAX_ROWS_ON_ONE_THREAD, few_blas_threads
from dreval.methods import GPLVM, MVU, SNE, TSNE, Autoencoder

INNER = [
    (GPLVM(2, max_iter=2, tol=0.1), "gplvm", "objective"),
    (MVU(2), "mvu", "unfold"),
    (SNE(2, max_iter=2, tol=0.1), "_cost_method", "descend"),
    (Autoencoder(2, hidden=(2,), n_epochs=2), "_networks", "adam_step"),
]


def _threads():
    """Threads of the libraries of linear algebra."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_threads_are_few_for_few_rows_only():
    """One thread up to the bound, the previous number above it, and the previous number afterwards."""
    with threadpool_limits(2, user_api="blas"):
        with few_blas_threads(MAX_ROWS_ON_ONE_THREAD):
            assert _threads() == {1}
        with few_blas_threads(MAX_ROWS_ON_ONE_THREAD + 1):
            assert _threads() == {2}
        assert _threads() == {2}


@pytest.mark.filterwarnings("ignore::dreval.errors.ApproximationWarning")
@pytest.mark.parametrize(("method", "module", "name"), INNER, ids=["gplvm", "mvu", "sne", "autoencoder"])
def test_inner_loops_run_in_one_thread(monkeypatch, method, module, name):
    """Repeated inner loops run in one thread, and the caller has all threads afterwards."""
    owner, counts = importlib.import_module(f"dreval.methods.{module}"), []
    inner = getattr(owner, name)

    def watched(*arguments):
        counts.append(_threads())
        return inner(*arguments)

    monkeypatch.setattr(owner, name, watched)
    X = np.random.default_rng(0).normal(size=(30, 3))
    with threadpool_limits(2, user_api="blas"):
        method.fit(X)
        assert _threads() == {2}
    assert counts
    assert all(threads == {1} for threads in counts)


def test_tsne_of_many_points_runs_in_one_thread_and_is_equal_for_any_number():
    """Sums over coordinates in several threads took four times as long, and other roundings led to other maps."""
    X = np.random.default_rng(0).normal(size=(MAX_ROWS_ON_ONE_THREAD + 200, 12))
    result = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            result.append(TSNE(perplexity=10, max_iter=25, exaggeration_iter=30, random_state=0).fit_transform(X))
    np.testing.assert_array_equal(*result)
