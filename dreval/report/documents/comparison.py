"""The printed comparison: values and letters, overall tests and pairs of each measure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dreval.comparison.compare import TEST_NAMES
from dreval.glossary import TARGETS, format_number, format_p
from dreval.inference import intervals
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name, keys_by_full_name, notes_by_row
from dreval.records.notes import Note, Notes, join_notes
from dreval.report.comparison_view import (
    OVERALL_TITLES,
    PAIR_TITLES,
    TEST_TITLES,
    against_lead,
    by_mean_rank,
    column_of,
    decisive_pairs,
    measure_heading,
    measure_label,
    setting_suffix,
)
from dreval.report.document import CODES, Cell, Document, Table, record_document, significance_stars
from dreval.report.document import Column as TableColumn
from dreval.report.documents.evaluation import fit_columns
from dreval.report.findings import list_names
from dreval.report.format import ADJUSTMENTS, adjusted_by, join_and, number_word
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import MAX_SIDE_BY_SIDE

SAME_POINTS_TEST = "paired tests at the same points"
HALVES_TEST = "paired tests of runs on halves of the points"
TEST_PHRASES = {
    "wilcoxon": "Wilcoxon signed-rank tests across data sets",
    "nemenyi": "Nemenyi's test across data sets",
    "mixed": "the mixed model across data sets",
    "jackknife": SAME_POINTS_TEST,
    "classes": "paired tests over the classes",
    "anchors": SAME_POINTS_TEST,
    "subsampling": SAME_POINTS_TEST,
    "seeds": "tests over runs with other seeds",
    "subsamples": HALVES_TEST,
}
FEW_DATA_SETS_REMARK = " (the data sets are too few for signed ranks)"
OVERALL_PRIORITY = ("friedman_exact", "skillings_mack", "iman_davenport", "friedman")  # the first of which is quoted
TEST_COLUMNS = (("advantage", "advantage"), ("statistic", "t"), ("p_value", "p"), ("p_adjusted", "p adj."))
VERDICTS = {
    "equivalent": "equivalent to {} within the margin",
    "better": "better than {} by more than the margin",
    "worse": "worse than {} by more than the margin",
    "not shown": "not shown to be equivalent to {}",
}
EQUIVALENCE_COLUMNS = (("p_equivalence", "p equiv."), ("p_equivalence_adjusted", "p equiv. adj."))
PAIRED_COLUMNS = (*TEST_COLUMNS, *EQUIVALENCE_COLUMNS, ("effect_size", "effect"), ("superiority", "P sup."))
PAIR_COLUMNS = {
    **dict.fromkeys(("jackknife", "classes", "anchors", "subsampling", "seeds", "subsamples", ""), PAIRED_COLUMNS),
    "nemenyi": (("advantage", "ranks"), ("p_value", "p"), ("p_adjusted", "p adj.")),
    "wilcoxon": (
        ("n", "n"), ("n_used", "n differ"), ("advantage", "advantage"), ("statistic", "W"), ("p_value", "p"),
        ("p_adjusted", "p adj."), ("effect_size", "r"),
    ),
    "mixed": (("advantage", "advantage"), ("se", "se"), ("statistic", "z"), ("p_value", "p"), ("p_adjusted", "p adj.")),
    "bayes": (("advantage", "advantage"), ("p_first", "P first"), ("p_rope", "P equal"), ("p_second", "P second")),
}  # fmt: skip


MAX_PRINTED_ROWS = 30  # rows of standings, or of pairs, beyond which a printed comparison is short
SHORT_TABLE_EMBEDDINGS = 10  # embeddings of a short table
MAX_NAMED = 3  # pairs or embeddings that a note names before it counts
MAX_OTHER_PAIRS = 6  # pairs without the best embedding that the first lines name before they count


def comparison_summary(comparison: Comparison, full: bool = False, *, shell: bool = False) -> Document:
    """Return header, call, outcomes, and the tables of values, overall tests and pairs, with notes.

    If there are many rows, one table has the best embeddings, and pairs are counted; not in ``full``.
    """
    overall, pairs = comparison.overall, comparison.pairs
    short = not full and len(comparison.standing) > MAX_PRINTED_ROWS
    tables = [_wide_standing_table(comparison) if short else _standing_table(comparison)]
    tables += [_overall_table(comparison)] if len(overall) else []
    omitted_pairs = len(pairs) if not full and len(pairs) > MAX_PRINTED_ROWS else 0
    if not omitted_pairs:
        tables += pair_tables(comparison)
    title = "Comparison of embeddings" + (" across data sets" if comparison.families else "")
    has_letters = not short or comparison.standing["embedding"].nunique() <= MAX_SIDE_BY_SIDE
    call, notes = str(comparison.recipe.get("call") or ""), list(_notes(comparison, has_letters))
    options = "--full, --json" if shell else ".summary(full=True), .tidy()"
    several = len(comparison.measures) > 1 or pairs["test"].nunique() > 1  # rows are more than pairs
    rows = f"{omitted_pairs:,} {'rows of pairs' if several else 'pairs'}"
    further = f"{rows if omitted_pairs else 'All standings'}: {options}." if omitted_pairs or short else ""
    findings = list(outcomes(comparison))
    return record_document(title, _header(comparison), tables, notes, call, findings=findings, further=further)


def outcomes(comparison: Comparison) -> Iterator[str]:
    """Yield for each measure how the best embedding, or the baseline, compares to the others; equal ones together.

    The first sentence says where no difference could have been significant. The last ones name the other pairs that
    differ, or count them.
    """
    powerless: dict[str, list[str]] = {}
    for name in comparison.measures:
        if text := powerless_text(comparison, name):
            powerless.setdefault(text, []).append(measure_label(comparison, name))
    for text, measures in powerless.items():
        yield f"{text[:-1]} ({join_and(measures)})." if len(powerless[text]) < len(comparison.measures) else text
    sentences: dict[str, list[str]] = {}
    counts: dict[tuple[str, int], list[tuple[list[str], list[str], str]]] = {}
    for name in comparison.measures:
        lead, pairs = against_lead(comparison, name)
        if not len(pairs):
            continue
        label = measure_label(comparison, name)
        opponents = [b if a == lead else a for a, b in zip(pairs["first"], pairs["second"], strict=True)]
        undecided = [other for other, better in zip(opponents, pairs["better"], strict=True) if better == ""]
        better_than_lead = [better for better in pairs["better"] if better not in ("", lead)]
        worse_than_lead = [other for other, better in zip(opponents, pairs["better"], strict=True) if better == lead]
        if len(pairs) >= MAX_SIDE_BY_SIDE:
            counts.setdefault((lead, len(pairs)), []).append((worse_than_lead, better_than_lead, label))
            continue
        parts = [f"better than {_names_or_all(comparison, name, worse_than_lead)}"] if worse_than_lead else []
        parts += [f"worse than {join_and(list(map(isolate_name, better_than_lead)))}"] if better_than_lead else []
        parts += [f"not distinguishable from {list_names(undecided)}"] if undecided else []
        sentences.setdefault(f"{isolate_name(lead)} is {', '.join(parts)}", []).append(label)
    for text, measures in sentences.items():
        yield f"{text} by {join_and(measures)}." if len(comparison.measures) > 1 else f"{text}."
    for (lead, n), results in counts.items():
        any_better, single = any(better_than_lead for _, better_than_lead, _ in results), len(comparison.measures) == 1
        parts_by_measure = [
            _names_or_count(worse)
            + (f" and worse than {_names_or_count(better)}" if any_better else "")
            + ("" if single else f" by {label}")
            for worse, better, label in results
        ]
        has_undecided = any(
            len(worse_than_lead) + len(better_than_lead) < n for worse_than_lead, better_than_lead, _ in results
        )
        by = ", better than ".join(parts_by_measure) if any_better else join_and(parts_by_measure)
        end = "; the rest are not distinguishable from it" * has_undecided
        yield f"Of the {n} others {isolate_name(lead)} is better than {by}{end}."
    yield from _other_pairs(comparison)
    yield from _overall_without_pair(comparison)
    yield from equivalences(comparison, comparison.measures)


def _names_or_all(comparison: Comparison, name: str, names: Sequence[str]) -> str:
    """Return the embeddings that the best one is better than: their names, or that they are all others."""
    n_others = comparison.of(comparison.standing, name)["embedding"].nunique() - 1
    if len(names) < max(n_others, 2):
        return join_and(list(map(isolate_name, names)))
    return "both others" if n_others == 2 else f"all {number_word(n_others)} others"


def _names_or_count(names: Sequence[str]) -> str:
    """Return a few names, or the number of many."""
    return join_and(list(map(isolate_name, names))) if 0 < len(names) <= MAX_NAMED else str(len(names) or "none")


def _other_pairs(comparison: Comparison) -> Iterator[str]:
    """Yield the pairs that differ without the best embedding or the baseline: by name, or their number if many.

    A pair with the best embedding of one measure may differ by another measure, too: it is counted separately.
    """
    measures_by_pair: dict[tuple[str, str], list[str]] = {}
    lead_pairs: set[frozenset[str]] = set()  # pairs that differ from the best embedding of a measure
    for name in comparison.measures:
        lead, _ = against_lead(comparison, name)
        rows = decisive_pairs(comparison, name)
        rows = rows[rows["better"] != ""]
        for row in rows.to_dict("records"):
            if lead in (row["first"], row["second"]):
                lead_pairs.add(frozenset((row["first"], row["second"])))
                continue
            worse = row["second"] if row["better"] == row["first"] else row["first"]
            measures_by_pair.setdefault((row["better"], worse), []).append(measure_label(comparison, name))
    if len(measures_by_pair) > MAX_OTHER_PAIRS:
        pairs = {frozenset(pair) for pair in measures_by_pair}
        n_others, n_lead_pairs = len(pairs - lead_pairs), len(pairs & lead_pairs)
        counts = [f"{n_others} other pair{'s' * (n_others != 1)} of embeddings"] if n_others else []
        counts += [f"{n_lead_pairs} of those above by further measures"] if n_lead_pairs else []
        verb = "differs" if n_others + n_lead_pairs == 1 else "differ"
        by = "" if n_lead_pairs else " by one or more measures"
        yield f"{' and '.join(counts)} {verb} significantly{by}: see the pairs."
        return
    worse_by_better: dict[tuple[str, str], list[str]] = {}
    for (better, worse), measures in measures_by_pair.items():
        by = f" by {join_and(measures)}" * (len(comparison.measures) > 1)
        worse_by_better.setdefault((better, by), []).append(worse)
    for (better, by), worse_ones in worse_by_better.items():
        yield f"{isolate_name(better)} is better than {join_and(list(map(isolate_name, worse_ones)))}{by}."


def _overall_without_pair(comparison: Comparison) -> Iterator[str]:
    """Yield that no difference of a pair is significant although an overall test rejects."""
    deciding_test = str(comparison.recipe.get("decided_by", ""))
    for name in comparison.measures if deciding_test and len(comparison.overall) else ():
        pairs, overall = comparison.of(comparison.pairs, name), comparison.of(comparison.overall, name)
        p_values = overall.set_index("test")["p_value"].dropna()
        test = next((test for test in OVERALL_PRIORITY if test in p_values), "")
        if (
            test
            and p_values[test] < comparison.recipe["alpha"]
            and not (pairs["better"][pairs["test"] == deciding_test] != "").any()
        ):
            p = format_p(p_values[test], comparison.recipe["alpha"])
            by = f" by {measure_label(comparison, name)}" * (len(comparison.measures) > 1)
            test_text = f"{OVERALL_TITLES[test]}: p {p if p.startswith('<') else f'= {p}'}"
            yield (
                f"No difference of a pair is significant{by} in {TEST_PHRASES[deciding_test]}, although a test of any "
                f"difference rejects ({test_text})."
            )


def equivalences(
    comparison: Comparison, names: Sequence[str], write: Callable[[str], str] = isolate_name
) -> Iterator[str]:
    """Yield the verdicts of the tests against margins, equal measures together; many verdicts are counted."""
    measures_by_verdict: dict[tuple[str, str, str], list[str]] = {}
    for name in names:
        for row in comparison.of(comparison.pairs, name).to_dict("records"):
            if row["equivalence"]:
                measures_by_verdict.setdefault((row["equivalence"], row["first"], row["second"]), []).append(
                    measure_label(comparison, name)
                )
    if len(measures_by_verdict) > MAX_SIDE_BY_SIDE:
        total: Counter[str] = Counter()
        for (verdict, _, _), measures in measures_by_verdict.items():
            total[verdict] += len(measures)
        beyond = total["better"] + total["worse"]
        yield (
            f"Of {total.total()} differences tested against a margin {total['equivalent']} are within it, "
            f"{beyond} are larger than it, and {total['not shown']} are not shown to be within it."
        )
        return
    firsts_by_verdict: dict[tuple[str, str, str], list[str]] = {}
    for (verdict, first, second), measures in measures_by_verdict.items():
        by = f" by {join_and(measures)}" * (len(names) > 1)
        firsts_by_verdict.setdefault((verdict, second, by), []).append(write(first))
    for verdict, text in VERDICTS.items():
        for (pair_verdict, second, by), firsts in firsts_by_verdict.items():
            if pair_verdict == verdict:
                yield f"{join_and(firsts)} {'are' if len(firsts) > 1 else 'is'} {text.format(write(second))}{by}."


def _wide_standing_table(comparison: Comparison) -> Table:
    """Return the best embeddings as rows and the measures as columns.

    A few embeddings have their letters. Of many, a star marks those not distinguishable from the best or, with a
    baseline, those that are better than the baseline.
    """
    baseline = str(comparison.recipe.get("baseline") or "")
    has_families, columns = (
        bool(comparison.families),
        {name: column_of(comparison, name) for name in comparison.measures},
    )
    names = comparison.standing["embedding"].unique()
    has_many = len(names) > MAX_SIDE_BY_SIDE
    cells: dict[str, dict[str, str]] = {str(name): {} for name in names}
    for name, column in columns.items():
        lead, lead_pairs = against_lead(comparison, name)
        worse = set(lead_pairs.loc[lead_pairs["better"] == lead, ["first", "second"]].to_numpy().ravel()) - {lead}
        ahead = {*lead_pairs["better"]} - {"", lead}
        for row in comparison.of(comparison.standing, name).to_dict("records"):
            text = format_number(row["mean_rank"], 2) if has_families else column.format_value(row["value"])
            best = (
                (row["embedding"] in ahead if baseline else row["embedding"] not in worse) and has_many and bool(text)
            )
            text = text if has_many else " ".join(filter(None, [text, row["letters"]]))
            cells[row["embedding"]][name] = Cell(text, emphasis="best") if best else text
    order = by_mean_rank(comparison)
    settings = " and settings" * (comparison.standing["measure"].nunique() < len(columns))
    quantifier = "both" if len(columns) == 2 else f"all {number_word(len(columns))}"
    over = f" over {quantifier} measures{settings}" * (len(columns) > 1)
    listed = order[:SHORT_TABLE_EMBEDDINGS] if has_many else order

    def make_table(measures: Sequence[str]) -> Table:
        lines = [[name, *(cells[name].get(measure, "") for measure in measures)] for name in listed]
        lines += [[f"... {len(order) - len(listed)} more", *[""] * len(measures)]] if len(listed) < len(order) else []
        names = [f"{columns[measure].short_title}{setting_suffix(comparison, measure)}" for measure in measures]
        down = [" ↓" * (columns[measure].direction == "lower") for measure in measures]
        heads = [TableColumn(f"{word}{arrow}") for word, arrow in zip(names, down, strict=True)]
        key = list(
            dict.fromkeys(
                f"{columns[measure].short_title} {columns[measure].title_in_sentence}"
                for measure in measures
                if columns[measure].symbol
            )
        )
        best_text = f"significantly better than {baseline}" if baseline else "not significantly worse than the best"
        n_omitted = len(columns) - len(measures)
        further = [f"{number_word(n_omitted)} more measure{'s' * (n_omitted > 1)}"] if n_omitted else []
        return Table(
            f"{'Mean ranks' if has_families else 'Values'}, embeddings by their mean rank{over}",
            ["", *heads],
            lines,
            foot=f"{'; '.join([*key, *further])}." if key or further else "",
            best=best_text if has_many else "",
        )

    return fit_columns(list(columns), make_table) if has_many else make_table(list(columns))


def _header(comparison: Comparison) -> list[tuple[str, str]]:
    recipe = comparison.recipe
    adjust = recipe["adjust"]
    header = [("Embeddings", format_number(comparison.standing["embedding"].nunique()))]
    if comparison.families:
        data = {name for family in comparison.families.values() for name in family.cells.index}
        header.insert(0, ("Data sets", format_number(len(data))))
    else:
        header = [("Data", str(recipe.get("dataset") or "")), ("Points n", format_number(recipe.get("n"))), *header]
    rope = [] if recipe["rope"] is None else [("Practically equal below", f"{recipe['rope']:g}")]
    margins = dict(recipe.get("margin") or {})
    keys = keys_by_full_name(comparison.standing)
    called = {measure: column_of(comparison, name).short_title for name, (measure, _) in keys.items()}
    rope += [(f"Equivalence margin, {called[name]}", f"{value:g}") for name, value in margins.items()]
    levels, value_level = [("Level", f"{recipe['alpha']:g}")], recipe.get("conf_level")
    if value_level is not None and not math.isclose(value_level, 1 - recipe["alpha"]):
        levels.append(("Intervals of differences", f"{100 * (1 - recipe['alpha']):g} %"))
        levels.append(("Intervals of values", f"{100 * value_level:g} %"))
    return [*header, *levels, ("Adjusted by", ADJUSTMENTS.get(adjust, adjust)), *rope]


def _sections(
    comparison: Comparison, table: pd.DataFrame, line: Callable[[dict[Any, Any]], list[str]]
) -> list[list[str]]:
    """Return the rows of a table, each measure below its heading; a single measure is named by the table title."""
    lines: list[list[str]] = []
    for name in comparison.measures:
        rows = comparison.of(table, name).to_dict("records")
        lines += [[measure_heading(comparison, name)]] if rows and len(comparison.measures) > 1 else []
        lines += map(line, rows)
    return lines


def _standing_table(comparison: Comparison) -> Table:
    """Return the table of values, mean ranks and letters."""
    standing = comparison.standing
    columns = [("mean_rank", "mean rank"), ("value", "value"), ("sd", "sd"), ("n", "n"), ("letters", "letters")]
    columns_with_values = [
        (key, title) for key, title in columns if (standing[key].notna() & (standing[key] != "")).any()
    ]
    columns_with_values = (
        columns_with_values if comparison.families else [pair for pair in columns_with_values if pair[0] != "n"]
    )
    lines = _sections(
        comparison, standing, lambda row: [row["embedding"], *(_cell(key, row[key]) for key, _ in columns_with_values)]
    )
    only = len(comparison.measures) == 1
    title = measure_heading(comparison, comparison.measures[0]) if only else "Standing, the best first"
    return Table(title, ["", *(title for _, title in columns_with_values)], lines)


def _overall_table(comparison: Comparison) -> Table:
    """Return the table of the tests of any difference."""

    def line(row: dict[Any, Any]) -> list[str]:
        degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
        value = format_number(float(row["statistic"])) or "missing"
        p = row["p_value"]
        return [OVERALL_TITLES[row["test"]], value, degrees, format_p(p, comparison.recipe["alpha"]), _stars(p)]

    lines = _sections(comparison, comparison.overall, line)
    return Table("Any difference", ["", "value", "df", "p", ""], lines, foot=_foot(lines))


def pair_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of pairs, one for each test."""
    tables = [_pair_table(comparison, str(test)) for test in dict.fromkeys(comparison.pairs["test"])]
    return [table for table in tables if table is not None]


