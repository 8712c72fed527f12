"""Checks of arguments: each returns its value in a normal form, or raises an error of four parts."""

from __future__ import annotations

import difflib
import inspect
import io
import math
import numbers
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from contextlib import suppress
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from dreval.errors import THE_DATA, Hint, InputError, UnknownKeyword, UnknownName

__all__ = [
    "attribute_error",
    "auto_neighbors",
    "calls",
    "check_bool",
    "check_float",
    "check_int",
    "check_k",
    "check_names",
    "check_npy",
    "check_one_of",
    "check_parameters",
    "check_path",
    "check_random_state",
    "check_rows",
    "check_unpacked",
    "check_width",
    "describe",
    "did_you_mean",
    "is_deeply_nested",
    "keywords_checked",
    "list_names",
    "nearest_name",
    "read_limit",
    "read_npy",
    "resolve_alias",
    "suggestions",
]

Function = TypeVar("Function", bound=Callable[..., Any])
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
DEFAULT_NEIGHBORS = 15  # neighbors, where there are enough points
MAX_SUGGESTIONS = 4  # names that begin with the same letters; more are not suggested
MAX_LISTED_NAMES = 12  # in a message; of more names the message names the call that lists them
SYNONYMS = {
    "add": "with_embedding",
    "b": "n_resamples",
    "bh": "benjamini_hochberg",
    "canonical_correlation": "cca",
    "checkpoint": "journal",
    "cityblock": "manhattan",
    "classes": "labels",
    "cmds": "classical_mds",
    "conf_level": "alpha",
    "confidence": "conf_level",
    "confidence_level": "conf_level",
    "cv": "n_splits",
    "distance": "metric",
    "fdr_bh": "benjamini_hochberg",
    "k": "n_neighbors",
    "kpca": "kernel_pca",
    "l1": "manhattan",
    "l2": "euclidean",
    "laplacian": "laplace",
    "locally_linear_embedding": "lle",
    "locallylinearembedding": "lle",
    "knn": "knn_accuracy",
    "lr": "learning_rate",
    "mantel": "pearson_distance",
    "mds": "metric_mds",
    "metrics": "measures",
    "n_folds": "n_splits",
    "n_iter": "max_iter",
    "n_perm": "n_resamples",
    "n_permutations": "n_resamples",
    "n_perms": "n_resamples",
    "n_repeats": "n_replicates",
    "n_runs": "n_replicates",
    "nperm": "n_resamples",
    "nperms": "n_resamples",
    "permutations": "n_resamples",
    "perms": "n_resamples",
    "principal_component_analysis": "pca",
    "rbf": "gaussian",
    "seed": "random_state",
    "resume": "journal",
    "spectral_embedding": "laplacian_eigenmaps",
    "spectralembedding": "laplacian_eigenmaps",
    "squared_exponential": "gaussian",
    "store": "journal",
    "taxicab": "manhattan",
    "threads": "n_jobs",
    "t_sne": "tsne",
    "statistic": "measure",
    "target": "labels",
    "verbose": "progress",
    "workers": "n_jobs",
    "y": "labels",
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
        if words and all(any(_likeness(word, part) >= MIN_WORD_LIKENESS for part in text.split("_")) for word in words)
    }
    shortest = [option for option, count in word_counts.items() if count == min(word_counts.values())]
    return shortest[0] if len(shortest) == 1 else best if shares[best] >= MIN_LIKENESS else None


def suggestions(name: Any, options: Iterable[str]) -> list[str]:
    """Return the nearest option alone, or else up to four options that begin with ``name``.

    If ``name`` is the first words of the nearest option and of others, up to four in all, it means any of them.

    Examples
    --------
    >>> suggestions("trust", ("trustworthiness", "trustability", "stress"))
    ['trustability', 'trustworthiness']
    >>> suggestions("kmeans", ("kmeans_ami", "kmeans_ari", "kmeans_nmi", "knn_accuracy"))
    ['kmeans_ami', 'kmeans_ari', 'kmeans_nmi']
    """
    if not isinstance(name, str):
        return []
    options, query = [str(option) for option in options], _normalize(name)
    starting = [option for option in options if len(query) >= MIN_WORD_LENGTH and _normalize(option).startswith(query)]
    if nearest := nearest_name(name, options):
        twins = [option for option in starting if _normalize(option).startswith(f"{query}_")]
        return sorted(twins) if nearest in twins and len(twins) <= MAX_SUGGESTIONS else [nearest]
    return sorted(starting) if len(starting) <= MAX_SUGGESTIONS else []


