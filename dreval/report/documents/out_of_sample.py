"""The printed form and the page of new points on a map, and their parts for other documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dreval._text import format_fixed, without_zero
from dreval.records.frames import groups_text
from dreval.records.out_of_sample import OutOfSample
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report.document import Document, PageFigure, Paragraph, Part, Section, Table, TermEntry, WideFigure
from dreval.report.documents.closing import closing_sections, measure_entry
from dreval.report.documents.small import record_summary
from dreval.report.findings import Finding, findings_text, record_finding
from dreval.report.format import count_noun, join_and
from dreval.report.result_view import make_column, measure_phrase

if TYPE_CHECKING:
    from dreval.report.figure_folder import FigureFolder

TITLE = "New points on a map"
# Titles that fit into the table; those of the cards are longer.
SHORT_TITLES = {
    "neighborhood_overlap": "Overlap", "r_nx": "R_NX", "mrre_false": "MRRE, false", "mrre_missing": "MRRE, missing"
}  # fmt: skip


# Conclusions that do not follow, each with the reason.
LIMITS = (
    ("“Points that are not flagged are represented.”", "A point is flagged only where its scores are clearly too low."),
    (
        "“A point that is represented is of a known kind.”",
        "Its neighbors are kept, but how far they are is not asked.",
    ),
    ("“The gap is overfitting.”", "New points have a gap on maps that overfit nothing, such as principal components."),
)


def out_of_sample_summary(record: OutOfSample, full: bool, *, shell: bool = False) -> Document:
    """Return what is kept of the neighbors of new points, which points are flagged, and the table of values."""
    recipe = record.recipe
    parameters = recipe["parameters"]
    settings = [("New points", f"{len(record):,}"), ("Reference points", f"{recipe['n']:,}"), ("Columns", recipe["p"])]
    settings += [("Calibration points", recipe["n_calibration"] or None), ("Groups", groups_text(recipe["groups"]))]
    settings += [(name.replace("_", " "), value) for name, value in parameters.items()]
    settings.append(("Seed", recipe["random_state"]))
    findings, table = out_of_sample_findings(record), out_of_sample_table(record)
    options: dict[str, Any] = {"settings": settings, "call": record.call, "shell": shell}
    return record_summary(TITLE, findings, [table], record.notes, full=full, **options)


def out_of_sample_findings(record: OutOfSample) -> list[Finding]:
    """Return how many neighbors of new points are kept, next to the reference points, and which points are flagged."""
    parameters, m = record.recipe["parameters"], len(record)
    overlap = record.of("neighborhood_overlap")
    numbers = {"m": m, "k": parameters["n_neighbors"], "level": f"{100 * parameters['conf_level']:g} %"}
    numbers |= {"value": overlap["value"], "chance": overlap["chance"], "in_sample": overlap["in_sample"]}
    numbers |= {"low": overlap["conf_low"], "high": overlap["conf_high"]}
    findings = [record_finding("new.no_interval" if math.isnan(overlap["conf_low"]) else "new.kept", **numbers)]
    findings += [record_finding("new.refit", **dict(item.values)) for item in record.notes if item.code == "new.refit"]
    few = next((dict(item.values) for item in record.notes if item.code == "interval.few_groups"), None)
    if few is not None:
        findings.append(record_finding("new.few_groups", groups=few["groups"], least=few["least"]))
    if not record.has_conformal:
        return findings
    alpha, count, calibration = parameters["alpha"], int(record.flagged.sum()), record.recipe["n_calibration"]
    if record.n_needed is not None and record.n_needed > m:  # each p is above alpha
        findings.append(record_finding("new.too_few", calibration=calibration, alpha=alpha))
    else:
        findings.append(record_finding("new.flagged" if count else "new.none_flagged", count=count, m=m, alpha=alpha))
        findings.append(record_finding("new.needed", needed=record.n_needed, m=m, smallest=1 / (1 + calibration)))
    bound = record.of("trustworthiness")["bound"]
    if not math.isnan(bound):
        findings.append(record_finding("new.bound", level=f"{100 * (1 - alpha):g} %", bound=bound))
    return findings


def out_of_sample_table(record: OutOfSample) -> Table:
    """Return the values of new points, with intervals, chance levels, in-sample values, gaps and bounds."""
    parameters, rows = record.recipe["parameters"], record.tidy().to_dict("records")
    columns = ["Measure", "new", f"{100 * parameters['conf_level']:g} % interval", "chance", "in-sample", "gap"]
    columns.append(f"{100 * (1 - parameters['alpha']):g} % bound")
    cells = []
    for row in rows:
        title = SHORT_TITLES.get(row["measure"]) or MEASURES.card(row["measure"]).title
        ends = [_number(row[name]) for name in ("conf_low", "conf_high")]
        interval = "" if math.isnan(row["conf_low"]) else " to ".join(ends)
        numbers = (_number(row[name]) for name in ("chance", "in_sample", "gap"))
        sign = "≤" if row["direction"] == "lower" else "≥"
        bound = "" if math.isnan(row["bound"]) else f"{sign} {_number(row['bound'])}"
        cells.append([title, _number(row["value"]), interval, *numbers, bound])
    used = [i for i in range(len(columns)) if i < 2 or any(row[i] for row in cells)]
    foot = (
        "gap: in-sample minus new, positive for a loss, and for MRRE, where lower is better, negative; "
        f"chance: a map unrelated to the data; k = {parameters['n_neighbors']}."
    )
    return Table("", [columns[i] for i in used], [[row[i] for i in used] for row in cells], foot=foot)


def _number(value: float) -> str:
    """Return a value with three decimals, without the zero before the point; empty where there is none."""
    return without_zero(format_fixed(value, 3))


def out_of_sample_section(record: OutOfSample, title: str, stem: str, folder: FigureFolder | None) -> Section:
    """Return a section with the findings, the map and the values; ``stem`` names its figure."""
    from dreval.report._style import figure_style  # here, since printing needs no matplotlib
    from dreval.report._svg import inline_svg

    caption = "The map: reference points in gray, new points above them"
    with figure_style():
        figure: Any = record.plot()
    drawing: Part = (
        WideFigure(PageFigure(inline_svg(figure, stem, caption)), caption, "cd")
        if folder is None
        else folder.figure(figure, stem, caption)
    )
    answer = Paragraph(findings_text(out_of_sample_findings(record)), "finding")
    table = out_of_sample_table(record)
    return Section(title, [answer, replace(table, foot=""), Paragraph(table.foot, "note"), drawing], stem)


def out_of_sample_report(record: OutOfSample, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report: of a page, or of a text with its figure in a ``folder``."""
    summary, recipe = out_of_sample_summary(record, full=True), record.recipe
    settings = [TermEntry(name, value) for name, value in summary.header]
    entries = [measure_entry(make_column(name, "", [])) for name in record.tidy()["measure"]]
    versions = [(str(name), str(version)) for name, version in recipe["versions"].items()]
    limits = [TermEntry(*limit) for limit in LIMITS]
    sections = [
        out_of_sample_section(record, "Answers", "new-points", folder),
        *closing_sections(limits, summary.notes, summary.call, settings, versions, entries),
    ]
    meta = [count_noun(len(record), "new point"), count_noun(recipe["n"], "reference point")]
    return Document(
        TITLE if title is None else title,
        [part for part in sections if part.parts],
        [", ".join([*meta, f"seed {recipe['random_state']}"])],
        dict(versions)["dreval"],
    )


