"""The base class of records: methods that forward, read-only attributes, and atomic writes of files."""

from __future__ import annotations

import errno
import inspect
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from dreval._check import attribute_error, keywords_checked
from dreval.errors import DrevalError, InputError

# The methods of records whose functions are in higher folders, each with that function.
#
# Only this table names modules of higher folders: a record prints, draws and compares itself for its user's
# convenience. Code of the package calls the functions, never these methods.

FORWARDED_METHODS = {
    "Certificate.summary": "dreval.report.contents.tests:certificate_summary",
    "Certificate.verdict": "dreval.report.contents.tests:certificate_verdict",
    "Comparison.bibtex": "dreval.report.contents.methods:bibtex",
    "Comparison.paragraph": "dreval.report.contents.paragraph:paragraph",
    "Comparison.plot": "dreval.report.plot:plot_comparison",
    "Comparison.report": "dreval.report.comparison_reports:write_comparison",
    "Comparison.summary": "dreval.report.contents.comparison:comparison_summary",
    "CostEstimate.summary": "dreval.report.contents.record_summaries:cost_summary",
    "Dataset.summary": "dreval.report.contents.record_summaries:dataset_summary",
    "Embedding.embedding_map": "dreval.geometry.kernels:embedding_map",
    "Embedding.reconstruction_map": "dreval.geometry.kernels:reconstruction_map",
    "Embedding.summary": "dreval.report.contents.record_summaries:embedding_summary",
    "Evaluation.summary": "dreval.report.contents.record_summaries:evaluation_preview",
    "IndependenceTest.plot": "dreval.report.figures.nulls:null_histogram",
    "IndependenceTest.summary": "dreval.report.contents.tests:test_summary",
    "IntrinsicDimension.plot": "dreval.report.figures.curves:draw_intrinsic_dimension",
    "IntrinsicDimension.summary": "dreval.report.contents.record_summaries:intrinsic_dimension_summary",
    "KernelMap.summary": "dreval.report.contents.record_summaries:map_summary",
    "LocalDistortion.summary": "dreval.report.contents.record_summaries:scores_summary",
    "MeasureRecord.summary": "dreval.report.contents.record_summaries:measure_summary",
    "Method.summary": "dreval.report.contents.record_summaries:method_summary",
    "ParallelAnalysis.plot": "dreval.report.figures.curves:draw_parallel_analysis",
    "ParallelAnalysis.summary": "dreval.report.contents.record_summaries:parallel_analysis_summary",
    "PerplexityCurve.plot": "dreval.report.figures.curves:draw_perplexity_curve",
    "PerplexityCurve.summary": "dreval.report.contents.record_summaries:perplexity_summary",
    "PerturbationScore.summary": "dreval.report.contents.record_summaries:scores_summary",
    "PointScores.plot": "dreval.report.figures.maps:scores_map",
    "ProtocolStatus.summary": "dreval.report.contents.record_summaries:protocol_summary",
    "NoiseTest.plot": "dreval.report.figures.maps:noise_map",
    "NoiseTest.summary": "dreval.report.contents.tests:noise_summary",
    "Results.bibtex": "dreval.report.contents.methods:bibtex",
    "Results.certificate": "dreval.significance._certificate:certify",
    "Results.compare": "dreval.comparison.compare:compare",
    "Results.data": "dreval.inputs.data:as_data",
    "Results.paragraph": "dreval.report.contents.paragraph:paragraph",
    "Results.plot": "dreval.report.plot:plot",
    "Results.ranking": "dreval.comparison.compare:ranking",
    "Results.report": "dreval.report.page:write_report",
    "Results.save": "dreval.records.archive:save_results",
    "Results.summary": "dreval.report.contents.evaluation:summarize",
    "Results.to_anndata": "dreval.records.results:write_to_anndata",
    "Results.to_html": "dreval.report.contents.evaluation:to_html",
    "Results.to_latex": "dreval.report.contents.evaluation:to_latex",
    "Results.to_markdown": "dreval.report.contents.evaluation:to_markdown",
    "Sensitivity.plot": "dreval.report.figures._lines:sensitivity_curve",
    "Sensitivity.summary": "dreval.report.contents.tests:sensitivity_summary",
    "SingularityScore.summary": "dreval.report.contents.record_summaries:scores_summary",
    "Stability.plot": "dreval.report.figures.maps:stability_figure",
    "Stability.summary": "dreval.report.contents.record_summaries:measure_summary",
    "Study.plot": "dreval.report.plot:plot_study",
    "Study.report": "dreval.report.comparison_reports:write_study",
    "StudyStatus.summary": "dreval.report.contents.record_summaries:study_summary",
    "Sweep.plot": "dreval.report.figures.curves:draw_sweep",
    "Sweep.report": "dreval.report.comparison_reports:write_sweep",
    "Sweep.save": "dreval.records.archive:save_sweep",
    "Sweep.summary": "dreval.report.contents.record_summaries:sweep_summary",
}


