"""Goals, and the measures that the experiment with known defects recommends for each."""

import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

import dreval
from dreval.errors import UnknownName
from dreval.measures import core as own
from dreval.registry import MEASURES

VIGNETTES = Path(__file__).parents[2] / "vignettes"


@pytest.fixture(scope="module")
def defects():
    """The script of the experiment."""
    sys.path.insert(0, str(VIGNETTES))
    import defects

    yield defects
    sys.path.remove(str(VIGNETTES))


def test_the_stored_experiment_is_whole(defects):
    """Every measure that can be compared, every defect at every grade, every data set, equally many draws."""
    rows = own.detections()
    graded = rows[rows["grade"] > 0]
    expected = itertools.product(defects.DATA, defects.measures(), defects.DEFECTS, range(1, own.N_GRADES + 1))

    assert sorted(zip(*(graded[key] for key in ("data", "measure", "change", "grade")), strict=True)) == sorted(
        expected
    )
    assert graded["draws"].nunique() == 1
    assert {change for goal in own.GOALS.values() for change in goal.defects} <= {*defects.DEFECTS}
    for change, (_, kind) in defects.HARMLESS.items():
        declared = {card.name for card in MEASURES.cards() if kind in card.invariances} & {*defects.measures()}
        assert {*rows.loc[rows["change"] == change, "measure"]} == declared


def test_harmless_changes_are_harmless():
    """No measure differs where its card declares an invariance."""
    alarms = own.false_alarms(own.detections())

    assert alarms[alarms > 0].empty


@each("goal", own.GOALS)
def test_a_recommendation_is_the_greedy_cover(goal):
    """The recommended measures are those of a search over every measure at every step."""
    recommendation, rows = dreval.recommend(goal), own.detections()
    names = [card.name for card in MEASURES.cards() if goal in card.goals]
    assert sorted(recommendation.table["measure"]) == sorted(names)
    assert list(recommendation.table["measure"][: len(recommendation.measures)]) == list(recommendation.measures) != []
    if not own.GOALS[goal].defects:
        assert set(recommendation.measures) == {name for name in names if MEASURES.card(name).chance is not None}
        return

    rows = rows[rows["change"].isin(own.GOALS[goal].defects)]
    rates, barred = {}, set()
    for name in names:
        part = rows[rows["measure"] == name]
        cells = part.groupby(["change", "grade"])[["worse", "better", "draws"]].sum()
        if len(part) and part["tested"].all():
            rates[name] = (cells["worse"] / cells["draws"]).to_numpy()
            top = (cells["worse"] / cells["draws"]).xs(4, level="grade")
            barred |= {name} if (cells["better"] / cells["draws"] >= 0.5).any() or not (top >= 0.8).any() else set()
    open_, chosen = [name for name in sorted(rates) if name not in barred], []
    while len(chosen) < 3:
        covered = [np.max([rates[chosen_name] for chosen_name in [*chosen, name]], axis=0).mean() for name in open_]
        before = np.max([rates[chosen_name] for chosen_name in chosen], axis=0).mean() if chosen else -np.inf
        if max(covered) - before < 0.02:
            break
        chosen.append(open_[int(np.argmax(covered))])

    assert list(recommendation.measures) == chosen
    detected = recommendation.table.set_index("measure")["detected"]
    assert all(np.isclose(detected[name], rates[name].mean()) for name in rates)


@given(st.lists(st.tuples(*[st.integers(0, 10)] * 4), min_size=1, max_size=4))
def test_a_defect_is_detected_from_the_first_grade_of_lasting_detection(worse):
    """Grades agree with a search from the top; 80 % suffice, at all higher grades as well."""
    rows = [
        {"measure": "m", "change": f"c{c}", "grade": g + 1, "draws": 10, "worse": w, "better": 0, "tested": True}
        for c, grades in enumerate(worse)
        for g, w in enumerate(grades)
    ]
    lowest = own.first_seen(pd.DataFrame(rows)).loc["m"]

    for c, grades in enumerate(worse):
        detected = [g + 1 for g in range(4) if min(grades[g:]) >= 8]
        assert lowest[f"c{c}"] == (detected[0] if detected else 0)


def test_a_preferred_defect_is_negative():
    """Half of the draws suffice."""
    cells = [(0, 0), (0, 4), (0, 5), (10, 0)]
    rows = [
        {"measure": "m", "change": "c", "grade": g + 1, "draws": 10, "worse": w, "better": b, "tested": True}
        for g, (w, b) in enumerate(cells)
    ]

    assert own.first_seen(pd.DataFrame(rows)).loc["m", "c"] == -3


@each("goal", own.GOALS)
def test_a_recommendation_prints_in_80_columns(goal):
    """The recommended measures come first; the question and the names of the others are printed."""
    recommendation = dreval.recommend(goal)
    text = repr(recommendation)

    assert max(map(len, text.splitlines())) <= 80
    assert " ".join(text.split()).startswith(f"For {goal} use {', '.join(recommendation.measures)}. question: ")
    assert recommendation.question in " ".join(text.split())
    assert all(re.search(rf"\b{name}\b", text) for name in recommendation.table["measure"])
    assert f"'{goal}': {recommendation.question}" in " ".join((dreval.recommend.__doc__ or "").split())


def test_a_recommendation_runs():
    """``Evaluation.run`` accepts the recommended measures."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    recommendation = dreval.recommend("neighbors")
    results = dreval.Evaluation(X, {"Y": X[:, :2]}, random_state=0).run(list(recommendation.measures), tests=None)

    assert set(results.table["measure"]) == set(recommendation.measures)


def test_an_unknown_goal_gets_the_nearest():
    """The error lists all goals."""
    with pytest.raises(UnknownName, match=r"(?s)'neighbors'"):
        dreval.recommend("neighbours")


def test_changes_match_their_description(defects):
    """Harmless changes keep distances, or their order; defects grow with the grade and leave other points alone."""
    from scipy.spatial.distance import pdist

    for data in defects.DATA:
        draw = defects.drawn(data, 0)
        base = pdist(draw.good)
        for change, power in (("turned", 1), ("moved", 1), ("scaled", 1), ("warped", 2)):
            ((_, Z),) = defects.changed(draw, data, 0, change)
            ratio = pdist(Z) ** power / base
            assert np.allclose(ratio, ratio[0])
        for change in defects.DEFECTS:
            distances = [np.linalg.norm(Z - draw.good, axis=1).sum() for _, Z in defects.changed(draw, data, 0, change)]
            assert (np.diff(distances) > 0).all(), (data, change, distances)
