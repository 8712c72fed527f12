"""The protocol: the numbers are those of the method run in Python, and returned files are not overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from protocol_runs import SETTINGS, X, both_rounds, isomap, pca, play, projection, read_frame

import dreval
from dreval.errors import ProtocolError, UndefinedMeasure
from dreval.inputs.data import as_data
from dreval.inputs.source import RecordedSource, as_source

IN_PYTHON: dict[str, tuple[Any, Any]] = {
    "pca": (pca, "pca"),
    "isomap": (isomap, lambda X, n_components: isomap(X, n_components, 0)),
    "projection": (projection, projection),
}
IDS = [f"cell {i}" for i in range(len(X))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the path of a folder that does not exist yet."""
    return tmp_path / "tool"


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", list(IN_PYTHON))
def test_both_measures_are_those_of_the_method_in_python(name: str, form: str, folder: Path) -> None:
    """Files give the same draws and the same numbers as the method in Python, for the same seed."""
    tool, method = IN_PYTHON[name]
    both_rounds(folder, tool, format=form)

    source = dreval.Protocol.collect(folder)
    result = dreval.tractable_consistency(X, source)
    trust = dreval.trustability(X, source)

    options = {"n_transformations": 7, "n_replicates": 2, "random_state": 4}
    expected = dreval.tractable_consistency(X, method, **options)
    expected_trust = dreval.trustability(X, method, random_state=4)
    perturbed = (
        {"rel": 1e-9, "abs": 1e-12} if name == "pca" else {"rel": 1e-12}
    )  # the measure does not run PCA, it updates it
    assert float(result) == pytest.approx(float(expected), **perturbed)
    assert result.chance == expected.chance
    pd.testing.assert_frame_equal(result.table[["point", "column"]], expected.table[["point", "column"]])
    assert result.table["u"].tolist() == pytest.approx(expected.table["u"].tolist(), **perturbed)
    common = expected.parts.keys() & result.parts.keys() - {"s_per_n"}
    assert len(common) == 6
    for part in common:
        assert result.parts[part] == pytest.approx(expected.parts[part], nan_ok=True, **perturbed)
    assert float(trust) == pytest.approx(float(expected_trust), **perturbed)
    assert (trust.chance, trust.notes) == (expected_trust.chance, expected_trust.notes)


def test_an_evaluation_has_the_same_method_measures(folder: Path) -> None:
    """In a table the collected source has both method measures for any seed, and all other measures."""
    both_rounds(folder, projection)
    source = dreval.Protocol.collect(folder)
    names = ["trustability", "tractable_consistency", "trustworthiness", "reconstruction_error"]

    res = dreval.Evaluation(X, {"mine": source}, n_neighbors=5, random_state=99).run(names, ci=None)

    table = res.table.set_index("measure")
    base = read_frame(folder / "returned" / "data.csv").iloc[:, 1:].to_numpy()
    assert table.loc["trustability", "value"] == float(dreval.trustability(X, source))
    assert table.loc["tractable_consistency", "value"] == float(dreval.tractable_consistency(X, source))
    assert table.loc["reconstruction_error", "value"] == float(dreval.reconstruction_error(X, source, random_state=99))
    assert "n_transformations=7" in table.loc["tractable_consistency", "parameters"]
    assert table.loc["trustworthiness", "value"] == dreval.trustworthiness(X, base, n_neighbors=5)
    assert np.array_equal(res.embeddings["mine"], base)
    assert table["value"].notna().all()


def test_the_seed_of_the_folds_is_the_one_that_is_passed(folder: Path) -> None:
    """A recorded embedding is held out on the folds of the requested seed, or on those of its own seed."""
    both_rounds(folder, projection)
    source = dreval.Protocol.collect(folder)
    base = source.coordinates(source.data)

    for seed in (5, 6):
        result = dreval.reconstruction_error(X, source, random_state=seed)
        assert float(result) == float(dreval.reconstruction_error(X, base, random_state=seed))
        assert result.recipe["random_state"] == seed
    expected = float(dreval.reconstruction_error(X, base, random_state=SETTINGS["random_state"]))
    assert float(dreval.reconstruction_error(X, source)) == expected