# New points in the documents of an evaluation.


def new_points_tables(results: Results) -> list[Table]:
    """Return the values of new points on each embedding that has some."""
    records = results._out_of_sample
    return [replace(out_of_sample_table(record), title=f"New points on {name}") for name, record in records.items()]


def new_points_lines(results: Results, name_text: Callable[[str], str] = str) -> list[tuple[str, str]]:
    """Return what each map keeps of the neighbors of new points, and which of them are flagged.

    ``name_text`` returns the name of an embedding as it is written.
    """
    lines = []
    for name, record in results._out_of_sample.items():
        text = " ".join(finding.text for finding in out_of_sample_findings(record))
        lines.append(("New points", f"{name_text(name)}: {text}" if len(results.names) > 1 else text))
    return lines


def new_points_findings(records: Mapping[str, OutOfSample], run: Collection[str], shell: bool) -> list[Finding]:
    """Return what each map keeps of the neighbors of new points, by measures of the run, and how many are flagged.

    The overlap stands for all measures, unless only others of new points were run.
    """
    if not records:
        return []
    record = next(iter(records.values()))
    numbers = {"m": len(record), "k": record.recipe["parameters"]["n_neighbors"]}
    measures = [name for name in record.table["measure"] if name in run]
    is_overlap = not measures or "neighborhood_overlap" in measures
    maps = []
    for name, each in records.items():
        if is_overlap:
            row = each.of("neighborhood_overlap")
            maps.append(record_finding("new.map_keeps", name=name, value=row["value"], in_sample=row["in_sample"]).text)
            continue
        values = []
        for measure in measures[:2]:
            ends = {end: each.of(measure)[end] for end in ("value", "in_sample")}
            values.append(record_finding("new.map_value", measure=measure_phrase(measure), **ends).text)
        maps.append(record_finding("new.map_values", name=name, values=join_and(values)).text)
    findings = [
        record_finding("new.maps_keep", **numbers, maps=join_and(maps))
        if is_overlap
        else record_finding("new.maps_have", **numbers, maps="; ".join(maps))
    ]
    notes = dict.fromkeys(item for each in records.values() for item in each.notes)
    findings += [record_finding("new.refit", **dict(item.values)) for item in notes if item.code == "new.refit"]
    ways = [str(dict(item.values)["way"]) for item in notes if item.code == "new.no_calibration"]
    flagged = {name: int(each.flagged.sum()) for name, each in records.items() if each.flagged.any()}
    if ways:
        findings.append(record_finding("new.needs_held_out", ways=" or ".join(ways)))
    elif flagged:
        counts = join_and([record_finding("new.map_flags", name=name, count=n).text for name, n in flagged.items()])
        where = "new.flagged_in_file" if shell else "new.flagged_in_frame"
        findings.append(record_finding(where, counts=counts, name=next(iter(flagged))))
    elif record.has_conformal:
        findings.append(record_finding("new.no_flag"))
    return findings
