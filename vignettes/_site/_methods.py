"""A page for each method: its card, its docstring, and its embedding of the rolled sheet."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import dreval
from _site import _drawing as draw
from _site._text import card_fields, fields, page, plain, raw, title, toctree, write
from dreval.datasets._dataset import Dataset
from dreval.errors import DrevalWarning
from dreval.registry import METHODS

N, NEIGHBORS, SEED = 300, 8, 0


def write_methods(folder: Path) -> None:
    """Write all pages and their overview."""
    cards = METHODS.cards()
    embeddings = {card.name: embedding(card.name) for card in cards}
    for card in cards:
        write(folder / "methods" / f"{card.name}.rst", method_page(card, embeddings[card.name]))
    write(folder / "methods" / "index.rst", _overview(cards, embeddings))
    write(folder / "methods" / "common.rst", _common())


@cache
def roll() -> Dataset:
    """Return the rolled sheet that every method embeds: half as wide as usual, so that few points are dense enough."""
    whole = dreval.simulate("swiss_roll", n=2 * N, random_state=SEED)
    half = np.sort(np.argsort(whole.latent[:, 1])[:N])
    return replace(whole, data=whole.data[half], latent=whole.latent[half], labels=None)


def bands() -> list[str]:
    """Return six classes of equal size along the roll."""
    places = np.argsort(np.argsort(roll().latent[:, 0]))
    return [f"band {place * 6 // N + 1}" for place in places]


@cache
def embedding(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the method's embedding of the sheet; supervised methods get the band along the roll of each point.

    Warnings of a method (weakly connected points, an optimization that stopped early) must not stop the build.
    """
    cls = METHODS.get(name)
    method = cls(n_components=2)
    chosen = {"random_state": SEED, "n_neighbors": NEIGHBORS}
    method.set_params(**{name: value for name, value in chosen.items() if name in method.get_params()})
    response = bands() if cls.card.supervised else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DrevalWarning)
        return np.asarray(method.fit_transform(roll().data, response), dtype=np.float64)


def method_page(card: Any, Y: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """Return the page of one method."""
    colors = draw.along(roll().latent[:, 0])
    settings = "with its defaults"
    if "n_neighbors" in inspect.signature(METHODS.get(card.name)).parameters:
        settings = f"with {NEIGHBORS} neighbors and otherwise its defaults"
    if card.supervised:
        settings += ", given the band (of six) along the roll of each point"
    figures = [
        draw.figure(draw.scatter(roll().data, colors, "Data: a rolled sheet"), "The data", f"a rolled sheet, n = {N}"),
        draw.figure(draw.scatter(Y, colors, f"The embedding by {card.title}"), escape(card.title), settings),
    ]
    return page(
        title(plain(card.title)),
        fields({"as a name": f'``dreval.embed(X, "{card.name}")``'} | card_fields(card, "name")),
        raw(f'<div class="maps two">{"".join(figures)}</div>'),
        title("Reference", "-"),
        f".. autoclass:: dreval.methods.{card.class_name}",
        "All methods share ``fit``, ``transform``, ``inverse_transform`` and parameters by name: see :doc:`common`.",
    )


def _overview(cards: list[Any], embeddings: dict[str, Any]) -> str:
    colors = draw.along(roll().latent[:, 0])
    figures = "".join(
        draw.figure(
            draw.scatter(embeddings[card.name], colors, f"The embedding of a rolled sheet by {card.title}"),
            f'<a href="{card.name}.html">{escape(card.title)}</a>',
            escape(card.family),
        )
        for card in cards
    )
    return page(
        title("Methods of dimensionality reduction"),
        "Reference implementations of methods from the literature, as baselines for comparison. Every method embeds "
        f"the same rolled sheet of {N} points with its defaults; methods on graphs use {NEIGHBORS} neighbors. A method "
        "that unrolls this sheet may fail on data of another shape.",
        raw(f'<div class="maps many">{figures}</div>'),
        toctree(["common", *(card.name for card in cards)], "hidden:"),
    )


def _common() -> str:
    return page(
        title("What all methods share"),
        "Pass a method to an Evaluation by its name, or use its class like an estimator of scikit-learn.",
        ".. autoclass:: dreval.methods._method.Method",
    )
