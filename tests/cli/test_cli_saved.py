"""The commands ``dreval show`` and ``dreval report``, the files that commands write, and the blocks of tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import EVALUATE, KINDS, X, Y, without_call
from each import each

import dreval
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import with_option_name
from dreval.records.notes import note

ISOMAP = ("sweep", "data.csv", "-m", "isomap", "--random-state", "0", "--grid", "n_neighbors=10,15")


@pytest.fixture
def saved(run: Any) -> dict[str, str]:
    """One file of each kind of record, with the text that was printed when it was saved."""
    texts = {}
    evaluate = (*EVALUATE, "-e", "tsne=tsne.npy", "--measures", "continuity,stress")
    for name, command in {"result": evaluate, "sweep": ISOMAP, "comparison": ("compare", "result.dreval")}.items():
        code, text, err = run(*command, "--save", f"{name}.dreval")
        assert (code, err, "summary(full" in text) == (0, "", False)
        texts[name] = text.removesuffix(f"\n{name} written to {name}.dreval\n")
    data = {"one": X, "two": X**2, "three": X**3}
    study = dreval.Study("study.journal", data, ["pca", "classical_mds"], "procrustes_disparity", random_state=0).run()
    return {**texts, "study": str(study).replace(".summary(full=True)", "--full") + "\n"}


FILES = {
    "result": "result.dreval",
    "sweep": "sweep.dreval",
    "comparison": "comparison.dreval",
    "study": "study.journal",
}


def test_show_prints_what_was_printed(run: Any, saved: dict[str, str]) -> None:
    """Each record prints as when it was computed; JSON, Markdown and LaTeX are those of the command that saved it."""
    for name, file in FILES.items():
        assert run("show", file) == (0, saved[name], "")
        document = json.loads(run("show", file, "--json")[1])
        assert next(iter(document)) == ("file" if name == "study" else "recipe")
        assert run("show", file, "--quiet") == (0, "", "")
        for form in ("--markdown", "--latex", "--full"):
            code, out, err = run("show", file, form)
            assert (code, err) == (0, "")
            assert out != saved[name]
    compared = run("compare", "result.dreval", "--latex")[1]
    assert without_call(run("show", "comparison.dreval", "--latex")[1]) == without_call(compared)
    record = dreval.load_results("result.dreval")
    assert run("show", "result.dreval", "--bibtex")[1] == record.bibtex()
    assert run("show", "result.dreval", "--paragraph", "text")[1].startswith(record.paragraph("results"))
    code, out, err = run("show", "sweep.dreval", "--bibtex")
    assert (code, out) == (2, "")
    assert err.startswith("dreval: `--bibtex` must be used on results and comparisons: got a sweep. Leave it out")


def test_show_writes_figures_tables_and_reports(run: Any, saved: dict[str, str]) -> None:
    """A figure without a kind is the first one; the table is that of ``tidy``; paths are printed with text only."""
    for name, file in FILES.items():
        kind = {"result": "scatter", "comparison": "forest", "study": "critical_difference", "sweep": "r_nx_auc"}[name]
        plots = ("--plot", f"{name}.svg", "--plot", f"{kind}={name}2.svg,{kind}={name}3.png")
        code, out, err = run("show", file, *plots, "--table", f"{name}.csv", "--report", f"{name}.md")
        assert (code, err) == (0, "")
        written = [
            f"report written to {name}.md",
            *(f"figure written to {name}{end}" for end in (".svg", "2.svg", "3.png")),
        ]
        assert out.endswith("\n\n".join(["", *written, f"table written to {name}.csv\n"]))
        first, second = (Path(f"{name}{end}").read_text("utf-8") for end in (".svg", "2.svg"))
        assert first.count("<path") == second.count("<path") > 0
        assert "written" not in run("show", file, "--table", f"{name}.csv", "--json")[1]
    table = pd.read_csv("result.csv", keep_default_na=False)
    assert table.columns.tolist() == list(dreval.load_results("result.dreval").tidy())
    run("show", "result.dreval", "--full", "--table", "full.csv")
    assert pd.read_csv("full.csv").columns.tolist() == list(dreval.load_results("result.dreval").tidy(full=True))


def test_report_writes_the_page_of_each_record(run: Any, saved: dict[str, str]) -> None:
    """The page is that of the record's own method, with the title; JSON has the path."""
    for name, file in FILES.items():
        record = dreval.Study.open(file) if name == "study" else dreval.load_results(file)
        expected = record.report(f"expected-{name}.md", title="Two maps").read_text("utf-8")
        code, out, err = run("report", file, "out.md", "--title", "Two maps")
        assert (code, out, err) == (0, "report written to out.md\n", "")
        result = Path("out.md").read_text("utf-8")
        assert (
            result.replace("out-figures", f"expected-{name}-figures").replace("out.md", f"expected-{name}.md")
            == expected
        )
        assert json.loads(run("report", file, "out.html", "--json")[1]) == {"report": "out.html"}
        assert Path("out.html").read_text("utf-8").startswith("<!doctype html>")


