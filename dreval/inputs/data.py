"""Data in normal form: ``as_data`` checks any input once, and all later code reads the record."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, IntArray, describe, did_you_mean, nearest_name
from dreval._check_arrays import EXACT_MAGNITUDE, MIN_POINTS, check_finite, check_magnitude, check_spread
from dreval._text import printable
from dreval.errors import InputError, InputWarning, UnknownName, warn
from dreval.inputs.directions import direction_notes
from dreval.inputs.features import (
    MAX_NAMED_COLUMNS,
    SparseTableSummary,
    TableSummary,
    check_distances,
    check_no_graph,
    check_rows_for,
    densify,
    describe_distances,
    digest_of,
    frame_numbers,
    frame_table,
    is_sparse,
    rows_of,
    symmetric_kind,
)
from dreval.inputs.files import (
    OBSM_PREFIX,
    OBSP_PREFIX,
    UnpackedTable,
    check_column_names,
    chosen_layer,
    has_column,
    unpack,
)
from dreval.inputs.kinds import PATHS, Kind, kind_of, nearest_file, split_member
from dreval.inputs.mixed import mixed_table
from dreval.inputs.neighbor_lists import check_no_lists, list_lengths, neighbor_lists
from dreval.inputs.networks import as_network, check_no_part_of_graph, is_network
from dreval.inputs.stored import MIXED_HINT, NOT_NUMERIC_HINT, LazyTable
from dreval.inputs.text_tables import Header, HeaderOptions, check_header
from dreval.inputs.variables import (
    COVARIATE_TYPES,
    DataColumn,
    LabelVector,
    Rows,
    as_covariates,
    as_ids,
    as_label_vector,
    as_labels,
    as_latent,
    as_target,
    check_lengths,
)
from dreval.records.notes import Note, Notes, note

MIN_TRANSPOSED = 10  # columns; smaller numbers of columns often equal a number of rows by coincidence
DISTANCES_KEY = "distances"  # of obsp, where scanpy stores the distances of neighbors
N_ROWS_CHECKED = 1024  # first rows of a table that is not in memory, which are checked for a graph


@dataclass(frozen=True, eq=False)
class Data:
    """Data in normal form.

    Attributes
    ----------
    table : ndarray, csr_array or Stored (n, p)
        Features: finite. A C-ordered array of float32 or float64, or a sparse matrix in normal form, is the caller's
        array. If a table is not in memory, its rows are read when they are needed. Everything else is a copy as
        float64. For precomputed distances the symmetric (n, n) matrix, for neighbor lists the sparse (n, n) table of
        ranks (``dreval.inputs.neighbor_lists``), for Gower's distances the coded columns (``dreval.inputs.mixed``).
    sha256 : str
        Hash of the numbers as float64 (and of their positions, if sparse) when they were read.
    columns : tuple of str or None
        Names of the features.
    ids : pandas.Index or None
        Names of the rows; ``ids_given`` says whether they were passed as ``ids`` or are the index of a frame.
    labels : LabelVector or None
        Classes of the points.
    covariates : dict of str to ndarray (n,)
        Other variables: float64 for numbers, text for classes.
    covariate_types : dict of str to str
        The types ("number" or "class") that the caller set for covariates.
    name : str
        Name of the data.
    notes : tuple of Note
        Properties of the data and assumptions that matter for the results.
    latent : ndarray (n, q) or None
        True latent variables.
    obsm : mapping of str to array
        Embeddings that came with an AnnData object.
    reserve : pandas.Index or None
        Row names that only count the rows, if ``ids`` is None; used if other row names are numbers in another order.
    metric : str
        Metric of the data space, for which the data were checked.
    batch : LabelVector or None
        The batch of each point.
    target : dict of str to ndarray (n,)
        Numbers to be predicted: those passed as a target, and labels that are decimal numbers; NaN where not known.
    groups : LabelVector or None
        The group of each point (donor, patient, document), whose points depend on each other: two groups or more.
    network : csr_matrix (n, n) or None
        With ``metric="geodesic"``, the symmetric lengths of edges that were passed in place of points.
    geodesics : Geodesics or None
        With ``metric="geodesic"``, the table of the lengths of shortest paths (``dreval.geometry.geodesics``).
    graph_neighbors : int or None
        The number of neighbors of the graph of the points over which these paths go.
    header : "auto", bool or None
        Whether the first row of a text file has the names of the columns, for files of embeddings too.
    other_header : bool or None
        The other value of ``header`` by which the file of the data could be read; None if there is none.
    obs : DataFrame or None
        All columns of the points that came with an AnnData object.
    palettes : mapping of str to mapping of str to str
        Colors of the classes of columns of ``obs``, and of the labels, as "labels".
    embedding_metric : str
        Metric of the embeddings of these data.
    numbered : bool
        With ``metric="neighbors"``, whether the lists were a table of numbers, which count its rows.
    matrix : dict of str to str
        The keyword (``layer`` or ``use_rep``) and the name of the matrix of an AnnData object that is not its ``X``.
    """

    table: Any
    sha256: str = ""
    columns: tuple[str, ...] | None = None
    ids: pd.Index[Any] | None = None
    labels: LabelVector | None = None
    covariates: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    name: str = "data"
    notes: Notes = ()
    latent: FloatArray | None = None
    obsm: Mapping[str, Any] = field(default_factory=dict)
    ids_given: bool = False
    reserve: pd.Index[Any] | None = None
    metric: str = "euclidean"
    batch: LabelVector | None = None
    covariate_types: dict[str, str] = field(default_factory=dict)
    header: Header | None = None
    other_header: bool | None = None
    obs: pd.DataFrame | None = None
    palettes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    groups: LabelVector | None = None
    network: Any = None
    geodesics: Any = None
    graph_neighbors: int | None = None
    embedding_metric: str = "euclidean"
    numbered: bool = False
    matrix: dict[str, str] = field(default_factory=dict)
    target: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.table.shape[0])

    @property
    def X(self) -> Any:  # noqa: N802 (the name of the field)
        """Features as float64, in memory: an array, or the sparse matrix unchanged."""
        table = self.table.whole if isinstance(self.table, LazyTable) else self.table
        return table if self.sparse else np.asarray(table, np.float64)

    @property
    def p(self) -> int | None:
        """Number of features; None for distances only (see ``distances_only``)."""
        return None if self.distances_only else int(self.table.shape[1])

    @property
    def distances_only(self) -> bool:
        """Whether the points have distances (precomputed, of mixed columns, over a network) or neighbor lists only."""
        return self.metric in ("precomputed", "neighbors", "gower") or self.network is not None

    @property
    def list_length(self) -> int | None:
        """Length of the shortest list of neighbors; None for all other data."""
        return int(list_lengths(self.table).min()) if self.metric == "neighbors" else None

    @property
    def space(self) -> Any:
        """The table from which distances are computed: features, or a table of the distances themselves."""
        if self.metric == "geodesic" and self.geodesics is None:
            hint = "Pass the points with another metric."
            raise InputError("metric", "must not be 'geodesic' here", "'geodesic'", hint)
        return self.table if self.geodesics is None else self.geodesics

    def at(self, places: npt.NDArray[np.int64]) -> Data:
        """Return the data with the table of some points only; their variables are those of all points."""
        if self.metric in ("precomputed", "neighbors"):
            return replace(self, table=rows_of(self.X, places)[:, places])
        geodesics = None if self.geodesics is None else self.geodesics.at(places)
        return replace(self, table=rows_of(self.X, places), geodesics=geodesics)

    @property
    def n_labeled(self) -> int:
        """Number of points that have a label."""
        return 0 if self.labels is None else int(self.labels.has_label.sum())

    def variables(self) -> dict[str, npt.NDArray[Any] | None]:
        """Return the variables of the points for measures: codes of labels, batches and groups, and numbers.

        Targets are the numbers of ``targets``, as fields of one array.
        """
        vectors = {"labels": self.labels, "batch": self.batch, "nested_in": self.groups}
        codes = {name: None if vector is None else vector.codes for name, vector in vectors.items()}
        targets, target = self.targets, None
        if targets:
            target = np.empty(self.n, [(name, np.float64) for name in targets])
            for name, values in targets.items():
                target[name] = values
        return {**codes, "latent": self.latent, "target": target}

    @property
    def targets(self) -> dict[str, npt.NDArray[Any]]:
        """Numbers to be predicted, by name: the target, decimal labels, and covariates that are numbers."""
        numbers = {name: values for name, values in self.covariates.items() if values.dtype.kind == "f"}
        return {**self.target, **numbers}

    def named_variables(self) -> dict[str, Any]:
        """Return all variables of the points by name: columns of ``obs``, covariates, labels and batches."""
        vectors = {
            vector.name: vector.values for vector in (self.labels, self.batch, self.groups) if vector is not None
        }
        columns = {} if self.obs is None else {str(name): self.obs[name] for name in self.obs}
        return {**self.covariates, **self.target, **vectors, **columns}

    @property
    def sparse(self) -> bool:
        """Whether the features are a sparse matrix."""
        return self.table.sparse if isinstance(self.table, LazyTable) else is_sparse(self.table)

    def dense(self) -> FloatArray:
        """Return the features as a dense array; more than 8 GiB raises an error."""
        return densify(self.X, "data")[0] if self.sparse else self.X

    def dense_notes(self) -> Notes:
        """Return a note that ``dense`` made a sparse matrix dense."""
        n, p = self.table.shape
        return (note("data.dense", rows=n, columns=p),) if self.sparse and self.metric != "neighbors" else ()

    def owned(self) -> Data:
        """Return the data with a copy of the numbers, so that changes of the caller's array have no effect."""
        return replace(self, table=self.table.copy()) if self.sparse or isinstance(self.table, np.ndarray) else self

    def check_unchanged(self) -> None:
        """Raise an error if the numbers have changed since the data were read."""
        if digest_of(self.table) != self.sha256:
            requirement, received = "must stay as they were when they were passed", "an array that has changed since"
            raise InputError(
                "data", requirement, received, "Pass a copy, or make a new Evaluation of the changed data."
            )

    def __repr__(self) -> str:
        extra = "" if self.labels is None else f", {len(self.labels.classes)} classes"
        what = "a network" if self.network is not None else "distances" if self.p is None else f"{self.p} features"
        what = f"{self.table.shape[1]} mixed columns" if self.metric == "gower" else what
        what = what if self.list_length is None else f"lists of {self.list_length} or more neighbors"
        return f"Data({printable(self.name)}: {self.n} points, {what}{extra})"


