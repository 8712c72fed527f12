"""The text of a report never contradicts its numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from report_cases import make_results, measure_row, result_views

import dreval
from dreval._text import decimals_for, format_fixed, half_width, percent, probability
from dreval.registry import MEASURES
from dreval.report.best_sets import reaches_chance
from dreval.report.format import join_and, number_word
from dreval.report.result_findings import standing
from dreval.report.result_view import make_column, read_results


@pytest.mark.parametrize(
    ("measure", "value", "low", "high", "chance", "reached"),
    [
        ("trustworthiness", 0.8, 0.4, 0.9, 0.5, True),
        ("trustworthiness", 0.8, 0.6, 0.9, 0.5, False),
        ("trustworthiness", 0.4, 0.3, 0.45, 0.5, True),
        ("procrustes_rc", 0.3, 0.1, 0.95, 0.9, True),
        ("procrustes_rc", 0.3, 0.1, 0.5, 0.9, False),
    ],
)
def test_an_interval_reaches_chance_by_its_worse_end(measure, value, low, high, chance, reached):
    """The worse end is the lower one if higher values are better, else the upper one."""
    rows = [measure_row("a", measure, "n_neighbors=15", value, chance, conf_low=low, conf_high=high)]
    column = read_results(make_results(rows, {"a": np.eye(9)[:, :2]})).find_column(measure)

    assert reaches_chance(column, column.cells["a"]) == reached


@given(result_views())
def test_shades_have_the_order_of_the_values(view):
    """The best is the darkest, a better value is never lighter, and all shades are in [0, 1]."""
    for column in view.main_columns:
        shades = {name: column.shade(name) for name in column.values}
        assert all(0 <= s <= 1 for s in shades.values())
        for a, b in ((a, b) for a in shades for b in shades):
            if column.better(column.values[a], column.values[b]):
                assert shades[a] >= shades[b]


def test_similar_values_have_similar_shades():
    """0.991 and 0.990 of a measure from 0.5 to 1 have nearly the same shade; 0.991 and 0.8 have not."""
    rows = [measure_row(n, "trustworthiness", "n_neighbors=15", v, 0.5) for n, v in (("a", 0.991), ("b", 0.990))]
    similar = read_results(make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, :2]})).main_columns[0]
    rows[1]["value"] = 0.8
    distant = read_results(make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, :2]})).main_columns[0]

    assert similar.shade("a") == 1
    assert similar.shade("b") == pytest.approx(0.99)
    assert distant.shade("b") == 0


def test_a_measure_without_a_card_uses_the_table():
    """A result of a newer version keeps its names, directions and values."""
    rows = [measure_row(n, "new_index", "", v, math.nan, direction="lower") for n, v in (("a", 1.0), ("b", 25.0))]
    view = read_results(make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, :2]}))

    assert standing(view, "a").text == "Best value for other measures."
    assert view.main_columns[0].chance == ""


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=6))
def test_printed_numbers_are_the_numbers(numbers):
    """A printed number differs from the number by half a unit of its last decimal at most, or has three digits."""
    places = decimals_for(numbers, (-math.inf, math.inf))
    for value in numbers:
        text = format_fixed(value, places).replace("−", "-").replace(",", "")
        if "e" in text:
            assert float(text) == pytest.approx(value, rel=0.006)
        else:
            assert abs(float(text) - value) <= 0.5000001 * 10.0**-places
            assert text != "-0"


@given(st.one_of(st.floats(0, 1), st.floats(0, 0.006)), st.integers(0, 2))
@example(0.005, 0)
@example(0.00499, 1)
def test_a_percentage_is_not_rounded_to_0_or_100(share, decimals):
    """Only 0 and 1 print as 0 and 100, and small shares have their first digits."""
    text = percent(share, decimals)

    if text[:4] in ("less", "more"):
        assert 0 < share < 1.1e-5 if text.startswith("less") else 0.99 < share < 1
        return
    assert (float(text) == 0) == (share == 0)
    assert (float(text) == 100) == (share == 1)
    assert abs(float(text) - 100 * share) <= 0.5000001 * min(
        1, max(100 * share, 1e-9) if share <= 0.005 else 10.0**-decimals
    )


@given(st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 0.5))
def test_only_a_symmetric_interval_is_a_half_width(value, below, above):
    """A symmetric interval has ``±``; of another interval both ends are printed."""
    text = half_width(value, value - below, value + above, 3)

    if text.startswith("±") and "<" not in text:
        width = float(text.removeprefix("± "))
        assert abs(width - below) <= 0.0011
        assert abs(width - above) <= 0.0011
    elif "<" in text:
        assert max(below, above) < 0.0011
    else:
        assert " to " in text


def test_formats_of_selected_numbers():
    """Digits, bounds, p-values and lists of selected cases have the expected text."""
    assert decimals_for([0.991, 0.85]) == 3
    assert decimals_for([0.9997, 0.85]) == 4
    assert decimals_for([0.0012]) == 5
    assert decimals_for([1234.5, 2.0]) == 0
    assert format_fixed(-0.0001, 3) == "0.000"
    assert format_fixed(-0.5, 1) == "−0.5"
    assert format_fixed(math.inf, 2) == "∞"
    assert half_width(0.5, 0.488, 0.512, 3) == "± .012"
    assert half_width(0.99, 0.95, 1.0, 3) == "0.950 to 1.000"
    assert half_width(0.5, 0.5, 0.5, 3) == "± 0"
    assert [probability(p) for p in (0.0002, 0.02, 1.0, math.nan)] == ["<.001", ".020", "1", "—"]
    assert join_and(["a"]) == "a"
    assert join_and(["a", "b", "c"]) == "a, b and c"
    assert number_word(4) == "four"
    assert number_word(12) == "12"


def test_a_measure_without_direction_has_no_ranking():
    """Without a direction no value is better: there is no shade, and no finding names the measure."""
    rows = [measure_row(n, "k_max", "", v, 45.3) for n, v in (("a", 99.0), ("b", 4.0), ("c", 120.0))]
    view = read_results(make_results(rows, {name: np.eye(5)[:, :2] for name in "abc"}))
    column = view.main_columns[0]

    assert (column.leaders, column.worst, [column.shade(name) for name in "abc"]) == ((), (), [0.0, 0.0, 0.0])
    assert [column.format_value(column.values[name]) for name in "abc"] == ["99", "4", "120"]


@pytest.mark.parametrize(
    ("measure", "title"),
    [
        ("ks_distance", "Kolmogorov-Smirnov distance"),
        ("wasserstein_distance", "Wasserstein distance"),
        ("label_continuity", "label-continuity"),
        ("latent_r2", "R^2 of the latent variables"),
        ("knn_accuracy", "class accuracy"),
        ("trustworthiness", "trustworthiness"),
    ],
)
def test_names_of_persons_and_symbols_keep_their_capital(measure, title):
    """Within a sentence a title begins in lower case, unless its first word is a name or a symbol."""
    view = read_results(make_results([measure_row("a", measure, "", 0.5, 0.1)], {"a": np.eye(5)[:, :2]}))

    assert view.main_columns[0].title_in_sentence == title


def test_tiny_values_are_printed_as_zero():
    """Next to values of ordinary size, a value below the last decimal prints as zero."""
    assert [format_fixed(v, 5) for v in (6e-8, 1e-9, 0.0)] == ["0.00000"] * 3
    assert format_fixed(1e-9, 8) == "1.00e−09"


def test_rounding_errors_need_no_decimals():
    """A value that is a bound up to rounding prints as the bound, and others have three decimals."""
    assert decimals_for([1.0 - 2e-16, 0.5], (0.0, 1.0)) == 3
    assert decimals_for([1.3e-16], (0.0, 1.0)) == 3
    assert format_fixed(1.3e-16, decimals_for([1.3e-16])) == "0.000"
    assert decimals_for([1.0 - 2e-5, 0.5], (0.0, 1.0)) == 5


@given(st.lists(st.floats(0.5, 700), min_size=2, max_size=4))
def test_values_by_chance_are_never_averaged(chances):
    """Equal chance levels are one number, similar ones have both ends, and others a word; none is averaged."""
    names = [f"e{i}" for i in range(len(chances))]
    rows = [measure_row(n, "procrustes_r", "n_neighbors=15", 99.0, c) for n, c in zip(names, chances, strict=True)]
    column = read_results(make_results(rows, {n: np.eye(5)[:, :2] for n in names})).main_columns[0]
    low, high = min(chances), max(chances)

    if column.short_chance == "differs":
        assert high - low > 0.1 * high
    else:
        texts = column.short_chance.split(" to ")
        assert texts[0] == format_fixed(low, column._chance_decimals)
        assert texts[-1] == format_fixed(high, column._chance_decimals)


def test_names_of_measures_in_sentences_have_no_comma() -> None:
    """Else a list of them, "by A, B and C", cannot be read."""
    names = {name: make_column(name, "", []).noun_in_sentence for name in MEASURES}
    assert {name: text for name, text in names.items() if "," in text} == {}
    assert names["information_imbalance_false"] == "information imbalance from embedding to data"


def test_titles_of_imbalance_fit_into_the_table() -> None:
    """Their words are not cut where four embeddings are compared."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    maps = {name: X[:, columns] for name, columns in {"a": [0, 1], "b": [1, 2], "c": [2, 3], "d": [0, 3]}.items()}
    measures = ["information_imbalance_false", "information_imbalance_missing"]
    text = str(dreval.Evaluation(X, maps, random_state=0).run(measures, None, ci=None))
    assert "\nImbalance (embedding to data) ↓ " in text
    assert "\nImbalance (data to embedding) ↓ " in text
