"""The rounds of the protocol: files of each round, missing files, seeds, and errors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from protocol_runs import SETTINGS, X, both_rounds, pca, play, projection, read_frame

import dreval
from dreval.errors import DrevalError, InputError, MethodFailed, ProtocolError, UnknownName


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the path of a folder that does not exist yet."""
    return tmp_path / "tool"


# rounds


def test_rounds_follow_the_returned_files(folder: Path) -> None:
    """Round 1 until the embedding of the data has returned, then round 2; a second export of either writes nothing."""
    protocol = dreval.Protocol(X, **SETTINGS)

    assert repr(protocol.export(folder)).startswith("Round 1 of 2: 0 of 4 files are returned.")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.csv")}
    assert protocol.export(folder).missing == [f"returned/{t}.csv" for t in ("data", "full", "reseed-1", "reseed-2")]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.csv")} == before
    play(folder, projection, only=lambda task: task == "data")
    status = protocol.export(folder)
    assert (status.round, len(status.table), status.returned) == (2, 11, ["returned/data.csv"])
    assert play(folder, projection) == 10
    stored = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert protocol.export(folder).complete
    assert dreval.Protocol.status(folder).complete
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == stored


def test_a_passed_embedding_saves_the_first_round(folder: Path, tmp_path: Path) -> None:
    """With ``embedding=`` both rounds are written at once, and the numbers are those of two rounds."""
    both_rounds(folder, projection)
    Y = read_frame(folder / "returned/data.csv").iloc[:, 1:].to_numpy()

    protocol = dreval.Protocol(X, **SETTINGS)
    status = protocol.export(tmp_path / "once", embedding=Y)
    play(tmp_path / "once", projection)

    assert (status.round, status.returned) == (2, ["returned/data.csv"])
    left, right = dreval.Protocol.collect(folder), dreval.Protocol.collect(tmp_path / "once")
    assert left.recording.fingerprint == right.recording.fingerprint
    assert protocol.export(tmp_path / "once", embedding=Y).complete
    with pytest.raises(ProtocolError, match="must be the embedding that is passed: got another one"):
        protocol.export(tmp_path / "once", embedding=Y + 1)
    assert np.array_equal(read_frame(tmp_path / "once/returned/data.csv").iloc[:, 1:].to_numpy(), Y)


def test_an_embedding_of_other_width_raises_an_error(folder: Path) -> None:
    """A passed embedding must have the requested number of columns; otherwise no file is written."""
    for invalid in (X, X[:20, :2], "absent.csv", "pca"):
        with pytest.raises(DrevalError, match="embedding"):
            dreval.Protocol(X, **SETTINGS).export(folder, embedding=invalid)
    with pytest.raises(DrevalError, match="must have 2 columns: got 3"):
        dreval.Protocol(X, **SETTINGS).export(folder, embedding=X)
    assert not folder.exists()


def test_a_partial_return_raises_an_error_unless_requested(folder: Path) -> None:
    """Missing files are named; with ``partial=True`` they count as failed, and values are those of the others."""
    protocol = dreval.Protocol(X, **SETTINGS)
    protocol.export(folder)
    play(folder, projection, only=lambda task: task == "data")
    protocol.export(folder)
    play(folder, projection, only=lambda task: task not in ("full", "reseed-2", "transformed-0003", "transformed-0005"))

    with pytest.raises(ProtocolError, match=r"`returned/full.csv` must have been returned"):
        dreval.Protocol.collect(folder)
    source = dreval.Protocol.collect(folder, partial=True)
    result = dreval.tractable_consistency(X, source)
    expected = dreval.tractable_consistency(X, projection, n_transformations=7, n_replicates=2, random_state=4)

    assert tuple(map(str, source.notes)) == ("4 of 11 runs have not been returned; the first is returned/full.csv.",)
    assert (result.parts["tried"], result.parts["failed"]) == (7, 2)
    assert np.flatnonzero(result.table["u"].isna()).tolist() == [2, 4]
    stored = [0, 1, 3, 5, 6]
    assert result.table["u"][stored].tolist() == pytest.approx(expected.table["u"][stored].tolist(), rel=1e-12)
    assert any(
        str(note).startswith("2 of 7 runs failed; the first: `returned/transformed-0003") for note in result.notes
    )
    assert any(str(note).startswith("1 of 2 runs with other seeds failed") for note in result.notes)
    with pytest.raises(ProtocolError, match=r"`returned/full.csv` must have been returned"):
        dreval.trustability(X, source)


