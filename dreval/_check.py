"""The one door: each check turns what came into its normal form, or refuses it in four parts."""

from __future__ import annotations

import difflib
import inspect
import io
import math
import numbers
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set, ValuesView
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from dreval._inside import check_opened
from dreval.errors import Hint, InputError, UnknownKeyword, UnknownName, message_of

__all__ = [
    "auto_neighbors",
    "calls",
    "check_bool",
    "check_classes",
    "check_exact",
    "check_finite",
    "check_float",
    "check_int",
    "check_k",
    "check_names",
    "check_npy",
    "check_numeric",
    "check_one_of",
    "check_parameters",
    "check_path",
    "check_points",
    "check_random_state",
    "check_rows",
    "check_single_values",
    "check_spread",
    "check_unmasked",
    "check_unpacked",
    "check_width",
    "column_names",
    "describe",
    "described_vectors",
    "did_you_mean",
    "in_columns",
    "is_deeply_nested",
    "keywords_checked",
    "known_name",
    "known_names",
    "near_names",
    "nearest_name",
    "no_attribute",
    "not_finite",
    "read_limit",
    "read_npy",
    "vectors",
]

Thing = TypeVar("Thing", bound=Callable[..., Any])
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
FROM_ZERO = " (rows count from 0)"
IMPUTE = "Drop or impute these cells before evaluating; dreval does not guess values."
MIN_POINTS = 4
AUTO = 15  # neighbors, where there are enough points
FEW_NAMES = 4  # more that begin with the same letters are not suggested
MANY_NAMES = 12  # more are not listed in a message where a call lists them
SYNONYMS = {
    "add": "with_embedding",
    "b": "n_resamples",
    "bh": "benjamini_hochberg",
    "canonical_correlation": "cca",
    "cityblock": "manhattan",
    "cmds": "classical_mds",
    "conf_level": "alpha",
    "distance": "metric",
    "fdr_bh": "benjamini_hochberg",
    "k": "n_neighbors",
    "kpca": "kernel_pca",
    "l1": "manhattan",
    "l2": "euclidean",
    "laplacian": "laplace",
    "locally_linear_embedding": "lle",
    "locallylinearembedding": "lle",
    "lr": "learning_rate",
    "mds": "metric_mds",
    "n_iter": "max_iter",
    "n_perm": "n_resamples",
    "n_permutations": "n_resamples",
    "n_perms": "n_resamples",
    "nperm": "n_resamples",
    "nperms": "n_resamples",
    "permutations": "n_resamples",
    "perms": "n_resamples",
    "principal_component_analysis": "pca",
    "rbf": "gaussian",
    "seed": "random_state",
    "spectral_embedding": "laplacian_eigenmaps",
    "spectralembedding": "laplacian_eigenmaps",
    "squared_exponential": "gaussian",
    "taxicab": "manhattan",
    "threads": "n_jobs",
    "t_sne": "tsne",
    "verbose": "progress",
    "workers": "n_jobs",
}  # words of other tools and habits, in lower case with underscores
MAX_NESTED = 4  # levels of nested estimators that are written
MANY_PARTS = 100  # of an estimator or a list, beyond which no nested estimators are looked for
LONGEST_TEXT = 100_000  # characters of a label or an id: the sequence of a protein is one, a file is none
LONGEST_NAME = 255  # bytes of a file name, on all usual file systems
SMALL, UNPACKED = 2**28, 200  # bytes that any file may unpack to, and how many times its size
ALIKE, SURE, SAME = 0.65, 0.75, 0.8  # matching letters of two names: like each other, surely so; of words: the same
WORD = 3  # letters of a word by which a longer name is found
EXACT_INTEGERS = 2**53  # beyond, a float does not hold every integer


def describe(value: object) -> str:
    """A short, honest description of a value for an error message; its type where code of its class raises."""
    with suppress(Exception):  # in the attributes or the repr of a class of other code
        return _description(value)
    return f"{type(value).__name__} that cannot be shown"


def function_name(value: Any, default: str) -> str:
    """Return the name of a function or another callable; the default where it has none, or a name that is no text."""
    with suppress(Exception):  # in a property of a class of other code
        name = getattr(value, "__name__", None)
        return name if isinstance(name, str) and name else default
    return default


