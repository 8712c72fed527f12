"""Checks of arguments: each returns its value in a normal form, or raises an error of four parts."""

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
    "attribute_error",
    "auto_neighbors",
    "calls",
    "check_bool",
    "check_classes",
    "check_exact",
    "check_finite",
    "check_float",
    "check_int",
    "check_k",
    "check_magnitude",
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
    "describe_vectors",
    "did_you_mean",
    "is_deeply_nested",
    "keywords_checked",
    "list_names",
    "nearest_name",
    "not_finite_error",
    "read_limit",
    "read_npy",
    "reorder_columns",
    "resolve_alias",
    "suggestions",
    "vectors",
]

Function = TypeVar("Function", bound=Callable[..., Any])
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
ROWS_FROM_ZERO = " (rows count from 0)"
IMPUTE_HINT = "Drop or impute these cells before evaluating; dreval does not guess values."
MIN_POINTS = 4
DEFAULT_NEIGHBORS = 15  # neighbors, where there are enough points
MAX_SUGGESTIONS = 4  # names that begin with the same letters; more are not suggested
MAX_LISTED_NAMES = 12  # in a message; of more names the message names the call that lists them
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
}  # names that other tools use, in lower case with underscores
MAX_NESTED_LEVELS = 4  # of estimators whose repr is used
MAX_SEARCHED_PARTS = 100  # of an estimator or a list, in which nested estimators are searched
MAX_TEXT_LENGTH = 100_000  # characters of a label or an id: enough for the sequence of a protein, too few for a file
MAX_FILE_NAME_BYTES = 255  # on all usual file systems
MIN_UNPACKED_LIMIT_BYTES = 2**28  # bytes that a file of any size may unpack to
MAX_UNPACKED_RATIO = 200  # of the unpacked size of a larger file to its size
MIN_LIKENESS = 0.65  # share of matching letters of a name and a suggestion
SURE_LIKENESS = 0.75  # share from which the most similar name is suggested without a search by words
MIN_WORD_LIKENESS = 0.8  # share of matching letters of two words that count as equal
MIN_WORD_LENGTH = 3  # letters of a word by which a longer name is found
EXACT_INTEGERS = 2**53  # beyond, a float does not hold every integer


def describe(value: object) -> str:
    """Return a short description of a value for an error message; only its type if code of its class raises."""
    with suppress(Exception):  # raised by the attributes or the repr of a foreign class
        return _description(value)
    return f"{type(value).__name__} that cannot be shown"


def function_name(value: Any, default: str) -> str:
    """Return the name of a function or another callable; the default without a name of type str."""
    with suppress(Exception):  # raised by a property of a foreign class
        name = getattr(value, "__name__", None)
        return name if isinstance(name, str) and name else default
    return default


def _description(value: object) -> str:
    """Return the description by the repr of the value or its shape."""
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
    """Return whether estimators are nested in an estimator, a list or a tuple on more than 4 levels.

    The ``repr`` of scikit-learn writes each nested estimator at least twice, so that its time doubles with each level.
    """
    return _levels(value, 3 * MAX_NESTED_LEVELS) > MAX_NESTED_LEVELS


def _levels(value: Any, steps: int) -> int:
    """Return the number of levels of estimators in a value, found within ``steps`` steps into its parts."""
    is_estimator = hasattr(value, "get_params") and not isinstance(value, type)
    parts = value if isinstance(value, list | tuple) else vars(value).values() if hasattr(value, "__dict__") else ()
    if steps == 0 or not (is_estimator or isinstance(value, list | tuple)):
        return int(is_estimator)
    return is_estimator + max((_levels(part, steps - 1) for part in list(parts)[:MAX_SEARCHED_PARTS]), default=0)


def nearest_name(name: str, options: Iterable[str]) -> str | None:
    """Return the option of which ``name`` is an alias, else the most similar one; None if there is none.

    Capital letters, hyphens and spaces do not matter. An option is similar if at least 65 % of the letters of both
    match; if it is the only one that begins with the name (of three letters or more); or if words of it are similar to
    the words of the name (of three letters or more), and no other such option has as few words.

    Examples
    --------
    >>> options = ("random_state", "n_neighbors", "n_components")
    >>> [nearest_name(name, options) for name in ("n_neigbors", "State", "k", "nothing")]
    ['n_neighbors', 'random_state', 'n_neighbors', None]
    """
    options = [str(option) for option in options]
    resolved = resolve_alias(str(name), options)
    if resolved in options:
        return str(resolved)
    normalized = {option: _normalize(option) for option in options}
    query = _normalize(str(name))
    shares = {option: _likeness(query, text) for option, text in normalized.items()}
    best = max(shares, key=lambda option: shares[option], default=None)
    if best is None or shares[best] >= SURE_LIKENESS:
        return best
    starting = [
        option for option, text in normalized.items() if len(query) >= MIN_WORD_LENGTH and text.startswith(query)
    ]
    if len(starting) == 1:
        return starting[0]
    words = [word for word in query.split("_") if len(word) >= MIN_WORD_LENGTH]
    word_counts = {
        option: len(text.split("_"))
        for option, text in normalized.items()
        if words and _has_words(text.split("_"), words)
    }
    shortest = [option for option, count in word_counts.items() if count == min(word_counts.values())]
    return shortest[0] if len(shortest) == 1 else best if shares[best] >= MIN_LIKENESS else None


