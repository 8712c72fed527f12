"""Data sets, their cards, and the two functions that return one: ``load_dataset`` and ``simulate``."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, check_int, check_parameters
from dreval._check_arrays import MIN_POINTS
from dreval._docs import fill_docstring, wrap_entry
from dreval._random import root_seed, stream
from dreval.cards import Card, register
from dreval.errors import InputError
from dreval.records.base import Record, Summary, read_only
from dreval.registry import DATASETS

if TYPE_CHECKING:
    import pandas as pd


@read_only
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DatasetCard(Card):
    """Metadata of a data set, besides those of every ``Card``.

    ``origin`` is "bundled", "simulated", or "loader" for a file of the user; ``n`` and ``p`` are the size of a bundled
    set or file and the default size of a simulated set; ``parameters`` are the parameters of a simulation with
    their defaults; ``files`` are patterns of the names of a loader's files.
    """

    kind: ClassVar[str] = "data set"
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "source", "license", "reference")
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {"origin": ("bundled", "simulated", "loader")}

    origin: str
    n: int
    p: int
    source: str = ""
    license: str = ""
    files: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Add source and license of a simulation, and check the fields."""
        if self.origin == "simulated":
            object.__setattr__(self, "source", "simulated")
            object.__setattr__(self, "license", "none needed")
        super().__post_init__()

    def lines(self) -> dict[str, str]:
        """Return the printed fields."""
        by_default = " by default" if self.origin == "simulated" else ""
        return {
            "name": self.name,
            "origin": self.origin,
            "points": f"{self.n:,}{by_default}",
            "columns": f"{self.p:,}{by_default}",
            "parameters": ", ".join(f"{name}={value!r}" for name, value in self.parameters.items()),
            "files": ", ".join(self.files),
            "source": self.source,
            "license": self.license,
            "reference": self.reference,
        }


@dataclass(frozen=True)
class Draw:
    """Return value of the function of one data set; ``load_dataset`` and ``simulate`` add card and recipe to it."""

    data: FloatArray
    labels: npt.NDArray[Any] | None = None
    latent: FloatArray | None = None
    feature_names: tuple[str, ...] | None = None


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Record):
    """A data set: points, labels, latent coordinates and their card.

    Attributes
    ----------
    data : ndarray (n, p)
        The points, one per row.
    labels : ndarray (n,) or None
        Classes, if the set has classes.
    latent : ndarray (n, q) or None
        The true coordinates a simulation drew the points from; the page of each simulation says what they are.
    card : DatasetCard
        Source, license, reference and size.
    feature_names : tuple of str
        Names of the p columns.
    recipe : dict
        Arguments that reproduce a simulated set: ``n``, ``random_state`` and the parameters; the path of a file.
        Empty if bundled.
    """

    data: FloatArray
    labels: npt.NDArray[Any] | None
    latent: FloatArray | None
    card: DatasetCard
    feature_names: tuple[str, ...]
    recipe: dict[str, Any] = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a DataFrame with named columns, and a last column ``label`` if there are classes."""
        import pandas as pd

        frame = pd.DataFrame(self.data, columns=list(self.feature_names))
        return frame if self.labels is None else frame.assign(label=self.labels)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the size, and in full source, license and reference."""
        from dreval.report.documents.small import dataset_summary

        return dataset_summary(self, full)


def _filled(make: Callable[..., Draw], card: DatasetCard) -> Callable[..., Draw]:
    """Fill the docstring of the function of a data set."""
    make.__doc__ = fill_docstring(make.__doc__, reference=wrap_entry(card.reference))
    return make


dataset = register(DatasetCard, DATASETS.name_of, _filled)


def simulate(
    name: str, n: int | None = None, random_state: int | np.random.Generator | None = None, **parameters: Any
) -> Dataset:
    """Simulate a data set from a known distribution, with its true latent coordinates.

    Parameters
    ----------
    name : str
        One of the simulated sets, for example "swiss_roll"; ``list_datasets()`` lists all names.
    n : int, optional
        Number of points, at least 4; by default that of the card.
    random_state : int, Generator or None
        The seed. None draws a new seed, which is stored in ``recipe``. The draws depend on the seed and on the name of
        the data set, so that two simulations with the same seed are not copies of each other.
    **parameters
        Parameters of the simulation (``noise``, ``spacing`` ...); its card lists them with their defaults.

    Returns
    -------
    Dataset
        ``data`` (n, p), ``latent`` (n, q), ``labels`` (n,) if there are classes, and ``recipe``.

    Raises
    ------
    UnknownName
        If no data set, or no parameter of this data set, has that name; the error suggests the nearest name.
    InputError
        If the data set is bundled, or a parameter is out of its range.

    See Also
    --------
    load_dataset : real data that come with the package.

    Notes
    -----
    O(n p) time and memory.

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", n=400, random_state=0)
    >>> roll
    swiss_roll: 400 points in 3 columns, with 2 latent variables. ...
    >>> dict(roll.card.parameters)
    {'noise': 0.0, 'spacing': 'arc'}
    """
    make = DATASETS.get(name, "name")
    if make.card.origin != "simulated":
        raise wrong_origin(name, make.card.origin, "simulated")
    size = make.card.n if n is None else check_int(n, "n", low=MIN_POINTS)
    check_parameters(parameters, ["n", "random_state", *make.card.parameters], name)
    root = root_seed(random_state)
    draw = make(size, stream(root, "dataset", name), **parameters)
    return complete(draw, make.card, {"n": size, "random_state": root, **make.card.parameters, **parameters})


def wrong_origin(name: str, origin: str, required: str) -> InputError:
    """Return the error for a data set that is not of the required origin, with the call that returns it."""
    description, call = {
        "bundled": ("bundled", f"dreval.load_dataset({name!r})"),
        "simulated": ("simulated", f"dreval.simulate({name!r})"),
        "loader": ("read from a file of yours", f"dreval.load_dataset({name!r}, path)"),
    }[origin]
    received = f"{name!r}, which is {description}"
    return InputError("name", f"must be a {required} data set", received, f"Call {call}.")


def complete(draw: Draw, card: DatasetCard, recipe: dict[str, Any]) -> Dataset:
    """Return the data set of a draw; columns without names are called x1, x2, ..."""
    names = draw.feature_names or tuple(f"x{j + 1}" for j in range(draw.data.shape[1]))
    return Dataset(draw.data, draw.labels, draw.latent, card, names, recipe)


def read_bundled(name: str) -> Draw:
    """Read features, names and labels of ``<name>.csv.gz``; the last column holds the labels."""
    installed = files("dreval") / "data"  # in a source tree the folder is next to the package
    folder = installed if installed.is_dir() else Path(__file__).resolve().parents[2] / "data"
    file = folder / f"{name}.csv.gz"
    if not file.is_file():
        requirement = f"must have its file {name}.csv.gz in the package"
        raise InputError("name", requirement, "no such file", "Install dreval again.")
    names, *rows = (line.split(",") for line in gzip.decompress(file.read_bytes()).decode().splitlines())
    table = np.array(rows)
    labels = table[:, -1]
    classes = labels.astype(np.int64) if all(label.isdigit() for label in labels) else np.ascontiguousarray(labels)
    return Draw(table[:, :-1].astype(np.float64), labels=classes, feature_names=tuple(names[:-1]))
