"""Stability of methods: equal and random maps, halves and seeds, the nested share, journal, evaluation."""

from __future__ import annotations

import dataclasses
import sqlite3
from contextlib import closing
from functools import partial

import numpy as np
import pandas as pd
import pytest
from figure_reading import cut_off, overlapping, texts
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text
from method_runs import counting
from numpy.testing import assert_allclose, assert_array_equal

import dreval
from dreval.errors import InputError, MethodFailed, UndefinedMeasure, UnknownName
from dreval.report._style import QUALITY_RAMP
from dreval.report.figures.maps import _cloud_points


def data(n: int = 48, p: int = 4) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p)) * np.linspace(4, 1, p)


def first_columns(X, n_components):
    """No noise at all: the same map of every point, whatever the others are."""
    return X[:, :n_components]


def noisy(X, n_components, random_state, size=1.0):
    """The first columns with noise of its own for each seed."""
    return X[:, :n_components] + size * np.random.default_rng(random_state).normal(size=(len(X), n_components))


def test_a_fixed_map_comes_out_again_in_full():
    for over in ("auto", "halves"):
        found = dreval.stability(data(), first_columns, over=over, n_replicates=8, random_state=1)
        assert found.recipe["parameters"]["over"] == "halves"
        assert float(found) == pytest.approx(1.0)
        assert np.nanmax(found.points["local_variation"]) < 1e-20
        assert np.nanmax(found.points["global_variation"]) < 1e-20
        assert np.nanmax(found.points["radius"]) < 1e-7


def test_noise_does_not_come_out_again():
    found = dreval.stability(data(), partial(noisy, size=1e6), n_replicates=20, random_state=1)
    assert found.recipe["parameters"]["over"] == "seeds"
    assert abs(float(found)) < 0.03
    assert found.parts["conf_low"] < float(found) < found.parts["conf_high"]
    assert (found.points["n_replicates"] == 20).all()


def test_the_share_of_the_seeds_is_told_at_one_number_of_points():
    """A method without sampling noise has a share of 1, one without seed noise none."""
    both = dreval.stability(data(200), noisy, over="both", n_replicates=12, random_state=0)
    assert both.n_resamples == 36
    assert both.parts["seed_share"] == pytest.approx(1.0, abs=0.1)

    def half_only(X, n_components, random_state):
        """Noise that depends on which points are there, not on the seed."""
        return noisy(X, n_components, int(abs(X[0, 0]) * 1e6) % 2**31)

    sampled = dreval.stability(data(200), half_only, over="both", n_replicates=12, random_state=0)
    assert sampled.parts["same_half"] == pytest.approx(1.0)
    assert sampled.parts["seed_share"] == pytest.approx(0.0, abs=1e-9)
    assert any(one.code == "stability.halved" for one in sampled.notes)


def test_points_that_move_are_found():
    """A method that puts three points anywhere, and all others in their place."""

    def restless(X, n_components, random_state):
        Y = X[:, :n_components].copy()
        Y[:3] = np.random.default_rng(random_state).uniform(-8, 8, size=(3, n_components))
        return Y

    found = dreval.stability(data(80), restless, n_replicates=12, random_state=0)
    for column, largest in (
        ("agreement", False),
        ("radius", True),
        ("local_variation", True),
        ("global_variation", True),
    ):
        order = np.argsort(found.points[column].to_numpy() * (-1 if largest else 1))
        assert set(order[:3]) == {0, 1, 2}, column
    found.plot("map")
    found.plot("clouds", points=[0, 5])
    with pytest.raises(InputError, match="points"):
        found.plot("clouds", points=[])
    with pytest.raises(InputError, match="points"):
        found.plot("clouds", points=[80])
    with pytest.raises(UnknownName, match="clouds"):
        found.plot("cloud of points")


def test_the_interval_covers_the_value_of_many_replicates():
    truth = float(dreval.stability(data(), noisy, n_replicates=60, random_state=99))
    inside = 0
    for run in range(30):
        found = dreval.stability(data(), noisy, n_replicates=8, random_state=run)
        inside += found.parts["conf_low"] <= truth <= found.parts["conf_high"]
    assert inside >= 24


def one_place(X, n_components, random_state):
    """All points in one place, whatever the seed is."""
    return np.zeros((len(X), n_components)) * random_state


