"""The card of an independence test, its resampling and its record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ClassVar, ParamSpec, Protocol, cast

import numpy as np

from dreval._check import check_int, check_one_of, keywords_checked
from dreval._parallel import n_threads
from dreval._random import root_seed
from dreval.errors import DrevalError, InputError
from dreval.glossary import block, filled
from dreval.inference.permutation import SCHEMES, PermutationNull, Scheme, make_scheme, permutation_null, split_scheme
from dreval.inference.reruns import called
from dreval.records.independence_test import IndependenceTest
from dreval.records.notes import Note, Notes, note
from dreval.references import Cites
from dreval.registry import TESTS
from dreval.significance._variables import class_notes, matched_rows, refuse_path

P = ParamSpec("P")

# Entries that the docstrings of several tests share: a line ``%(name)s`` of a docstring is replaced by the entry.
ENTRIES: dict[str, str] = {
    "coinciding_rows": """\
DegenerateDataWarning
    More than half of the pairs of rows coincide, so that the median of the distances is 0.""",
    "permutations": """\
permutation : {"free", "within", "blocks", "cyclic"}
    Which permutations of rows are drawn: all; those within blocks; those of whole ``blocks`` of equal size; or cyclic
    shifts, for a stationary time series. It states which rows are exchangeable under the null hypothesis, which is
    then that of independence within blocks for "within": differences between blocks do not count.
blocks : (n,) array of classes, optional
    The block of each row, for ``permutation="within"`` and ``"blocks"``; a series or frame follows the row names of
    ``x``.
n_resamples : int
    Number B of permutations, at least 1. When there are at most B different ones (n! <= B), all of them are
    enumerated and p is exact.""",
    "draws": """\
stop_after : int, optional
    Stop as soon as this many permuted statistics have reached the observed one (Besag & Clifford 1991): p remains
    valid, with fewer permutations where it is large.
random_state : int, numpy Generator or None
    Seed; permutation b depends on the seed and b only. In ``Evaluation`` the seed of a test also depends on the
    names of embedding, test and variable, so that ``run(tests=...)`` draws other permutations than this function.
n_jobs : int, optional
    Number of threads, all cores by default; the numbers do not depend on it.""",
}
HYPOTHESES = {
    "variable": "the variables are independent",
    "groups": "both samples have one distribution",
    "method": "the method shows no more of the data than of null data",
}
UNDER = {  # the null hypothesis that the permutations of a scheme test
    "free": "{}",
    "within": "{} within blocks",
    "blocks": "{}, where whole blocks of rows are exchangeable",
    "cyclic": "{}, where each is a stationary series",
}


@dataclass(frozen=True, repr=False)
class TestCard(Cites):
    """Everything the package knows about a test of independence.

    Attributes
    ----------
    name, title : str
        Name in the package (the function is ``<name>_test``), name in text.
    variables : {"2", "many"}
        How many variables it tests.
    null : tuple of str
        The ways to a p-value, the default first.
    statistic, effect_size : str
        Symbols, as printed.
    needs : tuple of {"kernel", "distances", "coordinates", "method"}
        The representation of a variable that is computed; "kernel": of numbers, of classes, or precomputed. "method":
        a method that can be run again.
    second : {"variable", "groups", "method"}
        The second argument of the function: a variable, the groups into which the rows of the first are split, or the
        method that is run again, on null data.
    nulls : tuple of str
        The kinds of null data, of a test of a method.
    memory : {"matrices", "factors", "columns"}
        Memory for n rows: n x n matrices, low-rank factors if the kernels have them, or the variables.
    tolerance : float or None
        Share of a kernel's trace that its factors may leave.
    operations : function of (n, B, whole) or None
        Nanoseconds of a test of n rows with B permutations on a usual processor; ``whole``: of n x n matrices.
    question, cost : str
        Of a test of a method: what it answers, and its time in n and in the number of null data sets. Those of
        variables all have one question, their hypothesis, and say what they cost in ``operations`` and ``memory``.
    reference : str
        Source; ``@key`` cites a work of ``dreval.references``, and ``works`` has the keys.
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
    nulls: tuple[str, ...] = ()
    memory: str = "matrices"
    tolerance: float | None = None
    operations: Callable[[int, int, bool], float] | None = None
    question: str = ""
    cost: str = ""

    def __repr__(self) -> str:
        fields = {
            "name": self.name,
            **({"question": self.question} if self.question else {}),
            "hypothesis": HYPOTHESES[self.second],
            "variables": self.variables,
            "null data": ", ".join(self.nulls),
            "p-value by": ", ".join(self.null).replace("_", " "),
            "statistic": self.statistic,
            "effect size": self.effect_size,
            "needs": ", ".join(self.needs),
            **({"cost": self.cost} if self.cost else {}),
            "reference": self.reference,
        }
        return block(self.title, fields)


