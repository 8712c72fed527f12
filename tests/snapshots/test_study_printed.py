"""The wording of output and errors of a study.

``study.txt`` stores the wordings; ``DREVAL_UPDATE_SNAPSHOTS=1 pytest tests/snapshots`` rewrites it. Review the
difference like any other change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from snapshot import Snapshots

import dreval
from dreval.cli._main import main
from dreval.errors import DrevalError
from dreval.study.study import StudyStatus

X = np.column_stack([np.arange(8.0) ** 2, *(np.sin(np.arange(8.0) * k) * 20 for k in (1, 2, 5))])
DATA = {"squares": X, "roots": np.sqrt(np.abs(X)), "a data set with a name that is far too long for a line": X / 2}


def broken(X: Any, n_components: int) -> Any:
    """Fail on the squares, and warn."""
    if X[2, 0] > 3:
        raise RuntimeError("no luck with squares")
    return X[:, :n_components]


def study(path: str = "s.journal", **options: Any) -> dreval.Study:
    defaults = {"datasets": DATA, "methods": {"pca": "pca", "broken": broken}, "measures": ["procrustes_disparity"]}
    return dreval.Study(path, **{**defaults, "n_neighbors": 3, "random_state": 0, "n_replicates": 2, **options})


def many_pairs() -> StudyStatus:
    """Return the status of more pairs of data set and method than are printed."""
    rows = [
        (f"set {i}", f"method {j}", 2, 0, "waiting" if i == j else "done", 60.0, "", "", ())
        for i in range(7)
        for j in range(7)
    ]
    columns = ["dataset", "embedding", "n_components", "replicate", "state", "seconds", "reason", "warnings", "notes"]
    return StudyStatus("many.journal", pd.DataFrame(rows, columns=columns))


ERRORS: dict[str, Callable[[], Any]] = {
    "no data sets": lambda: study(datasets=[]),
    "arrays without names": lambda: study(datasets=[X]),
    "estimators without names": lambda: study(methods=[broken]),
    "an unknown data set": lambda: study(datasets=["swiss_rol"]),
    "a loader": lambda: study(datasets=["wdbc_file"]),
    "an unknown parameter of a simulation": lambda: study(datasets={"roll": {"data": "swiss_roll", "noize": 1}}),
    "a data set that says no data": lambda: study(datasets={"roll": {"labels": "kind"}}),
    "an unknown word beside data": lambda: study(datasets={"mine": {"data": X, "label": "kind"}}),
    "labels of another data set": lambda: study(labels={"square": list("abababab")}),
    "labels without names": lambda: study(labels=list("abababab")),
    "labels that do not fit": lambda: study(labels={"squares": list("ab")}),
    "data with gaps": lambda: study(datasets={"gaps": X * np.nan}),
    "no name": lambda: study(datasets={" ": X}),
    "an unknown method": lambda: study(methods=["isomp"]),
    "an unknown parameter of a method": lambda: study(methods={"iso": {"method": "isomap", "n_neigbors": 3}}),
    "components of a method": lambda: study(methods={"iso": {"method": "isomap", "n_components": 3}}),
    "a method that says no method": lambda: study(methods={"iso": {"n_neighbors": 3}}),
    "coordinates": lambda: study(methods={"iso": X[:, :2]}),
    "an unknown measure": lambda: study(measures="trustworthines"),
    "a curve": lambda: study(measures=["r_nx"]),
    "no measures": lambda: study(measures=None),
    "too many neighbors": lambda: study(n_neighbors=8),
    "too many neighbors for a subsample": lambda: study(n_neighbors=5, subsample=0.5),
    "a share above 1": lambda: study(subsample=2),
    "no replicates": lambda: study(n_replicates=0),
    "no components": lambda: study(n_components=0),
    "anchors beyond the data": lambda: study(anchors=9),
    "anchors without anchors": lambda: study(ci="anchors"),
    "an option of no measure": lambda: study(options={"procrustes_disparity": {"k": 3}}),
    "options that cannot be written": lambda: study(options={"tractable_consistency": {"journal": Path("x")}}),
    "another recipe": lambda: (study().run(limit=1), study(n_neighbors=2, random_state=1)),
    "other data": lambda: (study().run(limit=1), study(datasets={"squares": X + 1})),
    "another method": lambda: (study().run(limit=1), study(methods={"broken": "pca"})),
    "no study": lambda: (Path("s.journal").write_text("text"), study()),
    "no file": lambda: dreval.Study.open("nowhere.journal"),
    "opened to be read": lambda: (study().run(limit=1), dreval.Study.open("s.journal").run()),
    "an embedding that is not there": lambda: study().run(limit=1).embedding("roots", "pca", 1),
    "one data set": lambda: study(datasets={"squares": X}).run().compare(),
    "a limit of none": lambda: study().run(limit=0),
}
OUTPUTS: dict[str, Callable[[], Any]] = {
    "nothing yet": lambda: study().status(),
    "half done": lambda: study().run(limit=7),
    "done": lambda: study().run(),
    "done, Markdown": lambda: study(methods={"pca": "pca"}).run().status().summary().as_markdown(),
    "many pairs": many_pairs,
    "a report": lambda: Path(study().run().report("r.md")).read_text("utf-8"),
    "help": lambda: _command("study", "--help"),
    "help of run": lambda: _command("study", "run", "--help"),
    "help of status": lambda: _command("study", "status", "--help"),
    "help of report": lambda: _command("study", "report", "--help"),
}
SNAPSHOTS = Snapshots(Path(__file__).with_name("study.txt"), [*ERRORS, *OUTPUTS])


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal of 100 columns; the test restores the working folder."""
    monkeypatch.chdir(Path.cwd())
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(_command, "capsys", capsys, raising=False)


def _command(*arguments: str) -> str:
    with pytest.raises(SystemExit):
        main(arguments)
    return str(_command.capsys.readouterr().out)  # type: ignore[attr-defined]


def mask_variable_parts(text: str) -> str:
    """Mask seconds, hashes and versions, and the layout of options, which depends on Python."""
    text = re.sub(r"\b\d+\.\d s\b", "<seconds>", text)
    text = re.sub(r" +<seconds>", " <seconds>", text)
    text = re.sub(r"[0-9a-f]{64}|[0-9a-f]{12}\.\.\.", "<hash>", text)
    text = re.sub(r"(dreval|numba|numpy|scipy|scikit-learn) \d[\w.]+", r"\1 <version>", text)
    return re.sub(r"usage:.*?(?=^(?:steps|examples?):)", "...\n", text, flags=re.DOTALL | re.MULTILINE)


@each("case", ERRORS)
def test_wording_of_errors(case: str, fresh_folder: Callable[[], Path]) -> None:
    """Each error has its four parts, word for word."""
    os.chdir(fresh_folder())
    with pytest.raises(DrevalError) as error:
        ERRORS[case]()
    SNAPSHOTS.check(case, mask_variable_parts(f"{type(error.value).__name__}: {error.value}"))


@pytest.mark.slow
@each("case", OUTPUTS, items=2)
def test_output(case: str, fresh_folder: Callable[[], Path]) -> None:
    """Each printed text equals the stored one, except for seconds and versions."""
    os.chdir(fresh_folder())
    SNAPSHOTS.check(case, mask_variable_parts(str(OUTPUTS[case]())))


def test_stored_cases_are_the_tested_cases() -> None:
    """The stored file has exactly the cases that are tested."""
    assert list(SNAPSHOTS.stored()) == [*ERRORS, *OUTPUTS]
