"""The printed form of new points on a map, and its parts for other documents."""

from __future__ import annotations

import math

from dreval.glossary import format_number
from dreval.records.frames import groups_text
from dreval.records.out_of_sample import OutOfSample
from dreval.registry import MEASURES
from dreval.report.document import Document, Table
from dreval.report.documents.small import record_summary
from dreval.report.findings import Finding, record_finding

MAX_TITLE = 22  # letters of a title in the table; longer ones are replaced by the symbol


def out_of_sample_summary(record: OutOfSample, full: bool) -> Document:
    """Return what is kept of the neighbors of new points, which points are flagged, and the table of values."""
    recipe = record.recipe
    parameters = recipe["parameters"]
    settings = [("New points", f"{len(record):,}"), ("Reference points", f"{recipe['n']:,}"), ("Columns", recipe["p"])]
    settings += [("Calibration points", recipe["n_calibration"] or None), ("Groups", groups_text(recipe["groups"]))]
    settings += [(name.replace("_", " "), value) for name, value in parameters.items()]
    settings.append(("Seed", recipe["random_state"]))
    findings, table = out_of_sample_findings(record), out_of_sample_table(record)
    title = "New points on a map"
    return record_summary(title, findings, [table], record.notes, full=full, settings=settings, call=record.call)


def out_of_sample_findings(record: OutOfSample) -> list[Finding]:
    """Return how many neighbors of new points are kept, next to the reference points, and which points are flagged."""
    parameters, m = record.recipe["parameters"], len(record)
    kept = record.of("neighborhood_overlap")
    numbers = {"m": m, "k": parameters["n_neighbors"], "level": f"{100 * parameters['conf_level']:g} %"}
    numbers |= {"value": kept["value"], "chance": kept["chance"], "in_sample": kept["in_sample"]}
    numbers |= {"low": kept["conf_low"], "high": kept["conf_high"]}
    findings = [record_finding("new.no_interval" if math.isnan(kept["conf_low"]) else "new.kept", **numbers)]
    if not record.has_conformal:
        return findings
    alpha, count = parameters["alpha"], int(record.flagged.sum())
    findings.append(record_finding("new.flagged" if count else "new.none_flagged", count=count, m=m, alpha=alpha))
    smallest = 1 / (1 + record.recipe["n_calibration"])
    findings.append(record_finding("new.needed", needed=record.n_needed, m=m, smallest=smallest))
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
        card = MEASURES.card(row["measure"])
        title = card.title if len(card.title) <= MAX_TITLE else card.symbol
        ends = [format_number(row[name], 2) for name in ("conf_low", "conf_high")]
        interval = "" if math.isnan(row["conf_low"]) else " to ".join(ends)
        numbers = (format_number(row[name], 3) for name in ("chance", "in_sample", "gap"))
        sign = "≤" if row["direction"] == "lower" else "≥"
        bound = "" if math.isnan(row["bound"]) else f"{sign} {format_number(row['bound'], 3)}"
        cells.append([title, format_number(row["value"], 3), interval, *numbers, bound])
    shown = [i for i in range(len(columns)) if i < 2 or any(row[i] for row in cells)]
    foot = (
        "gap: in-sample minus new; chance: the map unrelated to the data; k = " + str(parameters["n_neighbors"]) + "."
    )
    return Table("", [columns[i] for i in shown], [[row[i] for i in shown] for row in cells], foot=foot)
