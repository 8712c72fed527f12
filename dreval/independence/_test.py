"""The card of an independence test, and what all tests have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, ParamSpec, Protocol, cast

import numpy as np
import pandas as pd

from dreval._check import check_rows
from dreval.errors import InputError
from dreval.inference.permutation import PermutationNull
from dreval.inputs._align import Rows, align
from dreval.inputs._forms import row_names
from dreval.results.test import IndependenceTest

__all__ = ["TestCard", "check_same_rows", "make_record", "matched_rows", "pair_of", "test"]

P = ParamSpec("P")


@dataclass(frozen=True)
class TestCard:
    """What is known of an independence test.

    ``variables`` is "2" or "many"; ``null`` names the ways to a p-value, the default first; ``statistic`` and
    ``effect_size`` are the symbols printed; ``needs`` says what is read of a variable: "kernel" (numbers, classes or a
    precomputed kernel), "distances" or "coordinates" (numbers only).
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


def matched_rows(x: Any, y: Any) -> tuple[Any, tuple[str, ...]]:
    """``y`` in the order of ``x`` where both are frames or series with the same row names, with a note; else as it is.

    Row names that agree in part only are refused.
    """
    framed = (pd.DataFrame, pd.Series)
    if not (isinstance(x, framed) and isinstance(y, framed)):
        return y, ()
    names = row_names(x.index)
    order, note = align(len(y), row_names(y.index), Rows(len(x), names, counted=names is None), "y")
    return (y if order is None else y.iloc[order]), (() if note is None else (note.replace("the data", "`x`"),))


def check_same_rows(x: Any, y: Any) -> int:
    """The common number of rows of two variables, read from their shapes before anything costly is done."""
    for value, argument in ((x, "x"), (y, "y")):
        try:
            dimensions = np.ndim(value)
        except ValueError:
            raise InputError(argument, "must have rows of one length", "ragged rows", "Pass an (n, p) array.") from None
        if dimensions == 0:
            raise InputError(argument, "must have rows", type(value).__name__, "Pass an (n,) or (n, p) array.")
    check_rows(len(y), len(x), "y")
    return len(x)


def pair_of(value: Any, argument: str) -> tuple[Any, Any]:
    """One setting per variable: a pair as it is, anything else for both."""
    if not isinstance(value, tuple | list | np.ndarray):
        return value, value
    if len(value) != 2:
        raise InputError(
            argument, "must be one value or a pair", f"{len(value)} values", "Give one for x and one for y."
        )
    return value[0], value[1]


def make_record(
    card: TestCard,
    found: PermutationNull,
    *,
    n: int,
    root: int,
    effect_size: float,
    extra: dict[str, Any],
    parameters: dict[str, Any],
    notes: tuple[str, ...] = (),
) -> IndependenceTest:
    """The record of a permutation test; ``parameters`` and the seed in its recipe give the same numbers again."""
    from dreval import __version__

    found.null.setflags(write=False)
    if found.exact:
        m = len(found.null)
        notes = (*notes, f"All {m} permutations were enumerated: p is exact, the identity is counted among them.")
    return IndependenceTest(
        test=card.name,
        title=card.title,
        statistic=found.observed,
        p_value=found.p_value,
        null_distribution=found.null,
        n_resamples=len(found.null),
        effect_size=effect_size,
        effect_size_name=card.effect_size,
        p_interval=found.p_interval,
        extra=extra,
        recipe={
            "test": card.name,
            "n": n,
            "random_state": root,
            "parameters": parameters,
            "versions": {"dreval": __version__, "numpy": np.__version__},
        },
        notes=notes,
    )