def did_you_mean(name: Any, options: Iterable[str]) -> str:
    """Return the question that suggests ``suggestions``, followed by a space; an empty text without suggestions."""
    names = " or ".join(map(repr, suggestions(name, options)))
    return f"Did you mean {names}? " if names else ""


# Attributes that objects of other packages have: a method of this package, and the expression with that purpose.
ELSEWHERE: dict[str, tuple[tuple[str, str], ...]] = {
    "best": (("ranking", "ranking()"),),
    "best_": (("ranking", "ranking()"),),
    "best_embedding": (("ranking", "ranking()"),),
    "columns": (("tidy", "tidy().columns"),),
    "df": (("tidy", "tidy()"),),
    "evaluate": (("run", "run()"),),
    "fit": (("run", "run()"),),
    "head": (("tidy", "tidy().head()"),),
    "items": (("ranking", "embeddings.items()"),),
    "keys": (("ranking", "names"),),
    "iloc": (("tidy", "tidy().iloc"),),
    **dict.fromkeys(("from_file", "load", "open", "read"), (("save", "dreval.load_results(path)"),)),
    "loc": (("tidy", "tidy().loc"),),
    "metrics": (("tidy", "tidy()"),),
    "p_values": (("tidy", "tidy()[['p_value', 'p_adjusted']]"),),
    "plot": (("run", "run().plot()"),),
    "print": (("summary", "summary()"),),
    "pvalues": (("tidy", "tidy()[['p_value', 'p_adjusted']]"),),
    "ranking": (("run", "run().ranking()"),),
    "run": (("tidy", "tidy()"),),
    "savefig": (("plot", "plot().savefig"),),
    "score": (("run", "run()"), ("tidy", "tidy()")),
    "scores": (("run", "run().tidy()"), ("tidy", "tidy()")),
    "show": (("summary", "summary()"),),
    "summary": (("run", "run().summary()"),),
    "tidy": (("run", "run().tidy()"),),
    "to_csv": (("tidy", "tidy().to_csv"),),
    "to_dataframe": (("tidy", "tidy()"),),
    "to_df": (("tidy", "tidy()"),),
    "to_excel": (("tidy", "tidy().to_excel"),),
    "to_frame": (("tidy", "tidy()"),),
    "to_pandas": (("tidy", "tidy()"),),
    "values": (("tidy", "tidy()['value']"),),
    "winner": (("ranking", "ranking()"),),
}


def attribute_error(thing: object, name: str, expression: str = "") -> AttributeError:
    """Return the error for an attribute that an object or a class does not have; it suggests the nearest public one.

    ``expression``, which has what the name refers to, comes first, then an attribute with that purpose elsewhere, as
    ``to_csv`` of a frame.
    """
    kind = thing if isinstance(thing, type) else type(thing)
    subject = f"type object {kind.__name__!r}" if kind is thing else f"{kind.__name__!r} object"
    absent = f"{subject} has no attribute {name!r}"
    purposes = [purpose for method, purpose in ELSEWHERE.get(name, ()) if method in dir(kind)]
    for purpose in [expression] * bool(expression) + purposes:
        return AttributeError(f"{absent}. Use {purpose}", name=name)
    public = [] if name.startswith("_") else [attribute for attribute in dir(thing) if attribute[0] != "_"]
    question = did_you_mean(name, public)
    text = f"{absent}. {question}".rstrip(". ")
    return AttributeError(text, name=name) if question else AttributeError(text)  # with a name Python adds nothing


