"""dreval: the formal evaluation of dimensionality reduction.

``Evaluation`` takes data and embeddings from any source and answers, with numbers that carry their uncertainty, how far
a picture can be trusted. Every index and test is also a plain function here (``dreval.trustworthiness(X, Y)``).
Everything is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PLACES = {
    "Evaluation": "evaluation",
    "Protocol": "protocol",
    "Results": "results.table",
    "Study": "study",
    "load_results": "results.archive",
    "compare": "comparison.across",
    "embed": "inputs.source",
    "load_dataset": "datasets._dataset",
    "read_raw": "datasets._raw",
    "simulate": "datasets._dataset",
    "IndependenceTest": "results.test",
    "bandwidth_curve": "independence._curves",
    "dependence_ranking": "independence._ranking",
    "kappa_curve": "independence._curves",
    "list_datasets": "registry",
    "list_indices": "registry",
    "list_methods": "registry",
    "list_tests": "registry",
    "index_card": "registry",
}
_FOLDERS = ("errors", "glossary", "methods")


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"dreval.{_PLACES[name]}"), name)
    if name in _FOLDERS:
        return importlib.import_module(f"dreval.{name}")
    if not name.startswith("_"):
        from dreval.registry import INDICES, TESTS

        if name in INDICES:
            return INDICES.get(name)
        if name in TESTS.public_names():
            return TESTS.get(name.removesuffix(TESTS.suffix))
    raise AttributeError(f"module 'dreval' has no attribute {name!r}")


def __dir__() -> list[str]:
    from dreval.registry import INDICES, TESTS

    return sorted({*_PLACES, *_FOLDERS, *INDICES.names(), *TESTS.public_names(), "__version__"})
