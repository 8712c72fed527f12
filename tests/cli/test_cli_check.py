"""``dreval check``: verdicts, exit codes, and what is printed and written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import call
from scipy.stats import t as student

import dreval
from dreval.cli._exit import ExitCode
from dreval.comparison import gate
from dreval.comparison.gate import check_gate

X = np.random.default_rng(0).normal(size=(120, 4)) * [3, 2, 1, 1]
OLD = X[:, :2]
NOISE = np.random.default_rng(1).normal(size=OLD.shape)
SAME, NEAR, BAD = OLD[:, ::-1], OLD + 0.2 * NOISE, OLD + 3 * NOISE


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with data, an old map and three new ones."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.to_csv("data.csv", index=False)
    frame.assign(few=np.repeat(list("xyz"), 40)).to_csv("few.csv", index=False)
    for name, Y in {"old": OLD, "same": SAME, "near": NEAR, "bad": BAD, "short": OLD[:7]}.items():
        np.save(f"{name}.npy", Y)


def check(capfd: Any, new: str, *arguments: str, margin: str = "0.01", data: str = "data.csv") -> Any:
    """Return exit code, stdout and stderr of a check."""
    return call(capfd, "check", new, "--data", data, "--against", "old.npy", "--margin", margin, *arguments)


def checks(capfd: Any, new: str, *arguments: str, **options: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the JSON document of a check."""
    code, out, err = check(capfd, new, "--json", *arguments, **options)
    assert out, err
    return code, json.loads(out)


def test_the_four_verdicts_and_their_exit_codes(capfd: Any) -> None:
    """Not worse 0, worse 4, undecided 0 or 5, no interval 1."""
    assert [int(code) for code in (ExitCode.WORSE, ExitCode.UNDECIDED)] == [4, 5]
    cases = [
        ("same.npy", "0", (), 0, "not worse"),
        ("near.npy", "0.05", (), 0, "not worse"),
        ("bad.npy", "0.01", (), 4, "worse"),
        ("bad.npy", "0.01", ("--fail-if", "undecided"), 4, "worse"),
        ("near.npy", "0.005", (), 0, "undecided"),
        ("near.npy", "0.005", ("--fail-if", "undecided"), 5, "undecided"),
    ]
    for new, margin, arguments, expected, verdict in cases:
        code, document = checks(capfd, new, *arguments, margin=margin)
        assert (code, document["verdict"]) == (expected, verdict), (new, margin)
        out = check(capfd, new, *arguments, margin=margin)[1]
        assert out.startswith(verdict.capitalize())
        assert max(map(len, out.splitlines())) <= 80
        assert len(out.splitlines()) <= 20
    code, document = checks(capfd, "near.npy", "--groups", "few", data="few.csv")
    assert (code, document["verdict"]) == (1, "missing")
    assert document["checks"][0]["difference"] is not None


def test_the_numbers_are_those_of_compare(capfd: Any) -> None:
    """Difference, standard error and interval are those of ``Results.compare``, for both directions of a measure."""
    results = dreval.Evaluation(X, {"new": NEAR, "old": OLD}, random_state=0).run(["trustworthiness", "stress"], None)
    expected = results.compare(["new", "old"], adjust=None).pairs.set_index("measure")
    for measure in ("trustworthiness", "stress"):
        row = checks(capfd, "near.npy", "--measure", measure)[1]["checks"][0]
        for name in ("difference", "se", "conf_low", "conf_high"):
            assert row[name] == pytest.approx(expected.loc[measure, name], abs=1e-12)
        sign = -1 if measure == "stress" else 1
        assert row["difference"] == pytest.approx(sign * (row["new"] - row["old"]), abs=1e-12)
        assert row["new"] == pytest.approx(dreval.score(X, NEAR, measure), abs=1e-12)
        low, high = row["conf_low"], row["conf_high"]
        for margin, verdict in ((-low + 1e-6, "not worse"), (-low - 1e-6, "undecided")):
            if margin >= 0:
                document = checks(capfd, "near.npy", "--measure", measure, margin=f"{margin:.9f}")[1]
                assert document["verdict"] == verdict
        if high < -1e-6:
            document = checks(capfd, "near.npy", "--measure", measure, margin=f"{-high - 1e-7:.9f}")[1]
            assert document["verdict"] == "worse"