def _pair_table(comparison: Comparison, test: str) -> Table | None:
    """Return all pairs by one test; None if it has no number for any pair, which a note explains."""
    rows = comparison.pairs[comparison.pairs["test"] == test]
    columns_with_values = [(key, title) for key, title in PAIR_COLUMNS[test] if rows[key].notna().any()]
    if all(key == "n" for key, _ in columns_with_values):
        return None
    rows = rows.assign(n_used=rows["n_used"].where(rows["n_used"].notna(), rows["n"]))  # those without ties use all
    alpha = comparison.recipe["alpha"]
    keys_by_measure = {
        name: {key for key, _ in columns_with_values if comparison.of(rows, name)[key].notna().any()}
        for name in comparison.measures
    }

    def line(row: dict[Any, Any]) -> list[str]:
        p = row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"]
        keys = keys_by_measure[full_name(row["measure"], row["parameters"])]
        cells = [_cell(key, row[key], alpha) or "missing" * (key in keys) for key, _ in columns_with_values]
        return [row["first"], row["second"], *cells, "" if test == "bayes" else _stars(p)]

    lines = _sections(comparison, rows, line)
    columns, foot = ["first", "second", *(title for _, title in columns_with_values), ""], _foot(lines)
    if not foot:  # no stars
        columns, lines = columns[:-1], [row[:-1] if len(row) > 1 else row for row in lines]
    return Table(f"Pairs: {PAIR_TITLES[test]}", columns, lines, 2, foot)


