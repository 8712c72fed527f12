"""The table for a document: its numbers, its bold cells, its forms."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dreval
from dreval.errors import InputError, UnknownName
from dreval.report.contents.evaluation import value_table
from dreval.report.document import BestCell


def _results(n_embeddings=3, ci="default", measures=("trustworthiness", "r_nx_auc", "procrustes_rc")):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [4, 3, 1, 1, 1]
    sources = {f"e_{i}": X[:, :2] + i * rng.normal(size=(60, 2)) for i in range(n_embeddings)}
    return dreval.Evaluation(X, sources, n_neighbors=6, random_state=0).run(list(measures), tests=None, ci=ci)


@pytest.fixture(scope="module")
def results():
    """Three embeddings, from good to bad."""
    return _results()


def _numbers(cell):
    """A value and the ends of its interval."""
    value, *half = cell.replace("−", "-").split(" ± ")
    if half:
        return float(value), float(value) - float(half[0]), float(value) + float(half[0])
    return tuple(map(float, re.match(r"(\S+) \((\S+) to (\S+)\)", value).groups()))


@pytest.mark.parametrize("rows", ["embeddings", "measures"])
def test_cells_are_the_rows_of_the_table(results, rows):
    """Every value, interval and chance level, up to the places that are printed; bold are the best sets."""
    block = value_table(results, rows=rows)
    lines = list(zip(*block.rows, strict=True)) if rows == "embeddings" else block.rows
    lines = lines[1:] if rows == "embeddings" else [line[1:] for line in lines]
    table = results.tidy().set_index(["measure", "embedding"])
    best = results.ranking().set_index(["measure", "embedding"])["in_best_set"]

    for measure, line in zip(("trustworthiness", "r_nx_auc", "procrustes_rc"), lines, strict=True):
        for name, cell in zip(results.names, line, strict=False):
            row = table.loc[(measure, name)]
            assert _numbers(cell) == pytest.approx(tuple(row[["value", "conf_low", "conf_high"]]), abs=1.1e-3)
            assert isinstance(cell, BestCell) == best[(measure, name)]
        known, chance = sorted(table.loc[measure]["chance"]), line[-1].replace("−", "-").split(" to ")
        assert (float(chance[0]), float(chance[-1])) == pytest.approx((known[0], known[-1]), abs=5.1e-4)


def test_without_intervals_the_best_value_is_bold():
    """And no half-width is promised."""
    results = _results(ci=None)
    block, table = value_table(results), results.tidy().pivot(index="measure", columns="embedding", values="value")
    best = [table.loc["trustworthiness"].idxmax(), table.loc["r_nx_auc"].idxmax(), table.loc["procrustes_rc"].idxmin()]

    for row, name in zip(block.rows, best, strict=True):
        cells = zip(block.columns, row, strict=True)
        assert [column for column, cell in cells if isinstance(cell, BestCell)] == [name]
    assert "±" not in str(block.rows) + block.below()
    assert "distinguishable" not in block.below()


def test_many_embeddings_stand_below_each_other():
    """Beyond five; the choice can be made otherwise."""
    many = _results(6, ci=None)

    assert [row[0] for row in value_table(many).rows] == [*many.names, "chance level"]
    assert value_table(many, rows="measures").columns == ["", *many.names, "chance"]


def test_measures_are_chosen_in_order(results):
    """One by name, several in the order of the request; an unknown one and a wrong option raise an error."""
    assert len(value_table(results, "r_nx_auc").rows) == 1
    titles = [row[0] for row in value_table(results, ["procrustes_rc", "trustworthiness"]).rows]
    assert titles == ["Local Procrustes R_C ↓", "Trustworthiness ↑"]
    with pytest.raises(InputError, match="continuity"):
        results.to_markdown("continuity")
    with pytest.raises(UnknownName, match="embeddings"):
        results.to_html(rows="embedding")
    with pytest.raises(InputError, match="must name something"):
        results.to_latex([])


@settings(max_examples=20)
@given(name=st.text(min_size=1, max_size=12).filter(lambda name: name.strip() and name.isprintable()))
def test_any_name_gives_whole_tables(name):
    """As many cells in each row of Markdown and HTML, and balanced LaTeX, whatever an embedding is called."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    results = dreval.Evaluation(X, {name: X[:, :2]}, n_neighbors=3, random_state=0).run("trustworthiness", None, None)
    lines = [line for line in results.to_markdown().splitlines() if line.startswith("|")]

    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {4}
    assert results.to_html().count("<t") == results.to_html().count("</t")
    latex = re.sub(r"\\[{}]", "", results.to_latex(label="x"))
    assert latex.count("{") == latex.count("}")