def suggestions(name: Any, options: Iterable[str]) -> list[str]:
    """Return the nearest option alone, or else up to four options that begin with ``name``.

    Examples
    --------
    >>> suggestions("trust", ("trustworthiness", "trustability", "stress"))
    ['trustability', 'trustworthiness']
    """
    if not isinstance(name, str):
        return []
    options = [str(option) for option in options]
    if nearest := nearest_name(name, options):
        return [nearest]
    query = _normalize(name)
    starting = [option for option in options if len(query) >= MIN_WORD_LENGTH and _normalize(option).startswith(query)]
    return sorted(starting) if len(starting) <= MAX_SUGGESTIONS else []


def did_you_mean(name: Any, options: Iterable[str]) -> str:
    """Return the question that suggests ``suggestions``, followed by a space; an empty text without suggestions."""
    names = " or ".join(map(repr, suggestions(name, options)))
    return f"Did you mean {names}? " if names else ""


def attribute_error(thing: object, name: str) -> AttributeError:
    """Return the error for an attribute that an object does not have; it suggests the nearest public one."""
    public = [] if name.startswith("_") else [attribute for attribute in dir(thing) if attribute[0] != "_"]
    question = did_you_mean(name, public)
    text = f"{type(thing).__name__!r} object has no attribute {name!r}. {question}".rstrip(". ")
    return AttributeError(text, name=name) if question else AttributeError(text)  # with a name Python adds nothing


def _normalize(name: str) -> str:
    """Return a name in lower case, its words joined by underscores."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _likeness(left: str, right: str) -> float:
    """Return the share of the letters of two names that match in order."""
    return difflib.SequenceMatcher(None, left, right).ratio()


def _has_words(option: list[str], words: list[str]) -> bool:
    """Return whether each word is similar to a word of the option."""
    return all(any(_likeness(word, part) >= MIN_WORD_LIKENESS for part in option) for word in words)


def resolve_alias(name: Any, options: Collection[str]) -> Any:
    """Return the option with this name, apart from case and hyphens ("PCA", "t-SNE"), or with this alias ("rbf").

    A name of no option is returned unchanged.

    Examples
    --------
    >>> [resolve_alias(name, ("gaussian", "pca", "tsne")) for name in ("PCA", "t-SNE", "rbf", "umap")]
    ['pca', 'tsne', 'gaussian', 'umap']
    """
    if not isinstance(name, str) or name in options:
        return name
    normalized = _normalize(name)
    equal = [option for option in options if str(option).lower() == normalized]
    synonym = SYNONYMS.get(normalized, name)
    return equal[0] if len(equal) == 1 else synonym if synonym in options else name


def check_one_of(
    value: Any, options: Collection[str], argument: str, listing: tuple[str, ...] = (), *, aliases: bool = False
) -> str:
    """Return a name from a closed set; the error for any other name suggests the nearest and lists the names.

    ``listing`` are the calls that list the options; the error names them if there are many options. ``aliases`` says
    whether an alias of an option is accepted; names that users choose have none.
    """
    value = resolve_alias(value, options) if aliases else value
    if isinstance(value, str) and value in options:
        return value
    raise _unknown(UnknownName, value, options, argument, listing)


def _unknown(
    kind: type[UnknownName], value: Any, options: Collection[str], argument: str, listing: tuple[str, ...] = ()
) -> UnknownName:
    """Return the error for a name of no option."""
    hint = did_you_mean(value, options) + list_names(options, listing)
    return kind(argument, "must be a known name", describe(value), hint, **calls(listing))


def list_names(options: Iterable[str], listing: tuple[str, ...] = ()) -> str:
    """Return a sentence that lists the names; of many names, one with fields for the ``calls`` that list them."""
    options = sorted(options)
    if len(options) <= MAX_LISTED_NAMES or not listing:
        return f"Known: {', '.join(options) or 'none'}."
    return f"{' and '.join(f'{{{call}}}' for call in listing)} list{'s' if len(listing) == 1 else ''} them all."


def calls(listing: Iterable[str]) -> dict[str, Hint]:
    """Return calls as fields of an error."""
    return {call: Hint(call) for call in listing}


def check_names(value: Any, argument: str, hint: str) -> list[str]:
    """Return the names of an argument, each once, from one name or several: a list, tuple, set, array or index of text.

    Anything else raises an error whatever its elements: a result, an evaluation and a frame can be iterated as well,
    and the names in it may be valid ones.

    Examples
    --------
    >>> check_names("pca", "names", ""), check_names(("b", "a", "b"), "names", "")
    (['pca'], ['b', 'a'])
    """
    if isinstance(value, str):
        return [value]
    is_column = callable(getattr(value, "to_list", None))  # of pandas or polars
    if not (is_column or isinstance(value, Sequence | Set | ValuesView | Iterator | np.ndarray)):
        raise InputError(argument, "must be one or several names", describe(value), hint)
    names = list(value)
    for name in names:
        if not isinstance(name, str):
            raise InputError(argument, "must be one or several names", f"{describe(name)} among them", hint)
    if not names:
        raise InputError(argument, "must name something", "an empty list", "Leave it out for all.")
    return [str(name) for name in dict.fromkeys(names)]


def check_parameters(options: Iterable[str], parameters: Iterable[str], owner: str) -> None:
    """Check that every option is a parameter of its owner, a function or class."""
    parameters = [key for key in parameters if key not in ("self", "cls")]
    for name in options:
        if name not in parameters:
            raise _unknown(UnknownKeyword, name, parameters, f"parameter of {owner}")


def keywords_checked(function: Function) -> Function:
    """Decorate an entry point of the package: the error for an unknown keyword suggests the nearest one.

    These are ``Evaluation`` and its ``run``, ``compare``, ``sweep``, ``Study`` and ``Protocol``; elsewhere Python's own
    error names the keyword. Only keywords are checked, before the call: a TypeError from inside the function, its
    signature and its docstring are unchanged.

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
    parameters = tuple(inspect.signature(function).parameters)
    names, is_constructor = frozenset(parameters), function.__name__ == "__init__"

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        if options and not options.keys() <= names:
            owner = type(arguments[0]).__name__ if is_constructor else function.__qualname__
            check_parameters(options, parameters, owner)
        return function(*arguments, **options)

    return checked  # type: ignore[return-value]


