"""Words on what is not settled: equal distances, values near chance, chance that differs, and one embedding alone."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from report_cases import make_results, measure_row, simulated_results

from dreval.report._numbers import fixed, of_hundred
from dreval.report.contents.page import cautions
from dreval.report.reading import read_results
from dreval.report.statements import verdicts


def tied(value, worst, best, chance=0.1, measure="neighborhood_overlap", **more):
    """The verdict on an embedding whose value equal distances leave open, beside one that has none."""
    rows = [
        measure_row("a", measure, "n_neighbors=15", value, chance, worst=worst, best=best, **more),
        measure_row("b", measure, "n_neighbors=15", 0.05, chance),
    ]
    return read_results(make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, :2]}))


@given(st.tuples(*[st.floats(0, 1)] * 3), st.floats(0, 0.2), st.floats(0, 0.9))
def test_a_verdict_holds_for_every_order_of_equal_distances(values, half, chance):
    """Where worst and best give other words than the value, no word of quality is said; both ends stand there."""
    worst, value, best = sorted(values)
    plain = {v: verdicts(tied(v, math.nan, math.nan, chance, **ends(v, half)))[0].lead.split(":")[0] for v in values}
    lead = verdicts(tied(value, worst, best, chance, **ends(value, half)))[0].lead
    low, high = of_hundred(worst), of_hundred(best)

    assert (f"equal distances leave it open between {low} and {high}" in lead) == (low != high)
    if low != high:
        assert ("Most" in lead or "half" in lead or "cannot be told" in lead) == (len(set(plain.values())) == 1)


def ends(value, half):
    """An interval around a value."""
    return {"conf_low": value - half, "conf_high": value + half, "conf_method": "jackknife"}


def test_ties_are_said_in_the_card():
    """The sentence of the lead, word by word, open and not; of ranks with both values."""
    assert verdicts(tied(0.24, 0.08, 0.6))[0].lead == (
        "24 of 100 neighbors shown are true, against 10 at chance; equal distances leave it open between 8 and 60."
    )
    assert verdicts(tied(0.7, 0.6, 0.8))[0].lead == (
        "Most neighbors shown are true: 70 of 100, against 10 at chance; "
        "equal distances leave it open between 60 and 80."
    )
    ranks = verdicts(tied(0.9, 0.2, 0.97, 0.5, "trustworthiness"))[0].lead
    assert ranks == "Trustworthiness is left open by equal distances (T\u00a00.900, between 0.200 and 0.970)."


def test_an_order_that_ties_can_turn_is_open():
    """The best value is not called clear where another order of equal distances puts it behind."""
    reading = tied(0.24, 0.01, 0.6)
    said = verdicts(reading)[0]

    assert said.unsettled == ("neighborhood_overlap",)
    assert said.standing == ("Best of the two on neighborhood overlap, but equal distances leave the order open.",)
    assert verdicts(tied(0.24, 0.2, 0.6))[0].standing == ("Best of the two on neighborhood overlap.",)


def test_points_in_one_place_are_said_plainly():
    """A constant embedding is called that, and nothing is read from it."""
    results = make_results([measure_row("a", "trustworthiness", "n_neighbors=15", 0.99, 0.5)], {"a": np.ones((6, 2))})
    said = verdicts(read_results(results))[0]

    assert said.lead == "All points lie in one place: this embedding shows nothing of the data."
    assert said.trust == said.doubt == ()


def test_do_not_read_is_said_of_values_away_from_chance_only():
    """An interval that reaches chance comes first; below half of the way, and clear of chance, it is 'do not read'."""

    def shape(value, high):
        row = measure_row("a", "procrustes_rc", "n_neighbors=5", value, 0.6, conf_low=0.0, conf_high=high)
        return verdicts(read_results(make_results([row], {"a": np.eye(5)[:, :2]})))[0].lead

    assert shape(0.302, 0.65) == "Local Procrustes R_C cannot be told from chance (R_C\u00a00.302)."
    assert shape(0.302, 0.55) == "Do not read shapes within neighborhoods (R_C\u00a00.302)."
    assert shape(0.298, 0.55) == "None of the measures that the words read was computed."


@given(st.lists(st.floats(0.5, 700), min_size=2, max_size=4))
def test_values_by_chance_are_never_averaged(chances):
    """One number where all print the same, both ends where they are near, else a word; nothing in between."""
    names = [f"e{i}" for i in range(len(chances))]
    rows = [measure_row(n, "procrustes_r", "n_neighbors=15", 99.0, c) for n, c in zip(names, chances, strict=True)]
    column = read_results(make_results(rows, {n: np.eye(5)[:, :2] for n in names})).main[0]
    low, high = min(chances), max(chances)

    if column.short_chance == "differs":
        assert high - low > 0.1 * high
    else:
        texts = column.short_chance.split(" to ")
        assert texts[0] == fixed(low, column._chance_places)
        assert texts[-1] == fixed(high, column._chance_places)


def test_different_numbers_of_columns_are_cautioned_and_one_embedding_has_no_order():
    """More columns keep more; with one embedding no sentence speaks of an order or a difference."""
    two = read_results(simulated_results(("a", "b")))

    assert any("have 2 and 3 columns" in s for s in cautions(two, {"a": 2, "b": 3}))
    assert not any("columns" in s for s in cautions(two, {"a": 2, "b": 2}))
    one = cautions(read_results(simulated_results(("only",))), {"only": 2})
    assert not any("order of the" in s or "two embeddings" in s for s in one)
