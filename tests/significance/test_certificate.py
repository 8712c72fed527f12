"""The certificate of Definition 1: its values, its text, and its errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dreval
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.kernels import Refit
from dreval.records.points import Embedding
from dreval.records.tests import Certificate
from dreval.registry import TESTS
from dreval.significance._certificate import certify


def latents_and_data(n=80, noise=0.3, seed=0, dependent=False):
    """Return a curved sheet in five dimensions with noise, whose size may follow the first latent."""
    rng = np.random.default_rng(seed)
    Y = rng.uniform(-1, 1, size=(n, 2))
    X = np.c_[Y, np.sin(2 * Y), Y[:, 0] * Y[:, 1]]
    size = np.abs(Y[:, [0]]) if dependent else 1.0
    return Y, X + noise * size * rng.normal(size=X.shape)


def certificate(Y, X, **options) -> Certificate:
    return certify(Embedding(Y, "sheet", data=X), **{"n_resamples": 39, "random_state": 0, **options})


def test_true_latents_with_independent_noise_pass():
    """Where Definition 1 holds there is no objection, and the sentence does not claim a proof."""
    result = certificate(*latents_and_data())
    assert result.objections == ()
    assert result.verdict.startswith("Definition 1 is not rejected for sheet: no evidence that the residual depends on")
    assert result.verdict.endswith(" This does not show that the definition holds.")
    assert result.train < result.held_out < 0.6
    assert result.residual_mean < 0.3


@pytest.mark.slow
def test_noise_that_follows_the_latent_is_detected():
    """A residual whose size depends on the embedding is an objection, with the effect size before p."""
    result = certificate(*latents_and_data(n=150, dependent=True))
    assert result.tests[0].effect_size > 2 * result.tests[0].effect_expected
    assert result.tests[0].p_value == 1 / 40
    assert result.verdict.startswith(
        "sheet does not meet Definition 1: the residual depends on the embedding (HSIC: CKA "
    )


def test_the_verdict_is_adjusted_for_the_number_of_tests():
    """Holm over HSIC and KCCA by hand: .03 alone is not significant, with .01 both are; few resamples cannot be."""
    single = certificate(*latents_and_data(n=40), n_resamples=39)

    def with_p(*values):
        tests = tuple(test._replace(p_value=p) for test, p in zip(single.tests, values, strict=True))
        return replace(single, tests=tests)

    assert with_p(0.03, 0.4).p_adjusted == (0.06, 0.4)
    assert with_p(0.03, 0.4).objections == ()
    assert with_p(0.03, 0.01).p_adjusted == (0.03, 0.02)
    assert "HSIC: CKA" in with_p(0.03, 0.01).verdict
    assert "KCCA: rho" in with_p(0.03, 0.01).verdict
    assert list(with_p(0.03, 0.4).tidy()["p_adjusted"]) == [0.06, 0.4]
    assert "are too few" not in str(single)
    few = certificate(*latents_and_data(n=40), n_resamples=38, n_splits=41)
    assert "38 resamples are too few: no adjusted p can be below .0513." in " ".join(str(few).split())
    assert "40 points are too few for 41 folds: each point is one fold." in few.summary().notes


def test_an_unrelated_embedding_meets_the_definition_without_information():
    """Held-out points of an unrelated embedding have error 1; f is constant: no objection, but the verdict notes it."""
    _, X = latents_and_data()
    result = certificate(np.random.default_rng(9).normal(size=(80, 2)), X)
    assert result.held_out == pytest.approx(1.0, abs=0.05)
    assert result.objections == ()
    assert result.verdict.startswith("Definition 1 is not rejected for sheet: ")
    error = "1.0" if result.held_out >= 0.995 else f"{result.held_out:.2f}".removeprefix("0")
    assert f"sheet explains almost nothing of held-out points (error {error}; 1 is nothing)" in result.verdict
    observed = replace(result, tests=tuple(test._replace(p_value=0.01) for test in result.tests))
    assert observed.verdict.startswith("sheet does not meet Definition 1: the residual depends on the embedding (HSIC")
    assert observed.verdict.endswith(f"explains almost nothing of held-out points (error {error}; 1 is nothing).")


def test_the_numbers_are_those_of_their_parts():
    """Effect and statistic are HSIC's of the fitted residuals, errors those of the measure, p a count over the null."""
    Y, X = latents_and_data()
    result = certificate(Y, X)
    residuals = Refit(Y, X, "ridge").residuals
    hsic = dreval.hsic_test(residuals, Y, n_resamples=1, random_state=0)
    test = result.tests[0]
    assert (test.name, test.statistic, test.effect_size) == ("hsic", hsic.statistic, hsic.effect_size)
    assert test.p_value == (np.count_nonzero(test.null_distribution >= test.statistic) + 1) / 40
    error = dreval.reconstruction_error(X, Y, random_state=0)
    assert (result.held_out, result.train) == (float(error), error.parts["train"])
    assert [test.name for test in result.tests] == [name for name in ("hsic", "kcca") if name in TESTS]


