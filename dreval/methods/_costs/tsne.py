"""t-distributed stochastic neighbor embedding."""

from __future__ import annotations

import numpy as np

from dreval._check import check_float, check_int, check_one_of
from dreval.methods._costs._affinities import FLAT, NeighborCost
from dreval.methods._costs._cost import Stage, cost
from dreval.methods._costs._lattice import MOST_COLUMNS, lattice_sum
from dreval.methods._method import FloatArray

REPULSIONS = ("auto", "exact", "lattice")
LOWERED = ((1.0, 0.5), (0.5, 0.3), (0.25, 0.2))  # powers of the exaggeration, and their shares of its iterations
ENOUGH = 1e-5  # relative gain of an iteration with exaggeration; what follows only drives clusters apart
EXACT_POINTS = 5000  # up to here "auto" goes over all pairs
NODE = 20.0  # beyond, it does so where the lattice has more nodes than pairs over this: a node costs as much time


@cost(
    title="Divergence of pair probabilities, Student's t",
    formula="sum_{i != j} p_ij log(p_ij / q_ij), q_ij proportional to (1 + |y_i - y_j|^2 / dof)^(-(dof + 1) / 2)",
    scale="ignored",
    invariance="rotation",
    reference="van der Maaten, L., Hinton, G. (2008). Visualizing data using t-SNE. JMLR 9, 2579-2605.",
)
class TSNE(NeighborCost):
    """One divergence of joint probabilities, with heavy tails in the embedding.

    In the first ``exaggeration_iter`` iterations the affinities, not their normalization, are multiplied by
    ``exaggeration`` (half of them), its square root, and the root of that: a search that finds the minimum under the
    full factor leaves clusters as points, from which no force leads out. ``repulsion`` is "exact", "lattice" (see
    ``_lattice``; one or two columns), or "auto": exact up to 5000 points.
    """

    def __init__(
        self,
        X: FloatArray,
        *,
        perplexity: float = 30.0,
        dof: float = 1.0,
        exaggeration: float = 12.0,
        exaggeration_iter: int = 100,
        repulsion: str = "auto",
        n_affinities: int | None = None,
    ) -> None:
        self.dof = check_float(dof, "dof", low=1e-3)
        self.exaggeration = check_float(exaggeration, "exaggeration", low=1.0)
        self.exaggeration_iter = check_int(exaggeration_iter, "exaggeration_iter", low=0)
        self.repulsion = check_one_of(repulsion, REPULSIONS, "repulsion")
        super().__init__(X, perplexity, n_affinities)

    def stages(self) -> list[Stage]:
        """With exaggerated affinities, less and less so, then as they are."""
        if self.exaggeration == 1.0:
            return super().stages()
        early = []
        for at, (power, share) in enumerate(LOWERED):
            factor, steps = self.exaggeration**power, int(share * self.exaggeration_iter)
            first = min(steps, FLAT) if at == 0 else 0
            plan = (first, 0.0), (steps - first, ENOUGH)
            early += [Stage(lambda Y, f=factor: self._value(Y, f), count, tol) for count, tol in plan if count]
        return early + super().stages()

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The divergence and its gradient."""
        return self._value(Y, 1.0)

    def _value(self, Y: FloatArray, factor: float) -> tuple[float, FloatArray]:
        total, slope = self._repulsion(Y)
        gradient = slope / (factor * total)
        attraction = self.attracting.attract(Y, self.dof, gradient)
        return factor * (self.entropy + attraction) + np.log(2.0 * total), factor * gradient

    def _repulsion(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Sum over pairs of the weights of Student's t, and its gradient (n, d)."""
        from dreval.geometry._loops import pair_costs as loops

        most = {"exact": 0.0, "lattice": np.inf, "auto": self.n**2 / NODE if self.n > EXACT_POINTS else 0.0}[
            self.repulsion
        ]
        if most > 0.0 and Y.shape[1] <= MOST_COLUMNS:
            found = lattice_sum(Y, self.dof, most)
            if found is not None:
                return found
        columns = np.ascontiguousarray(Y.T)
        gradient = np.zeros_like(columns)
        return loops.student_sum(columns, self.dof, gradient), np.ascontiguousarray(gradient.T)
