"""The printed comparison: standings, overall tests and pairs of each measure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dreval.comparison.compare import TEST_NAMES
from dreval.glossary import TARGETS, format_number, format_p
from dreval.inference import intervals
from dreval.inference.ties import order_by_mean_rank
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name, notes_by_row
from dreval.records.notes import Note, Notes, joined
from dreval.report.contents.evaluation import fitted, measure_title, short_parameters
from dreval.report.document import CODES, Best, Block, Words, significance_stars
from dreval.report.format import ADJUSTMENTS, adjusted_by, in_words, ordered
from dreval.report.reading import BESIDE, Column, make_column, same
from dreval.report.render.markup import marked
from dreval.report.render.summary import Summary
from dreval.report.statements import named

SHORT = {"wilcoxon": "Wilcoxon signed-rank tests", "nemenyi": "Nemenyi's test", "mixed": "the mixed model"}

SAME_POINTS = "paired tests at the same points"
HALVES = "paired tests of runs on halves of the points"
SPOKEN = {
    "wilcoxon": "Wilcoxon signed-rank tests across data sets",
    "nemenyi": "Nemenyi's test across data sets",
    "mixed": "the mixed model across data sets",
    "jackknife": SAME_POINTS,
    "classes": "paired tests over the classes",
    "anchors": SAME_POINTS,
    "subsampling": SAME_POINTS,
    "seeds": "tests over runs with other seeds",
    "subsamples": HALVES,
}
FEW = " (the data sets are too few for signed ranks)"
OVERALL_TITLES = {
    "friedman": "Friedman chi-square",
    "iman_davenport": "Iman-Davenport F",
    "friedman_exact": "Friedman, by arrangements",
    "skillings_mack": "Skillings-Mack chi-square",
    "mixed": "Mixed model, Wald chi-square",
}
LOCATED = ("friedman_exact", "skillings_mack", "iman_davenport", "friedman")  # the first of which is quoted
PAIR_TITLES = {
    "jackknife": "paired differences",
    "classes": "paired differences over the classes",
    "anchors": "paired differences at anchors",
    "subsampling": "paired differences of halves",
    "seeds": "runs with other seeds",
    "subsamples": "paired differences of runs on halves",
    "nemenyi": "Nemenyi",
    "wilcoxon": "Wilcoxon signed-rank",
    "mixed": "mixed model",
    "bayes": "Bayesian signed-rank",
    "": "not tested",
}
TESTED = (("advantage", "advantage"), ("statistic", "t"), ("p_value", "p"), ("p_adjusted", "p adj."))
VERDICTS = {
    "equivalent": "equivalent to {} within the margin",
    "better": "better than {} by more than the margin",
    "worse": "worse than {} by more than the margin",
    "not shown": "not shown to be equivalent to {}",
}
EQUIVALENT = (("p_equivalence", "p equiv."), ("p_equivalence_adjusted", "p equiv. adj."))
PAIRED = (*TESTED, *EQUIVALENT, ("effect_size", "effect"), ("superiority", "P sup."))
PAIR_COLUMNS = {
    **dict.fromkeys(("jackknife", "classes", "anchors", "subsampling", "seeds", "subsamples", ""), PAIRED),
    "nemenyi": (("advantage", "ranks"), ("p_value", "p"), ("p_adjusted", "p adj.")),
    "wilcoxon": (
        ("n", "n"), ("n_used", "n differ"), ("advantage", "advantage"), ("statistic", "W"), ("p_value", "p"),
        ("p_adjusted", "p adj."), ("effect_size", "r"),
    ),
    "mixed": (("advantage", "advantage"), ("se", "se"), ("statistic", "z"), ("p_value", "p"), ("p_adjusted", "p adj.")),
    "bayes": (("advantage", "advantage"), ("p_first", "P first"), ("p_rope", "P equal"), ("p_second", "P second")),
}  # fmt: skip


LONG = 30  # rows of standings, or of pairs, beyond which a printed comparison is short
SHOWN = 10  # embeddings of a short table
NAMED = 3  # pairs or embeddings that a note names before it counts
MAX_OTHER_PAIRS = 6  # pairs without the best embedding that the first lines name before they count


def comparison_summary(comparison: Comparison, full: bool = False, *, shell: bool = False) -> Summary:
    """Header, the call, who is better than whom, then standings, overall tests and pairs by each test, and notes.

    Many standings become one table, of the best embeddings, and many pairs are counted; not in ``full``.
    """
    overall, pairs = comparison.overall, comparison.pairs
    short = not full and len(comparison.standing) > LONG
    blocks = [_side_by_side(comparison) if short else _standing(comparison)]
    blocks += [_overall(comparison)] if len(overall) else []
    left = len(pairs) if not full and len(pairs) > LONG else 0
    if not left:
        blocks += pair_blocks(comparison)
    title = "Comparison of embeddings" + (" across data sets" if comparison.families else "")
    lettered = not short or comparison.standing["embedding"].nunique() <= BESIDE
    call, notes = str(comparison.recipe.get("call") or ""), list(_notes(comparison, lettered))
    ways = "--full, --json" if shell else ".summary(full=True), .tidy()"
    several = len(comparison.measures) > 1 or pairs["test"].nunique() > 1  # rows are more than pairs
    rows = f"{left:,} {'rows of pairs' if several else 'pairs'}"
    more = f"{rows if left else 'All standings'}: {ways}." if left or short else ""
    said = list(outcomes(comparison))
    return Summary(title, _header(comparison), blocks, notes, call, said=said, more=more)


def outcomes(comparison: Comparison) -> Iterator[str]:
    """For each measure how the best embedding, or the baseline, fares against the others; alike ones together.

    First, where no difference could have been significant, that it is so. Then the other pairs that differ, so that
    each one is named where they are few.
    """
    silent: dict[str, list[str]] = {}
    for name in comparison.measures:
        if words := cannot_tell(comparison, name):
            silent.setdefault(words, []).append(measure_word(comparison, name))
    for words, measures in silent.items():
        yield f"{words[:-1]} ({ordered(measures)})." if len(silent[words]) < len(comparison.measures) else words
    found: dict[str, list[str]] = {}
    counts: dict[tuple[str, int], list[tuple[list[str], list[str], str]]] = {}
    for name in comparison.measures:
        lead, mine = _against_lead(comparison, name)
        if not len(mine):
            continue
        word = measure_word(comparison, name)
        others = [b if a == lead else a for a, b in zip(mine["first"], mine["second"], strict=True)]
        alike = [other for other, better in zip(others, mine["better"], strict=True) if better == ""]
        worse = [better for better in mine["better"] if better not in ("", lead)]
        behind = [other for other, better in zip(others, mine["better"], strict=True) if better == lead]
        if len(mine) >= BESIDE:
            counts.setdefault((lead, len(mine)), []).append((behind, worse, word))
            continue
        parts = [f"better than {_all_named(comparison, name, behind)}"] if behind else []
        parts += [f"worse than {ordered(list(map(marked, worse)))}"] if worse else []
        parts += [f"not distinguishable from {named(alike)}"] if alike else []
        found.setdefault(f"{marked(lead)} is {', '.join(parts)}", []).append(word)
    for text, measures in found.items():
        yield f"{text} by {ordered(measures)}." if len(comparison.measures) > 1 else f"{text}."
    for (lead, n), told in counts.items():
        some_worse, single = any(worse for _, worse, _ in told), len(comparison.measures) == 1
        said = [
            f"{_few_named(behind)}{f' and worse than {_few_named(worse)}' * some_worse}{f' by {word}' * (not single)}"
            for behind, worse, word in told
        ]
        rest = any(len(behind) + len(worse) < n for behind, worse, _ in told)
        by = ", better than ".join(said) if some_worse else ordered(said)
        end = "; the rest are not distinguishable from it" * rest
        yield f"Of the {n} others {marked(lead)} is better than {by}{end}."
    yield from _other_pairs(comparison)
    yield from _located_in_no_pair(comparison)
    yield from equivalences(comparison, comparison.measures)


def _all_named(comparison: Comparison, name: str, behind: Sequence[str]) -> str:
    """Return the embeddings that the best one is better than: their names, or that they are all others."""
    others = comparison.of(comparison.standing, name)["embedding"].nunique() - 1
    if len(behind) < max(others, 2):
        return ordered(list(map(marked, behind)))
    return "both others" if others == 2 else f"all {in_words(others)} others"


def _few_named(names: Sequence[str]) -> str:
    """Return a few names, or the number of more."""
    return ordered(list(map(marked, names))) if 0 < len(names) <= NAMED else str(len(names) or "none")


def _other_pairs(comparison: Comparison) -> Iterator[str]:
    """Yield the pairs that differ without the best embedding or the baseline: by name, or of many their number.

    A pair with the best embedding of one measure may differ by another measure, too: it is counted apart.
    """
    found: dict[tuple[str, str], list[str]] = {}
    led: set[frozenset[str]] = set()  # pairs that differ from the best embedding of a measure
    for name in comparison.measures:
        lead, _ = _against_lead(comparison, name)
        rows = _decided(comparison, name)
        rows = rows[rows["better"] != ""]
        for row in rows.to_dict("records"):
            if lead in (row["first"], row["second"]):
                led.add(frozenset((row["first"], row["second"])))
                continue
            worse = row["second"] if row["better"] == row["first"] else row["first"]
            found.setdefault((row["better"], worse), []).append(measure_word(comparison, name))
    if len(found) > MAX_OTHER_PAIRS:
        pairs = {frozenset(pair) for pair in found}
        others, more = len(pairs - led), len(pairs & led)
        said = [f"{others} other pair{'s' * (others != 1)} of embeddings"] if others else []
        said += [f"{more} of those above by further measures"] if more else []
        verb = "differs" if others + more == 1 else "differ"
        yield f"{' and '.join(said)} {verb} significantly{' by one or more measures' * (not more)}: see the pairs."
        return
    alike: dict[tuple[str, str], list[str]] = {}
    for (better, worse), measures in found.items():
        by = f" by {ordered(measures)}" * (len(comparison.measures) > 1)
        alike.setdefault((better, by), []).append(worse)
    for (better, by), worse_ones in alike.items():
        yield f"{marked(better)} is better than {ordered(list(map(marked, worse_ones)))}{by}."


def _located_in_no_pair(comparison: Comparison) -> Iterator[str]:
    """Where no difference of a pair is significant, although a test of any difference rejects."""
    decides = str(comparison.recipe.get("decided_by", ""))
    for name in comparison.measures if decides and len(comparison.overall) else ():
        pairs, any_of = comparison.of(comparison.pairs, name), comparison.of(comparison.overall, name)
        found = any_of.set_index("test")["p_value"].dropna()
        test = next((test for test in LOCATED if test in found), "")
        if (
            test
            and found[test] < comparison.recipe["alpha"]
            and not (pairs["better"][pairs["test"] == decides] != "").any()
        ):
            p = format_p(found[test], comparison.recipe["alpha"])
            by = f" by {measure_word(comparison, name)}" * (len(comparison.measures) > 1)
            said = f"{OVERALL_TITLES[test]}: p {p if p.startswith('<') else f'= {p}'}"
            yield (
                f"No difference of a pair is significant{by} in {SPOKEN[decides]}, although a test of any difference "
                f"rejects ({said})."
            )


def equivalences(comparison: Comparison, names: Sequence[str], write: Callable[[str], str] = marked) -> Iterator[str]:
    """What the tests against margins say, alike measures together; the verdicts on many pairs are counted."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for name in names:
        for row in comparison.of(comparison.pairs, name).to_dict("records"):
            if row["equivalence"]:
                found.setdefault((row["equivalence"], row["first"], row["second"]), []).append(
                    measure_word(comparison, name)
                )
    if len(found) > BESIDE:
        total: Counter[str] = Counter()
        for (verdict, _, _), measures in found.items():
            total[verdict] += len(measures)
        beyond = total["better"] + total["worse"]
        yield (
            f"Of {total.total()} differences tested against a margin {total['equivalent']} are within it, "
            f"{beyond} are larger than it, and {total['not shown']} are not shown to be within it."
        )
        return
    alike: dict[tuple[str, str, str], list[str]] = {}
    for (verdict, first, second), measures in found.items():
        by = f" by {ordered(measures)}" * (len(names) > 1)
        alike.setdefault((verdict, second, by), []).append(write(first))
    for verdict, text in VERDICTS.items():
        for (one, second, by), firsts in alike.items():
            if one == verdict:
                yield f"{ordered(firsts)} {'are' if len(firsts) > 1 else 'is'} {text.format(write(second))}{by}."


