"""Sentences of printed records, each recomputed from the rows that it is about."""

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
from dreval.report.contents.comparison import by_mean_rank, outcomes
from dreval.report.findings import borderlines, findings, measure_rankings, standing_finding
from dreval.report.render.markup import sentence
from dreval.report.result_view import read_results

ALPHA = 0.05
RANKED = ["trustworthiness", "continuity", "procrustes_rc", "spearman_distance", "procrustes_disparity"]
KEYS = ["measure", "parameters"]
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def rotated(Y, angle=0.7):
    """The same map, turned."""
    return Y @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def cloud(n=45, seed=0):
    """Data of six columns, and their first two principal components."""
    X = np.random.default_rng(seed).normal(size=(n, 6)) * np.linspace(2, 1, 6)
    U, S, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return X, U[:, :2] * S[:2]


def evaluated(k, seed=0, with_data=False, **run):
    """Results of two equal maps and others with increasing noise; with tests against classes on request."""
    X, Y = cloud(seed=seed)
    g = np.random.default_rng(seed + 100)
    embeddings = {"pca": Y, "mds": rotated(Y)}
    embeddings |= {f"noisy {i}": Y + (0.3 + 0.4 * i) * g.normal(size=Y.shape) for i in range(k - 2)}
    embeddings |= {"data": X} if with_data else {}
    ev = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0, labels=(X[:, 0] > 0).astype(int))
    return ev.run(RANKED, **{"tests": None, **run})


@pytest.fixture(scope="module")
def five():
    """Five embeddings, two of which are the same map."""
    return evaluated(5)


@pytest.fixture(scope="module")
def twelve():
    """Twelve embeddings, two of which are the same map."""
    return evaluated(12, seed=1)


def study_table(methods, datasets, measures, seed=0):
    """Values of methods on data sets, with another best method by each measure."""
    g = np.random.default_rng(seed)
    rows = []
    for m, measure in enumerate(measures):
        level = g.permutation(methods) if m else np.arange(methods)
        for d, j in itertools.product(range(datasets), range(methods)):
            rows.append((f"set {d}", f"m{j}", measure, level[j] + 0.4 * g.normal()))
    return pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_other_pairs_are_counted_once_and_not_where_they_were_named(seed):
    """Pairs of embeddings, whichever of them is better, without those with the best of a measure."""
    comparison = dreval.compare(
        study_table(6, 16, ["first", "second", "third"], seed), direction="higher", tests=["friedman", "wilcoxon"]
    )
    rows = comparison.tidy()
    rows = rows[(rows["test"] == "wilcoxon") & (rows["p_adjusted"] <= ALPHA)]
    best = comparison.glance().groupby("measure", sort=False)["embedding"].first()
    led, other = set(), set()
    for row in rows.to_dict("records"):
        pair = frozenset((row["first"], row["second"]))
        (led if best[row["measure"]] in pair else other).add(pair)

    text = sentence(" ".join(outcomes(comparison)))
    assert len(other) > 6
    counted = re.search(r"(\d+) other pairs? of embeddings", text)
    again = re.search(r"(\d+) of those above by further measures", text)
    assert int(counted[1] if counted else 0) == len(other - led)
    assert int(again[1] if again else 0) == len(other & led)


def test_both_paragraphs_let_equal_maps_share_the_first_place(five):
    """The count of clear bests is the same in both: equal maps count as one."""
    compared, ranks = five.compare(), five.ranking()
    letters = compared.glance().set_index(["measure", "embedding"])["letters"]
    clear = 0
    for _, part in letters.groupby("measure", sort=False):
        first = {*part.iloc[0]}
        sharing = {name for (_, name), own in part.items() if {*own} & first}
        clear += len(sharing) == 1 or sharing == {"pca", "mds"}
    sets = ranks[ranks["in_best_set"].fillna(False)].groupby("measure")["embedding"].agg(set)

    assert clear > 0
    assert f"distinguishable from all others by {clear} of {len(sets)} measures" in compared.paragraph()
    by_ranking = sum(len(names) == 1 or names == {"pca", "mds"} for names in sets)
    assert f"distinguishable from all others by {by_ranking} of {len(sets)} measures" in five.paragraph()


def test_across_data_sets_methods_with_equal_values_share_the_first_place():
    """Two names of one method do not differ, and together they are best."""
    table = study_table(3, 14, ["first", "second"])
    copy = table[table["embedding"] == "m2"].assign(embedding="again")
    table.loc[table["embedding"] == "m2", "value"] += 5
    both = pd.concat([table, copy.assign(value=copy["value"] + 5)])
    comparison = dreval.compare(both, direction="higher", tests=["friedman", "wilcoxon"])
    letters = comparison.glance().set_index(["measure", "embedding"])["letters"]

    for measure in ("first", "second"):
        assert letters[measure, "m2"] == letters[measure, "again"]
        assert not {*letters[measure, "m2"]} & {*letters[measure, "m0"], *letters[measure, "m1"]}
    assert "distinguishable from all others by 2 of 2 measures" in comparison.paragraph()


