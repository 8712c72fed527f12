"""The records of estimates: measures of methods, dimensions, perplexities, and costs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_one_of
from dreval.records.base import Record, Summary, TableRecord, read_only
from dreval.records.cells import Cells, write_scores
from dreval.records.frames import coordinates_frame
from dreval.records.notes import Notes, join_notes
from dreval.records.provenance import reproducing_call
from dreval.registry import ANALYSES, MEASURES, METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Number:
    """Comparison, arithmetic and formatting of a record by its attribute ``value``; the results are plain floats.

    Examples
    --------
    >>> class Example(Number):
    ...     value = 0.25
    >>> Example() < 0.3, 1 - Example(), f"{Example():.1%}"
    (True, 0.75, '25.0%')
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


@read_only
@dataclass(frozen=True, eq=False, repr=False)
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
    n_runs : int
        Number of runs of the method behind the value; of a measure that runs no method, of folds.
    recipe : dict
        ``source``, ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        Assumptions and limits that affect how to read it.
    direction : str
        Whether "higher" or "lower" is better.

    Examples
    --------
    >>> record = MeasureRecord("trustability", "Trustability measure", "u", 0.25, {"ti_per_n": 2.0})
    >>> float(record), record.parts["ti_per_n"]
    (0.25, 2.0)
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
    n_runs: int = 0
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

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the value with its chance level, and its parts."""
        from dreval.report.documents.small import measure_summary

        return measure_summary(self, full)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
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

    points: pd.DataFrame | None = None
    replicates: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 0)))
    mean: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))

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
        return pd.concat([coordinates_frame(self.map), self.points], axis=1)

    def to_anndata(self, adata: Cells, key_added: str = "dreval_stability", *, copy: bool = False) -> Cells:
        """Write the values of points into ``adata.obs``, as ``dreval_stability_agreement``; see ``Results.to_anndata``.

        The record has no names of points: the cells must be those of the data, in the same order.

        Examples
        --------
        >>> import numpy as np, pandas as pd, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> result = dreval.stability(X, "pca", n_replicates=6, random_state=0)
        >>> from types import SimpleNamespace  # stands in for an AnnData object
        >>> names = pd.Index([str(i) for i in range(40)])
        >>> cells = SimpleNamespace(obs=pd.DataFrame(index=names), obs_names=names, n_obs=40, uns={})
        >>> list(result.to_anndata(cells).obs)[:2]
        ['dreval_stability_agreement', 'dreval_stability_local_variation']
        """
        points = pd.DataFrame(index=range(len(self.map))) if self.points is None else self.points
        return write_scores(points, self.recipe, adata, key_added, copy=copy)

    @overload
    def plot(
        self,
        kind: str = "map",
        ax: None = None,
        figsize: tuple[float, float] | None = None,
        *,
        points: Sequence[int] | None = None,
    ) -> Figure: ...
    @overload
    def plot(self, kind: str = "map", *, ax: Axes, points: Sequence[int] | None = None) -> Axes: ...
    def plot(
        self, kind: str = "map", ax: Any = None, figsize: Any = None, *, points: Sequence[int] | None = None
    ) -> Figure | Axes:
        """Draw a map with the agreement of each point, or the images of chosen points in all replicates.

        Parameters
        ----------
        kind : {"map", "clouds"}
            The points of the first replicate (of halves: of their mean) by agreement, from the chance level (orange) to
            perfect (blue); or, over them in gray, the images of some points in every replicate.
        points : sequence of int, optional
            The points whose clouds are drawn, at most 12; by default the six points that agree least, among those in at
            least as many replicates as the median point, and no two near each other.
        %(figure)s

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
        from dreval.report.figures.maps import stability_figure

        kind = check_one_of(kind, ("map", "clouds"), "kind", aliases=True)
        return stability_figure(self, kind, points, ax, figsize)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
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
    The intrinsic dimension of these points is about .883 (95 % interval .618 to 1.15), in 3 columns. ...
    >>> result < 2, round(result), f"{result:.1f}"
    (True, 1, '0.9')
    """

    method: str
    value: float
    n_used: int
    points: pd.DataFrame
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

    @overload
    def plot(self, ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, ax: Axes) -> Axes: ...
    def plot(self, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw for "twonn" the fitted line with the ratios, used and left out; for "mle" the local dimensions.

        Parameters
        ----------
        %(figure)s

        Examples
        --------
        >>> import numpy as np, dreval
        >>> dreval.intrinsic_dimension(np.random.default_rng(0).normal(size=(50, 2)), random_state=0).plot()
        <Figure size ...>
        """
        from dreval.report.figures.curves import draw_intrinsic_dimension

        return draw_intrinsic_dimension(self, ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the estimate with its interval, and the method."""
        from dreval.report.documents.small import intrinsic_dimension_summary

        return intrinsic_dimension_summary(self, full)

    @property
    def call(self) -> str:
        """The Python code that reproduces the estimate."""
        arguments = {**self.recipe["parameters"], "random_state": self.recipe["random_state"]}
        return reproducing_call("dreval.intrinsic_dimension", ["X"], arguments, ANALYSES.get("intrinsic_dimension"))


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class ParallelAnalysis(TableRecord):
    """Principal components with larger eigenvalues than those of independently permuted columns.

    Attributes
    ----------
    n_components : int
        Number of leading components with ``p_value <= alpha``, before the first without.
    table : DataFrame
        One row per component: ``component`` (1, 2, ...), ``eigenvalue``, ``share`` of the variance, ``chance`` and
        ``null_quantile`` (1 - alpha) of the eigenvalues of the same rank under permutation, ``p_value``, ``p_kind``
        ("permutation") and ``kept``.
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
    >>> result = dreval.parallel_analysis(X, random_state=0)
    >>> result
    2 of 6 components have larger eigenvalues than independent columns would give; they hold 89 % of the variance of the
    standardized columns. ...
    >>> result.tidy()[["component", "p_value", "kept"]].head(3)
       component  p_value   kept
    0          1    0.005   True
    1          2    0.005   True
    2          3    1.000  False
    """

    n_components: int
    table: pd.DataFrame
    null_eigenvalues: npt.NDArray[np.float64]
    alpha: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def n_resamples(self) -> int:
        """Number of permutations."""
        return len(self.null_eigenvalues)

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

    @overload
    def plot(self, ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, ax: Axes) -> Axes: ...
    def plot(self, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the eigenvalues by number, with their range under permutation.

        Parameters
        ----------
        %(figure)s

        Examples
        --------
        >>> import numpy as np, dreval
        >>> dreval.parallel_analysis(np.random.default_rng(0).normal(size=(50, 3)), random_state=0).plot()
        <Figure size ...>
        """
        from dreval.report.figures.curves import draw_parallel_analysis

        return draw_parallel_analysis(self, ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the number of components, and their eigenvalues."""
        from dreval.report.documents.small import parallel_analysis_summary

        return parallel_analysis_summary(self, full)

    @property
    def call(self) -> str:
        """The Python code that reproduces the analysis."""
        arguments = {**self.recipe["parameters"], "random_state": self.recipe["random_state"]}
        return reproducing_call("dreval.parallel_analysis", ["X"], arguments, ANALYSES.get("parallel_analysis"))


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class PerplexityCurve(TableRecord):
    """The singularity scores of t-SNE maps at several perplexities, over seeds.

    Attributes
    ----------
    table : DataFrame
        Two rows per perplexity, for the largest 5 % of the scores over n and for their median: ``perplexity``,
        ``score`` ("top 5 %" or "median"), ``value`` (the geometric mean over seeds), ``se_log`` (the standard error of
        its logarithm), ``conf_low``, ``conf_high``, ``conf_level``, ``n_used`` and ``n_refused`` (runs), ``note``.
        With fewer than three maps there is no interval.
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
    >>> dreval.perplexity_curve(X, [15, 25], n_replicates=3, random_state=0)
    The largest 5 % of the singularity scores are smallest at perplexity 25: 9.41 (95 % interval 5.21 to 17.0), and
    largest at 15: 44.9. ...
    """

    table: pd.DataFrame
    values: pd.DataFrame
    conf_level: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    def glance(self) -> pd.DataFrame:
        """Return one row: the data, how many perplexities have an interval, and how many maps have no score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(90, 4))
        >>> curve = dreval.perplexity_curve(X, [15, 25], n_replicates=3, random_state=0)
        >>> curve.glance()[["n", "n_perplexities", "n_with_interval", "n_replicates", "n_refused"]]
            n  n_perplexities  n_with_interval  n_replicates  n_refused
        0  90               2                2        3          0
        """
        top = self.table[self.table["score"] == self.table["score"].iloc[0]]
        row = {name: self.recipe[name] for name in ("n", "p")} | {"n_perplexities": len(top)}
        row |= {
            "n_with_interval": int(top["conf_low"].notna().sum()),
            "n_replicates": self.recipe["parameters"]["n_replicates"],
        }
        row |= {"n_refused": int(top["n_refused"].sum()), "conf_level": self.conf_level}
        return pd.DataFrame([row | {"random_state": self.recipe["random_state"], "note": join_notes(self.notes)}])

    @overload
    def plot(self, ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, ax: Axes) -> Axes: ...
    def plot(self, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the values over the perplexity, with their intervals.

        Parameters
        ----------
        %(figure)s

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(90, 4))
        >>> dreval.perplexity_curve(X, [15, 25], n_replicates=3, random_state=0).plot()
        <Figure size ...>
        """
        from dreval.report.figures.curves import draw_perplexity_curve

        return draw_perplexity_curve(self, ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the scores at each perplexity, with their intervals."""
        from dreval.report.documents.small import perplexity_summary

        return perplexity_summary(self, full)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class CostEstimate(TableRecord):
    """Estimated time and memory of ``Evaluation.run``, from runs on two small samples of the points.

    The times hold for a machine without other load, with all code loaded and compiled, within a factor of about three.

    Attributes
    ----------
    table : DataFrame
        One row for each step: ``step``, ``embedding`` and ``item`` (the measure or test, with its parameters or
        variable; both are empty if a step has none), and its ``seconds``, NaN if they are unknown. Work that several
        measures share is in the row of the first of them.
    mebibytes : float
        Memory of the largest arrays, in addition to data and embeddings.
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
    >>> cost.tidy()["step"].tolist()
    ['neighbors and ranks', 'measure', 'measure', 'thirds of the points']
    >>> cost.tidy()["item"].tolist()[1:3]
    ['trustworthiness (n_neighbors=15)', 'procrustes_rc (n_neighbors=15)']
    >>> 0 < cost.seconds < 60
    True
    """

    table: pd.DataFrame
    mebibytes: float
    n: int
    n_threads: int
    not_included: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Seconds of all steps whose time is known."""
        return float(self.table["seconds"].sum())

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the estimated time and memory of each step."""
        from dreval.report.documents.small import cost_summary

        return cost_summary(self, full)