def test_equal_seeds_are_said():
    def fixed(X, n_components, random_state):
        return X[:, :n_components]

    found = dreval.stability(data(), fixed, over="seeds", n_replicates=3, random_state=0)
    assert [one.code for one in found.notes] == ["stability.same_seeds"]
    assert found.replicates.shape == (3, 48, 2)
    assert_allclose(found.map, found.mean)
    other = dreval.stability(data(), fixed, n_replicates=3, random_state=0)  # "auto" takes halves then
    assert other.recipe["parameters"]["over"] == "halves"
    constant = dreval.stability(data(), one_place, n_replicates=3)
    assert float(constant) == 0.0
    assert [one.code for one in constant.notes] == ["stability.constant"]


def test_halves_compare_one_number_of_neighbors():
    found = dreval.stability(data(), noisy, over="halves", n_replicates=5, random_state=0)
    k = found.recipe["parameters"]["n_neighbors"]
    assert k < 15
    assert any(one.code == "stability.fewer" and dict(one.values)["k"] == k for one in found.notes)
    same = dreval.stability(data(), noisy, over="halves", n_replicates=5, n_neighbors=k, random_state=0)
    assert float(same) == float(found)
    pd.testing.assert_frame_equal(same.points, found.points)  # of distances to the k nearest, too
    assert found.parts["conf_high"] <= 1.0


