"""dreval: the formal evaluation of dimensionality reduction.

``score`` returns the values of measures of one embedding. ``Evaluation`` takes data and embeddings from any source and
answers, with numbers that carry their uncertainty, how far an embedding can be trusted. Every measure and test is also
a plain function of this package (``dreval.trustworthiness(X, Y)``); ``dreval.measures`` lists the measures, and
``dreval.list_analyses()`` functions for other questions, as new points of a map (``dreval.out_of_sample``) and two
versions of a model (``dreval.representation_similarity``). A name is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# The public names with their modules. Measures, tests and analyses come from their registries, and
# ``python tests/public_stub.py`` writes the stubs from both.
_MODULES = {
    "Evaluation": "evaluation.evaluation",
    "Protocol": "protocol.protocol",
    "Results": "records.results",
    "Scores": "records.scores",
    "Study": "study.study",
    "load_results": "records.archive",
    "compare": "comparison.compare",
    "embed": "inputs.source",
    "get_scorer": "measures.scorer",
    "load_dataset": "datasets.files",
    "score": "evaluation.score",
    "simulate": "datasets._dataset",
    "split_measurements": "study.held_out",
    "IndependenceTest": "records.tests",
    "bandwidth_curve": "significance._curves",
    "centroid_triplets": "measures.classes",
    "dependence_ranking": "significance._ranking",
    "kappa_curve": "significance._curves",
    "list_datasets": "registry",
    "list_figures": "registry",
    "list_measures": "registry",
    "list_methods": "registry",
    "list_analyses": "registry",
    "list_tests": "registry",
    "recommend": "measures.core",
    "card": "registry",
}
_SUBMODULES = ("datasets", "errors", "glossary", "measures", "methods", "testing")

# The names that ``dir(dreval)`` lists and a star import defines; all other public names are found through them.
_LISTED = [
    *("Evaluation", "Protocol", "Study", "card", "compare", "datasets", "embed", "get_scorer", "load_dataset"),
    *("load_results", "measures", "methods", "noise_test", "recommend", "score", "stability", "sweep"),
]

# Names that other packages use, and what has that purpose here.
_ELSEWHERE = {
    "assert_not_worse": "dreval.testing.assert_not_worse is for test suites; the command dreval check compares maps.",
    "benchmark": "dreval.Study runs methods on data sets, dreval.compare compares results.",
    "check": "The command dreval check compares two maps; dreval.testing.assert_not_worse is for test suites.",
    "cka": "dreval.representation_similarity(A, B, measures='cka') compares representations.",
    "compare_representations": "dreval.representation_similarity(A, B) compares representations.",
    "coranking_matrix": "dreval.Evaluation(X, Y).run().plot('coranking') draws it; dreval.r_nx(X, Y) sums it up.",
    "evaluate": "dreval.score(X, Y) returns numbers, dreval.Evaluation(X, Y).run() also intervals and tests.",
    "evaluate_embedding": "dreval.score(X, Y) returns numbers, dreval.Evaluation(X, Y).run() also intervals and tests.",
    "fit_transform": "dreval.embed(X, 'pca') runs a method; each is a class, as dreval.methods.PCA.",
    "gate": "The command dreval check compares two maps; dreval.testing.assert_not_worse is for test suites.",
    "geodesic": "dreval.Evaluation(X, Y, metric='geodesic') takes distances along a graph.",
    "goals": "dreval.recommend() lists the goals.",
    "information_imbalance": (
        "dreval.information_imbalance_missing(X, Y) is from X to Y, information_imbalance_false(X, Y) from Y to X."
    ),
    "knn_recall": "dreval.graph_recall(graph, X) evaluates a graph, dreval.neighborhood_overlap(X, Y) a map.",
    "list": "dreval.list_measures(), list_methods(), list_tests(), list_datasets() list the names.",
    "list_metrics": "dreval.list_measures() lists the measures.",
    "load": "dreval.load_results(path) reads saved results, dreval.load_dataset(name) a data set.",
    "metrics": "dreval.measures has the measures, and dreval.score(X, Y) computes them.",
    "new_points": "dreval.out_of_sample(X, Y, X_new, Y_new) evaluates new points of a map.",
    "open": "dreval.load_results(path) reads saved results, dreval.load_dataset(name) a data set.",
    "plot": "dreval.Evaluation(X, Y).run() has a method plot, as comparisons and tests have.",
    "quality": "dreval.score(X, Y) returns the values of measures.",
    "read": "dreval.load_results(path) reads saved results; Evaluation takes paths of data and embeddings.",
    "read_csv": "dreval.load_results(path) reads saved results; Evaluation takes paths of data and embeddings.",
    "rsa": "dreval.representation_similarity(A, B, measures='rsa') compares representations.",
    "run": "dreval.Evaluation(X, Y).run() evaluates embeddings; dreval.embed(X, 'pca') runs a method.",
    "shepard": "dreval.Evaluation(X, Y).run().plot('shepard') draws it; dreval.spearman_distance(X, Y) sums it up.",
    "test": "dreval.list_tests() lists the tests; each is a function, as dreval.hsic_test(x, y).",
    "tests": "dreval.list_tests() lists the tests; each is a function, as dreval.hsic_test(x, y).",
    "version": "dreval.__version__ is the version.",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return list(_LISTED)
    if name in _MODULES:
        return getattr(importlib.import_module(f"dreval.{_MODULES[name]}"), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"dreval.{name}")
    if not name.startswith("_"):
        from dreval.registry import ANALYSES, MEASURES, TESTS

        for registry in (MEASURES, ANALYSES):
            if name in registry:
                return registry.get(name)
        if name in TESTS.public_names():
            return TESTS.get(name.removesuffix(TESTS.suffix))
        if suggestion := _suggestion(name):
            # With a name and no object Python adds no second suggestion.
            raise AttributeError(f"module 'dreval' has no attribute {name!r}. {suggestion}", name=name)
    raise AttributeError(f"module 'dreval' has no attribute {name!r}")


def _suggestion(name: str) -> str:
    """Return a sentence with the attribute that a wrong name may mean; empty if there is none."""
    from dreval._check import did_you_mean, resolve_alias
    from dreval.registry import METHODS

    method = resolve_alias(METHODS.name_of(name), METHODS.names())
    if method in METHODS:
        return f"The method is dreval.methods.{METHODS.thing_of(method)}; dreval.embed(X, {method!r}) runs it."
    if name.startswith(("load_", "fetch_")):
        return f"{_ELSEWHERE['load']} dreval.list_datasets() lists the data sets."
    return _ELSEWHERE.get(name.lower(), did_you_mean(name, _public_names()).rstrip())


def _public_names() -> list[str]:
    """Return all public names, sorted, with those that ``dir(dreval)`` does not list."""
    from dreval.registry import ANALYSES, MEASURES, TESTS

    return sorted({*_MODULES, *_SUBMODULES, *MEASURES, *TESTS.public_names(), *ANALYSES})


def __dir__() -> list[str]:
    return list(_LISTED)
