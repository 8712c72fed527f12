"""A comparison as reports use it: the columns of its measures, its best embeddings, and the tests that decide."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from dreval.comparison.compare import TEST_NAMES, count_tests
from dreval.glossary import TARGETS
from dreval.inference import intervals
from dreval.inference.ties import order_by_mean_rank
from dreval.measures.core import GOALS
from dreval.records.comparison import Comparison
from dreval.records.frames import keys_by_full_name, parameters_of
from dreval.report.result_view import (
    TARGET_PARAMETER,
    Column,
    independent_unit,
    interval_assumptions,
    make_column,
    measure_title,
    parameter_text,
    same_maps,
)

NO_QUESTION = "Result"  # the answer of measures of which none has a question
OTHER_QUESTION = "Other measures"
TEST_TITLES = {"wilcoxon": "Wilcoxon signed-rank tests", "nemenyi": "Nemenyi's test", "mixed": "the mixed model"}

OVERALL_TITLES = {
    "friedman": "Friedman chi-square",
    "iman_davenport": "Iman-Davenport F",
    "friedman_exact": "Friedman, by arrangements",
    "skillings_mack": "Skillings-Mack chi-square",
    "mixed": "Mixed model, Wald chi-square",
}

PAIR_TITLES = {
    "jackknife": "paired differences",
    "group_jackknife": "paired differences without each group",
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


def against_lead(comparison: Comparison, name: str) -> tuple[str, pd.DataFrame]:
    """Return the baseline, or the best embedding of one measure, and its tested pairs by the test that decides."""
    rows = decisive_pairs(comparison, name)
    lead = str(comparison.recipe.get("baseline") or comparison.of(comparison.standing, name)["embedding"].iloc[0])
    return lead, rows[(rows["first"] == lead) | (rows["second"] == lead)]


def decisive_pairs(comparison: Comparison, name: str) -> pd.DataFrame:
    """Return the tested pairs of one measure by the test that decides."""
    by, rows = str(comparison.recipe.get("decided_by", "")), comparison.of(comparison.pairs, name)
    return rows[((rows["test"] == by) if by else (rows["test"] != "bayes")) & rows["p_value"].notna()]


def significant_pairs(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the better and the worse embedding of each significant pair."""
    rows = rows[rows["better"] != ""]
    better_first = rows["better"] == rows["first"]
    return list(zip(rows["better"], rows["second"].where(better_first, rows["first"]), strict=True))


def setting_suffix(comparison: Comparison, name: str) -> str:
    """Return the parameters of a measure that the comparison has with several."""
    row = comparison.of(comparison.standing, name).iloc[0]
    keys = keys_by_full_name(comparison.standing)
    parts = [(measure, parameters_of(parameters)) for measure, parameters in keys.values()]
    target, settings = TARGET_PARAMETER, parameters_of(row["parameters"])
    several = sum((name, of_name.get(target)) == (row["measure"], settings.get(target)) for name, of_name in parts) > 1
    settings = {name: value for name, value in settings.items() if name != target}  # the title has it
    return f" ({parameter_text(settings, full=True)})" if several else ""


def column_of(comparison: Comparison, name: str) -> Column:
    """Return the values of one measure on one data set, or its means over several."""
    rows = comparison.of(comparison.standing, name)
    direction = direction_of(comparison, name)
    records = [{**row, "direction": direction} for row in rows[["embedding", "value"]].to_dict("records")]
    return make_column(str(rows["measure"].iloc[0]), str(rows["parameters"].iloc[0]), records)


def by_mean_rank(comparison: Comparison) -> list[str]:
    """Return the embeddings by their mean rank over all measures: ranks of values, or over data sets mean ranks."""
    results, compared = comparison.results, {*comparison.standing["embedding"]}
    names = list(dict.fromkeys(comparison.standing["embedding"])) if results is None else results.names
    ranks: dict[str, list[float]] = {name: [] for name in names if name in compared}
    for name in comparison.measures:
        rows = comparison.of(comparison.standing, name)
        mean_ranks = dict(zip(rows["embedding"], rows["mean_rank"], strict=True))
        for embedding, rank in (
            mean_ranks if comparison.families else column_of(comparison, name).ranks_of_values
        ).items():
            ranks[embedding].append(float(rank))
    return order_by_mean_rank(ranks)


