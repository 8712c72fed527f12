"""The help of the command line has examples, which all run; each command can print one JSON document."""

from __future__ import annotations

import itertools
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import EVALUATE, IDS, KINDS, X, Y
from each import each
from protocol_runs import play, projection

import dreval
from dreval.cli import _main
from dreval.cli._main import CommandParser, _parser
from dreval.cli._output import json_text


def parsers(parser: CommandParser, name: str = "dreval") -> Iterator[tuple[str, CommandParser]]:
    """Yield each command and subcommand, by its full name, with its parser."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for choice, subparser in action.choices.items():
                yield from parsers(subparser, f"{name} {choice}")


COMMANDS = dict(parsers(_parser()))
ANSWERS = {name: command for name, command in COMMANDS.items() if command.get_default("run") is not None}


def examples(name: str) -> list[list[str]]:
    """Return the command lines in the epilog of a command."""
    lines = [line.strip() for line in (COMMANDS[name].epilog or "").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("dreval ") and "COMMAND" not in line]


def test_a_command_is_a_file() -> None:
    """Each file of the folder is a command; each command or subcommand at the end of the tree prints a result."""
    commands = [name.split()[1] for name in COMMANDS if len(name.split()) == 2]
    assert commands == sorted(path.stem for path in Path(_main.__file__).parent.glob("[!_]*.py"))
    assert {"card", "compare", "embed", "evaluate", "list", "recommend", "report", "show"} <= set(commands)
    assert len(ANSWERS) == len(commands) - 2 + 3 + 3  # protocol and study have three steps each


@each("columns, name", itertools.product(["80", "200", "60"], COMMANDS))
def test_help_fits_a_terminal(run: Any, monkeypatch: pytest.MonkeyPatch, name: str, columns: str) -> None:
    """No line is wider than 80 columns, there are two examples or more, and the exit codes are listed."""
    monkeypatch.setenv("COLUMNS", columns)
    code, out, err = run(*name.split()[1:], "--help")

    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert len(examples(name)) >= 2
    assert "xit codes: 0 " in out


@each("name", ["dreval", "dreval study", "dreval protocol"])
def test_a_command_with_subcommands_prints_its_help(run: Any, name: str) -> None:
    """`dreval` alone, and a command without its step, print their help; code 0."""
    assert run(*name.split()[1:]) == run(*name.split()[1:], "--help")


@each("name", ANSWERS)
def test_every_command_has_json_and_quiet(name: str) -> None:
    """Both are options, and the help names the keys of the document."""
    assert {"json", "quiet"} <= ANSWERS[name].flags.keys()
    helped = {action.dest: action.help for action in ANSWERS[name]._actions}
    assert helped["json"].startswith("print one JSON document: ")


SMALL = {"--n-transformations": "2", "--n-replicates": "1", "--random-state": "0"}
CHEAPER = {  # values of options, in place of those of an example
    "dreval evaluate": {"--ci": "none"},
    "dreval protocol export": SMALL,
    "dreval study run": {"--measures": "procrustes_disparity"},
}


def prepare(arguments: list[str]) -> list[str]:
    """Create the files that an example needs, and return the command line with options that make it cheaper."""
    command = " ".join(arguments[:3] if arguments[1] in ("study", "protocol") else arguments[:2])
    if "study.toml" in arguments:
        Path("study.toml").write_text('datasets = ["data.csv"]\nmethods = ["pca"]\nmeasures = "stress"\n', "utf-8")
    if "query.csv" in arguments:
        pd.DataFrame(X[::4] + 0.5, columns=list("abcd")).to_csv("query.csv", index=False)
        pd.DataFrame(Y[::4] + 0.5, columns=["u", "v"]).to_csv("new.csv", index=False)
    if arguments[1] in ("compare", "show", "report"):
        save()
    if arguments[1] == "similarity":
        for name, columns in {
            "old": slice(4),
            "new": slice(3),
            "layer1": slice(4),
            "layer2": slice(3),
            "layer3": slice(2),
        }.items():
            np.save(f"{name}.npy", X[:, columns])
            pd.DataFrame(X[:, columns]).assign(id=IDS).to_csv(f"{name}.csv", index=False)
    if arguments[1] == "check":
        for name in {"new.npy", "old.npy"} & {*arguments}:
            np.save(name, Y)
    if "v1.dreval" in arguments:
        for name, embeddings in (("v1", {"a": Y}), ("v2", {"a": Y[::-1]})):
            evaluation = dreval.Evaluation(X, embeddings, n_neighbors=5, random_state=0)
            evaluation.run(["trustworthiness"], None).save(f"{name}.dreval")
    if command in ("dreval study status", "dreval study report") or (
        arguments[1] in ("compare", "show", "report") and "study.journal" in arguments
    ):
        study()
    if command in ("dreval protocol status", "dreval protocol collect"):
        exported()
    cheaper = {"--n-jobs": "1"} if "study.toml" in arguments else CHEAPER.get(command, {})
    places = {arguments.index(option) for option in cheaper if option in arguments}
    others = [part for at, part in enumerate(arguments) if not {at, at - 1} & places]
    return [*others, *(part for setting in cheaper.items() for part in setting)]


def save() -> None:
    """Write two saved results and a table of values."""
    for name, shift in (("iris", 0.0), ("wine", 1.0)):
        evaluation = dreval.Evaluation(X + shift * X**2, {"a": Y, "b": "pca"}, n_neighbors=5, random_state=0)
        evaluation.run(["trustworthiness"], None).save(f"{name}.dreval")
    Path("out.dreval").write_bytes(Path("wine.dreval").read_bytes())
    rows = [("third", name, "trustworthiness", value) for name, value in (("a", 0.9), ("b", 0.8))]
    pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"]).to_csv("table.csv", index=False)


def study() -> None:
    """Write a study of two methods on three data sets."""
    data = {"one": X, "two": X**2, "three": X**3}
    dreval.Study("study.journal", data, ["pca", "classical_mds"], "procrustes_disparity", random_state=0).run()


def exported() -> None:
    """Write a protocol with the returned files of both rounds."""
    protocol = dreval.Protocol(X, n_transformations=2, n_replicates=1, random_state=0)
    protocol.export("umap", embedding=projection(X, 2, 0))
    play(Path("umap"), projection)


def own_examples(name: str) -> list[str]:
    """Return the examples of a command that call it, without those on AnnData."""
    return [
        shlex.join(arguments)
        for arguments in examples(name)
        if "cells.h5ad" not in arguments and " ".join(arguments).startswith(name)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted({line for name in ANSWERS for line in own_examples(name)}))
def test_examples_run(run: Any, command: str) -> None:
    """Each command line of the help ends with code 0, prints on stdout, and prints nothing on stderr."""
    code, out, err = run(*prepare(shlex.split(command))[1:])

    assert (code, err) == (0, "")
    assert out


def strict(text: str) -> Any:
    """Parse one JSON document without NaN."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


