"""Summaries of tests: of independence, sensitivity, certificate and noise, and the tests of a report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dreval._text import format_fixed, format_number, format_p, p_text, probability, true_minus, without_zero
from dreval.records.notes import Note
from dreval.records.results import Results
from dreval.records.tests import (
    LEVEL,
    MIN_EMPTY_ERROR,
    Certificate,
    HypothesisTest,
    IndependenceTest,
    NoiseTest,
    Sensitivity,
)
from dreval.registry import MEASURES, TESTS
from dreval.report.document import MISSING_VALUE, Cell, Column, Document, Table, same_digits
from dreval.report.documents.small import record_summary
from dreval.report.findings import Finding, findings_text, record_finding
from dreval.report.format import ADJUSTMENTS, count_noun, join_and, setting_text, test_name
from dreval.report.render.markup import isolate_name, sentence
from dreval.report.resamples import (
    NULL_DATA_NAMES,
    RESIDUAL,
    SCHEMES,
    is_smallest,
    limit_text,
    noise_limit,
    smallest_p_text,
)
from dreval.report.result_view import ResultView
from dreval.significance.base import null_hypothesis

EXTRA_LABELS = {  # keys of ``extra`` whose label is not the key itself
    "cka": "CKA",
    "dcor": "Distance correlation",
    "error_bound": "Bound of the error",
    "n_bandwidths": "Pooled bandwidths",
    "n_first": "Rows of the first sample",
    "n_second": "Rows of the second sample",
    "null_sd": "SD of the null",
    "p_chi2": "p (chi-square)",
    "truncation": "Lost by truncation",
    "unbiased": "Unbiased statistic",
    "wilks": "Wilks' lambda",
}
APPROXIMATIONS = {"gamma": "none (gamma)", "chi2": "none (chi-square)"}  # the distribution that replaces permutations


def test_summary(test: IndependenceTest, full: bool) -> Document:
    """Return the conclusion of a test, its numbers, and in full its other values and those of each variable."""
    recipe, extra, sides = test.recipe, test.extra, test.variables
    stems = [key[:-2] for key in extra if key.endswith("_x")]  # one value per variable: ``..._x``, ``..._y`` and so on
    stems = [stem for stem in stems if all(f"{stem}_{side}" in extra for side in sides)]
    shown_elsewhere = {
        *(f"{stem}_{side}" for stem in stems for side in sides),
        test.effect_size_name.lower(),
        "chance",
    }
    scalars = [key for key, value in extra.items() if value is None or isinstance(value, str | float | int)]
    method = recipe.get("parameters", {}).get("method")
    settings = [
        ("n", format_number(recipe.get("n"))),
        (
            "Cyclic shifts" if _is_cyclic(test) else "Permutations",
            format_number(test.n_resamples) if test.n_resamples else APPROXIMATIONS.get(method, "none"),
        ),
        (test.effect_size_name, _cell(float(test.effect_size) + 0.0)),
        *((_label(key), _cell(extra[key])) for key in scalars if key not in shown_elsewhere),
        ("Seed", recipe.get("random_state")),
    ]
    labels = recipe.get("labels", sides)
    variables = [
        [label, *(_cell(extra[f"{stem}_{side}"]) for stem in stems)] for side, label in zip(sides, labels, strict=True)
    ]
    return record_summary(
        test.title,
        test_findings(test),
        [_test_table(test)],
        test.notes,
        full=full,
        settings=settings,
        details=[Table("", ["Variable", *map(_label, stems)], variables)] if stems else [],
        call=test.call,
    )


def test_findings(test: IndependenceTest) -> list[Finding]:
    """Return the conclusion of a test of independence, and what p does not say."""
    variables = test.recipe.get("labels", test.variables)
    scheme = test.recipe.get("parameters", {}).get("permutation", "free")
    numbers = {"variables": variables, "scheme": SCHEMES.get(scheme, ""), "test": test_name(test.test)}
    numbers |= {"p": test.p_value, "effect_name": test.effect_size_name, "effect": float(test.effect_size)}
    of_groups = test.test in TESTS and TESTS.card(test.test).second == "groups"
    limits = resampling_findings(test, LEVEL, "test")
    if test.p_value > LEVEL:
        return [record_finding("test.no_difference" if of_groups else "test.no_dependence", **numbers), *limits]
    kind = "test.different" if of_groups else "test.dependent" if len(variables) == 2 else "test.not_mutual"
    is_biased = test.test in TESTS and TESTS.card(test.test).effect_is_biased
    strength = record_finding(
        "test.strength_biased" if is_biased else "test.strength", effect_name=test.effect_size_name
    )
    return [record_finding(kind, **numbers), *(limits or [strength])]


def resampling_findings(test: HypothesisTest, level: float, group: str) -> list[Finding]:
    """Return the limits of a p by resampling: too few resamples, the smallest p possible, and a borderline p."""
    count, (low, high) = test._null_count, test.p_interval
    if test.p_kind in ("exact", "asymptotic", "approximate") or not count or low != low:
        return []
    smallest = 1 / (count + 1)
    if smallest > level:
        return [record_finding(f"{group}.too_few", count=count, smallest=smallest, alpha=level)]
    if low <= level <= high and low < high:
        return [record_finding(f"{group}.borderline", low=low, high=high)]
    if is_smallest({"n_resamples": count, "p_value": test.p_value}):
        return [record_finding(f"{group}.smallest", p=test.p_value, count=count)]
    return []


def _test_table(test: HypothesisTest) -> Table:
    """Return the statistic, its p-value and the null distribution in one row."""
    null, (low, high) = test.null_distribution, test.p_interval
    means = [] if math.isnan(test.chance) else [test.chance]
    values = [test.statistic, *means, *([float(np.quantile(null, 0.95))] if len(null) else [])]
    statistic, *quantiles = same_digits(values)
    interval = f"{low:.3f} to {high:.3f}".replace("0.", ".") if low < high else _p_kind(test)
    nulls = ["null mean", "null 95 %"][: len(quantiles)]
    n = format_number(test.recipe.get("n"))
    row = [test_name(test.test), statistic, *quantiles, format_p(test.p_value), interval, *[n] * bool(n)]
    title = f"H0: {test.recipe.get('hypothesis', 'the variables are independent')}"
    head = "largest z" if "n_bandwidths" in test.extra else "statistic"
    return Table(title, ["", head, *nulls, "p", "interval of p", *["n"] * bool(n)], [row])


def _is_cyclic(test: HypothesisTest) -> bool:
    """Return whether rows were shifted cyclically, and not permuted."""
    return test.recipe.get("parameters", {}).get("permutation") == "cyclic"


def _p_kind(test: HypothesisTest) -> str:
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


def sensitivity_summary(sensitivity: Sensitivity, full: bool) -> Document:
    """Return at which values of the setting the test rejects, and one row for each value."""
    rows = [
        [
            f"{row[sensitivity.setting]:.3g}",
            *(format_number(row[name]) for name in ("statistic", "chance", "null_95", "effect_size")),
            format_p(row["p_value"]),
        ]
        for row in sensitivity.table.to_dict("records")
    ]
    columns = [sensitivity.setting, "statistic", "null mean", "null 95 %", "effect", "p"]
    settings = [("n", format_number(sensitivity.n)), ("Permutations", format_number(sensitivity.n_resamples))]
    settings += [("Test", test_name(sensitivity.test)), ("Default", f"{sensitivity.usual:g}")]
    title, findings = f"Sensitivity to {sensitivity.setting}", sensitivity_findings(sensitivity)
    return record_summary(title, findings, [Table("", columns, rows)], full=full, settings=settings)


def sensitivity_findings(sensitivity: Sensitivity) -> list[Finding]:
    """Return at how many values of the setting the test rejects, and at its default."""
    table, setting = sensitivity.table, sensitivity.setting
    ps = table["p_value"].astype(float)
    numbers: dict[str, Any] = {"test": test_name(sensitivity.test), "setting": setting, "count": len(ps)}
    rejected = int((ps <= LEVEL).sum())
    if not rejected:
        kind, numbers["low"] = "sensitivity.none", float(ps.min())
    elif rejected == len(ps):
        kind, numbers["high"] = "sensitivity.all", float(ps.max())
    else:
        kind, at = "sensitivity.some", int((table[setting] - sensitivity.usual).abs().argmin())
        numbers |= {"rejected": rejected, "usual": float(table[setting].iloc[at]), "p": float(ps.iloc[at])}
    return [record_finding(kind, **numbers), record_finding("sensitivity.caution")]


def certificate_summary(certificate: Certificate, full: bool) -> Document:
    """Return which tests reject Definition 1, the reconstruction errors, and the tests with their effect sizes."""
    recipe = certificate.recipe
    settings = [("n", format_number(recipe.get("n"))), ("p", recipe.get("p")), ("d", recipe.get("n_components"))]
    settings += [("Reconstruction", recipe.get("rule"))]
    sizes = {"Ridge": "ridge", "Ridge of tested residuals": "residual_ridge"}
    sizes |= {"Bandwidth": "bandwidth", "Condition": "condition"}
    settings += [(title, f"{recipe[key]:.3g}") for title, key in sizes.items() if key in recipe]
    settings += [("Resamples", format_number(certificate.n_resamples)), ("Seed", recipe.get("random_state"))]
    expected = format_number(1.0 / math.sqrt(recipe["n"])) if recipe.get("n") else ""
    errors = [
        ["error of fitted points", format_number(certificate.train), ""],
        ["error of held-out points", format_number(certificate.held_out), format_number(1.0)],
        ["mean of residuals, over their size", format_number(certificate.residual_mean), expected],
    ]
    rows = [
        [
            f"{test_name(t.name)} ({t.effect_name})",
            format_number(t.effect_size),
            format_number(t.effect_expected),
            true_minus(f"{t.statistic:.4g}"),
            format_p(t.p_value),
            format_p(p),
        ]
        for t, p in zip(certificate.tests, certificate.p_adjusted, strict=True)
    ]
    tables = [Table("", ["Residual against embedding", "effect", "if Def. 1 held", "statistic", "p", "p (Holm)"], rows)]
    tables.append(Table("", ["Reconstruction, over the variance", "value", "chance"], errors))
    call = f"results.certificate({certificate.name!r}, rule={recipe.get('rule')!r}, "
    call += f"n_resamples={certificate.n_resamples}, random_state={recipe.get('random_state')})"
    title, findings = "Certificate of Definition 1 (Roy 2021)", certificate_findings(certificate)
    return record_summary(title, findings, tables, certificate.notes, full=full, settings=settings, call=call)


def certificate_findings(certificate: Certificate) -> list[Finding]:
    """Return whether a test rejects Definition 1, and whether the embedding predicts held-out data at all."""
    name, held_out, tests = certificate.name, certificate.held_out, []
    findings = []
    for test, p in zip(certificate.tests, certificate.p_adjusted, strict=True):
        effect = f"{test.effect_name} {format_fixed(test.effect_size, 3)}, {format_fixed(test.effect_expected, 3)}"
        tests.append((test.name, f"{test_name(test.name)}: {effect} if it held, adjusted {p_text(p)}"))
    objections = [text for test, text in tests if test in certificate.objections]
    if objections:
        findings.append(record_finding("certificate.rejected", name=name, objections="; ".join(objections)))
    else:
        ps = [
            f"{test_name(test.name)} {p_text(p)}"
            for test, p in zip(certificate.tests, certificate.p_adjusted, strict=True)
        ]
        findings.append(record_finding("certificate.not_rejected", name=name, tests=f"adjusted {join_and(ps)}"))
    if certificate.smallest_p > LEVEL:
        numbers = {"count": certificate.n_resamples, "smallest": certificate.smallest_p}
        findings.append(record_finding("certificate.too_few", **numbers))
    kind = "error" if held_out < MIN_EMPTY_ERROR else "also_empty" if objections else "empty"
    return [*findings, record_finding(f"certificate.{kind}", name=name, held_out=held_out)]


def certificate_verdict(certificate: Certificate) -> str:
    """Return which tests reject, and whether the embedding explains almost nothing, as text."""
    numbers = ("certificate.error", "certificate.too_few")
    return sentence(
        findings_text(finding for finding in certificate_findings(certificate) if finding.kind not in numbers)
    )


BLIND_SCORES = ("noise.blind", "noise.unasked")  # codes of the notes on a score that does not test for clusters
NOISE_CAUTION = (
    "A point that is distinguished from noise need not be right, and one that is not may be right; the latter are "
    "drawn hollow."
)


def noise_summary(test: NoiseTest, full: bool, *, shell: bool = False) -> Document:
    """Return the conclusion of a noise test, its numbers, and its settings."""
    recipe, extra = test.recipe, test.extra
    settings = [
        ("Null data", f"{test.n_replicates:,} of {NULL_DATA_NAMES.get(extra['null'], extra['null'])}"),
        ("Seeds of each", extra["n_seeds"]),
        ("Score", extra["measure"]),
        ("Seed", recipe.get("random_state")),
    ]
    tables = [replace(_test_table(test), foot=f"statistic: {extra['measure']}.")]
    if test.settings is not None:
        table = test.settings
        options = [name for name in table.columns if name not in ("statistic", "chance", "z", "p_value")]
        rows = [
            [
                *(str(row[name]) for name in options),
                *same_digits([row["statistic"], row["chance"]]),
                format_number(row["z"]),
                format_p(row["p_value"]),
            ]
            for row in table.to_dict("records")
        ]
        columns = [*options, "statistic", "null mean", "z", "p by the largest z"]
        tables.append(Table("", columns, rows, names=len(options)))
    findings = noise_findings(test)
    notes = [note for note in test.notes if full or note.code not in _noise_codes(test)]
    options: dict[str, Any] = {"settings": settings, "call": test.call, "shell": shell}
    return record_summary(test.title, findings, tables, notes, full=full, **options)


def _noise_codes(test: NoiseTest) -> tuple[str, ...]:
    """Return the codes of notes that the findings of a noise test repeat, or that its p makes irrelevant."""
    is_significant = test.p_value <= test.extra["alpha"]
    return ("noise.columns",) if is_significant else ("noise.columns", "noise.plug_in", *BLIND_SCORES)


def noise_findings(test: NoiseTest) -> list[Finding]:
    """Return the conclusion of a noise test, its limits, and how many points are distinguished from noise."""
    null, alpha = str(test.extra["null"]), test.extra["alpha"]
    numbers = {"source": str(test.recipe.get("source", "The method")), "p": test.p_value}
    numbers["null"] = NULL_DATA_NAMES.get(null, null)
    is_significant = test.p_value <= alpha
    kind = f"noise.{(null if null in NULL_DATA_NAMES else 'other') if is_significant else 'none'}"
    findings = [record_finding(kind, **numbers)]
    if not is_significant:
        blind = [note for note in test.notes if isinstance(note, Note) and note.code in BLIND_SCORES]
        findings += [record_finding(note.code, **dict(note.values)) for note in blind]
        findings += [] if blind else [record_finding("noise.caution")]
    findings += resampling_findings(test, alpha, "noise")
    if test.settings is not None:
        row = test.settings.loc[test.settings["z"].idxmax()]
        options = {key: row[key] for key in row.index if key not in ("statistic", "chance", "z", "p_value")}
        count = len(test.settings)
        findings.append(record_finding("noise.settings", z=float(row["z"]), setting=setting_text(options), count=count))
    if test.points is not None:
        like, family = int(test.like_noise.sum()), int((test.points["p_family_wise"] <= alpha).sum())
        counts = {"unlike": len(test.points) - like, "like": like, "scored": len(test.points), "family": family}
        points = record_finding("noise.points", alpha=alpha, **counts)
        findings.append(points if is_significant else record_finding("noise.no_points"))
        findings += noise_limit(test.n_replicates, test.like_noise)
    return findings


def noise_text(row: Mapping[str, Any], results: Results, display_name: str | None = None) -> str:
    """Return the result of a noise test of an embedding, and for how many points, with an optional display name."""
    return noise_finding(row, results, display_name or row["embedding"]).text


def noise_finding(row: Mapping[str, Any], results: Results, name: str) -> Finding:
    """Return the conclusion from a noise test, and how many points are like noise: never that a map is reliable."""
    null, p, adjusted = row["variable"], float(row["p_value"]), float(row["p_adjusted"])
    is_adjusted = not math.isnan(adjusted) and adjusted != p
    p = adjusted if is_adjusted else p
    if math.isnan(p):
        return record_finding("noise.not_tested", name=name)
    flags, points = results._reliability.get(row["embedding"], {}).get("like_noise"), ""
    if flags is not None and p <= LEVEL:
        flags = flags[flags.notna()]
        count = f"{int(flags.sum()):,} of {len(flags):,} points are not distinguished from noise"
        points = f"; {count if flags.any() else f'all {len(flags):,} points are distinguished from noise'}"
    noted = set(results.notes[["embedding", "test", "variable", "code"]].itertuples(index=False, name=None))
    is_blind = any((row["embedding"], row["test"], null, code) in noted for code in BLIND_SCORES)
    kind = ("blind" if is_blind else "none") if p > LEVEL else null if null in NULL_DATA_NAMES else "other"
    texts = {"name": name, "null": NULL_DATA_NAMES.get(null, null), "adjusted": "adjusted " * is_adjusted}
    limit = f"; {text}" if (text := limit_text(row)) else ""
    return record_finding(f"noise.map_{kind}", p=p, points=points, limit=limit, **texts)


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
        sorted(
            (row for row in tests if row["embedding"] not in view.failed),
            key=lambda row: view.ranked.index(row["embedding"]),
        )
        for tests in (view.tests, view.method_tests)
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
    return Table("", [*heads, Column("Note", "text")], rows, caption=caption) if rows else None


def test_page_table(group: TestGroup) -> Table:
    """Return a row for each embedding and variable with the effect and the p of each test, or why it is missing."""
    adjusted = any(not math.isnan(row["p_adjusted"]) for row in group.tests)
    p_title, p_key = ("Adjusted p", "p_adjusted") if adjusted else ("p", "p_value")
    names = list(dict.fromkeys(str(row["test"]) for row in group.tests))
    has_variables = len({row["variable"] for row in group.tests}) > 1
    tests_by_place: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in group.tests:
        tests_by_place.setdefault((row["embedding"], row["variable"]), {})[str(row["test"])] = row
    heads = [Column("Embedding", "text"), *[Column("Variable", "text")] * has_variables]
    for name in names:
        heads += [Column(test_name(name), below=TESTS.card(name).effect_size if name in TESTS else ""), Column(p_title)]
    rows = []
    for (embedding, variable), tests in tests_by_place.items():
        cells = [Cell(embedding, "name"), *[Cell(variable or MISSING_VALUE, "name")] * has_variables]
        for name in names:
            effect, p, note = (tests.get(name, {}).get(key, "") for key in ("effect_size", p_key, "note"))
            effect, p = float(effect or math.nan), float(p or math.nan)
            cells.append(
                Cell(MISSING_VALUE if math.isnan(effect) else without_zero(format_fixed(effect, 3)), note=note)
            )
            cells.append(Cell(probability(p), note=note))
        rows.append(cells)
    label = f"Table of these tests: {group.short}"
    return Table(label, heads, rows, caption="One row for each embedding and variable")


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
    """Return the smallest p that the number of resamples allows, and that no adjusted p could be at most the level."""
    text = smallest_p_text(view, tests)
    adjusted = [row for row in tests if row["p_adjusted"] == row["p_adjusted"] and row["n_resamples"]]
    sizes = Counter(row["family"] for row in adjusted)
    attainable = min((sizes[row["family"]] / (row["n_resamples"] + 1) for row in adjusted), default=0.0)
    if attainable <= LEVEL or view.recipe.get("adjust") != "holm":
        return f"{text}." if text else ""
    size = min(sizes.values())
    needed = math.ceil(size / LEVEL) - 1
    no_test = f"With {size:,} tests no adjusted p could be at most {without_zero(str(LEVEL))}"
    return f"{text + '. ' if text else ''}{no_test}: {needed:,} permutations or more are needed."


def _certificate_text(view: ResultView, tests: Sequence[Mapping[str, Any]]) -> str:
    """Return the definition that the certificate tests, and how often it is rejected."""
    count_text, missing_text = _rejection_counts(view, tests)
    if not tests:
        return "What a function of the embedding cannot say of the data: 0 is nothing, 1 is everything."
    definition = (
        "Certificate of Definition 1 (Roy 2021): the data are a function of the embedding and a residual that does not "
        "depend on it. p by a residual bootstrap with refit; read the effect size first."
    )
    caution = " A large p does not show that it holds." if count_text else ""
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
