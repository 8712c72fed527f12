"""Each check returns the normal form of a valid value, and raises an error of four parts for any other."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import clouds

from dreval import _check, errors
from dreval._check import check_bool, check_float, check_int, check_k, check_one_of, check_rows, describe, nearest_name
from dreval._check_arrays import (
    check_classes,
    check_finite,
    check_numeric,
    check_points,
    is_missing_text,
    numbers_from_objects,
)
from dreval.errors import DrevalError, InputError, UnknownName

ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=80), st.binary(max_size=8),
    st.lists(st.integers(-3, 9), max_size=4), st.lists(st.floats(), max_size=4), st.complex_numbers(),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2), st.sets(st.integers(), max_size=3),
    st.just(np.array(3)), st.just(np.float64(2.5)), st.just(np.zeros((2, 3))), st.just(np.array([], dtype=object)),
    st.just(pd.Series([1, 2])), st.just(print), st.just(int), st.just(pd.Timestamp("2020")), st.just(pd.NA),
)  # fmt: skip

CHECKS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda v: check_bool(v, "value"),
    "int": lambda v: check_int(v, "value", low=0, high=9),
    "float": lambda v: check_float(v, "value", low=0.0),
    "k": lambda v: check_k(v, 10, "value"),
    "one of": lambda v: check_one_of(v, ("umap", "tsne"), "value"),
    "seed": lambda v: _check.check_random_state(v, "value"),
    "points": lambda v: check_points(v, "value"),
    "classes": lambda v: check_classes(v, 4, "value"),
}


def outcome(name: str, value: Any) -> tuple[Any, InputError | UnknownName | None]:
    """Return the normal form, or the error."""
    try:
        return CHECKS[name](value), None
    except (InputError, UnknownName) as error:
        return None, error


@pytest.mark.parametrize("name", CHECKS)
@given(value=ANYTHING)
def test_a_check_returns_a_normal_form_or_raises_an_error(name: str, value: Any) -> None:
    """Any value gives a normal form that the check returns unchanged, or an error in four parts."""
    form, error = outcome(name, value)
    if error is not None:
        parts = (error.argument, error.requirement, error.received, error.hint)
        assert all(isinstance(part, str) and part.strip() for part in parts)
        assert str(error) == f"`value` {error.requirement}: got {error.received}. {error.hint}"
        assert error.requirement.startswith("must ")
        assert error.hint.endswith(".")
        assert "\n" not in str(error)
        assert len(error.received) <= 130
    elif name in ("k", "classes"):
        assert np.array_equal(CHECKS[name](form[0])[0], form[0])
    elif isinstance(form, np.ndarray):
        assert np.array_equal(CHECKS[name](form), form)
    else:
        assert CHECKS[name](form) == form


@given(clouds())
def test_valid_points_are_unchanged(X: np.ndarray) -> None:
    """A finite table of at least four rows is returned as C-ordered float64 with the same values."""
    for form in (X, np.asfortranarray(X), X.tolist(), pd.DataFrame(X)):
        points = check_points(form, "X")
        assert points.dtype == np.float64
        assert points.flags.c_contiguous
        assert np.array_equal(points, X)


def test_vectors_are_columns() -> None:
    """A vector is a table of one column."""
    assert check_points([1, 2, 3, 4], "X").tolist() == [[1.0], [2.0], [3.0], [4.0]]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "uint64", "float16", "float32", "longdouble"])
def test_all_real_types_are_numbers(dtype: str) -> None:
    """Every real type of numpy is accepted; integers are exact."""
    assert check_points(np.eye(4).astype(dtype), "X").tolist() == np.eye(4).tolist()


def test_numbers_too_large_for_double_precision_are_infinite() -> None:
    """A value that overflows float64 raises the error of infinity, with its cell."""
    with pytest.raises(InputError, match="infinity in row 1, column 0"):
        check_points(np.array([1, np.longdouble("1e4000"), 2, 3]), "X")


@given(st.integers(1, 60), st.lists(st.integers(1, 59), min_size=1, max_size=5))
def test_numbers_of_neighbors(n: int, ks: list[int]) -> None:
    """A list is sorted without repeats; k is below n; a single number is reported as single."""
    if max(ks) >= n:
        with pytest.raises(InputError, match=f"smaller than the number of points: got .* Choose at most {n - 1}"):
            check_k(ks, n)
        return
    for form in (ks, tuple(ks), np.array(ks), range(ks[0], ks[0] + 1)):
        expected = sorted({ks[0]} if isinstance(form, range) else set(ks))
        assert check_k(form, n) == (expected, False)
    assert check_k(ks[0], n) == check_k(np.int64(ks[0]), n) == check_k(np.array(ks[0]), n) == ([ks[0]], True)


def test_integers_and_floats_at_their_bounds() -> None:
    """Bounds are inclusive; truth values are not numbers; whole floats are not integers."""
    assert [check_int(v, "v", 1, 3) for v in (1, 3, np.uint8(2))] == [1, 3, 2]
    assert [check_float(v, "v", 0.5, 1.0) for v in (0.5, 1, np.float32(0.75))] == [0.5, 1.0, 0.75]
    for wrong in (0, 4, 2.0, True, "2", None, np.float64(2)):
        with pytest.raises(InputError, match="must be an integer >= 1 and <= 3"):
            check_int(wrong, "v", 1, 3)
    for wrong in (0.4, 1.1, math.nan, math.inf, True, "1"):
        with pytest.raises(InputError, match=r"must be a finite number >= 0\.5 and <= 1"):
            check_float(wrong, "v", 0.5, 1.0)


def test_a_percentage_is_answered_with_the_share() -> None:
    """A percentage suggests the share; an open bound is part of the requirement."""
    assert check_float(0.1, "v", above=0.0, high=1.0) == 0.1
    for value, options, text in (
        (95, {"low": 0.5, "high": 0.999999}, "Did you mean 0.95? Choose a number >= 0.5"),
        (5.0, {"low": 1e-6, "high": 0.5}, "Did you mean 0.05?"),
        (0, {"above": 0.0, "high": 1.0}, "> 0.0 and <= 1.0: got 0. Choose a number > 0.0"),
        (2, {"above": 0.0, "high": 1.0}, "got 2. Choose"),
        (-1, {"above": 0.0}, "must be a finite number > 0.0: got -1. Choose a number > 0.0."),
        (95, {"low": 0.0, "high": 2.0}, "got 95. Choose"),
    ):
        with pytest.raises(InputError) as error:
            check_float(value, "v", **options)
        assert text in str(error.value)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (1.5, "Choose 1 or 2."),
        (2.0, "Choose 2, as an int."),
        (0, "The smallest is 1."),
        (0.5, "The smallest is 1."),
        (9, "The largest is 3."),
        ("2", "Pass an int."),
        (None, "Pass an int."),
        (math.nan, "Pass an int."),
        (True, "Pass an int."),
    ],
)
def test_the_hint_on_a_number_names_a_valid_one(value: Any, hint: str) -> None:
    """The hint is the nearest integer, the exceeded bound, or the type."""
    with pytest.raises(InputError, match="must be an integer") as error:
        check_int(value, "v", 1, 3)
    assert str(error.value).endswith(f". {hint}")


@given(st.lists(st.text("abcdef", min_size=4, max_size=9), min_size=1, max_size=6, unique=True), st.data())
def test_the_nearest_name_is_offered(names: list[str], data: st.DataObject) -> None:
    """A valid name passes; a misspelled name gets a suggestion and the sorted list."""
    name = data.draw(st.sampled_from(names))
    assert check_one_of(name, names, "method") == name
    wrong = name[:-1] + "z"
    assert nearest_name(wrong, names) is not None
    with pytest.raises(UnknownName, match=f"Did you mean .*Known: {', '.join(sorted(names))}"):
        check_one_of(wrong, names, "method")


def test_only_similar_names_are_suggested() -> None:
    """A name without a similar option has the list; without options the message states so."""
    with pytest.raises(UnknownName) as error:
        check_one_of("qqqq", ("umap", "tsne"), "method")
    assert str(error.value) == "`method` must be a known name: got 'qqqq'. Known: tsne, umap."
    with pytest.raises(UnknownName, match=r"Known: none\."):
        check_one_of("k", (), "option")


def test_cells_that_are_not_finite_are_named() -> None:
    """The error has the first three cells by row and column (or its name), and the number of the remaining ones."""
    X = np.ones((5, 2))
    X[1, 1], X[2, 0], X[3, 0], X[4, 1] = np.nan, np.inf, -np.inf, np.nan
    with pytest.raises(InputError) as error:
        check_finite(X, "data", ["u", "v"])
    assert (
        "got NaN in row 1, column 'v', infinity in row 2, column 'u', infinity in row 3, column 'u' and 1 more "
        "(rows count from 0)." in str(error.value)
    )
    with pytest.raises(InputError, match="NaN at position 1"):
        check_finite(X[:, 1], "data")


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=3
)  # texts of numpy do not end in NUL characters


@given(st.lists(st.integers(-5, 5) | TEXTS, min_size=1, max_size=20))
def test_classes_are_coded_in_their_order(values: list[Any]) -> None:
    """Codes index the sorted classes and reproduce the labels; objects that are all integers are integers.

    Spaces at the ends of texts, line breaks among them, are ignored.
    """
    values = ["missing" if is_missing_text([value])[0] else value for value in values]
    codes, classes = check_classes(np.array(values, dtype=object), len(values))
    labels = values if all(isinstance(v, int) for v in values) else [str(v).strip() for v in values]

    assert classes[codes].tolist() == labels
    assert classes.tolist() == sorted(set(labels))


def test_classes_of_every_type() -> None:
    """Whole numbers, booleans, text and one column of them are classes; fractions and missing values are not."""
    for values in ([2, 1, 2], [True, False, True], ["b", "a", "b"], np.array([[2], [1], [2]]), [2.0, -1.0, 2.0]):
        assert check_classes(values, 3)[0].tolist() == [1, 0, 1]
    for fractions in ([1.0, 2.5, 1.0], [1.0, np.inf, 1.0], [1.0, 2.0**53, 1.0]):
        with pytest.raises(InputError, match=r"in row 1 .*Pass numbers as `covariates` of an evaluation"):
            check_classes(fractions, 3)
    with pytest.raises(InputError, match="the text 'nan', which stands for a missing value, in row 1"):
        check_classes(["a", "nan", "b"], 3)
    with pytest.raises(InputError, match="1 missing value, the first in row 1"):
        check_classes(["a", None, "b"], 3)
    with pytest.raises(InputError, match="must have one row per point of the data: got 2 rows for 3 points"):
        check_classes([1, 2], 3)


def test_rows_must_agree() -> None:
    """Equal numbers pass."""
    check_rows(3, 3, "Y")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"), ("umap", "'umap'"), (np.float64(2.5), "2.5"), (np.array(3), "3"), (np.int64(3), "3"),
        (np.zeros((2, 3)), "ndarray of shape (2, 3) and dtype float64"), (None, "None"),
        ("a" * 99, "str '" + "a" * 49 + " [...]"), (pd.Series([1, 2]), "Series of shape (2,) and dtype int64"),
    ],
)  # fmt: skip
def test_values_are_described_shortly(value: Any, text: str) -> None:
    """Scalars are described by value, arrays by shape and type, long values by their beginning."""
    assert describe(value) == text


def test_numeric_arrays() -> None:
    """Numbers of any shape pass; complex numbers, text, objects and dates each have their message."""
    assert check_numeric([[1, 2]], "X").shape == (1, 2)
    for wrong in ([1j], ["a"], [None], np.array(["2020"], dtype="datetime64[D]")):
        with pytest.raises(InputError, match=r"must (be real|hold numbers)"):
            check_numeric(wrong, "X")


TREE = [getattr(errors, name) for name in errors.__all__]


@pytest.mark.parametrize("kind", [kind for kind in TREE if issubclass(kind, DrevalError)])
def test_errors_are_value_errors_in_four_parts(kind: type[DrevalError]) -> None:
    """Each error has its four parts in order, is a ValueError, and can be pickled."""
    error = kind("n_neighbors", "must be smaller than n", "40", "Choose at most 39.")
    restored = pickle.loads(pickle.dumps(error))

    assert isinstance(error, ValueError)
    assert str(error) == str(restored) == "`n_neighbors` must be smaller than n: got 40. Choose at most 39."
    assert type(restored) is kind
    assert vars(restored) == vars(error)


def test_warnings_are_a_separate_tree() -> None:
    """Every warning is a DrevalWarning, so that users can filter them; no error is one."""
    warnings = [kind for kind in TREE if issubclass(kind, Warning)]

    assert len(warnings) == 5
    assert all(issubclass(kind, errors.DrevalWarning) and issubclass(kind, UserWarning) for kind in warnings)


@pytest.mark.parametrize(
    ("word", "ours"), [("l1", "manhattan"), ("cityblock", "manhattan"), ("L2", "euclidean"), ("euclidian", "euclidean")]
)
def test_names_of_other_tools_are_recognized(word: str, ours: str) -> None:
    """The error for an alias of a metric suggests its name."""
    with pytest.raises(UnknownName, match=f"Did you mean '{ours}'"):
        check_one_of(word, ("cosine", "euclidean", "manhattan"), "metric")


@pytest.mark.parametrize(
    ("objects", "kind"),
    [([1, 2.5], "f"), ([Decimal("0.5"), Decimal(2)], "f"), ([1, np.int8(2)], "i"), ([True, False], "b"), ([1.0], "f")],
)
def test_objects_of_numbers_are_these_numbers(objects: list[Any], kind: str) -> None:
    """Objects that are numbers get the numeric type of numpy, in any shape."""
    result = numbers_from_objects(np.array([objects], dtype=object))

    assert result.dtype.kind == kind
    assert result.tolist() == [objects]


@pytest.mark.parametrize(
    "objects", [["a", "b"], [1, "a"], [1.0, None], [True, 2.0], [2**70, 1], [10**400, 0.5], [Decimal("sNaN")], [1j]]
)
def test_other_objects_stay_objects(objects: list[Any]) -> None:
    """Text, mixed kinds, missing values and too large numbers are returned unchanged."""
    values = np.array(objects, dtype=object)

    assert numbers_from_objects(values) is values
