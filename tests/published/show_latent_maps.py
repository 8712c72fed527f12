"""Li & Wu (2022), Inverse kernel decomposition, Figure 1: R^2 of the latent variables on three maps, with times.

``python tests/published/show_latent_maps.py [points] [draws] [map or method ...]`` prints a row per map, number of
columns N and method: the mean and the range of R^2 over the draws (by default 3 of 300 points; the paper has 50 of
1000, N from 10 to 500), and the mean processor time of a fit in one thread. d is the true number of latent variables;
all parameters are the defaults, but for parts of Isomap's graph, which are joined. "gplvm" starts from the principal
components, "gplvm, ikd" from inverse kernel decomposition (whose time is in it).
"""

from __future__ import annotations

import os
import sys
import warnings
from time import process_time
from typing import Any

COLUMNS = (20, 100, 500)
MAPS = {"gp_map": 3, "sine_map": 1, "bump_map": 2}
METHODS = ("pca", "isomap", "ikd", "gplvm", "gplvm, ikd", "autoencoder", "vae", "umap")


def one(data: Any, name: str, d: int) -> tuple[float, float]:
    """R^2 and seconds of one method on one draw."""
    import numpy as np

    import dreval

    more: dict[str, Any] = {"components": "connect"} if name == "isomap" else {}
    start = process_time()
    if name == "gplvm, ikd":
        name, more = "gplvm", {"start": np.asarray(dreval.embed(data.data, "ikd", n_components=d))}
    picture = dreval.embed(data.data, name, n_components=d, random_state=0, **more)
    seconds = process_time() - start
    return dreval.latent_r2(data.data, picture, latent=data.latent), seconds


def main(points: int = 300, draws: int = 3, *wanted: str) -> None:
    """Print the table as it is made."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    import dreval

    warnings.simplefilter("ignore")
    print(f"{points} points, {draws} draws")
    print(f"{'map':<9} {'N':>4} {'method':<12} {'R^2':>6} {'least':>6} {'most':>6} {'seconds':>8}")
    with threadpool_limits(1):
        warm = dreval.simulate("sine_map", n=60, n_features=20, random_state=9)
        methods = [name for name in METHODS if name in wanted] or METHODS
        for name in methods:
            one(warm, name, 1)
        for name, d in MAPS.items():
            if not set(wanted).isdisjoint(MAPS) and name not in wanted:
                continue
            for columns in COLUMNS:
                drawn = [
                    dreval.simulate(name, n=points, n_features=columns, random_state=seed) for seed in range(draws)
                ]
                for method in methods:
                    found = np.array([one(draw, method, d) for draw in drawn])
                    r2, seconds = found[:, 0], found[:, 1].mean()
                    print(
                        f"{name:<9} {columns:>4} {method:<12} {r2.mean():6.3f} {r2.min():6.3f} {r2.max():6.3f} "
                        f"{seconds:8.2f}"
                    )
                    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