def _description(value: object) -> str:
    """The description, by the repr of the value or its shape."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    shape = getattr(value, "shape", None)
    if shape == () and isinstance(value, np.ndarray | np.generic):
        value, shape = value.item(), None
    if shape is not None:
        kind = getattr(value, "dtype", None)
        return f"{type(value).__name__} of shape {tuple(shape)}" + (f" and dtype {kind}" if kind is not None else "")
    text = f"{type(value).__name__}(...)" if is_deeply_nested(value) else repr(value)
    if "\n" in text:  # the printed summary of a record
        return f"a {type(value).__name__} object"
    return text if len(text) <= 60 else f"{type(value).__name__} {text[:50]} [...]"


def is_deeply_nested(value: Any) -> bool:
    """Whether estimators are nested in an estimator, a list or a tuple on more than 4 levels.

    The ``repr`` of scikit-learn writes each of them at least twice, so that its time doubles with each level.
    """
    return _levels(value, 3 * MAX_NESTED) > MAX_NESTED


def _levels(value: Any, steps: int) -> int:
    """Return the levels of estimators in a value, as far as so many steps into its parts reach."""
    single = hasattr(value, "get_params") and not isinstance(value, type)
    parts = value if isinstance(value, list | tuple) else vars(value).values() if hasattr(value, "__dict__") else ()
    if steps == 0 or not (single or isinstance(value, list | tuple)):
        return int(single)
    return single + max((_levels(part, steps - 1) for part in list(parts)[:MANY_PARTS]), default=0)


def nearest_name(name: str, options: Iterable[str]) -> str | None:
    """The option of which ``name`` is an alias, else the one that it is like or a part of; None where there is none.

    Capital letters, hyphens and spaces do not matter. A name is like an option where the matching letters are at least
    65 % of both; it is a part of one where that alone begins with it (three letters or more), or where its words (of
    three letters or more) are like words of that option and of no other that has as few words.

    Examples
    --------
    >>> options = ("random_state", "n_neighbors", "n_components")
    >>> [nearest_name(name, options) for name in ("n_neigbors", "State", "k", "nothing")]
    ['n_neighbors', 'random_state', 'n_neighbors', None]
    """
    options = [str(option) for option in options]
    meant = known_name(str(name), options)
    if meant in options:
        return str(meant)
    plain = {option: _plain(option) for option in options}
    shares = {option: _likeness(_plain(str(name)), text) for option, text in plain.items()}
    best = max(shares, key=lambda option: shares[option], default=None)
    if best is None or shares[best] >= SURE:
        return best
    typed = _plain(str(name))
    begun = [option for option, text in plain.items() if len(typed) >= WORD and text.startswith(typed)]
    if len(begun) == 1:
        return begun[0]
    words = [word for word in typed.split("_") if len(word) >= WORD]
    having = {o: len(text.split("_")) for o, text in plain.items() if words and _has_words(text.split("_"), words)}
    fewest = [option for option, count in having.items() if count == min(having.values())]
    return fewest[0] if len(fewest) == 1 else best if shares[best] >= ALIKE else None


def near_names(name: Any, options: Iterable[str]) -> list[str]:
    """The nearest option alone, or the few that begin with ``name``.

    Examples
    --------
    >>> near_names("trust", ("trustworthiness", "trustability", "stress"))
    ['trustability', 'trustworthiness']
    """
    if not isinstance(name, str):
        return []
    options = [str(option) for option in options]
    near, typed = nearest_name(name, options), _plain(name)
    begun = sorted(option for option in options if len(typed) >= WORD and _plain(option).startswith(typed))
    return [near] if near else begun if len(begun) <= FEW_NAMES else []


def did_you_mean(name: Any, options: Iterable[str]) -> str:
    """The question that names what ``near_names`` finds, with a space behind it; empty where it finds nothing."""
    near = " or ".join(map(repr, near_names(name, options)))
    return f"Did you mean {near}? " if near else ""


def no_attribute(thing: object, name: str) -> AttributeError:
    """The error for an attribute that an object does not have; the nearest public one is suggested."""
    near = did_you_mean(name, [] if name.startswith("_") else [word for word in dir(thing) if word[0] != "_"])
    text = f"{type(thing).__name__!r} object has no attribute {name!r}. {near}".rstrip(". ")
    return AttributeError(text, name=name) if near else AttributeError(text)  # named: Python suggests nothing more


def _plain(name: str) -> str:
    """A name in lower case, its words joined by underscores."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _likeness(first: str, second: str) -> float:
    """Share of the letters of two names that match, in their order."""
    return difflib.SequenceMatcher(None, first, second).ratio()


def _has_words(option: list[str], words: list[str]) -> bool:
    """Whether each word is like one of the option's."""
    return all(any(_likeness(word, own) >= SAME for own in option) for word in words)


def known_name(name: Any, options: Collection[str]) -> Any:
    """The option that a name means: itself, in other letters ("PCA", "t-SNE"), or by its usual other word ("rbf").

    What means none of the options comes back as it is.

    Examples
    --------
    >>> [known_name(name, ("gaussian", "pca", "tsne")) for name in ("PCA", "t-SNE", "rbf", "umap")]
    ['pca', 'tsne', 'gaussian', 'umap']
    """
    if not isinstance(name, str) or name in options:
        return name
    plain = _plain(name)
    near = [one for one in options if str(one).lower() == plain]
    meant = SYNONYMS.get(plain, name)
    return near[0] if len(near) == 1 else meant if meant in options else name


