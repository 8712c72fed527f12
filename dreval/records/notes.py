"""Notes on values, as codes with values; ``notes.toml`` has the sentence of each code."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from dreval._text import printable, true_minus
from dreval.errors import DrevalError
from dreval.glossary import part_texts
from dreval.records.provenance import to_plain

# The severity of a note.
ASSUMPTION = "assumption"  # something was assumed or chosen
LIMIT = "limit"  # the value means less than it seems to
FAILURE = "failure"  # there is no value

FIRST_ROW_CODES = ("file.header", "file.header_compared", "file.row")  # notes on the first row of a file
WORDS = "words"  # the table of notes.toml that has no codes


class Code(NamedTuple):
    """The meaning of a code: its sentence with a field for each value, and its severity."""

    sentence: str
    severity: str


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(files("dreval.records").joinpath("notes.toml").read_text(encoding="utf-8"))


@cache
def codes() -> dict[str, Code]:
    """Return all codes by name; the file with their sentences is read when the first note is made."""
    table: dict[str, Code] = {}
    for group, entries in _tables().items():
        if "sentence" in entries:
            table[group] = Code(**entries)
        elif group != WORDS:
            table |= {f"{group}.{name}": Code(**entry) for name, entry in entries.items()}
    return table


@dataclass(frozen=True, repr=False)
class Note:
    """An assumption, a limit or a failure that affects how to read a value; ``str`` of it is its sentence.

    Attributes
    ----------
    code : str
        The code; see ``codes``.
    values : tuple of (str, value)
        The values in its sentence, by name: numbers, text, tuples of them, or notes.
    scope : str
        The embedding or measure it refers to, if the row it belongs to does not name it.

    Examples
    --------
    >>> half = note("neighbors.half", k=8, n=16)
    >>> half.code, dict(half.values), str(half)
    ('neighbors.half', {'k': 8, 'n': 16}, 'k = 8 is at least half of the 16 points')
    """

    code: str
    values: tuple[tuple[str, Any], ...] = ()
    scope: str = ""

    @property
    def kind(self) -> Code:
        """Sentence and severity of the code."""
        return codes()[self.code]

    @property
    def severity(self) -> str:
        """Severity of the code: "assumption", "limit" or "failure"."""
        return self.kind.severity

    @property
    def text(self) -> str:
        """The sentence, after the scope."""
        sentence = _FORMATTER.format(self.kind.sentence, **dict(self.values))
        return printable(f"{self.scope}: {sentence}" if self.scope else sentence)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Note({self.code}: {self.text})"

    def named(self, names: Mapping[str, str]) -> Note:
        """Return the note with other names of arguments: values called ``argument``, also of notes within it."""
        return replace(self, values=tuple((key, _rename_arguments(key, value, names)) for key, value in self.values))

    def with_values(self, **values: Any) -> Note:
        """Return the note with new values; names that the note does not have are ignored."""
        return replace(self, values=tuple((key, values.get(key, value)) for key, value in self.values))

    def with_scope(self, scope: str) -> Note:
        """Return the note with another scope."""
        return replace(self, scope=scope)

    def plain(self) -> dict[str, Any]:
        """Return code, values, scope and sentence in types that JSON can store."""
        return {"code": self.code, "values": to_plain(dict(self.values)), "scope": self.scope, "text": self.text}

    @classmethod
    def of_plain(cls, saved: Mapping[str, Any]) -> Note:
        """Return the note from the result of ``plain``; its sentence comes from the table."""
        values = tuple((str(key), _from_plain(value)) for key, value in saved["values"].items())
        return cls(str(saved["code"]), values, str(saved["scope"]))


Notes = tuple[Note, ...]


class SentenceFormatter(string.Formatter):
    """Format values in a sentence; the first lines of ``notes.toml`` describe the formats.

    Parameters
    ----------
    formats : mapping of str to callable
        Further formats by their name.
    """

    def __init__(self, formats: Mapping[str, Callable[[Any], str]] | None = None) -> None:
        self.formats = formats or {}

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a value in a format, the further ones first."""
        if format_spec in self.formats:
            return self.formats[format_spec](value)
        if "|" in format_spec:
            return str(format_spec.split("|")[value != 1])
        if format_spec in _tables()[WORDS]:
            words = _tables()[WORDS][format_spec]
            is_list = isinstance(value, tuple)
            return self.format_field(tuple(map(words.__getitem__, value)), "and") if is_list else str(words[value])
        if format_spec == "parts":
            return ", ".join(f"{title} {text}" for title, text in part_texts(value).items() if text)
        if format_spec in ("and", "of"):
            names = list(map(str, value if isinstance(value, tuple) else (value,)))
            text = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
            return f" of {text}" if text and format_spec == "of" else text
        if isinstance(value, tuple):
            texts = [self.format_field(item, format_spec if isinstance(item, float) else "") for item in value]
            return (" / " if value and isinstance(value[0], Note) else ", ").join(texts)
        text = str(format(str(value) if isinstance(value, Note) else value, format_spec))
        return true_minus(text[:1]) + text[1:] if isinstance(value, float) else text  # keep the minus of 1e-12


_FORMATTER = SentenceFormatter()


def note(code: str, scope: str = "", /, **values: Any) -> Note:
    """Return a note of a code of ``notes.toml``."""
    if code not in codes():
        raise KeyError(f"{code} is not in notes.toml")
    return Note(code, tuple((key, _frozen(value)) for key, value in values.items()), scope)


def note_from_error(error: DrevalError, scope: str = "") -> Note:
    """Return the note for an error."""
    return note(
        "refused",
        scope,
        argument=error.argument,
        requirement=error.requirement,
        received=error.received,
        hint=error.hint,
    )


def join_notes(notes: Iterable[Note]) -> str:
    """Return the notes of a row as one text."""
    texts = list(dict.fromkeys(map(str, notes)))
    return "; ".join([*(text.rstrip(".") for text in texts[:-1]), *texts[-1:]])


def _rename_arguments(key: str, value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with the new name of an argument."""
    if isinstance(value, Note):
        return value.named(names)
    if isinstance(value, tuple):
        return tuple(_rename_arguments(key, item, names) for item in value)
    return names.get(value, value) if key == "argument" else value


def _frozen(value: Any) -> Any:
    """Return an immutable value: lists become tuples, numpy numbers become Python numbers."""
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in value)
    return value.item() if hasattr(value, "dtype") else value


def _from_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Note.of_plain(value)
    return tuple(_from_plain(item) for item in value) if isinstance(value, list) else value