def test_files_missing_in_the_second_round_are_reported(folder: Path) -> None:
    """``partial`` leaves out a missing file; without any file of round 2 the hint is to run the tool."""
    protocol = dreval.Protocol(X, **SETTINGS)
    protocol.export(folder)
    play(folder, projection)
    protocol.export(folder)

    with pytest.raises(ProtocolError, match=r"`returned/transformed-0001.csv`.*To accept missing runs: partial=True"):
        dreval.Protocol.collect(folder)
    source = dreval.Protocol.collect(folder, partial=True)
    with pytest.raises(MethodFailed, match="none of 7 runs has been returned") as error:
        dreval.tractable_consistency(X, source)
    assert "bump" not in str(error.value)
    (folder / "returned/data.csv").unlink()
    with pytest.raises(ProtocolError, match=r"`returned/data.csv` must have been returned") as error:
        dreval.Protocol.collect(folder)
    assert "partial" not in str(error.value)


def test_unusual_embeddings_are_noted(folder: Path, tmp_path: Path) -> None:
    """Rounded or copied embeddings, embeddings in one place, and too many columns are used, with a note."""
    both_rounds(folder, projection)
    assert tuple(map(str, dreval.Protocol.collect(folder).notes)) == ()
    returned = folder / "returned"
    (returned / "transformed-0002.csv").write_bytes((returned / "data.csv").read_bytes())
    for name in ("full", "transformed-0005"):
        table = pd.read_csv(returned / f"{name}.csv", index_col=0)
        table.round(1).to_csv(returned / f"{name}.csv")

    assert tuple(map(str, dreval.Protocol.collect(folder).notes)) == (
        "2 of 11 embeddings look rounded to a few digits; the first is returned/full.csv: write all digits.",
        (
            "1 of 7 embeddings of transformed data is equal to that of the data (returned/data.csv); "
            "the first is returned/transformed-0002.csv: check whether a file was copied."
        ),
    )
    status = dreval.Protocol(X, 5, **SETTINGS).export(tmp_path / "wide", embedding=np.ones((36, 5)))
    assert tuple(map(str, status.notes)) == (
        "More dimensions were requested (5) than the data have (3).",
        "The embedding of the data puts all points in one place.",
    )
    assert str(status.notes[0]) in str(status)


def test_the_first_round_alone_answers_trustability(folder: Path) -> None:
    """After round 1 trustability has a value on request, and the error of the other measure says what it needs.

    The error of a collection that is too early names the next step.
    """
    dreval.Protocol(X, **SETTINGS).export(folder)
    with pytest.raises(ProtocolError, match=r"round 1 only. Run the tool on the missing tasks.*command line --partial"):
        dreval.Protocol.collect(folder)
    play(folder, projection)

    with pytest.raises(ProtocolError, match=r"must be of round 2: got round 1 only\. Export the folder again"):
        dreval.Protocol.collect(folder)
    source = dreval.Protocol.collect(folder, partial=True)
    res = dreval.Evaluation(X, {"t": source}, n_neighbors=5).run(["trustability", "tractable_consistency"], ci=None)

    expected = float(dreval.trustability(X, projection, random_state=4))
    assert res.table["value"].tolist() == pytest.approx([expected, math.nan], nan_ok=True, rel=1e-12)
    assert "must have been run for this measure" in res.table["note"][1]


# seeds


def test_a_tool_without_seeds_has_no_baseline(folder: Path, tmp_path: Path) -> None:
    """Without reseeds, or where every seed gave the same embedding, there is no baseline, with that reason."""
    both_rounds(folder, pca)
    both_rounds(tmp_path / "none", pca, n_replicates=0)

    result = dreval.tractable_consistency(X, dreval.Protocol.collect(folder))
    none = dreval.tractable_consistency(X, dreval.Protocol.collect(tmp_path / "none"))

    assert float(result) == float(none)
    assert all(math.isnan(result.parts["reseed_max"]) for result in (result, none))
    assert "No reseed baseline: the tool gives the same embedding for every seed." in [*map(str, result.notes)]
    assert "No reseed baseline: none was exported." in [*map(str, none.notes)]


