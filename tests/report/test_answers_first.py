"""The printed result: it is short, and its numbers and stars are those of the tables."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dreval
from dreval.report.best_sets import question_columns
from dreval.report.documents.evaluation import printed_table
from dreval.report.result_findings import missing_reason, verdict
from dreval.report.result_view import read_results


def cloud(count: int, n: int = 90, name: str = "umap_min_dist=0.", step: float = 0.05) -> dreval.Evaluation:
    """Return an evaluation of embeddings from good to noise; some hardly differ."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [4, 3, 1, 1, 1]
    embeddings = {f"{name}{i:02d}": X[:, :2] + step * i**2 * rng.normal(size=(n, 2)) for i in range(count)}
    return dreval.Evaluation(X, embeddings, labels=(X[:, 0] > 0).astype(int), n_neighbors=8, random_state=0)


@pytest.fixture(scope="module")
def two() -> dreval.Results:
    return cloud(2, name="umap ").run(tests=None)


@pytest.fixture(scope="module")
def five() -> dreval.Results:
    return cloud(5, name="umap ").run(n_resamples=99)


@pytest.fixture(scope="module")
def many() -> dreval.Results:
    return cloud(33).run(["trustworthiness", "neighborhood_overlap", "procrustes_rc", "spearman_distance"], None)


def parse_number(text: str) -> float:
    """Return a number of the narrow table."""
    return float(text.strip("<≈").replace("−", "-").replace(",", ""))


def check_printed_table(results: dreval.Results) -> None:
    """Compare values, half-widths, arrows and stars of the printed table with the tidy table and ``ranking``."""
    view = read_results(results)
    table = printed_table(view)
    rows = results.table.set_index(["embedding", "measure"])
    best = results.ranking().set_index(["embedding", "measure"])["in_best_set"]
    has_measure_rows = len(results.names) <= 6
    columns = view.by_goal if has_measure_rows else question_columns(view)
    names = [name for name in view.ranked if has_measure_rows or name in {row[0].text for row in table.rows}]
    heads = [row[0].text for row in table.rows] if has_measure_rows else [c.title for c in table.columns[1:]]
    for i, column in enumerate(columns):
        assert ("↓" in heads[i]) == (column.direction == "lower")
        for j, name in enumerate(names):
            cell = table.rows[i][j + 1] if has_measure_rows else table.rows[j][i + 1]
            value, _, half = cell.text.partition(" ±")
            row = rows.loc[(name, column.measure)]
            if " +" in value:  # the two sides of an interval that is not symmetric
                value, below, above = value.replace(" −", " ").replace(" +", " ").split()
                assert parse_number(below) == pytest.approx(row["value"] - row["conf_low"], abs=0.0011)
                assert parse_number(above) == pytest.approx(row["conf_high"] - row["value"], abs=0.0011)
            elif half:
                sides = sorted((row["value"] - row["conf_low"], row["conf_high"] - row["value"]))
                assert sides[0] >= 0.9 * sides[1] - 0.0011, (name, column.measure)
            assert parse_number(value) == pytest.approx(row["value"], abs=0.00051), (name, column.measure)
            if half:
                width = (row["conf_high"] - row["conf_low"]) / 2
                assert parse_number(half) == pytest.approx(width, abs=0.0011), (name, column.measure)
            assert (cell.emphasis == "best") == bool(best[name, column.measure]), (name, column.measure)
    assert len(columns) * len(names) > 8


@pytest.fixture(scope="module")
def clear() -> dreval.Results:
    return cloud(5, name="umap ", step=2.0).run(n_resamples=99)


@pytest.mark.parametrize("fixture", ["two", "clear", "five"])
def test_few_embeddings_have_thirty_lines_of_eighty_columns(fixture: str, request: pytest.FixtureRequest) -> None:
    """The data and settings, an answer to each question, one table in the order of reports, and the next step."""
    results = request.getfixturevalue(fixture)
    lines = str(results).splitlines()
    questions = [answer.question.replace("Global distances", "Distances") for answer in verdict(read_results(results))]

    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert lines[0] == f"{len(results.names)} embeddings of data: 90 points, 5 -> 2 dimensions (k = 8, seed 0)"
    assert lines[1] == "Intervals: independent points, coordinates treated as fixed"
    first = 3 if not lines[2] else 2  # a long print has no blank line there
    answers = lines[first : lines.index("", first)]
    assert [line.split("  ")[0] for line in answers if not line.startswith(" ")] == questions
    assert lines[-1] == 'Next: .plot("map")  .compare()  .summary(full=True)  .report("x.html")'
    assert "(paired, 5 % a measure)" in " ".join(lines)
    assert ("±" in str(results)) == (fixture == "two")
    check_printed_table(results)