def _normalize(name: str) -> str:
    """Return a name in lower case, its words joined by underscores."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _likeness(left: str, right: str) -> float:
    """Return the share of the letters of two names that match in order."""
    return difflib.SequenceMatcher(None, left, right).ratio()


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


def keywords_of_anndata(name: str, second: str) -> dict[str, str]:
    """Return how a function that takes arrays gets other data of an AnnData object, by the keyword of ``Evaluation``.

    Examples
    --------
    >>> keywords_of_anndata("score", "Y")["use_rep"]
    'dreval.score(adata.obsm["X_pca"], Y)'
    """
    data = {"layer": 'adata.layers["counts"]', "use_rep": 'adata.obsm["X_pca"]'}
    return {keyword: f"dreval.{name}({expression}, {second})" for keyword, expression in data.items()}


def keywords_checked(function: Function, elsewhere: Mapping[str, str] = MappingProxyType({})) -> Function:
    """Decorate an entry point of the package: the error for an unknown keyword suggests the nearest one.

    ``elsewhere`` are keywords of another call, by name, with the expression that takes them.

    These are ``score``, ``Evaluation`` and its ``run``, ``out_of_sample``, ``compare``, ``stability``, ``noise_test``,
    ``sweep``, ``Study`` and ``Protocol``; elsewhere Python's own error names the keyword. Only keywords are checked,
    before the call: a TypeError from inside the function, its signature and its docstring are unchanged. Too many
    arguments without a keyword raise the same error, with a hint to pass several values as a list.

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
    signature = inspect.signature(function).parameters
    parameters = tuple(signature)
    positional = [name for name, item in signature.items() if item.kind is item.POSITIONAL_OR_KEYWORD]
    limit = math.inf if any(item.kind is item.VAR_POSITIONAL for item in signature.values()) else len(positional)
    names, is_constructor = frozenset(parameters), function.__name__ == "__init__"

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        if len(arguments) > limit:
            owner = type(arguments[0]).__name__ if is_constructor else function.__qualname__
            count = len(arguments) - (positional[0] == "self")
            hint = "Pass several values of one argument as a list, and other arguments by name."
            requirement = f"must have a name after `{positional[-1]}`"
            raise UnknownKeyword(f"arguments of {owner}", requirement, f"{count} without a name", hint)
        if options and not options.keys() <= names:
            owner = type(arguments[0]).__name__ if is_constructor else function.__qualname__
            for name in options.keys() - names:
                if call := elsewhere.get(resolve_alias(name, elsewhere)):
                    raise UnknownKeyword(f"parameter of {owner}", "must be a known name", repr(name), f"Call {call}.")
            check_parameters(options, parameters, owner)
        return function(*arguments, **options)

    return checked  # type: ignore[return-value]


def check_bool(value: Any, argument: str) -> bool:
    """Return True or False; other values that act as a truth value raise an error."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(argument, "must be True or False", describe(value), "Pass True or False.")


def _bounds_text(low: float | None, high: float | None, above: float | None = None) -> str:
    """Return the range as text, with a leading space."""
    bounds = [f"{sign} {bound}" for sign, bound in ((">", above), (">=", low), ("<=", high)) if bound is not None]
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
    bounds = _bounds_text(low, high, above)
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
    except ValueError:
        requirement = "must be a number of bytes"
        hint = "Set the environment variable to 8e9."
        raise InputError("DREVAL_READ_LIMIT", requirement, repr(text), hint) from None


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


def check_k(value: Any, n: int, argument: str = "n_neighbors", *, length: int | None = None) -> tuple[list[int], bool]:
    """Return the numbers of neighbors, all below ``n``, and whether a single number was passed.

    The list is sorted and has no repeats. "auto" means ``auto_neighbors(n)``. From lists of neighbors they are at most
    ``length``, that of the shortest one, and "auto" is below it, since intervals need one neighbor more.
    """
    if isinstance(value, str) and value == "auto":
        return [auto_neighbors(n) if length is None else min(auto_neighbors(n), max(1, length - 1))], True
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
        if length is not None and k > length:
            requirement, received = "must be at most the length of the shortest list of neighbors", f"{k} with {length}"
            raise InputError(argument, requirement, received, f"Choose at most {length}, or search more neighbors.")
    return sorted({int(k) for k in values}), single


def check_rows(rows: int, n: int, argument: str, misread: tuple[str, Hint] | None = None) -> None:
    """Check that a table has as many rows as the data.

    ``misread`` is a sentence on the first row of a file, which may be misread, and the argument ``{header}`` in it.
    """
    if rows != n:
        sentence, header = misread or ("", Hint("header"))
        hint = "drop or add rows, or give both sides ids (a unique index, or an id column)."
        raise InputError(
            argument,
            "must have one row per point of {data}",
            f"{rows} rows for {n} points",
            f"{sentence} Else align them: {hint}" if sentence else f"Align them: {hint}",
            header=header,
            data=THE_DATA,
        )
