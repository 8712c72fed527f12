"""The record of a certificate: whether what an embedding leaves of the data is independent of what it shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval.records.read_only import read_only
from dreval.report.render.summary import CODES, Block, Printed, Summary, format_number, format_p, significance_stars

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Certificate", "ResidualTest"]

LEVEL = 0.05  # of the verdict, over all tests
KINDS = {"family": "certificate", "p_kind": "bootstrap"}  # of all its p-values
EMPTY = 0.95  # held-out errors above this say that the embedding tells next to nothing of the data


class ResidualTest(NamedTuple):
    """One measure of dependence between residual and embedding, with its values under refitted resamples."""

    name: str
    effect_name: str
    effect_size: float
    effect_expected: float
    statistic: float
    p_value: float
    null_distribution: npt.NDArray[np.float64]


@read_only
@dataclass(frozen=True, eq=False)
class Certificate(Printed):
    """Definition 1, asked of one embedding: x = f(y) + e with e of mean zero and independent of y.

    The verdict objects where a p-value adjusted by Holm for the number of tests is at most .05, so that it objects
    wrongly to at most about one in twenty embeddings for which the definition holds. An embedding that is independent
    of the data meets the definition, with a constant f: it is not objected to, but where the held-out error is at least
    .95 the verdict says that the embedding tells next to nothing.

    Attributes
    ----------
    name : str
        Name of the embedding.
    train, held_out : float
        Squared reconstruction error over the variance of the data: of points that were fitted, and of held-out ones.
    residual_mean : float
        Length of the mean held-out residual over the residuals' root mean square; by chance about ``1 / sqrt(n)``.
    tests : tuple of ResidualTest
        Residual against embedding: effect size, its mean under resamples in which the definition holds, and the p-value
        of the residual bootstrap. That mean may lie below 0, where an effect is measured from exchanged rows: fitted
        residuals depend on the embedding even less than these.
    residuals : ndarray (n, p)
        x - f(y) of the points from which f was learned, smaller than those of new points.
    n_resamples : int
        Number of bootstrap resamples.
    recipe : dict
        ``n``, ``p``, ``n_components``, ``rule``, ``ridge`` (of the errors), ``residual_ridge`` (of the residuals that
        are tested), ``bandwidth``, ``condition`` and ``random_state``.
    notes : tuple of str
        What was assumed.
    """

    name: str
    train: float
    held_out: float
    residual_mean: float
    tests: tuple[ResidualTest, ...]
    residuals: npt.NDArray[np.float64] = field(repr=False)
    n_resamples: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def p_adjusted(self) -> tuple[float, ...]:
        """The p-value of each test, adjusted by Holm for their number."""
        from statsmodels.stats.multitest import multipletests

        return tuple(map(float, multipletests([t.p_value for t in self.tests], method="holm")[1])) if self.tests else ()

    @property
    def _few(self) -> tuple[str, ...]:
        """What is said of so few resamples that nothing can be objected to."""
        least = len(self.tests) / (self.n_resamples + 1)
        if least <= LEVEL:
            return ()
        return (f"With {self.n_resamples} resamples no adjusted p is below {least:.3f}: too few to see dependence.",)

    @property
    def failed(self) -> tuple[str, ...]:
        """What speaks against Definition 1, in words; empty where nothing does."""
        seen = [
            f"{t.name.upper()}: {t.effect_name} {t.effect_size:.3f}, {t.effect_expected:.3f} if Definition 1 held, "
            f"adjusted p = {format_p(p)}"
            for t, p in zip(self.tests, self.p_adjusted, strict=True)
            if p <= LEVEL
        ]
        return (f"the residual depends on the embedding ({'; '.join(seen)})",) if seen else ()

    @property
    def _empty(self) -> str:
        """What is said of an embedding that tells nothing of the data; empty where it tells something."""
        if self.held_out < EMPTY:
            return ""
        return f"tells next to nothing of held-out points (error {self.held_out:.2f} of 1)"

    @property
    def verdict(self) -> str:
        """What failed, and whether the embedding tells anything at all."""
        if self.failed:
            also = f" It also {self._empty}." if self._empty else ""
            return f"{self.name} does not meet Definition 1: {'; '.join(self.failed)}.{also}"
        if self._empty:
            met = "an embedding unrelated to the data meets it, with a constant f"
            return f"Nothing here speaks against Definition 1, but {self.name} {self._empty}: {met}."
        return "Nothing here speaks against Definition 1; that is no proof of it."

    def tidy(self) -> pd.DataFrame:
        """One row per test, with the errors beside it."""
        import pandas as pd

        shared = {"embedding": self.name, "train": self.train, "held_out": self.held_out}
        shared |= {"residual_mean": self.residual_mean, "n_resamples": self.n_resamples}
        rows = [{**shared, **{k: v for k, v in t._asdict().items() if k != "null_distribution"}} for t in self.tests]
        return pd.DataFrame(rows).rename(columns={"name": "test"}).assign(p_adjusted=self.p_adjusted, **KINDS)

    def summary(self) -> Summary:
        """The printed record: errors, tests with the effect size first, and the verdict."""
        recipe = self.recipe
        header = [("Embedding", self.name), ("n", format_number(recipe.get("n"))), ("p", str(recipe.get("p", "")))]
        header += [("d", str(recipe.get("n_components", ""))), ("Reconstruction", str(recipe.get("rule", "")))]
        sizes = {"Ridge": "ridge", "Ridge of tested residuals": "residual_ridge"}
        sizes |= {"Bandwidth": "bandwidth", "Condition": "condition"}
        header += [(word, f"{recipe[key]:.3g}") for word, key in sizes.items()]
        header += [("Resamples", format_number(self.n_resamples)), ("Seed", str(recipe.get("random_state", "")))]
        errors = [
            ["train", format_number(self.train), ""],
            ["held out", format_number(self.held_out), format_number(1.0)],
        ]
        expected = format_number(1.0 / math.sqrt(recipe["n"])) if recipe.get("n") else ""
        errors.append(["mean of residuals, over their size", format_number(self.residual_mean), expected])
        rows = [
            [
                f"{t.name} ({t.effect_name})",
                format_number(t.effect_size),
                format_number(t.effect_expected),
                f"{t.statistic:.4g}",
                format_p(t.p_value),
                format_p(p),
                significance_stars(p),
            ]
            for t, p in zip(self.tests, self.p_adjusted, strict=True)
        ]
        blocks = [Block("Reconstruction error, over the variance of the data", ["", "value", "by chance"], errors)]
        columns = ["", "effect", "if Def. 1 held", "statistic", "p", "p (Holm)", ""]
        foot = CODES if any(row[-1] for row in rows) else ""
        blocks.append(Block("Residual against embedding", columns, rows, foot=foot))
        call = f"results.certificate({self.name!r}, rule={recipe.get('rule')!r}, n_resamples={self.n_resamples}, "
        call += f"random_state={recipe.get('random_state')})"
        return Summary("Certificate of Definition 1", header, blocks, (*self._few, self.verdict, *self.notes), call)

    def __repr__(self) -> str:
        return f"Certificate({self.name}: held-out error {self.held_out:.4g}, {len(self.failed)} objections)"
