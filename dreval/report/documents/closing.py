"""The last sections of a page: conclusions that do not follow, notes, settings, and the glossary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dreval._text import true_minus
from dreval.glossary import COLUMNS, TERMS
from dreval.records.frames import groups_text
from dreval.registry import MEASURES
from dreval.report.document import Code, Details, Items, Paragraph, Part, Section, TermEntry, Terms
from dreval.report.format import ADJUSTMENTS, join_and
from dreval.report.result_view import Column, ResultView, data_text, interval_targets, metric_text

MAX_NAMED_SOURCES = 6  # embeddings with the same source that are named; more are counted


def closing_sections(
    limits: Sequence[TermEntry],
    notes: Sequence[str],
    call: str,
    settings: Sequence[TermEntry],
    versions: Sequence[tuple[str, str]],
    entries: Sequence[TermEntry],
) -> Iterator[Section]:
    """Yield the limits, the notes, the call and the settings, and the glossary."""
    program = ", ".join(f"{name} {version}" for name, version in versions)
    settings_and_versions = [*settings, *([TermEntry("Versions", program)] if program else [])]
    call_part = Code(call) if call else Paragraph("The call was not recorded with this result.", "note")
    limit_parts = [Terms(limits, "limits")] if limits else []
    yield Section("Conclusions that do not follow", limit_parts, "limits", "Limits")
    yield Section("Notes", [Items(notes, numbered=True)] if notes else [], "notes", "Notes")
    yield Section("Reproduce", [call_part, Terms(settings_and_versions, "settings")], "reproduce", "Reproduce")
    plain = [replace(entry, formula="", reference="") for entry in entries]
    sources = [entry for entry in entries if entry.formula or entry.reference]
    glossary_parts: list[Part] = [Terms(plain, "glossary")] if entries else []
    if sources:
        meanings = [TermEntry(entry.term, entry.reference, entry.formula) for entry in sources]
        glossary_parts.append(Details("Formulas and references", [Terms(meanings, "sources")], screen=True))
    yield Section("Glossary", glossary_parts, "glossary", "Glossary")


# Conclusions that do not follow, each with the reason.
BEST_LIMIT = (
    "“The best by one measure is the best.”",
    "Measures ask different things, and the best by one can be last by another.",
)
LIMITS = {
    "method": (
        "{first} is the better method.",
        (
            "One run each was evaluated. Other seeds, settings or points can give another order; "
            'ci="replicates" re-runs the methods.'
        ),
    ),
    "everything": ("{first} is best at everything.", "Best sets hold measure by measure{at_k}."),
    "untested": (
        "The best value is significantly better.",
        "“Best” means the best value here. Nothing tests whether two embeddings differ.",
    ),
    "classes": (
        "The classes are clusters of the data.",
        "Class accuracy refers to the map. Separate islands can come from the method.",
    ),
    "overlap": (
        "Overlapping intervals: no difference.",
        "Each interval covers one value. Embeddings share their points, so pairs are tested on differences.",
    ),
    "target": ("The interval covers everything.", "It refers to {target}, one value at a time."),
    "exact": (
        "The values are exact.",
        "They have no intervals: nothing here says how much they would change with other points.",
    ),
    "missing": (
        "No interval, so no uncertainty.",
        "Values without an interval are not more certain than those with one.",
    ),
    "small": (
        "Significant, so it matters.",
        "With {n:,} points, small differences can be significant. Set a margin: .compare(margin=…).",
    ),
    "chance": (
        "Better than chance, so good.",
        "Chance means a map that has nothing to do with the data, which is a low bar.",
    ),
    "columns": (
        "The order is that of the methods.",
        "The embeddings have {columns} columns. More columns can keep more of the data.",
    ),
    "maps": (
        "The maps show what was evaluated.",
        "Embeddings of more than two columns are evaluated in all of them; maps show the first two.",
    ),
    "anchors": (
        "Every point was examined.",
        "Neighborhoods are those of a random part of the points, and maps show these points.",
    ),
    "dependence": (
        "A small p is a strong dependence.",
        (
            "It says that map and variable depend on each other, not how much (the effect size does) and not why. "
            "A large p is no proof of independence."
        ),
    ),
}


def limits(view: ResultView, dimensions: Mapping[str, int]) -> list[TermEntry]:
    """Return conclusions that do not follow, each with the reason; only those that apply."""
    contenders = [name for name in view.ranked if name in view.contenders]
    several, columns = len(contenders) > 1, view.main_columns
    has_interval = [cell.has_interval for column in columns for cell in column.cells.values() if not cell.missing]
    tested = any(view.best_set(column).tested for column in columns)
    ds = sorted(set(dimensions.values()))
    applies = {
        "method": several and not any(row["target"] == "replicates" for row in view.rows),
        "everything": several,
        "untested": several and not tested and bool(has_interval),
        "classes": any(column.measure == "knn_accuracy" and column.values for column in columns),
        "overlap": several and any(has_interval),
        "target": any(has_interval),
        "exact": bool(has_interval) and not any(has_interval),
        "missing": any(has_interval) and not all(has_interval),
        "small": view.comparison is not None and tested,
        "chance": bool(has_interval),
        "columns": several and len(ds) > 1,
        "maps": any(d > 2 for d in ds),
        "anchors": bool(view.recipe.get("anchors")),
        "dependence": bool(view.tests),
    }
    fields = {
        "first": contenders[0] if contenders else "",
        "at_k": f" and at k = {view.k}" if view.k is not None and len(view.scales) == 1 else "",
        "target": join_and(interval_targets(view.recipe, view.rows)) or "its target",
        "n": int(view.recipe.get("n") or 0),
        "columns": join_and([str(d) for d in ds]),
    }
    return [
        TermEntry(f"“{claim.format(**fields)}”", reason.format(**fields))
        for key, (claim, reason) in LIMITS.items()
        if applies[key]
    ]


def _settings(recipe: Mapping[str, Any]) -> list[TermEntry]:
    """Return the settings of the run; without a time, so that the same result gives the same report."""
    ks = recipe.get("n_neighbors")
    scales = ", ".join(map(str, ks)) if isinstance(ks, list | tuple) else "" if ks is None else str(ks)
    anchors = recipe.get("anchors")
    pairs = [
        ("Data", data_text(recipe)),
        ("Points n", f"{int(recipe['n']):,}" if recipe.get("n") else ""),
        ("Groups", groups_text(recipe.get("groups"))),
        ("Columns p", f"{int(recipe['p']):,}" if recipe.get("p") else ""),
        ("Metric", metric_text(recipe)),
        ("Neighbors k", scales),
        ("Anchors", f"{int(anchors):,}" if anchors else "all points"),
        ("Seed", "" if recipe.get("random_state") is None else str(recipe["random_state"])),
        ("Adjusted by", ADJUSTMENTS.get(str(recipe.get("adjust")), str(recipe.get("adjust") or ""))),
        ("SHA-256 of the data", str(recipe.get("data_sha256") or "")),
    ]
    return [TermEntry(name, value) for name, value in pairs if value]


def _sources(recipe: Mapping[str, Any]) -> Iterator[TermEntry]:
    """Yield the source of each embedding; many with the same source share an entry."""
    names_by_text: dict[str, list[str]] = {}
    for name, source in (recipe.get("sources") or {}).items():
        description = "given coordinates" if source["kind"] == "coordinates" else f"{source['kind']} {source['what']}"
        parameters = ", ".join(f"{key}={value}" for key, value in source["parameters"].items())
        text = f"{description}: {parameters}" if parameters else description
        names_by_text.setdefault(text, []).append(str(name))
    for text, names in names_by_text.items():
        if len(names) > MAX_NAMED_SOURCES:
            yield TermEntry(f"{len(names)} embeddings", text)
        else:
            yield from (TermEntry(name, text, is_name=True) for name in names)


_MARKUP = re.compile(r":math:|\*|`|\.\. math::")


def glossary(view: ResultView) -> list[TermEntry]:
    """Return the terms of the report: measures from their cards, then those of tables, marks and tests."""
    entries = [measure_entry(column) for column in view.main_columns]
    tested = any(view.best_set(column).tested for column in view.main_columns)
    methods = sorted({row["conf_method"] for row in view.rows if row["conf_method"]})
    several = " the method that the notes have for it:" * (len(methods) > 1)
    adjustment = ADJUSTMENTS.get(str(view.recipe.get("adjust")), "nothing")
    has_ties = any(not math.isnan(row["worst"]) and not math.isnan(row["value"]) for row in view.rows)
    rules: list[tuple[Any, str, str]] = [
        (tested, "Best set", ""),
        (tested, "Borderline", ""),
        (view.scales, "k", ""),
        (view.scales, "Kept, lost, false", ""),
        (entries, "Chance", ""),
        (entries, "Caution", ""),
        (methods, f"{view.level} interval", f"Interval for one value, by{several} {'; '.join(methods)}."),
        (has_ties, "Ties", ""),
        (view.tests, "p", _sentence(COLUMNS["p_value"])),
        (view.tests, "Adjusted p", f"p adjusted over all tests that belong together, by {adjustment}."),
        (view.tests, "Effect size", ""),
    ]
    return [*entries, *(TermEntry(term, meaning or TERMS[term]) for applies, term, meaning in rules if applies)]


def measure_entry(column: Column) -> TermEntry:
    """Return the meaning of a measure, its formula and its reference, from its card and its docstring."""
    return TermEntry(
        _term(column), _meaning(column), *_formula_and_reference(column.measure if column.measure in MEASURES else "")
    )


def _formula_and_reference(measure: str) -> tuple[str, str]:
    """Return the formula in the docstring of a measure, and its reference."""
    if not measure:
        return "", ""
    page = (MEASURES.get(measure).__doc__ or "").partition("\n\n")[2].partition("Parameters\n")[0]
    parts = [" ".join(part.split()) for part in page.split("\n\n")]
    formulas = [part for part in parts if " = " in part]
    formula = _MARKUP.sub("", formulas[0]).strip() if formulas else ""
    return formula, " ".join(MEASURES.card(measure).reference.split())


def _term(column: Column) -> str:
    return column.title if column.title.endswith(column.symbol) else f"{column.title} ({column.symbol})"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _meaning(column: Column) -> str:
    """Return question, direction, range and chance level of a measure."""
    low, high = column.bounds
    if math.isfinite(low) and math.isfinite(high):
        span = true_minus(f"from {low:g} to {high:g}")
    else:
        span = true_minus(f"from {low:g} up") if math.isfinite(low) else "without bounds"
    chance = f"; chance {column.chance}" if column.chance else ""
    return f"{column.question} {column.direction_text.capitalize()}, {span}{chance}.".strip()
