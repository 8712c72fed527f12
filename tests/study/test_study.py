"""Studies: each cell is computed once, in any order; failures are stored; other settings raise an error."""

from __future__ import annotations

import os
import warnings
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from sklearn.decomposition import PCA as THEIR_PCA

import dreval
import dreval.study.study
from dreval._random import stream_seed
from dreval.errors import InputError, MethodFailed, UnknownName
from dreval.records.frames import notes_of_table, of_whole
from dreval.records.notes import note
from dreval.storage import store as storage
from dreval.storage.store import Store
from dreval.storage.study_file import Cell, StudyFile, is_study, read_study_table
from dreval.study.study import cell_seed

MEASURES = ["trustworthiness", "procrustes_disparity"]
POWER = 2


def cloud(n: int = 14, p: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, p))


def first_columns(X, n_components):
    return X[:, :n_components]


def noisy(X, n_components, random_state):
    return X[:, :n_components] + np.random.default_rng(random_state).normal(size=(len(X), n_components))


def noisy_columns(X, n_components, random_state):
    with open(os.environ["DREVAL_TEST_CALLS"], "a") as log:
        log.write("x")
    return noisy(X, n_components, random_state)


DATA = {"a": cloud(seed=0), "b": cloud(16, seed=1)}
METHODS = {"first": first_columns, "noisy": noisy}


@pytest.fixture
def make(tmp_path):
    """Return a small study; keywords change it."""
    default = {"datasets": DATA, "methods": METHODS, "measures": MEASURES, "n_neighbors": 3, "random_state": 5}
    return lambda name="study.journal", **keywords: dreval.Study(tmp_path / name, **{**default, **keywords})


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """How often ``counted`` was run."""
    path = tmp_path / "calls"
    path.touch()
    monkeypatch.setenv("DREVAL_TEST_CALLS", str(path))
    return lambda: path.stat().st_size


def timeless(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="seconds")


def test_a_cell_equals_an_evaluation_by_hand(make):
    """Every number of a cell is that of ``Evaluation`` with the seed of the cell."""
    table = timeless(
        make(n_replicates=2, ci="points", options={"trustworthiness": {"n_neighbors": [2, 4]}}).run().table()
    )
    for name, X in DATA.items():
        for replicate in range(2):
            seed = cell_seed(5, Cell(name, "", 2, replicate))
            evaluation = dreval.Evaluation(X, METHODS, n_neighbors=3, random_state=seed)
            options = {"trustworthiness": {"n_neighbors": [2, 4]}}
            by_hand = evaluation.run(MEASURES, None, "points", options=options).table.assign(dataset=name)
            values = table[(table["dataset"] == name) & (table["replicate"] == replicate)].reset_index(drop=True)
            assert_frame_equal(values, timeless(by_hand.assign(replicate=replicate)), check_dtype=False)


def test_the_table_has_a_row_for_each_cell_and_measure(make):
    """The closed list of columns; data set, method and replicate of each row."""
    table = make(n_replicates=3).run().table()
    assert list(table.columns) == list(dreval.glossary.COLUMNS)
    assert len(table) == 2 * 2 * 3 * 2
    assert not table.duplicated(["dataset", "embedding", "replicate", "measure", "parameters"]).any()
    assert table["value"].notna().all()
    spread = table[table["measure"] == "procrustes_disparity"].groupby(["dataset", "embedding"])["value"].nunique()
    assert spread.to_dict() == {("a", "first"): 1, ("a", "noisy"): 3, ("b", "first"): 1, ("b", "noisy"): 3}


@pytest.mark.slow
def test_no_number_depends_on_the_order_or_on_other_cells(make):
    """In pieces, in reverse order, and in two processes, the table is the same."""
    make = partial(make, measures=["procrustes_disparity"])
    expected = timeless(make("whole", n_replicates=2).run().table())
    parts = make("parts", datasets={"b": DATA["b"]}, methods={"noisy": noisy}).run()
    make("parts", methods={"noisy": noisy, "first": first_columns}, datasets=dict(reversed(DATA.items()))).run(limit=1)
    make("parts", n_replicates=2).run()
    keys = ["dataset", "embedding", "replicate", "measure"]
    together = timeless(make("jobs", n_replicates=2).run(n_jobs=2).table())

    assert_frame_equal(expected, together)
    assert parts.table()["dataset"].iloc[0] == "b"
    assert_frame_equal(
        expected.sort_values(keys, ignore_index=True), timeless(parts.table()).sort_values(keys, ignore_index=True)
    )