def _against_lead(comparison: Comparison, name: str) -> tuple[str, pd.DataFrame]:
    """The baseline, or the best embedding of one measure, and its tested pairs by the test that decides."""
    rows = _decided(comparison, name)
    lead = str(comparison.recipe.get("baseline") or comparison.of(comparison.standing, name)["embedding"].iloc[0])
    return lead, rows[(rows["first"] == lead) | (rows["second"] == lead)]


def _decided(comparison: Comparison, name: str) -> pd.DataFrame:
    """Return the tested pairs of one measure by the test that decides."""
    by, rows = str(comparison.recipe.get("decided_by", "")), comparison.of(comparison.pairs, name)
    return rows[((rows["test"] == by) if by else (rows["test"] != "bayes")) & rows["p_value"].notna()]


def measure_word(comparison: Comparison, name: str) -> str:
    """A measure in a sentence on all of them: its name, or of many its symbol."""
    column = column_of(comparison, name)
    word = column.named if len(comparison.measures) <= BESIDE // 2 else column.called
    return word + _setting(comparison, name)


def _setting(comparison: Comparison, name: str) -> str:
    """The parameters of a measure that stands in the comparison with several."""
    row = comparison.of(comparison.standing, name).iloc[0]
    several = sum(one.partition("(")[0] == row["measure"] for one in comparison.measures) > 1
    return f" ({short_parameters(row['parameters'])})" if several else ""


