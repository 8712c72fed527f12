"""The images of the README and of the site's first page, on light and on dark paper.

python tests/readme_images.py maps       # two maps of handwritten digits, colored by trustworthiness, as SVG
python tests/readme_images.py report     # the first screen of a report on three embeddings of them (chromium)
"""

from __future__ import annotations

import base64
import sys
import tempfile
from html import escape
from pathlib import Path

import numpy as np
from browser import Browser

import dreval
from dreval.records.results import Results
from dreval.report._style import SCALE_DARK, SCALE_LIGHT
from dreval.report.figures.page import fit_points, point_levels

STATIC = Path(__file__).resolve().parent.parent / "vignettes" / "_static"
WIDTH, HEIGHT = 1100, 816  # of the report
N_POINTS = 600
METHODS = {"t-SNE": "tsne", "PCA": "pca"}
# measures under a map: the words, and a factor and unit of the numbers
MEASURES = {
    "neighborhood_overlap": ("neighbors kept", 100, " %"),
    "pearson_distance": ("correlation of distances", 1, ""),
}
PANEL, DOT = (582, 390), 5.8
FONT = "-apple-system,Segoe UI,Roboto,Helvetica Neue,Arial,Liberation Sans,sans-serif"
# paper, panel, text, quiet text, and the scale of the package from chance to perfect
COLORS = {
    "light": ("#ffffff", "#f5f7f9", "#16191d", "#59636e", SCALE_LIGHT),
    "dark": ("#0d1117", "#161b22", "#eceff2", "#9ca7b2", SCALE_DARK),
}
ALT = "Two maps of handwritten digits, by t-SNE and by PCA. Each point is colored by its trustworthiness."


def digits_results() -> Results:
    """Evaluate two embeddings of the digits."""
    X = dreval.load_dataset("digits").data[:N_POINTS]
    return dreval.Evaluation(X, METHODS, random_state=0).run(["trustworthiness", *MEASURES], tests=None)


def number_text(value: float, factor: int, unit: str) -> str:
    """Return a number as people write it: a percentage, or two decimals without the zero."""
    return f"{factor * value:.0f}{unit}" if factor > 1 else f"{value:.2f}".removeprefix("0")


def panel(results: Results, name: str, colors: tuple[str, str, str, str, tuple[str, ...]]) -> str:
    """Return one map with its title and its numbers."""
    _, ground, ink, quiet, scale = colors
    table, ranks = (frame.set_index(["embedding", "measure"]) for frame in (results.tidy(), results.ranking()))
    row = table.loc[(name, "trustworthiness")]
    trust = results.points[name]["trustworthiness"].to_numpy()
    levels = point_levels((trust - row["chance"]) / (1 - row["chance"]))
    places = fit_points(results[name].coordinates, (10 * PANEL[0], 10 * PANEL[1]))
    paths = (
        f'<path stroke="{scale[level]}" d="{"".join(f"M{x} {y}h0" for x, y in places[levels == level].tolist())}"/>'
        for level in np.unique(levels)
    )
    values = []
    for measure, (words, factor, unit) in MEASURES.items():
        row = table.loc[(name, measure)]
        text = number_text(row["value"], factor, unit)
        half = number_text((row["conf_high"] - row["conf_low"]) / 2, factor, "")
        weight = 700 if ranks.loc[(name, measure), "in_best_set"] else 400
        gap = ' dx="22"' if values else ""
        values.append(f"<tspan{gap}>{words} </tspan>")
        values.append(f'<tspan font-weight="{weight}" fill="{ink}">{text} ±{half}</tspan>')
    width, height = PANEL
    return (
        f'<text y="30" font-size="24" font-weight="700" fill="{ink}">{escape(name)}</text>'
        f'<g transform="translate(0 46)"><rect width="{width}" height="{height}" fill="{ground}"/>'
        f'<g transform="scale(.1)" fill="none" stroke-width="{10 * DOT:g}" stroke-linecap="round">{"".join(paths)}'
        f"</g></g>"
        f'<text y="466" font-size="18" fill="{quiet}">{"".join(values)}</text>'
    )


def maps_svg(results: Results, colors: tuple[str, str, str, str, tuple[str, ...]]) -> str:
    """Return the maps side by side with their scale of colors."""
    paper, _, _, quiet, scale = colors
    panels = (
        f'<g transform="translate({618 * at} 0)">{panel(results, name, colors)}</g>' for at, name in enumerate(METHODS)
    )
    caption = f"digits, {N_POINTS} points, k = 15; 95 % intervals. Bold: significantly better."
    steps = "".join(
        f'<rect x="{822 + 40 * i}" y="495" width="40" height="12" fill="{c}"/>' for i, c in enumerate(scale)
    )
    label = f'y="507" font-size="15" fill="{quiet}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 520" font-family="{FONT}" role="img" '
        f'aria-label="{ALT}">'
        f'<rect width="1200" height="520" fill="{paper}"/>{"".join(panels)}<text x="0" {label}>{caption}</text>'
        f'<text x="814" {label} text-anchor="end">trustworthiness of each point: chance</text>{steps}'
        f'<text x="1200" {label} text-anchor="end">perfect</text></svg>\n'
    )


def write_maps() -> None:
    """Save the two maps, in light and in dark."""
    results = digits_results()
    for name, colors in COLORS.items():
        (STATIC / f"maps-{name}.svg").write_text(maps_svg(results, colors), "utf-8")


def write_report() -> None:
    """Save the first screen of a report, in light and in dark."""
    digits = dreval.load_dataset("digits")
    methods = {"PCA": "pca", "Isomap": "isomap", "t-SNE": "tsne"}
    evaluation = dreval.Evaluation(digits.data, methods, labels=digits.labels, random_state=0)
    results = evaluation.run()
    with tempfile.TemporaryDirectory() as folder:
        report = results.report(Path(folder, "digits.html"), title="Three embeddings of handwritten digits")
        with Browser(Path(folder, "profile")) as browser:
            for dark in (False, True):
                browser.open(report, WIDTH, dark)
                clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
                shot = browser.call("Page.captureScreenshot", format="png", clip=clip)
                (STATIC / f"report-{'dark' if dark else 'light'}.png").write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    for kind in sys.argv[1:] or ("maps", "report"):
        {"maps": write_maps, "report": write_report}[kind]()