def as_data(
    data: Any,
    *,
    labels: Any = None,
    latent: Any = None,
    batch: Any = None,
    groups: Any = None,
    covariates: Any = None,
    covariate_types: Mapping[str, str] | None = None,
    ids: Any = None,
    name: str | None = None,
    layer: str | None = None,
    use_rep: str | None = None,
    metric: str = "euclidean",
    header: Header | None = None,
    covariates_name: str = "covariates",
    pairs: bool = False,
    may_coincide: bool = False,
    target: Any = None,
    decimal_labels: bool = False,
) -> Data:
    """Check data and convert them to normal form.

    Nothing is scaled, imputed or dropped silently. Constant columns, repeated rows, a column that carries more than
    half of the total variance, and all assumptions are recorded in ``notes``.

    Parameters
    ----------
    data : array-like, DataFrame, sparse matrix, tensor, AnnData, data set or path
        (n, p) real numbers of any type, rows are points. Tensors and arrays of other libraries are converted by their
        own methods or by DLPack, tables of polars and Arrow by pandas. A path names a .csv, .tsv, .npy, .npz, .parquet,
        .mtx or .h5ad file, or a .zarr folder; ``"file.csv:x,y"`` are columns of a file. Arrays of HDF5, zarr and dask,
        memory maps, AnnData in a file, and large .npy, .parquet and .h5ad files are not read into memory, but by blocks
        of rows.
    labels : array-like, str, optional
        Classes: a vector, the name of a column of the data (or of ``obs``), or a path ``"file.csv[:column]"``.
    latent : array-like or path, optional
        True latent variables (n, q).
    batch : array-like, str, optional
        The batch of each point, as labels; none may be missing.
    groups : array-like, str, optional
        The group of each point, as labels; none may be missing, and there must be two or more, not those of the labels.
    covariates : dict, DataFrame, str or list of str, optional
        Other variables, by name; strings name columns of the data (or of ``obs``), columns of files
        (``["a.csv:x", "a.csv:y"]``) or a whole file. A named column of the data is not a feature. Numbers are numbers,
        integers too; text, booleans and categories are classes. The name of a column may end in its type, as
        ``"age:number"`` or ``"a.csv:batch_nr:class"``.
    covariate_types : dict of str to {"number", "class"}, optional
        Types of covariates by name, which override this rule. Integers with at most 20 different values that repeat may
        be codes of classes: a note names them.
    ids : array-like or str, optional
        Names of the rows, or the column that holds them. Embeddings and variables with ids or row names are matched by
        them, except by row names that only count.
    name : str, optional
        Name of the data in tables; by default the file's or data set's name, else ``"data"``.
    layer : str, optional
        The matrix of an AnnData object to use in place of ``X``: a layer, or "raw" (``raw.X``). For a file it can also
        be named behind the path: ``"cells.h5ad:counts"``.
    use_rep : str, optional
        The key of ``obsm`` whose array is used in place of ``X``, such as "X_pca"; for a file also
        ``"cells.h5ad:obsm:X_pca"``.
    metric : str
        One of ``dreval.glossary.METRICS``, the metric of the data space. "precomputed": the data are the
        symmetric (n, n) matrix of distances; the columns of a frame are matched to its rows by name. "geodesic": the
        data are points, or a square sparse matrix of the lengths of edges; paths are added by
        ``dreval.geometry.geodesics.with_geodesics``. "neighbors": the data are lists of neighbors in a form of
        ``neighbor_lists``, of AnnData in ``obsp["distances"]`` or the key of ``obsp`` that ``use_rep`` names. "gower":
        columns may be numbers, ordered categories and classes, and cells may be missing (``dreval.inputs.mixed``).
    header : "auto", bool or None
        Whether the first row of each text file has the names of the columns. "auto" decides it for each file
        (``dreval.inputs.text_tables.first_row`` states the rule), and a note reports names that are numbers. None is
        "auto" for callers that offer no ``header``: notes advise them to read the file otherwise.
    covariates_name : str
        The name of the argument ``covariates`` in the caller, for errors and notes.
    pairs : bool
        Whether the caller passes the matrix on to code that reads distances or a kernel: it is then not features.

    may_coincide : bool
        Whether all rows may be equal, as those of an embedding.
    target : array-like or path, optional
        The number of each point, for measures that predict it.
    decimal_labels : bool
        Whether labels may be decimal numbers: they are then no classes but a target, with a note. Otherwise such labels
        raise an error.

    Returns
    -------
    Data
        The frozen record.

    Raises
    ------
    InputError
        Fewer than 4 rows, columns that are not numbers, missing or infinite cells, rows that are all equal, repeated
        ids, labels that are not classes, lengths or row names that do not match, rows for which the metric is not
        defined (zeros for "cosine", constant ones for "correlation"), or an invalid matrix of distances.
    UnknownName
        A column, a layer or a file that does not exist; the message suggests the nearest name.

    Notes
    -----
    Rows of labels, batches, covariates, latent variables and embeddings are matched by name if both sides have row
    names: the index of a frame, or the unnamed first column of a file, also next to a chosen column
    (``"file.csv:column"``). Row names that only count (0, 1, 2, ..., in a file also 1, 2, 3, ...) are used only if
    the other side has the same ones in another order, with a note. Otherwise rows are matched by position, with a note
    if only one side has names. If only a part of the names, or none, is on the other side, an error is raised.
    Variables may have more rows than the data, if they have all names of the data. A named column of a file holds the
    names of its rows if it has the names of the data, or else a different text in every row.

    Time and memory O(n p), for a sparse matrix linear in its entries and columns: it stays sparse, except that
    "correlation", which centers every row, makes it dense (up to 8 GiB). Repeated rows are found by hashing.

    Examples
    --------
    >>> import pandas as pd
    >>> from dreval.inputs.data import as_data
    >>> frame = pd.DataFrame({"x": [0.0, 1, 2, 4], "y": [1, 0, 1, 0], "kind": list("abab")})
    >>> record = as_data(frame, labels="kind")
    >>> record.columns, record.X.shape, record.labels.classes.tolist()
    (('x', 'y'), (4, 2), ['a', 'b'])
    """
    is_lists = metric == "neighbors"
    matrix = {key: value for key, value in (("layer", layer), ("use_rep", use_rep)) if value is not None}
    layer = chosen_layer(layer, use_rep, OBSP_PREFIX if is_lists else OBSM_PREFIX)
    if is_lists and layer is None and is_anndata(data):
        layer = OBSP_PREFIX + DISTANCES_KEY
    header = None if header is None else check_header(header)
    if isinstance(data, Data):
        unchanged = _checked_data(
            data, metric, labels, latent, batch, groups, covariates, covariate_types, ids, name, layer, target
        )
        return unchanged if header is None else replace(unchanged, header=header)
    sparse = neighbor_lists if is_lists else metric != "correlation"
    raw = unpack(data, "data", layer, sparse=sparse, reading=HeaderOptions(header))
    raw, index, ids_given = _extract_ids(raw, ids)
    if index is not None and not ids_given:
        check_lengths(index, "ids")
    reserve = raw.reserve if index is None else None
    variables = {"labels": labels, "batch": batch, "groups": groups, "latent": latent, "target": target}
    for argument, value in variables.items():
        _check_not_transposed(raw, value, argument)
    rows = Rows(len(raw.frame), index, ids_given, reserve, header, raw.other_header)
    raw, labels = extract_variable(raw, labels, "labels")
    raw, batch = extract_variable(raw, batch, "batch", used=_columns_of(labels))
    raw, groups = extract_variable(raw, groups, "groups", used=_columns_of(labels, batch))
    raw, target = extract_variable(raw, target, "target", used=_columns_of(labels, batch, groups))
    raw, covariates, named_types = _extract_covariates(
        raw, covariates, covariates_name, _columns_of(labels, batch, groups)
    )
    types = _merged_types(named_types, covariate_types, covariates_name)
    raw = raw.selected_columns("data", "the ids, the labels or another variable")
    label_vector: LabelVector | None = None
    numbers: dict[str, npt.NDArray[Any]] = {}
    label_notes: Notes = ()
    if labels is not None and decimal_labels:
        label_vector, numbers, label_notes = as_labels(labels, rows)
    elif labels is not None:
        label_vector, label_notes = as_label_vector(labels, rows)
    targets, target_notes = ({}, ()) if target is None else as_target(target, rows)
    targets |= numbers
    batches, batch_notes = (None, ()) if batch is None else as_label_vector(batch, rows, "batch")
    check_no_gaps(batches, batch_notes, "batch")
    group_vector, group_notes = (None, ()) if groups is None else as_label_vector(groups, rows, "groups")
    check_no_gaps(group_vector, group_notes, "group")
    check_groups(group_vector, label_vector)
    if covariates is None and types:
        raise InputError("covariate_types", "must be left out without covariates", describe(types), "Pass covariates.")
    covariate_values, covariate_notes = (
        ({}, ()) if covariates is None else as_covariates(covariates, rows, covariates_name, types)
    )
    if repeated := [name for name in numbers if name in covariate_values]:
        hint = "Pass it once: covariates that are numbers are targets, too."
        raise InputError(covariates_name, "must not have the name of the labels", repr(repeated[0]), hint)
    if label_vector is not None and "labels" in covariate_values:
        hint = "Give the covariate another name."
        raise InputError(covariates_name, "must not use the name of the labels", "a covariate called 'labels'", hint)
    latent = raw.latent if latent is None else latent
    latent_values, latent_notes = (None, ()) if latent is None else as_latent(latent, rows)
    raw, square_notes = order_distances(raw) if metric == "precomputed" else (raw, ())
    network = None
    if metric == "geodesic" and raw.extra is None and is_network(raw.stored):
        network, network_notes = as_network(raw.stored, "data")
        table, columns, sha256, table_notes = network, None, digest_of(network), [*network_notes]
    else:
        table, columns, sha256, table_notes = _check_features(raw, metric, may_coincide=may_coincide)
        if metric not in ("precomputed", "neighbors", "gower"):
            square_notes = _pair_notes(table, pairs)
        if metric == "geodesic" and DISTANCES_KEY in raw.obsp:
            square_notes = (*square_notes, note("geodesic.obsp_unused", used=raw.part))
    variable_notes = (*label_notes, *target_notes, *batch_notes, *group_notes, *covariate_notes, *latent_notes)
    notes = (*raw.notes, *variable_notes, *square_notes, *table_notes)
    fields = (index, label_vector, covariate_values, name or raw.name, notes, latent_values, raw.obsm, ids_given)
    parts: dict[str, Any] = {"header": header, "other_header": raw.other_header, "groups": group_vector}
    parts |= {"target": targets, "matrix": matrix}
    palettes = dict(raw.palettes)
    if label_vector is not None and label_vector.name in palettes:
        palettes["labels"] = palettes[label_vector.name]
    parts |= {"obs": raw.extra, "palettes": palettes, "network": network}
    parts["numbered"] = is_lists and (raw.matrix is None or isinstance(raw.matrix, LazyTable))
    return Data(table, sha256, columns, *fields, reserve, metric, batches, types, **parts)