def test_a_recorded_and_a_live_method_are_compared_on_the_same_transformations(folder: Path) -> None:
    """With the seed of the export a table has one number for the tool and for the same method run in Python."""
    both_rounds(folder, projection)
    sources = {"recorded": dreval.Protocol.collect(folder), "live": projection}
    options = {"tractable_consistency": {"n_transformations": 7, "n_replicates": 2}}
    result = dreval.Evaluation(X, sources, n_neighbors=5, random_state=4).run(
        ["trustability", "tractable_consistency"], ci=None, options=options
    )
    recorded, live = (result.table.query("embedding == @name")["value"].tolist() for name in sources)
    assert recorded == pytest.approx(live, rel=1e-9)


def test_all_transformations(folder: Path) -> None:
    """``n_transformations="all"`` exports all n p, and the source accepts any number of them."""
    small = X[:7, :2]
    both_rounds(folder, projection, small, n_transformations="all", n_replicates=0)
    source = dreval.Protocol.collect(folder)

    result = dreval.tractable_consistency(small, source)
    small_result = dreval.tractable_consistency(small, source, n_transformations=5)

    expected = dreval.tractable_consistency(small, projection, n_transformations="all", random_state=4)
    assert len(result.table) == 14
    assert float(result) == pytest.approx(float(expected), rel=1e-12)
    assert small_result.table["u"].tolist() == result.table["u"].tolist()[:5]


def test_settings_of_the_recording_hold(folder: Path) -> None:
    """A measure takes the settings of the recording; fewer runs can be requested, other settings raise an error."""
    both_rounds(folder, projection, amplitude=0.25)
    source = dreval.Protocol.collect(folder)

    result = dreval.tractable_consistency(X, source, random_state=4)
    fewer = dreval.tractable_consistency(X, source, n_transformations=3, n_replicates=1)

    recorded = {"n_components": 2, "transformation": "perturbation", "amplitude": 0.25, "kernel": "gaussian"}
    assert result.recipe["parameters"] == {**recorded, "n_transformations": 7, "n_replicates": 2}
    assert result.recipe["random_state"] == 4
    assert fewer.table["u"].tolist() == result.table["u"].tolist()[:3]
    with pytest.raises(UndefinedMeasure, match="`random_state` must be that of the recorded runs, 4: got 77"):
        dreval.tractable_consistency(X, source, random_state=77)
    for option in ({"amplitude": 0.5}, {"n_transformations": 8}, {"n_components": 3}, {"n_transformations": "all"}):
        with pytest.raises(UndefinedMeasure, match="must have been run with"):
            dreval.tractable_consistency(X, source, **option)
    row = dreval.Evaluation(X, {"mine": source}, n_neighbors=5).run(
        "tractable_consistency", ci=None, options={"tractable_consistency": {"amplitude": 0.3}}
    )
    assert "must have been run with amplitude=0.3: got 0.25" in row.table["note"][0]


def test_other_data_were_not_run(folder: Path) -> None:
    """Data that were not exported raise an error in both measures, even if they differ by one bit only."""
    both_rounds(folder, projection)
    source = dreval.Protocol.collect(folder)
    shifted = X.copy()
    shifted[3, 1] = np.nextafter(shifted[3, 1], 9)

    for data in (shifted, X[:, ::-1], X[:30], X * 2):
        for measure in (dreval.trustability, dreval.tractable_consistency):
            with pytest.raises(UndefinedMeasure, match="must have been run on these data"):
                measure(data, source)
    with pytest.raises(UndefinedMeasure, match=r"`embeddings\['t'\]` must have been run on these data"):
        dreval.Evaluation(shifted, {"t": source}, n_neighbors=5).run("trustworthiness", ci=None)


