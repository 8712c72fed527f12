"""Archives and journals with valid checksums and other content: one clear error each, of bounded size."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import resource
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

import dreval
from dreval.errors import DrevalError, InputError
from dreval.records import archive
from dreval.storage.store import Claims, Store, _sha256, cell_row

X = np.random.default_rng(0).normal(size=(30, 4))
LONG = 10_000_000
Body = dict[str, Any]


def npy(array: np.ndarray, pickled: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=pickled)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("saved") / "r.dreval"
    ev = dreval.Evaluation(X, {"u": X[:, :2]}, labels=list("ab") * 15, ids=[f"p{i}" for i in range(30)], n_neighbors=5)
    ev.run(["trustworthiness", "stress"], None).save(path)
    return path


def forge(saved: Path, path: Path, change: Callable[[Body, dict[str, bytes]], object]) -> Path:
    """Write an archive with another manifest and other members, and the checksums of them."""
    with zipfile.ZipFile(saved) as file:
        members = {name: file.read(name) for name in file.namelist()}
    body = json.loads(members.pop(archive.MANIFEST))
    body.pop("sha256")
    change(body, members)
    body["members"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    text = json.dumps({"sha256": archive._hash(body), **body})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {archive.MANIFEST: text.encode(), **members}.items():
            file.writestr(name, content)
    return path


def coordinates(array: np.ndarray, pickled: bool = False) -> Callable[[Body, dict[str, bytes]], object]:
    return lambda _, members: members.update({"embedding_0.npy": npy(array, pickled)})


def recipe(**fields: Any) -> Callable[[Body, dict[str, bytes]], object]:
    return lambda body, _: body["recipe"].update(fields)


Y = X[:, :2]
ARCHIVES: dict[str, Callable[[Body, dict[str, bytes]], object]] = {
    "NaN": coordinates(np.where(np.arange(60).reshape(30, 2) == 7, np.nan, Y)),
    "infinity": coordinates(np.where(np.arange(60).reshape(30, 2) == 7, np.inf, Y)),
    "one dimension": coordinates(Y[:, 0]),
    "three dimensions": coordinates(Y[:, :, None]),
    "no column": coordinates(Y[:, :0]),
    "no dimension": coordinates(np.array(1.0)),
    "text": coordinates(Y.astype(str)),
    "complex": coordinates(Y.astype(complex)),
    "fields": coordinates(np.zeros(30, [("a", float), ("b", float)])),
    "pickled": coordinates(Y.astype(object), pickled=True),
    "fewer rows": coordinates(Y[:9]),
    "cut": lambda _, members: members.update({"embedding_0.npy": npy(Y)[:200]}),
    "no n": lambda body, _: body["recipe"].pop("n"),
    "n of text": recipe(n="30"),
    "n huge": recipe(n=10**400),
    "n negative": recipe(n=-30),
    "long ids": lambda body, _: body["ids"].update(values=["p" * LONG, *body["ids"]["values"][1:]]),
    "fewer labels": lambda body, _: body["labels"].update(values=body["labels"]["values"][:29]),
    "long labels": lambda body, _: body["labels"].update(values=["p" * LONG, *body["labels"]["values"][1:]]),
    "a wide type": lambda body, _: body["ids"].update(dtype=f"<U{10**9}"),
    "a long name": lambda body, _: body.update(embeddings=["u" * LONG]),
    "a long data set": recipe(dataset="u" * LONG),
    "deep notes": lambda _, members: members.update({"notes.json": b"[" * 200_000}),
    "a huge integer": lambda _, members: members.update({"notes.json": b"[" + b"9" * 100_000 + b"]"}),
    "notes of an unknown code": lambda _, members: members.update(
        {"notes.json": json.dumps([{"code": "no.such", "values": {}, "scope": "", "embedding": "u"}]).encode()}
    ),
    "a huge Shepard diagram": lambda _, members: members.update(
        {"shepard.json": json.dumps({"u": {"x_edges": [0] * 200_000, "y_edges": [0] * 200_000}}).encode()}
    ),
    "labels of bytes": lambda body, _: body["labels"].update(dtype="S80000000"),
    "labels of dates": lambda body, _: body["labels"].update(dtype="M8[s]", values=[0] * 30),
    "labels of fields": lambda body, _: body["labels"].update(dtype="i8,f8", values=[0] * 30),
    "labels of arrays": lambda body, _: body["labels"].update(dtype="(2,)f8", values=[0] * 30),
    "complex labels": lambda body, _: body["labels"].update(dtype="c16", values=[0.5] * 30),
    "wide labels": lambda body, _: body["labels"].update(dtype="<U20000000"),
    "many empty lists": lambda _, members: members.update({"notes.json": b"[" + b"[]," * 2_000_000 + b"[]]"}),
    "many objects": lambda _, members: members.update({"shepard.json": b"[" + b"{}," * 1_000_000 + b"{}]"}),
    "many empty cells": lambda _, members: members.update({"table.csv": b"," * 4_000_000}),
    "labels of lists": lambda body, _: body["labels"].update(values=[[1]] * 30),
    "members of lists": lambda body, _: body.update(embeddings=[["u"]]),
}


@each("name", ARCHIVES)
def test_a_forged_archive(name: str, saved: Path, tmp_path: Path) -> None:
    """Rejected with a four-part error, without using the memory that it asks for."""
    path = forge(saved, tmp_path / f"{name}.dreval", ARCHIVES[name])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    requirement = r"`path` must (be a file written by `save` of a result|unpack to at most 2\.68e\+08 bytes): got "
    with pytest.raises(InputError, match=requirement) as error:
        dreval.load_results(path)
    assert len(str(error.value)) < 1000
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 300


def damaged(source: Path, path: Path, method: int, name: str) -> Path:
    """Return a copy of an archive, with another compression, in which a member is changed or encrypted."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", method or zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, old.read(member))
        info = new.getinfo(name)
    content = bytearray(path.read_bytes())
    if method:
        start = info.header_offset + 30 + len(name) + 12
        content[start : start + 60] = bytes(byte ^ 0x5A for byte in content[start : start + 60])
    else:
        for at in (content.find(b"PK\x03\x04", info.header_offset) + 6, content.find(b"PK\x01\x02") + 8):
            content[at] |= 1
    path.write_bytes(content)
    return path