def test_several_measures_hold_jointly(capfd: Any) -> None:
    """The intervals of m rows have the level 1 - .05 / m; the verdict is the worst; margins name the measures."""
    both = "trustworthiness=0.05,stress=0.05"
    single = checks(capfd, "near.npy", margin="0.05")[1]["checks"][0]
    code, document = checks(capfd, "near.npy", margin=both)
    joint = document["checks"][0]
    ratio = (joint["conf_high"] - joint["conf_low"]) / (single["conf_high"] - single["conf_low"])
    assert ratio == pytest.approx(student.ppf(1 - 0.05 / 4, 119) / student.ppf(0.975, 119), rel=1e-9)
    assert [row["measure"] for row in document["checks"]] == ["trustworthiness", "stress"]
    assert code == 0
    code, document = checks(capfd, "bad.npy", margin="trustworthiness=0.4,stress=0.01")
    assert (code, [row["verdict"] for row in document["checks"]]) == (4, ["not worse", "worse"])
    settings = checks(capfd, "near.npy", "-k", "5,15")[1]["checks"]
    assert [row["parameters"] for row in settings] == ["n_neighbors=5", "n_neighbors=15"]
    assert document["recipe"]["margin"] == {"trustworthiness": 0.4, "stress": 0.01}


def test_groups_are_the_unit(capfd: Any) -> None:
    """With groups the interval is that of the groups, as of an evaluation with them."""
    groups = np.repeat(np.arange(6), 20)
    results = dreval.Evaluation(X, {"new": NEAR, "old": OLD}, groups=groups, random_state=0).run(
        "trustworthiness", None
    )
    expected = results.compare(["new", "old"]).pairs.iloc[0]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(donor=groups)
    frame.to_csv("grouped.csv", index=False)
    row = checks(capfd, "near.npy", "--groups", "donor", data="grouped.csv")[1]["checks"][0]
    assert row["se"] == pytest.approx(expected["se"], abs=1e-12)
    assert "6 groups" in check(capfd, "near.npy", "--groups", "donor", data="grouped.csv")[1]


def test_a_loss_of_exactly_the_margin_is_not_worse() -> None:
    """Rounding of the difference does not decide: .95 - .94 is .01 up to 1e-17."""
    results = dreval.Evaluation(X, {"new": NEAR, "old": OLD}, anchors=120, random_state=0).run("trustworthiness", None)
    values = results.table.set_index("embedding")["value"]
    loss = float(values["old"] - values["new"])
    for margin, verdict in ((loss + 1e-14, "not worse"), (loss - 1e-14, "not worse"), (loss - 1e-6, "worse")):
        assert check_gate(results, {"trustworthiness": margin}, 0.95).verdict == verdict  # all points: exact values


def test_files_and_formats(capfd: Any) -> None:
    """``--save`` is a comparison that ``show`` prints; the report and the table are written; ``--quiet`` is silent."""
    code, out, _ = check(capfd, "near.npy", "--save", "a.dreval", "--table", "a.csv", "--report", "a.md")
    assert code == 0
    assert all(f"written to a.{suffix}" in out for suffix in ("dreval", "csv", "md"))
    saved = dreval.load_results("a.dreval")
    assert saved.pairs[["first", "second"]].to_numpy().tolist() == [["new", "old"]]
    assert saved.recipe["call"].startswith("dreval check near.npy --data")
    assert call(capfd, "show", "a.dreval")[0] == 0
    assert check(capfd, "bad.npy", "--quiet") == (4, "", "")
    full = check(capfd, "near.npy", "--full")[1]
    assert "dreval check near.npy" in full
    assert "Seed" in full


@pytest.mark.parametrize(("new", "margin"), [("bad.npy", "0.005"), ("near.npy", "0.005"), ("near.npy", "0")])
def test_what_is_saved_has_the_margin_the_verdict_and_the_sign_of_the_check(capfd: Any, new: str, margin: str) -> None:
    """Table, file, printed file and report: new before old, the change of the check, its margin and its verdict."""
    margins = f"trustworthiness={margin},stress=0.01"
    arguments = ("--save", "a.dreval", "--table", "a.csv", "--report", "a.md")
    document = checks(capfd, new, *arguments, margin=margins)[1]
    out = call(capfd, "show", "a.dreval")[1]
    call(capfd, "report", "a.dreval", "-o", "a.html")
    saved = dreval.load_results("a.dreval")

    assert saved.recipe["verdict"] == document["verdict"]
    assert saved.recipe["margin"] == {"trustworthiness": float(margin), "stress": 0.01}
    for table in (saved.pairs, pd.read_csv("a.csv")):
        for (_, row), expected in zip(table.iterrows(), document["checks"], strict=True):
            assert row["difference"] == pytest.approx(expected["difference"], abs=1e-12)
            assert row["margin"] == expected["margin"]
            assert row["equivalence"] == expected["verdict"]
    heading = next(line for line in out.splitlines() if "verdict" in line)
    assert heading.split()[:3] == ["new", "old", "difference"]
    assert "positive where new is better" in out
    assert max(map(len, out.splitlines())) <= 80
    for row in document["checks"]:
        title = row["measure"].capitalize()
        line = next(line for line in out.splitlines() if line.startswith((f"{title} ", f"{title} ↓")))
        assert line.endswith(row["verdict"])
        assert ("−" in line.split(" to ")[0]) == (row["conf_low"] < -5e-4)
        assert f"| {row['verdict']} |" in Path("a.md").read_text("utf-8")


