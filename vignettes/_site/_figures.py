"""The page of figures by the question that they answer, each drawn from a small evaluation."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import dreval
from _site._measures import embeddings, evaluated, sheet
from _site._text import page, raw, title, write
from dreval.report._svg import inline_svg
from dreval.report.figures._kind import QUESTIONS
from dreval.report.plot import kinds

DRAWN_EMBEDDINGS = ("unrolled", "PCA", "torn")
MEASURES = ("trustworthiness", "continuity", "procrustes_rc")
SPECIAL = ("ellipses", "difference_map", "coranking", "kappa_curve", "centroid_triplets")  # last under a question
CURVES = {"curve": {"measure": "r_nx"}}
SETS = ("swiss_roll", "cylinder", "hemisphere", "sphere", "s3", "s4", "trefoil")
METHODS = ("pca", "isomap", "classical_mds", "laplacian_eigenmaps")

WORDS = (
    "``Results.plot(kind)`` and ``Comparison.plot(kind)`` return a matplotlib figure. A notebook displays it; "
    "``savefig(path)`` saves it. If a kind needs a comparison, results and studies are compared first."
)


def write_figures(folder: Path) -> None:
    """Write the page."""
    pieces = [title("Figures"), WORDS]
    cards = sorted(kinds().values(), key=lambda card: card.name in SPECIAL)
    for question in QUESTIONS:
        pieces.append(title(question, "-"))
        for card in (card for card in cards if card.question == question):
            drawn = inline_svg(_figure(card), card.name.replace("_", ""), f"A figure of the kind {card.name}")
            pieces += [title(card.name, "~"), _sentence(card.title) + " " + card.reading, _options(card)]
            pieces.append(raw(f'<div class="drawn" tabindex="0">{drawn}</div>'))
    write(folder / "figures.rst", page(*pieces))


def _sentence(words: str) -> str:
    """Return what a card says, as a sentence, with names between backticks as code."""
    return re.sub(r"`(\w+)`", r"``\1``", f"{words[0].upper()}{words[1:]}.")


def _options(card: Any) -> str:
    others = f"Also called {', '.join(f'``{name}``' for name in card.aliases)}. " if card.aliases else ""
    options = f"Options: {', '.join(f'``{name}``' for name in card.options)}." if card.options else ""
    return others + options


def _figure(card: Any) -> Any:
    """Draw a figure of the kind: of the family's evaluation where that has all its parts, else of one with tests."""
    if card.several:
        return _across().plot(card.name)
    if card.name in CURVES:
        return evaluated().plot(card.name, names=list(DRAWN_EMBEDDINGS), **CURVES[card.name])
    return _within().plot(card.name)


@cache
def _within() -> Any:
    """Evaluate three of the six embeddings, with intervals and tests."""
    data, _, labels = sheet()
    drawn_embeddings = {name: embeddings()[name] for name in DRAWN_EMBEDDINGS}
    evaluation = dreval.Evaluation(data, drawn_embeddings, labels=labels, random_state=0)
    return evaluation.run([*MEASURES, "spearman_distance"], n_resamples=199)


@cache
def _across() -> Any:
    """Compare methods over simulated data sets."""
    tables = []
    for name in SETS:
        data = dreval.simulate(name, n=150, random_state=0).data
        evaluation = dreval.Evaluation(data, {method: method for method in METHODS}, random_state=0)
        tables.append(evaluation.run(["trustworthiness"], tests=None, ci=None).tidy().assign(dataset=name))
    return dreval.compare(pd.concat(tables))