@each("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_that_do_not_unpack(method: int, saved: Path, fresh_folder: Callable[[], Path]) -> None:
    """Each compression method raises a different error; with 0 the member claims to be encrypted."""
    folder = fresh_folder()
    with pytest.raises(InputError, match="`path` must be a file written by `save` of a result"):
        dreval.load_results(damaged(saved, folder / "r.dreval", method, archive.MANIFEST))
    np.savez(folder / "x.npz", X=X)
    path = damaged(folder / "x.npz", folder / "y.npz", method, "X.npy")
    with pytest.raises(InputError, match=r"`data` must be a readable \.npz file"):
        dreval.Evaluation(path, {"u": Y})


def test_unchanged_files_are_read(saved: Path, tmp_path: Path) -> None:
    """Also with coordinates of single precision, and ids as long as a protein."""
    unchanged = forge(saved, tmp_path / "same.dreval", lambda *_: None)
    assert dreval.load_results(unchanged).names == ["u"]
    single = forge(saved, tmp_path / "single.dreval", coordinates(Y.astype(np.float32)))
    assert dreval.load_results(single).embeddings["u"].dtype == np.float32
    ids = [f"{i}{'M' * 35_000}" for i in range(30)]
    results = dreval.Evaluation(X, {"u": Y}, ids=ids, n_neighbors=5).run("trustworthiness", None, None)
    assert dreval.load_results(results.save(tmp_path / "long.dreval")).ids.tolist() == ids


@pytest.mark.slow
def test_long_ids_raise_an_error_for_data_and_for_archives() -> None:
    import pandas as pd

    texts = ["p" * LONG, *map(str, range(29))]
    for call in (
        lambda: dreval.Evaluation(X, {"u": Y}, ids=texts),
        lambda: dreval.Evaluation(pd.DataFrame(X, index=texts), {"u": Y}),
        lambda: dreval.Evaluation(X, {"u": Y}, labels=texts),
    ):
        with pytest.raises(InputError, match="must be texts of at most 100,000 characters") as error:
            call()
        assert len(str(error.value)) < 1000


VALUES: dict[str, str] = {
    "deep": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "deep lists": "[" * 100_000,
    "a huge integer": '{"seconds": ' + "9" * 100_000 + "}",
    "a large integer": '{"seconds": 1' + "0" * 400 + ', "rows": [], "reason": null, "warnings": []}',
    "a list": "[1, 2]",
    "a text": '"text"',
    "a number": "3",
    "nothing": "null",
    "no JSON": "{",
    "rows of numbers": '{"seconds": 1, "rows": [1], "reason": null, "warnings": []}',
    "warnings of text": '{"seconds": 1, "rows": [], "reason": null, "warnings": ["a"]}',
    "a reason of no code": '{"seconds": 1, "rows": [], "reason": {"code": "no.such", "values": {}, "scope": ""}}',
    "a value of lists": '{"seconds": 1, "rows": [{"value": [1, 2]}], "reason": null, "warnings": []}',
    "empty": "{}",
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("study") / "s.journal"
    _study(path).run()
    return path


def replaced(source: Path, path: Path, run: str, **fields: Any) -> Path:
    """A copy of a journal in which all cells of a run are changed, with the checksums of it."""
    path.write_bytes(source.read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        for (cell,) in db.execute("SELECT cell FROM cells WHERE run = ?", (run,)).fetchall():
            row = dict(zip(COLUMNS, cell_row(run, cell, {}, np.eye(2)), strict=True))
            if "value" in fields:
                row |= {"value": fields["value"], "value_sha256": _sha256(run, cell, fields["value"])}
                row |= {"array": None, "array_sha256": None}
            if "array" in fields:
                old = db.execute("SELECT value FROM cells WHERE run = ? AND cell = ?", (run, cell)).fetchone()[0]
                row |= {"value": old, "value_sha256": _sha256(run, cell, old)}
                row |= {"array": fields["array"], "array_sha256": _sha256(run, cell, fields["array"])}
            names = ", ".join(f"{name} = :{name}" for name in COLUMNS)
            db.execute(f"UPDATE cells SET {names} WHERE run = :run AND cell = :cell", row)
    return path


COLUMNS = ("run", "cell", "value", "value_sha256", "array", "array_sha256")


@each("name, run", itertools.product(VALUES, ["study", "study cells", "study data sets", "study methods"]), items=2)
def test_a_forged_study(name: str, run: str, study: Path, fresh_folder: Callable[[], Path]) -> None:
    """Every reader gives a result or one clear error."""
    path = replaced(study, fresh_folder() / "s.journal", run, value=VALUES[name])
    kinds = [
        _message(lambda: str(dreval.Study.open(path).status())),
        _message(lambda: dreval.Study.open(path).table()),
        _message(lambda: dreval.Study.open(path).compare()),
        _message(lambda: _study(path).run()),
    ]
    assert all(len(text) < 1500 for text in kinds)
    assert any(kinds) or name in ("empty", "a value of lists") or run == "study methods"


def _study(path: Path) -> dreval.Study:
    return dreval.Study(path, {"x": X, "y": X**3}, ["pca"], "trustworthiness", n_neighbors=5, random_state=0)


def _message(call: Callable[[], object]) -> str:
    """Return the text of an InputError; all other errors fail the test."""
    try:
        call()
    except DrevalError as error:
        return str(error)
    return ""


ARRAYS = {
    "pickled": npy(np.array([{}, 1], dtype=object), pickled=True),
    "cut": npy(np.ones((1000, 2)))[:500],
    "text": b"text",
    "empty": b"",
    "a header alone": npy(np.ones((10**6, 2)))[:128],
    "three dimensions": npy(np.ones((30, 2, 2))),
    "NaN": npy(np.full((30, 2), np.nan)),
    "fewer rows": npy(np.ones((3, 2))),
}


@each("name", ARRAYS)
def test_forged_arrays_of_a_store(name: str, fresh_folder: Callable[[], Path]) -> None:
    """Finished embeddings of an evaluation or of a study raise an error, or count as a failure."""
    folder = fresh_folder()
    path, ev = folder / "a.journal", dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=5, random_state=0)
    ev.run("trustworthiness", None, None, journal=path)
    with closing(sqlite3.connect(path)) as db:
        runs = [run for (run,) in db.execute("SELECT run FROM cells WHERE cell = 'embedding'")]
    for run in runs:
        replaced(path, folder / "b.journal", run, array=ARRAYS[name])
    with pytest.raises(DrevalError) as error:
        ev.run("trustworthiness", None, None, journal=folder / "b.journal")
    assert len(str(error.value)) < 1000


SCHEMAS = {
    "a view without an end": "DROP TABLE cells; CREATE VIEW cells AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
    "SELECT i + 1 FROM n) SELECT 'study' AS run, i AS cell, '' AS value, '' AS value_sha256, NULL AS array, NULL AS "
    "array_sha256 FROM n;",
    "a view of a large blob": "DROP TABLE cells; CREATE VIEW cells AS SELECT 'study' AS run, 'recipe' AS cell, "
    "zeroblob(900000000) AS value, '' AS value_sha256, NULL AS array, NULL AS array_sha256;",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON tasks BEGIN DELETE FROM cells; END;",
    "a computed column": "ALTER TABLE cells ADD COLUMN more AS (zeroblob(900000000));",
    "another table": "CREATE TABLE more (a);",
    "a trigger with a name of SQLite": "PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES ('trigger', "
    "'sqlite_t', 'about', 0, 'CREATE TRIGGER sqlite_t BEFORE INSERT ON about BEGIN DELETE FROM cells; END');",
    "a view with a name of SQLite": "PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES ('view', 'sqlite_v', "
    "'sqlite_v', 0, 'CREATE VIEW sqlite_v AS SELECT 1');",
    "a trigger with the name of a table": "PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES ('trigger', "
    "'cells', 'about', 0, 'CREATE TRIGGER cells BEFORE INSERT ON about BEGIN DELETE FROM cells; END');",
    "a trigger with the name of what analysis adds": "ANALYZE; PRAGMA writable_schema=ON; INSERT INTO sqlite_master "
    "VALUES ('trigger', 'sqlite_stat1', 'about', 0, 'CREATE TRIGGER sqlite_stat1 BEFORE INSERT ON about BEGIN DELETE "
    "FROM cells; END');",
}


@each("name", SCHEMAS)
def test_other_schemas_raise_an_error(name: str, study: Path, fresh_folder: Callable[[], Path]) -> None:
    """A journal has only its tables, without views and triggers."""
    path = fresh_folder() / "s.journal"
    path.write_bytes(study.read_bytes())
    with closing(sqlite3.connect(path)) as db:
        db.executescript(SCHEMAS[name])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read_only in (True, False):
        with pytest.raises(InputError, match=r"must be a journal of dreval: got .*another database"):
            Store(path, "path", read_only=read_only)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 100


@each("depth", [0, 2, 12])
def test_pages_to_which_many_pointers_lead(depth: int, fresh_folder: Callable[[], Path]) -> None:
    """A few pages that claim to contain one row without end are rejected before the rows are in memory."""
    path = fresh_folder() / "s.journal"
    with Store(path) as store:
        store.put("r", "c", {"u": 0.1})
    lead_to_one_page(path, "cells", depth)
    with Store(path, "path", read_only=True) as store:
        if depth == 0:
            assert store.cells("r") == {"c": ({"u": 0.1}, None)}
            return
        requirement = "repeatedly" if depth > 2 else "several rows of one cell"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for read_table in (store.cells, store.texts):
            with pytest.raises(InputError, match=f"`path` must be as dreval wrote it: got .*{requirement}"):
                read_table("r")
        assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 100


def test_claims_where_many_places_lead_to_a_page(tmp_path: Path) -> None:
    """Claims are released by name: a search of all tasks would not end."""
    path = tmp_path / "s.journal"
    with Store(path) as store, Claims(store, "r") as claims:
        claims.add_cells(["c"])
    lead_to_one_page(path, "tasks", 12)
    with Store(path, "path") as store:
        with pytest.raises(InputError, match="repeatedly"):
            store.running("r")
        with pytest.raises(InputError, match="must be a file that dreval can use"), Claims(store, "r") as claims:
            claims.claim("c")


def lead_to_one_page(path: Path, table: str, depth: int) -> None:
    """Replace the page of a table with one row by levels of pages that all claim to contain it."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    content, size = path.read_bytes(), 4096
    pages = [content[at : at + size] for at in range(0, len(content), size)]
    row = pages[root - 1][int.from_bytes(pages[root - 1][8:10], "big") :]
    pages += [pages[root - 1]]
    for _ in range(depth):
        pages += [inner_page(row, len(pages), size)]
    pages[root - 1] = pages[-1]
    pages[0] = pages[0][:28] + len(pages).to_bytes(4, "big") + pages[0][32:]
    path.write_bytes(b"".join(pages))


def inner_page(row: bytes, child: int, size: int) -> bytes:
    """Return a page of SQLite's trees whose entries all point to the same page, with the same row between them."""
    places = (size - 12) // (len(row) + 6)
    places_of_rows = [size - (i + 1) * (len(row) + 4) for i in range(places)]
    head = bytes([2, 0, 0]) + places.to_bytes(2, "big") + places_of_rows[-1].to_bytes(2, "big") + bytes(1)
    head += child.to_bytes(4, "big") + b"".join(at.to_bytes(2, "big") for at in places_of_rows)
    return head.ljust(places_of_rows[-1], b"\0") + (child.to_bytes(4, "big") + row) * places


def test_a_journal_after_analysis_is_read(study: Path, tmp_path: Path) -> None:
    """SQLite adds tables of its own; a vacuum changes nothing."""
    path = tmp_path / "s.journal"
    path.write_bytes(study.read_bytes())
    with closing(sqlite3.connect(path)) as db:
        db.executescript("ANALYZE; VACUUM;")
    assert len(dreval.Study.open(path).table()) == 2


@each("cell", [b"\xff\xfe", "[" * 100_000, "x" * LONG, "[1, 2, 3, 4]", '["x", "pca", 1e400, 0]'])
def test_names_of_cells_that_are_none(cell: Any, study: Path, fresh_folder: Callable[[], Path]) -> None:
    path = fresh_folder() / "s.journal"
    path.write_bytes(study.read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM tasks")
        db.execute("INSERT INTO tasks VALUES ('study cells', ?, NULL, NULL)", (cell,))
    with pytest.raises(InputError, match="`journal` must") as error:
        dreval.Study.open(path).status()
    assert len(str(error.value)) < 1500