def _foot(lines: list[list[str]]) -> str:
    """Return the explanation of the significance codes, where there are any."""
    return CODES if any(line[-1] for line in lines if len(line) > 1) else ""


def _cell(key: str, value: Any, alpha: float = 0.05) -> str:
    """Return one cell of a table."""
    if key in ("p_value", "p_adjusted", "p_equivalence", "p_equivalence_adjusted"):
        return format_p(value, alpha)
    if key == "letters":
        return str(value)
    if key in ("n", "n_used"):
        return format_number(int(value))
    if key in ("p_first", "p_rope", "p_second"):
        return f"{value:.4f}"
    return format_number(float(value), {"mean_rank": 2, "statistic": 2, "superiority": 3, "effect_size": 3}.get(key, 4))


def _stars(p: float) -> str:
    return significance_stars(p) if p == p else ""


def _notes(comparison: Comparison, has_letters: bool = True) -> Iterator[str]:
    """Yield the notes of the comparison, those of rows, and how to read the tables."""
    if not comparison.families:
        yield from _method_notes(comparison.pairs)
    by_row = notes_by_row(comparison.notes)
    for (measure, parameters, first, _, test), notes in by_row.items():
        if not (first or test):
            texts = (str(note).rstrip(".") for note in notes)
            yield from (f"{full_name(measure, parameters)}: {text}." if measure else f"{text}." for text in texts)
    rows = {key: notes for key, notes in by_row.items() if key[2] or key[4]}
    if comparison.families:
        tests_by_notes: dict[Notes, list[str]] = {}  # the tests that the notes of rows belong to
        for key, notes in rows.items():
            tests_by_notes.setdefault(notes, []).append(key[4])
        yield from (
            f"{', '.join(dict.fromkeys(names))}: {join_notes(notes).rstrip('.')}."
            for notes, names in tests_by_notes.items()
        )
    else:
        yield from _pair_notes(comparison, rows)
    if not comparison.families:
        yield (
            "The best sets of ranking() ask only, measure by measure, who is worse than the best: they may tell "
            "embeddings apart that these two-sided tests leave open."
        )
    yield "Advantage of the first: positive when it is better, whichever way the measure points."
    yield from _letter_notes(comparison) if has_letters else ()
    adjust = comparison.recipe["adjust"]
    yield f"p of pairs {adjusted_by(adjust)}{' within this table and test' if adjust in ADJUSTMENTS else ''}."