def check_one_of(
    value: Any, options: Collection[str], argument: str, listing: tuple[str, ...] = (), *, aliases: bool = False
) -> str:
    """A name from a closed set; the error for another one suggests the nearest and lists the names.

    ``listing`` are the calls that list the options, named in place of them when there are many.

    ``aliases``: whether other words for an option stand for it; names that users choose have none.
    """
    value = known_name(value, options) if aliases else value
    if isinstance(value, str) and value in options:
        return value
    raise _unknown(UnknownName, value, options, argument, listing)


def _unknown(
    kind: type[UnknownName], value: Any, options: Collection[str], argument: str, listing: tuple[str, ...] = ()
) -> UnknownName:
    """The refusal of a name that is none of the options."""
    cure = did_you_mean(value, options) + known_names(options, listing)
    return kind(argument, "must be a known name", describe(value), cure, **calls(listing))


def known_names(options: Iterable[str], listing: tuple[str, ...] = ()) -> str:
    """A sentence that lists the names, or with fields for ``calls`` says which of them lists many names."""
    options = sorted(options)
    if len(options) <= MANY_NAMES or not listing:
        return f"Known: {', '.join(options) or 'none'}."
    return f"{' and '.join(f'{{{call}}}' for call in listing)} list{'s' if len(listing) == 1 else ''} them all."


def calls(listing: Iterable[str]) -> dict[str, Hint]:
    """Calls as fields of an error."""
    return {call: Hint(call) for call in listing}


def check_names(value: Any, argument: str, hint: str) -> list[str]:
    """Return the names of an argument, each once, from one name or several: a list, tuple, set, array or index of text.

    Everything else is refused, whatever its elements: a result, an evaluation and a frame can be iterated as well, and
    the names in it may be known ones.

    Examples
    --------
    >>> check_names("pca", "names", ""), check_names(("b", "a", "b"), "names", "")
    (['pca'], ['b', 'a'])
    """
    if isinstance(value, str):
        return [value]
    column = callable(getattr(value, "to_list", None))  # of pandas or polars
    if not (column or isinstance(value, Sequence | Set | ValuesView | Iterator | np.ndarray)):
        raise InputError(argument, "must be one or several names", describe(value), hint)
    names = list(value)
    for name in names:
        if not isinstance(name, str):
            raise InputError(argument, "must be one or several names", f"{describe(name)} among them", hint)
    if not names:
        raise InputError(argument, "must name something", "an empty list", "Leave it out for all.")
    return [str(name) for name in dict.fromkeys(names)]


def check_parameters(options: Iterable[str], known: Iterable[str], what: str) -> None:
    """Check that every option is a known parameter."""
    known = [key for key in known if key not in ("self", "cls")]
    for name in options:
        if name not in known:
            raise _unknown(UnknownKeyword, name, known, f"parameter of {what}")


def keywords_checked(thing: Thing) -> Thing:
    """Decorate a public function, or a class with public methods: an unknown keyword is answered with the nearest one.

    Only keywords are looked at, before the call: a TypeError from inside stays what it is, and so do signature and
    docstring. A function that takes any keywords checks them itself.

    Examples
    --------
    >>> @keywords_checked
    ... def example(X, *, n_neighbors=15):
    ...     return n_neighbors
    >>> example([], k=5)
    Traceback (most recent call last):
    ...
    dreval.errors.UnknownKeyword: `parameter of example` must be a known name: got 'k'. Did you mean 'n_neighbors'? ...
    """
    if isinstance(thing, type):
        for name, own in list(vars(thing).items()):
            if inspect.isfunction(own) and (name == "__init__" or not name.startswith("_")):
                setattr(thing, name, keywords_checked(own))
            elif isinstance(own, classmethod | staticmethod) and not name.startswith("_"):
                setattr(thing, name, type(own)(keywords_checked(own.__func__)))
        return thing
    code = thing.__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return thing
    known = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    names, making = frozenset(known), thing.__name__ == "__init__"

    @wraps(thing)
    def checked(*arguments: Any, **options: Any) -> Any:
        if options and not options.keys() <= names:
            check_parameters(options, known, type(arguments[0]).__name__ if making else thing.__qualname__)
        return thing(*arguments, **options)

    return checked  # type: ignore[return-value]


def check_bool(value: Any, argument: str) -> bool:
    """True or False; other values that merely act as a truth value raise an error."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(argument, "must be True or False", describe(value), "Pass True or False.")


def _bounds_text(low: float | None, high: float | None) -> str:
    """The range as text, with a leading space."""
    words = [f"{sign} {bound}" for sign, bound in ((">=", low), ("<=", high)) if bound is not None]
    return f" {' and '.join(words)}" if words else ""


def _nearest(value: Any, low: int | None, high: int | None) -> str:
    """The cure of an invalid integer: the nearest valid one."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_) or not np.isfinite(float(value)):
        return "Pass an int."
    number = float(value)
    if low is not None and number < low:
        return f"The smallest is {low}."
    if high is not None and number > high:
        return f"The largest is {high}."
    near = dict.fromkeys((math.floor(number), math.ceil(number)))
    return f"Choose {' or '.join(map(str, near))}{', as an int' if len(near) == 1 else ''}."


