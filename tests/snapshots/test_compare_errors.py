"""The wording of every error of comparisons and of their intervals.

``compare_errors.txt`` stores the wordings; ``DREVAL_UPDATE_SNAPSHOTS=1 pytest tests/snapshots`` rewrites it. Review the
difference like any other change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from snapshot import Snapshots, error_text

import dreval
from dreval.cli._main import main

X = np.random.default_rng(0).normal(size=(24, 3)).round(3)
SOURCES = {"umap": X[:, :2], "tsne": X[:, 1:]}
EV = dreval.Evaluation(X, SOURCES, n_neighbors=3, random_state=0)
RESULTS = EV.with_embedding("short", X[:5, :2]).run("continuity", None)
WIDE = EV.run("procrustes_disparity", None)
SEVERAL = dreval.Evaluation(X, SOURCES, n_neighbors=[3, 5], random_state=0).run("continuity", None).compare()
TWICE = (
    dreval.Evaluation(X, {"umap": X[:, :2], "again": X[:, :2]}, n_neighbors=3, random_state=0)
    .run("continuity", None)
    .compare()
)
TABLE = pd.DataFrame(
    {
        "dataset": np.repeat(list("abcde"), 2),
        "embedding": ["umap", "tsne"] * 5,
        "value": [0.9, 0.8, 0.8, 0.6, 0.95, 0.7, 0.7, 0.65, 0.9, 0.6],
    }
)
ACROSS = dreval.compare(TABLE, direction="higher")
HOLES = dreval.compare(
    TABLE.assign(embedding=["umap", "pca"] * 2 + ["umap", "tsne"] * 3), direction="higher", tests="wilcoxon"
)
Case = Callable[[], Any]


def table_with(**columns: Any) -> pd.DataFrame:
    """Return the table with these columns replaced."""
    return TABLE.assign(**columns)


def command(*arguments: str) -> Case:
    """Return a call of the command line."""
    return lambda: main(("compare", *arguments))


def across(table: Any, **options: Any) -> Case:
    """Return a comparison across data sets."""
    return lambda: dreval.compare(table, **{"direction": "higher", **options})


WITHIN: dict[str, Case] = {
    "an unknown embedding": lambda: RESULTS.compare(["umpa", "tsne"]),
    "an embedding that failed": lambda: RESULTS.compare(["umap", "short"]),
    "one embedding": lambda: RESULTS.compare(["umap"]),
    "no names": lambda: RESULTS.compare([]),
    "an unknown measure": lambda: RESULTS.compare(measure="continuty"),
    "no level": lambda: RESULTS.compare(alpha=0),
    "a level as text": lambda: RESULTS.compare(alpha="5 %"),
    "an unknown adjustment": lambda: RESULTS.compare(adjust="bonferroni"),
    "no intervals": lambda: EV.run("continuity", None, None).compare(),
    "wins on one data set": lambda: RESULTS.compare().wins(),
    "an unknown form": lambda: RESULTS.compare().paragraph(format="html"),
}
TABLES: dict[str, Case] = {
    "a number as table": across(3),
    "an empty list": across([]),
    "a list with a number": across([TABLE, 3]),
    "a file that is not there": across("nowhere.csv"),
    "no embeddings": across(TABLE.drop(columns="embedding")),
    "a column called otherwise": across(TABLE, columns={"value": "score"}),
    "an unknown column": across(TABLE, columns={"method": "embedding"}),
    "two values for one cell": across(pd.concat([TABLE, TABLE.iloc[:1]])),
    "a row without a data set": across(table_with(dataset=[None, *TABLE["dataset"][1:]])),
    "values as text": across(table_with(value=["good"] * 10)),
    "an infinite value": across(table_with(value=[np.inf, *TABLE["value"][1:]])),
    "one data set": across(TABLE.iloc[:2]),
    "no direction": across(TABLE, direction=None),
    "an unknown direction": across(TABLE, direction="up"),
    "a direction of an unknown measure": across(TABLE, direction={"valu": "lower"}),
    "a measure that is not there": across(TABLE, measure="valu"),
    "no measure": across(TABLE, measure=[]),
    "an unknown test": across(TABLE, tests="wilcoxn"),
    "a Bayesian test without a region": across(TABLE, tests="bayes"),
    "a negative region": across(TABLE, rope=-1.0),
    "a measure of the comparison": lambda: ACROSS.wins("valu"),
}
FIGURES: dict[str, Case] = {
    "an unknown figure": lambda: ACROSS.plot("forrest"),
    "an unknown option": lambda: ACROSS.plot("forest", measur="value"),
    "ranks on one data set": lambda: RESULTS.compare().plot("critical_difference"),
    "ranks with empty cells": lambda: HOLES.plot("critical_difference"),
    "intervals of ranks": lambda: ACROSS.plot("forest"),
    "intervals of one embedding twice": lambda: TWICE.plot("forest"),
    "a map over data sets": lambda: ACROSS.plot("difference_map"),
    "wins without data sets": lambda: RESULTS.compare().plot("wins"),
    "a pair of one": lambda: RESULTS.compare().plot("difference_map", pair=("umap",)),
    "a pair as text": lambda: RESULTS.compare().plot("difference_map", pair="umap"),
    "an unknown embedding of a pair": lambda: RESULTS.compare().plot("difference_map", pair=("umap", "tnse")),
    "a map of a whole": lambda: WIDE.compare().plot("difference_map", measure="procrustes_disparity"),
    "one of several settings": lambda: SEVERAL.plot("difference_map", measure="continuity"),
}
INTERVALS: dict[str, Case] = {
    "replicates of coordinates": lambda: EV.run(ci="replicates"),
    "replicates with anchors": lambda: dreval.Evaluation(X, {"p": "pca"}, n_neighbors=3, anchors=9).run(
        ci="replicates"
    ),
    "other seeds of a method without": lambda: dreval.Evaluation(X, {"p": "pca"}, n_neighbors=3).run(
        ci="replicates", options={"replicates": {"over": "seeds"}}
    ),
    "a wrong word": lambda: EV.run(ci="replicate"),
    "a wrong word among options": lambda: EV.run(options={"replicates": {"over": "seed"}}),
    "an unknown option of replicates": lambda: EV.run(options={"replicates": {"n_runs": 5}}),
    "one run": lambda: EV.run(options={"replicates": {"n_replicates": 1}}),
    "half a split": lambda: EV.run(options={"subsampling": {"n_splits": 2.5}}),
}
COMMAND: dict[str, Case] = {
    "dreval compare without files": command(),
    "dreval compare, no such file": command("nowhere.csv"),
    "dreval compare, no such result": command("nowhere.dreval"),
    "dreval compare, no direction": command("table.csv"),
    "dreval compare, a direction without a name": command("table.csv", "--direction", "value="),
    "dreval compare, the Bayesian test without a region": command(
        "table.csv", "--direction", "higher", "--tests", "bayes"
    ),
    "dreval compare, an embedding": command("table.csv", "-e", "umap.csv"),
    "dreval compare, coordinates": command("umap.csv", "--direction", "higher"),
    "dreval compare, a margin with a comma": command("saved.dreval", "--margin", "0,01"),
    "dreval compare, a level as text": command("saved.dreval", "--alpha", "x"),
    "dreval compare, a seed as text": command("saved.dreval", "--random-state", "one"),
    "dreval compare, a direction on one data set": command("saved.dreval", "--direction", "higher"),
    "dreval compare, a region on one data set": command("saved.dreval", "--rope", "0.1"),
    "dreval compare, a figure of another kind": command("table.csv", "--direction", "higher", "--plot", "p.gif"),
    "dreval compare, a figure over a table": command("table.csv", "--direction", "higher", "--plot", "table.csv"),
}
CASES = {**WITHIN, **TABLES, **FIGURES, **INTERVALS, **COMMAND}
SNAPSHOTS = Snapshots(Path(__file__).with_name("compare_errors.txt"), CASES)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with a table and a saved result."""
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    pd.DataFrame(X[:, :2], columns=["u", "v"]).to_csv(tmp_path / "umap.csv", index=False)
    RESULTS.save(tmp_path / "saved.dreval")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@each("case", CASES)
def test_wording_of_errors(case: str, folder: None, capfd: pytest.CaptureFixture[str]) -> None:
    """Each error has the stored wording: the argument, the requirement, the received value and a hint."""
    SNAPSHOTS.check(case, error_text(CASES[case], capfd))


def test_stored_cases_are_the_tested_cases() -> None:
    """The stored file has exactly the cases that are tested."""
    assert list(SNAPSHOTS.stored()) == list(CASES)


def test_wordings_have_four_parts() -> None:
    """Each wording of dreval names the argument, the requirement and the received value, and ends with the hint."""
    SNAPSHOTS.check_four_parts(("dreval compare: error",))
