"""Evaluate embeddings of one data set: ``Evaluation`` holds the inputs, and ``run`` returns the results.

``Evaluation.run`` computes a number in these steps:

1. ``_plan`` lists what is computed: a ``MeasureTask`` for each measure at each setting (``plan.py``).
2. ``_embed`` runs the methods, or reads the coordinates.
3. ``_make_views`` passes over the data once and returns a ``View`` of each embedding: its neighbors and ranks.
4. ``_evaluate_embedding`` computes value, chance level, bounds and interval of each measure (``rows.py``), and the
   tests (``tests.py``).
5. ``ResampledIntervals`` adds the intervals that need further passes or re-runs (``uncertainty.py``).
6. ``tidy_frame`` and ``adjust_p_values`` make the table of all rows; ``provenance_of`` and ``call_text`` record how it
   can be reproduced.
7. ``_results`` returns the record, which prints itself by ``report/contents/evaluation.py`` (``summarize``).
"""

from __future__ import annotations

import platform
import re
import reprlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dreval._check import (
    DEFAULT_NEIGHBORS,
    FloatArray,
    IntArray,
    attribute_error,
    check_anchors,
    check_float,
    check_int,
    check_k,
    check_one_of,
    check_random_state,
    describe,
    is_deeply_nested,
    keywords_checked,
)
from dreval._parallel import n_threads, open_progress
from dreval._random import root_seed, stream, stream_seed
from dreval.errors import DrevalError, EmbeddingFailed, InputError, InputWarning, UnknownName, warn
from dreval.evaluation.cost import (
    BAR_TIE_ROWS,
    ESTIMATE_TIE_ROWS,
    PASS,
    SHEPARD,
    TEST,
    VALUE,
    Progress,
    Step,
    estimate,
    machine_speeds,
    plan_steps,
    sizes_of,
)
from dreval.evaluation.plan import (
    CI_OPTIONS,
    Intervals,
    MeasureTask,
    TestTask,
    as_list,
    check_targets,
    plan_intervals,
    plan_measures,
    plan_tests,
)
from dreval.evaluation.rows import (
    MAX_PAIRED_EMBEDDINGS,
    EmbeddingRows,
    curve_differences,
    evaluate_algorithms,
    evaluate_where_labeled,
    make_views,
    missing_row,
)
from dreval.evaluation.tests import evaluate_tests, leave_reference_out, method_row, missing_test_row, null_histograms
from dreval.evaluation.uncertainty import ResampledIntervals, resampled_tasks
from dreval.geometry.blocks import PAIR_DISTANCES_TASK, RANKS_TASK, NeighborIndices, View, is_streamed
from dreval.geometry.same_map import data_among, equal_maps
from dreval.glossary import METRICS
from dreval.inference.adjustment import adjust_p_values, check_adjustment, smallest_p
from dreval.inference.intervals import LEVEL
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import ADDRESS, BUNDLED, CoordinateSource, Source, as_source, stored_key
from dreval.inputs.source_kinds import lowered_parameters, seed_of
from dreval.records.answers import CostEstimate
from dreval.records.base import call_forwarded
from dreval.records.frames import (
    columns_by_full_name,
    curves_frame,
    differences_frame,
    groups_frame,
    notes_frame,
    nulls_frame,
    tidy_frame,
)
from dreval.records.notes import Note, note, note_from_error
from dreval.records.results import MOST_LISTED, Results
from dreval.registry import MEASURES, TESTS
from dreval.storage.embeddings import EmbeddingCache

if TYPE_CHECKING:
    import pandas as pd

# Checks of names and options, the provenance of a result, and its notes.

METRIC_NOTES = (
    "source.metric_kept",
    "source.metric_none",
    "source.metric_unknown",
)  # the method did not get the metric
LARGE_P = 0.05  # p-values above it are called large
RUN_DEFAULTS = {
    "measures": "default",
    "tests": "default",
    "ci": "default",
    "conf_level": LEVEL,
    "n_resamples": 999,
    "adjust": "holm",
    "options": {},
}  # of the arguments of Evaluation.run


@dataclass(frozen=True, eq=False)
class FailedSource(Source):
    """An embedding that could not be read; its error becomes the reason in its rows."""

    error: DrevalError

    def coordinates(self, *_: Any, **__: Any) -> npt.NDArray[np.float64]:
        """Raise the error of the reading."""
        raise self.error

    def noted_coordinates(self, *_: Any, **__: Any) -> Any:
        """Raise the error of the reading."""
        raise self.error


def source_text(source: Source, data: Data) -> str:
    """Return a source as Python code: the name of a bundled method, a key of ``obsm``, or a variable for its kind."""
    if source.kind == "method":
        return repr(source.what if stored_key(source.what, data) is None else f"{BUNDLED}{source.what}")
    if isinstance(source, CoordinateSource) and source.stored:
        return repr(source.stored)
    variable = re.sub(r"\W+", "_", source.name).strip("_")
    return f"{variable or 'embedding'}_{source.kind}"


class _SettingTexts(reprlib.Repr):
    """Short texts of settings; of an estimator with many nested objects, whose text takes long, only the class."""

    def repr_instance(self, x: Any, level: int) -> str:
        """Return the text of an object that is not a container of Python."""
        return f"{type(x).__name__}(...)" if is_deeply_nested(x) else super().repr_instance(x, level)


SETTING_TEXTS = _SettingTexts()


def run_entry(source: Source, root: int, n: int) -> dict[str, Any]:
    """Return the origin of an embedding of n points: its kind, what was run, and the parameters of the run.

    The parameters are those of the user and the defaults, or the smaller values that the method used instead.
    """
    seed = seed_of(stream_seed(root, "embedding", source.name))
    settings = source.settings(source.default_components, seed)
    settings |= {name: value for name, value in lowered_parameters(source.notes, n).items() if name in settings}
    texts = {name: ADDRESS.sub("", SETTING_TEXTS.repr(value)) for name, value in settings.items()}
    run: dict[str, Any] = {"kind": source.kind, "what": source.what, "parameters": texts}
    return {**run, **metric_entry(source)}


