"""The card of a method, and the base class of all methods."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Real
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

import numpy as np
import numpy.typing as npt

from dreval._check import check_int, check_one_of, check_parameters, check_random_state, resolve_alias
from dreval._check_arrays import MIN_POINTS, check_points, column_names, reorder_columns, vectors
from dreval._docs import fill_docstring, wrap_entry
from dreval.cards import Card, register
from dreval.errors import InputError, not_fitted
from dreval.records.base import read_only, read_only_array
from dreval.records.points import Embedding
from dreval.registry import METHODS

FloatArray = npt.NDArray[np.float64]
PRECOMPUTED = "precomputed"
CONTAINERS = ("default", "pandas")


@read_only
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MethodCard(Card):
    """Properties of a method, besides those of every ``Card``.

    ``max_components`` is a function of n, p and the parameters of the method. ``deterministic`` means that the same
    data give the same embedding whatever the seed. ``out_of_sample`` and ``inverse`` say whether the method itself
    defines ``transform`` and ``inverse_transform``, ``distances`` whether it accepts distances with
    ``metric="precomputed"``. ``scale`` says how the embedding changes when the data are multiplied by c: it "follows"
    (is multiplied by c) or the scale is "ignored". ``rotation`` and ``translation`` of the data are "ignored" (up to
    signs, and up to the rounding that decides where a random search ends), or "read" if the columns or their zero have
    a meaning.
    """

    kind: ClassVar[str] = "method"
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "family", "cost", "reference")
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {
        "scale": ("follows", "ignored"),
        "rotation": ("ignored", "read"),
        "translation": ("ignored", "read"),
    }

    class_name: str
    family: str
    deterministic: bool
    out_of_sample: bool
    inverse: bool
    supervised: bool
    max_components: Callable[[int, int, dict[str, Any]], int]
    distances: bool = False
    scale: str = "ignored"
    rotation: str = "ignored"
    translation: str = "ignored"

    def lines(self) -> dict[str, str]:
        """Return the printed fields."""
        yes = {True: "yes", False: "no"}
        return {
            "name": self.name,
            "class": f"dreval.methods.{self.class_name}",
            "family": self.family,
            "deterministic": yes[self.deterministic],
            "supervised": yes[self.supervised],
            "own transform": yes[self.out_of_sample],
            "own inverse": yes[self.inverse],
            "reads distances": yes[self.distances],
            "scale of the data": self.scale,
            "rotation of the data": self.rotation,
            "cost": self.cost,
            "reference": self.reference,
        }


MethodClass = TypeVar("MethodClass", bound="type[Method]")


def _filled(cls: type[Method], card: MethodCard) -> type[Method]:
    """Fill the docstring of a method."""
    entries = {"cost": f"Cost: {card.cost}.", "reference": card.reference}
    cls.__doc__ = fill_docstring(cls.__doc__, **{name: wrap_entry(text) for name, text in entries.items()})
    return cls


@dataclass_transform(eq_default=False)
def method(**fields: Any) -> Callable[[MethodClass], MethodClass]:
    """Make a class a method: build its constructor, attach its card and fill its docstring.

    The parameters are the annotations of the class itself, as in ``dataclasses.dataclass``; a class that defines
    ``__init__`` keeps it. The name on the card is that of the class in snake case. ``fields`` are those of the card.
    """

    def attach(cls: MethodClass) -> MethodClass:
        if "__init__" not in vars(cls):
            dataclass(eq=False, repr=False)(cls)
        return register(MethodCard, METHODS.name_of, _filled, class_name=cls.__name__)(**fields)(cls)

    return attach


class Method:
    """A method that follows the conventions of scikit-learn.

    Parameters are passed to ``__init__`` and data to ``fit``; names of results end in an underscore. A subclass,
    decorated by ``method``, lists its parameters as the fields of a dataclass: ``n_components``, the only one that may
    be passed by position, then the others after ``_: KW_ONLY``. It defines ``_fit(X)``, which sets ``embedding_`` and
    the other fitted attributes. Annotations of a class that is not decorated, such as this one, are not parameters.
    ``varied`` means that the method rejects data that are copies of one point; the other methods embed them at one
    point.
    """

    card: ClassVar[MethodCard]
    varied: ClassVar[bool] = False
    embedding_: FloatArray
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]
    n_components: int
    random_state: int | np.random.Generator | None

    def __init_subclass__(cls) -> None:
        if "transform" in vars(cls):
            cls.transform = _with_container(vars(cls)["transform"])  # type: ignore[attr-defined]

    @property
    def requires_y(self) -> bool:
        """Whether ``fit`` requires y: the method is supervised, or its parameters make it so."""
        return self.card.supervised

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {
            name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"
        }

    def set_params(self, **params: Any) -> Self:
        """Set parameters; an unknown name raises an error that suggests the nearest known one."""
        parameters = self.get_params()
        for name, value in params.items():
            check_parameters([name], parameters, type(self).__name__)
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the embedding of the rows of ``X`` (n, p); ``y`` is used by supervised methods only.

        The data are copied once, so that later changes of ``X`` have no effect. Fitted arrays are read-only.
        """
        points = as_rows(X, copy=True)
        check_int(self.n_components, "n_components", low=1)
        check_random_state(self.random_state)
        parameters = self.get_params()
        limit = self.card.max_components(*points.shape, parameters)
        if self.n_components > limit:
            has_neighbors = "n_neighbors" in parameters
            largest_graph = {**parameters, "n_neighbors": len(points) - 1} if has_neighbors else parameters
            neighbors_help = self.card.max_components(*points.shape, largest_graph) > limit
            raise InputError(
                "n_components",
                f"must be at most {limit} for {type(self).__name__} on {len(points)} points in "
                f"{points.shape[1]} dimensions",
                str(self.n_components),
                f"Choose at most {limit}{', or a larger n_neighbors' * neighbors_help}.",
            )
        if self.varied and bool((points == points[0]).all()):
            received = f"{len(points)} copies of one point"
            raise InputError("X", "must have two points that differ", received, "Pass data that vary.")
        self._fit(points)
        self.n_features_in_ = points.shape[1]
        vars(self).pop("feature_names_in_", None)
        if (names := column_names(X)) is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._kernel_embedding = Embedding(self.embedding_, self.card.name, data=points)
        for name, value in list(vars(self).items()):  # ``transform`` and other methods read these arrays
            if name.endswith("_") and not name.startswith("_") and isinstance(value, np.ndarray):
                setattr(self, name, read_only_array(value))
        return self

    def _fit(self, X: FloatArray) -> None:
        raise TypeError(f"{type(self).__name__} must define _fit")

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Fit the method and return the embedding (n, n_components) as a new array, or as ``set_output`` requests."""
        return self._to_container(self.fit(X, y).embedding_.copy(), X)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``fit_transform`` and ``transform`` return, as in scikit-learn.

        "default" is an array, "pandas" a DataFrame with the index of the data; None changes nothing. Without a choice
        ``sklearn.set_config(transform_output=...)`` applies if scikit-learn has been imported.
        """
        if transform is not None:
            chosen = check_one_of(transform, CONTAINERS, "transform", aliases=True)
            self._sklearn_output_config = {"transform": chosen}  # by this name ``sklearn.clone`` keeps it
        return self

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the columns of the embedding: the class name in lower case and a number."""
        self._check_fitted()
        name = type(self).__name__.lower()
        return np.array([f"{name}{j}" for j in range(self.embedding_.shape[1])], dtype=object)

    def _to_container(self, Y: FloatArray, X: Any) -> FloatArray:
        """Return the coordinates of the rows of X in the container that ``set_output`` requests."""
        default = "default"
        if "sklearn" in sys.modules:
            default = sys.modules["sklearn"].get_config().get("transform_output", default)
        if vars(self).get("_sklearn_output_config", {}).get("transform", default) != "pandas":
            return Y
        import pandas as pd

        frame: Any = pd.DataFrame(Y, index=getattr(X, "index", None), columns=self.get_feature_names_out())
        return cast("FloatArray", frame)

    def kernel_transform(self, X: Any, **options: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p) by the kernel extension, which exists for every embedding.

        It is Theorem 2 of Roy (2021), Trustworthy dimensionality reduction, M.Stat. dissertation, ISI. ``transform``,
        where a method has it, uses the rule of the method instead. Options: ``reg``, ``bandwidth``; see
        ``dreval.geometry.kernels.embedding_map``.
        """
        points = self._new_points(X)
        return self._kernel_embedding.transform(points, **options)

    def kernel_inverse_transform(self, Y: Any, **options: Any) -> FloatArray:
        """Return data (m, p) at places (m, d) of the embedding, by kernel ridge regression or by another ``rule``.

        It is Theorem 3 of Roy (2021), Trustworthy dimensionality reduction, M.Stat. dissertation, ISI.
        ``inverse_transform``, where a method has it, uses the rule of the method instead. Options: ``rule``, ``reg``,
        ``bandwidth``; see ``dreval.geometry.kernels.reconstruction_map``.
        """
        self._check_fitted()
        return self._kernel_embedding.inverse_transform(Y, **options)

    def _check_fitted(self) -> None:
        """Raise an error if the method is not fitted."""
        if not hasattr(self, "n_features_in_"):
            name, fit = type(self).__name__, f"fit(X{', y' if self.requires_y else ''})"
            raise not_fitted(name, "must be fitted first", "a method without a fit", f"Call {name}(...).{fit} before.")

    def _new_points(self, X: Any) -> FloatArray:
        """Return new rows (m, p) in normal form, with columns matched to the fitted data by name if both have names."""
        self._check_fitted()
        points = as_rows(reorder_columns(X, getattr(self, "feature_names_in_", None), "X"), min_rows=1, part=True)
        if points.shape[1] != (p := self.n_features_in_):
            received = f"X has {points.shape[1]} features, but {type(self).__name__} is expecting {p} features as input"
            hint = "Pass new points as rows, with the same columns in the same order."
            raise InputError("X", "must have the columns of the data that were fitted", received, hint)
        return points

    def _scores(self, Y: Any) -> FloatArray:
        """Return rows (m, d) of the embedding in normal form, for ``inverse_transform``."""
        self._check_fitted()
        scores = check_points(Y, "Y", min_rows=1, part=True)
        if scores.shape[1] != self.n_components:
            raise InputError(
                "Y",
                f"must have the {self.n_components} columns of the embedding",
                f"{scores.shape[1]} columns",
                "Pass rows of the embedding, with all components.",
            )
        return scores

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether the method is fitted, for scikit-learn's pipelines."""
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        """Return the tags that scikit-learn, the only caller, reads from an estimator.

        They say whether y is required, whether there is a ``transform``, and whether X is a matrix of distances or
        kernel values, from which cross-validation selects both rows and columns.
        """
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        options = (vars(self).get(name) for name in ("metric", "kernel"))
        distances, values = (
            isinstance(option, str) and resolve_alias(option, (PRECOMPUTED,)) == PRECOMPUTED for option in options
        )
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=self.requires_y),
            transformer_tags=TransformerTags() if self.card.out_of_sample else None,
            input_tags=InputTags(pairwise=distances or values, positive_only=distances),
            non_deterministic=not self.card.deterministic,
        )

    def _repr_html_(self) -> str:
        from dreval.report.documents.small import method_summary

        return method_summary(self).as_html()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"


