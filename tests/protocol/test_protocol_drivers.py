"""Tools outside Python: a shell loop, recorded results of R's uwot, and R itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from protocol_runs import SETTINGS, X, projection, read_frame
from scipy.spatial import procrustes

import dreval
from dreval.errors import ProtocolError

TESTS = Path(__file__).resolve().parents[1]
UWOT = TESTS / "validation" / "oracles" / "uwot"
# Called with INPUT OUTPUT N_COMPONENTS SEED; fails where the file FAIL names the task.
TOOL = """
case "$1" in *"$(cat fail 2> /dev/null || echo nothing)"*) echo "half" > "$2"; exit 3;; esac
awk -F, -v d="$3" '
    NR == 1 { printf "%s", $1; for (j = 1; j <= d; j++) printf ",y%d", j; print ""; next }
    { printf "%s", $1; for (j = 1; j <= d; j++) printf ",%.17g", atan2($(j + 1), 4); print "" }
' "$1" > "$2"
echo "$2" >> runs.txt
"""


def atan(points: np.ndarray, n_components: int) -> np.ndarray:
    """The same as the tool."""
    return np.arctan2(points[:, :n_components], 4)


def run_shell(folder: Path) -> int:
    """Run the shell driver from the folder's parent, where the tool is."""
    return subprocess.run(
        ["sh", f"{folder.name}/run.sh", "sh", "./tool.sh"], check=False, stderr=subprocess.DEVNULL, cwd=folder.parent
    ).returncode


def test_the_shell_driver_runs_missing_tasks(tmp_path: Path) -> None:
    """Each task is run once, a failed one leaves no file and is repeated, and the numbers are those in Python."""
    folder = tmp_path / "a tool"
    protocol = dreval.Protocol(X, **SETTINGS)
    protocol.export(folder)
    (tmp_path / "tool.sh").write_text(TOOL)

    assert run_shell(folder) == 0
    assert protocol.export(folder).round == 2
    (tmp_path / "fail").write_text("transformed-0003")
    assert run_shell(folder) == 1
    assert dreval.Protocol.status(folder).missing == ["returned/transformed-0003.csv"]
    assert run_shell(folder) == 1
    (tmp_path / "fail").unlink()
    assert run_shell(folder) == 0

    assert len((tmp_path / "runs.txt").read_text().splitlines()) == 11
    source = dreval.Protocol.collect(folder)
    result = dreval.tractable_consistency(X, source)
    expected = dreval.tractable_consistency(X, atan, n_transformations=7, random_state=4)
    assert result.table["u"].tolist() == pytest.approx(expected.table["u"].tolist(), rel=1e-9)


def test_drivers_that_were_edited_stay(tmp_path: Path) -> None:
    """The second round does not replace a driver, so that parameters set by the user hold in both."""
    protocol = dreval.Protocol(X, **SETTINGS)
    protocol.export(tmp_path / "t")
    (tmp_path / "t" / "run_uwot.R").write_text("# mine")
    protocol.export(tmp_path / "t", embedding=projection(X, 2, 4))

    assert (tmp_path / "t" / "run_uwot.R").read_text() == "# mine"
    assert "Round 2 of 2" in (tmp_path / "t" / "README.md").read_text()


def disparity(left: np.ndarray, second: np.ndarray) -> float:
    """Procrustes disparity by scipy, the narrower one padded with zeros."""
    width = max(left.shape[1], second.shape[1])
    padded = [np.pad(points, ((0, 0), (0, width - points.shape[1]))) for points in (left, second)]
    return float(procrustes(*padded)[2])


def test_embeddings_of_uwot_give_the_measures() -> None:
    """A recorded round trip with R's uwot: both measures are scipy's disparities of the returned files."""
    source = dreval.Protocol.collect(UWOT)
    trust = dreval.trustability(source.data, source)
    result = dreval.tractable_consistency(UWOT / "arc.csv", source, labels="cell")

    back = {path.stem: read_frame(path).iloc[:, 1:].to_numpy() for path in (UWOT / "returned").iterdir()}
    data = read_frame(UWOT / "arc.csv").iloc[:, 1:].to_numpy()
    u = [disparity(back["data"], back[f"transformed-{t:04d}"]) for t in (1, 2, 3)]
    assert float(trust) == pytest.approx(disparity(data, back["full"]), rel=1e-9)
    assert result.table["u"].tolist() == pytest.approx(u, rel=1e-9)
    assert float(result) == max(result.table["u"])
    assert result.parts["reseed_max"] == pytest.approx(disparity(back["data"], back["reseed-1"]), rel=1e-9)