def test_a_seed_is_a_seed_and_threads_have_no_effect():
    """The same seed gives the same null distribution for any number of threads; resample b depends on b only."""
    Y, X = latents_and_data(n=40)
    single, parallel = (certificate(Y, X, n_jobs=n_jobs, n_resamples=8).tests[0].null_distribution for n_jobs in (1, 2))
    longer = certificate(Y, X, n_resamples=12).tests[0].null_distribution
    assert single.tolist() == parallel.tolist() == longer[:8].tolist()
    assert certificate(Y, X, random_state=1, n_resamples=8).tests[0].null_distribution.tolist() != single.tolist()


@pytest.mark.slow
def test_theorem_3_leaves_a_structure_that_is_detected():
    """With the true latents Theorem 3 leaves a nonlinear part, which the test reports; kernel ridge does not."""
    Y, X = latents_and_data(n=150, noise=0.05)
    assert certificate(Y, X, rule="theorem3").objections
    assert not certificate(Y, X).objections


def test_results_have_it_by_name_and_loaded_ones_ask_for_the_data(tmp_path):
    """``res.certificate(name)``; after saving and loading the data must be passed, and must be the same."""
    Y, X = latents_and_data(n=40)
    results = dreval.Evaluation(X, {"sheet": Y}, n_neighbors=5, random_state=0).run("procrustes_disparity")
    current = results.certificate("sheet", n_resamples=5, random_state=0)
    loaded = dreval.load_results(results.save(tmp_path / "r.zip"))
    present = loaded.certificate("sheet", data=X, n_resamples=5, random_state=0)
    assert current.tidy().equals(present.tidy())
    with pytest.raises(InputError, match="must be given to a loaded result"):
        loaded.certificate("sheet")
    with pytest.raises(InputError, match="must be the data of the evaluation"):
        loaded.certificate("sheet", data=X + 1)


def test_its_folds_are_those_of_the_table():
    """The held-out error of a certificate is the reconstruction error that the table shows."""
    Y, X = latents_and_data(n=40)
    results = dreval.Evaluation(X, {"sheet": Y}, n_neighbors=5, random_state=4).run("reconstruction_error")
    value = results.tidy().set_index("measure").loc["reconstruction_error", "value"]
    assert results.certificate("sheet", n_resamples=1).held_out == value


def test_units_have_no_effect():
    """Data and embedding in other units have the same errors and effects; residuals are in the unit of the data."""
    Y, X = latents_and_data(n=40)
    current, present = certificate(Y, X, n_resamples=5), certificate(1e50 * Y, 1e-50 * X, n_resamples=5)
    columns = ["train", "held_out", "residual_mean", "effect_size", "effect_expected"]
    np.testing.assert_allclose(present.tidy()[columns], current.tidy()[columns], rtol=1e-6)
    np.testing.assert_allclose(present.residuals, 1e-50 * current.residuals, rtol=1e-6)


def test_invalid_options_are_named():
    """An unknown rule raises an error with the valid ones, and an unknown keyword the error of Python."""
    Y, X = latents_and_data(n=40)
    results = dreval.Evaluation(X, {"sheet": Y}, n_neighbors=5, random_state=0).run("procrustes_disparity", ci=None)
    with pytest.raises(dreval.errors.UnknownName, match=r"`rule`.*Did you mean 'ridge'"):
        results.certificate("sheet", rule="ridg")
    with pytest.raises(TypeError, match="'folds'"):
        results.certificate("sheet", folds=3)
    with pytest.raises(TypeError, match="'sigma'"):
        results.embedding("sheet").transform(X, sigma=3)
    with pytest.raises(TypeError, match="'sigma'"):
        results.embedding("sheet").inverse_transform(Y, sigma=3)


@pytest.mark.slow
def test_it_prints():
    """The verdict first, then tests with the effect before p, then errors; settings on request."""
    result = certificate(*latents_and_data(n=40), n_resamples=9)
    text = str(result.summary(full=True))
    assert result.recipe["residual_ridge"] == pytest.approx(0.1 * result.recipe["ridge"])
    assert f"{result.recipe['residual_ridge']:.3g}" in text
    assert (
        text.index(result.verdict[:40]) < text.index("Residual against embedding") < text.index("Reconstruction, over")
    )
    assert text.index("effect") < text.index("statistic")
    assert list(result.tidy()["test"]) == [test.name for test in result.tests]
    assert repr(result) == str(result)


def test_invalid_input_raises_an_error():
    """No residual, one place, no data, and invalid options."""
    Y, X = latents_and_data(n=40)
    with pytest.raises(UndefinedMeasure, match="must vary"):
        certificate(np.zeros((40, 2)), X)
    with pytest.raises(InputError, match="must be known"):
        certify(Embedding(Y, "sheet"))
    with pytest.raises(dreval.errors.UnknownName, match="`rule`"):
        certificate(Y, X, rule="none")
    with pytest.raises(InputError, match="`n_resamples`"):
        certificate(Y, X, n_resamples=0)


def test_many_points_are_represented_by_some():
    """Beyond 1000 points a random thousand is used, with a note."""
    Y, X = latents_and_data(n=1001)
    result = certificate(Y, X, n_resamples=1, n_splits=2)
    assert result.recipe["n"] == 1000
    assert str(result.notes[0]) == "Tested on 1000 points drawn at random."