def test_metrics_of_data_and_embeddings_are_options(capfd: Any) -> None:
    """``--embedding-metric`` and ``--graph-neighbors`` mean what they mean in ``Evaluation``."""
    row = checks(capfd, "near.npy", "--metric", "cosine", "--embedding-metric", "cosine")[1]["checks"][0]
    expected = dreval.score(X, NEAR, "trustworthiness", metric="cosine", embedding_metric="cosine")
    assert row["new"] == pytest.approx(expected, abs=1e-12)
    row = checks(capfd, "near.npy", "--metric", "geodesic", "--graph-neighbors", "9")[1]["checks"][0]
    expected = dreval.score(X, NEAR, "trustworthiness", metric="geodesic", graph_neighbors=9)
    assert row["new"] == pytest.approx(expected, abs=1e-12)


def test_what_is_saved_has_the_settings_of_the_values(capfd: Any) -> None:
    """Metric and number of neighbors are in every form; those of a file without them are called unknown."""
    options = ("--n-neighbors", "7", "--metric", "cosine", "--embedding-metric", "correlation")
    code, document = checks(capfd, "near.npy", *options, "--save", "a.dreval", "--report", "a.md")
    assert code == 0
    saved = dreval.load_results("a.dreval")
    for recipe in (document["recipe"], saved.recipe):
        assert {key: recipe[key] for key in ("n_neighbors", "metric", "embedding_metric")} == {
            "n_neighbors": [7], "metric": "cosine", "embedding_metric": "correlation",
        }  # fmt: skip
    for text in (check(capfd, "near.npy", *options, "--full")[1], call(capfd, "show", "a.dreval", "--full")[1]):
        words = " ".join(text.split())
        assert "Metric: cosine (" in words
        assert "Neighbors k: 7" in words
    lines = Path("a.md").read_text("utf-8").splitlines()
    assert {"- **Metric**: cosine (embeddings: correlation)", "- **Neighbors k**: 7"} <= set(lines)
    recipe = {key: value for key, value in saved.recipe.items() if key not in ("n_neighbors", "metric")}
    replace(saved, recipe={**recipe, "embedding_metric": None}).save("old.dreval")
    out = " ".join(call(capfd, "show", "old.dreval", "--full")[1].split())
    assert "Metric: unknown" in out
    assert "Neighbors k: unknown" in out


def test_an_embedding_that_fails_ends_with_1(capfd: Any) -> None:
    """The reason is on stderr, and the JSON has no checks."""
    code, out, err = check(capfd, "short.npy")
    assert code == 1
    assert out.strip() == "No verdict: new could not be computed."
    assert "7" in err
    code, document = checks(capfd, "short.npy")
    assert (code, document["verdict"], document["checks"]) == (1, "missing", [])


