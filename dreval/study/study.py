"""Studies: methods on data sets with replicates, each cell computed once and kept in one file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from dreval._check import check_bool, check_int, check_k, check_one_of, check_path, check_random_state, keywords_checked
from dreval._parallel import open_progress
from dreval._random import root_seed
from dreval.comparison.across import compare
from dreval.errors import InputError
from dreval.evaluation.recipe import versions
from dreval.glossary import METRICS
from dreval.inputs._header import check_header
from dreval.inputs.data import Data
from dreval.inputs.source import Source
from dreval.journal.study_file import (
    DATASETS,
    METHODS,
    NOTE_KEYS,
    STATES,
    Cell,
    StudyFile,
    is_new,
    is_study,
    no_states,
    with_waiting,
)
from dreval.records._verbs import Record, call
from dreval.records.frames import notes_frame
from dreval.records.read_only import read_only
from dreval.study.cells import Job, Round
from dreval.study.parts import Settings, about_data, about_method, check_fit, make_datasets, make_methods, make_settings

if TYPE_CHECKING:
    import pandas as pd

    from dreval.records.comparison import Comparison

LONGEST = 280  # characters of a reason that are printed


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class StudyStatus(Record):
    """The state of every cell of a study.

    Attributes
    ----------
    name : str
        Name of the file.
    cells : DataFrame
        One row for each cell: ``dataset``, ``embedding``, ``n_components``, ``replicate``, ``state`` ("done",
        "failed", "running", "waiting"), ``seconds`` of computing, the ``reason`` of a failure, and ``warnings``, both
        as text and, in ``notes``, as records with codes and values.
    deterministic : tuple of str
        Deterministic methods, by their cards.
    notes : DataFrame
        What must be known of the data and of the methods to read the values, by the cells that are done or failed:
        one row for each note, with its ``dataset``, its ``embedding`` (empty: on the data set), its ``code``,
        ``severity``, ``values``, ``scope``, and its sentence, ``text``. What single runs warned of is in ``cells``.
    """

    name: str
    cells: pd.DataFrame = field(repr=False)
    deterministic: tuple[str, ...] = ()
    notes: pd.DataFrame = field(default_factory=lambda: notes_frame([], NOTE_KEYS), repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """Numbers of cells by state, and seconds, for each data set and method."""
        counts = self.cells.assign(**{state: (self.cells["state"] == state).astype("int64") for state in STATES})
        keys = ["dataset", "embedding"]
        return counts.groupby(keys, sort=False)[[*STATES, "seconds"]].sum().reset_index()

    def count(self, state: str) -> int:
        """Number of cells in a state."""
        return int((self.cells["state"] == state).sum())

    @property
    def complete(self) -> bool:
        """Whether no cell is running or waiting."""
        return self.count("running") + self.count("waiting") == 0

    @property
    def failures(self) -> pd.DataFrame:
        """The cells that failed, with their reasons."""
        failed = self.cells[self.cells["state"] == "failed"]
        return failed.drop(columns=["state", "warnings", "notes"]).reset_index(drop=True)

    @property
    def seconds(self) -> float:
        """Seconds of computing so far, over all processes."""
        return float(self.cells["seconds"].sum())

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(state)} {state}" for state in STATES)
        return f"StudyStatus({self.name!r}: {len(self.cells)} cells, {counts})"


def shortened_reason(reason: str) -> str:
    """A reason without its middle if it is long; ``failures`` holds all of it."""
    return reason if len(reason) <= LONGEST else f"{reason[:170]} [...] {reason[-90:]}"


def why_missing(cells: pd.DataFrame, what: str, key: tuple[str, str, int, int]) -> tuple[str, str]:
    """Why a cell has no coordinates (unknown, not done, failed, or not kept), and what to do."""
    places = ["dataset", "embedding", "n_components", "replicate"]
    mine = cells[(cells[places].astype(object) == list(key)).all(axis=1)]
    if mine.empty:
        known = cells[(cells["dataset"] == key[0]) & (cells["embedding"] == key[1])]
        words = (f"{name} {', '.join(map(str, sorted(set(known[name]))))}" for name in ("replicate", "n_components"))
        return f"{what}, which is not a cell of the study", f"Known: {'; '.join(words)}."
    state = mine["state"].iloc[0]
    if state == "failed":
        return f"{what}, which failed", f"It failed: {shortened_reason(mine['reason'].iloc[0])}"
    if state != "done":
        return f"{what}, which is {state}", "Call run() first; see status() for what is done."
    return what, "It was not kept; make a new study with keep_embeddings=True."


NUMBERS = ("dreval", "numpy", "scipy", "numba")  # values depend on the versions of these


@keywords_checked
class Study:
    """Run and evaluate methods on data sets, with replicates, in one resumable file.

    A cell is a method on a data set in the r-th replicate. Each cell is computed once and written at once, so that a
    run that was killed continues where it stopped. Several processes may run the same study on one file at the same
    time. A failed cell is kept with its reason. Data sets, methods and replicates can be added later; only their own
    cells are then computed.

    Parameters
    ----------
    path : str or Path
        The file, on a local disk; ``run`` creates it.
    datasets : list of names and paths, or dict of name to data
        Names of bundled or simulated data sets (simulations are drawn with the seed of the study), paths, arrays,
        data frames, data sets. A dict holds further arguments: ``{"mine": {"data": X, "labels": y}}``,
        ``{"roll": {"data": "swiss_roll", "n": 400}}``.
    methods : list of names, or dict of name to method
        Names of bundled methods, estimators with ``fit_transform``, callables ``(X, n_components) -> Y`` that may
        accept ``random_state`` and ``labels``. With parameters: ``{"isomap 10": {"method": "isomap",
        "n_neighbors": 10}}``.
    measures : "default", "all", str or list of str
        Names from ``dreval.list_measures()``. Curves have no single value and are refused; "all" leaves them out.
    n_replicates : int
        Number R of runs of each method on each data set: with different seeds, and on different points if ``subsample``
        is set. Random choices of the evaluation (the folds of ``knn_accuracy``, anchors) are common to all methods and
        new in each replicate: comparisons stay paired, and the choices average out over replicates.
    n_components : int or list of int
        Number of columns of the embeddings, set on all methods that have such a parameter. Each number has its
        own cells; embeddings are compared at equal numbers only.
    n_neighbors : int or list of int
        Neighborhood sizes k of the measures.
    subsample : float in (0, 1], optional
        Each replicate uses this fraction of the points, drawn without replacement and the same for all methods. There
        is no bootstrap, because repeated points are perfect neighbors in every embedding. k is not changed.
    labels : dict of data set name to labels, optional
        Classes of the points, as in ``Evaluation``; bundled data sets have their own.
    metric : str
        Distance in the data space, as in ``Evaluation``.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``; for one data set it is
        an entry of its dict.
    anchors : int, "auto" or None
        Number of anchors, as in ``Evaluation``, for each data set.
    ci : None, "default", "points" or "anchors"
        Intervals within each cell, as in ``Evaluation.run``.
    options : dict of measure name to dict, optional
        Parameters of single measures, as in ``Evaluation.run``.
    random_state : int, Generator or None
        The seed. None uses that of the file, or draws one.
    keep_embeddings : bool
        Whether the coordinates are kept (8 n d bytes per cell).

    Raises
    ------
    InputError
        An invalid setting; a file that was begun with other settings, other data or another method under the same name,
        or other versions of dreval, numpy, scipy and numba: every difference is named.
    UnknownName
        A measure, data set, method or parameter that does not exist.

    Notes
    -----
    The seed of a cell is derived from the names of its data set and replicate, so that no value depends on the order,
    on ``n_jobs``, or on the other cells. A cell holds the result of ``Evaluation(data, {method: source},
    random_state=seed)``. All data sets are held in memory: O(sum of n p).

    See Also
    --------
    Evaluation : Evaluates embeddings of one data set.
    compare : Compares the methods of a study, also by the path of its file.

    Examples
    --------
    >>> import tempfile, dreval
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = dreval.Study(f"{folder.name}/study.dreval", datasets=["s2", "s3", "s4"], methods=["pca", "isomap"],
    ...                      measures=["trustworthiness"], random_state=0)
    >>> study.run().table()[["dataset", "embedding", "value"]].round(3)
      dataset embedding  value
    0      s2       pca  0.735
    1      s2    isomap  0.715
    2      s3       pca  0.860
    3      s3    isomap  0.869
    4      s4       pca  0.914
    5      s4    isomap  0.916
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | Path,
        datasets: Any,
        methods: Any,
        measures: Any = "default",
        n_replicates: int = 1,
        *,
        n_components: Any = 2,
        n_neighbors: Any = 15,
        subsample: float | None = None,
        labels: Any = None,
        metric: str = "euclidean",
        header: bool | Literal["auto"] = "auto",
        anchors: Any = "auto",
        ci: str | None = None,
        options: Any = None,
        random_state: int | np.random.Generator | None = None,
        keep_embeddings: bool = True,
    ) -> None:
        self.path = check_path(path, "path")
        self.n_replicates = check_int(n_replicates, "n_replicates", low=1)
        self.n_components = check_k(n_components, 2**31, "n_components")[0]
        self.keep_embeddings = check_bool(keep_embeddings, "keep_embeddings")
        root = self._seed(random_state)
        metric = check_one_of(metric, METRICS, "metric", aliases=True)
        self.datasets: dict[str, Data] = make_datasets(datasets, labels, metric, check_header(header), root)
        self.methods: dict[str, Source] = make_methods(methods, next(iter(self.datasets.values())))
        self.settings: Settings | None = make_settings(
            measures, n_neighbors, metric, anchors=anchors, ci=ci, options=options, subsample=subsample, root=root
        )
        for name, data in self.datasets.items():
            check_fit(self.settings, name, data)
        if not is_new(self.path):
            with StudyFile(self.path) as file:
                self._check(file)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a study from its file, without data and methods, for everything but ``run``.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Study
            A study that cannot be run.

        Raises
        ------
        InputError
            If the file does not exist or holds no study.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> made = study.run()
        >>> dreval.Study.open(path).status()
        StudyStatus('study.journal': 4 cells, 4 done, 0 failed, 0 running, 0 waiting)
        >>> folder.cleanup()
        """
        study = object.__new__(cls)
        study.path, study.n_replicates, study.n_components = check_path(path, "path"), 0, []
        study.datasets, study.methods, study.settings, study.keep_embeddings = {}, {}, None, True
        with StudyFile(study.path):
            return study

    def run(
        self,
        *,
        n_jobs: int | None = None,
        progress: bool | None = None,
        limit: int | None = None,
        retry_failed: bool = False,
    ) -> Self:
        """Compute the missing cells, and write each as soon as it is done.

        Parameters
        ----------
        n_jobs : int, optional
            Number of processes (joblib, with any of its backends, such as dask); 1 by default. No value depends on it.
            Calling ``run`` in several processes on one file has the same effect.
        progress : bool, optional
            Progress bar on stderr. By default after two seconds, on a terminal.
        limit : int, optional
            Stop after that many cells.
        retry_failed : bool
            Also recompute the cells that had failed before this call.

        Returns
        -------
        Study
            The study itself, so that ``study.run().table()`` works.

        Raises
        ------
        InputError
            A study from ``open``, or a file that another process has begun with other settings.

        Notes
        -----
        Killing the process loses only the cells in progress. Cells that another process is computing are left to it;
        those of a process that has ended are taken over.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run(limit=2).status()
        StudyStatus('study.journal': 4 cells, 2 done, 0 failed, 0 running, 2 waiting)
        >>> study.run().status()
        StudyStatus('study.journal': 4 cells, 4 done, 0 failed, 0 running, 0 waiting)
        >>> folder.cleanup()
        """
        settings = self._runnable()
        limit = None if limit is None else check_int(limit, "limit", low=1)
        again, cells = check_bool(retry_failed, "retry_failed"), self._cells()

        def job(cell: Cell) -> Job:
            data, source = self.datasets[cell.dataset], self.methods[cell.method]
            threads = None if n_jobs in (None, 1) else 1
            return Job(cell, data, source, settings, threads, self.keep_embeddings)

        with StudyFile(self.path, self._recipe(settings)) as file:
            self._check(file)
            for name, data in self.datasets.items():
                file.add_part(DATASETS, name, about_data(data))
            for name, source in self.methods.items():
                file.add_part(METHODS, name, about_method(source))
            self._check(file)
            over = file.failed_texts() if again else {}
            with file.claims() as claims, open_progress(progress) as bar:
                claims.add_cells([cell.name for cell in cells])
                Round(file, claims, cells, job, over, limit, n_jobs).work(bar)
        return self

    def status(self) -> StudyStatus:
        """Numbers of cells that are done, failed, running and waiting, by data set and method.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.status()
        StudyStatus('study.journal': 4 cells, 0 done, 0 failed, 0 running, 4 waiting)
        >>> folder.cleanup()
        """
        cells = self._cells() if self.settings is not None else []
        if is_new(self.path):
            return StudyStatus(self.path.name, with_waiting(no_states(), cells))
        with StudyFile(self.path) as file:
            same = [name for name, about in file.parts(METHODS).items() if about.get("deterministic")]
            return StudyStatus(self.path.name, with_waiting(file.states(), cells), tuple(same), file.notes())

    def table(self) -> pd.DataFrame:
        """The tidy table of all cells of the file that are done or failed; columns as in ``dreval.glossary.COLUMNS``.

        ``embedding`` is the name of the method, ``replicate`` counts from 0; a failed cell has no value, and its reason
        is the ``note``. What must be known of a data set or of a method as a whole is in ``status().notes``.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().table()[["dataset", "embedding", "value"]].round(3)
          dataset      embedding  value
        0       x            pca  0.893
        1       x  classical_mds  0.893
        2   cubes            pca  0.948
        3   cubes  classical_mds  0.948
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            return file.table()

    def embedding(
        self, dataset: str, method: str, replicate: int = 0, n_components: int | None = None
    ) -> npt.NDArray[np.float64]:
        """The stored coordinates of one cell.

        Parameters
        ----------
        dataset, method : str
            Names.
        replicate : int
            Number of the replicate, from 0.
        n_components : int, optional
            Number of components; the smallest one by default.

        Returns
        -------
        ndarray (n, d)
            The coordinates.

        Raises
        ------
        InputError
            If the cell is not done, failed, or was not kept.
        UnknownName
            If there is no such data set or method.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().embedding("cubes", "pca").shape
        (30, 2)
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            states = file.states()
            check_one_of(dataset, set(states["dataset"]), "dataset")
            check_one_of(method, set(states["embedding"]), "method")
            d = int(states["n_components"].min()) if n_components is None else check_int(n_components, "n_components")
            kept = file.array(Cell(dataset, method, d, check_int(replicate, "replicate", low=0)))
        if kept is None:
            got = f"{method!r} on {dataset!r}, replicate {replicate}, {d} components"
            raise InputError(
                "embedding", "must have been kept", *why_missing(states, got, (dataset, method, d, replicate))
            )
        return kept

    def compare(self, **options: Any) -> Comparison:
        """Compare the methods across the data sets, by the cells that are done; options as in ``dreval.compare``.

        Replicates are averaged within data set. Embeddings of different numbers of components are not compared with
        each other.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().compare()
        Comparison(2 embeddings, 1 measures, 1 rows)
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            table = file.table(split_components=True)
        if table["dataset"].nunique() == 1:
            cure = (
                "Add data sets to the study; on one, Evaluation(data, methods).run().compare() compares by its points."
            )
            raise InputError("datasets", "must be two or more to be compared across", "one data set", cure)
        made: Comparison = compare(self.path, **options)
        return made

    def plot(self, kind: str = "critical_difference", ax: Any = None, figsize: Any = None, **options: Any) -> Any:
        """A figure of the methods compared across the data sets.

        Parameters
        ----------
        kind : {"critical_difference", "wins", "forest"}
            "critical_difference": mean ranks over data sets, with bars over those that do not differ significantly.
            "wins": number of data sets on which the method of a row beats that of a column. "forest": differences of
            all pairs with their intervals. Bars and differences use the test that decides the comparison.
        ax : matplotlib Axes, optional
            Axes for a figure of one panel; its text below the figure is then left out.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.
        **options
            ``measure``, ``titled``, ``explained`` (see ``Comparison.plot``), ``alpha`` and ``adjust`` (see
            ``dreval.compare``).

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a new figure, not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such kind, option or measure.
        InputError
            If the study has one data set, or nothing of the kind.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().plot("wins")
        <Figure size ...>
        >>> folder.cleanup()
        """
        return call("Study.plot", self, kind, ax, figsize, **options)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write a self-contained page (.html), or a document (.md, .tex) with a folder of figures next to it.

        It holds the comparison, every value, the state of the cells, the notes, and the recipe.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().report(f"{folder.name}/page.html").name
        'page.html'
        >>> folder.cleanup()
        """
        return Path(call("Study.report", self, check_path(path, "path"), title=title))

    def recipe(self) -> dict[str, Any]:
        """The settings, data sets and methods of the file, with their hashes and versions.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> sorted(study.run().recipe()["methods"])
        ['classical_mds', 'pca']
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            return {**file.recipe, "datasets": file.parts(DATASETS), "methods": file.parts(METHODS)}

    def __repr__(self) -> str:
        parts = f"{len(self.datasets)} data sets x {len(self.methods)} methods x {self.n_replicates}"
        return f"Study({str(self.path)!r}{': ' + parts if self.settings else ''})"

    def __str__(self) -> str:
        return str(self.status())

    def _repr_html_(self) -> str:
        return str(call("StudyStatus.summary", self.status()).as_html())

    # the steps of run()

    def _seed(self, random_state: Any) -> int:
        """The seed: the argument, else that of the file, else a new one."""
        check_random_state(random_state)
        if random_state is None and is_study(self.path):
            with StudyFile(self.path) as file:
                return int(file.recipe["random_state"])
        return root_seed(random_state)

    def _runnable(self) -> Settings:
        if self.settings is None:
            cure = "Make it with dreval.Study(path, datasets=..., methods=...)."
            raise InputError("run", "needs data sets and methods", "a study from Study.open", cure)
        return self.settings

    def _recipe(self, settings: Settings) -> dict[str, Any]:
        """The settings that a file keeps; data sets, methods, components and replicates may be added later."""
        known = versions()
        return {"format": 1, **asdict(settings), "versions": {name: known[name] for name in NUMBERS}}

    def _check(self, file: StudyFile) -> None:
        """Check that the file was begun with the same settings, data sets and methods."""
        file.check_recipe(self._recipe(self._runnable()))
        for name, data in self.datasets.items():
            file.check_part(DATASETS, name, about_data(data), f"datasets[{name!r}]")
        for name, source in self.methods.items():
            file.check_part(METHODS, name, about_method(source), f"methods[{name!r}]")

    def _cells(self) -> list[Cell]:
        """All cells, ordered by replicate."""
        return [
            Cell(dataset, method, d, replicate)
            for replicate in range(self.n_replicates)
            for dataset in self.datasets
            for d in self.n_components
            for method in self.methods
        ]