def metric_entry(source: Source) -> dict[str, bool]:
    """Return the entry of a run whose method did not get the metric; an empty dict for other runs."""
    return {"metric_passed": False} if any(note.code in METRIC_NOTES for note in source.notes) else {}


def check_name(name: Any, names: Collection[str]) -> str:
    """Return the name if it is printable and not in ``names``; otherwise raise."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        hint = 'Name the embedding in one line, as "umap".'
        raise InputError("name", "must be a non-empty, printable text", describe(name), hint)
    if name in names:
        raise InputError("name", "must be new", f"{name!r}, which is taken", "Choose another name.")
    return name


def check_options(options: Any) -> dict[str, dict[str, Any]]:
    """Return the options by name of a measure, a test or a kind of interval; raise if a name is unknown."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        hint = 'Pass {"knn_accuracy": {"n_neighbors": 10}}.'
        raise InputError("options", "must be a dict of names to dicts", describe(options), hint)
    names = [*MEASURES.names(), *TESTS.names(), *CI_OPTIONS]
    for name, value in options.items():
        check_one_of(name, names, "options", (*MEASURES.listing, *TESTS.listing))
        if not isinstance(value, Mapping):
            raise InputError(f"options[{name!r}]", "must be a dict", describe(value), 'Pass {"n_neighbors": 10}.')
    return {name: dict(value) for name, value in options.items()}


def unused_settings(arguments: Mapping[str, Any], table: pd.DataFrame) -> list[Note]:
    """Return notes on arguments of ``run`` that differ from their defaults but were not used."""
    unused: dict[str, list[str]] = {"no test was run": [], "no interval was asked for": []}
    if (table["test"] == "").all():
        unused["no test was run"] = ["n_resamples", "adjust"]
    if arguments["ci"] in (None, "none"):
        unused["no interval was asked for"] = ["conf_level"]
    notes = []
    for reason, keywords in unused.items():
        names = tuple(f"`{name}`" for name in keywords if arguments[name] not in (RUN_DEFAULTS[name], None))
        notes += [note("arguments.unused", names=names, count=len(names), reason=reason)] if names else []
    return notes


def attainable_note(table: Any, adjust: str | None, recorded: Collection[str] = ()) -> list[Note]:
    """Return a note if no p-value of the tests can be small, because of too few permutations for so many tests.

    The runs of ``recorded`` embeddings are as many as their protocols requested.
    """
    smallest = smallest_p(table, adjust)
    if smallest <= LARGE_P:
        return []
    tested = table[table["p_value"].notna() & (table["family"] != "")]
    n_tests, n_resamples = len(tested), int(tested["n_resamples"].max())
    label = "p" if adjust is None else "adjusted p"
    enough = round((n_tests if adjust == "holm" else 1) / LARGE_P) - 1
    remedy, name = f"n_resamples={enough}", str(tested["test"].iloc[0])
    if TESTS.card(name.partition(":")[0]).second == "method":  # has its own family and number of resamples
        embeddings = set(tested["embedding"])
        remedies = []
        if not embeddings <= set(recorded):
            remedies.append(f"options={{{name!r}: {{'n_replicates': {enough}}}}}")
        if not embeddings.isdisjoint(recorded):
            remedies.append(f"a source collected from a new protocol with noise={enough}")
        remedy = " and ".join(remedies)
    return [note("test.attainable", word=label, tests=n_tests, least=smallest, most=n_resamples, way=remedy)]


def plain_ids(ids: pd.Index[Any]) -> npt.NDArray[Any]:
    """Return the names of points as numbers or text, which can be saved: dates and tuples become text."""
    values = ids.to_numpy()
    return values if values.dtype.kind in "iuf" else np.array([str(name) for name in ids], dtype=object)


@cache
def _version(name: str) -> str:
    """Return the version of a package; it is cached, since it is read from a file."""
    from importlib.metadata import version

    return version(name)


def versions() -> dict[str, str]:
    """Return the versions of Python, dreval and the packages on which the numbers depend."""
    from dreval import __version__

    names = ("numpy", "scipy", "pandas", "numba")
    return {"dreval": __version__, "python": platform.python_version(), **{name: _version(name) for name in names}}


def provenance_of(evaluation: Any, adjust: str | None, seconds: float) -> dict[str, Any]:
    """Return the provenance of a result: data, settings, sources and versions, from which it can be reproduced."""
    data = evaluation.data
    return {
        "dataset": data.name,
        "n": data.n,
        "p": data.p,
        "data_sha256": data.sha256,
        "columns": None if data.columns is None or data.p is None else list(data.columns),
        "metric": evaluation.metric,
        "header": "auto" if data.header is None else data.header,
        "n_neighbors": evaluation.n_neighbors,
        "anchors": evaluation.anchors,
        "random_state": evaluation.seed,
        "adjust": adjust or "nothing",
        "versions": versions(),
        "seconds": seconds,
        "sources": {name: run_entry(source, evaluation.seed, data.n) for name, source in evaluation.sources.items()},
    }


def notes_of(evaluation: Any) -> list[Note]:
    """Return the notes on the data, the number of neighbors and each source."""
    data = evaluation.data
    notes = [*data.notes]
    if evaluation.auto_neighbors and evaluation.n_neighbors != [DEFAULT_NEIGHBORS]:
        (k,) = evaluation.n_neighbors
        notes.append(note("neighbors.auto", k=k, n=data.n, usual=DEFAULT_NEIGHBORS, least=2 * DEFAULT_NEIGHBORS + 1))
    for source in evaluation.sources.values():
        dense_notes = data.dense_notes() if source.can_embed else ()
        notes += [note.with_scope(source.name) for note in (*source.notes, *dense_notes)]
    return notes