def column_of(comparison: Comparison, name: str) -> Column:
    """The values of one measure on one data set, or its means over several."""
    rows = comparison.of(comparison.standing, name)
    empty = {"conf_low": math.nan, "conf_high": math.nan, "chance": math.nan, "worst": math.nan, "best": math.nan}
    known = {"note": "", "direction": direction_of(comparison, name), "lower": math.nan, "upper": math.nan, **empty}
    made = [{**row, **known} for row in rows.to_dict("records")]
    return make_column(str(rows["measure"].iloc[0]), str(rows["parameters"].iloc[0]), made)


def _side_by_side(comparison: Comparison) -> Block:
    """Values, or mean ranks, of the best embeddings by mean rank, across by as many measures as fit.

    Of a few embeddings with their letters; of many a star marks those not distinguishable from the best, or where they
    are compared with a baseline those that are better than it.
    """
    baseline = str(comparison.recipe.get("baseline") or "")
    across, columns = bool(comparison.families), {name: column_of(comparison, name) for name in comparison.measures}
    names = comparison.standing["embedding"].unique()
    many = len(names) > BESIDE
    cells: dict[str, dict[str, str]] = {str(name): {} for name in names}
    for name, column in columns.items():
        lead, mine = _against_lead(comparison, name)
        worse = set(mine.loc[mine["better"] == lead, ["first", "second"]].to_numpy().ravel()) - {lead}
        ahead = {*mine["better"]} - {"", lead}
        for row in comparison.of(comparison.standing, name).to_dict("records"):
            text = format_number(row["mean_rank"], 2) if across else column.shown(row["value"])
            best = (row["embedding"] in ahead if baseline else row["embedding"] not in worse) and many and bool(text)
            text = text if many else " ".join(filter(None, [text, row["letters"]]))
            cells[row["embedding"]][name] = Best(text) if best else text
    order = by_mean_rank(comparison)
    settings = " and settings" * (comparison.standing["measure"].nunique() < len(columns))
    some = "both" if len(columns) == 2 else f"all {in_words(len(columns))}"
    over = f" over {some} measures{settings}" * (len(columns) > 1)
    shown = order[:SHOWN] if many else order

    def block(some: Sequence[str]) -> Block:
        lines = [[name, *(cells[name].get(one, "") for one in some)] for name in shown]
        lines += [[f"... {len(order) - len(shown)} more", *[""] * len(some)]] if len(shown) < len(order) else []
        names = [f"{columns[one].called}{_setting(comparison, one)}" for one in some]
        down = [" ↓" * (columns[one].direction == "lower") for one in some]
        heads = [Words(f"{word}{arrow}") for word, arrow in zip(names, down, strict=True)]
        key = list(dict.fromkeys(f"{columns[one].called} {columns[one].named}" for one in some if columns[one].symbol))
        mark = f"significantly better than {baseline}" if baseline else "not significantly worse than the best"
        left = len(columns) - len(some)
        more = [f"{in_words(left)} more measure{'s' * (left > 1)}"] if left else []
        return Block(
            f"{'Mean ranks' if across else 'Values'}, embeddings by their mean rank{over}",
            ["", *heads],
            lines,
            foot=f"{'; '.join([*key, *more])}." if key or more else "",
            best=mark if many else "",
        )

    return fitted(list(columns), block) if many else block(list(columns))