@pytest.mark.parametrize("n", [40, 48, 101])
def test_the_number_of_neighbors_of_halves_depends_on_the_number_of_points_alone(n):
    """Half of the points that 999 of 1000 pairs of halves share, by drawing such pairs."""
    X = np.random.default_rng(n).normal(size=(n, 3))
    ks = {
        dreval.stability(X, "pca", n_neighbors=20, n_replicates=R, random_state=s).recipe["parameters"]["n_neighbors"]
        for R, s in [(3, 0), (3, 1), (8, 2)]
    }
    rng = np.random.default_rng(0)
    halves = [np.isin(np.arange(n), rng.choice(n, n // 2, replace=False)) for _ in range(20_000)]
    shared = np.sort([(one & other).sum() for one, other in zip(halves[::2], halves[1::2], strict=True)])
    assert ks == {(shared[10] - 1) // 2}


def test_seeds_that_differ_by_rounding_are_equal():
    """What a solver leaves in the last digits is no other map: halves are taken, and seeds are said to be equal."""

    def rounding(X, n_components, random_state):
        return X[:, :n_components] * (1 + 1e-15 * (random_state % 7))

    assert dreval.stability(data(), rounding, n_replicates=3, random_state=0).recipe["parameters"]["over"] == "halves"
    found = dreval.stability(data(), rounding, over="seeds", n_replicates=4, random_state=0)
    assert [one.code for one in found.notes] == ["stability.same_seeds"]


def test_a_median_of_few_points_is_said():
    """Three halves: few points are with a neighbor in all three."""
    X = np.random.default_rng(0).normal(size=(60, 3)) * [3, 2, 1]
    few = dreval.stability(X, "pca", n_replicates=3, random_state=0)
    known = int(few.points["local_variation"].notna().sum())
    assert known < 30
    assert {"known": known, "n": 60} in [dict(one.values) for one in few.notes if one.code == "stability.few_points"]
    many = dreval.stability(X, "pca", n_replicates=12, random_state=0)
    assert not any(one.code == "stability.few_points" for one in many.notes)


def test_labels_follow_the_halves():
    labels = np.repeat([0, 1], 24)

    def supervised(X, n_components, labels):
        assert len(labels) == len(X)
        return X[:, :n_components] + 0.0 * np.asarray(labels)[:, None]

    found = dreval.stability(data(), supervised, over="halves", n_replicates=3, labels=labels, random_state=0)
    assert float(found) == pytest.approx(1.0)


def test_refusals():
    X = data()
    with pytest.raises(UndefinedMeasure, match="embed other data"):
        dreval.stability(X, X[:, :2])
    with pytest.raises(UndefinedMeasure, match="seeds change nothing"):
        dreval.stability(X, "pca", over="seeds")
    with pytest.raises(InputError, match="n_replicates"):
        dreval.stability(X, "pca", n_replicates=2)
    with pytest.raises(UnknownName, match="halves"):
        dreval.stability(X, "pca", over="half")
    with pytest.raises(InputError, match="halves"):
        dreval.stability(X[:30], "pca", n_neighbors=3)

    def on_all_points_only(X, n_components):
        if len(X) < 48:
            raise RuntimeError("too few")
        return X[:, :n_components]

    with pytest.raises(MethodFailed, match="too few"):
        dreval.stability(X, on_all_points_only, over="halves", n_replicates=4)


def test_a_killed_run_goes_on(tmp_path):
    path, log = tmp_path / "a.journal", tmp_path / "log"
    given = {"over": "halves", "n_replicates": 6, "random_state": 0}
    with pytest.raises(KeyboardInterrupt):
        dreval.stability(data(), partial(counting, log=str(log), stop=4), store=path, **given)
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute("SELECT COUNT(*) FROM cells").fetchone() == (3,)
    found = dreval.stability(data(), partial(counting, log=str(log), stop=4), store=path, **given)
    assert len(log.read_text()) == 7
    plain = dreval.stability(data(), partial(counting, log=str(tmp_path / "other")), **given)
    assert float(found) == float(plain)
    assert_array_equal(found.replicates, plain.replicates)


def test_an_evaluation_has_the_same_numbers(tmp_path):
    X = data(60)
    ev = dreval.Evaluation(X, {"pca": "pca", "given": X[:, :2]}, random_state=3)
    res = ev.run(["trustworthiness", "stability"], None, None, options={"stability": {"n_replicates": 5}})
    plain = dreval.stability(X, "pca", n_replicates=5, random_state=3)
    table = res.tidy()
    row = table[(table["measure"] == "stability") & (table["embedding"] == "pca")].iloc[0]
    assert (row["value"], row["chance"]) == (float(plain), 0.0)
    assert_array_equal(res.augment("pca")["stability_agreement"], plain.points["agreement"])
    missing = table[(table["measure"] == "stability") & (table["embedding"] == "given")].iloc[0]
    assert np.isnan(missing["value"])
    assert "embed other data" in missing["note"]
    res.save(tmp_path / "a.dreval")
    assert dreval.load_results(tmp_path / "a.dreval").augment("pca").equals(res.augment("pca"))
    assert "Stability" in res.report(tmp_path / "a.html").read_text()


def test_a_share_above_one_is_said():
    found = dreval.stability(data(60), noisy, over="both", n_replicates=3, random_state=0)
    said = "stability.above_one" in {one.code for one in found.notes}
    assert said == (found.parts["seed_share"] > 1)
    shares = [dreval.stability(data(60), noisy, over="both", n_replicates=3, random_state=s) for s in range(1, 8)]
    assert len({one.parts["seed_share"] > 1 for one in (found, *shares)}) == 2
    for one in shares:
        assert ("stability.above_one" in {note.code for note in one.notes}) == (one.parts["seed_share"] > 1)


def test_few_points_of_a_method_without_a_seed_need_more_points():
    with pytest.raises(InputError, match="Take more points"):
        dreval.stability(data(30), first_columns)
    with pytest.raises(InputError, match="Use over='seeds'"):
        dreval.stability(data(30), noisy, over="halves")


def test_a_failure_says_once_what_to_do():
    """The general advice where the method only raised, else that of the first failure."""

    def broken(X, n_components):
        raise RuntimeError("out of ink")

    with pytest.raises(MethodFailed, match=r"out of ink\. Run the method alone on half of the points") as caught:
        dreval.stability(np.eye(60), broken, over="halves")
    assert str(caught.value).count("alone") == 1

    def wide(X, n_components):
        return X[:, : n_components + 1]

    with pytest.raises(MethodFailed, match=r"at most 2 columns.*Return n_components columns") as caught:
        dreval.stability(np.eye(60), wide, over="halves")
    assert "alone" not in str(caught.value)


def test_clouds_are_of_points_with_many_images():
    """Of halves a point with few images can agree least by chance; those drawn have the median number or more."""
    found = dreval.stability(data(80), noisy, over="halves", n_replicates=6, random_state=0)
    counts = found.points["n_replicates"]
    drawn = _cloud_points(found, found.points["agreement"].to_numpy(), None)
    assert counts[found.points["agreement"].idxmin()] < counts.median()  # the least of all would not be drawn
    assert len(drawn) == 6
    assert counts[drawn].min() >= counts.median()


@pytest.mark.parametrize(("over", "words"), [("seeds", "other seeds"), ("halves", "halves")])
def test_figures_name_the_method_and_the_value(over, words):
    found = dreval.stability(data(), noisy, over=over, n_replicates=3, random_state=0)
    for kind in ("map", "clouds"):
        ax = found.plot(kind).axes[0]
        assert ax.get_title(loc="left") == "noisy"
        assert ax.texts[0].get_text() == f"{words}: J = {float(found):.2f}"


def a_method_with_a_very_long_name_of_its_own_and_more(X, n_components, random_state):
    return noisy(X, n_components, random_state)


@pytest.mark.parametrize("kind", ["map", "clouds"])
def test_long_names_of_methods_fit_the_figure(kind):
    """The name is shortened, and lies on no other words."""
    name = a_method_with_a_very_long_name_of_its_own_and_more
    figure = dreval.stability(data(), name, over="seeds", n_replicates=3, random_state=0).plot(kind)
    title = figure.axes[0].get_title(loc="left")
    assert title.startswith("a_method")
    assert "…" in title
    assert cut_off(figure) == []
    assert overlapping(figure) == []


@pytest.mark.parametrize(("size", "whole"), [((6, 5), False), ((14, 12), True)])
@pytest.mark.parametrize("kind", ["map", "clouds"])
def test_in_small_axes_everything_lies_within_them(kind, size, whole):
    """Below and beside the Axes is nothing, and words without room are left out; in large ones they stand."""
    name = a_method_with_a_very_long_name_of_its_own_and_more
    found = dreval.stability(data(), name, over="seeds", n_replicates=3, random_state=0)
    made = Figure(figsize=size)
    ax = made.subplots(2, 2)[0, 1]
    cell = ax.get_window_extent()
    found.plot(kind, ax=ax)
    made.draw_without_rendering()
    shown = [text for text in ax.findobj(Text) if text.get_text() and text.get_visible()]
    boxes = [text.get_window_extent() for text in shown] + [one.get_window_extent() for one in ax.child_axes]
    assert min(box.x0 for box in boxes) >= cell.x0 - 1
    assert max(box.x1 for box in boxes) <= cell.x1 + 1
    assert min(box.y0 for box in boxes) >= cell.y0 - 1
    words = [text.get_text() for text in shown]
    assert any("J = " in one for one in words)
    if kind == "map":
        (bar,) = ax.child_axes
        lowest = ax.transData.transform((0, -1))[1]  # where the points end
        assert bar.get_window_extent().y1 <= lowest + 1
        assert any("(worse)" in one for one in words) == whole
        assert any("Neighbor agreement" in one for one in words) == whole


def test_maps_of_equal_replicates_are_best_everywhere():
    """Agreement 1 has the best color, and the scale goes from chance to it; agreement 0 has the worst."""

    def same(X, n_components, random_state):
        return X[:, :n_components]

    found = dreval.stability(data(), same, over="seeds", n_replicates=3)
    none = dataclasses.replace(found, points=found.points.assign(agreement=0.0))
    for record, level in ((found, -1), (none, 0)):
        figure = record.plot()
        colors = {patch.get_edgecolor() for patch in figure.axes[0].patches}
        assert colors == {to_rgba(QUALITY_RAMP[level])}
        assert {"0.000 (worse)", "1.000 (better)"} <= set(texts(figure))


def test_the_clouds_of_one_column_say_that_heights_mean_nothing():
    """A strip of points has heights of its own making; of two columns nothing is said."""

    def line(X, n_components, random_state):
        return noisy(X, n_components, random_state)[:, :1]

    for method, d in ((line, 1), (noisy, 2)):
        found = dreval.stability(data(), method, over="seeds", n_replicates=3, n_components=d, random_state=0)
        said = texts(found.plot("clouds"))
        assert ("One column: the height of a point means nothing." in said) == (d == 1)
        assert any(words.endswith(", one column") for words in said) == (d == 1)


def test_small_values_are_printed_without_a_power():
    """Two places, and three below .01."""
    found = dreval.stability(data(), noisy, over="seeds", n_replicates=3, random_state=0)
    for value, words in ((0.002, "0.002"), (-0.002, "\N{MINUS SIGN}0.002"), (0.0001, "0.000"), (0.123, "0.12")):
        made = dataclasses.replace(found, value=value).plot()
        assert f"other seeds: J = {words}" in texts(made)
