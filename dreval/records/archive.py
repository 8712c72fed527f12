"""Results on disk: one zip of JSON and CSV that any program can read; never a pickle."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dreval._check import MAX_TEXT_LENGTH, check_path, check_unpacked, describe, read_npy
from dreval.errors import DrevalError, InputError, MissingFile
from dreval.glossary import COLUMNS, NUMERIC_COLUMNS
from dreval.records.base import whole_file
from dreval.records.frames import (
    NOTE_KEYS,
    curves_frame,
    differences_frame,
    groups_frame,
    notes_frame,
    nulls_frame,
    plain_notes,
    tidy_frame,
)
from dreval.records.notes import Note
from dreval.records.points import Shepard
from dreval.records.provenance import to_plain
from dreval.records.results import Results
from dreval.records.sweep import TABLE_COLUMNS, Sweep, sweep_frame

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
MANIFEST = "manifest.json"
SWEEP = "sweep"  # ``kind`` in the manifest of a sweep
OTHER_FORMATS = {".csv", ".tsv", ".txt", ".npy", ".npz", ".json", ".parquet", ".h5ad", ".xlsx"}
OTHER_FORMATS |= {".html", ".md", ".tex", ".png", ".svg", ".pdf"}
Members = dict[str, bytes]


def check_saved(path: Any, argument: str = "path") -> Path:
    """Return a path for a saved result; raise for the suffix of another format."""
    checked: Path = check_path(path, argument)
    if checked.suffix.lower() in OTHER_FORMATS:
        hint = f"Write {checked.stem}.dreval."
        raise InputError(argument, "must not have the suffix of another format", repr(str(checked)), hint)
    return checked


PLAIN_KINDS = "biufU"  # kinds of numpy types: truth values, numbers and texts
PLACE_COLUMN = "place"  # the column of the anchors' positions among all points


def save_results(results: Results, path: str | Path) -> Path:
    """Write everything but the data; numbers keep every digit. The manifest has a checksum of each member."""
    path = check_saved(path)
    names = list(results.embeddings)
    members: dict[str, str | bytes] = {
        "table.csv": results.table.to_csv(index=False),
        "groups.csv": results.groups.to_csv(index=False),
        "curves.csv": results.curves.to_csv(index=False),
        "nulls.csv": results.nulls.to_csv(index=False),
        "notes.json": json.dumps(plain_notes(results.notes), indent=1, ensure_ascii=False),
        "shepard.json": json.dumps(to_plain(results.shepard), ensure_ascii=False),
    }
    if len(results.curve_differences):
        members["curve_differences.csv"] = results.curve_differences.to_csv(index=False)
    for i, name in enumerate(names):
        points = results.points[name]
        anchors_only = len(points) < len(results.embeddings[name])  # contributions of anchors, with their positions
        members[f"points_{i}.csv"] = points.to_csv(
            index=anchors_only, index_label=PLACE_COLUMN if anchors_only else None
        )
        if name in results.left_out:
            members[f"left_out_{i}.csv"] = results.left_out[name].to_csv(index=False)
        if name in results.reliability:
            members[f"reliability_{i}.csv"] = results.reliability[name].to_csv(index=False)
        buffer = io.BytesIO()
        np.save(buffer, results.embeddings[name], allow_pickle=False)
        members[f"embedding_{i}.npy"] = buffer.getvalue()
    if results.data_neighbors is not None:
        buffer = io.BytesIO()
        np.save(buffer, results.data_neighbors, allow_pickle=False)
        members["neighbors.npy"] = buffer.getvalue()
    about = {"recipe": to_plain(results.recipe), "embeddings": names}
    return _write(path, {**about, "labels": _pack_vector(results.labels), "ids": _pack_vector(results.ids)}, members)


def save_sweep(sweep: Sweep, path: str | Path) -> Path:
    """Write a sweep; numbers keep every digit. Options that JSON cannot store are written as text."""
    import pandas as pd

    path = check_saved(path)
    table = sweep.table[list(TABLE_COLUMNS)].astype({"in_best_set": object})
    table["in_best_set"] = ["" if cell is pd.NA else str(bool(cell)) for cell in table["in_best_set"]]
    members: dict[str, str | bytes] = {
        "table.csv": table.to_csv(index=False),
        "values.csv": sweep.values.to_csv(index=False),
        "notes.json": json.dumps(to_plain(sweep.notes), indent=1, ensure_ascii=False),
        "settings.json": json.dumps(to_plain(sweep.settings), indent=1, ensure_ascii=False),
    }
    about = {"kind": SWEEP, "recipe": to_plain(sweep.recipe), "over": sweep.over, "alpha": sweep.alpha}
    return _write(path, about, members)


def _write(path: Path, about: dict[str, Any], members: dict[str, str | bytes]) -> Path:
    """Write the members and a manifest with their description and a checksum of each."""
    stored = {
        name: text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
        for name, text in members.items()
    }
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in stored.items()}
    body = {"format": FORMAT, **about, "members": checksums}
    manifest = json.dumps({"sha256": _hash(body), **body}, indent=1, ensure_ascii=False)
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {MANIFEST: manifest.encode("utf-8", "backslashreplace"), **stored}.items():
            # a fixed date, so that the same result gives the same file
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return path


def _hash(body: dict[str, Any]) -> str:
    """Return the hash of a manifest, computed without its field ``sha256``."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def load_results(path: str | Path) -> Any:
    """Read a file that ``Results.save`` or ``Sweep.save`` wrote; the numbers are equal to the last bit.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Results or Sweep
        The saved record, without the data: only their hash is saved.

    Raises
    ------
    InputError
        If the file does not exist or was not written by ``save``.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> res = ev.run("trustworthiness", tests=None, ci=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dreval.load_results(res.save(f"{folder}/a.dreval")).names
    ['a', 'b']
    """
    path = check_path(path, "path")
    if not path.is_file():
        raise MissingFile("path", "must be an existing file", repr(str(path)), "Pass the path that `save` wrote.")
    try:
        manifest, members = _read_members(path)
        if manifest["format"] == FORMAT:
            _check_vector_types(manifest, path)
            return (_read_sweep if manifest.get("kind") == SWEEP else _read_all)(members, manifest)
    except DrevalError:
        raise
    except Exception as cause:  # errors of zipfile, its compression methods, json, pandas and numpy
        reason = " ".join(str(cause).split())[:200]
        raise InputError(
            "path",
            "must be a file written by `save` of a result",
            f"{str(path)!r} ({reason})",
            "Save the result again.",
        ) from cause
    received = f"format {describe(manifest['format'])}"
    raise InputError("path", f"must be of format {FORMAT}", received, "Upgrade dreval.")


