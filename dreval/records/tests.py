"""The records of tests: of independence, of noise, of the residual of an embedding, and over a setting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_one_of
from dreval.errors import InputError
from dreval.records.base import Record, Summary, TableRecord, read_only
from dreval.records.frames import coordinates_frame
from dreval.records.notes import Notes
from dreval.records.provenance import reproducing_call
from dreval.registry import TESTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
@dataclass(frozen=True, eq=False, repr=False)
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
    Definition 1 is not rejected for a: no evidence that the residual depends on the embedding (adjusted HSIC p = .300
    and KCCA p = .300). ...
    """

    name: str
    train: float
    held_out: float
    residual_mean: float
    tests: tuple[ResidualTest, ...]
    residuals: npt.NDArray[np.float64]
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
        from dreval.report.documents.tests import certificate_verdict

        return certificate_verdict(self)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the errors, the tests and the verdict."""
        from dreval.report.documents.tests import certificate_summary

        return certificate_summary(self, full)

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
        shared = {"embedding": self.name, "train": self.train, "held_out": self.held_out}
        shared |= {"residual_mean": self.residual_mean, "n_resamples": self.n_resamples}
        rows = [
            {**shared, **{key: value for key, value in test._asdict().items() if key != "null_distribution"}}
            for test in self.tests
        ]
        return pd.DataFrame(rows).rename(columns={"name": "test"}).assign(p_adjusted=self.p_adjusted, **KINDS)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class HypothesisTest(Record):
    """Statistic and p-value of a test, with its null distribution: what tests of independence and of noise share.

    ``IndependenceTest`` describes the attributes.
    """

    test: str
    title: str
    statistic: float
    p_value: float
    null_distribution: npt.NDArray[np.float64]
    effect_size: float
    effect_size_name: str
    p_interval: tuple[float, float]
    extra: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    notes: Notes = ()
    p_kind: str = "permutation"

    @property
    def _null_count(self) -> int:
        """Number m of permutations, or of null data sets, from which the p-value is computed."""
        raise NotImplementedError

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
        row = {"test": self.test, "n": self.recipe.get("n"), "statistic": self.statistic, "chance": self.chance}
        row |= {"p_value": self.p_value, "p_kind": self.p_kind, "n_resamples": self._null_count}
        return pd.DataFrame([{**row, "effect_size": self.effect_size, "effect_size_name": self.effect_size_name}])

    @property
    def chance(self) -> float:
        """Null mean of the statistic: of the permutations, or of the distribution that replaces them."""
        if len(self.null_distribution):
            return float(np.mean(self.null_distribution))
        return float(self.extra.get("chance", math.nan))

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

    @overload
    def plot(self, kind: str = "null", ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, kind: str = "null", *, ax: Axes) -> Axes: ...
    def plot(self, kind: str = "null", ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw a histogram of the null distribution with the observed statistic.

        Parameters
        ----------
        kind : {"null"}
            The statistic against its values under permutation, or against the distribution that replaces them.
        %(figure)s

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
        from dreval.report.figures.nulls import null_histogram

        check_one_of(kind, ("null",), "kind", aliases=True)
        return null_histogram(self, ax, figsize)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class IndependenceTest(HypothesisTest):
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
        Number m of permutations; 0 without them.
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
    >>> IndependenceTest("hsic", "HSIC", 0.4, 0.25, null, 0.5, "CKA", (0.0, 0.71))
    No evidence of dependence between x and y (HSIC, p = .250, CKA .50). ...
    """

    @property
    def n_resamples(self) -> int:
        """Number m of permutations."""
        return len(self.null_distribution)

    @property
    def _null_count(self) -> int:
        return self.n_resamples

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the statistic, its p-value and the effect size."""
        from dreval.report.documents.tests import test_summary

        return test_summary(self, full)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class NoiseTest(HypothesisTest):
    """Result of a noise test; the attributes of ``IndependenceTest`` except ``n_resamples``, and those below.

    ``statistic`` is the mean score of the points (of several settings: the largest z), ``null_distribution`` its values
    on the null data, ``effect_size`` the z of the statistic, and ``p_kind`` "permutation" for independent columns, else
    "parametric_bootstrap". ``extra`` holds ``null``, ``measure``, ``n_seeds``, ``n_failed`` and ``alpha``.

    Attributes
    ----------
    n_replicates : int
        Number m of null data sets, with those on which the method failed.
    points : DataFrame or None
        One row per scored point: ``score`` (higher is better), ``p_family_wise``, ``e_value``, ``q`` (NaN if the global
        p is above alpha) and ``like_noise`` (not distinguished from noise). None if the score is a single number, or if
        several settings are compared.
    settings : DataFrame or None
        One row per setting, if several are compared: its options, ``statistic``, ``chance``, ``z`` and
        ``p_value`` (adjusted for the number of settings by the largest z).
    embedding : ndarray (n, d) or None
        Coordinates of the embedding of the data, with the first seed; read-only.

    See Also
    --------
    noise_test : computes it, and explains each number.
    """

    n_replicates: int = 0
    points: pd.DataFrame | None = None
    settings: pd.DataFrame | None = None
    embedding: npt.NDArray[np.float64] | None = None

    @property
    def _null_count(self) -> int:
        return self.n_replicates

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
        ['y1', 'y2', 'score', 'p_family_wise', 'e_value', 'q', 'like_noise']
        """
        if self.points is None or self.embedding is None:
            hint = "Use a score of points, such as measure='neighborhood_overlap', and one setting."
            settings = "" if self.settings is None else f" at {len(self.settings)} settings"
            received = f"{self.extra.get('measure')}{settings}"
            raise InputError("measure", "must have a value for each point", received, hint)
        Y = self.embedding[self.points.index.to_numpy()]
        return pd.concat([coordinates_frame(Y, self.points.index), self.points], axis=1)

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

    @overload
    def plot(self, kind: str = "null", ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, kind: str = "null", *, ax: Axes) -> Axes: ...
    def plot(self, kind: str = "null", ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the null distribution of the statistic, or the map with hollow points: not distinguished from noise.

        Parameters
        ----------
        kind : {"null", "map"}
            The statistic against its values on null data; or the embedding of the data, in which points that are not
            distinguished from noise are hollow.
        %(figure)s

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
        from dreval.report.figures.maps import noise_map

        kind = check_one_of(kind, ("null", "map"), "kind", aliases=True)
        return super().plot(kind, ax, figsize) if kind == "null" else noise_map(self, ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the test, and how many points are distinguished from noise."""
        from dreval.report.documents.tests import noise_summary

        return noise_summary(self, full)

    @property
    def call(self) -> str:
        """The Python code that reproduces the test; empty if a function of the user is part of it."""
        has_function = any(callable(value) for value in self.recipe.get("parameters", {}).values())
        return "" if has_function else super().call


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(TableRecord):
    """A test at several values of one setting.

    Attributes
    ----------
    table : DataFrame
        One row for each value: the setting, ``statistic``, ``chance``, ``null_95`` (the 95 % quantile of the
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

    @overload
    def plot(self, ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, ax: Axes) -> Axes: ...
    def plot(self, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the statistic against the setting, with its mean and 95 % quantile under permutation.

        Parameters
        ----------
        %(figure)s

        Examples
        --------
        >>> import numpy as np, dreval
        >>> x = np.linspace(-1, 1, 40)
        >>> dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=19, random_state=0).plot()
        <Figure size ...>
        """
        from dreval.report.figures._lines import sensitivity_curve

        return sensitivity_curve(self, ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the test at each value of the setting."""
        from dreval.report.documents.tests import sensitivity_summary

        return sensitivity_summary(self, full)
