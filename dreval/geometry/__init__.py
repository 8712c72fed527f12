"""Layer 3: each costly thing (distances, neighbors, ranks, kernels) has one owner; numba code is in ``_loops``."""