def is_anndata(value: Any) -> bool:
    """Return whether a value is an AnnData object, or a file of one, as a whole."""
    kind = kind_of(value)
    return kind is Kind.ANNDATA or (kind is Kind.ANNDATA_FILE and split_member(os.fspath(value))[1] is None)


def _checked_data(data: Data, metric: str, *arguments: Any) -> Data:
    """Return data in normal form unchanged; raise an error for further arguments."""
    if any(value is not None for value in arguments) or metric != data.metric:
        hint = "Pass the original data together with labels, ids, covariates and metric."
        raise InputError("data", "must be passed once", "data in normal form with further arguments", hint)
    return data


def _extract_ids(raw: UnpackedTable, ids: Any) -> tuple[UnpackedTable, pd.Index[Any] | None, bool]:
    """Return the row names (a column of the data, a vector, or the index of a frame), and the data without them."""
    if ids is None:
        return raw, raw.index, False
    if isinstance(ids, str | int):
        raw, column = _extract_column(raw, ids, "ids")
        return raw, as_ids(pd.Index(column), "ids"), True
    _check_not_transposed(raw, ids, "ids")
    index = as_ids(ids, "ids")
    if len(index) != len(raw.frame):
        received = f"{len(index)} ids for {len(raw.frame)} points"
        raise InputError("ids", "must be one per point of the data", received, "Pass one id per row, in their order.")
    return raw, index, True