def call_forwarded(method: str, *arguments: Any, **options: Any) -> Any:
    """Call the function behind a method of a record; its module is imported only now."""
    return forwarded_function(method)(*arguments, **options)


def forwarded_function(method: str) -> Any:
    """Return the function behind a method of a record."""
    module, _, name = FORWARDED_METHODS[method].partition(":")
    return getattr(import_module(module), name)


class Summary(Protocol):
    """A printed result: ``str()`` gives text for 80 columns, the other methods the same content in other formats."""

    def as_text(self) -> str:
        """Return plain text, for a terminal of 80 columns."""
        ...

    def as_markdown(self) -> str:
        """Return Markdown, with the tables of GitHub."""
        ...

    def as_html(self) -> str:
        """Return a part of a page."""
        ...

    def as_latex(self, label: str | None = None) -> str:
        """Return tables with captions and labels, for a LaTeX document."""
        ...


@keywords_checked
class Record:
    """A computed result: ``print`` shows its summary, and a notebook shows it as HTML."""

    def summary(self) -> Summary:
        """Return the printed form of the record.

        Returns
        -------
        Summary
            ``str()`` of it is text for 80 columns; ``as_html()``, ``as_latex()``, ``as_markdown()`` give other formats.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> str(dreval.embed(X, "pca").summary()).splitlines()[0].strip()
        'Embedding'
        """
        summary: Summary = call_forwarded(f"{type(self).__name__}.summary", self)
        return summary

    if not TYPE_CHECKING:  # type checkers should still report missing attributes

        def __getattr__(self, name: str) -> Any:
            raise attribute_error(self, name)

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()


# Records that cannot be changed: their attributes return protected views or copies.

RecordClass = TypeVar("RecordClass", bound=type)


def read_only_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view of an array that cannot be written to; the array itself does not change."""
    view = array.view()
    view.flags.writeable = False
    return view


def read_only(record: RecordClass) -> RecordClass:
    """Decorate a frozen dataclass so that the caller cannot change the contents of its public attributes.

    Attributes return arrays as read-only views, tables as copies that share their memory until they are written to,
    dicts of arrays and tables as read-only mappings, and other dicts and lists, at any depth, as read-only dicts and
    lists. An access takes the same time whatever the size. Internal attributes (with an underscore) are not protected.
    With pandas before version 3 tables are copied as a whole, but for the names of rows.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @read_only
    ... @dataclass(frozen=True)
    ... class Example:
    ...     values: np.ndarray
    >>> Example(np.zeros(2)).values[0] = 1
    Traceback (most recent call last):
    ...
    ValueError: assignment destination is read-only
    """
    text = inspect.cleandoc(record.__doc__ or "")
    for field in fields(record):
        if not field.name.startswith("_"):
            entry = re.search(rf"^(?:\w+, )*{field.name}(?:, \w+)* : .*(?:\n    .*)*", text, re.MULTILINE)
            setattr(record, field.name, _ProtectedAttribute(field.name, entry[0] if entry else ""))
    record.__setstate__ = _restore_state  # type: ignore[attr-defined]
    return keywords_checked(record)


def _restore_state(record: Any, state: dict[str, Any]) -> None:
    """Fill a record that was pickled or copied."""
    vars(record).update({name: value if name.startswith("_") else _frozen_copy(value) for name, value in state.items()})


class _ProtectedAttribute:
    """An attribute of a record. Its value is in the record's ``__dict__``; access returns a protected view."""

    def __init__(self, name: str, entry: str) -> None:
        self.name = name
        self.__doc__ = entry  # of the class docstring: what help(Record.attribute) prints

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        if record is None:
            return self
        try:
            value = vars(record)[self.name]
        except KeyError:
            raise AttributeError(f"{type(record).__name__!r} object has no attribute {self.name!r}") from None
        return _protected_view(value)

    def __set__(self, record: Any, value: Any) -> None:
        """Set the value. Only ``__init__`` calls this: a frozen dataclass refuses all other assignments."""
        vars(record)[self.name] = _frozen_copy(value)


def _frozen_copy(value: Any) -> Any:
    """Return a value as a record stores it: dicts, lists and tuples are copies that cannot be changed."""
    if isinstance(value, _ProtectedItems):
        return value
    if isinstance(value, Mapping):
        if any(isinstance(item, np.ndarray) or hasattr(item, "iloc") or is_dataclass(item) for item in value.values()):
            return _ProtectedItems(dict(value))
        return FixedDict({key: _frozen_copy(item) for key, item in value.items()})
    if isinstance(value, list):
        return FixedList(map(_frozen_copy, value))
    if isinstance(value, tuple):
        parts = tuple(map(_frozen_copy, value))
        return type(value)(*parts) if hasattr(value, "_fields") else parts
    return _protected_view(value) if isinstance(value, np.ndarray) else value