values = st.lists(st.one_of(st.floats(-10, 10), st.sampled_from([0.0, 0.1, 0.3, 1.0])), min_size=1, max_size=8)


@given(values, st.floats(-3, 3), st.randoms(use_true_random=False))
def test_ranks_do_not_see_rounding(numbers, factor, random):
    """Values that were multiplied and divided have the ranks of the values: ties are ties, others are not."""
    numbers = [round(value, 6) for value in numbers]
    factor = 10.0**factor / 3
    moved = [value * factor / factor + random.choice([0.0, 1e-16]) for value in numbers]
    expected = stats.rankdata([-value for value in numbers])

    np.testing.assert_allclose(tied_ranks(moved, 1.0), expected)
    for (a, rank), (b, other) in itertools.combinations(zip(moved, expected, strict=True), 2):
        assert is_tie(a, b, 1.0) == (rank == other)


@given(st.lists(st.lists(st.integers(1, 4), min_size=3, max_size=3), min_size=1, max_size=6))
def test_names_are_ordered_by_the_mean_of_their_ranks(ranks):
    """As pandas has the means; equal means in the order given."""
    named = {f"m{i}": [float(rank) for rank in some] for i, some in enumerate(ranks)}
    means = pd.DataFrame(named).mean().round(9)
    assert order_by_mean_rank(named) == list(means.sort_values(kind="stable").index)


def test_equal_maps_are_one_lead_by_every_measure(five):
    """The first of them leads, whichever has the larger value by 1e-17; only one leads with equal best values."""
    glance = five.compare().glance()
    ahead = five.ranking()
    for measure, part in glance.groupby("measure", sort=False):
        ties = ahead[(ahead["measure"] == measure) & (ahead["rank"] == 1)]["embedding"]
        assert part["embedding"].iloc[0] == next(name for name in five.names if name in set(ties))
    text = sentence(" ".join(outcomes(five.compare())))
    assert not re.search(r"(^|\. )mds is (better|not distinguishable)[^.]*pca", text)


def test_every_text_has_one_order_by_mean_rank(twelve):
    """That of the mean of the ranks of values over all measures, ties sharing their rank."""
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
        shown = [re.match(r"pca|mds|noisy \d+", line)[0] for line in lines]
        assert shown == expected[: len(shown)]
        assert len(shown) >= 8
        assert "by their mean rank over all five measures" in " ".join(text.split())


def test_a_test_without_significance_shows_no_equality(five):
    """Sentences say that no difference is significant, never that there is none."""
    two = five.compare(["pca", "noisy 0"])
    texts = [two.paragraph(), five.compare().paragraph(), str(two.summary()), two.paragraph("results", "markdown")]
    one = five.compare(["pca", "noisy 0"], measure="trustworthiness").paragraph()
    for text in [*texts, one]:
        assert not re.search(r"does not differ|no pair|differs? not|pairs? do(es)? not differ\b(?! sig)", text.lower())
    rows = two.tidy()
    large = rows[rows["p_adjusted"] > ALPHA]
    assert len(large)
    assert two.paragraph().count("no significant difference") == len(large)


def test_a_note_on_equal_values_names_the_pair(five):
    """Where not all pairs are equal; of a comparison of equal maps alone nothing is to be named."""
    notes = " ".join(str(five.compare().summary()).split())
    assert "(pca and mds): no difference, whichever points are left out." in notes
    alone = " ".join(str(five.compare(["pca", "mds"]).summary()).split())
    assert "no difference, whichever points are left out" in alone
    assert "(pca and mds)" not in alone


@given(st.floats(0.0, 1.0), st.sampled_from([0.05, 0.01, 0.1, 0.001, 0.0001]))
def test_a_printed_p_is_on_its_side_of_the_level(p, alpha):
    """Read as a number it is at most the level if and only if p is; and near enough to p."""
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
    """Three places where they tell p from the level, else more."""
    assert format_p(p) == text