def transposed(what: str, columns: int, rows: int) -> InputError:
    """Return the error for data whose columns are the points; ``what`` names the argument with as many values."""
    requirement = "must have a point in each row, not in each column"
    received = f"{rows} rows and {columns} columns, which are {what}"
    hint = "Pass data.T; of a file, pandas.read_csv(path, index_col=0).T."
    return InputError("data", requirement, received, hint)


def _check_not_transposed(raw: UnpackedTable, value: Any, argument: str) -> None:
    """Raise an error if an argument has a value per column of the data, not per row.

    This does not apply if the values of the argument have names of rows of the data.
    """
    n, p, names = len(raw.frame), len(raw.columns), getattr(value, "index", None)
    is_column = hasattr(value, "__len__") and kind_of(value) not in (*PATHS, Kind.TEXT, Kind.MAPPING)
    if n == p or p < MIN_TRANSPOSED or not is_column or len(value) != p:
        return
    if raw.index is None or not isinstance(names, pd.Index) or not raw.index.map(str).isin(names.map(str)).any():
        raise transposed(f"the rows of `{argument}`", p, n)


def _extract_column(raw: UnpackedTable, name: object, argument: str) -> tuple[UnpackedTable, pd.Series[Any]]:
    """Return a column by its name, removed from the features, or from obs."""
    if raw.extra is not None and (str(name) in set(map(str, raw.extra.columns)) or str(name) not in raw.columns):
        return raw, UnpackedTable(raw.extra).split_column(name, argument, "a column of obs")[0]
    column, remaining = raw.split_column(name, argument, "a column of the data")
    return remaining, column


