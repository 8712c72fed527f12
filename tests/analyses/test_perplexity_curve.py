"""The perplexity curve: values of single maps, intervals over seeds, and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student

import dreval
from dreval._random import stream_seed
from dreval.analyses.perplexity_curve import _seed_interval
from dreval.errors import InputError, UndefinedMeasure, UnknownName
from dreval.records.estimates import PerplexityCurve

X = np.random.default_rng(0).normal(size=(90, 4))


@pytest.fixture(scope="module")
def curve() -> PerplexityCurve:
    """Maps from random starts: at perplexity 8 none has a score."""
    return dreval.perplexity_curve(X, [25, 8, 15], n_replicates=3, random_state=0, init="random")


def test_values_are_those_of_single_maps(curve: PerplexityCurve) -> None:
    """The map of each seed is computed and scored by hand; the mean is geometric, the interval Student's for
    logarithms.
    """
    Y = dreval.methods.TSNE(perplexity=25, init="random", random_state=stream_seed(0, "perplexity", 1)).fit_transform(X)
    score = dreval.singularity_score(X, Y, perplexity=25, affinities="neighbors", polish=True).per_n
    runs = curve.values[(curve.values["perplexity"] == 25)].pivot(index="seed", columns="score", values="value")
    assert_allclose(runs.loc[1, "median"], np.median(score), rtol=1e-9)
    assert_allclose(runs.loc[1, "top 5 %"], np.sort(score)[-5:].mean(), rtol=1e-9)

    logs = np.log(runs["top 5 %"])
    row = curve.tidy().query("perplexity == 25 and score == 'top 5 %'").iloc[0]
    assert_allclose(row["value"], np.exp(logs.mean()))
    ends = student.interval(0.95, 2, logs.mean(), logs.std(ddof=1) / np.sqrt(3))
    assert_allclose(row[["conf_low", "conf_high"]].astype(float), np.exp(ends))


def test_failed_runs_are_counted(curve: PerplexityCurve) -> None:
    """Where no map has a minimum there is no value, and the note has the reason; perplexities are sorted."""
    table = curve.tidy()
    assert table["perplexity"].tolist() == [8.0, 8.0, 15.0, 15.0, 25.0, 25.0]
    assert table["n_refused"].tolist() == [3, 3, 0, 0, 0, 0]
    assert table["n_used"].tolist() == [0, 0, 3, 3, 3, 3]
    assert table["value"].isna().tolist() == [True, True] + 4 * [False]
    assert table["note"].str.contains("3 of 3 maps have no score").tolist() == [True, True] + 4 * [False]
    text = str(curve.summary())
    assert "8             top 5 %     none      none      none  0 of 3" in text
    assert "perplexity 8: 3 of 3 maps have no score; the first reason:" in text
    assert text.count("have no score") == 1
    with pytest.raises(UndefinedMeasure, match=r"3 refused runs, the first.*Choose larger ones") as error:
        dreval.perplexity_curve(X, [8], n_replicates=3, random_state=0, init="random")
    assert str(error.value).count("larger") == 1
    with pytest.raises(UndefinedMeasure, match="Leave polish=False out"):
        dreval.perplexity_curve(X, [15], n_replicates=3, random_state=0, polish=False)


@pytest.mark.slow
def test_a_store_holds_runs_and_processes_have_no_effect(
    curve: PerplexityCurve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same numbers from two processes; with a store nothing is run a second time."""
    passed: dict[str, Any] = {
        "n_replicates": 3,
        "random_state": 0,
        "init": "random",
        "journal": tmp_path / "curve.journal",
    }
    stored = dreval.perplexity_curve(X, [25], n_jobs=2, **passed)
    expected = curve.values[curve.values["perplexity"] == 25]["value"].to_numpy()
    assert_allclose(stored.values["value"], expected, rtol=0, atol=0)
    monkeypatch.setattr("dreval.analyses.perplexity_curve.singularity_score", None)
    repeated = dreval.perplexity_curve(X, [25], **passed)
    assert_allclose(repeated.values["value"], expected, rtol=0, atol=0)


