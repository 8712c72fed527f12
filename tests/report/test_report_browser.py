"""The report in a real browser: silent, alone, never wider than the window, and different in the dark."""

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
from dreval.report.figures._panels import place_points
from dreval.report.page import write_report

pytestmark = pytest.mark.browser
SCRIPT = "<script>alert(1)</script>"
PAINTED = "new Promise((done) => setTimeout(done, 60))"
NOTHING: dict[str, list[list[float]]] = {"kept": [], "lost": [], "false": []}
PRINTED = 703  # CSS pixels between the margins of a page of A4


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
    """Its report."""
    return write_report(results, tmp_path_factory.mktemp("report") / "report.html")


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
    assert dark == "rgb(20, 24, 29)"
    assert min(light_contrast, dark_contrast) >= 4.5


def test_figures_follow_the_colors_of_the_page(browser: Browser, page: Path) -> None:
    """Text inside the drawings is as light in dark mode as that of the page, and has its font."""
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


@pytest.fixture(scope="module")
def compared_page(page: Path) -> Path:
    """The report of a comparison of the embeddings of one data set, with awkward names."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 5)) * [3, 2, 1, 1, 1]
    names = {"first": X[:, :2], SCRIPT: X[:, 2:4], "z" * 300: X[:, 3:]}
    comparison = dreval.Evaluation(X, names, n_neighbors=8, random_state=0).run().compare()
    return comparison.report(page.parent / "compared.html")


@pytest.fixture(scope="module")
def pages(page: Path, study_page: Path, compared_page: Path) -> dict[str, Path]:
    """The three kinds of pages."""
    return {"result": page, "study": study_page, "comparison": compared_page}


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, which ``.ci/run`` fetches; DREVAL_AXE is its path."""
    path = Path(os.environ.get("DREVAL_AXE", "axe.min.js"))
    assert path.is_file(), f"{path} is not there: set DREVAL_AXE to axe.min.js of axe-core 4, as .ci/run does"
    return path.read_text("utf-8")


@pytest.mark.parametrize("kind", ["result", "study", "comparison"])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(browser: Browser, pages: dict[str, Path], axe: str, kind: str, dark: bool) -> None:
    """No violation of the rules of axe-core, of any impact, in light and in dark, with all that is folded open."""
    browser.open(pages[kind], 1280, dark)
    browser.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    browser.evaluate(axe)
    words = "v.id + ' (' + v.impact + '): ' + v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', ')"
    found = browser.await_value(f"axe.run().then((r) => r.violations.map((v) => {words}))")

    assert found == []


