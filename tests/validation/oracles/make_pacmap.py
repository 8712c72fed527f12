"""Makes ``pacmap.json``: the centroid triplet accuracies of PaCMAP's evaluation on the two clouds, with nine classes.

Run: python make_pacmap.py evaluation.py, with evaluation/evaluation.py of github.com/YingfanWang/PaCMAP, commit
2e7237a, and its imports: matplotlib, numba, scikit-learn. Its other measures draw at random, or train classifiers.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

from two_clouds import CLOUDS, nine_classes, write

sys.modules["run_script"] = ModuleType("run_script")  # a loader of data sets, which the measures do not need
sys.modules["run_script"].data_prep = None
space: dict[str, object] = {"__name__": "evaluation"}
with open(sys.argv[1], encoding="utf-8") as file:
    exec(compile(file.read(), "evaluation.py", "exec"), space)
evaluation = SimpleNamespace(**space)
names = ("centroid_triplet_eval", "faster_centroid_triplet_eval")
values = {
    name: {measure: float(getattr(evaluation, measure)(*nine_classes(name))) for measure in names} for name in CLOUDS
}
write("pacmap", ["PaCMAP, source 2e7237a"], values)
