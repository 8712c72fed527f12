"""The printed summary of an evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dreval.glossary import DATA_CAVEAT, DIRECTIONS
from dreval.registry import INDICES
from dreval.results.base import Block, Summary, format_number, format_p, significance_stars
from dreval.results.table import over_replicates

if TYPE_CHECKING:
    from dreval.results.table import Results

__all__ = ["index_title", "short_parameters", "summarise"]

COUNTED = ("n_transformations", "n_folds")  # parameters of which ``n_resamples`` is what was run


def summarise(results: Results) -> Summary:
    """Header, one block an index (embeddings down), tests, failures, and numbered notes."""
    recipe, table = results.recipe, results.table
    rows = over_replicates(table[table["test"] == ""])
    rows = rows[(rows["index"] != "") & ~rows["index"].map(_is_curve).astype(bool)]
    blocks = [_index_block(str(name), part) for name, part in rows.groupby("index", sort=False)]
    tests = table[table["test"] != ""]
    if len(tests):
        blocks.append(_test_block(tests))
    notes = [*_notes(recipe, table), *_curve_notes(results)]
    return Summary("Evaluation of embeddings", _header(results), blocks, notes)


def _header(results: Results) -> list[tuple[str, str]]:
    recipe = results.recipe
    anchors = recipe.get("anchors")
    return [
        ("Data:", str(recipe.get("dataset") or "(array)")),
        ("Points n:", format_number(recipe.get("n"))),
        ("Columns p:", format_number(recipe.get("p"))),
        ("Metric:", str(recipe.get("metric", ""))),
        ("Embeddings:", format_number(len(results.names))),
        ("Anchors:", format_number(anchors) if anchors else "all points"),
        ("Seed:", str(recipe.get("random_state", ""))),
        ("dreval:", str(recipe.get("versions", {}).get("dreval", ""))),
    ]


def _is_curve(name: str) -> bool:
    """Whether an index has no single value; where it could not be computed a note says why."""
    return name in INDICES and bool(INDICES.card(name).curve)


def _index_block(name: str, rows: Any) -> Block:
    card = INDICES.card(name) if name in INDICES else None
    title = f"{index_title(name)}, {DIRECTIONS[card.direction]}" if card else name
    settings, common = _settings(rows, card is not None and card.level == "algorithm")
    several = any(settings)
    ties, interval = rows["worst"].notna().any(), rows["ci_low"].notna().any()
    words = "" if card is not None and card.level == "algorithm" else short_parameters(common)
    shared = f", {words}" if words else ""
    columns = ["", *([""] if several else []), "value", *(["95 % interval"] if interval else []), "chance"]
    lines = []
    for row, setting in zip(rows.to_dict("records"), settings, strict=True):
        value = format_number(_counted(card, row["value"])) or "missing"
        line = [row["embedding"], *([short_parameters(setting)] if several else []), value]
        if interval:
            line.append(_interval(row["ci_low"], row["ci_high"]))
        line.append(format_number(row["chance"]))
        if ties:
            line.append(_interval(row["worst"], row["best"]))
        lines.append(line)
    return Block(title + shared, columns + (["worst, best"] if ties else []), lines)


def _settings(rows: Any, runs: bool) -> tuple[list[str], str]:
    """What each row has of parameters that differ between rows, and the parameters that all rows have.

    Where an index is made of ``runs`` and more were asked for than there are, what was run is said.
    """
    every = [re.split(r", (?=\w+=)", words) for words in rows["parameters"]]
    if runs:
        every = [[_run_of(word, ran) for word in words] for words, ran in zip(every, rows["n_resamples"], strict=True)]
    common = [word for word in every[0] if all(word in words for words in every)]
    return [", ".join(word for word in words if word not in common) for words in every], ", ".join(common)


def _run_of(word: str, ran: float) -> str:
    """A parameter as it was run: not more transformations or folds than there were."""
    name, _, asked = word.partition("=")
    return f"{name}={ran:.0f}" if name in COUNTED and asked.isdigit() and 0 < ran < int(asked) else word


def _counted(card: Any, value: float) -> float:
    """The value of an index whose values are whole numbers as one."""
    return int(value) if card is not None and card.whole and float(value).is_integer() else value


def index_title(name: str) -> str:
    """An index in words with its symbol; a name that no card has stays."""
    card = INDICES.card(name) if name in INDICES else None
    return f"{card.title} ({card.symbol})" if card else name


def short_parameters(parameters: str) -> str:
    """Parameters as they are printed beside a title."""
    return parameters.replace("n_neighbors=", "k = ").replace("n_folds=", "folds = ")


def _interval(low: float, high: float) -> str:
    return f"[{format_number(low)}, {format_number(high)}]" if low == low else ""


def _test_block(rows: Any) -> Block:
    lines = [
        [
            f"{row['embedding']} ~ {row['target']}",
            row["test"],
            _digits(row["statistic"]) or "missing",
            _digits(row["chance"]),
            format_number(row["effect_size"]),
            format_p(row["p_value"]),
            format_p(row["p_adjusted"]),
            _codes(row),
        ]
        for row in rows.to_dict("records")
    ]
    return Block("Tests of independence", ["", "test", "statistic", "chance", "effect", "p", "p adj.", ""], lines)


def _codes(row: Any) -> str:
    """Significance codes; none where dependence is certain."""
    if row["note"].startswith(DATA_CAVEAT):
        return ""
    return significance_stars(row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"])


def _digits(value: float) -> str:
    """Four significant digits: the scales of statistics differ by powers of ten."""
    return "" if value != value else f"{value + 0.0:.4g}"


def _curve_notes(results: Results) -> list[str]:
    """Where the curves are, which are too long to be printed."""
    names = list(dict.fromkeys(results.curves["index"]))
    said = "Curves over the number of neighbors K: {}; see results.curve({!r})."
    return [said.format(", ".join(names), names[0])] if names else []


def _replicate_notes(table: Any) -> Iterator[str]:
    """Whose values are means over runs, and what is not."""
    runs = table[table["test"] == ""].groupby("embedding", sort=False)["replicate"].max() + 1
    runs = runs[runs > 1]
    if len(runs):
        counts = ", ".join(f"{name} ({count})" for name, count in runs.items())
        yield f"Values are means over runs of the method: {counts}. All else speaks of the first run."


def _notes(recipe: Any, table: Any) -> list[str]:
    """Notes on the data first, then those of rows, each once with the embeddings it concerns, then how to read."""
    notes = list(recipe.get("notes", ()))
    known = table[(table["test"] != "") & (table["parameters"] != "")]
    sizes = dict(zip(known["test"], known["parameters"].str.removeprefix("effect_size="), strict=True))
    said = ", ".join(f"{size} ({test})" for test, size in sizes.items())
    notes += [f"Effect sizes: {said}; chance: mean of the statistic by chance."] if said else []
    notes += [f"{name} failed: {reason}" for name, reason in recipe.get("failed", {}).items()]
    notes += list(_replicate_notes(table))
    marked = table[(table["note"] != "") & ~table["embedding"].isin(recipe.get("failed", {}))]
    alike: dict[tuple[str, str], list[str]] = {}
    for (index, note), part in marked[marked["test"] == ""].groupby(["index", "note"], sort=False):
        alike.setdefault((note, _listed(part["embedding"])), []).append(index)
    notes += [f"{', '.join(what)} of {who}: {note.rstrip('.')}." for (note, who), what in alike.items()]
    notes += _test_notes(marked[marked["test"] != ""])
    methods = list(table[table["ci_method"] != ""].groupby("ci_method", sort=False))
    for method, part in methods:
        of = f" of {', '.join(dict.fromkeys(part['index']))}" if len(methods) > 1 else ""
        notes.append(f"95 % intervals{of}: {method}, for {part['target'].iloc[0]}.")
    if table["p_value"].notna().any():
        how = "not adjusted" if recipe.get("adjust") == "nothing" else f"adjusted by {recipe.get('adjust')}"
        notes.append(f"p {how}; codes: 0 *** .001 ** .01 * .05 . .1")
    return list(dict.fromkeys(notes))


def _test_notes(rows: Any) -> list[str]:
    """What is said of tests, once for all embeddings, variables and tests that it is said of."""
    notes = []
    for note, part in rows.groupby("note", sort=False):
        said: dict[tuple[str, str], list[str]] = {}
        for target, here in part.groupby("target", sort=False):
            who = here.groupby("test", sort=False)["embedding"].agg(_listed)
            for names, tests in who.groupby(who, sort=False):
                said.setdefault((names, _listed(tests.index)), []).append(target)
        for (names, tests), targets in said.items():
            notes.append(f"{names} ~ {_listed(targets)} ({tests}): {note.rstrip('.')}.")
    return notes


def _listed(names: Any) -> str:
    """Names, each once, with commas."""
    return ", ".join(dict.fromkeys(names))