def _protected_view(value: Any) -> Any:
    """Return a protected view, so that callers cannot modify the record."""
    if isinstance(value, np.ndarray):
        return read_only_array(value)
    if hasattr(value, "iloc"):
        import pandas as pd

        return value.copy(deep=int(pd.__version__.partition(".")[0]) < 3)
    if getattr(value, "format", "") in ("csr", "csc") and hasattr(value, "indptr"):
        parts = tuple(read_only_array(part) for part in (value.data, value.indices, value.indptr))
        return type(value)(parts, shape=value.shape)
    return value


class _ProtectedItems(Mapping[str, Any]):
    """A dict of arrays, tables or records, each protected when it is looked up."""

    def __init__(self, items: dict[str, Any]) -> None:
        self._values = items

    def __getitem__(self, name: str) -> Any:
        value = self._values[name]
        stored = hasattr(value, "__array__") and hasattr(value, "__getitem__") and not hasattr(value, "iloc")
        if stored and not isinstance(value, np.ndarray):  # a table that is not in memory is read on access
            value = np.asarray(value)
        return _protected_view(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


def _refuse_change(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise for a change, as a tuple and a mappingproxy do."""
    raise TypeError(
        f"this {type(self).__mro__[1].__name__} belongs to a record, which cannot be changed; copy it first"
    )


class FixedDict(dict[str, Any]):
    """A dict that cannot be changed; a copy of it can."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse_change

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return deepcopy(dict(self), memo)


class FixedList(list[Any]):
    """A list that cannot be changed; a copy of it can."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = _refuse_change
    remove = reverse = sort = _refuse_change

    def __reduce__(self) -> Any:
        return type(self), (list(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return deepcopy(list(self), memo)


# Atomic writes: a reader finds the old content or the new content, never a part of it.

DISK_FULL_CODES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
DESCRIPTOR_PATH = re.compile(
    r"/(?:dev/fd|proc/self/fd|dev)/(\d+|stdout|stderr)"
)  # a descriptor of this process, by its path
STANDARD_DESCRIPTORS = {"stdout": 1, "stderr": 2}
BINARY_FLAG = getattr(os, "O_BINARY", 0)  # exists only on Windows
_MAGIC = b"SQLite format 3\0"


def is_journal(path: str | os.PathLike[str]) -> bool:
    """Return whether the first bytes of a file are those of a journal (a study, or a store of a run)."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def refuse_journal(path: str | os.PathLike[str], argument: str) -> None:
    """Raise if a file is that of a study or a store: results must not overwrite finished work."""
    if is_journal(path):
        received = f"{os.fspath(path)!r}, which holds the finished work of a study or a run"
        raise InputError(argument, "must not be the file of a study or a store", received, "Choose another path.")


def write_atomic(path: str | os.PathLike[str], content: str | bytes, argument: str = "path") -> Path:
    """Write a file atomically, text as UTF-8; see ``whole_file``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(pathlib.Path(folder) / "a.txt", "good").read_text()
    'good'
    """
    with whole_file(path, argument) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def whole_file(path: str | os.PathLike[str], argument: str = "path") -> Iterator[BinaryIO]:
    """Open a file for writing that replaces ``path`` when the block ends without an error.

    The content goes to a temporary file in the same folder (``.NAME.XXXX.part``, which a killed process leaves behind
    and which may be deleted), is forced to the disk, and is renamed. After an error, an interrupt or a full disk the
    old file is unchanged. The file of a study or a store is not replaced. A link keeps pointing at its file, which
    keeps its permissions; another hard link to it keeps the old content. ``/dev/stdout``, a pipe and a device are
    written directly.

    Raises
    ------
    InputError
        If the file cannot be written, or is that of a study or a store.
    """
    target = Path(os.path.realpath(path))
    try:
        old = target.stat() if target.exists() else None
        if (descriptor_path := DESCRIPTOR_PATH.fullmatch(os.path.abspath(path))) is not None:
            number = descriptor_path[1]
            with open(os.dup(STANDARD_DESCRIPTORS.get(number) or int(number)), "wb") as file:
                yield file
            return
        if old is not None and not (stat.S_ISREG(old.st_mode) or stat.S_ISDIR(old.st_mode)):
            with open(target, "wb") as file:
                yield file
            return
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        refuse_journal(target, argument)
        part = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY_FLAG, 0o666)
        try:
            with open(descriptor, "wb") as file:
                if old is not None:
                    _keep_owner(descriptor, old)
                yield file
                file.flush()
                os.fsync(descriptor)
            os.replace(part, target)
        except BaseException:
            with suppress(FileNotFoundError):
                part.unlink()
            raise
        _sync_folder(target.parent)
    except DrevalError:
        raise
    except OSError as cause:
        reason = cause.strerror or str(cause)
        requirement, hint = "must be a place where a file can be written", "Choose another path."
        if cause.errno in DISK_FULL_CODES:
            requirement, hint = "must be on a disk with room for it", "Free some space, or choose another disk."
        raise InputError(argument, requirement, f"{os.fspath(path)!r} ({reason})", hint) from cause


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the permissions of the old one, and its owner where that is allowed."""
    if hasattr(os, "fchmod"):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Force the new name to the disk, if folders can be opened."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
