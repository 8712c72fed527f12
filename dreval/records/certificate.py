"""The record of a certificate: whether what an embedding leaves of the data is independent of what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval.glossary import printable
from dreval.records._verbs import Record, call
from dreval.records.notes import Notes
from dreval.records.read_only import read_only

if TYPE_CHECKING:
    import pandas as pd

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
class Certificate(Record):
    """Definition 1 of Roy (2021), tested for one embedding: x = f(y) + e with e of mean zero and independent of y.

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
        Length of the mean held-out residual over the residuals' root mean square; about ``1 / sqrt(n)`` under
        Definition 1.
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
    notes : tuple of Note
        What was assumed.

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
        """The p-value of each test, adjusted by Holm for their number."""
        from statsmodels.stats.multitest import multipletests

        return tuple(map(float, multipletests([t.p_value for t in self.tests], method="holm")[1])) if self.tests else ()

    @property
    def smallest_p(self) -> float:
        """The smallest adjusted p-value that so many resamples can give."""
        return len(self.tests) / (self.n_resamples + 1)

    @property
    def objections(self) -> tuple[str, ...]:
        """Names of the tests that object to Definition 1, at the level .05 after adjustment by Holm."""
        return tuple(t.name for t, p in zip(self.tests, self.p_adjusted, strict=True) if p <= LEVEL)

    @property
    def verdict(self) -> str:
        """What failed, and whether the embedding tells anything about the data at all, in a sentence."""
        return str(call("Certificate.verdict", self))

    def tidy(self) -> pd.DataFrame:
        """One row per test, with the errors beside it.

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
        rows = [{**shared, **{k: v for k, v in t._asdict().items() if k != "null_distribution"}} for t in self.tests]
        return pd.DataFrame(rows).rename(columns={"name": "test"}).assign(p_adjusted=self.p_adjusted, **KINDS)

    def __repr__(self) -> str:
        name, objections = printable(self.name), len(self.objections)
        return f"Certificate({name}: held-out error {self.held_out:.4g}, {objections} objections)"
