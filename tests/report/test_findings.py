"""Every finding is recomputed from its rows, by rules that are implemented independently in this file."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from report_cases import FULL, make_results, measure_row, ranked_results, result_views

import dreval
from dreval._text import format_fixed, percent, probability
from dreval.comparison.compare import count_tests
from dreval.errors import DrevalError
from dreval.registry import MEASURES
from dreval.report.documents.evaluation import printed_table
from dreval.report.documents.paragraph import MAX_WORDS
from dreval.report.findings import Number, phrases
from dreval.report.render.markup import sentence
from dreval.report.result_findings import cautions, missing_findings, standing, verdict
from dreval.report.result_view import read_results, same_maps

ALPHA = 0.05
NAMES = re.compile("\u2068(.*?)\u2069")
NUMBER = re.compile(r"(?<![\w.])[−≈]*(?:\d[\d,]*)?\.?\d+(?:e[−+]?\d+)?")
BEST_KINDS = ("result.best", "result.best_map", "result.best_set", "result.best_tested")
VALUE_KINDS = ("result.best_value", "result.untested")
POOR_KINDS = ("result.even_best_poor", "result.all_poor", "result.alone_poor")
AT_CHANCE_KINDS = ("result.noise", "result.chance", "result.all_chance")
BORDERLINE_KINDS = (
    *("result.borderline", "result.borderline_again", "result.many_borderline", "result.many_borderline_again"),
    *("result.also_borderline", "result.borderline_brief", "result.many_borderline_brief"),
)


class Oracle:
    """The values, best sets and pairs of a result, from its public tables."""

    def __init__(self, results):
        self.results = results
        table = results.table[results.table["test"] == ""].dropna(subset="value")
        self.rows = {(r["measure"], r["parameters"], r["embedding"]): r for r in table.to_dict("records")}
        constant = {name for name, Y in results.embeddings.items() if (Y == Y[:1]).all()}
        self.unranked = {*results.reference, *constant}
        self.best, self.undecided, self.p = {}, {}, {}
        try:
            ranks = results.ranking()
        except DrevalError:
            ranks = None
        for key, part in [] if ranks is None else ranks.groupby(["measure", "parameters"], sort=False):
            part = part[~part["embedding"].isin(self.unranked)]
            if part["in_best_set"].fillna(False).any():
                self.best[key] = set(part.loc[part["in_best_set"].fillna(False), "embedding"])
                self.undecided[key] = set(part.loc[part["in_best_set"].isna(), "embedding"])
                self.p[key] = part.set_index("embedding")["p_adjusted"].dropna().to_dict()
        try:
            pairs = results.compare().tidy()
        except DrevalError:
            pairs = None
        self.n_tests = 0 if pairs is None else count_tests(pairs.fillna({"family": ""}), same_maps(results))
        self.pairs = (
            {}
            if pairs is None
            else {
                (r["measure"], r["parameters"], frozenset((r["first"], r["second"]))): r["p_adjusted"]
                if r["p_adjusted"] == r["p_adjusted"]
                else r["p_value"]
                for r in pairs[pairs["p_value"].notna()].to_dict("records")
            }
        )

    def names(self, key):
        """Return the embeddings with a value that can be best."""
        return [name for *other, name in self.rows if tuple(other) == key and name not in self.unranked]

    def value(self, key, name):
        """Return a value with the sign by which large values are good."""
        return self.sign(key) * self.rows[(*key, name)]["value"]

    def sign(self, key):
        """Return 1 if higher values are better, else -1."""
        return 1 if MEASURES.card(key[0]).direction == "higher" else -1

    def score(self, key, name, end="value"):
        """Return the position of a value from chance (0) to perfect (1)."""
        row, card = self.rows[(*key, name)], MEASURES.card(key[0])
        perfect, chance = card.bounds[1 if card.direction == "higher" else 0], row["chance"]
        if card.goals[:1] == ("batches",):
            perfect, chance = chance, card.bounds[0]
        return (row[end] - chance) / (perfect - chance) if perfect != chance else math.nan

    def at_chance(self, key, name):
        """Return whether a value, or the worse end of its interval, is not better than chance."""
        row, sign = self.rows[(*key, name)], self.sign(key)
        edge = row["conf_low"] if sign > 0 else row["conf_high"]
        edges = [row["value"]] if math.isnan(edge) else [row["value"], edge]
        return min(sign * (edge - row["chance"]) for edge in edges) < 1e-9


def keys_of(finding):
    """Return the measures and parameters of a finding."""
    return [(column.measure, column.parameters) for column in finding.measures]


def check_finding(finding, oracle):
    """Check one finding against the tables."""
    assert "nan" not in sentence(finding.text).split()
    check_numbers(finding)
    CHECKS[finding.kind](finding, oracle)
    numbers = finding.numbers
    if "low" in numbers and finding.kind not in ("result.caution", "result.chance", "result.also_best"):
        key = keys_of(finding)[0]
        values = [oracle.rows[(*key, name)]["value"] for name in finding.subject if (*key, name) in oracle.rows]
        assert (numbers["low"].value, numbers["high"].value) == (min(values), max(values))


def check_best(finding, oracle):
    """Check that the embeddings are the best set of each measure, and that the next one has the next best value."""
    subject, numbers, keys, text = set(finding.subject), finding.numbers, keys_of(finding), sentence(finding.text)
    for key in keys:
        best = oracle.best[key] - oracle.unranked
        assert subject <= best if finding.kind == "result.also_best" else subject == best, text
    others = set(oracle.names(keys[0])) - subject
    if finding.kind in ("result.best", "result.best_map"):
        assert len(subject) == 1 or is_same_map(oracle.results, subject)
        assert all(not oracle.undecided[key] - oracle.unranked for key in keys)
    if finding.others:
        values = {name: oracle.value(keys[0], name) for name in others - oracle.undecided[keys[0]]}
        assert numbers["next"].value * oracle.sign(keys[0]) == max(values.values())
        assert all(value <= min(oracle.value(keys[0], name) for name in subject) for value in values.values())
    if "p" in numbers:
        p_values = [p for key in keys for name, p in oracle.p[key].items() if name in oracle.best[key]]
        assert numbers["p"].value == min(p_values) > ALPHA


def check_best_value(finding, oracle):
    """Check that the embeddings have the best value, and that there is no test."""
    for key in keys_of(finding):
        assert key not in oracle.best
        top = max(oracle.value(key, name) for name in oracle.names(key))
        assert all(abs(oracle.value(key, name) - top) < 1e-9 for name in finding.subject)


def check_alike(finding, oracle):
    """Check that no embedding is outside the best set; where it was not tested, that none is better in print."""
    for key in keys_of(finding):
        assert key in oracle.best or finding.kind == "result.same_value"
        assert set(oracle.names(key)) <= oracle.best.get(key, {*oracle.names(key)})


def check_disagreement(finding, oracle):
    """Check that two measures have no best embedding in common."""
    sets = [oracle.best.get(key, top_of(oracle, key)) - oracle.unranked for key in keys_of(finding)]
    assert any(left.isdisjoint(right) for left in sets for right in sets)


def check_poor(finding, oracle):
    """Check that each value is closer to chance than to perfect."""
    assert finding.rows
    assert all(oracle.score(row[:2], row[2]) < 0.5 for row in finding.rows)


def check_unmixed(finding, oracle):
    """Check that every map is closer to separate batches than to mixed ones, by each measure of batches."""
    check_poor(finding, oracle)
    assert {row[2] for row in finding.rows} <= {*finding.subject}
    assert all({row[2] for row in finding.rows if row[:2] == key} == {*oracle.names(key)} for key in keys_of(finding))


def check_caution(finding, oracle):
    """Check that each value is closer to chance than to perfect, and that the card has a warning."""
    assert all(oracle.score(key, name) < 0.5 for key in keys_of(finding) for name in finding.subject)
    assert MEASURES.card(keys_of(finding)[0][0]).warning


def check_more_cautions(finding, oracle):
    """Check that each further caution holds for each of its embeddings, and their number."""
    keys = keys_of(finding)
    assert finding.numbers["count"] == len(keys) == len({*keys}) > 0
    assert {row[:2] for row in finding.rows} == {*keys}
    assert all(oracle.score(row[:2], row[2]) < 0.5 or oracle.at_chance(row[:2], row[2]) for row in finding.rows)
    assert all(MEASURES.card(measure).warning for measure, _ in keys)


def check_at_chance(finding, oracle):
    """Check that no value is better than chance."""
    rows = [row for row in finding.rows if row[2] not in oracle.unranked]
    assert all(oracle.at_chance(row[:2], row[2]) for row in rows), sentence(finding.text)


def check_unjudged(finding, oracle):
    """Check that the embeddings have no test by some measure."""
    assert all(any(name in missing for missing in oracle.undecided.values()) for name in finding.subject)


def check_collapsed(finding, oracle):
    """Check that all points of each embedding are in one place."""
    assert all(
        (oracle.results.embeddings[name] == oracle.results.embeddings[name][:1]).all() for name in finding.subject
    )


def check_same_map(finding, oracle):
    """Check that the embeddings have the same coordinates up to rotation."""
    assert is_same_map(oracle.results, finding.subject)


def check_reference(finding, oracle):
    """Check that the embeddings are the data."""
    assert {*finding.subject} <= {*oracle.results.reference}


def check_failed(finding, oracle):
    """Check that the embeddings failed."""
    assert {*finding.subject} <= {*oracle.results.failed}


def check_only_value(finding, oracle):
    """Check that no other embedding has a value."""
    assert all(set(oracle.names(key)) == {*finding.subject} for key in keys_of(finding))


def check_value(finding, oracle):
    """Check the value of the only embedding; next to others it is named."""
    (name,) = finding.subject
    assert finding.numbers["low"].value == oracle.rows[(*keys_of(finding)[0], name)]["value"]
    assert (name in sentence(finding.text)) == (len(oracle.results.names) > 1)


def check_lone_noise(finding, oracle):
    """Check that the only embedding is at chance, and is named next to others."""
    check_at_chance(finding, oracle)
    assert (finding.subject[0] in sentence(finding.text)) == (len(oracle.results.names) > 1)


def check_tied(finding, oracle):
    """Check that some value depends on the order of ties."""
    for key in keys_of(finding):
        assert any(not math.isnan(oracle.rows[(*key, name)]["worst"]) for name in oracle.names(key))


def check_further_sets(finding, oracle):
    """Check the number of measures, each with a best set."""
    keys = keys_of(finding)
    assert finding.numbers["count"] == len(keys) == len({*keys})
    assert all(oracle.best.get(key, top_of(oracle, key)) for key in keys)


def check_missing(finding, oracle):
    """Check that the embeddings have no value by the measures."""
    assert all((*key, name) not in oracle.rows for key in keys_of(finding) for name in finding.subject)


def check_untested(finding, oracle):
    """Check that no best set has a test."""
    assert not oracle.best


def check_standing(finding, oracle):
    """Check that an embedding is called best at the questions whose measures have it in their best set."""
    (name,) = finding.subject
    keys_by_topic = {}
    for column in finding.measures:
        keys_by_topic.setdefault(column.topic or "other measures", []).append((column.measure, column.parameters))
    for topic, keys in keys_by_topic.items():
        n_best = sum(name in oracle.best.get(key, top_of(oracle, key)) for key in keys)
        number = finding.numbers.get(topic)
        assert (number.value if number else 0) == n_best
        assert number is None or (number.text == "") == (n_best == len(keys))


def check_no_standing(finding, oracle):
    """Check that every measure with a test has all embeddings in its best set."""
    assert all(set(oracle.names(key)) <= oracle.best.get(key, top_of(oracle, key)) for key in keys_of(finding))


def check_lone_standing(finding, oracle):
    """Check that there is no other embedding to compare with, or none of several maps."""
    results = oracle.results
    others = {*results.embeddings} - {*results.reference} - {*finding.subject}
    is_alone = finding.kind == "result.alone_standing"
    assert not others if is_alone else others <= oracle.unranked


def check_doubtful(finding, oracle):
    """Check that the embedding is in no best set of a measure that counts."""
    (name,) = finding.subject
    assert not any(name in oracle.best.get(key, top_of(oracle, key)) for key in keys_of(finding))


def check_numbers(finding):
    """Check that every number of the sentence is a number of the finding, rounded to its last decimal."""
    text = sentence(finding.text, name=lambda _: "")
    shares = {MEASURES.card(column.measure).share for column in finding.measures}
    for share in shares - {""}:
        text = re.sub(re.escape(share).replace(r"\{n_neighbors\}", r"\d+"), "", text)
    counts = [len(names) - places for names in (finding.subject, finding.others) for places in (0, 3)]
    known_numbers = " ".join([*map(printed_number, finding.numbers.values()), *map(str, counts)])
    for number in NUMBER.findall(text):
        assert number.strip("≈") in known_numbers, (text, number, known_numbers)
    for key, number in ((key, number) for key, number in finding.numbers.items() if isinstance(number, Number)):
        for printed in re.findall(r"\d*\.?\d+", number.text) if key in ("low", "high", "next") else ():
            if "than" not in number.text and "e" not in number.text:
                places = len(printed.partition(".")[2])
                printed = float(printed) * (-1 if "−" in number.text else 1)
                error = min(abs(printed - number.value), abs(printed - 100 * number.value))
                assert error <= max(0.51 * 10.0**-places, 1e-3 * abs(number.value)), (number, text)


def printed_number(number):
    """Return a number of a finding as sentences have it: a count, a p-value, or with its text."""
    return (
        f"{number:,}" if isinstance(number, int) else probability(number) if isinstance(number, float) else str(number)
    )


def check_borderline(finding, oracle):
    """Check that both p-values are those of the tables, on both sides of the level."""
    for key in dict.fromkeys(row[:2] for row in finding.rows):
        outside = {row[2] for row in finding.rows if row[:2] == key} - oracle.best[key]
        for name in outside:
            assert oracle.p[key][name] <= ALPHA
            p_values = [oracle.pairs.get((*key, frozenset((name, best)))) for best in oracle.best[key]]
            assert min(p for p in p_values if p is not None) > ALPHA
    if "p_ranking" in finding.numbers and finding.others:
        key = keys_of(finding)[0]
        assert finding.numbers["p_ranking"] == oracle.p[key][finding.others[0]]
        pair = oracle.pairs[(*key, frozenset((finding.subject[0], finding.others[0])))]
        assert finding.numbers["p_compare"] == pair
    if "tests" in finding.numbers:
        assert finding.numbers["tests"] == oracle.n_tests


def top_of(oracle, key):
    """Return the embeddings with the best value of a measure."""
    top = max(oracle.value(key, name) for name in oracle.names(key))
    return {name for name in oracle.names(key) if abs(oracle.value(key, name) - top) < 1e-12}


def is_same_map(results, names):
    """Return whether some embeddings are the same map."""
    return len(names) > 1 and any({*names} <= {*group} for group in read_results(results).same_maps)


CHECKS = {
    **dict.fromkeys((*BEST_KINDS, "result.also_best"), check_best),
    **dict.fromkeys(VALUE_KINDS, check_best_value),
    **dict.fromkeys(("result.no_difference", "result.same_value"), check_alike),
    "result.disagree": check_disagreement,
    **dict.fromkeys(BORDERLINE_KINDS, check_borderline),
    **dict.fromkeys(POOR_KINDS, check_poor),
    "result.unmixed": check_unmixed,
    "result.caution": check_caution,
    "result.more_cautions": check_more_cautions,
    **dict.fromkeys(AT_CHANCE_KINDS, check_at_chance),
    **dict.fromkeys(("result.alone_noise", "result.named_noise"), check_lone_noise),
    "result.unjudged": check_unjudged,
    "result.same_map": check_same_map,
    "result.collapsed": check_collapsed,
    "result.reference": check_reference,
    "result.failed": check_failed,
    **dict.fromkeys(("result.not_tested", "result.no_intervals"), check_untested),
    "result.only_value": check_only_value,
    **dict.fromkeys(("result.value", "result.named_value"), check_value),
    "result.tied": check_tied,
    "result.further_sets": check_further_sets,
    "result.missing": check_missing,
    **dict.fromkeys(("result.standing", "result.value_standing"), check_standing),
    "result.no_standing": check_no_standing,
    **dict.fromkeys(("result.only_standing", "result.alone_standing"), check_lone_standing),
    "result.doubtful_standing": check_doubtful,
}


def test_every_kind_of_finding_has_a_check():
    """A new sentence on a result needs a check that recomputes it."""
    assert {kind for kind in phrases() if kind.startswith("result.")} == {*CHECKS}


def check_document(results):
    """Check every finding of a result, and that no two contradict each other."""
    view, oracle = read_results(results), Oracle(results)
    answers = verdict(view)
    brief = [finding for answer in verdict(view, in_full=False) for finding in answer.findings]
    for finding in [*brief, *missing_findings(view)]:
        check_finding(finding, oracle)
    check_cautions(view)
    disagree = [{a.question for a in v if "Measures disagree" in a.text} for v in (answers, verdict(view, False))]
    assert disagree[0] <= disagree[1]
    claims = {}
    for answer in answers:
        for finding in answer.findings:
            check_finding(finding, oracle)
            if finding.kind in (
                *BEST_KINDS,
                "result.no_difference",
                "result.noise",
                "result.tied",
                *VALUE_KINDS,
                "result.same_value",
            ):
                for key in keys_of(finding):
                    assert key not in claims, (finding.text, claims[key])
                    claims[key] = finding.text
            if finding.kind == "result.same_map":
                text = "".join(answer.text for answer in answers)
                assert text.count("the same map") == len([f for a in answers for f in a.findings if "same" in f.kind
                                                          and f.kind != "result.same_value"])  # fmt: skip
    map_subjects = {
        finding.subject for answer in answers for finding in answer.findings if finding.kind == "result.best_map"
    }
    assert len(map_subjects) == sum(f.kind == "result.best_map" for a in answers for f in a.findings)
    for name in view.names:
        for finding in cautions(view, name):
            check_finding(finding, oracle)
        CHECKS[standing(view, name).kind](standing(view, name), oracle)
    check_order(view, oracle)
    check_stars(view, oracle)


def check_cautions(view):
    """Check that a full verdict has every caution, and that a shorter one counts those that it leaves out."""
    listed = [f for answer in verdict(view, max_cautions=None) for f in answer.findings]
    assert not [finding for finding in listed if finding.kind == "result.more_cautions"]
    kinds = ("result.all_chance", "result.chance", "result.caution")
    for name in view.names:
        stated = {row[:2] for f in listed if "noise" in f.kind for row in f.rows if row[2] == name}
        findings = [f for f in cautions(view, name) if not {*keys_of(f)} <= stated]
        lost = any(name in f.subject for f in listed if f.kind == "result.all_chance")
        words = {f.measures[0].warning for f in listed if f.kind in kinds[1:] and name in f.subject}
        expected = {f.measures[0].warning for f in findings if f.kind in kinds[1:]}
        assert lost or words == expected, (name, words, expected)
    total = sum(finding.kind in kinds for finding in listed)
    for most in range(3):
        brief = [f for answer in verdict(view, max_cautions=most) for f in answer.findings]
        n_further = sum(f.numbers["count"] for f in brief if f.kind == "result.more_cautions")
        assert sum(f.kind in kinds for f in brief) + n_further == total


def check_order(view, oracle):
    """Check that the order of reports counts questions, then measures."""
    places = {name: set() for name in view.computed}
    counts = dict.fromkeys(view.computed, 0)
    for column in view.main_columns:
        for name in view.best_set(column).best:
            places[name].add(column.topic)
            counts[name] += 1
    order = [name for name in view.ranked if name not in oracle.unranked]
    assert order == sorted(
        [name for name in view.computed if name not in oracle.unranked],
        key=lambda name: (-len(places[name]), -counts[name]),
    )
    assert {*view.ranked[len(order) :]} == {*view.computed} & oracle.unranked


def check_stars(view, oracle):
    """Check that stars mark the best set where there is one, of all embeddings in the table."""
    if len(view.computed) > 6 or not view.computed:
        return
    table = printed_table(view)
    names = view.ranked
    for row, column in zip(table.rows, view.by_goal, strict=True):
        starred = {name for name, cell in zip(names, row[1:], strict=False) if cell.emphasis == "best"}
        key = column.measure, column.parameters
        if key in oracle.best and len(oracle.names(key)) > 1:
            assert starred == oracle.best[key] - oracle.unranked, (key, starred, oracle.best[key], names)


@given(ranked_results())
@settings(max_examples=5, deadline=None)
def test_findings_on_any_tested_values_are_true_and_agree(results):
    """Ties, failures, constant maps, the data, missing intervals and equal maps: every sentence holds."""
    check_document(results)


@given(ranked_results(FULL) | ranked_results(FULL, "an_embedding_"))
@settings(max_examples=5, deadline=None)
def test_a_printed_result_is_short_whatever_its_values(results):
    """At most 30 lines for five embeddings and 40 for more, of 80 columns; all of its sentences are true."""
    check_document(results)
    lines = str(results).splitlines()
    assert len(lines) <= (30 if len(results.embeddings) <= 5 else 40), str(results)
    assert max(map(len, lines)) <= 80, str(results)
    assert not any(re.search(r"\b[pk]( [=<≤≥])?$", line) for line in lines), str(results)
    assert len(results.paragraph().split()) <= MAX_WORDS, results.paragraph()


@pytest.mark.slow
@given(ranked_results())
@settings(max_examples=150, deadline=None)
def test_findings_on_many_tested_values_are_true_and_agree(results):
    """The same for more values."""
    check_document(results)


@given(result_views())
@settings(max_examples=5, deadline=None)
def test_findings_on_any_values_are_true_and_agree(view):
    """Values whose intervals come without what would test them."""
    check_document(view.results)


@pytest.fixture(scope="module")
def real_results():
    """Results of real evaluations: ties and duplicates, labels, and embeddings that are good, alike and noise."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(90, 4)) * [4, 3, 1, 1], 1)
    X[:9] = X[9:18]
    labels = (X[:, 0] > 0).astype(int)
    embeddings = {"pca": "pca", "near": X[:, :2] + 0.1 * rng.normal(size=(90, 2)), "noise": rng.normal(size=(90, 2))}
    embeddings |= {"grid": np.round(X[:, :2] / 3), "point": np.zeros((90, 2)), "data": X}
    ev = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=[8, 15], batch=np.arange(90) % 3, random_state=0)
    small = dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=8, random_state=0)
    return [
        ev.run(tests=None),
        small.run(["stress", "trustworthiness"], None),
        ev.run(["jaccard", "silhouette"], None, None),
    ]


