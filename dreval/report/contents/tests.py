"""The text of tests: a test of independence, its sensitivity to a setting, a certificate, the tests of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dreval.glossary import format_number, format_p, true_minus
from dreval.records.answers import EMPTY, LEVEL, Certificate, IndependenceTest, NoiseTest, Sensitivity
from dreval.registry import MEASURES
from dreval.report.document import ABSENT, CODES, Block, Cell, Head, Sheet, same_digits, significance_stars
from dreval.report.format import ADJUSTMENTS, counted, fixed, ordered, probability
from dreval.report.reading import Reading
from dreval.report.render.markup import marked
from dreval.report.render.summary import Summary
from dreval.report.statements import (
    NULL_WORDS,
    RESIDUAL,
    is_smallest,
    limit_words,
    noise_finding,
    noise_said,
    smallest_words,
)
from dreval.significance.base import null_hypothesis

EXTRA = {  # keys of ``extra`` whose words are not the key itself
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
IN_PLACE = {"gamma": "none (gamma)", "chi2": "none (chi-square)"}  # the distribution that replaces permutations


def test_summary(found: IndependenceTest) -> Summary:
    """Header, the test, other values, one row per variable, notes."""
    recipe, extra, sides = found.recipe, found.extra, found.variables
    stems = [key[:-2] for key in extra if key.endswith("_x")]  # one value per variable: ``..._x``, ``..._y`` and so on
    stems = [stem for stem in stems if all(f"{stem}_{side}" in extra for side in sides)]
    elsewhere = {*(f"{stem}_{side}" for stem in stems for side in sides), found.effect_size_name.lower(), "null_mean"}
    scalars = [key for key, value in extra.items() if value is None or isinstance(value, str | float | int)]
    method = recipe.get("parameters", {}).get("method")
    drawn = "Cyclic shifts" if _shifted(found) else "Permutations"
    header = [
        ("n", format_number(recipe.get("n"))),
        (drawn, format_number(found.n_resamples) if found.n_resamples else IN_PLACE.get(method, "none")),
        (found.effect_size_name, _cell(float(found.effect_size) + 0.0)),
        *((_label(key), _cell(extra[key])) for key in scalars if key not in elsewhere),
        ("Seed", str(recipe.get("random_state", ""))),
    ]
    blocks = [_test_block(found, significance_stars(found.p_value))]
    if stems:
        labels = recipe.get("labels", sides)
        rows = [
            [label, *(_cell(extra[f"{stem}_{side}"]) for stem in stems)]
            for side, label in zip(sides, labels, strict=True)
        ]
        blocks.append(Block("Variables", ["", *map(_label, stems)], rows))
    return Summary(found.title, header, blocks, found.notes, found.call)


def _test_block(found: IndependenceTest, stars: str) -> Block:
    """The statistic, its p-value and the null distribution in one row."""
    null, (low, high) = found.null_distribution, found.p_interval
    means = [] if math.isnan(found.null_mean) else [found.null_mean]
    values = [found.statistic, *means, *([float(np.quantile(null, 0.95))] if len(null) else [])]
    statistic, *quantiles = same_digits(values)
    interval = f"[{low:.3f}, {high:.3f}]".replace("0.", ".") if low < high else _kind(found)
    row = [found.test, statistic, *quantiles, format_p(found.p_value), interval, stars]
    nulls = ["null mean", "null 95 %"][: len(quantiles)]
    columns = ["", "statistic", *nulls, "p", "95 % interval of p", ""]
    hypothesis = found.recipe.get("hypothesis", "the variables are independent")
    return Block(f"H0: {hypothesis}", columns, [row], foot=CODES if stars else "")


def _shifted(found: IndependenceTest) -> bool:
    """Return whether rows were shifted cyclically, and not permuted."""
    return found.recipe.get("parameters", {}).get("permutation") == "cyclic"


def _kind(found: IndependenceTest) -> str:
    """The kind of a p-value that has no interval, in words."""
    return "all cyclic shifts" if _shifted(found) else found.p_kind.replace("_", " ")


def _cell(value: Any) -> str:
    """One value of any kind as text."""
    if value is None or value != value:
        return "-"
    return true_minus(f"{value:.4g}") if isinstance(value, float) else str(value)


def _label(key: str) -> str:
    """A key of ``extra`` as it is printed."""
    return EXTRA.get(key, key.replace("_", " ").capitalize())


def sensitivity_summary(found: Sensitivity) -> Summary:
    """One row for each value of the setting."""
    header = [
        ("n", format_number(found.n)),
        ("Permutations", format_number(found.n_resamples)),
        ("Test", found.test),
        ("Default", f"{found.usual:g}"),
    ]
    rows = [
        [
            f"{row[found.setting]:.3g}",
            *(format_number(row[name]) for name in ("statistic", "null_mean", "null_95", "effect_size")),
            format_p(row["p_value"]),
            significance_stars(row["p_value"]),
        ]
        for row in found.table.to_dict("records")
    ]
    columns = [found.setting, "statistic", "null mean", "null 95 %", "effect", "p", ""]
    foot = CODES if any(row[-1] for row in rows) else ""
    note = "The p-values are not adjusted: a setting chosen because its p is small gives no test."
    return Summary(f"Sensitivity to {found.setting}", header, [Block("", columns, rows, foot=foot)], [note])


def certificate_summary(found: Certificate) -> Summary:
    """Errors, tests with the effect size first, and the verdict."""
    recipe = found.recipe
    header = [("Embedding", found.name), ("n", format_number(recipe.get("n"))), ("p", str(recipe.get("p", "")))]
    header += [("d", str(recipe.get("n_components", ""))), ("Reconstruction", str(recipe.get("rule", "")))]
    sizes = {"Ridge": "ridge", "Ridge of tested residuals": "residual_ridge"}
    sizes |= {"Bandwidth": "bandwidth", "Condition": "condition"}
    header += [(title, f"{recipe[key]:.3g}") for title, key in sizes.items()]
    header += [("Resamples", format_number(found.n_resamples)), ("Seed", str(recipe.get("random_state", "")))]
    expected = format_number(1.0 / math.sqrt(recipe["n"])) if recipe.get("n") else ""
    errors = [
        ["train", format_number(found.train), ""],
        ["held out", format_number(found.held_out), format_number(1.0)],
        ["mean of residuals, over their size", format_number(found.residual_mean), expected],
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
        for t, p in zip(found.tests, found.p_adjusted, strict=True)
    ]
    blocks = [Block("Reconstruction error, over the variance of the data", ["", "value", "chance"], errors)]
    columns = ["", "effect", "if Def. 1 held", "statistic", "p", "p (Holm)", ""]
    blocks.append(Block("Residual against embedding", columns, rows, foot=CODES if any(r[-1] for r in rows) else ""))
    least = found.smallest_p
    few = f"With {found.n_resamples} resamples no adjusted p is below {least:.3f}: too few to see dependence."
    call = f"results.certificate({found.name!r}, rule={recipe.get('rule')!r}, n_resamples={found.n_resamples}, "
    call += f"random_state={recipe.get('random_state')})"
    notes = (*([few] if least > LEVEL else []), certificate_verdict(found), *found.notes)
    return Summary("Certificate of Definition 1 (Roy 2021)", header, blocks, notes, call)


def certificate_verdict(found: Certificate) -> str:
    """What failed, and whether the embedding tells anything about the data at all."""
    empty = f"tells next to nothing of held-out points (error {found.held_out:.2f} of 1)"
    if found.objections:
        seen = "; ".join(
            f"{t.name.upper()}: {t.effect_name} {fixed(t.effect_size, 3)}, "
            f"{fixed(t.effect_expected, 3)} if Definition 1 held, adjusted p = {format_p(p)}"
            for t, p in zip(found.tests, found.p_adjusted, strict=True)
            if t.name in found.objections
        )
        also = f" It also {empty}." if found.held_out >= EMPTY else ""
        return f"{found.name} does not meet Definition 1: the residual depends on the embedding ({seen}).{also}"
    if found.held_out >= EMPTY:
        met = "an embedding unrelated to the data meets it, with a constant f"
        return f"Nothing here speaks against Definition 1, but {found.name} {empty}: {met}."
    return "Nothing here speaks against Definition 1; that is no proof of it."


NOISE_CAUTION = (
    "A point that is distinguished from noise is not thereby right, and one that is not may be; points like noise are "
    "drawn hollow."
)


def noise_summary(found: NoiseTest) -> Summary:
    """The test, its points or its settings, and notes."""
    recipe, extra, alpha = found.recipe, found.extra, found.extra["alpha"]
    header = [
        ("Source", str(recipe.get("source", ""))),
        ("n", format_number(recipe.get("n"))),
        ("Null data", f"{found.n_resamples:,} of {NULL_WORDS.get(extra['null'], extra['null'])}"),
        ("Seeds of each", str(extra["n_seeds"])),
        ("Seed", str(recipe.get("random_state", ""))),
    ]
    large = found.p_value > alpha
    said = [f"The method {noise_finding(extra['null'], found.p_value, alpha)}."]
    row = {"test": "noise", "variable": extra["null"], "p_value": found.p_value, "n_resamples": found.n_resamples}
    if is_smallest(row):
        said.append(f"{limit_words(row)}.")
    said.append(f"Score: {extra['score']}{', the largest z over settings' * (found.settings is not None)}.")
    blocks = [_test_block(found, significance_stars(found.p_value))]
    if found.points is not None:
        family = int((found.points["p_family_wise"] <= alpha).sum())
        rows = [[f"not distinguished from noise ({'p' if large else 'q'} > {alpha:g})", f"{found.like_noise.sum():,}"]]
        rows.append([f"stand out by the family-wise p (≤ {alpha:g})", f"{family:,}"])
        rows.append(["all that are scored", f"{len(found.points):,}"])
        blocks.append(Block("Points", ["", "number"], rows))
    if found.settings is not None:
        table = found.settings
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
        blocks.append(Block("Settings, p by the largest z", columns, rows, names=len(options)))
    return Summary(found.title, header, blocks, found.notes, found.call, said=said)


def known_tests(reading: Reading) -> list[Mapping[str, Any]]:
    """The tests of embeddings that were computed."""
    return [row for row in reading.tests if row["embedding"] not in reading.failed]


@dataclass(frozen=True)
class GroupOfTests:
    """Tests that ask the same: what is said of them, their rows, and the errors that belong to them."""

    id: str
    title: str
    short: str
    said: str
    tests: Sequence[Mapping[str, Any]]
    errors: Sheet | None = None


def test_groups(reading: Reading) -> list[GroupOfTests]:
    """Tests against labels and covariates, and the certificate: tests of the residual of the embedding."""
    rows, again = known_tests(reading), [row for row in reading.of_methods if row["embedding"] not in reading.failed]
    more = (
        " ".join(dict.fromkeys(noise_said(row, reading.results) for row in again))
        if reading.results is not None
        else ""
    )
    against = [row for row in rows if row["variable"] != RESIDUAL]
    left = [row for row in rows if row["variable"] == RESIDUAL]
    errors = asked_sheet(reading, "reconstruction", "One row for each embedding")
    found = [
        GroupOfTests(
            "tests", "Does the embedding depend on what is known?", "Tests", tests_said(reading, against), against
        ),
        GroupOfTests(
            "certificate",
            "What the embedding leaves of the data",
            "Certificate",
            _certificate_said(reading, left),
            left,
            errors,
        ),
        GroupOfTests("noise", "Is it more than noise?", "Noise", f"{more} {NOISE_CAUTION}", again),
    ]
    return [group for group in found if group.tests or group.errors]


def asked_sheet(reading: Reading, need: str, caption: str) -> Sheet | None:
    """The values of the measures that need a method, or a reconstruction, each with its parts in words."""
    cards = [MEASURES.card(c.measure) if c.measure in MEASURES else None for c in reading.main]
    asked = [c for c, card in zip(reading.main, cards, strict=True) if card is not None and need in card.needs]
    rows = [
        [
            Cell(name, "name", heads=True),
            Cell(column.title, "words"),
            Cell(column.shown(cell.value)),
            Cell("" if math.isnan(cell.chance) else column.shown(cell.chance), "number"),
            Cell(cell.note, "note"),
        ]
        for column in asked
        for name, cell in column.cells.items()
        if not cell.missing
    ]
    heads = [Head("Embedding", words=True), Head("Measure", words=True), Head("Value"), Head("Chance level")]
    return Sheet(caption, [*heads, Head("Beside it", words=True)], rows) if rows else None


def tests_sheet(group: GroupOfTests) -> Sheet:
    """One row for each test; a missing one keeps its reason."""
    adjusted = any(not math.isnan(row["p_adjusted"]) for row in group.tests)
    noted = any(row["note"] for row in group.tests)
    words = [Head(title, words=True) for title in ("Embedding", "Variable", "Test")]
    numbers = ["Effect size", "Statistic", "Chance level", "p", *["Adjusted p"] * adjusted, "Resamples"]
    rows = [
        [
            Cell(row["embedding"], "name", heads=True),
            Cell(row["variable"] or ABSENT, "name"),
            Cell(str(row["test"]).upper() if len(str(row["test"])) <= 5 else str(row["test"]), "words"),
            Cell(_number(row, "effect_size", 3)),
            Cell(_number(row, "statistic", 4), "number"),
            Cell(_number(row, "chance", 4), "number"),
            Cell(probability(float(row["p_value"])), "number"),
            *[Cell(probability(float(row["p_adjusted"])), "number")] * adjusted,
            Cell(f"{int(row['n_resamples']):,}" if row["n_resamples"] else ABSENT, "number"),
            *[Cell(row["note"], "note")] * noted,
        ]
        for row in group.tests
    ]
    heads = [*words, *map(Head, numbers), *[Head("Note", words=True)] * noted]
    label = f"Table of these tests: {group.short}"
    return Sheet("One row for each embedding, variable and test", heads, rows, label)


def _number(row: Mapping[str, Any], key: str, digits: int) -> str:
    value = float(row[key])
    return (
        ABSENT
        if math.isnan(value)
        else fixed(value, digits)
        if 1e-3 <= abs(value) < 1e5
        else true_minus(f"{value:.2e}")
    )


def tests_said(reading: Reading, tests: Sequence[Mapping[str, Any]]) -> str:
    """How many tests reject, by the adjusted p where there is one; those that are in no family do not count."""
    judged = [row for row in tests if row["embedding"] not in reading.reference]
    read = [row for row in judged if row["family"] or math.isnan(row["p_value"])]
    certain = "Against the data themselves read the effect size only." if len(read) < len(judged) else ""
    if len(judged) < len(tests):
        data = f"The tests of {ordered(list(map(marked, reading.reference)))} are shown for reference, not adjusted."
        certain = " ".join(filter(None, [certain, data]))
    found, lost = _counted(reading, read)
    if not found:
        return " ".join(filter(None, ["None of the tests could be computed." if read else "", certain]))
    said = f"Null hypothesis: {_hypotheses(reading, read)}. {found}"
    return " ".join(filter(None, [said, _smallest(reading, read), lost, certain]))


def _hypotheses(reading: Reading, tests: Sequence[Mapping[str, Any]]) -> str:
    """The null hypothesis of the tests, and that of those whose permutations are restricted."""
    of_tests: dict[str, dict[str, None]] = {}
    for row in tests:
        if not math.isnan(row["p_value"]):
            of_tests.setdefault(reading.scheme(row), {})[str(row["test"])] = None
    texts = {scheme: null_hypothesis("embedding and variable are independent", scheme) for scheme in of_tests}
    if len(of_tests) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{texts[scheme]} ({', '.join(names)})" for scheme, names in of_tests.items())


def _smallest(reading: Reading, tests: Sequence[Mapping[str, Any]]) -> str:
    """The limit that the number of resamples sets to p, as a sentence."""
    said = smallest_words(reading, tests)
    return f"{said}." if said else ""


def _certificate_said(reading: Reading, tests: Sequence[Mapping[str, Any]]) -> str:
    """What the certificate of Definition 1 asks, and how often it objects."""
    found, lost = _counted(reading, tests)
    if not tests:
        return "What a function of the embedding cannot say of the data: 0 is nothing, 1 is everything."
    asked = (
        "Certificate of Definition 1 (Roy 2021): the data are a function of the embedding and a residual that does not "
        "depend on it. p by a residual bootstrap with refit; read the effect size first."
    )
    quiet = " A large p says that nothing here speaks against it; that is no proof." if found else ""
    return " ".join(filter(None, [asked, found + quiet, _smallest(reading, tests), lost]))


def _counted(reading: Reading, tests: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """How many of the tests reject, and how many could not be computed."""
    ps = [float(row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"]) for row in tests]
    known = [p for p in ps if not math.isnan(p)]
    if not known:
        return "", ""
    few = sum(p <= LEVEL for p in known)
    method = reading.recipe.get("adjust")
    by = f"adjusted p ({ADJUSTMENTS.get(method, method)})" if method and method != "nothing" else "p"
    lost = "" if len(known) == len(ps) else f"{counted(len(ps) - len(known), 'test')} could not be computed."
    return f"{few} of {counted(len(known), 'test')} {'has' if few == 1 else 'have'} {by} ≤ .05.", lost