def _pair_notes(comparison: Comparison, rows: Mapping[tuple[Any, ...], Notes]) -> Iterator[str]:
    """Yield the notes of pairs, each once with its measures; embeddings or pairs are named unless it holds for all."""
    counts = comparison.pairs.groupby(["measure", "parameters"]).size().to_dict()
    embeddings = set(comparison.standing["embedding"])
    places: dict[tuple[Note, str, str], list[tuple[str, str, tuple[str, ...]]]] = {}
    for (measure, parameters, first, second, _), notes in rows.items():
        for note in notes:
            key = (note.with_values(embeddings=()), measure, parameters)
            places.setdefault(key, []).append((first, second, dict(note.values).get("embeddings", ())))
    measures_by_note: dict[tuple[Note, str], list[str]] = {}
    for (note, measure, parameters), pair_places in places.items():
        values, suffix = {key for key, _ in note.values}, ""
        if "embeddings" in values:
            names = list(dict.fromkeys(name for *_, affected in pair_places for name in affected))
            short = names if len(names) <= MAX_NAMED else [f"{len(names)} of {len(embeddings)} embeddings"]
            note = note.with_values(
                embeddings=("any embedding",) if len(embeddings) > 2 and {*names} == embeddings else tuple(short)
            )
        elif "embedding" not in values and len(pair_places) < counts[measure, parameters]:
            pairs = [f"{first} and {second}" for first, second, _ in pair_places]
            left = f"{len(pairs):,} of {counts[measure, parameters]:,} pairs"
            suffix = f" ({'; '.join(pairs) if len(pairs) <= MAX_NAMED else left})"
        measures_by_note.setdefault((note, suffix), []).append(measure)
    for (note, suffix), measures in measures_by_note.items():
        yield f"{', '.join(dict.fromkeys(measures))}{suffix}: {str(note).rstrip('.')}."


