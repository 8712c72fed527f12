"""The card of an independence test, and what all tests have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, ParamSpec, Protocol, cast

import numpy as np
import pandas as pd

from dreval._check import check_int, check_one_of, check_rows
from dreval._random import root_seed
from dreval.errors import InputError
from dreval.geometry.workers import n_threads
from dreval.glossary import block
from dreval.inference._schemes import SCHEMES, make_scheme, split_scheme
from dreval.inference.permutation import PermutationNull, permutation_null
from dreval.inputs._align import Rows, align
from dreval.inputs._forms import row_names
from dreval.results.test import IndependenceTest

__all__ = ["Resampling", "TestCard", "Variables", "gather", "make_record", "named", "per_variable", "test"]

P = ParamSpec("P")

HYPOTHESES = {"variable": "the variables are independent", "groups": "both samples come from one law"}


@dataclass(frozen=True, repr=False)
class TestCard:
    """What is known of an independence test.

    ``variables`` is "2" or "many"; ``null`` names the ways to a p-value, the default first; ``statistic`` and
    ``effect_size`` are the symbols printed; ``needs`` says what is read of a variable: "kernel" (numbers, classes or a
    precomputed kernel), "distances" or "coordinates". ``second`` says what the second argument of the function is:
    a "variable", or the "groups" that the rows of the first one are split into.
    """

    __test__: ClassVar[bool] = False  # the name begins with Test, yet pytest has nothing to collect here

    name: str
    title: str
    variables: str
    null: tuple[str, ...]
    statistic: str
    effect_size: str
    needs: tuple[str, ...]
    reference: str
    second: str = "variable"

    def __repr__(self) -> str:
        words = {
            "name": self.name,
            "hypothesis": HYPOTHESES[self.second],
            "variables": self.variables,
            "p-value by": ", ".join(self.null),
            "statistic": self.statistic,
            "effect size": self.effect_size,
            "needs": ", ".join(self.needs),
            "reference": self.reference,
        }
        return block(self.title, words)


class CardedTest(Protocol[P]):
    """A test function with its card."""

    card: TestCard

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> IndependenceTest:
        """Test the variables."""


def test(**fields: Any) -> Callable[[Callable[P, IndependenceTest]], CardedTest[P]]:
    """Attach the card to a test function; the name is the file's name."""

    def attach(function: Callable[P, IndependenceTest]) -> CardedTest[P]:
        carded = cast(CardedTest[P], function)
        carded.card = TestCard(name=function.__module__.rsplit(".", 1)[-1], **fields)
        return carded

    return attach


vars(test)["__test__"] = False  # nor here


@dataclass(frozen=True)
class Resampling:
    """How permutations are drawn, in the words of the public functions; wrong words are refused when it is made."""

    n_resamples: int
    permutation: str
    blocks: Any
    stop_after: int | None
    root: int
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        n_resamples: Any,
        permutation: Any = "free",
        blocks: Any = None,
        stop_after: Any = None,
        random_state: Any = None,
        n_jobs: Any = None,
    ) -> Resampling:
        """Check what can be checked before anything costly is done."""
        check_int(n_resamples, "n_resamples", low=1)
        if stop_after is not None:
            check_int(stop_after, "stop_after", low=1)
        n_threads(n_jobs)
        check_one_of(permutation, SCHEMES, "permutation")
        return cls(n_resamples, permutation, blocks, stop_after, root_seed(random_state), n_jobs)

    def run(
        self,
        statistic: Callable[[Any], Any],
        n: int,
        name: str,
        resolution: float = 0.0,
        factors: int = 1,
        split: Any = None,
    ) -> PermutationNull:
        """The null distribution of a statistic; ``split``: only the set of rows that takes these places matters."""
        scheme = make_scheme(self.permutation, self.blocks, n)
        if split is not None and scheme.kind == "free":
            scheme = split_scheme(n, split)
        return permutation_null(
            statistic,
            n,
            self.n_resamples,
            self.root,
            name,
            resolution=resolution,
            n_jobs=self.n_jobs,
            scheme=scheme,
            factors=factors,
            stop_after=self.stop_after,
        )

    def parameters(self) -> dict[str, Any]:
        """The settings that give the same permutations again, beside the seed."""
        words = {"permutation": self.permutation, "blocks": self.blocks, "stop_after": self.stop_after}
        return {"n_resamples": self.n_resamples, **words}


@dataclass(frozen=True)
class Variables:
    """Variables with the same rows in the same order; ``names`` are those of the arguments."""

    values: tuple[Any, ...]
    names: tuple[str, ...]
    n: int
    notes: tuple[str, ...]