def check_int(value: Any, argument: str, low: int | None = None, high: int | None = None) -> int:
    """An integer within [low, high]."""
    bounds = _bounds_text(low, high)
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not whole or (low is not None and value < low) or (high is not None and value > high):
        raise InputError(argument, f"must be an integer{bounds}", describe(value), _nearest(value, low, high))
    return int(value)


def check_float(
    value: Any, argument: str, low: float | None = None, high: float | None = None, *, above: float | None = None
) -> float:
    """A finite number within [low, high], and greater than ``above``; a percentage is answered with the share."""
    bounds = _bounds_text(low, high) if above is None else f" > {above} and <= {high}"
    real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_) and np.isfinite(float(value))

    def legal(number: float) -> bool:
        return (low is None or number >= low) and (high is None or number <= high) and (above is None or number > above)

    if not real or not legal(value):
        percent = real and high is not None and high <= 1 and value >= 5 and legal(value / 100)
        cure = (f"Did you mean {value / 100:g}? " if percent else "") + f"Choose a number{bounds}."
        raise InputError(argument, f"must be a finite number{bounds}", describe(value), cure)
    return float(value)


def check_width(value: Any, argument: str) -> float:
    """The width of a kernel in units of the data: a number large enough to divide by."""
    return check_float(value, argument, low=1e-12)


def check_path(value: Any, argument: str) -> Path:
    """A path, from text or a path object, that an operating system can have."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):
        raise InputError(argument, "must be a path", describe(value), "Pass the name of a file as text.")
    if "\0" in text:
        raise InputError(argument, "must be a path", describe(text), "Remove the null character.")
    if (longest := max((len(os.fsencode(part)) for part in Path(text).parts), default=0)) > LONGEST_NAME:
        rule = f"must have names of at most {LONGEST_NAME} bytes"
        raise InputError(argument, rule, f"{describe(text)} of {longest}", "Choose a shorter name.")
    return Path(text)


def unpack_limit(path: Path) -> float:
    """Bytes that a file may unpack to: ``UNPACKED`` times its size, or ``SMALL`` where that is more.

    The environment variable ``DREVAL_READ_LIMIT`` (bytes, as "8e9") takes the place of both.
    """
    given = read_limit()
    return max(SMALL, UNPACKED * _size_of(path)) if given is None else given


def _size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, files in os.walk(path) for name in files)


def read_limit() -> float | None:
    """The bytes that the environment variable ``DREVAL_READ_LIMIT`` allows; None where it is not set."""
    given = os.environ.get("DREVAL_READ_LIMIT")
    try:
        return None if given is None else float(given)
    except ValueError as error:
        rule = "must be a number of bytes"
        raise InputError("DREVAL_READ_LIMIT", rule, repr(given), "Set the environment variable to 8e9.") from error


def check_unpacked(size: int, path: Path, argument: str) -> None:
    """Check, before it is allocated, that a file may unpack to so many bytes: a small file is no bomb."""
    limit = unpack_limit(path)
    if size > limit:
        rule = f"must unpack to at most {limit:.3g} bytes"
        got = f"{str(path)!r}, {_size_of(path):,} bytes that unpack to {float(size):.3g} or more"
        cure = f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={2.0 * size:.2g}."
        raise InputError(argument, rule, got, cure)


def check_npy(file: BinaryIO, size: int) -> bool:
    """Return whether an open .npy file of ``size`` bytes holds objects; ValueError where it is shorter than it says."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize > size - file.tell():
        raise ValueError(f"it says that it has shape {shape}, and is too short for that")
    return bool(dtype.hasobject)


def read_npy(content: bytes) -> npt.NDArray[Any]:
    """Return the array in the content of an .npy file, which must be as long as its header says and hold no objects."""
    file = io.BytesIO(content)
    if check_npy(file, len(content)):
        raise ValueError("an array of objects, which are never loaded")
    file.seek(0)
    return np.asarray(np.load(file, allow_pickle=False))


def check_random_state(value: Any, argument: str = "random_state") -> int | np.random.Generator | None:
    """An integer seed, a numpy Generator, or None."""
    if value is None or isinstance(value, np.random.Generator):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_) and int(value) >= 0:
        return int(value)
    others = "" if isinstance(value, int) else ", a numpy Generator or None"
    raise InputError(argument, f"must be a non-negative integer{others}", describe(value), "Pass an integer such as 0.")


