"""Stored entries: their files, the machine that computed them, and the comparison of new entries with them."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from golden.entries import Rows, Value
from golden.scenarios import SCENARIOS, Scenario, one_thread

FOLDER = Path(__file__).with_name("values")
HEADER = FOLDER / "header.json"
PACKAGES = ("numpy", "scipy", "pandas", "statsmodels", "numba", "llvmlite")

# Of two machines: a float may differ by this share of itself, and by this share of the largest number of its column
# (rows that agree in the first two parts of their names), or of its array.
RELATIVE = 1e-9
ABSOLUTE = 1e-12
SUMS = ("mean", "square", "moment")  # of an array: they may differ by the relative share of its largest number

MISSING = "missing"  # in place of a value that is not there
MAX_PRINTED = 20  # differences that a failed test prints
HOW_TO_WRITE = "Write the entries of this checkout: make golden. List what changed: make golden ARGS=--changes"


class Difference(NamedTuple):
    """An entry that differs: scenario, row and column, with both values."""

    scenario: str
    entry: str
    old: Value
    new: Value

    def __str__(self) -> str:
        return f"{self.scenario} | {self.entry} | {_text(self.old)} | {_text(self.new)}"


def machine() -> dict[str, Any]:
    """Return what the last digits depend on: versions, processor, linear algebra and threads."""
    from llvmlite.binding import get_host_cpu_name
    from threadpoolctl import threadpool_info

    import dreval

    with one_thread():
        pools = threadpool_info()
    libraries = [
        {key: pool.get(key) for key in ("internal_api", "version", "architecture", "num_threads")}
        for pool in sorted(pools, key=lambda pool: Path(pool["filepath"]).name)
        if pool["user_api"] == "blas"
    ]
    return {
        "dreval": dreval.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "compiled for": get_host_cpu_name(),
        "linear algebra": libraries,
    }


def _processor() -> str:
    """Return the name of the processor, if the system states it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def same_machine(header: Mapping[str, Any], current: Mapping[str, Any]) -> bool:
    """Return whether floats must be equal: all but the version of dreval agrees, and one thread runs."""
    threads = [pool["num_threads"] for pool in current["linear algebra"]]
    keys = {*header, *current} - {"dreval"}
    return all(header.get(key) == current.get(key) for key in keys) and all(count == 1 for count in threads)


def read(name: str) -> Any:
    """Return the rows of a scenario, or the header (``"header"``)."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write(name: str, content: Mapping[str, Any]) -> None:
    """Write rows, one on each line, sorted by name."""
    FOLDER.mkdir(exist_ok=True)
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in sorted(content.items())]
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def written_names() -> set[str]:
    """Return the names of the scenarios that have a file."""
    return {path.stem for path in FOLDER.glob("*.json")} - {HEADER.stem}


def differences(scenario: Scenario, old: Rows, new: Rows, *, exact: bool) -> Iterator[Difference]:
    """Yield the entries of two runs of a scenario that differ.

    With ``exact`` every entry must be equal. Without, whole numbers, truth values and text must be, and floats nearly
    (``RELATIVE``, ``ABSOLUTE``); rows that an iterative method decides about, and checksums of floats, are left out.
    """
    scales = {} if exact else scales_of(old)
    for row in sorted({*old, *new}):
        if not exact and scenario.is_iterative(row):
            continue
        if row not in old or row not in new:
            where = "the row", *((MISSING, _cells(new[row])) if row not in old else (_cells(old[row]), MISSING))
            yield Difference(scenario.name, row, *where[1:])
            continue
        for column in sorted({*old[row], *new[row]}):
            left, right = old[row].get(column, MISSING), new[row].get(column, MISSING)
            if not exact and column == "checksum" and _is_floats(old[row]) and MISSING not in (left, right):
                continue
            scale = 0.0 if exact else _scale(scales, row, old[row], column)
            share = RELATIVE if column in SUMS else ABSOLUTE
            for place, stored, fresh in _pairs(left, right):
                if not (_same(stored, fresh) if exact else _near(stored, fresh, share * scale)):
                    yield Difference(scenario.name, f"{row} | {column}{place}", stored, fresh)


def scales_of(rows: Rows) -> dict[tuple[str, str], float]:
    """Return the largest number of each column among the rows that agree in the first two parts of their names."""
    scales: dict[tuple[str, str], float] = {}
    for row, cells in rows.items():
        for column, value in cells.items():
            key = _group(row), column
            scales[key] = max(scales.get(key, 0.0), _largest(value))
    return scales


def _group(row: str) -> str:
    return " | ".join(row.split(" | ")[:2])


def _scale(scales: Mapping[tuple[str, str], float], row: str, cells: Mapping[str, Value], column: str) -> float:
    """Return the scale of an entry: of an array its largest number, else that of the column."""
    if "shape" in cells:
        return max(_largest(cells.get(name)) for name in ("values", "min", "max"))
    return scales.get((_group(row), column), 0.0)


def _largest(value: Value) -> float:
    """Return the largest size of a number in a value."""
    numbers = [abs(number) for number in _flat(value) if isinstance(number, int | float) and math.isfinite(number)]
    return float(max(numbers, default=0.0))


def _is_floats(cells: Mapping[str, Value]) -> bool:
    """Return whether an array has floats: a checksum of whole numbers or text must be equal everywhere."""
    return any(isinstance(value, float) for value in cells.get("values", ()))


def _pairs(left: Value, right: Value) -> Iterator[tuple[str, Value, Value]]:
    """Yield two values, or the entries of two lists of the same length, with their places."""
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        yield from ((f"[{place}]", *pair) for place, pair in enumerate(zip(left, right, strict=True)))
    else:
        yield "", left, right


def _same(left: Value, right: Value) -> bool:
    """Return whether two values are equal in kind and in all digits."""
    return type(left) is type(right) and repr(left) == repr(right)


def _near(left: Value, right: Value, floor: float) -> bool:
    """Return whether two floats differ by rounding at most, and other values not at all."""
    if not (isinstance(left, float) and isinstance(right, float)) or not (math.isfinite(left) and math.isfinite(right)):
        return _same(left, right)
    return abs(left - right) <= max(RELATIVE * max(abs(left), abs(right)), floor)


def _flat(value: Value) -> Iterator[Value]:
    if isinstance(value, list):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _cells(cells: Mapping[str, Value]) -> str:
    """Return a row in short."""
    text = ", ".join(f"{column}={_text(value)}" for column, value in cells.items())
    return text if len(text) <= 120 else f"{text[:120]} ..."


def _text(value: Value) -> str:
    return value if isinstance(value, str) else repr(value)


def report(changes: list[Difference]) -> str:
    """Return the first differences with both values, and how to write the new ones."""
    remainder = [f"... and {len(changes) - MAX_PRINTED} more"] if len(changes) > MAX_PRINTED else []
    head = f"{len(changes)} entries differ (scenario | entry | old | new):"
    return "\n".join([head, *map(str, changes[:MAX_PRINTED]), *remainder, HOW_TO_WRITE])


def all_differences(fresh: Mapping[str, Rows], *, exact: bool) -> list[Difference]:
    """Return the entries of all scenarios that differ from the stored ones; scenarios without a file are all new."""
    changes = [
        change for name, rows in fresh.items() for change in differences(SCENARIOS[name], read(name), rows, exact=exact)
    ]
    gone = sorted(written_names() - set(SCENARIOS))
    return changes + [Difference(name, "the scenario", "a file", MISSING) for name in gone]