def gather(x: Any, y: Any, *others: Any) -> Variables:
    """All variables in the order of the first one's rows; their numbers of rows are read before any work is done."""
    names = ("x", "y", *(f"others[{i}]" for i in range(len(others))))
    n = check_same_rows((x, y, *others), names)
    values, notes = [x], []
    for value, name in zip((y, *others), names[1:], strict=True):
        ordered, note = matched_rows(x, value, name)
        values.append(ordered)
        notes += note
    return Variables(tuple(values), names, n, tuple(notes))


def matched_rows(x: Any, y: Any, name: str = "y") -> tuple[Any, tuple[str, ...]]:
    """``y`` in the order of ``x`` where both are frames or series with the same row names, with a note; else as it is.

    Row names that agree in part only are refused.
    """
    framed = (pd.DataFrame, pd.Series)
    if not (isinstance(x, framed) and isinstance(y, framed)):
        return y, ()
    names = row_names(x.index)
    order, note = align(len(y), row_names(y.index), Rows(len(x), names, counted=names is None), name)
    return (y if order is None else y.iloc[order]), (() if note is None else (note.replace("the data", "`x`"),))


def check_same_rows(values: Sequence[Any], names: Sequence[str]) -> int:
    """The common number of rows of the variables, read from their shapes."""
    for value, argument in zip(values, names, strict=True):
        try:
            dimensions = np.ndim(value)
        except ValueError:
            raise InputError(argument, "must have rows of one length", "ragged rows", "Pass an (n, p) array.") from None
        if dimensions == 0:
            raise InputError(argument, "must have rows", type(value).__name__, "Pass an (n,) or (n, p) array.")
        check_rows(len(value), len(values[0]), argument)
    return len(values[0])


def per_variable(value: Any, names: Sequence[str], argument: str) -> tuple[Any, ...]:
    """One setting per variable: as many as there are variables as they are, anything else for all."""
    if not isinstance(value, tuple | list | np.ndarray):
        return (value,) * len(names)
    if len(value) != len(names):
        rule = "must be one value or a pair" if len(names) == 2 else "must be one value or one for each variable"
        raise InputError(argument, rule, f"{len(value)} values", f"Give one each for {', '.join(names)}.")
    return tuple(value)


def named(key: str, values: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """Entries of ``extra`` that hold something of each variable."""
    return {f"{key}_{name}": value for name, value in zip(names, values, strict=True)}


def make_record(
    card: TestCard,
    found: PermutationNull,
    *,
    n: int,
    resampling: Resampling,
    effect_size: float,
    extra: dict[str, Any],
    parameters: dict[str, Any],
    notes: tuple[str, ...] = (),
    names: tuple[str, ...] = ("x", "y"),
    effect_size_name: str | None = None,
) -> IndependenceTest:
    """The record of a test; ``parameters`` and the seed in its recipe give the same numbers again."""
    from dreval import __version__

    found.null.setflags(write=False)
    return IndependenceTest(
        test=card.name,
        title=card.title,
        statistic=found.observed,
        p_value=found.p_value,
        null_distribution=found.null,
        n_resamples=len(found.null),
        effect_size=effect_size,
        effect_size_name=effect_size_name or card.effect_size,
        p_interval=found.p_interval,
        extra=extra,
        recipe={
            "test": card.name,
            "n": n,
            "variables": names,
            "random_state": resampling.root,
            "parameters": {**parameters, **resampling.parameters()},
            "hypothesis": HYPOTHESES[card.second],
            "versions": {"dreval": __version__, "numpy": np.__version__},
        },
        notes=(*notes, *_notes_of(found, resampling)),
    )


def _notes_of(found: PermutationNull, resampling: Resampling) -> list[str]:
    """How the permutations came about, where that is not the usual way."""
    m, notes = len(found.null), []
    if found.exact:
        notes.append(f"All {m} permutations were enumerated: p is exact, the identity is counted among them.")
    if found.stopped:
        h = resampling.stop_after
        notes.append(f"Sampling stopped at permutation {m}, when {h} had reached the statistic: p = {h}/{m}.")
    if m and resampling.permutation != "free":
        words = {
            "within": "Rows were permuted within their blocks only.",
            "blocks": "Whole blocks of rows were permuted.",
            "cyclic": "Rows were shifted cyclically: p is approximate, for stationary series.",
        }
        notes.append(words[resampling.permutation])
    return notes