def auto_neighbors(n: int) -> int:
    """The number of neighbors for ``"auto"``: min(15, (n - 1) // 2), and at least 1."""
    return max(1, min(AUTO, (n - 1) // 2))


ALL_POINTS, FEW_ANCHORS = 20_000, 2000  # points up to which anchors="auto" takes all, and the anchors of more


def check_anchors(value: Any, n: int) -> int | None:
    """The number of anchors among n points, None (or "none") for all; "auto": all up to 20,000 points, 2000 beyond."""
    if isinstance(value, str) and value in ("auto", "none"):
        return FEW_ANCHORS if value == "auto" and n > ALL_POINTS else None
    return None if value is None else check_int(value, "anchors", low=2, high=n)


def check_k(value: Any, n: int, argument: str = "n_neighbors") -> tuple[list[int], bool]:
    """Numbers of neighbors below ``n`` as a sorted list without repeats, and whether a single number was passed.

    "auto" is ``auto_neighbors(n)``.
    """
    if isinstance(value, str) and value == "auto":
        return [auto_neighbors(n)], True
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    single = not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes)
    values = [value] if single else list(value)
    if not values:
        rule = "must name at least one number of neighbors"
        raise InputError(argument, rule, "an empty list", "Pass 15, or [5, 15, 50].")
    for k in values:
        check_int(k, argument, low=1)
        if k >= n:
            rule, got = "must be smaller than the number of points", f"{k} with {n} points"
            raise InputError(argument, rule, got, f"Choose at most {n - 1}.")
    return sorted({int(k) for k in values}), single


def check_numeric(value: Any, argument: str) -> npt.NDArray[Any]:
    """An array of real numbers of any dtype; masked cells, text, complex numbers, dates and objects raise an error.

    Objects that are numbers are those numbers.
    """
    check_opened(value, argument)
    value = check_unmasked(value, argument)
    try:
        array = _nullable(value) if hasattr(value, "iloc") else np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        why = message_of(error)[:100]
        cure = "Every row needs the same number of numbers."
        raise InputError(argument, "must become a numeric array", f"{describe(value)} ({why})", cure) from error
    if array.dtype.kind == "c":
        cure = "Complex data not supported: pass the real and imaginary parts as separate columns."
        raise InputError(argument, "must be real", "complex numbers", cure)
    if hasattr(value, "toarray"):
        raise InputError(argument, "must be dense, not sparse", describe(value), f"Use {argument}.toarray().")
    if array.dtype.kind == "O":
        shapes = vectors(array.ravel()) if array.ndim and array.size == len(array) else None
        if shapes is not None:
            got, cure = described_vectors(shapes, len(array), _cells_text(value))
            raise InputError(argument, "must hold numbers", got, cure)
        refuse_missing(array, argument)
        array = of_one_kind(array)
    if array.dtype.kind not in "biuf":
        cure = "Convert it to a numeric array, and leave out columns of text."
        raise InputError(argument, "must hold numbers", describe(array), cure)
    return array


def _cells_text(value: Any) -> str:
    """Return the Python expression for the cells of a frame of one column, a series or an array."""
    if hasattr(value, "columns"):
        return f"frame[{value.columns[0]!r}].to_list()"
    return "series.to_list()" if hasattr(value, "iloc") else "array.ravel()"


def _nullable(table: Any) -> npt.NDArray[Any]:
    """A pandas frame or series as a numpy array; nullable columns of one kind become floats or integers."""
    kinds = {getattr(kind, "kind", "O") for kind in np.atleast_1d(np.asarray(table.dtypes, dtype=object))}
    array = np.asarray(table)
    if array.dtype.kind != "O":
        return array
    if kinds <= {"b", "f"}:
        return np.asarray(table.to_numpy(dtype=np.float64, na_value=np.nan))
    complete = kinds <= {"b", "i"} and not table.isna().to_numpy().any()
    return np.asarray(table.to_numpy(dtype=np.int64)) if complete else array


def check_exact(array: npt.NDArray[Any], argument: str) -> None:
    """Check that no integer is too large for a float to hold exactly."""
    if array.dtype.kind not in "iu" or array.size == 0:
        return
    largest = max(int(array.max()), -int(array.min()))
    if largest > EXACT_INTEGERS:
        cure = "Subtract a common offset, or pass floats where the last digits do not matter."
        raise InputError(argument, "must hold integers up to 2**53", f"one of size {largest}", cure)


def check_finite(array: Any, argument: str, columns: Sequence[object] | None = None) -> None:
    """Check that an array or sparse matrix has no NaN and no infinity; the error names the first such cells."""
    stored = array.data if hasattr(array, "indptr") else array
    bad = ~np.isfinite(stored)
    if not bad.any():
        return
    cells = np.argwhere(bad) if stored is array else np.stack(array.tocoo().coords, axis=1)[bad]
    raise not_finite(stored[bad][:3], cells[:3], len(cells), argument, columns)


def not_finite(
    values: npt.NDArray[Any],
    cells: npt.NDArray[Any],
    count: int,
    argument: str,
    columns: Sequence[object] | None = None,
) -> InputError:
    """The error for so many cells that are NaN or infinite, of which the first are named."""
    first = ", ".join(_cell(value, cell, columns) for value, cell in zip(values, cells, strict=True))
    more = f" and {count - len(values)} more" if count > len(values) else ""
    counted = "" if cells.shape[1] == 1 else FROM_ZERO
    return InputError(argument, "must be finite", f"{first}{more}{counted}", IMPUTE)


def _cell(value: float, cell: npt.NDArray[Any], columns: Sequence[object] | None) -> str:
    what = "NaN" if np.isnan(value) else "infinity"
    if len(cell) == 1:
        return f"{what} at position {cell[0]}"
    column = cell[1] if columns is None else repr(columns[cell[1]])
    return f"{what} in row {cell[0]}, column {column}"


def check_points(
    value: Any,
    argument: str,
    *,
    columns: Sequence[object] | None = None,
    min_rows: int = MIN_POINTS,
    own: bool = False,
) -> FloatArray:
    """A finite (n, p) float64 C-ordered array with at least ``min_rows`` rows; a vector is one column.

    With ``own`` the result shares no memory with ``value``; else it may be the caller's array itself.
    """
    array = check_numeric(value, argument)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        got = describe(array)
        if array.ndim == 2:
            got = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required"
        raise InputError(argument, "must be a table of rows and columns", got, "Pass an (n, p) array, rows are points.")
    if array.shape[0] < min_rows:
        got = "1 sample" if len(array) == 1 else f"{len(array)} rows"
        cure = "Rows are points; transpose the array if columns are."
        raise InputError(argument, f"must have at least {min_rows} rows", got, cure)
    check_exact(array, argument)
    with np.errstate(over="ignore"):
        points = np.array(array, dtype=np.float64, order="C", copy=True if own else None)
    check_finite(points, argument, columns)
    return points


SAFE = 2.0**-450  # entries above this share of the largest: no square vanishes beside that of the largest


def check_spread(points: Any, argument: str) -> None:
    """Check that different rows differ by more than 2 ** -500 of the largest entry.

    The squares of smaller differences underflow relative to it, so that such rows would count as equal points.
    """
    sparse = hasattr(points, "indptr")
    size = np.abs(points.data if sparse else points)
    largest = float(size.max(initial=0.0))
    if float(size.min(initial=np.inf, where=size > 0)) > largest * SAFE:
        return
    coarse = points.copy()
    (coarse.data if sparse else coarse)[size <= largest * 2.0**-500] = 0.0
    lost = _distinct(points) - _distinct(coarse)
    if lost > 0:
        rule = "must have rows that differ by more than 2 ** -500 of its largest entry"
        cure = "Check the largest entry, or rescale the columns."
        raise InputError(argument, rule, f"{lost} rows that differ by less, with an entry of size {largest:.3g}", cure)


def _distinct(points: Any) -> int:
    """The number of rows that differ."""
    if not hasattr(points, "indptr"):
        return len({row.tobytes() for row in points + 0.0})  # -0.0 becomes 0.0
    points.eliminate_zeros()
    cuts = points.indptr[1:-1]
    parts = zip(np.split(points.indices, cuts), np.split(points.data, cuts), strict=True)
    return len({(columns.tobytes(), values.tobytes()) for columns, values in parts})


def column_names(table: Any) -> tuple[str, ...] | None:
    """Names of the columns of a frame; None for an array, and for a frame with numbered columns."""
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns) or type(columns).__name__ == "RangeIndex":
        return None
    return tuple(str(name) for name in columns)


