"""The answer of an independence test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_one_of
from dreval.records._verbs import Record, call
from dreval.records.call import written_again
from dreval.records.notes import Notes
from dreval.records.read_only import read_only
from dreval.registry import TESTS

if TYPE_CHECKING:
    import pandas as pd


@read_only
@dataclass(frozen=True, eq=False)
class IndependenceTest(Record):
    """Result of a test of independence.

    Attributes
    ----------
    test : str
        Name of the test.
    title : str
        What the test is called in print.
    statistic : float
        Observed value of the statistic (larger means more dependence).
    p_value : float
        ``(b + 1) / (m + 1)`` for m sampled permutations, b of which reach the statistic; never 0. The share of all
        permutations where they were enumerated, ``b / m`` where sampling stopped at the b-th that reached it, and an
        approximation, named in ``notes``, where there are none.
    null_distribution : ndarray (m,)
        Statistics under permutation, in the order of the permutations' numbers; read-only.
    n_resamples : int
        Number m of permutations.
    effect_size : float
        Dependence on a scale that does not depend on n; ``effect_size_name`` says which.
    effect_size_name : str
        Symbol of the effect size.
    p_interval : (float, float)
        95 % Clopper-Pearson interval of the Monte Carlo p-value; both ends are the p-value where it is exact, and
        NaN where it is an approximation.
    extra : dict
        Other values the test gives (other forms of the statistic; ``..._x``, ``..._y`` and so on for one per variable).
    recipe : dict
        ``test``, ``n``, ``variables`` (``labels``: what they are called in print), ``random_state``, ``parameters``
        and ``versions``: what is needed to run it again.
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
        """The p-value under the name that scipy gives it."""
        return self.p_value

    def tidy(self) -> pd.DataFrame:
        """One row with the columns of the tidy table of an evaluation: test, statistic, p_value, effect_size, ...

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> found = dreval.hsic_test(X, X[:, 0] ** 2, n_resamples=99, random_state=0)
        >>> found.tidy()[["test", "n", "statistic", "p_value"]].round(3)
           test   n  statistic  p_value
        0  hsic  40      0.006     0.11
        """
        import pandas as pd

        row = {"test": self.test, "n": self.recipe.get("n"), "statistic": self.statistic, "chance": self.null_mean}
        row |= {"p_value": self.p_value, "p_kind": self.p_kind, "n_resamples": self.n_resamples}
        return pd.DataFrame([{**row, "effect_size": self.effect_size, "effect_size_name": self.effect_size_name}])

    @property
    def null_mean(self) -> float:
        """Null mean of the statistic: of the permutations, or of the distribution in their place."""
        if len(self.null_distribution):
            return float(np.mean(self.null_distribution))
        return float(self.extra.get("null_mean", math.nan))

    @property
    def call(self) -> str:
        """The Python that makes the test again, with what was not left as it is by default."""
        recipe = self.recipe
        if self.test not in TESTS:
            return ""
        given = {**recipe.get("parameters", {}), "random_state": recipe.get("random_state")}
        return written_again(f"dreval.{self.test}{TESTS.suffix}", self.variables, given, TESTS.get(self.test))

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, as the arguments of the test."""
        return tuple(self.recipe.get("variables", ("x", "y")))

    def plot(self, kind: str = "null", ax: Any = None, figsize: Any = None) -> Any:
        """Histogram of the null distribution with the observed statistic.

        Parameters
        ----------
        kind : {"null"}
            The statistic against its values under permutation, or against the distribution in their place.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` where it is given, else a figure, which has ``savefig`` and is not registered with pyplot.

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
        return call("IndependenceTest.plot", self, ax, figsize)

    def __repr__(self) -> str:
        return f"IndependenceTest({self.test}: statistic={self.statistic:.6g}, p_value={self.p_value:.4g})"
