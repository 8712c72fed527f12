"""Files and folders that refer to other files: links, virtual data sets, external storage, pipes.

Each function writes into a new folder; the target is in another folder. ``ATTACKS`` lists them all:

.venv/bin/python tests/led_outside.py     error, seconds and peak of memory of each
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SECRET = 4242.0  # the first number outside
N, P = 30, 3
SECONDS = 40.0  # after which reading does not end
PARTS = ("X", "obsm/X_pca", "layers/counts", "obs/kind", "obs/score", "raw/X", "uns/more")
GROUPS = ("obsm", "layers", "obs", "var", "raw")
ATTACKS: dict[str, tuple[Callable[[Path, Path], None], str]] = {}  # the writer, and the name of its file


def attack(name: str, file: str) -> Callable[..., Any]:
    """Add a function that writes ``file`` into the first folder, and the target of its links into the second one."""

    def added(write: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
        ATTACKS[name] = (write, file)
        return write

    return added


def cells() -> Any:
    """Return AnnData with every part that can be read."""
    import anndata
    import pandas as pd

    rng = np.random.default_rng(0)
    names = [f"cell{i}" for i in range(N)]
    obs = pd.DataFrame({"kind": list("abc") * 10, "score": rng.normal(size=N)}, index=names)
    result = anndata.AnnData(rng.normal(size=(N, P)), obs=obs)
    result.raw = result.copy()
    result.obsm["X_pca"], result.layers["counts"] = rng.normal(size=(N, 2)), rng.poisson(3, size=(N, P)).astype(float)
    result.uns["more"] = rng.normal(size=5)
    return result


def secret(shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers that occur nowhere else."""
    return SECRET + np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)


def outside(folder: Path, shape: tuple[int, ...]) -> Path:
    """A file of HDF5 with the secret."""
    import h5py

    with h5py.File(folder / "secret.h5", "w") as file:
        file["secret"] = secret(shape)
    return folder / "secret.h5"


def external_link(parent: Any, name: str, dataset: Any, folder: Path) -> None:
    import h5py

    parent[name] = h5py.ExternalLink(str(outside(folder, dataset.shape)), "secret")


def virtual(parent: Any, name: str, dataset: Any, folder: Path) -> None:
    import h5py

    layout = h5py.VirtualLayout(dataset.shape, np.float64)
    layout[:] = h5py.VirtualSource(str(outside(folder, dataset.shape)), "secret", shape=dataset.shape)
    parent.create_virtual_dataset(name, layout)


def unlimited_virtual(parent: Any, name: str, dataset: Any, folder: Path) -> None:
    """Write a virtual data set with the shape of its source: reading the shape opens the other file."""
    import h5py

    with h5py.File(folder / "secret.h5", "w") as file:
        file.create_dataset(
            "secret", data=secret(dataset.shape), maxshape=(None, *dataset.shape[1:]), chunks=dataset.shape
        )
    layout = h5py.VirtualLayout(dataset.shape, np.float64, maxshape=(None, *dataset.shape[1:]))
    source = h5py.VirtualSource(folder / "secret.h5", "secret", dataset.shape, maxshape=(None, *dataset.shape[1:]))
    layout[: h5py.h5s.UNLIMITED] = source[: h5py.h5s.UNLIMITED]
    parent.create_virtual_dataset(name, layout)


def storage(parent: Any, name: str, dataset: Any, folder: Path) -> None:
    secret(dataset.shape).tofile(folder / "secret.raw")
    size = int(np.prod(dataset.shape)) * 8
    parent.create_dataset(name, dataset.shape, np.float64, external=[(str(folder / "secret.raw"), 0, size)])


def behind_a_group(parent: Any, name: str, dataset: Any, folder: Path) -> None:
    """A soft link through a group that is an external link."""
    import h5py

    with h5py.File(folder / "secret.h5", "w") as file:
        file["group/secret"] = secret(dataset.shape)
    parent.file.require_group("uns")["way"] = h5py.ExternalLink(str(folder / "secret.h5"), "group")
    parent[name] = h5py.SoftLink("/uns/way/secret")


KINDS = {
    "an external link": external_link,
    "a virtual data set": virtual,
    "a virtual data set of any length": unlimited_virtual,
    "external storage": storage,
    "a soft link behind an external one": behind_a_group,
}


