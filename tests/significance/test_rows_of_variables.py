"""Variables, blocks, groups and matrices that come as frames are matched by their names."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

import dreval
from dreval.errors import InputError, InputWarning
from dreval.geometry.kernels import gram_matrix
from dreval.inputs.variables import row_id_notes

RNG = np.random.default_rng(0)
N = 24
NAMES = [f"s{i:02d}" for i in range(N)]
BLOCKS = np.repeat(["a", "b", "c"], 8)
POINTS = RNG.normal(size=(N, 2)) + 3 * (BLOCKS == "b")[:, None]
VALUES = POINTS[:, 0] + RNG.normal(size=N)
ORDER = RNG.permutation(N)
TESTS = ("hsic", "kcca", "dcov", "cca")


def run(name, *variables, **options):
    return getattr(dreval, f"{name}_test")(*variables, n_resamples=49, random_state=0, **options)


def assert_same_result(left, right):
    return (left.statistic, left.p_value) == (pytest.approx(right.statistic, rel=1e-9), right.p_value)


@pytest.mark.parametrize("name", TESTS)
def test_blocks_follow_the_row_names(name):
    """A series of blocks in another order gives the numbers of the ordered array, with a note."""
    frame, y = pd.DataFrame(POINTS, NAMES), pd.Series(VALUES, NAMES)
    blocks = pd.Series(BLOCKS, NAMES)
    expected = run(name, POINTS, VALUES, permutation="within", blocks=BLOCKS)
    result = run(name, frame, y, permutation="within", blocks=blocks.iloc[ORDER])
    assert assert_same_result(result, expected)
    np.testing.assert_allclose(result.null_distribution, expected.null_distribution)
    assert "Rows of `blocks` were matched to `x` by row names." in [*map(str, result.notes)]
    with pytest.raises(InputError, match="`blocks` must have the same ids"):
        run(name, frame, y, permutation="within", blocks=blocks.rename({"s03": "other"}))


@pytest.mark.parametrize("name", TESTS)
def test_series_with_different_dropped_rows_raise_an_error(name):
    """Numbers as row names are names: rows 1..23 and 0..22 do not match, the common rows do, arrays do."""
    s, t = pd.Series(POINTS[:, 0]), pd.Series(VALUES)
    for x, y in ((s.drop(0), t.drop(N - 1)), (s.drop(N - 1), t.drop(0)), (s.set_axis(range(1, N + 1)), t)):
        with pytest.raises(InputError, match=r"`y` must have the same ids.*reset_index\(drop=True\)"):
            run(name, x, y)
        result = run(name, x.reset_index(drop=True), y.reset_index(drop=True))
        assert assert_same_result(result, run(name, x.to_numpy(), y.to_numpy()))
    common = run(name, s.drop([0, N - 1]), t.drop([N - 1, 0]))
    assert assert_same_result(common, run(name, POINTS[1:-1, 0], VALUES[1:-1]))


def test_two_samples_that_count_their_rows_have_no_row_names():
    """Samples 0..11 and 0..11 with blocks 0..23: by position, one sample after the other."""
    x, y = pd.DataFrame(POINTS[:12]), pd.DataFrame(POINTS[12:])
    options = {"permutation": "within"}
    result = run("mmd", x, y, blocks=pd.Series(BLOCKS), **options)
    assert assert_same_result(result, run("mmd", POINTS[:12], POINTS[12:], blocks=BLOCKS, **options))


def test_groups_and_blocks_of_two_samples_follow_the_row_names():
    """Groups and blocks in another order are the same groups and blocks; names that match in part raise an error."""
    frame, groups = pd.DataFrame(POINTS, NAMES), pd.Series(np.arange(N) % 2, NAMES)
    expected = run("mmd", POINTS, groups=groups.to_numpy(), permutation="within", blocks=BLOCKS)
    shuffled = {"groups": groups.iloc[ORDER], "blocks": pd.Series(BLOCKS, NAMES).iloc[ORDER[::-1]]}
    result = run("mmd", frame, permutation="within", **shuffled)
    assert assert_same_result(result, expected)
    assert "Rows of `groups` were matched to `x` by row names." in [*map(str, result.notes)]
    two_samples = run("mmd", frame[:10], frame[10:], permutation="within", blocks=shuffled["blocks"])
    assert assert_same_result(two_samples, run("mmd", POINTS[:10], POINTS[10:], permutation="within", blocks=BLOCKS))
    with pytest.raises(InputError, match="`groups` must have the same ids"):
        run("mmd", frame, groups=groups.rename({"s03": "other"}))


def test_columns_of_two_samples_are_matched_by_name():
    """Columns in another order are the same columns; other names raise an error; without names the position counts."""
    x = pd.DataFrame(POINTS[:10], columns=["height", "weight"])
    y = pd.DataFrame(POINTS[10:], columns=["height", "weight"])
    expected = run("mmd", POINTS[:10], POINTS[10:])
    assert assert_same_result(run("mmd", x, y[["weight", "height"]]), expected)
    assert assert_same_result(run("mmd", x, pd.DataFrame(POINTS[10:])), expected)
    with pytest.raises(InputError, match="`y` must have the columns of `x`: got 'age', which `x` does not have"):
        run("mmd", x, y.rename(columns={"weight": "age"}))


@pytest.mark.parametrize("name", ["hsic", "kcca", "dcov", "mmd"])
def test_precomputed_frames_are_matched_by_rows_and_columns(name):
    """Kernels and distances with rows and columns in any order give the numbers of the ordered arrays."""
    distances = squareform(pdist(POINTS))
    matrix = distances if name == "dcov" else gram_matrix(POINTS, "x").matrix
    frame = pd.DataFrame(matrix, NAMES, NAMES)
    passed = {"metric" if name == "dcov" else "kernel": "precomputed"}
    if name == "mmd":
        groups = np.arange(N) % 2
        pairs = run(name, frame.iloc[:, ORDER], groups=groups, **passed), run(name, matrix, groups=groups, **passed)
        assert assert_same_result(*pairs)
        return
    for reordered in (
        frame.iloc[:, ORDER],
        frame.iloc[ORDER],
        frame.iloc[ORDER, ORDER],
        frame.iloc[ORDER[::-1], ORDER],
    ):
        assert assert_same_result(run(name, frame, reordered, **passed), run(name, matrix, matrix, **passed))
    with pytest.raises(InputError, match="`x` must have the same names in rows and columns"):
        run(name, frame.rename(columns={"s03": "other"}), frame, **passed)


@pytest.mark.parametrize("name", TESTS)
def test_variables_that_no_permutation_changes_raise_an_error(name):
    """A variable that is constant within every block, or the same in all blocks, has no information under these
    schemes.
    """
    age = np.repeat([1.0, 5.0, 7.0], 8)
    with pytest.raises(InputError, match="`y` must not look the same under every permutation of its rows: got rows"):
        run(name, POINTS, age, permutation="within", blocks=BLOCKS)
    with pytest.raises(InputError, match="`x` must not look the same under every permutation of its rows: got blocks"):
        run(name, np.tile(np.arange(8.0) ** 2, 3), VALUES, permutation="blocks", blocks=BLOCKS)


def test_groups_that_no_permutation_changes_raise_an_error():
    """Groups that are blocks, or unions of blocks, cannot be permuted within blocks."""
    with pytest.raises(InputError, match="`groups` must not look the same under every permutation"):
        run("mmd", POINTS, groups=BLOCKS == "a", permutation="within", blocks=BLOCKS)


@pytest.mark.parametrize("name", [*TESTS, "mmd"])
def test_sparse_variables_and_numbers_as_blocks_raise_an_error(name):
    """A sparse matrix, and blocks that are not classes, raise an error with a hint."""
    with pytest.raises(InputError, match=r"`x` must be dense: got a sparse matrix of shape \(24, 2\)\. Pass x\.toarr"):
        run(name, csr_array(POINTS), VALUES)
    with pytest.raises(InputError, match=r"`blocks` must be classes.* cut a continuous variable into classes"):
        run(name, POINTS, POINTS + 1, permutation="within", blocks=np.arange(48 if name == "mmd" else 24) / 2)


@pytest.mark.parametrize("name", [*TESTS, "mmd"])
@pytest.mark.parametrize("path", ["a.csv", Path("a.csv")])
def test_paths_raise_an_error_that_names_a_reader(name, path):
    """The tests take arrays and frames; a path raises an error that explains how to keep its row names."""
    messages = (
        r"must be an array, a frame or a series: got the text 'a\.csv'\. Read it first: .*read_csv\(path, index_col=0\)"
    )
    with pytest.raises(InputError, match=f"`x` {messages}"):
        run(name, path, VALUES)
    with pytest.raises(InputError, match=f"`y` {messages}"):
        run(name, POINTS, path)
    with pytest.raises(InputError, match=f"`blocks` {messages}"):
        run(name, POINTS, POINTS + 1, permutation="within", blocks=path)
    with pytest.raises(InputError, match=f"`groups` {messages}"):
        dreval.mmd_test(POINTS, groups=path)
    with pytest.raises(InputError, match=f"`y` {messages}"):
        dreval.dependence_ranking(POINTS, path)


def test_numbers_as_groups_are_sent_to_another_test():
    """A continuous variable does not split rows into samples."""
    with pytest.raises(
        InputError, match=r"`groups` must be classes.* Write codes of classes as whole numbers\. Use hsic"
    ):
        run("mmd", POINTS, groups=VALUES)


@pytest.mark.parametrize("name", [*TESTS, "mmd"])
def test_objects_that_are_numbers_are_numbers(name):
    """An array, series or table of floats as objects has the numbers of the floats."""
    y = np.round(VALUES)
    default = run(name, POINTS[:, 0], y)
    for objects in (y.astype(object), pd.Series(y, dtype=object), pd.DataFrame({"y": y}, dtype=object)):
        assert assert_same_result(run(name, POINTS[:, 0], objects), default)


WITHOUT_NAMES = [
    *(pytest.param(name, lambda s, name=name: run(name, POINTS, s), "y", id=name) for name in TESTS),
    pytest.param("mmd", lambda s: run("mmd", POINTS, groups=s > 0), "groups", id="mmd"),
    pytest.param(
        "hsic", lambda s: run("hsic", POINTS, VALUES, permutation="within", blocks=s > 0), "blocks", id="blocks"
    ),
    pytest.param(
        "mmd",
        lambda s: run("mmd", POINTS[:10], POINTS[10:], permutation="within", blocks=s > 0),
        "blocks",
        id="blocks of two samples",
    ),
]


@pytest.mark.parametrize(("name", "call", "argument"), WITHOUT_NAMES)
def test_names_next_to_an_array_are_not_used_and_row_numbers_in_another_order_raise_an_error(name, call, argument):
    """They are matched by position with a note, as in an evaluation; row numbers in another order are ambiguous."""
    named_values, numbered_values = pd.Series(VALUES, NAMES).iloc[ORDER], pd.Series(VALUES).iloc[ORDER]
    result = call(named_values)
    assert assert_same_result(result, call(VALUES[ORDER]))
    assert "rows.names_unused" in [note.code for note in result.notes]
    assert "rows.names_unused" not in [note.code for note in call(pd.Series(VALUES)).notes]
    with pytest.raises(InputError, match=f"`{argument}` must have its rows in the order of the data.*another order"):
        call(numbered_values)


@pytest.mark.parametrize(
    "call",
    [
        lambda y: dreval.dependence_ranking(POINTS, y)["relevance"].tolist(),
        lambda y: dreval.bandwidth_curve(POINTS, y, multiples=[1], n_resamples=9, random_state=0).table["p_value"][0],
        lambda y: dreval.kappa_curve(POINTS, y, kappas=[0.1], n_resamples=9, random_state=0).table["statistic"][0],
    ],
)
def test_functions_without_notes_warn_of_names_that_are_not_used(call):
    """The same rule where no record has notes: a warning."""
    with pytest.warns(InputWarning, match="Row names of `y` were not used"):
        assert call(pd.Series(VALUES, NAMES).iloc[ORDER]) == call(VALUES[ORDER])
    with pytest.raises(InputError, match="`y` must have its rows in the order of the data"):
        call(pd.Series(VALUES).iloc[ORDER])


def test_two_counted_samples_accept_blocks_joined_from_both():
    """Blocks 0..9 and 0..13, one sample after the other, go by position, with the note."""
    x, y, blocks = pd.DataFrame(POINTS[:10]), pd.DataFrame(POINTS[10:]), pd.Series(BLOCKS)
    joined = pd.concat([blocks[:10], blocks[10:].reset_index(drop=True)])
    result = run("mmd", x, y, permutation="within", blocks=joined)
    assert assert_same_result(result, run("mmd", POINTS[:10], POINTS[10:], permutation="within", blocks=BLOCKS))


IDS = ORDER + 1
CODE = "covariates.names_rows"


def ids_of(codes):
    """Return the arguments of the notes on integers that may name the rows."""
    return [dict(note.values)["argument"] for note in codes.notes if note.code == CODE]


@pytest.mark.parametrize("name", TESTS)
def test_a_column_that_names_the_rows_is_noted(name):
    """It is used as numbers, which hides the dependence, and the note names it, in either variable."""
    frame = pd.DataFrame({"id": IDS, "z": VALUES})
    assert ids_of(run(name, POINTS, frame)) == ["y['id']"]
    assert ids_of(run(name, frame, POINTS)) == ["x['id']"]
    assert ids_of(run(name, POINTS, frame.to_numpy())) == ["y[:, 0]"]
    assert ids_of(run(name, POINTS, pd.Series(IDS))) == ["y"]
    assert ids_of(run(name, POINTS, frame[["z"]])) == []
    assert ids_of(run(name, POINTS, frame.assign(id=IDS // 2))) == []


def test_integers_next_to_integers_name_rows_only_if_called_so():
    """Counts may differ in every row; a column called id is one of ids."""
    counts = pd.DataFrame({"cases": IDS * 7, "id": IDS})
    assert ids_of(run("hsic", POINTS, counts)) == ["y['id']"]
    assert ids_of(run("hsic", POINTS, counts.to_numpy())) == []


def test_ids_among_samples_and_features():
    """The record of the two-sample test has a note, and the ranking of features a warning."""
    frame = pd.DataFrame(POINTS, columns=["a", "b"]).assign(id=IDS)
    assert ids_of(run("mmd", frame, groups=np.arange(N) % 2)) == ["x['id']"]
    assert ids_of(run("mmd", frame[:12], frame[12:])) == ["x['id']", "y['id']"]
    with pytest.warns(InputWarning, match=r"`X\['id'\]` holds a different whole number"):
        dreval.dependence_ranking(frame, VALUES)
    with pytest.warns(InputWarning, match=r"`y\['id'\]` holds a different whole number"):
        dreval.dependence_ranking(POINTS, pd.DataFrame({"id": IDS, "z": VALUES}))


@pytest.mark.parametrize("name", TESTS)
def test_names_of_the_first_variable_alone(name):
    """Rows are matched by position to an array or a series without names, and the note says so."""
    frame = pd.DataFrame(POINTS, NAMES).iloc[ORDER]
    for y in (VALUES, pd.Series(VALUES)):
        assert "rows.data_alone" in [note.code for note in run(name, frame, y).notes]
    assert run(name, POINTS, VALUES).notes == run(name, pd.DataFrame(POINTS), VALUES).notes


def test_columns_of_one_type_are_judged_as_single_columns() -> None:
    """Tables of one type, checked at once, have the notes of the same columns as objects, checked one by one."""
    n, rng = 12, np.random.default_rng(0)
    parts = [
        rng.permutation(n),
        np.arange(n) % 5,
        np.zeros(n),
        rng.normal(size=n),
        2.0**60 + 2.0**12 * np.arange(n),
        np.r_[np.nan, np.arange(1, n)],
        np.r_[np.inf, np.arange(1, n)],
    ]
    named_columns = set()
    for dtype in (np.float64, ">f8", np.float32, np.int64):
        for chosen in itertools.product(range(len(parts)), repeat=2):
            table = np.column_stack([parts[part] for part in chosen])
            if dtype == np.int64 and not np.isin(table, np.arange(n)).all():
                continue
            frame = pd.DataFrame(table.astype(dtype), columns=["a", "b"])
            notes = row_id_notes(frame, "x", named=True)
            assert notes == row_id_notes(frame.astype(object), "x", named=True)
            named_columns |= {dict(note.values)["argument"] for note in notes}
    assert named_columns == {"x['a']", "x['b']"}
    beyond_exact = pd.DataFrame({"a": parts[4], "b": parts[3]})  # not every whole number is a float there
    assert row_id_notes(beyond_exact, "x", named=True) == ()
    assert len(row_id_notes(beyond_exact.assign(a=parts[0]), "x", named=True)) == 1
