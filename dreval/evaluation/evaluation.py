"""Evaluate embeddings of one data set: ``Evaluation`` holds the inputs, and ``run`` gives the results.

``run`` plans, embeds, passes over the data once for all measures, and records how the numbers can be reproduced.
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
    AUTO,
    FloatArray,
    IntArray,
    check_anchors,
    check_float,
    check_int,
    check_k,
    check_one_of,
    check_random_state,
    describe,
    is_deeply_nested,
    keywords_checked,
    no_attribute,
)
from dreval._parallel import n_threads, open_progress
from dreval._random import root_seed, stream, stream_seed
from dreval.errors import DrevalError, EmbeddingFailed, InputError, InputWarning, UnknownName, warn
from dreval.evaluation.cost import (
    FEW_TIE_ROWS,
    PASS,
    SHEPARD,
    TEST,
    TIE_ROWS,
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
    check_targets,
    listed,
    plan_intervals,
    plan_measures,
    plan_tests,
)
from dreval.evaluation.rows import (
    MOST_PAIRED,
    Found,
    curve_differences,
    evaluate_algorithms,
    evaluate_where_labeled,
    make_views,
    missing_row,
)
from dreval.evaluation.tests import evaluate_tests, leave_reference_out, method_row, missing_test, null_cells
from dreval.evaluation.uncertainty import Again, Kept, repeatable
from dreval.geometry.blocks import PAIRED, RANKED, Lists, View, streamed
from dreval.geometry.same_map import data_among, equal_maps
from dreval.glossary import METRICS
from dreval.inference.adjustment import adjust_p_values, check_adjustment, smallest_p
from dreval.inference.intervals import LEVEL
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import ADDRESS, BUNDLED, CoordinateSource, Source, as_source, stored_key
from dreval.inputs.source_kinds import lowered, seed_of
from dreval.records.answers import CostEstimate
from dreval.records.base import call
from dreval.records.frames import (
    columns_by_full_name,
    curves_frame,
    differences_frame,
    groups_frame,
    notes_frame,
    nulls_frame,
    tidy_frame,
)
from dreval.records.notes import Note, note, refusal
from dreval.records.results import MOST_LISTED, Results
from dreval.registry import MEASURES, TESTS

if TYPE_CHECKING:
    import pandas as pd

# Small parts of an evaluation: what is refused at its door, the progress bar, versions, adjustment of p-values.

METRIC_NOTES = ("source.metric_kept", "source.metric_none", "source.metric_unknown")  # it does not reach the method
ALPHA = 0.05  # p-values above it are called large
USUAL = {
    "measures": "default",
    "tests": "default",
    "ci": "default",
    "conf_level": LEVEL,
    "n_resamples": 999,
    "adjust": "holm",
    "options": {},
}  # the arguments of Evaluation.run


@dataclass(frozen=True, eq=False)
class Refused(Source):
    """An embedding that could not be read; the reason is kept for its row."""

    error: DrevalError

    def coordinates(self, *_: Any, **__: Any) -> npt.NDArray[np.float64]:
        """Raise what was found when it was read."""
        raise self.error

    def noted_coordinates(self, *_: Any, **__: Any) -> Any:
        """Raise what was found when it was read."""
        raise self.error


def describe_source(source: Source, data: Data) -> str:
    """A source in Python: a bundled method by its name, a key of ``obsm``, anything else by a name of what it is."""
    if source.kind == "method":
        return repr(source.what if stored_key(source.what, data) is None else f"{BUNDLED}{source.what}")
    if isinstance(source, CoordinateSource) and source.stored:
        return repr(source.stored)
    words = re.sub(r"\W+", "_", source.name).strip("_")
    return f"{words or 'embedding'}_{source.kind}"


class _Texts(reprlib.Repr):
    """Short texts of settings; of an estimator in which many are nested, which would take long, the class alone."""

    def repr_instance(self, x: Any, level: int) -> str:
        """Return the text of an object that is none of Python's containers."""
        return f"{type(x).__name__}(...)" if is_deeply_nested(x) else super().repr_instance(x, level)


TEXTS = _Texts()


def as_run(source: Source, root: int, n: int) -> dict[str, Any]:
    """What an embedding of n points came from, with the parameters of its run, and its seed.

    They are those given and those by default, or what the method took in their place.
    """
    seed = seed_of(stream_seed(root, "embedding", source.name))
    settings = source.settings(source.default_components, seed)
    settings |= {name: value for name, value in lowered(source.notes, n).items() if name in settings}
    words = {name: ADDRESS.sub("", TEXTS.repr(value)) for name, value in settings.items()}
    run: dict[str, Any] = {"kind": source.kind, "what": source.what, "parameters": words}
    return {**run, **metric_entry(source)}