REFUSED = [
    (("nofile.npy",), "`new` must be an existing file"),
    (("near.npy", "--measure", "stability"), "`--measure` must have one value for an embedding"),
    (("near.npy", "--measure", "topographic_product"), "`--measure` must have a better direction"),
    (("near.npy", "--measure", "trust"), "Did you mean"),
    (("near.npy", "--measure", "default"), "`--measure` must name measures"),
    (("near.npy", "--measure", "stress,trustworthiness"), "Pass --margin stress=0.01"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_bad_input_ends_with_2(capfd: Any, arguments: tuple[str, ...], message: str) -> None:
    """One line on stderr names the option."""
    code, out, err = check(capfd, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_margins_are_required_and_checked(capfd: Any) -> None:
    """Without a margin there is no check; it must be a number of at least 0, for each measure and no other."""
    code, _, err = call(capfd, "check", "near.npy", "--data", "data.csv", "--against", "old.npy")
    assert code == 2
    assert "required: --margin" in err
    assert "`--margin` must be a finite number >= 0" in check(capfd, "near.npy", margin="-1")[2]
    err = check(capfd, "near.npy", "--measure", "stress", margin="trustworthiness=0.01")[2]
    required = "`--margin` must have a margin for stress of --measure, and for no other measure"
    assert f"{required}: got trustworthiness. Leave --measure out" in err
    assert check(capfd, "near.npy", margin="0.01%")[0] == 2
    code, out, err = check(capfd, "near.npy", margin="2")
    assert (code, out) == (2, "")
    assert "`--margin` must be below 1: trustworthiness is from 0 to 1: got 2" in err


def test_both_embeddings_that_fail_end_as_a_single_one(capfd: Any) -> None:
    """Exit code, verdict and JSON are those of one that fails; each reason is on stderr."""
    code, out, err = call(
        capfd, "check", "short.npy", "--data", "data.csv", "--against", "short.npy", "--margin", "0.01"
    )
    assert (code, out.strip()) == (1, "No verdict: new and old could not be computed.")
    assert "2 of 2 embeddings failed. new: `new` must have one row" in err
    assert "old: `--against` must have one row" in err
    code, out, _ = call(
        capfd, "check", "short.npy", "--data", "data.csv", "--against", "short.npy", "--margin", "0.01", "--json"
    )
    document = json.loads(out)
    assert (code, document["verdict"], document["checks"]) == (1, "missing", [])
    assert [row["embedding"] for row in document["notes"]] == ["new", "old"]
    assert list(document) == list(checks(capfd, "short.npy")[1])


def test_each_margin_is_named_once(capfd: Any) -> None:
    """A repeated name, also as an alias of the same measure, is refused: the last one would silently count."""
    for margin in ("trustworthiness=0.1,trustworthiness=0.2", "trustworthiness=0.1,Trustworthiness=0.2"):
        code, out, err = check(capfd, "near.npy", margin=margin)
        assert (code, out) == (2, "")
        assert "once" in err
    for option, values in (("--margin", ("stress=0.1", "continuity=0.1")), ("--measure", ("stress", "continuity"))):
        arguments = [part for value in values for part in (option, value)]
        margin = [] if option == "--margin" else ["--margin", "0.1"]
        code, out, err = call(
            capfd, "check", "near.npy", "--data", "data.csv", "--against", "old.npy", *margin, *arguments
        )
        assert (code, out) == (2, "")
        assert "must be written once" in err
    assert "decimals after a point" in check(capfd, "near.npy", margin="0,05")[2]


def test_maps_of_different_numbers_of_columns_have_a_note(capfd: Any) -> None:
    """The print, the JSON and the saved file say that one map has three columns and the other two."""
    np.save("wide.npy", X[:, :3])
    _, out, _ = check(capfd, "wide.npy", "--save", "a.dreval")
    assert "new has 3 columns and old 2" in " ".join(out.split())
    document = checks(capfd, "wide.npy")[1]
    assert [row["values"] for row in document["notes"] if row["code"] == "pair.components"] == [{"new": 3, "old": 2}]
    assert "pair.components" in {*dreval.load_results("a.dreval").notes["code"]}
    assert not any(row["code"] == "pair.components" for row in checks(capfd, "near.npy")[1]["notes"])


def test_json_has_the_level_of_each_interval_and_the_joint_one(capfd: Any) -> None:
    """With m measures each interval has the level 1 - .05 / m, jointly .95, also where there is no difference."""
    for new in ("near.npy", "old.npy"):
        for margin, level in (("0.05", 0.95), ("trustworthiness=0.05,stress=0.05", 0.975)):
            for row in checks(capfd, new, margin=margin)[1]["checks"]:
                assert row["conf_level"] == pytest.approx(level, abs=1e-12)
                assert row["joint_conf_level"] == 0.95
                half = (row["conf_high"] - row["conf_low"]) / 2
                assert half == pytest.approx(student.ppf((1 + level) / 2, 119) * row["se"], rel=1e-9)


def test_show_of_a_saved_check_begins_with_its_verdict(capfd: Any) -> None:
    """A loss within the margin: the verdict first, with the sign of the table, then that old is better."""
    np.save("loss.npy", OLD + 0.8 * NOISE)
    row = checks(capfd, "loss.npy", "--save", "a.dreval", margin="0.4")[1]["checks"][0]
    assert row["conf_high"] < 0
    out = " ".join(call(capfd, "show", "a.dreval")[1].split())
    size = f"{abs(row['difference']):.3f}".removeprefix("0")
    verdict = f"New is not worse than old by more than the margin (difference −{size}; margin .4)."
    assert verdict in out
    assert "old is better" in out
    assert out.index(verdict) < out.index("old is better")


def test_a_distance_from_the_margin_that_is_rounding_counts_as_0() -> None:
    """The tolerance is 1e-10 of the larger value, as the docstring of the gate states."""
    row = {"new": 0.8, "old": 0.5, "conf_low": -0.3, "conf_high": 0.1}
    for excess, verdict in ((7.9e-11, "not worse"), (8.1e-11, "undecided")):
        assert gate._verdict({**row, "margin": 0.3 - excess}) == verdict
    assert "1e-10 of the larger value" in " ".join(str(gate.__doc__).split())
