"""The commands embed and list, help, and the command line as a process."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import EVALUATE, IDS
from each import each

import dreval
from dreval.cli.evaluate import INTERVALS
from dreval.cli.list import KINDS
from dreval.evaluation.plan import CI_WORDS
from dreval.registry import DATASETS, MEASURES, METHODS, TESTS

# embed and list


@pytest.mark.parametrize("output", ["out.csv", "out.npy"])
def test_embed_writes_coordinates(run: Any, output: str) -> None:
    """The file holds the coordinates of ``dreval.embed``, exact, and is an embedding for ``evaluate``."""
    arguments = ("embed", "full.csv", "isomap", output, "-d", "3", "-k", "8", "--labels", "kind", "--ids", "cell")
    text = [f"isomap: 40 points, 3 components, written to {output}"]
    text.append("note: Labels were not used: isomap is not supervised.")
    assert run(*arguments) == (0, "\n".join([*text, ""]), "")
    features = pd.read_csv("full.csv").drop(columns=["kind", "cell"])
    expected = np.asarray(dreval.embed(features, "isomap", 3, n_neighbors=8, random_state=0))
    if output.endswith("csv"):
        frame = pd.read_csv(output, float_precision=None)
        assert frame.columns.tolist() == ["cell", "y1", "y2", "y3"]
        assert frame["cell"].tolist() == IDS
        lines = Path(output).read_text(encoding="utf-8").splitlines()[1:]
        assert [[float(cell) for cell in line.split(",")[1:]] for line in lines] == expected.tolist()
    else:
        assert (np.load(output) == expected).all()
    assert run("evaluate", "full.csv", "-e", output, "--labels", "kind", "--ids", "cell", "--quiet")[0] == 0


@pytest.mark.parametrize(
    ("option", "value"), [("labels", "kind"), ("response", "height"), ("response", "height,width")]
)
def test_embed_gives_a_supervised_method_its_response(run: Any, option: str, value: str) -> None:
    """Classes by --labels and numbers by --response reach the method; a float as a class raises an error."""
    rng = np.random.default_rng(0)
    X, height = rng.normal(size=(40, 3)), rng.normal(size=40)
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        height=height, width=height**2, kind=np.where(height > 0, "u", "v")
    )
    columns = value.split(",")
    frame[["a", "b", "c", *columns]].to_csv("y.csv", index=False)
    assert run("embed", "y.csv", "cca", "o.npy", "-d", "1", f"--{option}", value, "--quiet") == (0, "", "")
    y = frame["kind"] if option == "labels" else frame[columns]
    assert np.allclose(np.load("o.npy"), dreval.methods.CCA(1).fit_transform(X, y.to_numpy()))
    assert np.array_equal(np.load("o.npy"), np.asarray(dreval.embed(X, "cca", 1, **{option: y})))
    code, _, err = run("embed", "y.csv", "cca", "o.npy", "-d", "1", "--labels", "a")
    assert (code, "`--response` of `embed`" in err) == (2, True)


@each(
    "arguments, message",
    [
        (("data.csv", "isomp", "out.csv"), "Did you mean 'isomap'"),
        (("data.csv", "pca", "out.txt"), "`output` must end in .csv or .npy"),
        (("data.csv", "pca", "nowhere/out.csv"), "`output` must be in an existing folder"),
        (("data.csv", "pca", "data.csv"), "`output` must not be a file that is read"),
        (("data.csv", "pca", "out.csv", "-d", "0"), "`--n-components` must be an integer >= 1"),
        (("data.csv", "pca", "out.csv", "-d", "9"), "got 9"),
        (("data.csv", "pca", "out.csv", "-k", "5"), "`parameter of pca` must be a known name: got 'n_neighbors'"),
        (("data.csv", "isomap", "out.csv", "-k", "0"), "`--n-neighbors`"),
        (("gaps.csv", "pca", "out.csv"), "must be finite"),
    ],
)
def test_errors_of_embed(run: Any, arguments: tuple[str, ...], message: str) -> None:
    """An input that cannot be embedded is code 2, with the reason on stderr and no file."""
    code, out, err = run("embed", *arguments)

    assert (code, out) == (2, "")
    assert message in err
    assert not Path("out.csv").exists()


@each("kind, shelf", [("measures", MEASURES), ("methods", METHODS), ("tests", TESTS), ("datasets", DATASETS)])
def test_lists_are_the_registries(run: Any, kind: str, shelf: Any) -> None:
    """Each line begins with a name as the other commands take it, and describes it; in Markdown the same as a table."""
    code, out, err = run("list", kind)
    lines = out.splitlines()

    assert (code, err) == (0, "")
    assert [line.split()[0] for line in lines] == shelf.names()
    assert all(len(line.split(maxsplit=1)[1]) > 3 for line in lines)
    code, out, err = run("list", kind, "--markdown")
    table = out.splitlines()
    assert (code, err, table[:2]) == (0, "", ["| name | what |", "| --- | --- |"])
    assert [row.split("`")[1] for row in table[2:]] == shelf.names()


def test_a_bare_list_is_what_can_be_listed(run: Any) -> None:
    """Each kind has its number of entries and an example, which is one of them and has a card."""
    code, out, err = run("list")
    kinds = [line.split()[0] for line in out.splitlines()]

    assert (code, err, kinds) == (0, "", sorted(KINDS))
    for line in out.splitlines():
        kind, count, *_ = line.split()
        entries = run("list", kind)[1].splitlines()
        assert int(count) == len(entries)
        example = re.search(r", as (\w+)", line)[1]
        assert example in [entry.split()[0] for entry in entries]
        assert len(line) <= 80
        assert run("recommend" if kind == "goals" else "card", example)[0] == 0
    assert [row["name"] for row in json.loads(run("list", "--json")[1])["items"]] == kinds


def test_cards_are_those_of_python(run: Any) -> None:
    """The card of every measure, test and method is printed; a name of two kinds needs one; JSON has its fields."""
    for name, kind in (("trustworthiness", None), ("hsic_test", None), ("cca", "method"), ("wdbc", None)):
        chosen = ("--kind", kind) if kind else ()
        card = dreval.card(name, kind)
        assert run("card", name, *chosen) == (0, f"{card}\n", "")
        document = json.loads(run("card", name, *chosen, "--json")[1])
        assert (document["kind"], document["title"], document["reference"]) == (card.kind, card.title, card.reference)
    code, out, err = run("card", "cca")
    assert (code, out) == (2, "")
    assert err.endswith("got 'cca', a test and a method. Pass --kind test or --kind method.\n")
    code, _, err = run("card", "trustworthines")
    assert (code, "Did you mean 'trustworthiness'?" in err) == (2, True)


def test_recommended_measures_are_those_of_python(run: Any) -> None:
    """Without a goal all goals are listed with their questions; with one, its measures and the reasons."""
    goals = dreval.recommend().tidy()
    code, out, err = run("recommend")
    assert (code, err) == (0, "")
    assert all(f"  {row.goal}: {row.question}"[:78] in out for row in goals.itertuples())
    assert json.loads(run("recommend", "--json")[1])["goals"] == goals.to_dict("records")
    answer = dreval.recommend("batches")
    assert run("recommend", "batches") == (0, f"{answer}\n", "")
    document = json.loads(run("recommend", "batches", "--json")[1])
    assert document["measures"] == list(answer.measures)
    assert [row["measure"] for row in document["evidence"]] == list(answer.evidence.index)
    code, out, err = run("recommend", "neighbours")
    assert (code, out, "Did you mean 'neighbors'?" in err) == (2, "", True)


@each("command", [(), ("evaluate",), ("embed",), ("list",)])
def test_help_lists_the_options(run: Any, command: tuple[str, ...]) -> None:
    """--help is code 0 on stdout; choices come from the registries."""
    code, out, err = run(*command, "--help")

    assert (code, err) == (0, "")
    assert out.startswith("usage: dreval")
    text = " ".join(out.split())
    if command == ("evaluate",):
        assert "names from dreval list measures" in text
        assert "exit codes: 0 done, 1 some embedding failed, or has no value of" in text
        assert set(INTERVALS) == set(CI_WORDS)
        assert all(f"\n{'':24}{kind + ':':<13}{meaning}\n" in out for kind, meaning in INTERVALS.items())
    if command == ("embed",):
        assert f"one of {len(METHODS.names())}, see: dreval list methods" in text


# as a real process


def process(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    source = {"PYTHONPATH": str(Path(dreval.__path__[0]).parent)}
    return subprocess.run(
        [sys.executable, "-m", "dreval", *arguments], capture_output=True, text=True, encoding="utf-8", check=False,
        env={**os.environ, **source, **settings.pop("env", {})}, **settings,
    )  # fmt: skip


@pytest.mark.slow
def test_a_process_has_the_codes() -> None:
    """A process ends with code 0, 1 or 2 and without a traceback."""
    calls = [EVALUATE, (*EVALUATE, "-e", "short.npy"), ("evaluate", "no.csv", "-e", "pca")]
    completed = [process(*call) for call in calls]

    assert [process.returncode for process in completed] == [0, 1, 2]
    assert completed[0].stderr == ""
    assert completed[1].stderr.startswith(
        "dreval: 1 of 2 embeddings failed. short: `embeddings['short']` must have one row"
    )
    assert "Traceback" not in completed[2].stderr


@pytest.mark.slow
def test_a_terminal_without_unicode_loses_no_text() -> None:
    """Names that the terminal cannot encode are escaped; the JSON is pure ASCII."""
    completed = process(*EVALUATE, "-e", "größe=umap.csv", "--json", env={"PYTHONIOENCODING": "ascii"})
    output = process(*EVALUATE, "-e", "größe=umap.csv", env={"PYTHONIOENCODING": "ascii"})

    assert (completed.returncode, output.returncode) == (0, 0)
    assert json.loads(completed.stdout)["table"][-1]["embedding"] == "größe"
    assert "gr\\xf6\\xdfe" in output.stdout


@pytest.mark.slow
def test_a_closed_pipe_is_not_an_error() -> None:
    """`dreval ... | true`: the pipe breaks, there is no message, and the files are written."""
    arguments = shlex.join([*EVALUATE, "-e", "a=umap.csv", "--save", "left.dreval", "--report", "left.md"])
    command = f"set -o pipefail; {sys.executable} -m dreval {arguments} | true"
    env = {**os.environ, "PYTHONPATH": str(Path(dreval.__path__[0]).parent), "PYTHONUNBUFFERED": "1"}
    completed = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=env)

    assert (completed.returncode, completed.stderr) == (0, "")
    assert list(dreval.load_results("left.dreval").embeddings) == ["umap", "a"]
    assert Path("left.md").read_text("utf-8").startswith("#")
