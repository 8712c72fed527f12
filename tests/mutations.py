"""Wrong formulas and wrong wirings, each of which must fail in the fast tests named with it.

    .venv/bin/python tests/mutations.py            all of them, some ten minutes on two cores
    .venv/bin/python tests/mutations.py --only hsic    those whose file, texts or tests contain it; or several
    .venv/bin/python tests/mutations.py --check    whether every text still occurs exactly once; runs nothing

A mutant is one replacement in one file of a scratch copy of this tree; the working tree is never changed. The tests are
run with ``-x``; a mutant that they do not notice survives, and so does one whose test fails without it too; the exit
code is then 1. Two run at a time, in children of one process that has imported the libraries. Run by hand when tests
are cut, and when a formula moves. Entries name lines of computation, since words of messages change.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # as in conftest.py, before numpy is imported
for _name in ("numba", "pandas", "scipy.stats", "statsmodels.stats.multitest"):
    import_module(_name)  # the child processes have these from the start

ROOT = Path(__file__).resolve().parent.parent
IGNORED_FILES = shutil.ignore_patterns(
    ".git", ".venv*", "_build", ".*_cache", ".hypothesis", "*.dreval", "*.journal", ".numba"
)
LIMIT = 300  # seconds for the tests of one mutant
FAST = "not browser and not debian and not calibration and not doors and not vignettes and not slow"


class Mutant(NamedTuple):
    """A replacement of one text in one file under dreval/, and the tests that must fail with it."""

    file: str
    old: str
    new: str
    tests: str


TSNE_LOSS = "geometry/test_tsne_loss.py"
TSNE_SCORES = "analyses/test_tsne_scores.py"
RANKS = "measures/test_rank_measures.py"
SIMILARITY = "analyses/test_representation_similarity.py"
SPLITTING = "inference/test_splitting.py"
HELD_OUT = "study/test_held_out.py"
DISTANCES = "measures/test_distance_measures.py"
CLASSES = "measures/test_class_measures.py"
BATCHES = "measures/test_batch_measures.py"
WITHIN_LABELS = "measures/test_within_labels.py"
GROUPS_LEFT_OUT = "evaluation/test_groups.py"
CROSS_JACKKNIFE = "inference/test_cross_jackknife.py"
NEW_POINTS = "evaluation/test_out_of_sample.py"
POOLING = "significance/test_pooling.py"
NOISE = "significance/test_noise.py"
SUPERVISED = "methods/test_supervised.py"
GOALS = "measures/test_recommendation.py"
CLUSTERS = "measures/test_cluster_measures.py"
STRUCTURE = "measures/test_structure_measures.py"
WITHOUT_LISI = "measures/test_leave_one.py::test_effective_classes_without_a_point"
WITHOUT_TRIPLETS = "measures/test_leave_one.py::test_triplets_without_a_point_are_those_that_do_not_hold_it"
WITHOUT_RANKS = "measures/test_leave_one.py::test_influences_are_derivatives_also_by_shares_of_many_numbers"
INTER_CLUSTER = "measures/test_inter_cluster.py"
STATED_CHANCE = "contract/test_measures_contract.py::test_a_stated_chance_is_the_mean_over_all_pairings"
PROCRUSTES = "geometry/test_procrustes.py"
GRAPHS = "geometry/test_graphs.py"
BALLS = "methods/test_balls.py"
COSTS = "methods/test_cost_methods.py"
WEIGHTS = "methods/test_cost_weights.py"
FAR_POINTS = "methods/test_far_points.py"
LSDR = "methods/test_lsdr.py"
LOCAL = "methods/test_local_linear.py"
BOUND = "analyses/test_generalization_bound.py"
AUXILIARY = "methods/test_auxiliary_information.py"
MUTANTS = [
    Mutant(
        "methods/_spectral.py",
        "np.diff(M.indptr).max() * np.finfo(float).eps * abs(M)",
        "1e-6 * abs(M)",
        f"{LOCAL}::test_ordinary_data_do_not_seem_arbitrary",
    ),
    Mutant(
        "methods/_procrustes.py",
        "gaps = np.maximum(self.extents[i], self.extents[j])",
        "gaps = np.minimum(self.extents[i], self.extents[j])",
        f"{FAR_POINTS}::test_far_pairs_are_those_of_two_loops",
    ),
    Mutant(
        "methods/_procrustes.py",
        "pulls = -2.0 * np.divide(gaps",
        "pulls = -np.divide(gaps",
        f"{FAR_POINTS}::test_slopes_equal_central_differences",
    ),
    Mutant(
        "methods/procrustes_subspaces_alignment.py",
        "@ frames[h]) @ carried[h]",
        "@ frames[h])",
        f"{FAR_POINTS}::test_planes_are_carried_along_the_paths",
    ),
    Mutant(
        "methods/lsdr.py",
        "beta_skeleton_of(points**2,",
        "beta_skeleton_of(points,",
        f"{LSDR}::test_distances_and_their_points_give_equal_results",
    ),
    Mutant(
        "methods/_costs.py",
        "squareform(2.0 * self._weighted(pulls), checks=False)",
        "squareform(2.0 * pulls, checks=False)",
        f"{WEIGHTS}::test_gradients_with_weights_equal_central_differences",
    ),
    Mutant(
        "methods/_costs.py",
        "slope = -4.0 * (weighted @ centered)",
        "slope = -2.0 * (weighted @ centered)",
        f"{WEIGHTS}::test_gradients_with_weights_equal_central_differences",
    ),
    Mutant(
        "methods/_costs.py",
        "        cost.unit = unit\n",
        "        cost.unit = 1.0\n",
        f"{WEIGHTS}::test_lengths_of_graphs_are_in_the_unit_of_the_data",
    ),
    Mutant(
        "methods/_costs.py",
        "            gradient[out] += (2.0 * DISC_PENALTY",
        "            gradient[out] += (DISC_PENALTY",
        f"{COSTS}::test_the_penalty_of_tsne_acts_outside_its_disc_only",
    ),
    Mutant(
        "geometry/graphs.py",
        "short_enough = three_steps & (longest[i] + longest_nearby[i] + longest[j] <= limit)",
        "short_enough = three_steps",
        f"{GRAPHS}::test_ends_within_few_long_steps_are_short_cuts",
    ),
    Mutant(
        "methods/pca.py",
        "yield np.subtract(rows, mean, out=memory[: len(rows)])",
        "yield np.subtract(rows, 0.0, out=memory[: len(rows)])",
        "methods/test_pca.py::test_equals_scikit_learn",
    ),
    Mutant(
        "geometry/graphs.py",
        "selected = np.union1d(tree.data.astype(np.int64) - 1, nearest_parts)",
        "selected = np.unique(nearest_parts)",
        f"{GRAPHS}::test_links_are_the_shortest_ones_of_each_component",
    ),
    Mutant(
        "geometry/graphs.py",
        "inside_ball = lengths**2 <= limit",
        "inside_ball = lengths <= limit",
        f"{GRAPHS}::test_balls_are_those_of_scikit_learn",
    ),
    Mutant(
        "geometry/graphs.py",
        "members = graph.indices[np.lexsort((graph.indices, graph.data, rows))]",
        "members = graph.indices[np.lexsort((graph.data, rows))][::-1]",
        f"{GRAPHS}::test_neighborhoods_of_balls_are_the_rows_of_the_graph",
    ),
    Mutant(
        "methods/_local.py",
        "        paths[rows] = best\n",
        "        paths[rows] = steps[:, :1] + geodesics[neighbors[:, 0]]\n",
        f"{BALLS}::test_isomap_equals_scikit_learn",
    ),
    Mutant(
        "geometry/_loops/tsne_loss.py",
        "if inside[t] and moved[t] <= limits[1, t]:",
        "if inside[t] and moved[t] <= limits[0, t]:",
        f"{TSNE_SCORES}::test_affinities_of_neighbors_are_recomputed_for_a_moved_point",
    ),
    Mutant(
        "geometry/_loops/tsne_loss.py",
        "starts[0], starts[1], starts[2] = place, columns[:, largest], columns[:, second]",
        "starts[0], starts[1], starts[2] = place, place, place",
        f"{TSNE_SCORES}::test_perturbations_are_the_minima_of_the_definition",
    ),
    Mutant(
        "geometry/tsne.py",
        "4.0 * attraction - (4.0 / parts.total) * repulsion - common * parts.pull",
        "4.0 * attraction - (4.0 / parts.total) * repulsion",
        f"{TSNE_LOSS}::test_derivatives_are_those_of_the_loss",
    ),
    Mutant(
        "analyses/tsne_scores.py",
        "lowest = parts.spectra[0][:, 0]",
        "lowest = parts.spectra[0][:, -1]",
        f"{TSNE_SCORES}::test_newton_steps_lead_to_a_map_that_has_scores",
    ),
    Mutant(
        "analyses/tsne_scores.py",
        "sqrt(nearest(dense, 1, n_jobs=n_jobs)[1]).mean()",
        "sqrt(nearest(dense, 1, n_jobs=n_jobs)[1].mean())",
        f"{TSNE_SCORES}::test_perturbations_are_the_minima_of_the_definition",
    ),
    Mutant(
        "significance/noise.py",
        "adjusted((1 + reached_pooled) / (1 + len(pooled))",
        "adjusted(reached_pooled / len(pooled)",
        "significance/test_noise.py::test_p_values_are_those_of_plain_counts",
    ),
    Mutant(
        "significance/noise.py",
        'stream(root, "null", r).permuted(X, axis=0)',
        'stream(root, "null", r).permutation(X)',
        "significance/test_noise.py::test_p_values_are_those_of_plain_counts",
    ),
    Mutant(
        "significance/noise.py",
        'values if measure.card.direction == "higher" else -values',
        "values",
        "significance/test_noise.py::test_where_lower_is_better_the_sign_is_changed",
    ),
    Mutant(
        "geometry/procrustes.py",
        "values = (n_common / (2 * k_compared - n_common) - chance) / (1.0 - chance)",
        "values = n_common / (2 * k_compared - n_common)",
        "geometry/test_replicates.py::test_unrelated_maps_agree_at_chance_level_only",
    ),
    Mutant(
        "geometry/procrustes.py",
        "return variation * freedom / (freedom - (R - 1))",
        "return variation",
        "geometry/test_replicates.py::test_log_variation_is_the_residual_of_least_squares",
    ),
    Mutant(
        "measures/replicates.py",
        "common = np.intersect1d(pair[0][0].rows, pair[1][0].rows, assume_unique=True)",
        "common = pair[0][0].rows",
        "measures/test_stability.py::test_the_share_of_the_seeds_is_reported_at_one_number_of_points",
    ),
    Mutant(
        "inference/reruns.py",
        "else self.seed(root, key.index, key.seed)",
        "else self.seed(root, key.index, 0)",
        "inference/test_reruns.py::test_replicates_are_the_runs_that_their_kind_describes",
    ),
    Mutant(
        "inputs/source.py",
        "return all(equal_maps(Y, maps[0]) for Y in maps[1:])",
        "return any(equal_maps(Y, maps[0]) for Y in maps[1:])",
        "inference/test_reruns.py::test_maps_of_seeds_that_change_nothing_are_equal",
    ),
    Mutant(
        "inference/reruns.py",
        "labels = replace(labels, codes=labels.codes[spec.rows])",
        "labels = labels",
        "measures/test_stability.py::test_labels_follow_the_halves",
    ),
    Mutant(
        "measures/distances.py",
        "[:, 1 : m + 1]\n        E = ",
        "[:, :m]\n        E = ",
        "measures/test_distance_order_correlation.py::test_values_without_random_numbers",
    ),
    # Geometry
    Mutant("measures/ranks.py", "n * k * (2 * n - 3 * k - 1) / 2 if", "n * k * (2 * n - 3 * k + 1) / 2 if", RANKS),
    Mutant(
        "geometry/ranks.py",
        "np.minimum(n_missing, n_same_at_edge)",
        "np.maximum(n_missing, n_same_at_edge)",
        "measures/test_class_measures.py geometry/test_ties.py",
    ),
    Mutant(
        "geometry/procrustes.py",
        "data.mean[:, None] * (b.sum(axis=0) - stored.T @ b)",
        "data.mean[:, None] * b.sum(axis=0)",
        "geometry/test_procrustes.py::test_disparity_of_any_blocks_and_of_sparse_rows",
    ),
    Mutant(
        "geometry/streaming.py",
        "np.where(largest > 0, largest, 1.0)",
        "1.0",
        "geometry/test_anchors.py::test_sampled_points_do_not_depend_on_the_unit",
    ),
    Mutant(
        "geometry/streaming.py",
        'self.tallies[:] += state["tallies"]',
        'self.tallies[:] = state["tallies"]',
        "geometry/test_anchors.py::test_ranks_of_targets_are_places_in_the_sorted_row",
    ),
    Mutant(
        "geometry/_loops/anchors.py",
        "return index < other_index",
        "return value < other",
        "geometry/test_anchors.py::test_long_tables",
    ),
    Mutant(
        "geometry/_loops/anchors.py",
        "if new_values[b, t] < np.inf:",
        "if new_values[b, t] < values[b, values.shape[1] - 1]:",
        "geometry/test_anchors.py::test_a_list_is_unsure_where_an_entry_of_another_list_is_nearly_its_last",
    ),
    Mutant(
        "geometry/_loops/anchors.py",
        "        error = gamma * (queries.norms[i] + largest)\n",
        "        error = 0.0\n",
        "geometry/test_anchors.py::test_long_tables",
    ),
    Mutant(
        "geometry/_loops/anchors.py",
        "points[j], 1.0 / probability[j]",
        "points[j], 1.0",
        "geometry/test_anchors.py::test_weights_of_sampled_points_add_up_to_the_others",
    ),
    Mutant(
        "geometry/ranks.py",
        "outside_list.astype(np.float64)",
        "np.ones((m, k))",
        "geometry/test_coranking.py::test_samples_have_no_bias",
    ),
    Mutant(
        "geometry/ranks.py",
        "(digamma(N - inside + 1.0) - digamma(1.0)) / N",
        "(digamma(N - inside) - digamma(1.0)) / N",
        "geometry/test_coranking.py::test_weights_of_some_ranks_are_those_of_the_table",
    ),
    Mutant(
        "_random.py",
        "self._keys[::-1], forward=False",
        "self._keys, forward=False",
        "test_random_streams.py::test_an_unstored_permutation_is_a_permutation",
    ),
    Mutant("inputs/features.py", "step**2 * (self.count * m / total)", "step**2 * m", "inputs/test_survey.py"),
    Mutant(
        "geometry/ranks.py",
        "tied[e, block] = tied_in_data",
        "tied_in_data = tied[e, block]",
        "geometry/test_coranking.py",
    ),
    Mutant(
        "geometry/blocks.py",
        "np.take_along_axis(equal, ranks - 1, axis=1)",
        "np.take_along_axis(equal, ranks, axis=1)",
        "geometry/test_blocks.py::test_a_row_is_marked_for_the_ties_of_its_neighbors_only",
    ),
    Mutant("geometry/blocks.py", "self.origin[origin]", "origin", "geometry/test_blocks.py"),
    Mutant(
        "geometry/_loops/local.py",
        "size = count - (left_out >= 0)",
        "size = count - (left_out > 1)",
        "measures/test_leave_one.py",
    ),
    Mutant(
        "geometry/ranks.py",
        "return np.asarray(self.q_nx - self.ks / (self.n - 1))",
        "return np.asarray(self.q_nx - self.ks / self.n)",
        "measures/test_coranking_measures.py",
    ),
    Mutant(
        "geometry/distances.py",
        "out -= out.mean(axis=1, keepdims=True)",
        "out -= out.mean(axis=0, keepdims=True)",
        "geometry/test_metrics.py",
    ),
    Mutant("geometry/procrustes.py", "np.clip(1.0 - share**2, 0.0, 1.0)", "np.clip(1.0 - share, 0.0, 1.0)", PROCRUSTES),
    Mutant(
        "geometry/procrustes.py",
        "scale**2 * parts.y2 - 2 * scale * parts.nuclear",
        "scale**2 * parts.y2 - scale * parts.nuclear",
        "geometry/test_procrustes.py measures/test_procrustes_measures.py",
    ),
    Mutant("geometry/kernels.py", "lambda t: np.exp(-0.5 * t)", "lambda t: np.exp(-t)", "geometry/test_kernels.py"),
    Mutant("geometry/kernels.py", "means -= means.mean() / 2", "means -= means.mean()", "geometry/test_kernels.py"),
    Mutant(
        "geometry/kernels.py",
        "residual_factors = self.squares @ shrunk",
        "residual_factors = 1 - self.squares @ shrunk",
        "geometry/test_rkhs.py",
    ),
    Mutant(
        "geometry/kernels.py",
        "@ centered) / (values + reg)[:, None]",
        "@ centered) / (values + 2 * reg)[:, None]",
        "geometry/test_rkhs.py",
    ),
    Mutant(
        "geometry/pairs.py",
        "min(max(float(xy) / math.sqrt(xx) / math.sqrt(yy)",
        "min(max(float(xy) / math.sqrt(xx) / math.sqrt(xx)",
        DISTANCES,
    ),
    Mutant("geometry/_loops/rows.py", "        gap //= 3\n", "        gap = 0\n", "geometry/test_rows.py"),
    Mutant(
        "geometry/_loops/rows.py", "            s2 += d2 * d2\n", "            s2 += d2 * d3\n", "geometry/test_rows.py"
    ),
    Mutant("_parallel.py", "memory = self._free.pop()", "memory = self._free[-1]", "geometry/test_distances.py"),
    Mutant(
        "geometry/distances.py",
        "self.points, _columns(centered), norms",
        "self.points, _columns(self.points.astype(np.float32)), norms",
        "geometry/test_distances.py",
    ),
    Mutant("geometry/_loops/orders.py", "2 * first + start + t - total", "2 * first + 2 * t - 1 - total", DISTANCES),
    Mutant(
        "geometry/_loops/orders.py",
        "up_to(marks, marks.shape[0], previous)",
        "up_to(marks, marks.shape[0], previous) - 1",
        "geometry/test_shepard.py",
    ),
    Mutant("geometry/ranks.py", "[:, ::-1] - 0.5 * beyond", "[:, ::-1]", WITHOUT_RANKS),
    Mutant("geometry/_loops/pair_groups.py", "0.5 * theta * variance_term", "theta * variance_term", WITHOUT_RANKS),
    # Measures
    Mutant(
        "measures/ranks.py",
        "return view.nearest_embedding, view.data_rank",
        "return view.nearest_embedding, view.embedding_rank",
        RANKS,
    ),
    Mutant(
        "measures/ranks.py",
        "return view.nearest_data, view.embedding_rank",
        "return view.nearest_data, view.data_rank",
        RANKS,
    ),
    Mutant(
        "measures/ranks.py",
        'n_neighbors, swapped=error == "missing"',
        "n_neighbors, swapped=False",
        "measures/test_leave_one.py",
    ),
    Mutant(
        "measures/ranks.py",
        'view, 1, swapped=error == "missing"',
        "view, 1, swapped=False",
        "measures/test_leave_one.py",
    ),
    Mutant(
        "geometry/ranks.py",
        "np.asarray(ranks, np.float64) * (2.0 / n)",
        "np.asarray(ranks, np.float64) * (2.0 / (n - 1))",
        RANKS,
    ),
    Mutant(
        "inputs/features.py",
        "np.asarray(self.values[np.ix_(self.order, self.order)], dtype)",
        "np.asarray(self.values[self.order], dtype)",
        "evaluation/test_embedding_metric.py",
    ),
    Mutant(
        "geometry/blocks.py",
        "Space.of(self.Y if places is None else self.Y[places], self.embedding_metric)",
        "Space.of(self.Y if places is None else self.Y[places])",
        "evaluation/test_embedding_metric.py",
    ),
    Mutant("geometry/similarity.py", "ranks[:, 1] - (ranks[:, 0] < ranks[:, 1])", "ranks[:, 1]", SIMILARITY),
    Mutant(
        "inference/permutation.py",
        "math.ceil((1 - alpha) * len(values)",
        "math.ceil((1 - alpha / 2) * len(values)",
        SIMILARITY,
    ),
    Mutant(
        "analyses/representation_similarity.py", "(null.observed - tau) / (1 - tau)", "null.observed - tau", SIMILARITY
    ),
    Mutant(
        "analyses/column_importance.py",
        "*(without + without[origin] - shares.mean())",
        "*without",
        "analyses/test_column_importance.py",
    ),
    Mutant(
        "analyses/column_importance.py",
        "(1.0 - m / n) * np.atleast_2d",
        "np.atleast_2d",
        "analyses/test_column_importance.py",
    ),
    Mutant("geometry/_loops/rows.py", "total += min(step, 1.0)", "total += step", "inputs/test_mixed.py"),
    Mutant("inputs/mixed.py", "numbers[has_value].max() - low", "numbers[has_value].max()", "inputs/test_mixed.py"),
    Mutant("measures/ranks.py", "return k / (n - 1)", "return k / n", STATED_CHANCE),
    Mutant("measures/ranks.py", "return common / (2 * k - common)", "return common / (2 * k)", RANKS),
    Mutant(
        "measures/ranks.py",
        "np.abs(n - 2 * t + 1) / t",
        "np.abs(n - 2 * t) / t",
        "measures/test_coranking_measures.py",
    ),
    Mutant(
        "measures/distances.py",
        "return math.sqrt(pairs.gap() / size) if size",
        "return pairs.gap() / size if size",
        DISTANCES,
    ),
    Mutant(
        "measures/labels.py",
        "rows[folds[rows] == fold], np.flatnonzero(folds != fold)",
        "rows[folds[rows] == fold], np.arange(len(folds))",
        "measures/test_knn_accuracy.py",
    ),
    Mutant(
        "measures/clusters.py", "good = sums <= sums.min() * (1 + EQUAL_SUMS)", "good = sums >= sums.max()", CLUSTERS
    ),
    Mutant(
        "geometry/_loops/communities.py",
        "value = to_community[c] - rate * strength[v] * sums[c]",
        "value = to_community[c] - rate * sums[c]",
        "measures/test_leiden.py",
    ),
    Mutant("measures/clusters.py", "np.arange(max(1, a + b - n)", "np.arange(max(1, a + b - n + 1)", CLUSTERS),
    Mutant("measures/batches.py", "1.0 / (shares**2).sum(axis=1)", "shares.max(axis=1)", BATCHES),
    Mutant("geometry/_loops/effective_classes.py", "first * (1.0 + ROUNDING)", "first * 0.0", WITHOUT_LISI),
    Mutant("geometry/_loops/effective_classes.py", "+= class_values[c] - values[b]", "+= 0.0", WITHOUT_LISI),
    Mutant(
        "measures/batches.py",
        "_limited_perplexity(n - 1, perplexity)",
        "_limited_perplexity(n, perplexity)",
        WITHOUT_LISI,
    ),
    Mutant("measures/batches.py", "n / k * (whole +", "n / k * (0 * whole +", BATCHES),
    Mutant("measures/batches.py", "p[part] = chdtrc(c - 1,", "p[part] = chdtrc(c,", BATCHES),
    Mutant("measures/batches.py", "directed=False", "directed=True, connection='strong'", BATCHES),
    Mutant("measures/batches.py", "max(0.0, (data - embedding) / data)", "max(0.0, data - embedding)", WITHIN_LABELS),
    Mutant(
        "measures/batches.py", "np.where(remaining > 1, _explained", "np.where(remaining > 0, _explained", WITHIN_LABELS
    ),
    Mutant("measures/within_labels.py", "larger = np.maximum(inside, outside)", "larger = outside", WITHIN_LABELS),
    Mutant("measures/within_labels.py", "np.maximum(size - 1, 1)", "size", WITHIN_LABELS),
    Mutant("measures/within_labels.py", "(total - sums[codes])", "total", WITHIN_LABELS),
    Mutant("measures/within_labels.py", "sums.sum() - of_label + (", "sums.sum() + (", WITHIN_LABELS),
    Mutant("measures/within_labels.py", "MAX_NEIGHBORS) + 1 if", "MAX_NEIGHBORS) if", WITHIN_LABELS),
    Mutant("measures/classes.py", "present == present.min()", "present == present.max()", BATCHES),
    Mutant("measures/classes.py", "ordered - discordant - half / 2", "ordered - discordant", CLUSTERS),
    Mutant("measures/classes.py", "np.median(points, axis=0)", "points.mean(axis=0)", CLUSTERS),
    Mutant("measures/core.py", "rates[chosen].max(axis=1)", "rates[chosen].mean(axis=1)", GOALS),
    Mutant("measures/classes.py", "np.maximum(sizes[codes] - 1, 1)", "np.maximum(sizes[codes], 1)", CLASSES),
    Mutant("measures/labels.py", "np.asarray(same.mean(axis=1))", "np.asarray(same.any(axis=1))", CLASSES),
    Mutant(
        "measures/labels.py",
        "1.0 - (residual**2).sum(axis=0)",
        "1.0 - np.abs(residual).sum(axis=0)",
        "measures/test_latent_and_energy.py",
    ),
    Mutant(
        "measures/distances.py",
        "np.maximum(eigenvalues[::-1], 0.0)",
        "np.sqrt(np.maximum(eigenvalues[::-1], 0.0))",
        "measures/test_latent_and_energy.py",
    ),
    Mutant(
        "measures/clusters.py",
        "np.exp(-((distances / largest) ** 2) / width)",
        "np.exp(-(distances / largest) / width)",
        "measures/test_density_measures.py",
    ),
    Mutant("geometry/graphs.py", "best[closer], link[closer] = values[closer], at", "link[closer] = at", STRUCTURE),
    Mutant(
        "geometry/_loops/density_clusters.py", "selected[c] = not inner[c]", "selected[c] = inner[c]", INTER_CLUSTER
    ),
    Mutant("geometry/distances.py", "k + 1.0, 1.0, -1.0", "k + 0.0, 0.0, -1.0", INTER_CLUSTER),
    Mutant("geometry/_loops/angles.py", "if c == codes[i] or sizes[c] < 2:", "if sizes[c] < 2:", STRUCTURE),
    Mutant("geometry/_loops/pairs.py", "remaining = count - counts[h]", "remaining = count", WITHOUT_TRIPLETS),
    Mutant("measures/classes.py", "(v * (c - 1) * sizes)", "(v * c * sizes)", STRUCTURE),
    Mutant("measures/classes.py", "(v - (size > 2))", "(v - 1)", WITHOUT_TRIPLETS),
    Mutant("measures/distances.py", "(2.0 * np.arange(1, k + 1))", "(2.0 * k)", STRUCTURE),
    Mutant("inference/splitting.py", "rng.beta(e * b, (1 - e) * b, X.shape)", "e", SPLITTING),
    Mutant("inference/splitting.py", "np.round(e * N)", "np.round((1 - e) * N)", SPLITTING),
    Mutant("inference/splitting.py", "np.sqrt(e * (1 - e)) * Z", "np.sqrt(e) * Z", SPLITTING),
    Mutant("inference/splitting.py", "second / (1 - self.fraction)", "second / self.fraction", SPLITTING),
    Mutant("inference/splitting.py", "float((means + (0.0", "float((means + (1.0", SPLITTING),
    Mutant("study/held_out.py", "math.sqrt((len(left_out) - 1) *", "math.sqrt(len(left_out) *", HELD_OUT),
    Mutant(
        "study/held_out.py",
        "setting_rows(task, held.values[t], 1 / runs",
        "setting_rows(task, held.values[t], 1",
        HELD_OUT,
    ),
    Mutant("study/cluster_test.py", "largest[:, None] >= size", "largest[:, None] <= size", HELD_OUT),
    Mutant(
        "study/cluster_test.py", "second[tested] @ (line / length)", "second[tested] @ np.ones(len(line))", HELD_OUT
    ),
    Mutant("geometry/_loops/dip.py", "result / (2.0 * n)", "result / n", HELD_OUT),
    Mutant(
        "study/sweep.py",
        'share = 1 + 1 / R if embedded.kind == "halves"',
        'share = 1 / R if embedded.kind == "halves"',
        "study/test_sweep.py",
    ),
    Mutant("study/sweep.py", 'stream_seed(root, "sweep", r)', 'stream_seed(root, "sweep", 0)', "study/test_sweep.py"),
    Mutant(
        "inference/best_set.py",
        "p = testable.sum(axis=0) * stdtr(freedom, -statistic)",
        "p = stdtr(freedom, -statistic)",
        "study/test_sweep.py::test_the_best_set_is_that_of_paired_t_tests",
    ),
    Mutant(
        "inference/best_set.py",
        "(correlated and freedom < MIN_FREEDOM_PER_ESTIMATE * k)",
        "(correlated and freedom < 0)",
        "inference/test_best_set.py::test_few_degrees_of_freedom_have_bonferronis_bound",
    ),
    Mutant("inference/bands.py", "np.sqrt((1 - m / n) * squares", "np.sqrt(squares", "inference/test_bands.py"),
    Mutant(
        "geometry/procrustes.py",
        "max(MAX_ROBUST_DEVIATIONS * spread, MIN_LOG_EXCESS)",
        "MAX_ROBUST_DEVIATIONS * spread",
        "measures/test_local_stretch.py::test_broken_edges_are_those_across_a_cut",
    ),
    Mutant(
        "geometry/procrustes.py",
        "scores = left[:, :, :q].transpose(0, 2, 1) @ B",
        "scores = left[:, :, :q].transpose(0, 2, 1) @ B[:, :, ::-1]",
        "measures/test_local_stretch_elsewhere.py",
    ),
    Mutant(
        "geometry/procrustes.py",
        "errors = np.sqrt((k - 1) / k * (gaps**2).sum(axis=0))",
        "errors = np.sqrt((gaps**2).sum(axis=0) / k)",
        "measures/test_local_stretch.py::test_standard_errors_are_the_jackknife_over_neighbors",
    ),
    Mutant(
        "analyses/intrinsic_dimension.py",
        "-np.log1p(-np.arange(1, count + 1) / n)",
        "-np.log1p(-np.arange(1, count + 1) / (n + 1))",
        "analyses/test_intrinsic_dimension.py",
    ),
    Mutant(
        "analyses/parallel_analysis.py",
        "n_components = int(failed[0]) if len(failed) else len(p)",
        "n_components = int((p <= alpha).sum())",
        "analyses/test_parallel_analysis.py::test_components_behind_the_first_failure_are_not_retained",
    ),
    Mutant("measures/consistency.py", '"ti": u * size', '"ti": u / size', "measures/test_trustability.py"),
    # Inference
    Mutant(
        "inference/intervals.py",
        "(len(deviations) - 1) / len(deviations) * np.einsum",
        "1 / len(deviations) * np.einsum",
        "inference/test_intervals.py",
    ),
    Mutant(
        "inference/intervals.py",
        "variance**2 / (len(values) - 1)",
        "variance**2 / len(values)",
        "inference/test_intervals.py comparison/test_within.py evaluation/test_evaluation_replicates.py",
    ),
    Mutant(
        "inference/intervals.py",
        "threshold = 2 / (1 - level)",
        "threshold = 1 / (1 - level)",
        "inference/test_bounded.py",
    ),
    Mutant(
        "inference/adjustment.py",
        "np.minimum(n_remaining * p[order], 1.0)",
        "np.minimum(p[order], 1.0)",
        "inference/test_adjustment.py",
    ),
    Mutant(
        "inference/best_set.py",
        "(exceedances + 1.0) / (DRAWS + 1.0)",
        "exceedances / DRAWS",
        "inference/test_best_set.py",
    ),
    # Significance
    Mutant(
        "significance/hsic.py",
        "* (t**2 + 2 * s) for t",
        "* (t**2 + s) for t",
        "significance/test_hsic.py significance/test_hsic_methods.py",
    ),
    Mutant(
        "significance/base.py",
        "class_sums(fixed, places, p, count)",
        "class_sums(fixed[p], places, p, count)",
        "significance/test_hsic_methods.py",
    ),
    Mutant(
        "significance/kcca.py",
        "scale = values[::-1] / (values[::-1] + ridge)",
        "scale = values[::-1] / (values[::-1] + 2 * ridge)",
        "significance/test_kcca.py",
    ),
    Mutant(
        "significance/kcca.py",
        "(result.observed - mean) / (1 - mean)",
        "result.observed - mean",
        "significance/test_kcca.py",
    ),
    Mutant(
        "significance/_pooling.py",
        "multiple * chosen",
        "multiple**2 * chosen",
        POOLING,
    ),
    Mutant(
        "inference/permutation.py",
        "sd_of_others = values[1:].std(axis=0)",
        "sd_of_others = values.std(axis=0)",
        POOLING,
    ),
    Mutant(
        "inference/permutation.py",
        "used = sd > MIN_RELATIVE_SD * np.abs(values).max(axis=0)",
        "used = sd > 0",
        POOLING,
    ),
    Mutant(
        "inference/permutation.py",
        "null = largest if is_exact else largest[1:]",
        "null = largest",
        POOLING,
    ),
    Mutant(
        "significance/dcov.py",
        "values -= values.mean()",
        "values -= 0.0",
        "significance/test_dcov.py",
    ),
    Mutant(
        "significance/dcov.py",
        "(ascending * (2 * places - n) + ascending.sum() - 2 * before) / n",
        "(ascending * (2 * places - n + 1) + ascending.sum() - 2 * before) / n",
        "significance/test_dcov.py",
    ),
    Mutant(
        "significance/dcov.py",
        "unbiased / float(np.sqrt(variances[0]) * np.sqrt(variances[1]))",
        "unbiased / float(variances[0] * variances[1])",
        "significance/test_dcov.py",
    ),
    Mutant(
        "significance/mmd.py",
        "factor = (n / (size * (n - size))) ** 2",
        "factor = n / (size * (n - size))",
        "significance/test_mmd.py",
    ),
    Mutant(
        "significance/cca.py",
        "factor = n - 1 - (p + q + 1) / 2",
        "factor = n - (p + q + 1) / 2",
        "significance/test_cca.py",
    ),
    Mutant(
        "significance/_certificate.py",
        "p_value = (reached + 1) / (len(null) + 1)",
        "p_value = reached / len(null)",
        "significance/test_certificate.py",
    ),
    # Comparison
    Mutant(
        "comparison/ranks.py",
        "value = (n - 1) * chi_square / denominator",
        "value = n * chi_square / denominator",
        "comparison/test_ranks.py",
    ),
    Mutant(
        "comparison/ranks.py",
        "mean_ranks[None]) / math.sqrt(k * (k + 1) / (12 * n))",
        "mean_ranks[None]) / math.sqrt(k * (k + 1) / (6 * n))",
        "comparison/test_ranks.py",
    ),
    Mutant(
        "comparison/ranks.py",
        "rankdata(-goodness",
        "rankdata(goodness",
        "comparison/test_ranks.py comparison/test_across.py",
    ),
    Mutant(
        "comparison/pair_tests.py",
        "np.sum(np.sign(nonzero) * ranks) / ranks.sum()",
        "np.mean(np.sign(nonzero))",
        "comparison/test_ranks.py comparison/test_across.py",
    ),
    Mutant("comparison/pair_tests.py", "2 * rope", "rope", "comparison/test_ranks.py comparison/test_across.py"),
    Mutant(
        "comparison/compare.py",
        "stdtr(freedom, (abs(difference) - margin) / se)",
        "stdtr(freedom, (abs(difference) - 2 * margin) / se)",
        "comparison/test_within.py",
    ),
    Mutant(
        "comparison/gate.py",
        "alpha = round(1 - conf_level, 12) / len(settings)",
        "alpha = round(1 - conf_level, 12)",
        "cli/test_cli_check.py",
    ),
    Mutant(
        "comparison/gate.py",
        'row["conf_high"] < -row["margin"] - tolerance',
        'row["conf_low"] < -row["margin"] - tolerance',
        "cli/test_cli_check.py",
    ),
    Mutant("testing.py", "sign * runs.values + margin", "sign * runs.values - margin", "test_testing.py"),
    Mutant("testing.py", "-pooled[permutations[:, :r]]", "pooled[permutations[:, :r]]", "test_testing.py"),
    Mutant("testing.py", 'f"{role} {i}"', 'f"{i}"', "test_testing.py"),
    Mutant(
        "report/best_sets.py",
        "if other not in ranking.unjudged and",
        "if other in p_values and",
        "report/test_findings.py",
    ),
    Mutant(
        "report/best_sets.py",
        "or not column.better(cell.value, cell.chance)",
        "or column.better(cell.value, cell.chance)",
        "report/test_findings.py report/test_report_words.py",
    ),
    Mutant("records/notes.py", 'split("|")[value != 1]', 'split("|")[value == 1]', "records/test_notes.py"),
    Mutant(
        "report/best_sets.py",
        "and p_by_best[best] > alpha",
        "and p_by_best[best] <= alpha",
        "report/test_findings.py report/test_true_sentences.py",
    ),
    # The wiring of an evaluation
    Mutant(
        "evaluation/rows.py",
        'replace(jackknife_interval(result.value, values, bounds, level=level), kind="anchor_groups")',
        "jackknife_interval(result.value, values, bounds, level=level)",
        "evaluation/test_evaluation_numbers.py evaluation/test_evaluation.py",
    ),
    Mutant(
        "evaluation/evaluation.py",
        'np.sort(stream(self.seed, "anchors")',
        'np.sort(stream(0, "anchors")',
        "evaluation/test_evaluation.py evaluation/test_evaluation_numbers.py",
    ),
    Mutant("evaluation/plan.py", "round(k * half / n)", "round(k)", "evaluation/test_evaluation_replicates.py"),
    Mutant(
        "evaluation/uncertainty.py",
        "start = size * (r % 2)",
        "start = 0",
        "evaluation/test_evaluation_replicates.py",
    ),
    Mutant(
        "evaluation/tests.py",
        "n_used = len(Y) if len(Y) < n else None",
        "n_used = n if len(Y) < n else None",
        "evaluation/test_evaluation_independence.py inputs/test_label_gaps.py",
    ),
    # Inputs
    Mutant(
        "inputs/variables.py",
        "if matches < len(right) or (len(left) != len(right) and not has_more_rows):",
        "if matches < len(right):",
        "inputs/test_align_rows.py",
    ),
    Mutant(
        "inputs/coordinates.py",
        "if not len(steps) or steps.max() <= MIN_SPREAD_RATIO:",
        "if not len(steps) or steps.min() <= MIN_SPREAD_RATIO:",
        "inputs/test_doubtful_columns.py",
    ),
    Mutant(
        "storage/embeddings.py",
        'facts = {"notes": [note.plain() for note in notes]} if notes else {}',
        "facts = {}",
        "inputs/test_names_of_rows.py",
    ),
    Mutant(
        "inputs/features.py",
        "np.abs(D - D.T).max() > MAX_ASYMMETRY * D.max()",
        "np.abs(D - D.T).max() > 2 * D.max()",
        "geometry/test_metrics.py inputs/test_data_record.py",
    ),
    # Methods and data sets
    Mutant(
        "methods/pca.py",
        "values**2 / (len(X) - 1)",
        "values**2 / len(X)",
        "methods/test_pca.py",
    ),
    Mutant(
        "_check_arrays.py",
        'array.dtype.kind in "biu" else values',
        'array.dtype.kind in "b" else values',
        "test_check.py",
    ),
    Mutant("geometry/kernels.py", "numbers_from_objects(np.asarray(value))", "np.asarray(value)", SUPERVISED),
    Mutant(
        "methods/kernel_pca.py",
        "vectors * np.sqrt(self.eigenvalues_)",
        "vectors * self.eigenvalues_",
        "methods/test_kernel_pca.py",
    ),
    Mutant(
        "methods/_cost_method.py",
        "(start == start[0]).all()",
        "(start == np.inf).all()",
        "methods/test_cost_methods.py::test_starts_in_one_place_raise_an_error",
    ),
    Mutant("methods/_kernel.py", "        gram -= self._level\n", "", "methods/test_kernel_pca.py"),
    Mutant(
        "methods/isomap.py",
        "self._means = principal_coordinates(\n            self.geodesics_**2",
        "self._means = principal_coordinates(\n            self.geodesics_",
        "methods/test_isomap.py",
    ),
    Mutant(
        "methods/diffusion_maps.py",
        "kernel.sum(axis=1) ** self.alpha",
        "kernel.sum(axis=1)",
        "methods/test_diffusion_maps.py",
    ),
    Mutant(
        "methods/laplacian_eigenmaps.py",
        "vectors[:, order] * roots[:, None]",
        "vectors[:, order]",
        "methods/test_laplacian_eigenmaps.py",
    ),
    Mutant("methods/pca.py", "variances[d:].mean()", "variances[d:].sum()", "methods/test_linear_models.py"),
    Mutant(
        "methods/inverse_regression.py",
        "return (means.T * share) @ means",
        "return means.T @ means",
        "methods/test_supervised.py",
    ),
    Mutant(
        "geometry/graphs.py",
        "(outgoing + incoming - outgoing.multiply(incoming))",
        "(outgoing + incoming)",
        "methods/test_umap.py",
    ),
    Mutant(
        "datasets/simulated.py",
        "(t * np.sqrt(1.0 + np.square(t)) + np.arcsinh(t))",
        "(t * np.sqrt(1.0 + np.square(t)) - np.arcsinh(t))",
        "datasets/test_simulated_shapes.py",
    ),
    # Journal, archive, seeds
    Mutant(
        "storage/store.py",
        "if value is not None and value[0] != over:",
        "if value is not None and value[0] == over:",
        "storage/test_claims.py storage/test_store.py",
    ),
    Mutant(
        "storage/store.py",
        "now < expires < now + 2 * LEASE_SECONDS",
        "expires < now + 2 * LEASE_SECONDS",
        "storage/test_claims.py",
    ),
    Mutant(
        "storage/keys.py",
        '("labels",) if source.supervised else ()',
        "()",
        "storage/test_keys.py",
    ),
    Mutant(
        "records/archive.py",
        "[float(cell) if cell else np.nan for cell in column]",
        "[float(cell) if cell else 0.0 for cell in column]",
        "records/test_archive.py",
    ),
    Mutant(
        "_random.py",
        "*(int(integer) for integer in integers[:4])",
        "*(int(integer) for integer in integers[:1])",
        "test_random_streams.py",
    ),
    # Texts of reports and codes of the command line
    Mutant(
        "report/best_sets.py",
        "return (value - first) / span",
        "return value / span",
        "report/test_findings.py report/test_page.py",
    ),
    Mutant(
        "report/result_view.py",
        "half = (cell.high - cell.low) / 2",
        "half = cell.high - cell.low",
        "report/test_answers_first.py",
    ),
    Mutant(
        "report/result_view.py",
        "goodness = [value if self.higher else -value for value in self.compared_values.values()]",
        "goodness = [-value if self.higher else value for value in self.compared_values.values()]",
        "report/test_true_sentences.py",
    ),
    Mutant(
        "cli/evaluate.py",
        "ExitCode.OK if complete and not results.failed else ExitCode.FAILED",
        "ExitCode.OK if complete else ExitCode.FAILED",
        "cli/test_cli.py",
    ),
    Mutant(
        "cli/_main.py",
        "raise SystemExit(ExitCode.DEFECT) from None",
        "raise SystemExit(ExitCode.REFUSED) from None",
        "cli/test_cli.py cli/test_cli_help.py",
    ),
    Mutant(
        "geometry/_loops/rows.py",
        "+ (left.rows[i, p + c] - right.rows[j, p + c])",
        "",
        "geometry/test_directions.py",
    ),
    Mutant("inputs/variables.py", "MAX_CODES = 20", "MAX_CODES = 0", "inputs/test_covariate_types.py"),
    Mutant("inputs/text_tables.py", "repeats ** (p - 2)", "repeats ** p", "inputs/test_first_rows.py"),
    Mutant(
        "comparison/ranking.py",
        "if not math.isnan(setting.values[name]) and name not in results.reference",
        "if not math.isnan(setting.values[name])",
        "comparison/test_reference.py",
    ),
    Mutant(
        "geometry/same_map.py",
        'same = same_map if data.metric == data.embedding_metric == "euclidean" else same_values',
        "same = same_map",
        "comparison/test_reference.py",
    ),
    Mutant(
        "inputs/source_kinds.py",
        "if _metric_name(own_metric) == metric:",
        "if own_metric == metric or True:",
        "evaluation/test_metric_of_methods.py",
    ),
    Mutant(
        "inference/ties.py",
        "(start + 1 + end) / 2",
        "float(start + 1)",
        "report/test_true_sentences.py",
    ),
    Mutant(
        "report/best_sets.py",
        "best = min(p_by_best, key=p_by_best.__getitem__",
        "best = max(p_by_best, key=p_by_best.__getitem__",
        "report/test_findings.py report/test_true_sentences.py",
    ),
    Mutant("inference/groups.py", "(n - int(sizes[group])) * count,", "n * count,", GROUPS_LEFT_OUT),
    Mutant(
        "inference/groups.py",
        "return sum(numbers) ** 2 /",
        "return len(numbers) * sum(numbers) ** 2 /",
        GROUPS_LEFT_OUT,
    ),
    Mutant(
        "significance/_groups.py", "moved[order] = self.sizes", "moved[:] = self.sizes", "significance/test_groups.py"
    ),
    Mutant("significance/_groups.py", "* (n / (counts * (n - counts))) ** 2", "* 1.0", "significance/test_groups.py"),
    Mutant(
        "inference/cross_jackknife.py",
        "SHARE = 0.75",
        "SHARE = 0.7",
        f"{CROSS_JACKKNIFE}::test_a_mean_has_its_usual_variance",
    ),
    Mutant(
        "inference/cross_jackknife.py",
        "2 * k / 3 + 0.5",
        "2 * k / 3",
        f"{CROSS_JACKKNIFE}::test_neighbors_of_two_thirds_by_hand",
    ),
    Mutant(
        "inference/cross_jackknife.py",
        "(len(values) - 1) * (values.mean()",
        "len(values) * (values.mean()",
        f"{CROSS_JACKKNIFE}::test_a_mean_has_its_usual_variance",
    ),
    Mutant(
        "inference/cross_jackknife.py",
        "(values.mean() - values)",
        "(values - values.mean())",
        f"{CROSS_JACKKNIFE}::test_a_mean_has_its_usual_variance",
    ),
    Mutant(
        "inference/cross_jackknife.py",
        "math.sqrt(size / (size - 1)) / n",
        "1.0 / n",
        f"{CROSS_JACKKNIFE}::test_a_mean_has_its_usual_variance",
    ),
    Mutant(
        "inference/cross_jackknife.py",
        "crossed[:, inside].mean(axis=1, keepdims=True)",
        "crossed[:, inside].mean()",
        f"{CROSS_JACKKNIFE}::test_a_mean_has_its_usual_variance",
    ),
    Mutant(
        "inference/cross_jackknife.py",
        "np.asarray((products + products.swapaxes(1, 2)) / 2)",
        "np.asarray(products)",
        f"{CROSS_JACKKNIFE}::test_the_matrix_form_of_three_by_hand",
    ),
    Mutant(
        "inference/groups.py",
        "math.sqrt(float(jackknife_variance(left_out)))",
        "math.sqrt(float(left_out.var()))",
        GROUPS_LEFT_OUT,
    ),
    Mutant("inference/groups.py", "count / (count - 1) * float", "1.0 * float", NEW_POINTS),
    Mutant(
        "inference/groups.py",
        "freedom = float(values.mean()), effective_count(sizes) - 1",
        "freedom = float(values.mean()), count - 1.0",
        NEW_POINTS,
    ),
    Mutant(
        "inference/conformal.py",
        "alpha * (count + 1)))\n\n\ndef conformal_p",
        "alpha * count))\n\n\ndef conformal_p",
        NEW_POINTS,
    ),
    Mutant("inference/conformal.py", "(1 + before[", "(before[", NEW_POINTS),
    Mutant("inference/conformal.py", "rng.random(len(pairs))", "np.arange(len(pairs))", NEW_POINTS),
    Mutant("inference/conformal.py", "m / (alpha * (count + 1)))", "m / (alpha * count))", NEW_POINTS),
    Mutant("geometry/streaming.py", "population = X.shape[0] + bool(new)", "population = X.shape[0]", NEW_POINTS),
    Mutant("geometry/streaming.py", "size = n + (self.queries is not None)", "size = n", NEW_POINTS),
    Mutant("evaluation/out_of_sample.py", "scores[-rank] if", "scores[rank] if", NEW_POINTS),
    Mutant("evaluation/out_of_sample.py", "np.minimum(*(part", "np.maximum(*(part", NEW_POINTS),
    Mutant("evaluation/out_of_sample.py", "card.chance(n + 1, k)", "card.chance(n, k)", NEW_POINTS),
    Mutant(
        "evaluation/out_of_sample.py",
        "calibration is not None and new.groups is None",
        "calibration is not None",
        NEW_POINTS,
    ),
    Mutant("inference/groups.py", "return self.effective - 1", "return len(self.parts) - 1.0", GROUPS_LEFT_OUT),
    Mutant(
        "inference/permutation.py",
        "    sd = values.std(axis=0)\n",
        "    sd = values[1:].std(axis=0)\n",
        f"{POOLING}::test_all_orders_of_six_rows",
    ),
    Mutant(
        "inference/permutation.py",
        "POOLED_TIE = 1e-9",
        "POOLED_TIE = 0.0",
        f"{POOLING}::test_equal_statistics_are_counted_whatever_the_rounding",
    ),
    Mutant(
        "significance/noise.py",
        "np.partition(together, -n_sets)[-n_sets]",
        "np.sort(together)[-len(null)]",
        f"{NOISE}::test_flags_are_those_of_e_bh",
    ),
    Mutant(
        "significance/noise.py",
        "e_values.sum() >= len(scores) / alpha",
        "e_values.sum() > len(scores) / alpha",
        f"{NOISE}::test_at_least_1_over_alpha_points_are_distinguished_or_none",
    ),
    Mutant(
        "significance/dcov.py",
        "(ascending + x.means[x.order]) * (n / 2)",
        "(ascending + x.means[x.order]) * ((n - 1) / 2)",
        "significance/test_dcov.py::test_values_of_dcor",
    ),
    Mutant(
        "measures/labels.py",
        "int(view.nested_in.max()) + 1",
        "int(view.nested_in.max())",
        "measures/test_knn_accuracy.py::test_groups_of_points_are_the_folds",
    ),
    Mutant(
        "measures/labels.py",
        "min(k, len(points) - 1), view.n_jobs)[0]",
        "min(k + 1, len(points) - 1), view.n_jobs)[0]",
        "measures/test_knn_accuracy.py::test_any_classes_and_ties_are_those_of_the_twin",
    ),
    Mutant(
        "measures/reconstruction.py",
        "float(squares[d:].sum()) / n, complexity, math.sqrt(8.0 *",
        "float(squares[d:].sum()) / n, complexity, math.sqrt(2.0 *",
        f"{BOUND}::test_the_bound_is_its_formula",
    ),
    Mutant(
        "analyses/generalization_bound.py",
        "largest[b] = eigenvalues[d:].sum()",
        "largest[b] = np.maximum(eigenvalues[d:], 0.0).sum()",
        f"{BOUND}::test_the_drawn_complexity_is_the_largest_over_all_maps",
    ),
    Mutant(
        "analyses/generalization_bound.py",
        "np.sum((points - mean) ** 2)) / n)",
        "np.sum((points - middle) ** 2)) / n)",
        f"{BOUND}::test_the_bound_is_its_formula",
    ),
    Mutant(
        "methods/cost_mapping.py",
        "np.sqrt(1.0 - weight) * Z, np.sqrt(weight) *",
        "(1.0 - weight) * Z, weight *",
        f"{AUXILIARY}::test_the_cost_is_that_of_the_weighted_distances",
    ),
    Mutant(
        "methods/cost_mapping.py",
        "np.sum((Z - Z.mean(axis=0)) ** 2) / np.sum(fitted**2)",
        "np.sum(Z**2) / np.sum(response.columns**2)",
        f"{AUXILIARY}::test_the_embedding_does_not_depend_on_the_unit_of_y",
    ),
    Mutant(
        "methods/tsne.py",
        '"exaggeration_iter", "n_affinities")\n        return',
        '"exaggeration_iter")\n        return',
        f"{AUXILIARY}::test_affinities_are_those_of_as_many_neighbors",
    ),
    Mutant(
        "methods/gplvm.py",
        "steep = v * in_kernel * slope",
        "steep = v * in_kernel * f",
        "methods/test_gplvm.py::test_the_objective_of_each_kernel_is_the_density",
    ),
    Mutant(
        "methods/ikd.py",
        "kve(nu - 1.0, t[apart]) / kve(nu, t[apart])",
        "kve(nu + 1.0, t[apart]) / kve(nu, t[apart])",
        "methods/test_gplvm.py::test_kernels_are_those_of_scikit_learn",
    ),
    Mutant(
        "methods/ikd.py",
        "np.divide(1.0, deviations, out",
        "np.divide(1.0, deviations**2, out",
        "methods/test_ikd.py::test_length_scales_are_those_of_independent_variables",
    ),
    Mutant(
        "methods/cca.py",
        "(Uy / (wy + ridge)) @ right[:d].T",
        "(Uy / wy) @ right[:d].T",
        f"{SUPERVISED}::test_the_functions_of_y_are_those_of_the_generalized_problem",
    ),
    Mutant(
        "methods/_kernel.py",
        "rows - rows.mean(axis=1, keepdims=True) - means + means.mean()",
        "rows - rows.mean(axis=1, keepdims=True)",
        f"{SUPERVISED}::test_the_functions_of_y_are_those_of_the_generalized_problem",
    ),
    Mutant(
        "methods/inverse_regression.py",
        "bounds = np.sqrt(n / (int(codes.max()) + 1)), p * (p + 3) / 2",
        "bounds = np.sqrt(n / int(codes.max())), p * (p + 3) / 2",
        f"{SUPERVISED}::test_the_ridge_of_gsave_leaves_as_many_features_as_slices_bear",
    ),
    Mutant(
        "methods/inverse_regression.py",
        "features = max(min(bounds), self.n_components)",
        "features = max(bounds[0], self.n_components)",
        f"{SUPERVISED}::test_gsave_with_few_columns_does_not_collapse_as_rows_are_added",
    ),
]


def _stale(mutant: Mutant) -> str:
    """Return why the entry no longer fits the code, or ""."""
    path = ROOT / "dreval" / mutant.file
    if not path.is_file():
        return "no such file"
    count = path.read_text(encoding="utf-8").count(mutant.old)
    missing = [name for name in mutant.tests.split() if not (ROOT / "tests" / name.partition("::")[0]).is_file()]
    return f"its text occurs {count} times" if count != 1 else f"no tests {', '.join(missing)}" if missing else ""


class FailedTests:
    """A plugin of pytest that records the failed tests."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a test that failed, or whose fixture failed."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file could not be read."""
        if report.failed:
            self.failed.append(report.nodeid)


def _test(tree: Path, tests: list[str], *options: str) -> list[str]:
    """The tests that fail in a copy of the tree; to be called once in a process, which has not imported dreval."""
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    os.environ["PYTHONPATH"] = str(tree)
    plugin, quiet = FailedTests(), ["-q", "-q", "-p", "no:cacheprovider", "--tb=no", "-m", FAST]
    code = pytest.main([*quiet, *options, *(str(tree / "tests" / name) for name in tests)], plugins=[plugin])
    if code not in (0, 1, 2) or bool(code) != bool(plugin.failed):
        raise RuntimeError(f"pytest ended with {code} in {tree} for {tests}")
    return [name.removeprefix("tests/") for name in plugin.failed]


def _begin(tree: Path, log: Path, tests: list[str], *options: str) -> int:
    """Start a child process with the libraries of this one, which writes failed tests, a line each, into ``log``."""
    log.unlink(missing_ok=True)
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()
        with log.with_suffix(".out").open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            log.write_text("\n".join(_test(tree, tests, *options)), encoding="utf-8")
        code = 0
    finally:
        os._exit(code)


def _end(child: int, log: Path, until: float) -> list[str] | None:
    """Return the failed tests of the child once it has ended; None before."""
    if os.waitpid(child, os.WNOHANG)[0]:
        if not log.is_file():
            raise RuntimeError(log.with_suffix(".out").read_text(encoding="utf-8")[-2000:])
        return log.read_text(encoding="utf-8").splitlines()
    if time.perf_counter() < until:
        return None
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return [f"no end within {LIMIT} s"]


def _run(mutants: list[Mutant], folder: Path) -> Iterator[tuple[Mutant, str, float]]:
    """Yield every mutant with the test that failed on it ("" for none) and its seconds, two at a time in separate
    copies.

    At the end the copies are as before.
    """
    waiting, running = list(mutants), {}
    free = [folder / "one", folder / "two"]
    while waiting or running:
        while waiting and free:
            tree, mutant, began = free.pop(), waiting.pop(0), time.perf_counter()
            path = tree / "dreval" / mutant.file
            text, times = path.read_text(encoding="utf-8"), path.stat()
            path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
            child = _begin(tree, tree.with_suffix(".log"), mutant.tests.split(), "-x")
            running[child] = (mutant, tree, path, text, times, began)
        time.sleep(0.1)
        for child, (mutant, tree, path, text, times, began) in list(running.items()):
            failed = _end(child, tree.with_suffix(".log"), began + LIMIT)
            if failed is not None:
                del running[child]
                free.append(tree)
                path.write_text(text, encoding="utf-8")
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # compiled loops stay valid
                yield mutant, failed[0] if failed else "", time.perf_counter() - began


def main() -> int:
    """Apply the mutants one by one and print the test that caught each, which must pass without it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="mutants whose entry contains a word")
    parser.add_argument("--check", action="store_true", help="look only whether every text occurs exactly once")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if any(word in part for word in options.only for part in mutant)]
    stale = [(mutant, reason) for mutant in chosen if (reason := _stale(mutant))]
    for mutant, reason in stale:
        print(f"stale: {mutant.file}: {mutant.old!r}: {reason}")
    if stale or options.check or not chosen:
        print(f"{len(chosen)} mutants, {len(stale)} stale")
        return 1 if stale or not chosen else 0
    failures: dict[Mutant, str] = {}
    with tempfile.TemporaryDirectory(prefix="dreval-mutants-") as name:
        folder = Path(name)
        for tree in ("one", "two"):
            shutil.copytree(
                ROOT, folder / tree, ignore=IGNORED_FILES, symlinks=True
            )  # with times: compiled loops stay valid
        for mutant, test, seconds in _run(chosen, folder):
            failures[mutant] = test
            description = f"{mutant.file}: {' '.join(mutant.old.split())} -> {' '.join(mutant.new.split())}"
            print(f"| {description} | {test or 'SURVIVED ' + mutant.tests} | {seconds:.0f} |", flush=True)
        tests = sorted({test for test in failures.values() if test and not test.startswith("no end")})
        failures_without: list[str] | None = []
        if tests:
            child = _begin(folder / "one", folder / "whole.log", [name.partition("[")[0] for name in tests])
            while (failures_without := _end(child, folder / "whole.log", math.inf)) is None:
                time.sleep(0.1)
    for test in failures_without or []:
        print(f"{test} fails without any mutant, and shows nothing")
    survivors = [mutant for mutant, test in failures.items() if not test or test in (failures_without or [])]
    print(f"{len(chosen)} mutants, {len(survivors)} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
