"""Saved and loaded results: equal to the last bit, byte for byte the same file; damaged files raise errors."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import re
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import pairs

import dreval
from dreval.errors import InputError

X = np.random.default_rng(0).normal(size=(30, 4))
Y = X[:, :2] + 0.1
MULTI = pd.MultiIndex.from_product([list("abcde"), range(6)])


def assert_same(left: dreval.Results, right: dreval.Results) -> None:
    """Everything but the data is equal, to the last bit and type."""
    for a, b in ((left.table, right.table), (left.groups, right.groups), (left.curves, right.curves)):
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    for saved, loaded in ((left._left_out, right._left_out), (left._crossed, right._crossed)):
        assert list(saved) == list(loaded)
        for name in saved:
            pd.testing.assert_frame_equal(saved[name], loaded[name], check_exact=True)
    assert list(left.points) == list(right.points) == list(left.embeddings) == list(right.embeddings)
    for name in left.points:
        pd.testing.assert_frame_equal(left.points[name], right.points[name], check_exact=True)
        assert left.embeddings[name].tobytes() == right.embeddings[name].tobytes()
        pd.testing.assert_frame_equal(left.augment(name), right.augment(name), check_exact=True)
    for a, b in ((left.labels, right.labels), (left.ids, right.ids), (left._data_neighbors, right._data_neighbors)):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            assert a.dtype == b.dtype
            assert a.tolist() == b.tolist()
    assert left.recipe == right.recipe
    pd.testing.assert_frame_equal(left.glance(), right.glance())
    summaries = left.summary(), right.summary()
    for form in ("as_text", "as_html", "as_latex", "as_markdown"):
        assert len({getattr(summary, form)() for summary in summaries}) == 1


def round_trip(results: dreval.Results, path: Path) -> dreval.Results:
    """Save, load, and check that the loaded result saves to the same bytes."""
    assert results.save(path) == path
    loaded = dreval.load_results(path)
    second_path = path.with_suffix(".again")
    loaded.save(second_path)
    assert second_path.read_bytes() == path.read_bytes()
    return loaded


SETTINGS: dict[str, Any] = {"measures": ["trustworthiness", "stress"], "tests": None}
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "all measures": ({"labels": np.arange(30) % 3, "covariates": {"age": X[:, 0]}}, {"measures": "all"}),
    "covariates": ({"labels": np.arange(30) % 3, "covariates": {"age": X[:, 0]}}, {"measures": "knn_accuracy"}),
    "text labels": ({"labels": list("abc") * 10}, SETTINGS),
    "labels that look like numbers": ({"labels": ["007", "1e5", "NA"] * 10}, SETTINGS),
    "boolean labels": ({"labels": X[:, 0] > 0}, SETTINGS),
    "small integer labels": ({"labels": (np.arange(30) % 3).astype(np.uint8)}, SETTINGS),
    "bytes as labels": ({"labels": np.array([b"a", b"b"] * 15)}, SETTINGS),
    "text ids": ({"ids": [f"p{i}" for i in range(30)]}, SETTINGS),
    "integer ids": ({"ids": list(range(100, 130))}, SETTINGS),
    "anchors, one measure": ({"anchors": 7}, {"measures": "continuity"}),
    "anchors": ({"anchors": 7}, {}),
    "coordinates only": ({}, {"measures": "procrustes_disparity"}),
    "tests only": ({"labels": list("ab") * 15}, {"measures": None}),
    "no intervals": ({}, {"ci": None}),
    "another level": ({}, {**SETTINGS, "conf_level": 0.8}),
    "no seed": ({"random_state": None}, SETTINGS),
    "large seed": ({"random_state": 10**30}, SETTINGS),
}
SLOW = {"all measures", "anchors", "plain"}


@pytest.mark.parametrize("variant", [pytest.param(v, marks=[pytest.mark.slow] * (v in SLOW)) for v in VARIANTS])
def test_round_trips_are_exact(variant: str, tmp_path: Path) -> None:
    """Tables, points, groups, embeddings, labels, ids and recipe are unchanged, with equal summaries."""
    setting, options = VARIANTS[variant]
    setting = {"n_neighbors": [3, 5], "random_state": 0, **setting}
    ev = dreval.Evaluation(X, {"e": Y, "grid": np.round(Y)}, **setting).with_embedding("bad", Y[:4])
    results = ev.run(**{"n_resamples": 19, **options})
    loaded = round_trip(results, tmp_path / "r.dreval")

    if variant == "bytes as labels":
        assert len(loaded.labels) == 30  # type: ignore[arg-type]
        return
    assert_same(results, loaded)
    assert loaded.data is None


@each("index", [MULTI, pd.date_range("2020", periods=30), pd.Index(np.arange(30) / 4)])
def test_row_names_of_every_kind(index: pd.Index, tmp_path: Path) -> None:
    """Tuples, dates and fractions as row names are read back as printed."""
    results = dreval.Evaluation(pd.DataFrame(X, index=index), {"e": Y}, n_neighbors=3, random_state=0).run()

    assert_same(results, round_trip(results, tmp_path / "r.dreval"))


@each("names", [["007"], ["1e5", "NA", "nan", "None", "null"], ["True", "False"], ["inf"],
                [" padded ", 'quo"ted', "com,ma"],
                ["größe", "嵌入", "🌍", "a=b/c", "a\\b", "-", "''", "#", "<b>&amp;"]], items=3)  # fmt: skip
def test_names_of_every_kind(names: list[str], tmp_path: Path) -> None:
    """A name that looks like a number, a truth value or a missing value is still a name."""
    ev = dreval.Evaluation(X, dict.fromkeys(names, Y), n_neighbors=3, random_state=0)
    results = ev.with_embedding("bad", Y[:3]).run(["continuity", "mrre_false"], n_resamples=19)
    loaded = round_trip(results, tmp_path / "r.dreval")

    assert_same(results, loaded)
    assert loaded.names == [*names, "bad"]
    assert set(loaded.groups["embedding"]) == set(names) == set(loaded._left_out)


def test_data_sets_of_every_name(tmp_path: Path) -> None:
    """A data set named by a number keeps its name."""
    np.save(tmp_path / "2020.npy", X)
    results = dreval.Evaluation(tmp_path / "2020.npy", {"e": Y}, n_neighbors=3, random_state=0).run("continuity")

    assert_same(results, round_trip(results, tmp_path / "r.dreval"))
    assert set(dreval.load_results(tmp_path / "r.dreval").table["dataset"]) == {"2020"}


@pytest.mark.slow
@settings(max_examples=3)
@given(pairs(min_n=4, max_n=15), st.booleans())
def test_round_trips_of_any_cloud(tmp_path_factory: pytest.TempPathFactory, pair: Any, anchored: bool) -> None:
    """For all data and scales, no bit is lost."""
    cloud, image = pair
    ev = dreval.Evaluation(cloud, {"e": image}, n_neighbors=2, anchors=2 if anchored else None, random_state=0)
    results = ev.run("all", options={"points": {"n_partitions": 2}})

    assert_same(results, round_trip(results, tmp_path_factory.mktemp("r") / "r.dreval"))


def test_equal_results_are_equal_files(tmp_path: Path) -> None:
    """The same result saved twice, at any time, is the same file byte for byte."""
    results = dreval.Evaluation(X, {"e": Y}, n_neighbors=3, random_state=0).run()
    results.save(tmp_path / "a")
    results.save(tmp_path / "b")

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_any_program_can_read_the_file(tmp_path: Path) -> None:
    """The file is a zip of strict JSON, CSV and npy without pickles, and it does not contain the data."""
    results = dreval.Evaluation(X, {"e": Y}, n_neighbors=3, random_state=0).run()
    results.save(tmp_path / "r.dreval")
    with zipfile.ZipFile(tmp_path / "r.dreval") as archive:
        names = [
            "manifest.json",
            "table.csv",
            "groups.csv",
            "curves.csv",
            "nulls.csv",
            "notes.json",
            "shepard.json",
            "points_0.csv",
            "left_out_0.csv",
            "crossed_0.csv",
            "embedding_0.npy",
            "neighbors.npy",
        ]
        assert archive.namelist() == names
        manifest = json.loads(archive.read("manifest.json"), parse_constant=lambda constant: pytest.fail(constant))
        table = pd.read_csv(io.BytesIO(archive.read("table.csv")))
        stored = np.load(io.BytesIO(archive.read("embedding_0.npy")), allow_pickle=False)

    assert manifest["recipe"]["data_sha256"] == results.recipe["data_sha256"]
    assert table["value"].tolist() == pytest.approx(results.table["value"].tolist(), rel=1e-12)
    assert (stored == Y).all()


def test_invalid_results_raise_an_error(tmp_path: Path) -> None:
    """A missing file, a folder, text, an empty file, another zip, and another format raise four-part errors."""
    changes = {
        "text": b"value\n1\n",
        "empty": b"",
        "pickle": b"\x80\x04N.",
        "list": _zip({"manifest.json": "[1, 2]"}),
        "number": _zip({"manifest.json": "3"}),
        "object": _zip({"manifest.json": "{}"}),
        "no manifest": _zip({"a.txt": "a"}),
        "nothing else": _zip({"manifest.json": '{"format": 2}'}),
    }
    for name, raw in changes.items():
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(
            InputError, match=r"`path` must be a file written by `save` of a result: got .*Save the result"
        ):
            dreval.load_results(tmp_path / name)
    (tmp_path / "newer").write_bytes(_zip({"manifest.json": '{"format": 99}'}))
    with pytest.raises(InputError, match=r"`path` must be of format 2: got format 99\. Upgrade dreval"):
        dreval.load_results(tmp_path / "newer")
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(InputError, match="`path` must be an existing file"):
            dreval.load_results(path)


def _zip(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a saved result."""
    path = tmp_path_factory.mktemp("saved") / "r.dreval"
    dreval.Evaluation(X, {"e": Y}, labels=list("ab") * 15, n_neighbors=3, random_state=0).run().save(path)
    return path.read_bytes()


