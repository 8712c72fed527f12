"""Stretch of known maps by the graph Laplacian: ``python make_distortions.py MAT`` writes ``distortions.json``.

``distortions`` holds the matrices H of every fifth point by the package distortions 0.0.5 (its part ``geometry``,
which needs altair_transform; the part for figures needs scanpy and is left out), with two settings: all points within
three times the radius of ``distortion_maps`` and the Laplacian in its unit ("radius"); and as in the tutorials of the
package, k nearest points and three times their mean distance, with the Laplacian in the unit that is its default
("default").

``matlab`` holds the output of Matlab by the authors of megaman: MAT is
``megaman/geometry/tests/testmegaman_laplacian_rad0_2_lam1_5_n200.mat`` of github.com/mmp2/megaman at 249a7d7.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.io
from distortion_maps import MAPS, known_map
from sklearn.neighbors import NearestNeighbors

LICENSE = "Values from megaman, copyright (c) 2016, its authors; all rights reserved. Redistribution and use in source \
and binary forms, with or without modification, are permitted provided that the following conditions are met: \
Redistributions of source code must retain the above copyright notice, this list of conditions and the following \
disclaimer. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the \
following disclaimer in the documentation and/or other materials provided with the distribution. This software is \
provided by the copyright holders and contributors 'as is' and any express or implied warranties, including, but not \
limited to, the implied warranties of merchantability and fitness for a particular purpose are disclaimed. In no event \
shall the copyright holder or contributors be liable for any direct, indirect, incidental, special, exemplary, or \
consequential damages (including, but not limited to, procurement of substitute goods or services; loss of use, data, \
or profits; or business interruption) however caused and on any theory of liability, whether in contract, strict \
liability, or tort (including negligence or otherwise) arising in any way out of the use of this software, even if \
advised of the possibility of such damage."


def digits(values: np.ndarray) -> list[float]:
    """Return the values with eight digits."""
    return [float(f"{value:.8g}") for value in values]


def upper(H: np.ndarray) -> dict[str, list[float]]:
    """Return the three different entries of symmetric matrices."""
    return {"h11": digits(H[:, 0, 0]), "h12": digits(H[:, 0, 1]), "h22": digits(H[:, 1, 1])}


def main(path: str) -> None:
    """Run the package, read the file of Matlab, and write both."""
    spec = importlib.util.find_spec("distortions")
    assert spec is not None
    sys.modules["distortions"] = package = types.ModuleType("distortions")
    package.__path__ = list(spec.submodule_search_locations or [])
    from distortions.geometry import Geometry, local_distortions

    tools = "distortions", "numpy", "scikit-learn"
    matrices: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name in MAPS:
        case = known_map(name)
        near = NearestNeighbors(n_neighbors=case.k).fit(case.X).kneighbors(case.X)[0]
        settings = {
            "radius": {
                "adjacency_kwds": {"radius": 3 * case.radius},
                "affinity_kwds": {"radius": case.radius},
                "laplacian_kwds": {"scaling_epps": case.radius},
            },
            "default": {
                "adjacency_kwds": {"n_neighbors": case.k},
                "affinity_kwds": {"radius": 3 * float(near[:, 1:].mean())},
            },
        }
        matrices[name] = {}
        for setting, options in settings.items():
            geometry = Geometry("brute", laplacian_method="geometric", **options)
            H = local_distortions(case.Y, case.X, geometry)[0]
            matrices[name][setting] = upper(H[::5])
    stored = scipy.io.loadmat(path)
    matlab = {
        "license": LICENSE,
        "epps": float(stored["epps"][0, 0]),
        **{f"x{j + 1}": digits(row) for j, row in enumerate(stored["xx"])},
        **{f"y{j + 1}": digits(row) for j, row in enumerate(stored["phigeom"].T)},
        **upper(stored["Ginv"].transpose(2, 0, 1)),
    }
    record = {"versions": [f"{tool} {version(tool)}" for tool in tools], "distortions": matrices, "matlab": matlab}
    Path(__file__).with_name("distortions.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
