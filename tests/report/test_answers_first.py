"""The printed result and comparison: they are short, and their numbers and stars are those of the tables."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dreval
from dreval.registry import MEASURES
from dreval.report.documents.comparison import comparison_summary, outcomes
from dreval.report.documents.evaluation import printed_table
from dreval.report.findings import missing_reason
from dreval.report.render.layout import heading_text
from dreval.report.render.markup import plain_symbols, sentence
from dreval.report.result_view import read_results

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def cloud(count: int, n: int = 90, name: str = "umap_min_dist=0.") -> dreval.Evaluation:
    """Return an evaluation of embeddings from good to noise; some hardly differ."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [4, 3, 1, 1, 1]
    embeddings = {f"{name}{i:02d}": X[:, :2] + 0.05 * i**2 * rng.normal(size=(n, 2)) for i in range(count)}
    return dreval.Evaluation(X, embeddings, labels=(X[:, 0] > 0).astype(int), n_neighbors=8, random_state=0)


@pytest.fixture(scope="module")
def five() -> dreval.Results:
    return cloud(5, name="umap ").run(n_resamples=99)


@pytest.fixture(scope="module")
def twelve() -> dreval.Results:
    return cloud(12).run(tests=None)


def parse_number(text: str) -> float:
    """Return a number of the narrow table."""
    return float(text.strip("<≈").replace("−", "-").replace(",", ""))


def check_printed_table(results: dreval.Results) -> None:
    """Compare values, half-widths and stars of the printed table with the tidy table and ``ranking``."""
    view = read_results(results)
    table = printed_table(view)
    rows = results.tidy().set_index(["embedding", "measure"])
    best = results.ranking().set_index(["embedding", "measure"])["in_best_set"]
    measure_names = {column.short_title: column.measure for column in view.by_goal}
    measure_names |= {column.title: column.measure for column in view.by_goal}
    embeddings_in_rows = len(results.names) > 5
    firsts = [row[0].text for row in table.rows]
    heads = [column.title for column in table.columns[1:]] if embeddings_in_rows else firsts
    measures = [measure_names[re.sub(r" (\(k = \d+\)|↓)", "", head).strip()] for head in heads]
    names = [name for name in firsts if name in results.names] if embeddings_in_rows else results.names
    n_cells = 0
    for i, measure in enumerate(measures):
        for j, name in enumerate(names):
            cell = table.rows[j][i + 1] if embeddings_in_rows else table.rows[i][j + 1]
            value, _, half = cell.text.partition(" ±")
            row = rows.loc[(name, measure)]
            assert parse_number(value) == pytest.approx(row["value"], abs=0.00051), (name, measure)
            if half:
                width = (row["conf_high"] - row["conf_low"]) / 2
                assert parse_number(half) == pytest.approx(width, abs=0.0011), (name, measure)
            assert (cell.emphasis == "best") == bool(best[name, measure]), (name, measure)
            n_cells += 1
    assert n_cells == len(measures) * len(names) > 8
    low = {measure for measure in measures if MEASURES.card(measure).direction == "lower"}
    arrows = [head for head in heads if "↓" in head]
    assert len(arrows) == len(low)


def test_five_embeddings_are_few_lines_of_eighty_columns(five: dreval.Results) -> None:
    """The summary has the settings, the findings with both borderline p-values, one table, tests and notes."""
    lines = str(five).splitlines()

    assert len(lines) <= 48
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Evaluation of 5 embeddings of data (90 points, 5 columns; 2 components)"
    assert re.search(r"(keeps|among the best|Measures disagree|distinguishable)", lines[3] + lines[4])
    assert sum(line.startswith("[") for line in lines) <= 3
    assert ".summary(full=True)" in lines[-1]
    check_printed_table(five)
    long_names_results = cloud(5).run("trustworthiness", None)
    assert "… is umap_min_dist=;" in " ".join(str(long_names_results).split())
    assert [head.title for head in printed_table(read_results(long_names_results)).columns[1:6]] == [
        "…0.00",
        "…0.01",
        "…0.02",
        "…0.03",
        "…0.04",
    ]


