"""Unknown names and keywords: the error suggests the nearest, or none if nothing is similar."""

from __future__ import annotations

import ast
import inspect
import re
import timeit
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

import dreval
from dreval import errors
from dreval._check import keywords_checked, nearest_name, suggestions
from dreval.cli._main import main
from dreval.errors import DrevalError, InputError, UnknownKeyword, UnknownName
from dreval.records.comparison import Comparison
from dreval.registry import FIGURES, MEASURES, METHODS, TESTS

X = np.random.default_rng(0).normal(size=(24, 3))
Y = X[:, :2]

EVALUATION = [
    "data",
    "embeddings",
    "labels",
    "latent",
    "batch",
    "covariates",
    "ids",
    "layer",
    "use_rep",
    "n_neighbors",
    "metric",
    "anchors",
    "random_state",
    "n_jobs",
]
RUN = ["measures", "tests", "ci", "n_resamples", "adjust", "options", "progress"]
COMPARE = ["names", "measure", "baseline", "margin", "rope", "alpha", "adjust"]
ISOMAP = ["n_components", "n_neighbors", "disconnected", "random_state"]
UMAP = [
    "n_components",
    "n_neighbors",
    "min_dist",
    "spread",
    "n_epochs",
    "n_negative",
    "repulsion",
    "learning_rate",
    "init",
    "random_state",
]
FILES = ["data.csv", "labels.csv", "umap.npy", ".ci", "notes.txt"]
COLUMNS = ["kind", "age", "cell_type", "n_genes"]
NAMES = {
    "measure": list(MEASURES), "method": list(METHODS), "test": list(TESTS), "figure": list(FIGURES),
    "Evaluation": EVALUATION, "run": RUN, "compare": COMPARE, "Isomap": ISOMAP, "UMAP": UMAP,
    "file": FILES, "column": COLUMNS,
}  # fmt: skip
# The expected answers of a person, written before the rule.
TYPED = [
    ("measure", "trustworthines", "trustworthiness"), ("measure", "Trustworthyness", "trustworthiness"),
    ("measure", "continuty", "continuity"), ("measure", "stres", "stress"), ("measure", "qnx", "q_nx"),
    ("measure", "stress_normalised", "stress_scale_normalized"), ("measure", "nonmetric_stress", "stress_nonmetric"),
    ("measure", "spearman", "spearman_distance"), ("measure", "Pearson", "pearson_distance"),
    ("measure", "knn", "knn_accuracy"), ("measure", "accuracy", "knn_accuracy"), ("measure", "shepard", None),
    ("measure", "silhouete", "silhouette"), ("measure", "wasserstein", "wasserstein_distance"),
    ("measure", "nothing", None), ("measure", "f1", None), ("measure", "zzz", None), ("measure", "kappa", None),
    ("measure", "trustw", "trustworthiness"), ("measure", "trust", None), ("compare", "conf_level", "alpha"),
    ("method", "SpectralEmbedding", "laplacian_eigenmaps"), ("method", "spectral_embedding", "laplacian_eigenmaps"),
    ("method", "LocallyLinearEmbedding", "lle"), ("method", "LinearDiscriminantAnalysis", None),
    ("method", "lda", None), ("method", "umpa", "umap"), ("method", "tnse", "tsne"), ("method", "t sne", "tsne"),
    ("method", "isomp", "isomap"),
    ("method", "pac", "pca"), ("method", "kernelPCA", "kernel_pca"), ("method", "vea", "vae"),
    ("method", "laplacian", "laplacian_eigenmaps"), ("method", "difusion_map", "diffusion_maps"),
    ("method", "mds", "metric_mds"), ("method", "autoencodr", "autoencoder"), ("method", "nothing", None),
    ("method", "x.csv", None), ("method", "my_file.csv", None), ("method", "densmap", None), ("method", "zz", None),
    ("test", "hsci", "hsic"), ("test", "dcor", "dcov"), ("test", "chi2", None), ("test", "anova", None),
    ("figure", "heatmpa", "heatmap"), ("figure", "boxplot", None), ("figure", "coranking matrix", "coranking"),
    ("Evaluation", "k", "n_neighbors"), ("Evaluation", "K", "n_neighbors"), ("Evaluation", "neighbors", "n_neighbors"),
    ("Evaluation", "n_neighbours", "n_neighbors"), ("Evaluation", "Label", "labels"),
    ("Evaluation", "seed", "random_state"), ("Evaluation", "random_seed", "random_state"),
    ("Evaluation", "njobs", "n_jobs"), ("Evaluation", "anchor", "anchors"), ("Evaluation", "state", "random_state"),
    ("Evaluation", "distance", "metric"), ("Evaluation", "foo", None), ("Evaluation", "obs_names", None),
    ("run", "measure", "measures"), ("run", "perms", "n_resamples"), ("run", "n_permutations", "n_resamples"),
    ("run", "permutations", "n_resamples"), ("run", "nperm", "n_resamples"), ("run", "B", "n_resamples"),
    ("run", "adjustment", "adjust"), ("run", "verbose", "progress"),
    ("compare", "baselin", "baseline"), ("compare", "margins", "margin"), ("compare", "nothing", None),
    ("Isomap", "n_comps", "n_components"), ("Isomap", "perplexity", None),
    ("UMAP", "min_distance", "min_dist"), ("UMAP", "epochs", "n_epochs"), ("UMAP", "lr", "learning_rate"),
    ("UMAP", "a", None), ("file", "x.csv", None), ("file", "dta.csv", "data.csv"), ("file", "umap.npz", "umap.npy"),
    ("file", "z.npy", None), ("file", "label.csv", "labels.csv"), ("column", "Kind", "kind"),
    ("column", "celltype", "cell_type"), ("column", "type", "cell_type"), ("column", "sex", None),
]  # fmt: skip


