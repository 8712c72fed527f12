"""A page for each measure, and the gallery in which all are seen on the same six embeddings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from _site import _drawing as draw
from _site._family import METHODS, WORDS, embeddings, evaluated, evaluated_methods, sheet
from _site._text import card_fields, fields, page, plain, raw, symbol_html, title, toctree, write
from dreval.glossary import DIRECTIONS
from dreval.records.results import point_column
from dreval.registry import MEASURES

LEVELS = {
    "point": "Point by point",
    "pair": "By pairs of points",
    "global": "The embedding as a whole",
    "algorithm": "Asked of the method",
}
EXPLAINED = {
    "point": "The value is the mean of contributions of points, so that there is a map of where the embedding fails.",
    "pair": "The value is a statistic of distances of pairs of points.",
    "global": "The value, or the curve over all numbers of neighbors, speaks of the embedding as a whole.",
    "algorithm": "The value is asked of what made the embedding, which is run or fitted again.",
}

WORDS_ABOVE = (
    "One bent sheet in three dimensions, and six embeddings of it. Every measure of an embedding sees the same six, in the "
    "same order; the two that are asked of a method see five methods instead, on pages of their own. Each finds "
    "some faults and is blind to others: read a column to see which measure notices the tear, a row to see what one "
    "measure cares for. The better of a row, the darker the cell."
)


def write_measures(folder: Path) -> list[str]:
    """Write all pages; their names below the folder."""
    cards = MEASURES.cards()
    for card in cards:
        write(folder / "measures" / f"{card.name}.rst", measure_page(card))
    write(folder / "gallery.rst", _gallery(cards))
    return [f"measures/{card.name}" for card in cards]


def measure_page(card: Any) -> str:
    """The page of one measure: its question, what is known of it, embeddings, its documentation."""
    known = card_fields(card, "name", "question")
    return page(
        title(plain(card.title)),
        f".. rst-class:: question\n\n{plain(card.question)}",
        fields({"function": f"``dreval.{card.name}``", "symbol": plain(card.symbol)} | known),
        title("Seen on the same embeddings", "-"),
        raw(_maps(card)),
        title("Reference", "-"),
        f".. autofunction:: dreval.{card.name}",
    )


def _rows(card: Any) -> pd.DataFrame:
    """The values of a measure by embedding, or by method."""
    table = (evaluated_methods() if "method" in card.needs else evaluated()).tidy()
    return table[table["measure"] == card.name].set_index("embedding")


def _maps(card: Any) -> str:
    if "method" in card.needs:
        return _methods(card)
    rows, (_, latent, labels) = _rows(card), sheet()
    colors = _point_colors(card, rows)
    plain_colors = draw.by_class(labels) if "labels" in card.needs else draw.along(latent[:, 0])
    figures = []
    for name, points in embeddings().items():
        drawn = draw.scatter(points, colors.get(name, plain_colors), f"{name}: {WORDS[name]}")
        value = _curve(card, name) if card.curve else f"<b>{number(rows.value[name], _counts(rows))}</b>"
        figures.append(draw.figure(drawn, f"{escape(name)} {value}", escape(WORDS[name])))
    return f'<div class="maps">{"".join(figures)}</div>\n<p class="key">{_key(card, rows, bool(colors))}</p>'


def _point_colors(card: Any, rows: pd.DataFrame) -> dict[str, list[str]]:
    """Colors of the points of each embedding by what they contribute; none for a measure without contributions."""
    results = evaluated()
    if card.level != "point" or card.direction not in ("higher", "lower"):
        return {}
    column = point_column(card.name, rows.parameters.iloc[0])
    values = {name: results.points[name][column].to_numpy(dtype=float) for name in embeddings()}
    pooled = np.concatenate(list(values.values()))
    low, high = np.nanquantile(pooled, [0.02, 0.98])
    worst, best = (low, high) if card.direction == "higher" else (high, low)
    return {name: draw.from_worse_to_better(found, worst, best) for name, found in values.items()}


def _curve(card: Any, name: str) -> str:
    values = evaluated().curve(card.name)[name].to_numpy(dtype=float)
    pooled = evaluated().curve(card.name).to_numpy(dtype=float)
    ceiling = 1.0 if card.direction == "higher" else 0.0
    span = (min(0.0, float(np.nanmin(pooled))), max(ceiling, float(np.nanmax(pooled))))
    return draw.curve(values, span, 0.0, f"{card.title} of {name} for K = 1 to {len(values)}")


def _key(card: Any, rows: pd.DataFrame, mapped: bool) -> str:
    """What the embeddings show, and by which value they are to be read."""
    said = []
    if mapped:
        said.append("Points are colored by what they contribute, from worse (orange) to better (blue).")
    elif "labels" in card.needs:
        said.append("Colors are the classes.")
    else:
        said.append("Colors run along the bend of the sheet.")
    if card.curve:
        said.append("Under each embedding the curve over all K, with K on a log scale; 0 is dashed.")
    else:
        chance = rows.chance.drop("copy", errors="ignore").median()
        said.append(f"{_direction(card)}." + (f" By chance: {number(chance)}." if math.isfinite(chance) else ""))
    if card.shares_neighbors:
        said.append("Here k = 15.")
    return " ".join(said)


def _direction(card: Any) -> str:
    return DIRECTIONS[card.direction].capitalize()


def _methods(card: Any) -> str:
    """The embeddings that methods make of the sheet, with the value of each method."""
    rows, (_, latent, _) = _rows(card), sheet()
    made = evaluated_methods().embeddings
    figures = []
    for name, (_, words) in METHODS.items():
        drawn = draw.scatter(np.asarray(made[name], dtype=float), draw.along(latent[:, 0]), f"{name}: {words}")
        figures.append(draw.figure(drawn, f"{escape(name)} <b>{number(rows.value[name])}</b>", escape(words)))
    chance = f" By chance: {number(rows.chance.median())}." if math.isfinite(rows.chance.median()) else ""
    key = f"Five methods, each run again on other data. Colors run along the bend of the sheet. {_direction(card)}."
    return f'<div class="maps">{"".join(figures)}</div>\n<p class="key">{key}{chance}</p>'


def number(value: float, whole: bool = False) -> str:
    """Three digits behind the point, none of counts and large numbers; a dash for no number."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.0f}" if whole or abs(value) >= 10 else f"{value:.3f}"


