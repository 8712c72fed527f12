"""Short names are short, and no two are the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dreval.report.format import short_name, short_names, text_breadth


@given(st.lists(st.text("ab_-M数", max_size=40), unique=True, max_size=8), st.integers(12, 30))
def test_short_names_are_distinct(names, width):
    """There are as many short forms as names, and none is much longer than the limit."""
    short_forms = short_names(names, width)

    assert len(set(short_forms.values())) == len(names)
    assert all(text_breadth(text) <= width + 4 for text in short_forms.values())


@given(st.text("abM数", max_size=60), st.integers(12, 30))
def test_a_short_name_has_both_ends(name, width):
    """A short name omits the middle; a name that fits is unchanged."""
    text = short_name(name, width)
    head, _, tail = text.partition("…")

    assert name.startswith(head)
    assert name.endswith(tail)
    assert (text == name) == (text_breadth(name) <= width)


def test_short_names_show_differences_in_the_middle():
    """Parameters in the middle of a name stay."""
    names = [f"umap_n_neighbors_{k}_min_dist_0.{d}_metric_euclidean_seed_0" for k in (5, 15) for d in (1, 2)]

    assert list(short_names(names, 30).values()) == [
        "umap_n_…5_min_dist_0.1_…",
        "umap_n_…5_min_dist_0.2_…",
        "umap_n_…15_min_dist_0.1_…",
        "umap_n_…15_min_dist_0.2_…",
    ]
