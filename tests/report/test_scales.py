"""Curves over every K, as figures: the values of the lines, the text next to them, and labels without overlap."""

from __future__ import annotations

import re

import matplotlib as mpl
import numpy as np
import pytest
from figure_reading import cut_off, overlapping
from report_cases import curve_rows, make_results, measure_row, simulated_results

import dreval
from dreval import registry
from dreval.errors import InputError, UnknownName
from dreval.report import _style
from dreval.report.figures._lines import scale_curves
from dreval.report.result_view import read_results
from dreval.report.write import write_report

NAMES = ("tsne", "umap", "isomap", "pca")
N = 120
MEASURES = ("r_nx", "q_nx", "b_nx", "lcmc")


def results_of(*measures, names=NAMES, **options):
    curves = [row for measure in measures for row in curve_rows(measure, names, N, **options)]
    return simulated_results(names, n=N, curves=curves)


def texts(figure):
    """Return every visible text of a figure."""
    return [t for t in figure.findobj(mpl.text.Text) if t.get_text() and t.get_visible()]


def ink_line(ax):
    """Return the line of the embedding of a panel."""
    (line,) = [line for line in ax.lines if line.get_linewidth() == 1.6]
    return line


@pytest.mark.parametrize("measure", MEASURES)
def test_lines_are_the_curves_and_references_those_of_the_card(measure):
    """Lines are the values of the embeddings, bands the intervals, references the formulas; the axis is logarithmic."""
    results = results_of(measure)
    figure, table = results.plot("curve", measure=measure), results.curve(measure)
    ks = table.index.to_numpy(float)
    chance = {"q_nx": ks / (N - 1)}.get(measure, np.zeros(len(ks)))
    perfect = {"b_nx": chance, "lcmc": 1 - ks / (N - 1)}.get(measure, np.ones(len(ks)))
    expected = [chance] if measure == "b_nx" else [chance, perfect]

    assert len(figure.axes) == len(NAMES)
    for ax, name in zip(figure.axes, NAMES, strict=True):
        assert ax.get_xscale() == "log"
        np.testing.assert_array_equal(ink_line(ax).get_xdata(), ks)
        np.testing.assert_array_equal(ink_line(ax).get_ydata(), table[name])
        others = [line.get_ydata() for line in ax.lines if line.get_color() == _style.LIGHT["other"]]
        np.testing.assert_array_equal(others, [table[other] for other in NAMES if other != name])
        references = [line.get_ydata() for line in ax.lines if line.get_color() == _style.LIGHT["soft"]]
        assert len(references) == len(expected)
        for line_values, expected_values in zip(references, expected, strict=True):
            np.testing.assert_allclose(line_values, expected_values)
        (band,) = [c for c in ax.collections if c.get_gid()]
        assert band.get_paths()[0].vertices[:, 0].max() <= N // 2


def test_without_intervals_there_are_no_bands():
    """A result without intervals has no bands."""
    axes = results_of("r_nx", intervals=False).plot("curve", measure="r_nx").axes
    assert not any(ax.collections for ax in axes)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("count", [1, 4, 8])
def test_labels_do_not_overlap_and_are_inside(measure, count):
    """All names and references are in the figure; no two texts overlap, and none is outside."""
    names = tuple(f"embedding {index}" for index in range(count))
    figure = results_of(measure, names=names).plot("curve", measure=measure)
    labels = [t.get_text() for t in texts(figure)]

    assert set(names) <= set(labels)
    words = "chance level and perfect" if measure == "b_nx" else "Dashed: chance level, dotted: perfect."
    assert words in " ".join(labels)
    assert cut_off(figure) == overlapping(figure) == []


def test_the_area_is_below_the_name():
    """The value of ``r_nx_auc`` is below the name; without that measure there is none."""
    rows = [measure_row(name, "r_nx_auc", "", 0.4 - 0.1 * i, 0.0) for i, name in enumerate(NAMES)]
    curves = curve_rows("r_nx", NAMES, N)
    coordinates = {name: np.eye(N)[:, :2] for name in NAMES}
    figure = make_results(rows, coordinates, curves=curves).plot("curve", measure="r_nx")
    figure_without_area = make_results([], coordinates, curves=curves).plot("curve", measure="r_nx")

    for i, ax in enumerate(figure.axes):
        assert f"area {0.4 - 0.1 * i:.3f}" in [text.get_text() for text in ax.texts]
    assert not any("rea" in t.get_text() for t in texts(figure_without_area))


def test_the_default_curve_and_the_requested_one_are_drawn():
    """Curves are the default, measures with several k need a request; an unknown name raises an error with all."""
    curves = [*curve_rows("lcmc", NAMES, N), *curve_rows("r_nx", NAMES, N)]
    results = simulated_results(NAMES, n=N, ks=(5, 15), curves=curves)
    default, without_scales = (
        " ".join(text.get_text() for text in reversed(result.plot("curve").axes[0].texts))
        for result in (results, simulated_results(NAMES, n=N, curves=curves))
    )

    assert default == "Trustworthiness"
    assert without_scales == registry.MEASURES.card("lcmc").title
    with pytest.raises(InputError, match=r"run at several: .*lcmc.*r_nx.*trustworthiness"):
        results.plot("curve", measure="procrustes_disparity")


def test_embeddings_without_values_have_no_line():
    """Names that are not requested, and embeddings without numbers, have no line."""
    curves = [row | {"value": np.nan} if row["embedding"] == "umap" else row for row in curve_rows("r_nx", NAMES, N)]
    results = simulated_results(NAMES, n=N, curves=curves)
    labels = {t.get_text() for t in texts(results.plot("curve", measure="r_nx", names=["umap", "pca"]))}

    assert "pca" in labels
    assert not {"umap", "tsne"} & labels
    assert scale_curves(results, read_results(results))["r_nx"].has_intervals