def _columns_of(*variables: Any) -> dict[str, DataColumn]:
    """Return the columns of the data that are variables already, by name: another variable may be the same column."""
    return {str(variable.series.name): variable for variable in variables if isinstance(variable, DataColumn)}


def extract_variable(
    raw: UnpackedTable,
    value: Any,
    argument: str,
    other_names: Sequence[str] = (),
    used: Mapping[str, DataColumn] = MappingProxyType({}),
) -> tuple[UnpackedTable, Any]:
    """Return a variable that may be the name of a column; a column takes precedence over a file of the same name.

    ``other_names`` are the other names in the list; a file among them may have the column. ``used`` are columns that
    were removed from the data before.
    """
    if value is None and argument == "labels":
        value = raw.labels
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return raw, value
    if value in used:
        return raw, used[value]
    columns = {str(c) for table in (raw, raw.extra) if table is not None for c in table.columns}
    if value not in columns and kind_of(value) in PATHS:
        return raw, value
    if value not in columns:
        raise _unknown_column(value, raw, argument, other_names)
    raw, column = _extract_column(raw, value, argument)
    return raw, DataColumn(column)


def _unknown_column(value: str, raw: UnpackedTable, argument: str, other_names: Sequence[str]) -> UnknownName:
    """Return the error for a name that is neither a column nor a file; another file of the list may have this column.

    For AnnData the error suggests columns of obs, not one of its thousands of genes.
    """
    columns = sorted(map(str, raw.columns if raw.extra is None else raw.extra.columns))
    files = dict.fromkeys(split_member(name)[0] for name in other_names if kind_of(name) in PATHS)
    paths = [f"{file}:{value}" for file in files if has_column(file, value)]
    suggestion = paths[0] if paths else nearest_name(value, columns) or nearest_file(value)
    listed = ", ".join(columns[:10]) + (f" and {len(columns) - 10} more" if len(columns) > 10 else "")
    label = "Columns" if raw.extra is None else "Columns of obs"
    hint = (f"Did you mean {suggestion!r}? " if suggestion else "") + f"{label}: {listed or 'none'}."
    return UnknownName(argument, "must be a vector, a column of the data, or an existing file", repr(value), hint)


