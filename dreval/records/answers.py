"""The records that single functions return: measures of methods, tests, dimensions, scores of points, costs.

Each record is frozen, prints itself, and has the call that reproduces it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_one_of, check_parameters
from dreval.errors import InputError
from dreval.glossary import printable
from dreval.records.base import Record, call_forwarded, read_only
from dreval.records.notes import Notes, join_notes
from dreval.registry import ANALYSES, MEASURES, METHODS, TESTS

# The call behind a result, as text.


def reproducing_call(
    name: str, positional: Sequence[str], arguments: Mapping[str, Any], function: Callable[..., Any]
) -> str:
    """Return a call in Python: the names in ``positional``, then the arguments that differ from the defaults.

    Examples
    --------
    >>> def test(x, y, *, n_resamples=999, random_state=None): ...
    >>> reproducing_call("dreval.test", ["x", "y"], {"n_resamples": 999, "random_state": 0}, test)
    'dreval.test(x, y, random_state=0)'
    """
    defaults = {key: parameter.default for key, parameter in signature(function).parameters.items()}
    parts = [
        f"{key}={value!r}" for key, value in arguments.items() if key in defaults and not _same(value, defaults[key])
    ]
    return f"{name}({', '.join([*positional, *parts])})"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


# The record of a certificate: whether the residual of an embedding is independent of the embedding.

LEVEL = 0.05  # level of the verdict, over all tests
KINDS = {"family": "certificate", "p_kind": "bootstrap"}  # columns that are the same for all p-values
MIN_EMPTY_ERROR = 0.95  # held-out errors from here mean that the embedding explains almost nothing of the data


class ResidualTest(NamedTuple):
    """One test of dependence between residual and embedding, with its values under refitted resamples."""

    name: str
    effect_name: str
    effect_size: float
    effect_expected: float
    statistic: float
    p_value: float
    null_distribution: npt.NDArray[np.float64]


@read_only
@dataclass(frozen=True, eq=False)
class Certificate(Record):
    """A test of Definition 1 of Roy (2021): x = f(y) + e, with e of mean zero and independent of y.

    The verdict objects if a p-value adjusted by Holm for the number of tests is at most .05: it objects wrongly to at
    most about one in twenty embeddings for which the definition holds. An embedding that is independent of the data
    meets the definition, with a constant f. The verdict does not object to it, but if the held-out error is at least
    .95 it says that the embedding explains almost nothing.

    Attributes
    ----------
    name : str
        Name of the embedding.
    train, held_out : float
        Squared reconstruction error over the variance of the data, for fitted points and for held-out points.
    residual_mean : float
        Length of the mean held-out residual over the residuals' root mean square; about ``1 / sqrt(n)`` under
        Definition 1.
    tests : tuple of ResidualTest
        Residual against embedding: effect size, its mean under resamples in which the definition holds, and the p-value
        of the residual bootstrap. That mean may be below 0 for an effect measured relative to permuted rows: fitted
        residuals depend on the embedding even less than permuted rows do.
    residuals : ndarray (n, p)
        x - f(y) of the points from which f was learned, smaller than those of new points.
    n_resamples : int
        Number of bootstrap resamples.
    recipe : dict
        ``n``, ``p``, ``n_components``, ``rule``, ``ridge`` (of the errors), ``residual_ridge`` (of the residuals that
        are tested), ``bandwidth``, ``condition`` and ``random_state``.
    notes : tuple of Note
        Assumptions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> res = dreval.Evaluation(X, {"a": X[:, :2]}, random_state=0).run("stress", None, None)
    >>> res.certificate("a", n_resamples=19)
    Certificate(a: held-out error 0.7013, 0 objections)
    """

    name: str
    train: float
    held_out: float
    residual_mean: float
    tests: tuple[ResidualTest, ...]
    residuals: npt.NDArray[np.float64] = field(repr=False)
    n_resamples: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def p_adjusted(self) -> tuple[float, ...]:
        """P-value of each test, adjusted by Holm for the number of tests."""
        from statsmodels.stats.multitest import multipletests

        return (
            tuple(map(float, multipletests([test.p_value for test in self.tests], method="holm")[1]))
            if self.tests
            else ()
        )

    @property
    def smallest_p(self) -> float:
        """Smallest adjusted p-value that is possible with this number of resamples."""
        return len(self.tests) / (self.n_resamples + 1)

    @property
    def objections(self) -> tuple[str, ...]:
        """Names of the tests that object to Definition 1, at the level .05 after adjustment by Holm."""
        return tuple(test.name for test, p in zip(self.tests, self.p_adjusted, strict=True) if p <= LEVEL)

    @property
    def verdict(self) -> str:
        """Failed tests, and whether the embedding explains anything of the data, in a sentence."""
        return str(call_forwarded("Certificate.verdict", self))

    def tidy(self) -> pd.DataFrame:
        """Return one row per test, with the errors in every row.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> res = dreval.Evaluation(X, {"a": X[:, :2]}, random_state=0).run("stress", None, None)
        >>> res.certificate("a", n_resamples=19).tidy()[["embedding", "held_out", "test"]].round(3)
          embedding  held_out  test
        0         a     0.701  hsic
        1         a     0.701  kcca
        """
        import pandas as pd

        shared = {"embedding": self.name, "train": self.train, "held_out": self.held_out}
        shared |= {"residual_mean": self.residual_mean, "n_resamples": self.n_resamples}
        rows = [
            {**shared, **{key: value for key, value in test._asdict().items() if key != "null_distribution"}}
            for test in self.tests
        ]
        return pd.DataFrame(rows).rename(columns={"name": "test"}).assign(p_adjusted=self.p_adjusted, **KINDS)

    def __repr__(self) -> str:
        name, objections = printable(self.name), len(self.objections)
        return f"Certificate({name}: held-out error {self.held_out:.4g}, {objections} objections)"


# The record of what a run is estimated to cost.

TEXT_COLUMNS = ("step", "embedding", "measure", "parameters", "test", "variable")  # the columns that identify a row


@read_only
@dataclass(frozen=True, eq=False)
class CostEstimate(Record):
    """Estimated time and memory of ``Evaluation.run``, from a probe of 200 points.

    The times hold for a machine without other load, with all code loaded and compiled. Expect them to be right within a
    factor of two for the default measures and tests, and less precise for others.

    Attributes
    ----------
    table : DataFrame
        One row for each step: ``step``, ``embedding``, ``measure``, ``parameters``, ``test``, ``variable`` (empty if
        a step has none), ``seconds`` (elapsed, with the threads of the evaluation), ``processor_seconds`` (of all
        threads), ``mebibytes`` (peak, in addition to data and embeddings). Work that several measures share is in the
        row of the first of them.
    n : int
        Number of points.
    n_threads : int
        Number of threads.
    not_included : tuple of str
        Embeddings whose method must be run first. They are not run for an estimate, and the time and memory of their
        runs is unknown; that of their measures and tests is included.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2]}, random_state=0)
    >>> cost = ev.estimate_cost(["trustworthiness", "procrustes_rc"], tests=None)
    >>> cost.tidy()[["step", "embedding", "measure"]].head(4)
                      step embedding          measure
    0    checks and tables
    1  neighbors and ranks
    2                value         a  trustworthiness
    3         chance level         a  trustworthiness
    >>> 0 < cost.seconds < 60
    True
    """

    table: pd.DataFrame
    n: int
    n_threads: int
    not_included: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Elapsed seconds of all steps whose time is known."""
        return float(self.table["seconds"].sum())

    @property
    def processor_seconds(self) -> float:
        """Seconds of all threads together."""
        return float(self.table["processor_seconds"].sum())

    @property
    def mebibytes(self) -> float:
        """Peak memory, in addition to data and embeddings: that of the largest step."""
        return float(self.table["mebibytes"].max())

    def tidy(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    def __repr__(self) -> str:
        missing = f", without the runs of {printable(', '.join(self.not_included))}" if self.not_included else ""
        return f"CostEstimate({self.seconds:.2g} seconds, {self.mebibytes:.2g} MiB{missing})"


# The record of one embedding: coordinates, and how to reproduce them.


@read_only
@dataclass(frozen=True, eq=False)
class Embedding(Record):
    """Coordinates with their recipe; numpy takes the record as the array of its coordinates.

    Attributes
    ----------
    coordinates : ndarray (n, d)
        One row per point; read-only, since the maps of the record use them (``np.array(record)`` is a copy).
    method : str
        Name of the method.
    parameters : dict
        Parameters of the method, ``n_components`` among them.
    random_state : int or None
        The seed; with the parameters it reproduces the same coordinates.
    ids : pandas.Index or None
        Names of the rows, if the data have them.
    data_shape : (int, int)
        Rows and columns of the data.
    seconds : float
        Wall time of the fit. It is never printed.
    notes : tuple of Note
        Assumptions.
    data : ndarray (n, p) or None
        The data, in memory only; the maps between data and embedding use them.
    columns : tuple of str or None
        Names of the columns of the data, if they have names.

    Examples
    --------
    >>> import numpy as np
    >>> from dreval.records.answers import Embedding
    >>> record = Embedding(np.eye(4)[:, :2], "example", {"n_components": 2})
    >>> np.asarray(record).shape
    (4, 2)
    >>> list(record.to_frame())
    ['example_1', 'example_2']
    """

    coordinates: npt.NDArray[np.float64]
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    random_state: int | None = None
    ids: pd.Index[Any] | None = None
    data_shape: tuple[int, int] | None = None
    seconds: float = float("nan")
    notes: Notes = ()
    data: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    columns: tuple[str, ...] | None = None
    _map_cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.coordinates, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of components."""
        n, d = self.coordinates.shape
        return n, d

    def to_frame(self) -> pd.DataFrame:
        """Return the coordinates as a table, with the row names of the data; a copy.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.to_frame().head(2).round(3)
           pca_1  pca_2
        0 -0.319  0.734
        1 -1.568  0.487
        """
        names = [f"{self.method}_{j + 1}" for j in range(self.shape[1])]
        return pd.DataFrame(self.coordinates.copy(), index=self.ids, columns=names)

    def embedding_map(self, *, reg: float = 1e-6, bandwidth: float | None = None) -> Any:
        """Return the embedding as a function of the data (Roy 2021, Theorem 2), with ridge, bandwidth and conditioning.

        See ``dreval.geometry.kernels.embedding_map``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.embedding_map().rule
        'theorem2'
        """
        options = {"reg": reg, "bandwidth": bandwidth}
        return self._map("embedding_map", self.known_data(), self.coordinates, self.columns, **options)

    def reconstruction_map(
        self, *, rule: str = "ridge", reg: float | None = None, bandwidth: float | None = None
    ) -> Any:
        """Return the data as a function of the embedding, by kernel ridge or Theorem 3 of Roy (2021), with diagnostics.

        See ``dreval.geometry.kernels.reconstruction_map``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.reconstruction_map().rule
        'ridge'
        """
        options = {"rule": rule, "reg": reg, "bandwidth": bandwidth}
        return self._map("reconstruction_map", self.coordinates, self.known_data(), None, **options)

    def transform(self, points: Any, **options: Any) -> npt.NDArray[np.float64]:
        """Return the coordinates (m, d) of new points (m, p), by ``embedding_map(**options)``; the embedding stays.

        The columns of a frame are matched by name if the data have names: other names raise an error, their order is
        free. Columns of an array are matched by position. Points of the data get their coordinates up to the ridge.
        O(n^3) time for the first call.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.transform(X[:3]).shape
        (3, 2)
        """
        check_parameters(options, ("reg", "bandwidth"), "transform")
        return np.asarray(self.embedding_map(**options)(points))

    def inverse_transform(self, points: Any, **options: Any) -> npt.NDArray[np.float64]:
        """Return data (m, p) at coordinates (m, d) of the embedding, by ``reconstruction_map(**options)``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.inverse_transform([[0.0, 0.0]]).shape
        (1, 4)
        """
        check_parameters(options, ("rule", "reg", "bandwidth"), "inverse_transform")
        return np.asarray(self.reconstruction_map(**options)(points))

    def known_data(self) -> npt.NDArray[np.float64]:
        """Return the data; raise if they are not in memory.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.known_data().shape
        (40, 4)
        """
        if self.data is None:
            hint = "Embed with dreval.embed, or give the record its data: dataclasses.replace(embedding, data=X)."
            raise InputError("data", "must be known to map between data and embedding", "none", hint)
        return self.data

    def _map(self, name: str, inputs: Any, outputs: Any, columns: Any, **options: Any) -> Any:
        """Return a map of the geometry; it is computed once."""
        key = (name, *sorted(options.items()))
        if key not in self._map_cache:
            fitted = call_forwarded(f"Embedding.{name}", inputs, outputs, **options)
            self._map_cache[key] = replace(fitted, columns=columns)
        return self._map_cache[key]

    def __repr__(self) -> str:
        return f"Embedding({printable(self.method)}: {self.shape[0]} points, {self.shape[1]} components)"


# The result of an independence test.


@read_only
@dataclass(frozen=True, eq=False)
class IndependenceTest(Record):
    """Result of a test of independence.

    Attributes
    ----------
    test : str
        Name of the test.
    title : str
        Name of the test in print.
    statistic : float
        Observed value of the statistic (larger means more dependence).
    p_value : float
        ``(b + 1) / (m + 1)`` for m sampled permutations if b of them reach the statistic; never 0. If all permutations
        were enumerated, the share of those that reach it; if sampling stopped at the b-th that reached it, ``b / m``;
        without permutations an approximation, named in ``notes``.
    null_distribution : ndarray (m,)
        Statistics under permutation, in the order of the permutations' numbers; read-only.
    n_resamples : int
        Number m of permutations.
    effect_size : float
        Dependence on a scale that does not depend on n; ``effect_size_name`` names it.
    effect_size_name : str
        Symbol of the effect size.
    p_interval : (float, float)
        95 % Clopper-Pearson interval of the Monte Carlo p-value; both ends are the p-value if it is exact, and NaN
        if it is an approximation.
    extra : dict
        Other values of the test (other forms of the statistic; ``..._x``, ``..._y`` and so on for values per variable).
    recipe : dict
        ``test``, ``n``, ``variables`` (``labels``: their names in print), ``random_state``, ``parameters`` and
        ``versions``: how to reproduce it.
    notes : tuple of Note
        Approximations and assumptions.
    p_kind : str
        How the p-value was computed: "permutation", "exact" (all permutations), "asymptotic" (chi-square distribution)
        or "approximate" (gamma distribution).

    Examples
    --------
    >>> import numpy as np
    >>> null = np.array([0.1, 0.3, 0.2])
    >>> IndependenceTest("hsic", "HSIC", 0.4, 0.25, null, 3, 0.5, "CKA", (0.0, 0.71))
    IndependenceTest(hsic: statistic=0.4, p_value=0.25)
    """

    test: str
    title: str
    statistic: float
    p_value: float
    null_distribution: npt.NDArray[np.float64]
    n_resamples: int
    effect_size: float
    effect_size_name: str
    p_interval: tuple[float, float]
    extra: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    notes: Notes = ()
    p_kind: str = "permutation"

    @property
    def pvalue(self) -> float:
        """The p-value under scipy's name for it."""
        return self.p_value

    def tidy(self) -> pd.DataFrame:
        """Return one row with the columns of the tidy table of an evaluation: test, statistic, p_value, and so on.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> result = dreval.hsic_test(X, X[:, 0] ** 2, n_resamples=99, random_state=0)
        >>> result.tidy()[["test", "n", "statistic", "p_value"]].round(3)
           test   n  statistic  p_value
        0  hsic  40      0.006     0.11
        """
        import pandas as pd

        row = {"test": self.test, "n": self.recipe.get("n"), "statistic": self.statistic, "chance": self.null_mean}
        row |= {"p_value": self.p_value, "p_kind": self.p_kind, "n_resamples": self.n_resamples}
        return pd.DataFrame([{**row, "effect_size": self.effect_size, "effect_size_name": self.effect_size_name}])

    @property
    def null_mean(self) -> float:
        """Null mean of the statistic: of the permutations, or of the distribution that replaces them."""
        if len(self.null_distribution):
            return float(np.mean(self.null_distribution))
        return float(self.extra.get("null_mean", math.nan))

    @property
    def call(self) -> str:
        """The Python code that reproduces the test, with the arguments that differ from the defaults."""
        recipe = self.recipe
        if self.test not in TESTS:
            return ""
        arguments = {**recipe.get("parameters", {}), "random_state": recipe.get("random_state")}
        return reproducing_call(f"dreval.{self.test}{TESTS.suffix}", self.variables, arguments, TESTS.get(self.test))

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, as the arguments of the test."""
        return tuple(self.recipe.get("variables", ("x", "y")))

    def plot(self, kind: str = "null", ax: Any = None, figsize: Any = None) -> Any:
        """Draw a histogram of the null distribution with the observed statistic.

        Parameters
        ----------
        kind : {"null"}
            The statistic against its values under permutation, or against the distribution that replaces them.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such kind.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> x = np.linspace(-1, 1, 40)
        >>> dreval.hsic_test(x, x**2, random_state=0).plot("null")
        <Figure size ...>
        """
        check_one_of(kind, ("null",), "kind", aliases=True)
        return call_forwarded("IndependenceTest.plot", self, ax, figsize)

    def __repr__(self) -> str:
        return f"IndependenceTest({self.test}: statistic={self.statistic:.6g}, p_value={self.p_value:.4g})"


# A record that behaves as a number.


class Number:
    """Comparison, arithmetic and formatting of a record by its attribute ``value``; the results are plain floats.

    Examples
    --------
    >>> class Example(Number):
    ...     value = 0.25
    >>> Example() < 0.3, 1 - Example(), f"{Example():.1%}", max(Example(), 0.1)
    (True, 0.75, '25.0%', Example(0.25))
    """

    value: float

    def __float__(self) -> float:
        return float(self.value)

    def __hash__(self) -> int:
        return hash(float(self))

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(float(self), dtype=dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({float(self):.6g})"

    def __eq__(self, other: object) -> bool:
        return float(self) == (float(other) if isinstance(other, Number) else other)

    def __lt__(self, other: float | Number) -> bool:
        return float(self) < float(other)

    def __le__(self, other: float | Number) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: float | Number) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: float | Number) -> bool:
        return float(self) >= float(other)

    def __add__(self, other: Any) -> Any:
        return float(self) + other

    def __radd__(self, other: Any) -> Any:
        return other + float(self)

    def __sub__(self, other: Any) -> Any:
        return float(self) - other

    def __rsub__(self, other: Any) -> Any:
        return other - float(self)

    def __mul__(self, other: Any) -> Any:
        return float(self) * other

    def __rmul__(self, other: Any) -> Any:
        return other * float(self)

    def __truediv__(self, other: Any) -> Any:
        return float(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / float(self)

    def __pow__(self, other: Any) -> Any:
        return float(self) ** other

    def __rpow__(self, other: Any) -> Any:
        return other ** float(self)

    def __neg__(self) -> float:
        return -float(self)

    def __abs__(self) -> float:
        return abs(float(self))

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)


# The record of an intrinsic dimension: an estimate with its interval, and its values per point.


@read_only
@dataclass(frozen=True, eq=False)
class IntrinsicDimension(Number, Record):
    """An estimate of the intrinsic dimension; in comparisons, arithmetic and formats it is the number ``value``.

    Attributes
    ----------
    method : str
        "twonn" or "mle".
    value : float
        The estimate.
    n_used : int
        Number of different points.
    points : DataFrame
        One row per row of the data: see ``augment``.
    se : float
        Standard error; NaN without one, and a note gives the reason.
    conf_low, conf_high : float
        Ends of the interval at ``conf_level``. It covers the sampling of points, not the bias of the estimator.
    conf_level : float
        Level of the interval; NaN without one.
    conf_method : str
        Method of the interval.
    n_groups : int
        Number of groups that were left out, over all partitions.
    recipe : dict
        ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        Assumptions and limits that affect how to read it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> t = np.random.default_rng(0).uniform(size=300)
    >>> result = dreval.intrinsic_dimension(np.c_[np.cos(t), np.sin(t), t], random_state=0)
    >>> result
    IntrinsicDimension(twonn: 0.883)
    >>> result < 2, round(result), f"{result:.1f}"
    (True, 1, '0.9')
    """

    method: str
    value: float
    n_used: int
    points: pd.DataFrame = field(repr=False)
    se: float = math.nan
    conf_low: float = math.nan
    conf_high: float = math.nan
    conf_level: float = math.nan
    conf_method: str = ""
    n_groups: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    def tidy(self) -> pd.DataFrame:
        """Return one row: the method with its parameters, the estimate, its standard error and interval.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> result = dreval.intrinsic_dimension(X, method="mle", random_state=0)
        >>> result.tidy()[["method", "parameters", "value"]].round(2)
          method      parameters  value
        0    mle  n_neighbors=20   2.02
        """
        parameters = {
            key: value for key, value in self.recipe["parameters"].items() if key not in ("method", "conf_level")
        }
        row: dict[str, Any] = {
            "method": self.method,
            "parameters": ", ".join(f"{key}={value}" for key, value in parameters.items()),
        }
        row |= {"n": self.recipe["n"], "n_used": self.n_used}
        ends = ("value", "se", "conf_low", "conf_high", "conf_method", "conf_level", "n_groups")
        return pd.DataFrame([row | {name: getattr(self, name) for name in ends} | {"note": join_notes(self.notes)}])

    def glance(self) -> pd.DataFrame:
        """Return one row: the data, the estimate as a whole number of dimensions, and whole numbers in its interval.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> dreval.intrinsic_dimension(X, random_state=0).glance()[["n", "p", "dimension", "lowest", "highest"]]
             n  p  dimension  lowest  highest
        0  100  2          2       1        3
        """
        low, high = (self.value, self.value) if math.isnan(self.se) else (self.conf_low, self.conf_high)
        whole = {"dimension": max(round(self.value), 1), "lowest": max(round(low), 1), "highest": max(round(high), 1)}
        shared = {name: self.recipe[name] for name in ("n", "p")} | {"method": self.method}
        return pd.DataFrame([shared | whole | {"random_state": self.recipe["random_state"]}])

    def augment(self) -> pd.DataFrame:
        """Return one row per point of the data; repeated rows have the values of the first of them.

        For "mle" the local dimension; its harmonic mean over the different points is the estimate. For "twonn" the
        ratio of the distances to the second and the first neighbor, its rank, and whether the fit uses it.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> dreval.intrinsic_dimension(X, method="mle", random_state=0).augment().head(2).round(2)
           id  local_dimension
        0   0             2.16
        1   1             1.79
        """
        return self.points

    def plot(self, ax: Any = None, figsize: Any = None) -> Any:
        """Draw for "twonn" the fitted line with the ratios, used and left out; for "mle" the local dimensions.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> dreval.intrinsic_dimension(np.random.default_rng(0).normal(size=(50, 2)), random_state=0).plot()
        <Figure size ...>
        """
        return call_forwarded("IntrinsicDimension.plot", self, ax, figsize)

    @property
    def call(self) -> str:
        """The Python code that reproduces the estimate."""
        arguments = {**self.recipe["parameters"], "random_state": self.recipe["random_state"]}
        return reproducing_call("dreval.intrinsic_dimension", ["X"], arguments, ANALYSES.get("intrinsic_dimension"))

    def __repr__(self) -> str:
        return f"IntrinsicDimension({self.method}: {self.value:.3f})"


# The record of a measure with parts: a value, its parts, and a table.


@read_only
@dataclass(frozen=True, eq=False)
class MeasureRecord(Number, Record):
    """Value of a measure with its parts; in comparisons, arithmetic and formats it is the number ``value``.

    Attributes
    ----------
    measure, title, symbol : str
        Name of the measure, in words and in formulas.
    value : float
        The value.
    parts : dict
        Further numbers by name, in the order in which they are printed.
    chance : float
        Chance level: expected value for an embedding unrelated to the data; NaN if it is unknown.
    table : DataFrame or None
        One row per transformation, fold or run.
    n_resamples : int
        Number of runs behind the value.
    recipe : dict
        ``source``, ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        Assumptions and limits that affect how to read it.
    direction : str
        Whether "higher" or "lower" is better.

    Examples
    --------
    >>> record = MeasureRecord("trustability", "Trustability measure", "u", 0.25, {"ti_per_n": 2.0})
    >>> float(record), record.parts["ti_per_n"], record
    (0.25, 2.0, MeasureRecord(trustability: 0.25))
    >>> record < 0.3, round(record * 2, 2), f"{record:.3f}"
    (True, 0.5, '0.250')
    """

    measure: str
    title: str
    symbol: str
    value: float
    parts: Mapping[str, Any] = field(default_factory=dict)
    chance: float = float("nan")
    table: pd.DataFrame | None = None
    n_resamples: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()
    direction: str = ""

    def tidy(self) -> pd.DataFrame:
        """Return one row: the measure, its value, its chance level and its parts.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> dreval.reconstruction_error(X, X[:, :2], random_state=0).tidy()[["measure", "value"]].round(3)
                        measure  value
        0  reconstruction_error  0.701
        """
        import pandas as pd

        return pd.DataFrame([{"measure": self.measure, "value": self.value, "chance": self.chance, **self.parts}])

    @property
    def call(self) -> str:
        """The Python code that reproduces the value; its names stand for the values that were passed."""
        if self.measure not in MEASURES:
            return ""
        source = str(self.recipe.get("source", ""))
        names = ["data", repr(source) if source in METHODS.names() else re.sub(r"\W+", "_", source) or "source"]
        arguments = {**dict(self.recipe.get("parameters", {})), "random_state": self.recipe.get("random_state")}
        return reproducing_call(f"dreval.{self.measure}", names, arguments, MEASURES.get(self.measure))

    def __repr__(self) -> str:
        return f"MeasureRecord({self.measure}: {self.value:.6g})"


# The result of a noise test: whether an embedding shows more than embeddings of null data, and at which points.


@read_only
@dataclass(frozen=True, eq=False)
class NoiseTest(IndependenceTest):
    """Result of a noise test; the attributes of ``IndependenceTest`` and those below.

    ``statistic`` is the mean score of the points (of several settings: the largest z), ``null_distribution`` its values
    on the null data, ``effect_size`` the z of the statistic, and ``p_kind`` "permutation" for independent columns, else
    "parametric_bootstrap". ``extra`` holds ``null``, ``score``, ``n_seeds``, ``n_failed`` and ``alpha``.

    Attributes
    ----------
    points : DataFrame or None
        One row per scored point: ``score`` (higher is better), ``p_family_wise``, ``q`` (NaN if the global p is above
        alpha) and ``like_noise``. None if the score is a single number, or if several settings are compared.
    settings : DataFrame or None
        One row per setting, if several are compared: its options, ``statistic``, ``null_mean``, ``z`` and
        ``p_value`` (adjusted for the number of settings by the largest z).
    embedding : ndarray (n, d) or None
        Coordinates of the embedding of the data, with the first seed; read-only.

    See Also
    --------
    noise_test : computes it, and explains each number.
    """

    points: pd.DataFrame | None = field(default=None, repr=False)
    settings: pd.DataFrame | None = field(default=None, repr=False)
    embedding: npt.NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def like_noise(self) -> npt.NDArray[np.bool_]:
        """Whether each scored point is not distinguished from noise, (m,); empty where points have no score."""
        return np.zeros(0, np.bool_) if self.points is None else self.points["like_noise"].to_numpy()

    def augment(self) -> pd.DataFrame:
        """Return one row per scored point: coordinates ``y1``, ``y2``, ... of the embedding, and ``points``.

        Raises
        ------
        InputError
            If points have no score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> result = dreval.noise_test(X, "pca", n_replicates=19, random_state=0)
        >>> list(result.augment())
        ['y1', 'y2', 'score', 'p_family_wise', 'q', 'like_noise']
        """
        import pandas as pd

        from dreval.errors import InputError

        if self.points is None or self.embedding is None:
            hint = "Use a score of points, such as statistic='neighborhood_overlap', and one setting."
            raise InputError("statistic", "must have a value for each point", str(self.extra.get("score")), hint)
        Y = self.embedding[self.points.index.to_numpy()]
        columns = [f"y{j + 1}" for j in range(Y.shape[1])]
        return pd.concat([pd.DataFrame(Y, index=self.points.index, columns=columns), self.points], axis=1)

    def glance(self) -> pd.DataFrame:
        """Return one row: the test, its p-value, and how many points are and are not distinguished from noise.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> dreval.noise_test(X, "pca", n_replicates=19, random_state=0).glance()[["null", "p_value"]]
              null  p_value
        0  columns      1.0
        """
        row = self.tidy().assign(null=self.extra.get("null"))
        if self.points is None:
            return row
        distinguished = self.points["p_family_wise"] <= self.extra["alpha"]
        return row.assign(
            n_points=len(self.points), n_like_noise=self.like_noise.sum(), n_family_wise=distinguished.sum()
        )

    def plot(self, kind: str = "null", ax: Any = None, figsize: Any = None) -> Any:
        """Draw the null distribution of the statistic, or the map with points like noise as hollow circles.

        Parameters
        ----------
        kind : {"null", "map"}
            The statistic against its values on null data; or the embedding of the data, in which points that are not
            distinguished from noise are hollow.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such kind.
        InputError
            For ``kind="map"`` if points have no score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> dreval.noise_test(X, "pca", n_replicates=19, random_state=0).plot("map")
        <Figure size ...>
        """
        kind = check_one_of(kind, ("null", "map"), "kind", aliases=True)
        return call_forwarded("IndependenceTest.plot" if kind == "null" else "NoiseTest.plot", self, ax, figsize)

    @property
    def call(self) -> str:
        """The Python code that reproduces the test; empty if a function of the user is part of it."""
        has_function = any(callable(value) for value in self.recipe.get("parameters", {}).values())
        return "" if has_function else super().call

    def __repr__(self) -> str:
        null = printable(self.extra.get("null"))
        return f"NoiseTest({null}: statistic={self.statistic:.6g}, p_value={self.p_value:.4g})"


# The record of a parallel analysis: eigenvalues, their values under permutation, and the number of components.


@read_only
@dataclass(frozen=True, eq=False)
class ParallelAnalysis(Record):
    """Principal components with larger eigenvalues than those of independently permuted columns.

    Attributes
    ----------
    n_components : int
        Number of leading components with ``p_value <= alpha``, before the first without.
    table : DataFrame
        One row per component: see ``tidy``.
    null_eigenvalues : ndarray (B, q)
        Eigenvalues of each permutation, in descending order.
    alpha : float
        Level of each test.
    recipe : dict
        ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        Assumptions and limits that affect how to read it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(100, 6))
    >>> dreval.parallel_analysis(X, random_state=0)
    ParallelAnalysis(2 of 6 components)
    """

    n_components: int
    table: pd.DataFrame = field(repr=False)
    null_eigenvalues: npt.NDArray[np.float64] = field(repr=False)
    alpha: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def n_resamples(self) -> int:
        """Number of permutations."""
        return len(self.null_eigenvalues)

    def tidy(self) -> pd.DataFrame:
        """Return one row per component.

        ``component`` (1, 2, ...), ``eigenvalue``, ``share`` of the variance, ``null_mean`` and ``null_quantile`` (1 -
        alpha) of the eigenvalues of the same rank under permutation, ``p_value``, ``p_kind`` ("permutation") and
        ``kept``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(100, 1)) + 0.5 * rng.normal(size=(100, 4))
        >>> dreval.parallel_analysis(X, random_state=0).tidy()[["component", "eigenvalue", "p_value", "kept"]].round(3)
           component  eigenvalue  p_value   kept
        0          1       3.371    0.005   True
        1          2       0.258    1.000  False
        2          3       0.197    1.000  False
        3          4       0.174    1.000  False
        """
        return self.table.copy()

    def glance(self) -> pd.DataFrame:
        """Return one row: the data, the number of components to keep and their share of the variance.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 4))
        >>> dreval.parallel_analysis(X, random_state=0).glance()[["n", "p", "n_components", "share"]]
             n  p  n_components  share
        0  100  4             0    0.0
        """
        row = {name: self.recipe[name] for name in ("n", "p")} | {"n_components": self.n_components}
        row |= {"share": float(self.table["share"].head(self.n_components).sum()), "alpha": self.alpha}
        row |= {"n_resamples": self.n_resamples, "random_state": self.recipe["random_state"]}
        return pd.DataFrame([row | {"note": join_notes(self.notes)}])

    def plot(self, ax: Any = None, figsize: Any = None) -> Any:
        """Draw the eigenvalues by number, with their range under permutation.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> dreval.parallel_analysis(np.random.default_rng(0).normal(size=(50, 3)), random_state=0).plot()
        <Figure size ...>
        """
        return call_forwarded("ParallelAnalysis.plot", self, ax, figsize)

    @property
    def call(self) -> str:
        """The Python code that reproduces the analysis."""
        arguments = {**self.recipe["parameters"], "random_state": self.recipe["random_state"]}
        return reproducing_call("dreval.parallel_analysis", ["X"], arguments, ANALYSES.get("parallel_analysis"))

    def __repr__(self) -> str:
        return f"ParallelAnalysis({self.n_components} of {len(self.table)} components)"


# The record of a perplexity curve: singularity of t-SNE maps at each perplexity, with intervals over seeds.


@read_only
@dataclass(frozen=True, eq=False)
class PerplexityCurve(Record):
    """The singularity scores of t-SNE maps at several perplexities, over seeds.

    Attributes
    ----------
    table : DataFrame
        Two rows per perplexity: see ``tidy``.
    values : DataFrame
        One row per perplexity, score and seed: ``perplexity``, ``score``, ``seed`` and ``value``, NaN where the map was
        refused.
    conf_level : float
        Level of each interval.
    recipe : dict
        ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        Assumptions and limits that affect how to read it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0)
    PerplexityCurve(2 perplexities, 3 seeds)
    """

    table: pd.DataFrame = field(repr=False)
    values: pd.DataFrame = field(repr=False)
    conf_level: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    def tidy(self) -> pd.DataFrame:
        """Return two rows per perplexity, for the largest 5 % of the scores over n and for their median.

        ``perplexity``, ``score`` ("top 5 %" or "median"), ``value`` (the geometric mean over seeds), ``se_log`` (the
        standard error of its logarithm), ``conf_low``, ``conf_high``, ``conf_level``, ``n_used`` and ``n_refused``
        (runs), ``note``. With fewer than three maps there is no interval.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(90, 4))
        >>> curve = dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0)
        >>> bool((curve.tidy()["conf_low"] <= curve.tidy()["conf_high"]).all())
        True
        """
        return self.table.copy()

    def glance(self) -> pd.DataFrame:
        """Return one row: the data, how many perplexities have an interval, and how many maps have no score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(90, 4))
        >>> curve = dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0)
        >>> curve.glance()[["n", "n_perplexities", "n_with_interval", "n_seeds", "n_refused"]]
            n  n_perplexities  n_with_interval  n_seeds  n_refused
        0  90               2                2        3          0
        """
        top = self.table[self.table["score"] == self.table["score"].iloc[0]]
        row = {name: self.recipe[name] for name in ("n", "p")} | {"n_perplexities": len(top)}
        row |= {"n_with_interval": int(top["conf_low"].notna().sum()), "n_seeds": self.recipe["parameters"]["n_seeds"]}
        row |= {"n_refused": int(top["n_refused"].sum()), "conf_level": self.conf_level}
        return pd.DataFrame([row | {"random_state": self.recipe["random_state"], "note": join_notes(self.notes)}])

    def plot(self, ax: Any = None, figsize: Any = None) -> Any:
        """Draw the values over the perplexity, with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(90, 4))
        >>> dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0).plot()
        <Figure size ...>
        """
        return call_forwarded("PerplexityCurve.plot", self, ax, figsize)

    def __repr__(self) -> str:
        perplexities, seeds = (self.values[name].nunique() for name in ("perplexity", "seed"))
        return f"PerplexityCurve({perplexities} perplexities, {seeds} seeds)"


# Records of scores of each point of one map: of the t-SNE loss, and of the local stretch.

FloatArray = npt.NDArray[np.float64]


class PointScores(Record):
    """The base class of records of point scores, with their three tables.

    ``COLUMNS`` are the attributes with a value for each point, the score itself first, and ``NUMBERS`` those with one
    for the map.
    """

    TITLE: ClassVar[str]
    COLUMNS: ClassVar[tuple[str, ...]]
    NUMBERS: ClassVar[tuple[str, ...]] = ()
    coordinates: FloatArray
    recipe: Mapping[str, Any]
    notes: Notes

    def __len__(self) -> int:
        return len(self.coordinates)

    def augment(self) -> pd.DataFrame:
        """Return one row for each point: its number, its coordinates and its scores."""
        import pandas as pd

        Y = self.coordinates
        frame = pd.DataFrame(Y, columns=[f"y{j + 1}" for j in range(Y.shape[1])])
        frame.insert(0, "id", np.arange(len(Y)))
        return frame.assign(**{name: getattr(self, name) for name in self.COLUMNS})

    def tidy(self) -> pd.DataFrame:
        """Return one row for each score: its mean, minimum, median and maximum over the points that have it."""
        import pandas as pd

        numbers = {name: getattr(self, name) for name in self.COLUMNS if getattr(self, name).dtype.kind in "biuf"}
        rows = []
        for name, values in numbers.items():
            finite = np.asarray(values, np.float64)[np.isfinite(values)]
            statistics = ("mean", np.mean), ("min", np.min), ("median", np.median), ("max", np.max)
            row: dict[str, Any] = {"score": name, "n_used": len(finite)}
            rows.append(
                row | {label: float(statistic(finite)) if len(finite) else np.nan for label, statistic in statistics}
            )
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """Return one row: number of points, settings, median and maximum of the score, and the numbers of the map."""
        import pandas as pd

        n, d = self.coordinates.shape
        score = self.tidy().iloc[0]
        row = {"n": n, "n_components": d, **self.recipe.get("parameters", {})}
        row |= {"median": score["median"], "max": score["max"]} | {name: getattr(self, name) for name in self.NUMBERS}
        return pd.DataFrame([row])

    def plot(self, score: str | None = None, ax: Any = None, figsize: Any = None) -> Any:
        """Draw the map with the score of each point, from low (dark) to high (light); points without a score are gray.

        Parameters
        ----------
        score : str, optional
            One of the scores in ``tidy``; by default the first.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 2))
        >>> dreval.local_distortion(X, X * [2.0, 0.5]).plot("anisotropy")
        <Figure size ...>
        """
        scores = self.tidy()["score"].tolist()
        name = scores[0] if score is None else check_one_of(score, scores, "score", aliases=True)
        return call_forwarded("PointScores.plot", self, name, ax, figsize)

    def __repr__(self) -> str:
        score = self.tidy().iloc[0]
        return f"{type(self).__name__}({len(self)} points: median {score['median']:.4g}, max {score['max']:.4g})"


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class SingularityScore(PointScores):
    """How flat the t-SNE loss is around the position of each point of a map.

    Attributes
    ----------
    values : ndarray (n,)
        The singularity score of each point, 1 / ``lambda_min``: large if a point could be elsewhere at almost the same
        loss.
    per_n : ndarray (n,)
        The score over n, which compares across numbers of points.
    lambda_min : ndarray (n,)
        The smallest eigenvalue of the second derivatives of the loss at the point; positive.
    step_ratio : ndarray (n,)
        The Newton step of the point alone, in units of ``nearest_distance``: how far it is from its minimum, at most
        0.001.
    moved : ndarray (n,)
        Distance by which polishing moved the point, in the unit of the map; 0 without polishing.
    coordinates : ndarray (n, d)
        The scored map: the map that was passed, or the polished map.
    loss, loss_decrease : float
        The loss of that map (in nats, the divergence up to a constant of the data), and its decrease by polishing.
    n_steps : int
        Number of Newton steps.
    nearest_distance : float
        Median distance in the map to the nearest other point.
    recipe : dict
        ``n``, ``p``, ``parameters`` and ``versions``.
    notes : tuple of Note
        Assumptions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> Y = dreval.methods.TSNE(perplexity=10, random_state=0).fit_transform(X)
    >>> dreval.singularity_score(X, Y, perplexity=10, polish=True).tidy()["score"].tolist()
    ['values', 'per_n', 'lambda_min', 'step_ratio', 'moved']
    """

    TITLE: ClassVar[str] = "Singularity score"
    COLUMNS: ClassVar[tuple[str, ...]] = ("values", "per_n", "lambda_min", "step_ratio", "moved")
    NUMBERS: ClassVar[tuple[str, ...]] = ("loss", "loss_decrease", "n_steps", "nearest_distance")

    values: FloatArray
    lambda_min: FloatArray
    step_ratio: FloatArray
    moved: FloatArray
    coordinates: FloatArray
    loss: float
    nearest_distance: float
    loss_decrease: float = 0.0
    n_steps: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def per_n(self) -> FloatArray:
        """The score over n, which compares across numbers of points."""
        return np.asarray(self.values / len(self.values))


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class PerturbationScore(PointScores):
    """Distance by which each point of a t-SNE map moves if this point alone is moved a little in the data.

    Attributes
    ----------
    values : ndarray (n,)
        The perturbation score: the largest distance in the map over the directions; NaN for points left out.
    per_width : ndarray (n,)
        The score over the width of the map (its longest side), which compares across maps.
    direction : ndarray (n,) of text
        The direction with the largest distance, as "+PC1"; empty for points left out.
    coordinates : ndarray (n, d)
        The map.
    length : float
        Distance by which points were moved in the data, in units of the mean distance to the nearest neighbor.
    unit : float
        That mean distance, in the unit of the data.
    recipe : dict
        ``n``, ``p``, ``parameters`` and ``versions``.
    notes : tuple of Note
        Assumptions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> Y = dreval.methods.TSNE(perplexity=12, random_state=0).fit_transform(X)
    >>> Y = dreval.singularity_score(X, Y, perplexity=12, polish=True).coordinates
    >>> dreval.perturbation_score(X, Y, perplexity=12, points=[0, 1]).tidy()[["score", "n_used"]]
           score  n_used
    0     values       2
    1  per_width       2
    """

    TITLE: ClassVar[str] = "Perturbation score"
    COLUMNS: ClassVar[tuple[str, ...]] = ("values", "per_width", "direction")
    NUMBERS: ClassVar[tuple[str, ...]] = ("unit",)

    values: FloatArray
    direction: npt.NDArray[np.str_]
    coordinates: FloatArray
    length: float
    unit: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def per_width(self) -> FloatArray:
        """The score over the width of the map, which compares across maps."""
        return np.asarray(self.values / float(np.ptp(self.coordinates, axis=0).max()))


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class LocalDistortion(PointScores):
    """How an embedding stretches the neighborhood of each point.

    Attributes
    ----------
    area : ndarray (n,)
        Factor of area, over its median; NaN if the points of the neighborhood coincide, as below.
    anisotropy : ndarray (n,)
        The largest over the smallest stretch, at least 1.
    outside : ndarray (n,)
        Share of the variance of the neighborhood in the data that is outside its tangent.
    r2 : ndarray (n,)
        Share of the variance of the neighborhood in the embedding that its linear map explains.
    log_area_se, log_anisotropy_se : ndarray (n,)
        Standard errors of the logarithms, by the jackknife over neighbors.
    n_broken : ndarray (n,) of int
        Number of broken edges at the point.
    coordinates : ndarray (n, d)
        The embedding.
    matrices : ndarray (n, d, d)
        H = J'J, in the unit of the embedding over that of the data: the ellipse at a point is its square root times the
        unit circle.
    broken : ndarray (b, 2) of int
        The broken edges, by the numbers of their points, the smaller one first.
    median_area : float
        The median factor of area, in the unit of the embedding over that of the data.
    recipe : dict
        ``n``, ``p`` and ``parameters``.
    notes : tuple of Note
        Assumptions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> dreval.local_distortion(X, X * [2.0, 0.5]).glance()[["n", "n_neighbors", "n_broken_edges"]]
        n  n_neighbors  n_broken_edges
    0  60           15               0
    """

    TITLE: ClassVar[str] = "Local distortion"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "area",
        "anisotropy",
        "outside",
        "r2",
        "log_area_se",
        "log_anisotropy_se",
        "n_broken",
    )
    NUMBERS: ClassVar[tuple[str, ...]] = ("median_area", "n_broken_edges")

    area: FloatArray
    anisotropy: FloatArray
    outside: FloatArray
    r2: FloatArray
    log_area_se: FloatArray
    log_anisotropy_se: FloatArray
    n_broken: npt.NDArray[np.int64]
    coordinates: FloatArray
    matrices: FloatArray
    broken: npt.NDArray[np.int64]
    median_area: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def n_broken_edges(self) -> int:
        """Number of broken edges."""
        return len(self.broken)


# The dependence of a test on one of its settings.


@read_only
@dataclass(frozen=True, eq=False)
class Sensitivity(Record):
    """A test at several values of one setting.

    Attributes
    ----------
    table : DataFrame
        One row for each value: the setting, ``statistic``, ``null_mean``, ``null_95`` (the 95 % quantile of the
        statistic under permutation), ``effect_size``, ``p_value``, ``p_kind``.
    setting : str
        Name of the column that holds the setting.
    test : str
        Name of the test.
    usual : float
        The default value of the setting.
    n : int
        Number of rows.
    n_resamples : int
        Number of permutations at each value.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> x = np.linspace(-1, 1, 40)
    >>> curve = dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=99, random_state=0)
    >>> curve.tidy()[["kappa", "p_value"]]
       kappa  p_value
    0   0.01     0.01
    1   0.10     0.01
    """

    table: pd.DataFrame
    setting: str
    test: str
    usual: float
    n: int
    n_resamples: int

    def tidy(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    def plot(self, ax: Any = None, figsize: Any = None) -> Any:
        """Draw the statistic against the setting, with its mean and 95 % quantile under permutation.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> x = np.linspace(-1, 1, 40)
        >>> dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=19, random_state=0).plot()
        <Figure size ...>
        """
        return call_forwarded("Sensitivity.plot", self, ax, figsize)

    def __repr__(self) -> str:
        return f"Sensitivity({self.test}: {len(self.table)} values of {self.setting})"


# The Shepard diagram of an embedding as a compact table of the distances of all its pairs.


@read_only
@dataclass(frozen=True, eq=False)
class Shepard:
    """Distances in an embedding against those in the data, counted in cells.

    Attributes
    ----------
    x_edges, y_edges : ndarray (cells + 1,)
        Edges of the cells, in the unit of the data and of the embedding; both begin at 0.
    counts : ndarray (cells, cells) of int
        Number of pairs by distance in the data (rows) and in the embedding (columns).
    step_edges, steps : ndarray (m + 1,), (m,)
        The ascending step function that is nearest to the distances in the embedding (least squares), with steps
        that each hold about equally many pairs; pairs at equal distances in the data share a step.
    pairs, total : int
        Number of pairs counted and of all pairs of the points; fewer are counted if pairs were drawn at random.
    anchored : bool
        Whether they are pairs of an anchor and another point; a pair of two anchors then counts twice.
    """

    x_edges: FloatArray
    y_edges: FloatArray
    counts: npt.NDArray[np.int64]
    step_edges: FloatArray
    steps: FloatArray
    pairs: int
    total: int
    anchored: bool = False

    def plain(self) -> dict[str, Any]:
        """Return the table in types that JSON can store; floats keep every digit."""
        filled = np.flatnonzero(self.counts)
        return {
            "x_edges": self.x_edges.tolist(),
            "y_edges": self.y_edges.tolist(),
            "filled": filled.tolist(),
            "counts": self.counts.ravel()[filled].tolist(),
            "step_edges": self.step_edges.tolist(),
            "steps": self.steps.tolist(),
            "pairs": self.pairs,
            "total": self.total,
            "anchored": self.anchored,
        }

    @classmethod
    def of_plain(cls, saved: dict[str, Any]) -> Shepard:
        """Return the table that ``plain`` wrote."""
        x, y, edges, steps = (np.array(saved[key], np.float64) for key in ("x_edges", "y_edges", "step_edges", "steps"))
        counts = np.zeros((len(x) - 1, len(y) - 1), np.int64)
        counts.flat[np.array(saved["filled"], np.int64)] = saved["counts"]
        pairs, total, anchored = int(saved["pairs"]), int(saved["total"]), bool(saved["anchored"])
        return cls(x, y, counts, edges, steps, pairs, total, anchored)


# The record of a method's stability: its value, values per point over replicates, and the aligned replicates.


@read_only
@dataclass(frozen=True, eq=False)
class Stability(MeasureRecord):
    """Agreement of a method's embeddings over replicates; the attributes of ``MeasureRecord`` and those below.

    Attributes
    ----------
    points : DataFrame (n rows)
        For each point ``agreement``, ``local_variation``, ``global_variation``, ``radius``, ``variance_score`` and the
        number of replicates that have it; see ``stability``. NaN if too few replicates have the point.
    replicates : ndarray (R, n, d)
        The replicates, rotated, scaled and moved onto their mean, with NaN for missing points; read-only. They are for
        figures: in ``points`` only ``radius`` depends on this alignment.
    mean : ndarray (n, d)
        Their mean, moved and scaled to a mean squared distance of 1 from its center.

    See Also
    --------
    stability : computes it, and explains each number.
    """

    points: pd.DataFrame | None = field(default=None, repr=False)
    replicates: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 0)), repr=False)
    mean: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @property
    def map(self) -> npt.NDArray[np.float64]:
        """Coordinates (n, d) for figures: the first replicate if it has all points, else the mean."""
        first = self.replicates[0]
        return first if np.isfinite(first).all() else self.mean

    def glance(self) -> pd.DataFrame:
        """Return one row: data, replicates, the value with its interval, and how many points agree less than half.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> result = dreval.stability(X, "pca", n_replicates=6, random_state=0)
        >>> result.glance()[["n", "source", "over", "n_replicates", "n_neighbors"]]
            n source    over  n_replicates  n_neighbors
        0  40    pca  halves             6            2
        """
        import pandas as pd

        row = {name: self.recipe[name] for name in ("n", "p", "source")} | dict(self.recipe["parameters"])
        row |= {"stability": self.value, "conf_low": self.parts["conf_low"], "conf_high": self.parts["conf_high"]}
        if self.points is not None:
            row["n_below_half"] = int((self.points["agreement"] < 0.5).sum())
        return pd.DataFrame([row | {"random_state": self.recipe["random_state"], "note": join_notes(self.notes)}])

    def augment(self) -> pd.DataFrame:
        """Return one row per point: coordinates ``y1``, ``y2``, ... as in the figures (``map``), and ``points``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> result = dreval.stability(X, "pca", n_replicates=6, random_state=0)
        >>> list(result.augment())[:4]
        ['y1', 'y2', 'agreement', 'local_variation']
        """
        import pandas as pd

        columns = [f"y{j + 1}" for j in range(self.mean.shape[1])]
        return pd.concat([pd.DataFrame(self.map, columns=columns), self.points], axis=1)

    def plot(
        self, kind: str = "map", ax: Any = None, figsize: Any = None, *, points: Sequence[int] | None = None
    ) -> Any:
        """Draw a map with the agreement of each point, or the images of chosen points in all replicates.

        Parameters
        ----------
        kind : {"map", "clouds"}
            The points of the first replicate (of halves: of their mean) by agreement, from worse (yellow) to better
            (green); or, over them in gray, the images of some points in every replicate.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.
        points : sequence of int, optional
            The points whose clouds are drawn, at most 12; by default the six points that agree least, among those in at
            least as many replicates as the median point, and no two near each other.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such kind.
        InputError
            If ``points`` are not points of the data.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> dreval.stability(X, "pca", n_replicates=6, random_state=0).plot("clouds")
        <Figure size ...>
        """
        kind = check_one_of(kind, ("map", "clouds"), "kind", aliases=True)
        return call_forwarded("Stability.plot", self, kind, points, ax, figsize)

    def __repr__(self) -> str:
        return f"Stability({self.value:.6g} over {self.n_resamples} runs)"
