"""Runs for the noise test and for stability, exchanged by files: the same numbers as for a method in Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import dreval
from dreval.cli._main import main
from dreval.errors import InputError, ProtocolError, UndefinedMeasure


def method(X, n_components, random_state):
    """The first columns with a little noise of the seed."""
    return X[:, :n_components] + 0.1 * np.random.default_rng(random_state).normal(size=(len(X), n_components))


def tool(folder: Path) -> None:
    """The method outside: it reads inputs and writes outputs, in another order of rows."""
    for task in pd.read_csv(folder / "tasks.csv").itertuples():
        X = pd.read_csv(folder / task.input, index_col="id")
        Y = pd.DataFrame(method(X.to_numpy(), task.n_components, task.seed), index=X.index)
        (folder / "returned").mkdir(exist_ok=True)
        Y.iloc[::-1].to_csv(folder / task.output)


@pytest.fixture
def data():
    return np.random.default_rng(0).normal(size=(48, 4)) * [4, 3, 2, 1]


@pytest.fixture
def folder(data, tmp_path):
    protocol = dreval.Protocol(data, n_transformations=0, noise=9, seeds=4, halves=5, random_state=7)
    status = protocol.export(tmp_path / "tool")
    assert (status.round, status.rounds) == (1, 1)
    assert len(status.missing) == 2 + 5 + 10 + 4 + 5  # data and full, reseeds, noise with the data, seeds, halves
    tool(tmp_path / "tool")
    assert protocol.export(tmp_path / "tool").complete
    return tmp_path / "tool"


@pytest.mark.parametrize("null", ["columns", "gaussian"])
def test_the_noise_test_is_that_of_the_method(data, null, tmp_path):
    dreval.Protocol(data, n_transformations=0, noise=9, null=null, random_state=7).export(tmp_path / "tool")
    tool(tmp_path / "tool")
    source = dreval.Protocol.collect(tmp_path / "tool")
    result = dreval.noise_test(data, source)
    expected = dreval.noise_test(data, method, null=null, n_replicates=9, random_state=7)
    assert result.extra["null"] == null
    assert_allclose(result.null_distribution, expected.null_distribution)
    assert result.statistic == pytest.approx(expected.statistic)
    assert dreval.noise_test(data, source, n_replicates=4).n_replicates == 4
    with pytest.raises(UndefinedMeasure, match="null"):
        dreval.noise_test(data, source, null="gaussian" if null == "columns" else "columns")
    with pytest.raises(UndefinedMeasure, match="n_replicates"):
        dreval.noise_test(data, source, n_replicates=10)
    with pytest.raises(UndefinedMeasure, match="without seeds or halves"):
        dreval.stability(data, source)


def test_stability_is_that_of_the_method(data, folder):
    source = dreval.Protocol.collect(folder)
    for over, count in (("seeds", 4), ("halves", 5)):
        result = dreval.stability(data, source, over=over)
        expected = dreval.stability(data, method, over=over, n_replicates=count, random_state=7)
        assert float(result) == pytest.approx(float(expected))
        assert_allclose(result.points["agreement"], expected.points["agreement"])
    assert dreval.stability(data, source).recipe["parameters"]["over"] == "seeds"
    message = (
        r"with over='both': got runs of seeds and halves.* Use over='seeds' and, in another call, over='halves'\.$"
    )
    with pytest.raises(UndefinedMeasure, match=message):
        dreval.stability(data, source, over="both")
    with pytest.raises(UndefinedMeasure, match="transformed"):
        dreval.tractable_consistency(data, source)


def test_an_evaluation_takes_them(data, folder):
    source = dreval.Protocol.collect(folder)
    res = dreval.Evaluation(data, {"tool": source}).run(["stability"], ["noise"], None)
    table = res.table
    assert table["value"].notna().sum() == 1
    assert table["p_value"].notna().sum() == 1
    assert {"stability_agreement", "noise_q", "like_noise"} <= set(res.augment("tool"))


def test_the_command_line_collects_them(folder, capsys):
    assert main(["protocol", "collect", str(folder), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert set(body["measures"]) == {"trustability", "stability", "stability_halves"}
    assert body["tests"]["noise"]["p_value"] <= 1
    assert main(["protocol", "collect", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "shows more of these data than of " in " ".join(out.split())
    assert "agrees with itself over" in out


def test_rows_of_a_half_must_match(folder):
    path = folder / "returned" / "half-1.csv"
    frame = pd.read_csv(path)
    frame.iloc[:-1].to_csv(path, index=False)
    with pytest.raises(ProtocolError, match="23 rows for 24 points"):
        dreval.Protocol.collect(folder)
    shuffled = frame.copy()
    expected = set(range(1, 49)) - set(frame["id"])
    shuffled.loc[0, "id"] = min(expected)
    shuffled.to_csv(path, index=False)
    with pytest.raises(ProtocolError, match="half-1"):
        dreval.Protocol.collect(folder)


def test_runs_on_other_data_raise_an_error(data, folder):
    source = dreval.Protocol.collect(folder)
    for other_data in (data + 1, data[::-1], data[:-1]):
        messages = []
        for analysis in (dreval.noise_test, dreval.stability):
            with pytest.raises(UndefinedMeasure, match=r"^`source` must have been run on these data") as error:
                analysis(other_data, source)
            messages.append(str(error.value))
        assert messages[0] == messages[1]
        assert "Run the method" not in messages[0]


def test_a_sweep_of_a_tool_is_an_evaluation_of_several_folders(data, tmp_path):
    """A source with one setting raises an error, and its hint works."""
    sources = {}
    for setting in ("a", "b"):
        dreval.Protocol(data, n_transformations=0, random_state=7).export(tmp_path / setting)
        tool(tmp_path / setting)
        sources[setting] = dreval.Protocol.collect(tmp_path / setting)
    with pytest.raises(UndefinedMeasure, match=r"^`source` must be able to run with other settings.*for each setting"):
        dreval.sweep(data, sources["a"], {"n_neighbors": [5, 15]})
    ranking = dreval.Evaluation(data, sources).run("trustworthiness", None, "points").ranking()
    assert ranking["in_best_set"].tolist() == [True, True]


def test_runs_of_another_kind_raise_an_error_with_the_available_ones(data, tmp_path):
    dreval.Protocol(data, n_transformations=0, seeds=4, random_state=7).export(tmp_path / "tool")
    tool(tmp_path / "tool")
    source = dreval.Protocol.collect(tmp_path / "tool")
    with pytest.raises(UndefinedMeasure, match=r"Use over='seeds', or export a new folder with .*halves=10"):
        dreval.stability(data, source, over="halves")
    with pytest.raises(UndefinedMeasure, match=r"got runs of seeds\. Use over='seeds'\.$"):
        dreval.stability(data, source, over="both")


@pytest.mark.parametrize("analysis", [dreval.noise_test, dreval.stability])
def test_another_seed_than_that_of_the_runs_raises_an_error(data, folder, analysis):
    source = dreval.Protocol.collect(folder)
    result = analysis(data, source, random_state=7)
    assert result.recipe == analysis(data, source).recipe
    for seed in (3, np.random.default_rng(7)):
        with pytest.raises(UndefinedMeasure, match="`random_state` must be that of the recorded runs, 7"):
            analysis(data, source, random_state=seed)
    res = dreval.Evaluation(data, {"tool": source}, random_state=3).run(["stability"], None, None)  # of the others
    assert res.table["value"].notna().all()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"seeds": 2}, "at least 3"),
        ({"halves": 2}, "at least 3"),
        ({"seeds": 2.5}, r"`seeds` must be a whole number.*got 2\.5\. Pass 3 or more, or leave seeds out"),
        ({"halves": True}, "must be a whole number"),
        ({"halves": -1}, "at least 3"),
        ({"null": "gaussian"}, "noise="),
    ],
)
def test_runs_that_no_analysis_could_use_raise_an_error(data, settings, text):
    with pytest.raises(InputError, match=text):
        dreval.Protocol(data, **settings)
    with pytest.raises(InputError, match="fewer than 40 points"):
        dreval.Protocol(data[:30], halves=4)


@pytest.mark.parametrize("settings", [{"n_clusters": 2}, {"labels": np.repeat(["a", "b"], 24)}])
def test_a_number_of_clusters_is_used_against_recorded_null_data(data, folder, settings):
    """The score is the silhouette, as for a method; if the caller requests columns it is not, with a note."""
    source = dreval.Protocol.collect(folder)
    result = dreval.noise_test(data, source, **settings)
    expected = dreval.noise_test(
        data, method, null="columns", measure="silhouette", n_clusters=2, n_replicates=9, random_state=7
    )
    assert result.extra["measure"] == expected.extra["measure"] == "silhouette(n_clusters=2)"
    assert result.extra["null"] == "columns"
    assert result.statistic == pytest.approx(expected.statistic)
    assert_allclose(result.null_distribution, expected.null_distribution)
    assert not {"noise.blind", "noise.unasked"} & {note.code for note in result.notes}
    repeated = eval(result.call, {"dreval": dreval, "data": data, "source": source})
    assert repeated.statistic == result.statistic
    requested = [
        dreval.noise_test(data, tested, null="columns", n_replicates=9, **settings) for tested in (source, method)
    ]
    for requested_result in requested:
        assert requested_result.extra["measure"].startswith("neighborhood_overlap")
        codes = {note.code for note in requested_result.notes}
        assert "noise.blind" not in codes
        assert ("noise.unasked" in codes) == (requested_result.p_value > 0.05)


def test_no_note_advises_to_re_run_recorded_runs(data, folder):
    source = dreval.Protocol.collect(folder)
    notes = dreval.Evaluation(data, {"tool": source, "own": "pca"}).run("trustworthiness", None, "points").notes
    text = notes[notes["code"].str.startswith("interval.")].set_index("scope")
    assert text["code"].to_dict() == {"own": "interval.coordinates", "tool": "interval.recorded"}
    assert "replicates" in text.loc["own", "text"]
    assert "replicates" not in text.loc["tool", "text"]
    with pytest.raises(InputError, match="recorded runs"):
        dreval.Evaluation(data, {"tool": source}).run("trustworthiness", None, "replicates")


def test_more_null_data_come_from_a_new_protocol(data, folder, tmp_path):
    """The advice of the note works, for a tool alone and next to a method."""
    source = dreval.Protocol.collect(folder)

    def note_of(source, **parts):
        options = {"noise": {"n_replicates": 9}} if parts else None
        res = dreval.Evaluation(data, {"tool": source, **parts}).run([], ["noise"], None, options=options)
        return "".join(res.notes.loc[res.notes["code"] == "test.attainable", "text"])

    text = note_of(source)
    assert text.startswith("No adjusted p of this test can be below 0.1")
    assert text.endswith("Pass a source collected from a new protocol with noise=19 or more.")
    dreval.Protocol(data, n_transformations=0, noise=19, random_state=7).export(tmp_path / "new")
    tool(tmp_path / "new")
    assert note_of(dreval.Protocol.collect(tmp_path / "new")) == ""
    with_both = note_of(source, own="pca")
    assert "of these 2 tests" in with_both
    assert "{'n_replicates': 39}} and a source collected from a new protocol with noise=39" in with_both


@pytest.mark.parametrize(
    ("analysis", "setting"),
    [("noise_test", "noise=99"), ("stability", "seeds=10"), ("tractable_consistency", "n_transformations=200")],
)
def test_missing_exports_need_a_new_folder(data, analysis, setting, tmp_path):
    """The hint names the argument of the export, and following it works."""
    dreval.Protocol(data, n_transformations=0, n_replicates=0, random_state=7).export(tmp_path / "tool")
    tool(tmp_path / "tool")
    source = dreval.Protocol.collect(tmp_path / "tool")
    with pytest.raises(UndefinedMeasure, match="got a protocol without") as error:
        getattr(dreval, analysis)(data, source)
    assert f"Export a new folder with dreval.Protocol(..., {setting})" in error.value.hint
    assert "again" not in error.value.hint
    name, _, count = setting.partition("=")
    small = {"noise": 9, "n_transformations": 6}.get(name, int(count))  # fewer runs serve as well
    requested = {"n_transformations": 0, "n_replicates": 0, name: small}
    protocol = dreval.Protocol(data, **requested, random_state=7)
    for _ in range(2):
        protocol.export(tmp_path / "new")
        tool(tmp_path / "new")
    assert getattr(dreval, analysis)(data, dreval.Protocol.collect(tmp_path / "new")) is not None


def test_a_second_round_is_added_by_a_second_export(data, tmp_path):
    protocol = dreval.Protocol(data, n_transformations=4, n_replicates=0, random_state=7)
    protocol.export(tmp_path / "tool")
    tool(tmp_path / "tool")
    source = dreval.Protocol.collect(tmp_path / "tool", partial=True)
    with pytest.raises(UndefinedMeasure, match=r"of round 1.* Export the folder again for round 2"):
        dreval.tractable_consistency(data, source)
    protocol.export(tmp_path / "tool")
    tool(tmp_path / "tool")
    assert np.isfinite(float(dreval.tractable_consistency(data, dreval.Protocol.collect(tmp_path / "tool"))))


@pytest.mark.parametrize(
    ("analysis", "arguments", "hint"),
    [
        ("noise_test", {"n_replicates": 10}, r"Protocol\(\.\.\., noise=10\)"),
        ("noise_test", {"n_seeds": 2}, "Leave n_seeds out: each data set is run once"),
        ("stability", {"n_replicates": 10}, r"Protocol\(\.\.\., seeds=10\)"),
        ("stability", {"n_replicates": 10, "over": "halves"}, r"Protocol\(\.\.\., halves=10\)"),
    ],
)
def test_more_runs_are_requested_by_the_argument_of_the_export(data, folder, analysis, arguments, hint):
    with pytest.raises(UndefinedMeasure, match=hint):
        getattr(dreval, analysis)(data, dreval.Protocol.collect(folder), **arguments)


def test_null_data_of_one_column_raise_an_error_before_any_run(data):
    with pytest.raises(InputError, match=r"^`data` must have two columns.*Pass null='gaussian', or leave noise"):
        dreval.Protocol(data[:, :1], 1, noise=9)
    assert dreval.Protocol(data[:, :1], 1, noise=9, null="gaussian").settings["null"] == "gaussian"
    assert dreval.Protocol(data[:, :1], 1).settings["noise"] == 0
    assert dreval.Protocol(data[:, :2], 1, noise=9).settings["noise"] == 9


@pytest.mark.parametrize("jitter", [0.0, 1e-15])
def test_halves_are_used_for_a_tool_without_seeds(data, jitter, tmp_path, monkeypatch):
    """By default, as for a method; without halves an evaluation continues, and the hint is an export that has them."""
    seeded_tool = lambda X, n_components, seed: X[:, :n_components] * (1 + jitter * (int(seed) % 7))  # noqa: E731
    monkeypatch.setitem(globals(), "method", seeded_tool)
    sources = {}
    for name, settings in {"both": {"seeds": 3, "halves": 3}, "seeds": {"seeds": 3}}.items():
        dreval.Protocol(data, n_transformations=0, random_state=7, **settings).export(tmp_path / name)
        tool(tmp_path / name)
        sources[name] = dreval.Protocol.collect(tmp_path / name)
    assert dreval.stability(data, sources["both"]).recipe["parameters"]["over"] == "halves"
    for over in ("auto", "halves", "both"):
        with pytest.raises(UndefinedMeasure, match=r"Export a new folder with dreval.Protocol\(..., halves=10\)"):
            dreval.stability(data, sources["seeds"], over=over)
    table = dreval.Evaluation(data, sources, n_neighbors=5).run(["trustworthiness", "stability"], None, None).table
    assert table.set_index(["embedding", "measure"])["value"].isna().to_dict() == {
        ("both", "trustworthiness"): False,
        ("both", "stability"): False,
        ("seeds", "trustworthiness"): False,
        ("seeds", "stability"): True,
    }
