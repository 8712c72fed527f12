"""Notes are data: each code has a sentence and is used somewhere, archives store them, and no code reads a text."""

from __future__ import annotations

import ast
import json
import re
import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import DegenerateDataWarning, Hint, InputError, MissingFile, UndefinedMeasure
from dreval.records.frames import notes_of_table
from dreval.records.notes import ASSUMPTION, FAILURE, LIMIT, Note, codes, join_notes, note, note_from_error

PACKAGE = Path(dreval.__file__).parent
FILES = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
EXAMPLES = {
    "measure": ("continuity", "mrre_false"),
    "parts": (("size", 2),),
    "lacking": "pair",
    "quantity": "best set",
}  # values by their format


def test_every_code_has_a_sentence_that_renders() -> None:
    """With a number for each field the sentence has no template left, and severity is one of three names."""
    for code, kind in codes().items():
        fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(kind.sentence) if name]
        text = str(note(code, **{name: EXAMPLES.get(spec or "", 2) for name, spec in fields}))
        assert text, code
        assert not set("{}|") & set(text), code
        assert kind.severity in (ASSUMPTION, LIMIT, FAILURE), code


def test_every_code_is_raised_somewhere() -> None:
    """Each code is a string of a file, or its last part follows the first in an f-string."""
    for code in codes.__wrapped__():  # those of the file, without codes that tests add
        prefix, _, last = code.partition(".")
        is_named = [
            f'"{code}"' in text or (f'f"{prefix}.{{' in text and f'"{last}"' in text) for text in FILES.values()
        ]
        assert any(is_named), code


def test_every_code_in_the_source_has_a_sentence() -> None:
    """Each text that is passed to ``note`` as its code is in the table; an unknown code raises an error."""
    calls = re.compile(r"""\b(?:note|add_note)\((?:row, |partial\(note, )?"([a-z_]+(?:\.[a-z_]+)*)\"""")
    used = {code for text in FILES.values() for code in calls.findall(text)}

    assert len(used) > 200
    assert used <= set(codes())
    with pytest.raises(KeyError, match="nowhere"):
        note("nowhere.written")


def test_one_reason_has_one_code() -> None:
    """A reason that intervals, pairs and best sets share has one code; its value ``of`` names what is missing."""
    texts = [str(note("inference.fixed", of=of)) for of in ("interval", "pair", "best set")]
    assert [text.partition(":")[0] for text in texts] == ["no interval", "no test", "not decided"]


COPIES = "{} an earlier one: copies count as separate points, so intervals may be too short."


def test_values_render_by_number() -> None:
    """Singular and plural have different texts; tuples have commas, notes within a note their sentences."""
    assert str(note("data.repeated", rows=1)) == COPIES.format("1 row repeats")
    assert str(note("data.repeated", rows=2)) == COPIES.format("2 rows repeat")
    inner = note_from_error(UndefinedMeasure("labels", "must be classes", "numbers", "Pass text."))
    several = note("runs.failed", failed=2, runs=3, reasons=[inner, inner])
    assert str(several).endswith("all means: " + " / ".join([str(inner)] * 2))
    assert join_notes([note("inference.fixed", of="interval"), note("data.repeated", rows=1)]).count(";") == 1


def test_an_argument_is_renamed_by_its_field() -> None:
    """Values called argument are renamed, also in notes within; the same text in a sentence stays."""
    error = InputError("x", "must be as long as {y}", "x of 3", "See y.", y="y")
    names = {"x": "embeddings['a']", "y": "labels"}
    assert str(error.named(names)) == "`embeddings['a']` must be as long as `labels`: got x of 3. See y."
    hint = InputError("x", "must be named", "none", "Pass {labels}, or {z}.", labels=Hint("labels", "a b"), z="z")
    assert hint.hint == "Pass labels='a b', or `z`."
    assert hint.named({"labels": "--labels", "z": "--z"}).hint == "Pass --labels 'a b', or `--z`."
    assert str(hint.altered(MissingFile, argument="y").named({"y": "--y"})).startswith("`--y` must be named: got none.")
    outer = note("interval.refused", reason=note_from_error(error))
    assert "`embeddings['a']` must be" in str(outer.named(names))
    assert str(note("kernel.delta", argument="y").named(names)).startswith("`labels` holds classes")