def _extract_covariates(
    raw: UnpackedTable, value: Any, argument: str, used: Mapping[str, DataColumn]
) -> tuple[UnpackedTable, Any, dict[str, str]]:
    """Return covariates that may be names of columns, and the types behind these names."""
    if isinstance(value, Mapping):
        by_name = dict(value)
        for name, text in value.items():
            if isinstance(text, str):
                raw, by_name[name] = extract_variable(raw, text, argument, used=used)
        return raw, by_name, {}
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
        return raw, value, {}
    names, kinds = zip(*(_split_type(text, raw, argument, used) for text in texts), strict=True)
    if len(names) == 1:
        raw, column = extract_variable(raw, names[0], argument, used=used)
        is_text = isinstance(column, str)
        name = split_member(names[0])[1] if is_text else names[0]
        return raw, column if is_text else {names[0]: column}, {str(name): kinds[0]} if kinds[0] else {}
    columns = []
    for name in names:
        raw, column = extract_variable(raw, name, argument, names, used)
        columns.append(column)
    short = [
        split_member(name)[1] or name if isinstance(column, str) else name
        for name, column in zip(names, columns, strict=True)
    ]
    covariate_names = [  # a column of a file has its own name if that is unique, else its path
        column if short.count(column) == 1 and column != "labels" else name
        for column, name in zip(short, names, strict=True)
    ]
    types = {name: kind for name, kind in zip(covariate_names, kinds, strict=True) if kind}
    return raw, dict(zip(covariate_names, columns, strict=True)), types


def _split_type(text: str, raw: UnpackedTable, argument: str, used: Collection[str]) -> tuple[str, str | None]:
    """Split "age:number" or "file.csv:batch_nr:class" into the name of the column and its type, if it has one.

    A column of this very name comes first, and "file.csv:number" is a column of the file.
    """
    head, colon, kind = text.rpartition(":")
    columns = {str(name) for table in (raw, raw.extra) if table is not None for name in table.columns} | {*used}
    path, member = split_member(text)
    if not colon or text in columns or path == head or os.path.exists(text):
        return text, None
    if member is not None and has_column(path, member):
        return text, None
    if kind in COVARIATE_TYPES:
        return head, kind
    file, column = split_member(head)
    if head in columns or (column is not None and has_column(file, column)):
        hint = f"{did_you_mean(kind, COVARIATE_TYPES)}Write {head}:number or {head}:class."
        raise UnknownName(argument, "must have the type 'number' or 'class' behind a column", repr(text), hint)
    return text, None


