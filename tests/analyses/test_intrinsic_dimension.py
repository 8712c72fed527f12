"""The intrinsic dimension against scikit-dimension, a naive twin of its jackknife, identities and errors."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

import dreval
from dreval._random import stream
from dreval.errors import InputError, UndefinedMeasure, UnknownName
from dreval.geometry.blocks import random_groups
from dreval.geometry.distances import first_outside

ORACLES = Path(__file__).resolve().parent.parent / "validation" / "oracles"
sys.path.insert(0, str(ORACLES))
from intrinsic_points import POINTS, points  # noqa: E402 - lies beside the script that ran elsewhere

SKDIM = json.loads((ORACLES / "skdim.json").read_text())
SETTINGS = {
    "line": {},
    "all": {"discard": 0.0},
    "ml": {"fit": "ml"},
    "mle": {"method": "mle", "n_neighbors": 6},
}
names = pytest.mark.parametrize("name", POINTS)
settings = pytest.mark.parametrize("how", SETTINGS)


def twin(X: np.ndarray, method: str = "twonn", fit: str = "line", discard: float = 0.1, n_neighbors: int = 20) -> float:
    """The formulas on sorted rows of all distances."""
    n, D = len(X), np.sort(cdist(X, X), axis=1)[:, 1:]
    if method == "mle":
        return 1 / np.mean([np.mean([math.log(row[n_neighbors - 1] / r) for r in row[: n_neighbors - 1]]) for row in D])
    ratios = sorted(D[:, 1] / D[:, 0])
    if fit == "ml":
        return n / sum(map(math.log, ratios))
    pairs = [(math.log(mu), -math.log(1 - i / n)) for i, mu in enumerate(ratios, 1) if i <= n * (1 - discard) and i < n]
    return sum(x * y for x, y in pairs) / sum(x * x for x, _ in pairs)


@names
def test_estimates_are_those_of_scikit_dimension(name: str) -> None:
    """TwoNN with 10 % left out, Levina and Bickel's at 5 and 20 neighbors, and the value of a point."""
    X, expected = points(name), SKDIM[name]
    assert_allclose(dreval.intrinsic_dimension(X).value, expected["twonn"], rtol=1e-12)
    for k in (5, 20):
        result = dreval.intrinsic_dimension(X, method="mle", n_neighbors=k)
        assert_allclose(result.value, expected[f"mle {k}"], rtol=1e-12)
        assert_allclose(result.augment()["local_dimension"][7], expected[f"mle {k} of point 7"], rtol=1e-12)


def test_the_printed_values_of_points_without_random_numbers() -> None:
    """t = 1, ..., 60: to all printed digits."""
    X = points("cloud")
    assert round(dreval.intrinsic_dimension(X).value, 10) == 2.9964572041
    assert round(dreval.intrinsic_dimension(X, method="mle").value, 10) == 2.4345931916
    assert round(dreval.intrinsic_dimension(X, fit="ml").value, 6) == round(twin(X, fit="ml"), 6) == 3.154068


@names
@settings
def test_the_standard_error_is_that_of_a_naive_jackknife(name: str, how: str) -> None:
    """Leave out every group of all partitions and recompute everything: the standard error is the same."""
    X, settings = points(name)[:75], SETTINGS[how]
    result = dreval.intrinsic_dimension(X, random_state=3, **settings)
    squares = []
    for b in range(8):
        codes = random_groups(len(X), 20, stream(3, "groups", b)).codes
        left = np.array([twin(X[codes != g], **settings) for g in range(20)])
        squares.append(19 / 20 * np.sum((left - left.mean()) ** 2))
    se = math.sqrt(np.mean(squares))
    assert_allclose([result.value, result.se], [twin(X, **settings), se], rtol=1e-9)
    half = 2.093024054 * se  # Student's with 19 degrees of freedom
    assert_allclose([result.conf_low, result.conf_high], [max(result.value - half, 0), result.value + half], rtol=1e-8)
    assert result.n_groups == 160


def test_up_to_twenty_points_each_is_a_group() -> None:
    """The delete-one jackknife is used for any seed."""
    X = points("cloud")[:14]
    left = np.array([twin(np.delete(X, i, axis=0)) for i in range(14)])
    results = [dreval.intrinsic_dimension(X, random_state=seed) for seed in (0, 1)]
    assert results[0].se == pytest.approx(results[1].se, rel=1e-12)
    assert results[0].se == pytest.approx(math.sqrt(13 / 14 * np.sum((left - left.mean()) ** 2)), rel=1e-9)
    assert results[0].n_groups == 14