def _method_notes(pairs: pd.DataFrame) -> Iterator[str]:
    """Yield how the pairs of one data set were tested, and the population that the tests refer to."""
    kinds = {test: kind for kind, test in TEST_NAMES.items()}
    for test in filter(None, dict.fromkeys(pairs["test"])):
        kind, random_pairs = kinds.get(test, test), pairs["p_low"].notna() & (pairs["test"] == test)
        target = TARGETS[kind if kind in TARGETS else intervals.TARGETS[kind]]
        if kind == "seeds":
            yield f"Differences of means over runs with other seeds, for {target}; Welch's t."
            continue
        if not (random_pairs | (pairs["p_kind"] == "bound"))[pairs["test"] == test].all():
            yield f"Paired differences: {intervals.METHODS[kind]}, for {target}; Student's t."
        if random_pairs.any():
            names = ", ".join(dict.fromkeys(pairs.loc[random_pairs, "measure"]))
            yield (
                f"{names}: {intervals.METHODS['partitions']}, for {target}; Student's t. Partitions are drawn at "
                "random: p_low and p_high bound the p that other seeds give."
            )


def _letter_notes(comparison: Comparison) -> Iterator[str]:
    """Yield how to read letters, and which measures have none because a pair was not tested."""
    text = letter_text(comparison)
    if text:
        yield text
    tested = [name for name in comparison.measures if (comparison.of(comparison.pairs, name)["test"] != "bayes").any()]
    without_letters = [name for name in tested if (comparison.of(comparison.standing, name)["letters"] == "").all()]
    if without_letters:
        yield f"{', '.join(without_letters)}: no letters, since not every pair was tested."


