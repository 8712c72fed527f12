"""Names of users are shown unchanged, and have no effect."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreval._text import printable
from dreval.report.render.markup import latex_text, markdown_text, with_code_points

any_text = st.text(max_size=80)
CHARACTER_OF_COMMAND = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<", "textgreater": ">",
    "textbar": "|", "textasciigrave": "`", "string": "", "allowbreak": "", "textquotesingle": "'",
}  # fmt: skip


def text_from_latex(text: str) -> str:
    """Return the text of LaTeX code that is all ASCII."""
    text = re.sub(
        r"\\([a-z]+)(?:\{\})?", lambda match: CHARACTER_OF_COMMAND[match[1]], re.sub(r"(?<=[-,'])\{\}", "", text)
    )
    return re.sub(r"\\([&%$#_{}])", r"\1", text.replace("\\\\", "\\"))


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="\\"), max_size=80), st.booleans())
def test_latex_text_is_invertible(text: str, breaks: bool) -> None:
    """Each character has one form, and blanks are single."""
    assert text_from_latex(latex_text(text, breaks=breaks)) == " ".join(text.split())


@given(any_text, st.booleans(), st.booleans())
def test_latex_contains_no_command_of_the_text(text: str, breaks: bool, code: bool) -> None:
    """Special characters are escaped, braces are balanced, and control characters are removed."""
    latex = latex_text(text, breaks=breaks, code=code)
    without_escapes = re.sub(r"\\[&%$#_{}]", "", latex)

    assert not set(without_escapes) & set("%&#_^~$") - ({"~"} if "\u00a0" in text else set())
    assert without_escapes.count("{") == without_escapes.count("}")
    assert latex == latex.replace("\n", "").replace("\0", "")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("--", "-{}-"), ("''", "'{}'"), ("ρ ≤ ∞", r"\ensuremath{\rho} \ensuremath{\leq} \ensuremath{\infty}"),
        ("x₁²", r"x\textsubscript{1}²"), ('"a"', r"\string" + '"a' + r"\string" + '"'), ("e\u0301", "é"),
        ("a\nb\tc", "a b c"), ("łódź – ×", "łódź – ×"), ("Λ", r"\ensuremath{\Lambda}"),
        ("数", r"\ifdefined\pdftexversion\texttt{U+6570}\else 数\fi{}"),
    ],
)  # fmt: skip
def test_latex_of_letters(text: str, latex: str) -> None:
    """Ligatures are avoided, symbols are in math mode, and letters unknown to pdfLaTeX have code points."""
    assert latex_text(text) == latex


def test_long_words_have_break_points() -> None:
    """A word can break after a mark behind ten letters, and after every twenty letters."""
    assert latex_text("x" * 45, breaks=True).count(r"\allowbreak{}") == 2
    assert latex_text("abcdefghij_klm", breaks=True) == r"abcdefghij\_\allowbreak{}klm"
    assert r"\allowbreak" not in latex_text("x" * 45)


@given(any_text)
def test_markdown_text_has_no_markup(text: str) -> None:
    """The text is one line without cell ends, tags or starts of a list."""
    markdown = markdown_text(text)

    assert len(markdown.splitlines()) <= 1
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]#$~]", markdown)
    assert not set(markdown) & set("<>")
    assert not re.match(r"[-+] |\d[.)] ", markdown)


@given(any_text)
def test_unknown_letters_become_code_points(text: str) -> None:
    """The text needs no other TeX engine."""
    assert r"\ifdefined" not in latex_text(with_code_points(printable(text)))
