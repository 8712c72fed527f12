"""The command ``dreval compare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import without_call
from each import each

import dreval

COMMAND = "compare"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write three saved results, one table of all, and a table of unknown direction."""
    monkeypatch.chdir(tmp_path)
    parts = []
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(50, 4))
        ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        results = ev.run(["trustworthiness", "continuity"], None)
        results.save(f"{seed}.dreval")
        parts += results.tidy().assign(dataset=f"d{seed}").to_dict("records")
    table = [f"{row['dataset']},{row['embedding']},{row['value']!r}" for row in parts if row["measure"] == "continuity"]
    Path("table.csv").write_text("\n".join(["problem,embedding,value", *table]), encoding="utf-8")
    return tmp_path


def test_one_result_is_compared_by_its_points(run: Any) -> None:
    """It prints the summary of ``Results.compare``."""
    code, out, err = run("0.dreval", "--measures", "continuity", "--adjust", "none", "--full")

    assert (code, err) == (0, "")
    result = dreval.load_results("0.dreval").compare(measure=["continuity"], adjust=None)
    assert without_call(out) == without_call(f"{result.summary(full=True)}\n")
    assert "dreval compare 0.dreval --measures continuity --adjust none --full" in out


@pytest.mark.parametrize(
    ("flags", "form"),
    [((), "as_text"), (("--markdown",), "as_markdown"), (("--latex",), "as_latex")],
)
def test_several_results_are_compared_across_data_sets(run: Any, flags: tuple[str, ...], form: str) -> None:
    """It prints the summary of ``dreval.compare``, in each form."""
    files = [f"{i}.dreval" for i in range(3)]
    code, out, err = run(*files, "--rope", "0.01", "--random-state", "4", "--full", *flags)

    assert (code, err) == (0, "")
    expected = getattr(dreval.compare(files, rope=0.01, random_state=4).summary(full=True), form)()
    assert without_call(out.rstrip("\n")) == without_call(expected.rstrip("\n"))


def test_a_table_of_another_program(run: Any) -> None:
    """Columns and direction are options; the output is text, a document or a figure."""
    arguments = ("table.csv", "--columns", "dataset=problem", "--direction", "value=higher")
    code, text, _ = run(*arguments, "--paragraph", "latex", "--plot", "cd.svg")
    document = json.loads(run(*arguments, "--json")[1])

    assert code == 0
    assert text.startswith("Two embeddings were evaluated on 3 data sets by value: ")
    assert "Two embeddings on 3 data sets were evaluated with dreval" in text.split("\n\n")[1]
    assert Path("cd.svg").read_text("utf-8").lstrip().startswith("<?xml")
    assert document["pairs"][0]["n"] == 3
    assert document["recipe"]["kind"] == "datasets"


def test_works_for_bibtex(run: Any) -> None:
    """The command prints the works of ``Comparison.bibtex``, without other text."""
    code, out, err = run("0.dreval", "--bibtex")

    assert (code, err) == (0, "")
    assert out == dreval.load_results("0.dreval").compare().bibtex()


@pytest.mark.parametrize("form", ["html", *(pytest.param(form, marks=pytest.mark.slow) for form in ("md",))])
def test_a_report_has_the_command_that_writes_it(run: Any, form: str) -> None:
    """The page is that of ``Comparison.report``, except for the call; its path is printed, but not into a document."""
    command = ("0.dreval", "--report", f"out.{form}")
    code, out, err = run(*command)
    document = run(*command, "--json")[1]
    dreval.load_results("0.dreval").compare().report(f"same.{form}")
    result, expected = (Path(f"{name}.{form}").read_text("utf-8").replace("-{}-", "--") for name in ("out", "same"))
    call = f"dreval compare 0.dreval --report out.{form}"

    assert (code, err) == (0, "")
    assert out.endswith(f"report written to out.{form}\n")
    assert json.loads(document)["recipe"]["call"] == f"{call} --json"
    assert call in result
    assert call not in expected
    assert len(result.splitlines()) == len(expected.splitlines())


def test_a_figure_with_an_error_leaves_the_tables(run: Any) -> None:
    """An embedding compared with itself has no interval to draw: the comparison is printed, then the reason."""
    X = np.random.default_rng(0).normal(size=(24, 3))
    results = dreval.Evaluation(X, {"one": X[:, :2], "again": X[:, :2]}, n_neighbors=3, random_state=0)
    results.run("continuity", None).save("same.dreval")
    code, out, err = run("same.dreval", "--plot", "forest.svg")

    assert code == 2
    assert "one and again are the same map" in out
    assert "since every difference is 0" in err
    assert not Path("forest.svg").exists()


@each(
    "arguments, message",
    [
        (("table.csv",), "must have one column 'dataset'"),
        (("table.csv", "--columns", "dataset=problem"), "`--direction` must be known"),
        (("0.dreval", "--rope", "1"), "`--rope` must be used across data sets only"),
        (("nowhere.dreval",), "must be an existing file"),
        (
            ("0.dreval", "1.dreval", "--measures", "continuty"),
            "`--measures` must be a known name: got 'continuty'",
        ),
        (("0.dreval", "--plot", "0.dreval"), "must end in .png or .svg or .pdf"),
        (("0.dreval", "--report", "out.doc"), "`--report` must end in"),
        (("0.dreval", "--report", "0.dreval"), "`--report` must not be a file that is read"),
        (("0.dreval", "1.dreval", "--alpha", "2"), "`--alpha` must be"),
    ],
)
def test_errors(run: Any, arguments: tuple[str, ...], message: str) -> None:
    """Invalid input is code 2, with the reason on stderr in terms of the command line."""
    code, out, err = run(*arguments)

    assert (code, out) == (2, "")
    assert message in err


def test_the_nearest_option_is_suggested(run: Any) -> None:
    """It is the option, not the Python argument behind it."""
    for name, option in (("--measure", "--measures"), ("--measurs", "--measures"), ("--alhpa", "--alpha")):
        code, out, err = run("0.dreval", name, "continuity")
        assert (code, out, f"(did you mean {option}?)" in err) == (2, "", True)


def test_pairs_must_be_pairs(run: Any) -> None:
    """A malformed list of names is an error of usage."""
    code, _, err = run("table.csv", "--columns", "dataset")

    assert code == 2
    assert "must be NAME=VALUE separated by commas" in err
