"""Permutations over groups of rows: exact by enumeration, equal to statistics computed again for each permutation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import dreval
from dreval.errors import InputError
from dreval.significance.dcov import on_a_line

SIZES = (3, 9, 6, 4, 8)  # of five groups, 120 permutations


def nested_data(seed, sizes=SIZES, q=1):
    """Return points with group effects, the group of each, and a variable that is constant within groups."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(size=(len(groups), 2)) + 2 * rng.normal(size=(len(sizes), 2))[groups]
    order = rng.permutation(len(groups))  # rows of a group need not be adjacent
    values = rng.normal(size=(len(sizes), q))[groups]
    return x[order], (values if q > 1 else values[:, 0])[order], groups[order]


def statistics(function, x, y, groups, **options):
    """Return the statistic of the public function, on data in which the values of the groups are permuted, for all."""
    count = groups.max() + 1
    first = np.array([np.flatnonzero(groups == g)[0] for g in range(count)])
    return np.array(
        [
            function(x, y[first[list(order)]][groups], n_resamples=1, random_state=0, **options).statistic
            for order in itertools.permutations(range(count))
        ]
    )


TESTS = {
    "hsic": (dreval.hsic_test, {}),
    "laplace": (dreval.hsic_test, {"kernel": ("gaussian", "laplace")}),
    "linear": (dreval.hsic_test, {"kernel": "linear"}),
    "low rank": (dreval.hsic_test, {"method": "lowrank", "kernel": ("gaussian", "linear")}),
    "fixed": (dreval.hsic_test, {"bandwidth": 1.5}),
    "dcov": (dreval.dcov_test, {}),
    "kcca": (dreval.kcca_test, {"method": "exact"}),
    "cca": (dreval.cca_test, {}),
}


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("q", [1, 2])
def test_the_null_has_the_statistic_of_every_permutation_over_groups(name, q):
    """Bandwidths, bases and norms are those of the permuted variable, at unequal sizes."""
    function, options = TESTS[name]
    x, y, groups = nested_data(3, q=q)

    result = function(x, y, groups=groups, random_state=0, **options)
    expected = statistics(function, x, y, groups, **options)

    assert result.p_kind == "exact"
    assert_allclose(np.sort(result.null_distribution), np.sort(expected), rtol=1e-6, atol=1e-9)
    assert_allclose(result.statistic, expected[0], rtol=1e-6)
    assert_allclose(result.p_value, np.mean(expected >= expected[0] * (1 - 1e-9)))


def test_points_on_a_line_have_their_distances_permuted_over_groups():
    """Values of groups have no fast way; within groups the rows have it."""
    x, y, groups = nested_data(3)
    x = x[:, 0]

    result = dreval.dcov_test(x, y, groups=groups)

    expected = statistics(dreval.dcov_test, x, y, groups)
    assert_allclose(np.sort(result.null_distribution), np.sort(expected), rtol=1e-9)
    assert not on_a_line((x, y), groups=groups)
    assert on_a_line((x, x**2), groups=groups)


def test_p_is_exact_over_all_arrangements_of_unequal_groups():
    """Each of the 120 arrangements is observed once: at most a share a of them has p <= a, and most levels are used."""
    x, y, groups = nested_data(4)
    first = np.unique(groups, return_index=True)[1]
    orders = list(itertools.permutations(range(5)))

    p = np.array([dreval.hsic_test(x, y[first[list(order)]][groups], groups=groups).p_value for order in orders])

    for count in range(1, 121):
        assert np.count_nonzero(p <= count / 120 + 1e-12) <= count
    assert np.count_nonzero(p <= 0.05) == 6  # no ties here


@pytest.mark.parametrize("function", [dreval.hsic_test, dreval.dcov_test, dreval.kcca_test, dreval.cca_test])
def test_classes_of_groups_are_enumerated_once_each(function):
    """Four of eight donors are treated: 70 arrangements, of which swapped samples have one statistic."""
    groups = np.repeat(np.arange(8), [5, 7, 6, 9, 4, 8, 6, 5])
    treated = np.where(groups < 4, "treated", "control")
    x = np.random.default_rng(0).normal(size=(50, 2)) + 3 * (groups < 4)[:, None]

    result = function(x, treated, groups=groups)

    assert result.n_resamples == 70
    assert result.p_value == pytest.approx(2 / 70)  # the complement is the same partition
    (groups_note,) = [note for note in result.notes if note.code == "permutation.groups"]
    assert dict(groups_note.values)["groups"] == 8
    assert dict(groups_note.values)["smallest"] == pytest.approx(2 / 70)
    assert "nor on their number" in result.recipe["hypothesis"]