@pytest.mark.slow
def test_findings_on_real_results_are_true_and_agree(real_results):
    """All measures at two k, with batches, the data, and a map in one place; one embedding; and no intervals."""
    for results in real_results:
        check_document(results)


# Selected cases: the words of each kind.


def rows_of(values, measure="trustworthiness", parameters="n_neighbors=15", chance=0.5, **columns):
    """Return a row of each embedding."""
    return [measure_row(name, measure, parameters, value, chance, **columns) for name, value in values.items()]


def answers_of(rows, names="abc", **options):
    """Return the text of each question of a result of these rows."""
    embeddings = {name: np.eye(6)[:, place : place + 2] for place, name in enumerate(names)}
    view = read_results(make_results(rows, {**embeddings, **options}))
    return {answer.question: sentence(answer.text) for answer in verdict(view)}


def test_each_answer_says_who_leads_by_which_measure():
    """The measures of a question are named where they disagree, and no embedding is best by their intersection."""
    rows = rows_of({"a": 0.9, "b": 0.8}) + rows_of({"a": 0.8, "b": 0.9}, "continuity")

    assert answers_of(rows, "ab")["Neighbors"] == (
        "Measures disagree. a has the best value by trustworthiness: .90 (b .80, chance .50). b has the best value by "
        "continuity: .90."
    )


