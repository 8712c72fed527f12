"""Checks of the built site in a browser: accessibility, width, errors, and the time of a page.

    python tests/site_pages.py _build/site [part of a name ...]

opens every page (or those named) in headless Chromium, in light at 1280 pixels, makes the window dark and 390 pixels
wide, checks both with axe-core (``DREVAL_AXE`` is the path of ``axe.min.js``), and prints all violations and the
slowest pages. Generated pages of the reference have one template for each folder: of these the ``NARROW`` largest are
checked dark and narrow, and with the header and the list of pages, which are the same on all. Each core has a browser.
The exit status is 1 if axe-core reports a violation, a page is wider than its window or an error is thrown.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

from browser import Browser

WINDOWS = ((1280, False), (390, True))
NARROW = 5
SLOWEST = 5
RUN = """axe.run(%s).then((r) => r.violations.map((v) =>
    v.id + ' (' + v.impact + '): ' + v.nodes.length + ' times, first ' + v.nodes[0].target.join(' ')))"""
WHOLE = "document"
SHARED_LEFT_OUT = "{exclude: [['.bd-header'], ['.bd-sidebar-primary']]}"
# from the start of the navigation until all scripts have run, in ms, as the browser counts it
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
SETTLED = "Promise.all(document.getAnimations().map((a) => a.finished)).then(() => true)"  # colors that still change
# 300 ms after a resize the theme makes code that is wider than its box reachable by the keyboard
RESIZED = "new Promise((resolve) => setTimeout(() => resolve(true), 500))"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def narrow_pages(site: Path, pages: list[Path]) -> set[Path]:
    """Return the pages that are also checked dark and narrow: all that are written, and the largest generated ones."""
    folders: dict[Path, list[Path]] = {}
    for page in sorted(pages, key=lambda page: page.stat().st_size, reverse=True):
        folders.setdefault(page.parent, []).append(page)
    return {page for folder, of_folder in folders.items() for page in of_folder[: None if folder == site else NARROW]}


def check_pages(site: Path, pages: list[Path], narrow: set[Path]) -> tuple[list[str], dict[str, float]]:
    """Open pages in a browser; return their faults, and the milliseconds that each takes to load."""
    axe, faults, times = Path(os.environ["DREVAL_AXE"]).read_text("utf-8"), [], {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(Path(profile)) as browser:
        for page in pages:
            name = str(page.relative_to(site))
            for width, dark in WINDOWS if page in narrow else WINDOWS[:1]:
                if name in times:
                    browser.resize(width, dark)
                    browser.await_value(RESIZED)
                else:
                    browser.open(page, width, dark)
                    times[name] = browser.evaluate(LOADED)
                    browser.evaluate(axe)
                wider = browser.evaluate(WIDER)
                result = [f"{wider} pixels wider than {width}"] if wider > 0 else []
                browser.await_value(SETTLED)
                result += browser.await_value(RUN % (WHOLE if page in narrow else SHARED_LEFT_OUT))
                faults += [f"{name} ({width}, {'dark' if dark else 'light'}): {fault}" for fault in result]
            exceptions = [event for event in browser.events if event.get("method") == "Runtime.exceptionThrown"]
            faults += [f"{name}: {event['params']['exceptionDetails']['text']}" for event in exceptions]
    return faults, times


def main() -> int:
    """Open the pages and print all violations."""
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    site, start = options.site.resolve(), perf_counter()
    pages = [page for page in site.rglob("*.html") if not page.is_relative_to(site / "_static")]
    pages = [page for page in pages if any(name in str(page) for name in options.names or [""])]
    pages.sort(key=lambda page: page.stat().st_size)  # dealt out by size, each browser has as much to do
    n_browsers, narrow = min(os.cpu_count() or 1, len(pages) or 1), narrow_pages(site, pages)
    with ThreadPoolExecutor(n_browsers) as pool:
        parts = list(pool.map(lambda part: check_pages(site, pages[part::n_browsers], narrow), range(n_browsers)))
    faults, times = (
        [fault for part in parts for fault in part[0]],
        {name: ms for part in parts for name, ms in part[1].items()},
    )
    for fault in sorted(faults):
        print(fault)
    slowest = sorted(times, key=times.__getitem__, reverse=True)[:SLOWEST]
    print(f"{len(times)} pages, {len(faults)} faults, {perf_counter() - start:.0f} s; the slowest to load:")
    for name in slowest:
        print(f"{times[name] / 1000:6.2f} s  {name}")
    return int(bool(faults) or not pages)


if __name__ == "__main__":
    sys.exit(main())
