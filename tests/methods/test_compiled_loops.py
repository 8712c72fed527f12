"""Numbers do not depend on whether a loop was compiled in this process or came from the cache on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import hashlib
import dreval
X = dreval.simulate("s4", n=60, random_state=0).data
tsne = dreval.methods.TSNE(2, perplexity=8, max_iter=60, random_state=0)
for method in (tsne, dreval.methods.UMAP(2, random_state=0)):
    print(hashlib.sha256(method.fit_transform(X).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_compiled_now_and_cached_loops_give_the_same_embedding(tmp_path: Path) -> None:
    """The first process compiles, and the second reads its cache."""
    setting = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    embeddings = []
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", RUN], env=setting, capture_output=True, text=True, check=True
        )
        embeddings.append(run.stdout)

    assert list(tmp_path.rglob("*.nbc"))
    assert embeddings[0] == embeddings[1]
