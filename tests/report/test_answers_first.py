"""The printed result and comparison: short, and every number and star of theirs is that of the tables."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dreval
from dreval.registry import MEASURES
from dreval.report.contents.comparison import comparison_summary, outcomes
from dreval.report.contents.evaluation import printed_table
from dreval.report.document import BestCell
from dreval.report.findings import missing_reason
from dreval.report.render.markup import plain_symbols, sentence
from dreval.report.result_view import read_results

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def cloud(count: int, n: int = 90, name: str = "umap_min_dist=0.") -> dreval.Evaluation:
    """Embeddings from good to noise; some hardly differ."""
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


def number(text: str) -> float:
    """A number of the narrow table."""
    return float(text.strip("<≈").replace("−", "-").replace(",", ""))


def check_block(results: dreval.Results) -> None:
    """Values, half-widths and stars of the narrow table, recomputed from the tidy table and ``ranking``."""
    view = read_results(results)
    block = printed_table(view)
    rows = results.tidy().set_index(["embedding", "measure"])
    best = results.ranking().set_index(["embedding", "measure"])["in_best_set"]
    heads = {column.short_title: column.measure for column in view.by_goal}
    heads |= {column.title: column.measure for column in view.by_goal}
    down = len(results.names) > 5
    measures = [
        heads[re.sub(r" (\(k = \d+\)|↓)", "", str(h)).strip()]
        for h in (block.columns[1:] if down else [r[0] for r in block.rows])
    ]
    names = [row[0] for row in block.rows if row[0] in results.names] if down else results.names
    seen = 0
    for i, measure in enumerate(measures):
        for j, name in enumerate(names):
            cell = block.rows[j][i + 1] if down else block.rows[i][j + 1]
            value, _, half = cell.partition(" ±")
            row = rows.loc[(name, measure)]
            assert number(value) == pytest.approx(row["value"], abs=0.00051), (name, measure)
            if half:
                width = (row["conf_high"] - row["conf_low"]) / 2
                assert number(half) == pytest.approx(width, abs=0.0011), (name, measure)
            assert isinstance(cell, BestCell) == bool(best[name, measure]), (name, measure)
            seen += 1
    assert seen == len(measures) * len(names) > 8
    low = {measure for measure in measures if MEASURES.card(measure).direction == "lower"}
    arrows = [str(h) for h in (block.columns if down else [r[0] for r in block.rows]) if "↓" in str(h)]
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
    check_block(five)
    long = cloud(5).run("trustworthiness", None)
    assert "… is umap_min_dist=;" in " ".join(str(long).split())
    assert [str(head) for head in printed_table(read_results(long)).columns[1:6]] == [
        "…0.00",
        "…0.01",
        "…0.02",
        "…0.03",
        "…0.04",
    ]


@pytest.mark.slow
def test_of_many_embeddings_the_best_stand_and_the_rest_is_counted(twelve: dreval.Results) -> None:
    """By mean rank over all measures; whole names; the page features the first eight."""
    text, view = str(twelve), read_results(twelve)
    table = twelve.ranking().groupby("embedding")["rank"].mean().sort_values(kind="stable")
    shown = [row[0] for row in printed_table(view).rows if row[0] in twelve.names]

    assert "... 2 more" in text
    assert [table[name] for name in shown] == sorted(table)[:10]
    assert list(view.featured) == list(view.ranked[:8])
    assert all(name in text for name in shown)
    assert len(text.splitlines()) <= 60
    check_block(twelve)


def named_or_counted(text: str) -> int:
    """The number of named embeddings, or the number in the text."""
    if re.fullmatch(r"\d+|none", text):
        return int(text.replace("none", "0"))
    return len(re.findall("umap", text))


@pytest.mark.parametrize("which", ["five", pytest.param("twelve", marks=pytest.mark.slow)])
def test_outcomes_are_those_of_the_pairs(which: str, request: pytest.FixtureRequest) -> None:
    """The numbers of better and undecided pairs are those of the table of pairs."""
    results = request.getfixturevalue(which)
    comparison = results.compare()
    pairs = comparison.tidy()
    symbols = {card.symbol: card.name for card in MEASURES.cards() if card.name in set(pairs["measure"])}
    best = {measure: results.ranking(measure)["embedding"].iloc[0] for measure in symbols.values()}
    claims = []
    for text in map(sentence, outcomes(comparison)):
        if many := re.match(r"Of the (\d+) others (.*) is better than (.*?)(; the rest are .*)?\.$", text):
            for symbol in symbols:
                hit = re.search(
                    rf"(?:^|by \S+, |by \S+ and )((?:(?! by ).)+) by {re.escape(symbol)}(?=, | and |$)", many[3]
                )
                if not hit:
                    continue
                claims.append(symbol)
                ahead = named_or_counted(hit[1])
                rows = pairs[pairs["measure"] == symbols[symbol]]
                mine = rows[(rows["first"] == many[2]) | (rows["second"] == many[2])]
                assert len(mine) == int(many[1])
                assert (mine["better"] == many[2]).sum() == ahead, (text, symbol)
                assert many[4] or (mine["better"] != "").all()
            continue
        if re.match(r"\d+ other pairs of embeddings differ by one or more measures: see the pairs\.$", text):
            first = pairs["measure"].map(best)
            others = pairs[(pairs["better"] != "") & (pairs["first"] != first) & (pairs["second"] != first)]
            assert int(text.split()[0]) == len(others[["first", "second"]].drop_duplicates())
            continue
        name, _, rest = text.rstrip(".").partition(" is ")
        if name not in best.values():  # a pair without the best one
            continue
        words, _, by = rest.rpartition(" by ")
        for symbol in re.split(r", | and ", by):
            claims.append(symbol)
            mine = pairs[(pairs["measure"] == symbols[symbol]) & ((pairs["first"] == name) | (pairs["second"] == name))]
            standing = results.ranking(symbols[symbol])
            assert standing.loc[standing["embedding"] == name, "rank"].item() == 1
            ahead, alike = int((mine["better"] == name).sum()), int((mine["better"] == "").sum())
            every = len(mine)
            if ahead:
                worse = [
                    b if a == name else a for a, b in mine.loc[mine["better"] == name, ["first", "second"]].to_numpy()
                ]
                assert f"all {WORDS[every]} others" in words or all(one in words for one in worse)
                assert ("others" in words) == (ahead == every)
            shown = re.search(r"not distinguishable from (.*)$", words)
            assert bool(shown) == (alike > 0)
    assert sorted(claims) == sorted(symbols)


@pytest.mark.slow
def test_a_comparison_of_many_is_short_and_full_on_request(twelve: dreval.Results) -> None:
    """The summary has at most sixty lines and the number of pairs; the full one has all pairs."""
    comparison = twelve.compare()
    short, full = str(comparison.summary()), str(comparison.summary(full=True))

    assert len(short.splitlines()) <= 60
    assert f"{len(comparison.pairs):,} rows of pairs: .summary(full=True), .tidy()." in short
    assert len(full.splitlines()) > len(comparison.pairs)
    assert "pairs: .summary" not in full
    few = str(twelve.compare(["umap_min_dist=0.00", "umap_min_dist=0.11"], measure="continuity").summary())
    assert "umap_min_dist=0.00 is better than umap_min_dist=0.11." in " ".join(few.split())


def test_the_baseline_leads_where_it_is_named(five: dreval.Results) -> None:
    """The outcomes refer to the baseline, whatever its rank."""
    comparison = five.compare(measure="continuity", baseline="umap 03")
    (said,) = map(sentence, outcomes(comparison))
    worse = [name for name in comparison.tidy()["better"] if name not in ("", "umap 03")]
    alike = int((comparison.tidy()["better"] == "").sum())

    assert worse
    assert f"worse than {worse[0]}" in said
    ahead = int((comparison.tidy()["better"] == "umap 03").sum())
    assert said.count("umap") == 1 + len(worse) + alike + ahead  # each of these once


def test_stars_beside_a_baseline_are_those_that_beat_it(twelve: dreval.Results) -> None:
    """With a baseline, a star marks the embeddings that are significantly better than it, whatever is best."""
    comparison = twelve.compare(baseline=twelve.names[-1])
    pairs, table = comparison.tidy(), comparison_summary(comparison).tables[0]
    called = {plain_symbols(c.symbol): c.name for c in MEASURES.cards() if c.name in set(pairs["measure"])}

    assert table.best == f"significantly better than {twelve.names[-1]}"
    for place, head in enumerate(table.columns[1:], 1):
        mine = pairs[pairs["measure"] == called[head.removesuffix(" ↓")]]
        starred = {row[0] for row in table.rows if isinstance(row[place], BestCell)}
        shown = {row[0] for row in table.rows}
        assert starred == shown & ({*mine["better"]} - {"", twelve.names[-1]})


def test_a_baseline_among_many_says_who_is_better_and_worse(twelve: dreval.Results) -> None:
    """Each measure has both counts."""
    base = twelve.names[4]
    comparison = twelve.compare(baseline=base)
    pairs = comparison.tidy()
    (text,) = map(sentence, outcomes(comparison))
    symbols = {card.symbol: card.name for card in MEASURES.cards() if card.name in set(pairs["measure"])}
    which = "|".join(map(re.escape, symbols))
    told = re.findall(rf"better than ((?:(?! by ).)+) and worse than ((?:(?! by ).)+) by ({which})(?=, |; |\.$)", text)

    assert text.startswith(f"Of the 11 others {base} is better than ")
    assert {symbol for _, _, symbol in told} == {*symbols}
    for ahead, worse, symbol in told:
        better = pairs.loc[pairs["measure"] == symbols[symbol], "better"]
        assert (better == base).sum() == named_or_counted(ahead)
        assert (~better.isin(["", base])).sum() == named_or_counted(worse)


def test_values_with_other_settings_are_said_below_the_table():
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
    alone = re.search(r"Stability with other settings \((.*?)\): (\S+) \((\w+)\); not compared", text)
    assert rows.loc[alone[3], "parameters"].replace("n_neighbors=", "k = ") == alone[1]
    assert number(alone[2]) == pytest.approx(rows.loc[alone[3], "value"], abs=5e-4)
    view = read_results(results)
    absent = next(c for c in view.main_columns if c.measure == "stability")
    assert missing_reason(view, absent, alone[3]).startswith(f"run with other settings ({alone[1]}: ")