def ends(X, n_components):
    os._exit(3)


@pytest.mark.slow
def test_a_method_that_ends_its_process_is_named(make):
    """A method may end its process: finished cells stay, no cell stays claimed, and the error names the active ones."""
    study = make(methods={"first": first_columns, "ends": ends}).run(limit=1)
    with pytest.raises(MethodFailed, match=r"at work on .*'ends' on 'a'"):
        study.run(n_jobs=2)
    status = study.status()

    assert status.count("running") == 0
    assert status.count("done") >= 1


def test_later_additions_cost_only_their_cells(make, calls):
    """Replicates, data sets, methods and components: every cell is run once."""
    text = {"methods": {"counted": noisy_columns}}
    make(**text).run()
    make(**text).run()
    assert calls() == 2
    make(**text, n_replicates=3).run()
    assert calls() == 6
    make(datasets={"c": cloud(12, seed=2)}, **text, n_replicates=3).run()
    assert calls() == 9
    study = make(methods={"counted": noisy_columns, "again": noisy_columns}, n_components=[2, 1]).run()
    assert calls() == 9 + 2 * 4 - 2
    assert study.status().complete
    assert set(study.table()["dataset"]) == {"a", "b", "c"}


@pytest.mark.slow
def test_a_limit_and_the_status(make):
    """The numbers of done, failed, running and waiting cells are those of the file; the cells of another process are
    running.
    """
    study = make(n_replicates=2)
    assert study.status().cells["state"].tolist() == ["waiting"] * 8
    assert not study.status().complete
    study.run(limit=3)
    status = study.status()
    with StudyFile(study.path, study._provenance(study.settings)) as file, file.claims() as other_claims:
        waiting = status.cells[status.cells["state"] == "waiting"].iloc[0]
        assert other_claims.claim(Cell(waiting["dataset"], waiting["embedding"], 2, int(waiting["replicate"])).name)
        busy = study.status()
        study.run()
        left = study.status()

    assert [status.count(state) for state in ("done", "failed", "running", "waiting")] == [3, 0, 0, 5]
    assert [busy.count(state) for state in ("done", "running", "waiting")] == [3, 1, 4]
    assert [left.count(state) for state in ("done", "running", "waiting")] == [7, 1, 0]
    assert not left.complete
    assert study.run().status().complete
    assert study.status().table[["done", "waiting"]].to_numpy().tolist() == [[2, 0]] * 4
    assert 0 < study.status().seconds < 1000


def raises(X, n_components):
    raise ZeroDivisionError("no luck")


FAILURES = {
    "raises": (raises, "ZeroDivisionError: no luck"),
    "NaN": (lambda X, _: X[:, :2] * np.nan, "must be finite"),
    "a row less": (lambda X, _: X[1:, :2], "one row per point"),
    "three axes": (lambda X, _: np.zeros((len(X), 2, 2)), "rows and columns"),
    "a word": (lambda *_: "embedding", "must return an array"),
    "words": (lambda X, _: [["a", "b"]] * len(X), "must hold numbers"),
    "nothing": (lambda *_: None, "must return an array"),
    "labels": ("sir", "labels"),
}


def test_failures_are_stored_with_their_reason(make):
    """Every kind of failure: the other cells are computed, and failed ones are not repeated."""
    study = make(methods={**{name: method for name, (method, _) in FAILURES.items()}, "first": first_columns}).run()
    status, table = study.status(), study.table()

    assert (status.count("done"), status.count("failed")) == (2, 2 * len(FAILURES))
    for name, (_, reason) in FAILURES.items():
        rows = table[table["embedding"] == name]
        assert len(rows) == 4
        assert rows["value"].isna().all()
        assert rows["note"].str.contains(reason).all(), name
        assert not rows["note"].str.contains("embeddings[", regex=False).any()
    assert set(status.failures["reason"]) == set(table.loc[table["value"].isna(), "note"])
    assert table.loc[table["embedding"] == "first", "value"].notna().all()


def sometimes(X, n_components):
    with open(os.environ["DREVAL_TEST_CALLS"], "a") as log:
        log.write("x")
    if os.environ["DREVAL_TEST_LUCK"] == "none":
        raise RuntimeError("no luck today")
    return X[:, :n_components]


