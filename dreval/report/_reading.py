"""What a result says, in the form that words, tables and figures read: columns of cells, computed once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dreval.glossary import DIRECTIONS
from dreval.records.results import Results, over_replicates
from dreval.registry import MEASURES
from dreval.report._column import Cell, Column

__all__ = ["SCALE", "Reading", "make_column", "parameter", "parameter_words", "read_results", "without"]

SCALE = "n_neighbors"
# What a measure speaks of, by what it reads, in the order of the first table; the first that applies.
SUBJECTS: dict[str, set[str]] = {
    "Classes": {"labels"},
    "Latent variables": {"latent"},
    "Who is near": {"ranks", "full_ranks"},
    "Shape nearby": {"neighbors"},
    "The whole": {"pairs", "coordinates"},
}
ORDER = ("Who is near", "Shape nearby", "The whole", "Latent variables", "Classes", "")


@dataclass(frozen=True)
class Reading:
    """A result, read: the embeddings in order, every column, and the ones that the first table shows."""

    names: tuple[str, ...]
    failed: Mapping[str, str]
    columns: tuple[Column, ...]
    tests: tuple[Mapping[str, Any], ...]
    recipe: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...] = field(repr=False, default=())
    collapsed: tuple[str, ...] = ()  # embeddings whose points all lie in one place

    @cached_property
    def computed(self) -> tuple[str, ...]:
        """Embeddings that were computed."""
        return tuple(name for name in self.names if name not in self.failed)

    @cached_property
    def scales(self) -> tuple[int, ...]:
        """The numbers of neighbors of the evaluation, ascending; of an unknown one those of most measures."""
        ran = [k for column in self.columns if (k := scale_of(column)) is not None]
        given = self.recipe.get("n_neighbors")
        asked = {given} if isinstance(given, int) else set(given or ())
        known = sorted(asked & set(ran)) or sorted(k for k in set(ran) if ran.count(k) == max(map(ran.count, ran)))
        return tuple(known)

    @cached_property
    def k(self) -> int | None:
        """The number of neighbors of words and the first table: 15, or the middle one."""
        return None if not self.scales else 15 if 15 in self.scales else self.scales[len(self.scales) // 2]

    def curve(self, column: Column) -> list[Column]:
        """The columns that differ from this one in the number of neighbors only, by rising number."""
        family = [c for c in self.columns if c.measure == column.measure and scale_of(c) is not None]
        rest = without(column.parameters, SCALE)
        return sorted((c for c in family if without(c.parameters, SCALE) == rest), key=lambda c: scale_of(c) or 0)

    @cached_property
    def main(self) -> tuple[Column, ...]:
        """One column for each measure: at the scale k where it was run there, else at the scale nearest to it."""
        chosen: dict[str, Column] = {}
        for column in self.columns:
            k = scale_of(column)
            old = chosen.get(column.measure)
            if old is None or (k is not None and self._far(column) < self._far(old)):
                chosen[column.measure] = column
        return tuple(chosen.values())

    def _far(self, column: Column) -> float:
        k = scale_of(column)
        return math.inf if k is None or self.k is None else abs(math.log(k / self.k))

    def find(self, measure: str) -> Column | None:
        """The main column of a measure, if it was run."""
        return next((column for column in self.main if column.measure == measure), None)

    @cached_property
    def by_subject(self) -> tuple[Column, ...]:
        """The main columns, those that speak of one subject side by side."""
        return tuple(sorted(self.main, key=lambda column: ORDER.index(column.subject)))

    @cached_property
    def curves(self) -> tuple[tuple[Column, ...], ...]:
        """The families of columns that were run at more than one number of neighbors."""
        families = {(c.measure, without(c.parameters, SCALE)): tuple(self.curve(c)) for c in self.main}
        return tuple(family for family in families.values() if len(family) > 1)


def parameter(parameters: str, name: str) -> str | None:
    """The value of one parameter in ``name=value, name=value``."""
    pairs = (part.strip().partition("=") for part in parameters.split(","))
    return next((value for key, _, value in pairs if key == name), None)


def without(parameters: str, name: str) -> str:
    """The parameters but one."""
    return ", ".join(p for part in parameters.split(",") if (p := part.strip()) and p.partition("=")[0] != name)


def parameter_words(parameters: str) -> str:
    """Parameters as they are printed."""
    return parameters.replace("n_neighbors=", "k = ").replace("n_folds=", "folds = ")


def scale_of(column: Column) -> int | None:
    """Number of neighbors of a column, None where the measure has none."""
    text = parameter(column.parameters, SCALE)
    return int(text) if text is not None and text.isdigit() else None


def read_results(results: Results) -> Reading:
    """Read a result: of replicates of an embedding the mean is read."""
    table = over_replicates(results.table)
    curves = {name for name in table["measure"].unique() if name in MEASURES and MEASURES.card(name).curve}
    kept = table[(table["test"] == "") & (table["measure"] != "") & ~table["measure"].isin(curves)]
    kept = kept.drop_duplicates(["embedding", "measure", "parameters"])
    columns: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in kept.to_dict("records"):
        columns.setdefault((row["measure"], row["parameters"]), []).append(row)
    return Reading(
        names=tuple(results.names),
        failed=results.failed,
        columns=tuple(make_column(measure, parameters, rows) for (measure, parameters), rows in columns.items()),
        tests=tuple(table[table["test"] != ""].to_dict("records")),
        recipe=results.recipe,
        rows=tuple(kept.to_dict("records")),
        collapsed=tuple(name for name, Y in results.embeddings.items() if len(Y) > 1 and bool((Y == Y[:1]).all())),
    )


def make_column(measure: str, parameters: str, rows: list[dict[str, Any]]) -> Column:
    """One column of the rows of one measure; what no card says is read from the table."""
    card = MEASURES.card(measure) if measure in MEASURES else None
    said = [row for row in rows if row["direction"]]
    low, high = said[0]["lower"] if said else math.nan, said[0]["upper"] if said else math.nan
    bounds = card.bounds if card else (-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)
    direction = said[0]["direction"] if said else card.direction if card else "higher"
    return Column(
        measure=measure,
        parameters=parameters,
        title=card.title if card else measure,
        symbol=card.symbol if card else "",
        question=card.question if card else "",
        direction=direction if direction in DIRECTIONS else "higher",
        bounds=(float(bounds[0]), float(bounds[1])),
        cells={row["embedding"]: _cell(row) for row in rows},
        subject=_subject(card),
        whole=card is not None and card.whole,
    )


def _subject(card: Any) -> str:
    """What a measure speaks of, by what it reads; empty where no card says it."""
    needs = set(card.needs) if card else set()
    for subject, words in SUBJECTS.items():
        if needs & words:
            return subject
    return ""


def _cell(row: Mapping[str, Any]) -> Cell:
    value = float(row["value"])
    if not math.isfinite(value):
        return Cell(math.nan, note=row["note"] or "not computed")
    keys = {"low": "conf_low", "high": "conf_high", "chance": "chance", "worst": "worst", "best": "best"}
    return Cell(value, note=row["note"], **{key: float(row[name]) for key, name in keys.items()})
