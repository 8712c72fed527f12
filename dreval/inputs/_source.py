"""The face that all sources share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dreval._check import check_int
from dreval._random import root_seed, stream_seed
from dreval.errors import InputError, UndefinedMeasure
from dreval.inputs._output import Foreign, check_embedding
from dreval.inputs._variables import LabelVector
from dreval.inputs.data import Data

__all__ = ["FloatArray", "Seed", "Source", "seed_of"]

FloatArray = npt.NDArray[np.float64]
Seed = int | np.random.Generator | None


def _check_complete(y: Any, name: str) -> None:
    """Refuse labels with gaps, where something is fitted to them."""
    array = np.asarray(y)
    missing = sum(label is None for label in array.tolist()) if array.dtype == object else 0
    if missing:
        cure = "Run it on the labeled points, or give the others a class of their own, such as 'unknown'."
        raise InputError("labels", f"must be complete, because {name!r} is supervised", f"{missing} missing", cure)


def seed_of(random_state: Seed) -> int | None:
    """An integer that every tool takes as its seed: small ones stay as they are; None stays None."""
    if random_state is None:
        return None
    root = root_seed(random_state)
    return root if root < 2**31 else stream_seed(root, "embed")


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """Something that embeds data, or has done so.

    Attributes
    ----------
    name : str
        Name of the embedding.
    notes : tuple of str
        What was assumed.
    given : mapping of str
        The options with which it was brought.
    kind : str
        "coordinates", "estimator", "callable", "method" or "recorded".
    can_embed : bool
        Whether it can be run on other data; ``reason`` says why not.
    reseed_reason : str or None
        Why another seed gives the same embedding; None where seeds matter.
    own_seed : int or None
        The seed it brings with it, used where the caller gives none.
    supervised : bool
        Whether it is given the labels.
    n_components : int or None
        Number of components where it is known beforehand.
    card : MethodCard or None
        The card of a bundled method.
    """

    name: str
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    given: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    kind: ClassVar[str] = "coordinates"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {self.what})"

    @property
    def argument(self) -> str:
        """How error messages call it."""
        return f"embeddings[{self.name!r}]"

    @property
    def can_embed(self) -> bool:
        """Whether it can be run on other data."""
        return self.reason is None

    @property
    def reason(self) -> str | None:
        """Why it cannot be run on other data; None where it can."""
        return None

    @property
    def reseed_reason(self) -> str | None:
        """Why there is no second run with another seed; None where there is."""
        return self.reason

    @property
    def own_seed(self) -> int | None:
        """The seed it brings with it; None where it has none."""
        return None

    @property
    def supervised(self) -> bool:
        """Whether it is given the labels."""
        return False

    @property
    def n_components(self) -> int | None:
        """Number of components where it is known beforehand."""
        return None

    @property
    def default_components(self) -> int | None:
        """Number of components it is run with when nobody says otherwise: its own, else 2."""
        return self.n_components or 2

    @property
    def card(self) -> Any:
        """The card of a bundled method, else None."""
        return None

    @property
    def recording(self) -> Any:
        """What was asked and came back, where all runs were made before and lie in files; else None."""
        return None

    def coordinates(self, data: Data, *, n_components: int | None = None, random_state: Seed = None) -> FloatArray:
        """The embedding of the data, (n, d); a fresh array."""
        return self.embed(data.dense(), n_components or self.n_components, random_state, data.labels)

    def embed(
        self, X: FloatArray, n_components: int | None, random_state: Seed = None, labels: Any = None
    ) -> FloatArray:
        """The embedding of other data ``X`` (n, p), as an (n, d) array; ``labels`` reach supervised sources only."""
        if self.reason is not None:
            cure = "Pass an estimator, a callable, or the name of a bundled method."
            raise UndefinedMeasure(self.argument, "must be able to embed other data", self.reason, cure)
        if n_components is not None:
            check_int(n_components, "n_components", low=1)
        y = labels.values if isinstance(labels, LabelVector) else labels
        if self.supervised and y is None:
            cure = "Pass labels: a vector, a column of the data, or a path; `embed` takes numbers as `response`."
            raise InputError("labels", f"must be given, because {self.name!r} is supervised", "None", cure)
        if self.supervised and self.kind != "callable":
            _check_complete(y, self.name)
        with Foreign(self.argument, self.what):
            own = X if self.kind == "method" else np.array(X, order="C")  # the bundled methods copy for themselves
            value = self._run(own, n_components, seed_of(random_state), y if self.supervised else None)
        return check_embedding(value, len(X), self.argument, self.what)

    def with_components(self, n_components: int) -> Source:
        """The source with another number of components of its own; one that cannot choose it stays as it is."""
        return self

    def on_distances(self) -> Source:
        """The source made ready for a matrix of distances in place of features; refused where it cannot read one."""
        return self

    def _cannot_read(self, cure: str) -> UndefinedMeasure:
        """The refusal of a source that reads features."""
        got = f"{self.what}, which reads features"
        return UndefinedMeasure(self.argument, "must read distances where metric='precomputed'", got, cure)

    @property
    def what(self) -> str:
        """What is run, in words."""
        return self.kind

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """The parameters of a run with that number of components and seed, defaults included; none of coordinates."""
        return {}

    def _run(self, X: FloatArray, n_components: int | None, seed: int | None, y: Any) -> Any:
        """Whatever the foreign code returns."""
        return X
