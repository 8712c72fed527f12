"""The key of stored work changes with all that its numbers depend on, and with nothing else."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dreval.inputs.data import as_data
from dreval.inputs.source import as_source
from dreval.storage import keys
from dreval.storage.keys import work_key
from dreval.storage.store import key_hash

X = np.random.default_rng(0).normal(size=(30, 4))
LABELS, OTHER_LABELS = list("ab") * 15, list("aab") * 10


def supervised(X: np.ndarray, n_components: int, labels: np.ndarray) -> np.ndarray:
    return X[:, :n_components] * (labels == "a")[:, None]


def unsupervised(X: np.ndarray, n_components: int) -> np.ndarray:
    return X[:, :n_components]


def hash_of(
    method: Any = unsupervised, X: np.ndarray = X, labels: Any = None, d: int = 2, seed: int = 0, **settings: Any
) -> str:
    """Return the hash of the key of a method on some data."""
    data = as_data(X, labels=labels)
    return key_hash(work_key(data, as_source(method, "source", data), d, seed, settings))


def test_a_key_depends_on_data_method_components_seed_and_settings() -> None:
    """Each of them changes the hash; an equal copy of the data does not."""
    different = [
        hash_of(),
        hash_of(X=X + 1),
        hash_of(method=lambda X, n_components: X[:, -n_components:]),
        hash_of(method="pca"),
        hash_of(d=3),
        hash_of(seed=1),
        hash_of(part="x"),
    ]
    assert len({*different}) == len(different)
    assert hash_of(X=X.copy()) == hash_of()


def test_labels_are_part_of_the_key_of_a_supervised_method() -> None:
    """A method that does not use them has the same key with other labels."""
    assert hash_of(supervised, labels=LABELS) != hash_of(supervised, labels=OTHER_LABELS)
    assert hash_of(labels=LABELS) == hash_of(labels=OTHER_LABELS) == hash_of()


def test_versions_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the version of scipy or numba, which the methods use."""
    before = hash_of()
    versions = keys.versions()
    assert versions.keys() == {"dreval", "numpy", "scipy", "numba"}
    monkeypatch.setattr(keys, "versions", lambda: {**versions, "scipy": "1.0"})
    assert hash_of() != before


def test_a_data_key_has_all_variables_by_default() -> None:
    """Their names are those of the data set; each changes with its values."""
    data = as_data(X, labels=LABELS, latent=X[:, :1], batch=OTHER_LABELS)
    key = keys.data_key(data)
    assert key.keys() == {"n", "p", "sha256", *keys.VARIABLES}
    for name in keys.VARIABLES:
        without = keys.data_key(dataclasses.replace(data, **{name: None}))
        assert [entry for entry in key if key[entry] != without[entry]] == [name]
