"""Findings of a comparison: which embedding is better by which measures, which are equivalent, and which test decides.

``Comparison.pairs`` alone decides. Every significant pair is in a clause, or counted by a finding that names the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dreval._text import p_text, probability, without_zero
from dreval.comparison.tables import DECISION_ORDER, attainable_p
from dreval.records.comparison import Comparison
from dreval.records.frames import keys_by_full_name, notes_by_row, parameters_of
from dreval.report.comparison_view import (
    OVERALL_TITLES,
    TEST_TITLES,
    column_of,
    decisive_pairs,
    embedding_order,
    equal_maps,
    measures_by_question,
    setting_suffix,
    significant_pairs,
)
from dreval.report.findings import Answer, Clause, Finding, list_names
from dreval.report.format import adjusted_by, join_and, number_word
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import NEIGHBORS_PARAMETER, collapsed_embeddings, read_results

MAX_CLAUSES = 6  # clauses of one question, "A is better than B and C"; the table of pairs has further ones
MAX_CLAUSES_OF_MANY = 2  # the same for many embeddings
MAX_EMBEDDINGS_IN_FULL = 6  # embeddings that are not many
MAX_NAMES = 6  # embeddings that a clause names; further ones are counted
MAX_BORDERLINE = 3  # times the level: beyond it the adjusted p of three or more embeddings is not called borderline
NEAR_ALPHA = 2  # a smallest possible p above the level divided by this one is printed
MAX_NAMES_OF_MANY = 3  # the same for many embeddings
MAX_EXCEPTIONS = 3  # embeddings that "all others but A" names
MAX_TIED = 2  # pairs that a sentence on ties names before it counts
MAX_LISTED_VERDICTS = 4  # sentences on margins that a question has; further ones are counted
MAX_DATASETS_NEEDED = 100  # data sets up to which the number that a significant difference needs is looked for
OVERALL_PRIORITY = (
    "friedman_exact",
    "skillings_mack",
    "iman_davenport",
    "friedman",
    "mixed",
)  # the first of which is quoted
MARGINS = "Margins"
NO_INTERVAL = "inference.no_interval"  # code of the note on a pair without a test
NO_TEST = "no requested test applies to these pairs"
TEST = "Test"
CAUTION = "Caution"
Row = tuple[str, str, str, str]  # measure, first, second, test

VERDICT_TEXTS = {
    "comparison.equivalent": "yes",
    "comparison.larger": "no, larger",
    "comparison.equivalence_borderline": "borderline",
    "comparison.equivalence_open": "not shown",
    "comparison.loss_beyond": "worse",
    "comparison.loss_undecided": "undecided",
    "comparison.loss_excluded": "not worse",
}
LOSSES = {VERDICT_TEXTS[kind]: kind for kind in VERDICT_TEXTS if kind.startswith("comparison.loss_")}  # of a check


def comparison_answers(comparison: Comparison, max_clauses: int | None = None) -> list[Answer]:
    """Return the findings of a comparison, an answer for each question; then the test that decides, and cautions.

    Of more clauses of one question than ``max_clauses`` the further differences are counted.
    """
    facts = _Facts(comparison, max_clauses)
    answers = [Answer(question, tuple(facts.findings(question))) for question in facts.questions]
    answers += [] if facts.has_two else [Answer(MARGINS, tuple(facts.equivalences(MARGINS, comparison.measures)))]
    answers += [Answer(TEST, tuple(facts.test_findings()))] if comparison.families else []
    answers += [Answer(CAUTION, tuple(facts.cautions()))]
    return [answer for answer in answers if answer.findings]


def _finding(
    kind: str,
    question: str,
    measures: Iterable[str] = (),
    rows: Iterable[Row] = (),
    *,
    subject: Sequence[str] = (),
    clauses: Sequence[Clause] = (),
    **numbers: Any,
) -> Finding:
    """Return a finding on a comparison."""
    options: dict[str, Any] = {"subject": tuple(subject), "clauses": tuple(clauses), "numbers": numbers}
    return Finding(f"comparison.{kind}", question, measures=tuple(measures), rows=tuple(rows), **options)


class _Facts:
    """The tested pairs of a comparison by measure, and the questions that the measures answer."""

    def __init__(self, comparison: Comparison, max_clauses: int | None = None) -> None:
        self.comparison = comparison
        self.alpha = float(comparison.recipe["alpha"])
        self.order = embedding_order(comparison)
        limit = MAX_CLAUSES if len(self.order) <= MAX_EMBEDDINGS_IN_FULL else MAX_CLAUSES_OF_MANY
        self.max_clauses = min(max_clauses or limit, limit)
        self.columns = {name: column_of(comparison, name) for name in comparison.measures}
        self.pairs = {name: decisive_pairs(comparison, name) for name in comparison.measures}
        self.all_pairs = {name: comparison.of(comparison.pairs, name) for name in comparison.measures}
        self.same = equal_maps(comparison)
        self.notes = notes_by_row(comparison.notes)
        self.keys = keys_by_full_name(comparison.standing)
        self.questions = measures_by_question(self.columns)
        view = None if comparison.results is None else read_results(comparison.results)
        columns = () if view is None else view.columns
        self.tie_columns = {(column.measure, column.parameters): column for column in columns}

    @property
    def has_two(self) -> bool:
        """Whether two embeddings are compared, so that a sentence need not name the worse one."""
        return len(self.order) == 2

    @property
    def is_check(self) -> bool:
        """Whether the comparison is that of ``dreval check``, whose verdict is the answer."""
        return "verdict" in self.comparison.recipe

    # Words.

    def by(self, measures: Sequence[str], question: str, negated: bool = False) -> str:
        """Return by which measures of a question something holds."""
        total = self.questions.get(question, list(self.columns))
        if len(self.columns) == 1:
            return ""
        if any(self.settings(name)[1:] for name in total):
            return self.by_settings(measures, total, negated)
        if len(measures) == len(total) > 1 and negated:
            return " by either measure" if len(total) == 2 else " by any measure"
        if len(measures) == len(total) > 1:
            return f" by {self.all_measures(len(total))}"
        left = [name for name in total if name not in measures]
        if len(left) == 1 and len(total) > 3:
            return f" by all measures but {self.label(left[0])}"
        word = "with" if all(self.columns[name].preposition == "with" for name in measures) else "by"
        return f" {word} {join_and([self.label(name) for name in measures])}"

    def by_settings(self, measures: Sequence[str], total: Sequence[str], negated: bool) -> str:
        """Return by which measures something holds, where some have several settings: each measure counts once."""
        kinds = {(self.keys[name][0], self.columns[name].target): self.settings(name) for name in total}
        complete = [names for names in kinds.values() if {*names} <= {*measures}]
        quantifier = "any" if negated else "every"
        if len(complete) == len(kinds) > 1:
            number = "either measure" if len(kinds) == 2 else "any measure"
            number = number if negated else self.all_measures(len(kinds))
            places = {self.varying(names) for names in kinds.values() if len(names) > 1}
            link = " at" if all(len(names) > 1 for names in kinds.values()) else " and"
            return f" by {number}{link} {quantifier} {'k' if places == {'k'} else 'setting'}"
        labels = []
        for names in kinds.values():
            holds = [name for name in names if name in measures]
            noun, varying = self.columns[names[0]].noun_in_sentence, self.varying(names)
            if len(holds) == len(names) > 1:
                labels.append(f"{noun} at {quantifier} {varying}")
            elif len(holds) > 1 and varying == "k":
                sizes = [parameters_of(self.keys[name][1])[NEIGHBORS_PARAMETER] for name in holds]
                labels.append(f"{noun} (k = {join_and(sizes)})")
            else:
                labels += map(self.label, holds)
        word = "with" if all(self.columns[name].preposition == "with" for name in measures) else "by"
        return f" {word} {join_and(labels)}"

    def all_measures(self, count: int) -> str:
        """Return that something holds for all measures of a question."""
        return "both measures" if count == 2 else f"all {number_word(count)} measures"

    def settings(self, name: str) -> list[str]:
        """Return all settings of the measure (and target) of one setting."""
        kind = (self.keys[name][0], self.columns[name].target)
        return [other for other in self.columns if (self.keys[other][0], self.columns[other].target) == kind]

    def varying(self, names: Sequence[str]) -> str:
        """Return what differs between the settings of one measure: only the number of neighbors k, or any."""
        other_parameters = {
            tuple(sorted({**parameters_of(self.keys[name][1]), NEIGHBORS_PARAMETER: ""}.items())) for name in names
        }
        return "k" if len(other_parameters) == 1 else "setting"

    def label(self, name: str) -> str:
        """Return the name of a measure within a sentence."""
        return f"{self.columns[name].noun_in_sentence}{setting_suffix(self.comparison, name)}"

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return embeddings in the order of the report, each once."""
        return tuple(sorted({*names}, key=self.order.index))

    def clause_text(self, clauses: Sequence[Clause], by: str) -> str:
        """Return clauses, each with its verb: "A is better than B, and C is better than D"."""
        parts: list[str] = []
        if len(clauses) == 1 and len(clauses[0][1]) == 1 and len(clauses[0][0]) == len(self.order) - 1 > 2:
            return f"{list_names(clauses[0][1])} is worse than {self.names_or_all(clauses[0][1], clauses[0][0])}{by}"
        for better, worse in clauses:
            verb = ("are" if len(better) > 1 else "is") + " better"
            than = "" if self.has_two else f"than {self.names_or_all(better, worse)}"
            parts.append(" ".join(filter(None, [list_names(better, MAX_NAMES), verb, than])))
        if len(parts) == 1:
            return f"{parts[0]}{by}"
        listed = ", and ".join(parts) if len(parts) == 2 else f"{'; '.join(parts[:-1])}; and {parts[-1]}"
        return f"{by.strip()} {listed}".strip()

    def names_or_all(self, names: Sequence[str], others: Sequence[str]) -> str:
        """Return the names of other embeddings, or that they are all others; very many are counted."""
        left, n_others = [name for name in self.order if name not in (*names, *others)], len(self.order) - len(names)
        if not left and len(others) > 2:
            return "all others"
        if len(others) <= (MAX_NAMES if len(self.order) <= MAX_EMBEDDINGS_IN_FULL else MAX_NAMES_OF_MANY):
            return list_names(others, MAX_NAMES)
        return (
            f"all others but {list_names(left)}"
            if len(left) <= MAX_EXCEPTIONS
            else f"{len(others)} of {n_others} others"
        )

    def winning_values(self, measures: Sequence[str], better: str) -> str:
        """Return the better and the worse value of two embeddings by the measure that stands for its question."""
        name = next((name for name in measures if self.columns[name].bar), measures[0])
        column, worse = self.columns[name], next(other for other in self.order if other != better)
        values = " against ".join(without_zero(column.format_value(column.values[key])) for key in (better, worse))
        return values if len(measures) == 1 and len(self.columns) > 1 else f"{self.label(name)} {values}"

    # The findings of one question.

    def findings(self, question: str) -> Iterator[Finding]:
        """Yield the findings of one question."""
        measures = self.questions[question]
        if question == next(iter(self.questions)):
            yield from self.same_maps(question)
        margins = self.equivalences(question, measures) if self.has_two else ()
        yield from margins if self.is_check else ()
        tested = [name for name in measures if len(self.pairs[name])]
        yield from self.better(question, tested)
        yield from self.tied(question, tested)
        yield from self.not_different(question, tested)
        yield from self.overall_only(question, tested)
        yield from self.untested(question, [name for name in measures if name not in tested])
        yield from self.best_ranks(question, measures)
        yield from self.probable(question, measures)
        yield from () if self.is_check else margins

    def same_maps(self, question: str) -> Iterator[Finding]:
        """Yield the embeddings that are the same map, and those that are in one place."""
        kind = "same_values" if self.comparison.families else "same_map"
        groups = [self.ordered({*group} & {*self.order}) for group in self.same]
        yield from (_finding(kind, question, subject=names) for names in groups if len(names) > 1)
        results = self.comparison.results
        collapsed = () if results is None else self.ordered({*collapsed_embeddings(results)} & {*self.order})
        yield from [Finding("result.collapsed", question, collapsed)] if collapsed else []

    def better(self, question: str, measures: Sequence[str]) -> Iterator[Finding]:
        """Yield which embeddings are better than which others, pairs that differ by the same measures together."""
        groups = self.grouped({name: significant_pairs(self.pairs[name]) for name in measures})
        n_clauses = 0
        further: list[Row] = []
        for by, pairs in groups:
            clauses = self.clauses(pairs)
            listed = clauses[: max(self.max_clauses - n_clauses, 0)]
            n_clauses += len(clauses)
            named = [(left, right) for better, worse in listed for left in better for right in worse]
            further += self.rows(by, set(pairs) - {*named})
            if listed:
                quote = f" ({self.winning_values(by, listed[0][0][0])})" if self.has_two else ""
                text = self.clause_text(listed, self.by(by, question)) + quote
                rows = self.rows(by, named)
                yield _finding("better", question, by, rows, clauses=listed, clauses_text=text)
        if further:
            yield _finding("further_pairs", question, measures, further, count=len(further))
        by = [name for name in measures if significant_pairs(self.pairs[name])]
        pairs = {name: {*map(frozenset, self.tested_pairs(name))} for name in by}
        left = {name: names - {*map(frozenset, significant_pairs(self.pairs[name]))} for name, names in pairs.items()}
        rows = [row for name, names in left.items() for row in self.rows([name], names)]
        if rows and self.comparison.families and not self.has_two:  # of one data set the table has letters
            yield _finding(
                "no_other_pair", question, by, rows, by="" if len(by) == len(measures) else self.by(by, question)
            )

    def tied(self, question: str, measures: Sequence[str]) -> Iterator[Finding]:
        """Yield which significant pairs have values that overlap over all orders of ties."""
        overlapping: dict[str, list[tuple[str, str]]] = {}
        for name in measures:
            column = self.tie_columns.get(self.keys[name])
            for pair in significant_pairs(self.pairs[name]) if column else ():
                others = [other for other in column.cells if other not in pair]
                if {*pair} <= {*column.cells} and column.ties_overlap(pair[0], others):
                    overlapping.setdefault(name, []).append(pair)
        if not overlapping:
            return
        rows = tuple(row for name, pairs in overlapping.items() for row in self.rows([name], pairs))
        groups = self.grouped(overlapping)
        text = f"{number_word(len(rows))} of these differences may not hold"
        if len(groups) == 1 and len(groups[0][1]) <= MAX_TIED:
            clauses = [(better, name) for better, worse in self.clauses(groups[0][1]) for name in worse]
            text = join_and(
                [
                    f"{list_names(better, MAX_NAMES)} may not be better than {isolate_name(name)}"
                    for better, name in clauses
                ]
            )
        by = self.by(list(overlapping), question).strip()
        yield _finding("tied", question, overlapping, rows, values=f"{by}, values" if by else "values", pairs=text)

    def grouped(self, pairs: Mapping[str, Sequence[tuple[str, str]]]) -> list[tuple[tuple[str, ...], list[Any]]]:
        """Return pairs by the measures that they hold for, those of most measures first."""
        measures: dict[tuple[str, str], list[str]] = {}
        for name, names in pairs.items():
            for pair in names:
                measures.setdefault(pair, []).append(name)
        groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for pair, names_of_pair in measures.items():
            groups.setdefault(tuple(names_of_pair), []).append(pair)
        return sorted(groups.items(), key=lambda group: -len(group[0]))

    def clauses(self, pairs: Iterable[tuple[str, str]]) -> list[Clause]:
        """Return pairs as clauses: for each embedding its others, embeddings with the same others together."""
        others: dict[str, list[str]] = {}
        for left, right in pairs:
            others.setdefault(left, []).append(right)
        subjects: dict[tuple[str, ...], list[str]] = {}
        for left in self.ordered(others):
            subjects.setdefault(self.ordered(others[left]), []).append(left)
        return [(tuple(names), right) for right, names in subjects.items()]

    def rows(self, measures: Iterable[str], pairs: Iterable[tuple[str, str]]) -> tuple[Row, ...]:
        """Return the keys of the rows of some pairs."""
        keys = {frozenset(pair) for pair in pairs}
        return tuple(
            (name, row["first"], row["second"], row["test"])
            for name in measures
            for row in self.pairs[name].to_dict("records")
            if frozenset((row["first"], row["second"])) in keys
        )

    def not_different(self, question: str, measures: Sequence[str]) -> Iterator[Finding]:
        """Yield the measures by which no pair differs, and the pair that is nearest to a significant difference."""
        silent = [name for name in measures if not significant_pairs(self.pairs[name])]
        if silent:
            is_only = len(self.questions[question]) == 1 and not self.comparison.families
            by = "" if is_only else self.by(silent, question, negated=True)
            pairs = [pair for name in silent for pair in self.tested_pairs(name)]
            quote = self.quote(silent, with_label=is_only)
            yield _finding("no_difference", question, silent, self.rows(silent, pairs), by=by, quote=quote)
        rows = [{**row, "name": name} for name in measures for row in self.pairs[name].to_dict("records")]
        limit = 1.0 if self.has_two else MAX_BORDERLINE * self.alpha
        rows = [row for row in rows if row["p_value"] <= self.alpha < row["p_adjusted"] <= limit]
        leads = {name: self.lead(name) for name in measures}
        rows = [row for row in rows if leads[row["name"]] in (row["first"], row["second"])]
        if rows:
            row = min(rows, key=lambda row: row["p_adjusted"])
            pair = (row["first"], row["second"])
            better, other = pair if row["difference"] > 0 else pair[::-1]
            p = {"p_alone": p_text(row["p_value"], self.alpha)}
            p |= {"p_adjusted": probability(row["p_adjusted"], self.alpha)}
            names = {
                "better": isolate_name(better),
                "other": isolate_name(other),
                "by": self.by([row["name"]], question),
            }
            keys, clauses = self.rows([row["name"]], [pair]), [((better,), (other,))]
            yield _finding("borderline", question, [row["name"]], keys, clauses=clauses, **names, **p)

    def tested_pairs(self, name: str) -> list[tuple[str, str]]:
        """Return the pairs that were tested by one measure."""
        return list(zip(self.pairs[name]["first"], self.pairs[name]["second"], strict=True))

    def lead(self, name: str) -> str:
        """Return the baseline, or the embedding with the best value by one measure."""
        standing = self.comparison.of(self.comparison.standing, name)
        return str(self.comparison.recipe.get("baseline") or standing["embedding"].iloc[0])

    def quote(self, measures: Sequence[str], with_label: bool) -> str:
        """Return the values by one measure, the smallest p of the pairs, and one that could hardly be significant."""
        rows = pd.concat([self.pairs[name] for name in measures])
        p = rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]).min()
        smallest = "" if len(rows) == 1 else "smallest "
        adjusted = "adjusted " * bool(rows["p_adjusted"].notna().any())
        texts = [f"{smallest}{adjusted}{p_text(float(p), self.alpha)}"]
        attainable = self.comparison.recipe.get("attainable") or {}
        limit = min((attainable[name] for name in measures if name in attainable), default=0.0)
        if self.alpha / NEAR_ALPHA < limit <= self.alpha:
            texts.append(f"smallest possible {probability(limit, self.alpha)}")
        has_values = len(measures) == 1 and not self.comparison.families
        return "; ".join([*([self.value_range(measures[0], with_label)] if has_values else []), *texts])

    def value_range(self, name: str, with_label: bool) -> str:
        """Return the smallest and the largest value by one measure."""
        column = self.columns[name]
        values = [column.values[embedding] for embedding in self.order if embedding in column.values]
        ends = [
            without_zero(column.format_value(end)) for end in (values if self.has_two else (min(values), max(values)))
        ]
        joined = ends[0] if len({*ends}) == 1 else (" and " if self.has_two else " to ").join(ends)
        return f"{self.label(name)} {joined}" if with_label else joined

    def overall_only(self, question: str, measures: Sequence[str]) -> Iterator[Finding]:
        """Yield by which measures no pair is significant although a test of any difference rejects."""
        p_values: dict[str, dict[str, float]] = {}  # by test and measure
        for name in measures:
            overall = self.overall_p(name)
            if overall and overall[1] < self.alpha and not significant_pairs(self.pairs[name]):
                p_values.setdefault(overall[0], {})[name] = overall[1]
        for test, of_test in p_values.items():
            p = p_text(max(of_test.values()), self.alpha, at_most=len({*of_test.values()}) > 1)
            by = self.by(list(of_test), question)
            yield _finding("overall_only", question, of_test, test=OVERALL_TITLES[test], p=p, by=by)

    def overall_p(self, name: str) -> tuple[str, float] | None:
        """Return the test of any difference that is quoted, with its p; None without one."""
        rows = self.comparison.of(self.comparison.overall, name)
        p_values = rows.set_index("test")["p_value"].dropna()
        return next(((test, float(p_values[test])) for test in OVERALL_PRIORITY if test in p_values), None)

    def best_ranks(self, question: str, measures: Sequence[str]) -> Iterator[Finding]:
        """Yield the best mean ranks over data sets where no pair is significant."""
        leads: dict[tuple[str, ...], list[str]] = {}
        for name in measures if self.comparison.families else ():
            rows = self.comparison.of(self.comparison.standing, name)
            if not significant_pairs(self.pairs[name]) and rows["mean_rank"].notna().any():
                best = rows.loc[rows["mean_rank"] == rows["mean_rank"].min(), "embedding"]
                if len(best) < len(rows):
                    leads.setdefault(self.ordered(best), []).append(name)
        for names, by in leads.items():
            ranks = [self.comparison.of(self.comparison.standing, name)["mean_rank"].min() for name in by]
            quote = join_and([f"{rank:.2f}" for rank in ranks])
            by_text = "" if len(self.questions[question]) == 1 else self.by(by, question)
            yield _finding("best_rank", question, by, subject=names, quote=quote, by=by_text)

    def probable(self, question: str, measures: Sequence[str]) -> Iterator[Finding]:
        """Yield the pairs that differ, or are equal in practice, by their posterior probabilities."""
        rows = {name: self.all_pairs[name][self.all_pairs[name]["test"] == "bayes"] for name in measures}
        rows = {name: part for name, part in rows.items() if part["p_rope"].notna().any()}
        level, rope = without_zero(f"{1 - self.alpha:g}"), without_zero(f"{self.comparison.recipe['rope'] or 0:g}")
        equal = {
            name: list(zip(part["first"], part["second"], strict=True))
            for name, all_rows in rows.items()
            if len(part := all_rows[all_rows["p_rope"] > 1 - self.alpha])
        }
        limits = {"level": level, "rope": rope}
        for by, pairs in self.grouped({name: significant_pairs(part) for name, part in rows.items()}):
            clauses, keys = self.clauses(pairs), [(name, *pair, "bayes") for name in by for pair in pairs]
            text = self.clause_text(clauses, self.by(by, question))
            yield _finding("probably_better", question, by, keys, clauses=clauses, clauses_text=text, **limits)
        for by, pairs in self.grouped(equal):
            texts = {"pairs": self.pair_text(pairs), "by": self.by(by, question)}
            keys = [(name, *pair, "bayes") for name in by for pair in pairs]
            yield _finding("probably_equal", question, by, keys, **texts, **limits)
        undecided = [name for name, part in rows.items() if name not in equal and not significant_pairs(part)]
        if undecided:
            yield _finding("probably_open", question, undecided, by=self.by(undecided, question), **limits)

    def pair_text(self, pairs: Sequence[tuple[str, str]]) -> str:
        """Return the names of some pairs."""
        return "; ".join(" and ".join(map(isolate_name, pair)) for pair in pairs)

    def equivalences(self, question: str, measures: Sequence[str]) -> Iterator[Finding]:
        """Yield which differences are within their margins; many of them are counted."""
        rows = {name: self.all_pairs[name].to_dict("records") for name in measures}
        verdicts: dict[str, list[tuple[str, Any]]] = {kind: [] for kind in VERDICT_TEXTS}
        for name, rows_of_measure in rows.items():
            for row in rows_of_measure:
                if row["equivalence"]:
                    verdicts[verdict_on_margin(self.comparison, row)].append((name, row))
        total = sum(map(len, verdicts.values()))
        if self.has_two or total <= MAX_LISTED_VERDICTS:
            for kind, items in verdicts.items():
                for name in [""] if self.has_two else dict.fromkeys(name for name, _ in items):
                    chosen = [item for item in items if name in ("", item[0])]
                    yield from [self.equivalence(question, kind, chosen)] if chosen else []
            return
        keys = [self.key(name, row) for items in verdicts.values() for name, row in items]
        counts = {"total": total, "inside": len(verdicts["comparison.equivalent"])}
        counts |= {"beyond": len(verdicts["comparison.larger"])}
        counts["open"] = total - counts["inside"] - counts["beyond"]
        texts = {name: f"{count:,}" for name, count in counts.items()}
        yield _finding("margin_counts", question, measures, keys, **texts)

    def key(self, name: str, row: Mapping[Any, Any]) -> Row:
        """Return the key of the row of one pair."""
        return (name, row["first"], row["second"], row["test"])

    def equivalence(self, question: str, kind: str, items: Sequence[tuple[str, Any]]) -> Finding:
        """Return one verdict on margins: the pairs, or of two embeddings the sizes of their differences."""
        by = tuple(dict.fromkeys(name for name, _ in items))
        margins = list(dict.fromkeys(without_zero(f"{row['margin']:g}") for _, row in items))
        sign = float if self.is_check else abs
        sizes = [without_zero(self.columns[name].format_value(sign(row["difference"]))) for name, row in items]
        if not self.has_two:
            parts = [self.pair_text(list(dict.fromkeys((row["first"], row["second"]) for _, row in items)))]
        else:
            parts = [f"difference{'s' * (len(sizes) > 1)} {join_and(sizes)}"]
        all_margins = margins if len(margins) == 1 else [without_zero(f"{row['margin']:g}") for _, row in items]
        parts.append(f"margin{'s' * (len(margins) > 1)} {join_and(all_margins)}")
        if kind == "comparison.equivalence_borderline":
            _, row = min(items, key=lambda item: float(item[1]["p_equivalence_adjusted"]))
            adjusted = probability(row["p_equivalence_adjusted"], self.alpha)
            parts.append(f"{p_text(row['p_equivalence'], self.alpha)} alone, {adjusted} adjusted")
        texts = {"by": self.by(by, question), "quote": f" ({'; '.join(parts)})"}
        keys = [self.key(name, row) for name, row in items]
        return _finding(kind.partition(".")[2], question, by, keys, **texts)

    def untested(self, question: str, measures: Sequence[str]) -> Iterator[Finding]:
        """Yield the measures of which no pair was tested: by which test any difference was, or the first reason."""
        by_reason: dict[str, list[str]] = {}
        by_lacking: dict[tuple[str, ...], list[str]] = {}
        for name in measures:
            rows, overall = self.all_pairs[name], self.overall_p(name)
            if rows["p_rope"].notna().any():
                continue
            if overall:
                test, p = OVERALL_TITLES[overall[0]], p_text(overall[1], self.alpha)
                yield _finding("overall", question, [name], test=test, p=p, by=self.by([name], question))
                continue
            lacking = self.without_intervals(name)
            if lacking:
                by_lacking.setdefault(lacking, []).append(name)
                continue
            reasons = [str(reason).rstrip(".") for reason in rows["note"] if reason]
            by_reason.setdefault(reasons[0] if reasons else NO_TEST, []).append(name)
        for names, by in by_lacking.items():
            yield _finding("without_intervals", question, by, subject=names, by=self.by(by, question))
        for reason, by in by_reason.items():
            yield _finding("untested", question, by, by=self.by(by, question), reason=reason)

    def without_intervals(self, name: str) -> tuple[str, ...]:
        """Return the embeddings without an interval by one measure if this is why no pair was tested."""
        lacking: set[str] = set()
        for row in self.all_pairs[name].to_dict("records"):
            key = (*self.keys[name], row["first"], row["second"], row["test"])
            notes = [note for note in self.notes.get(key, ()) if note.code == NO_INTERVAL]
            if not notes:
                return ()
            lacking.update(*(dict(note.values).get("embeddings", ()) for note in notes))
        return self.ordered(lacking)

    # The test that decides, and cautions.

    def test_findings(self) -> Iterator[Finding]:
        """Yield the test that decides over data sets, why it was chosen, and what cannot be significant."""
        recipe = self.comparison.recipe
        deciding_test = str(recipe.get("decided_by", ""))
        if not deciding_test:
            return
        adjust = None if recipe["adjust"] == "nothing" else recipe["adjust"]
        smallest = attainable_p(self.comparison.pairs, self.comparison.families, adjust)
        powerless = [name for name, p in recipe["attainable"].items() if p > self.alpha]
        p_name = "p" if adjust is None else "adjusted p"
        limits = {
            str(test): min(float(smallest[test].get(name, math.inf)) for name in powerless or self.columns)
            for test in dict.fromkeys(smallest.index.get_level_values("test"))
        }
        if len(powerless) < len(recipe["attainable"]):
            better_known = DECISION_ORDER[: DECISION_ORDER.index(deciding_test)]
            weaker = [test for test in better_known if float(smallest.get(test, pd.Series([0.0])).min()) > self.alpha]
            limits_of_weaker = {test: _limit(float(smallest[test].min())) for test in weaker}
            reason = "".join(
                f", since {TEST_TITLES[test]} cannot have an {p_name} below {limit} on so few"
                for test, limit in limits_of_weaker.items()
            )
            test = f"{TEST_TITLES[deciding_test]} decide{'s' * (deciding_test != 'wilcoxon')}"
            scope = {"data_sets": self.data_sets(self.columns), "adjusted": adjusted_by(recipe["adjust"])}
            yield _finding("decided_by", TEST, test=test, reason=reason, **scope)
        if powerless:
            texts = [
                f"{TEST_TITLES[test]} cannot have an {p_name} below {_limit(limit)}".replace("an p", "a p")
                for test, limit in limits.items()
            ]
            needed = self.data_sets_needed(powerless, adjust)
            by = f" by {join_and([self.label(name) for name in powerless])}" * (len(powerless) < len(self.columns))
            enough = f"; {needed} data sets would be enough" if needed else ""
            scope = {"data_sets": self.data_sets(powerless), "tests": join_and(texts), "needed": enough}
            yield _finding("powerless", TEST, powerless, by=by, **scope)

    def data_sets(self, measures: Iterable[str]) -> str:
        """Return the number of data sets, or the smallest and the largest."""
        counts = [len(self.comparison.families[name].cells) for name in measures]
        return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"

    def data_sets_needed(self, measures: Sequence[str], adjust: str | None) -> int:
        """Return the smallest number of data sets with which a test could be significant by each measure; else 0."""
        begin = min(len(self.comparison.families[name].cells) for name in measures) + 1
        for n in range(begin, MAX_DATASETS_NEEDED):
            smallest = attainable_p(self.comparison.pairs, self.comparison.families, adjust, n)
            if all(smallest.xs(name, level="name").min() <= self.alpha for name in measures):
                return n
        return 0

    def cautions(self) -> Iterator[Finding]:
        """Yield what may not be concluded."""
        recipe = self.comparison.recipe
        if self.comparison.families:
            yield _finding("datasets_sampled", CAUTION)
        elif {*self.comparison.pairs["test"]} - {"seeds", "subsamples", ""}:
            yield _finding("held_fixed", CAUTION)
        has_margins = bool(recipe.get("margin")) or recipe.get("rope") is not None
        if recipe.get("margin"):
            yield _finding("margin_choice", CAUTION)
        if not has_margins and any((rows["better"] == "").any() for rows in self.pairs.values()):
            yield _finding("no_proof", CAUTION)


def _limit(p: float) -> str:
    """Return a p-value that cannot be undercut, rounded down."""
    return "1" if p >= 1 else without_zero(f"{math.floor(p * 100) / 100:.2f}" if p >= 0.01 else f"{p:.1g}")


def verdict_heading(comparison: Comparison) -> str:
    """Return the heading of verdicts on margins: of a check whether new is worse, else whether two are equivalent."""
    return "verdict" if "verdict" in comparison.recipe else "equivalent?"


def verdict_on_margin(comparison: Comparison, row: Mapping[Any, Any]) -> str:
    """Return the kind of finding of the verdict on one margin."""
    if "verdict" in comparison.recipe:
        return LOSSES[row["equivalence"]]
    alpha = comparison.recipe["alpha"]
    if row["equivalence"] == "equivalent":
        return "comparison.equivalent"
    if row["equivalence"] in ("better", "worse"):
        return "comparison.larger"
    return "comparison.equivalence_borderline" if row["p_equivalence"] <= alpha else "comparison.equivalence_open"
