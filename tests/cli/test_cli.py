"""The command line: exit codes, output streams, and the same numbers as Python."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import EVALUATE, X, Y, without_call
from each import each

import dreval
from dreval.measures.core import VARIABLE_HINTS
from dreval.report.result_view import title_in_sentence
from dreval.storage.store import Store

# evaluate


def test_a_file_without_an_option_has_the_hint_of_embeddings(run: Any) -> None:
    """The error for a second file or a method suggests to pass it as an embedding."""
    for word in ("umap.csv", "pca"):
        code, _, err = run("evaluate", "data.csv", word)
        assert code == 2
        assert f"unrecognized arguments: {word} (embeddings are named by -e, as in -e {word})" in err


def test_names_without_commas_have_the_hint_of_commas(run: Any) -> None:
    """The error for two measures without a comma has the hint of commas; that for an unknown option does not."""
    for arguments, expected in ((("--measures", "stress", "trustworthiness"), True), (("--bogus",), False)):
        code, _, err = run(*EVALUATE, *arguments)
        assert code == 2
        assert ("separated by commas, as in --measures a,b" in err) == expected


def test_the_summary_is_printed_to_stdout(run: Any) -> None:
    """Success is code 0, the summary of the same call in Python on stdout, nothing on stderr; notes name options."""
    code, out, err = run(*EVALUATE, "-e", "other=tsne.npy", "-e", "pca", "--labels", "labels.csv")
    evaluation = dreval.Evaluation("data.csv", labels="labels.csv", n_neighbors=5, random_state=0)
    evaluation = (
        evaluation.with_embedding("umap", "umap.csv")
        .with_embedding("other", "tsne.npy")
        .with_embedding("pca", "pca")
        .run()
    )

    assert (code, err) == (0, "")
    assert out.startswith("3 embeddings of data: 40 points, 4 -> 2 dimensions (k = 5, seed 0)\n")
    assert "Next: --full  --report page.html" in out
    in_python = " ".join(str(evaluation.summary()).split()).rpartition("Next: ")[0]
    for word, option in {
        "ci='replicates'": "--ci replicates",
        "summary(full=True)": "--full",
        "tidy()": "--json",
    }.items():
        in_python = in_python.replace(word, option)
    assert " ".join(out.split()).rpartition("Next: ")[0] == in_python
    second_output = run(*EVALUATE, "-e", "other=tsne.npy", "-e", "pca", "--labels", "labels.csv", "--full")[1]
    assert "Call:\n  dreval evaluate data.csv -e umap.csv -k 5" in second_output
    in_full = f"{evaluation.summary(full=True)}\n"
    places = {"ci='replicates'": "--ci replicates", "results.curve('r_nx')": "--plot, --table and --json"}
    for word, option in places.items():
        in_full = in_full.replace(word, option)
    printed, expected = ([part.split() for part in without_call(text)] for text in (second_output, in_full))
    assert printed == expected  # lines may break elsewhere


def test_an_estimate_of_the_cost_runs_no_method(run: Any, folder: Path) -> None:
    """Code 0, and the total with a row for each step in place of results; no store and no result is written."""
    arguments = (
        "-e",
        "pca",
        "--labels",
        "labels.csv",
        "--estimate-cost",
        "--save",
        "result.dreval",
        "--journal",
        "s.journal",
    )
    code, out, err = run(*EVALUATE, *arguments)
    assert (code, err) == (0, "")
    assert out.startswith("run() takes about")
    assert "methods are not run for an estimate: pca." in " ".join(out.split())
    code, out, err = run(*EVALUATE, *arguments, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["not_included"] == ["pca"]
    assert result["seconds"] == pytest.approx(sum(row["seconds"] or 0 for row in result["table"]))
    assert not (folder / "result.dreval").exists()
    assert not (folder / "s.journal").exists()


def test_a_failing_embedding_is_code_1(run: Any) -> None:
    """One embedding with other rows: code 1, its reason in the summary, the others computed."""
    code, out, err = run(*EVALUATE, "-e", "short.npy")

    assert code == 1
    assert err.startswith("dreval: 1 of 2 embeddings failed. short: `embeddings['short']` must have one row per point")
    assert "short failed: `embeddings['short']` must have one row per point" in out
    assert "1 failed" in out


@pytest.mark.parametrize("options", [("--measures", "stability"), ("--tests", "noise", "--measures", "continuity")])
def test_requested_measures_without_any_value_are_code_1(run: Any, options: tuple[str, ...]) -> None:
    """Coordinates cannot be re-embedded: code 1 if no embedding has a value, 0 if one has."""
    arguments = ("evaluate", "data.csv", "-e", "umap.csv", *options, "--ci", "none", "--n-resamples", "9")

    assert run(*arguments)[0] == 1
    assert run(*arguments, "-e", "pca")[0] == 0


@pytest.mark.parametrize("form", ["text", "latex"])
def test_a_paragraph_is_printed_to_stdout(run: Any, form: str) -> None:
    """It prints the results and methods of the same call in Python, and nothing else; files are still written."""
    arguments = ("evaluate", "data.csv", "-e", "pca", "-k", "5", "--random-state", "0", "--measures", "continuity")
    code, out, err = run(*arguments, "--paragraph", form, "--save", "p.dreval")
    loaded = dreval.load_results("p.dreval")

    assert (code, err) == (0, "")
    assert out == f"{loaded.paragraph('results', form)}\n\n{loaded.paragraph('methods', form)}\n"
    assert run(*arguments, "--paragraph", form, "--json")[0] == 2


def test_methods_are_re_run(run: Any) -> None:
    """``--n-replicates`` gives the intervals of the same call in Python; the error for one run names the option."""
    arguments = ("evaluate", "data.csv", "-e", "pca", "-k", "5", "--random-state", "0", "--measures", "continuity")
    code, out, _ = run(*arguments, "--n-replicates", "3", "--conf-level", "0.8", "--json")
    evaluation = dreval.Evaluation("data.csv", {"pca": "pca"}, n_neighbors=5, random_state=0)
    options = {"replicates": {"n_replicates": 3}}
    row = evaluation.run("continuity", conf_level=0.8, options=options).table.iloc[0]
    printed_row = json.loads(out)["table"][0]

    assert code == 0
    assert [printed_row[key] for key in ("se", "n_groups", "target")] == [row["se"], 3, row["target"]]
    assert [printed_row[key] for key in ("conf_low", "conf_level")] == [row["conf_low"], 0.8]
    assert printed_row["conf_method"].startswith("runs of the method on random halves")
    code, _, err = run(*arguments, "--n-replicates", "1")
    assert (code, "`--n-replicates` must be an integer >= 2: got 1" in err) == (2, True)


@pytest.mark.parametrize(("option", "name"), [("--save", "s.dreval"), ("--report", "s.html"), ("--plot", "map=s.png")])
def test_finished_work_is_not_overwritten(run: Any, folder: Path, option: str, name: str) -> None:
    """An output to the file of a study or a journal raises an error before anything is computed."""
    with Store(folder / name.removeprefix("map=")) as store:
        store.open_run({"method": "pca"})
    content = (folder / name.removeprefix("map=")).read_bytes()
    code, out, err = run(*EVALUATE, option, name)
    assert (code, out) == (2, "")
    assert f"`{option}` must not be the file of a study or a journal: got" in err
    assert (folder / name.removeprefix("map=")).read_bytes() == content


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize(("option", "name"), [("--save", "full.dreval"), ("--report", "full.html")])
def test_a_full_disk_names_the_option(run: Any, folder: Path, option: str, name: str) -> None:
    (folder / name).symlink_to("/dev/full")
    code, _, err = run(*EVALUATE, "--ci", "none", option, name)
    assert code == 2
    assert f"`{option}` must be on a disk with room for it" in err


@each(
    "arguments, message",
    [
        (
            ("evaluate", "dat.csv", "-e", "umap.csv"),
            "`data` must be an existing file: got 'dat.csv'. Did you mean 'data",
        ),
        (("evaluate", "data.csv", "-e", "uamp.csv"), "Did you mean 'umap.csv'"),
        (("evaluate", "data.csv", "-e", "isomp"), "Did you mean the method 'isomap'"),
        (("evaluate", "data.csv", "-e", "umap=isomp"), "`embeddings['umap']` must be a method"),
        (("evaluate", "gaps.csv", "-e", "umap.csv"), "`data` must be finite: got NaN in row 3, column 'a'"),
        (
            ("evaluate", "full.csv", "-e", "umap.csv"),
            "Name it as --labels kind or --ids kind, or drop it; dreval evaluate --metric gower",
        ),
        (("evaluate", "data.csv"), "`--embedding` must be given"),
        (("evaluate", "data.csv", "-e", "=umap.csv"), "`--embedding` must be NAME=SOURCE or SOURCE"),
        (("evaluate", "data.csv", "-e", "umap="), "`--embedding` must be NAME=SOURCE or SOURCE"),
        (
            (*EVALUATE, "-e", "umap.csv"),
            "`--embedding` must have different names: got 'umap' twice. Write -e NAME=",
        ),
        (
            (*EVALUATE[:4], "-k", "40"),
            "`--n-neighbors` must be smaller than the number of points: got 40 with 40 points",
        ),
        ((*EVALUATE, "--labels", "kind"), "`--labels` must be a vector, a column of the data, or an existing file"),
        ((*EVALUATE, "--labels", "meta.csv"), "must be one value per point: got 2 columns (kind, site)"),
        ((*EVALUATE, "--covariates", "age,site"), "`--covariates` must be"),
        ((*EVALUATE, "--ids", "cell"), "`--ids` must name a column of the data: got 'cell'"),
        ((*EVALUATE, "--measures", "trustworthines"), "Did you mean 'trustworthiness'"),
        ((*EVALUATE, "--measures", "none"), "`--measures` must name something to compute"),
        ((*EVALUATE, "--tests", "hsic"), "`--tests` must have a variable to test against"),
        ((*EVALUATE, "--ci", "anchors"), "Pass anchors=m to Evaluation."),
        ((*EVALUATE, "--ci", "bootstrap"), "`--ci` must be a known name: got 'bootstrap'"),
        ((*EVALUATE, "--adjust", "bonferroni"), "`--adjust` must be a known name"),
        ((*EVALUATE, "--anchors", "99"), "`--anchors` must be an integer >= 2 and <= 40"),
        ((*EVALUATE, "--n-resamples", "0"), "`--n-resamples` must be an integer >= 1"),
        (
            (*EVALUATE[:4], "--random-state", "-1"),
            "`--random-state` must be a non-negative integer: got -1. Pass an int",
        ),
        ((*EVALUATE, "--n-jobs", "0"), "`--n-jobs` must be an integer >= 1"),
        ((*EVALUATE, "--report", "nowhere/r.html"), "`--report` must be in an existing folder: got 'nowhere'"),
        ((*EVALUATE, "--report", "r.pdf"), "`--report` must end in .html"),
        ((*EVALUATE, "--save", "nowhere/r"), "`--save` must be in an existing folder"),
        ((*EVALUATE, "--save", "."), "`--save` must be a file"),
        ((*EVALUATE, "--save", "a.csv"), "must not have the suffix of another format: got 'a.csv'. Write a.dreval."),
        ((*EVALUATE, "--save", "data.csv"), "`--save` must not be a file that is read"),
        ((*EVALUATE, "--save", "umap.csv"), "`--save` must not be a file that is read"),
        ((*EVALUATE, "--labels", "labels.csv:kind", "--save", "labels.csv"), "must not be a file that is read"),
        (
            (*EVALUATE, "--journal", "a", "--save", "./a"),
            "`--save` must not be a file that --journal writes too: got 'a'",
        ),
        (
            (*EVALUATE, "--journal", "a.html", "--report", "a.html"),
            "`--report` must not be a file that --journal writes",
        ),
        ((*EVALUATE, "--plot", "map=a.png", "--plot", "map=a.png"), "`--plot` must not be a file that --plot writes"),
    ],
)
def test_errors_are_code_2(run: Any, folder: Path, arguments: tuple[str, ...], message: str) -> None:
    """Invalid input is code 2, one line on stderr with the four parts, no output and no file."""
    times = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    code, out, err = run(*arguments)

    assert (code, out) == (2, "")
    assert err.startswith("dreval: `")
    assert message in err
    assert err.count("\n") == 1
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == times


def test_an_option_is_written_once(run: Any, folder: Path) -> None:
    """A second value would replace the first without a word."""
    for option, first, second in (("--measures", "trustworthiness", "continuity"), ("--metric", "cosine", "manhattan")):
        code, out, err = run(*EVALUATE, option, first, option, second)
        assert (code, out) == (2, "")
        assert f"argument {option}: must be written once" in err


@each(
    "arguments",
    [("evaluate",), ("evalute", "data.csv"), (*EVALUATE, "--bogus"), (*EVALUATE, "-k", "five"), ("list", "colors"),
     (*EVALUATE, "--quiet", "--json"), (*EVALUATE, "--lab", "labels.csv"), ("embed", "data.csv"), ("show",), ("card",)],
)  # fmt: skip
def test_unknown_options_are_code_2(run: Any, arguments: tuple[str, ...]) -> None:
    """Unknown or missing arguments are code 2 and the usage on stderr; options are never abbreviated."""
    code, out, err = run(*arguments)

    assert (code, out) == (2, "")
    assert err.startswith("usage: dreval")


def test_k_beyond_real_data(run: Any, folder: Path) -> None:
    """600 neighbors among the 569 tumours raise an error with the largest possible number."""
    wdbc = dreval.load_dataset("wdbc")
    wdbc.to_frame().to_csv("wdbc.csv", index=False)
    code, _, err = run("evaluate", "wdbc.csv", "-e", "pca", "--labels", "label", "-k", "5,600")

    assert code == 2
    assert (
        "`--n-neighbors` must be smaller than the number of points: got 600 with 569 points. Choose at most 568." in err
    )


@pytest.mark.parametrize("extra", [(), ("-e", "short.npy"), ("--tests", "all", "--labels", "labels.csv")])
def test_quiet_prints_no_text(run: Any, extra: tuple[str, ...]) -> None:
    """With --quiet only a failed embedding is reported, on stderr; the code and the files are the same."""
    code, out, err = run(*EVALUATE, *extra, "--quiet", "--save", "r.dreval", "--report", "r.md")

    assert (code, out) == (int("short.npy" in extra), "")
    assert err.startswith("dreval: 1 of 2 embeddings failed. short: ") if code else err == ""
    assert err.count("\n") == code
    assert dreval.load_results("r.dreval").names[0] == "umap"
    assert Path("r.md").read_text(encoding="utf-8")


def test_warnings_are_one_line(run: Any, folder: Path) -> None:
    """An assumption is one line on stderr without the line of the source; --quiet suppresses it."""
    mostly = pd.read_csv("data.csv").assign(age=np.r_[np.ones(35), np.arange(5.0)])
    mostly.to_csv("mostly.csv", index=False)
    call = ("evaluate", "mostly.csv", "-e", "umap.csv", "-k", "5", "--covariates", "age")
    code, _, err = run(*call)

    assert code == 0
    assert err.startswith("dreval: More than half of the pairs of rows of `covariates['age']` coincide")
    assert err.count("\n") == 1
    assert run(*call, "--quiet") == (0, "", "")


def test_json_is_one_strict_document(run: Any) -> None:
    """--json prints one document without NaN: the tidy table and the recipe, equal to those in Python."""
    code, out, err = run(*EVALUATE, "-e", "short.npy", "--labels", "labels.csv", "--json", "--save", "r.dreval")
    document = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    table = dreval.load_results("r.dreval").table
    read = pd.DataFrame(document["table"])

    assert code == 1
    assert err.startswith("dreval: 1 of 2 embeddings failed")
    assert err.count("\n") == 1
    assert sorted(document) == ["curves", "notes", "recipe", "table"]
    assert list(read.columns) == list(table.columns)
    for name in table.columns:
        assert read[name].dropna().tolist() == table[name].dropna().tolist()
        assert (read[name].isna() == table[name].isna()).all()
    assert document["recipe"]["random_state"] == 0


def test_curves_are_in_json_and_in_a_file_of_their_own(run: Any) -> None:
    """A curve has no row in the table of values: --json has a key and --table a second file, and the answer says so."""
    command = (*EVALUATE, "--measures", "q_nx,r_nx", "--tests", "none")
    code, out, _ = run(*command, "--table", "t.csv", "--save", "r.dreval")
    curves = dreval.load_results("r.dreval").curves

    assert (code, len(pd.read_csv("t.csv"))) == (0, 0)
    assert "Curves over the number of neighbors K: q_nx, r_nx; see --plot, --table and" in out
    assert out.endswith("table written to t.csv and t-curves.csv\n")
    pd.testing.assert_frame_equal(pd.read_csv("t-curves.csv"), curves, check_dtype=False)
    assert curves.groupby("measure")["K"].max().to_dict() == {"q_nx": 39, "r_nx": 38}  # Q_NX(n - 1) = 1 of any map
    rows = json.loads(run(*command, "--json")[1])["curves"]
    pd.testing.assert_frame_equal(pd.DataFrame(rows, columns=list(curves)), curves, check_dtype=False)
    values, overlaps = dreval.q_nx(X, Y), [row for row in rows if row["measure"] == "q_nx"]
    assert [row["value"] for row in overlaps] == [values[row["K"]] for row in overlaps]

    code, out, _ = run(*EVALUATE, "--measures", "continuity", "--tests", "none", "--ci", "none", "--table", "c.csv")
    assert (code, out.endswith("table written to c.csv\n"), Path("c-curves.csv").exists()) == (0, True, False)
    Path("d-curves.csv").write_bytes(Path("umap.csv").read_bytes())
    code, _, err = run(*(part.replace("umap", "d-curves") for part in EVALUATE), "--table", "d.csv")
    assert (code, "must not be a file that is read" in err) == (2, True)


def test_files_are_written_and_named(run: Any) -> None:
    """The report and the saved result are written, and their paths are printed below the summary."""
    code, out, _ = run(*EVALUATE, "--report", "out.html", "--save", "out.dreval")
    loaded = dreval.load_results("out.dreval")

    assert code == 0
    text = str(loaded.summary()).replace(
        '.plot("map")  .summary(full=True)  .report("x.html")', "--full  --report page.html"
    )
    text = " ".join(text.replace("summary(full=True)", "--full").split())  # lines may break elsewhere
    assert " ".join(out.split()) == f"{text} result written to out.dreval report written to out.html"
    assert out.endswith("\n\nresult written to out.dreval\n\nreport written to out.html\n")
    assert "<html" in Path("out.html").read_text(encoding="utf-8")


def test_a_result_that_cannot_be_saved_is_printed_all_the_same(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk is full at the end, the summary is printed before; the code is 2."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, out, err = run(*EVALUATE, "--save", "out.dreval")

    assert code == 2
    assert "Trustworthiness" in out
    assert "must be on a disk with room for it: got 'out.dreval' (No space left on device)" in err


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_an_output_that_cannot_be_written_raises_an_error_after_the_files(tmp_path: Path) -> None:
    """The other outputs are written; then one error in four parts, and code 2."""
    np.savetxt(tmp_path / "x.csv", np.random.default_rng(0).normal(size=(20, 3)), delimiter=",", header="a,b,c")
    arguments = [sys.executable, "-m", "dreval", "evaluate", "x.csv", "-e", "pca", "-k", "3", "--save", "r.dreval"]
    with open("/dev/full", "w") as full:
        process = subprocess.run(arguments, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert process.returncode == 2
    assert "`stdout` must be a place that output can be written to: got no space left on device." in process.stderr
    assert dreval.load_results(tmp_path / "r.dreval").names == ["pca"]


def test_places_without_permission_raise_an_error_early(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be written to raises an error before anything is computed."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    code, out, err = run(*EVALUATE, "--save", "out.dreval")

    assert (code, out) == (2, "")
    assert "`--save` must be a place where a file can be written" in err


def values(run: Any, *arguments: str) -> dict[tuple[str, str], float]:
    """Return the values by embedding and measure."""
    code, out, err = run("evaluate", *arguments, "-k", "5", "--random-state", "0", "--json")
    assert (code, err) == (0, "")
    rows = json.loads(out)["table"]
    return {(row["embedding"], row["measure"] or row["variable"]): row["value"] or row["statistic"] for row in rows}


def test_the_missing_input_of_a_measure_is_named_as_an_option(run: Any, folder: Path) -> None:
    """Warning, summary, table, notes and saved result name the option; with the option there is a value."""
    needs = {"batch": "ilisi", "labels": "silhouette", "latent": "latent_r2", "covariates": "knn_r2"}
    assert {"target" if name == "covariates" else name for name in needs} == set(VARIABLE_HINTS)
    selection = ("--measures", ",".join(needs.values()), "--tests", "none")
    code, out, err = run(*EVALUATE, *selection, "--full", "--save", "lacks.dreval")
    _, document, _ = run(*EVALUATE, *selection, "--json")
    saved = dreval.load_results(folder / "lacks.dreval")
    table = {row["measure"]: row["note"] for row in json.loads(document)["table"]}

    assert code == 1
    assert "to Evaluation" not in out + err + document + saved.notes.to_csv() + saved.table.to_csv()
    for word, measure in needs.items():
        assert table[measure].endswith(f"; pass --{word}")
        assert f"dreval: {measure}: {table[measure]}\n" in err
        assert f"{title_in_sentence(dreval.card(measure).title)} of umap: {table[measure]}." in " ".join(out.split())
        assert saved.table.set_index("measure").loc[measure, "note"] == table[measure]
    arguments = ("--batch", "meta.csv:kind", "--labels", "labels.csv", "--latent", "tsne.npy")
    pd.DataFrame({"age": np.arange(40) / 7}).to_csv(folder / "ages.csv", index=False)
    arguments += ("--covariates", "ages.csv:age")
    assert None not in values(run, "data.csv", "-e", "umap.csv", *selection, *arguments, "--ci", "none").values()


def test_batches_in_all_forms(run: Any) -> None:
    """Batches as a column of the data, which is then not a feature, and as a column of a file give the same numbers."""
    drop = ("--covariates", "age", "--ids", "cell")
    selection = ("--measures", "ilisi,stress", "--tests", "none", "--ci", "none")
    column = values(run, "full.csv", "-e", "umap.csv", "--batch", "kind", *drop, *selection)
    file = values(run, "data.csv", "-e", "umap.csv", "--batch", "meta.csv:kind", *selection)
    assert column.keys() == {("umap", "ilisi"), ("umap", "stress")}
    assert column == pytest.approx(file, rel=1e-12)


def test_labels_in_all_forms(run: Any) -> None:
    """Labels as a column of the data, a file, and a column of a file give the same numbers."""
    drop = ("--covariates", "age", "--ids", "cell")
    column = values(run, "full.csv", "-e", "umap.csv", "--labels", "kind", *drop)
    file = values(run, "data.csv", "-e", "umap.csv", "--labels", "labels.csv")
    part = values(run, "data.csv", "-e", "umap.csv", "--labels", "meta.csv:kind")

    assert file == part
    assert {key: column[key] for key in file} == file
    assert ("umap", "age") in column


def test_rows_are_matched_by_ids(run: Any) -> None:
    """A shuffled file with the ids of the data gives the numbers of the file in order."""
    drop = ("--covariates", "age", "--ids", "cell", "--labels", "kind")
    ordered = values(run, "full.csv", "-e", "e=umap.csv", *drop)

    assert values(run, "full.csv", "-e", "e=shuffled.csv", *drop) == ordered


@each(
    "source, name",
    [
        ("umap.csv", "umap"),
        ("./umap.csv", "umap"),
        ("both.npz:umap", "both"),
        ("a b=umap.csv", "a b"),
        ("runs/a=umap.csv", "runs/a"),
        ("a=both.npz:umap", "a"),
        ("pca", "pca"),
        ("größe=umap.csv", "größe"),
        ("p=30.csv", "p=30"),
        ("perplexity.30.csv", "perplexity.30"),
        ("packed.csv.gz", "packed"),
    ],
)
def test_names_of_embeddings(run: Any, source: str, name: str) -> None:
    """The name of an embedding is the text before the first =, else its method, or its file without the suffix."""
    for file in ("p=30.csv", "perplexity.30.csv", "packed.csv.gz"):
        pd.DataFrame(Y).to_csv(file, index=False)

    assert {embedding for embedding, _ in values(run, "data.csv", "-e", source)} == {name}


def test_options_are_those_of_python(run: Any) -> None:
    """Every option reaches its parameter."""
    code, out, _ = run(
        "evaluate", "full.csv", "-e", "umap.csv", "--labels", "kind", "--covariates", "age", "--ids", "cell",
        "--n-neighbors", "7,3", "--measures", "continuity,knn_accuracy", "--tests", "hsic", "--ci", "none",
        "--n-resamples", "19", "--adjust", "benjamini_hochberg", "--random-state", "4", "--n-jobs", "1", "--json",
    )  # fmt: skip
    document = json.loads(out)
    ev = dreval.Evaluation(
        "full.csv", labels="kind", covariates=["age"], ids="cell", n_neighbors=[3, 7], random_state=4
    )
    expected = ev.with_embedding("umap", "umap.csv").run(
        ["continuity", "knn_accuracy"], ["hsic"], None, n_resamples=19, adjust="benjamini_hochberg"
    )

    assert code == 0
    assert [row["value"] or row["p_adjusted"] for row in document["table"]] == [
        row["p_adjusted"] if np.isnan(row["value"]) else row["value"] for row in expected.table.to_dict("records")
    ]
    assert document["recipe"]["call"].startswith("dreval evaluate full.csv -e umap.csv")


def test_anchors_and_no_tests(run: Any) -> None:
    """Anchors, no tests and no adjustment have their options."""
    arguments = ["--labels", "labels.csv", "--anchors", "9", "--tests", "none", "--adjust", "none", "--full"]
    code, out, _ = run(*EVALUATE, *arguments)

    assert code == 0
    assert "Anchors:                             9" in out
    assert "anchors drawn without replacement" in " ".join(out.split())
    assert "Tests of independence" not in out


def test_the_command_with_its_seed_reproduces_the_result(run: Any) -> None:
    """Without a seed one is drawn; the recipe's call has it, and running that call gives the same table."""
    _, out, _ = run("evaluate", "data.csv", "-e", "umap.csv", "-k", "5", "--labels", "labels.csv", "--json")
    recipe, table = json.loads(out)["recipe"], json.loads(out)["table"]
    _, output, _ = run(*shlex.split(recipe["call"])[1:])

    assert str(recipe["random_state"]) in recipe["call"]
    for row, expected_row in zip(table, json.loads(output)["table"], strict=True):
        assert {**row, "seconds": 0} == {**expected_row, "seconds": 0}


def test_notes_on_a_failing_embedding_name_options(run: Any, folder: Path) -> None:
    """The hint of a note names the option of the command line, as in an error, and not the Python argument."""
    rows = [f"{i},{(7 * i) % 11},{(5 * i) % 13}.5" for i in range(30)]
    (folder / "named.csv").write_text("\n".join(["x,a,b", *rows]))
    (folder / "map.csv").write_text("\n".join(["x,u,v", *rows[::-1]]))
    code, _, err = run("evaluate", "named.csv", "-e", "y=map.csv", "-e", "pca")

    assert code == 1
    assert "pass --ids x with the data" in err
    assert "ids='x'" not in err