def metric_entry(source: Source) -> dict[str, bool]:
    """Return the entry of a run that says that the metric did not reach its method; none where it did."""
    return {"metric_passed": False} if any(one.code in METRIC_NOTES for one in source.notes) else {}


def check_name(name: Any, taken: Mapping[str, Any]) -> str:
    """A printable name that no other embedding has."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        cure = 'Name the embedding in one line, as "umap".'
        raise InputError("name", "must be a non-empty, printable text", describe(name), cure)
    if name in taken:
        raise InputError("name", "must be new", f"{name!r}, which is taken", "Choose another name.")
    return name


def check_options(options: Any) -> dict[str, dict[str, Any]]:
    """Parameters by the name of their measure or test, or the word of an interval."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        cure = 'Pass {"knn_accuracy": {"n_neighbors": 10}}.'
        raise InputError("options", "must be a dict of names to dicts", describe(options), cure)
    for name, value in options.items():
        check_one_of(
            name, [*MEASURES.names(), *TESTS.names(), *CI_OPTIONS], "options", (*MEASURES.listing, *TESTS.listing)
        )
        if not isinstance(value, Mapping):
            raise InputError(f"options[{name!r}]", "must be a dict", describe(value), 'Pass {"n_neighbors": 10}.')
    return {name: dict(value) for name, value in options.items()}


def unused_settings(asked: Mapping[str, Any], table: pd.DataFrame) -> list[Note]:
    """That arguments of ``run`` other than the usual were not used: nothing was tested, or has an interval."""
    lost: dict[str, list[str]] = {"no test was run": [], "no interval was asked for": []}
    if (table["test"] == "").all():
        lost["no test was run"] = ["n_resamples", "adjust"]
    if asked["ci"] in (None, "none"):
        lost["no interval was asked for"] = ["conf_level"]
    notes = []
    for reason, arguments in lost.items():
        names = tuple(f"`{name}`" for name in arguments if asked[name] not in (USUAL[name], None))
        notes += [note("arguments.unused", names=names, count=len(names), reason=reason)] if names else []
    return notes


def attainable_note(table: Any, adjust: str | None, recorded: Collection[str] = ()) -> list[Note]:
    """That no p of the tests can be small, where there are too few permutations for so many tests.

    The runs of ``recorded`` embeddings are as many as their protocols asked for.
    """
    least = smallest_p(table, adjust)
    if least <= ALPHA:
        return []
    tested = table[table["p_value"].notna() & (table["family"] != "")]
    m, most = len(tested), int(tested["n_resamples"].max())
    word = "p" if adjust is None else "adjusted p"
    enough = round((m if adjust == "holm" else 1) / ALPHA) - 1
    way, name = f"n_resamples={enough}", str(tested["test"].iloc[0])
    if TESTS.card(name.partition(":")[0]).second == "method":  # it has a number of its own, and a family
        of = set(tested["embedding"])
        ways = [] if of <= set(recorded) else [f"options={{{name!r}: {{'n_replicates': {enough}}}}}"]
        ways += [] if of.isdisjoint(recorded) else [f"a source collected from a new protocol with noise={enough}"]
        way = " and ".join(ways)
    return [note("test.attainable", word=word, tests=m, least=least, most=most, way=way)]


def plain_ids(ids: pd.Index[Any]) -> npt.NDArray[Any]:
    """Names of points as numbers or text, so that they can be saved: dates and tuples become text."""
    values = ids.to_numpy()
    return values if values.dtype.kind in "iuf" else np.array([str(name) for name in ids], dtype=object)


@cache
def _version(name: str) -> str:
    """Version of a package; looking it up parses a file."""
    from importlib.metadata import version

    return version(name)


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    from dreval import __version__

    names = ("numpy", "scipy", "pandas", "numba")
    return {"dreval": __version__, "python": platform.python_version(), **{name: _version(name) for name in names}}


def recipe_of(evaluation: Any, adjust: str | None, seconds: float) -> dict[str, Any]:
    """What a result was made of and how: what is needed to make it again, and what must be known to read it."""
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
        "sources": {name: as_run(source, evaluation.seed, data.n) for name, source in evaluation.sources.items()},
    }


def notes_of(evaluation: Any) -> list[Note]:
    """What must be known of the data and of each embedding."""
    data = evaluation.data
    notes = [*data.notes]
    if evaluation.auto and evaluation.n_neighbors != [AUTO]:
        (k,) = evaluation.n_neighbors
        notes.append(note("neighbors.auto", k=k, n=data.n, usual=AUTO, least=2 * AUTO + 1))
    for source in evaluation.sources.values():
        made_dense = data.dense_notes() if source.can_embed else ()
        notes += [one.within(source.name) for one in (*source.notes, *made_dense)]
    return notes


