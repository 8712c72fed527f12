"""The words of a report never contradict its numbers."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import make_results, measure_row, readings, simulated_results

from dreval.report._numbers import decimals_for, fixed, half_width, in_words, of_hundred, ordered, probability
from dreval.report.contents.page import card_lines, cautions, definitions, head_line
from dreval.report.reading import read_results
from dreval.report.statements import Decided, in_chance, verdicts


def spoken(verdict):
    """All that is said of an embedding."""
    return " ".join([verdict.lead, *verdict.trust, *verdict.doubt, *verdict.standing, *verdict.missing])


@given(readings())
def test_the_best_is_the_best(reading):
    """Who is called best has a value that no other has in print, and that no other surpasses; the same for last."""
    for verdict in verdicts(reading):
        for measure in (*verdict.best, *verdict.shared, *verdict.last):
            column = reading.find(measure)
            mine = column.values[verdict.name]
            others = [v for name, v in column.values.items() if name != verdict.name]
            sign = 1 if column.higher else -1
            if measure in verdict.best:
                assert all(sign * mine > sign * v for v in others)
                assert others
            elif measure in verdict.shared:
                assert all(sign * mine >= sign * v or column.shown(mine) == column.shown(v) for v in others)
                assert any(column.shown(mine) == column.shown(v) for v in others)
            else:
                assert all(sign * mine <= sign * v or column.shown(mine) == column.shown(v) for v in others)


@given(readings())
def test_every_column_with_a_difference_has_a_leader(reading):
    """Where values differ in print someone is named best; where they do not, or only one has a value, nobody is."""
    said = verdicts(reading)
    for column in reading.main:
        named = [v.name for v in said if column.measure in (*v.best, *v.shared)]
        differ = len({column.shown(value) for value in column.values.values()}) > 1

        assert bool(named) == differ
        assert tuple(named) == column.leaders


@given(readings(intervals=True))
def test_intervals_that_overlap_are_named_where_nothing_was_tested(reading):
    """A best whose interval overlaps another one is the best in print; the words say so, and claim nothing of order."""
    for verdict in verdicts(reading):
        for measure in verdict.best:
            cells = {n: c for n, c in reading.find(measure).cells.items() if not c.missing}
            mine = cells[verdict.name]
            overlap = any(mine.low <= c.high and c.low <= mine.high for n, c in cells.items() if n != verdict.name)
            assert (measure in verdict.unsettled) == overlap
            assert (measure in verdict.clear) == (not overlap)
        assert any("no paired test was run" in s for s in verdict.standing) == bool(verdict.unsettled)
        assert any(s.startswith("Clearly best") for s in verdict.standing) == bool(verdict.clear)
        assert "order" not in " ".join(verdict.standing)


@given(readings(intervals=True), st.sampled_from([True, False, None]))
def test_where_paired_tests_are_nothing_goes_by_intervals(reading, clear):
    """The same tests decide on the card and in the full text, whatever the intervals; both count the same measures."""
    found = {} if clear is None else {column.measure: clear for column in reading.main}
    tested = Decided(dict.fromkeys(reading.names, found))
    for verdict in verdicts(reading, tested):
        said = " ".join(verdict.standing)
        assert verdict.clear == (verdict.best if clear else ())
        assert verdict.unsettled == (verdict.best if clear is False else ())
        assert "intervals" not in said
        assert ("paired tests leave the order open" in said) == bool(verdict.unsettled)
        assert ("Clearly best" in said) == bool(verdict.clear)
        card = " ".join(words for _, words in card_lines(reading, verdict, tested))
        if verdict.best:
            assert ("not clearly" in card) == (not clear)


@given(readings(intervals=True))
def test_neither_best_nor_last_is_neither(reading):
    """A card counts as last what is last in print, all of it, and says "neither" of nobody who is."""
    for verdict in verdicts(reading):
        last = tuple(c.measure for c in reading.main if verdict.name in c.last)
        words = " ".join(words for _, words in card_lines(reading, verdict, Decided()))
        assert verdict.last == last
        assert not ("either best nor last" in words and (last or verdict.best or verdict.shared))


def test_of_two_the_one_that_is_never_best_is_last():
    """The card of the loser of two says so, and the full text as well."""
    rows = [measure_row(n, "trustworthiness", "", v, 0.5) for n, v in (("a", 0.9), ("b", 0.8))]
    reading = read_results(make_results(rows, {n: np.eye(5)[:, :2] for n in "ab"}))
    first, second = verdicts(reading)

    assert (first.standing, second.standing) == (
        ("Best of the two on trustworthiness.",),
        ("Last of the two on trustworthiness.",),
    )
    assert dict(card_lines(reading, second, Decided()))[""] == "Last on trustworthiness."


def test_last_by_paired_tests_with_intervals_that_overlap():
    """Last on all in print, with wide intervals: it is last, and the best is clear where the paired tests say so."""
    names = ("trustworthiness", "continuity")
    rows = [
        measure_row(n, measure, "", v, 0.5, conf_low=v - 0.1, conf_high=v + 0.1)
        for measure in names
        for n, v in (("a", 0.91), ("b", 0.90), ("c", 0.89))
    ]
    reading = read_results(make_results(rows, {n: np.eye(5)[:, :2] for n in "abc"}))
    tested = Decided({"a": {"trustworthiness": True, "continuity": False}, "b": {}, "c": dict.fromkeys(names, False)})
    first, middle, last = verdicts(reading, tested)
    cards = [dict(card_lines(reading, said, tested))[""] for said in (first, middle, last)]

    assert first.standing == (
        "Clearly best of the three on trustworthiness.",
        "Best of the three on continuity, but paired tests leave the order open.",
    )
    assert last.standing == ("Last of the three on both measures.",)
    assert cards == [
        "Best on both measures, one clearly.",
        "Neither best nor last of three.",
        "Last on both measures.",
    ]


@given(readings())
def test_all_measures_are_claimed_only_by_who_leads_all(reading):
    """'all' and 'both' stand only where every compared measure is meant, and counts of embeddings are right."""
    computed = len(reading.computed)
    for verdict in verdicts(reading):
        for sentence in verdict.standing:
            crowd = re.search(r"of the (\w+)( that have a value)?", sentence)
            counts = {len(c.values) for c in reading.main if c.leaders}
            count = next(c for c in range(6) if in_words(c) == crowd.group(1))
            assert count in counts
            assert (count < computed) == ("that ha" in sentence)
            if "all " in sentence or "both " in sentence:
                compared = {c.measure for c in reading.main if c.leaders and len(c.values) == count}
                kind = next(k for start, k in KINDS.items() if sentence.startswith(start))
                assert compared <= set(getattr(verdict, kind))


def said_of(measure, value, chance):
    """The words on one embedding of which one measure is known."""
    rows = [measure_row("a", measure, "", value, chance)]
    return verdicts(read_results(make_results(rows, {"a": np.eye(5)[:, :2]})))[0]


@pytest.mark.parametrize(
    ("measure", "value", "chance", "words"),
    [
        ("r_nx_auc", 0.7, 0.0, "Over all sizes, neighborhoods are mostly kept: 70\u00a0% of the way from chance to"),
        ("r_nx_auc", 0.5, 0.0, "are about half kept: 50\u00a0%"),
        ("r_nx_auc", 0.2, 0.0, "are mostly lost: 20\u00a0%"),
        ("r_nx_auc", -0.1, 0.0, "Area under R_NX cannot be told from chance (AUC\u00a0−0.100)."),
        ("triplet_accuracy", 0.81, 0.5, "is shown nearer for 81 of 100, against 50 at chance."),
        ("triplet_accuracy", 0.5, 0.5, "does not tell which of two points is nearer to a third: right for 50 of 100"),
        ("procrustes_rn_opt", 0.02, 0.9, "neighborhoods keep shape and size (R_N,opt\u00a00.0200)."),
        ("procrustes_rn_opt", 0.6, 0.9, "neighborhoods lose shape or size (R_N,opt\u00a00.600)."),
        ("mrre_false", 0.01, 0.5, "Neighbors shown have nearly their ranks of the data"),
        ("mrre_missing", 0.3, 0.5, "Neighbors in the data may be shown far down in the order"),
        ("jaccard", 0.95, 0.01, "Neighborhoods agree with those of the data"),
        ("local_radius_correlation", 0.95, 0.0, "Dense regions are shown dense"),
        ("local_radius_correlation", 0.2, 0.0, "Do not read densities"),
        ("kendall_distance", 0.95, 0.0, "Distances keep their order"),
        ("pearson_distance", 0.3, 0.0, "Do not read distances between groups"),
        ("latent_r2", 0.97, 0.05, "The true latent variables can be read off"),
        ("label_trustworthiness", 0.3, 0.0, "Classes apart in the data may be shown mixed"),
        ("label_continuity", 0.3, 0.0, "Classes mixed in the data may be shown apart"),
    ],
)
def test_words_of_one_measure(measure, value, chance, words):
    """Each measure is put into words against its chance value, by the thresholds that the report names."""
    assert words in said_of(measure, value, chance).lead


def test_a_measure_that_answers_the_same_question_is_silent():
    """Pearson beside Spearman says nothing, alone it speaks; one without a value gives way."""
    pearson = measure_row("a", "pearson_distance", "", 0.3, 0.0)
    for value, count in ((0.95, 0), (math.nan, 1)):
        rows = [measure_row("a", "spearman_distance", "", value, 0.0, note="why"), pearson]
        said = spoken(verdicts(read_results(make_results(rows, {"a": np.eye(5)[:, :2]})))[0])
        assert said.count("Do not read distances") == count


KINDS = {"Clearly best": "clear", "Best": "best", "Shares": "shared", "Last": "last"}


@given(readings())
def test_the_lead_agrees_with_the_share_of_true_neighbors(reading):
    """'most are true' only above a half, 'most are false' only below, and chance is named where it is not beaten."""
    column = reading.find("neighborhood_overlap")
    for verdict in verdicts(reading):
        cell = column.cells[verdict.name]
        if cell.missing:
            assert "Neighborhood overlap" in " ".join(verdict.missing) or "neighborhood overlap" in " ".join(
                verdict.missing
            )
            continue
        lead = verdict.lead
        assert f"{of_hundred(cell.value)} of 100" in lead
        assert "against 1 at chance" in lead
        if in_chance(column, cell):
            assert "cannot be told from chance" in lead
        else:
            assert cell.value > cell.chance
            assert ("Most neighbors shown are true" in lead) <= (cell.value > 0.5)
            assert ("Most neighbors shown are false" in lead) <= (cell.value < 0.5)
            assert ("About half" in lead) == (0.45 - 1e-12 <= cell.value <= 0.55)


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
def test_the_end_of_the_interval_towards_chance_decides(measure, value, low, high, chance, reached):
    """The lower end where higher values are better, else the upper one."""
    rows = [measure_row("a", measure, "n_neighbors=15", value, chance, conf_low=low, conf_high=high)]
    column = read_results(make_results(rows, {"a": np.eye(9)[:, :2]})).find(measure)

    assert in_chance(column, column.cells["a"]) == reached


@given(readings())
def test_trust_and_doubt_agree_with_the_numbers(reading):
    """Nothing at or below chance is trusted, and each sentence about ranks stands with its own value."""
    for verdict in verdicts(reading):
        for measure, far, near in (
            ("trustworthiness", "may be far apart", "Points shown close are"),
            ("continuity", "may be shown far apart", "Points close in the data are"),
        ):
            column = reading.find(measure)
            cell = column.cells[verdict.name]
            said = spoken(verdict)
            good = [s for s in (verdict.lead, *verdict.trust) if s.startswith(near)]
            if cell.missing:
                assert not good
                assert far not in said
                continue
            share = (cell.value - 0.5) / 0.5
            assert bool(good) == (share >= 0.8 and not in_chance(column, cell))
            assert (far in said) == (share < 0.8 and not in_chance(column, cell))
            if good:
                assert column.shown(cell.value) in good[0]
                assert ("mostly" in good[0]) == (share < 0.9)


@given(readings())
def test_words_claim_no_significance_and_name_what_is_missing(reading):
    """No word of significance or proof; every missing value is named with its reason."""
    for verdict in verdicts(reading):
        said = spoken(verdict)
        assert not re.search(r"signific|prove|certain|always|never", said)
        assert "nan" not in said.split()
        for column in reading.main:
            if column.cells[verdict.name].missing:
                assert any(column.named in s and "a reason" in s for s in verdict.missing)


@given(readings())
def test_shades_order_as_the_values_do(reading):
    """The best is the darkest, a better value is never lighter, and all shades lie in [0, 1]."""
    for column in reading.main:
        shades = {name: column.shade(name) for name in column.values}
        assert all(0 <= s <= 1 for s in shades.values())
        for a, b in ((a, b) for a in shades for b in shades):
            if column.better(column.values[a], column.values[b]):
                assert shades[a] >= shades[b]


def test_values_that_hardly_differ_are_shaded_alike():
    """0.991 and 0.990 of a measure from 0.5 to 1 look the same; 0.991 and 0.8 do not."""
    rows = [measure_row(n, "trustworthiness", "n_neighbors=15", v, 0.5) for n, v in (("a", 0.991), ("b", 0.990))]
    near = read_results(make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, :2]})).main[0]
    rows[1]["value"] = 0.8
    far = read_results(make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, :2]})).main[0]

    assert near.shade("a") == 1
    assert near.shade("b") == pytest.approx(0.99)
    assert far.shade("b") == 0


def test_the_verdicts_of_the_example_read_as_they_should():
    """One known result, word by word."""
    first, second, *_, last = verdicts(read_results(simulated_results(intervals=False)))

    assert first.lead == "Most neighbors shown are true: 98 of 100, against 1 at chance."
    assert first.trust[0] == "Points shown close are close in the data (T\u00a00.977)."
    assert first.standing == ("Best of the four on all six measures.",)
    assert second.standing == ()
    assert "Last of the four on all six measures." in last.standing
    assert "Points shown close may be far apart in the data (T\u00a00.678)." in last.doubt


def test_a_failed_embedding_is_said_to_have_failed_and_counts_for_nothing():
    """Its card is the reason; the others are compared among themselves."""
    said = verdicts(read_results(simulated_results(("a", "b", "c"), failed={"broken": "no memory"})))

    assert said[-1].lead == "Could not be computed: no memory"
    assert said[-1].standing == ()
    assert "Clearly best of the three" in " ".join(said[0].standing)


def test_one_embedding_is_best_of_nothing():
    """With one embedding nothing is compared, neither in the verdict nor in what may not be concluded."""
    reading = read_results(simulated_results(("only",)))

    assert verdicts(reading)[0].standing == ()
    assert not any("Best" in s for s in cautions(reading, {"only": 2}))
    assert not any("best" in term for term, _ in definitions(reading))


def test_a_measure_without_a_card_is_read_from_the_table():
    """A result made by a newer version keeps its names, directions and values."""
    rows = [measure_row(n, "new_index", "", v, math.nan, direction="lower") for n, v in (("a", 1.0), ("b", 25.0))]
    reading = read_results(make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, :2]}))

    assert verdicts(reading)[0].standing == ("Best of the two on new_index.",)
    assert reading.main[0].chance == ""
    assert dict(definitions(reading))["new_index"] == "Lower is better, without bounds."


@pytest.mark.parametrize(
    ("results", "wanted", "unwanted"),
    [
        (simulated_results(), ["Intervals speak of the population", "k = 15"], ["have no intervals"]),
        (simulated_results(intervals=False), ["Values have no intervals"], ["Intervals speak"]),
        (simulated_results(ks=(5, 15)), ["effect size"], ["At another scale"]),
        (simulated_results(classes=0), ["low bar"], ["A small p", "Classes that lie apart"]),
        (simulated_results(anchors=50), ["random part of the points"], []),
        (simulated_results(d=3), ["embeddings show the first two"], []),
    ],
)
def test_cautions_stand_where_they_apply(results, wanted, unwanted):
    """Each sentence on what may not be concluded appears with its cause and not without."""
    reading = read_results(results)
    said = " ".join(cautions(reading, {n: Y.shape[1] for n, Y in results.embeddings.items()}))

    assert all(part in said for part in wanted)
    assert not any(part in said for part in unwanted)


def test_the_head_line_says_what_was_evaluated():
    """Size, dimension, scale, metric, intervals and seed in one line."""
    results = simulated_results(ks=(5, 15, 50), anchors=60)

    assert head_line(read_results(results), {"a": 2}) == (
        "120 points in 10 dimensions, shown in 2 · k = 15 (and 2 more) · euclidean · seen from 60 anchors · "
        "95 % intervals · seed 0"
    )


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=6))
def test_printed_numbers_are_the_numbers(numbers):
    """A printed number differs from the number by half a unit of its last place at most, or shows three figures."""
    places = decimals_for(numbers, (-math.inf, math.inf))
    for value in numbers:
        text = fixed(value, places).replace("−", "-").replace(",", "")
        if "e" in text:
            assert float(text) == pytest.approx(value, rel=0.006)
        else:
            assert abs(float(text) - value) <= 0.5000001 * 10.0**-places
            assert text != "-0"


@given(st.floats(0, 1))
def test_a_share_is_counted_without_rounding_onto_none_or_all(share):
    """0 and 100 of 100 are said of exactly 0 and 1 only."""
    text = of_hundred(share)

    assert (text == "0") == (share == 0)
    assert (text == "100") == (share == 1)
    if text.isdigit():
        assert abs(int(text) - 100 * share) <= 0.5000001


@given(st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 0.5))
def test_an_interval_is_printed_as_what_it_is(value, below, above):
    """``±`` stands for a symmetric interval only; else both ends are printed."""
    text = half_width(value, value - below, value + above, 3)

    if text.startswith("±") and "<" not in text:
        width = float(text.removeprefix("± "))
        assert abs(width - below) <= 0.0011
        assert abs(width - above) <= 0.0011
    elif "<" in text:
        assert max(below, above) < 0.0011
    else:
        assert " to " in text


def test_small_things_of_print():
    """Hand-written cases: digits, bounds, p-values, lists."""
    assert decimals_for([0.991, 0.85]) == 3
    assert decimals_for([0.9997, 0.85]) == 4
    assert decimals_for([0.0012]) == 5
    assert decimals_for([1234.5, 2.0]) == 0
    assert fixed(-0.0001, 3) == "0.000"
    assert fixed(-0.5, 1) == "−0.5"
    assert fixed(math.inf, 2) == "∞"
    assert half_width(0.5, 0.488, 0.512, 3) == "± .012"
    assert half_width(0.99, 0.95, 1.0, 3) == "0.950 to 1.000"
    assert half_width(0.5, 0.5, 0.5, 3) == "± 0"
    assert [probability(p) for p in (0.0002, 0.02, 1.0, math.nan)] == ["<.001", ".020", "1", "—"]
    assert ordered(["a"]) == "a"
    assert ordered(["a", "b", "c"]) == "a, b and c"
    assert in_words(4) == "four"
    assert in_words(12) == "12"


def test_a_measure_without_direction_ranks_nothing():
    """Of a scale no value is the better one: it is printed whole, without shade, and no verdict names it."""
    rows = [measure_row(n, "k_max", "", v, 45.3) for n, v in (("a", 99.0), ("b", 4.0), ("c", 120.0))]
    reading = read_results(make_results(rows, {name: np.eye(5)[:, :2] for name in "abc"}))
    column = reading.main[0]

    assert [said.standing for said in verdicts(reading)] == [(), (), ()]
    assert (column.leaders, column.last, [column.shade(name) for name in "abc"]) == ((), (), [0.0, 0.0, 0.0])
    assert [column.shown(column.values[name]) for name in "abc"] == ["99", "4", "120"]
    assert "No direction, from 1 up" in dict(definitions(reading))["Scale of the best agreement K_max"]


def test_perfect_values_that_chance_reaches_too_are_no_reproach():
    """Where an unrelated embedding is perfect as well, a perfect value is neither praised nor said to be chance."""
    rows = [measure_row("a", "label_continuity", "", 1.0, 1.0), measure_row("a", "trustworthiness", "", 0.99, 0.5)]
    said = verdicts(read_results(make_results(rows, {"a": np.eye(5)[:, :2]})))[0]

    assert "abel-continuity" not in spoken(said)
    assert said.doubt == ()

    rows[0] = measure_row("a", "label_continuity", "", 0.9, 1.0)
    doubt = verdicts(read_results(make_results(rows, {"a": np.eye(5)[:, :2]})))[0]
    assert "Label-continuity cannot be told from chance" in spoken(doubt)


@pytest.mark.parametrize(
    ("measure", "named"),
    [
        ("ks_distance", "Kolmogorov-Smirnov distance"),
        ("wasserstein_distance", "Wasserstein distance"),
        ("label_continuity", "label-continuity"),
        ("latent_r2", "R^2 of the latent variables"),
        ("knn_accuracy", "k-NN accuracy"),
        ("trustworthiness", "trustworthiness"),
    ],
)
def test_names_of_persons_and_symbols_keep_their_capital(measure, named):
    """Within a sentence a title begins small, unless its first word is a name or a symbol."""
    reading = read_results(make_results([measure_row("a", measure, "", 0.5, 0.1)], {"a": np.eye(5)[:, :2]}))

    assert reading.main[0].named == named


def test_tiny_values_that_print_alike_are_alike():
    """Beside values of ordinary size, what is below the last place prints as nought, however small it is."""
    assert [fixed(v, 5) for v in (6e-8, 1e-9, 0.0)] == ["0.00000"] * 3
    assert fixed(1e-9, 8) == "1.00e−09"
