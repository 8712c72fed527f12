"""The wording of every error of the evaluation, its results, the checks, the registry and the command line.

``run_errors.txt`` stores the wordings; ``DREVAL_UPDATE_SNAPSHOTS=1 pytest tests/snapshots`` rewrites it. Review the
difference like any other change.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from snapshot import RowNote, Snapshots, error_text

import dreval
from dreval import _check, _check_arrays
from dreval.cli._main import main
from dreval.records.points import Embedding
from dreval.registry import METHODS

X = np.arange(24.0).reshape(8, 3) ** 2
Y = X[:, :2]
EV = dreval.Evaluation(X, {"umap": Y}, n_neighbors=3, random_state=0)
LABELED = dreval.Evaluation(X, {"umap": Y}, labels=list("abab" * 2), n_neighbors=3, random_state=0)
D = np.abs(X[:, :1] - X[:, 0])
DISTANCES = dreval.Evaluation(D, {"umap": Y}, n_neighbors=3, metric="precomputed", random_state=0)
RESULTS = EV.with_embedding("short", Y[:5]).run("continuity", None, None)
TCI = "tractable_consistency"
Case = Callable[[], Any]


def command(*arguments: str) -> Case:
    """Return a call of the command line."""
    return lambda: main(arguments)


EVALUATE = ("evaluate", "data.csv", "-e", "umap.csv", "-k", "3")
SETUP: dict[str, Case] = {
    "a covariate with the name of a target": lambda: dreval.Evaluation(X, covariates={"residual": X[:, 0]}),
    "embeddings as a list": lambda: dreval.Evaluation(X, [Y], n_neighbors=3),  # type: ignore[arg-type]
    "no embeddings": lambda: dreval.Evaluation(X, n_neighbors=3).run(),
    "a number as name": lambda: dreval.Evaluation(X, {1: Y}, n_neighbors=3),  # type: ignore[dict-item]
    "no name": lambda: EV.with_embedding(" ", Y),
    "a name over two lines": lambda: EV.with_embedding("a\nb", Y),
    "a name that is taken": lambda: EV.with_embedding("umap", Y),
    "unknown method": lambda: EV.with_embedding("tsne", "isomp"),
    "unknown metric": lambda: dreval.Evaluation(X, metric="cosin"),
    "metric without coordinates": lambda: dreval.procrustes_rc(D, Y, n_neighbors=3, metric="precomputed"),
    "too many neighbors": lambda: dreval.Evaluation(X, n_neighbors=8),
    "neighbors beyond the data": lambda: dreval.Evaluation(X, n_neighbors=15),
    "no neighbors": lambda: dreval.Evaluation(X, n_neighbors=[]),
    "half a neighbor": lambda: dreval.Evaluation(X, n_neighbors=[1.5]),
    "neighbors as text": lambda: dreval.Evaluation(X, n_neighbors="five"),
    "one anchor": lambda: dreval.Evaluation(X, n_neighbors=3, anchors=1),
    "more anchors than points": lambda: dreval.Evaluation(X, n_neighbors=3, anchors=9),
    "negative seed": lambda: dreval.Evaluation(X, n_neighbors=3, random_state=-1),
    "no threads": lambda: dreval.Evaluation(X, n_neighbors=3, n_jobs=0),
}
RUN: dict[str, Case] = {
    "unknown measure": lambda: EV.run("trustworthines"),
    "a number as measure": lambda: EV.run([3]),
    "no names": lambda: EV.run(3),
    "unknown test": lambda: LABELED.run(tests="hsik"),
    "nothing to test against": lambda: EV.run(tests="hsic"),
    "nothing to compute": lambda: EV.run(None),
    "unknown interval": lambda: EV.run(ci="bootstrap"),
    "anchors without anchors": lambda: EV.run(ci="anchors"),
    "points with anchors": lambda: dreval.Evaluation(X, {"e": Y}, n_neighbors=3, anchors=4).run(ci="points"),
    "no permutations": lambda: EV.run(n_resamples=0),
    "unknown adjustment": lambda: EV.run(adjust="bonferroni"),
    "options as a list": lambda: EV.run(options=["k"]),  # type: ignore[arg-type]
    "options of an unknown measure": lambda: EV.run(options={"continuty": {}}),
    "options that are no dict": lambda: EV.run(options={"continuity": 5}),  # type: ignore[dict-item]
    "unknown option of a measure": lambda: EV.run(options={"continuity": {"n_neigbors": 5}}),
    "option of a measure without any": lambda: EV.run(options={"procrustes_disparity": {"k": 5}}),
    "neighbors of one measure": lambda: EV.run(options={"continuity": {"n_neighbors": 8}}),
    "one fold": lambda: LABELED.run(options={"knn_accuracy": {"n_splits": 1}}),
    "unknown option of a test": lambda: LABELED.run(options={"hsic": {"kernal": "linear"}}),
    "unknown option of a method measure": lambda: EV.run(options={TCI: {"n_transformation": 9}}, measures=TCI),
    "unknown transformation": lambda: EV.run(options={TCI: {"transformation": "shift"}}, measures=TCI),
    "a negative amplitude": lambda: EV.with_embedding("p", "pca").run(options={TCI: {"amplitude": -1.0}}, measures=TCI),
    "a store that is a folder": lambda: EV.with_embedding("p", "pca").run(
        options={TCI: {"journal": "."}}, measures=TCI
    ),
    "coordinates run again": lambda: dreval.trustability(X, Y),
    "seed of a test": lambda: LABELED.run(options={"hsic": {"random_state": 1}}),
    "no permutations of a test": lambda: LABELED.run(options={"hsic": {"n_resamples": 0}}),
}
NOTES: dict[str, Case] = {
    "row: number of components": lambda: raise_failure(EV.with_embedding("e", "pca", n_components=0)),
    "row: other rows": lambda: raise_failure(EV.with_embedding("e", Y[:5])),
    "row: a method on distances": lambda: raise_failure(DISTANCES.with_embedding("e", "pca")),
    "row: an estimator on distances": lambda: raise_failure(DISTANCES.with_embedding("e", METHODS.get("pca")())),
    "row: a measure of coordinates on distances": lambda: raise_missing(DISTANCES),
    "row: test of a constant embedding": lambda: raise_note(LABELED.with_embedding("e", Y * 0)),
    "row: test of one class": lambda: raise_note(one_class()),
}


def embed_frame(columns: str) -> Any:
    """Transform new points in a frame with these columns, by data whose columns are a, b and c."""
    new = pd.DataFrame(np.ones((2, len(columns))), columns=list(columns))
    return Embedding(Y, "mine", data=X, columns=("a", "b", "c")).transform(new)


RESULT: dict[str, Case] = {
    "points of an unknown embedding": lambda: RESULTS.augment("umpa"),
    "points of a failed embedding": lambda: RESULTS.augment("short"),
    "certificate of a failed embedding": lambda: RESULTS.certificate("short"),
    "certificate from other data": lambda: RESULTS.certificate("umap", data=X + 1),
    "certificate without a residual": lambda: (
        EV.with_embedding("same", X).run("continuity", ci=None).certificate("same")
    ),
    "certificate of a constant": lambda: (
        EV.with_embedding("spot", Y * 0).run("continuity", ci=None).certificate("spot")
    ),
    "new points of other width": lambda: RESULTS.transform("umap", Y),
    "new points of other columns": lambda: embed_frame("abd"),
    "new points with a column twice": lambda: embed_frame("abcb"),
    "a rule nobody knows": lambda: RESULTS.inverse_transform("umap", Y, rule="theorem4"),
    "a ridge for a theorem": lambda: RESULTS.inverse_transform("umap", Y, rule="theorem3", reg=1.0),
    "an embedding without data": lambda: Embedding(Y, "mine").transform(X),
    "saved in no folder": lambda: RESULTS.save("nowhere/r.dreval"),
    "saved as a folder": lambda: RESULTS.save("."),
    "loaded from nowhere": lambda: dreval.load_results("nowhere.dreval"),
    "loaded from text": lambda: dreval.load_results("data.csv"),
    "loaded from another zip": lambda: dreval.load_results("other.zip"),
    "loaded from a newer format": lambda: dreval.load_results("newer.zip"),
    "card of an unknown measure": lambda: dreval.card("trustworthines"),
    "unknown thing of a registry": lambda: METHODS.get("isomp"),
}
CHECKS: dict[str, Case] = {
    "truth value": lambda: _check.check_bool(1, "robust"),
    "integer without bounds": lambda: _check.check_int(1.5, "m"),
    "integer with one bound": lambda: _check.check_int(np.int64(0), "m", low=1),
    "integer with two bounds": lambda: _check.check_int("3", "m", low=1, high=9),
    "float": lambda: _check.check_float(float("nan"), "sigma"),
    "float with bounds": lambda: _check.check_float(np.float64(2), "alpha", 0.0, 1.0),
    "name like no other": lambda: _check.check_one_of("qqqq", ("b", "a"), "kind"),
    "name of nothing": lambda: _check.check_one_of("a", (), "kind"),
    "object as name": lambda: _check.check_one_of(None, ("b", "a"), "kind"),
    "complex": lambda: _check_arrays.check_points(X * 1j, "X"),
    "text": lambda: _check_arrays.check_points([["a"]] * 4, "X"),
    "cube": lambda: _check_arrays.check_points(np.zeros((4, 2, 2)), "X"),
    "three rows": lambda: _check_arrays.check_points(X[:3], "X"),
    "not finite": lambda: _check_arrays.check_points(np.where(X > 100, np.inf, X), "X", columns=["a", "b", "c"]),
    "not finite vector": lambda: _check_arrays.check_finite(np.array([1, np.nan]), "t"),
    "other rows": lambda: _check.check_rows(3, 4, "Y"),
    "matrix as classes": lambda: _check_arrays.check_classes(np.eye(4, dtype=int), 4),
    "floats as classes": lambda: _check_arrays.check_classes([0.5, 1.0], 2),
    "dates as classes": lambda: _check_arrays.check_classes(np.array(["2020"] * 2, dtype="datetime64[D]"), 2),
    "missing class": lambda: _check_arrays.check_classes(["a", None], 2),
}
COMMAND: dict[str, Case] = {
    "dreval evaluate without embedding": command("evaluate", "data.csv"),
    "dreval evaluate, no data": command("evaluate", "dta.csv", "-e", "umap.csv"),
    "dreval evaluate, no such embedding": command("evaluate", "data.csv", "-e", "uamp.csv", "-k", "3"),
    "dreval evaluate, name only": command("evaluate", "data.csv", "-e", "umap="),
    "dreval evaluate, twice": command(*EVALUATE, "-e", "umap.csv"),
    "dreval evaluate, report in no folder": command(*EVALUATE, "--report", "nowhere/r.html"),
    "dreval evaluate, report of another kind": command(*EVALUATE, "--report", "r.pdf"),
    "dreval evaluate, save as a folder": command(*EVALUATE, "--save", "."),
    "dreval evaluate, save over the data": command(*EVALUATE, "--save", "data.csv"),
    "dreval evaluate, no labels": command(*EVALUATE, "--labels", "kind"),
    "dreval embed, unknown method": command("embed", "data.csv", "isomp", "out.csv"),
    "dreval embed, unknown ending": command("embed", "data.csv", "pca", "out.xlsx"),
    "dreval, unknown option": command("evaluate", "data.csv", "--bogus"),
    "dreval, no whole numbers": command("evaluate", "data.csv", "-k", "five"),
    "dreval, no data": command("evaluate"),
}
CASES = {**SETUP, **RUN, **NOTES, **RESULT, **CHECKS, **COMMAND}
SNAPSHOTS = Snapshots(Path(__file__).with_name("run_errors.txt"), CASES)


def one_class() -> dreval.Evaluation:
    """Return an evaluation whose labels are all the same."""
    return dreval.Evaluation(X, {"e": Y}, labels=["a"] * 8, n_neighbors=3, random_state=0)


def raise_failure(ev: dreval.Evaluation) -> None:
    """Raise the reason of the last embedding's failure."""
    raise RowNote(ev.with_embedding("pca", "pca").run("continuity", None, None).failed["e"])