def test_the_nearest_name_is_the_one_a_person_would_suggest() -> None:
    """Each of some seventy typed names gets the expected suggestion, or none."""
    assert len(TYPED) > 60
    wrong = {
        (kind, typed): (expected, result)
        for kind, typed, expected in TYPED
        if (result := nearest_name(typed, NAMES[kind])) != expected
    }
    assert wrong == {}


def test_the_few_names_that_begin_so_are_all_suggested() -> None:
    """Without one nearest name, up to four names that begin with the letters are suggested, and never more."""
    assert suggestions("trust", MEASURES) == ["trustability", "trustworthiness"]
    assert suggestions("tr", MEASURES) == suggestions(3, MEASURES) == []
    assert suggestions("procrustes", MEASURES) == ["procrustes_r"]  # the nearest of seven
    assert suggestions("abc", [f"abcdefghijkl_{letter}" for letter in "mnop"]) != []
    assert suggestions("abc", [f"abcdefghijkl_{letter}" for letter in "mnopq"]) == []
    with pytest.raises(UnknownName, match="Did you mean 'trustability' or 'trustworthiness'"):
        dreval.Evaluation(X, {"a": Y}).run("trust")
    with pytest.raises(AttributeError, match="Did you mean 'trustability' or 'trustworthiness'"):
        getattr(dreval, "trust")  # noqa: B009


TWINS = {
    "information_imbalance": ["information_imbalance_false", "information_imbalance_missing"],
    "mrre": ["mrre_false", "mrre_missing"],
    "kmeans": ["kmeans_ami", "kmeans_ari", "kmeans_nmi"],
    "class-aware": ["class_aware_continuity", "class_aware_trustworthiness"],
    "silhouette_": ["silhouette"],
}


@each("name", TWINS)
def test_the_first_words_of_several_measures_suggest_all_of_them(name: str) -> None:
    """Wherever a measure is named, none of up to four with the same first words is preferred."""
    question = rf"Did you mean {' or '.join(map(repr, TWINS[name]))}\?"

    assert suggestions(name, MEASURES) == TWINS[name]
    for ask in (
        lambda: dreval.score(X, Y, name),
        lambda: dreval.Evaluation(X, Y).run([name]),
        lambda: dreval.card(name, "measure"),
        lambda: dreval.get_scorer(name),
    ):
        with pytest.raises(UnknownName, match=question):
            ask()
    with pytest.raises(AttributeError, match=question):
        getattr(dreval.measures, name)


