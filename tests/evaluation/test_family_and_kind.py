"""The family and the kind of each p-value are columns, and are not read from notes."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from statsmodels.stats.multitest import multipletests

import dreval
from dreval.evaluation.provenance import attainable_note
from dreval.inference.adjustment import adjusted_p_values
from dreval.report.documents import tests as _tested
from dreval.report.result_view import read_results

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, :2] + 0.1 * RNG.normal(size=(60, 2))
TWO_CLASSES = np.where(X[:, 0] > 0, "up", "down")
TESTS = ["hsic", "cca", "hsic:data", "dcov:data", "hsic:residual"]
KINDS = {"permutation", "exact", "bound", "asymptotic", "approximate", "bootstrap", "parametric_bootstrap"}


@pytest.fixture(scope="module")
def result():
    ev = dreval.Evaluation(
        X, {"e": Y, "f": RNG.normal(size=(60, 2))}, labels=TWO_CLASSES, n_neighbors=5, random_state=0
    )
    return ev.run("trustworthiness", TESTS, n_resamples=19, options={"cca": {"method": "chi2"}})


def across(seed=0, missing=False):
    """Three methods on eight data sets, in two measures."""
    rng = np.random.default_rng(seed)
    rows = [
        {"dataset": f"d{i}", "embedding": name, "measure": measure, "value": value, "direction": "higher"}
        for measure in ("one", "two")
        for i in range(8)
        for name, value in zip("abc", rng.normal([0, 1, 3]), strict=True)
    ]
    return pd.DataFrame(rows[:-1] if missing else rows)


def coded(summary):
    """All lines of the tables of a printed record, its stars among them."""
    return [block.rows for block in summary.tables]


def test_every_row_with_a_p_value_has_its_kind(result):
    """The values of ``p_kind`` are a closed list, and rows without a p-value have neither a kind nor a family."""
    comparisons = [result.compare(), dreval.compare(across(), tests="all", rope=0.1)]
    comparisons += [dreval.compare(across(missing=True))]
    tables = [result.table, *(c.pairs for c in comparisons), *(c.overall for c in comparisons)]
    for table in tables:
        tested = table["p_value"].notna()
        assert set(table.loc[tested, "p_kind"]) <= KINDS
        assert (table.loc[~tested, "p_kind"] == "").all()
    for table in tables[:4]:
        assert (table.loc[table["p_value"].isna(), "family"] == "").all()
    results = result.table.query("test != ''").set_index(["embedding", "test", "variable"])[["family", "p_kind"]]
    assert results.loc["e"].to_dict("index") == {
        ("hsic", "labels"): {"family": "tests", "p_kind": "permutation"},
        ("cca", "labels"): {"family": "tests", "p_kind": "asymptotic"},
        ("hsic", "data"): {"family": "", "p_kind": "permutation"},
        ("dcov", "data"): {"family": "", "p_kind": "permutation"},
        ("hsic", "residual"): {"family": "tests", "p_kind": "bootstrap"},
    }


def test_kinds_of_single_tests():
    """A gamma distribution is approximate, all permutations are exact, shifts of a series are not, even if all are
    counted.
    """
    x, y = RNG.normal(size=(2, 30))
    kinds = {
        "permutation": dreval.hsic_test(x, y, n_resamples=19),
        "approximate": dreval.hsic_test(x, y, method="gamma"),
        "asymptotic": dreval.cca_test(x, y, method="chi2"),
        "exact": dreval.hsic_test(x[:4], y[:4], n_resamples=99),
    }
    assert {kind: test.p_kind for kind, test in kinds.items()} == {kind: kind for kind in kinds}
    assert dreval.hsic_test(x, y, permutation="cyclic", n_resamples=99).p_kind == "permutation"
    assert dreval.bandwidth_curve(x, y, multiples=[1, 2], n_resamples=9).table["p_kind"].eq("permutation").all()


def test_a_certificate_is_one_family_of_bootstrap_tests(result):
    """The frame has the family, with p-values adjusted over its own tests."""
    frame = result.certificate("e", n_resamples=19).tidy()
    assert set(frame["family"]) == {"certificate"}
    assert set(frame["p_kind"]) == {"bootstrap"}
    np.testing.assert_allclose(frame["p_adjusted"], multipletests(frame["p_value"], method="holm")[1])


@pytest.mark.parametrize("note", ["", "Bemerkung", "read the effect size: an embedding is computed from the data"])
def test_notes_have_no_effect_in_a_result(result, note):
    """Adjustment, stars, families and counts of a report do not depend on the text of the notes."""
    altered = replace(result, table=result.table.assign(note=note))
    repeated = altered.table.assign(p_adjusted=adjusted_p_values(altered.table, "holm"))
    pd.testing.assert_frame_equal(repeated.drop(columns="note"), result.table.drop(columns="note"))
    assert coded(altered.summary()) == coded(result.summary())
    assert attainable_note(altered.table, "holm") == attainable_note(result.table, "holm")
    few = result.table.assign(p_kind="exact", p_value=0.5, n_resamples=2)
    assert [item.code for item in attainable_note(few, "holm")] == ["test.all_permutations"]
    readings = [read_results(results) for results in (altered, result)]
    assert len({_tested.rejection_text(view, view.tests) for view in readings}) == 1


@pytest.mark.parametrize("missing", [False, True])
def test_notes_have_no_effect_in_a_comparison(result, missing):
    """Tables, stars, letters and texts are the same; the text for "exact" comes from ``p_kind``."""
    for results in (result.compare(), dreval.compare(across(missing=missing), tests="all", rope=0.1)):
        tables = {name: getattr(results, name).copy() for name in ("pairs", "overall")}
        for table in tables.values():
            table["note"] = "all arrangements, exact, zzz"
        altered = replace(results, **tables, notes=results.notes.iloc[:0])
        assert coded(altered.summary()) == coded(results.summary())
        assert altered.paragraph() == results.paragraph()
    comparison = dreval.compare(across())
    assert "exact p" in comparison.paragraph()
    kinds = comparison.overall["p_kind"].where(comparison.overall["test"] != "friedman_exact", "permutation")
    assert "permutation p" in replace(comparison, overall=comparison.overall.assign(p_kind=kinds)).paragraph()


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.floats(0, 1) | st.just(np.nan)), max_size=12),
    st.sampled_from(["holm", "benjamini_hochberg"]),
)
def test_families_are_adjusted_separately(rows, adjust):
    """The adjusted p-values of a family are those of statsmodels for its rows alone; no family, no adjustment."""
    table = pd.DataFrame(rows, columns=["family", "p_value"]).astype({"family": object, "p_value": float})
    results = adjusted_p_values(table, adjust)
    for family in ("a", "b"):
        in_family = (table["family"] == family) & table["p_value"].notna()
        if in_family.any():
            method = {"holm": "holm", "benjamini_hochberg": "fdr_bh"}[adjust]
            expected = multipletests(table.loc[in_family, "p_value"], method=method)[1]
            np.testing.assert_allclose(results[in_family], expected)
    assert results[(table["family"] == "") | table["p_value"].isna()].isna().all()
