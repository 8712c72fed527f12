"""The tractable consistency measure: the exact path, methods with a known result, and killed runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import procrustes as their_procrustes

import dreval
from dreval.errors import InputError, MethodFailed, UndefinedMeasure
from dreval.geometry.procrustes import make_transformations
from dreval.measures.consistency import pca_disparities


def cloud(n=60, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) * np.linspace(2, 0.5, p)


POWER = 3


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """Return how often a method was run, from a file, since variables that a method reads are part of its identity."""
    monkeypatch.setenv("DREVAL_TEST_CALLS", str(tmp_path / "calls"))
    return count_calls


def count_calls():
    path = Path(os.environ["DREVAL_TEST_CALLS"])
    return path.stat().st_size if path.exists() else 0


def call():
    with open(os.environ["DREVAL_TEST_CALLS"], "a") as log:
        log.write("x")


def power_columns(X):
    return X[:, :2] ** POWER


def counting_pca(X, n_components):
    call()
    return power_columns(X)


def same_embedding(Y):
    return lambda *_: Y


def tci(X, source, **options):
    return dreval.tractable_consistency(X, source, **{"n_transformations": 6, "random_state": 0, **options})


def leading(X, d=2):
    """Principal components by a singular value decomposition."""
    centered = X - X.mean(axis=0)
    scores, values, _ = np.linalg.svd(centered, full_matrices=False)
    return scores[:, :d] * values[:d]


@pytest.mark.parametrize("kind", ["perturbation", "definition"])
@pytest.mark.parametrize("name", ["s1", "s2", "s3", "s4"])
def test_the_exact_path_is_brute_force(name, kind):
    """Over all n p transformations of S1 to S4, rank-2 updates have the u and tr S_YY of separate decompositions."""
    X = dreval.simulate(name, n=60 if kind == "definition" else 200, random_state=0).data
    base = leading(X)
    transformations = make_transformations(X, base, kind)
    pairs = transformations.choose("all", 0)
    u, sizes = pca_disparities(transformations, pairs, 2)
    brute = [leading(transformations.data(i, j)) for i, j in pairs]
    norms = [(Y**2).sum() for Y in brute]
    nuclear = np.array([np.linalg.svd(base.T @ Y, compute_uv=False).sum() for Y in brute])
    assert_allclose(u, 1 - nuclear**2 / ((base**2).sum() * np.array(norms)), atol=1e-10)
    assert_allclose(sizes, norms, rtol=1e-10)


def test_the_record_summarizes_the_runs():
    """Value, median and S / n are those of the table, whose rows are scipy's disparities of the transformed runs."""
    X = cloud()
    record = tci(X, "isomap", n_transformations=5)
    Y = dreval.embed(X, "isomap").coordinates
    transformations = make_transformations(X, Y)
    for row in record.table.to_dict("records"):
        Z = dreval.embed(transformations.data(row["point"], row["column"]), "isomap").coordinates
        u = their_procrustes(Y, Z)[2]
        assert row["u"] == pytest.approx(u, abs=1e-9)
        assert row["s_per_n"] == pytest.approx(u * ((Z - Z.mean(axis=0)) ** 2).sum() / 60, abs=1e-9)
    assert float(record) == record.table["u"].max()
    assert record.parts["median"] == record.table["u"].median()
    assert record.parts["s_per_n"] == record.table["s_per_n"].max()
    assert (record.parts["tried"], record.parts["failed"]) == (5, 0)


def test_the_unit_of_the_data_has_no_effect():
    """X -> 1000 X: the same u for every transformation, for the exact path and for one that is run."""
    X = cloud()
    for source in ("pca", "isomap"):
        left, right = tci(X, source), tci(1000 * X, source)
        assert_allclose(right.table["u"], left.table["u"], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-59, 1e58])
def test_extreme_units_have_no_effect(unit):
    """Data of any unit have the same u by the exact path and by runs, without a warning."""
    X = cloud()

    transformations = [make_transformations(a * X, a * leading(X)) for a in (1.0, unit)]
    left, right = (pca_disparities(X, transformations[0].choose(6, 0), 2)[0] for X in transformations)
    assert_allclose(right, left, rtol=1e-6, atol=1e-12)

    def bent(X, *_):
        return X[:, :2] + X[:, 1:] * (X[:, 1:] / np.abs(X).max())

    left, right = tci(X, bent), tci(unit * X, bent)
    assert_allclose(right.table["u"], left.table["u"], rtol=1e-6, atol=1e-12)


