"""Evaluate embeddings of one data set: ``Evaluation`` holds the inputs, and ``run`` returns the results.

``Evaluation.run`` computes a number in these steps:

1. ``_plan`` lists what is computed: a ``MeasureTask`` for each measure at each setting (``plan.py``).
2. ``_embed`` runs the methods, or reads the coordinates.
3. ``_make_views`` passes over the data once and returns a ``View`` of each embedding: its neighbors and ranks.
4. ``_evaluate`` computes a ``MeasureRow`` for each measure: value, chance level, bounds and interval (``rows.py``).
5. ``_with_intervals`` adds the intervals that need further passes or re-runs (``crossing.py``, ``uncertainty.py``).
6. ``_with_tests`` adds a ``TestRow`` for each test (``tests.py``).
7. ``tidy_frame`` makes the table of all rows, and ``adjusted_p_values`` adjusts its p-values.
8. ``provenance_of`` and ``run_notes`` record how it can be reproduced (``provenance.py``).
9. ``_record`` returns the ``Results``, which print themselves by ``report/documents/evaluation.py`` (``summarize``).
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import (
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
    keywords_checked,
)
from dreval._parallel import open_progress
from dreval._random import root_seed, stream, stream_seed
from dreval.errors import (
    DrevalError,
    EmbeddingFailed,
    InputError,
    InputWarning,
    MethodFailed,
    UnknownName,
    all_failed,
    warn,
)
from dreval.evaluation.cost import Sample, estimate, sample_sizes
from dreval.evaluation.crossing import CrossJackknife
from dreval.evaluation.curves import MAX_PAIRED_EMBEDDINGS, curve_differences
from dreval.evaluation.grouping import GroupJackknife
from dreval.evaluation.new_points import (
    NewPointsOutcome,
    check_new_points,
    evaluate_new_points,
    fit_with_new,
    fitted_by_run,
    with_calls,
)
from dreval.evaluation.plan import (
    Plan,
    as_list,
    check_options,
    check_targets,
    plan_run,
)
from dreval.evaluation.progress import METHOD, NEW, PASS, Advance, Progress, Step, count_steps
from dreval.evaluation.provenance import provenance_of, run_notes, unreduced_notes
from dreval.evaluation.rows import (
    EmbeddingOutcome,
    Key,
    MeasureRow,
    evaluate_algorithms,
    evaluate_where_labeled,
    failed_outcome,
    value_rows,
    views_for,
)
from dreval.evaluation.tests import evaluate_tests, leave_reference_out, method_row, null_histograms, test_step
from dreval.evaluation.uncertainty import ResampledIntervals, resampled_tasks
from dreval.geometry.blocks import NeighborIndices, View, is_streamed
from dreval.geometry.geodesics import with_geodesics
from dreval.geometry.same_map import data_among
from dreval.glossary import ARGUMENTS, METRICS, TABLE_METRICS
from dreval.inference.adjustment import adjusted_p_values, check_adjustment
from dreval.inference.intervals import LEVEL
from dreval.inputs.data import Data, as_data
from dreval.inputs.kinds import Kind, kind_of
from dreval.inputs.new_points import NewPointsInput, as_new_points
from dreval.inputs.source import CoordinateSource, Source, as_source, named_sources, width_notes
from dreval.inputs.source_kinds import check_metric_of_embedding, for_views
from dreval.records.estimates import CostEstimate
from dreval.records.frames import curves_frame, differences_frame, groups_frame, notes_frame, nulls_frame, setting_names
from dreval.records.notes import Note, note, note_from_error
from dreval.records.results import MOST_LISTED, Results, tidy_frame
from dreval.registry import METHODS
from dreval.storage.embeddings import EmbeddingCache

if TYPE_CHECKING:
    import pandas as pd

# Checks of names and options, the provenance of a result, and its notes.


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


def check_name(name: Any, names: Collection[str]) -> str:
    """Return the name if it is printable and not in ``names``; otherwise raise."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        hint = 'Name the embedding in one line, as "umap".'
        raise InputError("name", "must be a non-empty, printable text", describe(name), hint)
    if name in names:
        raise InputError("name", "must be new", f"{name!r}, which is taken", "Choose another name.")
    return name


def plain_ids(ids: pd.Index[Any]) -> npt.NDArray[Any]:
    """Return the names of points as numbers or text, which can be saved: dates and tuples become text."""
    values = ids.to_numpy()
    return values if values.dtype.kind in "iuf" else np.array([str(name) for name in ids], dtype=object)


# The evaluation: an immutable description of data and embeddings, and ``run()``, which computes in named steps.


class Embedded(NamedTuple):
    """Coordinates, errors and seconds by name of the embedding, and the sources with the notes of their runs.

    ``new`` has the coordinates of new points by the fits of the run, or the errors of their transforms.
    """

    coordinates: dict[str, FloatArray]
    errors: dict[str, DrevalError]
    seconds: dict[str, float]
    sources: dict[str, Source]
    new: dict[str, FloatArray | DrevalError]


