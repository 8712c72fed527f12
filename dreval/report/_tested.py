"""The tests of a report: rows as they are printed, in two groups, each with what was found in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dreval.registry import MEASURES
from dreval.report._numbers import counted, fixed, probability
from dreval.report._reading import Reading

__all__ = ["ADJUSTMENTS", "RESIDUAL", "asked_rows", "known_tests", "test_groups", "test_row", "tests_said"]

ABSENT = "—"
RESIDUAL = "residual"
LEVEL = 0.05
ADJUSTMENTS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}


def known_tests(reading: Reading) -> list[Mapping[str, Any]]:
    """The tests of embeddings that were computed."""
    return [row for row in reading.tests if row["embedding"] not in reading.failed]


def test_groups(reading: Reading) -> list[dict[str, Any]]:
    """Tests against what is known of the points, and the certificate: tests of what the embedding leaves of the data."""
    rows = known_tests(reading)
    against = [row for row in rows if row["target"] != RESIDUAL]
    left = [row for row in rows if row["target"] == RESIDUAL]
    groups = [
        ("tests", "Does the embedding depend on what is known?", "Tests", tests_said(reading, against), against),
        ("certificate", "What the embedding leaves of the data", "Certificate", _certificate_said(reading, left), left),
    ]
    errors = {"certificate": asked_rows(reading, "reconstruction")}
    return [
        {
            "errors": errors.get(place, []),
            "id": place,
            "title": title,
            "short": short,
            "said": said,
            "rows": [test_row(row) for row in part],
            "adjusted": any(not math.isnan(row["p_adjusted"]) for row in part),
            "noted": any(row["note"] for row in part),
            "tests": part,
        }
        for place, title, short, said, part in groups
        if part or errors.get(place)
    ]


def asked_rows(reading: Reading, need: str) -> list[dict[str, str]]:
    """The values of the measures that need a method, or a reconstruction, each with its parts in words."""
    cards = [MEASURES.card(c.measure) if c.measure in MEASURES else None for c in reading.main]
    asked = [c for c, card in zip(reading.main, cards, strict=True) if card is not None and need in card.needs]
    return [
        {
            "embedding": name,
            "measure": column.title,
            "value": column.shown(cell.value),
            "chance": "" if math.isnan(cell.chance) else column.shown(cell.chance),
            "note": cell.note,
        }
        for column in asked
        for name, cell in column.cells.items()
        if not cell.missing
    ]


def test_row(row: Mapping[str, Any]) -> dict[str, str]:
    """One row of the table of tests; a missing one keeps its reason."""
    return {
        "embedding": row["embedding"],
        "variable": row["target"] or ABSENT,
        "test": str(row["test"]).upper() if len(str(row["test"])) <= 5 else str(row["test"]),
        "effect": _number(row, "effect_size", 3),
        "statistic": _number(row, "statistic", 4),
        "chance": _number(row, "chance", 4),
        "p": probability(float(row["p_value"])),
        "adjusted": probability(float(row["p_adjusted"])),
        "resamples": f"{int(row['n_resamples']):,}" if row["n_resamples"] else ABSENT,
        "note": row["note"],
    }


def _number(row: Mapping[str, Any], key: str, digits: int) -> str:
    value = float(row[key])
    return ABSENT if math.isnan(value) else fixed(value, digits) if 1e-3 <= abs(value) < 1e5 else f"{value:.2e}"


def tests_said(reading: Reading, tests: Sequence[Mapping[str, Any]]) -> str:
    """How many tests reject, by the adjusted p where there is one; those that are in no family do not count."""
    read = [row for row in tests if row["family"] or math.isnan(row["p_value"])]
    certain = "Against the data themselves read the effect size only." if len(read) < len(tests) else ""
    found, lost = _counted(reading, read)
    if not found:
        return " ".join(filter(None, ["None of the tests could be computed." if read else "", certain]))
    return " ".join(filter(None, [f"Null hypothesis: embedding and variable are independent. {found}", lost, certain]))


def _certificate_said(reading: Reading, tests: Sequence[Mapping[str, Any]]) -> str:
    """What the certificate of Definition 1 asks, and how often it objects."""
    found, lost = _counted(reading, tests)
    if not tests:
        return "What a function of the embedding cannot say of the data: 0 is nothing, 1 is everything."
    asked = (
        "Certificate of Definition 1: the data are a function of the embedding and a residual that does not depend on "
        "it. p by a residual bootstrap with refit; read the effect size first."
    )
    quiet = " A large p says that nothing here speaks against it; that is no proof." if found else ""
    return " ".join(filter(None, [asked, found + quiet, lost]))


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
    return f"{counted(few, 'test')} of {len(known)} with {by} ≤ .05.", lost