def written_call(evaluation: Any, asked: Mapping[str, Any]) -> str:
    """The Python that makes a result again, where ``data`` and the other names stand for what was passed."""
    data = evaluation.data
    sources = list(evaluation.sources.items())
    first = next((place for place, (_, source) in enumerate(sources) if source.given), len(sources))
    made = ", ".join(f"{name!r}: {describe_source(source, data)}" for name, source in sources[:first])
    head = f"data, {{{made}}}" if first else "data"
    head += "" if data.labels is None else ", labels=labels"
    head += "" if data.latent is None else ", latent=latent"
    head += "" if data.batch is None else ", batch=batch"
    head += ", covariates=covariates" if data.covariates else ""
    head += f", covariate_types={data.covariate_types!r}" if data.covariate_types else ""
    head += f", header={data.header}" if isinstance(data.header, bool) else ""
    head += f", n_neighbors={evaluation.n_neighbors}, random_state={evaluation.seed}"
    head += "" if evaluation.metric == "euclidean" else f", metric={evaluation.metric!r}"
    head += "" if evaluation.anchors is None else f", anchors={evaluation.anchors}"
    run = ", ".join(f"{key}={value!r}" for key, value in asked.items() if value != USUAL[key])
    added = "".join(f".with_embedding({', '.join(_added(name, source, data))})" for name, source in sources[first:])
    return f"dreval.Evaluation({head}){added}.run({run})"


def _added(name: str, source: Source, data: Data) -> Iterator[str]:
    """The arguments by which one embedding is added, its options with it."""
    yield from (repr(name), describe_source(source, data))
    yield from (f"{key}={ADDRESS.sub('', TEXTS.repr(value))}" for key, value in source.given.items())


# The evaluation: an immutable description of data and embeddings, and ``run()``, which answers in named steps.


