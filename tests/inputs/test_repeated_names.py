"""Row names that repeat are refused in frames as in files; columns of one name are all used, or refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError
from dreval.inputs.source import as_source
from dreval.inputs.variables import Rows, as_covariates

X = np.random.default_rng(0).normal(size=(20, 3))
TWICE = ["a", "a", *map(str, range(18))]
INDEXES: dict[str, Any] = {
    "text": TWICE,
    "appended frames": [*range(10), *range(10)],
    "classes": list("ab") * 10,
    "levels": pd.MultiIndex.from_tuples([("a", i // 2) for i in range(20)]),
}


@pytest.mark.parametrize("case", INDEXES)
@pytest.mark.parametrize("role", ["data", "embedding", "latent", "covariates"])
def test_frames_with_repeated_row_names_are_refused(case: str, role: str) -> None:
    """Whatever the frame is for; with the index reset, as the error says, the frame is accepted."""
    frame = pd.DataFrame(X, index=INDEXES[case], columns=list("xyz"))

    def use(table: pd.DataFrame) -> Any:
        if role == "data":
            return dreval.Evaluation(table)
        if role == "embedding":
            return dreval.trustworthiness(X, table, n_neighbors=3)
        return dreval.Evaluation(X, **{role: table})

    with pytest.raises(InputError, match=r"must have different row names.*rows 0 and .*reset_index\(drop=True\)"):
        use(frame)
    use(frame.reset_index(drop=True))


def test_files_refuse_them_too(tmp_path: Path) -> None:
    """A frame and the file that pandas writes of it have one rule, also in parquet."""
    frame = pd.DataFrame(X, index=TWICE, columns=list("xyz"))
    frame.to_csv(tmp_path / "twice.csv")
    with pytest.raises(InputError, match="must have different row names"):
        dreval.Evaluation(tmp_path / "twice.csv")
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "twice.parquet")
    with pytest.raises(InputError, match="must have different row names"):
        dreval.Evaluation(tmp_path / "twice.parquet")


def test_columns_of_one_name_are_all_used() -> None:
    """Features and coordinates of one name stay: no number depends on the name."""
    data, embedding = pd.DataFrame(X, columns=list("aab")), pd.DataFrame(X[:, :2], columns=["u", "u"])
    assert dreval.trustworthiness(data, embedding, n_neighbors=3) == dreval.trustworthiness(X, X[:, :2], n_neighbors=3)
    record = dreval.Evaluation(data).data
    assert as_source(embedding, "e", record).coordinates(record).shape == (20, 2)


def test_covariates_of_one_name_are_refused() -> None:
    """One of two columns would be lost."""
    with pytest.raises(InputError, match="must have different column names: got 'a', the name of 2 columns"):
        as_covariates(pd.DataFrame(X, columns=list("aab")), Rows(20, None))
