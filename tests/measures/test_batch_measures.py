"""Measures of batches and labels in single-cell integration, against scib-metrics and plain twins."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse, stats

import dreval
from dreval.errors import InputError, UndefinedMeasure, UnknownName

ORACLE = json.loads(
    (Path(__file__).parents[1] / "validation" / "oracles" / "scib_metrics_cells.json").read_text("utf-8")
)
NAMES = ["ilisi", "clisi", "kbet", "graph_connectivity", "silhouette_batch", "isolated_labels"]


def cells(seed: int = 0, n: int = 90, tied: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, three labels and three batches; the last label is in two of them."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    batch = np.where(labels == 2, 1 + np.arange(n) // 3 % 2, np.arange(n) // 3 % 3)
    Y = rng.normal(size=(n, 2)) + 2.0 * labels[:, None] + np.c_[batch == 0, batch == 1]
    return (np.round(Y) if tied else Y), labels, batch


@pytest.mark.parametrize("case", ORACLE["cases"], ids=["seed 0", "seed 1", "ties"])
def test_numbers_are_those_of_scib_metrics(case: dict[str, object]) -> None:
    """Values of points at a tight tolerance, medians at that of scib-metrics; edges of the graph in both directions."""
    Y, labels, batch = (np.array(case[name]) for name in ("Y", "labels", "batch"))
    ev = dreval.Evaluation(Y, {"e": Y}, labels=labels, batch=batch, random_state=0)
    res = ev.run(NAMES, None, None, options={name: {"perplexity": 20} for name in ("ilisi", "clisi")})
    points, value = res.points["e"], res.table.set_index("measure")["value"]
    for name in ("silhouette_batch", "isolated_labels"):
        assert value[name] == pytest.approx(case[name], abs=1e-12)
    if (Y == np.round(Y)).all():  # scib-metrics has one order of ties, dreval the mean over all
        return
    lisi = {name: np.array(values) for name, values in case["lisi"].items()}
    assert_allclose(points["ilisi"], (lisi["ilisi"] - 1) / 2, atol=1e-9)
    assert_allclose(points["clisi"], (3 - lisi["clisi"]) / 2, atol=1e-9)
    for name in ("ilisi", "clisi"):
        assert value[name] == points[name].mean()
        assert points[name].median() == pytest.approx(case[name], abs=5e-6)
    for name in ("kbet", "graph_connectivity"):
        assert value[name] == pytest.approx(case[name], abs=1e-12)
    assert case["graph_connectivity_directed"] <= case["graph_connectivity"]


def _weights(distances: np.ndarray, perplexity: int) -> np.ndarray:
    """Return weights exp(-beta d) whose entropy is that of the perplexity, by scipy's root finder."""
    from scipy.optimize import brentq

    def weights(power: float) -> np.ndarray:
        raw = np.exp(-np.exp(power) * (distances - distances.min()))
        return raw / raw.sum()

    def gap(power: float) -> float:
        return stats.entropy(weights(power)) - np.log(perplexity)

    return weights(brentq(gap, -20, 20, xtol=1e-13) if gap(20) < 0 < gap(-20) else 20)  # else too many equal ones


@pytest.mark.parametrize("tied", [False, True])
def test_lisi_of_a_plain_twin(tied: bool) -> None:
    """Values are those of a loop with weights by a root finder; points tied with the last neighbor share its weight."""
    Y, labels, batch = cells(1, 60, tied)
    D = np.sqrt(((Y[:, None] - Y[None]) ** 2).sum(axis=2))
    expected = {"ilisi": [], "clisi": []}
    for i in range(60):
        neighbors = np.array([j for j in np.argsort(np.round(D[i], 9), kind="stable") if j != i])
        far = np.round(D[i, neighbors], 9)
        w, edge = _weights(far[:14], 5), far == far[13]
        weights = np.where(edge, w[edge[:14]].sum() / edge.sum(), np.r_[w, np.zeros(45)])
        for name, codes in (("ilisi", batch), ("clisi", labels)):
            effective = 1 / sum(weights[codes[neighbors] == c].sum() ** 2 for c in range(3))
            expected[name].append((effective - 1) / 2 if name == "ilisi" else (3 - effective) / 2)
    assert dreval.ilisi(Y, batch=batch, perplexity=5) == pytest.approx(np.mean(expected["ilisi"]), abs=1e-8)
    assert dreval.clisi(Y, labels=labels, perplexity=5) == pytest.approx(np.mean(expected["clisi"]), abs=1e-8)


