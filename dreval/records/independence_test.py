"""The answer of an independence test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_one_of
from dreval.records.call import written_again
from dreval.records.read_only import read_only
from dreval.registry import TESTS
from dreval.report.render.summary import (
    CODES,
    Block,
    Printed,
    Summary,
    format_number,
    format_p,
    same_digits,
    significance_stars,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["IndependenceTest"]

WORDS = {  # keys of ``extra`` that are no words
    "cka": "CKA",
    "dcor": "Distance correlation",
    "error_bound": "Bound of the error",
    "n_first": "Rows of the first sample",
    "n_second": "Rows of the second sample",
    "null_sd": "Standard deviation by chance",
    "p_chi2": "p of the chi-square law",
    "truncation": "Lost by truncation",
    "unbiased": "Unbiased statistic",
    "wilks": "Wilks' lambda",
}
LAWS = {"gamma": "none: a gamma law", "chi2": "none: a chi-square law"}  # what stands for permutations, by method


@read_only
@dataclass(frozen=True, eq=False)
class IndependenceTest(Printed):
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
    notes : tuple of str
        Approximations and assumptions.
    p_kind : str
        How the p-value was made: "permutation", "exact" (all permutations counted), "asymptotic" (chi-square law) or
        "approximate" (gamma law).

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
    notes: tuple[str, ...] = ()
    p_kind: str = "permutation"

    @property
    def pvalue(self) -> float:
        """The p-value under the name that scipy gives it."""
        return self.p_value

    def tidy(self) -> pd.DataFrame:
        """One row with the columns of the tidy table of an evaluation: test, statistic, p_value, effect_size, ..."""
        import pandas as pd

        row = {"test": self.test, "n": self.recipe.get("n"), "statistic": self.statistic, "chance": self.null_mean}
        row |= {"p_value": self.p_value, "p_kind": self.p_kind, "n_resamples": self.n_resamples}
        return pd.DataFrame([{**row, "effect_size": self.effect_size, "effect_size_name": self.effect_size_name}])

    @property
    def null_mean(self) -> float:
        """Mean of the statistic by chance: of the permutations, or of the law that stands for them."""
        if len(self.null_distribution):
            return float(np.mean(self.null_distribution))
        return float(self.extra.get("null_mean", math.nan))

    def summary(self) -> Summary:
        """The printed result: header, the test, other values, one row per variable, notes.

        Returns
        -------
        Summary
            ``str()`` of it is text for 80 columns; ``as_html()``, ``as_latex()``, ``as_markdown()`` give the rest.
        """
        header = [
            ("n", format_number(self.recipe.get("n"))),
            ("Permutations", self._permutations()),
            (self.effect_size_name, _cell(float(self.effect_size) + 0.0)),
            *((_words(key), _cell(self.extra[key])) for key in self._single_keys()),
            ("Seed", str(self.recipe.get("random_state", ""))),
        ]
        blocks = [self._test_block(significance_stars(self.p_value)), *self._variable_blocks()]
        return Summary(self.title, header, blocks, self.notes, self.call)

    @property
    def call(self) -> str:
        """The Python that makes the test again, with what was not left as it is by default."""
        recipe = self.recipe
        if self.test not in TESTS:
            return ""
        given = {**recipe.get("parameters", {}), "random_state": recipe.get("random_state")}
        return written_again(f"dreval.{self.test}{TESTS.suffix}", self._sides(), given, TESTS.get(self.test))

    def _permutations(self) -> str:
        """How many permutations were drawn, or what stands in their place."""
        method = self.recipe.get("parameters", {}).get("method")
        return format_number(self.n_resamples) if self.n_resamples else LAWS.get(method, "none")

    def _test_block(self, stars: str) -> Block:
        """The statistic, its p-value and the null distribution in one row."""
        null, (low, high) = self.null_distribution, self.p_interval
        known = [] if math.isnan(self.null_mean) else [self.null_mean]
        values = [self.statistic, *known, *([float(np.quantile(null, 0.95))] if len(null) else [])]
        statistic, *quantiles = same_digits(values)
        interval = f"[{low:.3f}, {high:.3f}]" if low < high else self.p_kind
        row = [self.test, statistic, *quantiles, format_p(self.p_value), interval, stars]
        nulls = ["null mean", "null 95 %"][: len(quantiles)]
        columns = ["", "statistic", *nulls, "p", "95 % interval of p", ""]
        hypothesis = self.recipe.get("hypothesis", "the variables are independent")
        return Block(f"H0: {hypothesis}", columns, [row], foot=CODES if stars else "")

    def _sides(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(self.recipe.get("variables", ("x", "y")))

    def _paired_stems(self) -> list[str]:
        """What ``extra`` holds per variable: keys that come as ``..._x``, ``..._y`` and so on."""
        stems = [key[:-2] for key in self.extra if key.endswith("_x")]
        return [stem for stem in stems if all(f"{stem}_{side}" in self.extra for side in self._sides())]

    def _single_keys(self) -> list[str]:
        """The other keys of ``extra`` with one value; the effect size is printed already."""
        paired = {f"{stem}_{side}" for stem in self._paired_stems() for side in self._sides()}
        scalars = [key for key, value in self.extra.items() if value is None or isinstance(value, str | float | int)]
        shown = {*paired, self.effect_size_name.lower(), "null_mean"}
        return [key for key in scalars if key not in shown]

    def _variable_blocks(self) -> list[Block]:
        """One row per variable, where there is something to say of each."""
        stems = self._paired_stems()
        labels = self.recipe.get("labels", self._sides())
        rows = [
            [label, *(_cell(self.extra[f"{stem}_{side}"]) for stem in stems)]
            for side, label in zip(self._sides(), labels, strict=True)
        ]
        return [Block("Variables", ["", *map(_words, stems)], rows)] if stems else []

    def plot(self, kind: str = "null", *, ax: Any = None) -> Any:
        """Histogram of the null distribution with the observed statistic.

        Parameters
        ----------
        kind : {"null"}
            The statistic against its values under permutation, or against the law that stands for them.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.figure.Figure
            Has ``savefig``; it is not registered with pyplot.

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
        check_one_of(kind, ("null",), "kind")
        return import_module("dreval.report._nulls").null_histogram(self, ax=ax).figure

    def __repr__(self) -> str:
        return f"IndependenceTest({self.test}: statistic={self.statistic:.6g}, p_value={self.p_value:.4g})"


def _cell(value: Any) -> str:
    """One value of any kind as text."""
    if value is None or value != value:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _words(key: str) -> str:
    """A key as words."""
    return WORDS.get(key, key.replace("_", " ").capitalize())
