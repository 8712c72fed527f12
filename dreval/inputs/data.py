"""The data in normal form: ``as_data`` checks any input once, and all later code reads the record."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import MIN_POINTS, SAFE, FloatArray, check_finite, check_spread, describe, did_you_mean, nearest_name
from dreval.errors import InputError, InputWarning, UnknownName, warn
from dreval.glossary import printable
from dreval.inputs._header import Header, Reading, check_header
from dreval.inputs.directions import direction_notes
from dreval.inputs.features import (
    MAX_NAMED,
    SparseSurvey,
    Survey,
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
from dreval.inputs.files import Raw, check_column_names, chosen_layer, has_column, is_path, unpack
from dreval.inputs.paths import nearest_file, split_member
from dreval.inputs.stored import FEATURES, Stored
from dreval.inputs.variables import (
    COVARIATE_TYPES,
    LabelVector,
    Rows,
    Taken,
    as_covariates,
    as_ids,
    as_label_vector,
    as_latent,
    check_lengths,
)
from dreval.records.notes import Note, Notes, note

MIN_TRANSPOSED = 10  # columns; smaller numbers of columns often equal that of other rows
FIRST = 1024  # rows of a table that is not in memory which are looked at


@dataclass(frozen=True, eq=False)
class Data:
    """Data in normal form.

    Attributes
    ----------
    table : ndarray, csr_array or Stored (n, p)
        Features: finite. A C-ordered array of float32 or float64, or a sparse matrix in normal form, is the caller's
        own; of a table that is not in memory rows are read when they are needed; everything else is a copy as float64.
        For precomputed distances the symmetric (n, n) matrix.
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
        The types ("number" or "class") that were given for covariates.
    name : str
        Name of the data.
    notes : tuple of Note
        Properties of the data and assumptions that matter for the results.
    latent : ndarray (n, q) or None
        True latent variables.
    obsm : mapping of str to array
        Embeddings that came with an AnnData object.
    reserve : pandas.Index or None
        Row names that only count the rows, if ``ids`` is None; used when other row names are numbers in another order.
    metric : str
        Distance in the data space, for which the data were checked.
    batch : LabelVector or None
        The batch of each point.
    header : "auto", bool or None
        Whether the first row of a text file has the names of the columns, for files of embeddings too.
    other_header : bool or None
        The other value of ``header`` by which the file of the data could be read; None if there is none.
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

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.table.shape[0])

    @property
    def X(self) -> Any:  # noqa: N802 (the name of the field)
        """The features as float64, in memory: an array, or a sparse matrix as it is."""
        table = self.table.whole if isinstance(self.table, Stored) else self.table
        return table if self.sparse else np.asarray(table, np.float64)

    @property
    def p(self) -> int | None:
        """Number of features; None for precomputed distances."""
        return None if self.metric == "precomputed" else int(self.table.shape[1])

    @property
    def n_labeled(self) -> int:
        """Number of points that have a label."""
        return 0 if self.labels is None else int(self.labels.known.sum())

    def variables(self) -> dict[str, npt.NDArray[Any] | None]:
        """What is known of the points, for measures: codes of labels, latent variables, codes of batches."""
        labels, batch = (None if one is None else one.codes for one in (self.labels, self.batch))
        return {"labels": labels, "latent": self.latent, "batch": batch}

    @property
    def sparse(self) -> bool:
        """Whether the features are a sparse matrix."""
        return self.table.sparse if isinstance(self.table, Stored) else is_sparse(self.table)

    def dense(self) -> FloatArray:
        """The features as a dense array; more than 8 GiB raises an error."""
        return densify(self.X, "data")[0] if self.sparse else self.X

    def dense_notes(self) -> Notes:
        """A note that ``dense`` made a sparse matrix dense."""
        n, p = self.table.shape
        return (note("data.dense", rows=n, columns=p),) if self.sparse else ()

    def owned(self) -> Data:
        """The data with numbers of their own, which no change of the caller's array reaches."""
        return replace(self, table=self.table.copy()) if self.sparse or isinstance(self.table, np.ndarray) else self

    def check_unchanged(self) -> None:
        """Refuse data whose numbers are no longer those that were read."""
        if digest_of(self.table) != self.sha256:
            rule, got = "must stay as they were when they were passed", "an array that has changed since"
            raise InputError("data", rule, got, "Pass a copy, or make a new Evaluation of the changed data.")

    def __repr__(self) -> str:
        extra = "" if self.labels is None else f", {len(self.labels.classes)} classes"
        what = "distances" if self.p is None else f"{self.p} features"
        return f"Data({printable(self.name)}: {self.n} points, {what}{extra})"


