"""A page for each measure, and the gallery: every measure for the same six embeddings of one bent sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from six_maps import EMBEDDINGS, SEED, N, embeddings, principal, sheet

import dreval
from _site import _drawing as draw
from _site._text import card_fields, fields, page, plain, raw, title, toctree, write
from dreval.glossary import DIRECTIONS
from dreval.measures.core import GOALS
from dreval.records.frames import setting_names
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report.figures._panels import scale_of_maps
from dreval.report.render.markup import html_symbols

FloatArray = npt.NDArray[np.float64]

METHOD_READING = "These measures re-run a method or fit it to new data; their pages compare five methods."

INTRODUCTION = (
    "Each quality measure of an embedding detects some faults and misses others. The table shows which: every "
    "measure is computed for the same six embeddings of one bent sheet in three dimensions. Read a column to see which "
    "measures detect the tear, and a row to see what one measure responds to. Cells go from the chance level (orange) "
    "to a perfect value (blue). The measures of a method are computed for five methods instead, on their own pages."
)


def write_measures(folder: Path) -> None:
    """Write the page of each measure, and the gallery."""
    cards = MEASURES.cards()
    for card in cards:
        write(folder / "measures" / f"{card.name}.rst", measure_page(card))
    write(folder / "gallery.rst", _gallery(cards))


def measure_page(card: Any) -> str:
    """Return the page of one measure: its question, its card, its values for the embeddings, its docstring."""
    entries = card_fields(card, "name", "question")
    return page(
        title(plain(card.title)),
        f".. rst-class:: question\n\n{plain(card.question)}",
        fields({"function": f"``dreval.{card.name}``", "symbol": plain(card.symbol)} | entries),
        title("Values for the same embeddings", "-"),
        raw(_maps(card)),
        title("Reference", "-"),
        f".. autofunction:: dreval.{card.name}",
    )


def _rows(card: Any) -> pd.DataFrame:
    """Return the values of a measure by embedding, or by method."""
    table = (evaluated_methods() if "method" in card.needs else evaluated()).table
    return table[table["measure"] == card.name].set_index("embedding")


def _maps(card: Any) -> str:
    if "method" in card.needs:
        return _methods(card)
    rows, (_, latent, labels) = _rows(card), sheet()
    colors = _point_colors(card, rows)
    plain_colors = draw.by_class(labels) if "labels" in card.needs else draw.along(latent[:, 0])
    figures = []
    for name, points in embeddings().items():
        drawn = draw.scatter(points, colors.get(name, plain_colors), f"{name}: {EMBEDDINGS[name]}")
        value = _curve(card, name) if card.curve else f"<b>{number(rows.value[name], _counts(rows))}</b>"
        figures.append(draw.figure(drawn, f"{escape(name)} {value}", escape(EMBEDDINGS[name])))
    return f'<div class="maps">{"".join(figures)}</div>\n<p class="key">{_key(card, rows, bool(colors))}</p>'


def _point_colors(card: Any, rows: pd.DataFrame) -> dict[str, list[str]]:
    """Return colors of the points of each embedding by what they contribute; none if they contribute nothing."""
    results = evaluated()
    if card.level != "point" or card.direction not in ("higher", "lower"):
        return {}
    column = setting_names(results.table)[card.name, rows.parameters.iloc[0]]
    values = {name: results.points[name][column].to_numpy(dtype=float) for name in embeddings()}
    scale = scale_of_maps([*values.values()], card.direction == "higher", card.bounds, [*_chances(rows)])
    return {
        name: draw.from_chance_to_perfect(contributions, scale.first, scale.last)
        for name, contributions in values.items()
    }


def _chances(rows: pd.DataFrame) -> FloatArray:
    """Return the chance levels of the embeddings that are not a copy of the data."""
    return rows.chance.drop("copy", errors="ignore").dropna().to_numpy(dtype=float)


def _curve(card: Any, name: str) -> str:
    values = evaluated().curve(card.name)[name].to_numpy(dtype=float)
    pooled = evaluated().curve(card.name).to_numpy(dtype=float)
    ceiling = 1.0 if card.direction == "higher" else 0.0
    span = (min(0.0, float(np.nanmin(pooled))), max(ceiling, float(np.nanmax(pooled))))
    return draw.curve(values, span, 0.0, f"{card.title} of {name} for K = 1 to {len(values)}")


def _key(card: Any, rows: pd.DataFrame, mapped: bool) -> str:
    """Return the legend below the embeddings: colors, direction, chance level."""
    sentences = []
    if mapped:
        sentences.append("Points are colored by their contributions, from chance (orange) to perfect (blue).")
    elif "labels" in card.needs:
        sentences.append("Colors are the classes.")
    else:
        sentences.append("Colors run along the bend of the sheet.")
    if card.curve:
        sentences.append("Below each embedding is the curve over all K, with K on a log scale; 0 is dashed.")
    else:
        chance = rows.chance.drop("copy", errors="ignore").median()
        sentences.append(
            f"{_direction(card)}." + (f" Chance level: {number(chance)}." if math.isfinite(chance) else "")
        )
    if card.shares_neighbors:
        sentences.append("Here k = 15.")
    return " ".join(sentences)


def _direction(card: Any) -> str:
    return DIRECTIONS[card.direction].capitalize()


def _methods(card: Any) -> str:
    """Draw the embeddings of the sheet by each method, with the value of the method."""
    rows, (_, latent, _) = _rows(card), sheet()
    method_embeddings = evaluated_methods().embeddings
    figures = []
    for name, (_, words) in METHODS.items():
        drawn = draw.scatter(
            np.asarray(method_embeddings[name], dtype=float), draw.along(latent[:, 0]), f"{name}: {words}"
        )
        figures.append(draw.figure(drawn, f"{escape(name)} <b>{number(rows.value[name])}</b>", escape(words)))
    chance = f" Chance level: {number(rows.chance.median())}." if math.isfinite(rows.chance.median()) else ""
    key = f"Five methods, each re-run on other data. Colors run along the bend of the sheet. {_direction(card)}."
    return f'<div class="maps">{"".join(figures)}</div>\n<p class="key">{key}{chance}</p>'


def number(value: float, whole: bool = False) -> str:
    """Format with three decimals, none for counts and large numbers; a dash for a missing number."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.0f}" if whole or abs(value) >= 10 else f"{value:.3f}"


