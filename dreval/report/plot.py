"""Figures of a result, a comparison and a study. Each is a separate matplotlib Figure: no global state is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from dreval._check import check_names, check_one_of, check_parameters
from dreval.comparison.compare import compare, contenders
from dreval.comparison.families import names_hint
from dreval.errors import DrevalWarning, InputError, UnknownName, warn
from dreval.records.comparison import Comparison
from dreval.records.results import Results
from dreval.registry import FIGURES, MEASURES, METHODS
from dreval.report._style import draw_for_reader, figure_style, letters_without_glyph
from dreval.report.figures._kind import FigureCard
from dreval.report.result_view import ResultView, read_results

EMBEDDING_OPTIONS = ("names", "embedding")  # options of every figure of a result
COMPARISON_OPTIONS = ("baseline", "alpha", "adjust")  # what a result that is compared first takes besides


def kinds(of: str | None = None) -> dict[str, FigureCard]:
    """Return the cards of the kinds of figures, by name: all, or those of a "results" or a "comparison" only.

    Examples
    --------
    >>> sorted(kinds("comparison"))
    ['critical_difference', 'difference_map', 'forest', 'wins']
    """
    return {card.name: card for card in FIGURES.cards() if of in (None, card.of)}


def kind_card(kind: str, of: str | None = None, argument: str = "kind") -> FigureCard:
    """Return the card of a kind, by its name or an alias."""
    cards = kinds(of)
    names_by_alias = {alias: card.name for card in cards.values() for alias in card.aliases}
    name = names_by_alias.get(kind, kind) if isinstance(kind, str) else kind
    return cards[check_one_of(name, cards, argument, aliases=True)]


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
    if isinstance(kind, str) and kind not in kinds():
        if kind in results.names:
            hint = f"Pass embedding={kind!r}, or write results[{kind!r}].plot()."
            raise UnknownName("kind", "must be a kind of figure", f"{kind!r}, an embedding", hint)
        if kind in MEASURES:
            hint = f"Use plot('map', measure={kind!r}); dreval.list_figures() lists the kinds."
            raise UnknownName("kind", "must be a kind of figure", f"{kind!r}, a measure", hint)
    card = kind_card(kind)
    if card.several:
        raise InputError(
            "kind",
            "must fit one data set",
            f"{kind!r}, which ranks embeddings over several",
            f"Compare results of several, dreval.compare([results, others]).plot({kind!r}), or run a dreval.Study and "
            f"use study.plot({kind!r}).",
        )
    check_parameters(
        options, (*EMBEDDING_OPTIONS, *(COMPARISON_OPTIONS if card.of == "comparison" else ()), *card.options), kind
    )
    view = read_results(results)
    _check_map(results, card)
    requested = options.pop("names", None), options.pop("embedding", None)
    names = _requested_names(view, *requested)
    if requested != (None, None):
        view = replace(view, requested=tuple(names))
    if card.of == "comparison":
        comparison_options = {key: options.pop(key) for key in COMPARISON_OPTIONS if key in options}
        names_to_compare = (
            names
            if requested != (None, None)
            else _names_with_reference(results, comparison_options.get("baseline"), options.get("pair"))
        )
        return plot_comparison(
            compare(results, names=names_to_compare, **comparison_options), card.name, ax, figsize, **options
        )
    draw = FIGURES.get(card.name)
    return _warn_missing_glyphs(draw_for_reader(lambda: draw(results, view, names, **options), ax, figsize))


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
    if comparison.results is not None:
        _check_map(comparison.results, kind_card(kind or "forest", "comparison"))
    draw = _draw_function(comparison, kind, options)
    return _warn_missing_glyphs(draw_for_reader(draw, ax, figsize))


def draw_comparison(comparison: Comparison, kind: str | None = None, **options: Any) -> Figure:
    """Draw a comparison for a page, whose fonts are those of the browser: no warning of missing glyphs."""
    draw = _draw_function(comparison, kind, options)
    with figure_style():
        return draw()


def _draw_function(comparison: Comparison, kind: str | None, options: dict[str, Any]) -> Callable[[], Figure]:
    """Return the function that draws a comparison, after checking its kind and options."""
    card = kind_card(kind or ("critical_difference" if comparison.families else "forest"), "comparison")
    check_parameters(options, card.options, card.name)
    if card.several and not comparison.families:
        hint = "Use dreval.compare over several data sets, or plot('forest')."
        raise InputError("kind", "must fit the comparison", f"{card.name!r} of one data set", hint)
    return partial(FIGURES.get(card.name), comparison, **options)


def plot_study(
    study: Any, kind: str = "critical_difference", ax: Axes | None = None, figsize: Any = None, **options: Any
) -> Figure | Axes:
    """Draw the comparison of a study; see ``Study.plot``."""
    card = kind_card(kind, "comparison")
    check_parameters(options, (*COMPARISON_OPTIONS, *card.options), card.name)
    comparison_options = {key: options.pop(key) for key in COMPARISON_OPTIONS if key in options}
    return plot_comparison(study.compare(**comparison_options), card.name, ax, figsize, **options)


def _check_map(results: Results, card: FigureCard) -> None:
    """Raise for a figure that draws coordinates of embeddings of which only distances were evaluated."""
    if card.draws_map and any(Y.shape[1] == 0 for Y in results.embeddings.values()):
        hint = "Evaluate the coordinates, or draw plot('shepard')."
        raise InputError("kind", "must need no coordinates where embeddings are distances", repr(card.name), hint)


def _requested_names(view: ResultView, names: Sequence[str] | str | None, embedding: str | None) -> list[str]:
    """Return the embeddings to draw, in the order of the result; errors name the argument of the caller."""
    if not view.computed:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in view.failed.items())
        raise InputError("results", "must hold an embedding that was computed", "none", f"All failed. {reasons}")
    if embedding is not None and names is not None:
        raise InputError("embedding", "must stand alone", "names as well", "Pass one of the two.")
    argument, requested = ("names", names) if embedding is None else ("embedding", embedding)
    chosen = list(view.computed)
    if requested is not None:
        chosen = check_names(requested, argument, names_hint(requested, view.computed))
    for name in chosen:
        _check_computed(view, name, argument)
    return [name for name in view.computed if name in chosen]


def _names_with_reference(results: Results, baseline: Any, pair: Any) -> list[str] | None:
    """Return the embeddings to compare where a pair names the data, which are left out by default; else None."""
    named = {*pair} & {*results.reference} if isinstance(pair, list | tuple) else set()
    if not named:
        return None
    compared = contenders(results)
    return [name for name in results.names if name in compared or name in named or name == baseline]


def _check_computed(view: ResultView, name: Any, argument: str) -> None:
    """Raise for names of no embedding, and for one that failed, with the reason."""
    if isinstance(name, str) and name in view.failed:
        hint = f"Leave it out. It failed: {view.failed[name]}"
        raise InputError(argument, "must name embeddings that were computed", repr(name), hint)
    METHODS.check_run(name, view.computed, argument)


def _warn_missing_glyphs(figure: Figure | Axes) -> Figure | Axes:
    """Return the figure, after one warning of the letters that no installed font has."""
    letters = letters_without_glyph(text.get_text() for text in figure.findobj(Text))  # type: ignore[attr-defined]
    if letters:
        message = f"no font here has {', '.join(map(repr, letters[:3]))}{' and others' if len(letters) > 3 else ''}"
        hint = "Install a font that has them, such as Noto Sans CJK, or rename."
        warn(f"{message}, which figures show as boxes. {hint}", DrevalWarning)
    return figure