class WrongType(InputError, TypeError):
    """Entries that are not numbers, for which Python raises a TypeError."""


def as_rows(X: Any, min_rows: int = MIN_POINTS, copy: bool = False, part: bool = False) -> FloatArray:
    """Return X as rows of numbers; a vector raises an error, and objects that are real numbers are accepted.

    Both differ from the other functions of the package and follow scikit-learn, whose checks require some of the
    phrases below and in ``check_points``.
    """
    if isinstance(X, np.ndarray) and X.ndim == 1 and (X.dtype.kind != "O" or vectors(X) is None):
        hint = "Reshape your data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        raise InputError("X", "must have rows and columns", f"a vector of length {len(X)}", hint)
    if isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim > 1 and not isinstance(X, np.ma.MaskedArray):
        kinds = {type(entry) for entry in X.flat}
        if unusable := [kind.__name__ for kind in kinds if not issubclass(kind, (Real, str, type(None)))]:
            received = f"a {unusable[0]}: the argument must be a string or a number"
            raise WrongType("X", "must hold numbers", received, "Convert it to a numeric array.")
        if all(issubclass(kind, Real) for kind in kinds):  # also fractions, and booleans among numbers
            X = X.astype(np.float64)
    return check_points(X, "X", min_rows=min_rows, copy=copy, part=part)


def _with_container(transform: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a ``transform`` so that it returns the container that ``set_output`` requests."""

    @wraps(transform)
    def wrapped(self: Method, X: Any, *arguments: Any, **options: Any) -> Any:
        scores = transform(self, X, *arguments, **options)
        if isinstance(scores, tuple):  # the scores of the response stay an array, as in scikit-learn
            return self._to_container(scores[0], X), *scores[1:]
        return self._to_container(scores, X)

    return wrapped


def power_of_two(points: FloatArray) -> float:
    """Return the power of two that scales the largest entry to [1/2, 1) without rounding; 1 for all zeros.

    It is the unit of a search whose steps and tolerances would depend on that of the data.
    """
    largest = float(np.abs(points).max())
    return 2.0 ** -int(np.frexp(largest)[1]) if largest > 0 else 1.0


def fix_signs(Y: FloatArray) -> FloatArray:
    """Flip columns so that the entry of largest absolute value in each is positive (the first one on ties)."""
    rows = np.argmax(np.abs(Y), axis=0)
    signs = np.sign(Y[rows, np.arange(Y.shape[1])])
    return Y * np.where(signs == 0, 1.0, signs)