def test_values_are_quoted_with_decimals_that_separate_them():
    """A difference of less than two units of the last decimal has more decimals."""
    assert (
        "a has the best value: correlation .61 (b .55, chance 0)"
        in (answers_of(rows_of({"a": 0.61, "b": 0.55}, "spearman_distance", "", 0.0), "ab")["Global distances"])
    )
    assert (
        "68.3\u00a0% of triplets keep their order (b 68.0\u00a0%, chance 50\u00a0%)"
        in (
            answers_of(rows_of({"a": 0.68312, "b": 0.68049}, "triplet_accuracy", "n_triplets=200"), "ab")[
                "Global distances"
            ]
        )
    )


def test_a_single_embedding_has_its_values_and_no_best():
    """There is one line for each question, and the caution needs no name."""
    answers = answers_of(rows_of({"a": 0.21}, "neighborhood_overlap", chance=0.02), "a")

    assert answers == {
        "Neighbors": "21\u00a0% of the 15 nearest are kept (chance 2\u00a0%). This is closer to chance than to "
        "perfect.",
        "Caution": "79\u00a0% of the neighbors are false.",
    }


def test_noise_is_not_called_best():
    """No value is better than chance: one sentence says so."""
    rows = rows_of({"a": 0.51, "b": 0.49}, conf_low=0.4, conf_high=0.6)

    assert answers_of(rows, "ab") == {
        "Neighbors": "No embedding is significantly better than chance (trustworthiness .49 to .51, chance .50).",
        "Caution": "No difference could be tested.",
    }


