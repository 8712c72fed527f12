"""The record of a comparison: pairs, overall tests and standings, with the verbs of a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dreval._check import check_one_of, check_path
from dreval.comparison._cells import Family
from dreval.comparison._pairs import wins
from dreval.comparison._printing import summarize
from dreval.comparison._words import VOICES, paragraph
from dreval.errors import InputError
from dreval.records.read_only import read_only
from dreval.records.results import point_column
from dreval.report.render.summary import Printed

if TYPE_CHECKING:
    from dreval.records.results import Results
    from dreval.report.render.summary import Summary

__all__ = ["Comparison"]


@read_only
@dataclass(frozen=True, eq=False)
class Comparison(Printed):
    """Embeddings compared: on one data set by its points, or over many data sets.

    Attributes
    ----------
    pairs : DataFrame
        One row per measure, pair and test; see ``dreval.glossary.PAIR_COLUMNS``.
    overall : DataFrame
        Tests of any difference, one row per measure and test; see ``dreval.glossary.OVERALL_COLUMNS``. Empty on one
        data set.
    standing : DataFrame
        One row per measure and embedding, the best first; see ``dreval.glossary.STANDING_COLUMNS``.
    families : dict of str to Family
        Over many data sets: the values behind it, ``families[name].cells`` (data sets x embeddings).
    results : Results or None
        On one data set: the result that was compared, in memory.
    recipe : dict
        ``kind`` ("points" or "datasets"), ``alpha``, ``adjust``, ``rope``, ``tests`` and ``random_state``; over several
        data sets ``decided_by``, the test that letters, figures and words go by, and ``attainable``, the smallest
        adjusted p that it can have on each measure.
    notes : tuple of str
        What was assumed, left out or averaged.
    """

    pairs: pd.DataFrame
    overall: pd.DataFrame
    standing: pd.DataFrame
    families: Mapping[str, Family] = field(default_factory=dict, repr=False)
    results: Results | None = field(default=None, repr=False)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The measures that were compared, with their parameters."""
        keys = zip(self.standing["measure"], self.standing["parameters"], strict=True)
        return list(dict.fromkeys(point_column(measure, parameters) for measure, parameters in keys))

    def of(self, table: pd.DataFrame, measure: str | None = None) -> pd.DataFrame:
        """The rows of one measure in one of the tables; ``measure`` may leave out the parameters where they are unique."""
        names = [point_column(i, p) for i, p in zip(table["measure"], table["parameters"], strict=True)]
        name = self.named(measure)
        return table.loc[pd.Series([one == name for one in names], table.index, dtype=bool)].reset_index(drop=True)

    def named(self, measure: str | None) -> str:
        """The full name of a measure of this comparison; the first by default."""
        if measure is None:
            return self.measures[0]
        if measure in self.measures:
            return measure
        short = [name for name in self.measures if name.partition("(")[0] == measure]
        if len(short) > 1:
            cure = f"Say which: {', '.join(short)}."
            raise InputError("measure", "must name one setting", repr(measure), cure)
        return short[0] if short else check_one_of(measure, self.measures, "measure")

    def tidy(self) -> pd.DataFrame:
        """One row per measure, pair and test; full precision."""
        return self.pairs.copy()

    def glance(self) -> pd.DataFrame:
        """One row per measure and embedding, the best first: value, mean rank and letters."""
        return self.standing.copy()

    def wins(self, measure: str | None = None) -> pd.DataFrame:
        """Number of data sets on which the embedding of the row is better than that of the column."""
        if not self.families:
            cure = "Its pairs are in tidy(), with the share of points on which the first is better."
            raise InputError("comparison", "must be over several data sets", "one data set", cure)
        return wins(self.families[self.named(measure)])

    def summary(self) -> Summary:
        """The printed comparison; it also has ``.as_text()``, ``.as_markdown()``, ``.as_latex()``, ``.as_html()``."""
        return summarize(self)

    def paragraph(self, form: str = "text") -> str:
        """What a paper would print: a paragraph for each measure.

        Parameters
        ----------
        form : {"text", "markdown", "latex"}
            How symbols and names are written.
        """
        return paragraph(self, check_one_of(form, VOICES, "form"))

    def plot(self, kind: str | None = None, **options: Any) -> Any:
        """A figure of the comparison.

        Parameters
        ----------
        kind : {"critical_difference", "forest", "difference_map", "wins"}
            Over several data sets "critical_difference" by default: mean ranks, with bars over those that
            share a letter; and "wins": on how many data sets the embedding of a row beats that of a column. On one data
            set "forest" by default: differences of all pairs with their intervals and adjusted p-values (over several,
            by the test that letters go by); and "difference_map": where the first of a pair is
            better than the second.
        measure : str, optional
            The measure; the first one that can be drawn by default, for "forest" all, unless there are more than 21
            pairs.
        pair : (str, str), optional
            For "difference_map": the two embeddings, the first pair by default.
        titled : bool
            Whether the figure names its measure (not "difference_map"); True by default.
        explained : bool
            For "forest": whether the words below say what the marks are; True by default.

        Returns
        -------
        matplotlib.figure.Figure
            Has ``savefig``; it is not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such kind, option, measure or embedding; the nearest right name is given.
        InputError
            If the comparison has nothing of the kind.

        Notes
        -----
        O(pairs x measures) time, and O(n) for "difference_map".

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> ev.run("continuity").compare().plot("difference_map", pair=("b", "a"))
        <Figure size ...>
        """
        return import_module("dreval.report.plot").plot_comparison(self, kind, **options)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write one self-contained page (.html), or a text (.md, .tex) with a folder of figures beside it.

        See ``Results.report``; the path is given back.
        """
        write = import_module("dreval.report.compared").write_comparison
        return Path(write(self, check_path(path, "path"), title=title))

    def __repr__(self) -> str:
        names = list(dict.fromkeys(self.standing["embedding"]))
        return f"Comparison({len(names)} embeddings, {len(self.measures)} measures, {len(self.pairs)} rows)"
