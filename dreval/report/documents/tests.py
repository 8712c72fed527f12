"""Summaries of tests: of independence, sensitivity, certificate and noise, and the tests of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dreval.glossary import format_number, format_p, true_minus
from dreval.records.tests import LEVEL, MIN_EMPTY_ERROR, Certificate, IndependenceTest, NoiseTest, Sensitivity
from dreval.registry import MEASURES
from dreval.report.document import (
    CODES,
    MISSING_VALUE,
    Cell,
    Column,
    Document,
    Table,
    record_document,
    same_digits,
    significance_stars,
)
from dreval.report.findings import (
    NULL_DATA_NAMES,
    RESIDUAL,
    is_smallest,
    limit_text,
    noise_finding,
    noise_text,
    smallest_p_text,
)
from dreval.report.format import ADJUSTMENTS, count_noun, format_fixed, join_and, probability
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import ResultView
from dreval.significance.base import null_hypothesis

EXTRA_LABELS = {  # keys of ``extra`` whose label is not the key itself
    "cka": "CKA",
    "dcor": "Distance correlation",
    "error_bound": "Bound of the error",
    "n_first": "Rows of the first sample",
    "n_second": "Rows of the second sample",
    "null_sd": "SD of the null",
    "p_chi2": "p (chi-square)",
    "truncation": "Lost by truncation",
    "unbiased": "Unbiased statistic",
    "wilks": "Wilks' lambda",
}
APPROXIMATIONS = {"gamma": "none (gamma)", "chi2": "none (chi-square)"}  # the distribution that replaces permutations


def test_summary(test: IndependenceTest) -> Document:
    """Return header, the test, other values, one row per variable, and notes."""
    recipe, extra, sides = test.recipe, test.extra, test.variables
    stems = [key[:-2] for key in extra if key.endswith("_x")]  # one value per variable: ``..._x``, ``..._y`` and so on
    stems = [stem for stem in stems if all(f"{stem}_{side}" in extra for side in sides)]
    shown_elsewhere = {
        *(f"{stem}_{side}" for stem in stems for side in sides),
        test.effect_size_name.lower(),
        "null_mean",
    }
    scalars = [key for key, value in extra.items() if value is None or isinstance(value, str | float | int)]
    method = recipe.get("parameters", {}).get("method")
    resamples_label = "Cyclic shifts" if _is_cyclic(test) else "Permutations"
    header = [
        ("n", format_number(recipe.get("n"))),
        (resamples_label, format_number(test.n_resamples) if test.n_resamples else APPROXIMATIONS.get(method, "none")),
        (test.effect_size_name, _cell(float(test.effect_size) + 0.0)),
        *((_label(key), _cell(extra[key])) for key in scalars if key not in shown_elsewhere),
        ("Seed", str(recipe.get("random_state", ""))),
    ]
    tables = [_test_table(test, significance_stars(test.p_value))]
    if stems:
        labels = recipe.get("labels", sides)
        rows = [
            [label, *(_cell(extra[f"{stem}_{side}"]) for stem in stems)]
            for side, label in zip(sides, labels, strict=True)
        ]
        tables.append(Table("Variables", ["", *map(_label, stems)], rows))
    return record_document(test.title, header, tables, test.notes, test.call)


def _test_table(test: IndependenceTest, stars: str) -> Table:
    """Return the statistic, its p-value and the null distribution in one row."""
    null, (low, high) = test.null_distribution, test.p_interval
    means = [] if math.isnan(test.null_mean) else [test.null_mean]
    values = [test.statistic, *means, *([float(np.quantile(null, 0.95))] if len(null) else [])]
    statistic, *quantiles = same_digits(values)
    interval = f"[{low:.3f}, {high:.3f}]".replace("0.", ".") if low < high else _p_kind(test)
    row = [test.test, statistic, *quantiles, format_p(test.p_value), interval, stars]
    nulls = ["null mean", "null 95 %"][: len(quantiles)]
    columns = ["", "statistic", *nulls, "p", "95 % interval of p", ""]
    hypothesis = test.recipe.get("hypothesis", "the variables are independent")
    return Table(f"H0: {hypothesis}", columns, [row], foot=CODES if stars else "")


def _is_cyclic(test: IndependenceTest) -> bool:
    """Return whether rows were shifted cyclically, and not permuted."""
    return test.recipe.get("parameters", {}).get("permutation") == "cyclic"


def _p_kind(test: IndependenceTest) -> str:
    """Return the kind of a p-value that has no interval, in words."""
    return "all cyclic shifts" if _is_cyclic(test) else test.p_kind.replace("_", " ")


def _cell(value: Any) -> str:
    """Return one value of any kind as text."""
    if value is None or value != value:
        return "-"
    return true_minus(f"{value:.4g}") if isinstance(value, float) else str(value)


def _label(key: str) -> str:
    """Return a key of ``extra`` as it is printed."""
    return EXTRA_LABELS.get(key, key.replace("_", " ").capitalize())


def sensitivity_summary(sensitivity: Sensitivity) -> Document:
    """Return one row for each value of the setting."""
    header = [
        ("n", format_number(sensitivity.n)),
        ("Permutations", format_number(sensitivity.n_resamples)),
        ("Test", sensitivity.test),
        ("Default", f"{sensitivity.usual:g}"),
    ]
    rows = [
        [
            f"{row[sensitivity.setting]:.3g}",
            *(format_number(row[name]) for name in ("statistic", "null_mean", "null_95", "effect_size")),
            format_p(row["p_value"]),
            significance_stars(row["p_value"]),
        ]
        for row in sensitivity.table.to_dict("records")
    ]
    columns = [sensitivity.setting, "statistic", "null mean", "null 95 %", "effect", "p", ""]
    foot = CODES if any(row[-1] for row in rows) else ""
    note = "The p-values are not adjusted: a setting chosen because its p is small gives no test."
    return record_document(
        f"Sensitivity to {sensitivity.setting}", header, [Table("", columns, rows, foot=foot)], [note]
    )


def certificate_summary(certificate: Certificate) -> Document:
    """Return errors, tests with the effect size first, and the verdict."""
    recipe = certificate.recipe
    header = [("Embedding", certificate.name), ("n", format_number(recipe.get("n"))), ("p", str(recipe.get("p", "")))]
    header += [("d", str(recipe.get("n_components", ""))), ("Reconstruction", str(recipe.get("rule", "")))]
    sizes = {"Ridge": "ridge", "Ridge of tested residuals": "residual_ridge"}
    sizes |= {"Bandwidth": "bandwidth", "Condition": "condition"}
    header += [(title, f"{recipe[key]:.3g}") for title, key in sizes.items()]
    header += [("Resamples", format_number(certificate.n_resamples)), ("Seed", str(recipe.get("random_state", "")))]
    expected = format_number(1.0 / math.sqrt(recipe["n"])) if recipe.get("n") else ""
    errors = [
        ["train", format_number(certificate.train), ""],
        ["held out", format_number(certificate.held_out), format_number(1.0)],
        ["mean of residuals, over their size", format_number(certificate.residual_mean), expected],
    ]
    rows = [
        [
            f"{t.name} ({t.effect_name})",
            format_number(t.effect_size),
            format_number(t.effect_expected),
            true_minus(f"{t.statistic:.4g}"),
            format_p(t.p_value),
            format_p(p),
            significance_stars(p),
        ]
        for t, p in zip(certificate.tests, certificate.p_adjusted, strict=True)
    ]
    tables = [Table("Reconstruction error, over the variance of the data", ["", "value", "chance"], errors)]
    columns = ["", "effect", "if Def. 1 held", "statistic", "p", "p (Holm)", ""]
    tables.append(Table("Residual against embedding", columns, rows, foot=CODES if any(r[-1] for r in rows) else ""))
    smallest = certificate.smallest_p
    few_text = (
        f"With {certificate.n_resamples} resamples no adjusted p is below {smallest:.3f}: too few to see dependence."
    )
    call = f"results.certificate({certificate.name!r}, rule={recipe.get('rule')!r}, "
    call += f"n_resamples={certificate.n_resamples}, random_state={recipe.get('random_state')})"
    notes = (*([few_text] if smallest > LEVEL else []), certificate_verdict(certificate), *certificate.notes)
    return record_document("Certificate of Definition 1 (Roy 2021)", header, tables, notes, call)


def certificate_verdict(certificate: Certificate) -> str:
    """Return which tests reject, and whether the embedding predicts held-out data at all."""
    empty = f"tells next to nothing of held-out points (error {certificate.held_out:.2f} of 1)"
    if certificate.objections:
        objections = "; ".join(
            f"{t.name.upper()}: {t.effect_name} {format_fixed(t.effect_size, 3)}, "
            f"{format_fixed(t.effect_expected, 3)} if Definition 1 held, adjusted p = {format_p(p)}"
            for t, p in zip(certificate.tests, certificate.p_adjusted, strict=True)
            if t.name in certificate.objections
        )
        empty_text = f" It also {empty}." if certificate.held_out >= MIN_EMPTY_ERROR else ""
        text = f"{certificate.name} does not meet Definition 1: the residual depends on the embedding ({objections})."
        return text + empty_text
    if certificate.held_out >= MIN_EMPTY_ERROR:
        met = "an embedding unrelated to the data meets it, with a constant f"
        return f"Nothing here speaks against Definition 1, but {certificate.name} {empty}: {met}."
    return "Nothing here speaks against Definition 1; that is no proof of it."


NOISE_CAUTION = (
    "A point that is distinguished from noise is not thereby right, and one that is not may be; points like noise are "
    "drawn hollow."
)


def noise_summary(test: NoiseTest) -> Document:
    """Return the test, its points or its settings, and notes."""
    recipe, extra, alpha = test.recipe, test.extra, test.extra["alpha"]
    header = [
        ("Source", str(recipe.get("source", ""))),
        ("n", format_number(recipe.get("n"))),
        ("Null data", f"{test.n_resamples:,} of {NULL_DATA_NAMES.get(extra['null'], extra['null'])}"),
        ("Seeds of each", str(extra["n_seeds"])),
        ("Seed", str(recipe.get("random_state", ""))),
    ]
    large = test.p_value > alpha
    sentences = [f"The method {noise_finding(extra['null'], test.p_value, alpha)}."]
    row = {"test": "noise", "variable": extra["null"], "p_value": test.p_value, "n_resamples": test.n_resamples}
    if is_smallest(row):
        sentences.append(f"{limit_text(row)}.")
    sentences.append(f"Score: {extra['score']}{', the largest z over settings' * (test.settings is not None)}.")
    tables = [_test_table(test, significance_stars(test.p_value))]
    if test.points is not None:
        family = int((test.points["p_family_wise"] <= alpha).sum())
        rows = [[f"not distinguished from noise ({'p' if large else 'q'} > {alpha:g})", f"{test.like_noise.sum():,}"]]
        rows.append([f"stand out by the family-wise p (≤ {alpha:g})", f"{family:,}"])
        rows.append(["all that are scored", f"{len(test.points):,}"])
        tables.append(Table("Points", ["", "number"], rows))
    if test.settings is not None:
        table = test.settings
        options = [name for name in table.columns if name not in ("statistic", "null_mean", "z", "p_value")]
        rows = [
            [
                *(str(row[name]) for name in options),
                *same_digits([row["statistic"], row["null_mean"]]),
                format_number(row["z"]),
                format_p(row["p_value"]),
            ]
            for row in table.to_dict("records")
        ]
        columns = [*options, "statistic", "null mean", "z", "p"]
        tables.append(Table("Settings, p by the largest z", columns, rows, names=len(options)))
    return record_document(test.title, header, tables, test.notes, test.call, findings=sentences)


def tests_of_computed(view: ResultView) -> list[Mapping[str, Any]]:
    """Return the tests of embeddings that were computed."""
    return [row for row in view.tests if row["embedding"] not in view.failed]


@dataclass(frozen=True)
class TestGroup:
    """Tests with the same question: their text, their rows, and the errors that belong to them."""

    id: str
    title: str
    short: str
    text: str
    tests: Sequence[Mapping[str, Any]]
    errors: Table | None = None


def test_groups(view: ResultView) -> list[TestGroup]:
    """Return the tests against variables, those of the certificate (on the residual), and the noise tests."""
    rows, noise_rows = (
        tests_of_computed(view),
        [row for row in view.method_tests if row["embedding"] not in view.failed],
    )
    noise_results = (
        " ".join(dict.fromkeys(noise_text(row, view.results) for row in noise_rows)) if view.results is not None else ""
    )
    variable_rows = [row for row in rows if row["variable"] != RESIDUAL]
    residual_rows = [row for row in rows if row["variable"] == RESIDUAL]
    errors = method_measures_table(view, "reconstruction", "One row for each embedding")
    groups = [
        TestGroup(
            "tests",
            "Does the embedding depend on what is known?",
            "Tests",
            rejection_text(view, variable_rows),
            variable_rows,
        ),
        TestGroup(
            "certificate",
            "What the embedding leaves of the data",
            "Certificate",
            _certificate_text(view, residual_rows),
            residual_rows,
            errors,
        ),
        TestGroup("noise", "Is it more than noise?", "Noise", f"{noise_results} {NOISE_CAUTION}", noise_rows),
    ]
    return [group for group in groups if group.tests or group.errors]


def method_measures_table(view: ResultView, need: str, caption: str) -> Table | None:
    """Return the values of the measures that need a method, or a reconstruction, each with its parts."""
    cards = [MEASURES.card(c.measure) if c.measure in MEASURES else None for c in view.main_columns]
    columns = [c for c, card in zip(view.main_columns, cards, strict=True) if card is not None and need in card.needs]
    rows = [
        [
            Cell(name, "name"),
            Cell(column.title, "text"),
            Cell(column.format_value(cell.value), "value"),
            Cell("" if math.isnan(cell.chance) else column.format_value(cell.chance), "number"),
            Cell(cell.note, "note"),
        ]
        for column in columns
        for name, cell in column.cells.items()
        if not cell.missing
    ]
    heads = [Column("Embedding", "text"), Column("Measure", "text"), Column("Value"), Column("Chance level")]
    return Table("", [*heads, Column("Beside it", "text")], rows, caption=caption) if rows else None


def test_page_table(group: TestGroup) -> Table:
    """Return one row for each test; a missing one has its reason."""
    adjusted = any(not math.isnan(row["p_adjusted"]) for row in group.tests)
    has_notes = any(row["note"] for row in group.tests)
    text_heads = [Column(title, "text") for title in ("Embedding", "Variable", "Test")]
    numbers = ["Effect size", "Statistic", "Chance level", "p", *["Adjusted p"] * adjusted, "Resamples"]
    rows = [
        [
            Cell(row["embedding"], "name"),
            Cell(row["variable"] or MISSING_VALUE, "name"),
            Cell(str(row["test"]).upper() if len(str(row["test"])) <= 5 else str(row["test"]), "text"),
            Cell(_number(row, "effect_size", 3), "value"),
            Cell(_number(row, "statistic", 4), "number"),
            Cell(_number(row, "chance", 4), "number"),
            Cell(probability(float(row["p_value"])), "number"),
            *[Cell(probability(float(row["p_adjusted"])), "number")] * adjusted,
            Cell(f"{int(row['n_resamples']):,}" if row["n_resamples"] else MISSING_VALUE, "number"),
            *[Cell(row["note"], "note")] * has_notes,
        ]
        for row in group.tests
    ]
    heads = [*text_heads, *map(Column, numbers), *[Column("Note", "text")] * has_notes]
    label = f"Table of these tests: {group.short}"
    return Table(label, heads, rows, caption="One row for each embedding, variable and test")


def _number(row: Mapping[str, Any], key: str, digits: int) -> str:
    value = float(row[key])
    return (
        MISSING_VALUE
        if math.isnan(value)
        else format_fixed(value, digits)
        if 1e-3 <= abs(value) < 1e5
        else true_minus(f"{value:.2e}")
    )


def rejection_text(view: ResultView, tests: Sequence[Mapping[str, Any]]) -> str:
    """Return how many tests reject, by the adjusted p where there is one; tests outside every family do not count."""
    ranked = [row for row in tests if row["embedding"] not in view.reference]
    in_family = [row for row in ranked if row["family"] or math.isnan(row["p_value"])]
    reference_text = "Against the data themselves read the effect size only." if len(in_family) < len(ranked) else ""
    if len(ranked) < len(tests):
        data = (
            f"The tests of {join_and(list(map(isolate_name, view.reference)))} are shown for reference, not adjusted."
        )
        reference_text = " ".join(filter(None, [reference_text, data]))
    count_text, missing_text = _rejection_counts(view, in_family)
    if not count_text:
        return " ".join(filter(None, ["None of the tests could be computed." if in_family else "", reference_text]))
    null_and_count = f"Null hypothesis: {_hypotheses(view, in_family)}. {count_text}"
    return " ".join(filter(None, [null_and_count, _resample_limit(view, in_family), missing_text, reference_text]))


def _hypotheses(view: ResultView, tests: Sequence[Mapping[str, Any]]) -> str:
    """Return the null hypothesis of the tests, and that of tests with restricted permutations."""
    of_tests: dict[str, dict[str, None]] = {}
    for row in tests:
        if not math.isnan(row["p_value"]):
            of_tests.setdefault(view.scheme(row), {})[str(row["test"])] = None
    texts = {scheme: null_hypothesis("embedding and variable are independent", scheme) for scheme in of_tests}
    if len(of_tests) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{texts[scheme]} ({', '.join(names)})" for scheme, names in of_tests.items())


def _resample_limit(view: ResultView, tests: Sequence[Mapping[str, Any]]) -> str:
    """Return the smallest p that the number of resamples allows, as a sentence."""
    text = smallest_p_text(view, tests)
    return f"{text}." if text else ""


def _certificate_text(view: ResultView, tests: Sequence[Mapping[str, Any]]) -> str:
    """Return the definition that the certificate tests, and how often it is rejected."""
    count_text, missing_text = _rejection_counts(view, tests)
    if not tests:
        return "What a function of the embedding cannot say of the data: 0 is nothing, 1 is everything."
    definition = (
        "Certificate of Definition 1 (Roy 2021): the data are a function of the embedding and a residual that does not "
        "depend on it. p by a residual bootstrap with refit; read the effect size first."
    )
    caution = " A large p says that nothing here speaks against it; that is no proof." if count_text else ""
    return " ".join(filter(None, [definition, count_text + caution, _resample_limit(view, tests), missing_text]))


def _rejection_counts(view: ResultView, tests: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return how many of the tests reject, and how many could not be computed."""
    ps = [float(row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"]) for row in tests]
    computed = [p for p in ps if not math.isnan(p)]
    if not computed:
        return "", ""
    n_rejected = sum(p <= LEVEL for p in computed)
    method = view.recipe.get("adjust")
    by = f"adjusted p ({ADJUSTMENTS.get(method, method)})" if method and method != "nothing" else "p"
    missing_text = (
        "" if len(computed) == len(ps) else f"{count_noun(len(ps) - len(computed), 'test')} could not be computed."
    )
    return (
        f"{n_rejected} of {count_noun(len(computed), 'test')} {'has' if n_rejected == 1 else 'have'} {by} ≤ .05.",
        missing_text,
    )
