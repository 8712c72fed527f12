"""The record of a generalization bound."""

from __future__ import annotations

from dataclasses import dataclass

from dreval.records.base import Summary, read_only
from dreval.records.estimates import MeasureRecord
from dreval.records.provenance import reproducing_call
from dreval.registry import ANALYSES


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class GeneralizationBound(MeasureRecord):
    """A bound of the error of linear maps on new data, relative to the variance; the attributes of ``MeasureRecord``.

    ``parts`` holds the fitted error, the two terms that are added to it, the bound with smaller constants, and for
    both bounds the number of points from which they would be below 1: see ``dreval.generalization_bound``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(5000, 3)) * [3, 2, 0.3]
    >>> bound = dreval.generalization_bound(X, 2, center=[0, 0, 0], radius=3.7, random_state=0)
    >>> bound
    The error of linear maps to 2 dimensions on new data is at most .334 of the variance, with 95 % confidence; on the
    5,000 fitted points the least is .0068. ...
    >>> bound.is_vacuous, round(bound.parts["sharper_bound"], 3)
    (False, 0.239)
    """

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound is at least 1, the error of the mean alone, and says nothing."""
        return self.value >= 1.0

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the bound, what it is worth, and its parts."""
        from dreval.report.documents.small import bound_summary

        return bound_summary(self, full)

    @property
    def call(self) -> str:
        """The Python code that reproduces the bound."""
        arguments = {**self.recipe["parameters"], "random_state": self.recipe["random_state"]}
        return reproducing_call("dreval.generalization_bound", ["X"], arguments, ANALYSES.get("generalization_bound"))