def check_bool(value: Any, argument: str) -> bool:
    """Return True or False; other values that act as a truth value raise an error."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(argument, "must be True or False", describe(value), "Pass True or False.")


def _bounds_text(low: float | None, high: float | None) -> str:
    """Return the range as text, with a leading space."""
    bounds = [f"{sign} {bound}" for sign, bound in ((">=", low), ("<=", high)) if bound is not None]
    return f" {' and '.join(bounds)}" if bounds else ""


def _nearest_integer_hint(value: Any, low: int | None, high: int | None) -> str:
    """Return the hint for an invalid integer: the nearest valid one."""
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
    """Return an integer within [low, high]."""
    bounds = _bounds_text(low, high)
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not is_integer or (low is not None and value < low) or (high is not None and value > high):
        raise InputError(
            argument, f"must be an integer{bounds}", describe(value), _nearest_integer_hint(value, low, high)
        )
    return int(value)


def check_float(
    value: Any, argument: str, low: float | None = None, high: float | None = None, *, above: float | None = None
) -> float:
    """Return a finite number within [low, high] and above ``above``; the error for a percentage suggests the share."""
    bounds = _bounds_text(low, high) if above is None else f" > {above} and <= {high}"
    is_finite = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_) and np.isfinite(float(value))

    def is_within(number: float) -> bool:
        return (low is None or number >= low) and (high is None or number <= high) and (above is None or number > above)

    if not is_finite or not is_within(value):
        is_percentage = is_finite and high is not None and high <= 1 and value >= 5 and is_within(value / 100)
        hint = (f"Did you mean {value / 100:g}? " if is_percentage else "") + f"Choose a number{bounds}."
        raise InputError(argument, f"must be a finite number{bounds}", describe(value), hint)
    return float(value)


def check_width(value: Any, argument: str) -> float:
    """Return the width of a kernel in units of the data: a number large enough to divide by."""
    return check_float(value, argument, low=1e-12)


def check_path(value: Any, argument: str) -> Path:
    """Return the path in a text or a path object, without null characters and with names of valid length."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):
        raise InputError(argument, "must be a path", describe(value), "Pass the name of a file as text.")
    if "\0" in text:
        raise InputError(argument, "must be a path", describe(text), "Remove the null character.")
    if (longest := max((len(os.fsencode(part)) for part in Path(text).parts), default=0)) > MAX_FILE_NAME_BYTES:
        requirement = f"must have names of at most {MAX_FILE_NAME_BYTES} bytes"
        raise InputError(argument, requirement, f"{describe(text)} of {longest}", "Choose a shorter name.")
    return Path(text)


