"""The figure of ellipses: their shapes are those of the local stretch, and the lines are the broken edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection

import dreval
from dreval.errors import InputError

X = np.random.default_rng(0).uniform(size=(120, 2))
CUT = X + 5.0 * (X[:, :1] > 0.5) * [1.0, 0.0]


def evaluated(**sources: np.ndarray) -> dreval.Results:
    return dreval.Evaluation(X, sources, n_neighbors=6, random_state=0).run("local_anisotropy", None, None)


def outlines(results: dreval.Results, kind: type, **options: object) -> list[np.ndarray]:
    """Vertices of each path of the one panel that was drawn."""
    (found,) = [one for one in results.plot("ellipses", **options).axes[0].collections if isinstance(one, kind)]
    return [path.vertices for path in found.get_paths()]


def test_shapes_are_those_of_the_stretch() -> None:
    """Of diag(2, 1/2) every ellipse is four times as wide as high; of a rotation all are circles of one size."""
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    for Y, ratio in ((X * [2.0, 0.5], 4.0), (X @ turn, 1.0)):
        shapes = np.array([np.ptp(line, axis=0) for line in outlines(evaluated(a=Y), PolyCollection)])
        assert 10 < len(shapes) <= 80
        np.testing.assert_allclose(shapes[:, 0] / shapes[:, 1], ratio, rtol=1e-6)
        np.testing.assert_allclose(shapes, shapes[:1].repeat(len(shapes), axis=0), rtol=0.01)


def test_lines_are_the_broken_edges() -> None:
    """Each broken edge is a line from point to point, and the title counts them."""
    results = evaluated(a=CUT)
    found = dreval.local_distortion(X, CUT, n_neighbors=6)
    lines = outlines(results, LineCollection, n_neighbors=6)

    assert len(lines) == len(found.broken) > 0
    assert results.plot("ellipses", n_neighbors=6).axes[0].get_title(loc="right") == f"{len(found.broken)} broken"
    half = np.ptp(CUT, axis=0).max()
    lengths = [np.linalg.norm(line[1] - line[0]) for line in lines]
    truth = np.linalg.norm(CUT[found.broken[:, 0]] - CUT[found.broken[:, 1]], axis=1)
    np.testing.assert_allclose(np.array(lengths) / truth, lengths[0] / truth[0], rtol=1e-6)
    assert 1.5 / half < lengths[0] / truth[0] < 2.0 / half


def test_embeddings_of_one_dimension_at_one_place_and_of_three_are_drawn() -> None:
    """Ellipses become lines, or there are none; of three dimensions the first two are shown."""
    assert all(np.ptp(line[:, 1]) < 1e-12 for line in outlines(evaluated(a=X[:, :1]), PolyCollection))
    assert not outlines(evaluated(a=np.zeros((120, 2))), PolyCollection)
    three = np.column_stack([X, X[:, 0] * X[:, 1]])
    assert outlines(evaluated(a=three), PolyCollection)


def test_results_without_data_are_refused(tmp_path: Path) -> None:
    """A loaded result has no data."""
    loaded = dreval.load_results(evaluated(a=X).save(tmp_path / "a.dreval"))
    with pytest.raises(InputError, match="must hold the data in memory for ellipses"):
        loaded.plot("ellipses")
    with pytest.raises(InputError, match="`n_neighbors`"):
        evaluated(a=X).plot("ellipses", n_neighbors=1)
