"""Figures of a result, a comparison and a study. Each is a matplotlib Figure of its own: no global state is touched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from dreval._check import check_names, check_one_of, check_parameters
from dreval.comparison.base import names_hint
from dreval.comparison.compare import compare, contenders
from dreval.errors import DrevalWarning, InputError, warn
from dreval.records.comparison import Comparison
from dreval.records.results import Results
from dreval.registry import FIGURES, METHODS
from dreval.report._style import draw_for_reader, drawing, unknown_letters
from dreval.report.figures._kind import FigureCard
from dreval.report.reading import Reading, read_results

CHOICE = ("names", "embedding")  # options of every figure of a result
COMPARED = ("baseline", "alpha", "adjust")  # what a result that is compared first takes besides


def kinds(of: str | None = None) -> dict[str, FigureCard]:
    """The cards of the kinds of figures, by name: all, or those of a "results" or a "comparison" only.

    Examples
    --------
    >>> sorted(kinds("comparison"))
    ['critical_difference', 'difference_map', 'forest', 'wins']
    """
    return {card.name: card for card in FIGURES.cards() if of in (None, card.of)}


def kind_card(kind: str, of: str | None = None, argument: str = "kind") -> FigureCard:
    """The card of a kind, by its name or by another word for it."""
    known = kinds(of)
    others = {alias: card.name for card in known.values() for alias in card.aliases}
    name = others.get(kind, kind) if isinstance(kind, str) else kind
    return known[check_one_of(name, known, argument, aliases=True)]


def plot(
    results: Results, kind: str = "scatter", ax: Axes | None = None, figsize: Any = None, **options: Any
) -> Figure | Axes:
    """Draw a result; see ``Results.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> res = dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=[5, 10], random_state=0).run(ci=None)
    >>> plot(res, "map", measure="continuity", n_neighbors=5)
    <Figure size ...>
    """
    card = kind_card(kind)
    if card.several:
        raise InputError(
            "kind",
            "must fit one data set",
            f"{kind!r}, which ranks embeddings over several",
            f"Compare results of several, dreval.compare([results, others]).plot({kind!r}), or run a dreval.Study and "
            f"use study.plot({kind!r}).",
        )
    check_parameters(options, (*CHOICE, *(COMPARED if card.of == "comparison" else ()), *card.options), kind)
    reading = read_results(results)
    asked = options.pop("names", None), options.pop("embedding", None)
    names = _names(reading, *asked)
    if asked != (None, None):
        reading = replace(reading, chosen=tuple(names))
    if card.of == "comparison":
        given = {key: options.pop(key) for key in COMPARED if key in options}
        named = names if asked != (None, None) else _with_named(results, given.get("baseline"), options.get("pair"))
        return plot_comparison(compare(results, named, **given), card.name, ax, figsize, **options)
    draw = FIGURES.get(card.name)
    return _read(draw_for_reader(lambda: draw(results, reading, names, **options), ax, figsize))


def plot_comparison(
    comparison: Comparison, kind: str | None = None, ax: Axes | None = None, figsize: Any = None, **options: Any
) -> Figure | Axes:
    """Draw a comparison; see ``Comparison.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> res = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0).run("continuity")
    >>> plot_comparison(res.compare(), "difference_map", pair=("b", "a"))
    <Figure size ...>
    """
    draw = _drawer(comparison, kind, options)
    return _read(draw_for_reader(draw, ax, figsize))


def draw_comparison(comparison: Comparison, kind: str | None = None, **options: Any) -> Figure:
    """The same for a page, whose letters are those of the reader's browser: no word of fonts."""
    draw = _drawer(comparison, kind, options)
    with drawing():
        return draw()


def _drawer(comparison: Comparison, kind: str | None, options: dict[str, Any]) -> Callable[[], Figure]:
    """What draws a comparison, its kind and options checked."""
    card = kind_card(kind or ("critical_difference" if comparison.families else "forest"), "comparison")
    check_parameters(options, card.options, card.name)
    if card.several and not comparison.families:
        cure = "Use dreval.compare over several data sets, or plot('forest')."
        raise InputError("kind", "must fit the comparison", f"{card.name!r} of one data set", cure)
    return partial(FIGURES.get(card.name), comparison, **options)


def plot_study(
    study: Any, kind: str = "critical_difference", ax: Axes | None = None, figsize: Any = None, **options: Any
) -> Figure | Axes:
    """Draw the comparison of a study; see ``Study.plot``."""
    card = kind_card(kind, "comparison")
    check_parameters(options, (*COMPARED, *card.options), card.name)
    asked = {key: options.pop(key) for key in COMPARED if key in options}
    return plot_comparison(study.compare(**asked), card.name, ax, figsize, **options)


def _names(reading: Reading, names: Sequence[str] | str | None, one: str | None) -> list[str]:
    """The embeddings to draw, in the result's order; what is refused is called as it was passed."""
    if not reading.computed:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in reading.failed.items())
        raise InputError("results", "must hold an embedding that was computed", "none", f"All failed. {reasons}")
    if one is not None and names is not None:
        raise InputError("embedding", "must stand alone", "names as well", "Pass one of the two.")
    argument, asked = ("names", names) if one is None else ("embedding", one)
    wanted = list(reading.computed)
    if asked is not None:
        wanted = check_names(asked, argument, names_hint(asked, reading.computed))
    for name in wanted:
        _check_computed(reading, name, argument)
    return [name for name in reading.computed if name in wanted]


def _with_named(results: Results, baseline: Any, pair: Any) -> list[str] | None:
    """Return the embeddings to compare where a pair names the data, which are left out by default; else None."""
    named = {*pair} & {*results.reference} if isinstance(pair, list | tuple) else set()
    if not named:
        return None
    compared = contenders(results)
    return [name for name in results.names if name in compared or name in named or name == baseline]


def _check_computed(reading: Reading, name: Any, argument: str) -> None:
    """Refuse names of no embedding, and of one that failed with the reason."""
    if isinstance(name, str) and name in reading.failed:
        cure = f"Leave it out. It failed: {reading.failed[name]}"
        raise InputError(argument, "must name embeddings that were computed", repr(name), cure)
    METHODS.check_run(name, reading.computed, argument)


def _read(figure: Figure | Axes) -> Figure | Axes:
    """The figure, after saying once which letters of it no font here has."""
    letters = unknown_letters(text.get_text() for text in figure.findobj(Text))  # type: ignore[attr-defined]
    if letters:
        said = f"no font here has {', '.join(map(repr, letters[:3]))}{' and others' if len(letters) > 3 else ''}"
        cure = "Install a font that has them, such as Noto Sans CJK, or rename."
        warn(f"{said}, which figures show as boxes. {cure}", DrevalWarning)
    return figure
