"""Where the files of the bundled data sets are, and how they are read."""

from __future__ import annotations

import gzip
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np

from dreval.datasets._dataset import Draw
from dreval.errors import InputError

__all__ = ["read_bundled"]


def _data_folder() -> Traversable:
    """The folder ``data``: inside the installed package, or beside it in a source tree."""
    inside = files("dreval") / "data"
    return inside if inside.is_dir() else Path(__file__).resolve().parents[2] / "data"


def read_bundled(name: str) -> Draw:
    """Features, names and labels of ``<name>.csv.gz``; the last column holds the labels."""
    file = _data_folder() / f"{name}.csv.gz"
    if not file.is_file():
        raise InputError(
            "name", f"must have its file {name}.csv.gz in the package", "no such file", "Install dreval again."
        )
    names, *rows = (line.split(",") for line in gzip.decompress(file.read_bytes()).decode().splitlines())
    table = np.array(rows)
    labels = table[:, -1]
    classes = labels.astype(np.int64) if all(label.isdigit() for label in labels) else np.ascontiguousarray(labels)
    return Draw(table[:, :-1].astype(np.float64), labels=classes, feature_names=tuple(names[:-1]))