@keywords_checked
class Evaluation:
    """Data and embeddings of them, with the settings of their evaluation.

    Parameters
    ----------
    data : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        The data; rows are points. They are never scaled silently. A sparse matrix (also in a .mtx, .npz or .h5ad file)
        stays sparse: neighbors, ranks, pairs and local Procrustes read it by blocks of rows and give the values of the
        dense array. Methods, estimators and callables that are run get a dense copy, as do the measures whose page says
        so and ``metric="correlation"``; above 8 GiB that is refused, with its reason. Memory maps, arrays of HDF5, zarr
        and dask, AnnData in a file and large files are read by blocks of rows, with anchors among more than 50,000
        points; all else needs them in memory, up to the same limit. The rows of a dask array on a cluster are compared
        with the anchors by its workers.
    embeddings : dict of name to source, optional
        A source is: coordinates (array, DataFrame, path, key of ``obsm``), an estimator with ``fit_transform`` or
        ``transform``, a callable ``(X, n_components) -> Y``, the name of a bundled method ("PCA" and "t-SNE" are
        accepted for "pca" and "tsne"), or what ``Protocol.collect`` gives. More can follow with ``with_embedding``.
        ``"file.csv:x,y"`` are columns of a file (a name with a comma stands in double quotes); in a frame select them,
        ``frame[["x", "y"]]``. A note names columns that may be no coordinates: copies of a column of the data, integers
        beside decimals, and columns whose standard deviation is more than 100 times that of the others. A column of
        row ids is refused. The frame that a callable or an estimator returns is matched by its row names.
    labels : (n,) array, column name or path ``file.csv[:column]``, optional
        Classes of the points: text, booleans or whole numbers. Where some are missing (None, NaN, masked, an empty cell
        of a file, or a text that stands for one, as "NA", "nan" and "None"), measures of labels are those of the
        labeled points, evaluated by themselves, and a test against the labels is on them; their rows say so. Everything
        else uses all points.
    latent : (n, q) array, optional
        True latent variables, where they are known.
    batch : (n,) array, column name or path, optional
        The batch of each point (the experiment, donor or machine it comes from), for measures of mixing; none may be
        missing. It is not a feature, and nothing is tested against it: for that it is a covariate.
    covariates : dict, DataFrame, column names or paths, optional
        Other variables that embeddings are tested against; of files a column each, ``["a.csv:x", "a.csv:y"]``, or a
        whole file. Numbers are numbers, integers too; text, booleans and categories are classes. The name of a column
        may end in its type: ``"age:number"``, ``"a.csv:batch_nr:class"``. A test is on the points at which its
        covariate is known.
    covariate_types : dict of str to {"number", "class"}, optional
        Types of covariates by name, which decide otherwise: ``{"batch_nr": "class"}``. Integers with at most 20
        different values that repeat may be codes of classes: a note names them, unless their type is given.
    ids : (n,) array or column name, optional
        Names of the points, by which embeddings and variables from files are aligned; without them row names are used.
        A table whose names are only in part those of the data, or not at all, is refused, unless the names of one side
        only count the rows: rows are then matched by position, with a note. Variables of more points are accepted.
    layer : str, optional
        Which matrix of an AnnData object the data are, in place of ``X``: a layer, or "raw".
    use_rep : str, optional
        Which array of ``obsm`` of an AnnData object the data are, in place of ``X``, as "X_pca".
    n_neighbors : int, list of int or "auto"
        Numbers k of neighbors; a measure gives one row for each, from one pass. "auto" is 15, or below 31 points the
        largest number below half of them, at least 1, with a note. Rows of a k of half of the points or more say so.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed"}
        Distance in the data space, as ``scipy.spatial.distance`` defines it; the embedding is always Euclidean.
        "cosine" refuses rows of zeros, "correlation" constant rows. "precomputed": ``data`` is the symmetric (n, n)
        matrix of distances, in which entries below 1e-12 of the largest count as 0. Measures that need coordinates of
        the data (local and global Procrustes, energy ratio, label-trustworthiness) are then missing with that reason,
        and methods are run only where they read distances (``"classical_mds"``, an estimator set to "precomputed", a
        callable, which gets the matrix). Under the other metrics such measures measure the coordinates as they are, on
        neighbors by the metric; their note says so.
        A bundled method that is named and has a ``metric`` gets it (``"classical_mds"``, ``"lsdr"``), unless
        ``with_embedding`` passes another one. All other methods are run as they are: bundled ones on the coordinates,
        by Euclidean distances, estimators with their own setting, callables without one; a note on each and the header
        say so. Usual other names are accepted: "l1", "cityblock", "l2".
    header : "auto", True or False
        Whether the first row of each text file (.csv, .tsv) that is read for data, embeddings and variables has the
        names of its columns. "auto": a first row of text has; a first row with numbers (wavelengths, masses, years) is
        compared with the rows below: a note prints it and says what it was read as, and why. Numeric names that look
        like the values below (gene numbers above integers of thousands) are read as a point without a note: pass True
        for such data. Labels or coordinates of another number of rows raise an error that names the first row.
    anchors : int, "auto" or None
        Number m of points from which neighborhoods are seen among all points, drawn without replacement; None: all n.
        "auto" is all points up to n = 20,000 and 2000 anchors beyond; the header of every output says so. With anchors
        the cost is m n instead of n^2, and intervals are for all n points, from the design: they say nothing of other
        points. A measure whose contributions have no bound (``procrustes_r``, ``procrustes_rn``) has no interval where
        fewer than about 30 anchors carry the value. Beyond 50,000 points the area under R_NX and curves rest on lists
        of 64 neighbors and 64 drawn points of each anchor, curves are known at about 60 K, tests are on 20,000 points
        drawn at random, and worst and best values over ties are not given.
    random_state : int, Generator or None
        Seed of everything random. None draws one and keeps it in the result's recipe. Each run of a method has a seed
        from it, also where an estimator has a ``random_state`` of its own; a note says so. Each thing that is drawn has
        a stream of its own, so that no number depends on what else is computed, nor in which order: the seed of a
        method depends on the name of the embedding, that of a test on the names of embedding, test and variable. So
        ``{"e": "tsne"}``, ``{"f": "tsne"}`` and ``embed(X, "tsne")`` are different runs, and a test draws other
        permutations than ``hsic_test`` with the same seed. Folds, pairs and triplets are the same for all embeddings.
    n_jobs : int, optional
        Threads; all cores by default. No number depends on it; the threads of the linear algebra (``OMP_NUM_THREADS``)
        change rounding only, by at most 1e-12 of a number.

    Raises
    ------
    DrevalError
        If data, labels or a setting are not what they must be, or a source has a name that no method and no file has.
        An embedding whose file cannot be used or whose computation fails loses nothing: its rows hold the reason.

    Notes
    -----
    The object is immutable: ``with_embedding`` gives a copy. With all points O(n^2 (p + d)) time and O(n k) memory,
    with m anchors O(m n (p + d)) time and O(m k) memory beside the data. A C-ordered array of float32 or float64, and
    a sparse matrix of float64 in normal form, is not copied; a change of it before ``run`` is refused.

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
        given = {"labels": labels, "latent": latent, "batch": batch, "covariates": covariates, "ids": ids}
        given["covariate_types"] = covariate_types
        read: dict[str, Any] = {"layer": layer, "use_rep": use_rep, "metric": self.metric, "header": header}
        self.data: Data = as_data(data, **given, **read)
        check_targets(self.data)
        self.auto = isinstance(n_neighbors, str) and n_neighbors == "auto"
        self.n_neighbors = check_k(n_neighbors, self.data.n)[0]
        self.anchors = check_anchors(anchors, self.data.n)
        check_random_state(random_state)
        self.seed, self.drawn = root_seed(random_state), random_state is None
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

    if not TYPE_CHECKING:  # a type checker must go on refusing attributes that are not there

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name)

    def _source(self, name: str, value: Any, options: dict[str, Any]) -> Source:
        """The source in normal form. A wrong name is refused at once; unreadable content is kept for its row."""
        try:
            if options.get("n_components") is not None:
                check_int(options["n_components"], "n_components", low=1)
            return as_source(value, name, self.data, **options)
        except UnknownName:
            raise
        except DrevalError as error:
            return Refused(name, error, given=options)

    def with_embedding(self, name: str, source: Any, **options: Any) -> Evaluation:
        """A copy with one more embedding.

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
        made = {**self.sources, check_name(name, self.sources): self._source(name, source, options)}
        vars(copy)["sources"] = made
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
        """The source of one embedding."""
        return self.sources[check_one_of(name, self.sources, "name")]

    def _repr_html_(self) -> str:
        return str(call("Evaluation.summary", self).as_html())

    def __repr__(self) -> str:
        metric = "" if self.metric == "euclidean" else f", metric={self.metric!r}"
        told = {name: BUNDLED * (source.kind == "method") + source.what for name, source in self.sources.items()}
        listed = told if self.data.obsm else list(told)
        return f"Evaluation({self.data!r}, embeddings={listed}, n_neighbors={self.n_neighbors}{metric})"

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
            Names from ``dreval.list_measures()``. "all" adds every other one, also those that run
            the methods again (coordinates alone have the reason there instead); None or "none" is none.
        tests : "default", "all", str, list of str or None
            Names from ``dreval.list_tests()``; embeddings are tested against labels and covariates. "default": "hsic"
            and "kcca" where there are any. "hsic:age" tests against ``age`` only. "hsic:data" tests against the data
            themselves: read its effect size, since p is certain to be small; it is in no adjustment. "hsic:residual"
            tests what the embedding leaves of the data, as ``Results.certificate`` does, with ``n_resamples`` refits of
            at most 1000 points. "noise" ("noise:columns", "noise:gaussian") runs the methods on null data, as
            ``noise_test`` does, by default 99 times; it is in neither "default" nor "all", and coordinates have the
            reason there. Above 2000 points "hsic" and "kcca" use low-rank kernels of all (above 20,000 of so
            many drawn at random) where these come near enough, else (and "dcov" and "mmd" always) 2000 drawn at random;
            the note says which.
        ci : "default", "points", "subsampling", "replicates", "anchors" or None
            Intervals; the column ``target`` says what each speaks of. "points": the population the points came from,
            embedding held fixed as if not fitted to them, by the delete-one jackknife (exact, or infinitesimal); where
            that cannot be had, by leaving out 20 random groups, the squared errors averaged over 8 random partitions.
            The variance of a jackknife is too large on average (Efron and Stein 1981): hardly for measures of pairs of
            points (standard error .9 to 1.1 times the standard deviation of the values), but 1.2 to 2.6 times for
            measures of nearest neighbors with k = 8, at n = 100 as at n = 400, so that their intervals are wide and
            tests of pairs of embeddings lose power; the vignette "Is this embedding better than that one?" has a table.
            Of a method that was run it does not cover what the method gives on other points (the mean of refitted
            values was covered in 85 to 93 %): "replicates" do. "subsampling": the same, from differences of random
            halves of the points, with half the neighbors; 20 splits cost 10 more passes. "replicates": methods
            are re-run, with other seeds (each run a row, with its number in the column ``replicate``; the interval is
            that of their mean, and says nothing of results that few seeds give: 10 runs miss what 26 % of the seeds
            give in one result of twenty, 30 runs 10 %), or, where seeds change nothing, on random halves of the points;
            coordinates have the reason there. "anchors": all points, from the design, cut at the bounds: Student's
            where many anchors carry the value, else the wider of Student's and an interval for the mean of bounded
            numbers (by betting: Waudby-Smith and Ramdas 2024), which holds also where few points carry the error.
            "default": anchors where anchors are used, replicates where their options are given and a method can be
            re-run, else points.
        conf_level : float
            Level of the intervals, from 0.5 to 0.999999; the column ``conf_level`` repeats it.
        n_resamples : int
            Permutations of a test.
        adjust : "holm", "benjamini_hochberg" or None
            Adjustment of the p-values over this table. Left out are those against the data themselves, and those of
            embeddings that are the data (``Results.reference``), which are tested for reference only. "BH" and
            "fdr_bh" are accepted for "benjamini_hochberg".
        options : dict of name to dict, optional
            Parameters of single measures and tests, as ``{"knn_accuracy": {"n_neighbors": [5, 10, 20]}}``: those on
            the card of a measure (``dreval.card(name).parameters``), the keywords of a test (``blocks`` follow the row
            names of the data). Curves over K are kept at about 60 numbers of neighbors, with
            ``{"r_nx": {"all_k": True}}`` at all.
            ``{"replicates": {"n_replicates": 10, "over": "seeds"}}`` (or "subsamples") and
            ``{"subsampling": {"n_splits": 20}}`` say how many runs, or splits into halves, an interval rests on, and
            ``{"points": {"n_partitions": 8}}`` how many random partitions are averaged.
        store : path, optional
            A file (an SQLite journal) in which each embedding that is computed is kept as soon as it is finished, those
            of ``ci="replicates"`` and of ``tractable_consistency`` included, and every ten seconds what anchors have
            seen of the points so far. After an interrupt, a kill or a change of measures the same call reads them from
            there. It belongs to one data set. Where ``random_state`` is None, the seed is that of the first run.
            Warnings of a method are not repeated for an embedding that was kept; its notes have them.
        progress : bool, optional
            Progress bar on stderr. By default after two seconds, on a terminal.

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
        measures, tests, options = listed(measures), listed(tests), check_options(options)
        plan, test_plan, intervals = self._plan(measures, tests, ci, n_resamples, options)
        adjust = check_adjustment(adjust)
        began = time.perf_counter()
        with Kept(store, self.data) as kept, open_progress(progress, counts=False) as shown:
            ev, bar = self._with_seed(kept.seed(self.seed, self.drawn)), Progress(shown)
            embedded, errors, seconds = ev._embed(kept, bar)
            failed = {name: refusal(error) for name, error in errors.items()}
            if bar.seen and embedded:
                threads = n_threads(self.n_jobs)
                bar.start(ev._steps(embedded, plan, test_plan, intervals, seconds, FEW_TIE_ROWS), threads)
            views = ev._sweep(embedded, plan, intervals, kept, bar)
            neighbors = ev._neighbors(next(iter(views.values()), None))
            found = {
                name: ev._judge(name, views.pop(name), plan, test_plan, intervals, level, seconds, store, bar)
                for name in list(views)
            }
            again = repeatable(plan, self.data)
            curves = [task for task in plan if task.card.curve]
            Again(ev.data, ev.sources, again, curves, intervals, ev.seed, ev.n_jobs, kept).add(found, embedded, bar)
            bar.close()
        rows = ev._rows(found, failed, plan, test_plan)
        reference, equal = data_among(ev.data, embedded), equal_maps(embedded)
        leave_reference_out(rows, reference)
        table = adjust_p_values(tidy_frame(rows), adjust)
        recipe = recipe_of(ev, adjust, time.perf_counter() - began)
        recipe["intervals"] = {name: kind for name, kind in intervals.kinds.items() if name in found}
        recipe["conf_level"] = level
        recipe["reference"], recipe["equal_maps"] = list(reference), [list(names) for names in equal]
        variables = self.data.variables()
        read = {*(one.name for one in plan), *(one.name for one in test_plan), *intervals.words}
        idle = tuple(repr(name) for name in options if name not in read)
        notes: list[Note] = [note("options.unused", names=idle)] if idle else []
        if self.data.batch is not None and plan and not any("batch" in task.card.needs for task in plan):
            notes.append(note("batch.unused"))
        columns = self.data.p
        wide = [name for name, Y in embedded.items() if columns is not None and Y.shape[1] >= columns]
        whole = tuple(name for name in wide if name not in reference)
        kept_whole = [note("data.reference", names=reference, count=len(reference))] if reference else []
        kept_whole += [note("data.not_reduced", names=whole, count=len(whole), columns=columns)] if whole else []
        notes += kept_whole
        for unreduced in kept_whole if columns is not None and columns <= 2 else ():
            warn(InputWarning(unreduced))
        asked = {"measures": measures, "tests": tests, "ci": ci, "conf_level": level, "n_resamples": n_resamples}
        asked |= {"adjust": adjust, "options": options}
        told = set(table.loc[table["conf_low"].notna(), "embedding"])
        notes += unused_settings(asked, table)
        notes += [reason.within(name) for name, reason in failed.items()]
        notes += [*notes_of(ev), *intervals.notes({name: ev.sources[name] for name in found if name in told})]
        recorded = [name for name, source in ev.sources.items() if source.recording is not None]
        noted = notes_frame([{"notes": (*notes, *attainable_note(table, adjust, recorded))}, *rows])
        if errors:
            warn(EmbeddingFailed(errors, len(ev.sources)))
        for word in [word for word, known in variables.items() if known is None]:
            for name in dict.fromkeys(task.name for task in plan if word in task.card.needs):
                lost = note(f"{word}.none", name, way=f"{word}= to Evaluation")
                warn(InputWarning(lost))
        recipe["call"] = written_call(ev, asked)
        return ev._results(table, noted, found, embedded, recipe, neighbors)

    def estimate_cost(
        self,
        measures: Any = "default",
        tests: Any = "default",
        ci: str | None = "default",
        *,
        n_resamples: int = 999,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> CostEstimate:
        """Estimated seconds and MiB of ``run`` with the same arguments, before it is run.

        The number of operations of each step is known; how long they take here is estimated from a probe, which runs
        the pass and the measures from 200 points among at most 2000, and changes nothing. It takes some tenths of a
        second. Where loops are not compiled yet, it compiles them, as the run would.

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
        asked = check_options(options)
        plan, test_plan, intervals = self._plan(listed(measures), listed(tests), ci, n_resamples, asked)
        run = {name: one for name, one in self.sources.items() if not isinstance(one, Refused)}
        missing = [name for name, one in run.items() if one.can_embed and one.recording is None]
        embedded: dict[str, Any] = {}
        for name, source in self.sources.items():
            if name in missing:  # any coordinates cost as much
                shape = self.data.n, source.default_components or 2
                embedded[name] = stream(self.seed, "estimated", name).standard_normal(shape)
                continue
            with suppress(DrevalError):  # a row without values costs nothing
                embedded[name] = source.coordinates(self.data)
        if not embedded:
            return estimate(self.data, [], missing, {}, n_threads(self.n_jobs))
        steps = self._steps(embedded, plan, test_plan, intervals, {}, TIE_ROWS)
        sizes = sizes_of(self.data, self.anchors or self.data.n, plan)
        first = next(iter(embedded.values()))
        speeds = machine_speeds(self.data, first, self.anchors is not None, plan, sizes)
        return estimate(self.data, steps, missing, speeds, n_threads(self.n_jobs))

    # the named steps of run()

    def _plan(
        self, measures: Any, tests: Any, ci: str | None, n_resamples: int, options: dict[str, dict[str, Any]]
    ) -> tuple[list[MeasureTask], list[TestTask], Intervals]:
        """What is to be computed; refused where that is nothing, or the data have changed."""
        if not self.sources:
            raise InputError(
                "embeddings", "must hold at least one embedding", "none", 'Use with_embedding("umap", Y) first.'
            )
        self.data.check_unchanged()
        plan = plan_measures(measures, self.n_neighbors, self.data.n, self.data.variables(), options)
        test_plan = plan_tests(tests, self.data, check_int(n_resamples, "n_resamples", low=1), options)
        if not plan and not test_plan:
            cure = 'Pass measures="default", or tests with labels or covariates.'
            raise InputError("measures", "must name something to compute", f"{measures!r} with tests={tests!r}", cure)
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
        """The steps of a run with these embeddings."""
        rows = None if self.anchors is None else self._anchors()
        again, threads = repeatable(plan, self.data), n_threads(self.n_jobs)
        asked = plan, tests, intervals, self.seed, again, seconds, threads, tie_rows
        return plan_steps(self.data, rows, embedded, *asked)

    def _with_seed(self, seed: int) -> Evaluation:
        """Return the evaluation with another seed; its sources gain the notes of their runs."""
        copy = object.__new__(Evaluation)
        vars(copy).update({**vars(self), "seed": seed, "sources": dict(self.sources)})
        return copy

    def _embed(
        self, kept: Kept, bar: Progress
    ) -> tuple[dict[str, FloatArray], dict[str, DrevalError], dict[str, float]]:
        """Return coordinates of every source, whose notes are added; a failure is kept with its reason."""
        embedded: dict[str, FloatArray] = {}
        failed: dict[str, DrevalError] = {}
        seconds: dict[str, float] = {}
        for name, source in list(self.sources.items()):
            bar.set_description(f"embedding {name}")
            seed, columns = stream_seed(self.seed, "embedding", name), source.default_components
            make = partial(source.noted_coordinates, self.data, n_components=columns, random_state=seed)
            try:
                embedded[name], seconds[name], notes = kept.embedding(source, seed, make)
            except DrevalError as error:
                failed[name] = error
                continue
            if notes:
                self.sources[name] = replace(source, notes=(*source.notes, *notes))
        return embedded, failed, seconds

    def _anchors(self) -> IntArray:
        """The anchors, ascending."""
        return np.sort(stream(self.seed, "anchors").choice(self.data.n, self.anchors, replace=False))

    def _sweep(
        self, embedded: dict[str, FloatArray], plan: list[MeasureTask], intervals: Intervals, kept: Kept, bar: Progress
    ) -> dict[str, View]:
        """One pass over the data and all embeddings."""
        if not embedded:
            return {}
        rows = None if self.anchors is None else self._anchors()
        bar.set_description(PASS)
        given: dict[str, Any] = {"seed": self.seed, "n_jobs": self.n_jobs, "rows": rows, "advance": bar.part(PASS)}
        given["journal"] = kept.passes
        if intervals.named("points"):
            given["leave_one"] = [task.k for task in plan if task.card.without is not None and task.sweeps]
        views = make_views(self.data, embedded, plan, **given)
        bar.finish(PASS)
        return {name: replace(view, reported=partial(bar.report, name)) for name, view in views.items()}

    def _neighbors(self, view: View | None) -> Lists | None:
        """The nearest points of every point in the data, where the pass had all points, and no more than are kept."""
        if view is None or not len(view.rows) == self.data.n <= MOST_LISTED or not view.nearest_data.size:
            return None
        return view.nearest_data[:, : max(self.n_neighbors)].copy()

    def _judge(
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
    ) -> Found:
        """All rows of one embedding."""
        bar.set_description(f"measures of {name}")
        began = time.perf_counter()
        own = [task for task in plan if task.card.level != "algorithm"]

        def finished(task: MeasureTask | None) -> None:
            if task is not None:
                bar.finish(VALUE, name, (task.name, task.words))
                return
            for shared in (PAIRED, SHEPARD):
                bar.finish(shared, name)
            bar.finish(RANKED)

        found = evaluate_where_labeled(name, view, own, intervals.kinds.get(name), self.seed, level, finished)
        if len(self.sources) > MOST_PAIRED:
            found.spreads.clear()
        asked = self.sources[name], self.data, view.Y, self.seed, self.n_jobs, store, bar, finished
        evaluate_algorithms(found, plan, *asked)

        def part(task: TestTask) -> Callable[[float], Any]:
            return bar.part(TEST, name, (task.name, task.target))

        again = [task for task in tests if task.kind == "method"]
        others = [task for task in tests if task.kind != "method"]
        if others:
            bar.set_description(f"tests of {name}")
        found.rows += evaluate_tests(name, view.Y, others, self.seed, self.n_jobs, part)
        for task in again:
            bar.set_description(f"{task.name} test of {name}")
            d = view.Y.shape[1]
            row, points = method_row(task, self.sources[name], self.data, d, self.seed, self.n_jobs, store)
            found.rows.append(row)
            found.reliability.update(points)
            part(task)(1.0)
        spent = seconds[name] + time.perf_counter() - began
        for row in found.rows:
            row["n_components"], row["seconds"] = view.Y.shape[1], spent
        return found

    def _rows(
        self, found: dict[str, Found], failed: dict[str, Note], plan: list[MeasureTask], tests: list[TestTask]
    ) -> list[dict[str, Any]]:
        """Rows of all embeddings in the order in which they were added."""
        rows: list[dict[str, Any]] = []
        for name in self.sources:
            if name in failed:
                rows += [missing_row(name, task, failed[name]) for task in plan if not task.card.curve]
                rows += [missing_test(name, task, failed[name]) for task in tests]
            else:
                rows += found[name].rows
        for row in rows:
            row["dataset"], row["n"] = self.data.name, self.data.n
        return rows

    def _owned(self, name: str, Y: FloatArray) -> Any:
        """The coordinates of an embedding as a result keeps them, which no change of the caller's array reaches."""
        source = self.sources[name]
        return source.kept() if isinstance(source, CoordinateSource) and source.sha256 else Y

    def _results(
        self,
        table: Any,
        notes: Any,
        found: dict[str, Found],
        embedded: dict[str, FloatArray],
        recipe: dict[str, Any],
        neighbors: Lists | None,
    ) -> Results:
        import pandas as pd

        columns = columns_by_full_name(table)

        rows = self._anchors() if streamed(self.data.n, self.anchors or self.data.n) else range(self.data.n)

        def wide(values: dict[str, FloatArray]) -> pd.DataFrame:
            return pd.DataFrame({columns.get(name, name): v for name, v in values.items()}, index=rows)

        return Results(
            table=table,
            notes=notes,
            points={name: wide(part.points) for name, part in found.items()},
            groups=groups_frame([row for part in found.values() for row in part.groups]),
            curves=curves_frame([row for part in found.values() for row in part.curves]),
            curve_differences=differences_frame(
                curve_differences(
                    {name: part.curves for name, part in found.items()},
                    {name: part.spreads for name, part in found.items()},
                    next((part.level for part in found.values()), LEVEL),
                    self.seed,
                )
            ),
            nulls=nulls_frame(null_cells([row for part in found.values() for row in part.rows])),
            shepard={name: part.shepard for name, part in found.items() if part.shepard is not None},
            embeddings={name: self._owned(name, Y) for name, Y in embedded.items()},
            labels=None if self.data.labels is None else self.data.labels.values,
            ids=None if self.data.ids is None else plain_ids(self.data.ids),
            recipe=recipe,
            data=self.data.table,
            left_out={name: wide(part.left_out) for name, part in found.items() if part.left_out},
            data_neighbors=neighbors,
            reliability={
                name: pd.DataFrame(part.reliability).loc[list(rows)] for name, part in found.items() if part.reliability
            },
        )