def test_mmd_moves_whole_blocks_of_any_size():
    """The null has the statistic of the public function for every choice of the treated donors."""
    groups = np.repeat(np.arange(6), [5, 7, 3, 9, 4, 8])
    x = np.random.default_rng(1).normal(size=(36, 2)) + np.random.default_rng(2).normal(size=(6, 2))[groups]
    treated = np.isin(groups, [0, 3, 5])

    result = dreval.mmd_test(x, groups=treated, permutation="blocks", blocks=groups)

    expected = [
        dreval.mmd_test(x, groups=np.isin(groups, chosen), n_resamples=1).statistic
        for chosen in itertools.combinations(range(6), 3)
    ]
    assert result.p_kind == "exact"
    assert_allclose(np.sort(result.null_distribution), np.sort(expected), rtol=1e-9)
    assert result.p_value == pytest.approx(np.mean(np.array(expected) >= result.statistic - 1e-12))
    samples, in_order = (x[treated], x[~treated]), np.r_[groups[treated], groups[~treated]]
    assert dreval.mmd_test(*samples, permutation="blocks", blocks=in_order).p_value == result.p_value
    with pytest.raises(InputError, match="pass the blocks of the rows of x, then those of y"):
        dreval.mmd_test(*samples, permutation="blocks", blocks=groups)


def test_a_variable_that_varies_within_groups_is_permuted_within_them():
    """The numbers are those of permutation="within" with the groups as blocks; the null hypothesis says groups."""
    x, _, groups = nested_data(5)
    y = x[:, 0] + np.random.default_rng(0).normal(size=len(x))

    result = dreval.hsic_test(x, y, groups=groups, random_state=1)
    within = dreval.hsic_test(x, y, permutation="within", blocks=groups, random_state=1)

    assert (result.p_value, result.statistic) == (within.p_value, within.statistic)
    assert result.recipe["hypothesis"] == "the variables are independent within groups"
    assert "permutation.within_groups" in [note.code for note in result.notes]


def test_groups_of_one_row_change_no_number():
    """Then rows are exchangeable."""
    x, y, _ = nested_data(6)

    grouped, plain = (dreval.hsic_test(x, y, groups=g, random_state=0) for g in (np.arange(len(x)), None))

    assert (grouped.p_value, grouped.statistic) == (plain.p_value, plain.statistic)


def test_sampled_permutations_over_groups():
    """With many groups permutations are drawn, and depend on the seed and their number only."""
    x, y, groups = nested_data(7, sizes=(3, 5, 4, 6, 2, 7, 4, 3, 5, 4))

    short = dreval.hsic_test(x, y, groups=groups, n_resamples=99, random_state=0)
    long = dreval.hsic_test(x, y, groups=groups, n_resamples=199, random_state=0, n_jobs=1)

    assert short.p_kind == "permutation"
    assert (long.null_distribution[:99] == short.null_distribution).all()
    assert dict(next(n for n in short.notes if n.code == "permutation.groups").values)["smallest"] == 0.01


