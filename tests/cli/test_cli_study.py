"""The command ``dreval study``, and studies in ``dreval compare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import call
from each import each
from pandas.testing import assert_frame_equal

import dreval
import dreval.study.study

COMMAND = "study"
SMALL = ("--measures", "procrustes_disparity", "-k", "3", "--random-state", "0")
RUN = ("run", "s.journal", "-x", "a.csv", "-x", "other=b.csv", "-x", "c.csv", "-m", "pca", "-m", "mds=classical_mds")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three small data files."""
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate("abc"):
        X = np.random.default_rng(seed).normal(size=(12 + seed, 3))
        pd.DataFrame(X, columns=list("xyz")).to_csv(f"{name}.csv", index=False)
    return tmp_path


def test_run_continues_where_it_stopped(run: Any) -> None:
    """The code is 1 while cells are missing, 0 when all are done; the file is that of ``Study``."""
    output = run(*RUN, *SMALL, "--limit", "2")
    second = run(*RUN, *SMALL)
    datasets = {"a": "a.csv", "other": "b.csv", "c": "c.csv"}
    methods = {"pca": "pca", "mds": "classical_mds"}
    study = dreval.Study("t", datasets, methods, "procrustes_disparity", n_neighbors=3, random_state=0).run()
    opened = dreval.Study.open("s.journal")

    assert [code for code, _, _ in (output, second)] == [1, 0]
    assert [err for _, _, err in (output, second)] == ["", ""]
    assert second[1].rstrip("\n") == str(opened).replace(".summary(full=True)", "--full")
    assert run("status", "s.journal", "--full")[1].rstrip("\n") == str(opened.summary(full=True))
    assert_frame_equal(opened.table().drop(columns="seconds"), study.table().drop(columns="seconds"))


def test_a_study_in_a_file(run: Any) -> None:
    """The arguments of ``Study`` as TOML; the file of the study has its name."""
    Path("plan.toml").write_text(
        'methods = ["pca"]\nmeasures = ["procrustes_disparity"]\nn_neighbors = 3\nrandom_state = 0\n'
        '[datasets]\na = "a.csv"\nroll = { data = "s3", n = 30 }\n[options]\n',
        encoding="utf-8",
    )
    assert run("run", "plan.toml", "--quiet") == (0, "", "")
    table = dreval.Study.open("plan.journal").table()
    assert table["n"].tolist() == [12, 30]
    code, _, err = run("run", "plan.toml", "-r", "3")
    assert code == 2
    assert "`--n-replicates` must be set in the .toml, if there is one: got both. Write it into plan.toml." in err


def test_status_and_table(run: Any) -> None:
    """The status is printed as text or as a document, and all values are written as CSV."""
    run(*RUN, *SMALL, "--limit", "4", "--quiet")
    code, out, _ = run("status", "s.journal", "--json", "--table", "values.csv")
    document = json.loads(out)

    assert code == 1
    assert {key: document[key] for key in ("file", "cells", "done", "failed", "running", "waiting")} == {
        "file": "s.journal", "cells": 6, "done": 4, "failed": 0, "running": 0, "waiting": 2,
    }  # fmt: skip
    assert [cell["state"] for cell in document["states"]].count("done") == 4
    values = pd.read_csv("values.csv")
    assert values["value"].tolist() == dreval.Study.open("s.journal").table()["value"].tolist()
    assert run("status", "s.journal", "--quiet") == (1, "", "")


def test_reports(run: Any) -> None:
    """It writes a page or a text with a title; the output is quiet or a document."""
    run(*RUN, *SMALL, "--quiet")

    assert run("report", "s.journal", "r.md", "--title", "Mine") == (0, "report written to r.md\n", "")
    assert Path("r.md").read_text("utf-8").startswith("# Mine\n")
    assert run("report", "s.journal", "r.html", "--quiet") == (0, "", "")
    assert json.loads(run("report", "s.journal", "r.html", "--json")[1])["done"] == 6