def max_unpacked_bytes(path: Path) -> float:
    """Return the largest unpacked size of a file in bytes: 200 times its size, at least ``MIN_UNPACKED_LIMIT_BYTES``.

    The environment variable ``DREVAL_READ_LIMIT`` (bytes, as "8e9") replaces both.
    """
    limit = read_limit()
    return max(MIN_UNPACKED_LIMIT_BYTES, MAX_UNPACKED_RATIO * _size_of(path)) if limit is None else limit


def _size_of(path: Path) -> int:
    """Return the number of bytes of a file, or of all files in a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, files in os.walk(path) for name in files)


def read_limit() -> float | None:
    """Return the number of bytes that the environment variable ``DREVAL_READ_LIMIT`` allows; None if it is not set."""
    text = os.environ.get("DREVAL_READ_LIMIT")
    try:
        return None if text is None else float(text)
    except ValueError as error:
        requirement = "must be a number of bytes"
        hint = "Set the environment variable to 8e9."
        raise InputError("DREVAL_READ_LIMIT", requirement, repr(text), hint) from error


def check_unpacked(size: int, path: Path, argument: str) -> None:
    """Check, before any memory is allocated, that a file may unpack to ``size`` bytes: a small file is no bomb."""
    limit = max_unpacked_bytes(path)
    if size > limit:
        requirement = f"must unpack to at most {limit:.3g} bytes"
        received = f"{str(path)!r}, {_size_of(path):,} bytes that unpack to {float(size):.3g} or more"
        hint = f"If the file is what you expect, set the environment variable DREVAL_READ_LIMIT={2.0 * size:.2g}."
        raise InputError(argument, requirement, received, hint)


def check_npy(file: BinaryIO, size: int) -> bool:
    """Return whether an open .npy file of ``size`` bytes holds objects; raise ValueError if the file is too short."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize > size - file.tell():
        raise ValueError(f"its header has the shape {shape}, and the file is too short for it")
    return bool(dtype.hasobject)


def read_npy(content: bytes) -> npt.NDArray[Any]:
    """Return the array in the content of an .npy file, which must be complete and hold no objects."""
    file = io.BytesIO(content)
    if check_npy(file, len(content)):
        raise ValueError("an array of objects, which are never loaded")
    file.seek(0)
    return np.asarray(np.load(file, allow_pickle=False))


def check_random_state(value: Any, argument: str = "random_state") -> int | np.random.Generator | None:
    """Return an integer seed, a numpy Generator, or None."""
    if value is None or isinstance(value, np.random.Generator):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_) and int(value) >= 0:
        return int(value)
    alternatives = "" if isinstance(value, int) else ", a numpy Generator or None"
    raise InputError(
        argument, f"must be a non-negative integer{alternatives}", describe(value), "Pass an integer such as 0."
    )