def as_data(
    data: Any,
    *,
    labels: Any = None,
    latent: Any = None,
    batch: Any = None,
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
    covariates : dict, DataFrame, str or list of str, optional
        Other variables, by name; strings name columns of the data (or of ``obs``), columns of files
        (``["a.csv:x", "a.csv:y"]``) or a whole file. A named column of the data is not a feature. Numbers are numbers,
        integers too; text, booleans and categories are classes. The name of a column may end in its type, as
        ``"age:number"`` or ``"a.csv:batch_nr:class"``.
    covariate_types : dict of str to {"number", "class"}, optional
        Types of covariates by name, which decide otherwise. Integers with at most 20 different values that repeat may
        be codes of classes: a note names them.
    ids : array-like or str, optional
        Names of the rows, or the column that holds them. Embeddings and variables with ids or row names are matched by
        them, except by row names that only count.
    name : str, optional
        Name of the data in tables; by default the file's or data set's name, else ``"data"``.
    layer : str, optional
        Which matrix of an AnnData object is used in place of ``X``: a layer, or "raw" (``raw.X``). Of a file it can
        also be named behind the path: ``"cells.h5ad:counts"``.
    use_rep : str, optional
        The key of ``obsm`` whose array is used in place of ``X``, as "X_pca"; of a file also
        ``"cells.h5ad:obsm:X_pca"``.
    metric : str
        One of ``dreval.glossary.METRICS``, the distance in the data space. "precomputed": the data are the
        symmetric (n, n) matrix of distances; the columns of a frame are matched to its rows by name.
    header : "auto", bool or None
        Whether the first row of each text file has the names of the columns. "auto" decides it for each file
        (``dreval.inputs._header.first_row`` states the rule), and a note reports names that are numbers. None is "auto"
        for callers that offer no ``header``: notes advise them to read the file otherwise.
    covariates_name : str
        What the caller calls ``covariates``, for errors and notes.
    pairs : bool
        Whether the caller passes the matrix to what reads distances or a kernel, so that it is not taken as features.

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
    if only one side has names. Names of which only a part, or none, is on the other side are refused; variables may
    have more rows than the data, if they have all names of the data. A named column of a file holds the names of its
    rows if it has the names of the data, or else a different text in every row.

    Time and memory O(n p), of a sparse matrix linear in its entries and columns: it stays sparse, except that
    "correlation", which moves every row off zero, makes it dense (up to 8 GiB). Repeated rows are found by hashing.

    Examples
    --------
    >>> import pandas as pd
    >>> from dreval.inputs.data import as_data
    >>> frame = pd.DataFrame({"x": [0.0, 1, 2, 4], "y": [1, 0, 1, 0], "kind": list("abab")})
    >>> record = as_data(frame, labels="kind")
    >>> record.columns, record.X.shape, record.labels.classes.tolist()
    (('x', 'y'), (4, 2), ['a', 'b'])
    """
    layer = chosen_layer(layer, use_rep)
    header = None if header is None else check_header(header)
    if isinstance(data, Data):
        same = _as_is(data, metric, labels, latent, batch, covariates, covariate_types, ids, name, layer)
        return same if header is None else replace(same, header=header)
    raw = unpack(data, "data", layer, sparse=metric != "correlation", reading=Reading(header))
    raw, index, given = _take_ids(raw, ids)
    if index is not None and not given:
        check_lengths(index, "ids")
    reserve = raw.reserve if index is None else None
    for argument, value in {"labels": labels, "batch": batch, "latent": latent}.items():
        _check_not_transposed(raw, value, argument)
    rows = Rows(len(raw.frame), index, given, reserve, header, raw.other_header)
    raw, labels = _take_named(raw, labels, "labels")
    raw, batch = _take_named(raw, batch, "batch", taken=_columns_of(labels))
    raw, covariates, named_types = _take_covariates(raw, covariates, covariates_name, _columns_of(labels, batch))
    types = _merged_types(named_types, covariate_types, covariates_name)
    raw = raw.meant("data", "the ids, the labels or another variable")
    vector, label_notes = (None, ()) if labels is None else as_label_vector(labels, rows)
    batches, batch_notes = (None, ()) if batch is None else as_label_vector(batch, rows, "batch")
    if batches is not None and not batches.known.all():
        got = f"{int(np.count_nonzero(~batches.known))} points without a batch"
        texts = [text for one in batch_notes if one.code == "missing.text" for text in dict(one.values)["texts"]]
        got += f" (the text {', '.join(texts)} stands for a missing value)" if texts else ""
        cure = "Give every point its batch, or drop these points."
        cure += " A batch of that name needs another one." if texts else ""
        raise InputError("batch", "must be complete", got, cure)
    if covariates is None and types:
        raise InputError("covariate_types", "must be left out without covariates", describe(types), "Pass covariates.")
    others, other_notes = ({}, ()) if covariates is None else as_covariates(covariates, rows, covariates_name, types)
    if vector is not None and "labels" in others:
        cure = "Give the covariate another name."
        raise InputError(covariates_name, "must not use the name of the labels", "one called 'labels'", cure)
    latent = raw.latent if latent is None else latent
    true, latent_notes = (None, ()) if latent is None else as_latent(latent, rows)
    if metric == "precomputed" and isinstance(raw.matrix, Stored) and not raw.matrix.sparse:
        raw = replace(raw, frame=pd.DataFrame(raw.matrix.whole, columns=raw.columns), matrix=None)
    raw, square_notes = _square(raw) if metric == "precomputed" else (raw, ())
    table, columns, sha256, described = _features(raw, metric)
    if metric != "precomputed" and table.shape[0] == table.shape[1]:
        some = rows_of(table, slice(0, FIRST)) if isinstance(table, Stored) else table
        check_no_graph(some, table.shape[0], "data")
        if not pairs and (code := symmetric_kind(some[:, : some.shape[0]])) is not None:
            like = note(code)
            warn(InputWarning(like))
            square_notes = (like,)
    known_notes = (*label_notes, *batch_notes, *other_notes, *latent_notes)
    notes = (*raw.notes, *known_notes, *square_notes, *described)
    known = (index, vector, others, name or raw.name, notes, true, raw.obsm, given, reserve, metric, batches)
    return Data(table, sha256, columns, *known, types, header, raw.other_header)


def _as_is(data: Data, metric: str, *others: Any) -> Data:
    """Data in normal form, unchanged."""
    if any(value is not None for value in others) or metric != data.metric:
        cure = "Pass the original data together with labels, ids, covariates and metric."
        raise InputError("data", "must be passed once", "data in normal form with further arguments", cure)
    return data


def _take_ids(raw: Raw, ids: Any) -> tuple[Raw, pd.Index[Any] | None, bool]:
    """The row names: a column of the data, a vector, or the index of a frame."""
    if ids is None:
        return raw, raw.index, False
    if isinstance(ids, str | int):
        raw, column = _take(raw, ids, "ids")
        return raw, as_ids(pd.Index(column), "ids"), True
    _check_not_transposed(raw, ids, "ids")
    index = as_ids(ids, "ids")
    if len(index) != len(raw.frame):
        got = f"{len(index)} ids for {len(raw.frame)} points"
        raise InputError("ids", "must be one per point of the data", got, "Pass one id per row, in their order.")
    return raw, index, True


def transposed(what: str, columns: int, rows: int) -> InputError:
    """Return the error for data whose columns are the points: ``what`` of another argument."""
    rule = "must have a point in each row, not in each column"
    got = f"{rows} rows and {columns} columns, which are {what}"
    how = "Pass data.T; of a file, pandas.read_csv(path, index_col=0).T."
    return InputError("data", rule, got, how)


def _check_not_transposed(raw: Raw, value: Any, argument: str) -> None:
    """Refuse data with as many columns, but not rows, as an argument has values, unless these name its rows."""
    n, p, names = len(raw.frame), len(raw.columns), getattr(value, "index", None)
    if (
        n == p
        or p < MIN_TRANSPOSED
        or isinstance(value, str | dict)
        or not hasattr(value, "__len__")
        or len(value) != p
    ):
        return
    if raw.index is None or not isinstance(names, pd.Index) or not raw.index.map(str).isin(names.map(str)).any():
        raise transposed(f"the rows of `{argument}`", p, n)


def _take(raw: Raw, name: object, argument: str) -> tuple[Raw, pd.Series[Any]]:
    """A column by its name, removed from the features, or from obs."""
    if raw.extra is not None and (str(name) in set(map(str, raw.extra.columns)) or str(name) not in raw.columns):
        return raw, Raw(raw.extra).taken(name, argument, "a column of obs")[0]
    column, left = raw.taken(name, argument, "a column of the data")
    return left, column


def _columns_of(*variables: Any) -> dict[str, Taken]:
    """Columns of the data that are variables already, by name: another variable may be the same one."""
    return {str(one.series.name): one for one in variables if isinstance(one, Taken)}


def _take_named(
    raw: Raw, value: Any, argument: str, others: Sequence[str] = (), taken: Mapping[str, Taken] = MappingProxyType({})
) -> tuple[Raw, Any]:
    """A variable that may be the name of a column; a column takes precedence over a file of the same name.

    ``others`` are the other names in the list; a file among them may have the column. ``taken`` are columns that left
    the data before.
    """
    if value is None and argument == "labels":
        value = raw.labels
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return raw, value
    if value in taken:
        return raw, taken[value]
    columns = {str(c) for table in (raw, raw.extra) if table is not None for c in table.columns}
    if value not in columns and is_path(value):
        return raw, value
    if value not in columns:
        raise _unknown_column(value, raw, argument, others)
    raw, column = _take(raw, value, argument)
    return raw, Taken(column)


def _unknown_column(value: str, raw: Raw, argument: str, others: Sequence[str]) -> UnknownName:
    """The error for a name that is neither a column nor a file; another file of the list may have such a column.

    Of an AnnData the columns of obs are meant, seldom one of its thousands of genes.
    """
    columns = sorted(map(str, raw.columns if raw.extra is None else raw.extra.columns))
    files = dict.fromkeys(split_member(one)[0] for one in others if is_path(one))
    found = [f"{file}:{value}" for file in files if has_column(file, value)]
    near = found[0] if found else nearest_name(value, columns) or nearest_file(value)
    listed = ", ".join(columns[:10]) + (f" and {len(columns) - 10} more" if len(columns) > 10 else "")
    which = "Columns" if raw.extra is None else "Columns of obs"
    cure = (f"Did you mean {near!r}? " if near else "") + f"{which}: {listed or 'none'}."
    return UnknownName(argument, "must be a vector, a column of the data, or an existing file", repr(value), cure)


def _take_covariates(
    raw: Raw, value: Any, argument: str, taken: Mapping[str, Taken]
) -> tuple[Raw, Any, dict[str, str]]:
    """Covariates that may be names of columns, and the types behind these names."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
        return raw, value, {}
    names, kinds = zip(*(_split_type(text, raw, argument, taken) for text in texts), strict=True)
    if len(names) == 1:
        raw, column = _take_named(raw, names[0], argument, taken=taken)
        is_text = isinstance(column, str)
        name = split_member(names[0])[1] if is_text else names[0]
        return raw, column if is_text else {names[0]: column}, {str(name): kinds[0]} if kinds[0] else {}
    found = []
    for name in names:
        raw, column = _take_named(raw, name, argument, names, taken)
        found.append(column)
    called = _called(names, found)
    types = {name: kind for name, kind in zip(called, kinds, strict=True) if kind}
    return raw, dict(zip(called, found, strict=True)), types


def _split_type(text: str, raw: Raw, argument: str, taken: Collection[str]) -> tuple[str, str | None]:
    """Split "age:number" or "file.csv:batch_nr:class" into the name of the column and its type, if it has one.

    A column of this very name comes first, and "file.csv:number" is a column of the file.
    """
    head, colon, kind = text.rpartition(":")
    columns = {str(name) for table in (raw, raw.extra) if table is not None for name in table.columns} | {*taken}
    path, member = split_member(text)
    if not colon or text in columns or path == head or os.path.exists(text):
        return text, None
    if member is not None and has_column(path, member):
        return text, None
    if kind in COVARIATE_TYPES:
        return head, kind
    file, column = split_member(head)
    if head in columns or (column is not None and has_column(file, column)):
        cure = f"{did_you_mean(kind, COVARIATE_TYPES)}Write {head}:number or {head}:class."
        raise UnknownName(argument, "must have the type 'number' or 'class' behind a column", repr(text), cure)
    return text, None


def _merged_types(named: Mapping[str, str], given: Any, argument: str) -> dict[str, str]:
    """Types behind the names of covariates together with ``covariate_types``; two types of one raise an error."""
    if given is None:
        return {**named}
    if not isinstance(given, Mapping):
        cure = "Pass a dict of names to types, as {'batch_nr': 'class'}."
        raise InputError("covariate_types", "must be a dict of names of covariates to types", describe(given), cure)
    for name, kind in given.items():
        if named.get(str(name), kind) != kind:
            got = f"{str(name)!r} as {kind!r} and as {named[str(name)]!r}"
            raise InputError(argument, "must have one type each", got, "Give the type once.")
    return {**named, **{str(name): kind for name, kind in given.items()}}


def _called(names: Sequence[str], found: Sequence[Any]) -> list[str]:
    """Names of covariates: a column of a file has its own name if that is unique, else its path."""
    pairs = list(zip(names, found, strict=True))
    own = [split_member(name)[1] or name if isinstance(one, str) else name for name, one in pairs]
    return [one if own.count(one) == 1 and one != "labels" else name for one, name in zip(own, names, strict=True)]


def _square(raw: Raw) -> tuple[Raw, Notes]:
    """A frame of distances with its columns in the order of its rows, if both have the same names; and a note."""
    index = raw.reserve if raw.index is None else raw.index
    if index is None or not raw.named:
        return raw, ()
    rows, columns = pd.Index(index.map(str)), pd.Index(raw.columns.map(str))
    if list(rows) == list(columns) or not rows.isin(columns).any() or (raw.index is None and {*rows} != {*columns}):
        return raw, ()
    if len(rows) != len(columns) or not (rows.is_unique and columns.is_unique and rows.isin(columns).all()):
        got = f"{int(rows.isin(columns).sum())} of {len(rows)} names of rows among the {len(columns)} of columns"
        cure = "Give rows and columns the same names, or pass a plain array."
        raise InputError("data", "must have the same names in rows and columns of distances", got, cure)
    frame = raw.frame.iloc[:, columns.get_indexer(rows)]
    return replace(raw, frame=frame), (note("distances.ordered"),)


def _features(raw: Raw, metric: str) -> tuple[Any, tuple[str, ...] | None, str, list[Note]]:
    """The features, finite and not all equal, their names and hash, and notes on them."""
    columns = tuple(str(name) for name in raw.columns) if raw.named else None
    if columns is not None and raw.extra is None:  # of AnnData several genes may have one symbol
        check_column_names(columns, "data")
    if raw.matrix is not None and metric == "precomputed":
        cure = "Pass a dense (n, n) array: missing entries would count as 0."
        raise InputError("data", "must hold all pairwise distances", "a sparse matrix", cure)
    if len(raw.columns) == 0:
        cure = "Leave at least one column that is neither label, id nor covariate."
        raise InputError("data", "must have features", "no column of numbers", cure)
    numbers = frame_numbers if metric == "precomputed" else frame_table
    table: Any = raw.matrix if raw.matrix is not None else numbers(raw.frame, "data", FEATURES, "labels", "ids")
    truths = _truth_values(raw)
    n = table.shape[0]
    if n < MIN_POINTS:
        cure = "Rows are points; transpose the array if columns are."
        raise InputError("data", f"must have at least {MIN_POINTS} rows", f"{n} rows", cure)
    if metric == "precomputed":
        check_finite(table, "data", columns)
        if (table == table[0]).all():
            raise _not_varying(n)
        table = check_distances(table, "data")
        return table, columns, digest_of(table), describe_distances(table)
    sparse = table.sparse if isinstance(table, Stored) else is_sparse(table)
    found = SparseSurvey(table, columns) if sparse else Survey(table, columns)
    if found.all_equal:
        raise _not_varying(n)
    check_rows_for(metric, found.empty_rows, found.constant_rows, "data")
    if metric == "euclidean" and found.smallest <= found.largest * SAFE:
        check_spread(table.whole if isinstance(table, Stored) else table, "data")
    return table, columns, found.sha256, [*found.notes(), *truths, *direction_notes(table, metric, "data")]


def _truth_values(raw: Raw) -> list[Note]:
    """Return a note on columns of True and False next to columns of numbers, which may be classes."""
    if raw.matrix is None:
        truths = [pd.api.types.infer_dtype(raw.frame.iloc[:, j]) == "boolean" for j in _not_floats(raw.frame)]
        places = [j for j, truth in zip(_not_floats(raw.frame), truths, strict=True) if truth]
    else:
        places = raw.matrix.truth_values() if isinstance(raw.matrix, Stored) else []
    if not 0 < len(places) < len(raw.columns):
        return []
    columns = tuple(repr(str(raw.columns[j])) for j in places[:MAX_NAMED])
    columns += ("...",) if len(places) > MAX_NAMED else ()
    return [note("data.truth_values", columns=columns, count=len(places))]


def _not_floats(frame: pd.DataFrame) -> list[int]:
    """Return the positions of the columns whose type does not say that they hold numbers."""
    return [j for j, kind in enumerate(frame.dtypes) if not isinstance(kind, np.dtype) or kind.kind not in "iuf"]


def _not_varying(n: int) -> InputError:
    """The error for equal rows."""
    return InputError("data", "must vary", f"{n} rows that are all equal", "Check how the data were read.")
