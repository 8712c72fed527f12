"""Symbols of the cards in every format of text."""

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
def test_symbols_in_each_format(raw, plain, html, latex):
    """Greek letters, subscripts, superscripts, tags and commands are correct; within a sentence too."""
    for format_symbols, expected in ((plain_symbols, plain), (html_symbols, html), (latex_symbols, latex)):
        assert format_symbols(raw) == expected
        assert format_symbols(f"Called ({raw}), here.") == f"Called ({expected}), here."


@each("symbol", SYMBOLS)
def test_every_symbol_of_a_card_is_formatted(symbol):
    """No Greek letter is spelled out, and no underscore remains in HTML or LaTeX; matplotlib parses the symbol."""
    assert not re.search(r"rho|tau", plain_symbols(symbol))
    assert "_" not in html_symbols(symbol)
    assert "_" not in re.sub(r"\$.*?\$", "", latex_symbols(symbol))
    figure = Figure()
    figure.text(0.5, 0.5, math_symbols(symbol), parse_math=True)
    figure.canvas.draw()


@pytest.mark.parametrize(
    "text", ["my_rho_D_run", "n_neighbors", "XR_NX", "R_NXY", "options_R_C", "$R_C$", "x^2", "rho"]
)
def test_other_names_are_unchanged(text):
    """Names of users and parameters that contain the letters of a symbol are unchanged."""
    assert plain_symbols(text) == html_symbols(text) == latex_symbols(text) == math_symbols(text) == text


def test_summaries_format_symbols():
    """Text, Markdown, HTML and LaTeX of one result have the formatted symbol."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    summary = (
        dreval.Evaluation(X, {"rho_D_run": X[:, :2]}, n_neighbors=3)
        .run("spearman_distance", ci=None)
        .summary(full=True)
    )
    assert "distances (ρ_D)" in summary.as_text()
    assert "distances (ρ\\_D)" in summary.as_markdown()
    assert "distances (ρ<sub>D</sub>)" in summary.as_html()
    assert r"distances ($\rho_{\mathrm{D}}$)" in summary.as_latex()
    assert "rho_D_run" in summary.as_text()
