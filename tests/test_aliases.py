"""Aliases: methods, measures, tests, kernels and options by the names of other programs."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import dreval
from dreval._check import SYNONYMS, resolve_alias
from dreval.errors import UnknownName
from dreval.registry import METHODS, REGISTRIES_BY_KIND

X = np.random.default_rng(0).normal(size=(24, 3))
Y = X[:, :2]


def test_no_alias_hides_a_name() -> None:
    """An alias is not itself a name, and means one thing in each registry."""
    for registry in REGISTRIES_BY_KIND.values():
        assert SYNONYMS.keys() & set(registry) == set()
        assert len({name.lower() for name in registry}) == len(list(registry))
        for name in registry:
            assert resolve_alias(name.upper().replace("_", "-"), registry.names()) == name


def test_methods_have_their_usual_names() -> None:
    """Capital letters and hyphens do not matter, in ``embed``, in an evaluation and in a card."""
    expected = np.asarray(dreval.embed(X, "pca"))
    assert np.array_equal(np.asarray(dreval.embed(X, "PCA")), expected)
    res = dreval.Evaluation(X, {"a": "PCA", "b": "Kernel-PCA"}, n_neighbors=4).run("continuity", None, None)
    assert np.array_equal(res["a"], expected)
    assert res.failed == {}
    assert dreval.card("t-SNE") is dreval.card("tsne")
    assert dreval.card("CCA", "Method") is dreval.card("cca", "method")


def test_aliases_of_measures_tests_and_options() -> None:
    """The table has the names of the package, also if aliases were requested."""
    table = {"labels": ["a", "b"] * 12, "n_neighbors": 4, "random_state": 0}
    by_name = dreval.Evaluation(X, {"e": Y}, metric="manhattan", **table)
    by_alias = dreval.Evaluation(X, {"e": Y}, metric="L1", **table)
    result = by_alias.run("Trustworthiness", "HSIC", "Points", adjust="fdr_bh", n_resamples=9).table
    expected_table = by_name.run("trustworthiness", "hsic", "points", adjust="benjamini_hochberg", n_resamples=9).table
    assert result.drop(columns="seconds").equals(expected_table.drop(columns="seconds"))


def test_aliases_of_kernels() -> None:
    """``rbf`` is ``gaussian`` in tests and in methods."""
    by_alias, second = (dreval.hsic_test(X[:, 0], X[:, 1], kernel=k, random_state=0) for k in ("rbf", "gaussian"))
    assert (by_alias.statistic, by_alias.p_value) == (second.statistic, second.p_value)
    left, right = (dreval.methods.KernelPCA(kernel=k).fit(X) for k in ("RBF", "gaussian"))
    assert np.array_equal(left.transform(X[:3]), right.transform(X[:3]))


def test_names_of_users_have_no_aliases() -> None:
    """Names of users are matched exactly; the nearest is only suggested."""
    res = dreval.Evaluation(X, {"pca": Y, "rbf": Y}, n_neighbors=4).run("continuity", None, None)
    with pytest.raises(UnknownName, match="Did you mean 'pca'"):
        res["PCA"]
    assert "PCA" not in res


def test_an_unknown_keyword_gets_the_right_one() -> None:
    """``k`` is ``n_neighbors``, and the message names the function or the method."""
    with pytest.raises(UnknownName, match=r"`parameter of Evaluation`.*'k'.*Did you mean 'n_neighbors'"):
        dreval.Evaluation(X, {"a": Y}, k=3)
    with pytest.raises(UnknownName, match=r"`parameter of isomap`.*'k'.*Did you mean 'n_neighbors'"):
        dreval.embed(X, "isomap", k=3)


def test_every_option_with_fixed_values_has_aliases() -> None:
    """Options with fixed choices accept capitals, hyphens and aliases."""
    without, checked = [], 0
    texts = {path: path.read_text("utf-8") for path in Path(dreval.__path__[0]).rglob("*.py")}
    for path in (path for path, text in texts.items() if "check_one_of(" in text):
        for node in ast.walk(ast.parse(texts[path])):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check_one_of" and len(node.args) > 2:
                choices = node.args[1]
                is_constant = isinstance(choices, ast.Name) and choices.id.isupper()
                if is_constant or (
                    isinstance(choices, ast.Tuple | ast.List)
                    and not {"'all_k'", "*CI_OPTIONS"} & set(map(ast.unparse, choices.elts))
                ):
                    checked += 1
                    if not any(keyword.arg == "aliases" for keyword in node.keywords):
                        without.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
    assert checked > 50
    assert without == []


@pytest.mark.parametrize(
    ("name", "usual", "aliased"),
    [
        ("umap", {"init": "pca", "n_epochs": 5}, {"init": "PCA", "n_epochs": 5}),
        ("ikd", {"kernel": "gaussian", "reference": "mean"}, {"kernel": "rbf", "reference": "Mean"}),
        ("isomap", {"disconnected": "separate"}, {"disconnected": "Separate"}),
        ("cost_mapping", {"cost": "lle"}, {"cost": "LLE"}),
        ("som", {"grid": "hexagonal", "algorithm": "batch"}, {"grid": "Hexagonal", "algorithm": "Batch"}),
        ("laplacian_eigenmaps", {"weights": "heat"}, {"weights": "Heat"}),
        ("lsdr", {"graph": "beta_skeleton"}, {"graph": "Beta skeleton"}),
    ],
)
def test_aliases_of_options_of_methods(name: str, usual: dict[str, object], aliased: dict[str, object]) -> None:
    """The embedding is the same; the parameter is stored unchanged, as scikit-learn requires."""
    cls = METHODS.get(name)
    result = [cls(2, random_state=0, **options).fit(X) for options in (usual, aliased)]
    assert np.array_equal(result[0].embedding_, result[1].embedding_)
    assert {key: result[1].get_params()[key] for key in aliased} == aliased


def test_aliases_of_options_of_tests_and_measures() -> None:
    """Aliases are also understood later: in the record of a test, in a row of the table, across data sets."""
    expected = dreval.hsic_test(X, Y, method="gamma", permutation="free")
    assert dreval.hsic_test(X, Y, method="Gamma", permutation="Free").p_value == expected.p_value
    assert dreval.stress(X, Y, kind="Raw") == dreval.stress(X, Y, kind="raw")
    result = dreval.Evaluation(X, {"a": Y}).run("stress", None, None, options={"stress": {"kind": "RAW"}}).table
    assert result["parameters"].tolist() == ["kind=raw"]
