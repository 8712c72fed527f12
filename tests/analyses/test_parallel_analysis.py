"""Parallel analysis against psych of R, p-values by hand, identities and errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from figure_reading import cut_off, overlapping
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import dreval
from dreval._random import stream
from dreval.errors import InputError

ORACLES = Path(__file__).resolve().parent.parent / "validation" / "oracles"
sys.path.insert(0, str(ORACLES))
from intrinsic_points import points  # noqa: E402 - lies beside the script that ran elsewhere

PSYCH = json.loads((ORACLES / "psych.json").read_text())


def table(name: str) -> np.ndarray:
    """The points of make_psych.R: twelve columns that are nearly uncorrelated, and three factors of three more."""
    wide = points("wide")
    if name == "wide":
        return wide
    return np.c_[wide[:, :3], np.repeat(wide[:, :3], 3, axis=1) + 0.8 * wide[:, 3:]]


@pytest.mark.parametrize("name", ["wide", "factors"])
def test_eigenvalues_and_components_are_those_of_psych(name: str) -> None:
    """Eigenvalues to 1e-12; permutation results within the error of its 999 draws with replacement."""
    result, expected = dreval.parallel_analysis(table(name), n_resamples=999, random_state=0), PSYCH[name]
    for key in ("eigenvalues", "cor"):
        assert_allclose(result.tidy()["eigenvalue"], expected[key], rtol=1e-12)
    assert result.n_components == expected["components"]
    assert_allclose(result.tidy()["chance"], expected["null mean"], rtol=0.006)
    assert_allclose(result.tidy()["null_quantile"], expected["null quantile"], rtol=0.02)


@pytest.mark.parametrize(("n", "p"), [(40, 5), (12, 12), (13, 12), (8, 30)])
def test_a_naive_twin_gives_the_same_table(n: int, p: int) -> None:
    """numpy's corrcoef of every permuted table, p-values counted; also with p = n and p > n."""
    rng = np.random.default_rng(n * p)
    X = rng.normal(size=(n, p)) + 1.5 * rng.normal(size=(n, 1)) * np.arange(p)
    result = dreval.parallel_analysis(X, n_resamples=39, random_state=4)
    q = min(n - 1, p)
    eigenvalues = [np.sort(np.linalg.eigvalsh(np.corrcoef(X.T)))[::-1][:q]]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for b in range(39):
        order = stream(4, "parallel analysis", b).permuted(Z, axis=0)
        assert_allclose(np.sort(order, axis=0), np.sort(Z, axis=0))
        eigenvalues.append(np.sort(np.linalg.eigvalsh(np.corrcoef(order.T)))[::-1][:q])
    observed, *null = np.array(eigenvalues)
    assert_allclose(result.tidy()["eigenvalue"], observed, atol=1e-10)
    assert_allclose(result.null_eigenvalues, null, atol=1e-10)
    p_values = [(1 + sum(eigenvalues[i] >= observed[i] - 1e-10 for eigenvalues in null)) / 40 for i in range(q)]
    assert_allclose(result.tidy()["p_value"], p_values)
    assert result.n_components == next((i for i, value in enumerate(p_values) if value > 0.05), q)
    assert_allclose(result.tidy()["share"].sum(), 1.0)


def test_components_behind_the_first_failure_are_not_retained() -> None:
    """Of a flat spectrum the last eigenvalues exceed those of permuted columns, and the first does not."""
    result = dreval.parallel_analysis(table("wide"), random_state=0).tidy()
    assert result["p_value"].iloc[0] > 0.05
    assert (result["p_value"].tail(3) <= 0.05).all()
    assert not result["kept"].any()


