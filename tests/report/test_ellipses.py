"""The figure of ellipses: their shapes equal the local stretch, and the lines are the broken edges."""

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


def path_vertices(results: dreval.Results, kind: type, **options: object) -> list[np.ndarray]:
    """Return the vertices of each path of the only panel."""
    (collection,) = [
        artist for artist in results.plot("ellipses", **options).axes[0].collections if isinstance(artist, kind)
    ]
    return [path.vertices for path in collection.get_paths()]


def test_shapes_show_the_local_stretch() -> None:
    """For diag(2, 1/2) every ellipse is four times as wide as high; for a rotation all are equal circles."""
    rotation = np.array([[0.6, -0.8], [0.8, 0.6]])
    for Y, ratio in ((X * [2.0, 0.5], 4.0), (X @ rotation, 1.0)):
        shapes = np.array([np.ptp(line, axis=0) for line in path_vertices(evaluated(a=Y), PolyCollection)])
        assert 10 < len(shapes) <= 144
        np.testing.assert_allclose(shapes[:, 0] / shapes[:, 1], ratio, rtol=1e-6)
        np.testing.assert_allclose(shapes, shapes[:1].repeat(len(shapes), axis=0), rtol=0.01)


def lines_and_title(results: dreval.Results, k: int = 6) -> tuple[np.ndarray, str]:
    """Return the ends of the lines of the only panel (b, 2, 2), and the text between its name and the panel."""
    axes = results.plot("ellipses", n_neighbors=k).axes[0]
    (lines,) = [artist for artist in axes.collections if isinstance(artist, LineCollection)]
    return np.array([path.vertices for path in lines.get_paths()]), axes.texts[0].get_text()


def test_lines_are_the_broken_edges() -> None:
    """Each of few broken edges is a line from point to point, and the title counts them."""
    Y = X + 5.0 * ((X[:, 0] > 0.5) & (X[:, 1] < 0.3))[:, None] * [1.0, 0.0]
    distortion = dreval.local_distortion(X, Y, n_neighbors=6)
    lines, title = lines_and_title(evaluated(a=Y))

    assert 5 < len(lines) == len(distortion.broken) <= 40
    assert title == f"{len(distortion.broken)} broken edges"
    half = np.ptp(Y, axis=0).max()
    lengths = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
    edge_lengths = np.linalg.norm(Y[distortion.broken[:, 0]] - Y[distortion.broken[:, 1]], axis=1)
    np.testing.assert_allclose(lengths / edge_lengths, lengths[0] / edge_lengths[0], rtol=1e-6)
    assert 1.5 / half < lengths[0] / edge_lengths[0] < 2.0 / half


def test_lines_of_many_broken_edges_are_spread_over_the_embedding() -> None:
    """Many edges have 40 lines; no edge is farther from a line than two lines are from each other."""
    Y = X + 5.0 * (X[:, :1] > 0.3) * [1.0, 0.0] + 5.0 * (X[:, :1] > 0.7) * [0.0, 1.0]
    broken = dreval.local_distortion(X, Y, n_neighbors=12).broken
    results = evaluated(a=Y)
    lines, title = lines_and_title(results, 12)

    assert len(broken) > 80
    assert title == f"{len(broken)} broken edges, 40 drawn"
    edges = place_points(Y)[broken]
    gaps = np.minimum(line_distances(edges, lines), line_distances(edges, lines[:, ::-1]))
    assert gaps.min(axis=0).max() < 1e-9  # each line is an edge
    assert gaps.min(axis=1).max() <= line_distances(lines, lines)[np.triu_indices(40, 1)].min() + 1e-9


def line_distances(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the distances of lines (a, 2, 2) and (b, 2, 2) by their ends."""
    return np.sqrt(np.square(left[:, None] - right[None]).sum(axis=(2, 3)))


def test_embeddings_of_one_and_three_dimensions_and_constant_ones_are_drawn() -> None:
    """Ellipses of one dimension are lines; equal points have none; of three dimensions the first two are drawn."""
    assert all(np.ptp(line[:, 1]) < 1e-12 for line in path_vertices(evaluated(a=X[:, :1]), PolyCollection))
    assert not path_vertices(evaluated(a=np.zeros((120, 2))), PolyCollection)
    three = np.column_stack([X, X[:, 0] * X[:, 1]])
    assert path_vertices(evaluated(a=three), PolyCollection)


def test_names_and_counts_of_broken_edges_do_not_overlap() -> None:
    """Names of usual length are complete next to long counts, in several panels and in one."""
    Y = X + 5.0 * (X[:, :1] > 0.3) * [1.0, 0.0] + 5.0 * (X[:, :1] > 0.7) * [0.0, 1.0]
    results = evaluated(**{"torn ring, unrolled": Y, "another one, torn too": Y[:, ::-1], "c": X})
    for options in ({}, {"embedding": "torn ring, unrolled"}):
        figure = results.plot("ellipses", n_neighbors=12, **options)
        labels = texts(figure)
        assert "torn ring, unrolled" in labels
        assert any(label.endswith("broken edges, 40 drawn") for label in labels)
        assert overlapping(figure) == []
        assert cut_off(figure) == []


def test_ellipses_are_whole_and_do_not_overlap() -> None:
    """Of any number of points a panel has at most 144 ellipses, each within its cell of the grid."""
    many = np.random.default_rng(1).normal(size=(1000, 2))
    results = dreval.Evaluation(many, {"wide": many * [3.0, 1.0], "bent": many**3}, n_neighbors=8, random_state=0)
    for ax in results.run("local_anisotropy", None, None).plot("ellipses").axes[:2]:
        (ellipses,) = [artist for artist in ax.collections if isinstance(artist, PolyCollection)]
        outlines = np.array([path.vertices for path in ellipses.get_paths()])
        middles = (outlines.min(axis=1) + outlines.max(axis=1)) / 2
        assert len(outlines) <= 144
        assert np.abs(outlines).max() <= 1.0
        assert np.abs(outlines - middles[:, None]).max() <= 1 / 12
        assert len({tuple(middle) for middle in middles.round(6)}) == len(outlines)


def test_results_without_data_raise_an_error(tmp_path: Path) -> None:
    """A loaded result has no data, and the error says so."""
    loaded = dreval.load_results(evaluated(a=X).save(tmp_path / "a.dreval"))
    with pytest.raises(InputError, match="must hold the data in memory for ellipses"):
        loaded.plot("ellipses")
    with pytest.raises(InputError, match="`n_neighbors`"):
        evaluated(a=X).plot("ellipses", n_neighbors=1)
