"""A page for each test: one example with its null distribution, its size and its power."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import dreval
from _site._text import card_fields, fields, page, plain, raw, table, title, toctree, write
from dreval.registry import TESTS
from dreval.report._svg import inline_svg

FloatArray = npt.NDArray[np.float64]
Draw = Callable[[int], tuple[FloatArray, Any]]  # of the number of the run: two variables, or data and method
N, RUNS, LEVEL = 40, 100, 0.05
RESAMPLES = {
    "variable": ("n_resamples", 99, 499),
    "number": ("n_resamples", 99, 499),
    "groups": ("n_resamples", 99, 499),
    "method": ("n_replicates", 19, 99),
}


def _shape(shape: str, noise: float) -> Draw:
    def draw(run: int) -> tuple[FloatArray, FloatArray]:
        x, y = dreval.simulate("dependence", n=N, random_state=run, shape=shape, noise=noise).data.T
        return x, y

    return draw


def _samples(change: Callable[[FloatArray], FloatArray]) -> Draw:
    def draw(run: int) -> tuple[FloatArray, FloatArray]:
        first, second = np.random.default_rng(run).normal(size=(2, N // 2))
        return first, change(second)

    return draw


def _on_a_map(number: Callable[[FloatArray], FloatArray], noise: float) -> Draw:
    def draw(run: int) -> tuple[FloatArray, FloatArray]:
        rng = np.random.default_rng(run)
        places = rng.uniform(size=(N, 2))
        return places, number(places) + noise * rng.normal(size=N)

    return draw


def _columns(factor: float) -> Draw:
    def draw(run: int) -> tuple[FloatArray, str]:
        rng = np.random.default_rng(run)
        return rng.normal(size=(N, 6)) + factor * rng.normal(size=(N, 1)), "pca"

    return draw


# The simulated cases, by the kind of the second argument of a test; the null hypothesis holds in the first of each.
CASES: dict[str, dict[str, Draw]] = {
    "variable": {
        "independent": _shape("independent", 0.0),
        "a line with much noise": _shape("linear", 1.0),
        "a parabola": _shape("quadratic", 0.3),
        "a circle": _shape("circle", 0.1),
        "only the spread depends": _shape("variance", 0.1),
    },
    "number": {
        "a number that does not depend on the place": _on_a_map(lambda places: 0.0 * places[:, 0], 1.0),
        "a gradient with much noise": _on_a_map(lambda places: places[:, 0], 0.5),
        "a gradient with little noise": _on_a_map(lambda places: places[:, 0], 0.2),
        "two stripes": _on_a_map(lambda places: np.sin(4 * np.pi * places[:, 0]), 0.5),
    },
    "groups": {
        "two samples of one normal distribution": _samples(lambda values: values),
        "means one standard deviation apart": _samples(lambda values: values + 1.0),
        "three times the standard deviation": _samples(lambda values: 3.0 * values),
    },
    "method": {
        "six independent columns, PCA": _columns(0.0),
        "the same with a weak common factor": _columns(0.5),
        "the same with a strong common factor": _columns(1.0),
    },
}


def write_tests(folder: Path) -> None:
    """Write all pages and their overview."""
    names = TESTS.public_names()
    rates = {name: rejections(TESTS.get(name.removesuffix(TESTS.suffix))) for name in names}
    for name, card in zip(names, TESTS.cards(), strict=True):
        write(folder / "tests" / f"{name}.rst", test_page(name, card, rates[name]))
    write(folder / "tests" / "index.rst", _overview(names, rates))


def rejections(test: Any) -> dict[str, int]:
    """Count, of ``RUNS`` simulations of each case, those in which the test rejects at the level 0.05."""
    return {
        words: sum(_rejects(test, draw, run) for run in range(RUNS)) for words, draw in CASES[test.card.second].items()
    }


def _rejects(test: Any, draw: Draw, run: int) -> bool:
    name, count, _ = RESAMPLES[test.card.second]
    return bool(test(*draw(run), **{name: count}, random_state=run, n_jobs=1).p_value <= LEVEL)


def test_page(name: str, card: Any, rates: dict[str, int]) -> str:
    """Return the page of one test."""
    test = TESTS.get(card.name)
    words, draw = list(CASES[card.second].items())[2]
    keyword, few, many = RESAMPLES[card.second]
    drawn = "null data sets" if card.second == "method" else "permutations"
    result = test(*draw(0), **{keyword: many}, random_state=0)
    label = f"Null distribution of {card.title} and the observed statistic"
    return page(
        title(plain(card.title)),
        fields({"function": f"``dreval.{name}``"} | card_fields(card, "name")),
        title("One example", "-"),
        f"{N} rows: {words}. The observed statistic and those of {many} {drawn} (p = {result.p_value:.3f}).",
        raw(f'<div class="histogram" tabindex="0">{inline_svg(result.plot(), card.name, label)}</div>'),
        title("Size and power", "-"),
        f"Rejections at the level 0.05 with {few} {drawn}, of {RUNS} simulations with {N} rows each. "
        "The first line is the size, with 5 rejections expected; the others are the power.",
        raw(_bars(rates)),
        title("Reference", "-"),
        f".. autofunction:: dreval.{name}",
    )


def _bars(rates: dict[str, int]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(words)}</th><td><i style="width:{100 * count / RUNS:.0f}%"></i></td>'
        f"<td>{count}</td></tr>"
        for words, count in rates.items()
    )
    return f'<table class="bars">{rows}</table>'


def _overview(names: list[str], rates: dict[str, dict[str, int]]) -> str:
    cards = TESTS.cards()

    def listed(named_cards: list[tuple[str, Any]]) -> str:
        rows = ((f":doc:`{name}`", plain(c.title), ", ".join(c.null), ", ".join(c.needs)) for name, c in named_cards)
        return table(["test", "title", "p-value by", "needs"], rows)

    first = [name for name, card in zip(names, cards, strict=True) if card.second == "variable"]
    independence, of_method = (
        [(name, card) for name, card in zip(names, cards, strict=True) if (card.second == "method") == is_of_method]
        for is_of_method in (False, True)
    )
    powers = table(
        ["simulated data", *(f"``{name}``" for name in first)],
        ([plain(case), *(str(rates[name][case]) for name in first)] for case in CASES["variable"]),
    )
    return page(
        title("Tests of independence and of a method"),
        title("Tests of independence", "-"),
        "Does one variable, of any dimension or kind, depend on another? Read the effect size first. If b of m "
        "permutations reach the observed statistic, the p-value is (b + 1)/(m + 1); it is never 0.",
        listed(independence),
        f"Rejections at the level 0.05, of {RUNS} simulations of {N} rows. In the first line the variables are "
        "independent, and 5 rejections are expected.",
        powers,
        title("Is it more than noise? Tests of a method", "-"),
        "Does a method show more of the data than of null data? The method is re-run on each null data set.",
        listed(of_method),
        toctree(names, "hidden:"),
    )
