"""What is said of a sweep: which settings are not distinguishable from the best, in a sentence, then their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dreval._check import function_name
from dreval.glossary import DIRECTIONS, format_number, format_p
from dreval.records.sweep import Sweep
from dreval.registry import MEASURES
from dreval.report._numbers import counted, ordered
from dreval.report.document import Best, Block, same_digits
from dreval.report.reading import title_within
from dreval.report.render.summary import Summary

MOST_ROWS = 30
MOST_NAMED = 6  # settings in a sentence
VERDICTS = {True: "best set", False: "worse"}


def sweep_summary(found: Sweep) -> Summary:
    """The answer of each measure in a sentence, a table for each, and why settings are not judged."""
    recipe = found.recipe
    replicates = f"{recipe['parameters']['n_replicates']} {found.over}"
    header = [("Source", str(recipe["source"])), ("Points n", format_number(recipe["n"]))]
    header += [("Columns p", format_number(recipe["p"])), ("Settings", format_number(len(found.settings)))]
    header += [("Replicates", replicates), ("Level", f"{1 - found.alpha:g}"), ("Seed", str(recipe["random_state"]))]
    blocks = [_table(found, name) for name in found.measures]
    first = found.of()
    unjudged = [
        f"{setting_words(setting)}: {text.rstrip('.')}."
        for setting, text in zip(found.settings, first["note"], strict=True)
        if text
    ]
    caution = "A setting in the best set is not shown to be good, or equal to the best: it is not shown to be worse."
    answers = [sweep_answer(found, name) for name in found.measures]
    return Summary("Sweep", header, blocks, [*unjudged, *found.notes, caution], recipe["call"], answers)


def sweep_answer(found: Sweep, measure: str | None = None) -> str:
    """Which settings are not distinguishable from the best by a measure, which are worse, which are not judged.

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", 120, random_state=0)
    >>> found = dreval.sweep(roll.data, "isomap", {"n_neighbors": [4, 20, 40]}, random_state=0)
    >>> sweep_answer(found).split(" (")[0]
    'n_neighbors = 40 has the best mean'
    """
    rows, order = found.of(measure), found.order(measure)
    inside = rows["in_best_set"]
    kept, worse, unjudged = (
        [found.settings[h] for h in order if which[h]]
        for which in (inside.fillna(False), ~inside.fillna(True), inside.isna())
    )
    by = measure_words(rows)
    if not kept:
        return f"No setting can be judged ({by}): see the notes."
    best, *others = kept
    if worse and not others:
        text = f"{_listed([best])} is the best ({by}); {_worse(worse, bool(unjudged), kept)}"
    else:
        text = f"{_listed([best])} has the best mean ({by})"
        alike = f"{_listed(others, [best])} {'is' if len(others) == 1 else 'are'} not distinguishable from it"
        if not worse and not unjudged:
            alike = f"none of the {len(others):,} other settings is distinguishable from it"
            alike = "the other setting is not distinguishable from it" if len(others) == 1 else alike
        text += f"; {alike}" if others else ""
        text += f"; {_worse(worse, bool(unjudged), kept)}" if worse else ""
        text += _crossed(found, rows, order)
    if unjudged:
        text += f"; {_listed(unjudged, kept)} {'is' if len(unjudged) == 1 else 'are'} not judged, see the notes"
    return f"{text}."


def _crossed(found: Sweep, rows: Any, order: Sequence[int]) -> str:
    """Return that settings are worse than the best although their mean is better than that of one in the best set.

    With few replicates standard errors differ much: the differences of the one in the set vary more.
    """
    inside = rows["in_best_set"]
    kept = [h for h in order if inside.fillna(False)[h]]
    places = [place for place, h in enumerate(order) if not inside.fillna(True)[h]]
    before = [found.settings[order[place]] for place in places if place < order.index(kept[-1])]
    if not before:
        return ""
    last, means = found.settings[kept[-1]], "mean" if len(before) == 1 else "means"
    whose = f"the {means} of {_listed(before, [last])} {'is' if len(before) == 1 else 'are'} better than that of"
    return f"; {whose} {_listed([last], before)}, whose differences from better settings vary more"


def _worse(worse: Sequence[Mapping[str, Any]], some: bool, kept: Sequence[Mapping[str, Any]]) -> str:
    """That settings are worse: a few values of one option by name, else the others that are judged."""
    are = "is" if len(worse) == 1 else "are"
    one_option = len({name for setting in (*worse, *kept) for name in setting}) == 1
    if len(worse) == 1 or (one_option and len(worse) <= MOST_NAMED):
        return f"{_listed(worse, kept)} {are} worse"
    return f"the {len(worse):,} other settings {'that are judged ' if some else ''}{are} worse"


def measure_words(rows: Any) -> str:
    """The measure of some rows by its title, with its parameters, and which end is better where it is the lower."""
    card: Any = MEASURES.card(rows["measure"].iloc[0])
    words = str(rows["parameters"].iloc[0]).replace("n_neighbors=", "k = ")
    title = title_within(card.title)
    return ", ".join(filter(None, [title, words, "" if card.direction == "higher" else DIRECTIONS[card.direction]]))


def setting_words(setting: Mapping[str, Any]) -> str:
    """One setting: "n_neighbors = 10, min_dist = 0.1"."""
    return ", ".join(f"{name} = {value_words(value)}" for name, value in setting.items()) or "defaults"


def value_words(value: Any) -> str:
    """A value of an option, short."""
    text = function_name(value, "") or (value if isinstance(value, str) else repr(value))
    text = f"{value:.6g}" if isinstance(value, float) and len(text) > 8 else text
    return text if len(text) <= 24 else f"{text[:23]}…"


def _listed(settings: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]] = ()) -> str:
    """Settings in a sentence; where only one option is set its name stands once, and not again after others."""
    names = {name for one in (*settings, *after) for name in one}
    shown = settings if len(settings) <= MOST_NAMED else settings[: MOST_NAMED - 1]
    rest = [f"{len(settings) - len(shown):,} more"] if len(shown) < len(settings) else []
    if len(names) == 1:
        (name,) = names
        said = ordered([*(value_words(one[name]) for one in shown), *rest])
        return said if after else f"{name} = {said}"
    return ordered([*(f"({setting_words(one)})" for one in shown), *rest])


def _table(found: Sweep, measure: str) -> Block:
    """The settings with means, intervals, p-values and verdicts by one measure; the best of many."""
    rows = found.of(measure)
    if len(rows) > MOST_ROWS:
        higher = MEASURES.card(rows["measure"].iloc[0]).direction == "higher"
        rows = rows.sort_values("mean", ascending=not higher, kind="stable", na_position="last").head(MOST_ROWS)
    means, lows, highs = (same_digits(rows[key].tolist()) for key in ("mean", "conf_low", "conf_high"))
    lines = []
    for (at, row), mean, low, high in zip(rows.iterrows(), means, lows, highs, strict=True):
        judged = not np.isnan(row["p_value"])
        inside = judged and bool(row["in_best_set"])
        lines.append(
            [
                *(value_words(found.settings[at].get(name, "")) for name in found.options),
                Best(mean) if inside else mean,
                f"{low} to {high}" if low else "",
                str(row["n_replicates"]),
                format_p(row["p_value"], found.alpha),
                VERDICTS[inside] if judged else "not judged",
            ]
        )
    level = f"{100 * (1 - found.alpha):g} %"
    columns = [*found.options, "mean", f"{level} interval", "runs", "p", "verdict"]
    rest = len(found.settings) - len(lines)
    foot = f"the best {len(lines)}, {counted(rest, 'further setting')} in tidy()." if rest else ""
    title = measure_words(rows)
    best = "not distinguishable from the best" if rows["in_best_set"].any() else ""
    return Block(title[:1].upper() + title[1:], columns, lines, names=len(found.options), foot=foot, best=best)