@pytest.mark.slow
def test_the_table_of_many_embeddings_has_the_best_and_counts_the_others(twelve: dreval.Results) -> None:
    """The table is ordered by mean rank over all measures; names are whole; the page features the first eight."""
    text, view = str(twelve), read_results(twelve)
    mean_ranks = twelve.ranking().groupby("embedding")["rank"].mean().sort_values(kind="stable")
    names = [row[0].text for row in printed_table(view).rows if row[0].text in twelve.names]

    assert "... 2 more" in text
    assert [mean_ranks[name] for name in names] == sorted(mean_ranks)[:10]
    assert list(view.featured) == list(view.ranked[:8])
    assert all(name in text for name in names)
    assert len(text.splitlines()) <= 60
    check_printed_table(twelve)


def count_names(text: str) -> int:
    """Return the number of named embeddings, or the number in the text."""
    if re.fullmatch(r"\d+|none", text):
        return int(text.replace("none", "0"))
    return len(re.findall("umap", text))


@pytest.mark.parametrize("fixture", ["five", pytest.param("twelve", marks=pytest.mark.slow)])
def test_outcomes_equal_the_pairs(fixture: str, request: pytest.FixtureRequest) -> None:
    """The numbers of better and undecided pairs equal those of the table of pairs."""
    results = request.getfixturevalue(fixture)
    comparison = results.compare()
    pairs = comparison.tidy()
    symbols = {card.symbol: card.name for card in MEASURES.cards() if card.name in set(pairs["measure"])}
    best = {measure: results.ranking(measure)["embedding"].iloc[0] for measure in symbols.values()}
    claims = []
    for text in map(sentence, outcomes(comparison)):
        if match := re.match(r"Of the (\d+) others (.*) is better than (.*?)(; the rest are .*)?\.$", text):
            for symbol in symbols:
                claim = re.search(
                    rf"(?:^|by \S+, |by \S+ and )((?:(?! by ).)+) by {re.escape(symbol)}(?=, | and |$)", match[3]
                )
                if not claim:
                    continue
                claims.append(symbol)
                n_worse = count_names(claim[1])
                rows = pairs[pairs["measure"] == symbols[symbol]]
                tests = rows[(rows["first"] == match[2]) | (rows["second"] == match[2])]
                assert len(tests) == int(match[1])
                assert (tests["better"] == match[2]).sum() == n_worse, (text, symbol)
                assert match[4] or (tests["better"] != "").all()
            continue
        if re.match(r"\d+ other pairs of embeddings differ by one or more measures: see the pairs\.$", text):
            best_names = pairs["measure"].map(best)
            other_pairs = pairs[
                (pairs["better"] != "") & (pairs["first"] != best_names) & (pairs["second"] != best_names)
            ]
            assert int(text.split()[0]) == len(other_pairs[["first", "second"]].drop_duplicates())
            continue
        name, _, claim_text = text.rstrip(".").partition(" is ")
        if name not in best.values():  # a pair without the best one
            continue
        better_text, _, symbols_text = claim_text.rpartition(" by ")
        for symbol in re.split(r", | and ", symbols_text):
            claims.append(symbol)
            tests = pairs[
                (pairs["measure"] == symbols[symbol]) & ((pairs["first"] == name) | (pairs["second"] == name))
            ]
            ranking = results.ranking(symbols[symbol])
            assert ranking.loc[ranking["embedding"] == name, "rank"].item() == 1
            n_worse, n_undecided = int((tests["better"] == name).sum()), int((tests["better"] == "").sum())
            n_pairs = len(tests)
            if n_worse:
                worse_names = [
                    b if a == name else a for a, b in tests.loc[tests["better"] == name, ["first", "second"]].to_numpy()
                ]
                assert f"all {NUMBER_WORDS[n_pairs]} others" in better_text or all(
                    worse_name in better_text for worse_name in worse_names
                )
                assert ("others" in better_text) == (n_worse == n_pairs)
            undecided_text = re.search(r"not distinguishable from (.*)$", better_text)
            assert bool(undecided_text) == (n_undecided > 0)
    assert sorted(claims) == sorted(symbols)


@pytest.mark.slow
def test_a_comparison_of_many_is_short_and_full_on_request(twelve: dreval.Results) -> None:
    """The summary has at most sixty lines and the number of pairs; the full one has all pairs."""
    comparison = twelve.compare()
    short_text, full_text = str(comparison.summary()), str(comparison.summary(full=True))

    assert len(short_text.splitlines()) <= 60
    assert f"{len(comparison.pairs):,} rows of pairs: .summary(full=True), .tidy()." in short_text
    assert len(full_text.splitlines()) > len(comparison.pairs)
    assert "pairs: .summary" not in full_text
    text = str(twelve.compare(["umap_min_dist=0.00", "umap_min_dist=0.11"], measure="continuity").summary())
    assert "umap_min_dist=0.00 is better than umap_min_dist=0.11." in " ".join(text.split())


