"""Sweeps saved, loaded and reported: every digit, three forms, and errors."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval._text import format_p
from dreval.errors import InputError
from dreval.report.documents.sweep import sweep_findings

X = np.random.default_rng(0).normal(size=(48, 4)) * [4, 3, 1, 1]


def noisy(X: np.ndarray, n_components: int, random_state: int, size: float = 1.0, sign: Any = None) -> np.ndarray:
    """Return the first columns with noise that depends on the seed; sizes of more than 5 fail."""
    if size > 5:
        raise ValueError(f"size {size}")
    noise = np.random.default_rng(random_state).normal(size=(len(X), n_components))
    return X[:, :n_components] + size * (noise if sign is None else sign(noise))


@pytest.fixture(scope="module")
def result() -> Any:
    """Two measures, a setting that fails, and an option that is a function."""
    grid = [{"size": np.array([0.1, 0.5, 3.0, 9.0])}, {"size": [0.2], "sign": [np.abs]}]
    measures = ["r_nx_auc", "stress"]
    return dreval.sweep(X, noisy, grid, measures=measures, n_replicates=4, random_state=0)


def test_a_saved_sweep_is_read_to_the_last_bit(result: Any, tmp_path: Path) -> None:
    """All tables and sentences are equal; a function is its text; the loaded one saves to the same bytes."""
    path = result.save(tmp_path / "a.dreval")
    loaded = dreval.load_results(path)
    messages = result.tidy()
    messages["sign"] = [None if text is None else str(text) for text in messages["sign"]]
    pd.testing.assert_frame_equal(loaded.tidy(), messages, check_exact=True)
    pd.testing.assert_frame_equal(loaded.values, result.values, check_exact=True)
    pd.testing.assert_frame_equal(loaded.glance(), result.glance())
    assert loaded.tidy()["in_best_set"].isna().sum() == 2
    assert result.best_set() == [{"size": 0.1}, {"size": 0.2, "sign": np.abs}]
    assert loaded.best_set() == [{"size": 0.1}, {"size": 0.2, "sign": str(np.abs)}]
    assert (loaded.notes, loaded.over, loaded.alpha, loaded.call) == (
        result.notes,
        result.over,
        result.alpha,
        result.call,
    )
    answers = [" ".join(finding.text for finding in sweep_findings(stored)) for stored in (result, loaded)]
    assert answers[0] == answers[1].replace(str(np.abs), "absolute")
    loaded.save(tmp_path / "b.dreval")
    assert (tmp_path / "b.dreval").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("form", ["html", "md"])
def test_every_form_of_a_report_has_the_answer_and_every_number(result: Any, form: str, tmp_path: Path) -> None:
    """The sets of both measures, their means and p-values, the reason of the failure, and the limits of the result."""
    path = result.report(tmp_path / f"r.{form}", title="Sizes")
    text = path.read_text("utf-8")
    plain_text = " ".join(re.sub(r"<[^>]+>", " ", text).replace("\\_", "_").split())
    for texts in (
        "Sizes",
        "size = 0.1 has the best mean",
        "(size = 0.2, sign = absolute) is not significantly worse",
        "size 9",
        "too optimistic",
        "seeds",
    ):
        assert texts.lower() in plain_text.lower()
    table = result.tidy()
    for value in table["p_value"].dropna():
        assert format_p(value).removeprefix("<") in plain_text
    figures = text.count("<svg") if form == "html" else len(list(tmp_path.glob("r-figures/*.svg")))
    assert figures >= 2
    assert result.report(tmp_path / f"again.{form}", title="Sizes").exists()
    if form == "html":
        assert (tmp_path / "again.html").read_bytes() == path.read_bytes()
        assert "://" not in re.sub(r"https?://(doi\.org|www\.w3\.org)", "", text)


def test_a_sweep_is_not_an_evaluation(result: Any, tmp_path: Path) -> None:
    """A comparison of embeddings rejects its file, with a hint at the alternative."""
    path = result.save(tmp_path / "a.dreval")
    for passed in (path, [path, path]):
        with pytest.raises(InputError, match=r"`results` must be the saved result of an evaluation: got a sweep"):
            dreval.compare(passed)
    for suffix in ("a.csv", "a.html", "a.journal"):
        with pytest.raises(InputError, match="must not have the suffix of another format"):
            result.save(tmp_path / suffix)
    with pytest.raises(InputError, match=r"`path` must end in \.html or \.md"):
        result.report(tmp_path / "a.txt")


@pytest.mark.parametrize("member", ["settings.json", "values.csv", "manifest.json"])
def test_a_changed_file_raises_an_error(result: Any, member: str, tmp_path: Path) -> None:
    """A changed setting, value, or level is detected."""
    path = result.save(tmp_path / "a.dreval")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if member == "manifest.json":
        members[member] = json.dumps({**json.loads(members[member]), "alpha": 0.5}).encode()
    else:
        members[member] = members[member].replace(b"0", b"1", 1)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=f"{member} was changed after it was written"):
        dreval.load_results(path)
