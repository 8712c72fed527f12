"""Manifest of a protocol folder, by one declared schema: the fields of ``Manifest`` and ``Task`` with their checks.

A manifest is written, read and checked from these fields. It may come from anyone, and its paths are read and written:
besides the fields, ``_contradictions`` checks that no path leaves the folder and that the fields agree with each other.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from numbers import Integral
from typing import Any

import pandas as pd

from dreval._check import check_int, check_one_of, check_path, describe
from dreval.errors import DrevalError, InputError, ProtocolError
from dreval.geometry.kernels import RADIAL_KERNELS
from dreval.geometry.procrustes import MIN_REPLICATES, TRANSFORMATIONS, check_amplitude, transform_count
from dreval.inference.splitting import number_options
from dreval.measures.replicates import MIN_HALVED_POINTS
from dreval.protocol.folder import FORMATS, INPUTS, MANIFEST, MAX_SEED, RETURNED, TASKS, place_in, write_in
from dreval.significance.noise import NULLS

EXPORT_AGAIN = (
    "Or export again with the same data, settings and random_state (README.md names it): existing files are kept."
)
TASK_NAME = re.compile(r"[a-z]+(-[0-9]+)?")  # name of a task, and of its files without their suffix
ID_COLUMN = re.compile(r"[A-Za-z][\w.]{0,99}")  # name of the column of ids, which drivers copy into their code
NEW = "new"  # name of the files of new points
TASK_COLUMNS = ("task", "round", "input", "output", "n_components", "seed")  # of the table that drivers read

Check = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    """Return whether a value is text."""
    return isinstance(value, str)


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number that tools outside Python can represent."""
    return type(value) is int and 0 <= value < MAX_SEED


def matches(pattern: re.Pattern[str]) -> Check:
    """Return the check of a text that matches a pattern."""
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def is_list(check: Check, length: int | None = None) -> Check:
    """Return the check of a list of valid items, of any length or of one."""
    return lambda value: isinstance(value, list) and all(map(check, value)) and length in (None, len(value))


def is_none_or(check: Check) -> Check:
    """Return the check of a value that may be None."""
    return lambda value: value is None or check(value)