def load_evaluation(path: str | Path, argument: str) -> Results:
    """Return the saved result of an evaluation; raise for a sweep."""
    try:
        record = load_results(path)
    except DrevalError as error:
        raise error.named({"path": argument}) from error
    if isinstance(record, Results):
        return record
    hint = "Its best_set() compares its settings already; evaluate some of them together to compare embeddings."
    raise InputError(argument, "must be the saved result of an evaluation", f"a sweep, {str(path)!r}", hint)


def _read_members(path: Path) -> tuple[dict[str, Any], Members]:
    """Return the manifest and the content of each member; raise if a checksum is not that of the manifest."""
    with zipfile.ZipFile(path) as archive:
        check_unpacked(sum(info.file_size for info in archive.infolist()), path, "path")
        content = archive.read(MANIFEST)
        parsed = _parsed_size(content)
        check_unpacked(parsed, path, "path")
        manifest = json.loads(content)
        if manifest["format"] != FORMAT:
            return manifest, {}
        if manifest.pop("sha256") != _hash(manifest):
            raise ValueError(f"{MANIFEST} was changed after it was written")
        members = {info.filename: archive.read(info) for info in archive.infolist() if info.filename != MANIFEST}
    texts = [content for name, content in members.items() if name.endswith((".csv", ".json"))]
    check_unpacked(parsed + sum(map(_parsed_size, texts)), path, "path")
    if members.keys() != manifest["members"].keys():
        raise ValueError(f"{', '.join(members.keys() ^ manifest['members'].keys())}: missing, or not of the result")
    for name, content in members.items():
        if hashlib.sha256(content).hexdigest() != manifest["members"][name]:
            raise ValueError(f"{name} was changed after it was written")
    return manifest, members


