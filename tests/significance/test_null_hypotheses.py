"""The null hypothesis that a test prints is that of its permutations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dreval

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = RNG.normal(size=(40, 2))
BLOCKS = np.arange(40) % 4
INDEPENDENT = "embedding and variable are independent"
EXPECTED = {
    "free": "H0: the variables are independent\n",
    "within": "H0: the variables are independent within blocks\n",
    "blocks": "H0: the variables are independent, where whole blocks of rows are exchangeable\n",
    "cyclic": "H0: the variables are independent, where each is a stationary series\n",
}


@pytest.mark.parametrize("scheme", EXPECTED)
@pytest.mark.parametrize("test", ["hsic", "kcca", "dcov", "cca"])
def test_the_printed_hypothesis_names_the_permutations(test: str, scheme: str) -> None:
    """Of every test of variables, and of every scheme."""
    blocks = {"blocks": BLOCKS} if scheme in ("within", "blocks") else {}
    result = getattr(dreval, f"{test}_test")(X, Y, permutation=scheme, n_resamples=9, random_state=0, **blocks)
    assert EXPECTED[scheme] in str(result)


def test_two_samples_and_three_variables() -> None:
    """MMD within blocks, and KCCA of three variables, which has power against pairwise dependence only."""
    within: dict[str, Any] = {"permutation": "within", "blocks": BLOCKS, "n_resamples": 9, "random_state": 0}
    result = dreval.mmd_test(X, groups=np.arange(40) // 20, **within)
    assert "H0: both samples have one distribution within blocks\n" in str(result)
    three_variables = dreval.kcca_test(X, Y, X[:, :1] + Y[:, :1], **within)
    assert "H0: the variables are independent within blocks, against pairwise dependence\n" in str(three_variables)


def test_a_report_lists_the_tests_within_blocks(tmp_path: Path) -> None:
    """All tests are within blocks, or some, which are named."""
    ev = dreval.Evaluation(X, {"e": Y}, covariates={"t": X[:, 0]}, random_state=0)
    options = {"hsic": {"permutation": "within", "blocks": BLOCKS}}
    for tests, text in (
        (["hsic"], "Null hypothesis: embedding and variable are independent within blocks."),
        (
            ["hsic", "dcov"],
            f"Null hypothesis: {INDEPENDENT} within blocks (hsic); {INDEPENDENT} (dcov).",
        ),
        (["dcov"], "Null hypothesis: embedding and variable are independent."),
    ):
        used = {name: passed for name, passed in options.items() if name in tests}
        path = tmp_path / "r.md"
        ev.run(None, tests, n_resamples=9, options=used).report(path)
        assert text in path.read_text(encoding="utf-8")
