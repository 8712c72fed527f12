"""The answer of a noise test: whether an embedding shows more than those of null data, and at which points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_one_of
from dreval.glossary import printable
from dreval.records._verbs import call
from dreval.records.independence_test import IndependenceTest
from dreval.records.read_only import read_only

if TYPE_CHECKING:
    import pandas as pd


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
        One row per scored point: ``score`` (higher is better), ``p_family_wise``, ``q`` (NaN where the global p is
        above alpha) and ``like_noise``. None where the score is a single number, or several settings are compared.
    settings : DataFrame or None
        One row per setting, where several are compared: its options, ``statistic``, ``null_mean``, ``z`` and
        ``p_value`` (adjusted for the number of settings by the largest z).
    embedding : ndarray (n, d) or None
        Coordinates of the data's own embedding, with the first seed; read-only.

    See Also
    --------
    noise_test : makes it, and says what each number means.
    """

    points: pd.DataFrame | None = field(default=None, repr=False)
    settings: pd.DataFrame | None = field(default=None, repr=False)
    embedding: npt.NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def like_noise(self) -> npt.NDArray[np.bool_]:
        """Whether each scored point is not distinguished from noise, (m,); empty where points have no score."""
        return np.zeros(0, np.bool_) if self.points is None else self.points["like_noise"].to_numpy()

    def augment(self) -> pd.DataFrame:
        """One row per scored point: coordinates ``y1``, ``y2``, ... of the data's own embedding, and ``points``.

        Raises
        ------
        InputError
            If points have no score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> found = dreval.noise_test(X, "pca", n_replicates=19, random_state=0)
        >>> list(found.augment())
        ['y1', 'y2', 'score', 'p_family_wise', 'q', 'like_noise']
        """
        import pandas as pd

        from dreval.errors import InputError

        if self.points is None or self.embedding is None:
            cure = "Use a score of points, such as statistic='neighborhood_overlap', and one setting."
            raise InputError("statistic", "must have a value for each point", str(self.extra.get("score")), cure)
        Y = self.embedding[self.points.index.to_numpy()]
        columns = [f"y{j + 1}" for j in range(Y.shape[1])]
        return pd.concat([pd.DataFrame(Y, index=self.points.index, columns=columns), self.points], axis=1)

    def glance(self) -> pd.DataFrame:
        """One row: the test, its p-value, and how many points are and are not distinguished from noise.

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
        family = self.points["p_family_wise"] <= self.extra["alpha"]
        return row.assign(n_points=len(self.points), n_like_noise=self.like_noise.sum(), n_family_wise=family.sum())

    def plot(self, kind: str = "null", ax: Any = None, figsize: Any = None) -> Any:
        """The null distribution of the statistic, or the map with points like noise drawn hollow.

        Parameters
        ----------
        kind : {"null", "map"}
            The statistic against its values on null data; or the data's own embedding, in which points that are not
            distinguished from noise are hollow.
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
        InputError
            ``kind="map"`` where points have no score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> dreval.noise_test(X, "pca", n_replicates=19, random_state=0).plot("map")
        <Figure size ...>
        """
        kind = check_one_of(kind, ("null", "map"), "kind", aliases=True)
        return call("IndependenceTest.plot" if kind == "null" else "NoiseTest.plot", self, ax, figsize)

    @property
    def call(self) -> str:
        """The Python that makes the test again; empty where a function of the user is part of it."""
        own = any(callable(one) for one in self.recipe.get("parameters", {}).values())
        return "" if own else super().call

    def __repr__(self) -> str:
        null = printable(self.extra.get("null"))
        return f"NoiseTest({null}: statistic={self.statistic:.6g}, p_value={self.p_value:.4g})"
