"""Misplaced points: which are listed, under which name, and what is guaranteed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import dreval
from dreval.errors import InputError, UndefinedMeasure, UnknownName

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) + np.diag([8.0, 8.0, 8.0])[np.repeat(range(3), 20)]
LABELS = np.repeat(list("ABC"), 20)
NAMES = np.array([f"cell{i}" for i in range(60)])
Y = X @ np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
Y[[5, 30]] = Y[[30, 5]]  # two points change their places


def results(measures: Any = "trustworthiness", **options: Any) -> dreval.Results:
    """Return the results of a map with two points in wrong places."""
    settings = {"labels": LABELS, "ids": NAMES, "n_neighbors": 6, "random_state": 0, **options}
    return dreval.Evaluation(X, {"map": Y}, **settings).run(measures, None, None)


def test_the_exchanged_points_are_found_by_name() -> None:
    """They are the worst, with the classes of their neighbors, and the figure names them."""
    record = results().misplaced_points("map")
    worst = record.tidy().head(2)

    assert {*worst["id"]} == {"cell5", "cell30"}
    assert {tuple(row) for row in worst[["label", "class_in_data", "class_on_map"]].to_numpy()} == {
        ("A", "A", "B"), ("B", "B", "A")
    }  # fmt: skip
    assert "cell5" in {text.get_text() for text in record.plot().axes[0].texts}
    assert "cell30" in str(record)
    assert max(map(len, str(record).splitlines())) <= 80


@pytest.mark.parametrize("cutoff", ["poor", "chance", 0.9])
@pytest.mark.parametrize("measure", ["trustworthiness", "neighborhood_overlap", "mrre_false"])
def test_the_list_is_that_of_the_scores(measure: str, cutoff: Any) -> None:
    """All points at the cut-off or beyond, the worst first; the cut-off is halfway to perfect, or the chance level."""
    res = results([measure, "continuity"])
    record = res.misplaced_points("map", measure, cutoff=cutoff)
    scores = res.augment("map")[measure].to_numpy(float)
    row = res.table[res.table["measure"] == measure].iloc[0]
    higher, chance = row["direction"] == "higher", row["chance"]
    limit = {"poor": (chance + (1.0 if higher else 0.0)) / 2, "chance": chance}.get(cutoff, cutoff)
    sign = 1 if higher else -1
    expected = np.flatnonzero(sign * scores <= sign * limit)

    assert {*record.tidy()["point"]} == {*expected}
    assert (np.diff(sign * record.tidy()["score"]) >= 0).all()
    assert record.ids == NAMES[record.tidy()["point"]].tolist()


def test_it_says_that_nothing_is_guaranteed_of_points_of_the_data() -> None:
    """In the answer and in a note; a list without points needs no such sentence."""
    record, empty = results().misplaced_points("map"), results().misplaced_points("map", cutoff=-1.0)

    assert "no false-discovery guarantee" in " ".join(str(record).split())
    assert "misplaced.no_guarantee" in {note.code for note in record.notes}
    assert len(empty) == 0
    assert "no point of 60" in " ".join(str(empty).split())


def test_flagged_new_points_are_listed_with_their_rate() -> None:
    """They are the flags of ``out_of_sample``, whose false-discovery rate is controlled; points of the data are not."""
    rng = np.random.default_rng(1)
    data = rng.normal(size=(400, 4)) * [5.0, 4.0, 1.0, 1.0]
    new = np.r_[rng.normal(size=(10, 4)) * [5.0, 4.0, 1.0, 1.0], rng.normal(size=(10, 4)) * [1.0, 1.0, 60.0, 60.0]]
    ev = dreval.Evaluation(data, {"pca": "pca"}, new_data=new, new=0.4, n_neighbors=10, random_state=0)
    res = ev.run("trustworthiness", None, None)
    record, flags = res.misplaced_points("pca"), res["pca"].out_of_sample
    rows = record.tidy()[record.tidy()["kind"] == "new"]

    assert sorted(rows["id"]) == sorted(flags.points["id"][flags.flagged])
    assert (rows["p_adjusted"] <= flags.recipe["parameters"]["alpha"]).all()
    assert "misplaced.new" in {note.code for note in record.notes}
    assert re.search(
        r"new points are flagged, with a false-discovery rate of at most 0?\.1", " ".join(str(record).split())
    )


def test_points_like_noise_are_marked() -> None:
    """Where the noise test of the evaluation was run, the column has its flags."""
    ev = dreval.Evaluation(RNG.normal(size=(40, 4)), {"pca": "pca"}, n_neighbors=5, random_state=0)
    res = ev.run("trustworthiness", "noise", None, options={"noise": {"n_replicates": 19}})
    table = res.misplaced_points("pca", cutoff=2.0).tidy()

    assert len(table) == 40
    assert table.set_index("point")["like_noise"].sort_index().tolist() == res._like_noise("pca").tolist()


def test_what_cannot_be_listed_is_refused() -> None:
    """Unknown names, measures that were not run or have no points, and numbers of neighbors that were not run."""
    res = results(["trustworthiness", "procrustes_disparity"])
    with pytest.raises(UnknownName, match="map"):
        res.misplaced_points("mapp")
    with pytest.raises(InputError, match="must be a measure of points that was run"):
        res.misplaced_points("map", "continuity")
    with pytest.raises(InputError, match="must be a measure of points that was run"):
        res.misplaced_points("map", "procrustes_disparity")
    with pytest.raises(InputError, match="must be a number of neighbors that was run"):
        res.misplaced_points("map", n_neighbors=7)
    with pytest.raises(UnknownName, match="poor"):
        res.misplaced_points("map", cutoff="por")
    with pytest.raises(UndefinedMeasure, match="must be a measure of points"):
        results("procrustes_disparity").misplaced_points("map")
