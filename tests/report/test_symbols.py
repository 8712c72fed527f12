"""Symbols of the cards in every kind of text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from each import each
from matplotlib.figure import Figure

import dreval
from dreval.registry import MEASURES
from dreval.report.render.markup import html_symbols, latex_symbols, math_symbols, plain_symbols

SYMBOLS = sorted({card.symbol for card in MEASURES.cards()})


@pytest.mark.parametrize(
    ("raw", "plain", "html", "latex"),
    [
        ("rho_D", "ρ_D", "ρ<sub>D</sub>", r"$\rho_{\mathrm{D}}$"),
        ("tau_D", "τ_D", "τ<sub>D</sub>", r"$\tau_{\mathrm{D}}$"),
        ("R_N,opt", "R_N,opt", "R<sub>N,opt</sub>", r"$R_{\mathrm{N,opt}}$"),
        ("S_0", "S₀", "S<sub>0</sub>", r"$S_{\mathrm{0}}$"),
        ("K_max", "K_max", "K<sub>max</sub>", r"$K_{\mathrm{max}}$"),
        ("R2", "R²", "R<sup>2</sup>", "$R^{2}$"),
        ("R^2", "R²", "R<sup>2</sup>", "$R^{2}$"),
        ("T", "T", "T", "T"),
        ("R(d)", "R(d)", "R(d)", "R(d)"),
    ],
)
def test_each_kind_of_text(raw, plain, html, latex):
    """Greek letters, digits low and high, tags and commands; within a sentence too."""
    for write, expected in ((plain_symbols, plain), (html_symbols, html), (latex_symbols, latex)):
        assert write(raw) == expected
        assert write(f"Called ({raw}), here.") == f"Called ({expected}), here."


@each("symbol", SYMBOLS)
def test_no_symbol_of_a_card_stays_raw(symbol):
    """No Greek letter by name, and no mark of a low measure in a page, in LaTeX or in a figure."""
    assert not re.search(r"rho|tau", plain_symbols(symbol))
    assert "_" not in html_symbols(symbol)
    assert "_" not in re.sub(r"\$.*?\$", "", latex_symbols(symbol))
    figure = Figure()
    figure.text(0.5, 0.5, math_symbols(symbol), parse_math=True)
    figure.canvas.draw()


@pytest.mark.parametrize(
    "text", ["my_rho_D_run", "n_neighbors", "XR_NX", "R_NXY", "options_R_C", "$R_C$", "x^2", "rho"]
)
def test_other_words_stay(text):
    """Names of users and parameters that hold the letters of a symbol are left as they are."""
    assert plain_symbols(text) == html_symbols(text) == latex_symbols(text) == math_symbols(text) == text


def test_summaries_write_them():
    """Text, Markdown, HTML and LaTeX of one result."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    made = (
        dreval.Evaluation(X, {"rho_D_run": X[:, :2]}, n_neighbors=3)
        .run("spearman_distance", ci=None)
        .summary(full=True)
    )
    assert "distances (ρ_D)" in made.as_text()
    assert "distances (ρ\\_D)" in made.as_markdown()
    assert "distances (ρ<sub>D</sub>)" in made.as_html()
    assert r"distances ($\rho_{\mathrm{D}}$)" in made.as_latex()
    assert "rho_D_run" in made.as_text()