def test_new_points_are_shown_and_reported(run: Any) -> None:
    """The record of new points prints as in Python, with its points as JSON, its map and its page."""
    record = dreval.out_of_sample(X[:30], Y[:30], X[30:], Y[30:])
    record.save("new.dreval")
    assert run("show", "new.dreval") == (0, str(record).replace(".summary(full=True)", "--full") + "\n", "")
    document = json.loads(run("show", "new.dreval", "--json")[1])
    assert [len(document[name]) for name in ("table", "points")] == [6, 10]
    code, _, err = run("show", "new.dreval", "--plot", "a.svg,continuity=b.svg", "--table", "new.csv")
    assert (code, err) == (0, "")
    assert pd.read_csv("new.csv")["measure"].tolist() == record.tidy()["measure"].tolist()
    assert run("report", "new.dreval", "new.html") == (0, "report written to new.html\n", "")
    code, out, err = run("compare", "new.dreval")
    assert (code, out) == (2, "")
    assert "new points on a map" in err


@each(
    "arguments, message",
    [
        (("show", "no.dreval"), "`saved` must be an existing file: got 'no.dreval'"),
        (
            ("show", "data.csv"),
            (
                "`saved` must be a file written by --save: got 'data.csv'. Save the result again; to evaluate "
                "data, use dreval evaluate."
            ),
        ),
        (("study", "status", "no.journal"), "`file` must be an existing file: got 'no.journal'. Check the name;"),
        (("sweep", "study.journal", "-m", "pca", "--grid", "n_components=1"), "`data` must be"),
        (("report", "data.csv", "o.html"), "`saved` must be a file written by --save"),
        (
            ("show", "run.journal"),
            "`saved` must be the journal of a study: got 'run.journal', the journal of a run",
        ),
        (("report", "r.dreval", "o.pdf"), "`report` must end in .html or .md: got 'o.pdf'"),
        (("report", "r.dreval", "no/o.md"), "`report` must be in an existing folder: got 'no'"),
        (("report", "r.dreval", "r.dreval"), "`report` must not be a file that is read"),
        (("show", "r.dreval", "--plot", "mpa=o.png"), "`--plot` must be a known name: got 'mpa'. Did you mean 'map'"),
        (("show", "r.dreval", "--plot", "o.gif"), "`--plot` must end in .png or .svg or .pdf: got 'o.gif'"),
        (("show", "r.dreval", "--table", "o.xlsx"), "`--table` must end in .csv: got 'o.xlsx'"),
        (("compare", "r.dreval", "--plot", "map=o.png"), "`--plot` must be a known name: got 'map'"),
        ((*ISOMAP, "--plot", "stres=o.png"), "`--plot` must be a known name: got 'stres'. Did you mean 'stress'"),
    ],
)
def test_errors(run: Any, arguments: tuple[str, ...], message: str) -> None:
    """Invalid input is code 2 and one line on stderr with four parts; nothing is printed or written."""
    run(*EVALUATE, "-e", "pca", "--measures", "stress", "--save", "r.dreval", "--journal", "run.journal")
    files = set(Path().iterdir())
    code, out, err = run(*arguments)
    assert (code, out, set(Path().iterdir())) == (2, "", files)
    assert err.startswith(f"dreval: {message}")
    assert err.count("\n") == 1


