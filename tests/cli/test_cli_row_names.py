"""Row names on the command line: columns of files follow them, also in files that count their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import IDS, KINDS, X, Y

ORDER = np.random.default_rng(1).permutation(len(X))
TABLE = pd.DataFrame(X, columns=list("abcd"))
VARIABLES = pd.DataFrame({"pc": Y[:, 0], "time": X[:, 2], "type": KINDS})


def table(run: Any, *arguments: str) -> pd.DataFrame:
    """The tidy table of an evaluation."""
    code, out, err = run("evaluate", *arguments, "-k", "5", "--random-state", "0", "--ci", "none", "--json")
    assert (code, err) == (0, "")
    return pd.DataFrame(json.loads(out)["table"])


@pytest.mark.parametrize("names", ["words", "pandas", "R"])
def test_shuffled_files_equal_files_in_order(names: str, run: Any, folder: Path) -> None:
    """Embedding, labels and covariates in another order than the data; row names of text, and row numbers."""
    index = {"words": IDS, "pandas": range(40), "R": range(1, 41)}[names]
    embedding = pd.DataFrame(Y, columns=["u", "v"])
    for name, frame in {"log": TABLE, "pca": embedding, "known": VARIABLES}.items():
        frame.set_axis(list(index)).to_csv(folder / f"{name}.csv")
        frame.set_axis(list(index)).iloc[ORDER].to_csv(folder / f"{name}_shuf.csv")
    requested = ("--measures", "trustworthiness,knn_accuracy", "--tests", "hsic")
    tables = [
        table(
            run, "log.csv", "-e", f"e=pca{s}.csv", "--labels", f"known{s}.csv:type", "--covariates", spelled, *requested
        )
        for s in ("", "_shuf")
        for spelled in (f"known{s}.csv:pc", f"known{s}.csv:pc,known{s}.csv:time")
    ]
    for left, right in ((tables[0], tables[2]), (tables[1], tables[3])):
        assert left["variable"].tolist() == right["variable"].tolist()
        for column in ("value", "statistic", "p_value"):
            np.testing.assert_allclose(left[column].astype(float), right[column].astype(float), rtol=1e-9)
    assert tables[1]["variable"].tolist() == ["", "", "labels", "pc", "time"]


def test_several_columns_of_a_file(run: Any, folder: Path) -> None:
    """The help describes the syntax, and the error for a name alone does too."""
    VARIABLES.set_axis(IDS).to_csv(folder / "more.csv")
    TABLE.set_axis(IDS).to_csv(folder / "log.csv")
    code, _, err = run("evaluate", "log.csv", "-e", "umap.csv", "--covariates", "more.csv:pc,time")
    assert (code, "Did you mean 'more.csv:time'? Columns: a, b, c, d." in err) == (2, True)
    code, _, err = run("evaluate", "log.csv", "-e", "umap.csv", "--covariates", "more.csv:pcs")
    assert (code, "Did you mean 'pc'? Known: pc, time, type." in err) == (2, True)
    code, out, _ = run("evaluate", "--help")
    assert (code, "a.csv:x,a.csv:y of a file, or a whole file" in " ".join(out.split())) == (0, True)
