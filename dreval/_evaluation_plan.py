"""What an evaluation is going to compute: indices with their parameters, tests with their variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dreval._check import check_int, check_k, check_one_of
from dreval.errors import InputError
from dreval.registry import INDICES, TESTS

__all__ = ["IndexTask", "TestTask", "plan_indices", "plan_tests"]

DEFAULT_TESTS = ("hsic", "kcca")  # those of them that are registered


@dataclass(frozen=True)
class IndexTask:
    """One index at one setting of its parameters."""

    name: str
    thing: Callable[..., Any]
    parameters: dict[str, Any]

    @property
    def card(self) -> Any:
        """The card of the index."""
        return self.thing.card  # type: ignore[attr-defined]

    @property
    def words(self) -> str:
        """The parameters as the table shows them."""
        return ", ".join(f"{k}={v}" for k, v in self.parameters.items())

    @property
    def k(self) -> int:
        """Number of neighbors it reads from the sweep."""
        return int(self.parameters["n_neighbors"]) if self.sweeps else 0

    @property
    def sweeps(self) -> bool:
        """Whether it reads neighbors or ranks."""
        return "ranks" in self.card.needs or "neighbors" in self.card.needs


@dataclass(frozen=True)
class TestTask:
    """One test of the embeddings against one variable."""

    name: str
    target: str
    variable: Any
    kernel: str
    options: dict[str, Any]


def _names(wanted: Any, argument: str, registry: Any, default: Sequence[str]) -> list[str]:
    """The names asked for: "default", "all", one name, or several, each once."""
    if wanted is None:
        return []
    if isinstance(wanted, str):
        if wanted == "default":
            return list(default)
        wanted = registry.names() if wanted == "all" else [wanted]
    for name in wanted:
        check_one_of(name, [*registry.names(), "default", "all"] if isinstance(name, str) else (), argument)
    return list(dict.fromkeys(wanted))


def _default_indices(labelled: bool) -> list[str]:
    """Default indices that can be answered, in the order of their cards."""
    cards = [card for card in INDICES.cards() if card.default is not None]
    cards = [card for card in cards if labelled or "labels" not in card.needs]
    return [card.name for card in sorted(cards, key=lambda card: card.default)]


def plan_indices(
    wanted: Any, n_neighbors: Any, n: int, labelled: bool, options: Mapping[str, Mapping[str, Any]]
) -> list[IndexTask]:
    """Every index at every setting, in the order of the table."""
    default = _default_indices(labelled)
    names = _names(wanted, "indices", INDICES, default)
    if wanted == "all":
        rest = [name for name in names if name not in default]
        names = default + [name for name in rest if labelled or "labels" not in INDICES.card(name).needs]
    tasks = []
    for name in names:
        thing = INDICES.get(name)
        given = dict(options.get(name, {}))
        for key in given:
            check_one_of(key, thing.card.parameters, f"options[{name!r}]")
        parameters = {**thing.card.parameters, **given}
        if thing.card.shares_neighbors and "n_neighbors" not in given:
            parameters["n_neighbors"] = n_neighbors
        for key, value in parameters.items():
            if key != "n_neighbors":
                check_int(value, key, low=2)
        if "n_neighbors" in parameters:
            ks = check_k(parameters["n_neighbors"], n)[0]
            tasks += [IndexTask(name, thing, {**parameters, "n_neighbors": k}) for k in ks]
        else:
            tasks.append(IndexTask(name, thing, parameters))
    return tasks


def plan_tests(wanted: Any, data: Any, n_resamples: int, options: Mapping[str, Mapping[str, Any]]) -> list[TestTask]:
    """Every test against labels and covariates; none where there is neither."""
    variables = {} if data.labels is None else {"labels": (data.labels.codes, "delta")}
    for name, values in data.covariates.items():
        variables[name] = (values, "gaussian" if values.dtype.kind == "f" else "delta")
    names = _names(wanted, "tests", TESTS, [name for name in DEFAULT_TESTS if name in TESTS])
    if names and wanted != "default" and not variables:
        raise InputError(
            "tests", "must have a variable to test against", "no labels and no covariates", "Pass labels or covariates."
        )
    return [
        TestTask(name, target, variable, kernel, {"n_resamples": n_resamples, **options.get(name, {})})
        for name in names
        for target, (variable, kernel) in variables.items()
    ]