def _counts(rows: pd.DataFrame) -> bool:
    """Return whether the values of a measure are whole numbers, all of them."""
    return bool((rows.value % 1 == 0).all())


def _gallery(cards: Sequence[Any]) -> str:
    pieces = [title("Gallery of measures"), INTRODUCTION, raw(_head())]
    for goal, purpose in GOALS.items():
        of_goal = [card for card in cards if card.goals and card.goals[0] == goal]
        rows = "".join(_gallery_row(card) for card in of_goal if "method" not in card.needs)
        pieces += [title(purpose.question, "-")] if of_goal else []
        if of_goal and purpose.defects:
            pieces.append(f"Such a measure should be worse after these changes: {', '.join(purpose.defects)}.")
        if rows:
            table = f'<table class="gallery">{_gallery_head()}{rows}</table>'
            pieces.append(raw(f'<div class="scroll" tabindex="0">{table}</div>'))
        methods = [card for card in of_goal if "method" in card.needs]
        pieces += [METHOD_READING] if methods else []
        for card in methods:
            pieces.append(f":doc:`{plain(card.title)} <measures/{card.name}>`: {plain(card.question)}")
    return page(*pieces, toctree([f"measures/{card.name}" for card in cards], "hidden:"))


def _head() -> str:
    _, latent, _ = sheet()
    colors = draw.along(latent[:, 0])
    figures = (
        draw.figure(draw.scatter(points, colors, f"{name}: {EMBEDDINGS[name]}"), escape(name), escape(EMBEDDINGS[name]))
        for name, points in embeddings().items()
    )
    return f'<div class="maps">{"".join(figures)}</div>'


