"""Six benchmarks that airspeed velocity follows over the commits: public calls only, so that old commits run them.

``setup`` calls each function once, on data of the same kind, so that loops are compiled before they are timed.
"""

from __future__ import annotations

import numpy as np

import dreval


class Evaluate:
    """Measures of one embedding of 2000 points: all ranks, all sizes of neighborhoods, and a default run."""

    timeout = 300
    warmup_time = 0.0

    def setup(self) -> None:
        """Draw the data, and compile the loops."""
        self.X = np.random.default_rng(0).standard_normal((2000, 50))
        self.Y = np.ascontiguousarray(self.X[:, :2])
        for time in (self.time_ranks, self.time_all_sizes, self.time_default_run):
            time(200)

    def time_ranks(self, n: int = 2000) -> None:
        """Time the pass over all ranks."""
        dreval.trustworthiness(self.X[:n], self.Y[:n], n_neighbors=15)

    def time_all_sizes(self, n: int = 2000) -> None:
        """Time the area under R_NX, from the co-ranking matrix."""
        dreval.r_nx_auc(self.X[:n], self.Y[:n])

    def time_default_run(self, n: int = 2000) -> None:
        """Time the default measures with intervals."""
        dreval.Evaluation(self.X[:n], self.Y[:n], random_state=0).run(progress=False)


class Method:
    """Embedding of 1000 points by t-SNE."""

    timeout = 300
    warmup_time = 0.0

    def setup(self) -> None:
        """Draw the data, and compile the loops."""
        self.X = np.random.default_rng(0).standard_normal((1000, 50))
        self.time_tsne(200)

    def time_tsne(self, n: int = 1000) -> None:
        """Time t-SNE."""
        dreval.methods.TSNE(random_state=0).fit_transform(self.X[:n])


class Independence:
    """Permutation test of HSIC, 1000 points and 999 permutations."""

    timeout = 300
    warmup_time = 0.0

    def setup(self) -> None:
        """Draw the data, and compile the loops."""
        self.x, self.y = np.random.default_rng(0).standard_normal((2, 1000, 5))
        self.time_hsic(100)

    def time_hsic(self, n: int = 1000) -> None:
        """Time the test."""
        dreval.hsic_test(self.x[:n], self.y[:n], n_resamples=999, random_state=0)


def timeraw_import() -> str:
    """Time the import in a fresh process."""
    return "import dreval"
