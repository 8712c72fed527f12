"""t-SNE, openTSNE and scikit-learn: time, divergence and trustworthiness on ten normal clusters in 50 columns.

``python tests/benchmarks/bench_tsne.py [n ...]`` (2000 and 10 000 by default) prints a row per tool and size. Each tool
has one thread, the same perplexity (30) and start (principal scores), and its defaults for all else. The divergence is
that of one exact cost function on one set of affinities for all tools. Seconds are processor seconds, so that other
programs on the machine matter less.

With openTSNE 1.0.4 and scikit-learn 1.9.1 on a machine of two cores, n = 2000: 2.9 s, openTSNE 5.8, scikit-learn 7.4,
with divergences 1.19, 1.26, 1.27 and trustworthiness .980, .980, .980. n = 10 000: 43 s, 25, 68, with 2.44, 2.59, 2.59
and .978, .979, .979 (divergence and trustworthiness at 10 000 are from before sums kept their order). Since attraction
takes its logarithms several at a time, n = 10 000 takes .92 of openTSNE's time (48.1 s and 52.3 on a busy machine).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

from bench_ranks import THREADS

SIZES = (2000, 10_000)


def data(n: int) -> Any:
    """Return clusters whose centers are about as far apart as their points."""
    import numpy as np

    rng = np.random.default_rng(0)
    centers = rng.normal(size=(10, 50))
    return 1.5 * centers[rng.integers(10, size=n)] + rng.normal(size=(n, 50)) * np.linspace(1.5, 0.2, 50)


def tools() -> dict[str, Callable[[Any, Any], Any]]:
    """Return functions of data and start."""
    import openTSNE
    from sklearn import manifold

    from dreval import methods

    return {
        "dreval": lambda X, _: methods.TSNE(random_state=0).fit_transform(X),
        "openTSNE": lambda X, Y: openTSNE.TSNE(random_state=0, n_jobs=1, initialization=Y.copy()).fit(X),
        "scikit-learn": lambda X, Y: manifold.TSNE(init=Y, random_state=0, n_jobs=1).fit_transform(X),
    }


def rows(sizes: Any = SIZES) -> list[dict[str, Any]]:
    """Return case, tool, seconds, divergence and trustworthiness."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    import dreval
    from dreval.methods._costs import COSTS

    table = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for n in sizes:
            X = data(n)
            start = dreval.methods.PCA(2).fit_transform(X)
            start *= 1e-4 / start[:, 0].std()
            energy = COSTS["tsne"](X, algorithm="exact")
            for name, embed in tools().items():
                embed(X[:300], start[:300])
                begin = process_time()
                Y = np.asarray(embed(X, start), np.float64)
                seconds = process_time() - begin
                table.append(
                    {
                        "case": f"n = {n}",
                        "tool": name,
                        "seconds": seconds,
                        "divergence": energy(Y)[0],
                        "trustworthiness": dreval.trustworthiness(X, Y),
                    }
                )
                sys.stderr.write(f"{table[-1]}\n")
    return table


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(THREADS, "1"))
    from run import show

    show(rows([int(n) for n in sys.argv[1:]] or SIZES))