def test_the_folder_keeps_its_seed(folder: Path) -> None:
    """Without ``random_state`` the seed is random; a later session uses that of the folder."""
    options = {key: value for key, value in SETTINGS.items() if key != "random_state"}
    sampled = dreval.Protocol(X, **options)
    sampled.export(folder)
    play(folder, projection)
    dreval.Protocol(X).export(folder)  # settings are stored, too
    play(folder, projection)

    result = dreval.tractable_consistency(X, dreval.Protocol.collect(folder))
    repeated = dreval.tractable_consistency(X, projection, **options, random_state=sampled.seed)
    assert result.table["u"].tolist() == pytest.approx(repeated.table["u"].tolist(), rel=1e-12)


def test_two_columns_at_full_dimension_are_one_run(folder: Path) -> None:
    """If the data have as many dimensions as the embedding there is no second run."""
    protocol = both_rounds(folder, projection, X[:, :2])

    source = dreval.Protocol.collect(folder)

    assert "full" not in protocol.export(folder).table["task"].tolist()
    expected = dreval.trustability(X[:, :2], projection, random_state=4)
    assert float(dreval.trustability(X[:, :2], source)) == pytest.approx(float(expected), rel=1e-12)


def test_more_columns_than_points(folder: Path) -> None:
    """Where p >= n the full dimension is n - 1, as in Python."""
    wide = np.random.default_rng(3).normal(size=(8, 12))
    both_rounds(folder, pca, wide)

    trust = dreval.trustability(wide, dreval.Protocol.collect(folder))

    assert trust.parts["n_components"] == 7
    assert float(trust) == pytest.approx(0.0, abs=1e-12)


def test_a_constant_embedding_is_valid(folder: Path) -> None:
    """A tool that puts all points in one place has u = 1 and no inconsistency, as in Python."""
    both_rounds(folder, lambda X, d, _: np.zeros((len(X), d)))

    source = dreval.Protocol.collect(folder)

    assert float(dreval.trustability(X, source)) == 1.0
    assert float(dreval.tractable_consistency(X, source)) == 0.0


# errors


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"n_components": 0}, InputError),
        ({"n_components": 37}, InputError),
        ({"transformation": "perturb"}, UnknownName),
        ({"kernel": "gauss"}, UnknownName),
        ({"amplitude": 0}, InputError),
        ({"n_transformations": -1}, InputError),
        ({"n_transformations": "al"}, InputError),
        ({"n_replicates": -1}, InputError),
        ({"random_state": -1}, InputError),
    ],
)
def test_wrong_settings_raise_an_error_before_anything_is_written(
    options: dict[str, Any], error: type[DrevalError]
) -> None:
    """A setting that would fail in the second round raises an error at once, with its name."""
    with pytest.raises(error) as raised:
        dreval.Protocol(X, **options)
    assert raised.value.argument == next(iter(options))


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"n_components": 3}, "n_components"),
        ({"amplitude": 0.7}, "amplitude"),
        ({"random_state": 5}, "random_state"),
        ({"n_transformations": 8}, "n_transformations"),
        ({"kernel": "laplace"}, "kernel"),
        ({"n_transformations": 200}, "n_transformations"),
        ({"n_replicates": 5}, "n_replicates"),
    ],
)
def test_a_folder_continues_with_its_settings_only(change: dict[str, Any], key: str, folder: Path) -> None:
    """Exporting other settings, other data or another format into a folder raises an error and changes nothing."""
    dreval.Protocol(X, **SETTINGS).export(folder)
    before = (folder / "manifest.json").read_bytes()

    with pytest.raises(ProtocolError, match=f"must be of the {key} that is passed"):
        dreval.Protocol(X, **{**SETTINGS, **change}).export(folder)
    assert dreval.Protocol(X).export(folder).round == 1
    with pytest.raises(ProtocolError, match="must be of the data that are passed"):
        dreval.Protocol(X + 1, **SETTINGS).export(folder)
    with pytest.raises(ProtocolError, match="must be of the format that is passed"):
        dreval.Protocol(X, **SETTINGS).export(folder, format="parquet")
    assert (folder / "manifest.json").read_bytes() == before


def test_a_place_with_other_content_is_left_alone(tmp_path: Path) -> None:
    """A folder or file that is not a protocol raises an error; a wrong format does so before the folder is created."""
    (tmp_path / "notes.txt").write_text("mine")
    protocol = dreval.Protocol(X, **SETTINGS)

    for place in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ProtocolError, match="must be empty or hold a protocol"):
            protocol.export(place)
    with pytest.raises(UnknownName, match="`format` must be a known name"):
        protocol.export(tmp_path / "new", format="pickle")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