def test_the_number_of_columns_is_the_requested_one():
    """More columns raise an error; fewer, and more than the data have, are noted."""
    X = cloud()
    with pytest.raises(MethodFailed, match="`source` must return at most 2 columns, its n_components: got 3 columns"):
        tci(X, lambda X, _: X)
    with pytest.raises(MethodFailed, match="`source` must return at most 1 column, its n_components: got 2 columns"):
        tci(X, lambda X, _: X[:, :2], n_components=1)
    narrow = tci(X, lambda X, _: X[:, :1])
    assert "1 column was returned and counts as padded with zeros (2 requested)." in [*map(str, narrow.notes)]
    wide = tci(X, lambda X, n_components: np.c_[X, X**2][:, :n_components], n_components=4)
    assert str(wide.notes[0]) == "More dimensions were requested (4) than the data have columns (3)."


def test_one_embedding_for_every_seed_has_no_baseline():
    """A method that does not use its seed has no baseline, and a note gives the reason."""

    def stubborn(X, n_components, random_state=0):
        return X[:, :n_components]

    record = tci(cloud(), stubborn)
    assert np.isnan(record.parts["reseed_max"])
    assert str(record.notes[-1]) == "No reseed baseline: stubborn gives the same embedding for every seed."


def test_texts_use_the_names_of_the_caller():
    """Notes, table and errors name `source`, once, and a failure of all runs has its cause."""
    X = cloud()

    def never(Z, n_components):
        if (Z == X).all():
            return Z[:, :2]
        raise RuntimeError("out of ink")

    with pytest.raises(MethodFailed, match=r"6 failures, the first: `source` must embed.*out of ink") as error:
        tci(X, never)
    assert "embeddings[" not in str(error.value)
    assert "make_transformations" not in str(error.value)

    def moody(Z, n_components):
        if np.isclose(Z[:, 0], X[:, 0]).all():
            return Z[:, :2]
        raise RuntimeError("out of ink")

    record = tci(X, moody)
    assert record.parts["failed"] == 2
    assert "`source` must embed" in str(record.notes[-2])
    assert not record.table["note"].str.contains("embeddings[", regex=False).any()
    constant = tci(X, same_embedding(np.full((60, 2), 0.1)))
    assert sum("one place" in str(note) for note in constant.notes) == 1


def test_a_reduced_amplitude_is_a_part():
    """The record has the amplitude that was reduced because of outliers."""
    X = np.r_[cloud(), 1e3 * np.ones((3, 3)) * [[1], [2], [3]]]
    assert tci(X, "pca").parts["amplitude"] < 0.5 == tci(cloud(), "pca").parts["amplitude"]
    assert "amplitude" not in tci(X, "pca", transformation="definition").parts


def test_the_record_names_the_settings_of_the_run():
    """The printed settings have no unused amplitude, no reseeds that were not run, and at most all bumps."""
    X = cloud()
    requested = tci(X, "pca", transformation="definition", n_transformations=10**6, n_replicates=5).recipe["parameters"]
    assert "amplitude" not in requested
    assert (requested["n_transformations"], requested["n_replicates"]) == (X.size, 0)
    with pytest.raises(InputError, match="must be an integer or \"all\": got 'some'"):
        tci(X, "pca", n_transformations="some")


def test_a_reduced_amplitude_has_its_true_reason():
    """The note names outliers where there are some, else the amplitude itself."""
    far = np.r_[cloud(), 1e3 * np.ones((3, 3)) * [[1], [2], [3]]]
    notes = {a: " ".join(map(str, tci(X, "pca", amplitude=a).notes)) for a, X in ((0.5, far), (50, cloud()))}
    assert "large relative to the bandwidth (outliers)" in notes[0.5]
    assert "outliers" not in notes[50]
    assert "The amplitude 50 would fold the data; it is too large for them: " in notes[50]


