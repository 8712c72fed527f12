"""The images of the README and of the site's first page: ``python tests/readme_images.py`` creates them.

The report of three embeddings of the handwritten digits, its first screen on light and on dark paper.
Chromium must be there.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

from browser import Browser

import dreval

STATIC = Path(__file__).resolve().parent.parent / "vignettes" / "_static"
WIDTH, HEIGHT = 1100, 816


def main() -> None:
    """Evaluate, and save the images."""
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
    main()
