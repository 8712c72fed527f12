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
from dreval.report._style import SCALE_LIGHT
from dreval.report.figures.maps import _cloud_points


def data(n: int = 48, p: int = 4) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p)) * np.linspace(4, 1, p)


def first_columns(X, n_components):
    """Return the first columns: the same map of every point, for any other points."""
    return X[:, :n_components]


def noisy(X, n_components, random_state, size=1.0):
    """Add noise that depends on the seed to the first columns."""
    return X[:, :n_components] + size * np.random.default_rng(random_state).normal(size=(len(X), n_components))


def test_a_fixed_map_is_reproduced_in_full():
    for over in ("auto", "halves"):
        record = dreval.stability(data(), first_columns, over=over, n_replicates=8, random_state=1)
        assert record.recipe["parameters"]["over"] == "halves"
        assert float(record) == pytest.approx(1.0)
        assert np.nanmax(record.points["local_variation"]) < 1e-20
        assert np.nanmax(record.points["global_variation"]) < 1e-20
        assert np.nanmax(record.points["radius"]) < 1e-7


def test_noise_is_not_reproduced():
    record = dreval.stability(data(), partial(noisy, size=1e6), n_replicates=20, random_state=1)
    assert record.recipe["parameters"]["over"] == "seeds"
    assert abs(float(record)) < 0.03
    assert record.parts["conf_low"] < float(record) < record.parts["conf_high"]
    assert (record.points["n_replicates"] == 20).all()


def test_the_share_of_the_seeds_is_reported_at_one_number_of_points():
    """A method without sampling noise has a share of 1, one without seed noise none."""
    result = dreval.stability(data(200), noisy, over="both", n_replicates=12, random_state=0)
    assert result.n_runs == 36
    assert result.parts["seed_share"] == pytest.approx(1.0, abs=0.1)

    def half_only(X, n_components, random_state):
        """Return noise that depends on which points are present, not on the seed."""
        return noisy(X, n_components, int(abs(X[0, 0]) * 1e6) % 2**31)

    sampled = dreval.stability(data(200), half_only, over="both", n_replicates=12, random_state=0)
    assert sampled.parts["same_half"] == pytest.approx(1.0)
    assert sampled.parts["seed_share"] == pytest.approx(0.0, abs=1e-9)
    assert any(note.code == "stability.halved" for note in sampled.notes)


def test_points_that_move_are_detected():
    """Of a method that puts three points anywhere, these points have the largest variation."""

    def restless(X, n_components, random_state):
        Y = X[:, :n_components].copy()
        Y[:3] = np.random.default_rng(random_state).uniform(-8, 8, size=(3, n_components))
        return Y

    record = dreval.stability(data(80), restless, n_replicates=12, random_state=0)
    for column, largest in (
        ("agreement", False),
        ("radius", True),
        ("local_variation", True),
        ("global_variation", True),
    ):
        order = np.argsort(record.points[column].to_numpy() * (-1 if largest else 1))
        assert set(order[:3]) == {0, 1, 2}, column
    record.plot("map")
    record.plot("clouds", points=[0, 5])
    with pytest.raises(InputError, match="points"):
        record.plot("clouds", points=[])
    with pytest.raises(InputError, match="points"):
        record.plot("clouds", points=[80])
    with pytest.raises(UnknownName, match="clouds"):
        record.plot("cloud of points")


@pytest.mark.slow
def test_the_interval_covers_the_value_of_many_replicates():
    truth = float(dreval.stability(data(), noisy, n_replicates=60, random_state=99))
    inside = 0
    for run in range(30):
        record = dreval.stability(data(), noisy, n_replicates=8, random_state=run)
        inside += record.parts["conf_low"] <= truth <= record.parts["conf_high"]
    assert inside >= 24


def one_place(X, n_components, random_state):
    """Put all points in one place, for every seed."""
    return np.zeros((len(X), n_components)) * random_state


def test_equal_seeds_are_noted():
    def unseeded(X, n_components, random_state):
        return X[:, :n_components]

    record = dreval.stability(data(), unseeded, over="seeds", n_replicates=3, random_state=0)
    assert [note.code for note in record.notes] == ["stability.same_seeds"]
    assert record.replicates.shape == (3, 48, 2)
    assert_allclose(record.map, record.mean)
    second = dreval.stability(data(), unseeded, n_replicates=3, random_state=0)  # "auto" takes halves then
    assert second.recipe["parameters"]["over"] == "halves"
    constant = dreval.stability(data(), one_place, n_replicates=3)
    assert float(constant) == 0.0
    assert [note.code for note in constant.notes] == ["stability.constant"]