def _h5ad_part(part: str, kind: str) -> None:
    @attack(f"h5ad: {part} is {kind}", "cells.h5ad")
    def write(folder: Path, outside: Path) -> None:
        import h5py

        cells().write_h5ad(folder / "cells.h5ad")
        with h5py.File(folder / "cells.h5ad", "r+") as file:
            parent, _, name = file, *part.rpartition("/")[1:]
            parent = file[part.rpartition("/")[0]] if "/" in part else file
            old, about = parent[name], dict(parent[name].attrs)
            old = old["codes"] if isinstance(old, h5py.Group) else old
            about = {"encoding-type": "array", "encoding-version": "0.2.0"}
            del parent[name]
            KINDS[kind](parent, name, old, outside)
            if name in parent and parent.get(name, getclass=True, getlink=True) is h5py.HardLink:
                parent[name].attrs.update(about)
        if kind != "external storage":
            with h5py.File(outside / next(iter(os.listdir(outside))), "r+") as file:
                result = file["secret"] if "secret" in file else file["group/secret"]
                result.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


def _reference(kind: str, wrapped: str) -> None:
    @attack(f"h5ad: a reference {wrapped} to {kind} without a name", "cells.h5ad")
    def write(folder: Path, outside: Path) -> None:
        """Write a copy of an open file, whose object without a name is not removed yet; old AnnData has such
        references.
        """
        import h5py

        cells().write_h5ad(outside / "cells.h5ad")
        with h5py.File(outside / "cells.h5ad", "r+") as file:
            old = file["obs/kind/codes"][:]
            del file["obs/kind"]
            result = file["obs"].create_dataset("kind", data=old)
            file["obs"].attrs["encoding-version"] = "0.1.0"
            KINDS[kind](file, "hidden", np.zeros(3), outside)
            hidden = file["hidden"]
            target = hidden.regionref[:2] if wrapped == "of a region" else hidden.ref
            result.attrs["categories"] = _wrapped(target, wrapped)
            del file["hidden"]
            file.flush()
            shutil.copy(outside / "cells.h5ad", folder)
            del hidden


def _wrapped(reference: Any, how: str) -> Any:
    """A reference as the value of an attribute."""
    import h5py

    if how == "in an array":
        return np.array([None, reference], h5py.ref_dtype)
    if how == "in fields":
        return np.array([(1, reference)], [("a", int), ("b", h5py.ref_dtype)])
    return reference


def _h5ad_group(part: str) -> None:
    @attack(f"h5ad: all of {part} is an external link", "cells.h5ad")
    def write(folder: Path, outside: Path) -> None:
        import h5py

        for location in (folder, outside):
            cells().write_h5ad(location / "cells.h5ad")
        with h5py.File(folder / "cells.h5ad", "r+") as file:
            del file[part]
            file[part] = h5py.ExternalLink(str(outside / "cells.h5ad"), f"/{part}")


def _zarr_part(part: str) -> None:
    def chunk_of(folder: Path) -> Path:
        names = [path for path in sorted((folder / "cells.zarr" / part).rglob("*")) if path.is_file()]
        return next(path for path in names if path.name[0] != "." and path.suffix != ".json")

    @attack(f"zarr: a chunk of {part} is a link", "cells.zarr")
    def linked(folder: Path, outside: Path) -> None:
        cells().write_zarr(folder / "cells.zarr")
        chunk = chunk_of(folder)
        shutil.move(chunk, outside / "secret")
        chunk.symlink_to(outside / "secret")

    @attack(f"zarr: {part} is a link", "cells.zarr")
    def linked_folder(folder: Path, outside: Path) -> None:
        cells().write_zarr(folder / "cells.zarr")
        shutil.move(folder / "cells.zarr" / part, outside / "secret")
        (folder / "cells.zarr" / part).symlink_to(outside / "secret")

    @attack(f"zarr: the metadata of {part} are a link", "cells.zarr")
    def linked_metadata(folder: Path, outside: Path) -> None:
        cells().write_zarr(folder / "cells.zarr")
        names = ("zarr.json", ".zarray", ".zgroup", ".zattrs")
        path = next(p for name in names if (p := folder / "cells.zarr" / part / name).exists())
        shutil.move(path, outside / path.name)
        path.symlink_to(outside / path.name)

    @attack(f"zarr: a chunk of {part} is a pipe", "cells.zarr")
    def pipe(folder: Path, outside: Path) -> None:
        cells().write_zarr(folder / "cells.zarr")
        chunk = chunk_of(folder)
        chunk.unlink()
        os.mkfifo(chunk)

    @attack(f"zarr: a chunk of {part} is a link to a device", "cells.zarr")
    def device(folder: Path, outside: Path) -> None:
        cells().write_zarr(folder / "cells.zarr")
        chunk = chunk_of(folder)
        chunk.unlink()
        chunk.symlink_to("/dev/zero")


for _part in PARTS:
    for _kind in KINDS:
        _h5ad_part(_part, _kind)
    _zarr_part(_part)
for _kind in ("a virtual data set", "external storage"):
    for _how in ("alone", "in an array", "in fields", "of a region"):
        _reference(_kind, _how)