def _counts(rows: pd.DataFrame) -> bool:
    """Whether the values of a measure are whole numbers, all of them."""
    return bool((rows.value % 1 == 0).all())


def _gallery(cards: Iterable[Any]) -> str:
    kinds = {level: [card for card in cards if card.level == level] for level in LEVELS}
    pieces = [
        title("Gallery"),
        WORDS_ABOVE,
        raw(_head()),
    ]
    for level, found in kinds.items():
        rows = "".join(_gallery_row(card) for card in found if "method" not in card.needs)
        apart = [card for card in found if "method" in card.needs]
        pieces += [title(LEVELS[level], "-"), EXPLAINED[level]]
        if rows:
            pieces.append(raw(f'<div class="scroll"><table class="gallery">{_gallery_head()}{rows}</table></div>'))
        for card in apart:
            pieces.append(f":doc:`{plain(card.title)} <measures/{card.name}>`: {plain(card.question)}")
    return page(*pieces, toctree([f"measures/{card.name}" for card in cards], "hidden:"))


def _head() -> str:
    _, latent, _ = sheet()
    colors = draw.along(latent[:, 0])
    figures = (
        draw.figure(draw.scatter(points, colors, f"{name}: {WORDS[name]}"), escape(name), escape(WORDS[name]))
        for name, points in embeddings().items()
    )
    return f'<div class="maps">{"".join(figures)}</div>'


def _gallery_head() -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name in WORDS)
    return f"<thead><tr><th>measure</th>{names}<th>chance</th></tr></thead>"


def _gallery_row(card: Any) -> str:
    link = (
        f'<a href="measures/{card.name}.html">{escape(card.title)}</a> <span>{symbol_html(escape(card.symbol))}</span>'
    )
    head = f"<th>{link}<small>{escape(card.question)}</small></th>"
    if card.curve:
        cells = "".join(f"<td>{_curve(card, name)}</td>" for name in WORDS)
        return f"<tr>{head}{cells}<td></td></tr>"
    rows = _rows(card)
    values = rows.value[list(WORDS)]
    shares = _goodness(values.to_numpy(dtype=float), card.direction)
    cells = "".join(
        f'<td style="--q:{share:.2f}">{number(value, _counts(rows))}</td>'
        for value, share in zip(values, shares, strict=True)
    )
    return f"<tr>{head}{cells}<td>{number(rows.chance.drop('copy').median())}</td></tr>"


def _goodness(values: np.ndarray[Any, np.dtype[np.float64]], direction: str) -> Any:
    """From 0, the worst of a row, to 1, its best; all 0 where neither way is better. Large values by their order."""
    if direction not in ("higher", "lower"):
        return np.zeros(len(values))
    signed = values if direction == "higher" else -values
    if np.ptp(signed) > 5:
        signed = np.argsort(np.argsort(signed, kind="stable"), kind="stable").astype(float)
    return (signed - signed.min()) / (np.ptp(signed) or 1.0)
