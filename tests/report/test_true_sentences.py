"""Sentences of printed records; each is recomputed from its rows."""

from __future__ import annotations

import itertools
import re
import traceback

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dreval
from dreval.errors import InputError, InputWarning, UnknownName
from dreval.glossary import format_p
from dreval.inference.ties import is_tie, order_by_mean_rank, tied_ranks
from dreval.report.comparison_view import by_mean_rank
from dreval.report.documents.comparison import outcomes
from dreval.report.findings import borderlines, findings, measure_rankings, standing_finding
from dreval.report.render.markup import sentence
from dreval.report.result_view import read_results

ALPHA = 0.05
RANKED = ["trustworthiness", "continuity", "procrustes_rc", "spearman_distance", "procrustes_disparity"]
KEYS = ["measure", "parameters"]
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def rotate(Y, angle=0.7):
    """Return the same map, rotated."""
    return Y @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def cloud(n=45, seed=0):
    """Return data of six columns, and their first two principal components."""
    X = np.random.default_rng(seed).normal(size=(n, 6)) * np.linspace(2, 1, 6)
    U, S, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return X, U[:, :2] * S[:2]


def evaluated(k, seed=0, with_data=False, **run):
    """Return results of two equal maps and others with increasing noise, optionally with tests against classes."""
    X, Y = cloud(seed=seed)
    g = np.random.default_rng(seed + 100)
    embeddings = {"pca": Y, "mds": rotate(Y)}
    embeddings |= {f"noisy {i}": Y + (0.3 + 0.4 * i) * g.normal(size=Y.shape) for i in range(k - 2)}
    embeddings |= {"data": X} if with_data else {}
    ev = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0, labels=(X[:, 0] > 0).astype(int))
    return ev.run(RANKED, **{"tests": None, **run})


@pytest.fixture(scope="module")
def five():
    """Five embeddings; two of them are the same map."""
    return evaluated(5)


@pytest.fixture(scope="module")
def twelve():
    """Twelve embeddings; two of them are the same map."""
    return evaluated(12, seed=1)


def study_table(methods, datasets, measures, seed=0):
    """Return values of methods on data sets, with another best method by each measure."""
    g = np.random.default_rng(seed)
    rows = []
    for m, measure in enumerate(measures):
        level = g.permutation(methods) if m else np.arange(methods)
        for d, j in itertools.product(range(datasets), range(methods)):
            rows.append((f"set {d}", f"m{j}", measure, level[j] + 0.4 * g.normal()))
    return pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pairs_without_the_best_are_counted_once(seed):
    """The count includes each pair of embeddings in either direction, without those with the best of a measure."""
    comparison = dreval.compare(
        study_table(6, 16, ["first", "second", "third"], seed), direction="higher", tests=["friedman", "wilcoxon"]
    )
    rows = comparison.tidy()
    rows = rows[(rows["test"] == "wilcoxon") & (rows["p_adjusted"] <= ALPHA)]
    best = comparison.glance().groupby("measure", sort=False)["embedding"].first()
    pairs_with_best, pairs_without_best = set(), set()
    for row in rows.to_dict("records"):
        pair = frozenset((row["first"], row["second"]))
        (pairs_with_best if best[row["measure"]] in pair else pairs_without_best).add(pair)

    text = sentence(" ".join(outcomes(comparison)))
    assert len(pairs_without_best) > 6
    count_match = re.search(r"(\d+) other pairs? of embeddings", text)
    repeated_match = re.search(r"(\d+) of those above by further measures", text)
    assert int(count_match[1] if count_match else 0) == len(pairs_without_best - pairs_with_best)
    assert int(repeated_match[1] if repeated_match else 0) == len(pairs_without_best & pairs_with_best)


def test_equal_maps_share_the_first_place_in_both_paragraphs(five):
    """Both paragraphs count the same number of clear best embeddings: equal maps count as one."""
    comparison, ranks = five.compare(), five.ranking()
    letters = comparison.glance().set_index(["measure", "embedding"])["letters"]
    n_clear = 0
    for _, part in letters.groupby("measure", sort=False):
        best_letters = {*part.iloc[0]}
        sharing_names = {name for (_, name), name_letters in part.items() if {*name_letters} & best_letters}
        n_clear += len(sharing_names) == 1 or sharing_names == {"pca", "mds"}
    sets = ranks[ranks["in_best_set"].fillna(False)].groupby("measure")["embedding"].agg(set)

    assert n_clear > 0
    assert f"distinguishable from all others by {n_clear} of {len(sets)} measures" in comparison.paragraph()
    by_ranking = sum(len(names) == 1 or names == {"pca", "mds"} for names in sets)
    assert f"distinguishable from all others by {by_ranking} of {len(sets)} measures" in five.paragraph()


