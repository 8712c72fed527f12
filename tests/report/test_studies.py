"""The report of a study: its numbers are those of the table, at any state of the study."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dreval
from dreval.errors import InputError
from dreval.storage.study_file import StudyFile

AWKWARD = "<b>&\"' long $name_of$ a method | in words"


def noisy(X: Any, n_components: int, random_state: int) -> Any:
    return X[:, :n_components] + np.random.default_rng(random_state).normal(size=(len(X), n_components))


def failing_on_22(X: Any, n_components: int) -> Any:
    if len(X) == 22:
        raise RuntimeError("no <i>luck</i> with 22")
    return X[:, -n_components:]


def make_study(folder: Path, **options: Any) -> dreval.Study:
    data = {f"set {i}": np.random.default_rng(i).normal(size=(20 + i, 4)) * [3, 2, 1, 1] for i in range(4)}
    methods = {"pca": "pca", AWKWARD: noisy, "sometimes": failing_on_22}
    defaults = {
        "measures": ["trustworthiness", "stress", "k_max"],
        "n_neighbors": 4,
        "random_state": 0,
        "n_replicates": 2,
    }
    return dreval.Study(folder / "s.journal", data, methods, **{**defaults, **options})


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dreval.Study:
    """A finished study with a failure, an awkward name, and a measure without direction."""
    return make_study(tmp_path_factory.mktemp("study")).run()


def report_text(study: dreval.Study, folder: Path, suffix: str = ".html") -> str:
    return study.report(folder / f"report{suffix}").read_text("utf-8")


def test_every_number_equals_the_table(study: dreval.Study, tmp_path: Path) -> None:
    """Cells are means over replicates with their standard deviation; no test says which is best on one data set."""
    text, table = report_text(study, tmp_path, ".md"), study.table()
    table = table[table["measure"] == "trustworthiness"]
    means = table.groupby(["dataset", "embedding"])["value"].agg(["mean", "std"])
    part = text.split("### Trustworthiness")[1].split("###")[0]
    for dataset in ("set 0", "set 1", "set 2", "set 3"):
        row = next(line for line in part.splitlines() if line.startswith(f"| {dataset} "))
        pca, noise, failing = row.strip("| ").split(" | ")[1:]
        assert pca == f"{means.loc[(dataset, 'pca'), 'mean']:.3f}"
        deviation = f"{means.loc[(dataset, AWKWARD), 'std']:.3f}".removeprefix("0")
        assert noise == f"{means.loc[(dataset, AWKWARD), 'mean']:.3f} ± {deviation}"
        assert (failing == "—") == (dataset == "set 2")
        assert "**" not in row


@pytest.mark.slow
def test_the_page_has_all_parts(study: dreval.Study, tmp_path: Path) -> None:
    """Ranks, values, progress, cautions, notes and recipe are in this order; each comparison has one figure."""
    page = report_text(study, tmp_path)
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", page)

    toc = re.findall(r'<li><a href="#(\w+)">([^<]*)</a></li>', page)

    assert heads == [
        "Ranking",
        "Values on each data set",
        "Cells",
        "Conclusions that do not follow",
        "Notes",
        "Reproduce",
        "Glossary",
    ]
    assert [anchor for anchor, _ in toc] == ["ranking", "values", "cells", "limits", "notes", "reproduce", "glossary"]
    assert [head for _, head in toc] == ["Ranking", "Data sets", "Cells", "Limits", "Notes", "Reproduce", "Glossary"]
    assert "Venna, J., Kaski, S. (2001)" in page
    assert page.count("<svg") == 2  # k_max has no ranking
    assert page.count('<div class="scroll cd"') == 2  # with the shade of tables
    for text in (page, report_text(study, tmp_path, ".md")):
        assert "Embeddings that share a letter on a measure do not differ significantly by " in text
    assert "no &lt;i&gt;luck&lt;/i&gt; with 22" in page
    assert f"SHA-256 {study.datasets['set 1'].sha256}" in page
    assert "The 4 data sets are the sample: the tests refer to further ones like these" in page


def test_the_page_is_self_contained_and_reproducible(study: dreval.Study, tmp_path: Path) -> None:
    """The page loads no file, has only its script, and two reports of one study have the same bytes."""
    page = report_text(study, tmp_path)

    assert not re.findall(r"(?:src|href)=\"(?!#)", page)
    assert page.count("<script") == 1
    assert "url(" not in page.replace("url(#", "")
    assert page == report_text(dreval.Study.open(study.path), tmp_path)
    assert "<b>&\"'" not in page


@pytest.mark.slow
def test_an_unfinished_study_has_a_report(tmp_path: Path) -> None:
    """Missing cells are counted if none, one or all cells are done, for several numbers of components."""
    study = make_study(tmp_path, n_components=[1, 2])
    with StudyFile(study.path, study._provenance(study.settings)) as file, file.claims() as claims:
        assert claims.claim(study._cells()[0].name)
    text_of_no_cell = report_text(study, tmp_path)
    text_of_one_cell = report_text(study.run(limit=1), tmp_path)
    study.run()

    assert "48 cells of 48 are not done" in text_of_no_cell
    assert "47 cells of 48 are not done" in text_of_one_cell
    assert "The methods were not compared across data sets" in text_of_one_cell
    assert "d\u00a0=\u00a01" in report_text(study, tmp_path)
    assert "### Trustworthiness, k = 4, d = 2" in report_text(study, tmp_path, ".md")


def test_wrong_paths_raise_an_error(study: dreval.Study, tmp_path: Path) -> None:
    """A wrong suffix, and a missing folder, raise an error."""
    with pytest.raises(InputError, match=r"must end in \.html or \.md"):
        study.report(tmp_path / "report.pdf")
    with pytest.raises(InputError, match="existing folder"):
        study.report(tmp_path / "nowhere" / "report.md")
