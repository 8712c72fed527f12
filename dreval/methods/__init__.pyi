"""The classes of all methods; written by ``python tests/public_stub.py``."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval.methods._method import Method

class Autoencoder(Method):
    def __init__(self, n_components: int = ..., *, hidden: Sequence[int] = ..., n_epochs: int | None = ..., batch_size: int = ..., learning_rate: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    hidden: Sequence[int]
    n_epochs: int | None
    batch_size: int
    learning_rate: float
    loss_: npt.NDArray[Any]
    n_epochs_: int
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class CCA(Method):
    def __init__(self, n_components: int = ..., *, random_state: int | np.random.Generator | None = ...) -> None: ...
    correlations_: npt.NDArray[Any]
    directions_: npt.NDArray[Any]
    mean_: npt.NDArray[Any]
    response_: npt.NDArray[Any]
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    @overload
    def transform(self, X: Any, y: None = ...) -> npt.NDArray[np.float64]: ...
    @overload
    def transform(self, X: Any, y: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
class ClassicalMDS(Method):
    def __init__(self, n_components: int = ..., *, metric: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    metric: str
    eigenvalues_: npt.NDArray[Any]
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class ConformalEigenmaps(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., n_functions: int = ..., reg: float = ..., disconnected: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    n_functions: int
    reg: float
    disconnected: str
    eigenvalues_: npt.NDArray[Any]
    shares_: npt.NDArray[Any]
    loss_: float
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class ConformalIsomap(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int = ..., disconnected: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int
    disconnected: str
    eigenvalues_: npt.NDArray[Any]
    geodesics_: npt.NDArray[Any]
class CostMapping(Method):
    def __init__(self, n_components: int = ..., *, cost: str = ..., mapping: str = ..., cost_options: Mapping[str, Any] | None = ..., mapping_options: Mapping[str, Any] | None = ..., y_weight: float = ..., init: Any = ..., n_init: int = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    cost: str
    mapping: str
    cost_options: Mapping[str, Any] | None
    mapping_options: Mapping[str, Any] | None
    y_weight: float
    init: Any
    n_init: int
    max_iter: int
    tol: float
    cost_: float
    runs_: npt.NDArray[Any]
    n_iter_: int
    converged_: bool
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    def generalization_curve(self, X: Any, sizes: Any, *, y: Any = ..., n_replicates: int = ...) -> pd.DataFrame: ...
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class DiffusionMaps(Method):
    def __init__(self, n_components: int = ..., *, bandwidth: float | None = ..., alpha: float = ..., diffusion_time: int = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    bandwidth: float | None
    alpha: float
    diffusion_time: int
    eigenvalues_: npt.NDArray[Any]
    bandwidth_: float
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class ElasticEmbedding(Method):
    def __init__(self, n_components: int = ..., *, perplexity: float = ..., repulsion: float = ..., n_affinities: int | None = ..., init: Any = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    perplexity: float
    repulsion: float
    n_affinities: int | None
    init: Any
    max_iter: int
    tol: float
    cost_: float
    n_iter_: int
    converged_: bool
class FastICA(Method):
    def __init__(self, n_components: int = ..., *, subspace_size: int | None = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    subspace_size: int | None
    max_iter: int
    tol: float
    mixing_: npt.NDArray[Any]
    directions_: npt.NDArray[Any]
    mean_: npt.NDArray[Any]
    subspaces_: npt.NDArray[Any]
    n_iter_: int
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class GPLVM(Method):
    def __init__(self, n_components: int = ..., *, kernel: str = ..., alpha: float = ..., gamma: float = ..., nu: float = ..., prior_scale: float = ..., init: Any = ..., n_init: int = ..., max_iter: int = ..., tol: float = ..., min_noise: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    kernel: str
    alpha: float
    gamma: float
    nu: float
    prior_scale: float
    init: Any
    n_init: int
    max_iter: int
    tol: float
    min_noise: float
    objective_: float
    log_likelihood_: float
    signal_variance_: float
    noise_variance_: float
    n_iter_: int
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class GreedyProcrustes(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., disconnected: str = ..., max_iter: int = ..., tol: float = ..., far_penalty: float = ..., far_steps: int = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    disconnected: str
    max_iter: int
    tol: float
    far_penalty: float
    far_steps: int
    path_: npt.NDArray[Any]
    far_pairs_: npt.NDArray[Any]
    penalty_: float
class GSAVE(Method):
    def __init__(self, n_components: int = ..., *, kernel: str = ..., bandwidth: float | None = ..., n_slices: int | None = ..., reg: float | None = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    kernel: str
    bandwidth: float | None
    n_slices: int | None
    reg: float | None
    eigenvalues_: npt.NDArray[Any]
    reg_: float
    bandwidth_: float
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class GSIR(Method):
    def __init__(self, n_components: int = ..., *, kernel: str = ..., bandwidth: float | None = ..., reg: float | None = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    kernel: str
    bandwidth: float | None
    reg: float | None
    eigenvalues_: npt.NDArray[Any]
    reg_: float
    bandwidth_: float
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class GTM(Method):
    def __init__(self, n_components: int = ..., *, n_nodes: int = ..., n_basis: int = ..., basis_width: float = ..., reg: float = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_nodes: int
    n_basis: int
    basis_width: float
    reg: float
    max_iter: int
    tol: float
    modes_: npt.NDArray[Any]
    nodes_: npt.NDArray[Any]
    centers_: npt.NDArray[Any]
    noise_variance_: float
    log_likelihood_: float
    path_: npt.NDArray[Any]
    n_iter_: int
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class HessianLLE(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., include_self: bool = ..., disconnected: str = ..., normalize: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    include_self: bool
    disconnected: str
    normalize: str
    eigenvalues_: npt.NDArray[Any]
class IKD(Method):
    def __init__(self, n_components: int = ..., *, kernel: str = ..., min_correlation: float = ..., n_neighbors: int | None = ..., solution: str = ..., variance: str = ..., reference: str = ..., scale: str = ..., alpha: float = ..., gamma: float = ..., nu: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    kernel: str
    min_correlation: float
    n_neighbors: int | None
    solution: str
    variance: str
    reference: str
    scale: str
    alpha: float
    gamma: float
    nu: float
    length_scales_: npt.NDArray[Any]
    eigenvalues_: npt.NDArray[Any]
    correlations_: npt.NDArray[Any]
    squared_distances_: npt.NDArray[Any]
    reference_point_: int
    cliques_: Any
class Isomap(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., disconnected: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    disconnected: str
    eigenvalues_: npt.NDArray[Any]
    geodesics_: npt.NDArray[Any]
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class KernelCCA(Method):
    def __init__(self, n_components: int = ..., *, kernel: str = ..., bandwidth: float | None = ..., kappa: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    kernel: str
    bandwidth: float | None
    kappa: float
    correlations_: npt.NDArray[Any]
    response_: npt.NDArray[Any]
    bandwidth_: float
    response_bandwidth_: float
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    @overload
    def transform(self, X: Any, y: None = ...) -> npt.NDArray[np.float64]: ...
    @overload
    def transform(self, X: Any, y: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
class KernelPCA(Method):
    def __init__(self, n_components: int = ..., *, kernel: str = ..., bandwidth: float | None = ..., degree: int = ..., offset: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    kernel: str
    bandwidth: float | None
    degree: int
    offset: float
    eigenvalues_: npt.NDArray[Any]
    bandwidth_: float
    def denoise(self, X: Any) -> npt.NDArray[np.float64]: ...
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class LandmarkIsomap(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., n_landmarks: int | None = ..., disconnected: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    n_landmarks: int | None
    disconnected: str
    eigenvalues_: npt.NDArray[Any]
    landmarks_: npt.NDArray[Any]
    geodesics_: npt.NDArray[Any]
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class LaplacianEigenmaps(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., weights: str = ..., bandwidth: float | None = ..., disconnected: str = ..., normalize: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    weights: str
    bandwidth: float | None
    disconnected: str
    normalize: str
    eigenvalues_: npt.NDArray[Any]
    bandwidth_: float
class LinearTSNE(Method):
    def __init__(self, n_components: int = ..., *, perplexity: float = ..., dof: float = ..., n_affinities: int | None = ..., n_init: int = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    perplexity: float
    dof: float
    n_affinities: int | None
    n_init: int
    max_iter: int
    tol: float
    components_: npt.NDArray[Any]
    mean_: npt.NDArray[Any]
    cost_: float
    runs_: npt.NDArray[Any]
    n_iter_: int
    converged_: bool
    def generalization_curve(self, X: Any, sizes: Any, *, y: Any = ..., n_replicates: int = ...) -> pd.DataFrame: ...
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class LLE(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., reg: float = ..., disconnected: str = ..., normalize: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    reg: float
    disconnected: str
    normalize: str
    eigenvalues_: npt.NDArray[Any]
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class LocalizedPCA(Method):
    def __init__(self, n_components: int = ..., *, n_charts: int = ..., max_iter: int = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_charts: int
    max_iter: int
    regions_: npt.NDArray[Any]
    means_: npt.NDArray[Any]
    axes_: npt.NDArray[Any]
    n_iter_: int
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class LocallyLinearCoordination(Method):
    def __init__(self, n_components: int = ..., *, n_charts: int = ..., local_components: int | None = ..., n_neighbors: int | None = ..., radius: float | None = ..., reg: float = ..., disconnected: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_charts: int
    local_components: int | None
    n_neighbors: int | None
    radius: float | None
    reg: float
    disconnected: str
    cost_: float
    def generalization_curve(self, X: Any, sizes: Any, *, y: Any = ..., n_replicates: int = ...) -> pd.DataFrame: ...
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class LSDR(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int = ..., conf_level: float = ..., edge_test: str = ..., graph: str = ..., beta: float = ..., chunk_size: int = ..., bandwidth: float | None = ..., metric: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int
    conf_level: float
    edge_test: str
    graph: str
    beta: float
    chunk_size: int
    bandwidth: float | None
    metric: str
    edges_: npt.NDArray[Any]
    boundary_: npt.NDArray[Any]
    skeletal_: npt.NDArray[Any]
    skeletal_places_: npt.NDArray[Any]
    bandwidth_: float
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class LTSA(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., include_self: bool = ..., disconnected: str = ..., normalize: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    include_self: bool
    disconnected: str
    normalize: str
    eigenvalues_: npt.NDArray[Any]
class ManifoldCharting(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int = ..., n_charts: int = ..., disconnected: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int
    n_charts: int
    disconnected: str
    eigenvalues_: npt.NDArray[Any]
    centers_: npt.NDArray[Any]
    shares_: npt.NDArray[Any]
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class MAVE(Method):
    def __init__(self, n_components: int = ..., *, max_iter: int = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    max_iter: int
    directions_: npt.NDArray[Any]
    mean_: npt.NDArray[Any]
    n_iter_: int
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class MetricMDS(Method):
    def __init__(self, n_components: int = ..., *, algorithm: str = ..., init: Any = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    algorithm: str
    init: Any
    max_iter: int
    tol: float
    cost_: float
    n_iter_: int
    converged_: bool
class ModifiedLLE(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., disconnected: str = ..., normalize: str = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    disconnected: str
    normalize: str
    eigenvalues_: npt.NDArray[Any]
class MVU(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., distances: str = ..., disconnected: str = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    distances: str
    disconnected: str
    tol: float
    eigenvalues_: npt.NDArray[Any]
    variance_: float
    accuracy_: float
    violation_: float
    n_iter_: int
class ParametricTSNE(Method):
    def __init__(self, n_components: int = ..., *, hidden: int | Sequence[int] = ..., perplexity: float = ..., dof: float = ..., exaggeration: float = ..., exaggeration_iter: int = ..., n_affinities: int | None = ..., n_init: int = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    hidden: int | Sequence[int]
    perplexity: float
    dof: float
    exaggeration: float
    exaggeration_iter: int
    n_affinities: int | None
    n_init: int
    max_iter: int
    tol: float
    cost_: float
    runs_: npt.NDArray[Any]
    n_iter_: int
    converged_: bool
    def generalization_curve(self, X: Any, sizes: Any, *, y: Any = ..., n_replicates: int = ...) -> pd.DataFrame: ...
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class PCA(Method):
    def __init__(self, n_components: int = ..., *, random_state: int | np.random.Generator | None = ...) -> None: ...
    components_: npt.NDArray[Any]
    mean_: npt.NDArray[Any]
    singular_values_: npt.NDArray[Any]
    explained_variance_: npt.NDArray[Any]
    explained_variance_ratio_: npt.NDArray[Any]
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class ProbabilisticPCA(Method):
    def __init__(self, n_components: int = ..., *, random_state: int | np.random.Generator | None = ...) -> None: ...
    weights_: npt.NDArray[Any]
    mean_: npt.NDArray[Any]
    noise_variance_: float
    log_likelihood_: float
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class ProcrustesRefinement(Method):
    def __init__(self, n_components: int = ..., *, init: Any = ..., n_neighbors: int | None = ..., radius: float | None = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    init: Any
    n_neighbors: int | None
    radius: float | None
    max_iter: int
    tol: float
    path_: npt.NDArray[Any]
class ProcrustesSubspacesAlignment(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int | None = ..., radius: float | None = ..., algorithm: str = ..., n_landmarks: int | None = ..., n_sweeps: int = ..., disconnected: str = ..., max_iter: int = ..., tol: float = ..., far_penalty: float = ..., far_steps: int = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int | None
    radius: float | None
    algorithm: str
    n_landmarks: int | None
    n_sweeps: int
    disconnected: str
    max_iter: int
    tol: float
    far_penalty: float
    far_steps: int
    path_: npt.NDArray[Any]
    far_pairs_: npt.NDArray[Any]
    penalty_: float
    disagreement_: float
    landmarks_: npt.NDArray[Any]
class Sammon(Method):
    def __init__(self, n_components: int = ..., *, init: Any = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    init: Any
    max_iter: int
    tol: float
    cost_: float
    n_iter_: int
    converged_: bool
class SAVE(Method):
    def __init__(self, n_components: int = ..., *, n_slices: int | None = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_slices: int | None
    directions_: npt.NDArray[Any]
    mean_: npt.NDArray[Any]
    eigenvalues_: npt.NDArray[Any]
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class SIR(Method):
    def __init__(self, n_components: int = ..., *, n_slices: int | None = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_slices: int | None
    directions_: npt.NDArray[Any]
    mean_: npt.NDArray[Any]
    eigenvalues_: npt.NDArray[Any]
    def fit(self, X: Any, y: Any = ...) -> Self: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class SNE(Method):
    def __init__(self, n_components: int = ..., *, perplexity: float = ..., symmetric: bool = ..., n_affinities: int | None = ..., init: Any = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    perplexity: float
    symmetric: bool
    n_affinities: int | None
    init: Any
    max_iter: int
    tol: float
    cost_: float
    n_iter_: int
    converged_: bool
class SOM(Method):
    def __init__(self, n_components: int = ..., *, shape: Sequence[int] | None = ..., grid: str = ..., algorithm: str = ..., n_epochs: int = ..., radius: Sequence[float] | None = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    shape: Sequence[int] | None
    grid: str
    algorithm: str
    n_epochs: int
    radius: Sequence[float] | None
    best_units_: npt.NDArray[Any]
    units_: npt.NDArray[Any]
    prototypes_: npt.NDArray[Any]
    quantization_errors_: npt.NDArray[Any]
    topographic_error_: float
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class TSNE(Method):
    def __init__(self, n_components: int = ..., *, perplexity: float = ..., dof: float = ..., exaggeration: float = ..., exaggeration_iter: int = ..., algorithm: str = ..., n_affinities: int | None = ..., init: Any = ..., max_iter: int = ..., tol: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    perplexity: float
    dof: float
    exaggeration: float
    exaggeration_iter: int
    algorithm: str
    n_affinities: int | None
    init: Any
    max_iter: int
    tol: float
    cost_: float
    n_iter_: int
    converged_: bool
class UMAP(Method):
    def __init__(self, n_components: int = ..., *, n_neighbors: int = ..., min_dist: float = ..., spread: float = ..., n_epochs: int | None = ..., n_negative: int = ..., repulsion: float = ..., learning_rate: float = ..., init: Any = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    n_neighbors: int
    min_dist: float
    spread: float
    n_epochs: int | None
    n_negative: int
    repulsion: float
    learning_rate: float
    init: Any
    graph_: Any
    rho_: npt.NDArray[Any]
    sigma_: npt.NDArray[Any]
    a_: float
    b_: float
    n_epochs_: int
    init_: Any
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
class VAE(Method):
    def __init__(self, n_components: int = ..., *, hidden: Sequence[int] = ..., n_epochs: int | None = ..., batch_size: int = ..., learning_rate: float = ..., random_state: int | np.random.Generator | None = ...) -> None: ...
    hidden: Sequence[int]
    n_epochs: int | None
    batch_size: int
    learning_rate: float
    noise_variance_: float
    loss_: npt.NDArray[Any]
    n_epochs_: int
    def inverse_transform(self, Y: Any) -> npt.NDArray[np.float64]: ...
    def transform(self, X: Any) -> npt.NDArray[np.float64]: ...