def test_across_data_sets_methods_with_equal_values_share_the_first_place():
    """Two names of one method do not differ, and together they are best."""
    table = study_table(3, 14, ["first", "second"])
    copy = table[table["embedding"] == "m2"].assign(embedding="again")
    table.loc[table["embedding"] == "m2", "value"] += 5
    table_with_copy = pd.concat([table, copy.assign(value=copy["value"] + 5)])
    comparison = dreval.compare(table_with_copy, direction="higher", tests=["friedman", "wilcoxon"])
    letters = comparison.glance().set_index(["measure", "embedding"])["letters"]

    for measure in ("first", "second"):
        assert letters[measure, "m2"] == letters[measure, "again"]
        assert not {*letters[measure, "m2"]} & {*letters[measure, "m0"], *letters[measure, "m1"]}
    assert "distinguishable from all others by 2 of 2 measures" in comparison.paragraph()


number_lists = st.lists(st.one_of(st.floats(-10, 10), st.sampled_from([0.0, 0.1, 0.3, 1.0])), min_size=1, max_size=8)


@given(number_lists, st.floats(-3, 3), st.randoms(use_true_random=False))
def test_ranks_do_not_depend_on_rounding(numbers, factor, random):
    """Values that were multiplied and divided have the ranks of the values, with the same ties."""
    numbers = [round(value, 6) for value in numbers]
    factor = 10.0**factor / 3
    rounded = [value * factor / factor + random.choice([0.0, 1e-16]) for value in numbers]
    expected = stats.rankdata([-value for value in numbers])

    np.testing.assert_allclose(tied_ranks(rounded, 1.0), expected)
    for (a, rank), (b, other_rank) in itertools.combinations(zip(rounded, expected, strict=True), 2):
        assert is_tie(a, b, 1.0) == (rank == other_rank)


@given(st.lists(st.lists(st.integers(1, 4), min_size=3, max_size=3), min_size=1, max_size=6))
def test_names_have_the_order_of_their_mean_ranks(ranks):
    """The means equal those of pandas; equal means have the input order."""
    ranks_by_name = {f"m{i}": [float(rank) for rank in name_ranks] for i, name_ranks in enumerate(ranks)}
    means = pd.DataFrame(ranks_by_name).mean().round(9)
    assert order_by_mean_rank(ranks_by_name) == list(means.sort_values(kind="stable").index)


def test_the_first_of_equal_maps_leads_by_every_measure(five):
    """The first map leads even if another is larger by 1e-17; only one leads with equal best values."""
    glance = five.compare().glance()
    ranks = five.ranking()
    for measure, part in glance.groupby("measure", sort=False):
        ties = ranks[(ranks["measure"] == measure) & (ranks["rank"] == 1)]["embedding"]
        assert part["embedding"].iloc[0] == next(name for name in five.names if name in set(ties))
    text = sentence(" ".join(outcomes(five.compare())))
    assert not re.search(r"(^|\. )mds is (better|not distinguishable)[^.]*pca", text)


@pytest.mark.slow
def test_every_text_has_the_same_order_by_mean_rank(twelve):
    """The order is that of the mean of the ranks of values over all measures; ties share their rank."""
    table = twelve.tidy()
    table = table[table["test"] == ""]
    sign = np.where(table["direction"] == "higher", -1, 1)
    ranks = table.assign(value=(sign * table["value"]).round(11)).groupby("measure")["value"].rank()
    means = ranks.groupby(table["embedding"]).mean().reindex(twelve.names).round(9)
    expected = list(means.sort_values(kind="stable").index)

    assert list(read_results(twelve).ranked) == expected
    assert by_mean_rank(twelve.compare()) == expected
    for text in (str(twelve.summary()), str(twelve.compare().summary())):
        lines = [line for line in text.splitlines() if re.match(r"(pca|mds|noisy \d+) +\.?\d", line)]
        names = [re.match(r"pca|mds|noisy \d+", line)[0] for line in lines]
        assert names == expected[: len(names)]
        assert len(names) >= 8
        assert "by their mean rank over all five measures" in " ".join(text.split())


