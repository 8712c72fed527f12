"""The numbers of small evaluations equal the stored ones, with all digits on the same machine."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from golden.entries import Entries, Rows, summary_of
from golden.scenarios import SCENARIOS, Scenario
from golden.stored import (
    FOLDER,
    HOW_TO_WRITE,
    MISSING,
    PACKAGES,
    RELATIVE,
    SUMS,
    Difference,
    differences,
    machine,
    read,
    report,
    same_machine,
    write,
    written_names,
)

import dreval
from dreval.registry import ANALYSES

MAX_BYTES = 2_000_000  # of all stored entries
N_SCENARIOS = 43
ABOVE_ONE_SECOND = {
    "anchors_of_many_points", "angles_between_rows", "batches_and_latent_variables", "certificates_and_maps",
    "classes_of_digits", "coordinates_of_searches", "labels_with_gaps", "local_shapes", "neighbors_of_digits",
    "noise_of_null_data", "pairs_of_points", "precomputed_distances", "sparse_data", "sums_over_columns",
    "tests_against_data_and_residual", "ties_everywhere",
}  # fmt: skip
FUNCTIONS = (  # public functions with numbers that no registry lists
    "bandwidth_curve", "centroid_triplets", "dependence_ranking", "kappa_curve", "recommend",
)  # fmt: skip


@pytest.fixture(scope="module")
def same() -> bool:
    """Return whether floats must be equal on this machine."""
    return same_machine(read("header"), machine())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in ABOVE_ONE_SECOND else ()) for name in SCENARIOS]
)
def test_numbers_are_the_stored_ones(name: str, same: bool) -> None:
    """Every entry of the scenario is equal on the machine of the stored ones, and equal but for rounding elsewhere."""
    changes = list(differences(SCENARIOS[name], read(name), SCENARIOS[name].run(), exact=same))

    assert not changes, report(changes)


def test_stored_files_belong_to_the_scenarios() -> None:
    """Each of the expected scenarios has a sentence and a small file, and one row is one line."""
    assert written_names() == set(SCENARIOS)
    assert len(SCENARIOS) == N_SCENARIOS
    assert all(scenario.title.endswith(".") and "\n\n" not in scenario.title for scenario in SCENARIOS.values())
    assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < MAX_BYTES
    for name in SCENARIOS:
        text = (FOLDER / f"{name}.json").read_text("utf-8").splitlines()
        assert len(text) == len(read(name)) + 2


def test_header_names_versions_processor_and_linear_algebra() -> None:
    """The header says which machine the stored floats belong to."""
    header = read("header")

    assert {"dreval", "python", "processor", "compiled for", *PACKAGES} <= set(header)
    assert all(pool["architecture"] and pool["version"] for pool in header["linear algebra"])
    assert all(pool["num_threads"] == 1 for pool in header["linear algebra"])


def _rows() -> list[list[str]]:
    return [[name, *row.split(" | ")] for name in SCENARIOS for row in read(name)]


def test_every_measure_method_test_and_score_has_entries() -> None:
    """Each measure, method, test, score and data set that dreval lists has a finite number among the entries."""
    finite: set[str] = set()
    for name in SCENARIOS:
        for row, cells in read(name).items():
            numbers = [cells.get("value"), cells.get("mean"), cells.get("statistic"), *cells.get("values", [])]
            if any(isinstance(number, float) and math.isfinite(number) for number in numbers):
                table, *parts = row.split(" | ")
                finite |= {" | ".join([table.partition(" of ")[0], *parts[:1]])}
    points = {row[2].partition("(")[0] for row in _rows() if row[1].startswith("augment")}
    beginnings = {row[1].split()[0] for row in _rows()}

    curves = {name for name in dreval.list_measures() if dreval.card(name, "measure").curve}
    tables = {f"tidy | {name}" for name in dreval.list_measures() if name not in curves}
    assert tables | {f"curve | {name}" for name in curves} <= finite
    assert {f"coordinates | {name}" for name in dreval.list_methods()} <= finite
    assert {f"tidy | {name}" for name in dreval.list_tests()} <= {" | ".join(row[1:3]) for row in _rows()}
    assert {*dreval.list_tests()} <= beginnings
    assert {*dreval.list_analyses(), *ANALYSES, *FUNCTIONS} <= beginnings
    assert {name for name in dreval.list_measures() if dreval.card(name, "measure").level == "point"} <= points
    simulated = {name for name in dreval.list_datasets() if dreval.card(name, "dataset").origin != "loader"}
    assert {f"dataset | {name}" for name in simulated} <= finite


def test_iterative_rows_exist() -> None:
    """Each prefix that a scenario declares as iterative is the beginning of the name of a row."""
    unused = [
        (name, prefix)
        for name, scenario in SCENARIOS.items()
        for prefix in scenario.iterative
        if not any(row.startswith(prefix) for row in read(name))
    ]

    assert unused == []


# The comparing function ---------------------------------------------------------------------------------

EXAMPLE = Scenario("example", len, iterative=("coordinates | tsne",))
OLD: Rows = {
    "tidy | stress | pca": {"value": 0.5, "n_groups": 60, "target": "points"},
    "tidy | stress | umap": {"value": 1e-13, "n_groups": 60},
    "ranking | stress | pca": {"rank": 1, "in_best_set": True, "p_adjusted": 0.25},
    "neighbors in the data": summary_of(np.arange(40).reshape(20, 2)),
    "augment | stress | pca": summary_of(np.linspace(-1.0, 1.0, 50)),
    "coordinates | tsne": summary_of(np.linspace(0.0, 3.0, 50)),
    "notes | stress | ties.index": {},
}


def _changed(row: str, **cells: Any) -> Rows:
    new = copy.deepcopy(OLD)
    new[row].update(cells)
    return new


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        ("tidy | stress | pca", "value", 0.5 * (1 + 3 * RELATIVE)),
        ("tidy | stress | umap", "value", 1e-11),
        ("tidy | stress | pca", "n_groups", 61),
        ("tidy | stress | pca", "n_groups", 60.0),
        ("tidy | stress | pca", "target", "anchors"),
        ("ranking | stress | pca", "rank", 2),
        ("ranking | stress | pca", "in_best_set", False),
        ("augment | stress | pca", "moment", OLD["augment | stress | pca"]["moment"] + 3e-9),
        ("neighbors in the data", "checksum", "0123456789abcdef"),
        ("tidy | stress | pca", "value", math.nan),
    ],
)
def test_a_wrong_digit_rank_name_or_list_is_reported(row: str, column: str, value: Any, exact: bool) -> None:
    """One wrong entry is one difference, with its name, the old and the new value; no other entry is reported."""
    (change,) = differences(EXAMPLE, OLD, _changed(row, **{column: value}), exact=exact)

    assert change[:2] == ("example", f"{row} | {column}")
    assert change.old == OLD[row][column]
    assert repr(change.new) == repr(value)


@pytest.mark.parametrize("exact", [True, False])
def test_a_missing_or_extra_entry_is_reported(exact: bool) -> None:
    """A missing or new row or cell is a difference, also for a note without values."""
    fewer = copy.deepcopy(OLD)
    del fewer["notes | stress | ties.index"], fewer["tidy | stress | pca"]["target"]
    extra = copy.deepcopy(OLD) | {"tidy | stress | isomap": {"value": 1.0}}
    extra["ranking | stress | pca"]["note"] = 1

    gone, new = (list(differences(EXAMPLE, OLD, rows, exact=exact)) for rows in (fewer, extra))
    assert gone == [
        Difference("example", "notes | stress | ties.index", "", MISSING),
        Difference("example", "tidy | stress | pca | target", "points", MISSING),
    ]
    assert new == [
        Difference("example", "ranking | stress | pca | note", MISSING, 1),
        Difference("example", "tidy | stress | isomap", MISSING, "value=1.0"),
    ]


def test_a_list_of_another_length_and_a_changed_value_of_it_are_reported() -> None:
    """The difference of lists of equal length names the place; lists of unequal length are printed whole."""
    values = list(OLD["augment | stress | pca"]["values"])

    (place,) = differences(
        EXAMPLE, OLD, _changed("augment | stress | pca", values=[*values[:3], 0.0, *values[4:]]), exact=False
    )
    (length,) = differences(EXAMPLE, OLD, _changed("augment | stress | pca", values=values[:3]), exact=False)
    assert place == ("example", "augment | stress | pca | values[3]", values[3], 0.0)
    assert length.new == values[:3]


def test_rounding_is_a_difference_on_the_same_machine_only() -> None:
    """The last digit, a checksum of floats and coordinates of iterative methods differ elsewhere without a report."""
    new = copy.deepcopy(OLD)
    new["tidy | stress | pca"]["value"] = math.nextafter(0.5, 1)
    new["tidy | stress | umap"]["value"] = 1.2e-13
    new["augment | stress | pca"]["checksum"] = "0123456789abcdef"
    new["coordinates | tsne"] = summary_of(np.linspace(0.0, 4.0, 50))

    exact = {f.entry.rpartition(" | ")[0] for f in differences(EXAMPLE, OLD, new, exact=True)}
    assert exact == set(OLD) - {"ranking | stress | pca", "neighbors in the data", "notes | stress | ties.index"}
    assert list(differences(EXAMPLE, OLD, new, exact=False)) == []


def test_summaries_detect_an_exchange_of_two_values() -> None:
    """In a long array, a change of a value that is not stored and an exchange of two are detected on any machine."""
    values = np.linspace(0.0, 1.0, 200)
    exchanged, moved = values.copy(), values.copy()
    exchanged[[3, 7]], moved[55] = exchanged[[7, 3]], moved[55] + 1e-5
    old: Rows = {"augment | x": summary_of(values)}

    for changed in (exchanged, moved):
        entries = {
            change.entry for change in differences(EXAMPLE, old, {"augment | x": summary_of(changed)}, exact=False)
        }
        assert entries
        assert entries <= {f"augment | x | {column}" for column in SUMS}


def test_entries_have_one_name_each_and_no_wordings() -> None:
    """Rows of the same name are numbered; missing cells, sentences in notes and the sign of zero are left out."""
    entries = Entries()
    for value in (1.5, -0.0):
        entries.row(["tidy", "stress", ""], {"value": value, "p_value": math.nan, "note": ""})
    results = dreval.Evaluation(np.eye(4)[:, :3], {"a": np.eye(4)[:, :2]}, labels=list("aabb"), random_state=0).run(
        ["silhouette", "trustworthiness", "stability"], None, None
    )
    entries.results(results)

    assert entries.rows["tidy | stress"] == {"value": 1.5}
    assert repr(entries.rows["tidy | stress #2"]["value"]) == "0.0"
    cells = [value for row in entries.rows.values() for value in row.values() if isinstance(value, str)]
    assert not any(" " in value for value in cells if "," not in value)
    (refused,) = [row for name, row in entries.rows.items() if name.startswith("notes | stability | ")]
    assert refused == {"argument": "embeddings['a']"}


def test_report_shows_the_first_differences_and_how_to_write() -> None:
    """A failed test prints old and new values, how many there are, and the command that writes them."""
    many = [Difference("example", f"tidy | {number} | value", 0.5, 0.25) for number in range(50)]

    text = report(many)
    assert text.startswith("50 entries differ")
    assert "example | tidy | 0 | value | 0.5 | 0.25" in text
    assert "30 more" in text
    assert text.endswith(HOW_TO_WRITE)


def test_written_entries_are_read_with_all_digits(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Floats keep every bit, also the smallest and the missing one; rows are sorted."""
    monkeypatch.setattr("golden.stored.FOLDER", tmp_path)
    rows: Rows = {"b": {"value": 0.1 + 0.2, "least": 5e-324}, "a": {"values": [math.nan, math.inf, 1]}}

    write("example", rows)
    assert repr(read("example")) == repr(dict(sorted(rows.items())))


def test_any_part_of_the_header_identifies_another_machine() -> None:
    """Another version, processor, kernel or a second thread ends equality; another version of dreval does not."""
    header = machine()
    pool = {**header["linear algebra"][0]}

    assert same_machine(header, header)
    assert same_machine({**header, "dreval": "0"}, header)
    for change in ({"numpy": "0"}, {"processor": "x"}, {"linear algebra": [{**pool, "architecture": "x"}]}):
        assert not same_machine({**header, **change}, header)
    threads = {**header, "linear algebra": [{**pool, "num_threads": 2}]}
    assert not same_machine(threads, threads)