def test_failures_are_repeated_on_request(make, calls, monkeypatch):
    """Only on request, only failed cells are repeated, and a new failure is stored."""
    study = make(methods={"sometimes": sometimes, "first": first_columns})
    monkeypatch.setenv("DREVAL_TEST_LUCK", "none")
    study.run().run()
    assert calls() == 2
    study.run(retry_failed=True)
    assert (calls(), study.status().count("failed")) == (4, 2)
    monkeypatch.setenv("DREVAL_TEST_LUCK", "good")
    study.run(retry_failed=True).run(retry_failed=True)
    assert calls() == 6
    assert study.status().count("done") == 4


def interrupted(X, n_components):
    raise KeyboardInterrupt


def test_stopping_leaves_a_sound_file(make):
    """After Ctrl-C in a method, finished cells are stored, no cell is claimed, and the study continues."""
    study = make(methods={"first": first_columns, "interrupted": interrupted})
    with pytest.raises(KeyboardInterrupt):
        study.run()
    status = study.status()

    assert (status.count("done"), status.count("running")) == (1, 0)
    assert make().run().status().count("done") == 4


def warns(X, n_components):
    warnings.warn("the scale is odd", UserWarning, stacklevel=2)
    warnings.warn("the scale is odd", UserWarning, stacklevel=2)
    warnings.warn("old words", DeprecationWarning, stacklevel=2)
    return X[:, :n_components]


def test_warnings_of_methods_are_stored(make):
    """Warnings are stored once for each cell, but not those for programmers."""
    status = make(methods={"warns": warns}).run().status()

    assert status.cells["warnings"].tolist() == ["UserWarning: the scale is odd"] * 2
    stored = note("warned", category="UserWarning", message="the scale is odd")
    assert status.cells["notes"].tolist() == [(stored,)] * 2
    assert "2 cells warned, warns on a, b" in str(status)


def test_notes_on_data_and_methods_are_stored(make, tmp_path):
    """Each is stored once with its code, values and data set, in the file, the summary, the page and the text."""
    X, kinds, order = cloud(), np.repeat(["x", "y"], 7), np.random.default_rng(1).permutation(14)
    X /= X.std(axis=0)
    named_kinds = pd.Series(kinds, index=[f"s{i}" for i in range(14)]).iloc[order]
    numbered = pd.DataFrame(X, columns=list("abc")).assign(patient=order)
    data = {"plain": {"data": X, "labels": kinds}, "named": {"data": X, "labels": named_kinds}, "numbered": numbered}
    share = numbered.var()["patient"] / numbered.var().sum()
    study = make(datasets=data, methods=["pca", "lle"], n_replicates=2, metric="cosine").run()
    notes = dreval.Study.open(study.path).status().notes

    ignored = {value: note("source.metric_none", value, what=value, metric="cosine") for value in ("pca", "lle")}
    expected = [
        ("plain", "pca", ignored["pca"]),
        ("plain", "lle", ignored["lle"]),
        ("named", "", note("rows.names_unused", argument="labels", data="the data")),
        ("named", "pca", ignored["pca"]),
        ("named", "lle", ignored["lle"]),
        ("numbered", "", note("data.ids_used", column="patient")),
        ("numbered", "", note("data.one_column", column="patient", percent=pytest.approx(100 * share))),
        ("numbered", "pca", ignored["pca"]),
        ("numbered", "lle", ignored["lle"]),
    ]
    results = [*zip(notes["dataset"], notes["embedding"], notes_of_table(notes), strict=True)]
    assert len(results) == len(expected)
    for dataset, method, value in expected:
        (same_note,) = [entry for *place, entry in results if [*place, entry.code] == [dataset, method, value.code]]
        assert (dict(same_note.values), same_note.scope) == (dict(value.values), value.scope)
    texts = [str(value) for _, _, value in results]
    lines = " ".join(str(study.status().summary(full=True)).split())
    study.report(tmp_path / "page.html")
    study.report(tmp_path / "text.md")
    page, text = (" ".join((tmp_path / name).read_text().split()) for name in ("page.html", "text.md"))
    assert f"On plain, named, numbered: {ignored['pca']}" in lines
    assert all(value in lines for value in texts)
    assert "On numbered: Column" in page
    assert "On numbered: Column" in text


def all_columns(X, n_components):
    return X


