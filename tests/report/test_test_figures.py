"""Null distributions: stored with a result, drawn with the statistic; and the points whose names a page contains."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from matplotlib.text import Text

import dreval
from dreval._random import stream_seed
from dreval.report._style import one_axes
from dreval.report.figures.nulls import Histogram, draw_panel
from dreval.report.format import decisive_p, p_text


class Doubled:
    """An estimator from outside the package."""

    def __init__(self, n_components: int = 2, factor: float = 2.0, random_state: int | None = None) -> None:
        self.n_components, self.factor, self.random_state = n_components, factor, random_state

    def get_params(self, deep: bool = True):
        return {"n_components": self.n_components, "factor": self.factor, "random_state": self.random_state}

    def set_params(self, **parameters):
        vars(self).update(parameters)
        return self

    def fit_transform(self, X):
        return self.factor * X[:, : self.n_components]


def sliced(X, n_components, random_state):
    return X[:, -n_components:]


@pytest.fixture(scope="module")
def results():
    """A result with tests against labels, and one of the residual."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 4)) + 2 * np.eye(4)[labels]
    embeddings = {"linear": "pca", "given": X[:, :2], "doubled": Doubled(factor=3.0), "sliced": sliced}
    evaluation = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=6, random_state=7)
    tests = ["hsic", "dcov", "hsic:residual"]
    return evaluation.run(["trustworthiness", "reconstruction_error"], tests, n_resamples=99)


def test_a_null_distribution_is_stored_in_cells(results):
    """The counts sum to the resamples, the cells have equal width, and the null mean is inside."""
    rows = results.table[results.table["test"] != ""]
    assert len(rows) == 12
    for row in rows.to_dict("records"):
        cells = results.nulls
        for key in ("embedding", "test", "variable"):
            cells = cells[cells[key] == row[key]]
        assert cells["count"].sum() == 99 == row["n_resamples"]
        widths = cells["high"] - cells["low"]
        assert widths.to_numpy() == pytest.approx(widths.mean())
        assert cells["low"].min() < row["chance"] < cells["high"].max()
        middle = (cells["low"] + cells["high"]) / 2
        assert (middle * cells["count"]).sum() / 99 == pytest.approx(row["chance"], abs=widths.mean() / 2)


def test_nulls_equal_those_of_a_separate_test(results):
    """The cells count the null distribution that the test itself gives for the same seed."""
    seed = stream_seed(7, "test", "given", "hsic", "labels")
    labels = results.labels.astype(str)
    null = dreval.hsic_test(results.embeddings["given"], labels, n_resamples=99, random_state=seed).null_distribution
    rows = results.nulls[(results.nulls["embedding"] == "given") & (results.nulls["test"] == "hsic")]
    rows = rows[rows["variable"] == "labels"]
    edges = [*rows["low"], rows["high"].iloc[-1]]

    assert rows["low"].iloc[0] == null.min()
    assert rows["high"].iloc[-1] == null.max()
    assert rows["count"].tolist() == np.histogram(null, edges)[0].tolist()


@pytest.mark.slow
def test_nulls_and_sources_are_saved(results, tmp_path):
    """A loaded result draws the same page, byte by byte."""
    loaded = dreval.load_results(results.save(tmp_path / "r.dreval"))

    assert loaded.nulls.equals(results.nulls)
    assert loaded.recipe["sources"] == results.recipe["sources"]
    assert loaded.report(tmp_path / "a.html").read_bytes() == results.report(tmp_path / "b.html").read_bytes()


def test_a_panel_has_the_p_that_decides(results):
    """The panels of a figure label the adjusted p; without adjustment they have p itself."""
    rows = results.table[(results.table["test"] == "hsic") & (results.table["variable"] == "labels")]
    expected = {row["embedding"]: f"adjusted {p_text(row['p_adjusted'])}" for row in rows.to_dict("records")}
    figure = results.plot("null", test="hsic", variable="labels")
    p_texts = [text.get_text() for text in figure.findobj(Text) if text.get_text().startswith("adjusted p")]
    unadjusted = {"p_value": 0.02, "p_adjusted": math.nan}

    assert p_texts == [expected[name] for name in results.names]
    assert decisive_p(unadjusted) == "p = .020"
    assert {ax.get_xlabel() for ax in figure.axes} == {"statistic"}
    assert {ax.get_ylabel() for ax in figure.axes} == {"permutations"}


@pytest.mark.parametrize("size", [3e-7, 2e-4, 0.05, 40.0, 8e6])
def test_tick_labels_of_a_null_do_not_overlap(size):
    """Tick labels of small panels are inside the figure, do not overlap, and have no separate power."""
    values = size * (1 + np.random.default_rng(0).gamma(3.0, size=500))
    counts, edges = np.histogram(values, 20)
    figure, ax = one_axes(2.3, 1.3, 0.2, 0.2, 0.3, 0.3)
    draw_panel(ax, Histogram(edges[:-1], edges[1:], counts), 1.3 * values.max())
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]

    assert len(boxes) >= 2
    assert ax.xaxis.get_offset_text().get_text() == ""
    assert boxes[0].x0 >= 0
    assert boxes[-1].x1 <= figure.bbox.width
    assert min(box.y0 for box in boxes) >= 0
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    low, high = ax.get_xlim()
    numbers = [float(label.get_text().replace("−", "-").replace(",", "")) for label in ax.get_xticklabels()]
    assert all(low <= number <= high for number in numbers)


def test_parameters_are_those_of_the_run(results, tmp_path):
    """Defaults have names too, parameters and seeds of other estimators their values, and coordinates have none."""
    sources = results.recipe["sources"]
    doubled = dict(sources["doubled"]["parameters"])
    seed = doubled.pop("random_state")

    assert sources["given"] == {"kind": "coordinates", "what": "coordinates", "parameters": {}}
    assert sources["linear"]["what"] == "pca"
    assert sources["linear"]["parameters"]["n_components"] == "2"
    assert doubled == {"n_components": "2", "factor": "3.0"}
    assert seed.isdigit()
    assert set(sources["sliced"]["parameters"]) == {"n_components", "random_state"}
    page = results.report(tmp_path / "r.html").read_text("utf-8")
    assert f"estimator Doubled: n_components=2, factor=3.0, random_state={seed}" in page