def refusal(path: Path) -> str | None:
    """Return the error for the file; None if it can be read."""
    try:
        dreval.load_results(path)
    except InputError as error:
        return str(error)
    return None


@given(data=st.data())
def test_damaged_files_raise_an_error(
    saved: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A file that is truncated or changed anywhere raises an error, or holds every value that was saved."""
    raw = bytearray(saved)
    if data.draw(st.booleans(), label="cut"):
        raw = raw[: data.draw(st.integers(0, len(raw) - 1), label="length")]
    else:
        for place in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=4), label="places"):
            raw[place] ^= data.draw(st.integers(1, 255), label="bits")
    path = tmp_path_factory.mktemp("damaged") / "r.dreval"
    path.write_bytes(raw)
    message = refusal(path)
    if message is None:
        complete = path.with_name("whole")
        complete.write_bytes(saved)
        left, right = dreval.load_results(path), dreval.load_results(complete)
        pd.testing.assert_frame_equal(left.table, right.table, check_exact=True)
        assert left.recipe == right.recipe
    else:
        assert re.search("must be a file written by|must be of format|must unpack to at most", message)


@each(
    "content, entry",
    itertools.product(
        [None, b"", b"a,b\n1\n", b"\xff\xfe", b'{"format": 2}', b"\x93NUMPY\x01"],
        ["table.csv", "groups.csv", "points_0.csv", "embedding_0.npy", "manifest.json"],
    ),
)
def test_replaced_entries_raise_an_error(saved: bytes, tmp_path: Path, entry: str, content: bytes | None) -> None:
    """A zip whose entries were removed or replaced raises a clear error."""
    path = tmp_path / "r.dreval"
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            if name != entry:
                new.writestr(name, old.read(name))
            elif content is not None:
                new.writestr(name, content)
    assert "must be a file written by" in str(refusal(path))


def resigned(saved: bytes, path: Path, entry: str, content: bytes) -> Path:
    """Return the file with another content of one entry, and a manifest that agrees with it."""
    with zipfile.ZipFile(io.BytesIO(saved)) as old:
        members = {name: old.read(name) for name in old.namelist()} | {entry: content}
    body = json.loads(members.pop("manifest.json"))
    body.pop("sha256")
    body["members"] = {name: hashlib.sha256(held).hexdigest() for name, held in members.items()}
    checksum = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("manifest.json", json.dumps({"sha256": checksum, **body}))
        for name, held in members.items():
            new.writestr(name, held)
    return path


def test_a_changed_value_raises_the_error_of_its_checksum(saved: bytes, tmp_path: Path) -> None:
    """One digit of a table, in a valid zip: the member is named; an added or lost member is named too."""
    with zipfile.ZipFile(io.BytesIO(saved)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    altered_table = members["table.csv"].replace(b"0.9", b"0.8", 1)
    assert altered_table != members["table.csv"]
    for altered, word in (
        (members | {"table.csv": altered_table}, "table.csv was changed after it was written"),
        (members | {"more.csv": b"x"}, "more.csv: missing, or not of the result"),
        (members | {"manifest.json": members["manifest.json"].replace(b'"e"', b'"f"')}, "manifest.json was changed"),
    ):
        path = tmp_path / "r.dreval"
        with zipfile.ZipFile(path, "w") as new:
            for name, held in altered.items():
                new.writestr(name, held)
        assert word in str(refusal(path))


@each(
    "content, entry",
    itertools.product(
        [b"", b"a,b\n1\n", b"\xff\xfe", b'{"format": 2}', b"[3]", b"\x93NUMPY\x01"],
        ["table.csv", "groups.csv", "notes.json", "shepard.json", "embedding_0.npy", "neighbors.npy"],
    ),
)
def test_forged_entries_raise_an_error(saved: bytes, tmp_path: Path, entry: str, content: bytes) -> None:
    """Content that is not a table, array or list of notes is rejected even with valid checksums."""
    assert "must be a file written by" in str(refusal(resigned(saved, tmp_path / "r.dreval", entry, content)))


@each(
    "forged", [np.zeros((30, 3)), np.full((30, 3), 30), np.full((30, 3), -1), np.zeros((29, 3), int), np.zeros(30, int)]
)
def test_neighbors_that_are_not_points_raise_an_error(saved: bytes, tmp_path: Path, forged: npt.NDArray[Any]) -> None:
    """Neighbors are positions among the points, a row of them for each point."""
    buffer = io.BytesIO()
    np.save(buffer, forged)
    message = str(refusal(resigned(saved, tmp_path / "r.dreval", "neighbors.npy", buffer.getvalue())))

    assert "must be a file written by" in message


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the path to every value in JSON."""
    yield place
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(part, (*place, key))


@pytest.mark.slow
@given(st.data(), st.sampled_from([None, "x", -1, 0.5, True, [], {}, [1], {"a": 1}]))
def test_a_forged_manifest_raises_an_error_or_is_visible(
    saved: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, replacement: Any
) -> None:
    """For any value in one place of the manifest or the notes, with valid checksums, only clear errors are raised."""
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        entry = data.draw(st.sampled_from(["manifest.json", "notes.json"]))
        content = json.loads(archive.read(entry))
    unchanged = {"sha256", "members", "format"}
    place = data.draw(st.sampled_from([p for p in _places(content) if p and p[0] not in unchanged]))
    part = content
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = replacement
    path = resigned(saved, tmp_path_factory.mktemp("f") / "r.dreval", entry, json.dumps(content).encode())
    try:
        loaded = dreval.load_results(path)
        for show in (repr, dreval.Results.summary, dreval.Results.glance, dreval.Results.compare):
            show(loaded)
        loaded.augment(next(iter(loaded.embeddings)))
    except dreval.errors.DrevalError:
        return


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_a_large_one_raises_an_error_before_it_is_read(
    saved: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip bomb takes no memory; the error states the limit, and the variable that raises it."""
    path = tmp_path / "bomb.dreval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("manifest.json", "w") as member:
        for _ in range(300):
            member.write(bytes(2**20))
    tracemalloc.start()
    message = refusal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "must unpack to at most 2.68e+08 bytes" in str(message)
    assert "DREVAL_READ_LIMIT=6.3e+08" in str(message)
    assert peak < 2**20
    monkeypatch.setenv("DREVAL_READ_LIMIT", "6.3e+08")
    assert "DREVAL_READ_LIMIT=2.5e+09" in str(refusal(path))  # the memory of its text when it is read
    monkeypatch.setenv("DREVAL_READ_LIMIT", "2.6e+09")
    assert "must be a file written by" in str(refusal(path))


def test_places_that_cannot_be_written_raise_an_error(tmp_path: Path) -> None:
    """A missing folder and a folder at the path of the file raise errors in four parts."""
    results = dreval.Evaluation(X, {"e": Y}, n_neighbors=3, random_state=0).run("continuity")
    for path in (tmp_path / "nowhere" / "r.dreval", tmp_path):
        with pytest.raises(InputError, match="`path` must be a place where a file can be written: got"):
            results.save(path)


def test_a_loaded_result_plots_and_reports(saved: bytes, tmp_path: Path) -> None:
    """The methods of a loaded result that need no data work as those of a fresh one."""
    path = tmp_path / "r.dreval"
    path.write_bytes(saved)
    loaded = dreval.load_results(path)
    assert loaded.report(tmp_path / "r.md").is_file()
    assert loaded.report(tmp_path / "r.html").stat().st_size > 1000
    assert loaded.plot("embedding") is not None
