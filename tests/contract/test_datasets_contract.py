"""The properties that every data set of the registry declares."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import dreval
from dreval.datasets._dataset import Dataset, DatasetCard
from dreval.errors import InputError, UnknownName
from dreval.registry import DATASETS

LOADERS = [name for name in DATASETS.names() if DATASETS.card(name).origin == "loader"]
NAMES = [name for name in DATASETS.names() if name not in LOADERS]
BUNDLED = [name for name in NAMES if DATASETS.card(name).origin == "bundled"]
SIMULATED = [name for name in NAMES if DATASETS.card(name).origin == "simulated"]


def _load(name):
    return dreval.load_dataset(name) if name in BUNDLED else dreval.simulate(name, random_state=0)


def test_every_data_set_is_bundled_simulated_or_a_file():
    """The three kinds cover the registry; names of loaders end in ``_file``, and only loaders have file names."""
    assert sorted(BUNDLED + SIMULATED + LOADERS) == DATASETS.names() == dreval.list_datasets()
    assert LOADERS == [name for name in DATASETS if name.endswith("_file")]
    assert LOADERS == [name for name in DATASETS if DATASETS.card(name).files]


@each("name", NAMES)
def test_card_and_data_agree(name):
    """Sizes and names are those of the card, values are finite, and everything has a row per point."""
    data = _load(name)
    assert isinstance(data, Dataset)
    assert isinstance(data.card, DatasetCard)
    assert data.card.name == name
    assert all([data.card.title, data.card.source, data.card.license, data.card.reference])
    assert data.data.shape == (data.card.n, data.card.p)
    assert data.data.dtype == np.float64
    assert np.isfinite(data.data).all()
    assert len(data.feature_names) == data.card.p == len(set(data.feature_names))
    for part in (data.labels, data.latent):
        assert part is None or len(part) == data.card.n
    assert data.latent is None or data.latent.ndim == 2
    assert name in repr(data)
    assert data.to_frame().shape == (data.card.n, data.card.p + (data.labels is not None))


@given(n=st.integers(4, 60), seed=st.integers(0, 2**40))
@each("name", SIMULATED)
def test_simulations_have_n_points_and_obey_the_seed(name, n, seed):
    """n is the number of points; a seed, passed or from the recipe, gives the same data; another seed gives others."""
    sample, copy, reseeded = (dreval.simulate(name, n, random_state=s) for s in (seed, seed, seed + 1))
    assert len(sample.data) == n
    assert_array_equal(sample.data, copy.data)
    assert_array_equal(sample.latent, copy.latent)
    assert not np.array_equal(sample.data, reseeded.data)
    assert_array_equal(dreval.simulate(name, **sample.recipe).data, sample.data)


@each("name", SIMULATED)
def test_a_run_without_a_seed_can_be_reproduced(name):
    """random_state=None stores the seed it used; two such runs differ."""
    sample, copy = dreval.simulate(name, 20), dreval.simulate(name, 20)
    assert not np.array_equal(sample.data, copy.data)
    assert_array_equal(dreval.simulate(name, **sample.recipe).data, sample.data)
    generated = [dreval.simulate(name, 20, np.random.default_rng(3)).data for _ in range(2)]
    assert_array_equal(*generated)


@each("name", NAMES)
def test_the_page_of_each_set_is_complete(name):
    """Every docstring has the returned values, an example, and a line for each parameter."""
    make = DATASETS.get(name)
    for section in ("Returns", "Examples", *(["Parameters"] if name in SIMULATED else [])):
        assert f"{section}\n---" in inspect.getdoc(make)
    for parameter in make.card.parameters:
        assert f"\n{parameter} : " in inspect.getdoc(make)


@each("name", BUNDLED)
def test_bundled_sets_are_not_simulated(name):
    """The error names the other function."""
    with pytest.raises(InputError, match=rf"Call dreval\.load_dataset\('{name}'\)\."):
        dreval.simulate(name)


@each("name", SIMULATED)
def test_simulated_sets_are_not_loaded(name):
    """The error names the other function."""
    with pytest.raises(InputError, match=rf"Call dreval\.simulate\('{name}'\)\."):
        dreval.load_dataset(name)


@each("name", LOADERS)
def test_files_are_read_and_neither_loaded_nor_simulated(name):
    """The error names the right function, also if the name is passed as data."""
    with pytest.raises(InputError, match=rf"`path` must be given.*load_dataset\('{name}', path\)\."):
        dreval.load_dataset(name)
    with pytest.raises(InputError, match=rf"Call dreval\.load_dataset\('{name}', path\)\."):
        dreval.simulate(name)
    with pytest.raises(UnknownName, match=rf"Load it: dreval\.load_dataset\('{name}', path\)\."):
        dreval.Evaluation(name)


@each("name", LOADERS)
def test_the_page_of_each_loader_is_complete(name):
    """The docstring has parameters, returns, errors and an example."""
    for section in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"{section}\n---" in inspect.getdoc(DATASETS.get(name))


def test_unknown_names_get_the_nearest():
    """Errors for unknown data sets and parameters suggest the nearest name."""
    with pytest.raises(UnknownName, match=r"`name` must be a known name: got 'swissroll'. Did you mean 'swiss_roll'"):
        dreval.simulate("swissroll")
    with pytest.raises(UnknownName, match="Did you mean 'digits'"):
        dreval.load_dataset("digit")
    with pytest.raises(UnknownName, match="Did you mean 'noise'"):
        dreval.simulate("swiss_roll", noize=0.1)


@each("n", [3, 0, -1, 2.5, True])
def test_illegal_sizes_raise_an_error(n):
    """n is an integer of at least 4."""
    with pytest.raises(InputError, match="`n` must be an integer >= 4"):
        dreval.simulate("swiss_roll", n=n)


def test_two_simulations_with_one_seed_are_not_copies():
    """The stream is named after the data set: the heights of a roll and a cylinder are unrelated."""
    roll, tube = (dreval.simulate(name, 500, random_state=0).latent[:, 1] for name in ("swiss_roll", "cylinder"))
    assert abs(np.corrcoef(roll, tube)[0, 1]) < 0.2