RUN_NAMES = {
    "ranking": (lambda r: r.ranking("stress"), "measure", "`measures` of `run`", "silhouette, trustworthiness"),
    "compare": (lambda r: r.compare(measure="stress"), "measure", "`measures` of `run`", "silhouette, trustworthiness"),
    "margin": (lambda r: r.compare(margin={"stress": 1}), "margin", "`measures` of `run`", "silhouette, trustw"),
    "forest": (lambda r: r.plot("forest", measure="stress"), "measure", "`measures` of `run`", "silhouette, trustw"),
    "map": (lambda r: r.plot("map", measure="stress"), "measure", "`measures` of `run`", "silhouette, trustworthiness"),
    "heatmap": (lambda r: r.plot("heatmap", measure="stress"), "measure", "`measures` of `run`", "silhouette, trust"),
    "plot curve": (lambda r: r.plot("curve", measure="stress"), "measure", "`measures` of `run`", "r_nx, silhouette"),
    "curve": (lambda r: r.curve("q_nx"), "measure", "`measures` of `run`", "r_nx"),
    "null": (lambda r: r.plot("null", test="kcca"), "test", "`tests` of `run`", "hsic"),
    "names": (lambda r: r.compare(["a", "umap"]), "names", "`embeddings` of `Evaluation`", "a, b"),
    "item": (lambda r: r["umap"], "name", "`embeddings` of `Evaluation`", "a, b"),
}


@pytest.fixture(scope="module")
def results() -> dreval.Results:
    """Return results of two embeddings, with a curve and a test."""
    evaluation = dreval.Evaluation(X, {"a": Y, "b": X[:, 1:]}, labels=list("ab") * 12, n_neighbors=5, random_state=0)
    return evaluation.run(["trustworthiness", "silhouette", "r_nx"], "hsic", n_resamples=9)


@each("case", RUN_NAMES)
def test_a_valid_name_that_was_not_run_is_not_an_unknown_name(case: str, results: dreval.Results) -> None:
    """The error for a measure that was not run names the place to add it, and the measures that were run."""
    ask, argument, where, options = RUN_NAMES[case]
    text = rf"`{argument}` must be one that was run: got '\w+'. Add it to {where}. Those that were run: {options}"
    with pytest.raises(InputError, match=text):
        ask(results)


def test_a_curve_that_was_run_has_no_single_value(results: dreval.Results) -> None:
    """The error for a curve in place of a value names the method of curves, and vice versa."""
    for ask in (lambda: results.ranking("r_nx"), lambda: results.plot("map", measure="r_nx")):
        with pytest.raises(InputError, match=r"must have one value: got 'r_nx', a curve. `Results.curve` has"):
            ask()
    with pytest.raises(InputError, match=r"must have a value for every number of neighbors: .* Curves: r_nx\.$"):
        results.curve("trustworthiness")


CURES = {
    "embed": (lambda: dreval.embed(X, "umpa"), "`method` must be .* Did you mean the method 'umap'"),
    "no file": (lambda: dreval.embed(X, "lda"), r"got 'lda'\. dreval.list_methods"),
    "file by its stem": (lambda: dreval.embed(X, "Lab"), r"Did you mean the file 'lab.csv'"),
    "file by its path": (lambda: dreval.embed(X, "lba.csv"), r"Did you mean 'lab.csv'"),
    "two methods": (lambda: dreval.embed(X, "proc"), "'procrustes_refinement' or the method 'procrustes_subspaces_al"),
    "data set": (lambda: dreval.Study("s.journal", ["s22"], ["pca"], "stress"), r"Did you mean the data set 's2'\? P"),
    "simulation": (lambda: dreval.simulate("swiss_roll", m=100), "Known: n, noise, random_state, spacing"),
    "few points": (lambda: dreval.Study("s.journal", {"x": X}, ["pca"], "stress", subsample=0.01),
                   r"`subsample` must leave at least 4 points: got 0.01 of 24 \(data set 'x'\)"),
    "no points": (lambda: dreval.Study("s.journal", {"x": X}, ["pca"], "stress", subsample=0), "`subsample` .* > 0.0"),
    "no labels": (lambda: dreval.silhouette(Y, labels=[None] * 24), r"missing values\. Check how the column was"),
    "numbers": (lambda: dreval.silhouette(Y, labels=X[:, 0]), "Pass numbers as `covariates` .*, or as `resp"),
}  # fmt: skip


