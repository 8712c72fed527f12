"""Variance scores by ``score.py`` of dynamicviz, on four noisy copies of a random map.

``python make_dynamicviz.py SCORE.PY`` with the file ``dynamicviz/score.py`` of github.com/sunericd/dynamicviz (MIT
license, version 1.0.0) writes ``dynamicviz_score.json`` next to this script.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

N, R, K = 25, 4, 5


def main(path: str) -> None:
    """Run ``score.py``, and write data, maps and scores."""
    spec = importlib.util.spec_from_file_location("score", path)
    assert spec is not None
    assert spec.loader is not None
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    maps = [X[:, :2] + 0.3 * rng.normal(size=(N, 2)) for _ in range(R)]
    frames = [
        pd.DataFrame({"x1": Y[:, 0], "x2": Y[:, 1], "original_index": np.arange(N), "bootstrap_number": b})
        for b, Y in enumerate(maps)
    ]
    table = pd.concat(frames)
    scores = {name: score.variance(table, method=name, k=K, X_orig=X).tolist() for name in ("local", "global")}
    record = {"version": "dynamicviz 1.0.0", "k": K, "data": X.tolist(), "maps": [Y.tolist() for Y in maps], **scores}
    Path(__file__).with_name("dynamicviz_score.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