def test_a_half_width_below_the_table_is_the_largest(five: dreval.Results) -> None:
    """Measures with much wider intervals are named with theirs."""
    rows = five.table.query("test == ''")
    halves = (rows["conf_high"] - rows["conf_low"]).groupby(rows["measure"]).max() / 2
    match = re.search(r"half-widths up to (\.\d+)(?: \((.*?)\))?[;.]", " ".join(str(five).split()))
    named = {
        title.rpartition(" ")[0]: float(title.rpartition(" ")[2]) for title in (match[2] or "").split(", ") if title
    }
    titles = {column.title_in_sentence: column.measure for column in read_results(five).main_columns}

    for title, half in named.items():
        assert half == pytest.approx(halves[titles[title]], abs=0.00051)
    other_halves = halves.drop([titles[title] for title in named])
    assert float(match[1]) == pytest.approx(other_halves.max(), abs=0.00051)


def test_many_embeddings_are_rows_with_one_measure_for_each_question(many: dreval.Results) -> None:
    """The first fifteen have a row, the others are counted, and the whole has at most forty lines."""
    lines, view = str(many).splitlines(), read_results(many)
    table = printed_table(view)

    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert [row[0].text for row in table.rows[:15]] == list(view.ranked[:15])
    assert table.rows[15][0].text == "18 more"
    assert [column.title.removesuffix(" ↓") for column in table.columns[1:]] == [
        "Neighbors",
        "Local shape",
        "Distances",
    ]
    assert "Neighbors: neighborhood overlap" in " ".join(" ".join(lines).split())
    check_printed_table(many)


def test_long_names_over_columns_are_short_with_a_key() -> None:
    """What all names begin with is said once."""
    table = printed_table(read_results(cloud(5).run("trustworthiness", None)))

    assert [column.title for column in table.columns[1:6]] == [f"…0.0{i}" for i in range(5)]
    assert "… is umap_min_dist=" in table.foot


def test_values_with_other_settings_are_listed_below_the_table():
    """Values with other settings are listed below the table, and the table has no gap."""

    def noisy(X, n_components, random_state):
        return X[:, :n_components] + np.random.default_rng(random_state).normal(size=(len(X), n_components))

    evaluation = dreval.Evaluation(
        np.random.default_rng(0).normal(size=(60, 4)), {"noisy": noisy, "pca": "pca"}, random_state=0
    )
    options = {"stability": {"n_replicates": 3}}
    results = evaluation.run(["trustworthiness", "stability"], None, None, options=options)
    rows = results.table.query("measure == 'stability'").set_index("embedding")
    text = re.sub(r"\s+", " ", str(results.summary()))
    match = re.search(r"Stability with other settings \((.*?)\): (\S+) \((\w+)\); not compared", text)
    assert rows.loc[match[3], "parameters"].replace("n_neighbors=", "k = ") == match[1]
    assert parse_number(match[2]) == pytest.approx(rows.loc[match[3], "value"], abs=5e-4)
    view = read_results(results)
    column = next(c for c in view.main_columns if c.measure == "stability")
    assert missing_reason(view, column, match[3]).startswith(f"run with other settings ({match[1]}: ")


def test_a_test_that_contradicts_a_measure_of_classes_is_printed() -> None:
    """Where no class accuracy exceeds chance, and a test finds that embeddings depend on the classes, both are said."""
    rng, codes = np.random.default_rng(3), np.arange(50) % 4
    X = rng.normal(size=(50, 4)) + 0.9 * np.eye(4)[codes]
    Y = (X - X.mean(axis=0)) @ np.linalg.svd(X - X.mean(axis=0))[2][:2].T
    classes, maps = np.array(list("abcd"))[codes], {"pca": Y, "rooted": np.cbrt(Y)}
    for labels, is_related in ((classes, True), (rng.permutation(classes), False)):
        results = dreval.Evaluation(X, maps, labels=labels, random_state=0).run(n_resamples=199)
        text = " ".join(str(results).split())
        assert "No embedding is significantly better than chance (accuracy" in text
        assert ("Tests Both embeddings depend on labels (HSIC and KCCA" in text) == is_related