def test_plain_notes_survive_json() -> None:
    """The JSON form gives the same note, including notes and tuples within it."""
    inner = note("kernel.delta", argument="x")
    outer = note("runs.failed", "umap", failed=1, runs=2, reasons=[inner])
    assert Note.of_plain(json.loads(json.dumps(outer.plain()))) == outer
    assert outer.plain()["text"] == str(outer)


def test_an_archive_keeps_notes_as_records(tmp_path: Path) -> None:
    """Codes, values and scopes of a saved result are those of the result, and its text is rendered from them."""
    X = np.random.default_rng(0).normal(size=(24, 3))
    sources = {"flat": np.zeros((24, 2)), "bad": np.zeros((7, 2))}
    results = dreval.Evaluation(X, sources, labels=["a", "b"] * 12, n_neighbors=12, random_state=0).run(n_resamples=9)
    results.save(tmp_path / "r.dreval")
    loaded = dreval.load_results(tmp_path / "r.dreval")

    assert notes_of_table(loaded.notes) == notes_of_table(results.notes)
    pd.testing.assert_frame_equal(loaded.notes, results.notes)
    assert list(results.failed) == ["bad"]
    rows = results.table.query("embedding == 'flat' and measure == 'trustworthiness'")
    notes = results.notes.query("embedding == 'flat' and measure == 'trustworthiness'")
    assert rows["note"].iloc[0] == join_notes(notes_of_table(notes))
    assert "neighbors.half" in set(notes["code"])
    assert set(results.notes["severity"]) <= {ASSUMPTION, LIMIT, FAILURE}


def test_a_missing_file_is_also_a_file_not_found_error() -> None:
    """It can be caught as FileNotFoundError and as InputError."""
    with pytest.raises(FileNotFoundError) as error:
        dreval.load_results("nowhere.dreval")
    assert isinstance(error.value, InputError)
    assert isinstance(MissingFile("a", "must exist", "b", "c"), FileNotFoundError)


def test_a_warning_carries_its_note() -> None:
    """A warning has its note as a record."""
    with pytest.warns(DegenerateDataWarning) as records:
        dreval.hsic_test(np.r_[np.zeros(20), np.arange(4.0)], np.arange(24.0), n_resamples=9, random_state=0)
    assert records[0].message.note.code == "bandwidth.smallest"
    assert dict(records[0].message.note.values) == {"argument": "x"}


READABLE = re.compile(r"""\[["']note["']\]|\.note\b|str\((?:note|reason|refused|warning)\)""")  # see ``_reads``
READERS = {"startswith", "endswith", "partition", "rpartition", "split", "replace", "find", "index", "removeprefix"}


def _reads(node: ast.AST) -> bool:
    """Whether an expression is the text of a note, an error or a warning."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "note"
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "str" and node.args:
        callee = node.args[0]
        return isinstance(callee, ast.Name) and callee.id in ("note", "reason", "refused", "warning")
    return isinstance(node, ast.Attribute) and node.attr == "note" and isinstance(node.value, ast.Name)


def _readings(text: str) -> list[int]:
    """Return the lines in which the text of a note is compared with a string, or searched."""
    lines: list[int] = []
    for node in ast.walk(ast.parse(text)) if READABLE.search(text) else ():
        if isinstance(node, ast.Compare):
            constants = [
                side for side in (node.left, *node.comparators) if isinstance(side, ast.Constant) and side.value
            ]
            if constants and any(map(_reads, (node.left, *node.comparators))):
                lines.append(node.lineno)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READERS:
            lines += [node.lineno] if _reads(node.func.value) else []
    return lines


def test_no_code_reads_a_note() -> None:
    """No file of the package compares or searches the text of a note."""
    assert {str(path): lines for path, text in FILES.items() if (lines := _readings(text))} == {}


@pytest.mark.parametrize(
    "line",
    ['row["note"].startswith("no test")', '"exact" in row["note"]', 'str(reason).partition(":")', 'x.note == "a"'],
)
def test_code_that_reads_a_note_is_detected(line: str) -> None:
    """The search finds code that reads a note."""
    assert _readings(line) == [1]