DOCUMENTS = [
    (EVALUATE, "recipe table notes curves"),
    (("embed", "data.csv", "umap", "o.csv", "--random-state", "0"),
     "method n n_components parameters random_state notes output"),
    (("compare", "iris.dreval", "wine.dreval", "table.csv"), "recipe pairs overall standing notes"),
    (("study", "run", "study.journal", "-x", "data.csv", "-m", "pca", "--measures", "stress"),
     "file cells done failed running waiting seconds states notes"),
    (("study", "status", "study.journal"), "file cells done failed running waiting seconds states notes"),
    (("study", "report", "study.journal", "r.md"), "report file cells done failed running waiting seconds"),
    (("protocol", "export", "data.csv", "umap", *(part for setting in SMALL.items() for part in setting)),
     "folder round complete returned missing wrong tasks notes"),
    (("protocol", "status", "umap"), "folder round complete returned missing wrong tasks notes"),
    (("protocol", "collect", "umap"), "tool notes measures tests"),
    (("similarity", "data.csv", "umap.csv", "--n-resamples", "19"), "recipe table maxima curve moved notes"),
    (("list", "tests"), "kind items"),
    (("show", "out.dreval"), "recipe table notes"),
    (("show", "study.journal"), "file cells done failed running waiting seconds states notes"),
    (("report", "out.dreval", "r.md"), "report"),
    (("recommend",), "goals"),
    (("recommend", "batches"), "goal question measures table evidence"),
    (("card", "map"),
     "kind name title question caution cost reference parameters reading of several draws_map aliases"),
    (("sweep", "data.csv", "-m", "isomap", "--grid", "n_neighbors=10,15", "--random-state", "0"),
     "recipe best_set table notes"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "keys"), DOCUMENTS)
def test_the_document_of_each_command(run: Any, arguments: tuple[str, ...], keys: str) -> None:
    """--json prints one strict document with these keys only; --quiet prints nothing, with the same code."""
    prepare(["dreval", *arguments])
    code, out, err = run(*arguments, "--json")

    assert (code, err) == (0, "")
    assert list(strict(out)) == keys.split()
    if arguments[:2] != ("protocol", "export"):
        assert run(*arguments, "--quiet") == (0, "", "")


