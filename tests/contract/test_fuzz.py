"""Every measure, test and method over every form of numbers (``tests/fuzz.py``): the right number, or a clear error."""

from __future__ import annotations

import fuzz
import numpy as np
import pytest
from each import each
from fuzz import FORMS, SUBJECTS, Form, Report, Subject, judge, outcome

from dreval.errors import InputError
from dreval.registry import MEASURES, METHODS, TESTS

CLEAR = InputError("X", "must be so", "something else", "Do this.")
ARRAY = np.array([1.0])


@pytest.mark.slow
def test_a_part_of_the_matrix():
    """Every 25th form of each subject, starting at another one, gives no failure; each form occurs."""
    report = fuzz.run(stride=25)
    print(report)
    assert report.failures == []
    assert report.counts["calls"] > 640
    assert report.counts["form: number"] > 220
    assert report.counts["form: error"] > 220


@pytest.mark.calibration
def test_the_whole_matrix(n_simulations):
    """All forms, units and shapes of all subjects: no foreign exception, no silent wrong number."""
    report = fuzz.run(stride=1000 // n_simulations(1000))
    print(report)
    assert report.failures == []


def test_the_matrix_holds_the_registries():
    """Every registered entry is a subject; names of forms are unique."""
    names = {subject.name.removeprefix("methods.").split(".")[0] for subject in SUBJECTS}
    assert names == {*MEASURES, *TESTS, *METHODS}
    assert len({form.name for form in FORMS}) == len(FORMS) > 80
    assert {form.must for form in FORMS} == {"number", "error", "either"}


@each(
    "outcome, must, is_known, verdict",
    [
        (ARRAY, "number", ARRAY, "number"),
        (ARRAY * (1 + 1e-13), "number", ARRAY, "number"),
        (CLEAR, "error", None, "error"),
        (CLEAR, "either", ARRAY, "error"),
        (CLEAR, "number", CLEAR, "error"),
        (ARRAY * (1 + 1e-9), "number", ARRAY, "another number"),
        (np.ones(2), "number", ARRAY, "another number"),
        (np.array([np.nan]), "number", np.array([np.nan]), "not finite"),
        (np.array([np.inf]), "either", None, "not finite"),
        (ARRAY, "error", None, "answered"),
        (ARRAY, "either", CLEAR, "answered"),
        (CLEAR, "number", ARRAY, "refused"),
        (KeyError("x"), "error", None, "foreign KeyError"),
        (RuntimeWarning("overflow"), "either", None, "foreign RuntimeWarning"),
        (ValueError("ragged"), "number", ValueError("ragged"), "foreign ValueError"),
        (InputError("X", "must be so", "", "Do this."), "error", None, "error without a part"),
    ],
)
def test_the_fuzzer_detects_wrong_outcomes(outcome, must, is_known, verdict):
    """A right outcome is a number or an error; any other is described."""
    text = judge(outcome, must, is_known, 1e-12)
    assert text == verdict if verdict in ("number", "error") else text.startswith(verdict)


def test_a_subject_that_writes_warns_or_errs_is_detected():
    """Calls are counted; a function that writes to its input, overflows or accepts invalid input is a failure."""

    def careless(values, _):
        array = np.asarray(values["X"], float)
        if array.flags.writeable:
            array += 1.0
        return np.array([np.exp(1e5 * np.abs(array).max())])

    subject, report = Subject("careless", ("X",), careless), Report()
    assert isinstance(outcome(subject, {"X": np.ones((4, 3))}, 4), RuntimeWarning)
    forms = [form for form in FORMS if form.name in ("dtype float64", "read-only", "one nan", "text")]
    fuzz._try_forms(subject, forms, report)
    assert report.counts["calls"] == len(report.failures) == 4
    assert any("written to" in failure for failure in report.failures)
    assert any("foreign RuntimeWarning" in failure for failure in report.failures)
    fuzz._try_forms(subject, [Form("none", lambda _n, _p: (np.zeros((4, 1)), None), "error")], report)
    assert report.failures[-1].startswith("careless, none as X: ")
