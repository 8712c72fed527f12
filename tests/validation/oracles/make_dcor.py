"""Distance covariance of dcor (PyPI) for the points of tests/significance/test_dcov.py.

``python tests/validation/oracles/make_dcor.py > tests/validation/oracles/dcor.json`` in an environment with dcor.
"""

import json
from importlib.metadata import version

import dcor
import numpy as np

i = np.arange(1, 31)
x = np.column_stack([np.sin(i), np.cos(2 * i)])
y = np.column_stack([np.sin(i) ** 2 + 0.1 * np.cos(7 * i), np.cos(3 * i), i / 30])
line = (x[:, 0].copy(), y[:, 0].copy())
print(
    json.dumps(
        {
            "made with": f"dcor {version('dcor')}, numpy {np.__version__}",
            "distance_covariance_sqr": float(dcor.distance_covariance_sqr(x, y)),
            "distance_correlation": float(dcor.distance_correlation(x, y)),
            "u_distance_covariance_sqr": float(dcor.u_distance_covariance_sqr(x, y)),
            "u_distance_correlation_sqr": float(dcor.u_distance_correlation_sqr(x, y)),
            "distance_covariance_sqr of exponent 0.5": float(dcor.distance_covariance_sqr(x, y, exponent=0.5)),
            "distance_covariance_sqr of first columns": float(dcor.distance_covariance_sqr(*line, method="mergesort")),
            "u_distance_correlation_sqr of first columns": float(
                dcor.u_distance_correlation_sqr(*line, method="mergesort")
            ),
        },
        indent=2,
    )
)
