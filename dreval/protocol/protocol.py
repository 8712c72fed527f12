"""The protocol: what only a method can answer, asked of tools outside Python by way of files, in two rounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dreval._check import check_bool, check_int, check_one_of, check_path, check_random_state, describe
from dreval._random import root_seed
from dreval.errors import ProtocolError
from dreval.geometry.kernels import RADIAL_KERNELS
from dreval.geometry.transformations import TRANSFORMATIONS, check_amplitude, transform_count
from dreval.inputs.data import Data, as_data
from dreval.inputs.recording import RecordedSource
from dreval.measures.tractable_consistency import tractable_consistency
from dreval.protocol import folder as folders
from dreval.protocol.returned import ProtocolStatus, copied_note, rounded_note, status_of
from dreval.protocol.rounds import embedding_of, first_round, put_embedding, record, second_round

__all__ = ["Protocol"]


class Protocol:
    """Data and settings of the method measures, ready to be carried to a tool outside Python and back.

    The trustability and the tractable consistency measure run a method again on other data. For a tool in R, or any
    other program, these data are written to a folder, the tool writes its embeddings there, and ``Protocol.collect``
    makes a source of them. There are two rounds, because the transformed data are made from the tool's own embedding:

    1. ``export(folder)`` writes the data, the run at full dimension (d = p), and runs with other seeds;
    2. when the embedding of the data has come back, ``export(folder)`` again writes the transformed data;
    3. ``collect(folder)`` checks every file and gives the source.

    Parameters
    ----------
    data : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        The data; rows are points.
    n_components : int, optional
        Number d of dimensions of the embedding; 2 by default.
    transformation, amplitude, n_transformations, kernel, n_reseeds
        As in ``tractable_consistency``, with its defaults: ``"perturbation"``, 0.5, 200, ``"gaussian"``, 5. Use
        ``n_reseeds=0`` for a tool that has no seed.
    labels : str, optional
        Column of the data that is no feature. It is not exported.
    ids : (n,) array or column name, optional
        Names of the points. They are written in front of every table, and rows that come back in another order are
        matched by them. Without them the rows are numbered.
    random_state : int, Generator or None, default None
        Seed of the tool and of the choice of transformations: the draws are those of ``tractable_consistency``
        with the same seed. None draws one; a folder keeps its seed.

    Raises
    ------
    DrevalError
        If data or a setting are not what they must be.

    Notes
    -----
    There are ``n_transformations + n_reseeds + 2`` runs, each with an input file of n rows and p columns (runs on the
    same data share theirs): O(n p n_transformations) time and space on disk.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Definitions 3 to 5.

    Examples
    --------
    A tool outside Python, played by a function that sees files only:

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
        n_reseeds: int | None = None,
        labels: Any = None,
        ids: Any = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.data: Data = as_data(data, labels=labels, ids=ids)
        given = {"n_components": n_components, "transformation": transformation, "amplitude": amplitude}
        given |= {"n_transformations": n_transformations, "kernel": kernel, "n_reseeds": n_reseeds}
        self._given = {key: value for key, value in given.items() if value is not None}
        self.settings = self._checked({**tractable_consistency.card.parameters, **self._given})
        self._asked = check_random_state(random_state)
        self.seed = root_seed(self._asked)

    def _checked(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, which would else fail in the second round."""
        transform_count(chosen["n_transformations"], self.data.n, self.data.p)
        return {
            "n_components": check_int(chosen["n_components"], "n_components", low=1, high=self.data.n),
            "transformation": check_one_of(chosen["transformation"], TRANSFORMATIONS, "transformation"),
            "amplitude": check_amplitude(chosen["amplitude"]),
            "n_transformations": chosen["n_transformations"],
            "kernel": check_one_of(chosen["kernel"], RADIAL_KERNELS, "kernel"),
            "n_reseeds": check_int(chosen["n_reseeds"], "n_reseeds", low=0),
        }

    def __repr__(self) -> str:
        return f"Protocol({self.data!r}, n_components={self.settings['n_components']}, random_state={self.seed})"

    def export(
        self,
        folder: str | Path,
        *,
        format: str | None = None,  # noqa: A002 - the word of the command line
        embedding: Any = None,
    ) -> ProtocolStatus:
        """Write what the tool is to be run on next.

        Into a new or empty folder goes round 1. Into a folder where ``returned/data`` has come back goes round 2; where
        it has not, and where round 2 is already there, nothing is written. What has come back is never overwritten. The
        settings of the first export hold: they need not be repeated, and other ones are refused.

        Parameters
        ----------
        folder : path
            The folder; it is made where there is none.
        format : {"csv", "parquet"}, optional
            Format of all tables, those that come back included; CSV by default. Both keep every bit of a number.
            The second round has the format of the first.
        embedding : (n, d) array, DataFrame or path, optional
            The embedding of the data, where the tool has made it already; it is written as ``returned/data``, and both
            rounds are exported at once.

        Returns
        -------
        ProtocolStatus
            What is to be run; ``print`` says what to do next.

        Raises
        ------
        InputError
            If the embedding is not one of these data with ``n_components`` columns.
        ProtocolError
            If the folder holds other things, was exported from other data or with other settings, was altered, or what
            came back cannot be used; the file is named.
        """
        place = check_path(folder, "folder")
        known = folders.read_manifest(place) if (place / folders.MANIFEST).exists() else None
        if known is not None:
            self._check_same(place, known, format)
        columns = self.settings["n_components"] if known is None else known.n_components
        Y = None if embedding is None else embedding_of(embedding, self.data, columns)
        if known is None:
            form = folders.check_format("csv" if format is None else format)
            known = first_round(place, self.data, self.settings, self.seed, form)
        if Y is not None:
            put_embedding(place, known, Y)
        if known.round == 1 and (place / known.tasks[0].output).is_file():
            known = second_round(place, known, self.data.X)
        return status_of(place, known)

    @staticmethod
    def status(folder: str | Path) -> ProtocolStatus:
        """What has come back to a folder, what is missing or wrong, and what to do next. It writes nothing."""
        place = check_path(folder, "folder")
        return status_of(place, folders.read_manifest(place))

    @staticmethod
    def collect(folder: str | Path, *, partial: bool = False, name: str | None = None) -> RecordedSource:
        """Check every file against the manifest and make a source of what came back.

        Parameters
        ----------
        folder : path
            The folder.
        partial : bool, default False
            A folder from which something is missing is refused, because the largest of fewer values is smaller. True
            takes what is there: runs that are missing count as failed, and the measures say how many. Files that came
            back and are wrong are refused in any case, and the embedding of the data must be there.
        name : str, optional
            Name of the tool; by default that of the folder.

        Returns
        -------
        Source
            For ``trustability``, ``tractable_consistency`` and ``Evaluation``, with the data that were
            exported (``source.data``), and ``notes`` on what has not come back, looks rounded, or equals the embedding
            of the data. The measures take settings and seed of the recording; other settings are refused.

        Raises
        ------
        ProtocolError
            If a file is missing, was altered, or has other rows, columns, ids or numbers than it must have; the file,
            what was got and the cure are named.
        """
        place = check_path(folder, "folder")
        check_bool(partial, "partial")
        recording = record(place, folders.read_manifest(place), partial)
        lost = [run.file for run in recording.runs if run.values is None]
        notes = [f"{len(lost)} of {len(recording.runs)} runs have not come back, {lost[0]} the first."] if lost else []
        notes += filter(None, (rounded_note(recording.runs), copied_note(recording.runs)))
        return RecordedSource(name or place.resolve().name, recording, notes=tuple(notes))

    def _check_same(self, place: Path, manifest: folders.Manifest, form: str | None) -> None:
        """Refuse a folder of other data, or of other settings than were asked for."""
        cure = "Name the folder of these data and settings, or a new one."
        file = str(place / folders.MANIFEST)
        if folders.known_data(place, manifest).X.tobytes() != self.data.X.tobytes():
            raise ProtocolError(file, "must be of the data that are passed", "a protocol of other data", cure)
        asked = dict(self._given)
        known = {**manifest.settings, "format": manifest.format, "random_state": manifest.random_state}
        asked |= {} if form is None else {"format": form}
        asked |= {} if self._asked is None else {"random_state": self.seed}
        for key, value in asked.items():
            if value != known[key]:
                rule = f"must be of the {key} that is passed ({describe(value)})"
                raise ProtocolError(file, rule, describe(known[key]), cure)
