"""Every printed result of an evaluation, word for word, for one small data set.

``printed.txt`` stores the texts; ``DREVAL_UPDATE_SNAPSHOTS=1 pytest tests/snapshots`` rewrites it. Review the
difference like any other change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from snapshot import Snapshots

import dreval
from dreval.cli._main import main
from dreval.report.document import Cell, Document, Table, record_document

T = np.linspace(0, 3, 24)
X = np.column_stack([np.cos(T), np.sin(T), T**2])
ARC = np.column_stack([T, np.round(np.sin(5 * T))])
SITES = np.array(["north", "south", "south"] * 8)


def evaluation(**settings: object) -> dreval.Evaluation:
    return dreval.Evaluation(X, {"arc": ARC, "pca": "pca"}, **{"n_neighbors": 4, "random_state": 0, **settings})  # type: ignore[arg-type]


@cache
def full_results() -> dreval.Results:
    """Return a result with labels, covariates, two k, ties, a failure and a constant embedding."""
    ev = evaluation(n_neighbors=[3, 6], labels=SITES, covariates={"t": T})
    ev = ev.with_embedding("short", ARC[:5]).with_embedding(
        "a collapsed embedding with a name that is far too long", ARC * 0
    )
    return ev.run(["default", "procrustes_rn"], n_resamples=99)


def noisy(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
    """Return two columns with noise, in eighths."""
    return X[:, :2] + np.random.default_rng(random_state).integers(-2, 3, (len(X), 2)) / 8


@cache
def replicates() -> dreval.Results:
    """Return the result of a random method, a deterministic one, and coordinates, with re-runs."""
    ev = evaluation().with_embedding("noisy", noisy)
    return ev.run(["trustworthiness", "procrustes_rc"], ci="replicates", options={"replicates": {"n_replicates": 4}})


@cache
def across() -> Any:
    """Compare three embeddings on seven data sets, one cell missing, by every test but the mixed model."""
    values = np.round(
        np.add.outer(np.sin(np.arange(7.0)), [0.0, 0.1, 0.15]) + 0.05 * np.cos(np.arange(21.0)).reshape(7, 3), 3
    )
    names = ["t_sne", "umap", "pca"]
    rows = [(f"d{i}", name, values[i, j]) for i in range(7) for j, name in enumerate(names) if (i, j) != (2, 2)]
    table = pd.DataFrame(rows, columns=["dataset", "embedding", "trustworthiness"])
    return dreval.compare(table, columns={"value": "trustworthiness"}, rope=0.02)


def command(*arguments: str) -> Callable[[], str]:
    """Return a function that returns the output of the command line."""

    def run() -> str:
        import contextlib
        import io

        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main(arguments) == 0
        return out.getvalue()

    return run


def awkward_summary() -> Document:
    """Return a summary with awkward names and numbers."""
    names = [r"a_b % & # ~ ^ \\ {} $ < > | ` -- , \"' *", "嵌入 🙂 größe", "x" * 300, "x" * 150 + "y" + "x" * 149]
    rows = [
        [name, Cell("0.9256", emphasis="best"), "[-1.234e-05, 1.797e+308]", f"{index}"]
        for index, name in enumerate(names)
    ]
    rows.insert(2, ["A heading, R_NX"])
    wide_table = Table("Wide", ["", *(f"column {i}" for i in range(9))], [["e", *(f"{i:.4e}" for i in range(9))]])
    blocks = [Table("Values of rho_D & more", ["", "value", "95 % interval", "n"], rows, foot="A foot."), wide_table]
    call = "f(x, names={" + ", ".join(f"{i}: 'a_b'" for i in range(90)) + "})"
    return record_document("A title_1", [("Data", names[0]), ("n", "3"), ("none", "")], blocks, names, call)


def thirty_embeddings() -> dreval.Results:
    """Return the result of thirty embeddings, ten with the same failure, and names that differ in the middle only."""
    embeddings = {f"umap_n_neighbors=15_min_dist=0.{i:02d}_metric=euclidean_seed=1": ARC + i for i in range(20)}
    return dreval.Evaluation(
        X, {**embeddings, **{f"bad {i}": ARC[:5] for i in range(10)}}, n_neighbors=4, random_state=0
    ).run(["trustworthiness", "procrustes_disparity"])


def printed_record(name: str) -> Any:
    """Return a printed record that is not a table of an evaluation."""
    result = dreval.hsic_test(T, X[:, 0], n_resamples=99, random_state=0)
    if name == "test":
        return result
    if name == "embedding":
        return dreval.embed(X, "pca")
    if name == "measure":
        return dreval.trustability(X, "pca", random_state=0)
    noise = np.random.default_rng(0).normal(size=(24, 3))
    result = dreval.Evaluation(X + noise, {"pca": "pca"}, n_neighbors=4, random_state=0).run("continuity", ci=None)
    return result.certificate("pca", n_resamples=19)


CASES: dict[str, Callable[[], object]] = {
    "evaluation": lambda: evaluation(),
    "result": lambda: repr(evaluation().run()),
    "two embeddings": lambda: evaluation().run().summary(),
    "everything": lambda: full_results().summary(),
    "everything, Markdown": lambda: full_results().summary().as_markdown(),
    "anchors": lambda: evaluation(anchors=9).run(["trustworthiness", "procrustes_disparity"]).summary(),
    "no intervals": lambda: evaluation().run("continuity", None, None).summary(),
    "tests only": lambda: evaluation(labels=SITES).run(None, "hsic", n_resamples=99, adjust=None).summary(),
    "one embedding, HTML": lambda: evaluation().run("continuity").summary().as_html(),
    "one embedding, LaTeX": lambda: evaluation().run("continuity").summary().as_latex(),
    "comparison of points": lambda: full_results().compare(measure=["trustworthiness", "procrustes_rn"]).summary(),
    "comparison of points, words": lambda: full_results().compare(measure="trustworthiness").paragraph(),
    "replicates": lambda: replicates().summary(),
    "comparison of replicates": lambda: replicates().compare(measure="procrustes_rc").summary(),
    "comparison of replicates, words": lambda: replicates().compare(measure="procrustes_rc").paragraph(),
    "halves": lambda: evaluation().run("procrustes_rc", ci="subsampling").summary(),
    "comparison of halves, words": lambda: evaluation().run("procrustes_rc", ci="subsampling").compare().paragraph(),
    "comparison across data sets": lambda: across().summary(),
    "comparison across data sets, words": lambda: across().paragraph(),
    "comparison across data sets, Markdown words": lambda: across().paragraph(format="markdown"),
    "comparison across data sets, LaTeX words": lambda: across().paragraph(format="latex"),
    "comparison across data sets, LaTeX": lambda: across().summary().as_latex(),
    "comparison across data sets, Markdown": lambda: across().summary().as_markdown(),
    "nasty": lambda: awkward_summary(),
    "nasty, LaTeX": lambda: awkward_summary().as_latex(),
    "nasty, Markdown": lambda: awkward_summary().as_markdown(),
    "nasty, HTML": lambda: awkward_summary().as_html(),
    "thirty embeddings": lambda: thirty_embeddings().summary(),
    "test": lambda: printed_record("test").summary(),
    "test, LaTeX": lambda: printed_record("test").summary().as_latex(),
    "embedding": lambda: printed_record("embedding").summary(),
    "method measure": lambda: printed_record("measure").summary(),
    "certificate": lambda: printed_record("certificate").summary(),
    "list methods": command("list", "methods"),
    "list tests, Markdown": command("list", "tests", "--markdown"),
}
SNAPSHOTS = Snapshots(Path(__file__).with_name("printed.txt"), CASES)


@pytest.mark.slow
@each("case", CASES, items=4)
def test_printed_text(case: str) -> None:
    """Each printed result equals the stored text, word for word."""
    SNAPSHOTS.check(case, str(CASES[case]()).replace(dreval.__version__, "<version>"))


def test_stored_cases_are_the_tested_cases() -> None:
    """The stored file has exactly the cases that are tested."""
    assert list(SNAPSHOTS.stored()) == list(CASES)
