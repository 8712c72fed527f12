"""The notes of an evaluation as its documents print them: each once, with the rows that it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dreval.records.frames import notes_of_table, of_whole
from dreval.records.notes import ASSUMPTION, FAILURE, LIMIT, Note
from dreval.records.results import Results
from dreval.report.format import adjusted_by, join_and
from dreval.report.result_view import interval_targets, measure_phrase

MAX_LISTED_NAMES = 8  # names that a note lists before it counts
MAX_SCOPE_NAMES = 4  # embeddings that a note on intervals names before it counts
MAX_REPEATED_SHARE = 0.1  # of the rows; more copies of rows are in a printed result
SEVERITY_ORDER = (ASSUMPTION, LIMIT, FAILURE)
FIRST_CODES = (
    "source.doubtful",
    "source.refitted",
    "source.rescaled",
)  # notes on which all values depend: printed before others of their weight
# Notes that a printed result says elsewhere, or that change no conclusion.
UNPRINTED_CODES = (
    "data.reference",
    "embedding.one_place",
    "inference.exact",
    "inference.fixed",
    "interval.coordinates",
    "interval.jumps",
    "kcca.leading",
    "lists.auto",
)
# Assumptions that are printed: guesses on which every value depends, by the beginning of their code.
PRINTED_ASSUMPTIONS = (
    *("covariates.", "data.pca_unused", "file.", "geodesic.obsp_unused", "graph.", "labels.", "lists.", "missing."),
    *("row.", "rows.", *FIRST_CODES),
)


def notes_that_matter(results: Results, *, with_tests: bool = True) -> list[str]:
    """Return the notes that change what a reader concludes, the most severe first."""
    codes, severities = results.notes["code"], results.notes["severity"]
    assumption = severities.eq(ASSUMPTION) & codes.str.startswith(PRINTED_ASSUMPTIONS)
    notes = notes_of_table(results.notes)
    many = MAX_REPEATED_SHARE * int(results.recipe.get("n") or 0)
    values = [dict(note.values) for note in notes]
    matter = [
        v.get("flatters") or (c == "data.repeated" and v["rows"] > many) for c, v in zip(codes, values, strict=True)
    ]
    assumption |= np.array(matter, dtype=bool)
    matters = (severities.ne(ASSUMPTION) | assumption) & ~codes.isin(UNPRINTED_CODES)
    matters &= with_tests | ~(codes.str.startswith("test.") | results.notes["test"].ne(""))
    relevant = replace(results, notes=results.notes[matters].reset_index(drop=True))
    first = {str(note) for note in notes_of_table(of_whole(relevant.notes)) if note.code in FIRST_CODES}
    weighted = _weighted_notes(relevant, failures=len(results.names) > 1)  # the failure of a single one is the answer
    return [text for _, text in sorted(weighted, key=lambda item: (-item[0], item[1] not in first))]


def printed_notes(results: Results, *, failures: bool = True, shell: bool = False) -> list[str]:
    """Return notes on the data, then those of rows, each once with its scope, then how to read."""
    recipe, table = results.recipe, results.table
    notes = [text for _, text in _weighted_notes(results, failures=failures)]
    methods = list(table[table["conf_method"] != ""].groupby("conf_method", sort=False))
    for method, part in methods:
        of = f" of {'; '.join(_interval_scopes(table, part))}" if len(methods) > 1 else ""
        targets = join_and(interval_targets(recipe, part.to_dict("records")))
        notes.append(f"{100 * part['conf_level'].iloc[0]:g} % intervals{of}: {method}, for {targets}.")
    if table["p_value"].notna().any():
        chance = "chance of a test: mean of its statistic under the null hypothesis"
        notes.append(f"p {adjusted_by(recipe.get('adjust'))}; {chance}.")
    names_by_note: dict[str, list[str]] = {}
    for name, record in results._out_of_sample.items():
        for item in record.notes:
            names_by_note.setdefault(str(item).rstrip("."), []).append(name)
    notes += [f"New points on {_name_list(names)}: {text}." for text, names in names_by_note.items()]
    return list(dict.fromkeys([*notes, *curve_notes(results, shell)]))


def curve_notes(results: Results, shell: bool) -> list[str]:
    """Return a note that names the curves of a result and where their values are; nothing without curves."""
    names = list(dict.fromkeys(results.curves["measure"]))
    place = "--plot, --table and --json" if shell else f"results.curve({names[0]!r})" if names else ""
    return [f"Curves over the number of neighbors K: {', '.join(names)}; see {place}."] if names else []


def _weighted_notes(results: Results, *, failures: bool = True) -> list[tuple[int, str]]:
    """Return each note once: its weight and its sentence."""
    row_notes = results.notes[~results.notes["embedding"].isin(results.failed)]
    notes_on_all = notes_of_table(of_whole(results.notes))
    weighted = [(SEVERITY_ORDER.index(note.severity), str(note)) for note in notes_on_all if note.severity != FAILURE]
    weighted += [(SEVERITY_ORDER.index(FAILURE), text) for text in _failure_notes(results)] if failures else []
    weighted += [(SEVERITY_ORDER.index(ASSUMPTION), text) for text in _replicate_notes(results.table)]
    for severity in dict.fromkeys(row_notes["severity"]):
        part = row_notes[row_notes["severity"] == severity]
        texts = [*_measure_notes(part[part["measure"] != ""], results), *_test_notes(part[part["test"] != ""])]
        weighted += [(SEVERITY_ORDER.index(severity), text) for text in texts]
    return list(dict.fromkeys(weighted))


def _replicate_notes(table: Any) -> Iterator[str]:
    """Yield whose values are means over runs, and what refers to the first run."""
    runs = table[table["test"] == ""].groupby("embedding", sort=False)["replicate"].max() + 1
    runs = runs[runs > 1]
    if len(runs):
        counts = ", ".join(f"{name} ({count})" for name, count in runs.items())
        yield f"Values are means over runs of the method: {counts}. Everything else refers to the first run."


def _interval_scopes(table: Any, part: Any) -> Iterator[str]:
    """Yield the measures of some intervals, with the embeddings where others have intervals of another kind."""
    names_by_measures: dict[tuple[str, ...], list[str]] = {}
    for measure, rows in part.groupby("measure", sort=False):
        others = table[(table["measure"] == measure) & (table["conf_method"] != "")]
        names = tuple(dict.fromkeys(rows["embedding"]))
        key = names if {*others["embedding"]} - {*names} else ()
        names_by_measures.setdefault(key, []).append(measure_phrase(measure))
    for names, measures in names_by_measures.items():
        listed = ", ".join(names) if len(names) <= MAX_SCOPE_NAMES else f"{len(names)} embeddings"
        yield f"{join_and(measures)} ({listed})" if names else ", ".join(measures)


def _without_name(note: Note, name: str) -> Note:
    """Return a note of one embedding without the name of the embedding."""
    return note.with_scope("").named({f"embeddings[{name!r}]": "embeddings[...]"})


def _failure_notes(results: Results) -> list[str]:
    """Return the embeddings that failed and the reasons; reasons that differ in the name only are one."""
    reasons: dict[Note, list[Note]] = {}
    for note in results.failures():
        reasons.setdefault(_without_name(note, note.scope), []).append(note)
    return [
        f"{_name_list([note.scope for note in notes])} failed: {notes[0].with_scope('') if len(notes) == 1 else reason}"
        for reason, notes in reasons.items()
    ]


def _measure_notes(noted: Any, results: Results) -> Iterator[str]:
    """Yield the notes on measures, each once, with the measures and embeddings that it refers to."""
    notes_by_text: dict[Note, dict[str, dict[str, Note]]] = {}
    for name, measure, note in zip(noted["embedding"], noted["measure"], notes_of_table(noted), strict=True):
        notes_by_text.setdefault(_without_name(note, name), {}).setdefault(name, {})[measure_phrase(measure)] = note
    computed = [name for name in results.names if name not in results.failed]
    measures = list(map(measure_phrase, results.table.loc[results.table["test"] == "", "measure"].unique()))
    for common, by_embedding in notes_by_text.items():
        groups: dict[tuple[str, ...], list[str]] = {}
        for name, measure_notes in by_embedding.items():
            groups.setdefault(tuple(measure_notes), []).append(name)
        places = [
            f"{_names_or_all(subset, measures, 'all measures')} of {_names_or_all(names, computed, 'all embeddings')}"
            for subset, names in groups.items()
        ]
        note = next(iter(next(iter(by_embedding.values())).values())) if len(by_embedding) == 1 else common
        yield f"{'; '.join(places)}: {str(note).rstrip('.')}."


def _names_or_all(names: Sequence[str], all_names: Sequence[str], all_text: str) -> str:
    """Return names with commas, or a text for all of them where there are more than two."""
    return all_text if len(all_names) > 2 and set(names) == set(all_names) else _name_list(names)


def _test_notes(noted: Any) -> list[str]:
    """Return the notes on tests, each once for all embeddings, variables and tests that it refers to."""
    places: dict[Note, list[tuple[str, str, str, Note]]] = {}
    cells = zip(noted["embedding"], noted["variable"], noted["test"], notes_of_table(noted), strict=True)
    for name, variable, test, note in cells:
        places.setdefault(_without_name(note, name), []).append((name, variable, test, note))
    sentences = []
    for common, note_places in places.items():
        variables_by_test: dict[tuple[str, str], list[str]] = {}
        for variable in dict.fromkeys(place[1] for place in note_places):
            names_by_test: dict[str, list[str]] = {}
            for name, place_variable, test, _ in note_places:
                names_by_test.setdefault(test, []).extend([name] if place_variable == variable else [])
            tests: dict[str, list[str]] = {}
            for test, names in names_by_test.items():
                tests.setdefault(_name_list(names), []).extend([test] if names else [])
            for names, some_tests in tests.items():
                if names:
                    variables_by_test.setdefault((names, _name_list(some_tests)), []).append(variable)
        text = note_places[0][3] if len({place[0] for place in note_places}) == 1 else common
        for (names, tests_said), variables in variables_by_test.items():
            sentences.append(f"{names} ~ {_name_list(variables)} ({tests_said}): {str(text).rstrip('.')}.")
    return sentences


def _name_list(names: Any) -> str:
    """Return names, each once, with commas; of many the first ones."""
    unique = list(dict.fromkeys(names))
    if len(unique) <= MAX_LISTED_NAMES + 1:
        return ", ".join(unique)
    return f"{', '.join(unique[:MAX_LISTED_NAMES])} and {len(unique) - MAX_LISTED_NAMES} more"
