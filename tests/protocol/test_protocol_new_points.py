"""New points of a protocol: files next to the tasks, placed by the fit of the data and never by a run of their own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from protocol_runs import X, play, projection, read_frame

import dreval
from dreval.errors import InputError, InputWarning, ProtocolError

NAMES = [f"p{i}" for i in range(len(X))]
DATA = pd.DataFrame(X, NAMES, list("abc"))
NEW = pd.DataFrame(X[::3] + 0.5, [f"q{i}" for i in range(12)], list("abc"))
SETTINGS: dict[str, Any] = {"n_transformations": 0, "n_replicates": 0, "random_state": 4}


def place(folder: Path, rows: slice = slice(None)) -> pd.DataFrame:
    """Place the new points by the tool, in another order of rows."""
    task = pd.read_csv(folder / "tasks.csv").iloc[0]
    frame = read_frame(folder / "input" / f"new{Path(task.input).suffix}")
    Y = projection(frame.iloc[:, 1:].to_numpy(), task.n_components, task.seed)
    placed = pd.DataFrame(Y, frame.iloc[:, 0], ["y0", "y1"]).iloc[::-1][rows]
    placed.to_csv(folder / "returned" / "new.csv")
    return placed


def exported(folder: Path, **settings: Any) -> Path:
    dreval.Protocol(DATA, new_data=NEW[list("cab")], **SETTINGS, **settings).export(folder)
    return folder


def test_new_points_are_no_task_and_have_the_columns_of_the_data(tmp_path: Path) -> None:
    """A tool that runs all tasks does not embed them, and nothing changes in folders without new points."""
    folder, plain = exported(tmp_path / "tool"), tmp_path / "plain"
    dreval.Protocol(DATA, **SETTINGS).export(plain)
    assert (folder / "tasks.csv").read_text() == (plain / "tasks.csv").read_text()
    assert (folder / "input" / "data.csv").read_bytes() == (plain / "input" / "data.csv").read_bytes()
    frame = read_frame(folder / "input" / "new.csv")
    assert list(frame.columns) == ["id", "a", "b", "c"]
    np.testing.assert_array_equal(frame.iloc[:, 1:].to_numpy(), NEW.to_numpy())
    assert "new" not in json.loads((plain / "manifest.json").read_text())
    assert "New points" not in (plain / "README.md").read_text()
    assert "`input/new.csv`" in (folder / "README.md").read_text()
    for file in ("run_uwot.R", "run_rtsne.R", "run.sh"):
        assert "new" not in (plain / file).read_text().lower().replace("renew", "")


def test_values_are_those_of_out_of_sample(tmp_path: Path) -> None:
    """The recorded embedding of the new points is matched by ids, and evaluated with that of the data."""
    folder = exported(tmp_path / "tool")
    play(folder, projection)
    assert dreval.Protocol.status(folder).missing == ["returned/new.csv"]
    placed = place(folder)
    assert dreval.Protocol.status(folder).complete
    source = dreval.Protocol.collect(folder)
    assert source.new_data is not None
    evaluation = dreval.Evaluation(source.data, {"tool": source}, new_data=source.new_data, random_state=0)
    results = evaluation.run("continuity", None, None)
    record = results["tool"].out_of_sample
    expected = dreval.out_of_sample(DATA, results.embeddings["tool"], NEW, placed)
    pd.testing.assert_frame_equal(record.table, expected.table, check_exact=True)
    assert record.points["id"].tolist() == list(NEW.index)
    repeated = dreval.Evaluation(DATA, {"tool": source}, new_data=NEW, random_state=0).run("continuity", None, None)
    pd.testing.assert_frame_equal(repeated["tool"].out_of_sample.table, expected.table, check_exact=True)


def test_other_new_points_are_a_note(tmp_path: Path) -> None:
    """Only the exported new points have an embedding; a share of the rows was not run."""
    folder = exported(tmp_path / "tool")
    play(folder, projection)
    place(folder)
    source = dreval.Protocol.collect(folder)
    with pytest.warns(InputWarning, match="new points that were not exported"):
        results = dreval.Evaluation(source.data, {"tool": source}, new_data=NEW + 1).run("continuity", None, None)
    assert results._out_of_sample == {}
    with pytest.raises(InputError, match="its runs are recorded"):
        dreval.Evaluation(source.data, {"tool": source}, new=0.2).run("continuity", None, None)


def test_missing_and_wrong_files(tmp_path: Path) -> None:
    """A missing file is named, may be left out with ``partial``, and wrong rows are an error."""
    folder = exported(tmp_path / "tool")
    play(folder, projection)
    with pytest.raises(ProtocolError, match=r"`returned/new.csv` must have been returned"):
        dreval.Protocol.collect(folder)
    source = dreval.Protocol.collect(folder, partial=True)
    with pytest.raises(InputError, match="was not returned"):
        dreval.Evaluation(source.data, {"tool": source}, new_data=NEW).run("continuity", None, None)
    place(folder, slice(5))
    with pytest.raises(ProtocolError, match=r"`returned/new.csv` must have one row per point of its input"):
        dreval.Protocol.collect(folder)
    place(folder)
    (folder / "input" / "new.csv").write_text("id,a,b,c\nq0,1,2,3\n")
    with pytest.raises(ProtocolError, match=r"`input/new.csv` must be as it was exported"):
        dreval.Protocol.collect(folder)


def test_another_protocol_is_refused(tmp_path: Path) -> None:
    """A second export with other new points raises an error; without new points it keeps those of the folder."""
    folder = exported(tmp_path / "tool")
    with pytest.raises(ProtocolError, match="must be of the new points that are passed"):
        dreval.Protocol(DATA, new_data=NEW * 2, **SETTINGS).export(folder)
    before = (folder / "manifest.json").read_bytes()
    dreval.Protocol(DATA, **SETTINGS).export(folder)
    assert (folder / "manifest.json").read_bytes() == before


def test_protocols_without_new_points_say_so(tmp_path: Path) -> None:
    """The reason is that of the protocol."""
    dreval.Protocol(DATA, **SETTINGS).export(tmp_path / "tool")
    play(tmp_path / "tool", projection)
    source = dreval.Protocol.collect(tmp_path / "tool")
    with pytest.raises(InputError, match="its protocol was exported without new_data"):
        dreval.Evaluation(source.data, {"tool": source}, new_data=NEW).run("continuity", None, None)


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["new"].update(output="../elsewhere.csv"),
        lambda body: body["new"].update(input="input/../../data.csv"),
        lambda body: body["new"].update(task="data"),
        lambda body: body["new"].update(rows=[0, 1]),
        lambda body: body.update(new_ids=[]),
        lambda body: body.update(new=3),
        lambda body: body["tasks"].append(body["new"]),
    ],
)
def test_a_forged_manifest_is_refused(tmp_path: Path, change: Any) -> None:
    """No path of new points leaves the folder, and they are no task."""
    from dreval.protocol.manifest import _body_hash

    folder = exported(tmp_path / "tool")
    path = folder / "manifest.json"
    body = json.loads(path.read_text())
    body.pop("sha256")
    change(body)
    path.write_text(json.dumps({"sha256": _body_hash(body), **body}))
    with pytest.raises(ProtocolError, match="must be as it was exported"):
        dreval.Protocol.status(folder)


def test_the_shell_driver_names_the_files_of_new_points(tmp_path: Path) -> None:
    """The command gets their paths for the run of the data, and for no other run."""
    folder = exported(tmp_path / "tool", seeds=3)
    tool = tmp_path / "tool.sh"
    tool.write_text(f'echo "$1|$NEW_INPUT|$NEW_OUTPUT" >> {tmp_path / "log"}\ncp "$1" "$2"\n')
    subprocess.run(["sh", folder / "run.sh", "sh", tool], check=True)
    lines = [line.split("|") for line in (tmp_path / "log").read_text().splitlines()]
    paths = [str(folder.resolve() / "input/new.csv"), str(folder.resolve() / "returned/new.csv")]
    assert lines[0][1:] == paths
    assert len(lines) > 1
    assert all(line[1:] == ["", ""] for line in lines[1:])


@pytest.mark.debian
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_driver_of_uwot_places_new_points(tmp_path: Path, form: str) -> None:
    """The new points are placed by umap_transform, and points of the data near themselves; R can read the driver."""
    near = DATA[:6].set_axis([f"n{i}" for i in range(6)])
    protocol = dreval.Protocol(DATA, new_data=near, **SETTINGS)
    protocol.export(tmp_path / "tool", format=form)
    driver = tmp_path / "tool" / "run_uwot.R"
    if form == "parquet":
        subprocess.run(["Rscript", "-e", f"parse('{driver}')"], check=True, capture_output=True)
        return
    subprocess.run(["Rscript", driver], check=True, capture_output=True)
    source = dreval.Protocol.collect(tmp_path / "tool")
    results = dreval.Evaluation(source.data, {"uwot": source}, new_data=near).run("continuity", None, None)
    new, map_of_data = results["uwot"].out_of_sample.coordinates, results.embeddings["uwot"]
    spread = np.ptp(map_of_data, axis=0).max()
    assert np.linalg.norm(new - map_of_data[:6], axis=1).max() < 0.3 * spread