def test_intervals_over_seeds_hold_their_level() -> None:
    """Logarithms that are normal: 95 % intervals of five seeds contain the mean in 93.6 to 96.4 % of 2000 samples."""
    rng, inside = np.random.default_rng(3), 0
    for _ in range(2000):
        row = _seed_interval(np.exp(rng.normal(2.0, 0.7, size=5)), 0.95)
        inside += row["conf_low"] <= np.exp(2.0) <= row["conf_high"]

    assert abs(inside / 2000 - 0.95) < 0.014


def test_bad_arguments_raise_an_error() -> None:
    """Each error names the argument."""
    for passed in ([], "30", [30, 31], [10, 10], [1.0], 20):
        with pytest.raises(InputError, match="`perplexities` must be"):
            dreval.perplexity_curve(X, passed)
    with pytest.raises(InputError, match="`n_replicates`"):
        dreval.perplexity_curve(X, [20], n_replicates=2)
    with pytest.raises(UnknownName, match="exaggeration"):
        dreval.perplexity_curve(X, [20], exagerration=4)
    with pytest.raises(InputError, match="`options` must not hold 'perplexity'"):
        dreval.perplexity_curve(X, [20], perplexity=30)


def test_the_curve_is_printed_and_plotted(curve: PerplexityCurve) -> None:
    """One line per perplexity and score in 80 columns; both lines with their intervals, on log scales."""
    assert max(map(len, str(curve).splitlines())) <= 80
    assert repr(curve) == str(curve)
    axes = curve.plot().axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["top 5 %", "median"]
    sampled = axes.containers[0].lines[0].get_ydata()
    assert_allclose(sampled, curve.tidy().query("score == 'top 5 %'")["value"])


@pytest.mark.parametrize("factor", [1.0, 1e8, 1e-9])
def test_the_numbers_of_the_table_have_one_format(curve: PerplexityCurve, factor: float) -> None:
    """All of them have a power or none, in any range; each is the number of the table."""
    numbers = ["value", "conf_low", "conf_high"]
    rows = curve.table["score"] == "median"
    wide = curve.table[numbers].where(rows, curve.table[numbers] * factor)
    output = PerplexityCurve(curve.table.assign(**wide), curve.values, 0.95, recipe=curve.recipe)
    lines = [line.split() for line in str(output).splitlines() if " of " in line and line.split()[0][:1].isdigit()]
    cells = [text for line in lines for text in line[-6:-3] if text != "none"]
    expected = [value for value in wide.to_numpy().ravel() if value == value]
    assert len(cells) == len(expected) > 6
    assert {"e" in text for text in cells} == {factor != 1.0}
    assert_allclose(
        [float(text.replace("\N{MINUS SIGN}", "-").replace(",", "")) for text in cells], expected, rtol=1e-3
    )


@pytest.mark.parametrize("factor", [1.0, 0.01, 1e4])
def test_numbers_at_the_axis_are_plain_and_inside(curve: PerplexityCurve, factor: float) -> None:
    """There are two plain numbers or more at the axis in any range; none is cut by the edge."""
    table = curve.table.assign(**{name: curve.table[name] * factor for name in ("value", "conf_low", "conf_high")})
    for part in (table, table[(table["perplexity"] == 25) & (table["score"] == "median")]):
        figure = PerplexityCurve(part, curve.values, 0.95, recipe=curve.recipe).plot()
        figure.canvas.draw()
        ax = figure.axes[0]
        low, high = ax.get_ylim()
        labels = [
            label
            for label in ax.get_yticklabels(which="both")
            if label.get_text() and low <= label.get_position()[1] <= high
        ]
        assert len(labels) >= 2 - (high < 2 * low)
        for label in labels:
            assert float(label.get_text().replace(",", "")) == pytest.approx(label.get_position()[1])
            assert "$" not in label.get_text()
            assert label.get_window_extent().x0 >= 0


def test_a_perplexity_without_maps_is_labeled(curve: PerplexityCurve) -> None:
    """The label is above its place on the axis, and nowhere else."""
    texts = [text for text in curve.plot().axes[0].texts if text.get_text() == "no map has a score"]
    assert [text.get_position()[0] for text in texts] == [8.0]
    (labels_text,) = texts
    axes = labels_text.axes.get_window_extent()
    assert axes.x0 < labels_text.get_window_extent().x0  # next to the axis, not over its numbers