@each("case", CURES)
def test_a_hint_names_the_intended_argument(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the argument of the called function, similar files for a path, and exceeded bounds."""
    (tmp_path / "lab.csv").touch()
    monkeypatch.chdir(tmp_path)
    ask, text = CURES[case]
    with pytest.raises(DrevalError, match=text):
        ask()


def test_the_card_of_a_test_is_found_by_its_function() -> None:
    """The suggestion of a test is right also if a method has its name."""
    assert all(dreval.card(f"{name}_test") == dreval.card(name, "test") for name in TESTS)


ENTRY_POINTS = {
    "noise_test": lambda _: dreval.noise_test(X, "pca", k=5),
    "stability": lambda _: dreval.stability(X, "pca", k=5),
    "Evaluation": lambda _: dreval.Evaluation(X, k=5),
    "run": lambda _: dreval.Evaluation(X, {"a": Y}).run(k=5),
    "compare": lambda _: dreval.compare([], k=5),
    "Results.compare": lambda _: _results().compare(k=5),
    "sweep": lambda _: dreval.sweep(X, "isomap", {}, k=5),
    "Study": lambda folder: dreval.Study(folder / "a.dreval", {"x": X}, "pca", "stress", k=5),
    "Protocol": lambda _: dreval.Protocol(X, 2, k=5),
}


@each("name", ENTRY_POINTS)
def test_entry_points_name_an_unknown_keyword(name: str, tmp_path: Path) -> None:
    """Before any other check, an unknown keyword raises UnknownKeyword, a TypeError too, which names the function."""
    with pytest.raises(UnknownKeyword, match="must be a known name: got 'k'") as error:
        ENTRY_POINTS[name](tmp_path)
    assert isinstance(error.value, TypeError)
    assert error.value.argument.removeprefix("parameter of ").rpartition(".")[2] == name.rpartition(".")[2]


def test_keywords_of_run_are_named_there() -> None:
    """``Evaluation`` names the call that takes a keyword of ``run``; ``metrics`` are measures."""
    for keyword in ("measures", "metrics", "tests", "ci", "n_resamples"):
        with pytest.raises(UnknownKeyword, match=r"Call Evaluation\(\.\.\.\)\.run\((measures|tests|ci|n_resamples)="):
            dreval.Evaluation(X, Y, **{keyword: None})
    for call in (dreval.Evaluation(X, Y).run, lambda **options: dreval.score(X, Y, **options)):
        with pytest.raises(UnknownKeyword, match="Did you mean 'measures'"):
            call(metrics=["stress"])


def test_names_of_embeddings_are_one_list(results: dreval.Results) -> None:
    """Names as further arguments raise an error with the list to pass; no entry point takes more without a keyword."""
    text = r"`arguments of Results.compare` must have a name after `names`: got 2 without a name. Pass several values"
    with pytest.raises(UnknownKeyword, match=text) as error:
        results.compare("a", "b")
    assert isinstance(error.value, TypeError)
    with pytest.raises(UnknownKeyword, match="`arguments of Evaluation` must have a name after `embeddings`: got 3"):
        dreval.Evaluation(X, Y, list("ab") * 12)
    with pytest.raises(InputError, match=r"got 'a', the name of an embedding\. Pass names=\['a', 'b'\]"):
        dreval.compare(results, "a", "b")


def test_an_error_in_other_words_is_raised_alone() -> None:
    """Where an error is raised as another one, only errors of other programs stay as its cause."""
    kinds = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}
    for path in sorted(Path(dreval.__path__[0]).rglob("*.py")):
        for handler in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(handler, ast.ExceptHandler) and ast.unparse(handler.type or ast.Tuple([])) in kinds:
                causes = [node.cause for node in ast.walk(handler) if isinstance(node, ast.Raise) and node.exc]
                texts = {ast.unparse(cause) if cause else "" for cause in causes}
                assert texts <= {"None", f"{handler.name}.__cause__"}, f"{path}:{handler.lineno}"
    for call in (lambda: dreval.score(X, Y, "stres"), lambda: dreval.trustworthiness(X, Y[:5])):
        with pytest.raises(DrevalError) as error:
            call()
        lines = traceback.format_exception(error.value)
        assert sum(line.startswith("Traceback") for line in lines) == 1
    with pytest.raises(dreval.errors.MethodFailed) as error:
        dreval.embed(X, lambda data, n_components: len(data[:, :n_components]) / 0)
    assert isinstance(error.value.__cause__, ZeroDivisionError)


OTHER_FUNCTIONS = {
    "trustworthiness": lambda: dreval.trustworthiness(X, Y, k=5),
    "trustability": lambda: dreval.trustability(X, "pca", k=5),
    "hsic_test": lambda: dreval.hsic_test(X, Y, k=5),
    "intrinsic_dimension": lambda: dreval.intrinsic_dimension(X, k=5),
    "local_distortion": lambda: dreval.local_distortion(X, Y, k=5),
    "Isomap": lambda: dreval.methods.Isomap(k=5),
    "transform": lambda: dreval.embed(X, "pca").transform(X[:2], k=5),
    "certificate": lambda: _results().certificate("a", k=5),
    "ranking": lambda: _results().ranking(k=5),
    "card": lambda: dreval.card("stress", k=5),
}


@each("name", OTHER_FUNCTIONS)
def test_other_functions_raise_the_error_of_python(name: str) -> None:
    """The TypeError of Python names the keyword, and the function in most cases."""
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'k'") as error:
        OTHER_FUNCTIONS[name]()
    assert not isinstance(error.value, DrevalError)


def test_options_of_a_name_suggest_the_nearest(tmp_path: Path) -> None:
    """Options that belong to a method, a data set or a kind of figure are checked against those of the name."""
    results, study = _results(), _study(tmp_path)
    calls = {
        "embed": lambda: dreval.embed(X, "isomap", k=5),
        "simulate": lambda: dreval.simulate("s1", 20, k=5),
        "with_embedding": lambda: dreval.Evaluation(X).with_embedding("a", "isomap", k=5),
        "Results.plot": lambda: results.plot("scatter", k=5),
        "Comparison.plot": lambda: _compared().plot("forest", k=5),
        "Study.compare": lambda: study.compare(k=5),
        "Study.plot": lambda: study.plot(k=5),
        "set_params": lambda: dreval.methods.PCA(2).set_params(k=5),
    }
    for call in calls.values():
        with pytest.raises(UnknownKeyword, match="must be a known name: got 'k'"):
            call()


def _results() -> dreval.Results:
    return dreval.Evaluation(X, {"a": Y}, n_neighbors=5, random_state=0).run("continuity", None)


def _compared() -> Comparison:
    sources = {"a": Y, "b": X[:, 1:]}
    return dreval.Evaluation(X, sources, n_neighbors=5, random_state=0).run("continuity", None).compare()


def _study(folder: Path) -> dreval.Study:
    """Two methods on two small data sets."""
    data, run = {"x": X, "y": X[::-1] ** 3}, {"n_neighbors": 5, "random_state": 0}
    return dreval.Study(folder / "a.journal", data, ["pca", "classical_mds"], "stress", **run).run()


def test_the_errors_of_the_call_itself_stay() -> None:
    """A missing argument and a TypeError from inside are Python's; signature and name are those of the function."""

    def inside(X: Any, *, k: int = 1) -> Any:
        """Add."""
        return X + k

    checked = keywords_checked(inside)
    assert checked(1, k=2) == 3
    assert inspect.signature(checked) == inspect.signature(inside)
    assert (checked.__name__, checked.__doc__) == ("inside", "Add.")
    for wrong in (lambda: checked(), lambda: checked("a", k=2)):
        with pytest.raises(TypeError) as error:
            wrong()
        assert not isinstance(error.value, DrevalError)


def test_the_check_costs_little() -> None:
    """Less than five microseconds for each call."""

    def bare(X: Any, *, a: int = 1, b: int = 2) -> None: ...

    checked, calls = keywords_checked(bare), 2000
    seconds = min(timeit.repeat(lambda: checked(X, a=1, b=2), number=calls, repeat=5)) / calls
    assert seconds < 5e-6


def test_attributes_get_the_nearest_name(results: dreval.Results) -> None:
    """Of the package, of its methods, of an evaluation, and of records."""
    for function, typed, suggestion in (
        (dreval, "trustworthines", "trustworthiness"),
        (dreval, "Evalution", "Evaluation"),
        (dreval.methods, "isomp", "Isomap"),
        (dreval.methods, "Umpa", "UMAP"),
        (dreval.Evaluation(X), "add", "with_embedding"),
        (results, "tabel", "table"),
        (results, "sumary", "summary"),
        (results.compare(), "pair", "pairs"),
        (results["a"], "coordinate", "coordinates"),
    ):
        with pytest.raises(AttributeError, match=f"Did you mean '{suggestion}'"):
            getattr(function, typed)
    for thing, typed, expression in (
        (results, "to_csv", "tidy().to_csv"),
        (results, "values", "tidy()['value']"),
        (results, "best", "ranking()"),
        (results.compare(), "to_csv", "tidy().to_csv"),
        (dreval.Evaluation(X), "tidy", "run().tidy()"),
        (dreval.Evaluation(X), "fit", "run()"),
    ):
        with pytest.raises(AttributeError, match=rf"Use {re.escape(expression)}$"):
            getattr(thing, typed)
    for kind in (dreval.Results, Comparison, dreval.Scores):  # attributes of the classes
        name = re.escape(f"type object '{kind.__name__}' has no attribute 'load'")
        purpose = "" if kind is dreval.Scores else r"\. Use dreval\.load_results\(path\)"
        with pytest.raises(AttributeError, match=rf"^{name}{purpose}$"):
            kind.load  # noqa: B018
    with pytest.raises(AttributeError, match="Did you mean 'summary'"):
        dreval.Results.sumary  # noqa: B018
    assert not hasattr(dreval, "nothing")
    assert not hasattr(results, "__array__")


@each(
    "arguments, suggestion",
    [
        ("evaluate x.csv --perms 5", "--n-resamples"),
        ("evaluate x.csv --Metrics=stress", "--measures"),
        ("evaluate x.csv --Metric=L1", "--metric"),
        ("study run a.journal --replicates 3", "--n-replicates"),
        ("protocol export x.csv folder --n-replicate 3", "--n-replicates"),
        ("list measures --jsn", "--json"),
        ("evaluate x.csv --bogus", None),
    ],
)
def test_the_command_line_suggests_the_nearest_option(
    arguments: str, suggestion: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command rejects an unknown option before any file is read, and suggests its nearest option."""
    with pytest.raises(SystemExit) as error:
        main(arguments.split())
    text = capsys.readouterr().err.splitlines()[-1]
    assert error.value.code == 2
    assert "unrecognized arguments" in text
    assert text.endswith(f"(did you mean {suggestion}?)") if suggestion else "did you mean" not in text


def test_a_mistyped_verb_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """Commands and subcommands get a suggestion; if no name is similar all are listed."""
    for arguments, text in (
        (["evalute"], "'evalute'. Did you mean 'evaluate'? Choose from"),
        (["study", "rn"], "'rn'. Did you mean 'run'?"),
        (["zzz"], "evaluate"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert text in capsys.readouterr().err


def test_values_of_the_command_line_have_aliases(capsys: pytest.CaptureFixture[str]) -> None:
    """Case does not matter where the values are fixed."""
    assert main(["list", "Tests"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TESTS)
