"""The options ``--new-data`` and ``--new`` of ``dreval evaluate``: the values of the Python call, and their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import EVALUATE, X, Y

import dreval

NEW = np.random.default_rng(1).normal(size=(12, 4))
Y_NEW = NEW[:, :2] + 0.1


@pytest.fixture(autouse=True)
def new_files(folder: Path) -> None:
    """Write the new points: columns in another order, and coordinates in another order of rows."""
    ids = [f"q{i}" for i in range(12)]
    pd.DataFrame(NEW, ids, list("abcd"))[list("dbca")].to_csv(folder / "query.csv", index_label="cell")
    pd.DataFrame(Y_NEW, ids, ["u", "v"]).iloc[::-1].to_csv(folder / "new.csv", index_label="cell")


def test_values_are_those_of_the_function(run: Any) -> None:
    """A file of coordinates, and a method that embeds the new rows; results are saved and printed again."""
    options = ("-e", "pca", "--measures", "continuity", "--ci", "none", "--ids", "cell")
    command = ("evaluate", "cells.csv", *EVALUATE[2:], *options, "--new-data", "query.csv", "--new", "umap=new.csv")
    code, text, _ = run(*command, "--save", "r.dreval")
    assert code == 0
    assert "For 12 new points (k = 5), umap has continuity" in " ".join(text.split())
    assert "needs held-out points: pass them in Python, to dreval.out_of_sample or --new 0.2." in " ".join(text.split())
    results, expected = dreval.load_results("r.dreval"), dreval.out_of_sample(X, Y, NEW, Y_NEW, n_neighbors=5)
    pd.testing.assert_frame_equal(results["umap"].out_of_sample.table, expected.table)
    assert results["pca"].out_of_sample.points["id"].tolist() == [f"q{i}" for i in range(12)]
    assert "--new-data query.csv --new umap=new.csv" in results.recipe["call"]
    full = " ".join(run("show", "r.dreval", "--full")[1].split())
    assert "New points on umap" in full
    assert "pass --new 0.2" in full


def test_a_share_of_the_rows(run: Any) -> None:
    """A share leaves out rows, and coordinates have a note with the reason."""
    code, text, _ = run(*EVALUATE, "-e", "pca", "--measures", "continuity", "--ci", "none", "--new", "0.3")
    words = " ".join(text.split())
    assert code == 0
    assert "For 12 new points (k = 5), pca has continuity" in words
    assert "Fitted without 30 % of the rows: the reference points are the other 28." in words
    assert "umap: No rows are left out as new points: coordinates only" in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--new-data", "query.csv", "--new", "map"), "`--new` must be NAME=FILE, or one share"),
        (("--new-data", "query.csv", "--new", "umap="), "`--new` must be NAME=FILE, or one share"),
        (
            ("--new-data", "query.csv", "--new", "umap=new.csv", "--new", "umap=new.csv"),
            "must name each embedding once",
        ),
        (("--new-data", "query.csv", "--new", "umpa=new.csv"), "Did you mean 'umap'"),
        (("--new-data", "query.csv", "--new", "umap=new.cvs"), "got 'new.cvs'. Did you mean 'new.csv'?"),
        (("--new-data", "query.csv"), "`--new-data` must come with an embedding of new points"),
        (
            ("--new-data", "query.csv"),
            "Pass coordinates of the new rows, --new umap=new.csv",
        ),
        (("--new", "umap=new.csv"), "as --new-data; or --new 0.2"),
        (("--new", "2"), "`--new` must be a share of the rows"),
        (("--new-data", "no.csv", "--new", "umap=new.csv"), "`--new-data` must"),
        (("--new-data", "umap.csv", "--new", "umap=new.csv"), "`--new-data` must have the columns of the data"),
    ],
)
def test_errors_name_the_options(run: Any, options: tuple[str, ...], message: str) -> None:
    """What cannot be evaluated is refused before anything is computed."""
    code, out, err = run("evaluate", "cells.csv", *EVALUATE[2:], "--ids", "cell", *options)
    assert (code, out) == (2, "")
    assert message in err


def test_embeddings_without_new_points_name_the_option(run: Any) -> None:
    """A map from a file can get coordinates; a method without transform must be run outside."""
    command = (*EVALUATE, "-e", "sammon", "-e", "pca", "--measures", "continuity", "--new-data", "query.csv")
    code, text, _ = run(*command, "--ci", "none", "--full")
    words = " ".join(text.split())
    assert code == 0
    assert "Pass --new umap=FILE." in words
    assert "pass -e sammon=FILE with --new sammon=FILE." in words


def test_a_share_is_not_mixed_with_files(run: Any) -> None:
    """The error says that both were passed, in any order."""
    for options in (("--new", "umap=new.csv", "--new", "0.2"), ("--new", "0.2", "--new", "umap=new.csv")):
        _, _, err = run("evaluate", "cells.csv", *EVALUATE[2:], "--new-data", "query.csv", *options)
        assert "`--new` must be files or one share, not both" in err
        assert "'0.2'" in err


def test_files_hold_the_new_points(run: Any, folder: Path) -> None:
    """The table has a second file with a row for each new point, JSON has values and points; both have the flags."""
    command = (*EVALUATE, "-e", "pca", "--measures", "continuity", "--ci", "none")
    command += ("--new-data", "query.csv", "--new", "0.5")
    _, text, _ = run(*command, "--save", "r.dreval", "--table", "t.csv")
    assert "table written to t.csv and t-new-points.csv" in text
    record = dreval.load_results("r.dreval")["pca"].out_of_sample
    points = pd.read_csv(folder / "t-new-points.csv")
    assert points.pop("embedding").tolist() == ["pca"] * 12
    pd.testing.assert_frame_equal(points, record.augment(), check_dtype=False)
    assert "flagged" in points
    new = json.loads(run(*command, "--json")[1])["new_points"]
    assert list(new) == ["pca"]
    assert [point["flagged"] for point in new["pca"]["points"]] == record.flagged.tolist()
    assert [row["measure"] for row in new["pca"]["table"]] == record.table["measure"].tolist()
    assert "new_points" not in json.loads(run(*EVALUATE, "--ci", "none", "--json")[1])


def test_the_analysis_has_a_card(run: Any) -> None:
    """Its question, as of any other analysis."""
    assert "Are the neighbors of new points on the map their neighbors" in run("card", "out_of_sample")[1]


def test_new_files_are_not_overwritten(run: Any) -> None:
    """A file that is read is no output."""
    (Path.cwd() / "query-new-points.csv").write_bytes(Path("query.csv").read_bytes())
    command = (*EVALUATE, "--new-data", "query-new-points.csv", "--new", "umap=new.csv", "--table", "query.csv")
    assert "must not be a file that is read" in run(*command)[2]
    code, _, err = run(*EVALUATE, "--new-data", "query.csv", "--new", "umap=new.csv", "--table", "new.csv")
    assert (code, "must not be a file that is read" in err) == (2, True)