def test_two_columns_have_one_correlation() -> None:
    """Eigenvalues 1 + |r| and 1 - |r|; the p-value is that of the permutation test of |r|."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + 0.4 * rng.normal(size=(30, 1))
    result = dreval.parallel_analysis(X, random_state=0)
    r = abs(np.corrcoef(X.T)[0, 1])
    assert_allclose(result.tidy()["eigenvalue"], [1 + r, 1 - r])
    assert_allclose(result.null_eigenvalues.sum(axis=1), 2.0)
    assert result.tidy()["p_value"][0] == (1 + (result.null_eigenvalues[:, 0] >= 1 + r).sum()) / 200


def test_units_kinds_of_table_and_threads_do_not_matter() -> None:
    """Columns are standardized; permutation b depends on the seed and b alone."""
    X = table("factors")
    default = dreval.parallel_analysis(X, n_resamples=59, random_state=0)
    powers = 10.0 ** np.arange(-50, 50, 8)[:12]
    units = X * powers + np.arange(12) * powers
    for X_form, settings in ((pd.DataFrame(X), {}), (sparse.csr_array(X), {}), (X, {"n_jobs": 1})):
        result = dreval.parallel_analysis(X_form, n_resamples=59, random_state=0, **settings)
        assert_array_equal(result.null_eigenvalues, default.null_eigenvalues)
    result = dreval.parallel_analysis(units, n_resamples=59, random_state=0)
    assert_allclose(result.null_eigenvalues, default.null_eigenvalues, rtol=1e-9)
    settings = dreval.parallel_analysis(X, n_resamples=79, random_state=0)
    assert_array_equal(settings.null_eigenvalues[:59], default.null_eigenvalues)
    X_form = dreval.parallel_analysis(X, n_resamples=59, random_state=1)
    assert (X_form.null_eigenvalues != default.null_eigenvalues).any()


def test_the_result_is_the_first_sentence_within_eighty_columns() -> None:
    """The sentence has the number of retained components and their share; without any component it differs."""
    result = dreval.parallel_analysis(table("factors"), random_state=0)
    text = str(result.summary())
    share = result.tidy()["share"].head(3).sum()
    assert " ".join(text.split()).startswith(
        "3 of 12 components have larger eigenvalues than independent columns would give; they hold "
        f"{100 * share:.0f} % of the variance"
    )
    assert max(map(len, text.splitlines())) <= 80
    assert "Only the p-value of the first component is exact" in " ".join(text.split())
    none = dreval.parallel_analysis(table("wide"), random_state=0)
    assert str(none).startswith("No component has a larger eigenvalue")
    assert result.glance()["share"][0] == pytest.approx(share)
    assert none.glance()["share"][0] == 0
    repeated = eval(result.call, {"dreval": dreval, "X": table("factors")})
    assert_array_equal(repeated.null_eigenvalues, result.null_eigenvalues)


def test_the_figure_shows_eigenvalues_above_permutation() -> None:
    """Retained components are filled; the line and the null mean are those of the table."""
    result = dreval.parallel_analysis(table("factors"), random_state=0)
    (ax,) = result.plot().axes
    lines = [line.get_ydata() for line in ax.get_lines()]
    assert any(np.array_equal(line, result.tidy()["eigenvalue"]) for line in lines)
    assert any(np.array_equal(line, result.tidy()["chance"]) for line in lines)
    marks = {line.get_label(): len(line.get_xdata()) for line in ax.get_lines() if line.get_marker() == "o"}
    assert marks == {"kept": 3, "not kept": 9}
    wide = dreval.parallel_analysis(np.random.default_rng(0).normal(size=(30, 60)), n_resamples=19, random_state=0)
    assert "29" not in wide.plot().axes[0].get_xlabel()
    assert wide.plot(ax=ax) is ax


@pytest.mark.parametrize("name", ["factors", "wide"])
@pytest.mark.parametrize("narrow", [False, True])
def test_the_legend_covers_no_data(name: str, narrow: bool) -> None:
    """The label is above the Axes, or in narrow ones above the highest point; inside the figure, and on no text."""
    result = dreval.parallel_analysis(table(name), random_state=0)
    if narrow:
        figure = Figure(figsize=(6, 5))
        ax = result.plot(ax=figure.subplots(2, 2)[0, 0])
    else:
        figure = result.plot()
        (ax,) = figure.axes
    figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    top = max(line.get_ydata().max() for line in ax.get_lines())
    top = max(top, *(path.vertices[:, 1].max() for collection in ax.collections for path in collection.get_paths()))
    assert box.y0 > ax.transData.transform((0, top))[1]
    assert (box.y0 >= ax.get_window_extent().y1 - 1) != narrow
    assert box.x0 >= ax.get_window_extent().x0 - 1
    assert box.x1 <= ax.get_window_extent().x1 + 1
    assert cut_off(figure) == []
    if not narrow:
        assert overlapping(figure) == []


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda X: dreval.parallel_analysis(np.c_[X, X[:, 0] * 0 + 3]),
            InputError,
            "no constant column: got column 12.",
        ),
        (
            lambda X: dreval.parallel_analysis(pd.DataFrame({"a": X[:, 0], "b": 1.0, "c": 2.0})),
            InputError,
            "column 'b' and 1 more. Leave constant columns out",
        ),
        (lambda X: dreval.parallel_analysis(X, n_resamples=18), InputError, "`n_resamples` must be at least 19"),
        (lambda X: dreval.parallel_analysis(X, alpha=0.0), InputError, "`alpha` must be a finite number"),
        (lambda X: dreval.parallel_analysis(X, n_resample=19), TypeError, "unexpected keyword argument 'n_resample'"),
    ],
)
def test_errors(call, kind, message) -> None:
    """Each error names the argument, the requirement and the hint."""
    with pytest.raises(kind) as error:
        call(table("wide"))
    assert message in str(error.value)


def test_nineteen_permutations_are_enough_at_five_percent() -> None:
    """(1 + 0) / 20 is .05."""
    result = dreval.parallel_analysis(table("factors"), n_resamples=19, random_state=0)
    assert result.n_components == 3
    assert result.tidy()["p_value"].min() == 0.05
