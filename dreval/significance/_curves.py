"""Compute the sensitivity of a test to its regularization or bandwidths, with the same permutations at every value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_float, check_one_of
from dreval._random import root_seed
from dreval.errors import InputError
from dreval.inputs.variables import warn_of_guesses
from dreval.records.tests import IndependenceTest, Sensitivity
from dreval.registry import TESTS
from dreval.significance.base import gather

KAPPA = 0.02  # the default of kcca_test


def kappa_curve(
    x: Any,
    y: Any,
    *,
    kappas: Sequence[float] | None = None,
    n_resamples: int = 199,
    random_state: int | np.random.Generator | None = None,
    **options: Any,
) -> Sensitivity:
    r"""Compute kernel canonical correlation as a function of its regularization kappa.

    :math:`\rho(\kappa)` of ``kcca_test`` decreases in :math:`\kappa`, under independence too: compare it with its
    values under permutation.

    Parameters
    ----------
    x, y : array, DataFrame or Series
        As in ``kcca_test``.
    kappas : list of float, optional
        Values of kappa; 13 from 0.0002 to 2, evenly spaced on a log scale, by default.
    n_resamples : int
        Number of permutations, the same ones at every value.
    random_state : int, numpy Generator or None
        Seed.
    **options
        Other keywords of ``kcca_test``.

    Returns
    -------
    Sensitivity
        ``tidy()``: one row for each kappa, with ``statistic``, ``chance``, ``null_95``, ``effect_size`` and
        ``p_value``; ``plot()``; ``summary()``.

    Raises
    ------
    InputError
        As ``kcca_test``; if ``kappa`` is passed, or a kappa is not positive.

    See Also
    --------
    kcca_test : the test at one kappa.
    bandwidth_curve : the same for the bandwidths.

    Notes
    -----
    Cost: that of ``kcca_test``, once for each value.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> x = np.linspace(-1, 1, 40)
    >>> curve = dreval.kappa_curve(x, x**2, n_resamples=19, random_state=0)
    >>> bool(curve.tidy()["statistic"].is_monotonic_decreasing)
    True
    """
    _check_options(options, "kappa", "kappas")
    test, root = TESTS.get("kcca"), root_seed(random_state)
    values = _positive(np.geomspace(KAPPA / 100, KAPPA * 100, 13) if kappas is None else kappas, "kappas")
    tests = [test(x, y, kappa=kappa, n_resamples=n_resamples, random_state=root, **options) for kappa in values]
    return _curve("kappa", values, tests, KAPPA)


def bandwidth_curve(
    x: Any,
    y: Any,
    *,
    multiples: Sequence[float] | None = None,
    test: str = "hsic",
    n_resamples: int = 199,
    random_state: int | np.random.Generator | None = None,
    **options: Any,
) -> Sensitivity:
    r"""Compute a kernel test as a function of the bandwidths.

    The bandwidths are :math:`\sigma = c\, \sigma_{\mathrm{median}}` for several factors c. A
    result that holds only for a narrow range of them deserves caution. p-values of different bandwidths are not
    adjusted: choosing the smallest one is not a valid test.

    Parameters
    ----------
    x, y : array, DataFrame or Series
        As in ``hsic_test``; a variable without a bandwidth (classes) is used as it is.
    multiples : list of float, optional
        Factors of the two bandwidths of the median rule; 13 from 1/8 to 8, evenly spaced on a log scale, by default.
    test : {"hsic", "kcca"}
        The test.
    n_resamples : int
        Number of permutations, the same ones at every value.
    random_state : int, numpy Generator or None
        Seed.
    **options
        Other keywords of the test.

    Returns
    -------
    Sensitivity
        ``tidy()``: one row for each multiple, also with ``bandwidth_x`` and ``bandwidth_y``; ``plot()``;
        ``summary()``.

    Raises
    ------
    InputError
        As the test; if no variable has a bandwidth.

    See Also
    --------
    hsic_test, kcca_test : the tests at one bandwidth.
    kappa_curve : the same for the regularization of ``kcca_test``.

    Notes
    -----
    Cost: that of the test, once for each value and once more for the medians.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> x = np.linspace(-1, 1, 40)
    >>> curve = dreval.bandwidth_curve(x, x**2, multiples=[0.25, 0.5, 1], n_resamples=99, random_state=0)
    >>> curve.tidy()["p_value"].tolist()
    [0.01, 0.01, 0.01]
    """
    test = check_one_of(test, ("hsic", "kcca"), "test", aliases=True)
    _check_options(options, "bandwidth", "multiples")
    function, root = TESTS.get(test), root_seed(random_state)
    values = _positive(np.geomspace(1 / 8, 8, 13) if multiples is None else multiples, "multiples")
    gather(x, y)
    defaults = function(x, y, n_resamples=1, random_state=root, **options).extra
    medians = [defaults["bandwidth_x"], defaults["bandwidth_y"]]
    if medians == [None, None]:
        raise InputError("x", "or `y` must have a bandwidth", "classes or kernels without one", "Pass numbers.")
    tests = []
    for factor in values:
        widths = tuple(None if median is None else factor * median for median in medians)
        tests.append(function(x, y, bandwidth=widths, n_resamples=n_resamples, random_state=root, **options))
    return _curve("bandwidth / median", values, tests, 1.0, ("bandwidth_x", "bandwidth_y"))


def _check_options(options: dict[str, Any], single: str, several: str) -> None:
    """Raise if a single value of the varied setting is passed, or a method that draws no permutations."""
    if single in options:
        requirement = f"must be left out: the curve varies it over `{several}`"
        raise InputError(
            single, requirement, repr(options[single]), f"Pass `{several}`, the values that the curve takes."
        )
    if options.get("method") == "gamma":
        requirement = "must draw permutations, whose mean and 95 % quantile the curve shows"
        raise InputError("method", requirement, "'gamma'", "Use 'auto', 'exact' or 'lowrank'.")


def _positive(values: Any, argument: str) -> list[float]:
    """Return positive numbers in ascending order; raise if there are none."""
    numbers = sorted(check_float(value, argument) for value in np.atleast_1d(np.asarray(values, dtype=object)).tolist())
    if not numbers or numbers[0] <= 0:
        raise InputError(argument, "must be positive numbers", repr(numbers[:3]), "Pass a list such as [0.01, 0.1].")
    return numbers


def _curve(
    setting: str, values: list[float], tests: list[IndependenceTest], default: float, columns: tuple[str, ...] = ()
) -> Sensitivity:
    """Return the record with one row for each value of the setting; ``columns`` names further values of the tests."""
    rows = [
        {
            setting: value,
            "statistic": test.statistic,
            "chance": float(test.null_distribution.mean()),
            "null_95": float(np.quantile(test.null_distribution, 0.95)),
            "effect_size": test.effect_size,
            "p_value": test.p_value,
            "p_kind": test.p_kind,
            **{name: test.extra[name] for name in columns},
        }
        for value, test in zip(values, tests, strict=True)
    ]
    warn_of_guesses(tests[0].notes)
    return Sensitivity(pd.DataFrame(rows), setting, tests[0].test, default, tests[0].recipe["n"], tests[0].n_resamples)
