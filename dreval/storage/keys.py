"""The key of stored work: everything on which its numbers depend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dreval.inputs.data import Data
from dreval.inputs.source import digest, identity
from dreval.inputs.source_kinds import Source
from dreval.records.provenance import versions

VARIABLES = ("labels", "latent", "batch")  # of a data set, in addition to its numbers


def work_key(
    data: Data, source: Source, n_components: int | None, seed: int | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the key of a method on a data set, for stored embeddings and for the numbers computed from re-runs.

    It has the hash of the data, with the labels if the method is supervised, the method with its parameters and code,
    the number of components, the seed, the versions, and further ``settings``, which may replace these entries.
    """
    return {
        "data": data_key(data, ("labels",) if source.supervised else ()),
        "source": source_key(source),
        "n_components": n_components,
        "seed": seed,
        "versions": versions(),
        **settings,
    }


def data_key(data: Data, variables: Sequence[str] = VARIABLES) -> dict[str, Any]:
    """Return the size and the hash of a data set, and the hashes of some of its variables, or of all with groups."""
    values = {
        "labels": None if data.labels is None else data.labels.values.astype(str),
        "latent": data.latent,
        "batch": None if data.batch is None else data.batch.values.astype(str),
    }
    hashes = {name: None if values[name] is None else digest(values[name]) for name in variables}
    if data.groups is not None and variables == VARIABLES:
        hashes["groups"] = digest(data.groups.values.astype(str))
    return {"n": data.n, "p": data.p, "sha256": data.sha256, **hashes}


def source_key(source: Source) -> dict[str, str]:
    """Return kind, name, parameters and version of the code of a method; outside packages also the code itself."""
    return identity(source)