def call_text(evaluation: Any, arguments: Mapping[str, Any]) -> str:
    """Return the Python code of a run; ``data`` and other variable names stand for the objects that were passed."""
    data = evaluation.data
    sources = list(evaluation.sources.items())
    n_simple = next((at for at, (_, source) in enumerate(sources) if source.passed_options), len(sources))
    embeddings = ", ".join(f"{name!r}: {source_text(source, data)}" for name, source in sources[:n_simple])
    keywords = f"data, {{{embeddings}}}" if n_simple else "data"
    keywords += "" if data.labels is None else ", labels=labels"
    keywords += "" if data.latent is None else ", latent=latent"
    keywords += "" if data.batch is None else ", batch=batch"
    keywords += ", covariates=covariates" if data.covariates else ""
    keywords += f", covariate_types={data.covariate_types!r}" if data.covariate_types else ""
    keywords += f", header={data.header}" if isinstance(data.header, bool) else ""
    keywords += f", n_neighbors={evaluation.n_neighbors}, random_state={evaluation.seed}"
    keywords += "" if evaluation.metric == "euclidean" else f", metric={evaluation.metric!r}"
    keywords += "" if evaluation.anchors is None else f", anchors={evaluation.anchors}"
    run = ", ".join(f"{key}={value!r}" for key, value in arguments.items() if value != RUN_DEFAULTS[key])
    with_options = (", ".join(_embedding_arguments(name, source, data)) for name, source in sources[n_simple:])
    embedding_calls = "".join(f".with_embedding({text})" for text in with_options)
    return f"dreval.Evaluation({keywords}){embedding_calls}.run({run})"


def _embedding_arguments(name: str, source: Source, data: Data) -> Iterator[str]:
    """Yield the arguments of ``with_embedding`` for one embedding, including its options."""
    yield from (repr(name), source_text(source, data))
    yield from (f"{key}={ADDRESS.sub('', SETTING_TEXTS.repr(value))}" for key, value in source.passed_options.items())


# The evaluation: an immutable description of data and embeddings, and ``run()``, which computes in named steps.