@pytest.mark.parametrize("kind", ["study", "comparison"])
def test_every_page_is_silent_and_never_wider_than_a_phone(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """As the page of a result."""
    test_the_page_is_silent_and_loads_nothing(browser, pages[kind])
    test_the_page_is_never_wider_than_the_window(browser, pages[kind], 375, False)


@pytest.mark.parametrize("kind", ["result", "study", "comparison"])
def test_awkward_names_run_nothing(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """Markup in names is shown and never becomes an element; the only scripts are those of the page and its data."""
    browser.open(pages[kind], 1100)
    types = browser.evaluate("[...document.scripts].map((s) => s.type)")

    assert types == (["application/json", ""] if kind == "result" else [""])
    assert browser.evaluate("document.querySelectorAll('main b b, main bdi :not(wbr)').length") == 0
    if kind != "study":
        assert SCRIPT in browser.evaluate("document.querySelector('main').textContent")


@pytest.mark.parametrize("kind", ["result", "study", "comparison"])
def test_every_table_sorts(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """Each heading of each sortable table is a button that says how it sorts, and numbers come in their order."""
    browser.open(pages[kind], 1100)
    checked = browser.evaluate("""(() => [...document.querySelectorAll("table.sortable")].flatMap((table) =>
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

    assert len(checked) > 5
    assert [row for row in checked if row[1:] != [True, 1]] == []


def shares(results: dreval.Results, name: str) -> npt.NDArray[np.float64]:
    """The places of the points of an embedding, as shares of its drawing from the upper left."""
    return (1 + place_points(results.embeddings[name]) * [1, -1]) / 2


def place_of(browser: Browser, results: dreval.Results, name: str, i: int) -> list[float]:
    """The place of a point in the window, to which its embedding is scrolled."""
    across, down = shares(results, name)[i]
    return browser.evaluate(f"""(() => {{
      const view = document.querySelector('.pts[data-panel="{results.names.index(name)}"] .over');
      view.scrollIntoView({{ block: "center", behavior: "instant" }});
      const frame = view.getBoundingClientRect();
      return [frame.left + {across} * frame.width, frame.top + {down} * frame.height]; }})()""")


def marked(browser: Browser, results: dreval.Results, name: str) -> dict[str, list[list[float]]]:
    """The places of the marks of each kind in an embedding, as shares of its drawing."""
    return {
        kind: browser.evaluate(f"""(() => {{
          const over = document.querySelector('.pts[data-panel="{results.names.index(name)}"] .over');
          const places = over.querySelector(".mark.{kind}").getAttribute("d") || "";
          const {{ width }} = over.getBoundingClientRect();
          return [...places.matchAll(/M(\\S+) (\\S+?)m/g)].map(([, x, y]) => [x / width, y / width]);
        }})()""")
        for kind in ("kept", "lost", "false")
    }


def assert_same_places(found: list[list[float]], expected: npt.NDArray[np.float64]) -> None:
    """As many marks as places, and one at each, to less than a pixel."""
    assert len(found) == len(expected)
    assert all(np.abs(np.array(found) - place).max(axis=1).min() < 3e-3 for place in expected)


def neighbor_sets(results: dreval.Results, name: str, i: int) -> dict[str, set[int]]:
    """The neighbors of a point that an embedding keeps, loses and adds, by the geometry of the package."""
    mine, theirs = (set(nearest(of, 15)[0][i].tolist()) for of in (results.data, results.embeddings[name]))
    return {"kept": mine & theirs, "lost": mine - theirs, "false": theirs - mine}


def test_neighbors_are_marked_in_every_embedding(browser: Browser, page: Path, results: dreval.Results) -> None:
    """Kept, lost and false neighbors are marked at their points, for any columns; all are counted."""
    browser.open(page, 1280)
    browser.point(*place_of(browser, results, "isomap", 7))
    browser.await_value(PAINTED)

    for name in results.embeddings:
        sets, found = neighbor_sets(results, name, 7), marked(browser, results, name)
        for kind, those in sets.items():
            assert_same_places(found[kind], shares(results, name)[sorted(those)])
        over = f"document.querySelector('.pts[data-panel=\"{results.names.index(name)}\"] .over')"
        assert browser.evaluate(f"{over}.querySelector('.count').textContent") == f"{len(sets['kept'])} of 15 kept"
        lines = browser.evaluate(f"{over}.querySelector('.spokes').getAttribute('d')")
        assert lines.count("L") == len(sets["lost"])
    sets = neighbor_sets(results, "isomap", 7)
    counts = ", ".join(f"{len(those)} {kind}" for kind, those in sets.items())
    assert f"neighbors: {counts}" in browser.evaluate("document.querySelector('.tip').textContent")
    browser.point(2, 2)
    assert marked(browser, results, "isomap") == NOTHING


def test_marks_differ_by_shape_and_color(browser: Browser, page: Path, results: dreval.Results) -> None:
    """Each kind has its shape and color, those of the text above, in light and in dark mode."""
    shapes = "[...document.querySelectorAll('[data-mark] path')].map((p) => [p.getAttribute('d'), "
    shapes += "getComputedStyle(p).fill, p.closest('[data-mark]').textContent])"
    for dark in (False, True):
        browser.open(page, 1280, dark)
        drawn = browser.evaluate(shapes)
        assert [words for _, _, words in drawn] == ["kept", "lost", "false"]
        assert len({shape for shape, _, _ in drawn}) == len({color for _, color, _ in drawn}) == 3


def test_a_click_holds_a_point(browser: Browser, page: Path, results: dreval.Results) -> None:
    """Its marks stay while others are pointed at, until a second click."""
    browser.open(page, 1280)
    browser.click(*place_of(browser, results, "pca", 7))
    kept = marked(browser, results, "isomap")
    browser.point(*place_of(browser, results, "pca", 40))
    browser.await_value(PAINTED)

    assert browser.evaluate("document.querySelector('.tip b').textContent") == "point 41"
    assert marked(browser, results, "isomap") == kept != NOTHING
    browser.point(2, 2)
    assert marked(browser, results, "isomap") == kept
    browser.click(*place_of(browser, results, "pca", 40))
    browser.point(2, 2)
    assert marked(browser, results, "isomap") == NOTHING
    browser.click(*place_of(browser, results, "pca", 40))
    browser.press("Escape")
    assert marked(browser, results, "isomap") == NOTHING


def test_a_tap_holds_a_point_and_touch_scrolls(browser: Browser, page: Path, results: dreval.Results) -> None:
    """On a phone a tap marks the neighbors; nothing keeps a finger from scrolling."""
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        browser.open(page, 390)
        browser.tap(*place_of(browser, results, "pca", 7))
        browser.await_value(PAINTED)
        assert any(marked(browser, results, "isomap").values())
        actions = "[...document.querySelectorAll('.over, .pts')].map((e) => getComputedStyle(e).touchAction)"
        assert set(browser.evaluate(actions)) == {"auto"}
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_a_box_enlarges_one_embedding(browser: Browser, page: Path, results: dreval.Results) -> None:
    """The content of the box fills drawing and map of that embedding, with marks; a double click resets."""
    browser.open(page, 1280)
    views = (
        "[...document.querySelectorAll('.pts > [role=img], .map > [role=img]')].map((e) => e.getAttribute('viewBox'))"
    )
    whole = browser.evaluate(views)
    x, y = place_of(browser, results, "pca", 7)
    browser.drag(x - 20, y - 20, x + 20, y + 20)
    assert [i for i, box in enumerate(browser.evaluate(views)) if box != whole[i]] == [0, 1]
    assert browser.evaluate("document.querySelector('.reset').hidden") is False

    left, top, side = (float(v) / 172.8 for v in browser.evaluate(views)[0].split()[:3])
    width = browser.evaluate("document.querySelector('.over').getBoundingClientRect().width")
    assert side == pytest.approx(40 / width, rel=1e-6)
    expected = (shares(results, "pca")[7] - [left, top]) / side
    assert expected == pytest.approx([0.5, 0.5], abs=0.02)
    middle = browser.evaluate("""(() => {
      const frame = document.querySelector('.over').getBoundingClientRect();
      return [frame.left + frame.width / 2, frame.top + frame.height / 2]; })()""")
    browser.point(*middle)
    browser.await_value(PAINTED)
    assert browser.evaluate("document.querySelector('.tip b').textContent") == "point 8"
    false = sorted(neighbor_sets(results, "pca", 7)["false"])
    assert_same_places(marked(browser, results, "pca")["false"], (shares(results, "pca")[false] - [left, top]) / side)
    assert marked(browser, results, "isomap")["lost"]
    browser.click(*middle, count=2)
    assert browser.evaluate(views) == whole
    assert browser.evaluate("document.querySelector('.reset').hidden")
    browser.point(2, 2)
    assert marked(browser, results, "isomap") == NOTHING
    browser.drag(*middle, *(v + 30 for v in middle))
    assert browser.evaluate(views) != whole
    browser.printed()  # whole, whatever was enlarged
    assert browser.evaluate(views) == whole


def test_a_point_is_named_and_ringed_in_every_embedding(browser: Browser, page: Path, results: dreval.Results) -> None:
    """The point nearest to the pointer is named with its class, with a ring in all embeddings."""
    browser.open(page, 1280)
    browser.point(*place_of(browser, results, "pca", 7))
    browser.await_value(PAINTED)
    said = browser.evaluate("document.querySelector('.tip').textContent")
    rings = browser.evaluate("document.querySelectorAll('.ring.on').length")
    views = browser.evaluate("document.querySelectorAll('.pts .over, .map .over').length")

    assert said.startswith("point 8")
    assert "trustworthiness" in said
    assert "class " in said
    assert rings == views > 6
    browser.point(2, 2)
    assert browser.evaluate("document.querySelector('.tip').hidden")


def test_points_are_reached_by_keyboard(browser: Browser, page: Path, results: dreval.Results) -> None:
    """An embedding takes the focus; arrow keys go from point to point, each is spoken, held, enlarged, and left."""
    browser.open(page, 1280)
    browser.evaluate("document.querySelector('.pts').scrollIntoView()")
    browser.evaluate("document.querySelector('.legend li:last-child button').focus()")
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.className") == "pts"
    spoken = "document.querySelector('.said-point').textContent"
    first = browser.evaluate(spoken)
    browser.press("ArrowRight")
    second = browser.evaluate(spoken)

    assert re.match(r"point \d+, class .*, trustworthiness: pca [\d.]+", first)
    assert second != first
    assert browser.evaluate("document.querySelectorAll('.ring.on').length") > 6
    at = int(re.match(r"point (\d+)", second)[1]) - 1  # type: ignore[index]
    counts = ", ".join(f"{len(those)} {kind}" for kind, those in neighbor_sets(results, "pca", at).items())
    assert second.endswith(f"neighbors in pca: {counts}")
    browser.press("Enter")
    assert browser.evaluate(spoken).endswith(f"; point {at + 1} is held")
    held = marked(browser, results, "isomap")
    browser.press("ArrowLeft")
    assert marked(browser, results, "isomap") == held
    view = "document.querySelector('.pts > [role=img]').getAttribute('viewBox')"
    whole = browser.evaluate(view)
    browser.press("+")
    browser.press("+")
    assert float(browser.evaluate(view).split()[2]) == pytest.approx(float(whole.split()[2]) / 4)
    browser.press("-")
    assert float(browser.evaluate(view).split()[2]) == pytest.approx(float(whole.split()[2]) / 2)
    browser.press("0")
    assert browser.evaluate(view) == whole
    browser.press("Escape")
    assert browser.evaluate("document.querySelector('.tip').hidden")
    assert marked(browser, results, "isomap") == NOTHING
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert browser.evaluate(outline) == "solid"


def test_a_class_can_be_held_by_its_button(browser: Browser, page: Path) -> None:
    """The other points fade until the button is pressed a second time."""
    browser.open(page, 1280)
    press = "document.querySelector('.legend button').click()"
    faded = "document.querySelectorAll('.pts .off').length"
    browser.evaluate(press)
    assert browser.evaluate(faded) > 0
    assert browser.evaluate("document.querySelector('.legend button').getAttribute('aria-pressed')") == "true"
    browser.evaluate(press)
    assert browser.evaluate(faded) == 0


def test_the_first_link_skips_to_the_findings(browser: Browser, page: Path) -> None:
    """It shows itself when it has the focus, and its target is there; so are those of the contents."""
    browser.open(page, 1280)
    browser.press("Tab")

    assert browser.evaluate("document.activeElement.className") == "skip"
    assert browser.evaluate("document.activeElement.getBoundingClientRect().height") > 20
    missing = "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => !document.querySelector(a.hash)).length"
    assert browser.evaluate(missing) == 0


@pytest.mark.parametrize("kind", ["result", "study", "comparison"])
def test_the_printed_page_cuts_nothing(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """On paper nothing is wider than the page, figures and rows stay whole, and it is printed."""
    browser.open(pages[kind], PRINTED)
    browser.call("Emulation.setEmulatedMedia", media="print")
    wide = f"[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > {PRINTED} + 1)"
    whole = (
        "[...document.querySelectorAll('figure, svg, tr')].every((e) => getComputedStyle(e).breakInside === 'avoid')"
    )
    hidden = "[...document.querySelectorAll('nav, .over, .reset, .js')].map((e) => getComputedStyle(e).display)"

    assert browser.evaluate(f"{wide}.map((e) => e.tagName + ' ' + e.textContent.slice(0, 40)).slice(0, 5)") == []
    assert browser.evaluate(whole)
    assert set(browser.evaluate(hidden)) == {"none"}
    assert browser.printed().startswith(b"%PDF")
    browser.call("Emulation.setEmulatedMedia", media="")


def test_a_page_without_scripts_says_the_same(browser: Browser, page: Path) -> None:
    """Every word and value is in the file itself; what needs the script is not offered without it."""
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
def test_a_page_of_many_points_is_light_and_opens_at_once(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str], n: int
) -> None:
    """Five embeddings in ten classes weigh less than 3 MB with all neighbors; the time to open them is printed."""
    results = simulated_results(("tsne", "umap", "isomap", "pca", "laplacian"), n=n, classes=10, ks=(5, 15, 50))
    lists = np.random.default_rng(0).integers(0, n, (n, 50)).astype(np.int32)
    path = write_report(replace(results, data_neighbors=lists), tmp_path / "digits.html")
    browser.open(path, 1280)
    timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
    with capsys.disabled():
        print(f"\n{path.stat().st_size:,} bytes, loaded in {browser.evaluate(timing):.0f} ms", end=" ")

    assert path.stat().st_size < 3_000_000
    assert browser.evaluate("document.querySelectorAll('.pts .over').length") == 5
    assert browser.evaluate("document.querySelectorAll('[data-mark]').length") == 3


def test_without_neighbors_points_are_named(browser: Browser, tmp_path: Path) -> None:
    """A result that does not hold the neighbors in the data says so; points are named and ringed as ever."""
    results = simulated_results()
    browser.open(write_report(results, tmp_path / "r.html"), 1280)
    browser.point(*place_of(browser, results, "pca", 7))
    browser.await_value(PAINTED)

    assert "does not hold the neighbors" in browser.evaluate("document.querySelector('#maps').textContent")
    assert browser.evaluate("document.querySelectorAll('.ring.on').length") == 8
    assert browser.evaluate("document.querySelector('.tip b').textContent") == "point 8"
    assert browser.evaluate("document.querySelectorAll('[data-mark], .over.on').length") == 0
    assert [e for e in browser.events if e["method"] == "Runtime.exceptionThrown"] == []