class CardedTest(Protocol[P]):
    """A test function with its card."""

    card: TestCard

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> IndependenceTest:
        """Test the variables."""


def test(**fields: Any) -> Callable[[Callable[P, IndependenceTest]], CardedTest[P]]:
    """Attach the card to a test function and fill its docstring; its name is the function's, without ``_test``."""

    def attach(function: Callable[P, IndependenceTest]) -> CardedTest[P]:
        function.__doc__ = filled(function.__doc__, ENTRIES)
        checked = keywords_checked(function)
        if fields.get("second") == "method":
            checked = _in_words_of_caller(checked)
        carded = cast(CardedTest[P], checked)
        carded.card = TestCard(name=TESTS.name_of(function.__name__), **fields)
        return carded

    return attach


def _in_words_of_caller(function: Callable[P, IndependenceTest]) -> Callable[P, IndependenceTest]:
    """The function with errors that call its arguments as its caller does."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> IndependenceTest:
        try:
            return function(*args, **kwargs)
        except DrevalError as error:
            raise error.named(called(*args[:2], **kwargs)) from error  # type: ignore[arg-type]

    return call


vars(test)["__test__"] = False  # nor here


@dataclass(frozen=True)
class Resampling:
    """How permutations are drawn: the arguments of the public functions, checked."""

    n_resamples: int
    permutation: str
    blocks: Any
    stop_after: int | None
    root: int
    n_jobs: int | None
    notes: Notes = ()

    @classmethod
    def of(
        cls,
        n_resamples: Any,
        permutation: Any = "free",
        blocks: Any = None,
        stop_after: Any = None,
        random_state: Any = None,
        n_jobs: Any = None,
        like: Any = None,
    ) -> Resampling:
        """Check what can be checked before anything costly is done; blocks follow the row names of ``like``."""
        check_int(n_resamples, "n_resamples", low=1)
        if stop_after is not None:
            check_int(stop_after, "stop_after", low=1)
        n_threads(n_jobs)
        permutation = check_one_of(permutation, SCHEMES, "permutation", aliases=True)
        refuse_path(blocks, "blocks")
        blocks, notes = matched_rows(like, blocks, "blocks")
        notes = notes if blocks is None else (*notes, *class_notes(blocks, "blocks"))
        return cls(n_resamples, permutation, blocks, stop_after, root_seed(random_state), n_jobs, notes)

    def refuse_without_permutations(self, method: str) -> None:
        """Raise an error for arguments that restrict or stop permutations where the method draws none."""
        passed = [f"permutation={self.permutation!r}"] if self.permutation != "free" else []
        passed += ["blocks"] if self.blocks is not None else []
        passed += [f"stop_after={self.stop_after}"] if self.stop_after is not None else []
        if passed:
            cure = "Leave `permutation`, `blocks` and `stop_after` out, or use a method that draws permutations."
            rule = "must draw permutations where `permutation`, `blocks` or `stop_after` is given"
            raise InputError("method", rule, f"{method!r} and {', '.join(passed)}", cure)

    def scheme(self, n: int, variables: Sequence[Any], names: Sequence[str]) -> Scheme:
        """Which permutations may occur; a variable that is equal under all of them raises an error."""
        scheme = make_scheme(self.permutation, self.blocks, n)
        alike = scheme.alike()
        for value, name in zip(variables, names, strict=True) if alike is not None else ():
            rows = np.asarray(value)
            if bool(np.all(rows == rows[alike])):
                got = {"within": "rows that are equal within every block", "blocks": "blocks that are equal"}
                cure = "Choose other blocks, or permutation='free' where its assumption holds."
                rule = "must not look the same under every permutation of its rows"
                raise InputError(name, rule, got[scheme.kind], cure)
        return scheme

    def run(
        self,
        statistic: Callable[[Any], Any],
        scheme: Scheme,
        name: str,
        resolution: float = 0.0,
        factors: int = 1,
        split: Any = None,
        floor: float = -np.inf,
    ) -> PermutationNull:
        """The null distribution of a statistic; with ``split`` it depends only on the set of rows at these places.

        Values below ``floor``, or within the resolution below 0, are rounding and are replaced by 0.
        """
        if split is not None:
            scheme = split_scheme(scheme, split)
        found = permutation_null(
            statistic,
            scheme.n,
            self.n_resamples,
            self.root,
            name,
            resolution=resolution,
            n_jobs=self.n_jobs,
            scheme=scheme,
            factors=factors,
            stop_after=self.stop_after,
        )
        null, observed = (_without_rounding(v, resolution, floor) for v in (found.null, np.array(found.observed)))
        return replace(found, null=null, observed=float(observed))

    def parameters(self) -> dict[str, Any]:
        """The settings that, with the seed, reproduce the permutations."""
        scheme = {"permutation": self.permutation, "blocks": self.blocks, "stop_after": self.stop_after}
        return {"n_resamples": self.n_resamples, **scheme}


def _without_rounding(values: Any, resolution: float, floor: float) -> Any:
    """Values with 0 in place of those that are negative by rounding."""
    return np.where((values < 0) & ((values >= -resolution) | (values < floor)), 0.0, values) + 0.0


def null_hypothesis(hypothesis: str, permutation: str) -> str:
    """Return the null hypothesis that permutations of this scheme test.

    Examples
    --------
    >>> null_hypothesis("the variables are independent", "within")
    'the variables are independent within blocks'
    """
    return UNDER[permutation].format(hypothesis)


def named(key: str, values: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """Entries of ``extra`` with a value for each variable."""
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
    notes: Notes = (),
    names: tuple[str, ...] = ("x", "y"),
    labels: tuple[str, ...] | None = None,
    effect_size_name: str | None = None,
    alternative: str = "",
) -> IndependenceTest:
    """The record of a test; the ``parameters`` and the seed in its recipe reproduce its numbers.

    ``alternative`` follows the null hypothesis where the test has power against some dependence only.
    """
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
            "labels": labels or names,
            "random_state": resampling.root,
            "parameters": {**parameters, **resampling.parameters()},
            "hypothesis": null_hypothesis(HYPOTHESES[card.second], resampling.permutation) + alternative,
            "versions": {"dreval": __version__, "numpy": np.__version__},
        },
        notes=(*notes, *resampling.notes, *_notes_of(card, found, resampling)),
        p_kind="permutation" if resampling.permutation == "cyclic" else found.p_kind,  # no shift of a series is exact
    )


def _notes_of(card: TestCard, found: PermutationNull, resampling: Resampling) -> list[Note]:
    """Notes on permutations that were enumerated, stopped early or restricted."""
    m, notes, cyclic = len(found.null), list[Note](), resampling.permutation == "cyclic"
    if found.exact:
        what = "shifts" if cyclic else "splits" if card.second == "groups" else "permutations"
        notes.append(note("permutation.all", count=m, what=what, exact=not cyclic))
    if found.stopped:
        notes.append(note("permutation.stopped", count=m, reached=resampling.stop_after))
    if m and resampling.permutation != "free":
        notes.append(note(f"permutation.{resampling.permutation}"))
    return notes