def in_columns(table: Any, names: Sequence[str] | None, argument: str) -> Any:
    """A table with its columns in the order of ``names`` if both have names, else unchanged."""
    own = column_names(table)
    if names is None or own is None or own == tuple(names):
        return table
    if len(set(own)) < len(own) or set(own) != set(names):
        cure = f"Pass rows with these columns, in any order: {_listed(names)}; or a plain array, to go by position."
        raise InputError(argument, "must have the columns of the data", _difference(own, names), cure)
    return np.asarray(table)[:, [own.index(name) for name in names]]


def _difference(own: Sequence[str], names: Sequence[str]) -> str:
    """A sentence on how two sets of column names differ."""
    lost, extra = [name for name in names if name not in own], [name for name in own if name not in names]
    parts = [f"no column {_listed(lost, repr)}"] if lost else []
    parts += [f"{_listed(extra, repr)}, which the data do not have"] if extra else []
    return ", and ".join(parts) or f"repeated names: {_listed(own)}"


def _listed(names: Sequence[str], write: Callable[[str], str] = str) -> str:
    """The first six names, and the number of the others."""
    return ", ".join(map(write, names[:6])) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def check_rows(rows: int, n: int, argument: str, misread: tuple[str, Hint] | None = None) -> None:
    """Check that a table has as many rows as the data.

    ``misread`` is a sentence on the first row of a file that may be misread, and the argument ``{header}`` of it.
    """
    if rows != n:
        sentence, header = misread or ("", Hint("header"))
        advice = "drop or add rows, or give both sides ids (a unique index, or an id column)."
        raise InputError(
            argument,
            "must have one row per point of the data",
            f"{rows} rows for {n} points",
            f"{sentence} Else align them: {advice}" if sentence else f"Align them: {advice}",
            header=header,
        )


MISSING_TEXTS = frozenset(
    {
        "",
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
    }
)  # texts that stand for a missing value, in files (by pandas.read_csv) and everywhere else


