"""The public names of dreval; written by ``python tests/public_stub.py``."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval import datasets as datasets
from dreval import errors as errors
from dreval import glossary as glossary
from dreval import measures as measures
from dreval import methods as methods
from dreval import testing as testing
from dreval.analyses._analysis import AnalysisCard
from dreval.cards import Card
from dreval.comparison.compare import compare as compare
from dreval.datasets._dataset import DatasetCard
from dreval.datasets._dataset import simulate as simulate
from dreval.datasets.files import load_dataset as load_dataset
from dreval.evaluation.evaluation import Evaluation as Evaluation
from dreval.evaluation.score import score as score
from dreval.inputs.source import embed as embed
from dreval.measures import average_local_error as average_local_error
from dreval.measures import b_nx as b_nx
from dreval.measures import bras as bras
from dreval.measures import calinski_harabasz as calinski_harabasz
from dreval.measures import centroid_triplet_accuracy as centroid_triplet_accuracy
from dreval.measures import cilisi as cilisi
from dreval.measures import class_angular_distortion as class_angular_distortion
from dreval.measures import class_aware_continuity as class_aware_continuity
from dreval.measures import class_aware_trustworthiness as class_aware_trustworthiness
from dreval.measures import clisi as clisi
from dreval.measures import cohesiveness as cohesiveness
from dreval.measures import continuity as continuity
from dreval.measures import davies_bouldin as davies_bouldin
from dreval.measures import density_kl as density_kl
from dreval.measures import density_l1 as density_l1
from dreval.measures import distance_consistency as distance_consistency
from dreval.measures import distance_correlation as distance_correlation
from dreval.measures import distance_order_correlation as distance_order_correlation
from dreval.measures import energy_ratio as energy_ratio
from dreval.measures import graph_connectivity as graph_connectivity
from dreval.measures import held_out_fidelity as held_out_fidelity
from dreval.measures import ilisi as ilisi
from dreval.measures import information_imbalance_false as information_imbalance_false
from dreval.measures import information_imbalance_missing as information_imbalance_missing
from dreval.measures import isolated_labels as isolated_labels
from dreval.measures import jaccard as jaccard
from dreval.measures import k_max as k_max
from dreval.measures import kbet as kbet
from dreval.measures import kbet_per_label as kbet_per_label
from dreval.measures import kendall_distance as kendall_distance
from dreval.measures import kmeans_ami as kmeans_ami
from dreval.measures import kmeans_ari as kmeans_ari
from dreval.measures import kmeans_nmi as kmeans_nmi
from dreval.measures import knn_accuracy as knn_accuracy
from dreval.measures import knn_r2 as knn_r2
from dreval.measures import knn_r2_ratio as knn_r2_ratio
from dreval.measures import ks_distance as ks_distance
from dreval.measures import label_continuity as label_continuity
from dreval.measures import label_retrieval_auc as label_retrieval_auc
from dreval.measures import label_trustworthiness as label_trustworthiness
from dreval.measures import latent_r2 as latent_r2
from dreval.measures import lcmc as lcmc
from dreval.measures import leiden_ari as leiden_ari
from dreval.measures import leiden_nmi as leiden_nmi
from dreval.measures import local_anisotropy as local_anisotropy
from dreval.measures import local_area_spread as local_area_spread
from dreval.measures import local_radius_correlation as local_radius_correlation
from dreval.measures import morans_i as morans_i
from dreval.measures import mrre_false as mrre_false
from dreval.measures import mrre_missing as mrre_missing
from dreval.measures import neighborhood_hit as neighborhood_hit
from dreval.measures import neighborhood_overlap as neighborhood_overlap
from dreval.measures import pcr as pcr
from dreval.measures import pcr_comparison as pcr_comparison
from dreval.measures import pearson_distance as pearson_distance
from dreval.measures import procrustes_disparity as procrustes_disparity
from dreval.measures import procrustes_lower_bound as procrustes_lower_bound
from dreval.measures import procrustes_r as procrustes_r
from dreval.measures import procrustes_rc as procrustes_rc
from dreval.measures import procrustes_rn as procrustes_rn
from dreval.measures import procrustes_rn_opt as procrustes_rn_opt
from dreval.measures import procrustes_rpca as procrustes_rpca
from dreval.measures import q_global as q_global
from dreval.measures import q_local as q_local
from dreval.measures import q_nx as q_nx
from dreval.measures import r_nx as r_nx
from dreval.measures import r_nx_auc as r_nx_auc
from dreval.measures import reconstruction_error as reconstruction_error
from dreval.measures import sammon_stress as sammon_stress
from dreval.measures import silhouette as silhouette
from dreval.measures import silhouette_batch as silhouette_batch
from dreval.measures import spanning_tree_distance as spanning_tree_distance
from dreval.measures import spearman_distance as spearman_distance
from dreval.measures import stability as stability
from dreval.measures import steadiness as steadiness
from dreval.measures import stress as stress
from dreval.measures import stress_nonmetric as stress_nonmetric
from dreval.measures import stress_scale_normalized as stress_scale_normalized
from dreval.measures import topographic_product as topographic_product
from dreval.measures import tractable_consistency as tractable_consistency
from dreval.measures import triplet_accuracy as triplet_accuracy
from dreval.measures import trustability as trustability
from dreval.measures import trustworthiness as trustworthiness
from dreval.measures import wasserstein_distance as wasserstein_distance
from dreval.measures.classes import centroid_triplets as centroid_triplets
from dreval.measures.core import MeasureCard
from dreval.measures.core import recommend as recommend
from dreval.measures.scorer import get_scorer as get_scorer
from dreval.methods._method import MethodCard
from dreval.protocol.protocol import Protocol as Protocol
from dreval.records.archive import load_results as load_results
from dreval.records.bound import GeneralizationBound
from dreval.records.estimates import IntrinsicDimension
from dreval.records.estimates import ParallelAnalysis
from dreval.records.estimates import PerplexityCurve
from dreval.records.importance import ColumnImportance
from dreval.records.out_of_sample import OutOfSample
from dreval.records.points import LocalDistortion
from dreval.records.points import PerturbationScore
from dreval.records.points import SingularityScore
from dreval.records.recall import GraphRecall
from dreval.records.results import Results as Results
from dreval.records.scores import Scores as Scores
from dreval.records.similarity import RepresentationSimilarity
from dreval.records.sweep import Sweep
from dreval.records.tests import IndependenceTest as IndependenceTest
from dreval.records.tests import NoiseTest
from dreval.registry import list_analyses as list_analyses
from dreval.registry import list_datasets as list_datasets
from dreval.registry import list_figures as list_figures
from dreval.registry import list_measures as list_measures
from dreval.registry import list_methods as list_methods
from dreval.registry import list_tests as list_tests
from dreval.report.figures._kind import FigureCard
from dreval.significance._curves import bandwidth_curve as bandwidth_curve
from dreval.significance._curves import kappa_curve as kappa_curve
from dreval.significance._ranking import dependence_ranking as dependence_ranking
from dreval.significance.base import TestCard
from dreval.study.held_out import split_measurements as split_measurements
from dreval.study.study import Study as Study

__all__ = [
    "Evaluation",
    "Protocol",
    "Study",
    "card",
    "compare",
    "datasets",
    "embed",
    "get_scorer",
    "load_dataset",
    "load_results",
    "measures",
    "methods",
    "noise_test",
    "recommend",
    "score",
    "stability",
    "sweep",
]
__version__: str

def cca_test(x: Any, y: Any, *, method: str = ..., permutation: str = ..., blocks: Any = ..., groups: Any = ..., n_resamples: int = ..., stop_after: int | None = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ...) -> IndependenceTest: ...
def column_importance(X: Any, Y: Any, *, columns: Sequence[Any] | Mapping[str, Any] | None = ..., max_correlation: float | None = ..., n_neighbors: int | str = ..., metric: str = ..., groups: Any = ..., ids: Any = ..., anchors: int | str | None = ..., n_resamples: int = ..., conf_level: float = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ..., progress: bool | None = ...) -> ColumnImportance: ...
def dcov_test(x: Any, y: Any, *, metric: str | tuple[str, str] = ..., exponent: float = ..., permutation: str = ..., blocks: Any = ..., groups: Any = ..., n_resamples: int = ..., stop_after: int | None = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ...) -> IndependenceTest: ...
def generalization_bound(X: Any, n_components: int = ..., *, center: Any = ..., radius: float | None = ..., conf_level: float = ..., n_resamples: int = ..., random_state: int | np.random.Generator | None = ...) -> GeneralizationBound: ...
def graph_recall(graph: Any, X: Any, *, n_neighbors: int | str = ..., metric: str = ..., anchors: int | str | None = ..., conf_level: float = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ...) -> GraphRecall: ...
def hsic_test(x: Any, y: Any, *others: Any, kernel: str | tuple[str, ...] = ..., bandwidth: float | str | tuple[float | str | None, ...] | None = ..., method: str = ..., permutation: str = ..., blocks: Any = ..., groups: Any = ..., n_resamples: int = ..., stop_after: int | None = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ...) -> IndependenceTest: ...
def intrinsic_dimension(X: Any, *, method: str = ..., fit: str = ..., discard: float = ..., n_neighbors: int = ..., conf_level: float = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ...) -> IntrinsicDimension: ...
def kcca_test(x: Any, y: Any, *others: Any, kernel: str | tuple[str, ...] = ..., bandwidth: float | str | tuple[float | str | None, ...] | None = ..., kappa: float = ..., method: str = ..., permutation: str = ..., blocks: Any = ..., groups: Any = ..., n_resamples: int = ..., stop_after: int | None = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ...) -> IndependenceTest: ...
def local_distortion(X: Any, Y: Any, *, n_neighbors: int | str = ..., metric: str = ..., n_jobs: int | None = ...) -> LocalDistortion: ...
def mmd_test(x: Any, y: Any = ..., *, groups: Any = ..., kernel: str = ..., bandwidth: float | str | None = ..., permutation: str = ..., blocks: Any = ..., n_resamples: int = ..., stop_after: int | None = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ...) -> IndependenceTest: ...
def moran_test(x: Any, y: Any, *, n_neighbors: int | str = ..., permutation: str = ..., blocks: Any = ..., groups: Any = ..., n_resamples: int = ..., stop_after: int | None = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ...) -> IndependenceTest: ...
def noise_test(X: Any, source: Any, *, null: Any = ..., measure: Any = ..., n_clusters: int | None = ..., n_replicates: int = ..., n_seeds: int = ..., n_components: int | None = ..., n_neighbors: Any = ..., param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = ..., alpha: float = ..., metric: str = ..., labels: Any = ..., ids: Any = ..., journal: Any = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ..., progress: bool | None = ...) -> NoiseTest: ...
def out_of_sample(X: Any, Y: Any, X_new: Any, Y_new: Any, *, n_neighbors: int | Literal['auto'] = ..., metric: str = ..., groups: Any = ..., calibration: tuple[Any, Any] | None = ..., conf_level: float = ..., alpha: float = ..., random_state: int | np.random.Generator | None = ...) -> OutOfSample: ...
def parallel_analysis(X: Any, *, n_resamples: int = ..., alpha: float = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ..., progress: bool | None = ...) -> ParallelAnalysis: ...
def perplexity_curve(X: Any, perplexities: Sequence[float] | None = ..., *, n_replicates: int = ..., n_components: int = ..., polish: bool = ..., conf_level: float = ..., journal: Any = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ..., progress: bool | None = ..., **options: Any) -> PerplexityCurve: ...
def perturbation_score(X: Any, Y: Any, *, perplexity: float = ..., affinities: str | None = ..., length: float = ..., points: Any = ..., n_jobs: int | None = ..., progress: bool | None = ...) -> PerturbationScore: ...
def representation_similarity(A: Any, B: Any = ..., *, measures: str | Sequence[str] = ..., n_neighbors: int | str = ..., metric: Any = ..., ids: Any = ..., groups: Any = ..., anchors: int | str | None = ..., n_resamples: int = ..., alpha: float = ..., conf_level: float = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ..., progress: bool | None = ...) -> RepresentationSimilarity: ...
def singularity_score(X: Any, Y: Any, *, perplexity: float = ..., affinities: Any = ..., polish: bool = ..., metric: str = ..., n_jobs: int | None = ..., progress: bool | None = ...) -> SingularityScore: ...
def sweep(X: Any, source: Any, param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]], *, measures: str | Sequence[str] = ..., over: str = ..., split: Mapping[str, Any] | None = ..., n_replicates: int = ..., n_components: int | None = ..., n_neighbors: Any = ..., alpha: float = ..., metric: str = ..., labels: Any = ..., groups: Any = ..., ids: Any = ..., header: bool | Literal['auto'] = ..., journal: Any = ..., random_state: int | np.random.Generator | None = ..., n_jobs: int | None = ..., progress: bool | None = ...) -> Sweep: ...
@overload
def card(name: Literal["average_local_error", "b_nx", "bras", "calinski_harabasz", "centroid_triplet_accuracy", "cilisi", "class_angular_distortion", "class_aware_continuity", "class_aware_trustworthiness", "clisi", "cohesiveness", "continuity", "davies_bouldin", "density_kl", "density_l1", "distance_consistency", "distance_correlation", "distance_order_correlation", "energy_ratio", "graph_connectivity", "held_out_fidelity", "ilisi", "information_imbalance_false", "information_imbalance_missing", "isolated_labels", "jaccard", "k_max", "kbet", "kbet_per_label", "kendall_distance", "kmeans_ami", "kmeans_ari", "kmeans_nmi", "knn_accuracy", "knn_r2", "knn_r2_ratio", "ks_distance", "label_continuity", "label_retrieval_auc", "label_trustworthiness", "latent_r2", "lcmc", "leiden_ari", "leiden_nmi", "local_anisotropy", "local_area_spread", "local_radius_correlation", "morans_i", "mrre_false", "mrre_missing", "neighborhood_hit", "neighborhood_overlap", "pcr", "pcr_comparison", "pearson_distance", "procrustes_disparity", "procrustes_lower_bound", "procrustes_r", "procrustes_rc", "procrustes_rn", "procrustes_rn_opt", "procrustes_rpca", "q_global", "q_local", "q_nx", "r_nx", "r_nx_auc", "reconstruction_error", "sammon_stress", "silhouette", "silhouette_batch", "spanning_tree_distance", "spearman_distance", "stability", "steadiness", "stress", "stress_nonmetric", "stress_scale_normalized", "topographic_product", "tractable_consistency", "triplet_accuracy", "trustability", "trustworthiness", "wasserstein_distance"], kind: None = ...) -> MeasureCard: ...
@overload
def card(name: str, kind: Literal["measure"]) -> MeasureCard: ...
@overload
def card(name: Literal["cca_test", "dcov", "dcov_test", "hsic", "hsic_test", "kcca", "kcca_test", "mmd", "mmd_test", "moran", "moran_test", "noise", "noise_test"], kind: None = ...) -> TestCard: ...
@overload
def card(name: str, kind: Literal["test"]) -> TestCard: ...
@overload
def card(name: Literal["autoencoder", "classical_mds", "conformal_eigenmaps", "conformal_isomap", "cost_mapping", "diffusion_maps", "elastic_embedding", "fast_ica", "gplvm", "greedy_procrustes", "gsave", "gsir", "gtm", "hessian_lle", "ikd", "isomap", "kernel_cca", "kernel_pca", "landmark_isomap", "laplacian_eigenmaps", "linear_tsne", "lle", "localized_pca", "locally_linear_coordination", "lsdr", "ltsa", "manifold_charting", "mave", "metric_mds", "modified_lle", "mvu", "parametric_tsne", "pca", "probabilistic_pca", "procrustes_refinement", "procrustes_subspaces_alignment", "sammon", "save", "sir", "sne", "som", "tsne", "umap", "vae"], kind: None = ...) -> MethodCard: ...
@overload
def card(name: str, kind: Literal["method"]) -> MethodCard: ...
@overload
def card(name: Literal["bump_map", "circular_clusters", "coil2000_file", "cylinder", "dependence", "digits", "frey_faces_file", "gp_map", "grid", "guo_qpcr_file", "hemisphere", "idx_file", "linked_circles", "localized_clusters", "mammoth_file", "s1", "s2", "s3", "s4", "sine_map", "sonar_file", "sphere", "spiral", "stacked_gaussians", "swiss_roll", "three_clusters", "trefoil", "two_lines", "unlinked_circles", "usps_file", "wdbc", "wdbc_file"], kind: None = ...) -> DatasetCard: ...
@overload
def card(name: str, kind: Literal["dataset"]) -> DatasetCard: ...
@overload
def card(name: Literal["centroid_triplets", "coranking", "critical_difference", "curve", "difference_map", "ellipses", "forest", "heatmap", "kappa_curve", "map", "null", "scatter", "shepard", "wins"], kind: None = ...) -> FigureCard: ...
@overload
def card(name: str, kind: Literal["figure"]) -> FigureCard: ...
@overload
def card(name: Literal["column_importance", "generalization_bound", "graph_recall", "intrinsic_dimension", "local_distortion", "out_of_sample", "parallel_analysis", "perplexity_curve", "perturbation_score", "representation_similarity", "singularity_score", "sweep"], kind: None = ...) -> AnalysisCard: ...
@overload
def card(name: str, kind: Literal["analysis"]) -> AnalysisCard: ...
@overload
def card(name: str, kind: str | None = ...) -> Card: ...
