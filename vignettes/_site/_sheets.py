"""The glossary, and the cheat sheet: one page to print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dreval
from _site._text import card_fields, code, page, plain, symbols, table, title, write
from dreval.glossary import DIRECTIONS, TARGETS, TERMS
from dreval.measures.core import GOALS
from dreval.registry import MEASURES, TESTS

N, K = 1000, 15  # where the cheat sheet shows chance levels that depend on them
ARROWS = {"higher": "\u2191", "lower": "\u2193", "zero": "\u2192 0", "none": ""}
WAYS_IN = {
    "Evaluate": {
        "dreval.score(X, Y)": "the usual values of one map",
        "dreval.trustworthiness(X, Y)": "one value; every measure is a function",
        'ev = dreval.Evaluation(X, {"umap": Y, "pca": "pca"}, labels=y, random_state=0)': "data, maps, settings",
        "res = ev.run()": "values, intervals, chance levels",
        "print(res)": "the answer for each question",
        "res.compare()": "is one better? paired tests",
        'res.report("x.html")': "one file with everything",
        "res.paragraph()": "the sentences for the paper",
        'res.save("x.dreval")': "later: dreval.load_results",
    },
    "Numbers as tables": {
        "res.tidy()": "a row for each value",
        "res.glance()": "a row for each map",
        'res.augment("umap")': "a row for each point",
        "res.ranking(measure)": "which maps are in the best set",
    },
    "Reliability": {
        'dreval.noise_test(X, "umap")': "more than noise?",
        'dreval.stability(X, "umap")': "the same map again?",
        'dreval.held_out_fidelity(X, "umap")': "real, or fit to noise?",
        'dreval.sweep(X, "umap", {"n_neighbors": [5, 15, 50]})': "which settings?",
        "dreval.Evaluation(X, maps, new_data=X_new)": "new points",
        "dreval.Evaluation(X, maps, groups=donor)": "points that belong together",
    },
    "Shell": {
        "dreval evaluate data.csv -e umap.csv -e isomap --labels kind --report x.html": "the same from files",
        "dreval list; dreval card trustworthiness": "what there is",
        "dreval check new.npy --data data.csv --against old.npy --margin .01": "a gate for builds",
    },
}
FIGURES = {
    "map": "each point from chance (orange) to perfect (blue): where the map misleads",
    "curve": "a measure at every number of neighbors",
    "forest": "differences between maps with intervals",
    "heatmap": "all maps by all measures",
    "shepard": "distances in the map against those in the data",
}
RULES = (
    "Read each value next to its chance level.",
    "T and C together: false neighbors lower T, missing ones C.",
    "Add a measure of distances if you write about distances or places of clusters.",
    "Overlapping intervals decide nothing: compare().",
    "The interval is for further points, with this map.",
    "Separate classes on the map are no evidence of faithfulness.",
)


def write_sheets(folder: Path) -> None:
    """Write both pages."""
    write(folder / "glossary.rst", glossary_page())
    write(folder / "cheat-sheet.rst", cheat_sheet())


def glossary_page() -> str:
    """Return the terms, the targets of intervals, every measure with its question, and every test."""
    measures = {plain(card.title): _measure_words(card) for card in MEASURES.cards()}
    named_tests = zip(TESTS.public_names(), TESTS.cards(), strict=True)
    tests = {plain(card.title): _test_words(name, card) for name, card in named_tests}
    targets = {code(target): f"{meaning[0].upper()}{meaning[1:]}." for target, meaning in TARGETS.items()}
    return page(
        title("Glossary"),
        "The words of results and reports, in a sentence each. The columns of tables are in :doc:`columns`.",
        *(_definitions(plain(term), plain(meaning)) for term, meaning in TERMS.items()),
        title("Targets of intervals", "-"),
        "The values of the column ``target``, and of the replicates from which an interval comes.",
        *(_definitions(target, meaning) for target, meaning in targets.items()),
        title("Measures", "-"),
        *(_definitions(name, measures[name]) for name in sorted(measures, key=str.casefold)),
        title("Tests", "-"),
        *(_definitions(name, tests[name]) for name in sorted(tests, key=str.casefold)),
    )


def _definitions(term: str, meaning: str) -> str:
    return f"{term}\n    {meaning}"


def _measure_words(card: Any) -> str:
    """Return symbol, term of the literature, question and direction of a measure, with a link to its formula."""
    names = ", ".join(dict.fromkeys(symbols(name) for name in (card.symbol, card.term) if name))
    direction = DIRECTIONS[card.direction].capitalize()
    return f"{names}: {plain(card.question)} {direction}. :doc:`Formula <measures/{card.name}>`"


def _test_words(name: str, card: Any) -> str:
    """Return the question or the null hypothesis of a test, with a link to its page."""
    words = plain(card.question) or f"Null hypothesis: {card_fields(card)['hypothesis']}."
    return f"{words} :doc:`{plain(name)} <tests/{name}>`"


def cheat_sheet() -> str:
    """Return the page to print: calls, how to read values, the measures of a run, figures."""
    calls = [
        part
        for heading, entries in WAYS_IN.items()
        for part in (title(heading, "-"), table(["call", "answer"], _cells(entries), "60 40"))
    ]
    rules = "\n".join(f"#. {rule}" for rule in RULES)
    drawn = ((code(f'res.plot("{kind}")'), words) for kind, words in FIGURES.items())
    return page(
        title("Cheat sheet"),
        f".. rst-class:: sheet\n\nPackage ``dreval``, version {dreval.__version__}. One page to print. More: "
        ":doc:`glossary`, :doc:`gallery`.",
        *calls,
        title("Read", "-"),
        rules,
        title("Figures", "-"),
        table(["figure", "shows"], drawn, "46 54"),
        title("What run() computes", "-"),
        table(["measure", "asks", "chance"], _measure_rows(), "26 60 14"),
        f"Arrow: the better direction. Chance: at n = {N} and k = {K}; \u2248: a mean over permutations. "
        "Needs: classes ``labels=``, batches ``batch=``, targets numbers as ``labels=``.",
    )


def _cells(entries: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((code(call), words) for call, words in entries.items())


def _measure_rows() -> Iterator[tuple[str, str, str]]:
    """Yield the measures of a run in the order of their questions, each with its direction and chance level."""
    cards = sorted((card for card in MEASURES.cards() if card.default), key=lambda card: card.default)
    for card in cards:
        goal = GOALS[card.goals[0]].title
        name = f":doc:`{plain(card.title)} <measures/{card.name}>` {ARROWS[card.direction]}"
        chance = card.chance(N, K) if callable(card.chance) else card.chance
        yield name, f"**{goal}.** {plain(card.question)}", "\u2248" if isinstance(chance, str) else f"{chance:.3g}"