def _gallery_head() -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name in EMBEDDINGS)
    return f"<thead><tr><th>measure</th><th>chance</th>{names}</tr></thead>"


def _gallery_row(card: Any) -> str:
    name, symbol = html_symbols(escape(card.title)), html_symbols(escape(card.symbol))
    link = f'<a href="measures/{card.name}.html">{name}</a> <span><i>{symbol}</i></span>'
    head = f"<th>{link}<small>{escape(card.question)}</small></th>"
    if card.curve:
        cells = "".join(f"<td>{_curve(card, name)}</td>" for name in EMBEDDINGS)
        return f'<tr>{head}<td class="chance"></td>{cells}</tr>'
    rows = _rows(card)
    cells = "".join(
        f"<td{_shade(card, rows, name)}>{number(rows.value[name], _counts(rows))}</td>" for name in EMBEDDINGS
    )
    chance = number(rows.chance.drop("copy").median())
    return f'<tr>{head}<td class="chance">{chance}</td>{cells}</tr>'


def _shade(card: Any, rows: pd.DataFrame, name: str) -> str:
    """Return the style of a cell, from the chance level to a perfect value; empty where a measure has neither."""
    chances = _chances(rows)
    perfect = card.bounds[card.direction == "higher"]
    chance = float(np.median(chances)) if len(chances) else perfect
    if card.direction not in ("higher", "lower") or not math.isfinite(perfect) or chance == perfect:
        return ""
    (color,) = draw.from_chance_to_perfect(np.array([rows.value[name]], dtype=float), chance, perfect)
    return f' style="--cell:{color}"'


def variables() -> dict[str, Any]:
    """Return what measures need besides data and embedding; the target is the bend, batches are random."""
    _, latent, labels = sheet()
    batch = np.random.default_rng(SEED).integers(0, 2, N)
    return {"labels": labels, "latent": latent, "covariates": {"along": latent[:, 0]}, "batch": batch}


@cache
def evaluated() -> Results:
    """Compute every measure of an embedding, for all six."""
    names = [card.name for card in MEASURES.cards() if "method" not in card.needs]
    evaluation = dreval.Evaluation(sheet()[0], dict(embeddings()), **variables(), random_state=SEED)
    return evaluation.run(names, tests=None, ci=None)


def _crush(X: FloatArray, n_components: int) -> FloatArray:
    Y = principal(X, n_components)
    return np.column_stack([Y[:, :1], 0.05 * Y[:, 1:]])


def _tear(X: FloatArray, n_components: int) -> FloatArray:
    Y = principal(X, n_components)
    return Y + np.where(Y[:, :1] > 0, -2.0, 2.0) * np.ptp(Y[:, 0]) * np.eye(n_components)[0]


def _forget(X: FloatArray, n_components: int, random_state: Any = None) -> FloatArray:
    return np.random.default_rng(random_state).normal(size=(len(X), n_components))


# Methods with the same faults as the embeddings, for the measures of a method.
METHODS: dict[str, tuple[Any, str]] = {
    "PCA": ("pca", "principal components"),
    "isomap": ("isomap", "lays the sheet flat"),
    "torn": (_tear, "principal components, cut in the middle, the halves swapped"),
    "crushed": (_crush, "principal components, all but the first compressed to a twentieth"),
    "random": (_forget, "random coordinates that ignore the data"),
}


@cache
def evaluated_methods() -> Results:
    """Compute every measure that re-runs a method, for the five methods."""
    data, _, _ = sheet()
    names = [card.name for card in MEASURES.cards() if "method" in card.needs]
    sources = {name: source for name, (source, _) in METHODS.items()}
    return dreval.Evaluation(data, sources, random_state=SEED).run(names, tests=None, ci=None)