def test_symbols_of_measures_are_formulas(results):
    """Titles with their symbols in a page; symbols with a key in LaTeX."""
    assert "Local Procrustes R<sub>C</sub> ↓" in results.to_html()
    latex = results.to_latex()
    assert r"$R_{\mathrm{C}}$ ↓" in latex
    assert r"$R_{\mathrm{C}}$: local Procrustes" in latex
    assert r"e\_0" in latex


def test_a_missing_value_and_a_failed_embedding_are_said(results):
    """A measure without a value is missing; failures are listed below."""
    X = np.random.default_rng(0).normal(size=(20, 3))

    def broken(X, n_components):
        raise ValueError("no")

    with pytest.warns(dreval.errors.DrevalWarning):
        made = dreval.Evaluation(X, {"a": X[:, :2], "b": broken}, n_neighbors=3, random_state=0).run(
            "trustworthiness", None, None
        )

    assert value_table(made).columns == ["", "a", "chance"]
    assert "b failed" in value_table(made).foot


def _noise(data, n_components, random_state=None):
    return np.random.default_rng(random_state or 0).normal(size=(len(data), n_components))


def test_what_cannot_be_judged_is_neither_best_nor_worse():
    """An embedding whose interval is for another target is marked, and the targets are named."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    sources = {"run": _noise, "given": X[:, 2:] + 5 * _noise(X, 2), "other": X[:, :2]}
    ev = dreval.Evaluation(X, sources, n_neighbors=5, random_state=0)
    options = {"replicates": {"n_replicates": 3, "over": "subsamples"}}
    results = ev.run("continuity", None, options=options)
    judged = results.ranking().set_index("embedding")["in_best_set"]
    block = value_table(results)
    cells = dict(zip(results.names, block.rows[0][1:], strict=False))

    assert judged.isna().any()
    assert judged.fillna(False).any()
    assert {name for name, cell in cells.items() if cell.endswith(" °")} == {*judged.index[judged.isna()]}
    assert {name for name, cell in cells.items() if isinstance(cell, BestCell)} == {*judged.index[judged.fillna(False)]}
    assert " or " in block.foot
    assert "° not comparable" in block.foot


def test_where_nothing_is_judged_the_best_value_is_bold_and_no_more():
    """With intervals for other targets the foot says that nothing was tested."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    ev = dreval.Evaluation(X, {"run": "pca", "given": X[:, 2:], "other": X[:, :2]}, n_neighbors=5, random_state=0)
    options = {"replicates": {"n_replicates": 3, "over": "subsamples"}}
    results = ev.run("continuity", None, options=options)
    block, table = value_table(results), results.ranking()

    assert table["in_best_set"].isna().all()
    assert [
        name for name, cell in zip(results.names, block.rows[0][1:], strict=False) if isinstance(cell, BestCell)
    ] == [table["embedding"][0]]
    assert "bold: best value, not tested" in block.below()
    assert "distinguishable" not in block.below()


def test_without_neighbors_no_k_is_said():
    """A measure of distances only."""
    X = np.random.default_rng(0).normal(size=(20, 4))
    results = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 1:3]}, random_state=0).run("stress", None, None)

    assert "k =" not in value_table(results).foot
