"""Shared by the tests of the command line: a folder with files of other tools, and a call of ``main``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dreval.cli._main import main

X = np.random.default_rng(0).normal(size=(40, 4))
Y = X[:, :2] + 0.1
KINDS = np.array(["benign", "malignant"] * 20)
IDS = [f"cell{i}" for i in range(40)]


EVALUATE = ("evaluate", "data.csv", "-e", "umap.csv", "-k", "5", "--random-state", "0")


def fill(folder: Path) -> None:
    """Write data, embeddings and labels in the formats of other tools."""
    features = pd.DataFrame(X, columns=list("abcd"))
    features.to_csv(folder / "data.csv", index=False)
    features.assign(kind=KINDS, age=X[:, 0] ** 2, cell=IDS).to_csv(folder / "full.csv", index=False)
    features.assign(a=features["a"].where(features.index != 3)).to_csv(folder / "gaps.csv", index=False)
    features.assign(cell=IDS).to_csv(folder / "cells.csv", index=False)
    features.assign(kind=KINDS).to_csv(folder / "kinds.csv", index=False)
    pd.DataFrame({"kind": KINDS}).to_csv(folder / "labels.csv", index=False)
    pd.DataFrame({"kind": KINDS, "site": 1}).to_csv(folder / "meta.csv", index=False)
    umap = pd.DataFrame(Y, columns=["u", "v"])
    umap.to_csv(folder / "umap.csv", index=False)
    umap.assign(cell=IDS).sample(frac=1, random_state=0).to_csv(folder / "shuffled.csv", index=False)
    np.save(folder / "tsne.npy", Y[:, ::-1] ** 2)
    np.save(folder / "short.npy", Y[:7])
    np.savez(folder / "both.npz", umap=Y, tsne=Y**3)


def call(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command line and return exit code, stdout and stderr."""
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    return (code, *capfd.readouterr())


def without_call(text: str) -> list[str]:
    """Return the parts of a summary without its call, which differs on the command line."""
    return [part for part in text.split("\n\n") if not ("Call:" in part[:60] or part.startswith("```"))]
