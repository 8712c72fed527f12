"""The tables of numbers of other programs: printed numbers are the stored ones, and each difference has a reason."""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
import test_other_tools as names_elsewhere
from each import each
from measure_calls import call_measure
from page_tables import README
from scipy.spatial.distance import pdist
from test_vignettes import cells
from validation.oracles import digits_numbers, two_clouds
from validation.oracles.names import Names
from validation.oracles.two_clouds import CLOUDS, cloud

import dreval

TEXT = (README.parent / "vignettes" / "other-numbers.md").read_text("utf-8")
STORED = digits_numbers.stored()
K = digits_numbers.N_NEIGHBORS
CASES = digits_numbers.oracle_cases()
PICTURES = [name for name in CASES if name != "copies"]
NAMES = {name: Names(data, K) for name, data in CASES.items()}
TIES = 1e-3  # more than the order of tied neighbors moves any of these numbers: see the test of the bounds


class Row(NamedTuple):
    """A line of a table: ``printed`` are the cells of the three embeddings, "reference" or "reference / ours"."""

    program: str
    foreign_name: str
    ours: str
    printed: tuple[str, ...]

    def numbers(self, embedding: str) -> tuple[float, float]:
        """Return the stored number of the program, and ours as computed now."""
        return STORED[self.program][embedding][self.foreign_name], float(NAMES[embedding].value(self.ours))


def _rows(title: str) -> list[Row]:
    """Return the lines of the table under a title."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, flags=re.DOTALL | re.MULTILINE)
    assert section is not None
    lines = [line.strip("|").split("|") for line in section[1].splitlines() if line.startswith("| ")]
    result = [[cell.strip().strip("`") for cell in line] for line in lines if line[0].strip() not in ("program", "---")]
    return [Row(*line[:3], tuple(line[3:])) for line in result if not line[1].startswith("snc")]


EQUAL, TIED, DIFFERENT = (
    _rows(title) for title in ("The same number", "The same number, except for ties", "Another number")
)
ITSELF = _rows("The point itself")


def _label(row: Row) -> str:
    return f"{row.program}: {row.foreign_name}"


def _explained_as(row: names_elsewhere.Row) -> str:
    """Return a row of the page of names in other tools by the names of this page."""
    return f"{row.tool.split()[0].strip(',')}, {row.foreign_name.removeprefix('cm.')}"


EXPLAINED = [row for row in names_elsewhere.COMPARED if f'"{_explained_as(row)}": lambda' in TEXT]


@pytest.fixture(scope="module")
def explanations() -> dict[str, Any]:
    """Return the functions of the page that compute the numbers of other programs, by "program, name"."""
    namespace: dict[str, Any] = {"__name__": "__vignette__"}
    for cell in cells(TEXT):
        exec(cell, namespace)
    return namespace["explanations"]


def _decimals(cell: str) -> int:
    return len(cell.partition(".")[2])


def _tie_bounds(row: Row, embedding: str) -> tuple[float, float] | None:
    """Return the worst and the best value over ties, for measures that have them."""
    name, at = re.fullmatch(r"(\w+)(\[k\])?.*", row.ours).groups()  # type: ignore[union-attr]
    parameters = inspect.signature(getattr(dreval, name)).parameters
    if "ties" not in parameters or "." in row.ours:
        return None
    options = {"n_neighbors": K} if "n_neighbors" in parameters else {}
    bounds = call_measure(name, *CASES[embedding][:2], ties="bounds", **options)
    ends = bounds.loc[K] if at else bounds
    remaining = row.ours.removeprefix(name + (at or ""))
    worst, best = (eval(f"{ends[end]}{remaining}", {"n": 300}) for end in ("worst", "best"))
    return worst, best


@each("row", EQUAL + TIED + DIFFERENT + ITSELF)
def test_the_tables_print_the_numbers_of_the_programs_and_ours(row: Row) -> None:
    """Every printed number is the stored one, and after the slash the one computed now, rounded."""
    for embedding, cell in zip(["copies"] if row in ITSELF else PICTURES, row.printed, strict=True):
        output = cell.split(" / ")
        for number, value in zip(output, row.numbers(embedding), strict=False):
            assert float(number) == pytest.approx(value, abs=0.5000001 * 10.0 ** -_decimals(number))
        assert len(output) == (1 if row in EQUAL else 2)


@each("row", EQUAL)
def test_the_same_number_is_the_same_to_9_digits(row: Row) -> None:
    """The numbers agree on all three embeddings."""
    for embedding in PICTURES:
        reference, ours = row.numbers(embedding)
        assert ours == pytest.approx(reference, rel=1e-9)


@each("row", TIED)
def test_tied_neighbors_explain_differences_that_are_attributed_to_ties(row: Row) -> None:
    """Some embedding has another number; all are close, and within the bounds over ties if the measure has them."""
    pairs = {embedding: row.numbers(embedding) for embedding in PICTURES}
    assert any(abs(ours - reference) > 1e-9 for reference, ours in pairs.values())
    assert all(abs(ours - reference) < TIES for reference, ours in pairs.values())
    for embedding, (reference, _) in pairs.items():
        worst, best = _tie_bounds(row, embedding) or (-np.inf, np.inf)
        assert worst - 1e-12 <= reference <= best + 1e-12


def test_another_unit_changes_the_number_of_distances_but_not_ours() -> None:
    """Dividing by 3 rounds: 4,269 different distances become more than 9,000, and every value stays."""
    X, Y = CASES["PCA"][:2]
    counts = [len(np.unique(pdist(Z))) for Z in (X, X / 3)]
    assert counts[0] == 4269
    assert counts[1] > 9000
    assert "turns 4,269 different distances into\nmore than 9,000" in TEXT
    for measure in (dreval.trustworthiness, dreval.continuity, dreval.mrre_false):
        assert measure(X / 3, Y, n_neighbors=K) == measure(X, Y, n_neighbors=K)


@each("row", ITSELF)
def test_only_the_program_that_removes_the_wrong_point_exceeds_the_bounds(row: Row) -> None:
    """With every digit twice: within the bounds over ties, but for pyDRMetrics, which is far below."""
    reference, _ = row.numbers("copies")
    bounds = _tie_bounds(row, "copies")
    assert bounds is not None
    if row.program == "pyDRMetrics":
        assert reference < bounds[0] - 0.03
    else:
        assert bounds[0] - 1e-12 <= reference <= bounds[1] + 1e-12


@each("row", DIFFERENT)
def test_the_explanation_of_another_number_gives_that_number(row: Row, explanations: dict[str, Any]) -> None:
    """Our value differs; the function of the page has the program's value on each embedding, up to ties."""
    explained = explanations[f"{row.program}, {row.foreign_name}"]
    for embedding in PICTURES:
        reference, ours = row.numbers(embedding)
        assert abs(ours - reference) > 1e-4
        assert explained(*CASES[embedding][:2], K) == pytest.approx(reference, abs=TIES)


