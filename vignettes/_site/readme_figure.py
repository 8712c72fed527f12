"""The figure of the README: ``python vignettes/_site/readme_figure.py`` redraws it."""

from __future__ import annotations

from pathlib import Path

import dreval

IMAGE = Path(__file__).resolve().parent.parent / "_static" / "map.png"


def main(path: Path = IMAGE) -> Path:
    """Where three embeddings of the handwritten digits can be trusted."""
    digits = dreval.load_dataset("digits")
    methods = {"PCA": "pca", "Isomap": "isomap", "t-SNE": "tsne"}
    evaluation = dreval.Evaluation(digits.data, methods, labels=digits.labels, random_state=0)
    results = evaluation.run(["trustworthiness"], tests=None, ci=None)
    results.plot("map", measure="trustworthiness").savefig(path, dpi=110)
    return path


if __name__ == "__main__":
    print(main())