def test_a_test_without_significance_does_not_imply_equality(five):
    """Sentences say that no difference is significant, never that there is none."""
    comparison_of_two = five.compare(["pca", "noisy 0"])
    texts = [
        comparison_of_two.paragraph(),
        five.compare().paragraph(),
        str(comparison_of_two.summary()),
        comparison_of_two.paragraph("results", "markdown"),
    ]
    paragraph_of_one_measure = five.compare(["pca", "noisy 0"], measure="trustworthiness").paragraph()
    for text in [*texts, paragraph_of_one_measure]:
        assert not re.search(r"does not differ|no pair|differs? not|pairs? do(es)? not differ\b(?! sig)", text.lower())
    rows = comparison_of_two.tidy()
    large = rows[rows["p_adjusted"] > ALPHA]
    assert len(large)
    assert comparison_of_two.paragraph().count("no significant difference") == len(large)


def test_a_note_on_equal_values_names_the_pair(five):
    """The note names the pair if not all pairs are equal, and no pair in a comparison of equal maps alone."""
    notes = " ".join(str(five.compare().summary()).split())
    assert "(pca and mds): no difference, whichever points are left out." in notes
    notes_of_pair = " ".join(str(five.compare(["pca", "mds"]).summary()).split())
    assert "no difference, whichever points are left out" in notes_of_pair
    assert "(pca and mds)" not in notes_of_pair


@given(st.floats(0.0, 1.0), st.sampled_from([0.05, 0.01, 0.1, 0.001, 0.0001]))
def test_a_printed_p_is_on_its_side_of_the_level(p, alpha):
    """The printed number is at most the level if and only if p is, and differs from p by 0.0005 at most."""
    text = format_p(p, alpha)
    if text.startswith("<"):
        assert p < float(text[1:]) <= max(alpha, 0.001)
        assert p <= alpha or float(text[1:]) > alpha
        return
    if abs(p - alpha) > 1e-11:
        assert (float(text) <= alpha) == (p <= alpha)
    assert float(text) == pytest.approx(p, abs=0.0005)


@pytest.mark.parametrize(("p", "text"), [(0.05012, ".0501"), (0.05, ".050"), (0.04996, ".04996"), (0.049999, ".049999"),
                                         (0.0496, ".0496"), (0.051, ".051")])  # fmt: skip
def test_p_near_the_level_has_more_places(p, text):
    """There are three decimals if they separate p from the level, else more."""
    assert format_p(p) == text


def test_the_standing_of_an_embedding_counts_measures(twelve):
    """A difference is significant if both tests find it, and borderline if only ``ranking`` does."""
    view, ranks, pairs = read_results(twelve), twelve.ranking(), twelve.compare().tidy()
    cases = set()
    for name in view.names:
        n_clear = n_borderline = n_best = 0
        for key, part in ranks.groupby(KEYS):
            part = part.set_index("embedding")
            if part.loc[name, "in_best_set"]:
                n_best += 1
                continue
            best = set(part.index[part["in_best_set"].fillna(False)])
            pairs_of_measure = pairs[(pairs[KEYS] == list(key)).all(axis=1)]
            opponents = pairs_of_measure["first"].where(
                pairs_of_measure["second"] == name, pairs_of_measure["second"].where(pairs_of_measure["first"] == name)
            )
            borderline = pairs_of_measure.loc[opponents.isin(best), "p_adjusted"].min() > ALPHA
            n_borderline, n_clear = n_borderline + borderline, n_clear + (not borderline)
        text = standing_finding(view, name).text
        if not n_best and n_borderline and n_clear:
            expected = (
                f"Behind the best by all five measures: significantly by {NUMBER_WORDS[n_clear]}, "
                f"borderline by {NUMBER_WORDS[n_borderline]}."
            )
            assert text == expected
            cases.add("both")
        elif not n_best:
            assert text == (
                "Behind the best by all five measures, borderline by each."
                if n_borderline
                else "Significantly behind the best by all five measures."
            )
            cases.add("clear")
        else:
            match = re.search(r"behind it only borderline by (\w+)", text)
            assert (NUMBER_WORDS.index(match[1]) if match else 0) == n_borderline
            cases.add("kept")
    assert cases >= {"clear", "kept"}