def _merged_types(named: Mapping[str, str], types: Any, argument: str) -> dict[str, str]:
    """Return types behind the names of covariates, merged with ``covariate_types``; a conflict raises an error."""
    if types is None:
        return {**named}
    if not isinstance(types, Mapping):
        hint = "Pass a dict of names to types, as {'batch_nr': 'class'}."
        raise InputError("covariate_types", "must be a dict of names of covariates to types", describe(types), hint)
    for name, kind in types.items():
        if named.get(str(name), kind) != kind:
            received = f"{str(name)!r} as {kind!r} and as {named[str(name)]!r}"
            raise InputError(argument, "must have one type each", received, "Give the type once.")
    return {**named, **{str(name): kind for name, kind in types.items()}}


def check_no_gaps(vector: LabelVector | None, notes: Notes, noun: str) -> None:
    """Raise if a point has no batch or no group; ``notes`` name texts that mean a missing value."""
    if vector is None or vector.has_label.all():
        return
    received = f"{int(np.count_nonzero(~vector.has_label))} points without a {noun}"
    hint = f"Give every point its {noun}, or drop these points."
    texts = [text for item in notes if item.code == "missing.text" for text in dict(item.values)["texts"]]
    if texts:
        received += f" (the text {', '.join(texts)} means a missing value)"
        hint += f" If a {noun} has this name, rename it."
    raise InputError("batch" if noun == "batch" else "groups", "must be complete", received, hint)


def check_groups(groups: LabelVector | None, labels: LabelVector | None) -> None:
    """Raise if there is one group, or if the groups are the classes."""
    if groups is None:
        return
    if len(groups.classes) < 2:
        hint = "Leave groups out, or name the group of each point."
        raise InputError("groups", "must be two or more", f"one group, {str(groups.classes[0])!r}", hint)
    if labels is None:
        return
    pairs = np.unique(np.c_[labels.codes, groups.codes], axis=0)
    if labels.has_label.all() and len(pairs) == len(labels.classes) == len(groups.classes):
        received = f"{len(groups.classes)} groups, each of which is one class"
        hint = "Pass what was sampled (donors, patients, documents) as groups, or leave them out."
        raise InputError("groups", "must not be the classes of {labels}", received, hint, labels="labels")


def _pair_notes(table: Any, pairs: bool) -> Notes:
    """Raise for a graph, rows of one, and lists; warn of symmetric features, unless they are passed on as ``pairs``."""
    n, p = table.shape
    if n < p and not isinstance(table, LazyTable):
        check_no_part_of_graph(table, "data")
    if n >= p and not (table.sparse if isinstance(table, LazyTable) else is_sparse(table)):
        check_no_lists(table, "data")
    if n != p:
        return ()
    top_rows = rows_of(table, slice(0, N_ROWS_CHECKED)) if isinstance(table, LazyTable) else table
    check_no_graph(top_rows, table.shape[0], "data")
    code = None if pairs else symmetric_kind(top_rows[:, : top_rows.shape[0]])
    if code is None:
        return ()
    warn(InputWarning(note(code)))
    return (note(code),)


def order_distances(raw: UnpackedTable, argument: str = "data") -> tuple[UnpackedTable, Notes]:
    """Return distances in memory with columns in the order of the rows, if both have the same names, and a note."""
    if isinstance(raw.matrix, LazyTable) and not raw.matrix.sparse:
        raw = replace(raw, frame=pd.DataFrame(raw.matrix.whole, columns=raw.columns), matrix=None)
    index = raw.reserve if raw.index is None else raw.index
    if index is None or not raw.named:
        return raw, ()
    rows, columns = pd.Index(index.map(str)), pd.Index(raw.columns.map(str))
    if list(rows) == list(columns) or not rows.isin(columns).any() or (raw.index is None and {*rows} != {*columns}):
        return raw, ()
    if len(rows) != len(columns) or not (rows.is_unique and columns.is_unique and rows.isin(columns).all()):
        received = f"{int(rows.isin(columns).sum())} of {len(rows)} names of rows among the {len(columns)} of columns"
        hint = "Give rows and columns the same names, or pass a plain array."
        raise InputError(argument, "must have the same names in rows and columns of distances", received, hint)
    frame = raw.frame.iloc[:, columns.get_indexer(rows)]
    return replace(raw, frame=frame), (note("distances.ordered"),)


