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
from matplotlib.text import Text
from scipy import stats

import dreval
from dreval._text import format_p
from dreval.errors import InputError, UnknownName
from dreval.inference.ties import is_tie, order_by_mean_rank, tied_ranks
from dreval.report.resamples import noise_limit

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
    assert "no significant difference" in comparison_of_two.paragraph().lower()


def test_a_note_on_equal_values_names_the_pair(five):
    """The note names the pair if not all pairs are equal, and no pair in a comparison of equal maps alone."""
    notes = " ".join(str(five.compare().summary(full=True)).split())
    assert "(pca and mds): no difference, whichever points are left out." in notes
    notes_of_pair = " ".join(str(five.compare(["pca", "mds"]).summary(full=True)).split())
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


@pytest.mark.slow
def test_the_smallest_p_is_named_if_a_sentence_uses_it():
    """The full summary has the limit of p with its number of permutations, unless p is larger."""
    for seed, expected in ((0, True), (1, True)):
        results = evaluated(3, seed, tests=["hsic"], n_resamples=39, adjust=None)
        rows = results.table
        rows = rows[rows["test"] == "hsic"]
        limit = bool((rows["p_value"] * 40 < 1.5).any())
        phrase = "p = .025 is the smallest that 39 permutations can give"
        assert limit is expected
        for text in (str(results.summary(full=True)),):
            assert (phrase in " ".join(text.split())) == limit
    X, Y = cloud()
    noise = np.random.default_rng(3).integers(0, 2, len(X))
    evaluation = dreval.Evaluation(X, {"a": Y}, labels=noise, n_neighbors=8, random_state=0)
    results = evaluation.run("trustworthiness", ["hsic"], None, n_resamples=39)
    assert results.table["p_value"].min() > 0.025
    assert "is the smallest" not in str(results.summary())


def test_all_permutations_bound_p_and_reach_it_only_where_no_two_have_the_same_statistic():
    """Of six orders of two donors each, three pairs have one statistic: p is at least 1/3, and 1/6 is only a bound."""
    X, Y = cloud(n=40)
    donors = np.repeat(np.arange(4), 10)
    evaluation = dreval.Evaluation(
        X, {"a": Y}, labels=np.repeat(["x", "x", "y", "y"], 10), groups=donors, n_neighbors=5, random_state=0
    )
    results = evaluation.run("trustworthiness", ["hsic"], None)
    tested = results.table[results.table["test"] == "hsic"]
    text = " ".join(str(results.summary()).split())
    assert tested["p_value"].min() >= 1 / 3
    assert "6 permutations can give no p below .167" in text
    assert "is the smallest" not in text


@pytest.mark.slow
def test_the_data_are_excluded_from_adjustment_and_counts():
    """The adjusted p-values of the embeddings exclude the data, whose row has only an unadjusted p."""
    without, with_reference = (evaluated(3, with_data=flag, tests=["hsic"], n_resamples=99) for flag in (False, True))
    keys = ["embedding", "test", "variable"]
    rows_without, rows_with = (
        results.table[lambda table: table["test"] == "hsic"].set_index(keys) for results in (without, with_reference)
    )

    rows_of_data = rows_with.xs("data", level="embedding")
    assert rows_of_data["p_value"].notna().all()
    assert rows_of_data["p_adjusted"].isna().all()
    pd.testing.assert_series_equal(rows_with.drop("data", level="embedding")["p_adjusted"], rows_without["p_adjusted"])
    texts = [" ".join(str(results.summary(full=True)).split()) for results in (without, with_reference)]
    sentences = [re.search(r"All three embeddings depend on labels \(.*?\)", text) for text in texts]
    assert sentences[0][0] == sentences[1][0]


def test_a_list_with_a_result_has_the_hint_of_a_result(five):
    """The hint for a second result is the same for a result and for a list that contains it."""
    for second in (five, [five], (five, five)):
        with pytest.raises((InputError, UnknownName), match=r"compare\(first, second\)") as error:
            five.compare(second)
        assert "...." not in str(error.value)