def test_every_borderline_difference_is_named_or_counted(twelve):
    """The least clear one has both p-values, others have names, and further pairs are counted."""
    view = read_results(twelve)
    lines = [line for finding in measure_rankings(view) for line in borderlines(view, finding)]
    assert len(lines) > 2
    for finding_with_borderline in (finding for finding in findings(view) if "Borderline" in finding.text):
        keys = {row[:2] for row in finding_with_borderline.rows}
        lines_of_finding = [line for line in lines if (line.column.measure, line.column.parameters) in keys]
        text = sentence(finding_with_borderline.text).partition("Borderline")[2]
        first_text, _, also_text = text.partition("; also ")
        worst = max(lines_of_finding, key=lambda line: line.p_compare)
        assert f"{worst.best} against {worst.other}: " in first_text
        other_pairs = {(line.best, line.other) for line in lines_of_finding} - {(worst.best, worst.other)}
        measures_of_worst = [
            line
            for line in lines_of_finding
            if line is not worst and (line.best, line.other) == (worst.best, worst.other)
        ]
        assert all(line.column.short_title in also_text.partition("against")[0] for line in measures_of_worst)
        matches = re.findall(r"(?:(pca|mds|noisy \d+) )?against (pca|mds|noisy \d+)", also_text)
        named_pairs = {(best or worst.best, other_name) for best, other_name in matches}
        further_match = re.search(r"(\d+) more pairs", also_text)
        assert named_pairs <= other_pairs
        assert len(named_pairs) + (int(further_match[1]) if further_match else 0) == len(other_pairs)
        for line in lines_of_finding:
            assert (
                line.column.short_title in first_text
                or len({line.column.short_title for line in lines_of_finding}) == 1
            )


@pytest.mark.slow
def test_the_smallest_p_is_named_if_a_sentence_uses_it():
    """Summary and paragraph have the limit of p with its number of permutations, unless p is larger."""
    for seed, expected in ((0, True), (1, True)):
        results = evaluated(3, seed, tests=["hsic"], n_resamples=39, adjust=None)
        rows = results.tidy()
        rows = rows[rows["test"] == "hsic"]
        limit = bool((rows["p_value"] * 40 < 1.5).any())
        phrase = "p = .025 is the smallest that 39 permutations can give"
        assert limit is expected
        for text in (str(results.summary()), results.paragraph()):
            assert (phrase in " ".join(text.split())) == limit
    X, Y = cloud()
    noise = np.random.default_rng(3).integers(0, 2, len(X))
    evaluation = dreval.Evaluation(X, {"a": Y}, labels=noise, n_neighbors=8, random_state=0)
    results = evaluation.run("trustworthiness", ["hsic"], None, n_resamples=39)
    assert results.tidy()["p_value"].min() > 0.025
    assert "is the smallest" not in str(results.summary())


@pytest.mark.slow
def test_the_data_are_excluded_from_adjustment_and_counts():
    """The adjusted p-values of the embeddings exclude the data, whose row has only an unadjusted p."""
    without, with_reference = (evaluated(3, with_data=flag, tests=["hsic"], n_resamples=99) for flag in (False, True))
    keys = ["embedding", "test", "variable"]
    rows_without, rows_with = (
        results.tidy()[lambda table: table["test"] == "hsic"].set_index(keys) for results in (without, with_reference)
    )

    rows_of_data = rows_with.xs("data", level="embedding")
    assert rows_of_data["p_value"].notna().all()
    assert rows_of_data["p_adjusted"].isna().all()
    pd.testing.assert_series_equal(rows_with.drop("data", level="embedding")["p_adjusted"], rows_without["p_adjusted"])
    assert "for 3 of 3 embeddings" in with_reference.paragraph()
    assert "3 embeddings of 45 points" in with_reference.paragraph()
    p = re.search(r"Dependence on labels \(all adjusted (p [=<] \S+);", " ".join(str(without.summary()).split()))
    text = " ".join(str(with_reference.summary()).split())
    assert p
    assert p[0] in text
    assert "without p of data, shown for reference" in text
    assert "data 1" in text or "data ." in text


def test_a_paragraph_names_measures_without_a_value():
    """The paragraph names a measure that has no value for any embedding."""
    X, Y = cloud()
    embeddings = {"pca": Y, "wide": np.column_stack([Y, Y[:, 0] ** 2])}
    ev = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0)
    with pytest.warns(InputWarning, match="needs labels"):
        results = ev.run(["trustworthiness", "silhouette"], None)
    assert results.tidy().set_index(["measure"]).loc["silhouette", "value"].isna().all()
    assert "No value by Silhouette" in results.paragraph()


def test_the_card_of_a_reference_has_one_sentence():
    """The card of the data has one sentence."""
    from dreval.report.documents.evaluation_page import embedding_cards
    from dreval.report.format import short_names

    results = evaluated(3, with_data=True)
    view = read_results(results)
    tags = dict.fromkeys(short_names(view.names, 60))
    (card,) = [embedding_card for embedding_card in embedding_cards(view, tags) if embedding_card.title == "data"]
    assert [card.standing, *card.good, *card.poor] == ["The data, shown for reference."]


