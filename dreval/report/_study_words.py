"""What the report of a study says of its state, its settings, and what may not be concluded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dreval.journal.study_file import STATES
from dreval.records.comparison import Comparison
from dreval.report._numbers import counted, in_words, ordered
from dreval.report._standing import ABSENT
from dreval.report.document import format_duration

__all__ = [
    "dataset_row",
    "failures",
    "method_row",
    "states",
    "study_cautions",
    "study_meta",
    "study_settings",
    "study_title",
]


def study_title(recipe: Mapping[str, Any]) -> str:
    """The heading, such as "Five methods on four data sets"."""
    methods, datasets = len(recipe["methods"]), len(recipe["datasets"])
    noun = "method" if methods == 1 else "methods"
    return f"{in_words(methods).capitalize()} {noun} on {in_words(datasets)} data set{'' if datasets == 1 else 's'}"


def study_meta(status: Any, recipe: Mapping[str, Any]) -> str:
    """The line under the heading."""
    done, replicates = status.count("done"), status.cells["replicate"].nunique()
    parts = [f"{done:,} of {counted(len(status.cells), 'cell')} done", counted(replicates, "replicate")]
    if recipe["subsample"]:
        parts[1] += f" on {100 * recipe['subsample']:g} % of the points each"
    ks = ", ".join(map(str, recipe["n_neighbors"]))
    return ", ".join([*parts, f"k = {ks}", f"seed {recipe['random_state']}"])


def states(status: Any) -> list[dict[str, Any]]:
    """How far each data set and method is."""
    return [
        {
            "dataset": row["dataset"],
            "method": row["embedding"],
            "counts": [row[state] or "" for state in STATES],
            "seconds": format_duration(row["seconds"]),
        }
        for row in status.table.to_dict("records")
    ]


def failures(status: Any) -> list[dict[str, str]]:
    """Reasons of failures, each with where it happened."""
    found = []
    for (method, reason), rows in status.failures.groupby(["embedding", "reason"], sort=False):
        places = list(dict.fromkeys(rows["dataset"]))
        found.append({"method": method, "where": f"{counted(len(rows), 'cell')}, on {ordered(places)}", "why": reason})
    return found


def study_cautions(status: Any, recipe: Mapping[str, Any], found: Comparison | None) -> Iterator[str]:
    """Sentences on what does not follow; each stands only where it applies."""
    left = status.count("running") + status.count("waiting")
    if left:
        yield f"{counted(left, 'cell')} of {len(status.cells):,} are not done: means and ranks may change."
    if status.count("failed"):
        yield "Methods that fail are compared where they did not, which favors them where they fail on hard data."
    if found is not None:
        n = len(recipe["datasets"])
        yield (
            f"The {n} data sets are the sample. The tests speak of further data sets like these, not of other kinds, "
            "and not of any one of them."
        )
    if status.cells["replicate"].nunique() > 1:
        yield (
            "“±” is the standard deviation over replicates, no interval. Replicates are no new data sets and add "
            "nothing to their number."
        )
    else:
        yield "Each method was run once on each data set; another seed may give another embedding."
    if recipe["subsample"]:
        yield "Replicates see parts of the points at the same k, which is a larger part of fewer points."
    if len(recipe["n_neighbors"]) == 1:
        yield f"Neighborhoods are those of k = {recipe['n_neighbors'][0]}; at another scale the order may be another."
    yield "Methods were run with the parameters below. With others, tuned to the data, the order may be another."
    yield "Measures ask different things; a method that is best by one may be last by another."


def study_settings(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings of the study."""
    measures = recipe["measures"]
    share, options = recipe["subsample"], recipe["options"]
    pairs = [
        ("Measures", measures if isinstance(measures, str) else ", ".join(measures)),
        ("Neighbors k", ", ".join(map(str, recipe["n_neighbors"]))),
        ("Metric", recipe["metric"]),
        ("Points of each replicate", f"{100 * share:g} %, drawn without replacement" if share else "all"),
        ("Anchors", f"{recipe['anchors']:,}" if recipe["anchors"] else "all points"),
        ("Options", "; ".join(f"{name}: {value}" for name, value in options.items())),
        ("Seed", str(recipe["random_state"])),
    ]
    return [(name, value) for name, value in pairs if value]


def dataset_row(name: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """One data set as the file knows it."""
    return {
        "name": name,
        "n": f"{about['n']:,}",
        "p": f"{about['p']:,}" if about["p"] else ABSENT,
        "sha": about["sha256"],
    }


def method_row(name: str, about: Mapping[str, Any]) -> dict[str, str]:
    """One method as the file knows it."""
    version = f" {about['version']}" if about.get("version") else ""
    return {"name": name, "what": f"{about['kind']} {about['what']}{version}", "parameters": about["parameters"]}