def by_mean_rank(comparison: Comparison) -> list[str]:
    """Return the embeddings by their mean rank over all measures: ranks of values, or over data sets mean ranks."""
    results, known = comparison.results, {*comparison.standing["embedding"]}
    names = list(dict.fromkeys(comparison.standing["embedding"])) if results is None else results.names
    ranks: dict[str, list[float]] = {name: [] for name in names if name in known}
    for name in comparison.measures:
        rows = comparison.of(comparison.standing, name)
        own = dict(zip(rows["embedding"], rows["mean_rank"], strict=True))
        for one, rank in (own if comparison.families else column_of(comparison, name).ranks_of_values).items():
            ranks[one].append(float(rank))
    return order_by_mean_rank(ranks)


def equal_maps(comparison: Comparison) -> list[set[str]]:
    """Return the groups of embeddings that are the same map; over data sets, that have equal values by all measures."""
    if comparison.results is not None:
        return [{*names} for names in same(comparison.results)]
    names = list(dict.fromkeys(comparison.standing["embedding"]))
    families = comparison.families.values()
    columns = [dict(zip(family.names, family.goodness.T, strict=True)) for family in families]
    groups: dict[tuple[bytes, ...], set[str]] = {}
    for name in names:
        values = tuple((column[name] + 0.0).tobytes() if name in column else b"" for column in columns)
        groups.setdefault(values, set()).add(name)
    return [group for group in groups.values() if len(group) > 1]