def _parsed_size(text: bytes) -> int:
    """Return the approximate bytes of JSON or CSV in memory: an empty list takes two letters, and 64 bytes parsed."""
    items = sum(map(text.count, (b",", b"\n", b"[")))
    return 4 * len(text) + 64 * items + 232 * text.count(b"{")


def _check_vector_types(manifest: dict[str, Any], path: Path) -> None:
    """Raise if the types of labels and ids are not those of ``_pack_vector``, or if they would take too much memory."""
    for name in ("labels", "ids"):
        if (saved := manifest.get(name)) is None:
            continue
        kind = np.dtype(saved["dtype"])
        if kind.kind not in f"{PLAIN_KINDS}O":
            raise ValueError(f"{name} of the type {describe(saved['dtype'])}")
        check_unpacked(kind.itemsize * len(saved["values"]), path, "path")


# The forms of values from JSON: a type, a tuple of possible forms, [form of the items], {key: form}, with the key "*"
# for all keys. A key may be missing, and other keys are not checked.
_TEXTS = {"*": str}
_VECTOR = (None, {"dtype": str, "values": [(str, int, float, bool, None)]})
_MANIFEST = {
    "embeddings": [str],
    "labels": _VECTOR,
    "ids": _VECTOR,
    "recipe": {
        "dataset": str, "n": int, "p": (int, None), "data_sha256": str, "columns": ([str], None), "metric": str,
        "header": (str, bool),
        "n_neighbors": [int], "anchors": (int, None), "random_state": int, "adjust": str, "versions": _TEXTS,
        "seconds": (float, int), "sources": {"*": {"kind": str, "what": str, "parameters": _TEXTS}},
        "intervals": _TEXTS, "conf_level": float, "call": str, "command": str,
    },
}  # fmt: skip
_SWEEP = {
    "over": str,
    "alpha": float,
    "recipe": {
        "n": int, "p": int, "source": str, "random_state": int, "parameters": {"n_replicates": int}, "call": str,
        "versions": _TEXTS,
    },
}  # fmt: skip
_SETTING_NOTES = [dict.fromkeys(("code", "scope"), str)]
_NOTES = [dict.fromkeys(("embedding", "measure", "parameters", "test", "variable", "code", "scope"), str)]


def _check_form(value: Any, form: Any, path: str) -> None:
    """Raise if a value does not have its form."""
    forms = form if isinstance(form, tuple) else (form,)
    for option in forms:
        if isinstance(option, dict) and isinstance(value, dict):
            for key, part in value.items():
                if (item_form := option.get(key, option.get("*"))) is not None:
                    _check_form(part, item_form, f"{path}.{key}")
            return
        if isinstance(option, list) and isinstance(value, list):
            for i, part in enumerate(value):
                _check_form(part, option[0], f"{path}[{i}]")
            return
        if (value is None and option is None) or (isinstance(option, type) and type(value) is option):
            if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH and not path.endswith((".call", ".command")):
                raise ValueError(f"{path} holds a text of {len(value):,} characters, of {MAX_TEXT_LENGTH:,} at most")
            return
    raise ValueError(f"{path} holds a value of another kind")


