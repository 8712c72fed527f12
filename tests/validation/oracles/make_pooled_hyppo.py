"""Power of hyppo's permutation tests on the designs of pooled_designs.py.

``python tests/validation/oracles/make_pooled_hyppo.py > tests/validation/oracles/pooled_hyppo.json`` in an environment
with hyppo. Its Hsic takes one bandwidth for both variables, the median distance of the first; it draws from numpy's
global generator, which is seeded before each sample.
"""

import json
import warnings
from importlib.metadata import version

import numpy as np
from hyppo.independence import Dcorr, Hsic
from pooled_designs import DESIGNS, PERMUTATIONS, N, sample

SAMPLES = 200
warnings.simplefilter("ignore")
rejected = {}
for design in DESIGNS:
    counts = {"Hsic": 0, "Dcorr": 0}
    for b in range(SAMPLES):
        x, y = sample(design, b)
        for name, test in (("Hsic", Hsic()), ("Dcorr", Dcorr())):
            np.random.seed(b)
            p = test.test(x[:, None], y[:, None], reps=PERMUTATIONS, workers=1, auto=False)[1]
            counts[name] += int(p <= 0.05 + 1e-12)
    rejected[design] = counts
made_with = f"hyppo {version('hyppo')}, numpy {np.__version__}, n = {N}, {PERMUTATIONS} permutations, p at most .05"
print(json.dumps({"made with": made_with, "samples": SAMPLES, "rejected": rejected}, indent=2))