def auto_neighbors(n: int) -> int:
    """Return the number of neighbors for ``"auto"``: min(15, (n - 1) // 2), and at least 1."""
    return max(1, min(DEFAULT_NEIGHBORS, (n - 1) // 2))


MAX_POINTS_WITHOUT_ANCHORS = 20_000  # points up to which anchors="auto" takes all
DEFAULT_ANCHORS = 2000  # anchors that it takes of more points


def check_anchors(value: Any, n: int) -> int | None:
    """Return the number of anchors among n points; None for all.

    "none" means all points, and "auto" all of up to 20,000 points or 2000 of more.
    """
    if isinstance(value, str) and value in ("auto", "none"):
        return DEFAULT_ANCHORS if value == "auto" and n > MAX_POINTS_WITHOUT_ANCHORS else None
    return None if value is None else check_int(value, "anchors", low=2, high=n)


def check_k(value: Any, n: int, argument: str = "n_neighbors") -> tuple[list[int], bool]:
    """Return the numbers of neighbors, all below ``n``, and whether a single number was passed.

    The list is sorted and has no repeats. "auto" means ``auto_neighbors(n)``.
    """
    if isinstance(value, str) and value == "auto":
        return [auto_neighbors(n)], True
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    single = not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes)
    values = [value] if single else list(value)
    if not values:
        requirement = "must name at least one number of neighbors"
        raise InputError(argument, requirement, "an empty list", "Pass 15, or [5, 15, 50].")
    for k in values:
        check_int(k, argument, low=1)
        if k >= n:
            requirement, received = "must be smaller than the number of points", f"{k} with {n} points"
            raise InputError(argument, requirement, received, f"Choose at most {n - 1}.")
    return sorted({int(k) for k in values}), single


def check_numeric(value: Any, argument: str) -> npt.NDArray[Any]:
    """Return an array of real numbers of any dtype.

    Masked cells, text, complex numbers, dates and objects raise an error; objects that are numbers become numbers.
    """
    check_opened(value, argument)
    value = check_unmasked(value, argument)
    try:
        array = _nullable(value) if hasattr(value, "iloc") else np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        received = f"{describe(value)} ({message_of(error)[:100]})"
        hint = "Every row needs the same number of numbers."
        raise InputError(argument, "must become a numeric array", received, hint) from error
    if array.dtype.kind == "c":
        hint = "Complex data not supported: pass the real and imaginary parts as separate columns."
        raise InputError(argument, "must be real", "complex numbers", hint)
    if hasattr(value, "toarray"):
        raise InputError(argument, "must be dense, not sparse", describe(value), f"Use {argument}.toarray().")
    if array.dtype.kind == "O":
        shapes = vectors(array.ravel()) if array.ndim and array.size == len(array) else None
        if shapes is not None:
            received, hint = describe_vectors(shapes, len(array), _cells_text(value))
            raise InputError(argument, "must hold numbers", received, hint)
        check_not_missing(array, argument)
        array = numbers_from_objects(array)
    if array.dtype.kind not in "biuf":
        hint = "Convert it to a numeric array, and leave out columns of text."
        raise InputError(argument, "must hold numbers", describe(array), hint)
    return array


def _cells_text(value: Any) -> str:
    """Return the Python expression for the cells of a frame of one column, a series or an array."""
    if hasattr(value, "columns"):
        return f"frame[{value.columns[0]!r}].to_list()"
    return "series.to_list()" if hasattr(value, "iloc") else "array.ravel()"


def _nullable(table: Any) -> npt.NDArray[Any]:
    """Return a pandas frame or series as a numpy array; nullable columns of one kind become floats or integers."""
    kinds = {getattr(kind, "kind", "O") for kind in np.atleast_1d(np.asarray(table.dtypes, dtype=object))}
    array = np.asarray(table)
    if array.dtype.kind != "O":
        return array
    if kinds <= {"b", "f"}:
        return np.asarray(table.to_numpy(dtype=np.float64, na_value=np.nan))
    is_complete = kinds <= {"b", "i"} and not table.isna().to_numpy().any()
    return np.asarray(table.to_numpy(dtype=np.int64)) if is_complete else array


def check_exact(array: npt.NDArray[Any], argument: str) -> None:
    """Check that no integer is too large for a float to hold exactly."""
    if array.dtype.kind not in "iu" or array.size == 0:
        return
    largest = max(int(array.max()), -int(array.min()))
    if largest > EXACT_INTEGERS:
        hint = "Subtract a common offset, or pass floats where the last digits do not matter."
        raise InputError(argument, "must hold integers up to 2**53", f"one of size {largest}", hint)


def check_finite(array: Any, argument: str, columns: Sequence[object] | None = None) -> None:
    """Check that an array or sparse matrix has no NaN and no infinity; the error names the first such cells."""
    stored = array.data if hasattr(array, "indptr") else array
    bad = ~np.isfinite(stored)
    if not bad.any():
        return
    cells = np.argwhere(bad) if stored is array else np.stack(array.tocoo().coords, axis=1)[bad]
    raise not_finite_error(stored[bad][:3], cells[:3], len(cells), argument, columns)


def not_finite_error(
    values: npt.NDArray[Any],
    cells: npt.NDArray[Any],
    count: int,
    argument: str,
    columns: Sequence[object] | None = None,
) -> InputError:
    """Return the error for ``count`` cells that are NaN or infinite; it names the cells passed, the first of them."""
    examples = ", ".join(_cell(value, cell, columns) for value, cell in zip(values, cells, strict=True))
    remainder = f" and {count - len(values)} more" if count > len(values) else ""
    base = "" if cells.shape[1] == 1 else ROWS_FROM_ZERO
    return InputError(argument, "must be finite", f"{examples}{remainder}{base}", IMPUTE_HINT)


def _cell(value: float, cell: npt.NDArray[Any], columns: Sequence[object] | None) -> str:
    kind = "NaN" if np.isnan(value) else "infinity"
    if len(cell) == 1:
        return f"{kind} at position {cell[0]}"
    column = cell[1] if columns is None else repr(columns[cell[1]])
    return f"{kind} in row {cell[0]}, column {column}"


def check_points(
    value: Any,
    argument: str,
    *,
    columns: Sequence[object] | None = None,
    min_rows: int = MIN_POINTS,
    copy: bool = False,
    part: bool = False,
) -> FloatArray:
    """Return a finite (n, p) float64 C-ordered array with at least ``min_rows`` rows; a vector becomes one column.

    With ``copy`` the result shares no memory with ``value``; otherwise it may be the caller's array itself. The
    numbers of a ``part``, new rows next to a table that was checked, may be as small as they are.
    """
    array = check_numeric(value, argument)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        received = describe(array)
        if array.ndim == 2:
            received = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required"
        hint = "Pass an (n, p) array, rows are points."
        raise InputError(argument, "must be a table of rows and columns", received, hint)
    if array.shape[0] < min_rows:
        received = "1 sample" if len(array) == 1 else f"{len(array)} rows"
        hint = "Rows are points; transpose the array if columns are."
        raise InputError(argument, f"must have at least {min_rows} rows", received, hint)
    check_exact(array, argument)
    with np.errstate(over="ignore"):
        points = np.array(array, dtype=np.float64, order="C", copy=True if copy else None)
    check_finite(points, argument, columns)
    check_magnitude(max(float(points.max(initial=0.0)), -float(points.min(initial=0.0))), argument, part)
    return points


SMALLEST_MAGNITUDE = 1e-60  # of the largest absolute value: fourth powers of distances do not underflow
LARGEST_MAGNITUDE = 1e60  # of the largest absolute value: sums of fourth powers of distances do not overflow
SMALLEST_DIFFERENCE = 2.0**-500  # of rows that count as different: its square is a number
EXACT_MAGNITUDE = 2.0**-450  # different numbers of this size differ by more than SMALLEST_DIFFERENCE, and so do rows


def check_magnitude(largest: float, argument: str, part: bool = False) -> None:
    """Check that the largest absolute value of a table is 0 or a size whose fourth power is a number.

    Computations then need no scaling: squares of distances, and products of such squares, neither overflow nor
    underflow. The values of a ``part`` of a table may be as small as they are.
    """
    if largest == 0 or ((part or largest >= SMALLEST_MAGNITUDE) and largest <= LARGEST_MAGNITUDE):
        return
    requirement = f"must have magnitudes between {SMALLEST_MAGNITUDE:g} and {LARGEST_MAGNITUDE:g}"
    received = f"a largest absolute value of {largest:.3g}"
    hint = f"Divide it by {10.0 ** math.floor(math.log10(largest)):.0e}, which moves all points alike."
    raise InputError(argument, requirement, received, hint)


def check_spread(points: Any, argument: str) -> None:
    """Check the magnitude of a table, and that rows that differ have a distance above 0.

    The squares of differences up to 2 ** -500 underflow, so that such rows would count as equal points.
    """
    sparse = hasattr(points, "indptr")
    size = np.abs(points.data if sparse else points)
    check_magnitude(float(size.max(initial=0.0)), argument)
    if float(size.min(initial=np.inf, where=size > 0)) > EXACT_MAGNITUDE:
        return
    coarse = points.copy()
    (coarse.data if sparse else coarse)[size <= SMALLEST_DIFFERENCE] = 0.0
    count = _count_distinct_rows(points) - _count_distinct_rows(coarse)
    if count > 0:
        requirement = f"must have rows that differ by more than {SMALLEST_DIFFERENCE:.0e}, or not at all"
        received = f"{count} rows that differ by less"
        raise InputError(argument, requirement, received, "Multiply small columns by a number, or round them to 0.")


def _count_distinct_rows(points: Any) -> int:
    """Return the number of rows that differ from each other."""
    if not hasattr(points, "indptr"):
        return len({row.tobytes() for row in points + 0.0})  # -0.0 becomes 0.0
    points.eliminate_zeros()
    cuts = points.indptr[1:-1]
    parts = zip(np.split(points.indices, cuts), np.split(points.data, cuts), strict=True)
    return len({(columns.tobytes(), values.tobytes()) for columns, values in parts})


def column_names(table: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame; None for an array and for a frame with numbered columns."""
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns) or type(columns).__name__ == "RangeIndex":
        return None
    return tuple(str(name) for name in columns)


def reorder_columns(table: Any, names: Sequence[str] | None, argument: str) -> Any:
    """Return a table with its columns in the order of ``names`` if both have names, else the table unchanged."""
    columns = column_names(table)
    if names is None or columns is None or columns == tuple(names):
        return table
    if len(set(columns)) < len(columns) or set(columns) != set(names):
        hint = (
            f"Pass rows with these columns, in any order: {_first_names(names)}; or a plain array, to go by position."
        )
        raise InputError(argument, "must have the columns of the data", _difference(columns, names), hint)
    return np.asarray(table)[:, [columns.index(name) for name in names]]


def _difference(columns: Sequence[str], names: Sequence[str]) -> str:
    """Return a phrase on how the columns of a table differ from the required names."""
    missing = [name for name in names if name not in columns]
    extra = [name for name in columns if name not in names]
    parts = [f"no column {_first_names(missing, repr)}"] if missing else []
    parts += [f"{_first_names(extra, repr)}, which the data do not have"] if extra else []
    return ", and ".join(parts) or f"repeated names: {_first_names(columns)}"


def _first_names(names: Sequence[str], write: Callable[[str], str] = str) -> str:
    """Return the first six names, and the number of the remaining ones."""
    return ", ".join(map(write, names[:6])) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def check_rows(rows: int, n: int, argument: str, misread: tuple[str, Hint] | None = None) -> None:
    """Check that a table has as many rows as the data.

    ``misread`` is a sentence on the first row of a file, which may be misread, and the argument ``{header}`` in it.
    """
    if rows != n:
        sentence, header = misread or ("", Hint("header"))
        hint = "drop or add rows, or give both sides ids (a unique index, or an id column)."
        raise InputError(
            argument,
            "must have one row per point of the data",
            f"{rows} rows for {n} points",
            f"{sentence} Else align them: {hint}" if sentence else f"Align them: {hint}",
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
)  # texts for a missing value, those of pandas.read_csv, in files and in all other inputs


def is_missing_text(values: Any) -> npt.NDArray[np.bool_]:
    """Return which of n texts or categories are in ``MISSING_TEXTS`` (n,); all False for arrays of other types.

    Spaces at the ends of a text are ignored; a text of spaces only is missing.

    Examples
    --------
    >>> is_missing_text(np.array(["a", "nan", "None"]))
    array([False,  True,  True])
    """
    import pandas as pd

    series = pd.Series(values)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind not in "OUS":
        return np.zeros(len(series), np.bool_)
    if isinstance(series.dtype, pd.CategoricalDtype):
        missing = [code for code, name in enumerate(series.cat.categories) if _is_missing_text(name)]
        return np.asarray(series.cat.codes.isin(missing), np.bool_)
    if not (series.dtype == object or pd.api.types.is_string_dtype(series.dtype)):
        return np.zeros(len(series), np.bool_)
    return np.fromiter((_is_missing_text(cell) for cell in series), np.bool_, len(series))


def _is_missing_text(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip() in MISSING_TEXTS


def strip_texts(values: Any) -> npt.NDArray[Any]:
    """Return an array of classes (n,) without spaces at the ends of texts, as texts read from files have none.

    Examples
    --------
    >>> strip_texts(np.array(["a", " a ", "b c"]))
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


def has_whole_numbers(values: Any) -> bool:
    """Return whether a float array holds only whole numbers, all small enough for a float to be exact."""
    array = np.asarray(values)
    if array.dtype.kind != "f" or array.size == 0:
        return False
    return bool(np.all(np.isfinite(array)) and np.all(np.rint(array) == array) and np.abs(array).max() < EXACT_INTEGERS)


def check_classes(
    value: Any, n: int, argument: str = "labels", hint: str | None = None
) -> tuple[IntArray, npt.NDArray[Any]]:
    """Return the class codes 0..c-1 (n,) and the sorted classes.

    Text, booleans and integers are classes, and so are floats that are whole numbers; other floats raise an error with
    the hint ``hint``. Missing values and texts for a missing value raise an error. Spaces at the ends of texts are
    ignored.
    """
    noun = "batches" if argument == "batch" else "classes"
    array = np.asarray(check_unmasked(value, argument))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(argument, "must be one value per point", describe(array), f"Pass a vector of {noun}.")
    check_rows(len(array), n, argument)
    if array.dtype.kind == "O":
        check_single_values(array, argument)
        check_not_missing(array, argument)
        array = numbers_from_objects(array)
    array = array.astype(np.int64) if has_whole_numbers(array) else array
    if array.dtype.kind in "fc":
        received = f"dtype {array.dtype}"
        if array.dtype.kind == "f" and len(array):
            row = int(np.argmin([has_whole_numbers(array[[row]]) for row in range(len(array))]))
            received = f"{array[row].item()!r} in row {row}{ROWS_FROM_ZERO}"
        hint = hint or (
            "Pass numbers as {covariates} of an evaluation, or as {response} of `embed`; write codes of "
            f"{noun} as whole numbers."
        )
        requirement = f"must be {noun} (text, booleans or integers)"
        raise InputError(argument, requirement, received, hint, covariates="covariates", response="response")
    if array.dtype.kind in "OUS" and (missing := is_missing_text(array)).any():
        row = int(np.argmax(missing))
        received = f"the text {str(array[row])!r}, which stands for a missing value, in row {row}{ROWS_FROM_ZERO}"
        received += f" and {int(missing.sum()) - 1} more such rows" if missing.sum() > 1 else ""
        hint = f"Drop these rows, or write another word where it is the name of one of the {noun}."
        raise InputError(argument, "must be complete", received, hint)
    if array.dtype.kind not in "biuUSO":
        raise InputError(argument, f"must be {noun}", describe(array), "Pass text, booleans or integers.")
    array = strip_texts(array)
    if array.dtype.kind == "O":
        try:
            array = array.astype(str)
        except Exception as error:  # raised by a foreign class
            received = f"objects that cannot become text ({type(error).__name__})"
            raise InputError(argument, f"must be {noun}", received, "Pass text, booleans or integers.") from error
    if array.dtype.kind not in "biu":
        classes, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64), classes
    starts = range(0, len(array), CHUNK_OF_CLASSES)
    parts = [slice(start, start + CHUNK_OF_CLASSES) for start in starts]
    classes, codes = np.unique(np.concatenate([np.unique(array[part]) for part in parts])), np.empty(n, np.int64)
    for part in parts:  # only the codes need memory for all points
        codes[part] = np.searchsorted(classes, array[part])
    return codes, classes


CHUNK_OF_CLASSES = 1 << 16  # integers of classes that are coded at a time


def check_unmasked(value: Any, argument: str) -> Any:
    """Return the data of a masked array without masked cells, and other values unchanged; raise for masked cells.

    Lists of masked rows or cells raise, too, since numpy reads the values under their masks.
    """
    is_list = isinstance(value, list | tuple)
    if not is_list and not isinstance(value, np.ma.MaskedArray):
        return value
    counts = [_masked_cells(row) for row in (value if is_list else [value])]
    if not any(counts):
        return value if is_list else value.data
    indices = [next(row for row, count in enumerate(counts) if count)] if is_list else np.argwhere(value.mask)[0]
    place = ", column ".join(map(str, indices))
    received = f"{sum(counts)} masked cell{'' if sum(counts) == 1 else 's'}, the first in row {place}"
    hint = "Drop such rows, or fill them with your own values (numpy.ma.filled): the data under a mask are not values."
    raise InputError(argument, "must have no masked cells", received, hint)


def _masked_cells(row: Any) -> int:
    """Return the number of masked cells in an array (of numbers or objects) or in a list of cells."""
    if isinstance(row, np.ma.MaskedArray):
        return 0 if row.dtype.names else int(np.count_nonzero(np.ma.getmaskarray(row)))
    return sum(cell is np.ma.masked for cell in row) if isinstance(row, list | tuple) else 0


def vectors(cells: Iterable[Any]) -> set[tuple[int, ...]] | None:
    """Return the shapes of cells that are all vectors or arrays of numbers or missing; None for other cells."""
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


def describe_vectors(
    shapes: set[tuple[int, ...]], n: int, values: str, missing: int = 0, where: str = ""
) -> tuple[str, str]:
    """Return the description and the hint of an error, for n cells that each hold a vector.

    ``values`` is the Python expression for the cells, a list or an array; ``where`` names their column.
    """
    if missing:
        received = f"a vector in each cell{where} but {missing}"
        return received, f"Drop the rows without a vector, also from the other inputs, then pass numpy.stack({values})."
    if len(shapes) > 1:
        sizes = sorted(math.prod(shape) for shape in shapes)
        received = f"vectors of {sizes[0]} to {sizes[-1]} numbers in the cells{where}"
        return received, "Give the same number of numbers in each row, then pass numpy.stack of the vectors."
    if len(shape := next(iter(shapes))) > 1:
        rows = f"numpy.stack({values}).reshape({n}, -1)"
        return f"an array of shape {shape} in each cell{where}", f"Make each array a row: {rows}."
    count = f"{shape[0]} number{'s' if shape[0] != 1 else ''}"
    return f"a vector of {count} in each cell{where}", f"Make each vector a row: numpy.stack({values})."


def check_single_values(values: npt.NDArray[Any], argument: str) -> None:
    """Check that no cell of objects is a list, an array or a mapping, which is neither a class nor a row name."""
    rows = [row for row, cell in enumerate(values) if isinstance(cell, list | np.ndarray | dict)]
    if rows:
        received = f"{describe(values[rows[0]])} in row {rows[0]}{ROWS_FROM_ZERO}"
        hint = (
            "Pass a number or a text for each point. Data, embeddings, latent variables and variables of a test of "
            "independence may have several numbers for each: numpy.stack(list(values))."
        )
        raise InputError(argument, "must be one value per point", received, hint)


def numbers_from_objects(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return objects that are all numbers as an array of floats (if any is a float or decimal), integers or booleans.

    All other arrays are returned unchanged, also objects of several kinds and numbers too large for numpy.
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
    array = np.asarray(values.tolist()) if kind in ("integer", "boolean") else values
    return array if array.dtype.kind in "biu" else values


def check_not_missing(array: npt.NDArray[Any], argument: str) -> None:
    """Raise an error if some objects are missing (None, NaN, pandas' NA), unless all are."""
    import pandas as pd

    missing = np.argwhere(pd.isna(array))
    if 0 < len(missing) < array.size:
        place = ", column ".join(map(str, missing[0]))
        received = f"{len(missing)} missing value{'' if len(missing) == 1 else 's'}, the first in row {place}"
        raise InputError(argument, "must be complete", received, IMPUTE_HINT)