@given(
    labels=st.sets(st.sampled_from(["reference", "constant", "rows"]), min_size=1), share=st.sampled_from([None, 0.8])
)
@settings(max_examples=6, deadline=None)
def test_notes_are_those_of_the_evaluation(labels, share):
    """The notes on unusual data, on all points or a part, are those of an evaluation on all points."""
    X = cloud(16, 4)
    X[:, 3] *= "constant" not in labels
    X[1] = X[0] if "rows" in labels else X[1]
    method = all_columns if "reference" in labels else first_columns
    with TemporaryDirectory() as folder:
        text = {"measures": MEASURES, "n_neighbors": 3, "random_state": 5, "subsample": share}
        study = dreval.Study(f"{folder}/a.journal", {"a": X}, {"method": method}, **text).run()
        stored = notes_of_table(study.status().notes)
        by_hand = notes_of_table(
            of_whole(
                dreval.Evaluation(X, {"method": method}, n_neighbors=3, random_state=5).run(MEASURES, None, None).notes
            )
        )

    assert {*map(str, stored)} == {*map(str, by_hand)}
    assert len(stored) == len({*stored})


def reversed_columns(X, n_components):
    return X[:, :n_components] * POWER


OTHER_SETTINGS = {
    "settings": ({"n_neighbors": 4}, "n_neighbors [3] in the file and [4] here"),
    "measures": ({"measures": "continuity"}, 'measures ["trustworthiness", "procrustes_disparity"] in the file'),
    "seed": ({"random_state": 6}, "random_state 5 in the file and 6 here"),
    "options": ({"options": {"trustworthiness": {"n_neighbors": 2}}}, "options {} in the file"),
    "data": ({"datasets": {"a": DATA["a"] + 1}}, "`datasets['a']` must be the same as in the file"),
    "labels": ({"labels": {"a": list("ab" * 7)}}, "labels null in the file"),
    "method": ({"methods": {"first": "pca"}}, "`methods['first']` must be the same as in the file"),
    "parameters": ({"methods": {"first": partial(first_columns, n_components=2)}}, "`methods['first']`"),
}


@pytest.mark.parametrize("case", OTHER_SETTINGS)
def test_a_file_with_other_settings_raises_an_error(make, case):
    """The error names the differences; the file does not change."""
    texts, text = OTHER_SETTINGS[case]
    before = make().run().table()
    with pytest.raises(InputError) as error:
        make(**texts)

    assert text in str(error.value)
    assert_frame_equal(make().table(), before)


def test_code_and_versions_are_part_of_the_recipe(make, monkeypatch):
    """A global variable that a function reads, and the version of numpy."""
    make(methods={"changed": reversed_columns}).run()
    monkeypatch.setitem(globals(), "POWER", 3)
    with pytest.raises(InputError, match=r"methods\['changed'\].* code"):
        make(methods={"changed": reversed_columns})
    monkeypatch.undo()
    expected = dreval.study.study.versions()
    monkeypatch.setattr(dreval.study.study, "versions", lambda: {**expected, "numpy": "1.0"})
    with pytest.raises(InputError, match=r'"numpy": "1.0"'):
        make(methods={"changed": reversed_columns})


def test_a_study_without_a_seed_uses_the_seed_of_its_file(make):
    """None gives a random seed, which the file stores."""
    sampled = make(random_state=None).run(limit=2)
    repeated = make(random_state=None).run()

    assert sampled.recipe()["random_state"] == repeated.settings.random_state
    assert repeated.status().complete


def test_other_files_raise_an_error(make, tmp_path):
    """A text, saved results, a journal of another kind, and a missing file are not studies."""
    dreval.Evaluation(DATA["a"], {"first": first_columns}, n_neighbors=3).run(MEASURES).save(tmp_path / "saved.dreval")
    (tmp_path / "text.dreval").write_text("no study")
    with Store(tmp_path / "other.journal") as store:
        store.open_run({"measure": "tractable consistency"})
    for name in ("text.dreval", "saved.dreval", "other.journal"):
        assert not is_study(tmp_path / name)
        with pytest.raises(InputError, match="`journal` must"):
            make(name)
        with pytest.raises(InputError, match="`journal` must"):
            dreval.Study.open(tmp_path / name)
    with pytest.raises(InputError, match="must be an existing file"):
        dreval.Study.open(tmp_path / "nowhere.journal")
    assert not is_study(tmp_path / "nowhere.journal")


