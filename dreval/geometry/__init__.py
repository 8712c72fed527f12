"""Layer 3: each costly thing (distances, neighbors, ranks, kernels) has one owner here; all numba code is in ``_loops``."""