def test_failures_give_code_1(run: Any) -> None:
    """A method that needs labels runs only on the data sets that have labels."""
    pd.read_csv("a.csv").assign(kind=np.resize(["u", "v", "w"], 12)).to_csv("a.csv", index=False)
    arguments = ("run", "f.journal", "-x", "a.csv", "-x", "b.csv", "-m", "sir", "--labels", "a=kind", *SMALL)
    code, out, _ = run(*arguments)

    assert code == 1
    assert "1 cell failed (sir on b)" in out
    assert run(*arguments, "--retry-failed", "--quiet")[0] == 1


def test_ctrl_c_is_reported_and_no_run_is_lost(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130, the status, and no traceback."""

    def stopped(self: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    run(*RUN, *SMALL, "--limit", "1")
    monkeypatch.setattr(dreval.study.study.Study, "run", stopped)
    code, out, err = run(*RUN, *SMALL)

    assert (code, err) == (130, "")
    assert out.endswith("stopped; the same command continues from here\n")
    assert run(*RUN, *SMALL, "--quiet") == (130, "", "")


def test_compare_reads_studies_and_results_together(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """A study is compared alone, or with a saved result and a table."""
    run(*RUN, *SMALL, "--quiet")
    document = call(capfd, "compare", "s.journal", "--json")
    X = np.random.default_rng(9).normal(size=(12, 3))
    evaluation = dreval.Evaluation(X, {"pca": "pca", "mds": X[:, :2]}, n_neighbors=3)
    evaluation.run("procrustes_disparity", None, None).save("one.dreval")
    Path("more.csv").write_text(
        "dataset,embedding,measure,value\nd,pca,procrustes_disparity,0.1\nd,mds,procrustes_disparity,0.2\n"
    )
    code, out, err = call(capfd, "compare", "s.journal", "one.dreval", "more.csv", "--json")

    assert (document[0], code, err) == (0, 0, "")
    assert json.loads(document[1])["pairs"][0]["n"] == 3
    assert json.loads(out)["pairs"][0]["n"] == 5
    stored = {(note["test"], note["code"], note["text"]) for note in json.loads(out)["notes"]}
    assert ("friedman", "ranks.two", "needs three embeddings; see the test of the pair") in stored


@each(
    "arguments, message",
    [
        (("run", "s.journal", "-m", "pca"), "`--datasets` must be given"),
        (("run", "s.journal", "-x", "a.csv"), "`--methods` must be given"),
        (("run", "s.journal", "-x", "a.csv", "-m", "pka"), "Did you mean 'pca'"),
        (("run", "s.journal", "-x", "d.csv", "-m", "pca"), "must be an existing file"),
        (("run", "s.journal", "-x", "z=a.csv", "-x", "z=b.csv", "-m", "pca"), "'z' twice"),
        (("run", "s.journal", "-x", "a.csv", "-m", "pca", "--labels", "kind"), "must be NAME=LABELS"),
        (("run", "s.journal", "-x", "a.csv", "-m", "pca", "-r", "0"), "`--n-replicates` must be"),
        (("run", "nowhere.toml"), "must be an existing file"),
        (("status", "nowhere.journal"), "must be an existing file"),
        (("status", "a.csv"), "must be a file that dreval can use"),
        (("status", "a.csv", "--table", "a.csv"), "`--table` must not be a file that is read"),
        (("report", "a.csv", "r.pdf"), "`report` must end in .html"),
    ],
)
def test_errors(run: Any, arguments: tuple[str, ...], message: str) -> None:
    """Invalid input is code 2, with the reason on stderr in terms of the command line."""
    code, out, err = run(*arguments)

    assert (code, out) == (2, "")
    assert message in err
    assert not Path("s.journal").exists()


@each(
    "text, message",
    [
        ("datasets = [", "must be TOML"),
        ('datasets = ["a.csv"]', "must have methods"),
        ('methods = ["pca"]', "must have datasets"),
        ('methods = ["pca"]\nn_replicats = 3', "Did you mean 'n_replicates'"),
    ],
)
def test_errors_in_toml(run: Any, text: str, message: str) -> None:
    """The error for a wrong entry of the file has the name of the file."""
    Path("plan.toml").write_text(text, encoding="utf-8")
    code, _, err = run("run", "plan.toml")

    assert code == 2
    assert message in err