def test_the_recorded_transformations_are_those_of_the_measure() -> None:
    """The files that went to uwot hold the transformations of Definition 5 at the places in the manifest."""
    from dreval.geometry.procrustes import make_transformations

    base = read_frame(UWOT / "returned/data.csv").iloc[:, 1:].to_numpy()
    data = read_frame(UWOT / "arc.csv").iloc[:, 1:].to_numpy()
    output = make_transformations(data, base)
    tasks = [task for task in json.loads((UWOT / "manifest.json").read_text())["tasks"] if task["place"]]

    assert len(tasks) == 3
    for task in tasks:
        exported = read_frame(UWOT / task["input"]).iloc[:, 1:].to_numpy()
        assert exported == pytest.approx(output.data(*task["place"]), rel=1e-9)


def test_a_damaged_recording_raises_an_error(tmp_path: Path) -> None:
    """A changed digit in the returned embedding is detected, since the second round depends on it."""
    shutil.copytree(UWOT, tmp_path / "uwot")
    file = tmp_path / "uwot" / "returned" / "data.csv"
    file.write_text(file.read_text().replace("5", "6", 1))

    with pytest.raises(ProtocolError, match=r"`returned/data.csv` must be the embedding"):
        dreval.Protocol.collect(tmp_path / "uwot")


@pytest.mark.debian
def test_the_round_trip_with_r_runs(tmp_path: Path) -> None:
    """The script of the vignette runs uwot and Rtsne in both rounds and prints both measures of both."""
    script = TESTS.parent / "vignettes" / "protocol-uwot.sh"
    env = {**os.environ, "DREVAL": f"{sys.executable} -m dreval", "PYTHON": sys.executable}
    env["PYTHONPATH"] = str(Path(dreval.__path__[0]).parent)
    done = subprocess.run(["sh", script, tmp_path], capture_output=True, text=True, check=False, env=env)

    assert (done.returncode, done.stderr) == (0, "")
    printed = " ".join(done.stdout.split())
    assert printed.count("Given all 3 dimensions of the data") == printed.count("A small smooth change of the") == 2
    for tool in ("uwot", "rtsne"):
        assert dreval.Protocol.status(tmp_path / tool).complete
        source = dreval.Protocol.collect(tmp_path / tool)
        assert 0 < float(dreval.trustability(source.data, source)) < 0.9
        assert source.reseed_reason is None


@pytest.mark.debian
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_ids_with_quotes_and_letters_survive_r(locale: str, tmp_path: Path) -> None:
    """Names with commas, quotes and umlauts return from R unchanged, whatever the locale."""
    frame = pd.DataFrame(X, columns=["größe", "b c", 'd"e,f'])
    names = [f'Zelle ä{i}, "q"' for i in range(len(X))]
    dreval.Protocol(frame.assign(**{"cell.id": names}), ids="cell.id", **SETTINGS).export(tmp_path / "t")
    for tool in ("rtsne", "uwot"):
        driver = tmp_path / "t" / f"run_{tool}.R"
        subprocess.run(["Rscript", driver], check=True, capture_output=True, env={**os.environ, "LC_ALL": locale})

    assert len(dreval.Protocol.status(tmp_path / "t").returned) == 4


@pytest.mark.debian
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_drivers_are_r(form: str, tmp_path: Path) -> None:
    """R can read the drivers of both formats."""
    dreval.Protocol(X, **SETTINGS).export(tmp_path / "t", format=form)
    code = "for (file in commandArgs(TRUE)) parse(file)"
    files = sorted((tmp_path / "t").glob("*.R"))

    assert len(files) == 2
    subprocess.run(["Rscript", "-e", code, *files], check=True, capture_output=True)


@pytest.mark.debian
def test_the_driver_of_uwot_obeys_the_seed(tmp_path: Path) -> None:
    """The same seed gives the same embedding twice, and another seed another one."""
    for name in ("one", "two"):
        protocol = dreval.Protocol(UWOT / "arc.csv", ids="cell", n_transformations=1, n_replicates=1, random_state=0)
        protocol.export(tmp_path / name)
        subprocess.run(["Rscript", tmp_path / name / "run_uwot.R"], check=True, capture_output=True)
    single, second = ((tmp_path / name / "returned" / "data.csv").read_text() for name in ("one", "two"))

    assert single == second
    assert single != (tmp_path / "one" / "returned" / "reseed-1.csv").read_text()