def test_a_file_of_a_process_that_was_ended_at_once_is_new(make, tmp_path):
    """A file without tables, or without the recipe, is accepted, and the study begins."""
    (tmp_path / "empty.journal").touch()
    with Store(tmp_path / "tables.journal"):
        pass
    for name in ("empty.journal", "tables.journal"):
        study = make(name)
        assert study.status().cells["state"].tolist() == ["waiting"] * 4
        assert study.run().status().count("done") == 4


def watched(X, n_components):
    return X[:, :n_components]


def test_subsamples_are_common_to_all_methods(make):
    """Half of the points, each once, the same for all methods, others in each replicate."""
    X = cloud(40)
    study = make(
        datasets={"a": X}, methods={"seen": watched, "also": first_columns}, n_replicates=3, subsample=0.5
    ).run()
    sampled = [study.embedding("a", "seen", r) for r in range(3)]
    rows = [{tuple(x) for x in Y} for Y in sampled]

    assert all(len(Y) == len(set_of) == 20 for Y, set_of in zip(sampled, rows, strict=True))
    assert all(set_of <= {tuple(x) for x in X[:, :2]} for set_of in rows)
    assert rows[0] != rows[1] != rows[2]
    assert all(np.array_equal(study.embedding("a", "also", r), Y) for r, Y in enumerate(sampled))
    assert set(study.table()["n"]) == {20}


def test_subsamples_of_distances_and_of_variables(make):
    """Rows and columns of distances are selected; labels follow their points."""
    X, kinds = cloud(24), np.array(["x", "y"] * 12)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    by_points = {"datasets": {"a": {"data": X, "labels": kinds}}, "measures": ["neighborhood_hit"], "subsample": 0.5}
    by_distances = {**by_points, "datasets": {"a": {"data": D, "labels": kinds}}, "metric": "precomputed"}
    tables = [
        make(name, methods=["classical_mds"], **text).run().table()
        for name, text in (("points", by_points), ("distances", by_distances))
    ]

    assert tables[0]["value"].notna().all()
    np.testing.assert_allclose(tables[0]["value"], tables[1]["value"], atol=1e-12)


def test_every_kind_of_data_and_method(make, tmp_path):
    """Names, simulations with parameters, files, frames; names with parameters, estimators, callables."""
    frame = pd.DataFrame(cloud(20), columns=list("xyz")).assign(kind=list("uvwx") * 5)
    frame.drop(columns="kind").to_csv(tmp_path / "table.csv", index=False)
    datasets = {
        "bundled": {"data": "s3", "n": 30},
        "file": str(tmp_path / "table.csv"),
        "frame": {"data": frame, "labels": "kind"},
        "set": dreval.simulate("s4", n=25, random_state=0),
    }
    methods = {
        "pca": "pca",
        "isomap": {"method": "isomap", "n_neighbors": 12},
        "theirs": THEIR_PCA(n_components=1),
        "sir": "sir",
    }
    study = make(datasets=datasets, methods=methods, measures=["procrustes_disparity"], n_components=2)
    table = study.run().table().set_index(["dataset", "embedding"])

    assert table["n"].groupby("dataset").first().to_dict() == {"bundled": 30, "file": 20, "frame": 20, "set": 25}
    assert table.loc[table["value"].notna(), "n_components"].unique().tolist() == [2]
    assert table["value"].notna().groupby("embedding").sum().to_dict() == {"isomap": 4, "pca": 4, "sir": 1, "theirs": 4}
    assert table.loc[("file", "pca"), "value"] == pytest.approx(table.loc[("file", "theirs"), "value"], abs=1e-12)
    assert table.loc[("frame", "pca"), "value"] == table.loc[("file", "pca"), "value"]
    assert study.recipe()["datasets"]["frame"]["labels"] is not None
    names = make("names", datasets=[str(tmp_path / "table.csv"), "s3"], methods="pca")
    assert (list(names.datasets), list(names.methods)) == (["table", "s3"], ["pca"])
    assert np.array_equal(names.datasets["s3"].X, dreval.simulate("s3", random_state=5).data)


def test_embeddings_are_stored_on_request(make):
    """The coordinates of a cell equal those of its method with the seed of the cell."""
    study = make(n_replicates=2, n_components=[1, 2]).run()
    seed = stream_seed(cell_seed(5, Cell("b", "noisy", 2, 1)), "embedding", "noisy")

    assert np.array_equal(study.embedding("b", "noisy", 1, 2), noisy(DATA["b"], 2, seed))
    assert study.embedding("b", "noisy").shape == (16, 1)
    with pytest.raises(
        InputError, match=r"which is not a cell of the study\. Known: replicate 0, 1; n_components 1, 2"
    ):
        study.embedding("b", "noisy", 2)
    with pytest.raises(UnknownName, match="Did you mean 'noisy'"):
        study.embedding("b", "nosy")
    without = make("without", keep_embeddings=False).run()
    with pytest.raises(InputError, match="keep_embeddings=True"):
        without.embedding("a", "first")


