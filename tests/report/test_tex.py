"""Tables for LaTeX: pdflatex compiles them, no line is overfull, and the names are in the PDF."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_cases import make_results, simulated_results

import dreval
from dreval.errors import InputError
from dreval.report.document import Cell, Table, record_document

NASTY = (r"a_b % & # ~ ^ \ {} $ < > | ` ' -- ,", "嵌入 🙂 größe łódź ρ", "x" * 300, "pca")
LIMIT = 5.0  # points of overfull lines that are tolerated


def evaluation() -> Any:
    """Return a result with awkward names, a failure, several k and tests."""
    failed = {"bad_one & co": "the reason_1 <it> failed & 50% more"}
    return simulated_results(NASTY, ks=(5, 15), failed=failed, dataset="data_1 & 50%")


def thirty_embeddings() -> Any:
    """Return the result of thirty embeddings with different names."""
    return simulated_results(tuple(f"umap_min_dist=0.{i:02d}_n_neighbors=15" for i in range(30)), n=40)


def across() -> Any:
    """Return the comparison of five embeddings on eight data sets."""
    import pandas as pd

    rng = np.random.default_rng(0)
    names = [*NASTY, "last_one"]
    rows = [(f"set_{i}", name, rng.random() + 0.1 * j) for i in range(8) for j, name in enumerate(names)]
    return dreval.compare(pd.DataFrame(rows, columns=["dataset", "embedding", "value"]), direction="higher", rope=0.1)


def within() -> Any:
    """Return the comparison of three embeddings of one data set."""
    X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
    pairs = dict(zip(NASTY, (X[:, :2], X[:, 1:3], X[:, 2:]), strict=False))
    return dreval.Evaluation(X, pairs, n_neighbors=5, random_state=0).run(["trustworthiness", "stress"]).compare()


def compile_pdf(path: Path, times: int = 2) -> str:
    """Compile a document and return the text of its pages; warnings of TeX fail."""
    for _ in range(times):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name]
        process = subprocess.run(command, cwd=path.parent, capture_output=True, timeout=120)
        log = path.with_suffix(".log").read_text("utf-8", errors="replace")
        assert process.returncode == 0, log[-3000:]
    overfull = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert max(overfull, default=0.0) <= LIMIT, overfull
    assert "undefined" not in log
    assert "Missing character" not in log
    output = subprocess.run(
        ["pdftotext", "-layout", path.with_suffix(".pdf").name, "-"], cwd=path.parent, capture_output=True, check=True
    )
    return " ".join(output.stdout.decode("utf-8").split())


@pytest.mark.debian
def test_pdflatex_compiles_summaries_in_a_plain_document(tmp_path: Path) -> None:
    """The output of ``as_latex`` needs only booktabs and longtable, for any names and numbers."""
    rows = [
        [name, Cell("0.9256", emphasis="best"), "[-1.234e-05, 1.797e+308]", f"{i}"]
        for i, name in enumerate((*NASTY, '"q" ,,'))
    ]
    wide_table = Table("Wide", ["", *(f"column {i}" for i in range(9))], [["e", *(f"{i:.4e}" for i in range(9))]] * 50)
    blocks = [
        Table("Values of rho_D & R_NX", ["", "value", "95 % interval", "n_1"], rows, foot="A foot_1."),
        wide_table,
    ]
    summary = record_document(
        "A title_1", [("Data", NASTY[0])], blocks, ["y_" * 200, *NASTY], "f('a_b', \"q\")\n  --opt 'x'"
    )
    summaries = (summary, within().summary(full=True), evaluation().summary(), thirty_embeddings().summary())
    parts = [*(record.as_latex() for record in summaries), f"\\sloppy {across().paragraph(format='latex')}"]
    body = "\n\\clearpage\n".join(parts)
    head = "\\documentclass{article}\n\\usepackage{booktabs,longtable}\n\\begin{document}\n"
    (tmp_path / "d.tex").write_text(f"{head}{body}\n\\end{{document}}\n", "utf-8")
    text = compile_pdf(tmp_path / "d.tex", times=3)

    for phrase in ("% & #", "\\ {} $ < > | ` ", "U+5D4C", "0.9256", "column 8", "Codes of p", "--opt 'x'"):
        assert phrase in text, phrase


def test_a_report_for_latex_is_refused_with_what_gives_its_tables(tmp_path: Path) -> None:
    """The error names the two formats, and the methods that give tables for LaTeX."""
    with pytest.raises(InputError, match=r"must end in \.html or \.md.*to_latex\(\) and summary\(\)\.as_latex\(\)"):
        evaluation().report(tmp_path / "r.tex")
    assert not list(tmp_path.iterdir())


def test_the_same_result_gives_the_same_files(tmp_path: Path) -> None:
    """Text and figures have the same bytes; no time is in them."""
    results = simulated_results(("tsne", "pca"), n=30)
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        results.report(tmp_path / name / "r.md")
        files.append({p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.*")})

    assert files[0] == files[1]
    assert {path.suffix for path in files[0]} == {".md", ".svg"}


def test_a_result_of_failures_has_a_text_without_tables(tmp_path: Path) -> None:
    """The text has the reasons; without figures there is no folder."""
    results = make_results([], {}, failed={"a_1": "no memory", "b": "no time"})
    text = results.report(tmp_path / "r.md").read_text("utf-8")

    assert "no memory" in text
    assert r"a\_1" in text
    assert "|" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["r.md"]