X, Y, GROUPS = nested_data(8)


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"groups": GROUPS[:-1]}, "groups"),
        ({"groups": np.zeros(len(GROUPS), int)}, "groups"),
        ({"groups": np.where(GROUPS == 1, np.nan, GROUPS)}, "groups"),
        ({"groups": ["a", None] * (len(GROUPS) // 2)}, "groups"),
        ({"groups": GROUPS, "permutation": "cyclic"}, "groups"),
        ({"groups": GROUPS, "blocks": GROUPS, "permutation": "within"}, "groups"),
        ({"groups": GROUPS, "method": "gamma"}, "method"),
        ({"groups": GROUPS, "kernel": ("gaussian", "binomial")}, "kernel"),
        ({"groups": "donors.csv"}, "groups"),
        ({"groups": GROUPS, "y": np.c_[Y, X[:, 0]]}, "y"),
        ({"groups": GROUPS, "x": Y, "y": X}, "x"),
    ],
)
def test_refusals_name_the_argument(changes, argument):
    """Lengths, one group, missing groups, further schemes, kernels without a rule, and columns of both kinds."""
    arguments = {"x": X, "y": Y, **changes}
    with pytest.raises(InputError) as error:
        dreval.hsic_test(arguments.pop("x"), arguments.pop("y"), **arguments)
    assert error.value.argument == argument


def test_pooled_bandwidths_are_for_rows():
    """They are pooled where y varies within groups, and refused where groups or blocks are moved."""
    y = X[:, 0] ** 2

    grouped = dreval.hsic_test(X, y, groups=GROUPS, bandwidth="pool", n_resamples=49, random_state=0)

    within = {"permutation": "within", "blocks": GROUPS}
    plain = dreval.hsic_test(X, y, bandwidth="pool", n_resamples=49, random_state=0, **within)
    assert grouped.statistic == plain.statistic
    np.testing.assert_array_equal(grouped.null_distribution, plain.null_distribution)
    with pytest.raises(InputError, match="must not be 'pool' where `y` is constant within groups"):
        dreval.hsic_test(X, Y, groups=GROUPS, bandwidth="pool")
    with pytest.raises(InputError, match="must not be 'pool' where whole blocks are moved"):
        dreval.mmd_test(X, groups=GROUPS < 2, permutation="blocks", blocks=GROUPS, bandwidth="pool")


def test_refusals_of_blocks_with_both_samples():
    """A treatment that varies within a donor cannot be moved with it."""
    with pytest.raises(InputError, match="both"):
        dreval.mmd_test(X, groups=X[:, 0] > 0, permutation="blocks", blocks=GROUPS)
    with pytest.raises(InputError, match="blocks"):
        dreval.mmd_test(X, groups=X[:, 0] > 0, permutation="blocks")


def test_three_variables_have_no_groups():
    """Joint independence of three variables within groups is not tested."""
    with pytest.raises(InputError, match="groups"):
        dreval.hsic_test(X, Y, X[:, 0], groups=GROUPS)


@pytest.mark.parametrize("name", ["hsic_test", "dcov_test", "cca_test", "kcca_test"])
def test_a_variable_that_no_permutation_over_groups_changes_is_refused(name):
    """With another class in each group, or two groups, all permutations give one statistic and p would be 1."""
    function, X, groups = getattr(dreval, name), np.random.default_rng(0).normal(size=(40, 2)), np.repeat(range(8), 5)
    donors = np.char.add("D", groups.astype(str))
    with pytest.raises(InputError, match=r"`y` must not look the same .* another class in each of the 8 groups"):
        function(X, donors, groups=groups)
    with pytest.raises(InputError, match=r"two groups.* Pass three groups or more"):
        function(X, (groups < 4) * 1.0, groups=groups < 4)
    assert function(X, groups * 1.0, groups=groups, n_resamples=49, random_state=0).p_value < 1
    assert function(X, donors, n_resamples=49, random_state=0).p_value < 1


def test_two_blocks_are_too_few_for_two_samples_of_whole_blocks():
    """Their one permutation exchanges the samples, which changes no statistic."""
    samples = np.repeat([0, 1], 10)
    with pytest.raises(InputError, match=r"two blocks.* Pass three blocks or more"):
        dreval.mmd_test(np.arange(20.0), groups=samples, permutation="blocks", blocks=samples)


def test_an_evaluation_has_a_row_with_the_reason_for_a_variable_that_no_permutation_changes():
    """The row has no p, and the printed result says why."""
    X, groups = np.random.default_rng(0).normal(size=(40, 4)), np.repeat(range(8), 5)
    covariates = {"donor": np.char.add("D", groups.astype(str))}
    ev = dreval.Evaluation(X, {"a": X[:, :2]}, groups=groups, covariates=covariates, n_neighbors=5, random_state=0)
    results = ev.run("trustworthiness", tests=["hsic:donor"], ci=None)
    (row,) = results.table[results.table["test"] == "hsic"].to_dict("records")
    assert np.isnan(row["p_value"])
    assert "`covariates['donor']` must not look the same under every permutation over groups" in row["note"]