def _read_all(members: Members, manifest: dict[str, Any]) -> Results:
    """Return the result from the content of a file."""
    _check_form(manifest, _MANIFEST, MANIFEST)
    names = manifest["embeddings"]
    if missing := {"n", "dataset", "random_state"} - manifest["recipe"].keys():
        raise ValueError(f"a recipe without {', '.join(sorted(missing))}")
    listed = set(manifest["recipe"].get("sources", names)) & set(names)
    if len(listed) < len(names) or sum(name.startswith("embedding_") for name in members) != len(names):
        raise ValueError("the names of the embeddings are not those of the coordinates")
    coordinates = {name: _coordinates(members[f"embedding_{i}.npy"], name) for i, name in enumerate(names)}
    points = {name: _floats(_cells(members[f"points_{i}.csv"])) for i, name in enumerate(names)}
    table, groups = _cells(members["table.csv"]), _cells(members["groups.csv"])
    groups, table = groups[list(groups_frame([]).columns)], table[list(COLUMNS)]
    numbers = [name for name in table.columns if name in NUMERIC_COLUMNS]
    table[numbers] = _floats(table[numbers])
    groups[["partition", "group", "value"]] = _floats(groups[["partition", "group", "value"]])
    curves = _cells(members["curves.csv"])[list(curves_frame([]).columns)]
    numbers = [name for name in curves.columns if name not in ("embedding", "measure")]
    curves[numbers] = _floats(curves[numbers])
    differences = differences_frame([])
    if "curve_differences.csv" in members:
        differences = _cells(members["curve_differences.csv"])[list(differences.columns)]
        numbers = ["K", "difference", "band_low", "band_high"]
        differences[numbers] = _floats(differences[numbers])
    nulls = _cells(members["nulls.csv"])[list(nulls_frame([]).columns)]
    nulls[["low", "high", "count"]] = _floats(nulls[["low", "high", "count"]])
    notes = json.loads(members["notes.json"])  # this version writes their sentences
    _check_form(notes, _NOTES, "notes.json")
    labels, ids = _unpack_vector(manifest["labels"]), _unpack_vector(manifest["ids"])
    sizes = {len(values) for values in (*coordinates.values(), labels, ids) if values is not None}
    if len(sizes | ({manifest["recipe"]["n"]} if "n" in manifest["recipe"] else set())) > 1:
        raise ValueError("embeddings, labels and ids do not have the number of points of the recipe")
    neighbors = None
    if "neighbors.npy" in members:
        array = read_npy(members["neighbors.npy"])
        neighbors, n = array.astype(np.int32, casting="same_kind"), max(sizes, default=0)
        if neighbors.ndim != 2 or len(neighbors) != n or not ((neighbors >= 0) & (neighbors < n)).all():
            raise ValueError("neighbors.npy does not hold neighbors of the points")
    left_out, reliability = (
        {
            name: _floats(_cells(members[f"{kind}_{i}.csv"]))
            for i, name in enumerate(names)
            if f"{kind}_{i}.csv" in members
        }
        for kind in ("left_out", "reliability")
    )
    return Results(
        table=tidy_frame(_rows(table)),
        points={name: _check_points(points[name], len(coordinates[name])) for name in names},
        groups=groups_frame(_rows(groups)),
        embeddings=coordinates,
        labels=labels,
        ids=ids,
        recipe=manifest["recipe"],
        curves=curves_frame(_rows(curves)),
        curve_differences=differences_frame(_rows(differences)),
        notes=notes_frame(
            [{**{key: note[key] for key in NOTE_KEYS}, "notes": (Note.of_plain(note),)} for note in notes]
        ),
        shepard={name: Shepard.of_plain(saved) for name, saved in json.loads(members["shepard.json"]).items()},
        nulls=nulls_frame(_rows(nulls)),
        left_out={name: _check_points(values, len(coordinates[name])) for name, values in left_out.items()},
        data_neighbors=neighbors,
        reliability={name: _check_points(values, len(coordinates[name])) for name, values in reliability.items()},
    )


def _coordinates(content: bytes, name: str) -> npt.NDArray[Any]:
    """Return the coordinates of an embedding; raise if they are not rows and columns of finite floats."""
    coordinates = read_npy(content)
    if coordinates.ndim != 2 or coordinates.dtype.kind != "f" or not coordinates.size:
        raise ValueError(
            f"the coordinates of {describe(name)} are {describe(coordinates)}, not rows and columns of floats"
        )
    if not np.isfinite(coordinates).all():
        raise ValueError(f"the coordinates of {describe(name)} are not finite")
    return coordinates


