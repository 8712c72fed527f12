"""The value of measures of one embedding, without intervals and tests: ``dreval.score``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal, overload

import numpy as np
import pandas as pd

from dreval._check import describe, keywords_checked, keywords_of_anndata, resolve_alias
from dreval.errors import DrevalError, InputError, InputWarning, UndefinedMeasure, warn
from dreval.evaluation.evaluation import Evaluation
from dreval.evaluation.provenance import embedding_metric_entry, graph_entry, notes_of
from dreval.evaluation.rows import MeasureRow
from dreval.inputs.source import DEFAULT_NAME, warn_of_columns
from dreval.inputs.variables import warn_of_guesses
from dreval.records.notes import Notes, join_notes
from dreval.records.scores import Scores
from dreval.registry import MEASURES

GROUPS = ("default", "all", "none")  # names that stand for several measures
KEYWORDS_ELSEWHERE = {  # keywords of other calls, with what has that purpose here
    **keywords_of_anndata("score", "Y"),
    **dict.fromkeys(("groupby", "target", "y"), "dreval.score(X, Y, labels=y)"),
}
SCORE_COLUMNS = ("measure", "parameters", "value", "direction", "lower", "upper", "n_used", "note")


@overload
def score(
    X: Any,
    Y: Any,
    measures: Literal["default", "all"] | list[str] | tuple[str, ...] = "default",
    *,
    labels: Any = None,
    batch: Any = None,
    n_neighbors: int | Literal["auto"] = "auto",
    metric: str = "euclidean",
    graph_neighbors: int | Literal["auto"] = "auto",
    embedding_metric: str = "euclidean",
    random_state: int | np.random.Generator | None = 0,
) -> Scores: ...
@overload
def score(
    X: Any,
    Y: Any,
    measures: str,
    *,
    labels: Any = None,
    batch: Any = None,
    n_neighbors: int | Literal["auto"] = "auto",
    metric: str = "euclidean",
    graph_neighbors: int | Literal["auto"] = "auto",
    embedding_metric: str = "euclidean",
    random_state: int | np.random.Generator | None = 0,
) -> float: ...
@partial(keywords_checked, elsewhere=KEYWORDS_ELSEWHERE)
def score(
    X: Any,
    Y: Any,
    measures: Any = "default",
    *,
    labels: Any = None,
    batch: Any = None,
    n_neighbors: Any = "auto",
    metric: str = "euclidean",
    graph_neighbors: int | Literal["auto"] = "auto",
    embedding_metric: str = "euclidean",
    random_state: int | np.random.Generator | None = 0,
) -> float | Scores:
    """Compute measures of one embedding: numbers without intervals and tests.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        The data, as in ``Evaluation``; rows are points.
    Y : (n, d) array, DataFrame, path, key of ``obsm``, or method
        The embedding of the same points, as in ``Evaluation``. The name of a bundled method, an estimator or a callable
        is run on X first.
    measures : str or list of str, default "default"
        The name of one measure, or a list of names from ``dreval.list_measures()``. "default": those for neighbors,
        local shape and distances, and with labels and batches those for these; "all": all others too.
    labels : (n,) array, column name or path, optional
        Class of each point. Measures of labels use the labeled points only.
    batch : (n,) array, column name or path, optional
        Batch of each point.
    n_neighbors : int or "auto", default "auto"
        Number k of neighbors. "auto" is 15, or below 31 points the largest number below half of them, at least 1.
    metric : str, default "euclidean"
        Distance in the data, as in ``Evaluation``.
    graph_neighbors : int or "auto", default "auto"
        Number of neighbors of each point in the graph of ``metric="geodesic"``, as in ``Evaluation``.
    embedding_metric : str, default "euclidean"
        Distance in the embedding, as in ``Evaluation``.
    random_state : int, Generator or None, default 0
        Seed of all that is drawn.

    Returns
    -------
    float or Scores
        For the name of one measure its value. Otherwise a frozen mapping of the names to values, NaN where a measure
        has none, with the reason in ``tidy()``.

    Raises
    ------
    InputError
        If an argument is not valid, if ``measures`` names a curve, or if ``Y`` has several embeddings.
    UndefinedMeasure
        If the one measure has no value for this input; the message says why.

    Warns
    -----
    InputWarning
        If a single value rests on a guess about the input, or on the labeled points only.

    See Also
    --------
    Evaluation : the same values with chance levels, intervals, tests and figures, for several embeddings.
    get_scorer : a measure as a scorer for scikit-learn.

    Notes
    -----
    The values are those of ``Evaluation(X, Y, random_state=0).run(measures, tests=None, ci=None)``: one pass over data
    and embedding computes the neighbors and ranks for all measures. Cost: O(n^2 (p + d)) time, of more than 20,000
    points O(m n (p + d)) with m = 2000 anchors.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> round(dreval.score(X, X[:, :2], "trustworthiness"), 3)
    0.771
    >>> scores = dreval.score(X, X[:, :2])
    >>> scores["continuity"] == scores.continuity
    True
    """
    settings: dict[str, Any] = {"labels": labels, "batch": batch, "n_neighbors": n_neighbors, "metric": metric}
    settings |= {"graph_neighbors": graph_neighbors, "embedding_metric": embedding_metric}
    measure = _single_measure(measures)
    names = {"data": "X", "embeddings": "Y", f"embeddings[{DEFAULT_NAME!r}]": "Y"}
    try:
        evaluation = Evaluation(X, Y, **settings, random_state=random_state)
        _check_single(evaluation)
        names |= {f"embeddings[{name!r}]": "Y" for name in evaluation.names}
        ran, rows = evaluation._values(measures)
    except DrevalError as error:
        raise error.named(names) from error.__cause__
    notes = tuple(item.named(names) for item in notes_of(ran))
    notes = tuple(item.with_scope("") if item.scope == DEFAULT_NAME else item for item in notes)
    rows = [replace(row, notes=tuple(item.named(names) for item in row.notes)) for row in rows]
    if measure is not None:
        return _single_value(rows[0], notes)
    cells = [{**row.cells(), "note": join_notes(row.notes)} for row in rows]
    recipe = {"metric": evaluation.metric, "random_state": evaluation.seed}
    recipe |= graph_entry(evaluation.data) | embedding_metric_entry(evaluation)
    table = pd.DataFrame(cells, columns=list(SCORE_COLUMNS))
    return Scores(table, evaluation.data.n, evaluation.n_neighbors[0], notes, recipe)


def _single_measure(measures: Any) -> str | None:
    """Return the name of the measure if one was passed by its name, else None; a curve raises an error."""
    is_single = isinstance(measures, str) and resolve_alias(measures, GROUPS) not in GROUPS
    named = [measures] if is_single else measures if isinstance(measures, list | tuple) else ()
    for name in named:
        if isinstance(name, str) and name in MEASURES and MEASURES.card(name).curve:
            hint = f"Call dreval.{name}(X, Y), which returns its values by K."
            raise InputError("measures", "must have one value", f"{name!r}, a curve", hint)
    return measures if is_single else None


def _check_single(evaluation: Evaluation) -> None:
    """Check that there are one embedding and one number of neighbors."""
    if len(evaluation) != 1:
        received = f"{len(evaluation)} embeddings"
        raise InputError("embeddings", "must be one embedding", received, "Evaluation(X, Y).run() takes several.")
    if len(evaluation.n_neighbors) > 1:
        hint = "Evaluation(X, Y, n_neighbors=[5, 15]).run() takes several."
        raise InputError("n_neighbors", "must be one number", describe(evaluation.n_neighbors), hint)


def _single_value(row: MeasureRow, notes: Notes) -> float:
    """Return the value of the only measure, with warnings of what it rests on; raise if it has none."""
    if not row.has_value:
        hint = "Pass a list of names to get the other values."
        raise UndefinedMeasure(
            "measures", "must have a value for this input", row.measure, join_notes(row.notes) or hint
        )
    warn_of_columns(notes, {})
    warn_of_guesses(notes)
    for item in row.notes:
        if item.code == "labels.partly":
            warn(InputWarning(item.with_scope(row.measure)))
    return row.value