for _part in GROUPS:
    _h5ad_group(_part)


@attack("zarr: chunks above the folder", "x.zarr")
def _above(folder: Path, outside: Path) -> None:
    """The separator of the numbers of a chunk leads out of the folder."""
    about = {"zarr_format": 2, "shape": [N, P], "chunks": [N, P], "dtype": "<f8", "compressor": None, "fill_value": 0}
    about |= {"order": "C", "filters": None, "dimension_separator": f"/../../../{outside.name}/secret"}
    (folder / "x.zarr" / "0").mkdir(parents=True)
    (folder / "x.zarr" / ".zarray").write_text(json.dumps(about))
    secret((N, P)).tofile(outside / "secret0")


@attack("zarr: a reference store", "x.zarr")
def _reference_store(folder: Path, outside: Path) -> None:
    """A file that names the places of chunks, as kerchunk writes it."""
    secret((N, P)).tofile(outside / "secret")
    about = {"zarr_format": 2, "shape": [N, P], "chunks": [N, P], "dtype": "<f8", "compressor": None, "fill_value": 0}
    refs = {".zarray": json.dumps(about | {"order": "C", "filters": None}), "0.0": [str(outside / "secret")]}
    (folder / "x.zarr").write_text(json.dumps({"version": 1, "refs": refs}))


@attack("zarr: metadata of all parts that name another folder", "cells.zarr")
def _consolidated(folder: Path, outside: Path) -> None:
    """Add an array to the consolidated metadata that has no metadata file."""
    cells().write_zarr(folder / "cells.zarr")
    metadata = folder / "cells.zarr" / "zarr.json"
    path = metadata if metadata.exists() else folder / "cells.zarr" / ".zmetadata"
    about = json.loads(path.read_text())
    parts = about["consolidated_metadata"]["metadata"] if metadata.exists() else about["metadata"]
    key = "X" if metadata.exists() else "X/.zarray"
    parts[f"obsm/../../../{outside.name}/{key}"] = parts[key]
    parts[key]["shape"] = [10**6, 10**6]
    path.write_text(json.dumps(about))


RUN = """
import json, resource, sys, time, warnings
import numpy as np, pandas, scipy.sparse
import anndata, h5py, zarr
import dreval
from dreval.inputs import files
from dreval.inputs.data import as_data
warnings.simplefilter("ignore")
as_data(np.random.default_rng(0).normal(size=(50, 3)))
path, mode = sys.argv[1:]
files.MIN_BLOCKWISE_BYTES = 0 if mode == "blocks" else files.MIN_BLOCKWISE_BYTES
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
try:
    kinds = {}
    if path.endswith("cells.h5ad") or path.endswith("cells.zarr"):
        kinds = {"labels": "kind"}
    data = as_data(path, **kinds)
    X = np.asarray(data.dense())
    read = [X, *(np.asarray(one) for one in data.obsm.values())]
    if kinds:
        read += [as_data(path, layer=name).dense() for name in ("counts", "raw")]
        read += [pandas.Series(as_data(path, covariates="score").covariates["score"]).to_numpy()]
    told = ["read the secret" if any((np.asarray(one, float) == 4242).any() for one in read) else "read", ""]
except BaseException as error:
    told = [type(error).__name__, str(error)]
more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([*told, time.perf_counter() - began, more / 1024]))
"""


def measure(name: str, folder: Path, mode: str = "whole") -> tuple[str, str, float, float]:
    """Return the kind of the error (or "read"), its text, the seconds, and the growth of the peak in MiB."""
    write, file = ATTACKS[name]
    inner, outside = folder / "inner", folder / "other"
    inner.mkdir(parents=True)
    outside.mkdir()
    write(inner, outside)
    command = [sys.executable, "-c", RUN, str(inner / file), mode]
    limits = (resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            preexec_fn=lambda: resource.setrlimit(*limits),
        )
    except subprocess.TimeoutExpired:
        return "did not end", "", SECONDS, 0.0
    if done.returncode or not done.stdout.strip():
        return f"process ended with {done.returncode}", done.stderr[-200:], 0.0, 0.0
    kind, text, seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return kind, text.replace(str(folder), ""), seconds, memory


if __name__ == "__main__":
    began = time.perf_counter()
    chosen = [name for name in ATTACKS if not sys.argv[1:] or any(part in name for part in sys.argv[1:])]
    for name in chosen:
        for mode in ("whole", "blocks"):
            with tempfile.TemporaryDirectory() as location:
                kind, text, seconds, memory = measure(name, Path(location), mode)
                print(f"{name} | {mode} | {kind}: {text[:200]} | {seconds:.2f} s | {memory:.1f} MiB", flush=True)