def test_json_converts_numpy_and_missing_numbers() -> None:
    """Tables are rows, numbers of numpy are numbers, NaN and infinity are null."""
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, float("nan")]})
    document = strict(
        json_text({"t": frame, "x": X[:1, :1], "i": X.argmax(), "n": float("inf"), "l": ({"k": KINDS[:1]},)})
    )

    assert document["t"] == [{"a": 1, "b": 0.5}, {"a": 2, "b": None}]
    assert document["x"] == [[X[0, 0]]]
    assert (document["n"], document["l"]) == (None, [{"k": ["benign"]}])


def test_json_is_printed_when_stopped(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study stopped by Ctrl-C still gives its document, with code 130."""
    arguments = (
        "study",
        "run",
        "s.journal",
        "-x",
        "data.csv",
        "-x",
        "kinds.csv",
        "--labels",
        "kinds=kind",
        "-m",
        "pca",
    )
    run(*arguments, "--measures", "stress", "--limit", "1")

    def stopped(self: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dreval.study.study.Study, "run", stopped)
    code, out, err = run(*arguments, "--measures", "stress", "--json")

    assert (code, err, strict(out)["waiting"]) == (130, "", 1)


def test_ctrl_c_is_code_130(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stderr has one line and no traceback."""

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dreval.evaluation.evaluation.Evaluation.run", stop)
    assert run(*EVALUATE) == (130, "", "dreval: stopped\n")


def test_a_defect_is_code_3(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An internal error is reported in two lines, with DREVAL_DEBUG after the traceback, and the code is the same."""

    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by 0")

    monkeypatch.setattr("dreval.evaluation.evaluation.Evaluation.run", fail)
    code, out, err = run(*EVALUATE)

    assert (code, out) == (3, "")
    assert err.startswith("dreval: internal error of dreval, not of its input (ZeroDivisionError: by 0)\n")
    assert "Traceback" not in err
    monkeypatch.setenv("DREVAL_DEBUG", "1")
    code, out, err = run(*EVALUATE)
    assert (code, out) == (3, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert "\nZeroDivisionError: by 0\ndreval: internal error of dreval" in err


def test_a_traceback_changes_no_exit_code(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong input is 2 and an interrupt is 130, with the traceback before the message."""
    monkeypatch.setenv("DREVAL_DEBUG", "1")
    code, out, err = run("evaluate", "nofile.csv", "-e", "pca")
    assert (code, out) == (2, "")
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("dreval: `data` must be an existing file")

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dreval.evaluation.evaluation.Evaluation.run", stop)
    code, out, err = run(*EVALUATE)
    assert (code, err.splitlines()[-1]) == (130, "dreval: stopped")


def test_insufficient_memory_is_code_2(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little memory is not an internal error."""

    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr("dreval.evaluation.evaluation.Evaluation.run", fail)
    assert run(*EVALUATE) == (2, "", "dreval: out of memory (Unable to allocate 7 TiB)\n")


def test_long_lists_are_not_printed(run: Any) -> None:
    """The error for a wrong name has the nearest name and the command of the command line that lists them."""
    for arguments, hint in (
        (("embed", "data.csv", "isomp", "o.csv"), "Did you mean 'isomap'? dreval list methods lists them all.\n"),
        ((*EVALUATE, "--measures", "stres"), "Did you mean 'stress'? dreval list measures lists them all.\n"),
        (("evaluate", "data.csv", "-e", "qqqq"), "got 'qqqq'. dreval list methods lists them all.\n"),
    ):
        code, _, err = run(*arguments)
        assert (code, err.endswith(hint)) == (2, True), err


def test_help_loads_no_large_package() -> None:
    """--help of a command imports neither pandas nor scipy nor matplotlib, so that it is fast."""
    code = (
        "import sys\nfrom dreval.cli._main import main\n"
        "try:\n    main(['study', 'run', '--help'])\nexcept SystemExit:\n"
        "    pass\nprint(*sorted({'pandas', 'scipy', 'matplotlib', 'numba', 'jinja2'} & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert process.stdout.splitlines()[-1] == ""


def test_names_of_points_go_along(run: Any) -> None:
    """Row names of the data are written with the embedding, and rows are matched by them."""
    pd.DataFrame(X, columns=list("abcd"), index=[f"p{i}" for i in range(40)]).to_csv("named.csv")
    run("embed", "named.csv", "pca", "pca.csv")
    frame = pd.read_csv("pca.csv", index_col=0)
    frame.iloc[::-1].to_csv("turned.csv")
    _, out, _ = run("evaluate", "named.csv", "-e", "pca.csv", "-e", "turned.csv", "-k", "5", "--ci", "none", "--json")
    rows = strict(out)["table"]

    assert frame.index.tolist() == [f"p{i}" for i in range(40)]
    assert len({row["value"] for row in rows if row["measure"] == "trustworthiness"}) == 1
