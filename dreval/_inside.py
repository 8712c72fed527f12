"""Checks that a file contains all of its data: no link, reference, virtual data set or storage leads to another file.

A file or folder may come from anyone. Nothing outside of it is read: neither a file of another user, whose numbers
would become part of a result, nor a pipe or a device, which never ends.
"""

from __future__ import annotations

import importlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dreval.errors import InputError

MAX_LINKS = 100_000  # links in a file of HDF5
MAX_DEPTH = 100  # groups within each other
REQUIREMENT = "must hold all of its data itself"
HINT = "If you trust it, read what it leads to yourself and pass the arrays."
HINT_FOLDER = "If you trust it, copy the folder with files in place of its links: cp -rL."
HINT_SPARSE = "If you trust it, read it, and pass adata.to_memory(), or the matrix: adata.X.to_memory()."
HINT_OPENED = "If you trust it, pass dask.array.from_array(array) in its place, or read it: array[:]."
LOCAL_STORES = {"LocalStore": "root", "DirectoryStore": "path", "NestedDirectoryStore": "path"}  # of zarr


def hdf5_objects(group: Any, file: str, argument: str, hint: str = HINT) -> Iterator[tuple[str, Any]]:
    """Yield the name and the object of a group of HDF5 and of every group and data set in it.

    A soft link is not followed: its target is an object of the file. If a group that is not the whole file has such a
    link, or a reference in an attribute, all of the file is visited. No data set is read, and its shape is read only
    after the check of its storage, since HDF5 opens the files of a virtual data set for its shape. The references in
    the attributes of an object are read after it was yielded.

    Raises
    ------
    InputError
        If a link, a virtual data set or external storage leads to another file, if a reference leads to an object
        that no link leads to, or if there are too many links.
    """
    h5py = importlib.import_module("h5py")
    n_links, visited, has_soft_links = 0, {_address(group)}, False
    stack = [("", group, 0)]
    yield "", group
    references = _referenced(group, "")  # addresses of objects, with the places of references to them
    while stack:
        prefix, parent, depth = stack.pop()
        n_links += len(parent)
        if n_links > MAX_LINKS or depth > MAX_DEPTH:
            requirement = f"must have at most {MAX_LINKS:,} links, in at most {MAX_DEPTH} groups within each other"
            raise InputError(
                argument, requirement, f"{file} with more", "Write the arrays that are needed to a new file."
            )
        names: list[bytes] = []
        parent.id.links.iterate(names.append)
        for name in map(os.fsdecode, names):
            path = f"{prefix}/{name}".lstrip("/")
            kind = parent.id.links.get_info(os.fsencode(name)).type
            if kind == h5py.h5l.TYPE_SOFT:
                has_soft_links = True
                continue
            if kind != h5py.h5l.TYPE_HARD:
                raise InputError(argument, REQUIREMENT, f"{file}, in which {path!r} is {_link(parent, name)}", hint)
            item = parent[name]
            if (address := _address(item)) in visited:
                continue
            visited.add(address)
            if isinstance(item, h5py.Dataset) and (storage := _external_storage(item)):
                raise InputError(argument, REQUIREMENT, f"{file}, in which {path!r} is {storage}", hint)
            if isinstance(item, h5py.Group):
                stack.append((path, item, depth + 1))
            yield path, item
            references |= _referenced(item, path)
        root = parent.file["/"]
        if (has_soft_links or references) and (address := _address(root)) not in visited:
            visited.add(address)
            stack.append(("", root, 0))
            yield "", root
            references |= _referenced(root, "")
    for address, place in references.items():
        if address not in visited:
            received = f"{file}, in which {place} refers to an object that has no name"
            raise InputError(argument, "must refer to its own objects only", received, "Write the file again.")


def _referenced(item: Any, path: str) -> dict[tuple[int, int] | None, str]:
    """Return the addresses of objects to which attributes of an object refer, with places; None for an invalid one."""
    h5py, places = importlib.import_module("h5py"), dict[tuple[int, int] | None, str]()
    for i in range(h5py.h5a.get_num_attrs(item.id)):
        attribute = h5py.h5a.open(item.id, index=i)
        if not attribute.get_type().detect_class(h5py.h5t.REFERENCE):
            continue
        name = os.fsdecode(attribute.name)
        for reference in filter(None, _references(item.attrs[name])):  # a null reference is false
            try:
                target = h5py.h5r.dereference(reference, item.id)
                info = h5py.h5o.get_info(target)
                address = info.fileno, info.addr
            except (KeyError, OSError, RuntimeError, TypeError, ValueError):  # errors of HDF5 in h5py
                address = None
            places[address] = f"the attribute {name!r} of {'/' + path!r}"
    return places


