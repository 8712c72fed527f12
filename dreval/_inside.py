"""Files that hold all of their data: no link, reference, virtual data set or storage in them leads to another file.

A file or folder may come from anyone. What it names outside of itself is never read: neither a file of another user,
whose numbers would become part of a result, nor a pipe or a device, which never ends.
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
RULE = "must hold all of its data itself"
CURE = "If you trust it, read what it leads to yourself and pass the arrays."
CURE_FOLDER = "If you trust it, copy the folder with files in place of its links: cp -rL."
CURE_SPARSE = "If you trust it, read it, and pass adata.to_memory(), or the matrix: adata.X.to_memory()."
CURE_OPENED = "If you trust it, pass dask.array.from_array(array) in its place, or read it: array[:]."
LOCAL_STORES = {"LocalStore": "root", "DirectoryStore": "path", "NestedDirectoryStore": "path"}  # of zarr


def hdf5_objects(group: Any, what: str, argument: str, cure: str = CURE) -> Iterator[tuple[str, Any]]:
    """Yield the name and the object of a group of HDF5 and of every group and data set in it.

    A link within the file is not followed: its target is an object of the file, and where there is such a link, or a
    reference in an attribute, in a group that is not the whole file, all of the file is visited. No data set is read,
    and its shape is not asked for before it is known to hold its own data: HDF5 opens the files of a virtual one for
    that. The references in the attributes of an object are read after it was yielded.

    Raises
    ------
    InputError
        If a link, a virtual data set or external storage leads to another file, if a reference leads to an object
        that no link leads to, or if there are too many links.
    """
    h5py = importlib.import_module("h5py")
    links, seen, left, beyond = 0, {_address(group)}, [("", group, 0)], False
    yield "", group
    named = _referenced(group, "")  # objects, and where references to them are
    while left:
        prefix, parent, depth = left.pop()
        links += len(parent)
        if links > MAX_LINKS or depth > MAX_DEPTH:
            rule = f"must have at most {MAX_LINKS:,} links, in at most {MAX_DEPTH} groups within each other"
            raise InputError(argument, rule, f"{what} with more", "Write the arrays that are needed to a new file.")
        names: list[bytes] = []
        parent.id.links.iterate(names.append)
        for name in map(os.fsdecode, names):
            path = f"{prefix}/{name}".lstrip("/")
            kind = parent.id.links.get_info(os.fsencode(name)).type
            if kind == h5py.h5l.TYPE_SOFT:
                beyond = True
                continue
            if kind != h5py.h5l.TYPE_HARD:
                raise InputError(argument, RULE, f"{what}, of which {path!r} is {_link(parent, name)}", cure)
            item = parent[name]
            if (address := _address(item)) in seen:
                continue
            seen.add(address)
            if isinstance(item, h5py.Dataset) and (where := storage_outside(item)):
                raise InputError(argument, RULE, f"{what}, of which {path!r} is {where}", cure)
            if isinstance(item, h5py.Group):
                left.append((path, item, depth + 1))
            yield path, item
            named |= _referenced(item, path)
        root = parent.file["/"]
        if (beyond or named) and (address := _address(root)) not in seen:
            seen.add(address)
            left.append(("", root, 0))
            yield "", root
            named |= _referenced(root, "")
    for address, place in named.items():
        if address not in seen:
            got = f"{what}, of which {place} refers to an object that has no name"
            raise InputError(argument, "must refer to its own objects only", got, "Write the file again.")


def _referenced(item: Any, path: str) -> dict[tuple[int, int] | None, str]:
    """The objects that references in the attributes of an object name, each with a place; None is one of no object."""
    h5py, found = importlib.import_module("h5py"), dict[tuple[int, int] | None, str]()
    for i in range(h5py.h5a.get_num_attrs(item.id)):
        attribute = h5py.h5a.open(item.id, index=i)
        if not attribute.get_type().detect_class(h5py.h5t.REFERENCE):
            continue
        name = os.fsdecode(attribute.name)
        for one in filter(None, _references(item.attrs[name])):  # a null reference is false
            try:
                target = h5py.h5r.dereference(one, item.id)
                about = h5py.h5o.get_info(target)
                address = about.fileno, about.addr
            except (KeyError, OSError, RuntimeError, TypeError, ValueError):  # in which h5py says what HDF5 does
                address = None
            found[address] = f"the attribute {name!r} of {'/' + path!r}"
    return found


def _references(value: Any) -> Iterator[Any]:
    """All references in the value of an attribute: in arrays, fields and lists of any length."""
    if isinstance(value, importlib.import_module("h5py").h5r.Reference):
        yield value
        return
    array = np.asarray(value)
    for name in array.dtype.names or ():
        yield from _references(array[name])
    if array.dtype.kind == "O":
        for one in array.ravel().tolist():
            yield from _references(one)


def _address(item: Any) -> tuple[int, int]:
    """The place of an object, which is the same for all links to it."""
    about = importlib.import_module("h5py").h5o.get_info(item.id)
    return about.fileno, about.addr


def _link(parent: Any, name: str) -> str:
    """A link that is neither hard nor soft, in words."""
    try:
        found = parent.get(name, getlink=True)
    except TypeError:
        return "a link of an unknown kind"
    return f"an external link to {found.filename!r}"


def storage_outside(dataset: Any) -> str | None:
    """Where the numbers of a data set of HDF5 come from, if that is another file; its shape is not asked for."""
    layout = dataset.id.get_create_plist()
    if layout.get_external_count():
        return f"stored in the file {os.fsdecode(layout.get_external(0)[0])!r}"
    if layout.get_layout() == importlib.import_module("h5py").h5d.VIRTUAL:
        sources = [layout.get_virtual_filename(i) for i in range(layout.get_virtual_count())]
        return next((f"a virtual data set of {one!r}" for one in sources if one != "."), None)
    return None


def check_opened(value: Any, argument: str) -> None:
    """Check an array or group of HDF5 or zarr, or a sparse matrix of AnnData, that the caller has opened.

    What led to it is the caller's choice, and h5py has followed its links already. Its numbers must lie in its own
    file, or for zarr in the regular files of its folder: who means other files says so by an array of dask.
    """
    cure = CURE_OPENED
    if type(value).__module__.startswith("anndata") and getattr(value, "group", None) is not None:
        value, cure = value.group, CURE_SPARSE
    library, kind = type(value).__module__.split(".")[0], type(value).__name__
    if library == "h5py" and kind in ("Group", "File"):
        list(hdf5_objects(value, f"{value.file.filename!r}", argument, cure))
    elif library == "h5py" and kind == "Dataset":
        if where := storage_outside(value):
            raise InputError(argument, RULE, f"an array of {value.file.filename!r}, which is {where}", CURE_OPENED)
        if value.is_virtual:  # of arrays of the same file
            check_opened(value.file, argument)
    elif library == "zarr" and (name := LOCAL_STORES.get(type(getattr(value, "store", None)).__name__)):
        check_folder(Path(getattr(value.store, name), value.path), argument)


def check_folder(path: Path, argument: str) -> None:
    """Check that a folder holds regular files and folders only: no symbolic links, pipes or devices.

    Hard links are files as all others: backups and copies by ``cp -al`` and ``rsync --link-dest`` consist of them, and
    none says where its other names are. They lead nowhere that the caller has not led: whoever makes one has access to
    the file, and no archive or network carries one to another machine without the content.
    """
    left = [path]
    while left:
        for entry in os.scandir(left.pop()):
            if entry.is_symlink() or getattr(entry, "is_junction", bool)():
                got = f"{str(path)!r}, of which {_within(entry.path, path)!r} is a link to {os.readlink(entry.path)!r}"
                raise InputError(argument, RULE, got, CURE_FOLDER)
            if entry.is_dir():
                left.append(Path(entry.path))
            elif not entry.is_file():
                got = f"{str(path)!r}, of which {_within(entry.path, path)!r} is a pipe or a device"
                raise InputError(argument, RULE, got, "Write the folder again.")


def _within(path: str, folder: Path) -> str:
    """The place of a file in a folder."""
    return os.path.relpath(path, folder)


def is_regular(path: str | os.PathLike[str]) -> bool:
    """Whether a path, followed through its links, is a regular file."""
    return stat.S_ISREG(os.stat(path).st_mode)