def powerless_text(comparison: Comparison, name: str) -> str:
    """Return that no pair of a measure could have been significant; empty where one could."""
    recipe = comparison.recipe
    smallest = recipe.get("attainable", {}).get(name, 0.0)
    if smallest <= recipe["alpha"]:
        return ""
    n = len(comparison.families[name].cells)
    p = "p" if recipe["adjust"] == "nothing" else "adjusted p"
    by = TEST_TITLES[recipe["decided_by"]]
    return (
        f"No difference could have been significant here: on {n} data sets {by} can have no {p} below {smallest:.2g}."
    )


def letter_text(comparison: Comparison, noun: str = "Embeddings") -> str:
    """Return how to read letters and which test they rest on, in a sentence; empty where there are none."""
    measures_by_test: dict[str, list[str]] = {}
    for name in comparison.measures:
        if (comparison.of(comparison.standing, name)["letters"] != "").any():
            measures_by_test.setdefault(_letter_test(comparison, name), []).append(name)
    if not measures_by_test:
        return ""
    tests = list(measures_by_test)
    if len(measures_by_test) > 1:
        tests = [f"{test} ({', '.join(names)})" for test, names in measures_by_test.items()]
    where = " on a measure" if len(comparison.measures) > 1 else ""
    return f"{noun} that share a letter{where} do not differ significantly by {'; by '.join(tests)}."


def _letter_test(comparison: Comparison, name: str) -> str:
    """Return the test behind the letters of one measure in words, with the adjustment of its p."""
    tests = (
        {comparison.recipe["decided_by"]} if comparison.families else set(comparison.of(comparison.pairs, name)["test"])
    )
    phrase = " and ".join(dict.fromkeys(TEST_PHRASES[test] for test in sorted(tests)))
    remark = comparison.families and tests != {"wilcoxon"} and "wilcoxon" in set(comparison.pairs["test"])
    return f"{phrase}{FEW_DATA_SETS_REMARK if remark else ''}, {adjusted_by(comparison.recipe['adjust'])}"