@given(seed=st.integers(0, 50), n=st.integers(24, 60))
def test_the_other_four_of_plain_twins(seed: int, n: int) -> None:
    """Values are those of scipy's chi-squared test, a search through the graph, and scikit-learn's silhouettes."""
    from sklearn.metrics import silhouette_samples

    Y, labels, batch = cells(seed, n)
    D = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    order = np.argsort(D, axis=1, kind="stable")
    share = np.bincount(batch) / n
    accepted = [
        stats.chisquare(np.bincount(batch[near], minlength=3), 10 * share).pvalue >= 0.1 for near in order[:, :10]
    ]
    assert dreval.kbet(Y, batch=batch, size=10, alpha=0.1) == np.mean(accepted)

    parts = []
    for c in range(3):
        open_points, visited, largest = set(np.flatnonzero(labels == c)), set(), 0
        for start in open_points:
            piece, todo = set(), [start] if start not in visited else []
            while todo:
                i = todo.pop()
                piece.add(i)
                ends = {j for j in open_points if j in order[i, 1:4] or i in order[j, 1:4]}
                todo += ends - piece - set(todo)
            visited |= piece
            largest = max(largest, len(piece))
        parts.append(largest / len(open_points))
    assert dreval.graph_connectivity(Y, labels=labels, n_neighbors=3) == pytest.approx(np.mean(parts), abs=1e-15)

    within = [
        np.mean(1 - np.abs(silhouette_samples(Y[labels == c], batch[labels == c]))) for c in range(3)
    ]  # each label has at least two batches
    assert dreval.silhouette_batch(Y, labels=labels, batch=batch) == pytest.approx(np.mean(within), abs=1e-12)
    isolated = np.mean((1 + silhouette_samples(Y, labels)[labels == 2]) / 2)
    assert dreval.isolated_labels(Y, labels=labels, batch=batch) == pytest.approx(isolated, abs=1e-12)


