"""Tables of names in other tools: our names exist, all names are complete, and the numbers agree with the tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from each import each
from page_tables import tool_sections
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, normalized_mutual_info_score
from validation.oracles.names import Names
from validation.oracles.two_clouds import CLOUDS, N_NEIGHBORS, cloud, nine_classes, read

import dreval

SCORES = {
    "kmeans_ari": adjusted_rand_score,
    "kmeans_ami": adjusted_mutual_info_score,
    "kmeans_nmi": normalized_mutual_info_score,
}
STORED = {  # the section of a tool whose numbers are stored, and their file
    "ZADU 0.5.4": "zadu",
    "tensorflow-projection-qm 0.3.1": "projection_qm",
    "PaCMAP, source 2e7237a": "pacmap",
    "scib-metrics 0.6.1": "scib_metrics",
    "SciPy 1.17, scikit-learn 1.9": "scipy_scikit_learn",
    "energy 1.7 (R)": "energy",
    "pyDRMetrics 0.0.8": "pydrmetrics",
    "coRanking, source 1db65b5 (R)": "coranking",
    "dimRed 0.2.6 (R)": "dimred",
}
NONE = "—"


class Row(NamedTuple):
    """A line of a table."""

    tool: str
    foreign_name: str
    ours: str
    numbers: str
    remark: str


def _rows() -> Iterator[Row]:
    """Return all lines of all tables of the pages."""
    for section in tool_sections():
        tool = section.splitlines()[0]
        if "| theirs |" not in section:
            continue
        for line in section.splitlines():
            if line.startswith("| ") and not line.startswith(("| theirs", "| ---")):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                assert len(cells) == 4, line
                yield Row(tool, cells[0].strip("`"), cells[1].strip("`"), cells[2], cells[3])


ROWS = list(_rows())
OFFERED = [row for row in ROWS if row.ours != NONE]
COMPARED = [row for row in OFFERED if row.tool in STORED and row.numbers != "not run"]
NAMES = {name: Names(cloud(name), N_NEIGHBORS) for name in CLOUDS}
CENTROIDS = {name: Names(nine_classes(name), N_NEIGHBORS) for name in CLOUDS}


def _ours(row: Row, name: str) -> float | np.ndarray:
    return (CENTROIDS if row.tool.startswith("PaCMAP") else NAMES)[name].value(row.ours)


def _label(row: Row) -> str:
    return f"{row.tool}: {row.foreign_name}"


def _with_medians(row: Row, name: str) -> float:
    """Compute our measure with medians in place of means: of the coordinates of a class, or of the values of points."""
    if row.ours == "centroid_triplet_accuracy":
        X, Y, labels = nine_classes(name)
        middle = [np.array([np.median(Z[labels == c], axis=0) for c in range(9)]) for Z in (X, Y)]
        return dreval.centroid_triplet_accuracy(*middle, labels=range(9))
    X, Y, labels = cloud(name)
    ev = dreval.Evaluation(X, {"e": Y}, labels=labels, batch=np.arange(len(X)) // 3 % 2, random_state=0)
    return float(ev.run(row.ours, None, None).points["e"][row.ours].median())


@each("row", OFFERED)
def test_our_expressions_in_the_tables_exist(row: Row) -> None:
    """The expression reads names of the registry only, and has a finite value."""
    assert np.isfinite(np.asarray(_ours(row, "a"), float)).all()


@each("row", ROWS)
def test_a_row_names_its_check_or_the_reason_without_one(row: Row) -> None:
    """Not offered: the reason. Offered: equal, different (why), or not run (why, in a tool that was). Names exist."""
    if row.ours == NONE:
        assert row.numbers == NONE
        assert row.remark
    elif row.tool in STORED:
        assert re.fullmatch(
            r"equal( to 1e-\d+| on two-way edges)?|different|one start|medians|draws|not run", row.numbers
        )
        assert row.remark or row.numbers == "equal"
    else:
        assert row.numbers == "not run"
    assert all(
        hasattr(dreval, word)
        for word in re.findall(r"`([a-z][a-z0-9]*_[a-z0-9_]+)`", row.remark)
        if word not in {"random_state", "n_init"}
    )


@each("tool", STORED)
def test_the_tables_have_every_name_of_a_tool(tool: str) -> None:
    """Names are those that the tool listed when its numbers were stored, and the versions agree."""
    stored = read(STORED[tool])
    for name in CLOUDS:
        assert set(stored[name]) <= {row.foreign_name for row in ROWS if row.tool == tool}
        assert {row.foreign_name for row in COMPARED if row.tool == tool} <= set(stored[name])
    for version in re.findall(r"[A-Za-z-]+ [\d.]+|[A-Za-z]+, source \w+", tool):
        assert any(result.lower().startswith(version.lower()) for result in stored["versions"])


@each("name", CLOUDS)
@each("row", COMPARED)
def test_numbers_are_as_the_tables_say(row: Row, name: str) -> None:
    """Equal to 9 digits or to the stated number; different by more than 1 in 1000; or that of one start of k-means."""
    reference, ours = read(STORED[row.tool])[name][row.foreign_name], _ours(row, name)
    if row.numbers == "different":
        assert abs(ours - reference) > 1e-3 * abs(reference)
        return
    if row.numbers == "draws":
        stored = read(STORED[row.tool])
        assert 1e-9 < max(abs(_ours(row, cloud_name) - stored[cloud_name][row.foreign_name]) for cloud_name in CLOUDS)
        assert abs(ours - reference) < 0.1
        return
    if row.numbers == "medians":
        assert abs(ours - reference) > 1e-3 * abs(reference)
        assert _with_medians(row, name) == pytest.approx(reference, abs=1e-5)  # the bisection for LISI ends there
        return
    if row.numbers == "one start":
        _, Y, labels = cloud(name)
        c = len(set(labels))
        single, best = KMeans(c, n_init=1, random_state=0).fit(Y), KMeans(c, n_init=100, random_state=0).fit(Y)
        result = [SCORES[row.ours](labels, fitted.labels_) for fitted in (single, best)]
        assert [reference, ours] == pytest.approx(result, rel=1e-9)
        assert (single.inertia_ > best.inertia_ * (1 + 1e-9)) == (name == "a")  # on cloud b one start is enough
        return
    digits = float(row.numbers.removeprefix("equal to ")) if row.numbers.startswith("equal to ") else 1e-9
    assert ours == pytest.approx(reference, rel=digits, abs=digits * 1e-3)
