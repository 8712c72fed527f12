"""The table for a document: its numbers, its bold cells, its formats."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dreval
from dreval.errors import InputError, UnknownName
from dreval.report.documents.value_tables import value_table
from dreval.report.result_view import read_results


def make_results(n_embeddings=3, ci="default", measures=("trustworthiness", "r_nx_auc", "procrustes_rc")):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [4, 3, 1, 1, 1]
    sources = {f"e_{i}": X[:, :2] + i * rng.normal(size=(60, 2)) for i in range(n_embeddings)}
    return dreval.Evaluation(X, sources, n_neighbors=6, random_state=0).run(list(measures), tests=None, ci=ci)


@pytest.fixture(scope="module")
def results():
    """Three embeddings, from good to bad."""
    return make_results()


def parse_cell(cell):
    """Return a value and the ends of its interval."""
    value, *half_width = cell.replace("−", "-").split(" ± ")
    if half_width:
        return float(value), float(value) - float(half_width[0]), float(value) + float(half_width[0])
    return tuple(map(float, re.match(r"(\S+) \((\S+) to (\S+)\)", value).groups()))


@pytest.mark.parametrize("rows", ["embeddings", "measures"])
def test_cells_are_the_rows_of_the_table(results, rows):
    """Values, intervals and chance levels equal the table to the printed decimals; the best sets are bold."""
    value_cells = value_table(results, rows=rows)
    lines = list(zip(*value_cells.rows, strict=True)) if rows == "embeddings" else value_cells.rows
    lines = lines[1:] if rows == "embeddings" else [line[1:] for line in lines]
    table = results.table.set_index(["measure", "embedding"])
    best = results.ranking().set_index(["measure", "embedding"])["in_best_set"]

    for measure, line in zip(("trustworthiness", "r_nx_auc", "procrustes_rc"), lines, strict=True):
        for name, cell in zip(results.names, line, strict=False):
            row = table.loc[(measure, name)]
            assert parse_cell(cell.text) == pytest.approx(tuple(row[["value", "conf_low", "conf_high"]]), abs=1.1e-3)
            assert (cell.emphasis == "best") == best[(measure, name)]
        chance_levels, chance = sorted(table.loc[measure]["chance"]), line[-1].text.replace("−", "-").split(" to ")
        assert (float(chance[0]), float(chance[-1])) == pytest.approx((chance_levels[0], chance_levels[-1]), abs=5.1e-4)


def test_without_intervals_the_best_value_is_bold():
    """The table has no half-width and does not mention distinguishable embeddings."""
    results = make_results(ci=None)
    block, table = value_table(results), results.table.pivot(index="measure", columns="embedding", values="value")
    best = [table.loc["trustworthiness"].idxmax(), table.loc["r_nx_auc"].idxmax(), table.loc["procrustes_rc"].idxmin()]

    for row, name in zip(block.rows, best, strict=True):
        cells = zip(block.columns, row, strict=True)
        assert [column.title for column, cell in cells if (cell.emphasis == "best")] == [name]
    assert "±" not in str(block.rows) + block.text_below()
    assert "distinguishable" not in block.text_below()


def test_many_embeddings_are_rows():
    """More than six embeddings are rows in the order of reports, unless ``rows`` is passed."""
    results = make_results(7, ci=None)
    names = read_results(results).ranked

    assert [row[0].text for row in value_table(results).rows] == [*names, "chance level"]
    columns = value_table(results, rows="measures").columns
    assert [column.title for column in columns] == ["", *names, "chance"]


def test_measures_have_the_order_of_the_request(results):
    """A name selects one measure, a list several in its order; an unknown name and a wrong option raise an error."""
    assert len(value_table(results, "r_nx_auc").rows) == 1
    titles = [row[0].text for row in value_table(results, ["procrustes_rc", "trustworthiness"]).rows]
    assert titles == ["Local shape, free scale ↓", "Trustworthiness ↑"]
    with pytest.raises(InputError, match="continuity"):
        results.to_markdown("continuity")
    with pytest.raises(UnknownName, match="embeddings"):
        results.to_html(rows="embedding")
    with pytest.raises(InputError, match="must name something"):
        results.to_latex([])


@pytest.mark.slow
@settings(max_examples=20)
@given(name=st.text(min_size=1, max_size=12).filter(lambda name: name.strip() and name.isprintable()))
def test_any_name_gives_complete_tables(name):
    """Rows of Markdown and HTML have all cells, and LaTeX is balanced, for any name of an embedding."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    results = dreval.Evaluation(X, {name: X[:, :2]}, n_neighbors=3, random_state=0).run("trustworthiness", None, None)
    lines = [line for line in results.to_markdown().splitlines() if line.startswith("|")]

    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {4}
    assert results.to_html().count("<t") == results.to_html().count("</t")
    latex = re.sub(r"\\[{}]", "", results.to_latex(label="x"))
    assert latex.count("{") == latex.count("}")