# Keywords of ``run`` and of other packages that users pass to ``Evaluation``, and names of embeddings, with what takes
# them or has that purpose here.
KEYWORDS_ELSEWHERE = {name: f"Evaluation(data, {{{name!r}: ...}})" for name in METHODS.names()}
KEYWORDS_ELSEWHERE |= {
    "basis": 'Evaluation(adata, "X_umap")',
    "color": 'Evaluation(...).run().plot(color="cell_type")',
    **dict.fromkeys(("groupby", "target", "y"), "Evaluation(..., labels=y)"),
    **dict.fromkeys(("X_new", "X_test", "query"), "Evaluation(..., new_data=X_new)"),
}
KEYWORDS_ELSEWHERE |= {
    name: f"Evaluation(...).run({name}=...)"
    for name in ("measures", "tests", "ci", "conf_level", "n_resamples", "adjust", "options", "journal", "progress")
}


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
    embeddings : dict of name to source, one source, or list of names, optional
        One source without a name is called "embedding". A list holds keys of ``obsm`` and names of bundled methods,
        never arrays. Without embeddings those of an AnnData object are evaluated: the arrays of ``obsm`` whose key
        begins with ``X_``, except ``X_spatial``, and that have two or three columns; a note lists them. ``{}``: none.
        A source is: coordinates (array, DataFrame, path, key of ``obsm``), an estimator with ``fit_transform`` or
        ``transform``, a callable ``(X, n_components) -> Y``, the name of a bundled method ("PCA" and "t-SNE" are
        accepted for "pca" and "tsne"), or a result of ``Protocol.collect``. ``with_embedding`` adds further ones.
        ``"file.csv:x,y"`` are columns of a file (a name with a comma stands in double quotes); in a frame select them,
        ``frame[["x", "y"]]``. A note names columns that may be no coordinates: copies of a column of the data, integers
        next to decimals, and columns whose standard deviation is more than 100 times that of the others. A column of
        row ids raises an error. The frame that a callable or an estimator returns is matched by its row names.
    labels : (n,) array, column name or path ``file.csv[:column]``, optional
        Classes of the points: text, booleans or whole numbers. Decimal numbers (age, dose, time) are no classes but a
        target: ``knn_r2`` is computed and tests use them as numbers, with a note. Where some labels are missing (None,
        NaN, masked, an empty cell of a file, or a text such as "NA", "nan" and "None"), measures of labels and tests
        against the labels use the labeled points only, as if these were the data; their rows say so. Everything else
        uses all points.
    latent : (n, q) array, optional
        True latent variables, where they are known.
    batch : (n,) array, column name or path, optional
        The batch of each point (the experiment, donor or machine it comes from), for measures of mixing; none may be
        missing. It is not a feature, and no test uses it: to test against it, pass it as a covariate.
    groups : (n,) array, column name or path, optional
        The group of each point, where points belong together (donor, patient, document, video): two or more, none may
        be missing. Points of a group depend on each other, so that intervals, paired tests and best sets that take
        points as independent are far too narrow: they leave out groups in place of points. Tests permute a variable
        that is constant within groups over groups, and others within groups. ``knn_accuracy`` uses neighbors from other
        groups. Measures of methods and "noise" do not use groups; a note says so. Needs an effective number of groups,
        (sum n_g)^2 / sum n_g^2, of five or more; else values have no interval, with that reason.
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
        Array of ``obsm`` of an AnnData object that is used as data, in place of ``X``, as "X_pca"; with
        ``metric="neighbors"`` the key of ``obsp``, by default "distances".
    n_neighbors : int, list of int or "auto"
        Numbers k of neighbors; a measure gives one row for each, from one pass. New points use one of them, 15 or the
        middle one, with a note. "auto" is 15, or below 31 points the largest number below half of them, at least 1,
        with a note. Rows of a k of half of the points or more say so. From lists of neighbors it is below the length of
        the shortest one.
    metric : str, default "euclidean"
        Distance in the data space, as ``scipy.spatial.distance`` defines it, or "gower" of mixed columns; that in the
        embedding is ``embedding_metric``. One of "euclidean", "cosine", "correlation", "manhattan", "hamming",
        "precomputed", "geodesic", "neighbors", "gower".
        "gower": mixed columns, with missing cells. The distance of two points is the mean, over the columns in which
        both have a cell, of the difference in units of the range for numbers and ordered categories (by their
        positions), and of 0 or 1 for equal or different classes (other categories, text, booleans), as R's ``daisy``;
        there are no weights. Notes name what each column was taken for. A text file has no ordered categories: write
        them as 1, 2, 3. Two points without a common cell are refused. Measures that need coordinates of the data are
        missing, embeddings are coordinates, and methods are not run.
        "cosine" does not accept rows of zeros, "correlation" constant rows. "precomputed": ``data`` is the symmetric
        (n, n) matrix of distances, in which entries below 1e-12 of the largest count as 0. Measures that need
        coordinates of the data (local and global Procrustes, energy ratio, label-trustworthiness) are then missing with
        that reason, and methods are run only where they read distances (``"classical_mds"``, an estimator set to
        "precomputed", a callable, which gets the matrix). Under the other metrics such measures use the coordinates,
        and neighbors by the metric; their note says so.
        "geodesic": lengths of shortest paths over a graph. ``data`` are points, joined to their ``graph_neighbors``
        nearest, or a network: a square sparse matrix of the lengths of edges (``obsp["distances"]``), in which a stored
        0 is an edge and edges of one direction count in both; two different lengths of an edge are refused, and so are
        similarities of at most 1. From AnnData the paths are over its points: pass ``adata.obsp["distances"]`` for its
        graph. All measures of neighbors, ranks and pairs use the paths; measures that need coordinates of the data are
        missing. Points that no path joins raise an error. With a graph of neighbors of noiseless data,
        ``spearman_distance`` of an embedding of the noisy data is DEMaP (Moon et al. 2019). Paths are computed from the
        anchors only: O(m (e + n log n)) time for e edges and 8 m n bytes.
        "neighbors": ``data`` are the lists of the nearest neighbors of each point, nearest first: an (n, K) array of
        numbers of points, (indices, distances) as of pynndescent, faiss, cuML and scikit-learn, a mapping as of uwot, a
        sparse matrix of distances (``kneighbors_graph``, a .npz file), or AnnData with ``obsp["distances"]``
        (``use_rep`` names another key). Entries of -1, the point itself, numbers that count from 1 and lists of unequal
        lengths are recognized, with a note. Numbers count the rows of the lists, from 0 or from 1; where they have
        neither 0 nor n, points in their own lists decide, or they are refused. Rows of lists are matched by name, too;
        where the numbers may count the rows of the other table, these are refused. ``connectivities`` and similarities
        of at most 1 are refused, and a note names entries that may be similarities. Measures of up to K neighbors are
        those of the data (continuity, overlap, Jaccard, the curves of shared neighbors), with an interval where k is
        below K; ``r_nx_auc`` ends at K. Trustworthiness has no value: its note and the columns ``worst`` and ``best``
        bound it. All measures that need distances, coordinates or ranks of other points are missing with that reason,
        and no method is run. Lists of an approximate search give the values of its neighbors.
        A bundled method that is named and has a ``metric`` gets it (``"classical_mds"``, ``"lsdr"``), unless
        ``with_embedding`` passes another one. The metric is not passed to other methods: bundled ones use Euclidean
        distances of the coordinates, estimators their own setting, callables none; a note on each and the header say
        so. The names "l1", "cityblock" and "l2" are accepted as well.
    graph_neighbors : int or "auto"
        Number of neighbors of each point in the graph of ``metric="geodesic"``, by Euclidean distances: two points are
        joined if either is among the nearest of the other. "auto" is 15, or fewer for few points. With too many, paths
        take shortcuts between parts that are near in space only, such as the turns of a roll. A note says so if the
        graph of half as many neighbors (at least 7) avoids them; with too few points that graph takes them, too. For a
        rolled sheet, pass the smallest number that joins all points, often 5 or 6. It is not the k of the measures
        (``n_neighbors``); a note and the header state it. For networks it is left out.
    embedding_metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed"}
        Distance in the embeddings, for representations that are compared by another one than the Euclidean distance, as
        "cosine" for vectors of a text model. "precomputed": each embedding is a symmetric (n, n) matrix of distances,
        and there are no coordinates to draw. Measures and tests that read coordinates of the embedding (Procrustes,
        silhouettes, prediction of classes, measures of methods) are then missing with that reason, as they are under
        every other metric than "euclidean". It is not passed to methods.
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
    new_data : table or path, optional
        New points, read like ``data``: rows that no fit has seen (query cells, or the queries of a retrieval, where
        ``data`` are the corpus). Columns are matched by name where both have names. Each point is compared with the
        points of the data alone, as ``out_of_sample`` does: ``results["umap"].out_of_sample``, with a section in the
        report; they are no rows of ``tidy()``. Sources with ``transform`` embed them by the fit of the run: bundled
        methods, estimators, a callable ``(X, n_components, X_new)`` that returns the pair ``(Y, Y_new)``, and runs of
        ``Protocol`` with the same ``new_data``. An embedding without coordinates of new points has a note instead.
    new : dict of name to coordinates, or float, optional
        Coordinates of ``new_data`` in embeddings that were passed as coordinates, ``{"umap": Y_new}``, matched by row
        names where both have them; or a function of the rows of ``new_data``, or a fitted estimator, that returns them,
        ``{"umap": model}``. Embeddings in ``obsm`` use the array of ``new_data`` with the same key. A float, as 0.2:
        each method is fitted once more, without this share of the rows, drawn by ``random_state`` (with ``groups``
        whole groups). The left-out rows are the new points, or, with ``new_data``, the calibration of its conformal
        bounds and p-values; as these do not exist with groups, ``new_data`` and a share are refused there. The values
        of new points are those of this fit, all others those of the fit to all rows.
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
    with m anchors O(m n (p + d)) time and O(m k) memory, without the data; q new points take O(q n (p + d)) and O(q k)
    more, and their left-out rows a further fit of each method. A C-ordered array of float32 or float64, and
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

    @partial(keywords_checked, elsewhere=KEYWORDS_ELSEWHERE)
    def __init__(
        self,
        data: Any,
        embeddings: Any = None,
        *,
        labels: Any = None,
        latent: Any = None,
        batch: Any = None,
        groups: Any = None,
        covariates: Any = None,
        covariate_types: Mapping[str, str] | None = None,
        ids: Any = None,
        layer: str | None = None,
        use_rep: str | None = None,
        n_neighbors: Any = "auto",
        metric: str = "euclidean",
        graph_neighbors: Any = "auto",
        embedding_metric: str = "euclidean",
        header: bool | Literal["auto"] = "auto",
        anchors: Any = "auto",
        new_data: Any = None,
        new: Any = None,
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = check_one_of(metric, METRICS, "metric", aliases=True)
        self.embedding_metric = check_one_of(embedding_metric, TABLE_METRICS, "embedding_metric", aliases=True)
        variables = {"labels": labels, "latent": latent, "batch": batch, "covariates": covariates, "ids": ids}
        variables |= {"covariate_types": covariate_types, "groups": groups}
        settings: dict[str, Any] = {"layer": layer, "use_rep": use_rep, "metric": self.metric, "header": header}
        settings["decimal_labels"] = True
        self.data: Data = with_geodesics(as_data(data, **variables, **settings), graph_neighbors, n_jobs)
        self.data = replace(self.data, embedding_metric=self.embedding_metric)
        check_targets(self.data)
        self.auto_neighbors = isinstance(n_neighbors, str) and n_neighbors == "auto"
        self.n_neighbors = check_k(n_neighbors, self.data.n, length=self.data.list_length)[0]
        self.anchors = check_anchors(anchors, self.data.n)
        check_random_state(random_state)
        self.seed = root_seed(random_state)
        self.has_random_seed = random_state is None
        self.n_jobs = None if n_jobs in (None, -1) else check_int(n_jobs, "n_jobs", low=1)
        self.sources: dict[str, Source] = {}
        sources, notes = named_sources(embeddings, self.data)
        self.data = replace(self.data, notes=(*self.data.notes, *notes)) if notes else self.data
        for name, value in sources.items():
            self.sources[check_name(name, self.sources)] = self._source(name, value, {})
        self.new: NewPointsInput | None = as_new_points(new_data, new, self.data, self.names, layer, use_rep)
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

        A value of a kind that is never an embedding raises an error, and so does an unknown name; any other error is
        stored in a ``FailedSource``, for the rows of the embedding.
        """
        try:
            if options.get("n_components") is not None:
                check_int(options["n_components"], "n_components", low=1)
            return as_source(value, name, self.data, **options)
        except UnknownName:
            raise
        except DrevalError as error:
            if not isinstance(error, MethodFailed) and kind_of(value) in (Kind.CLASS, Kind.MODEL, Kind.OTHER):
                raise
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
        sources = {**self.sources, check_name(name, self.sources): self._source(name, source, options)}
        return self._with(sources=sources)

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
        from dreval.report.documents.small import evaluation_preview

        return evaluation_preview(self).as_html()

    def __repr__(self) -> str:
        from dreval.report.documents.small import evaluation_preview

        return str(evaluation_preview(self))

    # ``run`` takes none of these: they belong to the evaluation.
    @partial(
        keywords_checked,
        elsewhere={name: f"Evaluation(..., {name}=...)" for name in inspect.signature(__init__).parameters},
    )
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
        journal: str | Path | None = None,
        progress: bool | None = None,
    ) -> Results:
        """Compute measures, intervals and tests of all embeddings.

        Parameters
        ----------
        measures : "default", "all", str, list of str or None
            Names from ``dreval.list_measures()``. "default": those for neighbors, local shape and distances, and with
            labels and batches those for these. "all" adds all others, including those that re-run the methods (for
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
            "mmd" uses 2000 random points, and so does "dcov" except for two single columns. A note says which.
        ci : "default", "points", "jackknife", "subsampling", "replicates", "anchors" or None
            Intervals; the column ``target`` says what each refers to. "points": the population the points came from,
            for independent points, with coordinates treated as fixed, as if not fitted to them. Measures of neighbors
            (``card(name).crossed``) have the cross jackknife: 2 random partitions of the points into thirds, of which
            two at a time are evaluated with two thirds of the neighbors; where the values without each point are skewed
            (of nearly perfect maps, of accuracies far from 1/2) the wider of this and the delete-one jackknife. Other
            measures have the delete-one jackknife
            (exact, or infinitesimal); where there is none, 20 random groups are left out, and the squared errors are
            averaged over 8 random partitions. "jackknife": the delete-one jackknife for measures of neighbors, too. Its
            variance is too large on average (Efron and Stein 1981): hardly for measures of pairs of points (standard
            error .9 to 1.1 times the standard deviation of the values), but 1.2 to 2.6 times for measures of nearest
            neighbors, so that tests of pairs of embeddings lose half of their power; the vignette "Is this embedding
            better than that one?" has tables. These intervals do not include the variation of the method between
            samples (they covered the mean of refitted values in 85 to 93 %): "replicates" do. "subsampling": the same
            target, from differences of random halves of the points, with half the neighbors; 20 splits cost 10 more
            passes. "replicates": methods are re-run, with other seeds (each run is a row, with its number in the column
            ``replicate``; the interval is that of their mean, and does not cover results that few seeds give: 10 runs
            miss what 26 % of the seeds give in one result of twenty, 30 runs 10 %), or, where seeds change nothing, on
            random halves of the points; for coordinates a note has the reason. "anchors": all points, from the design,
            cut at the bounds: Student's where many anchors carry the value, otherwise the wider of Student's and an
            interval for the mean of bounded numbers (by betting: Waudby-Smith and Ramdas 2024), which also holds where
            few points carry the error. With ``groups``: samples of as many groups of these sizes, by the jackknife that
            leaves out one group at a time and computes each measure again, with k (n - n_g) / (n - n / G) neighbors;
            Student's t with the effective number of groups minus one degrees. It takes as many passes as there are
            groups, at most 50 (of more groups 50 bundles are left out). "subsampling", and "replicates" of halves, are
            then refused. "default": anchors where anchors are used, replicates where their options are passed and a
            method can be re-run, otherwise points; with groups these.
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
            ``{"points": {"n_partitions": 8}}`` the number of random partitions that are averaged (by default 2 into
            thirds and 8 into groups): more partitions depend less on the seed.
        journal : path, optional
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

        Raises
        ------
        InputError
            If a measure, test or option is not known or cannot be used here, or if no embedding could be computed:
            the error of the only one, or one with the reason of each.

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
        0         a  trustworthiness   0.73      0.65       0.81
        1         a    procrustes_rc   0.37      0.31       0.43
        2         b  trustworthiness   0.83      0.75       0.90
        3         b    procrustes_rc   0.30      0.25       0.37
        """
        options = check_options(options)
        arguments: dict[str, Any] = {"measures": as_list(measures), "tests": as_list(tests), "ci": ci}
        arguments["conf_level"] = level = check_float(conf_level, "conf_level", low=0.5, high=1 - 1e-6)
        arguments |= {"n_resamples": n_resamples, "adjust": check_adjustment(adjust), "options": options}
        plan = self._plan(arguments["measures"], arguments["tests"], ci, n_resamples, options)
        start = time.perf_counter()
        with EmbeddingCache(journal, self.data) as cache, open_progress(progress) as bar:
            steps, ev = Progress(bar), self._with(seed=cache.seed(self.seed, self.has_random_seed))
            resampled = resampled_tasks(plan.measures, self.data)
            steps.start(count_steps(plan, self.sources, self.data.n, resampled, new=self.new is not None))
            ev, runs, outcomes, neighbors, new_points = ev._compute(plan, level, journal, cache, steps.advance)
            steps.close()
        embedded, failed = runs.coordinates, {name: note_from_error(error) for name, error in runs.errors.items()}
        reference = data_among(ev.data, embedded)
        rows = ev._rows(outcomes, failed, plan, reference)
        table = tidy_frame(rows)
        table["p_adjusted"] = adjusted_p_values(table, arguments["adjust"])
        recipe = provenance_of(ev, arguments, plan, embedded, reference, time.perf_counter() - start)
        notes = [*run_notes(ev, arguments, plan, table, failed, embedded, reference), *new_points.notes]
        ev._warn(plan, runs, reference)
        results = ev._record(table, notes_frame([{"notes": notes}, *rows]), outcomes, embedded, recipe, neighbors)
        return replace(results, _out_of_sample=with_calls(new_points.records, recipe["call"]))

    @keywords_checked
    def estimate_cost(
        self,
        measures: Any = "default",
        tests: Any = "default",
        ci: str | None = "default",
        *,
        n_resamples: int = 999,
        options: Mapping[str, Mapping[str, Any]] | None = None,
        progress: bool | None = None,
    ) -> CostEstimate:
        """Estimate seconds and MiB of ``run`` with the same arguments, before it is run.

        The steps are run on two samples of at most 1000 of the points (with many neighbors, more). Their seconds are
        extrapolated with the exponent on the card of each measure, right within a factor of about three. This takes
        some seconds, and changes nothing.

        Parameters
        ----------
        measures, tests, ci, n_resamples, options, progress
            As in ``run``, with the same errors. The bar counts the runs on samples.

        Returns
        -------
        CostEstimate
            ``seconds``, ``mebibytes``, and a row for each step in ``tidy()``. Estimators, callables and bundled methods
            are not run: their embeddings are named in ``not_included``.

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
        ['run of the method', 'neighbors and ranks', 'measure']
        """
        plan = self._plan(as_list(measures), as_list(tests), ci, n_resamples, check_options(options))
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
        m = self.anchors or self.data.n
        embedded = for_views(embedded, self.embedding_metric)
        sizes = sample_sizes(self.data.n, max((task.k for task in plan.measures), default=1)) if embedded else ()
        samples = [Sample.of(self.data, embedded, plan, m, size) for size in sizes]
        runs, seconds = [*samples[1:], *samples], []  # the first loads and compiles code
        with open_progress(progress) as bar:
            bar.reset(total=len(runs))
            for sample in runs:
                bar.set_description(f"estimate from {sample.data.n} points")
                seconds.append(self._timed(sample))
                bar.update(1)
        timed = list(zip(samples, seconds[len(samples[1:]) :], strict=True))
        return estimate(self.data, m, plan, missing, list(embedded), timed, self.n_jobs)

    def _values(self, measures: Any) -> tuple[Evaluation, list[MeasureRow]]:
        """Return a row with the value and notes of each measure of the only embedding, and the evaluation of its run.

        Curves, which have no single value, are left out.
        """
        (name,) = self.sources
        plan, advance = self._plan(as_list(measures), None, None, 1, {}), Progress().advance
        plan = plan._replace(measures=[task for task in plan.measures if not task.card.curve])
        with EmbeddingCache(None, self.data) as cache:
            runs = self._embed(cache, advance)
        if runs.errors:
            raise runs.errors[name]
        source = runs.sources[name]
        source = replace(source, notes=(*source.notes, *width_notes(self.data, runs.coordinates[name])))
        ev = self._with(sources={name: source})
        view = ev._make_views(for_views(runs.coordinates, self.embedding_metric), plan, advance)[name]
        outcome = value_rows(name, view, [task for task in plan.measures if task.card.level != "algorithm"])
        settings = self.seed, self.n_jobs, None
        outcome = evaluate_algorithms(outcome, plan.measures, ev.sources[name], self.data, view.Y, *settings, advance)
        return ev, list(outcome.rows)

    # The steps of run().

    def _timed(self, sample: Sample) -> Mapping[Step, float]:
        """Return the seconds of the steps of a run on a sample of the points; its warnings are not shown."""
        ev, progress = self._with(data=sample.data, anchors=sample.anchors, sources={}, new=None), Progress()
        with warnings.catch_warnings(), EmbeddingCache(None, sample.data) as cache:
            warnings.simplefilter("ignore")
            sources = {name: CoordinateSource(name, Y) for name, Y in sample.embedded.items()}
            ev._with(sources=sources)._compute(sample.plan, LEVEL, None, cache, progress.advance)
        progress.close()
        return progress.seconds

    def _compute(
        self, plan: Plan, level: float, journal: str | Path | None, cache: EmbeddingCache, advance: Advance
    ) -> tuple[Evaluation, Embedded, dict[str, EmbeddingOutcome], NeighborIndices | None, NewPointsOutcome]:
        """Return the evaluation with the notes of its runs, the embeddings, their outcomes, the data's neighbors.

        The last part is the outcome of the new points.
        """
        runs = self._embed(cache, advance)
        if runs.errors and not runs.coordinates:
            raise all_failed(runs.errors)
        ev, embedded = self._with(sources=runs.sources), for_views(runs.coordinates, self.embedding_metric)
        views = ev._make_views(embedded, plan, advance)
        neighbors = ev._neighbors(views)
        if ev.new is not None:
            advance(Step(NEW))
        new_points = evaluate_new_points(ev, views, runs.new, cache, conf_level=level)
        coordinates = {name: view.Y for name, view in views.items()}
        outcomes = {
            name: ev._evaluate(name, views.pop(name), seconds, plan, level, journal, advance)
            for name, seconds in runs.seconds.items()
        }
        outcomes = ev._with_intervals(outcomes, embedded, plan, level, cache, advance)
        outcomes = {
            name: ev._with_tests(name, outcomes[name], Y, plan, journal, advance) for name, Y in coordinates.items()
        }
        return ev, runs, outcomes, neighbors, new_points

    def _plan(self, measures: Any, tests: Any, ci: str | None, n_resamples: int, options: Any) -> Plan:
        """Return the measures, tests and intervals to compute; raise if there are none, or if the data have changed."""
        arguments = {"measures": measures, "tests": tests, "ci": ci, "n_resamples": n_resamples, "options": options}
        if self.new is not None:
            readable = {name: source for name, source in self.sources.items() if not isinstance(source, FailedSource)}
            n_neighbors = None if self.auto_neighbors else self.n_neighbors
            check_new_points(self.new, readable, self.data, n_neighbors, self.seed)
        return plan_run(self.data, self.sources, self.n_neighbors, self.anchors, **arguments)

    def _with(self, **attributes: Any) -> Evaluation:
        """Return a copy with other attributes."""
        copy = object.__new__(Evaluation)
        vars(copy).update({**vars(self), **attributes})
        return copy

    def _embed(self, cache: EmbeddingCache, advance: Advance) -> Embedded:
        """Return the coordinates of the sources, or their errors."""
        embedded = Embedded({}, {}, {}, dict(self.sources), {})
        for name, source in self.sources.items():
            advance(Step(METHOD, name))
            seed, columns = stream_seed(self.seed, "embedding", name), source.default_components
            embed = partial(source.noted_coordinates, self.data, n_components=columns, random_state=seed)
            try:
                if self.new is not None and fitted_by_run(self.new, source):
                    fitted, embedded.seconds[name] = fit_with_new(source, self.data, self.new.data, None, seed, cache)
                    Y, embedded.new[name], notes = fitted
                else:
                    Y, embedded.seconds[name], notes = cache.embedding(source, seed, embed)
                check_metric_of_embedding(Y, self.embedding_metric, source.argument)
            except DrevalError as error:
                embedded.errors[name] = error
                continue
            embedded.coordinates[name] = Y
            if notes:
                embedded.sources[name] = replace(source, notes=(*source.notes, *notes))
        return embedded

    def _anchors(self) -> IntArray:
        """Return the row numbers of the anchors, ascending."""
        return np.sort(stream(self.seed, "anchors").choice(self.data.n, self.anchors, replace=False))

    def _make_views(self, embedded: dict[str, FloatArray], plan: Plan, advance: Advance) -> dict[str, View]:
        """Return the view of each embedding, from one pass over the data and all embeddings."""
        if not embedded:
            return {}
        leave_one: list[int] = []
        if plan.intervals.names_of_kind("points"):
            leave_one = [task.k for task in plan.measures if task.card.without is not None and task.reads_neighbors]
        advance(Step(PASS))
        rows = None if self.anchors is None else self._anchors()
        options: dict[str, Any] = {"rows": rows, "leave_one": leave_one, "seed": self.seed, "n_jobs": self.n_jobs}
        return views_for(plan.measures, self.data, embedded, **options)

    def _neighbors(self, views: Mapping[str, View]) -> NeighborIndices | None:
        """Return the nearest points of every point in the data; None with anchors, or with too many points to store."""
        view = next(iter(views.values()), None)
        if view is None or not len(view.rows) == self.data.n <= MOST_LISTED or not view.nearest_data.size:
            return None
        return view.nearest_data[:, : max(self.n_neighbors)].copy()

    def _evaluate(
        self,
        name: str,
        view: View,
        seconds: float,
        plan: Plan,
        level: float,
        journal: str | Path | None,
        advance: Advance,
    ) -> EmbeddingOutcome:
        """Compute the rows of one embedding: measures of its view, and measures of its method.

        ``seconds`` is the duration of its run.
        """
        start = time.perf_counter()

        source, Y, ci = self.sources[name], view.Y, plan.intervals.kinds.get(name)
        view_tasks = [task for task in plan.measures if task.card.level != "algorithm"]
        outcome = evaluate_where_labeled(name, view, view_tasks, ci, self.seed, level, advance)
        if len(self.sources) > MAX_PAIRED_EMBEDDINGS:  # the spreads, which take memory, would compare pairs of curves
            outcome = replace(outcome, curves=tuple(replace(curve, spread=None) for curve in outcome.curves))
        settings = self.seed, self.n_jobs, journal
        population_level = level if ci == "points" else None
        outcome = evaluate_algorithms(
            outcome, plan.measures, source, self.data, Y, *settings, advance, population_level
        )
        n_components = 0 if self.embedding_metric == "precomputed" else Y.shape[1]
        return replace(outcome, n_components=n_components, seconds=seconds + time.perf_counter() - start)

    def _with_intervals(
        self,
        outcomes: Mapping[str, EmbeddingOutcome],
        embedded: Mapping[str, FloatArray],
        plan: Plan,
        level: float,
        cache: EmbeddingCache,
        advance: Advance,
    ) -> dict[str, EmbeddingOutcome]:
        """Return the outcomes with the intervals that take further passes over the data, or re-runs of the methods."""
        tasks, curves = resampled_tasks(plan.measures, self.data), [task for task in plan.measures if task.card.curve]
        settings = level, self.seed, self.n_jobs
        resampled = ResampledIntervals(self.data, self.sources, tasks, curves, plan.intervals, *settings, cache)
        of_points, of_groups = (
            {name: outcomes[name] for name in plan.intervals.names_of_kind(kind) if name in outcomes}
            for kind in ("points", "groups")
        )
        of_points |= resampled.with_partitions(of_points, embedded, advance)
        if of_points and (count := plan.intervals.counts["crossed"]):
            crossed = CrossJackknife(self.data, count, *settings).results(of_points, tasks, embedded, advance)
            of_points = {name: outcome.with_crossed(crossed[name]) for name, outcome in of_points.items()}
        if of_groups:
            rows = None if self.anchors is None else self._anchors()
            of_groups = GroupJackknife(self.data, rows, *settings).added_to(of_groups, tasks, curves, embedded, advance)
        outcomes = {**outcomes, **of_points, **of_groups}
        for name, reason in plan.intervals.reasons.items():
            if name in outcomes:
                outcomes[name] = outcomes[name].with_reason(tasks, reason)
        return outcomes | resampled.with_reruns(outcomes, embedded, advance)

    def _with_tests(
        self,
        name: str,
        outcome: EmbeddingOutcome,
        Y: FloatArray,
        plan: Plan,
        journal: str | Path | None,
        advance: Advance,
    ) -> EmbeddingOutcome:
        """Return the outcome with the tests of an embedding: of its coordinates, then those that re-run its method."""
        start, source = time.perf_counter(), self.sources[name]

        coordinate_tests = [task for task in plan.tests if task.kind != "method"]
        rows = evaluate_tests(name, Y, coordinate_tests, self.seed, self.n_jobs, advance, self.embedding_metric)
        reliability = dict(outcome.reliability)
        for task in plan.tests:
            if task.kind == "method":
                advance(test_step(name, task))
                row, points = method_row(task, source, self.data, Y.shape[1], self.seed, self.n_jobs, journal)
                rows.append(row)
                reliability |= points
        seconds = outcome.seconds + time.perf_counter() - start
        return replace(outcome, tests=tuple(rows), reliability=reliability, seconds=seconds)

    def _rows(
        self,
        outcomes: dict[str, EmbeddingOutcome],
        failed: dict[str, Note],
        plan: Plan,
        reference: Collection[str],
    ) -> list[dict[str, Any]]:
        """Return the rows of the table in the order of the sources; rows of a failed embedding hold the reason."""
        rows: list[dict[str, Any]] = []
        for name in self.sources:
            if name in failed:
                outcome = failed_outcome(name, plan, failed[name])
            else:
                tests = leave_reference_out(outcomes[name].tests, reference)
                outcome = replace(outcomes[name], tests=tests)
            rows += outcome.cells()
        return [{**row, "dataset": self.data.name, "n": self.data.n} for row in rows]

    def _warn(self, plan: Plan, runs: Embedded, reference: Collection[str]) -> None:
        """Warn of embeddings that do not reduce data of few columns, of failed ones, and of missing variables."""
        if self.data.p is not None and self.data.p <= 2:
            for unreduced_note in unreduced_notes(self.data, runs.coordinates, reference):
                warn(InputWarning(unreduced_note))
        if runs.errors:
            warn(EmbeddingFailed(runs.errors, len(self.sources)))
        for variable, values in self.data.variables().items():
            if values is None:  # labels, latent variables, batch or target
                argument = f"{ARGUMENTS.get(variable, variable)}= to Evaluation"
                for name in dict.fromkeys(task.name for task in plan.measures if variable in task.card.needs):
                    warn(InputWarning(note(f"{variable}.none", name, way=argument)))

    def _stored_coordinates(self, name: str, Y: FloatArray) -> Any:
        """Return the coordinates that a result stores, which changes of the array of the caller do not affect.

        Of distances they have no column.
        """
        if self.embedding_metric == "precomputed":
            return np.empty((len(Y), 0))
        source = self.sources[name]
        return source.values_to_store() if isinstance(source, CoordinateSource) and source.sha256 else Y

    def _record(
        self,
        table: Any,
        notes: Any,
        outcomes: dict[str, EmbeddingOutcome],
        embedded: dict[str, FloatArray],
        recipe: dict[str, Any],
        neighbors: NeighborIndices | None,
    ) -> Results:
        """Return the record of a run, from its table and notes and the outcome of each embedding."""
        import pandas as pd

        columns = setting_names(table)
        rows = self._anchors() if is_streamed(self.data.n, self.anchors or self.data.n) else range(self.data.n)

        def frame_by_point(values: Mapping[Key, FloatArray], index: Any = rows) -> pd.DataFrame:
            return pd.DataFrame({columns[key]: column for key, column in values.items()}, index=index)

        curves = {name: outcome.curves for name, outcome in outcomes.items()}
        return Results(
            table=table,
            notes=notes,
            points={name: frame_by_point(outcome.points) for name, outcome in outcomes.items()},
            groups=groups_frame([row for outcome in outcomes.values() for g in outcome.groups for row in g.cells()]),
            curves=curves_frame([row for parts in curves.values() for curve in parts for row in curve.cells()]),
            curve_differences=differences_frame(curve_differences(curves, recipe["conf_level"], self.seed)),
            _nulls=nulls_frame(null_histograms([row for outcome in outcomes.values() for row in outcome.tests])),
            _shepard={name: outcome.shepard for name, outcome in outcomes.items() if outcome.shepard is not None},
            embeddings={name: self._stored_coordinates(name, Y) for name, Y in embedded.items()},
            labels=None if self.data.labels is None else self.data.labels.values,
            ids=None if self.data.ids is None else plain_ids(self.data.ids),
            recipe=recipe,
            data=None if self.data.metric == "gower" else self.data.table,  # coded columns are no coordinates
            _variables=self.data.named_variables(),
            _palettes=self.data.palettes,
            _left_out={
                name: frame_by_point(outcome.left_out) for name, outcome in outcomes.items() if outcome.left_out
            },
            _crossed={
                name: frame_by_point(outcome.crossed, None) for name, outcome in outcomes.items() if outcome.crossed
            },
            _data_neighbors=neighbors,
            _reliability={
                name: pd.DataFrame(outcome.reliability).loc[list(rows)]
                for name, outcome in outcomes.items()
                if outcome.reliability
            },
        )
