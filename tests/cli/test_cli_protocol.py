"""``dreval protocol``: the names, defaults and numbers of ``dreval.Protocol``, with exit codes."""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from protocol_runs import X, pca, play, projection

import dreval
from dreval.cli._main import _parser

EXPORT = ("protocol", "export", "data.csv", "tool", "--ids", "cell", "--labels", "kind")
SETTINGS = ("--n-transformations", "5", "--n-replicates", "1", "--random-state", "3")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with a data file that has names and classes."""
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=list("ab" * 18), cell=[f"c{i}" for i in range(36)])
    frame.to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)


def test_from_the_first_export_to_the_measures(run: Any) -> None:
    """The codes are 0, 1, 0, 1, 0, 0; the numbers are those of the method in Python with the same seed."""
    assert run(*EXPORT, *SETTINGS)[0] == 0
    code, out, _ = run("protocol", "status", "tool")
    assert (code, "returned/data.csv" in out) == (1, True)
    play(Path("tool"), projection)
    assert run("protocol", "status", "tool")[0] == 1
    code, out, err = run(*EXPORT)
    assert (code, err, "2 of 2" in out) == (0, "", True)
    play(Path("tool"), projection)
    assert run("protocol", "status", "tool")[0] == 0

    code, out, err = run("protocol", "collect", "tool", "--json")
    result = json.loads(out)["measures"]
    settings = {"n_transformations": 5, "n_replicates": 1, "random_state": 3}
    tci = dreval.tractable_consistency(X, projection, **settings)
    assert (code, err) == (0, "")
    assert result["tractable_consistency"]["value"] == pytest.approx(float(tci), rel=1e-12)
    assert result["tractable_consistency"]["reseed_max"] == pytest.approx(tci.parts["reseed_max"], rel=1e-12)
    trust = dreval.trustability(X, projection, random_state=3)
    assert result["trustability"]["value"] == pytest.approx(float(trust), rel=1e-12)
    assert run("protocol", "collect", "tool", "--quiet") == (0, "", "")


def test_seeds_and_halves_are_both_collected(run: Any) -> None:
    """Each kind of runs has its stability, that of Python; if seeds change nothing, that of halves stands alone."""
    frame = pd.DataFrame(np.random.default_rng(2).normal(size=(44, 3)), columns=list("abc"))
    frame.to_csv("wide.csv", index=False)
    export = ("protocol", "export", "wide.csv", "wide", "--n-transformations", "0", "--seeds", "3", "--halves", "4")
    both = {"stability": "seeds", "stability_halves": "halves"}
    for tool, method, kinds in ((projection, projection, both), (pca, "pca", {"stability": "halves"})):
        run(*export, "--random-state", "3")
        play(Path("wide"), tool)

        code, out, _ = run("protocol", "collect", "wide", "--json")

        measures = json.loads(out)["measures"]
        collected = {name: row for name, row in measures.items() if name.startswith("stability")}
        assert (code, {name: row["recipe"]["parameters"]["over"] for name, row in collected.items()}) == (0, kinds)
        for name, over in kinds.items():
            count = {"seeds": 3, "halves": 4}[over]
            expected = dreval.stability(frame, method, over=over, n_replicates=count, random_state=3)
            assert collected[name]["value"] == pytest.approx(float(expected), rel=1e-12)
        printed = run("protocol", "collect", "wide")[1]
        assert all(f"over {3 if over == 'seeds' else 4} {over}" in printed for over in kinds.values())
        shutil.rmtree("wide")


def test_an_embedding_saves_a_round(run: Any) -> None:
    """--embedding FILE writes both rounds, rows matched by name; --format parquet writes parquet."""
    Y = pd.DataFrame(projection(X, 2, 3), columns=["u", "v"]).assign(cell=[f"c{i}" for i in range(36)])
    Y.sample(frac=1, random_state=0).to_csv("umap.csv", index=False)

    code, out, err = run(*EXPORT, *SETTINGS, "--embedding", "umap.csv", "--format", "parquet")

    assert (code, err, "2 of 2" in out) == (0, "", True)
    back = pd.read_parquet("tool/returned/data.parquet")
    assert back["cell"].tolist() == [f"c{i}" for i in range(36)]
    assert np.array_equal(back[["y1", "y2"]].to_numpy(), projection(X, 2, 3))


def test_missing_numbers_are_null(run: Any) -> None:
    """After round 1 the JSON has null and the reason for missing values, and the code is 1."""
    run(*EXPORT, *SETTINGS)
    play(Path("tool"), projection)

    code, out, _ = run("protocol", "collect", "tool", "--partial", "--json")

    result = json.loads(out)["measures"]
    assert (code, result["tractable_consistency"]["value"]) == (1, None)
    assert "round 1" in result["tractable_consistency"]["notes"][0]["text"]
    assert result["trustability"]["value"] > 0


@each(
    "arguments, message",
    [
        ((*EXPORT, "--format", "pickle"), "`--format` must be a known name"),
        ((*EXPORT, "--amplitude", "-1"), "`--amplitude` must be positive"),
        ((*EXPORT, "--n-transformations", "some"), "must be an integer or all: got 'some'"),
        ((*EXPORT, "-d", "0"), "`--n-components` must be an integer >= 1"),
        ((*EXPORT, "--embedding", "absent.csv"), "absent.csv"),
        (("protocol", "status", "absent"), "`absent/manifest.json` must exist"),
        (("protocol", "collect", "."), "`manifest.json` must exist"),
    ],
)
def test_errors_are_code_2(run: Any, arguments: tuple[str, ...], message: str) -> None:
    """Invalid input is code 2, with the reason on stderr and no folder."""
    code, out, err = run(*arguments)

    assert (code, out) == (2, "")
    assert message in err
    assert not Path("tool").exists()


@each("step", [(), ("export",), ("status",), ("collect",)])
def test_help_lists_options_and_exit_codes(run: Any, step: tuple[str, ...]) -> None:
    """--help is code 0, with every option, examples that begin with the command, and the exit codes."""
    code, out, err = run("protocol", *step, "--help")

    assert (code, err) == (0, "")
    assert f"  dreval protocol {' '.join(step)}".rstrip() in out
    assert "exit codes: 0" in out
    if step == ("export",):
        expected = [
            *inspect.signature(dreval.Protocol).parameters,
            *inspect.signature(dreval.Protocol.export).parameters,
        ]
        options = [f"--{name.replace('_', '-')}" for name in expected if name not in ("self", "data", "folder")]
        assert [word for word in options if word not in out] == []


def test_defaults_are_those_of_python() -> None:
    """Every option of export is a parameter of ``Protocol`` or its ``export``, with the same default."""
    options = vars(_parser().parse_args(["protocol", "export", "data.csv", "tool"]))
    parameters = {
        **inspect.signature(dreval.Protocol).parameters,
        **inspect.signature(dreval.Protocol.export).parameters,
    }
    expected = {name: p.default for name, p in parameters.items() if name not in ("self", "data", "folder")}

    assert {name: value for name, value in options.items() if name in expected} == expected
    assert options.keys() - expected.keys() == {"data", "folder", "run", "parser", "quiet", "json", "full"}