@pytest.mark.slow
def test_a_page_has_one_chart_per_embedding_and_curve(tmp_path):
    """Each curve has a chart for each embedding with the others in gray; a result without curves has none."""
    page = write_report(results_of("r_nx", "q_nx"), tmp_path / "a.html").read_text("utf-8")
    page_without_curves = write_report(simulated_results(NAMES), tmp_path / "b.html").read_text("utf-8")
    charts = re.findall(r'<svg class="cv".*?</svg>', page.partition('id="sizes"')[2].partition("</section>")[0])

    assert len(charts) == 2 * len(NAMES)
    assert all(chart.count('class="own"') == 1 for chart in charts)
    assert all(chart.count('class="oth"') == len(NAMES) - 1 for chart in charts)
    assert "at each K alone" in page
    assert 'id="sizes"' not in page_without_curves


@pytest.fixture(scope="module")
def banded_results():
    """Results of two embeddings by all points, and by anchors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(330, 4)) * [3, 2, 1, 1]
    sources = {"first two": X[:, :2], "last two": X[:, 2:]}
    settings = ({}, {"anchors": 110}, {"anchors": 60})
    return [
        dreval.Evaluation(X, sources, n_neighbors=5, random_state=0, **setting).run(["r_nx", "b_nx"], None)
        for setting in settings
    ]


def bands_and_dashed_lines(figure):
    """Return the paths of each filled band by its mark, and the dashed lines with marks."""
    ax = figure.axes[0]
    band_paths = {c.get_gid(): c.get_paths() for c in ax.collections if c.get_gid()}
    return band_paths, [line for line in ax.lines if line.get_gid() and int(line.get_gid().split("-")[2]) >= 2]


def test_simultaneous_bands_are_drawn_if_available(banded_results):
    """The band is filled where it has ends, dashed at pointwise intervals elsewhere, and the text explains this."""
    points, anchors, few_anchors = banded_results
    for results, band_text, dashed in (
        (points, "Bands: 95 % for all K at once.", 0),
        (anchors, "Bands: 95 % for all K at once; dashed: at each K alone.", 2),
        (few_anchors, "Bands: 95 % intervals at each number of neighbors alone.", 0),
    ):
        figure = results.plot("curve", measure="r_nx")
        band_paths, lines = bands_and_dashed_lines(figure)
        assert band_text in " ".join(text.get_text() for text in texts(figure))
        assert len(lines) == dashed
        rows = results.curve("r_nx", bands=True).query("embedding == 'first two'").set_index("K")
        column = "band" if rows["band_low"].notna().any() else "conf"
        (path,) = band_paths["embedding-0-0"]
        has_interval = rows[f"{column}_low"].notna()
        assert path.vertices[:, 0].min() == has_interval.index[has_interval].min()
        assert path.vertices[:, 0].max() == has_interval.index[has_interval].max()
        assert path.vertices[:, 1].max() == pytest.approx(rows[f"{column}_high"].max())
        assert cut_off(figure) == overlapping(figure) == []
        for line in lines[:2]:
            finite = np.isfinite(line.get_ydata())
            assert (rows["band_low"].isna() & rows["conf_low"].notna()).to_numpy().tolist() == finite.tolist()
    pointwise_figure = anchors.plot("curve", measure="r_nx", band="pointwise")
    assert "at each number of neighbors alone." in " ".join(text.get_text() for text in texts(pointwise_figure))
    assert bands_and_dashed_lines(pointwise_figure)[1] == []


def test_a_difference_of_curves_names_the_better_embedding_by_range(banded_results):
    """The line is the difference, and the text names the ranges of K at which the band excludes 0."""
    for results in banded_results[:2]:
        figure = results.plot("curve", difference=("last two", "first two"))
        table = results.curve("r_nx", difference=("last two", "first two"))
        (ax,) = figure.axes
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), table["difference"])
        below = table.index[table["band_high"] < 0]
        text_of_figure = " ".join(" ".join(text.get_text().split()) for text in texts(figure))
        assert f"first two is better than last two at all K from {below[0]} to" in text_of_figure
        count = int(table["band_low"].notna().sum())
        assert f"Band: 95 % for all {count} K at once, of this pair." in text_of_figure
        assert cut_off(figure) == overlapping(figure) == []
    figure_without_differences = banded_results[2].plot("curve", difference=("last two", "first two"))
    assert any("do not differ significantly at any K." in text.get_text() for text in texts(figure_without_differences))
    figure_of_b_nx = banded_results[0].plot("curve", measure="b_nx", difference=("first two", "last two"))
    assert not any("better" in text.get_text() for text in texts(figure_of_b_nx))


def test_bands_and_differences_need_a_curve_over_all_k(banded_results):
    """A band for all K and a difference need a measure with a value at every K; options are checked."""
    with pytest.raises(InputError, match="`band` must be one that the curve has"):
        banded_results[2].plot("curve", measure="r_nx", band="simultaneous")
    with pytest.raises(UnknownName, match="Did you mean 'simultaneous'"):
        banded_results[0].plot("curve", band="simultanous")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    results = dreval.Evaluation(X, {"a": X[:, :2]}, n_neighbors=[3, 5]).run("continuity", None)
    for option in ({"band": "simultaneous"}, {"difference": ("a", "b")}):
        with pytest.raises(InputError, match=r"must be of a measure with a value at every K.*r_nx"):
            results.plot("curve", **option)
