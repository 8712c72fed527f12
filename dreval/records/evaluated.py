"""The record of one embedding of an evaluation: its coordinates, scores, values of points, figures and tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval.errors import InputError
from dreval.records.base import CopiedAttribute, Summary, read_only, read_only_array
from dreval.records.points import Embedding
from dreval.registry import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dreval.records.out_of_sample import OutOfSample
    from dreval.records.results import Results
    from dreval.records.tests import Certificate


# Codes of the notes that say why an embedding has no record of new points.
NO_NEW_POINTS = ("new.coordinates", "new.no_transform", "new.not_left_out", "new.failed")


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class EvaluatedEmbedding(Embedding):
    """One embedding of an evaluation, as ``results["umap"]``: coordinates with maps, scores, figures and tests.

    It has the attributes of ``Embedding``; ``method`` is the name of the embedding, and numpy takes the record as the
    array of its coordinates. ``data`` are those of the evaluation, None for a loaded result and for distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> res = ev.run(["trustworthiness", "continuity"], tests=None)
    >>> res["b"]
    b is the best of 2 embeddings, or not significantly worse than the best, by 2 of 2 ...
    >>> res["b"].scores[["measure", "value", "conf_low", "conf_high", "rank"]].round(2)
               measure  value  conf_low  conf_high  rank
    0  trustworthiness   0.83      0.75       0.90     1
    1       continuity   0.92      0.89       0.95     1
    """

    _results: Results = field(kw_only=True)

    @property
    def scores(self) -> pd.DataFrame:
        """The values with their standing: one row per measure and parameters, the main columns of ``tidy`` first.

        ``rank`` (1 is the best of ``n_ranked`` embeddings) and ``in_best_set`` are those of ``Results.ranking``; they
        are missing without intervals, with one embedding, and for measures without a better direction.
        """
        from dreval.comparison.ranking import scores

        return scores(self._results, self.method)

    def tidy(self, full: bool = False) -> pd.DataFrame:
        """Return its rows of ``Results.tidy``: one row per measure and parameter, including tests.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> res = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5).run("continuity", None, None)
        >>> res["a"].tidy()[["embedding", "measure", "value"]].round(3)
          embedding     measure  value
        0         a  continuity  0.852
        """
        table = self._results.tidy(full)
        return table[table["embedding"] == self.method].reset_index(drop=True)

    @property
    def out_of_sample(self) -> OutOfSample:
        """The record of the new points on this embedding, of ``Evaluation(..., new_data=..., new=...)``.

        Raises
        ------
        InputError
            If the evaluation had no new points, or this embedding no coordinates of them; the error has the reason.

        See Also
        --------
        dreval.out_of_sample : the same from coordinates alone; it describes all values.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(300, 4))
        >>> ev = dreval.Evaluation(X[:200], {"pca": "pca"}, new_data=X[200:], random_state=0)
        >>> res = ev.run("trustworthiness", tests=None)
        >>> res["pca"].out_of_sample.of("trustworthiness")[["value", "in_sample"]].round(2).to_dict()
        {'value': 0.79, 'in_sample': 0.81}
        """
        record = self._results._out_of_sample.get(self.method)
        if record is not None:
            return record
        reasons = [str(dict(note.values).get("reason", note)) for note in self.notes if note.code in NO_NEW_POINTS]
        received = f"one without them ({reasons[0].rstrip('.')})" if reasons else "an evaluation without new points"
        hint = "Pass new_data= and new= to Evaluation."
        raise InputError("out_of_sample", "must be of an embedding with new points", received, hint)

    def augment(self) -> pd.DataFrame:
        """Return one row per point: id, label, coordinates and contributions, as ``Results.augment`` of its name.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> res = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5).run("continuity", None, None)
        >>> list(res["a"].augment())
        ['id', 'y1', 'y2', 'continuity']
        """
        return self._results.augment(self.method)

    def _expression_for(self, name: str) -> str:
        """Return the expression for a measure whose name is used as an attribute."""
        return "scores" if name in MEASURES else ""

    @overload
    def plot(
        self, kind: str = "scatter", ax: None = None, figsize: tuple[float, float] | None = None, **options: Any
    ) -> Figure: ...
    @overload
    def plot(self, kind: str = "scatter", *, ax: Axes, **options: Any) -> Axes: ...
    def plot(self, kind: str = "scatter", ax: Any = None, figsize: Any = None, **options: Any) -> Figure | Axes:
        """Draw a figure of this embedding; kinds and options are those of ``Results.plot``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> res = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5).run("continuity", None, None)
        >>> res["a"].plot("map")
        <Figure size ...>
        """
        return self._results.plot(kind, ax, figsize, embedding=self.method, **options)

    def certificate(
        self,
        *,
        rule: str = "ridge",
        n_resamples: int = 199,
        n_splits: int = 5,
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Certificate:
        """Test whether the residual is independent of the embedding (Roy 2021, Definition 1).

        Arguments, costs and errors are those of ``Results.certificate``. A loaded result needs its data:
        ``results.embedding(name, data=X).certificate()``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> print(res["a"].certificate(n_resamples=19).verdict)
        Definition 1 is not rejected for a: no evidence that the residual depends on the embedding (adjusted HSIC
        p = .300 and KCCA p = .300). This does not show that the definition holds.
        """
        from dreval.significance._certificate import certify

        seed = self.random_state if random_state is None else random_state
        options: Any = {"rule": rule, "n_resamples": n_resamples, "n_splits": n_splits}
        return certify(self, **options, random_state=seed, n_jobs=n_jobs)

    def known_data(self) -> npt.NDArray[np.float64]:
        """Return the data of the evaluation; raise if they are not in memory, or are distances."""
        return self._results._dense_data(None) if self.data is None else self.data

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the standing by all measures, and a table of the scores."""
        from dreval.report.documents.small import evaluated_summary

        return evaluated_summary(self, full)


class _DataOnAccess(CopiedAttribute):
    """The data of an embedding, made dense and checked on first access; None if they are not in memory."""

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        if record is None:
            return self
        values = vars(record)
        if values[self.name] is None and values["_results"]._has_data():
            values[self.name] = read_only_array(values["_results"]._dense_data(None))
        return values[self.name]


EvaluatedEmbedding.data = _DataOnAccess("data")  # type: ignore[assignment]