@keywords_checked
class Evaluation:
    """Data and embeddings of them, with the settings of their evaluation.

    Parameters
    ----------
    data : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        The data; rows are points. They are never scaled silently. A sparse matrix (also in a .mtx, .npz or .h5ad file)
        stays sparse: neighbors, ranks, pairs and local Procrustes read it by blocks of rows and give the values of the
        dense array. Methods, estimators and callables that are run get a dense copy, as do the measures whose page says
        so and ``metric="correlation"``; above 8 GiB that raises an error. Memory maps, arrays of HDF5, zarr and dask,
        AnnData in a file and large files are read by blocks of rows, with anchors among more than 50,000 points;
        everything else loads them into memory, up to the same limit. The rows of a dask array on a cluster are compared
        with the anchors by its workers.
    embeddings : dict of name to source, optional
        A source is: coordinates (array, DataFrame, path, key of ``obsm``), an estimator with ``fit_transform`` or
        ``transform``, a callable ``(X, n_components) -> Y``, the name of a bundled method ("PCA" and "t-SNE" are
        accepted for "pca" and "tsne"), or a result of ``Protocol.collect``. ``with_embedding`` adds further ones.
        ``"file.csv:x,y"`` are columns of a file (a name with a comma stands in double quotes); in a frame select them,
        ``frame[["x", "y"]]``. A note names columns that may be no coordinates: copies of a column of the data, integers
        next to decimals, and columns whose standard deviation is more than 100 times that of the others. A column of
        row ids raises an error. The frame that a callable or an estimator returns is matched by its row names.
    labels : (n,) array, column name or path ``file.csv[:column]``, optional
        Classes of the points: text, booleans or whole numbers. Where some are missing (None, NaN, masked, an empty cell
        of a file, or a text such as "NA", "nan" and "None"), measures of labels and tests against the labels use the
        labeled points only, as if these were the data; their rows say so. Everything else uses all points.
    latent : (n, q) array, optional
        True latent variables, where they are known.
    batch : (n,) array, column name or path, optional
        The batch of each point (the experiment, donor or machine it comes from), for measures of mixing; none may be
        missing. It is not a feature, and no test uses it: to test against it, pass it as a covariate.
    covariates : dict, DataFrame, column names or paths, optional
        Other variables that embeddings are tested against; columns of files, ``["a.csv:x", "a.csv:y"]``, or a whole
        file. Numbers are numbers, integers too; text, booleans and categories are classes. The name of a column may end
        in its type: ``"age:number"``, ``"a.csv:batch_nr:class"``. A test uses the points at which its covariate is
        known.
    covariate_types : dict of str to {"number", "class"}, optional
        Types of covariates by name, which replace these: ``{"batch_nr": "class"}``. Integers with at most 20 different
        values that repeat may be codes of classes: a note names them, unless their type is given.
    ids : (n,) array or column name, optional
        Names of the points, by which embeddings and variables from files are aligned; without them row names are used.
        A table whose names are only in part those of the data, or not at all, raises an error, unless the names of one
        side only count the rows: rows are then matched by position, with a note. Variables of more points are accepted.
    layer : str, optional
        Matrix of an AnnData object that is used as data, in place of ``X``: a layer, or "raw".
    use_rep : str, optional
        Array of ``obsm`` of an AnnData object that is used as data, in place of ``X``, as "X_pca".
    n_neighbors : int, list of int or "auto"
        Numbers k of neighbors; a measure gives one row for each, from one pass. "auto" is 15, or below 31 points the
        largest number below half of them, at least 1, with a note. Rows of a k of half of the points or more say so.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed"}
        Distance in the data space, as ``scipy.spatial.distance`` defines it; the embedding is always Euclidean.
        "cosine" does not accept rows of zeros, "correlation" constant rows. "precomputed": ``data`` is the symmetric
        (n, n) matrix of distances, in which entries below 1e-12 of the largest count as 0. Measures that need
        coordinates of the data (local and global Procrustes, energy ratio, label-trustworthiness) are then missing with
        that reason, and methods are run only where they read distances (``"classical_mds"``, an estimator set to
        "precomputed", a callable, which gets the matrix). Under the other metrics such measures use the coordinates,
        and neighbors by the metric; their note says so.
        A bundled method that is named and has a ``metric`` gets it (``"classical_mds"``, ``"lsdr"``), unless
        ``with_embedding`` passes another one. The metric is not passed to other methods: bundled ones use Euclidean
        distances of the coordinates, estimators their own setting, callables none; a note on each and the header say
        so. The names "l1", "cityblock" and "l2" are accepted as well.
    header : "auto", True or False
        Whether the first row of each text file (.csv, .tsv) that is read for data, embeddings and variables has the
        names of its columns. "auto": a first row of text has; a first row with numbers (wavelengths, masses, years) is
        compared with the rows below: a note prints it and says what it was read as, and why. Numeric names that look
        like the values below (gene numbers above integers of thousands) are read as a point without a note: pass True
        for such data. Labels or coordinates of another number of rows raise an error that names the first row.
    anchors : int, "auto" or None
        Number m of points whose neighborhoods among all points are computed, drawn without replacement; None: all n.
        "auto" is all points up to n = 20,000 and 2000 anchors beyond; the header of every output says so. With anchors
        the cost is m n instead of n^2, and intervals are for all n points, from the design: they do not refer to other
        points. A measure whose contributions have no bound (``procrustes_r``, ``procrustes_rn``) has no interval where
        fewer than about 30 anchors carry the value. Beyond 50,000 points the area under R_NX and curves use lists of 64
        neighbors and 64 random points of each anchor, curves have about 60 K, tests use 20,000 random points, and worst
        and best values over ties are not computed.
    random_state : int, Generator or None
        Seed of everything random. None draws one and keeps it in the result's recipe. Each run of a method has a seed
        from it, even where an estimator has its own ``random_state``; a note says so. Each random step has its own
        stream, so that no number depends on which other numbers are computed, or in which order: the seed of a method
        depends on the name of the embedding, that of a test on the names of embedding, test and variable. Therefore
        ``{"e": "tsne"}``, ``{"f": "tsne"}`` and ``embed(X, "tsne")`` are different runs, and a test draws other
        permutations than ``hsic_test`` with the same seed. Folds, pairs and triplets are the same for all embeddings.
    n_jobs : int, optional
        Threads; all cores by default. No number depends on it; the threads of the linear algebra (``OMP_NUM_THREADS``)
        change rounding only, by at most 1e-12 of a number.

    Raises
    ------
    DrevalError
        If data, labels or a setting are invalid, or if a source is neither a method nor a file. An embedding whose file
        cannot be used or whose computation fails does not affect the others: its rows hold the reason.

    Notes
    -----
    The object is immutable: ``with_embedding`` gives a copy. With all points O(n^2 (p + d)) time and O(n k) memory,
    with m anchors O(m n (p + d)) time and O(m k) memory, without the data. A C-ordered array of float32 or float64, and
    a sparse matrix of float64 in normal form, is not copied; if it changes before ``run``, ``run`` raises an error.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> ev = dreval.Evaluation(X, {"first two": X[:, :2]}, n_neighbors=10, random_state=0)
    >>> res = ev.with_embedding("pca", "pca").run(measures=["trustworthiness", "procrustes_rc"])
    >>> res.tidy()[["embedding", "measure", "value"]].round(3)
       embedding          measure  value
    0  first two  trustworthiness  0.759
    1  first two    procrustes_rc  0.432
    2        pca  trustworthiness  0.847
    3        pca    procrustes_rc  0.397
    """

    def __init__(
        self,
        data: Any,
        embeddings: Mapping[str, Any] | None = None,
        *,
        labels: Any = None,
        latent: Any = None,
        batch: Any = None,
        covariates: Any = None,
        covariate_types: Mapping[str, str] | None = None,
        ids: Any = None,
        layer: str | None = None,
        use_rep: str | None = None,
        n_neighbors: Any = "auto",
        metric: str = "euclidean",
        header: bool | Literal["auto"] = "auto",
        anchors: Any = "auto",
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = check_one_of(metric, METRICS, "metric", aliases=True)
        variables = {"labels": labels, "latent": latent, "batch": batch, "covariates": covariates, "ids": ids}
        variables["covariate_types"] = covariate_types
        settings: dict[str, Any] = {"layer": layer, "use_rep": use_rep, "metric": self.metric, "header": header}
        self.data: Data = as_data(data, **variables, **settings)
        check_targets(self.data)
        self.auto_neighbors = isinstance(n_neighbors, str) and n_neighbors == "auto"
        self.n_neighbors = check_k(n_neighbors, self.data.n)[0]
        self.anchors = check_anchors(anchors, self.data.n)
        check_random_state(random_state)
        self.seed = root_seed(random_state)
        self.has_random_seed = random_state is None
        self.n_jobs = None if n_jobs in (None, -1) else check_int(n_jobs, "n_jobs", low=1)
        self.sources: dict[str, Source] = {}
        if embeddings is not None and not isinstance(embeddings, Mapping):
            raise InputError(
                "embeddings", "must be a dict of names to sources", type(embeddings).__name__, 'Pass {"umap": Y}.'
            )
        for name, value in (embeddings or {}).items():
            self.sources[check_name(name, self.sources)] = self._source(name, value, {})
        self._locked = True

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_locked", False):
            raise AttributeError("an Evaluation does not change; make another one, or use with_embedding() for a copy")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError("an Evaluation does not change; make another one, or use with_embedding() for a copy")

    if not TYPE_CHECKING:  # so that type checkers still report unknown attributes

        def __getattr__(self, name: str) -> Any:
            raise attribute_error(self, name)

    def _source(self, name: str, value: Any, options: dict[str, Any]) -> Source:
        """Return the source of an embedding.

        An unknown name raises an error; any other error is stored in a ``FailedSource``, for the rows of the embedding.
        """
        try:
            if options.get("n_components") is not None:
                check_int(options["n_components"], "n_components", low=1)
            return as_source(value, name, self.data, **options)
        except UnknownName:
            raise
        except DrevalError as error:
            return FailedSource(name, error, passed_options=options)

    def with_embedding(self, name: str, source: Any, **options: Any) -> Evaluation:
        """Return a copy with one more embedding.

        Parameters
        ----------
        name : str
            Name of the embedding; not used yet.
        source : coordinates, path, estimator, callable or name of a bundled method
            As in ``Evaluation(embeddings=...)``.
        **options
            ``ids`` for coordinates, ``use_rep="X_umap"`` for those in another AnnData object; parameters such as
            ``n_components`` for everything that is run.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> ev.with_embedding("pca", "pca").names, ev.names
        (['a', 'b', 'pca'], ['a', 'b'])
        """
        copy = object.__new__(Evaluation)
        vars(copy).update(vars(self))
        sources = {**self.sources, check_name(name, self.sources): self._source(name, source, options)}
        vars(copy)["sources"] = sources
        return copy

    @property
    def names(self) -> list[str]:
        """Names of the embeddings, in the order in which they were added."""
        return list(self.sources)

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[str]:
        return iter(self.sources)

    def __contains__(self, name: object) -> bool:
        return name in self.sources

    def __getitem__(self, name: str) -> Source:
        """Return the source of one embedding."""
        return self.sources[check_one_of(name, self.sources, "name")]

    def _repr_html_(self) -> str:
        return str(call_forwarded("Evaluation.summary", self).as_html())

    def __repr__(self) -> str:
        metric = "" if self.metric == "euclidean" else f", metric={self.metric!r}"
        sources = {name: BUNDLED * (source.kind == "method") + source.what for name, source in self.sources.items()}
        embeddings = sources if self.data.obsm else list(sources)
        return f"Evaluation({self.data!r}, embeddings={embeddings}, n_neighbors={self.n_neighbors}{metric})"

    def run(
        self,
        measures: Any = "default",
        tests: Any = "default",
        ci: str | None = "default",
        *,
        conf_level: float = LEVEL,
        n_resamples: int = 999,
        adjust: str | None = "holm",
        options: Mapping[str, Mapping[str, Any]] | None = None,
        store: str | Path | None = None,
        progress: bool | None = None,
    ) -> Results:
        """Compute measures, intervals and tests of all embeddings.

        Parameters
        ----------
        measures : "default", "all", str, list of str or None
            Names from ``dreval.list_measures()``. "all" adds all others, including those that re-run the methods (for
            coordinates their rows hold the reason); None or "none": no measures.
        tests : "default", "all", str, list of str or None
            Names from ``dreval.list_tests()``; embeddings are tested against labels and covariates. "default": "hsic"
            and "kcca" where there are any. "hsic:age" tests against ``age`` only. "hsic:data" tests against the data
            themselves: read its effect size, since p is certain to be small; it is excluded from the adjustment.
            "hsic:residual" tests the residual of the data given the embedding, as ``Results.certificate`` does, with
            ``n_resamples`` refits of at most 1000 points. "noise" ("noise:columns", "noise:gaussian") runs the methods
            on null data, as ``noise_test`` does, by default 99 times; it is in neither "default" nor "all", and for
            coordinates its row holds the reason. Above 2000 points "hsic" and "kcca" use low-rank kernels of all points
            (above 20,000: of 20,000 random points) where these are accurate enough, otherwise 2000 random points;
            "dcov" and "mmd" always use 2000 random points. A note says which.
        ci : "default", "points", "subsampling", "replicates", "anchors" or None
            Intervals; the column ``target`` says what each refers to. "points": the population the points came from,
            embedding held fixed as if not fitted to them, by the delete-one jackknife (exact, or infinitesimal); where
            there is none, by leaving out 20 random groups, the squared errors averaged over 8 random partitions.
            The variance of a jackknife is too large on average (Efron and Stein 1981): hardly for measures of pairs of
            points (standard error .9 to 1.1 times the standard deviation of the values), but 1.2 to 2.6 times for
            measures of nearest neighbors with k = 8, at n = 100 as at n = 400, so that their intervals are wide and
            tests of pairs of embeddings lose power; the vignette "Is this embedding better than that one?" has a table.
            These intervals do not include the variation of the method between samples (they covered the mean of
            refitted values in 85 to 93 %): "replicates" do. "subsampling": the same target, from differences of random
            halves of the points, with half the neighbors; 20 splits cost 10 more passes. "replicates": methods
            are re-run, with other seeds (each run is a row, with its number in the column ``replicate``; the interval
            is that of their mean, and does not cover results that few seeds give: 10 runs miss what 26 % of the seeds
            give in one result of twenty, 30 runs 10 %), or, where seeds change nothing, on random halves of the points;
            for coordinates a note has the reason. "anchors": all points, from the design, cut at the bounds: Student's
            where many anchors carry the value, otherwise the wider of Student's and an interval for the mean of bounded
            numbers (by betting: Waudby-Smith and Ramdas 2024), which also holds where few points carry the error.
            "default": anchors where anchors are used, replicates where their options are passed and a method can be
            re-run, otherwise points.
        conf_level : float
            Level of the intervals, from 0.5 to 0.999999; the column ``conf_level`` repeats it.
        n_resamples : int
            Permutations of a test.
        adjust : "holm", "benjamini_hochberg" or None
            Adjustment of the p-values over this table. Tests against the data themselves are excluded, and so are those
            of embeddings that are the data (``Results.reference``), which are tested for reference only. "BH" and
            "fdr_bh" are accepted for "benjamini_hochberg".
        options : dict of name to dict, optional
            Parameters of single measures and tests, as ``{"knn_accuracy": {"n_neighbors": [5, 10, 20]}}``: those on
            the card of a measure (``dreval.card(name).parameters``), the keywords of a test (``blocks`` follow the row
            names of the data). Curves over K are kept at about 60 numbers of neighbors, with
            ``{"r_nx": {"all_k": True}}`` at all.
            ``{"replicates": {"n_replicates": 10, "over": "seeds"}}`` (or "subsamples") and
            ``{"subsampling": {"n_splits": 20}}`` set the number of runs, or of splits into halves, of an interval, and
            ``{"points": {"n_partitions": 8}}`` the number of random partitions that are averaged.
        store : path, optional
            A file, as ``run.journal``, that stores each computed embedding as soon as it is finished, those of
            ``ci="replicates"`` and of ``tractable_consistency`` included. After an interrupt, a kill or a change of
            measures the same call reads them from this file. It belongs to one data set. Where ``random_state`` is
            None, the seed is that of the first run. Warnings of a method are not repeated for a stored embedding; its
            notes have them.
        progress : bool, optional
            Progress bar on stderr; by default on a terminal, after two seconds.

        Returns
        -------
        Results
            Embeddings that failed have a row with the reason.

        Warns
        -----
        EmbeddingFailed
            If some embeddings could not be computed.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run(["trustworthiness", "procrustes_rc"], tests=None)
        >>> res.tidy()[["embedding", "measure", "value", "conf_low", "conf_high"]].round(2)
          embedding          measure  value  conf_low  conf_high
        0         a  trustworthiness   0.73      0.63       0.83
        1         a    procrustes_rc   0.37      0.28       0.45
        2         b  trustworthiness   0.83      0.74       0.91
        3         b    procrustes_rc   0.30      0.21       0.39
        """
        level = check_float(conf_level, "conf_level", low=0.5, high=1 - 1e-6)
        measures, tests, options = as_list(measures), as_list(tests), check_options(options)
        plan, test_plan, intervals = self._plan(measures, tests, ci, n_resamples, options)
        adjust = check_adjustment(adjust)
        start = time.perf_counter()
        with EmbeddingCache(store, self.data) as cache, open_progress(progress, counts=False) as progress_bar:
            ev, bar = self._with_seed(cache.seed(self.seed, self.has_random_seed)), Progress(progress_bar)
            embedded, errors, seconds = ev._embed(cache, bar)
            if bar.visible and embedded:
                steps = ev._steps(embedded, plan, test_plan, intervals, seconds, BAR_TIE_ROWS)
                bar.start(steps, n_threads(self.n_jobs))
            views = ev._make_views(embedded, plan, intervals, bar)
            neighbors = ev._neighbors(next(iter(views.values()), None))
            results = {
                name: ev._evaluate_embedding(
                    name, views.pop(name), plan, test_plan, intervals, level, seconds, store, bar
                )
                for name in list(views)
            }
            resampled = resampled_tasks(plan, self.data)
            curves = [task for task in plan if task.card.curve]
            resampling = ResampledIntervals(
                ev.data, ev.sources, resampled, curves, intervals, ev.seed, ev.n_jobs, cache
            )
            resampling.add(results, embedded, bar)
            bar.close()

        failed = {name: note_from_error(error) for name, error in errors.items()}
        rows = ev._rows(results, failed, plan, test_plan)
        reference, equal = data_among(ev.data, embedded), equal_maps(embedded)
        leave_reference_out(rows, reference)
        table = adjust_p_values(tidy_frame(rows), adjust)

        provenance = provenance_of(ev, adjust, time.perf_counter() - start)
        provenance["intervals"] = {name: kind for name, kind in intervals.kinds.items() if name in results}
        provenance["conf_level"] = level
        provenance["reference"], provenance["equal_maps"] = list(reference), [list(names) for names in equal]
        arguments = {"measures": measures, "tests": tests, "ci": ci, "conf_level": level, "n_resamples": n_resamples}
        arguments |= {"adjust": adjust, "options": options}
        provenance["call"] = call_text(ev, arguments)

        unreduced = ev._unreduced_notes(embedded, reference)
        have_interval = set(table.loc[table["conf_low"].notna(), "embedding"])
        recorded = [name for name, source in ev.sources.items() if source.recording is not None]
        notes = [
            *ev._run_notes(plan, test_plan, intervals, options),
            *unreduced,
            *unused_settings(arguments, table),
            *(reason.with_scope(name) for name, reason in failed.items()),
            *notes_of(ev),
            *intervals.notes({name: ev.sources[name] for name in results if name in have_interval}),
            *attainable_note(table, adjust, recorded),
        ]
        if self.data.p is not None and self.data.p <= 2:
            for unreduced_note in unreduced:
                warn(InputWarning(unreduced_note))
        if errors:
            warn(EmbeddingFailed(errors, len(ev.sources)))
        ev._warn_missing_variables(plan)
        return ev._results(table, notes_frame([{"notes": notes}, *rows]), results, embedded, provenance, neighbors)

    def estimate_cost(
        self,
        measures: Any = "default",
        tests: Any = "default",
        ci: str | None = "default",
        *,
        n_resamples: int = 999,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> CostEstimate:
        """Estimate seconds and MiB of ``run`` with the same arguments, before it is run.

        The number of operations of each step is known. Their speed on this machine is estimated from a probe, which
        runs the pass and the measures from 200 points among at most 2000, in some tenths of a second; it changes
        nothing. Loops that are not compiled yet are compiled first, as in a run.

        Parameters
        ----------
        measures, tests, ci, n_resamples, options
            As in ``run``, with the same errors.

        Returns
        -------
        CostEstimate
            ``seconds``, ``processor_seconds``, ``mebibytes``, and a row for each step in ``tidy()``. Estimators,
            callables and bundled methods are not run: their embeddings are named in ``not_included``.

        See Also
        --------
        Evaluation.run : the run itself.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(300, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "pca": "pca"}, random_state=0)
        >>> cost = ev.estimate_cost(ci=None)
        >>> 0 < cost.seconds < 60, cost.not_included
        (True, ('pca',))
        >>> cost.tidy()["step"].unique()[:3].tolist()
        ['run of the method', 'checks and tables', 'neighbors and ranks']
        """
        settings = check_options(options)
        plan, test_plan, intervals = self._plan(as_list(measures), as_list(tests), ci, n_resamples, settings)
        missing = [
            name
            for name, source in self.sources.items()
            if not isinstance(source, FailedSource) and source.can_embed and source.recording is None
        ]
        embedded: dict[str, Any] = {}
        for name, source in self.sources.items():
            if name in missing:  # the cost does not depend on the values of the coordinates
                shape = self.data.n, source.default_components or 2
                embedded[name] = stream(self.seed, "estimated", name).standard_normal(shape)
                continue
            with suppress(DrevalError):  # a row without values costs nothing
                embedded[name] = source.coordinates(self.data)
        if not embedded:
            return estimate(self.data, [], missing, {}, n_threads(self.n_jobs))
        steps = self._steps(embedded, plan, test_plan, intervals, {}, ESTIMATE_TIE_ROWS)
        sizes = sizes_of(self.data, self.anchors or self.data.n, plan)
        Y = next(iter(embedded.values()))
        speeds = machine_speeds(self.data, Y, self.anchors is not None, plan, sizes)
        return estimate(self.data, steps, missing, speeds, n_threads(self.n_jobs))

    # The steps of run().

    def _plan(
        self, measures: Any, tests: Any, ci: str | None, n_resamples: int, options: dict[str, dict[str, Any]]
    ) -> tuple[list[MeasureTask], list[TestTask], Intervals]:
        """Return the measures, tests and intervals to compute; raise if there are none, or if the data have changed."""
        if not self.sources:
            raise InputError(
                "embeddings", "must hold at least one embedding", "none", 'Use with_embedding("umap", Y) first.'
            )
        self.data.check_unchanged()
        plan = plan_measures(measures, self.n_neighbors, self.data.n, self.data.variables(), options)
        test_plan = plan_tests(tests, self.data, check_int(n_resamples, "n_resamples", low=1), options)
        if not plan and not test_plan:
            hint = 'Pass measures="default", or tests with labels or covariates.'
            raise InputError("measures", "must name something to compute", f"{measures!r} with tests={tests!r}", hint)
        return plan, test_plan, plan_intervals(ci, self.sources, self.anchors, options)

    def _steps(
        self,
        embedded: Mapping[str, Any],
        plan: list[MeasureTask],
        tests: list[TestTask],
        intervals: Intervals,
        seconds: Mapping[str, float],
        tie_rows: int,
    ) -> list[Step]:
        """Return the steps of a run with these embeddings, for the progress bar or an estimate."""
        rows = None if self.anchors is None else self._anchors()
        resampled, threads = resampled_tasks(plan, self.data), n_threads(self.n_jobs)
        return plan_steps(
            self.data, rows, embedded, plan, tests, intervals, self.seed, resampled, seconds, threads, tie_rows
        )

    def _with_seed(self, seed: int) -> Evaluation:
        """Return a copy with another seed; the notes of the runs are added to the sources of the copy."""
        copy = object.__new__(Evaluation)
        vars(copy).update({**vars(self), "seed": seed, "sources": dict(self.sources)})
        return copy

    def _embed(
        self, cache: EmbeddingCache, bar: Progress
    ) -> tuple[dict[str, FloatArray], dict[str, DrevalError], dict[str, float]]:
        """Return the coordinates, errors and seconds of the sources, by name, and add the notes of the runs to them."""
        embedded: dict[str, FloatArray] = {}
        errors: dict[str, DrevalError] = {}
        seconds: dict[str, float] = {}
        for name, source in list(self.sources.items()):
            bar.set_description(f"embedding {name}")
            seed, columns = stream_seed(self.seed, "embedding", name), source.default_components
            embed = partial(source.noted_coordinates, self.data, n_components=columns, random_state=seed)
            try:
                embedded[name], seconds[name], notes = cache.embedding(source, seed, embed)
            except DrevalError as error:
                errors[name] = error
                continue
            if notes:
                self.sources[name] = replace(source, notes=(*source.notes, *notes))
        return embedded, errors, seconds

    def _anchors(self) -> IntArray:
        """Return the row numbers of the anchors, ascending."""
        return np.sort(stream(self.seed, "anchors").choice(self.data.n, self.anchors, replace=False))

    def _make_views(
        self,
        embedded: dict[str, FloatArray],
        plan: list[MeasureTask],
        intervals: Intervals,
        bar: Progress,
    ) -> dict[str, View]:
        """Return the view of each embedding, from one pass over the data and all embeddings."""
        if not embedded:
            return {}
        leave_one: list[int] = []
        if intervals.names_of_kind("points"):
            leave_one = [task.k for task in plan if task.card.without is not None and task.reads_neighbors]
        bar.set_description(PASS)
        views = make_views(
            self.data,
            embedded,
            plan,
            seed=self.seed,
            n_jobs=self.n_jobs,
            rows=None if self.anchors is None else self._anchors(),
            leave_one=leave_one,
            advance=bar.part(PASS),
        )
        bar.finish(PASS)
        return {name: replace(view, progress_callback=partial(bar.report, name)) for name, view in views.items()}

    def _neighbors(self, view: View | None) -> NeighborIndices | None:
        """Return the nearest points of every point in the data; None with anchors, or with too many points to store."""
        if view is None or not len(view.rows) == self.data.n <= MOST_LISTED or not view.nearest_data.size:
            return None
        return view.nearest_data[:, : max(self.n_neighbors)].copy()

    def _evaluate_embedding(
        self,
        name: str,
        view: View,
        plan: list[MeasureTask],
        tests: list[TestTask],
        intervals: Intervals,
        level: float,
        seconds: dict[str, float],
        store: str | Path | None,
        bar: Progress,
    ) -> EmbeddingRows:
        """Compute all rows of one embedding: measures of its view, measures of its method, and tests."""
        bar.set_description(f"measures of {name}")
        start = time.perf_counter()

        def finished(task: MeasureTask | None) -> None:
            if task is not None:
                bar.finish(VALUE, name, (task.name, task.parameters_text))
                return
            for shared in (PAIR_DISTANCES_TASK, SHEPARD):
                bar.finish(shared, name)
            bar.finish(RANKS_TASK)

        source, Y = self.sources[name], view.Y
        view_tasks = [task for task in plan if task.card.level != "algorithm"]
        results = evaluate_where_labeled(name, view, view_tasks, intervals.kinds.get(name), self.seed, level, finished)
        if len(self.sources) > MAX_PAIRED_EMBEDDINGS:
            results.spreads.clear()
        evaluate_algorithms(results, plan, source, self.data, Y, self.seed, self.n_jobs, store, bar, finished)
        self._add_tests(results, source, Y, tests, store, bar)
        total = seconds[name] + time.perf_counter() - start
        for row in results.rows:
            row["n_components"], row["seconds"] = Y.shape[1], total
        return results

    def _add_tests(
        self,
        results: EmbeddingRows,
        source: Source,
        Y: FloatArray,
        tests: list[TestTask],
        store: str | Path | None,
        bar: Progress,
    ) -> None:
        """Add the rows of the tests of one embedding: those of its coordinates, then those that re-run its method."""

        def part(task: TestTask) -> Callable[[float], Any]:
            return bar.part(TEST, source.name, (task.name, task.target))

        coordinate_tests = [task for task in tests if task.kind != "method"]
        method_tests = [task for task in tests if task.kind == "method"]
        if coordinate_tests:
            bar.set_description(f"tests of {source.name}")
        results.rows += evaluate_tests(source.name, Y, coordinate_tests, self.seed, self.n_jobs, part)
        for task in method_tests:
            bar.set_description(f"{task.name} test of {source.name}")
            row, points = method_row(task, source, self.data, Y.shape[1], self.seed, self.n_jobs, store)
            results.rows.append(row)
            results.reliability.update(points)
            part(task)(1.0)

    def _rows(
        self,
        results: dict[str, EmbeddingRows],
        failed: dict[str, Note],
        plan: list[MeasureTask],
        tests: list[TestTask],
    ) -> list[dict[str, Any]]:
        """Return the rows of all embeddings in the order of the sources; rows of a failed one hold the reason."""
        rows: list[dict[str, Any]] = []
        for name in self.sources:
            if name in failed:
                rows += [missing_row(name, task, failed[name]) for task in plan if not task.card.curve]
                rows += [missing_test_row(name, task, failed[name]) for task in tests]
            else:
                rows += results[name].rows
        for row in rows:
            row["dataset"], row["n"] = self.data.name, self.data.n
        return rows

    def _unreduced_notes(self, embedded: Mapping[str, FloatArray], reference: Collection[str]) -> list[Note]:
        """Return notes on embeddings that are the data (``reference``), or have at least as many columns."""
        notes = [note("data.reference", names=reference, count=len(reference))] if reference else []
        columns = self.data.p
        if columns is not None:
            names = tuple(name for name, Y in embedded.items() if Y.shape[1] >= columns and name not in reference)
            notes += [note("data.not_reduced", names=names, count=len(names), columns=columns)] if names else []
        return notes

    def _run_notes(
        self, plan: list[MeasureTask], tests: list[TestTask], intervals: Intervals, options: Mapping[str, Any]
    ) -> list[Note]:
        """Return notes on options and variables that no measure, test or interval reads."""
        names = {*(task.name for task in plan), *(task.name for task in tests), *intervals.option_keys}
        unused = tuple(repr(name) for name in options if name not in names)
        notes = [note("options.unused", names=unused)] if unused else []
        if self.data.batch is not None and plan and not any("batch" in task.card.needs for task in plan):
            notes.append(note("batch.unused"))
        return notes

    def _warn_missing_variables(self, plan: list[MeasureTask]) -> None:
        """Warn of every measure whose variable (labels, latent variables, batch) was not passed."""
        for variable, values in self.data.variables().items():
            if values is None:
                for name in dict.fromkeys(task.name for task in plan if variable in task.card.needs):
                    warn(InputWarning(note(f"{variable}.none", name, way=f"{variable}= to Evaluation")))

    def _stored_coordinates(self, name: str, Y: FloatArray) -> Any:
        """Return the coordinates that a result stores, which changes of the array of the caller do not affect."""
        source = self.sources[name]
        return source.values_to_store() if isinstance(source, CoordinateSource) and source.sha256 else Y

    def _results(
        self,
        table: Any,
        notes: Any,
        results: dict[str, EmbeddingRows],
        embedded: dict[str, FloatArray],
        provenance: dict[str, Any],
        neighbors: NeighborIndices | None,
    ) -> Results:
        """Return the record of a run, from its table and notes and the results of each embedding."""
        import pandas as pd

        columns = columns_by_full_name(table)
        rows = self._anchors() if is_streamed(self.data.n, self.anchors or self.data.n) else range(self.data.n)

        def frame_by_point(values: dict[str, FloatArray]) -> pd.DataFrame:
            return pd.DataFrame({columns.get(name, name): column for name, column in values.items()}, index=rows)

        return Results(
            table=table,
            notes=notes,
            points={name: frame_by_point(result.points) for name, result in results.items()},
            groups=groups_frame([row for result in results.values() for row in result.groups]),
            curves=curves_frame([row for result in results.values() for row in result.curves]),
            curve_differences=differences_frame(
                curve_differences(
                    {name: result.curves for name, result in results.items()},
                    {name: result.spreads for name, result in results.items()},
                    next((result.level for result in results.values()), LEVEL),
                    self.seed,
                )
            ),
            nulls=nulls_frame(null_histograms([row for result in results.values() for row in result.rows])),
            shepard={name: result.shepard for name, result in results.items() if result.shepard is not None},
            embeddings={name: self._stored_coordinates(name, Y) for name, Y in embedded.items()},
            labels=None if self.data.labels is None else self.data.labels.values,
            ids=None if self.data.ids is None else plain_ids(self.data.ids),
            recipe=provenance,
            data=self.data.table,
            left_out={name: frame_by_point(result.left_out) for name, result in results.items() if result.left_out},
            data_neighbors=neighbors,
            reliability={
                name: pd.DataFrame(result.reliability).loc[list(rows)]
                for name, result in results.items()
                if result.reliability
            },
        )
