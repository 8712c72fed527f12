"""Which measure is said in which words, and what is said of one value: a verdict must hold for every order of ties."""

from __future__ import annotations

import math

from dreval.report._column import Cell, Column
from dreval.report._judges import AREA, CHANCE, CLASSES, OVERLAP, TRIPLETS, Rule, above_chance, rank_rule, shape_rule

__all__ = ["ALIKE", "RULES", "grade", "say"]

EXACT = 1e-9  # values nearer than that to a bound are the bound, up to rounding


def say(column: Column, cell: Cell) -> tuple[bool, str]:
    """Whether a sentence speaks for the embedding, and the sentence; a verdict must hold for every order of ties."""
    rule = RULES[column.measure]
    if _tells_nothing(column, cell):
        return True, ""
    holds, verdict, ties = _judged(rule, column, cell)
    return holds, "" if verdict == "" else rule.compose(column, cell, verdict, ties)


def grade(column: Column, cell: Cell) -> str:
    """How a value counts on a card: holds, mostly, fails, chance, or nothing where it says nothing or ties leave it."""
    rule = RULES[column.measure]
    if _tells_nothing(column, cell):
        return ""
    verdict = _judged(rule, column, cell)[1] or ""
    ends = (cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,)
    short = any(above_chance(column, cell.moved(end)) < rule.least for end in ends)
    return CHANCE if verdict == CHANCE else "" if short else rule.grades.get(verdict, "")


def _judged(rule: Rule, column: Column, cell: Cell) -> tuple[bool, str | None, str]:
    """Whether the embedding is spoken for, the verdict, None where equal distances leave it open, and words on them."""
    holds, verdict = rule.judge(column, cell)
    if not cell.has_ties:
        return holds, verdict, ""
    low, high = (rule.shown(column, end) for end in sorted((cell.worst, cell.best)))
    if low == high:
        return holds, verdict, ""
    if any(rule.judge(column, cell.moved(end))[1] != verdict for end in (cell.worst, cell.best)):
        return False, None, f"between {low} and {high}"
    return holds, verdict, f"between {low} and {high}"


def _tells_nothing(column: Column, cell: Cell) -> bool:
    """Whether the value is perfect, and so is that of an unrelated embedding: nothing to praise or to reproach."""
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    ends = (cell.value, cell.chance, *((cell.worst, cell.best) if cell.has_ties else ()))
    return all(math.isclose(end, perfect, rel_tol=EXACT, abs_tol=EXACT) for end in ends)


# The order in which the measures are read; the first one with a value gives the lead.
RULES: dict[str, Rule] = {
    "neighborhood_overlap": OVERLAP,
    "trustworthiness": rank_rule(
        "points shown close",
        "Points shown close are close in the data",
        "Points shown close are mostly close in the data",
        "Points shown close may be far apart in the data",
    ),
    "continuity": rank_rule(
        "points shown apart",
        "Points close in the data are shown close",
        "Points close in the data are mostly shown close",
        "Points close in the data may be shown far apart",
    ),
    "jaccard": shape_rule(
        "neighborhoods",
        "Neighborhoods agree with those of the data",
        "Most neighborhoods differ from those of the data",
    ),
    "mrre_false": rank_rule(
        "ranks of neighbors shown",
        "Neighbors shown have nearly their ranks of the data",
        "Neighbors shown have about their ranks of the data",
        "Neighbors shown may be far down in the order of the data",
    ),
    "mrre_missing": rank_rule(
        "ranks of true neighbors",
        "Neighbors in the data are shown nearly at their ranks",
        "Neighbors in the data are shown about at their ranks",
        "Neighbors in the data may be shown far down in the order",
    ),
    "r_nx_auc": AREA,
    "procrustes_rc": shape_rule(
        "local shapes", "Neighborhoods keep their shape", "Do not read shapes within neighborhoods"
    ),
    "procrustes_rn_opt": shape_rule(
        "local sizes",
        "At one scale for the whole embedding, neighborhoods keep shape and size",
        "At one scale for the whole embedding, neighborhoods lose shape or size",
    ),
    "local_radius_correlation": shape_rule("densities", "Dense regions are shown dense", "Do not read densities"),
    "spearman_distance": shape_rule(
        "group distances", "Distances keep their order", "Do not read distances between groups"
    ),
    "pearson_distance": shape_rule(
        "group distances", "Distances grow in proportion", "Do not read distances between groups"
    ),
    "kendall_distance": shape_rule(
        "group distances", "Distances keep their order", "Do not read distances between groups"
    ),
    "triplet_accuracy": TRIPLETS,
    "procrustes_disparity": shape_rule(
        "global shape",
        "The whole has the shape of the data",
        "Do not read the shape of the whole or distances between groups",
    ),
    "latent_r2": shape_rule(
        "the latent variables", "The true latent variables can be read off", "Do not read off the true latent variables"
    ),
    "label_trustworthiness": shape_rule(
        "classes shown mixed",
        "Classes apart in the data are shown apart",
        "Classes apart in the data may be shown mixed",
    ),
    "label_continuity": shape_rule(
        "classes shown apart",
        "Classes mixed in the data are shown mixed",
        "Classes mixed in the data may be shown apart",
    ),
    "knn_accuracy": CLASSES,
}
# Measures that answer the question of another one: where that one has a value, they are left to the tables.
ALIKE = {
    "jaccard": "neighborhood_overlap",
    "mrre_false": "trustworthiness",
    "mrre_missing": "continuity",
    "pearson_distance": "spearman_distance",
    "kendall_distance": "spearman_distance",
}
