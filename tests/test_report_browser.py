"""The report in a real browser: silent, alone, never wider than the window, and different in the dark."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest

import dreval
from dreval.report.page import write_report

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are above 9, out of the way of the 3 and 4 that Chromium reads and writes."""
    ends = os.pipe()
    moved = fcntl.fcntl(ends[0], fcntl.F_DUPFD_CLOEXEC, 10), fcntl.fcntl(ends[1], fcntl.F_DUPFD_CLOEXEC, 10)
    for end in ends:
        os.close(end)
    return moved


class Browser:
    """One tab of headless Chromium, driven through a pair of pipes (its DevTools protocol)."""

    def __init__(self, profile: Path) -> None:
        self.events: list[dict[str, Any]] = []
        self.count = 0
        read_here, write_there = _pipe()
        read_there, write_here = _pipe()
        self.process = subprocess.Popen(
            [
                "bash",
                "-c",
                f'exec "$@" 3<&{read_there} 4>&{write_there}',
                "_",
                CHROMIUM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=(read_there, write_there),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(read_there)
        os.close(write_there)
        self.reader, self.writer = os.fdopen(read_here, "rb", 0), os.fdopen(write_here, "wb", 0)
        self.buffer = b""
        self.session = ""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; events on the way are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def next_message(self) -> dict[str, Any]:
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            chunk = self.reader.read(1 << 16)
            assert chunk, "the browser went away"
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, width: int, dark: bool = False) -> None:
        """Show a file in a window of that width, and wait until it is loaded."""
        self.events.clear()
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.next_message())

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def picture(self, path: Path) -> None:
        """Write a picture of the whole page."""
        got = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(got["data"]))

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.reader.close()
        self.writer.close()
        self.process.terminate()
        self.process.wait(timeout=20)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests of this file."""
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a real evaluation, with several k, tests, an embedding that failed, and awkward names."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 240)
    X = rng.normal(size=(240, 6)) + 3 * np.eye(6)[labels]

    def broken(X: Any, n_components: int) -> Any:
        raise ValueError("a reason of many words, so that the row is wide: " + "word " * 30)

    evaluation = dreval.Evaluation(
        X,
        {
            "pca": "pca",
            "isomap": "isomap",
            "<b>&\"' a rather long name of an embedding, in words": X[:, :1],
            "three_$columns$": X[:, :3],
            "broken": broken,
        },
        labels=labels,
        n_neighbors=[5, 15, 60],
        random_state=0,
    )
    return write_report(evaluation.run(n_resamples=99), tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.parametrize("width", [320, 390, 768, 1100])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_never_wider_than_the_window(browser: Browser, page: Path, width: int, dark: bool) -> None:
    """On a phone and on a screen the page itself does not scroll sideways; the table may, inside itself."""
    browser.open(page, width, dark)

    assert browser.evaluate("window.innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    inside = (
        "[...document.querySelectorAll('main > *')].filter(e => e.getBoundingClientRect().right > innerWidth).length"
    )
    assert browser.evaluate(inside) == 0


def test_the_page_is_silent_and_loads_nothing(browser: Browser, page: Path) -> None:
    """No error and no warning on the console, and no request but the one for the file itself."""
    browser.open(page, 1100)
    said = [e for e in browser.events if e["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled")]
    said += [e for e in browser.events if e["method"] == "Log.entryAdded"]
    requests = [e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"]

    assert said == []
    assert [url for url in requests if not url.startswith("data:")] == [page.as_uri()]


def test_dark_and_light_differ_and_are_both_readable(browser: Browser, page: Path) -> None:
    """The background follows the reader's choice, and text of every kind has a contrast of at least 4.5."""
    contrast = """(() => {
      const rgb = (c) => c.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      const light = (c) => { const [r, g, b] = rgb(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const back = getComputedStyle(document.body).backgroundColor;
      const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const texts = document.querySelectorAll("h1,h2,p,td b,td small,th,dd,dt,svg text,figcaption,summary,sup");
      const colour = (e) => getComputedStyle(e)[e.ownerSVGElement ? "fill" : "color"];
      return Math.min(...[...texts].map((e) => ratio(light(colour(e)), light(back))));
    })()"""
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(page, 1100)
    light, light_contrast = browser.evaluate(background), browser.evaluate(contrast)
    browser.open(page, 1100, dark=True)
    dark, dark_contrast = browser.evaluate(background), browser.evaluate(contrast)

    assert light == "rgb(255, 255, 255)"
    assert dark == "rgb(20, 24, 29)"
    assert min(light_contrast, dark_contrast) >= 4.5