def test_best_and_worst_by_hand() -> None:
    """Batches at the same places, separate batches, a label in two pieces, and noise have their values by hand."""
    rng = np.random.default_rng(0)
    n = 120
    Y, batch, labels = rng.normal(size=(n, 2)), np.arange(n) % 2, np.arange(n) // 60
    apart = Y + 100.0 * batch[:, None]
    assert dreval.ilisi(apart, batch=batch, perplexity=5) == pytest.approx(0, abs=1e-9)
    assert dreval.kbet(apart, batch=batch, size=10) == 0
    assert dreval.silhouette_batch(apart, labels=labels, batch=batch) < 0.05
    twins = np.repeat(rng.normal(size=(n // 2, 2)), 2, axis=0)  # each place has one point of both batches
    assert dreval.kbet(twins, batch=batch, size=20) == 1
    assert dreval.silhouette_batch(twins, labels=labels, batch=batch) > 0.95
    single = np.zeros(n, int)
    torn = np.where(np.arange(n)[:, None] < 30, Y + 50, Y)
    assert dreval.graph_connectivity(torn, labels=single, n_neighbors=10) == 0.75
    assert dreval.isolated_labels(100.0 * np.c_[labels, labels], labels=labels, batch=batch) == 1


def test_random_places_mix_batches_completely() -> None:
    """Noise reaches the chance level of a measure of mixing; a good embedding is not far above it."""
    Y, labels, batch = cells(3, 150)
    noise = np.random.default_rng(4).normal(size=(150, 2))
    ev = dreval.Evaluation(Y, {"Y": Y, "noise": noise}, labels=labels, batch=batch, random_state=0)
    res = ev.run(["ilisi", "kbet", "silhouette_batch"], None, "points", options={"kbet": {"size": 15}})
    table = res.table.set_index(["embedding", "measure"])
    for name in ("ilisi", "kbet", "silhouette_batch"):
        row = table.loc[("noise", name)]
        assert row["value"] == pytest.approx(row["chance"], abs=0.12)
        assert row["value"] > table.loc[("Y", name), "value"]
        assert row["conf_low"] <= row["value"] <= row["conf_high"]


@pytest.mark.parametrize("ci", ["points", "subsampling"])
def test_few_neighborhoods_have_no_interval(ci: str) -> None:
    """Below ten times the size of a neighborhood kBET has a value, a note with both numbers, and no interval."""
    Y, _labels, batch = cells(3, 150)
    ev = dreval.Evaluation(Y, {"Y": Y + np.random.default_rng(0).normal(size=Y.shape)}, batch=batch, random_state=0)
    few, enough = (ev.run("kbet", None, ci, options={"kbet": {"size": size}}).table.iloc[0] for size in (16, 15))
    assert few["note"].endswith("no interval: 150 points are fewer than the 160 that it needs")
    assert np.isfinite(few["value"])
    assert np.isnan(few[["se", "conf_low", "conf_high"]].astype(float)).all()
    assert np.isfinite(enough[["se", "conf_low", "conf_high"]].astype(float)).all()


def test_notes_on_batches() -> None:
    """Notes report a reduced perplexity, rough tests, labels that are left out, and the isolated labels."""
    Y, labels, batch = cells(0, 40)
    rare = np.where(np.arange(40) < 2, 5, batch)
    expected = np.where(labels == 1, 1, batch)
    ev = dreval.Evaluation(Y, {"e": Y}, labels=labels, batch=rare, random_state=0)
    results = ev.run(["ilisi", "kbet", "isolated_labels"], None, None, options={"kbet": {"size": 20}})
    results = results.table.set_index("measure")["note"]
    assert "perplexity 13, which is as much as 40 points allow" in results["ilisi"]
    assert "expected to hold 1 points of the smallest batch" in results["kbet"]
    assert "1 of 3 labels are in 2 of 4 batches" in results["isolated_labels"]
    ev = dreval.Evaluation(Y, {"e": Y}, labels=labels, batch=expected, random_state=0)
    results = ev.run(["silhouette_batch"], None, None).table.set_index("measure")["note"]
    assert "are left out: 1" in results["silhouette_batch"]


def test_batches_come_as_labels_do() -> None:
    """Batches are a column of the data, a vector or a frame in another order; none may be missing or all equal."""
    Y, _, batch = cells(0, 60)
    frame = pd.DataFrame({"u": Y[:, 0], "v": Y[:, 1], "site": batch}, index=[f"c{i}" for i in range(60)])
    value = dreval.ilisi(Y, batch=batch, perplexity=5)
    ev = dreval.Evaluation(frame, {"e": Y}, batch="site", random_state=0)
    run = {"options": {"ilisi": {"perplexity": 5}}, "tests": None, "ci": None}
    assert ev.data.columns == ("u", "v")
    assert ev.run("ilisi", **run).table["value"].item() == value
    assert "batch=batch" in ev.run("ilisi", **run).recipe["call"]
    shuffled = frame[["site"]].sample(frac=1, random_state=0)
    ev = dreval.Evaluation(frame.drop(columns="site"), {"e": Y}, batch=shuffled, random_state=0)
    assert ev.run("ilisi", **run).table["value"].item() == value
    with pytest.raises(InputError, match="`batch` must be complete: got 1 points without a batch"):
        dreval.ilisi(Y, batch=[None, *batch[1:].tolist()])
    with pytest.raises(InputError, match=r"^`batch` must be batches .* write codes of batches as whole numbers"):
        dreval.ilisi(Y, batch=Y[:, 0])
    with pytest.raises(InputError, match=r"^`batch` must be one value .* Name one: batch='file.csv:column'"):
        dreval.ilisi(Y, batch=frame)
    assert [str(note) for note in dreval.Evaluation(Y, {"e": Y}, batch=np.arange(60)).data.notes] == [
        "`batch` has 60 different values for 60 points."
    ]
    with pytest.raises(UnknownName, match="Did you mean 'site'"):
        dreval.Evaluation(frame, {"e": Y}, batch="Sites")
    with pytest.raises(UndefinedMeasure, match="`batch` must have at least 2 batches"):
        dreval.kbet(Y, batch=np.zeros(60, int))
    with pytest.raises(UndefinedMeasure, match="`batch` must have a label of several batches"):
        dreval.silhouette_batch(Y, labels=batch, batch=batch)
    with pytest.raises(UndefinedMeasure, match="`alpha` must be less than 1"):
        dreval.kbet(Y, batch=batch, alpha=1.0)
    with pytest.raises(InputError, match="`perplexity` must be an integer >= 2"):
        dreval.ilisi(Y, batch=batch, perplexity=1)
    with pytest.raises(InputError, match="`size` must be an integer >= 2"):
        dreval.kbet(Y, batch=batch, size=1)


def test_a_missing_batch_variable_affects_no_other_measure() -> None:
    """A measure without batches has a row with the reason and a warning; "all" leaves it out; a study says more."""
    Y, labels, _ = cells(0, 60)
    ev = dreval.Evaluation(Y, {"e": Y}, labels=labels, random_state=0)
    with pytest.warns(dreval.errors.InputWarning, match="^kbet: needs batches; pass batch= to Evaluation$"):
        table = ev.run(["kbet", "trustworthiness"], None, None).table.set_index("measure")
    assert np.isnan(table.loc["kbet", "value"])
    assert table.loc["trustworthiness", "value"] == 1
    assert "batch" not in " ".join(ev.run("all", None, None).table["note"])


def test_a_study_has_batches(tmp_path: Path) -> None:
    """Batches are a part of a data set, also where points are sampled."""
    Y, labels, batch = cells(0, 60)
    data = {"mine": {"data": Y, "labels": labels, "batch": batch}, "other": Y}
    study = dreval.Study(tmp_path / "s.journal", data, ["pca"], ["ilisi"], subsample=0.8, random_state=0)
    study.run()
    table = study.table().set_index("dataset")
    assert 0 < table.loc["mine", "value"] < 1
    assert "'batch': ...}} to Study" in table.loc["other", "note"]


def test_labels_with_gaps_keep_their_batches() -> None:
    """The value is that of the labeled points with their batches."""
    Y, labels, batch = cells(0, 60)
    gaps = [None if i < 10 else int(c) for i, c in enumerate(labels)]
    expected = dreval.silhouette_batch(Y[10:], labels=labels[10:], batch=batch[10:])
    with pytest.warns(dreval.errors.InputWarning):
        assert dreval.silhouette_batch(Y, labels=gaps, batch=batch) == expected
    ev = dreval.Evaluation(sparse.csr_array(Y), {"e": Y}, labels=gaps, batch=batch, random_state=0)
    assert ev.run("silhouette_batch", None, None).table["value"].item() == expected


@given(seed=st.integers(0, 50), n=st.integers(24, 60))
def test_no_order_of_ties_matters(seed: int, n: int) -> None:
    """Several points at a place: rows sorted by batch and label and shuffled rows have the same value."""
    Y, labels, batch = cells(seed, n, tied=True)
    if seed % 2:
        m = n // 3 * 3
        Y, labels, batch = np.repeat(Y[: n // 3], 3, axis=0), labels[:m], batch[:m]
    order = np.lexsort([labels, batch])
    values = []
    for rows in (order, np.random.default_rng(seed).permutation(len(Y))):
        part = Y[rows]
        variables = {"labels": labels[rows], "batch": batch[rows]}
        values.append(
            [
                dreval.ilisi(part, batch=variables["batch"], perplexity=4),
                dreval.clisi(part, labels=variables["labels"], perplexity=4),
                dreval.kbet(part, batch=variables["batch"], size=10),
                dreval.graph_connectivity(part, labels=variables["labels"], n_neighbors=3),
                dreval.silhouette_batch(part, **variables),
            ]
        )
    assert_allclose(*values, atol=1e-9)


def test_equal_batches_on_two_places_are_mixed() -> None:
    """Where all points of a place are tied, neighbors have the shares of the batches at this place."""
    Y = np.repeat([[0.0, 0.0], [1.0, 0.0]], 100, axis=0)
    batch, labels = np.tile(np.repeat([0, 1], 50), 2), np.repeat([0, 1], 100)
    assert dreval.ilisi(Y, batch=batch) == pytest.approx(1, abs=3e-4)  # without the point itself
    assert dreval.kbet(Y, batch=batch) == 1
    assert dreval.graph_connectivity(Y, labels=labels, n_neighbors=5) == 1
    assert dreval.clisi(np.zeros((60, 2)), labels=np.repeat([0, 1], 30)) < 0.01


def test_no_test_is_computed_that_cannot_reject() -> None:
    """With nearly all points in each neighborhood no test can reject; the bound for many batches agrees."""
    from dreval.measures.batches import _most_uneven

    rng = np.random.default_rng(0)
    Y, batch = rng.normal(size=(60, 2)), np.arange(60) % 2
    with pytest.raises(UndefinedMeasure, match=r"`size` must leave out enough points .* got 50 of 60 points"):
        dreval.kbet(Y, batch=batch)
    assert dreval.kbet(Y + 50 * batch[:, None], batch=batch, size=20) == 0
    for _ in range(20):
        sizes = rng.integers(2, 9, 3)
        n, k = int(sizes.sum()), int(rng.integers(2, sizes.sum()))
        largest = 0.0
        for a in range(min(k, sizes[0]) + 1):
            for b in range(min(k - a, sizes[1]) + 1):
                if k - a - b <= sizes[2]:
                    counts, expected = np.array([a, b, k - a - b]), k * sizes / n
                    largest = max(largest, float(((counts - expected) ** 2 / expected).sum()))
        assert _most_uneven(sizes, k) == pytest.approx(largest, abs=1e-9)
        assert largest <= n - k + 1e-9


@pytest.mark.parametrize(("measures", "is_noted"), [("trustworthiness", True), (["trustworthiness", "ilisi"], False)])
def test_unused_batches_are_noted(measures, is_noted):
    """A note says that no requested measure uses the batches, and names measures that do."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    ev = dreval.Evaluation(X, {"a": X[:, :2]}, batch=np.arange(40) % 2, n_neighbors=5, random_state=0)

    assert ("batch.unused" in set(ev.run(measures, None, None).notes["code"])) == is_noted
