"""`dreval sweep`: the same numbers as in Python, exit codes, files, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
from cli_runs import without_call
from each import each
from numpy.testing import assert_allclose

import dreval

COMMAND = "sweep"
ISOMAP = ("data.csv", "-m", "isomap", "--random-state", "0", "--grid")


def test_the_command_prints_and_writes_the_results_of_python(run: Any) -> None:
    """It prints the summary, and writes the table and a figure; the document has the best set."""
    expected = dreval.sweep("data.csv", "isomap", {"n_neighbors": [10, 15]}, random_state=0)
    code, out, err = run(*ISOMAP, "n_neighbors=10,15", "--table", "t.csv", "--plot", "p.png")

    assert (code, err) == (0, "")
    assert without_call(out)[0] == without_call(str(expected))[0]
    assert_allclose(pd.read_csv("t.csv")["mean"], expected.tidy()["mean"])
    assert Path("p.png").stat().st_size > 5000
    document = json.loads(run(*ISOMAP, "n_neighbors=10,15", "--json")[1])
    assert document["best_set"] == {"r_nx_auc": expected.best_set()}
    assert run(*ISOMAP, "n_neighbors=10,15", "--quiet") == (0, "", "")


def test_a_report_and_the_saved_sweep_are_those_of_python(run: Any) -> None:
    """Text, file and document agree exactly; outputs are different files."""
    grid = {"n_neighbors": [10, 15]}
    expected = dreval.sweep("data.csv", "isomap", grid, measures=["r_nx_auc"], random_state=0)
    code, out, err = run(*ISOMAP, "n_neighbors=10,15", "--report", "r.md", "--save", "s.dreval")

    assert (code, err) == (0, "")
    assert out.endswith("sweep written to s.dreval\n\nreport written to r.md\n")
    expected.report("p.md")
    assert Path("r.md").read_text("utf-8").replace("r-figures", "p-figures") == Path("p.md").read_text("utf-8")
    loaded = dreval.load_results("s.dreval")
    pd.testing.assert_frame_equal(loaded.tidy(), expected.tidy(), check_exact=True)
    code, _, err = run(*ISOMAP, "n_neighbors=10,15", "--save", "s.dreval", "--journal", "s.dreval")
    assert code == 2
    assert "must not be a file that --journal writes too" in err


def test_a_setting_that_fails_is_code_1(run: Any) -> None:
    """The other settings have their values."""
    code, out, err = run(*ISOMAP, "n_neighbors=0,10,15")

    assert (code, err) == (1, "")
    assert "n_neighbors = 0 could not be evaluated" in " ".join(out.split())


def test_a_store_is_reused(run: Any) -> None:
    """The second command reads the same results from the file."""
    arguments = (*ISOMAP, "n_neighbors=10,15", "--journal", "s.journal", "--json")
    output = run(*arguments)

    assert Path("s.journal").exists()
    assert run(*arguments) == output


@each(
    "arguments, message",
    [
        (("n_neighbours=5,10",), "Did you mean 'n_neighbors'"),
        (("n_neighbors",), "must be OPTION=VALUE"),
        (("n_neighbors=10",), "at least two settings"),
        (("n_neighbors=10", "--grid", "n_neighbors=15"), "must name an option once"),
        (("n_neighbors=10,15", "--table", "t.txt"), "must end in .csv"),
        (("n_neighbors=10,15", "--table", "data.csv"), "must not be a file that is read"),
        (("n_neighbors=10,15", "--measures", "stres"), "Did you mean 'stress'?"),
        (("n_neighbors=10,15", "--over", "half"), "halves"),
        (("n_neighbors=10,15", "--layer", "counts"), "`--layer` is only valid for AnnData: got 'counts'"),
    ],
)
def test_errors_are_code_2(run: Any, arguments: tuple[str, ...], message: str) -> None:
    """An error is one line on stderr, and stdout is empty."""
    code, out, err = run(*ISOMAP[:-1], "--grid", *arguments)

    assert (code, out) == (2, "")
    assert message in err
