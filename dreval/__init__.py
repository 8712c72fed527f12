"""dreval: the formal evaluation of dimensionality reduction.

``Evaluation`` takes data and embeddings from any source and answers, with numbers that carry their uncertainty, how far
an embedding can be trusted. Every measure and test is also a plain function of this package
(``dreval.trustworthiness(X, Y)``). A name is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# The public names with their modules. Measures, tests, analyses and scores come from their registries, and
# ``python tests/public_stub.py`` writes the stubs from both.
_MODULES = {
    "Evaluation": "evaluation.evaluation",
    "Protocol": "protocol.protocol",
    "Results": "records.results",
    "Study": "study.study",
    "load_results": "records.archive",
    "compare": "comparison.compare",
    "embed": "inputs.source",
    "load_dataset": "datasets.files",
    "simulate": "datasets._dataset",
    "IndependenceTest": "records.tests",
    "bandwidth_curve": "significance._curves",
    "centroid_triplets": "measures.classes",
    "dependence_ranking": "significance._ranking",
    "kappa_curve": "significance._curves",
    "list_datasets": "registry",
    "list_figures": "registry",
    "list_measures": "registry",
    "list_methods": "registry",
    "list_scores": "registry",
    "list_tests": "registry",
    "recommend": "measures.core",
    "card": "registry",
}
_SUBMODULES = ("errors", "glossary", "methods")


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [public for public in __dir__() if not public.startswith("_")]
    if name in _MODULES:
        return getattr(importlib.import_module(f"dreval.{_MODULES[name]}"), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"dreval.{name}")
    if not name.startswith("_"):
        from dreval.registry import ANALYSES, MEASURES, SCORES, TESTS

        for registry in (MEASURES, ANALYSES, SCORES):
            if name in registry:
                return registry.get(name)
        if name in TESTS.public_names():
            return TESTS.get(name.removesuffix(TESTS.suffix))
        from dreval._check import did_you_mean

        suggestion = did_you_mean(name, __dir__()).rstrip()
        if suggestion:
            # With a name and no object Python adds no second suggestion.
            raise AttributeError(f"module 'dreval' has no attribute {name!r}. {suggestion}", name=name)
    raise AttributeError(f"module 'dreval' has no attribute {name!r}")


def __dir__() -> list[str]:
    from dreval.registry import ANALYSES, MEASURES, SCORES, TESTS

    return sorted({*_MODULES, *_SUBMODULES, *MEASURES, *TESTS.public_names(), *ANALYSES, *SCORES, "__version__"})