@each("text", ["=a.png", "map=", "", "map=a.png,"])
def test_a_figure_is_a_path_with_or_without_its_kind(run: Any, text: str) -> None:
    code, out, err = run(*EVALUATE, "--plot", text)
    assert (code, out) == (2, "")
    assert f"argument --plot: must be PATH or KIND=PATH, separated by commas: got {text!r}" in err


def test_tests_permute_within_blocks(run: Any) -> None:
    """Blocks in a file or a column of the data, which is no feature, give the p of ``hsic_test`` within blocks."""
    arguments = ("--tests", "hsic", "--measures", "none", "--ci", "none", "--n-resamples", "199", "--random-state", "0")
    column = ("full.csv", "-e", "umap.csv", "--covariates", "age", "--ids", "cell", "--blocks", "kind")
    file = ("data.csv", "-e", "umap.csv", "--covariates", "full.csv:age", "--blocks", "labels.csv:kind")
    whole = (*file[:-1], "labels.csv")
    typed = ("full.csv", "-e", "umap.csv", "--covariates", "age,kind:class", "--ids", "cell", "--blocks", "kind")
    pd.DataFrame({"age": X[:, 0] ** 2, "height": X[:, 1]}).to_csv("variables.csv", index=False)
    of_file = (*file[:-3], "variables.csv", *file[-2:])
    rows = [
        json.loads(run("evaluate", *source, *arguments[:1], "hsic:age", *arguments[2:], "--json")[1])["table"][0]
        for source in (column, file, whole, typed, of_file)
    ]
    options = {"hsic": {"permutation": "within", "blocks": KINDS}}
    ev = dreval.Evaluation("data.csv", {"umap": Y}, covariates={"age": X[:, 0] ** 2}, random_state=0)
    expected = ev.run(None, "hsic", None, n_resamples=199, options=options).table.iloc[0]
    assert {row["p_value"] for row in rows} == {expected["p_value"]}
    free = ev.run(None, "hsic", None, n_resamples=199).table.iloc[0]
    assert expected["chance"] != free["chance"]
    assert np.isclose(rows[0]["chance"], expected["chance"], rtol=1e-12)
    code, out, _ = run("evaluate", *column, *arguments, "--full")
    assert code == 0
    assert "Rows were permuted within their blocks only" in " ".join(out.split())


@each(
    "arguments, message",
    [
        (("--blocks", "donor", "--labels", "labels.csv"), "`--blocks` must be a vector, a column of the data, or an"),
        (("--blocks", "labels.csv"), "`--blocks` must be used with a test against a variable: got none. Add --labels"),
        (
            ("--blocks", "labels.csv", "--labels", "labels.csv", "--tests", "none"),
            "`--blocks` must be used with a test",
        ),
    ],
)
def test_blocks_without_a_use_raise_an_error(run: Any, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(*EVALUATE, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"dreval: {message}")


def test_exit_codes_are_those_of_one_enum() -> None:
    """Numbers are stable; 4 and 5 are reserved, and no help lists them."""
    assert {code.name: int(code) for code in ExitCode} == {
        "OK": 0, "FAILED": 1, "REFUSED": 2, "DEFECT": 3, "WORSE": 4, "UNDECIDED": 5, "INTERRUPTED": 130,
    }  # fmt: skip
    assert exit_codes() == "exit codes: 0 done, 2 invalid input, 3 internal error, 130 stopped by Ctrl-C"


@pytest.mark.slow
def test_output_can_be_cut_off() -> None:
    """`dreval list measures | head -1` ends without a message."""
    for command in ("list measures", "recommend neighbors", "card trustworthiness", "evaluate --help"):
        line = f"set -o pipefail; {sys.executable} -m dreval {command} | head -1"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)


def test_notes_name_options_in_place_of_keywords():
    """The shell has no keywords: its notes name options."""
    options = SimpleNamespace(parser=SimpleNamespace(flags={}))
    batch = with_option_name(note("groups.batch", names=("age",), count=1, way="groups="), options)
    assert "; --groups makes the batch the unit" in str(batch)
    values = {"argument": "covariates['sex']", "column": "sex", "count": 2, "call": "covariate_types={...}"}
    integers = note("covariates.integers", **values)
    assert "pass --covariates sex:class." in str(with_option_name(integers, options))