def heading(comparison: Comparison, name: str) -> str:
    """One measure in words: title, which way is better, and its setting."""
    row = comparison.of(comparison.standing, name).iloc[0]
    short, title = short_parameters(row["parameters"]), measure_title(row["measure"])
    return f"{title}, {direction_of(comparison, name)} is better" + (f", {short}" if short else "")


def direction_of(comparison: Comparison, name: str) -> str:
    """Which way is better."""
    if comparison.families:
        return "higher" if comparison.families[name].higher else "lower"
    row = comparison.of(comparison.standing, name).iloc[0]
    table = comparison.results.table if comparison.results is not None else comparison.standing
    return str(table.loc[table["measure"] == row["measure"], "direction"].iloc[0])


def _header(comparison: Comparison) -> list[tuple[str, str]]:
    recipe = comparison.recipe
    adjust = recipe["adjust"]
    head = [("Embeddings", format_number(comparison.standing["embedding"].nunique()))]
    if comparison.families:
        data = {name for family in comparison.families.values() for name in family.cells.index}
        head.insert(0, ("Data sets", format_number(len(data))))
    else:
        head = [("Data", str(recipe.get("dataset") or "")), ("Points n", format_number(recipe.get("n"))), *head]
    rope = [] if recipe["rope"] is None else [("Practically equal below", f"{recipe['rope']:g}")]
    margins = dict(recipe.get("margin") or {})
    called = {name.partition("(")[0]: column_of(comparison, name).called for name in comparison.measures}
    rope += [(f"Equivalence margin, {called[name]}", f"{value:g}") for name, value in margins.items()]
    levels, own = [("Level", f"{recipe['alpha']:g}")], recipe.get("conf_level")
    if own is not None and not math.isclose(own, 1 - recipe["alpha"]):
        levels.append(("Intervals of differences", f"{100 * (1 - recipe['alpha']):g} %"))
        levels.append(("Intervals of values", f"{100 * own:g} %"))
    return [*head, *levels, ("Adjusted by", ADJUSTMENTS.get(adjust, adjust)), *rope]