def _check_features(
    raw: UnpackedTable, metric: str, *, may_coincide: bool = False
) -> tuple[Any, tuple[str, ...] | None, str, list[Note]]:
    """Return the features, finite and not all equal, their names and hash, and notes on them.

    With ``may_coincide`` all rows may be equal.
    """
    if metric == "neighbors":
        return _check_lists(raw)
    columns = tuple(str(name) for name in raw.columns) if raw.named else None
    if columns is not None and raw.extra is None:  # of AnnData several genes may have one symbol
        check_column_names(columns, "data")
    if raw.matrix is not None and metric == "precomputed":
        hint = "Pass a dense (n, n) array: missing entries would count as 0."
        raise InputError("data", "must hold all pairwise distances", "a sparse matrix", hint)
    if len(raw.columns) == 0:
        hint = "Leave at least one column that is neither label, id nor covariate."
        raise InputError("data", "must have features", "no column of numbers", hint)
    if metric == "gower":
        _check_row_count(len(raw.frame))
        coded, sha256, notes = mixed_table(raw.frame if raw.matrix is None else raw.matrix, raw.columns, "data")
        if not may_coincide and (np.nanmin(coded, axis=0) == np.nanmax(coded, axis=0)).all():
            raise _no_variation(len(coded))
        return coded, columns, sha256, notes
    numbers, hint = (frame_table, MIXED_HINT) if metric != "precomputed" else (frame_numbers, NOT_NUMERIC_HINT)
    table: Any = raw.matrix if raw.matrix is not None else numbers(raw.frame, "data", hint, "labels", "ids")
    boolean_notes = _truth_values(raw)
    n = table.shape[0]
    _check_row_count(n)
    if metric == "precomputed":
        check_finite(table, "data", columns)
        if (table == table[0]).all():
            raise _no_variation(n)
        table = check_distances(table, "data")
        check_magnitude(float(table.max()), "data")
        return table, columns, digest_of(table), describe_distances(table)
    sparse = table.sparse if isinstance(table, LazyTable) else is_sparse(table)
    summary = SparseTableSummary(table, columns) if sparse else TableSummary(table, columns)
    if summary.all_equal and not may_coincide:
        raise _no_variation(n)
    check_rows_for(metric, summary.empty_rows, summary.constant_rows, "data")
    check_magnitude(summary.largest, "data")
    if metric in ("euclidean", "geodesic") and summary.smallest <= EXACT_MAGNITUDE:
        check_spread(table.whole if isinstance(table, LazyTable) else table, "data")
    return table, columns, summary.sha256, [*summary.notes(), *boolean_notes, *direction_notes(table, metric, "data")]


def check_list_numbers(lists: Data, rows: IntArray | None, argument: str, other: str) -> None:
    """Raise unless the numbers in lists of neighbors count the rows of the lists, and not those of a table like them.

    ``rows`` are the row of the table ``other`` for each list, by their names; None for the same order. In two orders
    the numbers may count the rows of either. Points are not in their own lists, or first in them: where this holds for
    the rows of the lists, and not for those of the table, the numbers count the lists. Else ``argument`` is refused.
    """
    if rows is None or not lists.numbered:
        return
    as_passed = not any(item.code == "lists.self_behind" for item in lists.notes)
    points = np.flatnonzero(rows != np.arange(lists.n))
    if as_passed and lists.table[points, rows[points]].sum() > 0:
        return
    requirement = f"must have its rows in the order of {other}: numbers of neighbors may count the rows of either"
    hint = "Bring the table whose rows they do not count into the order of the other, as by frame.loc[other.index]."
    raise InputError(argument, requirement, "the same names in another order", hint)


def _check_row_count(n: int) -> None:
    """Check that data have enough rows."""
    if n < MIN_POINTS:
        hint = "Rows are points; transpose the array if columns are."
        raise InputError("data", f"must have at least {MIN_POINTS} rows", f"{n} rows", hint)


def _check_lists(raw: UnpackedTable, argument: str = "data") -> tuple[Any, None, str, list[Note]]:
    """Return the table of neighbor lists, no names of columns, its hash, and notes on what was recognized."""
    table: Any = raw.matrix
    notes: Notes = ()
    if raw.matrix is None:
        numbers = frame_numbers(raw.frame, argument, NOT_NUMERIC_HINT, "labels", "ids")
        table, notes = neighbor_lists(numbers, argument)
    elif isinstance(raw.matrix, LazyTable):
        table, notes = neighbor_lists(raw.matrix.whole, argument)
    return table, None, digest_of(table), [*notes]


def _truth_values(raw: UnpackedTable) -> list[Note]:
    """Return a note on columns of True and False next to columns of numbers: they may be classes."""
    if raw.matrix is None:
        are_boolean = [pd.api.types.infer_dtype(raw.frame.iloc[:, j]) == "boolean" for j in _not_floats(raw.frame)]
        positions = [j for j, is_boolean in zip(_not_floats(raw.frame), are_boolean, strict=True) if is_boolean]
    else:
        positions = raw.matrix.truth_values() if isinstance(raw.matrix, LazyTable) else []
    if not 0 < len(positions) < len(raw.columns):
        return []
    columns = tuple(repr(str(raw.columns[j])) for j in positions[:MAX_NAMED_COLUMNS])
    columns += ("...",) if len(positions) > MAX_NAMED_COLUMNS else ()
    return [note("data.truth_values", columns=columns, count=len(positions))]


def _not_floats(frame: pd.DataFrame) -> list[int]:
    """Return the positions of the columns whose type is not numeric by itself."""
    return [j for j, kind in enumerate(frame.dtypes) if not isinstance(kind, np.dtype) or kind.kind not in "iuf"]


def _no_variation(n: int) -> InputError:
    """Return the error for equal rows."""
    return InputError("data", "must vary", f"{n} rows that are all equal", "Check how the data were read.")
