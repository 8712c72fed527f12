"""Saved comparisons: all tables, figures and sentences as before, to the last bit; a damaged file raises an error."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError
from dreval.records.comparison import Comparison

X = np.random.default_rng(0).normal(size=(40, 4))


def result(power: int) -> dreval.Results:
    """Return three embeddings of other data for each power."""
    embeddings = {"a": X[:, :2], "b": X[:, 2:], "c": "pca"}
    ev = dreval.Evaluation(X**power, embeddings, n_neighbors=5, random_state=0)
    return ev.run(["trustworthiness", "continuity"], None)


@pytest.fixture(scope="module")
def comparisons() -> dict[str, Comparison]:
    """A comparison of points, with margins, and one of three data sets, with all tests."""
    results = [result(power) for power in (1, 2, 3)]
    across = dreval.compare(*results, rope=0.01, tests="all")
    return {"points": results[0].compare(margin={"continuity": 0.1}), "datasets": across}


@pytest.mark.parametrize("kind", ["points", "datasets"])
def test_a_saved_comparison_is_the_same(comparisons: dict[str, Comparison], kind: str, tmp_path: Path) -> None:
    """Tables with their types, recipe, families, sentences and figures; a second save gives the same bytes."""
    comparison = comparisons[kind]
    path = comparison.save(tmp_path / "c.dreval")
    loaded = dreval.load_results(path)
    for name in ("pairs", "overall", "standing", "notes"):
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(comparison, name), check_exact=True)
    assert dict(loaded.recipe) == dict(comparison.recipe)
    assert str(loaded.summary(full=True)) == str(comparison.summary(full=True))
    assert loaded.paragraph() == comparison.paragraph()
    assert loaded.families.keys() == comparison.families.keys()
    for name, family in comparison.families.items():
        pd.testing.assert_frame_equal(loaded.families[name].cells, family.cells, check_exact=True)
        pd.testing.assert_frame_equal(loaded.families[name].rows, family.rows, check_exact=True)
        assert (loaded.families[name].higher, loaded.families[name].notes) == (family.higher, family.notes)
    assert loaded.save(tmp_path / "again.dreval").read_bytes() == path.read_bytes()
    loaded.plot("forest")
    loaded.plot("difference_map" if kind == "points" else "critical_difference")
    assert loaded.report(tmp_path / "c.md").read_text("utf-8") == comparison.report(tmp_path / "c.md").read_text(
        "utf-8"
    )


def test_a_saved_comparison_is_no_result(comparisons: dict[str, Comparison], tmp_path: Path) -> None:
    """It cannot be compared, and has no other suffix than a result."""
    path = comparisons["points"].save(tmp_path / "c.dreval")
    with pytest.raises(InputError, match=r"got a comparison, .*Pass the results that it compares"):
        dreval.compare(path)
    with pytest.raises(InputError, match=r"Write c\.dreval"):
        comparisons["points"].save(tmp_path / "c.csv")


def changed(content: bytes, member: str, old: bytes, new: bytes) -> bytes:
    """Return an archive with other bytes in one member, and the checksums of the new content."""
    from dreval.records.archive import MANIFEST, _hash, hashlib

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    assert old in members[member]
    members[member] = members[member].replace(old, new)
    manifest = json.loads(members[MANIFEST])
    manifest["members"][member] = hashlib.sha256(members[member]).hexdigest()
    manifest.pop("sha256")
    members[MANIFEST] = json.dumps({"sha256": _hash(manifest), **manifest}).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("kind", "member", "old", "new"),
    [
        ("points", "pairs.json", b'"float64"', b'"category"'),
        ("points", "results.dreval", b"PK", b"QK"),
        ("datasets", "families.json", b'"higher": true', b'"higher": 1'),
        ("datasets", "families.json", b'"datasets": [', b'"datasets": ["more", '),
        ("datasets", "standing.json", b"[[", b"[[1, "),
    ],
)
def test_a_changed_file_raises_an_error(
    comparisons: dict[str, Comparison], kind: str, member: str, old: bytes, new: bytes, tmp_path: Path
) -> None:
    """Checksums that fit do not make content valid: its forms are checked."""
    path = comparisons[kind].save(tmp_path / "c.dreval")
    path.write_bytes(changed(path.read_bytes(), member, old, new))
    with pytest.raises(InputError, match="must be a file written by `save`"):
        dreval.load_results(path)