def test_outcomes_refer_to_the_baseline(five: dreval.Results) -> None:
    """The outcomes refer to the baseline at any rank."""
    comparison = five.compare(measure="continuity", baseline="umap 03")
    (text,) = map(sentence, outcomes(comparison))
    better_names = [name for name in comparison.tidy()["better"] if name not in ("", "umap 03")]
    n_undecided = int((comparison.tidy()["better"] == "").sum())

    assert better_names
    assert f"worse than {better_names[0]}" in text
    n_worse = int((comparison.tidy()["better"] == "umap 03").sum())
    assert text.count("umap") == 1 + len(better_names) + n_undecided + n_worse  # each of these once


def test_stars_mark_embeddings_better_than_the_baseline(twelve: dreval.Results) -> None:
    """With a baseline, a star marks the embeddings that are significantly better than it, not the best one."""
    comparison = twelve.compare(baseline=twelve.names[-1])
    pairs, table = comparison.tidy(), comparison_summary(comparison).tables[0]
    measure_names = {plain_symbols(c.symbol): c.name for c in MEASURES.cards() if c.name in set(pairs["measure"])}

    assert table.best == f"significantly better than {twelve.names[-1]}"
    for index, head in enumerate(table.columns[1:], 1):
        tests = pairs[pairs["measure"] == measure_names[heading_text(head).removesuffix(" ↓")]]
        starred = {row[0].text for row in table.rows if row[index].emphasis == "best"}
        names = {row[0].text for row in table.rows}
        assert starred == names & ({*tests["better"]} - {"", twelve.names[-1]})


def test_outcomes_of_a_baseline_count_better_and_worse_embeddings(twelve: dreval.Results) -> None:
    """Each measure has the number of better and of worse embeddings."""
    baseline = twelve.names[4]
    comparison = twelve.compare(baseline=baseline)
    pairs = comparison.tidy()
    (text,) = map(sentence, outcomes(comparison))
    symbols = {card.symbol: card.name for card in MEASURES.cards() if card.name in set(pairs["measure"])}
    symbol_pattern = "|".join(map(re.escape, symbols))
    claims = re.findall(
        rf"better than ((?:(?! by ).)+) and worse than ((?:(?! by ).)+) by ({symbol_pattern})(?=, |; |\.$)", text
    )

    assert text.startswith(f"Of the 11 others {baseline} is better than ")
    assert {symbol for _, _, symbol in claims} == {*symbols}
    for worse_text, better_text, symbol in claims:
        better = pairs.loc[pairs["measure"] == symbols[symbol], "better"]
        assert (better == baseline).sum() == count_names(worse_text)
        assert (~better.isin(["", baseline])).sum() == count_names(better_text)


def test_values_with_other_settings_are_listed_below_the_table():
    """Values with other settings are listed below the table, and the table has no gap."""

    def noisy(X, n_components, random_state):
        return X[:, :n_components] + np.random.default_rng(random_state).normal(size=(len(X), n_components))

    evaluation = dreval.Evaluation(
        np.random.default_rng(0).normal(size=(60, 4)), {"noisy": noisy, "pca": "pca"}, random_state=0
    )
    options = {"stability": {"n_replicates": 3}}
    results = evaluation.run(["trustworthiness", "stability"], None, None, options=options)
    rows = results.tidy().query("measure == 'stability'").set_index("embedding")
    text = re.sub(r"\s+", " ", str(results.summary()))
    match = re.search(r"Stability with other settings \((.*?)\): (\S+) \((\w+)\); not compared", text)
    assert rows.loc[match[3], "parameters"].replace("n_neighbors=", "k = ") == match[1]
    assert parse_number(match[2]) == pytest.approx(rows.loc[match[3], "value"], abs=5e-4)
    view = read_results(results)
    column = next(c for c in view.main_columns if c.measure == "stability")
    assert missing_reason(view, column, match[3]).startswith(f"run with other settings ({match[1]}: ")
