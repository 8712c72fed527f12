"""Guesses about files: random tables are read correctly, reported by name, or raise an error; never a silent mistake.

A ``Layout`` has the traits of a pair of files, a data file and an embedding file of the same points, that a reader must
guess. The true values are computed from the written arrays, by scipy and scikit-learn.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes

import dreval
from dreval.errors import DrevalError

metrics = pytest.importorskip("sklearn.metrics")

SEPARATORS = {",": ".csv", ";": ".csv", "\t": ".tsv", " ": ".csv"}
HEADERS = ("text", "even numbers", "sorted numbers", "0, 1, 2", "none")
NUMBERS = ("integers", "counts", "decimals", "floats")
IDS = ("none", "id", "unnamed", "short", "Barcode", "whole numbers")
EXTRAS = ("none", "nCount", "copy of a data column", "cluster")


@dataclass(frozen=True)
class Layout:
    """The traits of a data file and an embedding file."""

    seed: int
    n: int
    p: int
    numbers: str
    header: str
    embedding_header: str
    separator: str
    ids: str
    embedding_ids: str
    ids_last: bool
    shuffled: bool
    extra: str
    extra_first: bool
    labels_file: str = "none"
    pass_ids: bool = True


LAYOUTS = st.builds(
    Layout,
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 40),
    p=st.integers(2, 9),
    numbers=st.sampled_from(NUMBERS),
    header=st.sampled_from(HEADERS),
    embedding_header=st.sampled_from(HEADERS),
    separator=st.sampled_from(list(SEPARATORS)),
    ids=st.sampled_from(IDS),
    embedding_ids=st.sampled_from(IDS),
    ids_last=st.booleans(),
    shuffled=st.booleans(),
    extra=st.sampled_from(EXTRAS),
    extra_first=st.booleans(),
    labels_file=st.sampled_from(("none", "by position", "by name")),
    pass_ids=st.booleans(),
)


@dataclass
class WrittenFiles:
    """The arrays of a layout, and the texts of its files."""

    X: np.ndarray
    Y: np.ndarray
    labels: np.ndarray
    data: str = ""
    embedding: str = ""
    label_file: str = ""
    places: list[str] = field(default_factory=list)  # rows and columns, as notes write them


def cells(values: np.ndarray, numbers: str) -> list[list[str]]:
    """Return numbers as text."""
    return [[f"{value:.3f}" if numbers == "decimals" else repr(value) for value in row] for row in values.tolist()]


def names(header: str, p: int, prefix: str, rng: np.random.Generator) -> list[str] | None:
    """Return column names of a kind; None without header."""
    if header == "none":
        return None
    if header == "text":
        return [f"{prefix}{j + 1}" for j in range(p)]
    if header == "even numbers":
        start = int(rng.integers(300, 500))
        return [str(start + 10 * j) for j in range(p)]
    if header == "sorted numbers":
        return [str(value) for value in np.sort(rng.choice(np.arange(300, 900), p, replace=False)).tolist()]
    return [str(j) for j in range(p)]


def text_of(
    rows: list[list[str]], columns: list[str] | None, ids: list[str] | None, kind: str, last: bool, separator: str
) -> str:
    """Return the text of a file, with a column of ids."""
    if ids is not None:
        corner = {"unnamed": "", "short": None, "whole numbers": "id"}.get(kind, kind)
        at_end = last and kind not in ("unnamed", "short")
        rows = [[*row, name] if at_end else [name, *row] for name, row in zip(ids, rows, strict=True)]
        if columns is not None and corner is not None:
            columns = [*columns, corner] if at_end else [corner, *columns]
    lines = ([columns] if columns is not None else []) + rows
    if separator == " ":
        lines = [[f'"{cell}"' if not cell or not _is_number(cell) else cell for cell in line] for line in lines]
    return "\n".join(separator.join(line) for line in lines) + "\n"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def write(layout: Layout) -> WrittenFiles:
    """Return the arrays and texts of a layout."""
    rng = np.random.default_rng(layout.seed)
    n, p = layout.n, layout.p
    labels = np.repeat([0, 1], [n // 2, n - n // 2])
    X = rng.normal(size=(n, p)) + 3 * labels[:, None]
    if layout.numbers in ("integers", "counts"):
        X = np.rint(4 * X).astype(int) if layout.numbers == "integers" else rng.poisson(200, (n, p))
    X = X.round(3) if layout.numbers == "decimals" else X
    Y = (X[:, :2] + (0.2 if layout.numbers in ("decimals", "floats") else 5) * rng.normal(size=(n, 2))).round(4)
    result = WrittenFiles(np.asarray(X, float), Y, labels)
    has_integer_ids = layout.ids == "whole numbers"
    ids = [str(1000 + 7 * i) if has_integer_ids else f"c{i}-1" for i in range(n)]
    order = rng.permutation(n) if layout.shuffled and "none" not in (layout.ids, layout.embedding_ids) else np.arange(n)
    columns, embedding_names = names(layout.header, p, "v", rng), names(layout.embedding_header, 2, "y", rng)
    result.data = text_of(
        cells(X, layout.numbers),
        columns,
        None if layout.ids == "none" else ids,
        layout.ids,
        layout.ids_last,
        layout.separator,
    )
    rows = cells(Y[order], "floats")
    if layout.extra != "none":
        values = {
            "nCount": [f"{value:.2f}" for value in rng.gamma(2, 2000, n)],
            "copy of a data column": [row[0] for row in cells(X, layout.numbers)],
            "cluster": [str(value) for value in labels.tolist()],
        }[layout.extra]
        name = columns[0] if layout.extra.startswith("copy") and columns else layout.extra.split(maxsplit=1)[0]
        reordered = [values[i] for i in order]
        rows = [[cell, *row] if layout.extra_first else [*row, cell] for cell, row in zip(reordered, rows, strict=True)]
        embedding_names = embedding_names and (
            [name, *embedding_names] if layout.extra_first else [*embedding_names, name]
        )
        result.places.append(name)
    result.embedding = text_of(
        rows,
        embedding_names,
        None if layout.embedding_ids == "none" else [ids[i] for i in order],
        layout.embedding_ids,
        layout.ids_last,
        layout.separator,
    )
    result.places = [f"'{name}'" for name in (*result.places, *{"id", "Barcode"} & {layout.ids, layout.embedding_ids})]
    for text in (result.data, result.embedding):
        top_row = [cell.strip('"') for cell in text.split("\n", 1)[0].split(layout.separator)]
        result.places.append(f"({', '.join([cell for cell in top_row if cell][:2])}")  # as a note shows a row
    visible = rng.permutation(n) if layout.labels_file == "by name" else np.arange(n)
    result.label_file = (
        "Barcode,kind\n" + "".join(f"{ids[i]},{'ab'[labels[i]]}\n" for i in visible)
        if layout.labels_file == "by name"
        else "kind\n" + "".join(f"{'ab'[label]}\n" for label in labels)
    )
    return result


def is_plain(layout: Layout) -> bool:
    """Return whether the input is unambiguous and must be read correctly."""
    return (
        layout.header in ("text", "none")
        and layout.embedding_header in ("text", "none")
        and {layout.ids, layout.embedding_ids} <= {"none", "unnamed", "short"}
        and ("none" not in (layout.header, layout.embedding_header) or {layout.ids, layout.embedding_ids} == {"none"})
        and layout.extra == "none"
        and layout.numbers in ("decimals", "floats")
    )


def disparity(X: np.ndarray, Y: np.ndarray) -> float:
    """Return the Procrustes disparity by scipy, which needs as many columns on both sides."""
    return float(procrustes(X, np.hstack([Y, np.zeros((len(Y), X.shape[1] - Y.shape[1]))]))[2])


def read_values(layout: Layout, files: WrittenFiles, folder: str) -> tuple[dict[str, float] | None, list[str]]:
    """Return Procrustes disparity and silhouette by ``Evaluation`` (None for an error), and notes and warnings."""
    suffix = SEPARATORS[layout.separator]
    data, embedding, labels = (Path(folder, name) for name in (f"data{suffix}", f"map{suffix}", "labels.csv"))
    for path, text in ((data, files.data), (embedding, files.embedding), (labels, files.label_file)):
        path.write_text(text)
    options: dict[str, Any] = {"n_neighbors": 4, "random_state": 0}
    if layout.pass_ids and layout.ids in ("id", "whole numbers", "Barcode"):
        options["ids"] = "id" if layout.ids == "whole numbers" else layout.ids
    if layout.labels_file != "none":
        options["labels"] = str(labels) + (":kind" if layout.labels_file == "by name" else "")
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        try:
            results = dreval.Evaluation(data, {"map": embedding}, **options).run(
                ["procrustes_disparity", *(["silhouette"] if layout.labels_file != "none" else [])], None, None
            )
        except DrevalError as error:
            return None, [str(error)]
    table = results.table.set_index("measure")
    texts = [*results.notes.text, *(str(warning.message) for warning in records), *table.note]
    values = table.value.dropna().to_dict()
    return (values or None), texts


def looks_like_data(layout: Layout) -> bool:
    """Return whether a header of numbers is a row that data like the others contain by chance too often for a note."""
    return layout.numbers == "counts" and (
        (layout.header == "even numbers" and layout.p < 4) or (layout.header == "sorted numbers" and layout.p < 8)
    )


@given(layout=LAYOUTS)
@settings(deadline=None)
def test_no_guess_is_silent(layout: Layout) -> None:
    """The numbers are correct, or a note or warning names the row or column, or an error is raised."""
    assume(not looks_like_data(layout))
    result = write(layout)
    with tempfile.TemporaryDirectory() as folder:
        values, texts = read_values(layout, result, folder)
    if values is None:
        assert not is_plain(layout), (layout, texts)
        return
    truth = {"procrustes_disparity": disparity(result.X, result.Y)}
    if layout.labels_file != "none":
        truth["silhouette"] = metrics.silhouette_score(result.Y, result.labels)
    if all(values[name] == pytest.approx(truth[name], abs=1e-9) for name in truth):
        return
    assert not is_plain(layout), (layout, values, truth)
    assert any(name in text for name in result.places for text in texts), (layout, values, truth, texts)


def test_the_truth_is_missed_by_a_wrong_reading() -> None:
    """The property can fail: a header read as a point, and rows in another order, give other numbers."""
    layout = Layout(1, 30, 4, "decimals", "even numbers", "text", ",", "none", "none", False, False, "none", False)
    result = write(layout)
    expected = disparity(result.X, result.Y)
    for X, Y in (
        (np.vstack([[400, 410, 420, 430], result.X]), np.vstack([[0, 0], result.Y])),
        (result.X, np.roll(result.Y, 1, axis=0)),
    ):
        assert abs(disparity(X, Y) - expected) > 1e-3
    with tempfile.TemporaryDirectory() as folder:
        values, texts = read_values(layout, result, folder)
    assert values == {"procrustes_disparity": pytest.approx(expected, abs=1e-12)}
    assert any("The first row of 'data.csv'" in text for text in texts)