def missing_texts(values: Any) -> npt.NDArray[np.bool_]:
    """Return where text or categories (n,) hold one of ``MISSING_TEXTS``; nowhere in arrays of other types.

    Spaces at the ends of a text do not count, nor does text of spaces alone.

    Examples
    --------
    >>> missing_texts(np.array(["a", "nan", "None"]))
    array([False,  True,  True])
    """
    import pandas as pd

    series = pd.Series(values)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind not in "OUS":
        return np.zeros(len(series), np.bool_)
    if isinstance(series.dtype, pd.CategoricalDtype):
        marked = [code for code, name in enumerate(series.cat.categories) if _is_missing_text(name)]
        return np.asarray(series.cat.codes.isin(marked), np.bool_)
    if not (series.dtype == object or pd.api.types.is_string_dtype(series.dtype)):
        return np.zeros(len(series), np.bool_)
    return np.fromiter((_is_missing_text(cell) for cell in series), np.bool_, len(series))


def _is_missing_text(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip() in MISSING_TEXTS


def stripped_texts(values: Any) -> npt.NDArray[Any]:
    """Return an array of classes (n,) whose texts have no spaces at their ends, as those of files have none.

    Examples
    --------
    >>> stripped_texts(np.array(["a", " a ", "b c"]))
    array(['a', 'a', 'b c'], dtype='<U3')
    """
    array = np.asarray(values)
    if array.dtype.kind in "US":
        return np.asarray(np.strings.strip(array))
    if array.dtype.kind != "O" or not any(isinstance(cell, str) and cell != cell.strip() for cell in array):
        return array
    cells = np.empty(len(array), object)
    cells[:] = [cell.strip() if isinstance(cell, str) else cell for cell in array]
    return cells


def whole_numbers(values: Any) -> bool:
    """Return whether a float array holds whole numbers alone, each of which a float tells from the next."""
    array = np.asarray(values)
    if array.dtype.kind != "f" or array.size == 0:
        return False
    return bool(np.all(np.isfinite(array)) and np.all(np.rint(array) == array) and np.abs(array).max() < EXACT_INTEGERS)


def check_classes(
    value: Any, n: int, argument: str = "labels", cure: str | None = None
) -> tuple[IntArray, npt.NDArray[Any]]:
    """Return the class codes 0..c-1 (n,) and the sorted classes.

    Text, booleans and integers are classes, and so are floats that are whole numbers; other floats are refused, and
    ``cure`` says what to do with them. Texts that stand for a missing value are refused as missing values are. Spaces
    at the ends of texts do not count.
    """
    what = "batches" if argument == "batch" else "classes"
    array = np.asarray(check_unmasked(value, argument))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(argument, "must be one value per point", describe(array), f"Pass a vector of {what}.")
    check_rows(len(array), n, argument)
    if array.dtype.kind == "O":
        check_single_values(array, argument)
        refuse_missing(array, argument)
        array = of_one_kind(array)
    array = array.astype(np.int64) if whole_numbers(array) else array
    if array.dtype.kind in "fc":
        got = f"dtype {array.dtype}"
        if array.dtype.kind == "f" and len(array):
            row = int(np.argmin([whole_numbers(array[[row]]) for row in range(len(array))]))
            got = f"{array[row].item()!r} in row {row}{FROM_ZERO}"
        numbers = (
            "Pass numbers as {covariates} of an evaluation, or as {response} of `embed`; write codes of "
            f"{what} as whole numbers."
        )
        rule, others = (
            f"must be {what} (text, booleans or integers)",
            {"covariates": "covariates", "response": "response"},
        )
        raise InputError(argument, rule, got, cure or numbers, **others)
    if array.dtype.kind in "OUS" and (missing := missing_texts(array)).any():
        row = int(np.argmax(missing))
        got = f"the text {str(array[row])!r}, which stands for a missing value, in row {row}{FROM_ZERO}"
        got += f" and {int(missing.sum()) - 1} more such rows" if missing.sum() > 1 else ""
        how = f"Drop these rows, or write another word where it is the name of one of the {what}."
        raise InputError(argument, "must be complete", got, how)
    if array.dtype.kind not in "biuUSO":
        raise InputError(argument, f"must be {what}", describe(array), "Pass text, booleans or integers.")
    array = stripped_texts(array)
    if array.dtype.kind == "O":
        try:
            array = array.astype(str)
        except Exception as error:  # of a class of other code
            got = f"objects that become no text ({type(error).__name__})"
            raise InputError(argument, f"must be {what}", got, "Pass text, booleans or integers.") from error
    if array.dtype.kind not in "biu":
        classes, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64), classes
    parts = [slice(at, at + CLASSES_AT_ONCE) for at in range(0, len(array), CLASSES_AT_ONCE)]
    classes, codes = np.unique(np.concatenate([np.unique(array[part]) for part in parts])), np.empty(n, np.int64)
    for part in parts:  # so that nothing but the codes takes the memory of all points
        codes[part] = np.searchsorted(classes, array[part])
    return codes, classes