def test_how_an_embedding_stands_is_counted_measure_by_measure(twelve):
    """Significant is what both tests find; what ``ranking`` alone finds is borderline."""
    view, ranks, pairs = read_results(twelve), twelve.ranking(), twelve.compare().tidy()
    seen = set()
    for name in view.names:
        clear = near = kept = 0
        for key, part in ranks.groupby(KEYS):
            part = part.set_index("embedding")
            if part.loc[name, "in_best_set"]:
                kept += 1
                continue
            best = set(part.index[part["in_best_set"].fillna(False)])
            mine = pairs[(pairs[KEYS] == list(key)).all(axis=1)]
            other = mine["first"].where(mine["second"] == name, mine["second"].where(mine["first"] == name))
            borderline = mine.loc[other.isin(best), "p_adjusted"].min() > ALPHA
            near, clear = near + borderline, clear + (not borderline)
        text = standing_finding(view, name).text
        if not kept and near and clear:
            wanted = (
                f"Behind the best by all five measures: significantly by {WORDS[clear]}, borderline by {WORDS[near]}."
            )
            assert text == wanted
            seen.add("both")
        elif not kept:
            assert text == (
                "Behind the best by all five measures, borderline by each."
                if near
                else "Significantly behind the best by all five measures."
            )
            seen.add("clear")
        else:
            said = re.search(r"behind it only borderline by (\w+)", text)
            assert (WORDS.index(said[1]) if said else 0) == near
            seen.add("kept")
    assert seen >= {"clear", "kept"}


def test_every_borderline_difference_is_named_or_counted(twelve):
    """The least clear one has both p-values, others their names, and further pairs are counted."""
    view = read_results(twelve)
    lines = [at for one in measure_rankings(view) for at in borderlines(view, one)]
    assert len(lines) > 2
    for said in (one for one in findings(view) if "Borderline" in one.text):
        keys = {row[:2] for row in said.rows}
        mine = [at for at in lines if (at.column.measure, at.column.parameters) in keys]
        text = sentence(said.text).partition("Borderline")[2]
        first, _, also = text.partition("; also ")
        worst = max(mine, key=lambda at: at.p_compare)
        assert f"{worst.best} against {worst.other}: " in first
        rest = {(at.best, at.other) for at in mine} - {(worst.best, worst.other)}
        again = [at for at in mine if at is not worst and (at.best, at.other) == (worst.best, worst.other)]
        assert all(at.column.short_title in also.partition("against")[0] for at in again)
        found = re.findall(r"(?:(pca|mds|noisy \d+) )?against (pca|mds|noisy \d+)", also)
        named = {(best or worst.best, other) for best, other in found}
        more = re.search(r"(\d+) more pairs", also)
        assert named <= rest
        assert len(named) + (int(more[1]) if more else 0) == len(rest)
        for at in mine:
            assert at.column.short_title in first or len({one.column.short_title for one in mine}) == 1


def test_the_smallest_p_is_said_where_a_sentence_uses_it():
    """The limit of p has its number of permutations, in summary and paragraph; not where p is larger."""
    for seed, expected in ((0, True), (1, True)):
        results = evaluated(3, seed, tests=["hsic"], n_resamples=39, adjust=None)
        rows = results.tidy()
        rows = rows[rows["test"] == "hsic"]
        limit = bool((rows["p_value"] * 40 < 1.5).any())
        said = "p = .025 is the smallest that 39 permutations can give"
        assert limit is expected
        for text in (str(results.summary()), results.paragraph()):
            assert (said in " ".join(text.split())) == limit
    X, Y = cloud()
    noise = np.random.default_rng(3).integers(0, 2, len(X))
    plain = dreval.Evaluation(X, {"a": Y}, labels=noise, n_neighbors=8, random_state=0)
    results = plain.run("trustworthiness", ["hsic"], None, n_resamples=39)
    assert results.tidy()["p_value"].min() > 0.025
    assert "is the smallest" not in str(results.summary())


def test_the_data_are_in_no_adjustment_and_no_count_of_tests():
    """The adjusted p-values of the embeddings exclude the data, whose row has only an unadjusted p."""
    without, beside = (evaluated(3, with_data=flag, tests=["hsic"], n_resamples=99) for flag in (False, True))
    keys = ["embedding", "test", "variable"]
    first, second = (one.tidy()[lambda table: table["test"] == "hsic"].set_index(keys) for one in (without, beside))

    own = second.xs("data", level="embedding")
    assert own["p_value"].notna().all()
    assert own["p_adjusted"].isna().all()
    pd.testing.assert_series_equal(second.drop("data", level="embedding")["p_adjusted"], first["p_adjusted"])
    assert "for 3 of 3 embeddings" in beside.paragraph()
    assert "3 embeddings of 45 points" in beside.paragraph()
    p = re.search(r"Dependence on labels \(all adjusted (p [=<] \S+);", " ".join(str(without.summary()).split()))
    text = " ".join(str(beside.summary()).split())
    assert p
    assert p[0] in text
    assert "without p of data, shown for reference" in text
    assert "data 1" in text or "data ." in text