def test_compare_uses_one_number_of_components(make):
    """``dreval.compare`` of the table; each number of components is a separate family."""
    single = make("one", datasets={**DATA, "c": cloud(18, seed=2)}).run()
    study = make("both", datasets={**DATA, "c": cloud(18, seed=2)}, n_components=[1, 2]).run()
    result, split = single.compare(tests="wilcoxon"), study.compare(tests="wilcoxon", measure="trustworthiness")

    for source in (single.table(), single.path, [str(single.path)]):
        assert_frame_equal(result.pairs, dreval.compare(source, tests="wilcoxon").pairs)
    assert split.measures == [f"trustworthiness(n_neighbors=3, n_components={d})" for d in (1, 2)]
    assert_frame_equal(split.families[split.measures[1]].cells, result.families["trustworthiness(n_neighbors=3)"].cells)
    assert_frame_equal(read_study_table(single.path), single.table())


def test_an_opened_study_is_read(make):
    """All methods but run work without data and methods; no other file is left."""
    study = make().run()
    opened = dreval.Study.open(str(study.path))

    assert_frame_equal(opened.table(), study.table())
    assert str(opened.status()) == str(study.status())
    assert opened.recipe() == study.recipe()
    assert repr(opened) == str(opened) == str(study)
    assert str(study).startswith("All 4 cells are finished: 4 done.")
    with pytest.raises(InputError, match="needs data sets and methods"):
        opened.run()
    assert {path.name for path in study.path.parent.iterdir()} == {"study.journal"}


def test_a_file_in_a_folder_that_cannot_be_written_is_read(make, monkeypatch):
    """As from a mounted archive."""
    study = make().run()
    table = study.table()
    monkeypatch.setattr(os, "access", lambda *_: False)

    assert_frame_equal(dreval.Study.open(study.path).table(), table)


def test_cells_of_a_lost_claim_are_not_written(make):
    """The result of a process that was considered dead is discarded: the first result stays."""
    study = make().run(limit=1)
    with (
        StudyFile(study.path, study._provenance(study.settings)) as file,
        file.claims() as values,
        file.claims() as other_claims,
    ):
        name = next(cell.name for cell in study._cells() if cell.name not in file.texts())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(storage, "LEASE_SECONDS", -1.0)
            assert values.claim(name)
        assert other_claims.claim(name)
        assert not values.finish(name, {"late": True})
        assert other_claims.finish(name, {"rows": [], "reason": "", "seconds": 1.0, "warnings": []})
        assert "late" not in file.texts()[name]


def counts_up(X, n_components):
    raise RuntimeError(f"pivot {X.sum():.6f} is too small " + "and so on " * 40)


def test_failures_that_differ_in_values_only_are_one_note(make):
    """One short note for all of them; the whole reasons stay in ``failures``; counts are in the repr."""
    status = make(methods={"counts": counts_up}, n_replicates=2, subsample=0.8).run().status()
    assert status.failures["reason"].nunique() == 4
    notes = " ".join(str(status.summary().as_markdown()).split())
    assert "4 cells failed" in notes
    assert "(and 3 with other values)" in notes
    assert {note.code for cell in status.cells["notes"] for note in cell} == {"refused"}
    assert "and so on " * 30 not in notes
    assert "and so on " * 30 in status.failures["reason"].iloc[0]
    assert repr(status).startswith("All 4 cells are finished: 0 done, 4 failed.")


def test_arguments_of_a_study_belong_to_the_study(make):
    """Labels are passed to the study; a failed cell reports its failure; one data set has no ``results.compare``."""
    study = make(
        datasets={"a": DATA["a"]}, methods={"first": first_columns, "fails": raises}, measures=["knn_accuracy"]
    ).run()
    assert "needs labels; pass labels={'a': ...} to Study" in set(study.table()["note"])
    with pytest.raises(InputError, match=r"which failed\. It failed: .*no luck"):
        study.embedding("a", "fails")
    with pytest.raises(InputError, match=r"`datasets` must be two or more.*Evaluation\(data, methods\)"):
        study.compare()
