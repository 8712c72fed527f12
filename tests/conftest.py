"""Settings of all tests: one hypothesis profile, the number of threads, and the folder of real data."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

# Threads are limited here and nowhere else, before numpy is imported: sums then have one order on every machine.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")  # for n_jobs=None: as many processes run tests as there are cores
os.environ["MPLBACKEND"] = "Agg"
os.environ["DREVAL_NOTICES"] = "0"  # of a cold start, which tests of stderr do not expect

import each
import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# One profile: no deadline (the first call of a compiled loop compiles it) and the same examples on every run.
# `DREVAL_EXAMPLES=1000 pytest` searches longer, with fresh examples each time.
_examples = os.environ.get("DREVAL_EXAMPLES")
settings.register_profile(
    "dreval",
    deadline=None,
    max_examples=int(_examples or 8),
    derandomize=_examples is None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("dreval")
if _examples is None:
    # Hypothesis reads the numbers in the source of the whole package, to draw them too, and again after every import:
    # a twentieth of the time of all tests, and examples that change with any file.
    with contextlib.suppress(ImportError):  # older versions do not
        from hypothesis.internal.conjecture import providers

        providers.is_local_module_file = lambda _: False

# Reduced simulations (``DREVAL_CALIBRATION=reduced``): the first case of each test, with a tenth of the repetitions.
REDUCED = os.environ.get("DREVAL_CALIBRATION", "full") == "reduced"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--name my_measure``, which skips tests of all other measures, methods, tests, data sets and figures."""
    parser.addoption("--name", action="append", default=[], metavar="NAME", help="test only this measure, method, ...")


def pytest_configure(config: pytest.Config) -> None:
    """Pass the requested names to the loops inside tests."""
    each.REQUESTED.update(config.getoption("--name"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect items of other names, and in reduced simulations all but the first case of each test."""
    deselected = [item for item in items if each.is_not_requested(getattr(item, "callspec", _NoCall).params.values())]
    if REDUCED:
        long = [item for item in items if item.get_closest_marker("calibration") and item not in set(deselected)]
        first_items = {item.nodeid.partition("[")[0]: item for item in reversed(long)}
        deselected += [item for item in long if item is not first_items[item.nodeid.partition("[")[0]]]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in set(deselected)]


class _NoCall:
    params: ClassVar[dict[str, object]] = {}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Collect only ``test_*.py`` files of this folder; scripts (benchmarks, scripts of oracles) are not imported."""
    script = collection_path.suffix == ".py" and not collection_path.name.startswith(("test_", "conftest"))
    return True if script and collection_path.is_relative_to(ROOT / "tests") else None


def pytest_collection_finish() -> None:
    """Exclude the thousands of collected tests from garbage collection, which ``multipletests`` starts."""
    gc.freeze()


@pytest.fixture
def fresh_folder(tmp_path: Path) -> Callable[[], Path]:
    """Return a function that creates a new empty folder at each call, for loops inside a test."""
    numbers = itertools.count()

    def make() -> Path:
        folder = tmp_path / f"fresh {next(numbers)}"
        folder.mkdir()
        return folder

    return make


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data sets that may not be redistributed: ``$DREVAL_DATA``, else ``../shared/data``.

    They are not part of a public copy of the project, and no test can download them; tests that need them are skipped
    without the folder. If ``DREVAL_DATA`` is set, the folder must exist.
    """
    variable = os.environ.get("DREVAL_DATA")
    folder = Path(variable) if variable else ROOT.parent / "shared" / "data"
    if variable and not folder.is_dir():
        pytest.fail(f"DREVAL_DATA is {folder}, which is not a folder")
    if not folder.is_dir():
        pytest.skip("real data that may not be redistributed are not here; set DREVAL_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def n_simulations() -> Callable[[int], int]:
    """Return the size of a long simulation: ``n_simulations(1000)`` is 1000, or in reduced runs a tenth, at least 40.

    Bounds on the simulated rates must be computed from this number.
    """
    return lambda full: min(full, max(full // 10, 40)) if REDUCED else full