def test_a_paragraph_names_measures_without_a_value():
    """Of one embedding, and of all of them."""
    X, Y = cloud()
    embeddings = {"pca": Y, "wide": np.column_stack([Y, Y[:, 0] ** 2])}
    ev = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0)
    with pytest.warns(InputWarning, match="needs labels"):
        results = ev.run(["trustworthiness", "silhouette"], None)
    assert results.tidy().set_index(["measure"]).loc["silhouette", "value"].isna().all()
    assert "No value by Silhouette" in results.paragraph()


def test_a_reference_is_said_once_on_its_card():
    """The card of the data has one sentence."""
    from dreval.report.evaluation import embedding_cards
    from dreval.report.format import short_names

    results = evaluated(3, with_data=True)
    view = read_results(results)
    tags = dict.fromkeys(short_names(view.names, 60))
    (card,) = [one for one in embedding_cards(view, tags) if one.title == "data"]
    assert [card.standing, *card.good, *card.poor] == ["The data, shown for reference."]


def test_a_list_that_holds_a_result_has_the_advice_of_a_result(five):
    """The hint for a second result is the same alone and within a list."""
    for second in (five, [five], (five, five)):
        with pytest.raises((InputError, UnknownName), match=r"into one Evaluation") as error:
            dreval.compare(five, second)
        assert "...." not in str(error.value)


@pytest.mark.parametrize("thing", ["dreval", "results"])
def test_a_hint_for_a_wrong_name_is_printed_once(thing, five):
    """Python adds no second suggestion to that of the package."""
    with pytest.raises(AttributeError) as error:
        dreval.evaluate if thing == "dreval" else five.sumary  # noqa: B018
    text = "".join(traceback.format_exception_only(error.value))
    assert text.count("Did you mean") == 1


def test_a_test_by_cyclic_shifts_says_so():
    """Where permutations are named otherwise."""
    g = np.random.default_rng(0)
    x, y = np.cumsum(g.normal(size=(40, 2)), axis=0), np.cumsum(g.normal(size=40))
    text = str(dreval.hsic_test(x, y, permutation="cyclic", n_resamples=99, random_state=0))
    assert "Cyclic shifts:" in text
    assert "all cyclic shifts" in text
    assert "Permutations" not in text
    assert "Permutations:" in str(dreval.hsic_test(x, y, n_resamples=99, random_state=0))


def test_the_sentence_of_a_noise_test_is_that_of_its_rows():
    """The score is the mean overlap of the method; p counts null data with as large a score; its limit is named."""
    g = np.random.default_rng(0)
    plain = g.normal(size=(40, 4))
    shifted = plain + 3 * (np.arange(40) < 20)[:, None]
    for X in (plain, shifted):
        found = dreval.noise_test(X, "pca", n_neighbors=8, n_replicates=19, random_state=0)
        Y = dreval.embed(X, "pca")
        overlap = dreval.neighborhood_overlap(X, Y, n_neighbors=8)
        p = (1 + sum(score >= found.statistic - 1e-12 for score in found.null_distribution)) / 20
        text = " ".join(str(found).split())

        assert found.statistic == pytest.approx(overlap)
        assert found.p_value == p
        assert (f"is not distinguished from noise (independent columns, p = {format_p(p)})" in text) == (p > ALPHA)
        assert ("shows that the columns are not independent (p = .050)" in text) == (p <= ALPHA)
        assert ("p = .050 is the smallest that 19 null data sets can give" in text) == (p == 1 / 20)
        outside = int((found.points["p_family_wise"] <= ALPHA).sum())
        assert re.search(rf"stand out by the family-wise p \(≤ 0\.05\) {outside} all that are scored 40", text)


def test_the_first_line_across_few_data_sets_is_that_nothing_could_be_significant():
    """On three data sets no p of signed ranks is small; mean ranks are those that pandas has of the means."""
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
    enough = dreval.compare(study_table(3, 12, ["first"]), direction="higher", tests="wilcoxon")
    assert "could have been significant" not in " ".join(outcomes(enough))


def test_a_drawn_chance_level_is_said_to_be_near():
    """Levels of random permutations have an error; those in closed form have none."""
    summary = evaluated(3).summary()
    text = " ".join(str(summary).split())
    drawn = [one for one in read_results(evaluated(3)).main_columns if one.chance_is_estimated]
    assert {one.measure for one in drawn} == {"procrustes_rc", "procrustes_disparity"}
    for said in re.findall(r"\(([^()]*chance level[^()]*)\)", text):
        assert ("chance level about" in said) == any(said.startswith(one.short_title) for one in drawn)
    assert "≈ approximate" in text