def embedding_order(comparison: Comparison) -> list[str]:
    """Return the embeddings in the order of a report: by mean ranks over data sets, else by places among the best.

    On one data set these are the questions, then the measures, by which no other embedding is significantly better;
    then the given order. It is an order, not a score. An embedding and its baseline are in this order, as the
    differences from a baseline are.
    """
    sides = comparison.pairs[["first", "second"]].drop_duplicates()
    if "baseline" in comparison.recipe and not comparison.families and len(sides) == 1:
        return [str(name) for name in sides.iloc[0]]
    if comparison.families or "baseline" in comparison.recipe:
        return by_mean_rank(comparison)
    places: dict[str, list[str]] = {}
    for name in comparison.measures:
        rows = decisive_pairs(comparison, name)
        worse, topic = {loser for _, loser in significant_pairs(rows)}, column_of(comparison, name).topic or name
        for row in comparison.of(comparison.standing, name).to_dict("records"):
            is_best = row["embedding"] not in worse and not math.isnan(row["value"])
            places.setdefault(row["embedding"], []).extend([topic] * is_best)
    names = by_mean_rank(comparison) if comparison.results is None else comparison.results.names
    compared = [name for name in names if name in places]
    return sorted(compared, key=lambda name: (-len({*places[name]}), -len(places[name])))


def measures_by_question(columns: Mapping[str, Column]) -> dict[str, list[str]]:
    """Return the measures of each question, in the order of the questions; those without one come last."""
    order = [*dict.fromkeys(goal.title for goal in GOALS.values()), ""]
    other = OTHER_QUESTION if any(column.topic for column in columns.values()) else NO_QUESTION
    questions: dict[str, list[str]] = {}
    for name in sorted(columns, key=lambda name: order.index(columns[name].topic)):
        questions.setdefault(columns[name].topic or other, []).append(name)
    return questions


def pair_test_count(comparison: Comparison) -> int:
    """Return over how many tests of pairs p is adjusted, by the test that decides; copies of a map count once."""
    pairs = comparison.pairs
    if comparison.families:
        pairs = pairs[pairs["test"] == comparison.recipe["decided_by"]]
    groups = same_maps(comparison.results) if comparison.results is not None and not comparison.families else ()
    return count_tests(pairs, groups)


def is_paired(comparison: Comparison) -> bool:
    """Return whether the embeddings are compared on the same points, halves or data sets by every test."""
    return "seeds" not in {*comparison.pairs["test"]}


def equal_maps(comparison: Comparison) -> list[set[str]]:
    """Return the groups of embeddings that are the same map; over data sets, that have equal values by all measures."""
    if comparison.results is not None:
        return [{*names} for names in same_maps(comparison.results)]
    names = list(dict.fromkeys(comparison.standing["embedding"]))
    families = comparison.families.values()
    columns = [dict(zip(family.names, family.goodness.T, strict=True)) for family in families]
    groups: dict[tuple[bytes, ...], set[str]] = {}
    for name in names:
        values = tuple((column[name] + 0.0).tobytes() if name in column else b"" for column in columns)
        groups.setdefault(values, set()).add(name)
    return [group for group in groups.values() if len(group) > 1]


def measure_heading(comparison: Comparison, name: str) -> str:
    """Return one measure in words: title, direction and setting."""
    row = comparison.of(comparison.standing, name).iloc[0]
    short, title = parameter_text(row["parameters"]), measure_title(row["measure"])
    return f"{title}, {direction_of(comparison, name)} is better" + (f", {short}" if short else "")


def direction_of(comparison: Comparison, name: str) -> str:
    """Return the better direction: "higher" or "lower"."""
    if comparison.families:
        return "higher" if comparison.families[name].higher else "lower"
    row = comparison.of(comparison.standing, name).iloc[0]
    table = comparison.results.table if comparison.results is not None else comparison.standing
    return str(table.loc[table["measure"] == row["measure"], "direction"].iloc[0])


def performed_tests(comparison: Comparison) -> list[str]:
    """Return the tests of pairs that have a result, each once: a p-value or a posterior probability."""
    pairs = comparison.pairs
    return [test for test in dict.fromkeys(pairs.loc[pairs[["p_value", "p_rope"]].notna().any(axis=1), "test"]) if test]


def test_assumptions(comparison: Comparison) -> str:
    """Return what the tests of pairs take as independent and as fixed; empty without tests."""
    tests = performed_tests(comparison)
    if comparison.families or not tests:
        return "independent data sets" if tests else ""
    kinds = {test: kind for kind, test in TEST_NAMES.items()}
    unit = independent_unit(comparison.recipe)
    targets = [target_of_test(kinds.get(test, test)) for test in tests]
    return "; ".join(dict.fromkeys(interval_assumptions(unit, target) for target in targets))


def target_of_test(kind: str) -> str:
    """Return the target of the tests with a kind of standard error, a key of ``glossary.TARGETS``."""
    return kind if kind in TARGETS else intervals.TARGETS[kind]