def test_symbols_of_measures_are_formulas(results):
    """Rows of measures have titles; over the columns of LaTeX, where these do not fit, are symbols with a key."""
    assert "Local shape, free scale ↓" in results.to_html()
    assert "Local shape, free scale ↓ &" in results.to_latex(rows="measures")
    latex = results.to_latex(rows="embeddings")
    assert r"$R_{\mathrm{C}}$ ↓" in latex
    assert r"$R_{\mathrm{C}}$: local shape, free scale" in latex
    assert r"e\_0" in latex


def test_missing_values_and_failed_embeddings_are_listed(results):
    """The columns are the computed embeddings, and the foot lists failures."""
    X = np.random.default_rng(0).normal(size=(20, 3))

    def broken(X, n_components):
        raise ValueError("no")

    with pytest.warns(dreval.errors.DrevalWarning):
        results_with_failure = dreval.Evaluation(X, {"a": X[:, :2], "b": broken}, n_neighbors=3, random_state=0).run(
            "trustworthiness", None, None
        )

    table = value_table(results_with_failure)
    assert [column.title for column in table.columns] == ["", "a", "chance"]
    assert "b failed" in value_table(results_with_failure).foot


def noise(data, n_components, random_state=None):
    return np.random.default_rng(random_state or 0).normal(size=(len(data), n_components))


def test_an_untested_embedding_is_marked_as_not_comparable():
    """An embedding whose interval is for another target is marked, and the targets are named."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    sources = {"run": noise, "given": X[:, 2:] + 5 * noise(X, 2), "other": X[:, :2]}
    ev = dreval.Evaluation(X, sources, n_neighbors=5, random_state=0)
    options = {"replicates": {"n_replicates": 3, "over": "subsamples"}}
    results = ev.run("continuity", None, options=options)
    in_best_set = results.ranking().set_index("embedding")["in_best_set"]
    block = value_table(results)
    cells = dict(zip(read_results(results).ranked, block.rows[0][1:], strict=False))

    assert in_best_set.isna().any()
    assert in_best_set.fillna(False).any()
    assert {name for name, cell in cells.items() if cell.text.endswith(" °")} == {
        *in_best_set.index[in_best_set.isna()]
    }
    assert {name for name, cell in cells.items() if (cell.emphasis == "best")} == {
        *in_best_set.index[in_best_set.fillna(False)]
    }
    assert " or " in block.foot
    assert "° not comparable" in block.foot


def test_without_any_test_only_the_best_value_is_bold():
    """If intervals are for different targets, the foot says that the best value is not tested."""
    X = np.random.default_rng(5).normal(size=(40, 4))
    ev = dreval.Evaluation(X, {"run": "pca", "given": X[:, 2:], "other": X[:, :2]}, n_neighbors=5, random_state=0)
    options = {"replicates": {"n_replicates": 3, "over": "subsamples"}}
    results = ev.run("continuity", None, options=options)
    block, table = value_table(results), results.ranking()

    assert table["in_best_set"].isna().all()
    assert [
        column.title
        for column, cell in zip(block.columns[1:], block.rows[0][1:], strict=True)
        if (cell.emphasis == "best")
    ] == [table["embedding"][0]]
    assert "bold: best value, not tested" in block.text_below()
    assert "distinguishable" not in block.text_below()


def test_without_neighbors_the_foot_has_no_k():
    """A measure of distances only has no k."""
    X = np.random.default_rng(0).normal(size=(20, 4))
    results = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 1:3]}, random_state=0).run("stress", None, None)

    assert "k =" not in value_table(results).foot