def test_figures_follow_the_colours_of_the_page(browser: Browser, page: Path) -> None:
    """Text inside the drawings is as light in the dark as the page's own, and set in its font."""
    ink = "getComputedStyle(document.querySelector('.curves svg text')).fill"
    browser.open(page, 1100)
    light = browser.evaluate(ink)
    browser.open(page, 1100, dark=True)

    assert browser.evaluate(ink) != light
    font = "(s) => getComputedStyle(document.querySelector(s)).fontFamily"
    assert browser.evaluate(f"({font})('.curves svg text') === ({font})('body')")


def test_a_click_on_a_heading_sorts_and_failures_stay_below(browser: Browser, page: Path) -> None:
    """The best comes first, a second click turns the order, and an embedding without values stays last."""
    browser.open(page, 1100)
    column = "[...document.querySelectorAll('table.main tbody tr')].map(r => r.cells[1].dataset.sort || '')"
    click = "document.querySelector('table.main thead th.n button').click()"
    browser.evaluate(click)
    first = list(browser.evaluate(column))
    browser.evaluate(click)
    second = list(browser.evaluate(column))

    assert first[-1] == second[-1] == ""
    values = [float(v) for v in first[:-1]]
    assert values == sorted(values, reverse=True)
    assert [float(v) for v in second[:-1]] == sorted(values)
    assert browser.evaluate("document.querySelector('table.main thead th.n').getAttribute('aria-sort')") == "ascending"


def test_names_are_shown_literally(browser: Browser, page: Path) -> None:
    """A name that looks like markup is read as it was given, in the page and in its drawings."""
    browser.open(page, 1100)

    assert browser.evaluate("document.querySelectorAll('main b i, main bdi b').length") == 0
    heads = browser.evaluate("[...document.querySelectorAll('.verdicts h3')].map(e => e.textContent)")
    assert "<b>&\"' a rather long name of an embedding, in words" in heads
    written = browser.evaluate("[...document.querySelectorAll('.curves svg text')].map(e => e.textContent)")
    assert "three_$columns$" in written


def test_wide_tables_use_the_window_and_say_that_they_scroll(browser: Browser, page: Path) -> None:
    """A wide table leaves the column of text where the window has room, and has a shadow where it has not."""
    sizes = "[e.clientWidth, e.scrollWidth, e.getBoundingClientRect().left]"
    wide = f"[...document.querySelectorAll('.scroll')].map(e => {sizes})"
    browser.open(page, 1800)
    assert all(inner >= outer - 1 and left >= 0 for inner, outer, left in browser.evaluate(wide))
    assert "local" in browser.evaluate("getComputedStyle(document.querySelector('.scroll')).backgroundAttachment")


def test_the_reason_of_a_failure_is_read_without_scrolling(browser: Browser, page: Path) -> None:
    """On a phone the merged cell of an embedding that failed wraps inside the window."""
    browser.open(page, 390)

    assert browser.evaluate("document.querySelector('.why').getBoundingClientRect().right") <= 390
    assert browser.evaluate("document.querySelector('.why').getBoundingClientRect().left") >= 80


@pytest.fixture(scope="module")
def study_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a study of many methods, with failures, and awkward names."""
    folder = tmp_path_factory.mktemp("study")

    def broken(X: Any, n_components: int) -> Any:
        raise ValueError("a reason of many words, so that the row is wide: " + "word " * 30)

    methods = {name: name for name in ("pca", "isomap", "lle", "ltsa", "laplacian_eigenmaps", "diffusion_maps")}
    methods |= {"<b>&\"' a rather long name of a method, in words": "classical_mds", "broken": broken}  # type: ignore[dict-item]
    sets = {name: {"data": name, "n": 60} for name in ("s3", "swiss_roll", "a_data_set_of_a_long_name_in_one_word")}
    sets["a_data_set_of_a_long_name_in_one_word"]["data"] = "cylinder"
    study = dreval.Study(folder / "s.dreval", sets, methods, n_neighbors=8, random_state=0)
    return study.run().report(folder / "study.html")


@pytest.mark.parametrize("width", [320, 390, 1100])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_of_a_study_is_never_wider_than_the_window(
    browser: Browser, study_page: Path, width: int, dark: bool
) -> None:
    """Its tables and figures scroll inside themselves; it is silent, and loads nothing."""
    test_the_page_is_never_wider_than_the_window(browser, study_page, width, dark)
    if width == 1100:
        test_the_page_is_silent_and_loads_nothing(browser, study_page)


def test_the_page_of_a_study_is_readable_in_the_dark(browser: Browser, study_page: Path) -> None:
    """As every report."""
    test_dark_and_light_differ_and_are_both_readable(browser, study_page)