def raise_missing(ev: dreval.Evaluation) -> None:
    """Raise the reason of a missing measure."""
    raise RowNote(ev.run("procrustes_disparity", None, None).table["note"].iloc[0])


def raise_note(ev: dreval.Evaluation) -> None:
    """Raise the reason in the last row."""
    raise RowNote(ev.run("continuity", "hsic", None).table["note"].iloc[-1])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with data, an embedding and two zip files that dreval did not write."""
    for name, array in (("data", X), ("umap", Y)):
        np.savetxt(
            tmp_path / f"{name}.csv", array, delimiter=",", header=",".join("xyz"[: array.shape[1]]), comments=""
        )
    for name, text in (("other", "{}"), ("newer", '{"format": 2}')):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("manifest.json", text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@each("case", CASES)
def test_wording_of_errors(case: str, folder: None, capfd: pytest.CaptureFixture[str]) -> None:
    """Each error has the stored wording: the argument, the requirement, the received value and a hint."""
    SNAPSHOTS.check(case, error_text(CASES[case], capfd))


def test_stored_cases_are_the_tested_cases() -> None:
    """The stored file has exactly the cases that are tested."""
    assert list(SNAPSHOTS.stored()) == list(CASES)


def test_wordings_have_four_parts() -> None:
    """Each stored wording names the argument, the requirement and the received value, and ends with the hint."""
    SNAPSHOTS.check_four_parts(("dreval: error", "dreval evaluate: error"), (" must ", " takes "))
