"""Measures as scorers for scikit-learn: ``dreval.get_scorer``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dreval._check import check_parameters
from dreval.errors import InputError, InputWarning, warn
from dreval.inputs.source_kinds import rescaled_note
from dreval.registry import MEASURES

PASSED_BY_SCIKIT_LEARN = frozenset(
    {"X", "Y", "labels", "target"}
)  # arguments of a measure that are not options of a scorer
UNSUPPORTED_VARIABLES = {"latent", "batch"}  # variables of the points that scikit-learn does not split into folds
SIGNS = {"higher": 1.0, "lower": -1.0}


@dataclass(frozen=True)
class MeasureScorer:
    """A scorer for scikit-learn, ``scorer(estimator, X, y=None)``: higher is better.

    Attributes
    ----------
    measure : str
        Name of the measure.
    parameters : dict
        Its parameters.

    Examples
    --------
    >>> MeasureScorer("stress", {"kind": "kruskal"})
    get_scorer('stress', kind='kruskal')
    """

    measure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sign(self) -> float:
        """Return 1 if higher values of the measure are better, -1 if lower ones are."""
        return SIGNS[MEASURES.card(self.measure).direction]

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the value of the measure for ``estimator.transform(X)``, with the sign of a score."""
        if not hasattr(estimator, "transform"):
            requirement = "must have transform(X), which embeds the held-out points"
            hint = (
                "dreval.sweep compares settings of a method without it; dreval.score(X, Y) evaluates one embedding. "
                "GridSearchCV raises errors with error_score='raise', else the score is nan."
            )
            raise InputError("estimator", requirement, f"an instance of {type(estimator).__name__}", hint)
        card, Y = MEASURES.card(self.measure), estimator.transform(X)
        variables = [name for name in ("labels", "target") if name in card.needs]
        if variables and y is None:
            hint = "Pass y to fit, as GridSearchCV(...).fit(X, y), or to cross_val_score."
            raise InputError("y", f"must be given to {self.measure}", "none", hint)
        labels = dict.fromkeys(variables, y)
        for item in rescaled_note(estimator) if card.reads_data else ():
            warn(InputWarning(item))
        function: Callable[..., float] = MEASURES.get(self.measure)
        return self.sign * float(function(*([X, Y] if card.reads_data else [Y]), **labels, **self.parameters))

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.parameters.items())
        return f"get_scorer({self.measure!r}{options})"


def get_scorer(measure: str, **parameters: Any) -> MeasureScorer:
    """Return a measure as a scorer for scikit-learn, for ``GridSearchCV`` and ``cross_val_score``.

    The score of an estimator on held-out rows X is the value of the measure for X and ``estimator.transform(X)``, times
    -1 where lower values are better, as in ``sklearn.metrics.get_scorer``.

    Parameters
    ----------
    measure : str
        Name of a measure that has one value and a better direction, and needs no variables other than labels, or a
        target, which are the ``y`` of scikit-learn.
    **parameters
        Parameters of the measure, as ``n_neighbors``. ``random_state`` is 0 unless it is passed, so that all folds and
        estimators are compared with the same draws.

    Returns
    -------
    MeasureScorer
        A function ``(estimator, X, y=None) -> float`` that can be pickled.

    Raises
    ------
    UnknownName
        If there is no such measure or parameter.
    InputError
        If the measure is a curve, has no better direction, re-runs methods, or needs batches or latent variables.

    See Also
    --------
    score : the value of measures of one embedding.
    sweep : the parameters of a method, with a test of each choice.
    out_of_sample : new points among those of the fit.

    Notes
    -----
    The estimator needs ``transform``; methods such as t-SNE, which embed only the points they were fitted to, have
    none, and ``GridSearchCV`` then has scores of nan: set ``error_score="raise"``, or use ``sweep``. The held-out rows
    are compared among each other, k of the rows of a fold; ``out_of_sample`` compares new rows with those of the fit.
    With ``n_neighbors="auto"`` the number of neighbors follows from the number of rows of a fold. The cost is that of
    the measure for each fold.

    X are the rows that enter the estimator. A pipeline that begins with a scaler makes a map of rescaled columns, which
    is compared with the columns before the scaling: a warning says so. Scale the data first to compare it with these.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.model_selection import cross_val_score
    >>> X = np.random.default_rng(0).normal(size=(90, 5)) * [4, 3, 1, 1, 1]
    >>> scorer = dreval.get_scorer("trustworthiness", n_neighbors=5)
    >>> cross_val_score(PCA(2), X, scoring=scorer, cv=3).round(2).tolist()
    [0.98, 0.94, 0.97]
    """
    function = MEASURES.get(measure, "measure")
    card = function.card
    requirement = ""
    if card.level == "algorithm":
        requirement = "must be a measure of an embedding, not of a method"
    elif card.curve:
        requirement = "must have one value, not a curve"
    elif card.direction not in SIGNS:
        requirement = "must have a better direction"
    elif UNSUPPORTED_VARIABLES & set(card.needs):
        requirement = "must not need batches or latent variables, which scikit-learn does not split"
    if requirement:
        raise InputError("measure", requirement, repr(card.name), "Choose another, such as 'trustworthiness'.")
    options = [name for name in inspect.signature(function).parameters if name not in PASSED_BY_SCIKIT_LEARN]
    check_parameters(parameters, options, card.name)
    seed = {"random_state": 0} if "random_state" in options else {}
    return MeasureScorer(card.name, {**seed, **parameters})
