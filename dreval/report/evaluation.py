"""Write the report of a result: its sections, tables, cards, cautions and definitions, apart from how they look."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from dreval.errors import DrevalWarning, InputError
from dreval.glossary import COLUMNS, true_minus
from dreval.measures.core import GOALS
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._beside import Beside
from dreval.report._style import css_variables, embedding_color
from dreval.report.contents.comparison import pair_blocks
from dreval.report.contents.evaluation import TITLE, measure_title, printed_notes, summarize, value_block
from dreval.report.contents.pairs import Paired, paired_differences
from dreval.report.contents.tests import asked_sheet, test_groups, tests_said, tests_sheet
from dreval.report.document import (
    ABSENT,
    Card,
    Cards,
    Cell,
    Code,
    Details,
    Drawing,
    Figures,
    Group,
    Head,
    Items,
    Paragraph,
    Part,
    Remark,
    Report,
    Section,
    Sheet,
    Table,
    Tag,
    Terms,
    Word,
)
from dreval.report.figures.comparisons import forest_words, forests
from dreval.report.figures.maps import MAX_CURVES, PointFigures, point_figures
from dreval.report.figures.nulls import Nulls, null_figures
from dreval.report.format import ADJUSTMENTS, ROOM, counted, in_words, ordered, short_names
from dreval.report.plot import plot
from dreval.report.reading import DIFFERS, SCALE, Column, Reading, parameter_words, targets_of
from dreval.report.statements import (
    HOLDS,
    MOSTLY,
    absence,
    findings,
    grade_words,
    mark_words,
    metric_words,
    missing_of,
    shared,
    shared_lines,
    standing_of,
    statements_of,
)

# The report of a result: its sections, tables, cards, cautions and definitions, apart from how they look.

NAME_ROOM = 30  # letters of a name in the first table
SHOWN = 12  # rows of the first table that stand on a page of many embeddings
FOLDED = 15  # rows; with more, those beyond the first are shown by a button


@dataclass
class Footnotes:
    """Remarks under a table: the same remark has one letter wherever it is made."""

    marks: dict[str, Remark] = field(default_factory=dict)

    def mark(self, text: str) -> Remark | None:
        """The remark with its letter; None for none."""
        return self.marks.setdefault(text, Remark(_letter(len(self.marks)), text)) if text else None


def results_report(results: Results, reading: Reading, title: str | None, beside: Beside | None) -> Report:
    """Everything that a report says of a result, in its order: on a page, or in a text with figures ``beside`` it."""
    dimensions = {name: results.embeddings[name].shape[1] for name in reading.computed if name in results.embeddings}
    paired = paired_differences(reading)
    said = [Paragraph(one.text, "finding") for one in findings(reading)]
    answer = Section("The answer", [*said, *(Paragraph(one.text) for one in shared_lines(reading))], "verdict")
    tags = tags_of(reading)
    middle = (
        _page(results, reading, tags, dimensions, paired)
        if beside is None
        else _text(results, reading, tags, beside, paired)
    )
    end = ending(
        cautions(reading, dimensions, paired=bool(paired.sheet)),
        printed_notes(results, failures=False),
        str(reading.recipe.get("call") or ""),
        [*_settings(reading.recipe), *_sources(reading.recipe)],
        list(dict(reading.recipe.get("versions") or {}).items()),
        glossary(reading),
    )
    return Report(
        title if title is not None else default_title(reading),
        head_line(reading, dimensions),
        [part for part in (answer, *middle, *end) if part.parts],
        str(dict(reading.recipe.get("versions") or {}).get("dreval", "")),
    )


def tags_of(reading: Reading) -> dict[str, Tag]:
    """How a page names the embeddings."""
    short, colors = short_names(reading.names, NAME_ROOM), css_variables()
    return {
        name: Tag(name, short[name], colors[embedding_color(reading.named, name)], place)
        for place, name in enumerate(reading.names)
    }


def _page(
    results: Results, reading: Reading, tags: Mapping[str, Tag], dimensions: Mapping[str, int], paired: Paired
) -> Iterator[Section]:
    """The sections of a page between the answer and what does not follow."""
    made = Cards(cards(reading, tags), balanced(len(reading.names), 5, 3))
    first = [made] if made.cards and not reading.many else []
    yield Section("What each embedding keeps", first, "cards")
    yield Section(
        "How well each embedding keeps the data",
        list(_ranking(reading, tags, dimensions, made)) if reading.by_goal and reading.computed else [],
        "ranking",
        "Ranking",
    )
    drawn, aside = len(reading.featured), ""
    if reading.many:
        aside = (
            f"The first {drawn} of {len(reading.names)} embeddings by mean rank; results.plot(names=[…]) draws others."
        )
    figures = point_figures(results, reading, tags)
    maps = [replace(figures.maps, aside=aside, columns=balanced(drawn, 5, 3))] if figures.maps else []
    yield Section("Where each embedding can be trusted", maps, "maps", "Maps")
    yield Section("At which scale", list(_scales(reading, figures)), "scales", "Scales")
    said = Paragraph(" ".join(filter(None, [figures.distances, aside])), "note")
    diagrams = [said, Figures(figures.diagrams, "panels diagrams", balanced(drawn, 4, 3))] if figures.diagrams else []
    yield Section("What distances are worth", diagrams, "distances", "Distances")
    yield Section("Is one better than another?", list(_differences(reading, paired)), "differences", "Differences")
    methods = asked_sheet(reading, "method", "One row for each embedding and measure")
    about = "These measures are asked of the method, which was run again; they say nothing of one embedding alone. "
    about += "Embeddings that cannot be made again have their reason under the first table."
    asked = [Paragraph(about, "note"), methods] if methods else []
    yield Section("Is the method consistent?", asked, "methods", "Methods")
    count = 0
    for group in test_groups(reading):
        nulls = null_figures(group.tests, results, reading, count)
        count += len(nulls.figures)
        shown: list[Part] = [_histograms(nulls, balanced(len(reading.featured), 5, 3))] if nulls.figures else []
        parts: list[Part] = [Paragraph(group.said, "note")]
        parts += [Paragraph(nulls.alike)] if nulls.alike else shown
        parts += [group.errors] if group.errors else []
        parts += [tests_sheet(group)] if group.tests else []
        if nulls.alike:
            of = f" of {nulls.drawn}" if len(nulls.figures) < nulls.drawn else ""
            parts.append(Details(f"Null distributions: {len(nulls.figures)}{of} histograms", shown, screen=True))
        yield Section(group.title, parts, group.id, group.short)


def _ranking(reading: Reading, tags: Mapping[str, Tag], dimensions: Mapping[str, int], made: Cards) -> Iterator[Part]:
    """The first table with its remarks, all values, and of many embeddings what each keeps."""
    sheet = first_sheet(reading, tags, dimensions)
    read = " ".join(filter(None, [_shade_note(reading, sheet.look == "turned"), _table_note(reading)]))
    yield Paragraph(read, "note", scripted="Click a heading to sort." if sheet.sortable else "")
    yield sheet
    every = _every_value(reading)
    ties = any(not math.isnan(row["worst"]) for row in reading.rows)
    more = " and the values over all orders of ties" if ties else ""
    ends = f"All values: {len(every.rows)} rows, with the ends of the intervals{more}"
    yield Details(ends, [every], screen=True)
    if made.cards and reading.many:
        yield Details(f"What each of the {len(made.cards)} embeddings keeps", [made], screen=True)


def first_sheet(reading: Reading, tags: Mapping[str, Tag], dimensions: Mapping[str, int]) -> Sheet:
    """Values of the main measures: embeddings down; where measures are many they are the rows.

    An embedding that failed has its reason in one cell, and an empty column in a turned table.
    """
    main, differ, notes = reading.by_goal, len(set(dimensions.values())) > 1, Footnotes()
    names = [*reading.ranked, *reading.failed] if reading.many else reading.names
    tagged = {}
    for name in names:
        aside = f"d = {dimensions[name]}" if differ and name in dimensions else ""
        tagged[name] = replace(tags[name], aside=aside)
    cells = {
        name: [_cell(reading, column, name, notes) for column in main] for name in names if name in reading.computed
    }
    heads = [_head(column, notes, reading.k) for column in main]
    chances = [
        Cell(
            column.short_chance or ABSENT, "number", title=column.chance if column.chance != column.short_chance else ""
        )
        for column in main
    ]
    grouped = [(subject, len(list(part))) for subject, part in groupby(_subject(column) for column in main)]
    subjects = grouped if len(grouped) > 1 else []
    known: dict[str, Any] = {
        "label": "Values of all measures",
        "subjects": subjects,
        "name_width": min(max((len(tag.short) for tag in tags.values()), default=0), 13),
        "remarks": list(notes.marks.values()),
    }
    if is_turned(len(main), len(reading.names)):
        lines = []
        for place, (head, chance) in enumerate(zip(heads, chances, strict=True)):
            first = Cell(head.title, "words", small=[head.below], title=head.question, heads=True, remark=head.remark)
            values = [cells[name][place] if name in cells else Cell(kind="number") for name in names]
            lines.append([first, *values, replace(chance, kind="soft")])
        failed = {name: replace(tag, aside="failed") for name, tag in tagged.items() if name in reading.failed}
        across = [Head(name, tag=failed.get(name, tagged[name]), question=name) for name in names]
        top = [Head("Measure", words=True), *across, Head("Chance level")]
        return Sheet("Measures down, embeddings across", top, lines, look="turned", sortable=False, **known)
    rows = []
    for name in names:
        tag = tagged[name]
        first = Cell(name, "embedding", title=name, sort=str(tag.place), heads=True, tag=tag)
        lost = [Cell(reading.failed.get(name, ""), "reason", sort="", span=len(main))]
        rows.append([first, *cells.get(name, lost)])
    foot = [Cell("chance level", "number", heads=True), *chances]
    top = [Head("Embedding", words=True), *heads]
    sortable, shown = len(reading.computed) > 1, rows_shown(len(rows))
    caption = "Embeddings down, measures across"
    return Sheet(caption, top, rows, look="main", sortable=sortable, foot=foot, shown=shown, **known)


def rows_shown(count: int) -> int:
    """How many rows of a long table stand on a page; 0 where all do."""
    return SHOWN if count > FOLDED else 0


def _subject(column: Column) -> str:
    """What a measure asks about, in words."""
    return GOALS[column.goal].title if column.goal else ""


def _every_value(reading: Reading) -> Sheet:
    """Every value with the ends of its interval."""
    shown = [row for row in reading.rows if row["embedding"] not in reading.failed]
    intervals = any(not math.isnan(row["conf_low"]) for row in reading.rows)
    ties = any(not math.isnan(row["worst"]) for row in reading.rows)
    rows = []
    for row in shown:
        column = next(c for c in reading.columns if c.measure == row["measure"] and c.parameters == row["parameters"])
        cell = column.cells[row["embedding"]]
        ends = "" if not cell.has_interval else f"{column.shown(cell.low)} to {column.shown(cell.high)}"
        orders = "" if math.isnan(cell.worst) else f"{column.shown(cell.worst)} to {column.shown(cell.best)}"
        rows.append(
            [
                Cell(row["embedding"], "name"),
                Cell(column.title, "words"),
                Cell(parameter_words(column.parameters), "words"),
                Cell(ABSENT if cell.missing else column.shown(cell.value), "number"),
                *[Cell(ends, "number")] * intervals,
                Cell("" if math.isnan(cell.chance) else column.shown(cell.chance), "number"),
                *[Cell(orders, "number")] * ties,
                Cell(cell.note, "note"),
            ]
        )
    words = [Head(word, words=True) for word in ("Embedding", "Measure", "Parameters")]
    numbers = ["Value", *[f"{reading.level} interval"] * intervals, "Chance level", *["Ties: worst, best"] * ties]
    heads = [*words, *map(Head, numbers), Head("Note", words=True)]
    return Sheet("One row for each embedding, measure and parameter", heads, rows, "All values")


def _scales(reading: Reading, figures: PointFigures) -> Iterator[Part]:
    """Curves over every K, and of measures at several k."""
    if figures.scales:
        said = "Neighborhoods of every size K, on a log scale; dashed: chance level, dotted: a perfect copy."
        yield Paragraph(f"{said} {figures.bands}".rstrip(), "note")
        yield Figures(figures.scales, "curves")
    if figures.curves:
        bands = f"; bands are {reading.level} intervals" if any(row["conf_method"] for row in reading.rows) else ""
        left = len(reading.curves) - len(figures.curves)
        more = f' {left} more can be drawn with results.plot("curve", measure=...).' if left else ""
        yield Paragraph(f"Each measure against the number of neighbors k{bands}.{more}", "note")
        yield Figures(figures.curves, "curves")


def _differences(reading: Reading, paired: Paired) -> Iterator[Part]:
    """Who differs from whom: what was tested, figures, and the pairs."""
    if paired.sheet is None or paired.found is None:
        return
    drawn = forests(paired.found, reading)
    marks = forest_words(paired.found, drawn.look.endswith("lines")) if drawn.figures else ""
    yield Paragraph(f"{paired.said} {marks}", "note")
    yield drawn
    what = "Paired differences from the best by each measure" if paired.more else "All paired differences"
    left = f"; {paired.more:,} more in results.compare().tidy()" if paired.more else ""
    yield Details(f"{what}: {len(paired.sheet.rows)} rows{left}", [paired.sheet], screen=reading.many)


def _histograms(nulls: Nulls, columns: tuple[int, int]) -> Group:
    """Null distributions with how they are read."""
    said = "Gray: the statistic under the null hypothesis; colored: as observed."
    if len(nulls.figures) < nulls.drawn:
        said += f' {len(nulls.figures)} of {nulls.drawn} are shown; results.plot("null") draws any of them.'
    return Group([Paragraph(said, "note"), Figures(nulls.figures, "nulls", columns)])


FIGURE_WORDS = {
    "embedding": "The points of each embedding, colored by class where there are classes",
    "map": "The quality of a measure where the points lie, from worse (yellow) to better (green)",
    "curve": "{} against the number of neighbors",
    "shepard": "Distances in each embedding against those in the data",
}


def _text(
    results: Results, reading: Reading, tags: Mapping[str, Tag], beside: Beside, paired: Paired
) -> Iterator[Section]:
    """The sections of a text between the answer and what does not follow."""
    every = summarize(results, full=True).blocks if reading.computed else []
    tests = [block for block in every if block.title]
    each = Cards(cards(reading, tags), (1, 1))
    yield Section("What each embedding keeps", [each] if each.cards and not reading.many else [])
    known = bool(reading.computed and reading.by_goal)
    yield Section(TITLE, [Table(value_block(results, symbols=beside.tex), TITLE, "values")] if known else [])
    curves = [*results.curves["measure"].unique(), *(family[0].measure for family in reading.curves[:MAX_CURVES])]
    points = [("embedding", ""), ("map", "")]
    yield Section("Where each embedding can be trusted", list(_drawings(results, reading, beside, points)))
    scales = [("curve", measure) for measure in dict.fromkeys(curves)]
    yield Section("At which scale", list(_drawings(results, reading, beside, scales)))
    distances = [("shepard", "")] if results.shepard else []
    yield Section("What distances are worth", list(_drawings(results, reading, beside, distances)))
    differ: list[Part] = []
    if paired.found is not None and not reading.many:
        blocks = pair_blocks(paired.found)
        differ = [Paragraph(paired.said), *(Table(block, block.title, block.title) for block in blocks)]
    yield Section("Is one better than another?", differ)
    said = [Paragraph(tests_said(reading, reading.tests))] if tests else []
    tables = [Table(block, block.title, block.title) for block in tests]
    yield Section("Does the embedding depend on what is known?", [*said, *tables])
    values = [Table(block, "All values", "all-values") for block in every if not block.title]
    yield Section("All values", values)


def _drawings(
    results: Results, reading: Reading, beside: Beside, which: Sequence[tuple[str, str]]
) -> Iterator[Drawing]:
    """Figures of these kinds and measures; those that the result has not what it takes for are left out."""
    for kind, measure in which if reading.computed else ():
        options: dict[str, Any] = {"measure": measure} if measure else {}
        if kind != "curve" and reading.many:
            options = {**options, "names": list(reading.featured)}
        with warnings.catch_warnings():
            if not beside.tex:  # letters are the reader's business in a text of today; LaTeX gets boxes, which is said
                warnings.simplefilter("ignore", DrevalWarning)
            try:
                figure = plot(results, kind, **options)
            except InputError:
                continue
            words = FIGURE_WORDS[kind].format(measure_title(measure) if measure else "")
            yield beside.figure(figure, f"{kind}-{measure}" if measure else kind, words)


def ending(
    limits: Sequence[str],
    notes: Sequence[str],
    call: str,
    settings: Sequence[Word],
    versions: Sequence[tuple[str, str]],
    words: Sequence[Word],
) -> Iterator[Section]:
    """What does not follow, notes, how to make it again, and what the words mean."""
    program = ", ".join(f"{name} {version}" for name, version in versions)
    made = [*settings, *([Word("Versions", program)] if program else [])]
    again = Code(call) if call else Paragraph("The call was not recorded with this result.", "note")
    yield Section("What may not be concluded", [Items(limits)] if limits else [], "limits", "Limits")
    yield Section("Notes", [Items(notes, numbered=True)] if notes else [], "notes", "Notes")
    yield Section("Make it again", [again, Terms(made)], "again", "Reproduce")
    yield Section("What the words mean", [Terms(words)] if words else [], "words", "Glossary")


def default_title(reading: Reading) -> str:
    """The heading, such as "Evaluation of four embeddings of digits"."""
    count = len(reading.names)
    data = str(reading.recipe.get("dataset") or "")
    noun = "embedding" if count == 1 else "embeddings"
    return f"Evaluation of {in_words(count)} {noun}" + (f" of {data}" if data else "")


def _letter(place: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        text = chr(97 + rest) + text
    return text


def _shared_note(column: Column) -> str:
    """The remark that every value of a column carries."""
    notes = {cell.note for cell in column.cells.values() if not cell.missing}
    return notes.pop() if len(notes) == 1 and len(column.values) > 1 else ""


def _head(column: Column, notes: Footnotes, k: int | None) -> Head:
    """Title, symbol, parameters and direction of a column."""
    symbol = "" if column.title.endswith(column.symbol) else column.symbol
    alike = f"{SCALE}={k}"  # said once, above the table
    parameters = parameter_words(", ".join(p for p in column.parameters.split(", ") if p != alike))
    below = ", ".join(filter(None, [symbol, parameters, "" if column.higher else column.better_words]))
    return Head(
        column.title,
        below=below,
        question=column.question,
        higher=column.higher,
        remark=notes.mark(_shared_note(column)),
    )


def _cell(reading: Reading, column: Column, name: str, notes: Footnotes) -> Cell:
    """The value of one embedding; a missing one keeps its reason."""
    cell = column.cells.get(name)
    if cell is None or cell.missing:
        return Cell(sort="", remark=notes.mark(absence(reading, column, name)))
    ties = column.ties(name)
    return Cell(
        column.shown(cell.value),
        small=[column.interval(name)],
        best=name in reading.standing(column).best,
        shade=round(column.shade(name), 3),
        title=f"over all orders of equal distances: {ties}" if ties else "",
        sort=repr(float(cell.value)),
        remark=notes.mark("" if cell.note == _shared_note(column) else cell.note),
        ties=ties if column.ties_matter(name) else "",
    )


def _shade_note(reading: Reading, turned: bool) -> str:
    """What the shades and marks of a page mean."""
    best = mark_words(reading, reading.main)
    if not best:
        return ""
    words = reading.mean_rank_words if reading.many else ""
    order = f"{words[:1].upper()}{words[1:]}. " if words else ""
    return f"{order}A stronger shade is better within a {'row' if turned else 'column'}; ● {best}."


def _table_note(reading: Reading) -> str:
    """How the first table is read."""
    parts = []
    if any(cell.has_interval for column in reading.main for cell in column.cells.values()):
        parts.append(f"In small print the half-width of the {reading.level} interval, or its two ends.")
    if any(column.ties_matter(name) for column in reading.main for name in column.values):
        parts.append("“Ties” are worst and best over all orders of equal distances.")
    if any(column.short_chance == DIFFERS for column in reading.main):
        parts.append("Where chance “differs”, each embedding has its own; they stand below.")
    if reading.k is not None:
        more = "; all values stand below" if len(reading.scales) > 1 else ""
        parts.append(f"Neighborhoods at k = {reading.k}{more}.")
    return " ".join(parts)


def _settings(recipe: Mapping[str, Any]) -> list[Word]:
    """The settings of the run; no time, so that the same result gives the same report."""
    ks = recipe.get("n_neighbors")
    shown = ", ".join(map(str, ks)) if isinstance(ks, list | tuple) else "" if ks is None else str(ks)
    anchors = recipe.get("anchors")
    pairs = [
        ("Data", str(recipe.get("dataset") or "")),
        ("Points n", f"{int(recipe['n']):,}" if recipe.get("n") else ""),
        ("Columns p", f"{int(recipe['p']):,}" if recipe.get("p") else ""),
        ("Metric", metric_words(recipe)),
        ("Neighbors k", shown),
        ("Anchors", f"{int(anchors):,}" if anchors else "all points"),
        ("Seed", "" if recipe.get("random_state") is None else str(recipe["random_state"])),
        ("Adjustment of p", str(recipe.get("adjust") or "")),
        ("SHA-256 of the data", str(recipe.get("data_sha256") or "")),
    ]
    return [Word(name, value) for name, value in pairs if value]


def _sources(recipe: Mapping[str, Any]) -> Iterator[Word]:
    """Where each embedding is from."""
    for source, about in (recipe.get("sources") or {}).items():
        what = "given coordinates" if about["kind"] == "coordinates" else f"{about['kind']} {about['what']}"
        parameters = ", ".join(f"{key}={value}" for key, value in about["parameters"].items())
        yield Word(str(source), f"{what}: {parameters}" if parameters else what, is_name=True)


_MARKUP = re.compile(r":math:|\*|`|\.\. math::")


def cautions(reading: Reading, dimensions: dict[str, int], paired: bool = False) -> list[str]:
    """Sentences on what does not follow; each stands only where it applies."""
    cells = [cell for column in reading.main for cell in column.cells.values() if not cell.missing]
    several = len(reading.computed) > 1
    shown = ordered([str(d) for d in sorted(set(dimensions.values()))])
    more = "More columns can keep more of the data, so the order is not one of the methods alone."
    rules = [
        (
            several,
            "“Best” goes measure by measure: another measure, another number of neighbors or other points may bring "
            "another embedding to the top."
            if any(reading.standing(column).tested for column in reading.main)
            else "“Best” means the best value in this table. Nothing here tests whether two embeddings differ.",
        ),
        (
            paired,
            "Paired tests refer to other points for the same embeddings, not to other runs of the methods or data.",
        ),
        (several and len(set(dimensions.values())) > 1, f"The embeddings have {shown} columns. {more}"),
        (
            bool(cells) and len(reading.scales) == 1,
            f"Neighborhoods are those of k = {reading.k}."
            + (" At another scale the order of the embeddings may be another." if several else ""),
        ),
        *(_interval_cautions(reading, [c.has_interval for c in cells]) if cells else ()),
        (
            bool(reading.recipe.get("anchors")),
            "Neighborhoods were seen from a random part of the points only; maps show those points.",
        ),
        (
            bool(reading.computed),
            (
                "Each embedding was judged as it came, once. A method that starts at random may give another embedding "
                "on another run."
            ),
        ),
        (
            any(d > 2 for d in dimensions.values()),
            "Embeddings of more than two columns are judged in all of them; maps show the first two.",
        ),
        (
            any(c.measure == "knn_accuracy" and c.values for c in reading.main),
            (
                "Classes that lie apart in an embedding are no proof that the embedding keeps the data: k-NN accuracy "
                "judges labels, not distances."
            ),
        ),
        *_test_cautions(reading),
        (
            bool(cells),
            "Better than chance is a low bar: chance means an embedding that has nothing to do with the data.",
        ),
    ]
    return [sentence for applies, sentence in rules if applies]


def _interval_cautions(reading: Reading, having: list[bool]) -> list[tuple[bool, str]]:
    """What intervals do not say, or what their absence means."""
    some, every = any(having), all(having)
    difference = " They are no intervals for the difference of two embeddings, which share their points."
    targets = ordered(targets_of(reading.recipe, reading.rows))
    return [
        (not some, "Values have no intervals: nothing here says how much they would change with other points."),
        (
            some,
            f"Intervals speak of {targets or 'their target'}, one value at a time."
            + (difference if len(reading.computed) > 1 else ""),
        ),
        (some and not every, "Values without an interval are not more certain than those with one."),
    ]


def _test_cautions(reading: Reading) -> list[tuple[bool, str]]:
    """What tests do not say."""
    return [
        (
            bool(reading.tests),
            (
                "A small p says that embedding and variable depend on each other, not how much (the effect size does) "
                "and not why. A large p is no proof of independence."
            ),
        )
    ]


def glossary(reading: Reading) -> list[Word]:
    """The words of ``definitions``; measures with formula and reference, as their cards and pages say them."""
    measures = {_term(column): column for column in reading.main}
    words = definitions(reading)
    return [measure_words_of(measures[term]) if term in measures else Word(term, meaning) for term, meaning in words]


def measure_words_of(column: Column) -> Word:
    """What a measure means, its formula and its reference, as its card and its page say them."""
    return Word(_term(column), _meaning(column), *_source(column.measure if column.measure in MEASURES else ""))


def _source(measure: str) -> tuple[str, str]:
    """The formula that the page of a measure states, and its reference."""
    if not measure:
        return "", ""
    page = (MEASURES.get(measure).__doc__ or "").partition("\n\n")[2].partition("Parameters\n")[0]
    parts = [" ".join(part.split()) for part in page.split("\n\n")]
    formulas = [part for part in parts if " = " in part]
    said = _MARKUP.sub("", formulas[0]).strip() if formulas else ""
    return said, " ".join(MEASURES.card(measure).reference.split())


def definitions(reading: Reading) -> list[tuple[str, str]]:
    """Every term of the report with its meaning: measures, then the columns of tables, then the verdicts."""
    words = [(_term(column), _meaning(column)) for column in reading.main]
    words.append(("chance level", _sentence(COLUMNS["chance"])))
    if reading.scales:
        words.append(("k", "Number of nearest neighbors that make a neighborhood."))
    if any(row["conf_method"] for row in reading.rows):
        methods = ordered(sorted({row["conf_method"] for row in reading.rows if row["conf_method"]}))
        words.append((f"{reading.level} interval", f"Interval for the value, by {methods}."))
    if any(not math.isnan(row["worst"]) for row in reading.rows):
        ties = "Equal distances can be ordered in several ways; worst and best are over all of them."
        words.append(("ties", f"{ties} A verdict stands only where it holds for both."))
    if reading.tests:
        adjustment = ADJUSTMENTS.get(reading.recipe.get("adjust"), "nothing")
        words += [
            ("p", _sentence(COLUMNS["p_value"])),
            ("adjusted p", _sentence(f"{COLUMNS['p_adjusted']}, by {adjustment}")),
            ("effect size", _sentence(COLUMNS["effect_size"])),
        ]
    return [*words, *grade_words(reading)]


def _term(column: Column) -> str:
    return column.title if column.title.endswith(column.symbol) else f"{column.title} {column.symbol}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _meaning(column: Column) -> str:
    """Question, direction, range and chance of a measure."""
    low, high = column.bounds
    if math.isfinite(low) and math.isfinite(high):
        span = true_minus(f"from {low:g} to {high:g}")
    else:
        span = true_minus(f"from {low:g} up") if math.isfinite(low) else "without bounds"
    chance = f"; chance level {column.chance}" if column.chance else ""
    return f"{column.question} {column.better_words.capitalize()}, {span}{chance}.".strip()


def head_line(reading: Reading, dimensions: dict[str, int]) -> str:
    """What was evaluated, in one line."""
    recipe = reading.recipe
    shown = ordered([str(d) for d in sorted(set(dimensions.values()))])
    size = counted(int(recipe.get("n") or 0), "point") + f" in {counted(int(recipe.get('p') or 0), 'dimension')}"
    parts = [size + (f", shown in {shown}" if shown else "")]
    if reading.k is not None:
        more = f" (and {len(reading.scales) - 1} more)" if len(reading.scales) > 1 else ""
        parts.append(f"k = {reading.k}{more}")
    parts.append(metric_words(recipe))
    if recipe.get("anchors"):
        parts.append(f"seen from {counted(int(recipe['anchors']), 'anchor')}")
    some = any(row["conf_method"] for row in reading.rows)
    parts.append(f"{reading.level} intervals" if some else "no intervals")
    seed = recipe.get("random_state")
    parts.append("" if seed is None else f"seed {seed}")
    return " · ".join(part for part in parts if part)


def cards(reading: Reading, tags: Mapping[str, Tag]) -> list[Card]:
    """A card for each embedding, with what not all of them share; none where there is one only."""
    alike, titles, made = shared(reading), short_names(reading.names, ROOM), []
    for name in reading.names if len(reading.names) > 1 else ():
        said = statements_of(reading, name, without=alike) if name not in reading.reference else []  # it stands first
        good = [one.text for one in said if one.kind in (HOLDS, MOSTLY)]
        poor = [one.text for one in said if one.kind not in (HOLDS, MOSTLY)]
        missing = [one.text for one in missing_of(reading, name)]
        made.append(Card(tags[name], titles[name], standing_of(reading, name).text, good, poor, missing))
    return made


TURNED_ABOVE = 10  # with more measures (these are the default ones) they are the rows of the first table


def is_turned(measures: int, embeddings: int) -> bool:
    """Whether measures are the rows of the first table, and embeddings its columns."""
    return measures > max(TURNED_ABOVE, embeddings)


def balanced(count: int, wide: int, mid: int) -> tuple[int, int]:
    """How many of ``count`` things stand in a row of a wide and of a narrower page, so that rows are nearly full.

    Examples
    --------
    >>> balanced(5, 5, 3), balanced(6, 5, 3), balanced(7, 5, 3)
    ((5, 3), (3, 3), (4, 3))
    """
    return _columns(count, wide), _columns(count, mid)


def _columns(count: int, most: int) -> int:
    """The fewest columns that need no more rows than ``most`` columns do."""
    rows = -(-max(count, 1) // most)
    return -(-max(count, 1) // rows)