def _sections(
    comparison: Comparison, table: pd.DataFrame, line: Callable[[dict[Any, Any]], list[str]]
) -> list[list[str]]:
    """The rows of a table, those of one measure below its heading; the title of the first table names an only one."""
    lines: list[list[str]] = []
    for name in comparison.measures:
        rows = comparison.of(table, name).to_dict("records")
        lines += [[heading(comparison, name)]] if rows and len(comparison.measures) > 1 else []
        lines += map(line, rows)
    return lines


def _standing(comparison: Comparison) -> Block:
    """Values, mean ranks and letters."""
    standing = comparison.standing
    columns = [("mean_rank", "mean rank"), ("value", "value"), ("sd", "sd"), ("n", "n"), ("letters", "letters")]
    shown = [(key, title) for key, title in columns if (standing[key].notna() & (standing[key] != "")).any()]
    shown = shown if comparison.families else [pair for pair in shown if pair[0] != "n"]
    lines = _sections(comparison, standing, lambda row: [row["embedding"], *(_cell(key, row[key]) for key, _ in shown)])
    only = len(comparison.measures) == 1
    title = heading(comparison, comparison.measures[0]) if only else "Standing, the best first"
    return Block(title, ["", *(title for _, title in shown)], lines)


def _overall(comparison: Comparison) -> Block:
    """Tests of any difference."""

    def line(row: dict[Any, Any]) -> list[str]:
        degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
        value = format_number(float(row["statistic"])) or "missing"
        p = row["p_value"]
        return [OVERALL_TITLES[row["test"]], value, degrees, format_p(p, comparison.recipe["alpha"]), _stars(p)]

    lines = _sections(comparison, comparison.overall, line)
    return Block("Any difference", ["", "value", "df", "p", ""], lines, foot=_foot(lines))


def pair_blocks(comparison: Comparison) -> list[Block]:
    """The tables of pairs, one for each test."""
    made = [_pairs(comparison, str(test)) for test in dict.fromkeys(comparison.pairs["test"])]
    return [block for block in made if block is not None]