def is_dict(check: Check) -> Check:
    """Return the check of a dict of text to valid values."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def entry(check: Check, **settings: Any) -> Any:
    """Declare a field of the manifest with the check of its value; a field without a default is required."""
    return field(metadata={"check": check}, **settings)


@dataclass(frozen=True)
class Task:
    """One run of the tool.

    ``columns`` are the smallest and largest number of columns that may be returned; ``sha256`` is that of the input
    file, ``digest`` and ``sketch`` those of the numbers in it; ``place`` is point and column of a transformation, and
    ``rows`` the points of a part of the data, ascending.
    """

    task: str = entry(matches(TASK_NAME))
    round: int = entry(is_count)
    input: str = entry(is_text)
    output: str = entry(is_text)
    n_components: int = entry(is_count)
    seed: int = entry(is_count)
    columns: Sequence[int] = entry(is_list(is_count, 2))
    sha256: str = entry(is_text)
    digest: str = entry(is_text)
    sketch: Sequence[float] = entry(is_list(lambda value: isinstance(value, float)))
    place: Sequence[int] | None = entry(is_none_or(is_list(is_count, 2)), default=None)
    rows: Sequence[int] | None = entry(is_none_or(is_list(is_count)), default=None)


@dataclass(frozen=True)
class Manifest:
    """Facts of an export: names and ids of the data, settings, seed, versions, tasks, and the round.

    ``new`` are the files of new points, which the run of the data embeds too. They are no task: a tool that knows tasks
    alone would embed the new points by themselves.
    """

    format: str = entry(lambda value: value in FORMATS)
    round: int = entry(lambda value: type(value) is int and value in (1, 2))
    name: str = entry(is_text)
    ids: Sequence[str] = entry(is_list(is_text))
    id_column: str = entry(matches(ID_COLUMN))
    own_ids: bool = entry(lambda value: isinstance(value, bool))
    columns: Sequence[str] | None = entry(is_none_or(is_list(is_text)))
    settings: Mapping[str, Any] = entry(is_dict(lambda _: True))  # checked by check_settings
    random_state: int = entry(is_count)
    tasks: Sequence[Task] = entry(is_list(lambda task: isinstance(task, dict)))
    versions: Mapping[str, str] = entry(is_dict(is_text))
    base_sha256: str = entry(is_text, default="")
    new: Task | None = entry(is_none_or(lambda task: isinstance(task, dict)), default=None)  # noqa: RUF009 - a field
    new_ids: Sequence[str] = entry(is_list(is_text), default=())

    @property
    def n_components(self) -> int:
        """Number of columns of the embedding."""
        return int(self.settings["n_components"])

    @property
    def rounds(self) -> int:
        """Number of rounds: 2 with transformed data, otherwise 1."""
        return 1 if self.settings["n_transformations"] == 0 else 2

    @property
    def files(self) -> tuple[Task, ...]:
        """The tasks, and the files of new points."""
        return (*self.tasks, *([] if self.new is None else [self.new]))

    def ids_of(self, task: Task) -> list[str]:
        """Return the row names of a task, or of the new points."""
        if task.task == NEW:
            return list(self.new_ids)
        return list(self.ids) if task.rows is None else [self.ids[i] for i in task.rows]

    def write(self, folder: Any) -> None:
        """Write the manifest, and the list of tasks that drivers read."""
        table = pd.DataFrame([asdict(task) for task in self.tasks])[[*TASK_COLUMNS]]
        write_in(folder, TASKS, table.to_csv(index=False, lineterminator="\n"))
        body = {name: value for name, value in asdict(self).items() if self.new or name not in ("new", "new_ids")}
        write_in(folder, MANIFEST, json.dumps({"sha256": _body_hash(body), **body}, indent=1) + "\n")


def _body_hash(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


class DamagedManifest(ProtocolError):
    """Error for a manifest that is cut off or altered; exporting once more replaces it."""


def read_manifest(folder: Any) -> Manifest:
    """Return the manifest of a folder; raise if it is missing or altered."""
    path = place_in(check_path(folder, "folder"), MANIFEST)
    hint = "Name the folder that dreval.Protocol(...).export(folder) wrote; copy it back whole."
    if not path.is_file():
        raise ProtocolError(str(path), "must exist", "no such file", hint)
    requirement = "must be as it was exported"
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        is_exported = body.pop("sha256") == _body_hash(body)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedManifest(str(path), requirement, "no manifest of dreval", f"{hint} {EXPORT_AGAIN}") from error
    if not is_exported:
        raise DamagedManifest(str(path), requirement, "another content", f"{hint} {EXPORT_AGAIN}")
    faults = [*_invalid_fields(Manifest, body, "the manifest")]
    for number, task in enumerate(() if faults else body["tasks"], 1):
        faults += _invalid_fields(Task, task, f"task {number}")
    new = None if faults else body.get("new")
    faults += [] if new is None else _invalid_fields(Task, new, "the new points")
    if not faults:
        parts = {"tasks": tuple(Task(**task) for task in body["tasks"]), "new": None if new is None else Task(**new)}
        manifest = Manifest(**{**body, **parts})
        faults = [*_contradictions(manifest)]
    if faults:
        raise ProtocolError(str(path), requirement, faults[0], hint)
    return manifest


def _invalid_fields(kind: type, body: Mapping[str, Any], owner: str) -> Iterator[str]:
    """Yield the fields of a record that are unknown, missing or invalid by its declaration."""
    declared = {field.name: field for field in fields(kind)}
    yield from (f"the unknown field {name!r} of {owner}" for name in body if name not in declared)
    for name, declaration in declared.items():
        if name not in body and declaration.default is MISSING:
            yield f"no {name} of {owner}"
        elif name in body and not declaration.metadata["check"](body[name]):
            yield f"the {name} {describe(body[name])} of {owner}"


def _contradictions(manifest: Manifest) -> Iterator[str]:
    """Yield what no export writes although each field is valid, above all paths that leave the folder."""
    if manifest.id_column in (manifest.columns or ()):
        yield f"the id column {describe(manifest.id_column)}, which is a feature"
    if not manifest.tasks:
        yield "no tasks"
    try:
        same = check_settings(manifest.settings, len(manifest.ids)) == manifest.settings
        if manifest.settings["n_transformations"] != 0:
            transform_count(manifest.settings["n_transformations"], len(manifest.ids), 1)
    except DrevalError as error:
        yield f"the setting {error.argument}, which {error.requirement}"
    except (KeyError, TypeError, ValueError, OverflowError):
        yield "settings that are none"
    else:
        if not same:
            yield "other settings than those of a protocol"
        else:  # with a run at full dimension, unless the embedding has as many dimensions as the data
            counts = [manifest.settings.get("splits", 0)]
            counts += [manifest.settings[name] for name in ("n_replicates", "seeds", "halves", "noise")]
            least = 1 + sum(counts) + (counts[-1] > 0)
            if (runs := sum(task.round == 1 for task in manifest.tasks)) not in (least, least + 1):
                yield f"{runs} tasks of the first round"
    if any(task.task == NEW for task in manifest.tasks) or (manifest.new is not None and manifest.new.task != NEW):
        yield "the new points among the tasks"
    if manifest.new is not None and (not manifest.new_ids or manifest.new.rows is not None):
        yield "the rows of the new points"
    for task in manifest.files:
        suffix, rows = f".{manifest.format}", list(task.rows or ())
        if task.output != f"{RETURNED}/{task.task}{suffix}":
            yield f"the output {task.output!r} of the task {task.task!r}"
        stem = task.input.removeprefix(f"{INPUTS}/").removesuffix(suffix)
        if task.input != f"{INPUTS}/{stem}{suffix}" or not TASK_NAME.fullmatch(stem):
            yield f"the input {task.input!r} of the task {task.task!r}"
        if rows != sorted(set(rows)) or (rows and rows[-1] >= len(manifest.ids)):
            yield f"the rows of the task {task.task!r}"


def check_settings(settings: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Return the checked settings of a protocol of n points; those of stability as its analysis requires them."""
    for name in ("seeds", "halves"):
        count = settings[name]
        is_integer = isinstance(count, Integral) and not isinstance(count, bool)
        if not is_integer or (count != 0 and count < MIN_REPLICATES):
            requirement = f"must be a whole number, 0 or at least {MIN_REPLICATES}, as stability needs"
            raise InputError(name, requirement, describe(count), f"Pass {MIN_REPLICATES} or more, or leave {name} out.")
    if settings["halves"] and n < MIN_HALVED_POINTS:
        requirement = f"must be 0 for fewer than {MIN_HALVED_POINTS} points"
        raise InputError("halves", requirement, f"{settings['halves']} halves of {n} points", "Use seeds=.")
    splits = check_int(settings.get("splits", 0), "splits", low=0)
    if 0 < splits < MIN_REPLICATES:
        hint = f"Pass {MIN_REPLICATES} or more, or leave splits out."
        raise InputError("splits", f"must be 0 or at least {MIN_REPLICATES}", str(splits), hint)
    return {
        "n_components": check_int(settings["n_components"], "n_components", low=1, high=n),
        "transformation": check_one_of(settings["transformation"], TRANSFORMATIONS, "transformation", aliases=True),
        "amplitude": check_amplitude(settings["amplitude"]),
        "n_transformations": settings["n_transformations"],
        "kernel": check_one_of(settings["kernel"], RADIAL_KERNELS, "kernel", aliases=True),
        "n_replicates": check_int(settings["n_replicates"], "n_replicates", low=0),
        "noise": check_int(settings["noise"], "noise", low=0),
        "null": check_one_of(settings["null"], NULLS, "null", aliases=True),
        "seeds": int(settings["seeds"]),
        "halves": int(settings["halves"]),
        **({"splits": splits} if splits else {}),  # which folders of earlier versions do not have
        **({"split": number_options(settings["split"])} if settings.get("split") else {}),
    }
