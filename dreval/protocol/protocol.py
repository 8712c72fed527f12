"""The protocol: re-runs of a tool outside Python, exchanged with it by files in two rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from dreval._check import check_bool, check_path, check_random_state, describe, keywords_checked
from dreval._random import root_seed
from dreval.errors import InputError, ProtocolError
from dreval.geometry.transformations import transform_count
from dreval.inputs._text import warn_of_first_rows
from dreval.inputs.data import Data, as_data
from dreval.inputs.recording import RecordedSource
from dreval.measures.tractable_consistency import tractable_consistency
from dreval.protocol import folder as folders
from dreval.protocol.returned import ProtocolStatus, copied_note, rounded_note, status_of
from dreval.protocol.rounds import embedding_of, first_round, put_embedding, record, second_round
from dreval.records.notes import note


@keywords_checked
class Protocol:
    """Files for a tool outside Python, so that measures that re-run a method can be computed for it.

    ``trustability`` and ``tractable_consistency`` re-run a method on other data. For a tool in R, or any other program,
    these data are written to a folder, the tool writes its embeddings there, and ``Protocol.collect`` makes a source of
    them. There are two rounds, because the transformed data are made from the tool's own embedding:

    1. ``export(folder)`` writes the data, the run at full dimension (d = p), and runs with other seeds;
    2. once the embedding of the data has been returned, a second ``export(folder)`` writes the transformed data;
    3. ``collect(folder)`` checks every file and returns the source.

    Parameters
    ----------
    data : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        The data; rows are points.
    n_components : int, optional
        Number d of dimensions of the embedding; 2 by default.
    transformation, amplitude, n_transformations, kernel, n_replicates
        As in ``tractable_consistency``, with its defaults: ``"perturbation"``, 0.5, 200, ``"gaussian"``, 5. Use
        ``n_replicates=0`` for a tool that has no seed.
        With ``n_transformations=0`` there is no second round.
    noise : int, optional
        Number of null data sets for ``noise_test``, as 99; none by default. Independent columns unless ``null`` says
        "gaussian".
    null : {"columns", "gaussian"}, optional
        The null data.
    seeds, halves : int, optional
        Numbers of runs with other seeds, and on random halves of the points, for ``stability``; none by default.
    labels : str, optional
        Column of the data that is not a feature. It is not exported.
    ids : (n,) array or column name, optional
        Row names. They are the first column of every table, and returned rows are matched by them. By default the rows
        are numbered.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``.
    random_state : int, Generator or None, default None
        Seed of the tool and of the choice of transformations: the draws are those of ``tractable_consistency``
        with the same seed. None draws one, which is kept in the folder.

    Raises
    ------
    DrevalError
        If the data or a setting are invalid.

    Notes
    -----
    There are ``n_transformations + n_replicates + noise + 1 + seeds + halves + 2`` runs, each with an input file of n
    rows (halves: n / 2) and p columns; runs on the same data share one. O(n p) time and space on disk for each file.

    See Also
    --------
    noise_test, stability : Their runs are those of ``noise``, ``seeds`` and ``halves``, in the first round.
    trustability : Its value needs the first round.
    tractable_consistency : Its value needs both rounds.
    Evaluation : Evaluates the embedding of the data that a tool returned.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Definitions 3 to 5.

    Examples
    --------
    A function that reads and writes files stands in for the tool:

    >>> import pathlib, tempfile, numpy as np, pandas as pd, dreval
    >>> def tool(folder):
    ...     for task in pd.read_csv(folder / "tasks.csv").itertuples():
    ...         X = pd.read_csv(folder / task.input, index_col="id")
    ...         (folder / "returned").mkdir(exist_ok=True)
    ...         X.iloc[:, : task.n_components].to_csv(folder / task.output)
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> protocol = dreval.Protocol(X, n_transformations=6, random_state=0)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = pathlib.Path(place, "mytool")
    ...     for _ in range(2):
    ...         status = protocol.export(folder)
    ...         tool(folder)
    ...     source = dreval.Protocol.collect(folder)
    >>> status
    ProtocolStatus(round 2 of 2: 7 of 13 files returned)
    >>> round(float(dreval.trustability(X, source)), 12)
    0.0
    >>> found = dreval.tractable_consistency(X, source)
    >>> round(float(found), 3), found.parts["tried"], found.parts["failed"]
    (0.003, 6, 0)
    """

    def __init__(
        self,
        data: Any,
        n_components: int | None = None,
        *,
        transformation: str | None = None,
        amplitude: float | None = None,
        n_transformations: int | str | None = None,
        kernel: str | None = None,
        n_replicates: int | None = None,
        noise: int | None = None,
        null: str | None = None,
        seeds: int | None = None,
        halves: int | None = None,
        labels: Any = None,
        ids: Any = None,
        header: bool | Literal["auto"] = "auto",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.data: Data = as_data(data, labels=labels, ids=ids, header=header).owned()
        warn_of_first_rows(self.data.notes)
        given = {"n_components": n_components, "transformation": transformation, "amplitude": amplitude}
        given |= {"n_transformations": n_transformations, "kernel": kernel, "n_replicates": n_replicates}
        given |= {"noise": noise, "null": null, "seeds": seeds, "halves": halves}
        self._settings_passed = {key: value for key, value in given.items() if value is not None}
        further = {"noise": 0, "null": "columns", "seeds": 0, "halves": 0}
        chosen = {**tractable_consistency.card.parameters, **further, **self._settings_passed}
        self.settings = folders.check_settings(chosen, self.data.n)  # now, so that none fails in the second round
        if null is not None and not self.settings["noise"]:
            raise InputError("null", "must come with a number of noise= data sets", repr(null), "Pass noise=99.")
        if self.settings["noise"] and self.settings["null"] == "columns" and self.data.p == 1:
            cure = "Pass null='gaussian', or leave noise out."
            got = "one, whose rows would be permuted"
            raise InputError("data", "must have two columns or more for null='columns' of noise=", got, cure)
        if chosen["n_transformations"] != 0:
            transform_count(chosen["n_transformations"], self.data.n, self.data.p)
        self._random_state = check_random_state(random_state)
        self.seed = root_seed(self._random_state)
        if self.seed >= folders.LARGEST_SEED:
            rule = "must be below 2**63, so that tools outside Python can have it"
            raise InputError("random_state", rule, describe(self.seed), "Pass an integer such as 0.")

    def __repr__(self) -> str:
        return f"Protocol({self.data!r}, n_components={self.settings['n_components']}, random_state={self.seed})"

    def export(
        self,
        folder: str | Path,
        *,
        format: str | None = None,  # noqa: A002 - the name of the option of the command line
        embedding: Any = None,
    ) -> ProtocolStatus:
        """Write the input files of the next round.

        A new or empty folder gets round 1. A folder with the returned embedding ``returned/data`` gets round 2; without
        it, or if round 2 exists already, nothing is written. Returned files are never overwritten. The settings of the
        first export are kept: they need not be repeated, and different ones raise an error.

        A folder whose export was interrupted, or whose manifest was damaged, is completed: pass the same data, settings
        and ``random_state``. Returned files are kept where they belong to these, else an error is raised.

        Parameters
        ----------
        folder : path
            The folder; it is created if it does not exist.
        format : {"csv", "parquet"}, optional
            Format of all tables, returned ones included; CSV by default. Both keep every bit of a number. The second
            round has the format of the first.
        embedding : (n, d) array, DataFrame or path, optional
            The embedding of the data, if it exists already; it is written as ``returned/data``, and both rounds are
            exported at once.

        Returns
        -------
        ProtocolStatus
            The tasks and their states; ``print`` says what to do next.

        Raises
        ------
        InputError
            If the embedding does not fit the data, or has another number of columns than ``n_components``.
        ProtocolError
            If the folder has other content, was exported from other data or with other settings, was altered, or has a
            returned file that cannot be used; the file is named.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> protocol = dreval.Protocol(X, n_transformations=4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     protocol.export(f"{folder}/tool")
        ProtocolStatus(round 1 of 2: 0 of 7 files returned)
        """
        place = check_path(folder, "folder")
        try:
            known = folders.read_manifest(place) if folders.place_in(place, folders.MANIFEST).exists() else None
        except folders.DamagedManifest:
            known = None  # its tasks are made once more, and must agree with what was returned
        if known is not None:
            self._check_same(place, known, format)
        columns = self.settings["n_components"] if known is None else known.n_components
        Y = None if embedding is None else embedding_of(embedding, self.data, columns)
        now = known
        if now is None:
            form = folders.check_format("csv" if format is None else format)
            now = first_round(place, self.data, self.settings, self.seed, form)
        if Y is not None:
            put_embedding(place, now, Y)
        if now.round < now.rounds and folders.place_in(place, now.tasks[0].output).is_file():
            now = second_round(place, now, self.data.X)
        if now is not known:  # the manifest comes last, so that what was interrupted is repeated
            folders.write_texts(place, now)
            now.write(place)
        return status_of(place, now)

    @staticmethod
    def status(folder: str | Path) -> ProtocolStatus:
        """The state of every file of a folder, and what to do next; nothing is written.

        Parameters
        ----------
        folder : path
            A folder that ``export`` has written.

        Returns
        -------
        ProtocolStatus
            Which files are returned, missing or wrong.

        Raises
        ------
        ProtocolError
            If the folder has no manifest, or an altered one.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> protocol = dreval.Protocol(X, n_transformations=4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exported = protocol.export(f"{folder}/tool", embedding=X[:, :2])
        ...     dreval.Protocol.status(f"{folder}/tool")
        ProtocolStatus(round 2 of 2: 1 of 11 files returned)
        """
        place = check_path(folder, "folder")
        return status_of(place, folders.read_manifest(place))

    @staticmethod
    def collect(folder: str | Path, *, partial: bool = False, name: str | None = None) -> RecordedSource:
        """Check every file against the manifest and make a source of the returned embeddings.

        Parameters
        ----------
        folder : path
            The folder.
        partial : bool, default False
            By default a missing file raises an error, because the maximum over fewer runs is smaller. With True missing
            runs count as failed, and the measures report how many. Files that are wrong always raise an error, and the
            embedding of the data is always required.
        name : str, optional
            Name of the tool; by default that of the folder.

        Returns
        -------
        Source
            For ``trustability``, ``tractable_consistency``, ``noise_test``, ``stability`` and ``Evaluation``, with the
            data that were exported (``source.data``), and ``notes`` on embeddings that are missing, look rounded, or
            equal that of the data. The settings and the seed are those of the export; different ones raise an error.

        Raises
        ------
        ProtocolError
            If a file is missing, was altered, or has wrong rows, columns, ids or numbers; the file is named.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> protocol = dreval.Protocol(X, n_transformations=4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exported = protocol.export(f"{folder}/tool", embedding=X[:, :2])
        ...     source = dreval.Protocol.collect(f"{folder}/tool", partial=True)
        >>> source
        RecordedSource('tool': 1 of 11 runs on 30 points, 3 columns)
        """
        place = check_path(folder, "folder")
        check_bool(partial, "partial")
        recording = record(place, folders.read_manifest(place), partial)
        lost = [run.file for run in recording.runs if run.values is None]
        notes = (note("protocol.missing", count=len(lost), runs=len(recording.runs), first=lost[0]),) if lost else ()
        notes += (*rounded_note(recording.runs), *copied_note(recording.runs))
        return RecordedSource(name or place.resolve().name, recording, notes=notes)

    def _check_same(self, place: Path, manifest: folders.Manifest, form: str | None) -> None:
        """Raise an error for a folder of other data, or with other settings than those passed."""
        cure = "Name the folder of these data and settings, or a new one."
        file = str(place / folders.MANIFEST)
        if folders.exported_data(place, manifest).X.tobytes() != self.data.X.tobytes():
            raise ProtocolError(file, "must be of the data that are passed", "a protocol of other data", cure)
        asked = dict(self._settings_passed)
        known = {**manifest.settings, "format": manifest.format, "random_state": manifest.random_state}
        asked |= {} if form is None else {"format": form}
        asked |= {} if self._random_state is None else {"random_state": self.seed}
        for key, value in asked.items():
            if value != known[key]:
                rule = f"must be of the {key} that is passed ({describe(value)})"
                raise ProtocolError(file, rule, describe(known[key]), cure)
