"""Names are printed without escapes, other control characters and direction marks."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval._parallel import open_progress
from dreval._text import DIRECTION_MARKS, UNSEEN, printable
from dreval.cli._main import main
from dreval.errors import DrevalError, InputError, InputWarning
from dreval.inputs.data import as_data
from dreval.inputs.source import as_source
from dreval.records.notes import note
from dreval.storage.store import _sha256

BAD = "a\x1b[31m\x1b]0;t\x07\x9b2J\r\b\x85\u2028\u202e\u2066\u200f\u061c\u200b\ufeffb"
X = np.random.default_rng(0).normal(size=(40, 4))
Y = X[:, :2] + 0.1


def clean(text: object) -> bool:
    """Return whether each line has only printable characters."""
    message = str(text).replace("\n", "")
    return not any(ord(c) < 32 or 127 <= ord(c) < 160 or c in DIRECTION_MARKS + UNSEEN for c in message)


def frame() -> pd.DataFrame:
    """Return data whose columns, classes and row names have control characters."""
    result = pd.DataFrame(X, columns=[f"{BAD}{j}" for j in range(4)], index=[f"{BAD}{i}" for i in range(40)])
    result[f"{BAD} kind"] = [f"{BAD}{i % 3}" for i in range(40)]
    return result


def results() -> dreval.Results:
    ev = dreval.Evaluation(
        frame(),
        {"u": Y, "v": X[:, 1:3]},
        labels=f"{BAD} kind",
        covariates={BAD: X[:, 0]},
        n_neighbors=5,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ev.with_embedding("bad", Y[:4]).run(["trustworthiness", "knn_accuracy"], n_resamples=19)


def test_printable_characters() -> None:
    """Every control character and direction mark is removed; letters of all scripts and emoji stay."""
    controls = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029])) + DIRECTION_MARKS + UNSEEN
    assert printable(controls) == " " * (0x20 + 0x21 + 2)
    assert clean(printable(BAD))
    stored = "größe 嵌入 עברית عربي 🌍 👩‍🔬 नमस्ते a‌b"
    assert printable(stored) == stored
    assert printable("a\n\tb", keep="\n\t") == "a\n\tb"


ERRORS: dict[str, Callable[[], Any]] = {
    "a column that is not there": lambda: dreval.Evaluation(frame(), {"u": Y}, labels=f"{BAD} knd"),
    "a column of text": lambda: as_data(frame()),
    "a name of an embedding": lambda: dreval.Evaluation(X, {BAD: Y}),
    "a file": lambda: as_data(f"{BAD}.csv"),
    "a method": lambda: dreval.embed(X, BAD),
    "a keyword": lambda: dreval.embed(X, "pca", **{BAD: 1}),
    "a repeated id": lambda: as_data(X, ids=[BAD] * 40),
    "names of other rows": lambda: dreval.trustworthiness(frame().iloc[:, :4], frame().iloc[:9, :2]),
    "an exception": lambda: dreval.embed(X, lambda *_: (_ for _ in ()).throw(ValueError(BAD))),
    "an option": lambda: dreval.Evaluation(X, {"u": Y}).run(options={BAD: {}}),
    "covariates": lambda: as_data(frame(), covariates=[BAD, f"{BAD}x"]),
    "missing cells": lambda: as_data(frame().iloc[:, :4].mask(X > 1)),
    "the cure": lambda: (_ for _ in ()).throw(InputError("x", "must", "got", BAD)),
    "another argument": lambda: (_ for _ in ()).throw(InputError("{y}", "must", "{y}", "{y}", y=BAD)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    """All four parts are clean, also after arguments were renamed."""
    with pytest.raises(DrevalError) as caught:
        ERRORS[name]()
    error = caught.value
    for error_form in (error, error.named({"data": BAD}), error.altered(hint=BAD)):
        assert clean(error_form)
        assert all(map(clean, (error_form.argument, error_form.requirement, error_form.received, error_form.hint)))


def test_warnings_and_notes() -> None:
    """Notes are clean in names, messages of user code and values."""
    text = note("warned", BAD, category=BAD, message=BAD)
    assert clean(text)
    assert clean(InputWarning(text))
    assert clean(InputWarning(BAD))
    with pytest.warns(dreval.errors.EmbeddingFailed) as records:
        dreval.Evaluation(X, {"u": Y, "f": lambda *_: 1 / len(BAD[:0])}, n_neighbors=5).run("trustworthiness", None)
    assert all(clean(record.message) for record in records)


@pytest.mark.slow
def test_printed_records(tmp_path: Path) -> None:
    """A result, its parts and a loaded result are printed clean."""
    result = results()
    loaded = dreval.load_results(result.save(tmp_path / "r.dreval"))
    for result_form in (result, loaded):
        summary = result_form.summary()
        parts = (
            result_form,
            repr(result_form),
            summary,
            summary.as_markdown(),
            result_form.paragraph(),
            result_form.bibtex(),
        )
        assert all(map(clean, parts))
        assert all(clean(text) for text in result_form.notes["note"]) if "note" in result_form.notes else True
    data = as_data(frame().iloc[:, :4], name=BAD)
    embedding = dreval.embed(X, "pca")
    for record in (data, as_source(Y, BAD, as_data(X)), embedding, dreval.Evaluation(data, {"u": Y})):
        assert clean(record)
        assert clean(repr(record))


def test_progress() -> None:
    """Descriptions of a progress bar, which name embeddings, methods and data sets, are clean."""
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        with open_progress(True) as bar:
            bar.reset(total=3)
            bar.set_description(BAD)
            bar.update(1)
    output = stream.getvalue()
    assert "a" in output
    assert "\x1b[31m" not in output
    assert not set(output) & set(DIRECTION_MARKS + "\x07\x9b\b\x85")


def test_a_journal_of_other_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """States, reasons and tables of a study are printed clean for any error text of its methods."""

    def tool(*_: Any) -> np.ndarray:
        raise ValueError(BAD)

    path = tmp_path / "s.journal"
    study = dreval.Study(path, {"x": X, "y": X**3}, {"t": tool, "pca": "pca"}, "trustworthiness", n_neighbors=5)
    study.run(progress=False)
    opened = dreval.Study.open(path)
    assert all(map(clean, (study, repr(study), opened.status(), repr(opened.status()))))
    main(["study", "status", str(path)])
    output = capsys.readouterr()
    assert "failed" in output.out
    assert clean(output.out)
    assert clean(output.err)


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line in a separate process."""
    command = [sys.executable, "-m", "dreval", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.slow
def test_the_command_line(tmp_path: Path) -> None:
    """Output, errors and warnings are clean; JSON keeps the names with its escapes."""
    table = frame().drop(columns=f"{BAD} kind").rename(columns=lambda name: name.replace("\r", "").replace("\x85", ""))
    table.columns = [name.replace("\u2028", "") for name in table.columns]
    table.reset_index(drop=True).to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame(Y, columns=["y1", "y2"]).to_csv(tmp_path / "y.csv", index=False)
    result = run("evaluate", tmp_path / "x.csv", "-e", f"u={tmp_path / 'y.csv'}", "--labels", "nothing")
    assert result.returncode == 2
    assert clean(result.stderr)
    result = run("evaluate", tmp_path / "x.csv", "-e", f"u={tmp_path / 'y.csv'}", "--measures", "trustworthiness")
    assert result.returncode == 0, result.stderr
    assert clean(result.stdout)
    assert clean(result.stderr)
    output = run(
        "evaluate", tmp_path / "x.csv", "-e", f"u={tmp_path / 'y.csv'}", "--measures", "trustworthiness", "--json"
    )
    assert clean(output.stdout)
    assert json.loads(output.stdout)


@pytest.mark.parametrize(
    "arguments", [["evaluate", "x", f"--{BAD}"], ["evaluate", BAD, "--header", BAD], [BAD], ["list", BAD]]
)
def test_the_parser_of_the_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Its errors name the argument that was typed."""
    with pytest.raises(SystemExit):
        main(arguments)
    output = capsys.readouterr()
    assert "error" in output.err
    assert clean(output.err)


def test_names_in_a_journal_of_somebody_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A study rejects such names; a file that has them, and its errors, are printed clean."""
    path = tmp_path / "s.journal"
    dreval.Study(path, {"x": X, "y": X**3}, ["pca"], "trustworthiness", n_neighbors=5).run(progress=False)
    with closing(sqlite3.connect(path)) as db, db:
        for run_, cell, value in db.execute("SELECT run, cell, value FROM cells").fetchall():
            names = json.loads(cell) if cell.startswith("[") else cell
            if run_ == "study cells":
                names_text = json.dumps(
                    [names[0].replace("x", BAD), f"{BAD}{names[1]}", *names[2:]], ensure_ascii=False
                )
            else:
                names_text = {"x": BAD, "pca": f"{BAD}pca"}.get(cell, cell)
            db.execute(
                "UPDATE cells SET cell = ?, value_sha256 = ? WHERE run = ? AND cell = ?",
                (names_text, _sha256(run_, names_text, value), run_, cell),
            )
        db.execute("DELETE FROM tasks")
    opened = dreval.Study.open(path)
    assert opened.table()["dataset"].eq(BAD).any()
    assert all(map(clean, (opened.status(), repr(opened.status()), opened, repr(opened))))
    with pytest.raises(DrevalError) as error:
        opened.embedding("nothing", "pca")
    assert clean(error.value)
    main(["study", "status", str(path)])
    output = capsys.readouterr()
    assert output.out
    assert clean(output.out)
    assert clean(output.err)


def test_figures_of_labels_with_a_byte_order_mark(tmp_path: Path) -> None:
    """A byte-order mark in labels is removed, since the writer of .pdf files raises an error for it."""
    labels = np.array(["\ufeffa", "\ufeffb"] * 20)
    ev = dreval.Evaluation(X, {"u": Y}, labels=labels, n_neighbors=5, random_state=0)
    results = ev.run("trustworthiness", None, None)
    results.plot().savefig(tmp_path / "r.pdf")
    assert "\ufeff" not in results.report(tmp_path / "r.md").read_text("utf-8")


def test_a_progress_bar_leaves_no_thread() -> None:
    """No thread of a bar remains when the bar is closed."""
    count = threading.active_count()
    for _ in range(3):
        with open_progress(True) as bar:
            bar.total = 2
            bar.update(1)

    assert threading.active_count() == count
