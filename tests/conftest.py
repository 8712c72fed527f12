"""What every test shares: one hypothesis profile, one place for threads, and the folder of real data."""

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
os.environ["MPLBACKEND"] = "Agg"

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
    """``--name my_measure`` leaves out what is tested of other measures, methods, tests, data sets and figures."""
    parser.addoption("--name", action="append", default=[], metavar="NAME", help="test only this measure, method, ...")


def pytest_configure(config: pytest.Config) -> None:
    """The names asked for are known to the loops inside tests, too."""
    each.ASKED.update(config.getoption("--name"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Items of other names are left out; of reduced simulations all but the first case of each test."""
    others = [item for item in items if each.is_of_others(getattr(item, "callspec", _NoCall).params.values())]
    if REDUCED:
        long = [item for item in items if item.get_closest_marker("calibration") and item not in set(others)]
        first = {item.nodeid.partition("[")[0]: item for item in reversed(long)}
        others += [item for item in long if item is not first[item.nodeid.partition("[")[0]]]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in set(others)]


class _NoCall:
    params: ClassVar[dict[str, object]] = {}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Only ``test_*.py`` files of this folder are tests; scripts (benchmarks, oracles' makers) are not imported."""
    script = collection_path.suffix == ".py" and not collection_path.name.startswith(("test_", "conftest"))
    return True if script and collection_path.is_relative_to(ROOT / "tests") else None


def pytest_collection_finish() -> None:
    """Thousands of collected tests are no garbage: a search for it, as in ``multipletests``, need not look at them."""
    gc.freeze()


@pytest.fixture
def fresh_folder(tmp_path: Path) -> Callable[[], Path]:
    """Make another empty folder at each call: for loops inside a test."""
    numbers = itertools.count()

    def make() -> Path:
        folder = tmp_path / f"fresh {next(numbers)}"
        folder.mkdir()
        return folder

    return make


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data sets that may not be redistributed: ``$DREVAL_DATA``, else ``../shared/data``.

    They are not part of a public copy of the project, and no test can fetch them; a test that asks for them is
    skipped, with this reason, where they do not lie. Where ``DREVAL_DATA`` is set the folder must exist.
    """
    named = os.environ.get("DREVAL_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if named and not folder.is_dir():
        pytest.fail(f"DREVAL_DATA names {folder}, which is no folder")
    if not folder.is_dir():
        pytest.skip("real data that may not be redistributed are not here; set DREVAL_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def n_simulations() -> Callable[[int], int]:
    """Size of a long simulation: ``n_simulations(1000)`` is 1000, or a tenth, at least 40, of reduced simulations.

    Bounds on the simulated rates must be computed from the number that was really run.
    """
    return lambda full: min(full, max(full // 10, 40)) if REDUCED else full
