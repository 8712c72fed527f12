"""The figure of ellipses: their shapes are those of the local stretch, and the lines are the broken edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from figure_reading import cut_off, overlapping, texts
from matplotlib.collections import LineCollection, PolyCollection

import dreval
from dreval.errors import InputError
from dreval.report.figures._panels import place_points

X = np.random.default_rng(0).uniform(size=(120, 2))


def evaluated(**sources: np.ndarray) -> dreval.Results:
    return dreval.Evaluation(X, sources, n_neighbors=6, random_state=0).run("local_anisotropy", None, None)


def outlines(results: dreval.Results, kind: type, **options: object) -> list[np.ndarray]:
    """Vertices of each path of the one panel."""
    (found,) = [one for one in results.plot("ellipses", **options).axes[0].collections if isinstance(one, kind)]
    return [path.vertices for path in found.get_paths()]


def test_shapes_are_those_of_the_stretch() -> None:
    """For diag(2, 1/2) every ellipse is four times as wide as high; for a rotation all are equal circles."""
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    for Y, ratio in ((X * [2.0, 0.5], 4.0), (X @ turn, 1.0)):
        shapes = np.array([np.ptp(line, axis=0) for line in outlines(evaluated(a=Y), PolyCollection)])
        assert 10 < len(shapes) <= 80
        np.testing.assert_allclose(shapes[:, 0] / shapes[:, 1], ratio, rtol=1e-6)
        np.testing.assert_allclose(shapes, shapes[:1].repeat(len(shapes), axis=0), rtol=0.01)


def of_panel(results: dreval.Results, k: int = 6) -> tuple[np.ndarray, str]:
    """Ends of the lines of the one panel (b, 2, 2), and the text between its name and the panel."""
    axes = results.plot("ellipses", n_neighbors=k).axes[0]
    (lines,) = [one for one in axes.collections if isinstance(one, LineCollection)]
    return np.array([path.vertices for path in lines.get_paths()]), axes.texts[0].get_text()


def test_lines_are_the_broken_edges() -> None:
    """Where they are few each broken edge is a line from point to point, and the title counts them."""
    Y = X + 5.0 * ((X[:, 0] > 0.5) & (X[:, 1] < 0.3))[:, None] * [1.0, 0.0]
    found = dreval.local_distortion(X, Y, n_neighbors=6)
    lines, title = of_panel(evaluated(a=Y))

    assert 5 < len(lines) == len(found.broken) <= 40
    assert title == f"{len(found.broken)} broken"
    half = np.ptp(Y, axis=0).max()
    lengths = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
    truth = np.linalg.norm(Y[found.broken[:, 0]] - Y[found.broken[:, 1]], axis=1)
    np.testing.assert_allclose(lengths / truth, lengths[0] / truth[0], rtol=1e-6)
    assert 1.5 / half < lengths[0] / truth[0] < 2.0 / half


def test_of_many_broken_edges_those_apart_are_drawn() -> None:
    """Of many edges 40 are lines; no edge is farther from a line than two lines are from each other."""
    Y = X + 5.0 * (X[:, :1] > 0.3) * [1.0, 0.0] + 5.0 * (X[:, :1] > 0.7) * [0.0, 1.0]
    broken = dreval.local_distortion(X, Y, n_neighbors=12).broken
    results = evaluated(a=Y)
    lines, title = of_panel(results, 12)
    foot = " ".join(text.get_text() for text in reversed(results.plot("ellipses", n_neighbors=12).texts))

    assert len(broken) > 80
    assert title == f"{len(broken)} broken, 40 drawn"
    assert "of more than 40, some that lie apart." in foot
    every = place_points(Y)[broken]
    gaps = np.minimum(distances(every, lines), distances(every, lines[:, ::-1]))
    assert gaps.min(axis=0).max() < 1e-9  # each line is an edge
    assert gaps.min(axis=1).max() <= distances(lines, lines)[np.triu_indices(40, 1)].min() + 1e-9


def distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Distances of lines (a, 2, 2) and (b, 2, 2) by their ends."""
    return np.sqrt(np.square(one[:, None] - other[None]).sum(axis=(2, 3)))


def test_embeddings_of_one_dimension_at_one_place_and_of_three_are_drawn() -> None:
    """Ellipses become lines, or there are none; of three dimensions the first two are drawn."""
    assert all(np.ptp(line[:, 1]) < 1e-12 for line in outlines(evaluated(a=X[:, :1]), PolyCollection))
    assert not outlines(evaluated(a=np.zeros((120, 2))), PolyCollection)
    three = np.column_stack([X, X[:, 0] * X[:, 1]])
    assert outlines(evaluated(a=three), PolyCollection)


def test_names_and_counts_of_broken_edges_stand_apart() -> None:
    """Names of usual length are whole next to long counts, in several panels and in one."""
    Y = X + 5.0 * (X[:, :1] > 0.3) * [1.0, 0.0] + 5.0 * (X[:, :1] > 0.7) * [0.0, 1.0]
    results = evaluated(**{"torn ring, unrolled": Y, "another one, torn too": Y[:, ::-1], "c": X})
    for options in ({}, {"embedding": "torn ring, unrolled"}):
        figure = results.plot("ellipses", n_neighbors=12, **options)
        said = texts(figure)
        assert "torn ring, unrolled" in said
        assert any(words.endswith("broken, 40 drawn") for words in said)
        assert overlapping(figure) == []
        assert cut_off(figure) == []


def test_ellipses_at_the_border_are_whole() -> None:
    """Every outline is inside its panel, even where it reaches beyond the points."""
    results = evaluated(wide=X * [3.0, 1.0], long=np.column_stack([X[:, 0], X[:, 1] + 4.0 * (X[:, 1] > 0.9)]))
    beyond = 0
    for ax in results.plot("ellipses").axes:
        (drawn,) = [one for one in ax.collections if isinstance(one, PolyCollection)]
        reach = np.abs([path.vertices for path in drawn.get_paths()]).max()
        assert reach < ax.get_xlim()[1] == ax.get_ylim()[1] == -ax.get_xlim()[0] == -ax.get_ylim()[0]
        beyond += reach > 1.0
    assert beyond


def test_results_without_data_are_refused(tmp_path: Path) -> None:
    """A loaded result has no data."""
    loaded = dreval.load_results(evaluated(a=X).save(tmp_path / "a.dreval"))
    with pytest.raises(InputError, match="must hold the data in memory for ellipses"):
        loaded.plot("ellipses")
    with pytest.raises(InputError, match="`n_neighbors`"):
        evaluated(a=X).plot("ellipses", n_neighbors=1)
