"""Public names: complete, imported lazily, never shadowed, with the promised parameters."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

import dreval
from dreval.cli._main import main
from dreval.errors import InputError, UnknownKeyword, UnknownName
from dreval.records.comparison import Comparison
from dreval.records.estimates import IntrinsicDimension, MeasureRecord, ParallelAnalysis, PerplexityCurve
from dreval.records.points import Embedding
from dreval.records.recall import GraphRecall
from dreval.records.sweep import Sweep
from dreval.records.tests import Certificate
from dreval.registry import ANALYSES, DATASETS, FIGURES, MEASURES, METHODS, REGISTRIES_BY_KIND, TESTS

FUNCTIONS = {name for name in dreval._MODULES if name[0].islower()} | {*ANALYSES}
CLASSES = {name for name in dreval._MODULES if name[0].isupper()}
METHODS_OF_RESULTS = [
    "tidy",
    "glance",
    "augment",
    "summary",
    "plot",
    "report",
    "save",
    "compare",
    "certificate",
    "transform",
    "inverse_transform",
    "to_html",
    "to_latex",
    "to_markdown",
]


def parameters(function: Any) -> dict[str, Any]:
    """Parameters with their defaults, in order."""
    return {name: p.default for name, p in inspect.signature(function).parameters.items() if name != "self"}


NEWCOMERS = [
    "Evaluation",
    "score",
    "compare",
    "stability",
    "noise_test",
    "sweep",
    "Study",
    "Protocol",
    "embed",
    "recommend",
    "card",
    "load_dataset",
    "load_results",
    "get_scorer",
    "methods",
    "measures",
    "datasets",
]


def test_dir_lists_what_a_newcomer_needs() -> None:
    """``dir(dreval)`` and ``__all__`` of the package and of its stub are seventeen names."""
    stub = ast.parse((Path(dreval.__path__[0]) / "__init__.pyi").read_text())
    names = next(ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))

    assert dir(dreval) == sorted(NEWCOMERS)
    assert sorted(dreval.__all__) == sorted(names) == sorted(NEWCOMERS)


def test_the_stub_defines_every_public_name() -> None:
    """Names that ``dir`` does not list are attributes of the package and of its stub."""
    stub = ast.parse((Path(dreval.__path__[0]) / "__init__.pyi").read_text())
    imported = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    defined = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}

    assert set(dreval._public_names()) == (imported - {None}) | defined
    assert all(hasattr(dreval, name) for name in dreval._public_names())


@each("name", ["measures", "methods", "datasets"])
def test_folders_list_their_entries(name: str) -> None:
    """They are functions or classes, not modules, also after all modules were imported."""
    folder = getattr(dreval, name)
    for info in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{info.name}")

    assert len(dir(folder)) == len({"measures": MEASURES, "methods": METHODS, "datasets": DATASETS}[name].names())
    assert [entry for entry in dir(folder) if not callable(getattr(folder, entry))] == []
    assert [entry for entry in dir(folder) if not inspect.getdoc(getattr(folder, entry))] == []
    with pytest.raises(AttributeError, match=r"Did you mean|list"):
        getattr(folder, f"{dir(folder)[0]}s")


def test_measures_are_the_same_functions_everywhere() -> None:
    """``dreval.measures.trustworthiness`` is ``dreval.trustworthiness``, and both can be imported by name."""
    from dreval import trustworthiness
    from dreval.measures import trustworthiness as from_folder

    assert trustworthiness is from_folder is dreval.trustworthiness
    assert dreval.measures.stability is dreval.stability


def test_data_sets_are_functions() -> None:
    """They are those of ``load_dataset`` and ``simulate``, with their parameters."""
    roll = dreval.datasets.swiss_roll(n=50, random_state=0)

    assert (roll.data == dreval.simulate("swiss_roll", n=50, random_state=0).data).all()
    assert dreval.datasets.wdbc().data.shape == (569, 30)
    assert list(inspect.signature(dreval.datasets.sonar_file).parameters) == ["path", "labels"]


HINTS = {
    "UMAP": r"dreval\.methods\.UMAP; dreval\.embed\(X, 'umap'\)",
    "PCA": r"dreval\.embed\(X, 'pca'\)",
    "TSNE": r"dreval\.methods\.TSNE",
    "read": "load_results",
    "load": "load_dataset",
    "evaluate": r"dreval\.score\(X, Y\) returns numbers, dreval\.Evaluation",
    "metrics": r"dreval\.measures",
    "trustworthines": "Did you mean 'trustworthiness'",
    "load_iris": r"dreval\.list_datasets\(\)",
    "list_metrics": r"dreval\.list_measures\(\)",
    "plot": r"run\(\) has a method plot",
    "quality": r"dreval\.score\(X, Y\)",
    "shepard": r"plot\('shepard'\)",
    "version": "__version__",
    "new_points": r"dreval\.out_of_sample\(X, Y, X_new, Y_new\)",
    "outofsample": "Did you mean 'out_of_sample'",
    "similarity": "Did you mean 'representation_similarity'",
    "CKA": r"dreval\.representation_similarity\(A, B, measures='cka'\)",
    "recall": "Did you mean 'graph_recall'",
    "knn_recall": r"dreval\.graph_recall\(graph, X\)",
    "gate": r"dreval check .* dreval\.testing\.assert_not_worse",
    "assert_not_worse": r"dreval\.testing\.assert_not_worse",
}
RESULT_HINTS = {
    "umap": r"Use results\['umap'\]",
    "trustworthiness": r"Use tidy\(\)",
    "best": r"Use ranking\(\)",
    "winner": r"Use ranking\(\)",
    "values": r"Use tidy\(\)\['value'\]",
    "p_values": r"Use tidy\(\)\[\['p_value', 'p_adjusted'\]\]",
    "to_csv": r"Use tidy\(\)\.to_csv",
    "metrics": r"Use tidy\(\)",
    "savefig": r"Use plot\(\)\.savefig",
    "keys": "Use names",
}
X = np.random.default_rng(0).normal(size=(30, 4))
KEYWORD_HINTS = [
    (lambda: dreval.Evaluation(X, umap=X[:, :2]), r"Call Evaluation\(data, \{'umap': \.\.\.\}\)"),
    (lambda: dreval.Evaluation(X, X[:, :2], y=[1] * 30), r"Call Evaluation\(\.\.\., labels=y\)"),
    (lambda: dreval.Evaluation(X, X[:, :2], measures="stress"), r"Call Evaluation\(\.\.\.\)\.run\(measures="),
    (lambda: dreval.Evaluation(X, X[:, :2]).run(k=5), r"Call Evaluation\(\.\.\., n_neighbors="),
    (lambda: dreval.Evaluation(X, X[:, :2]).run(confidence=0.9), "Did you mean 'conf_level'"),
    (lambda: dreval.trustworthiness(X, X[:, :2], k=5), "Did you mean 'n_neighbors'"),
    (lambda: dreval.knn_accuracy(X, labels=[1, 2] * 15, cv=5), "Did you mean 'n_splits'"),
    (lambda: dreval.stability(X, "pca", n_runs=5), "Did you mean 'n_replicates'"),
    (lambda: dreval.noise_test(X, "pca", statistic="stress"), "Did you mean 'measure'"),
]


@each("name", list(HINTS))
def test_usual_guesses_lead_to_the_right_name(name: str) -> None:
    """Names of other packages get a sentence that names what has that purpose here."""
    with pytest.raises(AttributeError, match=HINTS[name]):
        getattr(dreval, name)


@pytest.fixture(scope="module")
def result() -> Any:
    """A result with an embedding called "umap"."""
    return dreval.Evaluation(X, {"umap": X[:, :2]}, random_state=0).run("trustworthiness", tests=None, ci=None)


@each("name", list(RESULT_HINTS))
def test_usual_guesses_of_attributes_lead_to_the_right_one(name: str, result: Any) -> None:
    """Attributes that results do not have get the expression with what they are expected to hold."""
    with pytest.raises(AttributeError, match=RESULT_HINTS[name]):
        getattr(result, name)


def test_measures_and_embeddings_in_the_wrong_place_get_the_right_call(result: Any) -> None:
    """A measure in place of an embedding, and either in place of a kind of figure, get the right call."""
    with pytest.raises(UnknownName, match=r"got the measure 'trustworthiness'\. Its values are rows of tidy"):
        result["trustworthiness"]
    with pytest.raises(UnknownName, match=r"Pass embedding='umap', or write results\['umap'\]\.plot\(\)"):
        result.plot("umap")
    with pytest.raises(UnknownName, match=r"Use plot\('map', measure='trustworthiness'\)"):
        result.plot("trustworthiness")
    with pytest.raises(AttributeError, match="Use scores"):
        _ = result["umap"].trustworthiness


@each("case", range(len(KEYWORD_HINTS)))
def test_usual_guesses_of_keywords_lead_to_the_right_one(case: int) -> None:
    """Keywords of other packages, and those of another call, get the keyword and the call that takes it."""
    call, hint = KEYWORD_HINTS[case]
    with pytest.raises((UnknownKeyword, TypeError), match=hint):
        call()


@each("name", sorted(FUNCTIONS | set(MEASURES) | {f"{name}_test" for name in TESTS}))
def test_public_functions_have_their_names(name: str) -> None:
    """Each public function is an attribute of ``dreval``, has that name itself, and is documented."""
    function = getattr(dreval, name)

    assert callable(function)
    assert function.__name__ == name
    assert inspect.getdoc(function)


@each("name", sorted(CLASSES))
def test_public_classes_are_classes(name: str) -> None:
    """Each public class is an attribute of ``dreval`` and is documented."""
    assert inspect.isclass(getattr(dreval, name))
    assert inspect.getdoc(getattr(dreval, name))


def test_importing_a_module_does_not_shadow_a_function() -> None:
    """After any import, ``dreval.<measure>`` is the function and not a module of that name."""
    modules = {registry.get(name).__module__ for registry in (MEASURES, TESTS) for name in registry}
    for module in [*modules, "dreval.evaluation.evaluation", "dreval.report", "dreval.cli._main"]:
        importlib.import_module(module)
    names = [*MEASURES, *TESTS.public_names(), *FUNCTIONS, *CLASSES]

    assert [name for name in names if inspect.ismodule(getattr(dreval, name))] == []


def test_no_name_is_used_twice() -> None:
    """A measure, a test, a function and a module of the package never share a name."""
    files = {path.stem for path in Path(dreval.__path__[0]).iterdir() if not path.stem.startswith("_")}
    groups = [set(MEASURES), set(TESTS.public_names()), FUNCTIONS, CLASSES, files]

    assert sum(map(len, groups)) == len(set().union(*groups))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """An unknown name raises AttributeError, so that ``hasattr`` works."""
    assert not hasattr(dreval, "trustworthines")
    with pytest.raises(AttributeError, match="trustworthines"):
        dreval.trustworthines  # noqa: B018 - the access raises


@each("name", list(METHODS))
def test_methods_are_reached_by_class_name(name: str) -> None:
    """``dreval.methods.<Class>`` is the class of the method, and ``dir`` lists it."""
    card = METHODS.card(name)

    assert getattr(dreval.methods, card.class_name) is METHODS.get(name)
    assert card.class_name in dir(dreval.methods)


def test_evaluation_has_the_promised_parameters() -> None:
    """``Evaluation`` takes data and embeddings by position and all other arguments by keyword, with these defaults."""
    assert parameters(dreval.Evaluation) == {
        "data": inspect.Parameter.empty,
        "embeddings": None,
        "labels": None,
        "latent": None,
        "batch": None,
        "groups": None,
        "covariates": None,
        "covariate_types": None,
        "ids": None,
        "layer": None,
        "use_rep": None,
        "n_neighbors": "auto",
        "metric": "euclidean",
        "graph_neighbors": "auto",
        "embedding_metric": "euclidean",
        "header": "auto",
        "anchors": "auto",
        "random_state": None,
        "n_jobs": None,
        "new_data": None,
        "new": None,
    }


def test_run_has_the_promised_parameters() -> None:
    """``Evaluation.run`` has the promised parameters and defaults."""
    assert parameters(dreval.Evaluation.run) == {
        "measures": "default",
        "tests": "default",
        "ci": "default",
        "conf_level": 0.95,
        "n_resamples": 999,
        "adjust": "holm",
        "options": None,
        "journal": None,
        "progress": None,
    }


def test_study_has_the_promised_parameters() -> None:
    """``Study`` takes journal, data sets, methods, measures, replicates by position, and its methods are documented."""
    assert list(parameters(dreval.Study))[:5] == ["journal", "datasets", "methods", "measures", "n_replicates"]
    for name in ("run", "status", "table", "compare", "report", "embedding", "recipe", "open"):
        assert inspect.getdoc(getattr(dreval.Study, name))


@each("name", METHODS_OF_RESULTS)
def test_results_have_their_methods(name: str) -> None:
    """Each of these methods of ``Results`` is documented."""
    assert inspect.getdoc(getattr(dreval.Results, name))


@each("name", list(MEASURES))
def test_measures_are_called_alike(name: str) -> None:
    """Every measure takes data (if it reads them), embedding (or method) and ``n_neighbors`` by position."""
    signature = inspect.signature(getattr(dreval, name))
    positional = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    kinds = {p.kind for p in signature.parameters.values() if p.name not in positional}
    card = MEASURES.card(name)
    expected = ["X", "source"] if card.level == "algorithm" else ["X", "Y"] if card.reads_data else ["Y"]
    if card.level != "algorithm" and "n_neighbors" in card.parameters:
        expected.append("n_neighbors")
    expected += ["kind"] * (name == "held_out_fidelity")  # of the split, as in split_measurements

    assert positional == expected
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY}


def test_analyses_of_data_are_called_alike() -> None:
    """They take data, and an embedding, new points, a graph, dimensions or the method that they run, by position."""
    for name in ANALYSES:
        kinds = {p.name: p.kind for p in inspect.signature(getattr(dreval, name)).parameters.values()}
        by_position = [key for key, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        extra = (
            ["X", "perplexities"],
            ["X", "n_components"],
            ["X", "source", "param_grid"],
            ["graph", "X"],
            ["A", "B"],
            ["X", "Y", "X_new", "Y_new"],
        )
        assert by_position in (["X"], ["X", "Y"], *extra), name


@each("name", list(TESTS))
def test_independence_tests_are_called_alike(name: str) -> None:
    """Every test takes the variables (or data and method) by position, and number of draws and seed by keyword."""
    defaults = parameters(getattr(dreval, f"{name}_test"))
    of_method = TESTS.card(name).second == "method"

    assert list(defaults)[:2] == (["X", "source"] if of_method else ["x", "y"])
    assert {"n_replicates" if of_method else "n_resamples", "random_state"} <= defaults.keys()


def test_lists_are_the_registries() -> None:
    """The six lists give the names of the six registries, sorted."""
    lists = [dreval.list_measures(), dreval.list_tests(), dreval.list_methods(), dreval.list_datasets()]
    lists += [dreval.list_figures(), dreval.list_analyses()]

    assert lists == [sorted(registry) for registry in (MEASURES, TESTS, METHODS, DATASETS, FIGURES, ANALYSES)]


def test_a_card_is_found_by_its_name() -> None:
    """Every name has a card; an ambiguous name needs its kind; an unknown name gets a suggestion."""
    for kind, registry in REGISTRIES_BY_KIND.items():
        for name in registry:
            assert dreval.card(name, kind) is registry.card(name)
            if sum(name in registry for registry in REGISTRIES_BY_KIND.values()) == 1:
                assert dreval.card(name) is registry.card(name)
    with pytest.raises(InputError, match=r"'cca', a test and a method\. Pass kind='test' or kind='method'"):
        dreval.card("cca")
    with pytest.raises(UnknownName, match="Did you mean 'heatmap'"):
        dreval.card("heatmpa")
    with pytest.raises(UnknownName, match="Did you mean 'figure'"):
        dreval.card("map", "figur")


def test_the_package_is_a_command() -> None:
    """``python -m dreval`` is the command line."""
    command = [sys.executable, "-m", "dreval", "--version"]
    process = subprocess.run(command, capture_output=True, text=True, cwd=Path(dreval.__path__[0]).parent, check=True)

    assert process.stdout == f"dreval {dreval.__version__}\n"


def test_all_kinds_of_things_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """``dreval list`` prints a line for every name of each registry."""
    for registry in (registry for registry in REGISTRIES_BY_KIND.values() if registry.plural):
        assert main(["list", registry.plural]) == 0
        assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(registry)


def test_every_public_function_and_method_has_an_example() -> None:
    """Functions, classes and methods, also of the records that they return; ``--doctest-modules`` runs them."""
    public = {name: getattr(dreval, name) for name in dreval._public_names() if callable(getattr(dreval, name))}
    kinds = (Comparison, Embedding, Certificate, MeasureRecord, IntrinsicDimension, ParallelAnalysis, PerplexityCurve)
    kinds += (Sweep, GraphRecall)
    records = {kind.__name__: kind for kind in kinds}
    methods = {
        f"{name}.{method}": function
        for name, kind in {**public, **records}.items()
        if inspect.isclass(kind)
        for method, function in inspect.getmembers(kind, callable)
        if not method.startswith("_") and method not in ("items", "keys", "values")  # of every mapping
    }
    without = [n for n, o in {**public, **records, **methods}.items() if ">>> " not in (inspect.getdoc(o) or "")]
    assert len(methods) > 50
    assert without == []
