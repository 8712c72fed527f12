"""Tensors of torch and jax give the same results as arrays."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.source import as_source

pytestmark = pytest.mark.doors

X = np.random.default_rng(0).normal(size=(9, 3))
X[X < -0.5] = 0.0


@pytest.fixture
def torch() -> ModuleType:
    import torch

    return torch


@pytest.fixture
def jnp() -> ModuleType:
    import jax.numpy

    return jax.numpy


def test_tensors_of_torch(torch: ModuleType) -> None:
    """Gradients, parameters, views, every real type: the float64 value of each cell."""
    T = torch.tensor(X)
    for value in (T, T.clone().requires_grad_(), torch.nn.Parameter(T), torch._neg_view(-T), T.t().contiguous().t()):
        assert np.array_equal(as_data(value).X, X)
    for kind in ("float32", "float16", "bfloat16", "float8_e4m3fn", "int32", "uint8", "bool"):
        narrow = T.to(getattr(torch, kind))
        assert np.array_equal(as_data(narrow).X, narrow.to(torch.float64).numpy())


def test_sparse_tensors_stay_sparse(torch: ModuleType) -> None:
    """The layouts in coordinates, rows and columns hold the numbers of the dense tensor."""
    T = torch.tensor(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that its rows and columns are a beta
        rows, columns = T.to_sparse_csr(), T.to_sparse_csc()
    for value in (T.to_sparse(), rows, columns, T.bfloat16().to_sparse()):
        data = as_data(value)
        assert data.sparse
        assert np.array_equal(data.dense(), value.to_dense().to(torch.float64).numpy())


def test_tensors_as_labels_and_embeddings(torch: ModuleType) -> None:
    """Labels, coordinates with a gradient, and results of a network may be tensors."""
    data = as_data(X, labels=torch.tensor([0, 1, 2] * 3))
    assert data.labels.codes.tolist() == [0, 1, 2] * 3
    result = as_source(torch.tensor(X[:, :2]).requires_grad_(), "e", data)
    assert np.array_equal(result.coordinates(data), X[:, :2])
    layer = torch.nn.Linear(3, 2).double()
    expected = X @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    encoder = as_source(lambda points, _: layer(torch.from_numpy(points)), "n", data)
    assert np.allclose(encoder.coordinates(data), expected, rtol=1e-12)


def test_empty_or_complex_tensors_raise_an_error(torch: ModuleType) -> None:
    """A tensor without memory, and complex ones."""
    with pytest.raises(InputError, match="must become an array of numpy"):
        as_data(torch.empty(9, 3, device="meta"))
    with pytest.raises(InputError, match="must be real"):
        as_data(torch.tensor(X + 1j))


def test_arrays_of_jax(jnp: ModuleType) -> None:
    """Arrays of jax, also in half precision, work as data, labels, coordinates and results of a function."""
    J = jnp.asarray(X, dtype=jnp.float32)
    expected = X.astype(np.float32)
    assert np.array_equal(as_data(J).X, expected)
    half: Any = J.astype(jnp.bfloat16)
    assert np.array_equal(as_data(half).X, np.asarray(half.astype(jnp.float32)))
    data = as_data(X, labels=jnp.asarray([0, 1, 2] * 3))
    assert data.labels.codes.tolist() == [0, 1, 2] * 3
    assert np.array_equal(as_source(J[:, :2], "e", data).coordinates(data), expected[:, :2])
    result = as_source(lambda points, d: jnp.asarray(points, dtype=jnp.float32)[:, :d], "f", data)
    assert np.array_equal(result.coordinates(data), expected[:, :2])
