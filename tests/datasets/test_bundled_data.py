"""The bundled files against their cards, scikit-learn and an independent copy."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits

import dreval
from dreval.datasets import _dataset
from dreval.errors import InputError
from dreval.registry import DATASETS

BUNDLED = [name for name in DATASETS if DATASETS.card(name).origin == "bundled"]
ORACLES = {"wdbc": load_breast_cancer, "digits": load_digits}


def _card_rows(root, name):
    """The table of one section of data/README.md."""
    section = (root / "data" / "README.md").read_text().split(f"## {name}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| (\w+) \| (.*) \|$", section, flags=re.MULTILINE))


def test_every_bundled_set_has_an_oracle():
    """Every bundled set is checked."""
    assert sorted(ORACLES) == BUNDLED


@pytest.mark.parametrize("name", BUNDLED)
def test_file_is_the_one_of_its_card(name, root):
    """sha256, n, p, title, license and name in data/README.md are those of the file and of the card in the code."""
    rows, card, data = _card_rows(root, name), DATASETS.card(name), dreval.load_dataset(name).data
    file = root / "data" / rows["file"].strip("`")
    assert hashlib.sha256(file.read_bytes()).hexdigest() == rows["sha256"].strip("`")
    assert file.stat().st_size < 300_000
    assert (int(rows["n"]), int(rows["p"])) == (card.n, card.p) == data.shape
    assert (rows["title"], rows["license"]) == (card.title, card.license)


@pytest.mark.parametrize("name", BUNDLED)
def test_values_are_those_of_scikit_learn(name):
    """Every number, every name, every class, in the same order."""
    ours, reference = dreval.load_dataset(name), ORACLES[name]()
    assert_array_equal(ours.data, reference.data)
    assert_array_equal(ours.labels.astype(str), reference.target_names[reference.target].astype(str))
    assert ours.feature_names == tuple(map(str, reference.feature_names))
    assert ours.data.dtype == np.float64
    assert ours.data.flags.c_contiguous
    assert ours.latent is None


def test_digits_are_integers_and_diagnoses_text():
    """Labels are classes by type: integers 0 to 9, and text."""
    assert dreval.load_dataset("digits").labels.dtype == np.int64
    assert set(dreval.load_dataset("wdbc").labels) == {"malignant", "benign"}


def test_wdbc_is_the_file_of_the_repository(shared_data):
    """An independent copy of wdbc.data has the same numbers, and its M are our malignant."""
    reference, ours = np.load(shared_data / "wdbc.npz", allow_pickle=False), dreval.load_dataset("wdbc")
    assert_array_equal(ours.data, reference["X"])
    assert_array_equal(ours.labels == "malignant", reference["y"] == 1)


def test_license_text_is_in_the_folder_of_the_data(root):
    """The BSD license requires its text and copyright line with every copy."""
    text = (root / "data" / "LICENSE-scikit-learn.txt").read_text()
    assert "The scikit-learn developers" in text
    assert "Redistributions in binary form must reproduce the above copyright notice" in text


def test_frame_has_names_and_labels():
    """to_frame gives named columns with the class last."""
    wdbc = dreval.load_dataset("wdbc")
    frame = wdbc.to_frame()
    assert list(frame.columns) == [*wdbc.feature_names, "label"]
    assert_array_equal(frame["worst area"], wdbc.data[:, wdbc.feature_names.index("worst area")])
    assert frame["label"].value_counts().to_dict() == {"benign": 357, "malignant": 212}


def test_the_folder_inside_the_package_comes_first(tmp_path, monkeypatch):
    """An installed package reads its own files; the error for a missing file names it."""
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(_dataset, "files", lambda _: tmp_path)
    with pytest.raises(InputError, match=r"wdbc\.csv\.gz"):
        dreval.load_dataset("wdbc")
    (tmp_path / "data").rmdir()
    assert dreval.load_dataset("wdbc").data.shape == (569, 30)
