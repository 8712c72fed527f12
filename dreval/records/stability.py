"""The record of a method's stability: its value, what each point does over replicates, and these in one pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_one_of
from dreval.records._verbs import call
from dreval.records.measure_record import MeasureRecord
from dreval.records.notes import joined
from dreval.records.read_only import read_only

if TYPE_CHECKING:
    import pandas as pd


@read_only
@dataclass(frozen=True, eq=False)
class Stability(MeasureRecord):
    """How far a method's embeddings agree over replicates; the attributes of ``MeasureRecord`` and those below.

    Attributes
    ----------
    points : DataFrame (n rows)
        Of each point ``agreement``, ``local_variation``, ``global_variation``, ``radius``, ``variance_score`` and the
        number of replicates that have it; see ``stability``. NaN where too few replicates have the point.
    replicates : ndarray (R, n, d)
        The replicates, turned, scaled and moved onto their mean, with NaN for points one lacks; read-only. For drawing
        only: no number in ``points`` but ``radius`` depends on this alignment.
    mean : ndarray (n, d)
        Their mean, moved and scaled to a mean squared distance of 1 from its center.

    See Also
    --------
    stability : makes it, and says what each number means.
    """

    points: pd.DataFrame | None = field(default=None, repr=False)
    replicates: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 0)), repr=False)
    mean: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @property
    def map(self) -> npt.NDArray[np.float64]:
        """What figures show all points in: the first replicate where it has all of them, else the mean, (n, d)."""
        first = self.replicates[0]
        return first if np.isfinite(first).all() else self.mean

    def glance(self) -> pd.DataFrame:
        """One row: the data, the replicates, the value with its interval, and how many points agree less than half.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> found = dreval.stability(X, "pca", n_replicates=6, random_state=0)
        >>> found.glance()[["n", "source", "over", "n_replicates", "n_neighbors"]]
            n source    over  n_replicates  n_neighbors
        0  40    pca  halves             6            2
        """
        import pandas as pd

        row = {name: self.recipe[name] for name in ("n", "p", "source")} | dict(self.recipe["parameters"])
        row |= {"stability": self.value, "conf_low": self.parts["conf_low"], "conf_high": self.parts["conf_high"]}
        if self.points is not None:
            row["n_below_half"] = int((self.points["agreement"] < 0.5).sum())
        return pd.DataFrame([row | {"random_state": self.recipe["random_state"], "note": joined(self.notes)}])

    def augment(self) -> pd.DataFrame:
        """One row per point: coordinates ``y1``, ``y2``, ... as in the figures (``map``), and ``points``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4)) * [3, 2, 1, 1]
        >>> found = dreval.stability(X, "pca", n_replicates=6, random_state=0)
        >>> list(found.augment())[:4]
        ['y1', 'y2', 'agreement', 'local_variation']
        """
        import pandas as pd

        columns = [f"y{j + 1}" for j in range(self.mean.shape[1])]
        return pd.concat([pd.DataFrame(self.map, columns=columns), self.points], axis=1)

    def plot(
        self, kind: str = "map", ax: Any = None, figsize: Any = None, *, points: Sequence[int] | None = None
    ) -> Any:
        """A map with the agreement of each point, or the images of chosen points in all replicates.

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
            The points whose clouds are drawn, at most 12; by default the six that agree least, of those that are in
            at least as many replicates as the median point, and not two of them near each other.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` where it is given, else a figure, which has ``savefig`` and is not registered with pyplot.

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
        return call("Stability.plot", self, kind, points, ax, figsize)

    def __repr__(self) -> str:
        return f"Stability({self.value:.6g} over {self.n_resamples} runs)"
