"""Execute the cells of all pages before sphinx reads them, several pages at a time, those with the longest code first.

Sphinx shares pages among its processes in groups, by name, and its last group may take minutes. The outputs go to the
cache of cells, in which the reader of a page looks first. A page that fails is not stored: it is executed again when
it is read, which reports the error.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from sphinx.application import Sphinx

from _site._kernels import Template, manager_of
from _site._vignettes import texts_below


def start_pages(app: Sphinx) -> Callable[[], None]:
    """Start to execute the pages that the cache of cells does not have; the result waits for them, and stores them."""
    environment: Any = app.env
    config, cache = environment.mystnb_config, get_cache(environment.mystnb_config.execution_cache_path)
    pages = []
    for path in texts_below(Path(app.srcdir)):
        text = path.read_text("utf-8")
        reader = create_nb_reader(str(path), environment.myst_config, config, text)
        if reader is None:
            continue
        notebook = reader.read(text)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            pages.append((path, notebook))
    pages.sort(key=lambda page: -sum(len(cell.source) for cell in page[1].cells if cell.cell_type == "code"))
    if not pages:
        return lambda: None
    template, pool = Template(), ThreadPoolExecutor(app.parallel)
    options = {"timeout": config.execution_timeout, "kernel_manager_class": manager_of(template)}
    tasks = [(path, pool.submit(_execute, notebook, options)) for path, notebook in pages]

    def finish() -> None:
        _store(tasks, cache)
        template.close()

    return finish


def _execute(notebook: Any, options: dict[str, Any]) -> tuple[Any, float, bool]:
    """Execute the cells of a page in an empty folder; return the page, the seconds and whether all succeeded."""
    with tempfile.TemporaryDirectory() as folder:
        result = single_nb_execution(notebook, cwd=folder, allow_errors=False, **options)
    return notebook, result.time, result.err is None


def _store(tasks: list[tuple[Path, Future[tuple[Any, float, bool]]]], cache: Any) -> None:
    """Store the outputs of the pages that were executed without an error."""
    for path, task in tasks:
        notebook, seconds, succeeded = task.result()
        if succeeded:
            bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": seconds})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