def test_a_list_with_a_result_has_the_hint_of_a_result(five):
    """The hint for a second result is the same for a result and for a list that contains it."""
    for second in (five, [five], (five, five)):
        with pytest.raises((InputError, UnknownName), match=r"into one Evaluation") as error:
            dreval.compare(five, second)
        assert "...." not in str(error.value)


@pytest.mark.parametrize("owner", ["dreval", "results"])
def test_a_hint_for_a_wrong_name_is_printed_once(owner, five):
    """Python adds no second suggestion to that of the package."""
    with pytest.raises(AttributeError) as error:
        dreval.evaluate if owner == "dreval" else five.sumary  # noqa: B018
    text = "".join(traceback.format_exception_only(error.value))
    assert text.count("Did you mean") == 1


def test_a_test_by_cyclic_shifts_names_them():
    """The printed test has "Cyclic shifts" in place of "Permutations"."""
    g = np.random.default_rng(0)
    x, y = np.cumsum(g.normal(size=(40, 2)), axis=0), np.cumsum(g.normal(size=40))
    text = str(dreval.hsic_test(x, y, permutation="cyclic", n_resamples=99, random_state=0))
    assert "Cyclic shifts:" in text
    assert "all cyclic shifts" in text
    assert "Permutations" not in text
    assert "Permutations:" in str(dreval.hsic_test(x, y, n_resamples=99, random_state=0))


def test_the_sentence_of_a_noise_test_equals_its_rows():
    """The score is the mean overlap of the method; p counts null data with as large a score; its limit is named."""
    g = np.random.default_rng(0)
    noise = g.normal(size=(40, 4))
    shifted = noise + 3 * (np.arange(40) < 20)[:, None]
    for X in (noise, shifted):
        test = dreval.noise_test(X, "pca", n_neighbors=8, n_replicates=19, random_state=0)
        Y = dreval.embed(X, "pca")
        overlap = dreval.neighborhood_overlap(X, Y, n_neighbors=8)
        p = (1 + sum(score >= test.statistic - 1e-12 for score in test.null_distribution)) / 20
        text = " ".join(str(test).split())

        assert test.statistic == pytest.approx(overlap)
        assert test.p_value == p
        assert (f"is not distinguished from noise (independent columns, p = {format_p(p)})" in text) == (p > ALPHA)
        assert ("shows that the columns are not independent (p = .050)" in text) == (p <= ALPHA)
        assert ("p = .050 is the smallest that 19 null data sets can give" in text) == (p == 1 / 20)
        n_outside = int((test.points["p_family_wise"] <= ALPHA).sum())
        assert re.search(rf"stand out by the family-wise p \(≤ 0\.05\) {n_outside} all that are scored 40", text)


def test_few_data_sets_have_a_first_line_on_impossible_significance():
    """On three data sets no p of signed ranks is small; mean ranks equal those of pandas."""
    table = study_table(3, 3, ["first", "second"])
    comparison = dreval.compare(table, direction="higher", tests=["friedman", "wilcoxon"])
    lines = list(outcomes(comparison))
    assert lines[0].startswith("No difference could have been significant here: on 3 data sets")
    assert str(comparison.summary()).index("No difference could") < str(comparison.summary()).index(
        "is not distinguishable"
    )

    ranks = table.assign(rank=table.groupby(["measure", "dataset"])["value"].rank(ascending=False))
    means = ranks.groupby(["measure", "embedding"])["rank"].mean()
    for row in comparison.glance().to_dict("records"):
        assert row["mean_rank"] == pytest.approx(means[row["measure"], row["embedding"]])
    comparison_of_many = dreval.compare(study_table(3, 12, ["first"]), direction="higher", tests="wilcoxon")
    assert "could have been significant" not in " ".join(outcomes(comparison_of_many))


def test_an_estimated_chance_level_is_called_approximate():
    """Levels of random permutations are approximate; those in closed form are not."""
    summary = evaluated(3).summary()
    text = " ".join(str(summary).split())
    estimated = [column for column in read_results(evaluated(3)).main_columns if column.chance_is_estimated]
    assert {column.measure for column in estimated} == {"procrustes_rc", "procrustes_disparity"}
    for text_in_parentheses in re.findall(r"\(([^()]*chance level[^()]*)\)", text):
        assert ("chance level about" in text_in_parentheses) == any(
            text_in_parentheses.startswith(column.short_title) for column in estimated
        )
    assert "≈ approximate" in text
