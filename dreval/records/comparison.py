"""The record of a comparison: pairs, overall tests and standings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_bool, check_one_of, check_path
from dreval.errors import InputError
from dreval.glossary import PAPER_PARTS, TEXT_FORMS
from dreval.records.base import Record, Summary, read_only
from dreval.records.frames import PAIR_NOTE_KEYS, full_name, keys_by_full_name, notes_frame
from dreval.records.notes import Notes
from dreval.records.results import Results
from dreval.registry import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@read_only
@dataclass(frozen=True, eq=False)
class Family:
    """One measure at one setting: its values, and whether high values are good.

    Attributes
    ----------
    measure, parameters : str
        The measure.
    higher : bool
        Whether high values are good.
    cells : DataFrame (data sets x embeddings)
        Means over replicates; missing without a value.
    rows : DataFrame
        The single values: dataset, embedding, replicate, value.
    notes : tuple of Note
        What was left out.
    """

    measure: str
    parameters: str
    higher: bool
    cells: pd.DataFrame
    rows: pd.DataFrame = field(repr=False)
    notes: Notes = ()

    @property
    def names(self) -> list[str]:
        """Names of the embeddings."""
        return list(self.cells.columns)

    @property
    def goodness(self) -> npt.NDArray[np.float64]:
        """Values (N, k) with the sign that makes large values good; equal to 12 digits of their data set means tied.

        Equal numbers can differ in the last bits, as means of replicates and decimals of a file.
        """
        values = to_digits(self.cells.to_numpy(dtype=np.float64), self.scale)
        return values if self.higher else -values

    @property
    def scale(self) -> npt.NDArray[np.float64]:
        """Largest absolute value (N,) in each data set."""
        return np.asarray(self.cells.abs().max(axis=1), dtype=np.float64)

    def wins(self) -> pd.DataFrame:
        """Return the number of data sets on which the embedding of the row is better than that of the column."""
        better = self.goodness[:, :, None] > self.goodness[:, None, :]
        return pd.DataFrame(better.sum(axis=0), index=self.names, columns=self.names)

    @property
    def key(self) -> dict[str, str]:
        """Columns that every row of a table repeats."""
        return {"measure": self.measure, "parameters": self.parameters}


def to_digits(values: npt.NDArray[np.float64], scale: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Round each row to 12 digits of its scale, so that numbers that differ only by rounding are ties."""
    powers = np.floor(np.log10(np.where(scale > 0, scale, 1.0)))
    places = [max(11 - int(power), 0) for power in powers]
    rounded = [[float(f"{value:.{d}f}") for value in row] for row, d in zip(values.tolist(), places, strict=True)]
    return np.asarray(rounded, dtype=np.float64).reshape(values.shape)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Record):
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
        data sets ``decided_by``, the test behind letters, figures and sentences, and ``attainable``, the smallest
        adjusted p that it can have on each measure.
    notes : DataFrame
        Assumptions, omissions and averages: a row for each note, with the keys of the row of ``pairs`` or
        ``overall`` it belongs to (without a test: the measure; all empty: the whole), ``code``, ``severity``
        ("assumption", "limit" or "failure"), ``values``, ``scope`` and its ``text``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> comparison = ev.run("trustworthiness").compare()
    >>> comparison
      2 embeddings of data, 40 points: 1 paired test (level .05)
    ...
    """

    pairs: pd.DataFrame
    overall: pd.DataFrame
    standing: pd.DataFrame
    families: Mapping[str, Family] = field(default_factory=dict, repr=False)
    results: Results | None = field(default=None, repr=False)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: pd.DataFrame = field(default_factory=lambda: notes_frame([], PAIR_NOTE_KEYS), repr=False)

    @property
    def measures(self) -> list[str]:
        """The measures that were compared, with their parameters."""
        return list(keys_by_full_name(self.standing))

    def of(self, table: pd.DataFrame, measure: str | None = None) -> pd.DataFrame:
        """Return the rows of one measure in one of the tables; ``measure`` may leave out parameters that are unique.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> comparison.of(comparison.pairs, "trustworthiness")[["first", "second", "difference"]].round(3)
          first second  difference
        0     a      b     -0.098
        """
        names = [
            full_name(measure_name, parameters)
            for measure_name, parameters in zip(table["measure"], table["parameters"], strict=True)
        ]
        name = self.named(measure)
        return table.loc[pd.Series([other == name for other in names], table.index, dtype=bool)].reset_index(drop=True)

    def named(self, measure: str | None) -> str:
        """Return the full name of a measure of this comparison; the first by default.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> comparison.named("trustworthiness")
        'trustworthiness(n_neighbors=5)'
        """
        if measure is None:
            return self.measures[0]
        if measure in self.measures:
            return measure
        measures = {full: key[0] for full, key in keys_by_full_name(self.standing).items()}
        matches = [full for full, name in measures.items() if name == measure]
        if len(matches) > 1:
            hint = f"Choose one of {', '.join(matches)}."
            raise InputError("measure", "must name one setting", repr(measure), hint)
        return matches[0] if matches else MEASURES.check_run(measure, set(measures.values()), "measure")

    def summary(self, full: bool = False) -> Summary:
        """Return the printed comparison: an answer to each question, and one table of values or mean ranks.

        Parameters
        ----------
        full : bool
            Whether settings, call, all values, tests of any difference, pairs and notes are printed too.

        Returns
        -------
        Summary
            As of ``Results.summary``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> str(comparison.summary()).splitlines()[0].strip()
        '2 embeddings of data, 40 points: 1 paired test (level .05)'
        """
        from dreval.report.documents.comparison import comparison_summary

        return comparison_summary(self, check_bool(full, "full"))

    def to_latex(self, *, label: str | None = None) -> str:
        r"""Return the table for a paper, for ``\input``: values or mean ranks with letters.

        Of two embeddings on one data set it has their differences with intervals, p-values and, if there are margins,
        whether they are equivalent. More than six embeddings are rows, with one measure for each question.

        Parameters
        ----------
        label : str, optional
            As in the ``as_latex`` of ``summary()``.

        See Also
        --------
        to_markdown, to_html : the same table in other formats.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> [line[:29] for line in ev.run("trustworthiness").compare().to_latex().splitlines() if "Trust" in line]
        ['Trustworthiness & .728 & .826']
        """
        from dreval.report.documents.comparison import to_latex

        return to_latex(self, label)

    def to_markdown(self) -> str:
        """Return the table of ``to_latex`` as GitHub-flavored Markdown.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> [line for line in ev.run("trustworthiness").compare().to_markdown().splitlines() if "Trust" in line]
        ['| Trustworthiness | .728 | .826 | −.098 | −.238 to .042 | .165 |']
        """
        from dreval.report.documents.comparison import to_markdown

        return to_markdown(self)

    def to_html(self) -> str:
        """Return the table of ``to_latex`` as a part of a page, in the colors around it.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> ev.run("trustworthiness").compare().to_html().count("<table")
        1
        """
        from dreval.report.documents.comparison import to_html

        return to_html(self)

    def tidy(self) -> pd.DataFrame:
        """Return one row per measure, pair and test; full precision.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> comparison.tidy()[["measure", "first", "second", "difference", "p_value"]].round(3)
                   measure first second  difference  p_value
        0  trustworthiness     a      b      -0.098    0.165
        """
        return self.pairs

    def glance(self) -> pd.DataFrame:
        """Return one row per measure and embedding, the best first: value, mean rank and letters.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> comparison.glance()[["measure", "embedding", "value", "letters"]].round(3)
                   measure embedding  value letters
        0  trustworthiness         b  0.826       a
        1  trustworthiness         a  0.728       a
        """
        return self.standing

    def wins(self, measure: str | None = None) -> pd.DataFrame:
        """Return the number of data sets on which the embedding of the row is better than that of the column.

        Examples
        --------
        >>> import pandas as pd, dreval
        >>> table = pd.DataFrame({"dataset": list("aabbcc"), "embedding": ["umap", "pca"] * 3,
        ...                       "value": [0.9, 0.8, 0.8, 0.6, 0.7, 0.75]})
        >>> comparison = dreval.compare(table, direction="higher")
        >>> comparison.wins()
              umap  pca
        umap     0    2
        pca      1    0
        """
        if not self.families:
            hint = "Its pairs are in tidy(), with the share of points on which the first is better."
            raise InputError("comparison", "must be over several data sets", "one data set", hint)
        return self.families[self.named(measure)].wins()

    def paragraph(self, part: str = "results", format: str = "text") -> str:  # noqa: A002 - the keyword of Protocol.export
        """Write the findings in 180 words at most, or the methods in 250, with the works they cite, for a paper.

        Parameters
        ----------
        part : {"results", "methods"}
            "results": which embeddings are better by which measures, question by question, with differences, intervals
            and p; across data sets also the overall tests and mean ranks. It has as much detail as its limit allows.
            "methods" cites the works of ``bibtex()``.
        format : {"text", "markdown", "latex"}
            Format of symbols, names and citations.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> comparison.paragraph()[:48]
        'Two embeddings were evaluated on 40 points by tr'
        """
        from dreval.report.documents.paragraph import paragraph

        part = check_one_of(part, PAPER_PARTS, "part", aliases=True)
        return paragraph(self, part, check_one_of(format, TEXT_FORMS, "format", aliases=True))

    def bibtex(self) -> str:
        """Return the works behind the measures and tests of the comparison, and dreval itself, as BibTeX entries.

        See ``Results.bibtex``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> [line for line in comparison.bibtex().splitlines() if line.startswith("@")][1:3]
        ['@book{efron1982,', '@article{holm1979,']
        """
        from dreval.report.documents.methods import bibtex

        return bibtex(self)

    @overload
    def plot(
        self, kind: str | None = None, ax: None = None, figsize: tuple[float, float] | None = None, **options: Any
    ) -> Figure: ...
    @overload
    def plot(self, kind: str | None = None, *, ax: Axes, **options: Any) -> Axes: ...
    def plot(self, kind: str | None = None, ax: Any = None, figsize: Any = None, **options: Any) -> Figure | Axes:
        """Draw a figure of the comparison.

        Parameters
        ----------
        kind : {"critical_difference", "forest", "difference_map", "wins"}
            Over several data sets "critical_difference" by default: mean ranks, with bars over those that share a
            letter; and "wins": the number of data sets on which the embedding of a row beats that of a column. On one
            data set "forest" by default: differences with their intervals and adjusted p-values, of up to three pairs
            with a line for each measure (over several data sets, by the test behind the letters); and "difference_map":
            where the first of a pair is better than the second.
        ax : matplotlib Axes, optional
            Where to draw a figure of one panel. The text that explains the figure is then left out.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.
        measure : str, optional
            The measure; the first one that can be drawn by default, for "forest" all, unless there are more than 21
            pairs.
        pair : (str, str), optional
            For "forest" and "difference_map": the two embeddings; all pairs, and the first pair, by default.
        titled : bool
            For "critical_difference" and "wins": whether the figure names its measure; True by default.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such kind, option, measure or embedding; the message suggests the nearest name.
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
        from dreval.report.plot import plot_comparison

        return plot_comparison(self, kind, ax, figsize, **options)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the report of the comparison.

        %(report)s

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = comparison.report(f"{folder}/page.html")
        ...     path.name, path.exists()
        ('page.html', True)
        """
        from dreval.report.write import write_comparison

        return write_comparison(self, check_path(path, "path"), title=title)

    def save(self, path: str | Path) -> Path:
        """Save everything in one file (a zip of JSON and CSV), on one data set with the result that was compared.

        ``dreval.load_results`` reads it. The data are not saved.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dreval.load_results(comparison.save(f"{folder}/a.dreval")).measures
        ['trustworthiness(n_neighbors=5)']
        """
        from dreval.records.archive import save_comparison

        return save_comparison(self, path)
