"""Repeated row names and repeated column names raise errors in frames as in files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import DrevalError, InputError
from dreval.inputs.source import as_source
from dreval.inputs.variables import Rows, as_covariates

X = np.random.default_rng(0).normal(size=(20, 3))
REPEATED_NAMES = ["a", "a", *map(str, range(18))]
INDEXES: dict[str, Any] = {
    "text": REPEATED_NAMES,
    "appended frames": [*range(10), *range(10)],
    "classes": list("ab") * 10,
    "levels": pd.MultiIndex.from_tuples([("a", i // 2) for i in range(20)]),
}


@pytest.mark.parametrize("case", INDEXES)
@pytest.mark.parametrize("role", ["data", "embedding", "latent", "covariates"])
def test_frames_with_repeated_row_names_raise_an_error(case: str, role: str) -> None:
    """The rule holds for every argument; with the index reset, as the error advises, the frame is accepted."""
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


def test_files_with_repeated_row_names_raise_an_error(tmp_path: Path) -> None:
    """A frame and the file that pandas writes of it have one rule, also in parquet."""
    frame = pd.DataFrame(X, index=REPEATED_NAMES, columns=list("xyz"))
    frame.to_csv(tmp_path / "twice.csv")
    with pytest.raises(InputError, match="must have different row names"):
        dreval.Evaluation(tmp_path / "twice.csv")
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "twice.parquet")
    with pytest.raises(InputError, match="must have different row names"):
        dreval.Evaluation(tmp_path / "twice.parquet")


@pytest.mark.parametrize("form", ["frame", "csv", "tsv"])
@pytest.mark.parametrize("role", ["data", "embedding", "latent", "callable"])
def test_columns_of_one_name_raise_an_error(form: str, role: str, tmp_path: Path) -> None:
    """Repeated columns raise an error in frames and files; without names, as the hint for arrays advises, they are
    valid.
    """
    frame = pd.DataFrame(X, columns=list("aab"))
    table: Any = frame
    if form != "frame":
        table = tmp_path / f"t.{form}"
        frame.to_csv(table, index=False, sep="\t" if form == "tsv" else ",")

    def use(value: Any) -> Any:
        if role == "data":
            return dreval.Evaluation(value)
        if role == "latent":
            return dreval.Evaluation(X, latent=value)
        record = dreval.Evaluation(X).data
        result = (lambda X, n_components: frame if value is table else value) if role == "callable" else value  # noqa: ARG005
        return as_source(result, "e", record).coordinates(record)

    with pytest.raises(DrevalError, match="must have different column names: got 'a', the name of 2 columns"):
        use(table)
    use(frame.to_numpy())
    use(frame.set_axis(list("abc"), axis=1))


def test_genes_of_one_symbol_are_accepted() -> None:
    """Names of variables of AnnData may repeat, as the tools that write them allow."""
    adata = SimpleNamespace(
        X=X, obs=pd.DataFrame(index=[f"c{i}" for i in range(20)]), obsm={}, layers={}, raw=None,
        var_names=pd.Index(["g", "g", "h"]), obs_names=pd.Index([f"c{i}" for i in range(20)]),
    )  # fmt: skip
    assert dreval.Evaluation(adata).data.columns == ("g", "g", "h")


def test_covariates_of_one_name_raise_an_error() -> None:
    """One of the two columns would be lost."""
    with pytest.raises(InputError, match="must have different column names: got 'a', the name of 2 columns"):
        as_covariates(pd.DataFrame(X, columns=list("aab")), Rows(20, None))