@settings
def test_short_lists_are_recomputed(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without stored neighbors beyond k, a new search for the points without a group gives the same numbers."""
    X = points("torus")[:120]
    default = dreval.intrinsic_dimension(X, random_state=0, **SETTINGS[how])
    monkeypatch.setattr(sys.modules["dreval.analyses.intrinsic_dimension"], "extra_neighbors", lambda *_: 0)
    repeated = dreval.intrinsic_dimension(X, random_state=0, **SETTINGS[how])
    assert repeated.se == pytest.approx(default.se, rel=1e-9)
    assert repeated.value == default.value


def test_first_outside_of_lists_by_hand() -> None:
    """The first two that are not in the group, in their order; None where a list has one only."""
    values = np.array([[1.0, 2, 3, 4], [5, 6, 7, 8]])
    inside = np.array([[True, False, True, False], [False, False, False, True]])
    assert_array_equal(first_outside(values, inside, 2), [[2, 4], [5, 6]])
    assert first_outside(values, inside, 3) is None


@settings
def test_repeated_rows_are_merged(how: str) -> None:
    """The estimate and its interval are those of the different rows; the repeated have the values of the first."""
    X = points("helix")[:60]
    order = np.r_[np.arange(60), [3, 3, 40]]
    original, permuted = (dreval.intrinsic_dimension(Z, random_state=0, **SETTINGS[how]) for Z in (X, X[order]))
    assert (original.value, original.se, original.n_used) == (permuted.value, permuted.se, permuted.n_used)
    left, right = original.augment().drop(columns="id"), permuted.augment().drop(columns="id")
    pd.testing.assert_frame_equal(left.iloc[order].reset_index(drop=True), right)
    (merged,) = [note for note in permuted.notes if note.code == "intrinsic_dimension.merged"]
    assert str(merged).startswith("3 of 63 rows repeat an earlier one and were merged with it: 60 different")
    assert not [note for note in original.notes if note.code == "intrinsic_dimension.merged"]


@settings
def test_neither_unit_nor_place_nor_rotation_nor_kind_of_table_matters(how: str) -> None:
    """A thousandth of a billion of the unit, a shift, a rotation; a frame, a sparse matrix, single threads."""
    X, settings = points("torus")[:150], SETTINGS[how] | {"random_state": 0}
    default = dreval.intrinsic_dimension(X, **settings)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for Z in (X * 2.0**-190, X * 2.0**190, X + 7.0, X @ turn):
        result = dreval.intrinsic_dimension(Z, **settings)
        assert_allclose([result.value, result.se], [default.value, default.se], rtol=1e-8)
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(150)])
    for Z, options in ((frame, {}), (sparse.csr_array(X), {}), (X, {"n_jobs": 1})):
        result = dreval.intrinsic_dimension(Z, **settings, **options)
        assert (result.value, result.se) == (default.value, default.se)
    assert dreval.intrinsic_dimension(frame, **settings).augment()["id"].tolist() == frame.index.tolist()
    assert [note.code for note in dreval.intrinsic_dimension(sparse.csr_array(X), **settings).notes] == ["data.dense"]


def test_the_seed_moves_the_standard_error_alone() -> None:
    """The seed changes the partitions, not the neighbors."""
    X = points("torus")
    a, b = (dreval.intrinsic_dimension(X, random_state=seed) for seed in (0, 1))
    assert a.value == b.value
    assert a.se != b.se
    assert abs(math.log(a.se / b.se)) < 0.35


def test_local_dimensions_have_the_estimate_as_harmonic_mean() -> None:
    """The ratios of TwoNN have the ranks of their sizes, of which 90 % are used."""
    X = points("wide")
    result = dreval.intrinsic_dimension(X, method="mle", n_neighbors=9)
    local = result.augment()["local_dimension"]
    assert 1 / np.mean(1 / local) == pytest.approx(result.value, rel=1e-12)
    points_of = dreval.intrinsic_dimension(X).augment()
    assert_array_equal(points_of["rank"], points_of["ratio"].rank())
    assert_array_equal(points_of["used"], points_of["rank"] <= 135)
    assert dreval.intrinsic_dimension(X, fit="ml").augment()["used"].all()


def test_points_on_a_line_and_in_a_plane_have_their_dimension() -> None:
    """The number of columns has no effect."""
    rng = np.random.default_rng(0)
    for d in (1, 2, 3):
        X = rng.uniform(size=(800, d)) @ rng.normal(size=(d, 9))
        for settings in ({}, {"fit": "ml"}, {"method": "mle"}):
            result = dreval.intrinsic_dimension(X, random_state=0, **settings)
            assert result.value == pytest.approx(d, abs=0.35)
            assert result.glance()["dimension"][0] == d


def test_it_behaves_as_a_number_and_keeps_its_recipe() -> None:
    """The value compares and formats as a float; the recorded call reproduces the result."""
    X = points("cloud")
    result = dreval.intrinsic_dimension(X, method="mle", n_neighbors=7, conf_level=0.9, random_state=5)
    assert 1 < result < 10
    assert f"{result:.1f}" == f"{result.value:.1f}"
    assert result.call == ("dreval.intrinsic_dimension(X, method='mle', n_neighbors=7, conf_level=0.9, random_state=5)")
    repeated = eval(result.call, {"dreval": dreval, "X": X})
    assert (repeated.value, repeated.se, repeated.conf_low) == (result.value, result.se, result.conf_low)
    row = result.tidy().iloc[0]
    assert (row["value"], row["se"], row["conf_level"], row["parameters"]) == (
        result.value,
        result.se,
        0.9,
        "n_neighbors=7",
    )


@settings
def test_the_result_is_the_first_sentence_within_eighty_columns(how: str) -> None:
    """One sentence with the estimate and its interval, in text, HTML and LaTeX."""
    result = dreval.intrinsic_dimension(points("torus"), random_state=0, **SETTINGS[how])
    text = str(result.summary())
    value, low, high = (f"{end:.{1 if end >= 10 else 2}f}" for end in (result.value, result.conf_low, result.conf_high))
    sentence = f"The intrinsic dimension of these points is about {value} (95 % interval {low} to {high})"
    assert " ".join(text.split()).startswith(sentence)
    assert max(map(len, text.splitlines())) <= 80
    assert sentence in " ".join(result.summary().as_html().split())
    assert f"{result.se:.3f}" in str(result.summary(full=True))


def test_the_figures_show_the_fit() -> None:
    """The line has the slope of the estimate; used and left-out ratios are distinct; local dimensions are counted."""
    result = dreval.intrinsic_dimension(points("torus"), random_state=0)
    (ax,) = result.plot().axes
    lines = {line.get_label(): line for line in ax.get_lines()}
    x, y = lines["slope: the dimension"].get_data()
    assert y[1] / x[1] == pytest.approx(result.value)
    assert len(lines["used"].get_xdata()) == 360
    assert len(lines["left out"].get_xdata()) == 39
    assert lines["left out"].get_xdata().min() >= lines["used"].get_xdata().max()
    result = dreval.intrinsic_dimension(points("torus"), method="mle", random_state=0)
    (ax,) = result.plot().axes
    assert sum(bar.get_height() for bar in ax.patches[:-1]) == pytest.approx(398, abs=2)


def test_ties_are_noted_and_grids_raise_an_error() -> None:
    """Rounded data have some ratios of 1; a grid has only such ratios."""
    X = np.round(points("torus"), 1)
    result = dreval.intrinsic_dimension(X, random_state=0)
    (tied,) = [note for note in result.notes if note.code == "intrinsic_dimension.tied"]
    D = np.sort(cdist(np.unique(X, axis=0), np.unique(X, axis=0)), axis=1)
    assert dict(tied.values)["tied"] == np.isclose(D[:, 1], D[:, 2], rtol=1e-12, atol=0).sum()
    grid = np.stack(np.meshgrid(range(5), range(5)), axis=-1).reshape(-1, 2)
    with pytest.raises(UndefinedMeasure, match="`X` must have neighbors at different distances"):
        dreval.intrinsic_dimension(grid)


def test_too_many_neighbors_for_groups_leave_the_estimate_without_interval() -> None:
    """A note in the table and in print states it."""
    result = dreval.intrinsic_dimension(points("cloud")[:20], method="mle", n_neighbors=19)
    assert math.isnan(result.se)
    assert [note.code for note in result.notes] == ["interval.large_k"]
    assert result.tidy()["note"][0].startswith("no interval: k is too large")
    assert "interval " not in str(result).partition("[1]")[0]
    assert "[1] no interval: k is too large" in str(result)
    assert result.glance()[["lowest", "highest"]].nunique(axis=1)[0] == 1
    result.plot()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda X: dreval.intrinsic_dimension(X, method="mel"), UnknownName, "Did you mean 'mle'"),
        (lambda X: dreval.intrinsic_dimension(X, fit="lines"), UnknownName, "Did you mean 'line'"),
        (lambda X: dreval.intrinsic_dimension(X, discard=0.7), InputError, "`discard` must be a finite number"),
        (lambda X: dreval.intrinsic_dimension(X, method="mle", n_neighbors=1), InputError, "`n_neighbors` must be"),
        (lambda X: dreval.intrinsic_dimension(X, method="mle", n_neighbors=60), InputError, "at least 61 different"),
        (lambda X: dreval.intrinsic_dimension(X[[0, 1, 2] * 4]), InputError, "`X` must have at least 4 different rows"),
        (lambda X: dreval.intrinsic_dimension(X[:3]), InputError, "`X` must have at least 4 rows"),
        (lambda X: dreval.intrinsic_dimension(X * np.nan), InputError, "`X` must"),
        (lambda X: dreval.intrinsic_dimension(X, k=3), TypeError, "unexpected keyword argument 'k'"),
    ],
)
def test_errors(call, kind, message) -> None:
    """Each error names the argument, the requirement and the hint."""
    with pytest.raises(kind) as error:
        call(points("cloud"))
    assert message in str(error.value)


def test_the_card_repeats_the_caution_of_the_page() -> None:
    """The caution is on the card, on the page and below the printed result."""
    card = dreval.card("intrinsic_dimension")
    page = " ".join(dreval.intrinsic_dimension.__doc__.split())
    text = " ".join(str(dreval.intrinsic_dimension(points("cloud")).summary(full=True)).split())
    assert card.caution in page
    assert card.caution in text
    assert card is dreval.card("intrinsic_dimension", "analysis")
    assert {"facco2017", "levina2004", "mackay2005"} == set(card.works)
