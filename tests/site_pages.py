"""Checks of the built site in a browser: accessibility, width, errors, and the time of a page.

    python tests/site_pages.py _build/site [part of a name ...]

opens every page (or those named) in headless Chromium, in light at 1280 pixels and in dark at 390, checks both with
axe-core (``DREVAL_AXE`` is the path of ``axe.min.js``) and prints all violations, and the slowest pages. The exit
status is 1 if axe-core reports a violation, a page is wider than its window or an error is thrown.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from browser import Browser

WINDOWS = ((1280, False), (390, True))
SLOWEST = 5
RUN = """axe.run().then((r) => r.violations.map((v) =>
    v.id + ' (' + v.impact + '): ' + v.nodes.length + ' times, first ' + v.nodes[0].target.join(' ')))"""
# from the start of the navigation until all scripts have run, in ms, as the browser counts it
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
SETTLED = "Promise.all(document.getAnimations().map((a) => a.finished)).then(() => true)"  # colors that still change
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def main() -> int:
    """Open the pages and print all violations."""
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    site = options.site.resolve()
    pages = [page for page in sorted(site.rglob("*.html")) if not page.is_relative_to(site / "_static")]
    pages = [page for page in pages if any(name in str(page) for name in options.names or [""])]
    axe, times, n_faults, start = Path(os.environ["DREVAL_AXE"]).read_text("utf-8"), {}, 0, perf_counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(Path(profile)) as browser:
        for page in pages:
            name = str(page.relative_to(site))
            for width, dark in WINDOWS:
                browser.open(page, width, dark)
                result = [f"{browser.evaluate(WIDER)} pixels wider than {width}"] if browser.evaluate(WIDER) > 0 else []
                times[name] = max(times.get(name, 0.0), browser.evaluate(LOADED))
                exceptions = [event for event in browser.events if event.get("method") == "Runtime.exceptionThrown"]
                result += [event["params"]["exceptionDetails"]["text"] for event in exceptions]
                browser.await_value(SETTLED)
                browser.evaluate(axe)
                result += browser.await_value(RUN)
                n_faults += len(result)
                for violation in result:
                    print(f"{name} ({width}, {'dark' if dark else 'light'}): {violation}")
    slowest = sorted(times, key=times.__getitem__, reverse=True)[:SLOWEST]
    print(f"{len(pages)} pages, {n_faults} faults, {perf_counter() - start:.0f} s; the slowest to load:")
    for name in slowest:
        print(f"{times[name] / 1000:6.2f} s  {name}")
    return int(n_faults > 0 or not pages)


if __name__ == "__main__":
    sys.exit(main())