@pytest.mark.parametrize("transformation", ["perturbation", "definition"])
def test_runs_are_matched_up_to_rounding(transformation: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another machine rounds the transformed data differently, each is still matched with its run."""
    both_rounds(folder, projection, transformation=transformation)
    source = dreval.Protocol.collect(folder)
    expected = dreval.tractable_consistency(X, source).table["u"].tolist()

    rng = np.random.default_rng(0)
    runs = source.recording.runs
    inputs = [read_frame(folder / f"input/transformed-{t:04d}.csv").iloc[:, 1:].to_numpy() for t in range(1, 8)]
    rounded = [points * (1 + 1e-13 * rng.standard_normal(points.shape)) for points in inputs]
    back = [source.embed(points, 2, 4) for points in rounded]

    assert all(np.array_equal(Y, run.values) for Y, run in zip(back, runs[-7:], strict=True))
    assert dreval.tractable_consistency(source.data, source).table["u"].tolist() == expected
    with pytest.raises(UndefinedMeasure):
        source.embed(inputs[0] * (1 + 1e-4 * rng.standard_normal(X.shape)), 2, 4)


def test_csv_keeps_every_bit(folder: Path) -> None:
    """Numbers that need 17 digits, subnormal and huge ones, and the sign of zero are unchanged by the files."""
    data = np.random.default_rng(0).normal(size=(12, 2)) * 10.0 ** np.arange(-6, 6)[:, None]
    data[0] = [5e-324, -0.0]
    data[1] = [1.7976931348623157e50, 0.1 + 0.2]
    for form in ("csv", "parquet"):
        dreval.Protocol(data, **SETTINGS).export(folder / form, format=form)

        back = read_frame(folder / form / f"input/data.{form}").iloc[:, 1:].to_numpy()
        assert back.tobytes() == data.tobytes()


def test_rows_in_another_order_are_matched_by_ids(folder: Path, tmp_path: Path) -> None:
    """A tool that sorts its rows differently has the same numbers; without ids rows are matched by position."""
    frame = pd.DataFrame(X, columns=list("abc")).assign(cell=IDS)
    both_rounds(folder, projection, frame, ids="cell")
    both_rounds(tmp_path / "other", projection, frame, ids="cell")
    for path in (tmp_path / "other" / "returned").iterdir():
        table = pd.read_csv(path, dtype=str)
        table.sample(frac=1, random_state=1).to_csv(path, index=False) if path.stem != "data" else None

    collected = dreval.Protocol.collect(folder)
    second = dreval.Protocol.collect(tmp_path / "other")

    assert collected.data.ids.tolist() == IDS
    assert collected.recording.fingerprint == second.recording.fingerprint
    source = dreval.Evaluation(frame, {"t": collected}, ids="cell", n_neighbors=5).run("trustability", ci=None)
    assert source.table["value"].notna().all()


@pytest.mark.parametrize("ids", [["007", *map(str, range(1, 36))], ["NA", *IDS[1:]], [f" {i}" for i in IDS]])
def test_ids_that_a_file_would_change_are_replaced_by_numbers(ids: list[str], folder: Path) -> None:
    """Ids that would be read back as others are not exported: the rows are numbered, and results have the ids."""
    both_rounds(folder, projection, pd.DataFrame(X), ids=ids)

    assert read_frame(folder / "input/data.csv").iloc[:, 0].tolist() == [str(i) for i in range(1, 37)]
    assert float(dreval.trustability(X, dreval.Protocol.collect(folder))) > 0


@pytest.mark.parametrize("names", [["id", "id_0", "x"], ["1.5", "2.5", "3.5"], ["a", "a b", 'c"d,e']])
def test_column_names_with_conflicts(names: list[str], folder: Path) -> None:
    """Features named like the column of ids, like numbers, or with separators pass unchanged."""
    frame = pd.DataFrame(X, columns=names)
    both_rounds(folder, projection, frame)

    source = dreval.Protocol.collect(folder)

    assert np.array_equal(source.data.X, X)
    assert float(dreval.tractable_consistency(frame, source)) > 0


def test_files_without_ids_are_matched_by_position(folder: Path, tmp_path: Path) -> None:
    """A tool that returns coordinates only gives the same source."""
    for place, ids in ((folder, True), (tmp_path / "bare", False)):
        protocol = dreval.Protocol(X, **SETTINGS)
        for _ in range(2):
            protocol.export(place)
            play(place, projection, ids=ids)

    left, right = dreval.Protocol.collect(folder), dreval.Protocol.collect(tmp_path / "bare")
    assert left.recording.fingerprint == right.recording.fingerprint


R_FILES = {
    "write.csv(Y)": (lambda frame: frame.drop(columns="id"), range(1, 37)),
    "write.csv(data.frame(id, Y))": (lambda frame: frame, range(1, 37)),
    "rownames(Y) are the ids, sorted": (lambda frame: frame.drop(columns="id").iloc[::-1], range(136, 100, -1)),
    "data.frame(id, Y), sorted": (lambda frame: frame.iloc[::-1], range(36, 0, -1)),
    "data.frame(id, Y) with other row names": (lambda frame: frame.iloc[::-1], [f"p{i}" for i in range(36)]),
}


@pytest.mark.parametrize("case", R_FILES)
def test_row_names_as_r_writes_them_are_ids_or_left_out(case: str, folder: Path) -> None:
    """The unnamed first column of write.csv: ids where no column is, without a use where it counts the rows."""
    frame = pd.DataFrame(X, columns=list("abc")).assign(id=range(101, 137))
    dreval.Protocol(frame, ids="id", **SETTINGS).export(folder)
    play(folder, projection)
    expected = dreval.Protocol.collect(folder, partial=True).recording.runs[0].values
    path = folder / "returned/data.csv"
    change, names = R_FILES[case]
    table = change(pd.read_csv(path))
    table.index = list(names)
    table.to_csv(path)

    assert path.read_text().startswith(('"",', ","))
    assert np.array_equal(dreval.Protocol.collect(folder, partial=True).recording.runs[0].values, expected)


@pytest.mark.parametrize(
    ("ids", "names", "message"),
    [
        (range(101, 137), range(1, 37)[::-1], "must have the same ids as the data"),
        (range(101, 137), [f"p{i}" for i in range(36)], "must have the same ids as the data"),
        (range(101, 137), ["a"] * 36, "must have 2 columns of coordinates: got 3. Leave row names out"),
        (range(36, 0, -1), range(1, 37), "must have its ids in a column with a name: got 1, 2, 3, ... in an unnamed"),
        (range(101, 137), X[:, 0], "must have 2 columns of coordinates: got 3. Leave row names out"),
    ],
)
def test_row_names_that_may_be_wrong_are_refused(ids: Any, names: Any, message: str, folder: Path) -> None:
    """Numbers or names that are not those of the data, and numbers that may be ids or positions."""
    frame = pd.DataFrame(X, columns=list("abc")).assign(id=list(ids))
    dreval.Protocol(frame, ids="id", **SETTINGS).export(folder)
    play(folder, projection, ids=False)
    table = pd.read_csv(folder / "returned/data.csv")
    table.index = list(names)
    table.to_csv(folder / "returned/data.csv")

    with pytest.raises(ProtocolError, match=message):
        dreval.Protocol.collect(folder, partial=True)


# the source


def test_the_journal_distinguishes_recordings(folder: Path, tmp_path: Path) -> None:
    """Finished runs of one recording in a journal are not used for another recording of the same name."""
    both_rounds(folder, projection)
    both_rounds(tmp_path / "x" / "tool", isomap)
    source, second = dreval.Protocol.collect(folder), dreval.Protocol.collect(tmp_path / "x" / "tool")

    journal = tmp_path / "runs.journal"
    values = [float(dreval.tractable_consistency(X, s, journal=journal)) for s in (source, second, source)]

    assert values[0] == values[2] != values[1]
    assert values[1] == float(dreval.tractable_consistency(X, second))


def test_the_source_has_its_name(folder: Path) -> None:
    """The source has the name of its folder, or the passed one; embeddings are copies, and two processes agree."""
    both_rounds(folder, projection)

    source = dreval.Protocol.collect(folder)

    assert isinstance(source, RecordedSource)
    assert (source.name, source.kind, source.can_embed) == ("tool", "recorded", True)
    assert dreval.Protocol.collect(folder, name="umap").name == "umap"
    source.coordinates(source.data)[:] = 0
    assert source.coordinates(source.data).any()
    values = [float(dreval.tractable_consistency(X, source, n_jobs=j)) for j in (1, 2)]
    assert values[0] == values[1]


def test_a_collected_source_is_short(folder: Path) -> None:
    """Its representation counts the runs and holds no array."""
    both_rounds(folder, pca)
    collected = repr(dreval.Protocol.collect(folder, name="umap"))
    assert collected == "RecordedSource('umap': 11 of 11 runs on 36 points, 3 columns)"
    assert repr(as_source(X, "xyz", as_data(X))) == "CoordinateSource('xyz': coordinates)"


def test_nothing_in_the_folder_is_pickled_or_depends_on_the_machine(folder: Path) -> None:
    """Every file is text (or parquet); the manifest holds ids, hashes, seed, versions, round and expected files."""
    both_rounds(folder, projection)

    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))

    assert {path.suffix for path in folder.rglob("*.*")} == {".csv", ".json", ".md", ".R", ".sh"}
    assert manifest["ids"] == [str(i + 1) for i in range(36)]
    assert (manifest["round"], manifest["random_state"], manifest["settings"]["n_transformations"]) == (2, 4, 7)
    assert manifest["versions"]["dreval"] == dreval.__version__
    assert len({task["output"] for task in manifest["tasks"]}) == len(manifest["tasks"]) == 11
    assert manifest["tasks"][1]["columns"] == [1, 3]
    texts = [path.read_text("utf-8") for path in folder.rglob("*.*")]
    assert not any(str(folder.parent) in text for text in texts)