def test_equal_maps_are_named_once():
    """The first best set names them; without one a caution does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [3, 2, 1, 1, 1]
    embeddings = {"pca": X[:, :2], "mds": -X[:, :2], "noise": rng.normal(size=(60, 2))}
    view = read_results(dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0).run(tests=None))
    texts = [sentence(answer.text) for answer in verdict(view)]

    assert sum(text.count("the same map") for text in texts) == 1
    assert any("pca and mds, the same map, are best" in text for text in texts)


def test_failures_constants_and_the_data_are_said_once():
    """They are in the caution, in this order, and in no answer."""
    rows = rows_of({"a": 0.9, "b": 0.8, "flat": 0.99})
    view = read_results(
        make_results(rows, {"a": np.eye(6)[:, :2], "b": np.eye(6)[:, 1:3], "flat": np.ones((6, 2))}, failed={"c": "no"})
    )
    *answers, caution = verdict(view)

    assert sentence(caution.text).endswith(
        "c could not be computed. flat shows nothing of the data: all points are in one place. Without intervals no "
        "difference is tested."
    )
    assert all("flat" not in answer.text for answer in answers)
    assert standing(view, "flat").predicate == "Shows nothing of the data: all points are in one place."
    assert standing(view, "c").predicate == "Could not be computed: no."


def test_the_order_of_ties_leaves_the_best_open():
    """The best value is not called best if another order of equal distances makes it worse."""

    def text_for(worst):
        rows = rows_of({"a": 0.24}, "neighborhood_overlap", chance=0.1, worst=worst, best=0.6)
        rows += rows_of({"b": 0.15}, "neighborhood_overlap", chance=0.1)
        return answers_of(rows, "ab")["Neighbors"]

    assert text_for(0.05) == "The best embedding depends on how ties are broken."
    assert text_for(0.2).startswith("a has the best value: 24\u00a0% of the 15 nearest are kept")


def test_a_standing_names_questions():
    """Questions with a place in every best set come first, then those with a place in some."""
    rows = rows_of({"a": 0.9, "b": 0.8}) + rows_of({"a": 0.8, "b": 0.9}, "continuity")
    rows += rows_of({"a": 0.9, "b": 0.8}, "knn_accuracy", "n_neighbors=10", 0.1)
    view = read_results(make_results(rows, {"a": np.eye(6)[:, :2], "b": np.eye(6)[:, 1:3]}))

    assert standing(view, "a").text == "Best value for classes; for neighbors by 1 of 2 measures."
    assert standing(view, "b").text == "Best value for neighbors by 1 of 2 measures."


def test_the_first_caution_holds_for_the_fewest_embeddings():
    """Distances between clusters come first; a caution on all embeddings comes after one on some, the worst first."""
    rows = rows_of({"a": 0.9, "b": 0.89}, "procrustes_rc", chance=0.95)
    rows += rows_of({"a": 0.3, "b": 0.8}, "spearman_distance", "", 0.0)
    view = read_results(make_results(rows, {"a": np.eye(6)[:, :2], "b": np.eye(6)[:, 1:3]}))

    assert [finding.predicate for finding in cautions(view, "a")] == [
        "Do not read distances between clusters (correlation .30).",
        "Neighborhoods lose their shape (local shape, free scale .90).",
    ]
    assert [finding.predicate for finding in cautions(view, "b")] == [
        "Neighborhoods lose their shape (local shape, free scale .89)."
    ]
    (caution,) = (answer for answer in verdict(view) if answer.question == "Caution")
    assert sentence(caution.text).startswith(
        "On a, do not read distances between clusters (correlation .30). On both maps, neighborhoods lose their shape "
        "(local shape, free scale .89 to .90)."
    )


def test_batches_are_good_at_chance():
    """A value at the chance level is perfect mixing; one near the worst has a caution."""
    rng = np.random.default_rng(0)
    X, batch = rng.normal(size=(120, 5)), rng.integers(0, 2, 120)
    embeddings = {"mixed": X[:, :2], "apart": X[:, :2] + 9.0 * batch[:, None]}
    view = read_results(
        dreval.Evaluation(X, embeddings, batch=batch, n_neighbors=8, random_state=0).run(["ilisi"], tests=None)
    )
    (answer, caution) = verdict(view)

    assert re.match(r"mixed is best: mixing of batches .*mixed at random ≈?\.\d+ would be best", sentence(answer.text))
    assert sentence(caution.text).startswith("On apart, batches are not mixed")


@pytest.mark.slow
def test_every_warning_reads_as_a_sentence():
    """With and without a subject, for every measure that has one."""
    for card in MEASURES.cards():
        if not card.warning or card.curve or card.level == "algorithm":
            continue
        worst, perfect = card.bounds if card.direction == "higher" else card.bounds[::-1]
        chance = 0.5 if math.isfinite(worst) and math.isfinite(perfect) else 1.0
        value = chance + 0.1 * (perfect - chance) if math.isfinite(perfect) else chance
        rows = [measure_row(name, card.name, "n_neighbors=15", value, chance) for name in "ab"]
        view = read_results(make_results(rows, {"a": np.eye(6)[:, :2], "b": np.eye(6)[:, 1:3]}))
        for finding in cautions(view, "a"):
            assert re.match(r"On ⁨a⁩, ([a-z]|\d+ ?.?%|k-NN)", finding.text), finding.text
            assert re.match(r"[A-Z0-9].*\.$", finding.predicate)


def test_every_measure_of_a_borderline_lead_is_named():
    """A lead that is borderline by several measures is said to be so by all of them, in the short print as well."""
    rng = np.random.default_rng(1)
    Z, R = rng.normal(size=(120, 5)), rng.normal(size=(120, 2))
    maps = {"two": Z[:, :2], "thr": Z[:, 2:4], "rnd": R}
    results = dreval.Evaluation(Z, maps, random_state=0).run()
    check_document(results)
    full, text = (" ".join(str(document).split()) for document in (results.summary(full=True), results))

    lead = "By triplet accuracy and correlation this is borderline (least clear:"
    assert f"{lead} p = .036 one-sided against all others; .410 after adjustment over all" in full
    assert lead in text


def test_a_standing_counts_places_in_best_sets():
    """A place in a best set counts where no difference is significant, as its mark in the table does."""
    Z = np.repeat(np.random.default_rng(1).normal(size=(120, 5))[:40], 3, axis=0)
    maps = {"two": Z[:, :2], "same": Z[:, :2].copy(), "three": Z[:, 2:4]}
    results = dreval.Evaluation(Z, maps, random_state=0).run()
    check_document(results)
    view = read_results(results)

    for name in view.names:
        n_best = sum(name in view.best_set(column).best for column in view.main_columns)
        assert sum(number.value for number in standing(view, name).numbers.values()) == n_best > 0


def test_the_only_map_that_is_not_in_one_place_is_compared_with_none():
    """A map next to one in a single place is neither better nor worse than it."""
    Z = np.random.default_rng(1).normal(size=(60, 4))
    view = read_results(dreval.Evaluation(Z, {"const": np.zeros((60, 2)), "two": Z[:, :2]}, random_state=0).run())

    assert standing(view, "two").text == "The only map that can be compared."


def test_a_perfect_value_has_no_caution():
    """Nothing follows from a perfect value where chance is perfect as well."""
    Q = np.random.default_rng(1).normal(size=(120, 5))[:4, :4]
    results = dreval.Evaluation(Q, {"a": Q[:, :2], "b": Q[:, 2:]}, random_state=0).run()
    view = read_results(results)

    for finding in (finding for name in view.names for finding in cautions(view, name)):
        for column in finding.measures:
            assert all(abs(column.values[name] - column.perfect) > 1e-9 for name in finding.subject)
    assert ".0000" not in str(results)


def test_half_a_unit_is_rounded_away_from_zero():
    """Sentences and tables round as a reader does who takes a number of the table."""
    assert [format_fixed(value, 2) for value in (0.975, 0.965, -0.285, -0.001)] == ["0.98", "0.97", "−0.29", "0.00"]
    assert [percent(share) for share in (0.965, 0.285, 0.975)] == ["97", "29", "98"]


@pytest.mark.parametrize(("values", "is_stated"), [((0.1, 0.3), True), ((0.1, 0.6), False)])
def test_batches_that_no_map_mixes_are_stated_first(values, is_stated):
    """The answer on batches begins with it, before the map that is closest to mixed batches."""
    rows = [measure_row(name, "ilisi", "perplexity=30", value, 0.9) for name, value in zip("ab", values, strict=True)]
    results = make_results(rows, {"a": np.eye(6)[:, :2], "b": np.eye(6)[:, 1:3]})
    (answer,) = (answer for answer in verdict(read_results(results)) if answer.question == "Batches")

    check_document(results)
    assert answer.text.startswith("No map mixes the batches. ") == is_stated


@pytest.mark.parametrize(("copies", "is_printed"), [(4, False), (20, True)])
def test_many_copies_of_rows_are_in_the_short_print(copies, is_printed):
    """More than a tenth of the rows are told with what follows, fewer only in the full print; measures have titles."""
    X = np.random.default_rng(0).normal(size=(80, 4))
    X[:copies] = X[40 : 40 + copies]
    results = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 1:3]}, n_neighbors=8, random_state=0).run("continuity")
    sentence_on_copies = f"{copies} rows repeat an earlier one: copies count as separate points"

    assert (sentence_on_copies in " ".join(str(results).split())) == is_printed
    assert sentence_on_copies in " ".join(str(results.summary(full=True)).split())