@pytest.mark.parametrize("owner", ["dreval", "results"])
def test_a_hint_for_a_wrong_name_is_printed_once(owner, five):
    """Python adds no second suggestion to that of the package."""
    with pytest.raises(AttributeError) as error:
        dreval.trustworthines if owner == "dreval" else five.sumary  # noqa: B018
    text = "".join(traceback.format_exception_only(error.value))
    assert text.count("Did you mean") == 1


def test_a_test_by_cyclic_shifts_names_them():
    """The printed test has "Cyclic shifts" in place of "Permutations"."""
    g = np.random.default_rng(0)
    x, y = np.cumsum(g.normal(size=(40, 2)), axis=0), np.cumsum(g.normal(size=40))
    text = str(dreval.hsic_test(x, y, permutation="cyclic", n_resamples=99, random_state=0).summary(full=True))
    assert "Cyclic shifts:" in text
    assert "all cyclic shifts" in text
    assert "Permutations" not in text
    assert "Permutations:" in str(dreval.hsic_test(x, y, n_resamples=99, random_state=0).summary(full=True))


@pytest.mark.slow
def test_the_map_of_a_noise_test_states_how_many_points_can_be_distinguished():
    """With R null data sets R + 1 points can be; the figure says so if as many are, and not if fewer or all are."""
    g = np.random.default_rng(0)
    X = g.normal(size=(60, 4)) + 6 * (np.arange(60) % 2)[:, None]
    test = dreval.noise_test(X, "pca", n_clusters=2, n_replicates=19, random_state=0)
    figure = test.plot("map")
    drawn = " ".join(" ".join(text.get_text().split()) for text in figure.findobj(Text))

    assert (~test.like_noise).sum() == 20
    assert "Hollow: 40 of 60 points" in drawn
    assert "19 null data sets can distinguish about 20 points" in drawn
    assert noise_limit(19, np.arange(60) >= 20) != []
    assert noise_limit(19, np.arange(60) >= 19) == []
    assert noise_limit(19, np.zeros(60, np.bool_)) == []


def test_a_large_p_leads_to_clusters_only_if_the_score_can_miss_them():
    """The second sentence names what to pass; the note is not printed again, and the full form has it."""
    noise = np.random.default_rng(0).normal(size=(40, 4))
    options = {"n_replicates": 19, "random_state": 0}
    overlap = dreval.noise_test(noise, "pca", **options)
    requested = dreval.noise_test(noise, "pca", null="columns", n_clusters=3, **options)
    silhouette = dreval.noise_test(noise, "pca", n_clusters=3, **options)
    texts = [" ".join(str(test).split()).split("). ")[1] for test in (overlap, requested, silhouette)]

    assert min(test.p_value for test in (overlap, requested, silhouette)) > ALPHA
    assert texts[0].startswith("This score can miss clear clusters: pass n_clusters= to test for these. ")
    assert texts[1].startswith("This score can miss clear clusters and does not use their number, 3: pass measure=")
    assert texts[2].startswith("This does not show that the data have no structure. ")
    assert str(overlap).count("n_clusters=") == 1
    assert str(overlap.summary(full=True)).count("n_clusters=") >= 2


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
        start = f"pca shows more of these data than of independent columns (p = {format_p(p)})"
        assert text.startswith(start if p <= ALPHA else f"No evidence that {start}")
        assert ("This score can miss clear clusters: pass n_clusters=" in text) == (p > ALPHA)
        n_outside = int((test.points["p_family_wise"] <= ALPHA).sum())
        n_flagged = int((~test.like_noise).sum())
        assert (f"{n_flagged} of {len(X)} points are distinguished from noise" in text) == (p <= ALPHA)
        assert (f"; {n_outside} points have a family-wise p" in text) == (p <= ALPHA)
