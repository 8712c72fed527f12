"""The report in a real browser: no messages, no requests, never wider than the window, with a dark theme."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from browser import Browser
from report_cases import simulated_results

import dreval
from dreval.geometry.distances import nearest
from dreval.report.figures.page import MAP_SIZE, fit_points
from dreval.report.result_view import read_results
from dreval.report.write import write_report

pytestmark = pytest.mark.browser
SCRIPT = "<script>alert(1)</script>"
PAINTED = "new Promise((done) => setTimeout(done, 60))"
NO_MARKS: dict[str, list[list[float]]] = {"kept": [], "lost": [], "false": []}
CAPTION = "document.querySelector('.now caption').textContent"
RINGS = "[...document.querySelectorAll('.ring')].filter((e) => e.getAttribute('visibility') === 'visible').length"
PAGE_WIDTH = 703  # CSS pixels between the margins of a page of A4


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests of this file."""
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def results() -> dreval.Results:
    """A real evaluation, with several k, tests, an embedding that failed, and awkward names."""
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
            SCRIPT: X[:, 1:3],
            "🎉" + "x" * 299: X[:, 2:4],
        },
        labels=np.array([SCRIPT, "a 'quoted' & \"name\"", "two\nlines 🎉", "y" * 300])[labels],
        n_neighbors=[5, 15, 60],
        random_state=0,
    )
    return evaluation.run(n_resamples=99)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, results: dreval.Results) -> Path:
    """The report of the real evaluation."""
    return write_report(results, tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.parametrize("width", [320, 390, 768, 1100])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_never_wider_than_the_window(browser: Browser, page: Path, width: int, dark: bool) -> None:
    """The page does not scroll sideways on a phone or a screen; a table may scroll inside itself."""
    browser.open(page, width, dark)

    assert browser.evaluate("window.innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    n_outside = (
        "[...document.querySelectorAll('main > *')].filter(e => e.getBoundingClientRect().right > innerWidth).length"
    )
    assert browser.evaluate(n_outside) == 0


@pytest.mark.parametrize("case", [{"names": ("only",), "classes": 0}, {"names": tuple("abcdefghijkl"), "n": 60}])
def test_a_page_of_one_or_many_embeddings_fits_a_phone(browser: Browser, tmp_path: Path, case: dict[str, Any]) -> None:
    """Without classes, and with more embeddings than fit side by side, nothing is wider than the window."""
    path = write_report(simulated_results(**case), tmp_path / "r.html")
    for width in (320, 390):
        browser.open(path, width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_the_last_map_shows_any_other_embedding(browser: Browser, tmp_path: Path) -> None:
    """A list above the last of eight maps draws each other embedding at its places, and the first choice again."""
    results = simulated_results(names=tuple("abcdefghijkl"), n=60)
    *_, eighth, _, _, _, last = read_results(results).ranked
    browser.open(write_report(results, tmp_path / "r.html"), 1100)
    figure = "document.querySelectorAll('.big')[7].parentElement"

    def choose(place: int) -> str:
        """Choose an entry of the list, and return the drawn points."""
        browser.evaluate(
            f"(s => {{ s.value = {place}; s.dispatchEvent(new Event('change')); }})({figure}.querySelector('select'))"
        )
        return str(
            browser.evaluate(f"[...{figure}.querySelectorAll('.pts path')].map((e) => e.getAttribute('d')).join('')")
        )

    names = browser.evaluate(f"[...{figure}.querySelectorAll('option')].map((e) => e.textContent)")
    before, other, after = choose(0), choose(4), choose(0)
    assert (names[0], names[4], len(names)) == (eighth, last, 5)
    places = {(int(x), int(y)) for x, y in re.findall(r"M(-?\d+) (-?\d+)h0", other)}
    assert places == {*map(tuple, fit_points(results.embeddings[last], MAP_SIZE).tolist())}
    assert before == after != other
    assert f"of {last}:" in (
        choose(4) and browser.evaluate(f"{figure}.querySelector('.big').getAttribute('aria-label')")
    )
    assert not [event for event in browser.events if event["method"] == "Runtime.exceptionThrown"]


def test_the_page_has_no_messages_and_no_requests(browser: Browser, page: Path) -> None:
    """The console has no error and no warning, and the only request is for the file."""
    browser.open(page, 1100)
    texts = [e for e in browser.events if e["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled")]
    texts += [e for e in browser.events if e["method"] == "Log.entryAdded"]
    requests = [e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"]

    assert texts == []
    assert [url for url in requests if not url.startswith("data:")] == [page.as_uri()]


def test_dark_and_light_differ_and_are_both_readable(browser: Browser, page: Path) -> None:
    """The background follows the reader's choice, and text of every kind has a contrast of at least 4.5."""
    contrast = """(() => {
      const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      const pixel = (c) => { pen.fillStyle = c; pen.fillRect(0, 0, 1, 1); return pen.getImageData(0, 0, 1, 1).data; };
      const rgb = (c) => [...pixel(c)].slice(0, 3).map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      const light = (c) => { const [r, g, b] = rgb(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const back = getComputedStyle(document.body).backgroundColor;
      const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const texts = document.querySelectorAll("h1,h2,p,td b,td small,th,dd,dt,svg text,figcaption,summary,sup");
      const color = (e) => getComputedStyle(e)[e.ownerSVGElement ? "fill" : "color"];
      return Math.min(...[...texts].map((e) => ratio(light(color(e)), light(back))));
    })()"""
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(page, 1100)
    light, light_contrast = browser.evaluate(background), browser.evaluate(contrast)
    browser.open(page, 1100, dark=True)
    dark, dark_contrast = browser.evaluate(background), browser.evaluate(contrast)

    assert light == "rgb(255, 255, 255)"
    assert dark == "rgb(18, 22, 27)"
    assert min(light_contrast, dark_contrast) >= 4.5


def test_figures_follow_the_colors_of_the_page(browser: Browser, page: Path) -> None:
    """Text in the figures is as light in dark mode as that of the page, and has its font."""
    ink = "getComputedStyle(document.querySelector('.cv text')).fill"
    browser.open(page, 1100)
    light = browser.evaluate(ink)
    browser.open(page, 1100, dark=True)

    assert browser.evaluate(ink) != light
    font = "(s) => getComputedStyle(document.querySelector(s)).fontFamily"
    assert browser.evaluate(f"({font})('.cv text') === ({font})('body')")


def test_names_are_shown_literally(browser: Browser, page: Path) -> None:
    """A name that looks like markup is text, in full where a reader points at it."""
    browser.open(page, 1100)

    assert browser.evaluate("document.querySelectorAll('main b i, main bdi b').length") == 0
    heads = browser.evaluate("[...document.querySelectorAll('.card h3')].map(e => e.title)")
    assert "<b>&\"' a rather long name of an embedding, in words" in heads
    labels = browser.evaluate("[...document.querySelectorAll('.grid figcaption b')].map(e => e.textContent)")
    assert "three_$columns$" in labels


def test_wide_tables_scroll_inside_themselves(browser: Browser, page: Path) -> None:
    """On a phone the table of all measures scrolls, and its first column stays in place."""
    browser.open(page, 390)
    first = "e.querySelector('th[scope=row]').getBoundingClientRect().left"
    scroll = "const e = document.querySelector('.scores').parentElement; e.scrollLeft = 150;"
    sizes = browser.evaluate(f"(() => {{ {scroll} return [e.clientWidth, e.scrollWidth, {first}]; }})()")

    assert sizes[0] < sizes[1]
    assert sizes[2] == pytest.approx(16, abs=2)


def test_the_reason_of_a_failure_is_visible_without_scrolling(browser: Browser, page: Path) -> None:
    """On a phone the card of an embedding that failed wraps inside the window."""
    browser.open(page, 390)

    assert browser.evaluate("document.querySelector('.why').getBoundingClientRect().right") <= 390
    assert "a reason of many words" in browser.evaluate("document.querySelector('.why').textContent")


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
    study = dreval.Study(folder / "s.journal", sets, methods, n_neighbors=8, random_state=0)
    return study.run().report(folder / "study.html")


@pytest.mark.parametrize("width", [320, 390, 1100])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_of_a_study_is_never_wider_than_the_window(
    browser: Browser, study_page: Path, width: int, dark: bool
) -> None:
    """Its tables and figures scroll inside themselves; it has no messages and no requests."""
    test_the_page_is_never_wider_than_the_window(browser, study_page, width, dark)
    if width == 1100:
        test_the_page_has_no_messages_and_no_requests(browser, study_page)


def test_the_page_of_a_study_is_readable_in_the_dark(browser: Browser, study_page: Path) -> None:
    """Its themes have the contrast of every report."""
    test_dark_and_light_differ_and_are_both_readable(browser, study_page)


@pytest.fixture(scope="module")
def comparison_page(page: Path) -> Path:
    """The report of a comparison of the embeddings of one data set, with awkward names."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 5)) * [3, 2, 1, 1, 1]
    names = {"first": X[:, :2], SCRIPT: X[:, 2:4], "z" * 300: X[:, 3:]}
    comparison = dreval.Evaluation(X, names, n_neighbors=8, random_state=0).run().compare()
    return comparison.report(page.parent / "compared.html")


@pytest.fixture(scope="module")
def pages(page: Path, study_page: Path, comparison_page: Path) -> dict[str, Path]:
    """The three kinds of pages."""
    return {"result": page, "study": study_page, "comparison": comparison_page}


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, which ``.ci/run`` downloads; DREVAL_AXE is its path."""
    path = Path(os.environ.get("DREVAL_AXE", "axe.min.js"))
    assert path.is_file(), f"{path} is not there: set DREVAL_AXE to axe.min.js of axe-core 4, as .ci/run does"
    return path.read_text("utf-8")


@pytest.mark.parametrize("kind", ["result", "study", "comparison"])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_reports_no_violation(browser: Browser, pages: dict[str, Path], axe: str, kind: str, dark: bool) -> None:
    """axe-core reports no violation of any impact, in light and dark mode, with all details open."""
    browser.open(pages[kind], 1280, dark)
    browser.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    browser.evaluate(axe)
    violation_text = "v.id + ' (' + v.impact + '): ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', ')"
    violations = browser.await_value(f"axe.run().then((r) => r.violations.map((v) => {violation_text}))")

    assert violations == []


@pytest.mark.parametrize("kind", ["study", "comparison"])
def test_every_page_has_no_messages_and_fits_a_phone(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """The tests of the page of a result hold for the other pages."""
    test_the_page_has_no_messages_and_no_requests(browser, pages[kind])
    test_the_page_is_never_wider_than_the_window(browser, pages[kind], 375, False)


@pytest.mark.parametrize("kind", ["result", "study", "comparison"])
def test_awkward_names_run_no_script(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """Markup in names never becomes an element; the only scripts are those of the page and its data."""
    browser.open(pages[kind], 1100)
    types = browser.evaluate("[...document.scripts].map((s) => s.type)")

    assert types == (["application/json", ""] if kind == "result" else [""])
    assert browser.evaluate("document.querySelectorAll('main b b, main bdi :not(wbr)').length") == 0
    if kind != "study":
        assert SCRIPT in browser.evaluate("document.querySelector('main').textContent")


@pytest.mark.parametrize("kind", ["result", "study", "comparison"])
def test_every_table_sorts(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """Each heading of a sortable table is a button with its direction, and numbers are in order."""
    browser.open(pages[kind], 1100)
    headings = browser.evaluate("""(() => [...document.querySelectorAll("table.sortable")].flatMap((table) =>
      [...table.querySelectorAll("thead tr:last-child th")].map((head) => {
        head.querySelector("button").click();
        const up = head.getAttribute("aria-sort") === "ascending";
        const cells = [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex]).filter(Boolean)
          .map((cell) => Number((cell.dataset.sort ?? cell.textContent.trim()).replaceAll(",", "").replace("−", "-")
            || NaN));
        const known = cells.filter((value) => !Number.isNaN(value));
        const rising = known.every((value, i) => i === 0 || (up ? known[i - 1] <= value : known[i - 1] >= value));
        const named = table.querySelectorAll("[aria-sort]").length;
        return [head.textContent, known.length !== cells.length || rising, named];
      })))()""")

    assert len(headings) > 5
    assert [row for row in headings if row[1:] != [True, 1]] == []


def map_selector(results: dreval.Results, name: str) -> str:
    """Return the expression of the map of an embedding."""
    place = read_results(results).ranked.index(name)
    return f"document.querySelector('.big[data-map=\"{place}\"]')"


def panel_positions(results: dreval.Results, name: str) -> npt.NDArray[np.int64]:
    """Return the positions of the points of an embedding, in units of its map."""
    return fit_points(results.embeddings[name], MAP_SIZE)


def scroll_to_point(browser: Browser, results: dreval.Results, name: str, i: int) -> list[float]:
    """Return the position of a point in the window, after scrolling to its embedding."""
    x, y = panel_positions(results, name)[i].tolist()
    return browser.evaluate(f"""(() => {{
      const drawing = {map_selector(results, name)};
      drawing.scrollIntoView({{ block: "center", behavior: "instant" }});
      const frame = drawing.getBoundingClientRect();
      const view = drawing.viewBox.baseVal;
      const unit = frame.width / view.width;
      return [frame.left + ({x} - view.x) * unit, frame.top + ({y} - view.y) * unit]; }})()""")


def mark_positions(
    browser: Browser, results: dreval.Results, name: str, zoom: float = 1
) -> dict[str, list[list[float]]]:
    """Return the positions of the marks of each kind in an embedding, in units of its map."""
    steps = {"kept": (92, 0), "lost": (84, 84), "false": (0, 124)}  # from the start of a mark to its middle
    places = {}
    for kind, (dx, dy) in steps.items():
        path = browser.evaluate(f"{map_selector(results, name)}.querySelector('.ov .{kind}').getAttribute('d') || ''")
        starts = re.findall(r"M(-?[\d.]+) (-?[\d.]+)", path)
        places[kind] = [[float(x) + dx * zoom, float(y) + dy * zoom] for x, y in starts]
    return places


def assert_same_positions(positions: list[list[float]], expected: npt.NDArray[Any]) -> None:
    """Check that there is one mark at each position, to less than a unit of the map."""
    assert len(positions) == len(expected)
    assert all(np.abs(np.array(positions) - position).max(axis=1).min() < 1 for position in expected)


def neighbor_sets(results: dreval.Results, name: str, i: int) -> dict[str, set[int]]:
    """Return the neighbors of a point that an embedding keeps, loses and adds, computed by the package."""
    data_neighbors, embedding_neighbors = (
        set(nearest(coordinates, 15)[0][i].tolist()) for coordinates in (results.data, results.embeddings[name])
    )
    return {
        "kept": data_neighbors & embedding_neighbors,
        "lost": data_neighbors - embedding_neighbors,
        "false": embedding_neighbors - data_neighbors,
    }


def test_neighbors_are_marked_in_every_embedding(browser: Browser, page: Path, results: dreval.Results) -> None:
    """Kept, lost and false neighbors are marked at their points, for any columns; all are counted."""
    browser.open(page, 1280)
    browser.point(*scroll_to_point(browser, results, "isomap", 7))
    browser.await_value(PAINTED)

    for name in results.embeddings:
        sets, positions = neighbor_sets(results, name, 7), mark_positions(browser, results, name)
        for kind, neighbors in sets.items():
            assert_same_positions(positions[kind], panel_positions(results, name)[sorted(neighbors)])
        drawing = map_selector(results, name)
        caption = browser.evaluate(f"{drawing}.parentElement.querySelector('figcaption span').textContent")
        assert caption == f"{len(sets['kept'])} of 15 kept"
        lines = browser.evaluate(f"{drawing}.querySelector('.spokes').getAttribute('d')")
        assert lines.count("L") == len(sets["lost"])
    rows = browser.evaluate("[...document.querySelectorAll('.now tbody tr')].map((r) => r.cells[1].textContent)")
    order = read_results(results).ranked
    assert rows == [str(len(neighbor_sets(results, name, 7)["kept"])) for name in order]
    browser.point(2, 2)
    assert mark_positions(browser, results, "isomap") == NO_MARKS


def test_marks_differ_by_shape_and_color(browser: Browser, page: Path, results: dreval.Results) -> None:
    """Each kind has its shape and color, as in the text beside the maps, in light and in dark mode."""
    shapes = "[...document.querySelectorAll('.mk svg > *')].map((p) => [p.outerHTML, "
    shapes += "getComputedStyle(p).fill, p.closest('.mk').textContent])"
    for dark in (False, True):
        browser.open(page, 1280, dark)
        marks = browser.evaluate(shapes)
        assert [label for _, _, label in marks] == ["kept", "lost", "false"]
        assert len({shape for shape, _, _ in marks}) == len({color for _, color, _ in marks}) == 3


def test_a_click_pins_a_point(browser: Browser, page: Path, results: dreval.Results) -> None:
    """Its marks stay while the pointer is at other points, until a second click."""
    browser.open(page, 1280)
    browser.click(*scroll_to_point(browser, results, "pca", 7))
    pinned = mark_positions(browser, results, "isomap")
    browser.point(*scroll_to_point(browser, results, "pca", 40))
    browser.await_value(PAINTED)

    assert browser.evaluate(CAPTION).startswith("Point 8, class ")
    assert "(held)" in browser.evaluate(CAPTION)
    assert mark_positions(browser, results, "isomap") == pinned != NO_MARKS
    browser.point(2, 2)
    assert mark_positions(browser, results, "isomap") == pinned
    browser.click(*scroll_to_point(browser, results, "pca", 40))
    browser.point(2, 2)
    assert mark_positions(browser, results, "isomap") == NO_MARKS
    browser.click(*scroll_to_point(browser, results, "pca", 40))
    browser.press("Escape")
    assert mark_positions(browser, results, "isomap") == NO_MARKS


def test_a_tap_pins_a_point_and_touch_scrolls(browser: Browser, page: Path, results: dreval.Results) -> None:
    """A tap on a phone marks the neighbors, and touch scrolls everywhere."""
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        browser.open(page, 390)
        browser.tap(*scroll_to_point(browser, results, "pca", 7))
        browser.await_value(PAINTED)
        assert any(mark_positions(browser, results, "isomap").values())
        actions = "[...document.querySelectorAll('.big')].map((e) => getComputedStyle(e).touchAction)"
        assert all("pan-y" in action and "pinch-zoom" in action for action in browser.evaluate(actions))
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_a_box_enlarges_one_embedding(browser: Browser, page: Path, results: dreval.Results) -> None:
    """The content of the box fills the map of that embedding, with marks; a double click resets."""
    browser.open(page, 1280)
    views = "[...document.querySelectorAll('.big')].map((e) => e.getAttribute('viewBox'))"
    drawing, order = map_selector(results, "pca"), read_results(results).ranked
    original = browser.evaluate(views)
    x, y = scroll_to_point(browser, results, "pca", 7)
    browser.drag(x - 20, y - 16, x + 20, y + 16)
    assert [i for i, box in enumerate(browser.evaluate(views)) if box != original[i]] == [order.index("pca")]
    assert browser.evaluate(f"{drawing}.parentElement.querySelector('.reset').hidden") is False

    left, top, width, height = map(float, browser.evaluate(views)[order.index("pca")].split())
    zoom = width / MAP_SIZE[0]
    assert zoom == pytest.approx(40 / browser.evaluate(f"{drawing}.getBoundingClientRect().width"), rel=0.05)
    px, py = panel_positions(results, "pca")[7]
    assert (px - left) / width == pytest.approx(0.5, abs=0.03)
    assert (py - top) / height == pytest.approx(0.5, abs=0.03)
    middle = scroll_to_point(browser, results, "pca", 7)
    browser.point(*middle)
    browser.await_value(PAINTED)
    assert browser.evaluate(CAPTION).startswith("Point 8, class ")
    false = sorted(neighbor_sets(results, "pca", 7)["false"])
    assert_same_positions(
        mark_positions(browser, results, "pca", zoom)["false"], panel_positions(results, "pca")[false]
    )
    assert mark_positions(browser, results, "isomap")["lost"]
    browser.click(*middle, count=2)
    assert browser.evaluate(views) == original
    assert browser.evaluate(f"{drawing}.parentElement.querySelector('.reset').hidden")
    browser.point(2, 2)
    assert mark_positions(browser, results, "isomap") == NO_MARKS
    browser.drag(*middle, *(v + 30 for v in middle))
    assert browser.evaluate(views) != original
    browser.pdf()  # whole, whatever was enlarged
    assert browser.evaluate(views) == original


def test_a_point_has_its_name_and_rings_in_every_embedding(
    browser: Browser, page: Path, results: dreval.Results
) -> None:
    """The point nearest to the pointer has its name and class, with a ring on all maps."""
    browser.open(page, 1280)
    assert "(example: here the maps differ most)" in browser.evaluate(CAPTION)
    browser.point(*scroll_to_point(browser, results, "pca", 7))
    browser.await_value(PAINTED)

    assert browser.evaluate(CAPTION).startswith("Point 8, class ")
    heading = browser.evaluate("document.querySelectorAll('.now thead th')[2].textContent")
    assert heading == "trust\u00adworthi\u00adness"
    assert browser.evaluate(RINGS) == browser.evaluate("document.querySelectorAll('.big').length") == 6
    browser.point(2, 2)
    assert browser.evaluate(RINGS) == 0


def test_points_are_accessible_by_keyboard(browser: Browser, page: Path, results: dreval.Results) -> None:
    """A map takes the focus; arrow keys go from point to point, which are announced, pinned and enlarged."""
    browser.open(page, 1280)
    first = read_results(results).ranked[0]
    browser.evaluate("document.querySelector('.big').scrollIntoView()")
    browser.evaluate("[...document.querySelectorAll('#measures summary')].pop().focus()")
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.matches('.map.big')")
    spoken = "document.querySelector('.said-point').textContent"
    first_text = browser.evaluate(spoken)
    browser.press("ArrowRight")
    second_text = browser.evaluate(spoken)

    assert re.match(r"Point \d+, class .*, trustworthiness: .* [\d.]+", first_text, re.S)
    assert second_text != first_text
    assert browser.evaluate(RINGS) == 6
    index = int(re.match(r"Point (\d+)", second_text)[1]) - 1  # type: ignore[index]
    counts = ", ".join(f"{len(neighbors)} {kind}" for kind, neighbors in neighbor_sets(results, first, index).items())
    assert second_text.endswith(f": {counts}")
    browser.press("Enter")
    assert browser.evaluate(spoken).endswith(f"; Point {index + 1} is held")
    pinned = mark_positions(browser, results, "isomap")
    browser.press("ArrowLeft")
    assert mark_positions(browser, results, "isomap") == pinned
    view = "document.querySelector('.big').getAttribute('viewBox')"
    original = browser.evaluate(view)
    browser.press("+")
    browser.press("+")
    assert float(browser.evaluate(view).split()[2]) == pytest.approx(float(original.split()[2]) / 4)
    browser.press("-")
    assert float(browser.evaluate(view).split()[2]) == pytest.approx(float(original.split()[2]) / 2)
    browser.press("0")
    assert browser.evaluate(view) == original
    browser.press("Escape")
    assert browser.evaluate(RINGS) == 0
    assert mark_positions(browser, results, "isomap") == NO_MARKS
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert browser.evaluate(outline) == "solid"


def test_a_button_pins_a_class(browser: Browser, page: Path) -> None:
    """The other points fade until a second press of the button."""
    browser.open(page, 1280)
    press = "document.querySelector('.classkey button').click()"
    faded = "document.querySelectorAll('.big .off').length"
    browser.evaluate(press)
    assert browser.evaluate(faded) > 0
    assert browser.evaluate("document.querySelector('.classkey button').getAttribute('aria-pressed')") == "true"
    browser.evaluate(press)
    assert browser.evaluate(faded) == 0


def test_the_colors_of_points_are_toggled(browser: Browser, page: Path) -> None:
    """Points have the color of their class, or that of their trustworthiness from chance to perfect."""
    browser.open(page, 1280)
    color = "getComputedStyle(document.querySelector('.big .k1 .q7')).stroke"
    by_class = browser.evaluate(color)
    browser.evaluate("document.querySelector('.tog input[value=trust]').click()")
    by_trust = browser.evaluate(color)
    assert by_class != by_trust == browser.evaluate("getComputedStyle(document.querySelector('.thumb .q7')).stroke")
    assert browser.evaluate("getComputedStyle(document.querySelector('.classkey')).display") == "none"
    browser.evaluate("document.querySelector('.tog input[value=class]').click()")
    assert browser.evaluate(color) == by_class


def test_the_first_link_skips_to_the_findings(browser: Browser, page: Path) -> None:
    """The link is visible when it has the focus, and all targets of links exist."""
    browser.open(page, 1280)
    browser.press("Tab")

    assert browser.evaluate("document.activeElement.className") == "skip"
    assert browser.evaluate("document.activeElement.getBoundingClientRect().height") > 20
    missing = "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => !document.querySelector(a.hash)).length"
    assert browser.evaluate(missing) == 0


@pytest.mark.parametrize("kind", ["result", "study", "comparison"])
def test_the_printed_page_is_complete(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """On paper no element is wider than the page, figures and rows are not split, and the PDF is written."""
    browser.open(pages[kind], PAGE_WIDTH)
    browser.call("Emulation.setEmulatedMedia", media="print")
    too_wide = (
        f"[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > {PAGE_WIDTH} + 1)"
    )
    is_unbroken = (
        "[...document.querySelectorAll('figure, svg, tr')].every((e) => getComputedStyle(e).breakInside === 'avoid')"
    )
    hidden = "[...document.querySelectorAll('nav, .reset, .js, .tog')].map((e) => getComputedStyle(e).display)"

    assert browser.evaluate(f"{too_wide}.map((e) => e.tagName + ' ' + e.textContent.slice(0, 40)).slice(0, 5)") == []
    assert browser.evaluate(is_unbroken)
    assert set(browser.evaluate(hidden)) == {"none"}
    assert browser.pdf().startswith(b"%PDF")
    browser.call("Emulation.setEmulatedMedia", media="")


def test_a_page_without_scripts_has_the_same_content(browser: Browser, page: Path) -> None:
    """Every text and value is in the file; parts that need the script are hidden without it."""
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page, 1100)
        tree = json.dumps(browser.call("DOM.getDocument", depth=0))
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    text = page.read_text("utf-8")

    assert tree
    assert 'class="js" hidden' in text
    assert "<button" not in re.sub(r"<script>.*?</script>", "", text, flags=re.S)


@pytest.mark.parametrize("n", [1797, 5000])
def test_a_page_of_many_points_is_small_and_loads(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str], n: int
) -> None:
    """Five embeddings in ten classes with all neighbors take less than 3 MB; the time to load is printed."""
    results = simulated_results(("tsne", "umap", "isomap", "pca", "laplacian"), n=n, classes=10, ks=(5, 15, 50))
    lists = np.random.default_rng(0).integers(0, n, (n, 50)).astype(np.int32)
    path = write_report(replace(results, _data_neighbors=lists), tmp_path / "digits.html")
    browser.open(path, 1280)
    timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
    with capsys.disabled():
        print(f"\n{path.stat().st_size:,} bytes, loaded in {browser.evaluate(timing):.0f} ms", end=" ")

    assert path.stat().st_size < 3_000_000
    assert browser.evaluate("document.querySelectorAll('.big[role=application]').length") == 5
    assert browser.evaluate("document.querySelectorAll('.mk').length") == 3


def test_without_neighbors_points_are_named(browser: Browser, tmp_path: Path) -> None:
    """A result without the neighbors in the data says so; points have names and rings."""
    results = simulated_results()
    browser.open(write_report(results, tmp_path / "r.html"), 1280)
    browser.point(*scroll_to_point(browser, results, "pca", 7))
    browser.await_value(PAINTED)

    assert "does not hold the neighbors" in browser.evaluate("document.querySelector('#maps').textContent")
    assert browser.evaluate(RINGS) == 4
    assert browser.evaluate(CAPTION).startswith("Point 8, class ")
    assert browser.evaluate("document.querySelectorAll('.mk').length") == 0
    assert [e for e in browser.events if e["method"] == "Runtime.exceptionThrown"] == []
