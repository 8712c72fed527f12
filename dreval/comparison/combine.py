"""Combine results of one data set into one result, whose embeddings are compared at the same points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import describe
from dreval.errors import InputError
from dreval.geometry.same_map import equal_maps
from dreval.records.frames import full_name, groups_text, setting_names
from dreval.records.notes import Note, note
from dreval.records.results import Results

SHARED_SETTINGS = (
    *("metric", "embedding_metric", "anchors", "groups", "conf_level"),  # what results must have in common
)


def on_same_data(results: Sequence[Any]) -> bool:
    """Return whether all items are results of evaluations of the same data, by their hash."""
    are_results = len(results) > 0 and all(isinstance(result, Results) for result in results)
    return are_results and len({str(result.recipe.get("data_sha256", id(result))) for result in results}) == 1


def combined(results: Sequence[Results], labels: Sequence[str]) -> tuple[Results, tuple[Note, ...]]:
    """Return one result with the embeddings of results on the same data, and notes on what was changed.

    Parameters
    ----------
    results : list of Results
        At least one.
    labels : list of str
        The name of each result: an embedding whose name several results have gets it as a prefix.

    Raises
    ------
    InputError
        If the results differ in their metric, their anchors, their labels or the level of their intervals.
    """
    first = results[0]
    if len(results) == 1:
        return first, ()
    _check_shared(results)
    names, notes = _new_names(results, labels)
    has_one_seed = len({result.recipe.get("random_state") for result in results}) == 1
    notes += [] if has_one_seed else [note("combined.seeds")]

    def stacked(tables: Callable[[Results], pd.DataFrame]) -> pd.DataFrame:
        pairs = zip(results, names, strict=True)
        return pd.concat([_renamed(tables(result), new) for result, new in pairs], ignore_index=True)

    groups = stacked(lambda result: result.groups)
    table = stacked(lambda result: result.table).assign(dataset=first.recipe["dataset"])
    columns = setting_names(table)

    def by_embedding(values_of: Callable[[Results], Mapping[str, Any]]) -> dict[str, Any]:
        pairs = zip(results, names, strict=True)
        return {new[name]: value for result, new in pairs for name, value in values_of(result).items()}

    def in_columns(values_of: Callable[[Results], Mapping[str, pd.DataFrame]]) -> dict[str, pd.DataFrame]:
        """Return tables of points with the column names of the combined result."""
        return by_embedding(lambda result: _with_columns(values_of(result), setting_names(result.table), columns))

    embeddings = by_embedding(lambda result: result.embeddings)
    return Results(
        table=table,
        points=in_columns(lambda result: result.points),
        groups=groups if has_one_seed else groups.iloc[:0],
        embeddings=embeddings,
        labels=next((result.labels for result in results if result.labels is not None), None),
        ids=first.ids,
        recipe={**_recipe(results, names), "equal_maps": [list(group) for group in equal_maps(embeddings)]},
        data=next((result.data for result in results if result.data is not None), None),
        curves=stacked(lambda result: result.curves),
        notes=stacked(lambda result: result.notes),
        _left_out=in_columns(lambda result: result._left_out),
        _crossed=in_columns(lambda result: result._crossed) if has_one_seed else {},
        _data_neighbors=first._data_neighbors,
        _variables=next((result._variables for result in results if result._variables is not None), None),
        _palettes={key: colors for result in results for key, colors in result._palettes.items()},
    ), tuple(notes)


def _check_shared(results: Sequence[Results]) -> None:
    """Raise unless the values of all results are at the same points, by the same metric, with intervals alike."""
    for setting in SHARED_SETTINGS:
        values = [result.recipe.get(setting) for result in results]
        if any(value != values[0] for value in values):
            texts = [groups_text(value) or "none" if setting == "groups" else describe(value) for value in values]
            texts = list(dict.fromkeys(texts))
            received = " and ".join(texts) if len(texts) > 1 else f"{texts[0]} that differ"
            hint = f"Evaluate the embeddings with the same {setting}."
            raise InputError(
                "results", f"must have the same `{setting}` to be compared at the same points", received, hint
            )
    labels = [result.labels for result in results if result.labels is not None]
    if any(not np.array_equal(values, labels[0]) for values in labels):
        hint = "Evaluate the embeddings with the same labels."
        raise InputError("results", "must have the same labels", "different labels", hint)
    frames = [frame.dropna(how="all") for result in results for frame in result.points.values()]
    anchors = [frame.index for frame in frames if len(frame)]
    if results[0].recipe.get("anchors") and any(not np.array_equal(index, anchors[0]) for index in anchors):
        hint = "Evaluate the embeddings with the same random_state."
        raise InputError("results", "must have the same anchors", "anchors of different seeds", hint)


def _new_names(results: Sequence[Results], labels: Sequence[str]) -> tuple[list[dict[str, str]], list[Note]]:
    """Return the new name of each embedding of each result: its own, with a prefix if several results have it."""
    counts = pd.Series([name for result in results for name in result.names]).value_counts()
    new_names = [
        {name: name if counts[name] == 1 else f"{label}: {name}" for name in result.names}
        for result, label in zip(results, labels, strict=True)
    ]
    repeated = tuple(str(name) for name in counts.index[counts > 1])
    called = tuple(new[name] for name in repeated for new in new_names if name in new)
    every_name = [name for new in new_names for name in new.values()]
    if len(set(every_name)) < len(every_name):
        name = next(name for name in every_name if every_name.count(name) > 1)
        hint = "Evaluate the embeddings under different names."
        raise InputError("results", "must have embeddings with different names", f"{name!r} twice", hint)
    return new_names, [note("combined.renamed", names=repeated, called=called)] if repeated else []


def _renamed(table: pd.DataFrame, new: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with the new names of its embeddings."""
    names = {
        column: table[column].map(lambda name: new.get(name, name))
        for column in ("embedding", "scope")
        if column in table
    }
    return table.assign(**names)


def _with_columns(
    frames: Mapping[str, pd.DataFrame], old: Mapping[tuple[str, str], str], new: Mapping[tuple[str, str], str]
) -> dict[str, pd.DataFrame]:
    """Return tables of points whose columns are named as those of the combined result."""
    renaming = {column: new.get(key, full_name(*key)) for key, column in old.items()}
    return {name: frame.rename(columns=renaming) for name, frame in frames.items()}


def _recipe(results: Sequence[Results], names: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the recipe of the first result with the embeddings and the numbers of neighbors of all."""
    pairs = list(zip([result.recipe for result in results], names, strict=True))

    def by_embedding(key: str) -> dict[str, Any]:
        return {new[name]: value for recipe, new in pairs for name, value in (recipe.get(key) or {}).items()}

    return {
        **results[0].recipe,
        "n_neighbors": sorted({k for recipe, _ in pairs for k in recipe.get("n_neighbors", ())}),
        "sources": by_embedding("sources"),
        "intervals": by_embedding("intervals"),
        "reference": [new[name] for recipe, new in pairs for name in recipe.get("reference") or ()],
    }