CLASSES_AT_ONCE = 1 << 16  # integers of classes


def check_unmasked(value: Any, argument: str) -> Any:
    """The data of a masked array in which nothing is masked; what has masked cells is refused, all else stays as it is.

    Lists of masked rows or cells are no better: numpy reads the values under their masks.
    """
    listed = isinstance(value, list | tuple)
    if not listed and not isinstance(value, np.ma.MaskedArray):
        return value
    counts = [_masked_cells(row) for row in (value if listed else [value])]
    if not any(counts):
        return value if listed else value.data
    place = [next(row for row, count in enumerate(counts) if count)] if listed else np.argwhere(value.mask)[0]
    first = ", column ".join(map(str, place))
    got = f"{sum(counts)} masked cell{'' if sum(counts) == 1 else 's'}, the first in row {first}"
    cure = "Drop such rows, or fill them with values of your own (numpy.ma.filled): what lies under a mask is no value."
    raise InputError(argument, "must have no masked cells", got, cure)


def _masked_cells(row: Any) -> int:
    """How many cells are masked in an array (of numbers or objects) or in a list of cells."""
    if isinstance(row, np.ma.MaskedArray):
        return 0 if row.dtype.names else int(np.count_nonzero(np.ma.getmaskarray(row)))
    return sum(cell is np.ma.masked for cell in row) if isinstance(row, list | tuple) else 0


def vectors(cells: Iterable[Any]) -> set[tuple[int, ...]] | None:
    """Return the shapes of cells that all are vectors or arrays of numbers, missing ones left out; None for others."""
    shapes = set()
    for cell in cells:
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            continue
        if not isinstance(cell, list | tuple | np.ndarray):
            return None
        try:
            array = np.asarray(cell)
        except ValueError:  # ragged
            return None
        if array.dtype.kind not in "biuf" or array.ndim == 0:
            return None
        shapes.add(array.shape)
    return shapes or None


def described_vectors(
    shapes: set[tuple[int, ...]], n: int, values: str, missing: int = 0, where: str = ""
) -> tuple[str, str]:
    """Return what is received, and what to do, where each of n cells holds a vector.

    ``values`` is the Python expression for the cells, a list or an array; ``where`` names their column.
    """
    if missing:
        got = f"a vector in each cell{where} but {missing}"
        return got, f"Drop the rows without a vector, also from the other inputs, then pass numpy.stack({values})."
    if len(shapes) > 1:
        sizes = sorted(math.prod(shape) for shape in shapes)
        got = f"vectors of {sizes[0]} to {sizes[-1]} numbers in the cells{where}"
        return got, "Give the same number of numbers in each row, then pass numpy.stack of the vectors."
    if len(shape := next(iter(shapes))) > 1:
        rows = f"numpy.stack({values}).reshape({n}, -1)"
        return f"an array of shape {shape} in each cell{where}", f"Make each array a row: {rows}."
    count = f"{shape[0]} number{'s' if shape[0] != 1 else ''}"
    return f"a vector of {count} in each cell{where}", f"Make each vector a row: numpy.stack({values})."


def check_single_values(values: npt.NDArray[Any], argument: str) -> None:
    """Check that no cell of objects is itself a list, an array or a mapping, which is no class and no row name."""
    rows = [row for row, cell in enumerate(values) if isinstance(cell, list | np.ndarray | dict)]
    if rows:
        got = f"{describe(values[rows[0]])} in row {rows[0]}{FROM_ZERO}"
        cure = (
            "Pass a number or a text for each point. Data, embeddings, latent variables and variables of a test of "
            "independence may have several numbers for each: numpy.stack(list(values))."
        )
        raise InputError(argument, "must be one value per point", got, cure)


def of_one_kind(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Objects that all are numbers as numbers: floats if one is a float or a decimal, else integers, or booleans.

    All other arrays stay as they are, also objects of several kinds, and numbers that none of numpy's types holds.
    """
    import pandas as pd

    if values.dtype.kind != "O":
        return values
    kind = pd.api.types.infer_dtype(values.ravel(), skipna=False)
    if kind in ("floating", "mixed-integer-float", "decimal"):
        try:
            return np.asarray(values.astype(np.float64))
        except (OverflowError, ValueError):
            return values
    found = np.asarray(values.tolist()) if kind in ("integer", "boolean") else values
    return found if found.dtype.kind in "biu" else values


def refuse_missing(array: npt.NDArray[Any], argument: str) -> None:
    """Refuse objects of which some are missing (None, NaN, pandas' NA); all other objects pass."""
    import pandas as pd

    missing = np.argwhere(pd.isna(array))
    if 0 < len(missing) < array.size:
        first = ", column ".join(map(str, missing[0]))
        got = f"{len(missing)} missing value{'' if len(missing) == 1 else 's'}, the first in row {first}"
        raise InputError(argument, "must be complete", got, IMPUTE)
