"""Documents for LaTeX: pdflatex compiles them, no line is overfull, and the names are in the PDF."""

from __future__ import annotations

import re
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_cases import make_results, simulated_results

import dreval
from dreval.errors import DrevalWarning
from dreval.report.document import Cell, Table, record_document

NASTY = (r"a_b % & # ~ ^ \ {} $ < > | ` ' -- ,", "嵌入 🙂 größe łódź ρ", "x" * 300, "pca")
LIMIT = 5.0  # points of overfull lines that are tolerated
TEXTS_IN_PDF = ("a_b % & # ", "U+5D4C U+5165", "größe", "xxxxxxxxxx", "pca")


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


def study(folder: Path) -> Any:
    """Return a study of three methods on four data sets, with one failure."""

    def failing_on_22(X: Any, n_components: int) -> Any:
        if len(X) == 22:
            raise RuntimeError("no luck_with 22 & 50%")
        return X[:, -n_components:]

    data = {f"set_{i} & co": np.random.default_rng(i).normal(size=(20 + i, 4)) for i in range(4)}
    methods = {"pca": "pca", NASTY[0]: lambda X, n_components: X[:, :n_components], "sometimes": failing_on_22}
    study_of_methods = dreval.Study(
        folder / "s_1.dreval", data, methods, measures=["trustworthiness", "stress"], n_neighbors=4
    )
    return study_of_methods.run(progress=False)


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


def write_report(make: Callable[[], Any], path: Path) -> Path:
    """Write the report without the warning on letters that have no font."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DrevalWarning)
        return Path(make().report(path))


@pytest.mark.debian
@pytest.mark.parametrize("case", ["evaluation", "many", "across", "within", "study"])
def test_pdflatex_compiles_every_report(case: str, tmp_path: Path) -> None:
    """Evaluation, thirty embeddings, comparisons and study compile without error or overfull line, with all names."""
    makers = {"evaluation": evaluation, "many": thirty_embeddings, "across": across, "within": within}
    make = makers.get(case, lambda: study(tmp_path))
    text = compile_pdf(write_report(make, tmp_path / "a report_1.tex"))

    expected = {
        "many": ("umap_min_dist=0.29_n_neighbors=15",),
        "within": TEXTS_IN_PDF[:-1],
        "study": (TEXTS_IN_PDF[0], "sometimes", "set_2 & co"),
    }.get(case, TEXTS_IN_PDF)
    for phrase in expected:
        assert phrase in text, phrase
    for heading in ("What may not be concluded", "Make it again"):
        assert heading in text


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
    summaries = (summary, within().summary(), evaluation().summary(), thirty_embeddings().summary())
    parts = [*(record.as_latex() for record in summaries), f"\\sloppy {across().paragraph(format='latex')}"]
    body = "\n\\clearpage\n".join(parts)
    head = "\\documentclass{article}\n\\usepackage{booktabs,longtable}\n\\begin{document}\n"
    (tmp_path / "d.tex").write_text(f"{head}{body}\n\\end{{document}}\n", "utf-8")
    text = compile_pdf(tmp_path / "d.tex", times=3)

    for phrase in ("% & #", "\\ {} $ < > | ` ", "U+5D4C", "0.9256", "column 8", "Significance codes", "--opt 'x'"):
        assert phrase in text, phrase


@pytest.mark.debian
def test_tables_of_a_report_compile_in_another_document(tmp_path: Path) -> None:
    """Each table is a file that a paper of another size can include."""
    report = write_report(evaluation, tmp_path / "r.tex")
    names = sorted(path.stem for path in (tmp_path / "r-figures").glob("*.tex"))
    head = "\\documentclass[10pt,a4paper]{article}\n\\usepackage[margin=25mm]{geometry}\n"
    head += "\\usepackage{booktabs,longtable}\n"
    body = "\n".join(f"\\input{{r-figures/{name}}} See Table~\\ref{{tab:{name}}}." for name in names)
    (tmp_path / "paper.tex").write_text(f"{head}\\begin{{document}}\n{body}\n\\end{{document}}\n", "utf-8")

    assert report.is_file()
    assert names == ["all-values", "tests-of-independence", "values"]
    assert "See Table 2" in compile_pdf(tmp_path / "paper.tex", times=3)


def test_documents_name_exactly_the_files_of_their_folder(tmp_path: Path) -> None:
    """Every figure and table of the document is a file of the folder, and every file is in the document."""
    text = simulated_results(("a_1", "b"), n=30).report(tmp_path / "a report_1.tex").read_text("utf-8")
    file_names = set(re.findall(r"\]\{(a-report_1-figures/[^}]*)\}", text))
    file_names |= {f"{path}.tex" for path in re.findall(r"\\input\{([^}]*)\}", text)}

    assert file_names == {f"a-report_1-figures/{path.name}" for path in (tmp_path / "a-report_1-figures").iterdir()}
    assert {Path(name).suffix for name in file_names} == {".pdf", ".tex"}


@pytest.mark.slow
def test_the_same_result_gives_the_same_files(tmp_path: Path) -> None:
    """Document, figures and tables have the same bytes; no time is in them."""
    results = simulated_results(("tsne", "pca"), n=30)
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for suffix in (".tex", ".md"):
            results.report(tmp_path / name / f"r{suffix}")
        files.append({p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.*")})

    assert files[0] == files[1]
    assert {path.suffix for path in files[0]} == {".tex", ".md", ".pdf", ".svg"}


def test_a_result_of_failures_has_a_document_without_tables(tmp_path: Path) -> None:
    """The document has the reasons; without figures there is no folder."""
    results = make_results([], {}, failed={"a_1": "no memory", "b": "no time"})
    text = results.report(tmp_path / "r.tex").read_text("utf-8")

    assert "no memory" in text
    assert r"\subsection{a\_1}" in text
    assert "\\input" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["r.tex"]