def _pairs(comparison: Comparison, test: str) -> Block | None:
    """All pairs by one test; None where it has no number for any, which a note explains."""
    rows = comparison.pairs[comparison.pairs["test"] == test]
    shown = [(key, title) for key, title in PAIR_COLUMNS[test] if rows[key].notna().any()]
    if all(key == "n" for key, _ in shown):
        return None
    rows = rows.assign(n_used=rows["n_used"].where(rows["n_used"].notna(), rows["n"]))  # those without ties use all
    alpha = comparison.recipe["alpha"]
    known = {
        name: {key for key, _ in shown if comparison.of(rows, name)[key].notna().any()} for name in comparison.measures
    }

    def line(row: dict[Any, Any]) -> list[str]:
        p = row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"]
        having = known[full_name(row["measure"], row["parameters"])]
        cells = [_cell(key, row[key], alpha) or "missing" * (key in having) for key, _ in shown]
        return [row["first"], row["second"], *cells, "" if test == "bayes" else _stars(p)]

    lines = _sections(comparison, rows, line)
    columns, foot = ["first", "second", *(title for _, title in shown), ""], _foot(lines)
    if not foot:  # no stars
        columns, lines = columns[:-1], [row[:-1] if len(row) > 1 else row for row in lines]
    return Block(f"Pairs: {PAIR_TITLES[test]}", columns, lines, 2, foot)


def _foot(lines: list[list[str]]) -> str:
    """What the codes mean, where there are any."""
    return CODES if any(line[-1] for line in lines if len(line) > 1) else ""


def _cell(key: str, value: Any, alpha: float = 0.05) -> str:
    """One cell of a table."""
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


def _notes(comparison: Comparison, lettered: bool = True) -> Iterator[str]:
    """Notes of the comparison, of rows, and how to read."""
    if not comparison.families:
        yield from _method_notes(comparison.pairs)
    by_row = notes_by_row(comparison.notes)
    for (measure, parameters, first, _, test), notes in by_row.items():
        if not (first or test):
            said = (str(one).rstrip(".") for one in notes)
            yield from (f"{full_name(measure, parameters)}: {text}." if measure else f"{text}." for text in said)
    rows = {key: notes for key, notes in by_row.items() if key[2] or key[4]}
    if comparison.families:
        where: dict[Notes, list[str]] = {}  # the tests that the notes of rows belong to
        for key, notes in rows.items():
            where.setdefault(notes, []).append(key[4])
        yield from (
            f"{', '.join(dict.fromkeys(names))}: {joined(notes).rstrip('.')}." for notes, names in where.items()
        )
    else:
        yield from _pair_notes(comparison, rows)
    if not comparison.families:
        yield (
            "The best sets of ranking() ask only, measure by measure, who is worse than the best: they may tell "
            "embeddings apart that these two-sided tests leave open."
        )
    yield "Advantage of the first: positive when it is better, whichever way the measure points."
    yield from _letter_notes(comparison) if lettered else ()
    adjust = comparison.recipe["adjust"]
    yield f"p of pairs {adjusted_by(adjust)}{' within this table and test' if adjust in ADJUSTMENTS else ''}."


def _pair_notes(comparison: Comparison, rows: Mapping[tuple[Any, ...], Notes]) -> Iterator[str]:
    """What is said of pairs, each once with its measures; embeddings or pairs are named where it is not said of all."""
    counts = comparison.pairs.groupby(["measure", "parameters"]).size().to_dict()
    every = set(comparison.standing["embedding"])
    places: dict[tuple[Note, str, str], list[tuple[str, str, tuple[str, ...]]]] = {}
    for (measure, parameters, first, second, _), notes in rows.items():
        for one in notes:
            key = (one.altered(embeddings=()), measure, parameters)
            places.setdefault(key, []).append((first, second, dict(one.values).get("embeddings", ())))
    said: dict[tuple[Note, str], list[str]] = {}
    for (one, measure, parameters), found in places.items():
        values, where = {key for key, _ in one.values}, ""
        if "embeddings" in values:
            names = list(dict.fromkeys(name for *_, some in found for name in some))
            short = names if len(names) <= NAMED else [f"{len(names)} of {len(every)} embeddings"]
            one = one.altered(embeddings=("any embedding",) if len(every) > 2 and {*names} == every else tuple(short))
        elif "embedding" not in values and len(found) < counts[measure, parameters]:
            pairs = [f"{first} and {second}" for first, second, _ in found]
            left = f"{len(pairs):,} of {counts[measure, parameters]:,} pairs"
            where = f" ({'; '.join(pairs) if len(pairs) <= NAMED else left})"
        said.setdefault((one, where), []).append(measure)
    for (one, where), measures in said.items():
        yield f"{', '.join(dict.fromkeys(measures))}{where}: {str(one).rstrip('.')}."


