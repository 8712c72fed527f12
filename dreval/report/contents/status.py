"""What is printed of the progress of a study, and of the folder of a protocol."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from dreval.journal.study_file import STATES
from dreval.protocol.returned import ProtocolStatus
from dreval.records.frames import notes_in
from dreval.records.notes import Note, Notes
from dreval.report.document import Block, format_duration
from dreval.report.render.summary import Summary
from dreval.study.study import StudyStatus, shortened_reason

LINES = 40  # of a larger study only the pairs are printed that are not simply done
REASONS = 10
KNOWN = 20  # notes on data sets and methods that are printed


def study_summary(status: StudyStatus) -> Summary:
    """Numbers of cells by state, for each data set and method, and what to do next."""
    cells = status.cells
    header = [
        ("File", status.name),
        ("Data sets", f"{cells['dataset'].nunique()}"),
        ("Methods", f"{cells['embedding'].nunique()}"),
        ("Replicates", f"{cells['replicate'].nunique()}"),
        ("Cells", f"{len(cells):,}"),
        *((state.capitalize(), f"{status.count(state):,}") for state in STATES),
        ("Computing", format_duration(status.seconds)),
    ]
    return Summary("Study", header, [_cells(status)] if len(cells) else [], _study_notes(status))


def _cells(status: StudyStatus) -> Block:
    table = status.table
    title, unsettled = "Cells of each data set and method", table[list(STATES[1:])].sum(axis=1) > 0
    if len(table) > LINES:
        hidden = int((~unsettled).sum())
        title, table = f"{title}; {hidden:,} pairs that are done are not shown", table[unsettled].head(LINES)
    rows = [
        [
            row["dataset"],
            row["embedding"],
            *(str(row[state] or "") for state in STATES),
            format_duration(row["seconds"]),
        ]
        for row in table.to_dict("records")
    ]
    return Block(title, ["data set", "method", *STATES, "computing"], rows, names=2)


def _study_notes(status: StudyStatus) -> list[str]:
    """Why cells failed, what methods warned of, what must be known of the data, and what to do next."""
    notes = []
    failures: dict[Any, list[int]] = {}  # those of one argument that broke one rule, whatever the values, are alike
    for place, (state, found) in enumerate(zip(status.cells["state"], status.cells["notes"], strict=True)):
        if state == "failed":
            values = dict(found[0].values)
            failures.setdefault((found[0].code, values.get("argument"), values.get("rule")), []).append(place)
    for places in list(failures.values())[:REASONS]:
        failed = status.cells.iloc[places]
        said = [shortened_reason(reason) for reason in dict.fromkeys(failed["reason"])]
        more = f" (and {len(said) - 1} with other values)" if len(said) > 1 else ""
        notes.append(f"{_counted(len(failed))} failed, {_places(failed)}: {said[0]}{more}")
    if len(failures) > REASONS:
        notes.append(f"{len(failures) - REASONS} more reasons are in `failures`.")
    notes += study_warnings(status)[:REASONS]
    known = study_known(status)
    notes += known[:KNOWN]
    if len(known) > KNOWN:
        notes.append(f"{len(known) - KNOWN} more notes are in `notes`.")
    same = [name for name in status.deterministic if (status.cells["embedding"] == name).any()]
    if same and status.cells["replicate"].nunique() > 1:
        what = "has the same coordinates in all replicates on the same points"
        names, draws = ", ".join(same), "measures that draw (folds, samples of pairs) differ"
        notes.append(f"Seeds change nothing in {names}: each {what}; {draws}.")
    if not status.complete:
        notes.append("run() continues; what is done is not computed again.")
    elif status.count("failed"):
        notes.append("run(retry_failed=True) tries again what failed.")
    return notes


def study_warnings(status: StudyStatus) -> list[str]:
    """What cells warned of; cells that warned of the same are named together."""
    warned: dict[Notes, list[int]] = {}
    for place, (state, found) in enumerate(zip(status.cells["state"], status.cells["notes"], strict=True)):
        if said := tuple(found[1:] if state == "failed" else found):  # the first is the reason of the failure
            warned.setdefault(said, []).append(place)
    texts = []
    for said, places in warned.items():
        cells = status.cells.iloc[places]
        texts.append(f"{_counted(len(cells))} warned, {_places(cells)}: {'; '.join(map(str, said))}")
    return texts


def study_known(status: StudyStatus) -> list[str]:
    """What must be known of data sets and methods; data sets of which the same is known are named together."""
    found: dict[Note, list[str]] = {}
    for dataset, one in zip(status.notes["dataset"], notes_in(status.notes), strict=True):
        found.setdefault(one, []).append(dataset)
    return [f"On {_some(dict.fromkeys(names), 'data sets')}: {one}" for one, names in found.items()]


def _counted(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _places(cells: pd.DataFrame) -> str:
    """Methods and data sets of cells."""
    return " on ".join(_some(dict.fromkeys(cells[key]), "of them") for key in ("embedding", "dataset"))


def _some(names: Collection[str], what: str) -> str:
    """Up to three names, else their number."""
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} {what}"


def protocol_summary(status: ProtocolStatus) -> Summary:
    """Files by round, what is wrong, and what to do now."""
    rows = []
    for number in sorted(set(status.table["round"])):
        states = status.table.loc[status.table["round"] == number, "state"].tolist()
        counts = [len(states), *(states.count(state) for state in ("returned", "missing", "wrong"))]
        rows.append([str(number), *map(str, counts)])
    blocks = [Block("Files", ["round", "expected", "returned", "missing", "wrong"], rows)]
    wrong = [str(note) for note in status.table.loc[status.table["state"] == "wrong", "note"]]
    more = [f"{len(wrong) - 5} more files are wrong."] if len(wrong) > 5 else []
    first = [f"The first that is missing: {status.missing[0]}."] if status.missing else []
    header = [*status.header, ("Round", f"{status.round} of {status.rounds}")]
    return Summary("Protocol", header, blocks, [*status.notes, *wrong[:5], *more, *first, status.next_step])
