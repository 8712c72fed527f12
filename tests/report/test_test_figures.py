"""Null distributions: stored with a result, drawn with the statistic; and the points whose names a page contains."""

from __future__ import annotations

import base64
import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.text import Text
from report_cases import simulated_results

import dreval
from dreval._random import stream_seed
from dreval._text import p_text
from dreval.geometry.distances import nearest
from dreval.report._style import one_axes
from dreval.report.documents.tests import test_groups as groups_of_tests
from dreval.report.figures._panels import class_colors
from dreval.report.figures.nulls import Histogram, draw_panel
from dreval.report.figures.page import MAP_SIZE, MAX_NAMED_POINTS, fit_points, map_svg, null_svg, point_data
from dreval.report.format import decisive_p
from dreval.report.result_view import read_results


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
        cells = results._nulls
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
    rows = results._nulls[(results._nulls["embedding"] == "given") & (results._nulls["test"] == "hsic")]
    rows = rows[rows["variable"] == "labels"]
    edges = [*rows["low"], rows["high"].iloc[-1]]

    assert rows["low"].iloc[0] == null.min()
    assert rows["high"].iloc[-1] == null.max()
    assert rows["count"].tolist() == np.histogram(null, edges)[0].tolist()


@pytest.mark.slow
def test_nulls_and_sources_are_saved(results, tmp_path):
    """A loaded result draws the same page, byte by byte."""
    loaded = dreval.load_results(results.save(tmp_path / "r.dreval"))

    assert loaded._nulls.equals(results._nulls)
    assert loaded.recipe["sources"] == results.recipe["sources"]
    assert loaded.report(tmp_path / "a.html").read_bytes() == results.report(tmp_path / "b.html").read_bytes()


def test_the_page_draws_every_null_and_the_certificate(results, tmp_path):
    """Each test has a folded histogram, those of the residual in a section with the reconstruction error."""
    page = results.report(tmp_path / "r.html").read_text("utf-8")
    certificate = page.partition('<section id="certificate"')[2].partition("</section>")[0]

    assert len(re.findall(r"<span>[^<]*: null mean [\d.e\N{MINUS SIGN}-]+, adjusted p = ", page)) == 12
    assert certificate.count("<svg") == 4
    assert certificate.index("<table") < certificate.index("<details") < certificate.index("<svg")
    assert "Certificate of Definition 1 (Roy 2021)" in certificate
    assert "Reconstruction error" in certificate
    assert "train " in certificate
    assert "residual bootstrap" in certificate


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


def test_the_limit_of_p_is_given_once(results):
    """If a p is the smallest that the resamples can give, the text of its group says so once."""
    smallest = "p = .010 is the smallest that 99 {} can give"
    for group in groups_of_tests(read_results(results)):
        resamples = "bootstrap resamples" if group.id == "certificate" else "permutations"
        is_at_limit = any(row["p_value"] == pytest.approx(0.01) for row in group.tests)
        assert group.text.count(smallest.format(resamples)) == is_at_limit


@pytest.mark.parametrize("size", [3e-7, 2e-4, 0.05, 40.0, 8e6])
@pytest.mark.parametrize("factor", [0.1, 1.3, 60.0])
def test_ticks_of_a_null_are_inside_and_apart(size, factor):
    """Tick labels of a histogram are apart; the bars are as many as filled cells; a far statistic has an arrow."""
    values = size * (1 + np.random.default_rng(0).gamma(3.0, size=500))
    counts, edges = np.histogram(values, 20)
    drawing = null_svg(edges[:-1], edges[1:], counts, factor * values.max(), "a test")
    ticks = [(float(x), text) for x, text in re.findall(r'class="tx" x="([\d.]+)" y="\d+">([^<]+)<', drawing)]

    assert len(ticks) >= 2
    assert len({text for _, text in ticks}) == len(ticks)
    assert all(left + 3.4 * (len(a) + len(b)) < right for (left, a), (right, b) in itertools.pairwise(ticks))
    assert re.search(r'class="null" d="([^"]*)"', drawing)[1].count("z") == np.count_nonzero(counts)
    assert ("far beyond" in drawing) == (factor > 10)


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
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


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


def decode_array(text: str, columns: int) -> np.ndarray:
    """Return the rows of an array that a page contains."""
    return np.frombuffer(base64.b64decode(text), "<u2").astype(int).reshape(-1, columns)


