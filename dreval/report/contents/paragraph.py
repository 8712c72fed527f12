"""The comparison in the words that a paper would print, as text, Markdown or LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dreval.comparison._ranks import critical_difference, critical_level
from dreval.records.comparison import Comparison
from dreval.report.contents.comparison import SHORT, cannot_tell, heading
from dreval.report.render.latex import latex_title
from dreval.report.render.markup import latex_text, markdown_text, plain_symbols

if TYPE_CHECKING:
    import pandas as pd


def _markdown_title(title: str) -> str:
    return markdown_text(plain_symbols(title))


@dataclass(frozen=True)
class Voice:
    """How one kind of text writes names, statistics and percents."""

    name: Callable[[str], str]
    title: Callable[[str], str]
    open_math: str
    close_math: str
    chi: str
    percent: str

    def math(self, symbol: str, rest: str) -> str:
        """A symbol with what follows it, as ``p = .02`` or ``F(3, 39) = 3.69``."""
        if self.open_math == "$":
            return f"${symbol}{rest}$"
        return f"{self.open_math}{symbol}{self.close_math}{rest}"

    def p(self, value: float, adjusted: bool = False) -> str:
        """A p-value in a sentence."""
        said = " < .001" if value < 0.001 else f" = {value:.3f}".replace("0.", ".", 1)
        return ("adjusted " if adjusted else "") + self.math("p", said)


VOICES = {
    "text": Voice(str, plain_symbols, "", "", "χ²", " %"),
    "markdown": Voice(markdown_text, _markdown_title, "*", "*", "χ²", " %"),
    "latex": Voice(partial(latex_text, breaks=True), latex_title, "$", "$", r"\chi^2", r"\,\%"),
}
OVERALL = {
    "friedman": "Friedman test",
    "iman_davenport": "Iman-Davenport test",
    "skillings_mack": "Skillings-Mack test",
    "mixed": "mixed model",
}


def paragraph(comparison: Comparison, form: str) -> str:
    """The paragraphs on all measures, with empty lines between."""
    return "\n\n".join(measure_paragraph(comparison, name, form) for name in comparison.measures)


def measure_paragraph(comparison: Comparison, name: str, form: str = "text") -> str:
    """The paragraph on one measure."""
    speak = _across if comparison.families else _within
    return " ".join(speak(comparison, name, VOICES[form]))


def _number(value: float) -> str:
    """A number in a sentence, four significant places."""
    return f"{value:.3g}" if abs(value) < 1e4 else f"{value:.4g}"


def _rounded_to(width: float) -> Callable[[float], str]:
    """Writes numbers with the decimals that show two places of half the width of their interval.

    Examples
    --------
    >>> write = _rounded_to(0.0125)
    >>> write(0.01386), write(0.0201)
    ('0.0139', '0.0201')
    """
    half = width / 2
    if not (math.isfinite(half) and 1e-9 < half < 1e4):
        return _number
    decimals = max(1 - math.floor(math.log10(half)), 0)
    return lambda value: f"{value:.{decimals}f}"


def _across(comparison: Comparison, name: str, voice: Voice) -> Iterator[str]:
    """Sentences on one measure over many data sets."""
    family = comparison.families[name]
    n, k = family.cells.shape
    silent = cannot_tell(comparison, name)
    yield f"{voice.title(heading(comparison, name))}: {k} embeddings were compared on {n} data sets."
    if silent:
        yield silent
    alpha, level = comparison.recipe["alpha"], critical_level(comparison)
    yield from _overall(comparison.of(comparison.overall, name), voice, alpha)
    standing, pairs = comparison.of(comparison.standing, name), comparison.of(comparison.pairs, name)
    if standing["mean_rank"].notna().all():
        ranks = [f"{voice.name(r['embedding'])} {r['mean_rank']:.2f}" for r in standing.to_dict("records")]
        said = f"Mean ranks, 1 being the best: {', '.join(ranks)}"
        whole = int(family.cells.notna().all(axis=1).sum())
        if math.isfinite(level):
            percent = f"{100 * level:.3g}{voice.percent}"
            said += f"; critical difference {critical_difference(whole, k, level):.2f} (Nemenyi, {percent})"
        yield said + (f"; over the {whole} data sets with all embeddings." if whole < n else ".")
    by = str(comparison.recipe.get("decided_by", ""))
    if by:
        how = {"holm": " with Holm's adjustment", "benjamini_hochberg": " with Benjamini and Hochberg's adjustment"}
        lead = f"By {SHORT[by]}{how.get(comparison.recipe['adjust'], '')}"
        yield from _differing(pairs[pairs["test"] == by], voice, comparison.recipe, lead)
    yield from _bayes(pairs[pairs["test"] == "bayes"], voice, comparison.recipe["rope"])


def _overall(rows: pd.DataFrame, voice: Voice, alpha: float) -> Iterator[str]:
    """Whether there is any difference."""
    known = rows[rows["p_value"].notna()].to_dict("records")
    found: dict[str, dict[str, Any]] = {row["test"]: {str(key): row[key] for key in row} for row in known}
    level = f"{100 * alpha:g}{voice.percent}"
    for test in ("friedman", "skillings_mack", "mixed"):
        if test not in found:
            continue
        title, row = OVERALL[test], found[test]
        value = f"({row['df']:g}) = {row['statistic']:.2f}"
        said = [f"{voice.math(voice.chi, value)}, {voice.p(row['p_value'])}"]
        if test == "skillings_mack":
            said = [f"{row['p_kind']} {voice.p(row['p_value'])}", voice.math(voice.chi, value)]
        if test == "friedman":
            title, row, said = _friedman(found, voice, said)
        verb = "rejects" if row["p_value"] <= alpha else "does not reject"
        yield f"The {title} {verb} equality of the embeddings at the {level} level ({'; '.join(said)})."


def _friedman(found: dict[str, dict[str, Any]], voice: Voice, said: list[str]) -> tuple[str, dict[str, Any], list[str]]:
    """Which test decides on equal ranks, its row, and what all of them say: by arrangements, else F."""
    more = found["iman_davenport"]
    value = f"{more['statistic']:.2f}" if math.isfinite(more["statistic"]) else "∞"
    value = value if voice.open_math != "$" else value.replace("∞", r"\infty")
    degrees = f"({more['df']:g}, {more['df_denominator']:g}) = {value}"
    exact = found.get("friedman_exact")
    if exact is None:
        said = [f"{voice.math('F', degrees)}, {voice.p(more['p_value'])}", f"Friedman {said[0]}"]
        return OVERALL["iman_davenport"], more, said
    kind = exact["p_kind"]
    said = [f"{kind} {voice.p(exact['p_value'])}", f"by approximation {said[0]}"]
    said.append(f"Iman-Davenport {voice.math('F', degrees)}, {voice.p(more['p_value'])}")
    return OVERALL["friedman"], exact, said


def _differing(rows: pd.DataFrame, voice: Voice, recipe: Any, lead: str) -> Iterator[str]:
    """The pairs that differ, each with its size and p, and how many do not."""
    rows = rows.assign(p=rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]))
    tested = rows[rows["p"].notna()]
    differ = tested[tested["p"] <= recipe["alpha"]]
    said = [_pair(row, voice, recipe["adjust"] != "nothing") for row in differ.to_dict("records")]
    others = len(tested) - len(differ)
    if said:
        rest = f"; {others} other pair{'s do' if others > 1 else ' does'} not differ significantly" if others else ""
        yield f"{lead}, {'; '.join(said)}{rest}."
    elif len(tested):
        smallest = voice.p(float(tested["p"].min()), recipe["adjust"] != "nothing")
        yield f"{lead}, no pair differs significantly (smallest {smallest})."
    if len(tested) < len(rows):
        untested = len(rows) - len(tested)
        yield f"{untested} pair{'s' if untested > 1 else ''} could not be tested."


def _pair(row: dict[str, Any], voice: Voice, adjusted: bool) -> str:
    """One pair that differs: the better one first, with the size of the difference."""
    ranked, ranks = row["test"] == "wilcoxon", row["test"] == "nemenyi"
    sign = -1.0 if row["better"] == row["second"] else 1.0
    names = (row["first"], row["second"]) if sign > 0 else (row["second"], row["first"])
    words = f"{voice.name(names[0])} is better than {voice.name(names[1])}"
    inside = [f"Hodges-Lehmann difference {_number(sign * row['advantage'])}", f"n = {row['n']}"] if ranked else []
    write: Callable[[float], str] = _number
    if row["conf_low"] == row["conf_low"] and not (ranked or ranks):
        ends = sorted((sign * row["conf_low"], sign * row["conf_high"]))
        write = _rounded_to(ends[1] - ends[0])
        inside.append(f"interval {write(ends[0])} to {write(ends[1])}")
    inside.append(voice.p(row["p"], adjusted))
    if row["effect_size"] == row["effect_size"]:
        inside.append(f"{'rank-biserial correlation' if ranked else 'effect size'} {sign * row['effect_size']:.2f}")
    if row["superiority"] == row["superiority"] and not ranked:
        share = row["superiority"] if sign > 0 else 1 - row["superiority"]
        inside.append(f"probability of superiority {share:.2f}")
    by = "" if ranked else f" by {write(sign * row['advantage'])}" + " mean ranks" * ranks
    return f"{words}{by} ({', '.join(inside)})"


def _bayes(rows: pd.DataFrame, voice: Voice, rope: float | None) -> Iterator[str]:
    """Posterior probabilities of each pair, the larger of the two sides first."""
    if not len(rows):
        return
    said = []
    for row in rows.to_dict("records"):
        first, second = row["first"], row["second"]
        better, equal, worse = row["p_first"], row["p_rope"], row["p_second"]
        if worse > better:
            first, second, better, worse = second, first, worse, better
        said.append(
            f"{voice.name(first)} over {voice.name(second)} {better:.3f} (equivalent {equal:.3f}, worse {worse:.3f})"
        )
    lead = f"Counting differences below {rope:g} as none, the Bayesian signed-rank test gives the probabilities"
    yield f"{lead} {'; '.join(said)}."


ERRORS = {
    "jackknife": "paired differences with jackknife standard errors",
    "classes": "paired differences with jackknife standard errors over the classes",
    "anchors": "paired differences with anchor standard errors",
    "subsampling": "paired differences with standard errors from random halves of the points",
    "seeds": "differences of means over runs with other seeds, with Welch's standard errors",
    "subsamples": "paired differences with standard errors from runs on random halves of the points",
}


def _within(comparison: Comparison, name: str, voice: Voice) -> Iterator[str]:
    """Sentences on one measure of one data set."""
    pairs, recipe = comparison.of(comparison.pairs, name), comparison.recipe
    names = comparison.of(comparison.standing, name)["embedding"].nunique()
    title = voice.title(heading(comparison, name))
    yield f"{title}: {names} embeddings of {recipe['n']:,} points were compared in pairs."
    how = {"holm": ", with Holm's adjustment", "benjamini_hochberg": ", with Benjamini and Hochberg's adjustment"}
    level = f"{100 * (1 - recipe['alpha']):g}{voice.percent}"
    for test, part in pairs.groupby("test", sort=False):
        lead = f"By {ERRORS[str(test)]} (intervals at {level}){how.get(recipe['adjust'], '')}" if test else ""
        yield from _differing(part, voice, recipe, lead)