def _references(value: Any) -> Iterator[Any]:
    """Yield all references in the value of an attribute: in arrays, fields and lists of any length."""
    if isinstance(value, importlib.import_module("h5py").h5r.Reference):
        yield value
        return
    array = np.asarray(value)
    for name in array.dtype.names or ():
        yield from _references(array[name])
    if array.dtype.kind == "O":
        for cell in array.ravel().tolist():
            yield from _references(cell)


def _address(item: Any) -> tuple[int, int]:
    """Return the address of an object, which is the same for all links to it."""
    info = importlib.import_module("h5py").h5o.get_info(item.id)
    return info.fileno, info.addr


def _link(parent: Any, name: str) -> str:
    """Describe a link that is neither hard nor soft."""
    try:
        link = parent.get(name, getlink=True)
    except TypeError:
        return "a link of an unknown kind"
    return f"an external link to {link.filename!r}"


def _external_storage(dataset: Any) -> str | None:
    """Describe the storage of a data set of HDF5 if it is another file, else return None; its shape is not read."""
    layout = dataset.id.get_create_plist()
    if layout.get_external_count():
        return f"stored in the file {os.fsdecode(layout.get_external(0)[0])!r}"
    if layout.get_layout() == importlib.import_module("h5py").h5d.VIRTUAL:
        sources = [layout.get_virtual_filename(i) for i in range(layout.get_virtual_count())]
        return next((f"a virtual data set of {source!r}" for source in sources if source != "."), None)
    return None


def check_opened(value: Any, argument: str) -> None:
    """Check an array or group of HDF5 or zarr, or a sparse matrix of AnnData, that the caller has opened.

    The caller chose its path, and h5py has already followed the links to it. Its numbers must be in its own file, or
    for zarr in the regular files of its folder. A caller who trusts other files can pass an array of dask.
    """
    hint = HINT_OPENED
    if type(value).__module__.startswith("anndata") and getattr(value, "group", None) is not None:
        value, hint = value.group, HINT_SPARSE
    library, kind = type(value).__module__.split(".")[0], type(value).__name__
    if library == "h5py" and kind in ("Group", "File"):
        list(hdf5_objects(value, f"{value.file.filename!r}", argument, hint))
    elif library == "h5py" and kind == "Dataset":
        if storage := _external_storage(value):
            raise InputError(
                argument, REQUIREMENT, f"an array of {value.file.filename!r}, which is {storage}", HINT_OPENED
            )
        if value.is_virtual:  # of arrays of the same file
            check_opened(value.file, argument)
    elif library == "zarr" and (name := LOCAL_STORES.get(type(getattr(value, "store", None)).__name__)):
        check_folder(Path(getattr(value.store, name), value.path), argument)


def check_folder(path: Path, argument: str) -> None:
    """Check that a folder holds regular files and folders only: no symbolic links, pipes or devices.

    Hard links are allowed: backups and copies by ``cp -al`` and ``rsync --link-dest`` consist of them. They are no
    risk, since whoever creates one has access to the file, and archives and networks transfer its content.
    """
    folders = [path]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.is_symlink() or getattr(entry, "is_junction", bool)():
                received = (
                    f"{str(path)!r}, in which {_within(entry.path, path)!r} is a link to {os.readlink(entry.path)!r}"
                )
                raise InputError(argument, REQUIREMENT, received, HINT_FOLDER)
            if entry.is_dir():
                folders.append(Path(entry.path))
            elif not entry.is_file():
                received = f"{str(path)!r}, in which {_within(entry.path, path)!r} is a pipe or a device"
                raise InputError(argument, REQUIREMENT, received, "Write the folder again.")


def _within(path: str, folder: Path) -> str:
    """Return the path of a file within a folder."""
    return os.path.relpath(path, folder)


def is_regular(path: str | os.PathLike[str]) -> bool:
    """Return whether a path, with links followed, is a regular file."""
    return stat.S_ISREG(os.stat(path).st_mode)
