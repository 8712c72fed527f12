"""What of an AnnData object is meant: X, a layer, the raw counts or an array of obsm; with names and columns of obs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_unmasked, nearest_name
from dreval.errors import InputError, UnknownName
from dreval.inputs._paths import split_member

__all__ = ["Annotated", "annotated", "is_anndata", "stored_anndata"]

OBSM = "obsm:"


@dataclass(frozen=True, eq=False)
class Annotated:
    """A matrix of an AnnData object, the names of its columns, and what is known of its rows."""

    matrix: Any
    columns: Any
    names: pd.Index[Any]
    obs: pd.DataFrame
    obsm: Mapping[str, Any]


def is_anndata(value: Any) -> bool:
    """Whether a value looks like an AnnData object."""
    return all(hasattr(value, name) for name in ("X", "obs", "obsm", "obs_names"))


def stored_anndata(value: object) -> bool:
    """Whether a value is the path of a .h5ad file, with or without what is named in it."""
    return isinstance(value, str | os.PathLike) and split_member(os.fspath(value))[0].lower().endswith(".h5ad")


def annotated(value: Any, argument: str, layer: str | None) -> Annotated:
    """The matrix that ``layer`` names: None is X, "raw" is ``raw.X``, "obsm:key" an array of obsm, else a layer."""
    matrix, columns = _meant(value, argument, layer)
    if hasattr(matrix, "to_memory"):  # a sparse matrix that still lies in its file
        matrix = matrix.to_memory()
    if not isinstance(matrix, pd.DataFrame) and not hasattr(matrix, "tocsr"):
        matrix = np.asarray(
            check_unmasked(matrix, argument)
        )  # also of views, and of arrays that still lie in their file
    return Annotated(matrix, columns, pd.Index(value.obs_names), pd.DataFrame(value.obs), dict(value.obsm))


def _meant(value: Any, argument: str, layer: str | None) -> tuple[Any, Any]:
    """The matrix meant, and the names of its columns where they are features by name."""
    layers, raw = dict(getattr(value, "layers", None) or {}), getattr(value, "raw", None)
    names = getattr(value, "var_names", None)
    if layer is None and value.X is None:
        cure = f"Name one: {_spelled(value, layers)}."
        raise InputError(argument, "must have values in X", "an AnnData object without X", cure)
    if layer is None or layer in layers:
        return (value.X if layer is None else layers[layer]), names
    if layer == "raw" and raw is not None:
        return raw.X, raw.var_names
    if layer.startswith(OBSM) and layer.removeprefix(OBSM) in value.obsm:
        return value.obsm[layer.removeprefix(OBSM)], None
    raise _unknown(value, layers, layer)


def _spelled(value: Any, layers: Mapping[str, Any]) -> str:
    """All that ``layer`` may name."""
    known = [*sorted(layers), *(["raw"] if getattr(value, "raw", None) is not None else [])]
    return ", ".join(f"layer={name!r}" for name in [*known, *(f"{OBSM}{key}" for key in sorted(value.obsm))]) or "none"


def _unknown(value: Any, layers: Mapping[str, Any], layer: str) -> UnknownName:
    """The error for a name of nothing; a key of obsm is written with its word before it."""
    options = [*layers, *(f"{OBSM}{key}" for key in value.obsm)]
    near = f"{OBSM}{layer}" if layer in value.obsm else nearest_name(layer, options)
    cure = (f"Did you mean {near!r}? " if near else "") + f"Known: {_spelled(value, layers)}."
    return UnknownName("layer", "must be a layer of the AnnData object, 'raw' or 'obsm:key'", repr(layer), cure)
