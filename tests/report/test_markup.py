"""Names of users are shown unchanged, and have no effect."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreval.glossary import printable
from dreval.report.render.markup import latex_text, markdown_text, with_code_points

anything = st.text(max_size=80)
SPELLED = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<", "textgreater": ">",
    "textbar": "|", "textasciigrave": "`", "string": "", "allowbreak": "", "textquotesingle": "'",
}  # fmt: skip


def read_latex(text: str) -> str:
    """The text back from what LaTeX is given, where all of it is ASCII."""
    text = re.sub(r"\\([a-z]+)(?:\{\})?", lambda found: SPELLED[found[1]], re.sub(r"(?<=[-,'])\{\}", "", text))
    return re.sub(r"\\([&%$#_{}])", r"\1", text.replace("\\\\", "\\"))


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="\\"), max_size=80), st.booleans())
def test_latex_can_be_read_back(text: str, breaks: bool) -> None:
    """Each sign has one form, and blanks are single."""
    assert read_latex(latex_text(text, breaks=breaks)) == " ".join(text.split())


@given(anything, st.booleans(), st.booleans())
def test_latex_holds_no_command_of_others(text: str, breaks: bool, code: bool) -> None:
    """No special sign is left bare, braces are balanced, and no control character is left."""
    made = latex_text(text, breaks=breaks, code=code)
    bare = re.sub(r"\\[&%$#_{}]", "", made)

    assert not set(bare) & set("%&#_^~$") - ({"~"} if "\u00a0" in text else set())
    assert bare.count("{") == bare.count("}")
    assert made == made.replace("\n", "").replace("\0", "")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("--", "-{}-"), ("''", "'{}'"), ("ρ ≤ ∞", r"\ensuremath{\rho} \ensuremath{\leq} \ensuremath{\infty}"),
        ("x₁²", r"x\textsubscript{1}²"), ('"a"', r"\string" + '"a' + r"\string" + '"'), ("e\u0301", "é"),
        ("a\nb\tc", "a b c"), ("łódź – ×", "łódź – ×"), ("Λ", r"\ensuremath{\Lambda}"),
        ("数", r"\ifdefined\pdftexversion\texttt{U+6570}\else 数\fi{}"),
    ],
)  # fmt: skip
def test_latex_of_letters(text: str, made: str) -> None:
    """Ligatures are avoided, mathematics is mathematics, and letters unknown to pdfLaTeX have code points."""
    assert latex_text(text) == made


def test_long_words_may_break() -> None:
    """Behind a mark after ten letters, and after twenty anywhere."""
    assert latex_text("x" * 45, breaks=True).count(r"\allowbreak{}") == 2
    assert latex_text("abcdefghij_klm", breaks=True) == r"abcdefghij\_\allowbreak{}klm"
    assert r"\allowbreak" not in latex_text("x" * 45)


@given(anything)
def test_markdown_is_no_markup(text: str) -> None:
    """One line, no cell that ends, no tag, and nothing that begins a list."""
    made = markdown_text(text)

    assert len(made.splitlines()) <= 1
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]#$~]", made)
    assert not set(made) & set("<>")
    assert not re.match(r"[-+] |\d[.)] ", made)


@given(anything)
def test_code_points_stand_for_letters_that_are_not_known(text: str) -> None:
    """What is left needs no other program."""
    assert r"\ifdefined" not in latex_text(with_code_points(printable(text)))
