"""Values of scikit-posthocs, autorank, baycomp and statsmodels for tests/comparison.

``python tests/validation/oracles/make_comparison.py | sed -n '/^{/,$p' > tests/validation/oracles/comparison.json``
(autorank prints a line of its own) in an environment with scikit-posthocs, autorank and baycomp. The tables: that of
scikit-posthocs' page of posthoc_nemenyi_friedman, one in the manner of autorank's example (normal columns with rising
means, 30 rows), and a balanced incomplete one for Durbin's test, which equals Skillings and Mack's in this case.
"""

import json
import warnings
from importlib.metadata import version

import baycomp
import numpy as np
import pandas as pd
import scikit_posthocs as sp
from autorank import autorank
from scipy import stats

warnings.simplefilter("ignore")
POSTHOCS = np.array([[31, 27, 24], [31, 28, 31], [45, 29, 46], [21, 18, 48], [42, 36, 46], [32, 17, 40]], dtype=float)
rng = np.random.default_rng(42)
AUTORANK = np.round(0.5 + 0.1 * rng.standard_normal((30, 5)) + np.array([0.0, 0.0, 0.04, 0.1, 0.12]), 6)
nan = np.nan
DURBIN = np.array(
    [[2.0, 3, nan, 1], [3, nan, 1, 2], [nan, 1, 3, 2], [2, 1, 3, nan], [5, 4, nan, 6], [1, nan, 2, 3], [nan, 9, 8, 7],
     [4, 6, 5, nan]]
)  # fmt: skip


def tests_of(table):
    """Return Friedman's, Nemenyi's and Wilcoxon's tests with Holm's adjustment, of a complete table."""
    friedman = stats.friedmanchisquare(*table.T)
    return {
        "table": table.tolist(),
        "friedman": [float(friedman.statistic), float(friedman.pvalue)],
        "nemenyi": sp.posthoc_nemenyi_friedman(table).to_numpy().tolist(),
        "wilcoxon": sp.posthoc_wilcoxon(table.T.tolist()).to_numpy().tolist(),
        "wilcoxon_holm": sp.posthoc_wilcoxon(table.T.tolist(), p_adjust="holm").to_numpy().tolist(),
    }


numbers = tests_of(AUTORANK)
ranked = autorank(pd.DataFrame(AUTORANK, columns=list("abcde")), alpha=0.05, verbose=False, force_mode="nonparametric")
numbers |= {
    "autorank_p": float(ranked.pvalue),
    "autorank_cd": float(ranked.cd),
    "autorank_ranks": {str(k): float(v) for k, v in ranked.rankdf["meanrank"].items()},
}
long = pd.DataFrame(DURBIN).stack().reset_index()
long.columns = ["block", "group", "y"]
durbin = sp.test_durbin(long, y_col="y", block_col="block", group_col="group", block_id_col="block", melted=True)
draws = baycomp.SignedRankTest.sample(AUTORANK[:, 1], AUTORANK[:, 3], rope=0.02, nsamples=2000, random_state=1)
print(
    json.dumps(
        {
            "made with": ", ".join(
                f"{name} {version(name)}" for name in ("scipy", "scikit-posthocs", "autorank", "baycomp", "numpy")
            ),
            "posthocs": tests_of(POSTHOCS),
            "autorank": numbers,
            "durbin": {
                "table": [[None if v != v else v for v in row] for row in DURBIN],
                "result": list(map(float, durbin)),
            },
            "baycomp": {"rope": 0.02, "seed": 1, "mean": draws.mean(axis=0).tolist(), "first": draws[:5].tolist()},
        },
        indent=1,
    )
)
