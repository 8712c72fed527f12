"""Every public record has a notebook output that inherits the colors of the notebook."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import dreval

NAME = "<b>a</b> & co"
X = np.random.default_rng(0).normal(size=(30, 4)) * [3, 2, 1, 1]


def evaluation() -> dreval.Evaluation:
    labels = np.array(["one", "two"] * 15)
    return dreval.Evaluation(X, {NAME: X[:, :2], "pca": "pca"}, n_neighbors=5, random_state=0, labels=labels)


@functools.cache
def results() -> dreval.Results:
    """Return the result, which tests do not change."""
    return evaluation().run(["trustworthiness"], "hsic", n_resamples=19)


CASES: dict[str, Callable[[], Any]] = {
    "evaluation": evaluation,
    "results": results,
    "comparison": lambda: results().compare(),
    "test": lambda: dreval.hsic_test(X[:, 0], X[:, 1], n_resamples=19, random_state=0),
    "certificate": lambda: results().certificate("pca", n_resamples=19),
    "measure": lambda: dreval.trustability(X, "pca", random_state=0),
    "embedding": lambda: dreval.embed(X, "pca"),
    "map": lambda: dreval.embed(X, "pca").embedding_map(),
    "method": lambda: dreval.methods.Isomap(n_neighbors=5),
    "fitted method": lambda: dreval.methods.PCA().fit(X),
    "data set": lambda: dreval.simulate("swiss_roll", n=40, random_state=0),
    "summary": lambda: results().summary(),
}


class TagParser(HTMLParser):
    """A parser that checks that tags close in order and stores them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.open += [tag] * (tag != "wbr")
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("case", CASES)
def test_the_output_is_part_of_a_page(case: str) -> None:
    """The output is one division, with scoped headings, no color, no script and nothing external."""
    text = CASES[case]()._repr_html_()
    page = TagParser(text)

    assert page.open == []
    assert page.tags[0] == ("div", {"class": "dreval"})
    assert all(attributes.get("scope") in ("row", "col", "rowgroup") for tag, attributes in page.tags if tag == "th")
    assert not {"i", "script", "img", "link"} & {tag for tag, _ in page.tags}
    assert all(tag != "b" or page.tags[i - 1][0] == "td" for i, (tag, _) in enumerate(page.tags))  # best values
    assert "<b>a</b>" not in text
    assert set(re.findall(r"color:([^;}]*)", text)) == {"inherit"}
    assert not re.search(r"#[0-9a-f]{3,6}\b|https?:", text.replace("&#", ""))


def test_a_notebook_describes_an_evaluation() -> None:
    """The output has the numbers of points and columns, the sources, and the call that computes."""
    text = evaluation()._repr_html_()

    for part in (
        "30 points, 4 columns",
        "nothing is computed yet",
        "&lt;b&gt;a&lt;/b&gt; &amp; co",
        "coordinates",
        "pca",
        "run()",
    ):
        assert part in text, part


@pytest.mark.parametrize(("case", "state"), [("method", "not fitted yet"), ("fitted method", "fitted to 4 columns")])
def test_the_output_of_a_method_shows_whether_it_is_fitted(case: str, state: str) -> None:
    """The output has the state and the parameters."""
    text = CASES[case]()._repr_html_()

    assert state in text
    assert "n_components" in text