def test_stored_points_equal_the_drawn_points():
    """Positions are those of the drawing, classes in order of first points, values where available."""
    results = simulated_results(("a", "b"))
    view = read_results(results)
    values = {"a": results.points["a"]["continuity"].to_numpy()}
    data = point_data(results, view, ["a", "b"], view.find_column("continuity"), values)
    places = decode_array(data["panels"][0]["xy"], 2)
    drawing = map_svg(results.embeddings["a"], np.zeros(len(places), np.int64), None, None, "a map", 0)
    drawn = {(int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)h0", drawing)}

    assert [data["classes"][code] for code in data["codes"]] == [str(label) for label in results.labels]
    assert {tuple(place) for place in places.tolist()} == drawn
    assert data["panels"][0]["v"] == pytest.approx(values["a"], rel=5e-3)
    assert data["panels"][1]["v"] is None
    assert data["value"] == "continuity"


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.floats(-1e100, 1e100)),
    st.sampled_from([(7200, 5760), (880, 640)]),
)
def test_points_fit_their_panel(Y, size):
    """Places are within the panel, both columns have one scale, and the widest column fills it."""
    places = fit_points(Y, size)
    span, extent = np.ptp(places, axis=0), np.array(size)

    assert places.min() >= 0
    assert (places <= extent).all()
    if Y.shape[1] > 1 and np.ptp(Y[:, :2], axis=0).max() > 1e-300:
        assert (span / extent).max() == pytest.approx(0.93, abs=2e-2)
        units = [s / w for s, w in zip(span, np.ptp(Y[:, :2] / 1e100, axis=0), strict=True) if w > 0 and s > 50]
        assert units == pytest.approx(units[:1] * len(units), rel=0.05)


def test_a_page_contains_the_neighbors_of_the_evaluation(monkeypatch, tmp_path):
    """They equal those of the geometry of the package, also for a loaded result; if absent, a text has the reason."""
    X = np.random.default_rng(0).integers(0, 4, (80, 3)).astype(float)  # with ties
    evaluation = dreval.Evaluation(X, {"two": X[:, :2], "all": X, "one": X[:, :1]}, n_neighbors=[5, 9, 20])
    results = dreval.load_results(evaluation.run("continuity", tests=None).save(tmp_path / "r.dreval"))
    view, names = read_results(results), results.names
    data = point_data(results, view, names, None, {})

    assert (data["k"], data["why"]) == (9, "")
    assert (decode_array(data["near"], 9) == nearest(X, 9)[0]).all()
    for panel in data["panels"]:
        assert (decode_array(panel["near"], 9) == nearest(results.embeddings[panel["name"]], 9)[0]).all()

    results_with_few_neighbors, results_without_neighbors = (
        replace(results, _data_neighbors=results._data_neighbors[:, :8]),
        replace(results, _data_neighbors=None),
    )
    for incomplete_results in (results_with_few_neighbors, results_without_neighbors):
        data = point_data(incomplete_results, view, names, None, {})
        assert (data["near"], data["panels"][0]["near"]) == (None, None)
        assert "does not hold the neighbors in the data" in data["why"]
    monkeypatch.setattr("dreval.report.figures.page.MAX_MARKED_NEIGHBORS", 4 * 80 * 9 - 1)
    assert "too large" in point_data(results, view, names, None, {})["why"]
    monkeypatch.setattr("dreval.report.figures.page.MOST_LISTED", 79)
    assert "up to 79 points" in point_data(results, view, names, None, {})["why"]


def class_labels_in_drawing(Y, labels):
    """Return the class labels in the map of one embedding: name, position and class."""
    drawing = map_svg(Y, np.zeros(len(Y), np.int64), class_colors(labels), None, "a map", 0)
    matches = re.findall(r'<text x="(\d+)" y="(\d+)" data-class="(\d+)">([^<]*)<', drawing)
    return [(name, float(x), float(y), int(code)) for x, y, code, name in matches]


def test_class_names_are_at_their_points():
    """Each name is at a point of its class; there is none if most overlap, and none for unlabeled points."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.array(["left", "top", "right", None], object), 50)
    centers = np.array([[0.0, 0.0], [5.0, 8.0], [10.0, 0.0], [5.0, 3.0]])
    Y = np.repeat(centers, 50, axis=0) + rng.normal(0, 0.4, (200, 2))
    labels_in_drawing = class_labels_in_drawing(Y, labels)

    assert {name for name, *_ in labels_in_drawing} == {"left", "top", "right"}
    positions = fit_points(Y, MAP_SIZE)
    for name, x, y, code in labels_in_drawing:
        assert class_colors(labels).names[code] == name
        points_of_class = positions[labels == name]
        assert np.hypot(*(points_of_class - [x, y]).T).min() < 300
        assert np.hypot(*(np.median(points_of_class, axis=0) - [x, y])) < 400
    mixed_labels = np.array(["a word", "another", "third", "last"])[rng.integers(0, 4, 200)]
    assert class_labels_in_drawing(rng.normal(size=(200, 2)), mixed_labels) == []


def test_too_many_points_are_not_named():
    """A page contains no names of points beyond the limit."""
    results = simulated_results(("a",), n=MAX_NAMED_POINTS + 1, tests=False)

    assert point_data(results, read_results(results), ["a"], None, {}) == {}
