"""How pages are found: words that the search of the site takes for a page, and ``llms.txt``, the list of all pages.

Names of other programs are those that the package understands (``SYNONYMS`` of ``dreval._check``); ``WORDS`` has, for a
vignette, words that readers may type and that the page does not have.
"""

from __future__ import annotations

from pathlib import Path

from _site._vignettes import SECTIONS, vignettes
from dreval._check import SYNONYMS
from dreval.cards import Card
from dreval.registry import MEASURES, METHODS, TESTS

WORDS = {
    "batches": "harmony scvi combat",
    "cluster-gap": "discrete",
    "comparing": "versus",
    "data-formats": "excel",
    "donors": "pseudoreplication",
    "elsewhere": "seurat",
    "fit-to-noise": "generalization overconfident",
    "gate": "ci pipeline",
    "million-cells": "scanpy scalability",
    "more-than-noise": "artifact hallucination spurious",
    "new-model": "drift",
    "new-points": "unseen generalization",
    "only-the-graph": "networkx node2vec",
    "out-again": "reproducibility robustness",
    "report": "publication",
    "targets": "regression",
    "tear": "disconnected holes",
    "which-columns": "explain interpretability",
    "which-k": "hyperparameter tuning",
}
SUMMARY = (
    "dreval is a Python package that evaluates embeddings of data (UMAP, t-SNE, PCA or any other): how faithful a "
    "low-dimensional map is, with confidence intervals and chance levels, where it fails, whether it is better than "
    "another, and whether it is more than noise."
)
START = """    import dreval

    results = dreval.Evaluation(X, {"umap": Y}, labels=labels, random_state=0).run()
    print(results.summary())
    results.report("report.html")
"""
REFERENCE = {
    "Measures": ("measures", MEASURES),
    "Methods": ("methods", METHODS),
    "Tests of independence": ("tests", TESTS),
}


def cards_by_page(heading: str) -> dict[str, Card]:
    """Return the card of each page of a part of the reference."""
    folder, registry = REFERENCE[heading]
    return {
        f"reference/{folder}/{name}": card for name, card in zip(registry.public_names(), registry.cards(), strict=True)
    }


def search_words(page: str) -> list[str]:
    """Return the words by which a page is found in addition to its own: names of other programs, usual words."""
    card = next((cards[page] for cards in map(cards_by_page, REFERENCE) if page in cards), None)
    aliases = [] if card is None else [alias for alias, name in SYNONYMS.items() if name == card.name]
    words = [*WORDS.get(page, "").split(), *aliases, *(word for alias in aliases for word in alias.split("_"))]
    return list(dict.fromkeys(words))


def llms_text(root: Path) -> str:
    """Return a list of the pages in Markdown, for programs that read a site: each with its question or first words."""
    parts = [f"# dreval\n\n> {SUMMARY}\n\nData are never scaled silently: scale them before.\n\n{START}"]
    for section, heading in SECTIONS.items():
        lines = [f"- [{text.title}]({text.name}.html): {text.opening}" for text in vignettes(root, section)]
        parts.append("\n".join([f"## {heading}", "", *lines, ""]))
    for heading in REFERENCE:
        lines = [f"- [{card.title}]({page}.html): {first_words(card)}" for page, card in cards_by_page(heading).items()]
        parts.append("\n".join([f"## {heading}", "", *lines, ""]))
    return "\n".join(parts)


def first_words(card: Card) -> str:
    """Return the question of an entry on one line; of a method, which has none, its name."""
    return " ".join((card.question or f"`{card.name}`").split())