def test_every_difference_is_explained(explanations: dict[str, Any]) -> None:
    """The rows are those of this page and of the names in other tools, and no others."""
    left = {f"{row.program}, {row.foreign_name}" for row in DIFFERENT}
    right = {_explained_as(row) for row in names_elsewhere.COMPARED if row.numbers == "different"}
    assert set(explanations) == left | right == {_explained_as(row) for row in EXPLAINED}


@each("row", EXPLAINED)
def test_explanations_are_exact_where_there_are_no_ties(row: names_elsewhere.Row, explanations: dict[str, Any]) -> None:
    """On the two small clouds each has the program's number to 9 digits; Vrs to 6: its distances are not symmetric."""
    explained = explanations[_explained_as(row)]
    for small in CLOUDS:
        data = cloud(small)
        reference = two_clouds.read(names_elsewhere.STORED[row.tool])[small][row.foreign_name]
        digits = 1e-6 if row.foreign_name == "Vrs" else 1e-9
        assert explained(data.X, data.Y, two_clouds.N_NEIGHBORS) == pytest.approx(reference, rel=digits)


def test_seeds_of_a_random_measure_differ_as_printed() -> None:
    """Steadiness and cohesiveness of ZADU with two seeds."""
    table_rows = re.findall(r"^\| ZADU \| `(snc: \w+, seed \d)` \| (.*) \|$", TEXT, flags=re.MULTILINE)
    assert len(table_rows) == 4
    for name, numbers in table_rows:
        stored = [STORED["ZADU"][embedding][name] for embedding in PICTURES]
        assert [float(number) for number in numbers.split(" | ")] == pytest.approx(stored, abs=5.1e-5)


def test_versions_are_those_that_were_run() -> None:
    """The versions on the page are those in the stored files."""
    text = re.search(r"Equal to 9 digits.*?\.\n", TEXT, flags=re.DOTALL)
    assert text is not None
    versions = re.findall(r"([A-Za-z-]+) (\d[\d.]*\d)", text[0])
    assert len(versions) == 6
    for tool, version in versions:
        assert any(result.lower().startswith(f"{tool} {version}".lower()) for result in STORED["versions"])


def test_the_page_computes_the_embedding_that_was_stored(explanations: dict[str, Any]) -> None:
    """The principal components of the page are the input of the programs."""
    Y = explanations["dimRed, Q_global"].__globals__["Y"]
    np.testing.assert_allclose(Y, CASES["PCA"].Y, atol=1e-4 * (1 + 1e-9))