def test_methods_with_a_known_result():
    """The same embedding for all data has 0, a random one about the chance level, a constant one 0 with a note."""
    X, rng = cloud(n=300), np.random.default_rng(0)
    Y = X[:, :2]
    assert float(tci(X, same_embedding(Y))) < 1e-12
    shuffled = tci(X, lambda *_: Y[rng.permutation(300)])
    assert float(shuffled) > 0.95
    assert shuffled.parts["median"] > 0.9
    assert float(shuffled) == pytest.approx(shuffled.chance, abs=0.05)
    constant = tci(X, same_embedding(np.full((300, 2), 0.1)))
    assert float(constant) == 0.0
    assert any("one place" in str(note) for note in constant.notes)


def test_by_the_printed_definition_it_saturates():
    """On the same data the printed transformation gives u near 1 even for PCA, which the perturbation hardly moves."""
    X = dreval.simulate("s4", random_state=0).data
    text = tci(X, "pca", transformation="definition", n_transformations="all")
    sound = tci(X, "pca", n_transformations="all")
    assert text.parts["median"] > 0.99
    assert sound.parts["median"] < 0.01


def test_reseeds_are_a_baseline_only_where_seeds_matter():
    """A method with a seed has a baseline; a deterministic one, and one without a seed, have a note."""

    def jittered(X, n_components, random_state=0):
        return X[:, :2] + 0.3 * np.random.default_rng(random_state).normal(size=(len(X), 2))

    X = cloud()
    record = tci(X, jittered, n_replicates=4)
    assert 0 < record.parts["reseed_median"] <= record.parts["reseed_max"] < 0.2
    assert float(record) < record.parts["reseed_max"]  # transformed data have the same seed
    for source in ("pca", lambda X, _: X[:, :2]):
        lonely = tci(X, source)
        assert np.isnan(lonely.parts["reseed_max"])
        assert any(str(note).startswith("No reseed baseline") for note in lonely.notes)


def test_a_random_function_without_a_seed_is_detected(tmp_path):
    """The same data are run once more, and a part has the change of the embedding between both runs."""

    def wild(X, n_components):
        return X[:, :n_components] + 0.5 * np.random.default_rng().normal(size=(len(X), n_components))

    record = tci(cloud(), wild, n_transformations=3, journal=tmp_path / "runs.journal", random_state=0)
    drift = record.parts["run_to_run"]
    assert 0.02 < drift < 0.8
    text = f"The embedding of wild differs from run to run by u = {drift:.3g} on the same data"
    assert f"{text}; give it a random_state argument." in [*map(str, record.notes)]
    repeated = tci(cloud(), wild, n_transformations=3, journal=tmp_path / "runs.journal", random_state=0)
    assert repeated.parts["run_to_run"] == drift
    for source, n_replicates in ((leading_two, 5), ("pca", 5), (wild, 0)):
        quiet = tci(cloud(), source, n_transformations=3, n_replicates=n_replicates)
        assert "run_to_run" not in quiet.parts
        assert not any("run to run" in str(note) for note in quiet.notes)


def leading_two(X, n_components):
    return X[:, :n_components] * [2.0, 1.0]


def test_processes_change_no_number():
    """Two processes give the bits of one, in the same order."""
    X = cloud()
    single, parallel = (tci(X, "isomap", n_jobs=n_jobs) for n_jobs in (1, 2))
    assert single.table.drop(columns="seconds").equals(parallel.table.drop(columns="seconds"))


def test_all_of_them_and_the_missed_maximum():
    """A number tries the stated share; PCA also returns the largest of all n p, which a sample can miss."""
    X = cloud()
    sample, all_of_them = tci(X, "pca"), tci(X, "pca", n_transformations="all")
    assert len(all_of_them.table) == 180
    assert all_of_them.parts["max_of_all"] == float(all_of_them)
    assert sample.parts["max_of_all"] == pytest.approx(float(all_of_them), abs=1e-12)
    assert sample.parts["max_of_all"] >= float(sample)
    assert "6 of 180 transformations were tried" in str(sample.notes[0])
    merged = sample.table.merge(all_of_them.table, on=["point", "column"])
    assert_allclose(merged["u_x"], merged["u_y"], atol=1e-12)