def test_halves_compare_one_number_of_neighbors():
    record = dreval.stability(data(), noisy, over="halves", n_replicates=5, random_state=0)
    k = record.recipe["parameters"]["n_neighbors"]
    assert k < 15
    assert any(note.code == "stability.fewer" and dict(note.values)["k"] == k for note in record.notes)
    result = dreval.stability(data(), noisy, over="halves", n_replicates=5, n_neighbors=k, random_state=0)
    assert float(result) == float(record)
    pd.testing.assert_frame_equal(result.points, record.points)  # of distances to the k nearest, too
    assert record.parts["conf_high"] <= 1.0


@pytest.mark.parametrize("n", [40, 48, 101])
def test_the_number_of_neighbors_of_halves_depends_on_the_number_of_points_alone(n):
    """It is half of the points that 999 of 1000 sampled pairs of halves share."""
    X = np.random.default_rng(n).normal(size=(n, 3))
    ks = {
        dreval.stability(X, "pca", n_neighbors=20, n_replicates=R, random_state=s).recipe["parameters"]["n_neighbors"]
        for R, s in [(3, 0), (3, 1), (8, 2)]
    }
    rng = np.random.default_rng(0)
    halves = [np.isin(np.arange(n), rng.choice(n, n // 2, replace=False)) for _ in range(20_000)]
    shared = np.sort([(half & second).sum() for half, second in zip(halves[::2], halves[1::2], strict=True)])
    assert ks == {(shared[10] - 1) // 2}


def test_seeds_that_differ_by_rounding_are_equal():
    """Maps that differ in the last digits are equal: "auto" takes halves, and a note says that seeds are equal."""

    def rounding(X, n_components, random_state):
        return X[:, :n_components] * (1 + 1e-15 * (random_state % 7))

    assert dreval.stability(data(), rounding, n_replicates=3, random_state=0).recipe["parameters"]["over"] == "halves"
    record = dreval.stability(data(), rounding, over="seeds", n_replicates=4, random_state=0)
    assert [note.code for note in record.notes] == ["stability.same_seeds"]


def test_a_median_of_few_points_is_noted():
    """Of three halves, few points share three replicates with a neighbor: a note has their number."""
    X = np.random.default_rng(0).normal(size=(60, 3)) * [3, 2, 1]
    rough = dreval.stability(X, "pca", n_replicates=3, random_state=0)
    count = int(rough.points["local_variation"].notna().sum())
    assert count < 30
    assert {"known": count, "n": 60} in [
        dict(note.values) for note in rough.notes if note.code == "stability.few_points"
    ]
    precise = dreval.stability(X, "pca", n_replicates=12, random_state=0)
    assert not any(note.code == "stability.few_points" for note in precise.notes)


def test_labels_follow_the_halves():
    labels = np.repeat([0, 1], 24)

    def supervised(X, n_components, labels):
        assert len(labels) == len(X)
        return X[:, :n_components] + 0.0 * np.asarray(labels)[:, None]

    record = dreval.stability(data(), supervised, over="halves", n_replicates=3, labels=labels, random_state=0)
    assert float(record) == pytest.approx(1.0)


def test_errors():
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


def test_a_killed_run_continues(tmp_path):
    path, log = tmp_path / "a.journal", tmp_path / "log"
    options = {"over": "halves", "n_replicates": 6, "random_state": 0}
    with pytest.raises(KeyboardInterrupt):
        dreval.stability(data(), partial(counting, log=str(log), stop=4), journal=path, **options)
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute("SELECT COUNT(*) FROM cells").fetchone() == (3,)
    record = dreval.stability(data(), partial(counting, log=str(log), stop=4), journal=path, **options)
    assert len(log.read_text()) == 7
    expected = dreval.stability(data(), partial(counting, log=str(tmp_path / "other")), **options)
    assert float(record) == float(expected)
    assert_array_equal(record.replicates, expected.replicates)


def test_an_evaluation_has_the_same_numbers(tmp_path):
    X = data(60)
    ev = dreval.Evaluation(X, {"pca": "pca", "given": X[:, :2]}, random_state=3)
    res = ev.run(["trustworthiness", "stability"], None, None, options={"stability": {"n_replicates": 5}})
    expected = dreval.stability(X, "pca", n_replicates=5, random_state=3)
    table = res.table
    row = table[(table["measure"] == "stability") & (table["embedding"] == "pca")].iloc[0]
    assert (row["value"], row["chance"]) == (float(expected), 0.0)
    assert_array_equal(res.augment("pca")["stability_agreement"], expected.points["agreement"])
    missing = table[(table["measure"] == "stability") & (table["embedding"] == "given")].iloc[0]
    assert np.isnan(missing["value"])
    assert "embed other data" in missing["note"]
    res.save(tmp_path / "a.dreval")
    assert dreval.load_results(tmp_path / "a.dreval").augment("pca").equals(res.augment("pca"))
    assert "Stability" in res.report(tmp_path / "a.html").read_text()


def test_a_share_above_one_is_noted():
    record = dreval.stability(data(60), noisy, over="both", n_replicates=3, random_state=0)
    is_noted = "stability.above_one" in {share.code for share in record.notes}
    assert is_noted == (record.parts["seed_share"] > 1)
    shares = [dreval.stability(data(60), noisy, over="both", n_replicates=3, random_state=s) for s in range(1, 8)]
    assert len({share.parts["seed_share"] > 1 for share in (record, *shares)}) == 2
    for share in shares:
        assert ("stability.above_one" in {note.code for note in share.notes}) == (share.parts["seed_share"] > 1)


def test_few_points_of_a_method_without_a_seed_need_more_points():
    with pytest.raises(InputError, match="Take more points"):
        dreval.stability(data(30), first_columns)
    with pytest.raises(InputError, match="Use over='seeds'"):
        dreval.stability(data(30), noisy, over="halves")


def test_a_failure_has_one_hint():
    """The error has general advice if the method raised, else the hint of the first failure, once."""

    def raises(X, n_components):
        raise RuntimeError("out of ink")

    with pytest.raises(MethodFailed, match=r"out of ink\. Run the method alone on half of the points") as error:
        dreval.stability(np.eye(60), raises, over="halves")
    assert str(error.value).count("alone") == 1

    def wide(X, n_components):
        return X[:, : n_components + 1]

    with pytest.raises(MethodFailed, match=r"at most 2 columns.*Return n_components columns") as error:
        dreval.stability(np.eye(60), wide, over="halves")
    assert "alone" not in str(error.value)


def test_clouds_are_of_points_with_many_images():
    """The figure selects points with the median number of images or more."""
    record = dreval.stability(data(80), noisy, over="halves", n_replicates=6, random_state=0)
    counts = record.points["n_replicates"]
    points = _cloud_points(record, record.points["agreement"].to_numpy(), None)
    assert counts[record.points["agreement"].idxmin()] < counts.median()  # the least of all would not be plotted
    assert len(points) == 6
    assert counts[points].min() >= counts.median()


@pytest.mark.parametrize(("over", "text"), [("seeds", "other seeds"), ("halves", "halves")])
def test_figures_name_the_method_and_the_value(over, text):
    record = dreval.stability(data(), noisy, over=over, n_replicates=3, random_state=0)
    for kind in ("map", "clouds"):
        ax = record.plot(kind).axes[0]
        assert ax.get_title(loc="left") == "noisy"
        assert ax.texts[0].get_text() == f"stability {float(record):.2f}, {text}"


def a_method_with_a_very_long_name_of_its_own_and_more(X, n_components, random_state):
    return noisy(X, n_components, random_state)


@pytest.mark.parametrize("kind", ["map", "clouds"])
def test_long_names_of_methods_fit_the_figure(kind):
    """The name is shortened and overlaps no other text."""
    name = a_method_with_a_very_long_name_of_its_own_and_more
    figure = dreval.stability(data(), name, over="seeds", n_replicates=3, random_state=0).plot(kind)
    title = figure.axes[0].get_title(loc="left")
    assert title.startswith("a_method")
    assert "…" in title
    assert cut_off(figure) == []
    assert overlapping(figure) == []


@pytest.mark.parametrize(("size", "is_complete"), [((6, 5), False), ((14, 12), True)])
@pytest.mark.parametrize("kind", ["map", "clouds"])
def test_in_small_axes_all_text_fits(kind, size, is_complete):
    """Text that does not fit into small Axes is left out; large Axes have all text."""
    name = a_method_with_a_very_long_name_of_its_own_and_more
    record = dreval.stability(data(), name, over="seeds", n_replicates=3, random_state=0)
    figure = Figure(figsize=size)
    ax = figure.subplots(2, 2)[0, 1]
    cell = ax.get_window_extent()
    record.plot(kind, ax=ax)
    figure.draw_without_rendering()
    visible = [text for text in ax.findobj(Text) if text.get_text() and text.get_visible()]
    boxes = [text.get_window_extent() for text in visible] + [child.get_window_extent() for child in ax.child_axes]
    assert min(box.x0 for box in boxes) >= cell.x0 - 1
    assert max(box.x1 for box in boxes) <= cell.x1 + 1
    assert min(box.y0 for box in boxes) >= cell.y0 - 1
    strings = [text.get_text() for text in visible]
    assert any("stability " in child for child in strings)
    if kind == "map":
        (bar,) = ax.child_axes
        lowest = ax.transData.transform((0, -1))[1]  # where the points end
        assert bar.get_window_extent().y1 <= lowest + 1
        assert any("chance level" in child for child in strings) == is_complete
        assert any("Agreement of neighbors" in child for child in strings) == is_complete


def test_maps_of_equal_replicates_are_best_everywhere():
    """Agreement 1 has the best color and agreement 0 the worst; the scale begins at the chance level."""

    def identical(X, n_components, random_state):
        return X[:, :n_components]

    outcome = dreval.stability(data(), identical, over="seeds", n_replicates=3)
    none = dataclasses.replace(outcome, points=outcome.points.assign(agreement=0.0))
    for record, level in ((outcome, -1), (none, 0)):
        figure = record.plot()
        colors = {patch.get_edgecolor() for patch in figure.axes[0].patches}
        assert colors == {to_rgba(SCALE_LIGHT[level])}
        assert {"0.000\nchance level", "1.000\nperfect"} <= set(texts(figure))


def test_the_clouds_of_one_column_have_a_note_on_heights():
    """A note explains the heights in a strip of one column; two columns have no note."""

    def line(X, n_components, random_state):
        return noisy(X, n_components, random_state)[:, :1]

    for method, d in ((line, 1), (noisy, 2)):
        record = dreval.stability(data(), method, over="seeds", n_replicates=3, n_components=d, random_state=0)
        text = " ".join(texts(record.plot("clouds")))
        assert ("One column: the height of a point means nothing." in text) == (d == 1)


def test_small_values_are_printed_without_a_power():
    """Values have two decimals, and three below .01."""
    record = dreval.stability(data(), noisy, over="seeds", n_replicates=3, random_state=0)
    for value, text in ((0.002, "0.002"), (-0.002, "\N{MINUS SIGN}0.002"), (0.0001, "0.000"), (0.123, "0.12")):
        figure = dataclasses.replace(record, value=value).plot()
        assert f"stability {text}, other seeds" in texts(figure)


@pytest.mark.parametrize(
    ("sizes", "has_interval"), [((20, 20, 20), False), ((12,) * 5, True), ((52, 2, 2, 2, 2), False)]
)
def test_an_interval_over_groups_needs_five_of_equal_size(sizes, has_interval):
    """As in an evaluation: below an effective number of five there is the value, and a note, but no interval."""
    record = dreval.stability(
        data(sum(sizes)), "pca", groups=np.repeat(np.arange(len(sizes)), sizes), over="groups", random_state=0
    )
    assert np.isfinite(record.value)
    assert np.isfinite([record.parts["conf_low"], record.parts["conf_high"]]).all() == has_interval
    assert ("interval.few_groups" in {note.code for note in record.notes}) != has_interval
    assert ("without an interval" in str(record)) != has_interval


@pytest.mark.parametrize(("method", "over"), [("pca", "auto"), ("pca", "halves"), ("tsne", "halves"), ("tsne", "both")])
def test_halves_need_six_groups(method, over):
    """Halves of two or three groups share a group only where they are equal, so that even noise agrees with itself."""
    with pytest.raises(InputError, match=r"`groups` must be at least 6 for over='(halves|both)': got 3 groups"):
        dreval.stability(data(60), method, groups=np.repeat(np.arange(3), 20), over=over, random_state=0)