def _read_sweep(members: Members, manifest: dict[str, Any]) -> Sweep:
    """Return the sweep from the content of a file."""
    import pandas as pd

    _check_form(manifest, _SWEEP, MANIFEST)
    settings, notes = (json.loads(members[name]) for name in ("settings.json", "notes.json"))
    _check_form(settings, [dict], "settings.json")
    _check_form(notes, _SETTING_NOTES, "notes.json")
    table, values = _cells(members["table.csv"]), _cells(members["values.csv"])
    texts = ["measure", "parameters", "note"]
    numbers = [name for name in TABLE_COLUMNS if name not in (*texts, "in_best_set")]
    table[numbers] = _floats(table[numbers])
    truth_values: dict[str, Any] = {"True": True, "False": False, "": pd.NA}
    table["in_best_set"] = table["in_best_set"].map(truth_values.__getitem__)
    table = table.astype({**dict.fromkeys(numbers, "float64"), "n_replicates": "int64"})
    values["value"] = _floats(values[["value"]])["value"]
    values = values.astype({"setting": "int64", "replicate": "int64", "value": "float64"})
    count = manifest["recipe"]["parameters"]["n_replicates"]
    measures, remainder = divmod(len(table), len(settings))
    numbered = values["setting"].isin(range(len(settings))).all()
    if remainder or not measures or len(values) != len(table) * count or not numbered:
        raise ValueError("the tables are not those of the settings")
    if manifest["over"] not in ("seeds", "halves"):
        raise ValueError(f"replicates over {manifest['over']!r}")
    return Sweep(
        settings=tuple(settings),
        table=sweep_frame(_rows(table), settings * measures),
        values=pd.DataFrame(_rows(values[["measure", "parameters", "setting", "replicate", "value"]])),
        over=manifest["over"],
        alpha=manifest["alpha"],
        recipe=manifest["recipe"],
        notes=tuple(map(Note.of_plain, notes)),
    )


def _cells(text: bytes) -> pd.DataFrame:
    """Return a table of text, exactly as it was written: no types are inferred."""
    import pandas as pd

    if not text.strip():
        return pd.DataFrame()
    end = None if text.partition(b"\n")[0].endswith(b"\r") else "\n"  # a carriage return may be part of a name
    options: dict[str, Any] = {"dtype": str, "keep_default_na": False, "na_filter": False, "lineterminator": end}
    table: pd.DataFrame = pd.read_csv(io.BytesIO(text), **options)
    return table.astype("object")


def _floats(cells: pd.DataFrame) -> pd.DataFrame:
    """Convert texts to floats, exact to the last bit; an empty cell becomes NaN."""
    import pandas as pd

    columns = {name: [float(cell) if cell else np.nan for cell in column] for name, column in cells.items()}
    return pd.DataFrame(columns, index=cells.index, dtype="float64")


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, by the names of its columns."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _check_points(points: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return one row for every point, also without contributions of points; or for every anchor, by its position."""
    if PLACE_COLUMN in points.columns:
        places = points[PLACE_COLUMN].to_numpy(np.float64)
        if not (len(places) and (places[:-1] < places[1:]).all() and places[0] >= 0 and places[-1] < n):
            raise ValueError("places of anchors are not ascending among the points")
        return points.drop(columns=PLACE_COLUMN).set_axis(places.astype(np.int64))
    if len(points.columns) and len(points) != n:
        raise ValueError(f"{len(points)} rows of contributions for {n} points")
    return points if len(points.columns) else points.reindex(range(n))


def _pack_vector(values: Any) -> dict[str, Any] | None:
    """Return a vector of numbers, truth values or text in types that JSON can store."""
    if values is None:
        return None
    kind = "object" if values.dtype.kind not in PLAIN_KINDS else values.dtype.str
    return {"dtype": kind, "values": to_plain(values)}


def _unpack_vector(saved: dict[str, Any] | None) -> Any:
    """Return the vector that ``_pack_vector`` wrote."""
    return None if saved is None else np.array(saved["values"], dtype=saved["dtype"])