def test_failures_are_counted_and_not_stored(tmp_path, calls):
    """A run that raises is counted with its reason, and repeated by the next call; if all fail, an error is raised."""
    X = cloud()

    def moody(X, n_components):
        call()
        if count_calls() == 4:
            raise RuntimeError("out of ink")
        return X[:, :2]

    record = tci(X, moody, journal=tmp_path / "cells.journal")
    assert (record.parts["tried"], record.parts["failed"]) == (6, 1)
    assert "1 of 6 runs failed; the first: " in str(record.notes[1])
    assert "out of ink" in str(record.notes[1])
    repeated = tci(X, moody, journal=tmp_path / "cells.journal")
    assert repeated.parts["failed"] == 0
    assert calls() == 9  # base, a second run of it, six, and the one that failed

    def never(Z, n_components):
        if (Z == X).all():
            return Z[:, :2]
        raise RuntimeError("out of ink")

    with pytest.raises(MethodFailed, match="must embed transformed data"):
        tci(X, never)


def test_a_store_belongs_to_data_method_and_seed(tmp_path, calls, monkeypatch):
    """Other data, code, variables, seed or amplitude use no stored run; more transformations continue the store."""
    X = cloud()

    def run(X=X, source=counting_pca, **options):
        before = calls()
        tci(X, source, journal=tmp_path / "cells.journal", **options)
        return calls() - before

    assert run() == 8
    assert run() == 0
    assert run(n_transformations=8) == 2
    assert run(X=X + 1e-9) == 8
    assert run(random_state=1) == 8
    assert run(amplitude=0.4) == 8
    assert run(source=lambda X, n_components: counting_pca(X, n_components)) == 8
    monkeypatch.setitem(globals(), "POWER", 5)
    assert run() == 8


SCRIPT = """
import sys, time
import numpy as np
import dreval

def slow(X, n_components, random_state=0):
    with open(sys.argv[2], "a") as log:
        log.write("run\\n")
    time.sleep(float(sys.argv[3]))
    return np.tanh(X[:, :2]) + 0.1 * np.random.default_rng(random_state).normal(size=(len(X), 2))

X = np.random.default_rng(0).normal(size=(40, 3))
found = dreval.tractable_consistency(
    X, slow, n_transformations=12, n_replicates=3, random_state=0, journal=sys.argv[1] or None, progress=False
)
print(found.table.drop(columns="seconds").to_json(double_precision=15), dict(found.parts), float(found))
"""


def run_script(store: str, log: Path, pause: float) -> subprocess.Popen[str]:
    """Start the script without a file, which a second start could rewrite while the first reads it."""
    arguments = [sys.executable, "-X", "faulthandler", "-c", SCRIPT, store, str(log), str(pause)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return the exit code, which is negative after a signal, the text on stderr, and the output."""
    answer, complaint = process.communicate()
    return process.returncode, complaint, answer


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.slow
def test_a_killed_run_continues_where_it_stopped(tmp_path):
    """After kill -9 the next call gives the numbers of an undisturbed run, and repeats no finished run.

    Of 16 runs (one on the data, 3 other seeds, 12 transformations) only the one that was under way is run again.
    """
    store, log, other_store = str(tmp_path / "cells.journal"), tmp_path / "log", tmp_path / "other"
    process = run_script(store, log, 0.05)
    deadline = time.monotonic() + 120
    while lines(log) < 8 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    assert finish(process) == (-signal.SIGKILL, "", "")
    assert 8 <= lines(log) < 16

    resumed, uninterrupted = run_script(store, log, 0.0), run_script("", other_store, 0.0)
    code, complaint, answer = finish(resumed)
    assert (code, complaint) == (0, "")
    assert answer.count("\n") == 1
    assert finish(uninterrupted) == (0, "", answer)
    assert lines(other_store) == 16
    assert 16 <= lines(log) <= 17


INVALID = {
    "coordinates": (UndefinedMeasure, {"source": cloud()[:, :2]}),
    "an unknown transformation": (dreval.errors.UnknownName, {"transformation": "shift"}),
    "an unknown kernel": (dreval.errors.UnknownName, {"kernel": "linear"}),
    "a negative amplitude": (InputError, {"amplitude": -1.0}),
    "no transformations": (InputError, {"n_transformations": 0}),
    "every transformation": (InputError, {"n_transformations": "every"}),
    "no job": (InputError, {"n_jobs": 0}),
    "words for jobs": (InputError, {"n_jobs": "two"}),
    "half a component": (InputError, {"n_components": 1.5}),
}


@pytest.mark.parametrize("case", INVALID)
def test_errors(case):
    """Invalid arguments raise errors."""
    error, options = INVALID[case]
    with pytest.raises(error, match="must"):
        tci(cloud(), options.pop("source", "pca"), **options)
