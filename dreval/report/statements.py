"""Numbers become words: what each value says of its embedding, what all share, and which embedding is best at what.

Sentences come from the cards of the measures; which embedding is best, from the best set of ``Results.ranking`` alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from dreval.measures.core import GOALS
from dreval.records.answers import LEVEL
from dreval.records.frames import of_method
from dreval.records.results import Results
from dreval.report.format import counted, fixed, in_words, of_hundred, ordered, p_words, without_zero
from dreval.report.reading import PERSONS, SCALE, Cell, Column, Reading, parameter, parameter_words
from dreval.report.render.markup import marked

EXACT = 1e-9  # values nearer than that to a bound are the bound, up to rounding
LISTED = 3  # names in a sentence before the rest is counted
MORE = 4  # places behind those of the table in which two values of a sentence differ
# How a value counts: by the way from chance to perfect; or it is not told from chance, is worse, or ties leave it open.
HOLDS, MOSTLY, FAILS, CHANCE, WORSE, OPEN = "holds", "mostly", "fails", "chance", "worse", "open"
BARE = (CHANCE, WORSE, OPEN)  # what is said with the measures behind a colon
POOR = {FAILS, CHANCE, WORSE}
# Which is best at a goal, or that none is; that measures disagree; how an embedding stands; what has no value, and
# which embeddings are the same.
BEST, NONE, SPLIT, TIED = "best", "none", "split", "tied"
STANDS, MISSING, FAILED, EQUAL = "stands", "missing", "failed", "equal"
RESIDUAL = "residual"  # the variable of tests of what the embedding leaves of the data
REFERENCE = "reference"  # which embeddings are the data
UNCLEAR = "No embedding is distinguishable as the best"

Row = tuple[str, str, str]  # measure, parameters, embedding


MOST_NAMED = 3  # embeddings that the metric's entry names before it counts


def passed(source: Mapping[str, Any]) -> bool:
    """Return whether the metric of an evaluation reaches the method of an embedding, or there is no method."""
    return source.get("metric_passed") is not False


def metric_words(recipe: Mapping[str, Any], *, short: bool = False) -> str:
    """Return the metric of an evaluation, and the embeddings whose methods did not get it, or (short) how many."""
    metric, sources = str(recipe.get("metric") or ""), recipe.get("sources") or {}
    names = [name for name, about in sources.items() if not passed(about)]
    if not names:
        return metric
    if short:
        return f"{metric} (not of {counted(len(names), 'method')})"
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return f"{metric} (not passed to the method{'s' * (len(names) > 1)} of {ordered([*names[:MOST_NAMED], *more])})"


@dataclass(frozen=True)
class Statement:
    """A sentence with what it rests on.

    Attributes
    ----------
    text : str
        The sentence; names of embeddings stand between marks (``render.markup.sentence``).
    kind : str
        What is said, one of the words above.
    rows : tuple of (measure, parameters, embedding)
        The rows of ``results.table``, and for what is best of ``results.ranking()``, from which it can be recomputed.
    """

    text: str
    kind: str
    rows: tuple[Row, ...] = ()


class Said(NamedTuple):
    """What values of several measures say alike of one embedding: the sentence, how they count, and their columns."""

    words: str
    kind: str
    columns: tuple[Column, ...]


def way(column: Column, value: float, chance: float) -> float:
    """How far a value lies from chance (0) to perfect (1); NaN where there is no chance level or no bound.

    Where chance is what a good embedding reaches, how far it lies from the worst value (0) to chance (1).
    """
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    if at_chance(column):
        perfect, chance = chance, column.bounds[0] if column.higher else column.bounds[1]
    span = perfect - chance
    return (value - chance) / span if math.isfinite(span) and span != 0 else math.nan


def in_chance(column: Column, cell: Cell) -> bool:
    """Whether the value is not better than the chance level, or its interval reaches chance."""
    if math.isnan(cell.chance):
        return False
    edge = (cell.low if column.higher else cell.high) if cell.has_interval else cell.value
    return not column.better(edge, cell.chance) or not column.better(cell.value, cell.chance)


def at_chance(column: Column) -> bool:
    """Whether the chance level is what a good embedding reaches."""
    return bool(column.goal) and GOALS[column.goal].at_chance


def is_worse(column: Column, cell: Cell) -> bool:
    """Whether the whole interval is worse than the chance level."""
    return cell.has_interval and column.better(cell.chance, cell.high if column.higher else cell.low)


def grade(column: Column, cell: Cell) -> str:
    """How a value counts; empty where it says nothing: between the grades, or where chance is perfect as well."""
    if not column.ranks or cell.missing:
        return ""
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    orders = (cell.worst, cell.best) if cell.has_ties else ()
    if all(math.isclose(end, perfect, rel_tol=EXACT, abs_tol=EXACT) for end in (cell.value, cell.chance, *orders)):
        return ""
    found = _graded(column, cell)
    return OPEN if any(_graded(column, cell.moved(end)) != found for end in orders) else found


def _graded(column: Column, cell: Cell) -> str:
    """How a value counts, whatever the order of ties."""
    if not at_chance(column) and in_chance(column, cell):
        return WORSE if is_worse(column, cell) else CHANCE
    share, (fails, holds) = way(column, cell.value, cell.chance), column.grades
    if math.isnan(share):
        return ""
    return FAILS if share < fails else HOLDS if share >= holds else MOSTLY if len(column.says) != 2 else ""


def words_of(column: Column, kind: str) -> str:
    """The sentence of a grade, without its full stop, from the card."""
    if kind == CHANCE:
        return "Not told from chance"
    if kind == WORSE:
        return "Worse than chance"
    if kind == OPEN:
        return "Left open by equal distances"
    if column.says:
        return column.says[{HOLDS: 0, MOSTLY: 1, FAILS: -1}[kind]]
    where = {HOLDS: "near its best", MOSTLY: "nearer to its best than to chance", FAILS: "nearer to chance"}[kind]
    return f"{column.title} is {where}"


def said_of(reading: Reading, name: str) -> list[Said]:
    """What can be said of one embedding, what holds first; measures that say the same are one."""
    found: dict[tuple[str, str], list[Column]] = {}
    for column in reading.by_goal if name not in reading.unranked else ():
        kind = grade(column, column.cells[name]) if name in column.values else ""
        if kind:
            found.setdefault((words_of(column, kind), kind), []).append(column)
    order = [HOLDS, MOSTLY, FAILS, CHANCE, WORSE, OPEN]
    made = [Said(words, kind, tuple(columns)) for (words, kind), columns in found.items()]
    return sorted(made, key=lambda one: order.index(one.kind))


def statements_of(reading: Reading, name: str, *, without: Iterable[Statement] = ()) -> list[Statement]:
    """The statements on one embedding, but what those ``without`` say of it already."""
    if name in reading.failed:
        return [Statement(f"Could not be computed: {marked(reading.failed[name])}", FAILED)]
    if name in reading.collapsed:
        return [Statement("All points lie in one place: this embedding shows nothing of the data.", FAILED)]
    if name in reading.reference:
        return [Statement("These are the data, shown for reference.", REFERENCE)]
    told, made = {row for one in without for row in one.rows}, []
    for one in said_of(reading, name):
        left = tuple(column for column in one.columns if not told.intersection(_rows([column], [name])))
        if left:
            text = _with_values(reading, one._replace(columns=left), [name])
            made.append(Statement(f"{text}.", one.kind, _rows(left, [name])))
    return made


def shared(reading: Reading) -> list[Statement]:
    """What the same measures say of every embedding alike; nothing of fewer than two."""
    names = [name for name in reading.computed if name not in reading.unranked]
    every = [{(one.words, one.kind): one.columns for one in said_of(reading, name)} for name in names]
    made = []
    for (words, kind), columns in every[0].items() if len(names) > 1 else ():
        others = [{(c.measure, c.parameters) for c in mine.get((words, kind), ())} for mine in every]
        common = [c for c in columns if all((c.measure, c.parameters) in mine for mine in others)]
        if common:
            by = ordered([column.called for column in common])
            words += _at(reading, common)
            text = f"{words}: {by}." if kind in BARE else f"{words} ({by})."
            made.append(Statement(text, kind, _rows(common, names)))
    return made


def _rows(columns: Iterable[Column], names: Sequence[str]) -> tuple[Row, ...]:
    return tuple((c.measure, c.parameters, name) for c in columns for name in names if name in c.values)


def _at(reading: Reading, columns: Sequence[Column]) -> str:
    """Of which k some measures speak, where others were asked for as well."""
    scaled = any(parameter(column.parameters, SCALE) == str(reading.k) for column in columns)
    return f" at k = {reading.k}" * (scaled and len(reading.scales) > 1)


def _with_values(reading: Reading, said: Said, names: Sequence[str]) -> str:
    """A sentence with the values behind it: of one share in words, else symbols with numbers in parentheses."""
    first = said.columns[0]
    if len(said.columns) == 1 and first.share and said.kind not in BARE:
        return f"{said.words}: {_percents(_values(first, names))} {share_words(first)}"
    ends = _ends if said.kind == OPEN else _values
    values = [f"{column.called}\u00a0{_span(ends(column, names), column)}" for column in said.columns]
    at = _at(reading, said.columns)
    return f"{said.words}{at}: {ordered(values)}" if said.kind in BARE else f"{said.words}{at} ({', '.join(values)})"


def _values(column: Column, names: Sequence[str]) -> list[float]:
    return [column.values[name] for name in names if name in column.values]


def _ends(column: Column, names: Sequence[str]) -> list[float]:
    cells = [column.cells[name] for name in names if name in column.values]
    return [end for cell in cells for end in ((cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,))]


def _span(values: Sequence[float], column: Column) -> str:
    """One value as it is printed, or the smallest and the largest."""
    ends = [column.shown(end) for end in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _percents(values: Sequence[float]) -> str:
    """Shares in percent: one, or the smallest and the largest."""
    ends = [of_hundred(end) for end in (min(values), max(values))]
    return f"{ends[0] if ends[0] == ends[1] else f'{ends[0]} to {ends[1]}'} %"


def share_words(column: Column) -> str:
    """What a share is the share of, with its parameters."""
    return column.share.format(n_neighbors=parameter(column.parameters, "n_neighbors"))


# Which embedding is best ----------------------------------------------------------------------------------------------


def leading(columns: Sequence[Column]) -> Column:
    """The one of several measures whose values are given in words: a share before others."""
    return next((column for column in columns if column.share), columns[0])


class Contest(NamedTuple):
    """One column by which embeddings are compared, with its best set and all others, some of which are not judged."""

    column: Column
    best: tuple[str, ...]
    others: tuple[str, ...]
    tested: bool
    unjudged: tuple[str, ...] = ()
    alike: bool = False

    @property
    def clear(self) -> bool:
        """Whether one embedding, or several that are the same map, is significantly better than all others."""
        alone = len(self.best) == 1 or (self.alike and bool(self.others))
        return self.tested and alone and not self.unjudged


def contests(reading: Reading) -> list[Contest]:
    """The columns by which embeddings are compared, without those that ties or missing tests leave open."""
    found = (contest(reading, column) for column in reading.by_goal if not is_tied(reading, column))
    return [one for one in found if one is not None]


def contest(reading: Reading, column: Column) -> Contest | None:
    """How the embeddings compare by one column; None where it compares none.

    An embedding whose points all lie in one place is best at nothing, whatever its values.
    """
    at = reading.standing(column)
    best, unjudged = (tuple(n for n in some if n not in reading.unranked) for some in (at.best, at.unjudged))
    if not best or len(column.compared) < 2:
        return None
    others = tuple(name for name in column.compared if name not in (*best, *reading.unranked))
    return Contest(column, best, others, at.tested, unjudged, _alike(reading, best))


def _alike(reading: Reading, names: Sequence[str]) -> bool:
    """Return whether several embeddings are all the same map."""
    return len(names) > 1 and any({*names} <= {*group} for group in reading.equal)


def is_tied(reading: Reading, column: Column) -> bool:
    """Whether another order of equal distances may bring another embedding above the one that is best."""
    best = reading.standing(column).best
    single = len(best) == 1 or _alike(reading, best)
    if not single or len(column.compared) < 2 or best[0] in reading.collapsed:
        return False
    return any(column.ties_overlap(name, (*reading.unranked, *best)) for name in best)


class Borderline(NamedTuple):
    """A difference that ``ranking`` calls significant and ``compare`` does not, with the p-values of both."""

    column: Column
    best: str
    other: str
    p_ranking: float
    p_compare: float


def borderlines(reading: Reading, one: Contest) -> list[Borderline]:
    """Return the borderline differences by which embeddings are outside the best set of a column, least clear first.

    ``Results.ranking`` tests, one-sided and for each measure by itself, whether an embedding is worse than the best.
    ``Results.compare`` tests every pair, two-sided and adjusted over all pairs and measures. The difference of an
    embedding outside the best set is borderline if ``compare`` has tests of it against embeddings in the set and none
    of their p-values is at most its level.
    """
    if not one.tested or reading.comparison is None:
        return []
    alpha, p_values = reading.comparison.recipe["alpha"], reading.standing(one.column).p_values
    key = one.column.measure, one.column.parameters
    found = []
    for other in one.others:
        pairs = {best: reading.pair_p_values.get((*key, frozenset((best, other)))) for best in one.best}
        known = {best: p for best, p in pairs.items() if p is not None}
        best = min(known, key=known.__getitem__, default="")
        if other not in one.unjudged and other in p_values and best and known[best] > alpha:
            found.append(Borderline(one.column, best, other, p_values[other], known[best]))
    return sorted(found, key=lambda at: -at.p_compare)


def borderline_words(reading: Reading, part: Sequence[Contest]) -> str:
    """Return by which of some measures the best set is borderline, and which pairs, of the least clear with both p.

    Empty where it is so by none, else a sentence behind another one.
    """
    found = [borderlines(reading, one) for one in part]
    lines = sorted((at for some in found for at in some), key=lambda at: -at.p_compare)
    if not lines:
        return ""
    worst, *others = lines
    columns = [one.column.called for one, some in zip(part, found, strict=True) if some]
    by = f" by {ordered(columns)}" * (len(part) > 1)
    which = f"by {worst.column.called}, " * (len(columns) > 1)
    measures: dict[tuple[str, str], list[str]] = {}
    for at in others:
        measures.setdefault((at.best, at.other), []).append(at.column.called)
    same_pair = measures.pop((worst.best, worst.other), [])
    also = [f"by {ordered(same_pair)}"] if same_pair else []
    for (best, other), called in measures.items():
        whose = "" if best == worst.best else f"{marked(best)} "
        also.append(f"{whose}against {marked(other)}{f' by {ordered(called)}' * (len(columns) > 1)}")
    also = also if len(also) <= LISTED else [*also[: LISTED - 1], f"{len(also) - LISTED + 1} more pairs"]
    more = f"; also {ordered(also)}" if also else ""
    pair = f"{marked(worst.best)} against {marked(worst.other)}"
    return f" Borderline{by} ({which}{pair}: {both_p(reading, worst)}{more})."


def both_p(reading: Reading, at: Borderline) -> str:
    """Return the p-values of ``ranking`` and ``compare`` for one difference, in words."""
    tests = len(reading.pair_p_values)
    adjusted = f" and adjusted for all {tests:,} tests" * (tests > 1)
    one_sided = f"{p_words(at.p_ranking)} one-sided against the best of this measure"
    return f"{one_sided}; not significant two-sided{adjusted}, {p_words(at.p_compare)}"


def best_words(best: Sequence[str], tested: bool, values: str = "the best value") -> str:
    """Which embeddings are best, where not one alone is significantly better than all others."""
    several = len(best) > 1
    verb = f"{'are' if several else 'is'} among the best" if tested else f"{'have' if several else 'has'} {values}"
    return f"{named(best)} {verb}"


def standing_words(reading: Reading, column: Column) -> str:
    """Which embeddings are best by one column, and which could not be tested, without the full stop."""
    one = contest(reading, column)
    if one is None:
        alike = len(column.compared) > 1 and len(set(map(column.shown, column.compared.values()))) == 1
        only = "No embedding is judged"
        only = f"Only {named(list(column.compared))} has a value" if len(column.compared) == 1 else only
        return "All embeddings have the same value" if alike else only
    if is_tied(reading, column):
        return "Equal distances leave open which embedding is best"
    if not one.tested:
        return f"{best_words(one.best, tested=False)}, not tested"
    if not one.others and len(one.best) > 1:
        return UNCLEAR
    open_ones = f" ({named(one.unjudged)} not tested)" if one.unjudged else ""
    if one.clear:
        lines = borderlines(reading, one)
        whose = f" against {named([at.other for at in lines])}" * (len(lines) < len(one.others))
        least = "the least clear " * (len(lines) > 1)
        doubt = f" (borderline{whose}: {least}{both_p(reading, lines[0])})" if lines else ""
        return f"{named(one.best)} {'are' if len(one.best) > 1 else 'is'} best{doubt}"
    return best_words(one.best, tested=True) + open_ones


def mark_words(reading: Reading, columns: Iterable[Column], symbols: bool = False) -> str:
    """What the mark of the best means in a table of some columns, named as there; empty where none has it."""
    starred = [column for column in columns if reading.standing(column).best]
    bare = list(dict.fromkeys(c.called if symbols else c.named for c in starred if not reading.standing(c).tested))
    if not any(reading.standing(column).tested for column in starred):
        return "best value, not tested" if starred else ""
    which = ordered(bare) if len(bare) <= LISTED + 1 else f"{in_words(len(bare))} measures"
    said = f"best or not distinguishable from it{f' (by {which} the best value, not tested)' if bare else ''}"
    return f"{said}, not adjusted over measures" if len(starred) > 1 else said


def verdict(reading: Reading) -> list[Statement]:
    """What is said first: ``findings``, and what all embeddings share."""
    return [*findings(reading), *shared_lines(reading)]


def findings(reading: Reading) -> list[Statement]:
    """Which embedding is best at what, a sentence for each goal; of a single embedding what can be said of it.

    An embedding is best where it alone is in the best set. Of several in the best set none is called better than
    another, whatever their values: they are not distinguishable from the best. Where measures of a goal have different
    best sets each is named with its measures. Embeddings that are the data are in no set.
    """
    if not reading.computed and len(reading.names) != 1:
        return [Statement("No embedding could be computed.", FAILED)]
    lost = [Statement(f"{named(list(reading.failed))} could not be computed.", FAILED)] if reading.failed else []
    what = f"{'are' if len(reading.reference) > 1 else 'is'} the data: shown for reference, and not ranked."
    data = [Statement(f"{named(reading.reference)} {what}", REFERENCE)] if reading.reference else []
    if len(reading.contenders) <= 1:
        name = (reading.contenders or reading.computed or reading.names)[0]
        alone = statements_of(reading, name)
        lead = f"{marked(name)}: " if len(reading.names) > 1 else ""
        return [
            *(replace(one, text=lead + _lower(one.text)) if lead else one for one in alone),
            *(data if name in reading.contenders else []),
            *(lost if lead else []),
        ]
    known = contests(reading)
    tested = any(one.tested for one in known)
    asked = [one for one in known if one.tested or not tested]
    noise = [one.column for one in asked if _is_noise(reading, one)]
    parts = groupby((one for one in asked if one.column not in noise), key=lambda one: one.column.goal)
    made = [_best_at(reading, goal, list(part)) for goal, part in parts]
    if noise:
        by = "any measure" if len(noise) == len(reading.by_goal) > 1 else ordered([column.called for column in noise])
        said = f"No embedding is told from chance by {by}{_at(reading, noise)}."
        made.append(Statement(said, CHANCE, _rows(noise, reading.contenders)))
    tied: dict[str, list[Column]] = {}
    for column in reading.by_goal:
        if is_tied(reading, column):
            tied.setdefault(GOALS[column.goal].keeps if column.goal else "", []).append(column)
    for keeps, columns in tied.items():
        aim = f" at {_doing(keeps)}" if keeps else ""
        by = ordered([column.called for column in columns])
        rows = _rows(columns, reading.contenders)
        made.append(Statement(f"Equal distances leave open which embedding is best{aim} by {by}.", TIED, rows))
    place = "shows nothing of the data: all its points lie in one place."
    made += [Statement(f"{marked(name)} {place}", FAILED) for name in reading.collapsed]
    made += [*_equal_lines(reading), *data, *lost]
    if known and not tested:
        bare = not any(column.has_some_intervals for column in reading.columns)
        what = "These are values without intervals" if bare else "No difference of these values could be tested"
        made.append(Statement(f"{what}: nothing tells how clear the differences are.", NONE))
    return made


def _equal_lines(reading: Reading) -> Iterator[Statement]:
    """Return which embeddings are the same map, once for each group; those that are all the data are said elsewhere."""
    for names in reading.equal:
        if {*names} <= {*reading.reference}:
            continue
        first, *more = (reading.results.embeddings[name] for name in names) if reading.results else ()
        same = all(np.array_equal(first, Y) for Y in more)
        what = "have the same coordinates" if same else "are the same map, up to rotation, shift and scale"
        yield Statement(f"{named(names)} {what}.", EQUAL)


def _is_noise(reading: Reading, one: Contest) -> bool:
    """Whether no embedding is told from chance by one measure; what lies in one place is not asked, nor the data."""
    asked = [name for name in one.column.values if name not in reading.unranked]
    return all(grade(one.column, one.column.cells[name]) == CHANCE for name in asked)


def shared_lines(reading: Reading) -> list[Statement]:
    """What holds for all embeddings, and what fails for all, a sentence each, but what ``findings`` say."""
    told = {row for one in findings(reading) if one.kind == CHANCE for row in one.rows}
    common, made = [one for one in shared(reading) if not told.issuperset(one.rows)], []
    count = len([name for name in reading.computed if name not in reading.unranked])
    others = f"The other {in_words(count)}" if reading.unranked else "Both" if count == 2 else f"All {in_words(count)}"
    lead = f"{others} embeddings: "
    for kinds in ((HOLDS, MOSTLY), (FAILS, *BARE)):
        alike = [one for one in common if one.kind in kinds]
        if alike:
            text = "; ".join(_lower(one.text.rstrip(".")) for one in alike)
            made.append(Statement(f"{lead}{text}.", alike[0].kind, tuple(row for one in alike for row in one.rows)))
    return made


def _lower(text: str) -> str:
    """A sentence within another one."""
    starts_so = text[1:2].islower() and not text.startswith(PERSONS)
    return text[:1].lower() + text[1:] if starts_so else text


def _best_at(reading: Reading, goal: str, part: list[Contest]) -> Statement:
    """Which embeddings are in the best set of every measure of one goal; that is said of the k of the first table.

    Measures with different best sets are said one by one: what is in all of them is the best set of none.
    """
    keeps, columns = GOALS[goal].keeps if goal else "do", [one.column for one in part]
    (verb, _, rest), keeping = keeps.partition(" "), _doing(keeps)
    order = reading.ranked if reading.many else reading.names
    rows, at, doubt = _rows(columns, reading.contenders), _at(reading, columns), borderline_words(reading, part)
    several = (f" by all {in_words(len(part))} measures", f" by any of {in_words(len(part))} measures")
    by, either = {1: ("", ""), 2: (" by both measures", " by either measure")}.get(len(part), several)
    if not any(one.others or len(one.best) < 2 for one in part):
        return Statement(f"{UNCLEAR} at {keeping}{either}{at} ({_beside(part, part[0].best)}).", NONE, rows)
    if len({frozenset(one.best) for one in part}) > 1:
        said = f"Measures disagree on which is best at {keeping}{at}: {_split(part, order)}."
        return Statement(said + doubt, SPLIT, rows)
    best = [name for name in order if name in part[0].best]
    beside = f"{by}{at} ({_beside(part, best)})"
    kinds = [grade(column, column.cells[name]) for column in columns for name in best]
    quoted = [grade(column, column.cells[name]) for column in [_quoted(part, best)[0]] for name in best]
    low = {*quoted} <= POOR and not {HOLDS, MOSTLY} & {*kinds}
    poor = f" Even the best {'is' if len(best) == 1 else 'are'} poor." * low
    if all(one.clear for one in part):
        verb = verb if len(best) > 1 else f"{verb}s"
        return Statement(f"{named(best)} {verb} {rest} best{beside}.{doubt}{poor}", BEST, rows)
    tested, some = part[0].tested, [set(one.unjudged) for one in part]
    who = best_words(best, tested, "the best values" if len(part) > 1 else "the best value")
    left = named([name for name in order if any(name in one for one in some)])
    every = "" if all(one == some[0] for one in some) else " by every measure"
    untested = f"; {left} could not be tested{every}" * bool(left)
    return Statement(f"{who} at {keeping}{beside}{untested}.{doubt}{poor}", BEST, rows)


def _doing(keeps: str) -> str:
    """What an embedding does, as a noun: "keeping neighbors"."""
    verb, _, rest = keeps.partition(" ")
    return f"{verb}ing {rest}".strip()


def _quoted(part: Sequence[Contest], names: Sequence[str]) -> tuple[Column, Contest | None]:
    """The measure whose values are given of some embeddings, and how it sets them apart from all others if it does."""
    main = leading([one.column for one in part])
    in_order = sorted(part, key=lambda one: one.column is not main)
    apart = next((one for one in in_order if {*one.best} == {*names} and not _crossed(one)), None)
    return (main if apart is None else apart.column), apart


def _crossed(one: Contest) -> bool:
    """Whether an embedding beside the best set has a better value than one in it, whose difference is less certain."""
    values = one.column.values
    return any(one.column.better(values[other], values[name]) for other in one.others for name in one.best)


def _beside(part: Sequence[Contest], names: Sequence[str]) -> str:
    """The values of some embeddings and chance, by a measure of which they are the best set, where there is one.

    By such a measure the best one of all others is named as well; by another it may have the better value.
    """
    column, apart = _quoted(part, names)
    others = [name for name in apart.others if name not in apart.unjudged] if apart else []
    first = (max if column.higher else min)(others, key=lambda name: column.values[name], default="")
    after = [name for name in others if column.is_tie(column.values[name], column.values[first])]
    values = _values(column, names)
    low, high, other = _apart(column, min(values), max(values), column.values[first] if first else math.nan)
    whose = f"{named(after)} " if len(names) == 1 else ""
    unit = " %" if column.share else ""
    span = low if low == high else f"{low} to {high}"
    said = [f"{span} % {share_words(column)}" if column.share else f"{column.called}\u00a0{span}"]
    said += [f"next {whose}{other}{unit}"] if other not in ("", low, high) else []
    chance = f"{_percents(column.chances)}" if column.share and column.chances else column.chance
    said += [f"chance level {'about ' * column.drawn_chance}{chance}"] if chance else []
    return "; ".join(said)


def _apart(column: Column, *values: float) -> list[str]:
    """Numbers in a sentence, with so many more places that the last one is not written as another."""
    for more in range(MORE):
        if column.share:
            texts = [of_hundred(value, more) for value in values if value == value]
        else:
            texts = [fixed(value, column.places + more) for value in values if value == value]
        if len(texts) < len(values) or texts[-1] not in texts[:-1]:
            break
    return [*texts, *[""] * (len(values) - len(texts))]


def _split(part: Sequence[Contest], order: Sequence[str]) -> str:
    """Return which embeddings are best, or that none is, by which measures, where these disagree."""
    found: dict[str, list[str]] = {}
    for one in (one._replace(best=tuple(sorted(one.best, key=order.index))) for one in part):
        called = one.column.named if len(part) < LISTED else one.column.called
        found.setdefault(_split_words(one), []).append(called)
    return "; ".join(f"{words} by {ordered(called)}" for words, called in found.items())


def _split_words(one: Contest) -> str:
    """Return which embeddings are best by one measure, within a sentence."""
    if one.clear:
        return f"{named(one.best)} {'are' if len(one.best) > 1 else 'is'} best"
    if one.tested and not one.others and len(one.best) > 1:
        return "none is distinguishable as the best"
    untested = f" ({named(one.unjudged)} not tested)" if one.unjudged else ""
    return f"{best_words(one.best, one.tested)}{untested}"


def named(names: Sequence[str]) -> str:
    """Names in a sentence; more than a few are counted."""
    shown = [marked(name) for name in (names if len(names) <= LISTED + 1 else names[:LISTED])]
    return ordered([*shown, *([f"{len(names) - LISTED} more"] if len(names) > LISTED + 1 else [])])


def standing_of(reading: Reading, name: str) -> Statement:
    """By how many measures an embedding is best, not distinguishable from the best, and behind it."""
    if name in reading.reference:
        return Statement("The data, shown for reference.", STANDS)
    compared = [one for one in contests(reading) if name in one.column.values]
    if not compared or name in (*reading.failed, *reading.collapsed):
        return Statement("", STANDS)
    tested = any(one.tested for one in compared)
    compared = [one for one in compared if one.tested or not tested]
    judged = [one for one in compared if name not in one.unjudged]
    alone = [one for one in judged if name in one.best and (one.clear or one.best == (name,)) and not one.unjudged]
    among = [one for one in judged if name in one.best and one not in alone]
    behind = [one for one in judged if name not in one.best]
    near = [one for one in behind if any(at.other == name for at in borderlines(reading, one))]
    of, some = len(judged), f"{in_words(len(judged))} measures"
    every = "both measures" if of == 2 else f"all {some}"
    if not of:
        said = "not judged beside the others"
    elif not tested:
        said = f"best value by {in_words(len(alone)) if alone else 'none'} of {some}"
        said = f"best value by {every}" if len(alone) == of else said if alone or among else "best value by no measure"
        said += f", shared by {in_words(len(among))}" if among else ""
        said = ("best value" if alone else "not the best value") if of == 1 and not among else said
    elif of == 1:
        said = "best" if alone else "not distinguishable from the best" if among else "significantly behind the best"
        said = "behind the best, borderline by its p-values" if near else said
    elif len(behind) == of:
        said = f"significantly behind the best by {every}"
        if near:
            clear = of - len(near)
            said = (
                f"behind the best by {every}: significantly by {in_words(clear)}, borderline by {in_words(len(near))}"
            )
            said = said if clear else f"behind the best by {every}, borderline by each"
    else:
        parts = [f"best by {in_words(len(alone))}"] if alone else []
        parts += [f"not distinguishable from the best by {in_words(len(among))}"] if among else []
        said = f"{' and '.join(parts)} of {some}"
        if of in (len(alone), len(among)):
            said = f"{'best' if alone else 'not distinguishable from the best'} by {every}"
    doubtful = [one for one in alone if borderlines(reading, one)]
    if of == 1:
        said += ", borderline by its p-values" * bool(doubtful)
    elif len(behind) < of:
        said += f", borderline by {in_words(len(doubtful))}" if doubtful else ""
        said += f", and behind it only borderline by {in_words(len(near))}" if near else ""
    rows = _rows([one.column for one in judged], reading.contenders)
    return Statement(f"{said[0].upper()}{said[1:]}.", STANDS, rows)


def missing_of(reading: Reading, name: str) -> Iterator[Statement]:
    """What an embedding has no value of, by reason."""
    reasons: dict[str, list[Column]] = {}
    for column in reading.main if name not in reading.failed else ():
        cell = column.cells.get(name)
        if cell is None or cell.missing:
            reasons.setdefault(absence(reading, column, name), []).append(column)
    for reason, columns in reasons.items():
        rows = tuple((c.measure, c.parameters, name) for c in columns)
        yield Statement(f"No value of {ordered([c.named for c in columns])}: {reason}.", MISSING, rows)


def absence(reading: Reading, column: Column, name: str) -> str:
    """Why a column has no value of an embedding: its reason, or the settings with which it has one."""
    cell, other = column.cells.get(name), reading.elsewhere(column, name)
    if cell is not None:
        return cell.note
    if other is None:
        return "not asked for"
    return f"run {_settings(other, f': {other.shown(other.values[name])}')}"


def other_settings(reading: Reading) -> Iterator[str]:
    """Values of a measure with other settings than its column of the table has, which are not compared with it."""
    for main in reading.main:
        family = reading.curve(main)
        for column in reading.columns:
            if column.measure == main.measure and column != main and column not in family and column.values:
                values = ordered([f"{without_zero(column.shown(one))} ({name})" for name, one in column.values.items()])
                yield f"{main.title} {_settings(column)}: {values}; not compared with the column."


def _settings(column: Column, value: str = "") -> str:
    """The settings of a column that is not the one of the table."""
    return f"with other settings ({parameter_words(column.parameters)}{value})"


def grade_words(reading: Reading) -> list[tuple[str, str]]:
    """The rules behind the sentences, for the glossary: at which values those of each measure stand."""
    found: dict[tuple[float, float], list[str]] = {}
    for column in reading.by_goal:
        if column.ranks and any(not math.isnan(way(column, c.value, c.chance)) for c in column.cells.values()):
            found.setdefault(column.grades, []).append(column.called)
    rules = [
        f"from {100 * holds:.0f} % on for the good sentence, and below {100 * fails:.0f} % for the poor one "
        f"({', '.join(called)})"
        for (fails, holds), called in found.items()
    ]
    words = []
    if rules:
        start = "Sentences on an embedding go by the way of a value from chance (0 %) to perfect (100 %): "
        mixed = " Of batches it is the way from the worst value to the chance level." * any(
            map(at_chance, reading.by_goal)
        )
        end = f". Between them nothing, or “mostly”, is said.{mixed}"
        words.append(("sentences", f"{start}{'; '.join(rules)}{end}"))
    words.append(("not told from chance", "The value is no better than chance, or its interval reaches chance."))
    if len(reading.contenders) > 1:
        level = fixed(95.0, 0)
        best = f"In the {level} % best set alone: significantly better than every other embedding, over all of them."
        also = "In the best set with others: none of the others is significantly better."
        also += " Each measure is judged alone."
        near = "Outside the best set by the one-sided test of its measure, and not significantly different from"
        near += " those in it by the two-sided tests of all pairs and measures: see the differences."
        words += [("best", best), ("not distinguishable from the best", also), ("borderline", near)]
    return words


def resampled(row: Mapping[str, Any], scheme: str = "free") -> str:
    """What the null distribution of a test is drawn from."""
    if of_method(row["test"]):
        return "null data set"
    if row["variable"] == RESIDUAL:
        return "bootstrap resample"
    return "cyclic shift" if scheme == "cyclic" else "permutation"


def is_smallest(row: Mapping[str, Any]) -> bool:
    """Whether p is the smallest that so many resamples can give: no statistic of theirs reaches the observed one."""
    return bool(row["n_resamples"] and row["p_value"] * (row["n_resamples"] + 1) < 1.5)


def limit_words(row: Mapping[str, Any], scheme: str = "free") -> str:
    """Return that the p of a test is the smallest that its resamples can give, in words."""
    drawn = counted(int(row["n_resamples"]), resampled(row, scheme))
    return f"{p_words(float(row['p_value']))} is the smallest that {drawn} can give"


def smallest_words(reading: Reading, tests: Iterable[Mapping[str, Any]]) -> str:
    """Return the limit that the number of resamples sets to p, where a p is at it, in words; else an empty text."""
    return "; ".join(dict.fromkeys(limit_words(row, reading.scheme(row)) for row in tests if is_smallest(row)))


NULL_WORDS = {"columns": "independent columns", "gaussian": "one Gaussian cloud"}


def noise_finding(null: str, p: float, alpha: float, kind: str = "") -> str:
    """What follows from the p of a noise test, behind a name: never that something can be trusted."""
    if p > alpha:
        return f"is not distinguished from noise ({NULL_WORDS.get(null, null)}, {kind}{p_words(p)})"
    seen = {"columns": "shows that the columns are not independent", "gaussian": "shows more than one Gaussian cloud"}
    return f"{seen.get(null, f'shows more than {null}')} ({kind}{p_words(p)})"


def noise_said(row: Mapping[str, Any], results: Results, called: str | None = None) -> str:
    """What a noise test found of an embedding, which may be called otherwise, and of how many points."""
    name, null, p = called or row["embedding"], row["variable"], float(row["p_value"])
    adjusted = float(row["p_adjusted"])
    least = f"; {limit_words(row)}" if is_smallest(row) else ""
    p, kind = (adjusted, "adjusted ") if adjusted == adjusted and adjusted != p else (p, "")
    if p != p:
        return f"{name}: no noise test."
    if p > LEVEL:
        return f"{name} {noise_finding(null, p, LEVEL, kind)}{least}."
    flags = results.reliability.get(row["embedding"], {}).get("like_noise")
    known = None if flags is None else flags[flags.notna()]
    points = ""
    if known is not None:
        few = f"{int(known.sum()):,} of {len(known):,} points are not distinguished from noise"
        points = f"; {few}" if known.any() else f"; none of the {len(known):,} points is like noise"
    return f"{name} {noise_finding(null, p, LEVEL, kind)}{points}{least}."
