"""Minimization of a cost of embeddings over the parameters of a mapping, by L-BFGS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from dreval._check import check_float, check_int, check_one_of, check_rows
from dreval._check_arrays import check_points
from dreval._parallel import few_blas_threads, one_blas_thread
from dreval._random import root_seed, stream
from dreval.errors import ApproximationWarning, InputError, warn
from dreval.geometry.distances import nearest
from dreval.methods._costs import COSTS, Cost, Quotient, Stage
from dreval.methods._mappings import MAPPINGS, FeatureMapping, Mapping
from dreval.methods._method import FloatArray, Method, fix_signs, power_of_two
from dreval.records.notes import note

LBFGS_MEMORY = 20  # past steps from which L-BFGS approximates the Hessian
USED_UP = 1  # status of a search that ran out of iterations or evaluations; 2: no step lowers the cost any more
EVALUATIONS_PER_ITERATION = 2  # allowed, on average


class Descent(NamedTuple):
    """Parameters, their embedding (n, d), its cost, iterations of all stages, and whether the last stage converged."""

    theta: FloatArray
    embedding: FloatArray
    value: float
    n_iter: int
    converged: bool


def descend(cost: Cost, mapping: Mapping, theta: FloatArray, max_iter: int, tol: float) -> Descent:
    """Minimize the cost of the embedding of the mapping, starting from ``theta``.

    A stage ends when an iteration lowers the cost by less than ``tol``, or its own tolerance, times the larger of the
    size of the cost and 1; when no step along the gradient lowers it; or after ``max_iter`` iterations, or its own
    number. If the final embedding is narrower than the first, as for data that are symmetric about their center, the
    early stages may have moved it to one point, where the gradient vanishes: the search is then repeated without these
    stages, and the result of lower cost is returned.
    """
    stages = cost.stages()
    result = _run_stages(stages, cost, mapping, theta, max_iter, tol)
    late = [stage for stage in stages if not stage.early]
    if len(late) < len(stages) and _width(result.embedding) < _width(mapping.forward(theta)[0]):
        direct = _run_stages(late, cost, mapping, theta, max_iter, tol)
        n_iter = result.n_iter + direct.n_iter
        result = min(result, direct, key=lambda descent: descent.value)._replace(n_iter=n_iter)
    return result


def _run_stages(
    stages: Sequence[Stage], cost: Cost, mapping: Mapping, theta: FloatArray, max_iter: int, tol: float
) -> Descent:
    """Minimize the cost through the given stages, each starting at the end of the one before."""
    from scipy.optimize import minimize

    total, converged = 0, False
    for energy, max_steps, stage_tol, _ in stages:

        def value(at: FloatArray, energy=energy) -> tuple[float, FloatArray]:  # type: ignore[no-untyped-def]
            embedding, pullback = mapping.forward(at)
            number, gradient = energy(embedding)
            return number, pullback(gradient)

        steps = max_iter if max_steps is None else min(max_steps, max_iter)
        max_evaluations = EVALUATIONS_PER_ITERATION * steps + 20
        options = {"maxiter": steps, "maxfun": max_evaluations, "maxcor": LBFGS_MEMORY, "gtol": 0.0}
        options["ftol"] = tol if stage_tol is None else stage_tol
        result = minimize(value, theta, jac=True, method="L-BFGS-B", options=options)
        theta, total = np.asarray(result.x), total + int(result.nit)
        converged = result.status != USED_UP and bool(np.isfinite(result.fun))
    embedding = np.array(mapping.forward(theta)[0])
    return Descent(theta, embedding, cost(embedding)[0], total, converged)


def _width(embedding: FloatArray) -> float:
    """Return the smallest singular value of the centered embedding."""
    return float(np.linalg.svd(embedding - embedding.mean(axis=0), compute_uv=False)[-1])


STARTS = ("pca", "random")
JITTER = 0.01  # noise relative to the size of a small start, which breaks symmetries that would trap the search


def check_start(init: Any, n: int, d: int) -> FloatArray:
    """Check an embedding (n, d) to start from: its points must not all be equal, where the gradient vanishes."""
    start = check_points(init, "init")
    check_rows(len(start), n, "init")
    if start.shape[1] != d:
        raise InputError("init", f"must have {d} columns", f"{start.shape[1]}", "Pass (n, d).")
    if bool((start == start[0]).all()):
        hint = "Pass an embedding of the data, or the name of a start."
        raise InputError("init", "must not put all points in one place", f"{n} equal rows", hint)
    return start


class CostMethod(Method):
    """A method that minimizes a cost over the parameters of a mapping.

    A subclass has the parameters ``max_iter`` and ``tol``, may have ``init`` and ``n_init``, and defines
    ``_cost_options()``, and ``_mapping_options()`` if its mapping has options. Data are centered and multiplied by a
    power of two, which does not change costs and mappings; an embedding whose unit follows the data is converted back.
    ``budget`` says that ``max_iter`` is part of the design of the method, so that reaching it causes no warning.
    """

    budget: ClassVar[bool] = False
    max_iter: int
    tol: float
    init: Any = "pca"
    n_init: int = 1
    cost: str = "tsne"
    mapping: str = "free_points"

    def _cost_options(self) -> dict[str, Any]:
        return {}

    def _mapping_options(self) -> dict[str, Any]:
        return {}

    def _characteristics(self, Z: FloatArray, y: Any = None) -> FloatArray:
        """Return the rows (n, q) that the cost compares with the embedding: the data, or data with y."""
        return Z

    def _make_cost(self, Z: FloatArray) -> Cost:
        cost: type[Cost] = COSTS[check_one_of(self.cost, COSTS, "cost", aliases=True)]
        return cost.of(Z, self._unit, self._cost_options())

    def _normal(self, X: FloatArray) -> FloatArray:
        return (X - self._center) * self._unit

    def _fit(self, X: FloatArray) -> None:
        check_int(self.max_iter, "max_iter", low=1)
        check_float(self.tol, "tol", low=0.0)
        root, runs = root_seed(self.random_state), check_int(self.n_init, "n_init", low=1)
        self._center = X.mean(axis=0)
        self._unit = power_of_two(X - self._center)
        Z = self._normal(X)
        energy = self._make_cost(self._characteristics(Z))
        self._out = 1.0 / self._unit if energy.card.scale == "follows" else 1.0
        # with many parameters and a cheap mapping, threads would wait for each other in the sums of the search
        with one_blas_thread() if self.mapping == "free_points" else few_blas_threads(len(Z)):
            results = [self._one_run(Z, energy, stream(root, "start", run), run > 0) for run in range(runs)]
        best = min(range(runs), key=lambda run: results[run][1].value)
        self.runs_ = np.array([descent.value for _, descent in results])
        self._map, descent = results[best]
        self._theta, embedding = self._normalized(energy, descent)
        self._Z = Z
        self.embedding_ = np.ascontiguousarray(embedding * self._out)
        self.cost_ = descent.value
        self._end(descent.n_iter, descent.converged)

    def _end(self, n_iter: int, converged: bool) -> None:
        """Store how the search ended, and warn if its iterations were used up."""
        self.n_iter_, self.converged_ = n_iter, converged
        if not converged and not self.budget:
            name = type(self).__name__
            warn(ApproximationWarning(note("cost.unsettled", method=name, max_iter=self.max_iter, n_iter=n_iter)))

    def _one_run(self, Z: FloatArray, energy: Cost, rng: np.random.Generator, random: bool) -> tuple[Mapping, Descent]:
        cls = MAPPINGS[check_one_of(self.mapping, MAPPINGS, "mapping", aliases=True)]
        mapping: Mapping = cls(Z, self.n_components, rng, **self._mapping_options())
        exact = isinstance(energy, Quotient) and (isinstance(mapping, FeatureMapping) or not mapping.card.explicit)
        if isinstance(energy, Quotient) and exact:
            start = energy.solve(mapping.basis if isinstance(mapping, FeatureMapping) else None, self.n_components)
        else:
            start = self._start(Z, energy, rng, random)
        descent = descend(energy, mapping, mapping.start(start), self.max_iter, self.tol)
        return mapping, descent._replace(converged=descent.converged or exact)

    def _start(self, Z: FloatArray, energy: Cost, rng: np.random.Generator, random: bool) -> FloatArray:
        """Return the embedding (n, d) to start from; ``random`` overrides "pca"."""
        if not isinstance(self.init, str):
            return check_start(self.init, len(Z), self.n_components) / self._out
        random = random or check_one_of(self.init, STARTS, "init", aliases=True) == "random"
        start = None if random else energy.start(self.n_components)
        if start is not None:
            return start
        Y = rng.normal(size=(len(Z), self.n_components)) if random else _principal_scores(Z, self.n_components)
        size = float(np.sqrt(np.mean(Y[:, 0] ** 2))) or 1.0
        if energy.start_size is None:
            return Y if not random else Y * float(np.sqrt(np.mean(Z**2)))
        return energy.start_size * (Y / size + JITTER * rng.normal(size=Y.shape))

    def _normalized(self, energy: Cost, descent: Descent) -> tuple[FloatArray, FloatArray]:
        """Return parameters and embedding in the normal form of the cost; unchanged if the user set the start."""
        if not isinstance(self.init, str) and energy.card.invariance == "rotation":
            return descent.theta, descent.embedding
        A, b = energy.normal_form(descent.embedding)
        embedding = descent.embedding @ A + b
        signs = np.where(np.any(fix_signs(embedding) != embedding, axis=0), -1.0, 1.0)
        return self._map.compose(descent.theta, A * signs, b * signs), embedding * signs


class MapMethod(CostMethod):
    """A cost method with an explicit mapping: new points, places mapped back to data, and errors on new points."""

    def transform(self, X: Any) -> FloatArray:
        """Return images f(x) (m, d) of new rows (m, p); those of the fitted rows are the embedding up to rounding."""
        points = self._new_points(X)
        self._check_explicit()
        return self._map.at(self._theta, self._normal(points)) * self._out

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return data (m, p) at places (m, d), by the pseudo-inverse of the map about the nearest fitted point.

        With y_i the nearest image and J the derivative of f at x_i, the place y is mapped to x_i + J^+ (y - y_i).
        """
        scores = self._scores(Y)
        self._check_explicit()
        return self._inverse_map(scores, nearest(self.embedding_, 1, scores)[0][:, 0])

    def _inverse_map(self, scores: FloatArray, anchors: Any) -> FloatArray:
        steps = (scores - self.embedding_[anchors]) / self._out
        inverse = np.linalg.pinv(self._map.jacobian(self._theta, self._Z[anchors]), rcond=1e-10)
        return (self._Z[anchors] + np.einsum("mpd,md->mp", inverse, steps)) / self._unit + self._center

    def _check_explicit(self) -> None:
        if not self._map.card.explicit:
            hint = 'Choose mapping="linear" or another explicit one, or use kernel_transform.'
            raise InputError("mapping", "must be a function of the data", repr(self.mapping), hint)

    def generalization_curve(self, X: Any, sizes: Any, *, y: Any = None, n_replicates: int = 5) -> pd.DataFrame:
        r"""Compute the errors of the map on fitted and on other points, by the number of fitted points.

        For each size m and repeat, m rows are drawn, a copy of the method is fitted to them, and the other rows are
        mapped by it. The error is the share of the data that the map to the embedding and back loses (Hammer et al.,
        2010, Section 4), :math:`\sum_i |x_i - f^{-1}(f(x_i))|^2 / \sum_i |x_i - \bar x|^2`, with the local
        pseudo-inverse about the nearest *other* fitted point; the cost is that of the embedding of these rows alone.

        Parameters
        ----------
        X : array (n, p)
            Data.
        sizes : int or list of int
            Numbers m of rows to fit, 4 to n - 4.
        y : array (n,) or (n, q), optional
            Auxiliary information, where ``fit`` uses it. Other rows are mapped without theirs; their cost includes it.
        n_replicates : int
            Draws for each size.

        Returns
        -------
        DataFrame
            One row per size and repeat: ``n_train, repeat, train_error, test_error, train_cost, test_cost``.

        References
        ----------
        Hammer, B., Bunte, K., Biehl, M. (2010). Some steps towards a general principle for dimensionality reduction
        mappings, Section 4.
        """
        points, root = check_points(X, "X", min_rows=8), root_seed(self.random_state)
        requested = np.atleast_1d(np.asarray(sizes)).tolist()
        train_sizes = [check_int(m, "sizes", low=4, high=len(points) - 4) for m in requested]
        count = check_int(n_replicates, "n_replicates", low=1)
        response = np.atleast_1d(np.asarray(y)) if self.requires_y and y is not None else None
        if response is not None:
            check_rows(len(response), len(points), "y")
        rows = [self._held_out(points, response, m, repeat, root) for m in train_sizes for repeat in range(count)]
        return pd.DataFrame(rows)

    def _held_out(self, X: FloatArray, y: Any, m: int, repeat: int, root: int) -> dict[str, float]:
        order = stream(root, "generalization", m, repeat).permutation(len(X))
        train, test = X[order[:m]], X[order[m:]]
        y_train, y_test = (None, None) if y is None else (y[order[:m]], y[order[m:]])
        copy = type(self)(**{**self.get_params(), "random_state": root}).fit(train, y_train)
        copy._check_explicit()
        images = copy.transform(test)
        neighbors = nearest(copy.embedding_, 1)[0][:, 0]
        cost = copy._make_cost(copy._characteristics(copy._normal(test), y_test))
        return {
            "n_train": m,
            "repeat": repeat,
            "train_error": _relative_error(train, copy._inverse_map(copy.embedding_, neighbors)),
            "test_error": _relative_error(
                test, copy._inverse_map(images, nearest(copy.embedding_, 1, images)[0][:, 0])
            ),
            "train_cost": copy.cost_,
            "test_cost": cost(images / copy._out)[0],
        }


def _relative_error(X: FloatArray, approximation: FloatArray) -> float:
    """Return the squared error relative to the scatter of the rows."""
    return float(np.sum((X - approximation) ** 2) / np.sum((X - X.mean(axis=0)) ** 2))


def _principal_scores(Z: FloatArray, d: int) -> FloatArray:
    """Return the d leading principal scores (n, d), signs fixed; columns beyond the rank are 0."""
    from scipy.linalg import svd

    centered = Z - Z.mean(axis=0)
    values, axes = svd(np.linalg.qr(centered, mode="r") if len(Z) > Z.shape[1] else centered, full_matrices=False)[1:]
    axes = axes[: min(d, int(np.sum(values > 1e-12 * values[0])))]
    return np.pad(fix_signs(centered @ axes.T), ((0, 0), (0, d - len(axes))))