def _method_notes(pairs: pd.DataFrame) -> Iterator[str]:
    """How the pairs of one data set were tested, and what the tests refer to."""
    kinds = {test: kind for kind, test in TEST_NAMES.items()}
    for test in filter(None, dict.fromkeys(pairs["test"])):
        kind, drawn = kinds.get(test, test), pairs["p_low"].notna() & (pairs["test"] == test)
        target = TARGETS[kind if kind in TARGETS else intervals.TARGETS[kind]]
        if kind == "seeds":
            yield f"Differences of means over runs with other seeds, for {target}; Welch's t."
            continue
        if not (drawn | (pairs["p_kind"] == "bound"))[pairs["test"] == test].all():
            yield f"Paired differences: {intervals.METHODS[kind]}, for {target}; Student's t."
        if drawn.any():
            names = ", ".join(dict.fromkeys(pairs.loc[drawn, "measure"]))
            yield (
                f"{names}: {intervals.METHODS['partitions']}, for {target}; Student's t. Partitions are drawn at "
                "random: p_low and p_high bound the p that other seeds give."
            )


def _letter_notes(comparison: Comparison) -> Iterator[str]:
    """How letters are read, and where there are none because a pair that they need has no test."""
    said = letter_words(comparison)
    if said:
        yield said
    tested = [name for name in comparison.measures if (comparison.of(comparison.pairs, name)["test"] != "bayes").any()]
    without = [name for name in tested if (comparison.of(comparison.standing, name)["letters"] == "").all()]
    if without:
        yield f"{', '.join(without)}: no letters, since not every pair was tested."


def cannot_tell(comparison: Comparison, name: str) -> str:
    """That no pair of a measure could have been significant, in a sentence; empty where one could."""
    recipe = comparison.recipe
    least = recipe.get("attainable", {}).get(name, 0.0)
    if least <= recipe["alpha"]:
        return ""
    n = len(comparison.families[name].cells)
    p = "p" if recipe["adjust"] == "nothing" else "adjusted p"
    by = SHORT[recipe["decided_by"]]
    return f"No difference could have been significant here: on {n} data sets {by} can have no {p} below {least:.2g}."


def letter_words(comparison: Comparison, things: str = "Embeddings") -> str:
    """How letters are read and by which test they go, in a sentence; empty where there are none."""
    found: dict[str, list[str]] = {}
    for name in comparison.measures:
        if (comparison.of(comparison.standing, name)["letters"] != "").any():
            found.setdefault(_spoken(comparison, name), []).append(name)
    if not found:
        return ""
    said = list(found)
    if len(found) > 1:
        said = [f"{test} ({', '.join(names)})" for test, names in found.items()]
    where = " on a measure" if len(comparison.measures) > 1 else ""
    return f"{things} that share a letter{where} do not differ significantly by {'; by '.join(said)}."


def _spoken(comparison: Comparison, name: str) -> str:
    """The test behind the letters of one measure in words, with how its p was adjusted."""
    tests = (
        {comparison.recipe["decided_by"]} if comparison.families else set(comparison.of(comparison.pairs, name)["test"])
    )
    said = " and ".join(dict.fromkeys(SPOKEN[test] for test in sorted(tests)))
    few = comparison.families and tests != {"wilcoxon"} and "wilcoxon" in set(comparison.pairs["test"])
    return f"{said}{FEW if few else ''}, {adjusted_by(comparison.recipe['adjust'])}"
